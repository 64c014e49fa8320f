"""The subject of a sweep: a System with parameters, a model file, or a function of numbers that returns a System."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from pliant.errors import ModelError
from pliant.files import Model, RunSettings, load_model
from pliant.model.check import did_you_mean
from pliant.model.parameter import Parameter
from pliant.model.resolve import checked_values
from pliant.model.system import System
from pliant.study.sweep.fingerprint import fingerprint
from pliant.study.sweep.over import Case, Value

Columns = Mapping[str, tuple[Value, ...]]  # values of every number


class NotASystem(ModelError):
    """What a function of numbers returned is no System, in any case of a sweep."""


class Mechanism(NamedTuple):
    """The System of one case, and the values of its parameters."""

    system: System
    parameters: Mapping[str, float]


class Subject(Protocol):
    """The subject of a sweep; it is sent to the workers that compute cases."""

    @property
    def title(self) -> str:
        """Its name."""

    @property
    def identity(self) -> str:
        """A fingerprint of its content."""

    @property
    def settings(self) -> RunSettings | None:
        """The run settings that it contains."""

    @property
    def units(self) -> Mapping[str, str]:
        """Units of the numbers that have one."""

    def check(self, columns: Columns, cases: Iterable[Case]) -> None:
        """Raise an error for names and values that it cannot take, before anything runs."""

    def numbers(self, case: Case) -> dict[str, Any]:
        """All numbers that distinguish this case from others; those left out have their default values."""

    def mechanism(self, case: Case) -> Mechanism: ...

    def settings_of(self, case: Case) -> RunSettings | None: ...


def subject_of(given: Any, includes_outside: bool = False, values: Mapping[str, float | str] | None = None) -> Subject:
    """values: replace those of definitions in a model file."""
    if isinstance(given, Model):
        return SystemSubject(given.system, given.run)
    if isinstance(given, System):
        return SystemSubject(given)
    if isinstance(given, (str, Path)):
        return FileSubject(Path(given), includes_outside, values)
    if callable(given):
        return FunctionSubject(given)
    rule = "must be a System, the name of a model file, a Model, or a function of numbers that returns a System"
    raise ModelError.of("sweep", "system_or_function", rule, given)


class SystemSubject:
    """A System, whose parameters are swept; settings: those of the model that contains it."""

    def __init__(self, system: System, settings: RunSettings | None = None) -> None:
        self._system, self.settings = system, settings

    @property
    def title(self) -> str:
        return self._system.name

    @cached_property
    def identity(self) -> str:
        return fingerprint("sweep", f"system {self.title!r}", self._system)

    @cached_property
    def parameters(self) -> dict[str, Parameter]:
        return self._system.parameters

    @property
    def units(self) -> Mapping[str, str]:
        return {name: parameter.unit for name, parameter in self.parameters.items() if parameter.unit}

    def check(self, columns: Columns, cases: Iterable[Case]) -> None:
        for name, values in columns.items():
            for value in set(values):
                checked_values(self.parameters, {name: value})

    def numbers(self, case: Case) -> dict[str, Any]:
        return {"of": self.identity, **checked_values(self.parameters, case)}

    def mechanism(self, case: Case) -> Mechanism:
        return Mechanism(self._system, checked_values(self.parameters, case))

    def settings_of(self, case: Case) -> RunSettings | None:
        return self.settings


class FileSubject:
    """A model file, whose defined numbers are swept. For those that are not parameters, the file is read again."""

    def __init__(self, path: Path, includes_outside: bool, values: Mapping[str, float | str] | None) -> None:
        self._path, self._outside, self._values = path, includes_outside, dict(values or {})
        self._variants: dict[tuple[tuple[str, Value], ...], _Variant] = {}
        self._base = self._read({})

    @property
    def title(self) -> str:
        return self._base.model.system.name

    @property
    def identity(self) -> str:
        return self._base.subject.identity

    @property
    def parameters(self) -> dict[str, Parameter]:
        """The parameters of the System that it describes."""
        return self._base.subject.parameters

    @property
    def settings(self) -> RunSettings | None:
        return self._base.model.run

    @property
    def units(self) -> Mapping[str, str]:
        return self._base.subject.units

    @property
    def written_units(self) -> Mapping[str, str]:
        """The units in which the file defines its numbers, such as mm."""
        return self._base.model.units

    def check(self, columns: Columns, cases: Iterable[Case]) -> None:
        parameters = self._base.subject.parameters
        for name, values in columns.items():
            if name in self._values:
                raise ModelError.of("sweep", "over", "must not name a number that is set to a fixed value", name)
            for value in set(values):
                if name in parameters:
                    checked_values(parameters, {name: value})
                elif isinstance(value, (str, bool)):
                    raise ModelError.of(f"parameter {name!r}", "value", "must be a number", value)
                else:
                    self._read({name: value})
        for case in cases:  # all variants are read here, so that workers do not need the file
            self._variant(case)

    def numbers(self, case: Case) -> dict[str, Any]:
        structural, parameters = self._parted(case)
        return {**structural, **self._read(structural).subject.numbers(parameters)}

    def mechanism(self, case: Case) -> Mechanism:
        structural, parameters = self._parted(case)
        return self._read(structural).subject.mechanism(parameters)

    def settings_of(self, case: Case) -> RunSettings | None:
        return self._variant(case).model.run

    def _variant(self, case: Case) -> _Variant:
        return self._read(self._parted(case)[0])

    def _parted(self, case: Case) -> tuple[Case, Case]:
        """Numbers that change how the file reads, and numbers that are parameters of its System."""
        names = self._base.subject.parameters
        structural = {name: value for name, value in case.items() if name not in names}
        return structural, {name: value for name, value in case.items() if name in names}

    def _read(self, structural: Case) -> _Variant:
        key = tuple(structural.items())
        if key not in self._variants:
            given = {name: value for name, value in structural.items() if not isinstance(value, str)}
            model = load_model(self._path, self._outside, {**self._values, **given})
            self._variants[key] = _Variant(model, SystemSubject(model.system))
        return self._variants[key]


class _Variant(NamedTuple):
    """A model file read with given values."""

    model: Model
    subject: SystemSubject


class FunctionSubject:
    """A function of numbers that returns a System, called with a case's values by name."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        try:
            self._signature: inspect.Signature | None = inspect.signature(function)
        except (TypeError, ValueError):  # raised for some functions written in C
            self._signature = None

    @property
    def title(self) -> str:
        return str(getattr(self._function, "__name__", type(self._function).__name__))

    @cached_property
    def identity(self) -> str:
        return fingerprint("sweep", f"function {self.title!r}", self._function)

    @property
    def settings(self) -> RunSettings | None:
        return None

    @property
    def units(self) -> Mapping[str, str]:
        return {}

    def check(self, columns: Columns, cases: Iterable[Case]) -> None:
        if self._signature is None:
            return
        parameters = self._signature.parameters.values()
        takes = [p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
        open_ended = any(p.kind is p.VAR_KEYWORD for p in parameters)
        for name in columns:
            if name not in takes and not open_ended:
                rule = f"must name arguments of {self.title}: {', '.join(takes) or '(none)'}{did_you_mean(name, takes)}"
                raise ModelError.of("sweep", "over", rule, name)
        missing = [p.name for p in parameters if p.default is p.empty and p.name in takes and p.name not in columns]
        if missing:
            rule = f"must have values for {', '.join(missing)}, which {self.title} requires"
            raise ModelError.of("sweep", "over", rule, list(columns))

    def numbers(self, case: Case) -> dict[str, Any]:
        return {"of": self.identity, **self._defaults, **case}

    @cached_property
    def _defaults(self) -> dict[str, Any]:
        """The default values of arguments that a case leaves out."""
        parameters = {} if self._signature is None else self._signature.parameters
        given = {name: p.default for name, p in parameters.items() if p.default is not p.empty}
        plain = (bool, int, float, str)
        return {name: x if isinstance(x, plain) else fingerprint("sweep", f"default of {name!r}", x) for name, x in given.items()}

    def mechanism(self, case: Case) -> Mechanism:
        system = self._function(**case)
        if not isinstance(system, System):
            raise NotASystem.of(f"function {self.title!r}", "value", "must be a System", system)
        return Mechanism(system, {})

    def settings_of(self, case: Case) -> RunSettings | None:
        return None
