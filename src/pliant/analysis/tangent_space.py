"""Small motions that closures and sticking contacts allow: all coordinates as functions of a few of them, the states.

A d_xi = 0 and A d_v + c'_q d_xi = 0: the dependent coordinates follow from the others and are chosen by pivoting, so that states
keep the names of coordinates. Joints become dependent before modes, and bodies far from the ground before those near it. Rows of
non-holonomic constraints hold for d_v only: there are fewer independent rates than coordinates (Neimark and Fufaev 1972).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr

from pliant.arrays import Floats

MODES_LAST = 1e-3  # pivot weight of a mode relative to a joint: modes become dependent last
NEAR_FIRST = 0.5  # pivot weight of a coordinate at the ground relative to one at the end of the chain
RANK = 1e-10  # fraction of the largest pivot: rows with a smaller pivot are dependent


@dataclass(frozen=True)
class TangentSpace:
    """d_xi = motions eta, d_v = speeds nu + turned eta over all rates; eta belong to `independent`, nu to `moving` among them."""

    independent: tuple[int, ...]
    moving: tuple[int, ...]
    motions: Floats
    speeds: Floats
    turned: Floats


def tangent_space(
    matrix: Floats, rate_slope: Floats, candidates: Sequence[int], fixed: Sequence[int], own: Sequence[int],
    of_speeds: Sequence[int] = (),
) -> TangentSpace:  # fmt: skip
    """The tangent space for the matrix A over all rates and rate_slope = dc'/d_xi.

    candidates: coordinates that may be dependent; fixed: those that are independent; all others do not move. own: rates of the
    bodies' own coordinates (modes and lengths). of_speeds: rows of non-holonomic constraints.
    """
    held = np.delete(matrix, of_speeds, axis=0)
    dependent = _dependent(held, candidates, own)
    independent = sorted({*candidates, *fixed} - {*dependent})
    motions = _following(held, dependent, independent)
    reduced = np.zeros((len(of_speeds), matrix.shape[1]))
    reduced[:, independent] = matrix[list(of_speeds)] @ motions
    dependent = sorted([*dependent, *_dependent(reduced, [k for k in independent if k not in fixed], own)])
    moving = [k for k in independent if k not in dependent]
    turned = np.zeros_like(motions)
    turned[dependent] = -_solved(matrix[:, dependent], rate_slope @ motions)
    return TangentSpace(tuple(independent), tuple(moving), motions, _following(matrix, dependent, moving), turned)


def _dependent(matrix: Floats, candidates: Sequence[int], own: Sequence[int]) -> list[int]:
    """The coordinates that follow from the others, chosen by pivoting."""
    if not len(matrix):
        return []
    count, candidates = matrix.shape[1], list(candidates)
    weights = np.array([NEAR_FIRST + (1.0 - NEAR_FIRST) * k / count for k in candidates])
    weights *= np.where(np.isin(candidates, list(own)), MODES_LAST, 1.0)
    _, triangle, order = qr(matrix[:, candidates] * weights, mode="economic", pivoting=True)
    pivots = np.abs(np.diag(triangle))
    rank = int(np.sum(pivots > RANK * pivots[0])) if pivots.size and pivots[0] > 0.0 else 0
    return sorted(candidates[k] for k in order[:rank])


def _following(matrix: Floats, dependent: Sequence[int], independent: Sequence[int]) -> Floats:
    """All coordinates from the independent ones."""
    motions = np.zeros((matrix.shape[1], len(independent)))
    motions[independent, range(len(independent))] = 1.0
    motions[dependent] = -_solved(matrix[:, dependent], matrix[:, independent])
    return motions


def _solved(matrix: Floats, right: Floats) -> Floats:
    return np.asarray(np.linalg.lstsq(matrix, right, rcond=None)[0]) if matrix.size else np.zeros((0, right.shape[1]))
