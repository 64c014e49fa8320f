"""Beams that foreshorten: the same equations by every derivation, what they conserve, and how they stiffen when they turn."""

import casadi as ca
import numpy as np
import pytest
from scipy.linalg import eigh

import pliant as pl
from pliant.trace.tracing import FORMULATIONS, trace

TIGHT = pl.DOP853(rtol=1e-12, atol=1e-14)
SECTION = pl.Section(A=2e-4, Iy=1.6667e-9, Iz=6.6667e-9, J=4.58e-9)
STATES = 4


def link(stiffening, modes=2, length=0.8, planes="y", **more):
    sets = [pl.Modes("cf", modes, plane=plane, static=False) for plane in planes] + (
        [pl.TorsionModes("cf", 1)] if "z" in planes else []
    )
    return pl.Beam(length=length, section=SECTION, material=pl.Material(E=7e10, G=2.6e10, density=2700.0),
                   theory="euler-bernoulli", modes=sets, stiffening=stiffening, **more)  # fmt: skip


def planar_chain(stiffening):
    """Three links, all of which foreshorten, so that every joint stands on a tip that draws back."""
    system = pl.System("planar chain", gravity=(0.3, -9.81))
    on = None
    for k in range(3):
        on = system.add(f"link{k}", link(stiffening), joint=pl.Revolute(angle=0.3 * k), on=on).tip
    return system


def spatial_arm(stiffening):
    """Two links, bending both ways and twisting, a turned and offset joint between them, a payload and a force at the tip."""
    system = pl.System("spatial arm", gravity=(0.4, -0.7, -9.81))
    first = system.add("first", link(stiffening, planes="yz"), joint=pl.Universal(angles=(0.2, -0.3)))
    on = first.tip.moved((0.02, 0.01, 0.03)).turned(0.4, "y")
    load = pl.Payload(mass=0.2, inertia=(1e-4, 2e-4, 2e-4), offset=(0.02, 0.0, 0.01))
    second = system.add("second", link(stiffening, 1, 0.6, "yz", payload=load), joint=pl.Revolute(axis=(1.0, 2.0, 0.5)), on=on)
    system.force("push", second.tip, (1.0, -2.0, 3.0))
    return system


SYSTEMS = {"planar chain": planar_chain, "spatial arm": spatial_arm}


def random_states(tree, seed):
    """Large joint motions, tip deflections of centimetres, rates of both."""
    rng = np.random.default_rng(seed)
    elastic, rates = ({k for node in tree.nodes for k in getattr(node, own)} for own in ("own_q", "own_v"))
    for _ in range(STATES):
        q = np.array([rng.normal() * (0.05 if k in elastic else 1.0) for k in range(len(tree.positions))])
        v = np.array([rng.normal() * (0.5 if k in rates else 2.0) for k in range(len(tree.rates))])
        yield q, v


def accelerations(traced, q, v):
    y = np.concatenate([q, v, np.zeros(traced.y0.size - q.size - v.size)])
    return np.array(traced.rhs(0.4, y, traced.parameters(0.0, 1.0))).ravel()[q.size : q.size + v.size]


# ------------------------------------------------------------------------------------------------- formulations


@pytest.mark.parametrize("stiffening", ["linear", "full", "cubic"])
@pytest.mark.parametrize("build", SYSTEMS.values(), ids=SYSTEMS)
def test_accelerations_agree_to_1e_10(build, stiffening):
    """`linear` leaves inertia terms of higher order out, but out of an energy: all derivations leave out the same."""
    tracings = [trace(build(stiffening), form) for form in FORMULATIONS]
    for q, v in random_states(tracings[0].tree, seed=5):
        found = [accelerations(traced, q, v) for traced in tracings]
        size = np.max(np.abs(found[0]))
        for other in found[1:]:
            assert np.max(np.abs(other - found[0])) < 1e-10 * size


