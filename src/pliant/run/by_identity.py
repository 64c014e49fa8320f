"""A mapping from objects to what is known of them, by identity; entries vanish with their object."""

from __future__ import annotations

import weakref
from functools import partial
from typing import Any, Generic, TypeVar

Known = TypeVar("Known")


class ByIdentity(Generic[Known]):
    """For objects that cannot be hashed. The value must not refer to its object, or both would stay alive."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[weakref.ref[Any], Known]] = {}

    def get(self, x: Any) -> Known | None:
        entry = self._known.get(id(x))
        return entry[1] if entry is not None and entry[0]() is x else None

    def put(self, x: Any, known: Known) -> None:
        self._known[id(x)] = (weakref.ref(x, partial(self._forget, id(x))), known)

    def _forget(self, number: int, gone: weakref.ref[Any]) -> None:
        entry = self._known.get(number)
        if entry is not None and entry[0] is gone:  # another object may have taken the same id
            self._known.pop(number, None)
