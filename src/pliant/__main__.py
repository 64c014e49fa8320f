"""The program `pliant`, also as python -m pliant."""

import gc
import signal
import sys

from pliant.version import VERSION

# Thresholds of the garbage collector: objects created between two searches for cycles. Equations are graphs of many small objects
# without cycles.
RARELY = (100_000, 50, 100)


def main() -> None:
    """Run the command line as a program; Ctrl-C must not disturb the exit of Python."""
    if sys.argv[1:] == ["--version"]:  # without waiting for the commands
        print(f"pliant {VERSION}")
        return
    from pliant.cli import app

    gc.freeze()  # imported modules stay in memory
    gc.set_threshold(*RARELY)
    try:
        app()
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


if __name__ == "__main__":
    main()
