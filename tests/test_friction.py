"""Every friction law through the whole engine, against independent solutions of the same one-dimensional motion."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import pliant as pl
from pliant.model import friction_law as laws
from pliant.model.contact import Plane, Sphere
from pliant.model.friction_law import FRICTION_LAWS, BristleLaw
from pliant.model.normal_law import Hertz, HuGuo, HuntCrossley
from registered import FRICTION as EXAMPLES

FINE = pl.DOP853(rtol=1e-11, atol=1e-14)
MASS, PRESS = 2.0, 20.0  # kg, N
SPRING, BELT = 150.0, 0.08  # N/m, m/s
DEPTH, STIFFNESS = 1e-4, 2e7  # m, N/m^1.5: they press with 20 N
FRICTION = "floor block.root friction"

SOLVABLE = [law for law in FRICTION_LAWS if law is not laws.Karnopp]  # Karnopp has closed forms instead


def block(law, belt=None, pull=0.0, speed=0.0, spring=0.0):
    """A block told to stay pressed by DEPTH and not to turn; on the ground, or on a belt told to move. Free along x alone."""
    system = pl.System("block", gravity=(0, 0))
    on = system.ground
    if belt is not None:
        on = system.add("belt", pl.RigidBody(mass=1.0, inertia=1.0), joint=pl.Prismatic(motion=belt)).root
    still = {"y": lambda t: 0.0 * t - DEPTH, "angle": lambda t: 0.0 * t}
    springs = {"x": pl.Spring(spring)} if spring else None
    body = system.add("block", pl.RigidBody(mass=MASS, inertia=1.0),
                      joint=pl.Planar(velocity=(speed, 0), motion=still, spring=springs))  # fmt: skip
    system.contact(points=body.root, against=Plane(normal=(0, 1), on=on), normal=Hertz(stiffness=STIFFNESS), friction=law,
                   name="floor")  # fmt: skip
    if pull:
        system.force("pull", body.root, (pull, 0.0))
    return system


def friction_of(law, slip, z, dwell):
    """Force on the block and rates of the law's own states, along one line."""
    speed = abs(slip)
    if not isinstance(law, BristleLaw):
        return -math.copysign(law.force(speed, PRESS), slip), 0.0, 0.0
    (force,) = law.forces((slip,), (z,), speed, PRESS, dwell)
    return -force, law.deflection_rate(slip, z, speed, PRESS), law.dwell_rate(dwell, speed) if law.dwells else 0.0


def solved(law, times, spring=0.0, belt=0.0, pull=0.0, speed=0.0):
    """x, v and the work of friction at the times, by scipy."""

    def rates(t, y):
        x, v, z, dwell, _ = y
        force, dz, ddwell = friction_of(law, v - belt, z, dwell)
        return v, (pull - spring * x + force) / MASS, dz, ddwell, force * (v - belt)

    with np.errstate(invalid="ignore"):  # scipy divides zero by zero where a step has no error at all
        done = solve_ivp(rates, (times[0], times[-1]), (0.0, speed, 0.0, 0.0, 0.0), "DOP853", t_eval=times, rtol=1e-11,
                         atol=1e-13, max_step=2e-3)  # fmt: skip
    assert done.success
    return done.y[0], done.y[1], done.y[4]


def work(run):
    return run.values["work"][:, run.labels["source"].index(FRICTION)]


@pytest.mark.parametrize("law", SOLVABLE, ids=lambda law: law.__name__)
def test_a_block_on_a_spring_on_a_belt_moves_as_scipy_says(law):
    """Two cycles of stick and slip, or what the law makes of them; the equations jump in slope, which bounds what scipy can do."""
    one, times = EXAMPLES[law], np.linspace(0.0, 1.5, 151)
    run = pl.simulate(block(one, belt=lambda t: BELT * t, spring=SPRING), 1.5, method=FINE, save=times)
    x, v, taken = solved(one, times, spring=SPRING, belt=BELT)
    assert run["block.x"] == pytest.approx(x, abs=1e-8)
    assert run.rate("block.x") == pytest.approx(v, abs=1e-7)
    # bristles follow |s|, which bends at s = 0, and neither solver locates that
    assert work(run) == pytest.approx(taken, abs=1e-7 * abs(taken[-1]))
    assert run.ledger.relative_error_max < 1e-9
    assert np.max(run.values["friction_force"][:, 0, 0]) > 0.25 * PRESS


