"""What repeats is written once, and computed to the last bit as if it were not."""

import casadi as ca
import numpy as np
import pytest

import pliant as pl
from pliant.codegen import rolled, schedule
from pliant.codegen.emit import emit
from pliant.codegen.fuse import fuse
from pliant.codegen.llvm import compile_function
from pliant.codegen.program import read_program
from pliant.codegen.reciprocals import share_reciprocals
from pliant.codegen.schedule import make_schedule
from pliant.trace.tracing import trace

STEEL = pl.Material(E=2e11, G=7.7e10)
SECTION = pl.Section(A=3.75e-4, Iz=4.883e-9, Iy=4.883e-9, J=8e-9, shear_factor=5 / 6)


@pytest.fixture(autouse=True)
def small_programs_too(monkeypatch):
    """Loops where a few dozen links repeat, so that tests are quick."""
    monkeypatch.setattr(schedule, "SHORTEST", 100)
    monkeypatch.setattr(rolled, "FEWEST_SAVED", 20)
    monkeypatch.setattr(rolled, "SMALLEST_BLOCK", 100)


def beam(length=1.0, modes=1, **options):
    return pl.Beam(length=length, mass_per_length=1.0, rotary_inertia=2.9e-5, section=SECTION, material=STEEL,
                   theory="timoshenko", modes=pl.Modes("ss", modes), **options)  # fmt: skip


def chain(bodies, joints=None):
    system = pl.System("chain", gravity=(0, -9.81))
    on = None
    for k, body in enumerate(bodies):
        on = system.add(f"link{k}", body, joint=joints(k) if joints else pl.Revolute(), on=on).tip
    return system


def two_kinds():
    link, other = beam(), beam(0.7, modes=2, damping=[pl.KelvinVoigt(125.0)])
    return chain([link] * 20 + [other] * 20)


def alternating():
    """Spatial: rigid bodies and beams by turns, about axes by turns."""
    rigid = pl.RigidBody(mass=1.0, inertia=(0.1, 0.2, 0.3), com=(0.5, 0.0, 0.0), tip=(1.0, 0.0, 0.0))
    link = beam()
    return chain([link, rigid] * 12, lambda k: pl.Revolute(axis="zy"[k % 2], angle=0.1))


def tapering():
    """The same operations with other constants in every link."""
    return chain([beam(1.0 - 0.01 * k) for k in range(30)])


def branched():
    """Three equal branches on a trunk."""
    link = beam()
    system = pl.System("tree", gravity=(0, -9.81))
    trunk = system.add("trunk", link, joint=pl.Planar())
    for branch in range(3):
        on = trunk.tip
        for k in range(20):
            on = system.add(f"branch{branch} {k}", link, joint=pl.Revolute(angle=0.2 * branch), on=on).tip
    return system


def on_the_floor():
    link = beam()
    system = chain([link] * 20)
    points = [system.handle(f"link{k}").tip for k in range(20)]
    system.contact(points=points, against=pl.Plane(point=(0, -0.2), normal=(0, 1)),
                   normal=pl.HuGuo(stiffness=140e6, restitution=0.8), friction=pl.Ambrosio(mu=0.1, v0=1e-4, v1=1e-3))  # fmt: skip
    return system


def sprung():
    """Joints with springs, dampers and stops."""
    stop = pl.Limits(low=-1.0, high=1.0, stiffness=1e3)
    system = chain([beam()] * 25, lambda k: pl.Revolute(spring=pl.Spring(10.0), damper=pl.Damper(0.1), limits=stop))
    return system


SYSTEMS = [two_kinds, alternating, tapering, branched, on_the_floor, sprung]


@pytest.mark.parametrize("build", SYSTEMS, ids=lambda build: build.__name__)
def test_loops_give_the_same_bits_as_straight_code(build):
    traced = trace(build())
    rng = np.random.default_rng(3)
    p = traced.parameters(0.0, 1.0)
    rolled_up = 0
    for function in traced.functions.values():
        straight, looped = (compile_function(function, cache=None, optimise=False, roll=roll) for roll in (False, True))
        rolled_up += len(scheduled(function).loops)
        for _ in range(3):
            y = 0.3 * rng.normal(size=straight.n_y)
            np.testing.assert_array_equal(looped(0.2, y, p), straight(0.2, y, p))
    assert rolled_up >= 3


