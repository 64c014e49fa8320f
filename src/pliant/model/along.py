"""Shapes that touch along a line: the axis of a beam as it bends, and a straight edge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from pliant.errors import ModelError
from pliant.model import check
from pliant.model.check import Axis
from pliant.model.frame import GROUND, Frame

MOST_TOUCHES = 8


class Rooted(Protocol):
    """A body, as returned by `system.add`."""

    @property
    def root(self) -> Frame: ...


@dataclass(frozen=True)
class Along:
    """The surface of a beam all along its deformed axis: round, with round ends, touched where it comes nearest.

    at: the beam, as returned by `system.add`, or a rigid body, which is straight from its root to its tip.
    """

    at: Frame
    radius: float  # m, around the axis
    touches: int = 1  # nearly equal pieces of the beam, each touched on its own where it comes nearest

    if TYPE_CHECKING:  # what is given may be the body; what is kept is its root

        def __init__(self, at: Frame | Rooted, radius: float, touches: int = 1) -> None: ...

    def __post_init__(self) -> None:
        root: Any = getattr(self.at, "root", self.at)
        check.instance("Along", "at", root, Frame, "a body, as returned by system.add")
        if root.body == GROUND:
            raise ModelError.of("Along", "at", "must be a beam or a rigid body, which has an axis", GROUND)
        object.__setattr__(self, "at", root)
        object.__setattr__(self, "radius", check.positive("Along", "radius", self.radius, "m"))
        object.__setattr__(self, "touches", check.count("Along", "touches", self.touches, MOST_TOUCHES))


@dataclass(frozen=True)
class Edge:
    """A sharp straight edge, from the origin of a frame along `axis`, which beams can touch along their length."""

    at: Frame
    length: float  # m
    axis: Axis = "x"

    def __post_init__(self) -> None:
        check.instance("Edge", "at", self.at, Frame, "a frame such as arm.tip")
        object.__setattr__(self, "length", check.positive("Edge", "length", self.length, "m"))
        object.__setattr__(self, "axis", check.axis("Edge", "axis", self.axis))
