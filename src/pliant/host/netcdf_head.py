"""How a netCDF file is recognised, without the libraries that read it."""

from __future__ import annotations

from pathlib import Path

HEADS = (b"\x89HDF", b"CDF")  # first bytes of netCDF files


def is_netcdf(path: str | Path) -> bool:
    """Whether a file is netCDF, judged by its first bytes, because names may mislead; False if it cannot be read."""
    try:
        with open(path, "rb") as file:
            return file.read(4).startswith(HEADS)
    except OSError:
        return False
