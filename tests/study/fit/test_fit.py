"""Fits: known values come back, with the uncertainty that noise makes; what data cannot tell is said; bad data is refused."""

import json
import runpy
import shutil
from pathlib import Path

import numpy as np
import pytest

import pliant as pl
from pliant.cli.app import app
from pliant.study.fit.measurements import measurements_of
from pliant.study.fit.series import SeriesNames, split_head

TRUTH = {"rate": 30.0, "loss": 0.4}


def oscillator(rate=25.0, loss=0.2, mass=1.0):
    """A slider on a spring with a damper, drawn out by 0.1 m."""
    system = pl.System("oscillator", gravity=(0, 0))
    spring = pl.Spring(stiffness=pl.Parameter("rate", rate, "N/m", low=1.0, high=1e3), rest=0.0)
    damper = pl.Damper(pl.Parameter("loss", loss, "N s/m", low=0.0, high=50.0))
    body = pl.RigidBody(mass=pl.Parameter("mass", mass, "kg", low=0.1, high=10.0), inertia=1e-3)
    system.add("s", body, joint=pl.Prismatic(displacement=0.1, spring=spring, damper=damper))
    return system


def exact(time, rate, loss, mass=1.0, begin=0.1):
    """Of the free vibration, from rest."""
    decay = loss / (2.0 * mass)
    frequency = np.sqrt(rate / mass - decay**2)
    return begin * np.exp(-decay * time) * (np.cos(frequency * time) + decay / frequency * np.sin(frequency * time))


def measured(time, seed=0, noise=1e-3, **values):
    scatter = noise * np.random.default_rng(seed).normal(size=time.size)
    return {"time": time, "s.displacement": exact(time, **{**TRUTH, **values}) + scatter}


TIME = np.linspace(0.0, 3.0, 151)


def test_values_come_back_from_data_without_noise():
    found = pl.fit(oscillator(), measured(TIME, noise=0.0), ["rate", "loss"])
    assert found.values == pytest.approx(TRUTH, rel=1e-7)
    assert found.noise["s.displacement"] < 1e-9
    assert not found.unidentifiable and not found.at_bounds


def test_standard_errors_are_those_of_the_closed_form():
    """J of the closed form by differences, s^2 (J^T J)^-1: an independent derivation of the covariance."""
    found = pl.fit(oscillator(), measured(TIME), ["rate", "loss"])
    values = np.array([found.values["rate"], found.values["loss"]])

    def course(x):
        return exact(TIME, *x)

    steps = 1e-5 * values
    slopes = np.column_stack([(course(values + s) - course(values - s)) / (2.0 * s.sum()) for s in np.diag(steps)])
    left = measured(TIME)["s.displacement"] - course(values)
    covariance = left @ left / (TIME.size - 2) * np.linalg.inv(slopes.T @ slopes)
    assert found.covariance == pytest.approx(covariance, rel=1e-5)
    assert found.degrees_of_freedom == TIME.size - 2
    errors = np.sqrt(np.diag(covariance))
    low, high = found.confidence(0.95)["rate"]
    assert high - low == pytest.approx(2.0 * 1.976 * errors[0], rel=1e-3)  # Student's t at 149 degrees of freedom
    assert found.correlation[0, 1] == pytest.approx(covariance[0, 1] / errors.prod(), rel=1e-4)


def test_errors_over_many_seeds_are_as_large_as_they_claim_to_be():
    """40 values off by z standard errors: the sum of z^2 lies within chi-square's 99.9 % interval."""
    system = oscillator()
    off = []
    for seed in range(20):
        found = pl.fit(system, measured(TIME, seed=100 + seed), ["rate", "loss"])
        off += [(found.values[name] - true) / found.standard_errors[name] for name, true in TRUTH.items()]
    assert 16.9 < np.sum(np.square(off)) < 76.1
    assert np.max(np.abs(off)) < 4.0


