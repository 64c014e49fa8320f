"""The cache of object code on disk, addressed by the content from which the code was generated.

A file contains a checksum of its key, and the object code. It is written next to its target and then renamed, so readers see a
complete file or none, however many processes write. A file that fails its checksum counts as absent and is written again. Files
that another user wrote or could have changed are not loaded, and folders of that kind are not written to.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from pliant.host.cache_folder import distrust, make_private, warn_once

_MAGIC = b"pliant object 2\n"
# Links are not followed, and pipes are not waited for.
_READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_SUFFIX = ".object"
_LEFTOVER_AGE = 3600.0  # s; an incomplete file older than this belongs to a process that died


def content_key(parts: Iterable[str]) -> str:
    """A hash of everything that machine code depends on; the boundaries between the parts count."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode()
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()


@dataclass(frozen=True)
class ObjectCache:
    folder: Path
    limit: int = 512 * 1024**2  # bytes; beyond it the least recently used files are deleted
    every: int = 256  # stores between two clean-ups, each of which looks at thousands of files

    def load(self, key: str) -> bytes | None:
        """The object code stored under a key, if it exists, is complete and is this user's own."""
        path = self._path(key)
        if not self._trusted():
            return None
        try:
            content = _own_bytes(path)
        except OSError:
            return None
        if content is None or content[:_HEAD] != _head(key, content[_HEAD:]):
            return None
        with contextlib.suppress(OSError):  # in a read-only folder the age does not matter
            os.utime(path)
        return content[_HEAD:]

    def store(self, key: str, data: bytes) -> None:
        """Store object code for later processes. A failure only causes a warning."""
        try:
            make_private(self.folder)
            if not self._trusted():
                return
            self._write(self._path(key), _head(key, data) + data)
            if int(content_key((key,))[:8], 16) % self.every == 0:
                self._evict()
        except OSError as error:
            # Windows refuses to replace a file that another process is reading; then the file already exists.
            if self.load(key) is None:
                warn_once(f"{self.folder} ({error})")

    def _trusted(self) -> bool:
        """Whether nobody else could have written into the folder; warns with the reason if somebody could."""
        try:
            reason = distrust(os.stat(self.folder))
        except OSError:
            return False
        if reason:
            warn_once(f"{self.folder} is not used, because {reason}")
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
        """Delete the least recently used files until the rest fits, and incomplete files of dead processes."""
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


def kept(folder: Path | None, parts: Iterable[str], make: Callable[[], bytes]) -> tuple[bytes, bool]:
    """Code that depends on these texts alone, and whether it was in the folder's cache already; without a folder it is made."""
    if folder is None:
        return make(), False
    cache, key = ObjectCache(folder), content_key(parts)
    known = cache.load(key)
    if known is not None:
        return known, True
    data = make()
    cache.store(key, data)
    return data, False


_HEAD = len(_MAGIC) + hashlib.sha256().digest_size


def _head(key: str, data: bytes) -> bytes:
    """The head of the file for this key and object code; it ties the bytes to the key."""
    return _MAGIC + hashlib.sha256(hashlib.sha256(key.encode()).digest() + data).digest()


def _own_bytes(path: Path) -> bytes | None:
    """The content of a file; None, with a warning, if it is not this user's own. Checked once open, so it cannot be swapped."""
    with open(os.open(path, _READ), "rb") as file:
        found = os.fstat(file.fileno())
        reason = distrust(found) if stat.S_ISREG(found.st_mode) else "it is not a regular file"
        if reason:
            warn_once(f"{path} is not used, because {reason}")
            return None
        return file.read()
