"""Impulsive contacts: impacts without duration, several at once, with friction, in trees, loops and elastic links; then rest."""

import math
from dataclasses import replace

import numpy as np
import pytest

import pliant as pl
from pliant import Plane, Sphere
from pliant.gallery.falling_chain.system import falling_chain
from pliant.gallery.slider_crank.system import slider_crank
from pliant.run.prepare import compile_system

G = 9.81
KINDS = ("newton", "poisson")


def sticky(mu):
    return pl.Karnopp(mu_static=mu, mu_kinetic=mu)


def compact(mass, size=0.1):
    return pl.RigidBody(mass=mass, inertia=(0.4 * mass * size**2,) * 3)


def dropped(law, height=1.0, friction=None):
    system = pl.System("ball", gravity=(0, -G))
    ball = system.add("ball", compact(1.3), joint=pl.Prismatic(axis="y", displacement=height))
    system.contact(points=ball.root, against=Plane(normal=(0, 1)), normal=law, friction=friction, name="floor")
    return system


def with_law(system, law, friction=None):
    """The same mechanism with another law in all its contacts."""
    for name, pair in system.contacts.items():
        system.contacts[name] = replace(pair, normal=law, friction=friction)
    return system


def never_created(result):
    """Whether the energy lost never falls: no impact, and nothing else here, creates energy."""
    energy = np.asarray(result.ledger.energy)
    return np.max(np.diff(energy)) <= 1e-7 * np.ptp(energy) and result.ledger.relative_error_max < 1e-8


# ---- one contact


@pytest.mark.parametrize("kind", KINDS)
def test_a_ball_bounces_ever_shorter_until_the_closed_form_says_that_it_rests(kind):
    e, height, floor = 0.8, 1.0, 1e-4
    result = pl.simulate(dropped(pl.Impulsive(restitution=e, kind=kind), height), 6.0)
    assert result.ok and not result.warnings
    fall = math.sqrt(2.0 * height / G)
    begins, entries = fall, G * fall
    for touch in result.contacts[:-1]:
        assert (touch.begin, touch.end) == pytest.approx((begins, begins), abs=1e-9)
        assert touch.entry_speed == pytest.approx(entries, abs=1e-8) and touch.restitution == pytest.approx(e, abs=1e-12)
        assert touch.impulse == pytest.approx(1.3 * (1.0 + e) * entries, abs=1e-8)
        begins, entries = begins + 2.0 * e * entries / G, e * entries
    assert entries <= floor < entries / e  # the first that is slower than its floor ends the bounces
    last = result.contacts[-1]
    assert last.lasting and last.begin == pytest.approx(fall * (1 + e) / (1 - e), abs=2.0 * floor / (G * (1.0 - e)))
    assert abs(result.data["q"].values[-1, 0]) < 1e-10 and last.peak_force == pytest.approx(1.3 * G, rel=1e-9)
    assert result.data["normal_force"].values[-1, 0] == pytest.approx(1.3 * G, rel=1e-9)
    assert result.ledger.balance_error_max < 1e-11
    assert sum(touch.normal_loss for touch in result.contacts) == pytest.approx(1.3 * G * height, rel=1e-9)


@pytest.mark.parametrize("method", ["Radau5", pl.RK4(step=1e-4)], ids=["implicit", "fixed"])
def test_any_method_bounces(method):
    e, fall = 0.5, math.sqrt(2.0 / G)
    result = pl.simulate(dropped(pl.Impulsive(restitution=e)), 2.0, method=method)
    assert result.ok and result.contacts[-1].lasting
    assert result.contacts[-1].begin == pytest.approx(fall * (1.0 + e) / (1.0 - e), abs=2e-3)
    assert result.ledger.relative_error_max < 1e-8


