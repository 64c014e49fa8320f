"""Distributions by name: each takes its parameters and returns the quantile function for sampling."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pliant.arrays import Floats
from pliant.errors import ModelError
from pliant.model import check

Quantile = Callable[[Floats], Floats]  # from probabilities in (0, 1) to values


def uniform(low: float, high: float) -> Quantile:
    """Uniform between two values."""
    _require(low < high, "uniform", "low", f"must be < high = {high}", low)
    return lambda share: np.asarray(low + share * (high - low))


def loguniform(low: float, high: float) -> Quantile:
    """Uniform between two values on a logarithmic scale."""
    _require(0.0 < low < high, "loguniform", "low", f"must be > 0 and < high = {high}", low)
    return lambda share: np.asarray(low * (high / low) ** share)


def normal(mean: float, deviation: float) -> Quantile:
    """Normal with this mean and standard deviation."""
    from scipy.stats import norm

    _require(deviation > 0.0, "normal", "deviation", "must be > 0", deviation)
    return lambda share: np.asarray(norm.ppf(share, mean, deviation))


def truncated_normal(mean: float, deviation: float, low: float, high: float) -> Quantile:
    """Normal, truncated to the range between two values."""
    from scipy.stats import truncnorm

    _require(deviation > 0.0, "truncated_normal", "deviation", "must be > 0", deviation)
    _require(low < high, "truncated_normal", "low", f"must be < high = {high}", low)
    ends = ((low - mean) / deviation, (high - mean) / deviation)
    return lambda share: np.asarray(truncnorm.ppf(share, *ends, mean, deviation))


def lognormal(median: float, deviation: float) -> Quantile:
    """Lognormal: the natural logarithm is normal around that of the median, with this standard deviation."""
    from scipy.stats import norm

    _require(median > 0.0, "lognormal", "median", "must be > 0", median)
    _require(deviation > 0.0, "lognormal", "deviation", "must be > 0", deviation)
    return lambda share: np.asarray(median * np.exp(norm.ppf(share, 0.0, deviation)))


def triangular(low: float, mode: float, high: float) -> Quantile:
    """Triangular: highest density at the mode, none outside the ends."""
    from scipy.stats import triang

    _require(low < high, "triangular", "low", f"must be < high = {high}", low)
    _require(low <= mode <= high, "triangular", "mode", f"must be from {low} to {high}", mode)
    return lambda share: np.asarray(triang.ppf(share, (mode - low) / (high - low), low, high - low))


DISTRIBUTIONS: dict[str, Callable[..., Quantile]] = {
    make.__name__: make for make in (uniform, loguniform, normal, truncated_normal, lognormal, triangular)
}


def quantile(part: str, field: str, given: Any) -> Quantile:
    """The quantile function of, for example, ("normal", 70e9, 2e9), or of an object with a method `ppf`, as in scipy.stats."""
    if hasattr(given, "ppf"):
        return lambda share: np.asarray(given.ppf(share), dtype=np.float64)
    if isinstance(given, str) or not isinstance(given, Sequence) or not given or not isinstance(given[0], str):
        rule = f"must be a distribution such as ('uniform', 0.1, 1.0), one of {', '.join(DISTRIBUTIONS)}"
        raise ModelError.of(part, field, rule, given)
    name, *numbers = given
    if name not in DISTRIBUTIONS:
        raise ModelError.of(
            part, field, f"must be one of {', '.join(DISTRIBUTIONS)}{check.did_you_mean(name, DISTRIBUTIONS)}", name
        )
    wanted = list(inspect.signature(DISTRIBUTIONS[name]).parameters)
    if len(numbers) != len(wanted):
        raise ModelError.of(part, field, f"must be ({', '.join([repr(name), *wanted])})", given)
    clean = [check.number(part, f"{field}: {word}", number) for word, number in zip(wanted, numbers, strict=True)]
    return DISTRIBUTIONS[name](*clean)


def _require(right: bool, name: str, field: str, rule: str, value: float) -> None:
    if not right:
        raise ModelError.of(f"distribution {name}", field, rule, value)
