"""Finite elements as shapes: textbook matrices, exact statics, orders of convergence, and the same motion as assumed modes."""

import math
from itertools import pairwise

import numpy as np
import pytest

import pliant as pl
from pliant.beams.integrals import shape_integrals
from pliant.beams.shapes import beam_shapes

LENGTH, SECTION, STEEL = 0.8, pl.Section.rectangle(0.02, 0.005), pl.Material(E=200e9, nu=0.3, density=7860.0)
REFERENCES = ("simply-supported", "cantilever")
SUPPORTED = [k * math.pi for k in (1, 2)]
CLAMPED = [1.8751040687119612, 4.6940911329741746]  # cos x cosh x = -1


def beam(*modes, **changes):
    fields = {"length": LENGTH, "section": SECTION, "material": STEEL, "theory": "euler-bernoulli", "modes": modes}
    return pl.Beam(**{**fields, **changes})


MU, EI, EA = STEEL.density * SECTION.A, STEEL.E * SECTION.Iz, STEEL.E * SECTION.A


def element_matrices(h):
    """Mass and stiffness of a cubic element over (w, w', w, w') of its ends, as any textbook has them."""
    mass = [[156, 22 * h, 54, -13 * h], [22 * h, 4 * h**2, 13 * h, -3 * h**2],
            [54, 13 * h, 156, -22 * h], [-13 * h, -3 * h**2, -22 * h, 4 * h**2]]  # fmt: skip
    stiffness = [[12, 6 * h, -12, 6 * h], [6 * h, 4 * h**2, -6 * h, 2 * h**2],
                 [-12, -6 * h, 12, -6 * h], [6 * h, 2 * h**2, -6 * h, 4 * h**2]]  # fmt: skip
    return MU * h / 420.0 * np.array(mass), EI / h**3 * np.array(stiffness)


def assembled(modes):
    """Mass, stiffness, int mu W and int mu x W over the free nodal coordinates, element by element."""
    n, h = modes.elements, LENGTH / modes.elements
    mass, stiffness = np.zeros((2, 2 * n + 2, 2 * n + 2))
    first, moment = np.zeros((2, 2 * n + 2))
    for k in range(n):
        rows = slice(2 * k, 2 * k + 4)
        one_mass, one_stiffness = element_matrices(h)
        mass[rows, rows] += one_mass
        stiffness[rows, rows] += one_stiffness
        uniform = MU * h * np.array([1 / 2, h / 12, 1 / 2, -h / 12])
        first[rows] += uniform
        moment[rows] += k * h * uniform + MU * h**2 * np.array([3 / 20, h / 30, 7 / 20, -h / 20])
    free = [2 * node + (kind == "slope") for node, kind in modes.nodal]
    return mass[np.ix_(free, free)], stiffness[np.ix_(free, free)], first[free], moment[free]


@pytest.mark.parametrize("elements", [1, 2, 3, 8])
@pytest.mark.parametrize("reference", REFERENCES)
def test_the_shape_integrals_are_the_assembled_element_matrices(reference, elements):
    modes = pl.ElementModes(elements, reference=reference)
    found = shape_integrals(beam(modes))
    ours = found.modal_mass, found.stiffness, found.first_modal[1], found.second[0, 1:, 0, 1]
    for mine, wanted in zip(ours, assembled(modes), strict=True):
        assert np.max(np.abs(mine - wanted)) < 1e-13 * np.max(np.abs(wanted))


