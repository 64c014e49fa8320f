"""What the data determine: combinations of parameters, in words, confirmed by runs with other values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product as every
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pliant.study.fit.invariants import as_products, as_sums, listed, product, total
from pliant.study.fit.side_by_side import SideBySide

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from pliant.study.fit.fitted import Fit

Floats = NDArray[np.float64]
MOVED = 0.1  # fraction of the values, by which they are changed along a direction to see whether it changes nothing
SAME = 1e-6  # change of the residuals over the measured values, below which nothing changed: runs are no more accurate
BETTER = 5.0  # times as well as its parameters alone: a combination that is determined better is named
POWERS = range(-3, 4)  # of its two parameters


@dataclass(frozen=True)
class Direction:
    """A change of the parameters that changes no measured value."""

    changes: Mapping[str, float]  # relative to the values (or to the parameters' sizes, where they are zero)
    words: str
    confirmed: bool | None  # by runs 10 % away along it; None if they failed


@dataclass(frozen=True)
class Combination:
    """A product of two parameters that the data determine better than either."""

    words: str
    error: float  # relative standard error
    alone: Mapping[str, float]  # relative standard errors of its parameters


@dataclass(frozen=True)
class Identifiability:
    """What the data determine and what they do not; it prints as sentences."""

    determined: tuple[str, ...]  # parameters and combinations
    undetermined: tuple[Direction, ...]
    in_practice: Mapping[str, str]  # parameters whose size these data do not tell, with the reason
    better_together: tuple[Combination, ...]
    at_bounds: Mapping[str, float]
    condition: float  # largest over smallest strength, of the directions that are determined
    strengths: Floats  # change of the residuals by a direction, in units of their noise, per 100 % change of the parameters
    directions: Floats  # relative changes of the parameters, one direction per row, of unit length, strongest first
    names: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether the data determine every parameter."""
        return not self.undetermined and not self.in_practice

    def __str__(self) -> str:
        lines = [f"determined: {', '.join(self.determined) or 'nothing'} (condition {self.condition:.2g})"]
        lines += [f"not determined: {one.words}" for one in self.undetermined]
        lines += [f"not determined: {name}: {reason}" for name, reason in self.in_practice.items()]
        for one in self.better_together:
            alone = " and ".join(f"{name} to {100.0 * error:.2g} %" for name, error in one.alone.items())
            lines.append(f"hardly told apart: {alone}, but {one.words} to {100.0 * one.error:.2g} %")
        return "\n".join([*lines, *(f"at its bound: {name} = {value:.8g}" for name, value in self.at_bounds.items())])

    def plot(self, *, ax: Any = None, figsize: tuple[float, float] | None = None) -> Figure:
        """Plot how strongly the data determine each direction of the parameters, and which parameters it changes."""
        from pliant.show.plot.fits import fit_directions

        return fit_directions(self, ax=ax, figsize=figsize)


def identifiability_of(fit: Fit) -> Identifiability:
    values, sizes = np.array([fit.values[name] for name in fit.names]), _sizes(fit)
    slopes = np.concatenate([part.slopes for part in fit.experiments]) * sizes
    residuals = np.concatenate([part.residuals for part in fit.experiments])
    noise = float(np.linalg.norm(residuals)) / np.sqrt(max(residuals.size - len(fit.names), 1))
    _, strengths, rows = np.linalg.svd(np.linalg.qr(slopes, mode="r"), full_matrices=True)
    strengths = np.concatenate([strengths, np.zeros(rows.shape[0] - strengths.size)])
    known = strengths[: max(len(fit.names) - fit.flat.shape[0], 1)]
    directions, combined = _undetermined(fit, values, sizes)
    lost = {name for one in directions for name in one.changes} | set(fit.unidentifiable)
    practical = {name: reason for name, reason in fit.unidentifiable.items() if reason.startswith("in practice")}
    return Identifiability(
        determined=(*(name for name in fit.names if name not in lost), *combined),
        undetermined=tuple(directions),
        in_practice=practical,
        better_together=tuple(_better_together(fit, values)),
        at_bounds=fit.at_bounds,
        condition=float(known[0] / max(known[-1], np.finfo(float).tiny)),
        strengths=strengths / (noise or 1.0),
        directions=rows,
        names=fit.names,
    )


def _sizes(fit: Fit) -> Floats:
    return np.maximum(np.abs([fit.values[name] for name in fit.names]), fit.search.free.scales)


