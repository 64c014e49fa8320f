"""Derivatives through events: every law of contact, stops, switches, tables, loops, published mechanisms; against differences."""

from __future__ import annotations

import math

import numpy as np
import pytest

import pliant as pl
from differences import by_parameter, relative
from mechanisms import HELD_ENTRY, HELD_FROM, held_ball, struck_ball
from parameter_chain import PARAMETERS, falling_chain
from pliant.gallery.parallel_robot import system as robot
from pliant.gallery.slider_crank import system as crank
from pliant.gallery.telescopic_arm import system as telescopic
from pliant.gallery.tipping_arm import system as tipping
from pliant.model.friction_law import FRICTION_LAWS
from pliant.model.normal_law import NORMAL_LAWS
from pliant.study.fit.differentiated_run import Runner
from registered import FRICTION, made

FINE = pl.DOP853(rtol=1e-11, atol=1e-14)
ENOUGH = 1e-6  # relative error of derivatives that is asked for


def worst(system, t_end, names, step=1e-4, method=FINE):
    """The largest relative error of the final state's derivatives, over theta."""
    found = pl.sensitivities(system, t_end, names, method=method, control=True, save=[t_end])
    assert found.ok, found.undefined
    steps = step if isinstance(step, dict) else dict.fromkeys(names, step)
    expected = [by_parameter(system, t_end, name, step=steps[name])[0] for name in names]
    return max(relative(found.final[:, k], expected[k]) for k in range(len(names)))


def stick(normal, friction, speed=1.0) -> pl.System:
    """A rod thrown at the floor: one end hits, slides and bounces off, then the other."""
    drop, spin = pl.Parameter("drop", 0.12), pl.Parameter("spin", 2.0)
    system = pl.System("stick", gravity=(0.0, -9.81))
    body = pl.RigidBody(mass=0.8, inertia=0.02, com=(0.2, 0.0), tip=(0.4, 0.0))
    rod = system.add("rod", body, joint=pl.Planar(position=(0.0, drop), angle=0.3, velocity=(speed, -0.5), rate=spin))
    system.contact(points=[rod.root, rod.tip], against=pl.Plane(normal=(0, 1)), normal=normal, friction=friction, name="floor")
    return system


@pytest.mark.parametrize("law", NORMAL_LAWS, ids=lambda law: law.__name__)
def test_through_impacts_of_every_normal_law(law):
    # a dashpot's force lets go in a corner that no step ends at: runs are rough there, and differences need longer steps
    step = 4e-3 if law.__name__ in ("Linear", "WangYanFangJin") else 1e-3
    assert worst(stick(made(law, speed=2.0), pl.Coulomb(mu=0.3, transition=0.01)), 0.25, ["drop", "spin"], step) < ENOUGH


@pytest.mark.parametrize("depth", [1e-6, 5e-4])
def test_through_a_blow_on_a_resting_body_and_one_thrown_out_of_the_floor(depth):
    """Its entry speed begins to grow at one event, and ends at another; or it follows from the depth at the start."""
    speed, restitution, stiffness = pl.Parameter("speed", 1.0), pl.Parameter("restitution", 0.7), pl.Parameter("stiffness", 1e8)
    law = pl.HuGuo(stiffness=stiffness, restitution=restitution)
    system = struck_ball(law, speed, weight=9.81, depth=pl.Parameter("depth", depth), blow=1e9)
    names = ["speed", "restitution", "stiffness", "depth"]
    steps = {**dict.fromkeys(names, 1e-3), "depth": 1e-8 / depth}
    assert worst(system, 0.004, names, steps) < ENOUGH


@pytest.mark.parametrize("speed", [0.3, 1.0, 4.0])
def test_through_the_end_of_a_compression_and_a_blow_on_a_body_that_never_left(speed):
    """The first is lighter than the impact before it."""
    parameters = {"speed": speed, "entry": HELD_ENTRY, "restitution": 0.7, "stiffness": 1e8}
    own = {name: pl.Parameter(name, value) for name, value in parameters.items()}
    law = pl.HuGuo(stiffness=own["stiffness"], restitution=own["restitution"])
    assert worst(held_ball(law, own["speed"], own["entry"]), HELD_FROM + 3e-3, list(parameters), 1e-3) < ENOUGH


@pytest.mark.parametrize("law", FRICTION_LAWS, ids=lambda law: law.__name__)
def test_through_corners_of_every_friction_law(law):
    system = stick(pl.HuntCrossley(stiffness=1e6, restitution=0.6), FRICTION[law], speed=0.3)
    assert worst(system, 0.25, ["drop", "spin"], 1e-3) < ENOUGH


