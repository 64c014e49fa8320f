"""A start as LLVM text: with new equations, the first step is estimated by two evaluations (Hairer, Norsett, Wanner I, II.4)."""

from __future__ import annotations

from pliant.ensemble.lockstep.stages import StageWriter


class StartWriter(StageWriter):
    """Writes what follows the first and the second evaluation of a start."""

    def _survey(self, condition: str, after: str) -> None:
        """After the first evaluation, if members start: takes its rates and chooses the Euler step to the second one."""
        self.lines += [f"  br i1 {condition}, label %begin, label %{after}", "begin:"]
        self._take_rates(1, "rate", "flow")
        if self.lanes.whole:
            with self._if(self.let(f"fcmp une double {self.load('fresh')}, 0.0")):
                self._measure_energies("surveyed")
        else:
            self._measure_energies("survey")
        scales = self._start_scales()
        slope, size = self.lanes.zero, self.lanes.zero
        for i, scale in scales.items():
            rate, y = self.op("fmul", self._start_rate(i), scale), self.op("fmul", self._start(i), scale)
            slope, size = self.fma(rate, rate, slope), self.fma(y, y, size)
        self._store_for_starts(slope, "slope")
        self._store_for_starts(size, "size")
        self._each_lane("set_probe", "ptr %shared")
        self.lines += [f"  br label %{after}", f"{after}:"]

    def _measure_energies(self, target: str) -> None:
        """Surveys the mechanism where a member sets out, for the tolerance of its works."""
        self._call("member_survey", self.t, "stage", self.at(target))
        if target != "survey":
            for k in range(3 * self.model.n_tips + 3):
                self.store(self.load(target, k), "survey", k)
        self._each_lane("measure_works", "ptr %shared")

    def _bend(self, condition: str, after: str) -> None:
        """After the second evaluation, if members start: takes its rates and estimates how fast they change."""
        self.lines += [f"  br i1 {condition}, label %bend, label %{after}", "bend:"]
        if not self.lanes.whole:
            self._take_rates(2, "rate_new", "flow_new")
        trial, total = self.load("trial"), self.lanes.zero
        for i, scale in self._start_scales().items():
            share = self.op("fmul", self._start_change(i, trial), scale)
            total = self.fma(share, share, total)
        self._store_for_starts(total, "bend")
        self._each_lane("set_bend")
        self.lines += [f"  br label %{after}", f"{after}:"]

    def _take_rates(self, stage: int, rate: str, flow: str) -> None:
        """Makes the rates of a stage those at the start (for members that start) or, for now, those at the end of the step."""
        m = self.model
        for r in range(m.n_out):
            name, index = (rate, r) if r < len(m.rows) else (flow, r - len(m.rows))
            if self.lanes.whole:
                self.store(self._evaluated(stage, r), "k" if name == rate else name, index)
                continue
            value = self.load("k", stage * m.n_out + r)
            if stage == 1:
                value = self.select(self.starting, value, self.load(name, index))
            self.store(value, name, index)

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
        if not self.lanes.whole:
            return self.load("k", stage * self.model.n_out + r)
        return self.load("passing_flow", r - len(self.model.rows)) if r in self.owner.rhs_apart else self.load("out", r)

    def _first_rate(self, r: int) -> str:
        """A rate at the start."""
        rows = len(self.model.rows)
        if not self.lanes.whole:
            return self.load("k", r)
        return self.load("k", r) if r < rows else self.load("flow", r - rows)

    def _each_lane(self, function: str, *arguments: str) -> None:
        for lane in range(self.lanes.width):
            at = self.let(f"getelementptr double, ptr {'%lane' if self.lanes.whole else '%memory'}, i64 {lane}")
            self.lines.append(f"  call void @{function}({', '.join([f'ptr {at}', *arguments])})")
