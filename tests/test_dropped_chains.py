"""Free elastic chains of 2 to 10 links, dropped at random angles: every joule is told, nothing falls through, nothing is lost."""

import math

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import pliant as pl
from pliant.model.contact import Plane
from pliant.model.friction_law import Ambrosio
from pliant.model.normal_law import HuGuo

HEIGHT = 0.2  # m, of the lowest end at the start
LINK = pl.Beam(length=1.0, mass_per_length=1.0, rotary_inertia=2.9473e-5, theory="timoshenko",
               section=pl.Section(A=3.75e-4, Iz=4.883e-9, shear_factor=5 / 6), material=pl.Material(E=2e11, G=7.7e10),
               modes=pl.Modes("ss", 1), damping=(pl.KelvinVoigt(125.0), pl.AirDrag(0.025)))  # fmt: skip

# Angles between links up to 60 degrees, the first link up to 45 degrees off the horizontal; rates of turn up to 0.2 rad/s
BENDS = st.floats(-math.pi / 3, math.pi / 3).map(lambda x: round(x, 6))
RATES = st.floats(-0.2, 0.2).map(lambda x: round(x, 6))


def dropped_chain(bends, rates):
    """A chain whose lowest end is HEIGHT above the floor, all of its ends ready to touch it."""
    headings = np.cumsum(bends)
    lowest = min(0.0, *np.cumsum(np.sin(headings)))
    system = pl.System("dropped chain", gravity=(0, -9.81))
    on = system.add("l0", LINK, joint=pl.Planar(position=(0, HEIGHT - lowest), angle=bends[0], rate=rates[0])).tip
    for k in range(1, len(bends)):
        on = system.add(f"l{k}", LINK, joint=pl.Revolute(angle=bends[k], rate=rates[k]), on=on).tip
    system.contact(points=system.ends(), against=Plane(normal=(0, 1)), normal=HuGuo(stiffness=140e6, restitution=0.8),
                   friction=Ambrosio(mu=0.1, v0=1e-3, v1=1e-2), name="floor")  # fmt: skip
    return system


@pytest.mark.parametrize("links", range(2, 11))
@settings(derandomize=True, max_examples=3, deadline=None, database=None, phases=(Phase.generate,))
@given(data=st.data())
def test_a_dropped_chain_accounts_for_every_joule_and_stays_above_the_floor(links, data):
    bends = data.draw(st.lists(BENDS, min_size=links, max_size=links))
    rates = data.draw(st.lists(RATES, min_size=links, max_size=links))
    bends[0] *= 0.75
    run = pl.simulate(dropped_chain(bends, rates), 0.5, method=pl.DOP853(rtol=1e-9, atol=1e-12), save=2e-3)
    assert run.ok
    for name, array in run.values.items():
        assert np.all(np.isfinite(array)), name
    assert len(run.contacts) >= 1
    assert len(run.values["gap"][0]) == links + 1
    assert -np.min(run.values["gap"]) < _depth(links, max(record.entry_speed for record in run.contacts))
    assert run.ledger.relative_error_max < 1e-7
    assert np.all(np.diff(run.ledger.energy) < 1e-7 * run.ledger.scale)  # nothing drives it


def _depth(mass, speed):
    """How deep the whole chain as one body would go: a link alone, 1 kg, 1.8 mm at 4 m/s. What falls through does not stop."""
    return (5.0 * mass * speed**2 / (4.0 * 140e6)) ** 0.4
