"""A beam as fixed fields over its material: its position at rest, its modes, and what bending draws its points back by.

A point at x of a beam that bends without stretching moves back by w_c = -1/2 int_0^x (w_y'^2 + w_z'^2): with w = sum W_j q_j
that is one axial field -H_jk(x) per pair of modes, weighed by q_j q_k (half of it where j = k); Wang, Yan, Fang, Jin 2012,
eq. 3, 11, 12.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pliant.beams.integrals import ShapeIntegrals
from pliant.beams.quadrature import gram, nodes, rule
from pliant.beams.shapes import Shapes
from pliant.model.beam import Beam

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class FieldIntegrals:
    """Integrals of the fields: field 0 is r0 = (x, 0, 0), then the modes, then the pairs of modes that foreshorten."""

    first: Floats  # (fields, 3) int mu W_A
    second: Floats  # (fields, fields, 3, 3) int mu W_A W_B^T
    rotary_first: Floats  # (fields, 3) int J Theta_A
    pair: Floats  # (fields, fields) int mu W_A . W_B + Theta_A^T J Theta_B
    quadratic: tuple[tuple[int, int], ...]  # modes (j, k) of each foreshortening field


def field_integrals(beam: Beam, shapes: Shapes, integrals: ShapeIntegrals) -> FieldIntegrals:
    """All integrals of a beam's fields, from those of its modes and, where it stiffens, of its foreshortening.

    `linear` stiffening keeps what is quadratic in the modes in the energies: foreshortening against the beam at rest only.
    `as-published` is eq. 22 of Wang, Yan, Fang, Jin 2012, misprints repaired: linear, without gravity on the modes (and
    without Coriolis terms, which the dynamics leaves out).
    """
    nf, pairs = shapes.count, stiffening_pairs(beam, shapes)
    count = 1 + nf + len(pairs)
    first, rotary_first = np.zeros((count, 3)), np.zeros((count, 3))
    second, pair = np.zeros((count, count, 3, 3)), np.zeros((count, count))
    first[0], first[1 : 1 + nf] = integrals.first, integrals.first_modal.T
    rotary_first[1 : 1 + nf] = integrals.rotary_modal.T
    second[: 1 + nf, : 1 + nf] = integrals.second
    if pairs:
        x, weight = nodes(shapes.panels)
        back, moves = foreshortening(shapes, pairs, x), shapes.displacement(x)
        first[1 + nf :, 0] = beam.mu * weight @ back
        # against what: the beam at rest, the modes, itself
        fields = np.concatenate([_at_rest(x), np.swapaxes(moves, 1, 2), _axial(back)], axis=1).reshape(len(x), -1)
        crossed = beam.mu * gram(weight, back, fields).reshape(len(pairs), count, 3)
        if beam.stiffening_taken != "full":
            crossed[:, 1:] = 0.0
        second[1 + nf :, :, 0, :] = crossed
        second[:, 1 + nf :, :, 0] = crossed.transpose(1, 0, 2)
    if beam.stiffening_taken == "as-published":
        first[1:] = 0.0  # no gravity on the modes
    pair[:] = np.trace(second, axis1=2, axis2=3)
    pair[1 : 1 + nf, 1 : 1 + nf] = integrals.modal_mass
    return FieldIntegrals(first, second, rotary_first, pair, pairs)


def field_values(beam: Beam, shapes: Shapes, station: float) -> tuple[Floats, Floats]:
    """(W_A, Theta_A) of all fields at one station: (fields, 3) each."""
    at, pairs = np.array([station]), stiffening_pairs(beam, shapes)
    back = foreshortening(shapes, pairs, at) if pairs else np.zeros((1, 0))
    moves = np.concatenate([_at_rest(at)[0], shapes.displacement(at)[0].T, _axial(back)[0]])
    turns = np.zeros_like(moves)
    turns[1 : 1 + shapes.count] = shapes.rotation(at)[0].T
    return moves, turns


def stiffening_pairs(beam: Beam, shapes: Shapes) -> tuple[tuple[int, int], ...]:
    """Pairs of bending modes of the same plane, where the beam foreshortens."""
    if beam.stiffening_taken == "none":
        return ()
    planes = shapes.directions
    bending = [j for j in range(shapes.count) if planes[j] in ("y", "z")]
    return tuple((j, k) for j in bending for k in bending if j <= k and planes[j] == planes[k])


def foreshortening(shapes: Shapes, pairs: tuple[tuple[int, int], ...], x: Floats) -> Floats:
    """The axial field of each pair at x: -H_jk, or -H_jj / 2, with H = int_0^x W' W': (len(x), pairs)."""
    products = _slopes_to(shapes, x)
    return np.stack([-products[:, j, k] * (0.5 if j == k else 1.0) for j, k in pairs], axis=1)


def _slopes_to(shapes: Shapes, x: Floats) -> Floats:
    """int_0^x sum over y, z of W_j' W_k': (len(x), nf, nf); whole panels summed, the last one in part."""
    panels = shapes.panels
    number = np.clip(np.searchsorted(panels, x, side="right") - 1, 0, len(panels) - 2)
    whole = _slope_grams(shapes, panels[:-1], panels[1:])
    before = np.concatenate([np.zeros((1, *whole.shape[1:])), np.cumsum(whole, axis=0)])[number]
    return np.asarray(before + _slope_grams(shapes, panels[number], x))


def _slope_grams(shapes: Shapes, begin: Floats, end: Floats) -> Floats:
    """The same over each of some intervals, none longer than a panel: (intervals, nf, nf)."""
    unit, weight = rule()
    half = 0.5 * (end - begin)[:, None]
    x = begin[:, None] + half * (unit + 1.0)
    slope = shapes.displacement(x.ravel(), 1)[:, 1:, :].reshape(*x.shape, 2, shapes.count)
    return np.asarray(np.einsum("in,indj,indk->ijk", half * weight, slope, slope))


def _at_rest(x: Floats) -> Floats:
    """Field 0 at x: (len(x), 1, 3)."""
    return np.stack([x, np.zeros_like(x), np.zeros_like(x)], axis=1)[:, None, :]


def _axial(values: Floats) -> Floats:
    """Axial fields as vectors: (len(x), fields, 3)."""
    field = np.zeros((*values.shape, 3))
    field[:, :, 0] = values
    return field
