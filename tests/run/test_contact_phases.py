"""Contacts in runs: how they begin, rest, end and fall together; on stations, moving bodies and any pose; and none is missed."""

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import brentq

import pliant as pl
from mechanisms import HELD_ENTRY, HELD_FROM, held_ball, struck_ball
from pliant.model.contact import Capsule, Plane, Point, Sphere
from pliant.model.normal_law import Exact, Hertz, HuGuo, HuntCrossley
from pliant.results.table import OBSERVED, QUANTITIES
from pliant.run.prepare import compile_system

FINE = pl.DOP853(rtol=1e-10, atol=1e-13)
G = 9.81
FLOOR = Plane(normal=(0, 1))


def ball(mass=1.0, radius=0.1):
    return pl.RigidBody(mass=mass, inertia=(0.4 * mass * radius**2,) * 3)


def dropped(height, law, speed=0.0, radius=0.1, friction=None, **joint):
    """A ball with its lowest point at a height over the floor."""
    system = pl.System("ball", gravity=(0, -G))
    planar = pl.Planar(position=(0, height + radius), velocity=(joint.pop("slip", 0.0), -speed), **joint)
    body = system.add("ball", ball(radius=radius), joint=planar)
    system.contact(points=Sphere(body.root, radius), against=FLOOR, normal=law, friction=friction, name="floor")
    return system


def static_depth(law, load=G):
    return (load / law.stiffness) ** (1.0 / law.exponent)


# ---- how contacts begin, and rest


@pytest.mark.parametrize(("exponent", "stiffness"), [(1.0, 1e5), (1.5, 1e7), (2.2, 1e9)], ids=str)
@pytest.mark.parametrize("height", [0.0, -1e-4, 1e-12], ids=["touching", "pressed", "a hair above"])
def test_a_contact_that_begins_at_rest_settles_at_its_static_depth(height, exponent, stiffness):
    """Damped as one that came at the floor, so it creeps there: small motions die away with tau = c d/(n floor), 0.05 to 0.08 s."""
    law = HuntCrossley(stiffness=stiffness, restitution=0.5, exponent=exponent)
    run = pl.simulate(dropped(height, law), 2.0, method=FINE, save=0.01)
    assert run.ok and np.all(np.isfinite(run.values["a"]))
    assert run.contacts[-1].lasting
    assert len(run.contacts) == 1
    assert run.contacts[0].entry_speed == pytest.approx(0.0, abs=1e-5)
    assert -run.values["gap"][-1, 0] == pytest.approx(static_depth(law), rel=1e-6)
    assert run.values["normal_force"][-1, 0] == pytest.approx(G, rel=1e-6)
    assert run.values["v"][-1] == pytest.approx(0.0, abs=1e-9)
    assert run.ledger.balance_error_max < 1e-9 * G * static_depth(law) + 1e-11
    assert run.stats["steps"] < 6000


@pytest.mark.parametrize("law", [Exact, HuGuo, HuntCrossley])
def test_a_blow_on_a_resting_body_rebounds_as_its_law_says(law):
    """The blow gives the ball 2/3 m/s in a hundredth of the time that the floor takes to throw it back."""
    own = law(stiffness=1e8, restitution=0.8)
    run = pl.simulate(struck_ball(own), 0.004, method=FINE)
    floor = run.contacts.of("floor resting.root")[0]
    free = pl.simulate(dropped(1e-6, own, speed=2.0 / 3.0), 0.004, method=FINE).contacts[0]
    assert floor.exit_speed == pytest.approx(own.delivered * 2.0 / 3.0, rel=1e-3)
    assert floor.peak_force == pytest.approx(free.peak_force, rel=2e-2)  # on which its weight acts besides
    assert run.ledger.relative_error_max < 1e-9


@pytest.mark.parametrize("times", [1.5, 2.0, 4.0, 8.0, 20.0])
@pytest.mark.parametrize("law", [Exact, HuGuo])
def test_a_blow_on_a_body_that_once_hit_the_floor_and_never_left_rebounds_as_its_law_says(law, times):
    """However many times faster it is than that impact."""
    own, speed = law(stiffness=1e8, restitution=0.8), times * HELD_ENTRY
    run = pl.simulate(held_ball(own, speed), HELD_FROM + 0.004, method=FINE)
    (floor,) = run.contacts.of("floor held.root")
    assert floor.entry_speed == pytest.approx(HELD_ENTRY, rel=1e-4) and floor.begin < HELD_FROM < floor.end
    assert floor.exit_speed == pytest.approx(own.delivered * speed, rel=1e-3)


@pytest.mark.parametrize("times", [1.5, 2.0, 4.0, 8.0, 20.0])
def test_a_blow_on_a_body_that_was_laid_down_rebounds_as_its_law_says(times):
    own = Exact(stiffness=1e8, restitution=0.8, entry_floor=0.05)
    speed = 1.5 * times * own.entry_floor  # of the ball that strikes
    run = pl.simulate(struck_ball(own, speed), 1e-3 / speed + 0.004, method=FINE)
    (floor,) = run.contacts.of("floor resting.root")
    assert floor.exit_speed == pytest.approx(own.delivered * times * own.entry_floor, rel=1e-3)


