"""Buckling loads and first frequencies of a beam's own shapes, against Euler's."""

import math
from itertools import pairwise

import numpy as np
import pytest

import pliant as pl
from pliant.beams import beam_shapes, shape_integrals
from pliant.beams.stability import buckling_load, first_frequency

SECTION = pl.Section.rectangle(height=0.01, width=0.03)
LENGTH = 1.3
EULER = math.pi**2 * pl.STEEL.E * SECTION.Iz / LENGTH**2  # between pins, N


def beam(modes):
    return pl.Beam(length=LENGTH, section=SECTION, material=pl.STEEL, theory="euler-bernoulli", modes=modes)


def load(modes, tip_held=False):
    of = beam(modes)
    shapes = beam_shapes(of)
    return buckling_load(shapes, shape_integrals(of, shapes).stiffness, LENGTH, tip_held)


@pytest.mark.parametrize(("ends", "factor"), [("cf", 0.25), ("ss", 1.0), ("cc", 4.0), ("cs", 2.04575), ("sc", 2.04575)])
def test_each_pair_of_ends_has_its_factor_of_eulers_load(ends, factor):
    """From above, for Ritz makes a beam too stiff, and the closer, the more modes there are; sines are exact."""
    few, many = (load(pl.Modes(ends, count)) / (factor * EULER) - 1.0 for count in (2, 10))
    assert -1e-9 < many <= few + 1e-12 and many < 1e-2


def test_elements_come_closer_with_h_to_the_fourth():
    errors = [load(pl.ElementModes(n, reference="cantilever")) / (0.25 * EULER) - 1.0 for n in (1, 2, 4)]
    assert errors[0] == pytest.approx(0.0075, abs=5e-4)  # the classic 2.486 E I / l^2 for 2.467
    assert [math.log2(a / b) for a, b in pairwise(errors)] == pytest.approx([4.0, 4.0], abs=0.3)


def test_a_tip_that_is_held_is_seen_from_the_chord():
    """A mesh from its root's tangent, its tip held: that of the same beam between pins."""
    held = load(pl.ElementModes(8, reference="cantilever"), tip_held=True)
    assert held == pytest.approx(EULER, rel=1e-4)
    assert load(pl.Modes("ss", 1), tip_held=True) == pytest.approx(load(pl.Modes("ss", 1)), rel=1e-12)


def test_the_softer_plane_buckles_first_and_what_does_not_bend_never():
    wide = pl.STEEL.E * SECTION.Iy / (pl.STEEL.E * SECTION.Iz)
    both = [pl.Modes("ss", 1), pl.Modes("ss", 1, plane="z")]
    assert load(both) == pytest.approx(EULER, rel=1e-9) and load(both[1]) == pytest.approx(wide * EULER, rel=1e-9)
    assert load(pl.AxialModes("cf", 2)) == math.inf


def test_the_first_frequency_is_that_of_the_softer_plane():
    of = beam([pl.Modes("cf", 2, plane="z"), pl.Modes("cf", 2), pl.AxialModes("cf", 1)])
    shapes = beam_shapes(of)
    integrals = shape_integrals(of, shapes)
    found = first_frequency(shapes, integrals.stiffness, integrals.modal_mass)
    assert found == pytest.approx(float(np.min(shapes.frequencies)), rel=1e-12)
