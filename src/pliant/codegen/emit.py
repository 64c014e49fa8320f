"""A program as LLVM text: one function a chunk, and the kernel that calls them in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from pliant.codegen.operations import (
    ARGUMENTS,
    ARITHMETIC,
    COMPARISONS,
    FUSED,
    FUSED_FROM,
    FUSED_SUB,
    INTRINSICS,
    LIBRARY,
    LOGIC,
    TRUTHS,
)
from pliant.codegen.program import CONSTANT, INPUT, PARAMETER, STATE, TIME, Program
from pliant.codegen.rolled import TABLE, RolledLoop, Stream
from pliant.codegen.schedule import Chunk, Schedule
from pliant.codegen.sincos import batch_text, real

KERNEL = "pliant_kernel"
REACH = 2000  # doubles that an instruction reaches from its pointer, on any processor

# The caller promises that out and work overlap nothing else; y and p are only read and may overlap each other.
_SIGNATURE = (
    "(double %t, ptr noalias nonnull readonly %y, ptr noalias nonnull readonly %p,"
    " ptr noalias nonnull %out, ptr noalias nonnull %work)"
)
_PASSED_ON = "(double %t, ptr %y, ptr %p, ptr %out, ptr %work)"


def emit(program: Program, schedule: Schedule, *, fused: bool) -> str:
    """The text of a module whose KERNEL is `void (double t, double* y, double* p, double* out, double* work)`.

    `fused`: the processor has a fused multiply-add.
    """
    texts: list[str] = []
    loops = LoopFunctions()
    calls: list[list[str]] = [[], []]
    for lines, pieces in zip(calls, (schedule.before, schedule.after), strict=True):
        for piece in pieces:
            if isinstance(piece, Chunk):
                name = f"chunk{len(texts)}"
                texts.append(chunk_text(name, program, schedule, piece))
                lines.append(f"  call void @{name}{_PASSED_ON}")
            else:
                lines += loops.call(piece)
    parts = [*declarations(program), *texts, *loops.texts]
    if schedule.batch:
        parts.append(batch_text(fused))
    parts.append(kernel_text(schedule, calls))
    return "\n".join(parts) + "\n"


def kernel_text(schedule: Schedule, calls: list[list[str]]) -> str:
    before, after = calls
    lines = [f"define void @{KERNEL}{_SIGNATURE} nounwind {{", *before]
    if schedule.batch:
        # Lanes without an angle: what lies in work must not send the angles beside it to the C library, whose last bit differs.
        for k in range(schedule.angles, schedule.batch):
            lines.append(f"  %pad{k} = getelementptr double, ptr %work, i64 {k}")
            lines.append(f"  store double 0.0, ptr %pad{k}")
        lines.append(f"  %sines = getelementptr double, ptr %work, i64 {schedule.batch}")
        lines.append(f"  %cosines = getelementptr double, ptr %work, i64 {2 * schedule.batch}")
        lines.append(f"  call void @sincos_batch(ptr %work, ptr %sines, ptr %cosines, i64 {schedule.batch})")
    return "\n".join([*lines, *after, "  ret void", "}"])


class LoopFunctions:
    """The functions of all loops; those with equal text are one."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._names: dict[str, str] = {}
        self._calls = 0

    def call(self, loop: RolledLoop) -> list[str]:
        """The lines that call a loop."""
        bases = Bases.of(loop)
        text = loop_text(loop, bases)
        name = self._names.get(text)
        if name is None:
            name = self._names[text] = f"loop{len(self._names)}"
            self.texts.append(f"define internal void @{name}{text}")
        self._calls += 1
        lines, passed = [], []
        for k, base in enumerate(bases.each):
            array = f"%{base.array}"
            if base.array == TABLE:
                array = f"@table{self._calls}"
                entries = ", ".join(f"double {real(x)}" for x in loop.table)
                self.texts.append(f"{array} = internal constant [{len(loop.table)} x double] [{entries}]")
            lines.append(f"  %b{self._calls}.{k} = getelementptr double, ptr {array}, i64 {base.first}")
            passed.append(f", ptr %b{self._calls}.{k}")
        return [*lines, f"  call void @{name}(double %t, i64 {loop.count}{''.join(passed)})"]


