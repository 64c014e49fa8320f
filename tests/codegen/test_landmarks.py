"""Landmarks: where formulas of time may change is read from their operations, to the last digits and however long the run is."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np
import pytest

from pliant.codegen.landmarks import landmarks
from pliant.codegen.over_time import OverTime
from pliant.codegen.program import read_program

END = 1e4  # s


def found(formula: Callable[[Any, Any], Any], end: float = END) -> np.ndarray:
    """Landmarks of a formula of t and one parameter, which is 4321.5."""
    t, y, p = ca.SX.sym("t"), ca.SX.sym("y", 1), ca.SX.sym("p", 1)
    program = read_program(ca.Function("f", [t, y, p], [formula(t, p[0])]))
    return landmarks(OverTime(program, np.zeros(1), np.array([4321.5])), 0.0, end)


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        (lambda t, a: ca.if_else(t > a, 1.0, 0.0), [4321.5]),
        (lambda t, a: ca.if_else(ca.logic_and(t > a, t < a + 0.2), 1.0, 0.0), [4321.5, 4321.7]),
        (lambda t, a: ca.fmax(0.0, (t - a) / 1e-3) ** 2, [4321.5]),
        (lambda t, a: ca.fabs(2.0 * t - a), [2160.75]),
        (lambda t, a: ca.exp(-(((t - a) / 1e-5) ** 2)), [4321.5]),
        (lambda t, a: ca.exp(-1e12 * (t - a) ** 2), [4321.5]),
        (lambda t, a: 1.0 / (1.0 + ((t - a) * 1e6) ** 2), [4321.5]),
        (lambda t, a: ca.tanh((t - a) / 1e-4), [4321.5]),
        (lambda t, a: ca.fmax(0.0, 1e-4 - (t - a) ** 2), [4321.49, 4321.5, 4321.51]),
        (lambda t, a: ca.floor(t / 2500.0), [2500.0, 5000.0, 7500.0]),
        (lambda t, a: ca.if_else(ca.fmod(t, 4000.0) < 1e-3, 1.0, 0.0), [4000.0, 4000.001, 8000.0, 8000.001]),
        (lambda t, a: ca.if_else(ca.sin(2.0 * math.pi * t / END) > math.cos(1e-5), 1.0, 0.0),
         [END * (0.25 - 1e-5 / (2.0 * math.pi)), END * (0.25 + 1e-5 / (2.0 * math.pi))]),
    ],
)  # fmt: skip
def test_edges_and_centres_of_pulses_are_landmarks(formula: Any, expected: list[float]) -> None:
    marks = found(formula)
    for place in expected:
        assert np.min(np.abs(marks - place)) < 1e-8 * place


def test_a_sine_has_landmarks_at_quarters_of_its_period_also_if_its_frequency_changes() -> None:
    assert found(lambda t, a: ca.sin(math.pi * t), 2.0) == pytest.approx([0.0, 0.5, 1.0, 1.5, 2.0], abs=1e-12)
    swept = found(lambda t, a: ca.sin(t**2), 5.0)
    expected = np.sqrt(0.5 * math.pi * np.arange(math.floor(25.0 / (0.5 * math.pi)) + 1))
    assert np.max(np.min(np.abs(swept[None] - expected[:, None]), axis=1)) < 1e-9


def test_a_polynomial_and_a_vibration_have_none() -> None:
    """What is smooth needs none, and what changes all the time is sampled as a whole."""
    assert found(lambda t, a: 3.0 - t + a * t).size == 0
    assert found(lambda t, a: ca.sin(1e6 * t)).size == 0


@pytest.mark.parametrize(
    "formula",
    [
        lambda t, a: ca.sin(t * ca.log(-a)),
        lambda t, a: ca.fabs(t - 1e200 * a * 1e200),
        lambda t, a: ca.exp(t / (a - a)),
    ],
)
def test_numbers_that_are_not_finite_cause_no_trouble(formula: Any) -> None:
    assert np.all(np.isfinite(found(formula)))
