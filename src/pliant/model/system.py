"""The mechanism a user describes: a tree of bodies and joints, gravity, drives and loads."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

from pliant.errors import ModelError
from pliant.model import check
from pliant.model.beam import AUTO, Beam
from pliant.model.body import ROOT, TIP, Body
from pliant.model.closure import CLOSURE_TOLERANCE, MULTIPLIERS, Closure, GearClosure, closure, closure_tolerance
from pliant.model.contact import Capsule, ContactPair, Plane, Point, Sphere, balls
from pliant.model.cut_joint import CutJoint
from pliant.model.force import DIRECTIONS, EXPRESSED, Condition, Drive, PointForce, PointMoment
from pliant.model.frame import GROUND, Frame
from pliant.model.friction_law import DryFriction, friction_law
from pliant.model.joint import BALL, TRANSLATION, Joint, Weld
from pliant.model.joint_friction import Frictions
from pliant.model.motor import COMMAND, Motor, MotorDrive, lag_rate
from pliant.model.normal_law import normal_law
from pliant.model.own_state import OwnState
from pliant.model.parameter import Parameter, expression_of
from pliant.model.play import Backlash
from pliant.model.resolve import parameters_of
from pliant.model.rigid import Payload, RigidBody
from pliant.model.sampled import Sampled, Update, controller
from pliant.model.segmented import SegmentedBeam
from pliant.model.signal import Constant, PrescribedMotion, Signal, signal
from pliant.model.strut import Strut, strut_force
from pliant.model.telescopic import TelescopicBeam
from pliant.results import rich_display

BODIES: dict[str, type[Body]] = {"beam": Beam, "telescopic": TelescopicBeam, "rigid": RigidBody}
PAYLOAD = " payload"  # what a beam's payload is called after the beam
MOST_NAMED = 5  # beams that are told apart in a line
DEEPEST_INDENT = 150  # characters before a printed body: longer chains go straight down from there


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
        return self.body.mode_labels

    @property
    def own_labels(self) -> tuple[str, ...]:
        """Names of the body's own coordinates: a free length, then modes."""
        return (*self.body.lengths, *self.mode_labels)

    @property
    def prescribed(self) -> dict[str, PrescribedMotion]:
        """Prescribed motions by coordinate, of the joint and of the body."""
        own = {name: length.motion for name, length in self.body.lengths.items() if length.motion is not None}
        return {**self.joint.prescribed, **own, **self.mode_motions}

    @property
    def start(self) -> tuple[float, ...]:
        """Positions at the start, in the order of `positions`."""
        own = (length.start for length in self.body.lengths.values())
        return (*self.joint.start, *own, *(float(self.initial.get(name, 0.0)) for name in self.mode_labels))

    @property
    def start_rates(self) -> tuple[float, ...]:
        own = (length.rate for length in self.body.lengths.values())
        return (*self.joint.start_rates, *own, *(float(self.initial_rates.get(name, 0.0)) for name in self.mode_labels))

    @property
    def positions(self) -> tuple[str, ...]:
        """Names of this link's coordinates, joint first."""
        return (*(n for m in self.joint.motions for n in m.positions), *self.own_labels)

    @property
    def rates(self) -> tuple[str, ...]:
        return (*(n for m in self.joint.motions for n in m.rates), *self.own_labels)


@dataclass(frozen=True)
class BodyHandle:
    """What `System.add` returns: the places of a body."""

    name: str
    body: Body | SegmentedBeam

    @property
    def root(self) -> Frame:
        return self.body.places(self.name)[ROOT]

    @property
    def tip(self) -> Frame:
        return self.body.places(self.name)[TIP]

    def at(self, place: Any) -> Frame:
        """A station of a beam in m, a named frame or a point of a rigid body."""
        if not isinstance(place, str):
            return self.body.at(self.name, place)
        known = self.body.places(self.name)
        if place not in known:
            rule = f"must be one of {list(known)}{check.did_you_mean(place, list(known))}"
            raise ModelError.of(f"body {self.name!r}", "frame", rule, place)
        return known[place]


