"""The stages of an attempt as LLVM text: the states at which rates are evaluated, and where the rates are kept."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property

import numpy as np

from pliant.codegen.guards import ALL_IDLE, ALWAYS, guard_bit
from pliant.ensemble.lockstep.gpu import OPAQUE
from pliant.ensemble.lockstep.lines import LineWriter

START_BIT = 1 << 40  # beyond the bits of guards


class StageWriter(LineWriter):
    """Writes stages; `_set_out` comes first."""

    # ---- what members do

    def _set_out(self) -> None:
        """What an attempt begins with."""
        self.h, self.t, self.t_new = self.load("step"), self.load("t"), self.load("t_new")
        self._find_out()
        if self.lanes.own_constants:
            self.constants = self.at("own_c" if self.lanes.whole else "c")
        else:
            self.constants = self.let("call ptr @constants_here(ptr %shared)") if self.lanes.whole else self.shared("constants")
        self.p, self.work = self.at("own_p" if self.lanes.whole else "p"), self.at("work")
        self.h_end = self.select(self.starting, self.lanes.zero, self.h)

    def _find_out(self) -> None:
        """Whether members start; if everything is inlined, which guards are awake."""
        start = self.load("start")
        self.starting = self.let(f"fcmp une {self.lanes.kind} {start}, {self.lanes.zero}")
        if not self.lanes.whole:
            return
        bits = self.let(f"select i1 {self.starting}, i64 {START_BIT}, i64 0")
        for k, place in enumerate(self.owner.rhs.program.guards):
            awake = self.let(f"fcmp une double {self.load('p', place)}, 0.0")
            bits = self.let(f"or i64 {bits}, {self.let(f'select i1 {awake}, i64 {guard_bit(k)}, i64 0')}")
        # in one register: nothing that this was made of is kept beside it
        self.awake = self.let(OPAQUE.format(bits))
        self.starting = self.let(f"icmp ne i64 {self.let(f'and i64 {self.awake}, {START_BIT}')}, 0")

    @contextmanager
    def _unless_idle(self, guards: int) -> Iterator[None]:
        """Lines that are skipped while a guard is idle, except in a start; what they write is zero then, and was zero before."""
        if guards == ALWAYS:
            yield
            return
        with self._if(self._is_awake(guards)):
            yield

    def _is_awake(self, guards: int) -> str:
        """Whether guards let their values be computed, or the attempt is a start."""
        bits = guards >> 1  # see guards.py
        if guards == ALL_IDLE:
            awake = self.let(f"icmp ne i64 {self.awake}, 0")
        else:
            awake = self.let(f"icmp eq i64 {self.let(f'and i64 {self.awake}, {bits}')}, {bits}")
        return self.let(f"or i1 {awake}, {self.starting}")

    def _old(self, i: int) -> str:
        """A controlled component at the start of the step."""
        return self.y[i] if self.y else self.load("y_old", i)

    def _call(self, name: str, t: str, state: str, out: str, apart: str = "") -> None:
        """Evaluates a program at a time and a state. apart: where outputs go that are not written while they are idle."""
        arguments = f"ptr {self.at(state)}, ptr {self.p}, ptr {self.constants}, ptr {out}, ptr {self.work}"
        awake = f", i64 {self.awake}, ptr {apart or out}" if self.lanes.whole else ""
        self.lines.append(f"  call void @{name}({self.lanes.kind} {t}, {arguments}{awake})")

    # ---- sums over stages

    @cached_property
    def _chaining(self) -> list[int]:
        """Stored rows that are rates of coordinates."""
        m = self.model
        return sorted({m.rows.index(rate) for rate in m.chained if rate >= 0})

    def _sums(self, row: int | str) -> tuple[dict[int, str], dict[int, str]]:
        """Sums over stages of a row's coefficients times stored rates: for all rates, and for those that coordinates chain to."""
        if isinstance(row, int) and (not self.lanes.whole or any(x.stage == self.scheme.stages for x in self.scheme.terms(row))):
            return self._sums_in_line(row)
        return self._sums_in_loop(row)

    def _sums_in_line(self, row: int) -> tuple[dict[int, str], dict[int, str]]:
        """Like `_sums`, unrolled term by term; a row without terms is zero."""
        m = self.model
        plain = {r: "" for r in range(len(m.rows))}
        twice = {r: "" for r in self._chaining}
        for term in self.scheme.terms(row):
            for r in plain:
                if not term.plain and r not in twice:
                    continue
                rate = self._rate(term.stage, r)
                if term.plain:
                    plain[r] = self._added(plain[r], term.plain, rate)
                if term.double and r in twice:
                    twice[r] = self._added(twice[r], term.double, rate)
        zero = self.lanes.zero
        return {r: x or zero for r, x in plain.items()}, {r: x or zero for r, x in twice.items()}

    def _sums_in_loop(self, row: int | str) -> tuple[dict[int, str], dict[int, str]]:
        """The same, also for a row that only the loop over stages knows: a loop over its terms, for short code."""
        rows = range(len(self.model.rows))
        begin, end = (self.table("scheme.first_terms", x, "i64") for x in (str(row), self.let(f"add i64 {row}, 1")))
        self.names += 1
        label = f"terms{self.names}"
        kinds = [("plain", r) for r in rows] + [("twice", r) for r in self._chaining]
        self.lines += [f"  br label %{label}.before", f"{label}.before:"]
        early = self._rates_of_term(begin)  # the rates of a term are read while those of the one before are summed
        self.lines += [f"  br label %{label}", f"{label}:",
                       f"  %{label}.t = phi i64 [ {begin}, %{label}.before ], [ %{label}.next, %{label} ]"]  # fmt: skip
        self.lines += [f"  %{label}.{kind}{r} = phi double [ 0.0, %{label}.before ], [ %{label}.{kind}{r}.new, %{label} ]"
                       for kind, r in kinds]  # fmt: skip
        phis = len(self.lines)
        self.lines.append(f"  %{label}.next = add i64 %{label}.t, 1")
        later = self._rates_of_term(f"%{label}.next")
        self.lines[phis:phis] = [f"  %{label}.rate{r} = phi double [ {early[r]}, %{label}.before ], [ {later[r]}, %{label} ]"
                                 for r in rows]  # fmt: skip
        factors = {kind: self.table(f"scheme.{kind}", f"%{label}.t") for kind in ("plain", "twice")}
        for kind, r in kinds:
            total, rate = f"%{label}.{kind}{r}", f"%{label}.rate{r}"
            self.lines.append(f"  {total}.new = call double @llvm.fma.f64(double {factors[kind]}, double {rate}, double {total})")
        more = f"%{label}.more"
        self.lines += [f"  {more} = icmp slt i64 %{label}.next, {end}",
                       f"  br i1 {more}, label %{label}, label %{label}.after, !llvm.loop !0", f"{label}.after:"]  # fmt: skip
        sums = {kind: {r: f"%{label}.{kind}{r}.new" for k, r in kinds if k == kind} for kind in ("plain", "twice")}
        return sums["plain"], sums["twice"]

    def _rates_of_term(self, term: str) -> list[str]:
        first = self.let(f"getelementptr double, ptr {self.at('k')}, i64 {self.table('scheme.read', term, 'i64')}")
        places = [self.let(f"getelementptr double, ptr {first}, i64 {r}") for r in range(len(self.model.rows))]
        return [self.let(f"load double, ptr {place}, align 8") for place in places]

    def _state(self, row: int | str, h: str, c: str, target: str) -> dict[int, str]:
        """Writes the controlled components of a stage, or of the step's end, into `target`."""
        m = self.model
        plain, twice = self._sums(row)
        values: dict[int, str] = {}
        for i in range(m.n_controlled):
            if m.chained[i] < 0:
                values[i] = self.fma(h, plain[m.rows.index(i)], self._old(i))
            else:
                rate = m.chained[i]
                inner = self.fma(h, twice[m.rows.index(rate)], self.op("fmul", c, self._old(rate)))
                values[i] = self.fma(h, inner, self._old(i))
            self.store(values[i], target, i)
        return values

    def _stage(self, i: int | str, h: str, c: str, out: str) -> None:
        """One evaluation inside the step."""
        self._state(i, h, c, "stage")
        t = self.fma(c, h, self.t)
        # no stage is evaluated beyond the end of the step
        t = self.select(self.starting, t, self.select(self.let(f"fcmp olt {self.lanes.kind} {t}, {self.t_new}"), t, self.t_new))
        apart = self._flow_of_stage(i) if isinstance(i, str) else ""
        self._call("member_rhs" if apart or self.scheme.carries[int(i)] else "member_lean", t, "stage", out, apart)

    def _flow_of_stage(self, i: str) -> str:
        """Where the rates of carried components begin that are zero while contacts are open; before them, rates of states."""
        first = self.table("scheme.carried", i, "i64")
        kept = self.let(f"and i1 {self.let(f'icmp sgt i64 {first}, 0')}, {self._not(self.starting)}")
        place = self.let(f"add i64 {first}, {self.slots.first('stage_flow') - self.model.n_carried}")
        place = self.let(f"select i1 {kept}, i64 {place}, i64 {self.slots.first('passing_flow')}")
        place = self.let(f"sub i64 {place}, {len(self.model.rows)}")
        return self.let(f"getelementptr double, ptr %memory, i64 {place}")

    # ---- rates in memory

    @property
    def _weights(self) -> np.ndarray:
        """(row, stage): weights of rates in the change over a step and in its error estimates, all divided by h."""
        return np.asarray(self.scheme.rows[self.scheme.stages :])

    def _keep_rates(self) -> None:
        """Moves rates of stage i from registers to where later stages read them; those of carried components serve the end."""
        m = self.model
        groups = [group for guards, group in self.owner.carried_groups if guards == ALWAYS]  # others are already there
        rates = [self.load("out", r) for r in range(len(m.rows))]
        flows = {r: self.load("out", len(m.rows) + r) for group in groups for r in group}
        place = self.table("scheme.written", "%i", "i64")
        target = self.let(f"getelementptr double, ptr {self.at('k')}, i64 {place}")
        for r, rate in enumerate(rates):
            self.lines.append(f"  store double {rate}, ptr {self.let(f'getelementptr double, ptr {target}, i64 {r}')}")
        first = self.table("scheme.carried", "%i", "i64")
        self.lines += [f"  br i1 {self.let(f'icmp sgt i64 {first}, 0')}, label %carry, label %carried", "carry:"]
        target = self.let(f"getelementptr double, ptr {self.at('stage_flow', -m.n_carried)}, i64 {first}")
        for r, flow in flows.items():
            self.lines.append(f"  store double {flow}, ptr {self.let(f'getelementptr double, ptr {target}, i64 {r}')}")
        self.lines += ["  br label %carried", "carried:"]

    def _rate(self, stage: int, r: int) -> str:
        """A stored rate."""
        m = self.model
        if self.lanes.whole and stage == self.scheme.stages:
            return self._seen_output(r)
        return self.load("k", self.scheme.places[stage] * len(m.rows) + r if self.lanes.whole else stage * m.n_out + r)

    def _seen_output(self, k: int) -> str:
        """An output of `look`."""
        return self.load("seen_awake" if k in self.owner.look_apart else "seen", k)

    def _carried_rate(self, stage: int, k: int) -> str:
        m = self.model
        if not self.lanes.whole:
            return self.load("flow", stage * m.n_out + k)
        place = self.scheme.carried_places[stage]
        return self.load("stage_flow", (place - 1) * m.n_carried + k) if place else self.load("flow", k)
