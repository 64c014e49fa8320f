"""Motors: run-up, lag, limits, gear losses and rotors against closed forms; every watt in the ledger."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import expm

import pliant as pl
from pliant.errors import ModelError

TIGHT = pl.DOP853(rtol=1e-12, atol=1e-13)
ROTOR, RATIO, WHEEL = 2e-5, 50.0, 0.4  # kg m^2, 1, kg m^2
CONSTANT, RESISTANCE, INDUCTANCE, VOLTAGE = 0.05, 0.8, 1e-3, 24.0
WHOLE = RATIO**2 * ROTOR + WHEEL  # what the coordinate feels, kg m^2
ELECTRICAL = {"inertia": ROTOR, "ratio": RATIO, "constant": CONSTANT, "resistance": RESISTANCE}


def driven(motor: pl.Motor, command=VOLTAGE, rate: float = 0.0, load: float = 0.0, start: float = 0.0) -> pl.System:
    """A wheel on a geared motor; load: a torque against it."""
    system = pl.System("drive", gravity=(0, 0))
    system.add("wheel", pl.RigidBody(mass=1.0, inertia=WHEEL), joint=pl.Revolute(rate=rate))
    system.motor("servo", "wheel.angle", motor, command=command, start=start)
    if load:
        system.drive("load", "wheel.angle", -load)
    return system


def works(run: pl.Result) -> dict[str, float]:
    return {name: float(work[-1]) for name, work in run.ledger.work.items()}


# ---- run-up


def test_a_run_up_without_inductance_is_an_exponential() -> None:
    """w = V/(k n) (1 - exp(-t/T)), T = (n^2 J + J_load) R/(n k)^2; half of what the supply gives ends in copper."""
    time = WHOLE * RESISTANCE / (RATIO * CONSTANT) ** 2
    run = pl.simulate(driven(pl.Motor(**ELECTRICAL)), 3.0 * time, method=TIGHT, save=time / 10.0)
    free = VOLTAGE / CONSTANT / RATIO
    expected = free * (1.0 - np.exp(-run.time / time))
    assert run.values["v"][:, 0] == pytest.approx(expected, abs=1e-9)
    assert run.values["motor_speed"][:, 0] == pytest.approx(RATIO * expected, abs=1e-7)
    torque = CONSTANT * (VOLTAGE - CONSTANT * RATIO * expected) / RESISTANCE
    assert run.values["motor_torque"][:, 0] == pytest.approx(torque, abs=1e-9)
    e = math.exp(-3.0)
    copper = RESISTANCE * (VOLTAGE / RESISTANCE) ** 2 * time / 2.0 * (1.0 - e**2)
    supplied = VOLTAGE**2 / RESISTANCE * time * (1.0 - e)
    assert works(run) == pytest.approx({"servo": supplied, "servo copper": -copper}, rel=1e-9)
    assert run.values["kinetic"][-1] == pytest.approx(0.5 * WHOLE * (free * (1.0 - e)) ** 2, rel=1e-9)
    assert run.ledger.relative_error_max < 1e-10


def linear_motor(inductance: float, times: np.ndarray) -> np.ndarray:
    """(rate of the wheel, current) at times: w' = n k i/J, L i' = V - R i - k n w, by the matrix exponential."""
    matrix = np.zeros((3, 3))
    matrix[0, 1] = RATIO * CONSTANT / WHOLE
    matrix[1] = [-RATIO * CONSTANT / inductance, -RESISTANCE / inductance, VOLTAGE / inductance]
    return np.array([(expm(matrix * t) @ [0.0, 0.0, 1.0])[:2] for t in times])


def test_a_run_up_with_inductance_is_the_linear_motors() -> None:
    run = pl.simulate(driven(pl.Motor(**ELECTRICAL, inductance=INDUCTANCE)), 0.1, method=TIGHT, save=5e-3)
    expected = linear_motor(INDUCTANCE, run.time)
    assert run.labels["state"] == ("servo.current",)
    assert run.values["v"][:, 0] == pytest.approx(expected[:, 0], abs=1e-9)
    assert run.values["states"][:, 0] == pytest.approx(expected[:, 1], abs=1e-8)  # of 30 A
    assert works(run)["servo field"] == pytest.approx(-0.5 * INDUCTANCE * expected[-1, 1] ** 2, rel=1e-8)
    assert run.ledger.relative_error_max < 1e-10


@pytest.mark.parametrize("formulation", ["gibbs_appell", "lagrange", "gibbs", "denoc"])
def test_every_formulation_runs_up_alike(formulation) -> None:
    motor = pl.Motor(**ELECTRICAL, inductance=INDUCTANCE)
    run = pl.simulate(driven(motor), 0.05, method=TIGHT, save=0.05, formulation=formulation)
    assert run.values["v"][-1, 0] == pytest.approx(linear_motor(INDUCTANCE, run.time)[-1, 0], abs=1e-9)


def test_a_torque_speed_line_is_the_same_motor_in_other_numbers() -> None:
    """k V/R and V/k at 24 V; the command is the share of these 24 V, the time constant L/R."""
    electrical = pl.Motor(**ELECTRICAL, inductance=INDUCTANCE)
    line = pl.Motor(inertia=ROTOR, ratio=RATIO, stall_torque=CONSTANT * VOLTAGE / RESISTANCE, no_load_speed=VOLTAGE / CONSTANT,
                    time_constant=INDUCTANCE / RESISTANCE)  # fmt: skip
    by_voltage = pl.simulate(driven(electrical, lambda t, q, v: 12.0 + 5.0 * pl.sin(30.0 * t)), 0.2, method=TIGHT, save=0.05)
    by_share = pl.simulate(driven(line, lambda t, q, v: (12.0 + 5.0 * pl.sin(30.0 * t)) / 24.0), 0.2, method=TIGHT, save=0.05)
    assert by_share.values["v"] == pytest.approx(by_voltage.values["v"], abs=1e-9)
    assert by_share.labels["state"] == ("servo.torque",)
    assert works(by_share) == pytest.approx(works(by_voltage), rel=1e-8)


# ---- limits


def test_a_limited_current_gives_a_constant_torque_until_the_line_is_reached() -> None:
    limit = 10.0
    run = pl.simulate(driven(pl.Motor(**ELECTRICAL, max_current=limit)), 0.3, method=TIGHT, save=0.01)
    acceleration = RATIO * CONSTANT * limit / WHOLE
    corner = (VOLTAGE - RESISTANCE * limit) / CONSTANT / RATIO  # rad/s, where V - k n w = R i_max
    t_corner, time = corner / acceleration, WHOLE * RESISTANCE / (RATIO * CONSTANT) ** 2
    free = VOLTAGE / CONSTANT / RATIO
    late = free + (corner - free) * np.exp(-(run.time - t_corner) / time)
    expected = np.where(run.time < t_corner, acceleration * run.time, late)
    assert 0.05 < t_corner < 0.25
    assert run.values["v"][:, 0] == pytest.approx(expected, abs=1e-9)
    assert np.max(run.values["motor_torque"]) == pytest.approx(CONSTANT * limit, rel=1e-12)
    assert run.ledger.relative_error_max < 1e-9


def test_a_source_of_torque_is_limited_and_follows_with_its_lag() -> None:
    """T' = (T_max - T)/lag, so that w = n T_max/J (t - lag (1 - exp(-t/lag)))."""
    lag, most = 0.02, 0.3
    motor = pl.Motor(inertia=ROTOR, ratio=RATIO, max_torque=most, time_constant=lag)
    run = pl.simulate(driven(motor, 5.0), 0.1, method=TIGHT, save=0.01)
    expected = RATIO * most / WHOLE * (run.time - lag * (1.0 - np.exp(-run.time / lag)))
    assert run.values["v"][:, 0] == pytest.approx(expected, abs=1e-9)
    assert run.values["effort"][-1, 0] == pytest.approx(RATIO * most * (1.0 - math.exp(-0.1 / lag)), rel=1e-9)
    assert run.ledger.relative_error_max < 1e-10