@dataclass
class System:
    """A mechanism. Planar ones are written naturally: gravity and points as pairs, angles about z."""

    OUTSIDE_EQUATIONS: ClassVar[tuple[str, ...]] = ("name", "segmented")

    name: str
    gravity: Sequence[float]  # m/s^2
    # Of the mechanism's size (or 1 rad): rows of closures that others imply within it are left out, and must stay closed within it.
    closure_tolerance: float = CLOSURE_TOLERANCE
    links: dict[str, Link] = field(default_factory=dict, init=False)
    drives: dict[str, Drive] = field(default_factory=dict, init=False)
    loads: dict[str, PointForce | PointMoment] = field(default_factory=dict, init=False)
    struts: dict[str, Strut] = field(default_factory=dict, init=False)
    motors: dict[str, MotorDrive] = field(default_factory=dict, init=False)
    contacts: dict[str, ContactPair] = field(default_factory=dict, init=False)
    closures: dict[str, Closure] = field(default_factory=dict, init=False)
    conditions: dict[str, Condition] = field(default_factory=dict, init=False)
    states: dict[str, OwnState] = field(default_factory=dict, init=False)
    controllers: dict[str, Sampled] = field(default_factory=dict, init=False)
    cut_joints: dict[str, CutJoint] = field(default_factory=dict, init=False)  # of `absolute_coordinates` only
    segmented: dict[str, SegmentedBeam] = field(default_factory=dict, init=False)  # whose segments are links

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise ModelError.of("System", "name", "must be a non-empty text", self.name)
        check.visible("System", "name", self.name)
        part = f"system {self.name!r}"
        self.gravity = check.vector(part, "gravity", self.gravity, "m/s^2")
        self.closure_tolerance = closure_tolerance(part, self.closure_tolerance)

    @property
    def ground(self) -> Frame:
        return Frame(GROUND)

    def add(
        self,
        name: str,
        body: Body | SegmentedBeam,
        *,
        joint: Joint,
        on: Frame | None = None,
        initial: Mapping[str, float] | None = None,
        initial_rates: Mapping[str, float] | None = None,
    ) -> BodyHandle:
        """Add a body, carried by a joint, on a frame of an earlier body or of the ground.

        A segmented beam becomes the bodies name_1 ... name_n: the joint carries the first, each of the others is welded on.
        """
        part = f"body {name!r}"
        self._check_new_name(name)
        if isinstance(body, SegmentedBeam):
            return self._add_segments(name, body, joint, on, initial or initial_rates)
        check.instance(part, "body", body, tuple(BODIES.values()), "a Beam, a TelescopicBeam or a RigidBody")
        check.instance(part, "joint", joint, Joint, "a joint such as Revolute()")
        place = on if on is not None else self.ground
        self._check_frame(part, "on", place)
        modes = body.mode_labels
        begin, rates = _initial(part, "initial", modes, initial), _initial(part, "initial_rates", modes, initial_rates)
        link = Link(name, body, joint, place, begin, rates)
        self.links[name] = link
        if body.payload is not None:
            self._add_payload(name, body, body.payload)
        return BodyHandle(name, body)

    def _add_segments(self, name: str, body: SegmentedBeam, joint: Joint, on: Frame | None, initial: Any) -> BodyHandle:
        if initial:
            rule = "must be left out: each segment has coordinates of its own (start from a result, or add the segments yourself)"
            raise ModelError.of(f"body {name!r}", "initial", rule, initial)
        names = body.names(name)
        for own in names:
            self._check_new_name(own)
        handle = self.add(names[0], body.parts[0], joint=joint, on=on)
        for own, part in zip(names[1:], body.parts[1:], strict=True):
            handle = self.add(own, part, joint=Weld(), on=handle.tip)
        self.segmented[name] = body
        return BodyHandle(name, body)

    def handle(self, name: str) -> BodyHandle:
        if name in self.segmented:
            return BodyHandle(name, self.segmented[name])
        if name not in self.links:
            known = [*self.links, *self.segmented]
            rule = f"must be one of {known}{check.did_you_mean(name, known)}"
            raise ModelError.of(f"system {self.name!r}", "body", rule, name)
        return BodyHandle(name, self.links[name].body)

    def drive(self, name: str, coordinate: str, effort: Any) -> None:
        """A torque or force along a joint coordinate, as in drive("motor", "arm.angle", 2.0)."""
        part = f"drive {name!r}"
        self._check_new_name(name)
        self._check_coordinate(part, coordinate)
        self.drives[name] = Drive(name, coordinate, signal(part, "effort", effort))

    def force(self, name: str, at: Frame, vector: Sequence[Any], expressed: str = "world") -> None:
        """A force at a frame: two or three components, each a number, a signal or a formula."""
        part = f"force {name!r}"
        self._check_load(part, name, at, expressed)
        self.loads[name] = PointForce(name, at, _components(part, vector), expressed)

    def moment(self, name: str, at: Frame, vector: Any, expressed: str = "world") -> None:
        """A moment at a frame: one signal about z, or three components."""
        part = f"moment {name!r}"
        self._check_load(part, name, at, expressed)
        parts = vector if isinstance(vector, (list, tuple)) else (0.0, 0.0, vector)
        if len(parts) != 3:
            raise ModelError.of(part, "vector", "must be 1 or 3 components", vector)
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
        """A spring, a damper and an actuator between the origins of two frames, along the line that joins them.

        It pushes them apart with -stiffness (length - rest) - damping rate + force. rest: the spring's length without force, given
        with a stiffness. force: a number, a table, a function of (length, rate) or of (t, q, v). Formulas read the length as
        q["name"] and its rate as v["name"].
        """
        part = f"strut {name!r}"
        self._check_new_name(name)
        self._check_held_frames(part, a, b)
        self.struts[name] = Strut(name, a, b, stiffness, rest, damping, strut_force(name, force))

    def motor(self, name: str, coordinate: str, motor: Motor, command: Any = None, start: float = 0.0) -> None:
        """A motor on a joint coordinate, as in motor("servo", "arm.angle", Motor(constant=0.05, resistance=1.0), command=24.0).

        command: V of a motor with constant and resistance, the share of its rated voltage of one with a torque-speed line, N m
        at the rotor of one with neither; a number, a table or a function of (t, q, v). Without it the rotor only turns along.
        start: of the current, A, or the torque, N m, that follows with a lag.
        """
        part = f"motor {name!r}"
        self._check_new_name(name)
        self._check_coordinate_name(part, coordinate, "coordinate")
        check.instance(part, "motor", motor, Motor, "a Motor")
        begin = check.number(part, "start", start)
        drive = MotorDrive(name, coordinate, motor, None if command is None else signal(part, COMMAND, command))
        if drive.state is not None:
            self.states[drive.state] = OwnState(drive.state, lag_rate(drive), begin)
        elif expression_of(begin) is not None or begin != 0.0:
            raise ModelError.of(part, "start", "must be left out where nothing lags", start)
        self.motors[name] = drive

    def contact(
        self,
        *,
        points: Any,
        against: Plane | Point | Sphere,
        normal: Any,
        friction: Any = None,
        name: str = "contact",
    ) -> list[str]:
        """Let points (frames, Points, Spheres, Capsules; one or many) touch a plane, a sphere or a point.

        normal: a law such as HuGuo(...) or a function of (depth, rate, entry speed); friction: a law, a function of (slip
        speed, normal force), or None. Returns the names of the pairs, one per point: "contact arm.tip".
        """
        part = f"contact {name!r}"
        check.instance(part, "name", name, str, "a text")
        check.visible(part, "name", name)
        check.instance(part, "against", against, (Plane, Point, Sphere), "a Plane, a Sphere or a Point")
        law = normal_law(part, "normal", normal)
        slip = None if friction is None else friction_law(part, "friction", friction)
        if isinstance(slip, DryFriction):
            rule = "must not be DryFriction, which is for joints: Karnopp is the law that holds contacts"
            raise ModelError.of(part, "friction", rule, slip)
        added = []
        for shape in points if isinstance(points, (list, tuple)) else [points]:
            if isinstance(shape, Capsule) and not isinstance(against, Plane):
                raise ModelError.of(part, "against", "must be a Plane for a Capsule", against)
            for place, ball in balls(part, shape):
                pair = ContactPair(f"{name} {self._place_name(ball.at, place)}", ball, against, law, slip)
                self._add_pair(part, pair)
                added.append(pair.name)
        if not added:
            raise ModelError.of(part, "points", "must hold at least one point", points)
        return added

    def close(
        self,
        name: str,
        kind: str,
        a: Frame | str,
        b: Frame | str | None = None,
        *,
        axis: Any = "z",
        length: Any = None,
        ratio: float | None = None,
        motion: Any = None,
        by: str = MULTIPLIERS,
        stiffness: float | None = None,
        damping: float = 0.0,
        other_axis: Any = "z",
        friction: Frictions = None,
        backlash: Backlash | None = None,
    ) -> None:
        """Close a loop: hold frame a to frame b, exactly (by="multipliers") or by virtual springs of a stiffness.

        kind: point, spherical, revolute, weld, prismatic, slider, distance, cylindrical, universal, planar; axis in the axes of b,
        other_axis of a universal in those of a. gear: coordinate a (a name, as "crank.angle") moves `ratio` times as far as
        coordinate b, or nearly so with a `backlash`, the play of a - ratio b. prescribed: coordinate a, or frame a's origin in the
        axes of b, follows `motion`, functions of t; so may a slider along its axis, and a distance's length. friction:
        JointFriction between the frames of a point, spherical, revolute, prismatic, slider or cylindrical closure, by its reaction.
        """
        part = f"closure {name!r}"
        self._check_new_name(name)
        ways = {"by": by, "stiffness": stiffness, "damping": damping, "friction": friction}
        own = {"axis": axis, "other_axis": other_axis, "length": length, "ratio": ratio, "motion": motion, "backlash": backlash}
        made = closure(kind, name, a, b, ways, own)
        if made.coordinates:
            self._check_held_coordinates(part, made)
        else:
            self._check_held_frames(part, a, b)
        for other in self.closures.values():
            if {other.a, other.b} == {a, b}:
                held = "two frames" if made.frames else "coordinates"
                raise ModelError.of(part, "a", f"must not hold the {held} that {other.name!r} holds", name)
        self.closures[name] = made

    def _check_held_frames(self, part: str, a: Any, b: Any) -> None:
        for label, frame in (("a", a), ("b", b)):
            self._check_frame(part, label, frame)
        if a.body == b.body:
            raise ModelError.of(part, "b", "must stand on another body than a", b.body)

    def _check_held_coordinates(self, part: str, made: Closure) -> None:
        """A gear's two coordinates, of which one may be prescribed by its joint; or one that a closure prescribes."""
        if len(made.coordinates) == 1:
            self._check_coordinate(part, made.a, "a")
            return
        for label, name in zip(("a", "b"), made.coordinates, strict=True):
            self._check_coordinate_name(part, name, label)
        if made.a == made.b:
            raise ModelError.of(part, "b", "must be another coordinate than a", made.b)
        if all(self._is_prescribed(name) for name in made.coordinates):
            raise ModelError.of(part, "b", "must not be prescribed where a is", made.b)

    def frames(self) -> list[Frame]:
        """Every frame that something stands on or acts at."""
        own = [link.on for link in self.links.values()]
        loaded = [load.at for load in self.loads.values()]
        touching = [frame for pair in self.contacts.values() for frame in pair.frames]
        closed = [frame for closure in self.closures.values() for frame in closure.frames or ()]
        cut = [frame for joint in self.cut_joints.values() for frame in (joint.a, joint.b)]
        pushed = [frame for strut in self.struts.values() for frame in strut.frames]
        return [*own, *loaded, *touching, *closed, *cut, *pushed]

    def ends(self) -> list[Frame]:
        """The ends of all links: every tip, and the root of whatever floats on the ground."""
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
        """Watch function(t, q, v): an event is recorded when it crosses zero, and ends the run if `stop`."""
        part = f"event {name!r}"
        self._check_new_name(name)
        if not callable(function):
            raise ModelError.of(part, "function", "must be a function of (t, q, v)", function)
        check.choice(part, "direction", direction, DIRECTIONS)
        self.conditions[name] = Condition(name, function, direction, bool(stop))

    def state(self, name: str, rate: Any, start: float = 0.0) -> None:
        """A state of one's own, integrated with the mechanism: rate is a number, a signal or a function of (t, q, v).

        Every formula reads it as q["name"], and its rate as v["name"]. start: where it begins, which may be a parameter.
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
        """A controller that runs every `period` s, at t = 0, period, 2 period ...; its outputs hold until the next instant.

        update(t, q, v, measured, memory) returns the outputs, one number or one for each name, or a mapping; what it writes into
        `memory` it finds there at the next instant. measured: quantities of results just before the instant, as in
        measured["normal_force contact arm.tip"]. Formulas read outputs and memories as q["name.output"]. start: outputs until the
        first instant and memories, by name; 0 where not given. delay, s: from an instant until its outputs act, any number of
        periods. compiled=False: update is called by Python with plain numbers, for what cannot be traced; slower.
        """
        self._check_new_name(name)
        self.controllers[name] = controller(name, period, update, outputs, start or {}, delay, compiled)

    def snapshot(self) -> Self:
        """The System as it is now: what is added to the other later is no part of it."""
        taken = copy.copy(self)
        for name, value in vars(self).items():
            if isinstance(value, dict):
                setattr(taken, name, dict(value))
        return taken

    @property
    def parameters(self) -> dict[str, Parameter]:
        """The named numbers that parts and formulas are written with, by name."""
        return parameters_of(self)

    @property
    def own_states(self) -> dict[str, OwnState]:
        """Those that the user declared, without those of motors."""
        return {name: state for name, state in self.states.items() if name not in {m.state for m in self.motors.values()}}

    @property
    def mass(self) -> float:
        return sum(link.body.mass for link in self.links.values())

    @property
    def degrees_of_freedom(self) -> int:
        return sum(len(link.rates) - len(link.prescribed) for link in self.links.values())

    @property
    def automatic_stiffening(self) -> str:
        """What `auto` stands for in its beams that bend, as in "full of upper, fore"; empty where none is automatic."""
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
        bodies, freedom = len(self.links), self.degrees_of_freedom
        counted = f"{bodies} {'body' if bodies == 1 else 'bodies'}, {freedom} {'degree' if freedom == 1 else 'degrees'} of freedom"
        head = f"{self.name}: {counted}, {self.mass:.6g} kg"
        if self.closures:
            head += f", {len(self.closures)} closures not counted"
        lines = [head, f"gravity {tuple(self.gravity)} m/s^2", GROUND]
        lines += self._tree()
        lines += [f"stiffening auto: {self.automatic_stiffening}"] if self.automatic_stiffening else []
        lines += [f"drive {d.name}: {d.coordinate}" for d in self.drives.values()]
        lines += [f"{_kind(load)} {load.name}: on {_where(load.at)}" for load in self.loads.values()]
        lines += [f"strut {s.name}: from {_where(s.a)} to {_where(s.b)}, {_strut_parts(s)}" for s in self.struts.values()]
        lines += [f"motor {m.name}: on {m.coordinate}, {_motor_parts(m)}" for m in self.motors.values()]
        lines += [f"{c.name}: {type(c.normal).__name__}, {type(c.friction).__name__ if c.friction else 'no friction'}"
                  for c in self.contacts.values()]  # fmt: skip
        lines += [f"closure {c.name}: {c.kind} of {_held(c)}, by {c.by}" for c in self.closures.values()]
        lines += _ends_of_travel(self)
        lines += [f"coupling {c.name}: {c.joint.part} of {_where(c.a)} on {_where(c.b)}" for c in self.cut_joints.values()]
        lines += [f"state {s.name}: starts at {s.start:g}" for s in self.own_states.values()]
        lines += [f"sampled {c.name}: {', '.join(c.outputs)} every {c.period:g} s{f', delayed by {c.delay:g} s' * (c.delay > 0.0)}"
                  for c in self.controllers.values()]  # fmt: skip
        lines += [f"event {c.name}: {c.direction}{', stops the run' * c.stop}" for c in self.conditions.values()]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return rich_display.preformatted(str(self))

    def _tree(self) -> list[str]:
        """A line a body, under what carries it; without recursion, for chains may be longer than Python's stack is deep."""
        children: dict[str, list[Link]] = {}
        for link in self.links.values():
            children.setdefault(link.on.body, []).append(link)
        lines: list[str] = []
        waiting = [(link, "") for link in reversed(children.get(GROUND, []))]
        while waiting:
            link, indent = waiting.pop()
            last = link is children[link.on.body][-1]
            rates = ", ".join(link.rates) or "no coordinates"
            kind = f"{type(link.body).__name__} {link.body.mass:.6g} kg"
            lines.append(f"{indent}{'└─' if last else '├─'} {link.name}: {link.joint.part} {kind} ({rates})")
            below = indent + ("   " if last else "│  ") if len(indent) < DEEPEST_INDENT else indent
            waiting += [(child, below) for child in reversed(children.get(link.name, []))]
        return lines

    def _add_payload(self, name: str, carrier: Body, load: Payload) -> None:
        """The payload is a rigid body welded to the tip, so that its offset turns with the tip exactly."""
        body = RigidBody(mass=load.mass, inertia=load.inertia, com=load.offset, tip=load.offset)
        label = f"{name}{PAYLOAD}"
        self._check_new_name(label)
        self.links[label] = Link(label, body, Weld(), carrier.places(name)[TIP], {}, {})

    def _add_pair(self, part: str, pair: ContactPair) -> None:
        for frame in pair.frames:
            self._check_frame(part, "points" if frame is pair.frames[0] else "against", frame)
        if pair.frames[0].body == pair.frames[1].body:
            raise ModelError.of(part, "points", "must stand on another body than what they touch", pair.frames[0].body)
        if pair.radius == pair.other_radius == 0.0 and not isinstance(pair.against, Plane):
            raise ModelError.of(part, "against", "must have a radius where points touch it", pair.against)
        if pair.name in self.contacts:
            raise ModelError.of(part, "points", "must be named apart (give the contact a name of its own)", pair.name)
        self.contacts[pair.name] = pair

    def _place_name(self, frame: Frame, place: str) -> str:
        """arm.root and arm.tip where it is one, else the place's own name."""
        if frame.body in self.links:
            handle = BodyHandle(frame.body, self.links[frame.body].body)
            for known in (ROOT, TIP):
                if frame == getattr(handle, known):
                    return f"{frame.body}.{known}"
        return place

    def _check_new_name(self, name: Any) -> None:
        part = f"system {self.name!r}"
        check.identifier(part, "name", name)
        for kind, taken in (("body", self.links), ("drive", self.drives), ("load", self.loads),
                            ("closure", self.closures), ("event", self.conditions), ("body", self.segmented),
                            ("strut", self.struts), ("motor", self.motors), ("state", self.states),
                            ("sampled controller", self.controllers)):  # fmt: skip
            if name in taken:
                raise ModelError.of(part, "name", f"must be unique (a {kind} has it already)", name)
        if name == GROUND:
            raise ModelError.of(part, "name", "must not be 'ground'", name)

    def _check_frame(self, part: str, label: str, frame: Any) -> None:
        check.instance(part, label, frame, Frame, "a frame such as arm.tip or system.ground")
        if frame.body == GROUND:
            return
        if frame.body not in self.links:
            known = [GROUND, *self.links]
            rule = f"must stand on an earlier body of {known}{check.did_you_mean(frame.body, known)}"
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
            raise ModelError.of(part, label, "must not be one whose motion is prescribed", coordinate)

    def _check_coordinate_name(self, part: str, coordinate: Any, label: str) -> None:
        known = [f"{link.name}.{name}" for link in self.links.values() for name in _driven(link)]
        if coordinate not in known:
            rule = f"must be one of {known}{check.did_you_mean(coordinate, known)}"
            raise ModelError.of(part, label, rule, coordinate)

    def _is_prescribed(self, coordinate: str) -> bool:
        body, name = coordinate.split(".")
        return name in self.links[body].prescribed