def test_two_experiments_are_met_by_the_same_values():
    heavy, light = (measured(TIME, noise=0.0, mass=mass) for mass in (2.0, 0.5))
    experiments = [pl.Experiment(heavy, {"mass": 2.0}, "heavy"), pl.Experiment(light, {"mass": 0.5}, "light")]
    found = pl.fit(oscillator(), experiments, ["rate", "loss"])
    assert found.values == pytest.approx(TRUTH, rel=1e-6)
    assert [part.name for part in found.experiments] == ["heavy", "light"]


def test_what_the_data_cannot_tell_is_named():
    """A free vibration tells the ratios of stiffness, damping and mass, not all three."""
    found = pl.fit(oscillator(), measured(TIME), ["rate", "loss", "mass"])
    assert set(found.unidentifiable) == {"rate", "loss", "mass"}
    assert "changing rate by +1 % and loss by +1 % and mass by +1 %" in found.unidentifiable["rate"]
    assert all(np.isinf(error) for error in found.standard_errors.values())
    still = pl.System("still", gravity=(0, 0))
    unused = pl.Parameter("unused", 1.0, low=0.0, high=2.0)
    still.add("s", pl.RigidBody(mass=pl.Parameter("mass", 1.5, low=0.1, high=9.0), inertia=1e-3),
              joint=pl.Prismatic(displacement=0.1, spring=pl.Spring(stiffness=30.0, rest=0.0)))  # fmt: skip
    still.event("far", lambda t, q, v: q["s.displacement"] - 10.0 * unused)
    found = pl.fit(still, {"time": TIME, "s.displacement": exact(TIME, 30.0, 0.0)}, ["mass", "unused"])
    assert found.unidentifiable == {"unused": "no measured value depends on it"}
    assert not found.ok and "unused was not found: no measured value depends on it" in found.message
    assert found.values["mass"] == pytest.approx(1.0, rel=1e-7)
    assert "not determined: unused: no measured value" in str(found)


def test_a_value_at_its_bound_is_said():
    found = pl.fit(oscillator(), measured(TIME, noise=0.0), ["loss", "rate"], bounds={"loss": (0.1, 0.3)})
    assert found.values["loss"] == pytest.approx(0.3, abs=1e-6) and list(found.at_bounds) == ["loss"]


@pytest.mark.parametrize("start", [0.2, 0.0])
def test_a_value_of_zero_is_determined_and_at_its_bound(start):
    found = pl.fit(oscillator(loss=start), measured(TIME, noise=0.0, loss=0.0), ["rate", "loss"])
    assert found.ok and found.values["loss"] == pytest.approx(0.0, abs=1e-6) and list(found.at_bounds) == ["loss"]
    assert not found.unidentifiable and found.standard_errors["loss"] < 1e-6


def test_units_of_parameters_do_not_decide_what_is_determined():
    """The same lever arm in units of 1e12 m, which begins at zero: its effect on the run is as large as that of the other."""
    system = pl.System("pendulum", gravity=(0, -9.81))
    tiny, stiff = pl.Parameter("tiny", 0.0), pl.Parameter("stiff", 25.0)
    system.add("s", pl.RigidBody(mass=1.0, inertia=1e-3),
               joint=pl.Prismatic(displacement=0.1, spring=pl.Spring(stiffness=stiff, rest=1e12 * tiny)))  # fmt: skip
    data = {"time": TIME, "s.displacement": 0.02 + exact(TIME, 30.0, 0.0, begin=0.08)}
    found = pl.fit(system, data, ["tiny", "stiff"])
    assert found.ok and not found.unidentifiable
    assert found.values == pytest.approx({"tiny": 2e-14, "stiff": 30.0}, rel=1e-6)


def test_a_wrong_model_leaves_a_pattern_that_is_said():
    data = measured(TIME, noise=2e-4)
    assert pl.fit(oscillator(), data, ["rate", "loss"]).warnings == ()
    wrong = pl.fit(oscillator(mass=0.9), data, ["rate"], guess={"loss": 0.5})
    (said,) = wrong.warnings
    assert (
        "s.displacement" in said and "correlation from row to row is 0.9" in said and "the model or a fixed value is wrong" in said
    )
    assert wrong.scatter.kind == "autoregressive" and wrong.inflation["rate"] > 2.0 and "times as wide" in str(wrong)
    assert f"warning: {said}" in str(wrong)


