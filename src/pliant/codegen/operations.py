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

ARITHMETIC = {
    ca.OP_ADD: "fadd double {a}, {b}",
    ca.OP_SUB: "fsub double {a}, {b}",
    ca.OP_MUL: "fmul double {a}, {b}",
    ca.OP_DIV: "fdiv double {a}, {b}",
    ca.OP_NEG: "fneg double {a}",
    ca.OP_SQ: "fmul double {a}, {a}",
    ca.OP_TWICE: "fadd double {a}, {a}",
    ca.OP_INV: "fdiv double 1.0, {a}",
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
LIBRARY = {
    ca.OP_EXP: "exp",
    ca.OP_LOG: "log",
    ca.OP_POW: "pow",
    ca.OP_SIN: "sin",
    ca.OP_COS: "cos",
    ca.OP_TAN: "tan",
    ca.OP_ASIN: "asin",
    ca.OP_ACOS: "acos",
    ca.OP_ATAN: "atan",
    ca.OP_ATAN2: "atan2",
    ca.OP_SINH: "sinh",
    ca.OP_COSH: "cosh",
    ca.OP_TANH: "tanh",
    ca.OP_ASINH: "asinh",
    ca.OP_ACOSH: "acosh",
    ca.OP_ATANH: "atanh",
    ca.OP_FMOD: "fmod",
    ca.OP_REMAINDER: "remainder",
    ca.OP_ERF: "erf",
    ca.OP_LOG1P: "log1p",
    ca.OP_EXPM1: "expm1",
    ca.OP_HYPOT: "hypot",
}

# Number of arguments of functions that take more than one.
_TWO = ("minnum", "maxnum", "copysign", "pow", "atan2", "fmod", "remainder", "hypot")
ARGUMENTS = {"fma": 3} | dict.fromkeys(_TWO, 2)

# Truth values: an i1 where a condition is read, and 0.0 or 1.0 in arithmetic. nan is neither less than, equal to, nor zero; it is
# unequal to everything.
COMPARISONS = {ca.OP_LT: "olt", ca.OP_LE: "ole", ca.OP_EQ: "oeq", ca.OP_NE: "une"}
LOGIC = {ca.OP_AND: "and", ca.OP_OR: "or"}
TRUTHS = frozenset((*COMPARISONS, *LOGIC, ca.OP_NOT))

# sign and if_else_zero need more than one line; emit.py writes them.
SUPPORTED = frozenset((*ARITHMETIC, *INTRINSICS, *LIBRARY, *TRUTHS, ca.OP_SIGN, ca.OP_IF_ELSE_ZERO))
