"""Experiments of a fit: their own inputs, starts, unknowns, weights and ends."""

import concurrent.futures as futures
import multiprocessing
import os
import signal
import threading

import numpy as np
import pytest

import pliant as pl
from pliant.study.derivatives.saltation import Walk
from pliant.study.fit import differentiated_run

GAIN, DRAG, NOISE = 1.7, 0.5, 1e-3
T = np.linspace(0.0, 3.0, 61)
NAMES = ["cart.displacement", ("v", "cart.displacement")]


def cart():
    """A damped mass on a spring, pushed by gain times an input, with an offset of the force."""
    u, gain, drag, offset = (pl.Parameter(name, value) for name, value in
                             (("u", 0.0), ("gain", 2.0), ("drag", 0.3), ("offset", 0.0)))  # fmt: skip
    system = pl.System("cart", gravity=(0, 0))
    system.add("cart", pl.RigidBody(mass=1.0, inertia=1.0), joint=pl.Prismatic())
    system.drive("push", "cart.displacement",
                 lambda t, q, v: gain * u + offset - drag * v["cart.displacement"] - 4.0 * q["cart.displacement"])  # fmt: skip
    return system


def measured(seed, series, offset=0.0, start=(0.0, 0.0), noise=NOISE):
    run = pl.simulate(cart(), T[-1], inputs={"u": series}, parameters={"gain": GAIN, "drag": DRAG, "offset": offset},
                      start=dict(zip(NAMES, start, strict=True)), save=T)  # fmt: skip
    return {"time": T, "cart.displacement": run["cart.displacement"] + noise * np.random.default_rng(seed).normal(size=T.size)}


def series_of(seed, between="held"):
    return pl.InputSeries(T, np.cumsum(np.random.default_rng(100 + seed).normal(size=T.size)) * 0.3, between)


def test_experiments_with_different_inputs_give_the_shared_values():
    experiments = []
    for k, between in enumerate(("held", "linear", "cubic")):
        series = series_of(k, between)
        experiments.append(pl.Experiment(measured(k, series), inputs={"u": series}))
    fit = pl.fit(cart(), experiments, ["gain", "drag"])
    assert fit.ok
    for name, truth in (("gain", GAIN), ("drag", DRAG)):
        assert abs(fit.values[name] - truth) < 4.0 * fit.standard_errors[name] < 0.02
    assert fit.noise["cart.displacement"] == pytest.approx(NOISE, rel=0.2)


def test_unknowns_of_single_experiments_are_found_beside_the_shared_ones():
    truth = np.random.default_rng(5).normal(size=(3, 3)) * 0.2
    experiments = [
        pl.Experiment(
            measured(k, series_of(k), truth[k, 0], truth[k, 1:]), name=f"toss {k}", inputs={"u": series_of(k)},
            parameters={"offset": pl.Unknown(0.0)}, starts={name: pl.Unknown(0.0) for name in NAMES},
        )
        for k in range(3)
    ]  # fmt: skip
    fit = pl.fit(cart(), experiments, ["gain", "drag"])
    assert fit.ok and len(fit.names) == 2 + 9
    for k in range(3):
        own = ("offset", "cart.displacement", "rate of cart.displacement")
        for name, value in zip(own, truth[k], strict=True):
            title = f"{name} [toss {k}]"
            assert abs(fit.values[title] - value) < 5.0 * fit.standard_errors[title] < 0.02
            assert fit.experiments[k].values[name] == fit.values[title]
        assert fit.experiments[k].values["gain"] == fit.values["gain"]
        # a row of one experiment does not depend on what is unknown in another
        slopes, others = (
            fit.experiments[k].slopes,
            [i for i, name in enumerate(fit.names) if "[" in name and f"[toss {k}]" not in name],
        )
        assert np.all(slopes[:, others] == 0.0) and np.all(np.any(slopes[:, [0, 1]] != 0.0, axis=0))


def test_a_report_says_what_experiments_had_for_themselves(tmp_path):
    experiments = [
        pl.Experiment(measured(k, series_of(k), 0.1 * k), name=f"toss {k}", inputs={"u": series_of(k)},
                      parameters={"offset": 0.1 * k}, starts={name: pl.Unknown(0.0) for name in NAMES[: 1 + k]})
        for k in range(2)
    ]  # fmt: skip
    fit = pl.fit(cart(), experiments, ["gain"], guess={"drag": DRAG})
    page = fit.report(tmp_path / "fit.html").read_text()
    assert "Not free: drag = 0.5, offset (of each experiment), u by series." in page
    assert (fit.units["cart.displacement [toss 0]"], fit.units["rate of cart.displacement [toss 1]"]) == ("m", "m/s")