@pytest.mark.parametrize("elements", [1, 2, 5])
@pytest.mark.parametrize("reference", REFERENCES)
def test_a_coordinate_is_the_deflection_or_slope_of_its_node_and_of_no_other(reference, elements):
    modes = pl.ElementModes(elements, reference=reference)
    shapes = beam_shapes(beam(modes))
    nodes = np.linspace(0.0, LENGTH, elements + 1)
    moves, turns = shapes.displacement(nodes)[:, 1], shapes.rotation(nodes)[:, 2]
    for j, (node, kind) in enumerate(modes.nodal):
        unit = np.eye(elements + 1)[node]
        assert moves[:, j] == pytest.approx(unit if kind == "deflection" else 0.0 * unit, abs=1e-14)
        assert turns[:, j] == pytest.approx(unit if kind == "slope" else 0.0 * unit, abs=1e-13)
    assert len(modes.nodal) == 2 * elements  # either reference holds two of the nodes' coordinates


@pytest.mark.parametrize(("reference", "roots"), [("simply-supported", SUPPORTED), ("cantilever", CLAMPED)])
def test_frequencies_come_from_above_with_the_fourth_power_of_the_element(reference, roots):
    exact = (np.array(roots) / LENGTH) ** 2 * math.sqrt(EI / MU)
    errors = np.array([
        shape_integrals(beam(pl.ElementModes(n, reference=reference))).free_frequencies[:2] / exact - 1.0
        for n in (4, 8, 16)
    ])  # fmt: skip
    assert np.all(errors > 0.0)
    orders = np.log2(errors[:-1] / errors[1:])
    assert orders[0] == pytest.approx([4.0, 4.0], abs=0.15)
    assert orders[1] == pytest.approx([4.0, 4.0], abs=0.05)
    assert np.max(errors[2]) < 2e-5  # finer meshes than these come to round-off, which grows with the largest frequency


def test_bars_come_from_above_with_the_square_of_the_element():
    """Fixed at the root, free at the tip: pi/2 sqrt(E / rho) / L; a linear bar is 1 + (w h / c)^2 / 24 too fast."""
    exact = 0.5 * math.pi / LENGTH * math.sqrt(STEEL.E / STEEL.density)
    for n in (4, 8, 16):
        error = shape_integrals(beam(pl.AxialElements(n))).free_frequencies[0] / exact - 1.0
        assert error == pytest.approx((0.5 * math.pi / n) ** 2 / 24.0, rel=0.02)


@pytest.mark.parametrize("elements", [1, 3, 4])
def test_a_bar_is_the_chain_of_springs_with_its_consistent_mass(elements):
    h = LENGTH / elements
    found = shape_integrals(beam(pl.AxialElements(elements)))
    off, last = np.eye(elements, k=1) + np.eye(elements, k=-1), np.eye(elements)[-1]
    ends = np.diag(1.0 - 0.5 * last)
    assert found.modal_mass == pytest.approx(MU * h / 6.0 * (4.0 * ends + off), rel=1e-13, abs=1e-16)
    assert found.stiffness == pytest.approx(EA / h * (2.0 * ends - off), rel=1e-13, abs=1e-6)
    assert found.first_modal[0] == pytest.approx(MU * h * np.diag(ends), rel=1e-13)


@pytest.mark.parametrize("elements", [1, 2, 7])
def test_loads_on_nodes_bend_the_mesh_exactly(elements):
    """Cubics hold the static shapes: F L^3 / 3 E I at a cantilever's tip, M L / 3 E I at the loaded end between two pins."""
    clamped = pl.ElementModes(elements, reference="cantilever")
    pushed = np.array([place == (elements, "deflection") for place in clamped.nodal], dtype=float)
    bent = np.linalg.solve(shape_integrals(beam(clamped)).stiffness, pushed)
    assert pushed @ bent == pytest.approx(LENGTH**3 / (3.0 * EI), rel=1e-10)
    pinned = pl.ElementModes(elements)
    turned = np.array([place == (0, "slope") for place in pinned.nodal], dtype=float)
    bent = np.linalg.solve(shape_integrals(beam(pinned)).stiffness, turned)
    assert turned @ bent == pytest.approx(LENGTH / (3.0 * EI), rel=1e-10)
    assert bent[-1] == pytest.approx(-LENGTH / (6.0 * EI), rel=1e-10)


