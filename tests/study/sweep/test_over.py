"""Grids, lists of cases and samples: which cases there are, and what is refused."""

import numpy as np
import pytest
from scipy import stats

import pliant as pl
from pliant.study.sweep.over import from_json, over_of


def test_a_grid_has_all_combinations_the_last_axis_fastest():
    grid = pl.Grid({"a": [1, 2], "b": np.linspace(0.0, 1.0, 3)})
    assert list(grid) == [{"a": a, "b": b} for a in (1, 2) for b in (0.0, 0.5, 1.0)]
    assert grid.dims == {"a": 2, "b": 3} and len(grid) == 6
    assert [type(case["a"]) for case in grid] == [int] * 6  # a function may count with it


def test_a_mapping_is_a_grid_and_a_list_is_cases():
    assert over_of({"a": [1.0]}) == pl.Grid({"a": [1.0]})
    cases = over_of([{"a": 1.0, "b": 2.0}, {"b": 4.0, "a": 3.0}])
    assert list(cases) == [{"a": 1.0, "b": 2.0}, {"a": 3.0, "b": 4.0}] and cases.dims == {"case": 2}


@pytest.mark.parametrize("over", [pl.Grid({"a": [0.1, 1e-300], "kind": ["x", "y"]}), pl.Cases([{"n": 1}, {"n": 3}]),
                                  pl.Sample({"a": ("normal", 1.0, 0.2)}, 5)])  # fmt: skip
def test_cases_come_back_from_json_as_they_were(over):
    assert list(from_json(over.to_json())) == list(over)


DISTRIBUTIONS = {
    ("uniform", 2.0, 5.0): stats.uniform(2.0, 3.0),
    ("loguniform", 2.0, 5.0): stats.loguniform(2.0, 5.0),
    ("normal", 3.0, 0.5): stats.norm(3.0, 0.5),
    ("truncated_normal", 3.0, 1.0, 2.5, 5.0): stats.truncnorm(-0.5, 2.0, 3.0, 1.0),
    ("lognormal", 3.0, 0.4): stats.lognorm(0.4, scale=3.0),
    ("triangular", 1.0, 2.0, 5.0): stats.triang(0.25, 1.0, 4.0),
}


@pytest.mark.parametrize("given", DISTRIBUTIONS, ids=lambda given: given[0])
@pytest.mark.parametrize("method", ["latin-hypercube", "sobol"])
def test_a_sample_is_spread_as_its_distribution_says(given, method):
    """Of 256 evenly spread points each 256th part of the distribution has one: no empirical quantile is further off than that."""
    values = np.sort([case["x"] for case in pl.Sample({"x": given, "y": ("uniform", 0.0, 1.0)}, 256, method, seed=3)])
    shares = DISTRIBUTIONS[given].cdf(values)
    assert np.all(np.floor(shares * 256) == np.arange(256))


def test_a_sample_repeats_itself_and_sobols_can_be_made_longer():
    same = {"x": ("uniform", 0.0, 1.0), "y": stats.norm(0.0, 1.0)}
    assert list(pl.Sample(same, 20, seed=5)) == list(pl.Sample(same, 20, seed=5)) != list(pl.Sample(same, 20, seed=6))
    assert list(pl.Sample(same, 50, "sobol"))[:20] == list(pl.Sample(same, 20, "sobol"))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: pl.Grid({}), "Grid: axes must be a mapping"),
        (lambda: pl.Grid({"a": []}), "Grid: axis 'a' must hold at least one value"),
        (lambda: pl.Grid({"a": [1.0, 1.0]}), "Grid: axis 'a' must hold each value once"),
        (lambda: pl.Grid({"a": [1.0, float("nan")]}), "Grid: axis 'a' must be a finite number"),
        (lambda: pl.Grid({"a": 3.0}), "Grid: axis 'a' must be a list of values"),
        (lambda: pl.Grid({"a b": [1.0]}), "Grid: name must be a name of letters"),
        (
            lambda: pl.Grid({"a": range(10_000), "b": range(10_000)}),
            "must have at most 10000000 combinations, got 100000000",
        ),
        (lambda: pl.Cases([]), "Cases: cases must be a list of mappings"),
        (lambda: pl.Cases([{"a": 1.0}, {"b": 1.0}]), r"cases\[1\] must have values for \['a'\]"),
        (
            lambda: pl.Sample({"a": ("norml", 1.0, 2.0)}, 4),
            r"distribution of 'a' must be one of .*\(did you mean 'normal'\?\)",
        ),
        (lambda: pl.Sample({"a": ("normal", 1.0)}, 4), r"must be \('normal', mean, deviation\)"),
        (lambda: pl.Sample({"a": ("uniform", 2.0, 1.0)}, 4), "distribution uniform: low must be < high = 1.0, got 2.0"),
        (lambda: pl.Sample({"a": ("uniform", 0.0, 1.0)}, 0), "Sample: count must be a whole number >= 1"),
        (lambda: pl.Sample({"a": ("uniform", 0.0, 1.0)}, 4, "sobel"), r"Sample: method .*did you mean 'sobol'"),
        (lambda: over_of(3), "sweep: over must be a mapping of axes"),
    ],
)
def test_what_is_no_set_of_cases_is_refused(make, words):
    with pytest.raises(pl.ModelError, match=words):
        make()
