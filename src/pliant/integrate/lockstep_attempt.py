"""One attempt of a lock-step loop as LLVM text: for every lane, all stages of a step, its end and its error."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from pliant.codegen.plain import in_space
from pliant.codegen.sincos import real
from pliant.integrate.lockstep_tables import SHARED

if TYPE_CHECKING:
    from pliant.integrate.lockstep_text import LockstepText

LOOP_AGAIN = ", !llvm.loop !0"  # the loop stays a loop, see `plain.ROLLED`
PROJECTIONS = 2  # Newton steps at the end of a step, as in `march`


class AttemptWriter:
    """Writes `void attempt(ptr memory, ptr shared)`: for every lane, all stages of a step or of a start, its end and its error."""

    def __init__(self, text: LockstepText) -> None:
        self.owner, self.model, self.scheme, self.lanes, self.slots = text, text.model, text.scheme, text.lanes, text.slots
        self.lines: list[str] = []
        self.rooms = text.rooms  # values that live only within one attempt: registers if everything is inlined
        self.names = 0
        self.coefficients: dict[float, int] = {}

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
            return self.let(f"getelementptr double, ptr {self.let(f'call ptr @{self.owner.elsewhere[name]}()')}, i64 {index}")
        return self.let(f"getelementptr double, ptr %memory, i64 {(self.slots.first(name) + index) * self.lanes.width}")

    def load(self, name: str, index: int = 0, further: int | str = 0) -> str:
        return self.let(f"load {self.lanes.kind}, ptr {self.entry(name, index, further)}, align 8")

    def store(self, x: str, name: str, index: int = 0, further: int | str = 0) -> None:
        self.lines.append(f"  store {self.lanes.kind} {x}, ptr {self.entry(name, index, further)}, align 8")

    def entry(self, name: str, index: int, further: int | str) -> str:
        """The address of an entry of a slot, offset by a number that only the loop knows."""
        if isinstance(further, int):
            return self.at(name, index + further)
        return self.let(f"getelementptr double, ptr {self.at(name, index)}, i64 {further}")

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

    def some(self, truths: str) -> str:
        if self.lanes.width == 1:
            return truths
        width = self.lanes.width
        return self.let(f"icmp ne i{width} {self.let(f'bitcast {self.lanes.truth} {truths} to i{width}')}, 0")

    # ---- the attempt

    def text(self) -> str:
        self._begin()
        self._stage_loop()
        self._end()
        self._errors()
        attribute = "alwaysinline" if self.lanes.whole else "noinline"
        head = f"define internal void @attempt(ptr nonnull %memory, ptr nonnull %shared) {attribute} nounwind {{"
        rooms = [f"  %{name}.room = alloca [{size} x double], align 8" for name, size in self.rooms.items()]
        return "\n".join([*self._tables(), head, "entry:", *rooms, *self.lines, "  ret void", "}", ""])

    def _tables(self) -> list[str]:
        if not self.lanes.whole:
            entries = ", ".join(f"double {real(x)}" for x in self.coefficients)
            return [f"@lockstep_coefficients = global [{len(self.coefficients)} x double] [{entries}]"]
        scheme, model = self.scheme, self.model
        terms = [scheme.terms(row) for row in range(len(scheme.rows))]
        bounds = np.cumsum([0, *(n for row in terms for n in (sum(bool(x.plain and x.double) for x in row),
                                                            sum(bool(x.plain and not x.double) for x in row),
                                                            sum(bool(x.double and not x.plain) for x in row)))])  # fmt: skip
        listed = [x for row in terms for x in row]
        tables: dict[str, tuple[str, Sequence[float]]] = {
            "nodes": ("double", scheme.nodes),
            "bounds": ("i64", bounds.tolist()),
            "read": ("i64", [scheme.places[x.stage] * len(model.rows) for x in listed]),
            "plain": ("double", [x.plain for x in listed]),
            "double": ("double", [x.double for x in listed]),
            "written": ("i64", [place * len(model.rows) for place in scheme.places]),
            "carried": ("i64", [place * model.n_carried for place in scheme.carried_places]),
        }
        space = self.owner.glue.constant_space
        return [constant_table(f"scheme.{name}", *table, space) for name, table in tables.items()]

    def _begin(self) -> None:
        self.h, self.t, self.t_new = self.load("step"), self.load("t"), self.load("t_new")
        start = self.load("start")
        self.starting = self.let(f"fcmp une {self.lanes.kind} {start}, {self.lanes.zero}")
        self.some_start = self.some(self.starting)
        if self.lanes.own_constants:
            self.constants = self.at("c")
        else:
            self.constants = self.let("call ptr @constants_here(ptr %shared)") if self.lanes.whole else self.shared("constants")
        self.p, self.work = self.at("p"), self.at("work")
        self.y = {i: self.load("y", i) for i in range(self.model.n_controlled)}

    def _stage_loop(self) -> None:
        """Stages 1 ... s - 1; for a start, the first is at the present state, the second at the end of a short Euler step."""
        s, zero = self.scheme.stages, self.lanes.zero
        self.h_end = self.select(self.starting, zero, self.h)
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
        self.lines += [
            "  br label %stage",
            "stage:",
            "  %i = phi i64 [ 1, %entry ], [ %i.next, %stage.next ]",
            *self.owner.together,
        ]
        c = self.table("scheme.nodes", "%i")
        probe = self.op("fdiv", self.load("trial"), c)
        h = self.select(self.starting, self.select(self.let("icmp eq i64 %i, 2"), probe, zero), self.h)
        self._stage("%i", h, c, self.at("out"))
        self._keep_rates()
        self._survey(self.let(f"and i1 {self.let('icmp eq i64 %i, 1')}, {self.some_start}"), "surveyed")
        self._bend(self.let(f"and i1 {self.let('icmp eq i64 %i, 2')}, {self.some_start}"), "stage.next")
        self.lines += ["  %i.next = add i64 %i, 1", f"  %more = icmp slt i64 %i.next, {s}",
                       "  br i1 %more, label %stage, label %end", "end:"]  # fmt: skip

    def _stage(self, i: int | str, h: str, c: str, out: str) -> None:
        """One evaluation inside the step."""
        self._state(i, h, c, "stage")
        t = self.fma(c, h, self.t)
        # no stage is evaluated beyond the end of the step
        t = self.select(self.starting, t, self.select(self.let(f"fcmp olt {self.lanes.kind} {t}, {self.t_new}"), t, self.t_new))
        arguments = f"ptr {self.at('stage')}, ptr {self.p}, ptr {self.constants}, ptr {out}, ptr {self.work}"
        name = "member_rhs" if isinstance(i, str) or self.scheme.carries[i] else "member_lean"
        self.lines.append(f"  call void @{name}({self.lanes.kind} {t}, {arguments})")

    def _keep_rates(self) -> None:
        """Moves rates of stage i from registers to memory: those that later stages read, and those of carried components in use."""
        m = self.model
        rates = [self.load("out", r) for r in range(m.n_out)]
        place = self.table("scheme.written", "%i", "i64")
        target = self.let(f"getelementptr double, ptr {self.at('k')}, i64 {place}")
        for r, rate in enumerate(rates[: len(m.rows)]):
            self.lines.append(f"  store double {rate}, ptr {self.let(f'getelementptr double, ptr {target}, i64 {r}')}")
        place = self.table("scheme.carried", "%i", "i64")
        self.lines += [f"  br i1 {self.let(f'icmp sge i64 {place}, 0')}, label %carry, label %carried", "carry:"]
        target = self.let(f"getelementptr double, ptr {self.at('w')}, i64 {place}")
        for r, rate in enumerate(rates[len(m.rows) :]):
            self.lines.append(f"  store double {rate}, ptr {self.let(f'getelementptr double, ptr {target}, i64 {r}')}")
        self.lines += ["  br label %carried", "carried:"]

    def _survey(self, condition: str, after: str) -> None:
        """After the first evaluation, if members start: evaluates the survey and calls `set_probe`."""
        self.lines += [f"  br i1 {condition}, label %begin, label %{after}", "begin:"]
        arguments = f"ptr {self.at('stage')}, ptr {self.p}, ptr {self.constants}, ptr {self.at('survey')}, ptr {self.work}"
        self.lines.append(f"  call void @member_survey({self.lanes.kind} {self.t}, {arguments})")
        self._each_lane("set_probe")
        self.lines += [f"  br label %{after}", f"{after}:"]

    def _bend(self, condition: str, after: str) -> None:
        """After the second evaluation, if members start: calls `set_bend`."""
        self.lines += [f"  br i1 {condition}, label %bend, label %{after}", "bend:"]
        self._each_lane("set_bend")
        self.lines += [f"  br label %{after}", f"{after}:"]

    def _each_lane(self, function: str) -> None:
        for lane in range(self.lanes.width):
            at = self.let(f"getelementptr double, ptr %memory, i64 {lane}")
            self.lines.append(f"  call void @{function}(ptr {at}, ptr %shared)")

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
            for r in plain:
                if not term.plain and r not in twice:
                    continue
                rate = self.load("k", term.stage * m.n_out + r)
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
        if not self.lanes.whole:
            assert isinstance(row, int)
            return self._sums_in_line(row)
        zero = self.lanes.zero
        plain, twice = dict.fromkeys(range(len(self.model.rows)), zero), dict.fromkeys(self._chaining, zero)
        first = self.let(f"mul i64 {row}, 3")
        for kind in range(3):  # terms of both sums, of the plain sums only, of the double sums only
            begin = self.table("scheme.bounds", self.let(f"add i64 {first}, {kind}"), "i64")
            end = self.table("scheme.bounds", self.let(f"add i64 {first}, {kind + 1}"), "i64")
            if kind == 1:
                plain = self._sum_loop(begin, end, plain, {})[0]
            elif kind == 2 and not twice:
                continue
            else:
                plain, twice = self._sum_loop(begin, end, plain if kind == 0 else {}, twice, plain)
        return plain, twice

    def _sum_loop(
        self, begin: str, end: str, plain: dict[int, str], twice: dict[int, str], kept: dict[int, str] | None = None
    ) -> tuple[dict[int, str], dict[int, str]]:
        """Adds the terms from begin to end; sums that take no part are returned unchanged."""
        self.names += 1
        loop = f"sum{self.names}"
        base, totals = self.at("k"), {f"v{r}": x for r, x in plain.items()} | {f"q{r}": x for r, x in twice.items()}
        self.lines += [f"  br label %{loop}.test", f"{loop}.test:", f"  br label %{loop}", f"{loop}:",
                       f"  %{loop}.j = phi i64 [ {begin}, %{loop}.test ], [ %{loop}.n, %{loop}.body ]"]  # fmt: skip
        for name, x in totals.items():
            self.lines.append(f"  %{loop}.{name} = phi double [ {x}, %{loop}.test ], [ %{loop}.{name}.n, %{loop}.body ]")
        self.lines += [f"  %{loop}.more = icmp slt i64 %{loop}.j, {end}",
                       f"  br i1 %{loop}.more, label %{loop}.body, label %{loop}.done", f"{loop}.body:"]  # fmt: skip
        stage = self.let(f"getelementptr double, ptr {base}, i64 {self.table('scheme.read', f'%{loop}.j', 'i64')}")
        a = self.table("scheme.plain", f"%{loop}.j") if plain else ""
        b = self.table("scheme.double", f"%{loop}.j") if twice else ""
        for r in range(len(self.model.rows)):
            if r not in plain and r not in twice:
                continue
            rate = self.let(f"load double, ptr {self.let(f'getelementptr double, ptr {stage}, i64 {r}')}, align 8")
            for factor, name in ((a, f"v{r}"), (b, f"q{r}")):
                if name in totals:
                    passed = f"double {factor}, double {rate}, double %{loop}.{name}"
                    self.lines.append(f"  %{loop}.{name}.n = call double @llvm.fma.f64({passed})")
        self.lines += [f"  %{loop}.n = add i64 %{loop}.j, 1", f"  br label %{loop}{LOOP_AGAIN}", f"{loop}.done:"]
        sums = {r: f"%{loop}.v{r}" for r in plain} or (kept or {})
        return sums, {r: f"%{loop}.q{r}" for r in twice}

    def _state(self, row: int | str, h: str, c: str, target: str) -> dict[int, str]:
        """Writes the controlled components of a stage, or of the step's end, into `target`."""
        m = self.model
        plain, twice = self._sums(row)
        values: dict[int, str] = {}
        for i in range(m.n_controlled):
            if m.chained[i] < 0:
                values[i] = self.fma(h, plain[m.rows.index(i)], self.y[i])
            else:
                rate = m.chained[i]
                inner = self.fma(h, twice[m.rows.index(rate)], self.op("fmul", c, self.y[rate]))
                values[i] = self.fma(h, inner, self.y[i])
            self.store(values[i], target, i)
        return values

    def _end(self) -> None:
        """The end of the step: its state, its derivative, the event functions and everything else that is judged there."""
        m, s = self.model, self.scheme.stages
        self.y_new = self._state(s, self.h_end, self.lanes.splat(1.0), "y_new")
        t = self.select(self.starting, self.t, self.t_new)
        if self.owner.project is not None:
            self._project(t)
        out = self.at("seen") if self.lanes.whole else self.at("k", s * m.n_out)
        arguments = f"ptr {self.p}, ptr {self.constants}, ptr {out}, ptr {self.work}"
        self.lines.append(f"  call void @member_look({self.lanes.kind} {t}, ptr {self.at('y_new')}, {arguments})")
        if self.lanes.whole:  # otherwise these are stored consecutively
            targets = [("k", self.scheme.places[s] * len(m.rows) + r) for r in range(len(m.rows))]
            targets += [("w", self.scheme.carried_places[s] * m.n_carried + r) for r in range(m.n_carried)]
            targets += [(name, k) for name in ("g_new", "gd_new", "force", "limit") for k in range(self.slots.places[name][1])]
            for k, (name, index) in enumerate(targets):
                self.store(self.load("seen", k), name, index)

    def _rate(self, stage: int, r: int) -> str:
        """A stored rate."""
        m = self.model
        return self.load("k", self.scheme.places[stage] * len(m.rows) + r if self.lanes.whole else stage * m.n_out + r)

    def _carried_rate(self, stage: int, k: int | str) -> str:
        m = self.model
        return self.load("w", self.scheme.carried_places[stage] * m.n_carried if self.lanes.whole else stage * m.n_out, k)

    def _project(self, t: str) -> None:
        """Projects the end of the step onto the loop constraints; it is so near that two Newton steps leave only round-off."""
        for _ in range(PROJECTIONS):
            arguments = f"ptr {self.at('y_new')}, ptr {self.p}, ptr {self.constants}, ptr {self.at('projected')}, ptr {self.work}"
            self.lines.append(f"  call void @member_project({self.lanes.kind} {t}, {arguments})")
            for i in range(self.model.n_controlled):
                self.y_new[i] = self.load("projected", i)
                self.store(self.y_new[i], "y_new", i)

    def _carried_sums(self, rates: dict[int, str], with_errors: bool) -> list[str]:
        """For a carried component: its change over the step, then its error estimates, all divided by h."""
        s, sums = self.scheme.stages, []
        for row in range(s, len(self.scheme.rows) if with_errors else s + 1):
            total = ""
            for j, rate in rates.items():
                if self.scheme.rows[row, j] != 0.0:
                    total = self._added(total, float(self.scheme.rows[row, j]), rate)
            sums.append(total)
        return sums

    def _carry(self, k: int | str, sums: list[str], finite: str, works: str) -> tuple[list[str], str]:
        """Advances one carried component; its error counts if sums of squares are given."""
        m, s = self.model, self.scheme.stages
        used = np.flatnonzero(self.scheme.rows[s:].any(axis=0)).tolist()
        rates = {j: self._carried_rate(j, k) for j in used}
        change, *errors = self._carried_sums(rates, bool(sums))
        old = self.load("y", m.n_controlled, k)
        new = self.fma(self.h_end, change, old)
        self.store(new, "y_new", m.n_controlled, k)
        end = rates.get(s) or self._carried_rate(s, k)
        finite = self.fma(end, self.lanes.zero, self.fma(new, self.lanes.zero, finite))
        if sums:
            scale = self._scale(old, new, works)
            shares = [self.op("fmul", self.op("fmul", self.h_end, estimate), scale) for estimate in errors]
            sums = [self.fma(share, share, total) for share, total in zip(shares, sums, strict=True)]
        return sums, finite

    def _carry_all(self, sums: list[str], finite: str) -> tuple[list[str], str]:
        """Advances the works, then the components without error control."""
        m, works = self.model, self.load("atol_works")
        for first, last, counts in ((0, m.n_works, True), (m.n_works, m.n_carried, False)):
            if first == last:
                continue
            if self.lanes.whole:
                finite, *totals = self._carry_loop(first, last, [finite, *(sums if counts else [])], works)
                sums = totals or sums
            else:
                for k in range(first, last):
                    totals, finite = self._carry(k, sums if counts else [], finite, works)
                    sums = totals or sums
        return sums, finite

    def _carry_loop(self, first: int, last: int, totals: list[str], works: str) -> list[str]:
        """The same as a loop, for short code."""
        self.names += 1
        loop = f"carry{self.names}"
        self.lines += [f"  br label %{loop}.before", f"{loop}.before:", f"  br label %{loop}", f"{loop}:",
                       f"  %{loop}.k = phi i64 [ {first}, %{loop}.before ], [ %{loop}.n, %{loop} ]"]  # fmt: skip
        places = len(self.lines)
        names = [f"%{loop}.t{number}" for number in range(len(totals))]
        (sums, finite) = self._carry(f"%{loop}.k", names[1:], names[0], works)
        phis = [f"  {name} = phi double [ {begin}, %{loop}.before ], [ {end}, %{loop} ]"
                for name, begin, end in zip(names, totals, [finite, *sums], strict=True)]  # fmt: skip
        self.lines[places:places] = phis
        self.lines += [f"  %{loop}.n = add i64 %{loop}.k, 1", f"  %{loop}.more = icmp slt i64 %{loop}.n, {last}",
                       f"  br i1 %{loop}.more, label %{loop}, label %{loop}.done{LOOP_AGAIN}", f"{loop}.done:"]  # fmt: skip
        return [finite, *sums]

    def _errors(self) -> None:
        """Advances the carried components and computes the norm of the error; nan or inf if something is not finite."""
        m, s, zero = self.model, self.scheme.stages, self.lanes.zero
        self.rtol = self.splat(self.shared("rtol"))
        atol = self.shared("atol")
        scales: dict[int, str] = {}
        finite = zero
        for i in range(m.n_controlled):
            at = self.let(f"getelementptr double, ptr {atol}, i64 {i}")
            scales[i] = self._scale(self.y[i], self.y_new[i], self.splat(self.let(f"load double, ptr {at}")))
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
        error = self._largest(mismatch, error)
        self.store(self.op("fadd", error, finite), "error")

    def _scale(self, old: str, new: str, atol: str) -> str:
        """The reciprocal of a component's tolerance."""
        size = self._largest(self.call("fabs", old), self.call("fabs", new))
        return self.op("fdiv", self.lanes.splat(1.0), self.fma(self.rtol, size, atol))

    def _largest(self, a: str, b: str) -> str:
        """The larger of two; b if one is nan."""
        return self.select(self.let(f"fcmp ogt {self.lanes.kind} {a}, {b}"), a, b)

    def _squares(self, row: int, scales: dict[int, str]) -> str:
        """The sum of squares of the controlled components' errors by a row of the scheme."""
        m, total = self.model, self.lanes.zero
        plain, twice = self._sums(row)
        for i, scale in scales.items():
            if m.chained[i] < 0:
                estimate = plain[m.rows.index(i)]
            else:
                estimate = self.op("fmul", self.h_end, twice[m.rows.index(m.chained[i])])
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
            apart = self.op("fsub", self._rate(s, r), self._rate(last, r))
            apart = self.op("fmul", self.op("fmul", self.call("fabs", self.op("fmul", apart, self.h_end)), self.rtol), scales[i])
            worst = self._largest(apart, worst)
        one = self.let(f"fcmp ogt {self.lanes.kind} {worst}, {self.lanes.splat(1.0)}")
        return self.select(one, worst, self.lanes.zero)


def constant_table(name: str, kind: str, entries: Sequence[float], space: int) -> str:
    listed = ", ".join(f"{kind} {real(float(x)) if kind == 'double' else int(x)}" for x in entries)
    return f"@{name} = internal addrspace({space}) constant [{len(entries)} x {kind}] [{listed}]"
