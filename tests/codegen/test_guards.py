"""Guards: what vanishes while they are idle is left out, and nobody sees a difference but the clock."""

import itertools
from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

import pliant as pl
from mechanisms import planar_chain
from pliant.codegen.fuse import fuse
from pliant.codegen.guards import ALL_IDLE, ALWAYS, MOST_SEPARATE, guard_bit, guarded
from pliant.codegen.llvm import compile_function
from pliant.codegen.program import read_program
from pliant.codegen.rolled import SHORTEST, RolledLoop
from pliant.codegen.schedule import make_schedule
from pliant.ensemble.lockstep.stages import START_BIT
from pliant.gallery.falling_chain import falling_chain
from pliant.model.friction_law import FRICTION_LAWS
from pliant.trace.tracing import trace
from registered import FRICTION

RUBBISH = (0.0, np.nan, np.inf, 1e300, 2e5)


def program_of(build, n_y, n_p, guards):
    t, y, p = ca.SX.sym("t"), ca.SX.sym("y", n_y), ca.SX.sym("p", n_p)
    f = ca.Function("f", [t, y, p], [ca.densify(ca.vertcat(*build(t, y, p)))])
    return replace(read_program(f), guards=tuple(guards))


def after(code, filling, y, p):
    """out(t, y, p) where work and out held `filling` before."""
    work, out = np.full(max(code.n_work, 1), filling), np.full(code.n_out, filling)
    code._function(0.3, y.ctypes.data, p.ctypes.data, out.ctypes.data, work.ctypes.data)
    return out


def assert_guards_change_nothing(program, flags, states, p, **options):
    """Bits where no guard is idle; else values, for the sign of a zero may be another. Whatever lay in work before."""
    code, plain = (compile_function(program, cache=None, guard=guard, **options) for guard in (True, False))
    for y, chosen in itertools.product(states, flags):
        p[list(program.guards)] = chosen
        expected = plain(0.3, y, p)
        assert np.all(np.isfinite(expected))
        for filling in RUBBISH:
            actual = after(code, filling, y, p)
            np.testing.assert_array_equal(actual, expected)
            if all(chosen):
                np.testing.assert_array_equal(actual.view(np.uint64), expected.view(np.uint64))


def every(count):
    return list(itertools.product((0.0, 1.0), repeat=count))


def touching(t, y, p):
    """Forces of three pairs on one recursion; each has angles and kinematics of its own, and all have some in common."""
    angle, common = y[0] + y[1], ca.cos(y[0] + y[1]) * y[2]
    inertia = 2.0 + ca.cos(y[0]) * ca.sin(y[1])
    forces, powers = [], []
    for k in range(3):
        normal = ca.sin(angle + (k + 1) * y[2]) + common
        depth = ca.fmax(-normal * y[3], 0.0)
        force = ca.if_else(p[k] > 0.5, (k + 2.0) * depth**1.5 + ca.cos(y[k]), 0.0)
        forces += [force * normal, force * ca.cos(normal)]
        powers.append(y[1] + force * ca.sin((k + 5) * y[3]))  # a sine that matters only while the force does
    load = y[1] * inertia
    for force in forces:
        load = load + force * (1.0 + ca.tanh(load))  # as a sweep over bodies: each force after what came of the one before
    return [load / inertia, inertia * forces[0] + load, *powers, y[0], ca.sin(angle)]


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_guards_change_no_result(size):
    program = program_of(touching, 4, 3, [0, 1, 2])
    states = np.random.default_rng(size).normal(size=(5, 4))
    assert_guards_change_nothing(program, every(3), states, np.zeros(3), chunk_size=size)


def selected(flag, value):
    return ca.SX.binary(ca.OP_IF_ELSE_ZERO, flag > 0.5, value)


