"""Runs that the tests of pictures share: one with contact, one in space, one with a loop and a ball."""

import pytest

import mechanisms
import pliant as pl
from pliant.gallery.falling_chain import falling_chain
from pliant.gallery.slider_crank.system import slider_crank


@pytest.fixture(scope="session")
def chain():
    return pl.simulate(falling_chain(), 0.8, save=1e-3)


@pytest.fixture(scope="session")
def arm():
    return pl.simulate(mechanisms.spatial_arm(), 0.5, save=2e-3)


@pytest.fixture(scope="session")
def stressed(arm):
    """The arm with the stresses of its links."""
    return arm.with_sections(pl.stresses(arm))


@pytest.fixture(scope="session")
def crank():
    return pl.simulate(slider_crank(2, True), 0.045, save=5e-5)


@pytest.fixture(scope="session")
def controlled():
    """A rod with a state of its own and a sampled controller."""
    system = pl.System("rod", gravity=(0.0, 0.0))
    system.add("rod", pl.RigidBody.rod(length=1.0, mass=1.0), joint=pl.Revolute(angle=0.3))
    system.state("integral", rate=lambda t, q, v: q["rod.angle"])
    system.sampled("ctrl", 0.05, lambda t, q, v, measured, memory: -5.0 * q["rod.angle"] - v["rod.angle"], outputs="torque")
    system.drive("motor", "rod.angle", lambda t, q, v: q["ctrl.torque"])
    return pl.simulate(system, 1.0)


@pytest.fixture(scope="session")
def base():
    """A free body with a bent beam and a payload."""
    system = mechanisms.floating_base()
    system.force("push", system.handle("boom").at(0.25), (0.0, 20.0, 5.0))
    return pl.simulate(system, 0.3, save=2e-3)


@pytest.fixture(scope="session")
def corner():
    """Beams welded to each other at right angles."""
    return pl.simulate(mechanisms.corner(pl.Weld(), touching=False), 0.2, save=5e-4)


@pytest.fixture(scope="session")
def read_back(chain, tmp_path_factory):
    path = tmp_path_factory.mktemp("results") / "chain.nc"
    chain.to_netcdf(path)
    return pl.Result.from_netcdf(path)
