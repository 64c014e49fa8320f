"""A cache by key with a limited total size; the least recently used entries are dropped first."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

Thing = TypeVar("Thing")


class HashedOnce:
    """A large key whose hash is computed once, and whose content is compared only if the hashes agree."""

    __slots__ = ("_content", "_hash")

    def __init__(self, content: Hashable) -> None:
        self._content, self._hash = content, hash(content)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, HashedOnce) and self._hash == other._hash and self._content == other._content


class Recent(Generic[Thing]):
    """A cache in which several things may have the same key; the newest comes first."""

    def __init__(self, most: int) -> None:
        self._most, self._total = most, 0
        self._kept: OrderedDict[Hashable, tuple[Hashable, list[tuple[int, Thing]]]] = OrderedDict()  # with the key itself
        self._lock = threading.Lock()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._renew)

    def _renew(self) -> None:
        """Start afresh in a forked child, where a thread that was using the cache at the fork no longer exists."""
        if self._lock.locked():
            self._lock = threading.Lock()
            self.clear()

    def get(self, key: Hashable) -> list[Thing]:
        with self._lock:
            entry = self._kept.get(key)
            if entry is None:
                return []
            kept, things = entry  # the stored key: if it is found by identity, its content need not be compared again
            self._kept.move_to_end(kept)
            return [thing for _, thing in things]

    def put(self, key: Hashable, thing: Thing, size: int) -> None:
        with self._lock:
            kept, things = self._kept.setdefault(key, (key, []))
            things.insert(0, (size, thing))
            self._kept.move_to_end(kept)
            self._total += size
            while self._total > self._most and (len(self._kept) > 1 or len(things) > 1):
                oldest, (_, own) = next(iter(self._kept.items()))
                self._total -= own.pop()[0]
                if not own:
                    del self._kept[oldest]

    def clear(self) -> None:
        with self._lock:
            self._kept.clear()
            self._total = 0
