"""Small motions that closures and sticking contacts allow: all coordinates over a few of them, which are the states.

A d_xi = 0 and A d_v + c'_q d_xi = 0: dependent coordinates follow from the others, chosen by pivots, so that states keep the names
of coordinates. Joints are sooner dependent than modes, bodies far from the ground sooner than those near it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr

Floats = NDArray[np.float64]

MODES_LAST = 1e-3  # how readily a mode becomes dependent, beside a joint
NEAR_FIRST = 0.5  # and a coordinate at the ground, beside one at the end
RANK = 1e-10  # of the largest pivot: rows with less say nothing new


@dataclass(frozen=True)
class TangentSpace:
    """d_xi = motions eta, d_v = motions nu + turned eta over all rates, with eta and nu those of the coordinates `independent`."""

    independent: tuple[int, ...]
    motions: Floats
    turned: Floats


def tangent_space(
    matrix: Floats, rate_slope: Floats, candidates: Sequence[int], fixed: Sequence[int], own: Sequence[int]
) -> TangentSpace:
    """matrix: A over all rates; rate_slope: dc'/d_xi. candidates may be dependent, `fixed` are independent; the rest does not move.

    own: rates of bodies themselves, of modes and lengths.
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
