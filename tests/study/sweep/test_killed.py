"""Sweeps that are killed, whose workers are killed, or whose disk is full: nothing is lost, and the bytes are the same."""

import concurrent.futures as futures
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import pliant as pl
from sweeps import KEEP, RUN, contents, deadly, deadly_once, pendulum, two_hundred

TESTS = Path(__file__).parents[2]
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(pl.__file__).parents[1]), str(TESTS)])}
KILLS = 10


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """The files of a sweep that nothing happened to."""
    folder = tmp_path_factory.mktemp("undisturbed") / "s"
    two_hundred(folder)
    return contents(folder)


def child(code: str, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def batches(folder: Path) -> dict[str, tuple[int, int]]:
    """Files of batches by name; a file that is written again is another one."""
    return {file.name: (file.stat().st_ino, file.stat().st_mtime_ns) for file in folder.glob("*.nc") if file.name[0] != "."}


def count(folder: Path) -> int:
    """Of the files of batches, by their names alone: it is asked a few hundred times a second."""
    names = os.listdir(folder) if folder.exists() else []
    return sum(name.endswith(".nc") and name[0] != "." for name in names)


def test_killed_ten_times_at_random_moments_it_ends_with_the_bytes_of_one_that_was_not(tmp_path, undisturbed):
    folder, chance = tmp_path / "s", random.Random(7)
    code = "import sys, sweeps; sweeps.two_hundred(sys.argv[1])"
    seen: dict[str, tuple[int, int]] = {}
    kills = 0
    while kills < KILLS:
        process = child(code, str(folder))
        wanted = len(seen) + chance.randrange(0, 12)
        while process.poll() is None and count(folder) < wanted:
            time.sleep(0.002)
        time.sleep(chance.uniform(0.0, 0.05))
        if process.poll() is not None:
            assert process.returncode == 0, process.communicate()
            break
        process.kill()
        process.communicate()
        kills += 1
        left = batches(folder)
        assert seen.items() <= left.items()  # nothing lost, nothing written twice
        seen = left
        if (folder / "sweep.json").exists():
            data = pl.open_sweep(folder)
            assert int((data["message"] != "not yet computed").sum()) == 2 * len(seen) == int(data["ok"].sum())
    assert kills == KILLS and 0 < len(seen) < 100
    two_hundred(folder)
    assert seen.items() <= batches(folder).items()
    assert contents(folder) == undisturbed


def test_dask_workers_killed_in_mid_sweep_cost_nothing_but_time(tmp_path, undisturbed):
    distributed = pytest.importorskip("distributed")
    options = {
        "n_workers": 2,
        "threads_per_worker": 1,
        "processes": True,
        "dashboard_address": ":0",  # a free port: None takes 8787, where two runs of the tests would meet
        "silence_logs": 50,
    }
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        killed = []

        def kill(done: int, total: int, failed: int) -> None:
            if len(killed) < 2 and done >= (60, 140)[len(killed)]:
                # asked of the nannies: a worker that was just killed answers nobody
                killed.append(next(nanny.pid for nanny in cluster.workers.values() if nanny.pid not in (None, *killed)))
                os.kill(killed[-1], signal.SIGKILL)

        two_hundred(tmp_path / "s", executor=client.get_executor(), progress=kill)
    assert len(killed) == 2
    assert contents(tmp_path / "s") == undisturbed


def test_processes_give_the_same_bytes_as_threads(tmp_path, undisturbed):
    with futures.ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        two_hundred(tmp_path / "s", executor=pool)
    assert contents(tmp_path / "s") == undisturbed


def test_a_case_that_kills_its_process_fails_and_the_others_do_not(tmp_path):
    with futures.ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        data = pl.sweep(deadly, {"length": [0.3, 0.4, 0.5, 0.6, 0.7]}, {"t_end": 0.1}, "q", tmp_path / "s", pool, batch=2)
    assert data["ok"].values.tolist() == [True, True, False, True, True]
    assert "it was tried 3 times, and each time its worker was lost (BrokenProcessPool)" in data["message"].sel(length=0.5).item()


def test_a_worker_that_dies_once_costs_a_second_attempt(tmp_path):
    build = partial(deadly_once, trace=str(tmp_path / "trace"))
    with futures.ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        data = pl.sweep(build, {"length": [0.3, 0.4, 0.5, 0.6]}, {"t_end": 0.1}, "q", tmp_path / "s", pool, batch=2)
    assert data["ok"].values.all() and (tmp_path / "trace").exists()


FULL = """
import resource, sys, sweeps, pliant as pl
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), int(sys.argv[2])))
try:
    pl.sweep(sweeps.pendulum(), {"mass": [0.5, 1.0, 2.0]}, {"t_end": 0.4, "save": float(sys.argv[3])}, "q", sys.argv[1], batch=1)
except pl.SolveError as trouble:
    print(trouble)
"""


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="no limits of files on this platform")
def test_a_full_disk_is_said_and_leaves_what_was_stored(tmp_path):
    """A file that may not grow fails as one does on a full disk: where HDF5 writes, in the middle or when it is closed."""
    folder = tmp_path / "s"
    done = child(FULL, str(folder), "12000", "1e-4").communicate()
    assert "s: cannot be written (" in done[0] and "the same sweep will continue from there" in done[0], done
    assert sorted(contents(folder)) == ["sweep.json"]  # no draft is left
    data = pl.sweep(pendulum(), {"mass": [0.5, 1.0, 2.0]}, {"t_end": 0.4, "save": 1e-4}, "q", folder, batch=1)
    assert data["ok"].values.all() and np.isfinite(data["q"]).all()


def test_a_folder_that_cannot_be_written_is_said_before_anything_runs(tmp_path):
    locked = Path("/proc/self/sweep") if os.geteuid() == 0 else tmp_path / "locked" / "sweep"
    if os.geteuid() != 0:
        locked.parent.mkdir(mode=0o555)
    told: list[int] = []
    with pytest.raises(pl.SolveError, match=r"sweep: cannot be written \("):
        pl.sweep(pendulum(), {"mass": [1.0]}, RUN, KEEP, locked, progress=lambda *numbers: told.append(1))
    assert not told
