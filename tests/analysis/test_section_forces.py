"""Section forces against exact solutions, and against the joints' reactions; on the way: impact, loops, every set of modes."""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import pliant as pl
from pliant.beams import shape_integrals

FLAT = pl.Section.rectangle(0.02, 0.01)
G = 9.81
FORCES = ("axial_force", "shear_force_y", "shear_force_z", "torsion", "bending_moment_y", "bending_moment_z")


def stiff(**options):
    """A beam so stiff that no slope reaches 1e-9: what a turned section changes is below any tolerance here."""
    settings = {"length": 1.0, "section": FLAT, "material": pl.Material(E=2e19, density=7800.0, nu=0.3),
                "theory": "euler-bernoulli", "modes": pl.Modes("cf", 4)}  # fmt: skip
    return pl.Beam(**{**settings, **options})


def at_rest(system):
    """One row of the mechanism in balance."""
    return pl.inverse_dynamics(system, {}, 1e-3, elastic="quasi-static", save=[0.0, 1e-3])


def of(dataset, name, beam="arm"):
    return dataset[name].sel(beam=beam).isel(time=0).values


def residuals(dataset):
    """Of root forces and moments, relative to the largest ones."""
    force = max(float(abs(dataset[name]).max()) for name in FORCES[:3])
    moment = max(float(abs(dataset[name]).max()) for name in FORCES[3:])
    return float(abs(dataset.root_force_residual).max()) / force, float(abs(dataset.root_moment_residual).max()) / moment


# ---- statics


@pytest.mark.parametrize(
    "modes",
    [
        pl.Modes("cf", 1),
        pl.Modes("cf", 5),
        pl.ElementModes(3),
        pl.GivenModes([pl.ShapeFunction(lambda x: x**2, lambda x: 2.0 * x, lambda x: 2.0 + 0.0 * x)]),
    ],
    ids=["one mode", "five modes", "elements", "given shape"],
)
def test_a_cantilever_under_its_weight_a_tip_load_and_a_force_in_the_middle(modes):
    beam = stiff(modes=modes, payload=pl.Payload(mass=0.3, offset=(0.1, 0.0, 0.0)))
    system = pl.System("cantilever", gravity=(0, -G, 0))
    arm = system.add("arm", beam, joint=pl.Weld())
    system.force("push", arm.at(0.5), (7.0, 2.0, 0.0))
    found = pl.section_forces(at_rest(system), stations=[0.0, 0.2, 0.5, 0.7, 1.0])
    x, inside = found.x.values[0], found.x.values[0] <= 0.5
    weight, out = beam.mu * G, 1.0 - x
    shear = -weight * out - 0.3 * G + 2.0 * inside
    moment = -0.5 * weight * out**2 - 0.3 * G * (out + 0.1) + 2.0 * (0.5 - x) * inside
    np.testing.assert_allclose(of(found, "shear_force_y"), shear, rtol=1e-9)
    np.testing.assert_allclose(of(found, "bending_moment_z"), moment, rtol=1e-9)
    np.testing.assert_allclose(of(found, "axial_force"), 7.0 * inside, atol=1e-8)
    for name in ("shear_force_z", "torsion", "bending_moment_y"):
        assert np.all(of(found, name) == 0.0)


def test_on_a_soft_beam_forces_are_those_of_the_deformed_one():
    """A pull at a tip that is bent down: its moment counts with the deflection, its axial force with the slope."""
    beam = stiff(material=pl.Material(E=2e8, density=1e-6), stiffening="full", modes=pl.Modes("cf", 8))
    system = pl.System("cantilever", gravity=(0, 0, 0))
    arm = system.add("arm", beam, joint=pl.Weld())
    system.force("pull", arm.tip, (-0.2, -0.3, 0.0))
    result = at_rest(system)
    found = pl.section_forces(result, stations=[0.0, 1.0])
    tip = result.of_body("tip_position", "arm")[0]
    assert abs(tip[1]) > 0.05  # bent indeed
    moment = tip[0] * -0.3 - tip[1] * -0.2
    np.testing.assert_allclose(of(found, "bending_moment_z"), [moment, 0.0], rtol=1e-12, atol=1e-14)
    along, across = of(found, "axial_force"), of(found, "shear_force_y")
    np.testing.assert_allclose([along[0], across[0]], [-0.2, -0.3], rtol=1e-12)
    np.testing.assert_allclose(math.hypot(along[1], across[1]), math.hypot(0.2, 0.3), rtol=1e-12)
    assert along[1] > -0.2 + 0.01  # the section looks down, where the push has turned into a pull


