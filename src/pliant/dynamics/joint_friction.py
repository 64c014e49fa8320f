"""Joint friction: slip of the surfaces, direction of the friction efforts, and the reactions that press the surfaces together.

The slip speed s, in m/s, is the rate of a slide, or the radius times the rate of a rotation. A friction force f, in N, along s is
the effort f of a slide, or radius f of a rotation. The normal force is the part of the joint reaction normal to the free motion.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pliant.dynamics.algebra import IDENTITY, ZERO, Scalar, Vec, cross, dot, is_zero, sub, total
from pliant.dynamics.cut_joint import CutJointState, cut_joint_state
from pliant.dynamics.gibbs_appell import Wrench
from pliant.dynamics.kinematics import Pose, TreeState
from pliant.dynamics.loads import AppliedForces, at_place
from pliant.dynamics.tangents import tangents_of
from pliant.dynamics.tree import ROOT, Node, Tree
from pliant.model.closure import Closure
from pliant.model.cut_joint import CutJoint
from pliant.model.joint import TRANSLATION, Joint, Motion
from pliant.model.joint_friction import BOTH, JointFriction
from pliant.model.system import System
from pliant.model.telescopic import EXTENSION, TelescopicBeam
from pliant.scalar import absolute, maximum, sqrt

SHORTEST = 1e-3  # of a sleeve's length: the guide of an arm that is about to leave it, so that no trial step divides by zero


@dataclass(frozen=True)
class RubbingJoint:
    """A joint or closure with friction at a state; for a cylindrical joint possibly only one of its two motions."""

    part: str  # its name in error messages
    label: str  # its name in results
    friction: JointFriction
    motions: tuple[Motion, ...]
    rates: tuple[str, ...]  # names of the rates along which it acts
    levers: tuple[Scalar, ...]  # m per rad for a rotation, 1 for a slide
    slip: tuple[Scalar, ...]  # m/s
    free: bool  # whether its motion follows from the equations, that is, is not prescribed
    slides: bool  # whether the joint slides along its axis, so that only forces normal to the axis press
    numbers: tuple[int, ...] = ()  # of its rates, if it is part of the tree
    node: int = ROOT  # the body it carries, in or outside the tree
    cut: CutJointState | None = None  # if it acts between two frames
    closure: str | None = None  # closure whose multipliers press it; None: the reaction of the body's inboard joint presses it
    guide: Scalar | None = None  # the length over which a couple is carried, m
    sleeve: Vec | None = None  # the middle of the part in a sleeve, whose reaction presses it; from the body's origin, in its axes

    @property
    def speed(self) -> Scalar:
        """Magnitude of slip, m/s."""
        return absolute(self.slip[0]) if len(self.slip) == 1 else sqrt(total(s * s for s in self.slip))

    @property
    def tangents(self) -> tuple[Vec, ...]:
        """Directions of the slip, in its own axes."""
        return IDENTITY[: len(self.slip)]


@dataclass(frozen=True, kw_only=True)
class _FreeMotions(Joint):
    """The free motions of a closure, as a joint whose coordinates are measured between two frames."""

    free: tuple[Motion, ...]

    @property
    def motions(self) -> tuple[Motion, ...]:
        return self.free


def rubbing_joints(system: System, state: TreeState, cut_joints: Sequence[CutJointState]) -> list[RubbingJoint]:
    """All joints with friction: in the tree, sleeves, outside the tree, and closures."""
    tree, q, v = state.tree, state.q, state.v
    joints = [_of_node(k, node, key, v) for k, node in enumerate(tree.nodes) for key in node.link.joint.frictions]
    joints += [_in_sleeve(k, node, length.friction, q, v) for k, node in enumerate(tree.nodes)
               for length in node.link.body.lengths.values() if length.friction is not None]  # fmt: skip
    for cut in cut_joints:
        node = tree.place(cut.cut_joint.a).node
        for key, friction in cut.cut_joint.joint.frictions.items():
            free = not set(_named(key, cut.cut_joint.joint.motions)) & set(cut.cut_joint.joint.prescribed)
            joints.append(_between(f"joint {cut.cut_joint.name!r}", cut, key, friction, free, node=node))
    for closure in system.closures.values():
        for key, friction in closure.frictions.items():
            cut = _cut(state, closure)
            node = cut.a.node if cut.a.node != ROOT else cut.b.node
            free = not closure.prescribed
            joints.append(_between(closure.part, cut, key, friction, free, node=node, closure=closure.name))
    return joints


def frictions_in_order(system: System, tree: Tree) -> list[JointFriction]:
    """The friction of each of the `rubbing_joints`."""
    found = [node.link.joint.frictions[key] for node in tree.nodes for key in node.link.joint.frictions]
    found += [length.friction for node in tree.nodes for length in node.link.body.lengths.values() if length.friction is not None]
    found += [friction for cut in system.cut_joints.values() for friction in cut.joint.frictions.values()]
    return found + [friction for closure in system.closures.values() for friction in closure.frictions.values()]


def _of_node(k: int, node: Node, key: str, v: Sequence[Scalar]) -> RubbingJoint:
    joint, friction = node.link.joint, node.link.joint.frictions[key]
    slots = tuple(slot for slot in node.slots if slot.motion.name in _named(key, joint.motions))
    numbers = [(slot, slot.v + i) for slot in slots for i in range(len(slot.motion.rates))]
    levers = tuple(_lever(slot.motion, friction) for slot, _ in numbers)
    return RubbingJoint(
        part=f"body {node.name!r}",
        label=f"{node.name}.{key}",
        friction=friction,
        motions=tuple(slot.motion for slot in slots),
        rates=tuple(f"{node.name}.{name}" for slot in slots for name in slot.motion.rates),
        levers=levers,
        slip=tuple(lever * v[number] for lever, (_, number) in zip(levers, numbers, strict=True)),
        free=all(slot.prescribed is None for slot in slots),
        slides=_slides(joint.motions),
        numbers=tuple(number for _, number in numbers),
        node=k,
        guide=friction.guide,
    )


def _in_sleeve(k: int, node: Node, friction: JointFriction, q: Sequence[Scalar], v: Sequence[Scalar]) -> RubbingJoint:
    """The arm is carried at the mouth of the sleeve and at its own inner end, as far apart as it reaches into the sleeve."""
    link, inner = node.link.body, q[node.own_q[0]]
    assert isinstance(link, TelescopicBeam)
    name = f"{node.name}.{EXTENSION}"
    return RubbingJoint(
        part=f"body {node.name!r}",
        label=name,
        friction=friction,
        motions=(Motion(TRANSLATION, EXTENSION, IDENTITY[0]),),
        rates=(name,),
        levers=(1.0,),
        slip=(v[node.own_v[0]],),
        free=link.motion is None,
        slides=True,
        numbers=(node.own_v[0],),
        node=k,
        guide=maximum(link.length - inner, SHORTEST * link.length),
        sleeve=(0.5 * (link.length + inner), 0.0, 0.0),
    )


def _between(
    part: str, cut: CutJointState, key: str, friction: JointFriction, free: bool, node: int, closure: str | None = None
) -> RubbingJoint:
    name = cut.cut_joint.name
    coordinates = [c for c in cut.coordinates if c.motion.name in _named(key, cut.cut_joint.joint.motions)]
    levers = tuple(_lever(c.motion, friction) for c in coordinates for _ in c.rates)
    rates = [rate for c in coordinates for rate in c.rates]
    return RubbingJoint(
        part=part,
        label=name if closure is not None and len(cut.coordinates) == 1 else f"{name}.{key}",
        friction=friction,
        motions=tuple(c.motion for c in coordinates),
        rates=tuple(f"{name}.{label}" for c in coordinates for label in c.motion.rates),
        levers=levers,
        slip=tuple(lever * rate for lever, rate in zip(levers, rates, strict=True)),
        free=free,
        slides=_slides(cut.cut_joint.joint.motions),
        node=node,
        cut=cut,
        closure=closure,
        guide=friction.guide,
    )


def _slides(motions: Sequence[Motion]) -> bool:
    return any(motion.kind == TRANSLATION for motion in motions)


def _named(key: str, motions: Sequence[Motion]) -> list[str]:
    return [motion.name for motion in motions] if key == BOTH else [key]


def _lever(motion: Motion, friction: JointFriction) -> Scalar:
    return 1.0 if motion.kind == TRANSLATION else friction.radius


def _cut(state: TreeState, closure: Closure) -> CutJointState:
    """A closure's two frames with the motions that it leaves free."""
    assert closure.frames is not None  # closures between coordinates have no friction
    motions = closure.free_motions
    start = tuple(0.0 for motion in motions for _ in motion.positions)  # only rates are needed, not angles
    return cut_joint_state(state, CutJoint(closure.name, _FreeMotions(free=motions), *closure.frames, start))


