"""fit(): finds parameters of a mechanism for which its run matches measured data, by least squares with exact derivatives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pliant.errors import ModelError
from pliant.host.progress import counted
from pliant.model import check
from pliant.run.mechanism import AnySystem, mechanism_of
from pliant.study.fit.experiment import PART, Weights, comparisons_of, experiments_of
from pliant.study.fit.fitted import Fit, fitted
from pliant.study.fit.free_parameters import FreeParameters
from pliant.study.fit.losses import LOSSES
from pliant.study.fit.multistart import minima_of
from pliant.study.fit.search import Search
from pliant.study.sweep.executors import start_processes

NEEDED = "pliant.study.derivatives.saltation"  # with it everything comes in that runs and their derivatives need


def fit(
    system: AnySystem,
    data: Any,
    parameters: Sequence[str] | Mapping[str, float],
    of: Sequence[str] | Mapping[str, str] | None = None,
    bounds: Mapping[str, tuple[float | None, float | None]] | None = None,
    *,
    weights: Weights | None = None,
    guess: Mapping[str, float] | None = None,
    loss: str = "linear",
    noise: str | Mapping[str, Any] = "white",
    starts: int = 1,
    seed: int = 0,
    progress: Callable[[int, float], object] | bool | None = None,
    max_runs: int = 200,
    executor: Any = None,
    **run: Any,
) -> Fit:
    """Find the parameter values for which a run best matches measured data.

    - data: a CSV file, a pandas table, an xarray Dataset or a mapping of arrays, with a column `time` and columns named after
      numbers of the result ("arm.angle", "tip_position arm y"), with a unit in brackets if it differs from that of the result; or
      a list of these, or of `Experiment`s, all of which are fitted with the same values. An Experiment may have inputs, starts and
      unknowns of its own.
    - parameters: names of the System's parameters that are free, or a mapping of these and their first values.
    - of: the columns to use, all by default; or a mapping from columns to numbers of the result.
    - bounds: {name: (low, high)}, None for no bound; by default the parameter's own bounds.
    - weights: factors of the differences, by column: one number, or one for each time. By default each column is weighted by one
      over its scatter about the best fit.
    - guess: initial values by name; by default the parameters' own values.
    - loss: "linear" (least squares); "huber" or "soft_l1" if some measurements are wrong: large differences count less. Their scale
      is the scatter of most of the data.
    - noise: "white"; "ar": correlated from row to row, differences are whitened by an autoregressive model of what is left; or
      {column: covariance matrix of its rows, or a function of the times that returns it}. Whatever it is, intervals allow for the
      correlation that is left, and `intervals` says how.
    - starts: number of first values, spread over the bounds (Latin hypercube, by seed); `minima` holds where they ended.
    - progress: True shows a bar; a function is called with the number of runs and the sum of squares.
    - max_runs: largest number of runs of each experiment.
    - executor: any object with the interface of concurrent.futures.Executor, in which experiments run side by side; processes are
      faster than threads. Default: this process. The values are the same, bit for bit.
    - run: arguments of `simulate` by name: method, start, t_start, formulation, ...

    Returns values, covariance, confidence intervals, correlation, and which parameters the data do not determine, and why.
    """
    if "save" in run:
        raise ModelError.of(PART, "run", "must not contain save: rows are saved at the times of the data", run["save"])
    check.progress(PART, progress)
    start_processes(executor, NEEDED)
    system = mechanism_of(system, PART)
    check.choice(PART, "loss", loss, tuple(LOSSES))
    starts = check.count(PART, "starts", starts)
    experiments = experiments_of(data)
    shared = FreeParameters.of(PART, system, parameters, bounds, guess, own=any(one.unknowns for one in experiments))
    compared, free = comparisons_of(system, experiments, of, weights, shared, run)
    with (
        counted(progress, "runs", max_runs) as tell,
        Search(compared, free, tell, max_runs, LOSSES[loss], noise, executor) as search,
    ):
        if starts == 1:
            return fitted(search, search.run_with_weights(free.start))
        best, minima = minima_of(search, starts, seed)
        return fitted(search, best, minima)
