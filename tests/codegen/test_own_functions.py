"""Functions of our own, as the text that a GPU is given, run here: within 2 units in the last place."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable

import mpmath
import numpy as np
import pytest

from pliant.codegen.own_functions import CONSTANTS, OWN
from pliant.codegen.plain import Setting, intrinsics_text, plain_text
from pliant.host.processor import host, load_object

RANGES = {
    "exp": (-700.0, 700.0), "expm1": (-5.0, 20.0), "log": (1e-300, 1e3), "log1p": (-0.99, 9.0), "sinh": (-30.0, 30.0),
    "cosh": (-30.0, 30.0), "tanh": (-3.0, 3.0), "atan": (-5.0, 5.0), "asin": (-1.0, 1.0), "acos": (-1.0, 1.0), "sin": (-40.0, 40.0),
    "cos": (-40.0, 40.0),
}  # fmt: skip
PAIRS = {"atan2": (-3.0, 3.0), "hypot": (-1e3, 1e3), "pow": (0.0, 40.0)}


@pytest.fixture(scope="module")
def own() -> Callable[[str], Callable[..., float]]:
    text = intrinsics_text() + plain_text(OWN, Setting(constants=CONSTANTS)).replace("define internal", "define")
    import llvmlite.binding as llvm

    target = host()
    module = llvm.parse_assembly(text)
    module.triple = target.triple
    engine = load_object(bytes(target.machine(2).emit_object(module)), target)

    def function(name: str, arguments: int = 1) -> Callable[..., float]:
        call = ctypes.CFUNCTYPE(ctypes.c_double, *(ctypes.c_double,) * arguments)(engine.get_function_address(f"own_{name}"))
        return lambda *x: (engine, call(*x))[1]

    return function


def ulps(value: float, exact: mpmath.mpf) -> float:
    return float(abs(mpmath.mpf(value) - exact) / math.ulp(float(exact)))


@pytest.mark.parametrize("name", RANGES)
def test_functions_of_one_number_are_within_two_units(own, name: str) -> None:
    rng, function = np.random.default_rng(1), own(name)
    exact = getattr(mpmath, name)
    numbers = [*rng.uniform(*RANGES[name], 1500).tolist(), *(RANGES[name][1] * 10.0 ** -rng.uniform(0, 12, 300)).tolist()]
    with mpmath.workprec(160):
        worst = max((ulps(function(x), exact(mpmath.mpf(x))), x) for x in numbers)
    assert worst[0] <= 2.0, worst


@pytest.mark.parametrize("name", PAIRS)
def test_functions_of_two_numbers_are_within_two_units(own, name: str) -> None:
    rng, function = np.random.default_rng(2), own(name, 2)
    exact = {"atan2": mpmath.atan2, "hypot": mpmath.hypot, "pow": mpmath.power}[name]
    pairs = rng.uniform(*PAIRS[name], (1500, 2))
    if name == "pow":
        pairs[:, 1] = rng.uniform(-30.0, 30.0, len(pairs))
    with mpmath.workprec(160):
        worst = max((ulps(function(x, y), exact(mpmath.mpf(x), mpmath.mpf(y))), x, y) for x, y in pairs.tolist())
    assert worst[0] <= 2.0, worst


def test_what_has_no_value_has_none_here_either(own) -> None:
    nan, inf = math.nan, math.inf
    for name in RANGES:
        assert math.isnan(own(name)(nan))
    assert own("exp")(inf) == inf and own("exp")(-inf) == 0.0 and own("log")(0.0) == -inf and math.isnan(own("log")(-1.0))
    assert own("tanh")(inf) == 1.0 and own("atan")(-inf) == -math.pi / 2 and math.isnan(own("asin")(1.5))
    power = own("pow", 2)
    assert power(0.0, 2.5) == 0.0 and power(-2.0, 3.0) == -8.0 and math.isnan(power(-2.0, 0.5)) and power(0.0, -1.0) == inf
    angle = own("atan2", 2)
    for y, x in ((0.0, 1.0), (0.0, -1.0), (-0.0, -1.0), (1.0, 0.0), (-1.0, 0.0), (inf, inf), (1.0, -inf)):
        assert angle(y, x) == math.atan2(y, x)
