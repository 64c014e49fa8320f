"""What a Python function reads besides its arguments: captured variables, default values and globals."""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Any


def names_read(code: types.CodeType) -> set[str]:
    """Names that code, and code nested in it, may look up as globals; names of attributes are included, which is harmless."""
    found = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found |= names_read(constant)
    return found


def captured(function: types.FunctionType) -> Iterator[Any]:
    """Values of captured variables and defaults; raises ValueError if a variable has no value yet."""
    for cell in function.__closure__ or ():
        yield cell.cell_contents
    yield from function.__defaults__ or ()
    yield from (function.__kwdefaults__ or {}).values()


def globals_read(function: types.FunctionType) -> dict[str, Any]:
    """The globals that the function reads from its module, by name."""
    return {name: function.__globals__[name] for name in sorted(names_read(function.__code__)) if name in function.__globals__}
