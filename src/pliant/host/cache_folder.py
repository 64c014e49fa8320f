"""The cache folder: one per user, with a subfolder for each kind of cached file.

Cached machine code is executed as it is found, so only this user may have written it: folders are created private, and a folder
that another user owns or may write to is not used.
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
    """The folder for one kind of cached file ("machine-code", "loops"), created if possible; None, with a warning, if no home."""
    if not kind or not all(letter.isalnum() or letter in "-_" for letter in kind):
        raise ValueError(f"cache kind must be one plain word, got {kind!r}")
    try:
        folder = cache_root() / "pliant" / kind
    except RuntimeError:  # Path.home: neither the environment nor the system knows a home
        warn_once("there is no home directory and no XDG_CACHE_HOME")
        return None
    # A folder that cannot be created is not an error yet: whoever writes there will report it.
    with contextlib.suppress(OSError):
        make_private(folder)
    return folder


def cache_root() -> Path:
    """The folder for caches on this platform; a relative path in the environment is ignored, as the XDG standard requires."""
    if sys.platform == "win32":
        return _absolute("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return _absolute("XDG_CACHE_HOME") or Path.home() / ".cache"


def _absolute(variable: str) -> Path | None:
    path = Path(os.environ.get(variable, ""))
    return path if path.is_absolute() else None


def make_private(folder: Path) -> None:
    """Create the folder, and missing ones above it, for this user alone; existing folders are left unchanged."""
    if folder.is_dir():
        return
    for missing in reversed([each for each in (folder, *folder.parents) if not each.exists()]):
        missing.mkdir(mode=0o700, exist_ok=True)
    if not folder.is_dir():
        raise NotADirectoryError(20, "Not a directory", str(folder))


def distrust(found: os.stat_result) -> str:
    """Why the content may not be this user's own, or an empty string; always empty on systems without file owners."""
    if not hasattr(os, "geteuid"):
        return ""
    if found.st_uid != os.geteuid():
        return f"it belongs to another user (id {found.st_uid})"
    if found.st_mode & _OPEN:
        return f"others may write to it (mode {stat.S_IMODE(found.st_mode):o}, must be {stat.S_IMODE(found.st_mode & ~_OPEN):o})"
    return ""


@functools.cache
def warn_once(reason: str) -> None:
    """Warn, once per process, that machine code is not cached, and why."""
    warnings.warn(f"machine code is not cached, so every process compiles it again: {reason}", RuntimeWarning, stacklevel=2)
