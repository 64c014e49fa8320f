"""Constants of many members at once, if their parameters are plain numbers of the model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from pliant.arrays import Floats, Ints, Truths
from pliant.errors import ModelError, SolveError
from pliant.integrate.rows import evaluate_rows
from pliant.model.resolve import checked_values, resolved
from pliant.run.simulate import weight_of
from pliant.run.validity import judged_numbers
from pliant.trace.lowering import UNITS
from pliant.trace.traced_system import pair_numbers
from pliant.trace.tracing import lower_system

if TYPE_CHECKING:
    from pliant.ensemble.members import MemberPlan
    from pliant.run.prepare import Compiled
    from pliant.trace.traced_system import TracedSystem

Place = tuple[Ints, bool]  # indices of a parameter's value, and whether it changes numbers that warnings read
MOST_TRIED = 8  # members tried until one is a mechanism
MOST_AXES = 8  # parameters up to which all corners of their box are tried, half a second
SAME = 1e-14  # relative tolerance of a test result on which a trace depends: see `trace.preparation`


@dataclass(frozen=True)
class MemberNumbers:
    """The constants for parameters that appear in the model as plain numbers: one structure of equations, different numbers.

    This excludes a parameter that is part of an expression, a start value, a weight or something that Python integrates (the shape
    of a beam); members with such a parameter are prepared one by one.
    """

    compiled: Compiled
    numbers: Floats  # numbers of the first member
    places: dict[str, Ints]  # by parameter: the indices of its value among them
    accepted: Truths  # by member: whether the model accepts its values
    judged: tuple[str, ...]  # parameters that change numbers which warnings read

    @classmethod
    def of(cls, plan: MemberPlan) -> MemberNumbers | None:
        """None if some parameter is not a plain number."""
        plain = ~np.any([np.isin(values, UNITS) for values in plan.parameters.values()], axis=0)
        for member in np.flatnonzero(plain)[:MOST_TRIED].tolist():
            try:
                compiled = plan.compiled(member)
            except (ModelError, SolveError):
                continue
            first = {name: float(values[member]) for name, values in plan.parameters.items()}
            accepted = accepted_members(compiled.traced, first, plan.parameters)
            numbers, structure = _numbers(compiled, first)
            places = _places(
                compiled, numbers, structure, first, {name: x[plain & accepted] for name, x in plan.parameters.items()}
            )
            if places is None:
                return None
            return cls(compiled, numbers, {name: place for name, (place, _) in places.items()}, accepted,
                       tuple(name for name, (_, judged) in places.items() if judged))  # fmt: skip
        return None

    def constants(self, plan: MemberPlan, members: Ints) -> tuple[Floats, Truths]:
        """Constants (member, constant), and the members for which they are valid."""
        numbers = np.tile(self.numbers, (members.size, 1))
        good = self.accepted[members]
        for name, place in self.places.items():
            values = plan.parameters[name][members]
            numbers[:, place] = values[:, None]
            good &= ~np.isin(values, UNITS)
        good &= self._distinct(numbers)
        code = self.compiled.traced.preparation.code
        out = np.empty((members.size, code.n_out))
        evaluate_rows(code.address, np.zeros(members.size), np.zeros((members.size, 1)), numbers, out, code.n_work)
        preparation = self.compiled.traced.preparation
        given = out[:, preparation.count :]
        good &= np.all(np.isclose(given, preparation.answers, rtol=SAME, atol=0.0), axis=1) if given.size else True
        constants = np.ascontiguousarray(out[:, : preparation.count])
        return constants, good & np.all(np.isfinite(constants), axis=1)

    def _distinct(self, numbers: Floats) -> Truths:
        """Whether no value happens to equal another number, since equal numbers are part of the structure."""
        varied = [place[0] for place in self.places.values() if place.size]
        good = np.ones(len(numbers), dtype=np.bool_)
        for k in varied:
            equal = np.count_nonzero(numbers == numbers[:, k : k + 1], axis=1)
            same = np.count_nonzero(self.numbers == self.numbers[k])
            good &= equal == same
        return good


def accepted_members(traced: TracedSystem, first: Mapping[str, float], series: Mapping[str, Floats]) -> Truths:
    """The members whose values the model accepts, like those of the first; the others are prepared, or refused, one by one.

    Rules of the model are bounds and inequalities between numbers, so the accepted values form a convex set: if all corners of a
    box are accepted, so is everything inside. If a corner is refused, every member is checked.
    """

    def takes(values: Mapping[str, float]) -> bool:
        try:
            resolved(traced.original, checked_values(traced.original.parameters, {**traced.parameter_values, **values}))
        except ModelError:
            return False
        return True

    varied = {name: np.asarray(values) for name, values in series.items() if np.any(values != values[0])}
    good = np.ones(max((values.size for values in series.values()), default=1), dtype=np.bool_)
    for name, values in varied.items():
        low, high = (_last_taken(values, first, name, up, takes) for up in (False, True))
        good &= (values >= low) & (values <= high)  # nan is in no interval
    ends = [(float(values[good].min()), float(values[good].max())) for values in varied.values()]
    boxed = len(varied) <= MOST_AXES and all(
        takes({**first, **dict(zip(varied, corner, strict=True))}) for corner in product(*ends)
    )  # fmt: skip
    if not boxed:
        for k in range(good.size):
            good[k] = takes({**first, **{name: float(values[k]) for name, values in varied.items()}})
    return good


def _last_taken(
    values: Floats, others: Mapping[str, float], name: str, up: bool, takes: Callable[[Mapping[str, float]], bool]
) -> float:
    """The accepted value furthest from the first on one side of it: all values between are accepted too."""
    first = others[name]
    side = np.unique(values[values > first] if up else -values[values < first])  # ascending from the first on
    own = side if up else -side
    good, bad = -1, len(own)  # own[good] is accepted (-1: the first itself), own[bad] is not
    if len(own) and takes({**others, name: float(own[-1])}):
        return float(own[-1])
    while bad - good > 1:
        middle = (good + bad) // 2
        if takes({**others, name: float(own[middle])}):
            good = middle
        else:
            bad = middle
    return first if good < 0 else float(own[good])


def _numbers(compiled: Compiled, values: Mapping[str, float]) -> tuple[Floats, object]:
    traced = compiled.traced
    every = checked_values(traced.original.parameters, {**traced.parameter_values, **values})
    lowered = lower_system(resolved(traced.original, every), traced.formulation, False, traced.near, traced.t_start, every)
    return lowered.numbers, lowered.lowered.structure


def _places(
    compiled: Compiled, numbers: Floats, structure: object, first: Mapping[str, float], series: Mapping[str, Floats]
) -> dict[str, Place] | None:
    """The place of every parameter's value; None if some parameter has any other effect."""
    places = {}
    for name, values in series.items():
        others, place = values[values != first[name]], (np.empty(0, dtype=np.int64), False)
        if others.size:
            try:
                found = _place(compiled, numbers, structure, first, name, float(others[others.size // 2]))
            except (ModelError, SolveError):
                return None
            if found is None:
                return None
            place = found
        places[name] = place
    return places


def _place(
    compiled: Compiled, numbers: Floats, structure: object, first: Mapping[str, float], name: str, value: float
) -> Place | None:
    """The place of a parameter's value; None if the parameter has any other effect on the equations."""
    from pliant.run.prepare import compile_system

    traced, values = compiled.traced, {**compiled.traced.parameter_values, **first, name: value}
    other = compile_system(traced.original, traced.formulation, near=traced.near, t_start=traced.t_start, parameters=values)
    theirs, their_structure = _numbers(compiled, {**first, name: value})
    if other.structure is not compiled.structure or their_structure != structure or theirs.size != numbers.size:
        return None
    changed = np.flatnonzero(theirs != numbers)
    alike = (
        np.array_equal(other.traced.y0, traced.y0)
        and weight_of(other.traced) == weight_of(traced)
        and np.array_equal(pair_numbers(other.traced), pair_numbers(traced), equal_nan=True)
        and other.traced.breakpoints == traced.breakpoints
        and np.array_equal(other.traced.head(0.0, 1.0), traced.head(0.0, 1.0))
    )
    is_plain = np.all(theirs[changed] == value) and np.all(numbers[changed] == first[name])
    return (changed, judged_numbers(other.traced) != judged_numbers(traced)) if alike and is_plain else None
