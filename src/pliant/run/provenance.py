"""Where a result comes from: package version, the model as a file, the settings of the run. No clock, no machine.

The text is made when it is asked for (a result is written, or looked at), from the System as it was when the run was made.
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

ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")  # in what Python prints of a function: another one in every run
LONGEST_LIST = 1000  # save times that a model file repeats; longer ones stand in the result as its times


class Provenance:
    """Called, it gives the provenance of a result: version, model, settings, each a text or plain data."""

    def __init__(
        self, system: System, settings: Mapping[str, Any], began: float, parameters: Mapping[str, float], **more: Any
    ) -> None:
        """settings: those of RunSettings. began: when the first of the runs began that this one goes on from, s.

        parameters: values of the run. more: settings that are not `simulate`'s, such as how inverse dynamics took elastic parts; no
        part of the model file.
        """
        self.system = system.snapshot()
        self._settings, self._began, self._parameters, self._more = dict(settings), began, dict(parameters), more

    def __call__(self) -> Mapping[str, Any]:
        return self._data

    @cached_property
    def _data(self) -> Mapping[str, Any]:
        plain = {name: _plain(value) for name, value in {**self._settings, **self._more}.items()}
        plain |= {"parameters": self._parameters} if self._parameters else {}
        model = _model(self.system, {**self._settings, "t_start": self._began}, self._parameters)
        return {"version": VERSION, **model, "settings": {**plain, "first_start": self._began}}

    def __reduce__(self) -> Any:
        """Elsewhere it goes as plain data: a System may hold functions that cannot travel."""
        return KnownProvenance, (dict(self()),)


class KnownProvenance:
    """Provenance that is known already."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._data = data

    def __call__(self) -> Mapping[str, Any]:
        return self._data


def _model(system: System, settings: Mapping[str, Any], parameters: Mapping[str, float]) -> dict[str, str]:
    """The model file, parameters as they were in the run; where a part of it is a Python function, which part that is."""
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
    """As JSON can hold it."""
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
    """The same run, the same bytes."""
    return ADDRESS.sub("", text)
