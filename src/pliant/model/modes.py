"""Sets of modes, which say how a beam deforms: assumed modes of beam theory, the user's own shapes, or elements."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from pliant.errors import ModelError
from pliant.model import check
from pliant.model.reduction import CraigBampton, FreeModes, Reduction, check_nodes, node_numbers
from pliant.scalar import ArrayOf, Numbers

BENDING_ENDS = ("cc", "ss", "sc", "cs", "cf", "fc", "ff", "sf", "fs")
BAR_ENDS = ("cf", "fc", "cc", "ff")
PLANES = ("y", "z")
GIVEN_PLANES = ("x", *PLANES)
NORMALISATIONS = ("max", "mass", "length")
MOST = 10_000  # coordinates of one set; a typing error must not exhaust the memory


@dataclass(frozen=True)
class Modes:
    """The first `count` bending modes of the beam with the given ends (c clamped, s simply supported, f free), root first.

    plane: direction of the deflection, y or z. normalise: `max` makes max |W| = 1, `mass` makes int mu W W + J Theta Theta = 1,
    `length` makes int W W dx = L. payload: use the shapes of the beam with its payload. static: append a static-correction shape
    for each load that an end can take (force and moment at a free end, moment at a simply supported end), so that the beam bends
    exactly under these loads; the largest deflection of such a shape is 1. By default a `cf` beam gets them when its tip carries a
    body other than a payload. The rigid-body motions of ff, sf and fs beams do not count as modes, because the joint and the frame
    describe them.
    """

    ends: str
    count: int
    plane: str = "y"
    normalise: str = "max"
    payload: bool = False
    static: bool | None = None

    def __post_init__(self) -> None:
        _check_ends("Modes", self.ends, BENDING_ENDS)
        check.count("Modes", "count", self.count, MOST)
        check.choice("Modes", "plane", self.plane, PLANES)
        check.choice("Modes", "normalise", self.normalise, NORMALISATIONS)
        if self.payload and self.ends[1] != "f":
            raise ModelError.of("Modes", "ends", "must end in f for shapes with a payload", self.ends)
        if self.static is not None:
            _check_static("Modes", self.static, self.ends)

    @property
    def shapes_in_all(self) -> int:
        """The number of modes and static-correction shapes."""
        return self.count + bool(self.static) * sum({"c": 0, "s": 1, "f": 2}[end] for end in self.ends)


@dataclass(frozen=True)
class BarModes:
    """The first `count` modes of a bar with clamped or free ends."""

    ends: str
    count: int
    static: bool = False

    def __post_init__(self) -> None:
        part = type(self).__name__
        _check_ends(part, self.ends, BAR_ENDS)
        check.count(part, "count", self.count, MOST)
        _check_static(part, self.static, self.ends)

    @property
    def shapes_in_all(self) -> int:
        """The number of modes and static-correction shapes."""
        return self.count + self.static * self.ends.count("f")


@dataclass(frozen=True)
class AxialModes(BarModes):
    """The first `count` stretching modes of the beam, with clamped or free ends, normalised to max |U| = 1.

    static: append a static-correction shape for each free end, so that the beam stretches exactly under a force there.
    """


@dataclass(frozen=True)
class TorsionModes(BarModes):
    """The first `count` torsion modes of the beam, with clamped or free ends, normalised to max |angle| = 1.

    static: append a static-correction shape for each free end, so that the beam twists exactly under a torque there.
    """


@dataclass(frozen=True)
class ShapeFunction:
    """A bending shape of your own: W(x) and its first two derivatives; for Timoshenko beams also Theta(x) and its derivative.

    The functions take and return NumPy arrays; x is in m from the root. breaks: points inside the beam where a derivative jumps.
    """

    w: Callable[..., object]
    dw: Callable[..., object]
    ddw: Callable[..., object]
    theta: Callable[..., object] | None = None
    dtheta: Callable[..., object] | None = None
    breaks: Numbers = ()

    def __post_init__(self) -> None:
        for field in ("w", "dw", "ddw"):
            if not callable(getattr(self, field)):
                raise ModelError.of("ShapeFunction", field, "must be a function of x", getattr(self, field))
        object.__setattr__(self, "breaks", tuple(check.number("ShapeFunction", "breaks", x, "m") for x in self.breaks))
        if (self.theta is None) != (self.dtheta is None):
            raise ModelError("ShapeFunction: theta and dtheta must be given together, got only one of them")


@dataclass(frozen=True)
class ShapeTable:
    """A bending shape of your own, as values W at stations x from 0 to the beam's length, joined by a quintic spline.

    theta: for Timoshenko beams, the values of Theta at the same stations.
    """

    x: Numbers
    w: Numbers
    theta: Numbers | None = None

    def __post_init__(self) -> None:
        part = "ShapeTable"
        object.__setattr__(self, "x", tuple(check.number(part, f"x[{k}]", v, "m") for k, v in enumerate(self.x)))
        if len(self.x) < 6:
            raise ModelError.of(part, "x", "must have at least 6 stations", len(self.x))
        check.increasing(part, "x", self.x)
        for field in ("w", "theta"):
            values: Numbers | None = getattr(self, field)
            if values is None:
                continue
            if len(values) != len(self.x):
                raise ModelError.of(part, field, f"must have {len(self.x)} values, one per station", len(values))
            object.__setattr__(self, field, tuple(check.number(part, field, v) for v in values))


@dataclass(frozen=True)
class GivenModes:
    """Shapes that you supply as functions or tables: of bending along y or z, or of stretching along x.

    mass: the matrix int mu W_j W_k, if it is known otherwise (lumped, measured, or from a test problem); by default it is
    integrated. All other integrals follow from the shapes. static: append shapes that complete the response of a cantilever to
    loads at its tip (force and moment, or a force along x), so that this response is exact.
    """

    shapes: Sequence[ShapeFunction | ShapeTable]
    plane: str = "y"
    mass: ArrayOf[Numbers] | None = None  # kg
    static: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "shapes", tuple(self.shapes))
        if not self.shapes:
            raise ModelError.of("GivenModes", "shapes", "must contain at least one shape", self.shapes)
        for k, shape in enumerate(self.shapes):
            check.instance("GivenModes", f"shapes[{k}]", shape, (ShapeFunction, ShapeTable), "a ShapeFunction or a ShapeTable")
        check.choice("GivenModes", "plane", self.plane, GIVEN_PLANES)
        _check_static("GivenModes", self.static, "cf")
        if self.mass is not None and self.static:
            raise ModelError.of("GivenModes", "static", "must be False when the mass is given", self.static)
        if self.mass is not None:
            object.__setattr__(self, "mass", self._given_mass(self.mass))

    @property
    def shapes_in_all(self) -> int:
        """The number of given and static-correction shapes."""
        return len(self.shapes) + self.static * (1 if self.plane == "x" else 2)

    def _given_mass(self, mass: ArrayOf[Numbers]) -> tuple[tuple[float, ...], ...]:
        count = len(self.shapes)
        if not check.several(mass) or len(mass) != count:
            raise ModelError.of("GivenModes", "mass", f"must have {count} rows, one per shape", mass)
        rows = tuple(check.numbers("GivenModes", f"mass[{k}]", row, count, "kg") for k, row in enumerate(mass))
        for j in range(count):
            check.positive("GivenModes", f"mass[{j}][{j}]", rows[j][j], "kg")
            if any(rows[j][k] != rows[k][j] for k in range(j)):
                raise ModelError.of("GivenModes", "mass", "must be symmetric", mass)
        return rows

    def check_length(self, length: float) -> None:
        """Refuse tables that do not run along a beam of this length."""
        for k, shape in enumerate(self.shapes):
            if isinstance(shape, ShapeTable) and not (shape.x[0] == 0.0 and math.isclose(shape.x[-1], length, rel_tol=1e-12)):
                rule = f"must run from 0 to the beam's length, {length!r} m"
                raise ModelError.of("GivenModes", f"shapes[{k}].x", rule, (shape.x[0], shape.x[-1]))


CHOSEN = "auto"
REFERENCES = (CHOSEN, "simply-supported", "cantilever", "nodal")
Coordinate = tuple[int, str]  # a node, and "deflection", "slope" or "axial"


@dataclass(frozen=True)
class ElementModes:
    """A mesh of equal cubic beam elements, whose coordinates are the deflections (m) and slopes (rad) of the nodes.

    The origin of the body's frame is the root. reference: `simply-supported` puts the x axis through both ends (no deflection
    there); `cantilever` makes it tangent to the beam at the root (no slope there); `nodal` makes it follow `nodes`, tangent to the
    beam at one node or parallel to the line through two. `auto`, the default, is `simply-supported` on a joint that lets the root
    turn freely, and `cantilever` on any other: a weld, or a joint that is driven, prescribed, sprung or stopped. Coordinates are in
    the order of the nodes, deflection before slope. A reduction retains some of them; modal coordinates follow, whose shapes have
    the largest deflection 1.
    """

    elements: int
    reference: str = CHOSEN
    plane: str = "y"
    nodes: tuple[int, ...] | None = None  # for the reference `nodal`; the root is 0
    reduction: Reduction | None = None

    def __post_init__(self) -> None:
        part = "ElementModes"
        check.count(part, "elements", self.elements, MOST)
        check.choice(part, "reference", self.reference, REFERENCES)
        check.choice(part, "plane", self.plane, PLANES)
        if self.nodes is not None:
            object.__setattr__(self, "nodes", node_numbers(part, "nodes", self.nodes))
        if (self.reference == "nodal") != (self.nodes is not None):
            rule = "must be given if, and only if, reference is nodal"
            raise ModelError.of(part, "nodes", rule, self.nodes)
        if self.nodes is not None:
            if len(self.nodes) not in (1, 2):
                raise ModelError.of(part, "nodes", "must be one or two nodes", self.nodes)
            check_nodes(part, "nodes", self.nodes, self.elements)
        _check_reduction(part, self)

    @property
    def frame_nodes(self) -> tuple[int, ...]:
        """The node whose slope, or the two nodes whose deflections, the frame follows."""
        if self.reference == "nodal":
            return self.nodes or ()
        return (0,) if self.reference == "cantilever" else (0, self.elements)

    @property
    def nodal(self) -> tuple[Coordinate, ...]:
        """(node, "deflection" or "slope") of every coordinate of the mesh.

        If the frame is parallel to the line through two nodes and neither is the root, they share one coordinate, the first node's.
        """
        last = self.frame_nodes[-1]
        held = {(0, "deflection"), (last, "slope" if len(self.frame_nodes) == 1 else "deflection")}
        every = [(node, kind) for node in range(self.elements + 1) for kind in ("deflection", "slope")]
        return tuple(one for one in every if one not in held)

    @property
    def kept(self) -> tuple[Coordinate, ...]:
        """The nodal coordinates that the body retains: all, or those of the reduction's interface."""
        chosen = _kept(self)
        if len(self.frame_nodes) == 2 and self.frame_nodes[1] in _interface(self):  # they share one coordinate
            chosen = tuple(one for one in self.nodal if one in {*chosen, (self.frame_nodes[0], "deflection")})
        return chosen

    @property
    def count(self) -> int:
        """The number of coordinates."""
        return len(self.kept) + (self.reduction.count if self.reduction else 0)


