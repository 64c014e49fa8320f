"""Inputs of runs: series of any length in the place of parameters."""

import time

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import pliant as pl
from pliant.run import prepare

TIMES = np.array([0.0, 1.0, 2.5, 3.0, 4.0])
VALUES = np.array([1.0, -2.0, 0.5, 3.0, 0.25])
MASS, GAIN = 1.25, 2.0
TIGHT = pl.DOP853(rtol=1e-11, atol=1e-13)


def cart(formula=False, damper=None):
    """A mass on a rail, pushed by GAIN times the input."""
    u, gain = pl.Parameter("u", 0.0, "N", low=-50.0, high=50.0), pl.Parameter("gain", GAIN)
    system = pl.System("cart", gravity=(0, 0))
    system.add("cart", pl.RigidBody(mass=MASS, inertia=1.0), joint=pl.Prismatic())
    system.drive("push", "cart.displacement", (lambda t, q, v: gain * u) if formula else gain * u)
    if damper is not None:
        system.drive("drag", "cart.displacement", lambda t, q, v: -damper * (1.0 + u * u) * v["cart.displacement"])
    return system


def place(t, between):
    """The exact position of the cart at rest at 0: the input integrated twice."""
    if between == "cubic":
        return GAIN / MASS * CubicSpline(TIMES, VALUES).antiderivative(2)(t)
    x, v = 0.0, 0.0
    for k in range(TIMES.size - 1):
        h = min(TIMES[k + 1], t) - TIMES[k]
        if h <= 0.0:
            break
        bend = 0.0 if between == "held" else (VALUES[k + 1] - VALUES[k]) / (TIMES[k + 1] - TIMES[k])
        x, v = x + v * h + VALUES[k] * h**2 / 2.0 + bend * h**3 / 6.0, v + VALUES[k] * h + bend * h**2 / 2.0
    return GAIN / MASS * x


@pytest.mark.parametrize("formula", [False, True], ids=["number", "formula"])
@pytest.mark.parametrize("corners", [None, True, False])
@pytest.mark.parametrize("between", ["held", "linear", "cubic"])
def test_a_mass_moves_as_the_series_integrated_twice(between, corners, formula):
    series, rows = pl.InputSeries(TIMES, VALUES, between, corners=corners), np.linspace(0.0, 4.0, 41)
    run = pl.simulate(cart(formula), 4.0, inputs={"u": series}, save=rows, method=TIGHT)
    exact = [place(t, between) for t in rows]
    smooth = corners or (between == "held" and corners is None)  # on each step
    assert run.ok and not run.warnings
    assert run["cart.displacement"] == pytest.approx(exact, abs=1e-10 if smooth else 2e-8)
    assert run.ledger.relative_error_max < (1e-9 if smooth else 1e-7)


@pytest.mark.parametrize("method", [pl.Rodas5P(rtol=1e-9, atol=1e-12), pl.Radau5(rtol=1e-9, atol=1e-12), pl.RKF45(1e-10, 1e-13)])
@pytest.mark.parametrize("between", ["held", "linear", "cubic"])
def test_every_kind_of_method_follows_a_series(between, method):
    run = pl.simulate(cart(), 4.0, inputs={"u": pl.InputSeries(TIMES, VALUES, between)}, method=method, save=[4.0])
    assert run["cart.displacement"][-1] == pytest.approx(place(4.0, between), abs=1e-7)


def test_rosenbrocks_order_needs_the_right_slope_in_time():
    fine, rough = [
        pl.simulate(cart(damper=0.3), 4.0, inputs={"u": pl.InputSeries(TIMES, VALUES, "cubic")}, method=method, save=[4.0])
        for method in (TIGHT, pl.Rodas5P(rtol=1e-6, atol=1e-9))
    ]
    assert rough["cart.displacement"] == pytest.approx(fine["cart.displacement"], abs=1e-6)
    assert rough.stats["steps"] < 150  # with a wrong slope the error control takes thousands


