"""A beam as fixed fields over its material: its position at rest, its modes, and the foreshortening due to bending.

Foreshortening: a point at x of a beam that bends without stretching moves towards the root, w_c = -1/2 int_0^x (w_y'^2 + w_z'^2).
With w = sum W_j q_j this is one axial field -H_jk(x) per pair of modes, multiplied by q_j q_k (half of it for j = k); Wang, Yan,
Fang, Jin 2012, eq. 3, 11, 12. Third order: with w' as the angle of the sections, the point moves sideways by int_0^x sin w'
instead of w. To third order this adds -1/6 int_0^x (w_y'^2 + w_z'^2) w', one field per three modes.

Pairs of many modes would be too many fields: their integrals grow with the fourth power of the number of modes. A beam with more
than FEW modes in a plane expands w_y'^2 + w_z'^2 in Legendre polynomials P_k over its length instead, so that each polynomial is
one field, U_k(x) = int_0^x P_k, whose weight 1/2 z^T S_k z is a quadratic form of all modes. The shortening of the whole beam is
exact (all U_k but the first vanish at the tip), and so are its first and second moments, which hold the effects of gravity,
rotation and axial loads; the kinetic energy is that of a motion, so its mass matrix is never singular.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import combinations_with_replacement, permutations

import numpy as np

from pliant.arrays import Floats
from pliant.beams.integrals import ShapeIntegrals
from pliant.beams.quadrature import ROUND_OFF, absorbed, gram, nodes, rule
from pliant.beams.shapes import Shapes
from pliant.model.beam import AUTO, Beam

# Bending modes in a plane up to which foreshortening is an exact field per pair of modes; if `full` is chosen, as long as possible.
FEW = {AUTO: 4, "full": 12}
POLYNOMIALS = 6  # fields for more modes; at the edge of the theory's range, further ones move a tip by 5e-5 of the length


@dataclass(frozen=True)
class FieldIntegrals:
    """Integrals of the fields. Order: r0 = (x, 0, 0), the modes, foreshortening (by pairs of modes, or by polynomials), third order
    by three modes."""

    first: Floats  # (fields, 3) int mu W_A
    second: Floats  # (fields, fields, 3, 3) int mu W_A W_B^T
    rotary_first: Floats  # (fields, 3) int J Theta_A
    pair: Floats  # (fields, fields) int mu W_A . W_B + Theta_A^T J Theta_B
    products: tuple[tuple[int, ...], ...]  # modes (j, k) of each foreshortening field, (j, k, l) of each field of third order
    forms: Floats  # (polynomials, nf, nf) S_k of each foreshortening field by polynomials, 1/m


def field_integrals(beam: Beam, shapes: Shapes, integrals: ShapeIntegrals) -> FieldIntegrals:
    """All integrals of a beam's fields: those of its modes and, if the beam has stiffening, those of its foreshortening.

    `linear` stiffening keeps energy terms up to second order in the modes, so foreshortening is paired only with the beam at rest.
    `as-published` is eq. 22 of Wang, Yan, Fang, Jin 2012 with its misprints corrected: linear, without gravity on the modes, and
    without Coriolis terms (which the dynamics omits).
    """
    nf, pairs, threes = shapes.count, stiffening_pairs(beam, shapes), stiffening_threes(beam, shapes)
    forms = shortening_forms(beam, shapes)
    shortened = len(pairs) + len(forms)
    count = 1 + nf + shortened + len(threes)
    first, rotary_first = np.zeros((count, 3)), np.zeros((count, 3))
    second, pair = np.zeros((count, count, 3, 3)), np.zeros((count, count))
    first[0], first[1 : 1 + nf] = integrals.first, integrals.first_modal.T
    rotary_first[1 : 1 + nf] = integrals.rotary_modal.T
    second[: 1 + nf, : 1 + nf] = integrals.second
    if shortened:
        x, weight = nodes(shapes.panels)
        back, moves = _back(beam, shapes, x), shapes.displacement(x)
        own = slice(1 + nf, 1 + nf + shortened)
        weight, mu = absorbed(weight, beam.along(x).mu)
        first[own, 0] = mu * weight @ back
        # foreshortening is integrated against the beam at rest, the modes and itself
        fields = np.concatenate([_at_rest(x), np.swapaxes(moves, 1, 2), _axial(back)], axis=1)
        crossed = mu * gram(weight, back, fields.reshape(len(x), -1)).reshape(shortened, own.stop, 3)
        if beam.stiffening_taken not in ("full", "cubic"):
            crossed[:, 1:] = 0.0
        second[own, : own.stop, 0, :] = crossed
        second[: own.stop, own, :, 0] = crossed.transpose(1, 0, 2)
        if threes:
            _put_third_order(mu, x, weight, fields, third_order(shapes, threes, x), first, second)
    if beam.stiffening_taken == "as-published":
        first[1:] = 0.0  # no gravity on the modes
    pair[:] = np.trace(second, axis1=2, axis2=3)
    pair[1 : 1 + nf, 1 : 1 + nf] = integrals.modal_mass
    return FieldIntegrals(first, second, rotary_first, pair, (*pairs, *threes), forms)


def drag_integrals(shapes: Shapes, beam: Beam, coefficient: float) -> tuple[Floats, Floats]:
    """int c W_A and int c W_A W_B^T of all fields, with the drag c per length in place of the mass: (fields, 3), (fields, fields,
    3, 3). No terms are left out, whatever the stiffening, so that drag never adds energy."""
    x, weight = nodes(shapes.panels)
    moves = fields_along(beam, shapes, x)[0]
    count = moves.shape[1]
    limit = np.full((count, count), ROUND_OFF)
    limit[1 : 1 + shapes.count, 1 : 1 + shapes.count] = shapes.round_off
    second = gram(weight, moves.reshape(len(x), -1), round_off=np.kron(limit, np.ones((3, 3)))).reshape(count, 3, count, 3)
    return coefficient * np.einsum("x,xac->ac", weight, moves), coefficient * second.transpose(0, 2, 1, 3)


def _put_third_order(mu: float, x: Floats, weight: Floats, fields: Floats, across: Floats, first: Floats, second: Floats) -> None:
    """Add the integrals of the third-order fields, which come last; fields: all earlier ones, (len(x), fields, 3)."""
    begin, count = fields.shape[1], len(first)
    flat = across.reshape(len(x), -1)
    every = np.concatenate([fields, across], axis=1).reshape(len(x), -1)
    crossed = mu * gram(weight, flat, every).reshape(count - begin, 3, count, 3).transpose(0, 2, 1, 3)
    first[begin:] = mu * np.einsum("x,xac->ac", weight, across)
    second[begin:] = crossed
    second[:, begin:] = crossed.transpose(1, 0, 3, 2)


def field_values(beam: Beam, shapes: Shapes, station: float) -> tuple[Floats, Floats]:
    """(W_A, Theta_A) of all fields at one station: (fields, 3) each."""
    moves, turns = fields_along(beam, shapes, np.array([station]))
    return moves[0], turns[0]


def fields_along(beam: Beam, shapes: Shapes, x: Floats) -> tuple[Floats, Floats]:
    """(W_A, Theta_A) of all fields at stations x: (len(x), fields, 3) each."""
    back, across = _back(beam, shapes, x), third_order(shapes, stiffening_threes(beam, shapes), x)
    moves = np.concatenate([_at_rest(x), np.swapaxes(shapes.displacement(x), 1, 2), _axial(back), across], axis=1)
    turns = np.zeros_like(moves)
    turns[:, 1 : 1 + shapes.count] = np.swapaxes(shapes.rotation(x), 1, 2)
    return moves, turns


def _back(beam: Beam, shapes: Shapes, x: Floats) -> Floats:
    """All axial fields of foreshortening at x: (len(x), fields)."""
    if _by_polynomials(beam):
        return _polynomial_fields(beam, x)
    return foreshortening(shapes, stiffening_pairs(beam, shapes), x)


def _by_polynomials(beam: Beam) -> bool:
    return beam.stiffening_taken == "full" and beam.bending_coordinates > FEW[beam.stiffening]


def shortening_forms(beam: Beam, shapes: Shapes) -> Floats:
    """S of each field by polynomials: (fields, nf, nf); none if pairs of modes are the fields.

    The slopes' products are -2 sum_k a_k P_k with a_k = -(2k + 1)/(2 L) int w'^2 P_k, and u = sum_k a_k U_k.
    """
    if not _by_polynomials(beam):
        return np.zeros((0, shapes.count, shapes.count))
    x, weight = nodes(shapes.panels)
    slope = shapes.displacement(x, 1)[:, 1:]
    legendre = np.polynomial.legendre.legvander(2.0 * x / beam.length - 1.0, POLYNOMIALS - 1) * (2 * np.arange(POLYNOMIALS) + 1)
    size = np.sqrt(np.einsum("x,xdj,xdj->j", weight, slope, slope))
    products = np.einsum("x,xk,xdi,xdj->kij", weight, legendre, slope, slope, optimize=True)
    products = np.where(np.abs(products) > shapes.round_off * np.outer(size, size), products, 0.0)
    return np.asarray(-np.sqrt(beam.mass) * np.einsum("km,kij->mij", _orthonormal(), products))


def _polynomial_fields(beam: Beam, x: Floats) -> Floats:
    """The polynomial fields at x, orthonormal with the beam's mass: (len(x), POLYNOMIALS). All but the last vanish at both ends."""
    fields = np.linalg.solve(_orthonormal(), _integrated_legendre(x / beam.length).T).T / np.sqrt(beam.mass)
    fields[(x == 0.0) | (x == beam.length), :-1] = 0.0
    return np.where(x[:, None] == 0.0, 0.0, fields)


