"""What an input series must be."""

import pickle

import numpy as np
import pytest

import pliant as pl
from pliant.model.input_series import InputSeries


@pytest.mark.parametrize(
    ("times", "values", "between", "words"),
    [
        ([0.0, 1.0, 1.0], [1.0, 2.0, 3.0], "held", r"times\[2\] must be > times\[1\] = 1 s"),
        ([0.0, 1.0], [1.0, np.nan], "held", r"values\[1\] must be finite"),
        ([0.0, np.inf], [1.0, 2.0], "held", r"times\[1\] must be finite"),
        ([0.0, 1.0], [1.0], "linear", "must have 2 entries, one per time"),
        ([], [], "linear", "must have at least 1 entries"),
        ([0.0, 1.0, 2.0], [1.0, 2.0, 3.0], "cubic", "must have at least 4 entries for a cubic series"),
        ([0.0, 1.0], ["a", "b"], "linear", "must be numbers"),
        ([[0.0, 1.0]], [1.0, 2.0], "linear", "one column"),
        ([0.0, 1.0], [1.0, 2.0], "smooth", "between"),
    ],
)
def test_what_is_no_series_is_refused(times, values, between, words):
    with pytest.raises(pl.ModelError, match=words):
        pl.InputSeries(times, values, between)


def test_a_series_keeps_its_own_numbers():
    times, values = np.arange(4.0), np.ones(4)
    series = pl.InputSeries(times, values, "linear")
    values[2] = 7.0
    assert series.values[2] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        series.values[0] = 3.0
    again = pickle.loads(pickle.dumps(series))
    assert np.array_equal(again.values, series.values) and again.between == "linear"


def test_tables_of_drives_are_series_too():
    held = InputSeries.of("x", "u", pl.PiecewiseConstant([0.0, 1.0, 2.0], [1.0, 1.0, 2.0]))
    assert held.between == "held" and held.breakpoints == (2.0,)  # steps end where it jumps
    line = InputSeries.of("x", "u", pl.PiecewiseLinear([0.0, 1.0, 2.0], [0.0, 1.0, 2.0]))
    assert line.breakpoints == (0.0, 2.0)  # and where it bends
    assert pl.InputSeries([0.0, 1.0, 2.0], [0.0, 1.0, 0.0], "linear").breakpoints == ()
