"""Normal laws: the force that pushes two bodies apart, from the depth of their overlap and its rate.

Most are F = K d^n (1 + c d'/d0'), where d0' is the speed at first contact and c a function of the requested restitution e. Between
two free bodies such a law delivers the e' that solves c (1 + e') = ln((1 + c)/(1 - c e')), for any K, n, masses and d0'. `asked` is
the requested restitution and `delivered` the delivered one. The force never pulls unless `pulls` is set; the contact, not the law,
clamps it at zero.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from pliant.errors import ModelError
from pliant.model import check
from pliant.model.parameter import expression_of
from pliant.scalar import Scalar, call_law, exp

# m/s. d'/d0' is undefined for a contact that begins at rest, so lower entry speeds count as this floor. A contact that begins at a
# lower speed has its damping scaled by d0'/floor and rebounds with a restitution above the requested one, towards 1 as d0' goes to
# zero; a contact that begins at rest is damped as if it began at the floor. A lower floor keeps e correct for slower bounces but
# makes the contact stiffer at rest (damping ratio ~ 1/floor).
ENTRY_FLOOR = 1e-3
REST_SPEED = 1e-4  # m/s: a slower approach of an impulsive contact ends at rest; under gravity its rebound would rise by 0.5 nm
SAMPLED_DEPTHS = (1e-6, 1e-4, 1e-2)  # m, at which the sign of a user's law is looked at; forces of adhesion act at small ones
IMPACT_KINDS = ("newton", "poisson")


@dataclass(frozen=True, kw_only=True)
class NormalLaw:
    """A normal law: a force over any scalar, for depth >= 0 and an entry speed >= `entry_floor`."""

    pulls: bool = False  # whether the force may pull while closed
    entry_floor: float = ENTRY_FLOOR  # m/s

    def __post_init__(self) -> None:
        part = type(self).__name__
        check.instance(part, "pulls", self.pulls, bool, "True or False")
        object.__setattr__(self, "entry_floor", check.positive(part, "entry_floor", self.entry_floor, "m/s"))

    def force(self, depth: Scalar, rate: Scalar, entry_speed: Scalar) -> Scalar:
        """The force that pushes the bodies apart, N, not clamped; rate > 0 while they approach."""
        raise NotImplementedError

    def elastic(self, depth: Scalar) -> Scalar:
        """The conservative part of the force, N."""
        raise NotImplementedError

    def stored(self, depth: Scalar) -> Scalar:
        """The energy stored in the elastic part, J."""
        raise NotImplementedError

    @property
    def can_pull(self) -> bool:
        """Whether the unclamped force can become negative while closed, if the bodies separate fast enough."""
        return True

    @property
    def has_corner(self) -> bool:
        """Whether the force comes to zero while the bodies still overlap, as that of a dashpot does: there it has a corner."""
        return self.can_pull and not self.pulls

    @property
    def asked(self) -> float | Any:
        """The requested restitution; None if the law has none."""
        return None

    @property
    def delivered(self) -> float | Any:
        """The delivered restitution of two free bodies (speed after/speed before); None if it depends on masses and speed."""
        return None

    def delivered_between(self, mass: float, speed: float) -> float | None:
        """The delivered restitution for a reduced mass m1 m2/(m1 + m2), kg, and an entry speed, m/s; None if unknown."""
        return self.delivered

    def describe(self) -> str:
        """The requested and the delivered restitution, in one line."""
        asked = "" if self.asked is None else f"{self.asked:g} asked, "
        delivered = "delivered depends on masses and speed" if self.delivered is None else f"{self.delivered:.6f} delivered"
        return f"{type(self).__name__}: restitution {asked}{delivered}"


@dataclass(frozen=True, kw_only=True)
class PowerLaw(NormalLaw):
    """A law with the elastic part K d^n."""

    stiffness: float  # K, N/m^n
    exponent: float = 1.5  # n; 1.5 for round bodies, 1 for flat ones

    def __post_init__(self) -> None:
        super().__post_init__()
        part = type(self).__name__
        exponent = check.number(part, "exponent", self.exponent)
        if exponent < 1.0:  # the slope at depth 0 would be infinite
            raise ModelError.of(part, "exponent", "must be >= 1", self.exponent)
        object.__setattr__(self, "exponent", exponent)
        object.__setattr__(self, "stiffness", check.positive(part, "stiffness", self.stiffness, f"N/m^{exponent:g}"))

    def elastic(self, depth: Scalar) -> Scalar:
        return self.stiffness * depth**self.exponent

    def stored(self, depth: Scalar) -> Scalar:
        return self.stiffness / (self.exponent + 1.0) * depth ** (self.exponent + 1.0)


@dataclass(frozen=True, kw_only=True)
class Hertz(PowerLaw):
    """F = K d^n.  Hertz 1882. An elastic law without losses."""

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
class DampedLaw(NormalLaw):
    """F = f(d) (1 + c d'/d0') with any elastic part f; what it delivers depends on c alone."""

    restitution: float  # e asked, in (0, 1]

    def __post_init__(self) -> None:
        super().__post_init__()
        check.fields(self, check.share, restitution="")

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
        """Independent of the mass. At entry speeds below the floor the damping is reduced, so the restitution is higher."""
        return delivered_restitution(self.factor * min(speed / self.entry_floor, 1.0))


@dataclass(frozen=True, kw_only=True)
class HysteresisLaw(DampedLaw, PowerLaw):
    """F = K d^n (1 + c d'/d0'). Each law is a formula for c, the `factor`, as a function of the requested restitution e."""

    @property
    def has_corner(self) -> bool:
        return False  # it comes to zero with the depth, unless something else tears the bodies apart


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
    """c = 1/e.  Gharib and Hurmuzlu 2012. Only for e near 0: for a requested restitution of 1 it delivers 0.594."""

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
    """c = 3(1-e)(11-e)/(2(1+9e)).  Carvalho and Martins 2019. Delivers e within 5e-3 for e >= 0.3."""

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
    """The c that delivers exactly the requested restitution, for any e: c (1 + e) = ln((1 + c)/(1 - c e))."""

    DERIVED: ClassVar[tuple[str, ...]] = ("factor",)

    @cached_property
    def factor(self) -> float:
        return exact_factor(self.restitution)


@dataclass(frozen=True, kw_only=True)
class FixedHuntCrossley(PowerLaw):
    """F = K d^n (1 + chi d') with a given chi, independent of the entry speed.  Marhefka and Orin 1999, chi = 3 alpha/2.

    A contact with the entry speed v0 has c = chi v0. For one known impact, chi = 3(1-e)/(2 v0) gives Hunt and Crossley's law.
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

    @property
    def has_corner(self) -> bool:
        return False  # it comes to zero with the depth, unless something else tears the bodies apart

    def delivered_between(self, mass: float, speed: float) -> float:
        return delivered_restitution(self.chi * speed)


# ------------------------------------------------------------------------------------- elastic part and dashpot


@dataclass(frozen=True, kw_only=True)
class WangYanFangJin(PowerLaw):
    """F = K d^n + c d' with a constant c.  Wang, Yan, Fang, Jin 2012, eq. 15.

    The paper sets d = d_n, which is negative while closed, and gives c in N/(s m^0.5); here d = -d_n and c is in N s/m.
    The force jumps to c d0' at first contact and falls to zero before the gap opens.
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
class PowerDamping(PowerLaw):
    """F = K d^n + chi d^m d' with n and m free: the general form of Yousefzadeh and Shafei 2024, eq. 20; Hunt and Crossley 1975.

    With m = n it is FixedHuntCrossley, whose chi is this one over K; with m = 0 it is WangYanFangJin. The restitution depends on
    the masses and on the speed.
    """

    chi: float  # N s/m/m^n, where n is damping_exponent
    damping_exponent: float = 1.5  # m: 0, or at least 1

    def __post_init__(self) -> None:
        super().__post_init__()
        part = type(self).__name__
        power = check.number(part, "damping_exponent", self.damping_exponent)
        if power != 0.0 and power < 1.0:  # the slope at depth 0 would be infinite
            raise ModelError.of(part, "damping_exponent", "must be 0 or >= 1", self.damping_exponent)
        object.__setattr__(self, "damping_exponent", power)
        object.__setattr__(self, "chi", check.not_negative(part, "chi", self.chi, f"N s/m^{power + 1.0:g}"))

    def force(self, depth: Scalar, rate: Scalar, entry_speed: Scalar) -> Scalar:
        return self.elastic(depth) + self.chi * depth**self.damping_exponent * rate

    @property
    def can_pull(self) -> bool:
        return self.chi > 0.0

    def delivered_between(self, mass: float, speed: float) -> float:
        """By integrating x'' = -(x^n + k x^m x') from x = 0, x' = 1, with k = chi L^(m+1)/(mass v), L = (mass v^2/K)^(1/(n+1))."""
        length = (mass * speed**2 / self.stiffness) ** (1.0 / (self.exponent + 1.0))
        damping = self.chi * length ** (self.damping_exponent + 1.0) / (mass * speed)
        return _dashpot_restitution(damping, self.exponent, self.pulls, self.damping_exponent)


@dataclass(frozen=True, kw_only=True)
class Linear(PowerLaw):
    """F = K d + D d'.  Kelvin-Voigt spring and dashpot (Goldsmith 1960); D is given or follows from a restitution and a mass.

    The restitution depends on the reduced mass m of the two bodies, but not on the speed, through z = D/(2 sqrt(K m)). If the
    force may not pull, contact ends at K d + D d' = 0 and e = exp(-2 z arccos(z)/sqrt(1 - z^2)), with arccosh beyond z = 1
    (Schwager and Poeschel 2007). If it may pull, contact ends at d = 0 and e = exp(-pi z/sqrt(1 - z^2)), which is 0 from z = 1 on.
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
            raise ModelError(f"{part}: either damping, or restitution and mass, must be given, got {given}")
        check.fields(self, check.positive, mass="kg")
        check.fields(self, check.not_negative, damping="N s/m")
        check.fields(self, check.share, restitution="")
        if self.restitution is not None and self.mass is None:
            raise ModelError.of(part, "mass", "must be the reduced mass in kg when restitution is given", None)

    @cached_property
    def coefficient(self) -> float:
        """D, given or computed from the restitution, N s/m."""
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
    def asked(self) -> float | Any:
        return self.restitution

    @property
    def delivered(self) -> float | Any:
        return None if self.mass is None else self.delivered_between(self.mass, 1.0)

    def delivered_between(self, mass: float, speed: float) -> float:
        return _linear_restitution(self.coefficient / (2.0 * math.sqrt(self.stiffness * mass)), self.pulls)


# ------------------------------------------------------------------------------------------------------ a user's law


@dataclass(frozen=True)
class CustomNormal(NormalLaw):
    """A normal law of your own: F = function(depth, rate, entry_speed), written with pliant's mathematical functions.

    energy(depth): energy stored in the elastic part, J. Without it nothing counts as stored: the ledger then books all work done
    against the force as dissipated, and work that the force gives back as negative dissipation.
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
        if not self.pulls:
            self._check_that_it_pushes()

    def _check_that_it_pushes(self) -> None:
        """Refuse a force of the wrong sign: clamped at zero, it would let bodies fall through each other without a word."""
        forces = []
        for depth in SAMPLED_DEPTHS:
            with suppress(Exception):  # what goes wrong inside is reported when the law is traced
                force = self.function(depth, 0.0, ENTRY_FLOOR)
                forces.append(float(getattr(expression_of(force), "value", force)))
        if forces and max(forces) < 0.0:
            rule = f"must give a force >= 0 N at rest at some depth, such as {depth} m, or pulls must be True"
            raise ModelError.of("CustomNormal", "function", rule, forces[-1])

    def force(self, depth: Scalar, rate: Scalar, entry_speed: Scalar) -> Scalar:
        return call_law(self.function, depth, rate, entry_speed)

    def elastic(self, depth: Scalar) -> Scalar:
        """The force at zero rate."""
        return call_law(self.function, depth, 0.0, self.entry_floor)

    def stored(self, depth: Scalar) -> Scalar:
        return 0.0 if self.energy is None else call_law(self.energy, depth)

    def describe(self) -> str:
        return f"{getattr(self.function, '__name__', 'CustomNormal')}: restitution not known before the run"


@dataclass(frozen=True, kw_only=True)
class Impulsive(NormalLaw):
    """Impacts without duration: the speeds jump, by impulses of all contacts that touch.  Newton 1687; Poisson 1817; Moreau 1988.

    kind "newton": the separation speed is `restitution` times the approach speed; "poisson": the impulse of the expansion is
    `restitution` times that of the compression. Friction is by impulse, within its cone. If friction and restitution together would
    create energy, as in Kane's paradox, the restitution of that impact is lowered until they do not. An approach slower than
    `entry_floor` has no rebound: a sequence of ever shorter bounces ends so, and the contact rests, held by a force that cannot
    pull.
    """

    OUTSIDE_EQUATIONS: ClassVar[tuple[str, ...]] = ("restitution", "kind")

    restitution: float  # e, in [0, 1]
    kind: str = "newton"
    entry_floor: float = REST_SPEED  # m/s

    def __post_init__(self) -> None:
        super().__post_init__()
        part = type(self).__name__
        restitution = check.number(part, "restitution", self.restitution)
        if not 0.0 <= restitution <= 1.0:
            raise ModelError.of(part, "restitution", "must be in [0, 1]", self.restitution)
        object.__setattr__(self, "restitution", restitution)
        check.choice(part, "kind", self.kind, IMPACT_KINDS)
        if self.pulls:
            raise ModelError.of(part, "pulls", "must be False: an impulse only pushes", self.pulls)

    def force(self, depth: Scalar, rate: Scalar, entry_speed: Scalar) -> Scalar:
        raise ModelError.of(type(self).__name__, "force", "must be solved for by a run: it is no function of the depth", depth)

    def elastic(self, depth: Scalar) -> Scalar:
        return 0.0

    def stored(self, depth: Scalar) -> Scalar:
        return 0.0

    @property
    def asked(self) -> float:
        return self.restitution

    @property
    def delivered(self) -> float:
        return self.restitution


def check_impulsive(part: str, normal: NormalLaw, friction: object) -> None:
    """Friction of impulsive contacts must have a coefficient, for the cone of the impulses, and no states."""
    known = hasattr(friction, "mu") or hasattr(friction, "mu_kinetic")
    if isinstance(normal, Impulsive) and friction is not None and not (known and friction.states == 0):  # type: ignore[attr-defined]
        rule = "must be a law with a coefficient and without states (such as Karnopp or Coulomb) if normal is Impulsive"
        raise ModelError.of(part, "friction", rule, friction)


def normal_law(part: str, field: str, value: Any) -> NormalLaw:
    """A normal law from a law or from a function of (depth, rate, entry_speed)."""
    if isinstance(value, NormalLaw):
        return value
    if callable(value) and not isinstance(value, type):
        return CustomNormal(value)
    raise ModelError.of(part, field, "must be a normal law or a function of (depth, rate, entry_speed)", value)


NORMAL_LAWS: tuple[type[NormalLaw], ...] = (
    Linear, Hertz, HuntCrossley, HerbertMcWhannell, LeeWang, LankaraniNikravesh, Gonthier, ZhiyingQishao, Flores,
    GharibHurmuzlu, HuGuo, CarvalhoMartins, SafaeifarFarshidianfar, Exact, FixedHuntCrossley, WangYanFangJin, PowerDamping,
)  # fmt: skip


# ------------------------------------------------------------------------------------ restitution of free bodies


def delivered_restitution(factor: float) -> float:
    """The e' that solves c (1 + e') = ln((1 + c)/(1 - c e')), e' > 0, for any c >= 0.

    With y = -ln(1 - c e') the equation becomes y - (1 - exp(-y)) = c - ln(1 + c). It is convex and increasing in y, so Newton's
    method started to the right of the root always converges, and y stays accurate where c e' rounds to 1.
    """
    wanted = _less_log(factor)
    if wanted == 0.0:  # no damping, or so little that its square underflows
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
SERIES_BELOW = 0.1  # below this, differences of nearly equal numbers are summed from their series


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
    """The restitution of a spring and dashpot (Linear) with damping ratio z."""
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


def _dashpot_restitution(damping: float, exponent: float, pulls: bool, power: float = 0.0) -> float:
    """The restitution of x'' = -(x^n + k x^m x'), x(0) = 0, x'(0) = 1, until the force (or x, if it may pull) is zero again."""
    from scipy.integrate import solve_ivp  # slow to import, seldom needed

    def force(x: float, u: float) -> float:
        return float(max(x, 0.0) ** exponent + damping * max(x, 0.0) ** power * u)

    def ends(t: float, y: Any) -> float:
        return float(y[0]) if pulls else force(y[0], y[1])

    ends.terminal, ends.direction = True, -1  # type: ignore[attr-defined]
    run = solve_ivp(lambda t, y: (y[1], -force(*y)), (0.0, LONGEST_IMPACT), (0.0, 1.0), "DOP853", events=ends,
                    rtol=1e-12, atol=1e-14)  # fmt: skip
    return float(-run.y_events[0][0][1]) if run.t_events[0].size else 0.0  # with a force that pulls, the contact may never open


LONGEST_IMPACT = 60.0  # in units of L/v; an undamped impact takes 3 of them, and none that lasts this long rebounds


def _bisect(function: Callable[[float], float], low: float, high: float) -> float:
    """The root between low and high, to the last bit; the function has opposite signs there."""
    falls = function(low) > 0.0
    while low < (middle := 0.5 * (low + high)) < high:
        if (function(middle) > 0.0) == falls:
            low = middle
        else:
            high = middle
    return middle
