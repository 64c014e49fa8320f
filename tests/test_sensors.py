"""Sensors: closed forms of what each kind measures, of filters and delays, and everything that a reading must go along with."""

import math

import numpy as np
import pytest
from scipy import signal as scipy_signal

import pliant as pl

G = 9.81  # m/s^2
TIGHT = pl.DOP853(rtol=1e-11, atol=1e-13)


def pendulum(angle=0.4, **state):
    """A rod of 1 m and 1 kg on a pin."""
    system = pl.System("pendulum", gravity=(0.0, -G))
    rod = system.add("rod", pl.RigidBody.rod(length=1.0, mass=1.0), joint=pl.Revolute(angle=angle, **state))
    return system, rod


def cantilever(modes=3, **joint):
    system = pl.System("cantilever", gravity=(0.0, 0.0))
    section = pl.Section.rectangle(0.004, 0.02)
    beam = pl.Beam(length=0.5, section=section, material=pl.STEEL, theory="euler-bernoulli", modes=pl.ElementModes(modes),
                   damping=pl.Rayleigh(alpha=40.0))  # fmt: skip
    return system, system.add("beam", beam, joint=pl.Weld(**joint))


# ---- what each kind measures


def test_the_strain_of_a_cantilever_with_a_force_at_its_tip_is_six_f_l_over_b_h_squared_e():
    system, beam = cantilever()
    force, height, width = 0.3, 0.004, 0.02
    system.force("pull", beam.tip, (0.0, -force))
    top = system.sensor.strain_gauge(beam, at=0.0, side="top")
    low = system.sensor.strain_gauge(beam, at=0.2, side="bottom", gain=1e6)
    rest = pl.equilibrium(system)
    at_root = 6.0 * force * 0.5 / (width * height**2 * pl.STEEL.E)
    assert rest[top] == pytest.approx(at_root, rel=1e-4)  # stiffening shortens the lever of a bent beam
    assert rest[low] == pytest.approx(-1e6 * at_root * 0.3 / 0.5, rel=1e-4)


def test_strain_agrees_with_the_stresses_of_a_moving_spatial_beam():
    system = pl.System("boom", gravity=(0.0, -G, 0.0))
    modes = [pl.Modes("cf", 2), pl.Modes("cf", 2, plane="z"), pl.AxialModes("cf", 1)]
    boom = pl.Beam(length=0.6, section=pl.Section.rectangle(0.006, 0.012), material=pl.STEEL, theory="timoshenko", modes=modes)
    beam = system.add("boom", boom, joint=pl.Revolute(axis=(0.2, 0.5, 1.0), rate=2.0))
    names = {side: system.sensor.strain_gauge(beam, at=0.15, side=side) for side in ("top", "bottom", "right", "left")}
    result = pl.simulate(system, 0.2, save=0.02)
    found = pl.stresses(result, system, stations=[0.25], by="curvature")  # fractions of the length
    axial, about_y, about_z = (found[name].values[:, 0, 0] for name in ("axial_force", "bending_moment_y", "bending_moment_z"))
    section, strain = boom.section, {side: result[name] for side, name in names.items()}
    bent = {"top": -about_z * 0.003 / section.Iz, "bottom": about_z * 0.003 / section.Iz,
            "right": about_y * 0.006 / section.Iy, "left": -about_y * 0.006 / section.Iy}  # fmt: skip
    for side, stress in bent.items():
        whole = (axial / section.A + stress) / pl.STEEL.E
        assert np.max(np.abs(strain[side] - whole)) < 1e-12 * np.max(np.abs(whole)) + 1e-18
    assert np.max(np.abs(strain["left"] + strain["right"])) > 1e-9  # it stretches, too