def test_accelerations_of_many_modes_agree_too():
    """Beyond four modes in a plane, polynomials take the place of pairs of modes, unless `full` was chosen."""

    def build():
        system = pl.System("many modes", gravity=(0.3, -9.81, 1.0))
        first = system.add("first", link("auto", 5, planes="yz"), joint=pl.Universal(angles=(0.2, -0.3)))
        system.add("second", link("full", 1, 0.6, "yz"), joint=pl.Revolute(axis=(1.0, 2.0, 0.5)), on=first.tip)
        return system

    tracings = [trace(build(), form) for form in ("articulated", "gibbs_appell", "denoc")]
    assert [len(node.body.forms) for node in tracings[0].tree.nodes] == [6, 0]
    assert not trace(spatial_arm("full")).tree.nodes[0].body.forms
    for q, v in random_states(tracings[0].tree, seed=5):
        found = [accelerations(traced, q, v) for traced in tracings]
        for other in found[1:]:
            assert np.max(np.abs(other - found[0])) < 1e-9 * np.max(np.abs(found[0]))


def test_polynomials_in_place_of_pairs_converge_to_them(monkeypatch):
    """The same four modes by both, at tip deflections of a tenth of the length: the difference falls with each two polynomials."""
    from pliant.beams import fields
    from pliant.dynamics import library

    def found():
        monkeypatch.setattr(library, "_KEPT", type(library._KEPT)())
        fields._orthonormal.cache_clear()
        traced = trace(planar())
        return np.array([accelerations(traced, q, v) for q, v in random_states(traced.tree, seed=3)])

    def planar():
        system = pl.System("four modes", gravity=(0.3, -9.81))
        on = system.add("link", link("full", 4), joint=pl.Revolute(angle=0.3)).tip
        system.add("next", pl.RigidBody(mass=0.3, com=(0.1, 0.0), inertia=1e-3), joint=pl.Revolute(angle=0.3), on=on)
        return system

    exact, errors = found(), []
    monkeypatch.setattr(fields, "FEW", {"full": 0})
    for count in (6, 8, 12, 16):
        monkeypatch.setattr(fields, "POLYNOMIALS", count)
        errors.append(np.max(np.abs(found() - exact)) / np.max(np.abs(exact)))
    fields._orthonormal.cache_clear()
    assert errors[0] < 0.05 and errors[1] < 0.5 * errors[0] and errors[2] < 0.1 * errors[1] and errors[3] < 0.01 * errors[2]


def test_a_loaded_column_bends_alike_by_default_whatever_the_number_of_its_modes():
    """Half of Euler's load doubles what the force across bends: 2, 5 and 8 modes, and 2, 4 and 7 elements, converge to one tip."""

    def tip(modes):
        column = pl.Beam(length=LENGTH, section=pl.Section(A=1e-4, Iz=EI / 2e11), material=pl.Material(E=2e11),
                         theory="euler-bernoulli", mass_per_length=MASS, modes=modes)  # fmt: skip
        system = pl.System("column", gravity=(0, 0))
        rod = system.add("rod", column, joint=pl.Weld())
        system.force("load", rod.tip, (-0.125 * np.pi**2 * EI / LENGTH**2, 0.5))
        return pl.equilibrium(system).of_body("tip_position", "rod")[1]

    meshes = [tip(pl.ElementModes(n)) for n in (2, 4, 7)]
    modes = [tip(pl.Modes("cf", n)) for n in (2, 5, 8)]
    assert abs(meshes[2] - meshes[1]) < 0.2 * abs(meshes[1] - meshes[0]) < 1e-3 * meshes[2]
    assert modes[2] == pytest.approx(meshes[2], rel=1e-3)
    assert meshes[2] / (0.5 * LENGTH**3 / (3.0 * EI)) == pytest.approx(2.0, rel=0.02)


def test_a_bent_beam_of_many_modes_keeps_its_inertia():
    """`linear` has none left at a tip deflection of 5 % of the length; the refusal names it."""

    def bent(stiffening, count):
        system = pl.System("bent", gravity=(0, 0))
        system.add("arm", link(stiffening, count), joint=pl.Revolute(), initial={"y1": 0.04})
        return pl.simulate(system, 1e-4)

    assert all(bent("auto", count).ok for count in (4, 5))
    with pytest.raises(pl.SolveError, match=r"mass matrix is singular.*stiffening 'linear' of 'arm' takes inertia away"):
        bent("linear", 8)