def test_a_ball_at_rest_on_a_platform_leaves_it_when_the_platform_falls_faster_than_free():
    """The platform's motion is prescribed, so the impulse of its drive does work too, and the ledger knows it."""
    amplitude, omega = 0.05, 20.0
    system = pl.System("platform", gravity=(0, -G))
    plate = system.add("plate", compact(1.0), joint=pl.Prismatic(axis="y", motion=lambda t: amplitude * pl.sin(omega * t)))
    ball = system.add("ball", compact(0.7), joint=pl.Prismatic(axis="y", displacement=0.1, rate=amplitude * omega))
    floor = Plane(normal=(0, 1), on=plate.root)
    system.contact(points=Sphere(ball.root, 0.1), against=floor, normal=pl.Impulsive(restitution=0.5))
    result = pl.simulate(system, 0.5)
    assert result.contacts[0].begin == 0.0 and len(result.contacts) > 1
    assert result.contacts[0].end == pytest.approx(math.asin(G / (amplitude * omega**2)) / omega, abs=1e-8)
    assert result.ok and not result.warnings and result.ledger.relative_error_max < 1e-8


def test_a_body_slides_on_its_resting_contact_and_stops_where_friction_says():
    speed, mu = 2.0, 0.4
    system = pl.System("sliding", gravity=(0, -G))
    cart = system.add("cart", compact(1.0), joint=pl.Prismatic(axis="x", rate=speed))
    foot = system.add("foot", compact(1.0), joint=pl.Prismatic(axis="y"), on=cart.tip)
    normal = pl.Impulsive(restitution=0.5)
    system.contact(points=foot.root, against=Plane(normal=(0, 1)), normal=normal, friction=sticky(mu))
    result = pl.simulate(system, 1.5)
    assert result.ok and not result.warnings and len(result.contacts) == 1
    assert result.data["q"].values[-1, 0] == pytest.approx(speed**2 / (mu * G), abs=2e-6)  # both masses, the weight of one
    assert abs(result.data["v"].values[-1, 0]) < 1e-12


def test_an_end_stop_may_be_impulsive():
    stop = pl.Limits(low=-1.0, high=0.5, normal=pl.Impulsive(restitution=0.7))
    system = pl.System("stop", gravity=(0, 0))
    system.add("arm", pl.RigidBody.rod(1.0, 2.0), joint=pl.Revolute(rate=3.0, limits=stop))
    result = pl.simulate(system, 0.5, save=[0.0, 0.5])
    assert result.data["v"].values[-1, 0] == pytest.approx(-2.1, abs=1e-9) and result.ledger.relative_error_max < 1e-9


def test_a_run_goes_on_from_a_contact_at_rest():
    system = dropped(pl.Impulsive(restitution=0.5))
    first = pl.simulate(system, 2.0)
    then = pl.simulate(system, 2.5, start=first)
    assert then.ok and then.contacts[-1].lasting and then.contacts[-1].begin == first.contacts[-1].begin
    assert then.data["normal_force"].values[:, 0] == pytest.approx(1.3 * G, rel=1e-8)


# ---- several at once


def cradle(count, gap, restitution=1.0, kind="newton"):
    system, before = pl.System("cradle", gravity=(0, 0)), None
    for i in range(count):
        start = pl.Prismatic(displacement=-0.05, rate=1.0) if i == 0 else pl.Prismatic()
        ball = system.add(f"b{i}", compact(1.0), joint=start, on=system.ground.moved((i * (0.2 + gap), 0.0)))
        if before is not None:
            law = pl.Impulsive(restitution=restitution, kind=kind)
            system.contact(points=Sphere(ball.root, 0.1), against=Sphere(before.root, 0.1), normal=law, name=f"c{i}")
        before = ball
    return system


