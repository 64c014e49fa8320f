"""Solids against closed forms: boxes that slide, tip, rock and settle, cylinders that roll and stand, rods that fall on edges."""

import math

import numpy as np
import pytest
from scipy.integrate import quad

import pliant as pl

G = 9.81
HARD = pl.Exact(stiffness=1e8, restitution=0.3, exponent=1.0)  # N/m: a body of a kilogram stands 1e-7 m deep
GRIPS = pl.Karnopp(mu_static=2.0, mu_kinetic=1.8, band=1e-5)


def on_a_slope(slope, shape, body, place, friction, normal=HARD, velocity=(0.0, 0.0, 0.0), **start):
    """A body on a plane whose x axis points down the slope; gravity is turned instead of the plane."""
    system = pl.System("slope", gravity=(G * math.sin(slope), 0.0, -G * math.cos(slope)))
    one = system.add("body", body, joint=pl.Free(position=place, velocity=velocity, **start))
    system.contact(points=shape(one.root), against=pl.Plane(normal="z"), normal=normal, friction=friction)
    return system


def upright(slope, width, height, friction, normal=HARD, angle=0.0):
    """A rectangle in the plane that stands with its feet on a slope, pressed in by its weight, turned about its left foot."""
    system = pl.System("block", gravity=(G * math.sin(slope), -G * math.cos(slope)))
    soft = 0.0 if isinstance(normal, pl.Impulsive) else G / normal.stiffness
    turn = angle - soft * math.sin(slope) * height / width**2  # the moment of the weight, over that of two springs
    x, y = -0.5 * width, -0.5 * soft * math.cos(slope) + 0.5 * width * (angle - turn)
    c, s = math.cos(turn), math.sin(turn)
    joint = pl.Planar(position=(x + 0.5 * (c * width - s * height), y + 0.5 * (s * width + c * height)), angle=turn)
    block = system.add("block", pl.RigidBody.box((width, height), 1.0), joint=joint)
    system.contact(points=pl.Box(block.root, (width, height)), against=pl.Plane(normal="y"), normal=normal, friction=friction)
    return system


# ---- boxes


@pytest.mark.parametrize("slope", [0.0, pl.deg(10.0), pl.deg(35.0)])
def test_a_box_slides_as_a_point_does(slope):
    """x = v t + g (sin - mu cos) t^2/2 on its four lower corners, which share the load unequally."""
    mu, speed, t_end = 0.4, 2.0, 0.4
    depth = 0.25 * G * math.cos(slope) / HARD.stiffness
    system = on_a_slope(slope, lambda at: pl.Box(at, (0.3, 0.2, 0.05)), pl.RigidBody.box((0.3, 0.2, 0.05), 1.0),
                        (0.0, 0.0, 0.025 - depth), pl.Coulomb(mu=mu, transition=1e-6), velocity=(speed, 0.0, 0.0))  # fmt: skip
    run = pl.simulate(system, t_end)
    acceleration = G * (math.sin(slope) - mu * math.cos(slope))
    assert run.ok and run["body.x"][-1] == pytest.approx(speed * t_end + 0.5 * acceleration * t_end**2, abs=1e-6)
    forces = run.values["normal_force"][-1]
    assert np.count_nonzero(forces) == 4 and forces.sum() == pytest.approx(G * math.cos(slope), rel=1e-4)
    front, back = forces[4:].sum(), forces[:4].sum()  # corners 5 to 8 lead; the friction at the floor presses them
    assert (front - back) * 0.15 == pytest.approx(mu * G * math.cos(slope) * 0.025, rel=1e-3)


@pytest.mark.parametrize("normal", [HARD, pl.Impulsive(restitution=0.0)], ids=["stiff", "impulsive"])
def test_a_box_tips_at_the_slope_whose_tangent_is_width_over_height(normal):
    limit = math.atan(0.1 / 0.3)
    for share, tips in ((0.999, False), (1.001, True)):
        system = upright(share * limit, 0.1, 0.3, GRIPS, normal)
        system.event("tips", lambda t, q, v: q["block.angle"] + 0.1, stop=True)
        run = pl.simulate(system, 3.0)
        assert run.ok and bool(abs(run["block.angle"][-1]) > 0.09) is tips
        assert tips or np.abs(run["block.x"]).max() < 1e-5