# ---- gears


def test_a_gear_takes_its_share_whoever_drives() -> None:
    """T = 0.2 N m: it gives n T 0.8 while it drives; a load that turns it back must give n T / 0.6."""
    motor = pl.Motor(inertia=ROTOR, ratio=RATIO, efficiency=0.8, back_efficiency=0.6)
    torque = 0.2
    drives = pl.simulate(driven(motor, torque, rate=1.0), 0.5, method=TIGHT)
    rate = 1.0 + RATIO * torque * 0.8 / WHOLE * 0.5
    assert drives.values["v"][-1, 0] == pytest.approx(rate, abs=1e-9)
    turned = 1.0 * 0.5 + 0.5 * RATIO * torque * 0.8 / WHOLE * 0.25
    given = RATIO * torque * turned
    assert works(drives) == pytest.approx({"servo": given, "servo gear": -0.2 * given}, rel=1e-9)
    load = 30.0
    back = pl.simulate(driven(motor, torque, rate=-1.0, load=load), 0.5, method=TIGHT)
    rate = -1.0 + (RATIO * torque / 0.6 - load) / WHOLE * 0.5
    assert back.values["v"][-1, 0] == pytest.approx(rate, abs=1e-9)
    assert works(back)["servo gear"] < 0.0 and works(back)["servo"] < 0.0  # the motor takes power, the gear takes some of it
    for run in (drives, back):
        assert run.ledger.relative_error_max < 1e-10 and not run.ledger.violations