@pytest.mark.parametrize("kind", KINDS)
def test_a_cradle_with_gaps_passes_the_speed_on_and_one_without_shares_it(kind):
    """With gaps there is one impact after the other. Balls that touch are struck at once: the known answer of both hypotheses."""
    apart = pl.simulate(cradle(5, 1e-6, kind=kind), 0.2)
    assert apart.data["v"].values[-1] == pytest.approx([0.0, 0.0, 0.0, 0.0, 1.0], abs=1e-9) and len(apart.contacts) == 4
    touching = pl.simulate(cradle(3, 0.0, kind=kind), 0.2)
    assert touching.data["v"].values[-1] == pytest.approx([-1 / 3, 2 / 3, 2 / 3], abs=1e-9)
    for result in (apart, touching):
        assert result.ok and not result.warnings and result.ledger.balance_error_max < 1e-12


def block(half_width, half_height, angle, mu=2.0):
    """A block on its right lower corner, at the origin, tilted by an angle."""
    mass, c, s = 2.0, math.cos(angle), math.sin(angle)
    inertia = mass * ((2.0 * half_width) ** 2 + (2.0 * half_height) ** 2) / 12.0
    system = pl.System("block", gravity=(0, -G))
    place = (s * half_height - c * half_width, s * half_width + c * half_height)
    body = system.add("block", pl.RigidBody(mass=mass, inertia=inertia), joint=pl.Planar(position=place, angle=-angle))
    for name, x in (("left", -half_width), ("right", half_width)):
        corner = body.root.moved((x, -half_height))
        law = pl.Impulsive(restitution=0.0)
        system.contact(points=corner, against=Plane(normal=(0, 1)), normal=law, friction=sticky(mu), name=name)
    return system


@pytest.mark.parametrize("half_height", [0.5, 0.27])
def test_a_rocking_block_keeps_the_share_of_its_angular_speed_that_housner_derived(half_height):
    """1 - 3/2 sin^2(alpha), from the momentum about the corner that is struck: Housner 1963."""
    alpha = math.atan2(0.2, half_height)
    result = pl.simulate(block(0.2, half_height, 0.5 * alpha), 1.2, save="steps")
    rates, at = result.data["v"].values[:, 2], np.flatnonzero(np.diff(result.time) == 0.0)[0]
    assert rates[at + 1] / rates[at] == pytest.approx(1.0 - 1.5 * math.sin(alpha) ** 2, abs=1e-10)
    assert result.ok and not result.warnings and result.ledger.relative_error_max < 1e-9


def test_a_block_rocks_to_rest_on_both_corners():
    result = pl.simulate(block(0.3, 0.27, 0.3), 0.8)
    assert result.ok and not result.warnings
    assert sorted(touch.pair.split()[0] for touch in result.contacts if touch.lasting) == ["left", "right"]
    assert result.data["normal_force"].values[-1] == pytest.approx([G, G], rel=1e-6)
    assert np.max(np.abs(result.data["v"].values[-1])) < 1e-10


# ---- friction and restitution together

UPPER, LOWER = math.radians(20.0), math.radians(30.0)


def struck_pendulum(restitution, mu, kind="newton", upper=UPPER, lower=LOWER, rates=(-0.1, -0.2)):
    """Kane and Levinson 1985: two rods hang from a pivot, and the lower end strikes a rough floor."""
    rod = pl.RigidBody(mass=1.0, inertia=1.0 / 12.0, com=(0.5, 0.0), tip=(1.0, 0.0))
    system = pl.System("pendulum", gravity=(0, 0))
    a = system.add("a", rod, joint=pl.Revolute(angle=upper - math.pi / 2, rate=rates[0]))
    b = system.add("b", rod, joint=pl.Revolute(angle=lower - upper, rate=rates[1] - rates[0]), on=a.tip)
    floor = Plane(normal=(0, 1), point=(0.0, -math.cos(upper) - math.cos(lower)))
    law = pl.Impulsive(restitution=restitution, kind=kind)
    system.contact(points=b.tip, against=floor, normal=law, friction=sticky(mu), name="floor")
    return system


