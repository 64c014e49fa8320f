"""The symmetric eigenproblem K x = w^2 M x by Cholesky's factor of M; NumPy only."""

from __future__ import annotations

import numpy as np

from pliant.arrays import Floats
from pliant.errors import ModelError


def natural(mass: Floats, stiffness: Floats) -> tuple[Floats, Floats]:
    """Frequencies in rad/s, ascending, and mass-normalised vectors in columns: Phi^T M Phi = 1."""
    # scale to unit diagonal, so that shapes in metres and in radians have equal weight
    size = np.sqrt(np.diag(mass))
    try:
        factor = np.linalg.cholesky(mass / np.outer(size, size)) * size[:, None]
    except np.linalg.LinAlgError as error:
        raise ModelError("Beam: modes must be linearly independent, got a singular modal mass matrix") from error
    half = np.linalg.solve(factor, stiffness)
    squares, vectors = np.linalg.eigh(_symmetric(np.linalg.solve(factor, half.T)))
    return np.sqrt(np.maximum(squares, 0.0)), np.linalg.solve(factor.T, vectors)


def lowest(mass: Floats, stiffness: Floats, count: int) -> Floats:
    """The vectors of the lowest frequencies, from M x = w^-2 K x: factoring K keeps the highest frequencies' round-off out."""
    size = np.sqrt(np.diag(stiffness))
    factor = np.linalg.cholesky(stiffness / np.outer(size, size)) * size[:, None]
    half = np.linalg.solve(factor, mass)
    vectors = np.linalg.eigh(_symmetric(np.linalg.solve(factor, half.T)))[1]
    return np.linalg.solve(factor.T, vectors[:, ::-1][:, :count])


def _symmetric(matrix: Floats) -> Floats:
    return 0.5 * (matrix + matrix.T)