@cache
def _orthonormal() -> Floats:
    """The factor F of int_0^1 U_i U_j = (F F^T)_ij, so that F^-1 U is orthonormal; triangular from the last polynomial on."""
    xi, weight = nodes(np.array([0.0, 1.0]))
    integrated = _integrated_legendre(xi)[:, ::-1]
    return np.asarray(np.linalg.cholesky((weight * integrated.T) @ integrated)[::-1], dtype=np.float64)


def _integrated_legendre(xi: Floats) -> Floats:
    """U_k = int_0^xi P_k of the unit beam: xi, and (P_k+1 - P_k-1) / (2 (2k + 1)), zero at both ends: (len(xi), POLYNOMIALS)."""
    legendre, k = np.polynomial.legendre.legvander(2.0 * xi - 1.0, POLYNOMIALS), np.arange(1, POLYNOMIALS)
    return np.concatenate([xi[:, None], 0.5 * (legendre[:, 2:] - legendre[:, :-2]) / (2.0 * k + 1.0)], axis=1)


def stiffening_pairs(beam: Beam, shapes: Shapes) -> tuple[tuple[int, int], ...]:
    """Pairs of bending modes in the same plane; none if the beam has no foreshortening, or has it by polynomials."""
    if beam.stiffening_taken == "none" or _by_polynomials(beam):
        return ()
    return bending_pairs(shapes)