OPERATIONS = (
    lambda a, b, c, flag: a + b,
    lambda a, b, c, flag: a - b,
    lambda a, b, c, flag: a * b,
    lambda a, b, c, flag: a * b + c,
    lambda a, b, c, flag: ca.sin(a),
    lambda a, b, c, flag: ca.cos(a),
    lambda a, b, c, flag: ca.fmax(a, b),
    lambda a, b, c, flag: a / (1.5 + ca.sin(b)),
    lambda a, b, c, flag: ca.tanh(a * b),
    lambda a, b, c, flag: selected(flag, a),
    lambda a, b, c, flag: selected(flag, ca.tanh(a)) * b + c,
)


def random_function(rng, guards, length):
    """A random graph over sines, products, sums and selections by flags; what is new is read sooner."""

    def build(t, y, p):
        values = [*ca.vertsplit(y), t, ca.SX(0.5), p[guards]]
        for _ in range(length):
            a, b, c = (values[-1 - int(k)] for k in rng.exponential(0.3 * len(values), 3).clip(0, len(values) - 1))
            values.append(ca.tanh(OPERATIONS[rng.integers(len(OPERATIONS))](a, b, c, p[rng.integers(guards)])))
        return [values[k] for k in rng.choice(len(values), 8)] + values[-3:]

    return build


@pytest.mark.parametrize("seed", range(40))
def test_guards_change_no_result_of_random_functions(seed):
    rng = np.random.default_rng(seed)
    guards = int(rng.integers(1, 4))
    program = program_of(random_function(rng, guards, int(rng.integers(20, 150))), 4, guards + 1, range(guards))
    y, p = rng.uniform(-0.5, 0.5, 4), np.full(guards + 1, 0.3)
    assert_guards_change_nothing(program, every(guards), [y], p, chunk_size=int(rng.choice([5, 1000])))


def test_what_is_left_out_is_not_computed():
    """The logarithm of a negative number would spoil what is multiplied by zero."""

    def build(t, y, p):
        force = selected(p[0], y[0])
        return [y[1] + force * ca.log(y[2]), y[1] * y[1] + selected(p[1], y[0]) * ca.sqrt(y[2])]

    code = compile_function(program_of(build, 3, 2, [0, 1]), cache=None)
    np.testing.assert_array_equal(code(0.0, [2.0, 3.0, -1.0], [0.0, 0.0]), [3.0, 9.0])
    np.testing.assert_array_equal(code(0.0, [2.0, 3.0, -1.0], [1.0, 0.0]), [np.nan, 9.0])
    np.testing.assert_array_equal(code(0.0, [2.0, 3.0, -1.0], [0.0, 1.0]), [3.0, np.nan])


def test_a_flag_that_is_not_zero_is_not_idle():
    """A guard only says when nothing can come of it; what the flag does is the function's own affair."""
    program = program_of(lambda t, y, p: [selected(p[0], y[0]), p[0] * y[0]], 1, 1, [0])
    code = compile_function(program, cache=None)
    np.testing.assert_array_equal(code(0.0, [3.0], [0.25]), [0.0, 0.75])


def test_each_guard_leaves_out_its_own_and_all_together_what_they_share():
    program = program_of(touching, 4, 3, [0, 1, 2])
    fuse(program)
    masks = {mask for mask, kind in zip(guarded(program), program.kind, strict=True) if kind >= 0}
    assert {ALWAYS, ALL_IDLE, ALL_IDLE | 2, ALL_IDLE | 4, ALL_IDLE | 8} <= masks


def test_in_programs_with_loops_guards_are_taken_together():
    program = long_chain(30)
    assert program.operations >= SHORTEST
    assert {mask for mask, kind in zip(guarded(program), program.kind, strict=True) if kind >= 0} == {ALWAYS, ALL_IDLE}


def test_sines_that_only_guarded_values_need_are_left_out_of_the_batch():
    batch = make_schedule(program_of(touching, 4, 3, [0, 1, 2]), 1000).batch
    assert (batch.always, batch.padded) == (4, 12)


def test_without_guards_there_is_one_block_and_nothing_is_branched_around():
    for program in (program_of(touching, 4, 3, []), program_of(lambda t, y, p: [ca.sin(y[0]) * p[0]], 1, 1, [])):
        schedule = make_schedule(program, 1000)
        assert [block.guards for block in schedule.before + schedule.after] == [ALWAYS, ALWAYS]
        assert not any(block.zeros_in_work or block.zeros_in_out for block in schedule.before + schedule.after)