def test_a_box_rocks_with_the_period_and_the_loss_of_housner():
    """Housner 1963: (J + m R^2) phi'' = -m g R sin(a - phi), and phi' falls to 1 - 3/2 sin^2(a) of itself at every impact."""
    width, height, begin = 0.1, 0.4, 0.1
    half, slim = 0.5 * math.hypot(width, height), math.atan(width / height)
    system = pl.System("rocking", gravity=(0, -G))
    centre = (-0.5 * width + half * math.sin(slim - begin), half * math.cos(slim - begin))  # on its left foot
    block = system.add("block", pl.RigidBody.box((width, height), 1.0), joint=pl.Planar(position=centre, angle=begin))
    system.contact(points=pl.Box(block.root, (width, height)), against=pl.Plane(normal="y"),
                   normal=pl.Impulsive(restitution=0.0), friction=GRIPS)  # fmt: skip
    system.event("upright", lambda t, q, v: q["block.angle"])
    run = pl.simulate(system, 1.6)
    assert run.ok
    times = np.array([event.t for event in run.events if event.name == "upright"])
    p2, ratio = 3.0 * G / (4.0 * half), 1.0 - 1.5 * math.sin(slim) ** 2
    energy = math.cos(slim - begin)  # of the height at which it turns back

    def quarter(top):
        """int dphi / phi' from 0 to the turn, phi'^2 = 2 p^2 (cos(a - top) - cos(a - phi)), with phi = top - u^2."""

        def slowness(u):
            left = math.cos(slim - top) - math.cos(slim - top + u * u)
            return 2.0 * u / math.sqrt(2.0 * p2 * left) if u > 0.0 else 2.0 / math.sqrt(2.0 * p2 * math.sin(slim - top))

        return quad(slowness, 0.0, math.sqrt(top), epsabs=1e-13)[0]

    expected, turn = [quarter(begin)], begin
    for _ in range(3):
        squared = 2.0 * p2 * (math.cos(slim - turn) - math.cos(slim)) * ratio**2
        turn = slim - math.acos(math.cos(slim) + squared / (2.0 * p2))
        expected.append(expected[-1] + 2.0 * quarter(turn))
    assert energy > math.cos(slim)
    np.testing.assert_allclose(times[:4], expected, rtol=1e-5)


def test_a_box_that_rocks_settles_on_its_feet_and_stays():
    run = pl.simulate(upright(0.0, 0.2, 0.2, GRIPS, pl.HuGuo(stiffness=1e7, restitution=0.3), angle=0.15), 4.0)
    assert run.ok and run.ledger.relative_error_max < 1e-6
    last = run.time > 3.0
    assert np.abs(run["block.angle"][last]).max() < 1e-6 and np.ptp(run["block.x"][last]) < 1e-9
    np.testing.assert_allclose(run.values["normal_force"][-1][[0, 2]], 0.5 * G, rtol=1e-4)


def prism(sides):
    angles = 2.0 * math.pi * np.arange(sides) / sides
    return [(0.1 * math.cos(a), 0.1 * math.sin(a), z) for a in angles for z in (-0.03, 0.03)]


RESTING = {
    "four corners": (lambda at: pl.Box(at, (0.2, 0.15, 0.06)), pl.RigidBody.box((0.2, 0.15, 0.06), 1.0)),
    "a rim": (lambda at: pl.Cylinder(at, 0.1, 0.06), pl.RigidBody.cylinder(0.1, 0.06, 1.0)),
    "three corners": (lambda at: pl.Hull(at, prism(3)), pl.RigidBody.hull(prism(3), 1.0)),
}


@pytest.mark.parametrize("what", RESTING)
def test_what_falls_on_a_slope_comes_to_rest_and_stays(what):
    shape, body = RESTING[what]
    law = pl.HuGuo(stiffness=1e7, restitution=0.3)
    system = on_a_slope(pl.deg(15.0), shape, body, (0.0, 0.0, 0.04), pl.Karnopp(mu_static=0.6, mu_kinetic=0.5), law,
                        **({} if what == "a rim" else {"orientation": (0.9987, 0.03, 0.04, 0.0)}))  # fmt: skip
    run = pl.simulate(system, 3.0)  # a disk that falls tilted would whirl on its rim, which nothing stops
    assert run.ok and run.ledger.relative_error_max < 1e-6
    last = run.time > 2.0
    assert max(np.ptp(run[f"body.{axis}"][last]) for axis in "xyz") < 1e-8
    assert run.values["normal_force"][-1].sum() == pytest.approx(G * math.cos(pl.deg(15.0)), rel=1e-4)


