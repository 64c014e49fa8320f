"""Keys of values: equal keys mean equal content, also for functions. Values whose content may change unnoticed have no key."""

from __future__ import annotations

import functools
import types
from collections.abc import Hashable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from pliant.model.captured import captured, globals_read, names_read
from pliant.model.parameter import expression_of

DEEPEST = 20  # levels of nesting
_IMMUTABLE = (str, bool, int, bytes, type(None), range)
_CONSTANT_MODULES = frozenset(("math", "cmath", "numpy", "pliant", "casadi", "builtins", "operator"))  # nobody assigns to these


class _Unknown(Exception):
    """Raised for a value whose content may change unnoticed."""


def value_key(x: Any) -> Hashable | None:
    """A key of the content; None if there is none, as for a function that reads a list, or an object of a user's class."""
    try:
        return _key(x, 0)
    except _Unknown:
        return None


def _key(x: Any, depth: int) -> Hashable:
    if depth > DEEPEST:
        raise _Unknown
    expression = expression_of(x)
    if expression is not None:  # also for a tied float: an equal float may come from another expression
        return ("expression", expression.own_key())
    if isinstance(x, (float, complex)):
        return repr(x)  # 0.0 and -0.0 differ, nan equals nan
    if isinstance(x, _IMMUTABLE):
        return (type(x), x)
    if isinstance(x, (tuple, frozenset)):
        return (type(x), tuple(_key(item, depth + 1) for item in x))
    own = getattr(type(x), "own_key", None)  # of a class that defines its own key
    if own is not None:
        return (type(x), own(x))
    if is_dataclass(x) and not isinstance(x, type):
        return _key_of_part(x, depth)
    if isinstance(x, np.ndarray) and x.dtype != object:
        return (x.shape, x.dtype.str, x.tobytes())
    return _key_of_callable(x, depth)


def _key_of_part(x: Any, depth: int) -> Hashable:
    """The key of a frozen part, whose mappings are assumed not to change."""
    if not x.__dataclass_params__.frozen:
        raise _Unknown
    values = [getattr(x, field.name) for field in fields(x)]
    values = [tuple(value.items()) if isinstance(value, Mapping) else value for value in values]
    return (type(x), tuple(_key(value, depth + 1) for value in values))


def _key_of_callable(x: Any, depth: int) -> Hashable:
    if isinstance(x, types.FunctionType):
        return _key_of_function(x, depth)
    if isinstance(x, types.MethodType):
        return ("method", _key(x.__func__, depth + 1), _key(x.__self__, depth + 1))
    if isinstance(x, functools.partial):
        return ("partial", *(_key(part, depth + 1) for part in (x.func, x.args, tuple(sorted(x.keywords.items())))))
    if isinstance(x, (types.BuiltinFunctionType, type, np.ufunc)) and _is_constant(getattr(x, "__module__", None) or "builtins"):
        return ("known", id(x))
    raise _Unknown


def _key_of_function(function: types.FunctionType, depth: int) -> Hashable:
    """The code of a function, and the values that it reads from outside."""
    if _is_constant(function.__module__ or "") and function.__closure__ is None and function.__defaults__ is None:
        return ("known", function.__module__, function.__code__)  # its globals do not change
    try:
        inside = tuple(_key(x, depth + 1) for x in captured(function))
    except ValueError:  # a captured variable without a value yet
        raise _Unknown from None
    outside = tuple((name, _key_of_global(x, function, depth)) for name, x in globals_read(function).items())
    return ("function", function.__code__, inside, outside)


def _key_of_global(x: Any, function: types.FunctionType, depth: int) -> Hashable:
    """The key of a global. Modules can be modified from anywhere, so the key contains what the function reads from them."""
    if not isinstance(x, types.ModuleType):
        return _key(x, depth + 1)
    if _is_constant(x.__name__):
        return ("module", x.__name__)
    read = sorted(name for name in names_read(function.__code__) if hasattr(x, name))
    return ("module", x.__name__, tuple((name, _key(getattr(x, name), depth + 1)) for name in read))


def _is_constant(module: str) -> bool:
    return module.partition(".")[0] in _CONSTANT_MODULES
