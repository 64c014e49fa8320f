"""Stages of preparing and doing a run: announced while they go on, and their seconds added up by kind."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter

Tell = Callable[[str], None]
log = logging.getLogger("pliant")
log.addHandler(logging.NullHandler())  # the embedding program decides where messages go


class Stages:
    """The stages of one run. Time in a nested stage counts only for that stage; the outer stage is announced again after it."""

    def __init__(self, tell: Tell | None = None) -> None:
        self.seconds: dict[str, float] = {}
        self._tell = tell
        self._words = ""
        self._inner = 0.0  # s spent in stages nested in the present one

    @property
    def heard(self) -> bool:
        """Whether anybody receives the announcements."""
        return self._tell is not None

    def say(self, words: str) -> None:
        """Announce what is being done now."""
        self._words = words
        if words:
            log.info(words)
            if self._tell is not None:
                self._tell(words)

    @contextmanager
    def stage(self, kind: str, words: str = "") -> Iterator[None]:
        """Time a stage and announce it; without words it belongs to what was announced last."""
        began, before, outer = perf_counter(), self._words, self._inner
        self._inner = 0.0
        if words:
            self.say(words)
        try:
            yield
        finally:
            spent = perf_counter() - began
            self.seconds[kind] = self.seconds.get(kind, 0.0) + spent - self._inner
            self._inner = outer + spent
            if words:
                self.say(before)