def test_a_value_that_the_data_hardly_determine_is_named():
    """A tenth of a second of a vibration with a period of 1.1 s, in noise: damping is not seen, stiffness is."""
    time = np.linspace(0.0, 0.1, 21)
    found = pl.fit(oscillator(), measured(time), ["rate", "loss"])
    (said,) = found.warnings
    low, high = found.confidence()["loss"]
    assert high - low > found.values["loss"]
    assert said.startswith("the data hardly determine 'loss': ") and f"+- {(high - low) / 2.0:.3g} N s/m" in said
    assert "wider than the value itself" in said and f"warning: {said}" in str(found)
    bounded = pl.fit(oscillator(), measured(time), ["rate", "loss"], bounds={"loss": (0.0, 1.0)})
    assert list(bounded.at_bounds) == ["loss"] and "hardly determine 'loss': 1 +- " in bounded.warnings[0]
    narrow = pl.fit(oscillator(), measured(time), ["rate"], bounds={"rate": (29.9, 30.1)}, guess={"rate": 30.0, "loss": 0.4})
    assert "hardly determine 'rate'" in narrow.warnings[0] and "wider than the span of its bounds, 0.2" in narrow.warnings[0]


def test_an_offset_that_may_be_zero_is_not_called_hardly_determined():
    system = pl.System("offset", gravity=(0, 0))
    rest = pl.Parameter("rest", 0.05, "m", low=-1.0, high=1.0)
    system.add("s", pl.RigidBody(mass=1.0, inertia=1e-3),
               joint=pl.Prismatic(displacement=0.1, spring=pl.Spring(stiffness=30.0, rest=rest)))  # fmt: skip
    found = pl.fit(system, measured(TIME, loss=0.0), ["rest"])
    low, high = found.confidence()["rest"]
    assert low < 0.0 < high and found.warnings == ()


def test_values_that_only_their_combination_determines_are_printed_as_correlated():
    """A short record shows acceleration, -rate begin/mass: the two can hardly be told apart."""
    found = pl.fit(oscillator(), measured(np.linspace(0.0, 0.4, 41), noise=1e-6), ["rate", "mass"], guess={"loss": 0.4})
    (pair,) = found.correlated.items()
    assert pair == (("rate", "mass"), pytest.approx(found.correlation[0, 1])) and pair[1] > 0.95
    assert f"correlated: rate and mass ({pair[1]:+.4f})" in str(found)
    apart = pl.fit(oscillator(), measured(TIME), ["rate", "loss"])
    assert not apart.correlated and "correlated:" not in str(apart)


def test_the_end_of_a_search_is_said_in_a_sentence():
    found = pl.fit(oscillator(), measured(TIME), ["rate", "loss"])
    assert found.ok and found.message.startswith("the search converged: ") and "termination" not in str(found)


def test_white_noise_leaves_no_pattern():
    found = [pl.fit(oscillator(), measured(TIME, seed=seed), ["rate", "loss"]) for seed in range(10)]
    assert [one.warnings for one in found] == [()] * 10


@pytest.mark.parametrize("told", [True, False], ids=["breakpoints", "where"])
def test_a_switching_time_is_found_together_with_its_gain(told):
    time = np.linspace(0.0, 1.5, 151)

    def pushed(start, gain):
        system, switch, gain = oscillator(), pl.Parameter("switch", start, "s", low=0.0, high=1.4), pl.Parameter("gain", gain)
        breakpoints = (switch,) if told else ()
        system.drive("push", "s.displacement", pl.Formula(lambda t, q, v: pl.where(t > switch, gain, 0.0), breakpoints=breakpoints))
        return system

    truth = pl.simulate(pushed(0.5, 2.6), 1.5, save=time.tolist())
    noise = 1e-4 * np.random.default_rng(0).normal(size=time.size)
    found = pl.fit(pushed(0.35, 2.0), {"time": time, "s.displacement": truth["s.displacement"] + noise}, ["switch", "gain"])
    assert found.ok and found.warnings == ()
    for name, true in {"switch": 0.5, "gain": 2.6}.items():
        assert abs(found.values[name] - true) < 4.0 * found.standard_errors[name] < 1e-2


