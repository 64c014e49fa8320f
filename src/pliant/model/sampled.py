"""Sampled controllers, which run at regular instants and hold their outputs in between."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

from pliant.errors import ModelError
from pliant.model import check

SAME = 1e-9  # of a period: instants closer than this coincide
MOST_PENDING = 1000  # samples whose outputs are delayed at the same time

Update = Callable[..., Any] | Mapping[str, Callable[..., Any]]


@dataclass(frozen=True)
class Sampled:
    """A controller that runs at t = 0, period, 2 period ...; the outputs of each instant act from `delay` later on.

    update(t, q, v, measured, memory) returns the outputs, and writes into `memory` whatever it needs at the next instant. It may
    also be a mapping of formulas with the same arguments, by the names of outputs and memories. `python`: update is called by
    Python instead of being compiled.
    """

    OUTSIDE_EQUATIONS: ClassVar[tuple[str, ...]] = ("period", "start", "delay", "python")
    PRESENCE: ClassVar[tuple[str, ...]] = ("python",)
    DERIVED: ClassVar[tuple[str, ...]] = ("shape",)

    name: str
    period: float  # s
    update: Update | None
    outputs: tuple[str, ...]
    start: Mapping[str, float] = field(default_factory=dict)  # initial outputs and memories
    delay: float = 0.0  # s
    python: Callable[..., Any] | None = None

    def __post_init__(self) -> None:
        part = f"sampled {self.name!r}"
        for name in ("period", "delay"):
            check.structural(part, name, getattr(self, name))
        object.__setattr__(self, "period", check.positive(part, "period", self.period, "s"))
        object.__setattr__(self, "delay", check.not_negative(part, "delay", self.delay, "s"))
        if self.delay / self.period > MOST_PENDING:
            raise ModelError.of(part, "delay", f"must be at most {MOST_PENDING} periods", self.delay)
        start = {name: check.number(part, f"start[{name!r}]", value) for name, value in self.start.items()}
        object.__setattr__(self, "start", start)

    @property
    def memories(self) -> tuple[str, ...]:
        """The names in `start` that are not outputs."""
        return tuple(name for name in self.start if name not in self.outputs)

    @property
    def labels(self) -> tuple[str, ...]:
        """The names by which formulas read outputs and memories, such as "controller.torque"."""
        return tuple(f"{self.name}.{name}" for name in (*self.outputs, *self.memories))

    @property
    def starts(self) -> tuple[float, ...]:
        """Initial values of the outputs, then of the memories."""
        return tuple(self.start.get(name, 0.0) for name in (*self.outputs, *self.memories))

    @cached_property
    def _delay(self) -> tuple[int, float]:
        """The delay as whole periods and the remaining s."""
        whole = math.floor(self.delay / self.period + SAME)
        rest = self.delay - whole * self.period
        return whole, rest if rest > SAME * self.period else 0.0

    @property
    def rest(self) -> float:
        """The part of the delay beyond whole periods, s; 0 if outputs act at an instant."""
        return self._delay[1]

    @property
    def pending(self) -> int:
        """The largest number of instants whose outputs are still delayed."""
        return self._delay[0] + (self.rest > 0.0)

    @cached_property
    def shape(self) -> tuple[int, bool, tuple[str, ...]]:
        """The properties that determine the structure of the equations."""
        return self.pending, self.rest > 0.0, self.memories


def controller(
    name: str, period: float, update: Any, outputs: Any, start: Mapping[str, float], delay: float, compiled: bool
) -> Sampled:
    """A controller from the arguments of `System.sampled`, checked."""
    part = f"sampled {name!r}"
    names = _names(part, outputs)
    for key in start:
        check.identifier(part, "start", key)
    made = _update(part, update, names, [key for key in start if key not in names])
    if compiled:
        return Sampled(name, period, made, names, start, delay)
    if isinstance(made, Mapping):
        raise ModelError.of(part, "update", "must be a function, not formulas, when compiled is False", list(made))
    return Sampled(name, period, None, names, start, delay, made)


def _names(part: str, outputs: Any) -> tuple[str, ...]:
    """The names of the outputs, from one name or several."""
    names = [outputs] if isinstance(outputs, str) else outputs
    if not isinstance(names, Sequence) or not names:
        raise ModelError.of(part, "outputs", "must contain at least one name", outputs)
    clean = tuple(check.identifier(part, f"outputs[{k}]", name) for k, name in enumerate(names))
    if len(set(clean)) < len(clean):
        raise ModelError.of(part, "outputs", "must not contain a name twice", list(clean))
    return clean


def _update(part: str, update: Any, outputs: Sequence[str], memories: Sequence[str]) -> Update:
    """The update, checked: a function, or formulas by name with one for every output."""
    of, known = "a function of (t, q, v, measured, memory)", [*outputs, *memories]
    if not isinstance(update, Mapping):
        if not callable(update):
            raise ModelError.of(part, "update", f"must be {of}", update)
        return update  # type: ignore[no-any-return]
    for name, formula in update.items():
        if name not in known:
            rule = f"must name only outputs and the memories in start, {known}{check.did_you_mean(name, known)}"
            raise ModelError.of(part, "update", rule, name)
        if not callable(formula):
            raise ModelError.of(part, f"update[{name!r}]", f"must be {of}", formula)
    missing = [name for name in outputs if name not in update]
    if missing:
        raise ModelError.of(part, "update", f"must contain a formula for every output, but {missing} have none", list(update))
    return dict(update)
