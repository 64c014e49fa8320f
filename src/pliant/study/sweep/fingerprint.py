"""A hash of an object's content, the same in every process: numbers, parts, Systems, and functions by their code.

Everything a function reads besides its arguments counts too: captured variables, default values, globals, and functions that it
calls, with their present values. Python's own modules and installed packages are identified by name; pliant's version is checked
elsewhere.
"""

from __future__ import annotations

import functools
import hashlib
import json
import pickle
import sys
import types
from collections.abc import Callable, Mapping
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pliant.errors import ModelError
from pliant.model.parameter import expression_of
from pliant.model.resolve import checked_values, resolved
from pliant.model.system import System
from pliant.model.value_keys import ContentReading, UnknownContent
from pliant.model.walk import field_names

LENGTH = 32  # hexadecimal digits: 128 bits
_INSTALLED = ("site-packages", "dist-packages")
# compiled functions and the attributes of compiled or slotted classes
_NAMED = (np.ufunc, types.BuiltinFunctionType, types.MethodDescriptorType, types.GetSetDescriptorType, types.MemberDescriptorType)


def fingerprint(part: str, field: str, x: Any) -> str:
    """The fingerprint of x; an object whose content cannot be identified raises an error that names part and field."""
    try:
        return short_hash(_Reading().words(x))
    except UnknownContent as trouble:
        rule = "must consist of numbers, strings, parts and Python functions, whose content can be identified"
        raise ModelError.of(part, field, rule, trouble.what) from None


def content_of(part: str, system: System, parameters: Mapping[str, Any] | None) -> str:
    """The fingerprint of a System with all numbers at their values."""
    return fingerprint(part, "system", resolved(system, checked_values(system.parameters, parameters)))


def short_hash(content: Any) -> str:
    """A hash of nested lists of strings, as written in JSON."""
    return hashlib.sha256(json.dumps(content, separators=(",", ":")).encode()).hexdigest()[:LENGTH]


