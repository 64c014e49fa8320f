"""Contacts along beams: closed forms, independent models, brute force, and where the theory ends."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import eigh
from scipy.optimize import fsolve

import pliant as pl
from pliant.dynamics import along
from pliant.dynamics.contact import contact_kinematics
from pliant.dynamics.kinematics import TreeState, poses
from pliant.dynamics.tree import build_tree

STEEL = pl.Material(E=2e11, nu=0.3, density=7800.0)
TIGHT = pl.DOP853(rtol=1e-10, atol=1e-13)
ACROSS = -0.5 * math.pi  # rad about y: from x to z


def slender(modes, radius=0.004, **options):
    return pl.Beam(length=1.0, section=pl.Section.round(radius), material=STEEL, theory="euler-bernoulli", modes=modes, **options)


IN_SPACE = (pl.Modes("cf", 3), pl.Modes("cf", 3, plane="z"))


def cantilever(against, modes=IN_SPACE, touches=1, **options):
    """A beam along x, clamped at the origin; against: from the ground's frame to the other shape."""
    system = pl.System("cantilever", gravity=(0, 0, 0))
    rod = system.add("rod", slender(list(modes), **options), joint=pl.Weld())
    system.contact(points=pl.Along(rod, 0.004, touches=touches), against=against(system.ground), normal=pl.Hertz(stiffness=1e7))
    return system


def crossed(angle=1.2, modes=2, **options):
    """Two cantilevers along x and across, 0.1 mm apart."""
    system = pl.System("crossed", gravity=(0, 0, 0))
    sets = [pl.Modes("cf", modes), pl.Modes("cf", modes, plane="z")]
    one = system.add("one", slender(sets, **options), joint=pl.Weld())
    at = system.ground.moved((0.6 - 0.5 * math.cos(angle), -0.0081, -0.5 * math.sin(angle))).turned(-angle, "y")
    other = system.add("other", slender(sets, **options), joint=pl.Weld(), on=at)
    system.contact(points=pl.Along(one, 0.004), against=pl.Along(other, 0.004), normal=pl.Hertz(stiffness=1e7))
    return system


PARTNERS = {
    "plane": lambda ground: pl.Plane(normal=(0.03, 1.0, 0.05), point=(0.4, -0.03, 0.0)),
    "sphere": lambda ground: pl.Sphere(ground.moved((0.61, -0.03, 0.01)), 0.02),
    "capsule": lambda ground: pl.Capsule(ground.moved((0.61, -0.03, -0.1)).turned(-1.2, "y"), 0.3, 0.02),
    "bore": lambda ground: pl.Bore(ground.moved((0.6, -0.01, 0.01)).turned(0.1, "z"), 0.02, length=0.1, axis="x"),
    "edge": lambda ground: pl.Edge(ground.moved((0.37, -0.01, -0.1)).turned(-1.4, "y"), 0.3),
}
SYSTEMS = {**{name: lambda partner=partner: cantilever(partner) for name, partner in PARTNERS.items()}, "along": crossed}
EVERY = pytest.mark.parametrize("name", SYSTEMS)


def states_of(system, count, size=0.04, seed=1):
    """Random states of a bent beam, higher modes smaller."""
    tree, random = build_tree(system), np.random.default_rng(seed)
    falling = np.array([1.0 / int(re.sub(r"\D", "", name)) ** 2 for name in tree.rates])
    return tree, [(size * falling * random.normal(size=falling.size), random.normal(size=falling.size)) for _ in range(count)]


def kinematics(tree, system, q, v):
    return contact_kinematics(TreeState.of(tree, list(q), list(v)), list(system.contacts.values()))[0]


@EVERY
def test_no_station_is_nearer_than_the_one_found(name):
    system = SYSTEMS[name]()
    tree, states = states_of(system, 40)
    pair = next(iter(system.contacts.values()))
    for q, _ in states:
        q = list(q)
        gap = kinematics(tree, system, q, q).gap
        bodies, stations = poses(tree, q), np.linspace(0.0, 1.0, 401)
        axis = along._axis(tree, pair.ball, q)
        if name == "along":
            ways = [np.stack(np.broadcast_arrays(*body.rotation.out(along._axis(tree, shape, q).at(stations)[0])), axis=-1)
                    + np.array(body.position) for body, shape in zip(bodies, (pair.ball, pair.against), strict=True)]  # fmt: skip
            least = np.linalg.norm(ways[0][:, None] - ways[1], axis=-1).min() - 0.008
        else:
            target = along._target(tree, pair, bodies, q)
            values = target.value(axis.at(stations)[0])
            least = gap + values.min() - target.value(axis.at(axis.nearest(target, 1, 0))[0])
        assert gap <= least + 1e-14


