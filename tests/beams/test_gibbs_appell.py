"""The integrals of the Gibbs-Appell papers, against their definitions and against the Gibbs function itself."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad_vec

import pliant as pl
from pliant.beams.gibbs_appell import tilde
from pliant.beams.shapes import beam_shapes

BEAM = pl.Beam(length=0.7, section=pl.Section.rectangle(0.01, 0.03), material=pl.STEEL, theory="euler-bernoulli",
               modes=(pl.Modes("cf", 2), pl.Modes("ss", 1, plane="z"), pl.AxialModes("cf", 1)), rotary_inertia=0.0)  # fmt: skip
DELTA, RATE, SECOND = np.array([0.02, -0.01, 0.015, 0.003]), np.array([0.4, -0.3, 0.2, 0.1]), np.array([3.0, -5.0, 2.0, 1.0])


def shapes_at(eta: float) -> np.ndarray:
    """(mode, axis)"""
    return beam_shapes(BEAM).displacement(np.array([eta]))[0].T


def over_the_beam(function):
    return BEAM.mu * quad_vec(lambda eta: function(eta, shapes_at(eta)), 0.0, BEAM.length, epsabs=1e-14, epsrel=1e-12)[0]


def test_every_integral_is_what_its_definition_says():
    x, found = np.array([1.0, 0.0, 0.0]), pl.gibbs_appell_integrals(BEAM)
    modes = range(4)
    definitions = {
        "B0": lambda eta, r: 1.0,
        "C1": lambda eta, r: r,
        "C2": lambda eta, r: eta * tilde(x),
        "C3": lambda eta, r: r @ x,
        "C4": lambda eta, r: r @ r.T,
        "C5": lambda eta, r: np.cross(x, r),
        "C5_eta": lambda eta, r: eta * np.cross(x, r),
        "C6": lambda eta, r: np.array([[np.cross(r[j], r[k]) for k in modes] for j in modes]),
        "C7": lambda eta, r: eta * tilde(x).T @ tilde(x),
        "C7_eta": lambda eta, r: eta**2 * tilde(x).T @ tilde(x),
        "C8": lambda eta, r: np.array([tilde(x).T @ tilde(r[j]) for j in modes]),
        "C8_eta": lambda eta, r: np.array([eta * tilde(x).T @ tilde(r[j]) for j in modes]),
        "C9": lambda eta, r: np.array([[tilde(r[j]).T @ tilde(r[k]) for k in modes] for j in modes]),
    }
    for name, definition in definitions.items():
        assert getattr(found, name) == pytest.approx(over_the_beam(definition), abs=1e-12), name


def test_they_add_up_to_the_gibbs_function_of_the_moving_beam():
    """S = int mu a . a / 2 for a frame that moves and turns (eq. 34), without the terms that hold no acceleration."""
    origin, omega, alpha = np.array([1.0, -2.0, 0.5]), np.array([0.3, 0.7, -0.4]), np.array([1.5, -0.6, 2.0])

    def gibbs(origin, alpha, second):
        def density(eta, r):
            at, moving = eta * np.array([1.0, 0.0, 0.0]) + DELTA @ r, RATE @ r
            a = origin + second @ r + 2.0 * np.cross(omega, moving) + np.cross(alpha, at) + np.cross(omega, np.cross(omega, at))
            return 0.5 * a @ a

        return over_the_beam(density)

    found = BEAM.integrals
    B = found.at(DELTA, RATE, SECOND)
    turned = tilde(omega)
    s = (0.5 * found.B0 * origin @ origin + origin @ B["B1"] - 2.0 * origin @ B["B2"] @ omega - origin @ B["B3"] @ alpha
         - origin @ turned @ B["B3"] @ omega + 0.5 * B["B4"] - 2.0 * omega @ B["B5"] + alpha @ B["B6"]
         - omega @ B["B7"] @ omega + 2.0 * alpha @ B["B8"] @ omega + 0.5 * alpha @ B["B9"] @ alpha
         + alpha @ turned @ B["B9"] @ omega)  # fmt: skip
    zero = np.zeros(3)
    assert s == pytest.approx(gibbs(origin, alpha, SECOND) - gibbs(zero, zero, np.zeros(4)), rel=1e-9)


def test_numbers_of_another_count_are_refused():
    with pytest.raises(pl.ModelError, match="GibbsAppellIntegrals: rate must be 4 numbers"):
        pl.gibbs_appell_integrals(BEAM).at(DELTA, RATE[:2])