@pytest.mark.parametrize("law", SOLVABLE, ids=lambda law: law.__name__)
def test_a_block_that_is_pulled_and_one_that_is_thrown_move_as_scipy_says(law):
    one, times = EXAMPLES[law], np.linspace(0.0, 0.5, 51)
    for pull, speed in ((0.36 * PRESS, 0.0), (0.0, 0.5)):
        run = pl.simulate(block(one, pull=pull, speed=speed), 0.5, method=FINE, save=times)
        x, v, taken = solved(one, times, pull=pull, speed=speed)
        assert run["block.x"] == pytest.approx(x, abs=1e-8)
        assert run.rate("block.x") == pytest.approx(v, abs=1e-7)
        assert work(run) == pytest.approx(taken, abs=1e-8)
        assert run.ledger.relative_error_max < 1e-9


def test_what_friction_takes_is_the_integral_of_force_times_slip():
    """The ledger's work against Simpson's rule over the saved rows."""
    from scipy.integrate import simpson

    one = laws.Stribeck(mu_static=0.4, mu_kinetic=0.3, v_stribeck=0.05, transition=0.01)
    run = pl.simulate(block(one, belt=lambda t: BELT * t, spring=SPRING), 1.0, method=FINE, save=1e-4)
    slip = run.rate("block.x") - BELT
    assert work(run)[-1] == pytest.approx(simpson(run.values["friction_force"][:, 0, 0] * slip, x=run.time), rel=1e-9)
    assert run.values["power"][:, run.labels["source"].index(FRICTION)] == pytest.approx(
        run.values["friction_force"][:, 0, 0] * slip, abs=1e-14)  # fmt: skip


# ---- stick and slip


def test_karnopp_sticks_and_slips_with_the_period_of_the_closed_form():
    """Stick 2 d/v, slip (2/w)(pi - atan(w d/v)), d = (mu_s - mu_k) N/k; the band adds its own time, DV over the accelerations.

    Out of rest in the band the block still feels mu_s: t = sqrt(2 DV m/(k v)) to pass it, 1e-3 s here.
    """
    band = 1e-7
    law = laws.Karnopp(mu_static=0.4, mu_kinetic=0.3, band=band)
    run = pl.simulate(block(law, belt=lambda t: BELT * t, spring=SPRING), 4.0, method=pl.DOP853(rtol=1e-10, atol=1e-13), save=1e-4)
    assert run.ok
    distance, frequency = 0.1 * PRESS / SPRING, math.sqrt(SPRING / MASS)
    period = 2 * distance / BELT + 2.0 / frequency * (math.pi - math.atan(frequency * distance / BELT))
    slip = run.rate("block.x") - BELT
    sticking = np.abs(slip) < 2.0 * band
    begins = run.time[1:][sticking[1:] & ~sticking[:-1]]
    lag = 2.0 * math.sqrt(2.0 * band * MASS / (SPRING * BELT))
    assert len(begins) >= 5
    assert np.diff(begins[1:]) == pytest.approx(period, abs=lag + 1e-4)  # rows are 1e-4 s apart
    top, low = (mu * PRESS / SPRING for mu in (0.4, 0.2))
    settled = run.time > begins[1]
    swing = math.hypot(distance, BELT / frequency)
    assert np.max(run["block.x"][settled]) == pytest.approx(0.3 * PRESS / SPRING + swing, abs=BELT * lag)
    assert np.min(run["block.x"][settled]) == pytest.approx(0.3 * PRESS / SPRING - swing, abs=BELT * lag)
    assert low < np.min(run["block.x"][settled]) + swing and top > 0.0
    assert run.ledger.relative_error_max < 1e-9


