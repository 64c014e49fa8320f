"""Solid shapes that touch by several points: boxes, cylinders and convex meshes, with the parts of them that touch a plane.

Each knows its corners or rims, the radius of a ball around it, its thinnest half, and the lines that draw it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pliant.errors import ModelError
from pliant.model import check
from pliant.model.check import Axis, Vector
from pliant.model.frame import Frame
from pliant.scalar import ArrayOf, Numbers, minimum, sqrt

Lines = list[NDArray[np.float64]]  # polylines: (points, 3), m

FLAT = 1e-9  # fraction of a mesh's size: faces that are less inclined to each other are one face
ROUND = 24  # points that draw a circle


@dataclass(frozen=True)
class Box:
    """A box centred on the origin of a frame, with its sides along the frame's axes.

    size: its three sides; two sides make a rectangle in the x-y plane, for motions in that plane.
    """

    at: Frame
    size: Numbers  # m, along x, y and z

    def __post_init__(self) -> None:
        check.instance("Box", "at", self.at, Frame, "a frame such as block.root")
        sides = check.listed("Box", "size", self.size, "must be 2 or 3 numbers in m")
        if len(sides) not in (2, 3):
            raise ModelError.of("Box", "size", "must be 2 or 3 numbers in m", self.size)
        checked = tuple(check.positive("Box", f"size[{k}]", side, "m") for k, side in enumerate(sides))
        object.__setattr__(self, "size", checked)

    @property
    def flat(self) -> bool:
        """Whether it is a rectangle, for motions in a plane."""
        return len(self.size) == 2

    @property
    def corners(self) -> list[Vector]:
        """In the axes of the frame, m."""
        halves = [0.5 * side for side in self.size]
        found = [tuple(sign * half for sign, half in zip(signs, halves, strict=True)) for signs in self.signs]
        return [(corner[0], corner[1], corner[2] if len(corner) == 3 else 0.0) for corner in found]

    @property
    def signs(self) -> list[tuple[float, ...]]:
        """On which side of the middle each corner is, along each axis."""
        return list(product((-1.0, 1.0), repeat=len(self.size)))

    def parts(self) -> list[Corner]:
        """What of it touches others."""
        return [Corner(self, k) for k in range(len(self.corners))]

    def edges(self) -> list[BoxEdge]:
        """Its twelve edges."""
        return [BoxEdge(self, k) for k in range(len(EDGES))]

    def crossings(self) -> list[Crossing]:
        """Its edges across those of another box: for every two directions, the two nearest of each."""
        pairs = (False, True)
        return [Crossing(self, *choice) for choice in product(range(3), range(3), pairs, pairs)]

    @property
    def bounding(self) -> float:
        """The radius of a ball around the origin of its frame that holds it, m."""
        diagonal: float = sqrt(sum(side * side for side in self.size))
        return 0.5 * diagonal

    @property
    def inner(self) -> float:
        """Half of its least thickness, m."""
        least = self.size[0]
        for side in list(self.size)[1:]:
            least = minimum(least, side)
        return 0.5 * least

    def lines(self) -> Lines:
        """The lines that draw it."""
        corners = np.array(self.corners, dtype=np.float64)
        if self.flat:
            return [corners[[0, 1, 3, 2, 0]]]
        return [corners[list(ends)] for ends in EDGES]


@dataclass(frozen=True)
class Cylinder:
    """A solid cylinder centred on the origin of a frame: its side, and two ends with their rims."""

    at: Frame
    radius: float  # m
    length: float  # m, along the axis
    axis: Axis = "z"

    def __post_init__(self) -> None:
        check.instance("Cylinder", "at", self.at, Frame, "a frame such as drum.root")
        for name in ("radius", "length"):
            object.__setattr__(self, name, check.positive("Cylinder", name, getattr(self, name), "m"))
        object.__setattr__(self, "axis", check.axis("Cylinder", "axis", self.axis))

    def parts(self) -> list[Rim]:
        """Of each rim the lowest point, and the highest, on which the cylinder stands as well."""
        return [Rim(self, side, far) for side in (-1, 1) for far in (False, True)]

    def on_solid(self) -> list[Rolling | Foot]:
        """What of it touches boxes and cylinders: where its side lies on a box, edges of the box touch it."""
        rims = [Rolling(self, side) for side in (-1, 1)]
        return [*rims, *(Foot(self, side, number) for side in (-1, 1) for number in range(FEET))]

    @property
    def bounding(self) -> float:
        """The radius of a ball around the origin of its frame that holds it, m."""
        to_rim: float = sqrt(self.radius**2 + 0.25 * self.length**2)
        return to_rim

    @property
    def inner(self) -> float:
        """Half of its least thickness, m."""
        half: float = minimum(self.radius, 0.5 * self.length)
        return half

    @property
    def across(self) -> Vector:
        """A direction at right angles to the axis."""
        x, y, z = (float(a) for a in self.axis)
        least = min(range(3), key=lambda k: abs((x, y, z)[k]))
        normal = np.cross((x, y, z), np.eye(3)[least])
        a, b, c = (normal / np.linalg.norm(normal)).tolist()
        return (a, b, c)

    def lines(self) -> Lines:
        """The lines that draw it."""
        half = 0.5 * float(self.length)
        return round_lines(self.axis, self.across, float(self.radius), -half, half)


def round_lines(axis: Any, across: Vector, radius: float, begin: float, end: float) -> Lines:
    """Two circles around an axis, and four lines along it between them."""
    along, first = np.array([float(x) for x in axis]), np.array(across)
    angles = np.linspace(0.0, 2.0 * math.pi, ROUND + 1)[:, None]
    circle = radius * (np.cos(angles) * first + np.sin(angles) * np.cross(along, first))
    sides = [np.stack([circle[k] + begin * along, circle[k] + end * along]) for k in range(0, ROUND, ROUND // 4)]
    return [circle + begin * along, circle + end * along, *sides]


@dataclass(frozen=True)
class Hull:
    """The convex hull of points in the axes of a frame; `pl.read_stl` reads those of a file.

    Points inside the hull, or on its faces and edges, are left out.
    """

    at: Frame
    points: ArrayOf[Numbers]  # m

    def __post_init__(self) -> None:
        check.instance("Hull", "at", self.at, Frame, "a frame such as stone.root")
        points = check.listed("Hull", "points", self.points, "must be a list of points, each of three numbers in m")
        rows = [check.numbers("Hull", f"points[{k}]", point, 3, "m") for k, point in enumerate(points)]
        for k, row in enumerate(rows):
            for x in row:
                check.structural("Hull", f"points[{k}]", x)
        hull = hull_of("Hull", "points", np.array(rows, dtype=np.float64).reshape(-1, 3))
        object.__setattr__(self, "points", tuple(rows[k] for k in hull.corners))

    @property
    def corners(self) -> list[Vector]:
        """In the axes of the frame, m."""
        return [(x, y, z) for x, y, z in self.points]

    def parts(self) -> list[Corner]:
        """What of it touches others."""
        return [Corner(self, k) for k in range(len(self.corners))]

    @property
    def bounding(self) -> float:
        """The radius of a ball around the origin of its frame that holds it, m."""
        return max(math.hypot(*point) for point in self.points)

    def lines(self) -> Lines:
        """The lines that draw it."""
        points = np.array(self.points, dtype=np.float64)
        hull = hull_of("Hull", "points", points)
        return [hull.points[list(edge)] for edge in hull.edges]


@dataclass(frozen=True)
class Corner:
    """One corner of a box or of a mesh: a point that moves with it."""

    radius: ClassVar[float] = 0.0
    of: Box | Hull
    number: int

    @property
    def at(self) -> Frame:
        """The frame of the shape that it is a part of."""
        return self.of.at

    @property
    def name(self) -> str:
        """What tables call it, behind the place of its shape."""
        return f"corner{self.number + 1}"

    @property
    def offset(self) -> Vector:
        """Where it is in the axes of the frame, m."""
        return self.of.corners[self.number]


@dataclass(frozen=True)
class Rim:
    """The point of a cylinder's rim that is lowest above a plane, or the highest one."""

    radius: ClassVar[float] = 0.0
    of: Cylinder
    side: int  # -1 or 1: at which end of the axis
    far: bool  # whether it is the highest one

    @property
    def name(self) -> str:
        """What tables call it, behind the place of its shape."""
        return f"{'start' if self.side < 0 else 'end'}{'.far' * self.far}"

    @property
    def at(self) -> Frame:
        """The frame of the shape that it is a part of."""
        return self.of.at


