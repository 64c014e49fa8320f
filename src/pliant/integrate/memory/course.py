"""The history that a run keeps however few rows are saved: extremes of accumulated components, and a thinned series of states.

Memory is bounded: when the series is full, every second state is dropped, and from then on half as many are kept.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.integrate.memory.memory import Floats, Memory


@dataclass(frozen=True)
class Course:
    """States at the start and at every n-th accepted step, with the parameters of the step; extremes over all steps."""

    times: Floats  # s
    states: Floats  # (time, component)
    parameters: Floats  # (time, parameter): parameters that may change
    constants: Floats  # the rest of p
    # For every accumulated component
    lowest: Floats
    highest: Floats
    highest_at: Floats  # s
    rise: Floats  # largest rise above its earlier minimum
    risen_at: Floats  # s


def course_of(memory: Memory) -> Course:
    """Copies of the kept states, the present state last."""
    run, arrays, n = memory.run, memory.arrays, int(memory.run["n"])
    count, changing = int(run["n_kept"]), int(run["n_parameters"])
    return Course(
        np.append(arrays["kept_t"][:count], run["t"]),
        np.vstack([arrays["kept_y"][:count], arrays["y"][:n]]),
        np.vstack([arrays["kept_p"][:count], arrays["p"][:changing]]),
        arrays["p"][changing:].copy(),
        *arrays["extremes"].T.copy(),
    )
