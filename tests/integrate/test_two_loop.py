"""Partitioned coordinates on a circle: a point that turns at constant speed, held by one constraint."""

import math
from itertools import pairwise

import numpy as np
import pytest

from pliant.integrate import RKF45, ConstraintKernels, Status, Stepper, TwoLoop

SPEED = 2.0  # rad/s


def turning(t, y, p, out, work):
    """x'' = -|v|^2 x / |x|^2: what keeps |x|^2 once it is constant."""
    pull = (y[2] * y[2] + y[3] * y[3]) / (y[0] * y[0] + y[1] * y[1])
    out[0], out[1], out[2], out[3] = y[2], y[3], -pull * y[0], -pull * y[1]


def circle(t, y, p, out, work):
    """C = (|x|^2 - 1) / 2, its rate, C_q."""
    out[0] = 0.5 * (y[0] * y[0] + y[1] * y[1] - 1.0)
    out[1] = y[0] * y[2] + y[1] * y[3]
    out[2], out[3] = y[0], y[1]


def moved(t, y, p, out, work):
    out[0], out[1] = y[0] + y[4], y[1] + y[5]


def empty(t, y, p, out, work):
    """A constraint that says nothing: no partition exists."""
    out[0] = out[1] = out[2] = out[3] = 0.0


@pytest.fixture(scope="module")
def kernels(kernel):
    return {f.__name__: kernel(f) for f in (turning, circle, moved, empty)}


def run(kernels, method, t_end, values="circle", ease=(1.0, 1.0), save=None):
    constraints = ConstraintKernels(kernels[values], kernels["moved"], 0, 1, 2, np.array(ease))
    stepper = Stepper(kernels["turning"], 4, 0, method, constraints=lambda: constraints)
    stepper.start(0.0, [1.0, 0.0, 0.0, SPEED], save=save)
    return stepper, stepper.advance(t_end)


def exact(t):
    a = SPEED * t
    return np.array([math.cos(a), math.sin(a), -SPEED * math.sin(a), SPEED * math.cos(a)])


def test_it_follows_the_circle_and_partitions_anew_four_times_a_turn(kernels):
    """x and y take turns at being dependent: each is, until it is half of what it was when chosen."""
    stepper, outcome = run(kernels, TwoLoop(rtol=1e-10, atol=1e-12), 10.0 * math.pi / SPEED, save="steps")
    assert outcome.status is Status.REACHED
    assert stepper.y == pytest.approx(exact(stepper.t), abs=1e-7)
    times, rows = stepper.rows()
    assert np.max(np.abs(rows[:, 0] ** 2 + rows[:, 1] ** 2 - 1.0)) < 1e-15
    assert np.max(np.abs(rows[:, 0] * rows[:, 2] + rows[:, 1] * rows[:, 3])) < 1e-14
    assert stepper.statistics.partitions == 1 + 4 * 5
    assert len(times) == stepper.statistics.accepted + 1


def test_rows_between_steps_meet_the_constraints_too(kernels):
    stepper, _ = run(kernels, TwoLoop(rtol=1e-8, atol=1e-10), 3.0, save=np.linspace(0.0, 3.0, 500))
    _, rows = stepper.rows()
    assert np.max(np.abs(rows[:, 0] ** 2 + rows[:, 1] ** 2 - 1.0)) < 1e-15
    assert np.max(np.abs(rows[:, 0] * rows[:, 2] + rows[:, 1] * rows[:, 3])) < 1e-14


def test_the_order_is_five(kernels):
    errors = []
    for h in (0.04, 0.02, 0.01):
        stepper, _ = run(kernels, TwoLoop(rtol=1e-3, atol=1e6, first_step=h, max_step=h), 0.48)
        errors.append(np.max(np.abs(stepper.y - exact(0.48))))
    orders = [math.log2(a / b) for a, b in pairwise(errors)]
    assert orders[-1] == pytest.approx(5.0, abs=0.3)


def test_a_coordinate_that_gives_way_unwillingly_stays_independent(kernels):
    stepper, _ = run(kernels, TwoLoop(rtol=1e-8, atol=1e-10), 0.3, ease=(1e-9, 1.0))
    assert stepper.dependent == (0,)  # y is zero at the start: there is no choice but x
    stepper, _ = run(kernels, TwoLoop(rtol=1e-8, atol=1e-10), 1.3 * math.pi / SPEED, ease=(1e-9, 1.0))
    assert stepper.dependent == (1,)


def test_constraints_that_determine_nothing_end_the_run_at_once(kernels):
    stepper, outcome = run(kernels, TwoLoop(rtol=1e-8, atol=1e-10), 1.0, values="empty")
    assert outcome.status is Status.STEP_TOO_SMALL
    assert "the motion has a singularity there" in outcome.sentence
    assert stepper.t == 0.0


def test_without_constraints_it_is_fehlbergs_method(kernels):
    ends = []
    for method in (TwoLoop(rtol=1e-8, atol=1e-10), RKF45(rtol=1e-8, atol=1e-10)):
        stepper = Stepper(kernels["turning"], 4, 0, method)
        stepper.start(0.0, [1.0, 0.0, 0.0, SPEED])
        stepper.advance(2.0)
        ends.append(stepper.y.copy())
    assert np.array_equal(*ends)
