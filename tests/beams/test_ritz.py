"""Tapered beams: frequencies against closed forms and meshes, statics, section forces and stresses of the local sections."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import iv, jv, kv, yv

import pliant as pl
from pliant.beams import beam_shapes, shape_integrals

ROOT, TIP = pl.Section.rectangle(0.05, 0.02), pl.Section.rectangle(0.02, 0.01)


def beam(**options):
    settings = {"length": 1.2, "section": ROOT, "tip_section": TIP, "material": pl.STEEL, "theory": "euler-bernoulli",
                "modes": pl.Modes("cf", 3)}  # fmt: skip
    return pl.Beam(**{**settings, **options})


def closed_form(ratio, p, count):
    """First frequencies of a truncated wedge (p = 1) or cone (p = 2), clamped at its thick end, in units of sqrt(EI/mu)/l^2 there.

    x from the apex, with the root at 1: EI ~ x^(p+2), mu ~ x^p, w = x^(-p/2) Z_p(2 k sqrt x) with Z = J, Y, I, K (Kirchhoff 1879).
    """

    def row(x, order, k):
        signs = ((-1.0) ** order, (-1.0) ** order, 1.0, (-1.0) ** order)
        return np.array([s * k**order * x ** (-(p + order) / 2) * f(p + order, 2.0 * k * np.sqrt(x))
                         for s, f in zip(signs, (jv, yv, iv, kv), strict=True)])  # fmt: skip

    def determinant(k):
        shear = (p + 2) * row(ratio, 2, k) + ratio * row(ratio, 3, k)  # (EI w'')' = 0
        matrix = np.array([row(1.0, 0, k), row(1.0, 1, k), row(ratio, 2, k), shear])
        return np.linalg.det(matrix / np.max(np.abs(matrix), axis=0))

    grid = np.linspace(0.5, 20.0, 400)
    values = np.array([determinant(k) for k in grid])
    found = [brentq(determinant, *grid[k : k + 2], xtol=1e-14) for k in np.flatnonzero(values[1:] * values[:-1] < 0.0)[:count]]
    return np.array(found) ** 2 * (1.0 - ratio) ** 2


@pytest.mark.parametrize(("p", "to_a_point"), [(1, 5.315), (2, 8.719)], ids=["wedge", "cone"])
def test_frequencies_are_those_of_the_closed_form(p, to_a_point):
    def found(ratio):
        root, tip = ((pl.Section.rectangle(0.05 * r, 0.02) if p == 1 else pl.Section.round(0.05 * r)) for r in (1.0, ratio))
        of = beam(section=root, tip_section=tip)
        return shape_integrals(of).free_frequencies / np.sqrt(pl.STEEL.E * root.Iz / of.mu) * of.length**2

    for ratio in (0.5, 0.05):
        np.testing.assert_allclose(found(ratio), closed_form(ratio, p, 3), rtol=1e-8)
    assert found(1e-3)[0] == pytest.approx(to_a_point, rel=3e-3)  # published for a beam that ends in a point


@pytest.mark.parametrize("theory", ["euler-bernoulli", "timoshenko"])
@pytest.mark.parametrize("ends", ["cf", "ss", "fs", "ff"])
def test_without_a_taper_modes_and_static_shapes_are_the_uniform_ones(ends, theory):
    of = {
        "theory": theory,
        "modes": [pl.Modes(ends, 2, static=True), pl.AxialModes("ff", 1, static=True), pl.TorsionModes("cf", 1)],
    }
    ritz, known = (beam_shapes(beam(tip_section=tip, **of)) for tip in (ROOT, None))
    x = np.linspace(0.0, 1.2, 30)
    np.testing.assert_allclose(ritz.frequencies, known.frequencies, rtol=1e-8)
    # up to the sign: of an antisymmetric static shape, round-off decides where it is largest
    np.testing.assert_allclose(abs(ritz.displacement(x)), abs(known.displacement(x)), atol=1e-8)
    np.testing.assert_allclose(abs(ritz.rotation(x)), abs(known.rotation(x)), atol=1e-7)


def test_many_modes_are_as_accurate_as_few():
    """Of 40 modes the polynomials have degrees up to 112, whose zeros are close together at the ends."""
    ritz, known = (beam_shapes(beam(tip_section=tip, theory="timoshenko", modes=pl.Modes("cf", 40))) for tip in (ROOT, None))
    np.testing.assert_allclose(ritz.frequencies, known.frequencies, rtol=1e-10)


@pytest.mark.parametrize(("modes", "elements", "order"), [
    (pl.Modes("cf", 2), lambda n: pl.ElementModes(n, reference="cantilever"), 4.0),
    (pl.AxialModes("cf", 2), pl.AxialElements, 2.0), (pl.TorsionModes("cf", 2), pl.TorsionElements, 2.0),
], ids=["bending", "axial", "torsion"])  # fmt: skip
def test_meshes_converge_to_the_modes(modes, elements, order):
    exact = shape_integrals(beam(modes=modes)).free_frequencies[:2]
    coarse, fine = (shape_integrals(beam(modes=elements(n))).free_frequencies[:2] / exact - 1.0 for n in (12, 24))
    assert np.all(fine > 0.0) and np.log2(coarse / fine) == pytest.approx(order, abs=0.2)


def test_modes_with_a_payload_have_the_frequencies_of_a_mesh_that_carries_it():
    load = pl.Payload(mass=2.0, inertia=0.01, offset=(0.05, 0.0, 0.0))
    system = pl.System("carrier", gravity=(0, 0))
    mesh = pl.ElementModes(40, reference="cantilever", reduction=pl.CraigBampton(modes=3))
    system.add("arm", beam(modes=mesh, payload=load, stiffening="none"), joint=pl.Weld())
    own = beam_shapes(beam(modes=pl.Modes("cf", 2, payload=True), payload=load)).frequencies
    np.testing.assert_allclose(own, pl.linearise(system, inputs=(), outputs=()).modes().frequencies[:2], rtol=1e-4)


def test_mass_centre_and_inertia_are_those_of_the_solid():
    of = beam()
    found = shape_integrals(of)
    moments = [quad(lambda x, k=k: of.along(x).mu * x**k, 0.0, of.length, epsrel=1e-13)[0] for k in range(3)]
    assert (found.mass, found.first[0], found.second[0, 0, 0, 0]) == pytest.approx(moments, rel=1e-12)
    assert found.rotary[0, 0] == pytest.approx(quad(lambda x: of.along(x).rotary[0], 0.0, of.length, epsrel=1e-13)[0], rel=1e-12)


SQUARE = pl.ShapeFunction(lambda x: x**2, lambda x: 2.0 * x, lambda x: 2.0 + 0.0 * x)


@pytest.mark.parametrize("modes", [pl.Modes("cf", 1, static=True), pl.GivenModes([SQUARE], static=True)], ids=["modes", "given"])
def test_static_shapes_answer_a_tip_force_exactly(modes):
    of = beam(modes=modes)
    tip = beam_shapes(of).displacement([of.length])[0, 1]
    exact = quad(lambda x: (of.length - x) ** 2 / (pl.STEEL.E * of.along(x).section.Iz), 0.0, of.length, epsrel=1e-13)[0]
    assert tip @ np.linalg.solve(shape_integrals(of).stiffness, tip) == pytest.approx(exact, rel=1e-9)


@pytest.fixture(scope="module")
def swung():
    """A tapered arm in space, with drag, that swings under its weight and a force at its tip."""
    sets = [pl.Modes("cf", 2), pl.Modes("cf", 1, plane="z"), pl.TorsionModes("cf", 1), pl.AxialModes("cf", 1)]
    system = pl.System("taper", gravity=(0.3, -9.81, 0.5))
    damping = [pl.MotionDrag(4.0), pl.KelvinVoigt(1e6)]
    arm = system.add("arm", beam(theory="timoshenko", modes=sets, damping=damping), joint=pl.Revolute(rate=4.0))
    system.force("push", arm.tip, (0.0, 20.0, 5.0))
    return pl.simulate(system, 0.05, save=0.01)


def test_energy_is_kept_and_section_forces_balance(swung):
    assert swung.ledger.relative_error_max < 1e-9 and not swung.warnings
    found = pl.section_forces(swung, stations=5)
    assert float(abs(found.root_force_residual).max()) < 1e-11 * float(abs(found.shear_force_y).max())
    assert float(abs(found.root_moment_residual).max()) < 1e-11 * float(abs(found.bending_moment_z).max())


def test_stresses_are_those_of_the_local_section(swung):
    found = pl.stresses(swung, stations=[0.0, 0.5, 0.9])
    for x in (0.0, 0.5, 0.9):
        section, here = beam().along(1.2 * x).section, found.sel(station=x, beam="arm")
        bent = abs(here.bending_moment_z) * section.outline.height / 2 / section.Iz
        bent = bent + abs(here.bending_moment_y) * section.outline.width / 2 / section.Iy
        np.testing.assert_allclose(here.largest_normal_stress, here.axial_force / section.A + bent, rtol=1e-12)
    curved = pl.section_forces(swung, stations=[0.5], by="curvature")
    assert np.all(np.isfinite(curved.bending_moment_z)) and np.all(np.isfinite(curved.torsion))


def test_segments_of_a_taper_fit_together_and_weigh_as_much():
    whole = beam(payload=pl.Payload(mass=1.0))
    parts = pl.segmented(whole, 3).parts
    assert sum(part.mass for part in parts) == pytest.approx(whole.mass, rel=1e-14)
    assert parts[0].section == ROOT and parts[-1].tip_section == TIP and parts[-1].payload is not None
    assert [part.tip_section for part in parts[:-1]] == [part.section for part in parts[1:]]


@pytest.mark.parametrize("options", [
    {"tip_section": pl.Section.round(0.02)}, {"tip_section": pl.Section(A=2e-4, Iz=1e-8)},
    {"tip_section": pl.Section(A=2e-4, Iz=1e-8, outline=TIP.outline)},
], ids=["other form", "numbers", "numbers that are not the outline's"])  # fmt: skip
def test_sections_between_which_nothing_is_known_are_refused(options):
    with pytest.raises(pl.ModelError, match=r"Beam: tip_section must be made by Section.rectangle, round or tube"):
        beam(**options)


def test_shear_is_known_at_both_ends_of_a_timoshenko_beam():
    tip = replace(TIP, shear_factor=None)
    assert beam(tip_section=tip).tip_section == tip
    with pytest.raises(pl.ModelError, match=r"Beam: timoshenko modes need tip_section\.shear_factor, got None"):
        beam(tip_section=tip, theory="timoshenko")
