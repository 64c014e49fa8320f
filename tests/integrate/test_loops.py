"""The time loops: their cache on disk, and what happens without it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pliant.errors import SolveError
from pliant.integrate import compiled_loops

RUN_ONCE = """
import pliant as pl
from pliant.integrate import compiled_loops
made, compile = [], compiled_loops._compile
compiled_loops._compile = lambda loop, target: made.append(loop) or compile(loop, target)
system = pl.System("ball", gravity=(0, -9.81))
ball = system.add("ball", pl.RigidBody(mass=1.0, inertia=0.1), joint=pl.Planar(position=(0, 0.1)))
system.contact(points=ball.root, against=pl.Plane(normal=(0, 1)), normal=pl.Hertz(stiffness=1e6))
assert len(pl.simulate(system, 0.3, cache=False).contacts) == 1
print(len(made))
"""
LOAD_ONE = """
from pliant.host.stages import Stages
from pliant.integrate import compiled_loops
made, compile = [], compiled_loops._compile
compiled_loops._compile = lambda loop, target: made.append(loop) or compile(loop, target)
compiled_loops.compiled_loop("loop.row_loop", Stages(None))
print(len(made))
"""


def start(cache: Path, code: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache), "LOCALAPPDATA": str(cache)}
    return subprocess.Popen([sys.executable, "-W", "ignore", "-c", code], env=environment, stdout=subprocess.PIPE, text=True)


def compiled_by(process: subprocess.Popen[str]) -> int:
    """How many loops a process had to compile."""
    out, _ = process.communicate(timeout=300)
    assert process.returncode == 0
    return int(out)


@pytest.mark.skipif(sys.platform == "darwin", reason="the cache folder cannot be moved there")
def test_two_processes_fill_one_cache_and_a_third_loads_it(tmp_path):
    together = [start(tmp_path, LOAD_ONE) for _ in range(2)]
    assert 1 in [compiled_by(process) for process in together]
    assert compiled_by(start(tmp_path, LOAD_ONE)) == 0
    assert len(list((tmp_path / "pliant" / "loops").iterdir())) == 1


@pytest.mark.skipif(sys.platform == "darwin", reason="the cache folder cannot be moved there")
def test_without_a_writable_cache_the_loop_is_compiled(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    assert compiled_by(start(blocked, LOAD_ONE)) == 1


@pytest.mark.skipif(sys.platform == "darwin", reason="the cache folder cannot be moved there")
def test_the_first_run_compiles_what_it_needs_and_no_more(tmp_path):
    assert compiled_by(start(tmp_path, RUN_ONCE)) == 3, "the march, the explicit family and the loop over rows, no implicit family"
    assert compiled_by(start(tmp_path, RUN_ONCE)) == 0


def test_the_key_of_a_loop_covers_every_source_it_is_made_of(monkeypatch):
    """Its own, those it imports, and the compiler's: each in turn is read as something else."""
    read = Path.read_text
    keys = {compiled_loops.sources_key.__wrapped__("methods.radau")}
    for other in ("radau", "coupled", "lu", "kernels", "run_record", "function_writer", "loop_compiler", "compiled_loops"):
        changed = f"{other}.py"
        monkeypatch.setattr(Path, "read_text", lambda path, name=changed: read(path) + "\n" * (path.name == name))
        keys.add(compiled_loops.sources_key.__wrapped__("methods.radau"))
    assert len(keys) == 9


def test_a_process_whose_sources_have_changed_loads_no_loop(monkeypatch):
    """Functions and constants of the old sources under the key of the new ones would spoil the cache."""
    monkeypatch.setattr(compiled_loops, "_loaded", {})
    monkeypatch.setattr(compiled_loops, "_AT_START", {**compiled_loops._AT_START, "changed": (0, 0)})
    with pytest.raises(SolveError, match="their sources must not change while a process uses them"):
        compiled_loops.address_of_loop("loop.march", compiled_loops.Stages())


def test_every_loop_is_compiled_for_this_processor():
    assert {"loop.march", "members", "methods.radau", "methods.runge_kutta"} <= set(compiled_loops.loop_names())
    for name in compiled_loops.loop_names():
        assert compiled_loops.address_of_loop(name, compiled_loops.Stages()) != 0