# ---- friction as efforts and loads


def push(state: TreeState, joint: RubbingJoint, force: Sequence[Scalar], applied: AppliedForces) -> None:
    """Apply the friction force, N along the slip, to the coordinates of the tree or to the two bodies."""
    efforts = [lever * f for lever, f in zip(joint.levers, force, strict=True)]
    if joint.cut is None:
        for number, effort in zip(joint.numbers, efforts, strict=True):
            applied.tau[number] = applied.tau[number] + effort
        return
    own, cut = iter(efforts), joint.cut
    along = [[next(own) if c.motion in joint.motions else 0.0 for _ in c.rates] for c in cut.coordinates]
    on_a, on_b = cut.wrenches(along)
    for place, (moment, pushed) in ((cut.a, on_a), (cut.b, on_b)):
        if place.node == ROOT:
            continue
        turn = state.bodies[place.node].rotation
        frame = cut.pose_a.rotation if place is cut.a else cut.pose_b.rotation  # the load is in axes of the body
        load = at_place(state.tree, place, turn.into(frame.out(pushed)), turn.into(frame.out(moment)), state.q, state.v)
        applied.loads[place.node] = applied.loads[place.node].plus(load)
        if joint.closure is None:  # it is part of the wrench that the joint transmits
            before = applied.inner.get(place.node)
            applied.inner[place.node] = load if before is None else before.plus(load)


