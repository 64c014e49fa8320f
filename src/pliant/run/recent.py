"""What was made lately, by a key, up to a total size: the least recently used goes first."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

Thing = TypeVar("Thing")


class Recent(Generic[Thing]):
    """Several things may have one key; the newest stands first."""

    def __init__(self, most: int) -> None:
        self._most, self._total = most, 0
        self._kept: OrderedDict[Hashable, list[tuple[int, Thing]]] = OrderedDict()
        self._lock = threading.Lock()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._renew)

    def _renew(self) -> None:
        """In a child whose parent forked while another thread was at work here: that thread is not there to finish."""
        if self._lock.locked():
            self._lock = threading.Lock()
            self.clear()

    def get(self, key: Hashable) -> list[Thing]:
        with self._lock:
            if key not in self._kept:
                return []
            self._kept.move_to_end(key)
            return [thing for _, thing in self._kept[key]]

    def put(self, key: Hashable, thing: Thing, size: int) -> None:
        with self._lock:
            self._kept.setdefault(key, []).insert(0, (size, thing))
            self._kept.move_to_end(key)
            self._total += size
            while self._total > self._most and len(self._kept) > 1:
                _, gone = self._kept.popitem(last=False)
                self._total -= sum(size for size, _ in gone)

    def clear(self) -> None:
        with self._lock:
            self._kept.clear()
            self._total = 0
