"""Ctrl-C during a run: handled at once inside the compiled loop, and elsewhere once the data are consistent again.

A shell starts background jobs with Ctrl-C ignored; it then stays ignored.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from typing import Any


class Interrupts:
    """Records whether Ctrl-C was pressed. Outside the main thread, where Python delivers no signals, it never records one."""

    def __init__(self) -> None:
        self.asked = False
        self._at_once = False

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Inside this `with` block, Ctrl-C is only recorded, except inside `at_once`."""
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
        """Inside this `with` block, Ctrl-C raises KeyboardInterrupt as usual."""
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
    """Delays Ctrl-C to the end of the `with` block, for work that must not be left half done."""
    interrupts = Interrupts()
    with interrupts.held():
        yield
    if interrupts.asked:
        raise KeyboardInterrupt


def _raises(number: int) -> bool:
    """Whether a signal is meant to interrupt: Ctrl-C if Python handles it, SIGTERM if it is handled like Ctrl-C."""
    handler = signal.getsignal(number)
    if isinstance(getattr(handler, "__self__", None), Interrupts):  # already held by an enclosing run
        return True
    return handler is signal.default_int_handler or (number == signal.SIGINT and callable(handler))
