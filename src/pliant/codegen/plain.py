"""Plain Python functions as LLVM text: numbers, slots of memory, branches and loops, for any processor and for a GPU.

Code that treats one member at a time is written once, in Python, and becomes part of the text that the emitter writes. No other
compiler is involved, so the same operations happen in the same order wherever the text is compiled. A function may use

- numbers: float (double), int (64 bits), truths; `and` and `or` evaluate both sides;
- `lane.x` and `lane.x[i]`: slots of one member's memory, all of them doubles;
- `shared.x` and `shared.x[i]`: a record that all members share, and arrays that it points to;
- `table.x[i]`: constants;
- loops over `range`, and over `at_once` if no turn needs what another one stores;
- names of constants, other functions of the same kind, and a few of `math`.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pliant.codegen.sincos import real

REAL, WHOLE, TRUTH, NOTHING = "double", "i64", "i1", "void"
_KIND_OF = {"float": REAL, "int": WHOLE, "bool": TRUTH, "None": NOTHING}
_ARITHMETIC = {
    ast.Add: ("fadd", "add"), ast.Sub: ("fsub", "sub"), ast.Mult: ("fmul", "mul"), ast.Div: ("fdiv", ""),
    ast.FloorDiv: ("", "sdiv"), ast.Mod: ("", "srem"), ast.BitAnd: ("", "and"), ast.LShift: ("", "shl"), ast.RShift: ("", "ashr"),
    ast.BitXor: ("", "xor"), ast.BitOr: ("", "or"),
}  # fmt: skip
_COMPARE = {
    ast.Lt: ("olt", "slt"), ast.LtE: ("ole", "sle"), ast.Gt: ("ogt", "sgt"), ast.GtE: ("oge", "sge"), ast.Eq: ("oeq", "eq"),
    ast.NotEq: ("une", "ne"),
}  # fmt: skip
_INTRINSICS = {"sqrt": 1, "fabs": 1, "fma": 3, "floor": 1, "copysign": 2}

Function = Callable[..., Any]
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
    """The text of the functions, each under its own name after the prefix, and of the tables they read."""
    trees = [_parsed(function) for function in functions]
    signatures = dict(setting.declared) | {tree.name: _signature(tree) for tree in trees}
    texts = [_Writer(tree, setting, signatures).text() for tree in trees]
    space, prefix = setting.table_space, setting.prefix
    tables = [_table(f"{prefix}table.{name}", entries, space) for name, entries in setting.tables.items()
              if any(f"@{prefix}table.{name}," in text for text in texts)]  # fmt: skip
    return "\n".join([*tables, *texts, ""])


def intrinsics_text() -> str:
    """Declarations of the LLVM intrinsics that plain functions may use."""
    return "\n".join(f"declare double @llvm.{name}.f64({', '.join(['double'] * n)})" for name, n in _INTRINSICS.items()) + "\n"


def _table(name: str, entries: Sequence[float] | Sequence[int], space: int) -> str:
    whole = all(isinstance(x, int) for x in entries)
    listed = ", ".join(f"i64 {x}" if whole else f"double {real(float(x))}" for x in entries)
    kind = WHOLE if whole else REAL
    return f"@{name} = internal unnamed_addr addrspace({space}) constant [{len(entries)} x {kind}] [{listed}]"


def _parsed(function: Function) -> ast.FunctionDef:
    tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    assert isinstance(tree, ast.FunctionDef)
    return tree


def _signature(tree: ast.FunctionDef) -> tuple[tuple[str, ...], str]:
    kinds = tuple("ptr" if a.arg in ("lane", "shared") else _KIND_OF[ast.unparse(a.annotation)] for a in tree.args.args
                  if a.annotation is not None)  # fmt: skip
    return kinds, _KIND_OF[ast.unparse(tree.returns)] if tree.returns is not None else NOTHING


Value = tuple[str, str]  # name or constant, kind


class _Writer:
    """Writes one function."""

    def __init__(self, tree: ast.FunctionDef, setting: Setting, signatures: Mapping[str, tuple[tuple[str, ...], str]]) -> None:
        self.tree, self.setting, self.signatures = tree, setting, signatures
        self.lines: list[str] = []
        self.head: list[str] = []  # memory of local names
        self.locals: dict[str, Value] = {}
        self.loops: list[tuple[str, str]] = []  # labels that `continue` and `break` jump to
        self.waiting: list[str] | None = None  # lines that store, if they come after those of other turns of a loop
        self.count = 0
        self.ended = False  # the present block has its last instruction

    # ---- text

    def text(self) -> str:
        kinds, answer = self.signatures[self.tree.name]
        passed = []
        for argument, kind in zip(self.tree.args.args, kinds, strict=True):
            passed.append(f"{kind} %{argument.arg}")
            if kind != "ptr":
                self.store_local(argument.arg, (f"%{argument.arg}", kind))
        for statement in self.tree.body:
            self.statement(statement)
        if not self.ended:
            self.lines.append("  ret void" if answer == NOTHING else "  unreachable")
        head = f"define internal {answer} @{self.setting.prefix}{self.tree.name}({', '.join(passed)}) {self.setting.attributes} {{"
        return "\n".join([head, "entry:", *self.head, *self.lines, "}"])

    def let(self, expression: str) -> str:
        self.count += 1
        self.lines.append(f"  %x{self.count} = {expression}")
        return f"%x{self.count}"

    def label(self, kind: str) -> str:
        self.count += 1
        return f"{kind}{self.count}"

    def begin(self, label: str) -> None:
        if not self.ended:
            self.lines.append(f"  br label %{label}")
        self.lines.append(f"{label}:")
        self.ended = False

    def jump(self, line: str) -> None:
        if not self.ended:
            self.lines.append(f"  {line}")
        self.ended = True

    # ---- statements

    def statement(self, node: ast.stmt) -> None:
        if self.ended:
            return
        if isinstance(node, ast.Expr):
            if not isinstance(node.value, ast.Constant):  # a docstring
                self.value(node.value)
        elif isinstance(node, ast.Assign):
            self.assign(node)
        elif isinstance(node, ast.AugAssign):
            load = ast.parse(ast.unparse(node.target), mode="eval").body
            self.store(node.target, self.binary(node.op, self.value(load), self.value(node.value)))
        elif isinstance(node, ast.If):
            self.branch(node)
        elif isinstance(node, ast.While):
            self.while_loop(node)
        elif isinstance(node, ast.For):
            self.for_loop(node)
        elif isinstance(node, ast.Return):
            self.give_back(node)
        elif isinstance(node, ast.Break):
            self.jump(f"br label %{self.loops[-1][1]}")
        elif isinstance(node, ast.Continue):
            self.jump(f"br label %{self.loops[-1][0]}")
        elif not isinstance(node, ast.Pass):
            raise SyntaxError(f"plain function {self.tree.name}: {ast.unparse(node)}")

    def assign(self, node: ast.Assign) -> None:
        if len(node.targets) == 1 and isinstance(node.targets[0], ast.Tuple):
            assert isinstance(node.value, ast.Tuple)
            values = [self.value(x) for x in node.value.elts]
            for target, value in zip(node.targets[0].elts, values, strict=True):
                self.store(target, value)
            return
        value = self.value(node.value)
        for target in node.targets:
            self.store(target, value)

    def store(self, target: ast.expr, value: Value) -> None:
        if isinstance(target, ast.Name):
            self.store_local(target.id, value)
            return
        address, kind = self.address(target)
        line = f"  store {kind} {self.to(value, kind)}, ptr {address}"
        (self.lines if self.waiting is None else self.waiting).append(line)

    def store_local(self, name: str, value: Value) -> None:
        if name not in self.locals:
            self.locals[name] = f"%{name}.at", value[1]
            self.head.append(f"  %{name}.at = alloca {value[1]}")
        at, kind = self.locals[name]
        self.lines.append(f"  store {kind} {self.to(value, kind)}, ptr {at}")

    def branch(self, node: ast.If) -> None:
        condition = self.truth(node.test)
        yes, no, done = self.label("yes"), self.label("no"), self.label("done")
        self.jump(f"br i1 {condition}, label %{yes}, label %{no if node.orelse else done}")
        self.lines.append(f"{yes}:")
        self.ended = False
        self.block(node.body)
        self.jump(f"br label %{done}")
        if node.orelse:
            self.lines.append(f"{no}:")
            self.ended = False
            self.block(node.orelse)
            self.jump(f"br label %{done}")
        self.lines.append(f"{done}:")
        self.ended = False

    def block(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            self.statement(statement)

    def while_loop(self, node: ast.While) -> None:
        test, body, done = self.label("test"), self.label("body"), self.label("done")
        self.begin(test)
        self.jump(f"br i1 {self.truth(node.test)}, label %{body}, label %{done}")
        self.lines.append(f"{body}:")
        self.ended = False
        self.loops.append((test, done))
        self.block(node.body)
        self.loops.pop()
        self.jump(f"br label %{test}{self.again}")
        self.lines.append(f"{done}:")
        self.ended = False

    @property
    def again(self) -> str:
        """Metadata at the end of a loop's backward branch."""
        return ", !llvm.loop !0" if self.setting.rolled else ""

    def for_loop(self, node: ast.For) -> None:
        assert isinstance(node.iter, ast.Call) and isinstance(node.target, ast.Name)
        if self.setting.rolled and ast.unparse(node.iter.func) == "at_once":
            count = eval(ast.unparse(node.iter.args[0]), {}, dict(self.setting.constants))  # of constants
            if count <= MOST_AT_ONCE:
                self.turns_at_once(node, node.target.id, count)
                return
        bounds = [self.value(x) for x in node.iter.args]
        first, last = (bounds[0], bounds[1]) if len(bounds) == 2 else (("0", WHOLE), bounds[0])
        name = node.target.id
        self.store_local(name, first)
        test, body, further, done = self.label("test"), self.label("body"), self.label("next"), self.label("done")
        self.begin(test)
        k = self.let(f"load i64, ptr {self.locals[name][0]}")
        self.jump(f"br i1 {self.let(f'icmp slt i64 {k}, {last[0]}')}, label %{body}, label %{done}")
        self.lines.append(f"{body}:")
        self.ended = False
        self.loops.append((further, done))
        self.block(node.body)
        self.loops.pop()
        self.begin(further)
        k = self.let(f"load i64, ptr {self.locals[name][0]}")
        self.store_local(name, (self.let(f"add nsw i64 {k}, 1"), WHOLE))
        self.jump(f"br label %{test}{self.again}")
        self.lines.append(f"{done}:")
        self.ended = False

    def turns_at_once(self, node: ast.For, name: str, count: int) -> None:
        """All turns of a loop, one after the other, but for what they store: memory that is far away is asked for only once."""
        self.waiting = []
        for k in range(count):
            self.store_local(name, (str(k), WHOLE))
            for statement in node.body:
                if not isinstance(statement, (ast.Assign, ast.AugAssign)):
                    raise SyntaxError(f"plain function {self.tree.name}: {ast.unparse(statement)} in a loop over at_once")
                self.statement(statement)
        self.lines += self.waiting
        self.waiting = None

    def give_back(self, node: ast.Return) -> None:
        answer = self.signatures[self.tree.name][1]
        self.jump("ret void" if node.value is None else f"ret {answer} {self.to(self.value(node.value), answer)}")

    # ---- expressions

    def value(self, node: ast.expr) -> Value:
        if isinstance(node, ast.Constant):
            return self.constant(node.value)
        if isinstance(node, ast.Name):
            if node.id in self.locals:
                at, kind = self.locals[node.id]
                return self.let(f"load {kind}, ptr {at}"), kind
            return self.constant(self.setting.constants[node.id])
        if isinstance(node, (ast.Attribute, ast.Subscript)):
            address, kind = self.address(node)
            return self.let(f"load {kind}, ptr {address}"), kind
        if isinstance(node, ast.BinOp):
            return self.binary(node.op, self.value(node.left), self.value(node.right))
        if isinstance(node, ast.UnaryOp):
            return self.unary(node)
        if isinstance(node, ast.Compare):
            return self.compare(node)
        if isinstance(node, ast.BoolOp):
            word = "and" if isinstance(node.op, ast.And) else "or"
            joined = self.truth(node.values[0])
            for other in node.values[1:]:
                joined = self.let(f"{word} i1 {joined}, {self.truth(other)}")
            return joined, TRUTH
        if isinstance(node, ast.IfExp):
            return self.selection(node)
        if isinstance(node, ast.Call):
            return self.call(node)
        raise SyntaxError(f"plain function {self.tree.name}: {ast.unparse(node)}")

    def constant(self, x: Any) -> Value:
        if isinstance(x, bool):
            return ("true" if x else "false"), TRUTH
        return (str(x), WHOLE) if isinstance(x, int) else (real(float(x)), REAL)

    def truth(self, node: ast.expr) -> str:
        return self.to(self.value(node), TRUTH)

    def to(self, value: Value, kind: str) -> str:
        name, own = value
        if own == kind:
            return name
        if (own, kind) == (WHOLE, REAL):
            return real(float(name)) if name.lstrip("-").isdigit() else self.let(f"sitofp i64 {name} to double")
        if (own, kind) == (REAL, WHOLE):
            return self.let(f"fptosi double {name} to i64")
        if (own, kind) == (TRUTH, REAL):
            return self.let(f"uitofp i1 {name} to double")
        if (own, kind) == (TRUTH, WHOLE):
            return self.let(f"zext i1 {name} to i64")
        if (own, kind) == (REAL, TRUTH):
            return self.let(f"fcmp une double {name}, 0.0")
        if (own, kind) == (WHOLE, TRUTH):
            return self.let(f"icmp ne i64 {name}, 0")
        raise SyntaxError(f"plain function {self.tree.name}: a {own} where a {kind} is wanted")

    def common(self, a: Value, b: Value) -> tuple[str, str, str]:
        kind = REAL if REAL in (a[1], b[1]) else WHOLE
        return self.to(a, kind), self.to(b, kind), kind

    def binary(self, op: ast.operator, left: Value, right: Value) -> Value:
        if isinstance(op, ast.Div):
            return self.let(f"fdiv double {self.to(left, REAL)}, {self.to(right, REAL)}"), REAL
        a, b, kind = self.common(left, right)
        return self.let(f"{_ARITHMETIC[type(op)][kind == WHOLE]} {kind} {a}, {b}"), kind

    def unary(self, node: ast.UnaryOp) -> Value:
        if isinstance(node.op, ast.Not):
            return self.let(f"xor i1 {self.truth(node.operand)}, true"), TRUTH
        value = self.value(node.operand)
        if isinstance(node.operand, ast.Constant):
            return self.constant(-node.operand.value)  # type: ignore[operator]
        name = self.let(f"fneg double {value[0]}" if value[1] == REAL else f"sub i64 0, {value[0]}")
        return name, value[1]

    def compare(self, node: ast.Compare) -> Value:
        joined, left = "", self.value(node.left)
        for op, other in zip(node.ops, node.comparators, strict=True):
            right = self.value(other)
            a, b, kind = self.common(left, right)
            word, test = _COMPARE[type(op)], "icmp" if kind == WHOLE else "fcmp"
            name = self.let(f"{test} {word[kind == WHOLE]} {kind} {a}, {b}")
            joined = name if not joined else self.let(f"and i1 {joined}, {name}")
            left = right
        return joined, TRUTH

    def selection(self, node: ast.IfExp) -> Value:
        condition, yes, no = self.truth(node.test), self.value(node.body), self.value(node.orelse)
        if yes[1] == no[1] == TRUTH:
            return self.let(f"select i1 {condition}, i1 {yes[0]}, i1 {no[0]}"), TRUTH
        a, b, kind = self.common(yes, no)
        return self.let(f"select i1 {condition}, {kind} {a}, {kind} {b}"), kind

    def call(self, node: ast.Call) -> Value:
        assert isinstance(node.func, ast.Name)
        name = node.func.id
        if name in ("min", "max"):
            a, b, kind = self.common(*(self.value(x) for x in node.args))
            word = {("min", REAL): "fcmp olt", ("max", REAL): "fcmp ogt", ("min", WHOLE): "icmp slt", ("max", WHOLE): "icmp sgt"}
            return self.let(f"select i1 {self.let(f'{word[name, kind]} {kind} {a}, {b}')}, {kind} {a}, {kind} {b}"), kind
        if name in ("int", "float", "bool"):
            kind = _KIND_OF[name]
            return self.to(self.value(node.args[0]), kind), kind
        if name in ("bits", "from_bits"):  # a double and the 64 bits it is made of
            source, target = (REAL, WHOLE) if name == "bits" else (WHOLE, REAL)
            return self.let(f"bitcast {source} {self.to(self.value(node.args[0]), source)} to {target}"), target
        if name == "abs":
            name = "fabs"
        if name in _INTRINSICS and name not in self.signatures:
            passed = ", ".join(f"double {self.to(self.value(x), REAL)}" for x in node.args)
            return self.let(f"call double @llvm.{name}.f64({passed})"), REAL
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
        """The address of `lane.x`, `lane.x[i]`, `shared.x`, `shared.x[i]` or `table.x[i]`, and the kind of its value."""
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
