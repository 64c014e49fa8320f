"""Comparisons in users' formulas and laws: each is decided by a flag in p, so that no step sees both sides of a jump.

At corners of formulas (of minimum, maximum, absolute) steps end, too: a force that acts for a short time only is not passed over.

Which other operations have edges, and what happens there: codegen/nonsmooth.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import casadi as ca

from pliant.codegen.tracer import Scalar, TracedScalar, Tracer
from pliant.integrate.memory.run_record import CUTS, TURNS
from pliant.scalar import called, name_of, pi, sin
from pliant.trace.events import Event, Watched


@dataclass
class Switches:
    """Comparisons in formulas: g > 0 while its flag is 1. A comparison that occurs twice is one switch."""

    tracer: Tracer
    first: int  # index of the first flag in p
    t: TracedScalar
    t_start: float  # s
    still: Callable[[], set[int]]  # symbols that change only at events: those of p, and outputs of sampled controllers
    columns: list[ca.SX] = field(default_factory=list)
    of_time: bool = True  # whether comparisons of time alone are switches, too
    _found: dict[int, tuple[str, TracedScalar, TracedScalar]] = field(default_factory=dict)  # by node of g: whose formula, g, flag
    _corners: dict[int, tuple[str, TracedScalar]] = field(default_factory=dict)  # by node of g: whose formula, g

    def __post_init__(self) -> None:
        self.tracer.call_of_law = self._called

    @contextmanager
    def watching(self, owner: str, clock: Scalar | None = None, corners: int | None = None) -> Iterator[None]:
        """Turns comparisons made inside this context into switches that belong to `owner`.

        clock: time as a formula with breakpoints sees it: comparisons of the clock with numbers are left to the breakpoints.
        corners: what corners are: TURNS, switches, too; CUTS, ends of steps; None, nothing.
        """
        around, self.tracer.decisions = self.tracer.decisions, _Decisions(self, owner, clock, corners)
        try:
            yield
        finally:  # contexts nest: a formula may read a rate, itself a formula
            self.tracer.decisions = around

    @contextmanager
    def leaving_time(self) -> Iterator[None]:
        """In this context comparisons of time alone are not decided by flags."""
        self.of_time = False
        try:
            yield
        finally:
            self.of_time = True

    def safe(self, trace: Callable[[], Scalar]) -> Scalar:
        """The value of a formula.

        A trial step goes beyond an edge, with the flag as before it. If a root of what flags choose may have no value there,
        comparisons of time alone are not decided by flags; derivatives end at such a jump.
        """
        value = trace()
        if not self.tracer.limited(value, {flag.number for _, _, flag in self._found.values()}):
            return value
        with self.leaving_time():
            return trace()

    def _called(self, function: Callable[..., Any], arguments: tuple[Scalar, ...]) -> Scalar:
        """The value of a law of the user's own."""
        with self.watching(f"law {name_of(function)!r}"):
            return called(function, *arguments, kind="law")

    def moving(self, x: Scalar) -> set[int]:
        """The symbols in x that change along a step: time, state, friction to be solved for."""
        return self.tracer.symbols_in(x) - self.still() - {flag.number for _, _, flag in self._found.values()}

    def is_past(self, below: Scalar, above: Scalar) -> bool:
        """Whether time is compared with a number that it has passed when the run begins."""
        other = below if above is self.t else above
        return (above is self.t or below is self.t) and type(other) in (float, int) and other <= self.t_start

    def decides(self, g: TracedScalar) -> bool:
        moving = self.moving(g)
        return bool(moving) and (self.of_time or (g.number in self._found and moving != {self.t.number}))

    def flag(self, owner: str, g: Scalar) -> Scalar:
        """g > 0, decided by a flag."""
        if g.number not in self._found:
            column, (flag,) = self.tracer.symbols("switch", 1)
            self.columns.append(column)
            self._found[g.number] = owner, g, flag
        return self.tracer.binary(ca.OP_LT, 0.5, self._found[g.number][2])

    def cut(self, owner: str, g: Scalar) -> None:
        """Steps end where g is zero. Corners of time alone are found before the run."""
        if isinstance(g, TracedScalar) and self.moving(g) - {self.t.number}:
            self._corners.setdefault(g.number, (owner, g))

    def events(self) -> list[Watched]:
        """One event per switch, in the order of their flags; then one per corner."""
        turns = [(Event(f"{owner} switches", 0, flag=self.first + k, pressed=1, reported=False), g, False)
                 for k, (owner, g, _) in enumerate(self._found.values())]  # fmt: skip
        cuts = [(Event(f"{owner} has a corner", 0, kind=CUTS, reported=False), g, False)
                for number, (owner, g) in self._corners.items() if number not in self._found]  # fmt: skip
        return turns + cuts


@dataclass
class _Decisions:
    """How the comparisons of one formula are decided; None: by the comparison itself."""

    switches: Switches
    owner: str
    clock: Scalar | None
    corners: int | None

    def compared(self, below: Scalar, above: Scalar) -> Scalar | None:
        g = above - below
        if not isinstance(g, TracedScalar) or self._is_breakpoint(g) or self.switches.is_past(below, above):
            return None
        return self.switches.flag(self.owner, g) if self.switches.decides(g) else None

    def at_corner(self, below: Scalar, above: Scalar) -> Scalar | None:
        if self.corners == CUTS:
            self.switches.cut(self.owner, above - below)
        return self.compared(below, above) if self.corners == TURNS else None

    def in_table(self, below: Scalar, above: Scalar) -> Scalar | None:
        g = above - below
        return self.switches.flag(self.owner, g) if isinstance(g, TracedScalar) else None

    def floor(self, x: TracedScalar) -> Scalar | None:
        """The floor of a line in time, as of a periodic signal. Floors of the state, as of an encoder, may jump too often for this.

        The flag says whether the floor is odd, so that it is right for a line that starts at 0; it gives the floor beyond both ends
        of the interval, too.
        """
        switches, tracer = self.switches, self.switches.tracer
        if switches.moving(x) != {switches.t.number} or not switches.of_time:
            return None
        if not ca.is_linear(tracer.sx(x), tracer.sx(switches.t)):
            return None
        odd = switches.flag(self.owner, -sin(pi * x)).where(1.0, 0.0)
        return 2.0 * tracer.unary(ca.OP_FLOOR, 0.5 * (x - odd) + 0.25) + odd

    def _is_breakpoint(self, g: TracedScalar) -> bool:
        """Whether g is the difference of a clock and a number."""
        if self.clock is None:
            return False
        sides = self.switches.tracer.arguments(g.number)
        return self.clock.number in sides and any(side in self.switches.tracer.values for side in sides)