def test_a_spike_of_one_row_among_a_hundred_thousand_is_not_missed():
    values = np.zeros(100_001)
    values[77_123] = 40.0
    for between in ("held", "linear"):
        for corners in (True, False):
            series = pl.InputSeries(np.arange(100_001) * 1e-4, values, between, corners=corners)
            run = pl.simulate(cart(), 10.0, inputs={"u": series}, method="DOP853", save=[10.0])
            speed = GAIN / MASS * 40.0 * 1e-4
            assert run[("v", "cart.displacement")][-1] == pytest.approx(speed, rel=1e-4)
            assert run.stats["steps"] < 400


def test_a_million_rows_cost_little_beyond_their_integration_and_compile_nothing(monkeypatch):
    system, t = cart(), np.linspace(0.0, 100.0, 1_000_001)
    pl.simulate(system, 1.0, inputs={"u": pl.InputSeries(TIMES, VALUES, "held")}, save=[1.0])
    for phase in (0.0, 1.0):
        given = {"inputs": {"u": pl.InputSeries(t, np.sin(0.3 * t + phase), "linear")}, "save": [100.0]}
        with monkeypatch.context() as patched:
            patched.setattr(prepare, "_compile_structure", None)  # a call would fail
            run = pl.simulate(system, 100.0, **given)
            began = time.perf_counter()
            run = pl.simulate(system, 100.0, **given)
            spent = time.perf_counter() - began
        assert spent - run.stats["wall_s"] < 0.3  # s
        assert run.stats["steps"] < 20_000  # smooth over many rows: steps are longer than rows
        exact = GAIN / MASS * (np.cos(phase) / 0.3 * 100.0 - (np.sin(30.0 + phase) - np.sin(phase)) / 0.09)
        assert run["cart.displacement"][-1] == pytest.approx(exact, rel=1e-7)


def test_an_input_acts_wherever_the_parameter_stands():
    """In a damper and a load beside a drive: the same as formulas of time that say the same."""
    u = pl.Parameter("u", 1.0)
    t = np.linspace(0.0, 3.0, 301)
    value = 1.5 + np.sin(2.0 * t)

    def arm(drag, force):
        system = pl.System("arm", gravity=(0, -9.81))
        bar = system.add("bar", pl.RigidBody.rod(0.5, 1.0), joint=pl.Revolute())
        system.drive("drag", "bar.angle", lambda t, q, v: -drag(t) * v["bar.angle"])
        system.force("pull", bar.tip, (0.0, force))
        return system

    given = pl.simulate(arm(lambda t: u, 2.0 * u), 3.0, inputs={"u": pl.InputSeries(t, value, "cubic")}, save=0.1)
    told = pl.simulate(arm(lambda t: 1.5 + pl.sin(2.0 * t), lambda t, q, v: 2.0 * (1.5 + pl.sin(2.0 * t))), 3.0, save=0.1)
    assert given["bar.angle"] == pytest.approx(told["bar.angle"], abs=1e-7)


@pytest.mark.parametrize("between", ["held", "linear", "cubic"])
def test_derivatives_of_runs_with_inputs_are_those_of_differences(between):
    drag = pl.Parameter("drag", 0.3)
    system, series = cart(damper=drag), pl.InputSeries(TIMES, VALUES, between, corners=True)
    given = {"inputs": {"u": series}, "save": [2.0, 4.0], "method": pl.DOP853(rtol=1e-12, atol=1e-14)}
    exact = pl.sensitivities(system, 4.0, ["gain", "drag"], rates=["cart.displacement"], **given).table["q"].values[:, 0]
    step = 1e-4

    def run(name, x):
        if name == "v":
            return pl.simulate(system, 4.0, start={("v", "cart.displacement"): x}, **given)["cart.displacement"]
        return pl.simulate(system, 4.0, parameters={name: x}, **given)["cart.displacement"]

    for k, (name, value) in enumerate([("gain", GAIN), ("drag", 0.3), ("v", 0.0)]):
        difference = (run(name, value + step) - run(name, value - step)) / (2.0 * step)
        assert exact[:, k] == pytest.approx(difference, rel=3e-7, abs=1e-7)