@EVERY
def test_the_gap_changes_as_fast_as_it_closes_and_the_force_enters_every_mode_as_the_gap_depends_on_it(name):
    """closing is linear in the rates, by the columns through which the force acts: minus the gradient of the gap."""
    system = SYSTEMS[name]()
    tree, states = states_of(system, 10)
    h = 4e-5
    for q, v in states:
        for way in (v, *np.eye(len(q))):
            gaps = [kinematics(tree, system, q + k * h * way, v).gap for k in (-2, -1, 1, 2)]
            slope = (gaps[0] - 8.0 * gaps[1] + 8.0 * gaps[2] - gaps[3]) / (12.0 * h)
            assert abs(kinematics(tree, system, q, way).closing + slope) < 2e-8


def test_the_gap_does_not_jump_where_the_station_jumps_to_an_end():
    """An arched free beam lies with its end and with another place; as it tilts, the station jumps when both are as deep."""
    system = pl.System("free", gravity=(0, 0))
    beam = system.add("rod", slender([pl.Modes("ff", 2)]), joint=pl.Planar(position=(0.0, 0.01)))
    system.contact(points=pl.Along(beam, 0.004), against=pl.Plane(normal="y"), normal=pl.Hertz(stiffness=1e7))
    tree, pair, random = build_tree(system), next(iter(system.contacts.values())), np.random.default_rng(3)
    jumps = 0
    for bends in random.normal(size=(6, 2)) * (4e-3, 2e-3):

        def nearest(tilts, bends=bends):
            """The stations, and how high they are but for a constant."""
            q = [np.full_like(tilts, 0.0), np.full_like(tilts, 0.01), tilts, *(np.full_like(tilts, bend) for bend in bends)]
            axis, target = along._axis(tree, pair.ball, q), along._target(tree, pair, poses(tree, q), q)
            s = axis.nearest(target, 1, 0)
            return s, target.value(axis.at(s)[0]) + axis.crown(target, 1, 0)(s)[0]

        tilts = np.linspace(-0.05, 0.05, 201)
        stations = nearest(tilts)[0]
        k = np.flatnonzero(np.abs(np.diff(stations)) > 0.2)
        low, high = tilts[k], tilts[k + 1]
        for _ in range(45):
            middle = 0.5 * (low + high)
            before = np.abs(nearest(middle)[0] - stations[k]) < 0.1
            low, high = np.where(before, middle, low), np.where(before, high, middle)
        (s, height), (s_after, height_after) = nearest(low), nearest(high)
        to_end = (np.abs(s_after - s) > 0.2) & (np.isin(s, (0.0, 1.0)) | np.isin(s_after, (0.0, 1.0)))
        jumps += np.count_nonzero(to_end)
        assert height_after[to_end] == pytest.approx(height[to_end], abs=1e-14)
    assert jumps > 1


def test_steps_that_become_too_small_where_the_station_jumps_say_so():
    """A free beam falls flat; the tolerance is tighter than what its force adds in the shortest step as it jumps."""
    system = pl.System("flat", gravity=(0, -9.81))
    beam = system.add("rod", slender([pl.Modes("ff", 2)]), joint=pl.Planar(position=(0.0, 0.006), angle=1e-3))
    system.contact(points=pl.Along(beam, 0.004), against=pl.Plane(normal="y"), normal=pl.HuGuo(stiffness=1e7, restitution=0.5))
    run = pl.simulate(system, 0.1, method=pl.DOP853(rtol=1e-12, atol=1e-18))
    assert not run.ok and "the step fell to" in run.message
    assert "contact 'contact rod' is as deep at places of 'rod' far apart" in run.message


def test_shapes_of_elements_are_followed_piece_by_piece():
    system = cantilever(PARTNERS["sphere"], modes=[pl.ElementModes(6)])
    tree, states = states_of(system, 5, size=0.01)
    assert len(tree.axes["rod"].pieces) == 6
    for q, v in states:
        gaps = [kinematics(tree, system, q + k * 1e-4 * v, v).gap for k in (-2, -1, 1, 2)]
        slope = (gaps[0] - 8.0 * gaps[1] + 8.0 * gaps[2] - gaps[3]) / 12e-4
        assert abs(kinematics(tree, system, q, v).closing + slope) < 1e-7


