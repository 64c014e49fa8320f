"""sensitivities(): derivatives of a whole run, through all its events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pliant.errors import ModelError, SolveError
from pliant.host.stages import Stages, Tell
from pliant.integrate.methods.method import Method
from pliant.model.check import did_you_mean
from pliant.model.refused import refuse_controllers
from pliant.model.system import System
from pliant.results.contacts import ContactRecord
from pliant.results.contents import EventRecord
from pliant.results.ledger import HELD
from pliant.results.result import Result
from pliant.results.state import FinalState, HasState
from pliant.results.table import QUANTITIES
from pliant.run.prepare import Compiled
from pliant.run.save_times import Every
from pliant.run.simulate import AUTO, Progress, Run, method_of, run_to_end

if TYPE_CHECKING:
    import xarray as xr

    from pliant.study.derivatives.saltation import Undefined, Walk

Floats = NDArray[np.float64]

THETA = "theta"
ATOL = 1e-3  # ratio atol/rtol if only rtol is given, as in the default method


@dataclass(frozen=True)
class EventDerivative:
    """An event of the run, and the derivative of its time by theta."""

    event: EventRecord
    time: Floats  # s per unit of theta

    @property
    def t(self) -> float:
        return self.event.t

    @property
    def name(self) -> str:
        return self.event.name


@dataclass(frozen=True)
class ContactDerivative:
    """A contact of the run, and the derivatives of its record by name, as far as they exist."""

    record: ContactRecord
    values: Mapping[str, Floats]  # by name: (theta)

    def __getitem__(self, name: str) -> Floats:
        return self.values[name]

    def __contains__(self, name: object) -> bool:
        return name in self.values


@dataclass(frozen=True)
class LedgerDerivative:
    """Derivatives of the columns of the energy ledger: (time, theta)."""

    time: Floats
    held: Mapping[str, Floats]  # J per unit of theta
    work: Mapping[str, Floats]

    @property
    def energy(self) -> Floats:
        return np.asarray(sum(self.held.values()))


class Sensitivities:
    """A run and its derivatives by theta (parameters, start positions and start rates), as far as they exist."""

    def __init__(self, result: Result, walk: Walk, of: tuple[str, ...], rows: tuple[Floats, Floats]) -> None:
        self.result = result
        self.names = walk.theta.names
        self.of = of
        self._walk, (self._row_times, self._row_states) = walk, rows

    @property
    def ok(self) -> bool:
        """Whether the run did what was asked, and derivatives exist to its end."""
        return self.result.ok and not self.undefined

    @property
    def undefined(self) -> tuple[Undefined, ...]:
        """Points where a derivative does not exist: time, contact or event, reason. Derivatives after the first are left out."""
        return tuple(self._walk.undefined)

    @property
    def until(self) -> float:
        """The time up to which derivatives are known, s."""
        return min(float(self._walk.tape.times[-1, 1]), self._walk.until)

    @property
    def final(self) -> Floats | None:
        """Derivatives of the final state, (component of y, theta); None unless `ok`."""
        return self._walk.final if self.ok else None

    @cached_property
    def end_time(self) -> Floats:
        """Derivative of the end time of the run: zero, unless an event ended the run."""
        last, end = self.events[-1] if self.events else None, float(self._walk.tape.times[-1, 1])
        return last.time if last is not None and last.t == end < self._walk.run.t_end else np.zeros(len(self.names))

    def at_end(self, name: str) -> tuple[Floats, Floats]:
        """A quantity at the end of the run and its derivatives, including the change of the end time; requires `ok`."""
        from pliant.study.derivatives.run_end import quantity_at_end

        if not self.ok:
            raise SolveError(f"sensitivities: {name} at the end has no derivative: {'; '.join(self._reasons)}")
        return quantity_at_end(self._walk, name, self.end_time)

    def __str__(self) -> str:
        words = f"derivatives of {self.result.name!r} by {', '.join(self.names)}"
        return "\n".join([words, *self._reasons])

    @property
    def _reasons(self) -> list[str]:
        """Why the derivatives end early."""
        return [*map(str, self.undefined), *([] if self.result.ok else [f"the run ended early: {self.result.message}"])]

    @cached_property
    def table(self) -> xr.Dataset:
        """Derivatives of the quantities, with the dimensions of the result and theta last; rows as far as derivatives exist."""
        import xarray as xr

        values = self._values
        labels = self.result.labels
        data = {}
        for name in self.of:
            quantity = QUANTITIES[name]
            attributes = {"units": f"({quantity.unit}) / unit of theta", "long_name": f"derivative of {quantity.meaning}"}
            data[name] = (("time", *quantity.dims, THETA), values[name], attributes)
        used = {d for name in self.of for d in QUANTITIES[name].dims}
        coordinates: dict[str, Any] = {d: list(labels[d]) for d in sorted(used)}
        return xr.Dataset(data, coords={"time": self.time, **coordinates, THETA: list(self.names)})

    @cached_property
    def time(self) -> Floats:
        """Times of the rows that have derivatives, s."""
        return self._row_times[: self._n_rows]

    @property
    def _n_rows(self) -> int:
        return int(np.searchsorted(self._row_times, self._walk.until, side="right"))

    @cached_property
    def _values(self) -> dict[str, Floats]:
        return self._walk_values(self.of)

    def _walk_values(self, names: Sequence[str]) -> dict[str, Floats]:
        from pliant.study.derivatives.row_derivatives import row_derivatives

        return row_derivatives(self._walk, self.time, self._row_states[: self._n_rows], names)

    @cached_property
    def ledger(self) -> LedgerDerivative:
        missing = [name for name in (*HELD, "work") if name not in self.of]
        values = {**self._values, **(self._walk_values(missing) if missing else {})}
        sources, extremes = list(self.result.labels["source"]), self.result.extremes
        idle = () if extremes is None else extremes.idle  # the result's ledger leaves these out
        works = {name: values["work"][:, k] for k, name in enumerate(sources) if name not in idle}
        return LedgerDerivative(self.time, {name: values[name] for name in HELD}, works)

    @cached_property
    def events(self) -> tuple[EventDerivative, ...]:
        """Derivatives of the result's events, as far as they exist."""
        from pliant.study.derivatives.point_derivatives import event_derivatives

        return tuple(EventDerivative(event, slope) for event, slope in event_derivatives(self._walk, self.result))

    @cached_property
    def contacts(self) -> tuple[ContactDerivative, ...]:
        """Derivatives of the result's contacts, in order: those that ended, or still last, before derivatives end."""
        from pliant.study.derivatives.point_derivatives import contact_derivatives

        return tuple(ContactDerivative(record, values) for record, values in contact_derivatives(self._walk, self.result))