def test_a_gear_turned_through_rest_only_ever_takes_energy() -> None:
    """A swing through zero speed and zero torque, where the loss changes sides: the ledger still closes, nothing is given."""
    motor = pl.Motor(**ELECTRICAL, efficiency=0.7, damping=1e-5)
    run = pl.simulate(driven(motor, lambda t, q, v: 10.0 * pl.cos(20.0 * t)), 1.0)
    assert np.min(run.values["v"]) < -0.1 and np.max(run.values["v"]) > 0.1
    assert not run.ledger.violations and run.ledger.relative_error_max < 1e-7
    assert {"servo", "servo copper", "servo gear", "servo friction"} == set(run.ledger.work)


# ---- rotors


def arm(**motor) -> pl.System:
    system = pl.System("arm", gravity=(0, -9.81))
    rod = pl.RigidBody.rod(length=1.0, mass=2.0)
    upper = system.add("upper", rod, joint=pl.Revolute(angle=-1.2))
    system.add("fore", rod, joint=pl.Revolute(angle=0.5), on=upper.tip)
    system.motor("elbow", "fore.angle", pl.Motor(inertia=1e-4, ratio=60.0, **motor))
    return system


def test_a_rotor_that_nothing_drives_adds_its_inertia_to_its_coordinate() -> None:
    """The mass matrix of the equations, and a pendulum's frequency."""
    bare = arm()
    bare.motors.clear()
    functions = [pl.equations(system).function() for system in (arm(), bare)]
    with_rotor, without = (function(t=0.0, q=[0.3, 0.4], v=[0.0, 0.0], u=[], p=[]) for function in functions)
    added = np.array(with_rotor["mass_matrix"]) - np.array(without["mass_matrix"])
    assert added == pytest.approx(np.diag([0.0, 60.0**2 * 1e-4]), abs=1e-12)
    system = pl.System("pendulum", gravity=(0, -9.81))
    system.add("rod", pl.RigidBody.rod(length=1.0, mass=2.0), joint=pl.Revolute(angle=-math.pi / 2))
    system.motor("hinge", "rod.angle", pl.Motor(inertia=1e-3, ratio=20.0))
    frequency = abs(np.linalg.eigvals(pl.linearise(system).A)[0].imag)
    assert frequency == pytest.approx(math.sqrt(9.81 / (2.0 / 3.0 + 0.4)), rel=1e-9)


@pytest.mark.parametrize("formulation", ["gibbs_appell", "lagrange", "gibbs", "denoc"])
def test_formulations_agree_on_a_rotor_inside_a_chain(formulation) -> None:
    """Lagrange's is differentiated from the kinetic energy: a witness of the recursion's pivot."""
    first = pl.simulate(arm(damping=1e-5), 0.5, method=TIGHT)
    other = pl.simulate(arm(damping=1e-5), 0.5, method=TIGHT, formulation=formulation)
    assert other.values["q"][-1] == pytest.approx(first.values["q"][-1], abs=1e-9)
    assert other.ledger.relative_error_max < 1e-9


def test_a_rotor_alone_may_be_all_the_inertia_there_is() -> None:
    system = pl.System("light", gravity=(0, 0))
    system.add("pointer", pl.RigidBody(mass=1.0), joint=pl.Revolute())
    system.motor("clock", "pointer.angle", pl.Motor(inertia=2e-3), command=0.1)
    run = pl.simulate(system, 1.0)
    assert run.values["v"][-1, 0] == pytest.approx(50.0, abs=1e-7)


