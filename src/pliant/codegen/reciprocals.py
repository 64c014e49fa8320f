"""Divisions by the same value share one reciprocal, because a division costs as much as five products.

A trace turns x * (1 / d) into x / d, so the recursions' pivots arrive here as many divisions. A product with the reciprocal is
within 1.5 ulp of the quotient, but overflows if 1 / d does, that is for denormal d.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from pliant.arrays import Ints
from pliant.codegen.program import ABSORBED, NONE, Program
from pliant.codegen.repeats import Columns

FEWEST = 2  # number of divisions by one value from which its reciprocal pays off


def share_reciprocals(program: Program) -> Program:
    """The same program with each repeated divisor inverted once, at the position of its first quotient."""
    columns = Columns.of(program)
    divisor = np.where(columns.kind == ca.OP_DIV, columns.arguments[1], NONE)
    counts = np.bincount(divisor[divisor != NONE], minlength=columns.kind.size)
    if not (counts >= FEWEST).any():
        return program
    quotients = np.flatnonzero((divisor != NONE) & (counts[divisor] >= FEWEST))
    divisors, firsts = np.unique(divisor[quotients], return_index=True)
    first = quotients[firsts]  # the first quotient of each divisor
    inverses = np.flatnonzero(columns.kind == ca.OP_INV)
    known = dict(zip(columns.arguments[0][inverses].tolist(), inverses.tolist(), strict=True))
    place = np.array([known.get(d, -1) for d in divisors.tolist()], dtype=np.int64)  # where a divisor is inverted already
    missing = (place < 0) | (place > first)
    late = place[missing & (place > first)]  # reciprocals that come after their first quotient: they are moved before it
    moved = np.arange(columns.kind.size) + np.searchsorted(np.sort(first[missing]), np.arange(columns.kind.size), side="right")
    inverse = np.where(missing, moved[first] - 1, moved[place])
    of = np.full(columns.kind.size, NONE, dtype=np.int64)
    of[divisors] = inverse
    return _rebuilt(program, columns, moved, quotients, divisors[missing], of, late)


def _rebuilt(
    program: Program,
    columns: Columns,
    moved: Ints,
    quotients: Ints,
    inverted: Ints,
    inverse: Ints,
    late: Ints,
) -> Program:
    """The program with values at their new positions, quotients as products, and new reciprocals; `inverse` is keyed by divisor."""
    size = columns.kind.size + inverted.size
    new = moved.copy()
    new[late] = inverse[columns.arguments[0][late]]
    kind, arguments = np.full(size, ca.OP_INV, dtype=np.int64), np.full((3, size), NONE, dtype=np.int64)
    kind[moved] = columns.kind
    kind[moved[late]] = ABSORBED
    arguments[:, moved] = np.where(columns.arguments == NONE, NONE, new[columns.arguments])
    leaves = columns.kind < 0
    arguments[0, moved[leaves]] = columns.index[leaves]
    kind[moved[quotients]] = ca.OP_MUL
    arguments[1, moved[quotients]] = inverse[columns.arguments[1][quotients]]
    arguments[0, inverse[inverted]] = new[inverted]
    a, b, c = arguments.tolist()
    outputs = [int(new[output]) for output in program.outputs]
    return Program(program.n_y, program.n_p, kind.tolist(), a, b, c, list(program.constants), outputs, program.guards)
