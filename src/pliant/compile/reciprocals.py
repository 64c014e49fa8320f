"""Divisions by the same value share one reciprocal: a division costs what five products do.

casadi turns x * (1 / d) back into x / d, so the recursions' pivots arrive here as many divisions. A product with the
reciprocal is within one ulp and a half of the quotient, but overflows where 1 / d does: denormal d.
"""

from __future__ import annotations

from collections import Counter

import casadi as ca

from pliant.compile.program import NONE, Program

FEWEST = 2  # divisions by one value that make its reciprocal worth while


def share_reciprocals(program: Program) -> Program:
    """The same program with repeated divisors inverted once, where the first of their quotients stood."""
    divisors = Counter(b for kind, b in zip(program.kind, program.b, strict=True) if kind == ca.OP_DIV)
    repeated = {divisor for divisor, count in divisors.items() if count >= FEWEST}
    if not repeated:
        return program
    shared = Program(n_y=program.n_y, n_p=program.n_p, constants=list(program.constants))
    moved: list[int] = []
    for kind, a, b in zip(program.kind, program.a, program.b, strict=True):
        if kind < 0:
            moved.append(shared.value(kind, a))
        elif kind == ca.OP_DIV and b in repeated:
            moved.append(shared.value(ca.OP_MUL, moved[a], shared.value(ca.OP_INV, moved[b])))
        else:
            moved.append(shared.value(kind, moved[a], NONE if b == NONE else moved[b]))
    shared.outputs = [moved[output] for output in program.outputs]
    return shared


