"""What the attempt of a GPU's thread does for closed contacts only, as LLVM text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from pliant.codegen.guards import ALWAYS, MOST_SEPARATE, guard_bit
from pliant.codegen.sincos import real
from pliant.ensemble.lockstep.ends import EndWriter
from pliant.ensemble.lockstep.events import CUT, PASSED
from pliant.ensemble.lockstep.staging import OF_EVENTS, Number

AT_END = ("rate_new", "flow_new", "g_new", "gd_new", "force", "limit")  # what `look` computes, in its order


class ContactWriter(EndWriter):
    """Writes lines for closed contacts."""

    @property
    def _by_contact(self) -> list[tuple[int, list[int]]]:
        """(Pair, the events that are watched while it is closed)."""
        events = [e for e in self._events if self.model.events[e].of_contact]
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

    def _take_step(self) -> None:
        """Makes the end of the step the present: of event functions, but for what `_put_new` does, and of closed contacts."""
        inverse, passed = self.op("fdiv", "1.0", self.h), self._compare("oeq", self.load("calm"), real(PASSED))
        for e in self.owner.free_events:
            self._bend_to(e, inverse, passed)
        for guards, group in self.owner.carried_groups:
            if guards != ALWAYS:
                with self._unless_idle(guards):
                    self._copy(*self._ends_and_presents(group))
                    for k in group:
                        self.store(self._seen("flow_new", k), "flow", k)
        for pair, events in self._by_contact:
            with self._if_closed(pair):
                self.store(self._largest(self.load("peak", pair), self._seen("force", pair)), "peak", pair)
                self.store(self._seen("force", pair), "held", pair)
                for e in events:
                    self._bend_to(e, inverse, passed)
                    self._make_present(e)
                corners = [e for e in events if self.model.events[e].does == CUT]
                self._put_kept([(name, e) for name in OF_EVENTS for e in (corners if name == "side" else events)])

    def _keep(self, numbers: Sequence[Number]) -> None:
        """Reads numbers in the record, and keeps them."""
        with self._nothing_kept():
            values = self._load_all(numbers)
        self._store_all(values, numbers)

    def _put_kept(self, numbers: Sequence[Number]) -> None:
        """Writes numbers that are kept to the record."""
        values = self._load_all(numbers)
        with self._nothing_kept():
            self._store_all(values, numbers)

    @contextmanager
    def _nothing_kept(self) -> Iterator[None]:
        kept, self.kept = self.kept, {}
        yield
        self.kept = kept

    def _bend_to(self, e: int, inverse: str, passed: str) -> None:
        for name, x in self._bent(e, inverse, passed).items():
            self.store(x, name, e)

    def _make_present(self, e: int) -> None:
        self.store(self._seen("g_new", e), "g", e)
        self.store(self._seen("gd_new", e), "gd", e)

    def _put_contacts(self) -> None:
        """Puts what is known at the end of the step about closed contacts into the record, for `judge`."""
        staged = {self.owner.seen_first[f"{name}_new"] + e for name in ("g", "gd") for e in self.owner.free_events}
        always = [k for guards, group in self.owner.carried_groups if guards == ALWAYS for k in group]
        staged |= {*range(len(self.model.rows)), self.owner.seen_first["limit"]}
        staged |= {self.owner.seen_first["flow_new"] + k for k in always}
        for guards, group in self.owner.carried_groups:
            if guards != ALWAYS and self.kept:
                with self._unless_idle(guards):
                    self._put_kept(self._ends_and_presents(group)[0])
        targets = [(name, k) for name in AT_END for k in range(self.owner.records.slots.places[name][1])]
        for guards, group in self.owner.seen_groups:
            rest = [k for k in group if k not in staged]
            if rest:
                with self._unless_idle(guards):
                    for k in rest:
                        self.store(self._seen_output(k), *targets[k])

    def _ends_and_presents(self, group: Sequence[int]) -> tuple[list[Number], list[Number]]:
        """Carried components and their extremes at the end of the step, and at present."""
        presents = [(name, index) for name, index in self.owner.carried_numbers(group) if name != "flow"]
        return [(f"{name}_new", index) for name, index in presents], presents
