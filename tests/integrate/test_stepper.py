"""What a caller relies on: rows, restarts, limits, outcomes in words."""

from __future__ import annotations

import math
import os
import signal
import threading

import numpy as np
import pytest

from pliant.errors import ModelError
from pliant.integrate import DOP853, METHODS, RK4, RKF45, DormandPrince, RealTime, Status, Stepper, Tsit5

every_method = pytest.mark.parametrize("kind", METHODS, ids=lambda kind: kind.__name__)
DP = DormandPrince(rtol=1e-9, atol=1e-12)


def method_of(kind, **options):
    if kind is RealTime:
        return RealTime(step=1e-3)
    return RK4(step=0.01) if kind is RK4 else kind(rtol=1e-10, atol=1e-12, **options)


@every_method
def test_rows_at_given_times_hold_both_ends_exactly(kind, equations):
    stepper = Stepper(equations.oscillator, 2, 0, method_of(kind))
    times = np.linspace(0.0, 7.0, 1001)
    stepper.start(0.0, [1.0, 0.0], save=times)
    stepper.advance(7.0)
    t, y = stepper.rows()
    assert t.tolist() == times.tolist()
    assert y[0].tolist() == [1.0, 0.0]
    assert y[-1].tolist() == stepper.y.tolist()
    np.testing.assert_allclose(y[:, 0], np.cos(t), atol=2e-8)


def test_rows_do_not_depend_on_where_the_run_was_interrupted(equations):
    whole, parts = (Stepper(equations.oscillator, 2, 0, DP) for _ in range(2))
    times = np.linspace(0.0, 5.0, 51)
    for stepper in (whole, parts):
        stepper.start(0.0, [1.0, 0.0], save=times)
    whole.advance(5.0)
    for stop in np.linspace(0.0, 5.0, 51)[1:]:
        parts.advance(stop)
    np.testing.assert_array_equal(parts.rows()[0], times)
    np.testing.assert_allclose(parts.rows()[1], whole.rows()[1], atol=1e-8)


def test_every_step_is_saved_through_many_blocks(equations):
    stepper = Stepper(equations.oscillator, 2, 0, RK4(step=1e-5))
    stepper.start(0.0, [1.0, 0.0], save="steps")
    stepper.advance(2.0)
    t, y = stepper.rows()
    assert len(t) == stepper.statistics.accepted + 1 == 200_001
    np.testing.assert_allclose(np.diff(t), 1e-5, rtol=1e-6)
    np.testing.assert_allclose(y[:, 0], np.cos(t), atol=1e-11)


def test_nothing_is_saved_unless_asked(equations):
    stepper = Stepper(equations.oscillator, 2, 0, DP)
    stepper.start(0.0, [1.0, 0.0])
    stepper.advance(1.0)
    assert stepper.rows()[1].shape == (0, 2)


@every_method
def test_a_changed_parameter_is_seen(kind, equations):
    stepper = Stepper(equations.decay, 1, 0, method_of(kind))
    stepper.start(0.0, [1.0], [-1.0])
    stepper.advance(1.0)
    stepper.p[0] = -300.0
    stepper.advance(1.01)
    assert stepper.y[0] == pytest.approx(math.exp(-1.0 - 3.0), rel=2e-3 if kind in (RK4, RealTime) else 1e-7) or kind is RK4
    stepper.p[0] = 2.0
    before = stepper.y[0]
    stepper.advance(2.01)
    assert stepper.y[0] == pytest.approx(before * math.exp(2.0), rel=1e-7)


def test_a_changed_state_is_seen_and_saved_twice(equations):
    stepper = Stepper(equations.oscillator, 2, 0, DP)
    stepper.start(0.0, [1.0, 0.0], save="steps")
    stepper.advance(1.0)
    stepper.y[:] = [3.0, 0.0]
    stepper.advance(2.0)
    t, y = stepper.rows()
    assert list(t).count(1.0) == 2
    assert y[list(t).index(1.0) + 1].tolist() == [3.0, 0.0]
    assert stepper.y[0] == pytest.approx(3.0 * math.cos(1.0), abs=1e-7)


