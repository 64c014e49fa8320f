"""Runs by parameters are runs with plain numbers: the same code, the same steps, the same bits."""

from __future__ import annotations

import gc
import os
import weakref
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, is_dataclass, replace
from pathlib import Path

import numpy as np
import pytest

import pliant as pl
from pliant.gallery.representative import REPRESENTATIVES
from pliant.model.parameter import TiedFloat
from pliant.run import prepare
from pliant.run.recent import Recent

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("**/*.yaml"))
FIELDS = 10  # of every system
FACTORS = (1.01, 0.98, 1.0371)
ROUGH = pl.RKF45(rtol=1e-5, atol=1e-8)


# ---- parts with one number changed, by the way to it


def ways_to_numbers(x, way=()):
    """The way to every number that a user could have given another value."""
    if type(x) in (float, TiedFloat):
        if x not in (0.0, 1.0, -1.0):
            yield way
    elif isinstance(x, Mapping):
        for key, value in x.items():
            yield from ways_to_numbers(value, (*way, key))
    elif isinstance(x, (tuple, list)):
        for key, value in enumerate(x):
            yield from ways_to_numbers(value, (*way, key))
    elif is_dataclass(x) and (not callable(x) or hasattr(x, "piece")):  # formulas are functions; so are tables, of numbers
        for field in fields(x):
            if field.name not in ("breakpoints", "times"):
                yield from ways_to_numbers(getattr(x, field.name), (*way, field.name))


def at(x, way):
    for key in way:
        x = getattr(x, key) if is_dataclass(x) else x[key]
    return x


def changed(x, way, value):
    """A copy with another value at the end of the way; parts are made again by their own constructors."""
    if not way:
        return value
    key, *rest = way
    if isinstance(x, Mapping):
        return {**x, key: changed(x[key], rest, value)}
    if isinstance(x, (tuple, list)):
        return type(x)(changed(item, rest, value) if k == key else item for k, item in enumerate(x))
    own = {field.name: getattr(x, field.name) for field in fields(x)}
    own[key] = changed(own[key], rest, value)
    made = type(x)(**{field.name: own[field.name] for field in fields(x) if field.init})
    for field in fields(x):
        if not field.init:
            object.__setattr__(made, field.name, own[field.name])
    return made


def changeable(system, rng):
    """Ten ways to numbers, of as many kinds of parts as there are, that may take other values."""
    ways, kinds = list(ways_to_numbers(system)), {}
    rng.shuffle(ways)
    for way in ways:
        owner = [at(system, way[:k]) for k in range(len(way) + 1)]
        part = [type(x).__name__ for x in owner if is_dataclass(x)][-1]
        name = [key for key in way if isinstance(key, str)][-1]
        kinds.setdefault((part, name), []).append(way)
    orders = [ways.pop() for _ in range(FIELDS) for ways in kinds.values() if ways]
    found = []
    for way in orders:
        try:
            for factor in FACTORS:
                changed(system, way, at(system, way) * factor)
        except pl.ModelError:
            continue  # no such value is allowed
        found.append(way)
        if len(found) == FIELDS:
            return found
    return found


SYSTEMS = {one.name: (one.build, one.t_end / 20.0) for one in REPRESENTATIVES}
SYSTEMS |= {path.stem: (lambda path=path: example(path), 0.02) for path in EXAMPLES if "materials" not in path.stem}


def example(path):
    """The System of a file; a motion whose efforts drive it ends soon after the run."""
    system = pl.load_model(path).system
    if system.problem is not None:
        system.problem = replace(system.problem, t_end=0.05)
    return system


@pytest.mark.parametrize(("build", "t_end"), SYSTEMS.values(), ids=SYSTEMS)
def test_a_run_by_a_parameter_is_the_run_with_the_number(build, t_end):
    system, rng = build(), np.random.default_rng(3)
    ways = changeable(system, rng)
    assert len(ways) == FIELDS
    for way in ways if system.problem is None else ways[:3]:  # inverse dynamics come before every run
        value = at(system, way)
        named = changed(system, way, pl.Parameter("changed", float(value)))
        assert "changed" in named.parameters
        for factor in FACTORS:
            plain = outcome(changed(system, way, float(value) * factor), t_end)
            by_name = outcome(named, t_end, parameters={"changed": float(value) * factor})
            assert same(plain, by_name), (way, factor)


