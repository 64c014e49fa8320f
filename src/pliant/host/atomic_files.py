"""Atomic files, which appear complete or not at all: written under another name in the same folder, then renamed.

Only a regular file is replaced; the new one keeps its mode and owner. A link stays, and its target is replaced. A pipe or a
terminal is written to once the content is complete. The name of a draft contains its process, so that drafts of killed processes
are deleted when the next file is written in the folder.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import hashlib
import itertools
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

from pliant.errors import ModelError

_LONGEST_STEM = 40  # characters of the target's name in the draft's name, which must not exceed 255 characters
_NAME = re.compile(r"\..*\.(?P<host>[0-9a-f]{8})-(?P<process>[0-9]{1,10})-[0-9a-f]{8}\.pliant-draft(\.[^.]*)?", re.DOTALL)


@contextlib.contextmanager
def atomic_write(target: str | Path) -> Iterator[Path]:
    """The path of a draft to write to; it becomes `target` on success and is deleted on any error."""
    if not isinstance(target, (str, os.PathLike)):
        raise ModelError.of("file", "path", "must be the path of a file", target)
    target = Path(target)
    if streamed(target):
        with _streamed(target) as draft:
            yield draft
        _note(target, None)
        return
    draft = draft_of(target)
    try:  # from before there is a draft: Ctrl-C may come at any time
        create(draft)
        yield draft
        complete(draft, target)
    except BaseException:
        with contextlib.suppress(OSError):  # the first error is the one to report
            draft.unlink(missing_ok=True)
        raise


def write_text(target: str | Path, text: str) -> None:
    """Write a text file: it appears complete or not at all."""
    with atomic_write(target) as draft:
        draft.write_text(text, encoding="utf-8")


def draft_of(target: Path, unfinished: bool = False) -> Path:
    """An unused name for a draft of a file. unfinished: it is kept if the process is killed, as arm.unfinished.nc for arm.nc."""
    place = Path(os.path.realpath(target))
    clear_leftovers(place.parent)
    return _unused(place, unfinished)


def create(draft: Path) -> None:
    os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))  # reduced by the user's umask


def complete(draft: Path, target: Path) -> None:
    """Give a draft the name of its target."""
    place = Path(os.path.realpath(target))
    _take_after(draft, place)
    _note(target, os.stat(draft).st_ino)
    os.replace(draft, place)


def unfinished_files(target: Path) -> list[Path]:
    """What killed processes have left of a file."""
    place = Path(os.path.realpath(target))
    named = re.compile(re.escape(f"{place.stem[:_LONGEST_STEM]}.unfinished") + r"(-[0-9]+)?" + re.escape(place.suffix))
    return [path for path in place.parent.iterdir() if named.fullmatch(path.name)] if place.parent.is_dir() else []


class Written:
    """The files completed while it watches; an interrupted command reports them."""

    def __init__(self) -> None:
        self.noted: list[tuple[Path, int | None]] = []  # before the rename, with the inode to check that it happened

    @property
    def files(self) -> list[str]:
        return [str(target) for target, number in self.noted if number is None or _number(target) == number]


_watching: ContextVar[Written | None] = ContextVar("watching", default=None)


@contextlib.contextmanager
def watching() -> Iterator[Written]:
    """Collects the files that are written inside the `with` block."""
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
    """Whether the target is a pipe, a terminal or an open file such as /dev/stdout, which is written to directly.

    Anything else that exists and is not a regular file is refused.
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
    """Whether the name is an open file of a process; replacing a file to which a shell appends would lose its content."""
    while True:
        folder = os.path.realpath(target.parent)
        if folder == "/dev/fd" or re.fullmatch(r"/proc/.*/fd", folder):
            return True
        if not target.is_symlink():
            return False
        target = Path(folder) / os.readlink(target)


@contextlib.contextmanager
def _streamed(target: Path) -> Iterator[Path]:
    """A draft in a temporary folder, because most formats are not written sequentially; its bytes are copied at the end."""
    with tempfile.TemporaryDirectory(prefix="pliant-") as folder:
        draft = Path(folder) / f"draft{target.suffix}"
        draft.touch()
        yield draft
        # Opened without creating or truncating it, and appended to.
        with open(draft, "rb") as made, open(os.open(target, os.O_WRONLY | os.O_APPEND), "wb") as pipe:
            shutil.copyfileobj(made, pipe)


def _unused(place: Path, unfinished: bool) -> Path:
    """A name for a draft next to its target, with the same suffix, from which writers of pictures and netCDF choose the format."""
    for number in itertools.count(1):
        tail = f"{_host()}-{os.getpid()}-{secrets.token_hex(4)}.pliant-draft{place.suffix}"
        draft = place.with_name(f".{place.stem[:_LONGEST_STEM]}.{tail}")
        if unfinished:
            draft = place.with_name(f"{place.stem[:_LONGEST_STEM]}.unfinished{f'-{number}' if number > 1 else ''}{place.suffix}")
        if not os.path.lexists(draft):
            return draft
    raise AssertionError("unreachable")


def _take_after(draft: Path, place: Path) -> None:
    """Give the draft the mode and owner of the file that it replaces; a new file gets the usual ones."""
    with contextlib.suppress(FileNotFoundError):
        old, new = os.stat(place), os.stat(draft)
        if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid) and hasattr(os, "chown"):
            with contextlib.suppress(OSError):  # only root can
                os.chown(draft, old.st_uid, old.st_gid)
        os.chmod(draft, stat.S_IMODE(old.st_mode) & 0o777)


def clear_leftovers(folder: Path) -> None:
    """Delete drafts of this machine and this user whose process has ended, recognised by their names; nothing else."""
    if not hasattr(os, "geteuid"):  # Windows has no harmless way to ask whether a process is alive
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
    except (OSError, OverflowError):  # it is alive and belongs to another user, or the number is not a process id
        return False
    return False


@functools.cache
def _host() -> str:
    """A hash of the machine and, in a container, of its process namespace: elsewhere the same id is another process."""
    own = ""
    with contextlib.suppress(OSError):
        own = os.readlink("/proc/self/ns/pid")
    return hashlib.sha256(f"{socket.gethostname()} {own}".encode()).hexdigest()[:8]
