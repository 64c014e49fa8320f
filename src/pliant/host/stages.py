"""What is made before a run and while it goes on: told in words while it is made, its seconds counted by kind."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter

Tell = Callable[[str], None]
log = logging.getLogger("pliant")
log.addHandler(logging.NullHandler())  # whoever embeds pliant decides where it goes


class Stages:
    """The stages of one run. A stage inside another counts for itself alone, and the words of the other come back after it."""

    def __init__(self, tell: Tell | None = None) -> None:
        self.seconds: dict[str, float] = {}
        self._tell = tell
        self._words = ""
        self._inner = 0.0  # s that stages inside the present one took

    @property
    def heard(self) -> bool:
        """Whether somebody is told."""
        return self._tell is not None

    def say(self, words: str) -> None:
        """What goes on from here on."""
        self._words = words
        if words:
            log.info(words)
            if self._tell is not None:
                self._tell(words)

    @contextmanager
    def stage(self, kind: str, words: str = "") -> Iterator[None]:
        """Something that is made; without words it is part of what was said last."""
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
