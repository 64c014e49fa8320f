"""The members of an ensemble: the numbers and the start of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from pliant.arrays import Floats, Ints
from pliant.errors import ModelError, SolveError
from pliant.model import check
from pliant.model.resolve import checked_values
from pliant.model.system import System
from pliant.results.state import FinalState
from pliant.run.prepare import Compiled, compile_system
from pliant.run.simulate import simulate
from pliant.run.starts import split_starts, start_at, start_places

if TYPE_CHECKING:
    from pliant.results.result import Result
    from pliant.trace.traced_system import TracedSystem


@dataclass(frozen=True)
class Starts:
    """Start values of coordinates and rates, by name; all others start as in the System."""

    positions: Mapping[str, Floats]  # by name: (member)
    rates: Mapping[str, Floats]

    def __bool__(self) -> bool:
        return bool(self.positions or self.rates)


@dataclass(frozen=True)
class Alike:
    """Members of one structure with the same breakpoints and tables, which can run together."""

    members: Ints
    compiled: Sequence[Compiled]  # one for each, or one for all
    key: tuple[object, ...] = ()  # of what they share

    def of(self, k: int) -> Compiled:
        return self.compiled[k if len(self.compiled) > 1 else 0]

    def part(self, which: Ints) -> Alike:
        """A selection of these members."""
        return Alike(self.members[which], [self.compiled[k] for k in which] if len(self.compiled) > 1 else self.compiled, self.key)


OWN_EFFORTS = "the efforts of drive_by must be computed anew for other values of parameters"


@dataclass(frozen=True)
class MemberPlan:
    """All members of one ensemble."""

    system: System | Compiled
    formulation: str
    near: float | None
    t_start: float
    count: int
    parameters: Mapping[str, Floats]  # by name: (member)
    starts: Starts

    @classmethod
    def of(
        cls,
        system: System | Compiled,
        formulation: str,
        near: float | None,
        t_start: float,
        parameters: Mapping[str, ArrayLike] | None,
        starts: Mapping[str, ArrayLike] | None,
        rates: Mapping[str, ArrayLike] | None,
    ) -> MemberPlan:
        positions, speeds = split_starts(check.mapping("ensemble", "starts", starts))
        speeds |= check.mapping("ensemble", "rates", rates)
        given = [(kind, name, _series(kind, name, values))
                 for kind, mapping in (("parameters", parameters), ("starts", positions), ("rates", speeds))
                 for name, values in check.mapping("ensemble", kind, mapping).items()]  # fmt: skip
        count = _common_length(given)
        series = {kind: {name: np.broadcast_to(values, count) for k, name, values in given if k == kind}
                  for kind in ("parameters", "starts", "rates")}  # fmt: skip
        plan = cls(system, formulation, near, t_start, count, series["parameters"], Starts(series["starts"], series["rates"]))
        plan._check_names()
        return plan

    def _check_names(self) -> None:
        """Check names before the first run; parameter values are checked member by member."""
        original = self.system.traced.original if isinstance(self.system, Compiled) else self.system
        if self.parameters and original.undriven is not None:
            raise ModelError.of(
                "ensemble", "parameters", f"must be left out: {OWN_EFFORTS} (sweep does that)", list(self.parameters)
            )
        for name in self.parameters:
            if name not in original.parameters:
                checked_values(original.parameters, {name: 0.0})  # rejects an unknown name and suggests the nearest
        if self.starts:
            self._places  # noqa: B018  rejects names that cannot be set

    @cached_property
    def first(self) -> Compiled:
        """The System with its own values, compiled."""
        return self.system if isinstance(self.system, Compiled) else self._compiled({})

    def _compiled(self, values: Mapping[str, float]) -> Compiled:
        if isinstance(self.system, Compiled):
            traced = self.system.traced
            values = {**traced.parameter_values, **values}
            cached = self.system.structure.cache is not None
            return compile_system(traced.original, traced.formulation, cached, near=traced.near, t_start=traced.t_start,
                                  parameters=values)  # fmt: skip
        return compile_system(self.system, self.formulation, near=self.near, t_start=self.t_start, parameters=values)

    def compiled(self, member: int) -> Compiled:
        """The compiled System of one member; raises ModelError or SolveError if its numbers are not possible."""
        if not self.parameters:
            return self.first
        return self._compiled({name: float(values[member]) for name, values in self.parameters.items()})

    @cached_property
    def _places(self) -> dict[tuple[str, str], int]:
        """Indices in y of the coordinates and rates that have start values."""
        traced = self.first.traced
        return start_places(traced, "ensemble", {"starts": self.starts.positions, "rates": self.starts.rates})

    def stops(self, traced: TracedSystem, t_end: float) -> list[float]:
        """The ends of all pieces of time."""
        return [self.t_start, *(b for b in traced.breakpoints if self.t_start < b < t_end), t_end]

    def alike(self, members: Ints, t_end: float, refused: Callable[[int, str], None]) -> Iterator[Alike]:
        """Groups of members that can run together; refused: is told of those whose numbers are not possible."""
        if not self.parameters:
            yield Alike(members, [self.first])
            return
        groups: dict[tuple[object, ...], dict[int, Compiled]] = {}
        for member in members.tolist():
            try:
                compiled = self.compiled(member)
            except (ModelError, SolveError) as trouble:
                refused(member, str(trouble))
            else:
                stops = self.stops(compiled.traced, t_end)
                key = id(compiled.structure), *stops, heads_of(compiled.traced, stops).tobytes()
                groups.setdefault(key, {})[member] = compiled
        for key, group in groups.items():
            yield Alike(np.array(list(group)), list(group.values()), key)

    def states_of(self, group: Alike) -> Floats:
        """Start states (member, component)."""
        if len(group.compiled) == 1:
            return self.states(group.compiled[0], group.members)
        return np.array([self.states(group.of(k), group.members[k : k + 1])[0] for k in range(group.members.size)])

    def states(self, compiled: Compiled, members: Ints) -> Floats:
        """Start states of members that share the same numbers."""
        y = np.tile(compiled.traced.y0, (members.size, 1))
        for kind, series in (("starts", self.starts.positions), ("rates", self.starts.rates)):
            for name, values in series.items():
                y[:, self._places[kind, name]] = values[members]
        return y

    def start(self, compiled: Compiled, member: int) -> FinalState | None:
        """The start state for `simulate`; None for the System's own start."""
        if not self.starts:
            return None
        return start_at(compiled, self.t_start, self.states(compiled, np.array([member]))[0])

    def simulated(self, member: int, compiled: Compiled | None, t_end: float, **options: Any) -> Result:
        """A member run by `simulate`; raises ModelError or SolveError if it cannot run."""
        compiled = self.compiled(member) if compiled is None else compiled
        return simulate(compiled, t_end, t_start=self.t_start, start=self.start(compiled, member), **options)


def heads_of(traced: TracedSystem, stops: Sequence[float]) -> Floats:
    """(piece of time, entry): what begins p in each."""
    return np.array([traced.head(begin, end) for begin, end in pairwise(stops)])


def _series(kind: str, name: str, values: Any) -> Floats:
    try:
        series = np.atleast_1d(np.asarray(values, dtype=np.float64))
    except (TypeError, ValueError):
        raise ModelError.of("ensemble", f"{kind}[{name!r}]", "must be numbers, one for each member", values) from None
    if series.ndim != 1 or series.size == 0:
        raise ModelError.of("ensemble", f"{kind}[{name!r}]", "must be one number or a row of them", f"shape {series.shape}")
    return series


def _common_length(given: list[tuple[str, str, Floats]]) -> int:
    """The common length of all rows; rows of one number fit any length."""
    count, first = 1, ""
    for kind, name, series in given:
        if series.size not in (1, count) and count > 1:
            rule = f"must have one number, or {count} numbers as {first} has"
            raise ModelError.of("ensemble", f"{kind}[{name!r}]", rule, f"{series.size} numbers")
        if series.size > 1:
            count, first = series.size, f"{kind}[{name!r}]"
    return count
