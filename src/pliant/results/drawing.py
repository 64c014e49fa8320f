"""The drawing of a mechanism: points and lines fixed on its bodies, and how modes displace them.

A drawing does not depend on time. The position of a point in the axes of its body is
    r = rest + sum of (product of coordinates) (shape + (scale - 1) bow)
where `shape` is the displacement due to a mode (or two modes, or a free length) and `bow` the part of it that a deformation scale
magnifies. The rows `root_position` and `orientation` place the body in space. So a result file can be drawn without its model.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from pliant.arrays import Floats

Spot = tuple[int, int]  # body, point; body GROUND is the ground

GROUND = -1
_MAKE = "_make"  # attribute of a deferred drawing: the function that makes it


@dataclass(frozen=True)
class Field:
    """How the points of a body move with a product of coordinates."""

    coordinates: tuple[str, ...]  # one for a mode or a free length, two for foreshortening, three for third order
    shape: Floats  # (points, 3), m per unit of the product
    bow: Floats  # (points, 3), the part that a deformation scale magnifies


@dataclass(frozen=True)
class BodyDrawing:
    """One body: points in its own axes and the lines between them."""

    name: str
    kind: str  # beam, telescopic, rigid, payload, modal
    rest: Floats  # (points, 3), m; point 0 is the root
    lines: tuple[tuple[int, ...], ...]  # polylines through points; closed if the last point is the first
    fields: tuple[Field, ...]
    joint: str  # the joint at its root: revolute, prismatic, ball, weld, free
    on: Spot  # where that joint is attached
    triangles: tuple[tuple[int, ...], ...] = ()  # of a finite-element body: its skin


@dataclass(frozen=True)
class ContactDrawing:
    """One contact pair: a ball, of radius zero for a point, against a plane, another ball or inside a bore."""

    pair: str
    radius: float  # m
    other_radius: float | None  # m, of a ball, negative of a bore; None for a plane
    on_ground: bool  # whether the plane or the other ball is fixed
    point: tuple[float, float, float]  # of a fixed plane, m
    normal: tuple[float, float, float]


@dataclass(frozen=True)
class Drawing:
    """Everything that is drawn of a mechanism. Bodies are in the same order as in the result."""

    gravity: tuple[float, float, float]  # m/s^2
    units: dict[str, str]  # of every coordinate
    ground: Floats  # (points, 3), where joints and closures are attached to the ground
    bodies: tuple[BodyDrawing, ...]
    closures: tuple[tuple[str, Spot, Spot], ...]  # the kind and the two points that a closure holds together or a strut joins
    contacts: tuple[ContactDrawing, ...]
    ground_lines: tuple[tuple[int, ...], ...]  # polylines through points on the ground: edges of solids that stand there

    @classmethod
    def later(cls, make: Callable[[], Drawing]) -> Drawing:
        """A deferred drawing, made when one of its fields is first read, because most runs of a sweep are never drawn.

        The data that `make` reads must not change in the meantime.
        """
        drawing = object.__new__(cls)
        vars(drawing)[_MAKE] = make
        return drawing

    def __getattr__(self, name: str) -> Any:
        """Make a deferred drawing: Python calls this for fields that do not exist yet."""
        if not name.startswith("_"):
            self._finish()
            if name in vars(self):
                return vars(self)[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __getstate__(self) -> dict[str, Any]:
        """A drawing is pickled complete, so a deferred one is made first."""
        self._finish()
        return vars(self)

    def _finish(self) -> None:
        make = vars(self).get(_MAKE)
        if make is not None:
            vars(self).update(vars(make()))
            vars(self).pop(_MAKE, None)  # another thread may have removed it already

    def to_json(self) -> str:
        """As text."""
        return json.dumps(asdict(self), default=lambda array: array.tolist(), separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> Drawing:
        """From the text of `to_json`."""
        plain = json.loads(text)
        return cls(
            gravity=tuple(plain["gravity"]),
            units=plain["units"],
            ground=_points(plain["ground"]),
            bodies=tuple(_body(body) for body in plain["bodies"]),
            closures=tuple((kind, tuple(a), tuple(b)) for kind, a, b in plain["closures"]),
            contacts=tuple(_contact(contact) for contact in plain["contacts"]),
            ground_lines=tuple(tuple(line) for line in plain.get("ground_lines", ())),  # older files have none
        )


def _points(values: Any) -> Floats:
    return np.array(values, dtype=np.float64).reshape(-1, 3)


def _body(plain: dict[str, Any]) -> BodyDrawing:
    fields = tuple(Field(tuple(f["coordinates"]), _points(f["shape"]), _points(f["bow"])) for f in plain["fields"])
    lines, triangles = (tuple(map(tuple, plain.get(name, ()))) for name in ("lines", "triangles"))
    return BodyDrawing(
        plain["name"], plain["kind"], _points(plain["rest"]), lines, fields, plain["joint"], tuple(plain["on"]), triangles
    )


def _contact(plain: dict[str, Any]) -> ContactDrawing:
    return ContactDrawing(**{**plain, "point": tuple(plain["point"]), "normal": tuple(plain["normal"])})