def by_hand(restitution, mu):
    """Newton's restitution with Coulomb's cone for the pendulum: speeds of both rods, and the energy before and after."""
    upper, lower, w = UPPER, LOWER, np.array([-0.1, -0.2])
    coupled = 0.5 * math.cos(lower - upper)
    mass = np.array([[4.0 / 3.0, coupled], [coupled, 1.0 / 3.0]])
    rows = np.array([[math.sin(upper), math.sin(lower)], [math.cos(upper), math.cos(lower)]])
    d, u = rows @ np.linalg.solve(mass, rows.T), rows @ w
    impulse = np.linalg.solve(d, [-(1.0 + restitution) * u[0], -u[1]])
    if abs(impulse[1]) > mu * impulse[0]:  # it slips, here forwards
        normal = -(1.0 + restitution) * u[0] / (d[0, 0] - mu * d[0, 1])
        impulse = np.array([normal, -mu * normal])
        assert (u + d @ impulse)[1] > 0.0
    after = w + np.linalg.solve(mass, rows.T @ impulse)
    return after, 0.5 * w @ mass @ w, 0.5 * after @ mass @ after


def speeds_after(system):
    result = pl.simulate(system, 1e-9, save="steps")
    rates = result.data["v"].values[0]
    return result, np.array([rates[0], rates[0] + rates[1]])


def test_newtons_restitution_with_friction_is_what_is_derived_by_hand():
    expected, before, after = by_hand(0.5, 0.25)
    result, speeds = speeds_after(struck_pendulum(0.5, 0.25))
    assert speeds == pytest.approx(expected, abs=1e-9) and after < before
    assert result.contacts[0].normal_loss + result.contacts[0].friction_loss == pytest.approx(before - after, rel=1e-9)
    assert not result.warnings


def test_kanes_paradox_creates_no_energy_and_is_said():
    _, before, after = by_hand(0.5, 0.5)
    assert after > 1.5 * before  # the paradox: an impact that loses half of the speed, and gains half of the energy
    result, _ = speeds_after(struck_pendulum(0.5, 0.5))
    assert result.contacts[0].normal_loss + result.contacts[0].friction_loss == pytest.approx(0.0, abs=1e-9 * before)
    assert "Kane's paradox" in result.warnings[0] and len(result.warnings) == 1
    assert 0.0 < result.contacts[0].restitution < 0.5
    other, _ = speeds_after(struck_pendulum(0.5, 0.5, "poisson"))
    assert other.contacts[0].normal_loss + other.contacts[0].friction_loss > 0.4 * before and not other.warnings


@pytest.mark.parametrize("kind", KINDS)
def test_no_impact_in_any_state_creates_energy(kind):
    random, struck = np.random.default_rng(7), 0
    for _ in range(60):
        upper, lower = random.uniform(-1.4, 1.4, 2)
        system = struck_pendulum(random.uniform(), random.uniform(0.05, 2.0), kind, upper, lower, random.uniform(-3.0, 3.0, 2))
        result = pl.simulate(system, 1e-9, save="steps")
        struck += len(result.contacts)
        assert result.ok and result.ledger.balance_error_max < 1e-9
        assert all(min(touch.normal_loss, touch.friction_loss) >= 0.0 for touch in result.contacts)
    assert struck > 20


def test_a_contact_that_friction_lets_neither_rest_nor_separate_ends_the_run_with_a_sentence():
    """Painleve's rod: it slides, leaning forwards, with more friction than its normal force can lift it against."""
    rod = pl.RigidBody(mass=1.0, inertia=1.0 / 12.0, com=(0.5, 0.0), tip=(1.0, 0.0))
    system = pl.System("rod", gravity=(0, -G))
    body = system.add("rod", rod, joint=pl.Planar(angle=math.radians(125.0), velocity=(1.0, 0.0)))
    system.contact(points=body.root, against=Plane(normal=(0, 1)), normal=pl.Impulsive(restitution=0.5), friction=sticky(2.0))
    result = pl.simulate(system, 1.0)
    assert not result.ok and "can neither rest nor separate" in result.message and "Painleve" in result.message


