"""The disk cache of the compiled loop."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

RUN_ONCE = """
import sys
import pliant as pl
system = pl.System("ball", gravity=(0, -9.81))
ball = system.add("ball", pl.RigidBody(mass=1.0, inertia=0.1), joint=pl.Planar(position=(0, 0.1)))
system.contact(points=ball.root, against=pl.Plane(normal=(0, 1)), normal=pl.Hertz(stiffness=1e6))
assert len(pl.simulate(system, 0.3, cache=False).contacts) == 1
print("numba" in sys.modules)
"""


def start(cache: Path) -> subprocess.Popen[str]:
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache), "LOCALAPPDATA": str(cache)}
    return subprocess.Popen([sys.executable, "-W", "ignore", "-c", RUN_ONCE], env=environment,
                            stdout=subprocess.PIPE, text=True)  # fmt: skip


def used_numba(process: subprocess.Popen[str]) -> bool:
    out, _ = process.communicate(timeout=300)
    assert process.returncode == 0
    return out.strip() == "True"


@pytest.mark.skipif(sys.platform == "darwin", reason="the cache folder cannot be moved there")
def test_two_processes_fill_one_cache_and_a_third_loads_it_without_numba(tmp_path):
    assert [used_numba(process) for process in (start(tmp_path), start(tmp_path))] == [True, True]
    assert not used_numba(start(tmp_path))
    assert len(list((tmp_path / "pliant" / "loops").iterdir())) == 2, "the march and the explicit family, no implicit one"


@pytest.mark.skipif(sys.platform == "darwin", reason="the cache folder cannot be moved there")
def test_without_a_writable_cache_the_loop_is_compiled(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    assert used_numba(start(blocked))
