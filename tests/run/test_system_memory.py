"""What runs of one System leave for the next: never more than what is still so."""

from __future__ import annotations

import gc
import weakref
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

import mechanisms
import pliant as pl
from pliant.gallery.representative import REPRESENTATIVES
from pliant.run.by_identity import ByIdentity
from pliant.run.prepare import compile_system
from pliant.run.system_memory import _MEMORIES
from pliant.trace import tracing
from pliant.trace.tracing import lower_system

METHOD = pl.RKF45(rtol=1e-6, atol=1e-9)
SYSTEMS = {**mechanisms.ALL, **{one.name: one.build for one in REPRESENTATIVES}}


def beam(modulus=7e10, modes=None):
    material, modes = pl.Material(E=modulus, density=2700.0, nu=0.3), modes or pl.Modes("cf", 1, static=False)
    return pl.Beam(length=0.8, section=pl.Section.rectangle(0.02, 0.01), material=material, theory="euler-bernoulli", modes=modes,
                   damping=pl.KelvinVoigt(1e6))  # fmt: skip


def arm(body, angle=0.3, gravity=9.81, stiffness=2.0):
    system = pl.System("arm", gravity=(0, -gravity))
    system.add("arm", body, joint=pl.Revolute(angle=angle, spring=pl.Spring(stiffness)), initial={"y1": 0.001})
    return system


def end(system, **parameters):
    run = pl.simulate(system, 0.1, method=METHOD, save=[0.1], parameters=parameters or None)
    assert run.ok
    return np.concatenate([run.values["q"][0], run.values["v"][0]]).tolist()


def is_remembered(system):
    memory = _MEMORIES.get(system)
    return memory is not None and bool(memory.readings and memory.readings.readings)


@pytest.fixture
def known():
    """A System that ran three times."""
    system = arm(beam())
    for _ in range(3):
        end(system)
    assert is_remembered(system)
    return system


# ---- a System that changes between two runs


def test_a_part_that_is_added_takes_part(known):
    def load(system):
        system.force("push", system.handle("arm").tip, (0.0, 3.0, 0.0))
        return system

    before = end(known)
    assert end(load(known)) == end(load(arm(beam()))) != before


def test_a_part_that_is_exchanged_or_taken_away_is_not_the_old_one(known):
    link = known.links["arm"]
    known.links["arm"] = replace(link, joint=replace(link.joint, angle=0.9))
    assert end(known) == end(arm(beam(), angle=0.9))
    known.drive("motor", "arm.angle", 1.0)
    driven = end(known)
    del known.drives["motor"]
    assert end(known) == end(arm(beam(), angle=0.9)) != driven


def test_gravity_may_change_and_be_a_list_that_is_written_to(known):
    known.gravity = [0.0, -1.62, 0.0]
    assert end(known) == end(arm(beam(), gravity=1.62))
    known.gravity[1] = -3.7
    assert end(known) == end(arm(beam(), gravity=3.7))


def test_a_mapping_in_a_part_that_is_written_to_is_read_again(known):
    known.links["arm"].initial["y1"] = 0.004
    fresh = arm(beam())
    fresh.links["arm"].initial["y1"] = 0.004
    assert end(known) == end(fresh) != end(arm(beam()))


# ---- what formulas read


def test_a_list_that_a_formula_reads_is_read_again():
    torques = [1.0]

    def driven(torque):
        system = arm(beam())
        system.drive("motor", "arm.angle", lambda t, q, v: torque[0] + 0.0 * t)
        return system

    system = driven(torques)
    for torque in (1.0, 2.0, 3.0, 4.0):
        torques[0] = torque
        assert end(system) == end(driven([torque]))


def test_a_parameter_that_a_formula_comes_to_read_is_found():
    box = {"gain": 2.0}
    system = arm(beam())
    system.drive("motor", "arm.angle", lambda t, q, v: box["gain"] + 0.0 * t)
    for _ in range(3):
        end(system)
    box["gain"] = pl.Parameter("gain", 5.0)
    plain = end(system, gain=7.0)
    box["gain"] = 7.0
    assert plain == pytest.approx(end(system), rel=1e-12)


def test_a_shape_that_reads_what_changes_is_integrated_again():
    power = [2.0]

    def built():
        n = power
        shape = pl.ShapeFunction(
            lambda x: x ** n[0], lambda x: n[0] * x ** (n[0] - 1.0), lambda x: n[0] * (n[0] - 1.0) * x ** (n[0] - 2.0)
        )
        return arm(beam(modes=pl.GivenModes([shape])))

    system, ends = built(), []
    for power[0] in (2.0, 2.0, 2.0, 3.0):
        assert end(system) == end(built())
        ends.append(end(system))
    assert ends[2] != ends[3]


