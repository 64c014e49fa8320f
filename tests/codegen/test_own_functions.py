"""Functions of our own, as the text that a GPU is given, run here: within 2 units in the last place."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable

import mpmath
import numpy as np
import pytest

from pliant.codegen.function_writer import intrinsics_text
from pliant.codegen.operations import LIBRARY
from pliant.codegen.own_functions import OWN
from pliant.codegen.plain import Setting, plain_text
from pliant.host.processor import host, load_object

RANGES = {
    "exp": (-700.0, 700.0), "expm1": (-5.0, 20.0), "log": (1e-300, 1e3), "log1p": (-0.99, 9.0), "sinh": (-30.0, 30.0),
    "cosh": (-30.0, 30.0), "tanh": (-3.0, 3.0), "atan": (-5.0, 5.0), "asin": (-1.0, 1.0), "acos": (-1.0, 1.0), "sin": (-40.0, 40.0),
    "cos": (-40.0, 40.0), "tan": (-40.0, 40.0), "asinh": (-9.0, 9.0), "atanh": (-1.0, 1.0), "erf": (-6.5, 6.5),
}  # fmt: skip
FROM_ONE_ON = (1.0, 9.0)  # of acosh
HARD = {  # where one piece of a method ends and the next begins, and the ends of what doubles hold
    "tan": (math.pi / 4, 3 * math.pi / 4, math.pi / 2, math.pi, 11.0, 1e5, -99999.5, 0.67434, 5e-324, 1e-310),
    "asinh": (2.0, 2.0**28, 1e300, 1.7976931348623157e308, 5e-324, -1e-310, 1e-9),
    "atanh": (0.5, 1.0 - 2.0**-53, -0.9999999, 5e-324, 1e-310, 1e-9),
    "acosh": (1.0 + 2.0**-52, 1.0 + 1e-9, 2.0, 2.0**28, 1e300, 1.7976931348623157e308),
    "erf": (0.84375, 1.25, 1 / 0.35, 5.9999, 7.0, 1e300, -2.857142857142857, 5e-324, 1e-310, 1e-9),
}
PAIRS = {"atan2": (-3.0, 3.0), "hypot": (-1e3, 1e3), "pow": (0.0, 40.0)}


@pytest.fixture(scope="module")
def own() -> Callable[[str], Callable[..., float]]:
    text = intrinsics_text() + plain_text(OWN, Setting()).replace("define internal", "define")
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


def test_there_is_one_for_every_function_that_a_formula_may_use() -> None:
    assert {f"own_{name}" for name in LIBRARY.values()} <= {function.__name__ for function in OWN}


@pytest.mark.parametrize("name", HARD)
def test_pieces_of_a_method_meet_within_two_units(own, name: str) -> None:
    function, exact = own(name), getattr(mpmath, name)
    near = [math.nextafter(x, away) for x in HARD[name] for away in (-math.inf, math.inf)]
    numbers = [x for x in (*HARD[name], *near) if math.isfinite(x) and x != 0.0 and (name != "tan" or abs(x) <= 1e5)]
    with mpmath.workprec(1200):  # tan near its poles, erf near 1
        worst = max((ulps(function(x), exact(mpmath.mpf(x))), x) for x in numbers)
    assert worst[0] <= 2.0, worst


def test_acosh_is_within_two_units_from_one_on(own) -> None:
    rng, function = np.random.default_rng(3), own("acosh")
    numbers = [*rng.uniform(*FROM_ONE_ON, 1500).tolist(), *(1.0 + 10.0 ** -rng.uniform(0, 15, 300)).tolist()]
    with mpmath.workprec(160):
        worst = max((ulps(function(x), mpmath.acosh(mpmath.mpf(x))), x) for x in numbers)
    assert worst[0] <= 2.0, worst


def test_remainders_are_exact(own) -> None:
    """Of numbers of all sizes, of near ones, of halves, where the even multiple counts; the sign of zero too."""
    rng = np.random.default_rng(4)
    sizes = rng.uniform(1.0, 2.0, (4000, 2)) * rng.choice([-1.0, 1.0], (4000, 2))
    pairs = np.ldexp(sizes, rng.integers(-1074, 1024, (4000, 2))).tolist()
    pairs += [(x, x * factor) for (x, _), factor in zip(pairs, rng.uniform(1e-3, 1e3, 4000).tolist(), strict=True)]
    pairs += [(0.5 * k * y, y) for y in (1.0, -0.1, 5e-324, 1e-310, 3e307) for k in range(-9, 10)]
    pairs += [(1.7976931348623157e308, 5e-324), (5e-324, 1.7976931348623157e308), (3.0, math.inf), (-0.0, 2.0)]
    for name, exact in (("fmod", math.fmod), ("remainder", math.remainder)):
        function = own(name, 2)
        for x, y in pairs:
            if y != 0.0 and math.isfinite(x) and not math.isnan(y):
                value, right = function(x, y), exact(x, y)
                assert (value, math.copysign(1.0, value)) == (right, math.copysign(1.0, right)), (name, x, y)
        for x, y in ((1.0, 0.0), (math.inf, 1.0), (-math.inf, math.inf), (math.nan, 1.0), (1.0, math.nan), (0.0, -0.0)):
            assert math.isnan(function(x, y)), (name, x, y)


def test_ends_of_the_other_functions_are_those_of_the_c_library(own) -> None:
    inf, ends = math.inf, (math.inf, -math.inf)
    for name in ("tan", "asinh", "atanh", "erf"):
        assert [math.copysign(1.0, own(name)(zero)) for zero in (0.0, -0.0)] == [1.0, -1.0], name
        assert own(name)(0.0) == 0.0
    assert [own("asinh")(x) for x in ends] == [inf, -inf] and [own("erf")(x) for x in ends] == [1.0, -1.0]
    assert [own("atanh")(x) for x in (1.0, -1.0)] == [inf, -inf] and own("acosh")(inf) == inf and own("acosh")(1.0) == 0.0
    nowhere = (("atanh", 1.0000001), ("atanh", -inf), ("acosh", 0.9999999), ("acosh", -inf), ("acosh", math.nan), ("tan", inf))
    for name, x in (*nowhere, ("tan", 1.1e5)):  # as sines: a member with such an angle is run by itself
        assert math.isnan(own(name)(x)), (name, x)
