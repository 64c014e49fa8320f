"""Equations of statics and linearisation are traced once for all Systems of a structure, and give what a trace of each would."""

from __future__ import annotations

import time

import numpy as np
import pytest

import pliant as pl
from pliant.analysis import implicit_equations
from pliant.analysis.implicit_equations import ImplicitEquations
from pliant.analysis.symbolic_equations import SymbolicEquations

HEAVY, STIFF, LEVEL, MU = (pl.Parameter(*each) for each in (("heavy", 1.3), ("stiff", 20.0), ("level", 0.5), ("mu", 0.1)))


@pytest.fixture
def traces(monkeypatch):
    """How many traces have been made; none is known at the start."""
    made = []
    first = SymbolicEquations.__init__

    def counted(self, *arguments):
        made.append(self)
        first(self, *arguments)

    monkeypatch.setattr(SymbolicEquations, "__init__", counted)
    forget()
    return made


def forget():
    implicit_equations.KEPT.clear()
    implicit_equations.STRUCTURES.clear()


def elastica(load, segments=8):
    """A clamped strip under a load at its tip, in E I / l^2."""
    strip = pl.Beam(length=1.0, section=pl.Section.rectangle(height=0.002, width=0.02), material=pl.STEEL,
                    theory="euler-bernoulli", modes=pl.Modes("cf", 1))  # fmt: skip
    system = pl.System("elastica", gravity=(0, 0))
    rod = system.add("rod", pl.segmented(strip, segments), joint=pl.Weld())
    system.force("load", rod.tip, (0.0, load * pl.STEEL.E * strip.section.Iz))
    return system


def arm(spring=STIFF):
    """Two links with springs, dry and smooth friction, a formula, and a floor that a tip may touch."""
    system = pl.System("arm", gravity=(0, -9.81))
    smooth = pl.JointFriction(pl.Coulomb(mu=MU), radius=0.02, preload=5.0)
    upper = system.add(
        "upper", pl.RigidBody.rod(1.0, HEAVY), joint=pl.Revolute(angle=-0.3, spring=pl.Spring(spring), friction=smooth)
    )
    fore = system.add("fore", pl.RigidBody.rod(1.0, 0.5), joint=pl.Revolute(angle=0.2, spring=pl.Spring(5.0)), on=upper.tip)
    system.force("wind", fore.tip, (lambda t, q, v: LEVEL * pl.cos(q["upper.angle"]), 0.0))
    system.contact(
        points=fore.tip,
        against=pl.Plane(point=(0.0, -1.6), normal=(0.0, 1.0)),
        normal=pl.HuntCrossley(stiffness=1e4, restitution=0.5),
    )
    return system


def four_bar(coupler):
    system = pl.System("four-bar", gravity=(0, -9.81))
    crank = system.add("crank", pl.RigidBody.rod(0.4, 1.0), joint=pl.Revolute(angle=1.0, spring=pl.Spring(3.0)))
    rod = system.add("rod", pl.RigidBody.rod(coupler, 1.0), joint=pl.Revolute(angle=-1.0), on=crank.tip)
    rocker = system.add("rocker", pl.RigidBody.rod(0.5, 1.0), joint=pl.Revolute(angle=-1.0), on=rod.tip)
    system.close("pin", "revolute", rocker.tip, system.ground.moved((1.0, 0.0)))
    return system


def numbers(found):
    return np.concatenate([np.ravel(value) for value in found.values.values()])


def test_other_loads_and_fresh_systems_of_a_structure_share_two_traces(traces):
    found = [pl.equilibrium(elastica(load, 3)) for load in (1.0, 2.0, 5.0)]
    assert len(traces) == 2  # of what is still, and of what moves
    for load, rest in zip((1.0, 2.0, 5.0), found, strict=True):
        forget()
        alone = pl.equilibrium(elastica(load, 3))
        assert numbers(rest) == pytest.approx(numbers(alone), rel=1e-12, abs=1e-12) and rest.message == alone.message


def test_parameters_share_them_too_in_springs_masses_formulas_loops_and_contacts(traces):
    settings = [{"heavy": 1.4}, {"heavy": 3.0}, {"stiff": 7.0}, {"level": 0.1}, {"heavy": 2.2, "stiff": 3.0, "mu": 0.3}]
    system = arm()
    found = [pl.equilibrium(system, parameters=values) for values in settings]
    lines = [pl.linearise(system, at=rest, inputs=("stiff",)) for rest in found]
    assert len(traces) == 2
    assert any(one.closed for one in found[-1].contacts.values()) and not any(one.closed for one in found[0].contacts.values())
    for values, rest, line in zip(settings, found, lines, strict=True):
        forget()
        alone = pl.equilibrium(arm(), parameters=values)
        assert numbers(rest) == pytest.approx(numbers(alone), rel=1e-9, abs=1e-9) and rest.warnings == alone.warnings
        other = pl.linearise(arm(), at=alone, inputs=("stiff",))
        assert np.allclose(line.B, other.B, rtol=1e-7, atol=1e-7) and line.warnings == other.warnings and other.warnings


def test_loops_of_other_lengths_share_them(traces):
    found = [pl.equilibrium(four_bar(coupler)) for coupler in (0.8, 0.85, 0.9)]
    assert len(traces) == 2
    forget()
    assert numbers(pl.equilibrium(four_bar(0.9))) == pytest.approx(numbers(found[-1]), rel=1e-11, abs=1e-11)


def test_numbers_for_which_a_comparison_comes_out_otherwise_get_a_trace_of_their_own(traces):
    """Also if the function that compares them is asked for by another System than the one that was traced."""

    def compared(e):
        heavy = e.numbers.leaves[list(e.plain_values).index("heavy")]
        return [e.tracer.column([2.0 * heavy if heavy < 2.0 else 5.0 * heavy])]

    light, heavy = (ImplicitEquations(arm(), parameters={"heavy": mass}) for mass in (1.4, 3.0))
    assert light.symbols is heavy.symbols and len(traces) == 1
    values = {}
    for equations in (heavy, light):
        point = equations.point(0.0, equations.start_q, equations.start_v)
        values[equations] = float(equations.evaluate("compared", compared, point)[0][0, 0])
    assert values == {heavy: 15.0, light: 2.8} and len(traces) == 2


def test_formulas_that_may_change_unseen_are_traced_anew(traces):
    class Wind:
        strength = 1.0

        def __call__(self, t, q, v):
            return self.strength

    wind, found = Wind(), []
    system = pl.System("vane", gravity=(0, 0))
    vane = system.add("vane", pl.RigidBody.rod(1.0, 1.0), joint=pl.Revolute(spring=pl.Spring(20.0)))
    system.force("wind", vane.tip, (0.0, wind))
    for wind.strength in (1.0, 2.0):
        found.append(pl.equilibrium(system).coordinates["vane.angle"])
    assert found[1] > 1.9 * found[0]


def test_a_repeated_equilibrium_of_eight_segments_takes_milliseconds():
    pl.equilibrium(elastica(1.0))
    pl.equilibrium(elastica(2.0))
    seconds = []
    for load in (3.0, 4.0, 5.0):
        system = elastica(load)
        begin = time.perf_counter()
        rest = pl.equilibrium(system)
        seconds.append(time.perf_counter() - begin)
    assert rest["tip_position", "rod_8"][:2] == pytest.approx([0.6124, 0.7138], abs=1e-4) and rest.stable
    assert min(seconds) < 0.15  # 0.02 s on an idle machine; 3 s where it is traced each time
