"""A System in two parts: its structure, which decides the code, and its numbers, which the code reads.

The structure is everything that a trace can depend on apart from numbers: classes, names, counts and formulas. It also records
which numbers are exactly 0, 1 or -1, since those vanish from the equations, and which numbers of one part are equal, since
expressions of equal numbers are computed once. Numbers that no equation reads (starts, points of tables) belong to neither part.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, is_dataclass
from itertools import chain
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from pliant.arrays import Floats, Ints
from pliant.codegen.numbers import Number
from pliant.model.mapping_content import MappingContent
from pliant.model.parameter import Expression, InputValue, TiedFloat
from pliant.model.value_keys import value_key
from pliant.model.walk import PLAIN, Copying, field_names, inside, unchecked_copy

UNITS = (0.0, 1.0, -1.0)  # values that simplify the equations: part of the structure

# Attributes by which classes describe themselves. STRUCTURE: a property with everything that decides the code, read instead of the
# fields.
STRUCTURE = "structure"
OUTSIDE = ("OUTSIDE_EQUATIONS", "STARTS", "START_RATES")  # fields that no equation reads
DERIVED = "DERIVED"  # cached properties that equations read and that need plain numbers to be computed: a root, a table
PRESENCE = "PRESENCE"  # fields of which only emptiness matters

REMEMBERED_DEPTH = 2  # nesting of remembered parts: a System and its tree, and the parts these hold


@dataclass(frozen=True)
class Lowered:
    """Structure and numbers: equal structures have equal code; numbers are in the order in which a trace numbers them."""

    structure: Hashable
    numbers: list[float]
    shareable: bool  # whether equal structures really mean equal code: not if a formula reads something that may change unseen


class RememberedReadings:
    """Readings of immutable parts, remembered for the next walk."""

    def __init__(self) -> None:
        self.readings: dict[int, _PartRead] = {}


def lower(root: Any, remembered: RememberedReadings | None = None) -> Lowered:
    """The structure and the numbers of everything that a trace reads."""
    walk = _Reading() if remembered is None else _RememberedReading(remembered.readings)
    walk.visit(root)
    if remembered is not None:
        remembered.readings = walk.readings
    return Lowered(tuple(walk.structure), walk.numbers, walk.shareable)


@dataclass(frozen=True)
class EveryNumber:
    """All numbers that a trace may read, whether structure or not, and which of them are the numbers of `lower`."""

    values: Floats
    places: Ints  # for each number of `lower`, in order, its index among the values
    skeleton: Hashable  # the part of the structure that no number decides

    def is_like(self, other: EveryNumber) -> bool:
        """Whether the same places hold the same things in both."""
        return self.values.size == other.values.size and self.skeleton == other.skeleton


def every_number(root: Any) -> EveryNumber:
    """All numbers, including those that happen to be 0, 1 or equal now: shows how numbers change with parameters."""
    walk = _ReadingAll()
    walk.visit(root)
    return EveryNumber(np.array(walk.all), np.array(walk.places, dtype=np.int64), tuple(walk.skeleton))


def expressions_of(root: Any) -> dict[int, Expression]:
    """The numbers that parts hold as expressions of parameters, by their indices in `every_number`."""
    walk = _ReadingExpressions()
    walk.visit(root)
    return walk.expressions


def numbered(root: Any, number: Callable[[float], Number], parameters: Mapping[str, Any] = MappingProxyType({})) -> Any:
    """A copy in which every number that is not part of the structure is a Number, in the order of `lower`.

    parameters: scalars of the trace, of which inputs are made.
    """
    return _Copying(number, parameters).visit(root)


def inputs_outside_equations(root: Any) -> tuple[str, str] | None:
    """(class, field) of an input in a field that no equation reads, such as the start of a coordinate or a point of a table."""
    seen, waiting = set[int](), [root]
    while waiting:
        x = waiting.pop()
        names = field_names(type(x))
        if type(x) in Copying.kept or id(x) in seen:
            continue
        seen.add(id(x))
        for name in set(names or ()) - set(equation_fields(type(x)) if names else ()):
            held = getattr(x, name)
            if any(type(each) is InputValue for each in (held if isinstance(held, (tuple, list)) else (held,))):
                return type(x).__name__, name
        waiting += [each for each in inside(x) if not isinstance(each, float)]
    return None


class _Reading:
    """Collects structure and numbers."""

    def __init__(self) -> None:
        self.structure: list[Any] = []  # hashable entries only
        self.numbers: list[float] = []
        self.shareable = True
        self.readings: dict[int, _PartRead] = {}
        self._own: dict[float, int] = {}  # numbers of the part that is being visited
        self._met: dict[int, int] = {}  # shared objects, by identity, and the order in which they were met first
        self._alive: list[Any] = []  # in that order; keeps temporary objects alive, so that no other object can get their identity

    def visit(self, x: Any) -> None:
        kind = type(x)
        if kind is float:
            if x in UNITS:
                self.structure.append(x)
            else:
                self._visit_number(x)
        elif kind is tuple:
            self.structure.append(len(x))
            for item in x:
                self.visit(item)
        elif kind in PLAIN:
            self.structure.append(x)
        elif kind in _READ:
            self._visit_part(x)
        else:
            self._visit_other(x)

    def _visit_number(self, x: float) -> None:
        known = self._own.get(x)
        if known is None:
            self._own[x] = len(self._own)
            self.numbers.append(x)
            self.structure.append(_NEW)
        else:
            self.structure.append(("#", known))

    def _visit_other(self, x: Any) -> None:
        if type(x) is InputValue:
            self.structure.append((_INPUT, x.expression.own_key()))
        elif isinstance(x, float):
            self.visit(float(x))
        elif isinstance(x, (list, Mapping, np.ndarray)):
            self._visit_container(x)
        elif is_dataclass(x) or hasattr(type(x), STRUCTURE):
            _READ[type(x)] = _how_to_read(type(x))
            self._visit_part(x)
        elif not self._is_met(x):
            self._visit_callable(x)

    def _visit_container(self, x: Any) -> None:
        self.structure.append(x.shape if isinstance(x, np.ndarray) else len(x))
        for item in x.ravel().tolist() if isinstance(x, np.ndarray) else chain(*x.items()) if isinstance(x, Mapping) else x:
            self.visit(item)

    def _is_met(self, x: Any) -> bool:
        met = self._met.get(id(x))
        if met is not None:
            self.structure.append(("again", met))
            return True
        self._met[id(x)] = len(self._met)
        self._alive.append(x)
        return False

    def _visit_part(self, x: Any) -> None:
        if not self._is_met(x):
            self._read_part(x, _READ[type(x)])

    def _read_part(self, x: Any, how: _HowToRead) -> None:
        self.structure.append(type(x))
        if how.whole:
            self.structure.append(x.structure)
            return
        self.structure += [bool(getattr(x, name)) for name in how.presence]
        around, self._own = self._own, {}
        for name in how.names:
            self.visit(getattr(x, name))
        self._own = around

    def _visit_callable(self, x: Any) -> None:
        if not callable(x):
            raise TypeError(f"lowering: {type(x).__name__} has neither fields nor a structure")
        key = value_key(x)
        self.shareable &= key is not None
        self.structure.append(key)


class _ReadingAll(_Reading):
    """Records every number it meets."""

    def __init__(self) -> None:
        super().__init__()
        self.all: list[float] = []
        self.places: list[int] = []
        self.skeleton: list[Any] = []

    def visit(self, x: Any) -> None:
        if type(x) is not float:
            before = len(self.structure)
            super().visit(x)
            if type(x) in PLAIN:
                self.skeleton += self.structure[before:]
            return
        self.all.append(x)
        super().visit(x)

    def _visit_number(self, x: float) -> None:
        count = len(self.numbers)
        super()._visit_number(x)
        if len(self.numbers) > count:
            self.places.append(len(self.all) - 1)

    def _read_part(self, x: Any, how: _HowToRead) -> None:
        self.skeleton.append(type(x))
        super()._read_part(x, how)


class _ReadingExpressions(_ReadingAll):
    """Records which of the numbers it meets are expressions."""

    def __init__(self) -> None:
        super().__init__()
        self.expressions: dict[int, Expression] = {}

    def visit(self, x: Any) -> None:
        super().visit(x)
        if type(x) is TiedFloat:
            self.expressions[len(self.all) - 1] = x.expression


class _PartRead(NamedTuple):
    """What a walk read of one part, and the state of the walk that the reading depends on."""

    part: Any  # kept alive with everything inside it, since objects are identified by identity
    first: int  # number of objects met before it
    structure: list[Any]
    numbers: list[float]
    before: dict[int, int]  # objects in it that were met before, and where
    inside: dict[int, int]  # those that were met in it first
    alive: list[Any]
    mappings: list[MappingContent]  # in it


class _RememberedReading(_Reading):
    """Reuses what an earlier walk read of the parts that a System or its tree holds directly."""

    def __init__(self, before: Mapping[int, _PartRead]) -> None:
        super().__init__()
        self._before = before
        self._depth = 0  # of parts in parts
        self._changeable = 0  # things visited that may change unseen
        self._again: list[tuple[int, int]] = []
        self._mappings: list[MappingContent] = []

    def _is_met(self, x: Any) -> bool:
        met = self._met.get(id(x))
        if met is not None:
            self._again.append((id(x), met))
        return super()._is_met(x)

    def _visit_container(self, x: Any) -> None:
        if isinstance(x, Mapping):
            self._mappings.append(MappingContent.of(x))
        else:
            self._changeable += 1
        super()._visit_container(x)

    def _visit_callable(self, x: Any) -> None:
        self._changeable += 1
        super()._visit_callable(x)

    def _visit_part(self, x: Any) -> None:
        if self._depth >= REMEMBERED_DEPTH:
            super()._visit_part(x)
            return
        known = self._before.get(id(x))
        if known is not None and self._take_over(known):
            self.readings[id(x)] = known
            return
        self._depth += 1
        self._read_and_remember(x)
        self._depth -= 1

    def _take_over(self, known: _PartRead) -> bool:
        """Reuse a reading if the objects met before it have the same places, those inside it are new, and nothing has changed."""
        if known.first != len(self._met) or not known.inside.keys().isdisjoint(self._met):
            return False
        if not all(self._met.get(k) == place for k, place in known.before.items()):
            return False
        if not all(mapping.is_as_it_was for mapping in known.mappings):
            return False
        self._met |= known.inside
        self._again += known.before.items()
        self._alive += known.alive
        self._mappings += known.mappings
        self.structure += known.structure
        self.numbers += known.numbers
        return True

    def _read_and_remember(self, x: Any) -> None:
        first, changeable = len(self._met), self._changeable
        structure, numbers = len(self.structure), len(self.numbers)
        again, mappings = len(self._again), len(self._mappings)
        self._changeable += not _READ[type(x)].frozen
        super()._visit_part(x)
        if self._changeable != changeable or len(self._met) == first:
            return  # the part may change, or was met before
        alive = self._alive[first:]
        self.readings[id(x)] = _PartRead(
            part=x,
            first=first,
            structure=self.structure[structure:],
            numbers=self.numbers[numbers:],
            before={k: place for k, place in self._again[again:] if place < first},
            inside={id(each): first + k for k, each in enumerate(alive)},
            alive=alive,
            mappings=self._mappings[mappings:],
        )


class _Copying(Copying):
    """Copies what `_Reading` visits, in the same order."""

    kept = PLAIN

    def __init__(self, number: Callable[[float], Number], parameters: Mapping[str, Any] = MappingProxyType({})) -> None:
        super().__init__()
        self._number, self._parameters = number, parameters
        self._own: dict[float, Number] = {}  # of the part that is being copied

    def _other(self, x: Any) -> Any:
        if type(x) is InputValue:
            return x.expression.evaluate(self._parameters)
        if isinstance(x, float):
            return float(x) if x in UNITS else self._known(float(x))
        if isinstance(x, np.ndarray):
            copied = np.empty(x.size, dtype=object)
            copied[:] = [self.visit(item) for item in x.ravel().tolist()]
            return copied.reshape(x.shape)
        return x

    def _known(self, x: float) -> Number:
        if x not in self._own:
            self._own[x] = self._number(x)
        return self._own[x]

    def _copied(self, x: Any) -> Any:
        how = _how_to_read(type(x))
        if how.whole:
            return x
        around, self._own = self._own, {}
        copied = unchecked_copy(x, {name: self.visit(getattr(x, name)) for name in how.names})
        self._own = around
        return copied


_NEW = ("#", None)  # a number that is new in its part
_INPUT = "input"  # a series in the place of a number


class _HowToRead(NamedTuple):
    """What a trace can depend on in the objects of a class."""

    whole: bool  # the objects describe themselves, by STRUCTURE
    presence: tuple[str, ...]
    names: tuple[str, ...]  # fields and derived properties
    frozen: bool


_READ: dict[type, _HowToRead] = {}


def _how_to_read(kind: Any) -> _HowToRead:
    frozen = is_dataclass(kind) and bool(kind.__dataclass_params__.frozen)  # type: ignore[union-attr]
    if hasattr(kind, STRUCTURE):
        return _HowToRead(True, (), (), frozen)
    return _HowToRead(False, getattr(kind, PRESENCE, ()), (*equation_fields(kind), *getattr(kind, DERIVED, ())), frozen)


_EQUATION_FIELDS: dict[type, tuple[str, ...]] = {}


def equation_fields(kind: Any) -> tuple[str, ...]:
    """The fields of a dataclass that equations may read."""
    if kind not in _EQUATION_FIELDS:
        outside = {name for attribute in (*OUTSIDE, PRESENCE) for name in getattr(kind, attribute, ())}
        _EQUATION_FIELDS[kind] = tuple(name for name in field_names(kind) or () if name not in outside)
    return _EQUATION_FIELDS[kind]
