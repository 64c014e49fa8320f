"""A member on its way between its tile and the GPU's thread that makes attempts with it, as LLVM text.

    void take_up_lane(ptr lane, ptr memory):     what all stages read, from the tile to shared memory
    void put_back(ptr lane, ptr memory):         the way back, for the state and its rates

Numbers that are zero, or do not change, while a contact is open are the same in both halves of a tile then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from pliant.codegen.guards import MOST_SEPARATE, guard_bit
from pliant.host.cuda import WARP
from pliant.integrate.lockstep_ends import EndWriter


class ExchangeWriter(EndWriter):
    """Writes these functions."""

    def _exchange(self) -> list[str]:
        return [
            self._function("void @take_up_lane(ptr nonnull %lane, ptr nonnull %memory)", self._take_up),
            self._function("void @put_back(ptr nonnull %lane, ptr nonnull %memory)", self._put_back),
        ]

    def _function(self, head: str, write: Callable[[], None], end: str = "  ret void") -> str:
        self.lines, self.awake, self.here, self.memory, self.tile = [], "", "", "%memory", "%lane"
        write()
        rooms = [f"  %{name}.room = alloca [{size} x double], align 8" for name, size in self.rooms.items()]
        rooms = [room for room in rooms if any(room.split(" = ")[0].strip() + "," in line for line in self.lines)]
        return "\n".join([f"define internal {head} alwaysinline nounwind {{", "entry:", *rooms, *self.lines, end, "}", ""])

    def _take_up(self) -> None:
        m, half = self.model, self.owner.tiles.half
        moved = self.let(f"fcmp une double {self.load('moved')}, 0.0")
        present = self.let(f"getelementptr double, ptr %lane, i64 {self.let(f'select i1 {moved}, i64 {half * WARP}, i64 0')}")
        self._find_out()
        self.tile = present
        numbers = [("y", i) for i in range(m.n_controlled)] + [("rate", r) for r in range(len(m.rows))]
        values = [self.load(*x) for x in numbers]
        self.tile = "%lane"
        for x, (name, index) in zip(values, numbers, strict=True):
            self.store(x, *(("k", index) if name == "rate" else ("y_old", index)))
        self._copy([("p", i) for i in range(m.n_changing)], [("own_p", i) for i in range(m.n_changing)])
        if self.lanes.own_constants:
            self._copy([("c", i) for i in range(m.n_constants)], [("own_c", i) for i in range(m.n_constants)])
        with self._if(moved):
            for guards, group in self.owner.carried_groups:
                numbers = self.owner.carried_numbers(group)
                with self._unless_idle(guards):
                    self._copy([(f"{name}_new", index) for name, index in numbers], numbers)
            self.store("0.0", "moved")
        with self._if(self.starting):
            for i in range(m.n_controlled):
                self.store(self._old(i), "y", i)  # `measure_works` reads them there

    def _copy(self, sources: Sequence[tuple[str, int]], targets: Sequence[tuple[str, int]]) -> None:
        """Copies numbers, all of which are read before any is written, so that they do not wait for each other."""
        for x, target in zip([self.load(*source) for source in sources], targets, strict=True):
            self.store(x, *target)

    def _put_back(self) -> None:
        m = self.model
        self._copy([("y_old", i) for i in range(m.n_controlled)], [("y", i) for i in range(m.n_controlled)])
        self._copy([("k", r) for r in range(len(m.rows))], [("rate", r) for r in range(len(m.rows))])

    # ---- contacts

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
