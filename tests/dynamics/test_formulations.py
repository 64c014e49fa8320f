"""Five derivations of the same equations, two of which differentiate energies only."""

from functools import cache

import casadi as ca
import numpy as np
import pytest

import mechanisms
from pliant.codegen.tracer import Tracer
from pliant.dynamics import gibbs_appell
from pliant.dynamics.loads import applied_forces
from pliant.dynamics.tree import build_tree
from pliant.model.signal import Constant
from pliant.trace.tracing import FORMULATIONS, trace

STATES = 5


@cache
def articulated(build):
    """The equations of a mechanism by the articulated recursion, which all tests compare with."""
    return trace(build(), "articulated")


def random_states(tree, seed=7):
    """Large joint motions, tip deflections of centimetres, rates of both."""
    rng = np.random.default_rng(seed)
    elastic = {k for node in tree.nodes for k in node.own_q}
    rates = {k for node in tree.nodes for k in node.own_v}
    for _ in range(STATES):
        q = np.array([rng.normal() * (0.05 if k in elastic else 1.0) for k in range(len(tree.positions))])
        v = np.array([rng.normal() * (0.5 if k in rates else 2.0) for k in range(len(tree.rates))])
        yield q, v


@pytest.mark.parametrize("build", mechanisms.ALL.values(), ids=mechanisms.ALL)
def test_accelerations_agree_to_1e_10(build):
    tracings = [articulated(build), *(trace(build(), formulation) for formulation in FORMULATIONS if formulation != "articulated")]
    tree = tracings[0].tree
    for q, v in random_states(tree):
        y = np.concatenate([q, v, np.zeros(len(tracings[0].sources))])
        found = [np.array(traced.rhs(0.4, y, traced.parameters(0.0, 1.0))).ravel()[len(q) : len(q) + len(v)] for traced in tracings]
        size = np.max(np.abs(found[0]))
        for other in found[1:]:
            assert np.max(np.abs(other - found[0])) < 1e-10 * size


@pytest.mark.parametrize("build", mechanisms.ALL.values(), ids=mechanisms.ALL)
def test_inverse_of_forward_is_the_identity_to_1e_10(build):
    """Efforts asked for -> accelerations by the articulated recursion -> efforts by the Gibbs-Appell recursion."""
    system = build()
    traced, tree = articulated(build), build_tree(system)
    tracer = Tracer()
    q_column, q = tracer.symbols("q", len(tree.positions))
    v_column, v = tracer.symbols("v", len(tree.rates))
    a_column, a = tracer.symbols("a", len(tree.rates))

    def read(signal):
        return signal.value if isinstance(signal, Constant) else 2.0 * np.sin(3.0 * 0.4)

    applied = applied_forces(system, tree, q, v, read)
    efforts = gibbs_appell.inverse_dynamics(tree, q, v, a, applied.loads)
    inverse = ca.Function("inverse", [q_column, v_column, a_column], [tracer.column(efforts), tracer.column(applied.tau)])
    for x, rates in random_states(tree, seed=11):
        y = np.concatenate([x, rates, np.zeros(len(traced.sources))])
        accelerations = np.array(traced.rhs(0.4, y, traced.parameters(0.0, 1.0))).ravel()[len(x) : len(x) + len(rates)]
        asked, given = (np.array(column).ravel() for column in inverse(x, rates, accelerations))
        assert np.max(np.abs(asked - given)) < 1e-10 * max(np.max(np.abs(given)), 1.0)


@pytest.mark.parametrize("build", mechanisms.ALL.values(), ids=mechanisms.ALL)
def test_the_mass_matrix_is_twice_the_kinetic_energy(build):
    system = build()
    tree = build_tree(system)
    tracer = Tracer()
    q_column, q = tracer.symbols("q", len(tree.positions))
    count = len(tree.rates)
    flat = [x for row in gibbs_appell.mass_matrix(tree, q) for x in row]
    matrix = ca.Function("M", [q_column], [tracer.column(flat)])
    traced = articulated(build)
    for x, rates in random_states(tree, seed=3):
        m = np.array(matrix(x)).reshape(count, count)
        kinetic = kinetic_of(traced, x, rates)
        assert 0.5 * rates @ m @ rates == pytest.approx(kinetic, rel=1e-12)
        assert np.min(np.linalg.eigvalsh(m)) > 0.0


def kinetic_of(traced, q, v):
    """The observed kinetic energy at a state, by its place in the table."""
    from pliant.results.table import OBSERVED, QUANTITIES

    offset = 0
    for name in OBSERVED[: OBSERVED.index("kinetic")]:
        offset += int(np.prod([len(traced.columns[d]) for d in QUANTITIES[name].dims]))
    y = np.concatenate([q, v, np.zeros(len(traced.sources))])
    return float(traced.observe(0.4, y, traced.parameters(0.0, 1.0))[offset])


def test_planar_chains_trace_no_spatial_operation():
    """Zeros of planar motion vanish: about a hundred operations a link, and linear growth."""
    counts = {n: trace(mechanisms.planar_chain(n, modes=1, ends="ss")).rhs.n_instructions() for n in (5, 10, 20)}
    assert counts[20] - counts[10] == 2 * (counts[10] - counts[5])
    assert (counts[20] - counts[10]) / 10 < 120