def test_units_gaps_and_other_names():
    data = measured(TIME, noise=0.0)
    there = data["s.displacement"].copy()
    there[10:20] = np.nan  # hidden
    in_mm, renamed = {"time [s]": TIME, "s.displacement [mm]": 1e3 * there}, {"time": TIME, "laser": there}
    for given, of in ((in_mm, None), (renamed, {"laser": "s.displacement"})):
        found = pl.fit(oscillator(), given, ["rate", "loss"], of)
        assert found.values == pytest.approx(TRUTH, rel=1e-6)


def test_weights_decide_between_columns_that_disagree():
    data = measured(TIME, noise=0.0) | {"v s.displacement": np.zeros(TIME.size)}
    heavy = {"s.displacement": 1e6, "v s.displacement": 1.0}
    found = pl.fit(oscillator(), data, ["rate", "loss"], weights=heavy)
    assert found.values["rate"] == pytest.approx(TRUTH["rate"], rel=1e-3)


def test_tables_of_all_kinds_hold_the_same(tmp_path):
    import pandas
    import xarray

    values = {"time": np.array([0.0, 0.5, 1.0]), "arm.angle": np.array([1.0, np.nan, 3.0])}
    (tmp_path / "table.csv").write_text("time [s], arm.angle\n0,1\n0.5,\n1.0,3\n")
    frame = pandas.DataFrame(values)
    for given in (values, tmp_path / "table.csv", frame, frame.set_index("time"),
                  xarray.Dataset({"arm.angle": ("time", values["arm.angle"])}, {"time": values["time"]})):  # fmt: skip
        table = measurements_of(given)
        assert np.array_equal(table.time, values["time"])
        assert np.array_equal(table.columns["arm.angle"], values["arm.angle"], equal_nan=True)
    with_unit = xarray.Dataset({"x": ("time", values["arm.angle"], {"units": "mm"})}, {"time": values["time"]})
    assert list(measurements_of(with_unit).columns) == ["x [mm]"]


def test_times_have_units_too_and_columns_not_in_use_may_be_anything(tmp_path):
    import pandas
    import xarray

    (tmp_path / "table.csv").write_text("time [ms],arm.angle,remark\n0,1,ok\n500,2,\n1000,3,late\n")
    in_ms = xarray.Dataset({"arm.angle": ("time", [1.0, 2.0, 3.0]), "field": (("time", "x"), np.zeros((3, 2)))},
                           {"time": ("time", [0.0, 500.0, 1000.0], {"units": "ms"})})  # fmt: skip
    for given in (tmp_path / "table.csv", in_ms):
        table = measurements_of(given, ["arm.angle"])
        assert table.time.tolist() == [0.0, 0.5, 1.0] and table.columns["arm.angle"].tolist() == [1.0, 2.0, 3.0]
    with pytest.raises(pl.ModelError, match="data 'remark' must be numbers"):
        measurements_of(tmp_path / "table.csv")
    with pytest.raises(pl.ModelError, match=r"must have 'field' over the dimension 'time' only"):
        measurements_of(in_ms)
    wrong = (
        {"time [kg]": [0.0, 1.0]},
        {"time": pandas.date_range("2024-01-01", periods=2)},
        {"time": [0.0, 1.0], "x [m]": [0.0, 1.0]},
    )
    for given, said in zip(wrong, ("must be in a unit of time", "not dates", "must name each column once"), strict=True):
        with pytest.raises(pl.ModelError, match=said):
            measurements_of({**given, "x": [0.0, 1.0]})


