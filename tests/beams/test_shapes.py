"""The field of a whole beam: bars, given shapes, directions, signs, exact zeros."""

import numpy as np
import pytest

from pliant.beams import beam_shapes
from pliant.errors import ModelError
from pliant.model.beam import Beam
from pliant.model.material import Material
from pliant.model.modes import AxialModes, GivenModes, Modes, ShapeFunction, ShapeTable, TorsionModes
from pliant.model.section import Section

SECTION = Section.rectangle(0.02, 0.03)
STEEL = Material(E=2e11, nu=0.3, density=7800.0)


def beam(modes, theory="timoshenko", length=1.0, **more):
    return Beam(length=length, section=SECTION, material=STEEL, theory=theory, modes=modes, **more)


def test_columns_follow_the_mode_sets_and_stand_in_their_directions():
    sets = [Modes("cf", 2), TorsionModes("cf", 1), Modes("ss", 1, plane="z"), AxialModes("cc", 2)]
    shapes = beam_shapes(beam(sets))
    assert shapes.labels == ("y1", "y2", "torsion1", "z1", "axial1", "axial2")
    assert shapes.count == 6
    x = np.array([0.2, 0.7])
    moves, turns = shapes.displacement(x), shapes.rotation(x)
    assert moves.shape == turns.shape == (2, 3, 6)
    assert [tuple(np.flatnonzero(moves[0, :, j])) for j in range(6)] == [(1,), (1,), (), (2,), (0,), (0,)]
    assert [tuple(np.flatnonzero(turns[0, :, j])) for j in range(6)] == [(2,), (2,), (0,), (1,), (), ()]


def test_a_z_shape_turns_about_minus_y():
    shapes = beam_shapes(beam(Modes("cf", 1, plane="z"), "euler-bernoulli"))
    assert shapes.rotation(1.0)[0, 1, 0] == pytest.approx(-shapes.displacement(1.0, 1)[0, 2, 0], rel=1e-14)


@pytest.mark.parametrize("ends, wavenumbers", [("cf", (0.5, 1.5)), ("fc", (0.5, 1.5)), ("cc", (1, 2)), ("ff", (1, 2))])
def test_bars_have_their_closed_forms(ends, wavenumbers):
    link = beam([AxialModes(ends, 2), TorsionModes(ends, 2)], length=2.0)
    shapes = beam_shapes(link)
    k = np.array(wavenumbers) * np.pi / 2.0
    speeds = np.sqrt([2e11 / 7800.0, STEEL.shear_modulus * SECTION.J / link.rotary[0]])
    assert shapes.frequencies == pytest.approx(np.concatenate([speeds[0] * k, speeds[1] * k]), rel=1e-14)
    x = np.linspace(0.0, 2.0, 9)
    known = np.sin(np.outer(x, k)) if ends[0] == "c" else 1.0 - np.cos(np.outer(x, k))
    assert shapes.displacement(x)[:, 0, :2] == pytest.approx(known, abs=1e-14)
    assert shapes.rotation(x)[:, 0, 2:] == pytest.approx(known, abs=1e-14)
    slope = np.cos(np.outer(x, k)) * k if ends[0] == "c" else np.sin(np.outer(x, k)) * k
    assert shapes.displacement(x, 1)[:, 0, :2] == pytest.approx(slope, abs=1e-13)
    assert shapes.rotation(x, 1)[:, 0, 2:] == pytest.approx(slope, abs=1e-13)


@pytest.mark.parametrize("ends", ["cc", "ss", "sc", "cs", "cf", "fc", "ff", "sf", "fs"])
def test_what_an_end_holds_is_exactly_zero_there(ends):
    shapes = beam_shapes(beam(Modes(ends, 3), length=0.7))
    for end, x in zip(ends, (0.0, 0.7), strict=True):
        moves, turns = shapes.displacement(x), shapes.rotation(x)
        assert np.all(moves == 0.0) == (x == 0.0 or (end in "cs" and ends[0] != "f"))
        assert np.all(turns == 0.0) == (end == "c")