def test_a_mesh_rests_on_twelve_corners_and_all_share_its_weight():
    sides = 12
    system = on_a_slope(0.0, lambda at: pl.Hull(at, prism(sides)), pl.RigidBody.hull(prism(sides), 1.0), (0.0, 0.0, 0.035),
                        None,
                        pl.HuGuo(stiffness=1e7, restitution=0.2))  # fmt: skip
    run = pl.simulate(system, 1.0)
    forces = run.values["normal_force"][-1]
    assert run.ok and np.count_nonzero(forces) == sides
    np.testing.assert_allclose(forces[forces > 0.0], G / sides, rtol=1e-3)
    assert [len(group) for group in pl.undetermined_forces(run)] == [sides]


@pytest.mark.parametrize("shift", [0.0, 4e-4])
@pytest.mark.parametrize("sides", [2, 3])
def test_equal_boxes_that_stand_flush_hold_each_other(sides, shift):
    """Corners on edges, to the last digit or nearly: each of two faces holds by its corners, so by twice as many as it has."""
    down = (0.0, -9.81, 0.0)[:2] if sides == 2 else (0.0, 0.0, -9.81)
    system, boxes, size = pl.System("flush", gravity=down), [], (0.1,) * sides
    for k in range(2):
        place = (shift * k, 0.05 + 0.1 * k) if sides == 2 else (shift * k, 0.0, 0.05 + 0.1 * k)
        joint = (pl.Planar if sides == 2 else pl.Free)(position=place)
        boxes.append(pl.Box(system.add(f"b{k}", pl.RigidBody.box(size, 1.0), joint=joint).root, size))
    law, friction = pl.HuGuo(stiffness=1e7, restitution=0.3), pl.Coulomb(mu=0.5)
    system.contact(points=boxes[0], against=pl.Plane(normal="yz"[sides - 2]), normal=law, friction=friction, name="floor")
    system.contact(points=boxes[1], against=boxes[0], normal=law, friction=friction, name="stack")
    run = pl.simulate(system, 0.4)
    q, feet = run.values["q"][-1], 2 ** (sides - 1)
    floor, between = ((weight / 1e7) ** (1.0 / 1.5) for weight in (2.0 * 9.81 / feet, 9.81 / (2.0 * feet)))
    upper = q[3:5] if sides == 2 else q[7:10]
    assert run.ok and run.ledger.relative_error_max < 1e-8
    assert upper[-1] == pytest.approx(0.15 - floor - between, abs=2e-6) and upper[0] == pytest.approx(shift, abs=2e-6)


def test_a_corner_or_a_rim_pressed_deep_into_a_solid_is_said():
    law = pl.HuGuo(stiffness=1e4, restitution=0.3)
    for sides, part in ((2, "corner"), (3, "start"), (3, "end")):
        flat = sides == 2
        system = pl.System("soft", gravity=(0, -G) if flat else (0, 0, -G))
        joint = pl.Planar(position=(0.0, 0.11)) if flat else pl.Free(position=(0.0, 0.0, 0.101))
        body = pl.RigidBody.box((0.1, 0.1), 1.0) if flat else pl.RigidBody.cylinder(0.05, 0.1, 1.0, "y" if part == "start" else "z")
        at = system.add("one", body, joint=joint).root
        shape = pl.Box(at, (0.1, 0.1)) if flat else pl.Cylinder(at, 0.05, 0.1, "y" if part == "start" else "z")
        system.contact(points=shape, against=pl.Box(system.ground, (*(0.3, 0.3)[: sides - 1], 0.1)), normal=law, name="seat")
        (said,) = [warning for warning in pl.simulate(system, 0.2).warnings if "it pushes out at the side" in warning]
        assert "'seat one.root." in said and "deep, more than the 0.00" in said


