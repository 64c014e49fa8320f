"""Fuses products with the sums that read them: one instruction, rounded once, if the processor has it."""

from __future__ import annotations

import casadi as ca
import numpy as np

from pliant.codegen.operations import FUSED_ADD, FUSED_FROM, FUSED_SUB
from pliant.codegen.program import ABSORBED, NONE, Program
from pliant.codegen.repeats import Columns

_PRODUCTS = frozenset((ca.OP_MUL, ca.OP_SQ))
_LEFT = {ca.OP_ADD: FUSED_ADD, ca.OP_SUB: FUSED_SUB}  # a b + c and a b - c: the product is the left operand
_RIGHT = {ca.OP_ADD: FUSED_ADD, ca.OP_SUB: FUSED_FROM}

# Latencies in cycles; only their ratios matter, to tell which of two products is ready last.
_CYCLES = {ca.OP_DIV: 14, ca.OP_INV: 14, ca.OP_SQRT: 14}
_CYCLES_OF_OTHERS = 4


def fuse(program: Program) -> None:
    """Absorb every product whose only reader is a sum or difference into that reader.

    Of two products, the one that is ready last is absorbed: the other is finished by then, so the sum is ready sooner.
    """
    readers = _count_readers(program)
    kind, a, b, c = program.kind, program.a, program.b, program.c
    ready = [0] * (len(kind) + 1)  # the last entry stands for a missing argument: NONE
    for value, operation in enumerate(kind):
        if operation < 0:
            continue
        if operation in _LEFT:
            left, right = a[value], b[value]
            candidates = [x for x in (left, right) if kind[x] in _PRODUCTS and readers[x] == 1]
            if candidates and left != right:
                product = max(candidates, key=ready.__getitem__)
                kind[value] = (_LEFT if product == left else _RIGHT)[operation]
                c[value] = right if product == left else left
                a[value], b[value] = a[product], b[product] if b[product] != NONE else a[product]
                kind[product] = ABSORBED
        ready[value] = _CYCLES.get(operation, _CYCLES_OF_OTHERS) + max(ready[a[value]], ready[b[value]], ready[c[value]])


def _count_readers(program: Program) -> list[int]:
    columns = Columns.of(program)
    read = columns.arguments[columns.arguments != NONE]
    every = np.concatenate([read, np.array(program.outputs, dtype=np.int64)])
    return [int(count) for count in np.bincount(every, minlength=len(program.kind))]
