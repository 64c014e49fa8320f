"""Reduced meshes: exact statics at the interface, frequencies from above with their order, free beams seen from any frame."""

import math
from itertools import pairwise

import numpy as np
import pytest

import pliant as pl
from pliant.beams.integrals import shape_integrals
from pliant.beams.shapes import beam_shapes
from pliant.gallery.slider_crank.system import slider_crank

LENGTH, SECTION, STEEL = 0.8, pl.Section.rectangle(0.02, 0.005), pl.Material(E=200e9, nu=0.3, density=7860.0)
MU, EI, EA = STEEL.density * SECTION.A, STEEL.E * SECTION.Iz, STEEL.E * SECTION.A
UNIT = math.sqrt(EI / MU) / LENGTH**2
CLAMPED = np.array([1.8751040687119612, 4.6940911329741746, 7.854757438237613])  # cos x cosh x = -1
FREE = np.array([4.730040744862704, 7.853204624095838, 10.995607838001671])  # cos x cosh x = 1
FRAMES = {
    "simply supported": {"reference": "simply-supported"},
    "cantilever": {"reference": "cantilever"},
    "along the beam at a node": {"reference": "nodal", "nodes": (3,)},
    "through the root and a node": {"reference": "nodal", "nodes": (0, 5)},
    "parallel to the line through two nodes": {"reference": "nodal", "nodes": (2, 6)},
}


def beam(*modes, **changes):
    fields = {"length": LENGTH, "section": SECTION, "material": STEEL, "theory": "euler-bernoulli", "modes": modes}
    return pl.Beam(**{**fields, **changes})


def frequencies(*modes, **changes):
    return shape_integrals(beam(*modes, **changes)).free_frequencies


def free_roots(modes, **changes):
    """beta L of the beam with nothing holding it: its frame may rise and turn."""
    found = shape_integrals(beam(modes, **changes))
    n = found.stiffness.shape[0]
    mass, stiffness = np.zeros((2, n + 2, n + 2))
    # u = rise, turn, modes: the blocks of the mass matrix of a body at rest, straight
    mass[0, 0], mass[0, 1] = found.mass, found.first[0]
    mass[1, 1] = found.second[0, 0, 0, 0] + found.rotary[2, 2]
    mass[0, 2:], mass[1, 2:] = found.first_modal[1], found.second[0, 1:, 0, 1] + found.rotary_modal[2]
    mass[2:, 2:], stiffness[2:, 2:] = found.modal_mass, found.stiffness
    mass = np.triu(mass) + np.triu(mass, 1).T
    squares = np.sort(np.linalg.eigvals(np.linalg.solve(mass, stiffness)).real)
    return np.sqrt(np.sqrt(squares[2:]) / UNIT)


@pytest.mark.parametrize("frame", FRAMES)
def test_a_free_beam_is_the_same_in_every_frame(frame):
    """The frame is a description: rigid motions and the mesh span the same whatever it follows."""
    mesh = pl.ElementModes(6, **FRAMES[frame])
    assert free_roots(mesh) == pytest.approx(free_roots(pl.ElementModes(6)), rel=1e-9)


@pytest.mark.parametrize("frame", FRAMES)
def test_what_the_frame_follows_does_not_move_in_it(frame):
    mesh = pl.ElementModes(6, **FRAMES[frame])
    shapes = beam_shapes(beam(mesh))
    at = np.array(mesh.frame_nodes) * LENGTH / 6
    moves, turns = shapes.displacement(at)[:, 1], shapes.rotation(at)[:, 2]
    assert np.max(np.abs(shapes.displacement(0.0)[0, 1])) == 0.0
    assert np.max(np.abs(turns[0] if len(at) == 1 else moves[1] - moves[0])) < 1e-15
    assert len(mesh.nodal) == mesh.count == 12


def tip(modes, modulus):
    """Where the tip of an arm on a hinge is every 10 ms; it starts straight and level, under its weight."""
    system = pl.System("arm", gravity=(0.0, -9.81))
    system.add("arm", beam(modes, material=pl.Material(E=modulus, density=7860.0)), joint=pl.Revolute())
    result = pl.simulate(system, 0.2, method=pl.DOP853(rtol=1e-10, atol=1e-13), save=0.01)
    assert result.ok
    return result.of_body("tip_position", "arm")[:, :2]


