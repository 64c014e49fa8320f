"""Pictures are drawn and say what they show, of results in memory and from files."""

import re

import numpy as np
import pytest
from matplotlib.axis import Tick
from matplotlib.text import Text

import pliant as pl
from pliant.show.plot import PLOTS
from pliant.show.plot.energy import stacked
from pliant.show.plot.spectrum import amplitudes
from pliant.show.plot.style import PALETTE, prefixed

UNIT = re.compile(r", (?:[fpnµmkMG]?(?:m|N m|N|J|Hz|Pa|rad|s)(?:/s)?|1)$|largest exchange$")


OF_SECTIONS = ("stress_envelope", "force_envelope")  # of results that hold them
OF_LOADS = ("struts", "motors")
OF_SOME = (*OF_SECTIONS, *OF_LOADS, "states")
CASES = [("chain", name) for name in PLOTS if name not in ("tip_deflection", *OF_SOME)]  # its links are held at both ends
CASES += [("arm", name) for name in PLOTS if name not in ("contact_forces", *OF_SOME)]
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


def test_the_users_own_style_is_neither_used_nor_changed(chain):
    import matplotlib as mpl

    with mpl.rc_context({"axes.grid": False, "font.size": 30.0}):
        figure = pl.plot.coordinates(chain)
        assert (mpl.rcParams["axes.grid"], mpl.rcParams["font.size"]) == (False, 30.0)
    assert figure.axes[0].yaxis.label.get_fontsize() < 12.0


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
    ball = system.add(r"$\frac{1$", pl.RigidBody(mass=1.0, inertia=0.01), joint=pl.Planar(position=(0, 0.11)))
    system.contact(points=pl.Sphere(ball.root, 0.1), against=pl.Plane(normal=(0, 1)), normal=law, name=r"floor $\foo$")
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