@pytest.mark.parametrize("tilt", [0.0, 0.3])
def test_a_rod_dropped_on_an_edge_leaves_with_the_impulse_of_a_rigid_impact(tilt):
    """J = (1 + e) v_n / (1/m + x^2/I), along the normal of the rod, at the distance x from its middle; the harder, the nearer."""
    mass, speed, off, fall = 0.8, 1.5, 0.2, 1e-4
    normal, along_rod = np.array([-math.sin(tilt), math.cos(tilt)]), np.array([math.cos(tilt), math.sin(tilt)])
    edge = off * along_rod - 0.01 * normal - np.array([0.0, fall])
    impulse = 2.0 * speed * math.cos(tilt) / (1.0 / mass + off**2 * 12.0 / mass)
    body = pl.RigidBody(mass=mass, inertia=mass / 12.0, tip=(1.0, 0, 0), com=(0.5, 0, 0))
    start = pl.Planar(position=(-0.5 * along_rod[0], -0.5 * along_rod[1]), angle=tilt, velocity=(0.0, -speed))
    off_by = []
    for stiffness in (1e10, 1e14):
        system = pl.System("rod", gravity=(0, 0))
        rod = system.add("rod", body, joint=start)
        system.contact(points=pl.Along(rod, 0.01), normal=pl.Hertz(stiffness=stiffness),
                       against=pl.Edge(system.ground.moved((*edge, -0.1)).turned(ACROSS, "y"), 0.2))  # fmt: skip
        run = pl.simulate(system, 5e-4, method=TIGHT)
        (touch,) = run.contacts
        assert run.ok and run.ledger.relative_error_max < 1e-8
        turned = run["v", "rod.angle"][-1] / (12.0 * off * impulse / mass) - 1.0
        off_by.append(max(abs(touch.impulse / impulse - 1.0), abs(turned)))
    assert off_by[0] < 3e-4 and off_by[1] < 1e-5  # as long as it touches, the rod turns and moves on
    assert off_by[1] < 0.05 * off_by[0]  # a touch lasts as long as K^-0.4


BAR = 0.3  # m: radius of a cylinder that a cantilever is pressed on
LAW_OF_BAR = pl.Hertz(stiffness=1e9)


def pressed(elements, force):
    """(station, force) where a cantilever touches a cylinder below it, by a force across its tip."""
    system = pl.System("pressed", gravity=(0, 0))
    beam = slender(pl.ElementModes(elements, reference="cantilever"), stiffening="none")
    rod = system.add("rod", beam, joint=pl.Weld())
    at = system.ground.moved((0.4, -0.006 - BAR, -0.1)).turned(ACROSS, "y")
    system.contact(points=pl.Along(rod, 0.004), normal=LAW_OF_BAR, against=pl.Capsule(at, 0.2, BAR))
    system.force("press", rod.tip, (0.0, -force, 0.0))
    found = pl.equilibrium(system)
    return found.values["contact_point"][0, 0] + 0.004 * found.values["contact_normal"][0, 0], found.values["normal_force"][0]


def pressed_in_theory(force):
    """The same by linear theory of beams, whose load stands upright on the bent axis: its part along y bends."""
    rigidity = 2e11 * math.pi * 0.004**4 / 4

    def unmet(x):
        s, n, lift = x
        y = (-force * s**2 * (3.0 - s) / 6.0 + lift * s**3 / 3.0) / rigidity
        slope = (-force * s * (2.0 - s) / 2.0 + lift * s**2 / 2.0) / rigidity
        across = np.array([s - 0.4, y + 0.006 + BAR])
        round_ = np.hypot(*across)
        return [round_ - BAR - 0.004 + (n / LAW_OF_BAR.stiffness) ** (1.0 / 1.5), across[0] + across[1] * slope,
                lift - n * across[1] / round_]  # fmt: skip

    return fsolve(unmet, (0.41, 3.0 * force, 3.0 * force), xtol=1e-13)[:2]