@dataclass(frozen=True)
class Lying:
    """The sides of two cylinders where they cross, between the ends of both."""

    name: ClassVar[str] = "side"
    radius: ClassVar[float] = 0.0
    of: Cylinder

    @property
    def at(self) -> Frame:
        """The frame of the shape that it is a part of."""
        return self.of.at


@dataclass(frozen=True)
class Rolling:
    """A cylinder's rim where it is deepest in a solid, on which the cylinder rolls and lies."""

    radius: ClassVar[float] = 0.0
    of: Cylinder
    side: int  # -1 or 1: at which end of the axis

    @property
    def name(self) -> str:
        """What tables call it, behind the place of its shape."""
        return "start" if self.side < 0 else "end"

    @property
    def at(self) -> Frame:
        """The frame of the shape that it is a part of."""
        return self.of.at


FEET = 8  # of a rim


@dataclass(frozen=True)
class Foot:
    """A point of a cylinder's rim on which the cylinder stands."""

    radius: ClassVar[float] = 0.0
    of: Cylinder
    side: int  # -1 or 1: at which end of the axis
    number: int

    @property
    def name(self) -> str:
        """What tables call it, behind the place of its shape."""
        return f"{'start' if self.side < 0 else 'end'}{self.number + 1}"

    @property
    def at(self) -> Frame:
        """The frame of the shape that it is a part of."""
        return self.of.at


