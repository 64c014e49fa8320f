"""One attempt of a member by a GPU's thread, as LLVM text.

    i32 attempt(ptr lanes, i32 offset, ptr lane, ptr memory, ptr shared, i32 warp, i32 stepping):

`attempt` returns 0 if the next attempt follows, else what is left to `judge` (`copies.SINCE_STEP`, `SINCE_LOOK`). `lane` is the
record of the member, `offset` where it begins in `lanes`; `memory` is the thread's own; `warp` are the threads that make an attempt
together, `stepping` those of them that do not start. The rates of stages, the state and what every attempt changes are in memory
that the threads of a multiprocessor share (`staging`). Unless they stay there from one attempt to the next, all threads of a warp
take part, as they copy together: one without a member has a spare record.

Register spills cost as much as the arithmetic. So what is zero while a contact is open is neither kept nor written
then, and numbers are read again rather than kept.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pliant.codegen.guards import ALWAYS
from pliant.codegen.sincos import real
from pliant.ensemble.lockstep.copies import SINCE_LOOK, SINCE_STEP
from pliant.ensemble.lockstep.gpu import COMPUTED, CONSTANT_SPACE, READ_AGAIN, STAGES, TOGETHER
from pliant.ensemble.lockstep.onward import LEFT, REPEATED, TAKEN
from pliant.ensemble.lockstep.predict import AheadWriter
from pliant.ensemble.lockstep.records import RECORD
from pliant.ensemble.lockstep.staging import AWAKE, ENDED, MEMORY, OF_EVENTS
from pliant.ensemble.lockstep.starts import StartWriter

START_STAGES = 2  # stages that a start needs


class GpuAttemptWriter(StartWriter, AheadWriter):
    """Writes this function, and those that look ahead."""

    def text(self) -> str:
        return "\n".join([*self._tables(), self._corner_ahead(), self._event_ahead(), self._attempt()])

    def _tables(self) -> list[str]:
        scheme, model = self.scheme, self.model
        terms = [scheme.terms(row) for row in range(len(scheme.rows))]
        every = [term for row in terms for term in row]
        tables: dict[str, tuple[str, Sequence[float]]] = {
            "nodes": ("double", scheme.nodes),
            "written": ("i64", [place * len(model.rows) for place in scheme.places]),
            "carried": ("i64", [place * model.n_carried for place in scheme.carried_places]),
            "first_terms": ("i64", np.cumsum([0, *map(len, terms)]).tolist()),
            "read": ("i64", [scheme.places[term.stage] * len(model.rows) for term in every] + [0]),  # one is read ahead
            "plain": ("double", [term.plain for term in every]),
            "twice": ("double", [term.double for term in every]),
        }
        return [constant_table(f"scheme.{name}", *table, CONSTANT_SPACE) for name, table in tables.items()]

    # ---- attempts

    def _attempt(self) -> str:
        head = ("i32 @attempt(ptr addrspace(1) %lanes, i32 %offset, ptr nonnull %lane, ptr nonnull %memory, ptr nonnull %shared, "
                "i32 %warp, i32 %stepping)")  # fmt: skip
        return self._function(head, self._attempt_lines, "  ret i32 %since")

    def _attempt_lines(self) -> None:
        self.lines.append("  %outcome.at = alloca i64")
        self._begin()
        self._set_out()
        with self._if(self.starting):
            self._clear_outputs()
        self._stage_loop()
        self._end_of_step()
        self.lines += [f"  br i1 {self.starting}, label %starts, label %judge", "judge:"]
        self._decide()
        self.lines += ["  br label %done", "starts:"]
        self.here, self.memory, self.kept = "", "%memory", {}
        self._leave_start()
        self.lines += ["  br label %done", "done:", "  %outcome = load i64, ptr %outcome.at"]
        self._put_all()

    def _begin(self) -> None:
        """What all stages read: from the record to shared memory, and some of it on to the thread's own."""
        m, staging = self.model, self.owner.staging
        self.staged = {}
        if self.lanes.own_constants:
            self._bring("constants")
            self.staged = staging.constants
            self._copy([("c", i) for i in range(m.n_constants)], [("own_c", i) for i in range(m.n_constants)])
        self._bring("first")
        self.staged = staging.at_beginning
        self._copy([("p", i) for i in staging.entries], [("own_p", i) for i in staging.entries])
        if not staging.stages:
            self._copy([("y", i) for i in range(m.n_controlled)], [("y_old", i) for i in range(m.n_controlled)])
            self._copy([("rate", r) for r in range(len(m.rows))], [("k", r) for r in range(len(m.rows))])

    def _bring(self, what: str) -> None:
        if not self.owner.staging.stays:
            self.lines.append(f"  call void @bring_{what}(ptr addrspace(1) %lanes, i32 %offset)")

    def _end_of_step(self) -> None:
        """The state at the end, its error and what is judged there; then all that the end reads is brought."""
        self._arrive()
        ended = self.owner.staging.ended
        if not ended:
            self._keep_ended()
        if self.scheme.errors_read_the_end:
            self._see()
        self._measure()
        self._finish_measuring()
        if ended:
            self.staged = {**self.staged, **ended}
            self._keep_ended()
        self._bring("second")
        self.staged = {**self.owner.staging.at_end, **ended}
        self.lines += [f"  store ptr %lane, ptr {self.at(RECORD)}", f"  store i64 {self.awake}, ptr {self.at(AWAKE)}",
                       f"  store ptr %memory, ptr {self.at(MEMORY)}"]  # fmt: skip
        starts = self.let(f"uitofp i1 {self.starting} to double")
        for name, x in {"step": self.h, "t": self.t, "t_new": self.t_new, "start": starts}.items():
            self.store(x, name)
        if not self.scheme.errors_read_the_end:
            self._see()

    def _keep_ended(self) -> None:
        for i, x in self.y_new.items():
            self.store(x, ENDED, i)

    def _decide(self) -> None:
        """Decides what follows a step: if it is taken or repeated, the attempt is done, else it is left to `judge`."""
        self._read_again()
        self.kept = self.owner.staging.kept
        self._judge_error()
        self._look()
        if self.model.limited:
            self.store(self._seen("limit", 0), "limit")
        self.lines += [
            f"  %judged = call i64 @decide_locally(ptr {self.here or self.let(f'call ptr @{STAGES}()')}, ptr %shared)",
            "  store i64 %judged, ptr %outcome.at",
            f"  switch i64 %judged, label %repeated [ i64 {LEFT}, label %left  i64 {TAKEN}, label %taken ]",
            "taken:",
        ]
        self._take_step()
        self.lines += ["  br label %new", "left:"]
        if self.owner.staging.stays:
            self._put_present()
        self._put_contacts()
        self.lines += ["  br label %new", "new:"]
        self._put_new()
        self.lines += ["  br label %repeated", "repeated:", f"  %goes.on = icmp ne i64 %judged, {LEFT}"]
        with self._if("%goes.on"):
            self._forget()
            self.lines.append(f"  call void @set_course(ptr {self.here}, ptr %shared)")

    def _leave_start(self) -> None:
        """Leaves a start to `judge`: its first rates are the present ones."""
        m = self.model
        if not self.owner.staging.stages:
            self._copy([("k", r) for r in range(len(m.rows))], [("rate", r) for r in range(len(m.rows))])
        for name in ("g", "gd"):
            for e in self.owner.free_events:
                self.store(self._seen(f"{name}_new", e), name, e)
        if m.limited:
            self.store(self._seen("limit", 0), "limit")
        self._put_contacts()
        for guards, group in self.owner.carried_groups:
            if guards != ALWAYS:
                self._copy(*reversed(self._ends_and_presents(group)))
        self.lines.append(f"  store i64 {LEFT}, ptr %outcome.at")

    def _put_all(self) -> None:
        """Writes the results to the record: as the present, or as the end of a step that is still to be judged."""
        left = self.let(f"icmp eq i64 %outcome, {LEFT}")
        whole = self.let(f"select i1 {self.starting}, i32 {SINCE_LOOK}, i32 {SINCE_STEP | SINCE_LOOK}")
        self.lines.append(f"  %since = select i1 {left}, i32 {whole}, i32 0")
        if not self.owner.staging.stays:
            # the state of a step that is repeated is already that at its end
            again = self.let(f"icmp eq i64 %outcome, {REPEATED}")
            since = self.let(f"select i1 {again}, i32 {SINCE_STEP if self.owner.staging.ended else 0}, i32 %since")
            self.lines.append(f"  call void @put(ptr addrspace(1) %lanes, i32 %offset, i32 {since})")

    def _finish_measuring(self) -> None:
        """Sums are computed here, not where they are needed: what they are made of would have to be kept until then."""
        self.squares = [self.let(COMPUTED.format(x)) for x in self.squares]
        self.finite = self.let(COMPUTED.format(self.finite))
        self.scales = {i: self.let(COMPUTED.format(self.scales[i])) for i in self.model.rows}

    def _read_again(self) -> None:
        """From here on, numbers in memory are read again: what was read before would have to be kept in registers."""
        self._forget()
        self.y_new = {i: self.load(ENDED, i) for i in self.y_new}

    def _forget(self) -> None:
        """Hides from the compiler that memory is the same as before."""
        nothing = self.let(READ_AGAIN.format(0))
        self.here = self.let(f"getelementptr double, ptr {self.let(f'call ptr @{STAGES}()')}, i64 {nothing}")
        self.memory = self.let(f"getelementptr double, ptr %memory, i64 {nothing}")

    def _clear_outputs(self) -> None:
        """A start looks at all outputs, also at those that are zero, which are not written."""
        for r in sorted(self.owner.rhs_apart):
            self.store("0.0", "passing_flow", r - len(self.model.rows))
        for k in sorted(self.owner.look_apart):
            self.store("0.0", "seen_awake", k)

    def _stage_loop(self) -> None:
        """Stages 1 ... s - 1; for a start, the first is at the present state, the second at the end of a short Euler step."""
        s = self.scheme.stages
        self.lines += [
            "  br label %before",
            "before:",
            "  br label %stage",
            "stage:",
            "  %i = phi i64 [ 1, %before ], [ %i.next, %stage.next ]",
            f"  %begins = icmp sle i64 %i, {START_STAGES}",
            "  %those = select i1 %begins, i32 %warp, i32 %stepping",  # a start leaves out later stages
            TOGETHER.format("%those"),
        ]
        c = self.table("scheme.nodes", "%i")
        probing = self.let(f"and i1 {self.starting}, {self.let('icmp eq i64 %i, 2')}")
        self.lines += [f"  br i1 {probing}, label %probe, label %evaluate", "probe:"]
        probe = self.op("fdiv", self.load("trial"), c)
        self.lines += [
            "  br label %evaluate",
            "evaluate:",
            f"  %h.stage = phi double [ {self.h_end}, %stage ], [ {probe}, %probe ]",
        ]
        self._stage("%i", "%h.stage", c, self.at("out"))
        self._keep_rates()
        self._survey(self.let(f"and i1 {self.let('icmp eq i64 %i, 1')}, {self.starting}"), "surveyed")
        self._bend(self.let(f"and i1 {self.let('icmp eq i64 %i, 2')}, {self.starting}"), "stage.next")
        last = self.select_whole(self.starting, START_STAGES + 1, s)
        self.lines += ["  %i.next = add i64 %i, 1", f"  %more = icmp slt i64 %i.next, {last}",
                       "  br i1 %more, label %stage, label %end", "end:"]  # fmt: skip

    def _look(self) -> None:
        """Finds out whether the step is good and all event functions stay well on their sides."""
        sure = self.load("sure")
        calm = self.let(f"uitofp i1 {self._compare('ole', self.error, '1.0')} to double")
        for e in self._events:
            if not self.model.events[e].of_contact:
                calm = self._still_calm(e, calm, sure)
        self.store(calm, "calm")
        for pair, events in self._by_contact:
            with self._if_closed(pair):
                self._keep([(name, e) for name in OF_EVENTS for e in events])
                calm = self.load("calm")
                for e in events:
                    calm = self._still_calm(e, calm, sure)
                self.store(calm, "calm")

    def _put_present(self) -> None:
        """Puts the present into the record before the end of the step takes its place: it has changed since it was brought."""
        for place, slot, since in self.owner.staging.put:
            if since:
                x = self.let(f"load double, ptr {self.let(f'getelementptr double, ptr {self.here}, i64 {slot}')}, align 8")
                self.lines.append(f"  store double {x}, ptr {self.let(f'getelementptr double, ptr %lane, i64 {place}')}, align 8")

    def _put_new(self) -> None:
        """Puts the end of the step where the present is, for what every step changes."""
        m = self.model
        if not self.owner.staging.ended:
            for i, x in self.y_new.items():
                self.store(x, "y", i)
        for r in range(len(m.rows)):
            self.store(self._seen("rate_new", r), "rate", r)
        for (name, index), x in self.carried_new.items():
            self.store(x, name.removesuffix("_new"), index)
        for guards, group in self.owner.carried_groups:
            if guards == ALWAYS:
                for k in group:
                    self.store(self._seen("flow_new", k), "flow", k)
        for e in self.owner.free_events:
            self._make_present(e)


def constant_table(name: str, kind: str, entries: Sequence[float], space: int) -> str:
    listed = ", ".join(f"{kind} {real(float(x)) if kind == 'double' else int(x)}" for x in entries)
    return f"@{name} = internal addrspace({space}) constant [{len(entries)} x {kind}] [{listed}]"
