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

from pliant.arrays import Floats
from pliant.codegen.nonsmooth import edges_of
from pliant.codegen.over_time import OverTime
from pliant.codegen.program import TIME, Program

Coefficients = NDArray[np.floating[Any]]  # of a polynomial of t - begin, from the lowest power on
OfTime = Callable[[Floats], Floats]

MOST = 2**13  # landmarks of one argument: more are a vibration, which samples of the whole run resolve or report
DEGREE = 8  # the highest of a polynomial whose zeros are computed
GRID = 2**8  # intervals of the run in which functions that are not polynomials are searched, besides those between landmarks
HUGE = 1e100  # stands for infinity
NOISE = 2.0**-47  # fraction of a function's largest value: smaller changes are round-off, of which there may be thousands
REAL = 1e-9  # fraction of the run: a zero of a polynomial with a smaller imaginary part is real
SPREAD = np.linspace(0.0, 1.0, 25)  # fractions of an interval with an extreme: in each round it becomes a twelfth
EXTREME_ROUNDS = 5
EVENLY = np.linspace(0.0, 1.0, 9)  # fractions of an interval with a change of sign, whatever the function
AROUND = np.array([-1e-2, -1e-4, -1e-6, -1e-9, 0.0, 1e-9, 1e-6, 1e-4, 1e-2])  # and fractions around the zero of its chord
ZERO_ROUNDS = 18  # an eighth in each is all digits of a double

_SUMS = frozenset((ca.OP_ADD, ca.OP_SUB, ca.OP_NEG, ca.OP_TWICE, ca.OP_MUL))
_LOGIC = frozenset((ca.OP_AND, ca.OP_OR, ca.OP_NOT, ca.OP_IF_ELSE_ZERO))
_OF_SETTLED = frozenset((ca.OP_SQ, ca.OP_FABS, ca.OP_NEG, ca.OP_TWICE, ca.OP_MUL))
_OF_DIFFERENCE = frozenset((ca.OP_LT, ca.OP_LE, ca.OP_EQ, ca.OP_NE, ca.OP_FMIN, ca.OP_FMAX))
_PERIODIC = {ca.OP_SIN: 0.5 * np.pi, ca.OP_COS: 0.5 * np.pi, ca.OP_TAN: 0.5 * np.pi, ca.OP_FLOOR: 1.0, ca.OP_CEIL: 1.0}
_OF_QUOTIENT = {ca.OP_FMOD: 1.0, ca.OP_REMAINDER: 0.5}


def landmarks(functions: OverTime, begin: float, end: float) -> Floats:
    """The landmarks of functions of time between begin and end, s."""
    return _Walk(functions, begin, end).marks


def edge_times(program: Program, y: Floats, p: Floats, begin: float, end: float) -> Floats:
    """The times between begin and end, s, at which an operation of the program that is not smooth has its edge."""
    edges, _ = edges_of(program)
    walk = _Walk(OverTime(edges, y, p), begin, end)
    times = [walk.zeros_of(value) for value in dict.fromkeys(edges.outputs)]
    found = np.unique(np.concatenate([np.empty(0), *times]))
    return found[(found > begin) & (found < end)]


