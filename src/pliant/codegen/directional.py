"""Directional derivatives of a program in forward mode: all directions share one evaluation of the function itself.

A program is split in two. The first computes the function and, once for all directions, the coefficients of its linearisation. The
second evaluates the linearisation: sums of products of coefficients and seeds, with several directions side by side in vector
lanes.

A function with corners has one derivative on each side of a corner. Every comparison is a decision, made beforehand and passed in
after p, so that all stages of a step use derivatives from the same side. Values are continuous at corners and do not change.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import casadi as ca

from pliant.codegen.guards import idle_guards, vanishing
from pliant.codegen.nonsmooth import EDGES, JUMP
from pliant.codegen.operations import CONVERGED
from pliant.codegen.program import CONSTANT, NONE, PARAMETER, STATE, TIME, Program

_COMPARISONS = frozenset((ca.OP_LT, ca.OP_LE, ca.OP_EQ, ca.OP_NE))
_TRUTHS = frozenset((*_COMPARISONS, ca.OP_AND, ca.OP_OR, ca.OP_NOT))
_CORNERS = frozenset((ca.OP_FMIN, ca.OP_FMAX, ca.OP_FABS, ca.OP_COPYSIGN))
_STEPS = frozenset((ca.OP_FLOOR, ca.OP_CEIL, ca.OP_SIGN, *_TRUTHS))  # piecewise constant


@dataclass(frozen=True)
class DirectionalPrograms:
    """The two programs. Seeds of `linear` are y, then t, then the active entries of p; its p holds the outputs of `primal`."""

    primal: Program  # (t, y, [p, decisions]) -> [outputs, coefficients]
    linear: Program  # seeds and coefficients -> tangents of the outputs
    decisions: Program | None  # (t, y, p) -> truth values; None if the function compares nothing
    active: tuple[int, ...]  # entries of p that have seeds
    guards: tuple[frozenset[int], ...]  # for every decision: entries of p; while one is zero the decision has no effect
    edges: tuple[str, ...]  # for every decision: the operation that it is about
    zero_coefficients: Mapping[int, int]  # by coefficient: sets of guards; one idle guard makes it zero (guards.py)

    @property
    def n_decisions(self) -> int:
        return 0 if self.decisions is None else len(self.decisions.outputs)


def directional(program: Program, active: Collection[int]) -> DirectionalPrograms:
    """The derivatives of a program without fused products. active: entries of p that directions may include."""
    return _Differentiation(program, tuple(sorted(active))).finish()


@dataclass
class _Differentiation:
    source: Program
    active: tuple[int, ...]
    primal: Program = field(init=False)
    linear: Program = field(init=False)
    values: list[int] = field(default_factory=list)  # numbers in `primal` of the source's values
    tangents: list[int | None] = field(default_factory=list)  # numbers in `linear` of their tangents; None: zero
    deciding: dict[int, int] = field(default_factory=dict)  # values of `asking`: the number of each decision
    sides: dict[int, int] = field(default_factory=dict)  # for truth values of `primal`: how they were decided
    places: dict[int, int] = field(default_factory=dict)  # for each coefficient: its index among the outputs of `primal`

    def __post_init__(self) -> None:
        n = self.source.n_y
        self.primal = Program(n, self.source.n_p)
        self.linear = Program(n + 1 + len(self.active), 0)
        self.asking = Program(n, self.source.n_p)  # the source, plus comparisons that it contains in other forms
        self.asked: list[int] = []  # numbers in `asking` of the source's values
        self.moving = [False] * len(self.source.kind)  # whether a value depends on t or y
        self.differentiated = self.source.needed(but_searches=True)
        self.idle = idle_guards(self.source)
        self.guards: list[frozenset[int]] = []  # guards of each decision
        self.edges: list[str] = []  # its operation

    def finish(self) -> DirectionalPrograms:
        seed_of = {place: self.source.n_y + 1 + k for k, place in enumerate(self.active)}
        for value, kind in enumerate(self.source.kind):
            if kind < 0:
                self._leaf(value, kind, seed_of)
            else:
                self._operation(value, kind)
        zero = self.linear.constant(0.0)
        tangents = [self.tangents[output] for output in self.source.outputs]
        self.linear.outputs = [zero if tangent is None else tangent for tangent in tangents]
        self.primal.n_p += len(self.deciding)
        zero_coefficients = self._guard()
        self.primal.outputs = [self.values[output] for output in self.source.outputs] + list(self.places)
        self.linear.n_p = len(self.primal.outputs)
        asked = None
        if self.deciding:
            self.asking.outputs = list(self.deciding)
            asked = pruned(self.asking)
        return DirectionalPrograms(pruned(self.primal), pruned(self.linear), asked, self.active, tuple(self.guards),
                                   tuple(self.edges), zero_coefficients)  # fmt: skip

    def _guard(self) -> dict[int, int]:
        """Let the linear program leave out values of idle guards; returns which coefficients are zero then."""
        self.primal.guards = self.source.guards
        zero = vanishing(self.primal)
        flags = [self._coefficient(self.primal.value(PARAMETER, place)) for place in self.source.guards]
        self.linear.guards = tuple(self.linear.a[flag] for flag in flags)
        self.primal.guards = ()  # its coefficients are always needed
        return {place: zero[value] for value, place in self.places.items() if value < len(zero) and zero[value]}

    def _leaf(self, value: int, kind: int, seed_of: dict[int, int]) -> None:
        source, place = self.source, self.source.a[value]
        if kind == CONSTANT:
            self.values.append(self.primal.constant(source.constants[place]))
            self.asked.append(self.asking.constant(source.constants[place]))
        else:
            self.values.append(self.primal.value(kind, place))
            self.asked.append(self.asking.value(kind, place))
        seed = {TIME: source.n_y, STATE: place, PARAMETER: seed_of.get(place)}.get(kind)
        self.tangents.append(None if seed is None else self.linear.value(STATE, seed))
        self.moving[value] = kind in (TIME, STATE)

    def _operation(self, value: int, kind: int) -> None:
        source = self.source
        arguments = list(source.arguments(value))
        self.moving[value] = any(self.moving[x] for x in arguments)
        x = [self.values[argument] for argument in arguments]
        dx = [self.tangents[argument] for argument in arguments]
        asked = [self.asked[argument] for argument in arguments]
        self.asked.append(self.asking.value(kind, *asked))
        result = self.primal.value(kind, *x)
        self.values.append(result)
        if value not in self.differentiated or kind == CONVERGED:
            self.tangents.append(None)
            return
        decided = self._decision(value, kind, asked) if self.moving[value] else None
        if kind in (ca.OP_AND, ca.OP_OR, ca.OP_NOT) and not self.sides.keys().isdisjoint(x):
            self.sides[result] = self.primal.value(kind, *(self.sides.get(each, each) for each in x))
        if kind in _STEPS or all(d is None for d in dx):
            self.tangents.append(None)
        elif decided is not None and kind in _CORNERS:
            self.tangents.append(self._branch(kind, decided, x, dx))
        else:
            self.tangents.append(self._tangent(kind, result, x, dx))

    # ---- corners

    def _decision(self, value: int, kind: int, asked: list[int]) -> int | None:
        """The entry of p that says on which side of its edge a value is; None if it has none that can be crossed."""
        if kind in _COMPARISONS:
            truth = self.asked[-1]
        elif kind in (ca.OP_FMIN, ca.OP_FMAX):
            truth = self.asking.value(ca.OP_LT, *(asked if kind == ca.OP_FMIN else asked[::-1]))  # whether the first is the result
        elif kind in EDGES and (kind in _CORNERS or EDGES[kind].what == JUMP):
            truth = self.asking.value(ca.OP_LT, self.asking.constant(0.0), EDGES[kind].place(self.asking, *asked))
        else:
            return None
        if truth not in self.deciding:
            self.deciding[truth] = len(self.deciding)
            self.guards.append(self.idle[value])
            self.edges.append(EDGES[kind].name)
        k = self.deciding[truth]
        self.guards[k] &= self.idle[value]
        decided = self.primal.value(PARAMETER, self.source.n_p + k)
        if kind in _COMPARISONS:
            self.sides[self.values[-1]] = decided
        return decided

    def _branch(self, kind: int, decided: int, x: list[int], dx: list[int | None]) -> int | None:
        """The tangent of a value with a corner, on the decided side; the value itself is continuous."""
        primal = self.primal
        if kind in (ca.OP_FMIN, ca.OP_FMAX):
            other = primal.value(ca.OP_NOT, decided)
            return self._sum(self._chosen(decided, dx[0]), self._chosen(other, dx[1]))
        # 2 d - 1: the sign
        sign = primal.value(ca.OP_SUB, primal.value(ca.OP_TWICE, decided), primal.constant(1.0))
        if kind == ca.OP_COPYSIGN:  # the sign usually comes from a constant
            sign = primal.value(ca.OP_MUL, sign, primal.value(ca.OP_SIGN, x[0]))
        return self._scaled(sign, dx[0])

    # ---- the linearisation

    def _coefficient(self, value: int) -> int:
        """A value of `primal`, used as a factor in `linear`."""
        if self.primal.kind[value] == CONSTANT:
            return self.linear.constant(self.primal.constants[self.primal.a[value]])
        place = self.places.setdefault(value, len(self.source.outputs) + len(self.places))
        return self.linear.value(PARAMETER, place)

    def _scaled(self, factor: int, tangent: int | None) -> int | None:
        if tangent is None:
            return None
        factor = self.sides.get(factor, factor)
        if self.primal.kind[factor] == CONSTANT:
            known = self.primal.constants[self.primal.a[factor]]
            if known == 0.0:
                return None
            if known == 1.0:
                return tangent
        return self.linear.value(ca.OP_MUL, self._coefficient(factor), tangent)

    def _chosen(self, condition: int, tangent: int | None) -> int | None:
        """A selection, not a product, because the side not chosen may be nan."""
        if tangent is None:
            return None
        condition = self.sides.get(condition, condition)
        return self.linear.value(ca.OP_IF_ELSE_ZERO, self._coefficient(condition), tangent)

    def _sum(self, first: int | None, second: int | None) -> int | None:
        if first is None or second is None:
            return second if first is None else first
        return self.linear.value(ca.OP_ADD, first, second)

    def _difference(self, first: int | None, second: int | None) -> int | None:
        if second is None:
            return first
        return self.linear.value(ca.OP_NEG, second) if first is None else self.linear.value(ca.OP_SUB, first, second)

    def _tangent(self, kind: int, result: int, x: list[int], dx: list[int | None]) -> int | None:
        primal = self.primal
        if kind == ca.OP_ADD:
            return self._sum(dx[0], dx[1])
        if kind == ca.OP_SUB:
            return self._difference(dx[0], dx[1])
        if kind == ca.OP_NEG:
            return self._difference(None, dx[0])
        if kind == ca.OP_TWICE:
            return self._sum(dx[0], dx[0])
        if kind == ca.OP_MUL:
            return self._sum(self._scaled(x[1], dx[0]), self._scaled(x[0], dx[1]))
        if kind == ca.OP_DIV:
            inverse = primal.value(ca.OP_INV, x[1])
            back = primal.value(ca.OP_MUL, result, inverse)
            return self._difference(self._scaled(inverse, dx[0]), self._scaled(back, dx[1]))
        if kind == ca.OP_IF_ELSE_ZERO:
            return self._chosen(x[0], dx[1])
        if len(x) == 1:
            return self._scaled(self._slope(kind, result, x[0]), dx[0])
        slopes = self._slopes(kind, result, *x)
        return self._sum(self._scaled(slopes[0], dx[0]), self._scaled(slopes[1], dx[1]))

    def _slope(self, kind: int, result: int, x: int) -> int:
        """The derivative of a function of one argument."""
        primal, one = self.primal, self.primal.constant(1.0)

        def of(operation: int, *arguments: int) -> int:
            return primal.value(operation, *arguments)

        square = of(ca.OP_SQ, x)
        slopes = {
            ca.OP_SQ: lambda: of(ca.OP_TWICE, x),
            ca.OP_INV: lambda: of(ca.OP_NEG, of(ca.OP_SQ, result)),
            ca.OP_SQRT: lambda: self._where_positive(x, of(ca.OP_DIV, primal.constant(0.5), result)),
            ca.OP_FABS: lambda: of(ca.OP_SIGN, x),
            ca.OP_EXP: lambda: result,
            ca.OP_LOG: lambda: of(ca.OP_INV, x),
            ca.OP_SIN: lambda: of(ca.OP_COS, x),
            ca.OP_COS: lambda: of(ca.OP_NEG, of(ca.OP_SIN, x)),
            ca.OP_TAN: lambda: of(ca.OP_ADD, one, of(ca.OP_SQ, result)),
            ca.OP_ASIN: lambda: self._inverse_root(of(ca.OP_SUB, one, square)),
            ca.OP_ACOS: lambda: of(ca.OP_NEG, self._inverse_root(of(ca.OP_SUB, one, square))),
            ca.OP_ATAN: lambda: of(ca.OP_INV, of(ca.OP_ADD, one, square)),
            ca.OP_SINH: lambda: of(ca.OP_COSH, x),
            ca.OP_COSH: lambda: of(ca.OP_SINH, x),
            ca.OP_TANH: lambda: of(ca.OP_SUB, one, of(ca.OP_SQ, result)),
            ca.OP_ASINH: lambda: of(ca.OP_INV, of(ca.OP_SQRT, of(ca.OP_ADD, square, one))),
            ca.OP_ACOSH: lambda: self._inverse_root(of(ca.OP_SUB, square, one)),
            ca.OP_ATANH: lambda: of(ca.OP_INV, of(ca.OP_SUB, one, square)),
            ca.OP_ERF: lambda: of(ca.OP_MUL, primal.constant(2.0 / math.sqrt(math.pi)), of(ca.OP_EXP, of(ca.OP_NEG, square))),
            ca.OP_LOG1P: lambda: of(ca.OP_INV, of(ca.OP_ADD, one, x)),
            ca.OP_EXPM1: lambda: of(ca.OP_ADD, one, result),
        }
        return slopes[kind]()

    def _slopes(self, kind: int, result: int, x: int, y: int) -> tuple[int, int]:
        """The derivatives of a function of two arguments."""
        primal, of = self.primal, self.primal.value
        if kind == ca.OP_POW:
            # y x^(y-1) and x^y log x; both are zero at x = 0, as for a contact force at zero depth
            below = of(ca.OP_POW, x, of(ca.OP_SUB, y, primal.constant(1.0)))
            return (self._where_positive(x, of(ca.OP_MUL, y, below)),
                    self._where_positive(x, of(ca.OP_MUL, result, of(ca.OP_LOG, x))))  # fmt: skip
        if kind == ca.OP_ATAN2:
            squares = of(ca.OP_INV, of(ca.OP_ADD, of(ca.OP_SQ, x), of(ca.OP_SQ, y)))
            return of(ca.OP_MUL, y, squares), of(ca.OP_NEG, of(ca.OP_MUL, x, squares))
        if kind == ca.OP_HYPOT:
            inverse = self._where_positive(result, of(ca.OP_INV, result))
            return of(ca.OP_MUL, x, inverse), of(ca.OP_MUL, y, inverse)
        if kind in (ca.OP_FMIN, ca.OP_FMAX):  # both arguments are constant in the state
            first = of(ca.OP_LE, *((x, y) if kind == ca.OP_FMIN else (y, x)))
            return first, of(ca.OP_NOT, first)
        if kind == ca.OP_COPYSIGN:
            return of(ca.OP_MUL, of(ca.OP_SIGN, x), of(ca.OP_SIGN, y)), primal.constant(0.0)
        if kind in (ca.OP_FMOD, ca.OP_REMAINDER):
            whole = of(ca.OP_DIV, of(ca.OP_SUB, result, x), y)  # minus the number of times that y was subtracted
            return primal.constant(1.0), whole
        raise NotImplementedError(f"operation {kind} has no derivative here")

    def _inverse_root(self, x: int) -> int:
        """1 / sqrt(x); 0 at x = 0, where a clipped argument stays."""
        return self._where_positive(x, self.primal.value(ca.OP_INV, self.primal.value(ca.OP_SQRT, x)))

    def _where_positive(self, x: int, slope: int) -> int:
        positive = self.primal.value(ca.OP_LT, self.primal.constant(0.0), x)
        return self.primal.value(ca.OP_IF_ELSE_ZERO, positive, slope)


def pruned(program: Program) -> Program:
    """The same program without values that no output needs."""
    needed = bytearray(len(program.kind) + 1)
    for output in program.outputs:
        needed[output] = 1
    for value in range(len(program.kind) - 1, -1, -1):
        if needed[value]:
            for argument in program.arguments(value):
                needed[argument] = 1
    kept, numbers = Program(program.n_y, program.n_p, guards=program.guards), [NONE] * len(program.kind)
    for value, kind in enumerate(program.kind):
        if not needed[value]:
            continue
        if kind == CONSTANT:
            numbers[value] = kept.constant(program.constants[program.a[value]])
        elif kind < 0:
            numbers[value] = kept.value(kind, program.a[value])
        else:
            numbers[value] = kept.value(kind, *(numbers[argument] for argument in program.arguments(value)))
    kept.outputs = [numbers[output] for output in program.outputs]
    return kept