def test_a_free_root_is_the_origin_of_its_shape_and_keeps_its_slope():
    link = beam(Modes("ff", 2))
    shapes = beam_shapes(link)
    mode = shapes.columns[0].shape
    assert shapes.displacement(0.4)[0, 1, 0] == pytest.approx(float(mode.w(0.4) - mode.w(0.0)), rel=1e-14)
    assert shapes.rotation(0.0)[0, 2, 0] == pytest.approx(float(mode.theta(0.0)), rel=1e-14)


@pytest.mark.parametrize("modes", [Modes("fc", 2), Modes("fs", 2), AxialModes("fc", 2), TorsionModes("fc", 2)])
def test_fields_are_continuous_up_to_the_ends(modes):
    shapes = beam_shapes(beam(modes))
    for x, inside in ((0.0, 1e-9), (1.0, 1.0 - 1e-9)):
        assert shapes.displacement(x) == pytest.approx(shapes.displacement(inside), abs=1e-7)
        assert shapes.rotation(x) == pytest.approx(shapes.rotation(inside), abs=1e-6)


def test_given_functions_are_taken_as_they_are():
    shape = ShapeFunction(w=lambda x: x**2, dw=lambda x: 2 * x, ddw=lambda x: 2.0, theta=lambda x: 1.9 * x, dtheta=lambda x: 1.9)
    x = np.array([0.0, 0.5, 1.0])
    thick, thin = beam_shapes(beam(GivenModes([shape]))), beam_shapes(beam(GivenModes([shape]), "euler-bernoulli"))
    assert thick.displacement(x)[:, 1, 0] == pytest.approx(x**2)
    assert thick.displacement(x, 2)[:, 1, 0] == pytest.approx(2.0)
    assert thick.rotation(x)[:, 2, 0] == pytest.approx(1.9 * x)
    assert thick.shear_strain(x)[:, 1, 0] == pytest.approx(0.1 * x)
    assert thin.rotation(x)[:, 2, 0] == pytest.approx(2.0 * x)
    assert np.all(thin.shear_strain(x) == 0.0)
    assert np.isnan(thick.frequencies[0])


def test_a_table_of_a_mode_gives_back_the_mode():
    exact = beam_shapes(beam(Modes("cf", 2)))
    stations = np.linspace(0.0, 1.0, 101)
    w, theta = exact.displacement(stations)[:, 1], exact.rotation(stations)[:, 2]
    tables = [ShapeTable(x=tuple(stations), w=tuple(w[:, j]), theta=tuple(theta[:, j])) for j in range(2)]
    given = beam_shapes(beam(GivenModes(tables)))
    x = np.linspace(0.0, 1.0, 57)
    for order, error in ((0, 1e-9), (1, 1e-6), (2, 1e-3)):
        assert given.displacement(x, order) == pytest.approx(exact.displacement(x, order), abs=error)
    assert given.rotation(x, 1) == pytest.approx(exact.rotation(x, 1), abs=1e-4)
    assert set(stations) <= set(given.panels)


def parabola(**changes):
    fields = {"w": lambda x: x**2, "dw": lambda x: 2 * x, "ddw": lambda x: 2.0}
    return ShapeFunction(**(fields | changes))


@pytest.mark.parametrize(
    "shape, theory, words",
    [
        (parabola(), "timoshenko", r"shapes\[0\].theta must be given for a timoshenko beam"),
        (parabola(breaks=(1.5,)), "euler-bernoulli", r"shapes\[0\].breaks must lie inside \(0, 1.0\) m, got \(1.5,\)"),
        (parabola(w=lambda x: x[:2]), "euler-bernoulli", r"shapes\[0\].w must return one number per x"),
        (parabola(w=lambda x: 0 * x + np.nan), "euler-bernoulli", r"shapes\[0\].w must be finite along the beam"),
        (ShapeTable(x=tuple(np.linspace(0, 1, 6)), w=(0.0,) * 6), "timoshenko", r"shapes\[0\].theta must be given"),
    ],
)
def test_wrong_given_shapes_are_named(shape, theory, words):
    with pytest.raises(ModelError, match=words):
        beam_shapes(beam(GivenModes([shape]), theory)).displacement(np.linspace(0, 1, 5))
