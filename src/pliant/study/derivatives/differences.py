"""Derivatives of a run by differences of runs, where exact ones are not computed: by all of theta, or by some of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import takewhile
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pliant.arrays import Floats
from pliant.errors import SolveError
from pliant.model.coordinate_pair import all_pairs
from pliant.model.normal_law import Impulsive
from pliant.model.system import System
from pliant.results.contacts import NUMBERS
from pliant.results.result import Result
from pliant.study.derivatives.run_derivatives import ContactDerivative, EventDerivative, Sensitivities

if TYPE_CHECKING:
    from pliant.study.derivatives.walk_records import Undefined


class Around(NamedTuple):
    """The runs with a number slightly smaller and larger."""

    before: Result
    after: Result
    apart: float  # their values
    in_the_middle: bool  # whether the number itself lies between these values; at a bound it is one of them


# Fraction of a parameter's size: half the distance between the runs whose difference replaces a derivative that does not exist. The
# error of a run, about 1e-9, divided by this step, and the square of the step are both small.
APART = 1e-4
# The run itself lies in the middle of those beside it, up to this share of their difference and this multiple of a state's size.
BENT, NOISE = 0.2, 1e-7


def without_exact_ones(system: System) -> list[str]:
    """What stands in the way of exact derivatives by anything: impulses, controllers that are sampled; in words."""
    found = [f"contact {pair.name!r} is impulsive" for pair in all_pairs(system) if isinstance(pair.normal, Impulsive)]
    return found + [f"controller {name!r} is sampled" for name in system.controllers]


def around(run: Callable[[float], Result], value: float, low: float | None, high: float | None) -> Around:
    """The runs with a number slightly smaller and larger, within its bounds."""
    step = APART * (abs(value) or 1.0)
    first = value - step if low is None else max(value - step, low)
    last = value + step if high is None else min(value + step, high)
    return Around(run(first), run(last), last - first, first < value < last)


def _jumps(beside: Around, middle: Result) -> bool:
    """Whether the final state of a run is far from the middle of those beside it."""
    states = [run.final_state.y for run in (beside.before, middle, beside.after) if run.final_state is not None]
    if len(states) < 3:
        return False
    back, ahead = states[1] - states[0], states[2] - states[1]
    return bool(np.any(np.abs(ahead - back) > BENT * (np.abs(ahead) + np.abs(back)) + NOISE * (1.0 + np.abs(states[1]))))


def jumps(beside: Mapping[str, Around], middle: Result) -> list[str]:
    """A sentence if the run jumps between those beside it, which differ from it in the number of this name."""
    found = [name for name, one in beside.items() if one.in_the_middle and _jumps(one, middle)]
    happens = "something happens in one of the runs beside it that does not in the others, such as another sample or a slip"
    return [f"the run jumps where {', '.join(found)} changes: {happens}"] if found else []


class DifferencedSensitivities(Sensitivities):
    """A run and its derivatives by theta, as differences of runs beside it."""

    def __init__(self, result: Result, names: Sequence[str], of: tuple[str, ...], beside: Sequence[Around], why: str) -> None:
        self.result, self.names, self.of = result, tuple(names), of
        self._beside = beside
        stopped = [run.message for one in beside for run in (one.before, one.after) if not run.ok]
        self._broken = [f"a run with slightly changed values stopped: {message}" for message in stopped[:1]]
        self._broken = self._broken or jumps(dict(zip(names, beside, strict=True)), result)
        self.warnings = (f"derivatives are differences of runs, because {why}", *self._broken)

    @property
    def ok(self) -> bool:
        """Whether this run and those beside it did what was asked, and nothing jumps between them."""
        return self.result.ok and not self._broken

    @property
    def undefined(self) -> tuple[()]:
        """Nothing: where the run jumps, no derivative is ok."""
        return ()

    @property
    def until(self) -> float:
        return float(self.time[-1])

    @property
    def final(self) -> Floats | None:
        return self._slope(lambda run: run.final_state.y) if self.ok else None

    @cached_property
    def end_time(self) -> Floats:
        return self._slope(lambda run: np.asarray(run.final_state.t))

    def at_end(self, name: str) -> tuple[Floats, Floats]:
        runs = [self.result, *(run for one in self._beside for run in (one.before, one.after))]
        if not self.ok or any(run.final_state is None or run.final_state.t != run.time[-1] for run in runs):
            reasons = self._reasons or ["its end is no row of every run; save at that time"]
            raise SolveError(f"sensitivities: {name} at the end has no derivative: {'; '.join(reasons)}")
        return self.result.values[name][-1], self._slope(lambda run: run.values[name][-1])

    @property
    def _reasons(self) -> list[str]:
        return [*super()._reasons, *self._broken]

    @property
    def n_runs(self) -> int:
        return 1 + 2 * len(self._beside)

    @cached_property
    def time(self) -> Floats:
        """Times of the rows that all runs have, s."""
        rows = min(run.time.size for one in self._beside for run in (self.result, one.before, one.after))
        return self.result.time[:rows]

    def _walk_values(self, names: Sequence[str]) -> dict[str, Floats]:
        rows = self.time.size
        return {name: self._slope(lambda run, name=name: run.values[name][:rows]) for name in names}  # type: ignore[misc]

    @cached_property
    def events(self) -> tuple[EventDerivative, ...]:
        """Times of events and their derivatives: those that all runs have."""
        return tuple(EventDerivative(event, self._slope(lambda run, own=own: np.asarray(own[id(run)].t)))  # type: ignore[misc]
                     for event, own in self._common(lambda run: run.events, lambda event: event.name))  # fmt: skip

    @cached_property
    def contacts(self) -> tuple[ContactDerivative, ...]:
        """Derivatives of contacts: those that all runs have."""
        return tuple(self._contacts())

    def _contacts(self) -> Iterator[ContactDerivative]:
        for record, own in self._common(lambda run: run.contacts, lambda record: record.pair):
            numbers = self._slope(lambda run, own=own: np.array([getattr(own[id(run)], name) for name in NUMBERS]))  # type: ignore[misc]
            yield ContactDerivative(record, dict(zip(NUMBERS, numbers, strict=True)))

    def _common(
        self, entries: Callable[[Result], Sequence[Any]], name: Callable[[Any], str]
    ) -> Iterator[tuple[Any, dict[int, Any]]]:
        """Entries that all runs have, each with what it is in the runs beside this one, by their ids.

        These are the first ones, as long as names are the same everywhere, and those of names that are everywhere equally many.
        """
        beside = [run for one in self._beside for run in (one.before, one.after)]
        names = [[name(entry) for entry in entries(run)] for run in (self.result, *beside)]
        alike = sum(1 for _ in takewhile(lambda each: len(set(each)) == 1, zip(*names, strict=False)))
        for k, entry in enumerate(entries(self.result)):
            own = names[0][k]
            if k < alike or len({every.count(own) for every in names}) == 1:
                number = names[0][:k].count(own)
                yield entry, {id(run): [e for e in entries(run) if name(e) == own][number] for run in beside}

    def _slope(self, number: Callable[[Result], Floats]) -> Floats:
        """(..., theta)"""
        return np.stack([(number(one.after) - number(one.before)) / one.apart for one in self._beside], axis=-1)


class PartlyDifferencedSensitivities(Sensitivities):
    """A run and its derivatives by theta: exact ones, but for those entries by which none exist; there, differences of runs."""

    def __init__(self, exact: Sensitivities, beside: Sequence[Around], why: Mapping[int, Undefined]) -> None:
        """beside, why: for each of these entries of theta, by number and in this order."""
        self._exact, self._places = exact, list(why)
        self.result, self.names, self.of, self._walk = exact.result, exact.names, exact.of, exact._walk
        lost = [self.names[k] for k in why]
        self._differenced = DifferencedSensitivities(exact.result, lost, exact.of, beside, "")
        said = (f"derivatives by {name} are differences of runs: {one}" for name, one in zip(lost, why.values(), strict=True))
        self.warnings = (*said, *self._differenced.warnings[1:])

    @property
    def ok(self) -> bool:
        """Whether derivatives exist to the end, those by differences, too."""
        return self._exact.ok and self._differenced.ok

    @property
    def n_runs(self) -> int:
        return self._differenced.n_runs

    @property
    def final(self) -> Floats | None:
        return self._with(self._exact.final, self._differenced.final) if self.ok else None

    @cached_property
    def end_time(self) -> Floats:
        return self._with(self._exact.end_time, self._differenced.end_time)

    def at_end(self, name: str) -> tuple[Floats, Floats]:
        value, slope = self._exact.at_end(name)
        return value, self._with(slope, self._differenced.at_end(name)[1])

    @property
    def _reasons(self) -> list[str]:
        return [*super()._reasons, *self._differenced.warnings[1:]]

    @cached_property
    def time(self) -> Floats:
        """Times of the rows that have derivatives by all of theta, s."""
        return min(self._exact.time, self._differenced.time, key=len)

    def _walk_values(self, names: Sequence[str]) -> dict[str, Floats]:
        rows, beside = self.time.size, self._differenced._walk_values(names)
        return {name: self._with(slope[:rows], beside[name][:rows]) for name, slope in self._exact._walk_values(names).items()}

    @cached_property
    def events(self) -> tuple[EventDerivative, ...]:
        """Those that the runs beside this one have, too."""
        beside = {id(one.event): one.time for one in self._differenced.events}
        return tuple(EventDerivative(one.event, self._with(one.time, beside[id(one.event)]))
                     for one in self._exact.events if id(one.event) in beside)  # fmt: skip

    @cached_property
    def contacts(self) -> tuple[ContactDerivative, ...]:
        """Those that the runs beside this one have, too."""
        beside = {id(one.record): one for one in self._differenced.contacts}
        return tuple(ContactDerivative(one.record, self._numbers(one.values, beside[id(one.record)].values))
                     for one in self._exact.contacts if id(one.record) in beside)  # fmt: skip

    def _numbers(self, exact: Mapping[str, Floats], beside: Mapping[str, Floats]) -> dict[str, Floats]:
        return {name: self._with(slope, beside[name]) for name, slope in exact.items() if name in beside}

    def _with(self, exact: Any, beside: Any) -> Floats:
        """(..., theta) with the entries that are differences."""
        slopes = np.array(exact)
        slopes[..., self._places] = beside
        return slopes
