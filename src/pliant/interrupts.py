"""Ctrl-C while a run is under way: taken at once inside the compiled loop, and between its pieces when they are in order again."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from typing import Any


class Interrupts:
    """Whether Ctrl-C was pressed. Elsewhere than in the main thread, where Python gives no signals, it never was."""

    def __init__(self) -> None:
        self.asked = False
        self._at_once = False

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """While this lasts, Ctrl-C only makes a note, but inside `at_once`."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = signal.signal(signal.SIGINT, self._note)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    @contextlib.contextmanager
    def at_once(self) -> Iterator[None]:
        """Here Ctrl-C is a KeyboardInterrupt as ever."""
        self._at_once = True
        try:
            yield
        finally:
            self._at_once = False

    def _note(self, number: int, frame: Any) -> None:
        self.asked = True
        if self._at_once:
            raise KeyboardInterrupt
