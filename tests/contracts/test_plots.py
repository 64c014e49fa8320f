"""What every registered plot must satisfy: it draws any result without being told more, says what it shows, and leaves no trace."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure

from pliant.show.plot import MODEL_PLOTS, PLOTS

over_all = pytest.mark.parametrize("name", PLOTS)


@over_all
def test_it_draws_a_result_and_changes_neither_it_nor_what_matplotlib_remembers(name, result):
    before, style = {key: array.copy() for key, array in result.values.items()}, dict(mpl.rcParams)
    figure = PLOTS[name](result)
    assert isinstance(figure, Figure)
    assert all(np.array_equal(result.values[key], array, equal_nan=True) for key, array in before.items())
    assert dict(mpl.rcParams) == style and plt.get_fignums() == []
    figure.set_dpi(40)
    figure.canvas.draw()
    assert len(np.unique(np.asarray(figure.canvas.buffer_rgba()).view(np.uint32))) > 20  # more than paper and ink
    titles = [figure.get_suptitle(), *(axes.get_title(loc="left") for axes in figure.axes)]
    assert any(title.startswith(result.name) for title in titles)
    assert any(axes.get_xlabel() for axes in figure.axes)


@over_all
def test_it_is_exported_by_its_name_and_says_what_it_is(name):
    from pliant.show import plot

    assert getattr(plot, name) is PLOTS[name] and name in plot.__all__
    assert PLOTS[name].__doc__.strip()


@pytest.mark.parametrize("name", MODEL_PLOTS)
def test_a_plot_of_parts_of_a_model_draws_those_of_any_system(name, everything):
    from pliant.show import plot

    draw, parts_of = MODEL_PLOTS[name]
    parts = parts_of(everything)
    figure = draw(parts)
    assert parts and figure.axes and all(axes.get_xlabel() and axes.get_ylabel() for axes in figure.axes)
    assert plot.__dict__[name] is draw and name in plot.__all__ and draw.__doc__.strip()