class _Walk:
    """Visits the values of a program in order: each as a function of t, and as a polynomial of t - begin where it is one."""

    def __init__(self, functions: OverTime, begin: float, end: float) -> None:
        self.begin, self.end, self.marks = begin, end, np.empty(0)
        self._functions, self._constant = functions, functions.constant
        self._polynomial = dict[int, Coefficients | None]()
        self._settled = set[int]()  # values whose zeros and extremes are landmarks already
        self._repeated = set[tuple[int, ...]]()  # arguments whose multiples of an interval are landmarks already
        program = functions.program
        for value in functions.order:
            kind, arguments = program.kind[value], list(program.arguments(value))
            known = self._as_polynomial(value, kind, arguments)
            self._polynomial[value] = known if known is not None and np.all(np.isfinite(known)) else None
            if self._polynomial[value] is None and arguments and kind not in _SUMS | _LOGIC and value not in self._constant:
                self._visit(kind, arguments)
            self._note(value, kind, arguments)

    def zeros_of(self, value: int) -> Floats:
        """The zeros of a value of the program."""
        if value in self._constant:
            return np.empty(0)
        known = self._polynomial[value]
        return self._searched(self._value(value))[0] if known is None else self._zeros(known)

    def _as_polynomial(self, value: int, kind: int, arguments: list[int]) -> Coefficients | None:
        """A value as a polynomial; None if it is none, or not known to be one."""
        if value in self._constant:
            return np.array([self._constant[value]])
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
        moving = [x for x in arguments if x not in self._constant]
        scaled = kind in _OF_SETTLED and len(moving) == 1 and moving[0] in self._settled
        if scaled or kind in (ca.OP_SIN, ca.OP_COS):
            self._settled.add(value)
        if kind in (ca.OP_SQ, ca.OP_MUL) and moving == arguments:
            for factor in (self._polynomial[x] for x in arguments):
                if factor is not None and factor.size == 2:
                    self._take(self._zeros(factor))

    def _visit(self, kind: int, arguments: list[int]) -> None:
        """Adds the landmarks of an operation's arguments."""
        a, b = arguments[0], arguments[-1]
        if kind in _OF_DIFFERENCE:
            left, right = self._polynomial[a], self._polynomial[b]
            known = None if left is None or right is None else polynomial.polysub(left, right)
            self._add(lambda t: np.subtract(*self._functions([a, b], t)), known)
        elif kind in _PERIODIC:
            self._repeat((a,), self._polynomial[a], _PERIODIC[kind])
        elif kind in _OF_QUOTIENT:
            left, right = self._polynomial[a], self._polynomial[b]
            known = left / right if left is not None and right is not None and right.size == 1 else None
            self._repeat((a, b), known, _OF_QUOTIENT[kind])
        else:
            for x in ({b} if kind == ca.OP_DIV else set(arguments)) - self._settled - self._constant.keys():
                # a square is smooth: its zeros, which are those of its argument, only have to be exact
                self._add(self._value(x), self._polynomial[x], extremes=kind != ca.OP_SQ)
                if kind != ca.OP_SQ:
                    self._settled.add(x)

    def _value(self, x: int) -> OfTime:
        return lambda t: np.asarray(self._functions([x], t)[0])

    def _add(self, function: OfTime, known: Coefficients | None, extremes: bool = True) -> None:
        """Zeros and extremes of a function."""
        if known is not None:
            self._take(np.concatenate([self._zeros(known), self._zeros(polynomial.polyder(known))]))
        else:
            zeros, turns = self._searched(function)
            self._take(np.concatenate([zeros, turns]) if extremes else zeros)

    def _repeat(self, argument: tuple[int, ...], known: Coefficients | None, interval: float) -> None:
        """Times at which an argument, a value or a quotient of two, is a multiple of an interval."""
        if argument in self._repeated:
            return
        self._repeated.add(argument)
        if known is not None:
            self._repeat_polynomial(known, interval)
            return

        def quotient(t: Floats) -> Floats:
            return np.asarray(np.divide.reduce(self._functions(argument, t)))

        turns = self._searched(quotient)[1]
        self._take(np.concatenate([turns, self._searched(lambda t: np.sin(np.pi / interval * quotient(t)))[0]]))

    def _repeat_polynomial(self, known: Coefficients, interval: float) -> None:
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

    def _searched(self, function: OfTime) -> tuple[Floats, Floats]:
        """Zeros and extremes of a function that is monotonic between few of its own landmarks, or changes slowly."""

        def values(times: Floats) -> Floats:
            with np.errstate(all="ignore"):
                return np.asarray(np.nan_to_num(function(times), posinf=HUGE, neginf=-HUGE))  # outside its domain it is not used

        ends = np.unique(np.concatenate([np.linspace(self.begin, self.end, GRID + 1), self.marks]))
        grid = np.append((ends[:-1, None] + np.diff(ends)[:, None] * EVENLY[:-1]).ravel(), self.end)
        f = values(grid)
        noise = NOISE * float(np.max(np.abs(f[np.abs(f) < HUGE]), initial=0.0))
        moves = np.flatnonzero(np.abs(np.diff(f)) > noise)
        rises = np.sign(f[moves + 1] - f[moves])
        turns = np.flatnonzero(rises[1:] * rises[:-1] < 0.0)
        extremes = np.empty(0)
        if 0 < turns.size <= MOST:
            extremes = _extremes(values, grid[moves[turns]], grid[moves[turns + 1] + 1], rises[turns])
            grid = np.unique(np.concatenate([grid, extremes]))
            f = values(grid)
        f = np.where(np.abs(f) > noise, f, 0.0)
        changes = np.flatnonzero(np.sign(f[1:]) * np.sign(f[:-1]) < 0.0)
        zeros = _zeros_between(values, grid[changes], grid[changes + 1]) if 0 < changes.size <= MOST else np.empty(0)
        ends = np.flatnonzero((f[1:] == 0.0) != (f[:-1] == 0.0))  # a function may be zero for a while
        return np.concatenate([zeros, grid[ends], grid[ends + 1]]), extremes

    def _take(self, times: Floats) -> None:
        inside = times[(times >= self.begin) & (times <= self.end)]
        if inside.size <= 4 * MOST:
            self.marks = np.unique(np.concatenate([self.marks, inside]))


def _extremes(function: OfTime, low: Floats, high: Floats, way: Floats) -> Floats:
    """One in each interval: a maximum where way is 1, a minimum where it is -1."""
    for _ in range(EXTREME_ROUNDS):
        inside = low[:, None] + (high - low)[:, None] * SPREAD
        best = np.clip(np.argmax(function(inside) * way[:, None], axis=1), 1, SPREAD.size - 2)[:, None]
        low, high = (np.take_along_axis(inside, best + side, axis=1)[:, 0] for side in (-1, 1))
    return 0.5 * (low + high)


def _zeros_between(function: OfTime, low: Floats, high: Floats) -> Floats:
    """The first change of sign in each interval, to the last digit: few evaluations for smooth functions, some more for jumps."""
    zeros, open_ = high.copy(), np.arange(low.size)
    for _ in range(ZERO_ROUNDS):
        width, ends = high - low, np.abs(function(np.stack([low, high])))
        chord = low + width * np.divide(ends[0], ends[0] + ends[1], out=np.full_like(width, 0.5), where=ends[0] + ends[1] > 0.0)
        near = np.clip(chord[:, None] + width[:, None] * AROUND, low[:, None], high[:, None])
        inside = np.sort(np.hstack([low[:, None] + width[:, None] * EVENLY, near]), axis=1)
        sides = np.sign(function(inside))
        first = np.argmax(sides != sides[:, :1], axis=1)[:, None].clip(1)  # on the other side
        low, high = (np.take_along_axis(inside, first + side, axis=1)[:, 0] for side in (-1, 0))
        zeros[open_] = high
        goes_on = high - low > np.spacing(np.abs(high))
        if not np.any(goes_on):
            break
        low, high, open_ = low[goes_on], high[goes_on], open_[goes_on]
    return zeros
