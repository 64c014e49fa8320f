"""Sends a job to another process: as bytes that are the same for every batch, and are unpacked once in each process.

Systems are sent as model files if they can be written as such, else as pickles that keep the links from numbers to parameters. The
job that arrives is compared with the one that was sent before anything is computed.
"""

from __future__ import annotations

import hashlib
import io
import pickle
from collections.abc import Callable
from typing import Any

from pliant.errors import ModelError, PliantError
from pliant.files import dump_model, loads_model
from pliant.files.formula import ParsedFormula, parsed_again
from pliant.model.parameter import TiedFloat
from pliant.model.resolve import checked_values, resolved
from pliant.model.system import System
from pliant.study.sweep.fingerprint import fingerprint
from pliant.study.sweep.job import Job
from pliant.study.sweep.over import Case

_MOST_JOBS = 4  # jobs kept in a process
_JOBS: dict[bytes, Job] = {}


class TravelError(PliantError):
    """A job cannot be sent to another process, or cannot be read there."""


def pack(job: Job, cases: tuple[Case, ...]) -> bytes:
    """The job as bytes; an error if the job that arrives would build different Systems for these cases."""
    for as_files in (True, False):
        packed, arrived = _sent(job, as_files)
        if all(_content(job, case) == _content(arrived, case) for case in cases):
            return packed
    rule = "must arrive in other processes as it was sent; give a function that builds the System instead"
    raise ModelError.of("sweep", "system", rule, f"a System that differs from {job.subject.title!r}")


def _sent(job: Job, as_files: bool) -> tuple[bytes, Job]:
    buffer = io.BytesIO()
    try:
        _pickler(as_files)(buffer, protocol=5).dump(job)
        return buffer.getvalue(), pickle.loads(buffer.getvalue())
    except Exception as trouble:  # user-defined classes may raise anything
        hint = "" if _has_cloudpickle() else "; or install cloudpickle, which can send any function"
        rule = "must be importable there: functions at the top level of a module, and no open files or running threads"
        raise ModelError(f"sweep: objects sent to other processes {rule}{hint} ({type(trouble).__name__}: {trouble})") from trouble


def unpack(packed: bytes) -> Job:
    """The job of these bytes, unpacked once per process."""
    key = hashlib.sha256(packed).digest()
    if key not in _JOBS:
        while len(_JOBS) >= _MOST_JOBS:
            _JOBS.pop(next(iter(_JOBS)))
        try:
            _JOBS[key] = pickle.loads(packed)
        except Exception as trouble:  # missing modules, other versions
            rule = "must be importable in the processes that compute cases, with the same packages"
            raise TravelError(f"sweep: functions and classes {rule} ({type(trouble).__name__}: {trouble})") from trouble
    return _JOBS[key]


def _content(job: Job, case: Case) -> str:
    """The content of the System of a case, with all numbers at their values."""
    try:
        system, parameters = job.mechanism(case)
        return fingerprint("sweep", "system", resolved(system, checked_values(system.parameters, parameters)))
    except PliantError as trouble:
        return str(trouble)


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
