"""Frequencies over a speed and over a parameter: each column one mode, through crossings."""

import math

import numpy as np
import pytest

import pliant as pl


def crossing():
    """Two blocks on springs that know nothing of each other; one spring is a parameter."""
    stiffness = pl.Parameter("stiffness", 10.0, low=0.0)
    system = pl.System("crossing", gravity=(0, 0))
    system.add("a", pl.RigidBody(mass=1.0, inertia=1.0), joint=pl.Prismatic(spring=pl.Spring(stiffness)))
    system.add("b", pl.RigidBody(mass=1.0, inertia=1.0), joint=pl.Prismatic(spring=pl.Spring(40.0)))
    return system


def test_modes_are_followed_through_a_crossing():
    values = np.linspace(10.0, 90.0, 9)
    diagram = pl.campbell(crossing(), over={"stiffness": values})
    assert not diagram.is_speed
    assert diagram.frequencies[:, 0] == pytest.approx(np.sqrt(values), rel=1e-12)
    assert diagram.frequencies[:, 1] == pytest.approx(np.full(9, math.sqrt(40.0)), rel=1e-12)
    assert np.all(diagram.damping_ratios == 0.0) and all(diagram.stable)


@pytest.mark.parametrize("modes", [pl.Modes("cf", 5, plane="z"), pl.Modes("cf", 8, plane="z"),
                                   pl.ElementModes(4, "cantilever", "z"), pl.ElementModes(7, "cantilever", "z")])  # fmt: skip
def test_a_turning_blade_stiffens_by_default_whatever_the_number_of_its_modes(modes):
    """Flap of a blade on an axle without radius at 12 sqrt(E I / mu) / L^2: 13.1702 of the same unit (Hodges, Rutkowski 1981)."""
    section = pl.Section.rectangle(height=0.02, width=0.004)
    blade = pl.Beam(length=1.0, section=section, material=pl.STEEL, theory="euler-bernoulli", modes=modes)
    unit = math.sqrt(pl.STEEL.E * section.Iy / (pl.STEEL.density * section.A))
    system = pl.System("rotor", gravity=(0, 0, 0))
    system.add("blade", blade, joint=pl.Revolute())
    found = pl.campbell(system, over={"blade.angle": [12.0 * unit]})
    assert found.warnings == ()
    assert found.frequencies[0, 0] / unit == pytest.approx(13.1702, rel=1e-3)


def test_a_disc_that_spins_on_springs_precesses_as_its_gyroscopic_moment_says():
    """I_t u'' - i I_p w u' + k u = 0 of the tilt u = a + i b: forward and backward roots."""
    across, polar, stiffness = 0.02, 0.03, 50.0
    system = pl.System("top", gravity=(0, 0, 0))
    springs = {"angle1": pl.Spring(stiffness), "angle2": pl.Spring(stiffness)}
    light = pl.RigidBody(mass=1e-9, inertia=(1e-15, 1e-15, 1e-15))
    cradle = system.add("cradle", light, joint=pl.Universal(axes=("y", "z"), spring=springs))
    system.add("disc", pl.RigidBody(mass=1.0, inertia=(polar, across, across)), joint=pl.Revolute(axis="x"), on=cradle.root)
    speeds = np.array([0.0, 20.0, 60.0])
    diagram = pl.campbell(system, over={"disc.angle": speeds})
    for row, speed in enumerate(speeds):
        roots = np.sort(np.abs(np.roots([across, -polar * speed, -stiffness])))
        assert np.sort(diagram.frequencies[row]) == pytest.approx(roots, rel=1e-8)
    assert diagram.is_speed


def test_growth_is_told():
    """A blade in the plane, without stiffening, softens with its speed: past its own frequency it runs away."""
    beam = pl.Beam(length=0.8, section=pl.Section(A=1e-4, Iz=6e-10), material=pl.Material(E=2e11), theory="euler-bernoulli",
                   mass_per_length=1.7, modes=pl.Modes("cf", 1), stiffening="none")  # fmt: skip
    system = pl.System("blade", gravity=(0, 0))
    system.add("blade", beam, joint=pl.Revolute())
    alone = 1.8751040687119611**2 * math.sqrt(120.0 / 1.7) / 0.8**2
    diagram = pl.campbell(system, over={"blade.angle": [0.5 * alone, 1.5 * alone]})
    assert diagram.stable == (True, False)
    assert diagram.frequencies[0, 0] == pytest.approx(math.sqrt(0.75) * alone, rel=1e-6)


