"""The command line: one file a command."""

import signal

from pliant.cli.app import app

__all__ = ["app", "main"]


def main() -> None:
    """The command line as a program: what it does is done when it ends, and Ctrl-C must not break how Python ends."""
    try:
        app()
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
