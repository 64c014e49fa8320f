"""Magnified deformation: what is clamped stays clamped, and what touches stays where it is."""

import numpy as np
import pytest

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