def test_boxes_stand_on_boxes_in_a_plane():
    system = pl.System("wall", gravity=(0, -G))
    below = system.ground
    for k, shift in enumerate((0.0, 0.04)):
        one = system.add(f"b{k}", pl.RigidBody.box((0.2, 0.1), 1.0), joint=pl.Planar(position=(shift, 0.052 + 0.101 * k)))
        against = pl.Plane(normal="y") if k == 0 else pl.Box(below, (0.2, 0.1))
        system.contact(points=pl.Box(one.root, (0.2, 0.1)), against=against, name=f"joint{k}", friction=pl.Coulomb(mu=0.5),
                       normal=pl.HuGuo(stiffness=1e7, restitution=0.2))  # fmt: skip
        below = one.root
    run = pl.simulate(system, 2.0)
    last = run.time > 1.5
    assert run.ok and run.ledger.relative_error_max < 1e-6
    for k in range(2):
        assert np.ptp(run[f"b{k}.x"][last]) < 1e-6 and run[f"b{k}.y"][-1] == pytest.approx(0.05 + 0.1 * k, abs=4e-4)
        own = [n for n, name in enumerate(run.labels["pair"]) if name.startswith(f"joint{k} ")]
        assert run.values["normal_force"][-1][own].sum() == pytest.approx((2 - k) * G, rel=1e-3)


def test_a_plank_across_a_plank_rests_on_four_crossings_of_edges():
    """Each edge is as deep as a quarter of the weight presses it, and the plank lies level."""
    system, law = pl.System("planks", gravity=(0, 0, -G)), pl.Exact(stiffness=1e6, restitution=0.2, exponent=1.0)
    size = (0.6, 0.1, 0.04)
    plank = system.add("plank", pl.RigidBody.box(size, 1.0), joint=pl.Free(position=(0.0, 0.0, 0.0405)))
    below = pl.Box(system.ground.turned(0.4 * math.pi, "z"), size)
    system.contact(points=pl.Box(plank.root, size), against=below, normal=law, friction=pl.Coulomb(mu=0.5))
    run = pl.simulate(system, 0.6)
    assert run.ok and run.ledger.relative_error_max < 1e-6
    forces = {pair: force for pair, force in zip(run.labels["pair"], run.values["normal_force"][-1], strict=True) if force > 0.0}
    assert len(forces) == 4 and all(".edge.x" in pair for pair in forces)
    assert list(forces.values()) == pytest.approx([0.25 * G] * 4, rel=1e-6)
    assert run["plank.z"][-1] == pytest.approx(0.04 - 0.25 * G / 1e6, abs=1e-10)


def test_edges_that_cross_are_struck_by_the_impulse_of_two_rigid_bodies():
    """(1 + e) v / (1/m + 1/m' + sum (r x n) . J^-1 (r x n)) at right angles to both edges, at the closed-form time."""
    e, speed, size, mass = 0.5, 2.0, (0.2, 0.3, 0.1), (1.0, 0.6)
    turns = ((0.25 * math.pi, "x"), (0.3, "y"))  # an edge along x is down; one along y is up, and both tilt
    system = pl.System("edges", gravity=(0, 0, 0))
    places, boxes = ((-0.03, 0.02, 0.5), (0.0, 0.0, 0.0)), []
    for name, m, place, (angle, axis), velocity in zip("ab", mass, places, turns, (-speed, 0.0), strict=True):
        orientation = (math.cos(0.5 * angle), *(math.sin(0.5 * angle) * (axis == a) for a in "xyz"))
        joint = pl.Free(position=place, velocity=(0.0, 0.0, velocity), orientation=orientation)
        boxes.append(pl.Box(system.add(name, pl.RigidBody.box(size, m), joint=joint).root, size))
    system.contact(points=boxes[0], against=boxes[1], normal=pl.Exact(stiffness=1e10, restitution=e, exponent=1.0))
    run = pl.simulate(system, 0.3)
    # lowest edge of a, highest edge of b: their lines are along x and along y, so that the normal is z
    low, high = (size[1] + size[2]) / math.sqrt(8.0), 0.5 * (size[2] * math.cos(0.3) + size[0] * math.sin(0.3))
    assert run.contacts[0].begin == pytest.approx((0.5 - low - high) / speed, abs=1e-12) and ".edge.x" in run.contacts[0].pair
    turned = np.array([(1, 0, 0), (0, math.sqrt(0.5), -math.sqrt(0.5)), (0, math.sqrt(0.5), math.sqrt(0.5))])
    other = np.array([(math.cos(0.3), 0, math.sin(0.3)), (0, 1, 0), (-math.sin(0.3), 0, math.cos(0.3))])
    a = np.array((0.0, (size[2] - size[1]) / math.sqrt(8.0), -low)) + places[0]  # a point of either edge
    b = np.array((-0.5 * size[0] * math.cos(0.3) + 0.5 * size[2] * math.sin(0.3), 0.0, high))
    point, slowness = np.array((b[0], a[1], high)), 0.0
    for m, axes, centre in zip(mass, (turned, other), ((*places[0][:2], low + high), places[1]), strict=True):
        arm = axes.T @ np.cross(point - centre, (0.0, 0.0, 1.0))
        x, y, z = np.square(size)
        slowness += 1.0 / m + arm @ (arm * 12.0 / (m * np.array((y + z, x + z, x + y))))
    assert run.contacts[0].impulse == pytest.approx((1.0 + e) * speed / slowness, rel=1e-3)


