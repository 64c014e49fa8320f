"""Motors: a rotor with inertia and a gear, driven by a voltage along its torque-speed line, or by a commanded torque.

All numbers refer to the rotor, before the gear, except stiffness and damping of an elastic gear, which refer to the coordinate. A
motor with constant k and resistance R at a voltage V gives the torque T = k (V - k w)/R at the speed w. A motor described by stall
torque and no-load speed has the same line, with k^2/R = stall torque/no-load speed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from pliant.errors import ModelError
from pliant.model import check
from pliant.model.signal import Formula, Signal
from pliant.scalar import Scalar, absolute, maximum, minimum, tanh, where

ELECTRICAL, LINE = ("constant", "resistance"), ("stall_torque", "no_load_speed")
CURRENT, TORQUE, COMMAND = "current", "torque", "command"
DEFLECTION, SPEED = "deflection", "speed"


@dataclass(frozen=True, kw_only=True)
class Motor:
    """A motor: a rotor with its gear. It is electrical (constant, resistance, inductance), a torque-speed line, or a torque source.

    ratio: turns of the rotor per turn (or metre) of the coordinate. The gear transmits the fraction `efficiency` of the power when
    the motor drives, and the fraction `back_efficiency` when the load drives; its loss vanishes smoothly at rotor speeds below
    `transition`. gear_stiffness: the gear is a spring, with gear_damping beside it, between the rotor and the coordinate; without
    it the gear is rigid. The rotor of an elastic gear moves by itself, and its losses are on the rotor's side of the spring.
    """

    inertia: float = 0.0  # kg m^2, of the rotor about its own axis
    ratio: float = 1.0  # 1 or rad/m
    efficiency: float = 1.0  # in (0, 1]
    back_efficiency: float | None = None  # in (0, 1]; default: efficiency
    transition: float = 0.1  # rad/s
    damping: float = 0.0  # N m s/rad, viscous torque on the rotor
    constant: float | None = None  # torque constant, N m/A = V s/rad
    resistance: float | None = None  # ohm
    inductance: float = 0.0  # H
    stall_torque: float | None = None  # N m, at command 1
    no_load_speed: float | None = None  # rad/s
    time_constant: float = 0.0  # s, first-order lag of the torque
    max_torque: float | None = None  # N m
    max_current: float | None = None  # A
    gear_stiffness: float | None = None  # N m/rad or N/m, at the coordinate
    gear_damping: float = 0.0  # N m s/rad or N s/m, at the coordinate

    def __post_init__(self) -> None:
        part = "Motor"
        check.fields(self, check.not_negative, inertia="kg m^2", damping="N m s/rad", inductance="H", time_constant="s",
                     gear_damping="N m s/rad")  # fmt: skip
        check.fields(self, check.number, ratio="")
        if self.ratio == 0.0:
            raise ModelError.of(part, "ratio", "must not be 0", self.ratio)
        check.fields(self, check.positive, transition="rad/s")
        check.fields(self, check.share, efficiency="", back_efficiency="")
        check.fields(self, check.positive, **dict.fromkeys((*ELECTRICAL, *LINE, "max_torque", "max_current", "gear_stiffness"), ""))
        self._check_kind(part)
        if self.is_elastic and self.inertia == 0.0:
            rule = "must be > 0 kg m^2 if gear_stiffness is given, because the rotor then moves by itself"
            raise ModelError.of(part, "inertia", rule, self.inertia)
        if self.gear_damping > 0.0 and not self.is_elastic:
            raise ModelError.of(part, "gear_damping", "must be left out unless gear_stiffness is given", self.gear_damping)

    def _check_kind(self, part: str) -> None:
        """Require exactly one complete description of the torque."""
        for first, second in (ELECTRICAL, LINE):
            if (getattr(self, first) is None) != (getattr(self, second) is None):
                missing = first if getattr(self, first) is None else second
                raise ModelError.of(part, missing, f"must be given together with {second if missing == first else first}", None)
        if self.is_electrical and self.has_line:
            rule = "must be left out when constant and resistance are given, because they define the torque-speed line"
            raise ModelError.of(part, "stall_torque", rule, self.stall_torque)
        only_electrical = {"inductance": self.inductance if self.inductance > 0.0 else None, "max_current": self.max_current}
        for field, value in only_electrical.items():
            if value is not None and not self.is_electrical:
                raise ModelError.of(part, field, "must be left out unless constant and resistance are given", value)
        if self.is_electrical and self.time_constant > 0.0:
            rule = "must be left out when a resistance is given, because the lag is then inductance/resistance"
            raise ModelError.of(part, "time_constant", rule, self.time_constant)

    @property
    def is_electrical(self) -> bool:
        """Whether it has windings, driven by a voltage."""
        return self.constant is not None

    @property
    def has_line(self) -> bool:
        """Whether it has a torque-speed line."""
        return self.stall_torque is not None

    @property
    def is_elastic(self) -> bool:
        """Whether its gear is a spring, so that the rotor's motion is a state."""
        return self.gear_stiffness is not None

    @property
    def lags(self) -> bool:
        """Whether its current, or its torque, is a state."""
        return (self.inductance if self.is_electrical else self.time_constant) > 0.0

    @property
    def own_state(self) -> str:
        """The name of that state, which follows the motor's name and a dot."""
        return CURRENT if self.is_electrical else TORQUE

    @property
    def lag(self) -> Any:
        """The time constant of the lag, s."""
        return self.inductance / self.resistance if self.is_electrical else self.time_constant  # type: ignore[operator]

    @property
    def losses(self) -> tuple[Any, Any]:
        """The fractions of the motor's power lost in the gear when the motor drives, and when the load drives."""
        back = self.efficiency if self.back_efficiency is None else self.back_efficiency
        return 1.0 - self.efficiency, 1.0 / back - 1.0

    @property
    def loses(self) -> bool:
        """Whether its gear loses power; one with a traced efficiency may."""
        return any(not isinstance(loss, (int, float)) or loss != 0.0 for loss in self.losses)

    def settled(self, command: Scalar, speed: Scalar) -> Scalar:
        """The steady current (A) of an electrical motor, else the steady torque (N m), at a command and a rotor speed (rad/s)."""
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

    def gear_loss(self, torque: Scalar, speed: Scalar) -> Scalar:
        """The torque lost in the gear, against the speed: a fraction of the motor torque, by the side that drives; zero at rest."""
        if not self.loses:
            return 0.0
        driving, driven = self.losses
        share = where(torque * speed > 0.0, driving, driven)
        return absolute(torque) * share * tanh(speed / self.transition)

    @property
    def slope(self) -> Any:
        """The slope of the torque-speed line, k^2/R, N m s/rad."""
        return self.stall_torque / self.no_load_speed  # type: ignore[operator]


