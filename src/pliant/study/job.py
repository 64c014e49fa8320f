"""What is computed of every case: the System of its numbers, run, and what is kept of the Result."""

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
from pliant.integrate.methods import Auto, Method
from pliant.model import check
from pliant.results.result import Result
from pliant.run.prepare import compile_system
from pliant.run.save_times import save_plan
from pliant.run.simulate import AUTO, simulate
from pliant.study.fingerprint import fingerprint, short_hash
from pliant.study.keep import Keep, Piece
from pliant.study.over import Case, Over
from pliant.study.subject import Mechanism, Subject
from pliant.version import VERSION

SETTINGS = ("t_end", "method", "save", "t_start", "formulation", "max_steps", "max_seconds", "cache")  # of simulate
Run = Mapping[str, Any] | Callable[..., Result]
Stopping = Callable[[], bool]
LOCKSTEP = "in lock-step"

_COMPILING = threading.Lock()  # threads that want the same structure wait for the one that compiles it


class Stopped(Exception):
    """A case was given up because the sweep is being stopped."""


@dataclass(frozen=True)
class Record:
    """What came out of one case."""

    ok: bool
    message: str
    warnings: tuple[str, ...] = ()
    balance_error: float = math.nan  # largest imbalance of energy, of the largest exchange
    pieces: Mapping[str, Piece] = dataclasses.field(default_factory=dict)
    result: Result | None = None  # where it is kept whole


@dataclass(frozen=True)
class Job:
    """A subject, how it is run, and what is kept; it travels to where cases are computed."""

    subject: Subject
    run: Run
    keep: Keep
    of_run: frozenset[str] = frozenset()  # numbers of a case that `run` takes, and not the subject
    lockstep: bool = False  # cases run side by side, and differ from runs by themselves within the tolerance

    def check(self, over: Over) -> None:
        """Refuse names and values that nobody takes."""
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
        """One name for all that a record depends on: model, numbers, settings, what is kept, version."""
        mine, of_run = self._parted(case)
        settings = None if callable(self.run) else self.subject.settings_of(mine)
        own = "" if settings is None else fingerprint("sweep", "run", settings)
        return short_hash([*self._common, own, sorted(self.subject.numbers(mine).items()), sorted(of_run.items())])

    def mechanism(self, case: Case) -> Mechanism:
        return self.subject.mechanism(self._parted(case)[0])

    def _parted(self, case: Case) -> tuple[Case, Case]:
        """What the subject takes, and what `run` takes."""
        of_run = {name: value for name, value in case.items() if name in self.of_run}
        return {name: value for name, value in case.items() if name not in of_run}, of_run

    def compute(self, case: Case, stopping: Stopping | None = None) -> Record:
        """Whatever is wrong with a case is told in its record; what is wrong with the machine is raised."""
        try:
            return self._record(self._result(case, stopping))
        except (Stopped, MemoryError, OSError):
            raise
        except PliantError as trouble:
            return Record(False, str(trouble))
        except Exception as trouble:  # of a function of the user's own
            return Record(False, f"{type(trouble).__name__}: {trouble}")

    def _record(self, result: Result) -> Record:
        if result.interrupted:
            raise KeyboardInterrupt
        pieces, troubles = self.keep.pieces(result)
        return Record(
            ok=result.ok and not troubles,
            message="; ".join([result.message, *troubles]),
            warnings=result.warnings,
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
        """Arguments of simulate: the model's own settings, and those that were given instead."""
        settings = self.subject.settings_of(self._parted(case)[0])
        own = {} if settings is None else {"t_end": settings.t_end, **settings.options}
        return {**own, **(self.run if isinstance(self.run, Mapping) else {})}


def checked_run(run: Any, own: bool) -> Run:
    """Arguments of simulate by name, or a function of a System; own: whether the model says itself how it is run."""
    if callable(run):
        return run  # type: ignore[no-any-return]
    if run is None and own:
        return {}
    if not isinstance(run, Mapping):
        rule = "must be a mapping of arguments of simulate, such as {'t_end': 1.0}, or a function of a System that returns a Result"
        raise ModelError.of("sweep", "run", rule, run)
    for name in run:
        if name not in SETTINGS:
            rule = f"must hold arguments of simulate: {', '.join(SETTINGS)}{check.did_you_mean(name, SETTINGS)}"
            raise ModelError.of("sweep", "run", rule, name)
    if "t_end" not in run and not own:
        raise ModelError.of("sweep", "run", "must hold t_end", dict(run))
    return dict(run)


def names_of_run(run: Run, names: Iterable[str]) -> frozenset[str]:
    """Those of the names that a function takes beside the System."""
    if not callable(run):
        return frozenset()
    try:
        _, *more = inspect.signature(run).parameters.values()
    except (TypeError, ValueError):  # nothing is known of it, or it takes nothing
        return frozenset()
    return frozenset(p.name for p in more if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)).intersection(names)


def check_settings(options: Mapping[str, Any]) -> None:
    """What simulate would refuse in every case is refused before the first."""
    method = _method(options.get("method"))
    if not isinstance(method, Method):
        check.choice("sweep", "method", method, (AUTO,))
    timing = {name: options[name] for name in ("t_end", "t_start", "max_steps", "max_seconds") if options.get(name) is not None}
    settings = RunSettings(**timing)
    save_plan(options.get("save"), settings.t_start, settings.t_end)


def _normal(run: Mapping[str, Any]) -> dict[str, Any]:
    """The same settings written in the same way; where code is kept does not matter."""
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
    """A System has its parameters' own values: with others it goes as what was compiled of it."""
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
    given = dict(options)
    method, t_start = _method(given.pop("method", None)), given.get("t_start", 0.0)
    formulation, cache = given.pop("formulation", "articulated"), given.pop("cache", True)
    with _COMPILING:
        compiled = compile_system(
            mechanism.system,
            formulation,
            cache,
            near=getattr(method, "near", None),
            t_start=t_start,
            parameters=mechanism.parameters,
        )
    return simulate(compiled, method=method, progress=None if stopping is None else _giving_up(stopping), **given)


def _giving_up(stopping: Stopping) -> Callable[[float, float], None]:
    def progress(t: float, t_end: float) -> None:
        if stopping():
            raise Stopped

    return progress
