"""Loops as LLVM bitcode, made by Numba when the package was built (`build_loops`), so that the first use need not wait for Numba.

Bitcode is optimised, and specific to an architecture but not to a processor: machine code for the present processor is generated
from it in a thirtieth of the time. It is used only if it was made from exactly the sources installed with it.
"""

from __future__ import annotations

import functools
import hashlib
import json
import re
from dataclasses import asdict, dataclass
from pathlib import Path

import llvmlite.binding as llvm

from pliant.host.object_cache import content_key

FOLDER = Path(__file__).parent / "bitcode"  # package data, one file per loop
_MAGIC = b"pliant loop 1\n"
_BESIDE = re.compile(r"^from pliant\.integrate\.(\w+) import", re.MULTILINE)


@dataclass(frozen=True)
class Bitcode:
    """A loop as made by Numba: a function, and the module that contains it."""

    symbol: str
    numba: str  # version of Numba that made it
    data: bytes


@dataclass(frozen=True)
class _Head:
    """The header of a file."""

    key: str
    symbol: str
    numba: str
    llvm: tuple[int, ...]  # version that wrote it: later versions can read it, earlier ones may not
    checksum: str


@functools.cache
def sources_key(loop: str) -> str:
    """A key of all sources of a loop: its own module, and recursively the modules of this folder that it imports."""
    sources: dict[str, str] = {}
    waiting = [loop]
    while waiting:
        name = waiting.pop()
        if name not in sources:
            sources[name] = (Path(__file__).parent / f"{name}.py").read_text()
            waiting += _BESIDE.findall(sources[name])
    return content_key(f"{name} {text}" for name, text in sorted(sources.items()))


def shipped_loop(name: str, triple: str, folder: Path | None = None) -> Bitcode | None:
    """The bitcode of a loop, if the package contains it, intact, for this architecture and from these sources."""
    try:
        content = ((folder or FOLDER) / f"{name}.bc").read_bytes()
    except OSError:
        return None
    head, _, data = content.removeprefix(_MAGIC).partition(b"\n")
    if not content.startswith(_MAGIC):
        return None
    try:
        found = _Head(**json.loads(head))
    except (ValueError, TypeError):
        return None
    readable = tuple(found.llvm) <= llvm.llvm_version_info and found.checksum == hashlib.sha256(data).hexdigest()
    return Bitcode(found.symbol, found.numba, data) if readable and found.key == _key(name, triple) else None


def file_of(bitcode: Bitcode, name: str, triple: str) -> bytes:
    """The file that `shipped_loop` reads."""
    checksum = hashlib.sha256(bitcode.data).hexdigest()
    head = _Head(_key(name, triple), bitcode.symbol, bitcode.numba, llvm.llvm_version_info, checksum)
    return _MAGIC + json.dumps(asdict(head)).encode() + b"\n" + bitcode.data


def _key(name: str, triple: str) -> str:
    return content_key((name, sources_key(name), triple))
