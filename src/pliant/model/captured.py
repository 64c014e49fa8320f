"""What a Python function reads besides its arguments: captured variables, default values and globals."""

from __future__ import annotations

import functools
import types
from collections.abc import Iterator
from typing import Any


@functools.lru_cache(maxsize=4096)  # nothing in code changes; formulas are looked through at every run
def names_read(code: types.CodeType) -> tuple[str, ...]:
    """Names, sorted, that code and code nested in it may look up as globals; attributes are included, which is harmless."""
    found = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found.update(names_read(constant))
    return tuple(sorted(found))


def captured(function: types.FunctionType) -> Iterator[Any]:
    """Values of captured variables and defaults; raises ValueError if a variable has no value yet."""
    for cell in function.__closure__ or ():
        yield cell.cell_contents
    yield from function.__defaults__ or ()
    yield from (function.__kwdefaults__ or {}).values()


def globals_read(function: types.FunctionType) -> dict[str, Any]:
    """The globals that the function reads from its module, by name."""
    return {name: function.__globals__[name] for name in names_read(function.__code__) if name in function.__globals__}
