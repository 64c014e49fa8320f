"""Every formulation on every kind of loop: accelerations, multipliers, reactions at random states; trajectories; springs in V."""

import numpy as np
import pytest

import mechanisms
import pliant as pl
from pliant.gallery.parallel_robot import parallel_robot
from pliant.gallery.slider_crank import slider_crank
from pliant.results.table import OBSERVED, QUANTITIES
from pliant.trace.tracing import FORMULATIONS, trace

TIGHT = pl.DOP853(rtol=1e-12, atol=1e-14)
AGREE = 1e-9  # of the largest
STATES = 3
NEWTON = 30  # projections that put a random state on the constraints


# ---- loops


def four_bar(elastic=False, **closing):
    """Unequal lengths, a spring and a drive at the crank."""
    system = pl.System("four-bar", gravity=(0, -9.81))
    beam = pl.Beam(length=0.9, section=mechanisms.FLAT, material=pl.STEEL, theory="euler-bernoulli", modes=pl.Modes("ss", 2),
                   damping=pl.ModalDamping(0.01))  # fmt: skip
    joint = pl.Revolute(angle=1.2, rate=2.0, spring=pl.Spring(30.0), damper=pl.Damper(0.1))
    crank = system.add("crank", pl.RigidBody.rod(0.3, 1.0), joint=joint)
    body = beam if elastic else pl.RigidBody.rod(0.9, 2.0)
    coupler = system.add("coupler", body, joint=pl.Revolute(angle=-0.85), on=crank.tip)
    far = system.ground.moved((1.0, 0.0))
    rocker = system.add("rocker", pl.RigidBody.rod(0.6, 1.5), joint=pl.Revolute(angle=1.5), on=far)
    system.close("pin", "point", coupler.tip, rocker.tip, **closing)
    system.drive("motor", "crank.angle", 2.0)
    return system


def spatial_loop(elastic=False, **closing):
    """RSSR: a crank about z, a coupler on a ball, a rocker about a skew axis, which bends if elastic; a ball closes it."""
    system = pl.System("RSSR", gravity=(0.5, -9.81, 0.3))
    rod = {"mass": 1.0, "inertia": (0.01, 0.02, 0.03)}
    crank = system.add("crank", pl.RigidBody(**rod, com=(0.1, 0.02, 0.0), tip=(0.3, 0.0, 0.0)), joint=pl.Revolute(rate=2.0))
    link = pl.RigidBody(**rod, com=(0.4, 0.0, 0.01), tip=(0.9, 0.0, 0.0))
    coupler = system.add("coupler", link, joint=pl.Spherical(), on=crank.tip)
    stand = system.ground.moved((1.1, -0.2, 0.4))
    body = mechanisms.spatial_link() if elastic else pl.RigidBody(**rod, com=(0.2, 0.0, 0.03), tip=(0.7, 0.0, 0.0))
    rocker = system.add("rocker", body, joint=pl.Revolute(axis=(0.3, 0.2, 1.0), angle=0.4), on=stand.turned(1.2, "z"))
    system.close("ball", "spherical", coupler.tip, rocker.tip, **closing)
    return system


def luffing_boom():
    """A telescopic cylinder lifts an elastic boom; its rod's end turns about the boom's middle."""
    system = pl.System("luffing boom", gravity=(0, -9.81))
    beam = pl.Beam(length=2.0, section=mechanisms.FLAT, material=pl.STEEL, theory="timoshenko", modes=pl.Modes("cf", 2))
    boom = system.add("boom", beam, joint=pl.Revolute(angle=0.6, rate=0.3))
    cylinder = pl.TelescopicBeam(length=0.8, section=mechanisms.FLAT, material=pl.STEEL, modes=pl.Modes("cf", 1), extension=0.5,
                                 on_sleeve_end="continue")  # fmt: skip
    lift = system.add("lift", cylinder, joint=pl.Revolute(angle=1.0), on=system.ground.moved((0.4, -0.3)))
    system.close("eye", "point", lift.tip, boom.at(1.0))
    system.drive("oil", "lift.extension", 400.0)
    return system


