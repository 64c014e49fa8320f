"""Pictures are drawn and say what they show."""

import pytest

import mechanisms
import pliant as pl


@pytest.fixture(scope="module")
def run():
    return pl.simulate(mechanisms.planar_chain(2, 1), 0.1)


@pytest.mark.parametrize("draw", [pl.plot.energies, pl.plot.coordinates, pl.plot.paths])
def test_a_picture_has_titles_labels_and_lines(draw, run, tmp_path):
    figure = draw(run)
    figure.savefig(tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 10_000
    assert figure.axes[0].get_title().startswith("planar chain")
    assert all(axes.get_ylabel() and axes.lines for axes in figure.axes)