def loop_text(loop: RolledLoop, bases: Bases) -> str:
    """What follows a loop's name: count blocks, each pointer moved by its stride from one to the next."""
    pointers = [f"%q{k}" for k in range(len(bases.each))]
    writer = LoopWriter(loop, bases)
    writes: dict[int, list[Stream]] = {}
    for value, stream in loop.writes:
        writes.setdefault(value, []).append(stream)
    for value, kind in enumerate(loop.body.kind):
        if kind >= 0:
            writer.compute(value)
        for stream in writes.get(value, ()):
            writer.store(value, stream)
    head = [f"  {q} = phi ptr [ %p{k}, %entry ], [ {q}.next, %block ]" for k, q in enumerate(pointers)]
    moved = [f"  {q}.next = getelementptr double, ptr {q}, i64 {base.stride}"
             for q, base in zip(pointers, bases.each, strict=True)]  # fmt: skip
    return "\n".join([
        f"(double %t, i64 %count{''.join(f', ptr %p{k}' for k in range(len(pointers)))}) noinline nounwind {{",
        "entry:", "  br label %block", "block:", "  %k = phi i64 [ 0, %entry ], [ %k.next, %block ]", *head, *writer.lines, *moved,
        "  %k.next = add i64 %k, 1", "  %more = icmp ult i64 %k.next, %count", "  br i1 %more, label %block, label %done",
        "done:", "  ret void", "}",
    ])  # fmt: skip


@dataclass(frozen=True)
class Bases:
    """The pointers of a loop: streams of one array and stride that begin near each other share one."""

    each: tuple[Stream, ...]
    at: dict[Stream, tuple[int, int]]  # base and offset of every stream

    @staticmethod
    def of(loop: RolledLoop) -> Bases:
        each: list[Stream] = []
        at: dict[Stream, tuple[int, int]] = {}
        streams = {*loop.inputs, *(stream for _, stream in loop.writes)}
        for stream in sorted(streams, key=lambda s: (s.array, s.stride, s.first)):
            near = each and (each[-1].array, each[-1].stride) == (stream.array, stream.stride)
            if not near or stream.first - each[-1].first > REACH:
                each.append(stream)
            at[stream] = len(each) - 1, stream.first - each[-1].first
        return Bases(tuple(each), at)


def declarations(program: Program) -> list[str]:
    """Of the functions that the program calls: LLVM's own, and the C library's."""
    intrinsics = [INTRINSICS[kind] for kind in sorted(set(program.kind)) if kind in INTRINSICS]
    lines = [f"declare double @llvm.{name}.f64({_doubles(name)})" for name in [*intrinsics, "fma"]]
    # Those of the C library depend on their arguments alone; errno is nobody's business.
    pure = "nounwind willreturn memory(none)"
    return lines + [f"declare double @{name}({_doubles(name)}) {pure}" for name in library_functions(program)]


def library_functions(program: Program) -> list[str]:
    """The C library's functions that the program may call; sin and cos always, for the batch."""
    kinds = {*program.kind, ca.OP_SIN, ca.OP_COS}
    return sorted(name for kind, name in LIBRARY.items() if kind in kinds)


def _doubles(name: str) -> str:
    return ", ".join(["double"] * ARGUMENTS.get(name, 1))


def chunk_text(name: str, program: Program, schedule: Schedule, chunk: Chunk) -> str:
    writer = ChunkWriter(program, schedule.place)
    own = set(chunk.values)
    writer.lines.append(f"define internal void @{name}{_SIGNATURE} noinline nounwind {{")
    for value in chunk.values:
        writer.compute(value)
        writer.write(value, chunk)
    for value in [*chunk.to_work, *chunk.to_out]:
        if value not in own:
            writer.write(value, chunk)
    return "\n".join([*writer.lines, "  ret void", "}"])


