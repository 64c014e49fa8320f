"""Friction laws: what opposes slip, for its speed and the normal force, by a formula of the moment or with a memory.

Every law of ours is the normal force times a coefficient, so that friction begins and ends with the contact; viscous terms are
per newton of normal force, s/m, as in Simbody. A `FrictionLaw` gives the magnitude for a slip speed >= 0, and the contact turns it
against the slip: -force(|s|, N) s/|s|. A `BristleLaw` also carries one deflection per tangential direction.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from pliant.errors import ModelError
from pliant.integrate.grip_states import REST_SHARE
from pliant.model import check
from pliant.scalar import Scalar, exp, maximum, minimum, sqrt, tanh, where

# m/s. Sign of slip is smoothed over this: a body held by a regularised law creeps at about this speed times the share of the
# friction in use, and the equations gain a rate mu N/(m v). Slower holds better and is stiffer.
TRANSITION_SPEED = 1e-3


@dataclass(frozen=True, kw_only=True)
class FrictionLaw:
    """A law of the moment: N times `coefficient(speed)`, for speed >= 0; at rest 0 unless the law holds."""

    states: ClassVar[int] = 0  # per tangential direction
    holds: ClassVar[bool] = False  # whether the contact must solve for the force that holds at rest
    exact: ClassVar[bool] = False  # whether it holds at a slip of exactly zero, not in a band around it

    def coefficient(self, speed: Scalar) -> Scalar:
        """Friction over normal force."""
        raise NotImplementedError

    def force(self, speed: Scalar, normal: Scalar) -> Scalar:
        """Magnitude of the force against the slip, N; never negative, so it never gives energy."""
        return normal * self.coefficient(speed)

    @property
    def switches(self) -> tuple[float, ...]:
        """Slip speeds at which the law or a low derivative of it jumps, m/s, increasing."""
        return ()

    @property
    def returns(self) -> bool:
        """Whether it may give energy for a moment: what holds does so against what slip is left."""
        return self.holds


@dataclass(frozen=True, kw_only=True)
class Coulomb(FrictionLaw):
    """mu tanh(v/vt).  Coulomb 1785, smoothed (Andersson, Soederberg, Bjoerklund 2007)."""

    mu: float
    transition: float = TRANSITION_SPEED  # vt, m/s

    def __post_init__(self) -> None:
        _not_negative(self, mu="")
        _positive(self, transition="m/s")

    def coefficient(self, speed: Scalar) -> Scalar:
        return self.mu * tanh(speed / self.transition)


@dataclass(frozen=True, kw_only=True)
class CoulombStiction(FrictionLaw):
    """Rises to mu_static at v_static, falls to mu_kinetic at v_kinetic, by cubic steps.  MSC Adams, contact friction.

    mu = mu_s x(3 - x^2)/2 with x = v/v_static <= 1, then mu_s + (mu_k - mu_s) y^2(3 - 2y), y from 0 at v_static to 1 at v_kinetic.
    """

    mu_static: float
    mu_kinetic: float
    v_static: float = TRANSITION_SPEED  # where friction peaks, m/s
    v_kinetic: float  # from where on it is kinetic, m/s

    def __post_init__(self) -> None:
        _two_coefficients(self)
        _positive(self, v_static="m/s", v_kinetic="m/s")
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
    """mu tanh(v/vt) + b v.  Coulomb 1785 with a viscous term, per newton of normal force (Sherman, Seth, Delp 2011)."""

    mu: float
    viscous: float  # b, s/m
    transition: float = TRANSITION_SPEED  # vt, m/s

    def __post_init__(self) -> None:
        _not_negative(self, mu="", viscous="s/m")
        _positive(self, transition="m/s")

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
    transition: float = TRANSITION_SPEED  # vt, m/s; below vs, or the peak is lost

    def __post_init__(self) -> None:
        _two_coefficients(self)
        _positive(self, v_stribeck="m/s", exponent="", transition="m/s")
        _not_negative(self, viscous="s/m")
        _above(self, "v_stribeck", "transition", "m/s")

    def coefficient(self, speed: Scalar) -> Scalar:
        sliding = _stribeck_curve(self, speed)
        return sliding * tanh(speed / self.transition) + self.viscous * speed


@dataclass(frozen=True, kw_only=True)
class Threlfall(FrictionLaw):
    """mu (1 - exp(-3 v/vr)) up to vr, constant beyond.  Threlfall 1978.

    The print rounds the constant to 0.95 mu; here it is mu (1 - exp(-3)) = 0.9502 mu, so that nothing jumps.
    """

    mu: float
    v_r: float  # m/s

    def __post_init__(self) -> None:
        _not_negative(self, mu="")
        _positive(self, v_r="m/s")

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
    v0: float  # where friction peaks, m/s
    xi: float  # s/m

    def __post_init__(self) -> None:
        _two_coefficients(self)
        _positive(self, v0="m/s", xi="s/m")

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

    Eq. 24 as printed has no minus sign: friction opposes slip. Nothing holds below v0: slip that is numerical noise feels nothing.
    """

    mu: float
    v0: float  # m/s
    v1: float  # m/s

    def __post_init__(self) -> None:
        _not_negative(self, mu="", v0="m/s")
        _positive(self, v1="m/s")
        _above(self, "v1", "v0", "m/s")

    def coefficient(self, speed: Scalar) -> Scalar:
        return self.mu * minimum(maximum((speed - self.v0) / (self.v1 - self.v0), 0.0), 1.0)

    @property
    def switches(self) -> tuple[float, ...]:
        return (self.v0, self.v1) if self.v0 > 0.0 else (self.v1,)