@pytest.mark.parametrize("kind", ["contact", "stop", "own law"])
def test_a_harder_blow_on_a_closed_contact_begins_a_new_compression_and_a_lighter_one_does_not(kind):
    law = Exact(stiffness=1e8, restitution=0.8)
    normal = (lambda d, rate, entry: 1e8 * d**1.5 * (1.0 + law.factor * rate / entry)) if kind == "own law" else law
    entries = [abs(entry) for speed in (0.6 * HELD_ENTRY, 1.4 * HELD_ENTRY)
               for entry, _ in pl.simulate(held_ball(normal, speed, stop=kind == "stop"), HELD_FROM + 6e-4, method=FINE)
               .final_state.closed.values()]  # fmt: skip
    assert entries == pytest.approx([HELD_ENTRY, 1.4 * HELD_ENTRY], rel=1e-2)


def test_the_weight_of_a_body_within_one_impact_is_no_new_compression():
    """Pressed by 4 kN, its closing speed grows to 3 times the entry speed before it has come to rest, and the law keeps it."""
    law = Exact(stiffness=1e8, restitution=0.8)
    run = pl.simulate(held_ball(law), HELD_FROM - 0.001, method=FINE)
    assert -np.min(run.values["v"][:, 0]) > 3.0 * HELD_ENTRY
    assert abs(run.final_state.closed["floor held.root"][0]) == pytest.approx(HELD_ENTRY, rel=1e-4)


def test_a_body_that_is_shaken_at_rest_begins_few_new_compressions():
    """160 periods: steps as many as their vibration needs, and an entry speed that is the largest closing speed of all."""
    system = pl.System("shaken", gravity=(0, -G))
    resting = system.add("ball", ball(), joint=pl.Prismatic(axis=(0, 1), displacement=0.1))
    system.contact(points=Sphere(resting.root, 0.1), against=FLOOR, normal=Exact(stiffness=1e8, restitution=0.8), name="floor")
    system.drive("shaker", "ball.displacement", lambda t, q, v: 5.0 * pl.sin(1000.0 * t) * (1.0 + 0.1 * pl.sin(7.0 * t)))
    run = pl.simulate(system, 1.0, method=pl.DOP853(rtol=1e-7, atol=1e-10), save="steps")
    assert run.contacts[0].lasting and run.stats["steps"] < 3000
    assert abs(run.final_state.closed["floor ball.root"][0]) == pytest.approx(-np.min(run.values["v"]), rel=1e-3)


@pytest.mark.parametrize("asked", [0.3, 0.8])
def test_a_ball_that_starts_deep_in_the_floor_is_thrown_out(asked):
    """At rest, 3 mm deep: as from a hit at the speed u of its stored energy, v dv/dx = (u^2/2)' (1 - c v/u) on the way out."""
    law = Exact(stiffness=1e7, restitution=asked)
    system = pl.System("deep", gravity=(0, 0))
    body = system.add("ball", ball(), joint=pl.Planar(position=(0, 0.1 - 3e-3)))
    system.contact(points=Sphere(body.root, 0.1), against=FLOOR, normal=law, name="floor")
    run = pl.simulate(system, 0.05, method=FINE)
    c, speed = law.factor, math.sqrt(2.0 * law.stored(3e-3))
    share = brentq(lambda v: -v / c - math.log1p(-c * v) / c**2 - 0.5, 1e-3, (1.0 - 1e-12) / max(c, 1.0))
    assert run.contacts[0].exit_speed == pytest.approx(share * speed, rel=1e-8)
    assert "starts 0.003 m deep" in run.warnings[0]


def test_the_largest_joint_force_of_a_blow_is_known_however_few_rows_there_are(tmp_path):
    """A hammer on a parallelogram, whose blow of half a millisecond falls between two rows."""
    system, moves = pl.System("hammer", gravity=(0, -G)), pl.Revolute(angle=0.5, rate=-3.0)
    arm = system.add("arm", pl.RigidBody.rod(1.0, 2.0), joint=moves)
    other = system.add("other", pl.RigidBody.rod(0.5, 1.0), joint=moves, on=system.ground.moved((0, 0.2)))
    upright = pl.Revolute(angle=0.5 * math.pi - 0.5, rate=3.0)
    link = system.add("link", pl.RigidBody.rod(0.2, 0.3), joint=upright, on=arm.at((0.5, 0.0)))
    system.close("pin", "point", link.tip, other.tip)
    system.contact(points=Sphere(arm.tip, 0.02), against=Plane(normal=(0, 1), point=(0, -0.3)), normal=Hertz(stiffness=1e9))
    fine, coarse = (pl.simulate(system, 0.25, method=FINE, save=save) for save in ("steps", 0.01))
    blow, largest = fine.contacts[0], coarse.extremes.largest
    for name in ("reaction_force", "reaction_moment"):
        sizes = np.linalg.norm(fine.values[name], axis=2).max(axis=0)
        assert [largest[name][body][0] for body in ("arm", "other", "link")] == pytest.approx(sizes.tolist(), rel=1e-6, abs=1e-6)
    multipliers = np.abs(fine.values["multiplier"]).max(axis=0)
    assert [size for size, _ in largest["multiplier"].values()] == pytest.approx(multipliers.tolist(), rel=1e-6)
    assert np.linalg.norm(coarse.values["reaction_force"], axis=2).max() < 0.1 * largest["reaction_force"]["arm"][0]
    assert largest["reaction_force"]["arm"][1] == pytest.approx(blow.peak_time, abs=0.1 * blow.duration)
    coarse.to_netcdf(tmp_path / "run.nc")
    assert pl.Result.from_netcdf(tmp_path / "run.nc").extremes == coarse.extremes
    hardest = pl.report(coarse).of("reaction_force")[0]
    assert (hardest.part, (hardest.value, hardest.time)) == ("arm", largest["reaction_force"]["arm"]) and not hardest.warnings
    pin = np.linalg.norm(fine.values["multiplier"][:, :2], axis=1).max()
    assert largest["closure_force"]["pin"][0] == pytest.approx(pin, rel=1e-6)


