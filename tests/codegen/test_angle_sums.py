"""Sines of sums: as near to the truth as sines of their own are, but fewer of these."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

from pliant.codegen.angle_sums import MOST_ROUNDINGS, add_angles
from pliant.codegen.llvm import compile_function
from pliant.codegen.program import read_program
from pliant.codegen.reciprocals import share_reciprocals
from pliant.codegen.rolled import SHORTEST
from pliant.codegen.schedule import make_schedule
from pliant.gallery.falling_chain import falling_chain
from pliant.trace.tracing import trace

ROUNDING = 2.0**-53  # of a number up to 1


def program_of(build, n_y, n_p=0, guards=()):
    t, y, p = ca.SX.sym("t"), ca.SX.sym("y", n_y), ca.SX.sym("p", n_p)
    f = ca.Function("f", [t, y, p], [ca.densify(ca.vertcat(*build(t, y, p)))])
    return replace(read_program(f), guards=tuple(guards))


def sines(*angles):
    return [f(angle) for angle in angles for f in (ca.sin, ca.cos)]


def batched(program):
    """How many sines of their own are taken: always, and only while no guard is idle."""
    batch = make_schedule(program, 1000).batch
    always = sum(1 for place in batch.angles.values() if place < batch.always)
    return always, len(batch.angles) - always


def partial_sums(y, signs):
    sums = [y[0]]
    for k in range(1, signs.size):
        sums.append(sums[-1] + y[k] if signs[k] > 0 else sums[-1] - y[k])
    return sums


def truth(angles):
    """In more digits than doubles have."""
    exact = np.array(angles, dtype=np.longdouble)
    return np.stack([np.sin(exact), np.cos(exact)], axis=1).ravel()


@pytest.mark.parametrize("terms", [8, 9, 40])
def test_sines_of_sums_are_within_a_few_roundings_however_many_terms_they_have(terms):
    rng = np.random.default_rng(terms)
    signs = rng.choice([-1, 1], terms)
    program = program_of(lambda t, y, p: sines(*[y[k] for k in range(terms)], *partial_sums(y, signs)[1:]), terms)
    own, _ = batched(add_angles(program))
    assert own < 0.7 * batched(program)[0]
    code = compile_function(program, cache=None)
    for _ in range(300):
        y = np.round(rng.uniform(-4.0, 4.0, terms) * 2.0**40) / 2.0**40  # sums of these are exact
        error = np.abs(code(0.0, y, []) - truth([*y, *partial_sums(y, signs)[1:]]))
        assert np.max(error) <= MOST_ROUNDINGS * ROUNDING


def test_sums_of_three_are_made_of_sums_that_nobody_asks_for():
    def build(t, y, p):
        return sines(y[0], y[1], y[2], y[3], (y[0] + y[1]) + y[2], (y[0] + y[1]) - y[3], y[3] - (y[1] - y[2]), y[3] + y[0])

    program = program_of(build, 4)
    assert (batched(program)[0], batched(add_angles(program))[0]) == (8, 4)
    y = np.array([0.5, -1.25, 2.75, 0.125])
    sums = [y[0] + y[1] + y[2], y[0] + y[1] - y[3], y[3] - y[1] + y[2], y[3] + y[0]]
    actual = compile_function(program, cache=None)(0.0, y, [])
    np.testing.assert_allclose(actual, np.float64(truth([*y, *sums])), rtol=0.0, atol=MOST_ROUNDINGS * ROUNDING)


def test_nan_and_infinite_angles_give_nan():
    program = program_of(lambda t, y, p: sines(*[y[k] for k in range(4)], *[y[k] + y[3] for k in range(3)]), 4)
    assert batched(add_angles(program)) == (4, 0)
    code = compile_function(program, cache=None)
    for bad in (np.nan, np.inf):
        assert np.all(np.isnan(code(0.0, [0.1, 0.2, 0.3, bad], [])[6:]))
    large = np.array([1e6, -3e7, 2.0, 5e5])  # beyond the batch's own method
    expected = truth([*large, *(large[:3] + large[3])])
    np.testing.assert_allclose(code(0.0, large, []), np.float64(expected), rtol=0.0, atol=MOST_ROUNDINGS * ROUNDING)


def test_sums_that_are_read_otherwise_stay_and_others_go():
    kept = program_of(lambda t, y, p: [*sines(*[y[k] for k in range(4)], *[y[k] + y[3] for k in range(3)]), y[0] + y[3]], 4)
    added = add_angles(kept)
    assert added.kind.count(ca.OP_ADD) == 3 + 3 + 1 - 3  # three sines; sums of cosines are differences; one angle
    np.testing.assert_array_equal(compile_function(kept, cache=None)(0.0, [1.0, 0.0, 0.0, 0.5], [])[-1], 1.5)


def test_where_no_pass_of_the_batch_is_spared_nothing_changes():
    few = program_of(lambda t, y, p: sines(y[0], y[1], y[0] + y[1]), 2)
    assert add_angles(few) is few
    alone = program_of(lambda t, y, p: sines(*[y[k] + y[k + 1] for k in range(7)]), 8)
    assert add_angles(alone) is alone


def test_no_sine_is_taken_earlier_than_it_was():
    """A sum that is always asked for is not made of a sine that only a guarded value needs."""

    def build(t, y, p):
        some = sines(*[y[k] for k in range(4, 8)], *[y[4] + y[k] for k in range(4)])
        guarded = [ca.SX.binary(ca.OP_IF_ELSE_ZERO, p[0] > 0.5, x) for x in some]
        return [*sines(*[y[k] for k in range(4)], y[0] + y[5], y[1] + y[5], y[2] + y[5], y[3] + y[5]), *guarded]

    program = program_of(build, 8, 1, [0])
    assert batched(program) == (8, 8)
    assert batched(add_angles(program)) == (8, 4)
    assert batched(add_angles(replace(program, guards=()))) == (8, 0)


def test_the_falling_chain_takes_seven_sines_of_its_thirteen_and_three_in_flight():
    program = trace(falling_chain()).functions["rhs"].program()
    assert batched(program) == (3, 10)
    assert batched(add_angles(program)) == (3, 4)


def test_a_sine_counts_as_one_operation_however_it_is_made():
    program = trace(falling_chain()).functions["rhs"].program()
    assert compile_function(program, cache=None).operations == share_reciprocals(program).operations


def chain(links, sum_of):
    """A recursion over links, each with the sines of its own angle and of a sum."""

    def build(t, y, p):
        x, total, outputs = y[0], y[0], []
        for k in range(1, links):
            total = sum_of(total, y[k - 1], y[k])
            for _ in range(30):
                x = x * ca.cos(y[k]) + ca.sin(total) / (2.0 + x * x)
            outputs.append(x)
        return outputs

    return program_of(build, links)


def test_in_programs_with_loops_links_stay_alike():
    """Where the sums of a chain grow with it they keep sines of their own, so that a link can be written once."""
    growing, short = (lambda total, before, own: total + own), (lambda total, before, own: before + own)
    for program in (chain(20, growing), chain(20, short), chain(60, short)):
        assert batched(add_angles(program))[0] < 0.8 * batched(program)[0]
    long = chain(60, growing)
    assert long.operations >= SHORTEST
    assert add_angles(long) is long
