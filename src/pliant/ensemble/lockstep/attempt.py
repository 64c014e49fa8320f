"""One attempt of a lock-step loop as LLVM text: for every lane, all stages of a step, its end and its error."""

from __future__ import annotations

from pliant.codegen.sincos import real
from pliant.ensemble.lockstep.ends import EndWriter
from pliant.ensemble.lockstep.starts import StartWriter


class AttemptWriter(StartWriter, EndWriter):
    """Writes `void attempt(ptr memory, ptr shared)`: for every lane, all stages of a step or of a start, its end and its error."""

    def text(self) -> str:
        self._set_out()
        self.y = {i: self.load("y", i) for i in range(self.model.n_controlled)}
        self._stages(self.some(self.starting))
        self._arrive()
        self._see()
        self._measure()
        self._judge_error()
        self._look_for_events(self.error)
        head = "define internal void @attempt(ptr nonnull %memory, ptr nonnull %shared) noinline nounwind {"
        entries = ", ".join(f"double {real(x)}" for x in self.coefficients)
        table = f"@lockstep_coefficients = global [{len(self.coefficients)} x double] [{entries}]"
        return "\n".join([table, head, "entry:", *self.lines, "  ret void", "}", ""])

    def _stages(self, some_start: str) -> None:
        """Stages 1 ... s - 1, unrolled, so that zero terms are left out.

        For a start, the first is at the present state, the second at the end of a short Euler step.
        """
        for i in range(1, self.scheme.stages):
            h = self.h_end
            if i == 2:
                probe = self.op("fdiv", self.load("trial"), self.lanes.splat(self.scheme.nodes[2]))
                h = self.select(self.starting, probe, self.h)
            self._stage(i, h, self.lanes.splat(self.scheme.nodes[i]), self.at("k", i * self.model.n_out))
            if i == 1:
                self._survey(some_start, "surveyed")
            if i == 2:
                self._bend(some_start, "begun")
