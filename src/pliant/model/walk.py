"""Walks over what users write: parts, which are dataclasses, and containers of them."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from itertools import chain
from typing import Any

PLAIN = frozenset((str, int, bool, type(None), range, bytes))
_NAMES: dict[type, tuple[str, ...] | None] = {}


def field_names(kind: type) -> tuple[str, ...] | None:
    """The fields of a dataclass; None for any other class."""
    if kind not in _NAMES:
        _NAMES[kind] = tuple(field.name for field in fields(kind)) if is_dataclass(kind) else None
    return _NAMES[kind]


def inside(x: Any) -> Iterable[Any]:
    """The objects that a container or a part holds; of a mapping, its values."""
    if isinstance(x, Mapping):
        return x.values()
    if isinstance(x, (tuple, list, set, frozenset)):
        return x
    return [getattr(x, name) for name in field_names(type(x)) or ()]


def unchecked_copy(x: Any, new: Mapping[str, Any]) -> Any:
    """A copy of a part with new values of some attributes, which its checks might refuse."""
    copied = object.__new__(type(x))
    for name, value in {**{name: getattr(x, name) for name in field_names(type(x)) or ()}, **new}.items():
        object.__setattr__(copied, name, value)
    return copied


class Copying:
    """Copies parts and containers with other content. What does not change stays the same object, and shared parts stay shared."""

    kept = PLAIN | {float}  # classes whose objects stay as they are

    def __init__(self) -> None:
        self._copies: dict[int, tuple[Any, Any]] = {}  # by identity: the original, kept alive, and its copy

    def visit(self, x: Any) -> Any:
        kind = type(x)
        if kind in self.kept:
            return x
        if kind is tuple or kind is list:
            items = [self.visit(item) for item in x]
            return x if all(map(operator.is_, x, items)) else kind(items)
        if field_names(kind) is not None:
            return self._part(x)
        if isinstance(x, Mapping):
            values = {self.visit(key): self.visit(value) for key, value in x.items()}
            return x if all(map(operator.is_, chain(*x.items()), chain(*values.items()))) else values
        return self._other(x)

    def _other(self, x: Any) -> Any:
        """Of a number, or of anything else that is neither a part nor a container."""
        return x

    def _part(self, x: Any) -> Any:
        if id(x) not in self._copies:
            self._copies[id(x)] = (x, self._copied(x))
        return self._copies[id(x)][1]

    def _copied(self, x: Any) -> Any:
        new = {}
        for name in self._names(type(x)):
            value = getattr(x, name)
            visited = self.visit(value)
            if visited is not value:
                new[name] = visited
        return self._rebuilt(x, new) if new else x

    def _names(self, kind: type) -> tuple[str, ...]:
        """The fields that are visited."""
        return field_names(kind) or ()

    def _rebuilt(self, x: Any, new: Mapping[str, Any]) -> Any:
        return unchecked_copy(x, new)
