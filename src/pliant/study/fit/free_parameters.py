"""The parameters that a search may change: their scales, bounds and initial values."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.errors import ModelError
from pliant.model import check
from pliant.model.check import did_you_mean
from pliant.model.parameter import Parameter
from pliant.model.system import System
from pliant.study.fit.unknown import OwnUnknown

Floats = NDArray[np.float64]
Bounds = Mapping[str, tuple[float | None, float | None]]


@dataclass(frozen=True)
class FreeParameters:
    """Free parameters; a search works with x, the values divided by their scales, so that all are of order 1."""

    names: tuple[str, ...]
    start: Floats  # x
    scales: Floats
    low: Floats  # bounds of the values
    high: Floats
    units: tuple[str, ...]
    fixed: Mapping[str, float]  # values given for parameters that are not free

    @classmethod
    def of(
        cls,
        part: str,
        system: System,
        names: Sequence[str] | Mapping[str, float],
        bounds: Bounds | None,
        guess: Mapping[str, float] | None,
        own: bool = False,
    ) -> FreeParameters:
        """own: there may be none, because experiments have unknowns of their own."""
        known, guess = system.parameters, dict(check.mapping(part, "guess", guess))
        if isinstance(names, Mapping):
            guess = {**names, **guess}
        bounds = check.mapping(part, "bounds", bounds)
        chosen = _chosen(part, list(names) if isinstance(names, Mapping) else names, known, own)
        _check_names(part, "guess", guess, known)
        _check_names(part, "bounds", bounds or {}, dict.fromkeys(chosen))
        limits = [_limits(part, known[name], (bounds or {}).get(name)) for name in chosen]
        values = [_begin(part, known[name], guess.get(name), limit) for name, limit in zip(chosen, limits, strict=True)]
        scales = np.array([_scale(value, *limit) for value, limit in zip(values, limits, strict=True)])
        return cls(
            names=chosen,
            start=np.array(values) / scales,
            scales=scales,
            low=np.array([limit[0] for limit in limits]),
            high=np.array([limit[1] for limit in limits]),
            units=tuple(known[name].unit or "" for name in chosen),
            fixed={name: known[name].check(value) for name, value in guess.items() if name not in chosen},
        )

    def with_own(self, unknowns: Sequence[OwnUnknown]) -> FreeParameters:
        """These, followed by unknowns of single experiments."""
        guesses = [one.unknown.guess for one in unknowns]
        low = [-math.inf if one.unknown.low is None else one.unknown.low for one in unknowns]
        high = [math.inf if one.unknown.high is None else one.unknown.high for one in unknowns]
        scales = np.array([_scale(*each) for each in zip(guesses, low, high, strict=True)])
        return FreeParameters(
            names=(*self.names, *(one.title for one in unknowns)),
            start=np.concatenate([self.start, np.array(guesses) / scales]),
            scales=np.concatenate([self.scales, scales]),
            low=np.concatenate([self.low, low]),
            high=np.concatenate([self.high, high]),
            units=(*self.units, *(one.unit for one in unknowns)),
            fixed=self.fixed,
        )

    @property
    def bounds(self) -> tuple[Floats, Floats]:
        """The bounds of x."""
        return self.low / self.scales, self.high / self.scales

    def values(self, x: Floats) -> dict[str, float]:
        """The values by name, kept within their bounds despite round-off."""
        clipped = np.clip(np.asarray(x) * self.scales, self.low, self.high)
        return {name: float(value) for name, value in zip(self.names, clipped, strict=True)}


def _chosen(part: str, names: Any, known: Mapping[str, Parameter], own: bool) -> tuple[str, ...]:
    chosen = check.names(part, "parameters", names)
    if not chosen and not own:
        raise ModelError.of(part, "parameters", "must name at least one", names)
    if len(set(chosen)) < len(chosen):
        raise ModelError.of(part, "parameters", "must name each parameter once", chosen)
    _check_names(part, "parameters", dict.fromkeys(chosen), known)
    return chosen


def _check_names(part: str, field: str, names: Mapping[str, Any], known: Mapping[str, Any]) -> None:
    for name in names:
        if name not in known:
            rule = (
                f"must be among {', '.join(known)}{did_you_mean(name, known)}"
                if known
                else "must be empty: there are no parameters"
            )
            raise ModelError.of(part, field, rule, name)


def _limits(part: str, parameter: Parameter, given: Any) -> tuple[float, float]:
    """The narrower of the parameter's own bounds and the given ones."""
    low, high = (None, None) if given is None else given
    own_low, own_high = parameter.low, parameter.high
    lowest = max(-math.inf if low is None else float(low), -math.inf if own_low is None else own_low)
    highest = min(math.inf if high is None else float(high), math.inf if own_high is None else own_high)
    if not lowest < highest:
        raise ModelError.of(part, f"bounds {parameter.name!r}", "must have low < high", (lowest, highest))
    return lowest, highest


def _begin(part: str, parameter: Parameter, given: float | None, limits: tuple[float, float]) -> float:
    value = parameter.check(parameter.value if given is None else given)
    if not limits[0] <= value <= limits[1]:
        rule = f"must lie within its bounds, {limits[0]:g} to {limits[1]:g}: give guess={{{parameter.name!r}: ...}}"
        raise ModelError.of(part, f"guess {parameter.name!r}", rule, value)
    return value


def _scale(value: float, low: float, high: float) -> float:
    """The scale of a parameter: its initial value, or the range of its bounds if that is zero."""
    if value != 0.0:
        return abs(value)
    room = high - low
    return room if math.isfinite(room) else 1.0
