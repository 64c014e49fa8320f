"""Positions and velocities of all bodies and places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pliant.dynamics.algebra import ZERO, Scalar, Vec, add, cross, scale
from pliant.dynamics.rotation import NO_TURN, Rotation
from pliant.dynamics.steps import Bend, Shift, Step, Turn, relative_spin, steps_to_body, steps_to_place
from pliant.dynamics.tree import ROOT, Node, Place, Tree


@dataclass(frozen=True)
class Pose:
    """A frame in space: its origin in world axes, and its rotation to world axes."""

    position: Vec
    rotation: Rotation


@dataclass(frozen=True)
class Twist:
    """Velocity of a frame, in its own axes."""

    omega: Vec
    velocity: Vec


GROUND_POSE = Pose(ZERO, NO_TURN)
GROUND_TWIST = Twist(ZERO, ZERO)


def poses(tree: Tree, q: Sequence[Scalar]) -> list[Pose]:
    """The frame of every body."""
    still = [0.0] * len(tree.rates)
    found: list[Pose] = []
    for node in tree.nodes:
        before = GROUND_POSE if node.parent == ROOT else found[node.parent]
        found.append(_pose_along(steps_to_body(node, _parent(tree, node), q, still), before))
    return found


def twists(tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Twist]:
    found: list[Twist] = []
    for node in tree.nodes:
        before = GROUND_TWIST if node.parent == ROOT else found[node.parent]
        found.append(_twist_along(steps_to_body(node, _parent(tree, node), q, v), before, v))
    return found


def place_pose(tree: Tree, place: Place, bodies: Sequence[Pose], q: Sequence[Scalar]) -> Pose:
    """A place on a body (or the ground), given the poses of the bodies."""
    steps = _steps_to(tree, place, q, [0.0] * len(tree.rates))
    return _pose_along(steps, GROUND_POSE if place.node == ROOT else bodies[place.node])


def place_twist(tree: Tree, place: Place, bodies: Sequence[Twist], q: Sequence[Scalar], v: Sequence[Scalar]) -> Twist:
    steps = _steps_to(tree, place, q, v)
    return _twist_along(steps, GROUND_TWIST if place.node == ROOT else bodies[place.node], v)


@dataclass(frozen=True)
class TreeState:
    """A tree at coordinates q and rates v, with the poses and twists of its bodies."""

    tree: Tree
    q: Sequence[Scalar]
    v: Sequence[Scalar]
    bodies: Sequence[Pose]
    moving: Sequence[Twist]

    @classmethod
    def of(cls, tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar]) -> TreeState:
        return cls(tree, q, v, poses(tree, q), twists(tree, q, v))

    def pose(self, place: Place) -> Pose:
        return place_pose(self.tree, place, self.bodies, self.q)

    def twist(self, place: Place) -> Twist:
        return place_twist(self.tree, place, self.moving, self.q, self.v)

    def velocity(self, place: Place, pose: Pose) -> Vec:
        """Velocity of a place's origin, in world axes."""
        return ZERO if place.node == ROOT else pose.rotation.out(self.twist(place).velocity)


def _steps_to(tree: Tree, place: Place, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Step]:
    parent = None if place.node == ROOT else tree.nodes[place.node]
    steps, turn = steps_to_place(place, parent, q, v)
    return [*steps, Turn(turn)]


def _pose_along(steps: Sequence[Step], pose: Pose) -> Pose:
    position, rotation = pose.position, pose.rotation
    for step in steps:
        if isinstance(step, Turn):
            rotation = rotation.then(step.rotation)
        else:
            position = add(position, rotation.out(step.r))
    return Pose(position, rotation)


def _twist_along(steps: Sequence[Step], twist: Twist, v: Sequence[Scalar]) -> Twist:
    omega, velocity = twist.omega, twist.velocity
    for step in steps:
        if isinstance(step, Turn):
            omega = add(step.rotation.into(omega), relative_spin(step, v))
            velocity = step.rotation.into(velocity)
            continue
        velocity = add(velocity, cross(omega, step.r))
        if isinstance(step, Bend):
            omega, velocity = add(omega, step.spin), add(velocity, step.drift)
        elif isinstance(step, Shift) and step.column is not None:
            velocity = add(velocity, scale(v[step.column.v], step.column.axis))
    return Twist(omega, velocity)


def _parent(tree: Tree, node: Node) -> Node | None:
    return None if node.parent == ROOT else tree.nodes[node.parent]
