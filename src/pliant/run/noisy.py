"""Noise on the readings of a result, as a measurement would have it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pliant.errors import ModelError
from pliant.model import check
from pliant.model.resolve import resolved
from pliant.results.result import Result
from pliant.run.mechanism import AnySystem, mechanism_of

SENSOR = "sensor"


def noisy(result: Result, system: AnySystem, seed: int = 0) -> Result:
    """A copy of a result whose sensor readings have the noise of their sensors: white, normal, the same for the same seed.

    system: the System of the run, whose sensors say how large their noise is. What controllers measured is not changed: they
    measure with noise during the run.
    """
    check.instance("noisy", "result", result, Result, "a Result")
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise ModelError.of("noisy", "seed", "must be a whole number >= 0", seed)
    model = mechanism_of(system, "noisy")
    channels = resolved(model, dict(result.parameters)).channels
    if list(channels) != list(result.labels.get("channel", ())):
        raise ModelError.of("noisy", "system", f"must be that of the result, with the sensors {list(channels)}", result.name)
    if not result.keeps(SENSOR):
        raise ModelError.of("noisy", "result", "must have kept the quantity 'sensor'", list(result.values))
    deviations = np.array([float(sensor.noise) for sensor in channels.values()])
    readings = np.asarray(result.values[SENSOR])
    noise = np.random.default_rng(seed).standard_normal(readings.shape) * deviations
    return replace(result, values={**result.values, SENSOR: readings + noise})
