"""Structure is code, numbers are data: whatever a trace reads of a System it reads from the vector of numbers."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace

import pytest

import mechanisms
import pliant as pl
from changed_numbers import check_numbers_are_read
from pliant.codegen.graph import Graph
from pliant.codegen.numbers import Numbers
from pliant.gallery.falling_chain import falling_chain
from pliant.gallery.representative import REPRESENTATIVES
from pliant.run.prepare import STRUCTURES
from pliant.trace.lowering import lower, numbered
from pliant.trace.tracing import Trace, lower_system


def geared(start=0.3):
    system = pl.System("gears", gravity=(0, -9.81))
    for name, angle in (("sun", start), ("planet", -0.2)):
        wheel = pl.RigidBody(mass=0.4, inertia=0.02, com=(0.1, 0.03))
        system.add(name, wheel, joint=pl.Revolute(angle=angle), on=system.ground.moved((0.3 * len(name), 0.0)))
    system.close("mesh", "gear", "sun.angle", "planet.angle", ratio=-1.7)
    return system


def with_elements():
    """Struts, stops with laws, play, motors: every number of theirs that equations may read."""
    system = pl.System("elements", gravity=(0, -9.81))
    wheel = pl.RigidBody(mass=0.4, inertia=0.02, com=(0.1, 0.03), tip=(0.3, 0.1))
    stop, soft = pl.Limits(low=-0.31, high=0.37, stiffness=210.0, restitution=0.63), pl.Limits(low=-0.2, high=0.4, stiffness=31.0)
    play = pl.Backlash(gap=0.013, centre=0.021, stiffness=170.0, damping=0.7)
    sun = system.add("sun", wheel, joint=pl.Revolute(angle=0.3, limits=stop))
    system.add("planet", wheel, joint=pl.Revolute(angle=-0.2, backlash=play), on=sun.tip)
    system.add("ring", wheel, joint=pl.Revolute(angle=0.1, limits=soft), on=system.ground.moved((0.6, 0.0)))
    law = pl.HuntCrossley(stiffness=900.0, restitution=0.8, exponent=1.3)
    system.close("mesh", "gear", "sun.angle", "ring.angle", ratio=-1.7, backlash=pl.Backlash(gap=0.02, normal=law))
    system.strut("jack", sun.tip, system.ground.moved((0.2, 0.9)), stiffness=130.0, rest=0.47, damping=1.9, force=2.3)
    line = {"stall_torque": 0.7, "no_load_speed": 310.0, "time_constant": 0.013, "max_torque": 0.6, "damping": 3e-4}
    electrical = {"constant": 0.06, "resistance": 0.9, "inductance": 2e-3, "max_current": 7.0, "efficiency": 0.83}
    system.motor("servo", "sun.angle", pl.Motor(inertia=3e-5, ratio=40.0, **electrical), command=11.0)
    system.motor("fan", "ring.angle", pl.Motor(inertia=2e-5, ratio=12.0, back_efficiency=0.71, **line), command=0.6)
    system.motor("wrist", "planet.angle", pl.Motor(inertia=4e-5, ratio=9.0, gear_stiffness=57.0, gear_damping=0.41), command=0.2)
    return system


SYSTEMS = {"geared": geared, "elements": with_elements, **mechanisms.ALL, **{one.name: one.build for one in REPRESENTATIVES}}


@pytest.mark.parametrize("formulation", ["articulated", "lagrange"])
@pytest.mark.parametrize("build", SYSTEMS.values(), ids=SYSTEMS)
def test_functions_for_changed_numbers_are_those_of_a_trace_with_these_folded_in(build, formulation):
    try:
        check_numbers_are_read(build(), formulation)
    except pl.ModelError:
        pytest.skip("a form as published, which has no energy to differentiate")


@pytest.mark.parametrize("build", SYSTEMS.values(), ids=SYSTEMS)
def test_no_number_is_frozen_but_exponents(build):
    lowered, numbers = lower_system(build(), still=True), Numbers(Graph())
    system, tree, near, _, _, scale, *_ = numbered(lowered.root, numbers.leaf)
    start = replace(lowered.start, scale=scale)
    Trace(system, lowered.formulation, near, lowered.t_start, tree, start).finish(lowered, numbers, None)
    assert all((2.0 * x).is_integer() for x in numbers.frozen), numbers.frozen
    assert len(numbers.leaves) == lowered.numbers.size
    assert [leaf.value for leaf in numbers.leaves] == lowered.numbers.tolist()


def test_equal_structures_are_equal_and_numbers_are_not_in_them():
    light, heavy = (mechanisms.planar_chain(3) for _ in range(2))
    heavy.gravity = (0.0, -1.62, 0.0)
    light, heavy = (lower(lower_system(system).root) for system in (light, heavy))
    assert light.structure == heavy.structure
    assert light.numbers != heavy.numbers


def test_a_number_that_becomes_zero_is_another_structure():
    some, none = falling_chain(), falling_chain()
    none.gravity = (0.0, 0.0, 0.0)
    assert lower_system(some).lowered.structure != lower_system(none).lowered.structure


def test_a_value_that_machine_code_rounds_otherwise_is_the_same():
    """Quotients by one divisor become products with its reciprocal; a law may freeze one all the same."""
    scale = pl.Parameter("scale", 0.7)

    def law(depth, rate, entry):
        return 1e6 * (depth / scale + depth ** (1.05 / scale) + depth ** (2.1 / scale) + depth ** (3.15 / scale))

    system = pl.System("ball", gravity=(0, -9.81))
    ball = system.add("ball", pl.RigidBody(mass=1.0), joint=pl.Prismatic(axis="y", displacement=0.01))
    system.contact(points=ball.root, against=pl.Plane(normal=(0, 1)), normal=law)
    assert pl.simulate(system, 0.1).ok
    assert pl.simulate(system, 0.1, parameters={"scale": 0.35}).ok


def test_a_gear_counts_from_its_own_start_whoever_ran_before():
    def turned(start):
        return pl.simulate(geared(start), 0.5)["planet.angle"][-1]

    STRUCTURES.clear()
    alone = turned(0.8)
    STRUCTURES.clear()
    assert turned(0.3) != alone
    assert turned(0.8) == alone


def test_starts_are_in_neither():
    one, other = (mechanisms.planar_chain(2) for _ in range(2))
    link = next(iter(other.links.values()))
    other.links[link.name] = replace(link, joint=replace(link.joint, angle=0.77))
    first, second = lower_system(one).lowered, lower_system(other).lowered
    assert first.structure == second.structure
    assert first.numbers == second.numbers


def test_parts_say_what_of_them_is_outside_the_equations():
    """Every field a class names as such is one of its fields."""
    from pliant.trace.lowering import OUTSIDE, PRESENCE

    kinds = [kind for kind in (getattr(pl, name) for name in pl.__all__) if isinstance(kind, type) and is_dataclass(kind)]
    for kind in kinds:
        own = {field.name for field in fields(kind)}
        for attribute in (*OUTSIDE, PRESENCE):
            assert own >= set(getattr(kind, attribute, ())), kind
