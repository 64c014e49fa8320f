"""Coordinates of joints between two floating bodies: measured between two frames, with the directions of their efforts.

With R from a's axes to b's, r from b's origin to a's in b's axes, omega = omega_a - R^T omega_b in a's axes and u = R v_a - v_b -
omega_b x r in b's axes: a translation along s is s . r with rate s . u, a rotation about s has the rate s . omega. By virtual
power, efforts act along the same directions that define the rates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pliant.dynamics.algebra import ZERO, Scalar, Vec, add, cross, dot, product, scale, sub, transpose
from pliant.dynamics.kinematics import Pose, TreeState, twists
from pliant.dynamics.rotation import Rotation, quaternion_of, rotation_vector
from pliant.dynamics.tree import Place, Tree
from pliant.model.cut_joint import CutJoint
from pliant.model.joint import BALL, ROTATION, TRANSLATION, Motion
from pliant.scalar import atan2, cos, sin, sqrt

UNIT: tuple[Vec, Vec, Vec] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


@dataclass(frozen=True)
class Coordinate:
    """One elementary motion of a cut joint at a state."""

    motion: Motion
    label: str
    positions: tuple[Scalar, ...]  # one value, or the quaternion of a ball joint
    rates: tuple[Scalar, ...]
    pushes: tuple[Vec, ...]  # one per rate: direction of a force in b's axes, or of a moment in a's axes

    @property
    def away(self) -> tuple[Scalar, ...]:
        """The deflection of a spring: the coordinate, or the rotation vector of a ball joint."""
        return rotation_vector(self.positions) if self.motion.kind == BALL else self.positions

    @property
    def is_slide(self) -> bool:
        return self.motion.kind == TRANSLATION


@dataclass(frozen=True)
class CutJointState:
    """A cut joint at a state: its coordinates, and the data needed to apply efforts to both frames."""

    cut_joint: CutJoint
    a: Place
    b: Place
    turn: Rotation  # R
    r: Vec
    pose_a: Pose
    pose_b: Pose
    coordinates: tuple[Coordinate, ...]

    def wrenches(self, efforts: Sequence[Sequence[Scalar]]) -> tuple[tuple[Vec, Vec], tuple[Vec, Vec]]:
        """(moment, force) on a in a's axes and on b in b's axes, due to efforts along the coordinates."""
        moment, force = ZERO, ZERO  # in a's axes, in b's axes
        for coordinate, along in zip(self.coordinates, efforts, strict=True):
            for effort, push in zip(along, coordinate.pushes, strict=True):
                if coordinate.is_slide:
                    force = add(force, scale(effort, push))
                else:
                    moment = add(moment, scale(effort, push))
        back = add(self.turn.out(moment), cross(self.r, force))
        return (moment, self.turn.into(force)), (scale(-1.0, back), scale(-1.0, force))


def cut_joint_state(state: TreeState, cut_joint: CutJoint) -> CutJointState:
    """A cut joint at a state."""
    a, b = state.tree.place(cut_joint.a), state.tree.place(cut_joint.b)
    pose_a, pose_b = (state.pose(place) for place in (a, b))
    twist_a, twist_b = (state.twist(place) for place in (a, b))
    turn = _between(pose_b.rotation, pose_a.rotation)
    r = pose_b.rotation.into(sub(pose_a.position, pose_b.position))
    omega = sub(twist_a.omega, turn.into(twist_b.omega))
    velocity = sub(turn.out(twist_a.velocity), add(twist_b.velocity, cross(twist_b.omega, r)))
    angles = _angles(cut_joint, turn)
    coordinates, first = [], 0
    for motion in cut_joint.joint.motions:
        label = f"{cut_joint.name}.{motion.name}"
        if motion.kind == TRANSLATION:
            coordinate = Coordinate(motion, label, (dot(motion.axis, r),), (dot(motion.axis, velocity),), (motion.axis,))
        elif motion.kind == BALL:
            coordinate = Coordinate(motion, label, quaternion_of(turn), tuple(omega), UNIT)
        else:
            angle, push = angles[motion.name]
            near = _near(angle, cut_joint.start[first], turn)
            coordinate = Coordinate(motion, label, (near,), (dot(push, omega),), (push,))
        coordinates.append(coordinate)
        first += len(motion.positions)
    return CutJointState(cut_joint, a, b, turn, r, pose_a, pose_b, tuple(coordinates))


def joint_position(tree: Tree, label: str, q: Sequence[Scalar], bodies: Sequence[Pose]) -> JointPosition:
    """A joint coordinate measured between two frames."""
    cut_joint = next(joint for joint in tree.cut_joints if label in joint.positions)
    number = cut_joint.positions.index(label)
    still = [0.0] * len(tree.rates)
    state = cut_joint_state(TreeState(tree, q, still, bodies, twists(tree, q, still)), cut_joint)
    read = [(x, coordinate.motion.kind == ROTATION) for coordinate in state.coordinates for x in coordinate.positions]
    return JointPosition(*read[number], cut_joint.start[number], counted=state.turn.index is not None)


@dataclass(frozen=True)
class JointPosition:
    x: Scalar
    turns: bool  # whether it is an angle
    start: float
    counted: bool = True  # whether full turns are counted

    def beyond(self, prescribed: Scalar) -> Scalar:
        """Deviation from the prescribed value; for an angle whose full turns are not counted, within half a turn."""
        away = self.x - prescribed
        return away if self.counted or not self.turns else atan2(sin(away), cos(away))


def _between(b: Rotation, a: Rotation) -> Rotation:
    """Rotation from a's axes to b's; about a common coordinate axis angles are subtracted, so that full turns are kept."""
    if b.index is not None and b.index == a.index:
        return Rotation(a.index, a.angle - b.angle)
    return Rotation(None, 0.0, product(transpose(b.matrix), a.matrix))


def _angles(cut_joint: CutJoint, turn: Rotation) -> dict[str, tuple[Scalar, Vec]]:
    """Angle and effort direction (in a's axes) of each rotation; for two rotations the directions are dual to the axes."""
    turns = [motion for motion in cut_joint.joint.motions if motion.kind == ROTATION]
    if len(turns) == 2:
        return _two_angles(turns[0], turns[1], turn)
    return {motion.name: (_angle_about(motion.axis, turn), motion.axis) for motion in turns}


def _angle_about(axis: Vec, turn: Rotation) -> Scalar:
    if turn.index is not None and abs(axis[turn.index]) == 1.0:
        return axis[turn.index] * turn.angle
    across = _across(axis)
    seen = turn.out(across)
    return atan2(dot(cross(axis, across), seen), dot(across, seen))


def _across(axis: Vec) -> Vec:
    """A unit vector normal to a constant axis."""
    least = min(range(3), key=lambda k: abs(axis[k]))
    aside = cross(axis, UNIT[least])
    return scale(1.0 / sqrt(dot(aside, aside)), aside)


def _two_angles(first: Motion, second: Motion, turn: Rotation) -> dict[str, tuple[Scalar, Vec]]:
    """R = exp(th1 s1) exp(th2 s2): R s2 turns about s1 by th1, R^T s1 about s2 by -th2; s1 . R s2 is constant."""
    s1, s2 = first.axis, second.axis
    lean = dot(s1, s2)
    seen2, seen1 = turn.out(s2), turn.into(s1)
    u1, u2 = sub(s2, scale(lean, s1)), sub(s1, scale(lean, s2))
    angle1 = atan2(dot(cross(s1, u1), seen2), dot(u1, seen2))
    angle2 = -atan2(dot(cross(s2, u2), seen1), dot(u2, seen1))
    share = 1.0 / (1.0 - lean * lean)
    return {
        first.name: (angle1, scale(share, sub(seen1, scale(lean, s2)))),
        second.name: (angle2, scale(share, sub(s2, scale(lean, seen1)))),
    }


def _near(angle: Scalar, start: float, turn: Rotation) -> Scalar:
    """The angle within half a turn of its start; a difference of angles already includes full turns."""
    if turn.index is not None:
        return angle
    return start + atan2(sin(angle - start), cos(angle - start))
