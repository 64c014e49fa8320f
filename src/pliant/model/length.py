"""The free length of a body."""

from __future__ import annotations

from dataclasses import dataclass

from pliant.model.joint_friction import JointFriction
from pliant.model.play import Limits
from pliant.model.signal import PrescribedMotion


@dataclass(frozen=True)
class Length:
    """The free length of a body: a coordinate that is not a mode, and along which a drive may act."""

    start: float  # m
    rate: float  # m/s, at the start
    motion: PrescribedMotion | None = None  # prescribed
    stop: Limits | None = None  # a spring at the end of its travel
    friction: JointFriction | None = None  # pressed by the sleeve's reaction
