"""Inputs in a trace: series in place of parameters, as polynomials of time whose coefficients compiled code looks up."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import NoReturn
from weakref import WeakKeyDictionary

import numpy as np

from pliant.arrays import Floats
from pliant.codegen.graph import NotYetKnown
from pliant.codegen.series import ENTRIES
from pliant.codegen.tracer import Scalar, Tracer
from pliant.errors import ModelError
from pliant.integrate.time_pieces import nearly_cubic
from pliant.model.input_series import HELD, InputSeries
from pliant.model.system import System
from pliant.trace.lowering import inputs_outside_equations


class TracedInputs:
    """The inputs of a trace, which they share its tracer and its time with."""

    def __init__(self, inputs: Mapping[str, InputSeries]) -> None:
        self.tracer = Tracer()
        self.t_column, (self.t,) = self.tracer.symbols("t", 1)
        self.column, self.entries = self.tracer.symbols("series", ENTRIES * len(inputs))
        self.values: dict[str, Scalar] = {name: self._value(k) for k, name in enumerate(inputs)}  # by parameter

    def _value(self, k: int) -> Scalar:
        """The polynomial that holds at t; a program reads its coefficients, and the place of its table, from p."""
        _, origin, c0, c1, c2, c3 = self.entries[ENTRIES * k : ENTRIES * (k + 1)]
        s = self.t - origin
        return ((c3 * s + c2) * s + c1) * s + c0

    def places(self, end: int) -> tuple[int, ...]:
        """The entries of p, which end here, at which the inputs begin."""
        return tuple(range(end - len(self.entries), end, ENTRIES))

    @contextmanager
    def checked(self, system: System) -> Iterator[None]:
        """While a trace is made: refuse inputs in places where an equation needs a number."""
        if not self.values:
            yield
            return
        found = inputs_outside_equations(system)
        if found is not None:
            refuse("simulate", self.values, f"{found[1]} of a {found[0]} depends on")
        try:
            yield
        except NotYetKnown:
            refuse(
                "simulate",
                self.values,
                "a number that must be known before the run, or a Python `if` in a formula or a law, depends on",
            )


def refuse(part: str, names: Collection[str], what: str) -> NoReturn:
    """what: a clause that the names of parameters complete."""
    quoted = ", ".join(map(repr, names))
    rule = f"must be parameters on which only forces depend, but {what} {quoted} (start a new run with another value)"
    raise ModelError.of(part, "inputs", rule, ", ".join(names))


_KNOTS: WeakKeyDictionary[InputSeries, Floats] = WeakKeyDictionary()


def knots_of(series: InputSeries) -> Floats:
    """Ends of the pieces of time in which a series is nearly cubic, s; none if steps end wherever it turns."""
    if series.ends_steps or series.times.size < 2:
        return np.empty(0)
    if series not in _KNOTS:
        _KNOTS[series] = series.turns if series.between == HELD else nearly_cubic(series.times, series.values)
    return _KNOTS[series]