def test_a_cantilever_pressed_on_a_cylinder_touches_where_the_theory_of_beams_says():
    """A tip force bends the beam over a cylinder, and the touch wanders: as slope and deflection meet those of the cylinder."""
    touched = [pressed(10, force) for force in (2.0, 10.0, 25.0)]
    expected = [pressed_in_theory(force) for force in (2.0, 10.0, 25.0)]
    np.testing.assert_allclose(touched, expected, rtol=1.2e-4)  # a load between the nodes of cubic elements
    assert touched[2][0] - touched[0][0] > 0.01
    np.testing.assert_allclose(pressed(40, 25.0), expected[2], rtol=1.2e-5)


def beam_elements(count):
    """Stiffness and mass of a clamped beam of cubic elements, 1 m long, of the section of `slender`."""
    h, rigidity, mass = 1.0 / count, 2e11 * math.pi * 0.004**4 / 4, 7800.0 * math.pi * 0.004**2
    k = np.array([[12, 6 * h, -12, 6 * h], [6 * h, 4 * h**2, -6 * h, 2 * h**2],
                  [-12, -6 * h, 12, -6 * h], [6 * h, 2 * h**2, -6 * h, 4 * h**2]])  # fmt: skip
    m = np.array([[156, 22 * h, 54, -13 * h], [22 * h, 4 * h**2, 13 * h, -3 * h**2],
                  [54, 13 * h, 156, -22 * h], [-13 * h, -3 * h**2, -22 * h, 4 * h**2]])  # fmt: skip
    stiffness, inertia = np.zeros((2, 2 * count + 2, 2 * count + 2))
    for e in range(count):
        own = slice(2 * e, 2 * e + 4)
        stiffness[own, own] += rigidity / h**3 * k
        inertia[own, own] += mass * h / 420 * m
    return stiffness[2:, 2:], inertia[2:, 2:]


def test_crossed_beams_press_each_other_as_in_a_finer_model_of_finite_elements():
    """One of two crossed cantilevers swings onto the other, 0.6 and 0.5 m from their roots; 10 elements against 40."""
    shape = eigh(*beam_elements(10))[1][:, 0]
    beam = slender(pl.ElementModes(10, reference="cantilever"), stiffening="none")
    system = pl.System("crossed", gravity=(0, 0, 0))
    rates = {f"y{k + 1}": -0.05 * float(x / shape[-2]) for k, x in enumerate(shape)}
    one = system.add("one", beam, joint=pl.Weld(), initial_rates=rates)
    other = system.add("other", beam, joint=pl.Weld(), on=system.ground.moved((0.6, -0.0081, -0.5)).turned(ACROSS, "y"))
    system.contact(points=pl.Along(one, 0.004), against=pl.Along(other, 0.004), normal=pl.Hertz(stiffness=1e6))
    run = pl.simulate(system, 0.012, method=pl.DOP853(rtol=1e-8, atol=1e-12))
    squares, modes = eigh(*beam_elements(40))
    squares, modes, count = squares[:30], modes[:, :30], 30
    first, second = modes[2 * 23], modes[2 * 19]

    def rate(t, y):
        a, da, b, db = y.reshape(4, count)
        force = 1e6 * max(-(first @ a - second @ b + 1e-4), 0.0) ** 1.5
        return np.concatenate([da, -squares * a + first * force, db, -squares * b - second * force])

    start = np.zeros(4 * count)
    start[count] = -0.05 / modes[-2, 0]
    found = solve_ivp(rate, (0.0, 0.012), start, method="DOP853", rtol=1e-8, atol=1e-13, t_eval=np.linspace(0.009, 0.0105, 3001)).y
    peak = 1e6 * np.max(-(first @ found[:count] - second @ found[2 * count : 3 * count] + 1e-4)) ** 1.5
    assert run.contacts[0].peak_force == pytest.approx(peak, rel=1e-4)
    assert run.ledger.relative_error_max < 1e-9


