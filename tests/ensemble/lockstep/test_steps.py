"""How lock-step chooses the length of a step, and where the first event is: its plain functions, in Python."""

from types import SimpleNamespace

import numpy as np
import pytest

from pliant.ensemble.lockstep import events as events
from pliant.ensemble.lockstep import judge as judge
from pliant.ensemble.lockstep import lengths as lengths
from pliant.ensemble.lockstep import rewind as back
from pliant.ensemble.lockstep.events import BEYOND_EVENT, CALM, CUT, GAP, OVER, PASSED, PEAK, SHORT, STOP
from pliant.ensemble.lockstep.lengths import AFTER_TOUCH
from pliant.ensemble.lockstep.runs import LockstepMembers, LockstepTolerances, inputs_of
from pliant.ensemble.lockstep.scheme import Scheme
from pliant.integrate.loop.judging import BRACKET
from pliant.integrate.methods.tableaus import DOP853

FAR = 10.0  # s: no stop before
NEAR = 1e-4


def lane_of(does: list[int], g: list[float], gd: list[float], **more) -> SimpleNamespace:
    """A member at t = 0 whose events are all watched, each on the side on which its function is."""
    n = len(does)
    arrays = {"g": g, "gd": gd, "gdd": np.zeros(n), "side": np.sign(g), "watching": range(n), "hit": np.zeros(n),
              "sought": np.zeros(n)}  # fmt: skip
    numbers = {"t": 0.0, "h": 1e-3, "step": 1e-3, "t_new": 1e-3, "n_watched": n, "aimed": 0.0, "tries": 0.0, "refusals": 0.0,
               "rejected": 0.0, "touch_h": 0.0, "dead": 0.0, "sure": 0.0, "error": 0.5, "calm": CALM}  # fmt: skip
    return SimpleNamespace(**{name: np.array(x, dtype=float) for name, x in arrays.items()} | numbers | more)


def shared_of(*corners: float) -> SimpleNamespace:
    """What members share: slip speeds at the corners of friction, and how closely events are located."""
    return SimpleNamespace(near=NEAR, near_peak=0.02, peak_tries=1.0, max_step=1.0, corners=[*corners, *[0.0] * (9 - len(corners))])


SHARED = shared_of()


@pytest.fixture
def table(monkeypatch):
    """Sets the tables of a structure with these events, one pair of bodies for all."""

    def use(does: list[int], direction: list[int] | None = None) -> None:
        numbers = SimpleNamespace(
            does=does, direction=direction or [0] * len(does), has_rate=[int(x != PEAK) for x in does],
            pair=[-1 if x == STOP else 0 for x in does], control=Scheme(DOP853).control,
        )  # fmt: skip
        for module in (back, events, judge, lengths):
            monkeypatch.setattr(module, "table", numbers)

    return use


def margin(h: float = 1e-3) -> float:
    """How far beyond an event that changes the equations a step is to end, s."""
    return BEYOND_EVENT * NEAR * h + 0.5 * BRACKET


def test_a_step_ends_just_beyond_the_first_event_ahead(table) -> None:
    does = [GAP, GAP, STOP, CUT]
    table(does)
    lane = lane_of(does, [1e-3, 5e-4, -1.0, 2.0], [-10.0, -10.0, 1.0, 1.0])
    assert events.event_ahead(lane, SHARED, 1e-3) == pytest.approx(5e-5 + margin(), rel=1e-12)
    assert events.event_ahead(lane, SHARED, 4e-5) == np.inf  # it is further away
    lane.g[3], lane.gd[3] = -2.0, 1e5  # a corner, sooner: located to a fraction of the step
    lane.side[3] = -1.0
    assert events.event_ahead(lane, SHARED, 1e-3) == pytest.approx(2e-5 * (1.0 + OVER), rel=1e-6)


def test_the_way_to_an_event_is_a_parabola(table) -> None:
    table([GAP])
    fall = lane_of([GAP], [1e-3], [-1.0], gdd=np.array([-9.81]))
    x = events.event_ahead(fall, SHARED, 1e-3) - margin()
    assert 1e-3 - x - 0.5 * 9.81 * x**2 == pytest.approx(0.0, abs=1e-12)
    rising = lane_of([GAP], [1e-6], [0.01], gdd=np.array([-1e3]))  # it will fall again
    x = events.event_ahead(rising, SHARED, 1e-3) - margin()
    assert 1e-6 + 0.01 * x - 500.0 * x**2 == pytest.approx(0.0, abs=1e-12) and x > 0.0
    turns = lane_of([GAP], [1e-3], [-1.0], gdd=np.array([600.0]))  # lowest at 1.7 mm/m of its way, above zero
    assert events.event_ahead(turns, SHARED, 1e-2) == np.inf
    dips = lane_of([GAP], [1e-3], [-1.0], gdd=np.array([400.0]))  # below zero for a while, above again at the end
    x = events.event_ahead(dips, SHARED, 1e-2) - margin()
    assert 1e-3 - x + 200.0 * x**2 == pytest.approx(0.0, abs=1e-12) and x < 2.5e-3