@pytest.mark.parametrize("theory", ["euler-bernoulli", "timoshenko"])
def test_a_simply_supported_beam_under_its_weight(theory):
    """The moment is w x (l - x) / 2, however few modes there are: the support's force makes it."""
    beam = stiff(modes=pl.Modes("ss", 3), theory=theory)
    integrals = shape_integrals(beam)
    sag = np.linalg.solve(integrals.stiffness, -G * integrals.first_modal[1])  # where it rests
    system = pl.System("bridge", gravity=(0, -G, 0))
    arm = system.add("arm", beam, joint=pl.Revolute(), initial=dict(zip(("y1", "y2", "y3"), sag, strict=True)))
    system.close("support", "slider", arm.tip, system.ground.moved((1.0, 0.0, 0.0)), axis="x")
    result = pl.simulate(system, 1e-9, save=[0.0, 1e-9])
    assert abs(result.values["a"][0]).max() < 1e-9 * G
    found = pl.section_forces(result, stations=11)
    x = found.x.values[0]
    weight = beam.mu * G
    np.testing.assert_allclose(of(found, "bending_moment_z"), 0.5 * weight * x * (1.0 - x), atol=1e-9 * weight)
    np.testing.assert_allclose(of(found, "shear_force_y"), 0.5 * weight * (2.0 * x - 1.0), atol=1e-9 * weight)
    assert max(residuals(found)) < 1e-12


def test_bending_in_two_planes_with_torsion_and_tension():
    """What a tip load does at x is its moment about x, whatever the modes are."""
    sets = [pl.Modes("cf", 2), pl.Modes("cf", 1, plane="z"), pl.TorsionModes("cf", 2), pl.AxialModes("cf", 1)]
    system = pl.System("cantilever", gravity=(0, 0, 0))
    arm = system.add("arm", stiff(modes=sets), joint=pl.Weld())
    system.force("pull", arm.tip.moved((0.0, 0.0, 0.1)), (3.0, 2.0, -5.0))
    system.moment("twist", arm.at(0.6), (0.7, -0.4, 0.2), expressed="body")
    found = pl.section_forces(at_rest(system), stations=[0.0, 0.3, 0.6, 0.8, 1.0])
    for k, x in enumerate(found.x.values[0]):
        moment = np.cross([1.0 - x, 0.0, 0.1], [3.0, 2.0, -5.0]) + np.array([0.7, -0.4, 0.2]) * (x <= 0.6)
        expected = [3.0, 2.0, -5.0, *moment]
        np.testing.assert_allclose([of(found, name)[k] for name in FORCES], expected, rtol=1e-8, atol=1e-8)


def test_with_more_modes_the_curvature_comes_to_the_balance_on_the_deformed_beam():
    """Stiffened to the full, a beam's strain is in balance with forces on its deformed shape; without, it misses their moment."""
    truncation = {}
    for stiffening, count in (("full", 2), ("full", 6), ("none", 6)):
        beam = stiff(material=pl.Material(E=2e8, density=1e-6), stiffening=stiffening, modes=pl.Modes("cf", count))
        system = pl.System("cantilever", gravity=(0, 0, 0))
        arm = system.add("arm", beam, joint=pl.Weld())
        system.force("push", arm.tip, (-1.0, -0.03, 0.0))  # a third of Euler's load
        found = pl.section_forces(at_rest(system), stations=[0.5])
        truncation[stiffening, count] = abs(float(found.truncation.sel(axis="z")[0, 0, 0] / found.bending_moment_z[0, 0, 0]))
    assert truncation["full", 2] > 4.0 * truncation["full", 6]
    assert truncation["full", 6] < 0.01 and truncation["none", 6] > 0.2


# ---- motion


def test_the_axial_force_of_a_rotating_beam_is_exact():
    """mu Omega^2 (l^2 - x^2) / 2, and the payload's m Omega^2 (l + offset)."""
    beam = stiff(payload=pl.Payload(mass=0.5, offset=(0.2, 0.0, 0.0)))
    system = pl.System("rotor", gravity=(0, 0, 0))
    system.add("arm", beam, joint=pl.Revolute(motion=lambda t: 30.0 * t))
    found = pl.section_forces(pl.simulate(system, 0.01, save=[0.0, 0.01]), stations=7)
    x = found.x.values[0]
    expected = 900.0 * (0.5 * beam.mu * (1.0 - x**2) + 0.5 * 1.2)
    np.testing.assert_allclose(found.axial_force.values[:, 0], [expected, expected], rtol=1e-12)


