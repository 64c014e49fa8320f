"""Contacts at the ends of a coordinate's travel: end stops with a contact law, and the two flanks of backlash."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from pliant.errors import ModelError
from pliant.model.closure import GearClosure
from pliant.model.contact import ContactPair
from pliant.model.joint import ROTATION
from pliant.model.normal_law import NormalLaw
from pliant.model.play import Backlash, Limits

if TYPE_CHECKING:
    from pliant.model.system import System

HIGH, LOW = 1.0, -1.0
SIDES = (("low", LOW), ("high", HIGH))
TURNED = 1e3  # rad: assumed size of geared coordinates, which determines the round-off of their difference


@dataclass(frozen=True)
class CoordinatePair:
    """A contact between a coordinate, or the difference a - ratio b of two geared coordinates, and one end of its travel.

    Its gap is side (limit - x). Depth, speed and force are along the coordinate: in m, m/s and N, or in rad, rad/s and N m.
    """

    friction: ClassVar[None] = None

    name: str
    coordinates: tuple[str, ...]  # one, or two that are geared
    ratio: float  # of the gear; 0 for a single coordinate
    side: float  # HIGH or LOW
    limit: float  # m or rad
    normal: NormalLaw
    turns: bool  # whether it is an angle

    @property
    def radius(self) -> float:
        return 0.0

    @property
    def other_radius(self) -> float:
        return 0.0

    @property
    def reach(self) -> float:
        """The size of the numbers whose difference is the gap, for its round-off."""
        return 2.0 * abs(self.limit) + (TURNED if len(self.coordinates) > 1 else 0.0)

    @property
    def units(self) -> tuple[str, str]:
        """The units of depth and force."""
        return ("rad", "N m") if self.turns else ("m", "N")


Pair = ContactPair | CoordinatePair


def coordinate_pairs(system: System) -> list[CoordinatePair]:
    """The pairs of all joints, then those of all gears."""
    return [*_of_joints(system), *_of_gears(system)]


def all_pairs(system: System) -> list[Pair]:
    """All pairs of a System: its contacts, then those of its coordinates."""
    return [*system.contacts.values(), *coordinate_pairs(system)]


def _of_joints(system: System) -> Iterator[CoordinatePair]:
    for link in system.links.values():
        for motion in link.joint.motions:
            label, turns = f"{link.name}.{motion.name}", motion.kind == ROTATION
            stop, play = link.joint.limited.get(motion.name), link.joint.plays.get(motion.name)
            if stop is not None and stop.law is not None:
                yield from _both(f"{label} {{}} stop", (label,), 0.0, stop, stop.law, turns)
            if play is not None:
                yield from _both(f"{label} {{}} flank", (label,), 0.0, play, play.law, turns)


def _of_gears(system: System) -> Iterator[CoordinatePair]:
    for closure in system.closures.values():
        if isinstance(closure, GearClosure) and closure.backlash is not None:
            play, turns = closure.backlash, _turns(system, closure.coordinates[0])
            yield from _both(f"{closure.name} {{}} flank", closure.coordinates, closure.ratio, play, play.law, turns)


def _both(
    name: str, coordinates: tuple[str, ...], ratio: float, ends: Limits | Backlash, law: NormalLaw, turns: bool
) -> Iterator[CoordinatePair]:
    for word, side in SIDES:
        limit = ends.high if side == HIGH else ends.low
        yield CoordinatePair(name.format(word), coordinates, ratio, side, limit, law, turns)


def _turns(system: System, coordinate: str) -> bool:
    body, name = coordinate.split(".")
    link = system.links.get(body)
    return link is not None and any(motion.name == name and motion.kind == ROTATION for motion in link.joint.motions)


def refuse_coordinate_pairs(system: System, part: str, field: str, rule: str) -> None:
    """Refuse a System that has end stops with a contact law, or backlash."""
    pairs = coordinate_pairs(system)
    if pairs:
        raise ModelError.of(part, field, rule, [pair.name for pair in pairs])
