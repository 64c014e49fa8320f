"""C of LLVM text: the bits of the machine code of the same text, for kernels and for loops."""

import ctypes
import shutil
import subprocess

import numpy as np
import pytest

from codegen.test_wasm import doubled, some_function
from pliant.codegen.c_text import c_text, constant
from pliant.codegen.emit import KERNEL
from pliant.codegen.llvm import kernel_text
from pliant.codegen.standalone import LoopSource, Program
from pliant.host.processor import host, load_object

CC = shutil.which("cc")
ADDRESSES = (ctypes.c_void_p,) * 4
CALLERS = """
void kernel(double t, char *y, char *p, char *out, char *work) { pl_kernel(t, y, p, out, work); }
double loop(double x, int64_t n) { return pl_loop(x, n); }
"""


def swapped(x: float, n: int) -> float:
    """A loop with a branch, whole numbers of both signs, and numbers that are not finite."""
    low, high, k = x, 1.0, 0
    while k < n:
        if low < high or k % 3 == 1:
            low, high = high, low * 1.5
        else:
            low = low / (high - high * (k // 2 - 3))
        k += 1
    return low - high


@pytest.mark.skipif(CC is None, reason="no C compiler")
@pytest.mark.parametrize("effort", ["-O0", "-O2"])
@pytest.mark.parametrize("loop", [doubled, swapped])
def test_c_computes_the_bits_of_machine_code(loop, effort, tmp_path):
    program = Program.of({"kernel": some_function()}, {"loop": LoopSource(loop, (float, int))})
    (tmp_path / "m.c").write_text(program.c() + CALLERS)
    command = [CC, "-std=c99", "-Wall", "-Wno-unused", "-Werror", effort, "-ffp-contract=off", "-fPIC", "-shared"]
    subprocess.run([*command, "-o", str(tmp_path / "m.so"), str(tmp_path / "m.c"), "-lm"], check=True)
    made, target = ctypes.CDLL(str(tmp_path / "m.so")), host()
    engine = load_object(bytes(target.machine(2).emit_object(program.linked(target))), target)
    rng = np.random.default_rng(3)

    def from_both(name, answer, *kinds):
        there = ctypes.CFUNCTYPE(answer, *kinds)(engine.get_function_address(name))
        return ctypes.CFUNCTYPE(answer, *kinds)((name, made)), there

    kernels, work = from_both("kernel", None, ctypes.c_double, *ADDRESSES), np.zeros(4096)
    for t, *point in rng.normal(scale=3.0, size=(300, 6)):
        y, p, outs = np.array(point[:3]), np.array(point[3:]), []
        for kernel in kernels:
            out = np.full(13, np.nan)
            kernel(t, *(array.ctypes.data for array in (y, p, out, work)))
            outs.append(out.view(np.int64))
        np.testing.assert_array_equal(*outs)
    loops = from_both("loop", ctypes.c_double, ctypes.c_double, ctypes.c_int64)
    for x in (*rng.normal(scale=2.0, size=50).tolist(), 0.0, -0.0, np.inf, np.nan, 1e308):
        here, there = (np.float64(function(x, 17)) for function in loops)
        assert (np.isnan(here) and np.isnan(there)) or here.tobytes() == there.tobytes()


def test_numbers_keep_their_bits_and_signs():
    assert constant("0x3FF0000000000000") == "1.0"
    assert constant("0x8000000000000000") == "(-0.0)"
    assert constant("0xBFE0000000000000") == "(-0.5)"
    assert constant("0x7FF0000000000000") == f"real_of(INT64_C({0x7FF0000000000000}))"
    assert constant("true") == "1"


def test_what_the_compilers_do_not_write_is_an_error():
    text = kernel_text(some_function(), fused=False).text
    body = "  %x = call double @llvm.sqrt.f64(double 1.0)"
    for line in (
        "  %v = freeze double %t",
        "  fence seq_cst",
        "  %v = shufflevector <2 x double> %a, <2 x double> %a, <2 x i32> <i32 1>",
    ):
        with pytest.raises(ValueError, match="no C for"):
            c_text({"k": f"define void @{KERNEL}(double %t) nounwind {{\nentry:\n{body}\n{line}\n  ret void\n}}"})
    assert "pl_pliant_kernel" in c_text({"k": text})
