"""What the attempt of a GPU's thread does for closed contacts only, as LLVM text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from pliant.codegen.guards import MOST_SEPARATE, guard_bit
from pliant.integrate.lockstep_ends import EndWriter
from pliant.integrate.lockstep_staging import Number


class ContactWriter(EndWriter):
    """Writes functions, and lines for closed contacts."""

    def _function(self, head: str, write: Callable[[], None], end: str = "  ret void") -> str:
        self.lines, self.awake, self.here, self.memory, self.record = [], "", "", "%memory", "%lane"
        write()
        rooms = [f"  %{name}.room = alloca [{size} x double], align 8" for name, size in self.rooms.items()]
        rooms = [room for room in rooms if any(room.split(" = ")[0].strip() + "," in line for line in self.lines)]
        return "\n".join([f"define internal {head} alwaysinline nounwind {{", "entry:", *rooms, *self.lines, end, "}", ""])

    def _copy(self, sources: Sequence[Number], targets: Sequence[Number]) -> None:
        """Copies numbers, all of which are read before any is written, so that they do not wait for each other."""
        for x, target in zip([self.load(*source) for source in sources], targets, strict=True):
            self.store(x, *target)

    @property
    def _by_contact(self) -> list[tuple[int, list[int]]]:
        """(Pair, the events that are watched while it is closed)."""
        events = [e for e in self._events if self._of_contact(e)]
        return [(pair, [e for e in events if self.model.events[e].pair == pair]) for pair in range(len(self.model.pairs))]

    @contextmanager
    def _if_closed(self, pair: int) -> Iterator[None]:
        """Lines for a closed contact."""
        place, guards = self.model.pairs[pair].closed, self.owner.rhs.program.guards
        if self.awake and place in guards and len(guards) <= MOST_SEPARATE:
            closed = self.let(f"icmp ne i64 {self.let(f'and i64 {self.awake}, {guard_bit(guards.index(place))}')}, 0")
        else:
            closed = self.let(f"fcmp une double {self.load('p', place)}, 0.0")
        with self._if(closed):
            yield

    @contextmanager
    def _if(self, condition: str) -> Iterator[None]:
        self.names += 1
        label = f"if{self.names}"
        self.lines += [f"  br i1 {condition}, label %{label}, label %{label}.after", f"{label}:"]
        yield
        self.lines += [f"  br label %{label}.after", f"{label}.after:"]
