"""Two spatial telescopic links of Korayem, Shafei, Dehkordi at a given state: M, velocity forces, gravity and elastic forces.

Three forms: consistent with exact tip rotation; consistent with 1 + skew(theta), differentiated; and as published.
"""

import json
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import pliant as pl
from pliant.codegen.tracer import Tracer
from pliant.dynamics import gibbs, gibbs_appell
from pliant.dynamics.loads import applied_forces
from pliant.dynamics.tree import build_tree

DATA = json.loads((Path(__file__).parent / "data" / "telescopic_two_link.json").read_text())
FORMS = {"consistent_exp": ("consistent", "exact"), "consistent_linE": ("consistent", "first-order"),
         "paper_gibbs_linE": ("as-published", "first-order")}  # fmt: skip
NONE = (0.0, 0.0, 0.0)


def arm(form, tip_rotation, gravity=NONE):
    section = pl.Section(A=3.6482e-4, Iz=1.1772e-8, Iy=1.1772e-8)
    modes = [pl.Modes("cf", 1, normalise="length"), pl.Modes("cf", 1, plane="z", normalise="length")]
    link = pl.TelescopicBeam(length=1.0, section=section, material=pl.Material(E=2e11, G=77e9), mass_per_length=2.0,
                             torsion_inertia=1e-300, modes=modes, extension=0.5, on_sleeve_end="continue", form=form,
                             tip_rotation=tip_rotation)  # fmt: skip
    system = pl.System("two links", gravity)
    first = system.add("first", link, joint=pl.Revolute())
    system.add("second", link, joint=pl.Revolute(), on=first.tip.turned(np.pi / 2, "x"))
    return system


def at_state(expressions, tracer, q_column, v_column):
    f = ca.Function("f", [q_column, v_column], [tracer.column(expressions)])
    return np.array(f(DATA["Q"], DATA["Qdot"])).ravel()


@pytest.mark.parametrize("name", FORMS)
def test_mass_matrix_and_velocity_forces_to_1e_9(name):
    tree, tracer = build_tree(arm(*FORMS[name])), Tracer()
    q_column, q = tracer.symbols("q", 8)
    v_column, v = tracer.symbols("v", 8)
    if name == "consistent_linE":  # what no recursion gives: 1 + skew is no rotation
        mass, bias = gibbs.equations(tree, q, v, tracer)
    else:
        mass, bias = gibbs_appell.mass_matrix(tree, q), gibbs_appell.inverse_dynamics(tree, q, v, [0.0] * 8)
    found = at_state([x for row in mass for x in row] + bias, tracer, q_column, v_column)
    wanted = np.array(DATA[name]["M"])
    assert found[:64].reshape(8, 8) == pytest.approx(wanted, abs=1e-9 * np.max(np.abs(wanted)))
    assert found[64:] == pytest.approx(DATA[name]["h_velocity"], abs=1e-9 * np.max(np.abs(DATA[name]["h_velocity"])))


@pytest.mark.parametrize(("key", "gravity"), [("gravity_minusY", (0, -10, 0)), ("gravity_minusZ", (0, 0, -10))])
@pytest.mark.parametrize("name", ["consistent_exp", "paper_gibbs_linE"])
def test_gravity_and_elastic_forces_to_1e_9(name, key, gravity):
    system = arm(*FORMS[name], gravity)
    tree, tracer = build_tree(system), Tracer()
    q_column, q = tracer.symbols("q", 8)
    v_column, v = tracer.symbols("v", 8)
    still = [0.0] * 8
    weight = at_state(gibbs_appell.inverse_dynamics(tree, q, still, still), tracer, q_column, v_column)
    assert weight == pytest.approx(DATA[name][key], abs=1e-9 * np.max(np.abs(DATA[name][key])))
    elastic = at_state([-t for t in applied_forces(system, tree, q, v, lambda s: s).tau], tracer, q_column, v_column)
    assert elastic == pytest.approx(DATA[name]["elastic"], abs=1e-9 * np.max(np.abs(DATA[name]["elastic"])))


def test_the_differentiated_gibbs_function_agrees_with_the_recursion():
    tree, tracer = build_tree(arm("consistent", "exact")), Tracer()
    q_column, q = tracer.symbols("q", 8)
    v_column, v = tracer.symbols("v", 8)
    mass, bias = gibbs.equations(tree, q, v, tracer)
    recursion = gibbs_appell.inverse_dynamics(tree, q, v, [0.0] * 8)
    found = at_state([*bias, *recursion], tracer, q_column, v_column)
    assert found[:8] == pytest.approx(found[8:], abs=1e-11 * np.max(np.abs(found)))
    assert len(mass) == 8
