"""A program as LLVM text: one function per chunk, and the kernel that calls the chunks in order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import casadi as ca

from pliant.codegen.blocks import Batch
from pliant.codegen.guards import ALL_IDLE, ALWAYS
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
from pliant.codegen.schedule import Block, Chunk, Schedule
from pliant.codegen.series import FIND_PIECE, fill
from pliant.codegen.sincos import BATCH, real

KERNEL = "pliant_kernel"
REACH = 2000  # doubles within reach of an instruction's offset from its pointer, on any processor

FEWEST_ZEROS = 16  # smallest number of zeros that are written by a loop

ZEROS = """define internal void @zeros(ptr %first, i64 %stride, i64 %count) noinline nounwind {
entry:
  br label %one
one:
  %k = phi i64 [ 0, %entry ], [ %k.next, %one ]
  %at = phi ptr [ %first, %entry ], [ %at.next, %one ]
  store double 0.0, ptr %at
  %at.next = getelementptr double, ptr %at, i64 %stride
  %k.next = add i64 %k, 1
  %more = icmp ult i64 %k.next, %count
  br i1 %more, label %one, label %done
done:
  ret void
}"""

# The caller promises that out and work overlap nothing else; y and p are only read and may overlap each other.
_SIGNATURE = (
    "(double %t, ptr noalias nonnull readonly %y, ptr noalias nonnull readonly %p,"
    " ptr noalias nonnull %out, ptr noalias nonnull %work)"
)
_FILLED = _SIGNATURE.replace("readonly %p", "%p")  # of a kernel that puts the pieces of series into p first
_PASSED_ON = "(double %t, ptr %y, ptr %p, ptr %out, ptr %work)"


def emit(program: Program, schedule: Schedule, series: Sequence[int] = ()) -> str:
    """The text of a module whose KERNEL is `void (double t, double* y, double* p, double* out, double* work)`.

    series: entries of p where the pieces of series go.
    """
    writer = KernelWriter(program, schedule)
    writer.blocks(schedule.before)
    if schedule.batch.angles:
        writer.batch(schedule.batch)
    writer.blocks(schedule.after)
    parts = [*declarations(program), *writer.texts, *writer.loops.texts]
    if schedule.batch.angles:
        parts.append(f"declare void @{BATCH}(ptr, ptr, ptr, i64) nounwind")
    if any("@zeros(" in line for line in writer.lines):
        parts.append(ZEROS)
    parts += [FIND_PIECE] if series else []
    lines = [*fill(series), *writer.lines]
    parts.append("\n".join([f"define void @{KERNEL}{_FILLED if series else _SIGNATURE} nounwind {{", "entry:", *lines, "  ret void",
                            "}"]))  # fmt: skip
    return "\n".join(parts) + "\n"


class KernelWriter:
    """Writes the lines of the kernel itself: calls of all pieces, and branches around those that may be left out."""

    def __init__(self, program: Program, schedule: Schedule) -> None:
        self.program, self.schedule = program, schedule
        self.texts: list[str] = []  # texts of the chunks
        self.loops = LoopFunctions()
        self.lines: list[str] = []
        self._conditions: dict[int, str] = {}
        self._awake: list[str] = []
        if any(block.guards != ALWAYS for block in schedule.before + schedule.after):
            self._awake = [read_guard(self.lines, place) for place in program.guards]

    def blocks(self, blocks: Sequence[Block]) -> None:
        for block in blocks:
            if block.guards == ALWAYS:
                self._calls(block)
            else:
                self._guarded(block)

    def batch(self, batch: Batch) -> None:
        # Zero the padding: stale values in work could send neighbouring angles to the C library, whose last bit differs.
        for k in batch.pads:
            self.lines.append(f"  %pad{k} = getelementptr double, ptr %work, i64 {k}")
            self.lines.append(f"  store double 0.0, ptr %pad{k}")
        self.lines.append(f"  %sines = getelementptr double, ptr %work, i64 {batch.padded}")
        self.lines.append(f"  %cosines = getelementptr double, ptr %work, i64 {2 * batch.padded}")
        count = str(batch.padded)
        if batch.always < batch.padded:
            count = "%angles"
            self.lines.append(f"  {count} = select i1 {self._condition(ALL_IDLE)}, i64 {batch.padded}, i64 {batch.always}")
        self.lines.append(f"  call void @{BATCH}(ptr %work, ptr %sines, ptr %cosines, i64 {count})")

    def _guarded(self, block: Block) -> None:
        condition, k = self._condition(block.guards), len(self.lines)
        self.lines += [f"  br i1 {condition}, label %run{k}, label %skip{k}", f"run{k}:"]
        self._calls(block)
        self.lines += [f"  br label %done{k}", f"skip{k}:"]
        self._zeros("work", block.zeros_in_work)
        self._zeros("out", block.zeros_in_out)
        self.lines += [f"  br label %done{k}", f"done{k}:"]

    def _zeros(self, array: str, places: list[int]) -> None:
        for first, stride, count in progressions(places):
            name = f"%z{len(self.lines)}"
            self.lines.append(f"  {name} = getelementptr double, ptr %{array}, i64 {first}")
            if count == 1:
                self.lines.append(f"  store double 0.0, ptr {name}")
            else:
                self.lines.append(f"  call void @zeros(ptr {name}, i64 {stride}, i64 {count})")

    def _calls(self, block: Block) -> None:
        for piece in block.pieces:
            if isinstance(piece, Chunk):
                name = f"chunk{len(self.texts)}"
                self.texts.append(chunk_text(name, self.program, self.schedule, piece))
                self.lines.append(f"  call void @{name}{_PASSED_ON}")
            else:
                self.lines += self.loops.call(piece)

    def _condition(self, guards: int) -> str:
        """The i1 that is true if none of these sets of guards is idle."""
        if guards not in self._conditions:
            if guards == ALL_IDLE:
                joined = self._joined("or", self._awake)
            else:
                joined = self._joined("and", [name for k, name in enumerate(self._awake) if guards & (2 << k)])
            self._conditions[guards] = joined
        return self._conditions[guards]

    def _joined(self, operation: str, names: Sequence[str]) -> str:
        joined = names[0]
        for name in names[1:]:
            self.lines.append(f"  %c{len(self.lines)} = {operation} i1 {joined}, {name}")
            joined = f"%c{len(self.lines) - 1}"
        return joined


def progressions(places: list[int]) -> Iterator[tuple[int, int, int]]:
    """(first, stride, count) of long stretches of equal stride; all other indices are listed singly."""
    k = 0
    while k < len(places):
        stride = places[k + 1] - places[k] if k + 1 < len(places) else 1
        count = 1
        while k + count < len(places) and places[k + count] - places[k + count - 1] == stride:
            count += 1
        if count < FEWEST_ZEROS:
            stride = count = 1
        yield places[k], stride, count
        k += count


class LoopFunctions:
    """The functions of all loops; loops with equal text share one function."""

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
    """The text after a loop's name: `count` blocks; each pointer advances by its stride from block to block."""
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
    """The pointers of a loop: streams of the same array and stride that begin near each other share a pointer."""

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
    """Declarations of the functions that the program calls: LLVM intrinsics and functions of the C library."""
    intrinsics = [INTRINSICS[kind] for kind in sorted(set(program.kind)) if kind in INTRINSICS]
    lines = [f"declare double @llvm.{name}.f64({_doubles(name)})" for name in [*intrinsics, "fma"]]
    # Functions of the C library depend on their arguments alone; nobody reads errno.
    pure = "nounwind willreturn memory(none)"
    return lines + [f"declare double @{name}({_doubles(name)}) {pure}" for name in library_functions(program)]


def read_guard(lines: list[str], place: int) -> str:
    """The i1 that is true if an entry of p is not zero; the entry is read once."""
    name = f"%awake{place}"
    lines.append(f"  {name}.at = getelementptr double, ptr %p, i64 {place}")
    lines.append(f"  {name}.value = load double, ptr {name}.at")
    lines.append(f"  {name} = fcmp une double {name}.value, 0.0")
    return name


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
        self.truths: dict[int, str] = {}  # the i1 names of truth values

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
        """Store a value where other chunks, the batch and the caller read it."""
        if value in chunk.to_work:
            self.lines.append(f"  store double {self.name(value)}, ptr {self._address('work', chunk.to_work[value])}")
        for k in chunk.to_out.get(value, ()):
            self.lines.append(f"  store double {self.name(value)}, ptr {self._address('out', k)}")

    def name(self, value: int) -> str:
        """The LLVM name of a value; it is loaded at its first use if this chunk does not compute it."""
        name = self.names.get(value)
        if name is None:
            name = self.names[value] = self._leaf(value)
        return name

    def truth(self, value: int) -> str:
        """The i1 that says whether a value counts as true; nan counts as true."""
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
    """Writes one block of a loop, which reads and writes through its pointers."""

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
