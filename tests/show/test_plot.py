"""Pictures are drawn and say what they show, of results in memory and from files."""

import csv
import re
from itertools import pairwise

import numpy as np
import pytest
from matplotlib.axis import Tick
from matplotlib.text import Text

import pliant as pl
from pliant.gallery.falling_chain import falling_chain
from pliant.show.plot import PLOTS
from pliant.show.plot.energy import stacked
from pliant.show.plot.spectrum import amplitudes
from pliant.show.plot.style import PALETTE, prefixed

UNIT = re.compile(r", (?:[fpnµmkMG]?(?:m|N m|N|J|Hz|Pa|rad|s)(?:/s)?|1)$|largest exchange$")


OF_SECTIONS = ("stress_envelope", "force_envelope")  # of results that hold them
OF_LOADS = ("struts", "motors")
OF_SOME = (*OF_SECTIONS, *OF_LOADS, "states")
CASES = [("chain", name) for name in PLOTS if name not in ("tip_deflection", *OF_SOME)]  # its links are held at both ends
CASES += [("arm", name) for name in PLOTS if name not in ("contact_forces", "friction", *OF_SOME)]
CASES += [("stressed", name) for name in OF_SECTIONS]
CASES += [("controlled", "states")]  # struts and motors: tests/contracts/test_plots.py
CASES += [("crank", name) for name in ("mechanism", "contact_forces", "tip_deflection")]


@pytest.mark.parametrize(("which", "name"), CASES)
def test_a_picture_has_a_title_units_and_something_in_it(which, name, request):
    run = request.getfixturevalue(which)
    figure = PLOTS[name](run)
    figure.set_dpi(40)
    figure.canvas.draw()
    assert len(np.unique(np.asarray(figure.canvas.buffer_rgba()).view(np.uint32))) > 20  # more than paper and ink
    titles = [figure.get_suptitle(), *(axes.get_title(loc="left") for axes in figure.axes)]
    assert any(title.startswith(run.name) for title in titles)
    for axes in figure.axes:
        if axes.get_label() == "<colorbar>":
            continue
        assert axes.lines or axes.collections
        labels = [label for label in (axes.get_xlabel(), axes.get_ylabel()) if label]
        assert labels or name == "mechanism"  # whose inner panels share their neighbours'
        assert all(UNIT.search(label) for label in labels) or name == "states", labels  # whose units are the user's


