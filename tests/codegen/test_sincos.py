"""Sines and cosines in batches, and of members in lock-step."""

import ctypes

import casadi as ca
import numpy as np
import pytest

from pliant.codegen.emit import emit
from pliant.codegen.llvm import compile_function
from pliant.codegen.program import read_program
from pliant.codegen.schedule import make_schedule
from pliant.codegen.sincos import BATCH, LARGEST, batch_text, near_text
from pliant.host.processor import host, load_object, optimised


def sines(n):
    t, y, p = ca.SX.sym("t"), ca.SX.sym("y", n), ca.SX.sym("p", 0)
    return ca.Function("sines", [t, y, p], [ca.vertcat(ca.sin(y), ca.cos(y))])


# The last: next to multiples of pi/2, where subtracting them leaves only the last digits.
ANGLES = {
    "small": lambda rng, n: rng.uniform(-1e-8, 1e-8, n),
    "first turn": lambda rng, n: rng.uniform(-7.0, 7.0, n),
    "many turns": lambda rng, n: rng.uniform(-LARGEST, LARGEST, n),
    "the library's": lambda rng, n: rng.uniform(-1e3 * LARGEST, 1e3 * LARGEST, n),
    "near quarter turns": lambda rng, n: rng.integers(0, 60_000, n) * (np.pi / 2) * (1 + rng.integers(-3, 4, n) / 2**52),
}


@pytest.fixture(scope="module")
def of_200():
    return compile_function(sines(200), cache=None)


@pytest.mark.parametrize("angles", ANGLES.values(), ids=ANGLES)
def test_the_error_is_below_one_ulp(angles, of_200):
    """Against numpy in extended precision where the machine has it, else against numpy, itself good to 0.52 ulp."""
    x = angles(np.random.default_rng(3), (100, 200))
    wide = x.astype(np.longdouble)
    exact = np.concatenate([np.sin(wide), np.cos(wide)], axis=1)
    error = np.abs(np.array([of_200(0.0, row, []) for row in x]) - exact)
    allowed = 0.8 if np.finfo(np.longdouble).nmant > 52 else 1.5
    assert np.max(error / np.spacing(np.abs(exact.astype(float)))) < allowed


def test_special_values_and_huge_angles_keep_their_lane():
    x = np.array([0.0, -0.0, np.nan, np.inf, 1e22, 0.5, -np.inf, np.nan, 1.0])
    with np.errstate(invalid="ignore"):
        expected = np.concatenate([np.sin(x), np.cos(x)])
    actual = compile_function(sines(9), cache=None)(0.0, x, [])
    np.testing.assert_allclose(actual, expected, rtol=1e-15)
    assert np.signbit(actual[1])
    assert not np.signbit(actual[0])


@pytest.mark.parametrize("angles", ANGLES.values(), ids=ANGLES)
def test_a_processor_without_fused_products_loses_no_accuracy(angles):
    text = batch_text(fused=False)
    assert "call <4 x double> @llvm.fma" not in text and "call <4 x double> @llvm.fma" in batch_text(fused=True)
    target = host()
    engine = load_object(bytes(target.machine(1).emit_object(optimised(text, target.machine(1)))), target)
    batch = ctypes.CFUNCTYPE(None, *(ctypes.c_void_p,) * 3, ctypes.c_int64)(engine.get_function_address(BATCH))
    x = angles(np.random.default_rng(3), 20_000)
    found, wide = np.empty((2, x.size)), x.astype(np.longdouble)
    batch(x.ctypes.data, found[0].ctypes.data, found[1].ctypes.data, x.size)
    exact = np.stack([np.sin(wide), np.cos(wide)])
    allowed = 1.0 if np.finfo(np.longdouble).nmant > 52 else 1.5
    assert np.max(np.abs(found - exact) / np.spacing(np.abs(exact.astype(float)))) < allowed


def test_kernels_share_one_batch():
    """Its code is not compiled again for each of them."""
    program = read_program(sines(3))
    text = emit(program, make_schedule(program, 100))
    assert f"declare void @{BATCH}(" in text and "fma.v4f64" not in text
    codes = [compile_function(sines(n), cache=None) for n in (3, 9)]
    for code in codes:
        x = np.linspace(-1.0, 2.0, code.n_y)
        np.testing.assert_allclose(code(0.0, x, []), np.concatenate([np.sin(x), np.cos(x)]), rtol=1e-15)


@pytest.fixture(scope="module", params=[1, 2])
def of_members(request):
    """Sines and cosines of an array, by the text for vectors of this width."""
    width = request.param
    kind, suffix = ("double", "f64") if width == 1 else (f"<{width} x double>", f"v{width}f64")
    declared = [f"declare {kind} @llvm.fma.{suffix}({kind}, {kind}, {kind})", f"declare {kind} @llvm.fabs.{suffix}({kind})"]
    text = "\n".join([*declared, near_text("sines", width, "").replace("define internal", "define")])
    machine = host().machine(1)
    engine = load_object(bytes(machine.emit_object(optimised(text, machine, 1))), host())
    function = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3)(engine.get_function_address("sines"))

    def both(x: np.ndarray) -> np.ndarray:
        found, (n,) = np.empty((2, x.size)), x.shape
        for k in range(0, n, width):
            function(*(array[k : k + width].ctypes.data for array in (x, found[0], found[1])))
        return found

    both.engine = engine  # it owns the code
    return both


@pytest.mark.parametrize("angles", [make for name, make in ANGLES.items() if name != "the library's"])
def test_the_error_of_members_is_below_two_ulp(angles, of_members):
    x = angles(np.random.default_rng(4), 20_000)
    wide = x.astype(np.longdouble)
    exact = np.array([np.sin(wide), np.cos(wide)])
    allowed = 1.6 if np.finfo(np.longdouble).nmant > 52 else 2.2
    assert np.max(np.abs(of_members(x) - exact) / np.spacing(np.abs(exact.astype(float)))) < allowed


def test_members_have_no_sine_beyond_the_range_of_the_method(of_members):
    found = of_members(np.array([np.inf, -np.inf, np.nan, 1.01 * LARGEST, LARGEST, -LARGEST, -0.0, 0.0]))
    assert np.isnan(found[:, :4]).all() and np.isfinite(found[:, 4:6]).all()
    assert found[:, 6:].tolist() == [[0.0, 0.0], [1.0, 1.0]]