def test_the_other_plane_bends_about_the_other_axis():
    both = beam(pl.ElementModes(3, plane="y"), pl.ElementModes(3, reference="cantilever", plane="z"))
    alone = [shape_integrals(beam(mesh)).free_frequencies for mesh in both.mode_sets]
    assert shape_integrals(both).free_frequencies == pytest.approx(np.sort(np.concatenate(alone)), rel=1e-9)
    flat = shape_integrals(beam(pl.ElementModes(3, reference="cantilever"))).free_frequencies
    assert alone[1] == pytest.approx(flat * math.sqrt(SECTION.Iy / SECTION.Iz), rel=1e-9)


def tip(modes, motion=None, modulus=2e9):
    """Where the tip of a soft arm is every 10 ms; it starts straight and level, under its weight, free or told to turn."""
    system = pl.System("arm", gravity=(0.0, -9.81))
    soft = pl.Material(E=modulus, density=7860.0)
    system.add("arm", beam(modes, material=soft, stiffening="none"), joint=pl.Revolute(motion=motion and {"angle": motion}))
    result = pl.simulate(system, 0.4, method=pl.DOP853(rtol=1e-10, atol=1e-13), save=0.01)
    assert result.ok
    return result.of_body("tip_position", "arm")[:, :2]


def test_a_swinging_arm_of_elements_and_one_of_modes_meet_as_both_are_refined():
    """Different shapes, one arm: what separates them falls at least fourfold with every refinement."""

    def turning(t):
        return 0.5 * pl.sin(6.0 * t) ** 2

    clamped = [tip(pl.ElementModes(n, reference="cantilever"), turning) for n in (1, 2, 4, 8)]
    assumed = [tip(pl.Modes("cf", n), turning) for n in (2, 4, 8, 8)]
    apart = [float(np.max(np.abs(a - b))) for a, b in zip(clamped, assumed, strict=True)]
    assert all(coarse > 4.0 * fine for coarse, fine in pairwise(apart))
    assert apart[-1] < 2e-5


def test_a_hinged_arm_described_from_its_chord_or_from_its_root_is_the_same_where_it_bends_little():
    """The frames differ by the root's slope: what separates them falls faster than the bending does."""
    apart = [
        float(np.max(np.abs(tip(pl.ElementModes(2, reference="cantilever"), modulus=E) - tip(pl.ElementModes(2), modulus=E))))
        for E in (2e9, 128e9)
    ]
    assert apart[1] < 0.3 * apart[0] / 64.0
    assert apart[1] < 2e-6


WRONG = {
    "no elements": (lambda: pl.ElementModes(0), "ElementModes: elements must be"),
    "half an element": (lambda: pl.ElementModes(1.5), "ElementModes: elements must be"),
    "less than none": (lambda: pl.AxialElements(-1), "AxialElements: elements must be"),
    "true": (lambda: pl.AxialElements(True), "AxialElements: elements must be"),
    "a reference nobody knows": (
        lambda: pl.ElementModes(1, reference="free"),
        "ElementModes: reference must be one of",
    ),
    "a plane along the beam": (lambda: pl.ElementModes(1, plane="x"), "ElementModes: plane must be one of"),
    "shear": (lambda: beam(pl.ElementModes(1), theory="timoshenko"), "must be euler-bernoulli for cubic elements"),
    "modes and a mesh": (lambda: beam(pl.Modes("ss", 1), pl.ElementModes(1)), "must be the only set of modes in its direction"),
    "bars and bar modes": (lambda: beam(pl.AxialModes("cf", 1), pl.AxialElements(1)), "must be the only set"),
    "no second moment": (lambda: beam(pl.ElementModes(1), section=pl.Section(A=1e-4)), "need section.Iz"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_meshes_are_refused_when_made(name):
    make, message = WRONG[name]
    with pytest.raises(pl.ModelError, match=message):
        make()
