"""Right-hand sides and event functions with closed-form solutions, as C kernels."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from pliant.codegen.loop_language import floats
from pliant.integrate.compiled_loops import function_of
from pliant.integrate.loop.kernels import Loop


@pytest.fixture(scope="session")
def kernel() -> Callable[[Any], int]:
    """Turns a Python function into an address; the machine code lives as long as the session."""

    def address(function: Any) -> int:
        code = function_of(Loop(function, (float, floats, floats, floats, floats), None))
        return int(ctypes.cast(code, ctypes.c_void_p).value or 0)

    return address


def oscillator(t, y, p, out, work):
    """y = (cos t, -sin t) from (1, 0)."""
    out[0], out[1] = y[1], -y[0]


def forced(t, y, p, out, work):
    """y = exp(sin t) from 1: time-dependent and nonlinear enough to see every order condition."""
    out[0], out[1] = y[0] * math.cos(t), -y[0] * y[1] * math.cos(t)


def oscillator_jacobian(t, y, p, out, work):
    """Rows of df/dy, then df/dt."""
    out[0], out[1], out[2], out[3] = 0.0, 1.0, -1.0, 0.0
    out[4], out[5] = 0.0, 0.0


def forced_jacobian(t, y, p, out, work):
    c, s = math.cos(t), math.sin(t)
    out[0], out[1], out[2], out[3] = c, 0.0, -y[1] * c, -y[0] * c
    out[4], out[5] = -y[0] * s, y[0] * y[1] * s


def kepler(t, y, p, out, work):
    r3 = (y[0] ** 2 + y[1] ** 2) ** 1.5
    out[0], out[1], out[2], out[3] = y[2], y[3], -y[0] / r3, -y[1] / r3


def van_der_pol(t, y, p, out, work):
    out[0], out[1] = y[1], p[0] * (1.0 - y[0] ** 2) * y[1] - y[0]


def ramp(t, y, p, out, work):
    """y = t / 2 - (1 - exp(-2 t)) / 4 from 0."""
    out[0] = t - 2.0 * y[0]


def pendulum(t, y, p, out, work):
    out[0], out[1] = y[1], -math.sin(y[0])


def falling(t, y, p, out, work):
    """Height, speed; p[0] gravity."""
    out[0], out[1] = y[1], -p[0]


def falling_jacobian(t, y, p, out, work):
    out[0], out[1], out[2], out[3], out[4], out[5] = 0.0, 1.0, 0.0, 0.0, 0.0, 0.0


def growth(t, y, p, out, work):
    """Passes no finite state beyond t = 1 from y = 1: y = 1/(1 - t)."""
    out[0] = y[0] ** 2


def decay(t, y, p, out, work):
    """y' = p y."""
    out[0] = p[0] * y[0]


def rooted(t, y, p, out, work):
    """y = (1 - t/2)^2 from 1, and nan beyond: sqrt of a negative number once y passes zero."""
    out[0] = -math.sqrt(y[0])
    if y[0] < 0.25:
        out[0] = math.nan


def both(t, y, p, out, work):
    """Events of the oscillator: g0 = y0, g1 = y1, g2 = y0 again (falls together with g0)."""
    out[0], out[1], out[2] = y[0], y[1], y[0]


def height(t, y, p, out, work):
    out[0] = y[0]


def level(t, y, p, out, work):
    """y0 below a level p[1]."""
    out[0] = y[0] - p[1]


def clock(t, y, p, out, work):
    """g = t - p[1]: zero at a time known exactly."""
    out[0] = t - p[1]


@pytest.fixture(scope="session")
def equations(kernel: Callable[[Any], int]) -> SimpleNamespace:
    functions = (
        oscillator, forced, oscillator_jacobian, forced_jacobian, falling_jacobian,
        kepler, van_der_pol, ramp, pendulum, falling, growth, decay, rooted, both, height, level, clock,
    )  # fmt: skip
    return SimpleNamespace(**{function.__name__: kernel(function) for function in functions})
