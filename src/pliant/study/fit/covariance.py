"""How uncertain fitted values are: their covariance under independent noise, correlated noise, and differences between experiments.

All of these are sandwiches A^-1 B A^-1 of slopes that a fit has: A is the curvature of the sum of squares (or of a robust loss),
and B the covariance of its slope. They differ in B only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import NDArray

from pliant.study.fit.compared import Compared, difference_names, groups_of
from pliant.study.fit.losses import Loss
from pliant.study.fit.noise import HIGHEST, Autoregression, autocovariances, autoregression

Floats = NDArray[np.float64]
RARE = 4.0  # standard deviations: white noise has a larger correlation from row to row in one fit of 30,000
EXACT = 1e-6  # fraction of the largest measured value: smaller differences are errors of the run, not noise
# As many experiments, and as many for each value, tell by their scatter how uncertain values are; fewer give wide intervals that
# are themselves uncertain.
EXPERIMENTS, PER_VALUE = 12, 3
ENOUGH = 5.0  # independent rows that tell the variance of a difference
DECIDES = 0.9  # leverage beyond which an experiment decides on a combination of the values almost alone
DECIDES_ALL = 1.0 - 1e-6  # a larger leverage is taken for this
CORRECTIONS = 4  # of autocovariances for the part of the noise that the fitted values follow


@dataclass(frozen=True)
class Pattern:
    """The correlation of differences from row to row, or between two columns at the same row, and how large that of noise is."""

    names: tuple[str, ...]
    correlation: float
    rarely: float  # noise that is independent from row to row rarely exceeds it

    @property
    def found(self) -> bool:
        """Whether the correlation is more than chance."""
        return abs(self.correlation) > self.rarely


@dataclass(frozen=True)
class Scatter:
    """The covariance of the values with what it assumes: "independent", "autoregressive" or "experiments"."""

    kind: str
    covariance: Floats
    freedom: Floats  # degrees of freedom of Student's distribution, by value
    independent: Floats  # the covariance if the noise were independent
    experiments: int
    patterns: tuple[Pattern, ...] = ()
    models: Mapping[str, Autoregression] = field(default_factory=dict)
    deciding: tuple[tuple[str, float], ...] = ()  # experiments that decide on a combination of the values almost alone: leverage

    @property
    def words(self) -> str:
        """What the intervals assume, and why."""
        found = max((p for p in self.patterns if p.found), key=lambda p: abs(p.correlation), default=None)
        why = f"differences are correlated ({found.correlation:.2f} {_between(found)})" if found else "differences are correlated"
        match self.kind:
            case "experiments":
                return f"from the scatter between {self.experiments} experiments (sandwich, clustered), because {why}"
            case "autoregressive":
                return f"for noise that is correlated from row to row (sandwich, autoregressive), because {why}"
        return "for independent noise"

    @property
    def ratios(self) -> Floats:
        """Standard errors over those for independent noise."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.sqrt(np.diag(self.covariance) / np.diag(self.independent))


def _between(pattern: Pattern) -> str:
    return "from row to row" if len(pattern.names) == 1 else f"between {' and '.join(pattern.names)}"


