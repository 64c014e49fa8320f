"""A program as LLVM text: one function per chunk, and the kernel that calls the chunks in order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import casadi as ca

from pliant.codegen.block_writer import BlockWriter
from pliant.codegen.blocks import Batch
from pliant.codegen.chunk_writer import ChunkWriter
from pliant.codegen.guards import ALL_IDLE
from pliant.codegen.operations import ARGUMENTS, INTRINSICS, LIBRARY
from pliant.codegen.program import INPUT, Program
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


class KernelWriter(BlockWriter):
    """Writes the lines of the kernel itself."""

    def __init__(self, program: Program, schedule: Schedule) -> None:
        super().__init__(program, schedule)
        self.loops = LoopFunctions()
        self.read_guards()

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
            self.lines.append(f"  {count} = select i1 {self.condition(ALL_IDLE)}, i64 {batch.padded}, i64 {batch.always}")
        self.lines.append(f"  call void @{BATCH}(ptr %work, ptr %sines, ptr %cosines, i64 {count})")

    def zeros(self, block: Block) -> None:
        for array, places in self.left_out(block):
            for first, stride, count in progressions(places):
                if count == 1:
                    self.zero(array, first)
                    continue
                name = f"%z{len(self.lines)}"
                self.lines.append(f"  {name} = getelementptr double, ptr %{array}, i64 {first}")
                self.lines.append(f"  call void @zeros(ptr {name}, i64 {stride}, i64 {count})")

    def calls(self, block: Block) -> None:
        for piece in block.pieces:
            if isinstance(piece, Chunk):
                name = f"chunk{len(self.texts)}"
                self.texts.append(chunk_text(name, self.program, self.schedule, piece))
                self.lines.append(f"  call void @{name}{_PASSED_ON}")
            else:
                self.lines += self.loops.call(piece)


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
            writer.put(value, stream)
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


def library_functions(program: Program) -> list[str]:
    """The C library's functions that the program may call; sin and cos always, for the batch."""
    kinds = {*program.kind, ca.OP_SIN, ca.OP_COS}
    return sorted(name for kind, name in LIBRARY.items() if kind in kinds)


def _doubles(name: str) -> str:
    return ", ".join(["double"] * ARGUMENTS.get(name, 1))


def chunk_text(name: str, program: Program, schedule: Schedule, chunk: Chunk) -> str:
    lines = ChunkWriter(program, schedule.place).whole(chunk)
    return "\n".join([f"define internal void @{name}{_SIGNATURE} noinline nounwind {{", *lines, "  ret void", "}"])


class LoopWriter(ChunkWriter):
    """Writes one block of a loop, which reads and writes through its pointers."""

    def __init__(self, loop: RolledLoop, bases: Bases) -> None:
        super().__init__(loop.body, ())
        self.inputs, self.bases = loop.inputs, bases

    def put(self, value: int, stream: Stream) -> None:
        self.store(value, *self._at(stream))

    def leaf(self, value: int) -> str:
        if self.program.kind[value] != INPUT:
            return super().leaf(value)
        return self.loaded(value, *self._at(self.inputs[self.program.a[value]]))

    def _at(self, stream: Stream) -> tuple[str, int]:
        base, offset = self.bases.at[stream]
        return f"q{base}", offset
