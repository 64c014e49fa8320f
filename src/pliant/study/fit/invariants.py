"""Combinations of parameters in words: products, ratios and sums with small whole numbers that a change leaves as they are."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
ZERO = 1e-3  # fraction of the largest entry of a direction: less is round-off, or the error of derivatives
WHOLE = 2e-3  # distance from a whole number within which an exponent is one
LARGEST, MOST = 6, 8  # exponent or factor; parameters that take part in a direction


def invariants(directions: Floats) -> list[Ints] | None:
    """Vectors of small whole numbers a with a . d = 0 for all directions d: as many as are independent, of fewest entries first.

    Only for parameters that take part in the directions; None if whole numbers do not describe them.
    """
    if not directions.size:
        return []
    directions = directions / np.linalg.norm(directions, axis=1, keepdims=True)
    involved = np.flatnonzero(np.max(np.abs(directions), axis=0) > ZERO)
    wanted = involved.size - np.linalg.matrix_rank(directions[:, involved], tol=ZERO)
    if involved.size > MOST:
        return None
    found: list[Ints] = []
    for size in range(2, involved.size + 1):
        for chosen in combinations(involved.tolist(), size):
            if len(found) == wanted:
                return found
            whole = _whole(_only(directions[:, chosen]))
            if whole is None:
                continue
            entry = np.zeros(directions.shape[1], dtype=np.int64)
            entry[list(chosen)] = whole
            if np.linalg.matrix_rank(np.array([*found, entry])) > len(found):
                found.append(entry)
    return found if len(found) == wanted else None


def _only(columns: Floats) -> Floats | None:
    """The one vector, without zeros, that all rows are perpendicular to; None if there is none or more than one."""
    _, strengths, rows = np.linalg.svd(columns, full_matrices=True)
    free = columns.shape[1] - int(np.sum(strengths > ZERO * max(float(strengths[0]), ZERO)))
    vector = rows[-1]
    return vector if free == 1 and np.min(np.abs(vector)) > ZERO * np.max(np.abs(vector)) else None


def _whole(vector: Floats | None) -> Ints | None:
    """The vector as small whole numbers, the first positive."""
    if vector is None:
        return None
    vector = vector / vector[0] * abs(vector[0]) / np.min(np.abs(vector))
    for factor in range(1, LARGEST + 1):
        scaled = factor * vector
        whole = np.round(scaled)
        if np.max(np.abs(scaled - whole)) < WHOLE * factor and np.min(np.abs(whole)) >= 1 and np.max(np.abs(whole)) <= LARGEST:
            return whole.astype(np.int64)
    return None


def product(names: Sequence[str], exponents: Ints) -> str:
    """K/m, E b h^3, a/(b c^2)."""
    above, below = (
        [name if abs(e) == 1 else f"{name}^{abs(e)}" for name, e in zip(names, exponents.tolist(), strict=True) if sign * e > 0]
        for sign in (1, -1)
    )
    bottom = " ".join(below) if len(below) < 2 else f"({' '.join(below)})"
    return " ".join(above or ["1"]) + (f"/{bottom}" if below else "")


def total(names: Sequence[str], factors: Ints) -> str:
    """K1 + K2, 2 a - b."""
    terms = [
        (f"{'-' if f < 0 else '+'}", name if abs(f) == 1 else f"{abs(f)} {name}")
        for name, f in zip(names, factors.tolist(), strict=True)
        if f
    ]
    first = terms[0][1] if terms[0][0] == "+" else f"-{terms[0][1]}"
    return " ".join([first, *(f"{sign} {term}" for sign, term in terms[1:])])


def listed(words: Sequence[str]) -> str:
    """a, b and c."""
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def as_products(directions: Floats, values: Floats) -> list[Ints] | None:
    """Products that these changes of the values (one direction per row) leave as they are; None if there are none."""
    involved = np.max(np.abs(directions), axis=0, initial=0.0) > 0.0
    if np.any(values[involved] == 0.0):
        return None
    return invariants(directions / np.where(values == 0.0, 1.0, values))


def as_sums(directions: Floats) -> list[Ints] | None:
    return invariants(directions)


def in_words(names: Sequence[str], flat: Floats, values: Floats, sizes: Floats, unseen: NDArray[np.bool_]) -> str:
    """'; only K/m is determined' from the flat directions of the parameters that are seen; '' if it takes runs to tell."""
    flat = flat[np.linalg.norm(flat, axis=1) > 0.0] if flat.size else flat
    if not flat.size:
        return ""
    seen = [name for name, gone in zip(names, unseen, strict=True) if not gone]
    moves = flat * sizes[~unseen]
    products, sums = as_products(moves, values[~unseen]), as_sums(moves)
    if (products is None) == (sums is None):
        return ""  # neither, or both
    found = [product(seen, one) for one in products or []] or [total(seen, one) for one in sums or []]
    return f"; only {listed(found)} {'is' if len(found) == 1 else 'are'} determined" if found else ""
