"""What lies ahead of a member in the memory of a GPU's thread, as LLVM text.

    double corner_ahead(ptr here, double h):               see `lengths`
    double event_ahead(ptr here, ptr shared, double h):    see `events`

They read from memory what they need: by then, registers are full.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf

from pliant.codegen.sincos import real
from pliant.ensemble.lockstep.contacts import ContactWriter
from pliant.ensemble.lockstep.events import BEYOND_EVENT, CUT
from pliant.ensemble.lockstep.records import RECORD
from pliant.ensemble.lockstep.staging import AWAKE, MEMORY


class AheadWriter(ContactWriter):
    """Writes these functions."""

    def _function(self, head: str, write: Callable[[], None], end: str) -> str:
        self.lines, self.awake, self.here, self.memory, self.record, self.kept = [], "", "", "%memory", "%lane", {}
        write()
        scratch = [f"  %{name}.room = alloca [{size} x double], align 8" for name, size in self.scratch.items()]
        scratch = [room for room in scratch if any(room.split(" = ")[0].strip() + "," in line for line in self.lines)]
        return "\n".join([f"define internal {head} alwaysinline nounwind {{", "entry:", *scratch, *self.lines, end, "}", ""])

    def _ahead(self, head: str, at_no_event: dict[str, str], look: Callable[[int], None], end: Callable[[], None]) -> str:
        """A function that looks at all event functions with a rate: at those of contacts if they are closed.

        What it has found so far is in memory, by name; the last of these numbers is the result.
        """

        def write() -> None:
            self.lines += [line for key, x in at_no_event.items() for line in
                           (f"  %{key}.at = alloca double", f"  store double {x}, ptr %{key}.at")]  # fmt: skip
            self.here, self.staged = "%here", self.owner.staging.at_end
            self.record = self.let(f"load ptr, ptr {self.at(RECORD)}")
            self.awake = self.let(f"load i64, ptr {self.at(AWAKE)}")
            self.memory, self.kept = self.let(f"load ptr, ptr {self.at(MEMORY)}"), self.owner.staging.kept
            rated = [e for e in self._events if self.model.events[e].has_rate]
            for e in rated:
                if not self.model.events[e].of_contact:
                    look(e)
            for pair, events in self._by_contact:
                with self._if_closed(pair):
                    for e in events:
                        if e in rated:
                            look(e)
            end()
            self.lines.append(f"  %ahead = load double, ptr %{[*at_no_event][-1]}.at")

        return self._function(f"double {head}", write, "  ret double %ahead")

    def _so_far(self, name: str) -> str:
        return self.let(f"load double, ptr %{name}.at")

    def _corner_ahead(self) -> str:
        return self._ahead("@corner_ahead(ptr nonnull %here, double %h)", {"nearest": "%h"}, self._nearer, lambda: None)

    def _nearer(self, e: int) -> None:
        known = [*(self.load(name, e) for name in ("side", "g", "gd")), self.load("step"), self._so_far("nearest")]
        self.lines.append(f"  store double {self._answer('nearer_corner', *known)}, ptr %nearest.at")

    def _answer(self, name: str, *x: str) -> str:
        """The answer of a plain function of numbers."""
        return self.let(f"call double @{name}({', '.join(f'double {a}' for a in x)})")

    def _event_ahead(self) -> str:
        at_no_event = {"near": "%h", "over": "0.0", "margin": "0.0", "far": real(inf)}
        head = "@event_ahead(ptr nonnull %here, ptr nonnull %shared, double %h)"
        return self._ahead(head, at_no_event, self._sooner, self._step_to_event)

    def _sooner(self, e: int) -> None:
        """Takes the zero that an event function heads for, if it is the first."""
        event, near = self.model.events[e], self._so_far("near")
        known = [self.load(name, e) for name in ("side", "g", "gd", "gdd")]
        speed = "0.0"
        if event.does == CUT:
            corners = self.shared("corners")
            speed = self.let(f"load double, ptr {self.let(f'getelementptr double, ptr {corners}, i64 {e}')}")
        x = self._answer("zero_ahead", *known, speed, near)
        first = self._compare("olt", x, near)
        if event.direction != 0:
            first = self._both(first, self._compare("une", known[0], real(event.direction)))
        with self._if(first):
            over = self.let(f"call double @overshoot(i64 {event.does}, double {known[0]}, double {self.load('aimed')})")
            margin = "0.0"
            if event.does != CUT:
                margin = self.op("fmul", self.op("fmul", real(BEYOND_EVENT), self.shared("near")), self.load("h"))
            for name, found in {"near": x, "over": over, "margin": margin}.items():
                self.lines.append(f"  store double {found}, ptr %{name}.at")

    def _step_to_event(self) -> None:
        near, over, margin = (self._so_far(name) for name in ("near", "over", "margin"))
        with self._if(self._compare("olt", near, "%h")):
            self.lines.append(f"  store double {self._answer('just_beyond', near, over, margin, self.load('t'))}, ptr %far.at")
