"""Shape integrals: the numbers by which a beam enters the equations of motion.

Notation: r0 = (x, 0, 0), W_0 = r0; W_j and Theta_j are the displacement and rotation shapes; mu is the mass and J the rotary
inertia per length. The payload is not included, because it is a separate rigid body welded to the tip.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.arrays import Floats
from pliant.beams.damping import damping_matrices
from pliant.beams.eigen import natural
from pliant.beams.quadrature import ROUND_OFF, absorbed, gram, nodes, without_round_off
from pliant.beams.ritz import rigidities
from pliant.beams.shapes import Shapes, beam_shapes
from pliant.model.beam import Beam
from pliant.model.modes import GivenModes, labels


@dataclass(frozen=True)
class ShapeIntegrals:
    """The integrals over the length of one beam; nf modal coordinates."""

    mass: float  # int mu, kg
    first: Floats  # (3,) int mu r0, kg m
    first_modal: Floats  # (3, nf) int mu W_j, kg
    second: Floats  # (1 + nf, 1 + nf, 3, 3) C_ab = int mu W_a W_b^T, W_0 = r0
    rotary: Floats  # (3, 3) int J, kg m^2
    rotary_modal: Floats  # (3, nf) int J Theta_j
    rotary_second: Floats  # (nf, nf) int Theta_j^T J Theta_k
    stiffness: Floats  # (nf, nf) Hessian of the strain energy
    damping: dict[str, Floats]  # kind: (nf, nf)
    round_off: Floats  # (nf, nf) fraction of an integral's natural size below which it counts as zero
    free_frequencies: Floats  # (nf,) sqrt of the eigenvalues of K x = w^2 M_ff x, ascending, rad/s

    @property
    def modal_mass(self) -> Floats:
        """M_ff = trace C_jk + int Theta_j^T J Theta_k: (nf, nf)."""
        return _modal_mass(self.second, self.rotary_second, self.round_off)


def shape_integrals(beam: Beam, shapes: Shapes | None = None) -> ShapeIntegrals:
    """All integrals of a beam. Integrals that vanish by structure or by orthogonality are exactly 0.0."""
    shapes = beam_shapes(beam) if shapes is None else shapes
    x, weight = nodes(shapes.panels)
    moves, turns = shapes.displacement(x), shapes.rotation(x)
    round_off = shapes.round_off
    first_modal, second = _mass_integrals(beam, x, weight, moves, round_off)
    _put_given_mass(beam, second)
    rotary_modal, rotary_second = _rotary_integrals(beam, x, weight, turns, round_off)
    stiffness = _stiffness(beam, shapes, x, weight)
    modal_mass = _modal_mass(second, rotary_second, round_off)
    local = beam.along(x)
    half = 0.5 * beam.mass * beam.length if local is beam else float(weight * local.mu @ x)
    rotary = np.array([np.sum(weight * j) if np.ndim(j) else j * beam.length for j in local.rotary])
    return ShapeIntegrals(
        mass=beam.mass,
        first=np.array([half, 0.0, 0.0]),
        first_modal=first_modal,
        second=second,
        rotary=np.diag(rotary),
        rotary_modal=rotary_modal,
        rotary_second=rotary_second,
        stiffness=stiffness,
        damping=damping_matrices(beam, shapes, modal_mass, stiffness),
        round_off=round_off,
        free_frequencies=np.sort(natural(modal_mass, stiffness)[0]),
    )


def _modal_mass(second: Floats, rotary_second: Floats, round_off: Floats) -> Floats:
    return without_round_off(np.trace(second[1:, 1:], axis1=2, axis2=3) + rotary_second, round_off)


def _mass_integrals(beam: Beam, x: Floats, weight: Floats, moves: Floats, round_off: Floats) -> tuple[Floats, Floats]:
    """int mu W_j and C_ab."""
    points, nf = len(x), moves.shape[2]
    limit = np.full((1 + nf, 1 + nf), ROUND_OFF)  # the beam at rest first
    limit[1:, 1:] = round_off
    field = np.zeros((points, 1 + nf, 3))
    field[:, 0, 0] = x
    field[:, 1:] = np.swapaxes(moves, 1, 2)
    flat = field.reshape(points, -1)
    limit = np.repeat(np.repeat(limit, 3, axis=0), 3, axis=1)  # of every axis
    weight, mu = absorbed(weight, beam.along(x).mu)
    second = mu * gram(weight, flat, round_off=limit).reshape(1 + nf, 3, 1 + nf, 3).transpose(0, 2, 1, 3)
    if beam.tip_section is None:
        second[0, 0, 0, 0] = beam.mass * beam.length**2 / 3.0
    ones = np.ones((points, 1))
    first = mu * gram(weight, ones, moves.reshape(points, -1)).reshape(3, nf)
    return first, np.ascontiguousarray(second)


def _put_given_mass(beam: Beam, second: Floats) -> None:
    """Use the user's masses for given shapes, if supplied: they replace the entry of C_jk along the set's own direction."""
    first = 1
    for modes in beam.mode_sets:
        last = first + len(labels(modes))
        if isinstance(modes, GivenModes) and modes.mass is not None:
            axis = "xyz".index(modes.plane)
            second[first:last, first:last, axis, axis] = np.array(modes.mass)
        first = last


def _rotary_integrals(beam: Beam, x: Floats, weight: Floats, turns: Floats, round_off: Floats) -> tuple[Floats, Floats]:
    """int J Theta_j and int Theta_j^T J Theta_k."""
    points, _, nf = turns.shape
    rotary = beam.along(x).rotary
    carried, inertia = (turns, np.array(rotary)) if beam.tip_section is None else (
        turns * np.stack(np.broadcast_arrays(*rotary, x)[:3], axis=1)[:, :, None], np.ones(3))  # fmt: skip
    modal = inertia[:, None] * gram(weight, np.ones((points, 1)), carried.reshape(points, -1)).reshape(3, nf)
    each = [absorbed(weight, j) for j in rotary]
    second = sum((j * gram(w, turns[:, k], round_off=round_off) for k, (w, j) in enumerate(each)), np.zeros((nf, nf)))
    return modal, second


def _stiffness(beam: Beam, shapes: Shapes, x: Floats, weight: Floats) -> Floats:
    """E I Theta' Theta' + k A G (W' - Theta)^2 + E A U' U' + G Jt phi' phi' (Yousefzadeh and Shafei 2024, eq. 9)."""
    bend, slope = shapes.rotation(x, 1), shapes.displacement(x, 1)
    stiff = rigidities(beam.along(x))

    def energy(kind: str, *strains: Floats) -> Floats:
        over, factor = absorbed(weight, stiff[kind])
        return np.asarray(factor * sum(gram(over, strain) for strain in strains))

    total = energy("axial", slope[:, 0]) + energy("z", bend[:, 1]) + energy("y", bend[:, 2]) + energy("torsion", bend[:, 0])
    if beam.theory == "timoshenko":
        strain = shapes.shear_strain(x)
        total = total + energy("shear", strain[:, 1], strain[:, 2])
    return without_round_off(total, shapes.round_off)
