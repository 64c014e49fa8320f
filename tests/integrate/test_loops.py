"""The disk cache of the compiled loop, and the bitcode that comes with the package."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pliant.host.processor import host
from pliant.integrate import shipped_loops
from pliant.integrate.build_loops import loop_names
from pliant.integrate.shipped_loops import Bitcode, file_of, shipped_loop

RUN_ONCE = """
import sys
from pathlib import Path
import pliant as pl
from pliant.integrate import shipped_loops
shipped_loops.FOLDER = Path(sys.argv[1])
system = pl.System("ball", gravity=(0, -9.81))
ball = system.add("ball", pl.RigidBody(mass=1.0, inertia=0.1), joint=pl.Planar(position=(0, 0.1)))
system.contact(points=ball.root, against=pl.Plane(normal=(0, 1)), normal=pl.Hertz(stiffness=1e6))
assert len(pl.simulate(system, 0.3, cache=False).contacts) == 1
print("numba" in sys.modules)
"""
LOAD_ONE = """
import sys
from pathlib import Path
from pliant.host.stages import Stages
from pliant.integrate import compiled_loops, shipped_loops
shipped_loops.FOLDER = Path(sys.argv[1])
compiled_loops.row_loop(Stages(None))
print("numba" in sys.modules)
"""
NOWHERE = Path("nowhere")
CODE = Bitcode("advance", "0.60", b"BC some code")
TRIPLE = "aarch64-unknown-linux-gnu"


def start(cache: Path, shipped: Path = NOWHERE, code: str = RUN_ONCE) -> subprocess.Popen[str]:
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache), "LOCALAPPDATA": str(cache)}
    command = [sys.executable, "-W", "ignore", "-c", code, str(shipped)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


def used_numba(process: subprocess.Popen[str]) -> bool:
    out, _ = process.communicate(timeout=300)
    assert process.returncode == 0
    return out.strip() == "True"


@pytest.mark.skipif(sys.platform == "darwin", reason="the cache folder cannot be moved there")
def test_two_processes_fill_one_cache_and_a_third_loads_it_without_numba(tmp_path):
    """With the loop over rows, which is small: the others go the same way, and each costs Numba a quarter of a minute."""
    together = [start(tmp_path, code=LOAD_ONE) for _ in range(2)]
    assert [used_numba(process) for process in together] == [True, True]
    assert not used_numba(start(tmp_path, code=LOAD_ONE))
    assert len(list((tmp_path / "pliant" / "loops").iterdir())) == 1


@pytest.mark.skipif(sys.platform == "darwin", reason="the cache folder cannot be moved there")
def test_without_a_writable_cache_the_loop_is_compiled(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    assert used_numba(start(blocked, code=LOAD_ONE))


@pytest.mark.skipif(sys.platform == "darwin", reason="the cache folder cannot be moved there")
def test_the_first_run_of_an_installed_package_does_without_numba(tmp_path):
    triple = host().triple
    if any(shipped_loop(name, triple) is None for name in loop_names()):
        pytest.skip("sources of the loops have changed since `pip install`")
    assert not used_numba(start(tmp_path, shipped_loops.FOLDER))
    loops = list((tmp_path / "pliant" / "loops").iterdir())
    assert len(loops) == 3, "the march, the explicit family and the loop over rows, no implicit family"


def test_bitcode_counts_for_one_loop_of_one_architecture_and_these_sources(tmp_path, monkeypatch):
    (tmp_path / "march.bc").write_bytes(file_of(CODE, "march", TRIPLE))
    (tmp_path / "radau.bc").write_bytes(file_of(CODE, "march", TRIPLE))
    assert shipped_loop("march", TRIPLE, tmp_path) == CODE
    assert shipped_loop("radau", TRIPLE, tmp_path) is None
    assert shipped_loop("march", "x86_64-unknown-linux-gnu", tmp_path) is None
    monkeypatch.setattr(shipped_loops, "sources_key", lambda loop: "other sources")
    assert shipped_loop("march", TRIPLE, tmp_path) is None


@pytest.mark.parametrize("broken", [b"", b"pliant loop 1\n{}\n", b"pliant loop 1\nnonsense", b"something else"])
def test_a_file_that_is_not_whole_counts_as_absent(tmp_path, broken):
    (tmp_path / "march.bc").write_bytes(broken)
    assert shipped_loop("march", TRIPLE, tmp_path) is None
    (tmp_path / "march.bc").write_bytes(file_of(CODE, "march", TRIPLE)[:-1])
    assert shipped_loop("march", TRIPLE, tmp_path) is None


def test_bitcode_of_a_later_llvm_is_left_alone(tmp_path, monkeypatch):
    (tmp_path / "march.bc").write_bytes(file_of(CODE, "march", TRIPLE))
    monkeypatch.setattr(shipped_loops.llvm, "llvm_version_info", (1, 0, 0))
    assert shipped_loop("march", TRIPLE, tmp_path) is None
