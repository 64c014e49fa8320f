"""The kept results of an ensemble so far, and the Dataset made of them; memory is needed only for what is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pliant.arrays import Floats, Ints, Truths
from pliant.ensemble.keep import CONTACTS, FINAL, LEDGER, OF_PAIR, RECORDS, WARNINGS, KeepPlan, shape_of
from pliant.ensemble.members import MemberPlan
from pliant.errors import ModelError, SolveError
from pliant.integrate.status import AT_EVENT, Status
from pliant.results.contacts import LINEAR, NUMBERS, ContactTable, columns_in
from pliant.results.table import AXES, QUANTITIES, QUATERNION
from pliant.run.observed import columns_of

if TYPE_CHECKING:
    import xarray as xr

    from pliant.integrate.member_runs import Ends
    from pliant.integrate.methods.method import Method
    from pliant.results.ledger import Extremes
    from pliant.results.result import Result
    from pliant.run.prepare import Compiled
    from pliant.trace.traced_system import TracedSystem

NOT_RUN = "not run: the ensemble was interrupted first"


class EnsembleStore:
    """Arrays with one row per member; each thread writes to its own rows."""

    def __init__(self, plan: MemberPlan, kept: KeepPlan) -> None:
        self._plan, self._kept, n = plan, kept, plan.count
        self._traced = traced = plan.first.traced
        self.ok = np.zeros(n, dtype=np.bool_)
        self.message = np.full(n, NOT_RUN, dtype=object)
        self._ended = np.zeros(n, dtype=np.bool_)
        self.t_end, self.steps = np.full(n, np.nan), np.zeros(n, dtype=np.int64)
        self.final = {name: np.full((n, *shape_of(traced, name)), np.nan) for name in ("q", "v") if FINAL in kept.words}
        pairs = len(traced.pairs)
        self.of_pair = {name: np.zeros((n, pairs)) for name in OF_PAIR if CONTACTS in kept.words}
        self.values = {name: np.full((n, kept.times.size, *shape_of(traced, name)), np.nan) for name in kept.values}
        self.extremes = {name: np.full((n, 2, *shape_of(traced, name)), np.nan) for name in kept.extremes}
        self.ledger = {name: np.full(n, np.nan) for name in ("balance_error", "balance_scale") if LEDGER in kept.words}
        self.records: dict[int, ContactTable] = {}
        self.warnings: list[tuple[str, ...]] = [()] * n

    @property
    def done(self) -> int:
        """Members that have ended."""
        return int(np.count_nonzero(self._ended))

    def failed(self, member: int, message: str) -> None:
        self._end(member, message)

    def _end(self, members: int | Ints | slice, message: str) -> None:
        """The last to be stored of members: it marks the rest as complete."""
        self.message[members] = message
        self._ended[members] = True

    def put(self, members: Ints, ends: Ends, good: Truths, traced: TracedSystem) -> None:
        """Store members that ended normally inside the loop."""
        own, rows = span_of(members[good]), span_of(np.flatnonzero(good))
        self.ok[own], self.t_end[own], self.steps[own] = True, ends.t[rows], ends.steps[rows]
        if self.final:
            self._put_final(own, ends.y[rows], ends.end_values[rows])
        if self.of_pair:
            for k, name in enumerate(OF_PAIR):
                self.of_pair[name][own] = ends.tally[rows, :, k]
        self._put_rows(own, ends, rows)
        self._put_messages(members[good], ends.code[rows], ends.t[rows], ends.event[rows])

    def _put_messages(self, members: Ints, code: Ints, t: Floats, event: Ints) -> None:
        stopped = code == AT_EVENT
        for k in np.flatnonzero(stopped).tolist():
            self._end(int(members[k]), f"event {self._traced.events[event[k]].name!r} ended the run at t = {t[k]:.10g} s")
        members, t = members[~stopped], t[~stopped]
        for end in t[:1].tolist() if np.all(t == t[:1]) else np.unique(t).tolist():  # of millions, sorting takes long
            self._end(span_of(members[t == end]), Status.REACHED.sentence(t=end))

    def _put_final(self, members: Ints | slice, y: Floats, at_end: Floats) -> None:
        """Store the final coordinates: free ones from the state, prescribed ones from the observed row at the end."""
        places = [columns_of(self._traced, (name,))[name] for name in ("q", "v")]
        taken = 0
        for name, place in zip(("q", "v"), places, strict=True):
            free = np.flatnonzero(place < 0)
            prescribed = np.flatnonzero(place >= 0)
            values = np.empty((len(y), place.size))
            values[:, free] = y[:, -1 - place[free]]
            values[:, prescribed] = at_end[:, taken : taken + prescribed.size]
            taken += prescribed.size
            self.final[name][members] = values

    def _put_rows(self, members: Ints | slice, ends: Ends, rows: Ints | slice) -> None:
        first = 0
        for name in self._kept.quantities:
            shape = shape_of(self._traced, name)
            part = slice(first, first + int(np.prod(shape, dtype=np.int64)))
            if name in self.values:
                values = ends.values[rows][:, :, part]
                self.values[name][members] = values.reshape(*values.shape[:2], *shape)
            if name in self.extremes:
                extremes = ends.extremes[rows][:, :, part]
                self.extremes[name][members] = extremes.reshape(len(extremes), 2, *shape)
            first = part.stop

    def put_ledger(self, member: int, extremes: Extremes) -> None:
        self.ledger["balance_error"][member] = extremes.balance_error
        self.ledger["balance_scale"][member] = extremes.scale

    def put_records(self, member: int, records: ContactTable) -> None:
        self.records[member] = records

    def run_alone(self, member: int, compiled: Compiled | None, t_end: float, method: Method, max_steps: int | None) -> None:
        """Runs a member by `simulate`, and stores the result or the error."""
        save = self._kept.times.tolist() or [t_end]
        try:
            result = self._plan.simulated(member, compiled, t_end, method=method, save=save, max_steps=max_steps)
        except (ModelError, SolveError) as trouble:
            self.failed(member, str(trouble))
        else:
            self.put_result(member, result)

    def put_result(self, member: int, result: Result) -> None:
        """Store a member that was run individually."""
        for name in self._kept.quantities:
            if result.values[name].shape[1:] != shape_of(self._traced, name):
                self.failed(member, f"{name} does not have the same {' and '.join(QUANTITIES[name].dims)}s as the given System")
                return
        self.ok[member] = result.ok
        self.steps[member] = result.stats["steps"]
        if result.final_state is not None:
            self.t_end[member] = result.final_state.t
            if self.final:
                self._put_final(np.array([member]), result.final_state.y[None], self._prescribed_at_end(result))
        if self.of_pair:
            self._tally(member, result.contacts)
        for name, series in self.values.items():
            series[member, : len(result.values[name])] = result.values[name]
        for name, extremes in self.extremes.items():
            if len(result.values[name]):
                extremes[member] = result.values[name].min(axis=0), result.values[name].max(axis=0)
        if self.ledger and result.extremes is not None:
            self.put_ledger(member, result.extremes)
        if RECORDS in self._kept.words:
            self.put_records(member, result.contacts)
        self.warnings[member] = result.warnings
        self._end(member, result.message if WARNINGS in self._kept.words else "; ".join((result.message, *result.warnings)))

    def _prescribed_at_end(self, result: Result) -> Floats:
        """Prescribed positions, then rates, at the end of the run; nan if no row was saved there."""
        prescribed, state = self._traced.tree.prescribed, result.final_state
        assert state is not None
        if not len(result.time) or result.time[-1] != state.t:
            return np.full((1, 2 * len(prescribed)), np.nan)
        q, v = result.values["q"][-1:], result.values["v"][-1:]
        return np.concatenate([q[:, [c.q for c in prescribed]], v[:, [c.v for c in prescribed]]], axis=1)

    def _tally(self, member: int, contacts: ContactTable) -> None:
        for k, slots in enumerate(self._traced.pairs):
            own = contacts.of(slots.pair.name)
            self.of_pair["touches"][member, k] = len(own)
            for name in ("peak_force", "entry_speed"):
                self.of_pair[name][member, k] = max((getattr(record, name) for record in own), default=0.0)
            for name in ("impulse", "normal_loss", "friction_loss"):
                total = 0.0
                for record in sorted(own, key=lambda record: (np.isnan(record.end), record.end)):
                    total += getattr(record, name)
                self.of_pair[name][member, k] = total

    def dataset(self, interrupted: bool) -> xr.Dataset:
        """All kept results with names and units; rows of members that did not run are nan."""
        import xarray as xr

        from pliant.results.runs_dataset import RunsDataset

        def sentences(each: NDArray[Any], meaning: str) -> xr.Variable:
            """Without a look at every one for dates, which takes longer than a GPU's run."""
            return xr.Variable("member", each, {"long_name": meaning}, fastpath=True)

        variables: dict[str, Any] = {
            "ok": ("member", self.ok, {"long_name": "whether the member ran to its end"}),
            "message": sentences(self.message, "how it ended"),
            "t_end": ("member", self.t_end, {"units": "s"}),
            "steps": ("member", self.steps, {"units": "1"}),
        }
        for name, values in self.final.items():
            variables[f"{name}_end"] = (("member", *QUANTITIES[name].dims), values, _attributes(name))
        for name, values in self.of_pair.items():
            whole = values.astype(np.int64) if name == "touches" else values
            variables[name] = (("member", "pair"), whole, {"units": self._units(name)})
        for name, values in self.values.items():
            variables[name] = (("member", "time", *QUANTITIES[name].dims), values, _attributes(name))
        for name, values in self.extremes.items():
            for k, end in enumerate(("lowest", "highest")):
                variables[f"{name}_{end}"] = (("member", *QUANTITIES[name].dims), values[:, k], _attributes(name))
        for name, values in self.ledger.items():
            variables[name] = ("member", values, {"units": "J"})
        if WARNINGS in self._kept.words:
            every = np.array(["\n".join(own) for own in self.warnings], dtype=object)
            variables["warnings"] = sentences(every, "warnings to read before trusting the numbers, one per line")
        if RECORDS in self._kept.words:
            variables |= self._record_variables()
        for name, values in self._plan.parameters.items():
            unit = self._traced.original.parameters[name].unit
            variables[f"parameter {name}"] = ("member", np.array(values), {"units": unit or "1"})
        for kind, series in (("start", self._plan.starts.positions), ("start rate", self._plan.starts.rates)):
            variables |= {f"{kind} {name}": ("member", np.array(values)) for name, values in series.items()}
        attributes = {"title": self._traced.system.name, "interrupted": int(interrupted)}
        return RunsDataset(variables, self._coordinates(variables), attributes)

    def _units(self, name: str) -> str:
        """Of a number of pairs, as far as these have different units: the gap of a pair that turns is an angle."""
        kinds = [slots.pair.units for slots in self._traced.pairs] or [LINEAR]
        return " or ".join(dict.fromkeys({"touches": "1", **columns_in(*kind)}[name] for kind in kinds))

    def _coordinates(self, variables: dict[str, Any]) -> dict[str, Any]:
        dims = (getattr(value, "dims", None) or value[0] for value in variables.values())
        used = {d for own in dims for d in ((own,) if isinstance(own, str) else own)}
        labels = {**self._traced.columns, "axis": AXES, "quaternion": QUATERNION}
        known = {name: list(labels[name]) for name in labels if name in used}
        times = {"time": ("time", self._kept.times, {"units": "s"})} if "time" in used else {}
        return {"member": np.arange(self._plan.count), **known, **times}

    def _record_variables(self) -> dict[str, Any]:
        """Every contact of every member in one list, each with the number of its member."""
        flat = [(member, record) for member in sorted(self.records) for record in self.records[member]]
        columns: dict[str, Any] = {
            "touch_member": ("touch", np.array([member for member, _ in flat], dtype=np.int64)),
            "touch_pair": ("touch", np.array([record.pair for _, record in flat], dtype=object)),
        }
        return columns | {f"touch_{name}": ("touch", np.array([getattr(record, name) for _, record in flat], dtype=np.float64))
                          for name in NUMBERS}  # fmt: skip


def span_of(numbers: Ints) -> Ints | slice:
    """Numbers as a slice if each follows the one before: nothing is copied then that need not be."""
    if numbers.size and np.all(np.diff(numbers) == 1):
        return slice(int(numbers[0]), int(numbers[-1]) + 1)
    return numbers


def _attributes(quantity: str) -> dict[str, str]:
    return {"units": QUANTITIES[quantity].unit, "long_name": QUANTITIES[quantity].meaning}
