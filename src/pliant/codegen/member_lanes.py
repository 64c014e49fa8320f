"""A program evaluated for several members of an ensemble at a time: every value is a vector with an entry per member, or a number.

    void name(T t, ptr y, ptr p, ptr c, ptr out, ptr work [, i64 awake, ptr apart]),  T = <width x double>, or double for one member

Entry i of y, out and work is at i times the width. The entries of p that events change are in `p`; the constants of the model,
which follow them in p elsewhere, are in `c`, as numbers that all members share or as vectors. If everything is inlined, `awake` has
a bit for each guard that is not idle, and some outputs that are zero otherwise are in `apart`. Sines are computed by `SINES` below
and other functions by `own_functions`, so that the same text serves any processor and a GPU.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from pliant.codegen.angle_sums import add_angles
from pliant.codegen.block_writer import BlockWriter
from pliant.codegen.chunk_writer import ChunkWriter, Vector
from pliant.codegen.fuse import fuse
from pliant.codegen.guards import ALL_IDLE, ALWAYS, guard_bit
from pliant.codegen.operations import ARGUMENTS, LIBRARY
from pliant.codegen.program import ABSORBED, Program
from pliant.codegen.reciprocals import share_reciprocals
from pliant.codegen.repeats import Columns
from pliant.codegen.schedule import Block, Chunk, Schedule, make_schedule
from pliant.codegen.sincos import WIDTH, near_text

SINES = "member_sincos"  # void (ptr x, ptr sines, ptr cosines)
AT_ONCE = WIDTH  # angles whose sines are computed together to hide latencies: their number is padded to a multiple of it


@dataclass(frozen=True)
class Lanes(Vector):
    """How many members a vector holds, and whether everything becomes one function."""

    own_constants: bool  # every member has its own constants
    whole: bool = False  # everything inlined, as a GPU needs it: no calls, and arrays only in registers
    chunk_size: int = 1000


@dataclass(frozen=True)
class MemberProgram:
    """A program prepared for lanes."""

    program: Program
    schedule: Schedule
    n_changing: int  # entries of p that events change

    @classmethod
    def of(cls, program: Program, n_changing: int, lanes: Lanes, first: int | None = None) -> MemberProgram:
        """first: keep only this many outputs, with the same bits as in the whole program."""
        copy = replace(program, kind=[*program.kind], a=[*program.a], b=[*program.b], c=[*program.c])
        ready = add_angles(share_reciprocals(copy))
        fuse(ready)
        if first is not None:
            _leave_out(ready, first)
        size = 10**9 if lanes.whole else lanes.chunk_size
        return cls(ready, make_schedule(ready, size, roll=False), n_changing)

    @property
    def n_work(self) -> int:
        return max(self.schedule.n_work, 1)

    @property
    def guards_of_outputs(self) -> list[int]:
        """By output: the guards of the block that writes it, and without which it is zero."""
        guards = [ALWAYS] * len(self.program.outputs)
        for block in self.schedule.before + self.schedule.after:
            for place in block.zeros_in_out:
                guards[place] = block.guards
        return guards

    @property
    def library(self) -> set[str]:
        """The functions of `own_functions` that the program calls."""
        sines = set(self.schedule.batch.sines(Columns.of(self.program)))
        return {LIBRARY[kind] for value, kind in enumerate(self.program.kind) if kind in LIBRARY and value not in sines}


def _leave_out(program: Program, first: int) -> None:
    """Removes everything that only later outputs need; operations stay fused as in the whole program."""
    program.outputs = program.outputs[:first]
    needed = program.needed()
    for value, kind in enumerate(program.kind):
        if kind >= 0 and value not in needed:
            program.kind[value] = ABSORBED


def intrinsics(lanes: Lanes) -> str:
    """Declarations of LLVM's own functions on vectors."""
    kind, lines = lanes.kind, []
    for name in ("fma", "fabs", "sqrt", "floor", "ceil", "minnum", "maxnum", "copysign"):
        passed = ", ".join([kind] * ARGUMENTS.get(name, 1))
        lines.append(f"declare {kind} @llvm.{name}.{lanes.suffix}({passed})")
    return "\n".join(lines) + "\n"


def declared_at_once(lanes: Lanes) -> str:
    if lanes.whole:
        return ""
    width = lanes.width * AT_ONCE
    kind = f"<{width} x double>"
    return f"declare {kind} @llvm.fma.v{width}f64({kind}, {kind}, {kind})\ndeclare {kind} @llvm.fabs.v{width}f64({kind})\n"


def sines_text(lanes: Lanes) -> str:
    """Sines and cosines of one vector; arguments outside the method's range give nan, which ends their member's run."""
    width = lanes.width * (1 if lanes.whole else AT_ONCE)
    return declared_at_once(lanes) + near_text(SINES, width, "alwaysinline" if lanes.whole else "")


def member_text(name: str, member: MemberProgram, lanes: Lanes, apart: frozenset[int] = frozenset()) -> str:
    """The functions of a program. apart: outputs that are written to `apart` instead of `out`, and not at all while idle."""
    return _MemberWriter(name, member, lanes, apart).text()


