"""Object code on disk, found by what it was made from.

A file holds a checksum and the object code. It is written beside its place and moved there at once, so a reader sees a
whole file or none, however many processes write; a file that fails its checksum counts as absent and is written anew.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

_MAGIC = b"pliant object 1\n"
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
        """The object code stored under a key, if it is there and whole."""
        path = self._path(key)
        try:
            content = path.read_bytes()
        except OSError:
            return None
        header = len(_MAGIC) + hashlib.sha256().digest_size
        data = content[header:]
        if content[:header] != _MAGIC + hashlib.sha256(data).digest():
            return None
        with contextlib.suppress(OSError):  # in a folder that is only read, age does not matter
            os.utime(path)
        return data

    def store(self, key: str, data: bytes) -> None:
        """Keep object code for later processes. If that fails, this one goes on, with a warning."""
        try:
            self._write(self._path(key), _MAGIC + hashlib.sha256(data).digest() + data)
            if int(content_key((key,))[:8], 16) % self.every == 0:
                self._evict()
        except OSError as error:
            # Windows refuses to replace a file that another process reads: then it is already there.
            if self.load(key) is None:
                message = f"machine code is not cached, every process compiles again: {self.folder} ({error})"
                warnings.warn(message, RuntimeWarning, stacklevel=3)

    def _path(self, key: str) -> Path:
        return self.folder / (key + _SUFFIX)

    def _write(self, path: Path, content: bytes) -> None:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
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