def _components(part: str, vector: Any) -> tuple[Signal, Signal, Signal]:
    if isinstance(vector, str) or not isinstance(vector, Sequence) or len(vector) not in (2, 3):
        raise ModelError.of(part, "vector", "must be 2 or 3 components", vector)
    clean = [signal(part, f"vector[{k}]", item) for k, item in enumerate(vector)]
    return (clean[0], clean[1], clean[2] if len(clean) == 3 else Constant(0.0))


def _driven(link: Link) -> list[str]:
    """Coordinates a drive may act along."""
    return [*(m.name for m in link.joint.motions if m.kind != BALL), *link.body.lengths]


def _initial(part: str, label: str, modes: Sequence[str], given: Mapping[str, float] | None) -> dict[str, float]:
    """Where modes start, or how fast."""
    for name in given or {}:
        if name not in modes:
            rule = f"must name modes of {list(modes)}{check.did_you_mean(name, modes)}"
            raise ModelError.of(part, label, rule, name)
    return {name: check.number(part, f"{label}[{name!r}]", value) for name, value in (given or {}).items()}


def _held(made: Closure) -> str:
    return " and ".join(made.coordinates or [_where(frame) for frame in made.frames or ()])


def _where(frame: Frame) -> str:
    return frame.body if frame.station is None else f"{frame.body} at {frame.station:g} m"