def scatter_of(compared: Sequence[Compared], loss: Loss, slopes: Floats, kept: Floats) -> Scatter:
    """slopes: of all residuals, in scaled parameters; kept: directions that the data determine, as rows."""
    residuals = np.concatenate([part.residuals for part in compared])
    scores, steep = loss.score(residuals), loss.steepness(residuals)
    seen = slopes @ kept.T
    freedom = max(residuals.size - kept.shape[0], 1)
    curvature = np.linalg.pinv((seen * (float(np.mean(steep)) if loss.name != "linear" else 1.0)).T @ seen)

    def spread(b: Floats) -> Floats:
        return np.asarray(kept.T @ curvature @ b @ curvature @ kept)

    independent = spread(_independent(compared, scores, seen))
    patterns = tuple(patterns_of(compared))
    every = np.ones(kept.shape[1])
    alone = Scatter("independent", independent, freedom * every, independent, len(compared), patterns)
    if residuals.size <= kept.shape[0] + 1 or not kept.size or not is_noise(compared):
        return alone
    series = _Series(compared, scores, np.asarray(seen), np.asarray(curvature, dtype=np.float64), float(np.mean(steep)))
    correlated = any(pattern.found for pattern in patterns) or any(model.order for model in series.models.values())
    if not correlated:
        return alone
    if len(compared) >= max(EXPERIMENTS, PER_VALUE * kept.shape[0]):
        between, own, deciding = _between_experiments(compared, scores, steep, seen, kept)
        return Scatter("experiments", between, own, independent, len(compared), patterns, deciding=deciding)
    b = series.corrected()
    return Scatter(
        "autoregressive", spread(b), series.freedom(kept.shape[0]) * every, independent, len(compared), patterns, series.models
    )


def standard_errors_within(level: float, freedom: Floats | float) -> Floats:
    """Half the width of a confidence interval over the standard error, by Student's distribution."""
    from scipy.special import stdtrit  # as scipy.stats has it, which takes half a second to import

    return np.asarray(stdtrit(np.maximum(freedom, 1.0), 0.5 + 0.5 * level))


def _independent(compared: Sequence[Compared], scores: Floats, seen: Floats) -> Floats:
    """The covariance of the slope of the sum of squares if rows are independent: each difference has a variance of its own.

    Weights that a user gives need not be those of the noise. Where a difference has no more rows than the values follow of it, its
    variance is that of all.
    """
    begins = np.cumsum([0, *(part.residuals.size for part in compared[:-1])]).tolist()
    followed = np.sum(seen * (seen @ np.linalg.pinv(seen.T @ seen)), axis=1)
    pooled = float(scores @ scores) / max(scores.size - seen.shape[1], 1)
    found = np.zeros((seen.shape[1], seen.shape[1]))
    for names in groups_of(difference_names(compared)).values():
        places = [slice(begin + part.rows(name).start, begin + part.rows(name).stop) for name in names
                  for part, begin in zip(compared, begins, strict=True) if name in part.pieces]  # fmt: skip
        rows = np.concatenate([np.arange(place.start, place.stop) for place in places])
        left = rows.size - float(np.sum(followed[rows]))
        variance = float(scores[rows] @ scores[rows]) / left if left > ENOUGH else pooled
        found += variance * seen[rows].T @ seen[rows]
    return found


def _between_experiments(
    compared: Sequence[Compared], scores: Floats, steep: Floats, seen: Floats, kept: Floats
) -> tuple[Floats, Floats, tuple[tuple[str, float], ...]]:
    """The covariance from the scores of whole experiments, degrees of freedom by value, and experiments that decide alone.

    Each score is divided by the root of what its experiment has not decided itself, as residuals of an experiment are the smaller
    the more it decides; degrees of freedom are those of Satterthwaite (Bell and McCaffrey 2002, CR2). Leaving out experiments
    (the jackknife) agrees where none decides much; where one decides almost alone, it goes far beyond where slopes hold.
    """
    ends = np.cumsum([0, *(part.residuals.size for part in compared)])
    places = [slice(a, b) for a, b in pairwise(ends.tolist())]
    strengths, axes = np.linalg.eigh((seen * steep[:, None]).T @ seen)
    root = axes / np.sqrt(np.maximum(strengths, np.finfo(float).tiny))  # root root^T is the inverse
    moves, sizes, shares, leverages = [], [], [], []
    for part, place in zip(compared, places, strict=True):
        own = root.T @ ((seen[place] * steep[place, None]).T @ seen[place]) @ root
        h, v = np.linalg.eigh(own)
        h = np.clip(h, 0.0, DECIDES_ALL)
        moves.append(root @ ((v / np.sqrt(1.0 - h)) @ (v.T @ (root.T @ (seen[place].T @ scores[place])))))
        u = v.T @ root.T @ kept
        sizes.append((h / (1.0 - h)) @ u**2)
        shares.append(v @ ((h / np.sqrt(1.0 - h))[:, None] * u))
        leverages.append((part.name, float(h[-1])))
    freedom = np.ones(kept.shape[1])
    for k in range(freedom.size):
        z = np.array([share[:, k] for share in shares])
        whole = np.diag([size[k] for size in sizes]) - z @ z.T
        freedom[k] = max(np.trace(whole) ** 2 / max(float(np.sum(whole * whole)), np.finfo(float).tiny), 1.0)
    moves_of_values = np.array(moves) @ kept
    return moves_of_values.T @ moves_of_values, freedom, tuple(one for one in leverages if one[1] > DECIDES)