def sensitivities(
    system: System | Compiled,
    t_end: float,
    parameters: Sequence[str] = (),
    starts: Sequence[str] = (),
    rates: Sequence[str] = (),
    *,
    of: str | Sequence[str] | None = None,
    values: Mapping[str, float] | None = None,
    control: bool = False,
    method: Method | str | None = AUTO,
    rtol: float | None = None,
    save: Every | float | Sequence[float] | str | None = None,
    t_start: float = 0.0,
    start: Result | FinalState | HasState | None = None,
    formulation: str = "articulated",
    progress: Progress | None = None,
    phase: Tell | None = None,
    max_steps: int | None = None,
    max_seconds: float | None = None,
    cache: bool = True,
) -> Sensitivities:
    """Run a mechanism exactly as `simulate` does, bit for bit, and differentiate all results.

    parameters: names of the System's parameters; starts, rates: names of coordinates whose start positions and start rates are
    varied; all of these together are theta. of: quantities of the result to differentiate; all by default. values: parameter values
    by name, in SI units, that replace the parameters' own. control: keep the relative error of the derivatives below the method's
    rtol in every step; without it, below 33 rtol. rtol: replaces the method's own. All other arguments are those of `simulate`.
    If the run continues an earlier one, the state where that one ended counts as given.
    """
    from pliant.run.theta import ThetaPlan, theta_of
    from pliant.study.derivatives.saltation import Walk

    plan = ThetaPlan(*(tuple((names,) if isinstance(names, str) else names) for names in (parameters, starts, rates)))
    wanted = _quantities(of)
    owner = system.traced.original if isinstance(system, Compiled) else system
    refuse_controllers(owner, "sensitivities", "derivatives through sampled values are not computed; use finite differences")
    if rtol is not None:
        method = replace(method_of(method), rtol=rtol, atol=ATOL * rtol)  # type: ignore[type-var]  # all methods are dataclasses
    if method_of(method).events_at_ends:
        raise ModelError.of("sensitivities", "method", "must locate events, because their times have derivatives too", method)
    _refuse_holding_joints(system.traced.original if isinstance(system, Compiled) else system)
    run, result = run_to_end(
        system, t_end, method=method, save=save, t_start=t_start, start=start, formulation=formulation, parameters=values,
        progress=progress, phase=phase, max_steps=max_steps, max_seconds=max_seconds, cache=cache, tape=True,
    )  # fmt: skip
    stages = Stages(phase)
    plan.check(run.traced)
    theta = theta_of(owner, run.compiled, plan, run.stops[0], run.stops[-1], start is not None, stages)
    tape = run.stepper.tape()
    if not len(tape.times):
        raise SolveError(f"sensitivities: the run did not take a single step: {result.message}")
    walk = Walk(run, tape, theta, stages, control)
    times, states = run.stepper.rows()
    walk.go(asked_times(times, run, result))
    return Sensitivities(result, walk, wanted, (times, states))


def _refuse_holding_joints(system: System) -> None:
    """Refuse joints that can stick, because derivatives would have to pass through their stick-slip events."""
    parts = [(f"body {link.name!r}", link.joint.frictions) for link in system.links.values()]
    parts += [(closure.part, closure.frictions) for closure in system.closures.values()]
    for part, frictions in parts:
        for friction in frictions.values():
            if getattr(friction.law, "holds", False):
                rule = "must be a law without sticking for sensitivities: derivatives through joints that stick are not computed"
                raise ModelError.of(part, "friction.law", rule, type(friction.law).__name__)


def asked_times(rows: Floats, run: Run, result: Result) -> Floats:
    """The requested times: rows, events, peaks and ends of contacts, and the end of the run."""
    contacts = [t for record in result.contacts for t in (record.peak_time, record.end)]
    events = [event.t for event in run.stepper.logged()]
    end = run.stepper.tape().times[-1:, 1]
    every = np.concatenate([rows, end, np.array(contacts, dtype=np.float64), np.array(events, dtype=np.float64)])
    return np.unique(every[np.isfinite(every)])


def _quantities(of: str | Sequence[str] | None) -> tuple[str, ...]:
    if of is None:
        return tuple(QUANTITIES)
    names = (of,) if isinstance(of, str) else tuple(of)
    for name in names:
        if name not in QUANTITIES:
            rule = f"must name quantities of the result{did_you_mean(name, list(QUANTITIES))}"
            raise ModelError.of("sensitivities", "of", rule, name)
    return names