def test_a_rotating_beam_that_stretches_pulls_as_the_exact_solution_does():
    """E A u'' + mu Omega^2 (x + u) = 0: N = E A (cos k x / cos k l - 1), k^2 = mu Omega^2 / E A."""
    soft = pl.Material(E=1e7, density=7800.0)
    errors = []
    for count in (1, 2, 4):
        beam = stiff(material=soft, modes=pl.AxialModes("cf", count))
        system = pl.System("rotor", gravity=(0, 0, 0))
        system.add("arm", beam, joint=pl.Revolute())
        result = pl.inverse_dynamics(system, {"arm.angle": lambda t: 10.0 * t}, 1e-3, elastic="quasi-static", save=[0.0, 1e-3])
        found = pl.section_forces(result, stations=9)
        rigidity = soft.E * FLAT.A
        k = 10.0 * math.sqrt(beam.mu / rigidity)
        exact = rigidity * (np.cos(k * found.x.values[0]) / math.cos(k) - 1.0)
        errors.append(abs(of(found, "axial_force") - exact).max() / exact.max())
    assert errors[2] < 1e-5 and errors[0] > 7.0 * errors[1] > 49.0 * errors[2]


def struck(count):
    """A pinned beam that swings on a stop with its tip."""
    beam = pl.Beam(length=1.0, section=FLAT, material=pl.STEEL, theory="euler-bernoulli", modes=pl.Modes("sf", count))
    system = pl.System("struck", gravity=(0, 0, 0))
    arm = system.add("arm", beam, joint=pl.Revolute(rate=-1.0))
    stop = pl.Plane(normal="y", point=(0.0, -1e-6, 0.0))
    system.contact(points=pl.Point(arm.tip), against=stop, normal=pl.Linear(stiffness=2e4, damping=0.0))
    return pl.simulate(system, 0.02, save=1e-4)


def test_moments_of_an_impact_converge_with_the_modes_by_balance_a_power_faster_than_by_curvature():
    runs = {count: struck(count) for count in (2, 4, 8, 24)}
    reference = pl.section_forces(runs[24], stations=5).bending_moment_z
    assert float(abs(reference).max()) > 20.0  # N m: it was hit indeed
    errors = {}
    for by in ("balance", "curvature"):
        moments = {count: pl.section_forces(runs[count], stations=5, by=by).bending_moment_z for count in (2, 4, 8)}
        errors[by] = [float(np.sqrt(((moment - reference) ** 2).mean())) for moment in moments.values()]
    order = {by: np.log2(np.array(error[:-1]) / np.array(error[1:])) for by, error in errors.items()}
    assert order["balance"].min() > 2.5  # 2.7 and 2.8
    assert order["curvature"].min() > 1.0 and order["curvature"].max() < 2.0  # 1.3 and 1.6
    assert errors["balance"][-1] < 2e-4 * float(abs(reference).max()) < errors["curvature"][-1] / 20.0


def test_during_an_impact_the_tip_carries_the_contact_s_force():
    result = struck(3)
    found = pl.section_forces(result, stations=[0.5, 1.0])
    force = result.values["normal_force"][:, 0]
    assert force.max() > 50.0
    size = np.hypot(found.axial_force, found.shear_force_y).sel(station=1.0).values[:, 0]
    np.testing.assert_allclose(size, force, rtol=1e-12, atol=1e-12 * force.max())
    assert max(residuals(found)) < 1e-12


