"""Constants of many members at once, if their parameters are plain numbers of the model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pliant.errors import ModelError, SolveError
from pliant.integrate.rows import evaluate_rows
from pliant.model.resolve import checked_values, resolved
from pliant.run.contact_phases import pair_numbers
from pliant.run.simulate import weight_of
from pliant.trace.lowering import UNITS
from pliant.trace.tracing import lower_system

if TYPE_CHECKING:
    from pliant.run.prepare import Compiled
    from pliant.study.members import MemberPlan

Floats = NDArray[np.float64]
SAME = 1e-14  # relative tolerance of a test result on which a trace depends: see `trace.preparation`


@dataclass(frozen=True)
class MemberNumbers:
    """The constants for parameters that appear in the model as plain numbers: one structure of equations, different numbers.

    This excludes a parameter that is part of an expression, a start value, a weight or something that Python integrates (the shape
    of a beam); members with such a parameter are prepared one by one.
    """

    compiled: Compiled
    numbers: Floats  # numbers of the first member
    places: dict[str, NDArray[np.int64]]  # by parameter: the indices of its value among them

    @classmethod
    def of(cls, plan: MemberPlan) -> MemberNumbers | None:
        """None if some parameter is not a plain number."""
        first = {name: float(values[0]) for name, values in plan.parameters.items()}
        try:
            compiled = plan.compiled(0)
            numbers, structure = _numbers(compiled, first)
            places = {}
            for name, values in plan.parameters.items():
                others = values[values != values[0]]
                if not others.size:
                    places[name] = np.empty(0, dtype=np.int64)
                    continue
                place = _place(compiled, numbers, structure, first, name, float(others[others.size // 2]))
                if place is None:
                    return None
                places[name] = place
        except (ModelError, SolveError):
            return None
        return cls(compiled, numbers, places)

    def constants(self, plan: MemberPlan, members: NDArray[np.int64]) -> tuple[Floats, NDArray[np.bool_]]:
        """Constants (member, constant), and the members for which they are valid."""
        numbers = np.tile(self.numbers, (members.size, 1))
        good = np.ones(members.size, dtype=np.bool_)
        for name, place in self.places.items():
            values = plan.parameters[name][members]
            numbers[:, place] = values[:, None]
            good &= ~np.isin(values, UNITS) & self._allowed(name, values)
        good &= self._distinct(numbers)
        code = self.compiled.traced.preparation.code
        out = np.empty((members.size, code.n_out))
        evaluate_rows(code.address, np.zeros(members.size), np.zeros((members.size, 1)), numbers, out, code.n_work)
        preparation = self.compiled.traced.preparation
        given = out[:, preparation.count :]
        good &= np.all(np.isclose(given, preparation.answers, rtol=SAME, atol=0.0), axis=1) if given.size else True
        constants = np.ascontiguousarray(out[:, : preparation.count])
        return constants, good & np.all(np.isfinite(constants), axis=1)

    def _allowed(self, name: str, values: Floats) -> NDArray[np.bool_]:
        """Whether values lie within the parameter's own bounds; others raise an error member by member."""
        parameter = self.compiled.traced.original.parameters[name]
        low = -np.inf if parameter.low is None else parameter.low
        high = np.inf if parameter.high is None else parameter.high
        return np.asarray((values >= low) & (values <= high))

    def _distinct(self, numbers: Floats) -> NDArray[np.bool_]:
        """Whether no value happens to equal another number, since equal numbers are part of the structure."""
        varied = [place[0] for place in self.places.values() if place.size]
        good = np.ones(len(numbers), dtype=np.bool_)
        for k in varied:
            equal = np.count_nonzero(numbers == numbers[:, k : k + 1], axis=1)
            same = np.count_nonzero(self.numbers == self.numbers[k])
            good &= equal == same
        return good


def _numbers(compiled: Compiled, values: dict[str, float]) -> tuple[Floats, object]:
    traced = compiled.traced
    every = checked_values(traced.original.parameters, {**traced.parameter_values, **values})
    lowered = lower_system(resolved(traced.original, every), traced.formulation, False, traced.near, traced.t_start, every)
    return lowered.numbers, lowered.lowered.structure


def _place(
    compiled: Compiled, numbers: Floats, structure: object, first: dict[str, float], name: str, value: float
) -> NDArray[np.int64] | None:
    """The indices of a parameter's value; None if the parameter has any other effect."""
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
    return changed if alike and is_plain else None