def test_derivatives_are_computed_only_for_what_an_experiment_has(monkeypatch):
    asked, real = [], differentiated_run.recorded_run

    def noted(system, t_end, **options):
        asked.append((options["parameters"], options["starts"], options["rates"]))
        return real(system, t_end, **options)

    monkeypatch.setattr(differentiated_run, "recorded_run", noted)
    experiments = [pl.Experiment(measured(k, series_of(k)), inputs={"u": series_of(k)}, name=str(k),
                                 starts={NAMES[1]: pl.Unknown(0.0)} if k else {}) for k in range(2)]  # fmt: skip
    pl.fit(cart(), experiments, ["gain"], max_runs=2)
    assert {tuple(map(tuple, one)) for one in asked} == {(("gain",), (), ()), (("gain",), (), ("cart.displacement",))}


def test_a_fit_may_have_unknowns_of_experiments_only():
    series = series_of(1)
    one = pl.Experiment(
        measured(1, series, 0.2), inputs={"u": series}, parameters={"offset": pl.Unknown(0.0), "gain": GAIN, "drag": DRAG}
    )
    fit = pl.fit(cart(), one, [])
    assert fit.names == ("offset [data]",) and fit.values["offset [data]"] == pytest.approx(0.2, abs=2e-3)


def test_a_start_that_is_given_leaves_the_derivatives_of_the_others_alone():
    """A start in a mapping is a number of its own; the rest of the start still depends on parameters."""
    system = pl.System("cart", gravity=(0, 0))
    joint = pl.Prismatic(displacement=pl.Parameter("place", 0.1), rate=pl.Parameter("speed", 0.4))
    system.add("cart", pl.RigidBody(mass=1.0, inertia=1.0), joint=joint)
    given = pl.sensitivities(system, 1.0, ["place", "speed"], start={"cart.displacement": 3.0}, save=[1.0])
    assert given.table["q"].values[0, 0].tolist() == pytest.approx([0.0, 1.0], abs=1e-9)


def test_a_run_is_compared_until_a_time_only():
    series = series_of(2)
    data = measured(2, series)
    late = data["time"] > 1.5
    data["cart.displacement"][late] += 5.0  # something else happened
    fit = pl.fit(cart(), pl.Experiment(data, inputs={"u": series}, until=1.52), ["gain", "drag"])
    assert fit.values["gain"] == pytest.approx(GAIN, abs=0.02)
    assert fit.experiments[0].time[-1] == pytest.approx(1.5) and fit.result.time[-1] == pytest.approx(1.5)


def test_weights_of_an_experiment_replace_those_of_the_fit():
    """Two experiments that contradict each other: the one with the larger weight wins."""
    series = series_of(3)
    right, wrong = measured(3, series, noise=0.0), measured(3, series, noise=0.0)
    wrong["cart.displacement"] = 1.5 * wrong["cart.displacement"]
    heavy, light = {"cart.displacement": 1e3}, {"cart.displacement": 1e-3}
    for first, second, gain in ((heavy, light, GAIN), (light, heavy, 1.5 * GAIN)):
        experiments = [pl.Experiment(right, inputs={"u": series}, weights=first),
                       pl.Experiment(wrong, inputs={"u": series}, weights=second)]  # fmt: skip
        fit = pl.fit(cart(), experiments, ["gain"], guess={"drag": DRAG}, weights={"cart.displacement": 1.0})
        assert fit.values["gain"] == pytest.approx(gain, rel=1e-4)


def test_weights_of_some_experiments_only_are_refused():
    series = series_of(3)
    experiments = [pl.Experiment(measured(3, series), inputs={"u": series}, weights=own)
                   for own in ({"cart.displacement": 1.0}, None)]  # fmt: skip
    with pytest.raises(pl.ModelError, match=r"experiment weights must be given for all .* or for none .* got 'experiment 2'"):
        pl.fit(cart(), experiments, ["gain"])


def test_a_rate_named_as_in_data_is_refused_with_the_way_to_start_it():
    series = series_of(3)
    own = {"inputs": {"u": series}, "starts": {"v cart.displacement": pl.Unknown(0.0)}}
    with pytest.raises(pl.ModelError, match=r'a rate is given as \("v", \'cart.displacement\'\), got \'v cart.displacement\''):
        pl.fit(cart(), pl.Experiment(measured(3, series), **own), ["gain"])


