"""End stops that rebound by a law, and backlash of joints and gears: against the laws' promise and integrations by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import pliant as pl
from older_files import without_checksums
from pliant.errors import ModelError
from pliant.model.normal_law import NORMAL_LAWS, delivered_restitution
from registered import made

TIGHT = pl.DOP853(rtol=1e-12, atol=1e-14)
INERTIA = 0.3  # kg m^2, of the flap


def flap(limits: pl.Limits, angle: float = 0.0, rate: float = 2.0, gravity: float = 0.0) -> pl.System:
    system = pl.System("flap", gravity=(0, -gravity))
    body = pl.RigidBody(mass=1.0, inertia=INERTIA, com=(0.5, 0.0, 0.0) if gravity else (0.0, 0.0, 0.0))
    system.add("flap", body, joint=pl.Revolute(angle=angle, rate=rate, limits=limits))
    return system


# ---- stops


@pytest.mark.parametrize("law", NORMAL_LAWS, ids=lambda law: law.__name__)
def test_a_stop_delivers_what_its_law_promises(law) -> None:
    """A rotation against the ground: the law's reduced mass is the inertia, its speed rad/s."""
    normal = made(law, restitution=0.6, stiffness=1e5, mass=INERTIA, speed=2.0)
    run = pl.simulate(flap(pl.Limits(low=-9.0, high=0.5, normal=normal)), 0.4)
    (touch,) = run.contacts
    assert touch.pair == "flap.angle high stop"
    assert touch.begin == pytest.approx(0.25, abs=1e-9) and touch.entry_speed == pytest.approx(2.0, abs=1e-9)
    assert touch.restitution == pytest.approx(normal.delivered_between(INERTIA, 2.0), abs=1e-7)
    assert run.ledger.relative_error_max < 1e-7


@pytest.mark.parametrize("restitution", [0.1, 0.6, 1.0])
def test_a_restitution_alone_is_delivered_at_both_ends_and_any_speed(restitution) -> None:
    """A slide between two stops: every rebound has the restitution asked, though each is slower than the one before."""
    system = pl.System("slide", gravity=(0, 0))
    limits = pl.Limits(low=-0.2, high=0.3, stiffness=4e4, restitution=restitution)
    system.add("slide", pl.RigidBody(mass=0.8), joint=pl.Prismatic(rate=3.0, limits=limits))
    run = pl.simulate(system, 1.0 if restitution > 0.5 else 2.0)
    assert {touch.pair for touch in run.contacts} == {"slide.displacement high stop", "slide.displacement low stop"}
    assert [touch.restitution for touch in run.contacts] == pytest.approx([restitution] * len(run.contacts), abs=1e-6)
    lost = sum(run.ledger.work[f"slide.displacement {end} stop normal"][-1] for end in ("low", "high"))
    assert lost == pytest.approx(run.values["kinetic"][-1] - run.values["kinetic"][0], abs=1e-7)
    assert run.ledger.relative_error_max < 1e-7 and not run.ledger.violations


def test_a_stop_carries_what_leans_on_it() -> None:
    """At rest on its stop: k d = m g l cos, in a run that settles, in equilibrium, and in the linearisation."""
    system = flap(pl.Limits(low=-0.2, high=0.5, stiffness=1e3, restitution=0.5), rate=0.0, gravity=9.81)
    rest = pl.equilibrium(system)
    depth = -0.2 - rest["flap.angle"]
    assert 1e3 * depth == pytest.approx(9.81 * 0.5 * math.cos(rest["flap.angle"]), rel=1e-9)
    assert "flap.angle low stop: pressed with" in str(rest) and "N m" in str(rest)
    settled = pl.simulate(system, 3.0)
    assert settled["flap.angle"][-1] == pytest.approx(rest["flap.angle"], abs=1e-8)
    stiffness = 1e3 - 9.81 * 0.5 * math.sin(rest["flap.angle"])
    about_the_pin = INERTIA + 0.25  # the inertia is that about the mass centre
    assert pl.linearise(system).A[1, 0] == pytest.approx(-stiffness / about_the_pin, rel=1e-9)