def welded_frame():
    """A triangle whose last joint is a revolute closure in space: angles among the rows."""
    system = pl.System("welded frame", gravity=(0, -9.81, 1.0))
    first = system.add("first", mechanisms.spatial_link(), joint=pl.Universal(angles=(0.2, 0.3), rates=(0.5, 0.2)))
    second = system.add("second", pl.RigidBody(mass=1.0, inertia=(0.01, 0.02, 0.02), com=(0.2, 0, 0), tip=(0.5, 0, 0)),
                        joint=pl.Spherical(), on=first.tip)  # fmt: skip
    third = system.add("third", pl.RigidBody(mass=1.0, inertia=(0.01, 0.02, 0.02), com=(0.2, 0, 0), tip=(0.4, 0, 0)),
                       joint=pl.Free(position=(1.0, 0.3, 0.1)))  # fmt: skip
    system.close("hinge", "revolute", second.tip, third.root, axis="z")
    return system


def geared(**closing):
    """Two elastic arms on a gear, their tips joined by a strut whose length is told."""
    system = pl.System("geared", gravity=(0, -9.81))
    link = mechanisms.planar_link(1)
    first = system.add("first", link, joint=pl.Revolute(angle=1.2, rate=1.0))
    second = system.add("second", link, joint=pl.Revolute(angle=1.9), on=system.ground.moved((0.6, 0.0)))
    third = system.add("third", pl.RigidBody.rod(0.5, 1.0), joint=pl.Revolute(angle=0.5), on=second.tip)
    system.close("gear", "gear", "first.angle", "second.angle", ratio=-1.5, **closing)
    system.close("strut", "distance", first.tip, third.tip, length=lambda t: 0.8 + 0.1 * pl.sin(3.0 * t), **closing)
    return system


SPRUNG = {"by": "springs", "stiffness": 2e4, "damping": 3.0}
LOOPS = {
    "four-bar": four_bar,
    "four-bar, elastic": lambda: four_bar(elastic=True),
    "four-bar, springs": lambda: four_bar(**SPRUNG),
    "four-bar, elastic, springs": lambda: four_bar(elastic=True, **SPRUNG),
    "parallel robot": parallel_robot,
    "parallel robot, told": lambda: parallel_robot(prescribed=True),
    "parallel robot, springs": lambda: parallel_robot(1e5, damping=10.0),
    "slider-crank, rigid": lambda: slider_crank(0),
    "slider-crank, elastic": lambda: slider_crank(2, damped=True),
    "spatial loop": spatial_loop,
    "spatial loop, elastic": lambda: spatial_loop(elastic=True),
    "spatial loop, elastic, springs": lambda: spatial_loop(elastic=True, **SPRUNG),
    "luffing boom": luffing_boom,
    "welded frame": welded_frame,
    "geared": geared,
    "geared, springs": lambda: geared(**SPRUNG),
}


def states_near_the_start(traced, seed=3):
    """Random, then put on the constraints: joints by a tenth of a radian, modes by a hundredth of it, all rates."""
    rng = np.random.default_rng(seed)
    own = {k for node in traced.tree.nodes for k in node.own_q}
    n_q, n_v = len(traced.free_q), len(traced.free_v)
    p = traced.parameters(0.0, 1.0)
    for _ in range(STATES):
        y = traced.y0.copy()
        y[:n_q] += [rng.normal() * (1e-3 if k in own else 0.1) for k in traced.free_q]
        y[n_q : n_q + n_v] += rng.normal(size=n_v)
        for _ in range(NEWTON if traced.project is not None else 0):
            y = np.array(traced.project(0.3, y, p)).ravel()
        yield y


def observed(traced, y):
    """Quantities at a state, by name."""
    flat, found, offset = np.array(traced.observe(0.3, y, traced.parameters(0.0, 1.0))).ravel(), {}, 0
    for name in OBSERVED:
        shape = [len(traced.columns[d]) for d in QUANTITIES[name].dims]
        found[name] = flat[offset : offset + int(np.prod(shape))].reshape(shape)
        offset += int(np.prod(shape))
    return found


