"""Rigid chains against equations written down by hand."""

import numpy as np
import pytest

import pliant as pl
from pliant.trace.tracing import trace

G = 9.81


def pendulum(n, length=0.7, mass=1.3):
    system = pl.System("pendulum", gravity=(0, -G))
    on = None
    for k in range(n):
        bob = pl.RigidBody.point_mass(mass, at=(length, 0.0))
        on = system.add(f"bar{k}", bob, joint=pl.Revolute(), on=on).tip
    return system


def closed_form(theta, omega, length, mass):
    """n point masses on massless bars, absolute angles from x: sum_j m_ij l^2 cos(ti - tj) tj'' + sin(ti - tj) tj'^2 = -g ..."""
    n = len(theta)
    carried = mass * np.array([[n - max(i, j) for j in range(n)] for i in range(n)])
    difference = theta[:, None] - theta[None, :]
    matrix = carried * length**2 * np.cos(difference)
    right = -(carried * length**2 * np.sin(difference)) @ omega**2
    right -= mass * G * length * np.array([n - i for i in range(n)]) * np.cos(theta)
    return np.linalg.solve(matrix, right)


@pytest.mark.parametrize("n", [1, 2, 3, 7])
def test_n_link_pendulum_has_the_closed_form_accelerations(n):
    traced = trace(pendulum(n))
    rng = np.random.default_rng(n)
    for _ in range(5):
        q, v = rng.normal(size=n), rng.normal(size=n)
        found = np.array(traced.rhs(0.0, np.concatenate([q, v]), traced.parameters(0.0, 1.0))).ravel()[n:]
        absolute = closed_form(np.cumsum(q), np.cumsum(v), 0.7, 1.3)
        assert np.cumsum(found) == pytest.approx(absolute, rel=1e-11)


def test_a_compound_pendulum_swings_with_its_inertia():
    """Small swings of a uniform rod: omega^2 = 3 g / 2 l."""
    system = pl.System("rod", gravity=(0, -G))
    system.add("rod", pl.RigidBody.rod(0.9, 2.0), joint=pl.Revolute(angle=-np.pi / 2 + 1e-5))
    system.event("lowest", lambda t, q, v: q["rod.angle"] + np.pi / 2, direction="falling")
    run = pl.simulate(system, 5.0, method=pl.DOP853(rtol=1e-12, atol=1e-15))
    period = run.events[1].t - run.events[0].t
    assert period == pytest.approx(2 * np.pi / np.sqrt(3 * G / (2 * 0.9)), rel=1e-9)


def test_a_free_rigid_body_tumbles_as_euler_says():
    """Torque-free motion keeps energy and the angular momentum vector."""
    system = pl.System("book", gravity=(0, 0, 0))
    body = pl.RigidBody(mass=1.0, inertia=(0.1, 0.2, 0.25))
    system.add("book", body, joint=pl.Free(angular_velocity=(0.01, 3.0, 0.02), velocity=(1.0, 0.0, 0.5)))
    run = pl.simulate(system, 20.0, method=pl.DOP853(rtol=1e-12, atol=1e-13))
    angular = run.values["angular_momentum"] - np.cross(run.of_body("root_position", "book"), [1.0, 0.0, 0.5])
    assert np.ptp(run.values["kinetic"]) < 1e-10 * run.values["kinetic"][0]
    assert np.max(np.abs(angular - angular[0])) < 1e-10
    assert np.max(np.abs(run.rate("book.wx"))) > 1.0  # the middle axis is unstable: it did tumble


def test_a_stiff_beam_moves_like_a_rod():
    """E -> large: the joint's motion tends to the rigid rod's, as 1/E."""
    rod = pl.System("rod", gravity=(0, -G))
    rod.add("link", pl.RigidBody(mass=0.8, inertia=0.8 * 0.25 / 12, com=(0.25, 0), tip=(0.5, 0)), joint=pl.Revolute())
    method = pl.DOP853(rtol=1e-11, atol=1e-13)
    exact = pl.simulate(rod, 0.5, method=method, save=[0.5])["link.angle"][-1]
    errors = []
    for modulus in (1e9, 1e11):
        material = pl.Material(E=modulus)
        beam = pl.Beam(length=0.5, section=pl.Section(A=1e-4, Iz=1e-8), material=material, theory="euler-bernoulli",
                       mass_per_length=1.6, modes=pl.Modes("ss", 1), stiffening="none")  # fmt: skip
        system = pl.System("beam", gravity=(0, -G))
        system.add("link", beam, joint=pl.Revolute())
        errors.append(abs(pl.simulate(system, 0.5, method=method, save=[0.5])["link.angle"][-1] - exact))
    assert errors[0] < 1e-3
    assert 30.0 < errors[0] / errors[1] < 300.0  # 100, but for the phase of the vibration at the end
