"""What fits into memory: asked before it is filled, for a machine that swaps or is killed says nothing of why."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from pliant.errors import ModelError

SHARE = 0.8  # of what is free may be asked for
SMALL = 8 * 1024**2  # bytes that are there: Python itself takes more, and asking costs a run as much as its rows do
UNKNOWN = 8 * 1024**3  # bytes taken as free where the system does not tell
_GROUP = Path("/sys/fs/cgroup")  # of Linux: what a container may use


def free_memory() -> int:
    """Bytes that a program could have now."""
    return min(_of_machine(), _of_group())


def require_memory(part: str, field: str, rule: str, size: float, value: object) -> None:
    """Refuse what would need more than is free, naming both sizes."""
    if size <= SMALL:
        return
    free = free_memory()
    if size > SHARE * free:
        raise ModelError.of(part, field, f"{rule}: some {_words(size)} would be needed, {_words(free)} are free", value)


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