def test_inverse_dynamics_asks_for_what_the_rotor_takes() -> None:
    """And leaves out what drives the coordinate: n^2 J a + J_load a."""
    run = pl.inverse_dynamics(driven(pl.Motor(**ELECTRICAL, inductance=INDUCTANCE)), {"wheel.angle": lambda t: 0.5 * t * t}, 0.5)
    assert run.values["effort"][-1, list(run.labels["drive"]).index("wheel.angle motion")] == pytest.approx(WHOLE, rel=1e-12)


def test_a_rack_is_driven_by_a_motor_of_so_many_radians_a_metre() -> None:
    system = pl.System("rack", gravity=(0, 0))
    system.add("rack", pl.RigidBody(mass=3.0), joint=pl.Prismatic())
    system.motor("pinion", "rack.displacement", pl.Motor(inertia=1e-3, ratio=40.0), command=0.5)
    run = pl.simulate(system, 1.0)
    assert run.values["v"][-1, 0] == pytest.approx(40.0 * 0.5 / (3.0 + 1.6), rel=1e-9)


# ---- elastic gears

GEAR = 30.0  # N m/rad
SIDES = RATIO**2 * ROTOR, WHEEL  # the two masses of the oscillator, at the coordinate
ELASTIC = {"inertia": ROTOR, "ratio": RATIO, "gear_stiffness": GEAR}
TWO_MASS = math.sqrt(GEAR * (1.0 / SIDES[0] + 1.0 / SIDES[1]))  # rad/s


@pytest.mark.parametrize("formulation", ["articulated", "gibbs_appell", "lagrange", "gibbs", "denoc"])
def test_an_elastic_gear_and_its_two_masses_swing_as_the_closed_form_does(formulation) -> None:
    """delta = n T/(J1 w^2) (1 - cos w t) under a constant torque, about a uniform acceleration of both; nothing is lost."""
    torque, rate = 0.1, 2.0
    run = pl.simulate(driven(pl.Motor(**ELASTIC), torque, rate), 1.0, method=TIGHT, save=0.02, formulation=formulation)
    assert run.labels["state"] == ("servo.deflection", "servo.speed")
    t, push = run.time, RATIO * torque
    swing = push / (SIDES[0] * TWO_MASS**2)
    assert run["servo.deflection"] == pytest.approx(swing * (1.0 - np.cos(TWO_MASS * t)), abs=1e-9)
    wheel = rate + GEAR * swing / WHEEL * (t - np.sin(TWO_MASS * t) / TWO_MASS)
    assert run.values["v"][:, 0] == pytest.approx(wheel, abs=1e-9)
    assert run["servo.speed"] == pytest.approx(RATIO * (wheel + swing * TWO_MASS * np.sin(TWO_MASS * t)), abs=1e-7)
    assert run.values["effort"][:, 0] == pytest.approx(GEAR * run["servo.deflection"], abs=1e-9)
    assert run.values["kinetic"][0] == pytest.approx(0.5 * WHOLE * rate**2, rel=1e-12)
    assert run.values["spring"] == pytest.approx(0.5 * GEAR * run["servo.deflection"] ** 2, abs=1e-9)
    assert list(works(run)) == ["servo"] and run.ledger.relative_error_max < 1e-10


def test_the_damper_of_a_gear_lets_its_swing_decay_and_takes_its_energy() -> None:
    """delta'' + 2 z delta' + w^2 delta = n T/J1 with 2 z = d (1/J1 + 1/J2): a step of the torque, which leaves a constant twist."""
    damping = 0.2
    system = driven(pl.Motor(**ELASTIC, gear_damping=damping), 0.1)
    rate = 0.5 * damping * (1.0 / SIDES[0] + 1.0 / SIDES[1])
    wave = math.sqrt(TWO_MASS**2 - rate**2)
    run = pl.simulate(system, 1.0, method=TIGHT, save=0.02)
    t, final = run.time, RATIO * 0.1 / (SIDES[0] * TWO_MASS**2)
    swing = np.exp(-rate * t) * (np.cos(wave * t) + rate / wave * np.sin(wave * t))
    assert run["servo.deflection"] == pytest.approx(final * (1.0 - swing), abs=1e-9)
    # over all time the damper takes what the step gives beyond the spring's energy: as much again
    long = pl.simulate(system, 12.0 / rate, method=TIGHT)
    assert works(long)["servo gear damper"] == pytest.approx(-0.5 * GEAR * final**2, rel=1e-7)
    assert long.ledger.relative_error_max < 1e-9