# ---- cylinders


def test_a_cylinder_rolls_down_a_slope_at_two_thirds_of_its_pull():
    slope, t_end = pl.deg(20.0), 1.0
    depth = 0.5 * G * math.cos(slope) / HARD.stiffness
    system = on_a_slope(slope, lambda at: pl.Cylinder(at, 0.1, 0.3, "y"), pl.RigidBody.cylinder(0.1, 0.3, 1.0, "y"),
                        (0.0, 0.0, 0.1 - depth), GRIPS)  # fmt: skip
    run = pl.simulate(system, t_end)
    assert run.ok and run["body.x"][-1] == pytest.approx(G * math.sin(slope) * t_end**2 / 3.0, rel=1e-5)
    assert np.count_nonzero(run.values["normal_force"][-1]) == 2 and abs(run["body.y"][-1]) < 1e-9


def test_a_cylinder_that_spins_upright_is_braked_by_its_whole_rim():
    """J w' = -mu m g R, J = m R^2/2."""
    mu, radius = 0.3, 0.1
    depth = 0.5 * G / HARD.stiffness
    system = on_a_slope(0.0, lambda at: pl.Cylinder(at, radius, 0.12), pl.RigidBody.cylinder(radius, 0.12, 1.0),
                        (0.0, 0.0, 0.06 - depth), pl.Coulomb(mu=mu, transition=1e-6), angular_velocity=(0, 0, 10.0))  # fmt: skip
    run = pl.simulate(system, 0.1)
    assert run["v", "body.wz"][-1] == pytest.approx(10.0 - 2.0 * mu * G / radius * 0.1, rel=1e-5)


@pytest.mark.parametrize("tilt", [0.0, 0.02, 0.4])
def test_a_rod_dropped_flat_or_tilted_is_struck_at_its_rims_by_the_impulse_of_a_rigid_body(tilt):
    """(1 + e) v / (1/m + x^2/J) at one rim, the arm x from the mass centre; flat: (1 + e) m v on two rims together."""
    radius, length, e, speed = 0.02, 0.6, 0.5, 2.0
    body = pl.RigidBody.cylinder(radius, length, 1.0, "x")
    system = pl.System("drop", gravity=(0, 0, 0))
    joint = pl.Free(
        position=(0.0, 0.0, 0.5), velocity=(0.0, 0.0, -speed), orientation=(math.cos(0.5 * tilt), 0.0, math.sin(0.5 * tilt), 0.0)
    )
    rod = system.add("rod", body, joint=joint)
    system.contact(points=pl.Cylinder(rod.root, radius, length, "x"), against=pl.Plane(normal="z"),
                   normal=pl.Exact(stiffness=1e10, restitution=e, exponent=1.0))  # fmt: skip
    run = pl.simulate(system, 0.25)
    inertia = (3.0 * radius**2 + length**2) / 12.0
    arm = 0.5 * length * math.cos(tilt) - radius * math.sin(tilt)
    first = [record for record in run.contacts if record.begin < run.contacts[0].begin + 1e-9]
    if tilt == 0.0:
        assert {record.pair for record in first} == {"contact rod.root.start", "contact rod.root.end"}
        assert sum(record.impulse for record in first) == pytest.approx((1.0 + e) * speed, rel=1e-3)
        assert np.abs(run["v", "rod.wy"]).max() < 1e-9
    else:
        assert [record.pair for record in first] == ["contact rod.root.end"]
        assert first[0].impulse == pytest.approx((1.0 + e) * speed / (1.0 + arm**2 / inertia), rel=2e-3)
    lowest = 0.5 - 0.5 * length * math.sin(tilt) - radius * math.cos(tilt)
    assert first[0].begin == pytest.approx(lowest / speed, abs=1e-12)


