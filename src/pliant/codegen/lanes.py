"""A linear program as machine code on several directions at a time: every value of it is a vector, every coefficient a number.

    void kernel(double groups, const double* seeds, const double* coefficients, double* out, double* work)

seeds: (group, row, LANES), out: (group, row, LANES); rows are filled up to an even number. A group is as many directions as a vector
has lanes; each piece of the code goes over all groups before the next piece begins, while its instructions are at hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import casadi as ca

from pliant.codegen.emit import KERNEL, ChunkWriter
from pliant.codegen.fuse import fuse
from pliant.codegen.llvm import MachineCode, object_code_of
from pliant.codegen.operations import FUSED, FUSED_FROM, FUSED_SUB
from pliant.codegen.program import CONSTANT, PARAMETER, STATE, Program
from pliant.codegen.schedule import Chunk, make_schedule
from pliant.codegen.sincos import real
from pliant.host.processor import host, load_object

LANES = 4  # directions in a vector: two registers of NEON or one of AVX
CHUNK_SIZE = 500  # operations
LARGEST_OPTIMISED = 60_000  # operations: beyond them LLVM only translates

_VECTOR = f"<{LANES} x double>"
_ARITHMETIC = {ca.OP_ADD: "fadd", ca.OP_SUB: "fsub", ca.OP_MUL: "fmul"}
_FMA = f"declare {_VECTOR} @llvm.fma.v{LANES}f64({_VECTOR}, {_VECTOR}, {_VECTOR})"
_SIGNATURE = (
    "(ptr noalias nonnull readonly %y, ptr noalias nonnull readonly %p, ptr noalias nonnull %out, ptr noalias nonnull %work)"
)


def padded(rows: int) -> int:
    """Rows of a group in memory."""
    return rows + rows % 2


def compile_linear(program: Program, *, cache: Path | None) -> MachineCode:
    """Machine code of a linear program; n_work is that of one group."""
    target = host()
    fused = replace(program, kind=[*program.kind], a=[*program.a], b=[*program.b], c=[*program.c])
    if target.fused:
        fuse(fused)
    schedule = make_schedule(fused, CHUNK_SIZE, roll=False)
    texts = [_FMA]
    chunks = schedule.chunks
    texts += [_chunk_text(f"chunk{k}", fused, schedule.place, chunk) for k, chunk in enumerate(chunks)]
    strides = (padded(program.n_y), padded(len(program.outputs)), schedule.n_work)
    text = "\n".join([*texts, _kernel_text(len(chunks), strides)]) + "\n"
    data, from_cache = object_code_of(text, target, int(schedule.written <= LARGEST_OPTIMISED), cache)
    engine = load_object(data, target)
    return MachineCode(engine.get_function_address(KERNEL), program.n_y, program.n_p, len(program.outputs),
                       LANES * schedule.n_work, program.operations, 0.0, from_cache, engine)  # fmt: skip


def _kernel_text(chunks: int, strides: tuple[int, int, int]) -> str:
    """For every chunk: for every group."""
    lines = [f"define void @{KERNEL}(double %groups, ptr %y, ptr %p, ptr %out, ptr %work) nounwind {{", "entry:",
             "  %count = fptoui double %groups to i64", "  br label %loop0"]  # fmt: skip
    before = "entry"
    for k in range(chunks):
        lines += [f"loop{k}:", f"  %g{k} = phi i64 [ 0, %{before} ], [ %n{k}, %loop{k} ]"]
        for name, stride in zip(("y", "out", "work"), strides, strict=True):
            lines.append(f"  %{name}{k}.o = mul i64 %g{k}, {LANES * stride}")
            lines.append(f"  %{name}{k} = getelementptr double, ptr %{name}, i64 %{name}{k}.o")
        lines += [f"  call void @chunk{k}(ptr %y{k}, ptr %p, ptr %out{k}, ptr %work{k})", f"  %n{k} = add i64 %g{k}, 1",
                  f"  %m{k} = icmp ult i64 %n{k}, %count", f"  br i1 %m{k}, label %loop{k}, label %loop{k + 1}"]  # fmt: skip
        before = f"loop{k}"
    return "\n".join([*lines, f"loop{chunks}:", "  ret void", "}"])


def _chunk_text(name: str, program: Program, place: Sequence[int], chunk: Chunk) -> str:
    writer = _LanesWriter(program, place)
    own = set(chunk.values)
    for value in chunk.values:
        writer.compute(value)
        writer.write(value, chunk)
    for value in [*chunk.to_work, *chunk.to_out]:
        if value not in own:
            writer.write(value, chunk)
    return "\n".join([f"define internal void @{name}{_SIGNATURE} noinline nounwind {{", *writer.lines, "  ret void", "}"])


class _LanesWriter(ChunkWriter):
    """Writes one chunk on vectors; entries of p are numbers, and the same in all lanes."""

    def compute(self, value: int) -> None:
        kind, program = self.program.kind[value], self.program
        name = f"%v{value}"
        if kind == ca.OP_IF_ELSE_ZERO:
            condition, x = self._condition(program.a[value]), self.name(program.b[value])
            self.lines.append(f"  {name} = select i1 {condition}, {_VECTOR} {x}, {_VECTOR} zeroinitializer")
        elif kind == ca.OP_NEG:
            self.lines.append(f"  {name} = fneg {_VECTOR} {self.name(program.a[value])}")
        else:
            arguments = [self.name(argument) for argument in program.arguments(value)]
            if kind in FUSED:
                self._fused(kind, name, *arguments)
            else:
                self.lines.append(f"  {name} = {_ARITHMETIC[kind]} {_VECTOR} {arguments[0]}, {arguments[-1]}")
        self.names[value] = name

    def write(self, value: int, chunk: Chunk) -> None:
        if value in chunk.to_work:
            address = self._address("work", LANES * chunk.to_work[value])
            self.lines.append(f"  store {_VECTOR} {self.name(value)}, ptr {address}, align 8")
        for k in chunk.to_out.get(value, ()):
            self.lines.append(f"  store {_VECTOR} {self.name(value)}, ptr {self._address('out', LANES * k)}, align 8")

    def _leaf(self, value: int) -> str:
        kind, index, name = self.program.kind[value], self.program.a[value], f"%v{value}"
        if kind == CONSTANT:
            return f"splat (double {real(self.program.constants[index])})"
        if kind == PARAMETER:
            self.lines.append(f"  {name}.s = load double, ptr {self._address('p', index)}")
            self.lines.append(f"  {name}.i = insertelement {_VECTOR} poison, double {name}.s, i64 0")
            every = f"<{LANES} x i32> zeroinitializer"
            self.lines.append(f"  {name} = shufflevector {_VECTOR} {name}.i, {_VECTOR} poison, {every}")
            return name
        array, place = ("y", index) if kind == STATE else ("work", self.place[value])
        self.lines.append(f"  {name} = load {_VECTOR}, ptr {self._address(array, LANES * place)}, align 8")
        return name

    def _condition(self, value: int) -> str:
        """The i1 of a coefficient that is a truth."""
        if self.program.kind[value] == CONSTANT:
            return "true" if self.program.constants[self.program.a[value]] != 0.0 else "false"
        name = self.truths.get(value)
        if name is None:
            name = self.truths[value] = f"%t{value}"
            address = self._address("p", self.program.a[value])
            self.lines.append(f"  {name}.s = load double, ptr {address}")
            self.lines.append(f"  {name} = fcmp une double {name}.s, 0.0")
        return name

    def _fused(self, kind: int, name: str, a: str, b: str, c: str) -> None:
        if kind == FUSED_SUB:
            c = self._negated(name, c)
        elif kind == FUSED_FROM:
            a = self._negated(name, a)
        passed = ", ".join(f"{_VECTOR} {x}" for x in (a, b, c))
        self.lines.append(f"  {name} = call {_VECTOR} @llvm.fma.v{LANES}f64({passed})")

    def _negated(self, name: str, x: str) -> str:
        self.lines.append(f"  {name}.m = fneg {_VECTOR} {x}")
        return f"{name}.m"