def test_a_first_step_to_the_end_of_a_contact_is_short_of_it(table) -> None:
    table([GAP])
    lane = lane_of([GAP], [-1e-4], [1.0])
    assert events.event_ahead(lane, SHARED, 1e-3) == pytest.approx(SHORT * 1e-4 + margin(), rel=1e-9)
    lane.aimed = 1.0
    assert events.event_ahead(lane, SHARED, 1e-3) == pytest.approx(1e-4 + margin(), rel=1e-9)


def test_slip_that_slows_down_leaves_a_corner_on_the_other_side(table) -> None:
    """|v| - c with v from 0.8 c to -c: a straight line for |v| would never come back to c."""
    table([CUT])
    c, rate = 1e-3, 100.0
    lane = lane_of([CUT], [-0.2 * c], [-rate])
    assert events.event_ahead(lane, shared_of(c), 1e-3) == pytest.approx(1.8 * c / rate * (1.0 + OVER), rel=1e-6)
    assert events.event_ahead(lane, SHARED, 1e-3) == np.inf  # a function of something else
    lane.gd[0] = rate  # it grows: the corner is ahead
    assert events.event_ahead(lane, shared_of(c), 1e-3) == pytest.approx(0.2 * c / rate * (1.0 + OVER), rel=1e-6)


def test_no_step_ends_where_a_function_turns_away_or_does_not_count(table) -> None:
    table([STOP], direction=[1])
    assert events.event_ahead(lane_of([STOP], [1.0], [-1e5]), SHARED, 1e-3) == np.inf  # falls, and only rising counts
    assert events.event_ahead(lane_of([STOP], [-1.0], [1e5]), SHARED, 1e-3) == pytest.approx(1e-5, rel=1e-2)
    table([GAP])
    assert events.event_ahead(lane_of([GAP], [1.0], [1e5]), SHARED, 1e-3) == np.inf
    assert events.event_ahead(lane_of([GAP], [1.0], [0.0]), SHARED, 1e-3) == np.inf
    within = lane_of([GAP], [1.0], [-1.0])
    for g in (0.0, -1e-13):  # so near zero that it has not changed its side
        within.g[0] = g
        assert events.event_ahead(within, SHARED, 1e-3) == np.inf


def test_a_function_that_only_comes_near_zero_is_not_followed(table) -> None:
    """A line meets a function's lowest point half way, again and again: after one such step the next one is as long as any."""
    table([GAP])
    lane = lane_of([GAP], [1e-3], [-10.0])
    lengths.aim(lane, SHARED, FAR)
    assert lane.aimed == 1.0 and lane.step == pytest.approx(1e-4, rel=1e-3)
    lane.t, lane.g[0], lane.gd[0] = lane.t_new, 3e-4, -5.0  # 6e-5 further
    lengths.aim(lane, SHARED, FAR)
    assert lane.aimed == 0.0 and lane.step == pytest.approx(lane.h)
    lane.aimed, lane.step = 1.0, 1e-3  # the same place after a step twenty times as long is worth another try
    lengths.aim(lane, SHARED, FAR)
    assert lane.aimed == 1.0 and lane.step == pytest.approx(6e-5, rel=1e-3)


def test_no_step_to_an_event_passes_a_stop(table) -> None:
    table([GAP])
    lane = lane_of([GAP], [1e-3], [-10.0])
    lengths.aim(lane, SHARED, 5e-5)
    assert lane.t_new == 5e-5 and lane.aimed == 0.0