def test_a_gauge_on_a_segmented_beam_sits_on_the_segment_at_its_station():
    system = pl.System("line", gravity=(0.0, 0.0))
    whole = pl.Beam(length=0.6, section=pl.Section.tube(0.01, 0.008), material=pl.STEEL, theory="euler-bernoulli",
                    modes=pl.ElementModes(1))  # fmt: skip
    line = system.add("line", pl.segmented(whole, 3), joint=pl.Weld())
    system.sensor.strain_gauge(line, at=0.3, name="middle")
    assert (system.sensors["middle"].at.body, system.sensors["middle"].at.station) == ("line_2", pytest.approx(0.1))


def test_an_accelerometer_at_rest_reads_g_upwards():
    system, rod = pendulum(angle=-math.pi / 2)  # hangs: x of the rod points down
    system.sensor.accelerometer(rod.tip, name="imu")
    system.sensor.accelerometer(system.ground.turned(0.3), name="floor")
    result = pl.simulate(system, 0.1, save=0.05)
    assert result["imu.x"] == pytest.approx(-G, abs=1e-12)
    assert result["imu.y"] == pytest.approx(0.0, abs=1e-12)
    assert result["floor.x"] == pytest.approx(G * math.sin(0.3)) and result["floor.y"] == pytest.approx(G * math.cos(0.3))


def test_an_accelerometer_on_a_pendulum_is_its_closed_form():
    """Along the rod -v^2 L - g.x, across it a L - g.y, with a = -1.5 g cos(angle) / L for a rod."""
    system, rod = pendulum(rate=1.5)
    imu = system.sensor.accelerometer(rod.tip)
    result = pl.simulate(system, 1.0, method=TIGHT, save=0.05)
    angle, rate = result["rod.angle"], result.rate("rod.angle")
    assert result[f"{imu}.x"] == pytest.approx(-(rate**2) + G * np.sin(angle), abs=1e-10)
    assert result[f"{imu}.y"] == pytest.approx(-1.5 * G * np.cos(angle) + G * np.cos(angle), abs=1e-10)


def test_an_accelerometer_follows_a_prescribed_motion():
    system = pl.System("shaker", gravity=(0.0, 0.0, -G))
    table = system.add("table", pl.RigidBody(mass=1.0, inertia=0.1), joint=pl.Prismatic(axis="z", motion=lambda t: pl.sin(3.0 * t)))
    system.add("rod", pl.RigidBody.rod(length=0.3, mass=0.1), joint=pl.Revolute(axis="y"), on=table.root)
    system.sensor.accelerometer(table.root, "z", name="imu")
    result = pl.simulate(system, 1.0, save=0.1)
    assert result["imu"] == pytest.approx(G - 9.0 * np.sin(3.0 * result.time), abs=1e-12)


def test_two_accelerometers_at_the_pin_of_a_closed_loop_agree_in_the_world():
    system = pl.System("four-bar", gravity=(0.0, -G))
    crank = system.add("crank", pl.RigidBody.rod(0.1, 0.5), joint=pl.Revolute(angle=0.7))
    coupler = system.add("coupler", pl.RigidBody.rod(0.3, 0.5), joint=pl.Revolute(angle=-0.6), on=crank.tip)
    rocker = system.add("rocker", pl.RigidBody.rod(0.2, 0.5), joint=pl.Revolute(angle=1.2), on=system.ground.moved((0.3, 0.0)))
    system.close("pin", "point", coupler.tip, rocker.tip)
    for name, place in (("a", coupler.tip), ("b", rocker.tip)):
        system.sensor.accelerometer(place, name=name)
    result = pl.simulate(system, 0.3, save=0.05)
    turned = {"a": result["crank.angle"] + result["coupler.angle"], "b": result["rocker.angle"]}
    along = [np.exp(1j * angle) * (result[f"{name}.x"] + 1j * result[f"{name}.y"]) for name, angle in turned.items()]
    assert along[0] == pytest.approx(along[1], abs=1e-11)


