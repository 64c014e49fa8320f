"""Struts: springs, dampers and actuators between two points, along the line that joins them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pliant.errors import ModelError
from pliant.model import check
from pliant.model.frame import Frame
from pliant.model.signal import Formula, Signal, signal

LENGTH_AND_RATE = 2  # arguments of a force that is a formula of length and rate alone


@dataclass(frozen=True)
class OfLength:
    """A formula of a strut's length and rate as one of (t, q, v): these know the strut's length and its rate by its name."""

    function: Callable[..., Any]
    strut: str
    with_state: bool = False  # whether the function takes (t, q, v, length, rate), as formulas in files do

    def __call__(self, t: Any, q: Mapping[str, Any], v: Mapping[str, Any]) -> Any:
        length, rate = q[self.strut], v[self.strut]
        return self.function(t, q, v, length, rate) if self.with_state else self.function(length, rate)

    @property
    def text(self) -> str:
        """What messages call it."""
        return str(getattr(self.function, "text", "") or getattr(self.function, "__qualname__", repr(self.function)))


@dataclass(frozen=True)
class Strut:
    """Pushes the origins of two frames apart with -stiffness (length - rest) - damping rate + force, along their line."""

    name: str
    a: Frame
    b: Frame
    stiffness: float = 0.0  # N/m
    rest: float | None = None  # m, the length at which the spring is without force
    damping: float = 0.0  # N s/m
    force: Signal | None = None  # N, of the actuator, positive where it pushes apart

    def __post_init__(self) -> None:
        part = f"strut {self.name!r}"
        for field, unit in (("stiffness", "N/m"), ("damping", "N s/m")):
            object.__setattr__(self, field, check.not_negative(part, field, getattr(self, field), unit))
        if self.rest is not None:
            object.__setattr__(self, "rest", check.not_negative(part, "rest", self.rest, "m"))
        if self.stiffness > 0.0 and self.rest is None:
            raise ModelError.of(part, "rest", "must be given in m where there is a stiffness", self.rest)
        if self.rest is None and self.damping == 0.0 and self.force is None:
            raise ModelError.of(part, "stiffness", "must be given with rest, or a damping, or a force", self.stiffness)

    @property
    def frames(self) -> tuple[Frame, Frame]:
        return self.a, self.b

    @property
    def unstretched(self) -> float:
        """The rest length; 0 of a strut without a spring, m."""
        return 0.0 if self.rest is None else self.rest


def strut_force(name: str, value: Any) -> Signal | None:
    """The actuator's force: a number, a table, a function of (length, rate) or of (t, q, v)."""
    part = f"strut {name!r}"
    if value is None:
        return None
    force = signal(part, "force", value)
    if not isinstance(force, Formula) or isinstance(force.function, OfLength) or not _takes_length(force.function):
        return force
    return Formula(OfLength(force.function, name), force.breakpoints, force.text)


def _takes_length(function: Callable[..., Any]) -> bool:
    """Whether a function takes two arguments: the length and its rate."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # a builtin that does not tell
        return False
    return len([p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty]) == (
        LENGTH_AND_RATE
    )
