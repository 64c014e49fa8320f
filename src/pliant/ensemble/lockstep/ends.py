"""The end of an attempt as LLVM text: what is judged there, the error, carried components and a first look at events."""

from __future__ import annotations

from collections.abc import Sequence

from pliant.codegen.guards import ALWAYS
from pliant.ensemble.lockstep.events import CALM, CUT, FLAG, NEVER, PASSED, STOP, WIDE
from pliant.ensemble.lockstep.stages import StageWriter
from pliant.integrate.loop.judging import PROJECTIONS

EXTREMES = {"lowest": "olt", "highest": "ogt"}  # of works: names, and comparisons that make a value the new one


class EndWriter(StageWriter):
    """Writes what follows the stages."""

    def _arrive(self) -> None:
        """The state at the end of the step."""
        self.ended = "stage" if self.lanes.whole else "y_new"
        self.y_new = self._state(self.scheme.stages, self.h_end, self.lanes.splat(1.0), self.ended)
        if self.lanes.whole:  # a start leaves out later stages, so their places hold anything
            for i, x in self.y_new.items():
                self.y_new[i] = self.select(self.starting, self._old(i), x)
                self.store(self.y_new[i], self.ended, i)
        self.t_end = self.select(self.starting, self.t, self.t_new)
        if self.owner.project is not None:
            self._project(self.t_end)

    def _see(self) -> None:
        """The derivative at the end of the step, the event functions and everything else that is judged there."""
        if self.lanes.whole:
            self._call("member_look", self.t_end, self.ended, self.at("seen"), self.at("seen_awake"))
        else:
            self._call("member_look", self.t_end, self.ended, self.at("k", self.scheme.stages * self.model.n_out))

    def _seen(self, name: str, k: int) -> str:
        """What `look` computed at the end of the step."""
        if not self.lanes.whole:
            return self.load(name, k)
        return self._seen_output(self.owner.seen_first[name] + k)

    def _project(self, t: str) -> None:
        """Projects the end of the step onto the loop constraints."""
        for _ in range(PROJECTIONS):
            self._call("member_project", t, self.ended, self.at("projected"))
            for i in range(self.model.n_controlled):
                self.y_new[i] = self.load("projected", i)
                self.store(self.y_new[i], self.ended, i)

    # ---- carried components

    def _carry_all(self, sums: list[str], finite: str) -> tuple[list[str], str]:
        """Advances the works, then the components without error control."""
        m, works = self.model, self.load("atol_works")
        if self.lanes.whole:
            return self._carry_groups(sums, finite, works)
        for k in range(m.n_carried):
            totals, finite, new = self._carry([k], sums if k < m.n_works else [], finite, works)
            self._store_all([*new.values()], [*new])
            sums = totals or sums
        return sums, finite

    def _carry_groups(self, sums: list[str], finite: str, works: str) -> tuple[list[str], str]:
        """The same, without the components whose guards are idle: they do not change. Those without guards are not stored yet."""
        self.carried_new: dict[tuple[str, int], str] = {}
        for guards, group in self.owner.carried_groups:
            counts = group.start < self.model.n_works
            own = sums if counts else []
            if guards == ALWAYS:
                totals, finite, new = self._carry(group, own, finite, works)
                self.carried_new |= new
            else:
                self.names += 1
                place = f"carrying{self.names}"
                self.lines += [f"  br label %{place}.before", f"{place}.before:"]
                self.lines += [f"  br i1 {self._is_awake(guards)}, label %{place}, label %{place}.after", f"{place}:"]
                totals, after, new = self._carry(group, own, finite, works)
                self._store_all([*new.values()], [*new])
                self.lines += [f"  br label %{place}.after", f"{place}.after:"]
                finite, *totals = [self.let(f"phi double [ {old}, %{place}.before ], [ {new}, %{place} ]")
                                   for old, new in zip([finite, *own], [after, *totals], strict=True)]  # fmt: skip
            sums = totals or sums
        return sums, finite

    def _carry(
        self, group: Sequence[int], sums: list[str], finite: str, works: str
    ) -> tuple[list[str], str, dict[tuple[str, int], str]]:
        """Carried components at the end of the step, and extremes of works until then.

        Errors count if sums of squares are given. All is loaded before anything is computed.
        """
        m, numbers = self.model, dict[tuple[str, int], str]()
        olds = [self.load("y", m.n_controlled + k) for k in group]
        extremes = [[self.load(name, k) for name in EXTREMES] for k in group] if sums else [[]] * len(group)
        for k, old, so_far in zip(group, olds, extremes, strict=True):
            end = self._seen_output(len(m.rows) + k) if self.lanes.whole else self._carried_rate(self.scheme.stages, k)
            change, *errors = self._carried_sums(k, end, bool(sums))
            new = numbers["y_new", m.n_controlled + k] = self.fma(self.h_end, change, old)
            for (name, word), extreme in zip(EXTREMES.items(), so_far, strict=False):
                beyond = self.let(f"fcmp {word} {self.lanes.kind} {new}, {extreme}")
                numbers[f"{name}_new", k] = self.select(beyond, new, extreme)
            finite = self.fma(end, self.lanes.zero, self.fma(new, self.lanes.zero, finite))
            if sums:
                scale = self._scale(old, new, works)
                shares = [self.op("fmul", self.op("fmul", self.h_end, estimate), scale) for estimate in errors]
                sums = [self.fma(share, share, total) for share, total in zip(shares, sums, strict=True)]
        return sums, finite, numbers

    def _carried_sums(self, k: int, end: str, with_errors: bool) -> list[str]:
        """For a carried component: its change over the step, then its error estimates, all divided by h."""
        sums = []
        rates = {j: self._carried_rate(j, k) for j, advances in enumerate(self.scheme.advances[:-1]) if advances}
        for n in range(len(self._weights) if with_errors else 1):
            total = ""
            for j, rate in {**rates, self.scheme.stages: end}.items():
                if self._weights[n, j] != 0.0:
                    total = self._added(total, float(self._weights[n, j]), rate)
            sums.append(total)
        return sums

    # ---- the error

    def _measure(self) -> None:
        """The errors of controlled components in units of their tolerances: sums of squares, one for each estimate."""
        self.rtol = self.splat(self.shared("rtol"))
        atol = self.shared("atol")
        self.scales: dict[int, str] = {}
        self.finite = self.lanes.zero
        for i in range(self.model.n_controlled):
            at = self.let(f"getelementptr double, ptr {atol}, i64 {i}")
            self.scales[i] = self._scale(self._old(i), self.y_new[i], self.splat(self.let(f"load double, ptr {at}")))
            self.finite = self.fma(self.y_new[i], self.lanes.zero, self.finite)
        first = self.scheme.stages + 1
        self.squares = [self._squares(first + k, self.scales) for k in range(len(self.scheme.tableau.error))]

    def _judge_error(self) -> None:
        """Advances the carried components and computes the norm of the error; nan or inf if something is not finite."""
        m, zero, finite = self.model, self.lanes.zero, self.finite
        for r in range(len(m.rows)):
            finite = self.fma(self._rate(self.scheme.stages, r), zero, finite)
        mismatch = self._mismatch(self.scales)
        sums, finite = self._carry_all(self.squares, finite)
        mean = self.lanes.splat(float(m.n_controlled))
        if len(sums) == 1:
            error = self.call("sqrt", self.op("fdiv", sums[0], mean))
        else:
            both = self.fma(self.lanes.splat(0.01), sums[1], sums[0])
            error = self.op("fdiv", sums[0], self.call("sqrt", self.op("fmul", both, mean)))
            none = self.let(f"fcmp oeq {self.lanes.kind} {sums[0]}, {zero}")
            error = self.select(none, zero, error)
        self.error = self.op("fadd", self._largest(mismatch, error), finite)
        self.store(self.error, "error")

    def _scale(self, old: str, new: str, atol: str) -> str:
        """The reciprocal of a component's tolerance."""
        size = self._largest(self.call("fabs", old), self.call("fabs", new))
        return self.op("fdiv", self.lanes.splat(1.0), self.fma(self.rtol, size, atol))

    def _estimate(self, i: int, plain: dict[int, str], twice: dict[int, str]) -> str:
        """The error of a controlled component over h by the sums of a row."""
        m = self.model
        if m.chained[i] < 0:
            return plain[m.rows.index(i)]
        return self.op("fmul", self.h_end, twice[m.rows.index(m.chained[i])])

    def _squares(self, row: int, scales: dict[int, str]) -> str:
        """The sum of squares of the controlled components' errors by a row of the scheme."""
        total = self.lanes.zero
        plain, twice = self._sums(row)
        for i, scale in scales.items():
            share = self.op("fmul", self.op("fmul", self.h_end, self._estimate(i, plain, twice)), scale)
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

    # ---- events

    def _look_for_events(self, error: str) -> None:
        """Finds out whether the step is good and all event functions stay well on their sides; they become the present ones then.

        Otherwise everything is left to `first_event`, which looks more closely.
        """
        kind, zero, sure = self.lanes.kind, self.lanes.zero, self.load("sure")
        good = self.let(f"fcmp ole {kind} {error}, {self.lanes.splat(1.0)}")
        calm = self.select(self._both(good, self._not(self.starting)), self.lanes.splat(CALM), zero)
        for e in self._events:
            before, calm = calm, self._still_calm(e, calm, sure)
            if self.model.events[e].of_contact:
                is_open = self._compare("oeq", self.load("p", self.model.pairs[self.model.events[e].pair].closed), zero)
                calm = self.select(is_open, before, calm)
        good, passed = self._compare("une", calm, zero), self._compare("oeq", calm, self.lanes.splat(PASSED))
        inverse = self.op("fdiv", self.lanes.splat(1.0), self.h)
        for e in self._events:
            ends = {"g": self._seen("g_new", e), "gd": self._seen("gd_new", e)}
            for name, x in {**self._bent(e, inverse, passed), **ends}.items():
                self.store(self.select(good, x, self.load(name, e)), name, e)
        self.store(calm, "calm")

    def _bent(self, e: int, inverse: str, passed: str) -> dict[str, str]:
        """What a step changes that is not judged: the second derivative of an event function, and the side of a corner."""
        gdd, zero = self.op("fmul", self.op("fsub", self._seen("gd_new", e), self.load("gd", e)), inverse), self.lanes.zero
        if self.model.events[e].does != CUT:
            return {"gdd": gdd}
        side = self.load("side", e)
        beyond = self._compare("olt", self.op("fmul", self._seen("g_new", e), side), zero)
        opposite = self.let(f"fneg {self.lanes.kind} {side}")  # there, the curve is another as well
        return {"gdd": self.select(passed, zero, gdd), "side": self.select(beyond, opposite, side)}

    def _still_calm(self, e: int, calm: str, sure: str) -> str:
        """What is known about the step (`calm`) once this event is looked at as well."""
        otherwise = self.lanes.zero
        if self.model.events[e].does == CUT:
            passed = self._both(self._is_passed(e, sure), self._compare("une", calm, self.lanes.zero))
            otherwise = self.select(passed, self.lanes.splat(PASSED), self.lanes.zero)
        return self.select(self._is_calm(e, sure), calm, otherwise)

    def _is_passed(self, e: int, sure: str) -> str:
        return self._of_numbers("is_passed", self.load("side", e), self._seen("g_new", e), self._seen("gd_new", e), self.h, sure)

    def _is_calm(self, e: int, sure: str) -> str:
        """Whether an event function stays well on its side; of one that turns a switch, the step must also resolve it."""
        known = (self.load("g", e), self.load("gd", e), self._seen("g_new", e), self._seen("gd_new", e), self.h, sure)
        fine = self._of_numbers("is_calm", self.load("side", e), *known)
        if self.model.events[e].does not in (FLAG, STOP):
            return fine
        return self._both(fine, self._not(self._of_numbers("is_coarse", *known)))

    def _of_numbers(self, name: str, *x: str) -> str:
        """The answer of a plain function of `events.OF_NUMBERS`."""
        passed = ", ".join(f"{self.lanes.kind} {a}" for a in x)
        return self.let(f"call {self.lanes.truth} @{WIDE}{name}({passed})")

    def _compare(self, word: str, a: str, b: str) -> str:
        return self.let(f"fcmp {word} {self.lanes.kind} {a}, {b}")

    def _both(self, a: str, b: str) -> str:
        return self.let(f"and {self.lanes.truth} {a}, {b}")

    @property
    def _events(self) -> list[int]:
        """Events that may be watched."""
        return [e for e, event in enumerate(self.model.events) if event.does != NEVER]
