"""The mechanism a user describes: a tree of bodies and joints, gravity, drives and loads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

from pliant.answers import answer
from pliant.errors import ModelError
from pliant.model import check
from pliant.model.along import Along
from pliant.model.beam import AUTO, Beam
from pliant.model.body import Body
from pliant.model.check import Axis
from pliant.model.clearance import ClearanceJoint
from pliant.model.closure import (
    CLOSURE_TOLERANCE,
    MULTIPLIERS,
    Closure,
    FormulaClosure,
    closure,
    closure_tolerance,
)
from pliant.model.contact import (
    PARTS,
    TOUCHED,
    Against,
    ContactPair,
    Plane,
    Sphere,
    any_of,
    both_ways,
    place_name,
    touching_parts,
)
from pliant.model.contact_group import ContactGroup, check_members, checked_friction, plane_names
from pliant.model.cut_joint import CutJoint
from pliant.model.driven_by import efforts_of, first_row, interpolation_error
from pliant.model.force import DIRECTIONS, EXPRESSED, Condition, Drive, PointForce, PointMoment
from pliant.model.frame import GROUND, ROOT, TIP, Frame
from pliant.model.friction_law import DryFriction, friction_law
from pliant.model.inverse_problem import InverseProblem
from pliant.model.joint import BALL, ROTATION, TRANSLATION, Joint, Weld
from pliant.model.joint_friction import Frictions, JointFriction
from pliant.model.modal import ModalBody
from pliant.model.modes import CHOSEN, ElementModes, carrying
from pliant.model.motor import COMMAND, Motor, MotorDrive, rates_of
from pliant.model.new_sensor import NewSensor
from pliant.model.normal_law import Impulsive, check_impulsive, normal_law
from pliant.model.own_state import OwnState
from pliant.model.parameter import Parameter, expression_of
from pliant.model.play import Backlash
from pliant.model.resolve import parameters_of
from pliant.model.rigid import Payload, RigidBody
from pliant.model.rolling import HOLONOMIC, KINDS_OF_CONSTRAINT, Wheel
from pliant.model.sampled import Sampled, Update, controller
from pliant.model.segmented import SegmentedBeam
from pliant.model.sensor import Sensor
from pliant.model.signal import Constant, Formula, PrescribedMotion, Signal, signal
from pliant.model.solids import ON_CYLINDERS
from pliant.model.strut import Strut, strut_force
from pliant.model.telescopic import TelescopicBeam
from pliant.model.wear import WEAR, Archard, WearRate
from pliant.results import rich_display
from pliant.results.result import Result
from pliant.scalar import ArrayOf, Numbers

BODIES: dict[str, type[Body]] = {"beam": Beam, "telescopic": TelescopicBeam, "rigid": RigidBody, "modal_body": ModalBody}
MOST_NAMED = 5  # beams listed by name on one line; more are counted
PAYLOAD = " payload"  # suffix that makes a payload's name from its beam's name


@dataclass(frozen=True)
class Link:
    """One body of the tree with the joint that carries it."""

    OUTSIDE_EQUATIONS: ClassVar[tuple[str, ...]] = ("initial", "initial_rates")

    name: str
    body: Body
    joint: Joint
    on: Frame
    initial: Mapping[str, float]  # modal coordinates at the start, m or rad
    initial_rates: Mapping[str, float]
    mode_motions: Mapping[str, PrescribedMotion] = field(default_factory=dict)  # modes whose motion is prescribed

    @property
    def mode_labels(self) -> tuple[str, ...]:
        """Names of the body's modal coordinates."""
        return self.body.mode_labels

    @property
    def own_labels(self) -> tuple[str, ...]:
        """Names of the body's own coordinates: its free length, if it has one, then its modes."""
        return (*self.body.lengths, *self.mode_labels)

    @property
    def prescribed(self) -> dict[str, PrescribedMotion]:
        """Prescribed motions by coordinate, of the joint and of the body."""
        own = {name: length.motion for name, length in self.body.lengths.items() if length.motion is not None}
        return {**self.joint.prescribed, **own, **self.mode_motions}

    @property
    def frictions(self) -> Mapping[str, JointFriction]:
        """Friction pressed by reactions, by coordinate, of the joint and of the body's sleeve."""
        own = {name: length.friction for name, length in self.body.lengths.items() if length.friction is not None}
        return {**self.joint.frictions, **own}

    @property
    def start(self) -> tuple[float, ...]:
        """Positions at the start, in the order of `positions`."""
        own = (length.start for length in self.body.lengths.values())
        return (*self.joint.start, *own, *(float(self.initial.get(name, 0.0)) for name in self.mode_labels))

    @property
    def start_rates(self) -> tuple[float, ...]:
        """Rates at the start, in the order of `rates`."""
        own = (length.rate for length in self.body.lengths.values())
        return (*self.joint.start_rates, *own, *(float(self.initial_rates.get(name, 0.0)) for name in self.mode_labels))

    @property
    def positions(self) -> tuple[str, ...]:
        """Names of this link's coordinates, joint first."""
        return (*(n for m in self.joint.motions for n in m.positions), *self.own_labels)

    @property
    def rates(self) -> tuple[str, ...]:
        """Names of this link's rates, joint first."""
        return (*(n for m in self.joint.motions for n in m.rates), *self.own_labels)

    def started(self, q: Mapping[str, float], v: Mapping[str, float]) -> Link:
        """The link in another state, by the names of coordinates and rates; prescribed coordinates keep their motions."""
        places, rates = (
            iter([q[f"{self.name}.{name}"] for name in self.positions]),
            iter([v[f"{self.name}.{n}"] for n in self.rates]),
        )
        starts = {**_taken(self.joint, self.joint.STARTS, places), **_taken(self.joint, self.joint.START_RATES, rates)}
        joint = replace(self.joint, **starts) if starts else self.joint
        lengths = {name: replace(length, start=q[f"{self.name}.{name}"], rate=v[f"{self.name}.{name}"])
                   for name, length in self.body.lengths.items()}  # fmt: skip
        modes = [name for name in self.mode_labels if name not in self.mode_motions]
        initial, initial_rates = ({name: known[f"{self.name}.{name}"] for name in modes} for known in (q, v))
        return replace(self, joint=joint, body=self.body.with_lengths(lengths), initial=initial, initial_rates=initial_rates)


