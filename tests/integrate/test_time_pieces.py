"""Pieces of time on which functions of time are nearly cubics: none for what is smooth, short ones where something happens."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.integrate.time_pieces import SAMPLES, TOLERANCE, time_pieces


def bump(t: np.ndarray, at: float, width: float) -> np.ndarray:
    return np.sin(np.pi * np.clip((t - at) / width, 0.0, 1.0)) ** 2


def test_a_cubic_has_no_pieces() -> None:
    """Nor have constants and formulas outside their domain, which are told of when they are used."""
    with np.errstate(invalid="ignore"):
        found = time_pieces(lambda t: np.array([3.0 - t + 0.1 * t**3, 0.0 * t + 7.0, np.sqrt(t - 1.0)]), 0.0, 2.0)
    assert found.knots.size == 0 and found.resolved


@pytest.mark.parametrize("share", [2.0 / SAMPLES, 1e-3, 1e-2])
@pytest.mark.parametrize("at", [0.1, 1.2345, 1.9])
def test_a_pulse_of_any_width_is_cut_into_pieces_and_the_rest_is_not(share: float, at: float) -> None:
    width = 2.0 * share
    found = time_pieces(lambda t: bump(t, at, width)[None], 0.0, 2.0)
    assert found.resolved
    assert np.count_nonzero((found.knots > at) & (found.knots < at + width)) >= 3
    assert found.knots.size < 150
    for a, b in zip(found.knots, found.knots[1:], strict=False):  # a piece is a cubic, but for the corners of the pulse
        x = np.linspace(a, b, 50)
        off = bump(x, at, width) - np.polyval(np.polyfit(x - a, bump(x, at, width), 3), x - a)
        assert np.max(np.abs(off)) < 10.0 * TOLERANCE or b - a < 2.0 / SAMPLES


def test_a_sine_has_pieces_of_a_fourth_to_an_eighth_of_its_period() -> None:
    found = time_pieces(lambda t: np.sin(2.0 * np.pi * t)[None], 0.0, 8.0)
    assert np.min(np.diff(found.knots)) > 1.0 / 9.0 and np.max(np.diff(found.knots)) < 1.0 / 3.0


def test_what_repeats_with_the_samples_does_not_look_constant() -> None:
    for many in (SAMPLES, SAMPLES // 2, SAMPLES // 8):
        found = time_pieces(lambda t, many=many: np.sin(2.0 * np.pi * many * t)[None], 0.0, 1.0)
        assert found.knots.size > 1000
    assert not time_pieces(lambda t: np.sin(2.0 * np.pi * 16 * SAMPLES * t)[None], 0.0, 1.0).resolved


def test_a_jump_is_closed_in_and_costs_little() -> None:
    found = time_pieces(lambda t: np.where(t < 0.7771, 0.0, 1.0)[None], 0.0, 1.0)
    assert found.resolved and found.knots.size < 60
    k = np.searchsorted(found.knots, 0.7771)
    assert found.knots[k] - found.knots[k - 1] < 1.0 / SAMPLES


@pytest.mark.parametrize("width", [1e-1, 1e-4, 1e-7])
@pytest.mark.parametrize("end", [2.0, 1e4])
def test_around_a_landmark_a_pulse_of_any_width_is_seen_in_a_run_of_any_length(width: float, end: float) -> None:
    found = time_pieces(lambda t: np.exp(-(((t - 1.2345) / width) ** 2))[None], 0.0, end, np.array([1.2345]))
    assert found.resolved and found.knots.size < 100
    assert np.count_nonzero(np.abs(found.knots - 1.2345) < 2.0 * width) >= 4
    spacing = np.diff(found.knots)[np.abs(0.5 * (found.knots[1:] + found.knots[:-1]) - 1.2345) < 2.0 * width]
    assert np.max(spacing) < 2.0 * width


def test_a_jump_at_a_landmark_needs_no_search_and_hundreds_of_them_are_resolved() -> None:
    edges = np.arange(1, 1000) / 1000.0
    found = time_pieces(lambda t: np.searchsorted(edges, t)[None] % 2.0, 0.0, 1.0, edges)
    assert found.resolved and found.knots.size < 4000
    assert np.max(np.min(np.abs(found.knots[None] - edges[:, None]), axis=1)) < 1e-15


def test_a_ripple_is_resolved_however_far_a_motion_goes() -> None:
    """1 mm on a conveyor at 1 m/s, for seconds and for a quarter of an hour: its period is 1 s."""
    for end in (2.0, 10.0, 1000.0):
        knots = time_pieces(lambda t: (t + 1e-3 * np.sin(2.0 * np.pi * t))[None], 0.0, end).knots
        assert np.min(np.diff(knots)) > 0.1 and np.max(np.diff(knots)) < 0.4


def test_a_function_outside_its_domain_around_a_landmark_is_left_alone() -> None:
    """It is told of where it is used; other functions are examined all the same."""
    with np.errstate(all="ignore"):
        found = time_pieces(lambda t: np.array([np.log(t - 0.5), 1.0 / (t - 0.5), t > 0.5]), 0.0, 1.0, np.array([0.5]))
    assert found.resolved and 0.5 in found.knots