@pytest.mark.parametrize(("share", "moves"), [(0.5, False), (0.99, False), (1.01, True)])
def test_karnopp_holds_below_static_friction_and_breaks_above(share, moves):
    law = laws.Karnopp(mu_static=0.4, mu_kinetic=0.3)
    run = pl.simulate(block(law, pull=share * 0.4 * PRESS), 2.0, method=FINE)
    if moves:
        wanted = (share * 0.4 - 0.3) * PRESS / MASS * 2.0  # but for the time in the band
        assert run.rate("block.x")[-1] == pytest.approx(wanted, rel=0.03)
    else:
        assert np.max(np.abs(run["block.x"])) < 1e-11
        assert run.values["friction_force"][1:, 0, 0] == pytest.approx(-share * 0.4 * PRESS, rel=1e-9)


def test_karnopp_breaks_away_when_a_growing_pull_passes_static_friction():
    """Pull 10 t N: held until t = mu_s N/10; in the band x'' = (10 t - mu_s N)/m, beyond it (10 t - mu_k N)/m."""
    band = 1e-3
    law = laws.Karnopp(mu_static=0.4, mu_kinetic=0.3, band=band)
    system = block(law)
    system.force("ramp", system.handle("block").root, (lambda t, q, v: 10.0 * t, 0.0))
    run = pl.simulate(system, 1.5, method=FINE, save=1e-2)
    broken = 0.4 * PRESS / 10.0
    held = run.time < broken
    assert np.max(np.abs(run["block.x"][held])) < 1e-11
    out = broken + math.sqrt(2.0 * band * MASS / 10.0)  # leaves the band
    slid = run.time > out
    t, gone = run.time[slid], out - broken
    speed = band + (5.0 * (t**2 - out**2) - 0.3 * PRESS * (t - out)) / MASS
    assert run.rate("block.x")[slid] == pytest.approx(speed, abs=1e-9)
    start = 10.0 / MASS * gone**3 / 6.0
    way = (5.0 / 3.0 * (t**3 - out**3) - 5.0 * out**2 * (t - out) - 0.15 * PRESS * (t - out) ** 2) / MASS
    assert run["block.x"][slid] == pytest.approx(start + band * (t - out) + way, abs=1e-9)


@pytest.mark.parametrize("speed", [0.3, 1.0])
def test_a_sliding_block_stops_where_it_should(speed):
    """(v^2 - DV^2)/(2 mu_k g), and DV tau in the band, where what slip is left dies away with tau = 1 ms."""
    law = laws.Karnopp(mu_static=0.4, mu_kinetic=0.3, band=1e-3)
    run = pl.simulate(block(law, speed=speed), 1.0, method=FINE, save=1e-2)
    slowing = 0.3 * PRESS / MASS
    assert run["block.x"][-1] == pytest.approx((speed**2 - 1e-6) / (2.0 * slowing) + 1e-3 * 1e-3, abs=1e-11)
    assert run.rate("block.x")[-1] == pytest.approx(0.0, abs=1e-12)
    stopped = run.time > speed / slowing + 0.02
    assert np.ptp(run["block.x"][stopped]) < 1e-11
    assert run.contacts[0].friction_loss == pytest.approx(0.5 * MASS * speed**2, rel=1e-11)


def test_regularised_laws_creep_and_the_creep_is_the_transition():
    """Under a pull of half mu N the slip is transition atanh(1/2), for ever: what Karnopp does not have."""
    law = laws.Coulomb(mu=0.3, transition=1e-3)
    run = pl.simulate(block(law, pull=0.15 * PRESS), 1.0, method=FINE)
    assert run.rate("block.x")[-1] == pytest.approx(1e-3 * math.atanh(0.5), rel=1e-9)


# ---- pre-sliding


