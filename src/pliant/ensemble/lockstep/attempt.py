"""The lock-step loop for this processor as LLVM text: attempts on vectors of members, judged one member at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pliant.codegen.plain import plain_text
from pliant.codegen.sincos import real
from pliant.ensemble.lockstep.ends import EndWriter
from pliant.ensemble.lockstep.judge import JUDGES
from pliant.ensemble.lockstep.starts import StartWriter

if TYPE_CHECKING:
    from pliant.ensemble.lockstep.text import LockstepText

HOST_ENTRY = "lockstep_members"


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


def host_text(text: LockstepText) -> str:
    """`void HOST_ENTRY(ptr shared, ptr memory)`: runs members from the queue until none is left."""
    width = text.lanes.width
    active = text.slots.first("active") * width
    lines = [f"define void @{HOST_ENTRY}(ptr %shared, ptr %memory) nounwind {{", "entry:"]
    for lane in range(width):
        lines += [f"  %lane{lane} = getelementptr double, ptr %memory, i64 {lane}",
                  f"  call void @take(ptr %lane{lane}, ptr %shared)"]  # fmt: skip
    lines += ["  br label %test", "test:"]
    total = "0.0"
    for lane in range(width):
        lines += [f"  %at{lane} = getelementptr double, ptr %memory, i64 {active + lane}",
                  f"  %active{lane} = load double, ptr %at{lane}",
                  f"  %sum{lane} = fadd double %active{lane}, {total}"]  # fmt: skip
        total = f"%sum{lane}"
    lines += [f"  %some = fcmp une double {total}, 0.0", "  br i1 %some, label %go, label %done", "go:",
              "  call void @attempt(ptr %memory, ptr %shared)"]  # fmt: skip
    lines += [f"  call void @judge(ptr %lane{lane}, ptr %shared)" for lane in range(width)]
    lines += ["  br label %test", "done:", "  ret void", "}"]
    judges = plain_text(JUDGES, text.setting(text.slots))
    return "\n".join([*text.parts(), judges, AttemptWriter(text).text(), *lines, ""])
