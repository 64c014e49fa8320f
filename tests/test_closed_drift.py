"""What a hundred thousand steps leave of closed loops and of their energy."""

import numpy as np
import pytest

import pliant as pl

STEPS = 100_000
STEP = 1e-4  # s
ROUND_OFF = 1e-14  # m: a few times the last digit of coordinates of order one


def rhombus(kind):
    """A swinging four-bar, or a ball on a rod of given length, on a body that turns in space."""
    if kind == "planar":
        system = pl.System("four-bar", gravity=(0, -9.81))
        rod = pl.RigidBody.rod(1.0, 1.0)
        first = system.add("first", rod, joint=pl.Revolute(angle=-1.2))
        coupler = system.add("coupler", rod, joint=pl.Revolute(angle=1.2), on=first.tip)
        last = system.add("last", rod, joint=pl.Revolute(angle=-1.0), on=system.ground.moved((1.2, 0.0)))
        system.close("pin", "point", coupler.tip, last.tip)
        return system
    system = pl.System("spatial", gravity=(0.5, -9.81, 0.3))
    body = pl.RigidBody(mass=1.0, inertia=(0.1, 0.2, 0.3), com=(0.1, 0.05, 0.0), tip=(0.5, 0.0, 0.0))
    arm = system.add("arm", body, joint=pl.Spherical(angular_velocity=(0.5, 0.4, 1.0)))
    other = system.add("other", body, joint=pl.Free(position=(0.5, 0.0, 0.0)))
    system.close("hinge", "revolute", other.root, arm.tip, axis="y")
    return system


@pytest.mark.parametrize("kind", ["planar", "spatial"])
def test_nothing_drifts_in_a_hundred_thousand_steps(kind):
    run = pl.simulate(rhombus(kind), STEPS * STEP, method=pl.RK4(step=STEP), save=np.arange(0, STEPS + 1, 1000) * STEP)
    assert run.ok
    assert run.stats["steps"] == pytest.approx(STEPS, rel=0.01)
    assert np.max(np.abs(run.values["constraint"])) < ROUND_OFF
    assert run.ledger.relative_error_max < 1e-10
