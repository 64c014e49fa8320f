"""What is known of a System from earlier runs, as long as its parts are the same: their parameters, and the parts at values.

Parts are frozen: what was found out of one holds as long as it is the same object. Parts with formulas, which may read what changes
unseen, are looked at again every time; so are gravity and whatever else is no part.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from pliant.model.mapping_content import MappingContent
from pliant.model.parameter import Parameter, Values
from pliant.model.resolve import Made, Resolving, Search, by_name
from pliant.model.system import System


class RememberedParts:
    """The parts of a System as it is now."""

    def __init__(self, system: System) -> None:
        self._parts = {name: dict(parts) for name, parts in _kinds(system)}
        self._parameters: dict[int, list[Parameter]] = {}  # of parts that stay as they are, by identity
        self._mappings: list[MappingContent] = []  # in these
        self._staying: set[int] = set()  # all that stays as it is, parts of parts too, by identity: they are kept alive by these
        self._made: dict[int, Made] = {}
        for parts in self._parts.values():
            for part in parts.values():
                self._look_into(part)

    def _look_into(self, part: Any) -> None:
        search = Search()
        if search.visit(part):
            self._parameters[id(part)] = search.parameters
            self._mappings += search.mappings
            self._staying |= search.seen.keys()

    def are_of(self, system: System) -> bool:
        """Whether a System has these parts, and mappings in them hold what they held."""
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
        """Whether no link may change unseen, as one of a beam whose shapes are given by functions."""
        return all(id(link) in self._staying for link in self._parts["links"].values())

    def parameters(self, system: System) -> dict[str, Parameter]:
        """As `parameters_of` finds them."""
        return by_name(self._met(system))

    def _met(self, system: System) -> Iterator[Parameter]:
        for field in fields(system):
            value = getattr(system, field.name)
            for part in value.values() if field.name in self._parts else (value,):
                known = self._parameters.get(id(part))
                if known is None:
                    search = Search()
                    search.visit(part)
                    known = search.parameters
                yield from known

    def resolved(self, system: System, values: Values) -> System:
        """The System at values of its parameters; parts whose values are those of the last time are those of the last time."""
        resolving = Resolving(values, self._made)
        plain: System = resolving.visit(system)
        self._made = {**self._made, **{k: made for k, made in resolving.made.items() if k in self._staying}}
        return plain


def _kinds(system: System) -> Iterator[tuple[str, dict[str, Any]]]:
    """Links, drives, loads and so on, each by name."""
    return ((name, value) for name, value in vars(system).items() if isinstance(value, dict))