class _Series:
    """The scores of all differences as autoregressive noise, each difference with a model of its own from all experiments."""

    def __init__(self, compared: Sequence[Compared], scores: Floats, seen: Floats, curvature: Floats, steep: float) -> None:
        self._seen, self._steep, self._curvature = seen, steep, curvature
        ends = np.cumsum([0, *(part.residuals.size for part in compared)])
        self._pieces: dict[str, list[slice]] = {name: [] for name in difference_names(compared)}
        self._owners: dict[str, list[tuple[int, int]]] = {name: [] for name in self._pieces}
        for number, (part, begin) in enumerate(zip(compared, ends[:-1].tolist(), strict=True)):
            for name, pieces in part.pieces.items():
                self._pieces[name] += [slice(begin + p.start, begin + p.stop) for p in pieces]
                self._owners[name] += [(number, p.start - part.rows(name).start) for p in pieces]
        self._pieces = {name: pieces for name, pieces in self._pieces.items() if pieces}
        self._scores = scores
        self._rows = {name: sum(p.stop - p.start for p in pieces) for name, pieces in self._pieces.items()}
        self._given = {name: autocovariances([scores[p] for p in pieces], HIGHEST + 1) for name, pieces in self._pieces.items()}
        self.models = {name: autoregression(own, self._rows[name]) for name, own in self._given.items()}

    def corrected(self) -> Floats:
        """B with autocovariances whose expectation, after the values have followed part of the noise, is what was seen.

        With P the projection on the slopes, residuals of noise with covariance S have (1 - P) S (1 - P).
        """
        for _ in range(CORRECTIONS):
            b, sides = self._sandwich()
            project = self._steep * self._curvature
            models = {}
            for name, pieces in self._pieces.items():
                own, rows = self.models[name], self._rows[name]
                lost = np.zeros(own.order + 1)
                for piece, side in zip(pieces, sides[name], strict=True):
                    j = self._seen[piece]
                    pj = j @ project
                    for lag in range(own.order + 1):
                        m = piece.stop - piece.start - lag
                        if m > 0:
                            once = np.sum(pj[:m] * side[lag:]) + np.sum(pj[lag:] * side[:m])
                            lost[lag] += once - np.sum((pj[:m] @ b) * pj[lag:])
                models[name] = self._again(own, self._given[name][: own.order + 1] + lost / rows, rows)
            self.models = models
        return self._sandwich()[0]

    def _again(self, own: Autoregression, covariances: Floats, rows: int) -> Autoregression:
        """The model of the same order with these autocovariances; unchanged if there is none that is stationary."""
        found = autoregression(covariances, rows, own.order) if covariances[0] > 0.0 else own
        return found if found.order == own.order else own

    def _sandwich(self) -> tuple[Floats, dict[str, list[Floats]]]:
        """J^T S J over all differences, those at the same row correlated as their innovations are; and S J by piece."""
        shaped = {n: [self.models[n].colour_transposed(self._seen[p]) for p in pieces] for n, pieces in self._pieces.items()}
        sides = {n: [self.models[n].colour(x) for x in shaped[n]] for n in shaped}
        b = np.sum([x.T @ x for own in shaped.values() for x in own], axis=0)
        for one, other in combinations(self._pieces, 2):
            r, places = self._innovations(one, other)
            for i, k in places if r else []:
                x, y = shaped[one][i], shaped[other][k]
                b = b + r * (x.T @ y + y.T @ x)
        return np.asarray(b), sides

    def _innovations(self, one: str, other: str) -> tuple[float, list[tuple[int, int]]]:
        """The correlation of two differences at the same row, after whitening; 0 if it is no larger than by chance."""
        where = {(owner, size): k for k, (owner, size) in enumerate(self._same(other))}
        places = [(i, where[key]) for i, key in enumerate(self._same(one)) if key in where]
        if not places:
            return 0.0, []
        x = np.concatenate([self.models[one].whiten(self._scores[self._pieces[one][i]]) for i, _ in places])
        y = np.concatenate([self.models[other].whiten(self._scores[self._pieces[other][k]]) for _, k in places])
        r = float(x @ y / max(np.linalg.norm(x) * np.linalg.norm(y), np.finfo(float).tiny))
        return (r, places) if abs(r) > 2.0 / np.sqrt(x.size) else (0.0, [])

    def _same(self, name: str) -> list[tuple[tuple[int, int], int]]:
        """What pieces of the same rows of an experiment have in common: experiment, first row, length."""
        return [(owner, p.stop - p.start) for owner, p in zip(self._owners[name], self._pieces[name], strict=True)]

    def freedom(self, values: int) -> float:
        """As many values as there are independent ones in the noise, less those fitted."""
        independent = sum(self._rows[name] / max(model.inflation, 1.0) for name, model in self.models.items())
        return max(float(independent) - values, 2.0)


