"""States of the user's own: a PID against its closed form, and everything that a state must go along with."""

import numpy as np
import pytest
from scipy.linalg import expm

import pliant as pl

INERTIA = 1.0 / 3.0  # kg m^2, of a rod of 1 m and 1 kg about its end
KP, KD, KI = 12.0, 2.0, 20.0
ANGLE = 0.3  # rad, at the start
PID = np.array([[0.0, 1.0, 0.0], [-KP / INERTIA, -KD / INERTIA, -KI / INERTIA], [1.0, 0.0, 0.0]])  # of (angle, rate, integral)


def arm(ki=KI, start=0.1):
    """A rod on a pin, no gravity, held at zero by a PID."""
    system = pl.System("arm", gravity=(0.0, 0.0))
    system.add("arm", pl.RigidBody.rod(length=1.0, mass=1.0), joint=pl.Revolute(angle=ANGLE))
    system.drive("motor", "arm.angle", lambda t, q, v: -KP * q["arm.angle"] - KD * v["arm.angle"] - ki * q["integral"])
    system.state("integral", rate=lambda t, q, v: q["arm.angle"], start=start)
    return system


def closed_form(t, start=0.1):
    return expm(PID * t) @ (ANGLE, 0.0, start)


@pytest.fixture(scope="module")
def run():
    return pl.simulate(arm(), 2.0, method=pl.DOP853(rtol=1e-12, atol=1e-14), save=0.1)


def test_a_pid_with_an_integral_is_its_closed_form(run):
    exact = np.array([closed_form(t) for t in run.time])
    found = np.column_stack([run["arm.angle"], run.rate("arm.angle"), run["integral"]])
    assert np.max(np.abs(found - exact)) < 1e-11
    assert np.max(np.abs(run.ledger.balance_error)) < 1e-11  # J, of some 0.5 J exchanged


METHODS = [pl.Radau5(rtol=1e-10, atol=1e-12), pl.Rodas5P(rtol=1e-10, atol=1e-12), pl.RK4(2e-3), pl.RealTime(1e-3)]


@pytest.mark.parametrize("method", METHODS, ids=lambda method: type(method).__name__)
def test_every_family_of_methods_integrates_it(method):
    found = pl.simulate(arm(), 1.0, method=method, save=[1.0])
    assert abs(found["integral"][-1] - closed_form(1.0)[2]) < 1e-8


def test_it_is_under_error_control():
    """A swing of 200 rad/s beside a mechanism at rest: only the control of its own error takes short steps."""
    system = pl.System("clock", gravity=(0.0, 0.0))
    system.add("arm", pl.RigidBody.rod(length=1.0, mass=1.0), joint=pl.Revolute())
    system.state("x", rate=lambda t, q, v: 200.0 * q["y"], start=1.0)
    system.state("y", rate=lambda t, q, v: -200.0 * q["x"])
    found = pl.simulate(system, 1.0, method=pl.DOP853(rtol=1e-9, atol=1e-12))
    assert np.max(np.abs(found["x"] - np.cos(200.0 * found.time))) < 1e-7


@pytest.mark.parametrize("formulation", ["lagrange", "augmented"])
def test_other_formulations_read_it(formulation, run):
    found = pl.simulate(arm(), 2.0, method=pl.DOP853(rtol=1e-12, atol=1e-14), save=0.1, formulation=formulation)
    assert np.max(np.abs(found["integral"] - run["integral"])) < 1e-10


def test_a_run_goes_on_with_it(run, tmp_path):
    method = pl.DOP853(rtol=1e-12, atol=1e-14)
    first = pl.simulate(arm(), 1.0, method=method)
    first.to_netcdf(tmp_path / "first.nc")
    stored = pl.Result.from_netcdf(tmp_path / "first.nc")
    assert stored == first and stored["integral"][-1] == first["integral"][-1]
    second = pl.simulate(arm(), 2.0, start=stored, method=method)
    assert abs(second["integral"][-1] - run["integral"][-1]) < 1e-11
    other = arm()
    other.state("more", rate=0.0, start=0.4)
    taken = pl.simulate(other, 2.0, start=first, method=method)  # what the start does not know has its own
    assert taken["more"][0] == 0.4 and abs(taken["integral"][-1] - run["integral"][-1]) < 1e-11


def test_results_tables_and_pictures_show_it(run, tmp_path):
    assert run.data["states"].sel(state="integral").values.tolist() == run["integral"].tolist()
    run.to_csv(tmp_path / "run.csv", quantities=["states"])
    assert "integral" in (tmp_path / "run.csv").read_text()
    assert "state integral: starts at 0.1" in str(arm())
    assert [axes.get_ylabel() for axes in pl.plot.states(run).axes] == ["integral"]


def _slope_by_gain():
    """Of the integral at 1 s by its gain, by differences of the closed form."""
    step, at = 1e-4 * KI, []
    for side in (1.0, -1.0):
        matrix = PID.copy()
        matrix[1, 2] -= side * step / INERTIA
        at.append((expm(matrix) @ (ANGLE, 0.0, 0.1))[2])
    return (at[0] - at[1]) / (2.0 * step)


