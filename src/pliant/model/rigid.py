"""Rigid bodies, and the payload a beam carries at its tip."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np

from pliant.errors import ModelError
from pliant.model import check
from pliant.model.check import Axis, Vector
from pliant.model.frame import ROOT, TIP, Frame
from pliant.model.length import Length
from pliant.model.solids import hull_of
from pliant.scalar import ArrayOf, Numbers

Matrix = tuple[Vector, Vector, Vector]
TRIANGLE_SLACK = 1e-6  # relative; the numbers of a data sheet are rounded


def inertia_matrix(part: str, value: Any) -> Matrix:
    """The inertia matrix from one number (Izz of a planar body), three numbers (the diagonal) or three rows."""
    if not check.several(value):
        izz = check.not_negative(part, "inertia", value, "kg m^2")
        return ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, izz))
    if len(value) and check.several(value[0]):
        if len(value) != 3:
            raise ModelError.of(part, "inertia", "must be one number, three numbers or a 3 x 3 matrix", value)
        rows = tuple(check.numbers(part, f"inertia[{k}]", row, 3, "kg m^2") for k, row in enumerate(value))
        if any(rows[i][j] != rows[j][i] for i in range(3) for j in range(i)):
            raise ModelError.of(part, "inertia", "must be symmetric", value)
    else:
        if len(value) != 3:
            raise ModelError.of(part, "inertia", "must be one number, three numbers or a 3 x 3 matrix", value)
        a, b, c = check.numbers(part, "inertia", value, 3, "kg m^2")
        rows = ((a, 0.0, 0.0), (0.0, b, 0.0), (0.0, 0.0, c))
    _check_possible(part, rows, value)
    return rows  # type: ignore[return-value]


def _check_possible(part: str, rows: ArrayOf[Numbers], value: object) -> None:
    """Moments of inertia are >= 0 and no minor is negative (Sylvester), up to round-off."""
    a, b, c = rows[0][0], rows[1][1], rows[2][2]
    f, g, h = rows[1][2], rows[0][2], rows[0][1]
    slack = 1e-12 * (a + b + c) ** 2
    minors = (b * c - f * f, a * c - g * g, a * b - h * h)
    determinant = a * minors[0] - h * (h * c - f * g) + g * (h * f - b * g)
    if min(a, b, c) < 0.0 or min(minors) < -slack or determinant < -slack * max(a, b, c):
        raise ModelError.of(part, "inertia", "must be positive semidefinite", value)
    _check_triangle(part, rows, value)


def _check_triangle(part: str, rows: ArrayOf[Numbers], value: object) -> None:
    """No principal moment exceeds the sum of the other two: int (y^2 + z^2) dm <= int (x^2 + z^2) dm + int (x^2 + y^2) dm."""
    if all(x == 0.0 for i, row in enumerate(rows) for j, x in enumerate(row) if (i, j) != (2, 2)):
        return  # a planar body: only Izz is given
    principal = np.linalg.eigvalsh(np.array([[float(x) for x in row] for row in rows]))
    if principal[2] > (principal[0] + principal[1]) * (1.0 + TRIANGLE_SLACK):
        largest, others = f"{principal[2]:.6g}", f"{principal[0]:.6g} + {principal[1]:.6g}"
        rule = f"must satisfy the triangle inequality, but its largest principal moment, {largest} kg m^2, exceeds {others}"
        raise ModelError.of(part, "inertia", rule, value)


@dataclass(frozen=True, kw_only=True)
class RigidBody:
    """A rigid body. Its inertia is taken about the mass centre: Izz, (Ixx, Iyy, Izz) or three rows of a matrix.

    com, tip, frames: points in m from the joint, in the axes of the body. `tip` is the point of the handle's `tip`; `frames` names
    further points.
    """

    mass: float  # kg
    inertia: float | Numbers | ArrayOf[Numbers] = 0.0  # kg m^2
    com: Numbers = (0.0, 0.0, 0.0)  # m
    tip: Numbers = (0.0, 0.0, 0.0)  # m
    frames: Mapping[str, Numbers] = field(default_factory=dict)  # m

    payload: ClassVar[None] = None
    mode_labels: ClassVar[tuple[str, ...]] = ()
    as_published: ClassVar[bool] = False

    def __post_init__(self) -> None:
        part = "RigidBody"
        object.__setattr__(self, "mass", check.not_negative(part, "mass", self.mass, "kg"))
        object.__setattr__(self, "inertia", inertia_matrix(part, self.inertia))
        check.fields(self, check.vector, com="m", tip="m")
        frames = {
            check.identifier(part, "frames", name): check.vector(part, f"frames[{name!r}]", point, "m")
            for name, point in check.mapping(part, "frames", self.frames).items()
        }
        for reserved in (ROOT, TIP):
            if reserved in frames:
                raise ModelError.of(part, "frames", "must not contain the reserved names root and tip", reserved)
        object.__setattr__(self, "frames", frames)

    @property
    def structure(self) -> tuple[object, ...]:
        """The properties that determine the code of the equations: none. The numbers in that code come from its integrals."""
        return ()

    @property
    def lengths(self) -> dict[str, Length]:
        return {}

    def with_lengths(self, lengths: Mapping[str, Length]) -> Self:
        return self

    def places(self, name: str) -> dict[str, Frame]:
        points = {ROOT: (0.0, 0.0, 0.0), TIP: self.tip, **self.frames}
        return {place: Frame(name, None, point) for place, point in points.items()}  # type: ignore[arg-type]

    def at(self, name: str, place: Any) -> Frame:
        """The frame at a point, m from the joint."""
        return Frame(name, None, check.vector(f"body {name!r}", "point", place, "m"))

    def check_station(self, part: str, label: str, station: float | None) -> None:
        if station is not None:
            raise ModelError.of(part, label, "must not be at a station, because a rigid body has none", station)

    @classmethod
    def rod(cls, length: float, mass: float) -> RigidBody:
        """A thin uniform rod from the joint along x; length in m, mass in kg."""
        ell = check.positive("RigidBody.rod", "length", length, "m")
        m = check.positive("RigidBody.rod", "mass", mass, "kg")
        transverse = m * ell**2 / 12.0
        return cls(mass=m, inertia=(0.0, transverse, transverse), com=(ell / 2.0, 0.0, 0.0), tip=(ell, 0.0, 0.0))

    @classmethod
    def box(cls, size: Numbers, mass: float) -> RigidBody:
        """A uniform box around the joint; size: its sides along x, y and z in m, two for a motion in the plane; mass in kg."""
        sides = check.listed("RigidBody.box", "size", size, "must be 2 or 3 numbers in m")
        if len(sides) not in (2, 3):
            raise ModelError.of("RigidBody.box", "size", "must be 2 or 3 numbers in m", size)
        checked = [check.positive("RigidBody.box", f"size[{k}]", side, "m") for k, side in enumerate(sides)]
        m = check.positive("RigidBody.box", "mass", mass, "kg")
        x2, y2, z2 = (side**2 for side in (*checked, 0.0)[:3])
        if len(checked) == 2:
            return cls(mass=m, inertia=m * (x2 + y2) / 12.0)
        return cls(mass=m, inertia=(m * (y2 + z2) / 12.0, m * (x2 + z2) / 12.0, m * (x2 + y2) / 12.0))

    @classmethod
    def cylinder(cls, radius: float, length: float, mass: float, axis: Axis = "z") -> RigidBody:
        """A uniform cylinder along `axis` around the joint; radius and length in m, mass in kg."""
        r = check.positive("RigidBody.cylinder", "radius", radius, "m")
        ell = check.positive("RigidBody.cylinder", "length", length, "m")
        m = check.positive("RigidBody.cylinder", "mass", mass, "kg")
        along, across = 0.5 * m * r**2, m * (3.0 * r**2 + ell**2) / 12.0
        a = check.axis("RigidBody.cylinder", "axis", axis)
        rows = tuple(tuple((across if i == j else 0.0) + (along - across) * a[i] * a[j] for j in range(3)) for i in range(3))
        return cls(mass=m, inertia=rows)

    @classmethod
    def hull(cls, vertices: ArrayOf[Numbers], mass: float) -> RigidBody:
        """A uniform body that fills the convex hull of points, in m from the joint; mass in kg."""
        rows = check.listed("RigidBody.hull", "vertices", vertices, "must be a list of points, each of three numbers in m")
        given = [check.numbers("RigidBody.hull", f"vertices[{k}]", row, 3, "m") for k, row in enumerate(rows)]
        m = check.positive("RigidBody.hull", "mass", mass, "kg")
        volume, centre, moments = hull_of("RigidBody.hull", "vertices", np.array(given, dtype=np.float64).reshape(-1, 3)).inertia
        inertia = m / volume * (np.trace(moments) * np.eye(3) - moments)
        return cls(mass=m, inertia=(0.5 * (inertia + inertia.T)).tolist(), com=centre.tolist())

    @classmethod
    def point_mass(cls, mass: float, at: Numbers) -> RigidBody:
        """A point mass in kg at a point in m from the joint, which is also its tip."""
        return cls(mass=mass, com=at, tip=at)


@dataclass(frozen=True, kw_only=True)
class Payload:
    """A rigid body welded to a beam's tip; its mass centre is at `offset` in the axes of the tip."""

    mass: float  # kg
    inertia: float | Numbers | ArrayOf[Numbers] = 0.0  # kg m^2, about its mass centre
    offset: Numbers = (0.0, 0.0, 0.0)  # m

    def __post_init__(self) -> None:
        object.__setattr__(self, "mass", check.not_negative("Payload", "mass", self.mass, "kg"))
        object.__setattr__(self, "inertia", inertia_matrix("Payload", self.inertia))
        object.__setattr__(self, "offset", check.vector("Payload", "offset", self.offset, "m"))