@pytest.mark.parametrize(
    ("angle", "rate", "touches", "ends_at"),
    [(0.5, 0.0, 1, 0.5), (0.5, -1.0, 0, 0.1), (0.5, 1.0, 1, None), (0.5 - 1e-17, 1.0, 1, None)],
)
def test_starts_on_the_stop_itself(angle, rate, touches, ends_at) -> None:
    """At rest there, leaving, or arriving: neither a touch that is none, nor one that is missed."""
    run = pl.simulate(flap(pl.Limits(low=-0.2, high=0.5, stiffness=1e3, restitution=0.5), angle, rate), 0.4)
    assert len(run.contacts) == touches
    if ends_at is not None:
        assert run["flap.angle"][-1] == pytest.approx(ends_at, abs=1e-12)
    else:
        assert run.contacts[0].restitution == pytest.approx(0.5, abs=1e-7)


def test_a_law_may_be_a_function_of_depth_rate_and_entry_speed() -> None:
    law = lambda depth, rate, entry_speed: 1e4 * depth * (1.0 + 0.5 * rate / entry_speed)  # noqa: E731
    run = pl.simulate(flap(pl.Limits(low=-9.0, high=0.5, normal=law)), 0.4)
    assert run.contacts[0].restitution == pytest.approx(delivered_restitution(0.5), abs=1e-7)


def test_stops_of_a_spring_and_a_damper_are_as_they_were() -> None:
    """They stay events by name, with their energy in the springs."""
    run = pl.simulate(flap(pl.Limits(low=-0.2, high=0.5, stiffness=1e3, damping=1.0)), 0.4)
    assert not run.labels["pair"] and run.events[0].name == "flap.angle high stop"
    assert "flap.angle stop" in run.ledger.work


# ---- backlash

MOTOR, LOAD, STIFFNESS, GAIN, RATE_GAIN, GAP = 0.02, 0.05, 200.0, 80.0, 1.2, 0.02


def servo(geared: bool, ratio: float = 1.0, **flank) -> pl.System:
    """A motor turns a load through backlash; it is told where the load is, and how fast itself turns."""
    system = pl.System("servo", gravity=(0, 0))
    play = pl.Backlash(gap=GAP, **(flank or {"stiffness": STIFFNESS}))
    motor = system.add("motor", pl.RigidBody(mass=1.0, inertia=MOTOR), joint=pl.Revolute())
    wheel = pl.RigidBody(mass=1.0, inertia=LOAD)
    if geared:
        system.add("load", wheel, joint=pl.Revolute(rate=1.0))
        system.close("mesh", "gear", "load.angle", "motor.angle", ratio=ratio, backlash=play)
        system.drive("control", "motor.angle", lambda t, q, v: -GAIN * q["load.angle"] - RATE_GAIN * v["motor.angle"])
    else:
        system.add("load", wheel, joint=pl.Revolute(rate=1.0, backlash=play), on=motor.root)
        system.drive("control", "motor.angle",
                     lambda t, q, v: -GAIN * (q["motor.angle"] + q["load.angle"]) - RATE_GAIN * v["motor.angle"])  # fmt: skip
    return system


def by_hand(t_end: float) -> tuple[np.ndarray, list[float]]:
    """(motor, load, their rates at the end; when a flank was met), each phase integrated to its own event."""
    t, state, side, met = 0.0, np.array([0.0, 0.0, 0.0, 1.0]), 0.0, []

    def rhs(t, y, side):
        torque = -STIFFNESS * (y[1] - y[0] - side * GAP / 2) if side else 0.0  # on the load
        return [y[2], y[3], (-GAIN * y[1] - RATE_GAIN * y[2] - torque) / MOTOR, torque / LOAD]

    def edge(side, direction):
        def event(t, y, _):
            return side * (y[1] - y[0]) - GAP / 2

        event.terminal, event.direction = True, direction
        return event

    while t < t_end:
        events = [edge(side, -1)] if side else [edge(1.0, 1), edge(-1.0, 1)]
        run = solve_ivp(rhs, (t, t_end), state, "DOP853", events=events, args=(side,), rtol=1e-13, atol=1e-15)
        t, state = run.t[-1], run.y[:, -1]
        if run.status == 1:
            side = 0.0 if side else 1.0 if run.t_events[0].size else -1.0
            met += [t] if side else []
    return state, met