RETURN_SHARE = 0.9  # of the band: the slip speed below which a contact that broke away holds again
STOP_SHARE = 0.5 * REST_SHARE  # of the band: where a slip that dies away has come to rest


@dataclass(frozen=True, kw_only=True)
class Karnopp(FrictionLaw):
    """Outside the band |v| <= DV: mu_kinetic + b v. Inside: whatever holds, up to mu_static.  Karnopp 1985.

    `force` is the sliding branch at every speed. Inside the band the contact solves for the force that brings the slip to rest;
    where that passes `stiction`, it gives mu_static N against the slip until the slip leaves the band or comes to rest.
    """

    holds: ClassVar[bool] = True

    mu_static: float
    mu_kinetic: float
    band: float = TRANSITION_SPEED  # DV, m/s
    viscous: float = 0.0  # b, s/m

    def __post_init__(self) -> None:
        _two_coefficients(self)
        _positive(self, band="m/s")
        _not_negative(self, viscous="s/m")

    def coefficient(self, speed: Scalar) -> Scalar:
        return self.mu_kinetic + self.viscous * speed

    def stiction(self, normal: Scalar) -> Scalar:
        """The most that holds, N."""
        return self.mu_static * normal

    @property
    def switches(self) -> tuple[float, ...]:
        return (self.band,)


REST = 1e-9  # m/s: slip in several directions at once hardly ever comes to exactly zero; below this it has


@dataclass(frozen=True, kw_only=True)
class DryFriction(FrictionLaw):
    """mu_kinetic + b v against the slip; at rest whatever holds, up to mu_static.  Coulomb 1785, set-valued, for joints.

    Nothing is smoothed: a joint that turns or slides along one direction sticks at the instant at which its rate is zero, and
    breaks loose at the instant at which more is asked of it than mu_static N. Where it can slip in several directions at once (a
    ball, the surface of a cylindrical joint) it sticks as its slip falls below `rest`.
    """

    holds: ClassVar[bool] = True
    exact: ClassVar[bool] = True

    mu_static: float
    mu_kinetic: float
    viscous: float = 0.0  # b, s/m
    rest: float = REST  # m/s

    def __post_init__(self) -> None:
        _two_coefficients(self)
        _not_negative(self, viscous="s/m")
        _positive(self, rest="m/s")

    def coefficient(self, speed: Scalar) -> Scalar:
        return self.mu_kinetic + self.viscous * speed

    def stiction(self, normal: Scalar) -> Scalar:
        """The most that holds, N."""
        return self.mu_static * normal

    @property
    def band(self) -> float:
        """Slip in several directions that is rest, m/s."""
        return self.rest


