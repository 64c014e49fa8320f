"""Exact Jacobians of the right-hand sides of whole systems, against differences."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.codegen import jacobian
from pliant.gallery.falling_chain.system import falling_chain
from pliant.gallery.parallel_robot.system import parallel_robot
from pliant.gallery.representative import REPRESENTATIVES
from pliant.run.prepare import STRUCTURES, compile_system

every_system = pytest.mark.parametrize("build", [one.build for one in REPRESENTATIVES], ids=[one.name for one in REPRESENTATIVES])


def kernel_matrix(kernel, code, t, y, p, rows, n):
    """The rows of J and df/dt, through the machine code."""
    if not kernel.by_columns:
        out = code(t, y, p)
        return out[: rows * n].reshape(rows, n), out[rows * n :]
    columns = [code(t, np.concatenate([y, np.eye(n + 1)[j]]), p) for j in range(n + 1)]
    return np.stack(columns[:n], axis=1), columns[n]


def differences(rhs, t, y, p, n):
    columns = []
    for j in range(n):
        step = 1e-6 * max(1.0, abs(y[j]))
        ends = [rhs(t, y + sign * step * np.eye(y.size)[j], p) for sign in (1, -1)]
        columns.append((ends[0] - ends[1]) / (2.0 * step))
    return np.stack(columns, axis=1), (rhs(t + 1e-6, y, p) - rhs(t - 1e-6, y, p)) / 2e-6


@every_system
@pytest.mark.parametrize("by_columns", [False, True], ids=["whole", "by columns"])
def test_it_is_the_derivative_of_the_right_hand_side(build, by_columns, monkeypatch):
    if by_columns:
        monkeypatch.setattr(jacobian, "LARGEST_TRACED", 0)
    STRUCTURES.clear()  # kernels that were made otherwise
    compiled = compile_system(build())
    traced, n = compiled.traced, compiled.traced.n_controlled
    kernel = compiled.jacobian(True)
    assert kernel.by_columns is by_columns
    generator = np.random.default_rng(1)
    y = traced.y0 + np.concatenate([1e-3 * generator.standard_normal(n), np.zeros(traced.y0.size - n)])
    t, p = 0.01, traced.parameters(0.0, 1.0)
    found, in_time = kernel_matrix(kernel, kernel._code, t, y, p, y.size, n)
    expected, expected_in_time = differences(compiled.rhs, t, y, p, n)
    scale = np.abs(expected).max(axis=1, keepdims=True) + 1.0
    assert np.max(np.abs(found - expected) / scale) < 1e-6
    np.testing.assert_allclose(in_time, expected_in_time, atol=1e-5 * (1.0 + np.abs(expected_in_time).max()))


def test_a_closed_contact_is_differentiated_too():
    compiled = compile_system(falling_chain())
    traced, n = compiled.traced, compiled.traced.n_controlled
    p, y = traced.parameters(0.0, 1.0), traced.y0.copy()
    for slots in traced.pairs:
        p[slots.closed], p[slots.entry] = 1.0, 2.0
    y[list(traced.tree.positions).index("a.y")] = -1e-5  # pressed into the ground by its first end
    kernel = compiled.jacobian(True)
    found, _ = kernel_matrix(kernel, kernel._code, 0.0, y, p, y.size, n)
    step = 1e-9
    column = list(traced.tree.positions).index("a.y")
    ends = [compiled.rhs(0.0, y + sign * step * np.eye(y.size)[column], p) for sign in (1, -1)]
    expected = (ends[0] - ends[1]) / (2.0 * step)
    assert np.abs(expected).max() > 1e5
    np.testing.assert_allclose(found[:, column], expected, rtol=1e-4, atol=1e-3 * np.abs(expected).max())


def test_it_knows_which_coordinates_have_a_velocity_as_their_rate():
    kernel = compile_system(parallel_robot(1e5)).jacobian(False)
    assert kernel.rates == {k: k + 9 for k in range(9)}


def test_a_quaternion_is_no_such_coordinate():
    system = pl.System("top", gravity=(0, 0, -9.81))
    system.add("top", pl.RigidBody(mass=1.0, inertia=(0.1, 0.1, 0.2), com=(0, 0, 0.5)), joint=pl.Spherical())
    kernel = compile_system(system).jacobian(False)
    assert kernel.rates == {}
    assert pl.simulate(system, 0.5, method=pl.Radau9(rtol=1e-9, atol=1e-11)).ok