@dataclass(frozen=True)
class BoxEdge:
    """One edge of a box."""

    radius: ClassVar[float] = 0.0
    of: Box
    number: int

    @property
    def at(self) -> Frame:
        """The frame of the shape that it is a part of."""
        return self.of.at

    @property
    def name(self) -> str:
        """What tables call it, behind the place of its shape."""
        return f"edge{self.number + 1}"

    @property
    def ends(self) -> tuple[Vector, Vector]:
        """In the axes of the frame, m."""
        first, second = EDGES[self.number]
        corners = self.of.corners
        return corners[first], corners[second]


@dataclass(frozen=True)
class Crossing:
    """Where an edge of a box crosses an edge of another box.

    The four edges of a direction are two pairs of opposite ones. Whichever face is turned to the other box has one edge of each.
    """

    radius: ClassVar[float] = 0.0
    of: Box
    along: int  # axis of the edge: 0, 1 or 2 in the frame of its box
    across: int  # axis of the edge of the other box
    odd: bool  # the pair of opposite edges: those on faces of different signs
    other_odd: bool  # the same for the other box

    @property
    def at(self) -> Frame:
        """The frame of the shape that it is a part of."""
        return self.of.at

    @property
    def name(self) -> str:
        """What tables call it, behind the place of its shape."""
        return f"edge.{'xyz'[self.along]}{1 + self.odd}{'xyz'[self.across]}{1 + self.other_odd}"


ON_CYLINDERS = (Rim, Lying, Rolling)  # parts of a cylinder whose places travel round it
EDGES = [(i, i | bit) for bit in (1, 2, 4) for i in range(8) if not i & bit]  # of a box: the corners that they join