def prepared(function):
    program = share_reciprocals(function.program() if hasattr(function, "program") else read_program(function))
    fuse(program)
    return program


def scheduled(function):
    return make_schedule(prepared(function), 1000)


@pytest.mark.parametrize("name", ["rhs", "observe"])
def test_a_longer_chain_of_equal_links_needs_no_more_code(name):
    """One kernel a kind of link: told by operations and lines, not by a clock."""
    lengths = (100, 200)
    programs = [prepared(trace(chain([beam()] * n)).functions[name]) for n in lengths]
    schedules = [make_schedule(program, 1000) for program in programs]
    (few, many), (written, written_too) = ([one.operations for one in programs], [one.written for one in schedules])
    lines, lines_too = (emit(p, s).count("\n") for p, s in zip(programs, schedules, strict=True))
    assert many > 1.95 * few
    assert written < 0.15 * few
    assert written_too - written < 0.02 * (many - few)
    assert lines_too - lines < 0.1 * (many - few)


def test_equal_branches_share_their_loops():
    program = prepared(trace(branched()).functions["rhs"])
    made = make_schedule(program, 1000)
    text = emit(program, made)
    assert text.count("call void @loop") == len(made.loops) > text.count("define internal void @loop")


def test_constants_that_differ_from_link_to_link_stand_in_a_table():
    function = trace(tapering()).functions["rhs"]
    assert any(loop.table for loop in scheduled(function.folded).loops)
    assert scheduled(function).loops  # numbers come by streams from p


STEPS = [
    lambda x, before, state, c, t, p: ca.sin(state) * x + c * before / (2.0 + x * x),
    lambda x, before, state, c, t, p: ca.fmin(x, c) - before * p[0] + state,
    lambda x, before, state, c, t, p: ca.if_else(x > before, ca.sqrt(1.0 + x * x), c * state) / (1.5 + ca.cos(before)),
    lambda x, before, state, c, t, p: x * before - state * t + ca.exp(-x * x) / (2.0 + x * x),
]


def random_function(seed):
    """Steps of a few kinds in stretches, reading what came before, states, parameters and values from anywhere."""
    rng = np.random.default_rng(seed)
    t, y, p = ca.SX.sym("t"), ca.SX.sym("y", 200), ca.SX.sym("p", 3)
    values = [y[0], y[1] * t]
    constants = rng.normal(size=len(STEPS))
    while len(values) < 160:
        kind, regular = int(rng.integers(len(STEPS))), rng.random() < 0.7
        for _ in range(rng.integers(1, 40)):
            back = 2 if regular else int(rng.integers(1, len(values) + 1))
            c = float(constants[kind]) if regular else float(rng.normal())
            state = y[len(values) if regular else int(rng.integers(200))]
            values.append(STEPS[kind](values[-1], values[-back], state, c, t, p))
    shown = range(len(values)) if seed % 2 else rng.integers(len(values), size=100).tolist()
    outputs = [*(values[k] for k in shown), *(y[k] for k in range(0, 200, 2)), *([0.5] * 60), *([t] * 40)]
    return ca.Function("f", [t, y, p], [ca.vertcat(*outputs)])


@pytest.mark.parametrize("seed", range(12))
def test_any_program_gives_the_same_bits(seed):
    f = random_function(seed)
    straight = compile_function(f, cache=None, optimise=False, roll=False)
    looped = compile_function(f, cache=None, optimise=False)
    rng = np.random.default_rng(seed)
    for _ in range(3):
        y, p = rng.normal(size=200), rng.normal(size=3)
        np.testing.assert_array_equal(looped(0.4, y, p), straight(0.4, y, p))
    assert len(scheduled(f).loops) >= 3