def test_every_watt_of_a_lossy_elastic_drive_is_in_the_ledger() -> None:
    motor = pl.Motor(**ELECTRICAL, inductance=INDUCTANCE, efficiency=0.8, back_efficiency=0.6, damping=1e-5, gear_stiffness=GEAR,
                     gear_damping=0.3)  # fmt: skip
    run = pl.simulate(driven(motor, lambda t, q, v: 12.0 * pl.sin(20.0 * t), rate=1.0), 0.5, method=TIGHT)
    lost = {"servo friction", "servo copper", "servo gear", "servo gear damper"}
    assert set(works(run)) == {"servo", "servo field", *lost} and all(works(run)[name] < 0.0 for name in lost)
    assert run.ledger.relative_error_max < 1e-9


@pytest.mark.parametrize("command", [VOLTAGE, None])
def test_a_stiffer_gear_comes_nearer_to_the_rigid_one(command) -> None:
    """The difference is the inverse stiffness times what the gear carries."""
    fields = {**ELECTRICAL, "damping": 1e-4}
    rigid = pl.simulate(driven(pl.Motor(**fields), command, 3.0, load=2.0), 0.2, method=TIGHT, save=0.2).values["v"][-1, 0]
    away = []
    for stiffness in (1e4, 1e5):
        motor = pl.Motor(**fields, gear_stiffness=stiffness, gear_damping=2e-3 * stiffness)
        run = pl.simulate(driven(motor, command, 3.0, load=2.0), 0.2, method=TIGHT, save=0.2)
        away.append(abs(run.values["v"][-1, 0] - rigid))
    assert away[1] < 0.11 * away[0] < 1e-3


def test_rest_and_small_motions_have_the_states_of_an_elastic_gear() -> None:
    held = driven(pl.Motor(**ELASTIC), 0.1)
    held.links["wheel"] = replace(held.links["wheel"], joint=pl.Revolute(spring=pl.Spring(40.0)))
    rest = pl.equilibrium(held)
    assert rest["wheel.angle"] == pytest.approx(RATIO * 0.1 / 40.0, rel=1e-9)
    assert rest["servo.deflection"] == pytest.approx(RATIO * 0.1 / GEAR, rel=1e-9)
    assert np.ptp(pl.simulate(held, 0.1, start=rest.state)["servo.deflection"]) < 1e-10
    # J1 (x + delta)'' = -c delta and J2 x'' = c delta - 40 x: both frequencies of the pair
    mass, stiffness = np.diag(SIDES), np.array([[GEAR, -GEAR], [-GEAR, GEAR + 40.0]])
    squares = np.sort(np.linalg.eigvals(np.linalg.solve(mass, stiffness)).real)
    poles = np.linalg.eigvals(pl.linearise(held).A)
    assert np.sort(poles.imag[poles.imag > 0.0]) == pytest.approx(np.sqrt(squares), rel=1e-9)
    free = np.linalg.eigvals(pl.linearise(driven(pl.Motor(**ELASTIC), 0.1), at="start").A)
    assert np.max(free.imag) == pytest.approx(TWO_MASS, rel=1e-9)


@pytest.mark.parametrize("how", ["general", "lockstep"])
def test_parameters_of_an_elastic_gear_reach_ensembles(how) -> None:
    """And a rotor starts at the speed of its joint, whatever that is."""
    gear, ratio, rate = pl.Parameter("gear", GEAR), pl.Parameter("ratio", RATIO), pl.Parameter("rate", 1.0)
    motor = pl.Motor(inertia=ROTOR, ratio=ratio, gear_stiffness=gear, gear_damping=0.1)
    system = driven(motor, lambda t, q, v: 0.1 - 0.01 * q["servo.deflection"] - 1e-4 * q["servo.speed"], rate)
    values = {"gear": [20.0, 40.0], "ratio": [50.0, 40.0], "rate": [1.0, 3.0]}
    members = pl.ensemble(system, 0.1, parameters=values, method=TIGHT, loop=how, threads=1)
    alone = [pl.simulate(system, 0.1, parameters={name: row[k] for name, row in values.items()}, method=TIGHT) for k in (0, 1)]
    assert members["v_end"].values[:, 0] == pytest.approx([run.values["v"][-1, 0] for run in alone], rel=1e-9)
    assert [run["servo.speed"][0] for run in alone] == pytest.approx([50.0, 120.0], rel=1e-12)


