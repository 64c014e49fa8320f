"""One attempt of a lock-step loop as LLVM text: for every lane, all stages of a step, its end and its error."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from pliant.codegen.guards import ALL_IDLE, ALWAYS
from pliant.codegen.plain import in_space
from pliant.codegen.sincos import real
from pliant.integrate.lockstep_glue import STAGES
from pliant.integrate.lockstep_judge import GAP, NEVER
from pliant.integrate.lockstep_tables import SHARED

if TYPE_CHECKING:
    from pliant.integrate.lockstep_text import LockstepText

EXTREMES = {"lowest": "olt", "highest": "ogt"}  # of works: names, and comparisons that make a value the new one
START_BIT = 1 << 40  # beyond the bits of guards
START_STAGES = 2  # stages that a start needs
PROJECTIONS = 2  # Newton steps at the end of a step, as in `march`


class AttemptWriter:
    """Writes `void attempt(ptr memory, ptr shared)`: for every lane, all stages of a step or of a start, its end and its error.

    If everything is inlined, it has two parts that different kernels call: `attempt_stages` and `attempt_end`.
    """

    def __init__(self, text: LockstepText) -> None:
        self.owner, self.model, self.scheme, self.lanes, self.slots = text, text.model, text.scheme, text.lanes, text.slots
        self.lines: list[str] = []
        self.rooms = text.rooms  # values that live only within one attempt: registers if everything is inlined
        self.names = 0
        self.coefficients: dict[float, int] = {}
        self.y: dict[int, str] = {}

    # ---- single lines

    def let(self, expression: str) -> str:
        self.names += 1
        self.lines.append(f"  %n{self.names} = {expression}")
        return f"%n{self.names}"

    def op(self, word: str, *x: str) -> str:
        return self.let(f"{word} {self.lanes.kind} {', '.join(x)}")

    def call(self, name: str, *x: str) -> str:
        kind = self.lanes.kind
        return self.let(f"call {kind} @llvm.{name}.{self.lanes.suffix}({', '.join(f'{kind} {a}' for a in x)})")

    def fma(self, a: str, b: str, c: str) -> str:
        return self.call("fma", a, b, c)

    def at(self, name: str, index: int = 0) -> str:
        if name in self.rooms:
            return self.let(f"getelementptr double, ptr %{name}.room, i64 {index}")
        if name in self.owner.elsewhere:
            here = self.let(f"call ptr @{STAGES}()")
            return self.let(f"getelementptr double, ptr {here}, i64 {self.owner.elsewhere[name] + index}")
        first, half = self.slots.first(name), self.owner.half
        memory = "%memory"
        if first < half:
            memory = self.present
        return self.let(f"getelementptr double, ptr {memory}, i64 {(first + index) * self.lanes.stride}")

    def load(self, name: str, index: int = 0) -> str:
        return self.let(f"load {self.lanes.kind}, ptr {self.at(name, index)}, align 8")

    def store(self, x: str, name: str, index: int = 0) -> None:
        self.lines.append(f"  store {self.lanes.kind} {x}, ptr {self.at(name, index)}, align 8")

    def splat(self, scalar: str) -> str:
        if self.lanes.width == 1:
            return scalar
        kind = self.lanes.kind
        first = self.let(f"insertelement {kind} poison, double {scalar}, i64 0")
        return self.let(f"shufflevector {kind} {first}, {kind} poison, <{self.lanes.width} x i32> zeroinitializer")

    def table(self, name: str, index: str, kind: str = "double") -> str:
        """An entry of a constant table; used only if everything is inlined."""
        address = in_space(self.owner.glue.constant_space)
        at = self.let(f"getelementptr {kind}, {address} @{name}, i64 {index}")
        return self.let(f"load {kind}, {address} {at}")

    def shared(self, name: str) -> str:
        at = self.let(f"getelementptr i64, ptr %shared, i64 {list(SHARED).index(name)}")
        return self.let(f"load {'ptr' if SHARED[name].endswith('*') else 'double'}, ptr {at}")

    def select(self, condition: str, a: str, b: str) -> str:
        kind = self.lanes.kind
        return self.let(f"select {self.lanes.truth} {condition}, {kind} {a}, {kind} {b}")

    def select_whole(self, condition: str, a: int, b: int) -> str:
        return self.let(f"select i1 {condition}, i64 {a}, i64 {b}")

    def some(self, truths: str) -> str:
        if self.lanes.width == 1:
            return truths
        width = self.lanes.width
        return self.let(f"icmp ne i{width} {self.let(f'bitcast {self.lanes.truth} {truths} to i{width}')}, 0")

    # ---- the attempt

    def text(self) -> str:
        if not self.lanes.whole:
            self._begin()
            self._stage_loop()
            self._end()
            self._errors()
            lines = self._function("attempt")
            return "\n".join([*self._tables(), *lines])
        self._begin()
        self._stage_loop()
        self._hand_over()
        first = self._function("attempt_stages")
        self._resume()
        self._end()
        self._errors()
        return "\n".join([*self._tables(), *first, *self._function("attempt_end")])

    def _function(self, name: str) -> list[str]:
        """A function of the lines written so far."""
        attribute = "alwaysinline" if self.lanes.whole else "noinline"
        head = f"define internal void @{name}(ptr nonnull %memory, ptr nonnull %shared) {attribute} nounwind {{"
        rooms = [f"  %{name}.room = alloca [{size} x double], align 8" for name, size in self.rooms.items()]
        lines, self.lines = self.lines, []
        return [head, "entry:", *rooms, *lines, "  ret void", "}", ""]

    def _tables(self) -> list[str]:
        if not self.lanes.whole:
            entries = ", ".join(f"double {real(x)}" for x in self.coefficients)
            return [f"@lockstep_coefficients = global [{len(self.coefficients)} x double] [{entries}]"]
        scheme, model = self.scheme, self.model
        tables: dict[str, tuple[str, Sequence[float]]] = {
            "nodes": ("double", scheme.nodes),
            "written": ("i64", [place * len(model.rows) for place in scheme.places]),
            "advances": ("i64", [int(x) for x in scheme.advances]),
            "weights": ("double", scheme.rows[scheme.stages :].T.ravel().tolist()),
        }
        space = self.owner.glue.constant_space
        return [constant_table(f"scheme.{name}", *table, space) for name, table in tables.items()]

    def _begin(self) -> None:
        self._set_out()
        self.some_start = self.some(self.starting)
        if not self.lanes.whole:
            self.y = {i: self.load("y", i) for i in range(self.model.n_controlled)}
            return
        present = [("y", i, "y_old") for i in range(self.model.n_controlled)] + [
            ("rate", r, "k") for r in range(len(self.model.rows))
        ]
        values = [self.load(name, i) for name, i, _ in present]  # all before anything is stored: none waits for another
        for x, (name, i, target) in zip(values, present, strict=True):
            self.settle(x, name, i)
            self.store(x, target, i)

    def _set_out(self) -> None:
        """What both parts of an attempt begin with."""
        self.h, self.t, self.t_new = self.load("step"), self.load("t"), self.load("t_new")
        self._find_out()
        if self.lanes.own_constants:
            self.constants = self.at("c")
        else:
            self.constants = self.let("call ptr @constants_here(ptr %shared)") if self.lanes.whole else self.shared("constants")
        self.p, self.work = self.at("p"), self.at("work")
        self.h_end = self.select(self.starting, self.lanes.zero, self.h)

    def _hand_over(self) -> None:
        """Ends the first part: stores the state at the end of the step, estimates of its error, and sums of carried components."""
        m, s = self.model, self.scheme.stages
        y_new = self._state(s, self.h_end, self.lanes.splat(1.0), "stage")
        for i, x in y_new.items():
            self.store(self.select(self.starting, self._old(i), x), "y_new", i)  # the other stages of a start were left out
        for k in range(len(self.scheme.tableau.error)):
            plain, twice = self._sums(s + 1 + k)
            for i in range(m.n_controlled):
                self.store(self._estimate(i, plain, twice), "estimates", k * m.n_controlled + i)
        for r in range(self.slots.places["last_rate"][1]):
            self.store(self._rate(self.scheme.last_stage, r), "last_rate", r)
        for guards, group in self.owner.carried_groups:
            with self._unless_idle(guards):
                for n in range(group.start * len(self._weights), group.stop * len(self._weights)):
                    self.store(self.load("sums", n), "summed", n)

    def _resume(self) -> None:
        """Begins the second part, which works on numbers that the first one stored."""
        self._set_out()
        self.y = {i: self._settled("y", i) for i in range(self.model.n_controlled)}
        self.store("0.0", "moved")

    def _find_out(self) -> None:
        """Whether members start; if everything is inlined, which guards are awake and which half of the memory is the present."""
        start = self.load("start")
        self.starting = self.let(f"fcmp une {self.lanes.kind} {start}, {self.lanes.zero}")
        if not self.lanes.whole:
            return
        bits = self.let(f"select i1 {self.starting}, i64 {START_BIT}, i64 0")
        for k, place in enumerate(self.owner.rhs.program.guards):
            awake = self.let(f"fcmp une double {self.load('p', place)}, 0.0")
            bits = self.let(f"or i64 {bits}, {self.let(f'select i1 {awake}, i64 {1 << k}, i64 0')}")
        # in one register: nothing that this was made of is kept beside it
        self.awake = self.let(self.owner.glue.opaque.format(bits))
        self.starting = self.let(f"icmp ne i64 {self.let(f'and i64 {self.awake}, {START_BIT}')}, 0")
        moved = self.let(f"fcmp une double {self.load('moved')}, 0.0")
        offset = self.let(f"select i1 {moved}, i64 {self.owner.half * self.lanes.stride}, i64 0")
        self.present = self.let(f"getelementptr double, ptr %memory, i64 {offset}")

    def _settled(self, name: str, index: int) -> str:
        """Loads what `settle` stored."""
        at = self.let(f"getelementptr double, ptr %memory, i64 {(self.slots.first(name) + index) * self.lanes.stride}")
        return self.let(f"load double, ptr {at}, align 8")

    def settle(self, x: str, name: str, index: int) -> None:
        """Stores a number of the present where it belongs: it was loaded from the end of the last step if that was accepted."""
        at = self.let(f"getelementptr double, ptr %memory, i64 {(self.slots.first(name) + index) * self.lanes.stride}")
        self.lines.append(f"  store double {x}, ptr {at}, align 8")

    def _old(self, i: int) -> str:
        """A controlled component at the start of the step."""
        return self.y[i] if self.y else self.load("y_old", i)

    def _stage_loop(self) -> None:
        """Stages 1 ... s - 1; for a start, the first is at the present state, the second at the end of a short Euler step."""
        s = self.scheme.stages
        if not self.lanes.whole:  # stages are unrolled, so that zero terms are left out
            for i in range(1, s):
                h = self.h_end
                if i == 2:
                    probe = self.op("fdiv", self.load("trial"), self.lanes.splat(self.scheme.nodes[2]))
                    h = self.select(self.starting, probe, self.h)
                self._stage(i, h, self.lanes.splat(self.scheme.nodes[i]), self.at("k", i * self.model.n_out))
                if i == 1:
                    self._survey(self.some_start, "surveyed")
                if i == 2:
                    self._bend(self.some_start, "begun")
            return
        self._first_rates()
        self.lines += [
            "  br label %before",
            "before:",
            "  br label %stage",
            "stage:",
            "  %i = phi i64 [ 1, %before ], [ %i.next, %stage.next ]",
            *self.owner.together,
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
        self._survey(self.let(f"and i1 {self.let('icmp eq i64 %i, 1')}, {self.some_start}"), "surveyed")
        self._bend(self.let(f"and i1 {self.let('icmp eq i64 %i, 2')}, {self.some_start}"), "stage.next")
        last = self.select_whole(self.starting, START_STAGES + 1, s)
        self.lines += ["  %i.next = add i64 %i, 1", f"  %more = icmp slt i64 %i.next, {last}",
                       "  br i1 %more, label %stage, label %end", "end:"]  # fmt: skip

    def _stage(self, i: int | str, h: str, c: str, out: str) -> None:
        """One evaluation inside the step."""
        self._state(i, h, c, "stage")
        t = self.fma(c, h, self.t)
        # no stage is evaluated beyond the end of the step
        t = self.select(self.starting, t, self.select(self.let(f"fcmp olt {self.lanes.kind} {t}, {self.t_new}"), t, self.t_new))
        self._call("member_rhs" if isinstance(i, str) or self.scheme.carries[i] else "member_lean", t, "stage", out)

    def _call(self, name: str, t: str, state: str, out: str) -> None:
        """Evaluates a program at a time and a state."""
        arguments = f"ptr {self.at(state)}, ptr {self.p}, ptr {self.constants}, ptr {out}, ptr {self.work}"
        awake = f", i64 {self.awake}" if self.lanes.whole else ""
        self.lines.append(f"  call void @{name}({self.lanes.kind} {t}, {arguments}{awake})")

    # ---- rates in memory

    def _first_rates(self) -> None:
        """Begins the sums of carried components with the rates at the start of the step."""
        for guards, group in self.owner.carried_groups:
            with self._unless_idle(guards):
                rates = [self.load("flow", r) for r in group]
                for r, rate in zip(group, rates, strict=True):
                    self.settle(rate, "flow", r)
                    for n, weight in enumerate(self._weights[:, 0]):
                        self.store(self.op("fmul", self.lanes.splat(float(weight)), rate), "sums", r * len(self._weights) + n)

    @property
    def _weights(self) -> np.ndarray:
        """(row, stage): weights of rates in the change over a step and in its error estimates, all divided by h."""
        return np.asarray(self.scheme.rows[self.scheme.stages :])

    def _keep_rates(self) -> None:
        """Moves rates of stage i from registers to where later stages read them; adds those of carried components to their sums."""
        m, count = self.model, len(self._weights)
        rates = [self.load("out", r) for r in range(m.n_out)]
        place = self.table("scheme.written", "%i", "i64")
        target = self.let(f"getelementptr double, ptr {self.at('k')}, i64 {place}")
        for r, rate in enumerate(rates[: len(m.rows)]):
            self.lines.append(f"  store double {rate}, ptr {self.let(f'getelementptr double, ptr {target}, i64 {r}')}")
        advances = self.let(f"icmp ne i64 {self.table('scheme.advances', '%i', 'i64')}, 0")
        self.lines += [f"  br i1 {advances}, label %carry, label %carried", "carry:"]
        first = self.let(f"mul i64 %i, {count}")
        weights = [self.table("scheme.weights", self.let(f"add i64 {first}, {n}")) for n in range(count)]
        for guards, group in self.owner.carried_groups:
            with self._unless_idle(guards):
                for r in group:
                    for n, weight in enumerate(weights):
                        total = self.fma(weight, rates[len(m.rows) + r], self.load("sums", r * count + n))
                        self.store(total, "sums", r * count + n)
        self.lines += ["  br label %carried", "carried:"]

    @contextmanager
    def _unless_idle(self, guards: int) -> Iterator[None]:
        """Lines that are skipped while a guard is idle, except in a start; what they write is zero then, and was zero before."""
        if guards == ALWAYS:
            yield
            return
        self.names += 1
        label = f"idle{self.names}"
        self.lines += [f"  br i1 {self._is_awake(guards)}, label %{label}.no, label %{label}", f"{label}.no:"]
        yield
        self.lines += [f"  br label %{label}", f"{label}:"]

    def _is_awake(self, guards: int) -> str:
        """Whether guards let their values be computed, or the attempt is a start."""
        bits = guards >> 1  # see guards.py
        if guards == ALL_IDLE:
            awake = self.let(f"icmp ne i64 {self.awake}, 0")
        else:
            awake = self.let(f"icmp eq i64 {self.let(f'and i64 {self.awake}, {bits}')}, {bits}")
        return self.let(f"or i1 {awake}, {self.starting}")

    def _take_rates(self, stage: int, rate: str, flow: str) -> None:
        """Makes the rates of a stage those at the start (for members that start) or, for now, those at the end of the step."""
        m = self.model
        for r in range(m.n_out):
            name, index = (rate, r) if r < len(m.rows) else (flow, r - len(m.rows))
            if self.lanes.whole:
                value = self.load("out", r)
                if stage == 1:
                    self.settle(value, name, index)
                    if r < len(m.rows):
                        self.store(value, "k", index)
                    continue
            else:
                value = self.load("k", stage * m.n_out + r)
                if stage == 1:
                    value = self.select(self.starting, value, self.load(name, index))
            self.store(value, name, index)

    def _survey(self, condition: str, after: str) -> None:
        """After the first evaluation, if members start: takes its rates and chooses the Euler step to the second one."""
        self.lines += [f"  br i1 {condition}, label %begin, label %{after}", "begin:"]
        self._take_rates(1, "rate", "flow")
        self._call("member_survey", self.t, "stage", self.at("surveyed" if self.lanes.whole else "survey"))
        if self.lanes.whole:
            for k in range(self.slots.places["survey"][1]):
                self.store(self.load("surveyed", k), "survey", k)
        self._each_lane("measure_works", "ptr %shared")
        scales = self._start_scales()
        slope, size = self.lanes.zero, self.lanes.zero
        for i, scale in scales.items():
            rate, y = self.op("fmul", self._start_rate(i), scale), self.op("fmul", self._start(i), scale)
            slope, size = self.fma(rate, rate, slope), self.fma(y, y, size)
        self._store_for_starts(slope, "slope")
        self._store_for_starts(size, "size")
        self._each_lane("set_probe", "ptr %shared")
        self.lines += [f"  br label %{after}", f"{after}:"]

    def _bend(self, condition: str, after: str) -> None:
        """After the second evaluation, if members start: takes its rates and estimates how fast they change."""
        self.lines += [f"  br i1 {condition}, label %bend, label %{after}", "bend:"]
        self._take_rates(2, "rate_new", "flow_new")
        trial, total = self.load("trial"), self.lanes.zero
        for i, scale in self._start_scales().items():
            share = self.op("fmul", self._start_change(i, trial), scale)
            total = self.fma(share, share, total)
        self._store_for_starts(total, "bend")
        self._each_lane("set_bend")
        self.lines += [f"  br label %{after}", f"{after}:"]

    def _store_for_starts(self, x: str, name: str) -> None:
        """Stores a number for members that start."""
        self.store(x if self.lanes.whole else self.select(self.starting, x, self.load(name)), name)

    def _start(self, i: int) -> str:
        """A component at the start."""
        return self._old(i) if i < self.model.n_controlled else self.load("y", i)

    def _start_scales(self) -> dict[int, str]:
        """By component, works included: the reciprocal of its tolerance at its size at the start."""
        m, atol, works = self.model, self.shared("atol"), self.load("atol_works")
        rtol, scales = self.splat(self.shared("rtol")), {}
        for i in range(m.n_controlled + m.n_works):
            own = self.splat(self.let(f"load double, ptr {self.let(f'getelementptr double, ptr {atol}, i64 {i}')}"))
            tolerance = self.fma(rtol, self.call("fabs", self._start(i)), own if i < m.n_controlled else works)
            scales[i] = self.op("fdiv", self.lanes.splat(1.0), tolerance)
        return scales

    def _start_rate(self, i: int) -> str:
        """The rate of a component by the first evaluation; if the rate is itself a state, that state."""
        m = self.model
        if i >= m.n_controlled:
            return self._evaluated(1, len(m.rows) + i - m.n_controlled)
        return self._old(m.chained[i]) if m.chained[i] >= 0 else self._evaluated(1, m.rows.index(i))

    def _start_change(self, i: int, trial: str) -> str:
        """The change of a component's rate over the Euler step."""
        m = self.model
        if i < m.n_controlled and m.chained[i] >= 0:
            return self.op("fmul", trial, self._first_rate(m.rows.index(m.chained[i])))
        r = m.rows.index(i) if i < m.n_controlled else len(m.rows) + i - m.n_controlled
        return self.op("fsub", self._evaluated(2, r), self._first_rate(r))

    def _evaluated(self, stage: int, r: int) -> str:
        """A rate that was just evaluated."""
        return self.load("out", r) if self.lanes.whole else self.load("k", stage * self.model.n_out + r)

    def _first_rate(self, r: int) -> str:
        """A rate at the start."""
        rows = len(self.model.rows)
        if not self.lanes.whole:
            return self.load("k", r)
        return self.load("k", r) if r < rows else self._settled("flow", r - rows)

    def _each_lane(self, function: str, *arguments: str) -> None:
        for lane in range(self.lanes.width):
            at = self.let(f"getelementptr double, ptr %memory, i64 {lane}")
            self.lines.append(f"  call void @{function}({', '.join([f'ptr {at}', *arguments])})")

    @cached_property
    def _chaining(self) -> list[int]:
        """Stored rows that are rates of coordinates."""
        m = self.model
        return sorted({m.rows.index(rate) for rate in m.chained if rate >= 0})

    def _sums_in_line(self, row: int) -> tuple[dict[int, str], dict[int, str]]:
        """Like `_sums`, unrolled term by term; a row without terms is zero."""
        m = self.model
        plain = {r: "" for r in range(len(m.rows))}
        twice = {r: "" for r in self._chaining}
        for term in self.scheme.terms(row):
            if self.lanes.whole and term.stage == self.scheme.stages:
                continue  # it comes with the second part
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

    def _added(self, total: str, a: float, x: str) -> str:
        factor = self._coefficient(a)
        return self.fma(factor, x, total) if total else self.op("fmul", factor, x)

    def _coefficient(self, a: float) -> str:
        """Reads a coefficient from memory in one instruction; as a constant in the code it can take five (no long immediates)."""
        if self.lanes.whole:
            return self.lanes.splat(a)
        place = self.coefficients.setdefault(a, len(self.coefficients))
        return self.splat(self.let(f"load double, ptr getelementptr (double, ptr @lockstep_coefficients, i64 {place})"))

    def _sums(self, row: int | str) -> tuple[dict[int, str], dict[int, str]]:
        """Sums over stages of a row's coefficients times stored rates: for all rates, and for those that coordinates chain to."""
        return self._sums_in_line(row) if isinstance(row, int) else self._sums_of_stage(row)

    def _sums_of_stage(self, row: str) -> tuple[dict[int, str], dict[int, str]]:
        """The same for a stage that only the loop knows: every stage has lines of its own."""
        self.names += 1
        rows, place = range(1, self.scheme.stages), f"sums{self.names}"
        cases = " ".join(f"i64 {i}, label %{place}.{i}" for i in rows[1:])
        self.lines.append(f"  switch i64 {row}, label %{place}.{rows[0]} [ {cases} ]")
        sums: list[list[str]] = []
        for i in rows:
            self.lines.append(f"{place}.{i}:")
            plain, twice = self._sums_in_line(i)
            sums.append([*plain.values(), *twice.values()])
            self.lines.append(f"  br label %{place}")
        self.lines.append(f"{place}:")
        joined = [self.let("phi double " + ", ".join(f"[ {x}, %{place}.{i} ]" for i, x in zip(rows, values, strict=True)))
                  for values in zip(*sums, strict=True)]  # fmt: skip
        return dict(zip(plain, joined, strict=False)), dict(zip(twice, joined[len(plain) :], strict=True))

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

    def _end(self) -> None:
        """The end of the step: its state, its derivative, the event functions and everything else that is judged there."""
        m, s = self.model, self.scheme.stages
        self.ended = "stage" if self.lanes.whole else "y_new"
        if self.lanes.whole:
            self.y_new = {i: self.load("y_new", i) for i in range(m.n_controlled)}
            for i, x in self.y_new.items():
                self.store(x, self.ended, i)
        else:
            self.y_new = self._state(s, self.h_end, self.lanes.splat(1.0), self.ended)
        t = self.select(self.starting, self.t, self.t_new)
        if self.owner.project is not None:
            self._project(t)
        out = self.at("seen") if self.lanes.whole else self.at("k", s * m.n_out)
        self._call("member_look", t, self.ended, out)
        if self.lanes.whole:  # otherwise these are stored consecutively
            self._keep_seen()

    def _keep_seen(self) -> None:
        """Stores what `look` computed at the end of the step."""
        judged = ("rate_new", "flow_new", "g_new", "gd_new", "force", "limit")
        targets = [(name, k) for name in judged for k in range(self.slots.places[name][1])]
        for guards, group in self.owner.seen_groups:
            with self._unless_idle(guards):
                for k in group:
                    self.store(self.load("seen", k), *targets[k])

    def _rate(self, stage: int, r: int) -> str:
        """A stored rate."""
        m = self.model
        if self.lanes.whole and stage == self.scheme.stages:
            return self.load("seen", r)
        return self.load("k", self.scheme.places[stage] * len(m.rows) + r if self.lanes.whole else stage * m.n_out + r)

    def _carried_rate(self, stage: int, k: int) -> str:
        return self.load("flow", stage * self.model.n_out + k)

    def _project(self, t: str) -> None:
        """Projects the end of the step onto the loop constraints; it is so near that two Newton steps leave only round-off."""
        for _ in range(PROJECTIONS):
            self._call("member_project", t, self.ended, self.at("projected"))
            for i in range(self.model.n_controlled):
                self.y_new[i] = self.load("projected", i)
                self.store(self.y_new[i], self.ended, i)
                if self.lanes.whole:
                    self.store(self.y_new[i], "y_new", i)

    def _carried_sums(self, k: int, end: str, with_errors: bool) -> list[str]:
        """For a carried component: its change over the step, then its error estimates, all divided by h."""
        sums, count = [], len(self._weights)
        used = [j for j, advances in enumerate(self.scheme.advances[:-1]) if advances]
        rates = {} if self.lanes.whole else {j: self._carried_rate(j, k) for j in used}
        for n in range(count if with_errors else 1):
            total = self.load("summed", k * count + n) if self.lanes.whole else ""
            for j, rate in {**rates, self.scheme.stages: end}.items():
                if self._weights[n, j] != 0.0:
                    total = self._added(total, float(self._weights[n, j]), rate)
            sums.append(total)
        return sums

    def _carry(self, group: Sequence[int], sums: list[str], finite: str, works: str) -> tuple[list[str], str]:
        """Advances carried components; their errors count if sums of squares are given. All is loaded before anything is stored."""
        m = self.model
        stored: list[tuple[str, str, int]] = []
        settled: list[tuple[str, str, int]] = []
        olds = [self.load("y", m.n_controlled + k) for k in group]
        extremes = [[self.load(name, k) for name in EXTREMES] for k in group] if sums else [[]] * len(group)
        for k, old, so_far in zip(group, olds, extremes, strict=True):
            end = self.load("seen", len(m.rows) + k) if self.lanes.whole else self._carried_rate(self.scheme.stages, k)
            change, *errors = self._carried_sums(k, end, bool(sums))
            new = self.fma(self.h_end, change, old)
            if self.lanes.whole:  # while a guard is idle, nothing else is written here
                new = self.select(self.starting, old, new)
            stored.append((new, "y_new", m.n_controlled + k))
            for (name, word), extreme in zip(EXTREMES.items(), so_far, strict=False):
                beyond = self.let(f"fcmp {word} {self.lanes.kind} {new}, {extreme}")
                stored.append((self.select(beyond, new, extreme), f"{name}_new", k))
            finite = self.fma(end, self.lanes.zero, self.fma(new, self.lanes.zero, finite))
            if sums:
                scale = self._scale(old, new, works)
                shares = [self.op("fmul", self.op("fmul", self.h_end, estimate), scale) for estimate in errors]
                sums = [self.fma(share, share, total) for share, total in zip(shares, sums, strict=True)]
            if self.lanes.whole:
                settled += [(old, "y", m.n_controlled + k), *((x, name, k) for name, x in zip(EXTREMES, so_far, strict=False))]
        for x, name, index in settled:
            self.settle(x, name, index)
        for x, name, index in stored:
            self.store(x, name, index)
        return sums, finite

    def _carry_all(self, sums: list[str], finite: str) -> tuple[list[str], str]:
        """Advances the works, then the components without error control."""
        m, works = self.model, self.load("atol_works")
        if self.lanes.whole:
            return self._carry_groups(sums, finite, works)
        for k in range(m.n_carried):
            totals, finite = self._carry([k], sums if k < m.n_works else [], finite, works)
            sums = totals or sums
        return sums, finite

    def _carry_groups(self, sums: list[str], finite: str, works: str) -> tuple[list[str], str]:
        """The same, without the components whose guards are idle: they do not change."""
        for guards, group in self.owner.carried_groups:
            counts = group.start < self.model.n_works
            own = sums if counts else []
            if guards == ALWAYS:
                totals, finite = self._carry(group, own, finite, works)
            else:
                self.names += 1
                place = f"carrying{self.names}"
                self.lines += [f"  br label %{place}.before", f"{place}.before:"]
                self.lines += [f"  br i1 {self._is_awake(guards)}, label %{place}, label %{place}.after", f"{place}:"]
                totals, after = self._carry(group, own, finite, works)
                self.lines += [f"  br label %{place}.after", f"{place}.after:"]
                finite, *totals = [self.let(f"phi double [ {old}, %{place}.before ], [ {new}, %{place} ]")
                                   for old, new in zip([finite, *own], [after, *totals], strict=True)]  # fmt: skip
            sums = totals or sums
        return sums, finite

    def _errors(self) -> None:
        """Advances the carried components and computes the norm of the error; nan or inf if something is not finite."""
        m, s, zero = self.model, self.scheme.stages, self.lanes.zero
        self.rtol = self.splat(self.shared("rtol"))
        atol = self.shared("atol")
        scales: dict[int, str] = {}
        finite = zero
        for i in range(m.n_controlled):
            at = self.let(f"getelementptr double, ptr {atol}, i64 {i}")
            scales[i] = self._scale(self._old(i), self.y_new[i], self.splat(self.let(f"load double, ptr {at}")))
            finite = self.fma(self.y_new[i], zero, finite)
        for r in range(len(m.rows)):
            finite = self.fma(self._rate(s, r), zero, finite)
        mismatch = self._mismatch(scales)
        sums = [self._squares(s + 1 + k, scales) for k in range(len(self.scheme.tableau.error))]
        sums, finite = self._carry_all(sums, finite)
        mean = self.lanes.splat(float(m.n_controlled))
        if len(sums) == 1:
            error = self.call("sqrt", self.op("fdiv", sums[0], mean))
        else:
            both = self.fma(self.lanes.splat(0.01), sums[1], sums[0])
            error = self.op("fdiv", sums[0], self.call("sqrt", self.op("fmul", both, mean)))
            none = self.let(f"fcmp oeq {self.lanes.kind} {sums[0]}, {zero}")
            error = self.select(none, zero, error)
        error = self.op("fadd", self._largest(mismatch, error), finite)
        self.store(error, "error")
        self._look_for_events(error)

    def _look_for_events(self, error: str) -> None:
        """Finds out whether the step is good and all event functions stay well on their sides; they become the present ones then.

        Otherwise everything is left to `first_event`, which looks more closely.
        """
        kind, sure = self.lanes.kind, self.load("sure")
        good = self.let(f"fcmp ole {kind} {error}, {self.lanes.splat(1.0)}")
        good = self.let(f"and {self.lanes.truth} {good}, {self._not(self.starting)}")
        known = {e: [self.load(name, e) for name in ("side", "gd", "g_new", "gd_new")] for e in self._events}
        for e, (side, gd, g_new, gd_new) in known.items():
            apart = self.let(f"fcmp ogt {kind} {self.op('fmul', g_new, side)}, {sure}")
            falls = self.let(f"fcmp olt {kind} {self.op('fmul', gd, side)}, {self.lanes.zero}")
            rises = self.let(f"fcmp ogt {kind} {self.op('fmul', gd_new, side)}, {self.lanes.zero}")
            dips = self.let(f"and {self.lanes.truth} {falls}, {rises}")
            calm = self.let(f"and {self.lanes.truth} {apart}, {self._not(dips)}")
            if self.model.events[e].pair >= 0 and self.model.events[e].does != GAP:  # watched while its contact is closed
                closed = self.load("p", self.model.pairs[self.model.events[e].pair].closed)
                calm = self.let(f"or {self.lanes.truth} {calm}, {self.let(f'fcmp oeq {kind} {closed}, {self.lanes.zero}')}")
            good = self.let(f"and {self.lanes.truth} {good}, {calm}")
        for e, (_, gd, g_new, gd_new) in known.items():
            self.store(self.select(good, g_new, self.load("g", e)), "g", e)
            self.store(self.select(good, gd_new, gd), "gd", e)
        self.store(self.select(good, self.lanes.splat(1.0), self.lanes.zero), "calm")

    @property
    def _events(self) -> list[int]:
        """Events that may be watched."""
        return [e for e, event in enumerate(self.model.events) if event.does != NEVER]

    def _not(self, truths: str) -> str:
        every = "true" if self.lanes.width == 1 else "splat (i1 true)"
        return self.let(f"xor {self.lanes.truth} {truths}, {every}")

    def _scale(self, old: str, new: str, atol: str) -> str:
        """The reciprocal of a component's tolerance."""
        size = self._largest(self.call("fabs", old), self.call("fabs", new))
        return self.op("fdiv", self.lanes.splat(1.0), self.fma(self.rtol, size, atol))

    def _largest(self, a: str, b: str) -> str:
        """The larger of two; b if one is nan."""
        return self.select(self.let(f"fcmp ogt {self.lanes.kind} {a}, {b}"), a, b)

    def _estimate(self, i: int, plain: dict[int, str], twice: dict[int, str]) -> str:
        """The error of a controlled component over h by the sums of a row."""
        m = self.model
        if m.chained[i] < 0:
            return plain[m.rows.index(i)]
        return self.op("fmul", self.h_end, twice[m.rows.index(m.chained[i])])

    def _squares(self, row: int, scales: dict[int, str]) -> str:
        """The sum of squares of the controlled components' errors by a row of the scheme."""
        m, s, total = self.model, self.scheme.stages, self.lanes.zero
        plain, twice = ({}, {}) if self.lanes.whole else self._sums(row)
        end = float(self.scheme.rows[row, s])
        for i, scale in scales.items():
            if self.lanes.whole:
                estimate = self.load("estimates", (row - s - 1) * m.n_controlled + i)
                if m.chained[i] < 0 and end:
                    estimate = self._added(estimate, end, self._rate(s, m.rows.index(i)))
            else:
                estimate = self._estimate(i, plain, twice)
            share = self.op("fmul", self.op("fmul", self.h_end, estimate), scale)
            total = self.fma(share, share, total)
        return total

    def _mismatch(self, scales: dict[int, str]) -> str:
        """The difference between the derivative at the end and that of the stage at the same time, times the size of the state.

        See `runge_kutta._mismatch`: a value below 1 has no meaning.
        """
        m, last, s = self.model, self.scheme.last_stage, self.scheme.stages
        worst = self.lanes.zero
        if last == 0:
            return worst
        for r, i in enumerate(m.rows):
            before = self.load("last_rate", r) if self.lanes.whole else self._rate(last, r)
            apart = self.op("fsub", self._rate(s, r), before)
            apart = self.op("fmul", self.op("fmul", self.call("fabs", self.op("fmul", apart, self.h_end)), self.rtol), scales[i])
            worst = self._largest(apart, worst)
        one = self.let(f"fcmp ogt {self.lanes.kind} {worst}, {self.lanes.splat(1.0)}")
        return self.select(one, worst, self.lanes.zero)


def constant_table(name: str, kind: str, entries: Sequence[float], space: int) -> str:
    listed = ", ".join(f"{kind} {real(float(x)) if kind == 'double' else int(x)}" for x in entries)
    return f"@{name} = internal addrspace({space}) constant [{len(entries)} x {kind}] [{listed}]"