def test_an_accelerometer_on_a_link_that_slides_out_is_the_derivative_of_its_velocity():
    """By central differences, whose error falls with the square of the interval."""
    link = pl.TelescopicBeam(length=0.7, section=pl.Section.rectangle(0.02, 0.01), material=pl.STEEL, modes=pl.Modes("cf", 1),
                             extension=0.3, rate=0.1)  # fmt: skip
    errors = []
    for interval in (1e-4, 5e-5):
        system = pl.System("arm", gravity=(0.0, -G))
        arm = system.add("arm", link, joint=pl.Revolute(rate=0.5))
        system.sensor.accelerometer(arm.tip, name="imu")
        result = pl.simulate(system, 0.01, method=TIGHT, save=interval)
        felt = np.gradient(result["tip_velocity", "arm"], result.time, axis=0)[1:-1, :2] + [0.0, G]
        errors.append(np.max(np.abs(np.hypot(*felt.T) - np.hypot(result["imu.x"], result["imu.y"])[1:-1])))
    assert errors[1] < 0.3 * errors[0] < 0.01


def test_a_gyro_on_two_links_adds_their_rates_and_turns_with_its_frame():
    system, rod = pendulum()
    fore = system.add("fore", pl.RigidBody.rod(length=0.5, mass=0.4), joint=pl.Revolute(rate=2.0), on=rod.tip)
    gyro = system.sensor.gyro(fore.tip)
    result = pl.simulate(system, 0.5, save=0.05)
    assert result.labels["channel"] == (gyro,)  # in the plane it is one number
    assert result[gyro] == pytest.approx(result.rate("rod.angle") + result.rate("fore.angle"), abs=1e-13)


def test_a_gyro_on_a_spinning_body_reads_its_body_rates():
    system = pl.System("top", gravity=(0.0, 0.0, 0.0))
    body = pl.RigidBody(mass=1.0, inertia=(0.1, 0.2, 0.3))
    top = system.add("top", body, joint=pl.Free(angular_velocity=(0.5, 3.0, -0.2)))
    system.sensor.gyro(top.root, name="plain")
    system.sensor.gyro(top.root.turned(0.7, "x"), name="tilted")
    result = pl.simulate(system, 2.0, save=0.1)
    rates = np.stack([result[f"plain.{axis}"] for axis in "xyz"])
    assert rates == pytest.approx(np.stack([result["v", name] for name in result.labels["rate"][3:]]), abs=1e-12)
    assert np.ptp(rates[0]) > 0.1
    c, s = math.cos(0.7), math.sin(0.7)
    assert result["tilted.y"] == pytest.approx(c * rates[1] + s * rates[2], abs=1e-12)


def test_an_encoder_counts_and_without_counts_it_is_the_coordinate():
    system, rod = pendulum()
    smooth, coarse = system.sensor.encoder(rod), system.sensor.encoder("rod.angle", counts=100)
    result = pl.simulate(system, 1.0, save=0.01)
    step = 2.0 * math.pi / 100
    assert np.array_equal(result[smooth], result["rod.angle"])
    assert result[coarse] == pytest.approx(step * np.floor(result["rod.angle"] / step + 0.5), abs=1e-14)
    assert len(np.unique(result[coarse])) > 5


def test_an_encoder_of_a_motor_reads_its_rotor():
    system, _ = pendulum()
    system.motor("servo", "rod.angle", pl.Motor(ratio=50.0, inertia=1e-5, gear_stiffness=300.0, gear_damping=0.5))
    rotor = system.sensor.encoder("servo")
    result = pl.simulate(system, 0.5, save=0.05)
    turned = result["rod.angle"] + result["servo.deflection"]
    assert result[rotor] == pytest.approx(50.0 * turned, abs=1e-12)