def test_what_touches_and_moves_apart_is_open():
    system = pl.System("leaving", gravity=(0, 0))
    body = system.add("ball", ball(), joint=pl.Planar(position=(0, 0.1), velocity=(0, 1.0)))
    system.contact(points=Sphere(body.root, 0.1), against=FLOOR, normal=Hertz(stiffness=1e6))
    run = pl.simulate(system, 1.0, method=FINE)
    assert len(run.contacts) == 0
    assert run["ball.y"][-1] == pytest.approx(1.1, abs=1e-14)


def test_touching_without_weight_stays_at_rest():
    system = pl.System("still", gravity=(0, 0))
    body = system.add("ball", ball(), joint=pl.Planar(position=(0, 0.1)))
    system.contact(points=Sphere(body.root, 0.1), against=FLOOR, normal=HuGuo(stiffness=1e6, restitution=0.8))
    run = pl.simulate(system, 1.0, method=FINE)
    assert run.ok and np.all(run["ball.y"] == 0.1)


def test_a_pressed_contact_that_springs_off_gives_back_what_was_stored():
    depth, stiffness = 1e-3, 1e6
    system = pl.System("spring off", gravity=(0, 0))
    body = system.add("ball", ball(), joint=pl.Planar(position=(0, 0.1 - depth)))
    system.contact(points=Sphere(body.root, 0.1), against=FLOOR, normal=Hertz(stiffness=stiffness))
    run = pl.simulate(system, 0.1, method=FINE)
    stored = stiffness * depth**2.5 / 2.5
    assert run.values["contact"][0] == pytest.approx(stored, rel=1e-12)
    assert run.contacts[0].exit_speed == pytest.approx(math.sqrt(2.0 * stored), rel=1e-9)
    assert run.ledger.relative_error_max < 1e-9


def test_bounces_that_accumulate_neither_stall_nor_fall_through():
    """The steps stay within 100 a touch and 3000 a second at rest, and nothing sinks below twice the static depth."""
    law = HuGuo(stiffness=1e8, restitution=0.7)
    run = pl.simulate(dropped(0.5, law), 5.0, method=pl.DOP853(rtol=1e-8, atol=1e-11), save=1e-3)
    assert run.ok
    assert run.contacts[-1].lasting
    assert 10 < len(run.contacts) < 40
    entries = [record.entry_speed for record in run.contacts]
    assert entries == sorted(entries, reverse=True)
    resting = run.time > run.contacts[-1].begin + 0.5
    assert -run.values["gap"][resting, 0] == pytest.approx(static_depth(law), rel=1e-3)
    assert run.stats["steps"] < 100 * len(run.contacts) + 3000 * (5.0 - run.contacts[-1].begin)
    assert run.ledger.relative_error_max < 1e-6


def test_at_rest_the_run_goes_on_cheaply():
    """A second at rest costs no more events than a settled contact has noise."""
    law = HuGuo(stiffness=1e8, restitution=0.7)
    compiled = compile_system(dropped(-static_depth(law), law))
    short, long = (pl.simulate(compiled, t, method=pl.DOP853(rtol=1e-8, atol=1e-11), save=0.5) for t in (1.0, 6.0))
    assert short.ok and long.ok
    assert long.stats["steps"] - short.stats["steps"] < 5 * 3000
    assert long["ball.y"][-1] == pytest.approx(0.1 - static_depth(law), abs=1e-9)


def test_a_grazing_touch_is_seen_and_a_near_miss_is_none():
    """A ball in flight just over and just into the crest of a moving plane: the gap is the parabola h - g t^2/2 upside down."""
    for depth, touches in ((1e-7, 1), (-1e-7, 0)):
        system = pl.System("graze", gravity=(0, G))  # it falls upwards
        speed = math.sqrt(2.0 * G * (0.2 + depth))
        body = system.add("ball", ball(), joint=pl.Planar(position=(0, 0.3), velocity=(1.0, -speed)))
        system.contact(points=Sphere(body.root, 0.1), against=FLOOR, normal=Hertz(stiffness=1e6))
        run = pl.simulate(system, 1.0, method=pl.DOP853(rtol=1e-9, atol=1e-12))
        assert len(run.contacts) == touches
        for record in run.contacts:
            assert record.begin == pytest.approx((speed - math.sqrt(2.0 * G * depth)) / G, abs=1e-10)
            assert record.entry_speed == pytest.approx(math.sqrt(2.0 * G * depth), rel=1e-6)
            assert record.restitution == pytest.approx(1.0, abs=1e-6)


