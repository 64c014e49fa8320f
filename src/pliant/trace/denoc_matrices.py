"""The matrices of the natural orthogonal complement as numbers, at one state of a System."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from pliant.arrays import Floats
from pliant.codegen.tracer import Scalar
from pliant.dynamics.closure_twists import TwistRow
from pliant.dynamics.denoc import Block, Complement, Natural, natural, numbers, size, wrenches
from pliant.dynamics.kinematics import poses
from pliant.dynamics.loads import AppliedForces
from pliant.dynamics.tree import Tree
from pliant.model.closure import Closure
from pliant.model.refused import refuse_friction
from pliant.model.system import System
from pliant.results.table import AXES
from pliant.trace.closures import Closures
from pliant.trace.tracing import Trace, check_formulation

OVER_TWISTS = ("N_l", "N_l_rate", "M", "H", "K")  # matrices whose columns are entries of twists
Choose = Callable[[Tree, Floats, Floats], tuple[Floats, Floats]]


@dataclass(frozen=True)
class Names:
    """Names of rows and columns."""

    positions: tuple[str, ...]  # of q
    coordinates: tuple[str, ...]  # of v: columns of N_d, I, C, A
    twist: tuple[str, ...]  # rows of N_l, M, H
    closures: tuple[str, ...]  # rows of A, K


def evaluate(system: System, t: float, choose: Choose) -> tuple[Names, dict[str, Floats]]:
    """All matrices at time t and at the state that `choose` returns for the tree and the assembled start."""
    refuse_friction(system, "the matrices of denoc")
    made = Trace(system, "denoc", t_start=t)
    for node in made.tree.nodes:
        check_formulation(node, "denoc")
    applied = made.acting()
    closures = made.close(AppliedForces([0.0] * len(made.tree.rates), []))
    of = natural(made.tree, made.q, made.v, made.tracer)
    matrices, vectors = _matrices(made, of, closures), _vectors(made, of, applied, closures)
    names = Names(made.tree.positions, made.tree.rates, _twist_names(made.tree), closures.acting_names)
    q, v = choose(made.tree, made.start_q, made.start_v)
    inputs = [made.t_column, made.state_column, made.p_column]
    flat = [[x for row in matrix for x in row] for matrix in matrices.values()] + list(vectors.values())
    function = ca.Function("natural", inputs, [made.tracer.column(entries) for entries in flat])
    values = function.call([t, np.concatenate([q[made.free_q], v[made.free_v]]), made.parameters(t)])
    found = {name: np.array(value).ravel() for name, value in zip([*matrices, *vectors], values, strict=True)}
    widths = {name: len(names.twist) if name in OVER_TWISTS else len(names.coordinates) for name in matrices}
    return names, {name: x.reshape(-1, widths[name]) if name in widths else x for name, x in found.items()}


def _twist_names(tree: Tree) -> tuple[str, ...]:
    found: list[str] = []
    for node in tree.nodes:
        frame = [f"{kind}_{axis}" for kind in ("omega", "v") for axis in AXES]
        found += [f"{node.name}.{name}" for name in (*frame, *node.link.own_labels)]
    return tuple(found)


def _matrices(made: Trace, of: Natural, closures: Closures) -> dict[str, list[list[Scalar]]]:
    tree = made.tree
    return {
        "N_l": _lower(tree, of.complement),
        "N_d": _diagonal(tree, of.complement),
        "N_l_rate": _lower(tree, of.rate),
        "N_d_rate": _diagonal(tree, of.rate),
        "M": _blocks(tree, of.M),
        "H": _blocks(tree, of.H),
        "I": of.I,
        "C": of.C,
        "A": [[row.get(k, 0.0) for k in range(len(tree.rates))] for row in closures.hard.jacobian + closures.soft.jacobian],
        "K": [_twist_row(tree, row) for row in made.twist_rows(closures)],
    }


def _vectors(made: Trace, of: Natural, applied: AppliedForces, closures: Closures) -> dict[str, list[Scalar]]:
    pushed = of.complement.project(wrenches(poses(made.tree, made.q), applied.loads))
    laws: list[Closure] = [closures.soft_closures[k] for k in closures.soft.owners]
    exact = [math.nan] * len(closures.hard.residual)
    return {
        "q": made.q,
        "v": made.v,
        "known": [made.known.get(k, math.nan) for k in range(len(made.tree.rates))],
        "gravity": of.gravity,
        "acting": [a + b for a, b in zip(applied.tau, pushed, strict=True)],
        "c": closures.hard.residual + closures.soft.residual,
        "c_rate": closures.hard.rate + closures.soft.rate,
        "gamma": closures.hard.gamma + closures.soft.gamma,
        "stiffness": exact + [law.stiffness for law in laws],
        "damping": exact + [law.damping for law in laws],
    }


def _starts(tree: Tree) -> list[int]:
    """The index at which each body's twist begins, followed by the total length."""
    widths = [size(node) for node in tree.nodes]
    return [sum(widths[:k]) for k in range(len(widths) + 1)]


def _lower(tree: Tree, of: Complement) -> Block:
    at = _starts(tree)
    whole: Block = [[0.0] * at[-1] for _ in range(at[-1])]
    for (i, j), block in of.lower.items():
        for r, row in enumerate(block):
            whole[at[i] + r][at[j] : at[j + 1]] = row
    return whole


def _diagonal(tree: Tree, of: Complement) -> Block:
    at = _starts(tree)
    whole: Block = [[0.0] * len(tree.rates) for _ in range(at[-1])]
    for i, (node, block) in enumerate(zip(tree.nodes, of.diagonal, strict=True)):
        for r, row in enumerate(block):
            for number, x in zip(numbers(node), row, strict=True):
                whole[at[i] + r][number] = x
    return whole


def _blocks(tree: Tree, blocks: Sequence[Block]) -> Block:
    at = _starts(tree)
    whole: Block = [[0.0] * at[-1] for _ in range(at[-1])]
    for i, block in enumerate(blocks):
        for r, row in enumerate(block):
            whole[at[i] + r][at[i] : at[i + 1]] = row
    return whole


def _twist_row(tree: Tree, row: TwistRow) -> list[Scalar]:
    at = _starts(tree)
    whole: list[Scalar] = [0.0] * at[-1]
    for k, entries in row.of.items():
        whole[at[k] : at[k + 1]] = entries
    return whole
