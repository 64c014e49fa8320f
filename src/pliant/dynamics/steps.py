"""Steps from one body's frame to the next, from which joints and deformed places are composed.

A step maps the motion of the frame before it to that of the frame after it. With omega, the angular acceleration alpha and the
origin's acceleration a in the axes of the current frame:
    Bend   omega += J psi'            alpha += J psi'' + bias        a += alpha x r + r'' + bias
    Shift  omega                      alpha                          a += alpha x r + s q'' + bias
    Turn   omega = R^T omega + s q'   alpha = R^T alpha + s q'' + bias    a = R^T a
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pliant.dynamics.algebra import ZERO, Scalar, Vec, add, cross, scale, vanishes
from pliant.dynamics.body import FieldWeights, combine
from pliant.dynamics.rotation import NO_TURN, FirstOrderTurn, Rotation, SmallTurn, about, from_quaternion
from pliant.dynamics.tree import Node, Place, Slot
from pliant.model.joint import TRANSLATION


@dataclass(frozen=True)
class Column:
    """One free direction of a step: its index in v, and its constant axis in the frame after the step."""

    v: int
    axis: Vec
    angular: bool
    prescribed: bool = False


@dataclass(frozen=True)
class Bend:
    """From a body's frame to a place displaced by the body's fields, still in the body's axes."""

    r: Vec
    own: range  # the body's own coordinates in v
    displacement: tuple[Vec, ...]  # dr/dz, one per coordinate
    rotation: tuple[Vec, ...]  # J dpsi/dz, tangent exact
    drift: Vec  # r'
    drift_bias: Vec  # r'' with z'' = 0
    spin: Vec  # J psi'
    spin_bias: Vec  # (J psi')' with z'' = 0


@dataclass(frozen=True)
class Shift:
    r: Vec
    column: Column | None = None


@dataclass(frozen=True)
class Turn:
    rotation: Rotation
    columns: tuple[Column, ...] = ()


Step = Bend | Shift | Turn


def bend(place: Place, own: range, weights: FieldWeights) -> tuple[Bend, Rotation]:
    """The position of a place after displacement by the fields, and the rotation of its frame."""
    psi_rate, psi_bias = combine(weights.rate, place.rotation), combine(weights.bias, place.rotation)
    turn = (FirstOrderTurn if place.first_order else SmallTurn)(combine(weights.position, place.rotation))
    step = Bend(
        r=combine(weights.position, place.displacement),
        own=own,
        displacement=tuple(combine(column, place.displacement) for column in weights.columns),
        rotation=tuple(turn.tangent(combine(column, place.rotation)) for column in weights.columns),
        drift=combine(weights.rate, place.displacement),
        drift_bias=combine(weights.bias, place.displacement),
        spin=turn.tangent(psi_rate),
        spin_bias=add(turn.tangent_bias(psi_rate), turn.tangent(psi_bias)),
    )
    return step, turn.rotation


def steps_to_place(place: Place, parent: Node | None, q: Sequence[Scalar], v: Sequence[Scalar]) -> tuple[list[Step], Rotation]:
    """Steps from the parent body's frame to a place on it, except a last rotation that the caller may merge."""
    steps: list[Step] = []
    turn = NO_TURN
    if parent is not None and place.displacement:
        step, turn = bend(place, parent.own_v, parent.body.field_weights(*parent.own(q, v)))
        steps.append(step)
    if not vanishes(place.offset):
        turn = _flush(steps, turn)
        steps.append(Shift(place.offset))
    for axis, angle in place.turns:
        turn = turn.then(about(axis, angle))
    return steps, turn


def steps_to_body(node: Node, parent: Node | None, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Step]:
    """All steps from the parent body's frame to this body's frame; neighbouring rotations are merged."""
    steps, turn = steps_to_place(node.place, parent, q, v)
    for slot in node.slots:
        if slot.motion.kind == TRANSLATION:
            turn = _flush(steps, turn)
            steps.append(Shift(scale(q[slot.q], slot.motion.axis), _columns(slot)[0]))
        else:
            steps.append(Turn(turn.then(_slot_rotation(slot, q)), _columns(slot)))
            turn = NO_TURN
    _flush(steps, turn)
    return steps


def velocity_after(step: Step, omega: Vec, v: Sequence[Scalar]) -> Vec:
    """Angular velocity after a step."""
    if isinstance(step, Bend):
        return add(omega, step.spin)
    if isinstance(step, Shift):
        return omega
    omega = step.rotation.into(omega)
    return add(omega, relative_spin(step, v))


def bias_after(step: Step, before: Vec, after: Vec, v: Sequence[Scalar]) -> tuple[Vec, Vec]:
    """(alpha, a) added by a step at zero coordinate accelerations: centrifugal, Coriolis and tangent bias terms."""
    if isinstance(step, Turn):
        return cross(after, relative_spin(step, v)), ZERO
    central = cross(before, cross(before, step.r))
    if isinstance(step, Shift):
        slide = ZERO if step.column is None else scale(v[step.column.v], step.column.axis)
        return ZERO, add(central, scale(2.0, cross(before, slide)))
    carried = add(scale(2.0, cross(before, step.drift)), step.drift_bias)
    return add(step.spin_bias, cross(before, step.spin)), add(central, carried)


def relative_spin(step: Turn, v: Sequence[Scalar]) -> Vec:
    spin = ZERO
    for column in step.columns:
        spin = add(spin, scale(v[column.v], column.axis))
    return spin


def _slot_rotation(slot: Slot, q: Sequence[Scalar]) -> Rotation:
    if slot.is_ball:
        return from_quaternion([q[slot.q + k] for k in range(4)])
    return about(slot.motion.axis, q[slot.q])


def _columns(slot: Slot) -> tuple[Column, ...]:
    if slot.is_ball:
        axes: list[Vec] = [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)]
        return tuple(Column(slot.v + k, axis, angular=True) for k, axis in enumerate(axes))
    angular = slot.motion.kind != TRANSLATION
    return (Column(slot.v, slot.motion.axis, angular, slot.prescribed is not None),)


def _flush(steps: list[Step], turn: Rotation) -> Rotation:
    if not turn.is_identity:
        steps.append(Turn(turn))
    return NO_TURN
