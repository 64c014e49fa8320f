"""The search for the parameter values with the smallest sum of squares, or of a robust loss."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from pliant.errors import ModelError, SolveError
from pliant.model.check import did_you_mean
from pliant.study.fit.compared import Compared, groups_of
from pliant.study.fit.differentiated_run import DifferentiatedRun
from pliant.study.fit.experiment import Comparison
from pliant.study.fit.free_parameters import FreeParameters
from pliant.study.fit.losses import Loss, scatter
from pliant.study.fit.noise import HIGHEST, Autoregression, GivenCovariance, autocovariances, autoregression, pieces_of
from pliant.study.fit.settling import MESSAGE, Settled, Settling
from pliant.study.fit.targets import Target, targets_of

Floats = NDArray[np.float64]
REFUSED = 1e3  # factor on the initial residuals, assigned to a failed run so that the search turns back
ROUGHLY, CLOSELY = 1e-4, 1e-9  # relative changes of values, and of the sum of squares, at which a search ends
WORTH_THREADS = 0.3  # share of compiled code in the time of all runs: with less, threads would wait for Python's lock
CONVERGED = {  # by the status of scipy's search
    1: "no small change of the values lowers the sum of squares",
    2: "the sum of squares no longer decreases",
    3: "the values no longer change",
    4: "neither the values nor the sum of squares change any more",
}
REWEIGHED = 1e-3  # fraction of the largest scatter: no column counts as more than a thousand times as accurate as another
ROUNDS, SETTLED = 6, 0.01  # of weights that follow from residuals, and the change of values, in standard errors, that ends them


class Search:
    """The search for the smallest sum of squares: runs, remembered by values, and their differences from the data."""

    def __init__(
        self,
        comparisons: Sequence[Comparison],
        free: FreeParameters,
        progress: Callable[..., object] | None,
        most: int,
        loss: Loss,
        noise: Any = "white",
    ) -> None:
        self.comparisons, self.free, self.loss = tuple(comparisons), free, loss
        self._progress, self._most = progress, most
        self.targets = [targets_of(comparison.columns) for comparison in comparisons]
        self._pieces = {id(target): pieces_of(comparison.time, target.there)
                        for comparison, targets in zip(comparisons, self.targets, strict=True) for target in targets}  # fmt: skip
        self._scatter = {target.name: _spread(self._columns(target.name)) for target in self._all}
        self._given = self._covariances(noise)
        self._models: dict[str, Autoregression] = {}
        self._refused = 0.0
        self._settling: Settling | None = None  # of the search that is going on
        self.runs, self.ok, self.message, self.warnings = 0, False, "", list[str]()
        self._pool: ThreadPoolExecutor | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None

    # ---- the search

    def run(self, start: Floats, end: float, held: Sequence[int] = ()) -> Floats:
        """The best values, in the scaled coordinates of the free parameters; end: relative change at which the search ends.

        held: places of values that stay as they are."""
        from scipy.optimize import least_squares

        self._refused = 0.0
        low, high = self.free.bounds
        inside = np.clip(start, low, high)
        first = self._residuals(inside)
        self._refused = REFUSED * max(float(np.sqrt(np.mean(first**2))), 1.0)
        moving = np.setdiff1d(np.arange(inside.size), np.array(held, dtype=int))

        def whole(part: Floats) -> Floats:
            x = inside.copy()
            x[moving] = part
            return x

        self._settling = Settling()
        try:
            done = least_squares(
                lambda part: self._residuals(whole(part)),
                inside[moving],
                lambda part: self._slopes(whole(part))[:, moving],
                bounds=(low[moving], high[moving]),
                **{"xtol": end, "ftol": end, "gtol": 1e-12, "max_nfev": self._most},
                **({} if self.loss.name == "linear" else {"loss": self.loss.name, "f_scale": self.loss.knee}),
            )
        except Settled as settled:
            self.ok, self.message = True, f"the search converged: {MESSAGE}"
            return whole(settled.x[moving])
        finally:
            self._settling = None
        self.ok, stopped = done.status > 0, f"stopped after {self._most} runs of each experiment, before it converged"
        self.message = f"the search {f'converged: {CONVERGED[done.status]}' if self.ok else stopped}"
        return whole(np.asarray(done.x))

    def run_with_weights(self, start: Floats) -> Floats:
        """The best values, with weights and a noise model that follow from what is left at these values, where none were given."""
        best = start
        weighted_by_scatter = (len(self._scatter) > 1 or self.loss.name != "linear") and self._unweighted
        for _ in range(ROUNDS if self.loss.name != "linear" else 1) if weighted_by_scatter else ():
            before, best = best, self.run(best, ROUGHLY)
            self._weigh_by_scatter(best)
            if self._moved(before, best) < SETTLED:
                break
        best = self.run(best, CLOSELY)
        for _ in range(ROUNDS) if self._whitens else ():
            self._model_noise(best)
            before, best = best, self.run(best, CLOSELY)
            if self._moved(before, best) < SETTLED:
                break
        return best

    def _moved(self, before: Floats, after: Floats) -> float:
        """The change of the values in standard errors (of independent noise)."""
        slopes, residuals = self._slopes(after), self._residuals(after)
        change = slopes @ (after - before)
        return float(np.linalg.norm(change) / max(np.sqrt(np.mean(residuals**2)), np.finfo(float).tiny))

    def at(self, x: Floats) -> list[Compared]:
        """All data of the runs with these values."""
        parts = zip(self.comparisons, self.targets, self._runs(x), strict=True)
        return [self._compared(comparison, targets, run) for comparison, targets, run in parts]

    def residuals_of(self, number: int, columns: Mapping[str, Floats]) -> Floats:
        """The residuals of one experiment from the columns of a run without derivatives."""
        comparison, found = self.comparisons[number], []
        for target in self.targets[number]:
            differences = target.differences([columns[column.column] for column in target.columns])[target.there]
            found.append(self._weighted(comparison, target, differences).T.ravel())
        return np.concatenate(found)

    @property
    def _all(self) -> list[Target]:
        return [target for targets in self.targets for target in targets]

    @property
    def _unweighted(self) -> bool:
        return all(target.weights is None for target in self._all)

    # ---- weights and noise

    def _covariances(self, noise: Any) -> dict[str, GivenCovariance]:
        """The given covariance matrices, by target; none for "white" and "ar"."""
        self._whitens = isinstance(noise, str) and noise == "ar"
        if noise in ("white", "ar") if isinstance(noise, str) else False:
            return {}
        if not isinstance(noise, Mapping):
            raise ModelError.of("fit", "noise", "must be 'white', 'ar' or a mapping from columns to covariance matrices", noise)
        known = dict.fromkeys(target.name for target in self._all)
        for name in noise:
            if name not in known:
                raise ModelError.of(
                    "fit", "noise", f"must name columns in use: {', '.join(known)}{did_you_mean(name, known)}", name
                )
        return {name: GivenCovariance(name, given) for name, given in noise.items()}

    def _weigh_by_scatter(self, x: Floats) -> None:
        """From now on weight each target by one over its scatter."""
        compared = self.at(x)
        for target, parts in groups_of(tuple(dict.fromkeys(name for part in compared for name in part.differences))).items():
            left = np.concatenate([part.differences[name] for part in compared for name in parts if name in part.differences])
            self._scatter[target] = scatter(left, self.loss)
        least = REWEIGHED * max(self._scatter.values())
        self._scatter = {name: max(scatter, least) or 1.0 for name, scatter in self._scatter.items()}

    def _model_noise(self, x: Floats) -> None:
        """From now on whiten each target by the autoregressive noise that is left at x."""
        before, self._models = self._models, {}
        compared = self.at(x)
        for target, parts in groups_of(tuple(dict.fromkeys(name for part in compared for name in part.differences))).items():
            pieces = [self.loss.score(part.residuals[p]) for part in compared for name in parts for p in part.pieces.get(name, ())]
            rows = sum(piece.size for piece in pieces)
            order = before[target].order if target in before else None  # which the first residuals have chosen
            self._models[target] = autoregression(autocovariances(pieces, HIGHEST + 1), rows, order)

    def _weighted(self, comparison: Comparison, target: Target, values: Floats) -> Floats:
        """Differences or their slopes (measured row, part, ...) times their weights, whitened."""
        if target.name in self._given:
            return self._given[target.name].whiten(comparison.time, target.there, values)
        weights = 1.0 / self._scatter[target.name] if target.weights is None else target.weights[target.there]
        done = np.asarray(weights).reshape(-1, *(1,) * (values.ndim - 1)) * values
        model = self._models.get(target.name)
        if model is not None:
            for piece in self._pieces[id(target)]:
                done[piece] = model.whiten(done[piece])
        return np.asarray(done)

    @property
    def noise_models(self) -> Mapping[str, Autoregression]:
        """The models by which differences are whitened, if they are."""
        return dict(self._models)

    # ---- runs and what they leave

    def _runs(self, x: Floats) -> list[DifferentiatedRun]:
        """The runs of all experiments; side by side if compiled code, which needs no lock of Python, takes most of their time."""
        each, began = map if self._pool is None else self._pool.map, perf_counter()
        runs = list(each(lambda one: one.runner.at(one.values(self.free, x)), self.comparisons))
        compiled = sum(run.result.stats["wall_s"] for run in runs)
        threads = min(os.cpu_count() or 1, len(runs))
        if self._pool is None and threads > 1 and compiled > WORTH_THREADS * (perf_counter() - began):
            self._pool = ThreadPoolExecutor(threads)
        self.runs = sum(comparison.runner.count for comparison in self.comparisons)
        return runs

    def _residuals(self, x: Floats) -> Floats:
        try:
            parts = self.at(x)
        except SolveError as trouble:
            if not self._refused:
                raise SolveError(f"fit: the run with the initial values failed: {trouble}") from trouble
            sentence = f"a run during the search failed: {trouble}"
            self.warnings += [] if sentence in self.warnings else [sentence]
            return np.full(sum(int(np.sum(target.there)) * len(target.parts) for target in self._all), self._refused)
        residuals = np.concatenate([part.residuals for part in parts])
        if self._progress is not None:
            self._progress(self.runs, float(residuals @ residuals))
        return residuals

    def _slopes(self, x: Floats) -> Floats:
        parts = self.at(x)
        if self._settling is not None and self._settling.is_over([self.loss.counted(part.residuals) for part in parts]):
            raise Settled(np.array(x))
        for part in parts:
            self.warnings += [sentence for sentence in part.warnings if sentence not in self.warnings]
        return np.concatenate([part.slopes for part in parts]) * self.free.scales

    def _compared(self, comparison: Comparison, targets: Sequence[Target], run: DifferentiatedRun) -> Compared:
        modelled = {column.column: run.series(column.series) for column in comparison.columns}
        differences, residuals, slopes, squares, pieces, rows = {}, list[Floats](), list[Floats](), 0.0, {}, 0
        for target in targets:
            numbers = [modelled[column.column] for column in target.columns]
            if numbers[0].value.shape != comparison.time.shape:
                raise SolveError(f"the run ended before the data of {comparison.name}: {run.result.message}")
            values, there = [one.value for one in numbers], target.there
            left, change = target.differences(values), target.slopes(values, [one.slope for one in numbers])
            weighted, steep = (self._weighted(comparison, target, one[there]) for one in (left, change))
            squares += float(np.sum(self._weighted(comparison, target, target.size[there]) ** 2))
            own = self._pieces[id(target)]
            for k, name in enumerate(target.parts):
                differences[name] = np.where(there, left[:, k], np.nan)
                residuals.append(weighted[:, k])
                slopes.append(steep[:, k])
                pieces[name] = tuple(slice(rows + piece.start, rows + piece.stop) for piece in own)
                rows += weighted.shape[0]
        return Compared(
            name=comparison.name,
            time=comparison.time,
            measured={column.column: column.values for column in comparison.columns},
            run={name: one.value for name, one in modelled.items()},
            units={column.column: column.series.unit for column in comparison.columns}
            | {name: target.unit for target in targets for name in (target.name, *target.parts)},
            differences=differences,
            residuals=np.concatenate(residuals),
            size=squares**0.5,
            slopes=comparison.spread(np.concatenate(slopes), self.free),
            result=run.result,
            warnings=run.warnings,
            pieces=pieces,
            exact=run.exact,
            values=run.values,
        )

    def _columns(self, name: str) -> Floats:
        """All measured values of a target."""
        return np.concatenate([column.values for target in self._all if target.name == name for column in target.columns])


def _spread(values: Floats) -> float:
    """The variation of a column; its size if it does not vary."""
    there = values[np.isfinite(values)]
    return float(np.std(there)) or float(np.max(np.abs(there), initial=0.0)) or 1.0
