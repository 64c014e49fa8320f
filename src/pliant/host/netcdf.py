"""netCDF files, one thread at a time.

netCDF4 is used directly, because importing xarray takes a second of processor time before the first file is written.
"""

from __future__ import annotations

import contextlib
import errno
import math
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

LIBRARY = threading.RLock()  # HDF5 is not thread-safe
_held = 0  # how many times its owner has locked it


CHUNK = 2**17  # numbers of a variable that are compressed, written and read together (1 MiB)
LOCKED = 10.0  # seconds to wait for the lock of another process

T = TypeVar("T")


@contextlib.contextmanager
def opened(path: str | Path, mode: Literal["r", "w", "r+"] = "r") -> Iterator[Any]:
    """An open file; no other thread reads or writes a file meanwhile."""
    import netCDF4

    with alone(), patiently(path, lambda: netCDF4.Dataset(path, mode), mode != "r") as file:
        file.set_auto_mask(False)
        yield file


def patiently(path: str | Path, use: Callable[[], T], writing: bool) -> T:
    """Use a file; if that fails, once more after the lock of another process has gone.

    HDF5 locks an open file, and closing it removes the lock only once no process has it open. A process that another
    thread forks meanwhile has, until it runs its own program: a file just written could then not be opened again.
    """
    try:
        return use()
    except OSError as trouble:
        if _stays_locked(path, writing):
            raise OSError(errno.EAGAIN, "locked by another process", str(path)) from trouble
    return use()


def _stays_locked(path: str | Path, writing: bool) -> bool:
    """Waits until no other process has locked the file; True if one still has when the time is over."""
    if sys.platform == "win32" or not os.path.isfile(path):
        return False
    import fcntl

    kind = fcntl.LOCK_EX if writing else fcntl.LOCK_SH  # as HDF5 takes them
    end = time.monotonic() + LOCKED
    with contextlib.suppress(OSError), open(path, "rb") as file:  # files that cannot be read, file systems without locks
        while time.monotonic() < end:
            try:
                fcntl.flock(file, kind | fcntl.LOCK_NB)
            except BlockingIOError:
                time.sleep(0.002)
            else:
                fcntl.flock(file, fcntl.LOCK_UN)  # closing it would leave the lock to a process forked just now
                return False
        return True
    return False


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """Excludes other threads from reading and writing files. The owner may enter again, to read while it writes."""
    global _held
    with LIBRARY, contextlib.ExitStack() as held:
        for lock in [] if _held else _locks_of_xarray():  # these locks cannot be taken twice
            held.enter_context(lock)
        _held += 1
        try:
            yield
        finally:
            _held -= 1


def put(
    group: Any, name: str, dims: tuple[str, ...], values: NDArray[Any], attributes: Mapping[str, str], compression: int = 0
) -> None:
    """Write a variable of numbers or strings into a file or group that has its dimensions. compression: level of zlib."""
    kind = str if values.dtype.kind in "OU" else values.dtype
    if compression and kind is not str and values.size:
        variable = put_rows(group, name, dims, values.shape[1:], rows_in_chunk(values.shape), attributes, compression)
    else:
        variable = group.createVariable(name, kind, dims, **({} if kind is str else {"fill_value": False}))
        variable.setncatts(dict(attributes))
    for first, last in _blocks(values):
        variable[first:last] = values[first:last]
    if not values.shape:
        variable[...] = values


def put_rows(
    group: Any, name: str, dims: tuple[str, ...], shape: tuple[int, ...], rows: int, attributes: Mapping[str, str], compression: int
) -> Any:
    """Create an empty variable in chunks of the given number of rows. shape: the shape of one row."""
    packed = {"zlib": True, "complevel": compression} if compression else {}
    chunks = (max(rows, 1), *(max(n, 1) for n in shape))
    variable = group.createVariable(name, "f8", dims, fill_value=False, chunksizes=chunks, **packed)
    variable.setncatts(dict(attributes))
    small_cache(variable)
    return variable


def rows_in_chunk(shape: tuple[int, ...]) -> int:
    """The number of rows per chunk of a variable; shape: the shape of one row."""
    return max(1, min(shape[0], CHUNK // max(1, math.prod(shape[1:]))))


def small_cache(variable: Any) -> None:
    """Limit the cache of a variable to two chunks; by default HDF5 uses up to 16 MiB per variable."""
    chunks = variable.chunking()
    if chunks not in (None, "contiguous"):
        variable.set_var_chunk_cache(size=16 * math.prod(chunks), nelems=11, preemption=1.0)


def _blocks(values: NDArray[Any]) -> Iterator[tuple[int, int]]:
    """Ranges of rows that are written at once: all rows, or parts of a large array that is in a file."""
    if not values.shape:
        return
    rows = len(values) if isinstance(values, np.ndarray) else rows_in_chunk(values.shape)
    for first in range(0, len(values), max(rows, 1)):
        yield first, min(first + rows, len(values))


def _locks_of_xarray() -> list[contextlib.AbstractContextManager[Any]]:
    """The locks that xarray holds while it reads or writes a file, if it has been imported; it is not imported for this."""
    if "xarray" not in sys.modules:
        return []
    try:
        from xarray.backends.locks import HDF5_LOCK, NETCDFC_LOCK
    except ImportError:  # they are not part of xarray's public interface
        return []
    return [HDF5_LOCK, NETCDFC_LOCK]
