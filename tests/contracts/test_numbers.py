"""What every registered part must satisfy: its numbers are data, read by the equations from the vector of numbers alone."""

import pytest

import pliant as pl
from changed_numbers import check_numbers_are_read
from pliant.model.closure import CLOSURES
from pliant.model.damping import DAMPINGS
from pliant.model.friction_law import FRICTION_LAWS
from pliant.model.joint import JOINTS
from pliant.model.modes import MODE_SETS
from pliant.model.normal_law import NORMAL_LAWS
from pliant.model.system import BODIES as REGISTERED
from registered import BODIES, BODY, DAMPING, FRICTION, JOINT, MODE_SET, held_by, made


def named(kind):
    return getattr(kind, "__name__", kind)


def pressed(normal, friction=None):
    """A body whose tip is a millimetre in the ground, sliding."""
    system = pl.System("pressed", gravity=(0.2, -9.81, 0.1))
    joint = pl.Free(position=(0.3, -0.051, 0.2), velocity=(0.4, -0.2, 0.1))
    body = system.add("body", BODY, joint=joint)
    system.contact(points=pl.Sphere(body.tip, 0.05), against=pl.Plane(normal=(0.1, 1.0, 0.05)), normal=normal, friction=friction)
    return system


@pytest.mark.parametrize("law", NORMAL_LAWS, ids=named)
def test_of_normal_laws(law):
    check_numbers_are_read(pressed(made(law, exponent=1.0) if law is pl.Linear else made(law)))


@pytest.mark.parametrize("law", FRICTION_LAWS, ids=named)
def test_of_friction_laws(law):
    check_numbers_are_read(pressed(pl.Hertz(stiffness=3e6), FRICTION[law]))


@pytest.mark.parametrize("kind", JOINTS, ids=named)
def test_of_joints(kind):
    system = pl.System("joint", gravity=(0.3, -9.81, 0.2))
    arm = system.add("arm", BODY, joint=pl.Revolute(angle=0.3, spring=pl.Spring(3.0, 0.2), damper=pl.Damper(0.4)))
    system.add("other", BODY, joint=JOINT[kind], on=arm.tip.moved((0.1, 0.02, 0.03)).turned(0.4, "x"))
    check_numbers_are_read(system)


@pytest.mark.parametrize("by", [{}, {"by": "springs", "stiffness": 2e4, "damping": 5.0}], ids=["multipliers", "springs"])
@pytest.mark.parametrize("kind", CLOSURES)
def test_of_closures(kind, by):
    check_numbers_are_read(held_by(kind, **by))


def beam(modes, damping=()):
    return pl.Beam(length=0.7, section=pl.Section.rectangle(0.02, 0.011), material=pl.STEEL, theory="euler-bernoulli", modes=modes,
                   damping=damping, payload=pl.Payload(mass=0.3))  # fmt: skip


def carried(body):
    system = pl.System("carried", gravity=(0.3, -9.81, 0.2))
    system.add("body", body, joint=pl.Revolute(angle=0.3, axis=(0.1, 0.2, 1.0)))
    return system


@pytest.mark.parametrize("kind", DAMPINGS, ids=named)
def test_of_dampings(kind):
    check_numbers_are_read(carried(beam(pl.Modes("cf", 2), DAMPING[kind])))


@pytest.mark.parametrize("kind", MODE_SETS, ids=named)
def test_of_mode_sets(kind):
    check_numbers_are_read(carried(beam(MODE_SET[kind](2))))


@pytest.mark.parametrize("kind", REGISTERED.values(), ids=named)
def test_of_bodies(kind):
    check_numbers_are_read(carried(BODIES[kind]))