def test_a_ball_that_falls_on_a_beam_presses_it_down_and_drags_it_along():
    system = pl.System("drop", gravity=(0, -G, 0))
    sets = [pl.Modes("cf", 2), pl.AxialModes("cf", 1)]
    beam = pl.Beam(length=1.0, section=FLAT, material=pl.STEEL, theory="euler-bernoulli", modes=sets)
    shelf = system.add("shelf", beam, joint=pl.Weld())
    ball = system.add("ball", pl.RigidBody(mass=0.2, inertia=1.0), joint=pl.Planar(position=(0.6, 0.05), velocity=(1.0, -1.0)))
    top = pl.Plane(normal="y", on=shelf.at(0.6))
    system.contact(points=pl.Sphere(ball.root, 0.04), against=top, normal=pl.HuntCrossley(stiffness=1e6, restitution=0.5),
                   friction=pl.Coulomb(mu=0.3))  # fmt: skip
    result = pl.simulate(system, 0.03, save="steps")
    assert len(result.contacts) and abs(result.values["friction_force"]).max() > 10.0
    found = pl.section_forces(result, stations=[0.0, 0.599, 0.6, 0.601])
    assert max(residuals(found)) < 1e-12
    hit = int(abs(result.values["friction_force"][:, 0, 0]).argmax())
    jump = found.isel(time=hit, beam=0).sel(station=0.6) - found.isel(time=hit, beam=0).sel(station=0.601)
    normal, friction = result.values["normal_force"][hit, 0], result.values["friction_force"][hit, 0, 0]
    assert float(jump.shear_force_y) == pytest.approx(-normal, rel=0.01)  # pressed down; 1 mm of beam accelerates, too
    assert float(jump.axial_force) == pytest.approx(-friction, rel=0.02) and friction < 0.0  # dragged along


# ---- at the root: the joint's reaction


def four_bar(by, stiffening, angles=(1.2, -1.0, 1.5)):
    system = pl.System("four-bar", gravity=(0, -G, 0))

    def link(length, modes):
        return pl.Beam(length=length, section=FLAT, material=pl.STEEL, theory="euler-bernoulli", modes=modes, stiffening=stiffening)

    crank = system.add("crank", link(0.3, pl.Modes("cf", 2)), joint=pl.Revolute(angle=angles[0]))
    rod = system.add("rod", link(0.6, pl.ElementModes(2)), joint=pl.Revolute(angle=angles[1]), on=crank.tip)
    stand = system.ground.moved((0.5, 0, 0))
    follower = system.add("follower", link(0.5, pl.Modes("ss", 2)), joint=pl.Revolute(angle=angles[2]), on=stand)
    system.close("pin", "point", rod.tip, follower.tip, **({} if by == "multipliers" else {"by": "springs", "stiffness": 1e6}))
    system.close("brace", "distance", rod.at(0.3), crank.at(0.1), length=0.3, by="springs", stiffness=200.0)
    return system


@pytest.mark.parametrize(("by", "stiffening"), [("multipliers", "full"), ("springs", "none")])
def test_in_a_closed_loop_roots_carry_their_reactions(by, stiffening):
    closed = pl.simulate(four_bar("multipliers", "none"), 0.01, save=[0.0])  # where it closes
    system = four_bar(by, stiffening, [float(closed[f"{name}.angle"][0]) for name in ("crank", "rod", "follower")])
    found = pl.section_forces(pl.simulate(system, 0.05, save=0.005))
    assert float(abs(found.bending_moment_z).max()) > 1.0  # N m
    assert max(residuals(found)) < 1e-10
    # and the pin lets no moment through: at the tips of rod and follower there is none
    tips = found.bending_moment_z.sel(station=1.0, beam=["rod", "follower"])
    assert float(abs(tips).max()) < 1e-10 * float(abs(found.bending_moment_z).max())


def test_in_a_tree_in_space_roots_carry_their_reactions(spatial):
    assert max(residuals(pl.section_forces(spatial))) < 1e-12
    found = pl.section_forces(spatial, stations=[0.0, 0.5])  # clamped at the root: the section has the body's axes there
    for k, name in enumerate(spatial.labels["body"]):
        if name not in found.beam:
            continue
        turn = Rotation.from_quat(spatial.values["orientation"][:, k], scalar_first=True).inv()
        root = found.sel(beam=name, station=0.0)
        for names, quantity in ((FORCES[:3], "reaction_force"), (FORCES[3:], "reaction_moment")):
            there = np.stack([root[force].values for force in names], axis=1)
            reaction = turn.apply(spatial.values[quantity][:, k])
            np.testing.assert_allclose(there, -reaction, rtol=0.0, atol=1e-12 * abs(reaction).max() + 1e-13)
    every_step = pl.simulate(spatial.make_provenance.system, 0.03, save="steps")
    assert 0.02 in every_step.time  # where a moment jumps
    assert max(residuals(pl.section_forces(every_step, stations=2))) < 1e-12