def test_names_of_series():
    assert split_head("tip_position arm y [mm]") == ("tip_position arm y", "mm")
    assert split_head("arm.angle") == ("arm.angle", None)
    run = pl.simulate(oscillator(), 0.1)
    names = SeriesNames(run.labels, run.drawing.units)
    series = names.find("fit", "data", "tip_position s y")
    assert (series.quantity, series.place, series.unit) == ("tip_position", (0, 1), "m")
    assert names.find("fit", "data", "v s.displacement").unit == "m/s"
    with pytest.raises(pl.ModelError, match=r"data must name a number .*did you mean 's\.displacement'\?\), got 's\.displacment'"):
        names.find("fit", "data", "s.displacment")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"data": {"s.displacement": [1.0]}}, "data must have one column 'time'"),
        ({"data": {"time": [0.0, 1.0], "s.displacement": [1.0]}}, "data 's.displacement' must have 2 numbers"),
        ({"data": {"time": [1.0, 0.5], "s.displacement": [1.0, 2.0]}}, "data must have finite, ascending times"),
        (
            {"data": {"time": [0.0, 1.0], "s.displacement": [np.nan, np.nan]}},
            "data must have at least one column with measured values",
        ),
        ({"data": {"time": [0.0, 1.0], "s.displacement [kg]": [1.0, 2.0]}}, r"\[kg\]' must be in a unit of its quantity"),
        ({"data": {"time": [-1.0, 1.0], "s.displacement": [1.0, 2.0]}}, "data must not begin before the run"),
        ({"data": {"time": [0.0], "s.displacement": [1.0]}}, "data must end after the run begins"),
        ({"data": 3.0}, "data must be a CSV file"),
        ({"data": []}, "data must hold at least one experiment"),
        ({"parameters": ["rat"]}, r"parameters must be among .*did you mean 'rate'\?"),
        ({"parameters": []}, "parameters must name at least one"),
        ({"parameters": ["rate", "rate"]}, "parameters must name each parameter once"),
        ({"bounds": {"mass": (0.0, 1.0)}}, "bounds must be among rate"),
        ({"bounds": {"rate": (5.0, 5.0)}}, "bounds 'rate' must have low < high"),
        ({"guess": {"rate": 5.0}, "bounds": {"rate": (10.0, 20.0)}}, "guess 'rate' must lie within its bounds"),
        ({"weights": {"other": 1.0}}, "weights must hold an entry for every column in use"),
        ({"weights": {"s.displacement": -1.0}}, "weights 's.displacement' must be one number or"),
        ({"save": 0.1}, "run must not contain save"),
        ({"of": ["s.height"]}, "of must name columns of the data"),
        (
            {"data": pl.Experiment({"time": [0.0, 1.0], "s.displacement": [1.0, 2.0]}, {"rate": 3.0})},
            "must not be one of the free parameters",
        ),
    ],
)
def test_bad_input_is_refused_before_a_run(change, message):
    given = {"data": {"time": [0.0, 1.0], "s.displacement": [0.1, 0.05]}, "parameters": ["rate"], **change}
    with pytest.raises(pl.ModelError, match=message):
        pl.fit(oscillator(), **given)


def test_a_search_that_meets_a_grazing_touch_says_so_and_goes_on():
    """Thrown up at 1 m/s the ball misses the ceiling by nothing: no derivative exists there, differences of runs stand in."""
    speed = pl.Parameter("speed", 1.0, "m/s", low=0.0, high=5.0)
    system = pl.System("ceiling", gravity=(0, -9.81))
    ball = system.add("ball", pl.RigidBody(mass=1.0, inertia=1e-3), joint=pl.Planar(velocity=(0.0, speed)))
    ceiling = pl.Plane(point=(0.0, 1.0 / (2.0 * 9.81) + 0.05), normal=(0, -1))
    system.contact(points=pl.Sphere(ball.root, 0.05), against=ceiling, normal=pl.Hertz(stiffness=1e5), name="top")
    time = np.linspace(0.01, 0.3, 30)
    height = 0.99 * time - 0.5 * 9.81 * time**2
    found = pl.fit(system, {"time": time, "ball.y": height}, ["speed"])
    assert found.values["speed"] == pytest.approx(0.99, rel=1e-6)
    assert any("differences of runs replace derivatives" in sentence and "top ball.root" in sentence for sentence in found.warnings)
    assert any("the run jumps where speed changes" in sentence for sentence in found.warnings)  # faster, it is thrown back


