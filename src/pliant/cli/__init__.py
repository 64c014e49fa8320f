"""The command line: one file a command."""

import gc
import signal

from pliant.cli.app import app

__all__ = ["app", "main"]

# Objects made between two looks for cycles, and so on: equations are graphs of many small objects without any.
RARELY = (100_000, 50, 100)


def main() -> None:
    """The command line as a program: what it does is done when it ends, and Ctrl-C must not break how Python ends."""
    gc.freeze()  # what was imported stays
    gc.set_threshold(*RARELY)
    try:
        app()
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
