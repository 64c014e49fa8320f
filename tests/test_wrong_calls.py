"""What is given to a public function instead of a mechanism, numbers, names or files is answered with a sentence of pliant's."""

import contextlib
import inspect
from pathlib import Path

import numpy as np
import pytest

import pliant as pl

WRONG = [None, 3, -1.0, float("nan"), "nonsense", [], {}, object(), (1, 2), np.zeros(3), b"x", {"a": 1}, ["x"], True]
# Of numbers and traced scalars, and answers of their own (TypeError with a sentence); what a user's function raises is the user's.
SKIPPED = {name for name in pl.__all__ if getattr(getattr(pl, name), "__module__", "") == "pliant.scalar"}
OWN = {"cache", "maximise", "includes_outside"}  # switches, of which only the truth counts


def pendulum():
    system = pl.System("pendulum", gravity=(0, -9.81))
    system.add("rod", pl.RigidBody.rod(1.0, pl.Parameter("m", 1.0)), joint=pl.Revolute())
    return system


FUNCTIONS = sorted(name for name in pl.__all__ if inspect.isfunction(getattr(pl, name)) and name not in SKIPPED)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_wrong_arguments_are_answered_with_a_sentence(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    function = getattr(pl, name)
    known = {"system": pendulum(), "t_end": 0.01, "objective": lambda run: run.final("rod.angle"), "parameters": ["m"]}
    parameters = [p for p in inspect.signature(function).parameters.values() if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)]
    required = [p.name for p in parameters if p.default is p.empty]
    for parameter in parameters:
        if parameter.name in OWN:
            continue
        for wrong in WRONG:
            given = {own: known.get(own, wrong) for own in required}
            given[parameter.name] = wrong
            try:
                function(**given)
            except pl.PliantError as trouble:
                assert str(trouble)


@pytest.fixture(scope="module")
def made():
    """One object of every class whose methods a user calls."""
    system = pendulum()
    run, linear = pl.simulate(system, 0.02, save=0.005), pl.linearise(system, inputs=["rod.angle"])
    data = {"time": run.time[1:], "rod.angle": run["rod.angle"][1:]}
    return {
        "result": run, "run": pl.start(system), "system": system, "equilibrium": pl.equilibrium(system), "linear": linear,
        "modes": linear.modes(), "sensitivities": pl.sensitivities(system, 0.02, ["m"]), "seen": pl.start(system).observe(),
        "fit": pl.fit(system, data, ["m"]), "report": pl.report(run), "contacts": run.contacts, "equations": pl.equations(system),
    }  # fmt: skip


READ = ("__getitem__", "__contains__", "get")
METHODS = {
    "result": (*READ, "of_body", "rate", "show", "to_csv", "to_matlab", "to_netcdf", "from_netcdf", "keeps", "with_sections"),
    "run": ("step", "restore"), "seen": READ, "equilibrium": (*READ, "of_body"), "fit": ("confidence",), "report": ("of", "to_csv"),
    "system": ("add", "close", "contact", "drive", "event", "force", "handle", "spring", "state", "strut", "sampled", "constrain"),
    "linear": ("frequency_response",), "modes": ("animated", "shape", "moving", "pole"), "sensitivities": ("at_end",),
    "contacts": ("to_csv",), "equations": ("write_c", "write_casadi"),
}  # fmt: skip


