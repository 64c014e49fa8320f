"""Plain Python functions as LLVM text: numbers, slots of memory, branches and loops, for any processor and for a GPU.

Code that treats one member at a time is written once, in Python, and becomes part of the text that the emitter writes. No other
compiler is involved, so the same operations happen in the same order wherever the text is compiled. A function may use

- numbers: float (double), int (64 bits), truths; `and` and `or` evaluate both sides;
- `lane.x` and `lane.x[i]`: slots of one member's memory, all of them doubles;
- `shared.x` and `shared.x[i]`: a record that all members share, and arrays that it points to;
- `table.x[i]`: constants;
- loops over `range`, and over `at_once` if no turn needs what another one stores;
- names of constants, other functions of the same kind, and a few of `math`. A structure may set constants by name.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

from pliant.codegen.function_writer import (
    INTRINSICS,
    KIND_OF,
    NOTHING,
    REAL,
    WHOLE,
    Function,
    FunctionWriter,
    Kind,
    Value,
    parsed,
)
from pliant.codegen.sincos import real

# Metadata for a text with rolled loops.
ROLLED = """!0 = distinct !{!0, !1}
!1 = !{!"llvm.loop.unroll.disable"}
"""
at_once = range  # of a loop whose turns may happen at the same time: where loops are rolled, all of them read before any stores
MOST_AT_ONCE = 64  # turns: more of them stay a loop, for short code


def in_space(space: int) -> str:
    """The type of an address."""
    return f"ptr addrspace({space})" if space else "ptr"


@dataclass(frozen=True)
class Slots:
    """The layout of a lane's memory: first slot and count of every name."""

    places: Mapping[str, tuple[int, int]]
    gaps: Mapping[str, tuple[int, int]] = field(default_factory=dict)  # from this index on, entries are so many slots further

    @classmethod
    def of(cls, widths: Mapping[str, int]) -> Slots:
        places, first = {}, 0
        for name, width in widths.items():
            places[name] = first, width
            first += width
        return cls(places)

    @classmethod
    def in_two(cls, widths: Mapping[str, tuple[int, int]], unit: int, begin: int = 0) -> Slots:
        """Entries in two parts: the first parts of all names, then the second ones. Longer ones begin at a multiple of the unit."""
        firsts: list[dict[str, int]] = []
        for part in range(2):
            firsts.append({})
            for name, parts in widths.items():
                begin = -(-begin // unit) * unit if parts[part] > 1 else begin
                firsts[part][name] = begin
                begin += parts[part]
        places = {name: (firsts[0][name] if parts[0] else firsts[1][name], sum(parts)) for name, parts in widths.items()}
        gaps = {name: (parts[0], firsts[1][name] - firsts[0][name] - parts[0]) for name, parts in widths.items() if all(parts)}
        return cls(places, gaps)

    @property
    def size(self) -> int:
        return max((self.at(name, width - 1) + 1 for name, (_, width) in self.places.items() if width), default=0)

    def first(self, name: str) -> int:
        return self.places[name][0]

    def at(self, name: str, index: int) -> int:
        """The slot of an entry."""
        last, further = self.gaps.get(name, (0, 0))
        return self.places[name][0] + index + (further if index >= last else 0)


@dataclass(frozen=True)
class Setting:
    """What functions can access besides their arguments."""

    slots: Slots = field(default_factory=lambda: Slots({}))
    stride: int = 1  # doubles from one slot of a lane to the next
    far: Slots | None = None  # the layout of other names, in a memory whose address is in the slot `record`
    half: int = 0  # the first so many slots (of `far`, if there is one): if `moved` is not zero, values are as many slots further
    shared: Mapping[str, str] = field(default_factory=dict)  # field -> "f8", "i8", "f8*" or "i8*", in order
    constants: Mapping[str, float | int] = field(default_factory=dict)
    tables: Mapping[str, Sequence[float] | Sequence[int]] = field(default_factory=dict)
    declared: Mapping[str, tuple[tuple[str, ...], str]] = field(default_factory=dict)  # signatures of other functions of the text
    attributes: str = "nounwind"
    prefix: str = ""  # of names in the text: the same functions can be written for several memories
    table_space: int = 0  # address space of tables
    rolled: bool = False  # loops are not unrolled, for short code: the text needs `ROLLED`


def plain_text(functions: Sequence[Function], setting: Setting) -> str:
    """The text of the functions and of those they call, each under its own name after the prefix, and of the tables they read."""
    trees = _with_called(functions, setting)
    signatures = dict(setting.declared) | {tree.name: _signature(tree) for tree in trees.values()}
    texts = [_Writer(tree, function, setting, signatures).text() for function, tree in trees.items()]
    space, prefix = setting.table_space, setting.prefix
    tables = [_table(f"{prefix}table.{name}", entries, space) for name, entries in setting.tables.items()
              if any(f"@{prefix}table.{name}," in text for text in texts)]  # fmt: skip
    return "\n".join([*tables, *texts, ""])


def _table(name: str, entries: Sequence[float] | Sequence[int], space: int) -> str:
    whole = all(isinstance(x, int) for x in entries)
    listed = ", ".join(f"i64 {x}" if whole else f"double {real(float(x))}" for x in entries)
    kind = WHOLE if whole else REAL
    return f"@{name} = internal unnamed_addr addrspace({space}) constant [{len(entries)} x {kind}] [{listed}]"


def in_vectors(text: str, width: int) -> str:
    """The text of functions of numbers that do not branch, with a vector of so many in the place of every number."""
    if width == 1:
        return text
    text = re.sub(r"\b(0x[0-9A-F]{16})\b", r"splat (number \1)", text).replace(" true", " splat (truth true)")
    text = re.sub(r"\b(double|i1)\b", rf"<{width} x \1>", text).replace(".f64(", f".v{width}f64(")
    return text.replace("(number", "(double").replace("(truth", "(i1")


def _with_called(functions: Sequence[Function], setting: Setting) -> dict[Function, ast.FunctionDef]:
    """The functions, and all that they call and that no other text declares."""
    trees, left = dict[Function, ast.FunctionDef](), [*functions]
    for function in left:
        if function not in trees:
            trees[function] = parsed(function)
            calls = (node.func for node in ast.walk(trees[function]) if isinstance(node, ast.Call))
            names = dict.fromkeys(call.id for call in calls if isinstance(call, ast.Name) and call.id not in setting.declared)
            left += [found for found in map(function.__globals__.get, names) if isinstance(found, FunctionType)]
    return trees


def _signature(tree: ast.FunctionDef) -> tuple[tuple[str, ...], str]:
    kinds = tuple("ptr" if a.arg in ("lane", "shared") else KIND_OF[ast.unparse(a.annotation)] for a in tree.args.args
                  if a.annotation is not None)  # fmt: skip
    return kinds, KIND_OF[ast.unparse(tree.returns)] if tree.returns is not None else NOTHING


class _Writer(FunctionWriter):
    """Writes one function over the memory of a lane."""

    lazy = False  # branches cost more than evaluating both sides

    def __init__(
        self, tree: ast.FunctionDef, function: Function, setting: Setting, signatures: Mapping[str, tuple[tuple[str, ...], str]]
    ) -> None:
        super().__init__(tree, function.__code__.co_filename)
        self.names, self.setting, self.signatures, self.attributes = function.__globals__, setting, signatures, setting.attributes
        self.waiting: list[str] | None = None  # lines that store, if they come after those of other turns of a loop

    def text(self) -> str:
        answer = self.signatures[self.tree.name][1]
        return self.define(f"define internal {answer} @{self.setting.prefix}{self.tree.name}")

    def arguments(self) -> list[tuple[str, Kind]]:
        names = (argument.arg for argument in self.tree.args.args)
        return list(zip(names, self.signatures[self.tree.name][0], strict=True))

    def take_argument(self, name: str, kind: Kind) -> None:
        if kind != "ptr":
            super().take_argument(name, kind)

    @property
    def answer(self) -> Kind:
        return self.signatures[self.tree.name][1]

    @property
    def again(self) -> str:
        return ", !llvm.loop !0" if self.setting.rolled else ""

    def constant_named(self, name: str) -> Any:
        return self.setting.constants.get(name, self.names.get(name))

    def store(self, target: ast.expr, value: Value) -> None:
        if isinstance(target, ast.Name) or self.waiting is None:
            super().store(target, value)
            return
        address, kind = self.address(target)
        self.waiting.append(f"  store {kind} {self.to(value, kind)}, ptr {address}")

    def for_loop(self, node: ast.For) -> None:
        assert isinstance(node.iter, ast.Call) and isinstance(node.target, ast.Name)
        if self.setting.rolled and ast.unparse(node.iter.func) == "at_once":
            count = self.known(node.iter.args[0])
            if count <= MOST_AT_ONCE:
                self.turns_at_once(node, node.target.id, count)
                return
        super().for_loop(node)

    def turns_at_once(self, node: ast.For, name: str, count: int) -> None:
        """Unrolls the loop; all loads precede all stores, so that distant memory is waited for only once."""
        self.waiting = []
        for k in range(count):
            self.store_local(name, (str(k), WHOLE))
            for statement in node.body:
                if not isinstance(statement, (ast.Assign, ast.AugAssign)):
                    self.fail(statement, f"{ast.unparse(statement)} in a loop over at_once")
                self.statement(statement)
        self.lines += self.waiting
        self.waiting = None

    def call_function(self, node: ast.Call) -> Value:
        assert isinstance(node.func, ast.Name)
        name = node.func.id
        if name in ("bits", "from_bits"):  # a double and the 64 bits it is made of
            source, target = (REAL, WHOLE) if name == "bits" else (WHOLE, REAL)
            return self.let(f"bitcast {source} {self.to(self.value(node.args[0]), source)} to {target}"), target
        if name in INTRINSICS and name not in self.signatures:
            return self.intrinsic(name, node)
        kinds, answer = self.signatures[name]
        arguments = []
        for x, kind in zip(node.args, kinds, strict=True):
            is_memory = kind == "ptr"
            arguments.append(f"ptr %{ast.unparse(x)}" if is_memory else f"{kind} {self.to(self.value(x), kind)}")
        prefix = "" if name in self.setting.declared else self.setting.prefix
        line = f"call {answer} @{prefix}{name}({', '.join(arguments)})"
        if answer == NOTHING:
            self.lines.append(f"  {line}")
            return "", NOTHING
        return self.let(line), answer

    # ---- memory

    def address(self, node: ast.expr) -> Value:
        """Of `lane.x`, `lane.x[i]`, `shared.x`, `shared.x[i]` or `table.x[i]`."""
        index: Value = ("0", WHOLE)
        if isinstance(node, ast.Subscript):
            index = self.to(self.value(node.slice), WHOLE), WHOLE
            node = node.value
        assert isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
        owner, name = node.value.id, node.attr
        if owner == "lane":
            return self.lane_address(name, index), REAL
        if owner == "table":
            entries = self.setting.tables[name]
            kind = WHOLE if all(isinstance(x, int) for x in entries) else REAL
            kind_of = in_space(self.setting.table_space)
            at = self.let(
                f"getelementptr [{len(entries)} x {kind}], {kind_of} @{self.setting.prefix}table.{name}, i64 0, i64 {index[0]}"
            )
            return (self.let(f"addrspacecast {kind_of} {at} to ptr") if self.setting.table_space else at), kind
        place, code = list(self.setting.shared).index(name), self.setting.shared[name]
        at = self.let(f"getelementptr i64, ptr %shared, i64 {place}")
        kind = REAL if code.startswith("f8") else WHOLE
        if not code.endswith("*"):
            return at, kind
        return self.let(f"getelementptr {kind}, ptr {self.let(f'load ptr, ptr {at}')}, i64 {index[0]}"), kind

    def lane_address(self, name: str, index: Value) -> str:
        slots, stride, half, base = self.setting.slots, self.setting.stride, self.setting.half, "%lane"
        if self.setting.far is not None:
            if name in slots.places:
                half = 0
            else:
                base = self.let(f"load ptr, ptr {self.lane_address('record', ('0', WHOLE))}")
                slots, stride = self.setting.far, 1
        first, (last, further) = slots.first(name), slots.gaps.get(name, (0, 0))
        if further:
            beyond = self.let(f"icmp sge i64 {index[0]}, {last}")
            index = self.let(f"add nsw i64 {index[0]}, {self.let(f'select i1 {beyond}, i64 {further}, i64 0')}"), WHOLE
        if first < half:
            moved = self.let(f"load double, ptr {self.lane_address('moved', ('0', WHOLE))}")
            offset = self.let(f"select i1 {self.let(f'fcmp une double {moved}, 0.0')}, i64 {half}, i64 0")
            index = self.let(f"add nsw i64 {offset}, {index[0]}"), WHOLE
        if index[0].isdigit():
            return self.let(f"getelementptr double, ptr {base}, i64 {stride * (first + int(index[0]))}")
        at = self.let(f"add nsw i64 {index[0]}, {first}")
        at = self.let(f"mul nsw i64 {at}, {stride}") if stride != 1 else at
        return self.let(f"getelementptr double, ptr {base}, i64 {at}")
