"""Runs that only start elsewhere share the derivatives of the equations' numbers, and only these."""

import numpy as np
import pytest

import pliant as pl
from pliant.run import theta
from pliant.run.system_memory import _MEMORIES


def thrown(e=0.6, height=None):
    """A rod on a floor; its start is in parameters of its own."""
    stiffness, bounce = pl.Parameter("K", 2e5), pl.Parameter("e", e, low=0.0, high=1.0)
    begin = [pl.Parameter(name, value) for name, value in {"x": 0.0, "y": 0.35, "turn": 0.3, "vx": 1.0, "w": 0.5}.items()]
    system = pl.System("thrown rod", gravity=(0, -9.81))
    position = (begin[0], begin[1] if height is None else height)
    joint = pl.Planar(position=position, angle=begin[2], velocity=(begin[3], 0.0), rate=begin[4])
    rod = system.add("rod", pl.RigidBody.rod(0.4, pl.Parameter("mass", 0.8)), joint=joint)
    law, friction = pl.HuntCrossley(stiffness=stiffness, restitution=bounce), pl.Coulomb(mu=0.2, transition=1e-2)
    system.contact(points=[rod.root, rod.tip], against=pl.Plane(normal=(0, 1)), normal=law, friction=friction, name="floor")
    return system


def final(system, names, **options):
    found = pl.sensitivities(system, 0.4, names, rtol=1e-9, **options)
    assert found.ok
    return found.final


@pytest.fixture
def counted(monkeypatch):
    """How often derivatives of numbers were computed."""
    calls = []
    plain = theta._theta
    monkeypatch.setattr(theta, "_theta", lambda *args: calls.append(1) or plain(*args))
    return calls


def test_other_starts_and_ends_share_the_derivatives_of_numbers_and_other_values_do_not(counted):
    system, names = thrown(), ["K", "e", "mass"]
    pl.simulate(system, 0.1)  # the first run of a System keeps nothing
    final(system, names)
    final(system, names, values={"y": 0.4})
    before = len(counted)
    again = final(system, names, values={"y": 0.45, "turn": -0.2})
    pl.sensitivities(system, 0.3, names, rtol=1e-9)
    assert len(counted) == before
    assert np.array_equal(again, final(thrown(), names, values={"y": 0.45, "turn": -0.2}))
    other = final(system, names, values={"e": 0.5})
    assert len(counted) > before and np.array_equal(other, final(thrown(), names, values={"e": 0.5}))


def test_a_start_in_theta_is_not_shared():
    """The height of the start is a parameter of theta, and enters the start as a square."""
    high = pl.Parameter("high", 0.6)
    system, fresh = thrown(height=high**2), thrown(height=high**2)
    pl.simulate(system, 0.1)
    for value in (0.6, 0.62, 0.65):
        found = pl.sensitivities(system, 0.4, ["high"], values={"high": value}, rtol=1e-9)
        assert found.table["q"].sel(coordinate="rod.y").values[0, 0] == pytest.approx(2.0 * value, rel=1e-9)
    assert np.array_equal(found.final, final(fresh, ["high"], values={"high": 0.65}))


def test_modes_that_start_bent_by_a_parameter_have_its_derivative():
    bent, modulus = pl.Parameter("bent", 1e-3), pl.Parameter("E", 7e10)
    material = pl.Material(E=modulus, density=2700.0, nu=0.3)
    beam = pl.Beam(length=0.8, section=pl.Section.rectangle(0.02, 0.01), material=material, theory="euler-bernoulli",
                   modes=pl.Modes("cf", 1, static=False))  # fmt: skip
    system = pl.System("arm", gravity=(0, -9.81))
    system.add("arm", beam, joint=pl.Revolute(), initial={"y1": bent})
    for value in (1e-3, 2e-3):
        found = pl.sensitivities(system, 0.01, ["bent", "E"], values={"bent": value})
        assert found.table["q"].sel(coordinate="arm.y1").values[0] == pytest.approx([1.0, 0.0], abs=1e-12)


@pytest.mark.parametrize("start", [{}, {"rod.x": 0.1}, {"rod.y": 0.5}])
def test_only_what_a_start_names_is_given(start):
    """An empty mapping, or one of other coordinates, leaves the rest to the parameters."""
    found = pl.sensitivities(thrown(), 0.1, ["x", "y"], start=start)
    begins = found.table["q"].values[0][:2]
    assert np.allclose(begins, np.diag([float("rod.x" not in start), float("rod.y" not in start)]), atol=1e-12)


def test_what_is_remembered_stays_small():
    system = thrown()
    pl.simulate(system, 0.1)
    for k in range(2 * theta.MOST_REMEMBERED):
        pl.sensitivities(system, 0.01, ["mass"], values={"mass": 0.8 + 0.01 * k})
    assert 0 < len(_MEMORIES.get(system).slopes) <= theta.MOST_REMEMBERED
