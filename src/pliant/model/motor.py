"""Motors: a rotor with inertia behind a gear, driven by a voltage along its torque-speed line or told a torque.

All numbers are of the rotor, before the gear. A motor of constant k and resistance R at a voltage V gives T = k (V - k w)/R at the
speed w; one given by its stall torque and its no-load speed has the same line, with k^2/R = stall torque/no-load speed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pliant.errors import ModelError
from pliant.model import check
from pliant.model.signal import Formula, Signal
from pliant.scalar import Scalar, maximum, minimum

ELECTRICAL, LINE = ("constant", "resistance"), ("stall_torque", "no_load_speed")
CURRENT, TORQUE, COMMAND = "current", "torque", "command"


@dataclass(frozen=True, kw_only=True)
class Motor:
    """A rotor and its gear; electrical (constant, resistance, inductance), a torque-speed line, or a source of torque.

    ratio: turns of the rotor for one of the coordinate. A gear passes on `efficiency` of the power of a motor that drives, and
    `back_efficiency` of the power of a load that drives the motor; within `transition` of rest its loss fades away.
    """

    inertia: float = 0.0  # kg m^2, of the rotor about its own axis
    ratio: float = 1.0  # 1 or rad/m
    efficiency: float = 1.0  # in (0, 1]
    back_efficiency: float | None = None  # in (0, 1], as efficiency where left out
    transition: float = 0.1  # rad/s
    damping: float = 0.0  # N m s/rad, against the rotor
    constant: float | None = None  # N m/A, which is V s/rad
    resistance: float | None = None  # ohm
    inductance: float = 0.0  # H
    stall_torque: float | None = None  # N m, at the whole command
    no_load_speed: float | None = None  # rad/s
    time_constant: float = 0.0  # s, in which the torque follows: electrical or of a torque control
    max_torque: float | None = None  # N m
    max_current: float | None = None  # A

    def __post_init__(self) -> None:
        part = "Motor"
        for field, unit in (("inertia", "kg m^2"), ("damping", "N m s/rad"), ("inductance", "H"), ("time_constant", "s")):
            self._set(field, check.not_negative(part, field, getattr(self, field), unit))
        self._set("ratio", check.number(part, "ratio", self.ratio))
        if self.ratio == 0.0:
            raise ModelError.of(part, "ratio", "must not be 0", self.ratio)
        self._set("transition", check.positive(part, "transition", self.transition, "rad/s"))
        for field in ("efficiency", "back_efficiency"):
            self._check_share(part, field)
        for field in (*ELECTRICAL, *LINE, "max_torque", "max_current"):
            if getattr(self, field) is not None:
                self._set(field, check.positive(part, field, getattr(self, field)))
        self._check_kind(part)

    def _check_share(self, part: str, field: str) -> None:
        value = getattr(self, field)
        if value is None:
            return
        share = check.number(part, field, value)
        if not 0.0 < share <= 1.0:
            raise ModelError.of(part, field, "must be in (0, 1]", value)
        self._set(field, share)

    def _check_kind(self, part: str) -> None:
        """One description of its torque, whole."""
        for first, second in (ELECTRICAL, LINE):
            if (getattr(self, first) is None) != (getattr(self, second) is None):
                missing = first if getattr(self, first) is None else second
                raise ModelError.of(part, missing, f"must be given with {second if missing == first else first}", None)
        if self.is_electrical and self.has_line:
            rule = "must be left out beside constant and resistance, which give the line"
            raise ModelError.of(part, "stall_torque", rule, self.stall_torque)
        only_electrical = {"inductance": self.inductance if self.inductance > 0.0 else None, "max_current": self.max_current}
        for field, value in only_electrical.items():
            if value is not None and not self.is_electrical:
                raise ModelError.of(part, field, "must be left out where there is no constant and resistance", value)
        if self.is_electrical and self.time_constant > 0.0:
            rule = "must be left out beside a resistance: it is inductance over resistance"
            raise ModelError.of(part, "time_constant", rule, self.time_constant)

    def _set(self, field: str, value: Any) -> None:
        object.__setattr__(self, field, value)

    @property
    def is_electrical(self) -> bool:
        return self.constant is not None

    @property
    def has_line(self) -> bool:
        return self.stall_torque is not None

    @property
    def lags(self) -> bool:
        """Whether its current, or its torque, is a state."""
        return (self.inductance if self.is_electrical else self.time_constant) > 0.0

    @property
    def own_state(self) -> str:
        """What that state is called, behind the motor's name and a dot."""
        return CURRENT if self.is_electrical else TORQUE

    @property
    def lag(self) -> Any:
        """s."""
        return self.inductance / self.resistance if self.is_electrical else self.time_constant  # type: ignore[operator]

    @property
    def losses(self) -> tuple[Any, Any]:
        """Shares of the motor's power that the gear takes where the motor drives, and where the load does."""
        back = self.efficiency if self.back_efficiency is None else self.back_efficiency
        return 1.0 - self.efficiency, 1.0 / back - 1.0

    def settled(self, command: Scalar, speed: Scalar) -> Scalar:
        """The current, A, or without electrical numbers the torque, N m, that it comes to at a command and a speed, rad/s."""
        if self.is_electrical:
            current = (command - self.constant * speed) / self.resistance
            bounds = [self.max_current, None if self.max_torque is None else self.max_torque / self.constant]  # type: ignore[operator]
        elif self.has_line:
            current = self.slope * (command * self.no_load_speed - speed)
            bounds = [self.max_torque]
        else:
            current, bounds = command, [self.max_torque]
        for bound in bounds:
            if bound is not None:
                current = minimum(maximum(current, -bound), bound)
        return current

    @property
    def slope(self) -> Any:
        """Of the torque-speed line, k^2/R, N m s/rad."""
        return self.stall_torque / self.no_load_speed  # type: ignore[operator]


@dataclass(frozen=True)
class MotorDrive:
    """A motor on one joint coordinate; without a command its rotor turns along and nothing drives it."""

    name: str
    coordinate: str  # body.coordinate
    motor: Motor
    command: Signal | None  # V; the share of the rated voltage for a line; N m for a source of torque

    @property
    def state(self) -> str | None:
        """The name of its state, where it has one."""
        return f"{self.name}.{self.motor.own_state}" if self.command is not None and self.motor.lags else None


@dataclass(frozen=True)
class LagRate:
    """The rate of a motor's current or torque, as a formula of (t, q, v): what it comes to, less what it is, over the lag."""

    drive: MotorDrive

    @property
    def text(self) -> str:
        """What messages call it."""
        return f"the lag of motor {self.drive.name!r}"

    def __call__(self, t: Any, q: Mapping[str, Any], v: Mapping[str, Any]) -> Any:
        motor = self.drive.motor
        settled = motor.settled(q[f"{self.drive.name}.{COMMAND}"], motor.ratio * v[self.drive.coordinate])
        return (settled - q[str(self.drive.state)]) / motor.lag


def lag_rate(drive: MotorDrive) -> Formula:
    return Formula(LagRate(drive))
