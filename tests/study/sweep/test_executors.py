"""Executors of other makers: what they promise is enough."""

import concurrent.futures as futures
import threading
from pathlib import Path

import pytest
from typer.testing import CliRunner

import pliant as pl
from pliant.cli import app
from sweeps import KEEP, MODEL, RUN, contents, pendulum

OVER = {"mass": [0.5, 1.0, 2.0, 3.0]}


class Queued:
    """A job of a queue, as submitit has them: no Future, but a result and whether it is done."""

    def __init__(self, function, arguments):
        self._outcome, self._asked = None, 0
        self._work = threading.Thread(target=lambda: setattr(self, "_outcome", function(*arguments)))
        self._work.start()

    def done(self):
        return not self._work.is_alive()

    def result(self):
        self._work.join()
        return self._outcome


class Queue:
    def submit(self, function, *arguments):
        return Queued(function, arguments)


class Flaky(futures.ThreadPoolExecutor):
    """Loses every third piece of work, as a cluster whose nodes are taken away."""

    count = 0

    def submit(self, function, *arguments, **options):
        Flaky.count += 1
        if Flaky.count % 3 == 0:
            lost = futures.Future()
            lost.set_exception(ConnectionError("the node is gone"))
            return lost
        return super().submit(function, *arguments, **options)


def test_jobs_that_are_no_futures_are_asked_whether_they_are_done(tmp_path):
    pl.sweep(pendulum(), OVER, RUN, KEEP, tmp_path / "s", Queue(), batch=1)
    pl.sweep(pendulum(), OVER, RUN, KEEP, tmp_path / "t", batch=1)
    assert contents(tmp_path / "s") == contents(tmp_path / "t")


def test_work_that_is_lost_is_done_again(tmp_path):
    with Flaky(2) as executor:
        data = pl.sweep(pendulum(), OVER, RUN, KEEP, tmp_path / "s", executor, batch=1)
    assert data["ok"].values.all() and Flaky.count > 4


def test_an_executor_that_takes_no_more_work_is_said(tmp_path):
    class Broken(futures.Executor):
        def submit(self, function, *arguments, **options):
            raise futures.BrokenExecutor("out of order")

    with pytest.raises(pl.SolveError, match=r"takes no more work \(out of order\); stored cases are kept"):
        pl.sweep(pendulum(), OVER, RUN, KEEP, tmp_path / "s", Broken())


def test_the_command_line_computes_on_a_dask_cluster(tmp_path, monkeypatch):
    distributed = pytest.importorskip("distributed")
    monkeypatch.chdir(tmp_path)
    Path("m.yaml").write_text(MODEL)
    command = ["sweep", "m.yaml", "--over", "mass=0.5:2:4", "--keep", "bob.angle"]
    options = {
        "n_workers": 1,
        "threads_per_worker": 1,
        "processes": False,
        "dashboard_address": ":0",  # a free port
        "silence_logs": 50,
    }
    with distributed.LocalCluster(**options) as cluster:
        done = CliRunner().invoke(app, [*command, "--out", "s", "--dask", cluster.scheduler_address])
    assert done.exit_code == 0, done.stderr
    assert CliRunner().invoke(app, [*command, "--out", "t"]).exit_code == 0
    assert contents(tmp_path / "s") == contents(tmp_path / "t")
