"""A linear program as machine code for several directions at a time: values are vectors, coefficients are numbers.

    void kernel(double groups, const double* seeds, const double* coefficients, double* out, double* work)

seeds: (group, row, LANES), out: (group, row, LANES); rows are padded to an even number. A group holds as many directions as a
vector has lanes; each piece of the code processes all groups before the next piece begins, while its instructions are in the cache.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from pliant.codegen.block_writer import BlockWriter
from pliant.codegen.chunk_writer import ChunkWriter, Vector
from pliant.codegen.emit import KERNEL
from pliant.codegen.fuse import fuse
from pliant.codegen.guards import left_out
from pliant.codegen.llvm import MachineCode, object_code_of
from pliant.codegen.program import CONSTANT, Program
from pliant.codegen.schedule import Block, Chunk, make_schedule
from pliant.host.processor import host, load_object

LANES = 4  # directions per vector: two NEON registers or one AVX register
CHUNK_SIZE = 500  # operations
LARGEST_OPTIMISED = 60_000  # operations: above this LLVM translates without optimising

VECTOR = Vector(LANES)
_FMA = f"declare {VECTOR.kind} @llvm.fma.{VECTOR.suffix}({', '.join([VECTOR.kind] * 3)})"
_SIGNATURE = (
    "(ptr noalias nonnull readonly %y, ptr noalias nonnull readonly %p, ptr noalias nonnull %out, ptr noalias nonnull %work)"
)


def padded(rows: int) -> int:
    """Number of rows of a group in memory, padding included."""
    return rows + rows % 2


def compile_linear(
    program: Program, zero_coefficients: Mapping[int, int] | None = None, *, cache: Path | None, largest: int = LARGEST_OPTIMISED
) -> MachineCode:
    """Machine code of a linear program; its n_work is the work space of one group.

    zero_coefficients: for entries of p, the sets of guards any one of which, when idle, makes the entry zero; values left out then
    are branched around. largest: number of operations above which LLVM translates without optimising.
    """
    target = host()
    fused = replace(program, kind=[*program.kind], a=[*program.a], b=[*program.b], c=[*program.c])
    if target.fused:
        fuse(fused)
    guards = left_out(fused, zero_coefficients or {}) if fused.guards else None
    schedule = make_schedule(fused, CHUNK_SIZE, roll=False, guards=guards)
    writer = _KernelWriter(fused, schedule, VECTOR)
    text = writer.text()
    data, from_cache = object_code_of(text, target, int(schedule.written <= min(largest, LARGEST_OPTIMISED)), cache)
    engine = load_object(data, target)
    return MachineCode(engine.get_function_address(KERNEL), program.n_y, program.n_p, len(program.outputs),
                       LANES * schedule.n_work, program.operations, 0.0, from_cache, engine)  # fmt: skip


class _KernelWriter(BlockWriter):
    """Writes the kernel: a loop over all groups for each chunk of each block that is not left out."""

    def text(self) -> str:
        self.read_guards()
        self.blocks(self.schedule.before + self.schedule.after)
        head = [f"define void @{KERNEL}(double %groups, ptr %y, ptr %p, ptr %out, ptr %work) nounwind {{", "entry:",
                "  %count = fptoui double %groups to i64"]  # fmt: skip
        return "\n".join([_FMA, *self.texts, *head, *self.lines, "  ret void", "}"]) + "\n"

    def calls(self, block: Block) -> None:
        for piece in block.pieces:
            if isinstance(piece, Chunk):
                self._over_groups(_DirectionsWriter(self.program, self.schedule.place, VECTOR).whole(piece))

    def zeros(self, block: Block) -> None:
        before, self.lines = self.lines, []
        super().zeros(block)
        zeros, self.lines = self.lines, before
        if zeros:
            self._over_groups(zeros)

    def _over_groups(self, lines: list[str]) -> None:
        """Call a function of these lines, which process one group, for all groups."""
        name, k, program = f"piece{len(self.texts)}", f"g{len(self.lines)}", self.program
        self.texts.append("\n".join([f"define internal void @{name}{_SIGNATURE} noinline nounwind {{", *lines, "  ret void", "}"]))
        strides = {"y": padded(program.n_y), "out": padded(len(program.outputs)), "work": self.schedule.n_work}
        self.lines += [f"  br label %{k}.before", f"{k}.before:", f"  br label %{k}.loop", f"{k}.loop:",
                       f"  %{k} = phi i64 [ 0, %{k}.before ], [ %{k}.n, %{k}.loop ]"]  # fmt: skip
        for array, stride in strides.items():
            self.lines.append(f"  %{k}.{array}.o = mul i64 %{k}, {LANES * stride}")
            self.lines.append(f"  %{k}.{array} = getelementptr double, ptr %{array}, i64 %{k}.{array}.o")
        self.lines += [f"  call void @{name}(ptr %{k}.y, ptr %p, ptr %{k}.out, ptr %{k}.work)", f"  %{k}.n = add i64 %{k}, 1",
                       f"  %{k}.m = icmp ult i64 %{k}.n, %count", f"  br i1 %{k}.m, label %{k}.loop, label %{k}.end",
                       f"{k}.end:"]  # fmt: skip


class _DirectionsWriter(ChunkWriter):
    """Writes one chunk that operates on vectors; entries of p are numbers, equal in all lanes."""

    def parameter(self, value: int, index: int) -> str:
        return self.spread(value, "p", index)

    def condition(self, value: int) -> str:
        """Of a coefficient that is a truth value."""
        if self.program.kind[value] == CONSTANT:
            return "i1 true" if self.program.constants[self.program.a[value]] != 0.0 else "i1 false"
        name = self.truths.get(value)
        if name is None:
            name = self.truths[value] = f"%t{value}"
            self.lines.append(f"  {name}.s = load double, ptr {self.number_address('p', self.program.a[value])}")
            self.lines.append(f"  {name} = fcmp une double {name}.s, 0.0")
        return f"i1 {name}"
