"""Positions and motions of frames for formulas: q.position(arm.tip), q.distance(a, b), q.angle(a, b)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from pliant.codegen.tracer import Scalar
from pliant.dynamics.algebra import Vec, add, cross, dot, sub
from pliant.dynamics.kinematics import Pose, Twist, place_pose, place_twist, poses, twists
from pliant.dynamics.rotation import Rotation
from pliant.dynamics.tree import Place, Tree
from pliant.errors import ModelError
from pliant.model import check
from pliant.model.frame import GROUND, Frame
from pliant.model.resolve import resolved
from pliant.model.system import System
from pliant.scalar import atan2, sqrt


def frame_of(system: System, place: Any, values: Mapping[str, float], part: str = "formula") -> Frame:
    """The Frame of a frame or its name ("arm.tip", "arm@0.3" with the station in m, "ground"), at these parameter values."""
    if isinstance(place, str):
        place = _named(system, place, part)
    check.instance(part, "frame", place, Frame, "a frame such as arm.tip, or its name")
    frame: Frame = resolved(place, values)
    if frame.body != GROUND and frame.body not in system.links:
        known = [GROUND, *system.links]
        rule = f"must be attached to one of the bodies {known}{check.did_you_mean(frame.body, known)}"
        raise ModelError.of(part, "frame", rule, frame.body)
    return frame


def _named(system: System, text: str, part: str) -> Frame:
    if text == GROUND:
        return system.ground
    cut = min((text.index(mark) for mark in ".@" if mark in text), default=-1)
    if cut < 1 or cut == len(text) - 1:
        raise ModelError.of(part, "frame", "must be ground, body.tip, body.root, body.frame or body@station", text)
    body, at = system.handle(text[:cut]), text[cut + 1 :]
    if text[cut] == ".":
        return body.at(at)
    try:
        return body.at(float(at))
    except ValueError as trouble:
        raise ModelError.of(part, "frame", f"must have a station in m after the @ ({trouble})", text) from None


class World:
    """A System at a traced state, seen through its frames; vectors are in the world's axes unless another frame is given."""

    def __init__(
        self,
        system: System,
        values: Mapping[str, float],
        tree: Tree,
        q: Sequence[Scalar],
        v: Sequence[Scalar],
        part: str,
        shared: bool,
        bodies: Sequence[Pose] | None = None,
        moving: Sequence[Twist] | None = None,
    ) -> None:
        """system: with plain numbers; values: of parameters that define frames; part: the formula's owner.

        shared: whether the equations are to serve other numbers too. bodies, moving: poses and twists, if not those of q and v.
        """
        self._system, self._values, self._tree, self._q, self._v = system, values, tree, q, v
        self._part, self._shared = part, shared
        self._given_bodies, self._given_moving = bodies, moving

    @cached_property
    def _bodies(self) -> list[Pose]:
        return poses(self._tree, self._q) if self._given_bodies is None else list(self._given_bodies)

    @cached_property
    def _moving(self) -> list[Twist]:
        return twists(self._tree, self._q, self._v) if self._given_moving is None else list(self._given_moving)

    def _place(self, place: Any) -> Place:
        frame = frame_of(self._system, place, self._values, self._part)
        if self._shared and frame not in self._tree.places:  # the code would keep the frame's numbers of this System
            raise ModelError.of(self._part, "frame", "must be read every time the formula is called", place)
        return self._tree.place(frame)

    def _pose(self, place: Any) -> Pose:
        at = self._place(place)
        return place_pose(self._tree, at, self._bodies, self._q)

    def _twist(self, place: Any) -> Twist:
        at = self._place(place)
        return place_twist(self._tree, at, self._moving, self._q, self._v)

    def position(self, frame: Any, seen_from: Any = GROUND) -> Vec:
        """Position of the origin of a frame, m, relative to that of another frame and in its axes."""
        base = self._pose(seen_from)
        return base.rotation.into(sub(self._pose(frame).position, base.position))

    def velocity(self, frame: Any, seen_from: Any = GROUND) -> Vec:
        """The rate of `position`, m/s."""
        base, moving, turn = self._pose(seen_from), self._twist(frame), self._pose(frame).rotation
        spin = self._twist(seen_from)
        away = self.position(frame, seen_from)
        return sub(base.rotation.into(turn.out(moving.velocity)), add(spin.velocity, cross(spin.omega, away)))

    def distance(self, a: Any, b: Any) -> Scalar:
        """Distance between the origins of two frames, m."""
        apart = sub(self._pose(a).position, self._pose(b).position)
        return sqrt(dot(apart, apart))

    def distance_rate(self, a: Any, b: Any) -> Scalar:
        """The rate of `distance`, m/s."""
        apart = sub(self._pose(a).position, self._pose(b).position)
        parting = sub(self._pose(a).rotation.out(self._twist(a).velocity), self._pose(b).rotation.out(self._twist(b).velocity))
        return dot(apart, parting) / sqrt(dot(apart, apart))

    def angle(self, a: Any, b: Any = GROUND, axis: Any = "z") -> Scalar:
        """Rotation of frame a relative to frame b about an axis of b, rad; whole turns count if all rotations share one axis."""
        return self._turned(a, b, axis)[0]

    def angle_rate(self, a: Any, b: Any = GROUND, axis: Any = "z") -> Scalar:
        """The rate of `angle`, rad/s."""
        return self._turned(a, b, axis)[1]

    def _turned(self, a: Any, b: Any, axis: Any) -> tuple[Scalar, Scalar]:
        """(angle, rate) of a direction across the axis and fixed in a, seen in b; about z it is the x axis of a."""
        about, first, second = _triad(check.axis(self._part, "axis", axis))
        turn_a, turn_b = self._pose(a).rotation, self._pose(b).rotation
        omega = sub(turn_b.into(turn_a.out(self._twist(a).omega)), self._twist(b).omega)  # of a against b, in the axes of b
        own, other = _angle_about(turn_a, about), _angle_about(turn_b, about)
        if own is not None and other is not None:
            return own - other, dot(about, omega)
        arm = turn_b.into(turn_a.out(first))
        moving = cross(omega, arm)
        x, y, dx, dy = dot(first, arm), dot(second, arm), dot(first, moving), dot(second, moving)
        return atan2(y, x), (x * dy - y * dx) / (x * x + y * y)


METHODS = ("position", "velocity", "distance", "distance_rate", "angle", "angle_rate")


def _angle_about(turn: Rotation, about: Vec) -> Scalar | None:
    """The angle of a rotation about one of the world's axes, with whole turns counted; None for any other rotation."""
    if turn.is_identity:
        return 0.0
    return about[turn.index] * turn.angle if turn.index is not None and abs(about[turn.index]) == 1.0 else None


def _triad(about: Vec) -> tuple[Vec, Vec, Vec]:
    """A right-handed triad of an axis and two directions across it; for z these are x and y."""
    most = max(range(3), key=lambda k: abs(about[k]))
    across = tuple(float(k == (most + 2) % 3) for k in range(3))
    first = cross(across, about)  # type: ignore[arg-type]
    size = sqrt(dot(first, first))
    first = tuple(x / size for x in first)
    return about, first, cross(about, first)
