"""Foreshortening: w_c = -1/2 int_0^x (w_y'^2 + w_z'^2) as fields over the beam, and their integrals."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

import pliant as pl
from pliant.beams import beam_shapes, field_integrals, field_values, shape_integrals
from pliant.beams.fields import foreshortening, stiffening_pairs, stiffening_threes, third_order
from pliant.errors import ModelError
from pliant.gallery.tipping_arm.system import AREA, DENSITY, LENGTH, Case, arm

L, MU = 0.7, 1.3


def beam(modes, stiffening="full", theory="euler-bernoulli"):
    section = pl.Section(A=2e-4, Iy=3e-9, Iz=2e-9, J=4e-9, shear_factor=5 / 6)
    return pl.Beam(length=L, section=section, material=pl.Material(E=2e11, G=8e10), theory=theory, mass_per_length=MU,
                   rotary_inertia=1e-5, modes=modes, stiffening=stiffening)  # fmt: skip


def power(n):
    """w = (x/L)^n."""
    return pl.ShapeFunction(w=lambda x: (x / L) ** n, dw=lambda x: n / L * (x / L) ** (n - 1),
                            ddw=lambda x: n * (n - 1) / L**2 * (x / L) ** (n - 2))  # fmt: skip


def powers(stiffening="full"):
    return beam(pl.GivenModes((power(2), power(3))), stiffening)


def fields_of(one):
    shapes = beam_shapes(one)
    return field_integrals(one, shapes, shape_integrals(one, shapes))


def back(j, k):
    """-(1 or 1/2) H_jk for w = (x/L)^j, (x/L)^k, as (factor, power): H = j k / (j + k - 1) (x/L)^(j + k - 1) / L."""
    return -(0.5 if j == k else 1.0) * j * k / (j + k - 1) / L, j + k - 1


PAIRS = ((2, 2), (2, 3), (3, 3))


def test_the_fields_of_powers_are_in_closed_form():
    one = powers()
    shapes = beam_shapes(one)
    pairs = stiffening_pairs(one, shapes)
    assert pairs == ((0, 0), (0, 1), (1, 1))
    x = np.linspace(0.0, L, 23)
    wanted = np.stack([c * (x / L) ** n for c, n in (back(*pair) for pair in PAIRS)], axis=1)
    assert foreshortening(shapes, pairs, x) == pytest.approx(wanted, rel=1e-13, abs=1e-16)


def test_the_fields_of_third_order_are_in_closed_form():
    """-1/6 int W_j' W_k' W_l', as many times as three modes have orders: 1, 3, 3, 1; of powers, powers."""
    one = powers("cubic")
    shapes = beam_shapes(one)
    threes = stiffening_threes(one, shapes)
    assert threes == ((0, 0, 0), (0, 0, 1), (0, 1, 1), (1, 1, 1)) and stiffening_threes(powers(), shapes) == ()
    x = np.linspace(0.0, L, 23)
    powers_of = [[(2, 3)[k] for k in modes] for modes in threes]
    wanted = [-count / 6.0 * math.prod(n) / (sum(n) - 2) * (x / L) ** (sum(n) - 2) / L**2
              for count, n in zip((1, 3, 3, 1), powers_of, strict=True)]  # fmt: skip
    assert third_order(shapes, threes, x)[:, :, 1] == pytest.approx(np.stack(wanted, axis=1), rel=1e-12, abs=1e-16)
    assert not np.any(third_order(shapes, threes, x)[:, :, [0, 2]])


def test_a_bend_in_any_plane_is_the_same_to_third_order():
    """Turned about the axis of a round beam, the field turns with it: both planes mix as (w_y'^2 + w_z'^2) w'."""
    one = beam([pl.GivenModes([power(2)]), pl.GivenModes([power(2)], plane="z")], "cubic")
    shapes = beam_shapes(one)
    threes = stiffening_threes(one, shapes)
    x, angle = np.array([0.4 * L, L]), 0.7
    q = 0.3 * np.array([math.cos(angle), math.sin(angle)])
    fields = third_order(shapes, threes, x)
    moved = sum(fields[:, number] * math.prod(q[list(modes)]) for number, modes in enumerate(threes))
    straight = fields[:, threes.index((0, 0, 0)), 1] * 0.3**3
    assert moved[:, 1] == pytest.approx(straight * math.cos(angle), rel=1e-12)
    assert moved[:, 2] == pytest.approx(straight * math.sin(angle), rel=1e-12)


