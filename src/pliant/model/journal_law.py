"""Line contact of a journal in a bearing: elastic forces of nearly conforming cylinders, as functions of the depth.

P = F/L is the force per length, D the difference of the radii and E* the modulus of the contact, 1/E* = (1 - nu_1^2)/E_1 +
(1 - nu_2^2)/E_2. Four of the laws say how deep a force presses, d = P/(pi E*) (A + ln(B E* D/P)), with their own A and B. With
P = B E* D exp(A + w) this is w exp(w) = -d pi/(B D exp(A)), so w is the lower branch of Lambert's W: the force is an explicit
function of the depth. These laws end where the depth is largest (w = -1); from ENDS of that depth on they are continued as straight
lines, and a warning says so. All are damped so that the restitution asked for is delivered.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from pliant.errors import ModelError
from pliant.model import check
from pliant.model.hertz import softness
from pliant.model.material import Material
from pliant.model.normal_law import DampedLaw, exact_factor
from pliant.scalar import Scalar, exp, log, maximum, minimum, sqrt, where

ENDS = 0.9  # of the largest depth that a law knows
STEPS = 4  # Halley's, of W: from the starts below three of them reach round-off
NEAR_BRANCH = 0.3  # of -z e: on this side of it, W is found from its series about the branch point
SHALLOWEST = 1e-300  # of -z: W of nothing is -infinity
BRANCH = 1e-12  # of -1 - w: nearer to the branch point, Newton's step is taken


@dataclass(frozen=True, kw_only=True)
class JournalLaw(DampedLaw):
    """A journal that touches its bearing along a line; depths are small against the clearance."""

    DERIVED: ClassVar[tuple[str, ...]] = ("factor",)

    modulus: float  # E*, Pa
    length: float  # of the line, m
    radius: float  # of the journal, m
    clearance: float  # difference of the radii, m

    def __post_init__(self) -> None:
        super().__post_init__()
        check.fields(self, check.positive, modulus="Pa", length="m", radius="m", clearance="m")

    @cached_property
    def factor(self) -> float:
        return exact_factor(self.restitution)

    @property
    def deepest(self) -> float:
        """The depth up to which the law is what its source says, m."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class LogarithmicLaw(JournalLaw):
    """d = P/(pi E*) (A + ln(B E* D/P))."""

    @property
    def numbers(self) -> tuple[float, float]:
        """A and B."""
        raise NotImplementedError

    @property
    def deepest(self) -> float:
        return ENDS / math.e / self._scale

    def elastic(self, depth: Scalar) -> Scalar:
        force, slope, _ = self._at(minimum(depth, self.deepest))
        return force + slope * maximum(depth - self.deepest, 0.0)

    def stored(self, depth: Scalar) -> Scalar:
        force, slope, energy = self._at(minimum(depth, self.deepest))
        beyond = maximum(depth - self.deepest, 0.0)
        return energy + (force + 0.5 * slope * beyond) * beyond

    @property
    def _scale(self) -> float:
        """z = -depth times this, 1/m."""
        a, b = self.numbers
        return math.pi / (b * self.clearance * exp(a))  # type: ignore[no-any-return]

    def _at(self, depth: Scalar) -> tuple[Scalar, Scalar, Scalar]:
        """Force, N, its slope, N/m, and the energy stored, J: F^2/(pi E* L) (-w/2 - 1/4)."""
        a, b = self.numbers
        w = lower_lambert(-self._scale * depth)
        force = self.length * b * self.modulus * self.clearance * exp(a + w)
        line = math.pi * self.modulus * self.length
        return force, line / -(1.0 + w), -(force * force) / line * (0.5 * w + 0.25)


@dataclass(frozen=True, kw_only=True)
class JohnsonJournal(LogarithmicLaw):
    """A = -1, B = 4 pi.  Johnson, Contact Mechanics, 1985."""

    @property
    def numbers(self) -> tuple[float, float]:
        return -1.0, 4.0 * math.pi


@dataclass(frozen=True, kw_only=True)
class RadzimovskyJournal(LogarithmicLaw):
    """A = 2/3, B = 16/5.12: ln(4 R/b) of both radii with a width b = 1.6 sqrt(2 P R_1 R_2/(D E*)).  Radzimovsky 1953."""

    @property
    def numbers(self) -> tuple[float, float]:
        return 2.0 / 3.0, 3.125


@dataclass(frozen=True, kw_only=True)
class EsduJournal(LogarithmicLaw):
    """A = 1, B = 4 pi.  ESDU 78035, Tribology Series, 1978."""

    @property
    def numbers(self) -> tuple[float, float]:
        return 1.0, 4.0 * math.pi


@dataclass(frozen=True, kw_only=True)
class DubowskyJournal(LogarithmicLaw):
    """A = 1, B = pi L^2/(R_1 R_2).  Dubowsky and Freudenstein 1971, after Goldsmith 1960, with the exponent m = 3 of L."""

    @property
    def numbers(self) -> tuple[float, float]:
        return 1.0, math.pi * self.length**2 / (self.radius * (self.radius + self.clearance))


