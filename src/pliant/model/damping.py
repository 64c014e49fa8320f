"""Damping of elastic bodies. Each kind is a quadratic form of the modal rates; of the whole motion, if it is MotionDrag."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pliant.errors import ModelError
from pliant.model import check
from pliant.scalar import Numbers


@dataclass(frozen=True)
class KelvinVoigt:
    """Viscous material damping: D = int Kv I W'' W'' over both bending planes (Yousefzadeh and Shafei 2024, eq. 11)."""

    coefficient: float  # Kv, Pa s

    def __post_init__(self) -> None:
        object.__setattr__(self, "coefficient", check.not_negative("KelvinVoigt", "coefficient", self.coefficient, "Pa s"))


@dataclass(frozen=True)
class AirDrag:
    """Drag on the bending rate: D = int gamma W W over both bending planes (Yousefzadeh and Shafei 2024, eq. 11)."""

    coefficient: float  # gamma, kg/(m s)

    def __post_init__(self) -> None:
        object.__setattr__(self, "coefficient", check.not_negative("AirDrag", "coefficient", self.coefficient, "kg/(m s)"))


@dataclass(frozen=True)
class MotionDrag:
    """Viscous drag on the whole motion: -c v(x) per length on every point, where v is its velocity relative to the ground."""

    coefficient: float  # c, kg/(m s)

    def __post_init__(self) -> None:
        object.__setattr__(self, "coefficient", check.not_negative("MotionDrag", "coefficient", self.coefficient, "kg/(m s)"))


@dataclass(frozen=True, kw_only=True)
class Rayleigh:
    """Rayleigh damping of the modal coordinates: D = alpha M + beta K."""

    alpha: float = 0.0  # 1/s
    beta: float = 0.0  # s

    def __post_init__(self) -> None:
        check.fields(self, check.not_negative, alpha="1/s", beta="s")


RULES = ("first_two", "low2_high1", "low1_high2")


@dataclass(frozen=True, kw_only=True)
class RayleighRatios:
    """Rayleigh damping from two damping ratios (Ebrahimi, Nouri, Salahshoor, eq. 18, 19).

    The two frequencies are given, or follow from the natural frequencies of the body by a rule: the first two; or, with three or
    more, the mean of the two lowest and the mean of the rest (`low2_high1`), or the lowest and the mean of the rest
    (`low1_high2`).
    """

    ratios: Numbers  # xi at the lower and at the upper frequency, 1
    frequencies: Numbers | None = None  # rad/s
    rule: str = "first_two"

    def __post_init__(self) -> None:
        part = "RayleighRatios"
        ratios = check.numbers(part, "ratios", self.ratios, 2)
        for k, ratio in enumerate(ratios):
            check.not_negative(part, f"ratios[{k}]", ratio)
        object.__setattr__(self, "ratios", ratios)
        object.__setattr__(self, "rule", check.choice(part, "rule", self.rule, RULES))
        if self.frequencies is not None:
            pair = check.numbers(part, "frequencies", self.frequencies, 2, "rad/s")
            check.positive(part, "frequencies[0]", pair[0], "rad/s")
            check.increasing(part, "frequencies", pair)
            object.__setattr__(self, "frequencies", pair)


@dataclass(frozen=True)
class ModalDamping:
    """Modal damping: one damping ratio per mode of the body, in the order of its modes, or one number for all."""

    ratios: Numbers | float

    def __post_init__(self) -> None:
        part = "ModalDamping"
        if not check.several(self.ratios):  # a number, or an expression of parameters
            object.__setattr__(self, "ratios", check.not_negative(part, "ratios", self.ratios))
            return
        clean = tuple(check.not_negative(part, f"ratios[{k}]", r) for k, r in enumerate(self.ratios))
        if not clean:
            raise ModelError.of(part, "ratios", "must contain at least one number", self.ratios)
        object.__setattr__(self, "ratios", clean)


Damping = KelvinVoigt | AirDrag | MotionDrag | Rayleigh | RayleighRatios | ModalDamping


def checked_dampings(part: str, given: Any, kinds: tuple[type, ...], modes: int | None = None) -> tuple[Damping, ...]:
    """The kinds of damping as a tuple; modes: how many ratios one kind must have, if it has several."""
    several = tuple(given) if isinstance(given, (list, tuple)) else (given,)
    for k, damping in enumerate(several):
        check.instance(part, f"damping[{k}]", damping, kinds, f"one of {', '.join(kind.__name__ for kind in kinds)}")
        if modes is not None and isinstance(damping, ModalDamping) and isinstance(damping.ratios, tuple):
            check.numbers(part, f"damping[{k}].ratios", damping.ratios, modes)
    names = [type(damping).__name__ for damping in several]
    if len(set(names)) < len(names):
        raise ModelError.of(part, "damping", "must contain each kind of damping at most once", names)
    return several


DAMPINGS: tuple[type[Damping], ...] = (KelvinVoigt, AirDrag, MotionDrag, Rayleigh, RayleighRatios, ModalDamping)