def test_parameters_of_an_elastic_gear_have_sensitivities() -> None:
    gear, rate = pl.Parameter("gear", GEAR), pl.Parameter("rate", 1.0)
    system = driven(pl.Motor(inertia=ROTOR, ratio=RATIO, gear_stiffness=gear, gear_damping=0.1), 0.1, rate)
    slopes = pl.sensitivities(system, 0.1, ["gear", "rate"], method=TIGHT).final[1]
    for k, (name, value) in enumerate((("gear", GEAR), ("rate", 1.0))):
        sides = [{name: value * (1.0 + x)} for x in (-1e-4, 1e-4)]
        low, high = (pl.simulate(system, 0.1, parameters=side, method=TIGHT).values["v"][-1, 0] for side in sides)
        assert slopes[k] == pytest.approx((high - low) / (2e-4 * value), rel=1e-5)


def test_files_hold_elastic_gears_in_the_units_of_the_coordinate() -> None:
    text = """
pliant: 1
system: drive
gravity: [0, 0]
bodies:
  wheel: {rigid: {mass: 1, inertia: 0.4}, joint: {revolute: {rate: 2}}}
  rack: {rigid: {mass: 1}, joint: prismatic}
motors:
  servo: {coordinate: wheel.angle, motor: {inertia: 2e-5, ratio: 50, gear_stiffness: 30 N m/rad, gear_damping: 200 mN m s/rad}}
  pinion: {coordinate: rack.displacement, motor: {inertia: 1e-5, ratio: 40, gear_stiffness: 3 kN/m, gear_damping: 5 N s/m}}
"""
    system = pl.loads_model(text).system
    assert system.motors["servo"].motor == pl.Motor(**ELASTIC, gear_damping=0.2)
    assert system.motors["pinion"].motor.gear_stiffness == 3000.0
    written = pl.dump_model(system)
    again = pl.loads_model(written).system
    assert pl.dump_model(again) == written and "states" not in written
    first, second = (pl.simulate(each, 0.02, save=0.01) for each in (system, again))
    assert np.array_equal(first.values["states"], second.values["states"])
    with pytest.raises(ModelError, match="gear_stiffness"):
        pl.loads_model(text.replace("30 N m/rad", "30 N/m"))


def test_what_an_elastic_gear_does_not_serve_is_refused() -> None:
    system = driven(pl.Motor(**ELASTIC), 0.1)
    with pytest.raises(ModelError, match="motor 'servo': gear_stiffness must be left out for inverse dynamics"):
        pl.inverse_dynamics(system, {"wheel.angle": lambda t: t * t}, 0.1)
    turned = driven(pl.Motor(**ELASTIC), 0.1)
    turned.links["wheel"] = replace(turned.links["wheel"], joint=pl.Revolute(motion=lambda t: 3.0 * t))
    with pytest.raises(ModelError, match="motor 'servo': gear_stiffness must be left out on a coordinate whose motion"):
        pl.simulate(turned, 0.1)
    with pytest.raises(ModelError, match="motor 'servo': gear_stiffness must be left out for equations"):
        pl.equations(system)
    with pytest.raises(ModelError, match="ensemble: rates must not name the coordinate of an elastic gear"):
        pl.ensemble(system, 0.1, rates={"wheel.angle": [1.0, 2.0]})
    with pytest.raises(ModelError, match="sensitivities: rates must not name the coordinate of an elastic gear"):
        pl.sensitivities(system, 0.1, rates=["wheel.angle"])


# ---- analyses, studies


def test_rest_and_small_motions_of_a_motor() -> None:
    """Held by its stall torque against gravity; V is an input, and its current's time constant is in A."""
    system = pl.System("held", gravity=(0, -9.81))
    system.add("rod", pl.RigidBody.rod(length=1.0, mass=2.0), joint=pl.Revolute(angle=0.3))
    system.motor("servo", "rod.angle", pl.Motor(**ELECTRICAL), command=lambda t, q, v: 4.0 * (0.5 - q["rod.angle"]))
    angle = pl.equilibrium(system)["rod.angle"]
    assert RATIO * CONSTANT / RESISTANCE * 4.0 * (0.5 - angle) == pytest.approx(9.81 * math.cos(angle), rel=1e-9)
    model = pl.linearise(system, inputs=["servo"])
    inertia = 2.0 / 3.0 + RATIO**2 * ROTOR
    assert model.B[1, 0] == pytest.approx(RATIO * CONSTANT / RESISTANCE / inertia, rel=1e-9)
    assert model.A[1, 1] == pytest.approx(-((RATIO * CONSTANT) ** 2) / RESISTANCE / inertia, rel=1e-9)