def _ends_of_travel(system: System) -> list[str]:
    """Stops and backlash of joints, and of gears, in words."""
    lines = []
    for link in system.links.values():
        for motion in link.joint.motions:
            label, unit = f"{link.name}.{motion.name}", motion.unit
            stop, play = link.joint.limited.get(motion.name), link.joint.plays.get(motion.name)
            if stop is not None:
                law = "spring" if stop.law is None else type(stop.law).__name__
                lines.append(f"stops of {label}: {stop.low:g} to {stop.high:g} {unit}, {law}")
            if play is not None:
                lines.append(f"backlash of {label}: {play.gap:g} {unit} about {play.centre:g}, {type(play.law).__name__}")
    gears = [(c.name, c.backlash) for c in system.closures.values() if isinstance(c, GearClosure)]
    return lines + [f"backlash of {name}: {play.gap:g}, {type(play.law).__name__}" for name, play in gears if play is not None]


def _motor_parts(drive: MotorDrive) -> str:
    motor = drive.motor
    kind = "electrical" if motor.is_electrical else "torque-speed line" if motor.has_line else "torque"
    rotor = f"rotor {motor.inertia:g} kg m^2 at {motor.ratio:g}:1"
    return f"{rotor}, {kind if drive.command is not None else 'not driven'}{f', {drive.state} a state' * (drive.state is not None)}"


def _strut_parts(strut: Strut) -> str:
    spring = [] if strut.rest is None else [f"spring {strut.stiffness:g} N/m of {strut.rest:g} m"]
    damper = [f"damper {strut.damping:g} N s/m"] if strut.damping else []
    return ", ".join([*spring, *damper, *(["actuator"] if strut.force is not None else [])])


def _kind(load: PointForce | PointMoment) -> str:
    return "force" if isinstance(load, PointForce) else "moment"
