"""Counts of operations: four forms of inverse dynamics that give the same efforts."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import pliant as pl
from pliant.dynamics import gibbs_appell, lagrange
from pliant.gallery.telescopic_arm.system import arms_in_line
from pliant.trace.tracing import Trace


def chain(count: int) -> pl.System:
    system, on = pl.System("chain", gravity=(0, 0, -9.81)), None
    link = pl.RigidBody(mass=1.0, inertia=(0.1, 0.2, 0.3), com=(0.2, 0.1, 0.05), tip=(0.5, 0.0, 0.0))
    for k in range(count):
        on = system.add(f"link{k}", link, joint=pl.Revolute(axis="zyx"[k % 3], angle=0.2 + k), on=on).tip
    return system


@pytest.mark.parametrize("system", [chain(4), arms_in_line(2)], ids=["rigid", "telescopic"])
def test_all_forms_give_the_same_efforts(system):
    made = Trace(system, "articulated")
    column, a = made.tracer.symbols("a", len(made.tree.rates))
    mass, bias = lagrange.equations(made.tree, made.q, made.v, made.tracer)
    rows = {
        "recursive": gibbs_appell.inverse_dynamics(made.tree, made.q, made.v, a),
        "Kane": gibbs_appell.kane(made.tree, made.q, made.v, a),
        "Lagrange": [h + sum(m * x for m, x in zip(row, a, strict=True)) for row, h in zip(mass, bias, strict=True)],
    }
    inputs = [made.t_column, ca.vertcat(made.state_column, column), made.p_column]
    state = np.random.default_rng(3).uniform(0.2, 0.6, made.state_column.numel() + len(a))
    found = {name: np.array(ca.Function("f", inputs, [made.tracer.column(x)])(0.0, state, made.parameters(0.0))).ravel()
             for name, x in rows.items()}  # fmt: skip
    assert np.max(np.abs(found["recursive"])) > 0.01
    for name in ("Kane", "Lagrange"):
        assert found[name] == pytest.approx(found["recursive"], rel=1e-10, abs=1e-10)


def test_recursions_grow_with_the_number_of_links_kane_faster_and_lagrange_fastest():
    few, many = pl.count_operations(chain(3)), pl.count_operations(chain(6))
    for counts in (few, many):
        assert counts["Gibbs-Appell"] < counts["Newton-Euler"] < counts["Lagrange"]
        assert counts["Gibbs-Appell"] < counts["Kane"] < counts["Lagrange"]
    growth = {form: many[form] / few[form] for form in few}
    assert growth["Gibbs-Appell"] < growth["Kane"] < growth["Lagrange"]


def test_terms_as_published_follow_from_no_energy_and_lagrange_is_not_counted():
    from pliant.gallery.telescopic_arm.system import telescopic_arm

    assert list(pl.count_operations(telescopic_arm("as-published"))) == ["Gibbs-Appell", "Newton-Euler", "Kane"]