def test_a_located_peak_does_not_hide_a_later_event(table) -> None:
    """A peak is looked for once. After that it no longer cuts the step, but a contact that opens later in the step still does."""
    does = [PEAK, GAP]
    table(does)
    lane = lane_of(does, [1.0, -1e-3], [0.0, 2.0], hits=0.0, force=[0.999], held=[1.0], peak=[1.0], tally=np.zeros(5))
    lane.g_new, lane.gd_new = np.array([-3.0, 1e-3]), np.array([0.0, 2.0])
    at_peak = events.first_event(lane, SHARED)
    assert at_peak == pytest.approx(2.5e-4, rel=0.05)
    lane.tries = SHARED.peak_tries
    at_gap = events.first_event(lane, SHARED)
    assert at_gap == pytest.approx(5e-4, rel=1e-3) and lane.hits == 2.0


def test_a_short_dip_is_not_passed_unseen(table) -> None:
    """A gap that is below zero for less than what is near enough: the step ends where it begins to be."""
    table([GAP])
    away, centre, end = 2e-8, 4e-4, 1e-3  # s

    def parabola(t: float) -> float:
        return 3.0 * ((t - centre) ** 2 - away**2)

    lane = lane_of([GAP], [parabola(0.0)], [-6.0 * centre], hits=0.0)
    lane.g_new, lane.gd_new = np.array([parabola(end)]), np.array([6.0 * (end - centre)])
    cut = events.first_event(lane, SHARED)
    assert lane.hits == 0.0 and parabola(cut) < 0.0


def test_a_peak_is_where_the_cubic_of_the_force_is_highest(table) -> None:
    table([PEAK])
    h, where = 2e-3, 0.37
    force = np.polynomial.Polynomial([5.0, 0.0, -3.0, 1.0])  # of the time since its peak, in steps
    rate = force.deriv()
    lane = lane_of([PEAK], [rate(-where) / h], [0.0], step=h, held=[force(-where)], force=[force(1.0 - where)])
    lane.g_new = np.array([rate(1.0 - where) / h])
    assert events.peak_inside(lane, 0) == pytest.approx(where * h, rel=1e-12)


def falling(table, monkeypatch, over: float = 3e-8) -> SimpleNamespace:
    """A stone that has passed the floor: with a work that grows all the time, and one of a contact that is open."""
    table([GAP, GAP])
    for name, x in {"N_C": 2, "N_CHAINED": 1, "N_ROWS": 1, "N_CARRIED": 2, "N_GUARDS": 1}.items():
        monkeypatch.setattr(back, name, x)
    vars(events.table).update(coordinate=[0], speed=[1], row=[1], guard=[0], needs=[0, 1], needs_some=[0, 0])
    v, g, step = -3.0, -9.81, 1e-3
    v_old = v - g * step
    y, y_old = v * over, v * over - 0.5 * (v + v_old) * step
    lane = lane_of([GAP, GAP], [y_old, 1.0], [v_old, v_old], step=step, h=step, t_new=step)
    lane.g_new, lane.gd_new, lane.hit = np.array([y, 0.5]), np.array([v, v]), np.array([-1.0, 0.0])
    lane.y, lane.y_new = np.array([y_old, v_old, 0.0, 7.0]), np.array([y, v, 0.2, 7.0])
    lane.rate, lane.rate_new, lane.flow, lane.flow_new = np.array([g]), np.array([g]), np.array([20.0, 1e9]), np.array([30.0, 1e9])
    lane.p = np.zeros(1)
    return lane


def test_a_step_that_ends_a_little_beyond_an_event_is_moved_back_to_it(table, monkeypatch) -> None:
    over = 3e-8
    lane = falling(table, monkeypatch, over)
    back.go_back(lane, SHARED)
    left = 0.5 * BRACKET  # beyond the event, so that it has happened
    when = over * (1.0 + 0.5 * 9.81 * over / 3.0)  # ago, by the parabola of the fall
    assert lane.t_new == pytest.approx(1e-3 - when + left, abs=1e-17)
    assert lane.y_new[0] == pytest.approx(-3.0 * left, abs=1e-16)
    assert lane.y_new[1] == pytest.approx(-3.0 + 9.81 * over, abs=1e-10)
    assert lane.y_new[2] == pytest.approx(0.2 - 30.0 * over, abs=1e-10)
    assert lane.y_new[3] == 7.0  # what belongs to the open contact does not change, whatever its rate was
    assert lane.g_new[0] == pytest.approx(lane.y_new[0], abs=1e-16) and lane.g_new[0] < 0.0
    assert lane.g_new[1] == pytest.approx(0.5 + 3.0 * over, abs=1e-10)
    assert lane.gd_new == pytest.approx([lane.y_new[1]] * 2, abs=1e-12)
    lane = falling(table, monkeypatch, over)
    lane.p[0] = 1.0  # it is closed
    back.go_back(lane, SHARED)
    assert lane.y_new[3] == pytest.approx(7.0 - 1e9 * over, rel=1e-4)


