"""The lines of a kernel: calls of all pieces of a schedule, and branches around those that may be left out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from pliant.codegen.chunk_writer import NUMBER, Vector
from pliant.codegen.guards import ALL_IDLE, ALWAYS
from pliant.codegen.program import Program
from pliant.codegen.schedule import Block, Schedule


class BlockWriter(ABC):
    """vector: what the values of the pieces are; guards are entries of p."""

    def __init__(self, program: Program, schedule: Schedule, vector: Vector = NUMBER) -> None:
        self.program, self.schedule, self.vector = program, schedule, vector
        self.texts: list[str] = []  # of the functions that the kernel calls
        self.lines: list[str] = []
        self._conditions: dict[int, str] = {}
        self._awake: list[str] | None = None

    @abstractmethod
    def calls(self, block: Block) -> None:
        """Write the calls of a block's pieces."""

    def zeros(self, block: Block) -> None:
        """Write zeros instead of what a block that is left out would have computed."""
        for array, places in self.left_out(block):
            for place in places:
                self.zero(array, place)

    def left_out(self, block: Block) -> tuple[tuple[str, list[int]], ...]:
        """The places of the values of a block in each array."""
        return ("work", block.zeros_in_work), ("out", block.zeros_in_out)

    def guard(self, k: int, place: int) -> str:
        """The i1 that is true if guard k, an entry of p, is not zero; the entry is read once."""
        name = f"%awake{place}"
        self.lines += [f"  {name}.at = getelementptr double, ptr %p, i64 {place}", f"  {name}.value = load double, ptr {name}.at",
                       f"  {name} = fcmp une double {name}.value, 0.0"]  # fmt: skip
        return name

    def read_guards(self) -> None:
        """Read all guards, if any block may be left out; it comes first, because blocks that are left out define no names."""
        if any(block.guards != ALWAYS for block in self.schedule.before + self.schedule.after):
            self._awake = [self.guard(k, place) for k, place in enumerate(self.program.guards)]

    def blocks(self, blocks: Sequence[Block]) -> None:
        for block in blocks:
            if block.guards == ALWAYS:
                self.calls(block)
                continue
            condition, k = self.condition(block.guards), len(self.lines)
            self.lines += [f"  br i1 {condition}, label %run{k}, label %skip{k}", f"run{k}:"]
            self.calls(block)
            self.lines += [f"  br label %done{k}", f"skip{k}:"]
            self.zeros(block)
            self.lines += [f"  br label %done{k}", f"done{k}:"]

    def condition(self, guards: int) -> str:
        """The i1 that is true if none of these sets of guards is idle."""
        if guards not in self._conditions:
            self._conditions[guards] = self.joined(guards, self._awake or [])
        return self._conditions[guards]

    def joined(self, guards: int, each: Sequence[str], kind: str = "i1") -> str:
        """The truth value of a set of guards; each: those of all guards."""
        word, names = "or", each
        if guards & ~ALL_IDLE:
            word, names = "and", [name for k, name in enumerate(each) if guards & (2 << k)]
        joined = names[0]
        for name in names[1:]:
            self.lines.append(f"  %c{len(self.lines)} = {word} {kind} {joined}, {name}")
            joined = f"%c{len(self.lines) - 1}"
        return joined

    def zero(self, array: str, place: int) -> None:
        """Write a zero into every lane of a place."""
        name = f"%z{len(self.lines)}"
        self.lines += [f"  {name} = getelementptr double, ptr %{array}, i64 {place * self.vector.width}",
                       f"  store {self.vector.kind} {self.vector.zero}, ptr {name}, align 8"]  # fmt: skip
