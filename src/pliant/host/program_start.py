"""Ctrl-C while the program `pliant` is still being imported: one line and exit code 130, as later, instead of a traceback.

This must be imported before everything that takes time. Where pliant is a library, it does nothing.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys

INTERRUPTED = 130


def _is_program() -> bool:
    """Whether this process was started as `pliant` or `python -m pliant`."""
    name = os.path.basename(sys.argv[0] if sys.argv else "")
    return name.removesuffix(".exe") == "pliant" or sys.orig_argv[1:3] == ["-m", "pliant"]


def _end(number: int, frame: object) -> None:
    os.write(2, b"interrupted; nothing was written\n")
    os._exit(INTERRUPTED)  # an exception in the middle of an import may turn into any other


def command_begins() -> None:
    """Let Ctrl-C raise KeyboardInterrupt again: a command itself says what it has written."""
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, signal.default_int_handler)


if _is_program() and signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # in the background Ctrl-C is ignored
    with contextlib.suppress(ValueError):  # only the main thread may set signal handlers
        signal.signal(signal.SIGINT, _end)