@dataclass(frozen=True)
class BodyHandle:
    """A body that was added to a System, with its frames; returned by `System.add`."""

    name: str
    body: Body | SegmentedBeam

    @property
    def root(self) -> Frame:
        """The frame at the joint that carries the body."""
        return self.body.places(self.name)[ROOT]

    @property
    def tip(self) -> Frame:
        """The frame at the far end: the tip of a beam, or the point that a rigid body names as its tip."""
        return self.body.places(self.name)[TIP]

    def at(self, place: Any) -> Frame:
        """The frame at a station of a beam (m from the root), at a named frame, or at a point (m) of a rigid body."""
        if not isinstance(place, str):
            return self.body.at(self.name, place)
        known = self.body.places(self.name)
        if place not in known:
            rule = f"must be one of {list(known)}{check.did_you_mean(place, list(known))}"
            raise ModelError.of(f"body {self.name!r}", "frame", rule, place)
        return known[place]


@dataclass
class System:
    """A mechanism: bodies on joints, with drives, loads, contacts and closures. Planar points and gravity may be pairs."""

    OUTSIDE_EQUATIONS: ClassVar[tuple[str, ...]] = ("name", "segmented", "held", "problem", "undriven")
    ADDED_LATER: ClassVar[tuple[str, ...]] = ("held", "problem", "undriven", "baumgarte", "sensors", "groups")

    # Of a file: by SI unit, the unit in which it writes such numbers, and its size. Not annotated, since it is no part of a model.
    shown_units = dict[str, tuple[str, float]]()  # noqa: RUF012 - replaced, never changed

    name: str
    gravity: Numbers  # m/s^2
    # Relative to the mechanism's size (or 1 rad). A constraint row that other rows imply to within this tolerance is dropped; its
    # residual must then stay within the tolerance during the run.
    closure_tolerance: float = CLOSURE_TOLERANCE
    baumgarte: float | None = None  # a, 1/s: exact closures obey c'' + 2 a c' + a^2 c = 0 instead of being projected every step
    links: dict[str, Link] = field(default_factory=dict, init=False)
    drives: dict[str, Drive] = field(default_factory=dict, init=False)
    loads: dict[str, PointForce | PointMoment] = field(default_factory=dict, init=False)
    struts: dict[str, Strut] = field(default_factory=dict, init=False)
    motors: dict[str, MotorDrive] = field(default_factory=dict, init=False)
    contacts: dict[str, ContactPair] = field(default_factory=dict, init=False)
    groups: dict[str, ContactGroup] = field(default_factory=dict, init=False)
    closures: dict[str, Closure] = field(default_factory=dict, init=False)
    conditions: dict[str, Condition] = field(default_factory=dict, init=False)
    states: dict[str, OwnState] = field(default_factory=dict, init=False)
    controllers: dict[str, Sampled] = field(default_factory=dict, init=False)
    sensors: dict[str, Sensor] = field(default_factory=dict, init=False)
    cut_joints: dict[str, CutJoint] = field(default_factory=dict, init=False)  # filled by `absolute_coordinates` only
    segmented: dict[str, SegmentedBeam] = field(default_factory=dict, init=False)  # by name; their segments are links
    held: tuple[str, ...] = field(default=(), init=False)  # coordinates that keep their start while loops are closed
    problem: InverseProblem | None = field(default=None, init=False)  # of a file; runs take their efforts from it
    undriven: System | None = field(default=None, init=False, compare=False)  # the System that has the problem, if this is solved

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise ModelError.of("System", "name", "must be a non-empty string", self.name)
        check.visible("System", "name", self.name)
        part = f"system {self.name!r}"
        self.gravity = check.vector(part, "gravity", self.gravity, "m/s^2")
        self.closure_tolerance = closure_tolerance(part, self.closure_tolerance)
        if self.baumgarte is not None:
            self.baumgarte = check.positive(part, "baumgarte", self.baumgarte, "1/s")

    @property
    def ground(self) -> Frame:
        """The fixed frame of the world."""
        return Frame(GROUND)

    def add(
        self,
        name: str,
        body: Body | SegmentedBeam,
        *,
        joint: Joint | ClearanceJoint,
        on: Frame | None = None,
        initial: Mapping[str, float] | None = None,
        initial_rates: Mapping[str, float] | None = None,
    ) -> BodyHandle:
        """Add a body. Its joint stands on a frame of a body added earlier, or on the ground (the default).

        initial, initial_rates: start values of modal coordinates and of their rates, by name; 0 by default. A segmented beam is
        added as the bodies name_1 ... name_n: the joint carries the first segment, and each further segment is welded to the tip
        of the one before it.
        """
        part = f"body {name!r}"
        self._check_new_name(name)
        if isinstance(joint, ClearanceJoint):
            handle = self.add(name, body, joint=joint.carrier, on=on, initial=initial, initial_rates=initial_rates)
            self._touch(f"{name} joint", joint, handle.root, on if on is not None else self.ground)
            return handle
        if isinstance(body, SegmentedBeam):
            return self._add_segments(name, body, joint, on, initial or initial_rates)
        check.instance(part, "body", body, tuple(BODIES.values()), "a Beam, a TelescopicBeam, a ModalBody or a RigidBody")
        check.instance(part, "joint", joint, Joint, "a joint such as Revolute()")
        place = on if on is not None else self.ground
        self._check_frame(part, "on", place)
        body = self._referred(Link(name, body, joint, place, {}, {})).body
        modes = body.mode_labels
        begin, rates = _initial(part, "initial", modes, initial), _initial(part, "initial_rates", modes, initial_rates)
        link = Link(name, body, joint, place, begin, rates)
        self.links[name] = link
        self._yield(place)
        if body.payload is not None:
            self._add_payload(name, body, body.payload)
        return BodyHandle(name, body)

    def _refer(self, coordinate: str) -> None:
        """Choose the reference of a mesh anew, now that something acts along a coordinate of its joint."""
        name = coordinate.split(".")[0]
        self.links[name] = self._referred(self.links[name])

    def _yield(self, frame: Frame) -> None:
        """Give a beam whose tip carries a body the shapes for that."""
        carrier = self.links.get(frame.body)
        if carrier is None or not isinstance(carrier.body, Beam) or frame != carrier.body.places(carrier.name)[TIP]:
            return
        sets = tuple(carrying(modes) for modes in carrier.body.mode_sets)
        if sets != carrier.body.mode_sets:
            self.links[carrier.name] = replace(carrier, body=replace(carrier.body, modes=sets))

    def _referred(self, link: Link) -> Link:
        """The link; a mesh whose reference is `auto` is clamped to the root unless the joint lets the root turn freely."""
        if not isinstance(link.body, Beam):
            return link
        sets = tuple(replace(modes, reference="cantilever")
                     if isinstance(modes, ElementModes) and modes.reference == CHOSEN and self.holds_root(link, modes.plane)
                     else modes for modes in link.body.mode_sets)  # fmt: skip
        return link if sets == link.body.mode_sets else replace(link, body=replace(link.body, modes=sets))

    def holds_root(self, link: Link, plane: str) -> bool:
        """Whether the axes of a beam, as they turn about the axis of bending in a plane, are held, driven, sprung or stopped."""
        joint, axis = link.joint, 2 if plane == "y" else 1
        turning = [m.name for m in joint.motions if m.kind == BALL or (m.kind == ROTATION and m.axis[axis] != 0.0)]
        loaded = {*joint.springs, *joint.limited, *joint.plays, *joint.prescribed}
        acting = [*(drive.coordinate for drive in self.drives.values()), *(motor.coordinate for motor in self.motors.values())]
        acting += [coordinate for closure in self.closures.values() for coordinate in closure.coordinates or ()]
        return all(motion in loaded or f"{link.name}.{motion}" in acting for motion in turning)

    def _add_segments(self, name: str, body: SegmentedBeam, joint: Joint, on: Frame | None, initial: Any) -> BodyHandle:
        if initial:
            rule = "must be left out, because each segment has its own coordinates (start from a result, or add segments yourself)"
            raise ModelError.of(f"body {name!r}", "initial", rule, initial)
        names = body.names(name)
        for own in names:
            self._check_new_name(own)
        check.instance(f"body {name!r}", "joint", joint, Joint, "a joint such as Revolute()")
        joint, place = body.leaning_joint(f"body {name!r}", joint), body.weld(0, on if on is not None else self.ground)
        handle = self.add(names[0], body.parts[0], joint=joint, on=place, initial=body.initial[0])
        for k in range(1, body.segments):
            handle = self.add(names[k], body.parts[k], joint=Weld(), on=body.weld(k, handle.tip), initial=body.initial[k])
        self.segmented[name] = body
        return BodyHandle(name, body)

    def handle(self, name: str) -> BodyHandle:
        """The handle of a body by its name, as `add` returned it."""
        name = name if isinstance(name, str) else str(name)
        if name in self.segmented:
            return BodyHandle(name, self.segmented[name])
        if name not in self.links:
            known = [*self.links, *self.segmented]
            rule = f"must be one of {known}{check.did_you_mean(name, known)}"
            raise ModelError.of(f"system {self.name!r}", "body", rule, name)
        return BodyHandle(name, self.links[name].body)

    def drive(self, name: str, coordinate: str, effort: Any) -> None:
        """Apply a torque (N m) or force (N) along a joint coordinate, as in drive("motor", "arm.angle", 2.0)."""
        part = f"drive {name!r}"
        self._check_new_name(name)
        self._check_coordinate(part, coordinate)
        self.drives[name] = Drive(name, coordinate, signal(part, "effort", effort))
        self._refer(coordinate)

    def drive_by(self, inverse: Result) -> dict[str, float]:
        """Drive joints with the efforts of an inverse dynamics, from the state in which its motion begins.

        Efforts become tables through the saved rows: cubic splines between the corners of the motion. A drive that acts on such a
        coordinate already gets the new effort. Returns the estimated error of interpolation by drive, N m or N; it falls with the
        fourth power of the interval between rows.
        """
        held = [f"{link.name}.{name}" for link in self.links.values() for name in link.prescribed]  # they keep their motions
        efforts = {name: effort for name, effort in efforts_of(inverse).items() if name not in held}
        free = [f"{link.name}.{name}" for link in self.links.values() for name in _driven(link)]
        for coordinate in efforts:
            if coordinate not in free or coordinate in [motor.coordinate for motor in self.motors.values()]:
                rule = f"must be for coordinates of this System that are free and have no Motor, out of {free}"
                raise ModelError.of("drive_by", "inverse", rule, coordinate)
        if list(inverse.labels["coordinate"]) != [f"{x.name}.{name}" for x in self.links.values() for name in x.positions]:
            raise ModelError.of("drive_by", "inverse", "must be of the same mechanism", inverse.name)
        errors = {}
        for coordinate, effort in efforts.items():
            known = [drive.name for drive in self.drives.values() if drive.coordinate == coordinate]
            for name in known[1:]:
                del self.drives[name]
            name = known[0] if known else f"motor of {coordinate.replace('.', ' ')}"
            self.drives.pop(name, None)
            self.drive(name, coordinate, effort)
            errors[name] = interpolation_error(effort)
        q, v = first_row(inverse)
        self.links |= {name: link.started(q, v) for name, link in self.links.items()}
        return errors

    def force(self, name: str, at: Frame, vector: ArrayOf[Any], expressed: str = "world") -> None:
        """Apply a force at a frame: two or three components in N, each a number, a signal or a function of (t, q, v).

        expressed: "world" or "body", the axes of the components.
        """
        part = f"force {name!r}"
        self._check_load(part, name, at, expressed)
        self.loads[name] = PointForce(name, at, _components(part, vector), expressed)

    def moment(self, name: str, at: Frame, vector: Any, expressed: str = "world") -> None:
        """Apply a moment at a frame: one component about z, or three components, in N m. expressed: as for `force`."""
        part = f"moment {name!r}"
        self._check_load(part, name, at, expressed)
        parts = vector if isinstance(vector, (list, tuple)) else (0.0, 0.0, vector)
        if len(parts) != 3:
            raise ModelError.of(part, "vector", "must have 1 or 3 components", vector)
        self.loads[name] = PointMoment(name, at, _components(part, parts), expressed)

    def strut(
        self,
        name: str,
        a: Frame,
        b: Frame,
        *,
        stiffness: float = 0.0,
        rest: float | None = None,
        damping: float = 0.0,
        force: Any = None,
    ) -> None:
        """Add a strut: a spring, a damper and an actuator along the line between the origins of two frames.

        The strut pushes the frames apart with the force -stiffness (length - rest) - damping rate + force. rest: free length of the
        spring, m; required with a stiffness. force: a number, a table, a function of (length, rate) or a function of (t, q, v).
        Formulas read the length of the strut as q["name"] and its rate as v["name"].
        """
        part = f"strut {name!r}"
        self._check_new_name(name)
        self._check_held_frames(part, a, b)
        self.struts[name] = Strut(name, a, b, stiffness, rest, damping, strut_force(name, force))

    def motor(self, name: str, coordinate: str, motor: Motor, command: Any = None, start: float = 0.0) -> None:
        """Add a motor to a joint coordinate, as in motor("servo", "arm.angle", Motor(constant=0.05, resistance=1.0), command=24.0).

        command: a number, a table or a function of (t, q, v). It is a voltage (V) for a motor with constant and resistance, a
        fraction of the rated voltage for a motor with a torque-speed line, and a torque at the rotor (N m) for any other motor.
        Without a command the motor gives no torque, but its rotor still turns with the joint.
        start: initial value of the lagging current (A) or torque (N m).
        """
        part = f"motor {name!r}"
        self._check_new_name(name)
        self._check_coordinate_name(part, coordinate, "coordinate")
        check.instance(part, "motor", motor, Motor, "a Motor")
        begin = check.number(part, "start", start)
        drive = MotorDrive(name, coordinate, motor, None if command is None else signal(part, COMMAND, command))
        for state, rate in rates_of(drive).items():
            self.states[state] = OwnState(state, rate, begin if state == drive.state else 0.0)
        if drive.state is None and (expression_of(begin) is not None or begin != 0.0):
            raise ModelError.of(part, "start", "must be left out unless the motor's current or torque lags", start)
        self.motors[name] = drive
        self._refer(coordinate)

    def contact(
        self,
        *,
        points: Any = None,
        against: Against | None = None,
        among: Sequence[Sphere | Plane] | None = None,
        normal: Any,
        friction: Any = None,
        wear: Archard | None = None,
        name: str = "contact",
    ) -> list[str]:
        """Add contact between shapes (frames, Points, Spheres, Capsules, Pins, Alongs, solids) and what they can touch.

        normal: a law such as HuGuo(...), or a function of (depth, rate, entry_speed). friction: a law, a function of (slip
        speed, normal force), or None. wear: a law that gives the volume worn away by each pair, the state "contact arm.tip wear".
        Returns the names of the contact pairs, one per shape: "contact arm.tip".

        among: in place of points and against, Spheres and Planes of which every one may touch every other; a run looks only at
        those that are near each other. Returns the name of the group.
        """
        part = f"contact {name!r}"
        check.instance(part, "name", name, str, "a string")
        check.visible(part, "name", name)
        if among is not None:
            return self._group(part, name, among, points, against, wear, normal, friction)
        check.instance(part, "against", against, TOUCHED, any_of(TOUCHED))
        law = normal_law(part, "normal", normal)
        slip = None if friction is None else friction_law(part, "friction", friction)
        if isinstance(slip, DryFriction):
            rule = "must not be DryFriction, which is a law for joints (for contacts that stick, use Karnopp)"
            raise ModelError.of(part, "friction", rule, slip)
        check_impulsive(part, law, slip)
        if wear is not None:
            check.instance(part, "wear", wear, Archard, "Archard(...)")
            if isinstance(law, Impulsive):
                raise ModelError.of(part, "wear", "must be left out of impulsive contacts, whose impulses act in no time", wear)
        added = []
        for shape in points if isinstance(points, (list, tuple)) else [points]:
            for one, other in both_ways(shape, against):
                for k, (place, ball, station) in enumerate(touching_parts(part, one, other)):
                    end = "" if station == 0.0 else ".low" if station < 0.0 else ".high"
                    frame = ball.at
                    if isinstance(ball, PARTS):
                        frame, end = ball.of.at, f".{ball.name}"
                    along = isinstance(ball, Along)
                    at, piece = place if along else self._place_name(frame, place), k if along and not end else 0
                    pair = ContactPair(f"{name} {at}{end}", ball, other, law, slip, station, wear, piece)
                    self._add_pair(part, pair)
                    added.append(pair.name)
        if not added:
            raise ModelError.of(part, "points", "must contain at least one point", points)
        return added

    def _group(
        self, part: str, name: str, among: Any, points: Any, against: Any, wear: Any, normal: Any, friction: Any
    ) -> list[str]:
        for label, given in (("points", points), ("against", against), ("wear", wear)):
            if given is not None:
                raise ModelError.of(part, label, "must be left out of a contact among shapes", given)
        balls, planes = check_members(part, among)
        law = normal_law(part, "normal", normal)
        slip = checked_friction(part, law, None if friction is None else friction_law(part, "friction", friction))
        for ball in balls:
            self._check_frame(part, "among", ball.at)
        if self.groups:
            rule = f"must be the only contact among shapes of a System, which has {next(iter(self.groups))!r}: join their members"
            raise ModelError.of(part, "among", rule, name)
        names = [self._place_name(ball.at, place_name(ball.at)) for ball in balls]
        if len(set(names)) < len(names):
            raise ModelError.of(part, "among", "must hold one Sphere per frame", next(n for n in names if names.count(n) > 1))
        self.groups[name] = ContactGroup(name, tuple(balls), tuple(planes), (*names, *plane_names(planes)), law, slip)
        return [name]

    def _touch(self, name: str, joint: ClearanceJoint, inner: Frame, outer: Frame) -> None:
        """The contacts that stand for a joint with clearance."""
        for shapes, against in joint.contacts(inner, outer):
            self.contact(points=shapes, against=against, normal=joint.normal, friction=joint.friction, wear=joint.wear, name=name)

    def close(
        self,
        name: str,
        kind: str | ClearanceJoint,
        a: Frame | str,
        b: Frame | str | None = None,
        *,
        axis: Axis = "z",
        length: Any = None,
        ratio: float | None = None,
        motion: Any = None,
        by: str = MULTIPLIERS,
        stiffness: float | None = None,
        damping: float = 0.0,
        other_axis: Axis = "z",
        friction: Frictions = None,
        backlash: Backlash | None = None,
    ) -> None:
        """Close a loop by connecting frame a to frame b: exactly (by="multipliers"), or by penalty springs (by="springs").

        kind: point, spherical, revolute, weld, prismatic, slider, distance, cylindrical, universal, planar, gear or prescribed.
        axis is given in the axes of b; other_axis, of a universal closure, in the axes of a. A gear makes coordinate a (a name such
        as "crank.angle") move `ratio` times as far as coordinate b; `backlash` is the play of a - ratio b. A prescribed closure
        makes coordinate a, or the origin of frame a in the axes of b, follow `motion`, one or more functions of t; a slider may
        follow a motion along its axis, and the length of a distance closure may be one. friction: JointFriction that acts between
        the frames of a point, spherical, revolute, prismatic, slider or cylindrical closure and is pressed by its reaction.
        stiffness, damping: of penalty springs, N/m and N s/m (N m/rad and N m s/rad for angles). Instead of a kind, a joint with
        clearance such as ClearanceRevolute(...), which takes none of these: its pin is at a, its bearing at b.
        """
        part = f"closure {name!r}"
        self._check_new_name(name)
        ways = {"by": by, "stiffness": stiffness, "damping": damping, "friction": friction}
        own = {"axis": axis, "other_axis": other_axis, "length": length, "ratio": ratio, "motion": motion, "backlash": backlash}
        if isinstance(kind, ClearanceJoint):
            usual = {"by": MULTIPLIERS, "damping": 0.0, "axis": "z", "other_axis": "z"}
            kind.check_closure(part, {field: value for field, value in (ways | own).items() if value != usual.get(field)})
            self._check_held_frames(part, a, b)
            assert isinstance(a, Frame) and isinstance(b, Frame)
            self._touch(name, kind, a, b)
            return
        made = closure(kind, name, a, b, ways, own)
        if made.coordinates:
            self._check_held_coordinates(part, made)
        else:
            self._check_held_frames(part, a, b)
        for other in self.closures.values():
            if {other.a, other.b} == {a, b}:
                held = "two frames" if made.frames else "coordinates"
                raise ModelError.of(part, "a", f"must not connect the {held} that closure {other.name!r} connects already", name)
        self.closures[name] = made
        for coordinate in made.coordinates or ():
            self._refer(coordinate)

    def constrain(
        self,
        name: str,
        formula: Any,
        kind: str = HOLONOMIC,
        *,
        unit: str = "m",
        by: str = MULTIPLIERS,
        stiffness: float | None = None,
        damping: float = 0.0,
    ) -> None:
        """Hold formula(t, q, v) at zero, as in constrain("rod", lambda t, q, v: q.distance(a, b) - 0.3).

        kind "holonomic": the formula reads t, q and frames, as in q.position(arm.tip), but no rates. "nonholonomic": it is linear
        in rates, v["cart.x"] or q.velocity(arm.tip): a(q, t) v - b(q, t) = 0, as of wheels and blades. unit: "m" or "rad", of the
        formula or of its integral over time. by, stiffness, damping: as for `close`; springs hold positions only.
        """
        check.choice(f"constraint {name!r}", "kind", kind, KINDS_OF_CONSTRAINT)
        check.choice(f"constraint {name!r}", "unit", unit, ("m", "rad"))
        held = formula if isinstance(formula, Formula) else Formula(formula)
        self._hold_formula(FormulaClosure(name, name, None, by=by, stiffness=stiffness, damping=damping, formula=held,
                                  nonholonomic=kind != HOLONOMIC, angular=unit == "rad"))  # fmt: skip

    def _hold_formula(self, closure: FormulaClosure) -> None:
        self._check_new_name(closure.name)
        self.closures[closure.name] = closure

    def roll(self, name: str, wheel: Frame, radius: float, against: Plane, axis: Axis = "z") -> None:
        """Let a wheel roll on a plane without slip and without leaving it.

        wheel: a frame at its centre; axis: of its rim, in the axes of its body. Three constraints: "name height" holds the rim on
        the plane, "name along" and "name across" hold the speed of its lowest point at zero.
        """
        made = Wheel(name, wheel, radius, against, check.axis(f"wheel {name!r}", "axis", axis))
        self._check_held_frames(f"wheel {name!r}", wheel, against.on)
        for row, (formula, kind) in made.rows.items():
            self._hold_formula(FormulaClosure(row, row, None, formula=Formula(formula), nonholonomic=kind != HOLONOMIC, wheel=made))

    def hold(self, *coordinates: str) -> None:
        """Keep joint coordinates, and their rates, at their given start while loops are closed: hold("crank.angle").

        Without it, assembly moves all coordinates as little as it can. A run moves held coordinates like any other.
        """
        for coordinate in coordinates:
            self._check_coordinate(f"system {self.name!r}", coordinate, "hold")
        self.held = tuple(dict.fromkeys([*self.held, *coordinates]))

    def _check_held_frames(self, part: str, a: Any, b: Any) -> None:
        for label, frame in (("a", a), ("b", b)):
            self._check_frame(part, label, frame)
        if a.body == b.body:
            raise ModelError.of(part, "b", "must be a frame on a different body from a", b.body)

    def _check_held_coordinates(self, part: str, made: Closure) -> None:
        """Check the two coordinates of a gear (one may be prescribed by its joint), or the one that a closure prescribes."""
        if len(made.coordinates) == 1:
            self._check_coordinate(part, made.a, "a")
            return
        for label, name in zip(("a", "b"), made.coordinates, strict=True):
            self._check_coordinate_name(part, name, label)
        if made.a == made.b:
            raise ModelError.of(part, "b", "must be a different coordinate from a", made.b)
        if all(self._is_prescribed(name) for name in made.coordinates):
            raise ModelError.of(part, "b", "must not have a prescribed motion, because a has one", made.b)

    def with_named_pairs(self, caller: str, most: int) -> System:
        """The same System with a pair for every two shapes of contacts among shapes, if there are not too many."""
        if not self.groups:
            return self
        found = self.snapshot()
        for group in found.groups.values():
            if group.possible > most:
                rule = f"must have at most {most} possible pairs for {caller}, which has equations for each; a run takes more"
                raise ModelError.of(f"contact {group.name!r}", "among", rule, group.possible)
            found.contacts |= {pair.name: pair for pair in group.pairs}
        found.groups = {}
        return found

    @property
    def near_places(self) -> int:
        """The number of pairs of contacts among shapes that can be near at the same time."""
        return sum(group.places for group in self.groups.values())

    def frames(self) -> list[Frame]:
        """Every frame that carries a body or at which something acts."""
        own = [link.on for link in self.links.values()]
        loaded = [load.at for load in self.loads.values()]
        touching = [frame for part in (self.contacts, self.groups) for pair in part.values() for frame in pair.frames]
        closed = [frame for closure in self.closures.values() for frame in closure.frames or ()]
        cut = [frame for joint in self.cut_joints.values() for frame in (joint.a, joint.b)]
        pushed = [frame for strut in self.struts.values() for frame in strut.frames]
        sensed = [sensor.frame for sensor in self.sensors.values() if sensor.frame is not None]
        return [*own, *loaded, *touching, *closed, *cut, *pushed, *sensed]

    def ends(self) -> list[Frame]:
        """The ends of all links: every tip, and the root of every body whose joint to the ground slides or is a ball."""
        roots, tips = [], []
        inside = {own for name, beam in self.segmented.items() for own in beam.names(name)[:-1]}
        for link in self.links.values():
            handle = BodyHandle(link.name, link.body)
            floats = any(motion.kind in (TRANSLATION, BALL) for motion in link.joint.motions)
            if link.on.body == GROUND and floats:
                roots.append(handle.root)
            if not link.name.endswith(PAYLOAD) and handle.tip not in roots and link.name not in inside:
                tips.append(handle.tip)
        return [*roots, *tips]

    def event(self, name: str, function: Callable[..., Any], direction: str = "both", stop: bool = False) -> None:
        """Record an event whenever function(t, q, v) crosses zero. stop: end the run there.

        direction: "rising", "falling" or "both".
        """
        part = f"event {name!r}"
        self._check_new_name(name)
        if not callable(function):
            raise ModelError.of(part, "function", "must be a function of (t, q, v)", function)
        check.choice(part, "direction", direction, DIRECTIONS)
        self.conditions[name] = Condition(name, function, direction, bool(stop))

    def state(self, name: str, rate: Any, start: float = 0.0) -> None:
        """Add a state of your own, integrated with the mechanism. rate: a number, a signal or a function of (t, q, v).

        Formulas read the state as q["name"] and its rate as v["name"]. start: initial value; it may be a parameter.
        """
        self._check_new_name(name)
        self.states[name] = OwnState(name, signal(f"state {name!r}", "rate", rate), start)

    def sampled(
        self,
        name: str,
        period: float,
        update: Update,
        outputs: Sequence[str] | str,
        start: Mapping[str, float] | None = None,
        delay: float = 0.0,
        compiled: bool = True,
    ) -> None:
        """Add a sampled controller. It runs every `period` s, at t = 0, period, 2 period ...; its outputs are held in between.

        update(t, q, v, measured, memory) returns the outputs: one number, one number per name, or a mapping. Whatever it writes
        into `memory` is there at the next sample. measured: quantities of the result just before the sample, as in
        measured["normal_force contact arm.tip"]. Formulas read outputs and memories as q["name.output"]. start: initial outputs
        and memories by name; 0 by default. delay: time from a sample until its outputs act, s; it may exceed a period.
        compiled=False: Python calls update with plain numbers, for code that cannot be traced; this is slower.
        """
        self._check_new_name(name)
        self.controllers[name] = controller(
            name, period, update, outputs, check.mapping(f"sampled {name!r}", "start", start), delay, compiled
        )

    def snapshot(self) -> Self:
        """A copy of the System as it is now; parts added to the original later do not appear in the copy."""
        taken = object.__new__(type(self))
        for name, value in vars(self).items():
            setattr(taken, name, dict(value) if isinstance(value, dict) else value)
        return taken

    __copy__ = snapshot

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """As a snapshot: parts never change, and a parameter must stay the same object in all of them."""
        return self.snapshot()

    @property
    def sensor(self) -> NewSensor:
        """Adds sensors: system.sensor.strain_gauge(...), encoder, accelerometer, gyro, force."""
        return NewSensor(self)

    @property
    def channels(self) -> dict[str, Sensor]:
        """The readings of all sensors by name, each with its sensor."""
        return {channel: sensor for name, sensor in self.sensors.items() for channel in sensor.channels(name)}

    @property
    def parameters(self) -> dict[str, Parameter]:
        """The parameters that its parts and formulas use, by name."""
        return parameters_of(self)

    @property
    def own_states(self) -> dict[str, OwnState]:
        """The states that the user declared, without the states of motors and of the filters of sensors."""
        others = {name for drive in self.motors.values() for name in drive.states} | self.filter_states
        return {name: state for name, state in self.states.items() if name not in others}

    @property
    def filter_states(self) -> set[str]:
        """The names of the states of sensors' filters."""
        return {name for channel, sensor in self.channels.items() for name in sensor.rates(channel)}

    @property
    def mass(self) -> float:
        """Mass of all bodies without payloads, kg."""
        return sum(link.body.mass for link in self.links.values())

    @property
    def degrees_of_freedom(self) -> int:
        """The number of rates that are not prescribed; loops are not counted."""
        return sum(len(link.rates) - len(link.prescribed) for link in self.links.values())

    @property
    def automatic_stiffening(self) -> str:
        """The stiffening that `auto` chose for beams that bend, as in "full of upper, fore"; empty if no beam uses `auto`."""
        taken: dict[str, list[str]] = {}
        for link in self.links.values():
            if isinstance(link.body, Beam) and link.body.stiffening == AUTO and link.body.bends:
                taken.setdefault(link.body.stiffening_taken, []).append(link.name)
        for name, whole in self.segmented.items():
            if whole.beam.stiffening == AUTO and whole.beam.bends:
                taken.setdefault(whole.stiffening, []).append(name)
        named = {kind: ", ".join(names) if len(names) <= MOST_NAMED else f"{len(names)} beams" for kind, names in taken.items()}
        return "; ".join(f"{kind} of {names}" for kind, names in named.items())

    def __str__(self) -> str:
        return str(answer("described", self))

    def _repr_html_(self) -> str:
        return rich_display.preformatted(str(self))

    def _add_payload(self, name: str, carrier: Body, load: Payload) -> None:
        """Add the payload as a rigid body welded to the tip, so that its offset follows the tip's rotation exactly."""
        body = RigidBody(mass=load.mass, inertia=load.inertia, com=load.offset, tip=load.offset)
        label = f"{name}{PAYLOAD}"
        self._check_new_name(label)
        self.links[label] = Link(label, body, Weld(), carrier.places(name)[TIP], {}, {})

    def _add_pair(self, part: str, pair: ContactPair) -> None:
        for frame in pair.frames:
            self._check_frame(part, "points" if frame is pair.frames[0] else "against", frame)
        if pair.frames[0].body == pair.frames[1].body:
            raise ModelError.of(part, "points", "must be on a different body from the shape they touch", pair.frames[0].body)
        if isinstance(pair.ball, ON_CYLINDERS) and isinstance(pair.normal, Impulsive):
            rule = "must have a stiffness for a Cylinder, which stands on two points that travel round its rim: not Impulsive"
            raise ModelError.of(part, "normal", rule, pair.normal)
        for shape in (pair.ball, pair.against):
            if isinstance(shape, Along):
                self._check_axis(shape)
        if pair.name in self.contacts:
            raise ModelError.of(part, "points", "must form pairs with unique names (give this contact its own name)", pair.name)
        self.contacts[pair.name] = pair
        if pair.wear is not None:
            self.states[pair.name + WEAR] = OwnState(pair.name + WEAR, Formula(WearRate(pair.name)))

    def _check_axis(self, shape: Along) -> None:
        """A beam has an axis, and a rigid body from its root to its tip."""
        name = shape.at.body
        body = self.links[name].body
        if not isinstance(body, Beam) and not (isinstance(body, RigidBody) and any(body.tip)):
            raise ModelError.of("Along", "at", "must be a beam, or a rigid body with a tip away from its root", name)
        if shape.at != BodyHandle(name, body).root:
            raise ModelError.of("Along", "at", f"must be the body, or its frame {name}.root", shape.at)

    def _place_name(self, frame: Frame, place: str) -> str:
        """The name of a frame in tables: "arm.root", "arm.tip" or "arm.nose" if it is a named one of its body, else `place`."""
        named = self.links[frame.body].body.places(frame.body) if frame.body in self.links else {}
        return next((f"{frame.body}.{name}" for name, known in named.items() if known == frame), place)

    def _check_new_name(self, name: Any) -> None:
        part = f"system {self.name!r}"
        check.identifier(part, "name", name)
        for kind, taken in (("body", self.links), ("drive", self.drives), ("load", self.loads),
                            ("closure", self.closures), ("event", self.conditions), ("body", self.segmented),
                            ("strut", self.struts), ("motor", self.motors), ("state", self.states),
                            ("sampled controller", self.controllers), ("sensor", self.sensors)):  # fmt: skip
            if name in taken:
                raise ModelError.of(part, "name", f"must be unique (a {kind} already has this name)", name)
        if name == GROUND:
            raise ModelError.of(part, "name", "must not be 'ground'", name)

    def _check_frame(self, part: str, label: str, frame: Any) -> None:
        if isinstance(frame, str) and (frame in self.links or frame in self.segmented):
            rule = f"must be a frame such as arm.tip, where arm = system.add(...), or system.handle({frame!r}).tip"
            raise ModelError.of(part, label, rule, frame)
        check.instance(part, label, frame, Frame, "a frame such as arm.tip or system.ground")
        if frame.body == GROUND:
            return
        if frame.body not in self.links:
            known = [GROUND, *self.links]
            rule = f"must be a frame of one of the bodies added so far, {known}{check.did_you_mean(frame.body, known)}"
            raise ModelError.of(part, label, rule, frame.body)
        self.links[frame.body].body.check_station(part, label, frame.station)

    def _check_load(self, part: str, name: str, at: Frame, expressed: str) -> None:
        self._check_new_name(name)
        self._check_frame(part, "at", at)
        if at.body == GROUND:
            raise ModelError.of(part, "at", "must be a frame of a moving body", GROUND)
        check.choice(part, "expressed", expressed, EXPRESSED)

    def _check_coordinate(self, part: str, coordinate: Any, label: str = "coordinate") -> None:
        self._check_coordinate_name(part, coordinate, label)
        if self._is_prescribed(coordinate):
            raise ModelError.of(part, label, "must not have a prescribed motion", coordinate)

    def _check_coordinate_name(self, part: str, coordinate: Any, label: str) -> None:
        known = [f"{link.name}.{name}" for link in self.links.values() for name in _driven(link)]
        if coordinate not in known:
            rule = f"must be one of {known}{check.did_you_mean(coordinate, known)}"
            raise ModelError.of(part, label, rule, coordinate)

    def _is_prescribed(self, coordinate: str) -> bool:
        body, name = coordinate.split(".")
        return name in self.links[body].prescribed