def test_a_row_at_a_touch_found_at_the_end_of_a_step_shows_its_force():
    """RealTime finds touches at the ends of steps, where the ball is already inside: so are the rows, and a run that ends there."""
    law, method = HuGuo(stiffness=1e7, restitution=0.8), pl.RealTime(step=1e-4)
    for speed in (3.0, 5.0, 7.77):
        run = pl.simulate(dropped(0.01, law, speed=speed), 0.01, method=method, save=1e-4)
        inside = (run.values["gap"][:, 0] < 0.0) & (run.values["closing_speed"][:, 0] > 0.0)
        assert np.any(inside) and np.all(run.values["normal_force"][inside, 0] > 0.0)
    stopped = dropped(0.01, law, speed=3.0)
    stopped.event("low", lambda t, q, v: q["ball.y"] - 0.105, stop=True)
    run = pl.simulate(stopped, 0.01, method=method, save=1e-4)
    assert "low" in run.message and run.time[-1] == pytest.approx(run.events[-1].t, abs=1e-12)


def test_a_load_that_steps_lifts_off_and_sets_down():
    """Breakpoints of a signal fall into the contact: what is closed stays closed, then opens, lands and rests at the new depth."""
    law = HuntCrossley(stiffness=1e7, restitution=0.5)
    system = dropped(-static_depth(law), law)
    system.force("lift", system.handle("ball").root, (0, pl.PiecewiseConstant([0, 0.5, 0.7], [0, 20.0, -5.0])))
    system.event("high", lambda t, q, v: q["ball.y"] - 0.3)
    run = pl.simulate(system, 2.5, method=FINE, save=0.01)
    first = run.contacts[0]
    assert first.begin == 0.0 and 0.5 < first.end < 0.501
    assert run.contacts[1].begin > 0.7 and run.contacts[-1].lasting
    assert [event.direction for event in run.events] == [1, -1]
    assert -run.values["gap"][-1, 0] == pytest.approx(static_depth(law, G + 5.0), rel=1e-6)
    assert run.ledger.relative_error_max < 1e-8


def test_a_run_that_a_user_ends_in_contact_tells_what_lasts():
    law = Hertz(stiffness=1e6)
    system = dropped(0.5, law)
    system.event("deepest", lambda t, q, v: v["ball.y"], direction="rising", stop=True)
    run = pl.simulate(system, 1.0, method=FINE)
    (record,) = run.contacts
    assert record.lasting and math.isnan(record.duration)
    assert record.impulse == pytest.approx(record.entry_speed + G * (run.events[0].t - record.begin), rel=1e-8)
    assert record.exit_speed == pytest.approx(0.0, abs=1e-9)


# ---- several at once


def test_a_bar_that_falls_flat_hits_with_both_ends_and_stays_level():
    system = pl.System("bar", gravity=(0, -G))
    bar = system.add("bar", pl.RigidBody(mass=1.0, inertia=1 / 12, com=(0.5, 0), tip=(1.0, 0)),
                     joint=pl.Planar(position=(-0.5, 0.3)))  # fmt: skip
    names = system.contact(points=[bar.root, bar.tip], against=FLOOR, normal=HuGuo(stiffness=1e7, restitution=0.6))
    assert names == ["contact bar.root", "contact bar.tip"]
    run = pl.simulate(system, 1.0, method=FINE, save=1e-3)
    left, right = (run.contacts.of(name) for name in names)
    assert len(left) == len(right) >= 2
    for a, b in zip(left, right, strict=True):
        assert a.begin == pytest.approx(b.begin, abs=1e-9)
        assert a.peak_force == pytest.approx(b.peak_force, rel=1e-7)
    assert left[0].begin == pytest.approx(math.sqrt(0.6 / G), abs=1e-10)
    assert left[0].impulse + right[0].impulse == pytest.approx(
        (left[0].entry_speed + left[0].exit_speed) + G * left[0].duration, rel=1e-8)  # fmt: skip
    assert np.max(np.abs(run["bar.angle"])) < 1e-9
    assert run.ledger.relative_error_max < 1e-9


def test_a_chain_of_balls_passes_the_motion_on():
    """Three balls in a row, not quite touching: the last leaves with the speed of the first."""
    system = pl.System("cradle", gravity=(0, 0))
    balls = [system.add(f"b{k}", ball(), joint=pl.Prismatic(rate=1.0 if k == 0 else 0.0), on=system.ground.moved((0.21 * k, 0)))
             for k in range(3)]  # fmt: skip
    for left, right in pairwise(balls):
        system.contact(points=Sphere(left.root, 0.1), against=Sphere(right.root, 0.1), normal=Hertz(stiffness=1e9))
    run = pl.simulate(system, 0.1, method=FINE)
    assert run.values["v"][-1] == pytest.approx([0.0, 0.0, 1.0], abs=1e-9)
    assert run.values["momentum"][:, 0] == pytest.approx(1.0, rel=1e-12)


# ---- on beams and moving bodies


def elastic_beam(modes=2):
    return pl.Beam(length=1.0, section=pl.Section.rectangle(0.02, 0.01), material=pl.STEEL, theory="timoshenko",
                   modes=pl.Modes("cf", modes))  # fmt: skip