def test_parameters_reach_ensembles_and_sensitivities() -> None:
    rotor, resistance = pl.Parameter("rotor", ROTOR), pl.Parameter("resistance", RESISTANCE)
    motor = pl.Motor(inertia=rotor, ratio=RATIO, constant=CONSTANT, resistance=resistance, inductance=INDUCTANCE)
    system = driven(motor)
    members = pl.ensemble(system, 0.05, parameters={"rotor": [ROTOR, 3e-5], "resistance": [RESISTANCE, 1.2]})
    values = ((ROTOR, RESISTANCE), (3e-5, 1.2))
    alone = [pl.simulate(system, 0.05, parameters={"rotor": j, "resistance": r}).values["v"][-1] for j, r in values]
    assert np.array_equal(members["v_end"].values, np.array(alone))
    slopes = pl.sensitivities(system, 0.05, ["rotor", "resistance"], method=TIGHT)
    for k, (name, value) in enumerate((("rotor", ROTOR), ("resistance", RESISTANCE))):
        sides = [{name: value * (1.0 + x)} for x in (-1e-4, 1e-4)]
        low, high = (pl.simulate(system, 0.05, parameters=side, method=TIGHT).values["v"][-1, 0] for side in sides)
        assert slopes.final[1, k] == pytest.approx((high - low) / (2e-4 * value), rel=1e-5)


def test_a_run_goes_on_with_its_current() -> None:
    system = driven(pl.Motor(**ELECTRICAL, inductance=INDUCTANCE))
    whole, half = pl.simulate(system, 0.04, method=TIGHT), pl.simulate(system, 0.02, method=TIGHT)
    on = pl.simulate(system, 0.04, start=half, method=TIGHT)
    assert on.values["v"][-1] == pytest.approx(whole.values["v"][-1], abs=1e-9)
    assert on.values["states"][-1] == pytest.approx(whole.values["states"][-1], abs=1e-8)


# ---- files, words, refusals

FILE = """
pliant: 1
system: drive
gravity: [0, 0]
bodies:
  wheel: {rigid: {mass: 1, inertia: 0.4}, joint: revolute}
  rack: {rigid: {mass: 1}, joint: prismatic}
motors:
  servo:
    coordinate: wheel.angle
    motor: {inertia: 0.2 kg cm^2, ratio: 50, constant: 50 mN m/A, resistance: 800 mohm, inductance: 1 mH, efficiency: 0.9}
    command: "24 if t < 0.1 else 12 - 0.1*v['wheel.angle']"
    start: 2 A
  pinion: {coordinate: rack.displacement, motor: {ratio: 40, stall_torque: 0.5, no_load_speed: 300, max_torque: 0.2}, command: 0.5}
events:
  hot: {function: "q['servo.current'] - 5"}
"""


def test_files_hold_motors() -> None:
    system = pl.loads_model(FILE).system
    assert system.motors["servo"].motor.inertia == pytest.approx(ROTOR, rel=1e-12)
    assert "motor servo: on wheel.angle, rotor 2e-05 kg m^2 at 50:1, electrical, servo.current a state" in str(system)
    written = pl.dump_model(system)
    again = pl.loads_model(written).system
    assert pl.dump_model(again) == written and again.states["servo.current"].start == 2.0
    first, second = (pl.simulate(each, 0.05, save=0.01) for each in (system, again))
    assert np.array_equal(first.values["v"], second.values["v"]) and first.events[0].name == "hot"


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"ratio": 0.0}, "Motor: ratio must not be 0"),
        ({"efficiency": 0.0}, "Motor: efficiency must be in (0, 1]"),
        ({"back_efficiency": 1.2}, "Motor: back_efficiency must be in (0, 1]"),
        ({"inertia": -1.0}, "Motor: inertia must be >= 0 kg m^2"),
        ({"constant": 0.1}, "Motor: resistance must be given together with constant"),
        ({"no_load_speed": 10.0}, "Motor: stall_torque must be given together with no_load_speed"),
        ({**ELECTRICAL, "stall_torque": 1.0, "no_load_speed": 1.0}, "Motor: stall_torque must be left out when constant"),
        ({"inductance": 1.0}, "Motor: inductance must be left out unless constant"),
        ({"max_current": 1.0}, "Motor: max_current must be left out unless constant"),
        ({"gear_stiffness": 1.0}, "Motor: inertia must be > 0 kg m^2 if gear_stiffness is given"),
        ({"gear_stiffness": 0.0, "inertia": 1.0}, "Motor: gear_stiffness must be > 0"),
        ({"gear_damping": 1.0}, "Motor: gear_damping must be left out unless gear_stiffness is given"),
        ({**ELECTRICAL, "time_constant": 1.0}, "Motor: time_constant must be left out when a resistance is given"),
    ],
)
def test_wrong_motors_are_refused_by_name(fields, words) -> None:
    with pytest.raises(ModelError, match=re.escape(words)):
        pl.Motor(**fields)