@dataclass(frozen=True)
class Polyhedron:
    """A convex hull in space: which of the given points are its corners, its edges, and its triangles, seen from outside."""

    points: NDArray[np.float64]
    corners: tuple[int, ...]
    edges: tuple[tuple[int, int], ...]
    triangles: NDArray[np.int64]

    @cached_property
    def inertia(self) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
        """(volume, centroid, second moments about it, int r r^T dV): sums over tetrahedra from the first point."""
        base = self.points[0]
        a, b, c = (self.points[self.triangles[:, k]] - base for k in range(3))
        volumes = np.einsum("ti,ti->t", a, np.cross(b, c)) / 6.0
        volume, total = float(volumes.sum()), a + b + c
        centroid = volumes @ total / (4.0 * volume)
        outer = sum(np.einsum("t,ti,tj->ij", volumes, x, x) for x in (a, b, c, total)) / 20.0
        return volume, base + centroid, outer - volume * np.outer(centroid, centroid)


def hull_of(part: str, field: str, points: NDArray[np.float64]) -> Polyhedron:
    """Refuses points in a plane, on a line, or fewer than four."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        found = ConvexHull(points)
    except (QhullError, ValueError):
        raise ModelError.of(part, field, "must be at least four points that are not in one plane", len(points)) from None
    triangles = found.simplices.astype(np.int64)
    outward = found.equations[:, :3]
    a, b, c = (points[triangles[:, k]] for k in range(3))
    turned = np.einsum("ti,ti->t", np.cross(b - a, c - a), outward) < 0.0
    triangles[turned] = triangles[turned][:, ::-1]
    # an edge between triangles of one plane is none, and a point without an edge is no corner
    edges = set()
    for k, neighbours in enumerate(found.neighbors):
        for j, other in enumerate(neighbours.tolist()):
            if k < other and np.max(np.abs(found.equations[k] - found.equations[other])) > FLAT:
                i, m = sorted(int(x) for n, x in enumerate(found.simplices[k]) if n != j)
                edges.add((i, m))
    met: dict[int, list[int]] = {}
    for i, m in edges:
        met.setdefault(i, []).append(m)
        met.setdefault(m, []).append(i)
    corners = tuple(sorted(k for k, others in met.items() if len(others) > 2))
    return Polyhedron(points, corners, tuple(sorted(edges)), triangles)


def read_stl(path: Any, scale: float = 1.0) -> NDArray[np.float64]:
    """The corners of the triangles of an STL file, binary or text, each point once: (points, 3).

    scale: metres per unit of the file, which does not say in which unit it is: 1e-3 for a file in mm.
    """
    place = check.path("read_stl", "path", path)
    factor = check.positive("read_stl", "scale", scale)
    try:
        content = place.read_bytes()
    except OSError as trouble:
        raise ModelError.of("read_stl", "path", f"must be a file that can be read ({trouble.strerror})", str(place)) from None
    count = int.from_bytes(content[80:84], "little")
    if len(content) == 84 + 50 * count and count > 0:
        record = np.dtype([("normal", "<f4", 3), ("points", "<f4", (3, 3)), ("attribute", "<u2")])
        points = np.frombuffer(content, record, count, 84)["points"].reshape(-1, 3).astype(np.float64)
    else:
        words = [line.split() for line in content.decode("ascii", "replace").splitlines()]
        try:
            points = np.array([[float(x) for x in row[1:]] for row in words if row[:1] == ["vertex"]], dtype=np.float64)
            points = points.reshape(-1, 3)
        except ValueError:
            points = np.empty((0, 3))
    if not len(points) or not np.all(np.isfinite(points)):
        raise ModelError.of("read_stl", "path", "must be an STL file, binary or text, with finite vertices", str(place))
    return np.asarray(factor * np.unique(points, axis=0))
