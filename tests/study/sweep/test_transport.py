"""Jobs on their way to other processes: what arrives computes what was sent, and what cannot arrive is refused."""

import concurrent.futures as futures
import sys

import numpy as np
import pytest

import pliant as pl
from pliant.study.sweep.job import Job
from pliant.study.sweep.keep import keep_of
from pliant.study.sweep.over import over_of
from pliant.study.sweep.subject import subject_of
from pliant.study.sweep.transport import TravelError, pack, unpack
from sweeps import KEEP, MODEL, RUN, pendulum

OVER = [{"mass": 0.5}, {"mass": 3.0}]


def with_functions() -> pl.System:
    """A System that no file can hold, with parameters in parts, in an expression and in a formula."""
    system = pendulum()
    mass = system.parameters["mass"]
    rod = pl.RigidBody.rod(mass=0.1 * mass + 0.2, length=0.3)
    system.add("hand", rod, joint=pl.Revolute(), on=system.handle("bob").tip)
    system.drive("motor", "hand.angle", lambda t, q, v: mass * pl.sin(9.0 * t) - 0.1 * v["hand.angle"])
    return system


def from_file(tmp_path):
    (tmp_path / "m.yaml").write_text(MODEL)
    return tmp_path / "m.yaml"


@pytest.mark.parametrize("kind", ["file", "system", "functions"])
def test_what_arrives_computes_what_was_sent(kind, tmp_path):
    given = {"file": lambda: from_file(tmp_path), "system": pendulum, "functions": with_functions}[kind]()
    if kind == "functions":
        pytest.importorskip("cloudpickle")
    job = Job(subject_of(given), RUN, keep_of(["q", "kinetic"]))
    job.check(over_of(OVER))
    arrived = unpack(pack(job, tuple(OVER)))
    assert arrived is not job and unpack(pack(job, tuple(OVER))) is arrived  # made once
    for case in OVER:
        sent, came = job.compute(case), arrived.compute(case)
        assert sent.ok and np.array_equal(sent.pieces["q"].values, came.pieces["q"].values)
    assert not np.array_equal(arrived.compute(OVER[0]).pieces["q"].values, arrived.compute(OVER[1]).pieces["q"].values)


def test_without_cloudpickle_functions_must_be_importable(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "cloudpickle", None)
    with futures.ProcessPoolExecutor(1) as pool:
        words = "functions at the top level of a module, .*; or install cloudpickle"
        with pytest.raises(pl.ModelError, match=words):
            pl.sweep(pendulum(), OVER, lambda system: pl.simulate(system, 0.1), KEEP, tmp_path / "s", pool)
    assert not list((tmp_path / "s").glob("*.nc"))


def test_a_part_that_loses_its_parameter_on_the_way_is_noticed(monkeypatch):
    """As plain pickles have it: numbers arrive, what they were tied to does not."""
    job = Job(subject_of(with_functions()), RUN, keep_of(KEEP))
    monkeypatch.setattr("pliant.study.sweep.transport._reduced", lambda x, as_files: None)
    with pytest.raises(pl.ModelError, match="sweep: system must arrive in other processes as it was sent"):
        pack(job, tuple(OVER))


def test_a_system_that_reads_otherwise_as_a_file_goes_as_a_pickle(monkeypatch):
    """A file may say a number in other words, and round it otherwise."""
    wrong = pl.dump_model(pendulum()).replace("-1.047", "-1.048")
    assert "-1.048" in wrong
    monkeypatch.setattr("pliant.study.sweep.transport.dump_model", lambda system: wrong)
    job = Job(subject_of(pendulum()), RUN, keep_of(KEEP))
    arrived = unpack(pack(job, tuple(OVER)))
    assert np.array_equal(arrived.compute(OVER[0]).pieces["kinetic"].values, job.compute(OVER[0]).pieces["kinetic"].values)


def test_what_another_process_cannot_read_is_said():
    with pytest.raises(
        TravelError, match=r"must be importable in the processes that compute, with the same packages \(ModuleNotFoundError"
    ):
        unpack(b"cnot_a_module_at_all\nthing\n.")
