"""Runs work that cannot be asked to stop, such as that of another library, for a limited time."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class _OutOfTime(BaseException):
    """Not an Exception, so that the work itself does not catch it."""


def within(seconds: float, work: Callable[[], T]) -> T | None:
    """The result of `work`; None if it takes longer. It is then interrupted in this thread, between two steps of Python."""
    caller, lock, over = ctypes.c_ulong(threading.get_ident()), threading.Lock(), threading.Event()
    throw = ctypes.pythonapi.PyThreadState_SetAsyncExc

    def interrupt() -> None:
        with lock:
            if not over.is_set():
                throw(caller, ctypes.py_object(_OutOfTime))

    timer = threading.Timer(seconds, interrupt)
    timer.daemon = True
    try:
        try:
            timer.start()
            return work()
        finally:
            with lock:  # an interrupt that was thrown but has not arrived must not arrive later
                over.set()
                throw(caller, None)
    except _OutOfTime:
        return None
    finally:
        timer.cancel()
