"""What a run keeps of its own course, however few rows are saved: extremes of what it adds up, and a thinned series of states.

Memory is bounded: when the series is full every second state of it goes, and from then on half as many are kept.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.integrate.memory import Floats, Memory


@dataclass(frozen=True)
class Course:
    """States at the start and at accepted steps evenly counted, with the parameters of the step; extremes over all steps."""

    times: Floats  # s
    states: Floats  # (time, component)
    parameters: Floats  # (time, parameter): those that may change
    constants: Floats  # the rest of p
    # Of every added component
    lowest: Floats
    highest: Floats
    highest_at: Floats  # s
    rise: Floats  # the most that it stood above what was its lowest until then
    risen_at: Floats  # s


def course_of(memory: Memory) -> Course:
    """As copies, the present state last."""
    run, arrays, n = memory.run, memory.arrays, int(memory.run["n"])
    count, changing = int(run["n_kept"]), int(run["n_parameters"])
    return Course(
        np.append(arrays["kept_t"][:count], run["t"]),
        np.vstack([arrays["kept_y"][:count], arrays["y"][:n]]),
        np.vstack([arrays["kept_p"][:count], arrays["p"][:changing]]),
        arrays["p"][changing:].copy(),
        *arrays["extremes"].T.copy(),
    )
