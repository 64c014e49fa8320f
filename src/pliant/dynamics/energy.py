"""Energies (kinetic, gravity, springs), and linear and angular momentum."""

from __future__ import annotations

from collections.abc import Sequence

from pliant.dynamics.algebra import ZERO, Scalar, Vec, add, cross, dot, scale, total
from pliant.dynamics.cut_joint import CutJointState
from pliant.dynamics.kinematics import Pose, Twist
from pliant.dynamics.loads import ball_turn, sleeve_stop
from pliant.dynamics.tree import Tree
from pliant.model.play import Limits
from pliant.scalar import where


def kinetic_energy(tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar], moving: Sequence[Twist]) -> Scalar:
    """Kinetic energy of the bodies and of the rotors of motors."""
    bodies = total(
        node.shape(q, v).kinetic_energy(twist.omega, twist.velocity) for node, twist in zip(tree.nodes, moving, strict=True)
    )
    return bodies + rotor_energy(tree, v)


def rotor_energy(tree: Tree, v: Sequence[Scalar]) -> Scalar:
    """Kinetic energy of rotors that turn with their coordinates: 1/2 n^2 J v^2."""
    return total(0.5 * rotor * v[number] * v[number] for number, rotor in tree.rotors.items())


def gravity_energy(tree: Tree, q: Sequence[Scalar], bodies: Sequence[Pose]) -> Scalar:
    """-sum m g . r of the mass centres."""
    still = [0.0] * len(tree.rates)
    return total(
        -dot(tree.gravity, add(scale(node.body.mass, pose.position), pose.rotation.out(node.shape(q, still).moment)))
        for node, pose in zip(tree.nodes, bodies, strict=True)
    )


def strain_energy(tree: Tree, q: Sequence[Scalar]) -> Scalar:
    return total(node.body.strain_energy([q[k] for k in node.own_q]) for node in tree.nodes)


def spring_energy(tree: Tree, q: Sequence[Scalar]) -> Scalar:
    """Energy stored in joint springs and end stops."""
    energy: Scalar = 0.0
    for node in tree.nodes:
        sleeve = sleeve_stop(node)
        if sleeve is not None:
            energy = energy + _stop_energy(sleeve, q[node.own_q[0]])
        for slot in node.slots:
            spring = node.link.joint.springs.get(slot.motion.name)
            stop = node.link.joint.stops.get(slot.motion.name)
            if spring is not None:
                away = ball_turn(slot, q) if slot.is_ball else (q[slot.q] - spring.rest,)
                energy = energy + 0.5 * spring.stiffness * total(x * x for x in away)
            if stop is not None:
                energy = energy + _stop_energy(stop, q[slot.q])
    return energy


def cut_joint_energy(cut_joints: Sequence[CutJointState]) -> Scalar:
    """Energy stored in springs and end stops of joints outside the tree."""
    energy: Scalar = 0.0
    for cut in cut_joints:
        joint = cut.cut_joint.joint
        for coordinate in cut.coordinates:
            spring, stop = joint.springs.get(coordinate.motion.name), joint.stops.get(coordinate.motion.name)
            if spring is not None:
                energy = energy + 0.5 * spring.stiffness * total((x - spring.rest) ** 2 for x in coordinate.away)
            if stop is not None:
                energy = energy + _stop_energy(stop, coordinate.positions[0])
    return energy


def _stop_energy(stop: Limits, x: Scalar) -> Scalar:
    depths = (x - stop.high, stop.low - x)
    assert stop.stiffness is not None  # a stop without a contact law has one
    return total(where(depth > 0.0, 0.5 * stop.stiffness * depth * depth, 0.0) for depth in depths)


def momenta(
    tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar], bodies: Sequence[Pose], moving: Sequence[Twist]
) -> tuple[Vec, Vec]:
    """Linear momentum, and angular momentum about the world's origin, in world axes."""
    momentum, angular = ZERO, ZERO
    for node, pose, twist in zip(tree.nodes, bodies, moving, strict=True):
        turning, linear = node.shape(q, v).momentum(twist.omega, twist.velocity)
        carried = pose.rotation.out(linear)
        momentum = add(momentum, carried)
        angular = add(angular, add(pose.rotation.out(turning), cross(pose.position, carried)))
    return momentum, angular
