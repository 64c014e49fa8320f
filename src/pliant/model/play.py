"""End stops, which limit the travel of a coordinate, and backlash, the free play of a joint or a gear.

Both push back with a spring and a damper, or with any normal law of contacts. The depth of such a law is measured along the
coordinate: in m, or in rad for a rotation, whose force is then a moment in N m.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from pliant.errors import ModelError
from pliant.model import check
from pliant.model.normal_law import Exact, Linear, NormalLaw, normal_law


@dataclass(frozen=True, kw_only=True)
class Limits:
    """End stops of a joint coordinate, at `low` and `high`. They push back and never pull.

    Give a stiffness, optionally with a damping that acts while the stop is pressed or with a restitution; or give a normal law.
    """

    DERIVED: ClassVar[tuple[str, ...]] = ("law",)

    low: float
    high: float
    stiffness: float | None = None  # N/m or N m/rad; with
    damping: float = 0.0  # N s/m or N m s/rad; or with
    restitution: float | None = None  # ratio of the speeds after and before, in (0, 1]; or instead of all three
    normal: NormalLaw | None = None  # any normal law of contacts

    def __post_init__(self) -> None:
        part = "Limits"
        check.fields(self, check.number, low="", high="")
        if not self.low < self.high:
            raise ModelError.of(part, "low", f"must be < high = {self.high!r}", self.low)
        _check_flank(part, self)

    @cached_property
    def law(self) -> NormalLaw | None:
        """The contact law of the stop; None for a spring and a damper, whose force is a formula of depth and rate."""
        return self.normal if self.restitution is None else _exact(self)


@dataclass(frozen=True, kw_only=True)
class Backlash:
    """Backlash: no force acts within `gap`, which is centred on `centre`. Beyond it, a flank pushes back and never pulls.

    Give a stiffness, optionally with a damping that acts while a flank is pressed or with a restitution; or give a normal law.
    """

    DERIVED: ClassVar[tuple[str, ...]] = ("law",)

    gap: float  # m or rad, from flank to flank
    centre: float = 0.0  # m or rad, the middle of the gap
    stiffness: float | None = None  # N/m or N m/rad; with
    damping: float = 0.0  # N s/m or N m s/rad; or with
    restitution: float | None = None  # ratio of the speeds after and before, in (0, 1]; or instead of all three
    normal: NormalLaw | None = None  # any normal law of contacts

    def __post_init__(self) -> None:
        part = "Backlash"
        object.__setattr__(self, "gap", check.not_negative(part, "gap", self.gap))
        object.__setattr__(self, "centre", check.number(part, "centre", self.centre))
        _check_flank(part, self)

    @cached_property
    def law(self) -> NormalLaw:
        """The normal law of its flanks."""
        if self.normal is not None:
            return self.normal
        if self.restitution is not None:
            return _exact(self)
        assert self.stiffness is not None  # checked when made
        return Linear(stiffness=self.stiffness, damping=self.damping)

    @property
    def low(self) -> float:
        """The lower end of the play."""
        return self.centre - 0.5 * self.gap

    @property
    def high(self) -> float:
        """The upper end of the play."""
        return self.centre + 0.5 * self.gap


def _check_flank(part: str, flank: Limits | Backlash) -> None:
    """Require a stiffness, optionally with a damping or a restitution; or a normal law alone."""
    object.__setattr__(flank, "damping", check.not_negative(part, "damping", flank.damping))
    damped = flank.damping if flank.damping > 0.0 else None
    given = {"stiffness": flank.stiffness, "restitution": flank.restitution, "damping": damped}
    if flank.normal is not None:
        object.__setattr__(flank, "normal", normal_law(part, "normal", flank.normal))
        for field, value in given.items():
            if value is not None:
                raise ModelError.of(part, field, "must be left out when a normal law is given", value)
        return
    if flank.stiffness is None:
        raise ModelError.of(part, "stiffness", "must be given unless a normal law is given", flank.stiffness)
    object.__setattr__(flank, "stiffness", check.positive(part, "stiffness", flank.stiffness))
    if flank.restitution is None:
        return
    if given["damping"] is not None:
        raise ModelError.of(part, "damping", "must be left out when a restitution is given", flank.damping)
    check.fields(flank, check.share, part, restitution="")


def _exact(flank: Limits | Backlash) -> NormalLaw:
    """K d (1 + c d'/d0') with the c that delivers the requested restitution at any inertia and speed."""
    assert flank.stiffness is not None and flank.restitution is not None  # checked when made
    return Exact(stiffness=flank.stiffness, exponent=1.0, restitution=flank.restitution)