class ChunkWriter:
    """Writes one chunk; remembers the LLVM name of every value seen, so that each is loaded or computed once."""

    def __init__(self, program: Program, place: Sequence[int]) -> None:
        self.program = program
        self.place = place
        self.lines: list[str] = []
        self.names: dict[int, str] = {}
        self.truths: dict[int, str] = {}  # the i1 of values that are truths

    def compute(self, value: int) -> None:
        kind = self.program.kind[value]
        arguments = [self.name(argument) for argument in self.program.arguments(value)]
        name = self.names[value] = f"%v{value}"
        if kind in ARITHMETIC:
            self.lines.append(f"  {name} = {ARITHMETIC[kind].format(a=arguments[0], b=arguments[-1])}")
        elif kind in FUSED:
            self._fused(kind, name, *arguments)
        elif kind in TRUTHS:
            self._truth(value, arguments)
        elif kind == ca.OP_IF_ELSE_ZERO:
            # A selection, not a product: 0.0 where the condition fails, even if the other side is nan.
            condition = self.truth(self.program.a[value])
            self.lines.append(f"  {name} = select i1 {condition}, double {arguments[1]}, double 0.0")
        elif kind == ca.OP_SIGN:
            self._sign(name, arguments[0])
        else:
            callee = LIBRARY.get(kind) or f"llvm.{INTRINSICS[kind]}.f64"
            passed = ", ".join(f"double {argument}" for argument in arguments)
            self.lines.append(f"  {name} = call double @{callee}({passed})")

    def write(self, value: int, chunk: Chunk) -> None:
        """Put a value where other chunks, the batch and the caller look for it."""
        if value in chunk.to_work:
            self.lines.append(f"  store double {self.name(value)}, ptr {self._address('work', chunk.to_work[value])}")
        for k in chunk.to_out.get(value, ()):
            self.lines.append(f"  store double {self.name(value)}, ptr {self._address('out', k)}")

    def name(self, value: int) -> str:
        """The value's LLVM name, loaded at its first use if this chunk does not compute it."""
        name = self.names.get(value)
        if name is None:
            name = self.names[value] = self._leaf(value)
        return name

    def truth(self, value: int) -> str:
        """The i1 that says whether a value counts as true; nan does."""
        name = self.truths.get(value)
        if name is None:
            name = self.truths[value] = f"%t{value}"
            self.lines.append(f"  {name} = fcmp une double {self.name(value)}, 0.0")
        return name

    def _leaf(self, value: int) -> str:
        kind, index = self.program.kind[value], self.program.a[value]
        if kind == TIME:
            return "%t"
        if kind == CONSTANT:
            return real(self.program.constants[index])
        array, index = {STATE: ("y", index), PARAMETER: ("p", index)}.get(kind) or ("work", self.place[value])
        self.lines.append(f"  %v{value} = load double, ptr {self._address(array, index)}")
        return f"%v{value}"

    def _address(self, array: str, index: int) -> str:
        name = f"%a{len(self.lines)}"
        self.lines.append(f"  {name} = getelementptr double, ptr %{array}, i64 {index}")
        return name

    def _truth(self, value: int, arguments: list[str]) -> None:
        kind, a, b = self.program.kind[value], self.program.a[value], self.program.b[value]
        if kind in COMPARISONS:
            expression = f"fcmp {COMPARISONS[kind]} double {arguments[0]}, {arguments[1]}"
        elif kind in LOGIC:
            expression = f"{LOGIC[kind]} i1 {self.truth(a)}, {self.truth(b)}"
        else:
            expression = f"xor i1 {self.truth(a)}, true"
        self.truths[value] = f"%t{value}"
        self.lines.append(f"  %t{value} = {expression}")
        self.lines.append(f"  %v{value} = uitofp i1 %t{value} to double")

    def _fused(self, kind: int, name: str, a: str, b: str, c: str) -> None:
        if kind == FUSED_SUB:
            c = self._negated(name, c)
        elif kind == FUSED_FROM:
            a = self._negated(name, a)
        self.lines.append(f"  {name} = call double @llvm.fma.f64(double {a}, double {b}, double {c})")

    def _negated(self, name: str, x: str) -> str:
        self.lines.append(f"  {name}.m = fneg double {x}")
        return f"{name}.m"

    def _sign(self, name: str, x: str) -> None:
        """-1, 1, or x itself where it is 0, -0 or nan."""
        self.lines.append(f"  {name}.n = fcmp olt double {x}, 0.0")
        self.lines.append(f"  {name}.p = fcmp ogt double {x}, 0.0")
        self.lines.append(f"  {name}.h = select i1 {name}.p, double 1.0, double {x}")
        self.lines.append(f"  {name} = select i1 {name}.n, double -1.0, double {name}.h")


class LoopWriter(ChunkWriter):
    """Writes one block of a loop, which reads and writes by its pointers."""

    def __init__(self, loop: RolledLoop, bases: Bases) -> None:
        super().__init__(loop.body, ())
        self.inputs, self.bases = loop.inputs, bases

    def store(self, value: int, stream: Stream) -> None:
        self.lines.append(f"  store double {self.name(value)}, ptr {self._at(stream)}")

    def _leaf(self, value: int) -> str:
        if self.program.kind[value] != INPUT:
            return super()._leaf(value)
        self.lines.append(f"  %v{value} = load double, ptr {self._at(self.inputs[self.program.a[value]])}")
        return f"%v{value}"

    def _at(self, stream: Stream) -> str:
        base, offset = self.bases.at[stream]
        return self._address(f"q{base}", offset)