@dataclass(frozen=True)
class MotorDrive:
    """A motor on a joint coordinate. Without a command it gives no torque, but its rotor still moves."""

    name: str
    coordinate: str  # body.coordinate
    motor: Motor
    command: Signal | None  # V; fraction of the rated voltage for a torque-speed line; N m for a torque source

    @property
    def state(self) -> str | None:
        """The name of its current or torque, if that is a state."""
        return f"{self.name}.{self.motor.own_state}" if self.command is not None and self.motor.lags else None

    @property
    def gear_states(self) -> tuple[str, ...]:
        """The names of the states of an elastic gear: its deflection, rotor angle/ratio - coordinate, and the rotor's speed."""
        return (f"{self.name}.{DEFLECTION}", f"{self.name}.{SPEED}") if self.motor.is_elastic else ()

    @property
    def states(self) -> tuple[str, ...]:
        """The names of all its states."""
        return (*(() if self.state is None else (self.state,)), *self.gear_states)

    def speed(self, own: Mapping[str, Scalar], rate: Scalar) -> Scalar:
        """The speed of its rotor, rad/s. own: states by name; rate: of the coordinate."""
        return own[self.gear_states[1]] if self.motor.is_elastic else self.motor.ratio * rate

    def torques(self, own: Mapping[str, Scalar], command: Scalar, speed: Scalar) -> tuple[Scalar, Scalar, Scalar]:
        """The settled current (or torque, without electrical data), the one that flows, and the torque on the rotor, N m."""
        settled = self.motor.settled(command, speed)
        flowing = settled if self.state is None else own[self.state]
        return settled, flowing, self.motor.constant * flowing if self.motor.is_electrical else flowing

    def gear(self, own: Mapping[str, Scalar], rate: Scalar) -> tuple[Scalar, Scalar, Scalar]:
        """The deflection of an elastic gear, its rate, and the effort of its spring and damper on the coordinate."""
        deflection, motor = own[self.gear_states[0]], self.motor
        growing = self.speed(own, rate) / motor.ratio - rate
        return deflection, growing, motor.gear_stiffness * deflection + motor.gear_damping * growing


@dataclass(frozen=True)
class MotorRate:
    """The rate of one of a motor's states as a formula of (t, q, v)."""

    PART: ClassVar[str] = ""

    drive: MotorDrive

    @property
    def text(self) -> str:
        """Its name in messages."""
        return f"the {self.PART} of motor {self.drive.name!r}"

    def __call__(self, t: Any, q: Mapping[str, Any], v: Mapping[str, Any]) -> Any:
        return self.of(q, v[self.drive.coordinate])

    def of(self, q: Mapping[str, Any], rate: Any) -> Any:
        """rate: of the coordinate."""
        raise NotImplementedError


class LagRate(MotorRate):
    """Of the current or torque: (steady value - present value)/lag."""

    PART = "lag"

    def of(self, q: Mapping[str, Any], rate: Any) -> Any:
        motor = self.drive.motor
        settled = motor.settled(q[f"{self.drive.name}.{COMMAND}"], self.drive.speed(q, rate))
        return (settled - q[str(self.drive.state)]) / motor.lag


class GearRate(MotorRate):
    """Of the deflection of an elastic gear."""

    PART = "gear"

    def of(self, q: Mapping[str, Any], rate: Any) -> Any:
        return self.drive.gear(q, rate)[1]


class RotorRate(MotorRate):
    """Of the speed of a rotor behind an elastic gear: J w' = T - loss - damping w - effort/ratio."""

    PART = "rotor"

    def of(self, q: Mapping[str, Any], rate: Any) -> Any:
        drive, motor = self.drive, self.drive.motor
        speed = drive.speed(q, rate)
        left = -drive.gear(q, rate)[2] / motor.ratio - motor.damping * speed
        if drive.command is not None:
            torque = drive.torques(q, q[f"{drive.name}.{COMMAND}"], speed)[2]
            left = left + torque - motor.gear_loss(torque, speed)
        return left / motor.inertia


def rates_of(drive: MotorDrive) -> dict[str, Formula]:
    """The rates of its states, by name."""
    lag = {} if drive.state is None else {drive.state: Formula(LagRate(drive))}
    return lag | dict(zip(drive.gear_states, (Formula(GearRate(drive)), Formula(RotorRate(drive))), strict=False))