@pytest.fixture(scope="module")
def spatial():
    """Two links in space on all kinds of modes, rotary inertia, a payload off the axis, loads that follow time and state."""
    sets = [pl.Modes("cf", 2), pl.Modes("cf", 2, plane="z"), pl.TorsionModes("cf", 1), pl.AxialModes("cf", 1)]
    beam = pl.Beam(length=0.7, section=FLAT, material=pl.STEEL, theory="timoshenko", modes=sets,
                   damping=[pl.KelvinVoigt(2e5), pl.MotionDrag(20.0)],
                   stiffening="full", payload=pl.Payload(mass=0.2, inertia=1e-3, offset=(0.02, 0.03, -0.04)))  # fmt: skip
    system = pl.System("in space", gravity=(0.3, -0.5, -G))
    first = system.add("first", beam, joint=pl.Revolute(rate=3.0, axis="y", spring=pl.Spring(2.0, 0.1)))
    second = system.add("second", beam, joint=pl.Spherical(angular_velocity=(1.0, 2.0, -1.0)), on=first.at(0.4).moved((0, 0.1, 0)))
    system.force("push", second.tip, (1.0, lambda t, q, v: 2.0 * pl.sin(30.0 * t) - 0.1 * v["first.angle"], 3.0))
    system.moment("twist", first.at(0.3), (0.1, pl.PiecewiseConstant([0.0, 0.02], [0.2, 5.0]), 0.3), expressed="body")
    return pl.simulate(system, 0.05, save=0.005)


def test_with_every_body_floating_forces_are_the_same():
    system = pl.System("two", gravity=(0, -G, 0))
    beam = pl.Beam(length=0.5, section=FLAT, material=pl.STEEL, theory="euler-bernoulli", modes=pl.Modes("cf", 1))
    first = system.add("first", beam, joint=pl.Revolute(rate=2.0, damper=pl.Damper(0.1)))
    system.add("second", beam, joint=pl.Revolute(angle=0.4), on=first.tip)
    tree, apart = (pl.section_forces(pl.simulate(system, 0.05, save=0.05, formulation=formulation), stations=5)
                   for formulation in ("articulated", "augmented"))  # fmt: skip
    assert max(residuals(apart)) < 1e-12
    for name in FORCES:  # two integrations, each to rtol 1e-9
        np.testing.assert_allclose(apart[name], tree[name], rtol=1e-6, atol=1e-6 * float(abs(tree.bending_moment_z).max()))


def test_air_and_mass_proportional_damping_push_from_without():
    """They are part of the section forces, as E I w'' has them; the joint's reaction of the model does not feel them."""
    per_mass = pl.Rayleigh(alpha=40.0 / (7800.0 * FLAT.A), beta=0.0)
    for name, damping in (("none", ()), ("air", pl.AirDrag(40.0)), ("mass", per_mass)):
        beam = pl.Beam(length=1.0, section=FLAT, material=pl.STEEL, theory="euler-bernoulli", modes=pl.Modes("cf", 8),
                       damping=damping, stiffening="none")  # fmt: skip
        system = pl.System("vibrating", gravity=(0, 0, 0))
        system.add("arm", beam, joint=pl.Weld(), initial={"y1": 1e-4})
        found = pl.section_forces(pl.simulate(system, 0.05, save=0.01), stations=[0.0, 0.5])
        error = abs(found.truncation.sel(axis="z", station=0.5)).max() / abs(found.bending_moment_z).max()
        assert error < 1e-3  # what eight modes leave; without the drag 0.1 of it would be missing
        residual = float(abs(found.root_moment_residual).max() / abs(found.bending_moment_z).max())
        assert (residual < 1e-12) == (name == "none") and (name == "none" or residual > 0.05)


