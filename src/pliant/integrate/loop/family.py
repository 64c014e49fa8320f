"""The interface between the march and a family of methods: one function, called by address.

double dispatch(RUN* run, int64 action, int64 target, double h, double x)

A family writes y_new, and its stages for the dense output; k_0 is the derivative at the start of the step, k_stages that at its
end. Families are compiled separately, each at first use: a run that never needs an implicit method never compiles one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pliant.codegen.loop_language import Address, ByAddress, address_of_record, floats
from pliant.integrate.loop.kernels import Loop, stage
from pliant.integrate.memory.run_record import RUN

# `action`:
ATTEMPT = 0  # take a step h to t_new = x; returns its error (1: just acceptable, inf: not finite, < 0: see run.wanted), k_s
TAKE = 1  # take a step h of which only y_new is needed; no stage lies beyond x
ERROR = 2  # the error of the last step h
DENSE = 3  # target = y(t + x h) on the dense output of the step h
STIFFNESS = 4  # estimate of h times the magnitude of the largest eigenvalue of J, after a step h


_call: Any = ByAddress(float, (Address, int, int, float, float))


def attempt(run: Any, h: float, t_new: float) -> float:
    return float(_call(run.family, address_of_record(run), ATTEMPT, 0, h, t_new))


def take_step(run: Any, h: float, t_new: float) -> None:
    _call(run.family, address_of_record(run), TAKE, 0, h, t_new)


def error_norm(run: Any, h: float) -> float:
    return float(_call(run.family, address_of_record(run), ERROR, 0, h, 0.0))


def interpolate(run: Any, target: int, h: float, x: float) -> None:
    run.n_dense = run.n_padded
    _call(run.family, address_of_record(run), DENSE, target, h, x)


def interpolate_read(run: Any, target: int, h: float, x: float) -> None:
    """The same, of the components that kernels read at least: works and impulses of many contacts may be more than those."""
    run.n_dense = min(run.n_read, run.n_padded)
    _call(run.family, address_of_record(run), DENSE, target, h, x)


def stiffness(run: Any, h: float) -> float:
    return float(_call(run.family, address_of_record(run), STIFFNESS, 0, h, 0.0))


def hermite(run: Any, target: int, h: float, x: float, n: int) -> None:
    """The first n components on the cubic through both ends: needs no evaluations, and is accurate enough to guide a search."""
    out, y, y_new = floats(target, n), floats(run.y, n), floats(run.y_new, n)
    k_start, k_end = floats(stage(run, 0), n), floats(stage(run, run.stages), n)
    rise, start, end = x * x * (3.0 - 2.0 * x), h * x * (1.0 - x) ** 2, h * x * x * (x - 1.0)
    for i in range(n):
        out[i] = y[i] + rise * (y_new[i] - y[i]) + start * k_start[i] + end * k_end[i]


def family_loop(dispatch: Callable[..., float], large: bool = False) -> Loop:
    """What `setup` finds in the module of a family."""
    return Loop(dispatch, (RUN, int, int, float, float), float, large)
