"""What runs of one System leave for the next one: parts, tree and readings of what no changed number reaches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pliant.model.parameter import Parameter, Values
from pliant.model.remembered import RememberedParts
from pliant.model.system import System
from pliant.run.by_identity import ByIdentity

if TYPE_CHECKING:  # casadi comes in when a run begins
    from pliant.dynamics.tree import RememberedTree
    from pliant.trace.lowering import RememberedReadings


class SystemMemory:
    """Of a System that is run more than once; the first time, when nobody knows of a second, nothing is remembered."""

    def __init__(self, parts: RememberedParts | None = None) -> None:
        self._parts = parts
        self.slopes: dict[Any, Any] = {}  # what theta changes, by all that this depends on: see `theta`
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
        """What is known of the user's System; now: a snapshot of it. Nothing, where its parts have changed."""
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

    def resolved(self, system: System, values: Values) -> System:
        from pliant.model.resolve import resolved

        if not values:
            return system
        plain: System = resolved(system, values) if self._parts is None else self._parts.resolved(system, values)
        return plain


_MEMORIES: ByIdentity[SystemMemory] = ByIdentity()
