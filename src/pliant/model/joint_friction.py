"""Friction inside a joint: any friction law at a pin, at a ball or in a guide, pressed by the joint's own reaction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any

from pliant.errors import ModelError
from pliant.model import check
from pliant.model.friction_law import BristleLaw, FrictionLaw, friction_law

BOTH = "both"  # the single surface of a cylindrical joint, which slides and turns at once
TURNS, SLIDES, BALLS = "turns", "slides", "balls"  # kinds of surfaces


@dataclass(frozen=True)
class JointFriction:
    """Friction between the two surfaces of a joint, pressed by the reaction across the free motion and by a preload.

    The law gets the slip of the surfaces in m/s: the rate of a sliding joint, or radius times the rate of a turning joint. A guide
    (of a slide, or of a pin in two bearings) also carries a couple across its axis, by forces at its two ends. pressed=False: the
    preload alone presses, as where friction is known as one torque or force.
    """

    law: FrictionLaw | BristleLaw
    _: KW_ONLY
    radius: float | None = None  # of the pin or the ball, m
    preload: float = 0.0  # constant normal force besides the reaction, N
    guide: float | None = None  # length that carries a couple, centred on the body's origin (on frame a of a closure), m
    pressed: bool = True  # whether the joint's own reaction presses, besides the preload

    def __post_init__(self) -> None:
        part = "JointFriction"
        object.__setattr__(self, "law", friction_law(part, "law", self.law))
        if self.radius is not None:
            object.__setattr__(self, "radius", check.positive(part, "radius", self.radius, "m"))
        object.__setattr__(self, "preload", check.not_negative(part, "preload", self.preload, "N"))
        if self.guide is not None:
            object.__setattr__(self, "guide", check.positive(part, "guide", self.guide, "m"))
        check.instance(part, "pressed", self.pressed, bool, "True or False")
        if not self.pressed and self.guide is not None:
            raise ModelError.of(part, "guide", "must be left out with pressed=False, because it acts by the reaction", self.guide)

    def check_fits(self, part: str, field: str, surfaces: str) -> None:
        """Refuse fields that a surface of this kind does not use, and require those it needs."""
        if surfaces != SLIDES and self.radius is None:
            rule = "must be given for a joint that turns (radius of its pin or ball in m)"
            raise ModelError.of(part, f"{field}.radius", rule, None)
        if surfaces == SLIDES and self.radius is not None:
            raise ModelError.of(part, f"{field}.radius", "must be left out for a joint that only slides", self.radius)
        if surfaces == BALLS and self.guide is not None:
            raise ModelError.of(part, f"{field}.guide", "must be left out for a ball, which carries no couple", self.guide)


Frictions = JointFriction | Mapping[str, JointFriction] | None


def frictions_of(part: str, value: Any, surfaces: Mapping[str, str]) -> dict[str, JointFriction]:
    """Friction by the coordinate along which it acts. surfaces: the kind of surface of each coordinate that may have friction.

    Friction without a coordinate belongs to the only coordinate, or to both motions of a cylindrical joint.
    """
    if value is None or (isinstance(value, Mapping) and not value):
        return {}
    if not surfaces:
        rule = "must be left out for this joint, because only turning, sliding and ball joints can have friction (use a contact)"
        raise ModelError.of(part, "friction", rule, value)
    if not isinstance(value, Mapping):
        if len(surfaces) > 1 and BOTH not in surfaces:
            raise ModelError.of(part, "friction", f"must be a mapping with keys out of {list(surfaces)}", value)
        value = {BOTH if BOTH in surfaces else next(iter(surfaces)): value}
    for name, friction in value.items():
        if name not in surfaces:
            rule = f"must name one of {list(surfaces)}{check.did_you_mean(name, list(surfaces))}"
            raise ModelError.of(part, "friction", rule, name)
        check.instance(part, f"friction[{name!r}]", friction, JointFriction, "a JointFriction")
        friction.check_fits(part, f"friction[{name!r}]", surfaces[name])
    if BOTH in value and len(value) > 1:
        raise ModelError.of(part, "friction", f"must not name other coordinates besides {BOTH!r}", list(value))
    return dict(value)
