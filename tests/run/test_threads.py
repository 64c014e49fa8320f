"""Threads and forks: one System in many hands."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import pliant as pl
from mechanisms import planar_chain
from pliant.gallery.falling_chain import falling_chain


def test_machine_code_called_from_many_threads_gives_the_right_answers() -> None:
    """The call lets other threads run: a work array that they share would be written by all of them at once."""
    compiled = pl.compile_system(planar_chain(60))
    code, p = compiled.rhs, compiled.traced.parameters(0.0, 1.0)
    states = np.random.default_rng(1).uniform(-1.0, 1.0, (40, code.n_y))
    expected = [code(0.0, y, p) for y in states]

    def wrong(_: int) -> int:
        return sum(not np.array_equal(code(0.0, y, p), right) for y, right in zip(states, expected, strict=True))

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(wrong, range(400))) == 0


def test_runs_in_threads_on_one_compiled_system_give_the_bits_of_runs_alone() -> None:
    """Explicit and implicit, so that threads also meet where the Jacobian is compiled for the first time."""
    methods = [pl.DOP853(1e-7, 1e-9), pl.Radau5(1e-4, 1e-7), pl.Auto(rtol=1e-6), pl.Radau5(1e-4, 1e-7)]
    compiled = pl.compile_system(falling_chain())
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda method: pl.simulate(compiled, 0.45, method=method, save=0.01), methods))
    for method, run in zip(methods, together, strict=True):
        alone = pl.simulate(falling_chain(), 0.45, method=method, save=0.01)
        assert run.ok and len(run.contacts) == len(alone.contacts) > 0
        for name, values in alone.values.items():
            np.testing.assert_array_equal(run.values[name], values, err_msg=name)


LOADED_TOGETHER = """
import gc, sys, threading, weakref
from concurrent.futures import ThreadPoolExecutor
from pliant.host.stages import Stages
from pliant.integrate import compiled_loops
kept, load, gate = [], compiled_loops.load_object, threading.Barrier(4)
def meeting(data, target):
    engine = load(data, target)
    kept.append(weakref.ref(engine))
    gate.wait(30)
    return engine
compiled_loops.load_object = meeting
with ThreadPoolExecutor(4) as pool:
    addresses = list(pool.map(lambda _: compiled_loops.address_of_loop("methods.runge_kutta", Stages()), range(4)))
gc.collect()
alive = [engine() for engine in kept if engine() is not None]
assert len(set(addresses)) == 1, addresses
assert len(alive) == 1
"""


def test_threads_that_load_a_loop_together_use_one_that_stays() -> None:
    """Of engines loaded at the same time one is kept; an address of any other would point at memory that was given back."""
    done = subprocess.run([sys.executable, "-c", LOADED_TOGETHER], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


FORKED = """
import os, sys, threading, time
import casadi as ca
from pliant.codegen.llvm import compile_function

def function(operations):
    t, y, p = ca.SX.sym("t"), ca.SX.sym("y", 2), ca.SX.sym("p", 0)
    x = y[0]
    for k in range(operations):
        x = y[1] - x / (1.5 + k + x * x)
    return ca.Function("f", [t, y, p], [x])

slow, quick = function(1500), function(2)
stop = threading.Event()
def busy():
    while not stop.is_set():
        compile_function(slow, cache=None)
thread = threading.Thread(target=busy)
thread.start()
time.sleep(0.3)
codes = []
for _ in range(8):
    child = os.fork()
    if child == 0:
        compile_function(quick, cache=None)
        os._exit(7)
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            codes.append(os.waitstatus_to_exitcode(status))
            break
        time.sleep(0.01)
    else:
        os.kill(child, 9)
        os.waitpid(child, 0)
        codes.append("hung")
        break
stop.set()
thread.join()
print(codes)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this platform")
def test_a_fork_beside_a_thread_that_compiles_does_not_hang() -> None:
    """LLVM's lock, held by a thread that the child does not have, would never be free there."""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", FORKED], capture_output=True, text=True, timeout=120)
    assert done.stdout.strip() == str([7] * 8), done.stderr
