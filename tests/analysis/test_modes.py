"""Natural frequencies against exact ones, Ritz solutions and reduced models derived here; what modes say of themselves."""

import math

import casadi as ca
import numpy as np
import pytest
from numpy.polynomial import Legendre, Polynomial
from scipy.linalg import eigh
from scipy.optimize import brentq

import pliant as pl

EI, MU, LENGTH, G = 120.0, 1.7, 0.8, 9.81
PACE = math.sqrt(EI / MU) / LENGTH**2  # rad/s
SECTION, MATERIAL = pl.Section(A=1e-4, Iz=EI / 2e11, Iy=EI / 2e11), pl.Material(E=2e11)


def beam(modes, length=LENGTH, **options):
    return pl.Beam(length=length, section=SECTION, material=MATERIAL, theory="euler-bernoulli", mass_per_length=MU, modes=modes,
                   **options)  # fmt: skip


def frequencies(system, at=None):
    return pl.linearise(system, at=at, inputs=(), outputs=()).modes().frequencies


# ---- every end condition

CHARACTERISTIC = {  # of beta L: the sign s in cos cosh = s, or tan = tanh; from the first root that is not zero
    "cc": lambda x: math.cos(x) - 1.0 / math.cosh(x),
    "cf": lambda x: math.cos(x) + 1.0 / math.cosh(x),
    "sc": lambda x: math.sin(x) - math.cos(x) * math.tanh(x),
    "ss": math.sin,
}
KINDS = {"cc": "cc", "ff": "cc", "cf": "cf", "fc": "cf", "sc": "sc", "cs": "sc", "sf": "sc", "fs": "sc", "ss": "ss"}
RIGID = {"ff": 3, "sf": 1, "fs": 1}  # motions in the plane that nothing holds; a free beam can also go along itself


def exact(ends, count):
    """The first roots of the characteristic equation, in rad/s."""
    function, roots, x = CHARACTERISTIC[KINDS[ends]], [], 1.0
    while len(roots) < count:
        if function(x) * function(x + 0.05) < 0.0:
            roots.append(brentq(function, x, x + 0.05, xtol=1e-14))
        x += 0.05
    return np.array(roots) ** 2 * PACE


@pytest.mark.parametrize("ends", KINDS)
def test_a_mesh_held_by_closures_has_the_exact_frequencies_of_its_ends(ends):
    """A beam of elements on no joint at all: closures hold its ends as they are called, clamped, supported or free.

    It does not shorten: between ends that are held apart, a beam that does and cannot stretch has no room to bend.
    """
    system = pl.System(ends, gravity=(0, 0))
    rod = system.add("rod", beam(pl.ElementModes(20), stiffening="none"), joint=pl.Planar())
    for end, frame, place in zip(ends, (rod.root, rod.tip), (0.0, LENGTH), strict=True):
        if end != "f":
            kind, side = {"c": "weld", "s": "point"}[end], "left" if place == 0.0 else "right"
            system.close(f"{kind} {side}", kind, frame, system.ground.moved((place, 0.0)))
    found = frequencies(system)
    rigid = RIGID.get(ends, 0)
    assert np.all(found[:rigid] == 0.0)
    wanted = exact(ends, 3)
    beyond = found[rigid : rigid + 3] / wanted - 1.0
    known = (wanted / PACE) ** 2 / 20**4 / 1440.0  # cubic elements: (beta h)^4/1440 too high, to leading order
    assert np.all(beyond > 0.9 * known) and np.all(beyond < 1.1 * known)


@pytest.mark.parametrize("ends", [ends for ends in KINDS if ends not in ("fc", "fs")])  # whose root moves in their frame
def test_theorys_own_shapes_have_the_exact_frequencies(ends):
    system = pl.System(ends, gravity=(0, 0))
    free = {"ff": pl.Planar(), "sf": pl.Revolute()}.get(ends, pl.Weld())  # of rigid motions, the frame's
    system.add("rod", beam(pl.Modes(ends, 3)), joint=free)
    found = frequencies(system)
    rigid = {"ff": 3, "sf": 1}.get(ends, 0)
    assert np.all(found[:rigid] == 0.0)
    assert found[rigid:] == pytest.approx(exact(ends, 3), rel=1e-9)


