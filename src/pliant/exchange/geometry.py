"""Poses and inertias as robot files give them, in plain numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from pliant.arrays import Floats
from pliant.model.frame import Frame

IDENTITY = (1.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Pose:
    """A frame seen from another: its origin, m, and its orientation as a unit quaternion (w, x, y, z)."""

    origin: tuple[float, ...] = (0.0, 0.0, 0.0)
    turn: tuple[float, ...] = IDENTITY

    @classmethod
    def of_rpy(cls, origin: tuple[float, ...], rpy: tuple[float, ...]) -> Self:
        """Roll, pitch and yaw about fixed axes, rad, as in URDF: R = Rz(yaw) Ry(pitch) Rx(roll)."""
        turns = [cls.about(axis, angle) for axis, angle in zip(np.eye(3)[::-1], rpy[::-1], strict=True)]
        return cls(origin, (turns[0] @ turns[1] @ turns[2]).turn)

    @classmethod
    def about(cls, axis: Floats, angle: float) -> Self:
        """A turn about a unit axis, rad."""
        x, y, z = (float(a) * math.sin(0.5 * angle) for a in axis)
        return cls(turn=(math.cos(0.5 * angle), x, y, z))

    @classmethod
    def onto(cls, start: int, direction: Floats) -> Self:
        """The least turn that takes the axis of this number (0 is x) onto a unit vector."""
        other = np.eye(3)[start]
        cosine, normal = float(other @ direction), np.cross(other, direction)
        size = float(np.linalg.norm(normal))
        return cls.about(normal / size if size > 0.0 else np.eye(3)[(start + 1) % 3], math.atan2(size, cosine))

    @property
    def matrix(self) -> Floats:
        """Its rotation matrix."""
        w, x, y, z = self.turn
        across = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
        return np.asarray(np.eye(3) + 2.0 * (w * across + across @ across))

    def out(self, point: Sequence[float] | Floats) -> Floats:
        """A point of the frame, seen from outside."""
        return np.asarray(self.origin + self.matrix @ np.asarray(point))

    def __matmul__(self, other: Pose) -> Pose:
        (a, *u), (b, *v) = self.turn, other.turn
        first, second = np.array(u), np.array(v)
        turn = np.array([a * b - first @ second, *(a * second + b * first + np.cross(first, second))])
        return Pose(tuple(map(float, self.out(other.origin))), tuple(map(float, turn / np.linalg.norm(turn))))

    @property
    def inverse(self) -> Pose:
        w, x, y, z = self.turn
        back = Pose(turn=(w, -x, -y, -z))
        return Pose(tuple(float(a) for a in -back.out(self.origin)), back.turn)

    def on(self, frame: Frame) -> Frame:
        """A frame of a body, moved and turned by this pose."""
        moved = frame.moved(self.origin) if any(self.origin) else frame
        w, *vector = self.turn
        size = math.hypot(*vector)
        return moved if size == 0.0 else moved.turned(2.0 * math.atan2(size, w), tuple(a / size for a in vector))


HERE = Pose()


@dataclass(frozen=True)
class Inertial:
    """Mass, mass centre, and inertia about the mass centre, in the axes of a link."""

    mass: float  # kg
    com: Floats  # m
    inertia: Floats  # kg m^2

    @classmethod
    def of_second_moments(cls, moments: Floats) -> Self:
        """From int (r, 1) (r, 1)^T dm."""
        mass = float(moments[3, 3])
        com = moments[:3, 3] / mass if mass > 0.0 else np.zeros(3)
        central = moments[:3, :3] - mass * np.outer(com, com)
        return cls(mass, com, np.trace(central) * np.eye(3) - 0.5 * (central + central.T))

    @property
    def rows(self) -> tuple[tuple[float, ...], ...]:
        """Of its inertia."""
        return tuple(tuple(map(float, row)) for row in self.inertia)

    @property
    def second_moments(self) -> Floats:
        """int (r, 1) (r, 1)^T dm: a linear map of the distribution of mass, positive semidefinite if masses are."""
        central = 0.5 * np.trace(self.inertia) * np.eye(3) - self.inertia
        point = np.array([*self.com, 1.0])
        moments = self.mass * np.outer(point, point)
        moments[:3, :3] += central
        return moments

    @property
    def possible(self) -> Inertial:
        """The nearest inertia that a body can have: no principal second moment of its mass about its centre is negative."""
        values, vectors = np.linalg.eigh(0.5 * np.trace(self.inertia) * np.eye(3) - self.inertia)
        central = vectors @ np.diag(np.maximum(values, 0.0)) @ vectors.T
        return Inertial(self.mass, self.com, np.trace(central) * np.eye(3) - 0.5 * (central + central.T))

    def seen_from(self, pose: Pose) -> Inertial:
        """The same mass in the axes of a frame that has this pose in the link."""
        back = pose.inverse
        turned = back.matrix @ self.inertia @ back.matrix.T
        return Inertial(self.mass, back.out(self.com), 0.5 * (turned + turned.T))