@pytest.mark.parametrize("nodes", [(1,), (2,), (0, 1), (1, 2)])
def test_a_hinged_arm_moves_alike_in_nodal_frames_where_it_bends_little(nodes):
    """The frames differ by an angle of bending: what separates them falls faster than the bending does."""
    nodal = pl.ElementModes(2, reference="nodal", nodes=nodes)
    apart = [float(np.max(np.abs(tip(nodal, E) - tip(pl.ElementModes(2), E)))) for E in (2e9, 128e9)]
    assert apart[1] < 0.3 * apart[0] / 64.0


@pytest.mark.parametrize(("elements", "modes"), [(1, 0), (4, 0), (8, 3), (32, 4)])
def test_loads_on_the_interface_bend_a_reduced_mesh_exactly(elements, modes):
    """F L^3 / 3 E I and F L^2 / 2 E I at a cantilever's tip, M L / 3 E I between two pins: to round-off, with or without modes."""
    clamped = pl.ElementModes(elements, reference="cantilever", reduction=pl.CraigBampton(modes))
    assert clamped.kept == ((elements, "deflection"), (elements, "slope"))
    load = np.eye(clamped.count)[0]
    bent = np.linalg.solve(shape_integrals(beam(clamped)).stiffness, load)
    assert bent[0] == pytest.approx(LENGTH**3 / (3.0 * EI), rel=1e-13)
    assert bent[1] == pytest.approx(LENGTH**2 / (2.0 * EI), rel=1e-13)
    assert np.max(np.abs(bent[2:]), initial=0.0) < 1e-12 * bent[0]
    pinned = pl.ElementModes(elements, reduction=pl.CraigBampton(modes))
    bent = np.linalg.solve(shape_integrals(beam(pinned)).stiffness, np.eye(pinned.count)[0])
    assert bent[:2] == pytest.approx([LENGTH / (3.0 * EI), -LENGTH / (6.0 * EI)], rel=1e-13)
    bar = pl.AxialElements(elements, reduction=pl.CraigBampton(min(modes, elements - 1)))
    pulled = np.linalg.solve(shape_integrals(beam(bar)).stiffness, np.eye(bar.count)[0])
    assert pulled[0] == pytest.approx(LENGTH / EA, rel=1e-13)


def test_inner_nodes_of_the_interface_are_exact_too():
    """A force at the third of four quarters of a cantilever: a^3 / 3 E I there, and on to the tip at the slope a^2 / 2 E I."""
    mesh = pl.ElementModes(16, reference="cantilever", reduction=pl.CraigBampton(2, interface=(12,)))
    part = beam(mesh)
    bent = np.linalg.solve(shape_integrals(part).stiffness, np.eye(mesh.count)[0])
    a = 0.75 * LENGTH
    assert bent[:2] == pytest.approx([a**3 / (3.0 * EI), a**2 / (2.0 * EI)], rel=1e-13)
    at_tip = beam_shapes(part).displacement(LENGTH)[0, 1] @ bent
    assert at_tip == pytest.approx(a**3 / (3.0 * EI) + 0.25 * LENGTH * a**2 / (2.0 * EI), rel=1e-12)


@pytest.mark.parametrize("frame", FRAMES)
def test_interface_coordinates_are_the_motions_of_their_nodes_and_modes_leave_them_alone(frame):
    mesh = pl.ElementModes(8, **FRAMES[frame], reduction=pl.CraigBampton(3, interface=(0, 4, 8)))
    shapes = beam_shapes(beam(mesh))
    for j, (node, kind) in enumerate(mesh.kept):
        at = node * LENGTH / 8
        row = shapes.displacement(at)[0, 1] if kind == "deflection" else shapes.rotation(at)[0, 2]
        assert row == pytest.approx(np.eye(mesh.count)[j], abs=1e-12)
    x = np.linspace(0.0, LENGTH, 4001)
    largest = np.max(np.abs(shapes.displacement(x)[:, 1, len(mesh.kept) :]), axis=0)
    assert largest == pytest.approx(np.ones(3), abs=1e-5)


