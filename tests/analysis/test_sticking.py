"""Friction inside joints at rest and in small motions: its slopes, against the law and a run's equations; and what sticks."""

import numpy as np
import pytest

import pliant as pl
from pliant.run.prepare import compile_system

G, RADIUS = 9.81, 0.02
DRY = pl.DryFriction(mu_static=0.4, mu_kinetic=0.3)
STRIBECK = pl.Stribeck(mu_static=0.4, mu_kinetic=0.3, v_stribeck=0.01, viscous=0.1)
LUGRE = pl.LuGre(sigma0=1e3, sigma1=1.0, sigma2=0.1, mu_static=0.4, mu_kinetic=0.3, v_stribeck=0.01)


def pendulum(law, angle=-1.4):
    system = pl.System("pendulum", gravity=(0, -G))
    joint = pl.Revolute(angle=angle, friction=pl.JointFriction(law, radius=RADIUS))
    system.add("rod", pl.RigidBody.rod(1.0, 2.0), joint=joint)
    return system


def arm(law):
    """Two rods in motion, one pin preloaded, the other in a guide."""
    system = pl.System("arm", gravity=(0, -G))
    shoulder = pl.Revolute(angle=0.3, rate=0.7, friction=pl.JointFriction(law, radius=RADIUS, preload=3.0))
    upper = system.add("upper", pl.RigidBody.rod(0.5, 0.6), joint=shoulder)
    elbow = pl.Revolute(angle=0.1, rate=-1.3, friction=pl.JointFriction(law, radius=0.015, guide=0.05))
    system.add("fore", pl.RigidBody.rod(0.4, 0.4), joint=elbow, on=upper.tip)
    return system


def loop(law):
    system = pl.System("four-bar", gravity=(0, -G))
    pin = pl.JointFriction(law, radius=0.01)
    crank = system.add("crank", pl.RigidBody.rod(0.3, 0.4), joint=pl.Revolute(angle=1.2, rate=2.0, friction=pin))
    coupler = system.add("coupler", pl.RigidBody.rod(0.8, 0.4), joint=pl.Revolute(angle=-1.0, friction=pin), on=crank.tip)
    rocker = system.add("rocker", pl.RigidBody.rod(0.6, 0.4), joint=pl.Revolute(angle=1.8, friction=pin),
                        on=system.ground.moved((0.9, 0.0)))  # fmt: skip
    system.close("pin", "revolute", coupler.tip, rocker.tip, friction=pin)
    return system


def test_a_smooth_law_damps_a_resting_joint_by_its_slope():
    """mu N r^2/v_t, of tanh(v/v_t), at the weight."""
    law = pl.Coulomb(mu=0.3)
    linear = pl.linearise(pendulum(law))
    assert linear.damping[0, 0] == pytest.approx(0.3 * 2.0 * G * RADIUS**2 / law.transition, rel=1e-7)
    assert linear.K[0, 0] == pytest.approx(G, rel=1e-9)


@pytest.mark.parametrize("law", [pl.Coulomb(mu=0.3), DRY, STRIBECK, LUGRE], ids=lambda law: type(law).__name__)
def test_a_moving_arm_is_linearised_as_the_equations_of_its_run(law):
    system = arm(law)
    run = pl.simulate(system, 0.05, method=pl.DOP853(rtol=1e-11, atol=1e-13))
    linear, compiled, state = pl.linearise(system, at=run), compile_system(system), run.final_state
    p = compiled.traced.parameters_at(state.t)
    for joint in compiled.traced.joints:
        if joint.grip is not None:
            p[joint.grip : joint.grip + 4] = state.grips[joint.label]
    slopes = np.empty((len(linear.states), len(linear.states)))
    for k in range(len(linear.states)):
        aside = np.zeros(state.y.size)
        aside[k] = 1e-6
        ahead, behind = (compiled.rhs(state.t, state.y + sign * aside, p) for sign in (1.0, -1.0))
        slopes[:, k] = (ahead - behind)[: len(linear.states)] / 2e-6
    assert np.max(np.abs(slopes - linear.A)) < 1e-6 * np.max(np.abs(slopes))


@pytest.mark.parametrize("law", [DRY, STRIBECK, LUGRE], ids=lambda law: type(law).__name__)
def test_friction_of_closures_presses_the_others_as_in_a_run(law):
    system = loop(law)
    run = pl.simulate(system, 0.05, method=pl.DOP853(rtol=1e-11, atol=1e-13))
    linear = pl.linearise(system, at=run, outputs=["joint_load", "joint_friction"])
    (name,) = linear.coordinates
    expected = run.values["a"][-1, list(run.labels["rate"]).index(name)]
    assert linear.drift[1] == pytest.approx(expected, rel=1e-9)
    assert linear.y0 == pytest.approx([*run.values["joint_load"][-1], *run.values["joint_friction"][-1]], rel=1e-8)


@pytest.mark.parametrize("law", [DRY, pl.Karnopp(mu_static=0.4, mu_kinetic=0.3)], ids=lambda law: type(law).__name__)
def test_an_equilibrium_says_what_sticking_friction_holds_and_how_far_aside(law):
    rest = pl.equilibrium(pendulum(law))
    strength = 0.4 * 2.0 * G * RADIUS
    assert rest["rod.angle"] == pytest.approx(-np.pi / 2, abs=1e-9) and rest.friction == pytest.approx({"rod.angle": strength})
    assert f"friction holds rod.angle against up to {strength:.3g} N m" in rest.message
    assert f"may rest up to {strength / G:.3g} rad to either side" in rest.message  # its stiffness is m g L/2 = 9.81 N m/rad
    for aside, stays in ((0.9, True), (1.1, False)):
        moved = pl.simulate(pendulum(law, angle=-np.pi / 2 + aside * np.arcsin(strength / G)), 0.5)
        assert bool(np.ptp(moved["rod.angle"]) < 1e-6) is stays


def test_a_linearisation_leaves_out_what_sticks_and_says_so():
    linear = pl.linearise(pendulum(DRY))
    assert linear.damping[0, 0] == 0.0
    assert any("friction holds rod.angle against up to 0.157 N m at" in word for word in linear.warnings)


def test_a_slider_that_only_friction_holds_is_refused_with_a_word_about_it():
    system = pl.System("slider", gravity=(1.0, -G))
    system.add("slider", pl.RigidBody(mass=1.0, inertia=0.05), joint=pl.Prismatic(friction=pl.JointFriction(DRY)))
    assert np.ptp(pl.simulate(system, 0.1)["slider.displacement"]) < 1e-9
    with pytest.raises(pl.SolveError, match=r"nothing holds slider\.displacement: .*\(the friction inside the joint may hold it"):
        pl.equilibrium(system)


def test_friction_alone_may_hold_a_rotor():
    system = pl.System("rotor", gravity=(0, -G))
    system.add("rotor", pl.RigidBody(mass=1.0, inertia=0.05), joint=pl.Revolute(friction=pl.JointFriction(DRY, radius=RADIUS)))
    assert "friction alone holds rotor.angle" in pl.equilibrium(system).message


def test_a_held_joint_tells_its_effort_and_what_friction_takes_of_it():
    rest = pl.equilibrium(pendulum(DRY), hold={"rod.angle": 0.0})
    assert rest.efforts == pytest.approx({"rod.angle": G}) and rest.friction == pytest.approx({"rod.angle": 0.4 * 2.0 * G * RADIUS})