@pytest.mark.parametrize(("mu", "acceleration"), [(0.5, 1.0 / 1.4), (0.05, 1.0 - 0.05 / math.tan(0.35))])
def test_a_sphere_at_rest_on_a_slope_rolls_or_slides_down_as_the_closed_forms_say(mu, acceleration):
    system = pl.System("slope", gravity=(G * math.sin(0.35), -G * math.cos(0.35)))
    ball = system.add("ball", compact(1.0), joint=pl.Planar(position=(0.0, 0.1)))
    law = pl.Impulsive(restitution=0.3)
    system.contact(points=Sphere(ball.root, 0.1), against=Plane(normal=(0, 1)), normal=law, friction=sticky(mu))
    result = pl.simulate(system, 1.0)
    assert result.ok and not result.warnings and len(result.contacts) == 1
    assert result["ball.x"][-1] == pytest.approx(0.5 * G * math.sin(0.35) * acceleration, rel=1e-9)


def test_a_stack_comes_to_rest_with_the_weight_of_all_above_on_each_contact():
    system, below = pl.System("stack", gravity=(0, -G)), None
    for k in range(4):
        ball = system.add(f"b{k}", compact(1.0 + k), joint=pl.Prismatic(axis="y", displacement=0.4 + 0.21 * k))
        against = Plane(normal=(0, 1)) if below is None else Sphere(below.root, 0.1)
        system.contact(points=Sphere(ball.root, 0.1), against=against, normal=pl.Impulsive(restitution=0.5), name=f"c{k}")
        below = ball
    result = pl.simulate(system, 4.0)
    assert result.ok and not result.warnings and never_created(result)
    assert result.data["normal_force"].values[-1] == pytest.approx([G * sum(range(k + 1, 5)) for k in range(4)], rel=1e-8)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("mu", [0.0, 0.3, 1.0])
def test_a_tumbling_body_never_gains_energy_and_comes_to_rest(kind, mu):
    random = np.random.default_rng(int(10 * mu) + len(kind))
    system = pl.System("box", gravity=(0, 0, -G))
    start = pl.Free(position=(0, 0, 0.5), orientation=tuple(random.normal(size=4)), velocity=(0.5, 0.2, -1.0),
                    angular_velocity=tuple(random.uniform(-5.0, 5.0, 3)))  # fmt: skip
    box = system.add("box", pl.RigidBody(mass=2.0, inertia=(0.02, 0.03, 0.04)), joint=start)
    corners = [box.root.moved((x, y, x * y / 0.3)) for x in (-0.1, 0.1) for y in (-0.15, 0.15)]  # of a tetrahedron
    law = pl.Impulsive(restitution=0.6, kind=kind)
    system.contact(points=corners, against=Plane(normal=(0, 0, 1)), normal=law, friction=sticky(mu) if mu else None)
    result = pl.simulate(system, 3.0, max_seconds=30.0)
    assert result.ok and never_created(result)
    assert result.data["normal_force"].values[-1].sum() == pytest.approx(2.0 * G, rel=1e-6)
    assert not [warning for warning in result.warnings if "Kane" not in warning]


# ---- loops and elastic links


@pytest.mark.parametrize("formulation", ["articulated", "augmented"])
@pytest.mark.parametrize("elements", [0, 1])
def test_an_impact_in_a_loop_keeps_its_closures_at_the_level_of_speeds(elements, formulation):
    """The slider-crank, with a rigid and with an elastic rod: the guide holds before and after the jump."""
    system = with_law(slider_crank(elements), pl.Impulsive(restitution=0.834))
    result = pl.simulate(system, 0.04, formulation=formulation, save="steps")
    at = np.flatnonzero(np.diff(result.time) == 0.0)[0]
    first = result.contacts[0]
    assert first.restitution == pytest.approx(0.834, abs=1e-12) and result.ledger.relative_error_max < 1e-6
    compiled = compile_system(system, formulation)
    rates_of, held = compiled.traced.partition[0].casadi, compiled.traced.held
    speeds = result.data["v"].values
    assert np.max(np.abs(speeds[at + 1] - speeds[at])) > 10.0
    free_q, free_v = list(compiled.traced.free_q), list(compiled.traced.free_v)
    for row in (at, at + 1):
        y = compiled.traced.y0.copy()
        y[: len(free_q)] = result.data["q"].values[row][free_q]
        y[len(free_q) : len(free_q) + len(free_v)] = speeds[row][free_v]
        rates = np.array(rates_of(0.0, y, compiled.traced.parameters(0.0, 1.0))).ravel()[held : 2 * held]
        assert np.max(np.abs(rates)) < 1e-12 * np.max(np.abs(speeds[at]))