def patterns_of(compared: Sequence[Compared]) -> list[Pattern]:
    """The correlation from row to row of every difference, of all experiments together, and of any two at the same row."""
    found = []
    names = [name for name in difference_names(compared) if is_noise(compared, name)]
    for name in names:
        found.append(_pattern((name,), compared, lambda part, name=name: [  # type: ignore[misc]
            (part.residuals[p][1:], part.residuals[p][:-1]) for p in part.pieces.get(name, ())]))  # fmt: skip
    for pair in combinations(names, 2):
        found.append(_pattern(pair, compared, lambda part, pair=pair: _side_by_side(part, *pair)))  # type: ignore[misc]
    return [one for one in found if one is not None]


def _pattern(
    names: tuple[str, ...], compared: Sequence[Compared], pairs: Callable[[Compared], list[tuple[Floats, Floats]]]
) -> Pattern:
    products = [pair for part in compared for pair in pairs(part)]
    if not products:
        return Pattern(names, 0.0, np.inf)
    x, y = (np.concatenate([pair[k] for pair in products]) for k in (0, 1))
    power = float(np.linalg.norm(x) * np.linalg.norm(y))
    return Pattern(names, float(x @ y) / power if power > 0.0 else 0.0, RARE / np.sqrt(max(x.size, 1)))


def _side_by_side(part: Compared, one: str, other: str) -> list[tuple[Floats, Floats]]:
    if one not in part.pieces or other not in part.pieces:
        return []
    x, y = part.residuals[part.rows(one)], part.residuals[part.rows(other)]
    return [(x, y)] if x.size == y.size else []


def is_noise(compared: Sequence[Compared], name: str | None = None) -> bool:
    """Whether differences are more than errors of the run."""
    return any(
        np.nanmax(np.abs(every), initial=0.0) > EXACT * _largest(part, own)
        for part in compared
        for own, every in part.differences.items()
        if name in (None, own) and np.any(np.isfinite(every))
    )


def _largest(part: Compared, name: str) -> float:
    """Of the measured values that a difference belongs to; of an orientation, 1."""
    return float(np.nanmax(np.abs(part.measured[name]), initial=0.0)) if name in part.measured else 1.0