def outcome(system, t_end, **options):
    """The coordinates of a run, or why there is none."""
    try:
        run = pl.simulate(system, t_end, method=ROUGH, save=[t_end], **options)
    except pl.PliantError as trouble:
        return str(trouble)
    return run.stats["steps"], run.values["q"], run.values["v"], run.values["work"]


def same(a, b):
    if isinstance(a, str) or isinstance(b, str):
        return a == b
    return a[0] == b[0] and all(np.allclose(x, y, rtol=1e-13, atol=1e-300) for x, y in zip(a[1:], b[1:], strict=True))


# ---- one mechanism written with parameters wherever they may stand


def arm(mass, length, modulus, stiffness, gravity, gain, angle, restitution, mu, bend, radius):
    system = pl.System("arm", gravity=(0, -gravity))
    section = pl.Section.rectangle(0.02, radius)
    material = pl.Material(E=modulus, density=2700.0, nu=0.3)
    beam = pl.Beam(length=length, section=section, material=material, payload=pl.Payload(mass=mass), theory="euler-bernoulli",
                   modes=pl.Modes("cf", 2), damping=pl.KelvinVoigt(1e6))  # fmt: skip
    turning = pl.Revolute(angle=angle, spring=pl.Spring(stiffness, 0.1 * angle))
    upper = system.add("upper", beam, joint=turning, initial={"y1": bend})
    on = upper.tip.moved((0.05 * length, 0.0)).turned(0.1 * angle)
    lower = system.add("lower", pl.RigidBody.rod(length / 2, 2.0 * mass), joint=pl.Revolute(), on=on)
    system.drive("motor", "lower.angle", lambda t, q, v: -gain * q["lower.angle"] + pl.sin(gain * t))
    law = pl.Exact(stiffness=pl.hertz_stiffness(radius, pl.STEEL), restitution=restitution)
    plane = pl.Plane(normal=(0.1 * gain, 1), point=(0, -0.9 * length))
    system.contact(points=pl.Sphere(lower.tip, radius), against=plane, normal=law, friction=pl.Ambrosio(mu=mu, v0=1e-4, v1=1e-3))
    system.force("pull", upper.at(0.4 * length), (mass, 0.0, 0.0), expressed="body")
    return system


VALUES = {"mass": 0.3, "length": 0.8, "modulus": 7e10, "stiffness": 2.0, "gravity": 9.81, "gain": 5.0, "angle": 0.2,
          "restitution": 0.6, "mu": 0.2, "bend": 0.001, "radius": 0.01}  # fmt: skip


@pytest.fixture(scope="module")
def named():
    return arm(**{name: pl.Parameter(name, value) for name, value in VALUES.items()})


@pytest.mark.parametrize("name", VALUES)
def test_a_parameter_reaches_whatever_is_made_of_it(named, name):
    for factor in (1.0, 0.9, 1.15):
        given = {name: VALUES[name] * factor}
        plain, by_name = outcome(arm(**{**VALUES, **given}), 0.3), outcome(named, 0.3, parameters=given)
        assert same(plain, by_name)


def test_all_parameters_are_listed(named):
    assert set(named.parameters) == set(VALUES)
    assert {name: parameter.value for name, parameter in named.parameters.items()} == VALUES


def test_systems_of_one_structure_are_traced_once(named, monkeypatch):
    from pliant.trace import tracing

    pl.compile_system(named)
    monkeypatch.setattr(tracing, "trace_lowered", lambda *_: pytest.fail("traced again"))
    for k in range(5):
        given = {"mass": 0.31 + 0.01 * k, "length": 0.71 + 0.1 * k, "gain": 4.1 + k, "mu": 0.11 + 0.02 * k}
        pl.compile_system(named, parameters=given)


def test_a_formula_that_reads_what_may_change_is_traced_again():
    box = {"torque": 1.0}

    def build():
        system = pl.System("wheel", gravity=(0, 0))
        system.add("wheel", pl.RigidBody(mass=1.0, inertia=0.5), joint=pl.Revolute())
        system.drive("motor", "wheel.angle", lambda t, q, v: box["torque"])
        return system

    first = pl.simulate(build(), 1.0)["wheel.angle"][-1]
    box["torque"] = 3.0
    assert pl.simulate(build(), 1.0)["wheel.angle"][-1] == pytest.approx(3.0 * first, rel=1e-9)


