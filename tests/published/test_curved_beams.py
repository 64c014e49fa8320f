"""Curved and pretwisted beams of segments against exact rods, closed forms and vibrating rings; the error's order is measured."""

import math
from functools import partial

import numpy as np
import pytest

import pliant as pl
from rods import tip_of_rod

FLAT = pl.Section.rectangle(height=0.002, width=0.02)
RIGIDITY = pl.STEEL.E * FLAT.Iz
SPATIAL = (pl.Modes("cf", 1), pl.Modes("cf", 1, plane="z"), pl.TorsionModes("cf", 1), pl.AxialModes("cf", 1))


def strip(length=1.0, **more):
    return pl.Beam(**{"length": length, "section": FLAT, "material": pl.STEEL, "theory": "euler-bernoulli",
                      "modes": pl.Modes("cf", 1), **more})  # fmt: skip


def arc(s, radius=1.0):
    """A circle from the origin along x, curving to the left."""
    return radius * math.sin(s / radius), radius * (1.0 - math.cos(s / radius))


def alone(segmented, joint=None, gravity=(0, 0)):
    system = pl.System("beam", gravity=gravity)
    return system, system.add("b", segmented, joint=joint or pl.Weld())


def tip(system, n):
    return pl.equilibrium(system)["tip_position", f"b_{n}"]


def orders(errors):
    return np.log2(np.array(errors[:-1]) / np.array(errors[1:]))


def test_a_quarter_of_a_circle_under_a_small_load_is_castiglianos_with_second_order():
    """u_y = (3 pi/4 - 2) F R^3/(E I), u_x = -F R^3/(2 E I): M = F R (1 - sin phi), virtual loads along y and x."""
    force, errors = 1e-7, []
    for n in (4, 8, 16):
        system, rod = alone(pl.segmented(strip(math.pi / 2), n, curve=arc))
        system.force("load", rod.tip, (0.0, force))
        moved = (tip(system, n)[:2] - (1.0, 1.0)) * RIGIDITY / force
        errors.append(np.linalg.norm(moved - (-0.5, 0.75 * math.pi - 2.0)))
    assert errors[-1] < 4e-4 and orders(errors) == pytest.approx([2.0] * 2, abs=0.1), errors


def test_a_ring_vibrates_as_hoppe_says_with_second_order():
    """A quarter between planes of symmetry: w^2 = n^2 (n^2 - 1)^2/(n^2 + 1) E I/(mu R^4), n = 2 and 4 (Hoppe 1871)."""
    beam, errors = strip(math.pi / 2), []
    for n in (4, 8):
        system, rod = alone(pl.segmented(beam, n, curve=arc), pl.Prismatic(axis="y"))
        system.close("cut", "prismatic", rod.tip, system.ground.moved((1.0, 1.0)).turned(math.pi / 2), axis="y")
        found = np.sort(pl.linearise(system, at="start", inputs=(), outputs=()).modes().frequencies)[:2]
        found = found / math.sqrt(RIGIDITY / beam.mu)
        errors.append(np.abs(found / [math.sqrt(k * k * (k * k - 1) ** 2 / (k * k + 1)) for k in (2, 4)] - 1.0))
    assert np.all(errors[-1] < 5.1e-3) and np.all(np.abs(orders(errors) - 2.0) < 0.25), errors


def test_a_ring_is_unrolled_by_the_moment_that_would_roll_it_up():
    """M = -E I/R: straight; second order in the place of the tip."""
    errors = []
    for n in (8, 16):
        radius = 0.5 / math.pi
        system, rod = alone(pl.segmented(strip(), n, curve=partial(arc, radius=radius)))
        system.moment("unroll", rod.tip, -RIGIDITY / radius)
        errors.append(np.linalg.norm(tip(system, n) - (1.0, 0.0, 0.0)))
    assert errors[-1] < 0.024 and orders(errors) == pytest.approx([2.0], abs=0.1)


def test_the_45_degree_bend_of_bathe_and_bolourchi_is_the_exact_rods():
    """R = 100, 1 x 1, E = 1e7, nu = 0, J = 0.140577, F = 600 across its plane (inches, pounds): (-23.817, -13.731, 53.604)."""
    square = pl.Section(A=1.0, Iy=1 / 12, Iz=1 / 12, J=0.140577, shear_factor=5 / 6)
    bend = strip(25.0 * math.pi, section=square, material=pl.Material(E=1e7, nu=0.0, density=1.0), modes=SPATIAL)
    start = np.array([*arc(25.0 * math.pi, 100.0), 0.0])
    exact = tip_of_rod(25.0 * math.pi, (5e6 * 0.140577, 1e7 / 12, 1e7 / 12), 1e7, lambda s: (0.0, 0.0, 0.01), (0.0, 0.0, 600.0))
    assert exact - start == pytest.approx((-23.817, -13.731, 53.604), abs=5e-4)
    for n, within in ((4, 0.43), (8, 0.046)):
        system, rod = alone(pl.segmented(bend, n, curve=partial(arc, radius=100.0)), gravity=(0, 0, 0))
        system.force("load", rod.tip, (0.0, 0.0, 600.0))
        assert np.linalg.norm(tip(system, n) - exact) < within


def test_a_twisted_beam_is_the_exact_rods_with_second_order():
    """Wang and others 2017: 10 m, 0.5 x 0.25 m, steel, a quarter turn, 4 MN; GEBT, with shear: (-1.14153, -1.71805, -3.59321)."""
    wide, thin, force = 0.5, 0.25, (0.0, 0.0, -4e6)
    torsion = wide * thin**3 * (1 / 3 - 0.21 * thin / wide * (1 - thin**4 / (12 * wide**4)))
    section = pl.Section(A=wide * thin, Iy=thin * wide**3 / 12, Iz=wide * thin**3 / 12, J=torsion, shear_factor=5 / 6)
    steel = pl.Material(E=200e9, G=79.3e9, density=7860.0)
    stiffness = (steel.G * torsion, steel.E * section.Iy, steel.E * section.Iz)
    exact = tip_of_rod(10.0, stiffness, steel.E * section.A, lambda s: (math.pi / 20.0, 0.0, 0.0), force)
    assert exact - (10.0, 0.0, 0.0) == pytest.approx((-1.14153, -1.71805, -3.59321), rel=1.5e-3)
    errors = []
    for n in (4, 8):
        beam = strip(10.0, section=section, material=steel, modes=SPATIAL)
        system, rod = alone(pl.segmented(beam, n, twist=math.pi / 2), gravity=(0, 0, 0))
        system.force("load", rod.tip, force)
        errors.append(np.linalg.norm(tip(system, n) - exact))
    assert errors[-1] < 0.021 and orders(errors) == pytest.approx([2.0], abs=0.15)
