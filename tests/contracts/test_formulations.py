"""What every registered formulation must satisfy: the same motion, forces and energies as the others."""

import numpy as np
import pytest

import mechanisms
import pliant as pl
from pliant.trace.tracing import AUGMENTED, FORMULATIONS
from registered import BODY

FIRST, *OTHERS = (*FORMULATIONS, AUGMENTED)
# what all of them observe; coordinates of the tree are none of the augmented ones
SAME = ("tip_position", "tip_velocity", "orientation", "kinetic", "strain", "spring", "momentum", "reaction_force", "multiplier")


def run(formulation):
    """A rigid arm that turns about two axes, a beam on a hinge with a spring and a damper, held by a rope."""
    system = pl.System("arm", gravity=(0.5, -9.81, 1.0))
    arm = system.add("arm", BODY, joint=pl.Universal(angles=(0.3, -0.2), rates=(1.0, 0.5)))
    joint = pl.Revolute(angle=0.4, spring=pl.Spring(20.0), damper=pl.Damper(0.3))
    boom = system.add("boom", mechanisms.planar_link(1), joint=joint, on=arm.tip.turned(0.5, "y"))
    system.close("rope", "distance", boom.tip, system.ground, length=0.8)
    return pl.simulate(system, 0.05, method=pl.DOP853(rtol=1e-11, atol=1e-13), save=0.01, formulation=formulation)


@pytest.fixture(scope="module")
def first():
    return run(FIRST)


@pytest.mark.parametrize("formulation", OTHERS)
def test_it_agrees_with_the_first(formulation, first):
    other = run(formulation)
    assert other.ok
    for name in SAME:
        size = max(float(np.max(np.abs(first.values[name]))), 1e-3)
        rows = -first.values[name].shape[-1] if name == "multiplier" else 0
        found = other.values[name][..., rows:] if rows else other.values[name]
        assert found == pytest.approx(first.values[name], abs=1e-7 * size), name
    assert other.ledger.relative_error_max < 1e-8
    assert other.stats["degrees_of_freedom"] == first.stats["degrees_of_freedom"]


def test_one_that_is_not_registered_is_refused_by_name():
    with pytest.raises(pl.ModelError, match=f"formulation must be one of {', '.join((FIRST, *OTHERS))}, got 'newton'"):
        run("newton")
