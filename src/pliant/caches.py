"""Where pliant keeps what it can make again: one folder a user, one below it for each kind of thing."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path


def user_cache(kind: str) -> Path:
    """The folder for one kind of cached thing ("machine-code", "loops"), made if it can be."""
    if not kind or not all(letter.isalnum() or letter in "-_" for letter in kind):
        raise ValueError(f"cache kind must be one plain word, got {kind!r}")
    folder = cache_root() / "pliant" / kind
    # A folder that cannot be made is no error yet: who writes there finds out, and says so.
    with contextlib.suppress(OSError):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
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