def test_a_free_beam_in_space_has_six_rigid_modes_at_zero():
    system = pl.System("free", gravity=(0, 0, 0))
    modes = [pl.Modes("ff", 2), pl.Modes("ff", 2, plane="z")]
    thick = beam(modes, rotary_inertia=(1e-3, 0.0, 0.0))
    system.add("rod", thick, joint=pl.Free(position=(0.3, -0.2, 0.5), orientation=(0.6, 0.2, -0.5, 0.3)))
    found = frequencies(system)
    assert np.all(found[:6] == 0.0)
    assert found[6:] == pytest.approx(np.repeat(exact("ff", 2), 2), rel=1e-9)


# ---- rotating beams


def trial_shapes(count, length):
    """x^2 times Legendre's polynomials: clamped at zero."""
    clamped = Polynomial([0.0, 0.0, 1.0 / length**2])
    return [Legendre.basis(k, domain=[0.0, length]).convert(kind=Polynomial) * clamped for k in range(count)]


def ritz(speed, in_plane, count=14):
    """A cantilever of unit length that rotates about its root: bending, tension mu w^2 (1 - x^2)/2, and in the plane -w^2 mu."""
    points, weights = np.polynomial.legendre.leggauss(60)
    x, w = 0.5 * (points + 1.0), 0.5 * weights
    shapes = trial_shapes(count, 1.0)
    deflection, slope, bend = (np.array([shape.deriv(k)(x) if k else shape(x) for shape in shapes]) for k in (0, 1, 2))
    mass = (deflection * w) @ deflection.T
    stiffness = (bend * w) @ bend.T + speed**2 * (slope * w * 0.5 * (1.0 - x**2)) @ slope.T
    return np.sqrt(eigh(stiffness - (speed**2 * mass if in_plane else 0.0), mass, eigvals_only=True))


def test_a_free_carriage_is_one_mode_however_the_rest_is_damped():
    """Its position and its rate are one pair of eigenvalues, with a damper or a motor's own states in the mechanism as without."""

    def modes(**gear):
        system = pl.System("crane", gravity=(0, -G))
        carriage = system.add("carriage", pl.RigidBody(mass=1.0), joint=pl.Prismatic())
        system.add("rod", pl.RigidBody.rod(0.5, 1.0), joint=pl.Revolute(angle=-math.pi / 2, damper=pl.Damper(0.1)), on=carriage.tip)
        system.motor("servo", "rod.angle", pl.Motor(inertia=1e-5, ratio=50.0, **gear), command=0.0)
        return pl.linearise(system).modes()

    for found, count in ((modes(), 2), (modes(gear_stiffness=1e3), 3)):
        assert len(found) == count and list(found.frequencies == 0.0) == [True] + [False] * (count - 1)
        assert found.moving(0) == "carriage.displacement"


@pytest.mark.parametrize(("plane", "speed"), [("y", 3.0), ("y", 12.0), ("z", 12.0)])
def test_a_rotating_cantilever_has_the_frequencies_of_a_ritz_solution(plane, speed):
    shapes = tuple(pl.ShapeFunction(p, p.deriv(), p.deriv(2)) for p in trial_shapes(7, LENGTH))
    system = pl.System("blade", gravity=(0, 0, 0))
    system.add("blade", beam(pl.GivenModes(shapes, plane=plane), stiffening="full"), joint=pl.Revolute(axis="z"))
    rest = pl.equilibrium(system, steady={"blade.angle": speed * PACE})
    wanted = ritz(speed, in_plane=plane == "y")[:2] * PACE
    assert frequencies(system, rest)[:2] == pytest.approx(wanted, rel=1e-5)  # 7.6e-6 of the slowest at the highest speed
    assert rest.stable is True