def test_its_start_may_be_a_parameter_and_has_derivatives():
    start, gain = pl.Parameter("start", 0.1), pl.Parameter("gain", KI)
    found = pl.sensitivities(arm(gain, start), 1.0, parameters=["start", "gain"], method=pl.DOP853(rtol=1e-11, atol=1e-13))
    assert found.at_end("states")[1][0] == pytest.approx([expm(PID)[2, 2], _slope_by_gain()], abs=1e-8)
    assert float(found.at_end("q")[1][0, 0]) == pytest.approx(expm(PID)[0, 2], abs=1e-9)
    members = pl.ensemble(arm(gain, start), 1.0, parameters={"start": [0.0, 0.4]}, method=pl.DOP853(rtol=1e-11, atol=1e-13))
    assert members.q_end.values[:, 0] == pytest.approx([closed_form(1.0, z)[0] for z in (0.0, 0.4)], abs=1e-10)


def test_a_linearisation_has_it_among_its_states():
    linear = pl.linearise(arm(), at="start")
    assert linear.states == ("arm.angle", "rate of arm.angle", "integral")
    assert np.max(np.abs(linear.A - PID)) < 1e-12
    assert "not in balance" in linear.message
    with pytest.raises(pl.ModelError, match=r"equilibrium: system must have no states of the user's own .*, got \['integral'\]"):
        pl.equilibrium(arm())


def test_a_rate_may_be_read_and_a_comparison_of_states_is_an_event():
    """x' = 1 until y, which follows x at twice the rate, passes 1: exactly at t = 0.5."""
    system = pl.System("chain of states", gravity=(0.0, 0.0))
    system.add("arm", pl.RigidBody.rod(length=1.0, mass=1.0), joint=pl.Revolute())
    system.state("x", rate=lambda t, q, v: pl.where(q["y"] < 1.0, 1.0, -1.0))
    system.state("y", rate=lambda t, q, v: 2.0)
    system.state("z", rate=lambda t, q, v: 3.0 * v["x"])
    found = pl.simulate(system, 1.0, save=[0.25, 0.5, 1.0])
    assert found["x"] == pytest.approx([0.25, 0.5, 0.0], abs=1e-11)
    assert found["z"] == pytest.approx([0.75, 1.5, 0.0], abs=1e-11)


MODEL = """
pliant: 1
system: arm
gravity: [0, 0]
define: {ki: 20, begin: 0.1}
bodies:
  arm: {rod: {length: 1 m, mass: 1 kg}, joint: {revolute: {angle: 0.3 rad}}}
drives:
  motor: {coordinate: arm.angle, effort: "-12*q['arm.angle'] - 2*v['arm.angle'] - ki*q['integral']"}
states:
  integral: {rate: "q['arm.angle']", start: begin}
"""


def test_a_model_file_says_the_same(run):
    system = pl.loads_model(MODEL).system
    assert list(system.parameters) == ["ki", "begin"]
    found = pl.simulate(system, 2.0, method=pl.DOP853(rtol=1e-12, atol=1e-14), save=0.1)
    assert np.max(np.abs(found["integral"] - run["integral"])) < 1e-12
    assert pl.dump_model(pl.loads_model(pl.dump_model(system)).system) == pl.dump_model(system)


def test_files_refuse_a_state_that_is_not_declared():
    with pytest.raises(pl.ModelError, match=r"drives.motor.effort: .*\"q\['intergal'\]\" at column .* is an unknown coordinate"):
        pl.loads_model(MODEL.replace("ki*q['integral']", "ki*q['intergal']"))


def wrong_models():
    def declared(name, rate):
        system = arm()
        system.state(name, rate=rate)
        return system

    def read_before(name):
        system = arm()
        system.drive("other", "arm.angle", lambda t, q, v: q[name])
        return system

    return {
        "never declared": (lambda: pl.simulate(read_before("sum"), 1.0),
                           r"formula of .other.: q must name one of .* \(a state is declared by system.state\), got 'sum'"),
        "itself": (lambda: pl.simulate(declared("x", lambda t, q, v: v["x"]), 1.0),
                   r"state 'x': rate must not depend on itself: that is an algebraic loop"),
        "name taken": (lambda: declared("motor", 1.0), r"name must be unique \(a drive already has this name\), got 'motor'"),
        "name with a dot": (lambda: declared("a.b", 1.0), "name must be a non-empty string without dots"),
        "no rate": (lambda: declared("x", "fast"), r"state 'x': rate must be a finite number, got 'fast'"),
        "no start": (lambda: arm(start=float("nan")), r"state 'integral': start must be a finite number, got nan"),
    }  # fmt: skip


@pytest.mark.parametrize("case", wrong_models())
def test_what_is_wrong_is_said(case):
    make, words = wrong_models()[case]
    with pytest.raises(pl.ModelError, match=words):
        make()


def test_an_algebraic_loop_through_several_rates_is_named():
    system = arm()
    system.state("a", rate=lambda t, q, v: v["b"])
    system.state("b", rate=lambda t, q, v: 2.0 * v["a"])
    with pytest.raises(pl.ModelError, match=r"got \"v\['a'\] reads v\['b'\] reads v\['a'\]\""):
        pl.simulate(system, 1.0)


def test_members_and_derivatives_may_start_it_elsewhere():
    members = pl.ensemble(arm(), 1.0, starts={"integral": [0.0, 0.4]}, method=pl.DOP853(rtol=1e-11, atol=1e-13))
    assert members.q_end.values[:, 0] == pytest.approx([closed_form(1.0, z)[0] for z in (0.0, 0.4)], abs=1e-10)
    found = pl.sensitivities(arm(), 1.0, starts=["arm.angle", "integral"], rates=["arm.angle"],
                             method=pl.DOP853(rtol=1e-11, atol=1e-13))  # fmt: skip
    assert found.at_end("states")[1][0] == pytest.approx(expm(PID)[2, [0, 2, 1]], abs=1e-9)
