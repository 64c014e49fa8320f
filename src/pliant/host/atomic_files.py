"""Files that appear whole or not at all: written under another name in the same folder, then renamed.

Only a regular file is replaced, and keeps its mode and owner. A link stays, what it points to is replaced; a pipe or a terminal is
written to, after all is made. A draft's name tells whose it is: what a killed process left goes when the next is written there.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import hashlib
import os
import re
import secrets
import shutil
import socket
import stat
import tempfile
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path

_LONGEST_STEM = 40  # letters of the target's name in a draft's: names of 255 are allowed, and ours is longer
_NAME = re.compile(r"\..*\.(?P<host>[0-9a-f]{8})-(?P<process>[0-9]{1,10})-[0-9a-f]{8}\.pliant-draft(\.[^.]*)?", re.DOTALL)


@contextlib.contextmanager
def atomic_write(target: str | Path) -> Iterator[Path]:
    """A name to write to; it becomes `target` when all went well, and is gone when anything went wrong."""
    target = Path(target)
    if streamed(target):
        with _streamed(target) as draft:
            yield draft
        _note(target, None)
        return
    place = Path(os.path.realpath(target))
    clear_leftovers(place.parent)
    draft = _new(place)
    try:
        yield draft
        _take_after(draft, place)
        _note(target, os.stat(draft).st_ino)
        os.replace(draft, place)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


class Written:
    """The files that came whole to their places while one watched: what to say where a command is interrupted."""

    def __init__(self) -> None:
        self.noted: list[tuple[Path, int | None]] = []  # before the draft is renamed, with its number, which tells whether it was

    @property
    def files(self) -> list[str]:
        return [str(target) for target, number in self.noted if number is None or _number(target) == number]


_watching: ContextVar[Written | None] = ContextVar("watching", default=None)


@contextlib.contextmanager
def watching() -> Iterator[Written]:
    """What is written while this lasts."""
    written = Written()
    token = _watching.set(written)
    try:
        yield written
    finally:
        _watching.reset(token)


def _note(target: Path, number: int | None) -> None:
    written = _watching.get()
    if written is not None:
        written.noted.append((target, number))


def _number(target: Path) -> int | None:
    try:
        return os.stat(target).st_ino
    except OSError:
        return None


def streamed(target: Path) -> bool:
    """Whether a pipe, a terminal or an open file like /dev/stdout stands there, to be written to as it is.

    Refused is what is neither such nor a file nor absent.
    """
    try:
        mode = os.stat(target).st_mode
    except FileNotFoundError:
        return False
    if stat.S_ISREG(mode):
        return _open_already(target)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "it is a folder", str(target))
    if stat.S_ISFIFO(mode) or stat.S_ISCHR(mode):
        return True
    kind = "a disk" if stat.S_ISBLK(mode) else "a socket"
    raise OSError(errno.EINVAL, f"it is {kind}, neither a file nor a pipe", str(target))


def _open_already(target: Path) -> bool:
    """Whether the name is one of the open files of a process: to replace what a shell appends to would lose what it held."""
    while True:
        folder = os.path.realpath(target.parent)
        if folder == "/dev/fd" or re.fullmatch(r"/proc/.*/fd", folder):
            return True
        if not target.is_symlink():
            return False
        target = Path(folder) / os.readlink(target)


@contextlib.contextmanager
def _streamed(target: Path) -> Iterator[Path]:
    """A draft elsewhere, for most formats are not written from front to back; its bytes go through at the end."""
    with tempfile.TemporaryDirectory(prefix="pliant-") as folder:
        draft = Path(folder) / f"draft{target.suffix}"
        draft.touch()
        yield draft
        # Opened as it is: neither made nor emptied, and behind what it holds.
        with open(draft, "rb") as made, open(os.open(target, os.O_WRONLY | os.O_APPEND), "wb") as pipe:
            shutil.copyfileobj(made, pipe)


def _new(place: Path) -> Path:
    """An empty draft beside its place; the suffix is kept, as writers of pictures and netCDF choose the format by it."""
    while True:
        tail = f"{_host()}-{os.getpid()}-{secrets.token_hex(4)}.pliant-draft{place.suffix}"
        draft = place.with_name(f".{place.stem[:_LONGEST_STEM]}.{tail}")
        with contextlib.suppress(FileExistsError):
            os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))  # less what the user's mask takes away
            return draft


def _take_after(draft: Path, place: Path) -> None:
    """Mode and owner of the file that is replaced, as if it had been written into; of a new one those of any new file."""
    with contextlib.suppress(FileNotFoundError):
        old, new = os.stat(place), os.stat(draft)
        if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid) and hasattr(os, "chown"):
            with contextlib.suppress(OSError):  # only root can
                os.chown(draft, old.st_uid, old.st_gid)
        os.chmod(draft, stat.S_IMODE(old.st_mode) & 0o777)


def clear_leftovers(folder: Path) -> None:
    """Delete drafts whose process is gone: those of this machine and this user, by their names; nothing else."""
    if not hasattr(os, "geteuid"):  # Windows: whether a process lives cannot be asked without harm
        return
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            named = _NAME.fullmatch(entry.name)
            if named and named["host"] == _host() and entry.is_file(follow_symlinks=False) and _gone(int(named["process"])):
                with contextlib.suppress(OSError):
                    if entry.stat(follow_symlinks=False).st_uid == os.geteuid():
                        os.unlink(entry.path)


def _gone(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):  # it lives and is another user's; or no number of a process
        return False
    return False


@functools.cache
def _host() -> str:
    """This machine and, in a container, its own count of processes: elsewhere the same number is another process."""
    own = ""
    with contextlib.suppress(OSError):
        own = os.readlink("/proc/self/ns/pid")
    return hashlib.sha256(f"{socket.gethostname()} {own}".encode()).hexdigest()[:8]
