"""The module of a page: it computes what `simulate` computes, and in a browser the bits that it computes here."""

import numpy as np
import pytest

import pliant as pl
from live.native_machine import NativeMachine
from live.systems import SYSTEMS
from pliant.integrate.status import AT_STOP
from pliant.live.machine import NotForABrowser, live_machine
from pliant.run.standalone import one_method

ROWS = 51


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_run_of_the_module_is_the_run_of_simulate(name):
    """Before contacts up to round-off; the same contacts."""
    build, t_end, method = SYSTEMS[name]
    system = build()
    live = live_machine(system, t_end, method=method, rows=ROWS, sliders=[])
    machine = NativeMachine(live)
    machine.begin(live.table.base)
    assert machine.to_end() == AT_STOP
    times, states = machine.rows()
    result = pl.simulate(system, t_end, method=method, save=np.linspace(0.0, t_end, ROWS))
    np.testing.assert_array_equal(times, result.time)
    free = list(live.compiled.traced.free_q)
    before = times < min((contact.begin for contact in result.contacts), default=np.inf)
    error = np.abs(states[:, : len(free)] - result.values["q"][:, free])
    assert np.max(error[before]) < 1e-9
    assert int(machine.run["n_touches"][0]) + machine.lasting() == len(result.contacts)


def test_sliders_lead_to_the_run_with_these_values():
    """A beam's length, whose integrals are tabulated, a mass, and a start."""
    length = pl.Parameter("length", 0.8, "m", low=0.5, high=1.2)
    load = pl.Parameter("load", 0.3, "kg", low=0.1, high=1.0)
    system = pl.System("arm", gravity=(0, -9.81))
    link = pl.Beam(length=length, section=pl.Section.rectangle(0.01, 0.03), material=pl.STEEL, theory="euler-bernoulli",
                   modes=pl.Modes("cf", 2), payload=pl.Payload(mass=load))  # fmt: skip
    system.add("arm", link, joint=pl.Revolute(angle=0.2))
    method = pl.DOP853(rtol=1e-9, atol=1e-12)
    live = live_machine(system, 0.4, method=method, rows=ROWS, sliders=["length", "load", "arm.angle"])
    assert live.table.error < 1e-8
    machine = NativeMachine(live)
    machine.begin(live.table(np.array([1.1, 0.15])), starts={live.sliders[2].place: -0.4})
    assert machine.to_end() == AT_STOP
    expected = pl.simulate(system, 0.4, method=method, parameters={"length": 1.1, "load": 0.15}, start={"arm.angle": -0.4},
                           save=np.linspace(0.0, 0.4, ROWS))  # fmt: skip
    _, states = machine.rows()
    np.testing.assert_allclose(states[:, :3], expected.values["q"], rtol=1e-7, atol=1e-8)


def test_closed_loops_are_assembled_along_the_slider():
    length = pl.Parameter("length", 0.30, low=0.28, high=0.33)
    system = pl.System("four-bar", gravity=(0, -9.81))
    crank = system.add("crank", pl.RigidBody.rod(0.1, 0.5), joint=pl.Revolute(angle=0.7))
    coupler = system.add("coupler", pl.RigidBody.rod(length, 0.5), joint=pl.Revolute(angle=-0.6), on=crank.tip)
    rocker = system.add("rocker", pl.RigidBody.rod(0.2, 0.5), joint=pl.Revolute(angle=1.2), on=system.ground.moved((0.3, 0.0)))
    system.close("pin", "point", coupler.tip, rocker.tip)
    method = pl.DOP853(rtol=1e-9, atol=1e-12)
    live = live_machine(system, 0.3, method=method, rows=ROWS, sliders=["length"])
    machine = NativeMachine(live)
    machine.begin(live.table(np.array([0.315])))
    assert machine.to_end() == AT_STOP
    expected = pl.simulate(system, 0.3, method=method, parameters={"length": 0.315}, save=np.linspace(0.0, 0.3, ROWS))
    np.testing.assert_allclose(machine.rows()[1][:, :3], expected.values["q"], rtol=1e-7, atol=1e-8)


def test_filters_of_sensors_start_in_equilibrium_wherever_a_slider_starts_the_mechanism():
    cut = pl.Parameter("cut", 3.0, "Hz", low=1.0, high=6.0)
    system = pl.System("pendulum", gravity=(0, -9.81))
    rod = system.add("rod", pl.RigidBody.rod(length=1.0, mass=1.0), joint=pl.Revolute(angle=0.2))
    system.sensor.accelerometer(rod.tip, name="imu", low_pass=cut)
    method = pl.DOP853(rtol=1e-9, atol=1e-12)
    live = live_machine(system, 0.4, method=method, rows=ROWS, sliders=["cut", "rod.angle"])
    machine = NativeMachine(live)
    machine.begin(live.table(np.array([5.0])), starts={live.sliders[1].place: -0.7})
    assert machine.to_end() == AT_STOP
    expected = pl.simulate(system, 0.4, method=method, parameters={"cut": 5.0}, start={"rod.angle": -0.7},
                           save=np.linspace(0.0, 0.4, ROWS))  # fmt: skip
    np.testing.assert_allclose(machine.rows()[1][:, 2:4], expected.values["states"], rtol=1e-7, atol=1e-8)
    assert abs(expected["imu.x"][0] - 9.81 * np.sin(-0.7)) < 1e-12


def test_ranges_that_nobody_asked_for_end_where_the_mechanism_does():
    """Of a rod of this length, a slider to half of it would leave the loop open."""
    length = pl.Parameter("length", 0.3)
    system = pl.System("four-bar", gravity=(0, -9.81))
    crank = system.add("crank", pl.RigidBody.rod(0.1, 0.5), joint=pl.Revolute(angle=0.7))
    coupler = system.add("coupler", pl.RigidBody.rod(length, 0.5), joint=pl.Revolute(angle=-0.6), on=crank.tip)
    rocker = system.add("rocker", pl.RigidBody.rod(0.2, 0.5), joint=pl.Revolute(angle=1.2), on=system.ground.moved((0.5, 0.0)))
    system.close("pin", "point", coupler.tip, rocker.tip)
    method = pl.DOP853(rtol=1e-6, atol=1e-9)
    (slider,) = live_machine(system, 0.1, method=method, rows=5).sliders
    assert 0.15 < slider.low < 0.3 < slider.high < 0.45
    with pytest.raises(pl.PliantError):
        live_machine(system, 0.1, method=method, rows=5, sliders={"length": (0.1, 0.45)})


def test_what_needs_python_is_said_by_name():
    system = pl.System("arm", gravity=(0, -9.81))
    system.add("arm", pl.RigidBody.rod(1.0, 1.0), joint=pl.Revolute(angle=0.2))
    system.sampled("pd", 0.01, lambda t, q, v, measured, memory: -float(q["arm.angle"]), outputs="torque", compiled=False)
    system.drive("motor", "arm.angle", lambda t, q, v: q["pd.torque"])
    with pytest.raises(NotForABrowser, match="Python"):
        live_machine(system, 0.1, method=pl.DOP853(rtol=1e-6, atol=1e-9))


def test_of_an_automatic_method_the_one_that_took_most_steps_is_chosen():
    auto = pl.Auto(rtol=1e-6, atol=1e-9)
    explicit, implicit = auto.alternatives
    assert one_method(auto, {type(explicit).__name__: 10, type(implicit).__name__: 3}) == explicit
    assert one_method(auto, {type(explicit).__name__: 1, type(implicit).__name__: 30}) == implicit
    assert one_method(pl.RK4(step=0.1), {}) == pl.RK4(step=0.1)