def test_it_is_moved_to_the_last_of_several_events_and_never_far(table, monkeypatch) -> None:
    lane = falling(table, monkeypatch)
    lane.hit[1], lane.side[1], lane.g_new[1] = -1.0, 1.0, -3e-8  # passed 1e-8 s ago
    back.go_back(lane, SHARED)
    assert lane.t_new == pytest.approx(1e-3 - 1e-8, abs=1e-12) and (lane.g_new < 0.0).all()
    for over in (1e-6, 0.0):  # ten times as far as events are located; not beyond
        lane = falling(table, monkeypatch, over)
        before = lane.y_new.copy()
        back.go_back(lane, SHARED)
        assert lane.t_new == 1e-3 and (lane.y_new == before).all()
    lane = falling(table, monkeypatch)
    lane.gd_new[0] = 3.0  # it comes back: how long ago it left is not known
    back.go_back(lane, SHARED)
    assert lane.t_new == 1e-3


def test_the_approach_speed_is_that_at_the_touch_itself(table) -> None:
    """Known once the start with new equations has evaluated it there; a contact that goes on keeps the speed of its touch."""
    table([GAP])
    vars(events.table).update(closed=[0], entry=[1], impulse=[0], gap=[0])
    lane = lane_of([GAP], [-1e-12], [-3.0], p=np.array([1.0, 2.9]), y=[0.7], begin_impulse=[0.7], member=0.0)
    shared = SimpleNamespace(floors=[1e-3], floors_step=0, t_start=-1.0)
    assert events.entry_speed(lane, shared, 0) == 3.0
    lane.gd[0] = -1e-9
    assert events.entry_speed(lane, shared, 0) == 1e-3  # at least what its law needs
    lane.gd[0], lane.y[0], lane.p[1] = 1.5, 0.8, 3.0  # later on
    assert events.entry_speed(lane, shared, 0) == 3.0
    lane.y[0], lane.p[0] = 0.7, 0.0  # open
    assert events.entry_speed(lane, shared, 0) == 3.0


def test_a_start_takes_the_approach_speed_and_forgets_how_corners_were_approached(table, monkeypatch) -> None:
    table([GAP, CUT])
    for name, x in {"N_ROWS": 0, "N_CARRIED": 0, "N_E": 2, "N_P": 1, "N_LIMIT": 0}.items():
        monkeypatch.setattr(judge, name, x)
    monkeypatch.setattr(events, "N_P", 1)
    vars(events.table).update(closed=[0], entry=[1], impulse=[0], gap=[0], order=[8.0], least_old=[-4.6])
    more = {"p": np.array([1.0, 2.9]), "y": [0.7], "begin_impulse": [0.7], "force": [0.0], "held": [9.0], "peak": [0.0],
            "probes": 0.0, "bend": 1.0, "slope": 1.0, "trial": 1e-3, "fresh": 0.0, "n_closed": 1.0, "next_row": 0.0,
            "start": 1.0}  # fmt: skip
    lane = lane_of([GAP, CUT], [0.0, 0.0], [0.0, 0.0], member=0.0, gdd=np.array([5.0, 6.0]), **more)
    lane.g_new, lane.gd_new = np.array([-1e-12, -0.1]), np.array([-3.0, 40.0])
    judge.take_up(lane, SimpleNamespace(floors=[1e-3], floors_step=0, n_plan=0, max_step=1.0, t_start=-1.0))
    assert lane.p[1] == 3.0 and lane.start == 0.0 and lane.due == 1.0 and lane.held == [0.0]
    assert lane.gdd.tolist() == [5.0, 0.0]  # the force begins at zero, and gaps go on as before


@pytest.mark.parametrize(("calm", "gdd"), [(CALM, [-100.0, 100.0]), (PASSED, [-100.0, 0.0]), (0.0, [7.0, 7.0])])
def test_a_step_to_a_stop_is_taken_as_any_other(table, monkeypatch, calm: float, gdd: list[float]) -> None:
    """A GPU leaves it to be judged, and has not made its end the present. What was judged to end at an event keeps the old bend."""
    table([GAP, CUT])
    monkeypatch.setattr(judge, "LATER", 1)
    lane = lane_of([GAP, CUT], [1e-3, -1e-3], [-1.0, 2.0], gdd=np.array([7.0, 7.0]), calm=calm, hits=float(calm == 0.0), moved=0.0)
    lane.g_new, lane.gd_new = np.array([5e-4, 1e-6]), np.array([-1.1, 2.1])
    judge.step_on(lane)
    assert lane.gdd == pytest.approx(gdd) and lane.side.tolist() == [1.0, 1.0] and lane.g.tolist() == [5e-4, 1e-6]