# ---------------------------------------------------------------------------------------------- laws with a memory


@dataclass(frozen=True, kw_only=True)
class BristleLaw:
    """A law with one deflection z, m, per tangential direction, as of bristles between the bodies; z = 0 at first touch.

    Stiffness is per newton of normal force, sigma0 in 1/m (Canudas de Wit and Tsiotras 1999): z stays within mu/sigma0 whatever the
    normal force does, where a stiffness in N/m would divide by a normal force that starts and ends at zero. Under a constant
    normal force N it is the classic law of stiffness sigma0 N; where N varies, the bristles take or give N' sigma0 z^2/2.
    """

    states: ClassVar[int] = 1  # per tangential direction
    returns: ClassVar[bool] = True  # bristles give back what they stored
    dwells: ClassVar[bool] = False  # whether there is one more state per contact, its memory of rest

    sigma0: float  # stiffness of the bristles, 1/m

    def deflection_rate(self, slip: Scalar, deflection: Scalar, speed: Scalar, normal: Scalar) -> Scalar:
        """dz/dt along one direction, m/s: slip is its component, speed the magnitude of all."""
        raise NotImplementedError

    def bristle(self, deflection: Scalar, deflection_rate: Scalar) -> Scalar:
        """The bristles' share of force along one direction, per newton of normal force."""
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
        """The most the bristles can hold, as a vector, per newton of normal force; None where the law sets none."""
        return None

    def dwell_rate(self, dwell: Scalar, speed: Scalar) -> Scalar:
        """d dwell/dt, 1/s; asked only of a law that dwells."""
        return 0.0

    def force(self, slip: Scalar, deflection: Scalar, deflection_rate: Scalar, normal: Scalar) -> Scalar:
        """The friction to subtract along one direction, N, before any bound: friction on the body is -force."""
        return normal * (self.bristle(deflection, deflection_rate) + self.drag * slip)

    def forces(
        self, slips: Sequence[Scalar], deflections: Sequence[Scalar], speed: Scalar, normal: Scalar, dwell: Scalar = 0.0
    ) -> list[Scalar]:
        """The friction to subtract along every direction, N; what the law bounds is bounded as a vector."""
        bristles = [self.bristle(z, self.deflection_rate(s, z, speed, normal)) for s, z in zip(slips, deflections, strict=True)]
        bound = self.bound(dwell)
        if bound is not None:  # of squares, so that the square root has a slope at rest too
            share = bound / sqrt(maximum(sum(b * b for b in bristles), bound * bound))
            bristles = [share * b for b in bristles]
        return [normal * (b + self.drag * s) for b, s in zip(bristles, slips, strict=True)]

    def stored(self, deflection: Scalar, normal: Scalar) -> Scalar:
        """What the bristles of one direction hold, J: exact while the normal force is constant."""
        return 0.5 * normal * self.sigma0 * deflection * deflection


@dataclass(frozen=True, kw_only=True)
class Dahl(BristleLaw):
    """dz/dt = s - sigma0 |s| z/mu, F = N sigma0 z.  Dahl 1968, with his exponent 1.

    From rest, z = (mu/sigma0)(1 - exp(-sigma0 x/mu)) after a slip x, whatever its speed.
    """

    mu: float

    def __post_init__(self) -> None:
        _positive(self, sigma0="1/m", mu="")

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
        _positive(self, sigma0="1/m", v_stribeck="m/s", exponent="")
        _not_negative(self, sigma1="s/m", sigma2="s/m")

    def deflection_rate(self, slip: Scalar, deflection: Scalar, speed: Scalar, normal: Scalar) -> Scalar:
        return slip - self.sigma0 * speed * deflection / _stribeck_curve(self, speed)

    def bristle(self, deflection: Scalar, deflection_rate: Scalar) -> Scalar:
        return self.sigma0 * deflection + self.sigma1 * deflection_rate

    @property
    def drag(self) -> float:
        return self.sigma2


