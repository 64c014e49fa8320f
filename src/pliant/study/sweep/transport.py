"""Sends work to another process: as bytes that are the same for every task, and are unpacked once in each process.

Systems are sent as model files if they can be written as such, else as pickles that keep the links from numbers to parameters. The
work that arrives is compared with what was sent before anything is computed.
"""

from __future__ import annotations

import hashlib
import io
import pickle
from collections.abc import Callable, Sequence
from typing import Any

from pliant.errors import ModelError, PliantError
from pliant.files import dump_model, loads_model
from pliant.files.formula import ParsedFormula, parsed_again
from pliant.model.parameter import TiedFloat
from pliant.model.system import System
from pliant.study.sweep.work import Work

_MOST_WORKS = 4  # kept in a process
_WORKS: dict[bytes, Work] = {}


class TravelError(PliantError):
    """Work cannot be sent to another process, or cannot be read there."""


def pack(work: Work, items: Sequence[Any]) -> bytes:
    """The work as bytes; an error if the work that arrives would build different Systems for these items."""
    for as_files in (True, False):
        packed, arrived = _sent(work, as_files)
        if all(work.content(item) == arrived.content(item) for item in items):
            return packed
    rule = "must arrive in other processes as it was sent; give a function that builds the System instead"
    raise ModelError.of(work.part, "system", rule, f"a System that differs from {work.title!r}")


def _sent(work: Work, as_files: bool) -> tuple[bytes, Work]:
    buffer = io.BytesIO()
    try:
        _pickler(as_files)(buffer, protocol=5).dump(work)
        return buffer.getvalue(), pickle.loads(buffer.getvalue())
    except Exception as trouble:  # user-defined classes may raise anything
        hint = "" if _has_cloudpickle() else "; or install cloudpickle, which can send any function"
        rule = "must be importable there: functions at the top level of a module, and no open files or running threads"
        said = f"{work.part}: objects sent to other processes {rule}{hint} ({type(trouble).__name__}: {trouble})"
        raise ModelError(said) from trouble


def unpack(packed: bytes) -> Work:
    """The work of these bytes, unpacked once per process."""
    key = hashlib.sha256(packed).digest()
    if key not in _WORKS:
        while len(_WORKS) >= _MOST_WORKS:
            _WORKS.pop(next(iter(_WORKS)))
        try:
            _WORKS[key] = pickle.loads(packed)
        except Exception as trouble:  # missing modules, other versions
            rule = "must be importable in the processes that compute, with the same packages"
            raise TravelError(f"executor: functions and classes {rule} ({type(trouble).__name__}: {trouble})") from trouble
    return _WORKS[key]


def _pickler(as_files: bool) -> Callable[..., pickle.Pickler]:
    """A pickler, cloudpickle's if it is installed, with its own handling of Systems and linked numbers."""
    try:
        from cloudpickle import CloudPickler as Base
    except ImportError:
        Base = pickle.Pickler

    class Travelling(Base):  # type: ignore[misc]
        def reducer_override(self, x: Any) -> Any:
            own = _reduced(x, as_files)
            if own is not None:
                return own
            above = getattr(super(), "reducer_override", None)
            return NotImplemented if above is None else above(x)

    return Travelling


def _reduced(x: Any, as_files: bool) -> Any:
    if type(x) is TiedFloat:
        return TiedFloat.of, (x.expression,)
    if type(x) is ParsedFormula:
        return parsed_again, (x.text, x.variables, x.numbers, tuple((name, d.text) for name, d in x.definitions))
    if type(x) is System and as_files:
        try:
            return _system, (dump_model(x),)
        except ModelError:  # the System contains Python functions
            return None
    return None


def _system(text: str) -> System:
    return loads_model(text).system


def _has_cloudpickle() -> bool:
    try:
        import cloudpickle  # noqa: F401
    except ImportError:
        return False
    return True