@pytest.mark.parametrize("way", ["along", "across", "askew"])
def test_a_rod_that_slides_over_two_edges_is_slowed_by_its_weight_whichever_way_it_slides(way):
    """Friction mu m g in all: along the rod the touched stations wander over its material, across they move with it."""
    mass, mu, speed, law = 2.0, 0.25, 0.8, pl.Hertz(stiffness=1e8)
    depth = (0.5 * mass * 9.81 / law.stiffness) ** (1.0 / 1.5)
    velocity = {"along": (speed, 0.0), "across": (0.0, speed), "askew": (0.6 * speed, 0.8 * speed)}[way]
    system = pl.System("rod", gravity=(0, -9.81, 0))
    body = pl.RigidBody(mass=mass, inertia=(1e-2, mass / 12, mass / 12), tip=(1.0, 0, 0), com=(0.5, 0, 0))
    free = pl.Free(position=(-0.5, 0.01 - depth, 0.0), velocity=(velocity[0], 0.0, velocity[1]))
    rod = system.add("rod", body, joint=free)
    for side in (-1.0, 1.0):
        edge = pl.Edge(system.ground.moved((0.3 * side, 0.0, -1.0)).turned(ACROSS, "y"), 2.0)
        system.contact(points=pl.Along(rod, 0.01), against=edge, normal=law, name=f"edge {side:g}",
                       friction=pl.Ambrosio(mu=mu, v0=1e-5, v1=1e-4))  # fmt: skip
    run = pl.simulate(system, 0.05, method=pl.DOP853(rtol=1e-9, atol=1e-12))
    middle = 0.5 * (run["tip_velocity", "rod"][-1] + [run["v", f"rod.{x}"][-1] for x in "xyz"])
    slowed = np.hypot(middle[0], middle[2])
    assert slowed == pytest.approx(speed - mu * 9.81 * 0.05, rel=2e-4)
    assert run.ledger.relative_error_max < 1e-7


def test_two_rims_hold_a_cantilever_as_linear_theory_says():
    """A load across the tip; both planes at once. Nodes of elements are at the rims, so that the elements are exact."""
    play, stiffness, load, angle = 1e-5, 1e6, 0.4, 0.7
    places = np.array([0.4, 0.6, 1.0])
    system = pl.System("held", gravity=(0, 0, 0))
    rod = system.add("rod", slender([pl.ElementModes(5), pl.ElementModes(5, plane="z")]), joint=pl.Weld())
    bore = pl.Bore(system.ground.moved((0.5, 0.0, 0.0)), radius=0.004 + play, length=0.2, axis="x")
    names = system.contact(points=pl.Along(rod, 0.004), against=bore, normal=pl.Hertz(stiffness=stiffness, exponent=1.0))
    assert names == ["contact rod.low", "contact rod.high"]
    system.force("load", rod.tip, (0.0, load * math.cos(angle), load * math.sin(angle)))
    rest = pl.equilibrium(system)
    near, far = np.minimum.outer(places, places), np.maximum.outer(places, places)
    bends = near**2 * (3.0 * far - near) / 6.0 / (STEEL.E * math.pi * 0.004**4 / 4.0)
    # the first rim presses downwards, on the other side: w_1 = -play - F_1/k, w_2 = play + F_2/k
    sides = np.array([-1.0, 1.0])
    forces = np.linalg.solve(bends[:2, :2] + np.eye(2) / stiffness, sides * play - bends[:2, 2] * load)
    assert rest.stable and (sides * forces < 0.0).all()
    np.testing.assert_allclose(-stiffness * rest.values["gap"], np.abs(forces), rtol=1e-4)


def test_a_rod_slides_out_of_its_bore_and_the_run_says_where_it_has_left():
    """A rigid rod, 4 mm off the middle of two rims, pressed against them by its weight; without friction it slides evenly."""
    system = pl.System("sliding", gravity=(0, -9.81, 0))
    body = pl.RigidBody(mass=1.0, inertia=(1e-3, 0.1, 0.1), com=(0.5, 0.0, 0.0), tip=(1.0, 0.0, 0.0))
    rod = system.add("rod", body, joint=pl.Free(velocity=(1.0, 0.0, 0.0)))
    bore = pl.Bore(system.ground.moved((0.5, 0.0, 0.0)), radius=0.011, length=0.6, axis="x")
    system.contact(points=pl.Along(rod, 0.01), against=bore, normal=pl.HuntCrossley(stiffness=1e6, restitution=0.1))
    run = pl.simulate(system, 0.15)
    assert run.ok and run.ledger.relative_error_max < 1e-6
    assert run["v", "rod.x"][-1] == pytest.approx(1.0, abs=1e-3)
    assert not any("straight on" in warning for warning in run.warnings)
    beyond = pl.simulate(system, 0.35)
    assert any("beyond the end of 'rod'" in warning for warning in beyond.warnings)