def test_a_rod_that_falls_across_an_edge_is_struck_there():
    """A capsule across the edge of a box, off its mass centre: at the arm x the impulse is (1 + e) v / (1/m + x^2/J)."""
    radius, length, e, speed, arm = 0.02, 0.6, 0.5, 2.0, 0.1
    system = pl.System("edge", gravity=(0, 0, 0))
    inertia = length**2 / 12.0
    body = pl.RigidBody(mass=1.0, inertia=(1e-3, inertia, inertia), com=(0.5 * length, 0, 0))
    rod = system.add("rod", body, joint=pl.Free(position=(-0.5 * length - arm, 0.03, 0.1), velocity=(0.0, 0.0, -speed)))
    # the box is turned by an eighth about y, so that one edge is up: it lies along y, at the height of half its diagonal
    box = pl.Box(system.ground.moved((0.0, 0.0, -0.05 * math.sqrt(2.0))).turned(0.25 * math.pi, "y"), (0.1, 0.4, 0.1))
    system.contact(points=pl.Capsule(rod.root, length, radius), against=box,
                   normal=pl.Exact(stiffness=1e10, restitution=e, exponent=1.0))  # fmt: skip
    run = pl.simulate(system, 0.1)
    assert len(run.contacts) == 1 and ".edge" in run.contacts[0].pair
    assert run.contacts[0].begin == pytest.approx((0.1 - radius) / speed, abs=1e-12)
    assert run.contacts[0].impulse == pytest.approx((1.0 + e) * speed / (1.0 + arm**2 / inertia), rel=1e-3)
    np.testing.assert_allclose(
        run.values["contact_point"][0, run.labels["pair"].index(run.contacts[0].pair)], (0.0, 0.03, 0.0), atol=1e-12
    )


# ---- the motion and its derivatives


def test_derivatives_by_the_sides_of_a_box_and_the_radius_of_a_cylinder_agree_with_differences():
    side, radius = pl.Parameter("side", 0.2), pl.Parameter("radius", 0.05)
    system = pl.System("both", gravity=(0, 0, -G))
    block = system.add("block", pl.RigidBody.box((0.2, 0.15, 0.1), 1.0),
                       joint=pl.Free(position=(0, 0, 0.2), angular_velocity=(0.0, 1.0, 0.5)))  # fmt: skip
    ball = system.add("ball", pl.RigidBody(mass=0.3, inertia=(3e-4,) * 3), joint=pl.Free(position=(1.0, 0.01, 0.13)))
    floor, law = pl.Plane(normal="z"), pl.HuGuo(stiffness=1e5, restitution=0.6)
    system.contact(points=pl.Box(block.root, (side, 0.15, 0.1)), against=floor, normal=law)
    system.contact(points=pl.Sphere(ball.root, 0.05), normal=law, name="pole",
                   against=pl.Cylinder(system.ground.moved((1.0, 0.0, 0.0)).turned(0.3, "x"), radius, 0.4, "x"))  # fmt: skip
    found = pl.sensitivities(system, 0.25, ["side", "radius"], rtol=1e-9)
    assert found.ok
    for name, value, coordinate in (("side", 0.2, "block.z"), ("radius", 0.05, "ball.y")):
        step = 1e-5
        ends = [pl.simulate(system, 0.25, parameters={name: value + sign * step}) for sign in (1.0, -1.0)]
        place = ends[0].labels["coordinate"].index(coordinate)
        exact = found.at_end("q")[1][place][found.names.index(name)]
        difference = (ends[0][coordinate][-1] - ends[1][coordinate][-1]) / (2.0 * step)
        assert exact == pytest.approx(difference, rel=1e-4) and abs(exact) > 0.01


