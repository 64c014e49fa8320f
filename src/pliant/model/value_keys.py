"""Keys of values: equal keys mean equal content, also for functions. Values whose content may change unnoticed have no key."""

from __future__ import annotations

import functools
import types
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np

from pliant.model.captured import captured, globals_read, names_read
from pliant.model.parameter import expression_of
from pliant.model.walk import field_names

_IMMUTABLE = (str, bool, int, bytes, type(None), range)
_CONSTANT_MODULES = frozenset(("math", "cmath", "numpy", "pliant", "casadi", "builtins", "operator"))  # nobody assigns to these


class UnknownContent(Exception):
    """Raised for an object whose content cannot be identified, or may change unnoticed."""

    def __init__(self, what: Any) -> None:
        super().__init__()
        self.what = what


def value_key(x: Any) -> Hashable | None:
    """A key of the content; None if there is none, as for a function that reads a list, or an object of a user's class."""
    try:
        return ContentReading().words(x)  # type: ignore[no-any-return]
    except UnknownContent:
        return None


class ContentReading:
    """Reads objects by their content: functions by their code and the values that they read from outside."""

    deepest = 20  # levels of nesting

    def __init__(self) -> None:
        self._open: list[int] = []  # identities of the objects that are being read

    def words(self, x: Any) -> Any:
        if type(x) is types.FunctionType:  # most of what formulas read
            return self._within(x)
        expression = expression_of(x)
        if expression is not None:  # also for a tied float: an equal float may come from another expression
            return ("expression", expression.own_key())
        if isinstance(x, (float, complex)):
            return repr(x)  # 0.0 and -0.0 differ, nan equals nan
        return (type(x), x) if isinstance(x, _IMMUTABLE) else self._within(x)

    def _within(self, x: Any) -> Any:
        if len(self._open) > self.deepest:
            raise UnknownContent(x)
        self._open.append(id(x))
        content = self._content(x)
        self._open.pop()
        return content

    def _content(self, x: Any) -> Any:
        if type(x) is types.FunctionType:
            return self._callable(x)
        if isinstance(x, (tuple, frozenset)):
            return (type(x), tuple(map(self.words, x)))
        own = getattr(type(x), "own_key", None)  # of a class that defines its own key
        if own is not None:
            return (type(x), own(x))
        names = field_names(type(x))
        if names is not None and x.__dataclass_params__.frozen:  # its mappings are assumed not to change
            values = (getattr(x, name) for name in names)
            return (type(x), tuple(self._mapping(v) if isinstance(v, Mapping) else self.words(v) for v in values))
        if isinstance(x, np.ndarray) and x.dtype != object:
            return (x.shape, x.dtype.str, x.tobytes())
        return self._callable(x)

    def _mapping(self, x: Mapping[Any, Any]) -> Any:
        return self.words(tuple(x.items()))

    def _callable(self, x: Any) -> Any:
        if isinstance(x, types.FunctionType):
            return self._known(x) or self._function(x)
        if isinstance(x, types.MethodType):
            return ("method", self.words(x.__func__), self.words(x.__self__))
        if isinstance(x, functools.partial):
            return ("partial", self.words(x.func), self.words(x.args), self._mapping(dict(sorted(x.keywords.items()))))
        return self._other(x)

    def _known(self, function: types.FunctionType) -> Any:
        """The name of a function that never changes, nor the globals it reads; None for any other."""
        plain = function.__closure__ is None and function.__defaults__ is None
        return ("known", function.__module__, function.__code__) if plain and _is_constant(function.__module__) else None

    def _function(self, function: types.FunctionType) -> Any:
        """The code of a function, and the values that it reads from outside."""
        try:
            inside = tuple(map(self.words, captured(function)))
        except ValueError:  # a captured variable without a value yet
            raise UnknownContent(function) from None
        read = names_read(function.__code__)
        outside = tuple(self._global(name, x, read) for name, x in globals_read(function).items() if name != "__builtins__")
        return ("function", self._code(function.__code__), inside, outside)

    def _global(self, name: str, x: Any, read: Iterable[str]) -> Any:
        """A global. Modules can be modified from anywhere, so of a user's module the attributes count that may be read."""
        if not isinstance(x, types.ModuleType) or self._stays(x):
            return (name, self.words(x))
        return (name, x.__name__, tuple((inner, self.words(getattr(x, inner))) for inner in read if hasattr(x, inner)))

    def _stays(self, module: types.ModuleType) -> bool:
        return _is_constant(module.__name__)

    def _code(self, code: types.CodeType) -> Any:
        return code

    def _other(self, x: Any) -> Any:
        if isinstance(x, types.ModuleType) and self._stays(x):
            return ("module", x.__name__)
        if isinstance(x, (types.BuiltinFunctionType, type, np.ufunc)) and _is_constant(x.__module__ or "builtins"):
            return ("known", id(x))
        raise UnknownContent(x)


def _is_constant(module: str | None) -> bool:
    return (module or "").partition(".")[0] in _CONSTANT_MODULES
