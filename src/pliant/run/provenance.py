"""The provenance of a result: package version, the model as a file, and the settings of the run; no date and no machine name.

The text is made on demand (when a result is written or displayed), from the System as it was at the time of the run.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from pliant.errors import ModelError
from pliant.files import RunSettings, dump_model
from pliant.model.system import System
from pliant.version import VERSION

ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")  # in Python's text of a function; different in every run
LONGEST_LIST = 1000  # longest list of save times that is written into the model; the result has longer ones as its times


class Provenance:
    """A callable that returns the provenance of a result: version, model and settings, each as text or plain data."""

    def __init__(
        self, system: System, settings: Mapping[str, Any], began: float, parameters: Mapping[str, float], **more: Any
    ) -> None:
        """settings: those of RunSettings. began: start time of the first run of a chain of continued runs, s.

        parameters: values of the run. more: settings that are not arguments of `simulate`, such as the treatment of elastic parts
        by inverse dynamics; they are not part of the model file.
        """
        self.system = system.snapshot()
        self._settings, self._began, self._parameters, self._more = dict(settings), began, dict(parameters), more

    def __call__(self) -> Mapping[str, Any]:
        return self._data

    @cached_property
    def _data(self) -> Mapping[str, Any]:
        plain = {name: _plain(value) for name, value in {**self._settings, **self._more}.items()}
        plain |= {"parameters": self._parameters} if self._parameters else {}
        units = {name: unit for name, one in self.system.parameters.items() if (unit := one.unit) is not None}
        plain |= {"parameter_units": units} if units else {}
        plain |= {"shown_units": dict(self.system.shown_units)} if self.system.shown_units else {}
        model = _model(self.system, {**self._settings, "t_start": self._began}, self._parameters)
        return {"version": VERSION, **model, "settings": {**plain, "first_start": self._began}}

    def __reduce__(self) -> Any:
        """Pickled as plain data, because a System may contain functions that cannot be pickled."""
        return KnownProvenance, (dict(self()),)


class KnownProvenance:
    """Provenance that is already known, as plain data."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._data = data

    def __call__(self) -> Mapping[str, Any]:
        return self._data


def _model(system: System, settings: Mapping[str, Any], parameters: Mapping[str, float]) -> dict[str, str]:
    """The model file with the parameters of the run; if a part is a Python function, the name of that part."""
    save = settings["save"]
    if hasattr(save, "interval"):
        save = save.interval
    elif save is not None and not isinstance(save, (str, int, float)):
        save = tuple(float(t) for t in save) if len(save) <= LONGEST_LIST else None
    try:
        return {"model": dump_model(system, RunSettings(**{**settings, "save": save}), parameters)}
    except ModelError as trouble:
        return {"model": "", "no_model": _without_addresses(str(trouble))}


def _plain(value: Any) -> Any:
    """The value in a form that JSON can represent."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if hasattr(value, "interval"):
        return float(value.interval)
    if hasattr(value, "__len__") and all(isinstance(item, str) for item in value):
        return list(value)
    if hasattr(value, "__len__"):
        return [float(t) for t in value] if len(value) <= LONGEST_LIST else f"{len(value)} times, those of the result"
    return _without_addresses(repr(value))


def _without_addresses(text: str) -> str:
    """The text without addresses, so that the same run gives the same bytes."""
    return ADDRESS.sub("", text)
