"""What every registered method must satisfy: its order, its tolerance, events where they are, and what it says it needs.

All on a pendulum of 1 rad/s, whose motion is known in elliptic functions.
"""

import dataclasses
import math

import numpy as np
import pytest
from scipy.special import ellipj, ellipk

import pliant as pl
from pliant.integrate.methods.method import METHODS
from pliant.run.prepare import compile_system
from registered import METHOD

AMPLITUDE = 1.0  # rad
PERIOD = 4.0 * ellipk(math.sin(AMPLITUDE / 2.0) ** 2)  # s
BOB = pl.RigidBody.point_mass(1.0, at=(9.81, 0.0))

over_all = pytest.mark.parametrize("kind", METHODS, ids=lambda kind: kind.__name__)


def angle(t):
    """Of the pendulum, from the vertical, let go at its amplitude."""
    k = math.sin(AMPLITUDE / 2.0)
    return 2.0 * np.arcsin(k * ellipj(PERIOD / 4.0 - np.asarray(t), k * k)[0])


@pytest.fixture(scope="module")
def pendulum():
    system = pl.System("pendulum", gravity=(0.0, -9.81))
    system.add("bob", BOB, joint=pl.Revolute(angle=AMPLITUDE - math.pi / 2.0))
    system.event("lowest", lambda t, q, v: q["bob.angle"] + math.pi / 2.0)
    return compile_system(system)


@pytest.fixture(scope="module")
def pinned():
    """The same pendulum, closed by a pin."""
    system = pl.System("pinned pendulum", gravity=(0.0, -9.81))
    bob = system.add("bob", pl.RigidBody(mass=1.0, inertia=1e-3 * 9.81**2, com=(9.81, 0.0)),
                     joint=pl.Planar(angle=AMPLITUDE - math.pi / 2.0))  # fmt: skip
    system.close("pin", "point", bob.root, system.ground)
    return compile_system(system)


def in_equal_steps(kind, h):
    """The method with equal steps: for the adaptive ones a tolerance that is always met."""
    settings = {"step": h, "rtol": 0.05, "atol": 1e6, "first_step": h, "max_step": h, "newton": 1e-20}
    known = {field.name for field in dataclasses.fields(kind)}
    return kind(**{name: value for name, value in settings.items() if name in known})


@over_all
def test_its_error_falls_by_its_order(kind, pendulum):
    order = kind.tableau.order
    size = 1e-6 if order < 9 else 1e-4  # the error of Radau9 is a millionth of it, and 1e-14 is round-off
    steps = math.ceil(PERIOD / size ** (1.0 / order))
    errors = []
    for n in (steps, round(1.5 * steps)):
        run = pl.simulate(pendulum, PERIOD, method=in_equal_steps(kind, PERIOD / n), save="steps")
        errors.append(np.max(np.abs(run["bob.angle"] + math.pi / 2.0 - angle(run.time))))
    assert order - 0.7 < math.log(errors[0] / errors[1]) / math.log(1.5) < order + 1.5, errors


@over_all
def test_a_run_of_it_is_right_and_located_its_events(kind, pendulum):
    method = METHOD[kind]
    run = pl.simulate(pendulum, PERIOD, method=method, save=PERIOD / 50)
    assert run.ok and all(sentence.startswith("the energy balance is off") for sentence in run.warnings)
    assert not run.warnings or run.ledger.relative_error_max > 100.0 * method.tolerance  # what must be told, and nothing else
    assert run["bob.angle"] + math.pi / 2.0 == pytest.approx(angle(run.time), abs=1e-6)
    assert run.ledger.relative_error_max < 1e-6
    late = method.fixed_step if method.events_at_ends else 1e-7  # s
    assert [event.direction for event in run.events] == [-1, 1]
    for event, exact in zip(run.events, (PERIOD / 4.0, 3.0 * PERIOD / 4.0), strict=True):
        assert -1e-7 < event.t - exact < late


@over_all
def test_it_asks_for_what_it_declares(kind, pendulum, pinned):
    """A Jacobian, constraints of a loop that it meets itself: neither more nor less."""
    method = METHOD[kind]
    runs = [pl.simulate(compiled, 0.5, method=method, save=0.1) for compiled in (pendulum, pinned)]
    for run in runs:
        assert run.ok
        assert (run.stats["jacobians"] > 0) == method.needs_jacobian
        assert set(run.stats["steps_of"]) <= {type(one).__name__ for one in method.alternatives}
        assert sum(run.stats["steps_of"].values()) == run.stats["steps"] > 0
    assert "partitions" not in runs[0].stats
    assert ("partitions" in runs[1].stats) == method.needs_partition
    assert np.max(np.abs(runs[1].values["constraint"])) < 1e-9


@over_all
def test_it_says_what_holds_its_steps(kind):
    method = METHOD[kind]
    assert (method.fixed_step is None) != (method.tolerance is None)
    assert method.order == kind.tableau.order
    assert all(type(one) in METHODS and one.alternatives == (one,) for one in method.alternatives if one is not method)
    assert method.needs_jacobian or not method.needs_time_derivative


@over_all
def test_it_is_told_of_contacts_where_it_wants_to_be(kind):
    """A ball that falls onto the ground: whoever changes its precision near it is compiled with that distance."""
    system = pl.System("ball", gravity=(0.0, -9.81))
    ball = system.add("ball", BOB, joint=pl.Prismatic(axis="y"))
    ground = pl.Plane(normal="y", point=(0.0, -0.5))
    system.contact(points=pl.Sphere(ball.root, 0.1), against=ground, normal=pl.Hertz(stiffness=1e5))
    method = METHOD[kind]
    names = [event.name for event in compile_system(system, near=method.near).traced.events]
    assert any(name.endswith("near") for name in names) == (method.near is not None)