def test_a_search_that_is_cut_short_says_so(tmp_path):
    from typer.testing import CliRunner

    found = pl.fit(oscillator(), measured(TIME), ["rate", "loss"], max_runs=1)
    assert not found.ok and "stopped after 1 runs" in found.message and not found.as_json()["ok"]
    assert pl.fit(oscillator(), measured(TIME), ["rate", "loss"]).ok
    twice = CliRunner().invoke(app, ["fit", "m.yaml", "--data", "a/x.csv", "--data", "b/x.csv", "--free", "rate"])
    assert twice.exit_code == 2 and "files must have different names" in twice.output


def test_contact_stiffness_restitution_and_friction_from_twenty_noisy_throws():
    """All within two standard errors; their scatter is that of the covariance: chi-square of 60 within its 99.9 % interval."""
    example = runpy.run_path(str(Path(__file__).parents[3] / "examples" / "identify_contact.py"))
    beam, truth, scatter = example["thrown_beam"](), example["TRUTH"], 0.0
    for seed in range(20):
        found = pl.fit(beam, example["measured"](beam, seed), list(truth), guess=example["GUESS"])
        off = np.array([found.values[name] - true for name, true in truth.items()])
        assert np.all(np.abs(off) < 2.0 * np.array(list(found.standard_errors.values()))), seed
        scatter += off @ np.linalg.solve(found.covariance, off)
    assert 31.7 < scatter < 102.7


MODEL = """
pliant: 1
system: oscillator
gravity: [0, 0]
define: {stiff: 25 N/m, loss: 0.2 N*s/m}
bodies:
  s:
    rigid: {mass: 1, inertia: 1e-3}
    joint: {prismatic: {displacement: 0.1, spring: {stiffness: stiff, rest: 0}, damper: loss}}
run: {t_end: 3}
"""


def test_the_command_writes_report_picture_and_runs(tmp_path):
    from typer.testing import CliRunner

    (tmp_path / "model.yaml").write_text(MODEL)
    data = measured(TIME)
    rows = "\n".join(f"{t!r},{x!r}" for t, x in zip(data["time"].tolist(), data["s.displacement"].tolist(), strict=True))
    (tmp_path / "camera.csv").write_text(f"time [s],s.displacement [m]\n{rows}\n")
    command = ["fit", str(tmp_path / "model.yaml"), "--data", str(tmp_path / "camera.csv"), "--free", "stiff,loss"]
    more = ["--bound", "loss=0:5", "--report", str(tmp_path / "fit.html"), "--loss", "huber", "--noise", "ar"]
    done = CliRunner().invoke(app, [*command, "--out", str(tmp_path / "out"), *more, "--quiet"])
    assert done.exit_code == 0, done.output
    assert "Fit of oscillator" in (tmp_path / "fit.html").read_text() and "(Huber); whitened" in (tmp_path / "fit.html").read_text()
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["camera_fit.csv", "camera_fit.nc", "fit.json", "fit.png"]
    report = json.loads((tmp_path / "out" / "fit.json").read_text())
    assert report["values"]["stiff"] == pytest.approx(30.0, rel=1e-2)
    copied = str(shutil.copy(tmp_path / "camera.csv", tmp_path / "again.csv"))
    both = [CliRunner().invoke(app, [*command, "--data", copied, "--json", *more]) for more in ([], ["--workers", "2"])]
    assert both[0].exit_code == 0 and both[0].output == both[1].output
    printed = CliRunner().invoke(app, [*command])
    assert "to run with these values: pliant run" in printed.output and "95 % confidence" in printed.output
    wrong = CliRunner().invoke(app, [*command[:-1], "stif"])
    assert wrong.exit_code == 2 and "did you mean 'stiff'?" in wrong.output
    wrong = CliRunner().invoke(app, [*command, "--bound", "loss=0:x"])
    assert wrong.exit_code == 2 and "--bound: parameter 'loss': value" in wrong.output
    wrong = CliRunner().invoke(app, [*command, "--bound", "loss"])
    assert wrong.exit_code == 2 and "--bound: must be NAME=LOW:HIGH" in wrong.output