def hit_beam(station=0.4, radius=0.0):
    """A beam pinned at its root falls on a post under one of its stations."""
    system = pl.System("hit beam", gravity=(0, -G))
    beam = system.add("beam", elastic_beam(), joint=pl.Revolute(angle=0.0, rate=-2.0), initial={"y1": 1e-3})
    post = Sphere(system.ground.moved((station, -0.05 - radius)), 0.04)
    shape = Sphere(beam.at(station), radius) if radius else Point(beam.at(station))
    system.contact(points=shape, against=post, normal=HuGuo(stiffness=1e7, restitution=0.8),
                   friction=lambda v, n: 0.2 * n * pl.tanh(v / 1e-2), name="post")  # fmt: skip
    return system


@pytest.mark.parametrize("radius", [0.0, 0.01], ids=["point", "ball"])
def test_a_station_of_an_elastic_beam_is_hit_and_every_joule_is_told(radius):
    run = pl.simulate(hit_beam(radius=radius), 0.5, method=pl.DOP853(rtol=1e-11, atol=1e-14), save=1e-4)
    assert len(run.contacts) >= 2
    assert run.contacts[0].pair == "post beam@0.4"
    assert np.max(np.abs(run["beam.y2"])) > 1e-5  # the modes were hit as well
    assert run.ledger.relative_error_max < 1e-9


def test_formulations_agree_on_a_hit_beam():
    runs = [pl.simulate(hit_beam(), 0.05, method=FINE, save=1e-3, formulation=f)
            for f in ("articulated", "gibbs_appell", "lagrange")]  # fmt: skip
    assert len(runs[0].contacts) >= 1
    for other in runs[1:]:
        assert np.max(np.abs(other.values["q"] - runs[0].values["q"])) < 1e-9


def observed(compiled, y, p):
    """What the observer says at a state, by name."""
    seen, offset, found = compiled.observe(0.0, y, p), 0, {}
    for name in OBSERVED:
        width = math.prod(len(compiled.traced.columns[d]) for d in QUANTITIES[name].dims)
        found[name] = seen[offset : offset + width]
        offset += width
    return found


@pytest.mark.parametrize("radius", [0.0, 0.01], ids=["point", "ball"])
def test_generalized_force_is_the_virtual_work_of_the_contact_force(radius):
    """M (a_closed - a_open) = F dgap/dq + f dslip/dv on angle and modes: dgap/dq by finite differences, M by kinetic energies."""
    compiled = compile_system(hit_beam(radius=radius))
    traced = compiled.traced
    slots, n = traced.pairs[0], len(traced.free_q)
    opened = traced.parameters(0.0, 1.0)
    closed = opened.copy()
    closed[slots.closed], closed[slots.entry] = 1.0, 0.8

    def state(q, v):
        return np.concatenate([q, v, np.zeros(traced.y0.size - 2 * n)])

    q, v, unit = np.array([-0.06 / 0.4, 2e-3, -1e-3]), np.array([-2.0, 0.3, 0.1]), np.eye(n)  # pressed in
    here = observed(compiled, state(q, v), closed)
    assert here["gap"][0] < 0.0 and here["normal_force"][0] > 1.0
    gaps = [[observed(compiled, state(q + s * 1e-6 * e, v), closed)["gap"][0] for s in (1.0, -1.0)] for e in unit]
    of_gap = np.array([(up - down) / 2e-6 for up, down in gaps])
    closing = [observed(compiled, state(q, e), closed)["closing_speed"][0] for e in unit]
    assert -np.array(closing) == pytest.approx(of_gap, abs=1e-8)  # what differences of 1e-6 give
    # slip along the friction, from its power: it is linear in v
    source = traced.sources.index("post beam@0.4 friction")
    along = here["friction_force"] / np.linalg.norm(here["friction_force"])
    of_slip = []
    for e in unit:
        one = observed(compiled, state(q, e), closed)
        of_slip.append(one["power"][source] / (one["friction_force"] @ along))
    work = here["normal_force"][0] * of_gap + np.linalg.norm(here["friction_force"]) * np.array(of_slip)

    def kinetic(rates):
        return observed(compiled, state(q, rates), opened)["kinetic"][0]

    mass = np.array([[kinetic(a + b) - kinetic(a) - kinetic(b) for b in unit] for a in unit])
    pressed, free = (compiled.rhs(0.0, state(q, v), p)[n : 2 * n] for p in (closed, opened))
    assert mass @ (pressed - free) == pytest.approx(work, rel=1e-7, abs=1e-9 * np.max(np.abs(work)))


def test_a_ball_on_a_plate_that_swings_is_carried_by_it():
    """A heavy plate swings as told, a ball on it bounces and comes to rest: the ledger counts the plate's effort."""
    system = pl.System("plate", gravity=(0, -G))
    plate = system.add("plate", pl.RigidBody(mass=5.0, inertia=1.0, frames={"top": (0, 0.05)}),
                       joint=pl.Revolute(motion=lambda t: 0.02 * pl.sin(6.0 * t)))  # fmt: skip
    body = system.add("ball", ball(), joint=pl.Planar(position=(0.2, 0.35)))
    system.contact(points=Sphere(body.root, 0.1), against=Plane(normal=(0, 1), point=(0, 0.05), on=plate.root),
                   normal=HuGuo(stiffness=1e6, restitution=0.5), friction=lambda v, n: 0.5 * n * pl.tanh(v / 1e-2))  # fmt: skip
    run = pl.simulate(system, 1.5, method=FINE, save=1e-3)
    assert run.ok and len(run.contacts) > 3
    assert run.ledger.relative_error_max < 1e-8
    alpha = 0.02 * np.sin(6.0 * run.time)  # the gap by hand
    gap = -np.sin(alpha) * run["ball.x"] + np.cos(alpha) * run["ball.y"] - 0.05 - 0.1
    assert run.values["gap"][:, 0] == pytest.approx(gap, abs=1e-13)
    assert np.min(gap) > -1e-2