def test_force_sensors_read_the_reactions_and_contact_forces_of_the_result():
    system, rod = pendulum(angle=-0.2)
    floor = pl.Plane(normal="y", point=(0.0, -0.5))
    pairs = system.contact(points=pl.Sphere(rod.tip, 0.05), against=floor, normal=pl.Hertz(stiffness=1e6),
                           friction=pl.Coulomb(mu=0.3, transition=0.01))  # fmt: skip
    system.sensor.force(rod, name="pin")
    system.sensor.force(rod, name="along", axes="xyz", expressed="body")
    system.sensor.force(pairs, name="touch")
    result = pl.simulate(system, 0.5)
    assert result.contacts
    assert np.array_equal(result["pin.force y"], result["reaction_force", "rod", "y"])
    assert np.array_equal(result["pin.moment z"], result["reaction_moment", "rod", "z"])
    assert np.array_equal(result["touch.normal"], result["normal_force", pairs[0]])
    assert np.array_equal(result["touch.friction x"], result["friction_force", pairs[0], "x"])
    angle, (x, y) = result["rod.angle"], (result["reaction_force", "rod", axis] for axis in "xy")
    assert result["along.force x"] == pytest.approx(np.cos(angle) * x + np.sin(angle) * y, abs=1e-9)


# ---- filters and delays


def driven(**fields):
    """A table that moves as sin(20 t), and an encoder of it."""
    system = pl.System("table", gravity=(0.0, 0.0))
    table = system.add("table", pl.RigidBody(mass=1.0, inertia=0.1), joint=pl.Prismatic(motion=lambda t: pl.sin(20.0 * t)))
    system.add("rod", pl.RigidBody.rod(length=0.3, mass=0.1), joint=pl.Revolute(), on=table.root)
    system.sensor.encoder(table, name="s", **fields)
    return system


@pytest.mark.parametrize(("order", "damping"), [(1, 1.0), (2, math.sqrt(0.5)), (2, 1.0)])
def test_a_low_pass_filter_answers_as_scipy_says(order, damping):
    w = 2.0 * math.pi * 6.0
    below = [1.0 / w, 1.0] if order == 1 else [1.0 / w**2, 2.0 * damping / w, 1.0]
    # lsim with sin(20 t) as the output of an oscillator: exact, whatever the rows
    shaken = np.polymul(below, [1.0, 0.0, 400.0])
    result = pl.simulate(driven(low_pass=6.0, order=order, damping=damping, gain=2.0, offset=0.5), 1.0, method=TIGHT, save=0.01)
    _, exact = scipy_signal.impulse(([20.0], shaken), T=result.time)
    assert result["s"] == pytest.approx(2.0 * exact + 0.5, abs=1e-8)


@pytest.mark.parametrize(("pade", "error"), [(1, 0.16), (2, 4e-3), (3, 3e-5), (4, 3e-7)])
def test_a_delay_is_exact_to_the_order_of_its_approximation(pade, error):
    result = pl.simulate(driven(delay=0.03, pade=pade), 4.0, method=TIGHT, save=0.01)
    late = result.time > 3.0  # the states of the approximation have settled
    assert np.max(np.abs(result["s"] - np.sin(20.0 * (result.time - 0.03)))[late]) < error


def test_a_filter_starts_in_equilibrium_also_with_the_forces_of_contacts_that_are_closed_at_the_start():
    system = pl.System("box", gravity=(0.0, -G))
    box = system.add("box", pl.RigidBody(mass=2.0, inertia=0.1), joint=pl.Planar(position=(0.0, -2.0 * G / 1e5)))
    pair = system.contact(points=box.root, against=pl.Plane(normal="y"), normal=pl.Linear(stiffness=1e5, restitution=0.5, mass=2.0))
    system.sensor.force(pair, name="foot", low_pass=5.0)
    system.sensor.accelerometer(box.root, name="imu", low_pass=5.0, order=2)
    result = pl.simulate(system, 0.05, save=0.01)
    assert result["foot.normal"][0] == pytest.approx(2.0 * G, rel=1e-6)
    assert result["imu.y"] == pytest.approx(G, rel=1e-6)


