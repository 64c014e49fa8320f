"""The content of a mapping inside a frozen part, which is the only thing in such a part that can be modified."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any, NamedTuple


class MappingContent(NamedTuple):
    """A mapping and its content at one time, compared by identity: 0.0 differs from -0.0, and equal parts may be distinct."""

    mapping: Mapping[Any, Any]
    content: tuple[Any, ...]  # keys, then values

    @classmethod
    def of(cls, mapping: Mapping[Any, Any]) -> MappingContent:
        return cls(mapping, (*mapping.keys(), *mapping.values()))

    @property
    def is_as_it_was(self) -> bool:
        if not self.content:  # most mappings are empty
            return not self.mapping
        now = (*self.mapping.keys(), *self.mapping.values())
        return len(now) == len(self.content) and all(map(operator.is_, now, self.content))
