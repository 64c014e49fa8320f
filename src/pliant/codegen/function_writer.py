"""One Python function as LLVM text: statements, expressions and local names.

Subclasses know what memory and which other functions there are: `plain` for the lanes of an ensemble, `general` for loops whose
sizes come from a record. A function may use

- numbers: float (double), int (64 bits) and truths, with Python's rules for mixed arithmetic, `min`, `max`, `abs` and powers;
- `if`, `while`, `for` over `range`, `break`, `continue`, `return`; assignments to several names at once;
- names of constants, other functions of the same kind, and a few functions of `math`.

A local name has one kind: an int to which a float is assigned anywhere is a double everywhere.
"""

from __future__ import annotations

import ast
import contextlib
import copy
import functools
import linecache
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from pliant.codegen.sincos import real

REAL, WHOLE, TRUTH, NOTHING = "double", "i64", "i1", "void"
KIND_OF = {"float": REAL, "int": WHOLE, "bool": TRUTH, "None": NOTHING}
INTRINSICS = {"sqrt": 1, "fabs": 1, "fma": 3, "floor": 1, "ceil": 1, "copysign": 2, "exp": 1, "log": 1, "pow": 2, "sin": 1,
              "cos": 1}  # fmt: skip
_ARITHMETIC = {
    ast.Add: ("fadd", "add"), ast.Sub: ("fsub", "sub"), ast.Mult: ("fmul", "mul"), ast.BitAnd: ("", "and"), ast.BitOr: ("", "or"),
    ast.BitXor: ("", "xor"), ast.LShift: ("", "shl"), ast.RShift: ("", "ashr"),
}  # fmt: skip
_COMPARE = {
    ast.Lt: ("olt", "slt"), ast.LtE: ("ole", "sle"), ast.Gt: ("ogt", "sgt"), ast.GtE: ("oge", "sge"), ast.Eq: ("oeq", "eq"),
    ast.NotEq: ("une", "ne"),
}  # fmt: skip
TRIES = 5  # of parsing, while other threads parse
_CONSTANT_PARTS = (ast.Constant, ast.Name, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.Load)
_NUMBERS = (TRUTH, WHOLE, REAL)  # each can be converted to the next without loss

Function = Callable[..., Any]
Kind = Any  # the LLVM type of a number, or an object with a property `llvm`, or a tuple of kinds
Value = tuple[str, Kind]  # name or constant, kind; of a tuple: "" and the values are in `parts`


def llvm_type(kind: Kind) -> str:
    if isinstance(kind, tuple):
        return f"{{{', '.join(llvm_type(part) for part in kind)}}}"
    return kind if isinstance(kind, str) else str(kind.llvm)


def parsed(function: Function) -> ast.FunctionDef:
    """The syntax tree of a function."""
    code = function.__code__
    tree = _functions_of(code.co_filename).get(code.co_firstlineno)
    if tree is None or tree.name != function.__name__:
        raise SyntaxError(f"{code.co_filename}:{code.co_firstlineno}: the source of {function.__name__} is not there")
    return tree


@functools.cache
def _functions_of(file: str) -> dict[int, ast.FunctionDef]:
    """The functions of a file by their first line, that of the first decorator if there is one."""
    found = (node for node in ast.walk(_tree("".join(linecache.getlines(file)))) if isinstance(node, ast.FunctionDef))
    return {node.decorator_list[0].lineno if node.decorator_list else node.lineno: node for node in found}


def _tree(text: str) -> ast.Module:
    """Python counts the depth of trees for all threads together: where several parse at once, it may be wrong (gh-106905)."""
    for _ in range(TRIES):
        with contextlib.suppress(SystemError):
            return ast.parse(text)
    return ast.parse(text)


def intrinsics_text() -> str:
    """Declarations of the LLVM intrinsics that functions may use."""
    return "\n".join(f"declare double @llvm.{name}.f64({', '.join(['double'] * n)})" for name, n in INTRINSICS.items()) + "\n"