@pytest.fixture(scope="module")
def expected() -> tuple[np.ndarray, list[float]]:
    return by_hand(5.0)


@pytest.fixture(scope="module")
def cycle() -> pl.Result:
    return pl.simulate(servo(geared=True), 5.0, method=TIGHT, save=1e-3)


def test_the_limit_cycle_through_a_geared_backlash_is_that_by_hand(cycle, expected) -> None:
    """Ends, and every one of 61 instants at which a flank is met."""
    state, met = expected
    assert cycle.values["q"][-1] == pytest.approx(state[:2], abs=1e-9)
    assert cycle.values["v"][-1] == pytest.approx(state[2:], abs=1e-8)
    assert [touch.begin for touch in cycle.contacts] == pytest.approx(met, abs=1e-9)
    assert len(met) > 50 and cycle.ledger.relative_error_max < 1e-10


def test_the_cycle_is_a_limit_cycle_near_the_one_of_the_describing_function(cycle) -> None:
    """Play is a dead zone: N(A) = GAIN, and the frequency is sqrt(GAIN/LOAD); a first harmonic knows some 10 %."""
    twist = np.abs(cycle["load.angle"] - cycle["motor.angle"])
    begins = [touch.begin for touch in cycle.contacts if touch.pair == "mesh high flank"]
    periods = np.diff(begins)
    assert periods[-8:] == pytest.approx(periods[-1], rel=1e-8)  # it has settled
    half = GAP / 2

    def described(a: float) -> float:
        return STIFFNESS * (1.0 - 2.0 / math.pi * (math.asin(half / a) + half / a * math.sqrt(1.0 - (half / a) ** 2)))

    amplitude = brentq(lambda a: described(a) - GAIN, 1.0001 * half, 1.0)
    assert np.max(twist[-1000:]) == pytest.approx(amplitude, rel=0.12)
    assert periods[-1] == pytest.approx(2.0 * math.pi * math.sqrt(LOAD / GAIN), rel=0.06)


def test_play_in_a_joint_is_the_same_as_in_a_gear_of_one_to_one(expected) -> None:
    run = pl.simulate(servo(geared=False), 5.0, method=TIGHT)
    motor, turned = run.values["q"][-1]
    assert (motor, motor + turned) == pytest.approx(expected[0][:2], abs=1e-9)


@pytest.mark.parametrize("rtol", [1e-5, 1e-6, 1e-7, 1e-8, 1e-9])
@pytest.mark.parametrize("kind", ["stop", "law"])
@pytest.mark.parametrize("way", [-1.0, 1.0])
def test_a_damped_stop_lets_go_where_its_force_has_come_to_zero(way, kind, rtol) -> None:
    """x = (v / w) exp(-d t) sin(w t) from the touch on, until k x + c x' = 0; the step ends at that corner of the force."""
    stiffness, damping, rate = 4e3, 30.0, 2.0
    d = 0.5 * damping / INERTIA
    w = math.sqrt(stiffness / INERTIA - d * d)
    held = (math.pi - math.atan2(damping * w, stiffness - damping * d)) / w
    x = rate / w * math.exp(-d * held) * math.sin(w * held)
    left = rate * math.exp(-d * held) * (math.cos(w * held) - d / w * math.sin(w * held))
    assert left < 0.0 and stiffness * x + damping * left == pytest.approx(0.0, abs=1e-9)
    given = {"stiffness": stiffness, "damping": damping}
    limits = pl.Limits(low=-0.5, high=0.5, **(given if kind == "stop" else {"normal": pl.Linear(**given)}))
    run = pl.simulate(flap(limits, rate=rate * way), 0.4, method=pl.DOP853(rtol, 1e-3 * rtol))
    assert run["v", "flap.angle"][-1] == pytest.approx(left * way, rel=3.0 * rtol)
    assert run["q", "flap.angle"][-1] == pytest.approx((0.5 + x + left * (0.15 - held)) * way, rel=3.0 * rtol)
    assert not any("lets go" in event.name for event in run.events)