def test_events_are_located_the_more_closely_the_smaller_the_tolerance() -> None:
    """By parabolas from where a step ends, so that what they leave out stays in proportion."""
    near = {rtol: located(rtol) for rtol in (1e-2, 1e-6, 1e-9)}
    assert near[1e-2]["near"] == 1e-3 and near[1e-6]["near"] == pytest.approx(1e-4) and near[1e-9]["near"] == pytest.approx(1e-7)
    assert near[1e-2]["near_peak"] == near[1e-6]["near_peak"] > 4.0 * near[1e-9]["near_peak"]
    assert near[1e-6]["peak_tries"] == 1.0 and near[1e-9]["peak_tries"] == 2.0


def located(rtol: float) -> dict[str, float]:
    some = np.zeros((1, 1))
    members = LockstepMembers(some, some[0], some, some[0], some, some[0], some[0], some, some[0], 0.0)
    return inputs_of(members, LockstepTolerances(rtol, some[0], rtol, 1.0, 1.0, 100))[0]


def test_a_step_rejected_again_shrinks_faster(table) -> None:
    table([])
    lane = lane_of([], [], [], error=2.0, step=1.0)
    found = []
    for _ in range(4):
        lengths.set_length(lane, SHARED)
        found.append(lane.h)
    power = Scheme(DOP853).control[3]
    np.testing.assert_allclose(found, [0.9 * 2.0 ** (-k * power) for k in (1, 2, 3, 3)], rtol=1e-12)
    lane = lane_of([], [], [], error=1e9, step=1.0)
    lengths.set_length(lane, SHARED)
    lengths.set_length(lane, SHARED)
    assert lane.h == pytest.approx(0.1)
    assert lane.rejected == 2.0


def test_what_held_after_a_touch_is_kept_for_the_next(table) -> None:
    table([])
    lane = lane_of([], [], [], step=1e-5, h=1e-5)
    assert lengths.touch_step(lane, 2.5) == pytest.approx(2.5e-5)
    lane.step = 1e-8  # cut short by something else: no measure
    assert lengths.touch_step(lane, 2.5) == 0.0
    lane.step, lane.touch_h = 1e-5, 2e-5  # known since an earlier step
    assert lengths.touch_step(lane, 2.5) == 2e-5


def test_after_the_first_step_of_a_touch_steps_grow_soon(table) -> None:
    table([])
    lane = lane_of([], [], [], step=1e-5, h=1e-5)
    assert lengths.lengthened(lane, SHARED, 0.95) == pytest.approx(AFTER_TOUCH * 1e-5)
    assert lengths.touch_step(lane, 0.95) == pytest.approx(0.95e-5)  # the next first step is as long as the error allowed
    lane.touch_h = 1e-5
    assert lengths.lengthened(lane, SHARED, 0.95) == pytest.approx(0.95e-5)


def test_zero_itself_is_below_zero_as_in_the_general_loop(table) -> None:
    """A function that has come down to zero has crossed it; one that has come up to zero has not yet."""
    table([STOP, STOP])
    lane = lane_of([STOP, STOP], [1.0, -1.0], [-1e3, 1e3], hits=0.0)
    lane.g_new, lane.gd_new = np.zeros(2), np.array([-1e3, 1e3])
    events.first_event(lane, SHARED)
    assert lane.hit.tolist() == [-1.0, 0.0]


def test_a_force_that_only_flickers_has_no_peak(table) -> None:
    table([PEAK])
    lane = lane_of([PEAK], [1e-8], [0.0], hits=0.0, force=[1.0], held=[1.0], peak=[1.0 - 1e-13], tally=np.zeros(6), step=1e-2)
    lane.g_new, lane.gd_new = np.array([-1e-8]), np.zeros(1)
    assert events.first_event(lane, SHARED) == 0.0 and lane.hits == 0.0
    lane.g[0], lane.g_new[0] = 1e-4, -1e-4
    assert events.first_event(lane, SHARED) > 0.0 and lane.hits == 1.0
