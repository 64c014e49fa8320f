"""Every registered law of contact at rest: its force carries the weight, and its slopes are finite."""

import numpy as np
import pytest

import pliant as pl
from pliant.model.friction_law import FRICTION_LAWS
from pliant.model.normal_law import NORMAL_LAWS
from registered import FRICTION, NORMAL, Impact

G, MASS = 9.81, 2.0
LINEAR = pl.Linear(stiffness=1e5, damping=100.0)


def block(normal, friction=None):
    """A ball on springs along the floor that it rests on, in space."""
    system = pl.System("block", gravity=(0, 0, -G))
    springs = {"x": pl.Spring(200.0), "y": pl.Spring(200.0), "rotation": pl.Spring(50.0)}
    joint = pl.Free(position=(0, 0, 0.06), spring=springs)
    body = system.add("block", pl.RigidBody(mass=MASS, inertia=(0.1, 0.1, 0.1)), joint=joint)
    system.contact(points=pl.Sphere(body.root, 0.05), against=pl.Plane(normal=(0, 0, 1)), normal=normal, friction=friction)
    return system


@pytest.mark.parametrize("kind", NORMAL_LAWS, ids=lambda kind: kind.__name__)
def test_a_normal_law_at_rest_carries_the_weight_on_its_own_depth(kind):
    law = kind(**NORMAL[kind](Impact()))
    rest = pl.equilibrium(block(law))
    (contact,) = rest.contacts.values()
    assert contact.closed and contact.force == pytest.approx(MASS * G, rel=1e-9)
    assert law.force(-contact.gap, 0.0, law.entry_floor) == pytest.approx(MASS * G, rel=1e-9)
    linear = pl.linearise(block(law), at=rest)
    k = linear.coordinates.index("block.z")
    step = 1e-4 * -contact.gap
    slope = (law.force(-contact.gap + step, 0.0, 1.0) - law.force(-contact.gap - step, 0.0, 1.0)) / (2.0 * step)
    assert linear.K[k, k] == pytest.approx(slope, rel=1e-6)


@pytest.mark.parametrize("kind", FRICTION_LAWS, ids=lambda kind: kind.__name__)
def test_a_friction_law_at_rest_has_finite_slopes_alike_in_all_directions(kind):
    system = block(LINEAR, FRICTION[kind])
    rest = pl.equilibrium(system)
    linear = pl.linearise(system, at=rest)
    assert np.all(np.isfinite(linear.A)) and rest.stable is True
    x, y = (linear.coordinates.index(f"block.{axis}") if f"block.{axis}" in linear.coordinates else None for axis in "xy")
    if x is not None and y is not None:
        assert linear.damping[x, x] == pytest.approx(linear.damping[y, y], rel=1e-6)
        assert linear.damping[x, x] >= 0.0
