"""The end of an attempt as LLVM text: what is judged there, the error, carried components and a first look at events."""

from __future__ import annotations

from collections.abc import Sequence

from pliant.codegen.guards import ALWAYS
from pliant.integrate.lockstep_events import GAP, NEVER
from pliant.integrate.lockstep_stages import StageWriter

EXTREMES = {"lowest": "olt", "highest": "ogt"}  # of works: names, and comparisons that make a value the new one
PROJECTIONS = 2  # Newton steps at the end of a step, as in `march`


class EndWriter(StageWriter):
    """Writes what follows the stages; if that is a kernel of its own, `_hand_over` and `_resume` lie between."""

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

    def _project(self, t: str) -> None:
        """Projects the end of the step onto the loop constraints; it is so near that two Newton steps leave only round-off."""
        for _ in range(PROJECTIONS):
            self._call("member_project", t, self.ended, self.at("projected"))
            for i in range(self.model.n_controlled):
                self.y_new[i] = self.load("projected", i)
                self.store(self.y_new[i], self.ended, i)
                if self.lanes.whole:
                    self.store(self.y_new[i], "y_new", i)

    # ---- carried components

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

    # ---- the error

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

    # ---- events

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