def test_dahl_before_sliding_is_the_curve_of_its_paper():
    """F = mu N (1 - exp(-sigma0 x/mu)) going out; on the way back it unloads from there: hysteresis."""
    law, reach = laws.Dahl(sigma0=2e3, mu=0.3), 2e-4
    system = pl.System("told", gravity=(0, 0))
    motion = {"x": lambda t: reach * pl.sin(t), "y": lambda t: 0.0 * t - DEPTH, "angle": lambda t: 0.0 * t}
    body = system.add("block", pl.RigidBody(mass=MASS, inertia=1.0), joint=pl.Planar(motion=motion))
    system.add("idle", pl.RigidBody(mass=1.0), joint=pl.Prismatic())
    system.contact(points=body.root, against=Plane(normal=(0, 1)), normal=Hertz(stiffness=STIFFNESS), friction=law, name="floor")
    run = pl.simulate(system, 1.5 * math.pi, method=FINE, save=0.01)
    x, force = run["block.x"], -run.values["friction_force"][:, 0, 0]
    out = run.time <= math.pi / 2
    curve = 0.3 * PRESS * (1.0 - np.exp(-2e3 * x / 0.3))
    assert force[out] == pytest.approx(curve[out], abs=1e-7)
    peak = 0.3 * PRESS * (1.0 - math.exp(-2e3 * reach / 0.3))
    back = 0.3 * PRESS * (-1.0 + (1.0 + peak / (0.3 * PRESS)) * np.exp(2e3 * (x - reach) / 0.3))
    assert force[~out] == pytest.approx(back[~out], abs=1e-7)


@pytest.mark.parametrize("law", [laws.LuGre, laws.GonthierFriction], ids=lambda law: law.__name__)
def test_bristles_hold_by_bending(law):
    """Pulled by half of what holds, the block goes a few F/(sigma0 N) and no further: no slip but the bristles'."""
    one = EXAMPLES[law]
    run = pl.simulate(block(one, pull=0.5 * 0.3 * PRESS), 2.0, method=FINE)
    bent = 0.5 * 0.3 / one.sigma0
    assert 0.3 * bent < run["block.x"][-1] < 3.0 * bent
    assert abs(run.rate("block.x")[-1]) < 0.01 * bent
    assert -run.values["friction_force"][-1, 0, 0] == pytest.approx(0.5 * 0.3 * PRESS, rel=1e-3)


# ---- on inclines, in space, several at once


def incline(law, angle, azimuth=0.0, speed=0.0):
    """A point mass on a plane tilted by `angle` about an axis across its fall line, which points along `azimuth`; in space."""
    down = np.array([math.cos(angle) * math.cos(azimuth), math.cos(angle) * math.sin(azimuth), -math.sin(angle)])
    normal = np.array([math.sin(angle) * math.cos(azimuth), math.sin(angle) * math.sin(azimuth), math.cos(angle)])
    press = HuntCrossley(stiffness=1e7, restitution=0.5)
    depth = (MASS * 9.81 * math.cos(angle) / 1e7) ** (2 / 3)
    system = pl.System("incline", gravity=(0, 0, -9.81))
    body = system.add("block", pl.RigidBody(mass=MASS, inertia=(1, 1, 1)),
                      joint=pl.Free(position=tuple(-depth * normal), velocity=tuple(speed * down)))  # fmt: skip
    system.contact(points=body.root, against=Plane(normal=tuple(normal)), normal=press, friction=law, name="floor")
    return system, down


@pytest.mark.parametrize("azimuth", [0.0, 0.7])
@pytest.mark.parametrize(("tilt", "slides"), [(0.3, False), (0.45, True)])
def test_a_block_on_an_incline_stays_below_the_angle_of_friction_and_slides_above(tilt, slides, azimuth):
    """mu_s = tan(0.38): at 0.3 rad it stays; at 0.45 rad it goes down with g (sin - mu_k cos)."""
    law = laws.Karnopp(mu_static=0.4, mu_kinetic=0.3, band=1e-5)
    system, down = incline(law, tilt, azimuth)
    run = pl.simulate(system, 0.5, method=pl.DOP853(rtol=1e-10, atol=1e-13), save=0.01)
    way = np.array([run[f"block.{x}"][-1] - run[f"block.{x}"][0] for x in "xyz"])
    speed = np.array([run.rate(f"block.{x}")[-1] for x in "xyz"])
    if slides:
        pull = 9.81 * (math.sin(tilt) - 0.3 * math.cos(tilt))
        assert speed == pytest.approx(pull * 0.5 * down, abs=2e-5)  # the band is passed in 1e-5/0.4 s
        assert way == pytest.approx(pull * 0.125 * down, abs=2e-5)
    else:
        assert np.linalg.norm(way) < 1e-9
    assert run.ledger.balance_error_max < 1e-9


