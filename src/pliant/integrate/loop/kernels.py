"""Foundations of the time loops: what a loop is, calls of kernels by address, vectors by address.

Functions of a loop are plain Python (see `codegen.loop_compiler` for the language); `compiled_loops` makes machine code of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pliant.codegen.loop_language import Address, ByAddress, floats


@dataclass(frozen=True)
class Loop:
    """The function that machine code enters, and the types of its arguments: int, float, a view, or the dtype of a record."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    answer: type | None = int
    large: bool = False  # compiled for short code: the march takes 2 s instead of 4, and runs are 2 % slower


# void kernel(double t, const double* y, const double* p, double* out, double* work)
call_kernel: Any = ByAddress(None, (float, Address, Address, Address, Address))


def stage(run: Any, i: int) -> int:
    """Address of k_i."""
    return int(run.k + 8 * i * run.n_padded)


def put(target: int, source: int, n: int) -> None:
    """Copy n numbers from address to address."""
    to, out_of = floats(target, n), floats(source, n)
    for i in range(n):
        to[i] = out_of[i]


def finite(address: int, n: int) -> bool:
    """Whether all numbers are finite, since zero times a finite number is zero.  Two sums, which can run in parallel."""
    values = floats(address, n)
    even = odd = 0.0
    for i in range(0, n - 1, 2):
        even += values[i] * 0.0
        odd += values[i + 1] * 0.0
    return bool(even + odd + values[n - 1] * 0.0 == 0.0)


def end_slope(run: Any, t_new: float) -> None:
    """Compute k_s, the derivative at the end of the step."""
    call_kernel(run.rhs, t_new, run.y_new, run.p, stage(run, run.stages), run.work)
    run.rhs_evaluations += 1