# ---- parameters


def test_a_parameter_of_two_systems_has_its_value_in_each():
    stiffness = pl.Parameter("stiffness", 2.0)
    systems = [arm(beam(), stiffness=stiffness), arm(beam(modes=pl.Modes("cf", 2)), stiffness=stiffness)]
    plain = [lambda k: arm(beam(), stiffness=k), lambda k: arm(beam(modes=pl.Modes("cf", 2)), stiffness=k)]
    for value in (2.0, 3.0, 2.0, 4.0, 4.0):
        for system, build in zip(systems, plain, strict=True):
            assert end(system, stiffness=value) == pytest.approx(end(build(value)), rel=1e-12)


def test_numbers_that_are_set_back_are_those_of_before():
    system = arm(beam(pl.Parameter("modulus", 7e10)), stiffness=pl.Parameter("stiffness", 2.0))
    values = [(7e10, 2.0), (9e10, 2.0), (9e10, 3.0), (7e10, 3.0), (7e10, 2.0), (9e10, 2.0), (7e10, 2.0)]
    for modulus, stiffness in values:
        plain = end(arm(beam(modulus), stiffness=stiffness))
        assert end(system, modulus=modulus, stiffness=stiffness) == pytest.approx(plain, rel=1e-12)


def test_a_beam_that_two_links_share_stays_one_when_only_one_of_them_changes(monkeypatch):
    """Else the numbers of two beams would be another structure, to be compiled."""
    shared = beam(pl.Parameter("modulus", 7e10))
    system = pl.System("two", gravity=(0, -9.81))
    upper = system.add("upper", shared, joint=pl.Revolute(angle=0.1, spring=pl.Spring(pl.Parameter("first", 2.0))))
    system.add("lower", shared, joint=pl.Revolute(angle=0.1, spring=pl.Spring(pl.Parameter("second", 3.0))), on=upper.tip)
    for _ in range(3):
        compile_system(system)
    monkeypatch.setattr(tracing, "trace_lowered", lambda *_: pytest.fail("traced again"))
    for given in ({"first": 4.0}, {"second": 5.0}, {"modulus": 8e10}, {"first": 2.5, "modulus": 8e10}):
        bodies = [link.body for link in compile_system(system, parameters=given).traced.system.links.values()]
        assert bodies[0] is bodies[1]
        assert given.get("modulus", 7e10) == bodies[0].material.E


def test_threads_with_numbers_of_their_own_get_their_own_runs():
    system = arm(beam(pl.Parameter("modulus", 7e10)), stiffness=pl.Parameter("stiffness", 2.0))
    values = [{"modulus": 7e10 + 1e9 * (k % 3), "stiffness": 2.0 + 0.1 * (k % 4)} for k in range(60)]
    alone = [end(system, **given) for given in values]
    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(lambda given: end(system, **given), values)) == alone


# ---- structure and numbers, by what is remembered and without


@pytest.mark.parametrize("build", SYSTEMS.values(), ids=SYSTEMS)
def test_what_is_remembered_of_a_system_is_what_is_read_of_it(build):
    system = build()
    first = compile_system(system, still=True)
    for _ in range(2):
        compile_system(system, still=True)
    lowered = lower_system(build(), still=True).lowered
    memory = _MEMORIES.get(system)
    again = lower_system(system, still=True, known=memory.tree)
    again = replace(again, readings=memory.readings).lowered
    assert again.structure == lowered.structure and again.numbers == lowered.numbers
    assert first.traced.parameters(0.0, 1.0).tobytes() == compile_system(system, still=True).traced.parameters(0.0, 1.0).tobytes()


# ---- the life of what is remembered


def test_a_system_that_is_gone_is_forgotten():
    system = arm(beam())
    for _ in range(3):
        end(system)
    gone, known = weakref.ref(system), len(_MEMORIES._known)
    del system
    gc.collect()
    assert gone() is None and len(_MEMORIES._known) < known


def test_an_object_at_the_place_of_another_is_not_taken_for_it():
    class Thing:
        pass

    known, thing, other = ByIdentity(), Thing(), Thing()
    known.put(thing, "thing")
    known._known[id(other)] = known._known[id(thing)]  # as if it stood where the other one stood
    assert known.get(other) is None and known.get(thing) == "thing"


def test_systems_made_one_after_the_other_are_not_mixed_up():
    """Python gives new objects the identities of those that are gone."""
    for k in range(20):
        stiffness = 1.0 + 0.1 * k
        system = arm(beam(), stiffness=stiffness)
        assert len({tuple(end(system)) for _ in range(3)}) == 1
        assert end(system) == end(arm(beam(), stiffness=stiffness))