def test_reduced_frequencies_fall_to_the_meshs_and_to_the_exact_ones_from_above():
    """What Craig-Bampton leaves out falls with the fifth power of the shapes kept; what is left is the mesh's own.

    The k-th shape between two clamps, beta_k = (k + 1/2) pi / L, meets the interface's motion with 1 / beta_k, which adds
    beta_k^-2 / beta_k^4 to w1^2: all beyond the first n add up to (n + 1)^-5.
    """
    exact = CLAMPED[0] ** 2 * UNIT
    whole = frequencies(pl.ElementModes(24, reference="cantilever"))[0]
    above = {
        count: frequencies(pl.ElementModes(24, reference="cantilever", reduction=pl.CraigBampton(count)))[0] / whole - 1.0
        for count in (0, 1, 2, 4, 8)
    }
    assert all(coarse > fine > 0.0 for coarse, fine in pairwise(above.values()))
    orders = [math.log(above[n] / above[2 * n]) / math.log((2 * n + 1) / (n + 1)) for n in (1, 2, 4)]
    assert orders[0] < orders[1] < orders[2] == pytest.approx(5.0, abs=0.2)
    assert 0.0 < whole / exact - 1.0 < 1e-6


@pytest.mark.parametrize(
    ("reference", "roots", "reduction"),
    [
        ("cantilever", CLAMPED, pl.CraigBampton(3, interface=())),
        ("simply-supported", np.pi * np.arange(1, 4), pl.CraigBampton(3, interface=())),
    ],
)
def test_natural_shapes_of_a_mesh_have_its_own_frequencies_and_its_order(reference, roots, reduction):
    """All that is lost is the mesh's: from above, with the fourth power of the element; equal to the whole mesh's."""
    errors = []
    for n in (4, 8, 16):
        found = frequencies(pl.ElementModes(n, reference=reference, reduction=reduction))
        assert found == pytest.approx(frequencies(pl.ElementModes(n, reference=reference))[:3], rel=1e-8)
        errors.append(found / (roots**2 * UNIT) - 1.0)
    assert np.all(np.array(errors) > 0.0)
    assert np.log2(errors[1] / errors[2]) == pytest.approx([4.0, 4.0, 4.0], abs=0.12)


@pytest.mark.parametrize("frame", FRAMES)
def test_free_shapes_are_those_of_a_beam_that_nothing_holds(frame):
    """beta L = 4.730, 7.853, 10.996 from above, whatever frame they are seen from; the mesh adds (beta h)^4 / 2880."""
    mesh = pl.ElementModes(16, **FRAMES[frame], reduction=pl.FreeModes(3))
    found = free_roots(mesh)
    assert found / FREE - 1.0 == pytest.approx((FREE / 16) ** 4 / 2880, rel=0.05)
    assert found == pytest.approx(free_roots(pl.ElementModes(16))[:3], rel=1e-8)


def test_free_shapes_know_of_the_sections_inertia():
    """With rotary inertia the frame's turning couples to it: reduced and whole still agree."""
    heavy = {"rotary_inertia": 2e-3}
    whole = free_roots(pl.ElementModes(12, reference="cantilever"), **heavy)[:3]
    few = free_roots(pl.ElementModes(12, reference="cantilever", reduction=pl.FreeModes(3)), **heavy)
    assert few == pytest.approx(whole, rel=1e-8)
    assert np.all(few < 0.99 * FREE)


def test_free_bars_vibrate_at_multiples_of_half_waves():
    """pi k sqrt(E / rho) / L, through the frame's own motion along the bar."""
    found = shape_integrals(beam(pl.AxialElements(32, reduction=pl.FreeModes(3))))
    swept = found.modal_mass - np.outer(found.first_modal[0], found.first_modal[0]) / found.mass
    free = np.sort(np.sqrt(np.linalg.eigvals(np.linalg.solve(swept, found.stiffness)).real))
    exact = np.pi * np.arange(1, 4) / LENGTH * math.sqrt(STEEL.E / STEEL.density)
    assert free / exact - 1.0 == pytest.approx((np.pi * np.arange(1, 4) / 32) ** 2 / 24.0, rel=0.02)


def test_a_reduction_that_keeps_everything_changes_nothing():
    mesh = pl.ElementModes(3, reference="cantilever")
    full = pl.ElementModes(3, reference="cantilever", reduction=pl.CraigBampton(0, interface=(1, 2, 3)))
    assert full.kept == mesh.nodal
    ours, whole = shape_integrals(beam(full)), shape_integrals(beam(mesh))
    assert ours.modal_mass == pytest.approx(whole.modal_mass, rel=1e-12, abs=1e-15)
    assert ours.stiffness == pytest.approx(whole.stiffness, rel=1e-12, abs=1e-8)


