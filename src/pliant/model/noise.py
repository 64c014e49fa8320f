"""Noise of sensors that sampled controllers measure: the same numbers for the same seed, wherever the controller runs."""

from __future__ import annotations

import math

from pliant.scalar import Scalar, cos, floor, log, sqrt

PRIME = 67108859.0  # below 2^26, so that squares of residues are exact in a double
STIR = (40503.0, 2654435.0, 69069.0, 1566083.0)  # odd numbers, one for each round; any would do
ROUNDS = 6  # fewer leave neighbouring instants correlated


def normal(seed: float, stream: float, instant: Scalar) -> Scalar:
    """A standard normal number for an instant (a whole number): by Box and Muller, from two hashed uniform ones."""
    first, second = (_uniform(seed, 2.0 * stream + k, instant) for k in (0.0, 1.0))
    return sqrt(-2.0 * log(first)) * cos(2.0 * math.pi * second)


def _uniform(seed: float, stream: float, instant: Scalar) -> Scalar:
    """A number in (0, 1): rounds of squaring modulo a prime, with the key added in each."""
    x = _rest(instant + 1.0)
    for k in range(ROUNDS):
        key = math.fmod((seed + 1.0) * STIR[k % 4] + (stream + 1.0) * STIR[(k + 1) % 4] + k, PRIME)
        x = _rest(x * x + x + _rest(instant * STIR[(k + 2) % 4]) + key)
    return (x + 0.5) / PRIME


def _rest(x: Scalar) -> Scalar:
    """x modulo the prime; x is below 2^53."""
    return x - PRIME * floor(x / PRIME)