@pytest.mark.parametrize("formulation", ["gibbs_appell", "lagrange", "gibbs", "denoc"])
def test_every_formulation_agrees_on_play(formulation, cycle) -> None:
    run = pl.simulate(servo(geared=True), 0.5, method=TIGHT, formulation=formulation)
    assert run.values["q"][-1] == pytest.approx(cycle.values["q"][500], abs=1e-9)


def test_the_start_of_a_geared_coordinate_is_not_moved_past_the_zero_of_its_gear() -> None:
    """The gear counts from the initial values of the model: `angle=` moves its zero, so `starts=` must not do otherwise unasked."""
    with pytest.raises(ModelError, match=r"starts must not be given for a geared coordinate.*load\.angle"):
        pl.ensemble(servo(geared=True), 0.01, starts={"load.angle": [0.1, 0.2]})


def test_a_flank_has_the_restitution_asked_between_two_geared_bodies() -> None:
    """No drive: x = a + 2 b bounces between the flanks, each time at 0.7 of its speed; 2 J a' - J b' stays."""
    system = pl.System("free gears", gravity=(0, 0))
    for name in ("a", "b"):
        system.add(name, pl.RigidBody(mass=1.0, inertia=0.1), joint=pl.Revolute(rate=1.0 if name == "a" else 0.0))
    system.close("mesh", "gear", "a.angle", "b.angle", ratio=-2.0, backlash=pl.Backlash(gap=0.1, stiffness=1e3, restitution=0.7))
    run = pl.simulate(system, 1.0)
    assert len(run.contacts) > 3
    assert [touch.restitution for touch in run.contacts] == pytest.approx([0.7] * len(run.contacts), abs=1e-6)
    kept = 2.0 * run.values["v"][:, 0] - run.values["v"][:, 1]
    assert kept == pytest.approx(2.0, abs=1e-9)
    assert run.ledger.relative_error_max < 1e-7


def test_without_a_gap_it_is_a_gear_on_a_spring() -> None:
    def gears(**held) -> pl.System:
        system = pl.System("gears", gravity=(0, 0))
        for name in ("a", "b"):
            system.add(name, pl.RigidBody(mass=1.0, inertia=0.1), joint=pl.Revolute(rate=1.0 if name == "a" else 0.0))
        system.close("mesh", "gear", "a.angle", "b.angle", ratio=-2.0, **held)
        return system

    play = pl.simulate(gears(backlash=pl.Backlash(gap=0.0, stiffness=1e3)), 0.5)
    spring = pl.simulate(gears(by="springs", stiffness=1e3), 0.5)
    assert play.values["q"][-1] == pytest.approx(spring.values["q"][-1], abs=1e-8)


def test_a_run_goes_on_through_a_pressed_flank() -> None:
    system = servo(geared=True, stiffness=STIFFNESS, restitution=0.6)
    whole = pl.simulate(system, 1.0, method=TIGHT)
    touch = next(touch for touch in whole.contacts if touch.begin > 0.3)
    first = pl.simulate(system, 0.5 * (touch.begin + touch.end), method=TIGHT)
    assert first.contacts[-1].lasting
    on = pl.simulate(system, 1.0, start=first, method=TIGHT)
    assert on.values["q"][-1] == pytest.approx(whole.values["q"][-1], abs=1e-9)
    assert on.contacts[0].entry_speed == pytest.approx(touch.entry_speed, rel=1e-9)


