"""What every registered quantity must satisfy: a unit, a meaning, a place in every result, and numbers where there is something."""

import numpy as np
import pytest

from pliant.files import units
from pliant.results.table import QUANTITIES, STATES

over_all = pytest.mark.parametrize("name", QUANTITIES)


@over_all
def test_it_has_a_unit_and_a_meaning(name):
    quantity = QUANTITIES[name]
    assert quantity.name == name and quantity.meaning.strip() == quantity.meaning != ""
    for unit in quantity.unit.replace(" or ", ", ").split(", "):
        assert unit == "1" or units.convert(2.0, unit, unit) == 2.0  # known, and SI


@over_all
def test_a_result_has_it_with_its_labels_and_attributes(name, result, apart):
    dims = QUANTITIES[name].dims
    for run in (result, apart):
        assert run.ok
        assert run.values[name].shape == (run.time.size, *(len(run.labels[dim]) for dim in dims))
        assert np.all(np.isfinite(run.values[name]))
        data = run.data[name]
        assert data.dims == ("time", *dims)
        assert (data.attrs["units"], data.attrs["long_name"]) == (QUANTITIES[name].unit, QUANTITIES[name].meaning)


@over_all
def test_where_there_is_something_it_tells_of_it(name, result, apart):
    """One of two results has numbers that are not all zero."""
    assert any(run.values[name].size and np.any(run.values[name]) for run in (result, apart))


def test_states_are_quantities():
    assert set(STATES) <= set(QUANTITIES)
