"""The operations of a chunk as LLVM text: every value is a number, or a vector with an entry for each lane."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from pliant.codegen.operations import (
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
from pliant.codegen.program import CONSTANT, PARAMETER, STATE, TIME, Program
from pliant.codegen.schedule import Chunk
from pliant.codegen.sincos import real


@dataclass(frozen=True)
class Vector:
    """How values are written: as numbers, or as vectors of this many."""

    width: int

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


NUMBER = Vector(1)


class ChunkWriter:
    """Writes one chunk; remembers the LLVM name of every value seen, so that each is loaded or computed once.

    library: what the names of functions of the C library begin with.
    """

    def __init__(self, program: Program, place: Sequence[int], vector: Vector = NUMBER, library: str = "") -> None:
        self.program, self.place, self.vector, self.library = program, place, vector, library
        self.lines: list[str] = []
        self.names: dict[int, str] = {}
        self.truths: dict[int, str] = {}  # the i1 names of truth values

    def whole(self, chunk: Chunk) -> list[str]:
        """The lines that compute all values of a chunk and store those that others read."""
        own = set(chunk.values)
        for value in chunk.values:
            self.compute(value)
            self.write(value, chunk)
        for value in [*chunk.to_work, *chunk.to_out]:
            if value not in own:
                self.write(value, chunk)
        return self.lines

    def compute(self, value: int) -> None:
        kind, program, vector = self.program.kind[value], self.program, self.vector
        name = f"%v{value}"
        if kind == ca.OP_IF_ELSE_ZERO:
            # A selection, not a product: 0.0 where the condition fails, even if the other side is nan.
            condition, x = self.condition(program.a[value]), self.name(program.b[value])
            self.lines.append(f"  {name} = select {condition}, {vector.kind} {x}, {vector.kind} {vector.zero}")
        elif kind in TRUTHS:
            self._truth(value, name)
        else:
            self._operation(kind, name, [self.name(argument) for argument in program.arguments(value)])
        self.names[value] = name

    def write(self, value: int, chunk: Chunk) -> None:
        """Store a value where other chunks, the batch and the caller read it."""
        if value in chunk.to_work:
            self.store(value, "work", chunk.to_work[value])
        for k in chunk.to_out.get(value, ()):
            self.store(value, self.output(k), k)

    def output(self, k: int) -> str:
        """The array of an output."""
        return "out"

    def store(self, value: int, array: str, place: int) -> None:
        name = self.name(value)
        self.lines.append(f"  store {self.vector.kind} {name}, ptr {self._address(array, place)}, align 8")

    def name(self, value: int) -> str:
        """The LLVM name of a value; it is loaded at its first use if this chunk does not compute it."""
        name = self.names.get(value)
        if name is None:
            name = self.names[value] = self.leaf(value)
        return name

    def condition(self, value: int) -> str:
        """A truth value with its type, for a selection."""
        return f"{self.vector.truth} {self.truth(value)}"

    def truth(self, value: int) -> str:
        """The name that says whether a value counts as true; nan counts as true."""
        name = self.truths.get(value)
        if name is None:
            name = self.truths[value] = f"%t{value}"
            self.lines.append(f"  {name} = fcmp une {self.vector.kind} {self.name(value)}, {self.vector.zero}")
        return name

    def leaf(self, value: int) -> str:
        """The name of a value that this chunk does not compute."""
        kind, index = self.program.kind[value], self.program.a[value]
        if kind == TIME:
            return "%t"
        if kind == CONSTANT:
            return self.vector.splat(self.program.constants[index])
        array, place = ("y", index) if kind == STATE else ("work", self.place[value])
        return self.parameter(value, index) if kind == PARAMETER else self.loaded(value, array, place)

    def parameter(self, value: int, index: int) -> str:
        return self.loaded(value, "p", index)

    def loaded(self, value: int, array: str, place: int) -> str:
        self.lines.append(f"  %v{value} = load {self.vector.kind}, ptr {self._address(array, place)}, align 8")
        return f"%v{value}"

    def spread(self, value: int, array: str, place: int) -> str:
        """A number, loaded into every lane."""
        if self.vector.width == 1:
            return self.loaded(value, array, place)
        name, kind, every = f"%v{value}", self.vector.kind, f"<{self.vector.width} x i32> zeroinitializer"
        self.lines += [f"  {name}.s = load double, ptr {self.number_address(array, place)}",
                       f"  {name}.i = insertelement {kind} poison, double {name}.s, i64 0",
                       f"  {name} = shufflevector {kind} {name}.i, {kind} poison, {every}"]  # fmt: skip
        return name

    def _address(self, array: str, place: int) -> str:
        return self.number_address(array, self.vector.width * place)

    def number_address(self, array: str, index: int) -> str:
        name = f"%a{len(self.lines)}"
        self.lines.append(f"  {name} = getelementptr double, ptr %{array}, i64 {index}")
        return name

    def _operation(self, kind: int, name: str, x: list[str]) -> None:
        vector = self.vector
        if kind in ARITHMETIC:
            self.lines.append(f"  {name} = " + ARITHMETIC[kind].format(t=vector.kind, one=vector.splat(1.0), a=x[0], b=x[-1]))
        elif kind in FUSED:
            self._fused(kind, name, *x)
        elif kind == ca.OP_SIGN:
            self._sign(name, x[0])
        elif kind in INTRINSICS:
            self._call(f"llvm.{INTRINSICS[kind]}.{vector.suffix}", name, x)
        else:
            self._library(LIBRARY[kind], name, x)

    def _call(self, function: str, name: str, x: Sequence[str]) -> None:
        kind = self.vector.kind
        self.lines.append(f"  {name} = call {kind} @{function}({', '.join(f'{kind} {a}' for a in x)})")

    def _library(self, function: str, name: str, x: list[str]) -> None:
        """Call a function of the C library for each lane."""
        kind, last = self.vector.kind, self.vector.width - 1
        if last == 0:
            self._call(self.library + function, name, x)
            return
        gathered = "poison"
        for lane in range(self.vector.width):
            passed = []
            for k, a in enumerate(x):
                self.lines.append(f"  {name}.{lane}.{k} = extractelement {kind} {a}, i64 {lane}")
                passed.append(f"double {name}.{lane}.{k}")
            self.lines.append(f"  {name}.{lane}.r = call double @{self.library}{function}({', '.join(passed)})")
            target = name if lane == last else f"{name}.{lane}.v"
            self.lines.append(f"  {target} = insertelement {kind} {gathered}, double {name}.{lane}.r, i64 {lane}")
            gathered = target

    def _truth(self, value: int, name: str) -> None:
        kind, a, b, vector = self.program.kind[value], self.program.a[value], self.program.b[value], self.vector
        if kind in COMPARISONS:
            expression = f"fcmp {COMPARISONS[kind]} {vector.kind} {self.name(a)}, {self.name(b)}"
        elif kind in LOGIC:
            expression = f"{LOGIC[kind]} {vector.truth} {self.truth(a)}, {self.truth(b)}"
        else:
            expression = f"xor {vector.truth} {self.truth(a)}, {'true' if vector.width == 1 else 'splat (i1 true)'}"
        self.truths[value] = f"%t{value}"
        self.lines.append(f"  %t{value} = {expression}")
        self.lines.append(f"  {name} = uitofp {vector.truth} %t{value} to {vector.kind}")

    def _fused(self, kind: int, name: str, a: str, b: str, c: str) -> None:
        if kind == FUSED_SUB:
            c = self._negated(name, c)
        elif kind == FUSED_FROM:
            a = self._negated(name, a)
        self._call(f"llvm.fma.{self.vector.suffix}", name, (a, b, c))

    def _negated(self, name: str, x: str) -> str:
        self.lines.append(f"  {name}.m = fneg {self.vector.kind} {x}")
        return f"{name}.m"

    def _sign(self, name: str, x: str) -> None:
        """-1, 1, or x itself where it is 0, -0 or nan."""
        vector = self.vector
        self.lines += [
            f"  {name}.n = fcmp olt {vector.kind} {x}, {vector.zero}",
            f"  {name}.p = fcmp ogt {vector.kind} {x}, {vector.zero}",
            f"  {name}.h = select {vector.truth} {name}.p, {vector.kind} {vector.splat(1.0)}, {vector.kind} {x}",
            f"  {name} = select {vector.truth} {name}.n, {vector.kind} {vector.splat(-1.0)}, {vector.kind} {name}.h",
        ]  # fmt: skip