def test_series_live_as_long_as_what_was_compiled_with_them():
    import gc

    compiled = pl.compile_system(cart())
    runs = []
    for k in range(6):
        values = VALUES + k
        runs.append(pl.simulate(compiled, 4.0, inputs={"u": pl.InputSeries(TIMES, values, "held")}, save=[4.0]))
        gc.collect()
    ends = [run["cart.displacement"][-1] for run in runs]
    assert np.diff(ends) == pytest.approx(GAIN / MASS * 8.0, abs=1e-9)


def test_a_run_with_inputs_continues_and_says_which_it_had():
    system, series = cart(), pl.InputSeries(TIMES, VALUES, "linear")
    first = pl.simulate(system, 1.7, inputs={"u": series}, save=[1.7])
    second = pl.simulate(system, 4.0, inputs={"u": series}, start=first, save=[4.0])
    assert second["cart.displacement"][-1] == pytest.approx(place(4.0, "linear"), abs=1e-8)
    assert "u" not in first.parameters and first.parameters["gain"] == GAIN
    assert "5 values, linear" in str(first.provenance["settings"]["inputs"])


def wrong(given, system=None, t_end=4.0, **more):
    with pytest.raises(pl.ModelError) as trouble:
        pl.simulate(system or cart(), t_end, inputs=given, **more)
    return str(trouble.value)


def test_wrong_inputs_are_refused_in_words():
    series = pl.InputSeries(TIMES, VALUES, "linear")
    assert "must name one of" in wrong({"w": series}) and "'u'" in wrong({"w": series})
    assert "must last until t = 5 s" in wrong({"u": series}, t_end=5.0)
    assert "must begin at t = 0 s or before" in wrong({"u": pl.InputSeries(TIMES + 0.5, VALUES, "linear")})
    assert "pl.InputSeries(times, values" in wrong({"u": (TIMES, VALUES)})
    assert "must be >= -50.0 N" in wrong({"u": pl.InputSeries(TIMES, 100.0 * VALUES, "linear")})
    assert "must not be among the parameters" in wrong({"u": series}, parameters={"u": 1.0})
    with pytest.raises(pl.ModelError, match="must not name an input"):
        pl.sensitivities(cart(), 4.0, ["u"], inputs={"u": series})


def test_only_parameters_of_forces_can_be_inputs():
    series, u = pl.InputSeries(TIMES, 2.0 + 0.0 * VALUES, "linear"), pl.Parameter("u", 2.0)

    def arm(**given):
        system = pl.System("arm", gravity=(0, -given.get("g", 9.81)))
        body = pl.RigidBody(mass=given.get("mass", 1.0), inertia=1.0, com=(given.get("center", 0.5), 0.0))
        system.add("bar", body, joint=pl.Revolute(angle=given.get("angle", 0.0)))
        system.drive("hold", "bar.angle", given.get("effort", 0.0))
        return system

    for name in ("mass", "center", "angle", "g"):
        assert "only forces depend" in wrong({"u": series}, arm(**{name: u}))
    table = pl.PiecewiseLinear([0.0, u], [0.0, 1.0])
    assert "only forces depend" in wrong({"u": series}, arm(effort=table))

    def chosen(t, q, v):
        return 1.0 if float(u.value) > 1.0 and u > 1.0 else 0.0

    assert "u" in wrong({"u": series}, arm(effort=chosen))


def test_the_last_value_of_a_held_series_holds_as_long_as_the_one_before_it():
    series = pl.InputSeries([0.0, 1.0, 2.0], [1.0, 2.0, 3.0], "held")
    run = pl.simulate(cart(), 3.0, inputs={"u": series}, save=[3.0])
    assert run[("v", "cart.displacement")][-1] == pytest.approx(GAIN / MASS * 6.0)
    assert "must last until" in wrong({"u": series}, t_end=3.1)