def test_through_damped_stops_switches_events_and_prescribed_motions():
    stiffness, damping, limit = pl.Parameter("stiffness", 500.0), pl.Parameter("damping", 3.0), pl.Parameter("limit", 0.6)
    swing, threshold, torque = pl.Parameter("swing", 0.7), pl.Parameter("threshold", 0.2), pl.Parameter("torque", 2.0)
    system = pl.System("arm", gravity=(0.0, -9.81))
    stops = pl.Limits(low=-limit, high=limit, stiffness=stiffness, damping=damping)
    arm = system.add("arm", pl.RigidBody(mass=1.0, inertia=0.05, com=(0.3, 0.0), tip=(0.6, 0.0)),
                     joint=pl.Revolute(angle=0.4, limits=stops))  # fmt: skip
    link = pl.RigidBody(mass=0.4, inertia=0.02, com=(0.1, 0.0), tip=(0.2, 0.0))
    system.add("driven", link, joint=pl.Revolute(motion={"angle": lambda t: swing * pl.sin(5.0 * t)}), on=arm.tip)
    system.add("free", link, joint=pl.Revolute(angle=0.2), on=arm.tip)
    system.drive("push", "arm.angle", lambda t, q, v: pl.where(q["arm.angle"] > threshold, -torque, torque))
    system.event("passes", lambda t, q, v: q["arm.angle"] - 0.05 * swing)
    names = ["stiffness", "damping", "limit", "swing", "threshold", "torque"]
    steps = {**dict.fromkeys(names, 1e-3), "stiffness": 1e-2}  # a stiff stop matters so little that differences need a larger step
    assert worst(system, 1.2, names, steps) < ENOUGH
    found = pl.sensitivities(system, 1.2, names, method=FINE, control=True)
    assert {event.name for event in found.events} == {event.name for event in found.result.events} and len(found.events) == 5
    for k, name in enumerate(names):
        times, _ = by_parameter(system, 1.2, name, lambda run: np.array([event.t for event in run.events]), steps[name])
        assert relative(np.array([event.time[k] for event in found.events]), times) < ENOUGH, name


def test_an_event_that_stops_the_run_has_a_time_that_changes():
    gravity, height = pl.Parameter("gravity", 9.81), pl.Parameter("height", 0.8)
    system = pl.System("falling", gravity=(0.0, -gravity))
    system.add("ball", pl.RigidBody(mass=1.0, inertia=1.0), joint=pl.Prismatic(displacement=height, axis="y"))
    system.event("lands", lambda t, q, v: q["ball.displacement"], stop=True)
    found = pl.sensitivities(system, 1.0, ["gravity", "height"], method=FINE)
    t = math.sqrt(2.0 * 0.8 / 9.81)
    assert found.events[0].name == "lands" and found.events[0].t == pytest.approx(t, abs=1e-11)
    assert found.events[0].time == pytest.approx([-0.5 * t / 9.81, 0.5 * t / 0.8], rel=1e-9)


def test_tables_whose_breakpoints_are_parameters():
    """The published telescopic arm: forward until `switch`, then back."""
    torque, switch, young = pl.Parameter("torque", 10.0), pl.Parameter("switch", 0.3), pl.Parameter("young", telescopic.YOUNG)
    extension, mass = pl.Parameter("extension", telescopic.START), pl.Parameter("mass", telescopic.MU)
    system = pl.System("telescopic", gravity=(0.0, 0.0))
    section = pl.Section(A=telescopic.AREA, Iz=telescopic.INERTIA, Iy=telescopic.INERTIA)
    system.add("arm", pl.TelescopicBeam(length=1.0, section=section, material=pl.Material(E=young, G=telescopic.SHEAR),
                                        mass_per_length=mass, modes=pl.Modes("cf", 1, normalise="length"), extension=extension,
                                        on_sleeve_end="continue"), joint=pl.Revolute())  # fmt: skip
    system.drive("tau", "arm.angle", pl.PiecewiseConstant((0.0, switch, 0.6), (torque, -torque, 0.0)))
    system.drive("F", "arm.extension", pl.PiecewiseConstant((0.0, switch, 0.6), (5.0, -5.0, 0.0)))
    assert worst(system, 0.7, ["torque", "switch", "young", "extension", "mass"]) < ENOUGH