def _taken(joint: Joint, fields: Mapping[str, str], numbers: Iterator[float]) -> dict[str, Any]:
    """The next numbers as values of fields, each a number or several."""
    usual = {name: getattr(joint, name) for name in fields}
    return {
        name: tuple(next(numbers) for _ in value) if isinstance(value, tuple) else next(numbers) for name, value in usual.items()
    }


def _components(part: str, vector: Any) -> tuple[Signal, Signal, Signal]:
    if not check.several(vector) or len(vector) not in (2, 3):
        raise ModelError.of(part, "vector", "must have 2 or 3 components", vector)
    clean = [signal(part, f"vector[{k}]", item) for k, item in enumerate(vector)]
    return (clean[0], clean[1], clean[2] if len(clean) == 3 else Constant(0.0))


def _driven(link: Link) -> list[str]:
    """Coordinates along which a drive may act."""
    return [*(m.name for m in link.joint.motions if m.kind != BALL), *link.body.lengths]


def _initial(part: str, label: str, modes: Sequence[str], given: Mapping[str, float] | None) -> dict[str, float]:
    """Initial values, or initial rates, of modes."""
    given = check.mapping(part, label, given)
    for name in given:
        if name not in modes:
            rule = f"must name modes out of {list(modes)}{check.did_you_mean(name, modes)}"
            raise ModelError.of(part, label, rule, name)
    return {name: check.number(part, f"{label}[{name!r}]", value) for name, value in given.items()}
