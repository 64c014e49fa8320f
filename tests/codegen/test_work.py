"""The work array: its content before a call does not matter."""

import casadi as ca
import numpy as np
import pytest

from mechanisms import planar_chain
from pliant.codegen.llvm import compile_function
from pliant.gallery.falling_chain import falling_chain
from pliant.gallery.ivp_test_set import andrews_squeezer
from pliant.run.prepare import compile_system

RUBBISH = {"nan": np.nan, "huge": 1e300, "inf": np.inf, "beyond the polynomials": 2e5, "a denormal": 5e-324}


def bits_after(code, filling, y, p):
    """out(t, y, p) where work held `filling` before."""
    work, out = np.full(max(code.n_work, 1), filling), np.full(code.n_out, filling)
    code._function(0.3, y.ctypes.data, p.ctypes.data, out.ctypes.data, work.ctypes.data)
    return out.view(np.uint64)


@pytest.mark.parametrize("angles", range(1, 10))
def test_bits_do_not_depend_on_what_lay_in_work(angles):
    """A batch that its angles do not fill: what stood beside them sent them to the C library, whose last bit differs."""
    t, y, p = ca.SX.sym("t"), ca.SX.sym("y", angles), ca.SX.sym("p", 0)
    code = compile_function(ca.Function("f", [t, y, p], [ca.vertcat(ca.sin(y), ca.cos(y))]), cache=None)
    rng = np.random.default_rng(angles)
    for _ in range(50):
        state = rng.uniform(-1e4, 1e4, angles)
        zeros = bits_after(code, 0.0, state, np.zeros(1))
        for name, filling in RUBBISH.items():
            np.testing.assert_array_equal(bits_after(code, filling, state, np.zeros(1)), zeros, err_msg=name)


@pytest.mark.parametrize("build", [planar_chain, falling_chain, andrews_squeezer], ids=lambda build: build.__name__)
def test_bits_of_every_function_of_a_mechanism_do_not_depend_on_what_lay_in_work(build):
    compiled = compile_system(build())
    codes = {name: getattr(compiled, name) for name in ("rhs", "observe", "events", "open_contact_events", "step_limit", "project")}
    for whole in (False, True):
        codes[f"jacobian {whole}"] = compiled.jacobian(whole)._code
    p = compiled.traced.parameters(0.0, 1.0)
    rng = np.random.default_rng(5)
    for name, code in codes.items():
        for _ in range(5 if code is not None else 0):
            y = compiled.traced.y0 + rng.uniform(-3.0, 3.0, compiled.traced.y0.size)
            y = np.resize(y, code.n_y)
            zeros = bits_after(code, 0.0, y, p)
            for words, filling in RUBBISH.items():
                np.testing.assert_array_equal(bits_after(code, filling, y, p), zeros, err_msg=f"{name}, {words}")