@pytest.mark.parametrize("modes", ["rigid", "ss-ss-ss"])
def test_the_falling_chain_with_stiffer_and_stiffer_contacts_converges_to_the_impulsive_one(modes):
    """By the duration of its contacts, which falls as K^-0.4."""
    limit = pl.simulate(with_law(falling_chain(modes), pl.Impulsive(restitution=0.8)), 0.5)
    errors = []
    for stiffness in (1e8, 1e10, 1e12):
        law = pl.Exact(stiffness=stiffness, restitution=0.8)
        compliant = pl.simulate(with_law(falling_chain(modes), law), 0.5, save=[0.5])
        errors.append(np.max(np.abs(compliant.data["q"].values[-1] - limit.data["q"].values[-1])))
    assert errors[0] > 2.5 * errors[1] > 12.0 * errors[2] and errors[2] < 1e-3
    assert limit.ok and not limit.warnings and never_created(limit)


@pytest.mark.parametrize("friction", [None, sticky(0.3)], ids=["smooth", "rough"])
def test_the_falling_chain_comes_to_rest_on_all_its_joints(friction):
    result = pl.simulate(with_law(falling_chain("rigid"), pl.Impulsive(restitution=0.5), friction), 6.0)
    assert result.ok and not result.warnings and never_created(result)
    assert len([touch for touch in result.contacts if touch.lasting]) == 4
    assert result.data["normal_force"].values[-1].sum() == pytest.approx(3.0 * G, rel=1e-6)


# ---- everything else that a system may meet


def test_the_same_from_a_file(tmp_path):
    path = tmp_path / "ball.yaml"
    path.write_text(
        "pliant: 1\n"
        "system: ball\n"
        "gravity: [0, -9.81]\n"
        "bodies: {ball: {rigid: {mass: 1.3, inertia: 0.01}, joint: {prismatic: {axis: y, displacement: 1.0}}}}\n"
        "contacts:\n"
        "  floor: {points: ball.root, against: {plane: {normal: y}}, normal: {impulsive: {restitution: 0.8, kind: poisson}}}\n"
    )
    result = pl.simulate(pl.load_model(path), 1.0)
    assert result.contacts[0].restitution == pytest.approx(0.8, abs=1e-12)


def test_an_ensemble_takes_the_general_loop_and_gives_what_simulate_gives():
    height = pl.Parameter("height", 1.0)
    system = dropped(pl.Impulsive(restitution=0.5), height)
    heights = [0.5, 1.0, 1.5]
    runs = pl.ensemble(system, 2.0, parameters={"height": heights})
    for k, value in enumerate(heights):
        alone = pl.simulate(system, 2.0, parameters={"height": value})
        assert runs["touches"].values[k, 0] == len(alone.contacts) and runs["q_end"].values[k, 0] == alone.data["q"].values[-1, 0]
    with pytest.raises(pl.ModelError, match="impulsive contacts are solved for all contacts together"):
        pl.ensemble(system, 2.0, parameters={"height": heights}, loop="lockstep")