@dataclass(frozen=True)
class LineElements:
    """A mesh of equal linear elements, with one coordinate at every node except the root."""

    KIND: ClassVar[str]  # of the coordinates

    elements: int
    reduction: Reduction | None = None

    def __post_init__(self) -> None:
        part = type(self).__name__
        check.count(part, "elements", self.elements, MOST)
        _check_reduction(part, self)

    @property
    def nodal(self) -> tuple[Coordinate, ...]:
        """(node, kind) of every coordinate of the mesh."""
        return tuple((node, self.KIND) for node in range(1, self.elements + 1))

    @property
    def kept(self) -> tuple[Coordinate, ...]:
        """The nodal coordinates that the body retains: all, or those of the reduction's interface."""
        return _kept(self)

    @property
    def count(self) -> int:
        """The number of coordinates."""
        return len(self.kept) + (self.reduction.count if self.reduction else 0)


@dataclass(frozen=True)
class AxialElements(LineElements):
    """A mesh of equal linear bar elements; the coordinates are the axial displacements (m) of all nodes except the root."""

    KIND: ClassVar[str] = "axial"


@dataclass(frozen=True)
class TorsionElements(LineElements):
    """A mesh of equal linear torsion elements; the coordinates are the twist angles (rad) of all nodes except the root."""

    KIND: ClassVar[str] = "twist"


