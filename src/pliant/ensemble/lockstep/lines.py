"""Lines of LLVM text on the numbers of the members that share a vector, wherever those numbers are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pliant.codegen.plain import in_space
from pliant.ensemble.lockstep.gpu import CONSTANT_SPACE, STAGES
from pliant.ensemble.lockstep.staging import KEPT
from pliant.ensemble.lockstep.tables import SHARED

if TYPE_CHECKING:
    from pliant.ensemble.lockstep.text import LockstepText


class LineWriter:
    """Writes single lines."""

    def __init__(self, text: LockstepText) -> None:
        self.owner, self.model, self.scheme, self.lanes, self.slots = text, text.model, text.scheme, text.lanes, text.slots
        self.lines: list[str] = []
        self.scratch = text.scratch  # values that live only within one attempt: registers if everything is inlined
        self.names = 0
        self.coefficients: dict[float, int] = {}
        self.memory, self.record = "%memory", "%lane"  # where numbers are; a GPU has both, and some in shared memory
        self.here = ""  # where this thread's part of the shared memory begins, if that is known
        self.staged: dict[tuple[str, int], int] = {}  # slots of numbers in shared memory at present
        self.kept: dict[tuple[str, int], int] = {}  # places of numbers in the thread's own memory at present
        self.y: dict[int, str] = {}  # controlled components at the start of the step, if they are values

    def let(self, expression: str) -> str:
        self.names += 1
        self.lines.append(f"  %n{self.names} = {expression}")
        return f"%n{self.names}"

    def op(self, word: str, *x: str) -> str:
        return self.let(f"{word} {self.lanes.kind} {', '.join(x)}")

    def call(self, name: str, *x: str) -> str:
        kind = self.lanes.kind
        return self.let(f"call {kind} @llvm.{name}.{self.lanes.suffix}({', '.join(f'{kind} {a}' for a in x)})")

    def fma(self, a: str, b: str, c: str) -> str:
        return self.call("fma", a, b, c)

    def at(self, name: str, index: int = 0) -> str:
        if name in self.scratch:
            return self.let(f"getelementptr double, ptr %{name}.room, i64 {index}")
        if self.lanes.whole:
            slot, place = self._slot(name, index), self._place(name, index)
            if slot is not None:
                here = self.here or self.let(f"call ptr @{STAGES}()")
                return self.let(f"getelementptr double, ptr {here}, i64 {slot}")
            if place is not None:
                return self.let(f"getelementptr double, ptr {self.record}, i64 {place}")
            if (name, index) in self.kept:
                name, index = KEPT, self.kept[name, index]
        return self.let(f"getelementptr double, ptr {self.memory}, i64 {(self.slots.first(name) + index) * self.lanes.width}")

    def _slot(self, name: str, index: int) -> int | None:
        """The slot of a number that is in shared memory."""
        first = self.owner.staging.stages.get(name)
        return self.staged.get((name, index)) if first is None else first + index

    def _place(self, name: str, index: int) -> int | None:
        """The place of a number that is in the record only."""
        records, elsewhere = self.owner.records, (name, index) in self.kept or self._slot(name, index) is not None
        return records.place(name, index) if name in records.slots.places and not elsewhere else None

    def load(self, name: str, index: int = 0, align: int = 8) -> str:
        return self.let(f"load {self.lanes.kind}, ptr {self.at(name, index)}, align {align}")

    def store(self, x: str, name: str, index: int = 0, align: int = 8) -> None:
        self.lines.append(f"  store {self.lanes.kind} {x}, ptr {self.at(name, index)}, align {align}")

    def splat(self, scalar: str) -> str:
        if self.lanes.width == 1:
            return scalar
        kind = self.lanes.kind
        first = self.let(f"insertelement {kind} poison, double {scalar}, i64 0")
        return self.let(f"shufflevector {kind} {first}, {kind} poison, <{self.lanes.width} x i32> zeroinitializer")

    def table(self, name: str, index: str, kind: str = "double") -> str:
        """An entry of a constant table; used only if everything is inlined."""
        address = in_space(CONSTANT_SPACE)
        at = self.let(f"getelementptr {kind}, {address} @{name}, i64 {index}")
        return self.let(f"load {kind}, {address} {at}")

    def shared(self, name: str) -> str:
        at = self.let(f"getelementptr i64, ptr %shared, i64 {list(SHARED).index(name)}")
        return self.let(f"load {'ptr' if SHARED[name].endswith('*') else 'double'}, ptr {at}")

    def select(self, condition: str, a: str, b: str) -> str:
        kind = self.lanes.kind
        return self.let(f"select {self.lanes.truth} {condition}, {kind} {a}, {kind} {b}")

    def select_whole(self, condition: str, a: int, b: int) -> str:
        return self.let(f"select i1 {condition}, i64 {a}, i64 {b}")

    def some(self, truths: str) -> str:
        if self.lanes.width == 1:
            return truths
        width = self.lanes.width
        return self.let(f"icmp ne i{width} {self.let(f'bitcast {self.lanes.truth} {truths} to i{width}')}, 0")

    def _not(self, truths: str) -> str:
        every = "true" if self.lanes.width == 1 else "splat (i1 true)"
        return self.let(f"xor {self.lanes.truth} {truths}, {every}")

    def _largest(self, a: str, b: str) -> str:
        """The larger of two; b if one is nan."""
        return self.select(self.let(f"fcmp ogt {self.lanes.kind} {a}, {b}"), a, b)

    def _added(self, total: str, a: float, x: str) -> str:
        factor = self._coefficient(a)
        return self.fma(factor, x, total) if total else self.op("fmul", factor, x)

    def _coefficient(self, a: float) -> str:
        """Reads a coefficient from memory in one instruction; as a constant in the code it can take five (no long immediates)."""
        if self.lanes.whole:
            return self.lanes.splat(a)
        place = self.coefficients.setdefault(a, len(self.coefficients))
        return self.splat(self.let(f"load double, ptr getelementptr (double, ptr @lockstep_coefficients, i64 {place})"))

    # ---- several lines

    def _copy(self, sources: Sequence[tuple[str, int]], targets: Sequence[tuple[str, int]]) -> None:
        """Copies numbers, all of which are read before any is written, so that they do not wait for each other."""
        self._store_all(self._load_all(sources), targets)

    def _load_all(self, numbers: Sequence[tuple[str, int]]) -> list[str]:
        """Numbers that lie side by side in a record may be read two at a time."""
        return [self.load(*number, self._aligned(*number)) for number in numbers]

    def _store_all(self, values: Sequence[str], numbers: Sequence[tuple[str, int]]) -> None:
        """The same for writing."""
        for x, number in zip(values, numbers, strict=True):
            self.store(x, *number, self._aligned(*number))

    def _aligned(self, name: str, index: int) -> int:
        """The alignment of a number, in bytes."""
        place = self._place(name, index) if self.lanes.whole and self.owner.records.stride == 1 else None
        return 8 if place is None or place % 2 else 16

    @contextmanager
    def _if(self, condition: str) -> Iterator[None]:
        self.names += 1
        label = f"if{self.names}"
        self.lines += [f"  br i1 {condition}, label %{label}, label %{label}.after", f"{label}:"]
        yield
        self.lines += [f"  br label %{label}.after", f"{label}.after:"]
