"""What the runs of a System keep for the next run: its parts, its tree, and everything that no changed number affects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pliant.model.parameter import Parameter, Values
from pliant.model.remembered import RememberedParts
from pliant.model.system import System
from pliant.run.by_identity import ByIdentity
from pliant.run.mechanism import driven

if TYPE_CHECKING:  # casadi is imported when a run begins
    from pliant.dynamics.tree import RememberedTree
    from pliant.trace.lowered_system import LoweredSystem
    from pliant.trace.lowering import RememberedReadings
    from pliant.trace.traced_system import TracedSystem


class SystemMemory:
    """The memory of a System that is run more than once; the first run keeps nothing, since there may be no second."""

    def __init__(self, parts: RememberedParts | None = None) -> None:
        self._parts = parts
        self.slopes: dict[Any, Any] = {}  # what theta changes, by everything that this depends on; see `theta`
        self.tree: RememberedTree | None = None
        self.readings: RememberedReadings | None = None
        if parts is not None:
            from pliant.dynamics.tree import RememberedTree
            from pliant.trace.lowering import RememberedReadings

            self.readings = RememberedReadings()
            if parts.links_stay:
                self.tree = RememberedTree()

    @classmethod
    def of(cls, system: System, now: System) -> SystemMemory:
        """The memory of the user's System, empty if its parts have changed; now: a snapshot of the System."""
        known = _MEMORIES.get(system)
        if known is None:
            known = cls()
        elif known._parts is not None and known._parts.are_of(now):
            return known
        else:
            known = cls(RememberedParts(now))
        _MEMORIES.put(system, known)
        return known

    def parameters(self, system: System) -> dict[str, Parameter]:
        return system.parameters if self._parts is None else self._parts.parameters(system)

    def beyond_starts(self, system: System) -> set[str]:
        """Names of the parameters that anything else than the start of a joint contains."""
        return set(self.parameters(system)) if self._parts is None else self._parts.beyond_starts(system)

    def resolved(self, system: System, values: Values) -> System:
        from pliant.model.resolve import resolved

        if not values:
            return system
        plain: System = resolved(system, values) if self._parts is None else self._parts.resolved(system, values)
        if plain.undriven is None or all(values[name] == one.value for name, one in self.parameters(system).items()):
            return plain
        return driven(plain.undriven)  # the efforts for these values

    def lowered(self, traced: TracedSystem, values: Mapping[str, float], still: bool = True) -> LoweredSystem:
        """The System of a trace at given values of its parameters; still: with every coordinate prescribed, too."""
        from pliant.trace.tracing import lower_system

        plain = self.resolved(traced.original, dict(values))
        return lower_system(plain, traced.formulation, still, traced.near, traced.t_start, values, self.tree, traced.hold_at)


_MEMORIES: ByIdentity[SystemMemory] = ByIdentity()