def test_derivatives_are_differences_of_runs():
    height = pl.Parameter("height", 1.0)
    found = pl.sensitivities(dropped(pl.Impulsive(restitution=0.5), height), 0.6, parameters=["height"])
    assert "is impulsive" in found.warnings[0]
    fall, h = math.sqrt(2.0 / G), 1.0
    speed = 0.5 * math.sqrt(2.0 * G * h)  # after the impact: q = e sqrt(2 g h) (t - fall) - g (t - fall)^2 / 2
    late, dfall, dspeed = 0.6 - fall, 0.5 * fall / h, 0.5 * speed / h
    _, slopes = found.at_end("q")
    assert float(np.ravel(slopes)[0]) == pytest.approx(dspeed * late - speed * dfall + G * late * dfall, rel=1e-4)


def test_what_cannot_be_is_refused_with_a_sentence():
    law = pl.Impulsive(restitution=0.5)
    with pytest.raises(pl.ModelError, match=r"restitution must be in \[0, 1\]"):
        pl.Impulsive(restitution=1.2)
    with pytest.raises(pl.ModelError, match="kind must be"):
        pl.Impulsive(restitution=0.5, kind="stronge")
    with pytest.raises(pl.ModelError, match="without states"):
        dropped(law, friction=pl.LuGre(mu_static=0.3, mu_kinetic=0.2, v_stribeck=0.01, sigma0=1e3, sigma1=0.0))
    with pytest.raises(pl.ModelError, match="must not be Impulsive for an equilibrium or a linearisation"):
        pl.equilibrium(dropped(law))
    with pytest.raises(pl.ModelError, match="has no force to draw"):
        pl.plot.law(law)
    with pytest.raises(pl.SolveError, match="must not overlap at the start"):
        pl.simulate(dropped(law, height=-0.01), 1.0)


def test_a_ball_that_starts_at_rest_stays_there_without_a_word():
    """At a height at which the round-off of its gap shows."""
    system = pl.System("ball", gravity=(0, -G))
    ball = system.add("ball", compact(1.0), joint=pl.Planar(position=(0, 0.1)))
    system.contact(
        points=pl.Sphere(ball.root, 0.1), against=Plane(normal=(0, 1)), normal=pl.Impulsive(restitution=0.5), name="floor"
    )
    run = pl.simulate(system, 1.0)
    assert run.ok and run.warnings == () and np.max(np.ptp(run.values["q"], axis=0)) < 1e-12


def test_fixed_steps_that_are_too_long_for_resting_contacts_are_told():
    system = dropped(pl.Impulsive(restitution=0.3), height=0.01)
    short, long = (pl.simulate(system, 0.5, method=pl.RK4(step)) for step in (2e-3, 1e-2))
    assert short.warnings == () and "too long for contact 'floor ball.root' to stick or rest" in long.warnings[0]


@pytest.mark.parametrize("angle", [math.pi / 2, 1.57])
def test_a_ball_on_a_capsule_across_its_plane(angle):
    """cos(pi/2) is 6e-17 in numbers: slip out of the plane is not to be solved for, nor does a small tilt change the impact."""
    system = pl.System("across", gravity=(0.0, -9.81))
    ball = system.add("ball", pl.RigidBody(mass=1.0, inertia=0.004), joint=pl.Planar(position=(0.02, 1.0)))
    bar = pl.Capsule(system.ground.turned(angle, "y"), length=0.5, radius=0.05)
    system.contact(points=pl.Sphere(ball.root, 0.1), against=bar, normal=pl.Impulsive(restitution=0.5), friction=pl.Coulomb(mu=0.3),
                   name="bar")  # fmt: skip
    run = pl.simulate(system, 0.45)
    slope, fall = 0.02 / 0.15, math.sqrt(2.0 * 9.81 * (1.0 - 0.15 * math.sqrt(1.0 - (0.02 / 0.15) ** 2)))
    assert run.ok and run.ledger.relative_error_max < 1e-12
    assert run.values["v"][-1][2] == pytest.approx(-fall * slope / (1.0 + 0.1**2 / 0.004) * 0.1 / 0.004, rel=2e-3)