Mesh = ElementModes | AxialElements | TorsionElements
MESHES = (ElementModes, AxialElements, TorsionElements)


def _interface(mesh: ElementModes | LineElements) -> tuple[int, ...]:
    return mesh.reduction.nodes_of(mesh.elements) if isinstance(mesh.reduction, CraigBampton) else ()


def _kept(mesh: ElementModes | LineElements) -> tuple[Coordinate, ...]:
    return tuple(one for one in mesh.nodal if mesh.reduction is None or one[0] in _interface(mesh))


def _check_reduction(part: str, mesh: ElementModes | LineElements) -> None:
    if mesh.reduction is None:
        return
    check.instance(part, "reduction", mesh.reduction, (CraigBampton, FreeModes), "a CraigBampton or FreeModes")
    if mesh.reduction.highest is not None:
        rule = "must be left out: a mesh of beam elements is reduced to a number of modes"
        raise ModelError.of(part, "reduction.highest", rule, mesh.reduction.highest)
    check_nodes(part, "reduction.interface", _interface(mesh), mesh.elements)
    if not 0 < mesh.count <= len(mesh.nodal):
        rule = f"must leave between 1 and {len(mesh.nodal)} coordinates, the number that the mesh has"
        raise ModelError.of(part, "reduction", rule, mesh.count)