def test_the_tipping_arm_through_its_first_impact():
    young, length = pl.Parameter("young", tipping.YOUNG), pl.Parameter("length", tipping.LENGTH)
    gravity, stiffness = pl.Parameter("gravity", 9.81), pl.Parameter("stiffness", tipping.STIFFNESS)
    system = pl.System("tipping arm", gravity=(0.0, gravity))
    arm = pl.Beam(length=length, section=pl.Section(A=tipping.AREA, Iz=tipping.INERTIA), theory="euler-bernoulli",
                  material=pl.Material(E=young, density=tipping.DENSITY), modes=pl.Modes("cf", 2), stiffening="full")  # fmt: skip
    link = system.add("arm", arm, joint=pl.Revolute(angle=tipping.START))
    system.contact(points=link.tip, against=pl.Plane(normal=(1, 0)), normal=pl.Hertz(stiffness=stiffness), name="wall")
    steps = {"young": 1e-4, "length": 1e-4, "gravity": 1e-4, "stiffness": 1e-2}
    assert worst(system, 0.382, list(steps), steps) < ENOUGH


def test_the_slider_crank_with_multipliers_through_its_impact():
    """Lengths change the assembled start too."""
    speed, radius, rod = pl.Parameter("speed", crank.SPEED), pl.Parameter("radius", crank.CRANK), pl.Parameter("rod", crank.ROD)
    mass, stiffness = pl.Parameter("mass", crank.SLIDER_MASS), pl.Parameter("stiffness", 1e9)
    lean = -math.asin(crank.CRANK * math.sin(crank.START) / crank.ROD)
    turn = -crank.CRANK * math.cos(crank.START) * crank.SPEED / (crank.ROD * math.cos(lean))
    system = pl.System("slider-crank", gravity=(0.0, 0.0))
    first = system.add("crank", pl.RigidBody.rod(radius, crank.SLIDER_MASS), joint=pl.Revolute(angle=crank.START, rate=speed))
    link = pl.Beam(length=rod, section=crank.SECTION, material=crank.STEEL, theory="euler-bernoulli",
                   modes=(pl.AxialElements(1), pl.ElementModes(1, reference="simply-supported")), stiffening="none")  # fmt: skip
    arm = system.add("rod", link, joint=pl.Revolute(angle=lean - crank.START, rate=turn - speed), on=first.tip)
    slider = system.add("slider", pl.RigidBody(mass=mass, inertia=0.01), on=arm.tip, joint=pl.Revolute(angle=-lean, rate=-turn))
    system.close("guide", "prismatic", slider.root, system.ground, axis="x")
    law = pl.LankaraniNikravesh(stiffness=stiffness, restitution=crank.RESTITUTION)
    obstacle = pl.Sphere(system.ground.moved((crank.OBSTACLE, 0.0)), crank.SPHERE)
    system.contact(points=pl.Sphere(slider.root, crank.SPHERE), against=obstacle, normal=law, name="obstacle")
    steps = {"speed": 1e-4, "radius": 1e-4, "mass": 1e-4, "stiffness": 1e-2}
    assert len(pl.simulate(system, 0.04).contacts) == 1
    assert worst(system, 0.04, list(steps), steps) < ENOUGH


def test_the_parallel_robot_with_springs():
    stiffness, damping = pl.Parameter("stiffness", 1e5), pl.Parameter("damping", 20.0)
    mass = pl.Parameter("mass", robot.MASS_PLATFORM)
    system = pl.System("robot", gravity=(0.0, 0.0))
    position, velocity, _ = robot.rose(0.0)
    start, tips = robot.efforts_on_the_rose(0.0), []
    for k, leg in enumerate(robot.LEGS):
        first = start.legs[k]
        shoulder = pl.Revolute(angle=first.upper, rate=first.rates[0])
        elbow = pl.Revolute(angle=first.elbow, rate=first.rates[1] - first.rates[0])
        base = system.ground.moved(robot.BASE_PINS[k])
        upper = system.add(f"upper {leg}", pl.RigidBody.rod(robot.UPPER, robot.MASS_UPPER), joint=shoulder, on=base)
        lower = system.add(f"lower {leg}", pl.RigidBody.rod(robot.LOWER, robot.MASS_LOWER), joint=elbow, on=upper.tip)
        tips.append(lower.tip)
        system.drive(f"motor {leg}", f"upper {leg}.angle", 2.0 - k)
    pins = dict(zip(robot.LEGS, robot.PLATFORM_PINS, strict=True))
    platform = system.add("platform", pl.RigidBody(mass=mass, inertia=robot.INERTIA_PLATFORM, frames=pins),
                          joint=pl.Planar(position=position, velocity=velocity))  # fmt: skip
    for leg, tip in zip(robot.LEGS, tips, strict=True):
        system.close(f"pin {leg}", "point", tip, platform.at(leg), by="springs", stiffness=stiffness, damping=damping)
    assert worst(system, 0.1, ["stiffness", "mass", "damping"], 1e-2) < ENOUGH


