"""Shape integrals: closed forms, convergence, orthogonality, exact zeros, damping."""

import math
from dataclasses import fields, replace

import numpy as np
import pytest

from pliant.beams import beam_shapes, shape_integrals
from pliant.errors import ModelError
from pliant.model.beam import Beam
from pliant.model.damping import AirDrag, KelvinVoigt, ModalDamping, Rayleigh, RayleighRatios
from pliant.model.material import Material
from pliant.model.modes import AxialModes, GivenModes, Modes, ShapeFunction, TorsionModes
from pliant.model.section import Section

SECTION = Section.rectangle(0.02, 0.03)
STEEL = Material(E=2e11, nu=0.3, density=7800.0)
SETS = [Modes("cf", 3), Modes("sc", 2, plane="z"), AxialModes("cf", 2), TorsionModes("fc", 2)]


def beam(modes, theory="timoshenko", length=1.0, **more):
    return Beam(**({"section": SECTION, "material": STEEL} | more), length=length, theory=theory, modes=modes)


def test_sines_have_their_closed_forms():
    link = beam(Modes("ss", 3), "euler-bernoulli", length=2.0, damping=[KelvinVoigt(5.0), AirDrag(0.3)])
    found = shape_integrals(link)
    mu, n = link.mu, np.arange(1, 4)
    k, stiffness = n * np.pi / 2.0, 2e11 * SECTION.Iz
    assert found.mass == pytest.approx(2.0 * mu)
    assert found.first == pytest.approx([2.0 * mu, 0.0, 0.0])
    assert found.first_modal[1] == pytest.approx(mu * (1 - np.cos(2.0 * k)) / k, rel=1e-14)
    assert found.second[0, 0] == pytest.approx(np.diag([mu * 8.0 / 3.0, 0.0, 0.0]))
    assert found.second[0, 1:, 0, 1] == pytest.approx(-mu * 2.0 * np.cos(2.0 * k) / k, rel=1e-14)
    assert found.second[1:, 1:, 1, 1] == pytest.approx(mu * np.eye(3), rel=1e-14)
    assert found.stiffness == pytest.approx(np.diag(stiffness * k**4), rel=1e-14)
    assert found.damping["kelvin_voigt"] == pytest.approx(np.diag(5.0 * SECTION.Iz * k**4), rel=1e-14)
    assert found.damping["air"] == pytest.approx(0.3 * np.eye(3), rel=1e-14)
    assert found.free_frequencies == pytest.approx(np.sqrt(stiffness / mu) * k**2, rel=1e-14)
    assert np.count_nonzero(found.second[1:, 1:]) == 3
    assert found.first_modal[1, 1] == 0.0


def test_a_parabola_has_its_closed_forms():
    shape = ShapeFunction(w=lambda x: x**2, dw=lambda x: 2 * x, ddw=lambda x: 2.0, theta=lambda x: 1.5 * x, dtheta=lambda x: 1.5)
    link = beam(GivenModes([shape]), length=1.5, rotary_inertia=(0.1, 0.2, 0.3))
    found = shape_integrals(link)
    ell, rigidity = 1.5, SECTION.shear_factor * SECTION.A * STEEL.shear_modulus
    assert found.first_modal[1, 0] == pytest.approx(link.mu * ell**3 / 3, rel=1e-14)
    assert found.second[0, 1, 0, 1] == pytest.approx(link.mu * ell**4 / 4, rel=1e-14)
    assert found.rotary == pytest.approx(np.diag([0.15, 0.3, 0.45]))
    assert found.rotary_modal[:, 0] == pytest.approx([0.0, 0.0, 0.3 * 1.5 * ell**2 / 2], rel=1e-14)
    assert found.rotary_second[0, 0] == pytest.approx(0.3 * 1.5**2 * ell**3 / 3, rel=1e-14)
    known = 2e11 * SECTION.Iz * 1.5**2 * ell + rigidity * 0.25 * ell**3 / 3
    assert found.stiffness[0, 0] == pytest.approx(known, rel=1e-14)


