"""The command line: one file per command."""

import gc
import signal

from pliant.cli.app import app

__all__ = ["app", "main"]

# Thresholds of the garbage collector: objects created between two searches for cycles. Equations are graphs of many small objects
# without cycles.
RARELY = (100_000, 50, 100)


def main() -> None:
    """Run the command line as a program; Ctrl-C must not disturb the exit of Python."""
    gc.freeze()  # imported modules stay in memory
    gc.set_threshold(*RARELY)
    try:
        app()
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
