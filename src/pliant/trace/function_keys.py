"""When are two functions of a user the same? Where code and everything it reads are equal and cannot change unseen."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Hashable
from typing import Any

from pliant.model.captured import captured, globals_read, names_read

DEEPEST = 20  # functions that call functions
_IMMUTABLE = (float, int, str, bool, bytes, complex, type(None))
_CONSTANT_MODULES = frozenset(("math", "cmath", "numpy", "pliant", "casadi", "builtins", "operator"))  # nobody sets things there


class _Unknown(Exception):
    """Something whose content may change unseen."""


def function_key(function: Callable[..., Any]) -> Hashable | None:
    """What tells a function from others; None where that cannot be known."""
    try:
        return _key(function, 0)
    except _Unknown:
        return None


def _key(x: Any, depth: int) -> Hashable:
    if depth > DEEPEST:
        raise _Unknown
    if isinstance(x, _IMMUTABLE):
        return (type(x), repr(x) if isinstance(x, (float, complex)) else x)  # 0.0 and -0.0 differ, nan equals nan
    if isinstance(x, (tuple, frozenset)):
        return (type(x), tuple(_key(item, depth + 1) for item in x))
    if isinstance(x, types.FunctionType):
        return _key_of_function(x, depth)
    if isinstance(x, functools.partial):
        return ("partial", *(_key(part, depth + 1) for part in (x.func, x.args, tuple(sorted(x.keywords.items())))))
    if isinstance(x, (types.BuiltinFunctionType, type)) and _is_constant(x.__module__ or "builtins"):
        return ("known", id(x))
    key = getattr(type(x), "function_key", None)  # parts of pliant that say so themselves
    if key is not None:
        return (type(x), key(x))
    raise _Unknown


def _key_of_function(function: types.FunctionType, depth: int) -> Hashable:
    """Its code, and what it finds outside."""
    if _is_constant(function.__module__ or ""):
        return ("known", id(function)) if function.__closure__ is None else _key_of_own(function, depth)
    return _key_of_own(function, depth)


def _key_of_own(function: types.FunctionType, depth: int) -> Hashable:
    try:
        inside = tuple(_key(x, depth + 1) for x in captured(function))
    except ValueError:  # a variable that is not filled yet
        raise _Unknown from None
    read = globals_read(function)
    outside = tuple((name, _key_of_global(x, function, depth)) for name, x in read.items())
    return ("function", function.__code__, inside, outside)


def _key_of_global(x: Any, function: types.FunctionType, depth: int) -> Hashable:
    """A module may be set from anywhere: what the function reads of it is looked at, unless nobody sets things there."""
    if not isinstance(x, types.ModuleType):
        return _key(x, depth + 1)
    if _is_constant(x.__name__):
        return ("module", x.__name__)
    read = sorted(name for name in names_read(function.__code__) if hasattr(x, name))
    return ("module", x.__name__, tuple((name, _key(getattr(x, name), depth + 1)) for name in read))


def _is_constant(module: str) -> bool:
    return module.partition(".")[0] in _CONSTANT_MODULES
