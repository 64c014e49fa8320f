"""A program as functions of time, at a fixed state and fixed parameters: many times at once, by NumPy."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import casadi as ca
import numpy as np

from pliant.arrays import Floats
from pliant.codegen.operations import CONVERGED, LIBRARY
from pliant.codegen.program import CONSTANT, PARAMETER, STATE, TIME, Program

Step = tuple[int, Callable[..., Any], tuple[int, ...]]  # a value, its operation, its arguments

BLOCK = 2**12  # times whose values fit into the processor's cache
_NAMES = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2", "asinh": "arcsinh", "acosh": "arccosh",
          "atanh": "arctanh", "pow": "power"}  # fmt: skip
OPERATIONS: dict[int, Callable[..., Any]] = {
    ca.OP_ADD: np.add, ca.OP_SUB: np.subtract, ca.OP_MUL: np.multiply, ca.OP_DIV: np.divide, ca.OP_NEG: np.negative,
    ca.OP_SQ: np.square, ca.OP_TWICE: lambda a: a + a, ca.OP_INV: np.reciprocal, CONVERGED: lambda a: a,
    ca.OP_SQRT: np.sqrt, ca.OP_FABS: np.abs, ca.OP_FLOOR: np.floor, ca.OP_CEIL: np.ceil, ca.OP_SIGN: np.sign,
    ca.OP_FMIN: np.fmin, ca.OP_FMAX: np.fmax, ca.OP_COPYSIGN: np.copysign,
    ca.OP_LT: lambda a, b: 1.0 * (a < b), ca.OP_LE: lambda a, b: 1.0 * (a <= b), ca.OP_EQ: lambda a, b: 1.0 * (a == b),
    ca.OP_NE: lambda a, b: 1.0 * (a != b), ca.OP_AND: lambda a, b: 1.0 * ((a != 0.0) & (b != 0.0)),
    ca.OP_OR: lambda a, b: 1.0 * ((a != 0.0) | (b != 0.0)), ca.OP_NOT: lambda a: 1.0 * (a == 0.0),
    ca.OP_IF_ELSE_ZERO: lambda a, b: np.where(a != 0.0, b, 0.0),
    ca.OP_REMAINDER: lambda a, b: a - b * np.rint(a / b), ca.OP_ERF: np.vectorize(math.erf, otypes=[float]),
    TIME: lambda: None,  # it is given
}  # fmt: skip
OPERATIONS |= {kind: getattr(np, _NAMES.get(name, name)) for kind, name in LIBRARY.items() if kind not in OPERATIONS}


class OverTime:
    """The values of a program that change with time, and the constants among them."""

    def __init__(self, program: Program, y: Floats, p: Floats) -> None:
        leaves: dict[int, Sequence[float] | Floats] = {STATE: y, PARAMETER: p, CONSTANT: program.constants}
        self.program, self.order = program, sorted(program.needed())
        self.constant: dict[int, np.float64] = {}  # values that do not change
        self._known_steps: dict[tuple[int, ...], list[Step]] = {}
        with np.errstate(all="ignore"):
            for value in self.order:
                kind, arguments = program.kind[value], list(program.arguments(value))
                if kind < 0:
                    if kind != TIME:
                        self.constant[value] = np.float64(leaves[kind][program.a[value]])
                elif all(x in self.constant for x in arguments):
                    self.constant[value] = np.float64(OPERATIONS[kind](*(self.constant[x] for x in arguments)))
                elif kind == ca.OP_MUL and any(self.constant.get(x) == 0.0 for x in arguments):
                    self.constant[value] = np.float64(0.0)  # an amplitude of zero switches a formula off

    def __call__(self, values: Sequence[int], times: Floats) -> Floats:
        """Values (value, ...) at times of any shape; outside its domain a function is nan or infinite."""
        steps, flat = self._steps(tuple(values)), times.ravel()
        found = np.empty((len(values), flat.size))
        known: dict[int, Any] = dict(self.constant)
        with np.errstate(all="ignore"):
            for first in range(0, flat.size, BLOCK):
                some = slice(first, first + BLOCK)
                for value, compute, arguments in steps:
                    known[value] = compute(*[known[x] for x in arguments]) if arguments else flat[some]
                for row, value in zip(found, values, strict=True):
                    row[some] = known[value]
        return found.reshape(len(values), *times.shape)

    def _steps(self, values: tuple[int, ...]) -> list[Step]:
        """How values are computed from time, in order; time itself has no arguments."""
        if values not in self._known_steps:
            program, cone, waiting = self.program, set[int](), list(values)
            while waiting:
                value = waiting.pop()
                if value not in cone and value not in self.constant:
                    cone.add(value)
                    waiting += program.arguments(value)
            self._known_steps[values] = [
                (value, OPERATIONS[program.kind[value]], tuple(program.arguments(value))) for value in sorted(cone)
            ]
        return self._known_steps[values]