CAN = pl.RigidBody.cylinder(0.04, 0.1, mass=0.4)


def can(system, name, height, tilt=0.0):
    at = pl.Free(position=(0.0, 0.0, height), orientation=(math.cos(0.5 * tilt), math.sin(0.5 * tilt), 0.0, 0.0))
    return pl.Cylinder(system.add(name, CAN, joint=at).root, 0.04, 0.1)


def test_a_can_stands_on_a_block_and_an_equal_one_on_it():
    system = pl.System("cans", gravity=(0.0, 0.0, -G))
    lower, upper = can(system, "lower", 0.051), can(system, "upper", 0.152, tilt=0.01)
    law = pl.HuGuo(stiffness=1e6, restitution=0.2)
    rough = pl.Ambrosio(mu=0.4, v0=1e-4, v1=1e-3)
    block = pl.Box(system.ground.moved((0.0, 0.0, -0.05)), (0.2, 0.2, 0.1))
    system.contact(points=lower, against=block, name="below", normal=law, friction=rough)
    system.contact(points=upper, against=lower, name="above", normal=law, friction=rough)
    found = pl.simulate(system, 0.8, save=0.01)
    assert found.ok and found.ledger.relative_error_max < 1e-6
    depths = [(load / count / 1e6) ** (2.0 / 3.0) for load, count in ((0.8 * G, 8), (0.4 * G, 16))]  # feet of both press above
    assert found["q", "lower.z"][-1] == pytest.approx(0.05 - depths[0], abs=1e-6)
    assert found["q", "upper.z"][-1] == pytest.approx(0.15 - sum(depths), abs=1e-6)
    assert np.abs(found["v"][-1]).max() < 1e-2
    pressed = dict(zip(system.contacts, found.values["normal_force"][-1], strict=True))
    on_block = sum(force for name, force in pressed.items() if name.startswith("below"))
    assert on_block == pytest.approx(0.8 * G, rel=0.05)


def test_a_cylinder_rolls_down_a_block_as_it_does_down_a_plane():
    """Rims on a face carry it as on a plane: to what the tolerance leaves."""
    slope, ways = 0.2, []
    for on_block in (True, False):
        system = pl.System("slope", gravity=(G * math.sin(slope), 0.0, -G * math.cos(slope)))
        drum = system.add("drum", CAN, joint=pl.Free(position=(-0.4, 0.0, 0.04)))
        block = pl.Box(system.ground.moved((0.0, 0.0, -0.05)), (1.0, 0.4, 0.1))
        law, rough = pl.Exact(stiffness=1e6, restitution=0.3, exponent=1.0), pl.Ambrosio(mu=0.5, v0=1e-5, v1=1e-4)
        floor = block if on_block else pl.Plane(normal="z")
        system.contact(points=pl.Cylinder(drum.root, 0.04, 0.1, axis="y"), against=floor, normal=law, friction=rough)
        ways.append(pl.simulate(system, 0.5, save=[0.0, 0.25, 0.5])["q", "drum.x"])
    np.testing.assert_allclose(ways[0], ways[1], atol=1e-7)
    spun = 0.4 * (3.0 * 0.04**2 + 0.1**2) / 12.0 / (0.4 * 0.04**2)  # about y, over m R^2: the can rolls across its axis
    assert ways[0][-1] + 0.4 == pytest.approx(0.5 * G * math.sin(slope) * 0.25 / (1.0 + spun), rel=1e-3)


def test_long_cylinders_that_cross_meet_as_capsules_do():
    def peak(shape, stiffness):
        system = pl.System("crossing", gravity=(0.0, 0.0, 0.0))
        body = pl.RigidBody(mass=1.0, inertia=(0.002, 0.02, 0.02))
        one = system.add("one", body, joint=pl.Free(position=(0.02, 0.0, 0.1), velocity=(0.0, 0.1, -1.0)))
        other = system.add("other", body, joint=pl.Free(orientation=(math.cos(0.6), 0.0, 0.0, math.sin(0.6))))
        system.contact(points=shape(one.root), against=shape(other.root), normal=pl.Hertz(stiffness=stiffness))
        found = pl.simulate(system, 0.1, method=pl.DOP853(rtol=1e-10, atol=1e-12))
        return found.contacts[0].peak_force, found.contacts[0].begin, found["v"][-1]

    ends = peak(lambda at: pl.Capsule(at.moved((-0.2, 0.0, 0.0)), 0.4, 0.02), 1e8)
    flat = peak(lambda at: pl.Cylinder(at, 0.02, 0.4, axis="x"), 1e8)
    assert flat[0] == pytest.approx(ends[0], rel=1e-5) and flat[1] == pytest.approx(ends[1], abs=1e-8)
    np.testing.assert_allclose(flat[2], ends[2], atol=1e-5)