def test_parameters_of_play_reach_ensembles_and_sensitivities_through_its_touches() -> None:
    gap, e = pl.Parameter("gap", 0.1), pl.Parameter("e", 0.5)
    system = pl.System("free gears", gravity=(0, 0))
    for name in ("a", "b"):
        system.add(name, pl.RigidBody(mass=1.0, inertia=0.1), joint=pl.Revolute(rate=1.0 if name == "a" else 0.0))
    system.close("mesh", "gear", "a.angle", "b.angle", ratio=-2.0, backlash=pl.Backlash(gap=gap, stiffness=1e3, restitution=e))
    members = pl.ensemble(system, 0.5, parameters={"gap": [0.1, 0.2], "e": [0.5, 1.0]})
    alone = [pl.simulate(system, 0.5, parameters={"gap": g, "e": x}).values["q"][-1] for g, x in ((0.1, 0.5), (0.2, 1.0))]
    assert np.array_equal(members["q_end"].values, np.array(alone))
    slopes = pl.sensitivities(system, 0.5, ["gap", "e"])
    for k, (name, value) in enumerate((("gap", 0.1), ("e", 0.5))):
        sides = [{name: value * (1.0 + x)} for x in (-1e-5, 1e-5)]
        low, high = (pl.simulate(system, 0.5, parameters=side, method=TIGHT).values["q"][-1] for side in sides)
        assert slopes.final[:2, k] == pytest.approx((high - low) / (2e-5 * value), rel=1e-5)


# ---- files, words, refusals


def test_files_hold_stops_and_play(tmp_path) -> None:
    text = """
pliant: 1
system: play
gravity: [0, 0]
bodies:
  a: {rigid: {mass: 1, inertia: 0.1}, joint: {revolute: {rate: 1 rad/s, backlash: {gap: 0.2 deg, stiffness: 10 N m/rad}}}}
  b: {rigid: {mass: 1, inertia: 0.1}, joint: {prismatic: {limits: {low: -2 mm, high: 3 mm, normal: {hertz: {stiffness: 2e5}}}}}}
  c: {rigid: {mass: 1, inertia: 0.1}, joint: {revolute: {limits: {low: -1, high: 1, stiffness: 5, restitution: 0.4}}}}
  d: {rigid: {mass: 1, inertia: 0.1}, joint: {revolute: {limits: {low: -1, high: 1, normal: 100*depth*(1 + rate)}}}}
closures:
  mesh: {kind: gear, a: c.angle, b: d.angle, ratio: 2, backlash: {gap: 1e-3, stiffness: 1e3, damping: 2}}
"""
    system = pl.loads_model(text).system
    written = pl.dump_model(system)
    again = pl.loads_model(written).system
    assert again.closures == system.closures and pl.dump_model(again) == written
    assert {name: link.joint for name, link in again.links.items()} == {name: link.joint for name, link in system.links.items()}
    for line in ("backlash of a.angle: 0.2 deg about 0, Linear", "stops of b.displacement: -2 to 3 mm, Hertz",
                 "stops of c.angle: -57.2958 to 57.2958 deg, Exact", "backlash of mesh: 0.001, Linear"):  # fmt: skip
        assert line in str(system)
    run = pl.simulate(system, 0.01)
    run.to_netcdf(tmp_path / "play.nc")
    read = pl.Result.from_netcdf(tmp_path / "play.nc")
    assert list(read.labels["pair"]) == list(run.labels["pair"]) and len(run.labels["pair"]) == 10