# ---- a loop

CRANK, COUPLER, ROCKER, BASE = 0.3, 0.8, 0.6, 0.9
MASSES = {"crank": 1.0, "coupler": 2.0, "rocker": 1.5}


def four_bar():
    system = pl.System("four-bar", gravity=(0, -G))
    crank = system.add("crank", pl.RigidBody.rod(CRANK, MASSES["crank"]), joint=pl.Revolute(angle=1.0, spring=pl.Spring(50.0, 0.8)))
    coupler = system.add("coupler", pl.RigidBody.rod(COUPLER, MASSES["coupler"]),
                         joint=pl.Revolute(angle=-0.8, spring=pl.Spring(4.0, -0.5)), on=crank.tip)  # fmt: skip
    rocker = system.add("rocker", pl.RigidBody.rod(ROCKER, MASSES["rocker"]), joint=pl.Revolute(angle=1.5),
                        on=system.ground.moved((BASE, 0.0)))  # fmt: skip
    system.close("pin", "point", coupler.tip, rocker.tip)
    return system


def reduced_four_bar():
    """V(theta) and the mass of T = m theta'^2/2 of the crank's angle alone: the loop solved by the law of cosines."""
    theta = ca.SX.sym("theta")
    x, y = CRANK * ca.cos(theta), CRANK * ca.sin(theta)
    far = ca.sqrt((BASE - x) ** 2 + y**2)
    coupler = ca.atan2(-y, BASE - x) + ca.acos((COUPLER**2 + far**2 - ROCKER**2) / (2.0 * COUPLER * far))
    tip = ca.vertcat(x + COUPLER * ca.cos(coupler), y + COUPLER * ca.sin(coupler))
    rocker = ca.atan2(tip[1], tip[0] - BASE)
    centres = {
        "crank": ca.vertcat(x, y) / 2.0,
        "coupler": ca.vertcat(x, y) / 2.0 + tip / 2.0,
        "rocker": ca.vertcat(BASE, 0.0) / 2.0 + tip / 2.0,
    }
    angles, lengths = {"crank": theta, "coupler": coupler, "rocker": rocker}, {"crank": CRANK, "coupler": COUPLER, "rocker": ROCKER}
    inertia, potential = 0.0, 25.0 * (theta - 0.8) ** 2 + 2.0 * (coupler - theta + 0.5) ** 2
    for name, mass in MASSES.items():
        along = ca.jacobian(centres[name], theta)
        inertia += mass * ca.dot(along, along) + mass * lengths[name] ** 2 / 12.0 * ca.jacobian(angles[name], theta) ** 2
        potential += mass * G * centres[name][1]
    slope = ca.jacobian(potential, theta)
    return ca.Function("reduced", [theta], [slope, ca.jacobian(slope, theta), inertia])


def test_a_four_bar_with_springs_has_the_frequency_of_its_one_coordinate():
    reduced, theta = reduced_four_bar(), 0.75
    for _ in range(20):
        slope, curvature, inertia = (float(x) for x in reduced(theta))
        theta -= slope / curvature
    rest = pl.equilibrium(four_bar())
    linear = pl.linearise(four_bar(), at=rest, inputs=(), outputs=())
    assert rest["crank.angle"] == pytest.approx(theta, abs=1e-12)
    assert linear.modes().frequencies == pytest.approx([math.sqrt(curvature / inertia)], rel=1e-10)
    shape = linear.modes().shape(0)
    assert shape["rocker"]["angle"].imag == 0.0  # in phase, and by the ratio of the loop's velocities
    turned = linear.motions[:, 0] / linear.motions[list(linear.all_coordinates).index("crank.angle"), 0]
    ratio = shape["rocker"]["angle"] / shape["crank"]["angle"]
    assert ratio.real == pytest.approx(turned[list(linear.all_coordinates).index("rocker.angle")], rel=1e-12)


# ---- a spinning disc

MASS, ACROSS, POLAR = 1.0, 0.01, 0.02