def test_a_picture_is_written_whole_or_not_at_all(chain, tmp_path, monkeypatch):
    pl.plot.save(pl.plot.balance_error(chain), tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 10_000
    monkeypatch.setattr("os.replace", lambda *names: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        pl.plot.save(pl.plot.balance_error(chain), tmp_path / "again.png")
    assert [p.name for p in tmp_path.iterdir()] == ["picture.png"]


def test_a_saved_picture_is_what_matplotlib_saves_and_keeps_its_layout(chain, tmp_path):
    figure, other = pl.plot.overview(chain), pl.plot.overview(chain)
    engine = figure.get_layout_engine()
    pl.plot.save(figure, tmp_path / "picture.png")
    other.savefig(tmp_path / "other.png", format="png")
    assert (tmp_path / "picture.png").read_bytes() == (tmp_path / "other.png").read_bytes()
    assert figure.get_layout_engine() is engine is not None


def test_a_result_from_a_file_gives_the_same_picture(chain, read_back):
    for name in ("mechanism", "contact_forces", "ledger"):
        first, second = (PLOTS[name](run) for run in (chain, read_back))
        for figure in (first, second):
            figure.set_dpi(50)
            figure.canvas.draw()
        assert np.array_equal(first.canvas.buffer_rgba(), second.canvas.buffer_rgba())


def test_the_users_own_style_is_used_where_it_was_set_and_not_changed(chain):
    import matplotlib as mpl

    own = {"font.size": 30.0, "figure.figsize": [5.0, 9.0], "axes.prop_cycle": mpl.cycler(color=["#123456", "#654321"])}
    with mpl.rc_context(own):
        figure = pl.plot.coordinates(chain, ["a.angle", "b.angle", "c.angle"])
        assert all(mpl.rcParams[name] == value for name, value in own.items())
    assert figure.axes[0].yaxis.label.get_fontsize() == 30.0 and tuple(figure.get_size_inches()) == (5.0, 9.0)
    assert [line.get_color() for line in figure.axes[0].lines] == ["#123456", "#654321", "#123456"]
    usual = pl.plot.coordinates(chain)
    assert usual.axes[0].yaxis.label.get_fontsize() < 12.0 and usual.axes[0].lines[0].get_color() == PALETTE[0]


@pytest.mark.parametrize("name", [name for name in PLOTS if name not in ("tip_deflection", *OF_SOME)])
def test_every_plot_draws_into_axes_of_the_user(name, chain):
    """One Axes is used as it is where the plot has one panel, and divided where it has several; its neighbours are left alone."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.0, 4.0))
    own, given = figure.subplots(1, 2)
    own.set_title("mine: $x_1$")
    assert PLOTS[name](chain, ax=given) is figure
    assert (own.get_title(), len(own.lines)) == ("mine: $x_1$", 0) and own.title.get_parse_math()
    assert tuple(figure.get_size_inches()) == (9.0, 4.0) and not figure.get_suptitle()
    if name in ("ledger", "paths", "balance_error"):
        assert given.lines and figure.axes[:2] == [own, given]
    else:
        assert len(figure.axes) > 2 or given.lines
    assert tuple(PLOTS[name](chain, figsize=(4.0, 7.0)).get_size_inches()) == (4.0, 7.0)


@pytest.mark.parametrize("own", [False, True], ids=["figsize", "ax"])
@pytest.mark.parametrize("name", ["spectrum", "tip_deflection", "series"])
def test_titles_labels_and_legends_fit_into_one_column_of_a_paper(name, own, arm):
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    size = (3.5, 2.2) if name == "spectrum" else (3.5, 3.5)
    quantities = {"spectrum": (["link3.y1"],), "tip_deflection": (), "series": ("tip_deflection link3 y", "tip_velocity link3 y")}[
        name
    ]
    figure = Figure(figsize=size, layout="constrained")
    runs = {"light": arm, "heavy": arm} if name == "series" else arm
    figure = PLOTS[name](runs, *quantities, **({"ax": figure.subplots()} if own else {"figsize": size}))
    FigureCanvasAgg(figure).draw()
    texts = [text for text in figure.findobj(Text) if text.get_text() and text.get_visible()]
    ticks = {label for tick in figure.findobj(Tick) for label in (tick.label1, tick.label2)}
    for text in texts:
        box = text.get_window_extent()
        inside = box.x0 > -1.0 and box.y0 > -1.0 and box.x1 < figure.bbox.x1 + 1.0 and box.y1 < figure.bbox.y1 + 1.0
        assert inside or text in ticks, text.get_text()
    labels = sorted((axes.yaxis.label.get_window_extent() for axes in figure.axes), key=lambda box: box.y0)
    assert all(below.y1 < above.y0 for below, above in pairwise(labels))
    assert all(axes.get_window_extent().width > 0.4 * figure.bbox.width for axes in figure.axes)


def test_names_in_a_figure_of_the_user_are_taken_literally(arm):
    """An empty label of the user's Axes is no text of theirs."""
    from matplotlib.figure import Figure

    given = Figure().subplots()
    pl.plot.series(arm, "tip_position link3", ax=given)
    assert not given.yaxis.label.get_parse_math()


def test_several_axes_are_the_panels_of_a_plot(chain):
    from matplotlib.figure import Figure

    figure = Figure()
    above, below = figure.subplots(2)
    pl.plot.energies(chain, ax=[above, below])
    assert above.lines and below.lines
    with pytest.raises(pl.ModelError, match="ax must be 2 Axes"):
        pl.plot.energies(chain, ax=[above, below, figure.add_subplot()])


def _seen(colour, matrix):
    """Linear light of a colour as a colour-blind eye has it (Machado, Oliveira, Fernandes 2009, severity 1)."""
    rgb = np.array([int(colour[k : k + 2], 16) / 255.0 for k in (1, 3, 5)])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return np.clip(matrix @ linear, 0.0, 1.0)


def _lab(linear):
    xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]) @ linear
    f = np.cbrt(np.maximum(xyz / (0.9505, 1.0, 1.089), 0.008856))
    return np.array([116.0 * f[1] - 16.0, 500.0 * (f[0] - f[1]), 200.0 * (f[1] - f[2])])


