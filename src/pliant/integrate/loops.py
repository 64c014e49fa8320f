"""The compiled loops, loaded when first used: from the disk cache where it is writable, else compiled."""

from __future__ import annotations

import functools
import hashlib
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pliant.caches import user_cache


@functools.cache
def explicit_loop() -> Any:
    """`explicit._advance` as machine code.  Numba is imported here, and not before: it takes 0.6 s."""
    from pliant.integrate import explicit

    with _cache_directory() as writable:
        return explicit.compile_loop(cache=writable)


@contextmanager
def _cache_directory() -> Iterator[bool]:
    """Numba's cache directory is ours while our loop is decorated, and what it was after that."""
    import numba

    directory = _writable(_stamp())
    before = numba.config.CACHE_DIR
    if directory is not None:
        numba.config.CACHE_DIR = str(directory)
    try:
        yield directory is not None
    finally:
        numba.config.CACHE_DIR = before


def _stamp() -> str:
    """Names the cache by all that the machine code depends on: Numba alone looks at the caller's own file only."""
    import llvmlite.binding as llvm
    import numba

    stamp = hashlib.sha256()
    for source in sorted(Path(__file__).parent.glob("*.py")):
        stamp.update(source.name.encode() + b"\0" + source.read_bytes() + b"\0")
    stamp.update(f"{numba.__version__} {llvm.get_host_cpu_name()}".encode())
    return stamp.hexdigest()[:32]


def _writable(stamp: str) -> Path | None:
    try:
        directory = Path(user_cache("loops")) / stamp
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            return directory
    except OSError:
        return None
