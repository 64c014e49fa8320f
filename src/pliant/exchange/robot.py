"""The System that is built from the description of a robot, and what its user chooses besides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from pliant.arrays import Floats
from pliant.errors import ModelError, did_you_mean
from pliant.exchange.description import Description, GearPart, JointPart, LinkPart, ShapePart
from pliant.exchange.elastic_link import ElasticLink, housing_station, made_link
from pliant.exchange.geometry import Pose
from pliant.exchange.stops import stiffness_and_damping
from pliant.files.document import ModelFileError
from pliant.model import check
from pliant.model.beam import Beam
from pliant.model.contact import Capsule, Plane, Point, Shape, Sphere
from pliant.model.frame import GROUND, Frame
from pliant.model.friction_law import DryFriction
from pliant.model.joint import Damper, Joint, Planar, Prismatic, Revolute, Spring, Weld
from pliant.model.joint_friction import JointFriction
from pliant.model.material import Material
from pliant.model.motor import Motor
from pliant.model.normal_law import NormalLaw
from pliant.model.play import Limits
from pliant.model.rigid import RigidBody
from pliant.model.section import Section
from pliant.model.system import BodyHandle, System

HOUSING = " housing"  # suffix of the rigid body on an elastic link
CONSTANT = DryFriction(mu_static=1.0, mu_kinetic=1.0)  # times the preload: the friction that a file names
SINGLE: dict[type[Joint], str] = {Revolute: "angle", Prismatic: "displacement"}  # joints with one coordinate, and its name
SNAP = 1e-12  # of a beam's length: what is nearer to its tip, or to its axis, is there
Elastic = ElasticLink | Beam | tuple[Section, Material]


class Robot(System):
    """A System that was read from a robot file, with what its user needs to know of the file."""

    # Of a file. Not annotated, since they are no part of a model.
    coordinates = dict[str, str]()  # noqa: RUF012 - by joint of the file: angle or displacement, as in "forearm.angle"
    shapes = dict[str, tuple[Shape, ...]]()  # noqa: RUF012 - by body, "ground" among them: collision shapes, for `contact`
    unused = tuple[str, ...]()  # sentences: what the file says and the System does not use


@dataclass(frozen=True, kw_only=True)
class Choices:
    """What the user of a file adds to it."""

    elastic: Mapping[str, Elastic] = field(default_factory=dict)  # by link
    motors: Mapping[str, Any] = field(default_factory=dict)  # by joint: a Motor, or a Motor and its command
    start: Mapping[str, float] = field(default_factory=dict)  # by joint, m or rad
    stops: NormalLaw | bool = True  # law of the ends of travel; True: springs as in `stops.py`; False: limits are not used


def built(description: Description, choices: Choices) -> Robot:
    """The System of a description."""
    return _Building(description, choices).robot


class _Building:
    """A System in the making. A body's own frame differs from that of its link where its joint, or its beam, asks for it."""

    def __init__(self, description: Description, choices: Choices) -> None:
        self.description, self.choices = description, choices
        self.robot = Robot(description.name, description.gravity)
        self.unused = list(description.unused)
        self.own: dict[str, Pose] = {}  # by link: of the body's frame in the link's
        self.handles: dict[str, BodyHandle] = {}
        self.robot.coordinates, self.robot.shapes = {}, {}
        self._check_names()
        self.limits = {name: self._own_limits(joint) for name, joint in description.joints.items()}
        self.led = {gear.follower: self._leader_of(gear.follower) for gear in description.gears}
        for joint in description.joints.values():
            self._add(joint)
        for gear in description.gears:
            self._gear(gear)
        for closure in description.closures:
            a, b = (self.frame(link, pose) for link, pose in zip(closure.links, closure.poses, strict=True))
            self.robot.close(closure.name, closure.kind, a, b)
        for link in (None, *description.links):
            self._shapes(link)
        self.robot.unused = tuple(self.unused)

    # ---- names

    def _check_names(self) -> None:
        joints, links = self.description.joints, self.description.links
        moving = {name: joint for name, joint in joints.items() if joint.kind in SINGLE}
        for given, field_name, known in ((self.choices.elastic, "elastic", links), (self.choices.motors, "motors", moving),
                                         (self.choices.start, "start", moving)):  # fmt: skip
            for name in given:
                if name not in known:
                    what = "links" if known is links else "joints with one coordinate"
                    rule = f"must name {what} of the file, {', '.join(known) or 'which has none'}{did_you_mean(name, known)}"
                    raise ModelFileError.of(self.description.where, field_name, rule, name)
        taken: dict[str, str] = {}
        for name, link in links.items():
            if body_name(name) in taken:
                rule = f"must differ from {taken[body_name(name)]!r} in more than dots and @, which names of bodies cannot have"
                raise ModelFileError.of(link.where, "name", rule, name)
            taken[body_name(name)] = name

    # ---- gears

    def _leader_of(self, follower: str) -> tuple[str, float, float]:
        """The joint that leads in the end, and ratio and offset to it."""
        gears = {gear.follower: gear for gear in self.description.gears}
        name, ratio, offset, seen = follower, 1.0, 0.0, [follower]
        while name in gears:
            gear = gears[name]
            name, ratio, offset = gear.leader, ratio * gear.ratio, offset + ratio * gear.offset
            if name in seen:
                raise ModelFileError.of(gear.where, "mimic", "must not lead back to itself", " of ".join([*seen, name]))
            seen.append(name)
        return name, ratio, offset

    def _gear(self, gear: GearPart) -> None:
        joints = (self.description.joints[gear.follower], self.description.joints[gear.leader])
        a, b = (self.robot.coordinates[joint.name] for joint in joints)
        self.robot.close(f"{body_name(gear.follower)} follows", "gear", a, b, ratio=gear.ratio)

    def _own_limits(self, joint: JointPart) -> tuple[float, float] | None:
        """Those of the file, which must leave room to move."""
        if joint.limits is None or joint.limits[0] < joint.limits[1]:
            return joint.limits
        if self.choices.stops is False:
            return None
        rule = (f"must be < upper = {joint.limits[1]:g} (a joint that cannot move is fixed, one that turns without limits is "
                "continuous; stops=False leaves limits out)")  # fmt: skip
        raise ModelFileError.of(joint.where, "limit lower", rule, joint.limits[0])

    def _limits(self, joint: JointPart) -> tuple[float, float] | None:
        """Its own, and those of all joints that follow it; the limits of followers are those of their leader."""
        if joint.name in self.led:
            return None
        own = self.limits[joint.name]
        found, low, high = own is not None, *(own or (-np.inf, np.inf))
        for name, (leader, ratio, offset) in self.led.items():
            limits = self.limits[name]
            if leader == joint.name and limits is not None:
                ends = sorted((limit - offset) / ratio for limit in limits)
                found, low, high = True, max(low, ends[0]), min(high, ends[1])
        if found and not low < high and self.choices.stops is False:
            return None
        if found and not low < high:
            rule = f"must be < upper = {high:g}, those of the joints that follow it among them (stops=False leaves limits out)"
            raise ModelFileError.of(joint.where, "limit lower", rule, low)
        return (float(low), float(high)) if found else None

    def _start(self, joint: JointPart) -> float:
        """The given start; else that of the file, or the middle of the limits if these exclude it; of a follower by its leader."""
        if joint.name in self.led:
            if joint.name in self.choices.start:
                raise ModelFileError.of(joint.where, "start", "must be left out for a joint that follows another", joint.name)
            leader, ratio, offset = self.led[joint.name]
            return ratio * self._start(self.description.joints[leader]) + offset
        if joint.name in self.choices.start:
            return check.number(joint.where, "start", self.choices.start[joint.name], "m or rad")
        low, high = self._limits(joint) or (-np.inf, np.inf)
        return joint.start if low <= joint.start <= high else 0.5 * (low + high)

    # ---- bodies

    def _add(self, joint: JointPart) -> None:
        link = self.description.links[joint.child]
        known = self.choices.elastic.get(link.name)
        try:
            if known is None:
                self.own[link.name] = Pose(joint.anchor) @ _of_plane(joint) if joint.kind is Planar else Pose(joint.anchor)
                self.handles[link.name] = self._added(joint, _rigid(link, self.own[link.name]))
            else:
                self._add_elastic(joint, link, known)
        except ModelFileError:
            raise
        except ModelError as trouble:
            raise ModelFileError(f"{link.where}: {trouble}") from None

    def _add_elastic(self, joint: JointPart, link: LinkPart, known: Elastic) -> None:
        if isinstance(known, tuple):
            known = ElasticLink(section=known[0], material=known[1])
        wanted = "a Beam, (section, material) or elastic_link(...)"
        check.instance(f"link {link.name!r}", "elastic", known, (ElasticLink, Beam), wanted)
        if joint.kind is Planar:
            raise ModelError.of(f"link {link.name!r}", "elastic", "must be left out for a link on a planar joint", joint.name)
        tip = self._tip(link, joint, known)
        length = float(np.linalg.norm(tip))
        self.own[link.name] = own = Pose(joint.anchor) @ Pose.onto(0, tip / length)
        made = made_link(f"link {link.name!r}", known, length, link.inertial and link.inertial.seen_from(own))
        if made.note:
            self.unused.append(f"{link.where}: {made.note}")
        self.handles[link.name] = handle = self._added(joint, made.beam)
        if made.housing is not None:
            station = housing_station(made.housing, length)
            at = Pose((station, 0.0, 0.0))
            body = _rigid(LinkPart(name=link.name, where=link.where, inertial=made.housing), at)
            self.robot.add(handle.name + HOUSING, body, joint=Weld(), on=handle.at(station))

    def _tip(self, link: LinkPart, joint: JointPart, known: ElasticLink | Beam) -> Floats:
        """From its joint to its far end, in the link's axes, m."""
        anchor = np.asarray(joint.anchor)
        if isinstance(known, ElasticLink) and known.tip is not None:
            ends = [np.asarray(known.tip) - anchor]
        else:
            children = [other for other in self.description.joints.values() if other.parent == link.name]
            ends = [other.place.out(other.anchor) - anchor for other in children]
        tip = max(ends, key=np.linalg.norm, default=np.zeros(3))
        if not np.any(tip):
            rule = "must have a child with a joint away from its own, to which its beam reaches, or elastic_link(tip=...)"
            raise ModelError.of(f"link {link.name!r}", "elastic", rule, link.name)
        return tip

    def _added(self, joint: JointPart, body: RigidBody | Beam) -> BodyHandle:
        """The body on its joint, and what acts along its coordinate."""
        own, name = self.own[joint.child], body_name(joint.child)
        on = self.frame(joint.parent, joint.place @ own)
        handle = self.robot.add(name, body, joint=self._joint(joint, own), on=on)
        if joint.kind in SINGLE:
            self.robot.coordinates[joint.name] = coordinate = f"{name}.{SINGLE[joint.kind]}"
            self._motor(joint, coordinate)
        return handle

    def _joint(self, joint: JointPart, own: Pose) -> Joint:
        if joint.made is not None:
            return joint.made
        if joint.kind not in SINGLE:
            names = [motion.name for motion in joint.kind().motions]
            return joint.kind(damper={name: Damper(joint.damping) for name in names} if joint.damping > 0.0 else None)
        start, limits, fields = self._start(joint), self._limits(joint), dict[str, Any]()
        if limits is not None and not limits[0] <= start <= limits[1]:
            raise ModelFileError.of(joint.where, "start", f"must be in its limits [{limits[0]:g}, {limits[1]:g}]", start)
        if limits is not None and self.choices.stops is not False:
            fields["limits"] = Limits(low=limits[0], high=limits[1], **self._stop(joint))
        if joint.damping > 0.0:
            fields["damper"] = Damper(joint.damping)
        if joint.stiffness > 0.0:
            fields["spring"] = Spring(joint.stiffness, rest=joint.rest)
        if joint.friction > 0.0:
            radius = 1.0 if joint.kind is Revolute else None
            fields["friction"] = JointFriction(CONSTANT, radius=radius, preload=joint.friction, pressed=False)
        axis = own.matrix.T @ np.asarray(joint.axis) if own.turn != Pose().turn else joint.axis
        fields |= {SINGLE[joint.kind]: start, "axis": tuple(map(float, axis))}
        return joint.kind(**fields)

    def _stop(self, joint: JointPart) -> dict[str, Any]:
        if self.choices.stops is not True:
            return {"normal": self.choices.stops}
        ratios = {name: ratio for name, (leader, ratio, _) in self.led.items() if leader == joint.name}
        return dict(zip(("stiffness", "damping"), stiffness_and_damping(self.description, joint, ratios), strict=True))

    def _motor(self, joint: JointPart, coordinate: str) -> None:
        name, given = body_name(joint.name), self.choices.motors.get(joint.name)
        if given is not None:
            motor, command = given if isinstance(given, tuple) else (given, None)
            self.robot.motor(f"{name} motor", coordinate, motor, command)
            if joint.armature > 0.0:
                self.unused.append(f"{joint.where}: its armature is not used, because its Motor has a rotor of its own")
        elif joint.armature > 0.0:
            self.robot.motor(f"{name} armature", coordinate, Motor(inertia=joint.armature))

    # ---- places and shapes

    def frame(self, link: str | None, pose: Pose) -> Frame:
        """A frame of the System that has this pose in a link; on a beam, at the station next to it."""
        if link is None:
            return pose.on(self.robot.ground)
        handle, own = self.handles[link], self.own[link]
        local = pose if own == Pose() else own.inverse @ pose
        if not isinstance(handle.body, Beam):
            return local.on(handle.root)
        length, (x, y, z) = handle.body.length, local.origin
        near = SNAP * length
        station = length if abs(x - length) <= near else min(max(x, 0.0), length)
        off = tuple(0.0 if abs(a) <= near else a for a in (x - station, y, z))
        return replace(local, origin=off).on(handle.at(station))

    def _shapes(self, link: str | None) -> None:
        parts = self.description.shapes if link is None else self.description.links[link].shapes
        shapes = [shape for part in parts for shape in self._shape(link, part)]
        if shapes:
            self.robot.shapes[GROUND if link is None else body_name(link)] = tuple(shapes)

    def _shape(self, link: str | None, part: ShapePart) -> list[Shape]:
        if part.kind == "sphere":
            return [Sphere(self.frame(link, part.pose), part.sizes[0])]
        if part.kind == "capsule":
            radius, length = part.sizes
            begin = part.pose @ Pose((0.0, 0.0, -0.5 * length)) @ Pose.onto(0, np.array([0.0, 0.0, 1.0]))
            return [Capsule(self.frame(link, begin), length, radius)]
        if part.kind == "plane":
            normal, point = part.pose.matrix[:, 2], part.pose.origin
            at = self.frame(link, Pose())
            return [Plane(normal=tuple(map(float, normal)), point=point, on=at)]
        signs = np.array(np.meshgrid(*[(-0.5, 0.5)] * 3, indexing="ij")).reshape(3, -1).T
        return [Point(self.frame(link, part.pose @ Pose(tuple(map(float, corner))))) for corner in signs * part.sizes]


def body_name(name: str) -> str:
    """The name of a link as a body's: without dots and @, which mark coordinates and stations there."""
    clean = name.replace(".", "_").replace("@", "_").strip()
    return f"{clean}_" if clean == GROUND else clean


def _of_plane(joint: JointPart) -> Pose:
    """Axes whose z is the normal of a planar joint."""
    return Pose.onto(2, np.asarray(joint.axis))


def _rigid(link: LinkPart, own: Pose) -> RigidBody:
    """A link as a rigid body, in the axes of its own frame."""
    if link.inertial is None:
        return RigidBody(mass=0.0)
    inertial = link.inertial if own == Pose() else link.inertial.seen_from(own)
    return RigidBody(mass=inertial.mass, com=tuple(map(float, inertial.com)), inertia=inertial.rows)