def test_a_ball_on_a_free_plate_shares_momentum_with_it():
    system = pl.System("free plate", gravity=(0, 0))
    plate = system.add("plate", pl.RigidBody(mass=2.0, inertia=0.3), joint=pl.Planar(rate=0.5))
    body = system.add("ball", ball(), joint=pl.Planar(position=(0.25, 0.3), velocity=(0.2, -2.0), rate=3.0))
    system.contact(points=Sphere(body.root, 0.1), against=Plane(normal=(0, 1), on=plate.root),
                   normal=Hertz(stiffness=1e6), friction=lambda v, n: 0.4 * n * pl.tanh(v / 1e-2))  # fmt: skip
    run = pl.simulate(system, 0.3, method=pl.DOP853(rtol=1e-11, atol=1e-13), save=1e-3)
    assert len(run.contacts) >= 1
    for name in ("momentum", "angular_momentum"):
        assert np.max(np.abs(run.values[name] - run.values[name][0])) < 1e-11
    assert run.ledger.relative_error_max < 1e-9


# ---- shapes and poses


def test_a_capsule_lands_on_its_two_round_ends():
    system = pl.System("capsule", gravity=(0, -G))
    body = system.add("pill", pl.RigidBody(mass=1.0, inertia=0.02), joint=pl.Planar(position=(0, 0.5), angle=0.3))
    names = system.contact(points=Capsule(body.at((-0.1, 0)), 0.2, 0.05), against=FLOOR, name="floor",
                           normal=HuGuo(stiffness=1e7, restitution=0.3))  # fmt: skip
    assert names == ["floor pill.start", "floor pill.end"]
    run = pl.simulate(system, 2.0, method=FINE, save=1e-3)
    first = run.contacts[0]
    assert first.pair == "floor pill.start"  # the lower end
    fall = 0.5 - 0.1 * math.sin(0.3) - 0.05
    assert first.begin == pytest.approx(math.sqrt(2.0 * fall / G), abs=1e-10)
    assert run["pill.angle"][-1] == pytest.approx(0.0, abs=1e-5)  # it comes to lie flat
    assert run["pill.y"][-1] == pytest.approx(0.05 - (0.5 * G / 1e7) ** (2 / 3), abs=1e-6)
    assert run.ledger.relative_error_max < 1e-8


def test_a_capsule_turned_on_its_frame_points_along_the_frame():
    system = pl.System("capsule", gravity=(0, 0))
    body = system.add("pill", pl.RigidBody(mass=1.0, inertia=(1, 1, 1)), joint=pl.Free(position=(0, 0, 1.0)))
    frame = body.root.turned(0.7, "z").turned(0.4, "y")
    system.contact(points=Capsule(frame, 0.5, 0.1), against=Plane(normal=(0, 0, 1)), normal=Hertz(stiffness=1e6))
    run = pl.simulate(system, 0.01)
    assert run.values["gap"][0] == pytest.approx([0.9, 0.9 - 0.5 * math.sin(0.4)], abs=1e-15)


@pytest.mark.parametrize("normal", [(0, 0, 1), (1, 2, 2), (-0.3, 0.1, -0.9), (1, 0, 0)], ids=str)
def test_a_plane_of_any_pose_gives_the_same_bounce(normal):
    """The bounce of a ball dropped along -n on a plane of normal n, moved about in space, with spin and slip across."""
    n = np.array(normal) / np.linalg.norm(normal)
    across = np.cross(n, (0.6, -0.8, 0.1))
    across /= np.linalg.norm(across)
    point = np.array([0.3, -0.2, 0.7])
    system = pl.System("any pose", gravity=tuple(-G * n))
    start = point + 0.3 * n + 0.4 * across
    body = system.add("ball", ball(), joint=pl.Free(position=tuple(start), velocity=tuple(0.5 * across)))
    system.contact(points=Sphere(body.root, 0.1), against=Plane(normal=tuple(n), point=tuple(point)),
                   normal=HuGuo(stiffness=1e6, restitution=0.7), friction=lambda v, f: 0.1 * f * pl.tanh(v / 1e-2))  # fmt: skip
    run = pl.simulate(system, 0.4, method=FINE, save=[0.0, 0.4])
    record = run.contacts[0]
    assert record.begin == pytest.approx(math.sqrt(0.4 / G), abs=1e-10)
    flat = _flat_bounce()
    assert record.exit_speed == pytest.approx(flat[0], rel=1e-8)
    velocity = np.array([run.rate(f"ball.{x}")[-1] for x in "xyz"])
    assert (velocity @ across, velocity @ n) == pytest.approx(flat[1:], rel=1e-7)
    assert run.ledger.relative_error_max < 1e-9


