"""netCDF files, one thread at a time, whose contents are compared with checksums as they are read.

netCDF4 is used directly: importing xarray takes a second of processor time before the first file is written, and xarray's own
locks, which do not cover all that it does with a file, would be taken in another order than ours.

A group that is `seal`ed has a checksum of everything but the values of its variables (the attribute `checksum`), and the checksums
of their blocks of rows (the text `checksums`), so that rows are checked although only some are read.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import math
import os
import sys
import threading
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

LIBRARY = threading.RLock()  # HDF5 is not thread-safe
_held = 0  # how many times its owner has locked it


CHUNK = 2**17  # numbers of a variable that are compressed, written and read together (1 MiB)
LOCKED = 10.0  # seconds to wait for the lock of another process
CHECKSUM, CHECKSUMS = "checksum", "checksums"  # of a group, and of the values in it

T = TypeVar("T")
Blocks = Sequence[tuple[int, int]]  # checksums of consecutive rows: (number of the row after the last, CRC-32)


@contextlib.contextmanager
def opened(path: str | Path, mode: Literal["r", "w", "r+"] = "r") -> Iterator[Any]:
    """An open file; no other thread reads or writes a file meanwhile."""
    import netCDF4

    with alone() if mode == "r" else writing(path), patiently(path, lambda: netCDF4.Dataset(path, mode), mode != "r") as file:
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
    with LIBRARY, contextlib.nullcontext() if _held else _lock_of_xarray():  # which cannot be taken twice
        _held += 1
        try:
            yield
        finally:
            _held -= 1


@contextlib.contextmanager
def writing(path: str | Path) -> Iterator[None]:
    """As `alone`, to write to a file. HDF5 does not say why it could not: a full disk is "HDF error"."""
    with alone():
        try:
            yield
        except (RuntimeError, OSError) as trouble:
            if isinstance(trouble, OSError) and (trouble.errno or 0) > 0:  # netCDF's own error numbers are negative
                raise
            raise _refusal(Path(path)) or trouble from trouble


def _refusal(path: Path) -> OSError | None:
    """Why nothing more can be written to a file, tested by writing to it; None if it can."""
    try:
        size = os.path.getsize(path)
        try:
            with open(path, "ab") as file:
                file.write(bytes(8 * CHUNK))
        finally:
            os.truncate(path, size)
    except OSError as trouble:
        return OSError(trouble.errno, trouble.strerror, str(path))
    return None


def put(
    group: Any, name: str, dims: tuple[str, ...], values: NDArray[Any], attributes: Mapping[str, str], compression: int = 0
) -> Blocks:
    """Write a variable of numbers or strings into a file or group that has its dimensions. compression: level of zlib."""
    kind = str if values.dtype.kind in "OU" else values.dtype
    if compression and kind is not str and values.size:
        variable = put_rows(group, name, dims, values.shape[1:], rows_in_chunk(values.shape), attributes, compression)
    else:
        variable = group.createVariable(name, kind, dims, **({} if kind is str else {"fill_value": False}))
        variable.setncatts(dict(attributes))
    if not values.shape:
        variable[...] = values
        return [(1, crc(values))]
    blocks = []
    for first in range(0, len(values), rows := rows_in_chunk(values.shape)):
        block = values[first : first + rows]
        variable[first : first + rows] = block
        blocks.append((first + len(block), crc(block)))
    return blocks


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


def seal(group: Any, blocks: Mapping[str, Blocks]) -> None:
    """Complete a group: nothing is added to it afterwards. blocks: the checksums of all its variables."""
    text = json.dumps(blocks)
    group.createVariable(CHECKSUMS, str, ())[...] = np.array(text, dtype=object)
    group.setncattr(CHECKSUM, _checksum(group, text))


def sealed(group: Any) -> Mapping[str, Blocks]:
    """The checksums of the variables of a sealed group; an error if anything but values, which `rows_of` checks, has changed."""
    text = str(group[CHECKSUMS][...])
    if group.getncattr(CHECKSUM) != _checksum(group, text):
        raise ValueError("names, sizes or attributes have changed since it was written")
    return {name: [(last, code) for last, code in blocks] for name, blocks in json.loads(text).items()}


def rows_of(variable: Any, blocks: Blocks | None, first: int = 0, last: int | None = None) -> NDArray[Any]:
    """Rows of a variable, or the value of one without rows; an error if a block with one of them has changed. None: unchecked."""
    if blocks is None or not variable.shape:
        values = np.asarray(variable[first:last] if variable.shape else variable[...])
        if blocks is not None:
            _require(variable, values, blocks[0][1])
        return values
    last = variable.shape[0] if last is None else last
    ends = [0, *(end for end, _ in blocks)]
    met = [k for k, (end, _) in enumerate(blocks) if end > first and ends[k] < last]
    start = ends[met[0]] if met else first
    values = np.asarray(variable[start : ends[met[-1] + 1] if met else first])
    for k in met:
        _require(variable, values[ends[k] - start : ends[k + 1] - start], blocks[k][1])
    return values[first - start : last - start]


def crc(values: NDArray[Any]) -> int:
    """The CRC-32 of numbers or texts; it does not depend on the machine."""
    if values.dtype.kind in "OU":
        texts = [str(text).encode() for text in values.ravel().tolist()]
        return zlib.crc32(b"".join(len(text).to_bytes(8, "little") + text for text in texts))
    return zlib.crc32(np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<")).tobytes())


def _require(variable: Any, values: NDArray[Any], code: int) -> None:
    if crc(values) != code:
        raise ValueError(f"{variable.name} has changed since it was written")


def _checksum(group: Any, checksums: str) -> str:
    """A checksum of everything in a group but the values of its variables, and of the names of the groups in it."""
    parts = [checksums, *_attributes(group), *_groups_in(group)]
    parts += [f"{name} {len(dimension)}" for name, dimension in sorted(group.dimensions.items())]
    for name, variable in sorted(group.variables.items()):
        if name != CHECKSUMS:
            parts += [f"{name} {variable.dtype} {variable.dimensions} {variable.shape}", *_attributes(variable)]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _attributes(owner: Any) -> list[str]:
    return [f"{name} = {owner.getncattr(name)}" for name in sorted(owner.ncattrs()) if name != CHECKSUM]


def _groups_in(group: Any) -> list[str]:
    """The names of all groups in a group."""
    return [name for part in sorted(group.groups) for name in (part, *_groups_in(group.groups[part]))]


def _lock_of_xarray() -> contextlib.AbstractContextManager[Any]:
    """The lock that xarray holds while it reads or writes a file of its user, if it has been imported.

    Nothing is imported for this: in the middle of an import by another thread, that would leave both with half a module.
    """
    lock = getattr(sys.modules.get("xarray.backends.netCDF4_"), "NETCDF4_PYTHON_LOCK", None)  # not part of its public interface
    return contextlib.nullcontext() if lock is None else lock
