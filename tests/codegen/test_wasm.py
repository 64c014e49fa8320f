"""Programs for WebAssembly: they need only memory and sines of huge angles, and compute what they compute here."""

import ctypes
import math
import shutil
import subprocess
from fractions import Fraction

import casadi as ca
import numpy as np
import pytest

from pliant.codegen.own_functions import own_fma
from pliant.codegen.standalone import ADDRESS, LoopSource, Program
from pliant.codegen.wasm import wasm_module
from pliant.codegen.wasm_module import module_of
from pliant.host.processor import host, load_object

NODE = shutil.which("node")


def some_function():
    """Every kind of operation that needs more than arithmetic."""
    t, y, p = ca.SX.sym("t"), ca.SX.sym("y", 3), ca.SX.sym("p", 2)
    a, b, c = y[0], y[1], y[2]
    out = [ca.sin(a) * ca.cos(b), ca.exp(a), ca.log(ca.fabs(b)), ca.sqrt(ca.fabs(c)), ca.power(ca.fabs(a), 1.5), ca.tanh(c)]
    out += [ca.atan2(a, b), ca.fmin(a, b), ca.fmax(b, c), ca.sign(c), ca.floor(a), t * p[0] + p[1], ca.if_else(a < b, a, b)]
    return ca.Function("f", [t, y, p], [ca.vertcat(*out)])


def doubled(x: float, n: int) -> float:
    """A loop, for the other compiler."""
    total = 0.0
    for _ in range(n):
        total = 2.0 * total + math.exp(-x)
    return total


@pytest.fixture(scope="module")
def program():
    return Program.of({"kernel": some_function()}, {"loop": LoopSource(doubled, (float, int))})


def test_a_module_asks_for_nothing_but_memory_and_huge_sines(program):
    module = wasm_module(program)
    assert module.code[:4] == b"\0asm"
    assert set(module.exports) == {"kernel", "loop", f"{ADDRESS}kernel", f"{ADDRESS}loop"}
    if NODE is None:
        pytest.skip("no node on this machine")
    text = ("const m = new WebAssembly.Module(require('fs').readFileSync(0));"
            "console.log(WebAssembly.Module.imports(m).map(x => x.name).sort().join(' '))")  # fmt: skip
    said = subprocess.run([NODE, "-e", text], input=module.code, capture_output=True, check=True)
    asked = set(said.stdout.decode().split())
    assert asked <= {"__linear_memory", "__stack_pointer", "__indirect_function_table", "sin", "cos"}


@pytest.mark.skipif(NODE is None, reason="no node on this machine")
def test_a_browser_computes_the_bits_that_this_processor_computes(program, tmp_path):
    module = wasm_module(program)
    (tmp_path / "m.wasm").write_bytes(module.code)
    points = np.random.default_rng(4).normal(scale=3.0, size=(200, 6))  # t, y, p
    (tmp_path / "points").write_bytes(points.tobytes())
    script = f"""
const fs = require('fs'), memory = new WebAssembly.Memory({{ initial: 16 }});
const table = new WebAssembly.Table({{ initial: {module.table}, element: 'anyfunc' }});
const stack = new WebAssembly.Global({{ value: 'i32', mutable: true }}, 400000);
const env = {{ __linear_memory: memory, __indirect_function_table: table, __stack_pointer: stack, sin: Math.sin, cos: Math.cos }};
const calls = new WebAssembly.Instance(new WebAssembly.Module(fs.readFileSync('{tmp_path}/m.wasm')), {{ env }}).exports;
const floats = new Float64Array(memory.buffer), points = fs.readFileSync('{tmp_path}/points'), out = [];
const given = new Float64Array(points.buffer.slice(points.byteOffset, points.byteOffset + points.length));
for (let k = 0; k < 200; k++) {{
  floats.set(given.subarray(6 * k + 1, 6 * k + 6), 60000);
  calls.kernel(given[6 * k], 480000, 480024, 490000, 500000);
  out.push(...floats.subarray(61250, 61263), calls.loop(given[6 * k], 7n));
}}
fs.writeFileSync('{tmp_path}/out', Buffer.from(new Float64Array(out).buffer));
"""
    subprocess.run([NODE, "-e", script], check=True, capture_output=True)
    theirs = np.fromfile(tmp_path / "out").reshape(200, 14)
    target = host()
    engine = load_object(bytes(target.machine(2).emit_object(program.linked(target))), target)
    kernel = ctypes.CFUNCTYPE(None, ctypes.c_double, *(ctypes.c_void_p,) * 4)(engine.get_function_address("kernel"))
    loop = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double, ctypes.c_int64)(engine.get_function_address("loop"))
    out, work = np.empty(13), np.empty(1000)
    for row, (t, *rest) in zip(theirs, points.tolist(), strict=True):
        y, p = np.array(rest[:3]), np.array(rest[3:])
        kernel(t, y.ctypes.data, p.ctypes.data, out.ctypes.data, work.ctypes.data)
        np.testing.assert_array_equal(row, [*out, loop(t, 7)])
    for row, point in zip(theirs, points, strict=True):  # and what they should
        exact = np.array(some_function()(point[0], point[1:4], point[4:])).ravel()
        np.testing.assert_allclose(row[:13], exact, rtol=4e-15)


def test_an_object_without_the_function_is_refused(program):
    with pytest.raises(ValueError, match="does not define missing"):
        module_of(wasm_module(program).code, ["missing"])


def test_a_product_and_a_sum_are_rounded_once_without_the_processors_help():
    generator = np.random.default_rng(5)
    worst = 0
    for a, b in generator.normal(size=(3000, 2)).tolist():
        for c in (-a * b, -a * b * (1.0 + 2.0**-30), 1.0, 1e-20 * a):
            exact = Fraction(a) * Fraction(b) + Fraction(c)
            found = own_fma(a, b, c)
            nearest = float(exact)
            worst = max(worst, abs(Fraction(found) - exact) / Fraction(math.ulp(nearest)) if nearest else Fraction(found))
    assert worst <= 0.51
    assert own_fma(1e200, 1e200, 1.0) == math.inf and math.isnan(own_fma(math.nan, 1.0, 1.0))