def _flat_bounce():
    """The same in the plane."""
    system = pl.System("flat", gravity=(0, -G))
    body = system.add("ball", ball(), joint=pl.Planar(position=(0, 0.3), velocity=(0.5, 0)))
    system.contact(points=Sphere(body.root, 0.1), against=FLOOR, normal=HuGuo(stiffness=1e6, restitution=0.7),
                   friction=lambda v, f: 0.1 * f * pl.tanh(v / 1e-2))  # fmt: skip
    run = pl.simulate(system, 0.4, method=FINE, save=[0.0, 0.4])
    return run.contacts[0].exit_speed, run.rate("ball.x")[-1], run.rate("ball.y")[-1]


@pytest.mark.parametrize(("spin", "share"), [((0, 0, 0), 5 / 7), ((0, -10.0, 0), 5 / 7 - 2 / 7), ((0, 10.0, 0), 1.0)],
                         ids=["sliding", "back spin", "rolling"])  # fmt: skip
def test_a_ball_that_slides_comes_to_roll_at_five_sevenths(spin, share):
    """v = (5 v0 + 2 r w0)/7 once it rolls, whatever the friction, on a level floor in space. v0 = 1 m/s, r = 0.1 m."""
    law = HuntCrossley(stiffness=1e6, restitution=0.5)
    depth = static_depth(law)
    system = pl.System("bowling", gravity=(0, 0, -G))
    body = system.add("ball", ball(), joint=pl.Free(position=(0, 0, 0.1 - depth), velocity=(1.0, 0, 0), angular_velocity=spin))
    system.contact(points=Sphere(body.root, 0.1), against=Plane(normal=(0, 0, 1)), normal=law,
                   friction=lambda v, n: 0.3 * n * pl.tanh(v / 1e-3))  # fmt: skip
    run = pl.simulate(system, 1.0, method=pl.DOP853(rtol=1e-9, atol=1e-12), save=1e-2)
    assert run.rate("ball.x")[-1] == pytest.approx(share, abs=1e-6)
    assert run.rate("ball.wy")[-1] == pytest.approx(share / 0.1, abs=1e-5)
    slid = (1.0 - 0.1 * spin[1]) * 2.0 / 7.0 / (0.3 * G)  # s, of sliding at mu g
    if slid > 0.0:
        sliding = run.time < 0.9 * slid
        assert run.rate("ball.x")[sliding] == pytest.approx(1.0 - 0.3 * G * run.time[sliding], abs=1e-6)
    lost = -run.values["work"][-1, run.labels["source"].index("contact ball.root friction")]
    kinetic = run.values["kinetic"]
    assert lost == pytest.approx(kinetic[0] - kinetic[-1], rel=1e-6, abs=1e-8)
    assert run.ledger.relative_error_max < 1e-9


# ---- when: event times, and nothing is missed


def test_event_times_are_those_of_the_closed_forms():
    """Drop, throw and flight between spheres: 1e-10 s at any tolerance, for the motion is a polynomial."""
    for method in (pl.DOP853(rtol=1e-4, atol=1e-6), pl.RKF45(rtol=1e-6, atol=1e-9), pl.RK4(step=0.1)):
        run = pl.simulate(dropped(1.7, Hertz(stiffness=1e6), speed=-2.0), 1.5, method=method)
        assert run.contacts[0].begin == pytest.approx((2.0 + math.sqrt(4.0 + 2.0 * G * 1.7)) / G, abs=1e-10)


def test_the_end_of_a_swing_is_hit_when_it_should():
    """A rod falls from the horizontal on a floor half its length below: an elliptic integral."""
    from scipy.integrate import quad

    system = pl.System("rod", gravity=(0, -G))
    rod = system.add("rod", pl.RigidBody.rod(1.0, 1.0), joint=pl.Revolute())
    drop = 0.5
    system.contact(points=rod.tip, against=Plane(normal=(0, 1), point=(0, -drop)), normal=Hertz(stiffness=1e6))
    run = pl.simulate(system, 0.5, method=pl.DOP853(rtol=1e-12, atol=1e-14))
    # theta'^2 = (3 g/l) sin(theta): t = int dtheta/sqrt(3 g sin(theta)), with theta = s^2
    top = math.asin(drop)
    time, _ = quad(lambda s: 2.0 * s / math.sqrt(3.0 * G * math.sin(s * s)), 0.0, math.sqrt(top), epsabs=1e-14, epsrel=1e-13)
    assert run.contacts[0].begin == pytest.approx(time, abs=1e-10)
    assert run.contacts[0].entry_speed == pytest.approx(math.sqrt(3.0 * G * drop) * math.cos(top), rel=1e-9)


LOOSE = [pl.DOP853(rtol=1e-2, atol=1e-2), pl.RKF45(rtol=1e-2, atol=1e-2), pl.RK4(step=0.1)]