@pytest.mark.parametrize("build", SYSTEMS.values(), ids=SYSTEMS)
def test_published_equations_come_from_no_energy_but_both_recursions_have_them(build):
    """Terms are left out of the equations of motion themselves: what differentiates energies cannot know, and is refused."""
    articulated, gibbs = (trace(build("as-published"), f) for f in ("articulated", "gibbs_appell"))
    for q, v in random_states(articulated.tree, seed=6):
        one, two = (accelerations(traced, q, v) for traced in (articulated, gibbs))
        assert np.max(np.abs(two - one)) < 1e-10 * np.max(np.abs(one))
    for formulation in ("lagrange", "gibbs", "denoc"):
        with pytest.raises(pl.ModelError, match="must be a recursion for stiffening as published"):
            trace(build("as-published"), formulation)


@pytest.mark.parametrize("build", SYSTEMS.values(), ids=SYSTEMS)
def test_the_models_are_not_the_same_but_near_for_small_deflections(build):
    """none, linear and full differ, and what linear leaves out is cubic in the deflections."""
    tracings = {name: trace(build(name)) for name in ("none", "linear", "full")}
    q, v = next(random_states(tracings["full"].tree, seed=7))
    elastic = [k for node in tracings["full"].tree.nodes for k in node.own_q]
    errors = []
    for scale in (0.02, 0.002):
        small_q, small_v = q.copy(), v.copy()
        small_q[elastic] *= scale
        for node in tracings["full"].tree.nodes:
            small_v[list(node.own_v)] *= scale
        none, linear, full = (accelerations(tracings[name], small_q, small_v) for name in tracings)
        assert np.max(np.abs(none - full)) > np.max(np.abs(linear - full)) > 0.0
        errors.append(np.max(np.abs(linear - full)))
    assert 500.0 < errors[0] / errors[1] < 2000.0


# ------------------------------------------------------------------------------------------------- conservation


@pytest.mark.parametrize("stiffening", ["full", "cubic"])
def test_a_stiffened_chain_in_free_flight_keeps_energy_and_both_momenta_to_1e_10(stiffening):
    system = pl.System("free chain", gravity=(0, 0))
    on = system.add("a", link(stiffening), joint=pl.Planar(velocity=(0.3, 0.5), rate=4.0), initial={"y1": 0.02, "y2": 0.004}).tip
    for k, name in enumerate("bc"):
        on = system.add(name, link(stiffening), joint=pl.Revolute(angle=-0.5, rate=3.0 - 2.0 * k), on=on, initial={"y1": -0.01}).tip
    run = pl.simulate(system, 1.0, method=TIGHT)
    assert run.ok
    energy = run.ledger.energy
    assert np.ptp(energy) < 1e-10 * energy[0]
    momentum, angular = run.values["momentum"], run.values["angular_momentum"]
    assert np.max(np.abs(momentum - momentum[0])) < 1e-10 * np.max(np.abs(momentum[0]))
    assert np.max(np.abs(angular - angular[0])) < 1e-10 * np.max(np.abs(angular[0]))
    assert np.max(np.abs(run["a.y1"])) > 0.01  # it did bend
    assert np.max(np.abs(run.of_body("tip_deflection", "a")[:, 0])) > 1e-4  # and drew back


def test_a_beam_of_many_modes_in_free_flight_does_so_too():
    system = pl.System("free beam", gravity=(0, 0))
    on = system.add("a", link("auto", 5), joint=pl.Planar(velocity=(0.3, 0.5), rate=4.0), initial={"y1": 0.02, "y2": 0.004}).tip
    system.add("b", pl.RigidBody(mass=0.2, com=(0.1, 0.0), inertia=1e-3), joint=pl.Revolute(rate=-3.0), on=on)
    run = pl.simulate(system, 0.1, method=TIGHT)
    assert run.ok and np.ptp(run.ledger.energy) < 1e-9 * run.ledger.energy[0]
    for name in ("momentum", "angular_momentum"):
        assert np.max(np.abs(run.values[name] - run.values[name][0])) < 1e-10 * np.max(np.abs(run.values[name][0]))


