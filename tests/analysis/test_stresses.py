"""Stresses against hand calculations, Saint-Venant's tables and the boundary conditions that they must satisfy."""

import math

import numpy as np
import pytest

import pliant as pl
from pliant.analysis.stresses import POINTS, SectionLoad, section_stresses
from pliant.model.outline import OUTLINES

FLAT = pl.Section.rectangle(0.02, 0.01)
ROD = pl.Section.round(0.01)
TUBE = pl.Section.tube(0.02, 0.018)
STIFF = pl.Material(E=2e19, density=7800.0, nu=0.3)


def load(**forces):
    names = ("axial", "shear_y", "shear_z", "torsion", "moment_y", "moment_z")
    return SectionLoad(*(np.array([[float(forces.get(name, 0.0))]]) for name in names))


def stress(section, **forces):
    return tuple(float(x[0, 0]) for x in section_stresses(section, load(**forces)))


def test_every_outline_has_its_stresses():
    assert set(POINTS) == set(OUTLINES)


def test_bending_and_tension_are_largest_in_a_corner_of_a_rectangle():
    modulus_z, modulus_y = 0.01 * 0.02**2 / 6.0, 0.02 * 0.01**2 / 6.0
    bent = 30.0 / modulus_z + 20.0 / modulus_y
    pulled = 1000.0 / 2e-4
    largest, smallest, equivalent = stress(FLAT, axial=1000.0, moment_y=-20.0, moment_z=30.0)
    np.testing.assert_allclose([largest, smallest, equivalent], [pulled + bent, pulled - bent, pulled + bent], rtol=1e-12)


def test_bending_of_a_round_rod_is_that_of_both_moments_together():
    modulus = math.pi * 0.01**3 / 4.0
    for angle in np.linspace(0.0, 6.0, 7):
        largest, smallest, equivalent = stress(ROD, moment_y=50.0 * math.sin(angle), moment_z=50.0 * math.cos(angle))
        np.testing.assert_allclose([largest, -smallest, equivalent], 50.0 / modulus, rtol=1e-12)


def test_a_positive_moment_about_z_presses_the_fibres_at_plus_y():
    """A beam that curves towards +y is shorter there."""
    upper = pl.Section(A=1e-4, Iz=1e-9, outline=pl.FibreOutline(points=[(0.01, 0.0)]))
    assert stress(upper, moment_z=2.0)[0] == pytest.approx(-2.0 * 0.01 / 1e-9)
    aside = pl.Section(A=1e-4, Iy=1e-9, outline=pl.FibreOutline(points=[(0.0, 0.01)]))
    assert stress(aside, moment_y=2.0)[0] == pytest.approx(2.0 * 0.01 / 1e-9)


@pytest.mark.parametrize(("ratio", "factor"), [(1.0, 0.208), (1.5, 0.231), (2.0, 0.246), (4.0, 0.282), (10.0, 0.312)])
def test_torsion_of_rectangles_is_that_of_saint_venant_s_table(ratio, factor):
    """tau = T / (factor a b^2): Timoshenko, Goodier, Theory of Elasticity, art. 109, table of k2."""
    for height, width in ((ratio * 0.01, 0.01), (0.01, ratio * 0.01)):
        equivalent = stress(pl.Section.rectangle(height, width), torsion=10.0)[2]
        assert equivalent / math.sqrt(3.0) == pytest.approx(10.0 / (factor * ratio * 1e-6), rel=2.5e-3)  # the table's digits


def test_torsion_of_round_sections_is_largest_at_the_rim():
    polar = math.pi * (0.02**4 - 0.018**4) / 2.0
    assert stress(TUBE, torsion=10.0)[2] == pytest.approx(math.sqrt(3.0) * 10.0 * 0.02 / polar, rel=1e-12)


@pytest.mark.parametrize(("section", "peak"), [(FLAT, 1.5), (ROD, 4.0 / 3.0), (TUBE, 2.0)], ids=["rectangle", "round", "thin tube"])
def test_shear_forces_are_largest_on_the_neutral_axis(section, peak):
    for direction in ("shear_y", "shear_z"):
        largest, smallest, equivalent = stress(section, **{direction: 300.0})
        assert largest == smallest == 0.0
        assert equivalent == pytest.approx(math.sqrt(3.0) * peak * 300.0 / section.A, rel=2e-3)  # the tube's wall is 10 % thick