def bending_pairs(shapes: Shapes) -> tuple[tuple[int, int], ...]:
    """Pairs of bending modes in the same plane."""
    planes = shapes.directions
    bending = [j for j in range(shapes.count) if planes[j] in ("y", "z")]
    return tuple((j, k) for j in bending for k in bending if j <= k and planes[j] == planes[k])


def stiffening_threes(beam: Beam, shapes: Shapes) -> tuple[tuple[int, int, int], ...]:
    """All triples of bending modes, of both planes mixed; none unless the beam is modelled to third order."""
    if beam.stiffening_taken != "cubic":
        return ()
    bending = [j for j in range(shapes.count) if shapes.directions[j] in ("y", "z")]
    return tuple(combinations_with_replacement(bending, 3))


def third_order(shapes: Shapes, threes: tuple[tuple[int, int, int], ...], x: Floats) -> Floats:
    """The field of each three modes at x, -1/6 int_0^x (W_j' . W_k') W_l' summed over their orders: (len(x), threes, 3)."""
    found = np.zeros((len(x), len(threes), 3))
    if threes:
        products = _cumulated(shapes, x, _slope_threes)
        for number, modes in enumerate(threes):
            for j, k, m in sorted(set(permutations(modes))):
                found[:, number, 1:] -= products[:, j, k, m] / 6.0
    return found


