"""The equations as C: one self-contained file and its header, one function per output, with the model's names."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import casadi as ca

from pliant.equations.matrices import Matrices
from pliant.equations.replay import replay
from pliant.host.atomic_files import write_text
from pliant.model import check

_KINDS = {"q": "coordinate", "v": "rate", "u": "input", "p": "parameter"}
_ARGUMENTS = "double t, const double *q, const double *v, const double *u, const double *p, double *out"


def write(equations: Matrices, path: str | Path) -> None:
    """Write FILE.c and FILE.h."""
    target = check.path("write_c", "path", path)
    stem = identifier(target.stem)
    for suffix, text in ((".c", source(equations, stem, target.stem)), (".h", header(equations, stem))):
        write_text(target.with_suffix(suffix), text)


def header(equations: Matrices, stem: str) -> str:
    """Prototypes, and an index by name for every entry."""
    guard = f"{stem.upper()}_H"
    lines = [f"/* {comment(equations.name)}: M a + h = B u + A^T lam, A a + gamma = 0; matrices are written row by row. */"]
    lines += [f"/* {comment(note)} */" for note in equations.notes]
    lines += [f"#ifndef {guard}", f"#define {guard}", ""]
    for group in equations.inputs[1:]:
        lines += enumeration(f"{stem}_{_KINDS[group.letter]}", group.names)
    lines += enumeration(f"{stem}_constraint", equations.rows)
    lines += [f"extern const double {stem}_values[{max(len(equations.values), 1)}]; /* parameter values of the model */", ""]
    for name, matrix in _written(equations).items():
        size = "".join(f"[{n}]" for n in matrix.shape if n != 1) or "[1]"
        lines.append(f"void {stem}_{name}({_ARGUMENTS}); /* out{size} */")
    return "\n".join([*lines, "", "#endif", ""])


def source(equations: Matrices, stem: str, included: str) -> str:
    values = ", ".join(repr(x) for x in equations.values) or "0.0"
    parts = [f'#include "{included}.h"', "", "#include <math.h>", "", f"const double {stem}_values[] = {{{values}}};"]
    for name, matrix in _written(equations).items():
        parts += ["", f"void {stem}_{name}({_ARGUMENTS}) {{", *_Body(equations, matrix).lines, "}"]
    return "\n".join([*parts, ""])


def identifier(name: str) -> str:
    """A C name for any name."""
    plain = re.sub(r"\W", "_", name, flags=re.ASCII)
    return plain if re.match(r"[A-Za-z_]", plain) else f"_{plain}"


def _written(equations: Matrices) -> dict[str, ca.SX]:
    """The outputs that have entries, since C has no empty arrays."""
    return {name: matrix for name, matrix in {**equations.outputs, **equations.solution}.items() if matrix.numel()}


def enumeration(kind: str, names: Sequence[str]) -> list[str]:
    """Names as constants of C, and their number."""
    own: list[str] = []  # a.b and a_b must remain distinct in C
    for name in names:
        plain = identifier(name)
        while plain in own:
            plain += "_"
        own.append(plain)
    entries = [f"    {kind}_{own[k]} = {k}, /* {comment(name)} */" for k, name in enumerate(names)]
    return [f"enum {kind} {{", *entries, f"    {kind}s = {len(names)}", "};", ""]


def _number(value: float) -> str:
    return repr(value) if value >= 0.0 else f"({value!r})"


def comment(text: str) -> str:
    """A text that cannot end its comment."""
    return text.replace("*/", "* /")


class _Body:
    """The statements of one function: inputs by name, one line per operation."""

    def __init__(self, equations: Matrices, matrix: ca.SX) -> None:
        self.lines: list[str] = []
        self._count = 0
        self._known: dict[str, str] = {}
        groups = equations.inputs
        places = [(group.letter, k, name) for group in groups for k, name in enumerate(group.names)]
        column = ca.vertcat(*(group.column for group in groups))
        operations = {op: self._assign(form) for op, form in _FORMS.items()}
        arguments = ["t" if letter == "t" else f"{letter}[{k}]" for letter, k, _ in places]
        self._comments = {f"{letter}[{k}]": name for letter, k, name in places if letter != "t"}
        entries = replay(column, matrix, arguments, _number, operations)
        self.lines += [f"    out[{k}] = {entry};{self._note(entry)}" for k, entry in enumerate(entries)]
        used = " ".join(self.lines)
        unused = [letter for letter in "tqvup" if not re.search(rf"\b{letter}\b(?!\()", re.sub(r"/\*.*?\*/", "", used))]
        self.lines[:0] = [f"    (void){letter};" for letter in unused]

    def _assign(self, form: str) -> Callable[..., str]:
        def make(*arguments: str) -> str:
            text = form.format(*arguments)
            if text not in self._known:
                self._known[text] = f"s{self._count}"
                self._count += 1
                notes = "".join(self._note(argument) for argument in arguments)
                self.lines.append(f"    const double {self._known[text]} = {text};{notes}")
            return self._known[text]

        return make

    def _note(self, argument: str) -> str:
        return f" /* {comment(self._comments[argument])} */" if argument in self._comments else ""


# C has no sign function; everything else is in math.h
_FORMS = {
    ca.OP_ADD: "{0} + {1}", ca.OP_SUB: "{0} - {1}", ca.OP_MUL: "{0} * {1}", ca.OP_DIV: "{0} / {1}", ca.OP_NEG: "-{0}",
    ca.OP_SQ: "{0} * {0}", ca.OP_TWICE: "2.0 * {0}", ca.OP_INV: "1.0 / {0}", ca.OP_ASSIGN: "{0}",
    ca.OP_POW: "pow({0}, {1})", ca.OP_CONSTPOW: "pow({0}, {1})", ca.OP_HYPOT: "hypot({0}, {1})", ca.OP_ATAN2: "atan2({0}, {1})",
    ca.OP_FMIN: "fmin({0}, {1})", ca.OP_FMAX: "fmax({0}, {1})", ca.OP_SIGN: "({0} > 0.0) - ({0} < 0.0)",
    ca.OP_LT: "{0} < {1}", ca.OP_LE: "{0} <= {1}", ca.OP_EQ: "{0} == {1}", ca.OP_NE: "{0} != {1}",
    ca.OP_AND: "{0} && {1}", ca.OP_OR: "{0} || {1}", ca.OP_NOT: "!{0}", ca.OP_IF_ELSE_ZERO: "{0} ? {1} : 0.0",
    **{getattr(ca, f"OP_{name.upper()}"): f"{name}({{0}})"
       for name in ("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp", "log", "sqrt", "fabs", "floor")},
}  # fmt: skip
