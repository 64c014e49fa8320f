"""The computation of one case: build its System, run it, and keep the chosen parts of the Result."""

from __future__ import annotations

import dataclasses
import inspect
import math
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from pliant.errors import ModelError, PliantError
from pliant.files import RunSettings
from pliant.integrate.methods.method import Auto, Method
from pliant.model import check
from pliant.results.result import Result
from pliant.run.prepare import Compiled, compile_system
from pliant.run.save_times import save_plan
from pliant.run.simulate import AUTO, simulate
from pliant.study.sweep.fingerprint import content_of, fingerprint, short_hash
from pliant.study.sweep.keep import Keep, Piece
from pliant.study.sweep.over import Case, Over
from pliant.study.sweep.subject import Mechanism, Subject
from pliant.study.sweep.work import Stopped, Stopping
from pliant.version import VERSION

SETTINGS = ("t_end", "method", "save", "t_start", "formulation", "max_steps", "max_seconds", "cache")  # arguments of simulate
Run = Mapping[str, Any] | Callable[..., Result]
LOCKSTEP = "in lock-step"

_COMPILING = threading.Lock()  # threads that need the same structure wait for the one that compiles it


@dataclass(frozen=True)
class Record:
    """The outcome of one case."""

    ok: bool
    message: str
    warnings: tuple[str, ...] = ()
    balance_error: float = math.nan  # largest energy imbalance, as a fraction of the largest energy exchange
    pieces: Mapping[str, Piece] = dataclasses.field(default_factory=dict)
    result: Result | None = None  # the whole Result, if it is kept


@dataclass(frozen=True)
class Job:
    """A subject, how to run it, and what to keep; it is sent to the workers that compute cases."""

    subject: Subject
    run: Run
    keep: Keep
    of_run: frozenset[str] = frozenset()  # numbers of a case that are passed to `run` instead of the subject
    lockstep: bool = False  # cases run side by side, and differ from separate runs within the tolerance
    part = "sweep"

    @property
    def title(self) -> str:
        return self.subject.title

    def check(self, over: Over) -> None:
        """Raise an error for names and values that neither the subject nor `run` takes."""
        columns = {name: values for name, (_, values) in over.columns.items() if name not in self.of_run}
        self.subject.check(columns, (self._parted(case)[0] for case in over))

    @cached_property
    def run_identity(self) -> str:
        own = fingerprint("sweep", "run", self.run if callable(self.run) else _normal(self.run))
        return short_hash([own, LOCKSTEP]) if self.lockstep else own

    @cached_property
    def _common(self) -> tuple[str, ...]:
        return VERSION, self.run_identity, self.keep.identity

    def key(self, case: Case) -> str:
        """A key of everything that a record depends on: model, numbers, settings, kept results, version."""
        mine, of_run = self._parted(case)
        settings = None if callable(self.run) else self.subject.settings_of(mine)
        own = "" if settings is None else fingerprint("sweep", "run", settings)
        return short_hash([*self._common, own, sorted(self.subject.numbers(mine).items()), sorted(of_run.items())])

    def mechanism(self, case: Case) -> Mechanism:
        return self.subject.mechanism(self._parted(case)[0])

    def _parted(self, case: Case) -> tuple[Case, Case]:
        """The numbers that the subject takes, and those that `run` takes."""
        of_run = {name: value for name, value in case.items() if name in self.of_run}
        return {name: value for name, value in case.items() if name not in of_run}, of_run

    def compute(self, case: Case, stopping: Stopping | None = None) -> Record:
        """Compute a case. Errors of the case go into its record; errors of the machine are raised."""
        try:
            return self._record(self._result(case, stopping))
        except (Stopped, MemoryError, OSError):
            raise
        except PliantError as trouble:
            return Record(False, str(trouble))
        except Exception as trouble:  # from a user-defined function
            return Record(False, f"{type(trouble).__name__}: {trouble}")

    def lost(self, case: Case, why: str) -> Record:
        return Record(False, why)

    def content(self, case: Case) -> str:
        """The content of the System of a case, with all numbers at their values."""
        try:
            return content_of("sweep", *self.mechanism(case))
        except PliantError as trouble:
            return str(trouble)

    def _record(self, result: Result) -> Record:
        if result.interrupted:
            raise KeyboardInterrupt
        pieces, troubles, warnings = self.keep.pieces(result)
        return Record(
            ok=result.ok and not troubles,
            message="; ".join([result.message, *troubles]),
            warnings=(*result.warnings, *warnings),
            balance_error=result.ledger.relative_error_max if len(result.time) else math.nan,
            pieces=pieces,
            result=result if self.keep.whole else None,
        )

    def _result(self, case: Case, stopping: Stopping | None) -> Result:
        mechanism = self.mechanism(case)
        if callable(self.run):
            return _called(partial(self.run, **self._parted(case)[1]), mechanism)
        return _simulated(mechanism, self.options(case), stopping)

    def options(self, case: Case) -> dict[str, Any]:
        """Arguments of simulate: the model's own settings, overridden by the given ones."""
        settings = self.subject.settings_of(self._parted(case)[0])
        own = {} if settings is None else {"t_end": settings.t_end, **settings.options}
        return {**own, **(self.run if isinstance(self.run, Mapping) else {})}


