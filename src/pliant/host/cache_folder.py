"""Where pliant keeps what it can make again: one folder a user, one below it for each kind of thing.

Machine code is run as it is found, so it must be this user's own: folders are made for nobody else, and one that others own or may
write to is not used.
"""

from __future__ import annotations

import contextlib
import functools
import os
import stat
import sys
import warnings
from pathlib import Path

_OPEN = stat.S_IWGRP | stat.S_IWOTH  # others may write


def user_cache(kind: str) -> Path | None:
    """The folder for one kind of cached thing ("machine-code", "loops"), made if it can be; without a home None, and a warning."""
    if not kind or not all(letter.isalnum() or letter in "-_" for letter in kind):
        raise ValueError(f"cache kind must be one plain word, got {kind!r}")
    try:
        folder = cache_root() / "pliant" / kind
    except RuntimeError:  # Path.home: neither the environment nor the system knows of one
        warn_once("there is no home directory and no XDG_CACHE_HOME")
        return None
    # A folder that cannot be made is no error yet: who writes there finds out, and says so.
    with contextlib.suppress(OSError):
        make_private(folder)
    return folder


def cache_root() -> Path:
    """Where this platform wants caches; a relative path in the environment is ignored, as the XDG standard asks."""
    if sys.platform == "win32":
        return _absolute("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return _absolute("XDG_CACHE_HOME") or Path.home() / ".cache"


def _absolute(variable: str) -> Path | None:
    path = Path(os.environ.get(variable, ""))
    return path if path.is_absolute() else None


def make_private(folder: Path) -> None:
    """The folder, and those above it that are missing, for this user alone; those that are there stay as they are."""
    if folder.is_dir():
        return
    for missing in reversed([each for each in (folder, *folder.parents) if not each.exists()]):
        missing.mkdir(mode=0o700, exist_ok=True)
    if not folder.is_dir():
        raise NotADirectoryError(20, "Not a directory", str(folder))


def distrust(found: os.stat_result) -> str:
    """Why what is kept there may not be this user's own work, or nothing; a system without owners tells nothing."""
    if not hasattr(os, "geteuid"):
        return ""
    if found.st_uid != os.geteuid():
        return f"it belongs to another user (number {found.st_uid})"
    if found.st_mode & _OPEN:
        return f"others may write to it (mode {stat.S_IMODE(found.st_mode):o}, must be {stat.S_IMODE(found.st_mode & ~_OPEN):o})"
    return ""


@functools.cache
def warn_once(reason: str) -> None:
    """That nothing is kept, and why: once a process, for every function of every run would say it again."""
    warnings.warn(f"machine code is not cached, every process compiles again: {reason}", RuntimeWarning, stacklevel=2)
