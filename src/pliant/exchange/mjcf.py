"""Robots from MJCF files. MuJoCo itself compiles them, with their defaults, frames and inertias of geoms; this reads its model.

Document types and entities are refused before MuJoCo sees a file, and included files must lie in the folder of the first one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from pliant.errors import PliantError
from pliant.exchange.description import ClosurePart, Description, GearPart, JointPart, LinkPart, ShapePart, distinct
from pliant.exchange.geometry import Inertial, Pose
from pliant.exchange.robot import SINGLE, Choices, Elastic, Robot, built
from pliant.exchange.safe_xml import Element, read_xml, unread
from pliant.files.document import ModelFileError
from pliant.model import check
from pliant.model.joint import Damper, Free, Prismatic, Revolute, Spherical, Weld
from pliant.model.motor import Motor
from pliant.model.normal_law import NormalLaw

ANY = frozenset({"*"})
PLACE = frozenset({"pos", "quat", "axisangle", "xyaxes", "zaxis", "euler"})
NAMED = frozenset({"name", "class"})
# What of an element reaches the System; "*": all of it. Other elements and attributes are listed.
USED: dict[str, frozenset[str]] = {
    "mujoco": frozenset({"model"}),
    "compiler": ANY,
    "default": NAMED,
    "option": frozenset({"gravity"}),
    "flag": frozenset({"gravity"}),
    "worldbody": frozenset(),
    "body": NAMED | PLACE | {"childclass"},
    "frame": NAMED | PLACE | {"childclass"},
    "replicate": ANY,
    "inertial": ANY,
    "joint": NAMED | {"type", "pos", "axis", "range", "limited", "stiffness", "springref", "ref", "damping", "armature",
                      "springdamper", "frictionloss", "joint1", "joint2", "polycoef", "active"},
    "freejoint": NAMED | {"align"},
    "geom": NAMED | PLACE | {"type", "size", "fromto", "mass", "density", "shellinertia", "mesh", "contype", "conaffinity"},
    "asset": frozenset(),
    "mesh": ANY,
    "equality": frozenset(),
    "connect": NAMED | {"body1", "body2", "anchor", "active"},
    "weld": NAMED | {"body1", "body2", "anchor", "relpose", "active"},
    "include": ANY,
    "model": ANY,
    "attach": ANY,
}  # fmt: skip
OTHER_FILES = ("include", "model")  # elements that name one; a model is attached
LEAST = 1e-14  # a number of MuJoCo's model below this is zero


def read_mjcf(
    path: str | Path,
    *,
    elastic: Mapping[str, Elastic] | None = None,
    motors: Mapping[str, Motor | tuple[Motor, object]] | None = None,
    start: Mapping[str, float] | None = None,
    stops: NormalLaw | bool = True,
) -> Robot:
    """Read a robot from an MJCF file into a System, by MuJoCo's own compiler. Its attributes are those of `read_urdf`.

    elastic, motors, start, stops: as for `read_urdf`. A body with several joints becomes a chain of bodies without mass: name_1,
    name_2 ... carry the first ones, and the body itself the last. Joints start at their reference.
    """
    file = check.path("read_mjcf", "path", path)
    root = read_xml(file)
    if root.tag != "mujoco":
        raise ModelFileError.of(f"{root.file}, line {root.line}", "root element", "must be mujoco", root.tag)
    trees = [root, *_included(root, file, [file.resolve()])]
    choices = Choices(elastic=check.mapping("read_mjcf", "elastic", elastic), motors=check.mapping("read_mjcf", "motors", motors),
                      start=check.mapping("read_mjcf", "start", start), stops=stops)  # fmt: skip
    found = _Compiled(_compile(file), str(file)).description
    found.unused = [*(sentence for tree in trees for sentence in _unused(tree)), *found.unused]
    return built(found, choices)


def _included(root: Element, first: Path, known: list[Path]) -> list[Element]:
    """All files that a file includes, read as safely as the first; MuJoCo finds them by the folder of the first."""
    trees: list[Element] = []
    for element in root.walk():
        if element.tag not in OTHER_FILES or "file" not in element.given:
            continue
        target = (first.parent / element.text("file")).resolve()
        if not target.is_relative_to(first.parent.resolve()):
            raise element.wrong("file", "must be inside the folder of the first file", element.given["file"])
        if target in known:
            raise element.wrong("file", "must be included once", element.given["file"])
        known.append(target)
        tree = read_xml(target)
        trees += [tree, *_included(tree, first, known)]
    return trees


def _compile(file: Path) -> Any:
    try:
        import mujoco
    except ImportError as missing:
        raise PliantError("read_mjcf: MuJoCo must be installed, by pip install 'pliant[robots]'") from missing
    try:
        return mujoco.MjModel.from_xml_path(str(file))
    except ValueError as trouble:
        words = " ".join(str(trouble).split()).removeprefix("XML ").removeprefix("Error: ")
        raise ModelFileError(f"{file}: MuJoCo cannot read it: {words}") from None


def _unused(tree: Element) -> list[str]:
    """What of a file does not reach the System."""
    for element in tree.walk():
        used = USED.get(element.tag)
        element.seen = element is tree or used is not None
        element.asked.update(element.given if used is None or "*" in used else used)
    return unread(tree)


@dataclass
class _Compiled:
    """A model that MuJoCo compiled, as a description."""

    model: Any
    file: str

    @cached_property
    def description(self) -> Description:
        import mujoco

        model = self.model
        gravity = tuple(map(float, model.opt.gravity))
        if model.opt.disableflags & int(mujoco.mjtDisableBit.mjDSBL_GRAVITY):
            gravity = (0.0, 0.0, 0.0)
        found = Description(name=model.names[: model.names.find(b"\0")].decode() or Path(self.file).stem, where=self.file,
                            gravity=gravity)  # fmt: skip
        found.shapes = self._shapes(found, 0)
        for body in range(1, model.nbody):
            self._add_body(found, body)
        for equality in range(model.neq):
            self._add_equality(found, equality)
        return found

    def _name(self, kind: str, number: int, other: str) -> str:
        return str(getattr(self.model, kind)(number).name) or distinct(other, self._given[kind])

    @cached_property
    def _given(self) -> dict[str, set[str]]:
        """The names that the file gives, by kind of element."""
        counts = {"body": "nbody", "joint": "njnt", "equality": "neq", "geom": "ngeom"}
        return {kind: {str(getattr(self.model, kind)(k).name) for k in range(getattr(self.model, count))}
                for kind, count in counts.items()}  # fmt: skip

    def _body(self, body: int) -> str:
        return self._name("body", body, f"body{body}")

    def _joint(self, joint: int) -> str:
        return self._name("joint", joint, f"joint{joint}")

    # ---- bodies and joints

    def _add_body(self, found: Description, body: int) -> None:
        """A body with its joints, from the outermost inwards: all but the last carry bodies without mass."""
        model, name = self.model, self._body(body)
        where = f"{self.file}: body {name!r}"
        joints = range(model.body_jntadr[body], model.body_jntadr[body] + model.body_jntnum[body])
        parent = None if model.body_parentid[body] == 0 else self._body(model.body_parentid[body])
        place = _pose(model.body_pos[body], model.body_quat[body])
        if model.body_mocapid[body] >= 0:
            found.unused.append(f"mocap of body {name!r}: it stays where it is")
        for number, joint in enumerate(joints, 1):
            child = name if number == len(joints) else distinct(f"{name}_{number}", self._given["body"])
            if child != name:
                found.links[child] = LinkPart(name=child, where=where)
            part = self._joint_part(found, joint, parent, child, place)
            found.joints[part.name] = part
            parent, place = child, Pose()
        principal = _pose(model.body_ipos[body], model.body_iquat[body])
        axes = principal.matrix
        inertia = axes @ np.diag(model.body_inertia[body]) @ axes.T
        inertial = Inertial(float(model.body_mass[body]), np.array(principal.origin), 0.5 * (inertia + inertia.T))
        found.links[name] = LinkPart(name=name, where=where, inertial=inertial, shapes=self._shapes(found, body))
        if not len(joints):
            own = distinct(f"weld of {name}", self._given["joint"])
            held = JointPart(name=own, where=where, kind=Weld, parent=parent, child=name, place=place)
            found.joints[held.name] = held

    def _joint_part(self, found: Description, joint: int, parent: str | None, child: str, place: Pose) -> JointPart:
        import mujoco

        model, name, types = self.model, self._joint(joint), mujoco.mjtJoint
        kinds = {types.mjJNT_FREE: Free, types.mjJNT_BALL: Spherical, types.mjJNT_SLIDE: Prismatic, types.mjJNT_HINGE: Revolute}
        kind, q, v = kinds[types(model.jnt_type[joint])], int(model.jnt_qposadr[joint]), int(model.jnt_dofadr[joint])
        where, single = f"{self.file}: joint {name!r}", kind in SINGLE
        numbers = {"armature": model.dof_armature[v], "friction": model.dof_frictionloss[v],
                   "stiffness": model.jnt_stiffness[joint]}  # fmt: skip
        lost = [] if single else [word for word, number in numbers.items() if number]
        lost += ["range"] if model.jnt_limited[joint] and not single else []
        lost += [f"higher powers of {word}" for word, poly in (("stiffness", "jnt_stiffnesspoly"), ("damping", "dof_dampingpoly"))
                 if np.any(getattr(model, poly, np.zeros((joint + v + 1, 1)))[joint if word == "stiffness" else v])]  # fmt: skip
        found.unused += [f"{where}: {word} is not used" for word in lost]
        damping = float(model.dof_damping[v])
        shared: dict[str, Any] = {"name": name, "where": where, "kind": kind, "parent": parent, "child": child}
        if kind is Free:  # MuJoCo measures it in the world, where it starts at its place
            pose = _pose(model.qpos0[q : q + 3], model.qpos0[q + 3 : q + 7])
            damper = {motion.name: Damper(damping) for motion in Free().motions} if damping > 0.0 else None
            return JointPart(**shared, made=Free(position=pose.origin, orientation=pose.turn, damper=damper))
        shared |= {"damping": damping, "anchor": _numbers(model.jnt_pos[joint])}
        if not single:
            return JointPart(**shared, place=place)
        axis, anchor, reference = model.jnt_axis[joint], Pose(shared["anchor"]), float(model.qpos0[q])
        if reference:  # the place in the file is that at the reference
            back = Pose(_numbers(-reference * axis)) if kind is Prismatic else Pose.about(axis, -reference)
            place = place @ anchor @ back @ anchor.inverse
        low, high = map(float, model.jnt_range[joint])
        shared |= {word: float(number) for word, number in numbers.items()}
        return JointPart(**shared, place=place, limits=(low, high) if model.jnt_limited[joint] else None,
                         axis=_numbers(axis), start=reference, rest=float(model.qpos_spring[q]))  # fmt: skip

    # ---- equalities

    def _add_equality(self, found: Description, number: int) -> None:
        import mujoco

        model, kinds = self.model, mujoco.mjtEq
        kind, data = kinds(model.eq_type[number]), model.eq_data[number]
        name = self._name("equality", number, f"equality{number}")
        first, second = int(model.eq_obj1id[number]), int(model.eq_obj2id[number])
        by_body = int(model.eq_objtype[number]) == int(mujoco.mjtObj.mjOBJ_BODY)
        if not model.eq_active0[number]:
            found.unused.append(f"equality {name!r}: it is not active")
        elif kind == kinds.mjEQ_JOINT and second >= 0 and not np.any(np.abs(data[2:5]) > LEAST) and data[1]:
            at, of = (float(model.qpos0[model.jnt_qposadr[joint]]) for joint in (first, second))
            found.gears.append(GearPart(where=f"{self.file}: equality {name!r}", follower=self._joint(first),
                                        leader=self._joint(second), ratio=float(data[1]),
                                        offset=float(at + data[0] - data[1] * of)))  # fmt: skip
        elif kind in (kinds.mjEQ_CONNECT, kinds.mjEQ_WELD) and by_body:
            a, b = (None if body == 0 else self._body(body) for body in (first, second))
            if kind == kinds.mjEQ_CONNECT:  # one point in the axes of each
                poses = (Pose(_numbers(data[0:3])), Pose(_numbers(data[3:6])))
            else:  # the second body in the axes of the first, about an anchor of the second
                poses = (_pose(data[3:6], data[6:10]), Pose(_numbers(data[0:3])))
            found.closures.append(ClosurePart(name=name, kind="point" if kind == kinds.mjEQ_CONNECT else "weld",
                                              links=(a, b), poses=poses))  # fmt: skip
        else:
            words = kind.name.removeprefix("mjEQ_").lower()
            found.unused.append(f"equality {name!r}: of this form ({words}) it is not read")

    # ---- shapes

    def _shapes(self, found: Description, body: int) -> tuple[ShapePart, ...]:
        """The geoms of a body that collide, as far as contacts have their shapes."""
        model = self.model
        geoms = range(model.body_geomadr[body], model.body_geomadr[body] + model.body_geomnum[body])
        parts = [self._shape(found, geom) for geom in geoms if model.geom_contype[geom] or model.geom_conaffinity[geom]]
        return tuple(part for part in parts if part is not None)

    def _shape(self, found: Description, geom: int) -> ShapePart | None:
        import mujoco

        model, kinds = self.model, mujoco.mjtGeom
        kind, (x, y, z) = kinds(model.geom_type[geom]), map(float, model.geom_size[geom])
        sizes: dict[Any, tuple[str, tuple[float, ...]]] = {
            kinds.mjGEOM_PLANE: ("plane", ()),
            kinds.mjGEOM_SPHERE: ("sphere", (x,)),
            kinds.mjGEOM_CAPSULE: ("capsule", (x, 2.0 * y)),
            kinds.mjGEOM_BOX: ("box", (2.0 * x, 2.0 * y, 2.0 * z)),
        }
        if kind not in sizes:
            words = kind.name.removeprefix("mjGEOM_").lower()
            found.unused.append(f"geom {self._name('geom', geom, str(geom))!r}: contacts have no {words}")
            return None
        return ShapePart(kind=sizes[kind][0], sizes=sizes[kind][1], pose=_pose(model.geom_pos[geom], model.geom_quat[geom]))


def _numbers(values: Any) -> tuple[float, ...]:
    return tuple(float(value) for value in values)


def _pose(origin: Any, turn: Any) -> Pose:
    numbers = np.asarray(turn, dtype=np.float64)
    return Pose(_numbers(origin), _numbers(numbers / np.linalg.norm(numbers)))
