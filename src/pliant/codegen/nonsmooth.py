"""The register of operations that are not smooth: where each has its edge, and what happens to the result there.

An edge is the zero of a function g of the operation's arguments. At a JUMP the value changes; at a CORNER the value is continuous
and the slope changes; at a STEEP edge the slope is infinite. What a run and its derivatives do at an edge:

- comparisons and signs in users' formulas and laws are switches (trace/switches.py): flags in p decide them, a step ends at each
  change, and derivatives take the jump there (study/derivatives/saltation.py);
- steps end at corners of users' formulas; at corners of laws, steps of derivatives are cut (integrate/replay/variational.py);
  corners of a prescribed motion, whose acceleration jumps there, are switches too;
- at all other edges the equations themselves are examined where a run crosses one: if they jump or are infinitely steep there,
  derivatives are undefined from there on (study/derivatives/edges.py).

What a search compared (`scalar.converged`) has no edge: where it ends must not depend on its way there.

An edge of an operation need not be an edge of the equations: both sides may agree, as those of x * |x|.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass

import casadi as ca

from pliant.codegen.operations import CONVERGED
from pliant.codegen.program import STATE, TIME, Program

JUMP, CORNER, STEEP = "jumps", "has a corner", "is infinitely steep"

Place = Callable[..., int]  # (program, *arguments) -> the value g, whose zeros are the edge


@dataclass(frozen=True)
class Edge:
    """One operation of the register."""

    name: str  # as users write it
    what: str  # JUMP, CORNER or STEEP
    place: Place


def _first(program: Program, x: int, *_: int) -> int:
    return x


def _second(program: Program, x: int, y: int) -> int:
    return y


def _difference(program: Program, x: int, y: int) -> int:
    return program.value(ca.OP_SUB, x, y)


def _whole(program: Program, x: int) -> int:
    """Zero where x is a whole number; of either sign between two of them."""
    return program.value(ca.OP_SIN, program.value(ca.OP_MUL, program.constant(math.pi), x))


def _multiple(program: Program, x: int, y: int) -> int:
    return _whole(program, program.value(ca.OP_DIV, x, y))


def _half_multiple(program: Program, x: int, y: int) -> int:
    return _whole(program, program.value(ca.OP_ADD, program.value(ca.OP_DIV, x, y), program.constant(0.5)))


def _only_where(program: Program, condition: int, x: int) -> int:
    """x where the condition holds, elsewhere 1: no edge."""
    other = program.value(ca.OP_NOT, condition)
    return program.value(ca.OP_ADD, program.value(ca.OP_IF_ELSE_ZERO, condition, x), other)


def _cut(program: Program, y: int, x: int) -> int:
    """The negative x axis, on which atan2 jumps by a turn."""
    return _only_where(program, program.value(ca.OP_LT, x, program.constant(0.0)), y)


def _base(program: Program, x: int, exponent: int) -> int:
    return _only_where(program, program.value(ca.OP_LT, exponent, program.constant(1.0)), x)


def _distance(program: Program, x: int, y: int) -> int:
    return program.value(ca.OP_HYPOT, x, y)


def _within_one(program: Program, x: int) -> int:
    return program.value(ca.OP_SUB, program.constant(1.0), program.value(ca.OP_SQ, x))


def _beyond_one(program: Program, x: int) -> int:
    return program.value(ca.OP_SUB, x, program.constant(1.0))


EDGES: dict[int, Edge] = {
    ca.OP_LT: Edge("a comparison", JUMP, _difference),
    ca.OP_LE: Edge("a comparison", JUMP, _difference),
    ca.OP_EQ: Edge("a comparison", JUMP, _difference),
    ca.OP_NE: Edge("a comparison", JUMP, _difference),
    ca.OP_SIGN: Edge("sign", JUMP, _first),
    ca.OP_COPYSIGN: Edge("copysign", JUMP, _second),
    ca.OP_FLOOR: Edge("floor or quantise", JUMP, _whole),
    ca.OP_CEIL: Edge("ceil", JUMP, _whole),
    ca.OP_FMOD: Edge("fmod", JUMP, _multiple),
    ca.OP_REMAINDER: Edge("remainder", JUMP, _half_multiple),
    ca.OP_ATAN2: Edge("atan2", JUMP, _cut),
    ca.OP_FABS: Edge("absolute", CORNER, _first),
    ca.OP_FMIN: Edge("minimum", CORNER, _difference),
    ca.OP_FMAX: Edge("maximum", CORNER, _difference),
    ca.OP_HYPOT: Edge("hypot", CORNER, _distance),
    ca.OP_SQRT: Edge("sqrt", STEEP, _first),
    ca.OP_POW: Edge("a power below 1", STEEP, _base),
    ca.OP_ASIN: Edge("asin", STEEP, _within_one),
    ca.OP_ACOS: Edge("acos", STEEP, _within_one),
    ca.OP_ACOSH: Edge("acosh", STEEP, _beyond_one),
}

# Smooth wherever they have a value; truth values and selections have the edges of the comparisons that they are made of.
SMOOTH = frozenset((
    ca.OP_ADD, ca.OP_SUB, ca.OP_MUL, ca.OP_DIV, ca.OP_NEG, ca.OP_SQ, ca.OP_TWICE, ca.OP_INV, ca.OP_EXP, ca.OP_LOG, ca.OP_SIN,
    ca.OP_COS, ca.OP_TAN, ca.OP_ATAN, ca.OP_SINH, ca.OP_COSH, ca.OP_TANH, ca.OP_ASINH, ca.OP_ATANH, ca.OP_ERF, ca.OP_LOG1P,
    ca.OP_EXPM1, ca.OP_AND, ca.OP_OR, ca.OP_NOT, ca.OP_IF_ELSE_ZERO, CONVERGED,
))  # fmt: skip


def edges_of(program: Program) -> tuple[Program, list[Edge]]:
    """(The functions g of all edges that depend on time or state, as a program of the same inputs; the edge of each)."""
    found = deepcopy(program)
    found.outputs = []
    needed, moving, edges = program.needed(but_searches=True), [False] * len(program.kind), list[Edge]()
    for value, kind in enumerate(program.kind):
        arguments = list(program.arguments(value))
        moving[value] = kind in (TIME, STATE) or any(moving[x] for x in arguments)
        if kind in EDGES and moving[value] and value in needed:
            found.outputs.append(EDGES[kind].place(found, *arguments))
            edges.append(EDGES[kind])
    return found, edges