def test_a_run_that_continues_goes_on_with_the_states_of_filters():
    system = driven(low_pass=2.0, delay=0.02, pade=2)
    whole = pl.simulate(system, 0.4, method=TIGHT, save=[0.2, 0.4])
    first = pl.simulate(system, 0.2, method=TIGHT, save=[0.2])
    second = pl.simulate(system, 0.4, method=TIGHT, save=[0.4], start=first)
    assert second["s"][-1] == pytest.approx(whole["s"][-1], abs=1e-9)
    assert abs(whole["s"][-1]) > 1e-2


def test_a_joint_that_sticks_holds_what_its_force_sensor_feels():
    dry = pl.JointFriction(pl.DryFriction(mu_static=0.5, mu_kinetic=0.4), radius=0.3, preload=50.0)
    system, rod = pendulum(angle=0.3, friction=dry)
    system.sensor.force(rod, name="pin", low_pass=5.0)
    system.sensor.accelerometer(rod.tip, name="imu", low_pass=5.0)
    result = pl.simulate(system, 0.2, save=0.1)
    assert result["pin.force y"] == pytest.approx(G, abs=1e-9)
    assert result["imu.y"] == pytest.approx(G * math.cos(0.3), abs=1e-9)


# ---- what reads them


def test_a_drive_reads_smooth_sensors_and_filtered_forces():
    """-k x by an encoder with gain k is the spring of a joint."""
    system, rod = pendulum()
    system.sensor.encoder(rod, name="angle", gain=3.0)
    system.drive("spring", "rod.angle", lambda t, q, v: -q["angle"])
    sprung, _ = pendulum()
    sprung.drive("spring", "rod.angle", lambda t, q, v: -3.0 * q["rod.angle"])
    a, b = (pl.simulate(one, 1.0, method=TIGHT, save=0.1)["rod.angle"] for one in (system, sprung))
    assert np.array_equal(a, b)


def test_states_events_and_closed_loops_read_reactions_but_drives_must_not():
    system, rod = pendulum(angle=0.0)
    system.sensor.force(rod, name="pin")
    system.state("impulse", rate=lambda t, q, v: q["pin.force y"])
    system.event("light", lambda t, q, v: q["pin.force x"] - 5.0)
    result = pl.simulate(system, 0.6, method=TIGHT, save=0.001)
    momentum = result["momentum"][:, 1]
    assert result["impulse"] == pytest.approx(momentum - momentum[0] + G * result.time, abs=1e-9)  # P' = R - m g
    crossing = next(event.t for event in result.events if event.name == "light")
    assert np.interp(crossing, result.time, result["pin.force x"]) == pytest.approx(5.0, abs=1e-4)
    system.drive("loop", "rod.angle", lambda t, q, v: q["pin.moment z"])
    with pytest.raises(pl.ModelError, match=r"formula of 'loop': q must not read sensor 'pin' directly.*algebraic loop"):
        pl.simulate(system, 0.1)


def test_sampled_controllers_measure_readings_with_the_same_noise_compiled_or_not():
    def watched(compiled, noise, seed=3):
        system, rod = pendulum()
        system.sensor.gyro(rod.tip, name="gyro", noise=noise, seed=seed)
        system.sampled("logger", 0.01, lambda t, q, v, measured, memory: measured["sensor gyro"] + 0.0 * q["gyro"], "last",
                       compiled=compiled)  # fmt: skip
        return pl.simulate(system, 2.0, save=np.arange(0.005, 2.0, 0.01))

    plain, fast, slow, other = watched(True, 0.0), watched(True, 0.2), watched(False, 0.2), watched(True, 0.2, seed=4)
    noise = fast["logger.last"] - plain["logger.last"]
    assert fast["logger.last"] == pytest.approx(slow["logger.last"], abs=1e-9)
    assert np.std(noise) == pytest.approx(0.2, rel=0.15) and abs(np.mean(noise)) < 0.05
    assert abs(np.corrcoef(noise[1:], noise[:-1])[0, 1]) < 0.2
    assert not np.array_equal(fast["logger.last"], other["logger.last"])
    assert fast["gyro"] == pytest.approx(plain["gyro"], abs=1e-8)  # the reading itself has none