def _check_ends(part: str, ends: Any, known: Sequence[str]) -> None:
    check.structural(part, "ends", ends)
    if not isinstance(ends, str) or ends not in known:
        letters = "root, then tip: c clamped, s simply supported, f free; most links have 'cf'"
        raise ModelError.of(part, "ends", f"must be one of {', '.join(known)}{check.did_you_mean(ends, known)} ({letters})", ends)


def _check_static(part: str, static: bool, ends: str) -> None:
    check.instance(part, "static", static, bool, "True or False")
    if static and set(ends) == {"c"}:
        raise ModelError.of(part, "static", "must be False when both ends are clamped, because clamped ends take no load", static)


def carrying(modes: ModeSet) -> ModeSet:
    """The set for a beam whose tip carries a body: with static-correction shapes, if it leaves that open.

    A body loads the tip with a moment, under which two natural modes turn only four fifths as far as the beam.
    """
    return replace(modes, static=True) if isinstance(modes, Modes) and modes.ends == "cf" and modes.static is None else modes


ModeSet = Modes | AxialModes | TorsionModes | GivenModes | Mesh
MODE_SETS: tuple[type[ModeSet], ...] = (Modes, AxialModes, TorsionModes, GivenModes, *MESHES)


def direction_of(modes: ModeSet) -> str:
    """y, z, axial or torsion."""
    if isinstance(modes, AxialModes | AxialElements):
        return "axial"
    if isinstance(modes, TorsionModes | TorsionElements):
        return "torsion"
    return "axial" if modes.plane == "x" else modes.plane


def labels(modes: ModeSet) -> tuple[str, ...]:
    """Names of the modal coordinates of one set: y1, y2, ... z1 ... axial1 ... torsion1."""
    count = modes.count if isinstance(modes, MESHES) else modes.shapes_in_all
    return tuple(f"{direction_of(modes)}{k + 1}" for k in range(count))
