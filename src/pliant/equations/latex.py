"""The equations as LaTeX for reading: one display per matrix, with textbook names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pliant.equations.symbolic import Symbolic

# letter of a coordinate or a beam number, by the second part of its name
_LETTERS = {
    "angle": r"\theta", "x": "x", "y": "y", "z": "z", "position": "s", "extension": "s", "displacement": "s", "mass": "m",
}  # fmt: skip
_GREEK = (
    "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu", "nu", "xi", "pi", "rho",
    "sigma", "tau", "upsilon", "phi", "chi", "psi", "omega", "Gamma", "Delta", "Theta", "Lambda", "Xi", "Pi", "Sigma", "Phi",
    "Omega",
)  # fmt: skip
_TAKEN = ("M", "h", "B", "c", "A", "gamma", "lambda")  # letters used by the equations themselves
DIGITS = 6  # significant digits of a number
WHOLE = 250  # operations that can still be read without abbreviations


def latex(equations: Symbolic) -> str:
    """Definitions of the symbols, then M, h, B, constraints, positions and Jacobian of tips; repeated expressions get a name."""
    import sympy

    names = {symbol: _letter(symbol.name) for symbol in equations.symbols.values()}
    lines = [f"% {equations.name}: M a + h = B u" + (r" + A^T \lambda, A a + \gamma = 0" if equations.rows else "")]
    lines += [f"% {note}" for note in equations.notes]
    lines += [f"% r: x, y, z of the tips of {', '.join(equations.bodies)}; they move with J v"]
    lines += [f"% {names[symbol]} = {symbol.name}{_value(equations.values, symbol)}" for symbol in names]
    shown = {"M": equations.mass_matrix, "h": equations.bias, "B": equations.input_matrix}
    if equations.rows:
        shown |= {"c": equations.constraint, "A": equations.constraint_jacobian, r"\gamma": equations.constraint_bias}
    shown |= {"r": equations.tip_position, "J": equations.tip_jacobian}
    pieces, matrices = _shortened(sympy, list(shown.values()), equations.symbols)
    lines += [rf"\[ {sympy.latex(symbol)} = {_write(sympy, entry, names)} \]" for symbol, entry in pieces]
    for name, matrix in zip(shown, matrices, strict=True):
        if matrix.rows and matrix.cols:
            lines.append(rf"\[ {name} = {_write(sympy, matrix, names)} \]")
    return "\n".join(lines) + "\n"


def _shortened(sympy: Any, matrices: list[Any], known: Iterable[str]) -> tuple[list[Any], list[Any]]:
    """Long equations with names for repeated subexpressions, distinct from all known names; short ones unchanged."""
    if sum(sympy.count_ops(entry) for matrix in matrices for entry in matrix) <= WHOLE:
        return [], matrices
    pieces, short = sympy.cse(matrices, symbols=sympy.numbered_symbols("s", exclude=map(sympy.Symbol, known)), order="none")
    return pieces, short


def _write(sympy: Any, expression: Any, names: Mapping[Any, str]) -> str:
    rounded = expression.xreplace({number: sympy.Float(number, DIGITS) for number in expression.atoms(sympy.Float)})
    text: str = sympy.latex(rounded, symbol_names=dict(names), full_prec=False)
    return text


def _value(values: Mapping[Any, float], symbol: Any) -> str:
    return f" = {values[symbol]:.{DIGITS}g}" if symbol in values else ""


def _letter(name: str) -> str:
    r"""a.angle is \theta_{a}, its rate \dot{\theta}_{a}; a quantity without a letter keeps its name."""
    moving, parts = name.endswith("'"), name.rstrip("'").split(".")
    if len(parts) == 1:
        return _written_letter(name)
    letter = _LETTERS.get(parts[1], r"\mathrm{" + _plain(parts[1]) + "}")
    rest = [part for k, part in enumerate(parts) if k != 1]
    letter = rf"\dot{{{letter}}}" if moving else letter
    return letter + r"_{\mathrm{" + ",".join(map(_plain, rest)) + "}}"


def _written_letter(name: str) -> str:
    r"""A user-defined name: m_1 is m_{1}, rho is \rho; words, and letters with another meaning here, are set upright."""
    head, _, index = name.partition("_")
    upright = head in _TAKEN or (len(head) != 1 and head not in _GREEK)
    letter = r"\mathrm{" + _plain(head) + "}" if upright else "\\" + head if head in _GREEK else head
    return letter + (r"_{\mathrm{" + _plain(index) + "}}" if index else "")


def _plain(text: str) -> str:
    return text.replace("_", r"\_").replace(" ", r"\ ")
