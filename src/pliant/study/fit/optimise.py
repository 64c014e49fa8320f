"""optimise(): finds parameters of a mechanism that minimise a number of its run within constraints, with exact gradients."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.errors import ModelError, SolveError
from pliant.host.progress import counted
from pliant.model import check
from pliant.results.result import Result
from pliant.run.mechanism import AnySystem, mechanism_of
from pliant.study.derivatives.differentiated import Differentiated
from pliant.study.fit.differentiated_run import DifferentiatedRun, Runner
from pliant.study.fit.free_parameters import FreeParameters

Floats = NDArray[np.float64]
Measure = Callable[[DifferentiatedRun], Any]  # returns a number with derivatives
PART = "optimise"
CONVERGED = "converged: no allowed change of the values improves the objective any more"
CONTRADICTION = "stopped: near the last values no step meets all constraints"
ENDS = {  # of the search, by solver and the status that scipy returns; all others: no step could be found
    "SLSQP": {
        0: CONVERGED,
        4: CONTRADICTION,
        8: "stopped: no step was found that improves the objective and keeps the constraints",
    },
    "trust-constr": {1: CONVERGED, 2: "converged: its steps have become negligible", 4: CONTRADICTION},
}
LIMIT = {"SLSQP": 9, "trust-constr": 0}  # the status of a search that was cut short
REFUSED = 1e3  # factor on the initial objective, assigned to a failed run so that the search turns back
TIGHT = 1e-6  # fraction of a constraint's scale: within this distance of a bound it counts as active
ZERO = 1e-12  # fraction of the first objective: a parameter that changes everything by less, over its scale, cannot be searched for
ASIDE = 1e-2  # fraction of a parameter's scale: how far aside it is tried if its derivatives are zero
BROKEN = 1e-4  # fraction of a constraint's scale: beyond this it counts as violated


@dataclass(frozen=True)
class Constraint:
    """A constraint: a number of the run that must stay between two bounds; equal bounds make an equality constraint."""

    of: Measure
    low: float | None = None
    high: float | None = None
    name: str = ""

    def __post_init__(self) -> None:
        if not callable(self.of):
            raise ModelError.of(PART, "constraint", "must be a function of a run", self.of)
        if self.low is None and self.high is None:
            raise ModelError.of(PART, f"constraint {self.title!r}", "must have low, high or both", None)
        if self.low is not None and self.high is not None and not self.low <= self.high:
            raise ModelError.of(PART, f"constraint {self.title!r}", f"must have low <= high = {self.high}", self.low)

    @property
    def title(self) -> str:
        """Its name, or that of its function."""
        return self.name or getattr(self.of, "__name__", "constraint")

    @property
    def scale(self) -> float:
        """The scale by which the constraint is measured."""
        return max(abs(bound) for bound in (self.low, self.high) if bound is not None) or 1.0

    @property
    def limits(self) -> tuple[float, float]:
        """(low, high), infinite where there is none."""
        return -np.inf if self.low is None else self.low, np.inf if self.high is None else self.high


@dataclass(frozen=True)
class Optimum:
    """The result of an optimisation: the values found, the run with these values, and the history; it prints as a table."""

    ok: bool  # whether the search converged, could search for every parameter, and every constraint holds
    values: Mapping[str, float]
    units: Mapping[str, str]
    objective: float
    gradient: Mapping[str, float]  # gradient of the objective
    constraints: Mapping[str, float]  # value of each constraint
    tight: tuple[str, ...]  # constraints at a bound
    at_bounds: tuple[str, ...]  # parameters at a bound
    history: tuple[tuple[Mapping[str, float], float], ...]  # values and objective of every run, in order
    result: Result
    runs: int
    message: str
    warnings: tuple[str, ...] = ()

    def __str__(self) -> str:
        width = max(len(name) for name in (*self.values, *self.constraints, "objective")) + 2
        lines = [f"{'objective':<{width}}{self.objective:>16.8g}"]
        for name, value in self.values.items():
            end = "   at its bound" if name in self.at_bounds else ""
            lines.append(f"{name:<{width}}{value:>16.8g} {self.units[name]}".rstrip() + end)
        for name, value in self.constraints.items():
            lines.append(f"{name:<{width}}{value:>16.8g}" + ("   at its bound" if name in self.tight else ""))
        return "\n".join([*lines, *(f"warning: {sentence}" for sentence in self.warnings), f"{self.message} ({self.runs} runs)"])


def optimise(
    system: AnySystem,
    objective: Measure,
    parameters: Sequence[str] | Mapping[str, float],
    constraints: Sequence[Constraint | tuple[Measure, float | None, float | None]] = (),
    bounds: Mapping[str, tuple[float | None, float | None]] | None = None,
    *,
    t_end: float,
    guess: Mapping[str, float] | None = None,
    maximise: bool = False,
    solver: str = "SLSQP",
    tolerance: float = 1e-8,
    max_runs: int = 200,
    progress: Callable[[int, float], object] | bool | None = None,
    **run: Any,
) -> Optimum:
    """Find the parameter values that minimise (or maximise) a number of the run, with exact gradients.

    - objective: a function of a run whose numbers carry their derivatives: run["arm.angle"] over time, run.final("arm.angle"),
      run.largest("tip_deflection arm y"), run.peak_force("stop"), run.energy_lost(), run.event_time("there"), run.contacts(),
      run.parameter("K"); arithmetic and pliant's functions make one number of them.
    - parameters: names of the System's parameters that are free; bounds and guess as in `fit`.
    - constraints: `Constraint(function, low, high)`, or tuples of the same, of the same kind of functions.
    - tolerance: of the objective, over its first size. solver: SLSQP or trust-constr of scipy.
    - run: arguments of `simulate` by name: method, save, start, ...
    """
    if not callable(objective):
        raise ModelError.of(PART, "objective", "must be a function of a run", objective)
    if not isinstance(solver, str) or solver not in ENDS:
        raise ModelError.of(PART, "solver", f"must be among {', '.join(ENDS)}", solver)
    system = mechanism_of(system, PART)
    free = FreeParameters.of(PART, system, parameters, bounds, guess)
    t_end, tolerance = check.number(PART, "t_end", t_end, "s"), check.positive(PART, "tolerance", tolerance)
    check.count(PART, "max_runs", max_runs)
    check.progress(PART, progress)
    held = _constraints(constraints)
    runner = Runner(PART, system, t_end, free.names, free.fixed, run)
    with counted(progress, "runs", max_runs) as tell:
        search = _Search(runner, free, objective, _titled(held), -1.0 if maximise else 1.0, tell)
        return search.run(solver, tolerance, max_runs)


def _titled(constraints: Sequence[Constraint]) -> dict[str, Constraint]:
    """Constraints by title; equal titles are numbered."""
    titled: dict[str, Constraint] = {}
    for number, constraint in enumerate(constraints, start=1):
        title = constraint.title if constraint.title.isidentifier() or constraint.name else f"constraint {number}"
        titled[title if title not in titled else f"{title} {number}"] = constraint
    return titled


def _constraints(given: Any) -> list[Constraint]:
    tuples = given if isinstance(given, (list, tuple)) else [given]
    if not all(isinstance(one, Constraint) or (isinstance(one, tuple) and 1 < len(one) <= 4) for one in tuples):
        raise ModelError.of(PART, "constraints", "must be a list of Constraint(function, low, high)", given)
    return [one if isinstance(one, Constraint) else Constraint(*one) for one in tuples]


@dataclass
class _Search:
    """The search for the smallest objective; every run serves the objective and all constraints."""

    runner: Runner
    free: FreeParameters
    objective: Measure
    constraints: Mapping[str, Constraint]
    sense: float  # -1 if the objective is maximised
    progress: Callable[..., object] | None
    history: list[tuple[Mapping[str, float], float]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    _scale: float = 1.0
    _known: dict[bytes, tuple[Differentiated, dict[str, Differentiated]]] = field(default_factory=dict)
    _last: tuple[Differentiated, dict[str, Differentiated]] | None = None

    def run(self, solver: str, tolerance: float, max_runs: int) -> Optimum:
        from scipy.optimize import Bounds, minimize

        first, _ = self._measured(self.free.start)
        self._scale = abs(float(first)) or 1.0
        low, high = self.free.bounds
        options = {"maxiter": max_runs} | ({"ftol": tolerance} if solver == "SLSQP" else {"gtol": tolerance, "xtol": tolerance})
        done = minimize(
            self._value, self.free.start, jac=self._slope, method=solver, bounds=Bounds(low, high, keep_feasible=True),
            constraints=self._scipy_constraints(), options=options,
        )  # fmt: skip
        return self._optimum(np.clip(done.x, low, high), bool(done.success), _ending(solver, done.status, max_runs))

    def _optimum(self, x: Floats, came_to_an_end: bool, message: str) -> Optimum:
        values = self.free.values(x)
        measured, held = self._measured(x)
        broken = [name for name, one in self.constraints.items() if _breach(one, float(held[name])) > BROKEN]
        not_searched = self._not_searched(x)
        violated = [f"violated constraints: {', '.join(broken)}"] if broken else []
        message = "; ".join([message, *violated, *not_searched])
        return Optimum(
            ok=came_to_an_end and not broken and not not_searched,
            values=values,
            units=dict(zip(self.free.names, self.free.units, strict=True)),
            objective=float(measured),
            gradient=dict(zip(self.free.names, map(float, measured.slope), strict=True)),
            constraints={name: float(value) for name, value in held.items()},
            tight=tuple(name for name, one in self.constraints.items() if abs(_breach(one, float(held[name]))) <= TIGHT),
            at_bounds=tuple(n for n, k, a, b in zip(values, x, *self.free.bounds, strict=True) if min(k - a, b - k) <= TIGHT),
            history=tuple(self.history),
            result=self.runner.at(values).result,
            runs=self.runner.count,
            message=message,
            warnings=tuple(self.warnings),
        )

    def _not_searched(self, x: Floats) -> list[str]:
        """Parameters whose derivatives are zero although this is no minimum: a search by derivatives leaves them where they are."""
        measured, held = self._measured(x)
        slopes = [measured.slope / self._scale, *(held[name].slope / one.scale for name, one in self.constraints.items())]
        found = []
        for k in np.flatnonzero(np.max(np.abs(slopes), axis=0) * self.free.scales <= ZERO).tolist():
            name, here, around = self.free.names[k], self.free.values(x), self._aside(x, k)
            if around and all(value > self.sense * float(measured) for _, value in around):
                continue  # a minimum
            at, lowest = min(around, key=lambda each: each[1], default=(here[name], np.inf))
            if lowest < self.sense * float(measured):
                found.append(f"the derivative of the objective by {name} is zero at {here[name]:.6g}, but the objective is "
                             f"{self.sense * lowest:.6g} at {at:.6g}: give another guess")  # fmt: skip
            else:
                found.append(f"{name} was not searched for: the objective does not depend on it near {here[name]:.6g}")
        return found

    def _aside(self, x: Floats, k: int) -> list[tuple[float, float]]:
        """(value of parameter k, objective to be minimised) a little aside of x, as far as bounds and runs allow."""
        around, name = [], self.free.names[k]
        for step in (-ASIDE, ASIDE):
            moved = np.array(x, dtype=np.float64)
            moved[k] += step
            values = self.free.values(moved)
            if values[name] == self.free.values(x)[name]:
                continue
            try:
                measured = _number("objective", self.objective(self.runner.at(values)), len(self.free.names))
            except SolveError:
                continue
            around.append((values[name], self.sense * float(measured)))
        return around

    # ---- callbacks for scipy

    def _value(self, x: Floats) -> float:
        return self.sense * float(self._tried(x)[0]) / self._scale

    def _slope(self, x: Floats) -> Floats:
        return self.sense * self._tried(x)[0].slope * self.free.scales / self._scale

    def _scipy_constraints(self) -> list[Any]:
        from scipy.optimize import NonlinearConstraint

        return [
            NonlinearConstraint(
                lambda x, name=name: float(self._tried(x)[1][name]) / self.constraints[name].scale,
                *(limit / one.scale for limit in one.limits),
                jac=lambda x, name=name: self._tried(x)[1][name].slope * self.free.scales / self.constraints[name].scale,
            )
            for name, one in self.constraints.items()
        ]

    def _tried(self, x: Floats) -> tuple[Differentiated, dict[str, Differentiated]]:
        """The run with these values; a run that fails gets a large objective, so that the search turns back."""
        try:
            return self._measured(x)
        except SolveError as trouble:
            sentence = f"a run during the search failed: {trouble}"
            self.warnings += [] if sentence in self.warnings else [sentence]
            assert self._last is not None  # the first run has been made before
            last, held = self._last
            return Differentiated(self.sense * REFUSED * self._scale, last.slope), held

    def _measured(self, x: Floats) -> tuple[Differentiated, dict[str, Differentiated]]:
        key = np.asarray(x, dtype=np.float64).tobytes()
        if key not in self._known:
            values = self.free.values(x)
            run = self.runner.at(values)
            measured = _number("objective", self.objective(run), len(self.free.names))
            held = {name: _number(name, one.of(run), len(self.free.names)) for name, one in self.constraints.items()}
            self._known = {key: (measured, held)}
            self._last = (measured, held)
            self.history.append((values, float(measured)))
            self.warnings += [sentence for sentence in run.warnings if sentence not in self.warnings]
            if self.progress is not None:
                self.progress(self.runner.count, float(measured))
        return self._known[key]


def _ending(solver: str, status: int, max_runs: int) -> str:
    """How the search ended."""
    if status == LIMIT[solver]:
        return f"the search stopped after {max_runs} steps, before it converged"
    return f"the search {ENDS[solver].get(status, 'stopped: the constraints near the last values depend on each other')}"


def _number(name: str, value: Any, width: int) -> Differentiated:
    """One number with derivatives; a plain number is an error, because no parameter would change the objective or constraint."""
    if not isinstance(value, Differentiated):
        rule = "must return a number computed from the run, such as run.final('arm.angle') ** 2, so that it has derivatives"
        raise ModelError.of(PART, name, rule, value)
    if value.value.shape != ():
        raise ModelError.of(PART, name, "must return one number; use .sum(), .mean() or .max()", f"{value.value.shape} numbers")
    if not np.isfinite(value.value) or not np.all(np.isfinite(value.slope)):
        raise SolveError(f"{name} and its derivatives must be finite, got {float(value)} and {value.slope.tolist()}")
    return value


def _breach(constraint: Constraint, value: float) -> float:
    """The violation of a constraint over its scale; negative if there is a margin."""
    low, high = constraint.limits
    return max(low - value, value - high) / constraint.scale