def test_no_shear_stress_of_a_rectangle_leaves_its_surface_and_torsion_makes_no_force():
    from pliant.analysis.stresses import _torsion_shear

    h, b = 0.02, 0.01
    slope = _torsion_shear(0.5 * h, 0.0, h, b)
    for y in np.linspace(-0.5, 0.5, 7) * h:
        assert abs(_torsion_shear(y, 0.5 * b, h, b)) < 2e-3 * slope  # across the sides z = b/2; what 400 terms leave in a corner
    y, weight = np.polynomial.legendre.leggauss(24)
    along_z = np.array([[_torsion_shear(0.5 * h * u, 0.5 * b * w, h, b) for w in y] for u in y])
    along_y = -np.array([[_torsion_shear(0.5 * b * w, 0.5 * h * u, b, h) for w in y] for u in y])
    area = np.outer(weight, weight) * 0.25 * h * b
    moment = np.sum(area * (0.5 * h * y[:, None] * along_z - 0.5 * b * y[None, :] * along_y))
    assert moment == pytest.approx(pl.Section.rectangle(h, b).J, rel=1e-6)  # so T = G theta' J comes out again
    assert abs(np.sum(area * along_z)) < 1e-9 * moment / h


def test_a_loaded_cantilever_is_stressed_as_by_hand():
    system = pl.System("cantilever", gravity=(0, 0, 0))
    beam = pl.Beam(length=0.5, section=FLAT, material=STIFF, theory="euler-bernoulli", modes=pl.Modes("cf", 2))
    arm = system.add("arm", beam, joint=pl.Weld())
    system.force("push", arm.tip, (400.0, -20.0, 0.0))
    result = pl.inverse_dynamics(system, {}, 1e-3, elastic="quasi-static", save=[0.0, 1e-3])
    found = pl.stresses(result, stations=3)
    pulled, bent = 400.0 / FLAT.A, 20.0 * (0.5 - found.x.values[0]) * 0.01 / FLAT.Iz
    np.testing.assert_allclose(found.largest_normal_stress[0, 0], pulled + bent, rtol=1e-8)
    np.testing.assert_allclose(found.smallest_normal_stress[0, 0], pulled - bent, rtol=1e-8)
    sheared = math.sqrt(pulled**2 + 3.0 * (1.5 * 20.0 / FLAT.A) ** 2)  # on the neutral axis, which decides at the tip
    np.testing.assert_allclose(found.equivalent_stress[0, 0], np.maximum(pulled + bent, sheared), rtol=1e-8)
    assert found.equivalent_stress.attrs["units"] == "Pa" and "bending_moment_z" in found
    curved = pl.stresses(result, stations=3, by="curvature")
    assert float(curved.largest_normal_stress[0, 0, 0]) == pytest.approx(bent[0], rel=0.2)  # two modes, and no axial ones


def test_a_section_that_does_not_know_its_outline_says_so_by_name():
    system = pl.System("numbers", gravity=(0, 0, 0))
    section = pl.Section(A=2e-4, Iz=1e-8)
    beam = pl.Beam(length=0.5, section=section, material=STIFF, theory="euler-bernoulli", modes=pl.Modes("cf", 1))
    system.add("arm", beam, joint=pl.Revolute(rate=1.0))
    result = pl.simulate(system, 1e-3)
    assert pl.section_forces(result).sizes["beam"] == 1
    with pytest.raises(pl.ModelError, match=r"body 'arm': section must have an outline to compute stresses: use Section.rectangle"):
        pl.stresses(result)


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: pl.RingOutline(outer=0.01, inner=0.02), "RingOutline: inner must be < outer"),
        (lambda: pl.RectangleOutline(height=0.0, width=1.0), "RectangleOutline: height must be > 0"),
        (lambda: pl.FibreOutline(points=[]), "FibreOutline: points must contain at least one fibre"),
        (lambda: pl.Section(A=1.0, outline="round"), "Section: outline must be an outline"),
    ],
)
def test_a_wrong_outline_is_refused(make, match):
    with pytest.raises(pl.ModelError, match=match):
        make()