def test_a_global_that_a_formula_reads_is_part_of_it():
    space = {"pl": pl, "torque": 1.0}
    exec("def effort(t, q, v): return torque + 0.0 * t", space)

    def build():
        system = pl.System("wheel", gravity=(0, 0))
        system.add("wheel", pl.RigidBody(mass=1.0, inertia=0.5), joint=pl.Revolute())
        system.drive("motor", "wheel.angle", space["effort"])
        return system

    first = pl.simulate(build(), 1.0)["wheel.angle"][-1]
    space["torque"] = 3.0
    assert pl.simulate(build(), 1.0)["wheel.angle"][-1] == pytest.approx(3.0 * first, rel=1e-9)


def test_formulas_that_read_different_parameters_of_one_value_are_different():
    def build(which):
        a, b = pl.Parameter("a", 0.6), pl.Parameter("b", 0.6)
        body = pl.RigidBody(mass=a, inertia=b)
        read = {"a": body.mass, "b": body.inertia[2][2], "2 a": 2.0 * body.mass, "plain": 0.6}[which]
        system = pl.System("wheel", gravity=(0, 0))
        system.add("wheel", body, joint=pl.Revolute())
        system.drive("motor", "wheel.angle", lambda t, q, v: read + 0.0 * t)
        return system

    given = {"a": 0.3, "b": 0.9}
    turned = {which: pl.simulate(build(which), 1.0, parameters=given)["wheel.angle"][-1] for which in ("a", "b", "2 a", "plain")}
    assert turned == pytest.approx({"a": 0.5 / 3.0, "b": 0.5, "2 a": 1.0 / 3.0, "plain": 1.0 / 3.0}, rel=1e-9)


def test_a_law_of_ones_own_reads_parameters_where_it_meets_numbers_of_the_model():
    """Its elastic part is asked for at the law's entry floor, a number of the model; through floats that parts hold, too."""

    def build(stiffness, loss):
        held = pl.Spring(loss).stiffness  # a float that knows where it comes from, or a plain one
        law = pl.CustomNormal(lambda depth, rate, entry: stiffness * depth * (1.0 + loss * rate / entry + 0.1 * held * entry),
                              energy=lambda depth: 0.5 * stiffness * depth**2)  # fmt: skip
        system = pl.System("ball", gravity=(0, -9.81))
        ball = system.add("ball", pl.RigidBody(mass=1.0), joint=pl.Prismatic(axis="y", displacement=0.01))
        system.contact(points=ball.root, against=pl.Plane(normal=(0, 1)), normal=law)
        return system

    tied = build(pl.Parameter("stiffness", 2e5), pl.Parameter("loss", 0.2))
    for given in ({"stiffness": 3e5}, {"loss": 0.35}):
        values = {"stiffness": 2e5, "loss": 0.2, **given}
        plain, by_name = pl.simulate(build(**values), 0.2, save=0.01), pl.simulate(tied, 0.2, save=0.01, parameters=given)
        assert plain.values["q"] == pytest.approx(by_name.values["q"], rel=1e-9, abs=1e-12)
        assert plain.values["contact"] == pytest.approx(by_name.values["contact"], rel=1e-6, abs=1e-9)


# ---- what is refused


@pytest.mark.parametrize(("given", "words"), [
    ({"mas": 0.3}, ["parameters", "must name one of", "did you mean 'mass'", "'mas'"]),
    ({"mass": -1.0}, ["mass", "must be", "-1.0"]),
    ({"restitution": 1.5}, ["Exact", "restitution", "must be", "1.5"]),
    ({"length": float("nan")}, ["parameter 'length'", "finite", "nan"]),
])  # fmt: skip
def test_a_wrong_value_gets_the_message_of_the_field(named, given, words):
    with pytest.raises(pl.ModelError) as trouble:
        pl.simulate(named, 0.1, parameters=given)
    assert all(word in str(trouble.value) for word in words)


def test_bounds_are_kept():
    with pytest.raises(pl.ModelError, match=r"parameter 'mass'.*must be >= 0.1 kg"):
        pl.Parameter("mass", 0.05, "kg", low=0.1)


@pytest.mark.parametrize("make", [
    lambda p: pl.Modes("cf", p),
    lambda p: pl.System("s", gravity=(0, 0)).add(p, pl.RigidBody(mass=1.0), joint=pl.Weld()),
    lambda p: pl.Modes(p, 2),
])  # fmt: skip
def test_what_decides_the_structure_cannot_be_a_parameter(make):
    with pytest.raises(pl.ModelError, match="determines the structure"):
        make(pl.Parameter("p", 2.0))