@pytest.mark.parametrize(
    ("made_of", "words"),
    [
        (lambda: pl.Limits(low=0.0, high=1.0), "Limits: stiffness must be given unless a normal law is given"),
        (lambda: pl.Limits(low=0.0, high=1.0, stiffness=1.0, restitution=1.5), "Limits: restitution must be in"),
        (lambda: pl.Limits(low=0.0, high=1.0, stiffness=1.0, restitution=0.5, damping=1.0), "damping must be left out when a"),
        (lambda: pl.Limits(low=0.0, high=1.0, stiffness=1.0, normal=pl.Hertz(stiffness=1.0)), "stiffness must be left out when a"),
        (lambda: pl.Limits(low=0.0, high=1.0, normal=3.0), "Limits: normal must be a normal law or a function"),
        (lambda: pl.Backlash(gap=-1.0, stiffness=1.0), "Backlash: gap must be >= 0"),
        (lambda: pl.Backlash(gap=0.1), "Backlash: stiffness must be given"),
    ],
)
def test_what_is_wrong_is_refused_by_name(made_of, words) -> None:
    with pytest.raises(ModelError, match=words):
        made_of()


@pytest.mark.parametrize(
    ("held", "words"),
    [
        ({"by": "springs"}, "by must be left out when a backlash is given"),
        ({"stiffness": 1.0}, "stiffness must be left out when a backlash is given"),
        ({"damping": 1.0}, "damping must be left out when a backlash is given"),
        ({"backlash": None, "by": "backlash"}, "by must not be 'backlash' unless the closure is a gear with a backlash"),
        ({"backlash": 0.1}, "backlash must be a Backlash"),
    ],
)
def test_a_gear_is_held_in_one_way(held, words) -> None:
    system = servo(geared=False)
    system.add("other", pl.RigidBody(mass=1.0, inertia=0.1), joint=pl.Revolute())
    play = pl.Backlash(gap=0.1, stiffness=1.0)
    with pytest.raises(ModelError, match=words):
        system.close("mesh", "gear", "other.angle", "motor.angle", **{"ratio": 1.0, "backlash": play, **held})


def test_who_cannot_serve_play_says_so() -> None:
    system = servo(geared=True)
    with pytest.raises(ModelError, match="formulation must not be 'augmented' if stops have a law"):
        pl.simulate(system, 0.1, formulation="augmented")
    with pytest.raises(ModelError, match="elastic must be integrated for a system with backlash"):
        pl.inverse_dynamics(system, {"motor.angle": lambda t: t, "load.angle": lambda t: t}, 0.1)
    with pytest.raises(ModelError, match="backlash must be left out for a closure of kind point"):
        system.close("pin", "point", system.handle("load").tip, system.handle("motor").tip,
                     backlash=pl.Backlash(gap=0.1, stiffness=1.0))  # fmt: skip
    assert any("mesh high flank" in note for note in pl.equations(system).notes)


# ---- units


@pytest.fixture(scope="module")
def mixed() -> pl.Result:
    """A flap between stops, a gear with backlash, and a slide between stops: two kinds of rotation, one of lengths."""
    system = flap(pl.Limits(low=-0.2, high=0.2, stiffness=1e4, restitution=0.6))
    system.add("load", pl.RigidBody(mass=1.0, inertia=0.2), joint=pl.Revolute())
    system.close("mesh", "gear", "load.angle", "flap.angle", ratio=1.0, backlash=pl.Backlash(gap=0.02, stiffness=2e3, damping=1.0))
    limits = pl.Limits(low=-0.1, high=0.1, stiffness=1e4, restitution=0.6)
    system.add("slide", pl.RigidBody(mass=0.8), joint=pl.Prismatic(rate=1.0, limits=limits))
    return pl.simulate(system, 0.4)


