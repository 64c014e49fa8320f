"""Machine code: its address, its life, its cache."""

import gc
import subprocess
import sys
import warnings

import casadi as ca
import llvmlite.binding as llvm
import numpy as np
import pytest

from pliant.codegen.emit import emit
from pliant.codegen.fuse import fuse
from pliant.codegen.llvm import compile_function
from pliant.codegen.program import read_program
from pliant.codegen.schedule import make_schedule
from pliant.codegen.sincos import batch_text
from pliant.errors import SolveError
from pliant.host.processor import Target

Y, P = np.array([0.4, -1.2]), np.array([2.0])


def oscillator(factor=1.0):
    t, y, p = ca.SX.sym("t"), ca.SX.sym("y", 2), ca.SX.sym("p", 1)
    force = -p * ca.sin(y[0]) * factor + ca.exp(-t) * ca.tanh(y[1])
    return ca.Function("oscillator", [t, y, p], [ca.vertcat(y[1], force)])


def expected(factor=1.0, t=0.5):
    return np.array(oscillator(factor)(t, Y, P)).ravel()


def long_function(operations):
    t, y, p = ca.SX.sym("t"), ca.SX.sym("y", 2), ca.SX.sym("p", 0)
    x = y[0]
    for k in range(operations // 4):
        x = y[1] - x / (1.5 + k + x * x)
    return ca.Function("long", [t, y, p], [x])


def test_it_says_what_a_caller_needs():
    code = compile_function(oscillator(), cache=None)
    assert (code.n_y, code.n_p, code.n_out) == (2, 1, 2)
    assert code.operations == 7
    assert code.address != 0
    assert code.n_work >= 3
    assert code.compile_seconds > 0
    assert not code.from_cache
    np.testing.assert_allclose(code(0.5, Y, P), expected(), rtol=1e-14)


def test_a_program_is_left_as_it_was():
    program = read_program(oscillator())
    first, second = (compile_function(program, cache=None) for _ in range(2))
    assert program == read_program(oscillator())
    assert first.operations == second.operations == 7
    np.testing.assert_array_equal(first(0.5, Y, P), second(0.5, Y, P))


def test_arguments_of_the_wrong_length_are_refused():
    code = compile_function(oscillator(), cache=None)
    with pytest.raises(SolveError, match="y must have 2 values, got 3"):
        code(0.0, [1.0, 2.0, 3.0], P)
    with pytest.raises(SolveError, match="p must have 1 values, got 0"):
        code(0.0, Y, [])


def test_the_second_time_it_comes_from_the_cache(tmp_path):
    first = compile_function(oscillator(), cache=tmp_path)
    second = compile_function(oscillator(), cache=tmp_path)
    other = compile_function(oscillator(factor=2.0), cache=tmp_path)
    assert [first.from_cache, second.from_cache, other.from_cache] == [False, True, False]
    np.testing.assert_array_equal(first(0.5, Y, P), second(0.5, Y, P))
    np.testing.assert_allclose(other(0.5, Y, P), expected(factor=2.0), rtol=1e-14)


def test_a_corrupt_cache_file_is_compiled_again(tmp_path):
    compile_function(oscillator(), cache=tmp_path)
    (path,) = tmp_path.iterdir()
    path.write_bytes(path.read_bytes()[:-100])
    again = compile_function(oscillator(), cache=tmp_path)
    assert not again.from_cache
    np.testing.assert_allclose(again(0.5, Y, P), expected(), rtol=1e-14)
    assert compile_function(oscillator(), cache=tmp_path).from_cache


def test_a_cache_that_cannot_be_written_warns_and_still_compiles(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.warns(RuntimeWarning, match="not cached"):
        code = compile_function(oscillator(), cache=tmp_path / "file")
    assert not code.from_cache
    np.testing.assert_allclose(code(0.5, Y, P), expected(), rtol=1e-14)


PROCESS = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from test_llvm import P, Y, compile_function, expected, oscillator
for factor in range(1, 9):
    code = compile_function(oscillator(float(factor)), cache=Path(sys.argv[1]))
    assert abs(code(0.5, Y, P) - expected(float(factor))).max() < 1e-13
"""


def test_two_processes_may_fill_one_cache_at_once(tmp_path, request):
    command = [sys.executable, "-W", "error", "-c", PROCESS, str(tmp_path), str(request.path.parent)]
    processes = [subprocess.Popen(command) for _ in range(2)]
    assert [process.wait(timeout=60) for process in processes] == [0, 0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert compile_function(oscillator(1.0), cache=tmp_path).from_cache


def test_many_come_and_go_and_the_kept_ones_stay_good(tmp_path):
    kept = []
    for k in range(60):
        code = compile_function(oscillator(float(k % 7)), cache=tmp_path)
        if k % 10 == 0:
            kept.append((code, float(k % 7)))
        del code
    gc.collect()
    for code, factor in kept:
        np.testing.assert_allclose(code(0.5, Y, P), expected(factor), rtol=1e-14)


def test_a_quick_translation_gives_the_same_bits():
    f = long_function(3000)
    well, quickly = (compile_function(f, cache=None, optimise=choice) for choice in (True, False))
    np.testing.assert_array_equal(well(0.0, Y, []), quickly(0.0, Y, []))


def test_no_function_is_longer_than_a_chunk_allows():
    """What makes compile time linear; told by length, not by a clock, for machines are busy."""
    t, y, p = ca.SX.sym("t"), ca.SX.sym("y", 3000), ca.SX.sym("p", 0)
    chain = y[0]
    for k in range(3000):
        chain = y[k] - chain / (1.5 + ca.sin(y[k]))
    copies_and_chain = ca.Function("long", [t, y, p], [ca.vertcat(y, chain, ca.cos(y))])
    program = read_program(copies_and_chain)
    text = emit(program, make_schedule(program, 100, roll=False))
    lengths = [body.count("\n") for body in text.split("define ") if "@chunk" in body.partition("(")[0]]
    assert len(lengths) > 100
    assert max(lengths) < 600  # an operation takes up to five lines: two loads, each with its address, and itself


TARGETS = [
    Target("x86_64-unknown-linux-gnu", "x86-64", ""),
    Target("x86_64-unknown-linux-gnu", "haswell", "+avx2,+fma"),
    Target("x86_64-pc-windows-msvc", "haswell", "+avx2,+fma"),
    Target("aarch64-unknown-linux-gnu", "generic", ""),
    Target("arm64-apple-darwin", "apple-m1", ""),
]


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: f"{target.triple} {target.cpu}")
@pytest.mark.parametrize("effort", [0, 1])
def test_every_platform_has_object_code(target, effort):
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    program = read_program(oscillator())
    if target.fused:
        fuse(program)
    for text in (emit(program, make_schedule(program, 5)), batch_text(target.fused)):
        module = llvm.parse_assembly(text)
        module.triple = target.triple
        assert len(target.machine(effort).emit_object(module)) > 500
