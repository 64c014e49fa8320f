"""Drag on the whole motion of a beam, against closed forms: on a slider, about a hinge, of a cantilever's modes."""

import math

import numpy as np
import pytest

import pliant as pl
from mechanisms import FLAT
from pliant.dynamics.loads import applied_forces
from pliant.dynamics.tree import build_tree

C, SPEED = 3.0, 2.0  # kg/(m s); m/s or rad/s
MODES = {
    "modes": {"modes": pl.Modes("cf", 2)},
    "timoshenko": {"modes": pl.Modes("cf", 2), "theory": "timoshenko"},
    "elements": {"modes": pl.ElementModes(3)},
    "many elements": {"modes": pl.ElementModes(6, reference="cantilever")},  # foreshortening by polynomials
    "cubic": {"modes": pl.ElementModes(1, reference="cantilever"), "stiffening": "cubic"},
    "linear": {"modes": pl.Modes("cf", 2), "stiffening": "linear"},
    "as published": {"modes": pl.Modes("cf", 2), "stiffening": "as-published"},
    "all directions": {"modes": [pl.Modes("cf", 1), pl.Modes("cf", 1, plane="z"), pl.AxialModes("cf", 1)]},
}


def beam(**options):
    settings = {"length": 1.2, "section": FLAT, "material": pl.STEEL, "theory": "euler-bernoulli", "modes": pl.Modes("cf", 2),
                "damping": pl.MotionDrag(C)}  # fmt: skip
    return pl.Beam(**{**settings, **options})


def power(body, joint, rates):
    """What drag takes from a straight body that starts with these rates, W, and its load on the body."""
    system = pl.System("dragged", gravity=(0, 0))
    system.add("arm", body, joint=joint)
    tree = build_tree(system)
    v = [*rates, *[0.0] * (len(tree.rates) - len(rates))]
    applied = applied_forces(system, tree, list(tree.start), v, read=lambda signal: 0.0)
    return applied.power["arm.drag"], applied.loads[0]


@pytest.mark.parametrize("kind", MODES)
def test_straight_beams_of_any_theory_lose_what_a_rod_loses(kind):
    arm = beam(**MODES[kind])
    lost, load = power(arm, pl.Prismatic(axis="y"), [SPEED])
    assert load.force == pytest.approx((0.0, -C * arm.length * SPEED, 0.0), rel=1e-12)
    assert lost == pytest.approx(load.force[1] * SPEED, rel=1e-12)
    lost, load = power(arm, pl.Revolute(), [SPEED])
    assert load.moment == pytest.approx((0.0, 0.0, -C * arm.length**3 / 3.0 * SPEED), rel=1e-12)
    assert lost == pytest.approx(load.moment[2] * SPEED, rel=1e-12)


def test_a_telescopic_link_is_dragged_along_its_sleeve_and_its_free_part():
    link = pl.TelescopicBeam(length=1.0, section=FLAT, material=pl.STEEL, modes=pl.Modes("cf", 1), extension=0.6,
                             damping=[pl.Rayleigh(beta=1e-5), pl.MotionDrag(C)])  # fmt: skip
    lost, load = power(link, pl.Revolute(), [SPEED, 0.5])
    assert load.moment[2] == pytest.approx(-C * 1.6**3 / 3.0 * SPEED, rel=1e-12)
    assert load.own[0] == pytest.approx(-C * 0.6 * 0.5, rel=1e-12)  # it slides outwards, too
    assert lost == pytest.approx(load.moment[2] * SPEED + load.own[0] * 0.5, rel=1e-12)


@pytest.mark.parametrize("modes", [pl.ElementModes(2), pl.AxialModes("cf", 2)], ids=["elements", "axial"])
def test_every_mode_of_a_cantilever_decays_with_half_the_drag_per_mass(modes):
    system = pl.System("cantilever", gravity=(0, -9.81))
    system.add("arm", beam(modes=modes), joint=pl.Weld())
    decay = np.linalg.eigvals(pl.linearise(system, at=pl.equilibrium(system), outputs=()).A).real
    assert decay == pytest.approx(np.full(decay.shape, -C / (2.0 * beam().mu)), rel=1e-6)


def test_a_sliding_beam_slows_down_exponentially_and_its_derivative_is_the_exact_one():
    drag = pl.Parameter("drag", C)
    system = pl.System("slider", gravity=(0, 0))
    system.add("arm", beam(damping=pl.MotionDrag(drag)), joint=pl.Prismatic(axis="y", rate=SPEED))
    found = pl.sensitivities(system, 0.5, ["drag"], of="v", save=0.5)
    exact = SPEED * math.exp(-C / beam().mu * 0.5)
    assert found.result["v", "arm.displacement"][-1] == pytest.approx(exact, rel=1e-8)
    slope = found.table["v"].sel(rate="arm.displacement", theta="drag")
    assert float(slope[-1]) == pytest.approx(-0.5 / beam().mu * exact, rel=1e-6)


def test_a_swinging_bent_beam_in_segments_loses_what_the_whole_one_loses():
    lost = []
    for arm in (beam(modes=pl.ElementModes(4, reference="cantilever")), pl.segmented(beam(), 4)):
        system = pl.System("swing", gravity=(0, -9.81))
        system.add("arm", arm, joint=pl.Revolute(rate=SPEED))
        run = pl.simulate(system, 0.3, save=0.1)
        assert run.ledger.relative_error_max < 1e-7
        lost.append(sum(work[-1] for work in run.ledger.work.values()))
    assert lost[0] == pytest.approx(lost[1], rel=1e-4)