def loaded(angle=0.0):
    """An arm with a payload as a parameter, a motor at its root and a soft link at its end."""
    payload = pl.Parameter("payload", 0.1, unit="kg", low=0.0)
    system = pl.System("loaded", gravity=(0, -9.81))
    arm = system.add("arm", pl.RigidBody.rod(0.6, 1.0), joint=pl.Revolute(angle=angle))
    tool = pl.RigidBody(mass=payload, com=(0.1, 0), inertia=1e-3)
    system.add("tool", tool, joint=pl.Revolute(spring=pl.Spring(30.0)), on=arm.tip)
    system.motor("m", "arm.angle", pl.Motor(inertia=3e-5, ratio=100.0), command=0.0)
    return system


def test_a_pose_that_is_held_is_kept_at_every_value_of_a_parameter():
    values = [0.1, 0.5]
    diagram = pl.campbell(loaded(), over={"payload": values}, hold={"arm.angle": "30 deg"})
    assert diagram.warnings == () and diagram.unit == "kg"
    assert diagram.pose == f"arm.angle held at {math.radians(30.0):.4g} rad" and diagram.pose in repr(diagram)
    for row, value in enumerate(values):
        held = pl.equilibrium(loaded(), parameters={"payload": value}, hold={"arm.angle": "30 deg"})
        alone = pl.linearise(loaded(), at=held, inputs=(), outputs=()).modes()
        assert np.sort_complex(diagram.eigenvalues[row]) == pytest.approx(np.sort_complex(alone.eigenvalues), rel=1e-9)
    assert "arm.angle held at 0.5236" in pl.plot.campbell(diagram).axes[0].get_title(loc="left")
    assert pl.plot.campbell(diagram).axes[0].get_xlabel() == "payload, kg"


def test_an_equilibrium_far_from_the_start_is_told_with_the_word_that_keeps_the_pose():
    diagram = pl.campbell(loaded(), over={"payload": [0.1, 0.5]})
    (said,) = diagram.warnings
    assert said.startswith(
        "payload = 0.1 and 1 more: the equilibrium was searched anew and is far from the start: arm.angle = -1.57"
    )
    assert "hold={'arm.angle': 0}" in said and diagram.pose == "each at its own equilibrium"
    assert pl.campbell(loaded(-1.5), over={"payload": [0.1]}).warnings == ()


def test_wrong_words_are_refused():
    with pytest.raises(pl.ModelError, match="over must name one coordinate or parameter"):
        pl.campbell(crossing(), over={})
    with pytest.raises(pl.ModelError, match=r"over must name one of .*did you mean 'stiffness'"):
        pl.campbell(crossing(), over={"stifness": [1.0]})
    with pytest.raises(pl.ModelError, match="must be a non-empty list of finite numbers"):
        pl.campbell(crossing(), over={"stiffness": [1.0, math.nan]})


def test_what_a_formula_reads_may_change_between_two_equilibria():
    """Equations are kept from call to call, but not of a formula that reads a list, which may change unnoticed."""
    pulled = [2.0]
    system = pl.System("slider", gravity=(0, 0))
    system.add("s", pl.RigidBody(mass=1.0, inertia=1.0), joint=pl.Prismatic(spring=pl.Spring(10.0)))
    system.drive("pull", "s.displacement", lambda t, q, v: pulled[0])
    assert pl.equilibrium(system)["s.displacement"] == pytest.approx(0.2)
    pulled[0] = 3.0
    assert pl.equilibrium(system)["s.displacement"] == pytest.approx(0.3)


def test_a_system_that_was_changed_has_an_equilibrium_of_its_own():
    system = pl.System("slider", gravity=(0, 0))
    system.add("s", pl.RigidBody(mass=1.0, inertia=1.0), joint=pl.Prismatic(spring=pl.Spring(10.0)))
    system.drive("pull", "s.displacement", 2.0)
    assert pl.equilibrium(system)["s.displacement"] == pytest.approx(0.2)
    system.drive("push", "s.displacement", -1.0)
    assert pl.equilibrium(system)["s.displacement"] == pytest.approx(0.1)
    assert pl.linearise(system, inputs=["push"]).u0 == pytest.approx([-1.0])
