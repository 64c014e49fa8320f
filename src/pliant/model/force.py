"""Drives, forces and moments that act on a mechanism, and the events that a run watches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pliant.model.frame import Frame
from pliant.model.signal import Signal

EXPRESSED = ("world", "body")
DIRECTIONS = {"rising": 1, "falling": -1, "both": 0}


@dataclass(frozen=True)
class Drive:
    """A torque or force along one joint coordinate."""

    name: str
    coordinate: str  # body.coordinate
    effort: Signal  # N m or N


@dataclass(frozen=True)
class PointForce:
    """A force at a frame, with components in the axes of the world or of the frame."""

    name: str
    at: Frame
    vector: tuple[Signal, Signal, Signal]  # N
    expressed: str = "world"


@dataclass(frozen=True)
class PointMoment:
    """A moment at a frame, with components in the axes of the world or of the frame."""

    name: str
    at: Frame
    vector: tuple[Signal, Signal, Signal]  # N m
    expressed: str = "world"


@dataclass(frozen=True)
class Condition:
    """An event that is recorded when function(t, q, v) crosses zero; it ends the run if `stop`."""

    name: str
    function: Callable[..., Any]
    direction: str = "both"
    stop: bool = False
