"""Sums of stages, eight components at a time in vector registers, which LLVM does not generate by itself."""

from __future__ import annotations

from pliant.codegen.loop_language import block, floats, fused, ints, no_block, put_block


@fused
def add_terms(target: int, base: int, h: float, k: int, stride: int, columns: int, values: int, n: int) -> None:
    """target = base + h sum values_i k[columns_i]; k is an address, stride is in bytes."""
    column, value = ints(columns, n), floats(values, n)
    total = no_block()
    for i in range(n):
        total += value[i] * block(k + stride * column[i])
    put_block(target, block(base) + h * total)


def weigh_all(target: int, base: int, h: float, k: int, stride: int, weights: int, n: int) -> None:
    """target = base + h sum weights_j k_j, skipping weights of zero, whose stage may be nan."""
    weight = floats(weights, n)
    total = no_block()
    for j in range(n):
        if weight[j] != 0.0:
            total += weight[j] * block(k + stride * j)
    put_block(target, block(base) + h * total)