def foreshortening(shapes: Shapes, pairs: tuple[tuple[int, int], ...], x: Floats) -> Floats:
    """The axial field of each pair at x: -H_jk, or -H_jj / 2, with H = int_0^x W' W': (len(x), pairs)."""
    if not pairs:
        return np.zeros((len(x), 0))
    products = _slopes_to(shapes, x)
    return np.stack([-products[:, j, k] * (0.5 if j == k else 1.0) for j, k in pairs], axis=1)


def _slopes_to(shapes: Shapes, x: Floats) -> Floats:
    """int_0^x of W_j' W_k' summed over y and z: (len(x), nf, nf); adds up whole panels and a part of the last one."""
    return _cumulated(shapes, x, _slope_grams)


def _cumulated(shapes: Shapes, x: Floats, over: Callable[[Shapes, Floats, Floats], Floats]) -> Floats:
    panels = shapes.panels
    number = np.clip(np.searchsorted(panels, x, side="right") - 1, 0, len(panels) - 2)
    whole = over(shapes, panels[:-1], panels[1:])
    before = np.concatenate([np.zeros((1, *whole.shape[1:])), np.cumsum(whole, axis=0)])[number]
    return np.asarray(before + over(shapes, panels[number], x))


def _slope_grams(shapes: Shapes, begin: Floats, end: Floats) -> Floats:
    """The integral of W_j' W_k' over each interval, none longer than a panel: (intervals, nf, nf)."""
    slope, weight = _slopes_on(shapes, begin, end)
    return np.asarray(np.einsum("in,indj,indk->ijk", weight, slope, slope))


def _slope_threes(shapes: Shapes, begin: Floats, end: Floats) -> Floats:
    """int (W_j' . W_k') W_l' over intervals, along y and z: (intervals, nf, nf, nf, 2)."""
    slope, weight = _slopes_on(shapes, begin, end)
    pairs = np.einsum("in,incj,inck->injk", weight, slope, slope)
    return np.asarray(np.einsum("injk,indl->ijkld", pairs, slope))


def _slopes_on(shapes: Shapes, begin: Floats, end: Floats) -> tuple[Floats, Floats]:
    """Slopes along y and z at the points of intervals, (intervals, points, 2, nf), and their weights."""
    unit, weight = rule()
    half = 0.5 * (end - begin)[:, None]
    x = begin[:, None] + half * (unit + 1.0)
    return shapes.displacement(x.ravel(), 1)[:, 1:, :].reshape(*x.shape, 2, shapes.count), half * weight


def _at_rest(x: Floats) -> Floats:
    """Field 0 at x: (len(x), 1, 3)."""
    return np.stack([x, np.zeros_like(x), np.zeros_like(x)], axis=1)[:, None, :]


def _axial(values: Floats) -> Floats:
    """Axial fields as vectors: (len(x), fields, 3)."""
    field = np.zeros((*values.shape, 3))
    field[:, :, 0] = values
    return field