def test_twice_the_panels_change_nothing():
    link = beam([*SETS[1:], Modes("cf", 30)], damping=[KelvinVoigt(5.0), AirDrag(0.3)])
    shapes = beam_shapes(link)
    middle = 0.5 * (shapes.panels[1:] + shapes.panels[:-1])
    finer = replace(shapes, panels=np.sort(np.concatenate([shapes.panels, middle])))
    coarse, fine = shape_integrals(link, shapes), shape_integrals(link, finer)
    for field in fields(coarse):
        one, two = getattr(coarse, field.name), getattr(fine, field.name)
        for a, b in zip(one.values(), two.values(), strict=True) if isinstance(one, dict) else [(one, two)]:
            assert a == pytest.approx(b, rel=1e-13, abs=1e-13 * np.abs(b).max())


@pytest.mark.parametrize("theory", ["euler-bernoulli", "timoshenko"])
@pytest.mark.parametrize("ends", ["cc", "ss", "sc", "cs", "cf", "sf"])
@pytest.mark.parametrize("thickness", [0.0125, 0.2], ids=["slender", "thick"])
def test_thirty_modes_are_orthogonal_and_their_energies_give_their_frequencies(ends, theory, thickness):
    link = beam(Modes(ends, 30), theory, section=Section.rectangle(thickness, 0.03))
    shapes = beam_shapes(link)
    found = shape_integrals(link, shapes)
    assert np.count_nonzero(found.modal_mass) == np.count_nonzero(found.stiffness) == 30
    quotient = np.sqrt(np.diag(found.stiffness) / np.diag(found.modal_mass))
    assert quotient == pytest.approx(shapes.frequencies, rel=1e-13)
    assert found.free_frequencies == pytest.approx(shapes.frequencies, rel=1e-13)


def test_directions_do_not_mix_and_zeros_are_exact():
    link = beam(SETS, damping=[KelvinVoigt(1.0), AirDrag(1.0), Rayleigh(alpha=0.1, beta=1e-4), ModalDamping(0.01)])
    found = shape_integrals(link)
    block = np.repeat(np.arange(4), [3, 2, 2, 2])
    apart = block[:, None] != block
    for matrix in (found.modal_mass, found.stiffness, found.rotary_second, *found.damping.values()):
        assert np.all(matrix[apart] == 0.0)
        assert np.all(matrix == matrix.T)
    axis = np.array([1, 1, 1, 2, 2, 0, 0])
    for j, k in np.ndindex(7, 7):
        assert np.all(np.delete(found.second[1 + j, 1 + k].ravel(), 3 * axis[j] + axis[k]) == 0.0)
    assert np.all(found.second[8:] == 0.0)  # torsion moves no point of the axis
    assert np.all(found.second == found.second.transpose(1, 0, 3, 2))


def test_shapes_referred_to_a_free_root_keep_their_frequency_when_the_root_may_move():
    # the free-free beam, its root's motion given back: M over (root translation, mode) has the mode's own frequency
    link = beam(Modes("ff", 1), "euler-bernoulli")
    shapes = beam_shapes(link)
    found = shape_integrals(link, shapes)
    coupling = found.first_modal[1, 0]
    reduced = found.modal_mass[0, 0] - coupling**2 / found.mass
    assert math.sqrt(found.stiffness[0, 0] / reduced) == pytest.approx(shapes.frequencies[0], rel=1e-12)


def test_rayleigh_ratios_are_met_at_their_two_frequencies():
    link = beam(Modes("cf", 4), damping=RayleighRatios(ratios=(0.02, 0.05)))
    found = shape_integrals(link)
    ratio = np.diag(found.damping["rayleigh"]) / (2.0 * found.free_frequencies * np.diag(found.modal_mass))
    assert ratio[:2] == pytest.approx([0.02, 0.05], rel=1e-12)


@pytest.mark.parametrize("rule, low, high", [("low2_high1", (0, 1), (2, 3)), ("low1_high2", (0,), (1, 2, 3))])
def test_rayleigh_rules_take_the_means_they_name(rule, low, high):
    found = shape_integrals(beam(Modes("cf", 4), damping=RayleighRatios(ratios=(0.02, 0.05), rule=rule)))
    own = found.free_frequencies
    pair = (float(np.mean(own[list(low)])), float(np.mean(own[list(high)])))
    given = shape_integrals(beam(Modes("cf", 4), damping=RayleighRatios(ratios=(0.02, 0.05), frequencies=pair)))
    assert found.damping["rayleigh"] == pytest.approx(given.damping["rayleigh"], rel=1e-14)