def landing(height, touches=1, bend=0.0):
    """A beam above a floor, flat or arched."""
    system = pl.System("landing", gravity=(0, -9.81))
    start = {"initial": {"y1": bend}} if bend else {}
    rod = system.add("rod", slender(pl.Modes("ff", 2)), joint=pl.Planar(position=(0, height)), **start)
    system.contact(points=pl.Along(rod, 0.004, touches=touches), against=pl.Plane(normal="y"), normal=pl.Hertz(stiffness=1e8))
    return system


def test_where_one_station_is_not_enough_the_run_says_so():
    floor = 0.004 - 1e-5  # 10 um deep at the start, and for so short that the station has no time to jump to and fro
    flat, arched = (pl.simulate(landing(floor, bend=bend), 1e-8) for bend in (0.0, 0.005))
    assert any("is closed along 1 of 'rod'" in words and "spheres at several stations" in words for words in flat.warnings)
    assert any("touches at 2 places of 'rod' at once" in words and "touches=2" in words for words in arched.warnings)
    nearly = crossed(angle=0.05)
    nearly.links["one"] = replace(nearly.links["one"], initial_rates={"y1": -0.5})
    assert any("nearly parallel" in words for words in pl.simulate(nearly, 0.004).warnings)


@pytest.mark.parametrize("bend", [0.0, 0.005])
def test_pieces_of_a_beam_land_on_their_own(bend):
    """Symmetric landings stay so: both halves touch alike."""
    run = pl.simulate(landing(0.03, touches=2, bend=bend), 0.08)
    first, second = (next(touch for touch in run.contacts if touch.pair == f"contact rod.{k}") for k in (1, 2))
    assert first.begin == pytest.approx(second.begin, abs=1e-9)
    assert first.peak_force == pytest.approx(second.peak_force, rel=1e-3)
    assert run.ledger.relative_error_max < 1e-6 and not any("places" in words for words in run.warnings)


def test_a_rigid_rod_that_falls_flat_rebounds_flat():
    system = pl.System("flat", gravity=(0, -9.81))
    rod = system.add("rod", pl.RigidBody.rod(length=1.0, mass=0.4), joint=pl.Planar(position=(0.0, 0.03)))
    system.contact(points=pl.Along(rod, 0.004), against=pl.Plane(normal="y"), normal=pl.Hertz(stiffness=1e8))
    run = pl.simulate(system, 0.1, method=TIGHT)
    assert len(run.contacts) == 1 and run.contacts[0].restitution == pytest.approx(1.0, abs=1e-6)
    assert abs(run["v", "rod.angle"][-1]) < 1e-6


def test_an_impact_without_duration_on_an_edge_across_a_plane_mechanism_rubs():
    system = pl.System("struck", gravity=(0, -9.81))
    rod = system.add("rod", pl.RigidBody.rod(length=1.0, mass=0.4), joint=pl.Planar(position=(-0.4, 0.02), angle=0.2))
    system.contact(points=pl.Along(rod, 0.004), against=pl.Edge(system.ground.moved((0.0, 0.0, -0.1)), 0.2, axis="z"),
                   normal=pl.Impulsive(restitution=0.5), friction=pl.Coulomb(mu=0.3))  # fmt: skip
    run = pl.simulate(system, 0.2)
    assert run.ok and len(run.contacts) == 1 and run.ledger.relative_error_max < 1e-12


def test_what_has_no_axis_is_refused():
    system = pl.System("s", gravity=(0, 0))
    lump = system.add("lump", pl.RigidBody(mass=1.0), joint=pl.Planar())
    rod = system.add("rod", slender(pl.Modes("cf", 1)), joint=pl.Weld())
    law, plane = pl.Hertz(stiffness=1e6), pl.Plane(normal="y")
    for shape, words in (
        (lambda: pl.Along(lump, 0.01), "at must be a beam, or a rigid body with a tip away from its root, got 'lump'"),
        (lambda: pl.Along(rod.tip, 0.01), "at must be the body, or its frame rod.root"),
        (lambda: pl.Along(system.ground, 0.01), "at must be a beam or a rigid body, which has an axis, got 'ground'"),
        (lambda: pl.Along("rod", 0.01), "at must be a body, as returned by system.add"),
        (lambda: pl.Along(rod, 0.0), "radius must be > 0 m"),
        (lambda: pl.Along(rod, 0.01, touches=9), "touches must be <= 8"),
        (lambda: pl.Along(rod, 0.01, touches=1.5), "touches must be a whole number"),
    ):
        with pytest.raises(pl.ModelError, match=re.escape(words)):
            system.contact(points=shape(), against=plane, normal=law)
    with pytest.raises(
        pl.ModelError,
        match="against must be a Plane, a Sphere, a Point, a Bore, a Capsule, a Box, a Cylinder, an Edge or an Along when an",
    ):
        system.contact(points=pl.Along(rod, 0.01), against=pl.Socket(system.ground, 0.1), normal=law)
    for shape, bore, words in (
        (
            pl.Along(rod, 0.01),
            pl.Bore(system.ground, 0.1),
            "against.length must be given for a beam, which a Bore holds by its two rims",
        ),
        (
            pl.Along(rod, 0.01, 2),
            pl.Bore(system.ground, 0.1, 0.1),
            "touches must be 1 in a Bore, each rim of which touches a beam once",
        ),
        (
            pl.Along(rod, 0.01),
            pl.Bore(system.ground, 0.01, 0.1),
            "points must be thinner than the Bore, of radius 0.01 m, got 0.01",
        ),
    ):
        with pytest.raises(pl.ModelError, match=re.escape(words)):
            system.contact(points=shape, against=bore, normal=law)
    with pytest.raises(pl.ModelError, match="length must be > 0 m"):
        pl.Edge(system.ground, 0.0)