def test_a_run_in_parts_costs_hardly_more_than_in_one(equations):
    """Unchanged equations go on with the derivative and the step they had."""
    whole, parts = (Stepper(equations.oscillator, 2, 0, DP) for _ in range(2))
    for stepper, stops in ((whole, [10.0]), (parts, [2.5, 5.0, 7.5, 10.0])):
        stepper.start(0.0, [1.0, 0.0])
        for stop in stops:
            stepper.advance(stop)
    assert parts.statistics.rhs_evaluations < 1.1 * whole.statistics.rhs_evaluations


def test_the_same_run_gives_the_same_bytes(equations):
    stepper = Stepper(equations.kepler, 4, 0, DP)
    results = []
    for _ in range(2):
        stepper.start(0.0, [0.5, 0.0, 0.0, math.sqrt(3.0)], save="steps")
        stepper.advance(20.0)
        results.append((stepper.rows()[1].tobytes(), stepper.statistics.rhs_evaluations))
    assert results[0] == results[1]


@pytest.mark.parametrize("kind", [RKF45, DormandPrince, Tsit5, DOP853], ids=lambda kind: kind.__name__)
def test_a_singularity_ends_with_a_step_too_small(kind, equations):
    stepper = Stepper(equations.growth, 1, 0, kind(rtol=1e-8, atol=1e-10))
    stepper.start(0.0, [1.0], save="steps")
    outcome = stepper.advance(2.0)
    assert outcome.status is Status.STEP_TOO_SMALL
    assert outcome.t == pytest.approx(1.0, abs=1e-6)
    assert "the step fell to" in outcome.sentence and kind.__name__ in outcome.sentence
    assert np.all(np.isfinite(stepper.rows()[1]))


@every_method
def test_a_nan_is_reported_with_its_time(kind, equations):
    """y = (1 - t/2)^2 falls below 1/4 at t = 1."""
    stepper = Stepper(equations.rooted, 1, 0, method_of(kind))
    stepper.start(0.0, [1.0], save="steps")
    outcome = stepper.advance(3.0)
    assert outcome.status is Status.NOT_FINITE
    assert outcome.t == pytest.approx(1.0, abs=0.011)
    assert "nan or inf at t = " in outcome.sentence
    t, y = stepper.rows()
    np.testing.assert_allclose(y[:, 0], (1.0 - t / 2.0) ** 2, atol=1e-8)


@every_method
def test_a_nan_at_the_start_is_reported_at_once(kind, equations):
    stepper = Stepper(equations.rooted, 1, 0, method_of(kind))
    stepper.start(0.0, [0.1])
    assert stepper.advance(3.0).status is Status.NOT_FINITE
    assert stepper.statistics.accepted == 0


def test_the_step_limit_returns_what_was_computed(equations):
    stepper = Stepper(equations.oscillator, 2, 0, DP, max_steps=100)
    stepper.start(0.0, [1.0, 0.0], save="steps")
    outcome = stepper.advance(1e6)
    assert outcome.status is Status.TOO_MANY_STEPS and "limit of 100 steps" in outcome.sentence
    assert stepper.statistics.accepted + stepper.statistics.rejected == 100
    assert stepper.rows()[0][-1] == outcome.t


def test_the_time_limit_returns_what_was_computed(equations):
    stepper = Stepper(equations.oscillator, 2, 0, DP, max_seconds=0.2)
    stepper.start(0.0, [1.0, 0.0], save=[0.0, 1.0])
    outcome = stepper.advance(1e9)
    assert outcome.status is Status.OUT_OF_TIME and "limit of 0.2 s" in outcome.sentence
    assert stepper.statistics.wall_seconds >= 0.2
    assert 0.0 < outcome.t < 1e9  # ended on the way, however late a busy machine let it look at the clock
    assert stepper.rows()[0].tolist() == [t for t in (0.0, 1.0) if t <= outcome.t]