def long_chain(n):
    """A recursion long enough for loops, with a force on every link."""

    def build(t, y, p):
        x, place, outputs = y[0], y[1], []
        for k in range(n):
            place = place + ca.sin(y[2 * k]) * y[2 * k + 1]
            force = selected(p[k], ca.sqrt(place * place + 0.1) * ca.cos(y[2 * k] + y[2 * k + 1]))
            for _ in range(20):
                x = 0.5 * x * ca.cos(y[2 * k]) + y[2 * k + 1] * x / (2.0 + x * x) + 0.1 * force
            outputs += [x, force]
        return outputs

    return program_of(build, 2 * n, n, range(n))


@pytest.mark.parametrize("links", [30, MOST_SEPARATE + 8])
def test_guards_change_no_result_of_loops(links):
    program = long_chain(links)
    loops = [piece for block in make_schedule(program, 1000).after for piece in block.pieces if isinstance(piece, RolledLoop)]
    assert loops
    rng = np.random.default_rng(links)
    flags = [np.zeros(links), np.ones(links), np.eye(links)[0], np.eye(links)[links // 2], rng.integers(0, 2, links) * 1.0]
    assert_guards_change_nothing(program, flags, [rng.normal(size=2 * links)], np.zeros(links))


def sliding_block(friction):
    """A block with two corners on a plane, and a ball beside it that both may meet."""
    system = pl.System("block", gravity=(0, -9.81))
    block = system.add("block", pl.RigidBody(mass=1.0, inertia=0.01), joint=pl.Planar(position=(0.0, 0.05)))
    ball = system.add("ball", pl.RigidBody(mass=0.5, inertia=0.01), joint=pl.Planar(position=(0.3, 0.1)))
    corners = [block.at((x, -0.05)) for x in (-0.1, 0.1)]
    normal = pl.HuntCrossley(stiffness=1e6, restitution=0.5)
    system.contact(points=corners, against=pl.Plane(normal=(0, 1)), normal=normal, friction=friction)
    system.contact(points=pl.Sphere(block.root, 0.05), against=pl.Sphere(ball.root, 0.02), normal=normal, friction=friction)
    return system


def assert_guards_change_no_function(traced):
    closed = [slots.closed for slots in traced.pairs]
    rng = np.random.default_rng(3)
    for function in traced.functions.values():
        program = replace(function.program(), guards=tuple(closed))
        y = np.resize(traced.y0, program.n_y) + rng.uniform(-0.3, 0.3, program.n_y)
        assert_guards_change_nothing(program, every(len(closed)), [y], traced.parameters(0.0, 1.0))


@pytest.mark.parametrize("build", [falling_chain, planar_chain], ids=lambda build: build.__name__)
def test_guards_change_no_function_of_a_mechanism(build):
    assert_guards_change_no_function(trace(build()))


@pytest.mark.parametrize("law", FRICTION_LAWS, ids=lambda law: law.__name__)
def test_guards_change_no_function_whatever_the_friction_law(law):
    assert_guards_change_no_function(trace(sliding_block(FRICTION[law])))


def test_the_forces_of_a_chain_are_left_out_in_flight():
    """Half of its operations, and 10 of its 13 sines and cosines."""
    traced = trace(falling_chain())
    program = traced.functions["rhs"].program()
    assert list(program.guards) == [slots.closed for slots in traced.pairs]
    left_out = sum(1 for mask, kind in zip(guarded(program), program.kind, strict=True) if kind >= 0 and mask)
    assert left_out > 0.4 * program.operations
    assert make_schedule(program, 1000).batch.always == 4


def test_any_number_of_guards_has_bits_below_that_of_a_start() -> None:
    bits = [guard_bit(k) for k in range(200)]
    assert len(set(bits[:MOST_SEPARATE])) == MOST_SEPARATE and max(bits) < START_BIT