def test_friction_in_space_points_against_the_slip():
    """Thrown aslant on a level floor the block goes straight and stops at v^2/(2 mu g), in every direction."""
    law = laws.Coulomb(mu=0.3, transition=1e-5)
    for azimuth in (0.3, 2.0):
        system, heading = incline(law, 0.0, azimuth, speed=0.5)
        run = pl.simulate(system, 0.16, method=pl.DOP853(rtol=1e-9, atol=1e-12), save=0.01)
        gone = np.array([run[f"block.{x}"][-1] - run[f"block.{x}"][0] for x in "xyz"])
        assert gone @ heading == pytest.approx(0.5 * 0.16 - 0.5 * 0.3 * 9.81 * 0.16**2, abs=1e-7)
        assert np.linalg.norm(gone - (gone @ heading) * heading) < 1e-9


def rigid_bar(joint, law, **more):
    system = pl.System("bar", gravity=(0, -10.0))
    bar = system.add("bar", pl.RigidBody(mass=1.0, inertia=1 / 12, com=(0.5, 0), tip=(1.0, 0)), joint=joint)
    press = HuntCrossley(stiffness=1e6, restitution=0.5)
    system.contact(points=[bar.root, bar.tip], against=Plane(normal=(0, 1)), normal=press, friction=law, name="floor", **more)
    return system, bar


def test_both_ends_of_a_rigid_bar_hold_together():
    """One motion held by two contacts: they share the force as they share the weight, and hold to the last of both."""
    law = laws.Karnopp(mu_static=0.5, mu_kinetic=0.3)
    depth = (5.0 / 1e6) ** (2 / 3)
    system, bar = rigid_bar(pl.Planar(position=(0, -depth), velocity=(1.0, 0)), law)
    run = pl.simulate(system, 0.6, method=FINE, save=0.01)
    assert run.ok
    assert run["bar.x"][-1] == pytest.approx((1.0 - 1e-6) / 6.0 + 1e-6, abs=1e-8)
    system, bar = rigid_bar(pl.Planar(position=(0, -depth)), law)
    system.force("pull", bar.at((0.5, 0)), (4.9, 0.0))  # of 5 N that both can hold
    run = pl.simulate(system, 0.5, method=FINE, save=0.01)
    assert np.max(np.abs(run["bar.x"])) < 1e-10
    assert run.values["friction_force"][-1, :, 0] == pytest.approx([-2.45, -2.45], rel=1e-4)


def test_an_end_that_slides_is_held_by_the_one_that_sticks():
    """One end on a running belt, the other on the ground: friction of the belt, mu_k N, is what the ground holds."""
    law = laws.Karnopp(mu_static=0.5, mu_kinetic=0.3)
    for belt_first in (True, False):
        system = pl.System("bar", gravity=(0, -10.0))
        belt = system.add("belt", pl.RigidBody(mass=1.0, inertia=1.0), joint=pl.Prismatic(motion=lambda t: t))
        bar = system.add("bar", pl.RigidBody(mass=1.0, inertia=1 / 12, com=(0.5, 0), tip=(1.0, 0)),
                         joint=pl.Planar(position=(0, -((5.0 / 1e6) ** (2 / 3)))))  # fmt: skip
        laid = [("belt", bar.root, belt.root), ("floor", bar.tip, system.ground)]
        for name, point, on in laid if belt_first else laid[::-1]:
            system.contact(points=point, against=Plane(normal=(0, 1), on=on), friction=law, name=name,
                           normal=HuntCrossley(stiffness=1e6, restitution=0.5))  # fmt: skip
        run = pl.simulate(system, 0.2, method=FINE, save=0.01)
        forces = dict(zip(run.labels["pair"], run.values["friction_force"][-1, :, 0], strict=True))
        assert forces == pytest.approx({"belt bar.root": 1.5, "floor bar.tip": -1.5}, rel=1e-6)
        assert np.max(np.abs(run["bar.x"])) < 1e-10


