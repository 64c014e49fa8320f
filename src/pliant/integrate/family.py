"""The interface between the march and a family of methods: one function, called by address.

double dispatch(RUN* run, int64 action, int64 target, double h, double x)

A family writes y_new, and its stages for the dense output; k_0 is the derivative at the start of the step, k_stages that at its
end. Families are compiled separately, each at first use: a run that never needs an implicit method never compiles one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from pliant.integrate.kernels import RECORD, bitcode_of, compiled, floats, stage
from pliant.integrate.shipped_loops import Bitcode

# `action`:
ATTEMPT = 0  # take a step h to t_new = x; returns its error (1: just acceptable, inf: not finite, < 0: see run.wanted), k_s
TAKE = 1  # take a step h of which only y_new is needed; no stage lies beyond x
ERROR = 2  # the error of the last step h
DENSE = 3  # target = y(t + x h) on the dense output of the step h
STIFFNESS = 4  # estimate of h times the magnitude of the largest eigenvalue of J, after a step h


def _call(typing_context: Any, run: Any, action: Any, target: Any, h: Any, x: Any, address: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        record, action, target, h, x, address = values
        double, word, byte = ir.DoubleType(), ir.IntType(64), ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.IntType(32), [double.as_pointer(), byte.as_pointer(), record.type, word, word, double, double])
        answer = cgutils.alloca_once(builder, double)
        trouble = cgutils.alloca_once(builder, byte)
        builder.call(builder.inttoptr(address, kind.as_pointer()), [answer, trouble, record, action, target, h, x])
        return builder.load(answer)

    return types.float64(run, types.int64, types.int64, types.float64, types.float64, types.int64), emit


_call_family: Any = intrinsic(_call)


@compiled
def attempt(run: Any, h: float, t_new: float) -> float:
    return float(_call_family(run, ATTEMPT, 0, h, t_new, run.family))


@compiled
def take_step(run: Any, h: float, t_new: float) -> None:
    _call_family(run, TAKE, 0, h, t_new, run.family)


@compiled
def error_norm(run: Any, h: float) -> float:
    return float(_call_family(run, ERROR, 0, h, 0.0, run.family))


@compiled
def interpolate(run: Any, target: int, h: float, x: float) -> None:
    _call_family(run, DENSE, target, h, x, run.family)


@compiled
def stiffness(run: Any, h: float) -> float:
    return float(_call_family(run, STIFFNESS, 0, h, 0.0, run.family))


@compiled
def hermite(run: Any, target: int, h: float, x: float, n: int) -> None:
    """The first n components on the cubic through both ends: needs no evaluations, and is accurate enough to guide a search."""
    out, y, y_new = floats(target, n), floats(run.y, n), floats(run.y_new, n)
    k_start, k_end = floats(stage(run, 0), n), floats(stage(run, run.stages), n)
    rise, start, end = x * x * (3.0 - 2.0 * x), h * x * (1.0 - x) ** 2, h * x * x * (x - 1.0)
    for i in range(n):
        out[i] = y[i] + rise * (y_new[i] - y[i]) + start * k_start[i] + end * k_end[i]


def compile_dispatch(dispatch: Callable[..., float]) -> Bitcode:
    """The code of a family."""
    return bitcode_of(dispatch, types.float64, RECORD, types.int64, types.int64, types.float64, types.float64)