@pytest.mark.parametrize("title", METHODS)
def test_wrong_arguments_of_methods_are_answered_with_a_sentence(title, made, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in METHODS[title]:
        method = getattr(made[title], name, None)
        if method is None:
            assert title == "system"  # not every name is a method in every version
            continue
        for parameter in (parameters := [p for p in inspect.signature(method).parameters.values() if p.kind != p.VAR_POSITIONAL]):
            for wrong in WRONG:
                given = {p.name: wrong for p in parameters if p.default is p.empty or p is parameter}
                with contextlib.suppress(pl.PliantError, OSError):
                    method(*given.values()) if name.startswith("__") else method(**given)


@pytest.mark.parametrize("field", ["result", "names", "bodies", "ax", "figsize"])
def test_wrong_arguments_of_plots_are_answered_with_a_sentence(field, made):
    for name, draw in pl.plot.PLOTS.items():
        own = inspect.signature(draw).parameters.get(field)
        if own is None or own.kind is own.VAR_POSITIONAL:
            continue
        for wrong in (3, -1.0, "nonsense", object(), (1, "x"), {"a": 1}, ["x"]):
            with pytest.raises(pl.ModelError, match=r"plot|result"):
                draw(**({"results": made["result"]} if name == "series" else {"result": made["result"]}) | {field: wrong})
    with pytest.raises(pl.ModelError, match="player: result must be a Result, got 3"):
        pl.player.write(3, "page.html")


def test_a_limit_of_steps_is_a_whole_number():
    for call in (pl.simulate, pl.ensemble):
        with pytest.raises(pl.ModelError, match=r"max_steps must be a whole number >= 1, got 1\.5"):
            call(pendulum(), 0.1, max_steps=1.5)
    assert not pl.simulate(pendulum(), 1.0, max_steps=1e1).ok


def test_a_start_is_given_by_names_in_every_call_that_starts_a_run():
    system, start = pendulum(), {"rod.angle": 0.3, ("v", "rod.angle"): 1.5}
    run = pl.simulate(system, 0.1, start=start)
    assert run["rod.angle"][0] == 0.3 and run["v", "rod.angle"][0] == 1.5 and run.provenance["settings"]["start"] == str(start)
    stepped = pl.start(system, start=start)
    assert stepped.q[0] == 0.3 and stepped.v[0] == 1.5
    assert pl.sensitivities(system, 0.1, ["m"], start=start).result["rod.angle"][-1] == run["rod.angle"][-1]
    many = pl.ensemble(system, 0.1, starts={"rod.angle": [0.3, 0.4], ("v", "rod.angle"): 1.5}, loop="general")
    assert many["q_end"].values[0, 0] == run["rod.angle"][-1]
    data = {"time": run.time[1:], "rod.angle": run["rod.angle"][1:]}
    assert pl.fit(system, data, ["m"], start=start).noise["rod.angle"] < 1e-9
    for wrong, words in (({"rod.angel": 0.3}, "simulate: starts must be free coordinates .*did you mean 'rod.angle'"),
                         ({"rod.angle": "x"}, r"simulate: start\['rod.angle'\] must be")):  # fmt: skip
        with pytest.raises(pl.ModelError, match=words):
            pl.simulate(system, 0.1, start=wrong)


def test_progress_is_a_function_or_a_bar_in_every_call_that_may_take_long(monkeypatch):
    system, told = pendulum(), []
    data = {"time": [0.05, 0.1], "rod.angle": pl.simulate(system, 0.1, save=[0.05, 0.1])["rod.angle"]}
    calls = [
        lambda progress: pl.simulate(system, 0.1, progress=progress),
        lambda progress: pl.sensitivities(system, 0.1, ["m"], progress=progress),
        lambda progress: pl.ensemble(system, 0.1, parameters={"m": [1.0, 2.0]}, progress=progress),
        lambda progress: pl.sweep(system, {"m": [1.0, 2.0]}, {"t_end": 0.1}, progress=progress),
        lambda progress: pl.fit(system, data, ["m"], progress=progress),
        lambda progress: pl.optimise(system, lambda run: run.final("rod.angle"), ["m"], t_end=0.1, progress=progress, max_runs=3),
    ]
    for call in calls:
        call(True), call(False), call(lambda *words: told.append(words))
        with pytest.raises(pl.ModelError, match="progress must be a function"):
            call(3)
    assert len(told) >= 4


def test_a_path_or_a_model_stands_for_its_system(tmp_path):
    file = tmp_path / "pendulum.yaml"
    file.write_text(pl.dump_model(pendulum()), encoding="utf-8")
    for given in (file, str(file), pl.load_model(file)):
        assert pl.simulate(given, 0.1)["rod.angle"][-1] == pl.simulate(pendulum(), 0.1)["rod.angle"][-1]
        assert pl.equilibrium(given)["rod.angle"] == pl.equilibrium(pendulum())["rod.angle"]
        assert pl.linearise(given).states == pl.linearise(pendulum()).states
        assert pl.sensitivities(given, 0.1, ["m"]).ok and pl.start(given).t == 0.0
        assert pl.ensemble(given, 0.1, parameters={"m": [1.0, 2.0]})["ok"].all()
        assert pl.equations(given).q.names == pl.equations(pendulum()).q.names
        assert pl.sweep(given, {"m": [1.0]}, {"t_end": 0.01})["ok"].all()
        with pytest.raises(pl.ModelError, match="must hold at least one beam"):  # it has read the system
            pl.section_forces(pl.simulate(given, 0.01), given)


@pytest.mark.parametrize("method", [pl.DOP853, "DOP853", pl.DOP853(rtol=1e-9, atol=1e-12)])
def test_a_method_is_a_class_a_name_or_an_object(method):
    run = pl.simulate(pendulum(), 0.1, method=method)
    assert run["rod.angle"][-1] == pl.simulate(pendulum(), 0.1, method="DOP853")["rod.angle"][-1]
    assert pl.ensemble(pendulum(), 0.1, parameters={"m": [1.0]}, method=method)["ok"].all()
    assert pl.sensitivities(pendulum(), 0.1, ["m"], method=method).ok
    with pytest.raises(pl.ModelError, match=r"method must be an object, as in pl.RK4\(step=...\)"):
        pl.simulate(pendulum(), 0.1, method=pl.RK4)


def test_what_is_no_file_is_refused_by_name():
    with pytest.raises(pl.ModelError, match=r"simulate: system must be a System .* a Model or the path of a model file, got 3"):
        pl.simulate(3, 1.0)
    with pytest.raises(pl.PliantError, match=r"nowhere.yaml"):
        pl.simulate(Path("nowhere.yaml"), 1.0)


def test_parameters_are_values_by_name_in_every_call():
    system, values = pendulum(), {"m": 2.5}
    assert pl.sensitivities(system, 0.1, values).result.parameters == values
    assert pl.fit(system, {"time": [0.1], "rod.angle": [0.0]}, values).names == ("m",)
    assert pl.optimise(system, lambda run: run.final("rod.angle"), values, t_end=0.1).runs >= 1
