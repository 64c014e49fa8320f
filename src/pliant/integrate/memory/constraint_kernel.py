"""The constraint data that a run needs to partition coordinates: two kernels by address, and counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class ConstraintKernels:
    """`values` writes C, its rate and the rows of C_q over the free rates; `shift` takes (y, change along the rates) and writes the
    free coordinates moved by it."""

    values: int
    shift: int
    n_work: int
    rows: int
    positions: int  # number of free coordinates, first in y; free rates follow
    ease: NDArray[np.float64]  # (rate) preference of each rate to become dependent
    code: Any = None  # keeps the kernels alive
