"""A job on its way to another process: as bytes that are the same for every batch, and made a job again once in each process.

Systems go as model files where they can be written as such, else as pickles that keep the ties of numbers to parameters. What
arrives is held against what was sent before anything is computed.
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
from pliant.study.fingerprint import fingerprint
from pliant.study.job import Job
from pliant.study.over import Case

_MOST_JOBS = 4  # kept in a process
_JOBS: dict[bytes, Job] = {}


class TravelError(PliantError):
    """A job cannot be taken to another process, or be understood there."""


def pack(job: Job, cases: tuple[Case, ...]) -> bytes:
    """The job as bytes; refused where what arrives would give other Systems in these cases."""
    for as_files in (True, False):
        packed, arrived = _sent(job, as_files)
        if all(_content(job, case) == _content(arrived, case) for case in cases):
            return packed
    rule = "must arrive as it was sent; give a function that builds the System instead"
    raise ModelError.of("sweep", "system", rule, f"another one than {job.subject.title!r}")


def _sent(job: Job, as_files: bool) -> tuple[bytes, Job]:
    buffer = io.BytesIO()
    try:
        _pickler(as_files)(buffer, protocol=5).dump(job)
        return buffer.getvalue(), pickle.loads(buffer.getvalue())
    except Exception as trouble:  # whatever a class of the user's own raises
        hint = "" if _has_cloudpickle() else "; or install cloudpickle, which takes functions as they are"
        rule = "must be importable where cases are computed: functions at the top of a module, and nothing that is open or running"
        raise ModelError(f"sweep: what is run in other processes {rule}{hint} ({type(trouble).__name__}: {trouble})") from trouble


def unpack(packed: bytes) -> Job:
    """The job of these bytes, made once a process."""
    key = hashlib.sha256(packed).digest()
    if key not in _JOBS:
        while len(_JOBS) >= _MOST_JOBS:
            _JOBS.pop(next(iter(_JOBS)))
        try:
            _JOBS[key] = pickle.loads(packed)
        except Exception as trouble:  # modules that are not there, other versions
            rule = "must be importable where cases are computed, with the same packages"
            raise TravelError(f"sweep: functions and classes {rule} ({type(trouble).__name__}: {trouble})") from trouble
    return _JOBS[key]


def _content(job: Job, case: Case) -> str:
    """What tells the System of a case from others, all numbers at their values."""
    try:
        system, parameters = job.mechanism(case)
        return fingerprint("sweep", "system", resolved(system, checked_values(system.parameters, parameters)))
    except PliantError as trouble:
        return str(trouble)


def _pickler(as_files: bool) -> Callable[..., pickle.Pickler]:
    """cloudpickle's where it is there, with our own words for Systems and tied numbers."""
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
        except ModelError:  # it holds Python functions
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
