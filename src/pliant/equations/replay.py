"""Replays a traced function over any value type: its instructions are executed one after another."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import casadi as ca

from pliant.codegen.program import op_name
from pliant.errors import ModelError

Value = TypeVar("Value")


def replay(
    column: ca.SX,
    matrix: ca.SX,
    arguments: Sequence[Value],
    number: Callable[[float], Value],
    operations: Mapping[int, Callable[..., Value]],
) -> list[Value]:
    """The entries of a matrix, row by row, for given values of the entries of a column of symbols."""
    flat = ca.densify(ca.reshape(matrix.T, -1, 1)) if matrix.numel() else ca.SX.zeros(0, 1)
    function = ca.Function("entries", [column], [flat])
    slots: dict[int, Value] = {}
    found: dict[int, Value] = {}
    for k in range(function.n_instructions()):
        op, inputs, outputs = function.instruction_id(k), function.instruction_input(k), function.instruction_output(k)
        if op == ca.OP_OUTPUT:
            found[outputs[1]] = slots[inputs[0]]
        elif op == ca.OP_INPUT:
            slots[outputs[0]] = arguments[inputs[1]]
        elif op == ca.OP_CONST:
            slots[outputs[0]] = number(function.instruction_constant(k))
        elif op in operations:
            slots[outputs[0]] = operations[op](*(slots[i] for i in inputs))
        else:
            raise ModelError.of("equations", "operation", "must be an operation that can be written as an expression", op_name(op))
    return [found[k] for k in range(flat.numel())]