CHAIN_STEPS = {"stiffness": 1e-2, "mu": 1e-2, "damping": 3e-2, "drop": 1e-4, "gravity": 1e-4, "angle": 1e-5}  # of differences


@pytest.mark.parametrize("angle", [29.0, 30.0])
def test_ten_parameters_of_the_falling_chain_through_its_first_five_impacts(angle):
    """At 30 degrees, as published, both ends hit at once; turned, they do not, and differences have no second order there."""
    system = falling_chain(angle)
    names = [name for name in PARAMETERS if angle != 30.0 or name != "angle"]
    t_end = 0.44 if angle == 30.0 else 0.52
    found = pl.sensitivities(system, t_end, names, method=FINE, control=True, save=[t_end])
    assert found.ok and len(found.contacts) >= 5
    for k, name in enumerate(names):
        expected, _ = by_parameter(system, t_end, name, step=CHAIN_STEPS.get(name, 1e-3))
        assert relative(found.final[:, k], expected) < ENOUGH, name


# ---- where no derivative exists


def pendulum_above(clearance: float) -> pl.System:
    """Its tip passes the floor by so much, m; or dips into it."""
    length, height = pl.Parameter("length", 0.5), pl.Parameter("height", 0.5 + clearance)
    system = pl.System("pendulum", gravity=(0.0, -9.81))
    arm = pl.RigidBody(mass=1.0, inertia=0.01, com=(length, 0.0), tip=(length, 0.0))
    bob = system.add("bob", arm, joint=pl.Revolute(angle=0.0), on=system.ground.moved((0.0, height)))
    system.contact(points=bob.tip, against=pl.Plane(normal=(0, 1)), normal=pl.Hertz(stiffness=1e5), name="floor")
    return system


def no_nan(found: pl.study.sensitivities.Sensitivities) -> bool:
    numbers = [found.table[name].values for name in found.table.data_vars]
    numbers += [value for contact in found.contacts for value in contact.values.values()]
    numbers += [event.time for event in found.events] + [*found.ledger.held.values(), *found.ledger.work.values()]
    return all(np.all(np.isfinite(number)) for number in numbers)


@pytest.mark.parametrize("clearance", [1e-2, 1e-6, -1e-6, -1e-2])
def test_a_clear_miss_and_a_clear_hit_have_derivatives(clearance):
    found = pl.sensitivities(pendulum_above(clearance), 0.7, ["length", "height"], rtol=1e-8)
    assert found.ok and found.final is not None and no_nan(found)
    assert len(found.contacts) == (clearance < 0.0)


def test_a_grazing_contact_is_said_and_derivatives_end_there():
    found = pl.sensitivities(pendulum_above(-1e-10), 0.7, ["length", "height"], rtol=1e-8)
    assert not found.ok and found.final is None and no_nan(found)
    (said,) = found.undefined
    assert said.name == "floor bob.tip" and "grazes" in said.reason and "number of impacts" in str(said)
    assert said.t == pytest.approx(0.42687, abs=1e-4) and found.until == said.t
    assert found.time[-1] <= said.t and found.table.sizes["time"] == np.count_nonzero(found.result.time <= said.t)
    assert found.contacts == ()


def test_an_impact_that_hardly_fails_to_happen_is_said_too():
    found = pl.sensitivities(pendulum_above(1e-10), 0.7, ["length", "height"], rtol=1e-8)
    (said,) = found.undefined
    assert "missed by 1e-10 m" in said.reason and said.name == "floor bob.tip" and no_nan(found)