def checked_run(run: Any, own: bool) -> Run:
    """Arguments of simulate by name, or a function of a System; own: whether the model contains run settings."""
    if callable(run):
        return run  # type: ignore[no-any-return]
    if run is None and own:
        return {}
    if not isinstance(run, Mapping):
        rule = "must be a mapping of arguments of simulate, such as {'t_end': 1.0}, or a function of a System that returns a Result"
        raise ModelError.of("sweep", "run", rule, run)
    for name in run:
        if name not in SETTINGS:
            others = "; for others, such as start, run may be a function of a System that returns a Result"
            rule = f"must hold arguments of simulate: {', '.join(SETTINGS)}{check.did_you_mean(name, SETTINGS)}{others}"
            raise ModelError.of("sweep", "run", rule, name)
    if "t_end" not in run and not own:
        raise ModelError.of("sweep", "run", "must hold t_end", dict(run))
    return dict(run)


def names_of_run(run: Run, names: Iterable[str]) -> frozenset[str]:
    """The names that a function takes in addition to the System."""
    if not callable(run):
        return frozenset()
    try:
        _, *more = inspect.signature(run).parameters.values()
    except (TypeError, ValueError):  # its signature is unknown, or it takes no arguments
        return frozenset()
    return frozenset(p.name for p in more if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)).intersection(names)


def check_settings(options: Mapping[str, Any]) -> None:
    """Raise an error before the first case for settings that simulate would reject in every case."""
    method = _method(options.get("method"))
    if not isinstance(method, Method):
        check.choice("sweep", "method", method, (AUTO,))
    timing = {name: options[name] for name in ("t_end", "t_start", "max_steps", "max_seconds") if options.get(name) is not None}
    settings = RunSettings(**timing)
    save_plan(options.get("save"), settings.t_start, settings.t_end)


def _normal(run: Mapping[str, Any]) -> dict[str, Any]:
    """Settings in a normal form, so that equal ones are written alike; the cache folder does not matter."""
    named = {name: run[name] for name in sorted(run) if name != "cache"}
    if "method" in named:
        named["method"] = _method(named["method"])
    for name in ("t_end", "t_start"):
        if isinstance(named.get(name), int):
            named[name] = float(named[name])
    return named


def _method(given: Any) -> Any:
    return Auto() if given is None or given == AUTO else given


def _called(run: Callable[[Any], Result], mechanism: Mechanism) -> Result:
    """The object passed to `run`: the System with its own parameter values, or compiled with others."""
    system, parameters = mechanism
    ready: Any = system
    if parameters:
        with _COMPILING:
            ready = compile_system(system, parameters=parameters)
    result = run(ready)
    if not isinstance(result, Result):
        raise ModelError.of("sweep", "run", "must return a Result", result)
    return result


def _simulated(mechanism: Mechanism, options: Mapping[str, Any], stopping: Stopping | None) -> Result:
    given = {name: value for name, value in options.items() if name not in ("method", "formulation", "cache")}
    progress = None if stopping is None else _giving_up(stopping)
    return simulate(compiled_of(mechanism, options), method=_method(options.get("method")), progress=progress, **given)


def compiled_of(mechanism: Mechanism, options: Mapping[str, Any]) -> Compiled:
    """The mechanism, compiled as `simulate` would with these arguments."""
    near = getattr(_method(options.get("method")), "near", None)
    with _COMPILING:
        return compile_system(
            mechanism.system, options.get("formulation", "articulated"), options.get("cache", True), near=near,
            t_start=options.get("t_start", 0.0), parameters=mechanism.parameters,
        )  # fmt: skip


def _giving_up(stopping: Stopping) -> Callable[[float, float], None]:
    def progress(t: float, t_end: float) -> None:
        if stopping():
            raise Stopped

    return progress
