"""What is given to a public function instead of a mechanism, numbers, names or files is answered with a sentence of pliant's."""

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
