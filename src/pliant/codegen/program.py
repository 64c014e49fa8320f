"""A traced function as a list of values, each computed once; the emitter reads it instead of casadi's work slots."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import casadi as ca

from pliant.codegen.numbers import LARGEST_EXPANDED_POWER, Number
from pliant.codegen.operations import CONVERGED, SUPPORTED
from pliant.errors import ModelError

# Kinds of leaves. They are negative, so they can never meet one of casadi's operation codes.
TIME, STATE, PARAMETER, CONSTANT = -1, -2, -3, -4
ABSORBED = -5  # a product that was absorbed into a fused one
INPUT = -6  # an input of a loop's body: the index is that of a stream
NONE = -1  # stands for a missing argument

_COMMUTATIVE = frozenset((ca.OP_ADD, ca.OP_MUL, ca.OP_EQ, ca.OP_NE, ca.OP_AND, ca.OP_OR, ca.OP_FMIN, ca.OP_FMAX))
_POWERS = frozenset((ca.OP_POW, ca.OP_CONSTPOW))
_ALIASES = frozenset((ca.OP_ASSIGN, ca.OP_LIFT))


class Nodes(Protocol):
    """Nodes as numbered by a tracer: the kind and arguments of each, and the values of constants."""

    kind: list[int]
    a: list[int]
    b: list[int]
    values: dict[int, float | Number]

    def name_of(self, node: int) -> str: ...


@dataclass
class Program:
    """Values in an order such that each comes after its arguments.

    Value `i` is `kind[i]` (a leaf above, casadi's operation code, or a fused product) of `a[i]`, `b[i]` and `c[i]`: the numbers of
    its arguments, NONE for a missing argument; for a leaf, `a[i]` is its index in y, p or `constants`. `outputs[k]` is the number
    of the value of out[k]. `guards` are entries of p; while one is zero, the values that depend on it vanish. `series` are entries
    of p before which the piece of a series at t is put.
    """

    n_y: int
    n_p: int
    kind: list[int] = field(default_factory=list)
    a: list[int] = field(default_factory=list)
    b: list[int] = field(default_factory=list)
    c: list[int] = field(default_factory=list)
    constants: list[float] = field(default_factory=list)
    outputs: list[int] = field(default_factory=list)
    guards: tuple[int, ...] = ()  # entries of p: see guards.py
    series: tuple[int, ...] = ()  # entries of p: see series.py
    _number: dict[tuple[int, int, int], int] = field(default_factory=dict, repr=False)
    _constant: dict[bytes, int] = field(default_factory=dict, repr=False)

    @property
    def operations(self) -> int:
        return sum(1 for kind in self.kind if kind >= 0)

    def arguments(self, value: int) -> Iterator[int]:
        if self.kind[value] >= 0:
            for argument in (self.a[value], self.b[value], self.c[value]):
                if argument != NONE:
                    yield argument

    def needed(self, *, but_searches: bool = False) -> set[int]:
        """The outputs and the values that they depend on; but_searches: without those that only lead to what was searched for."""
        found, waiting = set[int](), list(self.outputs)
        while waiting:
            value = waiting.pop()
            if value not in found:
                found.add(value)
                if not (but_searches and self.kind[value] == CONVERGED):
                    waiting += self.arguments(value)
        return found

    def entries_read(self, kind: int) -> list[int]:
        """The entries of an input (STATE or PARAMETER) that outputs depend on; a program also lists inputs that nothing reads."""
        return sorted({self.a[value] for value in self.needed() if self.kind[value] == kind})

    def value(self, kind: int, a: int, b: int = NONE) -> int:
        """The number of this value; equal operations on equal arguments share one value."""
        if a > b and kind in _COMMUTATIVE:
            a, b = b, a
        key = (kind, a, b)
        number = self._number.get(key)
        if number is None:
            number = self._number[key] = self.append(kind, a, b, NONE)
        return number

    def append(self, kind: int, a: int, b: int, c: int) -> int:
        """The number of a value that is known to be new."""
        self.kind.append(kind)
        self.a.append(a)
        self.b.append(b)
        self.c.append(c)
        return len(self.kind) - 1

    def constant(self, x: float) -> int:
        bits = struct.pack("<d", x)  # -0.0 and 0.0 are equal but not the same, nan is the same but not equal
        place = self._constant.get(bits)
        if place is None:
            place = self._constant[bits] = len(self.constants)
            self.constants.append(x)
        return self.value(CONSTANT, place)

    def power(self, x: int, exponent: int) -> int:
        """x**exponent; a small half-integer constant exponent becomes products and a square root, with an error of one or two ulp.

        Like pow, nan for x < 0. Unlike pow, nan and not inf for x = -inf.
        """
        known = self.constants[self.a[exponent]] if self.kind[exponent] == CONSTANT else None
        if known is None or abs(known) > LARGEST_EXPANDED_POWER or not (2.0 * known).is_integer():
            return self.value(ca.OP_POW, x, exponent)
        halves = int(abs(2.0 * known))
        if known < 0 and halves % 2:
            x = self.value(ca.OP_ADD, x, self.constant(0.0))  # turns -0.0 into 0.0, whose power is +inf, as for pow
        result = self._whole_power(x, halves // 2)
        if halves % 2:
            root = self.value(ca.OP_SQRT, x)
            result = root if halves == 1 else self.value(ca.OP_MUL, result, root)
        return self.value(ca.OP_INV, result) if known < 0 else result

    def _whole_power(self, x: int, n: int) -> int:
        if n == 0:
            return self.constant(1.0)
        half = self._whole_power(x, n // 2)
        if n == 1:
            return x
        square = self.value(ca.OP_SQ, half)
        return self.value(ca.OP_MUL, x, square) if n % 2 else square


def read_program(function: ca.Function) -> Program:
    """The program of f(t, y, p) -> out; casadi's work slots, which it reuses, become values that never change."""
    check_signature(function)
    program = Program(n_y=function.numel_in(1), n_p=function.numel_in(2))
    program.outputs = [-1] * function.numel_out(0)
    slots: dict[int, int] = {}
    code, inputs, outputs = function.instruction_id, function.instruction_input, function.instruction_output
    for k in range(function.n_instructions()):
        op = code(k)
        if op == ca.OP_OUTPUT:
            program.outputs[outputs(k)[1]] = slots[inputs(k)[0]]
        elif op == ca.OP_CONST:
            slots[outputs(k)[0]] = program.constant(function.instruction_constant(k))
        elif op == ca.OP_INPUT:
            argument, place = inputs(k)
            slots[outputs(k)[0]] = program.value((TIME, STATE, PARAMETER)[argument], place)
        else:
            slots[outputs(k)[0]] = _operation(program, op, [slots[slot] for slot in inputs(k)], function.name())
    return program


def write_program(name: str, graph: Nodes, inputs: Sequence[Sequence[int]], outputs: Sequence[int]) -> Program:
    """The program of f(t, y, p) -> out over a traced graph: the values that outputs need, each right before its first reader."""
    program = Program(n_y=len(inputs[1]), n_p=len(inputs[2]))
    values: list[int] = [NONE] * len(graph.kind)
    for leaf, places in zip((TIME, STATE, PARAMETER), inputs, strict=True):
        for place, node in enumerate(places):
            values[node] = program.value(leaf, place)
    kinds, left, right = graph.kind, graph.a, graph.b
    # a graph holds each node once; only products and roots that make up powers may exist already
    new = SUPPORTED if _POWERS.isdisjoint(kinds) else frozenset[int]()
    for output in outputs:
        waiting = [output]
        while waiting:
            node = waiting.pop()
            if values[node] != NONE:
                continue
            kind, a, b = kinds[node], left[node], right[node]
            if kind < 0:
                if node not in graph.values:
                    raise ModelError.of(f"function {name!r}", "free symbols", "must all be inputs", graph.name_of(node))
                value = graph.values[node]
                values[node] = program.constant(value.value if type(value) is Number else value)
            elif values[a] == NONE:
                waiting += (node, a)
            elif b != NONE and values[b] == NONE:
                waiting += (node, b)
            elif kind in new:
                values[node] = program.append(kind, values[a], NONE if b == NONE else values[b], NONE)
            else:
                arguments = [values[a]] if b == NONE else [values[a], values[b]]
                values[node] = _operation(program, kind, arguments, name)
    program.outputs = [values[output] for output in outputs]
    return program


def _operation(program: Program, op: int, arguments: list[int], name: str) -> int:
    if op in _POWERS:
        return program.power(*arguments)
    if op in SUPPORTED:
        return program.value(op, *arguments)
    if op in _ALIASES:
        return arguments[0]
    raise ModelError.of(f"function {name!r}", "operation", "must be an operation that machine code can be written for", op_name(op))


def op_name(op: int) -> str:
    """casadi's name of an operation code, as OP_SIN."""
    return next((key for key, value in vars(ca).items() if key.startswith("OP_") and value == op), f"code {op}")


def check_signature(function: Any) -> None:
    """Check that the function is f(t, y, p) -> out with dense columns, and that every symbol in it is an input."""
    part = f"function {function.name()!r}"
    if not function.is_a("SXFunction"):
        raise ModelError.of(part, "kind", "must be an SXFunction (expand() it)", function.class_name())
    if (function.n_in(), function.n_out()) != (3, 1):
        rule = "must be inputs t, y, p and one output"
        raise ModelError.of(part, "signature", rule, (function.n_in(), function.n_out()))
    if function.size_in(0) != (1, 1):
        raise ModelError.of(part, "t", "must be a scalar", function.size_in(0))
    shapes = {"y": function.sparsity_in(1), "p": function.sparsity_in(2), "out": function.sparsity_out(0)}
    for field_name, sparsity in shapes.items():
        if not (sparsity.is_dense() and (sparsity.is_column() or sparsity.numel() == 0)):
            raise ModelError.of(part, field_name, "must be a dense column", sparsity.dim(True))
    if function.has_free():
        raise ModelError.of(part, "free symbols", "must all be inputs", function.get_free())