def test_two_parameters_of_one_name_must_be_one():
    system = pl.System("s", gravity=(0, -pl.Parameter("g", 9.81)))
    system.add("a", pl.RigidBody(mass=pl.Parameter("g", 2.0)), joint=pl.Prismatic())
    with pytest.raises(pl.ModelError, match=r"parameter 'g'.*must be unique"):
        pl.simulate(system, 0.1)


def test_a_parameter_is_no_number_by_accident():
    mass = pl.Parameter("mass", 2.0)
    with pytest.raises(TypeError, match="is not a number"):
        float(mass)
    with pytest.raises(TypeError, match="has no truth value"):
        bool(mass)


# ---- many threads on one Compiled


def test_threads_on_one_compiled_system_give_the_bits_of_one_thread(named):
    compiled = pl.compile_system(named)

    def run(k):
        result = pl.simulate(compiled, 0.05 + 0.0005 * k, method=ROUGH, save=[0.05])
        return result.values["q"].tobytes() + result.values["work"].tobytes() + result.final_state.y.tobytes()

    alone = [run(k) for k in range(200)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(run, range(200))) == alone


def bar(**more) -> pl.System:
    system = pl.System("bar", gravity=(0, -9.81))
    beam = pl.Beam(length=0.8, section=pl.Section.rectangle(0.02, 0.01), material=pl.STEEL, theory="euler-bernoulli",
                   modes=pl.Modes("cf", 2), **more)  # fmt: skip
    system.add("bar", beam, joint=pl.Revolute(angle=0.3))
    return system


def test_a_payload_may_weigh_nothing():
    """As a parameter from 0 kg on, it must be able to."""
    none = pl.simulate(bar(), 0.05, method=ROUGH, save=0.01)
    zero = pl.simulate(bar(payload=pl.Payload(mass=0.0)), 0.05, method=ROUGH, save=0.01)
    named = bar(payload=pl.Payload(mass=pl.Parameter("load", 0.3, "kg", low=0.0)))
    named = pl.simulate(named, 0.05, method=ROUGH, save=0.01, parameters={"load": 0.0})
    assert none.values["q"] == pytest.approx(zero.values["q"], rel=1e-9, abs=1e-12)
    assert none.values["q"] == pytest.approx(named.values["q"], rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("ratios", [lambda x: x, lambda x: (x, 0.02)], ids=["one", "each"])
def test_a_modal_damping_may_be_a_parameter(ratios):
    plain = pl.simulate(bar(damping=pl.ModalDamping(ratios(0.03))), 0.05, method=ROUGH, save=0.01)
    named = bar(damping=pl.ModalDamping(ratios(pl.Parameter("ratio", 0.1))))
    named = pl.simulate(named, 0.05, method=ROUGH, save=0.01, parameters={"ratio": 0.03})
    assert plain.values["q"] == pytest.approx(named.values["q"], rel=1e-9, abs=1e-12)


def test_structures_are_forgotten_when_there_are_too_many():
    kept = Recent(10)
    for k in range(5):
        kept.put(k, k, size=4)
    assert [kept.get(k) for k in range(5)] == [[], [], [], [3], [4]]


def test_one_key_with_too_many_structures_forgets_the_oldest():
    kept = Recent(10)
    for k in range(5):
        kept.put("a", k, size=4)
    assert kept.get("a") == [4, 3]


def test_machine_code_of_formulas_with_other_constants_is_bounded_and_can_be_freed(monkeypatch):
    def turning(torque: float) -> pl.Compiled:
        system = pl.System("wheel", gravity=(0, 0))
        system.add("wheel", pl.RigidBody(mass=1.0, inertia=0.1), joint=pl.Revolute())
        system.drive("drive", "wheel.angle", lambda t, q, v: torque * pl.sin(t))
        return pl.compile_system(system)

    monkeypatch.setattr(prepare, "STRUCTURES", Recent(prepare.MOST_OPERATIONS // 100))
    used = turning(1.0)
    structures = [weakref.ref(turning(1.0 + 0.125 * k).structure) for k in range(1, 5)]
    gc.collect()
    assert sum(structure() is not None for structure in structures) < 2
    pl.clear_compiled()
    gc.collect()
    assert not any(structure() for structure in structures)
    assert pl.simulate(used, 0.1).ok  # what is in use stays


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork")
def test_a_fork_does_not_wait_for_a_thread_that_is_not_there():
    kept = Recent(10)
    kept.put("a", 1, size=1)
    with kept._lock:
        child = os.fork()
        if child == 0:
            os._exit(0 if kept.get("a") == [] else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert kept.get("a") == [1]
