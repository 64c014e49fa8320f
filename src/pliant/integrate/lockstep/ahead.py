"""What lies ahead of a member in the memory of a GPU's thread, as LLVM text.

    double corner_ahead(ptr here, double h):   see `lengths`
    double event_ahead(ptr here, double h):    see `events`

They read from memory what they need: by then, registers are full.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf

from pliant.codegen.sincos import real
from pliant.integrate.lockstep.contacts import ContactWriter
from pliant.integrate.lockstep.events import CUT, GAP, OVER
from pliant.integrate.lockstep.lengths import BEYOND, NEAREST
from pliant.integrate.lockstep.records import RECORD
from pliant.integrate.lockstep.staging import AWAKE


class AheadWriter(ContactWriter):
    """Writes these functions."""

    def _function(self, head: str, write: Callable[[], None], end: str) -> str:
        self.lines, self.awake, self.here, self.memory, self.record = [], "", "", "%memory", "%lane"
        write()
        rooms = [f"  %{name}.room = alloca [{size} x double], align 8" for name, size in self.rooms.items()]
        rooms = [room for room in rooms if any(room.split(" = ")[0].strip() + "," in line for line in self.lines)]
        return "\n".join([f"define internal {head} alwaysinline nounwind {{", "entry:", *rooms, *self.lines, end, "}", ""])

    def _ahead(self, name: str, at_no_event: dict[str, str], look: Callable[[int], None], end: Callable[[], None]) -> str:
        """A function that looks at all event functions with a rate: at those of contacts if they are closed.

        What it has found so far is in memory, by name; the last of these numbers is the result.
        """

        def write() -> None:
            self.lines += [line for key, x in at_no_event.items() for line in
                           (f"  %{key}.at = alloca double", f"  store double {x}, ptr %{key}.at")]  # fmt: skip
            self.here, self.staged = "%here", self.owner.staging.at_end
            self.record = self.let(f"load ptr, ptr {self.at(RECORD)}")
            self.awake = self.let(f"load i64, ptr {self.at(AWAKE)}")
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

        return self._function(f"double @{name}(ptr nonnull %here, double %h)", write, "  ret double %ahead")

    def _so_far(self, name: str) -> str:
        return self.let(f"load double, ptr %{name}.at")

    def _corner_ahead(self) -> str:
        return self._ahead("corner_ahead", {"nearest": "%h"}, self._nearer, lambda: None)

    def _nearer(self, e: int) -> None:
        """Takes the distance to a zero that its event function heads for, if it is the nearest."""
        nearest = self.op("fmul", real(NEAREST), self.load("step"))
        x = self.op("fdiv", self.op("fmul", real(-BEYOND), self.load("g", e)), self.load("gd", e))
        ahead = self._so_far("nearest")
        sided = self.let(f"fcmp une double {self.load('side', e)}, 0.0")
        within = self.let(f"and i1 {self.let(f'fcmp olt double {nearest}, {x}')}, {self.let(f'fcmp olt double {x}, {ahead}')}")
        self.lines.append(f"  store double {self.select(self._both(sided, within), x, ahead)}, ptr %nearest.at")

    def _event_ahead(self) -> str:
        at_no_event = {"near": "%h", "rate": "1.0", "over": "0.0", "far": real(inf)}
        return self._ahead("event_ahead", at_no_event, self._sooner, self._step_to_event)

    def _sooner(self, e: int) -> None:
        """Takes the zero that an event function heads for, if it is the first."""
        event, side = self.model.events[e], self.load("side", e)
        g, gd = (self.op("fmul", self.load(name, e), side) for name in ("g", "gd"))
        fall = self.let(f"fneg double {gd}")
        near, rate = self._so_far("near"), self._so_far("rate")
        first = self._compare("olt", self.op("fmul", g, rate), self.op("fmul", near, fall))
        first = self._both(first, self._compare("ogt", g, "0.0"))
        if event.direction != 0 and event.does != GAP:
            first = self._both(first, self._compare("une", side, real(event.direction)))
        over = real(OVER if event.does == CUT else 0.0)
        for name, x, so_far in (("near", g, near), ("rate", fall, rate), ("over", over, self._so_far("over"))):
            self.lines.append(f"  store double {self.select(first, x, so_far)}, ptr %{name}.at")

    def _step_to_event(self) -> None:
        near, rate, over = (self._so_far(name) for name in ("near", "rate", "over"))
        with self._if(self._compare("olt", near, self.op("fmul", rate, "%h"))):
            arguments = f"double {self.op('fdiv', near, rate)}, double {over}, double {self.load('t')}"
            self.lines.append(f"  store double {self.let(f'call double @just_beyond({arguments})')}, ptr %far.at")