def swinging(kind: str, beyond: float) -> pl.System:
    """A mass on a spring whose amplitude ends `beyond` short of where something happens."""
    amplitude, limit = pl.Parameter("amplitude", 0.3), pl.Parameter("limit", 0.3 + beyond)
    limits = pl.Limits(low=-5.0, high=limit, stiffness=1e4, damping=50.0) if kind == "damped stop" else None
    system = pl.System("swinging", gravity=(0.0, 0.0))
    joint = pl.Prismatic(displacement=-amplitude, axis="x", spring=pl.Spring(stiffness=100.0), limits=limits)
    system.add("mass", pl.RigidBody(mass=1.0, inertia=1.0), joint=joint)
    pushes = {
        "jump": lambda t, q, v: pl.where(q["mass.displacement"] > limit, -50.0, 0.0),
        "corner": lambda t, q, v: -1e3 * pl.where(q["mass.displacement"] > limit, q["mass.displacement"] - limit, 0.0),
    }
    if kind in pushes:
        system.drive("push", "mass.displacement", pushes[kind])
    if kind in ("end", "record"):
        system.event("there", lambda t, q, v: q["mass.displacement"] - limit, stop=kind == "end")
    return system


@pytest.mark.parametrize("kind", ["damped stop", "jump", "end"])
def test_what_is_only_just_reached_or_missed_and_would_change_the_run_is_said(kind):
    for beyond in (1e-8, 0.0, -1e-7):
        found = pl.sensitivities(swinging(kind, beyond), 0.5, ["amplitude", "limit"], rtol=1e-6, of="q")
        (said,) = found.undefined
        assert not found.ok and found.final is None and said.t == pytest.approx(0.1 * math.pi, abs=1e-3) == found.until
    for beyond in (1e-4, -1e-4):
        assert pl.sensitivities(swinging(kind, beyond), 0.5, ["amplitude", "limit"], rtol=1e-8, of="q").ok


def test_a_corner_that_is_only_just_reached_or_missed_leaves_derivatives_alone():
    found = pl.sensitivities(swinging("corner", 1e-8), 0.5, ["amplitude", "limit"], rtol=1e-6, of="q")
    assert found.ok and found.final[0] == pytest.approx([-math.cos(5.0), 0.0], abs=1e-5)


def test_the_time_of_an_event_that_only_just_happens_has_no_derivative():
    system = swinging("record", -1e-7)
    found = pl.sensitivities(system, 0.5, ["amplitude", "limit"], rtol=1e-6, of="q")
    assert found.ok and len(found.result.events) == 2 and found.events == ()
    run = Runner("optimise", system, 0.5, ["amplitude"], {}, {"rtol": 1e-6}).at({"amplitude": 0.3})
    with pytest.raises(pl.SolveError, match="'there': its time has no derivative, because it only just happens"):
        run.event_time("there")


def test_a_start_on_the_zero_of_a_contact_is_said_where_theta_decides_which_side_it_is_on():
    stiffness, height = pl.Parameter("stiffness", 1e4), pl.Parameter("height", 0.0)
    system = pl.System("resting", gravity=(0.0, -9.81))
    ball = system.add("ball", pl.RigidBody(mass=1.0, inertia=1.0), joint=pl.Prismatic(displacement=height, axis="y"))
    system.contact(points=ball.root, against=pl.Plane(normal=(0, 1)), normal=pl.Hertz(stiffness=stiffness), name="floor")
    found, exact = (pl.sensitivities(system, 0.01, names) for names in (["stiffness", "height"], ["stiffness"]))
    said, jumps = found.warnings  # a difference stands for what does not exist, and it is none either
    assert said.startswith("derivatives by height are differences of runs: t = 0 s: floor ball.root: it starts")
    assert jumps.startswith("the run jumps where height changes") and not found.ok and found.final is None and no_nan(found)
    assert np.array_equal(found.table["q"].values[..., 0], exact.table["q"].values[..., 0])
    assert exact.ok and exact.warnings == ()


def test_what_is_in_doubt_follows_the_tolerance():
    for rtol, doubtful in ((1e-6, True), (1e-10, False)):
        for clearance in (1e-8, -1e-8):
            found = pl.sensitivities(pendulum_above(clearance), 0.7, ["length", "height"], rtol=rtol)
            assert found.ok is not doubtful, (rtol, clearance)


def test_a_chaotic_run_ends_where_tolerances_no_longer_tell_how_many_impacts_there_are():
    """The falling chain has 26 impacts in 1.5 s; at rtol 1e-6 a run of it counts otherwise, and the derivatives know."""
    system = falling_chain()
    rough = pl.sensitivities(system, 1.0, PARAMETERS, rtol=1e-6, method=pl.DOP853(1e-6, 1e-9), of="q")
    assert not rough.ok and 0.9 < rough.until < 1.0 and no_nan(rough)
    fine = pl.sensitivities(system, 1.0, PARAMETERS, method=pl.DOP853(1e-10, 1e-13), of="q")
    assert fine.ok
