"""Sums of stages, eight components at a time in vector registers, which LLVM does not generate by itself.  Compiled."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from pliant.integrate.run_record import BLOCK

_DOUBLE, _WORD = ir.DoubleType(), ir.IntType(64)
_LANES = ir.VectorType(_DOUBLE, BLOCK)
_ADDRESS = types.int64


class _Lanes:
    """Writes operations on eight components. fused: use fused multiply-add where the machine has it."""

    def __init__(self, builder: Any, fused: bool) -> None:
        self._builder, self._flags = builder, ("contract",) if fused else ()

    def load(self, address: Any) -> Any:
        return self._builder.load(self._builder.inttoptr(address, _LANES.as_pointer()), align=8)

    def store(self, value: Any, address: Any) -> None:
        self._builder.store(value, self._builder.inttoptr(address, _LANES.as_pointer()), align=8)

    def add_product(self, factor: Any, lanes: Any, to: Any) -> Any:
        """to + factor lanes, for a scalar factor."""
        nowhere = ir.Constant(_LANES, ir.Undefined)
        first = self._builder.insert_element(nowhere, factor, ir.Constant(ir.IntType(32), 0))
        every = ir.Constant(ir.VectorType(ir.IntType(32), BLOCK), [0] * BLOCK)
        product = self._builder.fmul(self._builder.shuffle_vector(first, nowhere, every), lanes, flags=self._flags)
        return self._builder.fadd(to, product, flags=self._flags)


def _add_terms(typing_context: Any, target: Any, base: Any, h: Any, k: Any, stride: Any, columns: Any, values: Any, n: Any) -> Any:
    """target = base + h sum values_i k[columns_i]; k is an address, stride is in bytes."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        target, base, h, k, stride, columns, values, n = arguments
        lanes = _Lanes(builder, fused=True)
        columns, values = builder.inttoptr(columns, _WORD.as_pointer()), builder.inttoptr(values, _DOUBLE.as_pointer())
        total = cgutils.alloca_once_value(builder, ir.Constant(_LANES, [0.0] * BLOCK))
        with cgutils.for_range(builder, n) as loop:
            column, value = (builder.load(builder.gep(array, [loop.index])) for array in (columns, values))
            stage = lanes.load(builder.add(k, builder.mul(stride, column)))
            builder.store(lanes.add_product(value, stage, builder.load(total)), total)
        lanes.store(lanes.add_product(h, builder.load(total), lanes.load(base)), target)
        return context.get_dummy_value()

    word = types.int64
    return types.void(_ADDRESS, _ADDRESS, types.float64, _ADDRESS, word, _ADDRESS, _ADDRESS, word), emit


def _weigh_all(typing_context: Any, target: Any, base: Any, h: Any, k: Any, stride: Any, weights: Any, n: Any) -> Any:
    """target = base + h sum weights_j k_j, skipping weights of zero, whose stage may be nan."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        target, base, h, k, stride, weights, n = arguments
        lanes = _Lanes(builder, fused=False)
        weights = builder.inttoptr(weights, _DOUBLE.as_pointer())
        total = cgutils.alloca_once_value(builder, ir.Constant(_LANES, [0.0] * BLOCK))
        with cgutils.for_range(builder, n) as loop:
            weight = builder.load(builder.gep(weights, [loop.index]))
            with builder.if_then(builder.fcmp_unordered("!=", weight, ir.Constant(_DOUBLE, 0.0))):
                stage = lanes.load(builder.add(k, builder.mul(stride, loop.index)))
                builder.store(lanes.add_product(weight, stage, builder.load(total)), total)
        lanes.store(lanes.add_product(h, builder.load(total), lanes.load(base)), target)
        return context.get_dummy_value()

    return types.void(_ADDRESS, _ADDRESS, types.float64, _ADDRESS, types.int64, _ADDRESS, types.int64), emit


add_terms: Any = intrinsic(_add_terms)
weigh_all: Any = intrinsic(_weigh_all)