def test_rayleigh_damping_from_two_ratios_damps_a_reduced_mesh_as_the_whole_one():
    """alpha M + beta K of the reduced shapes is the whole mesh's, seen through them: the ratios come back at both frequencies."""
    kept = pl.ElementModes(16, reference="cantilever", reduction=pl.CraigBampton(6, interface=()))
    first, second = frequencies(kept)[:2]
    damped = beam(kept, damping=pl.RayleighRatios(ratios=(0.03, 0.05), frequencies=(first, second)))
    found = shape_integrals(damped)
    mass, drag = np.diag(found.modal_mass), np.diag(found.damping["rayleigh"])
    assert (drag / mass)[:2] == pytest.approx([2 * 0.03 * first, 2 * 0.05 * second], rel=1e-9)
    own = shape_integrals(beam(kept, damping=pl.RayleighRatios(ratios=(0.03, 0.05))))  # the first two, found by themselves
    assert own.damping["rayleigh"] == pytest.approx(found.damping["rayleigh"], rel=1e-9, abs=1e-12)


def test_a_slider_crank_of_32_elements_reduced_to_four_modes_moves_as_the_whole_mesh():
    """3 ms from the release, in which the slider goes 70 mm: within 2 um of the whole mesh, for an eighth of the arithmetic."""
    method = pl.DOP853(rtol=1e-9, atol=1e-12)
    runs = [
        pl.simulate(slider_crank(32, reduction=reduction), 0.003, method=method, save=1e-4)
        for reduction in (None, pl.CraigBampton(4))
    ]
    whole, few = (run.of_body("tip_position", "rod")[:, 0] for run in runs)
    assert abs(whole[-1] - whole[0]) > 0.05
    assert np.max(np.abs(few - whole)) < 2e-6
    # and less for its elasticity than for its absence: the rigid rod is further off
    rigid = pl.simulate(slider_crank(0), 0.003, method=method, save=1e-4).of_body("tip_position", "rod")[:, 0]
    assert np.max(np.abs(rigid - whole)) > 10.0 * np.max(np.abs(few - whole))
    operations, evaluations = ([run.stats[name] for run in runs] for name in ("operations", "rhs_evaluations"))
    assert operations[1] < operations[0] / 7
    assert evaluations[1] < evaluations[0] / 5


WRONG = {
    "no natural shape and no interface": (lambda: pl.CraigBampton(0, interface=()), "modes must be at least 1"),
    "less than none": (lambda: pl.CraigBampton(-1), "CraigBampton: modes must be a whole number"),
    "no free shape": (lambda: pl.FreeModes(0), "FreeModes: modes must be"),
    "half a node": (lambda: pl.CraigBampton(1, interface=(0.5,)), "CraigBampton: interface must be a whole number"),
    "a node twice": (lambda: pl.CraigBampton(1, interface=(1, 1)), "must name each node once"),
    "a node past the tip": (
        lambda: pl.ElementModes(4, reduction=pl.CraigBampton(1, interface=(5,))),
        r"reduction.interface must be nodes of the mesh, 0 to 4, got \(5,\)",
    ),
    "more shapes than the mesh has": (
        lambda: pl.ElementModes(2, reduction=pl.CraigBampton(3)),
        "ElementModes: reduction must leave between 1 and 4 coordinates, the number that the mesh has, got 5",
    ),
    "an interface that the frame holds": (
        lambda: pl.ElementModes(2, reference="cantilever", reduction=pl.CraigBampton(0, interface=(0,))),
        "must leave between 1 and 4 coordinates, the number that the mesh has, got 0",
    ),
    "more bars than the mesh has": (lambda: pl.AxialElements(2, pl.FreeModes(3)), "AxialElements: reduction must leave"),
    "a number for a reduction": (lambda: pl.ElementModes(4, reduction=2), "must be a CraigBampton or FreeModes"),
    "a nodal frame of no node": (lambda: pl.ElementModes(4, reference="nodal"),
                                 "nodes must be given if, and only if, reference is nodal"),
    "nodes of another frame": (lambda: pl.ElementModes(4, nodes=(1,)), "nodes must be given if, and only if, reference is nodal"),
    "a frame of three nodes": (
        lambda: pl.ElementModes(4, reference="nodal", nodes=(0, 1, 2)),
        "nodes must be one or two nodes",
    ),
    "a frame past the tip": (lambda: pl.ElementModes(4, reference="nodal", nodes=(9,)), "nodes of the mesh, 0 to 4"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_wrong_reductions_are_refused_when_made(name):
    make, message = WRONG[name]
    with pytest.raises(pl.ModelError, match=message):
        make()
