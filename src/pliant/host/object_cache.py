"""Object code on disk, found by what it was made from.

A file holds a checksum of its key and the object code. It is written beside its place and moved there at once, so a reader sees a
whole file or none, however many processes write; a file that fails its checksum counts as absent and is written anew. What this
user has not written, or others could have changed, is neither loaded nor added to.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pliant.host.cache_folder import distrust, make_private, warn_once

_MAGIC = b"pliant object 2\n"
# A link or a pipe in a file's place is not followed and not waited for.
_READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_SUFFIX = ".object"
_LEFTOVER_AGE = 3600.0  # s; a file half written this long ago belongs to a process that died


def content_key(parts: Iterable[str]) -> str:
    """One name for all that machine code depends on; where one part ends and the next begins counts."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode()
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()


@dataclass(frozen=True)
class ObjectCache:
    folder: Path
    limit: int = 512 * 1024**2  # bytes; beyond it the files least recently used go
    every: int = 32  # one store in so many looks for what should go: among thousands of files that takes as long as compiling

    def load(self, key: str) -> bytes | None:
        """The object code stored under a key, if it is there, whole, and this user's own."""
        path = self._path(key)
        if not self._trusted():
            return None
        try:
            content = _own_bytes(path)
        except OSError:
            return None
        if content is None or content[:_HEAD] != _head(key, content[_HEAD:]):
            return None
        with contextlib.suppress(OSError):  # in a folder that is only read, age does not matter
            os.utime(path)
        return content[_HEAD:]

    def store(self, key: str, data: bytes) -> None:
        """Keep object code for later processes. If that fails, this one goes on, with a warning."""
        try:
            make_private(self.folder)
            if not self._trusted():
                return
            self._write(self._path(key), _head(key, data) + data)
            if int(content_key((key,))[:8], 16) % self.every == 0:
                self._evict()
        except OSError as error:
            # Windows refuses to replace a file that another process reads: then it is already there.
            if self.load(key) is None:
                warn_once(f"{self.folder} ({error})")

    def _trusted(self) -> bool:
        """Whether nobody else can have put anything into the folder; says why where one could."""
        try:
            reason = distrust(os.stat(self.folder))
        except OSError:
            return False
        if reason:
            warn_once(f"{self.folder} is not used, {reason}")
        return not reason

    def _path(self, key: str) -> Path:
        return self.folder / (key + _SUFFIX)

    def _write(self, path: Path, content: bytes) -> None:
        handle, temporary = tempfile.mkstemp(suffix=".part", dir=self.folder)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            os.replace(temporary, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise

    def _evict(self) -> None:
        """Delete the files least recently used until the rest fits, and what dead processes left half written."""
        files = []
        for entry in os.scandir(self.folder):
            with contextlib.suppress(OSError):  # another process may have deleted it meanwhile
                status = entry.stat()
                files.append((status.st_mtime, status.st_size, entry.path))
        files.sort(reverse=True)
        newest, total = files[0][0] if files else 0.0, 0
        for modified, size, path in files:
            if path.endswith(_SUFFIX):
                total += size
                unwanted = total > self.limit
            else:
                unwanted = path.endswith(".part") and newest - modified > _LEFTOVER_AGE
            if unwanted:
                with contextlib.suppress(OSError):
                    os.unlink(path)


_HEAD = len(_MAGIC) + hashlib.sha256().digest_size


def _head(key: str, data: bytes) -> bytes:
    """How the file of this key with this object code begins: under another name the same bytes are worth nothing."""
    return _MAGIC + hashlib.sha256(hashlib.sha256(key.encode()).digest() + data).digest()


def _own_bytes(path: Path) -> bytes | None:
    """What a file holds, looked at after it was opened so that it cannot be exchanged in between; None with a warning where it is
    not this user's own."""
    with open(os.open(path, _READ), "rb") as file:
        found = os.fstat(file.fileno())
        reason = distrust(found) if stat.S_ISREG(found.st_mode) else "it is no file"
        if reason:
            warn_once(f"{path} is not used, {reason}")
            return None
        return file.read()