class FunctionWriter:
    """Writes one function; see the module's description."""

    attributes: str = "nounwind"  # of the function
    lazy = True  # `and`, `or` and conditional expressions evaluate only what Python would
    flags = ""  # fast-math flags of arithmetic, with a space after them

    def __init__(self, tree: ast.FunctionDef, file: str = "") -> None:
        self.tree, self.file = tree, file
        self.kinds: dict[str, Kind] = {}  # of local names
        self.assigned = {part.id for part in ast.walk(tree) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
        self._clear()

    def _clear(self) -> None:
        self.lines: list[str] = []
        self.head: list[str] = []  # memory of local names
        self.locals: dict[str, Value] = {}  # the memory of a name, and its kind
        self.fixed: dict[str, Value] = {}  # arguments that keep their value
        self.loops: list[tuple[str, str]] = []  # labels that `continue` and `break` jump to
        self.count = 0
        self.ended = False  # the present block has its last instruction
        self.widened = False  # a local name turned out to need a wider kind

    # ---- what subclasses know

    def arguments(self) -> list[tuple[str, Kind]]:
        raise NotImplementedError

    @property
    def answer(self) -> Kind:
        """The kind of what is returned."""
        raise NotImplementedError

    def address(self, node: ast.expr) -> Value:
        """The address of an attribute or of an entry, and the kind of its value."""
        raise NotImplementedError

    def call_function(self, node: ast.Call) -> Value:
        raise NotImplementedError

    def annotations_of(self, node: ast.expr, kind: Kind) -> str:
        """Metadata of a load or store."""
        return ""

    # ---- text

    def define(self, head: str) -> str:
        """The definition under a head such as `define internal double @name`; written again until the kinds of names are known."""
        while True:
            self._clear()
            body = self._body()
            if not self.widened:
                break
        passed = ", ".join(f"{llvm_type(kind)} %{name}" for name, kind in self.arguments())
        return "\n".join([f"{head}({passed}) {self.attributes} {{", "entry.block:", *self.head, *body, "}"])

    def _body(self) -> list[str]:
        for name, kind in self.arguments():
            self.take_argument(name, kind)
        for statement in self.tree.body:
            self.statement(statement)
        if not self.ended:
            self.lines.append("  ret void" if self.answer == NOTHING else "  unreachable")
        return self.lines

    def take_argument(self, name: str, kind: Kind) -> None:
        if name in self.assigned:
            self.store_local(name, (f"%{name}", kind))
        else:
            self.fixed[name] = f"%{name}", kind

    def fail(self, node: ast.AST, reason: str = "") -> NoReturn:
        """Report a construct that has no place in a compiled function, by file and line."""
        what = reason or f"{ast.unparse(node)!r} cannot be compiled"
        raise SyntaxError(f"{self.file}:{getattr(node, 'lineno', 0)}: function {self.tree.name}: {what}")

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

    def open(self, label: str) -> None:
        """Begin a block that other blocks jump to."""
        self.lines.append(f"{label}:")
        self.ended = False

    def jump(self, line: str) -> None:
        if not self.ended:
            self.lines.append(f"  {line}")
        self.ended = True

    def room(self, kind: Kind) -> str:
        """Memory for one value."""
        self.count += 1
        self.head.append(f"  %room{self.count} = alloca {llvm_type(kind)}")
        return f"%room{self.count}"

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
            load = copy.copy(node.target)
            load.ctx = ast.Load()
            self.store(node.target, self.binary(node, node.op, self.value(load), self.value(node.value)))
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
            self.fail(node)

    def assign(self, node: ast.Assign) -> None:
        for target in node.targets:
            if isinstance(target, ast.Tuple):
                values = self.several(node.value)
                if len(values) != len(target.elts):
                    self.fail(node)
                for one, value in zip(target.elts, values, strict=True):
                    self.store(one, value)
                return
        value = self.value(node.value)
        for target in node.targets:
            self.store(target, value)

    def several(self, node: ast.expr) -> list[Value]:
        """The values of a tuple: written out, chosen by a condition, or returned by a function."""
        if isinstance(node, ast.Tuple):
            return [self.value(x) for x in node.elts]
        if isinstance(node, ast.IfExp) and isinstance(node.body, ast.Tuple) and isinstance(node.orelse, ast.Tuple):
            pairs = zip(node.body.elts, node.orelse.elts, strict=True)
            return [self.value(ast.copy_location(ast.IfExp(node.test, yes, no), node)) for yes, no in pairs]
        name, kind = self.value(node)
        if not isinstance(kind, tuple):
            self.fail(node)
        return [(self.let(f"extractvalue {llvm_type(kind)} {name}, {i}"), part) for i, part in enumerate(kind)]

    def store(self, target: ast.expr, value: Value) -> None:
        if isinstance(target, ast.Name):
            self.store_local(target.id, value)
            return
        address, kind = self.address(target)
        self.lines.append(f"  store {kind} {self.to(value, kind)}, ptr {address}{self.annotations_of(target, kind)}")

    def store_local(self, name: str, value: Value) -> None:
        if name not in self.locals:
            kind = self.kinds.setdefault(name, value[1])
            self.locals[name] = f"%{name}.at", kind
            self.head.append(f"  %{name}.at = alloca {llvm_type(kind)}")
        at, kind = self.locals[name]
        if kind != value[1] and kind in _NUMBERS and value[1] in _NUMBERS and _NUMBERS.index(value[1]) > _NUMBERS.index(kind):
            self.kinds[name], self.widened = value[1], True
        self.lines.append(f"  store {llvm_type(kind)} {self.to(value, kind)}, ptr {at}")

    def branch(self, node: ast.If) -> None:
        condition = self.truth(node.test)
        yes, no, done = self.label("yes"), self.label("no"), self.label("done")
        self.jump(f"br i1 {condition}, label %{yes}, label %{no if node.orelse else done}")
        for label, statements in ((yes, node.body), (no, node.orelse)):
            if statements:
                self.open(label)
                self.block(statements)
                self.jump(f"br label %{done}")
        self.open(done)

    def block(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            self.statement(statement)

    def while_loop(self, node: ast.While) -> None:
        test, body, done = self.label("test"), self.label("body"), self.label("done")
        self.begin(test)
        self.jump(f"br i1 {self.truth(node.test)}, label %{body}, label %{done}")
        self.open(body)
        self.loops.append((test, done))
        self.block(node.body)
        self.loops.pop()
        self.jump(f"br label %{test}{self.again}")
        self.open(done)

    @property
    def again(self) -> str:
        """Metadata at the end of a loop's backward branch."""
        return ""

    def for_loop(self, node: ast.For) -> None:
        if not (isinstance(node.iter, ast.Call) and isinstance(node.target, ast.Name)):
            self.fail(node)
        bounds, step = [self.to(self.value(x), WHOLE) for x in node.iter.args[:2]], self._step_of(node.iter)
        first, last = (bounds[0], bounds[1]) if len(bounds) == 2 else ("0", bounds[0])
        counter = self.room(WHOLE)
        self.lines.append(f"  store i64 {first}, ptr {counter}")
        test, body, further, done = self.label("test"), self.label("body"), self.label("next"), self.label("done")
        exhausted = self.label("else") if node.orelse else done
        self.begin(test)
        k = self.let(f"load i64, ptr {counter}")
        more = self.let(f"icmp {'slt' if step > 0 else 'sgt'} i64 {k}, {last}")
        self.jump(f"br i1 {more}, label %{body}, label %{exhausted}")
        self.open(body)
        self.store_local(node.target.id, (k, WHOLE))
        self.loops.append((further, done))
        self.block(node.body)
        self.loops.pop()
        self.begin(further)
        self.lines.append(f"  store i64 {self.let(f'add nsw i64 {k}, {step}')}, ptr {counter}")
        self.jump(f"br label %{test}{self.again}")
        if node.orelse:
            self.open(exhausted)
            self.block(node.orelse)
            self.jump(f"br label %{done}")
        self.open(done)

    def _step_of(self, call: ast.Call) -> int:
        if len(call.args) < 3:
            return 1
        step = self.known(call.args[2])
        if not isinstance(step, int) or step == 0:
            self.fail(call, "the step of a range must be a constant")
        return step

    def known(self, node: ast.expr) -> Any:
        """The value of an expression of constants, or None."""
        parts = list(ast.walk(node))
        names = {part.id: self.constant_named(part.id) for part in parts if isinstance(part, ast.Name)}
        simple = all(
            isinstance(part, (ast.Constant, ast.Name, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.Load))
            for part in parts
        )
        if not simple or any(self.is_local(name) or value is None for name, value in names.items()):
            return None
        return eval(ast.unparse(node), {}, names)

    def is_local(self, name: str) -> bool:
        return name in self.locals or name in self.fixed

    def named(self, node: ast.Name) -> Value:
        return self.constant(self.constant_named(node.id), node)

    def constant_named(self, name: str) -> Any:
        """The constant of a name that is not local, or None."""
        raise NotImplementedError

    def give_back(self, node: ast.Return) -> None:
        if node.value is None:
            self.jump("ret void")
            return
        if isinstance(self.answer, tuple):
            whole = "undef"
            for i, (value, kind) in enumerate(zip(self.several(node.value), self.answer, strict=True)):
                made = f"insertvalue {llvm_type(self.answer)} {whole}, {llvm_type(kind)} {self.to(value, kind)}, {i}"
                whole = self.let(made)
            self.jump(f"ret {llvm_type(self.answer)} {whole}")
            return
        value = self.value(node.value)
        self.jump(f"ret {llvm_type(self.answer)} {self.to(value, self.answer)}")

    # ---- expressions

    def value(self, node: ast.expr) -> Value:
        if isinstance(node, ast.Constant):
            return self.constant(node.value)
        if isinstance(node, ast.Name):
            if node.id in self.fixed:
                return self.fixed[node.id]
            if node.id not in self.locals:
                return self.named(node)
            at, kind = self.locals[node.id]
            return self.let(f"load {llvm_type(kind)}, ptr {at}"), kind
        if isinstance(node, (ast.Attribute, ast.Subscript)):
            return self.loaded(node)
        if isinstance(node, ast.BinOp):
            if isinstance(node.op, ast.Pow):
                return self.power(node)
            return self.binary(node, node.op, self.value(node.left), self.value(node.right))
        if isinstance(node, ast.UnaryOp):
            return self.unary(node)
        if isinstance(node, ast.Compare):
            return self.compare(node)
        if isinstance(node, ast.BoolOp):
            return self.junction(node), TRUTH
        if isinstance(node, ast.IfExp):
            return self.selection(node)
        if isinstance(node, ast.Call):
            return self.call(node)
        self.fail(node)

    def loaded(self, node: ast.expr) -> Value:
        address, kind = self.address(node)
        return self.let(f"load {kind}, ptr {address}{self.annotations_of(node, kind)}"), kind

    def constant(self, x: Any, node: ast.AST | None = None) -> Value:
        if not isinstance(x, (bool, int, float)):
            self.fail(node or self.tree, f"{x if node is None else ast.unparse(node)!r} must be a number")
        if isinstance(x, bool):
            return ("true" if x else "false"), TRUTH
        return (str(x), WHOLE) if isinstance(x, int) else (real(float(x)), REAL)

    def truth(self, node: ast.expr) -> str:
        return self.to(self.value(node), TRUTH)

    def to(self, value: Value, kind: Kind) -> str:
        name, own = value
        if own == kind:
            return name
        if (own, kind) == (WHOLE, REAL):
            return real(float(name)) if name.lstrip("-").isdigit() else self.let(f"sitofp i64 {name} to double")
        convert = {
            (REAL, WHOLE): f"fptosi double {name} to i64", (TRUTH, REAL): f"uitofp i1 {name} to double",
            (TRUTH, WHOLE): f"zext i1 {name} to i64", (REAL, TRUTH): f"fcmp une double {name}, 0.0",
            (WHOLE, TRUTH): f"icmp ne i64 {name}, 0",
        }.get((own, kind))  # fmt: skip
        if convert is None:
            self.fail(self.tree, f"a {own} where a {kind} is wanted")
        return self.let(convert)

    def common(self, a: Value, b: Value) -> tuple[str, str, str]:
        kind = REAL if REAL in (a[1], b[1]) else WHOLE
        return self.to(a, kind), self.to(b, kind), kind

    def binary(self, node: ast.AST, op: ast.operator, left: Value, right: Value) -> Value:
        if isinstance(op, ast.Div):
            return self.let(f"fdiv {self.flags}double {self.to(left, REAL)}, {self.to(right, REAL)}"), REAL
        a, b, kind = self.common(left, right)
        if isinstance(op, (ast.FloorDiv, ast.Mod)) and kind == WHOLE:
            return self.divided(a, b)[isinstance(op, ast.Mod)], WHOLE
        word = _ARITHMETIC[type(op)][kind == WHOLE] if type(op) in _ARITHMETIC else ""
        if not word:
            self.fail(node)
        return self.let(f"{word} {'' if kind == WHOLE else self.flags}{kind} {a}, {b}"), kind

    def divided(self, a: str, b: str) -> tuple[str, str]:
        """Quotient and remainder of integers by Python's rule: the remainder has the sign of the divisor."""
        quotient, rest = self.let(f"sdiv i64 {a}, {b}"), self.let(f"srem i64 {a}, {b}")
        differs = self.let(f"icmp slt i64 {self.let(f'xor i64 {rest}, {b}')}, 0")
        off = self.let(f"and i1 {differs}, {self.let(f'icmp ne i64 {rest}, 0')}")
        whole = self.let(f"sub i64 {quotient}, {self.let(f'zext i1 {off} to i64')}")
        return whole, self.let(f"select i1 {off}, i64 {self.let(f'add i64 {rest}, {b}')}, i64 {rest}")

    def power(self, node: ast.BinOp) -> Value:
        base, exponent = self.value(node.left), self.known(node.right)
        if not isinstance(exponent, int) or isinstance(exponent, bool) or exponent < 1:
            passed = f"double {self.to(base, REAL)}, double {self.to(self.value(node.right), REAL)}"
            return self.let(f"call double @llvm.pow.f64({passed})"), REAL
        found: Value | None = None
        while True:  # repeated squares
            if exponent % 2:
                found = base if found is None else self.binary(node, ast.Mult(), found, base)
            exponent //= 2
            if exponent == 0:
                assert found is not None
                return found
            base = self.binary(node, ast.Mult(), base, base)

    def unary(self, node: ast.UnaryOp) -> Value:
        if isinstance(node.op, ast.Not):
            return self.let(f"xor i1 {self.truth(node.operand)}, true"), TRUTH
        if not isinstance(node.op, ast.USub):
            self.fail(node)
        if isinstance(node.operand, ast.Constant):
            return self.constant(-node.operand.value)  # type: ignore[operator]
        value = self.value(node.operand)
        name = self.let(f"fneg double {value[0]}" if value[1] == REAL else f"sub i64 0, {self.to(value, WHOLE)}")
        return name, REAL if value[1] == REAL else WHOLE

    def compare(self, node: ast.Compare) -> Value:
        joined, left = "", self.value(node.left)
        for op, other in zip(node.ops, node.comparators, strict=True):
            if type(op) not in _COMPARE:
                self.fail(node)
            right = self.value(other)
            a, b, kind = self.common(left, right)
            word, test = _COMPARE[type(op)], "icmp" if kind == WHOLE else "fcmp"
            name = self.let(f"{test} {word[kind == WHOLE]} {kind} {a}, {b}")
            joined = name if not joined else self.let(f"and i1 {joined}, {name}")
            left = right
        return joined, TRUTH

    def is_harmless(self, node: ast.expr) -> bool:
        """Whether it may be evaluated although Python would not: it reads no entry, which may not exist, and calls nothing."""
        return not self.lazy or not any(isinstance(part, (ast.Subscript, ast.Call)) for part in ast.walk(node))

    def junction(self, node: ast.BoolOp) -> str:
        """`and` or `or`."""
        is_and = isinstance(node.op, ast.And)
        joined = self.truth(node.values[0])
        for other in node.values[1:]:
            if self.is_harmless(other):
                joined = self.let(f"{'and' if is_and else 'or'} i1 {joined}, {self.truth(other)}")
                continue
            at, more, done = self.room(TRUTH), self.label("more"), self.label("done")
            self.lines.append(f"  store i1 {joined}, ptr {at}")
            self.jump(f"br i1 {joined}, label %{more if is_and else done}, label %{done if is_and else more}")
            self.open(more)
            self.lines.append(f"  store i1 {self.truth(other)}, ptr {at}")
            self.begin(done)
            joined = self.let(f"load i1, ptr {at}")
        return joined

    def selection(self, node: ast.IfExp) -> Value:
        condition = self.truth(node.test)
        if self.is_harmless(node.body) and self.is_harmless(node.orelse):
            yes, no = self.value(node.body), self.value(node.orelse)
            kind = self._kind_of_both(yes, no)
            made = f"select i1 {condition}, {kind} {self.to(yes, kind)}, {kind} {self.to(no, kind)}"
            return self.let(made), kind
        first, second, done = self.label("yes"), self.label("no"), self.label("done")
        self.jump(f"br i1 {condition}, label %{first}, label %{second}")
        before, self.lines = self.lines, []
        self.open(first)
        yes = self.value(node.body)
        of_yes, self.lines = self.lines, []
        self.open(second)
        no = self.value(node.orelse)
        of_no = self.lines
        kind = self._kind_of_both(yes, no)
        at = self.room(kind)
        for lines, value in ((of_yes, yes), (of_no, no)):
            self.lines, self.ended = lines, False
            self.lines.append(f"  store {kind} {self.to(value, kind)}, ptr {at}")
            self.jump(f"br label %{done}")
        self.lines = [*before, *of_yes, *of_no]
        self.open(done)
        return self.let(f"load {kind}, ptr {at}"), kind

    def _kind_of_both(self, a: Value, b: Value) -> str:
        if a[1] == b[1] == TRUTH:
            return TRUTH
        return REAL if REAL in (a[1], b[1]) else WHOLE

    def call(self, node: ast.Call) -> Value:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name in ("min", "max"):
            best = self.value(node.args[0])
            for other in node.args[1:]:
                best = self._better(name, best, self.value(other))
            return best
        if name in ("int", "float", "bool"):
            kind = KIND_OF[name]
            return self.to(self.value(node.args[0]), kind), kind
        if name == "abs":
            value = self.value(node.args[0])
            if value[1] == REAL:
                return self.let(f"call double @llvm.fabs.f64(double {value[0]})"), REAL
            x = self.to(value, WHOLE)
            negative = self.let(f"icmp slt i64 {x}, 0")
            return self.let(f"select i1 {negative}, i64 {self.let(f'sub i64 0, {x}')}, i64 {x}"), WHOLE
        return self.call_function(node)

    def _better(self, name: str, a: Value, b: Value) -> Value:
        """Python's rule: the first one, unless the second is truly less (or more)."""
        x, y, kind = self.common(a, b)
        word = {("min", REAL): "fcmp olt", ("max", REAL): "fcmp ogt", ("min", WHOLE): "icmp slt", ("max", WHOLE): "icmp sgt"}
        return self.let(f"select i1 {self.let(f'{word[name, kind]} {kind} {y}, {x}')}, {kind} {y}, {kind} {x}"), kind

    def intrinsic(self, name: str, node: ast.Call) -> Value:
        passed = ", ".join(f"double {self.to(self.value(x), REAL)}" for x in node.args)
        return self.let(f"call {self.flags}double @llvm.{name}.f64({passed})"), REAL
