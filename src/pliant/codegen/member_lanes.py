"""A program evaluated for several members of an ensemble at a time: every value is a vector with an entry per member, or a number.

    void name(T t, ptr y, ptr p, ptr c, ptr out, ptr work [, i64 awake, ptr apart]),  T = <width x double>, or double for one member

Entry i of y, out and work is at i times the width. The entries of p that events change are in `p`; the constants of the model,
which follow them in p elsewhere, are in `c`, as numbers that all members share or as vectors. If everything is inlined, `awake` has
a bit for each guard that is not idle, and some outputs that are zero otherwise are in `apart`. Sines are computed by `SINES` below
and other functions by `own_functions`, so that the same text serves any processor and a GPU.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import casadi as ca

from pliant.codegen.angle_sums import add_angles
from pliant.codegen.emit import ChunkWriter
from pliant.codegen.fuse import fuse
from pliant.codegen.guards import ALL_IDLE, ALWAYS, guard_bit
from pliant.codegen.operations import (
    ARGUMENTS,
    COMPARISONS,
    FUSED,
    FUSED_FROM,
    FUSED_SUB,
    INTRINSICS,
    LIBRARY,
    LOGIC,
    TRUTHS,
)
from pliant.codegen.program import ABSORBED, CONSTANT, PARAMETER, STATE, TIME, Program
from pliant.codegen.reciprocals import share_reciprocals
from pliant.codegen.repeats import Columns
from pliant.codegen.schedule import Block, Chunk, Schedule, make_schedule
from pliant.codegen.sincos import WIDTH, near_text, real

SINES = "member_sincos"  # void (ptr x, ptr sines, ptr cosines)
AT_ONCE = WIDTH  # angles whose sines are computed together to hide latencies: their number is padded to a multiple of it
_BINARY = {ca.OP_ADD: "fadd", ca.OP_SUB: "fsub", ca.OP_MUL: "fmul", ca.OP_DIV: "fdiv"}


@dataclass(frozen=True)
class Lanes:
    """How values are written: how many members a vector holds, and whether everything becomes one function."""

    width: int
    own_constants: bool  # every member has its own constants
    whole: bool = False  # everything inlined, as a GPU needs it: no calls, and arrays only in registers
    chunk_size: int = 1000

    @property
    def kind(self) -> str:
        return "double" if self.width == 1 else f"<{self.width} x double>"

    @property
    def truth(self) -> str:
        return "i1" if self.width == 1 else f"<{self.width} x i1>"

    @property
    def suffix(self) -> str:
        return "f64" if self.width == 1 else f"v{self.width}f64"

    def splat(self, x: float) -> str:
        return real(x) if self.width == 1 else f"splat (double {real(x)})"

    @property
    def zero(self) -> str:
        return self.splat(0.0)


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


class _MemberWriter:
    def __init__(self, name: str, member: MemberProgram, lanes: Lanes, apart: frozenset[int]) -> None:
        self.name, self.member, self.lanes, self.apart = name, member, lanes, apart
        self.functions: list[str] = []
        self.lines: list[str] = []
        self._awake: list[str] = []
        self._conditions: dict[int, str] = {}

    @property
    def _signature(self) -> str:
        more = ", i64 %awake, ptr nonnull %apart" if self.lanes.whole else ""
        return (f"({self.lanes.kind} %t, ptr noalias nonnull readonly %y, ptr nonnull readonly %p, ptr nonnull readonly %c, "
                f"ptr noalias nonnull %out, ptr noalias nonnull %work{more})")  # fmt: skip

    def text(self) -> str:
        schedule = self.member.schedule
        if any(block.guards != ALWAYS for block in schedule.before + schedule.after):
            self._awake = [self._guard(k, place) for k, place in enumerate(self.member.program.guards)]
        self._blocks(schedule.before)
        self._batch()
        self._blocks(schedule.after)
        attribute = "alwaysinline" if self.lanes.whole else "noinline"
        head = f"define internal void @{self.name}{self._signature} {attribute} nounwind {{"
        own = [head, "entry:", *self.lines, "  ret void", "}"]
        return "\n".join([*self.functions, *own, ""])

    def _guard(self, k: int, place: int) -> str:
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

    def _condition(self, guards: int) -> str:
        if guards not in self._conditions:
            names = self._awake if guards == ALL_IDLE else [x for k, x in enumerate(self._awake) if guards & (2 << k)]
            joined, word = names[0], "or" if guards == ALL_IDLE else "and"
            for name in names[1:]:
                self.lines.append(f"  %c{len(self.lines)} = {word} i1 {joined}, {name}")
                joined = f"%c{len(self.lines) - 1}"
            self._conditions[guards] = joined
        return self._conditions[guards]

    def _blocks(self, blocks: list[Block]) -> None:
        for block in blocks:
            if block.guards == ALWAYS:
                self._calls(block)
                continue
            condition, k = self._condition(block.guards), len(self.lines)
            self.lines += [f"  br i1 {condition}, label %run{k}, label %skip{k}", f"run{k}:"]
            self._calls(block)
            if self.lanes.width > 1:
                self._mask(block)
            self.lines += [f"  br label %done{k}", f"skip{k}:"]
            for array, places in (("work", block.zeros_in_work), ("out", sorted({*block.zeros_in_out} - self.apart))):
                for place in places:
                    name = f"%z{len(self.lines)}"
                    self.lines.append(f"  {name} = getelementptr double, ptr %{array}, i64 {place * self.lanes.width}")
                    self.lines.append(f"  store {self.lanes.kind} {self.lanes.zero}, ptr {name}, align 8")
            self.lines += [f"  br label %done{k}", f"done{k}:"]

    def _mask(self, block: Block) -> None:
        """Writes zeros in lanes whose own guards are idle, so that a member's values do not depend on its neighbours.

        Values computed for an idle lane may be inf or nan, which a factor of zero would not remove.
        """
        lanes, guards = self.lanes, block.guards
        places = [f"%awake{place}.each" for place in self.member.program.guards]
        names = places if guards == ALL_IDLE else [x for k, x in enumerate(places) if guards & (2 << k)]
        mask, word = names[0], "or" if guards == ALL_IDLE else "and"
        for name in names[1:]:
            self.lines.append(f"  %m{len(self.lines)} = {word} {lanes.truth} {mask}, {name}")
            mask = f"%m{len(self.lines) - 1}"
        for array, entries in (("work", block.zeros_in_work), ("out", block.zeros_in_out)):
            for place in entries:
                name = f"%z{len(self.lines)}"
                self.lines += [
                    f"  {name} = getelementptr double, ptr %{array}, i64 {place * lanes.width}",
                    f"  {name}.x = load {lanes.kind}, ptr {name}, align 8",
                    f"  {name}.y = select {lanes.truth} {mask}, {lanes.kind} {name}.x, {lanes.kind} {lanes.zero}",
                    f"  store {lanes.kind} {name}.y, ptr {name}, align 8",
                ]

    def _calls(self, block: Block) -> None:
        for piece in block.pieces:
            assert isinstance(piece, Chunk)
            name = f"{self.name}.chunk{len(self.functions)}"
            self.functions.append(self._chunk(name, piece))
            awake = ", i64 %awake, ptr %apart" if self.lanes.whole else ""
            self.lines.append(f"  call void @{name}({self.lanes.kind} %t, ptr %y, ptr %p, ptr %c, ptr %out, ptr %work{awake})")

    def _chunk(self, name: str, chunk: Chunk) -> str:
        writer = _LaneWriter(self.member, self.lanes, self.apart)
        own = set(chunk.values)
        for value in chunk.values:
            writer.compute(value)
            writer.write(value, chunk)
        for value in [*chunk.to_work, *chunk.to_out]:
            if value not in own:
                writer.write(value, chunk)
        attribute = "alwaysinline" if self.lanes.whole else "noinline"
        head = f"define internal void @{name}{self._signature} {attribute} nounwind {{"
        return "\n".join([head, *writer.lines, "  ret void", "}"])

    def _batch(self) -> None:
        """Computes sines: one angle at a time on a GPU, several together elsewhere."""
        batch = self.member.schedule.batch
        if not batch.angles:
            return
        self._sines(0, batch.always)
        if batch.padded > batch.always:
            condition, k = self._condition(ALL_IDLE), len(self.lines)
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
        super().__init__(member.program, member.schedule.place)
        self.lanes, self.n_changing, self.apart = lanes, member.n_changing, apart

    def compute(self, value: int) -> None:
        kind, program, lanes = self.program.kind[value], self.program, self.lanes
        name = f"%v{value}"
        if kind == ca.OP_IF_ELSE_ZERO:
            condition, x = self.truth(program.a[value]), self.name(program.b[value])
            self.lines.append(f"  {name} = select {lanes.truth} {condition}, {lanes.kind} {x}, {lanes.kind} {lanes.zero}")
        elif kind in TRUTHS:
            self._lane_truth(value, name)
        else:
            self._operation(kind, name, [self.name(x) for x in program.arguments(value)])
        self.names[value] = name

    def _operation(self, kind: int, name: str, x: list[str]) -> None:
        lanes = self.lanes
        if kind in _BINARY:
            self.lines.append(f"  {name} = {_BINARY[kind]} {lanes.kind} {x[0]}, {x[1]}")
        elif kind in (ca.OP_SQ, ca.OP_TWICE):
            self.lines.append(f"  {name} = {'fmul' if kind == ca.OP_SQ else 'fadd'} {lanes.kind} {x[0]}, {x[0]}")
        elif kind == ca.OP_NEG:
            self.lines.append(f"  {name} = fneg {lanes.kind} {x[0]}")
        elif kind == ca.OP_INV:
            self.lines.append(f"  {name} = fdiv {lanes.kind} {lanes.splat(1.0)}, {x[0]}")
        elif kind in FUSED:
            self._fused(kind, name, *x)
        elif kind == ca.OP_SIGN:
            self._lane_sign(name, x[0])
        elif kind in INTRINSICS:
            passed = ", ".join(f"{lanes.kind} {a}" for a in x)
            self.lines.append(f"  {name} = call {lanes.kind} @llvm.{INTRINSICS[kind]}.{lanes.suffix}({passed})")
        else:
            self._library(LIBRARY[kind], name, x)

    def _library(self, function: str, name: str, x: list[str]) -> None:
        """Calls a library function for each lane."""
        lanes = self.lanes
        if lanes.width == 1:
            self.lines.append(f"  {name} = call double @own_{function}({', '.join(f'double {a}' for a in x)})")
            return
        gathered = "poison"
        for lane in range(lanes.width):
            passed = []
            for k, a in enumerate(x):
                self.lines.append(f"  {name}.{lane}.{k} = extractelement {lanes.kind} {a}, i64 {lane}")
                passed.append(f"double {name}.{lane}.{k}")
            self.lines.append(f"  {name}.{lane}.r = call double @own_{function}({', '.join(passed)})")
            target = name if lane == lanes.width - 1 else f"{name}.{lane}.v"
            self.lines.append(f"  {target} = insertelement {lanes.kind} {gathered}, double {name}.{lane}.r, i64 {lane}")
            gathered = target

    def write(self, value: int, chunk: Chunk) -> None:
        lanes = self.lanes
        if value in chunk.to_work:
            address = self._address("work", lanes.width * chunk.to_work[value])
            self.lines.append(f"  store {lanes.kind} {self.name(value)}, ptr {address}, align 8")
        for k in chunk.to_out.get(value, ()):
            address = self._address("apart" if k in self.apart else "out", lanes.width * k)
            self.lines.append(f"  store {lanes.kind} {self.name(value)}, ptr {address}, align 8")

    def truth(self, value: int) -> str:
        name = self.truths.get(value)
        if name is None:
            name = self.truths[value] = f"%t{value}"
            self.lines.append(f"  {name} = fcmp une {self.lanes.kind} {self.name(value)}, {self.lanes.zero}")
        return name

    def _leaf(self, value: int) -> str:
        kind, index, name, lanes = self.program.kind[value], self.program.a[value], f"%v{value}", self.lanes
        if kind == TIME:
            return "%t"
        if kind == CONSTANT:
            return lanes.splat(self.program.constants[index])
        if kind == PARAMETER and index >= self.n_changing and not lanes.own_constants:
            return self._common(name, index - self.n_changing)
        array, place = {STATE: ("y", index), PARAMETER: ("p", index)}.get(kind) or ("work", self.place[value])
        if kind == PARAMETER and index >= self.n_changing:
            array, place = "c", index - self.n_changing
        self.lines.append(f"  {name} = load {lanes.kind}, ptr {self._address(array, lanes.width * place)}, align 8")
        return name

    def _common(self, name: str, place: int) -> str:
        """A constant that all members share."""
        lanes, address = self.lanes, self._address("c", place)
        if lanes.width == 1:
            self.lines.append(f"  {name} = load double, ptr {address}")
            return name
        every = f"<{lanes.width} x i32> zeroinitializer"
        self.lines += [f"  {name}.s = load double, ptr {address}",
                       f"  {name}.i = insertelement {lanes.kind} poison, double {name}.s, i64 0",
                       f"  {name} = shufflevector {lanes.kind} {name}.i, {lanes.kind} poison, {every}"]  # fmt: skip
        return name

    def _lane_truth(self, value: int, name: str) -> None:
        kind, a, b, lanes = self.program.kind[value], self.program.a[value], self.program.b[value], self.lanes
        if kind in COMPARISONS:
            expression = f"fcmp {COMPARISONS[kind]} {lanes.kind} {self.name(a)}, {self.name(b)}"
        elif kind in LOGIC:
            expression = f"{LOGIC[kind]} {lanes.truth} {self.truth(a)}, {self.truth(b)}"
        else:
            expression = f"xor {lanes.truth} {self.truth(a)}, {'true' if lanes.width == 1 else 'splat (i1 true)'}"
        self.truths[value] = f"%t{value}"
        self.lines.append(f"  %t{value} = {expression}")
        self.lines.append(f"  {name} = uitofp {lanes.truth} %t{value} to {lanes.kind}")

    def _fused(self, kind: int, name: str, a: str, b: str, c: str) -> None:
        lanes = self.lanes
        if kind == FUSED_SUB:
            self.lines.append(f"  {name}.m = fneg {lanes.kind} {c}")
            c = f"{name}.m"
        elif kind == FUSED_FROM:
            self.lines.append(f"  {name}.m = fneg {lanes.kind} {a}")
            a = f"{name}.m"
        passed = ", ".join(f"{lanes.kind} {x}" for x in (a, b, c))
        self.lines.append(f"  {name} = call {lanes.kind} @llvm.fma.{lanes.suffix}({passed})")

    def _lane_sign(self, name: str, x: str) -> None:
        """-1, 1, or x itself where it is 0, -0 or nan."""
        lanes = self.lanes
        self.lines += [
            f"  {name}.n = fcmp olt {lanes.kind} {x}, {lanes.zero}",
            f"  {name}.p = fcmp ogt {lanes.kind} {x}, {lanes.zero}",
            f"  {name}.h = select {lanes.truth} {name}.p, {lanes.kind} {lanes.splat(1.0)}, {lanes.kind} {x}",
            f"  {name} = select {lanes.truth} {name}.n, {lanes.kind} {lanes.splat(-1.0)}, {lanes.kind} {name}.h",
        ]  # fmt: skip
