"""What earlier runs of a System found out about its parts: their parameters, and the parts rebuilt for parameter values.

Parts are frozen, so this knowledge is valid as long as a part is the same object. Parts with formulas, which may read variables
that change unnoticed, are searched again every time; so is gravity, and everything else that is not a part.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

from pliant.model.mapping_content import MappingContent
from pliant.model.parameter import Parameter, Values
from pliant.model.resolve import Made, Resolving, Search, SearchBeyondStarts, by_name
from pliant.model.system import System


class RememberedParts:
    """The parts of a System at the time of the search, with what was found in them."""

    def __init__(self, system: System) -> None:
        self._parts = {name: dict(parts) for name, parts in _kinds(system)}
        self._parameters: dict[int, list[Parameter]] = {}  # of immutable parts, by id
        self._beyond_starts: dict[int, list[Parameter]] = {}  # the same without the starts of joints
        self._mappings: list[MappingContent] = []  # inside these parts
        self._staying: set[int] = set()  # ids of everything immutable, including parts of parts, which the parts keep alive
        self._made: dict[int, Made] = {}
        for parts in self._parts.values():
            for part in parts.values():
                self._look_into(part)

    def _look_into(self, part: Any) -> None:
        search = Search()
        if search.visit(part):
            beyond = SearchBeyondStarts()
            beyond.visit(part)
            self._parameters[id(part)], self._beyond_starts[id(part)] = search.parameters, beyond.parameters
            self._mappings += search.mappings
            self._staying |= search.seen.keys()

    def are_of(self, system: System) -> bool:
        """Whether a System still has these parts, with unchanged mappings in them."""
        for name, parts in _kinds(system):
            before = self._parts.get(name)
            if (
                before is None
                or len(before) != len(parts)
                or not all(a == c and b is d for (a, b), (c, d) in zip(before.items(), parts.items(), strict=True))
            ):
                return False
        return all(mapping.is_as_it_was for mapping in self._mappings)

    @property
    def links_stay(self) -> bool:
        """Whether no link can change unnoticed; a beam whose shapes are functions can."""
        return all(id(link) in self._staying for link in self._parts["links"].values())

    def parameters(self, system: System) -> dict[str, Parameter]:
        """The parameters that `parameters_of` finds."""
        return by_name(self._met(system, self._parameters, Search))

    def beyond_starts(self, system: System) -> set[str]:
        """Names of the parameters that anything else than the start of a joint contains."""
        return {parameter.name for parameter in self._met(system, self._beyond_starts, SearchBeyondStarts)}

    def _met(self, system: System, known: Mapping[int, list[Parameter]], kind: type[Search]) -> Iterator[Parameter]:
        for field in fields(system):
            value = getattr(system, field.name)
            for part in value.values() if field.name in self._parts else (value,):
                found = known.get(id(part))
                if found is None:
                    search = kind()
                    search.visit(part)
                    found = search.parameters
                yield from found

    def resolved(self, system: System, values: Values) -> System:
        """The System rebuilt for given parameter values; parts whose values are unchanged since the last call are reused."""
        resolving = Resolving(values, self._made)
        plain: System = resolving.visit(system)
        self._made = {**self._made, **{k: made for k, made in resolving.made.items() if k in self._staying}}
        return plain


def _kinds(system: System) -> Iterator[tuple[str, dict[str, Any]]]:
    """Links, drives, loads and so on, each by name."""
    return ((name, value) for name, value in vars(system).items() if isinstance(value, dict))