@pytest.mark.parametrize("stiffening", ["full", "cubic"])
def test_a_stiffened_spatial_chain_in_free_flight_does_so_too(stiffening):
    system = pl.System("free spatial chain", gravity=(0, 0, 0))
    base = system.add("base", link(stiffening, 1, planes="yz"), initial={"y1": 0.02, "z1": 0.01},
                      joint=pl.Free(velocity=(0.2, -0.1, 0.3), angular_velocity=(1.0, 2.0, 3.0)))  # fmt: skip
    system.add("arm", link(stiffening, 1, 0.6, "yz"), joint=pl.Revolute(axis="y", angle=0.4, rate=2.0), on=base.tip)
    run = pl.simulate(system, 0.4, method=TIGHT, save=0.01)
    assert run.ok
    energy = run.ledger.energy
    assert np.ptp(energy) < 1e-10 * energy[0]
    for name in ("momentum", "angular_momentum"):
        assert np.max(np.abs(run.values[name] - run.values[name][0])) < 1e-10 * np.max(np.abs(run.values[name][0]))


# ------------------------------------------------------------------------------------------------- the tip


@pytest.mark.parametrize("stiffening", ["none", "linear", "full", "as-published"])
def test_the_tip_and_its_contact_stand_where_bending_has_drawn_them(stiffening):
    """w = W q: the tip of a clamped beam lies at l - q^2 H(l)/2, moves by -q q' H(l), and so does the gap of its contact."""
    bent, rate = 0.03, 0.7
    system = pl.System("clamped", gravity=(0, 0))
    one = link(stiffening, 1)
    handle = system.add("beam", one, joint=pl.Weld(), initial={"y1": bent}, initial_rates={"y1": rate})
    system.contact(points=handle.tip, against=pl.Plane(normal=(1, 0)), normal=pl.Hertz(stiffness=1e8))
    run = pl.simulate(system, 1e-6, save=[0.0])
    drawn = 0.0 if stiffening == "none" else slope_square(one)
    assert run.of_body("tip_position", "beam")[0, 0] == pytest.approx(0.8 - 0.5 * bent**2 * drawn, rel=1e-13)
    assert run.values["gap"][0, 0] == pytest.approx(0.8 - 0.5 * bent**2 * drawn, rel=1e-13)
    assert run.of_body("tip_velocity", "beam")[0, 0] == pytest.approx(-bent * rate * drawn, rel=1e-12, abs=1e-15)
    assert run.values["closing_speed"][0, 0] == pytest.approx(bent * rate * drawn, rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("stiffening", ["linear", "full"])
def test_a_contact_pushes_the_mode_through_the_foreshortening(stiffening):
    """Eq. 18: a force F along x at the tip does F dx = -F H q dq, whatever the model keeps of the inertia."""
    bent, depth, hard = 0.03, 1e-4, 1e8
    one = link(stiffening, 1)
    drawn = slope_square(one)
    found = []
    for touching in (False, True):
        system = pl.System("clamped", gravity=(0, 0))
        handle = system.add("beam", one, joint=pl.Weld(), initial={"y1": bent})
        wall = 0.8 - 0.5 * bent**2 * drawn + (depth if touching else -1.0)
        plane = pl.Plane(normal=(1, 0), point=(wall, 0))
        system.contact(points=handle.tip, against=plane, normal=pl.Hertz(stiffness=hard))
        run = pl.simulate(system, 1e-9, save=[0.0])
        found.append(run.values["a"][0, 0])
        force = run.values["normal_force"][0, 0]
    assert force == pytest.approx(hard * depth**1.5, rel=1e-9)
    mass = modal_mass(one, bent if stiffening == "full" else 0.0)
    assert mass * (found[1] - found[0]) == pytest.approx(-force * drawn * bent, rel=1e-9)


def slope_square(one):
    """H(l) = int W'^2, by a rule of this file."""
    from pliant.beams import beam_shapes

    x, w = np.polynomial.legendre.leggauss(40)
    slope = beam_shapes(one).displacement(0.5 * one.length * (x + 1.0), 1)[:, 1, 0]
    return float(0.5 * one.length * w @ slope**2)


def modal_mass(one, bent):
    """int mu (W^2 + q^2 H^2)."""
    from pliant.beams import beam_shapes

    x, w = np.polynomial.legendre.leggauss(40)
    stations, weights = 0.5 * one.length * (x + 1.0), 0.5 * one.length * w
    shapes = beam_shapes(one)
    h = [float(0.5 * s * w @ shapes.displacement(0.5 * s * (x + 1.0), 1)[:, 1, 0] ** 2) for s in stations]
    return float(one.mu * weights @ (shapes.displacement(stations)[:, 1, 0] ** 2 + bent**2 * np.square(h)))


# ------------------------------------------------------------------------------------------------- turning beams

LENGTH, EI, MASS = 1.4, 37.0, 0.9  # m, N m^2, kg/m
BASIS = 16  # polynomials of the Ritz solution
FIRST = 1.8751040687119611**2 * np.sqrt(EI / MASS) / LENGTH**2  # rad/s, of the cantilever at rest


def turning_beam(speed, modes, plane, stiffening="full"):
    """A beam clamped to an axle along z that turns at `speed`: plane y is that of rotation, z is out of it."""
    beam = pl.Beam(length=LENGTH, section=pl.Section(A=1e-4, Iy=EI / 2e11, Iz=EI / 2e11), material=pl.Material(E=2e11),
                   theory="euler-bernoulli", mass_per_length=MASS, modes=pl.Modes("cf", modes, plane=plane),
                   stiffening=stiffening)  # fmt: skip
    system = pl.System("turning beam", gravity=(0, 0))
    system.add("beam", beam, joint=pl.Revolute(motion=pl.Prescribed(lambda t: speed * t)))
    return system


def frequencies(system):
    """rad/s about the straight beam, by exact derivatives of the traced equations."""
    traced = trace(system)
    t, y, p = ca.SX.sym("t"), ca.SX.sym("y", traced.y0.size), ca.SX.sym("p", traced.rhs.size1_in(2))
    jacobian = ca.Function("A", [t, y, p], [ca.jacobian(traced.rhs(t, y, p), y)])
    n = len(traced.free_q)
    block = np.array(jacobian(0.3, np.zeros(traced.y0.size), traced.parameters(0.0, 1.0)))
    assert np.max(np.abs(block[n : 2 * n, n : 2 * n])) < 1e-9  # nothing gyroscopic in bending
    return np.sqrt(np.sort(np.linalg.eigvals(-block[n : 2 * n, :n]).real))


def ritz(speed, plane):
    """Squares of the frequencies: w = x^2 P_k(x), tension mu speed^2 (L^2 - x^2)/2; in the plane the load turns with the beam."""
    x, w = np.polynomial.legendre.leggauss(60)
    s, weight = 0.5 * LENGTH * (x + 1.0), 0.5 * LENGTH * w
    shapes = [np.polynomial.Polynomial([0, 0, 1]) * _legendre(k) for k in range(BASIS)]
    value, slope, curve = (np.array([shape.deriv(order)(s) for shape in shapes]) for order in (0, 1, 2))
    mass = MASS * (value * weight) @ value.T
    tension = 0.5 * MASS * speed**2 * (LENGTH**2 - s**2)
    stiffness = EI * (curve * weight) @ curve.T + (slope * weight * tension) @ slope.T
    if plane == "y":
        stiffness = stiffness - speed**2 * mass
    return eigh(stiffness, mass, eigvals_only=True)


def _legendre(k):
    return np.polynomial.Legendre.basis(k, domain=[0.0, LENGTH]).convert(kind=np.polynomial.Polynomial)


def southwell(plane):
    """k of w^2 = w0^2 + k speed^2: Rayleigh's quotient of the tension with the shape at rest, less 1 in the plane of rotation."""
    x, w = np.polynomial.legendre.leggauss(60)
    s, weight = 0.5 * LENGTH * (x + 1.0), 0.5 * LENGTH * w
    b = 1.8751040687119611 / LENGTH
    g = (np.cos(b * LENGTH) + np.cosh(b * LENGTH)) / (np.sin(b * LENGTH) + np.sinh(b * LENGTH))
    value = np.cosh(b * s) - np.cos(b * s) - g * (np.sinh(b * s) - np.sin(b * s))
    slope = b * (np.sinh(b * s) + np.sin(b * s) - g * (np.cosh(b * s) - np.cos(b * s)))
    return (0.5 * weight * (LENGTH**2 - s**2)) @ slope**2 / (weight @ value**2) - (plane == "y")


def test_the_ritz_solution_is_the_cantilevers_at_rest():
    roots = np.array([1.8751040687119611, 4.694091132974175, 7.854757438237613])
    assert np.sqrt(ritz(0.0, "z")[:3]) == pytest.approx(roots**2 * np.sqrt(EI / MASS) / LENGTH**2, rel=1e-9)


@pytest.mark.parametrize("stiffening", ["linear", "full"])
@pytest.mark.parametrize("plane", ["y", "z"])
def test_one_mode_stiffens_exactly_as_southwell_says(plane, stiffening):
    """k = 1.193 out of the plane, 0.193 in it."""
    k = southwell(plane)
    assert k == pytest.approx(0.1934 if plane == "y" else 1.1934, abs=5e-4)
    for ratio in (0.5, 1.0, 4.0):
        speed = ratio * FIRST
        found = frequencies(turning_beam(speed, 1, plane, stiffening))[0]
        assert found**2 == pytest.approx(FIRST**2 + k * speed**2, rel=1e-10)


@pytest.mark.parametrize("plane", ["y", "z"])
def test_frequencies_rise_with_speed_and_southwell_is_their_lower_bound(plane):
    k = southwell(plane)
    speeds = FIRST * np.array([0.05, 0.5, 1.0, 2.0, 4.0])
    squares = np.array([frequencies(turning_beam(speed, 4, plane, "linear"))[0] ** 2 for speed in speeds])
    assert np.all(np.diff(squares) > 0.0)
    assert (squares[0] - FIRST**2) / speeds[0] ** 2 == pytest.approx(k, abs=1e-3)  # tangent at rest
    exact = np.array([ritz(speed, plane)[0] for speed in speeds])
    slack = 1e-9 * exact
    assert np.all(exact <= FIRST**2 + k * speeds**2 + slack)  # the shape at rest is a trial shape: Rayleigh's is above
    assert np.all(squares >= exact - slack)  # and so is every finite set of modes


@pytest.mark.parametrize(("stiffening", "ratio", "counts"), [("linear", 1.0, (3, 6, 12)), ("full", 0.5, (2, 4, 8))])
@pytest.mark.parametrize("plane", ["y", "z"])
def test_frequencies_converge_to_six_digits_with_the_number_of_modes(plane, stiffening, ratio, counts):
    """The first two, from above, towards polynomials that know nothing of the modes."""
    speed = ratio * FIRST
    exact = np.sqrt(ritz(speed, plane)[:2])
    errors = np.array([frequencies(turning_beam(speed, n, plane, stiffening))[:2] / exact - 1.0 for n in counts])
    assert np.all(errors > -1e-9)
    assert np.all(errors[1:] < 0.25 * errors[:-1])
    assert np.max(errors[-1]) < 5e-7


@pytest.mark.parametrize("plane", ["y", "z"])
def test_small_vibrations_are_the_same_with_linear_and_full_stiffening(plane):
    linear, full = (frequencies(turning_beam(2.0 * FIRST, 3, plane, stiffening)) for stiffening in ("linear", "full"))
    assert linear == pytest.approx(full, rel=1e-12)


def test_in_the_plane_the_square_is_less_by_that_of_the_speed():
    speed = 1.7 * FIRST
    inside, outside = (frequencies(turning_beam(speed, 3, plane)) for plane in "yz")
    assert inside**2 == pytest.approx(outside**2 - speed**2, rel=1e-10)


def test_without_stiffening_the_beam_in_the_plane_softens_instead():
    speed = 0.8 * FIRST
    found = frequencies(turning_beam(speed, 1, "y", "none"))[0]
    assert found**2 == pytest.approx(FIRST**2 - speed**2, rel=1e-10)
