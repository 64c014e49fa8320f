"""Every entry of a registry has an example that the contracts are run on, and no example is left of what has gone."""

import pytest

import registered
from pliant.integrate.methods.method import METHODS
from pliant.model.closure import CLOSURES
from pliant.model.damping import DAMPINGS
from pliant.model.friction_law import JOINT_FRICTION_LAWS
from pliant.model.joint import JOINTS
from pliant.model.modes import MODE_SETS
from pliant.model.normal_law import NORMAL_LAWS
from pliant.model.sensor import SENSORS
from pliant.model.system import BODIES

REGISTRIES = (
    (NORMAL_LAWS, registered.NORMAL),
    (JOINT_FRICTION_LAWS, registered.FRICTION),
    (JOINTS, registered.JOINT),
    (tuple(CLOSURES), registered.CLOSURE),
    (tuple(BODIES.values()), registered.BODIES),
    (DAMPINGS, registered.DAMPING),
    (MODE_SETS, registered.MODE_SET),
    (METHODS, registered.METHOD),
    (SENSORS, registered.SENSOR),
)


@pytest.mark.parametrize(("registry", "examples"), REGISTRIES, ids=[examples.table for _, examples in REGISTRIES])
def test_every_entry_has_an_example(registry, examples):
    for entry in registry:
        assert examples[entry] is not None
    assert len(set(registry)) == len(registry)
    assert set(examples) == set(registry), f"{examples.table} of tests/registered.py has examples of what is not registered"


def test_an_entry_without_an_example_is_told_where_to_put_one():
    with pytest.raises(AssertionError, match=r"^Newmark is registered but has no example: add one to METHOD"):
        registered.METHOD[type("Newmark", (), {})]