@pytest.mark.parametrize("damping", [pl.AirDrag(60.0), pl.Rayleigh(alpha=60.0, beta=0.0)], ids=["air", "mass"])
@pytest.mark.parametrize(("plane", "turns"), [("y", "z"), ("z", "y")])
def test_drag_on_a_spanning_beam_brings_no_moment_to_its_pins(damping, plane, turns):
    """The model lets it act on the modes alone; what holds the frame against it acts at both ends. Modes are exact here."""
    beam = pl.Beam(length=1.0, section=FLAT, material=pl.STEEL, theory="euler-bernoulli", modes=pl.Modes("ss", 3, plane=plane),
                   damping=damping, stiffening="none")  # fmt: skip
    system = pl.System("bridge", gravity=(0, 0, 0))
    start = {f"{plane}1": 1e-4}, {f"{plane}2": 0.01}
    arm = system.add("arm", beam, joint=pl.Revolute(axis=turns), initial=start[0], initial_rates=start[1])
    system.close("support", "slider", arm.tip, system.ground.moved((1.0, 0.0, 0.0)), axis="x")
    found = pl.section_forces(pl.simulate(system, 0.02, save=0.002), stations=5)
    largest = float(abs(found[f"bending_moment_{turns}"]).max())
    assert largest > 0.1  # N m
    assert float(abs(found.truncation.sel(axis=turns)).max()) < 1e-10 * largest  # so at both pins, where there is no curvature
    assert float(abs(found.root_moment_residual).max()) < 1e-10 * largest
    assert float(abs(found.root_force_residual).max()) > 0.01  # N, the part of the drag that the root takes up


# ---- telescopic links


def telescopic(**options):
    sets = [pl.Modes("cf", 2), pl.Modes("cf", 1, plane="z"), pl.TorsionModes("cf", 1), pl.AxialModes("cf", 1)]
    return pl.TelescopicBeam(**{"length": 1.0, "section": FLAT, "material": pl.STEEL, "modes": sets, "extension": 0.6,
                                "payload": pl.Payload(mass=0.2, inertia=1e-3, offset=(0.02, 0.03, -0.04)), "sleeve_mass": 0.7,
                                **options})  # fmt: skip


def test_a_telescopic_link_that_swings_and_slides_carries_its_reaction():
    """The free part by stations, and with the sleeve, the arm in it and what leaves its mouth, all of the joint's reaction."""
    system = pl.System("crane", gravity=(0.4, -G, 1.0))
    soft = pl.Material(E=4e9, density=7800.0, nu=0.3)  # so that stretch and twist count as they leave the mouth
    jib = telescopic(rate=0.8, material=soft, damping=pl.MotionDrag(30.0))
    system.add("jib", jib, joint=pl.Spherical(angular_velocity=(2.0, 1.0, -3.0)))
    system.drive("push", "jib.extension", 5.0)
    result = pl.simulate(system, 0.1, save=0.01)
    assert abs(result["jib.extension"] - 0.6).max() > 0.05 and abs(result["jib.torsion1"]).max() > 1e-4
    found = pl.section_forces(result, stations=6)
    assert max(residuals(found)) < 1e-12
    assert found.x.dims == ("time", "beam", "station")
    np.testing.assert_allclose(found.x.isel(beam=0, station=-1), 1.0 + result["jib.extension"])


def test_the_free_part_of_a_telescopic_link_at_rest_is_a_cantilever():
    stiff_link = telescopic(material=pl.Material(E=2e19, density=7800.0, nu=0.3), payload=pl.Payload(mass=0.3),
                            motion=lambda t: 0.6 + 0.0 * t)  # fmt: skip
    system = pl.System("crane", gravity=(0, -G, 0))
    system.add("arm", stiff_link, joint=pl.Weld())
    found = pl.section_forces(at_rest(system), stations=5)
    out, weight = 0.6 * (1.0 - found.station.values), stiff_link.mu * G
    np.testing.assert_allclose(of(found, "shear_force_y"), -weight * out - 0.3 * G, rtol=1e-9)
    np.testing.assert_allclose(of(found, "bending_moment_z"), -0.5 * weight * out**2 - 0.3 * G * out, rtol=1e-9, atol=1e-9)
    curved = pl.section_forces(at_rest(system), stations=5, by="curvature")
    assert of(curved, "bending_moment_z")[0] == pytest.approx(of(found, "bending_moment_z")[0], rel=0.1)  # two modes


# ---- where it comes from


def test_a_file_answers_with_its_own_model_or_with_a_system(tmp_path, spatial):
    spatial.to_netcdf(tmp_path / "run.nc")
    stored = pl.Result.from_netcdf(tmp_path / "run.nc")
    with pytest.raises(pl.ModelError, match=r"section_forces: system must be given for this result .*Python function"):
        pl.section_forces(stored)
    system = spatial.make_provenance.system
    assert pl.section_forces(stored, system, stations=3).equals(pl.section_forces(spatial, stations=3))
    known = struck(1)
    known.to_netcdf(tmp_path / "known.nc")
    again = pl.Result.from_netcdf(tmp_path / "known.nc")
    assert pl.section_forces(again, stations=3).equals(pl.section_forces(known, stations=3))


