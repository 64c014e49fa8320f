"""The disk cache of the compiled loop."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

RUN_ONCE = """
import time, numba
numba.config.CACHE_DIR = "users-own"
from pliant.integrate.loops import explicit_loop
began = time.perf_counter()
loop = explicit_loop()
print(time.perf_counter() - began, sum(loop.stats.cache_hits.values()), numba.config.CACHE_DIR)
"""


def start(cache: Path) -> subprocess.Popen[str]:
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache), "LOCALAPPDATA": str(cache)}
    return subprocess.Popen([sys.executable, "-c", RUN_ONCE], env=environment, stdout=subprocess.PIPE, text=True)


def finish(process: subprocess.Popen[str]) -> tuple[float, int, str]:
    out, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    seconds, hits, directory = out.split()
    return float(seconds), int(hits), directory


@pytest.mark.skipif(sys.platform == "darwin", reason="the cache folder cannot be moved there")
def test_two_processes_fill_one_cache_and_a_third_loads_it(tmp_path):
    both = [start(tmp_path), start(tmp_path)]
    for process in both:
        _, _, directory = finish(process)
        assert directory == "users-own", "the user's own setting is left as it was"
    seconds, hits, _ = finish(start(tmp_path))
    assert hits == 1
    assert seconds < 1.0  # 0.1 s on a quiet machine
    assert len(list((tmp_path / "pliant" / "loops").rglob("*.nbi"))) == 1


@pytest.mark.skipif(sys.platform == "darwin", reason="the cache folder cannot be moved there")
def test_without_a_writable_cache_the_loop_is_compiled(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    _, hits, _ = finish(start(blocked))
    assert hits == 0