def test_both_rayleigh_kinds_add_up():
    one, two = Rayleigh(alpha=0.3, beta=1e-5), RayleighRatios(ratios=(0.01, 0.01), frequencies=(10.0, 100.0))
    both = shape_integrals(beam(Modes("cf", 2), damping=[one, two])).damping
    parts = [shape_integrals(beam(Modes("cf", 2), damping=kind)).damping["rayleigh"] for kind in (one, two)]
    assert list(both) == ["rayleigh"]
    assert both["rayleigh"] == pytest.approx(sum(parts), rel=1e-15)


def test_modal_ratios_belong_to_the_modes_in_whose_place_they_stand():
    ratios = (0.01, 0.02, 0.03, 0.04)
    link = beam([AxialModes("cf", 1), Modes("cf", 2), TorsionModes("cf", 1)], damping=ModalDamping(ratios))
    shapes = beam_shapes(link)
    found = shape_integrals(link, shapes)
    ratio = np.diag(found.damping["modal"]) / (2.0 * shapes.frequencies * np.diag(found.modal_mass))
    assert ratio == pytest.approx(ratios, rel=1e-12)


@pytest.mark.parametrize(
    "modes, damping, words",
    [
        (
            Modes("cf", 3),
            ModalDamping((0.1, 0.2)),
            r"ModalDamping: ratios must hold 3 numbers, one per mode, got \(0.1",
        ),
        (Modes("cf", 1), RayleighRatios(ratios=(0.1, 0.2)), "rule 'first_two' needs at least 2 modes .*, got 1"),
        (Modes("cf", 2), RayleighRatios(ratios=(0.1, 0.2), rule="low2_high1"), "'low2_high1' needs at least 3 modes"),
    ],
)
def test_damping_that_does_not_fit_the_modes_is_named(modes, damping, words):
    with pytest.raises(ModelError, match=words):
        shape_integrals(beam(modes, damping=damping))


def test_dependent_shapes_are_refused():
    shape = ShapeFunction(w=lambda x: x**2, dw=lambda x: 2 * x, ddw=lambda x: 2.0)
    with pytest.raises(ModelError, match="must be linearly independent"):
        shape_integrals(beam(GivenModes([shape, shape]), "euler-bernoulli"))


def linear_and_quadratic():
    return (ShapeFunction(w=lambda x: x, dw=lambda x: 1 + 0 * x, ddw=lambda x: 0 * x),
            ShapeFunction(w=lambda x: x**2, dw=lambda x: 2 * x, ddw=lambda x: 2 + 0 * x))  # fmt: skip


@pytest.mark.parametrize("theory", ["timoshenko", "euler-bernoulli"])
def test_given_shapes_stretch_too(theory):
    """u = x and u = x^2 of a bar of length l: E A int U' U' and mu int U U in closed form; no section turns."""
    length = 1.5
    link = beam(GivenModes(linear_and_quadratic(), plane="x"), theory, length=length)
    found = shape_integrals(link)
    assert link.mode_labels == ("axial1", "axial2")
    rigidity = link.material.E * link.section.A
    exact = rigidity * np.array([[length, length**2], [length**2, 4 * length**3 / 3]])
    assert found.stiffness == pytest.approx(exact, rel=1e-12)
    exact = link.mu * np.array([[length**3 / 3, length**4 / 4], [length**4 / 4, length**5 / 5]])
    assert found.second[1:, 1:, 0, 0] == pytest.approx(exact, rel=1e-12)
    assert not np.any(found.rotary_modal)


def test_given_masses_replace_those_of_the_shapes_and_nothing_else():
    shapes, mass = linear_and_quadratic(), ((3.0, 0.5), (0.5, 2.0))
    own, given = (shape_integrals(beam(GivenModes(shapes, mass=m), "euler-bernoulli")) for m in (None, mass))
    assert given.modal_mass == pytest.approx(np.array(mass))
    assert np.array_equal(given.second[0], own.second[0])
    assert np.array_equal(given.first_modal, own.first_modal)
    assert np.array_equal(given.stiffness, own.stiffness)
