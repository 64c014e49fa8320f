"""The equations over SymPy symbols."""

from __future__ import annotations

import functools
import keyword
import re
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca

from pliant.equations.matrices import MATRICES, Matrices
from pliant.equations.replay import replay
from pliant.errors import ModelError
from pliant.host.time_limit import within
from pliant.model import check

# Largest numbers of operations, and of letters and numbers, of an entry that is simplified: above them simplification takes minutes
# and does not shorten the entry.
SIMPLIFIED, LETTERS = 400, 14


@dataclass(frozen=True)
class Symbolic:
    """M a + h = B u + A^T lam as SymPy matrices; `symbols` holds every argument by name, `values` the values of the parameters."""

    name: str
    q: tuple[Any, ...]
    v: tuple[Any, ...]
    u: tuple[Any, ...]
    p: tuple[Any, ...]
    time: Any
    values: Mapping[Any, float]
    rows: tuple[str, ...]
    bodies: tuple[str, ...]  # whose tips these are
    position_rate: Any
    mass_matrix: Any
    bias: Any
    input_matrix: Any
    constraint: Any
    constraint_jacobian: Any
    constraint_bias: Any
    tip_position: Any  # x, y, z of each body's tip, world axes
    tip_jacobian: Any  # J: the tips move with J v, plus what prescribed motions add
    notes: tuple[str, ...]

    @property
    def symbols(self) -> dict[str, Any]:
        """All symbols by name."""
        return {symbol.name: symbol for symbol in (self.time, *self.q, *self.v, *self.u, *self.p)}

    @property
    def matrices(self) -> dict[str, Any]:
        """All matrices and vectors by name."""
        return {name: getattr(self, name) for name in MATRICES}

    def source(self) -> str:
        """The source of a Python module with the same equations: one name per symbol and per matrix."""
        sympy = _sympy()
        names = dict(zip(self.symbols.values(), _identifiers(sympy, list(self.symbols)), strict=True))
        plain = {symbol: sympy.Symbol(name, real=True) for symbol, name in names.items()}
        lines = [f'"""{self.name}: M a + h = B u + A^T lam, A a + gamma = 0."""', ""]
        lines += [f"# {note}" for note in self.notes]
        lines += ["from sympy import *  # noqa: F403", ""]
        lines += [f"{name} = Symbol({symbol.name!r}, real=True)" for symbol, name in names.items()]
        lines += [f"{name} = {matrix.xreplace(plain)}" for name, matrix in self.matrices.items()]
        values = ", ".join(f"{names[symbol]}: {value!r}" for symbol, value in self.values.items())
        return "\n".join([*lines, f"values = {{{values}}}", ""])


def symbolic(equations: Matrices, simplify: bool, max_seconds: float) -> Symbolic:
    """max_seconds: of simplification; if it takes longer, the matrices that are left stay as they are."""
    max_seconds = check.positive("equations", "max_seconds", max_seconds, "s")
    sympy, notes = _sympy(), equations.notes
    taken = {*equations.time.names, *equations.u.names}
    groups = {group.letter: tuple(sympy.Symbol(_symbol_name(group.letter, name, taken), real=True) for name in group.names)
              for group in equations.inputs}  # fmt: skip
    arguments = [symbol for group in equations.inputs for symbol in groups[group.letter]]
    column = ca.vertcat(*(group.column for group in equations.inputs))
    number, operations = functools.partial(_number, sympy), _operations(sympy)
    matrices = {
        name: sympy.Matrix(*matrix.shape, replay(column, matrix, arguments, number, operations))
        for name, matrix in equations.outputs.items()
    }
    if simplify:
        began = time.monotonic()
        for name, matrix in matrices.items():
            tidy = functools.partial(_tidy_tip if name.startswith("tip_") else _tidy, sympy)
            left = max_seconds - (time.monotonic() - began)
            shorter = within(left, functools.partial(matrix.applyfunc, tidy)) if left > 0.0 else None
            if shorter is None:
                notes = (*notes, f"{name} is not simplified: all that takes more than max_seconds = {max_seconds:g} s")
            else:
                matrices[name] = shorter
    return Symbolic(
        name=equations.name,
        time=groups["t"][0],
        **{letter: groups[letter] for letter in "qvup"},
        values=dict(zip(groups["p"], equations.values, strict=True)),
        rows=equations.rows,
        bodies=equations.bodies,
        notes=notes,
        **matrices,
    )


