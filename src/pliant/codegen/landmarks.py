"""Times at which a function of time may change abruptly, read from its operations, so that no sample has to meet them.

The argument of an operation tells where its result changes: exp(-((t - 5) / w)**2) around the zero of (t - 5) / w,
maximum(0, t - a) at a, sin(w t) every quarter of its period, a comparison where its two sides are equal. Landmarks are the zeros
and the extremes of all such arguments. Those of polynomials are computed; those of other functions are searched for between the
landmarks of their own arguments, where they are monotonic.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np
from numpy.polynomial import polynomial
from numpy.typing import NDArray

from pliant.codegen.program import CONSTANT, PARAMETER, STATE, TIME, Program

Floats = NDArray[np.float64]
Coefficients = NDArray[np.floating[Any]]  # of a polynomial of t - begin, from the lowest power on

MOST = 2**13  # landmarks of one argument: more are a vibration, which samples of the whole run resolve or report
DEGREE = 8  # the highest of a polynomial whose zeros are computed
GRID = 2**8  # intervals of the run in which functions that are not polynomials are searched, besides those between landmarks
NARROWER, ROUNDS = 2**7, 7  # the search of a zero divides its interval by the first, as many times as the second
HUGE = 1e100  # stands for infinity
NOISE = 2.0**-47  # fraction of a function's largest value: smaller changes are round-off, of which there may be thousands
REAL = 1e-9  # fraction of the run: a zero of a polynomial with a smaller imaginary part is real

_SUMS = frozenset((ca.OP_ADD, ca.OP_SUB, ca.OP_NEG, ca.OP_TWICE, ca.OP_MUL))
_LOGIC = frozenset((ca.OP_AND, ca.OP_OR, ca.OP_NOT, ca.OP_IF_ELSE_ZERO))
_OF_SETTLED = frozenset((ca.OP_SQ, ca.OP_FABS, ca.OP_NEG, ca.OP_TWICE, ca.OP_MUL))
_OF_DIFFERENCE = frozenset((ca.OP_LT, ca.OP_LE, ca.OP_EQ, ca.OP_NE, ca.OP_FMIN, ca.OP_FMAX))
_PERIODIC = {ca.OP_SIN: 0.5 * np.pi, ca.OP_COS: 0.5 * np.pi, ca.OP_TAN: 0.5 * np.pi, ca.OP_FLOOR: 1.0, ca.OP_CEIL: 1.0}
_OF_QUOTIENT = {ca.OP_FMOD: 1.0, ca.OP_REMAINDER: 0.5}


def landmarks(program: Program, y: Floats, p: Floats, begin: float, end: float) -> Floats:
    """The landmarks between begin and end, s, of functions of t at a fixed state y and parameters p."""
    return _Walk(program, y, p, begin, end).marks


class _Walk:
    """Visits the values of a program in order: each as an expression of t, and as a polynomial of t - begin where it is one."""

    def __init__(self, program: Program, y: Floats, p: Floats, begin: float, end: float) -> None:
        self.begin, self.end, self.marks = begin, end, np.empty(0)
        self._t, self._of = ca.SX.sym("t"), dict[int, ca.SX]()
        self._polynomial, self._settled = dict[int, Coefficients | None](), set[int]()
        leaves: dict[int, Callable[[int], ca.SX]] = {
            TIME: lambda _: self._t, STATE: lambda k: ca.SX(y[k]), PARAMETER: lambda k: ca.SX(p[k]),
            CONSTANT: lambda k: ca.SX(program.constants[k]),
        }  # fmt: skip
        for value in sorted(program.needed()):
            kind, arguments = program.kind[value], list(program.arguments(value))
            if kind < 0:
                self._of[value] = leaves[kind](program.a[value])
            else:
                make = ca.SX.unary if len(arguments) == 1 else ca.SX.binary
                self._of[value] = make(kind, *(self._of[x] for x in arguments))
            known = self._as_polynomial(value, kind, arguments)
            self._polynomial[value] = known if known is not None and np.all(np.isfinite(known)) else None
            if self._polynomial[value] is None and arguments and kind not in _SUMS | _LOGIC:
                self._visit(kind, arguments)
            self._note(value, kind, arguments)

    def _as_polynomial(self, value: int, kind: int, arguments: list[int]) -> Coefficients | None:
        """A value as a polynomial; None if it is none, or not known to be one."""
        if self._of[value].is_constant():
            return np.array([float(self._of[value])])
        if kind == TIME:
            return np.array([self.begin, 1.0])
        known = [self._polynomial[x] for x in arguments]
        a, b = known[0], known[-1]
        if a is None or b is None:
            return None
        if kind in (ca.OP_ADD, ca.OP_SUB):
            return polynomial.polyadd(a, b if kind == ca.OP_ADD else -b)
        if kind in (ca.OP_NEG, ca.OP_TWICE):
            return a * (-1.0 if kind == ca.OP_NEG else 2.0)
        if kind in (ca.OP_MUL, ca.OP_SQ) and a.size + b.size - 2 <= DEGREE:
            return polynomial.polymul(a, b)
        return a / b if kind == ca.OP_DIV and b.size == 1 else None

    def _note(self, value: int, kind: int, arguments: list[int]) -> None:
        """Notes a function whose zeros and extremes are landmarks already; takes the zeros of factors, exact unlike a product's."""
        known = [self._polynomial[x] for x in arguments]
        moving = [x for x in arguments if not self._of[x].is_constant()]
        scaled = kind in _OF_SETTLED and len(moving) == 1 and moving[0] in self._settled
        if scaled or kind in (ca.OP_SIN, ca.OP_COS):
            self._settled.add(value)
        if kind in (ca.OP_SQ, ca.OP_MUL) and moving == arguments:
            for factor in known:
                if factor is not None and factor.size == 2:
                    self._take(self._zeros(factor))

    def _visit(self, kind: int, arguments: list[int]) -> None:
        """Adds the landmarks of an operation's arguments."""
        a, b = arguments[0], arguments[-1]
        if kind in _OF_DIFFERENCE:
            left, right = self._polynomial[a], self._polynomial[b]
            known = None if left is None or right is None else polynomial.polysub(left, right)
            self._add(self._of[a] - self._of[b], known)
        elif kind in _PERIODIC:
            self._repeat(self._of[a], self._polynomial[a], _PERIODIC[kind])
        elif kind in _OF_QUOTIENT:
            left, right = self._polynomial[a], self._polynomial[b]
            known = left / right if left is not None and right is not None and right.size == 1 else None
            self._repeat(self._of[a] / self._of[b], known, _OF_QUOTIENT[kind])
        else:
            for x in ({b} if kind == ca.OP_DIV else set(arguments)) - self._settled:
                self._add(self._of[x], self._polynomial[x])

    def _add(self, argument: ca.SX, known: Coefficients | None) -> None:
        """Zeros and extremes of an argument."""
        if known is not None:
            self._take(np.concatenate([self._zeros(known), self._zeros(polynomial.polyder(known))]))
        elif not argument.is_constant():
            self._take(self._searched(ca.Function("argument", [self._t], [argument])))

    def _repeat(self, argument: ca.SX, known: Coefficients | None, interval: float) -> None:
        """Times at which an argument is a multiple of an interval."""
        if known is None:
            self._add(ca.sin(np.pi / interval * argument), None)
            return
        turns = np.unique([0.0, *(self._zeros(polynomial.polyder(known)) - self.begin), self.end - self.begin])
        values = polynomial.polyval(turns, known) / interval
        if np.sum(np.abs(np.diff(values))) > MOST:
            return
        for a, b, low, high in zip(turns, turns[1:], values, values[1:], strict=False):
            multiples = interval * np.arange(np.ceil(min(low, high)), np.floor(max(low, high)) + 1.0)
            x = a + (b - a) * np.linspace(0.0, 1.0, GRID)
            order = 1 if high > low else -1
            times = np.interp(multiples, polynomial.polyval(x, known)[::order], x[::order])
            slope = polynomial.polyder(known)
            with np.errstate(all="ignore"):
                for _ in range(4):  # Newton's method, within the interval
                    change = (polynomial.polyval(times, known) - multiples) / polynomial.polyval(times, slope)
                    times = np.clip(np.where(np.isfinite(change), times - change, times), a, b)
            self._take(self.begin + np.concatenate([times, [a]]))

    def _zeros(self, coefficients: Coefficients) -> Floats:
        """Real zeros of a polynomial of t - begin, as times."""
        trimmed = np.trim_zeros(coefficients, "b")
        found = polynomial.polyroots(trimmed) if trimmed.size > 1 else np.empty(0)
        return self.begin + np.real(found[np.abs(np.imag(found)) <= REAL * (self.end - self.begin)])

    def _searched(self, function: ca.Function) -> Floats:
        """Zeros and extremes of a function that is monotonic between few of its own landmarks, or changes slowly."""

        def values(times: Floats) -> Floats:
            found = np.asarray(function.map(times.size)(times.reshape(1, -1)).full()).reshape(times.shape)
            return np.asarray(np.nan_to_num(found, posinf=HUGE, neginf=-HUGE))  # outside its domain a function is not used

        between = np.linspace(0.0, 1.0, 9)[:-1]
        ends = np.unique(np.concatenate([np.linspace(self.begin, self.end, GRID + 1), self.marks]))
        grid = np.append((ends[:-1, None] + np.diff(ends)[:, None] * between).ravel(), self.end)
        f = values(grid)
        noise = NOISE * float(np.max(np.abs(f[np.abs(f) < HUGE]), initial=0.0))
        moves = np.flatnonzero(np.abs(np.diff(f)) > noise)
        rises = np.sign(f[moves + 1] - f[moves])
        turns = np.flatnonzero(rises[1:] * rises[:-1] < 0.0)
        found = []
        if 0 < turns.size <= MOST:
            low, high, way = grid[moves[turns]], grid[moves[turns + 1] + 1], rises[turns]
            for _ in range(ROUNDS // 2):
                inside = low[:, None] + (high - low)[:, None] * np.linspace(0.0, 1.0, NARROWER + 1)
                best = np.clip(np.argmax(values(inside) * way[:, None], axis=1), 1, NARROWER - 1)[:, None]
                low, high = (np.take_along_axis(inside, best + side, axis=1)[:, 0] for side in (-1, 1))
            found = [0.5 * (low + high)]
            grid = np.unique(np.concatenate([grid, *found]))
            f = values(grid)
        f = np.where(np.abs(f) > noise, f, 0.0)
        changes = np.flatnonzero(np.sign(f[1:]) * np.sign(f[:-1]) < 0.0)
        if 0 < changes.size <= MOST:
            low, high = grid[changes], grid[changes + 1]
            for _ in range(ROUNDS):
                inside = low[:, None] + (high - low)[:, None] * np.linspace(0.0, 1.0, NARROWER + 1)
                sides = np.sign(values(inside))
                last = np.argmax(sides != sides[:, :1], axis=1)[:, None].clip(1)  # the first on the other side
                low, high = (np.take_along_axis(inside, last + side, axis=1)[:, 0] for side in (-1, 0))
            found.append(high)
        ends = np.flatnonzero((f[1:] == 0.0) != (f[:-1] == 0.0))  # a function may be zero for a while
        return np.concatenate([*found, grid[ends], grid[ends + 1]])

    def _take(self, times: Floats) -> None:
        inside = times[(times >= self.begin) & (times <= self.end)]
        if inside.size <= 4 * MOST:
            self.marks = np.unique(np.concatenate([self.marks, inside]))
