"""Where mechanisms rest, against statics worked out here: beams, the elastica, loops, contacts, columns; and what nothing holds."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq, minimize_scalar
from scipy.special import ellipe, ellipeinc, ellipk, ellipkinc

import pliant as pl

EI, MU, LENGTH, G = 120.0, 1.7, 0.8, 9.81
MATERIAL = pl.Material(E=2e11)


def beam(length=LENGTH, modes=None, **options):
    return pl.Beam(length=length, section=pl.Section(A=1e-4, Iz=EI / 2e11), material=MATERIAL, theory="euler-bernoulli",
                   mass_per_length=MU, modes=modes or pl.ElementModes(1, reference="cantilever"), **options)  # fmt: skip


def chord_segments(count, force, length=1.0, gravity=(0, 0)):
    """A clamped beam in `count` parts, each along its own chord, welded end to end by closures; loaded at its tip."""
    system = pl.System("segments", gravity=gravity)
    part, end = beam(length / count, pl.ElementModes(1), stiffening="full"), system.ground
    for k in range(count):
        segment = system.add(f"s{k}", part, joint=pl.Planar(position=(k * length / count, 0.0)))
        system.close(f"weld{k}", "weld", segment.root, end)
        end = segment.tip
    system.force("load", end, force)
    return system


def elastica(load):
    """Tip of a cantilever under a dead load across it, P L^2/EI = load, by elliptic integrals (Bisshopp and Drucker 1945)."""
    alpha = math.sqrt(load)

    def reach(k):
        return ellipk(k * k) - ellipkinc(math.asin(1.0 / (k * math.sqrt(2.0))), k * k) - alpha

    k = brentq(reach, math.sqrt(0.5) * (1.0 + 1e-14), 1.0 - 1e-14, xtol=1e-15)
    first = math.asin(1.0 / (k * math.sqrt(2.0)))
    return 2.0 * k * math.cos(first) / alpha, -(1.0 - 2.0 * (ellipe(k * k) - ellipeinc(first, k * k)) / alpha)


# ---- beams


def test_a_cantilever_under_its_own_weight_and_a_tip_load_bends_as_the_formulas_say():
    system = pl.System("cantilever", gravity=(0, -G))
    rod = system.add("rod", beam(stiffening="none"), joint=pl.Weld())
    system.force("load", rod.tip, (0.0, -3.0))
    rest = pl.equilibrium(system)
    bent = -(MU * G * LENGTH**4 / 8.0 + 3.0 * LENGTH**3 / 3.0) / EI  # cubic elements are exact at their nodes
    assert rest.of_body("tip_deflection", "rod")[1] == pytest.approx(bent, rel=1e-12)
    force, moment = rest.reactions["rod"]
    assert force == pytest.approx([0.0, MU * G * LENGTH + 3.0, 0.0], abs=1e-11)
    assert moment[2] == pytest.approx(MU * G * LENGTH**2 / 2.0 + 3.0 * LENGTH, rel=1e-12)
    assert rest.stable and "minimum" in rest.stability


@pytest.mark.parametrize("load", [1.0, 2.0, 5.0, 10.0])
def test_sixteen_segments_bend_as_the_elastica(load):
    rest = pl.equilibrium(chord_segments(16, (0.0, -load * EI)))
    x, y = elastica(load)
    tip = rest.of_body("tip_position", "s15")
    assert math.hypot(tip[0] - x, tip[1] - y) < 5e-6  # of the length; asked is 1e-4
    assert rest.stable


def test_segments_converge_with_the_fourth_power_of_their_length():
    exact = np.array(elastica(5.0))
    errors = []
    for count in (4, 8):
        tip = pl.equilibrium(chord_segments(count, (0.0, -5.0 * EI))).of_body("tip_position", f"s{count - 1}")
        errors.append(np.linalg.norm(tip[:2] - exact))
    assert math.log2(errors[0] / errors[1]) > 3.7


# ---- columns


CRITICAL = math.pi**2 * EI / 4.0  # Euler, clamped and free, of length 1


def test_a_straight_column_past_its_buckling_load_is_in_balance_and_unstable():
    rest = pl.equilibrium(chord_segments(8, (-1.2 * CRITICAL, 0.0)))
    assert rest.of_body("tip_position", "s7")[1] == pytest.approx(0.0, abs=1e-12)
    assert rest.stable is False and "unstable: the potential falls along" in rest.message
    below = pl.equilibrium(chord_segments(8, (-0.99 * CRITICAL, 0.0)))
    assert below.stable is True


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_small_imperfection_leads_to_the_buckled_column(side):
    """x/L = 2 E/K - 1 and y/L = 2 k/K with K(k) = pi/2 sqrt(P/P_c) (Timoshenko and Gere, 2.7)."""
    rest = pl.equilibrium(chord_segments(8, (-1.2 * CRITICAL, side * 1e-6 * CRITICAL)))
    k = brentq(lambda k: ellipk(k * k) - 0.5 * math.pi * math.sqrt(1.2), 1e-3, 0.999)
    exact = 2.0 * ellipe(k * k) / ellipk(k * k) - 1.0, side * 2.0 * k / ellipk(k * k)
    assert rest.of_body("tip_position", "s7")[:2] == pytest.approx(exact, abs=2e-4)  # of eight segments
    assert rest.stable is True


def test_a_column_of_one_beam_that_gives_way_is_refused_with_the_load_it_bears():
    """Its foreshortening is of second order: past the critical load it has no bent rest."""
    system = pl.System("column", gravity=(0, 0))
    rod = system.add("rod", beam(1.0, pl.Modes("cf", 3), stiffening="full"), joint=pl.Weld())
    system.force("load", rod.tip, (-1.25 * CRITICAL, 1e-3))
    with pytest.raises(pl.SolveError, match=r"at 0\.(7[89]|80)\d* times its loads the mechanism buckles along rod\.y1"):
        pl.equilibrium(system)


# ---- loops


CRANK, COUPLER, ROCKER, BASE = 0.3, 0.8, 0.6, 0.9


def four_bar(by="multipliers", stiffness=50.0):
    system = pl.System("four-bar", gravity=(0, -G))
    crank = system.add("crank", pl.RigidBody.rod(CRANK, 1.0),
                       joint=pl.Revolute(angle=1.0, spring=pl.Spring(stiffness, 0.8)))  # fmt: skip
    coupler = system.add("coupler", pl.RigidBody.rod(COUPLER, 2.0),
                         joint=pl.Revolute(angle=-0.8, spring=pl.Spring(4.0, -0.5)), on=crank.tip)  # fmt: skip
    rocker = system.add("rocker", pl.RigidBody.rod(ROCKER, 1.5), joint=pl.Revolute(angle=1.5), on=system.ground.moved((BASE, 0.0)))
    held = {} if by == "multipliers" else {"by": "springs", "stiffness": 1e8}
    system.close("pin", "point", coupler.tip, rocker.tip, **held)
    return system


def four_bar_angles(theta):
    """Absolute angles of coupler and rocker, the loop closed: the law of cosines."""
    x, y = CRANK * math.cos(theta), CRANK * math.sin(theta)
    far = math.hypot(BASE - x, y)
    towards = math.atan2(-y, BASE - x)
    coupler = towards + math.acos((COUPLER**2 + far**2 - ROCKER**2) / (2.0 * COUPLER * far))
    tip = x + COUPLER * math.cos(coupler), y + COUPLER * math.sin(coupler)
    return coupler, math.atan2(tip[1], tip[0] - BASE)


def four_bar_potential(theta):
    coupler, rocker = four_bar_angles(theta)
    heights = (1.0 * 0.5 * CRANK * math.sin(theta), 2.0 * (CRANK * math.sin(theta) + 0.5 * COUPLER * math.sin(coupler)),
               1.5 * 0.5 * ROCKER * math.sin(rocker))  # fmt: skip
    return G * sum(heights) + 25.0 * (theta - 0.8) ** 2 + 2.0 * (coupler - theta + 0.5) ** 2


def test_a_four_bar_on_springs_rests_where_its_potential_is_least():
    rest = pl.equilibrium(four_bar())
    least = minimize_scalar(four_bar_potential, bracket=(0.6, 1.0), tol=1e-12).x
    coupler, rocker = four_bar_angles(rest["crank.angle"])
    assert rest["crank.angle"] == pytest.approx(least, abs=1e-7)  # what a minimum of double precision shows
    assert rest["coupler.angle"] + rest["crank.angle"] == pytest.approx(coupler, abs=1e-12)
    assert rest["rocker.angle"] == pytest.approx(rocker, abs=1e-12)
    slope = (four_bar_potential(rest["crank.angle"] + 1e-5) - four_bar_potential(rest["crank.angle"] - 1e-5)) / 2e-5
    assert abs(slope) < 1e-7
    carried = rest.reactions["crank"].force + rest.reactions["rocker"].force
    assert carried == pytest.approx([0.0, 4.5 * G, 0.0], abs=1e-9)
    assert rest.stable is True


def test_loops_by_springs_rest_where_loops_by_multipliers_do():
    exact, sprung = pl.equilibrium(four_bar()), pl.equilibrium(four_bar("springs"))
    for name, value in exact.coordinates.items():
        assert sprung[name] == pytest.approx(value, abs=1e-6)  # 10 N on 1e8 N/m
    assert sprung.values["multiplier"] == pytest.approx(exact.values["multiplier"], rel=1e-5)


# ---- contacts


HERTZ = 1e7


def table(middle_radius=None, height=0.05, angle=0.1):
    """A beam with balls at its ends, and maybe one in the middle, above a floor; a spring holds it along the floor."""
    system = pl.System("table", gravity=(0, -G))
    joint = pl.Planar(position=(0.0, height), angle=angle, spring={"x": pl.Spring(10.0)})
    rod = system.add("rod", beam(modes=pl.ElementModes(4)), joint=joint)
    balls = [pl.Sphere(rod.root, 0.01), pl.Sphere(rod.tip, 0.01)]
    if middle_radius is not None:
        balls.append(pl.Sphere(rod.at(0.5 * LENGTH), middle_radius))
    system.contact(points=balls, against=pl.Plane(normal=(0, 1, 0)), normal=pl.Hertz(stiffness=HERTZ))
    return system


@pytest.mark.parametrize(("height", "angle"), [(0.05, 0.1), (0.5, 1.0), (0.0095, 0.0)])
def test_a_beam_settles_on_two_contacts_wherever_it_starts(height, angle):
    rest = pl.equilibrium(table(height=height, angle=angle))
    weight = MU * LENGTH * G
    for contact in rest.contacts.values():
        assert contact.closed
        assert contact.force == pytest.approx(0.5 * weight, rel=1e-9)
        assert -contact.gap == pytest.approx((0.5 * weight / HERTZ) ** (2 / 3), rel=1e-9)
    assert rest["rod.y4"] == pytest.approx(-5.0 * MU * G * LENGTH**4 / (384.0 * EI), rel=1e-9)  # the middle node
    assert rest.stable is True


def test_of_three_contacts_those_close_that_must():
    weight, sag = MU * LENGTH * G, 5.0 * MU * G * LENGTH**4 / (384.0 * EI)

    def missing(middle, lower):
        """By which the middle is above its floor, where it carries `middle`: superposition, and Hertz at all three."""
        ends = (0.5 * (weight - middle) / HERTZ) ** (2 / 3)
        return lower - ends - sag + middle * LENGTH**3 / (48.0 * EI) + (middle / HERTZ) ** (2 / 3)

    lower = 0.4e-3
    carried = brentq(lambda x: missing(x, lower), 0.0, weight, xtol=1e-14)
    rest = pl.equilibrium(table(0.01 - lower))
    assert [contact.closed for contact in rest.contacts.values()] == [True, True, True]
    assert [contact.force for contact in rest.contacts.values()] == pytest.approx(
        [0.5 * (weight - carried), 0.5 * (weight - carried), carried], rel=1e-7)  # fmt: skip
    rest = pl.equilibrium(table(0.01 - 2e-3))
    assert [contact.closed for contact in rest.contacts.values()] == [True, True, False]
    assert list(rest.contacts.values())[2].gap > 1e-3


# ---- steady turning


def test_a_conical_pendulum_stands_at_the_angle_of_its_speed():
    """cos(theta) = g/(w^2 L), theta from the vertical."""
    system = pl.System("conical", gravity=(0, 0, -G))
    mast = system.add("mast", pl.RigidBody(mass=1.0, inertia=(0.1, 0.1, 0.1)), joint=pl.Revolute(axis="z"))
    bob = pl.RigidBody(mass=0.5, inertia=(0.0, 0.0, 0.0), com=(0.4, 0.0, 0.0))
    system.add("bob", bob, joint=pl.Revolute(axis="y", angle=1.2), on=mast.root)
    rest = pl.equilibrium(system, steady={"mast.angle": 8.0})
    assert math.sin(rest["bob.angle"]) == pytest.approx(G / (8.0**2 * 0.4), rel=1e-12)  # the angle is from the horizontal
    assert rest.stable is True
    hanging = pl.equilibrium(system, steady={"mast.angle": 4.0})  # too slow to rise
    assert hanging["bob.angle"] == pytest.approx(0.5 * math.pi, abs=1e-9)


def test_a_rotor_across_gravity_is_told_to_rest_at_its_angle_only():
    system = pl.System("blade", gravity=(0, -G))
    system.add("blade", beam(modes=pl.Modes("cf", 1), stiffening="full"), joint=pl.Revolute(angle=0.2))
    rest = pl.equilibrium(system, steady={"blade.angle": 5.0})
    assert rest.message.endswith("only at this blade.angle: the balance changes as it moves on")
    level = pl.System("blade", gravity=(0, 0, -G))
    level.add("blade", beam(modes=pl.Modes("cf", 1), stiffening="full"), joint=pl.Revolute(angle=0.2))
    assert "only" not in pl.equilibrium(level, steady={"blade.angle": 5.0}).message


# ---- what comes of it


def test_a_run_that_starts_at_the_rest_stays_there():
    for system in (four_bar(), table(0.0096)):
        rest = pl.equilibrium(system)
        result = pl.simulate(system, 0.2, start=rest.state, save=0.05)
        assert result.ok
        assert np.max(np.abs(result.values["q"] - rest.values["q"])) < 1e-9
        assert result.values["normal_force"][-1] == pytest.approx(rest.values["normal_force"], rel=1e-6)
        assert result.values["reaction_force"][-1] == pytest.approx(rest.values["reaction_force"], abs=1e-5)
        assert pl.simulate(system, 0.01, start=rest.to_result()).ok


def test_parameters_springs_stops_and_formulas_of_time_count():
    payload = pl.Parameter("payload", 0.3)
    system = pl.System("arm", gravity=(0, -G))
    stop = pl.Limits(low=-0.2, high=3.0, stiffness=1e4)
    bob = pl.RigidBody(mass=payload, inertia=(0.0, 0.0, 0.01), com=(0.5, 0.0, 0.0))
    system.add("arm", bob, joint=pl.Revolute(angle=0.3, limits=stop))
    system.drive("motor", "arm.angle", lambda t, q, v: 2.0 * t)
    pressed = pl.equilibrium(system)
    assert 1e4 * (-0.2 - pressed["arm.angle"]) == pytest.approx(0.3 * G * 0.5 * math.cos(pressed["arm.angle"]), rel=1e-9)
    lifted = pl.equilibrium(system, parameters={"payload": 1.0}, t=1.5)
    assert 1e4 * (-0.2 - lifted["arm.angle"]) == pytest.approx(1.0 * G * 0.5 * math.cos(lifted["arm.angle"]) - 3.0, rel=1e-9)


def test_a_pendulum_swings_down_to_its_rest_and_stands_upright_only_where_it_starts_so():
    def pendulum(angle):
        system = pl.System("pendulum", gravity=(0, -G))
        system.add("arm", pl.RigidBody.rod(1.0, 0.5), joint=pl.Revolute(angle=angle))
        return pl.equilibrium(system)

    for angle in (1.0, 1.5, -3.0):
        assert math.sin(pendulum(angle)["arm.angle"]) == pytest.approx(-1.0, abs=1e-12)
    upright = pendulum(0.5 * math.pi)
    assert upright["arm.angle"] == 0.5 * math.pi
    assert upright.stable is False and "arm.angle" in upright.stability


def test_a_free_body_on_springs_turns_to_its_rest():
    """A ball joint whose spring and gravity balance: k theta = m g L cos(theta)."""
    system = pl.System("ball", gravity=(0, 0, -G))
    system.add("bob", pl.RigidBody(mass=0.5, inertia=(0.01, 0.01, 0.01), com=(0.4, 0.0, 0.0)),
               joint=pl.Spherical(spring=pl.Spring(3.0)))  # fmt: skip
    rest = pl.equilibrium(system)
    turned = brentq(lambda x: 3.0 * x - 0.5 * G * 0.4 * math.cos(x), 0.0, 1.5, xtol=1e-15)
    assert [rest[f"bob.{name}"] for name in ("qw", "qx", "qy", "qz")] == pytest.approx(
        [math.cos(0.5 * turned), 0.0, math.sin(0.5 * turned), 0.0], abs=1e-12)  # fmt: skip


# ---- what is refused


def shaft(*, torque=0.0, free=False):
    system = pl.System("shaft", gravity=(0, -G))
    system.add("rotor", pl.RigidBody(mass=1.0, inertia=(0.1, 0.1, 0.1)), joint=pl.Free() if free else pl.Revolute(axis="x"))
    if torque:
        system.drive("motor", "rotor.angle", torque)
    return system


@pytest.mark.parametrize(
    ("system", "named"),
    [
        (shaft(), r"nothing holds rotor\.angle: "),
        (shaft(torque=1.0), r"nothing holds rotor\.angle: .* a force acts along it"),
        (shaft(free=True), r"nothing holds rotor\.x, rotor\.y, rotor\.z, rotor\.wx, rotor\.wy, rotor\.wz: "),
    ],
)
def test_what_nothing_holds_is_refused_by_name(system, named):
    with pytest.raises(pl.SolveError, match=named):
        pl.equilibrium(system)


def on_a_floor(friction):
    system = pl.System("loose", gravity=(0, -G))
    rod = system.add("rod", beam(modes=pl.ElementModes(4)), joint=pl.Planar(position=(0.0, 0.05)))
    system.contact(points=[pl.Sphere(rod.root, 0.01), pl.Sphere(rod.tip, 0.01)], against=pl.Plane(normal=(0, 1, 0)),
                   normal=pl.Hertz(stiffness=HERTZ), friction=friction)  # fmt: skip
    return system


def test_of_a_mechanism_only_what_is_loose_is_named_and_friction_may_hold_it():
    with pytest.raises(pl.SolveError, match=r"nothing holds rod\.x: "):
        pl.equilibrium(on_a_floor(None))
    rest = pl.equilibrium(on_a_floor(pl.Coulomb(mu=0.3)))
    assert rest.message.endswith("friction alone holds rod.x")
    assert [contact.force for contact in rest.contacts.values()] == pytest.approx([0.5 * MU * LENGTH * G] * 2, rel=1e-9)


def test_a_chain_that_falls_on_a_floor_comes_to_lie_on_it():
    from pliant.gallery.falling_chain import falling_chain

    rest = pl.equilibrium(falling_chain())
    assert all(contact.closed for contact in rest.contacts.values())
    assert sum(contact.force for contact in rest.contacts.values()) == pytest.approx(3.0 * G, rel=1e-9)
    assert np.max(np.abs(rest.values["tip_position"][:, 1])) < 1e-3


def test_a_loop_that_a_steady_rate_would_open_is_refused():
    rule = r"steady must leave all other coordinates at rest: as crank\.angle moves, closure 'pin' opens"
    with pytest.raises(pl.ModelError, match=rule):
        pl.equilibrium(four_bar(), steady={"crank.angle": 3.0})


def test_a_box_settles_on_the_four_corners_that_friction_keeps_in_place():
    system = pl.System("box", gravity=(0, 0, -G))
    box = pl.RigidBody(mass=2.0, inertia=(0.02, 0.03, 0.04), com=(0.03, 0.01, 0.05))
    joint = pl.Free(position=(0.1, 0.2, 0.4), orientation=(0.98, 0.1, -0.15, 0.05))
    held = system.add("box", box, joint=joint)
    corners = [pl.Sphere(held.at((x, y, 0.0)), 0.01) for x in (-0.1, 0.1) for y in (-0.1, 0.1)]
    system.contact(points=corners, against=pl.Plane(normal=(0, 0, 1)), normal=pl.Linear(stiffness=1e5, damping=10.0),
                   friction=pl.Karnopp(mu_static=0.5, mu_kinetic=0.4))  # fmt: skip
    rest = pl.equilibrium(system)
    forces = [contact.force for contact in rest.contacts.values()]
    assert sum(forces) == pytest.approx(2.0 * G, rel=1e-9)
    tilted = 0.1 * (forces[2] + forces[3] - forces[0] - forces[1])  # moment about y of the corners, of the weight beside the middle
    assert tilted == pytest.approx(2.0 * G * 0.03, rel=1e-2)  # the corners give way by 0.1 mm
    assert "friction alone holds" in rest.message
    assert pl.linearise(system, at=rest, outputs=()).modes().frequencies[0] > 100.0  # sticking, it is held all round


def test_a_loop_on_a_body_that_is_moved_as_told_settles():
    system = pl.System("jaws", gravity=(0, -G))
    hand = system.add("hand", pl.RigidBody(mass=1.0), joint=pl.Prismatic(axis="y", motion=lambda t: 0.1 + 0.2 * t))
    for name, start, spring in (("left", -0.1, None), ("right", 0.1, pl.Spring(100.0))):
        joint = pl.Prismatic(axis="x", displacement=start, spring=spring)
        system.add(name, pl.RigidBody(mass=0.5), joint=joint, on=hand.root)
    system.close("pinion", "gear", "left.displacement", "right.displacement", ratio=-1.0)
    rest = pl.equilibrium(system)
    assert rest["hand.displacement"] == pytest.approx(0.1)
    assert rest["left.displacement"] == pytest.approx(0.0, abs=1e-12) == rest["right.displacement"]


def test_wrong_words_are_refused_before_anything_is_looked_for():
    with pytest.raises(pl.ModelError, match=r"steady must name joint coordinates, .*did you mean 'rotor.angle'"):
        pl.equilibrium(shaft(), steady={"rotor.angel": 1.0})
    moved = pl.System("moved", gravity=(0, -G))
    moved.add("rotor", pl.RigidBody(mass=1.0, inertia=(0.1, 0.1, 0.1)), joint=pl.Revolute(axis="x", motion=lambda t: 2.0 * t))
    with pytest.raises(pl.ModelError, match="must not name a coordinate whose motion is prescribed"):
        pl.equilibrium(moved, steady={"rotor.angle": 1.0})
    with pytest.raises(pl.ModelError, match="parameters: name must not be given, because the system has no parameters"):
        pl.equilibrium(shaft(), parameters={"mass": 1.0})


def test_a_beam_too_short_for_its_depth_is_named_at_rest_and_in_its_small_motions():
    """Shear, which Euler and Bernoulli leave out, is a seventh of the deflection of a cantilever twice as long as deep."""
    system = pl.System("deep", gravity=(0, -G))
    section = pl.Section.rectangle(height=0.5, width=0.1)
    system.add("rod", pl.Beam(length=1.0, section=section, material=pl.STEEL, theory="euler-bernoulli", modes=pl.ElementModes(1)),
               joint=pl.Weld())  # fmt: skip
    said = "body 'rod': length = 1 m is 2 times the depth of its section, less than a beam has; is it in m? 0.01 is 10 mm"
    assert said in pl.equilibrium(system).warnings and said in pl.linearise(system, inputs=(), outputs=()).warnings
