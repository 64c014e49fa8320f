"""User formulas on traced scalars: q and v by name; what goes wrong in a formula is reported by `scalar.called`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pliant.codegen.tracer import Scalar
from pliant.errors import ModelError
from pliant.model import check
from pliant.trace.world import METHODS, World


class NamedScalars(Mapping[str, Scalar]):
    """q or v as a formula sees them: q["arm.angle"], q["integral"].

    Rates of the user's own states are formulas that may read one another, so each is computed only when it is read.
    """

    def __init__(
        self,
        kind: str,
        coordinates: Mapping[str, Scalar],
        own: Mapping[str, Scalar] | None = None,
        later: Mapping[str, Callable[[], Scalar]] | None = None,
        world: World | None = None,
        part: str = "formula",
    ) -> None:
        """own: the user's states; later: values computed when read; world: positions of frames; part: the formula's owner."""
        self._kind, self._coordinates, self._own, self._later = kind, coordinates, own or {}, later or {}
        self._world, self._part = world, part

    def __getattr__(self, name: str) -> Any:
        """Serves calls such as q.position(arm.tip)."""
        if name in METHODS and self._world is not None:
            return getattr(self._world, name)
        if name.startswith("_"):  # names that Python itself looks up
            raise AttributeError(name)
        rule = f"must be read by name, or by one of the methods {', '.join(METHODS)}{check.did_you_mean(name, METHODS)}"
        raise ModelError.of(self._part, self._kind, rule, name)

    def __getitem__(self, name: str) -> Scalar:
        if name in self._later:
            return self._later[name]()
        if name in self._own:
            return self._own[name]
        if name not in self._coordinates:
            known = list(self)
            state = " (a state is declared by system.state)" if "." not in str(name) else ""
            rule = f"must name one of {known}{check.did_you_mean(name, known)}{state}"
            raise ModelError.of(self._part, self._kind, rule, name)
        return self._coordinates[name]

    def __contains__(self, name: object) -> bool:
        return name in self._coordinates or name in self._own or name in self._later

    def __iter__(self) -> Iterator[str]:
        yield from (*self._coordinates, *self._own, *self._later)

    def __len__(self) -> int:
        return len(self._coordinates) + len(self._own) + len(self._later)

    def renamed(self, names: Mapping[str, str]) -> NamedScalars:
        """The same values with coordinates renamed; coordinates without a new name are hidden."""
        seen = {old: self._coordinates[new] for old, new in names.items() if new in self._coordinates}
        return NamedScalars(self._kind, seen, self._own, self._later, self._world, self._part)
