"""C for the LLVM text that our compilers write: the same functions, operation by operation, for any C compiler.

Every value is a local of the same name, every block a label. The language is what `emit`, `lanes`, `plain`, `sincos` and the
loop compiler write and no more: an instruction that they do not write is an error here. Built without fused products
(-ffp-contract=off), its numbers are those of machine code to the last bit, but for sines of huge angles, which the C library has.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable, Mapping

HEAD = """#include <stdint.h>

/* whole numbers that wrap around, and numbers by their bits */
#define ADD(a, b) ((int64_t)((uint64_t)(a) + (uint64_t)(b)))
#define SUB(a, b) ((int64_t)((uint64_t)(a) - (uint64_t)(b)))
#define MUL(a, b) ((int64_t)((uint64_t)(a) * (uint64_t)(b)))
#define SHL(a, b) ((int64_t)((uint64_t)(a) << (b)))
#define EACH(n) for (int k_ = 0; k_ < (n); k_++)
typedef union { double real; int64_t whole; } bits_;
static double real_of(int64_t x) { bits_ b; b.whole = x; return b.real; }
static int64_t whole_of(double x) { bits_ b; b.real = x; return b.whole; }
typedef struct { double x[8]; } double8;
typedef struct { double x[4]; } double4;
typedef struct { int64_t x[4]; } whole4;
typedef struct { int x[4]; } truth4;
double sqrt(double); double fabs(double); double floor(double); double ceil(double); double copysign(double, double);
double sin(double); double cos(double);
"""
_TYPES = {"double": "double", "i64": "int64_t", "i1": "int", "i8": "uint8_t", "ptr": "char *", "void": "void",
          "<8 x double>": "double8", "<4 x double>": "double4", "<4 x i64>": "whole4", "<4 x i1>": "truth4"}  # fmt: skip
_TYPE = r"(?:double|i64|i32|i1|i8|ptr|void|<\d+ x \w+>|\{[^}]*\})"
_ATTRIBUTES = re.compile(r"\b(?:noalias|nonnull|readonly|nsw|nuw|exact|contract)\b ?")
_FROM_LIBRARY = frozenset(("sqrt", "fabs", "floor", "ceil", "copysign"))  # exact everywhere
_ALSO = {"maxnum": "fmax", "minnum": "fmin"}  # intrinsics with other names than their functions
_KEYWORDS = frozenset(
    (
        "auto",
        "break",
        "case",
        "char",
        "const",
        "continue",
        "default",
        "do",
        "double",
        "else",
        "enum",
        "extern",
        "float",
        "for",
        "goto",
        "if",
        "inline",
        "int",
        "long",
        "register",
        "restrict",
        "return",
        "short",
        "signed",
        "sizeof",
        "static",
        "struct",
        "switch",
        "typedef",
        "union",
        "unsigned",
        "void",
        "volatile",
        "while",
    )
)
_BINARY = {"fadd": "{} + {}", "fsub": "{} - {}", "fmul": "{} * {}", "fdiv": "{} / {}", "add": "ADD({}, {})", "sub": "SUB({}, {})",
           "mul": "MUL({}, {})", "sdiv": "{} / {}", "srem": "{} % {}", "and": "{} & {}", "or": "{} | {}", "xor": "{} ^ {}",
           "shl": "SHL({}, {})", "ashr": "{} >> {}", "lshr": "(int64_t)((uint64_t){} >> {})"}  # fmt: skip
_COMPARED = {"oeq": "{} == {}", "olt": "{} < {}", "ole": "{} <= {}", "ogt": "{} > {}", "oge": "{} >= {}", "une": "{} != {}",
             "one": "({0} < {1} || {0} > {1})", "uno": "({0} != {0} || {1} != {1})", "ord": "({0} == {0} && {1} == {1})",
             "ult": "!({} >= {})", "ule": "!({} > {})", "ugt": "!({} <= {})", "uge": "!({} < {})",
             "eq": "{} == {}", "ne": "{} != {}", "slt": "{} < {}", "sle": "{} <= {}", "sgt": "{} > {}",
             "sge": "{} >= {}"}  # fmt: skip
_WITHOUT_SIGN = {f"u{name}": f"(uint64_t){{}} {sign} (uint64_t){{}}"
                 for name, sign in (("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">="))}  # fmt: skip
_CONVERTED = {("sitofp", "double"): "(double){}", ("uitofp", "double"): "(double){}", ("fptosi", "i64"): "(int64_t){}",
              ("fptoui", "i64"): "(int64_t){}", ("zext", "i64"): "(int64_t){}", ("trunc", "i8"): "(uint8_t){}",
              ("trunc", "i1"): "(int)({} & 1)", ("bitcast", "i64"): "whole_of({})", ("bitcast", "double"): "real_of({})",
              ("inttoptr", "ptr"): "(char *)(intptr_t){}", ("ptrtoint", "i64"): "(int64_t)(intptr_t){}"}  # fmt: skip
_SIZES = {"double": 8, "i64": 8, "i8": 1}

Written = tuple[str | list[str], str]  # an expression, or statements about {0}; its type


PREFIX = "pl_"  # of functions that a text exports


def c_text(texts: Mapping[str, str]) -> str:
    """One C file of several LLVM texts, by names that keep their internal functions apart; every function is static."""
    bodies: list[tuple[str, str]] = []
    tables: list[str] = []
    tuples: dict[str, str] = {}
    for own, text in texts.items():
        reader = _Reader(own)
        bodies += reader.functions(text)
        tables += reader.tables
        tuples |= reader.tuples
    prototypes = [head + ";" for head, _ in bodies]
    functions = [f"{head} {{\n{body}\n}}" for head, body in bodies]
    return "\n".join([HEAD, *tuples.values(), *prototypes, *tables, *functions]) + "\n"


class _Reader:
    """Reads one text."""

    def __init__(self, own: str) -> None:
        self.own = own
        self.internal: set[str] = set()
        self.tables: list[str] = []
        self.tuples: dict[str, str] = {}

    def functions(self, text: str) -> list[tuple[str, str]]:
        """(head, body) of every function defined."""
        self.internal = {name for name in re.findall(r"^define internal [^@\n]*@([\w.]+)\(", text, re.M)}
        self.internal |= set(re.findall(r"^@([\w.]+) =", text, re.M))
        found: list[tuple[str, str]] = []
        lines = iter(text.splitlines())
        for line in lines:
            if line.startswith("@"):
                self._table(line)
            elif line.startswith("define"):
                body = []
                for inside in lines:
                    if inside == "}":
                        break
                    body.append(inside)
                found.append(_Function(self, line, body).text())
        return found

    def _table(self, line: str) -> None:
        match = re.fullmatch(r"@([\w.]+) = internal (?:unnamed_addr )?constant \[(\d+) x double\] \[(.*)\]", line)
        if match is None:
            raise ValueError(f"no C for {line[:100]!r}")
        numbers = ", ".join(constant(entry.split()[1]) for entry in match[3].split(", "))
        self.tables.append(f"static const double {self.name(match[1])}[{match[2]}] = {{{numbers}}};")

    def name(self, name: str) -> str:
        plain = re.sub(r"\W", "_", name)
        return f"{self.own}_{plain}" if name in self.internal else f"{PREFIX}{plain}"

    def type(self, llvm: str) -> str:
        if llvm.startswith("{"):
            parts = [part.strip() for part in llvm[1:-1].split(",")]
            name = "of_" + "_".join(parts)
            fields = " ".join(f"{_TYPES[part]} f{k};" for k, part in enumerate(parts))
            self.tuples[name] = f"typedef struct {{ {fields} }} {name};"
            return name
        return _TYPES[llvm]


def constant(text: str) -> str:
    """A number of LLVM text, which writes doubles by their bits, in C."""
    if text in ("true", "false"):
        return str(int(text == "true"))
    if text == "zeroinitializer":
        return "0"
    if not text.startswith("0x"):
        return text if abs(float(text)) < 2.0**31 else f"INT64_C({text})" if "." not in text else repr(float(text))
    value = struct.unpack(">d", bytes.fromhex(text[2:].zfill(16)))[0]
    if not math.isfinite(value):
        return f"real_of(INT64_C({int(text, 16) - (1 << 64 if int(text, 16) >= 1 << 63 else 0)}))"
    return repr(value) if value >= 0.0 and not text.startswith("0x8") else f"({value!r})"


class _Function:
    """Writes one function."""

    def __init__(self, reader: _Reader, head: str, body: list[str]) -> None:
        self.reader, self.body = reader, body
        match = re.match(rf"define (?:internal )?({_TYPE}) @([\w.]+)\((.*?)\)[^()]*(?:\([^()]*\)[^()]*)*\{{$", head)
        if match is None:
            raise ValueError(f"no C for {head[:100]!r}")
        self.answer, self.name = match[1], reader.name(match[2])
        self.names: dict[str, str] = {}
        self.rooms: set[str] = set()  # names of memory for one value
        arguments = [part.rsplit(" ", 1) for part in _split(_ATTRIBUTES.sub("", match[3]))]
        passed = [f"{_spaced(reader.type(kind.strip()))}{self._local(name)}" for kind, name in arguments]
        self.head = f"static {_spaced(reader.type(self.answer))}{self.name}({', '.join(passed) or 'void'})"
        self.phis: dict[str, list[tuple[str, dict[str, str]]]] = {}  # by label: names, and what they are by the block before
        self.at, self.declared = "", list[str]()

    def text(self) -> tuple[str, str]:
        self._read_phis()
        lines = [line for text in self.body for line in self._line(text)]
        return self.head, "\n".join([*self.declared, *lines])

    def _read_phis(self) -> None:
        label = ""
        for line in self.body:
            if (mark := re.match(r"([\w.]+):", line)) is not None:
                label = mark[1]
            elif (phi := re.match(rf"\s+(%[\w.]+) = phi ({_TYPE}) (.*)$", line)) is not None:
                sources = {block: value for value, block in re.findall(r"\[ ?([^,\]]+), %([\w.]+) ?\]", phi[3])}
                own = self._local(phi[1])
                self.declared.append(f"  {_spaced(self.reader.type(phi[2]))}{own};")
                self.phis.setdefault(label, []).append((own, {b: self.value(v) for b, v in sources.items()}))

    def _local(self, name: str) -> str:
        if name not in self.names:
            plain = re.sub(r"\W", "_", name[1:])
            while plain in _KEYWORDS or plain in self.names.values():
                plain += "_"
            self.names[name] = plain
        return self.names[name]

    def value(self, text: str) -> str:
        text = text.strip()
        if text.startswith("%"):
            return self._local(text)
        return self.reader.name(text[1:]) if text.startswith("@") else constant(text)

    def pointer(self, text: str) -> str:
        found = self.value(text)
        return f"((char *){found})" if text.strip().startswith("@") else found

    def _line(self, line: str) -> list[str]:
        line = re.sub(r", (?:align \d+|!tbaa !\d+|!llvm\.loop !\d+)", "", line.split(" ;")[0])
        if (mark := re.fullmatch(r"([\w.]+):", line)) is not None:
            self.at = mark[1]
            return [f"{_label(mark[1])}:;"]
        line = _ATTRIBUTES.sub("", line.strip())
        if not line or " = phi " in line or line == "unreachable":
            return []
        if (given := re.fullmatch(r"(%[\w.]+) = (.*)", line)) is not None:
            return [f"  {text}" for text in self._given(given[1], given[2])]
        return [f"  {text}" for text in self._done(line)]

    def _done(self, line: str) -> list[str]:
        """Instructions without a value."""
        kind, _, rest = line.partition(" ")
        if kind == "ret":
            return ["return;"] if rest == "void" else [f"return {self.value(rest[len(self.answer) :])};"]
        if kind == "store":
            match = re.fullmatch(rf"({_TYPE}) (.+), ptr ([%@][\w.]+)", rest)
            assert match is not None, line
            if match[2] == "zeroinitializer":
                return [f"EACH(8) {self._local(match[3])}.x[k_] = 0.0;"]
            to = self._local(match[3]) if match[3] in self.rooms else f"*({self.reader.type(match[1])} *){self.pointer(match[3])}"
            return [f"{to} = {self.value(match[2])};"]
        if kind == "br":
            return self._branch(rest)
        if kind == "call":
            return [self._call(rest) + ";"]
        raise ValueError(f"no C for {line!r}")

    def _branch(self, rest: str) -> list[str]:
        labels = re.findall(r"label %([\w.]+)", rest)
        if len(labels) == 1:
            return [self._jump(labels[0])]
        condition = self.value(rest.split(",")[0].removeprefix("i1 "))
        return [f"if ({condition}) {{ {self._jump(labels[0])} }}", self._jump(labels[1])]

    def _jump(self, label: str) -> str:
        """Set what the block knows by where control comes from, then go there."""
        moved = [(own, sources[self.at or "entry"]) for own, sources in self.phis.get(label, ())]
        if any(source in {own for own, _ in moved[:k]} for k, (_, source) in enumerate(moved)):
            raise ValueError(f"no C for values of block {label} that exchange places")
        return " ".join([*(f"{own} = {source};" for own, source in moved if own != source), f"goto {_label(label)};"])

    def _given(self, name: str, text: str) -> list[str]:
        """Instructions with a value."""
        kind, _, rest = text.partition(" ")
        if kind == "alloca":
            self.rooms.add(name)
            self.declared.append(f"  {_spaced(self.reader.type(rest))}{self._local(name)};")
            return []
        found, of = self._expression(kind, rest)
        if isinstance(found, list):  # statements
            return [f"{_spaced(of)}{self._local(name)};", *(line.format(self._local(name)) for line in found)]
        return [f"{_spaced(of)}{self._local(name)} = {found};"]

    def _expression(self, kind: str, rest: str) -> Written:
        """The value of an instruction, or statements that make it, and its C type."""
        for pattern, write in _FORMS.get(kind, _OPERATIONS):
            if (match := pattern.fullmatch(rest if kind in _FORMS else f"{kind} {rest}")) is not None:
                return write(self, *match.groups())
        raise ValueError(f"no C for {kind} {rest}")

    # ---- numbers

    def _load(self, of: str, place: str) -> Written:
        kind = self.reader.type(of)
        return (self._local(place) if place in self.rooms else f"*({kind} *){self.pointer(place)}"), kind

    def _place(self, of: str, base: str, index: str) -> Written:
        at, size = self.value(index), _SIZES[of]
        where = str(size * int(at)) if re.fullmatch(r"-?\d+", at) else at if size == 1 else f"{size} * {at}"
        return f"{self.pointer(base)} + {where}", "char *"

    def _compare(self, how: str, of: str, a: str, b: str) -> Written:
        table = _COMPARED if of == "double" or how[0] != "u" else _WITHOUT_SIGN
        return table[how].format(self.value(a), self.value(b)), "int"

    def _select(self, condition: str, a: str, of: str, b: str) -> Written:
        return f"{self.value(condition)} ? {self.value(a)} : {self.value(b)}", self.reader.type(of)

    def _negate(self, a: str) -> Written:
        return f"-{self.value(a)}", "double"

    def _convert(self, how: str, a: str, of: str) -> Written:
        return _CONVERTED[how, of].format(self.value(a)), _TYPES[of]

    def _operate(self, how: str, of: str, a: str, b: str) -> Written:
        return _BINARY[how].format(self.value(a), self.value(b)), _TYPES[of]

    def _extract_part(self, of: str, a: str, k: str) -> Written:
        return f"{self.value(a)}.f{k}", _TYPES[of[1:-1].split(", ")[int(k)]]

    def _insert_part(self, of: str, a: str, x: str, k: str) -> Written:
        return [*self._copy(a), f"{{0}}.f{k} = {self.value(x)};"], self.reader.type(of)

    # ---- vectors

    def _extract(self, of: str, a: str, k: str) -> Written:
        return f"{self.value(a)}.x[{k}]", _TYPES[of]

    def _insert(self, of: str, a: str, x: str, k: str) -> Written:
        return [*self._copy(a), f"{{0}}.x[{k}] = {self.value(x)};"], _TYPES[of]

    def _spread(self, n: str, of: str, a: str) -> Written:
        return [f"EACH({n}) {{0}}.x[k_] = {self.value(a)}.x[0];"], _TYPES[f"<{n} x {of}>"]

    def _select_lanes(self, n: str, condition: str, of: str, a: str, b: str) -> Written:
        return self._each(n, of, f"{self._lane(condition)} ? {self._lane(a)} : {self._lane(b)}")

    def _negate_lanes(self, n: str, a: str) -> Written:
        return self._each(n, "double", f"-{self._lane(a)}")

    def _convert_lanes(self, how: str, n: str, a: str, of: str) -> Written:
        return self._each(n, of, _CONVERTED[how, of].format(self._lane(a)))

    def _operate_lanes(self, how: str, n: str, of: str, a: str, b: str) -> Written:
        return self._each(n, of, _BINARY[how].format(self._lane(a), self._lane(b)))

    def _call_lanes(self, n: str, name: str, passed: str) -> Written:
        values = ", ".join(self._lane(part.rsplit("> ", 1)[1]) for part in _split(passed))
        return self._each(n, "double", f"{self._function(f'llvm.{name}.f64')}({values})")

    def _largest_lane(self, a: str) -> Written:
        x = self.value(a)
        return [f"{{0}} = {x}.x[0];", f"EACH(4) if ({x}.x[k_] > {{0}}) {{0}} = {x}.x[k_];"], "double"

    def _copy(self, a: str) -> list[str]:
        return [] if a in ("undef", "poison") else [f"{{0}} = {self.value(a)};"]

    def _each(self, n: str, of: str, expression: str) -> Written:
        return [f"EACH({n}) {{0}}.x[k_] = {expression};"], _TYPES[f"<{n} x {of}>"]

    def _lane(self, text: str) -> str:
        if (same := re.fullmatch(r"splat \(\w+ (.+)\)", text.strip())) is not None:
            return constant(same[1])
        return f"{self.value(text)}.x[k_]"

    # ---- calls

    def _called(self, answer: str, rest: str) -> Written:
        return self._call(f"{answer} {rest}"), self.reader.type(answer)

    def _call(self, call: str) -> str:
        match = re.fullmatch(rf"({_TYPE}) ([%@][\w.]+)\((.*)\)", call)
        assert match is not None, call
        parts = [part.strip() for part in _split(match[3])]
        kinds = [re.match(_TYPE, part)[0] for part in parts]  # type: ignore[index]
        passed = ", ".join(
            self.pointer(p[len(k) :]) if k == "ptr" else self.value(p[len(k) :]) for p, k in zip(parts, kinds, strict=True)
        )
        if match[2].startswith("%"):
            types = ", ".join(self.reader.type(kind) for kind in kinds)
            return f"(({_spaced(self.reader.type(match[1]))}(*)({types}))(intptr_t){self._local(match[2])})({passed})"
        return f"{self._function(match[2][1:])}({passed})"

    def _function(self, name: str) -> str:
        if (own := re.fullmatch(r"llvm\.(\w+)\.f64", name)) is not None:
            name = _ALSO.get(own[1], own[1])
        return name if name in _FROM_LIBRARY or name in ("sin", "cos") else self.reader.name(name)


_VALUE, _NUMBER = r"([^,]+)", r"(?:double|i64|i1|i8|ptr)"
_Write = Callable[..., Written]


def _forms(*forms: tuple[str, _Write]) -> tuple[tuple[re.Pattern[str], _Write], ...]:
    return tuple((re.compile(pattern), write) for pattern, write in forms)


_FORMS: dict[str, tuple[tuple[re.Pattern[str], _Write], ...]] = {
    "load": _forms((rf"({_TYPE}), ptr ([%@][\w.]+)", _Function._load)),
    "getelementptr": _forms((r"(double|i64|i8), ptr ([%@][\w.]+), i64 (.+)", _Function._place)),
    "icmp": _forms((rf"(\w+) ({_NUMBER}) {_VALUE}, {_VALUE}", _Function._compare)),
    "fcmp": _forms((rf"(\w+) ({_NUMBER}) {_VALUE}, {_VALUE}", _Function._compare)),
    "select": _forms(
        (rf"i1 {_VALUE}, {_TYPE} {_VALUE}, ({_TYPE}) {_VALUE}", _Function._select),
        (rf"<(\d+) x i1> {_VALUE}, <\d+ x (\w+)> {_VALUE}, <\d+ x \w+> {_VALUE}", _Function._select_lanes),
    ),
    "fneg": _forms((rf"double {_VALUE}", _Function._negate), (rf"<(\d+) x double> {_VALUE}", _Function._negate_lanes)),
    "call": _forms(
        (r"<(\d+) x double> @llvm\.(\w+)\.v\d+f64\((.*)\)", _Function._call_lanes),
        (r"double @llvm\.vector\.reduce\.fmax\.v4f64\(<4 x double> (%[\w.]+)\)", _Function._largest_lane),
        (rf"({_TYPE}) (.*)", _Function._called),
    ),
    "extractvalue": _forms((r"({.*?}) (%[\w.]+), (\d+)", _Function._extract_part)),
    "insertvalue": _forms((rf"({{.*?}}) (\S+), {_TYPE} {_VALUE}, (\d+)", _Function._insert_part)),
    "extractelement": _forms((r"<\d+ x (\w+)> (%[\w.]+), i\d+ (\d+)", _Function._extract)),
    "insertelement": _forms((rf"(<\d+ x \w+>) (\S+), \w+ {_VALUE}, i\d+ (\d+)", _Function._insert)),
    "shufflevector": _forms((r"<(\d+) x (\w+)> (%[\w.]+), <.*?> poison, <\d+ x i32> zeroinitializer", _Function._spread)),
}
_OPERATIONS = _forms(
    (rf"(\w+) {_NUMBER} (\S+) to ({_NUMBER})", _Function._convert),
    (rf"(\w+) ({_NUMBER}) {_VALUE}, {_VALUE}", _Function._operate),
    (r"(\w+) <(\d+) x \w+> (\S+) to <\d+ x (\w+)>", _Function._convert_lanes),
    (rf"(\w+) <(\d+) x (\w+)> {_VALUE}, {_VALUE}", _Function._operate_lanes),
)


def _label(name: str) -> str:
    return "at_" + re.sub(r"\W", "_", name)


def _spaced(kind: str) -> str:
    return kind if kind.endswith("*") else f"{kind} "


def _split(text: str) -> list[str]:
    """Arguments, at commas that are in no brackets."""
    return re.findall(r"(?:[^,(<{]|\([^)]*\)|<[^>]*>|\{[^}]*\})+", text)