@pytest.mark.parametrize("method", LOOSE, ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("aside", [0.0, 1.9e-3], ids=["head on", "almost past"])
def test_a_fast_small_sphere_does_not_pass_another(method, aside):
    """1 km/s, radii 1 mm, 50 m apart: 50,000 diameters in the steps they would like to take."""
    system = pl.System("bullet", gravity=(0, 0))
    bullet = system.add("bullet", ball(1e-3, 1e-3), joint=pl.Planar(position=(-50.0, aside), velocity=(1000.0, 0)))
    target = system.add("target", ball(1e-3, 1e-3), joint=pl.Planar())
    system.contact(points=Sphere(bullet.root, 1e-3), against=Sphere(target.root, 1e-3), normal=Hertz(stiffness=1e12))
    run = pl.simulate(system, 0.2, method=method)
    assert len(run.contacts) == 1
    way = 50.0 - math.sqrt(4e-6 - aside**2)
    assert run.contacts[0].begin == pytest.approx(way / 1000.0, abs=1e-10)
    assert run.contacts[0].entry_speed == pytest.approx(1000.0 * math.sqrt(4e-6 - aside**2) / 2e-3, rel=1e-6)
    assert run.values["momentum"][-1] == pytest.approx([1.0, 0.0, 0.0], abs=1e-9)
    assert np.max(run.rate("target.x")) > 10.0


@pytest.mark.parametrize("method", LOOSE, ids=lambda m: type(m).__name__)
def test_a_fast_small_sphere_does_not_pass_a_wall(method):
    system = pl.System("pellet", gravity=(0, 0))
    body = system.add("pellet", ball(1e-3, 1e-3), joint=pl.Planar(position=(-30.0, 0.0), velocity=(1000.0, 0)))
    system.contact(points=Sphere(body.root, 1e-3), against=Plane(normal=(-1, 0)), normal=Exact(stiffness=1e12, restitution=0.5))
    run = pl.simulate(system, 0.1, method=method)
    (record,) = run.contacts
    assert record.begin == pytest.approx((30.0 - 1e-3) / 1000.0, abs=1e-10)
    assert record.exit_speed > 100.0  # 500 but for tolerances of 1 cm, and it does come back
    assert run.rate("pellet.x")[-1] < 0.0


@pytest.mark.parametrize("rate", [30.0, 200.0])
@pytest.mark.parametrize("method", LOOSE[:2], ids=lambda m: type(m).__name__)
def test_the_ends_of_a_bar_that_spins_in_flight_dip_into_nothing_unseen(method, rate):
    """Its states are polynomials in time, so steps would span whole turns of it."""
    system = pl.System("spinning bar", gravity=(0, -G))
    bar = system.add("bar", pl.RigidBody(mass=1.0, inertia=1 / 12, tip=(0.5, 0), frames={"left": (-0.5, 0)}),
                     joint=pl.Planar(position=(0, 3.0), rate=rate))  # fmt: skip
    system.contact(points=[bar.at("left"), bar.tip], against=FLOOR, normal=Hertz(stiffness=1e6))
    run = pl.simulate(system, 0.8, method=method)
    times = np.linspace(0.6, 0.8, 200_001)
    low = 3.0 - 0.5 * G * times**2 - 0.5 * np.abs(np.sin(rate * times))
    assert run.contacts[0].begin == pytest.approx(times[np.argmax(low < 0.0)], abs=2e-6)


@pytest.mark.parametrize("method", LOOSE[:2], ids=lambda m: type(m).__name__)
def test_what_falls_from_rest_does_not_pass_a_small_sphere(method):
    system = pl.System("apple", gravity=(0, -G))
    body = system.add("apple", ball(1.0, 1e-3), joint=pl.Planar(position=(0, 100.0)))
    system.contact(points=Sphere(body.root, 1e-3), against=Sphere(system.ground, 1e-3), normal=Hertz(stiffness=1e12))
    run = pl.simulate(system, 10.0, method=method)
    assert len(run.contacts) >= 1
    assert run.contacts[0].begin == pytest.approx(math.sqrt(2.0 * (100.0 - 2e-3) / G), abs=1e-10)


def test_shallow_dips_are_seen_wherever_steps_end():
    """The end of a rod dips 0.03 mm into a plane once a turn, at every phase to the steps."""
    missed = 0
    for start in np.linspace(-1.2, 0.0, 20):
        system = pl.System("rod", gravity=(0, 0))
        rod = system.add("rod", pl.RigidBody.rod(1.0, 1.0), joint=pl.Revolute(angle=start, rate=-1.0))
        system.contact(points=rod.tip, against=Plane(normal=(0, 1), point=(0, -1.0 + 3e-5)), normal=Hertz(stiffness=1e6))
        missed += not pl.simulate(system, 3.0, method=pl.DOP853(rtol=1e-6, atol=1e-9), save=[0.0, 3.0]).contacts
    assert missed == 0


def test_fixed_steps_cut_short_are_never_made_up_for_by_longer_ones():
    system = pl.System("fixed", gravity=(0, 0))
    a = system.add("a", ball(), joint=pl.Planar(position=(-10.0, 0.0), velocity=(100.0, 0)))
    b = system.add("b", ball(), joint=pl.Planar(position=(0, 3.0)))
    system.contact(points=Sphere(a.root, 0.01), against=Sphere(b.root, 0.01), normal=Hertz(stiffness=1e5))
    run = pl.simulate(system, 10.0, method=pl.RK4(step=0.05))
    assert run.stats["largest_step_s"] <= 0.05 * (1.0 + 1e-6)
