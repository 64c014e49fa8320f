"""The search for the parameter values with the smallest sum of squares, or of a robust loss."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from pliant.errors import ModelError, SolveError
from pliant.model.check import did_you_mean
from pliant.study.fit.compared import Compared, groups_of
from pliant.study.fit.experiment import Comparison
from pliant.study.fit.experiment_runs import ROWS, SLOPES, WHOLE, Answer, ExperimentRuns
from pliant.study.fit.free_parameters import FreeParameters
from pliant.study.fit.losses import Loss, scatter
from pliant.study.fit.noise import HIGHEST, Autoregression, GivenCovariance, autocovariances, autoregression, pieces_of
from pliant.study.fit.settling import MESSAGE, Settled, Settling
from pliant.study.fit.targets import Target, targets_of

Floats = NDArray[np.float64]
REFUSED = 1e3  # factor on the initial residuals, assigned to a failed run so that the search turns back
ROUGHLY, CLOSELY = 1e-4, 1e-9  # relative changes of values, and of the sum of squares, at which a search ends
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
        executor: Any = None,
    ) -> None:
        self.comparisons, self.free, self.loss = tuple(comparisons), free, loss
        self._progress, self._most = progress, most
        self.targets = [targets_of(comparison.columns) for comparison in comparisons]
        self._pieces = {id(target): pieces_of(comparison.time, target.there)
                        for comparison, targets in zip(comparisons, self.targets, strict=True) for target in targets}  # fmt: skip
        self._scatter = {target.name: _spread(self._columns(target.name)) for target in self._all}
        self._given = self._covariances(noise)
        self._unit = 1.0  # of residuals whose weights are given: their scatter, from where a robust loss counts them less
        self._models: dict[str, Autoregression] = {}
        self._refused = 0.0
        self._settling: Settling | None = None  # of the search that is going on
        self._least = np.inf  # the sum that is made small, where that search is
        self.ok, self.message, self.warnings = False, "", list[str]()
        self._experiments = ExperimentRuns(self.comparisons, free, executor)

    def __enter__(self) -> Self:
        self._experiments.__enter__()
        return self

    def __exit__(self, *trouble: object) -> None:
        self._experiments.__exit__(*trouble)

    @property
    def runs(self) -> int:
        """The number of runs so far."""
        return self._experiments.count

    # ---- the search

    def run(self, start: Floats, end: float, held: Sequence[int] = ()) -> Floats:
        """The best values, in the scaled coordinates of the free parameters; end: relative change at which the search ends.

        held: places of values that stay as they are."""
        from scipy.optimize import least_squares

        self._refused, self._least = 0.0, np.inf
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
        """The best values, with weights and a noise model that follow from what is left at these values, where none were given.

        Given weights and covariances say how residuals compare, not how large they are: a robust loss needs their scatter, too."""
        best, robust = start, self.loss.name != "linear"
        weighted_by_scatter = (len(self._scatter) > 1 or robust) and self._unweighted
        in_own_unit = robust and (bool(self._given) or not self._unweighted)
        if in_own_unit:
            self._measure_unit(best)
        for _ in range(ROUNDS if robust else 1) if weighted_by_scatter or in_own_unit else ():
            before, best = best, self.run(best, ROUGHLY)
            grown = [self._weigh_by_scatter(best)] if weighted_by_scatter else []
            grown += [self._measure_unit(best)] if in_own_unit else []
            if self._moved(before, best) < SETTLED and max(np.abs(np.log(grown))) < SETTLED:
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
        return [self._compared(number, answer) for number, answer in enumerate(self._experiments.at(x, WHOLE))]

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

    def _weigh_by_scatter(self, x: Floats) -> float:
        """From now on weight each target by one over its scatter; by how much one has changed at most, as a factor."""
        compared, before = self.at(x), self._scatter.copy()
        for target, parts in groups_of(tuple(dict.fromkeys(name for part in compared for name in part.differences))).items():
            left = np.concatenate([part.differences[name] for part in compared for name in parts if name in part.differences])
            self._scatter[target] = scatter(left, self.loss)
        least = REWEIGHED * max(self._scatter.values())
        self._scatter = {name: max(scatter, least) or 1.0 for name, scatter in self._scatter.items()}
        return max((now / before[name] for name, now in self._scatter.items()), key=lambda factor: float(abs(np.log(factor))))

    def _measure_unit(self, x: Floats) -> float:
        """From now on count residuals in units of their scatter; by how much the unit grew."""
        grown = scatter(self.residuals_at(x), self.loss) or 1.0
        self._unit *= grown
        return grown

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
            return self._given[target.name].whiten(comparison.time, target.there, values) / self._unit
        weights = (1.0 / self._scatter[target.name] if target.weights is None else target.weights[target.there]) / self._unit
        done = np.asarray(weights).reshape(-1, *(1,) * (values.ndim - 1)) * values
        model = self._models.get(target.name)
        if model is not None:
            for piece in self._pieces[id(target)]:
                done[piece] = model.whiten(done[piece])
        return np.asarray(done)

    @property
    def given_covariances(self) -> tuple[str, ...]:
        """The columns whose noise has a covariance matrix that was given."""
        return tuple(self._given)

    @property
    def noise_models(self) -> Mapping[str, Autoregression]:
        """The models by which differences are whitened, if they are."""
        return dict(self._models)

    # ---- runs and what they leave

    def _residuals(self, x: Floats) -> Floats:
        try:
            residuals = self.residuals_at(x)
            if (total := self.loss.total(residuals)) < self._least:  # the search goes on from here, by its derivatives
                self._experiments.at(x, SLOPES)
                self._least = total
        except SolveError as trouble:
            if not self._refused:
                raise SolveError(f"fit: the run with the initial values failed: {trouble}") from trouble
            sentence = f"a run during the search failed: {trouble}"
            self.warnings += [] if sentence in self.warnings else [sentence]
            return np.full(sum(int(np.sum(target.there)) * len(target.parts) for target in self._all), self._refused)
        if self._progress is not None:
            self._progress(self.runs, float(residuals @ residuals))
        return residuals

    def residuals_at(self, x: Floats) -> Floats:
        """The residuals of all experiments, from runs without derivatives."""
        return np.concatenate(self._parts(x, ROWS))

    def _parts(self, x: Floats, want: int) -> list[Floats]:
        """The residuals of each experiment."""
        return [
            self.residuals_of(number, self._rows(number, answer)) for number, answer in enumerate(self._experiments.at(x, want))
        ]

    def _slopes(self, x: Floats) -> Floats:
        answers = self._experiments.at(x, SLOPES)
        if self._settling is not None and self._settling.is_over([self.loss.counted(part) for part in self._parts(x, SLOPES)]):
            raise Settled(np.array(x))
        for answer in answers:
            self.warnings += [sentence for sentence in answer.warnings if sentence not in self.warnings]
        return np.concatenate([self._slopes_of(number, answer) for number, answer in enumerate(answers)]) * self.free.scales

    def _rows(self, number: int, answer: Answer) -> dict[str, Floats]:
        """The columns of a run, which must be complete."""
        comparison = self.comparisons[number]
        if answer.time.shape != comparison.time.shape:
            raise SolveError(f"the run ended before the data of {comparison.name}: {answer.message}")
        return {column.column: answer.rows[column.series] for column in comparison.columns}

    def _slopes_of(self, number: int, answer: Answer) -> Floats:
        """Derivatives of the residuals of one experiment by all free values."""
        comparison, rows, steep = self.comparisons[number], self._rows(number, answer), list[Floats]()
        slopes = {column.column: answer.slopes[column.series] for column in comparison.columns}
        for target in self.targets[number]:
            names = [column.column for column in target.columns]
            change = target.slopes([rows[name] for name in names], [slopes[name] for name in names])
            weighted = self._weighted(comparison, target, change[target.there])
            steep += [weighted[:, k] for k in range(weighted.shape[1])]
        return comparison.spread(np.concatenate(steep), self.free)

    def _compared(self, number: int, answer: Answer) -> Compared:
        comparison, targets, run = self.comparisons[number], self.targets[number], self._rows(number, answer)
        differences, squares, pieces, rows = {}, 0.0, {}, 0
        for target in targets:
            left, there = target.differences([run[column.column] for column in target.columns]), target.there
            squares += float(np.sum(self._weighted(comparison, target, target.size[there]) ** 2))
            own = self._pieces[id(target)]
            for k, name in enumerate(target.parts):
                differences[name] = np.where(there, left[:, k], np.nan)
                pieces[name] = tuple(slice(rows + piece.start, rows + piece.stop) for piece in own)
                rows += int(np.sum(there))
        assert answer.result is not None
        return Compared(
            name=comparison.name,
            time=comparison.time,
            measured={column.column: column.values for column in comparison.columns},
            run=run,
            units={column.column: column.series.unit for column in comparison.columns}
            | {name: target.unit for target in targets for name in (target.name, *target.parts)},
            differences=differences,
            residuals=self.residuals_of(number, run),
            size=squares**0.5,
            slopes=self._slopes_of(number, answer),
            result=answer.result,
            warnings=answer.warnings,
            pieces=pieces,
            exact=answer.exact,
            values=answer.values,
        )

    def _columns(self, name: str) -> Floats:
        """All measured values of a target."""
        return np.concatenate([column.values for target in self._all if target.name == name for column in target.columns])


def _spread(values: Floats) -> float:
    """The variation of a column; its size if it does not vary."""
    there = values[np.isfinite(values)]
    return float(np.std(there)) or float(np.max(np.abs(there), initial=0.0)) or 1.0