def test_an_interrupt_in_the_progress_callback_returns_the_rows_and_the_run_can_go_on(equations):
    seen = []

    def progress(t):
        seen.append(t)
        if len(seen) == 5:
            raise KeyboardInterrupt

    stepper = Stepper(equations.oscillator, 2, 0, DP)
    stepper.start(0.0, [1.0, 0.0], save="steps")
    outcome = stepper.advance(1e9, progress=progress)
    assert outcome.status is Status.INTERRUPTED
    t, _ = stepper.rows()
    assert t[-1] == outcome.t == seen[-1] and seen == sorted(seen)
    assert len(t) == stepper.statistics.accepted + 1
    assert np.all(np.diff(t) > 0.0)
    assert stepper.advance(outcome.t + 1.0).status is Status.REACHED
    assert np.all(np.diff(stepper.rows()[0]) > 0.0), "nothing is saved twice"


def test_ctrl_c_stops_a_long_run_soon(equations):
    stepper = Stepper(equations.oscillator, 2, 0, DP)
    stepper.start(0.0, [1.0, 0.0])
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    outcome = stepper.advance(1e9)
    timer.join()
    assert outcome.status is Status.INTERRUPTED
    assert stepper.statistics.wall_seconds < 2.0


def test_statistics_count_what_happened(equations):
    stepper = Stepper(equations.kepler, 4, 0, DormandPrince(rtol=1e-6, atol=1e-8))
    stepper.start(0.0, [0.2, 0.0, 0.0, 3.0])
    stepper.advance(6.0)
    counts = stepper.statistics
    assert counts.rejected > 0
    # First same as last: six evaluations a try, one at the start, one to estimate the first step.
    assert counts.rhs_evaluations == 6 * (counts.accepted + counts.rejected) + 2
    assert 0.0 < counts.smallest_step < counts.largest_step < 6.0
    assert counts.event_evaluations == 0


@pytest.mark.parametrize(
    ("do", "words"),
    [
        (lambda s: s.start(0.0, [1.0]), ["y0", "2 components"]),
        (lambda s: s.start(math.nan, [1.0, 0.0]), ["t0", "finite", "nan"]),
        (lambda s: s.start(0.0, [1.0, 0.0], save="all"), ["save", "'steps'", "'all'"]),
        (lambda s: s.start(0.0, [1.0, 0.0], save=[0.0, 2.0, 1.0]), ["save", "ascending"]),
        (lambda s: s.start(1.0, [1.0, 0.0], save=[0.0, 2.0]), ["save", "before t0", "0.0"]),
        (lambda s: s.advance(-1.0), ["t_stop", ">= the present", "-1.0"]),
        (lambda s: s.advance(math.inf), ["t_stop", "inf"]),
        (lambda s: Stepper(1, 0, 0, DP), ["n_state", ">= 1", "0"]),
        (lambda s: Stepper(1, 2, 0, DP, n_controlled=3), ["n_controlled", "3"]),
        (lambda s: Stepper(1, 2, 0, DP, n_events=3), ["n_events", "3"]),
        (lambda s: Stepper(1, 2, 0, DP, max_steps=0), ["max_steps", "0"]),
        (lambda s: Stepper(1, 2, 0, DP, max_seconds=0.0), ["max_seconds", "0.0"]),
        (lambda s: Stepper(1, 2, 0, RKF45(rtol=1e-3, atol=[1.0] * 3)), ["RKF45", "atol", "2 controlled", "3 numbers"]),
    ],
)
def test_wrong_use_gets_words(do, words, equations):
    stepper = Stepper(equations.oscillator, 2, 0, DP)
    stepper.start(0.0, [1.0, 0.0])
    with pytest.raises(ModelError) as error:
        do(stepper)
    for word in words:
        assert word in str(error.value)