def noted_fit(executor=None, **options):
    experiments = [pl.Experiment(measured(k, series_of(k)), inputs={"u": series_of(k)}, name=f"push {k}") for k in range(4)]
    return pl.fit(cart(), experiments, ["gain", "drag"], executor=executor, **options)


def spawned(workers=2):
    return futures.ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn"))


def test_every_executor_gives_the_same_values(monkeypatch):
    monkeypatch.setattr("pliant.study.fit.experiment_runs.processors", lambda: 1)
    here = noted_fit()
    with futures.ThreadPoolExecutor(4) as threads, spawned() as processes:
        for executor in (threads, processes):
            fit = noted_fit(executor)
            assert fit.values == here.values and fit.runs == here.runs
            assert np.array_equal(fit.covariance, here.covariance)
            assert all(np.array_equal(a.result["q"], b.result["q"])
                       for a, b in zip(fit.experiments, here.experiments, strict=True))  # fmt: skip


def test_runs_are_differentiated_where_the_search_goes_on(monkeypatch):
    walked, sums, walk = [], [], Walk.go
    monkeypatch.setattr(Walk, "go", lambda self, times: (walked.append(1), walk(self, times)))
    found = noted_fit(progress=lambda runs, squares: sums.append(squares), guess={"gain": 0.1, "drag": 60.0})
    accepted = len(set(np.minimum.accumulate(sums)))
    assert len(walked) == 4 * accepted < found.runs


def test_an_error_in_another_process_names_its_experiment():
    experiments = [pl.Experiment(measured(k, series_of(k)), inputs={"u": series_of(k)}, name=f"push {k}") for k in range(2)]
    with spawned() as pool, pytest.raises(pl.SolveError, match=r"the initial values failed: push 0: the run with gain .* stopped"):
        pl.fit(cart(), experiments, ["gain"], max_steps=1, guess={"drag": DRAG}, executor=pool)


def test_a_worker_that_died_is_replaced():
    series = series_of(0)
    experiments = [pl.Experiment(measured(k, series), inputs={"u": series}, name=f"push {k}") for k in range(2)]
    with spawned(1) as pool:
        pool.submit(os.getpid).result()
        os.kill(pool.submit(os.getpid).result(), signal.SIGKILL)
        fit = pl.fit(cart(), experiments, ["gain"], guess={"drag": DRAG}, executor=pool)
    assert fit.values["gain"] == pytest.approx(GAIN, rel=1e-2)


def test_what_no_process_could_read_is_refused_before_any_run():
    experiment = pl.Experiment(measured(0, series_of(0)), inputs={"u": series_of(0)})
    with spawned(1) as pool, pytest.raises(pl.ModelError, match="fit: objects sent to other processes must be importable there"):
        pl.fit(cart(), experiment, ["gain"], guess={"drag": DRAG}, executor=pool, phase=threading.Lock().__enter__)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"inputs": {"w": None}}, "must be among"),
        ({"parameters": {"gain": 1.0}}, "must not be one of the free parameters"),
        ({"inputs": {"gain": None}}, "must not be one of the free parameters"),
        ({"inputs": {"u": pl.InputSeries([0.0, 1.0], [0.0, 1.0], "linear")}}, "must last until t = 3 s"),
        ({"until": -1.0}, "must be >= the first time of the data"),
        ({"starts": {"cart.place": 0.0}}, "must be free coordinates"),
        ({"starts": {"cart.place": pl.Unknown(0.0)}}, "must be free coordinates"),
        ({"weights": {"other": 1.0}}, "must hold an entry for every column in use"),
        ({"parameters": {"offset": 0.0}, "inputs": {"offset": pl.InputSeries(T, T, "linear")}}, "must not be among the parameters"),
    ],
)
def test_wrong_experiments_are_refused_in_words(given, words):
    with pytest.raises((pl.ModelError, pl.SolveError), match=words):
        pl.fit(cart(), pl.Experiment(measured(1, series_of(1)), **given), ["gain"])


def test_wrong_unknowns_are_refused_in_words():
    for given, words in (((1.0, 2.0), "within its bounds"), ((1.0, 3.0, 2.0), "low must be <"), ((np.nan,), "finite")):
        with pytest.raises(pl.ModelError, match=words):
            pl.Unknown(*given)
    twice = [
        pl.Experiment(measured(1, series_of(1)), name="toss", inputs={"u": series_of(1)}, parameters={"offset": pl.Unknown(0.0)})
    ] * 2
    with pytest.raises(pl.ModelError, match="must be unique"):
        pl.fit(cart(), twice, ["gain"])
