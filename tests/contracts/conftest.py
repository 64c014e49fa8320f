"""A run that has some of everything: what plots draw and results hold."""

import pytest

import mechanisms
import pliant as pl
from registered import BODY


def some_of_everything(motors=True):
    """A driven arm with an elastic link that a rope holds, a ball that falls onto the ground, a wheel that stops on its dry pin."""
    system = pl.System("some of everything", gravity=(0.0, -9.81))
    arm = system.add("arm", BODY, joint=pl.Revolute(damper=pl.Damper(0.1)))
    link = system.add("link", mechanisms.planar_link(1), joint=pl.Revolute(angle=0.4, spring=pl.Spring(5.0)), on=arm.tip)
    ball = system.add("ball", BODY, joint=pl.Planar(position=(2.0, 0.12), velocity=(0.5, -1.0)))
    dry = pl.JointFriction(pl.DryFriction(mu_static=0.5, mu_kinetic=0.4), radius=0.1, preload=500.0)
    wheel = pl.RigidBody(mass=1.0, inertia=0.1)
    system.add("wheel", wheel, joint=pl.Revolute(rate=1.0, friction=dry), on=system.ground.moved((3.0, 1.0)))
    system.drive("motor", "arm.angle", 2.0)
    system.state("travel", rate=lambda t, q, v: v["arm.angle"], start=1.0)
    system.close("rope", "distance", link.tip, system.ground, length=1.1)
    if motors:
        system.motor("hub", "arm.angle", pl.Motor(inertia=1e-4, ratio=10.0, constant=0.05, resistance=1.0), command=2.0)
    system.strut("jack", arm.tip, system.ground.moved((0.0, -0.5)), stiffness=20.0, rest=0.6, damping=0.5)
    system.contact(points=pl.Sphere(ball.root, 0.1), against=pl.Plane(normal="y"),
                   normal=pl.HuntCrossley(stiffness=1e5, restitution=0.7), friction=pl.Coulomb(mu=0.3))  # fmt: skip
    system.sensor.accelerometer(ball.root, "y", name="imu")
    system.sensor.gyro(link.tip, name="gyro", low_pass=20.0, gain=2.0)
    return system


@pytest.fixture(scope="session")
def everything():
    return some_of_everything()


@pytest.fixture(scope="session")
def result(everything):
    run = pl.simulate(everything, 0.1, save=1e-3)
    return run.with_sections(pl.stresses(run))


@pytest.fixture(scope="session")
def apart():
    """The same with joints apart from the tree, where no rotor can turn with one."""
    return pl.simulate(some_of_everything(motors=False), 0.02, save=1e-3, formulation="augmented")
