"""Stiffness from radii and materials."""

import re

import pytest

from pliant.errors import ModelError
from pliant.model.hertz import hertz_stiffness
from pliant.model.material import STEEL, Material


def test_two_spheres_of_the_slider_crank():
    assert hertz_stiffness(0.0085, STEEL, 0.0085, STEEL) == pytest.approx(9.551944916e9, rel=1e-10)


def test_poissons_ratio_comes_from_the_shear_modulus():
    by_G = Material(E=200e9, G=200e9 / 2.6)
    assert hertz_stiffness(0.0085, by_G, 0.0085) == pytest.approx(9.551944916e9, rel=1e-10)


def test_a_flat_is_a_very_large_sphere():
    soft = Material(E=1e9, nu=0.45)
    flat = hertz_stiffness(0.01, STEEL, None, soft)
    assert hertz_stiffness(0.01, STEEL, 1e12, soft) == pytest.approx(flat, rel=1e-13)
    assert hertz_stiffness(0.01, STEEL, -1e12, soft) == pytest.approx(flat, rel=1e-13)
    # a rigid partner: K = 4 E sqrt(R)/(3 (1 - nu^2)), Johnson 1985, eq. 4.23
    rigid = Material(E=1e30, nu=0.3)
    assert hertz_stiffness(0.01, soft, None, rigid) == pytest.approx(4e9 * 0.1 / (3 * (1 - 0.45**2)), rel=1e-14)


def test_order_does_not_matter_and_a_socket_is_stiffer():
    soft = Material(E=1e9, nu=0.45)
    assert hertz_stiffness(0.01, STEEL, 0.03, soft) == pytest.approx(hertz_stiffness(0.03, soft, 0.01, STEEL), rel=1e-15)
    assert hertz_stiffness(0.01, STEEL, -0.011) > hertz_stiffness(0.01, STEEL) > hertz_stiffness(0.01, STEEL, 0.011)


WRONG = {
    "radius": (lambda: hertz_stiffness(0.0, STEEL), "hertz_stiffness: radius_a must be > 0 m, got 0.0"),
    "no radius": (lambda: hertz_stiffness(0.1, STEEL, 0.0),
                  "hertz_stiffness: radius_b must be > 0 m, or < -radius_a = -0.1 m if hollow, got 0.0"),
    "tight socket": (lambda: hertz_stiffness(0.1, STEEL, -0.1),
                     "hertz_stiffness: radius_b must be > 0 m, or < -radius_a = -0.1 m if hollow, got -0.1"),
    "no nu": (lambda: hertz_stiffness(0.1, STEEL, None, Material(E=1e9)),
              "hertz_stiffness: material_b.nu must be known (give the material nu or G), got None"),
    "odd G": (lambda: hertz_stiffness(0.1, Material(E=1e9, G=1e8)),
              "hertz_stiffness: material_a.nu must be in (-1, 0.5], also if it follows from G as E/(2G) - 1, got 4.0"),
    "no material": (lambda: hertz_stiffness(0.1, 2e11), "hertz_stiffness: material_a must be a Material, got 2"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_wrong_bodies_are_refused(case):
    make, message = WRONG[case]
    with pytest.raises(ModelError, match=re.escape(message)):
        make()