@pytest.mark.parametrize("matrix", [
    np.eye(3),
    np.array([[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]),
    np.array([[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]),
], ids=["all colours", "protanopia", "deuteranopia"])  # fmt: skip
def test_the_colour_blind_can_tell_the_colours_apart(matrix):
    colours = [_lab(_seen(colour, matrix)) for colour in (*PALETTE, "#ffffff")]
    apart = [np.linalg.norm(a - b) for k, a in enumerate(colours) for b in colours[:k]]
    assert min(apart) > 10.0  # CIE 1976: 2.3 is just noticeable


def test_a_spectrum_shows_a_sine_with_its_amplitude_and_frequency():
    rng = np.random.default_rng(1)
    time = np.sort(np.concatenate([[0.0, 2.0], rng.uniform(0.0, 2.0, 20_000)]))  # rows that are not even
    frequency, amplitude = amplitudes(time, 5.0 + 0.3 * np.sin(2.0 * np.pi * 40.0 * time))
    peak = int(np.argmax(amplitude))
    assert frequency[peak] == pytest.approx(40.0, abs=0.5)
    assert amplitude[peak] == pytest.approx(0.3, rel=1e-2)
    assert amplitude[0] < 1e-3  # the mean is taken off


def test_the_stacked_ledger_adds_up_to_what_there_was_and_was_put_in(chain, arm):
    for run in (chain, arm):
        layers, total = stacked(run.ledger)
        assert all(np.min(layer) > -1e-6 * run.ledger.scale for layer in layers.values())
        assert np.allclose(sum(layers.values()), total, atol=2.0 * run.ledger.balance_error_max + 1e-12)
    assert "lost: normal" in stacked(chain.ledger)[0] and np.ptp(stacked(arm.ledger)[1]) > 0.0


def test_the_zoom_shows_the_touch_it_is_asked_for(chain):
    touch = chain.contacts[3]
    _, below = pl.plot.contact_forces(chain, zoom=3).axes
    assert below.get_title(loc="left").startswith(touch.pair) and f"{touch.begin:.6g}" in below.get_xlabel()
    left, right = below.get_xlim()
    assert left < 0.0 < 1e3 * touch.duration < right < 2e3 * touch.duration
    hardest = max(chain.contacts, key=lambda one: one.peak_force)
    assert pl.plot.contact_forces(chain).axes[1].get_title(loc="left").startswith(hardest.pair)
    assert len(pl.plot.contact_forces(chain, zoom=None).axes) == 1


def test_one_long_touch_is_one_touch_and_shown_to_its_end_below_its_mark():
    system = pl.System("bounce", gravity=(0, -9.81))
    ball = system.add("ball", pl.RigidBody(mass=1.0, inertia=1.0), joint=pl.Planar(position=(0, 0.01), velocity=(0, -1.0)))
    system.contact(points=ball.root, against=pl.Plane(normal=(0, 1)), normal=pl.Hertz(stiffness=500.0, exponent=1.0), name="floor")
    run = pl.simulate(system, 0.25)
    (touch,) = run.contacts
    above, below = pl.plot.contact_forces(run).axes
    assert not touch.lasting and touch.duration > 0.2 * 0.25
    assert above.get_title(loc="left") == "bounce: 1 touch" and below.get_xlim()[1] > 1e3 * touch.duration
    for panel in (above, below):
        marks = [float(y) for line in panel.get_lines() if line.get_marker() == "v" for y in line.get_ydata()]
        assert panel.get_ylim()[1] > 1.05 * max(marks)


@pytest.mark.parametrize("draw", [
    lambda run: pl.plot.contact_forces(run, zoom=99),
    lambda run: pl.plot.contact_forces(run, zoom="softest"),
    lambda run: pl.plot.coordinates(run, ["nothing"]),
    lambda run: pl.plot.coordinates(run, []),
    lambda run: pl.plot.phase_portrait(run, ["a.qw"]),
    lambda run: pl.plot.spectrum(run, ["nothing"]),
    lambda run: pl.plot.tip_deflection(run, ["nobody"]),
    lambda run: pl.plot.tip_deflection(run),
    lambda run: pl.plot.mechanism(run, times=[99.0]),
    lambda run: pl.plot.mechanism(run, scale="large"),
    lambda run: pl.plot.series(run, "c.anlge"),
    lambda run: pl.plot.series([run, "file.nc"], "c.angle"),
    lambda run: pl.plot.series([], "c.angle"),
    lambda run: pl.plot.series(run, "c.angle", zoom=(0.5, 0.4)),
    lambda run: pl.plot.series(run, "c.angle", zoom=3),
    lambda run: pl.plot.law("hertz"),
    lambda run: pl.plot.law(pl.Hertz(stiffness=1e6), speed=-1.0),
    lambda run: pl.plot.shapes({}),
    lambda run: pl.plot.friction(run, ["nobody"]),
])  # fmt: skip
def test_what_cannot_be_drawn_is_refused_by_name(draw, chain):
    with pytest.raises(pl.ModelError, match=r"^plot \w+: "):
        draw(chain)


def test_contact_forces_need_contacts(arm):
    with pytest.raises(pl.ModelError, match="must have contact pairs"):
        pl.plot.contact_forces(arm)


def test_states_need_states(arm):
    with pytest.raises(pl.ModelError, match="must contain states of the user's own"):
        pl.plot.states(arm)


@pytest.mark.parametrize(("unit", "value", "expected"), [
    ("m", 0.004, (1e-3, "mm")), ("m", 0.5, (1.0, "m")), ("N", 9400.0, (1e3, "kN")), ("J", 3e-8, (1e-9, "nJ")),
    ("rad", 4000.0, (1.0, "rad")), ("rad", 2e-4, (1e-6, "µrad")), ("1", 1e-5, (1.0, "1")), ("m", 0.0, (1.0, "m")),
])  # fmt: skip
def test_units_take_the_prefix_that_fits(unit, value, expected):
    assert prefixed(unit, [np.array([-value, 0.1 * value])]) == expected


@pytest.fixture(scope="module")
def named_in_tex():
    system = pl.System(r"$\wrong{$ 5 $x_1$", (0, -9.81))
    law = pl.Hertz(stiffness=1e6)
    ball = system.add(r"$\frac{1$", pl.RigidBody(mass=1.0, inertia=0.01), joint=pl.Planar(position=(0, 0.1), velocity=(0.3, 0.0)))
    system.contact(points=pl.Sphere(ball.root, 0.1), against=pl.Plane(normal=(0, 1)), normal=law, friction=pl.Coulomb(mu=0.1),
                   name=r"floor $\foo$")  # fmt: skip
    link = pl.Beam(length=0.8, section=pl.Section.rectangle(0.02, 0.01), material=pl.STEEL, theory="euler-bernoulli",
                   modes=pl.Modes("cf", 1))  # fmt: skip
    arm = system.add("$}$", link, joint=pl.Revolute())
    system.strut(r"$\jack", arm.tip, system.ground.moved((0.0, -0.5)), stiffness=20.0, rest=0.9)
    system.motor(r"$\hub{$", "$}$.angle", pl.Motor(inertia=1e-4, constant=0.05, resistance=1.0), command=2.0)
    system.state(r"$\wrong{", rate=1.0)
    run = pl.simulate(system, 0.2, save=1e-3)
    return run.with_sections(pl.stresses(run))


@pytest.mark.parametrize("kind", PLOTS)
def test_a_name_that_looks_like_tex_is_drawn_as_it_is(kind, named_in_tex):
    """Wrong TeX made matplotlib raise where the picture is saved; right TeX would show another name."""
    drawn = PLOTS[kind](named_in_tex)
    drawn.set_dpi(40)
    drawn.canvas.draw()
    shown = [text for text in drawn.findobj(Text) if "$" in text.get_text()]
    ticks = {label for tick in drawn.findobj(Tick) for label in (tick.label1, tick.label2)}
    assert all(text in ticks or not text.get_parse_math() for text in shown)


def test_the_legend_of_a_spectrum_names_real_peaks_only():
    """Two tones on a drift: their frequencies to a hundredth of a line's distance; the drift is none, and neither is a slope."""
    from pliant.show.plot.spectrum import amplitudes, peaks

    t = np.linspace(0.0, 10.0, 4001)
    tones = 0.3 * np.sin(2.0 * np.pi * 7.33 * t) + 0.1 * np.cos(2.0 * np.pi * 21.08 * t)
    assert peaks(*amplitudes(t, tones + 5.0 * t)) == pytest.approx([7.33, 21.08], abs=5e-3)
    assert peaks(*amplitudes(t, 5.0 * t + t**2)) == []
    assert peaks(*amplitudes(t, np.exp(-t))) == []


def test_a_still_picture_at_a_time_as_svg_and_png(chain, tmp_path):
    still = pl.plot.mechanism(chain, time=0.4)
    (panel,) = still.axes
    assert panel.get_title(loc="left") == f"{chain.name}, 0.4 s"
    for kind, head in (("svg", b"<?xml"), ("png", b"\x89PNG")):
        pl.plot.save(still, tmp_path / f"still.{kind}")
        assert (tmp_path / f"still.{kind}").read_bytes().startswith(head)
    with pytest.raises(pl.ModelError, match="must be left out when times are given"):
        pl.plot.mechanism(chain, [0.1], time=0.2)
    with pytest.raises(pl.ModelError, match=r"must be from 0 to 0\.8 s"):
        pl.plot.mechanism(chain, time=2.0)


def test_reactions_show_the_largest_of_the_run_where_no_row_is():
    system = pl.System("blow", gravity=(0, -9.81))
    arm = system.add("arm", pl.RigidBody.rod(0.5, 1.0), joint=pl.Revolute(angle=0.2))
    system.contact(points=pl.Sphere(arm.tip, 0.02), against=pl.Plane(normal="y"), normal=pl.Hertz(stiffness=1e8))
    run = pl.simulate(system, 0.5, save=0.02)
    size, t = run.extremes.largest["reaction_force"]["arm"]
    force, _ = pl.plot.reactions(run, bodies=["arm"]).axes
    (marked,) = [line for line in force.lines if line.get_marker() == "v" and len(line.get_xdata())]
    drawn = next(line for line in force.lines if line.get_label() == "arm").get_ydata()
    factor = size / marked.get_ydata()[0]
    assert marked.get_xdata()[0] == t and factor in (1.0, 1e3) and np.max(drawn) * factor < 0.5 * size
    with pytest.raises(pl.ModelError, match=r"plot reactions: names must be among \['arm'\] \(did you mean 'arm'\?\), got 'amr'"):
        pl.plot.reactions(run, bodies=["amr"])
    for plot in (pl.plot.struts, pl.plot.motors):
        with pytest.raises(pl.ModelError, match=f"must have {plot.__name__}"):
            plot(run)


def fallen(gravity):
    system = pl.System("falls", gravity=gravity)
    system.add("rod", pl.RigidBody.rod(1.0, 1.0), joint=pl.Revolute(angle=0.5, rate=1.0))
    return pl.simulate(system, 0.2, save=0.05)


@pytest.mark.parametrize("kind", ["mechanism", "paths"])
@pytest.mark.parametrize("gravity", [(0.0, -9.81), (0.0, 9.81)], ids=["down", "up"])
def test_gravity_is_an_arrow_that_points_down_the_page(kind, gravity):
    """Also where it points along +y: then y grows down the page."""
    picture = getattr(pl.plot, kind)(fallen(gravity))
    picture.canvas.draw()
    for panel in picture.axes:
        (arrow,) = [text for text in panel.texts if text.get_text() == ""]
        head, tail = (place.transform((1, 1)) for place in (arrow.xycoords, arrow.anncoords))
        assert head[1] < tail[1] - 10.0 and head[0] == pytest.approx(tail[0])
        assert panel.yaxis_inverted() == (gravity[1] > 0.0)
        assert [text.get_text() for text in panel.texts] == ["", "g"]


def test_gravity_across_the_page_is_a_circle_with_a_cross_and_no_gravity_is_nothing():
    (panel,) = pl.plot.mechanism(fallen((0.0, 0.0, -9.81)), time=0.1).axes
    assert [line.get_marker() for line in panel.lines[:2]] == ["o", "x"] and [text.get_text() for text in panel.texts] == ["g"]
    (panel,) = pl.plot.mechanism(fallen((0.0, 0.0, 9.81)), time=0.1).axes
    assert [line.get_marker() for line in panel.lines[:2]] == ["o", "o"]
    (panel,) = pl.plot.mechanism(fallen((0.0, 0.0)), time=0.1).axes
    assert len(panel.texts) == 0


def test_a_series_shows_any_number_of_the_table_with_its_unit(chain):
    figure = pl.plot.series(chain, "c.angle", "v a.angle", "tip_position a y", "reaction_force b.root")
    drawn = {axes.get_ylabel(): [line.get_label() for line in axes.lines] for axes in figure.axes}
    assert drawn == {
        "angle, rad": ["c.angle"],
        "angular velocity, rad/s": ["a.angle"],
        "tip position, m": ["a y"],
        "reaction force, kN": ["b x", "b y", "b z"],
    }
    height = figure.axes[2].lines[0]
    assert np.array_equal(height.get_xdata(), chain.time)
    assert np.array_equal(height.get_ydata(), chain["tip_position", "a", "y"])
    assert np.array_equal(chain["reaction_force", "b.root", "y"], chain["reaction_force", "b", "y"])


def test_a_series_of_several_runs_has_one_panel_per_number_and_one_line_per_run(chain):
    other = pl.simulate(falling_chain("cc-cc-cc"), 0.8, save=2e-3)
    figure = pl.plot.series({"soft": chain, "stiff": other}, "c.angle", "tip_position a y", zoom=(0.4, 0.5))
    assert len(figure.axes) == 4 and all([line.get_label() for line in axes.lines] == ["soft", "stiff"] for axes in figure.axes)
    assert figure.axes[1].get_xlim() == (0.4, 0.5)
    inside = chain["c.angle"][(chain.time >= 0.4) & (chain.time <= 0.5)]
    low, high = figure.axes[1].get_ylim()
    assert low < inside.min() and inside.max() < high < low + 3.0 * np.ptp(inside)
    legends = [text.get_text() for axes in figure.axes if axes.get_legend() for text in axes.get_legend().get_texts()]
    assert legends == ["soft", "stiff"]


def test_a_reference_is_subtracted_where_both_runs_have_rows(chain):
    short = pl.simulate(falling_chain(), 0.4, save=5e-3)
    (axes,) = pl.plot.series([chain, chain], "c.angle", reference=short).axes
    one, two = axes.lines
    assert [one.get_label(), two.get_label()] == ["falling chain ss-ss-ss (1)", "falling chain ss-ss-ss (2)"]
    t = one.get_xdata()
    assert t[-1] == pytest.approx(0.4) and axes.get_ylabel().startswith("Δ c.angle")
    common = np.isclose(t / 5e-3, np.round(t / 5e-3))
    assert np.allclose(one.get_ydata()[common], 0.0, atol=1e-6)


def test_many_runs_are_coloured_by_their_order(chain):
    (axes,) = pl.plot.series([chain] * 30, "c.angle").axes
    assert len(axes.lines) == 30 and len({line.get_color() for line in axes.lines}) == 30
    assert axes.get_legend().get_title().get_text() == "and 9 more"


@pytest.mark.parametrize("law", [
    pl.Hertz(stiffness=1e8),
    pl.HuGuo(stiffness=140e6, restitution=0.8),
    pl.LankaraniNikravesh(stiffness=1e9, restitution=0.5),
    pl.Linear(stiffness=1e5, damping=20.0, pulls=True),
], ids=lambda law: type(law).__name__)  # fmt: skip
def test_the_loop_of_a_law_encloses_the_energy_that_it_takes(law):
    """The area of force over penetration is the loss (1 - e^2) m v^2/2, with the restitution that the law delivers."""
    speed, mass = 2.0, 0.3
    axes = pl.plot.law(law, speed=speed, mass=mass).axes[0]
    (line,) = axes.lines
    unit = {"penetration, mm": 1e-3, "penetration, µm": 1e-6, "penetration, m": 1.0}[axes.get_xlabel()]
    kilo = {"normal force, kN": 1e3, "normal force, N": 1.0}[axes.get_ylabel()]
    area = np.trapezoid(kilo * line.get_ydata(), unit * line.get_xdata())
    e = law.delivered_between(mass, speed)
    assert area == pytest.approx(0.5 * mass * speed**2 * (1.0 - e * e), rel=2e-3, abs=1e-4)
    assert f"e = {e:.3f}" in line.get_label()


def test_friction_is_odd_in_the_slip_and_a_law_that_holds_shows_how_much():
    axes = pl.plot.law([pl.Ambrosio(mu=0.1, v0=1e-4, v1=1e-3), pl.Karnopp(mu_static=0.3, mu_kinetic=0.2)]).axes[0]
    ambrosio, karnopp, holds = axes.lines[:3]
    slip, mu = ambrosio.get_data()
    assert np.allclose(mu, -mu[::-1]) and np.allclose(np.interp([0.05, 0.55, 5.0], slip, mu), [0.0, 0.05, 0.1], atol=1e-3)
    assert karnopp.get_ydata().max() == 0.2 and holds.get_ydata().max() == 0.3


def test_the_loop_of_bristles_is_that_of_dahl():
    """Between reversals dF/dx = sigma0 (1 - F/mu), so from -mu the force is mu (1 - 2 exp(-sigma0 x/mu))."""
    from pliant.show.plot.laws import bristle_loop

    law = pl.Dahl(mu=0.3, sigma0=1e4)
    slip, force = bristle_loop(law, None)
    begin, end = int(np.argmin(slip)), len(slip) - 1
    path = slip[begin:end] - slip[begin]
    start = force[begin]
    expected = law.mu - (law.mu - start) * np.exp(-law.sigma0 * path / law.mu)
    assert np.allclose(force[begin:end], expected, atol=1e-5)


def test_shapes_are_those_of_the_model_and_their_slopes():
    beam = pl.Beam(length=0.8, section=pl.Section.rectangle(0.02, 0.01), material=pl.STEEL, theory="timoshenko",
                   modes=pl.Modes("cf", 2))  # fmt: skip
    moves, turns = pl.plot.shapes(beam).axes
    assert [line.get_label() for line in moves.lines[:2]] == ["y1", "y2"]
    x, w = moves.lines[1].get_data()
    theta = turns.lines[2].get_ydata() if turns.lines[1].get_linestyle() == "--" else turns.lines[1].get_ydata()
    assert (x[0], x[-1], w[0], theta[0]) == (0.0, 0.8, 0.0, 0.0)
    assert np.allclose(np.gradient(w, x)[50:-50], theta[50:-50], atol=0.02 * np.max(np.abs(theta)))


def test_the_curves_of_a_figure_are_written_as_a_table(chain, tmp_path):
    """As drawn: in the units of the axes, each with its own times; lines across a panel are left out."""
    figure = pl.plot.series(chain, "c.angle", "tip_position a y", zoom=(0.4, 0.5))
    pl.plot.save(figure, tmp_path / "curves.csv")
    with open(tmp_path / "curves.csv", newline="") as file:
        heads, *rows = csv.reader(file)
    assert heads[:2] == ["1 falling chain ss-ss-ss: c.angle: x", "1 falling chain ss-ss-ss: c.angle: angle, rad"]
    assert heads[4:6] == ["3: a y: time, s", "3: a y: tip position, m"] and len(heads) == 8
    assert np.array_equal([float(row[1]) for row in rows], chain["c.angle"])
    pl.plot.save(pl.plot.balance_error(chain), tmp_path / "error.csv")  # one curve, and the line of its largest value
    with open(tmp_path / "error.csv", newline="") as file:
        assert len(next(csv.reader(file))) == 2


def test_a_schematic_names_links_with_lengths_and_joints_with_coordinates(chain, crank):
    figure = pl.plot.mechanism(chain, time=0.0, labels=True)
    words = [text.get_text() for text in figure.axes[0].texts]
    assert {"a, 1 m", "b, 1 m", "c, 1 m", "x, y, angle", "angle", "g", "x", "y"} <= set(words)
    assert figure.axes[0].get_xlim()[1] < 2.0  # the posture shown, not the whole motion
    words = [text.get_text() for text in pl.plot.mechanism(crank, time=0.0, labels=True).axes[0].texts]
    assert {"crank, 0.153 m", "rod, 0.306 m", "slider"} <= set(words)


@pytest.mark.parametrize(("gravity", "vertical", "down"), [((0, -9.81, 0), 1, -1), ((0, 9.81, 0), 1, 1), ((0, 0, -9.81), 2, -1)])
def test_gravity_points_down_the_page_in_space_too(gravity, vertical, down):
    from mpl_toolkits.mplot3d import proj3d

    system = pl.System("pendulum", gravity)
    system.add(
        "rod",
        pl.RigidBody(mass=1.0, inertia=(0.1, 0.2, 0.3), com=(0.5, 0.0, 0.0), tip=(1.0, 0.0, 0.0)),
        joint=pl.Spherical(angular_velocity=(1.0, 2.0, 3.0)),
    )
    axes = pl.plot.mechanism(pl.simulate(system, 0.5, save=0.01), time=0.5).axes[0]
    axes.figure.canvas.draw()
    foot, head = np.zeros(3), np.zeros(3)
    head[vertical] = down
    (_, low, _), (_, high, _) = (proj3d.proj_transform(*point, axes.get_proj()) for point in (head, foot))
    assert low < high
