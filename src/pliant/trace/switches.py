"""Comparisons of the state in users' formulas: each is decided by a flag in p, so that no step sees both sides of a jump."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import casadi as ca

from pliant.codegen.tracer import Scalar, TracedScalar, Tracer
from pliant.trace.events import Event, Watched


@dataclass
class Switches:
    """Comparisons in formulas: g > 0 while its flag is 1. A comparison that occurs twice is one switch."""

    tracer: Tracer
    first: int  # index of the first flag in p
    of_state: Callable[[int], bool]  # whether a node of the graph depends on the state
    columns: list[ca.SX] = field(default_factory=list)
    _found: dict[int, tuple[str, TracedScalar, TracedScalar]] = field(default_factory=dict)  # by node of g: whose formula, g, flag

    @contextmanager
    def watching(self, owner: str) -> Iterator[None]:
        """Turns comparisons made inside this context into switches that belong to `owner`."""
        around = self.tracer.on_comparison, self.tracer.on_corner  # contexts nest: a formula may read a rate, itself a formula
        self.tracer.on_comparison = lambda below, above: self._decided(owner, below, above, timed=False)
        self.tracer.on_corner = lambda below, above: self._decided(owner, below, above, timed=True)
        try:
            yield
        finally:
            self.tracer.on_comparison, self.tracer.on_corner = around

    def _decided(self, owner: str, below: Scalar, above: Scalar, timed: bool) -> Scalar | None:
        """below < above, decided by a flag; None if it depends on time alone (jumps in time are breakpoints), unless `timed`."""
        g = above - below
        if not isinstance(g, TracedScalar) or not (timed or self.of_state(g.number)):
            return None
        if g.number not in self._found:
            column, (flag,) = self.tracer.symbols("switch", 1)
            self.columns.append(column)
            self._found[g.number] = owner, g, flag
        return self.tracer.binary(ca.OP_LT, 0.5, self._found[g.number][2])

    def events(self) -> list[Watched]:
        """One event per switch, in the order of their flags."""
        return [(Event(f"{owner} switches", 0, flag=self.first + k, pressed=1, reported=False), g, False)
                for k, (owner, g, _) in enumerate(self._found.values())]  # fmt: skip