# ---- normal forces


def pressing(joint: RubbingJoint, reaction: Wrench, bodies: Sequence[Pose]) -> list[list[Scalar]]:
    """The forces, N, whose magnitudes add up to the normal force, by their nonzero components; reaction: moment, force, world axes.

    One force; for a guide that also carries a couple, one force at each of its ends: F/2 +- M x a/length. M is about the body's
    origin, or for a closure about the origin of its frame, or for a sleeve about the middle between the two forces.
    """
    moment, force = reaction
    turning = joint.cut.pose_b.rotation if joint.cut is not None else bodies[joint.node].rotation
    axis = joint.motions[0].axis
    if joint.guide is None and not joint.slides:
        return [_live(force)]
    across = [turning.out(t) for t in tangents_of(axis)]
    directions = across if joint.slides else [*across, turning.out(axis)]
    whole = [dot(force, d) for d in directions]
    if joint.guide is None:
        return [_live(whole)]
    about = sub(moment, cross(_arm(joint, bodies), force))
    couple = [dot(about, cross(turning.out(axis), t)) / joint.guide for t in across]
    couple += [0.0] * (len(whole) - len(couple))
    return [_live([0.5 * f + sign * c for f, c in zip(whole, couple, strict=True)]) for sign in (1.0, -1.0)]


def _arm(joint: RubbingJoint, bodies: Sequence[Pose]) -> Vec:
    """Vector from the body's origin, about which the reaction moment is taken, to the middle of the guide, world axes."""
    if joint.sleeve is not None:
        return bodies[joint.node].rotation.out(joint.sleeve)
    if joint.closure is None:
        return ZERO
    assert joint.cut is not None
    return sub(joint.cut.pose_a.position, bodies[joint.node].position)


def _live(force: Sequence[Scalar]) -> list[Scalar]:
    return [f for f in force if not is_zero(f)]