def overhung(turning_shaft):
    """A disc on a cantilever shaft; the shaft turns with it, or the disc turns on the shaft."""
    system = pl.System("rotor", gravity=(0, 0, 0))
    planes = [pl.ElementModes(1, reference="cantilever", plane=plane) for plane in "yz"]
    joint = pl.Revolute(axis="x") if turning_shaft else pl.Weld()
    shaft = system.add("shaft", beam(planes, rotary_inertia=(1e-9, 0.0, 0.0)), joint=joint)
    disc = pl.RigidBody(mass=MASS, inertia=(POLAR, ACROSS, ACROSS))
    system.add("disc", disc, joint=pl.Weld() if turning_shaft else pl.Revolute(axis="x"), on=shaft.tip)
    return system


def whirl(speed):
    """Signed frequencies, forward positive, of u = y + i z and of the slope, in fixed axes: M u'' - i G u' + K u = 0."""
    h = LENGTH
    mass = MU * h / 420.0 * np.array([[156.0, -22.0 * h], [-22.0 * h, 4.0 * h * h]]) + np.diag([MASS, ACROSS])
    stiffness = EI / h**3 * np.array([[12.0, -6.0 * h], [-6.0 * h, 4.0 * h * h]])
    gyro = np.diag([0.0, POLAR * speed])
    zero, one = np.zeros((2, 2)), np.eye(2)
    inverse = np.linalg.inv(mass)
    return np.sort(np.linalg.eigvals(np.block([[zero, one], [inverse @ stiffness, inverse @ gyro]])).real)


@pytest.mark.parametrize("speed", [50.0, 400.0])
def test_a_spinning_disc_splits_frequencies_into_forward_and_backward_whirl(speed):
    signed = whirl(speed)
    assert np.sum(signed > 0.0) == 2
    fixed, turning = overhung(False), overhung(True)
    found = frequencies(fixed, pl.equilibrium(fixed, steady={"disc.angle": speed}))
    assert found == pytest.approx(np.sort(np.abs(signed)), rel=1e-9)
    assert abs(found[1] / found[0] - 1.0) > 1e-3  # split
    assert np.all(pl.linearise(fixed, at=pl.equilibrium(fixed, steady={"disc.angle": speed})).modes().damping_ratios == 0.0)
    seen_from_shaft = frequencies(turning, pl.equilibrium(turning, steady={"shaft.angle": speed}))
    assert seen_from_shaft == pytest.approx(np.sort(np.abs(signed - speed)), rel=1e-7)
    whirling = pl.linearise(fixed, at=pl.equilibrium(fixed, steady={"disc.angle": speed})).modes().shape(0)["shaft"]
    quarter = whirling["z1"] / whirling["y1"]
    assert abs(quarter) == pytest.approx(1.0, rel=1e-9) and abs(quarter.real) < 1e-9  # circles


def test_a_governor_rings_slower_where_its_speed_is_held_than_where_its_momentum_is():
    """Routh: V* = -w^2 m l^2 c^2/2 - m g l s at a speed w; of a momentum L it is L^2/(2 (I + m l^2 c^2)) - m g l s."""
    inertia, mass, length, speed = 0.1, 0.5, 0.4, 8.0
    system = pl.System("governor", gravity=(0, 0, -G))
    mast = system.add("mast", pl.RigidBody(mass=1.0, inertia=(0.1, 0.1, inertia)), joint=pl.Revolute(axis="z"))
    ball = pl.RigidBody(mass=mass, inertia=(0, 0, 0), com=(length, 0, 0))
    system.add("ball", ball, joint=pl.Revolute(axis="y", angle=1.2), on=mast.root)
    rest = pl.equilibrium(system, steady={"mast.angle": speed})
    theta = ca.SX.sym("theta")
    reach = mass * length**2 * ca.cos(theta) ** 2
    weight = -mass * G * length * ca.sin(theta)
    angle = rest["ball.angle"]
    momentum = (inertia + mass * length**2 * math.cos(angle) ** 2) * speed
    wanted = []
    for potential in (weight - 0.5 * speed**2 * reach, weight + 0.5 * momentum**2 / (inertia + reach)):
        curvature = ca.Function("V", [theta], [ca.hessian(potential, theta)[0]])
        wanted.append(math.sqrt(float(curvature(angle)) / (mass * length**2)))
    assert frequencies(system, rest) == pytest.approx(wanted[:1], rel=1e-10)
    free = pl.linearise(system, at=rest.state, outputs=()).modes()
    assert free.frequencies[-1] == pytest.approx(wanted[1], rel=1e-10)
    assert np.all(free.eigenvalues[:-1] == 0.0)  # the mast may stand elsewhere, and turn at another rate


