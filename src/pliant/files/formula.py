"""Formulas in model files: parsed into a tree of pliant's own functions, never evaluated as Python.

A formula is a function of t and of coordinates, as in "5*sin(3*t) - 0.1*v['arm.angle']". A condition is a comparison, or several
comparisons joined by and, or, not. It selects a value in `a if c else b` and `where(c, a, b)`, and counts as 1 or 0 elsewhere.
"""

from __future__ import annotations

import ast
import inspect
import math
import operator
import re
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import reduce
from numbers import Real
from operator import or_
from typing import Any, ClassVar

from pliant.errors import ModelError
from pliant.files import dimension, units
from pliant.files.dimension import ANGLE, NOT_TURNING, PI, PLAIN, PURE, Kind, Turning
from pliant.model.parameter import Definition, Parameter, TextExpression, TiedFloat, expression_of
from pliant.model.signal import MotionTable, PiecewiseLinear
from pliant.scalar import FUNCTIONS, Scalar, deg, pi, where

DECIMAL_COMMA = re.compile(r"(?<![\w.,])(\d+),(\d+)(?![\d.,])")
MAX_LENGTH = 4000  # characters of one formula
MAX_DEPTH = 100  # levels of one formula; keeps every recursion far from Python's limit
STATE_VARIABLES = ("t", "q", "v")
BY_COORDINATE = ("q", "v", "measured", "memory")
EXAMPLES = {"measured": "tip_position arm y", "memory": "integral"}  # example names, for messages
AXES = ("x", "y", "z")
PLACES = "places"  # key of `Known` for the bodies that frames may be on
ROTATIONS = "rotations"  # key of `Known` for the names in v that are angular velocities
TABLES: dict[str, type[PiecewiseLinear] | type[MotionTable]] = {"table": PiecewiseLinear, "spline": MotionTable}
# Functions of frames: the least and the largest number of their arguments, which are strings.
OF_FRAMES = {"position": (2, 3), "velocity": (2, 3), "distance": (2, 2), "distance_rate": (2, 2), "angle": (1, 3),
             "angle_rate": (1, 3)}  # fmt: skip

Environment = Mapping[str, Any]
Known = Mapping[str, Collection[str]]  # the names in q, v and memory, and the bodies, if known
# Names of the arguments of formulas: of signals, shapes and laws. No definition may use these names.
ARGUMENTS = (*STATE_VARIABLES, "x", "depth", "rate", "entry_speed", "speed", "normal", "measured", "memory")


def _power(base: Scalar, exponent: Scalar) -> Scalar:
    """A power; numbers use math.pow, which gives neither huge integers nor complex results."""
    if isinstance(base, Real) and isinstance(exponent, Real):
        return math.pow(base, exponent)
    return base**exponent


