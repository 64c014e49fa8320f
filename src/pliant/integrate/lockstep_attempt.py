"""One attempt of a lock-step loop as LLVM text: for every lane, all stages of a step, its end and its error."""

from __future__ import annotations

from collections.abc import Sequence

from pliant.codegen.sincos import real
from pliant.integrate.lockstep_ends import EndWriter
from pliant.integrate.lockstep_gpu import CONSTANT_SPACE, TOGETHER
from pliant.integrate.lockstep_starts import StartWriter

START_STAGES = 2  # stages that a start needs


class AttemptWriter(StartWriter, EndWriter):
    """Writes `void attempt(ptr memory, ptr shared)`: for every lane, all stages of a step or of a start, its end and its error.

    If everything is inlined, it has two parts that different kernels call: `attempt_stages` and `attempt_end`.
    """

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
        return [constant_table(f"scheme.{name}", *table, CONSTANT_SPACE) for name, table in tables.items()]

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
            TOGETHER,
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


def constant_table(name: str, kind: str, entries: Sequence[float], space: int) -> str:
    listed = ", ".join(f"{kind} {real(float(x)) if kind == 'double' else int(x)}" for x in entries)
    return f"@{name} = internal addrspace({space}) constant [{len(entries)} x {kind}] [{listed}]"
