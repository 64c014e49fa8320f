"""The entries of the state, or of p, on which the outputs of a program depend."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pliant.codegen.program import Program


def entries_read(program: Program, kind: int) -> list[int]:
    """Entries of an input (STATE or PARAMETER), in ascending order; a program also lists inputs that nothing reads."""
    read, waiting = set(program.outputs), list(program.outputs)
    while waiting:
        for argument in program.arguments(waiting.pop()):
            if argument not in read:
                read.add(argument)
                waiting.append(argument)
    return sorted({program.a[value] for value in read if program.kind[value] == kind})