@pytest.mark.parametrize("compiled", [True, False])
def test_sampled_controllers_and_states_read_contact_forces(compiled):
    """A ball falls onto a floor: at every instant a controller sees the force of the result, and a state its impulse."""
    system = pl.System("ball", gravity=(0.0, -G))
    ball = system.add("ball", pl.RigidBody(mass=0.5, inertia=1e-4), joint=pl.Prismatic(displacement=0.03, axis=(0.0, 1.0)))
    law = pl.HuntCrossley(stiffness=1e5, restitution=0.5)
    pair = system.contact(points=pl.Sphere(ball.root, 0.02), against=pl.Plane(normal=(0, 1)), normal=law, name="floor")
    system.sensor.force(pair, name="foot")
    system.state("impulse", rate=lambda t, q, v: q["foot.normal"], start=0.0)
    system.sampled("watch", 1e-3, lambda t, q, v, measured, memory: measured["sensor foot.normal"], "last", compiled=compiled)
    run = pl.simulate(system, 0.4, save=np.arange(400) * 1e-3, method=TIGHT)
    forces = run["foot.normal"]
    assert np.max(forces) > 5.0 * 0.5 * G and run["watch.last"][1:] == pytest.approx(forces[1:], rel=1e-6, abs=1e-6)
    momentum = 0.5 * (run["v", "ball.displacement"] + G * run.time)
    assert run["impulse"] == pytest.approx(momentum, abs=1e-7)


def test_a_result_gets_noise_on_request_and_the_same_for_the_same_seed():
    system, rod = pendulum()
    system.sensor.encoder(rod, name="angle", noise=0.01)
    system.sensor.gyro(rod.tip, name="gyro")
    result = pl.simulate(system, 1.0)
    a, b, c = (pl.noisy(result, system, seed=seed) for seed in (1, 1, 2))
    assert np.array_equal(a["angle"], b["angle"]) and not np.array_equal(a["angle"], c["angle"])
    assert np.std(a["angle"] - result["angle"]) == pytest.approx(0.01, rel=0.1)
    assert np.array_equal(a["gyro"], result["gyro"]) and np.array_equal(a["rod.angle"], result["rod.angle"])


def test_equilibria_stepped_runs_and_observations_have_readings():
    system, rod = pendulum(angle=-1.2)
    system.sensor.accelerometer(rod.tip, name="imu", low_pass=3.0)
    rest = pl.equilibrium(system)
    assert rest["imu.x"] == pytest.approx(-G, abs=1e-8)
    run = pl.start(system, t_end=1.0)
    run.step(0.3)
    whole = pl.simulate(system, 0.3, save=[0.3])
    assert run.observe()["imu.y"] == pytest.approx(whole["imu.y"][-1], abs=1e-8)


def test_inverse_dynamics_have_readings_and_refuse_filters_where_nothing_is_integrated():
    system, rod = pendulum()
    system.sensor.force(rod, name="pin")
    asked = pl.inverse_dynamics(system, {"rod.angle": lambda t: pl.sin(2.0 * t)}, 1.0)
    assert asked["pin.moment z"] == pytest.approx(asked["effort"][:, 0], abs=1e-12)
    fore = system.add("fore", pl.RigidBody.rod(length=0.5, mass=0.4), joint=pl.Revolute(), on=rod.tip)
    system.sensor.gyro(fore.tip, name="gyro", low_pass=5.0)
    moved = pl.inverse_dynamics(system, {"rod.angle": lambda t: pl.sin(2.0 * t)}, 1.0)
    assert np.ptp(moved["gyro"]) > 0.1
    with pytest.raises(pl.ModelError, match=r"filters of sensors.*got \['gyro.low_pass'\]"):
        pl.inverse_dynamics(system, {"rod.angle": lambda t: t, "fore.angle": lambda t: t}, 1.0)


