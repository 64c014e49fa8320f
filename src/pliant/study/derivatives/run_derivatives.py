"""The derivatives of a whole run, as sensitivities() returns them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.arrays import Floats
from pliant.errors import SolveError
from pliant.results.contacts import ContactRecord
from pliant.results.contents import EventRecord
from pliant.results.kept import checked_names
from pliant.results.ledger import HELD
from pliant.results.result import Result
from pliant.results.table import QUANTITIES

if TYPE_CHECKING:
    import xarray as xr

    from pliant.study.derivatives.saltation import Walk
    from pliant.study.derivatives.walk_records import Undefined

THETA = "theta"


@dataclass(frozen=True)
class EventDerivative:
    """An event of the run, and the derivative of its time by theta."""

    event: EventRecord
    time: Floats  # s per unit of theta

    @property
    def t(self) -> float:
        """Time of the event, s."""
        return self.event.t

    @property
    def name(self) -> str:
        """Name of the event."""
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
        """Of the whole energy."""
        return np.asarray(sum(self.held.values()))


class Sensitivities:
    """A run and its derivatives by theta (parameters, start positions and start rates), as far as they exist."""

    warnings: tuple[str, ...] = ()  # how derivatives were found, if they are not exact

    def __init__(self, walk: Walk, of: tuple[str, ...], rows: tuple[Floats, Floats]) -> None:
        self.names = walk.theta.names
        self.of = of
        self._walk, (self._row_times, self._row_states) = walk, rows

    @cached_property
    def result(self) -> Result:
        """The run itself."""
        return self._walk.run.result

    @property
    def ok(self) -> bool:
        """Whether the run did what was asked, and derivatives exist to its end."""
        return self.result.ok and not self.undefined

    @property
    def n_runs(self) -> int:
        """How many runs these derivatives took."""
        return 1

    @property
    def undefined(self) -> tuple[Undefined, ...]:
        """Points where a derivative does not exist: time, contact or event, reason. Derivatives after the first are left out."""
        return tuple(self._walk.undefined)

    @property
    def until(self) -> float:
        """The time up to which derivatives are known, s."""
        return min(float(self._walk.tape.times[-1, 1]), self._walk.until)

    @property
    def final(self) -> Floats | Any:
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

        checked_names("at_end", "name", [name])
        if not self.ok:
            raise SolveError(f"sensitivities: {name} at the end has no derivative: {'; '.join(self._reasons)}")
        return quantity_at_end(self._walk, name, self.end_time)

    def __str__(self) -> str:
        words = f"derivatives of {self.result.name!r} by {', '.join(self.names)}"
        return "\n".join([words, *dict.fromkeys([*self.warnings, *self._reasons])])

    @property
    def _reasons(self) -> list[str]:
        """Why the derivatives end early."""
        return [*map(str, self.undefined), *([] if self.result.ok else [f"the run ended early: {self.result.message}"])]

    @cached_property
    def table(self) -> xr.Dataset:
        """Derivatives of the quantities, with the dimensions of the result and theta last; rows as far as derivatives exist."""
        import xarray as xr

        values = self.rows
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
    def rows(self) -> dict[str, Floats]:
        """The same derivatives as bare arrays, by quantity: (time, ..., theta)."""
        return self._walk_values(self.of)

    def _walk_values(self, names: Sequence[str]) -> dict[str, Floats]:
        from pliant.study.derivatives.row_derivatives import row_derivatives

        return row_derivatives(self._walk, self.time, self._row_states[: self._n_rows], names)

    @cached_property
    def ledger(self) -> LedgerDerivative:
        """Derivatives of the energy ledger."""
        missing = [name for name in (*HELD, "work") if name not in self.of]
        values = {**self.rows, **(self._walk_values(missing) if missing else {})}
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