def test_a_block_is_carried_by_a_belt_that_gains_speed():
    law = laws.Karnopp(mu_static=0.4, mu_kinetic=0.3)
    run = pl.simulate(block(law, belt=lambda t: t * t), 1.0, method=FINE, save=0.1, max_steps=20_000)  # 2 of the 4 m/s^2
    assert run.ok
    assert run["block.x"] == pytest.approx(run.time**2, abs=1e-9)


def test_a_ball_with_back_spin_comes_back():
    """Bounce with friction, in the plane: the tangential impulse is mu times the normal one while it slides."""
    system = pl.System("back spin", gravity=(0, -9.81))
    radius = 0.1
    body = system.add("ball", pl.RigidBody(mass=1.0, inertia=(0.4 * radius**2,) * 3),
                      joint=pl.Planar(position=(0, 0.6), velocity=(0.5, 0), rate=200.0))  # fmt: skip
    system.contact(points=Sphere(body.root, radius), against=Plane(normal=(0, 1)), normal=HuGuo(stiffness=1e7, restitution=0.7),
                   friction=laws.Coulomb(mu=0.2, transition=1e-3), name="floor")  # fmt: skip
    run = pl.simulate(system, 0.5, method=FINE, save=0.01)
    impulse = run.contacts[0].impulse
    assert run.rate("ball.x")[-1] == pytest.approx(0.5 - 0.2 * impulse, rel=1e-9)
    assert run.rate("ball.x")[-1] < 0.0
    assert run.rate("ball.angle")[-1] == pytest.approx(200.0 - 0.2 * impulse * radius / (0.4 * radius**2), rel=1e-5)
    assert run.ledger.relative_error_max < 1e-9


def over_the_top(up, along):
    """A ball that slides to and fro on top of another one, with friction that stores a deflection: (place, height, spin)."""
    up, along = np.eye(3)[up], np.eye(3)[along]
    system = pl.System("balls", gravity=tuple(-9.81 * up))
    low = system.add("low", pl.RigidBody(mass=1.0, inertia=(1.0, 1.0, 1.0)), joint=pl.Weld())
    start = pl.Free(position=tuple(0.3 * (math.cos(0.1) * up - math.sin(0.1) * along)),
                    velocity=tuple(0.3 * (math.cos(0.1) * along + math.sin(0.1) * up)))  # fmt: skip
    high = system.add("high", pl.RigidBody(mass=1.0, inertia=(4e-3, 4e-3, 4e-3)), joint=start)
    law = laws.LuGre(mu_static=0.4, mu_kinetic=0.3, v_stribeck=0.05, sigma0=1e3, sigma1=5.0)
    system.contact(points=Sphere(high.root, 0.1), against=Sphere(low.root, 0.2),
                   normal=HuntCrossley(stiffness=1e6, restitution=0.5), friction=law, name="touch")  # fmt: skip
    result = pl.simulate(system, t_end=0.15, method=pl.DOP853(rtol=1e-9, atol=1e-12), save=0.05, max_steps=2000)
    assert result.ok, result.message
    place = result.values["tip_position"][-1, 1]
    return place @ along, place @ up, np.linalg.norm(result.values["v"][-1, 3:6])


@pytest.mark.parametrize(("up", "along"), [(1, 2), (0, 2), (2, 0), (0, 1)])
def test_bristles_do_not_care_which_way_the_axes_point(up, along):
    assert over_the_top(up, along) == pytest.approx(over_the_top(1, 0), rel=1e-5, abs=1e-7)
