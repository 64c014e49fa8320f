"""Structure is code, numbers are data: whatever a trace reads of a System it reads from the vector of numbers."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace

import numpy as np
import pytest

import mechanisms
import pliant as pl
from pliant.codegen.graph import Graph
from pliant.codegen.numbers import Numbers
from pliant.gallery.falling_chain import falling_chain
from pliant.gallery.representative import REPRESENTATIVES
from pliant.model.beam import Beam
from pliant.model.rigid import RigidBody
from pliant.model.signal import MotionTable, PiecewiseConstant, PiecewiseLinear
from pliant.run.prepare import STRUCTURES
from pliant.trace.lowering import _Copying, equation_fields, lower, numbered
from pliant.trace.tracing import Trace, lower_system, trace_lowered


def geared(start=0.3):
    system = pl.System("gears", gravity=(0, -9.81))
    for name, angle in (("sun", start), ("planet", -0.2)):
        wheel = pl.RigidBody(mass=0.4, inertia=0.02, com=(0.1, 0.03))
        system.add(name, wheel, joint=pl.Revolute(angle=angle), on=system.ground.moved((0.3 * len(name), 0.0)))
    system.close("mesh", "gear", "sun.angle", "planet.angle", ratio=-1.7)
    return system


SYSTEMS = {"geared": geared, **mechanisms.ALL, **{one.name: one.build for one in REPRESENTATIVES}}
CHANGE = 1e-3  # of every number: small enough for every branch to stay, large enough for a number that was folded in to show
AGREE = 1e-8  # modes are stiff, and Lagrange's way of differentiating loses digits; a number folded in would show by 1e-3
EXPONENTS = (1.5, 2.0, 2.5)  # become products: part of the structure


def changed(rng):
    """Every number by another factor."""
    return lambda x: x if x in EXPONENTS else x * (1.0 + CHANGE * rng.uniform(-1.0, 1.0))


def otherwise(value):
    """Numbers that no trace may read: all of them changed, zeros and ones too."""
    if isinstance(value, float):
        return 1.03 * value + 0.01
    return tuple(otherwise(x) for x in value) if isinstance(value, tuple) else value


class Changing(_Copying):
    """A copy with changed numbers; with others in what no equation reads, starts and bodies of the model."""

    def _copied(self, x):
        if isinstance(x, (Beam, RigidBody)):
            inside, copied = (), object.__new__(type(x))
        elif type(x) in (PiecewiseConstant, PiecewiseLinear, MotionTable):
            return super()._copied(x)  # p has the values of tables
        else:
            inside, copied = equation_fields(type(x)) if is_dataclass(x) else (), super()._copied(x)
        if not is_dataclass(x) or copied is x:
            return copied
        for field in fields(x):
            if field.name not in inside:
                object.__setattr__(copied, field.name, otherwise(getattr(x, field.name)))
        return copied


@pytest.mark.parametrize("formulation", ["articulated", "lagrange"])
@pytest.mark.parametrize("build", SYSTEMS.values(), ids=SYSTEMS)
def test_functions_for_changed_numbers_are_those_of_a_trace_with_these_folded_in(build, formulation):
    try:
        lowered = lower_system(build(), formulation, still=True)
    except pl.ModelError:
        pytest.skip("a form as published, which has no energy to differentiate")
    traced = trace_lowered(lowered, cache=None)
    rng, made = np.random.default_rng(7), []
    change = changed(rng)
    system, tree, near, _, _, scale = Changing(lambda x: made.append(change(x)) or made[-1]).visit(lowered.root)
    start = replace(lowered.start, scale=scale)
    folded = Trace(system, lowered.formulation, near, lowered.t_start, tree, start)
    other = folded.finish(lowered, Numbers(Graph()), None)
    assert len(made) == lowered.numbers.size
    constants = traced.preparation.constants(np.array(made))
    assert constants is not None
    p = other.parameters(0.0, 1.0)
    y = traced.y0 + 0.01 * rng.uniform(-1.0, 1.0, traced.y0.size)
    for name, function in traced.functions.items():
        got = np.array(function.casadi(0.3, y, np.concatenate([p, constants]))).ravel()
        want = np.array(other.functions[name].casadi(0.3, y, p)).ravel()
        assert got == pytest.approx(want, rel=AGREE, abs=AGREE * np.max(np.abs(want), initial=1e-300), nan_ok=True), name


@pytest.mark.parametrize("build", SYSTEMS.values(), ids=SYSTEMS)
def test_no_number_is_frozen_but_exponents(build):
    lowered, numbers = lower_system(build(), still=True), Numbers(Graph())
    system, tree, near, _, _, scale = numbered(lowered.root, numbers.leaf)
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

    kinds = [kind for kind in vars(pl).values() if isinstance(kind, type) and is_dataclass(kind)]
    for kind in kinds:
        own = {field.name for field in fields(kind)}
        for attribute in (*OUTSIDE, PRESENCE):
            assert own >= set(getattr(kind, attribute, ())), kind