# ---- damping, growth


def oscillator(damping, stiffness=40.0):
    system = pl.System("oscillator", gravity=(0, 0))
    joint = pl.Prismatic(spring=pl.Spring(stiffness), damper=pl.Damper(damping))
    system.add("block", pl.RigidBody(mass=2.5, inertia=1.0), joint=joint)
    return pl.linearise(system, outputs=()).modes()


def test_damping_ratios_are_those_of_the_textbook():
    light = oscillator(3.0)
    assert light.frequencies == pytest.approx([4.0], rel=1e-12)  # |eigenvalue|: sqrt(k/m)
    assert light.damping_ratios == pytest.approx([3.0 / (2.0 * math.sqrt(40.0 * 2.5))], rel=1e-12)
    heavy = oscillator(30.0)
    assert heavy.frequencies == pytest.approx([0.0, 0.0]) and heavy.damping_ratios == pytest.approx([1.0, 1.0])
    assert heavy.eigenvalues.real == pytest.approx(np.roots([2.5, 30.0, 40.0]), rel=1e-12)
    slow = 1.0 / abs(heavy.eigenvalues.real[1])
    assert heavy.course(1) == f"decays by e in {slow:.4g} s: " and heavy.course(1) in str(heavy)  # not only 0, 0 and 1
    assert light.course(0) == ""
    growth, swing = light.eigenvalues[0].real, light.eigenvalues[0].imag
    assert light.pole(0) == f"{growth:.4g} ± {swing:.6g}i" and light.pole(0) in str(light)
    assert heavy.pole(1) == f"{heavy.eigenvalues[1].real:.4g}" and "±" not in str(heavy)
    assert oscillator(0.0).damping_ratios == pytest.approx([0.0], abs=0.0)


def test_what_grows_has_a_negative_ratio_and_says_so():
    system = pl.System("upright", gravity=(0, -G))
    system.add("arm", pl.RigidBody.rod(1.0, 0.5), joint=pl.Revolute(angle=0.5 * math.pi))
    modes = pl.linearise(system, outputs=()).modes()
    assert modes.frequencies == pytest.approx([0.0]) and modes.damping_ratios == pytest.approx([-1.0])
    assert modes.eigenvalues[0].real == pytest.approx(math.sqrt(1.5 * G), rel=1e-12)
    assert "arm.angle" in str(modes)


def test_a_mode_swings_as_a_result_that_can_be_drawn_and_played(tmp_path):
    modes = pl.linearise(four_bar(), outputs=()).modes()
    result = modes.animated(0, size=0.2, cycles=1)
    assert result.time[-1] == 1.0 and "rad/s" in result.message
    tips = result.values["tip_position"]
    assert tips[0] == pytest.approx(tips[-1], abs=1e-12)
    gone = np.max(np.linalg.norm(tips - tips[len(tips) // 4], axis=2))
    assert 0.05 < gone < 0.5
    assert np.max(np.abs(result.values["constraint"])) < 1e-12  # loops stay closed, though a shape is of first order
    written = pl.player.write(result, tmp_path / "mode.html")
    assert "four-bar" in written.read_text(encoding="utf-8")
    with pytest.raises(pl.ModelError, match="number must be from 0 to 0"):
        modes.animated(1)