def _undetermined(fit: Fit, values: Floats, sizes: Floats) -> tuple[list[Direction], list[str]]:
    """The directions that change nothing, and the combinations of their parameters that are determined."""
    blind = [name for name, reason in fit.unidentifiable.items() if reason.startswith("no measured")]
    found = [Direction({name: 1.0}, f"{name}: no measured value depends on it", True) for name in blind]
    seen = np.array([name not in blind for name in fit.names])
    flat = fit.flat[:, seen] * sizes[seen]
    names = [name for name in fit.names if name not in blind]
    combined: list[str] = []
    moves = flat[np.linalg.norm(flat / sizes[seen], axis=1) > 0.0] if flat.size else flat
    for members, own in _apart(moves / sizes[seen]) if moves.size else ():
        own = own * sizes[seen]
        kind, whole = _kind(fit, names, own, values[seen])
        here = listed([names[k] for k in members])
        words = [(product if kind == "product" else total)(names, one) for one in whole]
        combined += words
        if words:
            only = f"only {listed(words)} {'is' if len(words) == 1 else 'are'}"
        elif len(members) == 1:
            only = "nothing here depends on it"
        else:
            change = " and ".join(f"{names[k]} by {100.0 * own[0][k] / sizes[seen][k]:+.2g} %" for k in members)
            only = f"changing {change} changes no measured value"
        confirmed = _changes_nothing(fit, names, own, kind)
        local = "" if confirmed is not False else " (near these values)"
        changes = {names[k]: float(own[0][k] / sizes[seen][k]) for k in members}
        found.append(Direction(changes, f"{here} cannot be told apart here{local}: {only}", confirmed))
    return found, combined


def _apart(directions: Floats) -> list[tuple[list[int], Floats]]:
    """Groups of parameters with no direction in common: (places, directions that change these only)."""
    _, strengths, rows = np.linalg.svd(directions, full_matrices=False)
    basis = rows[strengths > 1e-9 * strengths[0]]
    linked = np.abs(basis.T @ basis) > 1e-3  # the projection on the directions has no entry between groups
    places, groups = [k for k in range(linked.shape[0]) if linked[k, k]], list[list[int]]()
    for k in places:
        joined = [group for group in groups if any(linked[k, j] for j in group)]
        groups = [group for group in groups if group not in joined] + [sorted([k, *(j for group in joined for j in group)])]
    found = []
    for group in sorted(groups):
        own = np.where(np.isin(np.arange(basis.shape[1]), group), basis, 0.0)
        _, strengths, rows = np.linalg.svd(own, full_matrices=False)
        found.append((group, rows[strengths > 0.5 * strengths[0]]))
    return found


def _kind(fit: Fit, names: Sequence[str], moves: Floats, values: Floats) -> tuple[str, list[Any]]:
    """Whether products or sums of the parameters stay as they are along the directions; runs decide if both may."""
    products, sums = as_products(moves, values), as_sums(moves)
    units = {fit.units[name] for name, moved in zip(names, np.any(np.abs(moves) > 0.0, axis=0), strict=True) if moved}
    sums = sums if len(units) == 1 else None
    if products and sums:
        along_sums = _change(fit, names, moves, "sum")
        along_products = _change(fit, names, moves, "product")
        kind = "sum" if along_sums < along_products else "product"
        return kind, sums if kind == "sum" else products
    return ("sum", sums) if sums else ("product", products or [])


def _changes_nothing(fit: Fit, names: Sequence[str], moves: Floats, kind: str) -> bool | None:
    change = _change(fit, names, moves, kind)
    return bool(change < SAME) if np.isfinite(change) else None


def _change(fit: Fit, names: Sequence[str], moves: Floats, kind: str) -> float:
    """The largest change of the residuals, over the measured values, 10 % away along the directions; inf if no run succeeds."""
    search, at = fit.search, {name: k for k, name in enumerate(fit.names)}
    best = np.array([fit.values[name] for name in fit.names])
    places = [at[name] for name in names]
    points = [best]
    for move in moves:
        relative = move / np.where(best[places] == 0.0, fit.search.free.scales[places], best[places])
        step = MOVED / np.max(np.abs(relative))
        for sign in (-1.0, 1.0):
            moved = best.copy()
            straight = kind == "sum" or np.any((best[places] == 0.0) & (move != 0.0))
            moved[places] = best[places] + sign * step * move if straight else best[places] * np.exp(sign * step * relative)
            if np.all((moved >= search.free.low) & (moved <= search.free.high)):
                points.append(moved)
    left = SideBySide(search).residuals(np.array(points) / search.free.scales)
    change = np.linalg.norm(left[1:] - left[0], axis=1) / (np.linalg.norm([part.size for part in fit.experiments]) or 1.0)
    there = change[np.isfinite(change)]
    return float(np.max(there)) if there.size else np.inf


def _better_together(fit: Fit, values: Floats) -> list[Combination]:
    """For pairs of correlated values, the product of small powers that is determined best, if it is much better than either."""
    found = []
    for names in fit.correlated:
        k = [fit.names.index(name) for name in names]
        if np.any(values[k] == 0.0):
            continue
        relative = fit.covariance[np.ix_(k, k)] / np.outer(values[k], values[k])
        powers = [np.array(p) for p in every(range(1, POWERS.stop), POWERS) if p[1] != 0 and np.gcd(*p) == 1]
        errors = [float(np.sqrt(max(p @ relative @ p, 0.0)) / np.linalg.norm(p)) for p in powers]
        best, alone = int(np.argmin(errors)), np.sqrt(np.diag(relative))
        if BETTER * errors[best] < np.min(alone):
            error = errors[best] * float(np.linalg.norm(powers[best]))
            found.append(Combination(product(names, powers[best]), error, dict(zip(names, alone.tolist(), strict=True))))
    return found
