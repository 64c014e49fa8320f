"""How each operation is written in LLVM text.

No fast-math flag is used: nothing is reassociated, no division becomes a multiplication by a reciprocal, and nan,
infinities and the sign of zero are what IEEE 754 says. The one liberty, a product fused with its sum, is taken in
fuse.py and not left to LLVM, so that neither the cutting into chunks nor LLVM's effort changes a bit of the result.
"""

from __future__ import annotations

import casadi as ca

# Fused products, in addition to casadi's codes: a b + c, a b - c, c - a b, each rounded once.
FUSED_ADD, FUSED_SUB, FUSED_FROM = 1001, 1002, 1003
FUSED = frozenset((FUSED_ADD, FUSED_SUB, FUSED_FROM))

CONVERGED = 1004  # the value itself, to which a search has converged: not differentiated (scalar.converged)

# t: the type, one: a one of this type, a and b: the first and the last argument
ARITHMETIC = {
    ca.OP_ADD: "fadd {t} {a}, {b}",
    ca.OP_SUB: "fsub {t} {a}, {b}",
    ca.OP_MUL: "fmul {t} {a}, {b}",
    ca.OP_DIV: "fdiv {t} {a}, {b}",
    ca.OP_NEG: "fneg {t} {a}",
    ca.OP_SQ: "fmul {t} {a}, {a}",
    ca.OP_TWICE: "fadd {t} {a}, {a}",
    ca.OP_INV: "fdiv {t} {one}, {a}",
    CONVERGED: "fdiv {t} {a}, {one}",  # which LLVM leaves out
}

# fmin and fmax give the other argument when one is nan, as casadi's do.
INTRINSICS = {
    ca.OP_SQRT: "sqrt",
    ca.OP_FABS: "fabs",
    ca.OP_FLOOR: "floor",
    ca.OP_CEIL: "ceil",
    ca.OP_FMIN: "minnum",
    ca.OP_FMAX: "maxnum",
    ca.OP_COPYSIGN: "copysign",
}

# Functions of the C library, which the Python process has loaded.
_NAMES = ("exp", "log", "pow", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "asinh", "acosh",
          "atanh", "fmod", "remainder", "erf", "log1p", "expm1", "hypot")  # fmt: skip
LIBRARY: dict[int, str] = {getattr(ca, f"OP_{name.upper()}"): name for name in _NAMES}

# Number of arguments of functions that take more than one.
_TWO = ("minnum", "maxnum", "copysign", "pow", "atan2", "fmod", "remainder", "hypot")
ARGUMENTS = {"fma": 3} | dict.fromkeys(_TWO, 2)

# Truth values: an i1 where a condition is read, and 0.0 or 1.0 in arithmetic. nan is neither less than, equal to, nor zero; it is
# unequal to everything.
COMPARISONS = {ca.OP_LT: "olt", ca.OP_LE: "ole", ca.OP_EQ: "oeq", ca.OP_NE: "une"}
LOGIC = {ca.OP_AND: "and", ca.OP_OR: "or"}
TRUTHS = frozenset((*COMPARISONS, *LOGIC, ca.OP_NOT))

# sign and if_else_zero need more than one line: see chunk_writer.
SUPPORTED = frozenset((*ARITHMETIC, *INTRINSICS, *LIBRARY, *TRUTHS, ca.OP_SIGN, ca.OP_IF_ELSE_ZERO))
