"""Ctrl-C while a run is under way: taken at once inside the compiled loop, and between its pieces when they are in order again.

A shell starts jobs in the background with Ctrl-C ignored; then it stays ignored.
"""

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
        main = threading.current_thread() is threading.main_thread()
        before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM) if main and _raises(number)}
        for number in before:
            signal.signal(number, self._note)
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

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


@contextlib.contextmanager
def postponed() -> Iterator[None]:
    """Ctrl-C is taken when this ends: of what must not be left half done."""
    interrupts = Interrupts()
    with interrupts.held():
        yield
    if interrupts.asked:
        raise KeyboardInterrupt


def _raises(number: int) -> bool:
    """Whether a signal is there to interrupt: Ctrl-C wherever Python handles it, a polite kill where it is handled as Ctrl-C is."""
    handler = signal.getsignal(number)
    if isinstance(getattr(handler, "__self__", None), Interrupts):  # held already, by a run that this one is part of
        return True
    return handler is signal.default_int_handler or (number == signal.SIGINT and callable(handler))
