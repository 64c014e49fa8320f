"""The variable-step, variable-precision Runge-Kutta of Wang, Yan, Fang, Jin: rough far from contact, fine near it."""

import numpy as np
import pytest

import pliant as pl


def falling_ball():
    system = pl.System("ball", gravity=(0, -9.81))
    ball = system.add("ball", pl.RigidBody(mass=1.0, inertia=0.1), joint=pl.Planar(position=(0, 1.0), rate=3.0))
    system.add("tail", pl.RigidBody.rod(0.2, 0.3), joint=pl.Revolute(angle=1.0), on=ball.root)
    system.contact(points=pl.Sphere(ball.root, 0.1), against=pl.Plane(normal=(0, 1)), normal=pl.Hertz(stiffness=1e7))
    return system


def run(**options):
    return pl.simulate(falling_ball(), 0.6, method=pl.VariablePrecisionRK4(rtol=1e-10, atol=1e-12, **options), save=[0.6])


def test_far_from_contact_it_saves_work_and_near_it_resolves():
    rough, fine = run(coarse=1e-5), run(coarse=1e-10)
    assert rough.stats["rhs_evaluations"] < 0.7 * fine.stats["rhs_evaluations"]
    exact = pl.simulate(falling_ball(), 0.6, method=pl.DOP853(rtol=1e-12, atol=1e-14))
    assert fine.contacts[0].peak_force == pytest.approx(exact.contacts[0].peak_force, rel=1e-7)
    assert rough.contacts[0].peak_force == pytest.approx(exact.contacts[0].peak_force, rel=1e-3)


def test_what_it_gives_is_what_the_coarse_part_lets_through():
    """Errors follow the coarse tolerance: precision near the wall cannot mend what was lost on the way."""
    exact = pl.simulate(falling_ball(), 0.6, method=pl.DOP853(rtol=1e-12, atol=1e-14), save=[0.6])
    errors = [float(np.max(np.abs(run(coarse=c).values["q"] - exact.values["q"]))) for c in (1e-4, 1e-6, 1e-8)]
    assert errors[0] > 3.0 * errors[1] > 9.0 * errors[2]


def test_it_is_fine_throughout_where_contact_is_near_from_the_start():
    near, fine = run(coarse=1e-4, near=100.0), run(coarse=1e-10)
    assert near.stats["rhs_evaluations"] == pytest.approx(fine.stats["rhs_evaluations"], rel=0.1)  # but for restarts


def test_a_coarse_tolerance_finer_than_the_fine_one_is_refused():
    with pytest.raises(pl.ModelError, match=r"VariablePrecisionRK4: coarse must be in \[rtol, 0.1\)"):
        pl.VariablePrecisionRK4(rtol=1e-6, atol=1e-9, coarse=1e-8)


def test_a_compiled_system_that_does_not_watch_the_distance_is_refused():
    compiled = pl.compile_system(falling_ball())
    with pytest.raises(pl.ModelError, match=r"must be compiled with near=0.01"):
        pl.simulate(compiled, 0.6, method=pl.VariablePrecisionRK4(rtol=1e-8, atol=1e-10))
