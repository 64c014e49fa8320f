"""Struts: springs, dampers and actuators along the line between two points."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pliant.errors import ModelError
from pliant.model import check
from pliant.model.frame import Frame
from pliant.model.signal import Formula, Signal, signal

LENGTH_AND_RATE = 2  # number of arguments of a force that depends on length and rate alone


@dataclass(frozen=True)
class OfLength:
    """Turns a function of a strut's length and rate into a function of (t, q, v), which reads both by the strut's name."""

    function: Callable[..., Any]
    strut: str
    with_state: bool = False  # whether the function takes (t, q, v, length, rate), as formulas in files do

    def __call__(self, t: Any, q: Mapping[str, Any], v: Mapping[str, Any]) -> Any:
        length, rate = q[self.strut], v[self.strut]
        return self.function(t, q, v, length, rate) if self.with_state else self.function(length, rate)

    @property
    def text(self) -> str:
        """Its name in messages."""
        return str(getattr(self.function, "text", "") or getattr(self.function, "__qualname__", repr(self.function)))


@dataclass(frozen=True)
class Strut:
    """A strut. It pushes the origins of two frames apart with the force -stiffness (length - rest) - damping rate + force."""

    name: str
    a: Frame
    b: Frame
    stiffness: float = 0.0  # N/m
    rest: float | None = None  # m, length at which the spring is relaxed
    damping: float = 0.0  # N s/m
    force: Signal | None = None  # N, of the actuator; positive pushes the frames apart

    def __post_init__(self) -> None:
        part = f"strut {self.name!r}"
        check.fields(self, check.not_negative, part, stiffness="N/m", damping="N s/m", rest="m")
        if self.stiffness > 0.0 and self.rest is None:
            raise ModelError.of(part, "rest", "must be given in m together with a stiffness", self.rest)
        if self.rest is None and self.damping == 0.0 and self.force is None:
            rule = "must be > 0 N/m (with rest) unless a damping or a force is given"
            raise ModelError.of(part, "stiffness", rule, self.stiffness)

    @property
    def frames(self) -> tuple[Frame, Frame]:
        """The frames at its ends."""
        return self.a, self.b

    @property
    def unstretched(self) -> float:
        """The free length of the spring, m; 0 for a strut without a spring."""
        return 0.0 if self.rest is None else self.rest


def strut_force(name: str, value: Any) -> Signal | None:
    """The actuator's force as a signal, from a number, a table, a function of (length, rate) or a function of (t, q, v)."""
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
    except (TypeError, ValueError):  # a builtin without a signature
        return False
    return len([p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty]) == (
        LENGTH_AND_RATE
    )
