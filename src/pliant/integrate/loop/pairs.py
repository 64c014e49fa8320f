"""Access to a contact pair's numbers in the memory of a run.  Compiled."""

from __future__ import annotations

from typing import Any

from pliant.codegen.loop_language import floats, ints
from pliant.integrate.loop.kernels import call_kernel
from pliant.integrate.memory.run_record import PAIR_NUMBERS, PAIR_PLACES, TOUCH


def pair_place(run: Any, pair: int, column: int) -> int:
    """An index of the pair in p, in y or among the events; -1: none."""
    return int(ints(run.pair_places, run.n_pairs * PAIR_PLACES)[PAIR_PLACES * pair + column])


def pair_number(run: Any, pair: int, column: int) -> float:
    return float(floats(run.pair_numbers, run.n_pairs * PAIR_NUMBERS)[PAIR_NUMBERS * pair + column])


def touch(run: Any, pair: int) -> Any:
    """The data of the pair's ongoing contact."""
    return floats(run.touch + 8 * TOUCH * pair, TOUCH)


def observe_contacts(run: Any, t: float, y: int) -> None:
    """Observe gaps, speeds and forces of all pairs at a state, with the present parameters."""
    call_kernel(run.observe, t, y, run.p, run.observed, run.work)


def of_pair(run: Any, first: int, pair: int) -> float:
    """One number of each pair, from the last observed row."""
    return float(floats(run.observed, run.n_observed)[first + pair])
