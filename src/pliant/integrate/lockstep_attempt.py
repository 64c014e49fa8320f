"""One attempt of a lock-step loop as LLVM text: all stages of a step of every lane, its end and its error."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from pliant.codegen.sincos import real
from pliant.integrate.lockstep_tables import SHARED

if TYPE_CHECKING:
    from pliant.integrate.lockstep_text import LockstepText

PROJECTIONS = 2  # Newton steps at the end of a step, as in `march`


class AttemptWriter:
    """`void attempt(ptr memory, ptr shared)`: all stages of a step of every lane, its end and its error; or of a start."""

    def __init__(self, text: LockstepText) -> None:
        self.owner, self.model, self.scheme, self.lanes, self.slots = text, text.model, text.scheme, text.lanes, text.slots
        self.lines: list[str] = []
        self.names = 0
        self.coefficients: dict[float, int] = {}

    # ---- a line at a time

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
        if self.lanes.whole:
            at = self.let(f"getelementptr ptr, ptr %memory, i64 {list(self.slots.places).index(name)}")
            return self.let(f"getelementptr double, ptr {self.let(f'load ptr, ptr {at}')}, i64 {index}")
        return self.let(f"getelementptr double, ptr %memory, i64 {(self.slots.first(name) + index) * self.lanes.width}")

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

    def table(self, name: str, size: int, index: str) -> str:
        at = self.let(f"getelementptr [{size} x double], ptr @{name}, i64 0, i64 {index}")
        return self.splat(self.let(f"load double, ptr {at}"))

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
        scheme = self.scheme
        self._begin()
        self._stage_loop()
        self._end()
        self._errors()
        attribute = "alwaysinline" if self.lanes.whole else "noinline"
        tables = []
        for name, values in (("scheme.rows", scheme.rows), ("scheme.double", scheme.double_rows), ("scheme.nodes", scheme.nodes)):
            entries = ", ".join(f"double {real(float(x))}" for x in np.ravel(values))
            tables.append(f"@{name} = internal unnamed_addr constant [{np.size(values)} x double] [{entries}]")
        if self.coefficients:
            entries = ", ".join(f"double {real(x)}" for x in self.coefficients)
            tables.append(f"@lockstep_coefficients = global [{len(self.coefficients)} x double] [{entries}]")
        head = f"define internal void @attempt(ptr nonnull %memory, ptr nonnull %shared) {attribute} nounwind {{"
        return "\n".join([*tables, head, "entry:", *self.lines, "  ret void", "}", ""])

    def _begin(self) -> None:
        self.h, self.t, self.t_new = self.load("step"), self.load("t"), self.load("t_new")
        start = self.load("start")
        self.starting = self.let(f"fcmp une {self.lanes.kind} {start}, {self.lanes.zero}")
        self.some_start = self.some(self.starting)
        if self.lanes.own_constants:
            self.constants = self.at("c")
        else:
            self.constants = self.shared("constants")
        self.p, self.work = self.at("p"), self.at("work")
        self.y = {i: self.load("y", i) for i in range(self.model.n_controlled)}

    def _stage_loop(self) -> None:
        """Stages 1 ... s - 1; of a start the first is where it is, the second at the end of a short Euler step."""
        s, zero = self.scheme.stages, self.lanes.zero
        self.h_end = self.select(self.starting, zero, self.h)
        if not self.lanes.whole:  # stage after stage in line: nothing is added that is zero
            for i in range(1, s):
                h = self.h_end
                if i == 2:
                    probe = self.op("fdiv", self.load("trial"), self.lanes.splat(self.scheme.nodes[2]))
                    h = self.select(self.starting, probe, self.h)
                self._stage(i, h, self.lanes.splat(self.scheme.nodes[i]), self.at("k", i * self.model.n_out))
                if i == 1:
                    self._survey(self.some_start, "begun")
            return
        self.lines += ["  br label %stage", "stage:"]
        head = len(self.lines)
        c = self.table("scheme.nodes", s + 1, "%i")
        probe = self.op("fdiv", self.load("trial"), c)
        h = self.select(self.starting, self.select(self._truth_of(self.let("icmp eq i64 %i, 2")), probe, zero), self.h)
        offset = self.let(f"mul i64 %i, {self.model.n_out * self.lanes.width}")
        out = self.let(f"getelementptr double, ptr {self.at('k')}, i64 {offset}")
        self._stage("%i", h, c, out)
        first = self.let("icmp eq i64 %i, 1")
        self._survey(self.let(f"and i1 {first}, {self.some_start}"), "stage.next")
        self.lines += ["  %i.next = add i64 %i, 1", f"  %more = icmp slt i64 %i.next, {s}",
                       "  br i1 %more, label %stage, label %end", "end:"]  # fmt: skip
        self.lines.insert(head, "  %i = phi i64 [ 1, %entry ], [ %i.next, %stage.next ]")

    def _stage(self, i: int | str, h: str, c: str, out: str) -> None:
        """One evaluation inside the step."""
        self._state(i, h, c, "stage")
        t = self.fma(c, h, self.t)
        # no stage looks beyond the end of the step
        t = self.select(self.starting, t, self.select(self.let(f"fcmp olt {self.lanes.kind} {t}, {self.t_new}"), t, self.t_new))
        arguments = f"ptr {self.at('stage')}, ptr {self.p}, ptr {self.constants}, ptr {out}, ptr {self.work}"
        # the first two tell how works set out at a start
        carries = isinstance(i, str) or i <= 2 or bool(self.scheme.rows[self.scheme.stages :, i].any())
        name = "member_rhs" if carries else "member_lean"
        self.lines.append(f"  call void @{name}({self.lanes.kind} {t}, {arguments})")

    def _survey(self, condition: str, after: str) -> None:
        """After the first evaluation, where members start."""
        self.lines += [f"  br i1 {condition}, label %begin, label %{after}", "begin:"]
        arguments = f"ptr {self.at('stage')}, ptr {self.p}, ptr {self.constants}, ptr {self.at('survey')}, ptr {self.work}"
        self.lines.append(f"  call void @member_survey({self.lanes.kind} {self.t}, {arguments})")
        for lane in range(self.lanes.width):
            at = "%memory" if self.lanes.whole else self.let(f"getelementptr double, ptr %memory, i64 {lane}")
            self.lines.append(f"  call void @set_probe(ptr {at}, ptr %shared)")
        self.lines += [f"  br label %{after}", f"{after}:"]

    def _truth_of(self, bit: str) -> str:
        """A truth in all lanes."""
        if self.lanes.width == 1:
            return bit
        kind = self.lanes.truth
        first = self.let(f"insertelement {kind} poison, i1 {bit}, i64 0")
        return self.let(f"shufflevector {kind} {first}, {kind} poison, <{self.lanes.width} x i32> zeroinitializer")

    @cached_property
    def _chaining(self) -> list[int]:
        """Stored rows that are rates of coordinates."""
        m = self.model
        return sorted({m.rows.index(rate) for rate in m.chained if rate >= 0})

    def _sums_in_line(self, row: int) -> tuple[dict[int, str], dict[int, str]]:
        """As `_sums`, term by term; a row without terms is zero."""
        m = self.model
        plain = {r: "" for r in range(len(m.rows))}
        twice = {r: "" for r in self._chaining}
        a, b = self.scheme.rows[row], self.scheme.double_rows[row]
        for j in range(self.scheme.stages + 1):
            if a[j] == 0.0 and b[j] == 0.0:
                continue
            for r in plain:
                rate = self.load("k", j * m.n_out + r)
                if a[j] != 0.0:
                    plain[r] = self._added(plain[r], float(a[j]), rate)
                if b[j] != 0.0 and r in twice:
                    twice[r] = self._added(twice[r], float(b[j]), rate)
        zero = self.lanes.zero
        return {r: x or zero for r, x in plain.items()}, {r: x or zero for r, x in twice.items()}

    def _added(self, total: str, a: float, x: str) -> str:
        factor = self._coefficient(a)
        return self.fma(factor, x, total) if total else self.op("fmul", factor, x)

    def _coefficient(self, a: float) -> str:
        """Read from memory, which is one instruction: a constant in the code takes five on a processor without long ones."""
        if self.lanes.whole:
            return self.lanes.splat(a)
        place = self.coefficients.setdefault(a, len(self.coefficients))
        return self.splat(self.let(f"load double, ptr getelementptr (double, ptr @lockstep_coefficients, i64 {place})"))

    def _sums(self, row: int | str, count: int | str) -> tuple[dict[int, str], dict[int, str]]:
        """Sums over stages j < count of a row's coefficients times stored rates: of all rows; of those that coordinates chain."""
        if not self.lanes.whole:
            assert isinstance(row, int)
            return self._sums_in_line(row)
        m, kind, width = self.model, self.lanes.kind, self.lanes.width
        columns = self.scheme.stages + 1
        self.names += 1
        loop = f"sum{self.names}"
        before = f"{loop}.before"
        first = self.let(f"mul i64 {row}, {columns}")
        base = self.at("k")
        self.lines += [f"  br label %{before}", f"{before}:", f"  br label %{loop}", f"{loop}:",
                       f"  %{loop}.j = phi i64 [ 0, %{before} ], [ %{loop}.n, %{loop} ]"]  # fmt: skip
        plain = {r: f"%{loop}.v{r}" for r in range(len(m.rows))}
        twice = {r: f"%{loop}.q{r}" for r in self._chaining}
        for name in [*plain.values(), *twice.values()]:
            self.lines.append(f"  {name} = phi {kind} [ {self.lanes.zero}, %{before} ], [ {name}.n, %{loop} ]")
        index = self.let(f"add i64 {first}, %{loop}.j")
        size = self.scheme.rows.size
        a = self.table("scheme.rows", size, index)
        b = self.table("scheme.double", size, index) if twice else ""
        stage = self.let(f"mul i64 %{loop}.j, {m.n_out * width}")
        k = self.let(f"getelementptr double, ptr {base}, i64 {stage}")
        for r, name in plain.items():
            at = self.let(f"getelementptr double, ptr {k}, i64 {r * width}")
            rate = self.let(f"load {kind}, ptr {at}, align 8")
            passed = f"{kind} {a}, {kind} {self._unless_zero(a, rate)}, {kind} {name}"
            self.lines.append(f"  {name}.n = call {kind} @llvm.fma.{self.lanes.suffix}({passed})")
            if r in twice:
                passed = f"{kind} {b}, {kind} {self._unless_zero(b, rate)}, {kind} {twice[r]}"
                self.lines.append(f"  {twice[r]}.n = call {kind} @llvm.fma.{self.lanes.suffix}({passed})")
        self.lines += [f"  %{loop}.n = add i64 %{loop}.j, 1", f"  %{loop}.more = icmp slt i64 %{loop}.n, {count}",
                       f"  br i1 %{loop}.more, label %{loop}, label %{loop}.done", f"{loop}.done:"]  # fmt: skip
        return {r: f"{name}.n" for r, name in plain.items()}, {r: f"{name}.n" for r, name in twice.items()}

    def _unless_zero(self, a: str, rate: str) -> str:
        """A rate that counts; beside a coefficient of zero none does, not even one that is inf or nan."""
        return self.select(self.let(f"fcmp une {self.lanes.kind} {a}, {self.lanes.zero}"), rate, self.lanes.zero)

    def _state(self, row: int | str, h: str, c: str, target: str) -> dict[int, str]:
        """The controlled components of a stage or of the end, into `target`."""
        m = self.model
        plain, twice = self._sums(row, row)
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
        """The end of the step: its state, its derivative, the event functions and all else that is judged there."""
        m, s = self.model, self.scheme.stages
        self.y_new = self._state(s, self.h_end, self.lanes.splat(1.0), "y_new")
        t = self.select(self.starting, self.t, self.t_new)
        if self.owner.project is not None:
            self._project(t)
        out = self.at("seen") if self.lanes.whole else self.at("k", s * m.n_out)
        arguments = f"ptr {self.p}, ptr {self.constants}, ptr {out}, ptr {self.work}"
        self.lines.append(f"  call void @member_look({self.lanes.kind} {t}, ptr {self.at('y_new')}, {arguments})")
        if self.lanes.whole:  # elsewhere these stand one behind the other
            targets = [("k", s * m.n_out + r) for r in range(m.n_out)]
            targets += [(name, k) for name in ("g_new", "gd_new", "force", "limit") for k in range(self.slots.places[name][1])]
            for k, (name, index) in enumerate(targets):
                self.store(self.load("seen", k), name, index)

    def _project(self, t: str) -> None:
        """Put the end of the step back on closed loops: Newton steps from so near that two leave nothing but round-off."""
        for _ in range(PROJECTIONS):
            arguments = f"ptr {self.at('y_new')}, ptr {self.p}, ptr {self.constants}, ptr {self.at('projected')}, ptr {self.work}"
            self.lines.append(f"  call void @member_project({self.lanes.kind} {t}, {arguments})")
            for i in range(self.model.n_controlled):
                self.y_new[i] = self.load("projected", i)
                self.store(self.y_new[i], "y_new", i)

    def _carried(self, row: int) -> dict[int, str]:
        """Sums of the rates of what is carried along, by a row of the scheme, whose zeros cost nothing."""
        m, sums = self.model, {}
        coefficients = self.scheme.rows[row]
        used = np.flatnonzero(coefficients).tolist()
        for k in range(m.n_carried):
            total = ""
            for j in used:
                rate = self.load("k", j * m.n_out + len(m.rows) + k)
                total = self._added(total, float(coefficients[j]), rate)
            sums[k] = total
        return sums

    def _errors(self) -> None:
        """The carried components, and the norm of the error; nan or inf where something is not finite."""
        m, s, zero = self.model, self.scheme.stages, self.lanes.zero
        rtol, works = self.splat(self.shared("rtol")), self.load("atol_works")
        atol, added = self.shared("atol"), self._carried(s)
        scales: dict[int, str] = {}
        finite = zero
        for i in range(m.n):
            if i < m.n_controlled:
                old, new = self.y[i], self.y_new[i]
            else:
                old = self.load("y", i)
                new = self.fma(self.h_end, added[i - m.n_controlled], old)
                self.store(new, "y_new", i)
            finite = self.fma(new, zero, finite)
            if i < m.n_controlled + m.n_works:
                size = self._largest(self.call("fabs", old), self.call("fabs", new))
                own = works
                if i < m.n_controlled:
                    at = self.let(f"getelementptr double, ptr {atol}, i64 {i}")
                    own = self.splat(self.let(f"load double, ptr {at}"))
                scales[i] = self.op("fdiv", self.lanes.splat(1.0), self.fma(rtol, size, own))
        for r in range(m.n_out):
            finite = self.fma(self.load("k", s * m.n_out + r), zero, finite)
        sums = [self._squares(s + 1 + k, scales) for k in range(len(self.scheme.tableau.error))]
        mean = self.lanes.splat(float(m.n_controlled))
        if len(sums) == 1:
            error = self.call("sqrt", self.op("fdiv", sums[0], mean))
        else:
            both = self.fma(self.lanes.splat(0.01), sums[1], sums[0])
            error = self.op("fdiv", sums[0], self.call("sqrt", self.op("fmul", both, mean)))
            none = self.let(f"fcmp oeq {self.lanes.kind} {sums[0]}, {zero}")
            error = self.select(none, zero, error)
        error = self._largest(self._mismatch(scales, rtol), error)
        self.store(self.op("fadd", error, finite), "error")

    def _largest(self, a: str, b: str) -> str:
        """The larger one; b where one is nan."""
        return self.select(self.let(f"fcmp ogt {self.lanes.kind} {a}, {b}"), a, b)

    def _squares(self, row: int, scales: dict[int, str]) -> str:
        m = self.model
        plain, twice = self._sums(row, self.scheme.stages + 1)
        carried, total = self._carried(row), self.lanes.zero
        for i, scale in scales.items():
            if i >= m.n_controlled:
                estimate = carried[i - m.n_controlled]
            elif m.chained[i] < 0:
                estimate = plain[m.rows.index(i)]
            else:
                estimate = self.op("fmul", self.h_end, twice[m.rows.index(m.chained[i])])
            share = self.op("fmul", self.op("fmul", self.h_end, estimate), scale)
            total = self.fma(share, share, total)
        return total

    def _mismatch(self, scales: dict[int, str], rtol: str) -> str:
        """How far the derivative at the end is from that of the stage at the same time, times the size of the state.

        See `runge_kutta._mismatch`: below 1 it says nothing.
        """
        m, last, s = self.model, self.scheme.last_stage, self.scheme.stages
        worst = self.lanes.zero
        if last == 0:
            return worst
        for r, i in enumerate(m.rows):
            apart = self.op("fsub", self.load("k", s * m.n_out + r), self.load("k", last * m.n_out + r))
            apart = self.op("fmul", self.op("fmul", self.call("fabs", self.op("fmul", apart, self.h_end)), rtol), scales[i])
            worst = self._largest(apart, worst)
        one = self.let(f"fcmp ogt {self.lanes.kind} {worst}, {self.lanes.splat(1.0)}")
        return self.select(one, worst, self.lanes.zero)