def test_a_run_differentiates_through_a_wandering_touch():
    """By the gap between the start and the cylinder, exactly and by central differences of runs."""
    low = pl.Parameter("low", 0.0145)
    system = cantilever(lambda ground: pl.Sphere(ground.moved((0.61, -low, 0.0)), 0.01), modes=[pl.Modes("cf", 2)])
    system.links["rod"] = replace(system.links["rod"], initial_rates={"y1": -0.5})
    exact = pl.sensitivities(system, 0.012, ["low"], of="q", method=TIGHT)
    runs = [pl.simulate(system, 0.012, parameters={"low": 0.0145 + h}, method=TIGHT) for h in (-1e-6, 1e-6)]
    assert exact.ok and len(runs[0].contacts) > 0
    known, slopes = exact.table["q"].values[-1, :, 0], (runs[1].values["q"][-1] - runs[0].values["q"][-1]) / 2e-6
    np.testing.assert_allclose(known, slopes, rtol=1e-4)


@pytest.mark.parametrize("shapes", ["edge", "cylinder", "side of a cylinder"])
def test_a_rod_on_a_solid_moves_as_on_the_line_that_it_touches(shapes):
    """An edge of a box is a straight edge, and a cylinder is a capsule, as long as nothing else of them is touched."""
    length, radius = 0.4, 0.02
    body = pl.RigidBody(mass=0.5, inertia=(1e-4, 7e-3, 7e-3), com=(0.5 * length, 0.0, 0.0), tip=(length, 0.0, 0.0))
    up = 0.05 * math.sqrt(2.0)

    def run(solid):
        system = pl.System("across", gravity=(0, 0, -9.81))
        joint = pl.Free(position=(-0.15, 0.01, up + 0.06), orientation=(math.cos(0.1), 0.0, math.sin(0.1), 0.0))
        rod = system.add("rod", body, joint=joint)
        touching = pl.Capsule(rod.root, length, radius) if shapes == "side of a cylinder" else pl.Along(rod, radius)
        if shapes == "edge":
            box = pl.Box(system.ground.turned(0.25 * math.pi, "y"), (0.1, 0.4, 0.1))
            against = box if solid else pl.Edge(system.ground.moved((0.0, -0.2, up)), 0.4, axis="y")
        else:
            round_one = pl.Capsule(system.ground.moved((0.0, -0.2, 0.0)).turned(0.5 * math.pi, "z"), 0.4, up)
            against = pl.Cylinder(system.ground, up, 0.4, axis="y") if solid else round_one
        # of two capsules, friction acts on the surface of the other one
        friction = None if shapes == "side of a cylinder" else pl.Ambrosio(mu=0.3, v0=1e-4, v1=1e-3)
        system.contact(points=touching, against=against, normal=pl.HuGuo(stiffness=1e6, restitution=0.5), friction=friction)
        return pl.simulate(system, 0.15, method=pl.DOP853(1e-9, 1e-12))

    solid, line = run(True), run(False)
    assert solid.ok and len(solid.contacts) >= 1 and solid.ledger.relative_error_max < 1e-7
    np.testing.assert_allclose(solid.values["q"], line.values["q"], atol=5e-6)  # crowns of 4e-7 m are on solids only
