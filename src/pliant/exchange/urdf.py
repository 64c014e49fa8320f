"""Robots from URDF files. What the format means: http://wiki.ros.org/urdf/XML."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from pliant.errors import ModelError
from pliant.exchange.description import Description, GearPart, JointPart, LinkPart, ShapePart, distinct
from pliant.exchange.geometry import Inertial, Pose
from pliant.exchange.robot import SINGLE, Choices, Elastic, Robot, built
from pliant.exchange.safe_xml import Element, read_xml, unread
from pliant.files.document import ModelFileError
from pliant.model import check
from pliant.model.joint import Free, Joint, Planar, Prismatic, Revolute, Weld
from pliant.model.motor import Motor
from pliant.model.normal_law import NormalLaw
from pliant.model.rigid import inertia_matrix
from pliant.scalar import Numbers

KINDS: dict[str, type[Joint]] = {"fixed": Weld, "revolute": Revolute, "continuous": Revolute, "prismatic": Prismatic,
                                 "planar": Planar, "floating": Free}  # fmt: skip
LIMITED = ("revolute", "prismatic")
BASES: dict[str, type[Joint]] = {"fixed": Weld, "floating": Free}
PACKAGE, FILE = "package://", "file://"
MOMENTS = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
SHAPES = ("sphere", "capsule", "box", "cylinder", "mesh")


def read_urdf(
    path: str | Path,
    *,
    elastic: Mapping[str, Elastic] | None = None,
    base: str | Joint = "fixed",
    motors: Mapping[str, Motor | tuple[Motor, object]] | None = None,
    start: Mapping[str, float] | None = None,
    stops: NormalLaw | bool = True,
    gravity: Numbers = (0.0, 0.0, -9.81),
    repair: bool = False,
) -> Robot:
    """Read a robot from a URDF file into a System; its attributes `unused`, `coordinates` and `shapes` say what else the file has.

    elastic: links that bend, by name: a Beam, (section, material), or elastic_link(...). base: "fixed", "floating", or a joint of
    pliant for the root link. motors: by joint, a Motor or (Motor, command); one with gear_stiffness makes the joint elastic. start:
    of joints, m or rad; 0 by default, or the middle of the limits if these exclude 0. stops: normal law of the ends of travel, by
    default a spring that yields 1 mrad (0.1 mm) under the weight that it may have to carry; False leaves limits out.
    repair: whether an inertia that no body can have becomes the nearest that one can have, and is listed, instead of being refused.
    """
    root = read_xml(check.path("read_urdf", "path", path))
    choices = Choices(elastic=check.mapping("read_urdf", "elastic", elastic), motors=check.mapping("read_urdf", "motors", motors),
                      start=check.mapping("read_urdf", "start", start), stops=stops)  # fmt: skip
    return built(_description(root, base, gravity, repair), choices)


def _description(root: Element, base: str | Joint, gravity: Numbers, repair: bool) -> Description:
    if root.tag != "robot":
        raise ModelFileError.of(f"{root.file}, line {root.line}", "root element", "must be robot", root.tag)
    for element in root.walk():
        if element.tag.startswith("xacro:"):
            rule = "must be expanded first (xacro robot.xacro > robot.urdf): it is a macro, not a part of a robot"
            raise ModelFileError.of(f"{element.file}, line {element.line}", "element", rule, element.tag)
    found = Description(name=root.text("name"), where=root.file, gravity=gravity)
    for element in root.all("link"):
        link = _link(element, found.unused, repair)
        if link.name in found.links:
            raise element.wrong("name", "must be unique among links", link.name)
        found.links[link.name] = link
    if not found.links:
        raise root.wrong("link", "must be given at least once", None)
    joints: dict[str, tuple[Element, JointPart]] = {}
    for element in root.all("joint"):
        joint = _joint(element, found)
        if joint.name in joints:
            raise element.wrong("name", "must be unique among joints", joint.name)
        joints[joint.name] = element, joint
    for gear in found.gears:
        if gear.leader not in joints or joints[gear.leader][1].kind not in SINGLE:
            rule = f"must be a joint with one coordinate, one of {[n for n, (_, j) in joints.items() if j.kind in SINGLE]}"
            raise ModelFileError.of(gear.where, "mimic joint", rule, gear.leader)
    top = _root_joint(_in_order(root, found, joints), base, found, distinct("base", joints))
    found.joints = {top.name: top, **found.joints}
    found.unused = [*unread(root), *found.unused, *_missing_meshes(root)]
    return found


def _in_order(root: Element, found: Description, joints: Mapping[str, tuple[Element, JointPart]]) -> str:
    """Put the joints into the description, parents first; the root link."""
    carried: dict[str, str] = {}
    for element, joint in joints.values():
        if joint.child in carried:
            rule = f"must be the child of one joint only, {carried[joint.child]!r} carries it already"
            raise element.wrong("child link", rule, joint.child)
        carried[joint.child] = joint.name
    tops = [name for name in found.links if name not in carried]
    if len(tops) > 1:
        raise root.wrong("link", "must be one that no joint carries, the root; there are several", tops)
    waiting = list(tops)
    while waiting:
        parent = waiting.pop(0)
        for _, joint in joints.values():
            if joint.parent == parent:
                found.joints[joint.name] = joint
                waiting.append(joint.child)
    for element, joint in joints.values():
        if joint.name not in found.joints:
            raise element.wrong("parent link", "must lead to the root link, but is part of a circle", joint.parent)
    return tops[0]


def _root_joint(link: str, base: str | Joint, found: Description, name: str) -> JointPart:
    if isinstance(base, Joint):
        return JointPart(name=name, where=found.where, kind=type(base), child=link, made=base)
    if base not in BASES:
        raise ModelError.of("read_urdf", "base", "must be 'fixed', 'floating' or a joint such as pl.Free(position=...)", base)
    return JointPart(name=name, where=found.where, kind=BASES[base], child=link)


# ---- links


def _link(element: Element, unused: list[str], repair: bool) -> LinkPart:
    name, given = element.text("name"), element.only("inertial")
    shapes = [_shape(collision, name, unused) for collision in element.all("collision")]
    return LinkPart(name=name, where=element.where, shapes=tuple(shape for shape in shapes if shape is not None),
                    inertial=None if given is None else _possible(element.where, _inertial(given), unused, repair))  # fmt: skip


def _inertial(element: Element) -> Inertial:
    mass = element.needed("mass").size("value", zero=True)
    rows = element.needed("inertia")
    xx, xy, xz, yy, yz, zz = (rows.number(name) for name in MOMENTS)
    pose = _origin(element)
    turned = pose.matrix @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ pose.matrix.T
    return Inertial(mass, np.array(pose.origin), 0.5 * (turned + turned.T))


def _possible(where: str, inertial: Inertial, unused: list[str], repair: bool) -> Inertial:
    """An inertia that a body can have: that of the file, or the nearest one."""
    try:
        inertia_matrix("inertial", inertial.rows)
    except ModelError as trouble:
        if not repair:
            raise ModelFileError(f"{where}: {trouble} (repair=True takes the nearest that a body can have)") from None
        near = inertial.possible
        moments = ", ".join(f"{x:.4g}" for x in np.linalg.eigvalsh(near.inertia))
        unused.append(f"{where}: {trouble}; the nearest is taken, of principal moments {moments} kg m^2")
        return near
    return inertial


def _origin(element: Element) -> Pose:
    origin = element.only("origin")
    if origin is None:
        return Pose()
    return Pose.of_rpy(origin.numbers("xyz", 3, "0 0 0"), origin.numbers("rpy", 3, "0 0 0"))


def _shape(collision: Element, link: str, unused: list[str]) -> ShapePart | None:
    pose, shapes = _origin(collision), collision.needed("geometry").children
    if len(shapes) != 1:
        raise collision.wrong("geometry", f"must hold one of {', '.join(SHAPES)}", [shape.tag for shape in shapes])
    shape = shapes[0]
    shape.seen = True
    collision.asked.add("name")
    if shape.tag == "sphere":
        return ShapePart(kind="sphere", pose=pose, sizes=(shape.size("radius"),))
    if shape.tag == "capsule":
        return ShapePart(kind="capsule", pose=pose, sizes=(shape.size("radius"), shape.size("length")))
    if shape.tag == "box":
        sides = shape.numbers("size", 3)
        return ShapePart(kind="box", pose=pose, sizes=tuple(check.positive(shape.where, "size", side, "m") for side in sides))
    shape.asked.update(shape.given)
    unused.append(f"collision {shape.tag} of link {link!r}, line {shape.line}: contacts have no such shape")
    return None


# ---- joints


def _joint(element: Element, found: Description) -> JointPart:
    name, word = element.text("name"), element.choice("type", KINDS)
    ends = {}
    for end in ("parent", "child"):
        ends[end] = element.needed(end).text("link")
        if ends[end] not in found.links:
            rule = f"must be a link of the file{check.did_you_mean(ends[end], found.links)}"
            raise element.wrong(f"{end} link", rule, ends[end])
    kind, dynamics = KINDS[word], element.only("dynamics")
    axis: tuple[float, ...] = (1.0, 0.0, 0.0)
    if kind in (*SINGLE, Planar) and (given := element.only("axis")) is not None:
        axis = _unit(given)
    damping = friction = 0.0
    if dynamics is not None and kind in SINGLE:
        damping, friction = dynamics.size("damping", "0", zero=True), dynamics.size("friction", "0", zero=True)
    joint = JointPart(
        name=name, where=element.where, kind=kind, parent=ends["parent"], child=ends["child"], place=_origin(element), axis=axis,
        limits=_limits(element, word), damping=damping, friction=friction,
    )  # fmt: skip
    mimic = None if kind is Weld else element.only("mimic")  # a fixed joint follows nothing
    if mimic is not None:
        found.gears.append(_gear(mimic, element, joint))
    return joint


def _unit(axis: Element) -> tuple[float, ...]:
    numbers = axis.numbers("xyz", 3)
    size = math.hypot(*numbers)
    if size == 0.0:
        raise axis.wrong("xyz", "must not be the zero vector", numbers)
    return tuple(a / size for a in numbers)


def _limits(element: Element, word: str) -> tuple[float, float] | None:
    if word not in LIMITED:
        return None
    limit = element.needed("limit")
    return limit.number("lower", "0"), limit.number("upper", "0")


def _gear(mimic: Element, element: Element, joint: JointPart) -> GearPart:
    if joint.kind not in SINGLE:
        raise element.wrong("mimic", "must be left out for a joint with several coordinates", element.given["type"])
    ratio, offset = mimic.number("multiplier", "1"), mimic.number("offset", "0")
    if ratio == 0.0:
        raise element.wrong("mimic multiplier", "must not be 0: such a joint is fixed", ratio)
    return GearPart(where=element.where, follower=joint.name, leader=mimic.text("joint"), ratio=ratio, offset=offset)


# ---- meshes


def _missing_meshes(root: Element) -> list[str]:
    """Meshes whose files are not there. They are not drawn, but what else refers to the robot may need them."""
    meshes = [element for element in root.walk() if element.tag == "mesh"]
    named = {mesh.given.get("filename", ""): mesh.line for mesh in reversed(meshes)}
    folder = Path(root.file).parent
    return [f"mesh {name!r}, line {line}: no such file" for name, line in reversed(named.items()) if not _is_there(name, folder)]


def _is_there(name: str, folder: Path) -> bool:
    """Whether a mesh exists; packages are looked for in the folders above the file."""
    plain = name.removeprefix(FILE).removeprefix(PACKAGE)
    folders = [folder.absolute(), *folder.absolute().parents] if name.startswith(PACKAGE) else [folder]
    try:
        return bool(plain) and any((place / plain).is_file() for place in folders)
    except (OSError, ValueError):  # a name that no file can have
        return False