def test_equal_logs_that_meet_side_by_side_exchange_their_velocities():
    """Flush, so that each rim is exactly at the end of the other one."""
    system, logs = pl.System("logs", gravity=(0.0, 0.0, 0.0)), []
    for name, place, speed in (("a", 0.1, -1.0), ("b", 0.0, 0.0)):
        at = pl.Free(position=(place, 0.0, 0.0), velocity=(speed, 0.0, 0.0))
        logs.append(pl.Cylinder(system.add(name, CAN, joint=at).root, 0.04, 0.1))
    system.contact(points=logs[0], against=logs[1], normal=pl.Hertz(stiffness=1e6))
    found = pl.simulate(system, 0.05)
    assert found.ok and len(found.contacts) == 5 and found.ledger.relative_error_max < 1e-6  # four rims, and the sides
    assert found["v", "a.x"][-1] == pytest.approx(0.0, abs=1e-6) and found["v", "b.x"][-1] == pytest.approx(-1.0, abs=1e-6)


@pytest.mark.parametrize(
    "length, middle, size",
    [(0.1, 0.0, (0.1, 0.2, 0.1)), (1.1, 0.049, (1.0, 1.0, 0.05))],
    ids=["flush with a block", "over both edges of a table, on one side by a millimetre"],
)
def test_a_rod_rests_level_on_what_ends_where_it_does(length, middle, size):
    system, law = pl.System("rod", gravity=(0.0, 0.0, -G)), pl.HuGuo(stiffness=1e6, restitution=0.3)
    body = pl.RigidBody.cylinder(0.02, length, 0.4, "x")
    rod = system.add("rod", body, joint=pl.Free(position=(middle, 0.0, 0.0203)))
    block = pl.Box(system.ground.moved((0.0, 0.0, -0.5 * size[2])), size)
    system.contact(points=pl.Cylinder(rod.root, 0.02, length, "x"), against=block, normal=law, friction=pl.Coulomb(mu=0.4))
    found = pl.simulate(system, 0.4)
    depth = (0.2 * G / 1e6) ** (2.0 / 3.0)  # of two places
    assert found.ok and found.ledger.relative_error_max < 1e-6
    assert found["rod.z"][-1] == pytest.approx(0.02 - depth, abs=0.15 * depth)
    assert abs(found["q", "rod.qy"][-1]) < 0.2 * depth / length


def test_a_post_on_a_can_rests_on_four_corners_alike():
    system, law = pl.System("post", gravity=(0.0, 0.0, -G)), pl.HuGuo(stiffness=1e6, restitution=0.3)
    post = system.add("post", pl.RigidBody.box((0.04, 0.04, 0.1), 0.5), joint=pl.Free(position=(0.0, 0.0, 0.1003)))
    system.contact(points=pl.Box(post.root, (0.04, 0.04, 0.1)), against=pl.Cylinder(system.ground, 0.06, 0.1), normal=law)
    found = pl.simulate(system, 0.4)
    forces = found.values["normal_force"][-1]
    assert found.ok and np.count_nonzero(forces) == 8  # four edges lie, four end there
    np.testing.assert_allclose(forces[forces > 0.0], 0.5 * G / 8, rtol=0.02)


def test_a_rectangle_touches_no_cylinder():
    system = pl.System("flat", gravity=(0.0, -G))
    plate = system.add("plate", pl.RigidBody(mass=1.0, inertia=0.01), joint=pl.Planar())
    with pytest.raises(pl.ModelError, match="must not be a Cylinder when a rectangle touches it"):
        system.contact(points=pl.Box(plate.root, (0.2, 0.1)), against=pl.Cylinder(system.ground, 0.1, 0.2), normal=HARD)