def _symbol_name(letter: str, name: str, taken: Collection[str]) -> str:
    """A symbol's name: a rate is its coordinate with a prime; a parameter named t, or like a drive, is kept distinct from it."""
    return f"{name}'" if letter == "v" else f"{name}_p" if letter == "p" and name in taken else name


def _identifiers(sympy: Any, names: Sequence[str]) -> list[str]:
    """Distinct Python names for coordinates, rates and parameters; names of SymPy and of the matrices are not used."""
    taken = {"t", "values", *MATRICES, *keyword.kwlist, *dir(sympy)}
    found = []
    for name in names:
        plain = re.sub(r"\W", "_", name.replace("'", "_rate"))
        plain = f"_{plain}" if plain[0].isdigit() else plain
        while plain in taken:
            plain += "_"
        taken.add(plain)
        found.append(plain)
    return found


def _sympy() -> Any:
    try:
        import sympy
    except ImportError as missing:
        raise ModelError("equations: SymPy is not installed: pip install 'pliant[equations]'") from missing
    return sympy


def _number(sympy: Any, value: float) -> Any:
    """Integers and half-integers become exact numbers, because they come from formulas, not from measurements."""
    return sympy.Rational(int(2 * value), 2) if abs(value) < 100 and (2.0 * value).is_integer() else sympy.Float(value)


def _tidy(sympy: Any, entry: Any) -> Any:
    if sympy.count_ops(entry) > SIMPLIFIED or len(entry.atoms(sympy.Symbol, sympy.Float)) > LETTERS:
        return entry
    best = min((entry, sympy.trigsimp(sympy.expand(entry)), sympy.simplify(entry)), key=sympy.count_ops)
    return sympy.collect_const(sympy.factor_terms(best)) if best.is_Add or best.is_Mul else best


def _operations(sympy: Any) -> dict[int, Callable[..., Any]]:
    s = sympy
    one: dict[int, Callable[..., Any]] = {
        ca.OP_SIN: s.sin, ca.OP_COS: s.cos, ca.OP_TAN: s.tan, ca.OP_ASIN: s.asin, ca.OP_ACOS: s.acos, ca.OP_ATAN: s.atan,
        ca.OP_SINH: s.sinh, ca.OP_COSH: s.cosh, ca.OP_TANH: s.tanh, ca.OP_EXP: s.exp, ca.OP_LOG: s.log, ca.OP_SQRT: s.sqrt,
        ca.OP_FABS: s.Abs, ca.OP_SIGN: s.sign, ca.OP_FLOOR: s.floor, ca.OP_NEG: lambda x: -x, ca.OP_SQ: lambda x: x**2,
        ca.OP_INV: lambda x: 1 / x, ca.OP_TWICE: lambda x: 2 * x, ca.OP_ASSIGN: lambda x: x, ca.OP_NOT: s.Not,
    }  # fmt: skip
    two: dict[int, Callable[..., Any]] = {
        ca.OP_ADD: lambda a, b: a + b, ca.OP_SUB: lambda a, b: a - b, ca.OP_MUL: lambda a, b: a * b,
        ca.OP_DIV: lambda a, b: a / b, ca.OP_POW: lambda a, b: a**b, ca.OP_CONSTPOW: lambda a, b: a**b,
        ca.OP_FMIN: s.Min, ca.OP_FMAX: s.Max, ca.OP_ATAN2: s.atan2, ca.OP_HYPOT: lambda a, b: s.sqrt(a**2 + b**2),
        ca.OP_LT: s.Lt, ca.OP_LE: s.Le, ca.OP_EQ: s.Eq, ca.OP_NE: s.Ne, ca.OP_AND: s.And, ca.OP_OR: s.Or,
        ca.OP_IF_ELSE_ZERO: lambda condition, x: s.Piecewise((x, condition), (0, True)),
    }  # fmt: skip
    return {**one, **two}


def _tidy_tip(sympy: Any, entry: Any) -> Any:
    """Angles with slopes of mode shapes, which are numbers, do not combine: simplification takes minutes and finds nothing."""
    bent = any(angle.atoms(sympy.Float) for angle in entry.atoms(sympy.sin, sympy.cos))
    return entry if bent else _tidy(sympy, entry)