# ---- agreement


@pytest.mark.parametrize("name", LOOPS)
def test_accelerations_multipliers_and_reactions_agree_to_1e_9(name):
    system = LOOPS[name]()
    tracings = {formulation: trace(system, formulation) for formulation in FORMULATIONS}
    first = tracings["articulated"]
    for y in states_near_the_start(first):
        wanted = observed(first, y)
        if first.project is not None:
            assert np.max(np.abs(wanted["constraint"])) < 1e-11
        for traced in tracings.values():
            seen = observed(traced, y)
            for quantity in ("a", "multiplier", "reaction_force", "reaction_moment", "effort"):
                # moments of pins vanish: they are compared with forces, levers being about a metre
                beside = "reaction_force" if quantity == "reaction_moment" else quantity
                size = np.max(np.abs([*wanted[quantity].ravel(), *wanted[beside].ravel()]), initial=0.0)
                assert np.max(np.abs(seen[quantity] - wanted[quantity]), initial=0.0) <= AGREE * size, quantity


@pytest.mark.parametrize("name", ["four-bar, elastic", "spatial loop", "luffing boom", "parallel robot, springs"])
def test_trajectories_agree_within_their_tolerance(name):
    runs = [pl.simulate(LOOPS[name](), 0.2, method=TIGHT, formulation=f, save=0.05) for f in FORMULATIONS]
    for run in runs[1:]:
        for quantity, near in (("q", 1e-9), ("v", 1e-8), ("multiplier", 1e-7), ("reaction_force", 1e-7)):
            size = np.max(np.abs(runs[0].values[quantity]))
            assert np.max(np.abs(run.values[quantity] - runs[0].values[quantity])) < near * size, quantity
        assert run.ledger.relative_error_max < 1e-9


# ---- virtual springs: forces K^T Ks c beside an energy that is differentiated


@pytest.mark.parametrize("stiffness", [1e3, 1e6])
def test_modified_denoc_and_its_energy_twin_agree(stiffness):
    """Wrenches of springs projected on the coordinates, against Ks c^2/2 in the Lagrangian: the paper's comparison."""
    system = parallel_robot(stiffness)
    newton, energy = trace(system, "denoc"), trace(system, "lagrange")
    for y in states_near_the_start(newton, seed=8):
        one, two = (np.array(traced.rhs(0.3, y, traced.parameters(0.0, 1.0))).ravel()[9:18] for traced in (newton, energy))
        assert np.max(np.abs(two - one)) < 1e-11 * np.max(np.abs(one))
        made = pl.denoc(system, q=y[:9], v=y[9:18], t=0.3)
        assert np.max(np.abs(made.forward().a - one)) < 1e-11 * np.max(np.abs(one))
        # the springs do pull: without them the motion is another
        free = np.linalg.solve(made.I, made.acting - made.C @ made.v)
        assert np.max(np.abs(free - one)) > 0.1 * np.max(np.abs(one))


def test_lagrange_has_no_force_of_springs_but_from_their_energy():
    """With the energy left out of V the twin falls apart: nothing else pulls its loops together."""
    from pliant.trace import tracing as module

    system = four_bar(**SPRUNG)
    whole = trace(system, "lagrange")
    y = next(states_near_the_start(whole, seed=1))
    n = len(whole.free_q)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "stored_energy", lambda *_: 0.0)
        loose = trace(system, "lagrange")
    a, b = (np.array(traced.rhs(0.3, y, traced.parameters(0.0, 1.0))).ravel()[n : 2 * n] for traced in (whole, loose))
    made = pl.denoc(system, q=y[:n], v=y[n : 2 * n], t=0.3)
    pull = made.A.T @ (-2e4 * made.c)
    assert made.I @ (a - b) == pytest.approx(pull, rel=1e-9, abs=1e-9 * np.max(np.abs(pull)))
