"""Friction inside a joint: any friction law, pressed by the joint's own reaction, at a pin, a ball or in a guide."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any

from pliant.errors import ModelError
from pliant.model import check
from pliant.model.friction_law import BristleLaw, FrictionLaw, friction_law

BOTH = "both"  # a cylindrical joint's one surface, which slides and turns at once
TURNS, SLIDES, BALLS = "turns", "slides", "balls"  # what a surface does


@dataclass(frozen=True)
class JointFriction:
    """A law between the two surfaces of a joint: pressed by the reaction across the free motion, and by a preload.

    The law sees the slip of the surfaces in m/s: the rate of a slide, radius times the rate of a turn. A guide (of a slide, or of a
    pin in two bearings) carries a couple across its axis as well, by forces at its two ends.
    """

    law: FrictionLaw | BristleLaw
    _: KW_ONLY
    radius: float | None = None  # of the pin or the ball, m
    preload: float = 0.0  # presses always, besides the reaction, N
    guide: float | None = None  # length over which a couple is carried, centred on the body's origin (frame a of a closure), m

    def __post_init__(self) -> None:
        part = "JointFriction"
        object.__setattr__(self, "law", friction_law(part, "law", self.law))
        if self.radius is not None:
            object.__setattr__(self, "radius", check.positive(part, "radius", self.radius, "m"))
        object.__setattr__(self, "preload", check.not_negative(part, "preload", self.preload, "N"))
        if self.guide is not None:
            object.__setattr__(self, "guide", check.positive(part, "guide", self.guide, "m"))

    def check_fits(self, part: str, field: str, surfaces: str) -> None:
        """Refuse what a surface of this kind has no use for, or cannot do without."""
        if surfaces != SLIDES and self.radius is None:
            rule = "must be given where a joint turns: the radius of its pin or ball, m"
            raise ModelError.of(part, f"{field}.radius", rule, None)
        if surfaces == SLIDES and self.radius is not None:
            raise ModelError.of(part, f"{field}.radius", "must be left out where a joint only slides", self.radius)
        if surfaces == BALLS and self.guide is not None:
            raise ModelError.of(part, f"{field}.guide", "must be left out for a ball, which carries no couple", self.guide)


Frictions = JointFriction | Mapping[str, JointFriction] | None


def frictions_of(part: str, value: Any, surfaces: Mapping[str, str]) -> dict[str, JointFriction]:
    """Friction by the coordinate it acts along; surfaces: what each coordinate that may have friction does.

    Bare friction belongs to the only one, or to both motions of a cylindrical joint.
    """
    if value is None or (isinstance(value, Mapping) and not value):
        return {}
    if not surfaces:
        rule = "must be left out here: friction is served in joints that turn, slide or are balls (use contacts for surfaces)"
        raise ModelError.of(part, "friction", rule, value)
    if not isinstance(value, Mapping):
        if len(surfaces) > 1 and BOTH not in surfaces:
            raise ModelError.of(part, "friction", f"must be a mapping from one of {list(surfaces)}", value)
        value = {BOTH if BOTH in surfaces else next(iter(surfaces)): value}
    for name, friction in value.items():
        if name not in surfaces:
            rule = f"must name one of {list(surfaces)}{check.did_you_mean(name, list(surfaces))}"
            raise ModelError.of(part, "friction", rule, name)
        check.instance(part, f"friction[{name!r}]", friction, JointFriction, "a JointFriction")
        friction.check_fits(part, f"friction[{name!r}]", surfaces[name])
    if BOTH in value and len(value) > 1:
        raise ModelError.of(part, "friction", f"must not name others beside {BOTH!r}", list(value))
    return dict(value)