CONSTANTS = {"pi": pi, "deg": pi / 180.0}
CALLS: dict[str, Callable[..., Scalar]] = {
    **FUNCTIONS,
    "abs": FUNCTIONS["absolute"],
    "min": FUNCTIONS["minimum"],
    "max": FUNCTIONS["maximum"],
    "deg": deg,
}
OPERATORS: dict[type, Callable[..., Scalar]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: _power,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}
COMPARISONS: dict[type, Callable[..., Scalar]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


# How functions change the kinds of their arguments: first the functions of an angle or a plain number, then those of several
# arguments of the same kind; all others leave the kind unchanged.
OF_PLAIN = {"sin": PLAIN, "cos": PLAIN, "tan": PLAIN, "sinh": PLAIN, "cosh": PLAIN, "tanh": PLAIN, "exp": PLAIN, "log": PLAIN,
            "asin": ANGLE, "acos": ANGLE, "atan": ANGLE}  # fmt: skip
OF_ANGLE = ("sin", "cos", "tan")
SAME_KIND = ("abs", "absolute", "min", "minimum", "max", "maximum", "hypot", "clip", "saturate", "quantise")  # keep the kind
RESULTS = {**OF_PLAIN, "atan2": ANGLE, "sign": PLAIN}


@dataclass(frozen=True)
class ParsedFormula:
    """A parsed formula: a callable of its variables that may read named numbers. Equal texts and numbers make equal formulas."""

    OUTSIDE_EQUATIONS: ClassVar[tuple[str, ...]] = ("breakpoints", "constant", "value", "definitions", "needs", "kind", "turning")

    text: str
    variables: tuple[str, ...]
    breakpoints: tuple[float, ...] = field(compare=False)  # s, times with which t itself is compared
    constant: float | None = field(compare=False)  # its value, if it has no variables
    value: Callable[[Environment], Scalar] = field(compare=False, repr=False)
    numbers: tuple[tuple[str, float], ...] = ()  # the named numbers that it or its definitions read
    defined: tuple[tuple[str, str], ...] = ()  # definitions that are formulas, with their texts
    definitions: tuple[tuple[str, ParsedFormula], ...] = field(default=(), compare=False, repr=False)  # in order of computation
    needs: frozenset[str] = field(default=frozenset(), compare=False)  # variables that it or its definitions read
    kind: Kind = field(default=None, compare=False, repr=False)  # of its value
    turning: Turning = field(default=NOT_TURNING, compare=False, repr=False)  # frequencies in its value that may be meant as speeds

    def own_key(self) -> tuple[object, ...]:
        """A key that distinguishes it from other formulas."""
        return self.text, self.variables, self.defined, tuple((name, repr(number)) for name, number in self.numbers)

    def __call__(self, *arguments: Any) -> Scalar:
        environment = dict(zip(self.variables, arguments, strict=True)) | dict(self.numbers)
        for name, definition in self.definitions:  # in order, so that each is computed once
            environment[name] = definition.value(environment)
        return self.value(environment)

    def __reduce__(self) -> tuple[Any, ...]:
        numbers = tuple((name, float(number)) for name, number in self.numbers)
        return (parsed_again, (self.text, self.variables, numbers, tuple((name, d.text) for name, d in self.definitions)))


Definitions = Mapping[str, ParsedFormula]  # names that formulas may use, in the order they were defined


def parse_formula(
    text: str,
    variables: tuple[str, ...] = STATE_VARIABLES,
    known: Known | None = None,
    definitions: Definitions | None = None,
) -> ParsedFormula:
    """Parse a formula of the given variables; `known` contains the names that q['...'] and v['...'] may use."""
    parser = _Parser(text, variables, known or {}, definitions or {})
    tree = parser.tree()
    piece = parser.value(tree, 0)
    used = tuple((name, d) for name, d in parser.definitions.items() if name in parser.used)
    return ParsedFormula(
        text,
        variables,
        breakpoints=tuple(sorted(parser.breakpoints.values())),
        constant=parser.constant(tree, piece) if piece.constant else None,
        value=piece.evaluate,
        numbers=tuple(sorted(parser.numbers.items())),
        defined=tuple(sorted((name, d.text) for name, d in used)),
        definitions=used,
        needs=frozenset(parser.needs),
        kind=piece.kind,
        turning=parser.judged(piece),
    )


def parse_definition(name: str, text: str, earlier: Definitions, known: Known | None = None) -> ParsedFormula:
    """Parse the meaning of a name: a number, which is a parameter, or a formula of t, q, v and of names defined before it."""
    check_name(name)
    meaning = parse_formula(text, STATE_VARIABLES, known, earlier)
    meaning = replace(meaning, kind=None) if meaning.kind == PURE or meaning.kind == PI else meaning
    if meaning.constant is None:
        return meaning
    expression = expression_of(meaning.constant)
    if expression is None:
        return replace(meaning, constant=TiedFloat.of(Parameter(name, meaning.constant)))
    return replace(meaning, constant=TiedFloat.of(Definition(name, expression)))


def number_definition(number: float, kind: Kind = None) -> ParsedFormula:
    """The meaning of a name that is a number: the value of a parameter, or a fixed number."""
    return ParsedFormula(repr(float(number)), STATE_VARIABLES, (), number, lambda e: number, kind=kind)


def check_name(name: str) -> None:
    if name in (*ARGUMENTS, *CONSTANTS, *CALLS):
        raise ModelError(f"definition {short(name)!r}: must be another name, because {name!r} is reserved for {_meaning(name)}")
    if not name.isidentifier():
        raise ModelError(f"definition {short(name)!r}: must consist of letters, digits and _, got {short(name)!r}")


def _meaning(name: str) -> str:
    return "a function" if name in CALLS else "a constant" if name in CONSTANTS else "a variable of formulas"


def parsed_again(
    text: str, variables: tuple[str, ...], numbers: tuple[tuple[str, float], ...], formulas: tuple[tuple[str, str], ...]
) -> ParsedFormula:
    known = {name: number_definition(number) for name, number in numbers}
    for name, meaning in formulas:
        known[name] = parse_definition(name, meaning, known)
    return parse_formula(text, variables, None, known)


NOT_FINITE = re.compile(r"[-+]?\.?(nan|inf|infinity)", re.IGNORECASE)


def parse_number(text: str, definitions: Definitions | None = None, unit: str | None = None) -> float:
    """The value of a constant expression, such as 2e11, pi/6 or -0.5 - sin(60*deg); its kind, if known, must fit the unit."""
    if NOT_FINITE.fullmatch(text.strip()):
        raise ModelError(f"must be a finite number, got {text.strip()!r}")
    formula = parse_formula(text, (), None, definitions)
    units.require(formula.kind, unit, text.strip())
    assert formula.constant is not None  # a formula without variables is constant
    return formula.constant


def _comma_hint(text: str) -> str:
    """A hint at a decimal comma outside parentheses, where nothing else has one."""
    found = DECIMAL_COMMA.search(text) if "(" not in text and "[" not in text else None
    return f"; write a decimal point: {found[1]}.{found[2]}" if found else ""


def is_expression(text: str) -> bool:
    """Whether a text is a Python expression: 2e5 and `1 if t < 2 else 3` are, 250 mm is not."""
    try:
        ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return False
    return True


@dataclass(frozen=True)
class _Value:
    evaluate: Callable[[Environment], Scalar]
    constant: bool
    kind: Kind = None
    named: bool = False  # a constant that depends on named numbers
    turning: Turning = NOT_TURNING


@dataclass(frozen=True)
class _Condition:
    """choose(environment, a, b) is a where the condition holds, else b. Joined conditions nest; only comparisons are traced."""

    choose: Callable[[Environment, Scalar, Scalar], Scalar]
    constant: bool
    named: bool = False


class _Parser:
    """Converts Python's syntax tree to pieces; any node that is not in the tables is refused."""

    def __init__(self, text: str, variables: tuple[str, ...], known: Known, definitions: Definitions) -> None:
        self.text = text.strip().replace("\n", " ")
        self.variables = variables
        self.known = known
        self.definitions = definitions
        self.used: set[str] = set()  # definitions that are formulas, including those that definitions need
        self.numbers: dict[str, float] = {}  # definitions that are numbers
        self.needs: set[str] = set()  # variables
        self.doubts: dict[str, ast.expr] = {}  # frequencies that stand where an angular velocity should, and where
        self.breakpoints: dict[object, float] = {}  # by value, or by expression for parameters: equal values may differ later
        self.values: dict[type, Callable[[Any, int], _Value]] = {
            ast.Constant: self._number,
            ast.Name: self._name,
            ast.BinOp: self._binary,
            ast.UnaryOp: self._unary,
            ast.IfExp: self._conditional,
            ast.Call: self._call,
            ast.Subscript: self._coordinate,
        }

    def tree(self) -> ast.expr:
        if len(self.text) > MAX_LENGTH:
            raise self._error(None, f"must be at most {MAX_LENGTH} characters long, got {len(self.text)}")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the tables refuse what Python would warn about
                return ast.parse(self.text, mode="eval").body
        except (RecursionError, MemoryError):
            raise self._error(None, "is nested too deeply") from None
        except (SyntaxError, ValueError) as trouble:
            at = f" at column {trouble.offset}" if isinstance(trouble, SyntaxError) and trouble.offset else ""
            reason = trouble.msg if isinstance(trouble, SyntaxError) else str(trouble)
            raise self._error(None, f"is not an expression: {reason}{at}{_comma_hint(self.text)}") from None

    def value(self, node: ast.expr, depth: int) -> _Value:
        self._check_depth(node, depth)
        if _is_condition(node):  # as a number: 1 or 0
            condition = self.condition(node, depth)
            return self._folded(node, PURE, lambda e: condition.choose(e, 1.0, 0.0), condition)
        read = self.values.get(type(node))
        if read is None:
            raise self._error(node, f"is not allowed in a formula ({_words(node)}){_comma_hint(self.text)}")
        return read(node, depth + 1)

    def condition(self, node: ast.expr, depth: int) -> _Condition:
        self._check_depth(node, depth)
        if isinstance(node, ast.Compare):
            return self._comparison(node, depth + 1)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            inner = self.condition(node.operand, depth + 1)
            return replace(inner, choose=lambda e, a, b: inner.choose(e, b, a))
        if isinstance(node, ast.BoolOp):
            parts = [self.condition(part, depth + 1) for part in node.values]
            return _joined(parts, isinstance(node.op, ast.And))
        raise self._error(node, "must be a comparison such as t < 1")

    def _number(self, node: ast.Constant, depth: int) -> _Value:
        if isinstance(node.value, bool) or not isinstance(node.value, (int, float)):
            raise self._error(node, "is not a number")
        given = node.value
        return self._folded(node, PURE, lambda e: float(given))

    def _name(self, node: ast.Name, depth: int) -> _Value:
        name = node.id
        if name in self.variables and name not in BY_COORDINATE:
            self.needs.add(name)
            return _Value(lambda e: e[name], False)
        if name in self.variables:
            raise self._error(node, f"must be read by coordinate, as in {_example(name)}")
        if name in CALLS and name not in CONSTANTS:
            raise self._error(node, f"is a function and needs arguments, as in {name}(...)")
        if name in self.definitions:
            return self._defined(node, name)
        if name not in CONSTANTS:
            raise self._unknown(node, name, [*self.variables, *self.definitions, *CONSTANTS, *CALLS])
        found = self._folded(node, PI if name == "pi" else PURE, lambda e: CONSTANTS[name])
        return replace(found, turning=Turning(settles=True))

    def _defined(self, node: ast.Name, name: str) -> _Value:
        """The value of a definition: its number, or the value that the call of the formula has computed."""
        meaning = self.definitions[name]
        foreign = sorted(meaning.needs - set(self.variables))
        if foreign:
            raise self._error(node, f"is defined with {', '.join(foreign)}, which is not available here")
        if meaning.constant is not None:
            self.numbers[name] = meaning.constant
            return _Value(lambda e: e[name], True, meaning.kind, True, _turning(name, meaning))
        self.used.update((name, *(inner for inner, _ in meaning.definitions)))
        self.numbers.update(meaning.numbers)
        self.needs |= meaning.needs
        for time in meaning.breakpoints:
            self._note_breakpoint(time)
        return _Value(lambda e: e[name], False, meaning.kind, turning=meaning.turning)

    def _binary(self, node: ast.BinOp, depth: int) -> _Value:
        operate = OPERATORS.get(type(node.op))
        if operate is None:
            hint = " (a power is written **)" if isinstance(node.op, ast.BitXor) else ""
            raise self._error(node, f"has an operator other than + - * / **{hint}")
        a, b = self.value(node.left, depth), self.value(node.right, depth)
        if operate is operator.truediv and b.constant and self._computed(node.right, b.evaluate) == 0.0:
            raise self._error(node, "divides by zero")
        found = self._folded(node, self._kind_of_two(node, a, b), lambda e: operate(a.evaluate(e), b.evaluate(e)), a, b)
        product = isinstance(node.op, (ast.Mult, ast.Div))
        return replace(found, turning=a.turning.times(b.turning) if product else a.turning | b.turning)

    def _kind_of_two(self, node: ast.BinOp, a: _Value, b: _Value) -> Kind:
        if isinstance(node.op, ast.Mult):
            return dimension.product(a.kind, b.kind)
        if isinstance(node.op, ast.Div):
            return dimension.quotient(a.kind, b.kind)
        if isinstance(node.op, ast.Pow):
            self._without_dimension(node, node.right, b)
            return dimension.power(a.kind, float(b.evaluate({})) if b.constant and not b.named else None)
        return self._common(node, (node.left, node.right), (a, b))

    def _common(self, node: ast.expr, nodes: Sequence[ast.expr], pieces: Sequence[_Value]) -> Kind:
        kinds = [piece.kind for piece in pieces]
        if any(piece.turning.rotates for piece in pieces):
            self._doubt(node, (name for piece in pieces for name in piece.turning.frequencies))
        try:
            return dimension.common(kinds, lambda k: short(self._piece(nodes[k])))
        except ModelError as trouble:
            raise self._error(node, str(trouble)) from None

    def _without_dimension(self, node: ast.expr, argument: ast.expr, piece: _Value) -> None:
        try:
            dimension.without_dimension(piece.kind, lambda: short(self._piece(argument)))
        except ModelError as trouble:
            raise self._error(node, str(trouble)) from None

    def _unary(self, node: ast.UnaryOp, depth: int) -> _Value:
        operate = OPERATORS.get(type(node.op))
        if operate is None:
            raise self._error(node, "has an operator other than + - * / **")
        a = self.value(node.operand, depth)
        return replace(self._folded(node, a.kind, lambda e: operate(a.evaluate(e)), a), turning=a.turning)

    def _conditional(self, node: ast.IfExp, depth: int) -> _Value:
        return self._choice(node, node.test, node.body, node.orelse, depth)

    def _choice(self, node: ast.expr, test: ast.expr, yes: ast.expr, no: ast.expr, depth: int) -> _Value:
        c, a, b = self.condition(test, depth), self.value(yes, depth), self.value(no, depth)
        kind = self._common(node, (yes, no), (a, b))
        found = self._folded(node, kind, lambda e: c.choose(e, a.evaluate(e), b.evaluate(e)), c, a, b)
        return replace(found, turning=a.turning | b.turning)

    def _call(self, node: ast.Call, depth: int) -> _Value:
        if not isinstance(node.func, ast.Name):
            raise self._error(node, "must call a function by its name")
        name = node.func.id
        if name in OF_FRAMES and "q" in self.variables:
            return self._of_frames(node, name)
        if name in TABLES:
            return self._table(node, TABLES[name], depth)
        function = CALLS.get(name)
        if function is None:
            raise self._unknown(node.func, name, list(CALLS), "function")
        wanted = len(inspect.signature(function).parameters)
        if node.keywords or len(node.args) != wanted:
            raise self._error(node, f"must have {wanted} positional argument{'s' if wanted > 1 else ''}")
        if name == "where":
            return self._choice(node, node.args[0], node.args[1], node.args[2], depth)
        pieces = [self.value(argument, depth) for argument in node.args]
        kind = self._kind_of_call(node, name, pieces)
        found = self._folded(node, kind, lambda e: function(*(p.evaluate(e) for p in pieces)), *pieces)
        turning = reduce(or_, (piece.turning for piece in pieces))
        return replace(found, turning=turning if name in SAME_KIND else replace(turning, frequencies=frozenset(), rotates=False))

    def _table(self, node: ast.Call, kind: type[PiecewiseLinear] | type[MotionTable], depth: int) -> _Value:
        """table(x, x0, y0, x1, y1, ...): straight lines through points; spline(...): a smooth curve."""
        if node.keywords or len(node.args) % 2 == 0 or len(node.args) < 5:
            raise self._error(node, "must have a value and pairs of numbers, as in table(t, 0, 1, 2.5, 3)")
        x, *points = [self.value(argument, depth) for argument in node.args]
        numbers = [self._plain(argument, piece) for argument, piece in zip(node.args[1:], points, strict=True)]
        try:
            table = kind(numbers[::2], numbers[1::2])
        except ModelError as trouble:
            raise self._error(node, f"must be a valid table ({trouble})") from None
        return self._folded(node, None, lambda e: table(x.evaluate(e)), x)

    def _plain(self, node: ast.expr, piece: _Value) -> float:
        if not piece.constant or piece.named:
            raise self._error(node, "must be a plain number, because it is a point of a table")
        return self._computed(node, piece.evaluate)

    def _of_frames(self, node: ast.Call, name: str) -> _Value:
        """position('arm.tip', 'x'), distance('arm.tip', 'ground'), angle('arm.tip', 'ground', 'z')."""
        least, most = OF_FRAMES[name]
        texts = [x.value for x in node.args if isinstance(x, ast.Constant) and isinstance(x.value, str)]
        if node.keywords or len(texts) < len(node.args) or not least <= len(texts) <= most:
            counted = f"{least}" if least == most else f"{least} to {most}"
            raise self._error(node, f"must have {counted} arguments in quotes, as in {_frame_example(name)}")
        of_axis = {"position": 1, "velocity": 1, "angle": 2, "angle_rate": 2}.get(name)
        if of_axis is not None and len(texts) > of_axis and texts[of_axis] not in AXES:
            raise self._error(node, f"must have an axis x, y or z, as in {_frame_example(name)}")
        for place in (text for k, text in enumerate(texts) if k != of_axis):
            body = re.split("[.@]", place)[0]
            if PLACES in self.known and body not in self.known[PLACES]:
                raise self._unknown(node, body, list(self.known[PLACES]), f"body in {place!r}")
        self.needs.add("q")
        moving = Turning(settles=True, rotates=name == "angle_rate")
        if name in ("position", "velocity"):
            frame, axis, *seen_from = texts
            return _Value(lambda e: getattr(e["q"], name)(frame, *seen_from)[AXES.index(axis)], False, turning=moving)
        return _Value(lambda e: getattr(e["q"], name)(*texts), False, turning=moving)

    def _kind_of_call(self, node: ast.Call, name: str, pieces: list[_Value]) -> Kind:
        if name in OF_PLAIN:
            self._without_dimension(node, node.args[0], pieces[0])
        if name in OF_ANGLE:
            self._doubt(node, pieces[0].turning.frequencies)
        kind = self._common(node, node.args, pieces)
        if name == "sqrt":
            return dimension.power(kind, 0.5)
        return dimension.becoming(RESULTS[name], kind) if name in RESULTS else kind

    def _coordinate(self, node: ast.Subscript, depth: int) -> _Value:
        table = node.value.id if isinstance(node.value, ast.Name) else ""
        if table not in BY_COORDINATE or table not in self.variables:
            able = [_example(name) for name in BY_COORDINATE if name in self.variables]
            rule = f"may only be read as {' or '.join(able)}" if able else "is not allowed here"
            raise self._error(node, rule)
        if not isinstance(node.slice, ast.Constant) or not isinstance(node.slice.value, str):
            raise self._error(node, f"must name a coordinate in quotes, as in {_example(table)}")
        name = node.slice.value
        if table in self.known and name not in self.known[table]:
            raise self._unknown(node, name, list(self.known[table]), "coordinate")
        self.needs.add(table)
        turning = Turning(settles=True, rotates=table == "v" and name in self.known.get(ROTATIONS, ()))
        return _Value(lambda e: e[table][name], False, turning=turning)

    def _comparison(self, node: ast.Compare, depth: int) -> _Condition:
        """a < b < c is (a < b) and (b < c)."""
        sides = [self.value(side, depth) for side in (node.left, *node.comparators)]
        links: list[_Condition] = []
        for op, a, b in zip(node.ops, sides, sides[1:], strict=False):
            compare = COMPARISONS.get(type(op))
            if compare is None:
                raise self._error(node, "has a comparison other than < <= > >=")
            links.append(_compared(compare, a, b))
        self._common(node, [node.left, *node.comparators], sides)
        self._note_breakpoints([node.left, *node.comparators], sides)
        return _joined(links, True)

    def _note_breakpoints(self, nodes: list[ast.expr], sides: list[_Value]) -> None:
        """Note the constant with which t itself is compared: a time at which the formula may jump."""
        for k, node in enumerate(nodes):
            if isinstance(node, ast.Name) and node.id == "t":
                for j in (k - 1, k + 1):
                    if 0 <= j < len(sides) and sides[j].constant:
                        self._note_breakpoint(self.constant(nodes[j], sides[j]))

    def _note_breakpoint(self, time: float) -> None:
        expression = expression_of(time)
        self.breakpoints.setdefault(time if expression is None else str(expression), time)

    def _folded(self, node: ast.expr, kind: Kind, evaluate: Callable[[Environment], Scalar], *parts: Any) -> _Value:
        """Compute a piece whose parts are all constant, so that one without a value is refused here."""
        if not all(part.constant for part in parts):
            return _Value(evaluate, False, kind)
        named = any(part.named for part in parts)
        result = self._computed(node, evaluate)
        return _Value(evaluate if named else lambda e: result, True, kind, named)

    def _computed(self, node: ast.expr, evaluate: Callable[[Environment], Scalar]) -> float:
        try:
            result = float(evaluate({name: float(number) for name, number in self.numbers.items()}))
        except (ArithmeticError, ValueError) as trouble:
            raise self._error(node, f"has no value ({trouble})") from None
        if not math.isfinite(result):
            raise self._error(node, "has no finite value")
        return result

    def constant(self, node: ast.expr, piece: _Value) -> float:
        """The value of a constant piece, tied to the parameters that it depends on."""
        names = list(dict.fromkeys(x.id for x in ast.walk(node) if isinstance(x, ast.Name) and x.id in self.numbers))
        expressions = [expression_of(self.numbers[name]) for name in names]
        if not any(expression is not None for expression in expressions):
            return self._computed(node, piece.evaluate)
        if isinstance(node, ast.Name):
            return self.numbers[node.id]
        arguments = tuple(self.numbers[name] if e is None else e for name, e in zip(names, expressions, strict=True))
        return TiedFloat.of(TextExpression(self._piece(node), _at(self._piece(node), names, piece.evaluate), arguments))

    def _doubt(self, node: ast.expr, names: Iterable[str]) -> None:
        for name in names:
            self.doubts.setdefault(name, node)

    def judged(self, piece: _Value) -> Turning:
        """Refuse frequencies that are added to the rate of a rotation, or whose sine is taken, unless 2 pi is seen to elsewhere."""
        wrong = [name for name in self.doubts if name not in piece.turning.settled]
        if wrong:
            raise self._error(self.doubts[wrong[0]], f"must be in radians; {dimension.not_a_rate(wrong)}")
        return piece.turning

    def _check_depth(self, node: ast.expr, depth: int) -> None:
        if depth > MAX_DEPTH:
            raise self._error(None, f"is nested deeper than {MAX_DEPTH} levels")

    def _unknown(self, node: ast.expr, name: str, known: list[str], kind: str = "name") -> ModelError:
        close = get_close_matches(name, known, n=1)
        hint = f" (did you mean {close[0]!r}?)" if close else ""
        return self._error(node, f"is an unknown {kind}{hint}")

    def _error(self, node: ast.expr | None, rule: str) -> ModelError:
        whole = f"formula {short(self.text)!r}"
        if node is None:
            return ModelError(f"{whole}: {rule}")
        return ModelError(f"{whole}: {short(self._piece(node))!r} at column {node.col_offset + 1} {rule}")

    def _piece(self, node: ast.expr) -> str:
        """The text of the node."""
        return ast.get_source_segment(self.text, node) or ""


def _turning(name: str, meaning: ParsedFormula) -> Turning:
    """Of a definition that is a number: whether it is a frequency, an angle, or has pi in it."""
    kind = meaning.kind
    if kind is not None and kind.hertz and dict(kind.powers) == units.PER_TIME:
        return Turning(frozenset({name}))
    return Turning(settles=meaning.turning.settles or (kind is not None and kind.angle and not kind.powers))


def _example(table: str) -> str:
    return f"{table}['{EXAMPLES.get(table, 'arm.angle')}']"


def _frame_example(name: str) -> str:
    return f"{name}('arm.tip', '{'x' if name in ('position', 'velocity') else 'ground'}')"


def _at(text: str, names: list[str], evaluate: Callable[[Environment], Scalar]) -> Callable[..., Scalar]:
    """A constant piece as a function of the named numbers in it."""

    def function(*numbers: Scalar) -> Scalar:
        try:
            return evaluate(dict(zip(names, numbers, strict=True)))
        except (ArithmeticError, ValueError) as trouble:
            given = ", ".join(f"{name} = {number}" for name, number in zip(names, numbers, strict=True))
            raise ModelError(f"formula {short(text)!r}: must have a value, but has none at {given} ({trouble})") from None

    return function


def _is_condition(node: ast.expr) -> bool:
    negation = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    return negation or isinstance(node, (ast.Compare, ast.BoolOp))


def _compared(compare: Callable[..., Scalar], a: _Value, b: _Value) -> _Condition:
    return _Condition(
        lambda e, yes, no: where(compare(a.evaluate(e), b.evaluate(e)), yes, no), a.constant and b.constant, a.named or b.named
    )


def _joined(parts: list[_Condition], both: bool) -> _Condition:
    """a and b: choose by b inside a. a or b: choose by b outside a."""
    whole = parts[-1]
    for part in reversed(parts[:-1]):
        whole = _pair(part, whole, both)
    return whole


def _pair(first: _Condition, second: _Condition, both: bool) -> _Condition:
    constant, named = first.constant and second.constant, first.named or second.named
    if both:
        return _Condition(lambda e, yes, no: first.choose(e, second.choose(e, yes, no), no), constant, named)
    return _Condition(lambda e, yes, no: first.choose(e, yes, second.choose(e, yes, no)), constant, named)


def _words(node: ast.expr) -> str:
    """Python's name of the node in words, for messages: ListComp -> list comp."""
    return re.sub(r"(?<!^)(?=[A-Z])", " ", type(node).__name__).lower()


def short(text: str, limit: int = 80) -> str:
    return text if len(text) <= limit else text[: limit - 3] + "..."