def test_an_encoder_that_counts_has_no_slope():
    system, rod = pendulum(angle=pl.Parameter("angle", 0.4))
    system.sensor.encoder(rod, counts=100, name="counted")
    system.sensor.encoder(rod, name="smooth")
    done = pl.sensitivities(system, 0.2, ["angle"], of="sensor", save=[0.1, 0.2])
    assert np.all(done.table["sensor"].values[:, 0] == 0.0) and np.all(done.table["sensor"].values[:, 1] != 0.0)


@pytest.mark.parametrize("formulation", ["lagrange", "gibbs", "denoc", "gibbs_appell", "augmented"])
def test_every_formulation_has_the_same_readings(formulation):
    system, rod = pendulum(rate=1.0)
    system.sensor.accelerometer(rod.at("tip"), name="imu", low_pass=20.0)
    system.sensor.force(rod, name="pin")
    system.sensor.encoder(rod, name="angle")
    usual, other = (pl.simulate(system, 0.3, method=TIGHT, save=0.1, formulation=one) for one in ("articulated", formulation))
    assert other["sensor"] == pytest.approx(usual["sensor"], abs=1e-7)


# ---- derivatives, fits, ensembles


def test_readings_have_exact_derivatives_also_of_the_start_of_filters():
    def with_numbers(gain, cut, delay, mass):
        system = pl.System("arm", gravity=(0.0, -G))
        body = pl.RigidBody(mass=mass, inertia=0.2, com=(0.4, 0.0, 0.0), tip=(0.8, 0.0, 0.0))
        arm = system.add("arm", body, joint=pl.Revolute(angle=0.3, damper=pl.Damper(0.3)))
        system.sensor.accelerometer(arm.tip, name="imu", gain=gain, low_pass=cut, order=2, delay=delay, pade=2)
        system.sensor.force(arm, name="pin", low_pass=cut)
        return system

    values = {"gain": 1.3, "cut": 4.0, "delay": 0.02, "mass": 1.5}
    named = with_numbers(**{name: pl.Parameter(name, value) for name, value in values.items()})
    rows = [0.0, 0.05, 0.3, 0.6]
    done = pl.sensitivities(named, 0.6, list(values), of="sensor", save=rows, rtol=1e-10)
    for k, (name, value) in enumerate(values.items()):
        step = 1e-4 * value
        low, high = (pl.simulate(with_numbers(**{**values, name: value + side * step}), 0.6, method=TIGHT, save=rows)["sensor"]
                     for side in (-1.0, 1.0))  # fmt: skip
        slope = (high - low) / (2.0 * step)
        found = done.table["sensor"].values[..., k]
        assert np.max(np.abs(found - slope)) < 1e-6 * (1.0 + np.max(np.abs(slope))), name


def test_a_fit_finds_the_gain_and_the_cut_off_of_a_sensor():
    system, rod = pendulum(rate=2.0)
    gain, cut = pl.Parameter("gain", 2.5), pl.Parameter("cut", 1.5)
    system.sensor.gyro(rod.tip, name="gyro", gain=gain, low_pass=cut, noise=0.01)
    measured = pl.noisy(pl.simulate(system, 2.0, save=0.02), system, seed=5)
    data = {"time": measured.time, "gyro": measured["gyro"]}
    found = pl.fit(system, data, {"gain": 1.0, "cut": 4.0})
    assert found.values["gain"] == pytest.approx(2.5, rel=5e-3) and found.values["cut"] == pytest.approx(1.5, rel=2e-2)


def test_a_fit_refuses_a_reading_that_counts():
    system, rod = pendulum(angle=pl.Parameter("angle", 0.4))
    system.sensor.encoder(rod, name="counted", counts=512)
    with pytest.raises(
        pl.ModelError, match=r"data 'counted' must be compared with an encoder without counts, because counts have no"
    ):
        pl.fit(system, {"time": [0.1, 0.2], "counted": [0.4, 0.3]}, ["angle"])


