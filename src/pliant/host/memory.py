"""Checks whether data fit into memory, made beforehand: a machine that swaps, or a process that is killed, gives no reason."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from pliant.errors import ModelError

SHARE = 0.8  # fraction of the free memory that may be used
SMALL = 8 * 1024**2  # bytes that are not checked: Python itself needs more, and the check would cost as much as the rows
UNKNOWN = 8 * 1024**3  # bytes assumed to be free if the system does not report them
_GROUP = Path("/sys/fs/cgroup")  # limits of a container on Linux


def free_memory() -> int:
    """The free memory, bytes."""
    return min(_of_machine(), _of_group())


def require_memory(part: str, field: str, rule: str, size: float, value: object) -> None:
    """Refuse data that need more memory than is free; the message names both sizes."""
    if size <= SMALL:
        return
    free = free_memory()
    if size > SHARE * free:
        raise ModelError.of(part, field, f"{rule}: about {_words(size)} would be needed, but {_words(free)} are free", value)


def _words(size: float) -> str:
    return f"{size / 1e9:.3g} GB"


def _of_machine() -> int:
    with contextlib.suppress(OSError, ValueError, IndexError):
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    with contextlib.suppress(OSError, ValueError, AttributeError):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    return UNKNOWN


def _of_group() -> int:
    with contextlib.suppress(OSError, ValueError):
        return max(int((_GROUP / "memory.max").read_text()) - int((_GROUP / "memory.current").read_text()), 0)
    return _of_machine()
