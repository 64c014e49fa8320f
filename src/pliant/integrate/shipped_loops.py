"""Loops as LLVM bitcode, made by Numba when the package was built (`build_loops`): nobody waits for Numba at first use.

Bitcode is optimised, and of one architecture but of no one processor: machine code for the processor at hand is generated from it,
in a thirtieth of the time. It counts only where it was made from the very sources that stand beside it.
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

FOLDER = Path(__file__).parent / "bitcode"  # package data, one file a loop
_MAGIC = b"pliant loop 1\n"
_BESIDE = re.compile(r"^from pliant\.integrate\.(\w+) import", re.MULTILINE)


@dataclass(frozen=True)
class Bitcode:
    """A loop as Numba made it: a function, and the module that holds it."""

    symbol: str
    numba: str  # version that made it
    data: bytes


@dataclass(frozen=True)
class _Head:
    """How a file begins."""

    key: str
    symbol: str
    numba: str
    llvm: tuple[int, ...]  # version that wrote it: later ones read it too, earlier ones need not
    checksum: str


@functools.cache
def sources_key(loop: str) -> str:
    """Names all that a loop is made from: its own source, and those beside it that it imports, and so on."""
    sources: dict[str, str] = {}
    waiting = [loop]
    while waiting:
        name = waiting.pop()
        if name not in sources:
            sources[name] = (Path(__file__).parent / f"{name}.py").read_text()
            waiting += _BESIDE.findall(sources[name])
    return content_key(f"{name} {text}" for name, text in sorted(sources.items()))


def shipped_loop(name: str, triple: str, folder: Path | None = None) -> Bitcode | None:
    """The bitcode of a loop, if it came with the package, whole, for this architecture and from these sources."""
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
    """What `shipped_loop` reads."""
    checksum = hashlib.sha256(bitcode.data).hexdigest()
    head = _Head(_key(name, triple), bitcode.symbol, bitcode.numba, llvm.llvm_version_info, checksum)
    return _MAGIC + json.dumps(asdict(head)).encode() + b"\n" + bitcode.data


def _key(name: str, triple: str) -> str:
    return content_key((name, sources_key(name), triple))
