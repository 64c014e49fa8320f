"""The observed quantities of a state as traced scalars, by their names in a result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pliant.codegen.tracer import Scalar
from pliant.dynamics.algebra import ZERO, Vec, sub, total
from pliant.dynamics.body import combine
from pliant.dynamics.contact import ContactForce
from pliant.dynamics.cut_joint import CutJointState
from pliant.dynamics.energy import (
    cut_joint_energy,
    gravity_energy,
    kinetic_energy,
    momenta,
    spring_energy,
    strain_energy,
)
from pliant.dynamics.gibbs_appell import Wrench
from pliant.dynamics.kinematics import TreeState
from pliant.dynamics.motors import MotorState
from pliant.dynamics.rotation import quaternion_of
from pliant.dynamics.struts import StrutForce, strut_energy
from pliant.dynamics.tree import Node, Place
from pliant.model.system import System
from pliant.trace.closures import Closures


@dataclass(frozen=True)
class TracedState:
    """A System at one traced state."""

    system: System
    here: TreeState
    cut_joints: Sequence[CutJointState]
    struts: Sequence[StrutForce]
    motors: Sequence[MotorState]


def observe(
    state: TracedState,
    accelerations: Sequence[Scalar],
    power: Mapping[str, Scalar],
    efforts: Sequence[Scalar],
    contacts: Sequence[ContactForce],
    multipliers: Sequence[Scalar],
    closures: Closures,
    friction: Mapping[str, list[Scalar]],
    inboard: Sequence[Wrench],
    readings: Sequence[Scalar],
    met: Scalar = 0.0,
) -> dict[str, list[Scalar]]:
    """The scalars of every observed quantity of the results' table.

    friction: quantities of joints with friction. inboard: wrenches of the inboard joints. readings: of sensors.
    met: energy stored by near pairs of a group.
    """
    here = state.here
    tree, q, v, bodies, moving = here.tree, here.q, here.v, here.bodies, here.moving
    momentum, angular = momenta(tree, q, v, bodies, moving)
    observed: dict[str, list[Scalar]] = {
        "a": list(accelerations),
        "root_position": [x for pose in bodies for x in pose.position],
        "orientation": [x for pose in bodies for x in quaternion_of(pose.rotation)],
        "kinetic": [kinetic_energy(tree, q, v, moving) + total(motor.kinetic for motor in state.motors)],
        "gravity": [gravity_energy(tree, q, bodies)],
        "strain": [strain_energy(tree, q)],
        "spring": [
            spring_energy(tree, q)
            + cut_joint_energy(state.cut_joints)
            + closures.stored
            + strut_energy(state.struts)
            + total(motor.stored for motor in state.motors)
        ],
        "contact": [total(contact.stored for contact in contacts) + met],
        "power": list(power.values()),
        "momentum": list(momentum),
        "angular_momentum": list(angular),
        "gap": [contact.kinematics.gap for contact in contacts],
        "closing_speed": [contact.kinematics.closing for contact in contacts],
        "normal_force": [contact.pressing for contact in contacts],
        "friction_force": [x for contact in contacts for x in contact.friction_vector],
        "contact_point": [x for contact in contacts for x in contact.kinematics.point],
        "contact_normal": [x for contact in contacts for x in contact.kinematics.normal],
        "multiplier": [*closures.shared(multipliers), *closures.spring_forces],
        "constraint": closures.every.residual + closures.soft.residual,
        "effort": list(efforts),
        "joint_q": [x for cut in state.cut_joints for coordinate in cut.coordinates for x in coordinate.positions],
        "joint_v": [x for cut in state.cut_joints for coordinate in cut.coordinates for x in coordinate.rates],
        "strut_length": [strut.state.length for strut in state.struts],
        "strut_rate": [strut.state.rate for strut in state.struts],
        "motor_speed": [motor.speed for motor in state.motors],
        "motor_torque": [motor.torque for motor in state.motors],
        "sensor": list(readings),
        "strut_force": [strut.force for strut in state.struts],
        "tip_position": [],
        "tip_velocity": [],
        "tip_deflection": [],
        "reaction_force": [],
        "reaction_moment": [],
        **friction,
    }
    for moment, force in inboard:
        observed["reaction_moment"] += moment
        observed["reaction_force"] += force
    for node in tree.nodes:
        pose, twist = here.pose(node.tip), here.twist(node.tip)
        observed["tip_position"] += pose.position
        observed["tip_velocity"] += pose.rotation.out(twist.velocity)
        observed["tip_deflection"] += _deflection(state, node, node.tip)
    return observed


def _deflection(state: TracedState, node: Node, place: Place) -> Vec:
    """Displacement of a place by the deformation fields from its position with all the body's modes at zero, in body axes."""
    if not place.displacement:
        return ZERO
    z, _ = node.own(state.here.q, state.here.v)
    straight = [x if name not in node.link.mode_labels else 0.0
                for x, name in zip(z, node.link.own_labels, strict=True)]  # fmt: skip
    still = [0.0] * len(z)
    bent, rest = (combine(node.body.field_weights(x, still).position, place.displacement) for x in (z, straight))
    return sub(bent, rest)
