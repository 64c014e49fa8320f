"""The displacement and rotation field of a beam: u(x) = sum W_j(x) q_j, section rotation sum Theta_j(x) q_j.

Columns follow the order of the beam's mode sets. A y-shape moves along y and turns about +z by Theta; a z-shape moves
along z and turns about y by -Theta; axial shapes move along x; torsion turns about x.

The joint sits at the root, so displacements of a set with a free root are measured from it: W(x) - W(0); the slope is unchanged.
Given shapes are used unchanged. Values that an end condition fixes are exactly 0.0 there, so that tracing can drop them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from pliant.arrays import Floats
from pliant.beams.bar import BarMode, bar_modes
from pliant.beams.bending import BendingMode, bending_modes
from pliant.beams.elements import as_given
from pliant.beams.given import GivenShape, given_shapes
from pliant.beams.quadrature import ROUND_OFF
from pliant.beams.reduction import element_shapes
from pliant.beams.ritz import RitzShape, ritz_modes
from pliant.beams.statics import StaticShape, residual_shapes
from pliant.host.memory import require_memory
from pliant.model.beam import Beam
from pliant.model.modes import MESHES, AxialModes, Mesh, Modes, ModeSet, TorsionModes, direction_of

STATIC_ROUND_OFF = 1e-9  # static shapes are small differences: with eight modes they are orthogonal only to 1e-11
DOUBLES, DOUBLES_REDUCED = 260, 65  # doubles in memory per element and coordinate, of a full and of a reduced mesh
Shape = BarMode | BendingMode | GivenShape | RitzShape | StaticShape

_AXIS = {"axial": 0, "y": 1, "z": 2}  # the axis along which a set moves
_TURN = {"torsion": (0, 1.0), "y": (2, 1.0), "z": (1, -1.0)}  # the axis about which a set turns, and the sign


@dataclass(frozen=True)
class Column:
    """One modal coordinate: its direction (axial, torsion, y, z), its place in the set, its shape."""

    direction: str
    number: int
    shape: Shape
    ends: str  # as in the mode set; empty for given shapes
    lift: float  # the value at a free root, which is subtracted

    @property
    def label(self) -> str:
        return f"{self.direction}{self.number}"


@dataclass(frozen=True)
class Shapes:
    """The whole field of a beam, as NumPy functions of x."""

    columns: tuple[Column, ...]
    panels: Floats  # breakpoints of [0, l] for quadrature, m

    @property
    def count(self) -> int:
        """nf, the number of modal coordinates."""
        return len(self.columns)

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(column.label for column in self.columns)

    @property
    def directions(self) -> tuple[str, ...]:
        return tuple(column.direction for column in self.columns)

    @property
    def frequencies(self) -> Floats:
        """The frequency of each mode on its own, rad/s; nan for given shapes."""
        return np.array([column.shape.frequency for column in self.columns])

    @property
    def round_off(self) -> Floats:
        """The fraction of an integral's natural size that counts as round-off, by pair of shapes; larger for approximate shapes."""
        left = np.array([isinstance(column.shape, StaticShape | RitzShape) for column in self.columns])
        return np.where(left[:, None] | left, STATIC_ROUND_OFF, ROUND_OFF)

    def displacement(self, x: ArrayLike, order: int = 0) -> Floats:
        """W_j or its derivative of order 1, 2: (len(x), 3, nf)."""
        return self._field(x, lambda column, points: _displacement(column, points, order))

    def rotation(self, x: ArrayLike, order: int = 0) -> Floats:
        """Theta_j or its first derivative: (len(x), 3, nf)."""
        return self._field(x, lambda column, points: _rotation(column, points, order))

    def shear_strain(self, x: ArrayLike) -> Floats:
        """W' - Theta along y and z: (len(x), 3, nf); zero for Euler-Bernoulli."""
        return self._field(x, _shear_strain)

    def _field(self, x: ArrayLike, part: Callable[[Column, Floats], tuple[int, Floats] | None]) -> Floats:
        points = np.atleast_1d(np.asarray(x, dtype=np.float64))
        field = np.zeros((len(points), 3, self.count))
        for j, column in enumerate(self.columns):
            found = part(column, points)
            if found is not None:
                axis, values = found
                field[:, axis, j] = values
        return field


