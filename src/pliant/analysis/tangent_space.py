"""Small motions that closures and sticking contacts allow: all coordinates as functions of a few of them, the states.

A d_xi = 0 and A d_v + c'_q d_xi = 0: the dependent coordinates follow from the others and are chosen by pivoting, so that states
keep the names of coordinates. Joints become dependent before modes, and bodies far from the ground before those near it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr

Floats = NDArray[np.float64]

MODES_LAST = 1e-3  # pivot weight of a mode relative to a joint: modes become dependent last
NEAR_FIRST = 0.5  # pivot weight of a coordinate at the ground relative to one at the end of the chain
RANK = 1e-10  # fraction of the largest pivot: rows with a smaller pivot are dependent


@dataclass(frozen=True)
class TangentSpace:
    """d_xi = motions eta, d_v = motions nu + turned eta over all rates; eta and nu belong to the coordinates `independent`."""

    independent: tuple[int, ...]
    motions: Floats
    turned: Floats


def tangent_space(
    matrix: Floats, rate_slope: Floats, candidates: Sequence[int], fixed: Sequence[int], own: Sequence[int]
) -> TangentSpace:
    """The tangent space for the matrix A over all rates and rate_slope = dc'/d_xi.

    candidates: coordinates that may be dependent; fixed: those that are independent; all others do not move. own: rates of the
    bodies' own coordinates (modes and lengths).
    """
    count = matrix.shape[1]
    candidates = list(candidates)
    if not len(matrix):
        independent = sorted([*candidates, *fixed])
        motions = np.zeros((count, len(independent)))
        motions[independent, range(len(independent))] = 1.0
        return TangentSpace(tuple(independent), motions, np.zeros_like(motions))
    weights = np.array([NEAR_FIRST + (1.0 - NEAR_FIRST) * k / count for k in candidates])
    weights *= np.where(np.isin(candidates, list(own)), MODES_LAST, 1.0)
    _, triangle, order = qr(matrix[:, candidates] * weights, mode="economic", pivoting=True)
    pivots = np.abs(np.diag(triangle))
    rank = int(np.sum(pivots > RANK * pivots[0])) if pivots.size and pivots[0] > 0.0 else 0
    dependent = sorted(candidates[k] for k in order[:rank])
    independent = sorted({*candidates, *fixed} - set(dependent))
    motions = np.zeros((count, len(independent)))
    motions[independent, range(len(independent))] = 1.0
    turned = np.zeros_like(motions)
    motions[dependent] = -_solved(matrix[:, dependent], matrix[:, independent])
    turned[dependent] = -_solved(matrix[:, dependent], rate_slope @ motions)
    return TangentSpace(tuple(independent), motions, turned)


def _solved(matrix: Floats, right: Floats) -> Floats:
    return np.asarray(np.linalg.lstsq(matrix, right, rcond=None)[0])