class _Reading(ContentReading):
    """Turns an object into lists of strings. A container becomes one hash, so that it does not matter how often it is shared."""

    deepest = 100

    def __init__(self) -> None:
        super().__init__()
        self._hashes: dict[int, tuple[Any, str]] = {}  # by identity: the object, kept alive, and its hash

    def words(self, x: Any) -> Any:
        expression = expression_of(x)
        if expression is not None:  # by the names of parameters: their values count separately
            return ["expression", repr(expression.own_key())]
        if x is None or (isinstance(x, (bool, int, str)) and type(x) in (bool, int, str)):
            return [type(x).__name__, str(x)]
        if isinstance(x, (float, np.floating)):
            return ["float", repr(float(x))]
        if isinstance(x, (complex, bytes, range, np.integer, np.bool_)):
            return [type(x).__name__, repr(x)]
        return self._within(x)

    def _within(self, x: Any) -> Any:
        if id(x) in self._open:  # a function that calls itself
            return ["cycle", len(self._open) - self._open.index(id(x))]
        if id(x) not in self._hashes:
            self._hashes[id(x)] = (x, short_hash(super()._within(x)))
        return self._hashes[id(x)][1]

    def _content(self, x: Any) -> Any:
        if isinstance(x, (tuple, list)):
            return [_kind(x), [self.words(item) for item in x]]
        if isinstance(x, (set, frozenset)):
            return ["set", sorted((self.words(item) for item in x), key=json.dumps)]
        if isinstance(x, Mapping):
            return ["mapping", [[self.words(key), self.words(value)] for key, value in x.items()]]
        if isinstance(x, np.ndarray) and x.dtype != object:
            return ["array", x.dtype.str, list(x.shape), hashlib.sha256(np.ascontiguousarray(x).tobytes()).hexdigest()]
        if isinstance(x, types.ModuleType):
            return ["module", x.__name__]
        if isinstance(x, type):
            return ["class", _named(x), *([] if _is_known(x) else [self._body(x)])]
        own = getattr(type(x), "own_key", None)  # a part that defines its own identity
        if own is not None:
            return [_kind(x), self.words(own(x))]
        names = field_names(type(x))
        if names is not None:
            later = getattr(type(x), "ADDED_LATER", ())  # empty, they leave the part what it was in stores of earlier versions
            present = [name for name in names if name not in later or getattr(x, name)]
            return [_kind(x), [[name, self.words(getattr(x, name))] for name in present]]
        return self._callable(x)

    def _mapping(self, x: Mapping[Any, Any]) -> Any:
        return self.words(x)

    def _other(self, x: Any) -> Any:
        if isinstance(x, types.CodeType):
            return self._code(x)
        if isinstance(x, (staticmethod, classmethod)):
            return [type(x).__name__, self.words(x.__func__)]
        if isinstance(x, property):
            return ["property", [self.words(part) for part in (x.fget, x.fset)]]
        if getattr(x, "__module__", None) and getattr(x, "__qualname__", None) and _is_known(x):
            return ["known", _named(x)]
        wrapped = getattr(x, "__wrapped__", None)  # functools.cache and similar wrappers
        if isinstance(wrapped, types.FunctionType):
            return ["wrapped", self.words(wrapped)]
        if isinstance(x, _NAMED):
            return ["known", x.__name__]
        if hasattr(x, "__dict__") and not _is_known(type(x)):  # an object of a user-defined class
            return ["object", self.words(type(x)), self.words(dict(sorted(vars(x).items())))]
        return ["pickle", _named(type(x)), _pickled(x)]

    def _known(self, function: types.FunctionType) -> Any:
        return ["known", _named(function)] if _is_known(function) and function.__closure__ is None else None

    def _stays(self, module: types.ModuleType) -> bool:
        return _is_installed(module)

    def _code(self, code: types.CodeType) -> Any:
        """The instructions of a function, without its position in a file."""
        constants = [self.words(constant) for constant in code.co_consts]
        names = [list(group) for group in (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)]
        counts = [code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags]
        table = getattr(code, "co_exceptiontable", b"")
        return ["code", code.co_code.hex(), table.hex(), constants, names, counts]

    def _body(self, kind: type) -> Any:
        """The functions and values of a user-defined class."""
        skipped = ("__dict__", "__weakref__", "__module__", "__doc__", "__firstlineno__", "__static_attributes__", "__qualname__")
        made = is_dataclass(kind)  # its generated methods follow from its fields
        body = {name: x for name, x in sorted(vars(kind).items()) if name not in skipped and not (made and name.startswith("__"))}
        return [self.words(list(kind.__bases__)), self.words(body)]


def _pickled(x: Any) -> str:
    """The pickled content of objects of other packages, such as tables and splines."""
    try:
        return hashlib.sha256(pickle.dumps(x, protocol=5)).hexdigest()
    except Exception:  # classes raise arbitrary exceptions if they cannot be pickled
        raise UnknownContent(x) from None


def _kind(x: Any) -> str:
    return type(x).__name__ if type(x).__module__ == "builtins" else _named(type(x))


def _named(x: Any) -> str:
    return f"{x.__module__}.{x.__qualname__}"


def _is_known(x: Any) -> bool:
    """Whether it belongs to Python, to pliant or to an installed package, and is thus identified by its name."""
    module = getattr(x, "__module__", None) or "builtins"
    return "<locals>" not in x.__qualname__ and "<lambda>" not in x.__qualname__ and _is_installed(sys.modules.get(module), module)


def _is_installed(module: types.ModuleType | None, name: str = "") -> bool:
    top = (name or getattr(module, "__name__", "")).partition(".")[0]
    if top in sys.stdlib_module_names or top in ("pliant", "builtins"):
        return top != "__main__"
    place: Callable[[], Any] | str | None = getattr(module, "__file__", None)
    return isinstance(place, str) and (any(folder in Path(place).parts for folder in _INSTALLED) or _is_recorded(top, place))


@functools.cache
def _is_recorded(top: str, place: str) -> bool:
    """Whether an installer lists this file among those of a package, as `pip install --target` does in a folder of any name."""
    folder = next((parent.parent for parent in Path(place).parents if parent.name == top), Path(place).parent)
    records = folder.glob("*.dist-info/RECORD")
    own = Path(place).relative_to(folder).as_posix() + ","
    return any(line.startswith(own) for record in records for line in record.read_text(encoding="utf-8").splitlines())
