"""What every registered set of modes must satisfy: labels, a frame at the root, and frequencies that converge from above."""

import numpy as np
import pytest

import mechanisms
import pliant as pl
from pliant.beams import beam_shapes, shape_integrals
from pliant.model.modes import MODE_SETS
from registered import MODE_SET

LENGTH = 0.7  # m
STEEL = pl.STEEL
over_all = pytest.mark.parametrize("kind", MODE_SETS, ids=lambda kind: kind.__name__)


def beam(kind, fineness):
    return pl.Beam(length=LENGTH, section=mechanisms.FLAT, material=STEEL, theory="euler-bernoulli",
                   modes=MODE_SET[kind](fineness))  # fmt: skip


def exact(one):
    """The lowest frequency of the clamped beam in the direction of its modes, rad/s: closed forms."""
    section, direction = one.section, one.mode_labels[0].rstrip("0123456789")
    if direction == "axial":
        return np.pi / 2.0 / LENGTH * np.sqrt(STEEL.E * section.A / one.mu)
    if direction == "torsion":
        return np.pi / 2.0 / LENGTH * np.sqrt(STEEL.shear_modulus * section.J / one.rotary[0])
    inertia = {"y": section.Iz, "z": section.Iy}[direction]
    return (1.8751040687119611 / LENGTH) ** 2 * np.sqrt(STEEL.E * inertia / one.mu)


@over_all
def test_each_shape_has_its_label_and_none_moves_the_root(kind):
    one = beam(kind, 3)
    shapes = beam_shapes(one)
    assert one.mode_labels == shapes.labels and len(set(shapes.labels)) == shapes.count >= 3
    assert np.all(shapes.displacement(0.0) == 0.0)
    x = np.linspace(0.0, LENGTH, 7)
    assert np.all(np.ptp(np.abs(shapes.displacement(x)) + np.abs(shapes.rotation(x)), axis=0).max(axis=0) > 0.0)


@over_all
def test_inertia_and_stiffness_are_symmetric_and_positive(kind):
    integrals = shape_integrals(beam(kind, 3))
    for matrix in (integrals.modal_mass, integrals.stiffness):
        assert matrix == pytest.approx(matrix.T, rel=1e-12)
        size = np.sqrt(np.diag(matrix))
        assert np.min(np.linalg.eigvalsh(matrix / np.outer(size, size))) > 1e-9


@over_all
def test_more_shapes_come_closer_to_the_frequency_from_above(kind):
    lowest = [shape_integrals(beam(kind, n)).free_frequencies[0] for n in (1, 2, 4)]
    error = np.array(lowest) / exact(beam(kind, 1)) - 1.0
    assert np.all(error > -1e-9) and np.all(np.diff(error) < 1e-9)
    assert error[-1] < 0.01


@over_all
def test_a_hinged_link_of_it_keeps_its_energy(kind):
    one = beam(kind, 2)
    system = pl.System(kind.__name__, gravity=(0.0, -9.81, 1.0))
    system.add("arm", one, joint=pl.Revolute(rate=1.0), initial={one.mode_labels[0]: 1e-3})
    run = pl.simulate(system, 0.02, method=pl.DOP853(rtol=1e-11, atol=1e-14), save=1e-3)
    assert run.ok and np.ptp(run.values["strain"]) > 1e-6
    assert run.ledger.relative_error_max < 1e-8
