"""A search ends where steps no longer mean anything, and not before."""

import numpy as np
import pytest

import pliant as pl
from pliant.study.fit.settling import Settling


def rows(total, count=1000):
    """Independent residuals with a given sum of squares."""
    noise = np.random.default_rng(0).normal(size=count)
    return [noise * np.sqrt(total / (noise @ noise))]


def test_two_small_steps_end_a_search_and_one_does_not():
    settling = Settling()
    # one standard error raises the sum of 1000 squares by a thousandth of it
    assert [settling.is_over(rows(total)) for total in (1000.0, 900.0, 899.999, 899.998)] == [False, False, False, True]


def test_a_large_step_between_small_ones_goes_on():
    settling = Settling()
    totals = (900.0, 899.999, 890.0, 889.999, 889.998)
    assert [settling.is_over(rows(total)) for total in totals] == [False, False, False, False, True]


def test_a_rise_is_no_end():
    settling = Settling()
    assert not any(settling.is_over(rows(total)) for total in (900.0, 900.001, 900.002, 900.003))


def test_exact_data_never_end_a_search_early():
    settling = Settling()
    assert not any(settling.is_over([np.zeros(10)]) for _ in range(5))
    assert not any(settling.is_over(rows(1e-4**k)) for k in range(5))


def test_residuals_that_resemble_their_neighbours_count_less():
    """A hundred rows that move together are one: what is one standard error is then larger, and the search may end earlier."""
    together = [np.repeat(np.random.default_rng(0).normal(size=10), 100)]
    shrunk = [together[0] * np.sqrt(1.0 - 5e-4 * k) for k in range(3)]  # by half a standard error of independent rows
    alone, alike = Settling(), Settling()
    totals = [float(own @ own) for own in shrunk]
    assert not any(alone.is_over(rows(total)) for total in totals)
    assert [alike.is_over([own]) for own in shrunk] == [False, False, True]


def test_a_fit_of_exact_data_is_still_exact():
    k = pl.Parameter("k", 2.0, low=0.1, high=50.0)
    system = pl.System("oscillator", gravity=(0.0, 0.0))
    system.add("mass", pl.RigidBody(mass=1.0), joint=pl.Prismatic(displacement=0.1, spring=pl.Spring(k)))
    time = np.linspace(0.0, 3.0, 61)
    data = {"time": time, "mass.displacement": pl.simulate(system, 3.0, save=time, parameters={"k": 5.0})["mass.displacement"]}
    assert pl.fit(system, data, ["k"]).values["k"] == pytest.approx(5.0, rel=1e-8)
