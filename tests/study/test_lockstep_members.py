"""Members in lock-step are judged, warned about, refused and prepared as single runs are."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.gallery.slider_crank.system import driven_crank
from pliant.run.inertia import Resistance, judged_rates
from pliant.study.member_starts import _Look

METHOD = pl.DOP853(rtol=1e-6, atol=1e-9)


def outstretched() -> tuple[pl.System, dict[str, np.ndarray]]:
    """All mass in the last point: when both links are in line, nothing resists a motion along them."""
    system = pl.System("wand", gravity=(0, -9.81))
    first = system.add("first", pl.RigidBody(mass=0.0, inertia=0.0), joint=pl.Revolute(angle=0.2))
    elbow = first.at((1.0, 0.0))
    system.add("second", pl.RigidBody(mass=1.0, inertia=0.0, com=(0.7, 0.0)), joint=pl.Revolute(angle=0.5), on=elbow)
    return system, {"second.angle": np.array([0.5, 1e-7, 0.6, 2e-8, 0.7, 3e-4])}


def balls_in_one_place() -> tuple[pl.System, dict[str, np.ndarray]]:
    system = pl.System("two balls", gravity=(0, 0))
    left = system.add("left", pl.RigidBody(mass=1.0, inertia=1e-3), joint=pl.Planar(position=(-0.5, 0), velocity=(1.0, 0)))
    right = system.add("right", pl.RigidBody(mass=1.0, inertia=1e-3), joint=pl.Planar())
    system.contact(points=pl.Sphere(left.root, 0.01), against=pl.Sphere(right.root, 0.01), normal=pl.Hertz(stiffness=1e4))
    return system, {"left.x": np.array([-0.5, 0.0, -0.3, 1e-16])}


@pytest.mark.parametrize(("case", "words"), [(outstretched, "singular"), (balls_in_one_place, "concentric")])
def test_every_start_is_judged_as_that_of_a_single_run(case, words: str) -> None:
    system, starts = case()
    compiled = pl.compile_system(system)
    general, own = (pl.ensemble(compiled, 0.01, starts=starts, method=METHOD, loop=loop) for loop in ("general", "lockstep"))
    assert own.message.values.tolist() == general.message.values.tolist()
    assert [words in message for message in own.message.values] == [not ok for ok in own.ok.values]
    assert np.flatnonzero(~own.ok.values).tolist() == [1, 3]


def test_the_judged_mass_matrix_is_that_of_kinetic_energies() -> None:
    """v^T M v = 2 T at given rates, less what prescribed motions have: the derivation that single runs use."""
    compiled = pl.compile_system(driven_crank())
    traced, p = compiled.traced, compiled.traced.parameters(0.3, 1.0)
    count, (first, second) = len(traced.free_v), judged_rates(traced)[1]
    state = traced.y0 + np.linspace(-0.1, 0.1, traced.y0.size)
    entries = _Look.of(compiled).code(0.3, state, p)
    mass = np.diag(entries[:count])
    mass[first, second] = mass[second, first] = entries[count:]
    rates = np.random.default_rng(1).normal(size=(5, count))
    energies = Resistance(compiled, traced.layout.observed["kinetic"].start)._quadratic(0.3, state, p, rates)
    assert traced.tree.prescribed and count > 2
    np.testing.assert_allclose(np.einsum("ri,ij,rj->r", rates, mass, rates), energies, rtol=1e-9)
