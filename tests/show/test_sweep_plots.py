"""Pictures of sweeps: which one is drawn, and that it shows the numbers."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
import xarray
from matplotlib.collections import QuadMesh
from matplotlib.figure import Figure

import pliant as pl
from pliant.show.plot.sweeps import REDUCTIONS, SWEEP_PLOTS, kind_of

TIME = np.linspace(0.0, 1.0, 11)
VALUES = {"payload": [0.1, 0.2, 0.4], "E": [6e10, 7e10, 2e11, 3e11], "n": [1, 2]}


def made(*axes, failed=None, kept=("course", "peak")):
    """course = (sum of the axes' numbers) * (t - 0.25): largest at the end, negative first; peak is that number."""
    shape = [len(VALUES[axis]) for axis in axes]
    grids = np.meshgrid(*(np.arange(1.0, n + 1.0) for n in shape), indexing="ij")
    number = sum(10.0**k * grid for k, grid in enumerate(grids))
    ok, message = np.ones(shape, dtype=bool), np.full(shape, "done", dtype=object)
    if failed is not None:
        number[failed], ok[failed], message[failed] = np.nan, False, "not yet computed"
    variables = {
        "ok": (axes, ok), "message": (axes, message),
        "course": ((*axes, "time"), number[..., None] * (TIME - 0.25), {"units": "m"}),
        "peak": (axes, number, {"units": "N"}),
    }  # fmt: skip
    coordinates = {
        "time": TIME,
        **{axis: (axis, VALUES[axis], {"units": "Pa"} if axis == "E" else {}) for axis in axes},
    }
    dropped = [name for name in ("course", "peak") if name not in kept]
    return xarray.Dataset(variables, coordinates, {"title": "arm"}).drop_vars(dropped)


def sampled():
    variables = {"ok": ("case", [True] * 3), "message": ("case", ["done"] * 3), "peak": ("case", [1.0, 4.0, 9.0])}
    return xarray.Dataset(variables, {"a": ("case", [1.0, 2.0, 3.0]), "b": ("case", [3.0, 2.0, 1.0])}, {"title": "arm"})


DATA = {
    "family": lambda: made("payload"),
    "heat_map": lambda: made("payload", "E"),
    "multiples": lambda: made("payload", "E", "n"),
    "points": sampled,
}


def test_every_picture_has_an_example():
    assert list(DATA) == list(SWEEP_PLOTS)


@pytest.mark.parametrize("name", DATA)
def test_the_picture_that_fits_is_drawn_and_leaves_no_trace(name):
    data = DATA[name]()
    before, style = data.copy(deep=True), dict(mpl.rcParams)
    assert kind_of(data) == name
    figure = pl.plot.sweep(data)
    assert isinstance(figure, Figure) and data.identical(before)
    assert dict(mpl.rcParams) == style and plt.get_fignums() == []
    figure.set_dpi(40)
    figure.canvas.draw()
    assert len(np.unique(np.asarray(figure.canvas.buffer_rgba()).view(np.uint32))) > 20  # more than paper and ink
    titles = [figure.get_suptitle(), *(axes.get_title(loc="left") for axes in figure.axes)]
    assert any(title.startswith("arm: ") for title in titles)
    assert SWEEP_PLOTS[name].__doc__.strip()


def test_curves_are_the_courses_in_the_order_of_their_numbers():
    data = made("payload").isel(payload=[2, 0, 1])
    panel = pl.plot.sweep(data, ["course"]).axes[0]
    for k, line in enumerate(panel.get_lines()):
        assert np.array_equal(line.get_xdata(), TIME) and np.allclose(line.get_ydata(), (k + 1) * (TIME - 0.25))
    assert [text.get_text() for text in panel.get_legend().get_texts()] == [
        "payload = 0.1",
        "payload = 0.2",
        "payload = 0.4",
    ]


def test_numbers_stand_over_the_axis_and_what_is_missing_is_marked():
    panel = pl.plot.sweep(made("payload", failed=1), ["peak"]).axes[0]
    line, mark = panel.get_lines()
    assert line.get_xdata().tolist() == VALUES["payload"] and np.isnan(line.get_ydata()[1])
    assert mark.get_xdata() == [0.2, 0.2] and panel.get_title(loc="left") == "arm: 3 cases, 1 not yet computed"


def test_a_map_has_the_first_axis_upward_and_prefixes_at_the_other():
    figure = pl.plot.sweep(made("payload", "E", failed=(2, 1)), ["peak"])
    panel = figure.axes[0]
    (mesh,) = (child for child in panel.get_children() if isinstance(child, QuadMesh))
    values = np.ma.filled(mesh.get_array(), np.nan).reshape(3, 4)
    assert np.array_equal(values, made("payload", "E", failed=(2, 1))["peak"].values, equal_nan=True)
    assert panel.get_xlabel() == "E, GPa" and panel.get_ylabel() == "payload"
    (cross,) = panel.get_lines()
    assert (cross.get_xdata().tolist(), cross.get_ydata().tolist()) == ([70.0], [0.4])


def test_small_multiples_share_their_colours_and_part_by_the_shortest_axis():
    figure = pl.plot.sweep(made("payload", "E", "n"), ["peak"])
    meshes = [child for panel in figure.axes for child in panel.get_children() if isinstance(child, QuadMesh)][:2]
    whole = made("payload", "E", "n")["peak"]
    for k, mesh in enumerate(meshes):
        assert np.array_equal(np.asarray(mesh.get_array()).reshape(3, 4), whole.isel(n=k))
        assert mesh.get_clim() == (whole.min().item(), whole.max().item())
    assert [panel.get_title(loc="left") for panel in figure.axes[:2]] == ["n = 1", "n = 2"]


@pytest.mark.parametrize("how", REDUCTIONS)
def test_of_a_course_is_taken_what_is_asked_for(how):
    expected = {"largest": 0.75, "final": 0.75, "range": 1.0}[how]
    data = made("payload", kept=("course",))
    data["course"][:, -1] = np.nan  # a run that ended early
    data["course"][0] = np.nan
    shift = {"largest": 0.65, "final": 0.65, "range": 0.9}[how]
    panel = pl.plot.sweep(data, ["course"], how).axes[0]
    assert np.allclose(panel.get_lines()[0].get_ydata(), [np.nan, 2 * shift, 3 * shift], equal_nan=True) and shift < expected


def test_axes_of_equal_ratios_are_logarithmic():
    data = made("payload", "E").assign_coords(payload=[1.0, 10.0, 100.0])
    panel = pl.plot.sweep(data, ["peak"]).axes[0]
    assert panel.get_yscale() == "log" and panel.get_xscale() == "linear"


def test_more_axes_than_can_be_drawn_and_unknown_names_are_refused():
    data = made("payload", "E", "n").expand_dims("more")
    with pytest.raises(pl.ModelError, match="axes must be one, two or three to be drawn"):
        pl.plot.sweep(data.assign(ok=data["ok"]))
    with pytest.raises(pl.ModelError, match=r"names must be among course, peak \(did you mean 'peak'\?\), got 'peek'"):
        pl.plot.sweep(made("payload"), ["peek"])
    with pytest.raises(pl.ModelError, match="reduce must be one of largest, final, range"):
        pl.plot.sweep(made("payload"), None, "mean")
    with pytest.raises(pl.ModelError, match="plot family: sweep must have 1 axis"):
        SWEEP_PLOTS["family"](made("payload", "E"))