def test_contacts_of_angles_have_their_own_units(mixed, tmp_path) -> None:
    """Torques and angular speeds are not headed N and m/s: contacts of lengths and of angles are two tables."""
    mixed.to_netcdf(tmp_path / "mixed.nc")
    for run in (mixed, pl.Result.from_netcdf(tmp_path / "mixed.nc")):
        lengths, angles = str(run.contacts).split("\n\n")
        assert "exit_speed, m/s" in lengths and "peak_force, N " in lengths and "impulse, N s" in lengths
        assert "exit_speed, rad/s" in angles and "peak_force, N m " in angles and "impulse, N m s" in angles
        assert {line.split("  ")[0] for line in lengths.splitlines()[1:]} == {"slide.displacement high stop"}
        turning = {line.split("  ")[0] for line in angles.splitlines()[1:]}
        assert "mesh low flank" in turning and "flap.angle high stop" in turning and not any("slide" in pair for pair in turning)
        assert len(str(run.contacts).splitlines()) == len(run.contacts) + 3  # two lines of heads, one between the tables
        html = run.contacts._repr_html_()
        assert html.count("<table>") == 2 and "peak force, N m<" in html and "peak force, N<" in html
        alone = run.contacts.of("flap.angle high stop")
        assert "rad/s" in str(alone) and " m/s" not in str(alone) and alone._repr_html_().count("<table>") == 1


def test_pictures_of_contacts_of_angles_have_their_units(mixed) -> None:
    number = [touch.pair for touch in mixed.contacts].index("flap.angle high stop")
    above, below = pl.plot.contact_forces(mixed, zoom=number).axes
    assert "rad/s in" in below.get_title(loc="left") and below.get_ylabel() == "force, N m"
    assert above.get_ylabel() == "normal force, N or N m"


def test_a_unit_that_no_contact_has_is_refused(mixed, tmp_path) -> None:
    import xarray

    mixed.to_netcdf(tmp_path / "whole.nc")
    with xarray.open_dataset(tmp_path / "whole.nc") as file:
        older = without_checksums(file.load())
    older["contact_unit"] = older["contact_unit"].astype(object)
    older["contact_unit"][0] = "furlong"
    older.to_netcdf(tmp_path / "mixed.nc")
    with pytest.raises(ModelError, match=r"contents must be a complete result .* 'furlong'"):
        pl.Result.from_netcdf(tmp_path / "mixed.nc")


# ---- what cannot rub


def test_the_ledger_has_no_friction_of_pairs_without_a_friction_law(mixed, tmp_path) -> None:
    """Stops, flanks and contacts without a law have one source; a law that happens not to rub keeps both of its own."""
    mixed.to_netcdf(tmp_path / "mixed.nc")
    for run in (mixed, pl.Result.from_netcdf(tmp_path / "mixed.nc")):
        assert set(run.ledger.work) == {f"{pair} normal" for pair in run.labels["pair"]}
        assert "friction" not in str(run.ledger) and "friction" not in run.ledger._repr_html_()
        assert "mesh low flank friction" in run.labels["source"]  # states and files are laid out as before
        assert run.ledger.relative_error_max < 1e-6
    system = pl.System("balls", gravity=(0, -9.81))
    for name, friction in (("slick", None), ("rough", pl.Coulomb(mu=0.3))):
        ball = system.add(name, pl.RigidBody(mass=1.0, inertia=0.004), joint=pl.Planar(position=(0.0, 1.0)))
        floor = pl.Plane(normal=(0, 1))
        system.contact(points=ball.root, against=floor, name=name, normal=pl.Hertz(stiffness=1e7), friction=friction)
    flight = pl.simulate(system, 0.1)
    assert set(flight.ledger.work) == {"slick slick.root normal", "rough rough.root normal", "rough rough.root friction"}


def test_a_dashpot_that_only_just_touches_does_not_cut_every_step():
    """The ball turns round a point that its surface touches, up to round-off, all the time."""
    system = pl.System("grazing", gravity=(0, -9.81))
    arm = system.add("arm", pl.RigidBody(mass=1.0, inertia=0.01, com=(0.15, 0.0), tip=(0.3, 0.0)), joint=pl.Revolute(rate=2.0))
    law = pl.Linear(stiffness=1e6, restitution=0.5, mass=1.0)
    system.contact(points=pl.Sphere(arm.tip, 0.3), against=pl.Point(system.ground), normal=law)
    run = pl.simulate(system, 1.0)
    assert run.ok and run.stats["steps"] < 300