def test_a_parameter_counts_with_its_value_in_the_run():
    mass = pl.Parameter("mass", 0.3)
    system = pl.System("cantilever", gravity=(0, -G, 0))
    system.add("arm", stiff(payload=pl.Payload(mass=mass)), joint=pl.Weld())
    result = pl.simulate(system, 1e-6, save=[0.0, 1e-6], parameters={"mass": 0.7})
    assert max(residuals(pl.section_forces(result))) < 1e-9


def test_stations_stand_where_something_acts_and_where_they_are_asked_for(spatial):
    found = pl.section_forces(spatial)
    assert {"time", "beam", "station"} <= set(found.bending_moment_z.dims) and found.bending_moment_z.attrs["units"] == "N m"
    assert list(found.beam.values) == ["first", "second"]
    for acting in (0.0, 0.3 / 0.7, 0.4 / 0.7, 1.0):
        assert np.min(abs(found.station.values - acting)) < 1e-11
    one = pl.section_forces(spatial, beams="second", stations=4)
    assert list(one.beam.values) == ["second"] and one.x.values.tolist() == [np.linspace(0.0, 0.7, 4).tolist()]
    root, whole = one.shear_force_z.sel(station=0.0), found.shear_force_z.sel(station=0.0, beam=["second"])
    np.testing.assert_allclose(root, whole, rtol=1e-12, atol=1e-12 * float(abs(whole).max()))


@pytest.mark.parametrize("place", [1.0, 2.0, 7 / 3])
def test_a_force_counts_at_its_own_station_whatever_round_off_makes_of_it(place):
    system = pl.System("cantilever", gravity=(0, 0, 0))
    arm = system.add("arm", stiff(length=3.0), joint=pl.Weld())
    system.force("push", arm.at(place), (5.0, 0.0, 0.0))
    found = pl.section_forces(at_rest(system))
    forces = of(found, "axial_force")
    np.testing.assert_allclose(forces, np.where(found.x.values[0] < place + 1e-9, 5.0, 0.0), atol=1e-6)
    assert np.any(abs(found.x.values[0] - place) < 1e-9)


def test_what_strains_do_not_tell_is_nan():
    found = pl.section_forces(struck(2), stations=3, by="curvature")
    for name in FORCES:
        assert bool(np.isnan(found[name]).all()) == (name != "bending_moment_z")
    assert "truncation" not in found


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"by": "guess"}, "section_forces: by must be one of"),
        ({"stations": 1}, "section_forces: stations must be >= 2: at least root and tip, got 1"),
        ({"stations": [0.5, 0.2]}, "section_forces: stations must be a number of stations, or ascending fractions"),
        ({"stations": [0.0, 1.5]}, "section_forces: stations must be .* 0 to 1"),
        ({"stations": "all"}, "section_forces: stations must be"),
        ({"beams": ["amr"]}, "section_forces: beams must be among .*arm"),
        ({"beams": []}, "section_forces: beams must name at least one"),
    ],
)
def test_what_cannot_be_asked_is_refused(options, match):
    with pytest.raises(pl.ModelError, match=match):
        pl.section_forces(struck(1), **options)


def test_bodies_without_section_forces_are_refused_by_name():
    rigid = pl.System("rigid", gravity=(0, 0, 0))
    rigid.add("rod", pl.RigidBody.rod(1.0, 1.0), joint=pl.Revolute(rate=1.0))
    with pytest.raises(pl.ModelError, match="section_forces: system must hold at least one beam"):
        pl.section_forces(pl.simulate(rigid, 0.01))
    arm = pl.System("telescopic as published", gravity=(0, 0, 0))
    arm.add("arm", telescopic(form="as-published"), joint=pl.Revolute(rate=1.0))
    with pytest.raises(pl.ModelError, match="body 'arm': form must not be 'as-published'"):
        pl.section_forces(pl.simulate(arm, 0.01))
    published = pl.System("published", gravity=(0, 0, 0))
    published.add("arm", stiff(stiffening="as-published"), joint=pl.Revolute(rate=1.0))
    with pytest.raises(pl.ModelError, match="body 'arm': stiffening must not be 'as-published'"):
        pl.section_forces(pl.simulate(published, 0.01))
    with pytest.raises(pl.ModelError, match="section_forces: system must be the system of the run"):
        pl.section_forces(pl.simulate(rigid, 0.01), published)
