"""Dimensions of quantities, and how they propagate through formulas: length times length is an area; length plus mass is an error.

A kind is a Dimension, or None if it is unknown: that of a definition without a unit, of t, q and v, and of the arguments of laws.
An unknown kind is never refused. A number written in a formula is pure: as a factor it leaves the kind unchanged, and as a term it
takes on any kind.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pliant.errors import ModelError

DIGITS = 9  # to which powers are rounded, such as the 1/3 of a cube root


@dataclass(frozen=True)
class Dimension:
    """Powers of length, mass, time ... Angles have no powers, so flags mark them."""

    powers: Mapping[str, float] = field(default_factory=dict)
    angle: bool = False  # measured in radians
    hertz: bool = False  # a frequency in Hz or 1/s, which is 2 pi times smaller than the rate in rad/s with the same powers
    ratio: bool = False  # of two quantities of the same kind: a plain number or an angle
    pure: bool = False  # a number written in a formula
    turns: bool = False  # has pi as a factor, which turns a frequency into a rate

    def __str__(self) -> str:
        if self.hertz and dict(self.powers) == {"[time]": -1.0}:
            return "a frequency in Hz or 1/s, not an angular velocity"
        if self.angle and dict(self.powers) == {"[time]": -1.0}:
            return "an angular velocity"
        if not self.powers:
            return "a plain number"
        from pint.util import UnitsContainer

        return f"of dimension {UnitsContainer({name: _whole(power) for name, power in self.powers.items()})}"


@dataclass(frozen=True)
class Turning:
    """How a piece of a formula may mix up turns and radians, which have the same dimension.

    A frequency of 2 Hz in the place of an angular velocity is 2 pi times too slow. Where one factor has no unit, as in
    soll: n*min(t/0.15, 1), kinds are not known, so names are followed: those of definitions in Hz, 1/s or 1/min.
    """

    frequencies: frozenset[str] = frozenset()  # names among its factors, without 2 pi
    settles: bool = False  # has pi or an angle as a factor, or a coordinate: a frequency times this is no longer in doubt
    rotates: bool = False  # adds the rate of a rotation
    settled: frozenset[str] = frozenset()  # names that it multiplies by such a factor somewhere: its author has seen to them

    def __or__(self, other: Turning) -> Turning:
        return Turning(*(a | b for a, b in zip(_parts(self), _parts(other), strict=True)))

    def times(self, other: Turning) -> Turning:
        settled = (self.frequencies if other.settles else frozenset()) | (other.frequencies if self.settles else frozenset())
        both = self | other
        return replace(both, frequencies=both.frequencies - settled, settled=both.settled | settled)

    @property
    def doubtful(self) -> list[str]:
        return sorted(self.frequencies - self.settled)


def _parts(turning: Turning) -> tuple[Any, ...]:
    return turning.frequencies, turning.settles, turning.rotates, turning.settled


NOT_TURNING = Turning()


def not_a_rate(names: Sequence[str]) -> str:
    """What to write where a frequency would be taken for an angular velocity."""
    first = names[0]
    return (
        f"{', '.join(names)}: a frequency in Hz, 1/s or 1/min would be taken for an angular velocity; define {first} in rpm, deg/s "
        f"or rad/s, or write 2*pi*{first} (a number of another kind per second: define it without a unit)"
    )


Kind = Dimension | None
PLAIN, ANGLE, PURE, PI = Dimension(), Dimension(angle=True), Dimension(pure=True), Dimension(pure=True, turns=True)


# How kinds propagate through formulas. An impossible combination raises a ModelError that quotes the terms.


def product(a: Kind, b: Kind) -> Kind:
    return _scaled_by(a, b, 1.0)


def quotient(a: Kind, b: Kind) -> Kind:
    return _scaled_by(a, b, -1.0)


def power(base: Kind, exponent: float | None) -> Kind:
    """The kind of a power; exponent is None if it can change."""
    if base is None or base.pure or not base.powers:
        return base
    if exponent is None:
        return None
    powers = {name: round(p * exponent, DIGITS) for name, p in base.powers.items() if p * exponent}
    return Dimension(powers, base.angle, base.hertz and exponent == 1.0)


def common(kinds: Sequence[Kind], text_of: Callable[[int], str]) -> Kind:
    """The common kind of terms that are added, compared or chosen from; one known kind determines the unknown ones."""
    known = [(kind, k) for k, kind in enumerate(kinds) if kind is not None and not kind.pure]
    if not known:
        return None if None in kinds else PURE
    first, k = known[0]
    for kind, j in known[1:]:
        if dict(kind.powers) != dict(first.powers) or _hertz_and_rate(kind, first):
            got = f"{text_of(k)!r}, which is {first}, and {text_of(j)!r}, which is {kind}"
            raise ModelError(f"must combine quantities of the same dimension, got {got}")
    hertz, angle = any(kind.hertz for kind, _ in known), any(kind.angle for kind, _ in known)
    return replace(first, hertz=hertz, angle=angle, ratio=all(kind.ratio for kind, _ in known))


def without_dimension(kind: Kind, text: Callable[[], str]) -> None:
    if kind is not None and kind.powers:
        raise ModelError(f"must be a function of an angle or a plain number, got {text()!r}, which is {kind}")


def becoming(result: Dimension, kind: Kind) -> Kind:
    """The kind of a function's value, which is known if the kind of its argument is."""
    return kind if kind is None or kind.pure else result


def _scaled_by(a: Kind, b: Kind, sense: float) -> Kind:
    if a is None or b is None:
        return None
    turns = a.turns or b.turns
    if b.pure:
        return replace(a, hertz=a.hertz and not turns, turns=a.pure and turns)
    if a.pure and sense > 0.0:
        return replace(b, hertz=b.hertz and not turns)
    powers = _combined(a.powers, b.powers, sense)
    cancelled = not powers and bool(a.powers)
    hertz = (a.hertz or b.hertz) and not (a.angle or b.angle)  # an angle per cycle, times cycles per second, is an angular velocity
    return Dimension(powers, a.angle != b.angle, hertz and bool(powers) and not a.pure, cancelled)


def _combined(a: Mapping[str, float], b: Mapping[str, float], sense: float) -> dict[str, float]:
    powers = {name: round(a.get(name, 0.0) + sense * b.get(name, 0.0), DIGITS) for name in {**a, **b}}
    return {name: p for name, p in powers.items() if p}


def _hertz_and_rate(a: Dimension, b: Dimension) -> bool:
    return (a.hertz and b.angle and not b.hertz) or (b.hertz and a.angle and not a.hertz)


def _whole(power: float) -> float:
    return int(power) if power.is_integer() else power
