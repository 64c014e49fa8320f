"""One run of every gallery system for comparing methods: long enough to show its special features, too short to become chaotic."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pliant.gallery.falling_chain.system import falling_chain
from pliant.gallery.parallel_robot.system import parallel_robot
from pliant.gallery.slider_crank.system import driven_crank, slider_crank
from pliant.gallery.telescopic_arm.system import telescopic_arm
from pliant.gallery.tipping_arm.system import tipping_arm
from pliant.model.system import System


@dataclass(frozen=True)
class Representative:
    """A system and the duration of its run."""

    name: str
    build: Callable[[], System]
    t_end: float  # s


REPRESENTATIVES = (
    Representative("falling chain", falling_chain, 0.6),  # the first clusters of impacts
    Representative("tipping arm", tipping_arm, 0.6),  # the knocks at the wall and the rebound
    Representative("telescopic arm", telescopic_arm, 1.0),
    Representative("slider-crank", slider_crank, 0.05),  # the first impact
    Representative("driven slider-crank", driven_crank, 0.08),
    Representative("parallel robot, multipliers", parallel_robot, 2.0),
    Representative("parallel robot, Ks = 1e5", lambda: parallel_robot(1e5), 2.0),
    Representative("parallel robot, Ks = 1e8, damped", lambda: parallel_robot(1e8, damping=1e4), 2.0),
)