def test_a_fit_reads_columns_of_sensors_in_units_of_what_they_measure():
    """Unless a gain makes volts of them; an angle that was read within one turn is compared within one."""
    arm = pl.System("arm", gravity=(0.0, -9.81))
    rod = pl.RigidBody.rod(0.4, 0.5)
    link = arm.add(
        "arm", rod, joint=pl.Revolute(angle=0.3, rate=40.0, damper=pl.Damper(pl.Parameter("loss", 0.02, low=0.0, high=1.0)))
    )
    arm.sensor.encoder(link, name="angle")
    arm.sensor.encoder(link, name="volts", gain=0.1)
    arm.sensor.accelerometer(link.tip, name="imu")
    arm.sensor.force(link, name="pin")
    true = pl.simulate(arm, 0.5, save=np.linspace(0.0, 0.5, 51), parameters={"loss": 0.05})
    heads = {"angle [deg]": (np.rad2deg(true["angle"]), "rad"), "imu.x [mm/s^2]": (1e3 * true["imu.x"], "m/s^2"),
             "pin.force x [kN]": (1e-3 * true["pin.force x"], "N"), 
             "volts": (true["volts"], "1"), "angle [1]": (np.mod(true["angle"], 2.0 * np.pi), "rad")}  # fmt: skip
    for head, (values, unit) in heads.items():
        found = pl.fit(arm, {"time": true.time, head: values}, ["loss"])
        assert found.values["loss"] == pytest.approx(0.05, rel=1e-6)
        assert found.experiments[0].units[head.split(" [")[0]] == unit and " 1 (root mean square)" not in str(found)
    assert arm.sensors["pin"].units("pin")["pin.moment z"] == "N m"
    with pytest.raises(pl.ModelError, match="must be a number without a unit, got 'deg'"):
        pl.fit(arm, {"time": true.time, "volts [deg]": true["volts"]}, ["loss"])


def test_a_fit_reads_columns_of_states_by_their_bare_names():
    system, _ = pendulum()
    rate = pl.Parameter("rate", 0.7)
    system.state("f", rate=lambda t, q, v: -rate * q["f"] + q["rod.angle"], start=1.0)
    result = pl.simulate(system, 1.0, save=0.1)
    found = pl.fit(system, {"time": result.time, "f": result["f"]}, {"rate": 0.3})
    assert found.values["rate"] == pytest.approx(0.7, rel=1e-6)


def test_ensembles_have_readings_and_say_why_filters_need_the_general_loop():
    system, rod = pendulum()
    mass = pl.Parameter("gain", 1.0)
    system.sensor.gyro(rod.tip, name="gyro", gain=mass)
    gains = np.linspace(1.0, 2.0, 5)
    kept = pl.ValuesAt([0.2, 0.4], "sensor")
    runs = pl.ensemble(system, 0.4, parameters={"gain": gains}, keep=kept, loop="lockstep")
    general = pl.ensemble(system, 0.4, parameters={"gain": gains}, keep=kept, loop="general")
    values = [np.asarray(one["sensor"]) for one in (runs, general)]
    assert values[0] == pytest.approx(values[1], abs=1e-7) and np.ptp(values[1]) > 0.1
    system.sensor.gyro(rod.tip, name="slow", low_pass=2.0)
    with pytest.raises(pl.ModelError, match="filters of sensors start in equilibrium"):
        pl.ensemble(system, 0.4, parameters={"gain": gains}, keep=kept, loop="lockstep")
    filtered = np.asarray(pl.ensemble(system, 0.4, parameters={"gain": gains}, keep=kept)["sensor"])
    alone = pl.simulate(system, 0.4, save=[0.2, 0.4], parameters={"gain": 2.0})["sensor"]
    assert filtered[-1].ravel() == pytest.approx(alone.ravel(), abs=1e-7)


def test_names_of_sensors_follow_from_their_kind_and_place():
    system, rod = pendulum()
    assert system.sensor.gyro(rod.tip) == "gyro rod" and system.sensor.gyro(rod.tip) == "gyro rod 2"
    assert "sensor gyro rod 2: Gyro" in str(system)