def test_integrals_of_third_order_are_those_of_fine_sums():
    """int mu W_A W_B^T of all fields by the midpoint rule over 4000 points, and int mu W_A."""
    one = powers("cubic")
    shapes, found = beam_shapes(one), fields_of(one)
    x = (np.arange(4000) + 0.5) * L / 4000
    pairs, threes = stiffening_pairs(one, shapes), stiffening_threes(one, shapes)
    fields = np.zeros((x.size, 1 + 2 + len(pairs) + len(threes), 3))
    fields[:, 0, 0] = x
    fields[:, 1:3] = np.swapaxes(shapes.displacement(x), 1, 2)
    fields[:, 3:6, 0] = foreshortening(shapes, pairs, x)
    fields[:, 6:] = third_order(shapes, threes, x)
    step = one.mu * L / 4000
    assert found.products == (*pairs, *threes)
    assert found.first == pytest.approx(step * fields.sum(axis=0), rel=1e-6, abs=1e-12)
    assert found.second == pytest.approx(step * np.einsum("xac,xbd->abcd", fields, fields), rel=1e-6, abs=1e-12)


def test_the_integrals_of_powers_are_in_closed_form():
    """int mu W_A and int mu W_A W_B^T of all fields: every one a power of x/L along x or y."""
    found = fields_of(powers())
    fields = [(L, 1, 0), (1.0, 2, 1), (1.0, 3, 1), *((*back(*pair), 0) for pair in PAIRS)]  # factor, power, axis
    assert found.products == ((0, 0), (0, 1), (1, 1))
    for a, (c, n, axis) in enumerate(fields):
        first = np.zeros(3)
        first[axis] = MU * L * c / (n + 1)
        assert found.first[a] == pytest.approx(first, rel=1e-13, abs=1e-18)
        for b, (d, m, other) in enumerate(fields):
            second = np.zeros((3, 3))
            second[axis, other] = MU * L * c * d / (n + m + 1)
            assert found.second[a, b] == pytest.approx(second, rel=1e-13, abs=1e-18)


def test_the_integrals_of_theorys_own_modes_are_those_of_nested_quadrature():
    one = beam([pl.Modes("cf", 2), pl.Modes("cf", 1, plane="z")], theory="timoshenko")
    shapes, found = beam_shapes(one), fields_of(one)
    assert found.products == ((0, 0), (0, 1), (1, 1), (2, 2))  # planes do not mix

    unit, weight = np.polynomial.legendre.leggauss(48)
    x, w = 0.5 * L * (unit + 1.0), 0.5 * L * weight
    inner = 0.5 * x[:, None] * (unit + 1.0)  # the same rule from the root to each station
    slope = shapes.displacement(inner.ravel(), 1).sum(axis=1).reshape(48, 48, 3)  # each mode moves along one axis
    for number, (j, k) in enumerate(found.products, start=4):
        field = -(0.5 if j == k else 1.0) * 0.5 * x * np.einsum("m,nm,nm->n", weight, slope[:, :, j], slope[:, :, k])
        assert found.first[number] == pytest.approx([MU * w @ field, 0, 0], rel=1e-12)
        assert found.second[number, 0, 0, 0] == pytest.approx(MU * w @ (field * x), rel=1e-12)
        assert found.pair[number, 0] == found.second[number, 0, 0, 0]
        for mode, axis in enumerate((1, 1, 2)):
            crossed = MU * w @ (field * shapes.displacement(x)[:, axis, mode])
            assert found.second[number, 1 + mode, 0, axis] == pytest.approx(crossed, rel=1e-10)
            assert found.second[1 + mode, number, axis, 0] == found.second[number, 1 + mode, 0, axis]
        assert found.second[number, number, 0, 0] == pytest.approx(MU * w @ field**2, rel=1e-12)


