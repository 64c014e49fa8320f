"""All applied forces: elastic modes, dampers, springs, stops, drives and loads, with the power of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from pliant.dynamics.algebra import ZERO, Scalar, Vec, add, cross, dot, scale, vanishes
from pliant.dynamics.body import Shape
from pliant.dynamics.cut_joint import CutJointState, cut_joint_state
from pliant.dynamics.kinematics import TreeState, twists
from pliant.dynamics.rotation import NO_TURN, rotation_vector
from pliant.dynamics.steps import Bend, Turn, steps_to_place
from pliant.dynamics.struts import StrutForce, StrutState, strut_state
from pliant.dynamics.tree import ROOT, Node, Place, Slot, Tree
from pliant.model.force import PointForce, PointMoment
from pliant.model.joint import Joint, Motion
from pliant.model.play import Limits
from pliant.model.signal import Signal
from pliant.model.system import System
from pliant.scalar import maximum, where

Read = Callable[[Signal], Scalar]


@dataclass(frozen=True)
class BodyLoad:
    """The load on one body: moment about its origin and force, in its own axes, and one entry per own coordinate."""

    moment: Vec
    force: Vec
    own: tuple[Scalar, ...]
    # The part of moment and force that acts where the body's own coordinates displace nothing: on the sleeve of a telescopic link
    fixed: tuple[Vec, Vec] = (ZERO, ZERO)

    @classmethod
    def none(cls, coordinates: int) -> BodyLoad:
        return cls(ZERO, ZERO, (0.0,) * coordinates)

    def plus(self, other: BodyLoad) -> BodyLoad:
        own = tuple(a + b for a, b in zip(self.own, other.own, strict=True))
        fixed = (add(self.fixed[0], other.fixed[0]), add(self.fixed[1], other.fixed[1]))
        return BodyLoad(add(self.moment, other.moment), add(self.force, other.force), own, fixed)

    def less(self, other: BodyLoad) -> BodyLoad:
        moment, force, *fixed = (scale(-1.0, x) for x in (other.moment, other.force, *other.fixed))
        return self.plus(BodyLoad(moment, force, tuple(-x for x in other.own), (fixed[0], fixed[1])))


@dataclass
class AppliedForces:
    """Efforts on the coordinates, loads on the bodies, and the power of every source without a potential."""

    tau: list[Scalar]
    loads: list[BodyLoad]
    power: dict[str, Scalar] = field(default_factory=dict)
    # Whether damped end stops are in contact, by label: 1 or 0; if not given, their depth decides
    pressed: Mapping[str, Scalar] = field(default_factory=dict)
    inner: dict[int, BodyLoad] = field(default_factory=dict)  # the part of `loads` due to joints outside the tree, by body
    dissipative: dict[str, bool] = field(default_factory=dict)  # sources that may only remove energy; see `dissipate`
    struts: list[StrutForce] = field(default_factory=list)

    def dissipate(self, source: str, power: Scalar, returns: bool = False) -> None:
        """Record the power of a source that must dissipate: at every moment, or on the whole if it `returns` stored energy."""
        self.power[source] = power
        self.dissipative[source] = returns

    @property
    def outer(self) -> list[BodyLoad]:
        """Loads other than those of joints."""
        return [load.less(self.inner[k]) if k in self.inner else load for k, load in enumerate(self.loads)]


def applied_forces(
    system: System,
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    read: Read,
    pressed: Mapping[str, Scalar] | None = None,
) -> AppliedForces:
    """All applied forces at a state; `read` returns the present value of a signal. pressed: see `AppliedForces`."""
    unloaded = [BodyLoad.none(node.body.coordinates) for node in tree.nodes]
    applied = AppliedForces([0.0] * len(tree.rates), unloaded, pressed=pressed or {})
    for node in tree.nodes:
        _elastic(node, q, v, applied)
        for slot in node.slots:
            _joint_elements(node, slot, q, v, applied)
    apart = [name for cut_joint in system.cut_joints.values() for name in cut_joint.rates]
    rates = {name: k for k, name in enumerate(tree.rates)}
    for drive in system.drives.values():
        if drive.coordinate in apart:
            continue
        effort, number = read(drive.effort), rates[drive.coordinate]
        applied.tau[number] = applied.tau[number] + effort
        applied.power[drive.name] = effort * v[number]
    _drag(tree, q, v, applied)
    if system.loads or system.cut_joints or system.struts:
        state = TreeState.of(tree, q, v)
        for cut_joint in system.cut_joints.values():
            _cut_joint_elements(system, state, cut_joint_state(state, cut_joint), read, applied)
        for load in system.loads.values():
            _point_load(state, load, read, applied)
        for strut in [strut_state(state, strut) for strut in system.struts.values()]:
            _push_strut(state, strut, read, applied)
    return applied


def _elastic(node: Node, q: Sequence[Scalar], v: Sequence[Scalar], applied: AppliedForces) -> None:
    z, rates = node.own(q, v)
    stop = sleeve_stop(node)
    if stop is not None:
        applied.tau[node.own_v[0]] = applied.tau[node.own_v[0]] + stop_force(stop, z[0], rates[0], node.name, {})[0]
    for number, force in zip(node.own_v, node.body.strain_forces(z), strict=True):
        applied.tau[number] = applied.tau[number] - force
    for kind in node.body.damping:
        forces = node.body.damping_forces(kind, z, rates)
        power: Scalar = 0.0
        for number, force in zip(node.own_v, forces, strict=True):
            applied.tau[number] = applied.tau[number] - force
            power = power - force * v[number]
        applied.dissipate(f"{node.name}.{kind}", power)


def _drag(tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar], applied: AppliedForces) -> None:
    """Drag on the whole motion of the bodies: -c v on every point, so minus the momentum of a body of mass c per length."""
    fields = {k: drag for k, node in enumerate(tree.nodes) if (drag := node.body.drag_fields(node.own(q, v)[0])) is not None}
    moving = twists(tree, q, v) if fields else []
    for k, drag in fields.items():
        node, twist = tree.nodes[k], moving[k]
        shape = Shape.at(node.body, *node.own(q, v), drag)
        resisted = BodyLoad(*shape.momentum(twist.omega, twist.velocity), tuple(shape.own_momentum(twist.omega, twist.velocity)))
        applied.loads[k] = applied.loads[k].less(resisted)
        applied.dissipate(f"{node.name}.drag", -2.0 * shape.kinetic_energy(twist.omega, twist.velocity))


def _joint_elements(node: Node, slot: Slot, q: Sequence[Scalar], v: Sequence[Scalar], applied: AppliedForces) -> None:
    numbers = range(slot.v, slot.v + len(slot.motion.rates))
    away = ball_turn(slot, q) if slot.is_ball else (q[slot.q],)
    label = f"{node.name}.{slot.motion.name}"
    pushed = joint_efforts(node.link.joint, slot.motion, label, away, [v[number] for number in numbers], applied)
    for number, effort in zip(numbers, pushed, strict=True):
        applied.tau[number] = applied.tau[number] + effort


def joint_efforts(
    joint: Joint, motion: Motion, label: str, away: Sequence[Scalar], rates: Sequence[Scalar], applied: AppliedForces
) -> list[Scalar]:
    """Efforts of the spring, the damper and the stops of one joint motion, along its rates."""
    efforts: list[Scalar] = [0.0] * len(rates)
    spring, damper, stop = joint.springs.get(motion.name), joint.dampers.get(motion.name), joint.stops.get(motion.name)
    if spring is not None:
        efforts = [-spring.stiffness * (x - spring.rest) for x in away]
    if damper is not None:
        power: Scalar = 0.0
        for k, rate in enumerate(rates):
            force = -damper.coefficient * rate
            efforts[k] = efforts[k] + force
            power = power + force * rate
        applied.dissipate(f"{label} damper", power)
    if stop is not None:
        force, lost = stop_force(stop, away[0], rates[0], label, applied.pressed)
        efforts[0] = efforts[0] + force
        if stop.damping > 0.0:
            applied.dissipate(f"{label} stop", lost * rates[0])
    return efforts


def _cut_joint_elements(system: System, state: TreeState, cut: CutJointState, read: Read, applied: AppliedForces) -> None:
    """Springs, dampers, stops and drives of a joint outside the tree, as loads on its two bodies."""
    joint, efforts = cut.cut_joint.joint, []
    for coordinate in cut.coordinates:
        along = joint_efforts(joint, coordinate.motion, coordinate.label, coordinate.away, coordinate.rates, applied)
        for drive in system.drives.values():
            if drive.coordinate == coordinate.label:
                effort = read(drive.effort)
                along[0] = along[0] + effort
                applied.power[drive.name] = effort * coordinate.rates[0]
        efforts.append(along)
    if all(vanishes(along) for along in efforts):
        return
    on_a, on_b = cut.wrenches(efforts)
    for place, (moment, force) in ((cut.a, on_a), (cut.b, on_b)):
        if place.node == ROOT:
            continue
        if place is cut.b:  # from the place's axes to its body's
            turn = state.bodies[place.node].rotation
            moment, force = (turn.into(cut.pose_b.rotation.out(x)) for x in (moment, force))
        pushed = at_place(state.tree, place, force, moment, state.q, state.v)
        applied.loads[place.node] = applied.loads[place.node].plus(pushed)
        before = applied.inner.get(place.node)
        applied.inner[place.node] = pushed if before is None else before.plus(pushed)


def sleeve_stop(node: Node) -> Limits | None:
    """The spring at the end of a sleeve, if the body has one."""
    return next((length.stop for length in node.link.body.lengths.values()), None)


def ball_turn(slot: Slot, q: Sequence[Scalar]) -> Vec:
    return rotation_vector([q[slot.q + k] for k in range(4)])


def stop_force(stop: Limits, x: Scalar, rate: Scalar, label: str, pressed: Mapping[str, Scalar]) -> tuple[Scalar, Scalar]:
    """Force of both end stops, and the part of it that has no potential.

    The damper's force jumps when a stop is reached. A flag says on which side an integration step is, so that it sees no jump.
    """
    total: Scalar = 0.0
    lost: Scalar = 0.0
    assert stop.stiffness is not None  # a stop without a contact law has one
    for end, depth, closing, sign in (("high", x - stop.high, rate, -1.0), ("low", stop.low - x, -rate, 1.0)):
        spring = stop.stiffness * depth
        pushed = maximum(spring + stop.damping * closing, 0.0) if stop.damping > 0.0 else spring
        flag = pressed.get(f"{label} {end}")
        on = depth > 0.0 if flag is None else flag > 0.5
        stored = spring if flag is None else stop.stiffness * maximum(depth, 0.0)  # a trial step may leave the stop
        total = total + sign * where(on, pushed, 0.0)
        lost = lost + sign * where(on, pushed - stored, 0.0)
    return total, lost


def damped_stops(system: System, tree: Tree) -> list[str]:
    """Labels of all damped end stops, as used in `AppliedForces.pressed`."""
    joints = [(node.name, node.link.joint) for node in tree.nodes]
    joints += [(cut_joint.name, cut_joint.joint) for cut_joint in system.cut_joints.values()]
    return [f"{name}.{motion} {end}" for name, joint in joints for motion, stop in joint.stops.items() if stop.damping > 0.0
            for end in ("low", "high")]  # fmt: skip


def _point_load(state: TreeState, load: PointForce | PointMoment, read: Read, applied: AppliedForces) -> None:
    place = state.tree.place(load.at)
    pose, twist = state.pose(place), state.twist(place)
    given: Vec = tuple(read(component) for component in load.vector)
    local = given if load.expressed == "body" else pose.rotation.into(given)
    on_body = state.bodies[place.node].rotation.into(pose.rotation.out(local))
    is_force = isinstance(load, PointForce)
    force, moment = (on_body, ZERO) if is_force else (ZERO, on_body)
    applied.power[load.name] = dot(local, twist.velocity if is_force else twist.omega)
    applied.loads[place.node] = applied.loads[place.node].plus(at_place(state.tree, place, force, moment, state.q, state.v))


def _push_strut(state: TreeState, at: StrutState, read: Read, applied: AppliedForces) -> None:
    """Apply a strut's force to its two bodies; its damper and actuator are sources, its spring has a potential."""
    strut = at.strut
    force = -strut.stiffness * at.stretch
    if strut.damping > 0.0:
        resisting = -strut.damping * at.rate
        force = force + resisting
        applied.dissipate(f"{strut.name} damper", resisting * at.rate)
    if strut.force is not None:
        effort = read(strut.force)
        force = force + effort
        applied.power[strut.name] = effort * at.rate
    for place, sign in zip(at.places, (1.0, -1.0), strict=True):
        if place.node != ROOT:
            here = state.bodies[place.node].rotation.into(scale(sign * force, at.direction))
            load = at_place(state.tree, place, here, ZERO, state.q, state.v)
            applied.loads[place.node] = applied.loads[place.node].plus(load)
    applied.struts.append(StrutForce(at, force))


def at_place(tree: Tree, place: Place, force: Vec, moment: Vec, q: Sequence[Scalar], v: Sequence[Scalar]) -> BodyLoad:
    """The load on a body and its modes due to a force and a moment at a place, both in the body's axes."""
    node = tree.nodes[place.node]
    steps, _ = steps_to_place(place, node, q, v)
    bent: Bend | None = None
    turn, arm = NO_TURN, ZERO  # from the deformed point to the place, in the body's axes
    for step in steps:
        if isinstance(step, Bend):
            bent = step
        elif isinstance(step, Turn):
            turn = turn.then(step.rotation)
        else:
            arm = add(arm, turn.out(step.r))
    moment = add(moment, cross(arm, force))
    if bent is None:
        return BodyLoad(moment, force, (0.0,) * node.body.coordinates, (moment, force))
    own = tuple(dot(w, force) + dot(theta, moment) for w, theta in zip(bent.displacement, bent.rotation, strict=True))
    return BodyLoad(add(moment, cross(bent.r, force)), force, own)
