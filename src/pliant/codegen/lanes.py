"""A linear program as machine code for several directions at a time: values are vectors, coefficients are numbers.

    void kernel(double groups, const double* seeds, const double* coefficients, double* out, double* work)

seeds: (group, row, LANES), out: (group, row, LANES); rows are padded to an even number. A group holds as many directions as a
vector has lanes; each piece of the code processes all groups before the next piece begins, while its instructions are in the cache.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import casadi as ca

from pliant.codegen.emit import KERNEL, ChunkWriter, read_guard
from pliant.codegen.fuse import fuse
from pliant.codegen.guards import ALL_IDLE, ALWAYS, left_out
from pliant.codegen.llvm import MachineCode, object_code_of
from pliant.codegen.operations import FUSED, FUSED_FROM, FUSED_SUB
from pliant.codegen.program import CONSTANT, PARAMETER, STATE, Program
from pliant.codegen.schedule import Block, Chunk, Schedule, make_schedule
from pliant.codegen.sincos import real
from pliant.host.processor import host, load_object

LANES = 4  # directions per vector: two NEON registers or one AVX register
CHUNK_SIZE = 500  # operations
LARGEST_OPTIMISED = 60_000  # operations: above this LLVM translates without optimising

_VECTOR = f"<{LANES} x double>"
_ARITHMETIC = {ca.OP_ADD: "fadd", ca.OP_SUB: "fsub", ca.OP_MUL: "fmul"}
_FMA = f"declare {_VECTOR} @llvm.fma.v{LANES}f64({_VECTOR}, {_VECTOR}, {_VECTOR})"
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
    writer = _KernelWriter(fused, schedule)
    text = writer.text()
    data, from_cache = object_code_of(text, target, int(schedule.written <= min(largest, LARGEST_OPTIMISED)), cache)
    engine = load_object(data, target)
    return MachineCode(engine.get_function_address(KERNEL), program.n_y, program.n_p, len(program.outputs),
                       LANES * schedule.n_work, program.operations, 0.0, from_cache, engine)  # fmt: skip


class _KernelWriter:
    """Writes the kernel: a loop over all groups for each chunk of each block that is not left out."""

    def __init__(self, program: Program, schedule: Schedule) -> None:
        self.program, self.schedule = program, schedule
        self.functions = [_FMA]
        self.lines = ["  %count = fptoui double %groups to i64"]
        self._at = "entry"  # the label that the next branch comes from
        self._names = 0
        self._conditions: dict[int, str] = {}
        self._awake: list[str] = []

    def text(self) -> str:
        blocks = self.schedule.before + self.schedule.after
        if any(block.guards != ALWAYS for block in blocks):
            self._awake = [read_guard(self.lines, place) for place in self.program.guards]
        for block in blocks:
            self._block(block)
        head = [f"define void @{KERNEL}(double %groups, ptr %y, ptr %p, ptr %out, ptr %work) nounwind {{", "entry:"]
        return "\n".join([*self.functions, *head, *self.lines, "  ret void", "}"]) + "\n"

    def _block(self, block: Block) -> None:
        chunks = [piece for piece in block.pieces if isinstance(piece, Chunk)]
        texts = [_chunk_text(self._name("chunk"), self.program, self.schedule.place, chunk) for chunk in chunks]
        if block.guards == ALWAYS:
            for text in texts:
                self._over_groups(text)
            return
        run, skip, done = self._name("run"), self._name("skip"), self._name("done")
        self.lines += [f"  br i1 {self._condition(block.guards)}, label %{run}, label %{skip}", f"{run}:"]
        self._at = run
        for text in texts:
            self._over_groups(text)
        self.lines += [f"  br label %{done}", f"{skip}:"]
        self._at = skip
        if block.zeros_in_work or block.zeros_in_out:
            self._over_groups(_zeros_text(self._name("zeros"), block))
        self.lines += [f"  br label %{done}", f"{done}:"]
        self._at = done

    def _name(self, kind: str) -> str:
        self._names += 1
        return f"{kind}{self._names}"

    def _over_groups(self, function: tuple[str, str]) -> None:
        """Call a function that processes one group, for all groups."""
        name, text = function
        self.functions.append(text)
        k, program = self._name("g"), self.program
        strides = {"y": padded(program.n_y), "out": padded(len(program.outputs)), "work": self.schedule.n_work}
        self.lines += [f"  br label %{k}.loop", f"{k}.loop:", f"  %{k} = phi i64 [ 0, %{self._at} ], [ %{k}.n, %{k}.loop ]"]
        for array, stride in strides.items():
            self.lines.append(f"  %{k}.{array}.o = mul i64 %{k}, {LANES * stride}")
            self.lines.append(f"  %{k}.{array} = getelementptr double, ptr %{array}, i64 %{k}.{array}.o")
        self.lines += [f"  call void @{name}(ptr %{k}.y, ptr %p, ptr %{k}.out, ptr %{k}.work)", f"  %{k}.n = add i64 %{k}, 1",
                       f"  %{k}.m = icmp ult i64 %{k}.n, %count", f"  br i1 %{k}.m, label %{k}.loop, label %{k}.end",
                       f"{k}.end:"]  # fmt: skip
        self._at = f"{k}.end"

    def _condition(self, guards: int) -> str:
        """The i1 that is true if none of these sets of guards is idle."""
        if guards not in self._conditions:
            operation, names = "or", self._awake
            if guards & ~ALL_IDLE:
                operation, names = "and", [name for k, name in enumerate(self._awake) if guards & (2 << k)]
            joined = names[0]
            for name in names[1:]:
                further = f"%{self._name('c')}"
                self.lines.append(f"  {further} = {operation} i1 {joined}, {name}")
                joined = further
            self._conditions[guards] = joined
        return self._conditions[guards]


def _zeros_text(name: str, block: Block) -> tuple[str, str]:
    """A function that writes zeros for the values of a block that was left out."""
    lines = []
    for array, places in (("work", block.zeros_in_work), ("out", block.zeros_in_out)):
        for place in places:
            lines.append(f"  %{array}{place} = getelementptr double, ptr %{array}, i64 {LANES * place}")
            lines.append(f"  store {_VECTOR} zeroinitializer, ptr %{array}{place}, align 8")
    return name, "\n".join([f"define internal void @{name}{_SIGNATURE} noinline nounwind {{", *lines, "  ret void", "}"])


def _chunk_text(name: str, program: Program, place: Sequence[int], chunk: Chunk) -> tuple[str, str]:
    writer = _LanesWriter(program, place)
    own = set(chunk.values)
    for value in chunk.values:
        writer.compute(value)
        writer.write(value, chunk)
    for value in [*chunk.to_work, *chunk.to_out]:
        if value not in own:
            writer.write(value, chunk)
    return name, "\n".join([f"define internal void @{name}{_SIGNATURE} noinline nounwind {{", *writer.lines, "  ret void", "}"])


class _LanesWriter(ChunkWriter):
    """Writes one chunk that operates on vectors; entries of p are numbers, equal in all lanes."""

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
        """The i1 of a coefficient that is a truth value."""
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
