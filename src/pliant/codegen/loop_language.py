"""What functions of a time loop use besides numbers: arrays by address, eight components at once, calls by address.

In Python each of these does what its machine code does, so a loop can also be run, slowly, by Python itself.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

ENTRY = "entry"  # the name under which machine code is entered
BLOCK = 8  # components that are added at once


class Address(int):
    """The kind of an argument that is an address: on some processors it is shorter than an int."""


C_TYPES: dict[Any, Any] = {float: ctypes.c_double, int: ctypes.c_int64, Address: ctypes.c_void_p, None: None}

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class View:
    """`view(address, n)`: the n numbers at an address. The count is only needed in Python."""

    item: str  # NumPy's code

    def __call__(self, address: int, n: int) -> Any:
        size = max(int(n), 0) * np.dtype(self.item).itemsize
        memory: Any = (ctypes.c_char * size).from_address(int(address))
        return np.frombuffer(memory, dtype=self.item)


floats: Any = View("f8")
ints: Any = View("i8")
flags: Any = View("u1")


@dataclass(frozen=True)
class ByAddress:
    """`call(address, ...)`: a call of a C function by its address; the kinds are those of its arguments."""

    answer: type | None
    kinds: tuple[type, ...]

    def __call__(self, address: int, *arguments: Any) -> Any:
        call = ctypes.CFUNCTYPE(C_TYPES[self.answer], *(C_TYPES[kind] for kind in self.kinds))(int(address))
        return call(*(kind(x) for kind, x in zip(self.kinds, arguments, strict=True)))


@dataclass(frozen=True)
class Linked:
    """`call(...)`: a call of a C function without an answer, by the name under which it is linked: see `composed`."""

    name: str
    kinds: tuple[type, ...]

    def __call__(self, *arguments: Any) -> None:
        raise NotImplementedError(f"{self.name} exists in machine code only")


@dataclass(frozen=True)
class Operation:
    """An operation that the compiler knows by this object."""

    name: str
    python: Callable[..., Any]

    def __call__(self, *arguments: Any) -> Any:
        return self.python(*arguments)


def _put_block(address: int, values: Any) -> None:
    floats(address, BLOCK)[:] = values


block: Any = Operation("block", lambda address: floats(address, BLOCK).copy())  # the eight doubles at an address
put_block: Any = Operation("put_block", _put_block)
no_block: Any = Operation("no_block", lambda: np.zeros(BLOCK))  # eight zeros
address_of_record: Any = Operation("address_of_record", lambda record: int(record.__array_interface__["data"][0]))


def fused(function: Function) -> Function:
    """Decorator: products are fused with sums where the processor can."""
    function.__dict__["fused"] = True
    return function