@dataclass(frozen=True, kw_only=True)
class GonthierFriction(BristleLaw):
    """Bristles that stick and slide by r = exp(-(|s|/vs)^2) and hold the more, the longer they have been at rest.

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
    v_smooth: float | None = None  # m/s; vs/100 unless given

    def __post_init__(self) -> None:
        _two_coefficients(self, zero=False)
        _positive(self, sigma0="1/m", sigma1="s/m", v_stribeck="m/s", tau_dwell="s")
        _not_negative(self, sigma2="s/m")
        if self.v_smooth is None:
            object.__setattr__(self, "v_smooth", SMOOTH_SHARE * self.v_stribeck)
        _positive(self, v_smooth="m/s")

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
        """dw/dt, 1/s; w = 0 at first touch."""
        lag = self.sticking(speed) - dwell
        return lag * where(lag >= 0.0, 1.0 / self.tau_dwell, self.sigma0 / self.sigma1)


SMOOTH_SHARE = 0.01  # of vs: there r differs from 1 by 1e-4, so the smoothed direction hardly counts


# ------------------------------------------------------------------------------------------------------ a user's own


@dataclass(frozen=True)
class CustomFriction(FrictionLaw):
    """Magnitude = function(speed, normal), written with pliant's functions over any scalar; `switches` are its corners."""

    function: Callable[..., Any]
    switches: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if not callable(self.function) or isinstance(self.function, type):
            raise ModelError.of("CustomFriction", "function", "must be a function of (speed, normal)", self.function)
        part = "CustomFriction"
        speeds = tuple(check.positive(part, f"switches[{k}]", s, "m/s") for k, s in enumerate(self.switches))
        check.increasing(part, "switches", speeds)
        object.__setattr__(self, "switches", speeds)

    def coefficient(self, speed: Scalar) -> Scalar:
        """For a normal force of one newton."""
        return self.function(speed, 1.0)

    def force(self, speed: Scalar, normal: Scalar) -> Scalar:
        return self.function(speed, normal)


def friction_law(part: str, field: str, value: Any) -> FrictionLaw | BristleLaw:
    """A law, or a bare function of (speed, normal) as one."""
    if isinstance(value, (FrictionLaw, BristleLaw)):
        return value
    if callable(value) and not isinstance(value, type):
        return CustomFriction(value, getattr(value, "switches", ()))
    raise ModelError.of(part, field, "must be a friction law or a function of (speed, normal)", value)


FRICTION_LAWS: tuple[type[FrictionLaw] | type[BristleLaw], ...] = (
    Coulomb, CoulombStiction, CoulombViscous, Stribeck, Threlfall, BengisuAkay, Ambrosio, Karnopp,
    Dahl, LuGre, GonthierFriction,
)  # fmt: skip
JOINT_FRICTION_LAWS = (*FRICTION_LAWS, DryFriction)  # of joints; those above are of contacts too


# --------------------------------------------------------------------------------------------------- shared formulas


def _stribeck_curve(law: Any, speed: Scalar) -> Scalar:
    """mu_k + (mu_s - mu_k) exp(-(v/vs)^p)."""
    return law.mu_kinetic + (law.mu_static - law.mu_kinetic) * exp(-((speed / law.v_stribeck) ** law.exponent))


def _positive(law: Any, **units: str) -> None:
    for name, unit in units.items():
        object.__setattr__(law, name, check.positive(type(law).__name__, name, getattr(law, name), unit))


def _not_negative(law: Any, **units: str) -> None:
    for name, unit in units.items():
        object.__setattr__(law, name, check.not_negative(type(law).__name__, name, getattr(law, name), unit))


def _two_coefficients(law: Any, zero: bool = True) -> None:
    """mu_static >= mu_kinetic >= 0, or > 0 where the law divides by them."""
    (_not_negative if zero else _positive)(law, mu_kinetic="", mu_static="")
    if law.mu_static < law.mu_kinetic:
        rule = f"must be >= mu_kinetic = {law.mu_kinetic!r}"
        raise ModelError.of(type(law).__name__, "mu_static", rule, law.mu_static)


def _above(law: Any, field: str, other: str, unit: str) -> None:
    if not getattr(law, field) > getattr(law, other):
        rule = f"must be > {other} = {getattr(law, other)!r} {unit}"
        raise ModelError.of(type(law).__name__, field, rule, getattr(law, field))