@dataclass(frozen=True, kw_only=True)
class LiuJournal(JournalLaw):
    """F = (pi/2) E* L d sqrt(d/(2 (D + d))).  Liu, Zhang, Yang, Chen, Jia 2007: also for depths of the order of the clearance."""

    @property
    def deepest(self) -> float:
        return self.radius

    def elastic(self, depth: Scalar) -> Scalar:
        return 0.5 * math.pi * self.modulus * self.length * depth * sqrt(depth / (2.0 * (self.clearance + depth)))

    def stored(self, depth: Scalar) -> Scalar:
        """int d^1.5/sqrt(D + d) = sqrt(d (D + d)) (2 d - 3 D)/4 + (3/4) D^2 arsinh(sqrt(d/D)); a series where these cancel."""
        gap = self.clearance
        x = depth / gap
        root = sqrt(x * (1.0 + x))
        closed = 0.25 * root * (2.0 * x - 3.0) + 0.75 * log(sqrt(x) + sqrt(1.0 + x))
        series = x**2.5 * (0.4 + x * (-1.0 / 7.0 + x * (1.0 / 12.0 - x * (5.0 / 88.0))))
        scale = 0.5 * math.pi * self.modulus * self.length * gap * gap / math.sqrt(2.0)
        return scale * where(x < SERIES, series, closed)


SERIES = 3e-3  # of the clearance: there the next term of the series is 1e-11 of its first, and the closed form has lost five digits


@dataclass(frozen=True, kw_only=True)
class PereiraJournal(JournalLaw):
    """F = (0.965 D + 0.0965) L E*/D d^n, n = Y D^-0.005, in N and mm.  Pereira, Ramalho, Ambrosio 2011, of cylinders in each other.

    Y = 1.51 ln(1000 D)^-0.151 up to D = 0.34954 mm, and 0.0151 D + 1.151 up to 10 mm.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if not NARROWEST <= self.clearance <= WIDEST:
            rule = f"must be from {NARROWEST:g} to {WIDEST:g} m, for which the law was fitted"
            raise ModelError.of(type(self).__name__, "clearance", rule, self.clearance)

    @property
    def deepest(self) -> float:
        return self.clearance

    @property
    def exponent(self) -> float:
        """n."""
        gap = 1e3 * self.clearance  # mm
        narrow = 1.51 * maximum(log(1e3 * gap), 1.0) ** -0.151
        return where(gap < KINK, narrow, 0.0151 * gap + 1.151) * gap**-0.005  # type: ignore[no-any-return]

    @property
    def stiffness(self) -> float:
        """N/m^n: K in N/mm^n times (1000 mm)^n."""
        gap = 1e3 * self.clearance
        in_mm = (0.965 * gap + 0.0965) * (1e3 * self.length) * (1e-6 * self.modulus) / gap
        return in_mm * 1e3**self.exponent  # type: ignore[no-any-return]

    def elastic(self, depth: Scalar) -> Scalar:
        return self.stiffness * depth**self.exponent

    def stored(self, depth: Scalar) -> Scalar:
        return self.stiffness / (self.exponent + 1.0) * depth ** (self.exponent + 1.0)


NARROWEST, WIDEST, KINK = 5e-6, 1e-2, 0.34954  # m, m, mm

JOURNAL_LAWS: tuple[type[JournalLaw], ...] = (
    JohnsonJournal, RadzimovskyJournal, EsduJournal, DubowskyJournal, LiuJournal, PereiraJournal,
)  # fmt: skip


def contact_modulus(material_a: Material, material_b: Material | None = None) -> float:
    """E* of two bodies, Pa: 1/E* = (1 - nu_a^2)/E_a + (1 - nu_b^2)/E_b. Without `material_b` both are of the same material."""
    part = "contact_modulus"
    other = material_a if material_b is None else material_b
    return 1.0 / (softness(part, "material_a", material_a) + softness(part, "material_b", other))


def lower_lambert(z: Scalar) -> Scalar:
    """The lower branch of Lambert's W: w <= -1 with w exp(w) = z, for -1/e <= z <= 0, by Halley's method (Corless et al. 1996)."""
    below = maximum(-z, SHALLOWEST)
    root = sqrt(maximum(2.0 * (1.0 - math.e * below), 0.0))  # about the branch point z = -1/e
    near = -1.0 - root * (1.0 + root * (1.0 / 3.0 + root * (11.0 / 72.0)))
    first = log(below)
    second = log(maximum(-first, 1.0))
    far = first - second + second / minimum(first, -1.0)
    w = where(below > NEAR_BRANCH / math.e, near, far)
    for _ in range(STEPS):
        grown = exp(w)
        off = w * grown + below
        slope = grown * (w + 1.0) - 0.5 * (w + 2.0) * off / minimum(w + 1.0, -BRANCH)
        w = w - where(slope < 0.0, off / minimum(slope, -SHALLOWEST), 0.0)
    return minimum(w, -1.0)
