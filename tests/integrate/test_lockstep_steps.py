"""How lock-step chooses the length of a step, and where the first event is: its plain functions, in Python."""

from types import SimpleNamespace

import numpy as np
import pytest

from pliant.integrate.lockstep import events as events
from pliant.integrate.lockstep import lengths as lengths
from pliant.integrate.lockstep.events import BRACKET, CUT, GAP, OVER, PEAK, PEAK_TRIES, STOP
from pliant.integrate.lockstep.scheme import Scheme
from pliant.integrate.tableaus import DOP853

FAR = 10.0  # s: no stop before


def lane_of(does: list[int], g: list[float], gd: list[float], **more) -> SimpleNamespace:
    """A member at t = 0 whose events are all watched, each on the side on which its function is."""
    n = len(does)
    arrays = {"g": g, "gd": gd, "side": np.sign(g), "watching": range(n), "hit": np.zeros(n), "sought": np.zeros(n)}
    numbers = {"t": 0.0, "h": 1e-3, "step": 1e-3, "t_new": 1e-3, "n_watched": n, "aimed": 0.0, "tries": 0.0, "refusals": 0.0,
               "rejected": 0.0, "touch_h": 0.0, "dead": 0.0, "sure": 0.0, "error": 0.5}  # fmt: skip
    return SimpleNamespace(**{name: np.array(x, dtype=float) for name, x in arrays.items()}, **(numbers | more))


@pytest.fixture
def table(monkeypatch):
    """Sets the tables of a structure with these events, one pair of bodies for all."""

    def use(does: list[int], direction: list[int] | None = None) -> None:
        numbers = SimpleNamespace(
            does=does, direction=direction or [0] * len(does), has_rate=[int(x != PEAK) for x in does],
            pair=[-1 if x == STOP else 0 for x in does], control=Scheme(DOP853).control,
        )  # fmt: skip
        monkeypatch.setattr(events, "table", numbers)
        monkeypatch.setattr(lengths, "table", numbers)

    return use


def test_a_step_ends_just_beyond_the_first_event_ahead(table) -> None:
    does = [GAP, GAP, STOP, CUT]
    table(does)
    lane = lane_of(does, [1e-3, 5e-4, -1.0, 2.0], [-10.0, -10.0, 1.0, 1.0])
    assert events.event_ahead(lane, 1e-3) == pytest.approx(5e-5 + 0.5 * BRACKET, rel=1e-12)
    assert events.event_ahead(lane, 4e-5) == np.inf  # it is further away
    lane.g[3], lane.gd[3] = -2.0, 1e5  # a corner, sooner: located to a fraction of the step
    lane.side[3] = -1.0
    assert events.event_ahead(lane, 1e-3) == pytest.approx(2e-5 * (1.0 + OVER), rel=1e-6)


def test_no_step_ends_where_a_function_turns_away_or_does_not_count(table) -> None:
    table([STOP], direction=[1])
    assert events.event_ahead(lane_of([STOP], [1.0], [-1e5]), 1e-3) == np.inf  # falls, and only rising counts
    assert events.event_ahead(lane_of([STOP], [-1.0], [1e5]), 1e-3) == pytest.approx(1e-5, rel=1e-6)
    table([GAP])
    assert events.event_ahead(lane_of([GAP], [1.0], [1e5]), 1e-3) == np.inf
    assert events.event_ahead(lane_of([GAP], [1.0], [0.0]), 1e-3) == np.inf
    within = lane_of([GAP], [1.0], [-1.0])
    for g in (0.0, -1e-13):  # so near zero that it has not changed its side
        within.g[0] = g
        assert events.event_ahead(within, 1e-3) == np.inf


def test_a_function_that_only_comes_near_zero_is_not_followed(table) -> None:
    """A straight line meets a parabola's vertex half way, again and again: after one such step the next one is as long as any."""
    table([GAP])
    lane = lane_of([GAP], [1e-3], [-10.0])
    lengths.aim(lane, FAR)
    assert lane.aimed == 1.0 and lane.step == pytest.approx(1e-4, rel=1e-6)
    lane.t, lane.g[0], lane.gd[0] = lane.t_new, 2.5e-4, -5.0  # 5e-5 further
    lengths.aim(lane, FAR)
    assert lane.aimed == 0.0 and lane.step == pytest.approx(lane.h)
    lane.aimed, lane.step = 1.0, 1e-3  # the same place after a step twenty times as long is worth another try
    lengths.aim(lane, FAR)
    assert lane.aimed == 1.0 and lane.step == pytest.approx(5e-5, rel=1e-6)


def test_no_step_to_an_event_passes_a_stop(table) -> None:
    table([GAP])
    lane = lane_of([GAP], [1e-3], [-10.0])
    lengths.aim(lane, 5e-5)
    assert lane.t_new == 5e-5 and lane.aimed == 0.0


def test_a_located_peak_does_not_hide_a_later_event(table) -> None:
    """A peak is looked for twice. After that it no longer cuts the step, but a contact that opens later in the step still does."""
    does = [PEAK, GAP]
    table(does)
    lane = lane_of(does, [1.0, -1e-3], [0.0, 2.0], hits=0.0, force=[1.0], peak=[0.0], tally=np.zeros(5))
    lane.g_new, lane.gd_new = np.array([-3.0, 1e-3]), np.array([0.0, 2.0])
    at_peak = events.first_event(lane)
    assert at_peak == pytest.approx(2.5e-4, rel=0.05)
    lane.tries = float(PEAK_TRIES)
    at_gap = events.first_event(lane)
    assert at_gap == pytest.approx(5e-4, rel=1e-6) and lane.hits == 2.0


def test_a_step_rejected_again_shrinks_faster(table) -> None:
    table([])
    lane = lane_of([], [], [], error=2.0, step=1.0)
    found = []
    for _ in range(4):
        lengths.refuse(lane)
        found.append(lane.h)
    power = Scheme(DOP853).control[3]
    np.testing.assert_allclose(found, [0.9 * 2.0 ** (-k * power) for k in (1, 2, 3, 3)], rtol=1e-12)
    lane = lane_of([], [], [], error=1e9, step=1.0)
    lengths.refuse(lane)
    lengths.refuse(lane)
    assert lane.h == pytest.approx(0.1)
    assert lane.rejected == 2.0


def test_what_held_after_a_touch_is_kept_for_the_next(table) -> None:
    table([])
    lane = lane_of([], [], [], step=1e-5, h=1e-5)
    assert lengths.touch_step(lane, 3e-5) == 3e-5
    lane.step = 1e-8  # cut short by something else: no measure
    assert lengths.touch_step(lane, 3e-5) == 0.0
    lane.step, lane.touch_h = 1e-5, 2e-5  # known since an earlier step
    assert lengths.touch_step(lane, 3e-5) == 2e-5
