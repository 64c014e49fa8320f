"""Time loops as LLVM text: Python functions over records and arrays by address, with all functions they call.

    loop_text(entry, arguments)

Arguments are numbers, arrays or records by address. Every function that is called is written for the kinds it is called with; a
parameter annotated as a number has that kind. See `function_writer` for the language and `loop_language` for what else there is.
Numbers in records, doubles and integers in arrays never share memory; bytes may share it with anything.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from pliant.codegen.function_writer import (
    INTRINSICS,
    KIND_OF,
    NOTHING,
    REAL,
    TRUTH,
    WHOLE,
    Function,
    FunctionWriter,
    Kind,
    Value,
    intrinsics_text,
    llvm_type,
    parsed,
)
from pliant.codegen.loop_language import BLOCK, ENTRY, Address, ByAddress, Linked, Operation, View
from pliant.codegen.sincos import real

EIGHT = f"<{BLOCK} x double>"
BYTE = "i8"
_ITEM = {"f8": REAL, "i8": WHOLE, "u1": BYTE}
POINTER = "ptr"
_OF_TYPE: dict[Any, str] = {float: REAL, int: WHOLE, bool: TRUTH, Address: POINTER, None: NOTHING}
_TAGS = {"record": "!3", REAL: "!4", WHOLE: "!5", EIGHT: "!4"}
_METADATA = """!0 = !{!"memory of a run"}
!1 = !{!"number of a record", !0, i64 0}
!2 = !{!"double of an array", !0, i64 0}
!6 = !{!"integer of an array", !0, i64 0}
!3 = !{!1, !1, i64 0}
!4 = !{!2, !2, i64 0}
!5 = !{!6, !6, i64 0}
"""


@dataclass(frozen=True)
class Array:
    """The kind of an array given by its address."""

    item: str
    llvm: str = "ptr"


@dataclass(frozen=True)
class Record:
    """The kind of a record: the names of its fields, their kinds and offsets in bytes."""

    fields: tuple[tuple[str, str, int], ...]
    llvm: str = "ptr"

    @classmethod
    def of(cls, dtype: np.dtype[Any]) -> Record:
        assert dtype.fields is not None
        return cls(tuple((name, _ITEM[kind.str[1:]], offset) for name, (kind, offset, *_) in dtype.fields.items()))

    @cached_property
    def places(self) -> dict[str, tuple[str, int]]:
        return {name: (kind, offset) for name, kind, offset in self.fields}


def kind_of(argument: Any) -> Kind:
    """The kind of an argument: of int, float, a view of an array, or the dtype of a record."""
    if isinstance(argument, View):
        return Array(_ITEM[argument.item])
    return _OF_TYPE[argument] if argument in _OF_TYPE else Record.of(argument)


def loop_text(entry: Function, arguments: Sequence[Any], fused: bool = True) -> str:
    """The text of a function that C can call under the name `ENTRY`, with everything it needs; for the arguments see `kind_of`.

    fused: whether functions that allow it have their products fused with sums, where the processor can.
    """
    library = _Library(fused)
    name, answer, passed = library.instance(entry, tuple(kind_of(argument) for argument in arguments))
    given = ", ".join(f"{llvm_type(kind)} %a{i}" for i, kind in enumerate(passed))
    call = f"call {llvm_type(answer)} @{name}({', '.join(f'{llvm_type(kind)} %a{i}' for i, kind in enumerate(passed))})"
    body = [f"  {call}", "  ret void"] if answer == NOTHING else [f"  %x = {call}", f"  ret {llvm_type(answer)} %x"]
    head = f"define {llvm_type(answer)} @{ENTRY}({given}) nounwind {{"
    return "\n".join([intrinsics_text(), *library.texts, head, *body, "}", _METADATA])


@dataclass
class _Library:
    """The functions written so far, by what they are and the kinds they are called with."""

    fused: bool = True
    texts: list[str] = field(default_factory=list)
    known: dict[tuple[Function, tuple[Kind, ...]], tuple[str, Kind, tuple[Kind, ...]]] = field(default_factory=dict)
    trees: dict[Function, ast.FunctionDef] = field(default_factory=dict)
    tables: dict[tuple[float, ...], str] = field(default_factory=dict)
    linked: set[str] = field(default_factory=set)  # names of functions in other modules

    def instance(self, function: Function, given: tuple[Kind, ...]) -> tuple[str, Kind, tuple[Kind, ...]]:
        """The name of a function in the text, the kind of its answer, and those of its arguments."""
        tree = self.trees.get(function) or self.trees.setdefault(function, parsed(function))
        asked = [None if a.annotation is None else KIND_OF.get(ast.unparse(a.annotation)) for a in tree.args.args]
        kinds = tuple(own or kind for own, kind in zip(asked, given, strict=True))
        if (function, kinds) not in self.known:
            name = f"{function.__module__.rpartition('.')[2]}.{function.__name__}.{len(self.known)}"
            writer = _Writer(tree, function, kinds, self)
            self.texts.append(writer.define_as(name))
            self.known[function, kinds] = name, writer.answer, kinds
        return self.known[function, kinds]

    def table(self, numbers: tuple[float, ...]) -> str:
        """The address of constants."""
        if numbers not in self.tables:
            name, listed = f"@table{len(self.tables)}", ", ".join(f"double {real(float(x))}" for x in numbers)
            self.tables[numbers] = name
            self.texts.append(f"{name} = internal unnamed_addr constant [{len(numbers)} x double] [{listed}]")
        return self.tables[numbers]


class _Writer(FunctionWriter):
    """Writes one function for one choice of kinds."""

    def __init__(self, tree: ast.FunctionDef, function: Function, kinds: tuple[Kind, ...], library: _Library) -> None:
        code = function.__code__
        super().__init__(tree, code.co_filename)
        self.names, self.library = function.__globals__, library
        self.passed = list(zip((a.arg for a in tree.args.args), kinds, strict=True))
        self.returned = _returned(tree)
        self.flags = "contract " if library.fused and function.__dict__.get("fused") else ""

    def define_as(self, name: str) -> str:
        if self.returned is None:  # it depends on what is returned, which is known once the text is written
            self.define("")
            assert self.returned is not None
        return self.define(f"define internal {llvm_type(self.answer)} @{name}")

    def arguments(self) -> list[tuple[str, Kind]]:
        return self.passed

    @property
    def answer(self) -> Kind:
        return NOTHING if self.returned is None else self.returned

    def give_back(self, node: ast.Return) -> None:
        if self.returned is None and node.value is not None:
            self.returned = self.value(node.value)[1]
        super().give_back(node)

    # ---- names

    def constant_named(self, name: str) -> Any:
        found = self.names.get(name)
        return found.item() if isinstance(found, np.generic) else found

    def named(self, node: ast.Name) -> Value:
        found = self.constant_named(node.id)
        return (self.library.table(found), Array(REAL)) if isinstance(found, tuple) else super().named(node)

    def for_loop(self, node: ast.For) -> None:
        if not isinstance(node.iter, ast.Name):
            super().for_loop(node)
            return
        numbers = self.constant_named(node.iter.id)
        if not isinstance(numbers, tuple) or not isinstance(node.target, ast.Name):
            self.fail(node)
        done = self.label("done")
        for x in numbers:  # a few constants: one turn after the other
            further = self.label("next")
            self.store_local(node.target.id, self.constant(x))
            self.loops.append((further, done))
            self.block(node.body)
            self.loops.pop()
            self.begin(further)
        self.begin(done)

    # ---- memory

    def annotations_of(self, node: ast.expr, kind: Kind) -> str:
        tag = _TAGS.get("record" if isinstance(node, ast.Attribute) else kind)
        return f", !tbaa {tag}" if tag else ""

    def address(self, node: ast.expr) -> Value:
        if isinstance(node, ast.Attribute):
            name, record = self.value(node.value)
            place = record.places.get(node.attr) if isinstance(record, Record) else None
            if place is None:
                self.fail(node, f"there is no number {ast.unparse(node)!r}")
            return self.let(f"getelementptr i8, ptr {name}, i64 {place[1]}"), place[0]
        assert isinstance(node, ast.Subscript)
        name, array = self.value(node.value)
        if not isinstance(array, Array):
            self.fail(node, f"{ast.unparse(node.value)!r} is not an array")
        index = self.to(self.value(node.slice), WHOLE)
        return self.let(f"getelementptr {array.item}, ptr {name}, i64 {index}"), array.item

    def loaded(self, node: ast.expr) -> Value:
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and not self.is_local(node.value.id):
            found = getattr(self.names.get(node.value.id), node.attr, None)
            if isinstance(found, (int, float)):  # math.inf
                return self.constant(found)
        name, kind = super().loaded(node)
        return (self.let(f"zext i8 {name} to i64"), WHOLE) if kind == BYTE else (name, kind)

    def to(self, value: Value, kind: Kind) -> str:
        if kind == BYTE:
            return self.let(f"trunc i64 {self.to(value, WHOLE)} to i8")
        if kind == EIGHT and value[1] != EIGHT:
            first = self.let(f"insertelement {EIGHT} poison, double {self.to(value, REAL)}, i32 0")
            return self.let(f"shufflevector {EIGHT} {first}, {EIGHT} poison, <{BLOCK} x i32> zeroinitializer")
        return super().to(value, kind)

    def common(self, a: Value, b: Value) -> tuple[str, str, str]:
        if EIGHT in (a[1], b[1]):
            return self.to(a, EIGHT), self.to(b, EIGHT), EIGHT
        return super().common(a, b)

    # ---- calls

    def call_function(self, node: ast.Call) -> Value:
        target = self._target(node.func)
        if node.keywords:
            self.fail(node, "arguments must be given by position")
        if isinstance(node.func, ast.Name) and node.func.id == "len" and isinstance(node.args[0], ast.Name):
            return str(len(self.constant_named(node.args[0].id))), WHOLE
        if isinstance(target, View):
            return self.let(f"inttoptr i64 {self.to(self.value(node.args[0]), WHOLE)} to ptr"), Array(_ITEM[target.item])
        if isinstance(target, ByAddress):
            return self._call_by_address(node, target)
        if isinstance(target, Linked):
            return self._call_linked(node, target)
        if isinstance(target, Operation):
            return self._operate(node, target.name)
        if target is math.isnan:
            x = self.to(self.value(node.args[0]), REAL)
            return self.let(f"fcmp uno double {x}, {x}"), TRUTH
        if isinstance(target, FunctionType):
            return self._call(node, target)
        name = getattr(target, "__name__", "")
        if name not in INTRINSICS or getattr(math, name, None) is not target:
            self.fail(node)
        found = self.intrinsic(name, node)
        return (self.to(found, WHOLE), WHOLE) if name in ("ceil", "floor") else found

    def _target(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Name):
            return self.names.get(node.id)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            owner = self.names.get(node.value.id)
            return getattr(owner, node.attr, None) if isinstance(owner, ModuleType) else None
        self.fail(node)

    def _call(self, node: ast.Call, function: Function) -> Value:
        values = [self.value(x) for x in node.args]
        name, answer, kinds = self.library.instance(function, tuple(kind for _, kind in values))
        passed = ", ".join(f"{llvm_type(kind)} {self.to(value, kind)}" for value, kind in zip(values, kinds, strict=True))
        return self._answered(f"call {llvm_type(answer)} @{name}({passed})", answer)

    def _call_by_address(self, node: ast.Call, target: ByAddress) -> Value:
        kinds, answer = [_OF_TYPE[kind] for kind in target.kinds], _OF_TYPE[target.answer]
        address, *values = [self.value(x) for x in node.args]
        pointer = self.let(f"inttoptr i64 {self.to(address, WHOLE)} to ptr")
        passed = ", ".join(f"{kind} {self._passed(value, kind)}" for value, kind in zip(values, kinds, strict=True))
        return self._answered(f"call {answer} {pointer}({passed})", answer)

    def _call_linked(self, node: ast.Call, target: Linked) -> Value:
        kinds = [_OF_TYPE[kind] for kind in target.kinds]
        if target.name not in self.library.linked:
            self.library.linked.add(target.name)
            self.library.texts.append(f"declare void @{target.name}({', '.join(kinds)})")
        values = [self.value(x) for x in node.args]
        passed = ", ".join(f"{kind} {self._passed(value, kind)}" for value, kind in zip(values, kinds, strict=True))
        return self._answered(f"call void @{target.name}({passed})", NOTHING)

    def _passed(self, value: Value, kind: Kind) -> str:
        return self.let(f"inttoptr i64 {self.to(value, WHOLE)} to ptr") if kind == POINTER else self.to(value, kind)

    def _answered(self, call: str, answer: Kind) -> Value:
        if answer != NOTHING:
            return self.let(call), answer
        self.lines.append(f"  {call}")
        return "", NOTHING

    def _operate(self, node: ast.Call, name: str) -> Value:
        if name == "no_block":
            return "zeroinitializer", EIGHT
        if name == "address_of_record":
            return self.let(f"ptrtoint ptr {self.value(node.args[0])[0]} to i64"), WHOLE
        at = self.let(f"inttoptr i64 {self.to(self.value(node.args[0]), WHOLE)} to ptr")
        if name == "block":
            return self.let(f"load {EIGHT}, ptr {at}, align 8, !tbaa {_TAGS[EIGHT]}"), EIGHT
        value = self.to(self.value(node.args[1]), EIGHT)
        self.lines.append(f"  store {EIGHT} {value}, ptr {at}, align 8, !tbaa {_TAGS[EIGHT]}")
        return "", NOTHING


def _returned(tree: ast.FunctionDef) -> Kind | None:
    """The kind of a function's answer by its annotation; None: it says nothing."""
    text = "None" if tree.returns is None else ast.unparse(tree.returns)
    if text.startswith("tuple[") and isinstance(tree.returns, ast.Subscript) and isinstance(tree.returns.slice, ast.Tuple):
        return tuple(KIND_OF[ast.unparse(part)] for part in tree.returns.slice.elts)
    return KIND_OF.get(text)
