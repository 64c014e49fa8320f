"""Friction laws: the force that opposes slip, as a function of slip speed and normal force, with or without states.

Every built-in law is the normal force times a coefficient, so friction begins and ends with the contact; viscous terms are per
newton of normal force, s/m, as in Simbody. A `FrictionLaw` gives the magnitude for a slip speed >= 0, and the contact directs it
against the slip: -force(|s|, N) s/|s|. A `BristleLaw` also has one bristle deflection per tangential direction as a state.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from pliant.errors import ModelError
from pliant.model import check
from pliant.scalar import Numbers, Scalar, call_law, exp, maximum, minimum, sqrt, tanh, where

# m/s. The sign of the slip is smoothed over this speed. A body held by a regularised law creeps at about this speed times the
# fraction of the available friction in use, and the equations contain the rate mu N/(m v). A lower speed holds better, but makes
# the equations stiffer.
TRANSITION_SPEED = 1e-3


@dataclass(frozen=True, kw_only=True)
class FrictionLaw:
    """A friction law without states: N times `coefficient(speed)`, for speed >= 0; it is 0 at rest unless the law holds."""

    states: ClassVar[int] = 0  # per tangential direction
    holds: ClassVar[bool] = False  # whether the contact must solve for the force that holds at rest
    exact: ClassVar[bool] = False  # whether it holds at a slip of exactly zero, not in a band around it

    def coefficient(self, speed: Scalar) -> Scalar:
        """The ratio of friction force to normal force at a slip speed, m/s."""
        raise NotImplementedError

    def force(self, speed: Scalar, normal: Scalar) -> Scalar:
        """The magnitude of the force against the slip, N; never negative, so friction never adds energy."""
        return normal * self.coefficient(speed)

    @property
    def switches(self) -> Numbers:
        """Slip speeds at which the law or a low derivative of it jumps, m/s, increasing."""
        return ()

    @property
    def returns(self) -> bool:
        """Whether it can add energy for a moment: a holding force acts on the remaining slip, in either direction."""
        return self.holds


@dataclass(frozen=True, kw_only=True)
class Coulomb(FrictionLaw):
    """Smoothed Coulomb friction: mu tanh(v/vt).  Coulomb 1785; Andersson, Soederberg, Bjoerklund 2007."""

    mu: float
    transition: float = TRANSITION_SPEED  # vt, m/s

    def __post_init__(self) -> None:
        check.fields(self, check.not_negative, mu="")
        check.fields(self, check.positive, transition="m/s")

    def coefficient(self, speed: Scalar) -> Scalar:
        return self.mu * tanh(speed / self.transition)


@dataclass(frozen=True, kw_only=True)
class CoulombStiction(FrictionLaw):
    """Friction that rises to mu_static at v_static and falls to mu_kinetic at v_kinetic, by cubic steps.  MSC Adams.

    mu = mu_s x(3 - x^2)/2 with x = v/v_static <= 1, then mu_s + (mu_k - mu_s) y^2(3 - 2y), y from 0 at v_static to 1 at v_kinetic.
    """

    mu_static: float
    mu_kinetic: float
    v_static: float = TRANSITION_SPEED  # slip speed at which friction peaks, m/s
    v_kinetic: float  # slip speed from which friction is kinetic, m/s

    def __post_init__(self) -> None:
        _two_coefficients(self)
        check.fields(self, check.positive, v_static="m/s", v_kinetic="m/s")
        _above(self, "v_kinetic", "v_static", "m/s")

    def coefficient(self, speed: Scalar) -> Scalar:
        x = minimum(speed / self.v_static, 1.0)
        y = minimum(maximum((speed - self.v_static) / (self.v_kinetic - self.v_static), 0.0), 1.0)
        rise = 0.5 * x * (3.0 - x * x)
        return rise * (self.mu_static + (self.mu_kinetic - self.mu_static) * y * y * (3.0 - 2.0 * y))

    @property
    def switches(self) -> tuple[float, ...]:
        return (self.v_static, self.v_kinetic)


@dataclass(frozen=True, kw_only=True)
class CoulombViscous(FrictionLaw):
    """Smoothed Coulomb friction with a viscous term: mu tanh(v/vt) + b v.  Coulomb 1785; Sherman, Seth, Delp 2011."""

    mu: float
    viscous: float  # b, s/m
    transition: float = TRANSITION_SPEED  # vt, m/s

    def __post_init__(self) -> None:
        check.fields(self, check.not_negative, mu="", viscous="s/m")
        check.fields(self, check.positive, transition="m/s")

    def coefficient(self, speed: Scalar) -> Scalar:
        return self.mu * tanh(speed / self.transition) + self.viscous * speed


@dataclass(frozen=True, kw_only=True)
class Stribeck(FrictionLaw):
    """(mu_k + (mu_s - mu_k) exp(-(v/vs)^p)) tanh(v/vt) + b v.  Stribeck 1902; Bo and Pavelescu 1982; p = 2 Armstrong 1991."""

    mu_static: float
    mu_kinetic: float
    v_stribeck: float  # vs, m/s
    exponent: float = 2.0  # p
    viscous: float = 0.0  # b, s/m
    transition: float = TRANSITION_SPEED  # vt, m/s; keep it below vs, or the peak vanishes

    def __post_init__(self) -> None:
        _two_coefficients(self)
        check.fields(self, check.positive, v_stribeck="m/s", exponent="", transition="m/s")
        check.fields(self, check.not_negative, viscous="s/m")
        _above(self, "v_stribeck", "transition", "m/s")

    def coefficient(self, speed: Scalar) -> Scalar:
        sliding = _stribeck_curve(self, speed)
        return sliding * tanh(speed / self.transition) + self.viscous * speed


@dataclass(frozen=True, kw_only=True)
class Threlfall(FrictionLaw):
    """mu (1 - exp(-3 v/vr)) up to vr, constant beyond.  Threlfall 1978.

    The paper rounds the constant to 0.95 mu; here it is mu (1 - exp(-3)) = 0.9502 mu, so that the force is continuous.
    """

    mu: float
    v_r: float  # m/s

    def __post_init__(self) -> None:
        check.fields(self, check.not_negative, mu="")
        check.fields(self, check.positive, v_r="m/s")

    def coefficient(self, speed: Scalar) -> Scalar:
        return self.mu * (1.0 - exp(-3.0 * minimum(speed / self.v_r, 1.0)))

    @property
    def switches(self) -> tuple[float, ...]:
        return (self.v_r,)


@dataclass(frozen=True, kw_only=True)
class BengisuAkay(FrictionLaw):
    """mu_s (1 - (v - v0)^2/v0^2) below v0, mu_k + (mu_s - mu_k) exp(-xi (v - v0)) above.  Bengisu and Akay 1994."""

    mu_static: float
    mu_kinetic: float
    v0: float  # slip speed at which friction peaks, m/s
    xi: float  # s/m

    def __post_init__(self) -> None:
        _two_coefficients(self)
        check.fields(self, check.positive, v0="m/s", xi="s/m")

    def coefficient(self, speed: Scalar) -> Scalar:
        below = self.mu_static * (1.0 - (speed / self.v0 - 1.0) ** 2)
        beyond = maximum(speed - self.v0, 0.0)
        above = self.mu_kinetic + (self.mu_static - self.mu_kinetic) * exp(-self.xi * beyond)
        return where(speed < self.v0, below, above)

    @property
    def switches(self) -> tuple[float, ...]:
        return (self.v0,)


@dataclass(frozen=True, kw_only=True)
class Ambrosio(FrictionLaw):
    """mu times 0 up to v0, (v - v0)/(v1 - v0) to v1, 1 beyond.  Ambrosio 2003; Yousefzadeh and Shafei 2024, eq. 24.

    The printed eq. 24 lacks the minus sign that makes friction oppose slip. Below v0 there is no friction, so slip that is only
    numerical noise has no effect; the law cannot hold a body at rest.
    """

    mu: float
    v0: float  # m/s
    v1: float  # m/s

    def __post_init__(self) -> None:
        check.fields(self, check.not_negative, mu="", v0="m/s")
        check.fields(self, check.positive, v1="m/s")
        _above(self, "v1", "v0", "m/s")

    def coefficient(self, speed: Scalar) -> Scalar:
        return self.mu * minimum(maximum((speed - self.v0) / (self.v1 - self.v0), 0.0), 1.0)

    @property
    def switches(self) -> tuple[float, ...]:
        return (self.v0, self.v1) if self.v0 > 0.0 else (self.v1,)


@dataclass(frozen=True, kw_only=True)
class Karnopp(FrictionLaw):
    """Friction that sticks: mu_kinetic + b v outside the band |v| <= DV, the holding force up to mu_static inside.  Karnopp 1985.

    `force` is the sliding branch at every speed. Inside the band the contact solves for the force that brings the slip to rest. If
    that force exceeds `stiction`, friction is mu_static N against the slip until the slip leaves the band or comes to rest.
    """

    holds: ClassVar[bool] = True

    mu_static: float
    mu_kinetic: float
    band: float = TRANSITION_SPEED  # DV, m/s
    viscous: float = 0.0  # b, s/m

    def __post_init__(self) -> None:
        _two_coefficients(self)
        check.fields(self, check.positive, band="m/s")
        check.fields(self, check.not_negative, viscous="s/m")

    def coefficient(self, speed: Scalar) -> Scalar:
        return self.mu_kinetic + self.viscous * speed

    def stiction(self, normal: Scalar) -> Scalar:
        """The largest holding force, N."""
        return self.mu_static * normal

    @property
    def switches(self) -> tuple[float, ...]:
        return (self.band,)


REST = 1e-9  # m/s: slip in several directions hardly ever becomes exactly zero; slip below this speed counts as rest


@dataclass(frozen=True, kw_only=True)
class DryFriction(FrictionLaw):
    """Dry friction in joints: mu_kinetic + b v against the slip; at rest, the holding force up to mu_static.  Coulomb 1785.

    The law is set-valued; nothing is smoothed. A joint that turns or slides in one direction sticks at the instant its rate becomes
    zero, and breaks loose at the instant the required holding force exceeds mu_static N. A joint that can slip in several
    directions at once (a ball, the surface of a cylindrical joint) sticks when its slip speed falls below `rest`.
    """

    holds: ClassVar[bool] = True
    exact: ClassVar[bool] = True

    mu_static: float
    mu_kinetic: float
    viscous: float = 0.0  # b, s/m
    rest: float = REST  # m/s

    def __post_init__(self) -> None:
        _two_coefficients(self)
        check.fields(self, check.not_negative, viscous="s/m")
        check.fields(self, check.positive, rest="m/s")

    def coefficient(self, speed: Scalar) -> Scalar:
        return self.mu_kinetic + self.viscous * speed

    def stiction(self, normal: Scalar) -> Scalar:
        """The largest holding force, N."""
        return self.mu_static * normal

    @property
    def band(self) -> float:
        """The slip speed below which slip in several directions counts as rest, m/s."""
        return self.rest


# ----------------------------------------------------------------------------------------------- laws with states


@dataclass(frozen=True, kw_only=True)
class BristleLaw:
    """A friction law with one bristle deflection z (m) per tangential direction as a state; z = 0 at first contact.

    The bristle stiffness sigma0 is per newton of normal force, in 1/m (Canudas de Wit and Tsiotras 1999). So |z| stays within
    mu/sigma0 however the normal force varies, whereas a stiffness in N/m would require division by a normal force that starts and
    ends at zero. Under a constant normal force N this is the classic law with the stiffness sigma0 N; while N varies, the bristles
    absorb or release the power N' sigma0 z^2/2.
    """

    states: ClassVar[int] = 1  # per tangential direction
    returns: ClassVar[bool] = True  # bristles release the energy they stored
    dwells: ClassVar[bool] = False  # whether each contact has another state, the dwell, which remembers the time at rest

    sigma0: float  # stiffness of the bristles, 1/m

    def deflection_rate(self, slip: Scalar, deflection: Scalar, speed: Scalar, normal: Scalar) -> Scalar:
        """dz/dt along one direction, m/s; slip is the component in that direction, speed the magnitude of the slip."""
        raise NotImplementedError

    def bristle(self, deflection: Scalar, deflection_rate: Scalar) -> Scalar:
        """The force of the bristles along one direction, per newton of normal force."""
        return self.sigma0 * deflection

    @property
    def switches(self) -> tuple[float, ...]:
        """Slip speeds at which the law or a low derivative of it jumps, m/s, increasing."""
        return ()

    @property
    def drag(self) -> float:
        """Viscous force per newton of normal force and per m/s of slip, s/m."""
        return 0.0

    def bound(self, dwell: Scalar) -> Scalar | None:
        """The largest magnitude of the bristle force, per newton of normal force; None if the law has no bound."""
        return None

    def dwell_rate(self, dwell: Scalar, speed: Scalar) -> Scalar:
        """d dwell/dt, 1/s; used only for a law with `dwells`."""
        return 0.0

    def force(self, slip: Scalar, deflection: Scalar, deflection_rate: Scalar, normal: Scalar) -> Scalar:
        """The friction along one direction, N, before any bound; the body feels -force."""
        return normal * (self.bristle(deflection, deflection_rate) + self.drag * slip)

    def forces(
        self, slips: Sequence[Scalar], deflections: Sequence[Scalar], speed: Scalar, normal: Scalar, dwell: Scalar = 0.0
    ) -> list[Scalar]:
        """The friction along every direction, N; the body feels the negative. A bound of the law applies to the vector."""
        bristles = [self.bristle(z, self.deflection_rate(s, z, speed, normal)) for s, z in zip(slips, deflections, strict=True)]
        bound = self.bound(dwell)
        if bound is not None:  # compares squares, so that the square root has a finite slope at rest
            share = bound / sqrt(maximum(sum(b * b for b in bristles), bound * bound))
            bristles = [share * b for b in bristles]
        return [normal * (b + self.drag * s) for b, s in zip(bristles, slips, strict=True)]

    def stored(self, deflection: Scalar, normal: Scalar) -> Scalar:
        """The energy stored in the bristles of one direction, J; exact while the normal force is constant."""
        return 0.5 * normal * self.sigma0 * deflection * deflection


@dataclass(frozen=True, kw_only=True)
class Dahl(BristleLaw):
    """dz/dt = s - sigma0 |s| z/mu, F = N sigma0 z.  Dahl 1968, with exponent 1.

    From rest, z = (mu/sigma0)(1 - exp(-sigma0 x/mu)) after a slip x, at any speed.
    """

    mu: float

    def __post_init__(self) -> None:
        check.fields(self, check.positive, sigma0="1/m", mu="")

    def deflection_rate(self, slip: Scalar, deflection: Scalar, speed: Scalar, normal: Scalar) -> Scalar:
        return slip - self.sigma0 / self.mu * speed * deflection


@dataclass(frozen=True, kw_only=True)
class LuGre(BristleLaw):
    """dz/dt = s - sigma0 |s| z/g(|s|), F = N (sigma0 z + sigma1 dz/dt + sigma2 s), g = mu_k + (mu_s - mu_k) exp(-(|s|/vs)^p).

    Canudas de Wit, Olsson, Astroem, Lischinsky 1995 (p = 2). In steady slip F = N (g + sigma2 s).
    """

    mu_static: float
    mu_kinetic: float
    v_stribeck: float  # vs, m/s
    sigma1: float  # s/m
    sigma2: float = 0.0  # s/m
    exponent: float = 2.0  # p

    def __post_init__(self) -> None:
        _two_coefficients(self, zero=False)
        check.fields(self, check.positive, sigma0="1/m", v_stribeck="m/s", exponent="")
        check.fields(self, check.not_negative, sigma1="s/m", sigma2="s/m")

    def deflection_rate(self, slip: Scalar, deflection: Scalar, speed: Scalar, normal: Scalar) -> Scalar:
        return slip - self.sigma0 * speed * deflection / _stribeck_curve(self, speed)

    def bristle(self, deflection: Scalar, deflection_rate: Scalar) -> Scalar:
        return self.sigma0 * deflection + self.sigma1 * deflection_rate

    @property
    def drag(self) -> float:
        return self.sigma2


@dataclass(frozen=True, kw_only=True)
class GonthierFriction(BristleLaw):
    """Bristle friction that sticks or slides according to r = exp(-(|s|/vs)^2) and gets stronger with the time at rest.

    dz/dt = r s + (1 - r) (mu_k dir(s) - sigma0 z)/sigma1, F = N (sat(sigma0 z + sigma1 dz/dt, mu_max) + sigma2 s),
    mu_max = mu_k + (mu_s - mu_k) w, and the dwell w follows r: dw/dt = (r - w)/tau with tau = tau_dwell while r >= w, else
    sigma1/sigma0. dir(s) = s/|s|, below v_smooth (s/v_smooth)(3 - (|s|/v_smooth)^2)/2.
    Gonthier, McPhee, Lange, Piedboeuf 2004, per newton of normal force.
    """

    dwells: ClassVar[bool] = True

    mu_static: float
    mu_kinetic: float
    v_stribeck: float  # vs, m/s
    sigma1: float  # s/m
    tau_dwell: float  # s
    sigma2: float = 0.0  # s/m
    v_smooth: float | None = None  # m/s; default: vs/100

    def __post_init__(self) -> None:
        _two_coefficients(self, zero=False)
        check.fields(self, check.positive, sigma0="1/m", sigma1="s/m", v_stribeck="m/s", tau_dwell="s")
        check.fields(self, check.not_negative, sigma2="s/m")
        if self.v_smooth is None:
            object.__setattr__(self, "v_smooth", SMOOTH_SHARE * self.v_stribeck)
        check.fields(self, check.positive, v_smooth="m/s")

    @property
    def switches(self) -> tuple[float, ...]:
        assert self.v_smooth is not None  # set when made
        return (self.v_smooth,)

    def sticking(self, speed: Scalar) -> Scalar:
        """r: 1 at rest, 0 in full slip."""
        return exp(-((speed / self.v_stribeck) ** 2))

    def deflection_rate(self, slip: Scalar, deflection: Scalar, speed: Scalar, normal: Scalar) -> Scalar:
        sticking = self.sticking(speed)
        x = minimum(speed / self.v_smooth, 1.0)
        direction = slip * (0.5 * (3.0 - x * x)) / maximum(speed, self.v_smooth)
        sliding = (self.mu_kinetic * direction - self.sigma0 * deflection) / self.sigma1
        return sticking * slip + (1.0 - sticking) * sliding

    def bristle(self, deflection: Scalar, deflection_rate: Scalar) -> Scalar:
        return self.sigma0 * deflection + self.sigma1 * deflection_rate

    @property
    def drag(self) -> float:
        return self.sigma2

    def bound(self, dwell: Scalar) -> Scalar:
        return self.mu_kinetic + (self.mu_static - self.mu_kinetic) * dwell

    def dwell_rate(self, dwell: Scalar, speed: Scalar) -> Scalar:
        """dw/dt, 1/s; w = 0 at first contact."""
        lag = self.sticking(speed) - dwell
        return lag * where(lag >= 0.0, 1.0 / self.tau_dwell, self.sigma0 / self.sigma1)


SMOOTH_SHARE = 0.01  # fraction of vs; at this speed r differs from 1 by 1e-4, so the smoothed direction hardly matters


# ------------------------------------------------------------------------------------------------------ a user's law


@dataclass(frozen=True)
class CustomFriction(FrictionLaw):
    """A friction law of your own: magnitude = function(speed, normal), written with pliant's mathematical functions.

    switches: slip speeds at which the function or a low derivative jumps, m/s.
    """

    function: Callable[..., Any]
    switches: Numbers = ()

    def __post_init__(self) -> None:
        if not callable(self.function) or isinstance(self.function, type):
            raise ModelError.of("CustomFriction", "function", "must be a function of (speed, normal)", self.function)
        part = "CustomFriction"
        speeds = tuple(check.positive(part, f"switches[{k}]", s, "m/s") for k, s in enumerate(self.switches))
        check.increasing(part, "switches", speeds)
        object.__setattr__(self, "switches", speeds)

    def coefficient(self, speed: Scalar) -> Scalar:
        """The friction force for a normal force of 1 N."""
        return call_law(self.function, speed, 1.0)

    def force(self, speed: Scalar, normal: Scalar) -> Scalar:
        return call_law(self.function, speed, normal)


def friction_law(part: str, field: str, value: Any) -> FrictionLaw | BristleLaw:
    """A friction law from a law or from a function of (speed, normal)."""
    if isinstance(value, (FrictionLaw, BristleLaw)):
        return value
    if callable(value) and not isinstance(value, type):
        return CustomFriction(value, getattr(value, "switches", ()))
    raise ModelError.of(part, field, "must be a friction law or a function of (speed, normal)", value)


FRICTION_LAWS: tuple[type[FrictionLaw] | type[BristleLaw], ...] = (
    Coulomb, CoulombStiction, CoulombViscous, Stribeck, Threlfall, BengisuAkay, Ambrosio, Karnopp,
    Dahl, LuGre, GonthierFriction,
)  # fmt: skip
JOINT_FRICTION_LAWS = (*FRICTION_LAWS, DryFriction)  # laws for joints; contacts take those of FRICTION_LAWS


# --------------------------------------------------------------------------------------------------- shared formulas


def _stribeck_curve(law: Any, speed: Scalar) -> Scalar:
    """mu_k + (mu_s - mu_k) exp(-(v/vs)^p)."""
    return law.mu_kinetic + (law.mu_static - law.mu_kinetic) * exp(-((speed / law.v_stribeck) ** law.exponent))


def _two_coefficients(law: Any, zero: bool = True) -> None:
    """mu_static >= mu_kinetic >= 0, or > 0 where the law divides by them."""
    check.fields(law, check.not_negative if zero else check.positive, mu_kinetic="", mu_static="")
    if law.mu_static < law.mu_kinetic:
        rule = f"must be >= mu_kinetic = {law.mu_kinetic!r}"
        raise ModelError.of(type(law).__name__, "mu_static", rule, law.mu_static)


def _above(law: Any, field: str, other: str, unit: str) -> None:
    if not getattr(law, field) > getattr(law, other):
        rule = f"must be > {other} = {getattr(law, other)!r} {unit}"
        raise ModelError.of(type(law).__name__, field, rule, getattr(law, field))