def test_a_kink_of_a_given_shape_is_integrated_to_its_place():
    """w = max(x - a, 0): H = max(x - a, 0) too."""
    a = 0.31
    kinked = pl.ShapeFunction(w=lambda x: np.maximum(x - a, 0.0), dw=lambda x: np.where(x > a, 1.0, 0.0),
                              ddw=lambda x: 0.0 * x, breaks=(a,))  # fmt: skip
    one = beam(pl.GivenModes((kinked,)))
    x = np.array([0.0, 0.1, a, 0.4, L])
    assert foreshortening(beam_shapes(one), ((0, 0),), x)[:, 0] == pytest.approx(-0.5 * np.maximum(x - a, 0.0), abs=1e-15)
    assert fields_of(one).first[2, 0] == pytest.approx(-0.25 * MU * (L - a) ** 2, rel=1e-13)


@pytest.mark.parametrize("station", [0.0, 0.2, L])
def test_at_a_station_the_fields_move_what_is_there(station):
    moves, turns = field_values(powers(), beam_shapes(powers()), station)
    s = station / L
    assert moves[:3] == pytest.approx(np.array([[station, 0, 0], [0, s**2, 0], [0, s**3, 0]]), rel=1e-13)
    assert moves[3:] == pytest.approx(np.array([[c * s**n, 0, 0] for c, n in (back(*p) for p in PAIRS)]), rel=1e-13, abs=1e-16)
    assert turns[1:3] == pytest.approx(np.array([[0, 0, 2 * s / L], [0, 0, 3 * s**2 / L]]), rel=1e-13)
    assert not np.any(turns[3:])


def test_linear_keeps_foreshortening_against_the_beam_at_rest_only():
    full, linear = fields_of(powers("full")), fields_of(powers("linear"))
    assert np.array_equal(linear.first, full.first)
    assert np.array_equal(linear.second[:3, :3], full.second[:3, :3])
    assert np.array_equal(linear.second[3:, 0], full.second[3:, 0])
    assert not np.any(linear.second[3:, 1:])
    assert np.any(full.second[3:, 1:3]) and np.any(full.second[3:, 3:])
    assert np.array_equal(linear.second, linear.second.transpose(1, 0, 3, 2))


def test_as_published_is_linear_without_gravity_on_the_modes():
    linear, published = fields_of(powers("linear")), fields_of(powers("as-published"))
    assert np.array_equal(published.second, linear.second)
    assert np.array_equal(published.first[0], linear.first[0])
    assert not np.any(published.first[1:])


def test_none_has_no_such_fields_and_bars_and_shafts_have_none_to_give():
    assert fields_of(powers("none")).products == ()
    one = beam([pl.AxialModes("cf", 2), pl.TorsionModes("cf", 1)])
    assert fields_of(one).products == ()
    assert fields_of(one).first.shape == (4, 3)


def test_the_tipping_arms_integrals_are_the_references():
    data = Path(__file__).parent.parent / "published" / "data" / "tipping_arm.json"
    reference = json.loads(data.read_text())["matrices"]
    one, mu = arm(Case()), DENSITY * AREA
    found, shapes = fields_of(one), beam_shapes(one)
    halves = {(0, 0): 0.5, (0, 1): 1.0, (1, 1): 0.5}
    for number, (j, k) in enumerate(found.products, start=3):
        assert found.second[number, 0, 0, 0] == pytest.approx(-halves[j, k] * mu * reference["int_x_H"][j][k], rel=1e-11)
        at_tip = foreshortening(shapes, ((j, k),), np.array([LENGTH]))[0, 0]
        assert at_tip == pytest.approx(-halves[j, k] * reference["H_l"][j][k], rel=1e-11)
    assert found.first[1:3, 1] == pytest.approx(mu * np.array(reference["int_Phi"]), rel=1e-11)
    assert found.pair[1:3, 1:3] == pytest.approx(mu * np.array(reference["int_Phi_Phi"]), rel=1e-9)


@pytest.mark.parametrize("wrong", ["half", "Full", None, True, 1])
def test_other_words_for_stiffening_are_refused(wrong):
    with pytest.raises(ModelError, match="Beam: stiffening must be one of auto, none, linear, full, cubic, as-published"):
        powers(wrong)
