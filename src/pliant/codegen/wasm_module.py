"""Turns a WebAssembly object that stands alone, as LLVM writes it, into a module that can be instantiated.

Such an object lacks nothing but exports: its symbols are in a custom section for linkers. Addresses of functions are indices into a
table, and constants lie at the beginning of memory; both are already filled in, because nothing else is linked to them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

CUSTOM, TYPES, IMPORTS, FUNCTIONS, EXPORTS, ELEMENTS, DATA_COUNT, CODE, DATA = 0, 1, 2, 3, 7, 9, 12, 10, 11
_SYMBOLS = 8  # the part of the section "linking" that lists symbols
_FUNCTION, _DATA, _SECTION = 0, 1, 3  # kinds of symbols
_TABLE, _GLOBAL = 1, 3  # kinds of imports; functions are 0, too
_UNDEFINED, _NAMED = 0x10, 0x40  # flags of a symbol
_HEAD = 8  # bytes: magic number and version


@dataclass(frozen=True)
class WasmModule:
    """A module, and how many bytes of memory its constants take, from address zero on."""

    code: bytes
    constants: int
    table: int  # entries of the table of functions that can be called by address
    exports: tuple[str, ...]


def module_of(data: bytes, names: Collection[str]) -> WasmModule:
    """The module of an object, with these functions exported."""
    sections = list(_sections(data))
    functions = {name: index for payload in _custom(sections, b"linking") for name, index in _functions(payload) if name in names}
    missing = sorted(set(names) - set(functions))
    if missing:
        raise ValueError(f"the object does not define {', '.join(missing)}")
    entries = b"".join(_text(name) + b"\0" + _whole(index) for name, index in functions.items())
    exports = _section(EXPORTS, _whole(len(functions)) + entries)
    out, done = data[:_HEAD], False
    for kind, payload in sections:
        if kind == CUSTOM:
            continue
        if not done and kind in (ELEMENTS, DATA_COUNT, CODE, DATA):
            out, done = out + exports, True
        out += _section(kind, payload)
    constants = max((_end_of_data(payload) for kind, payload in sections if kind == DATA), default=0)
    table = 1 + max((_least_table(payload) for kind, payload in sections if kind == IMPORTS), default=0)  # the first is empty
    return WasmModule(out, constants, table, tuple(functions))


def _sections(data: bytes) -> Iterator[tuple[int, bytes]]:
    at = _HEAD
    while at < len(data):
        size, begin = _read(data, at + 1)
        yield data[at], data[begin : begin + size]
        at = begin + size


def _section(kind: int, payload: bytes) -> bytes:
    return bytes([kind]) + _whole(len(payload)) + payload


def _custom(sections: list[tuple[int, bytes]], name: bytes) -> Iterator[bytes]:
    for kind, payload in sections:
        if kind == CUSTOM:
            size, at = _read(payload, 0)
            if payload[at : at + size] == name:
                yield payload[at + size :]


def _functions(linking: bytes) -> Iterator[tuple[str, int]]:
    """Names and indices of the functions that are defined."""
    _, at = _read(linking, 0)  # version
    while at < len(linking):
        kind = linking[at]
        size, at = _read(linking, at + 1)
        if kind == _SYMBOLS:
            yield from _symbols(linking[at : at + size])
        at += size


def _symbols(table: bytes) -> Iterator[tuple[str, int]]:
    count, at = _read(table, 0)
    for _ in range(count):
        kind = table[at]
        flags, at = _read(table, at + 1)
        defined = not flags & _UNDEFINED
        if kind == _DATA:
            size, at = _read(table, at)
            at += size
            for _ in range(3 if defined else 0):  # segment, offset, size
                _, at = _read(table, at)
            continue
        index, at = _read(table, at)
        if kind != _SECTION and (defined or flags & _NAMED):
            size, at = _read(table, at)
            if kind == _FUNCTION and defined:
                yield table[at : at + size].decode(), index
            at += size


def _end_of_data(payload: bytes) -> int:
    """The end of the last segment, each of which begins at a constant address."""
    count, at = _read(payload, 0)
    end = 0
    for _ in range(count):
        _, at = _read(payload, at)  # flags: active, memory 0
        address, at = _read(payload, at + 1)  # after the instruction i32.const
        size, at = _read(payload, at + 1)  # after the instruction end
        end, at = max(end, address + size), at + size
    return end


def _least_table(payload: bytes) -> int:
    """The least size of the imported table; 0 if there is none."""
    count, at = _read(payload, 0)
    for _ in range(count):
        for _ in range(2):  # the module and the name
            size, at = _read(payload, at)
            at += size
        kind = payload[at]
        at += 1
        if kind == _FUNCTION:
            _, at = _read(payload, at)
        elif kind == _GLOBAL:
            at += 2
        else:
            at += kind == _TABLE  # the type of its elements
            limited, at = payload[at], at + 1
            least, at = _read(payload, at)
            if limited & 1:
                _, at = _read(payload, at)
            if kind == _TABLE:
                return least
    return 0


def _text(name: str) -> bytes:
    data = name.encode()
    return _whole(len(data)) + data


def _whole(n: int) -> bytes:
    """A whole number, seven bits a byte."""
    out = b""
    while True:
        low, n = n & 0x7F, n >> 7
        out += bytes([low | (0x80 if n else 0)])
        if not n:
            return out


def _read(data: bytes, at: int) -> tuple[int, int]:
    """A whole number, and where it ends.  Addresses of constants are small, so that their sign does not matter."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            return value, at
