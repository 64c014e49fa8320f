"""Normal laws: how hard two bodies push apart for the depth and the rate at which they overlap.

Most are F = K d^n (1 + c d'/d0') with d0' the speed at first touch and c a function of the restitution e asked. Between two
free bodies such a law delivers an e' that solves c (1 + e') = ln((1 + c)/(1 - c e')), whatever K, n, the masses and d0';
`delivered` tells it next to the one `asked`. Force never pulls unless `pulls`: the laws do not clamp, the contact does.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from pliant.errors import ModelError
from pliant.model import check
from pliant.scalar import Scalar, exp

# m/s. d'/d0' has no meaning for a contact that begins at rest: below this speed d0' counts as the floor. A contact that begins
# slower has its damping scaled by d0'/floor and so rebounds with more than it is asked, towards 1 as d0' goes to zero; one that
# rests is damped as one that came at the floor. Lower: true to e for slower bounces, but stiffer at rest (damping ratio ~ 1/floor).
ENTRY_FLOOR = 1e-3


@dataclass(frozen=True, kw_only=True)
class NormalLaw:
    """A normal force over any scalar, for depth >= 0 and an entry speed not below `entry_floor`."""

    pulls: bool = False  # whether the force may pull while closed
    entry_floor: float = ENTRY_FLOOR  # m/s

    def __post_init__(self) -> None:
        part = type(self).__name__
        check.instance(part, "pulls", self.pulls, bool, "True or False")
        object.__setattr__(self, "entry_floor", check.positive(part, "entry_floor", self.entry_floor, "m/s"))

    def force(self, depth: Scalar, rate: Scalar, entry_speed: Scalar) -> Scalar:
        """N, pushing apart, not clamped; rate > 0 while the bodies approach."""
        raise NotImplementedError

    def elastic(self, depth: Scalar) -> Scalar:
        """The part of the force that gives its work back, N."""
        raise NotImplementedError

    def stored(self, depth: Scalar) -> Scalar:
        """The work the elastic part holds, J."""
        raise NotImplementedError

    @property
    def can_pull(self) -> bool:
        """Whether the force, not clamped, can become negative while closed: for bodies drawn apart fast enough."""
        return True

    @property
    def asked(self) -> float | None:
        """The restitution the user asked for, where the law has one."""
        return None

    @property
    def delivered(self) -> float | None:
        """Speed after over speed before between two free bodies; None where that depends on masses and speed."""
        return None

    def delivered_between(self, mass: float, speed: float) -> float | None:
        """The same for a reduced mass m1 m2/(m1 + m2), kg, and a speed at first touch, m/s; None where unknown."""
        return self.delivered

    def describe(self) -> str:
        """Asked and delivered, in one line."""
        asked = "" if self.asked is None else f"{self.asked:g} asked, "
        delivered = "delivered depends on masses and speed" if self.delivered is None else f"{self.delivered:.6f} delivered"
        return f"{type(self).__name__}: restitution {asked}{delivered}"


@dataclass(frozen=True, kw_only=True)
class PowerLaw(NormalLaw):
    """Elastic part K d^n."""

    stiffness: float  # K, N/m^n
    exponent: float = 1.5  # n; 1.5 for round bodies, 1 for flat ones

    def __post_init__(self) -> None:
        super().__post_init__()
        part = type(self).__name__
        exponent = check.number(part, "exponent", self.exponent)
        if exponent < 1.0:  # the slope at first touch would be infinite
            raise ModelError.of(part, "exponent", "must be >= 1", self.exponent)
        object.__setattr__(self, "exponent", exponent)
        object.__setattr__(self, "stiffness", check.positive(part, "stiffness", self.stiffness, f"N/m^{exponent:g}"))

    def elastic(self, depth: Scalar) -> Scalar:
        return self.stiffness * depth**self.exponent

    def stored(self, depth: Scalar) -> Scalar:
        return self.stiffness / (self.exponent + 1.0) * depth ** (self.exponent + 1.0)


@dataclass(frozen=True, kw_only=True)
class Hertz(PowerLaw):
    """F = K d^n.  Hertz 1882. Loses nothing."""

    def force(self, depth: Scalar, rate: Scalar, entry_speed: Scalar) -> Scalar:
        return self.elastic(depth)

    @property
    def can_pull(self) -> bool:
        return False

    @property
    def asked(self) -> float:
        return 1.0

    @property
    def delivered(self) -> float:
        return 1.0


# ------------------------------------------------------------------------------------------- F = K d^n (1 + c d'/d0')


@dataclass(frozen=True, kw_only=True)
class HysteresisLaw(PowerLaw):
    """F = K d^n (1 + c d'/d0'); each law is one formula for c, the `factor`, of the restitution e asked."""

    restitution: float  # e asked, in (0, 1]

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "restitution", _restitution(type(self).__name__, self.restitution))

    @property
    def factor(self) -> float:
        """c(e)."""
        raise NotImplementedError

    def force(self, depth: Scalar, rate: Scalar, entry_speed: Scalar) -> Scalar:
        return self.elastic(depth) * (1.0 + self.factor * rate / entry_speed)

    @property
    def can_pull(self) -> bool:
        return self.factor > 0.0

    @property
    def asked(self) -> float:
        return self.restitution

    @cached_property
    def delivered(self) -> float:
        return delivered_restitution(self.factor)

    def delivered_between(self, mass: float, speed: float) -> float:
        """Independent of the mass; a contact slower than the floor has only a part of its damping."""
        return delivered_restitution(self.factor * min(speed / self.entry_floor, 1.0))


@dataclass(frozen=True, kw_only=True)
class HuntCrossley(HysteresisLaw):
    """c = 3(1-e)/2.  Hunt and Crossley 1975; Yousefzadeh and Shafei 2024, eq. 21. For e near 1."""

    @property
    def factor(self) -> float:
        return 1.5 * (1.0 - self.restitution)


@dataclass(frozen=True, kw_only=True)
class HerbertMcWhannell(HysteresisLaw):
    """c = 6(1-e)/((2e-1)^2 + 3).  Herbert and McWhannell 1977."""

    @property
    def factor(self) -> float:
        return 6.0 * (1.0 - self.restitution) / ((2.0 * self.restitution - 1.0) ** 2 + 3.0)


@dataclass(frozen=True, kw_only=True)
class LeeWang(HysteresisLaw):
    """c = 3(1-e)/4.  Lee and Wang 1983."""

    @property
    def factor(self) -> float:
        return 0.75 * (1.0 - self.restitution)


@dataclass(frozen=True, kw_only=True)
class LankaraniNikravesh(HysteresisLaw):
    """c = 3(1-e^2)/4.  Lankarani and Nikravesh 1990; Ebrahimi, Nouri, Salahshoor, eq. 24, 26. For e near 1."""

    @property
    def factor(self) -> float:
        return 0.75 * (1.0 - self.restitution**2)


@dataclass(frozen=True, kw_only=True)
class Gonthier(HysteresisLaw):
    """c = (1-e^2)/e.  Gonthier, McPhee, Lange, Piedboeuf 2004, the approximation d = 1 - e^2 of its eq. 13."""

    @property
    def factor(self) -> float:
        return (1.0 - self.restitution**2) / self.restitution


@dataclass(frozen=True, kw_only=True)
class ZhiyingQishao(HysteresisLaw):
    """c = 3(1-e^2) exp(2(1-e))/4.  Qin and Lu (Zhiying and Qishao) 2006."""

    @property
    def factor(self) -> float:
        return 0.75 * (1.0 - self.restitution**2) * exp(2.0 * (1.0 - self.restitution))  # type: ignore[no-any-return]


@dataclass(frozen=True, kw_only=True)
class Flores(HysteresisLaw):
    """c = 8(1-e)/(5e).  Flores, Machado, Silva, Martins 2011; Yousefzadeh and Shafei 2024, eq. 22."""

    @property
    def factor(self) -> float:
        return 1.6 * (1.0 - self.restitution) / self.restitution


@dataclass(frozen=True, kw_only=True)
class GharibHurmuzlu(HysteresisLaw):
    """c = 1/e.  Gharib and Hurmuzlu 2012. For e near 0 alone: asked for 1 it delivers 0.594."""

    @property
    def factor(self) -> float:
        return 1.0 / self.restitution


@dataclass(frozen=True, kw_only=True)
class HuGuo(HysteresisLaw):
    """c = 3(1-e)/(2e).  Hu and Guo 2015; Yousefzadeh and Shafei 2024, eq. 23."""

    @property
    def factor(self) -> float:
        return 1.5 * (1.0 - self.restitution) / self.restitution


@dataclass(frozen=True, kw_only=True)
class CarvalhoMartins(HysteresisLaw):
    """c = 3(1-e)(11-e)/(2(1+9e)).  Carvalho and Martins 2019. Within 5e-3 of e from 0.3 on."""

    @property
    def factor(self) -> float:
        e = self.restitution
        return 1.5 * (1.0 - e) * (11.0 - e) / (1.0 + 9.0 * e)


@dataclass(frozen=True, kw_only=True)
class SafaeifarFarshidianfar(HysteresisLaw):
    """c = 5(1-e)/(4e).  Safaeifar and Farshidianfar 2020."""

    @property
    def factor(self) -> float:
        return 1.25 * (1.0 - self.restitution) / self.restitution


@dataclass(frozen=True, kw_only=True)
class Exact(HysteresisLaw):
    """c such that the restitution asked is the one delivered, at any e: c (1 + e) = ln((1 + c)/(1 - c e))."""

    DERIVED: ClassVar[tuple[str, ...]] = ("factor",)

    @cached_property
    def factor(self) -> float:
        return exact_factor(self.restitution)


@dataclass(frozen=True, kw_only=True)
class FixedHuntCrossley(PowerLaw):
    """F = K d^n (1 + chi d') with chi given: the entry speed plays no part.  Marhefka and Orin 1999, chi = 3 alpha/2.

    A contact that begins at v0 sees c = chi v0. Hunt and Crossley's law for one known impact is chi = 3(1-e)/(2 v0).
    """

    chi: float  # s/m

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "chi", check.not_negative(type(self).__name__, "chi", self.chi, "s/m"))

    def force(self, depth: Scalar, rate: Scalar, entry_speed: Scalar) -> Scalar:
        return self.elastic(depth) * (1.0 + self.chi * rate)

    @property
    def can_pull(self) -> bool:
        return self.chi > 0.0

    def delivered_between(self, mass: float, speed: float) -> float:
        return delivered_restitution(self.chi * speed)


# ------------------------------------------------------------------------------------- elastic part and a dashpot


@dataclass(frozen=True, kw_only=True)
class WangYanFangJin(PowerLaw):
    """F = K d^n + c d' with a constant c.  Wang, Yan, Fang, Jin 2012, eq. 15.

    The print sets d = d_n, which is negative while closed, and gives c in N/(s m^0.5): here d = -d_n and c is in N s/m.
    The force jumps to c d0' at first touch, and falls to zero before the gap opens.
    """

    damping: float  # c, N s/m

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "damping", check.not_negative(type(self).__name__, "damping", self.damping, "N s/m"))

    def force(self, depth: Scalar, rate: Scalar, entry_speed: Scalar) -> Scalar:
        return self.elastic(depth) + self.damping * rate

    @property
    def can_pull(self) -> bool:
        return self.damping > 0.0

    def delivered_between(self, mass: float, speed: float) -> float:
        """By integrating x'' = -(x^n + k x') from x = 0, x' = 1, with k = c L/(m v), L = (m v^2/K)^(1/(n+1))."""
        length = (mass * speed**2 / self.stiffness) ** (1.0 / (self.exponent + 1.0))
        return _dashpot_restitution(self.damping * length / (mass * speed), self.exponent, self.pulls)


@dataclass(frozen=True, kw_only=True)
class Linear(PowerLaw):
    """F = K d + D d'.  Kelvin and Voigt's spring and dashpot (Goldsmith 1960), with D given or from a restitution.

    The restitution of this law depends on the reduced mass m of the two bodies, not on the speed, through z = D/(2 sqrt(K m)).
    A force that may not pull ends where K d + D d' = 0, and e = exp(-2 z arccos(z)/sqrt(1 - z^2)), arccosh beyond z = 1
    (Schwager and Poeschel 2007, in one line); one that pulls ends at d = 0, and e = exp(-pi z/sqrt(1 - z^2)), 0 from z = 1 on.
    """

    DERIVED: ClassVar[tuple[str, ...]] = ("coefficient",)

    exponent: float = 1.0
    damping: float | None = None  # D, N s/m; or
    restitution: float | None = None  # e asked, in (0, 1], with
    mass: float | None = None  # m = m1 m2/(m1 + m2), kg; the mass itself against the ground

    def __post_init__(self) -> None:
        super().__post_init__()
        part = type(self).__name__
        if self.exponent != 1.0:
            raise ModelError.of(part, "exponent", "must be 1", self.exponent)
        if (self.damping is None) == (self.restitution is None):
            given = f"damping = {self.damping!r} and restitution = {self.restitution!r}"
            raise ModelError(f"{part}: give damping, or restitution and mass, got {given}")
        if self.mass is not None:
            object.__setattr__(self, "mass", check.positive(part, "mass", self.mass, "kg"))
        if self.damping is not None:
            object.__setattr__(self, "damping", check.not_negative(part, "damping", self.damping, "N s/m"))
        else:
            object.__setattr__(self, "restitution", _restitution(part, self.restitution))
            if self.mass is None:
                raise ModelError.of(part, "mass", "must be the reduced mass in kg when restitution is given", None)

    @cached_property
    def coefficient(self) -> float:
        """D, given or found, N s/m."""
        if self.damping is not None:
            return self.damping
        assert self.restitution is not None and self.mass is not None  # checked when made
        ratio = _linear_ratio(self.restitution, self.pulls)
        return 2.0 * ratio * math.sqrt(self.stiffness * self.mass)

    def force(self, depth: Scalar, rate: Scalar, entry_speed: Scalar) -> Scalar:
        return self.elastic(depth) + self.coefficient * rate

    @property
    def can_pull(self) -> bool:
        return self.coefficient > 0.0

    @property
    def asked(self) -> float | None:
        return self.restitution

    @property
    def delivered(self) -> float | None:
        return None if self.mass is None else self.delivered_between(self.mass, 1.0)

    def delivered_between(self, mass: float, speed: float) -> float:
        return _linear_restitution(self.coefficient / (2.0 * math.sqrt(self.stiffness * mass)), self.pulls)


# ------------------------------------------------------------------------------------------------------ a user's own


@dataclass(frozen=True)
class CustomNormal(NormalLaw):
    """F = function(depth, rate, entry_speed), written with pliant's functions over any scalar.

    `energy(depth)` is the work its elastic part holds, J. Without it nothing counts as stored: all the work the force
    takes is then in the ledger as dissipated, and what it gives back as dissipated with the other sign.
    """

    function: Callable[..., Any]
    energy: Callable[..., Any] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        rule = "must be a function of (depth, rate, entry_speed)"
        if not callable(self.function) or isinstance(self.function, type):
            raise ModelError.of("CustomNormal", "function", rule, self.function)
        if self.energy is not None and not callable(self.energy):
            raise ModelError.of("CustomNormal", "energy", "must be a function of depth or None", self.energy)

    def force(self, depth: Scalar, rate: Scalar, entry_speed: Scalar) -> Scalar:
        return self.function(depth, rate, entry_speed)

    def elastic(self, depth: Scalar) -> Scalar:
        """What it gives at rest."""
        return self.function(depth, 0.0, self.entry_floor)

    def stored(self, depth: Scalar) -> Scalar:
        return 0.0 if self.energy is None else self.energy(depth)

    def describe(self) -> str:
        return f"{getattr(self.function, '__name__', 'CustomNormal')}: restitution not known before the run"


def normal_law(part: str, field: str, value: Any) -> NormalLaw:
    """A law, or a bare function of (depth, rate, entry_speed) as one."""
    if isinstance(value, NormalLaw):
        return value
    if callable(value) and not isinstance(value, type):
        return CustomNormal(value)
    raise ModelError.of(part, field, "must be a normal law or a function of (depth, rate, entry_speed)", value)


NORMAL_LAWS: tuple[type[NormalLaw], ...] = (
    Linear, Hertz, HuntCrossley, HerbertMcWhannell, LeeWang, LankaraniNikravesh, Gonthier, ZhiyingQishao, Flores,
    GharibHurmuzlu, HuGuo, CarvalhoMartins, SafaeifarFarshidianfar, Exact, FixedHuntCrossley, WangYanFangJin,
)  # fmt: skip


# ------------------------------------------------------------------------------------ restitution of free bodies


def delivered_restitution(factor: float) -> float:
    """The e' that solves c (1 + e') = ln((1 + c)/(1 - c e')), e' > 0, for any c >= 0.

    With y = -ln(1 - c e') it reads y - (1 - exp(-y)) = c - ln(1 + c): convex and rising in y, so Newton from the
    right never fails, and y keeps its digits where c e' has run into 1.
    """
    wanted = _less_log(factor)
    if wanted == 0.0:  # no damping, or so little that its square has no digits
        return 1.0
    y = min(wanted + 1.0, wanted + math.sqrt(2.0 * wanted))  # both lie to the right of the root
    for _ in range(NEWTON_LIMIT):
        step = (_less_rise(y) - wanted) / -math.expm1(-y)
        y -= step
        if abs(step) <= ROUND_OFF * y:
            break
    return -math.expm1(-y) / factor


def exact_factor(restitution: float) -> float:
    """The c > 0 that delivers e: the root of c - ln(1 + c) = y - (1 - exp(-y)), c = (1 - exp(-y))/e; 0 for e = 1."""
    if restitution == 1.0:
        return 0.0

    def factor(y: float) -> float:
        return -math.expm1(-y) / restitution

    # c > 1 - e at any e, and c e < 1 leaves y <= 1 + 1/e - ln(1 + 1/e)
    low, high = -math.log1p(-restitution * (1.0 - restitution)), 1.0 + _less_log(1.0 / restitution)
    return factor(_bisect(lambda y: _less_log(factor(y)) - _less_rise(y), low, high))


NEWTON_LIMIT = 60  # steps; from the starts above it takes under 10
ROUND_OFF = 1e-16  # relative
SERIES_BELOW = 0.1  # below this the differences of two near numbers are summed from their series


def _less_log(x: float) -> float:
    """x - ln(1 + x) = x^2/2 - x^3/3 + ..., without cancellation, for x >= 0."""
    return _series(x, lambda k: 1.0 / k) if x < SERIES_BELOW else x - math.log1p(x)


def _less_rise(y: float) -> float:
    """y - (1 - exp(-y)) = y^2/2! - y^3/3! + ..., without cancellation, for y >= 0."""
    return _series(y, lambda k: 1.0 / math.factorial(k)) if y < SERIES_BELOW else y + math.expm1(-y)


def _series(x: float, coefficient: Callable[[int], float]) -> float:
    """x^2 a2 - x^3 a3 + ... to round-off for x < SERIES_BELOW."""
    return math.fsum((-1.0) ** k * coefficient(k) * x**k for k in range(2, 18))


def _linear_restitution(ratio: float, pulls: bool) -> float:
    """e of a spring and dashpot of damping ratio z (Linear)."""
    rest = math.sqrt(abs((1.0 - ratio) * (1.0 + ratio)))
    if pulls:
        return math.exp(-math.pi * ratio / rest) if ratio < 1.0 else 0.0
    angle = math.atan2(rest, ratio) if ratio < 1.0 else math.asinh(rest)  # arccos z, arccosh z
    return math.exp(-2.0 * ratio * (angle / rest if rest else 1.0))


def _linear_ratio(restitution: float, pulls: bool) -> float:
    """The damping ratio z that delivers e."""
    lost = -math.log(restitution)
    if pulls:
        return lost / math.hypot(math.pi, lost)
    high = max(1.0, 1.0 / math.sqrt(restitution))  # e < 1/z^2 from z = 1 on
    return _bisect(lambda z: -math.log(_linear_restitution(z, pulls)) - lost, 0.0, high) if lost else 0.0


def _dashpot_restitution(damping: float, exponent: float, pulls: bool) -> float:
    """e of x'' = -(x^n + k x'), x(0) = 0, x'(0) = 1, until the force, or x where it pulls, is zero again."""
    from scipy.integrate import solve_ivp  # slow to import, seldom needed

    def force(x: float, u: float) -> float:
        return float(max(x, 0.0) ** exponent + damping * u)

    def ends(t: float, y: Any) -> float:
        return float(y[0]) if pulls else force(y[0], y[1])

    ends.terminal, ends.direction = True, -1  # type: ignore[attr-defined]
    run = solve_ivp(lambda t, y: (y[1], -force(*y)), (0.0, LONGEST_IMPACT), (0.0, 1.0), "DOP853", events=ends,
                    rtol=1e-12, atol=1e-14)  # fmt: skip
    return float(-run.y_events[0][0][1]) if run.t_events[0].size else 0.0  # a force that pulls may never let go


LONGEST_IMPACT = 60.0  # in units of L/v, of which an undamped impact takes 3; past it nothing rebounds


def _bisect(function: Callable[[float], float], low: float, high: float) -> float:
    """The root between two signs, to the last bit."""
    falls = function(low) > 0.0
    while low < (middle := 0.5 * (low + high)) < high:
        if (function(middle) > 0.0) == falls:
            low = middle
        else:
            high = middle
    return middle


def _restitution(part: str, value: Any) -> float:
    clean = check.number(part, "restitution", value)
    if not 0.0 < clean <= 1.0:
        raise ModelError.of(part, "restitution", "must be in (0, 1]", value)
    return clean
