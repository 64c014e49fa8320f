"""Magnified deformation: what is clamped stays clamped, and what touches stays where it is."""

import numpy as np
import pytest

import mechanisms
import pliant as pl
from pliant.show.scene import Scene


@pytest.fixture(scope="module")
def bent():
    """A clamped beam that leans on the ground at its tip, bent by a force in the middle."""
    system = pl.System("bent", gravity=(0.0, 0.0))
    beam = pl.Beam(length=1.0, section=pl.Section.rectangle(0.02, 0.01), material=pl.STEEL, theory="euler-bernoulli",
                   modes=pl.Modes("cf", 3), damping=(pl.KelvinVoigt(1e8),))  # fmt: skip
    arm = system.add("arm", beam, joint=pl.Weld())
    system.contact(points=arm.tip, against=pl.Plane(normal=(0.0, 1.0), point=(0.0, -0.004)), name="ground",
                   normal=pl.HuntCrossley(stiffness=1e6, exponent=1.5, restitution=0.5))  # fmt: skip
    system.force("push", arm.at(0.6), (0.0, -60.0))
    return pl.simulate(system, 0.3, save=0.01)


@pytest.mark.parametrize("scale", [1.0, 5.0, 40.0])
def test_a_clamped_root_stays_clamped_and_the_tip_that_touches_stays(bent, scale):
    true, drawn = (Scene(bent, factor).positions(np.array([0.3]))[0][0] for factor in (1.0, scale))
    line = np.argsort(true[:, 0])
    x, y = true[line, 0], drawn[line, 1]
    bend = np.max(np.abs(true[:, 1]))
    assert bend > 1e-3
    assert np.abs(y[-1] - true[line[-1], 1]) < 1e-9  # the tip
    # a root at an angle a would lift the second station by a x; a clamped one by less than kappa x^2
    assert np.abs(y[1]) < 8.0 * scale * bend * (x[1] / x[-1]) ** 2


def test_deformation_is_magnified_all_the_same(bent):
    true, drawn = (Scene(bent, factor).positions(np.array([0.3]))[0][0][:, 1] for factor in (1.0, 20.0))
    assert np.max(np.abs(drawn)) > 1.5 * np.max(np.abs(true))


def _corner(joint, *, touching):
    return pl.simulate(mechanisms.corner(joint, touching=touching), 0.2, save=0.01)


def _angle_at_the_tip(drawn):
    """Between the arm where it ends and the bracket's rod, rad."""
    arm, bracket = drawn[0][0], drawn[1][0]
    along = arm[1] - arm[np.argsort(arm[:, 0])[-2]]
    across = bracket[1] - bracket[0]
    return np.arctan2(*(np.cross(along, across)[2], along @ across))


@pytest.mark.parametrize("touching", [False, True])
def test_what_is_welded_to_a_magnified_tip_keeps_its_angle_and_what_touches_stays(touching):
    result = _corner(pl.Weld(), touching=touching)
    assert bool(result.contacts) == touching
    true, drawn = (Scene(result, factor).positions(np.array([0.2])) for factor in (1.0, 20.0))
    assert np.max(np.abs(drawn[0] - true[0])) > 0.02
    # the last piece of the drawn line is half a piece short of the tip, where a bend of some 1 rad/m turns it on by 0.02 rad
    assert _angle_at_the_tip(drawn) == pytest.approx(_angle_at_the_tip(true), abs=0.03)
    joint = drawn[2][0][0] - drawn[1][0][1]  # the hand stands on the bracket
    assert np.allclose(joint, true[2][0][0] - true[1][0][1], atol=1e-12)
    once, more = (np.linalg.norm(points[1][0, 1] - points[1][0, 0]) for points in (true, drawn))
    assert more == pytest.approx(once, rel=1e-12)  # what is rigid stays as long as it is
    if touching:
        assert np.allclose(drawn[2][0][1], true[2][0][1], atol=1e-12)


def test_what_hangs_on_a_magnified_tip_by_a_hinge_keeps_its_own_angle():
    result = _corner(pl.Revolute(), touching=False)
    true, drawn = (Scene(result, factor).positions(np.array([0.2])) for factor in (1.0, 20.0))
    assert np.allclose(drawn[1][0][1] - drawn[1][0][0], true[1][0][1] - true[1][0][0], atol=1e-12)


def test_segments_of_a_magnified_beam_have_no_corners():
    strip = pl.Beam(length=1.0, section=pl.Section.rectangle(height=0.002, width=0.02), material=pl.STEEL, theory="euler-bernoulli",
                    modes=pl.Modes("cf", 2))  # fmt: skip
    system = pl.System("strip", gravity=(0.0, -9.81))
    system.add("strip", pl.segmented(strip, 4), joint=pl.Weld())
    result = pl.simulate(system, 0.1, save=0.01)
    points = np.concatenate([p[0][np.argsort(p[0][:, 0])] for p in Scene(result, 10.0).positions(np.array([0.1]))])
    steps = np.diff(points, axis=0)
    steps = steps[np.linalg.norm(steps, axis=1) > 1e-9]  # a segment begins where the last one ends
    angle = np.unwrap(np.arctan2(steps[:, 1], steps[:, 0]))
    assert abs(angle[-1]) > 0.3
    assert np.max(np.abs(np.diff(angle))) < 3.0 * abs(angle[-1]) / len(angle)
