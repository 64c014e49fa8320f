"""A mapping inside a frozen part, and what it held: the one thing of such a part that can be written to."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any, NamedTuple


class MappingContent(NamedTuple):
    """Things are told apart by identity: 0.0 is not -0.0, and equal parts may share nothing."""

    mapping: Mapping[Any, Any]
    content: tuple[Any, ...]  # keys, then values

    @classmethod
    def of(cls, mapping: Mapping[Any, Any]) -> MappingContent:
        return cls(mapping, (*mapping.keys(), *mapping.values()))

    @property
    def is_as_it_was(self) -> bool:
        if not self.content:  # as most are
            return not self.mapping
        now = (*self.mapping.keys(), *self.mapping.values())
        return len(now) == len(self.content) and all(map(operator.is_, now, self.content))
