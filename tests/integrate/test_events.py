"""Events: none missed, none doubled, each on the step itself to 1e-12 s."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pliant.integrate import (
    DOP853,
    METHODS,
    RK4,
    RKF45,
    DormandPrince,
    JacobianKernel,
    Located,
    Rodas5P,
    Status,
    Stepper,
    Tsit5,
)
from pliant.integrate.memory.run_record import RECORDS, STOPS
from pliant.integrate.methods.method import VariablePrecisionRK4

# all but the one that notices events at the ends of its steps only: see test_implicit
every_method = pytest.mark.parametrize(
    "kind", [kind for kind in METHODS if not kind.events_at_ends], ids=lambda kind: kind.__name__
)


EXPLICIT = (RKF45, DormandPrince, Tsit5, DOP853, VariablePrecisionRK4, RK4)


def tight(kind):
    return RK4(step=5e-4) if kind is RK4 else kind(rtol=3e-14, atol=1e-15)


def watched(equations, rhs, n, method, events, n_events, **options):
    return Stepper(getattr(equations, rhs), n, 0, method, events=getattr(equations, events), n_events=n_events, **options)


@every_method
def test_a_falling_body_touches_the_ground_on_time(kind, equations):
    stepper = watched(equations, "falling", 2, tight(kind), "height", 1)
    stepper.start(0.0, [2.0, 0.0], [9.81])
    outcome = stepper.advance(5.0)
    assert outcome.status is Status.EVENT
    assert outcome.t == pytest.approx(math.sqrt(4.0 / 9.81), abs=1.5e-12)
    assert outcome.events == (Located(outcome.t, 0, -1),)
    assert -1e-11 < stepper.y[0] <= 0.0, "the state kept is on the far side"
    assert "event 0" in outcome.sentence


@every_method
def test_zeros_of_cosine_are_met_one_by_one(kind, equations):
    """A thousand zeros, both directions, at a loose tolerance; each is the zero of the computed motion."""
    method = RK4(step=0.05) if kind is RK4 else kind(rtol=1e-9, atol=1e-9)
    stepper = watched(equations, "oscillator", 2, method, "height", 1)
    stepper.start(0.0, [1.0, 0.0])
    t_end = 1000 * math.pi + 0.1
    while (outcome := stepper.advance(t_end)).status is Status.EVENT:
        # Zero of the motion as computed, to the bracket: g = -y' dt.
        assert 0.0 <= -stepper.y[0] * (1.0 if outcome.events[0].direction < 0 else -1.0) < 2e-12
    assert outcome.status is Status.REACHED
    times = np.array([event.t for event in stepper.events])
    assert len(times) == 1000
    assert [event.direction for event in stepper.events] == [-1, 1] * 500
    assert np.abs(np.diff(times) - math.pi).max() < 1e-4


def test_zeros_of_cosine_are_met_on_time(equations):
    stepper = watched(equations, "oscillator", 2, DOP853(rtol=3e-14, atol=1e-15), "height", 1)
    stepper.start(0.0, [1.0, 0.0])
    for k in range(10):
        assert stepper.advance(100.0).t == pytest.approx((k + 0.5) * math.pi, abs=2e-12)


def test_turning_points_of_a_pendulum(equations):
    """Every half period 2 K(sin(theta0/2)), by the arithmetic-geometric mean."""
    theta0 = 1.0
    a, b = 1.0, math.cos(theta0 / 2.0)
    for _ in range(40):
        a, b = 0.5 * (a + b), math.sqrt(a * b)
    half_period = math.pi / a
    stepper = watched(equations, "pendulum", 2, DOP853(rtol=3e-14, atol=1e-15), "both", 3)
    stepper.active[[0, 2]] = False
    stepper.start(0.0, [theta0, 0.0])
    for k in range(1, 6):
        outcome = stepper.advance(100.0)
        assert [event.index for event in outcome.events] == [1]
        assert outcome.t == pytest.approx(k * half_period, abs=4e-12)


@pytest.mark.parametrize(("direction", "expected"), [(-1, [0.5, 2.5, 4.5]), (1, [1.5, 3.5, 5.5]), (0, [0.5, 1.5, 2.5])])
def test_direction_is_respected(direction, expected, equations):
    stepper = watched(equations, "oscillator", 2, DormandPrince(rtol=1e-10, atol=1e-12), "height", 1)
    stepper.direction[0] = direction
    stepper.start(0.0, [1.0, 0.0])
    times = [stepper.advance(100.0).t / math.pi for _ in range(3)]
    assert times == pytest.approx(expected, abs=1e-8)


def test_masked_events_do_not_stop_and_may_be_unmasked_later(equations):
    stepper = watched(equations, "oscillator", 2, DormandPrince(rtol=1e-10, atol=1e-12), "both", 3)
    stepper.active[:] = False
    stepper.start(0.0, [1.0, 0.0])
    assert stepper.advance(4.0).status is Status.REACHED
    stepper.active[1] = True
    outcome = stepper.advance(100.0)
    assert [event.index for event in outcome.events] == [1]
    assert outcome.t == pytest.approx(2.0 * math.pi, abs=1e-8)


def test_simultaneous_events_are_reported_together(equations):
    stepper = watched(equations, "oscillator", 2, DormandPrince(rtol=1e-10, atol=1e-12), "both", 3)
    stepper.start(0.1, [math.cos(0.1), -math.sin(0.1)])
    first = stepper.advance(100.0)
    assert [(event.index, event.direction) for event in first.events] == [(0, -1), (2, -1)]
    second = stepper.advance(100.0)
    assert [(event.index, event.direction) for event in second.events] == [(1, 1)]
    assert second.t == pytest.approx(math.pi, abs=1e-8)


@every_method
@pytest.mark.parametrize("depth", [0.3, 1e-2, 1e-4, 1e-9])
def test_a_crossing_and_its_return_within_one_step_are_seen(kind, depth, equations):
    """A thrown body rises above a level by `depth` and falls back inside one step; a parabola, exact in every method."""
    h = 1.1
    method = RK4(step=h) if kind is RK4 else kind(rtol=0.05, atol=1e6, first_step=h, max_step=h)
    exact = JacobianKernel(equations.falling_jacobian, n_work=0, operations=1, rhs_operations=1, by_columns=False)
    stepper = watched(equations, "falling", 2, method, "level", 1, jacobian=lambda whole: exact)
    stepper.start(0.0, [0.0, 5.0], [10.0, 1.25 - depth])
    up, down = stepper.advance(h), stepper.advance(h)
    near = 1e-9 if kind is Rodas5P else 1e-10  # s: its coefficients are as large as 165, and so is its round-off
    assert [event.direction for event in up.events + down.events] == [1, -1]
    assert [up.t, down.t] == pytest.approx([0.5 - math.sqrt(depth / 5.0), 0.5 + math.sqrt(depth / 5.0)], abs=near)
    assert stepper.advance(h).status is Status.REACHED


def crest(t, y, p, out, work):
    """A wave about a level that its crests pass by p[0], the last in the span of a test at p[1]."""
    out[0] = 1.0 - p[0] - math.cos(t - p[1]) * math.exp(-0.01 * (t - p[1]) ** 2)


@every_method
def test_a_crest_is_seen_wherever_steps_end(kind, equations, kernel):
    """A function of time alone, which no error control looks at: steps of 3/8 of its period, that begin anywhere before it."""
    if kind is RK4:
        method = RK4(step=0.75 * math.pi)
    else:
        method = kind(rtol=1e-2, atol=1e6, first_step=0.75 * math.pi, max_step=0.75 * math.pi)
    stepper = Stepper(equations.falling, 2, 0, method, events=kernel(crest), n_events=1)
    for depth in (1e-3, 1e-6, 1e-8):
        for at in np.linspace(4.0, 8.0, 41):
            stepper.start(0.0, [1.0, 0.0], [depth, at])
            up, down = stepper.advance(14.0), stepper.advance(14.0)
            assert [event.direction for event in up.events + down.events] == [-1, 1], (depth, at)
            half = math.sqrt(2.0 * depth)
            assert [up.t, down.t] == pytest.approx([at - half, at + half], rel=0.02 * half)
            assert stepper.advance(14.0).status is Status.REACHED


def test_a_bouncing_ball_is_not_caught_by_its_own_bounce(equations):
    """Whatever the direction asked for: the located touch is not found again; the flights have closed-form lengths."""
    for direction in (-1, 0):
        stepper = watched(equations, "falling", 2, DormandPrince(rtol=1e-12, atol=1e-14), "height", 1)
        stepper.direction[0] = direction
        stepper.start(0.0, [1.0, 0.0], [9.81])
        expected, flight = math.sqrt(2.0 / 9.81), 2.0 * math.sqrt(2.0 / 9.81)
        for _ in range(30):
            outcome = stepper.advance(100.0)
            assert outcome.status is Status.EVENT
            assert outcome.t == pytest.approx(expected, abs=1e-10)
            stepper.y[1] *= -0.9
            flight *= 0.9
            expected += flight


def test_zero_at_the_start_is_no_event_until_it_comes_back(equations):
    stepper = watched(equations, "oscillator", 2, DormandPrince(rtol=1e-10, atol=1e-12), "height", 1)
    stepper.start(0.0, [0.0, 1.0])
    assert stepper.advance(100.0).t == pytest.approx(math.pi, abs=1e-8)


@pytest.mark.parametrize("when", [0.5, 1.0, 2.0 / 3.0])
@every_method
def test_an_exact_zero_at_a_stop_is_met_once(kind, when, equations):
    method = RK4(step=0.25) if kind is RK4 else kind(rtol=1e-6, atol=1e-9)
    stepper = watched(equations, "falling", 2, method, "clock", 1)
    stepper.start(0.0, [1.0, 0.0], [9.81, when])
    found = []
    for stop in (when, when, 2.0, 2.0):
        outcome = stepper.advance(stop)
        found += [event.t for event in outcome.events]
    assert outcome.status is Status.REACHED
    assert found == pytest.approx([when], abs=1e-12)


def test_late_events_are_located_as_finely_as_t_allows(equations):
    t0 = 1e6
    stepper = watched(equations, "falling", 2, DormandPrince(rtol=1e-9, atol=1e-12), "clock", 1)
    stepper.start(t0, [1.0, 0.0], [9.81, t0 + 1.23456789])
    assert stepper.advance(t0 + 5.0).t == pytest.approx(t0 + 1.23456789, abs=1e-9, rel=0.0)


def test_rows_up_to_an_event_come_from_the_shortened_step(equations):
    stepper = watched(equations, "falling", 2, DormandPrince(rtol=1e-9, atol=1e-12), "height", 1)
    stepper.start(0.0, [2.0, 0.0], [9.81], save=np.linspace(0.0, 1.0, 11))
    stepper.advance(1.0)
    t, y = stepper.rows()
    assert t.tolist() == np.linspace(0.0, 1.0, 11)[:7].tolist()
    np.testing.assert_allclose(y[:, 0], 2.0 - 0.5 * 9.81 * t**2, atol=1e-13)


@every_method
def test_an_event_costs_a_handful_of_steps(kind, equations):
    method = RK4(step=0.05) if kind is RK4 else kind(rtol=1e-8, atol=1e-10)
    costs = []
    for n_events in (0, 1):
        stepper = watched(equations, "oscillator", 2, method, "height", n_events)
        stepper.start(0.0, [1.0, 0.0])
        while stepper.advance(100 * math.pi + 0.1).status is Status.EVENT:
            pass
        costs.append(stepper.statistics.rhs_evaluations)
    per_event = (costs[1] - costs[0]) / 100 / kind.tableau.stages
    print(kind.__name__, per_event, "steps an event")
    assert per_event < 10.0


# ---- none is lost, whatever else happens in the step


def levels(t, y, p, out, work):
    """Twelve functions of the oscillator at levels p[0] ... p[11], of position and of speed in turn."""
    for k in range(12):
        out[k] = y[k % 2] - p[k]


@every_method
@pytest.mark.parametrize("rtol", [1e-2, 1e-4, 1e-7])
def test_no_side_changes_without_a_report(kind, rtol, equations, kernel):
    """Twelve events of all directions at long steps: between two ends of steps every change of side that counts was reported."""
    rng = np.random.default_rng(1)
    method = RK4(step=0.4) if kind is RK4 else kind(rtol=rtol, atol=rtol, max_step=1.5)
    stepper = Stepper(equations.oscillator, 2, 0, method, events=kernel(levels), n_events=12)
    for _ in range(20):
        places, directions = rng.uniform(-1.05, 1.05, 12), rng.integers(-1, 2, 12)
        stepper.direction[:] = directions
        stepper.start(0.0, [1.0, 0.0], places, save="steps")
        while (outcome := stepper.advance(12.0)).status is Status.EVENT:
            pass
        assert outcome.status is Status.REACHED, outcome.sentence
        times, rows = stepper.rows()
        for e in range(12):
            side = np.where(rows[:, e % 2] - places[e] > 0.0, 1, -1)
            change = np.flatnonzero(side[1:] != side[:-1])
            expected = [(times[k + 1], int(side[k + 1])) for k in change if directions[e] in (0, side[k + 1])]
            reported = [(located.t, located.direction) for located in stepper.events if located.index == e]
            assert set(expected) <= set(reported), (kind.__name__, e, places[e], directions[e])


@every_method
@pytest.mark.parametrize("height", [0.0, -1e-17, 1e-17, -1e-12])
def test_what_is_found_on_the_wrong_side_happens_at_once(kind, height, equations):
    """The equations are those above the ground: a body that begins at it, by whatever round-off, and falls is there at once."""
    method = RK4(step=0.05) if kind is RK4 else kind(rtol=1e-6, atol=1e-9)
    stepper = watched(equations, "falling", 2, method, "height", 1)
    stepper.required[0], stepper.direction[0] = 1, -1
    stepper.start(0.0, [height, -1.0], [9.81])
    outcome = stepper.advance(1.0)
    assert [event.direction for event in outcome.events] == [-1] and outcome.t < 1e-11


def test_a_gap_of_round_off_changes_no_side(equations):
    stepper = watched(equations, "falling", 2, DormandPrince(rtol=1e-6, atol=1e-9), "height", 1)
    stepper.required[0], stepper.dead[0] = 1, 1e-15
    stepper.start(0.0, [-1e-16, 0.0], [0.0])
    assert stepper.advance(1.0).status is Status.REACHED


# ---- events that only record


@every_method
def test_what_only_records_leaves_every_step_as_it_is(kind, equations):
    """Explicit methods to the bit; what implicit ones solve again may differ by what their iterations leave open."""
    method = RK4(step=0.05) if kind is RK4 else kind(rtol=1e-6, atol=1e-9)
    rows, steps = [], []
    for kinds in (None, RECORDS):
        events = {} if kinds is None else {"events": equations.both, "n_events": 3, "kinds": kinds}
        stepper = Stepper(equations.oscillator, 2, 0, method, **events)
        stepper.start(0.0, [1.0, 0.0], save=np.linspace(0.0, 20.0, 101))
        assert stepper.advance(20.0).status is Status.REACHED
        rows.append(stepper.rows()[1])
        steps.append(stepper.statistics.accepted)
    assert steps[0] == steps[1]
    assert np.abs(rows[0] - rows[1]).max() <= (0.0 if kind in EXPLICIT else 1e-5)


@every_method
def test_what_only_records_is_located_as_finely(kind, equations):
    stepper = watched(equations, "oscillator", 2, tight(kind), "height", 1, kinds=RECORDS)
    stepper.start(0.0, [1.0, 0.0], save="steps")
    stepper.advance(10.0)
    logged, (times, states) = stepper.logged(), stepper.rows()
    assert [event.direction for event in logged] == [-1, 1, -1]
    assert [event.t for event in logged] == pytest.approx([math.pi / 2, 1.5 * math.pi, 2.5 * math.pi], abs=1e-10)
    for event in logged:  # where every step is saved, so is the state at what was recorded
        (row,) = np.flatnonzero(times == event.t)
        assert states[row] == pytest.approx([0.0, -1.0 * (1 if event.direction < 0 else -1)], abs=1e-9)


def twice(t, y, p, out, work):
    """The same function as two events."""
    out[0] = out[1] = y[0] - p[1]


@every_method
def test_what_records_where_another_event_changes_the_equations_is_on_record(kind, equations, kernel):
    """The step ends just beyond the zero of both; solved again, an implicit one may end just before it."""
    method = RK4(step=0.05) if kind is RK4 else kind(rtol=1e-4, atol=1e-7)
    stepper = Stepper(equations.van_der_pol, 2, 0, method, events=kernel(twice), n_events=2, kinds=[STOPS, RECORDS])
    for level in np.linspace(-1.5, 1.5, 40):
        stepper.start(0.0, [2.0, 0.0], [2.0, level, 0.0])
        stops = []
        while (outcome := stepper.advance(20.0)).status is Status.EVENT:
            stops += [outcome.t]
            stepper.p[2] += 1.0  # which no equation reads
        logged = [event.t for event in stepper.logged() if event.index == 1]
        assert len(stops) >= 4 and logged == pytest.approx(stops, abs=1e-6)


def quick(t, y, p, out, work):
    out[0] = math.sin(1e5 * t)


def test_more_records_than_fit_are_handed_over(equations, kernel):
    stepper = Stepper(equations.oscillator, 2, 0, RK4(step=1e-5), events=kernel(quick), n_events=1, kinds=RECORDS)
    stepper.start(0.0, [1.0, 0.0])
    stepper.advance(1e-2)
    times = np.array([event.t for event in stepper.logged()])
    assert np.allclose(times, math.pi / 1e5 * np.arange(1, len(times) + 1), rtol=0.0, atol=1e-10)
    assert len(times) == math.floor(1e3 / math.pi) and stepper.blind[0] == 0


def undefined(t, y, p, out, work):
    out[0] = math.sqrt(y[0]) if y[0] >= 0.0 else math.nan


def test_a_function_that_is_not_a_number_is_counted(equations, kernel):
    stepper = Stepper(equations.oscillator, 2, 0, DOP853(rtol=1e-6, atol=1e-9), events=kernel(undefined), n_events=1)
    stepper.start(0.0, [1.0, 0.0])
    while stepper.advance(6.0).status is Status.EVENT:
        pass
    assert 0 < stepper.blind[0] < stepper.statistics.accepted


def test_the_time_limit_holds_among_the_rows_of_one_step(equations):
    """A fall takes a few long steps; a limit used up among the rows of one leaves those up to the state, and the run can go on."""
    stepper = Stepper(equations.falling, 2, 0, DOP853(rtol=1e-6, atol=1e-9, first_step=0.5), max_seconds=1e-9)
    times = np.linspace(0.0, 100.0, 1001)
    stepper.start(0.0, [0.0, 0.0], [2.0], save=times)
    assert stepper.advance(100.0).status is Status.OUT_OF_TIME
    saved, states = stepper.rows()
    assert stepper.t < 100.0 and saved[-1] <= stepper.t and saved.size < times.size
    assert np.allclose(states[:, 0], -(saved**2), rtol=1e-9)
    stepper._max_seconds = math.inf
    assert stepper.advance(100.0).status is Status.REACHED
    saved, states = stepper.rows()
    assert np.array_equal(saved, times) and np.allclose(states[:, 0], -(times**2), rtol=1e-9)


def test_the_time_limit_holds_while_events_occur(equations, kernel):
    stepper = Stepper(equations.oscillator, 2, 0, RK4(step=1e-3), events=kernel(quick), n_events=1, max_seconds=0.2)
    stepper.start(0.0, [1.0, 0.0])
    while (outcome := stepper.advance(1e3)).status is Status.EVENT:
        pass
    assert outcome.status is Status.OUT_OF_TIME