def beam_shapes(beam: Beam) -> Shapes:
    """The shapes of all mode sets of a beam."""
    for modes in beam.mode_sets:
        if isinstance(modes, MESHES):
            _check_mesh(modes)
    columns = [column for modes in beam.mode_sets for column in _columns(beam, modes)]
    breaks = [column.shape.breaks for column in columns]
    smooth = max((b for b, column in zip(breaks, columns, strict=True) if not _is_given(column)), key=len, default=None)
    given = [b for b, column in zip(breaks, columns, strict=True) if _is_given(column)]
    panels = np.unique(np.concatenate([*given, *([] if smooth is None else [smooth])]))
    return Shapes(tuple(columns), panels)


def _check_mesh(modes: Mesh) -> None:
    """Refuse a mesh whose integrals would not fit into memory; measured for 100 to 200 elements."""
    numbers = DOUBLES_REDUCED if modes.reduction else DOUBLES
    rule = f"must give a mesh that fits into memory, {len(modes.nodal)} coordinates"
    require_memory(type(modes).__name__, "elements", rule, 8.0 * numbers * modes.elements * len(modes.nodal), modes.elements)


def _columns(beam: Beam, modes: ModeSet) -> list[Column]:
    shapes: list[Shape]
    if isinstance(modes, MESHES):
        shapes = [*as_given(element_shapes(beam, modes))]
    elif beam.tip_section is not None and isinstance(modes, Modes | AxialModes | TorsionModes):
        shapes = [*ritz_modes(beam, modes)]
    elif isinstance(modes, AxialModes | TorsionModes):
        shapes = [*bar_modes(beam, modes)]
    elif isinstance(modes, Modes):
        shapes = [*bending_modes(beam, modes)]
    else:
        shapes = [*given_shapes(beam, modes)]
    if getattr(modes, "static", False):
        shapes += residual_shapes(beam, modes, shapes)  # type: ignore[arg-type]
    ends = getattr(modes, "ends", "")
    lifts = [_value(shape, 0.0) if ends.startswith("f") else 0.0 for shape in shapes]
    return [Column(direction_of(modes), k + 1, shape, ends, lifts[k]) for k, shape in enumerate(shapes)]


def _value(shape: Shape, x: float) -> float:
    return float(shape.w(x))


def _is_given(column: Column) -> bool:
    return isinstance(column.shape, GivenShape)


def _displacement(column: Column, x: Floats, order: int) -> tuple[int, Floats] | None:
    if column.direction == "torsion":
        return None
    values = column.shape.w(x, order)
    if order == 0 and column.ends:
        values = _held(column, x, values - column.lift, "cs")
    return _AXIS[column.direction], values


def _rotation(column: Column, x: Floats, order: int) -> tuple[int, Floats] | None:
    if column.direction == "axial":
        return None
    axis, sense = _TURN[column.direction]
    if column.direction == "torsion":
        values = column.shape.w(x, order)
        return axis, _held(column, x, values - column.lift, "c") if order == 0 and column.ends else values
    values = sense * column.shape.theta(x, order)
    return axis, _held(column, x, values, "c", lifted=False) if order == 0 and column.ends else values


def _held(column: Column, x: Floats, values: Floats, holding: str, lifted: bool = True) -> Floats:
    """Set exact zeros at the ends that hold the beam; for shapes measured from a free root, at the root only."""
    length = column.shape.length  # type: ignore[union-attr]
    measured = lifted and column.ends[0] == "f"
    at_root = measured or column.ends[0] in holding
    at_tip = not measured and column.ends[1] in holding
    return np.where(((x == 0.0) & at_root) | ((x == length) & at_tip), 0.0, values)


def _shear_strain(column: Column, x: Floats) -> tuple[int, Floats] | None:
    if column.direction in ("axial", "torsion"):
        return None
    return _AXIS[column.direction], column.shape.strain(x)
