"""A System in two parts: its structure, which decides the code, and its numbers, which the code reads.

The structure is everything a trace can depend on but numbers: classes, names, counts, formulas; which numbers are exactly 0, 1 or
-1, since those vanish from the equations; and which numbers of one part are equal, since what is computed from them is computed
once. Numbers that no equation reads (starts, points of tables) are in neither.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import numpy as np

from pliant.codegen.numbers import Number
from pliant.model.value_keys import value_key

UNITS = (0.0, 1.0, -1.0)  # values that simplify the equations: part of the structure

# What classes say of themselves. STRUCTURE: a property with all that decides the code, where fields are not to be looked into.
STRUCTURE = "structure"
OUTSIDE = ("OUTSIDE_EQUATIONS", "STARTS", "START_RATES")  # fields that no equation reads
DERIVED = "DERIVED"  # cached properties that equations read and that only plain numbers can be asked for: a root, a table
PRESENCE = "PRESENCE"  # fields of which it only matters whether there is anything in them


@dataclass(frozen=True)
class Lowered:
    """Equal structures have equal code; numbers are in the order in which a trace numbers them."""

    structure: Hashable
    numbers: list[float]
    shareable: bool  # whether the structure can be told from others: not where a formula reads what may change unseen


def lower(root: Any) -> Lowered:
    """The structure and the numbers of everything that a trace reads."""
    walk = _Reading()
    walk.visit(root)
    return Lowered(tuple(walk.structure), walk.numbers, walk.shareable)


def numbered(root: Any, number: Callable[[float], Number]) -> Any:
    """A copy in which every number that is not part of the structure is a Number, in the order of `lower`."""
    return _Copying(number).visit(root)


class _Reading:
    """Collects structure and numbers."""

    def __init__(self) -> None:
        self.structure: list[Any] = []  # all of it can be hashed
        self.numbers: list[float] = []
        self.shareable = True
        self._own: dict[float, int] = {}  # numbers of the part that is being visited
        self._met: dict[int, int] = {}  # where objects that are shared were met first, by identity
        self._alive: list[Any] = []  # what was made on the way: its identity must not go to another object

    def visit(self, x: Any) -> None:
        kind = type(x)
        if kind is float or isinstance(x, float):
            if x in UNITS:
                self.structure.append(float(x))
            else:
                self._visit_number(float(x))
        elif kind is tuple or kind is list:
            self.structure.append(len(x))
            for item in x:
                self.visit(item)
        elif kind in _PLAIN:
            self.structure.append(x)
        elif isinstance(x, Mapping):
            self._visit_mapping(x)
        elif isinstance(x, np.ndarray):
            self.structure.append(x.shape)
            for item in x.ravel().tolist():
                self.visit(item)
        else:
            self._visit_object(x)

    def _visit_number(self, x: float) -> None:
        known = self._own.get(x)
        if known is None:
            self._own[x] = len(self._own)
            self.numbers.append(x)
        self.structure.append(("#", known))

    def _visit_mapping(self, x: Mapping[Any, Any]) -> None:
        self.structure.append(len(x))
        for key, value in x.items():
            self.visit(key)
            self.visit(value)

    def _visit_object(self, x: Any) -> None:
        met = self._met.get(id(x))
        if met is not None:
            self.structure.append(("again", met))
            return
        self._met[id(x)] = len(self._met)
        self._alive.append(x)
        kind = type(x)
        if hasattr(kind, STRUCTURE):
            self.structure += (kind, x.structure)
        elif is_dataclass(x):
            self.structure.append(kind)
            self.structure += [bool(getattr(x, name)) for name in getattr(kind, PRESENCE, ())]
            around, self._own = self._own, {}
            for name in (*equation_fields(kind), *getattr(kind, DERIVED, ())):
                self.visit(getattr(x, name))
            self._own = around
        elif callable(x):
            key = value_key(x)
            self.shareable &= key is not None
            self.structure.append(key)
        else:
            raise TypeError(f"lowering: {kind.__name__} has neither fields nor a structure")


class _Copying:
    """Copies what `_Reading` visits, in the same order."""

    def __init__(self, number: Callable[[float], Number]) -> None:
        self._number = number
        self._own: dict[float, Number] = {}  # of the part that is being copied
        self._copies: dict[int, Any] = {}
        self._alive: list[Any] = []

    def visit(self, x: Any) -> Any:
        kind = type(x)
        if kind is float or isinstance(x, float):
            return float(x) if x in UNITS else self._known(float(x))
        if kind is tuple or kind is list:
            return kind([self.visit(item) for item in x])
        if kind in _PLAIN:
            return x
        if isinstance(x, Mapping):
            return {self.visit(key): self.visit(value) for key, value in x.items()}
        if isinstance(x, np.ndarray):
            copied = np.empty(x.size, dtype=object)
            copied[:] = [self.visit(item) for item in x.ravel().tolist()]
            return copied.reshape(x.shape)
        return self._visit_object(x)

    def _known(self, x: float) -> Number:
        if x not in self._own:
            self._own[x] = self._number(x)
        return self._own[x]

    def _visit_object(self, x: Any) -> Any:
        if id(x) not in self._copies:
            self._alive.append(x)
            self._copies[id(x)] = self._copied(x)
        return self._copies[id(x)]

    def _copied(self, x: Any) -> Any:
        if hasattr(type(x), STRUCTURE) or not is_dataclass(x):
            return x
        copied = object.__new__(type(x))
        inside = equation_fields(type(x))
        around, self._own = self._own, {}
        for field in fields(x):
            value = getattr(x, field.name)
            object.__setattr__(copied, field.name, self.visit(value) if field.name in inside else value)
        for name in getattr(type(x), DERIVED, ()):
            vars(copied)[name] = self.visit(getattr(x, name))
        self._own = around
        return copied


_PLAIN = frozenset((str, int, bool, type(None), range, bytes))


_EQUATION_FIELDS: dict[type, tuple[str, ...]] = {}


def equation_fields(kind: Any) -> tuple[str, ...]:
    """The fields of a dataclass that equations may read."""
    if kind not in _EQUATION_FIELDS:
        outside = {name for attribute in (*OUTSIDE, PRESENCE) for name in getattr(kind, attribute, ())}
        _EQUATION_FIELDS[kind] = tuple(field.name for field in fields(kind) if field.name not in outside)
    return _EQUATION_FIELDS[kind]
