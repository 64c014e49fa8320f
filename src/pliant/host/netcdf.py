"""netCDF files, one thread at a time.

netCDF4 is used as it is: xarray, with what it imports, takes a second of processor time before it writes its first file.
"""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from numpy.typing import NDArray

LIBRARY = threading.RLock()  # HDF5 is not safe in threads


@contextlib.contextmanager
def opened(path: str | Path, mode: Literal["r", "w", "r+"] = "r") -> Iterator[Any]:
    """A file, open while nobody else reads or writes one."""
    import netCDF4

    with LIBRARY, contextlib.ExitStack() as held:
        for lock in _locks_of_xarray():
            held.enter_context(lock)
        file = held.enter_context(netCDF4.Dataset(path, mode))
        file.set_auto_mask(False)
        yield file


def put(group: Any, name: str, dims: tuple[str, ...], values: NDArray[Any], attributes: Mapping[str, str]) -> None:
    """A variable of a file or a group whose dimensions are there already: numbers or texts."""
    kind = str if values.dtype.kind in "OU" else values.dtype
    variable = group.createVariable(name, kind, dims, **({} if kind is str else {"fill_value": False}))
    variable.setncatts(dict(attributes))
    variable[...] = values


def _locks_of_xarray() -> list[contextlib.AbstractContextManager[Any]]:
    """What xarray holds while it reads or writes a file, where anybody has it: it is not imported for this."""
    if "xarray" not in sys.modules:
        return []
    try:
        from xarray.backends.locks import HDF5_LOCK, NETCDFC_LOCK
    except ImportError:  # they are no promise of xarray's
        return []
    return [HDF5_LOCK, NETCDFC_LOCK]