def test_a_motor_needs_a_coordinate_a_motor_and_a_lag_to_start_from() -> None:
    system = driven(pl.Motor(**ELECTRICAL))
    with pytest.raises(ModelError, match="motor 'other': coordinate must be one of"):
        system.motor("other", "wheel.angel", pl.Motor())
    with pytest.raises(ModelError, match="motor 'other': motor must be a Motor"):
        system.motor("other", "wheel.angle", 3.0)
    with pytest.raises(ModelError, match="motor 'other': start must be left out unless the motor's current or torque lags"):
        system.motor("other", "wheel.angle", pl.Motor(), command=1.0, start=2.0)
    with pytest.raises(ModelError, match="a motor already has this name"):
        system.drive("servo", "wheel.angle", 1.0)
    with pytest.raises(ModelError, match="formulation must not be 'augmented' if there are motors"):
        pl.simulate(system, 0.1, formulation="augmented")
    system.motor("loop", "wheel.angle", pl.Motor(), command=lambda t, q, v: q["loop.command"])
    with pytest.raises(ModelError, match="motor 'loop': command must not read its own value"):
        pl.simulate(system, 0.1)


def test_equations_take_a_current_that_lags_as_an_input() -> None:
    equations = pl.equations(driven(pl.Motor(**ELECTRICAL, inductance=INDUCTANCE)))
    assert equations.u.names == ("servo.current",) and any("servo.current" in note for note in equations.notes)
    told = equations.function()(t=0.0, q=[0.0], v=[3.0], u=[2.0], p=[])
    assert float(told["acceleration"]) == pytest.approx(RATIO * CONSTANT * 2.0 / WHOLE, rel=1e-12)


@pytest.mark.parametrize("bent", [{"efficiency": 0.9}, {"back_efficiency": 0.5}, {"max_torque": 1.0}, {"max_current": 1.0}])
def test_equations_refuse_a_motor_that_is_not_linear_in_its_command(bent) -> None:
    with pytest.raises(ModelError, match=f"motor 'servo': {next(iter(bent))} must be left out for equations"):
        pl.equations(driven(pl.Motor(**ELECTRICAL, **bent)))


def test_equilibria_and_linearisations_settle_the_currents_of_motors() -> None:
    """They were refused, and a linearisation took the start instead."""
    held = driven(pl.Motor(**ELECTRICAL, inductance=INDUCTANCE), command=6.0)
    held.links["wheel"] = replace(held.links["wheel"], joint=pl.Revolute(spring=pl.Spring(40.0)))
    rest = pl.equilibrium(held)
    current = 6.0 / ELECTRICAL["resistance"]
    assert rest["servo.current"] == pytest.approx(current, rel=1e-12)
    assert 40.0 * rest["wheel.angle"] == pytest.approx(RATIO * CONSTANT * current, rel=1e-12)
    linear = pl.linearise(held)
    assert "servo.current" in linear.states and "not in balance" not in linear.message
    assert np.ptp(pl.simulate(held, 0.1, start=rest.state)["wheel.angle"]) < 1e-12
    with pytest.raises(pl.SolveError, match=r"nothing holds wheel\.angle"):
        pl.linearise(driven(pl.Motor(**ELECTRICAL, inductance=INDUCTANCE)))


def test_a_linearisation_says_why_it_is_about_the_start() -> None:
    own = driven(pl.Motor(**ELECTRICAL), command=0.0)
    own.state("integral", rate=1.0)
    linear = pl.linearise(own)
    why = "because no equilibrium can be searched for with states besides the motion: integral"
    assert linear.message.startswith(f"at the start, {why}") and "a state changes by 1 per second" in linear.message
    assert pl.linearise(own, at="start").message.startswith("at the start; the point is not in balance")