class _MemberWriter(BlockWriter):
    def __init__(self, name: str, member: MemberProgram, lanes: Lanes, apart: frozenset[int]) -> None:
        super().__init__(member.program, member.schedule, lanes)
        self.name, self.member, self.lanes, self.apart = name, member, lanes, apart

    @property
    def _head(self) -> str:
        """What follows the name of a function."""
        more = ", i64 %awake, ptr nonnull %apart" if self.lanes.whole else ""
        return (f"({self.lanes.kind} %t, ptr noalias nonnull readonly %y, ptr nonnull readonly %p, ptr nonnull readonly %c, "
                f"ptr noalias nonnull %out, ptr noalias nonnull %work{more}) "
                f"{'alwaysinline' if self.lanes.whole else 'noinline'} nounwind {{")  # fmt: skip

    def text(self) -> str:
        self.read_guards()
        self.blocks(self.schedule.before)
        self._batch()
        self.blocks(self.schedule.after)
        own = [f"define internal void @{self.name}{self._head}", "entry:", *self.lines, "  ret void", "}"]
        return "\n".join([*self.texts, *own, ""])

    def guard(self, k: int, place: int) -> str:
        """Whether an entry of p is non-zero in any lane."""
        name, lanes = f"%awake{place}", self.lanes
        if lanes.whole:
            self.lines += [f"  {name}.bit = and i64 %awake, {guard_bit(k)}", f"  {name} = icmp ne i64 {name}.bit, 0"]
            return name
        self.lines += [f"  {name}.at = getelementptr double, ptr %p, i64 {place * lanes.width}",
                       f"  {name}.value = load {lanes.kind}, ptr {name}.at, align 8",
                       f"  {name}.each = fcmp une {lanes.kind} {name}.value, {lanes.zero}"]  # fmt: skip
        if lanes.width == 1:
            return f"{name}.each"
        self.lines += [f"  {name}.bits = bitcast {lanes.truth} {name}.each to i{lanes.width}",
                       f"  {name} = icmp ne i{lanes.width} {name}.bits, 0"]  # fmt: skip
        return name

    def left_out(self, block: Block) -> tuple[tuple[str, list[int]], ...]:
        return ("work", block.zeros_in_work), ("out", sorted({*block.zeros_in_out} - self.apart))

    def _mask(self, block: Block) -> None:
        """Writes zeros in lanes whose own guards are idle, so that a member's values do not depend on its neighbours.

        Values computed for an idle lane may be inf or nan, which a factor of zero would not remove.
        """
        lanes = self.lanes
        mask = self.joined(block.guards, [f"%awake{place}.each" for place in self.program.guards], lanes.truth)
        for array, entries in (("work", block.zeros_in_work), ("out", block.zeros_in_out)):
            for place in entries:
                name = f"%z{len(self.lines)}"
                self.lines += [
                    f"  {name} = getelementptr double, ptr %{array}, i64 {place * lanes.width}",
                    f"  {name}.x = load {lanes.kind}, ptr {name}, align 8",
                    f"  {name}.y = select {lanes.truth} {mask}, {lanes.kind} {name}.x, {lanes.kind} {lanes.zero}",
                    f"  store {lanes.kind} {name}.y, ptr {name}, align 8",
                ]

    def calls(self, block: Block) -> None:
        for piece in block.pieces:
            assert isinstance(piece, Chunk)
            name = f"{self.name}.chunk{len(self.texts)}"
            lines = _LaneWriter(self.member, self.lanes, self.apart).whole(piece)
            self.texts.append("\n".join([f"define internal void @{name}{self._head}", *lines, "  ret void", "}"]))
            awake = ", i64 %awake, ptr %apart" if self.lanes.whole else ""
            self.lines.append(f"  call void @{name}({self.lanes.kind} %t, ptr %y, ptr %p, ptr %c, ptr %out, ptr %work{awake})")
        if block.guards != ALWAYS and self.lanes.width > 1:
            self._mask(block)

    def _batch(self) -> None:
        """Computes sines: one angle at a time on a GPU, several together elsewhere."""
        batch = self.member.schedule.batch
        if not batch.angles:
            return
        self._sines(0, batch.always)
        if batch.padded > batch.always:
            condition, k = self.condition(ALL_IDLE), len(self.lines)
            self.lines += [f"  br i1 {condition}, label %run{k}, label %done{k}", f"run{k}:"]
            self._sines(batch.always, batch.padded)
            self.lines += [f"  br label %done{k}", f"done{k}:"]

    def _sines(self, first: int, end: int) -> None:
        """Sines of the angles in these places; the contents of places without an angle do not matter."""
        width, batch = self.lanes.width, self.member.schedule.batch
        used = set(batch.angles.values())
        group = 1 if self.lanes.whole else AT_ONCE
        for k in range(first, end, group):
            if used.isdisjoint(range(k, k + group)):
                continue
            n = len(self.lines)
            for part, name in enumerate(("x", "s", "c")):
                self.lines.append(f"  %{name}{n} = getelementptr double, ptr %work, i64 {(part * batch.padded + k) * width}")
            self.lines.append(f"  call void @{SINES}(ptr %x{n}, ptr %s{n}, ptr %c{n})")


class _LaneWriter(ChunkWriter):
    """Writes one chunk on vectors of members."""

    def __init__(self, member: MemberProgram, lanes: Lanes, apart: frozenset[int]) -> None:
        super().__init__(member.program, member.schedule.place, lanes, library="own_")
        self.lanes, self.n_changing, self.apart = lanes, member.n_changing, apart

    def output(self, k: int) -> str:
        return "apart" if k in self.apart else "out"

    def parameter(self, value: int, index: int) -> str:
        if index < self.n_changing:
            return self.loaded(value, "p", index)
        constant = self.loaded if self.lanes.own_constants else self.spread
        return constant(value, "c", index - self.n_changing)
