"""Bending modes of a uniform beam: normalised deflection w and section rotation Theta, with a rule for the sign.

Sign rule: the first extremum of W(x) - W(0) between root and tip is positive. Therefore the modes of simply supported beams
are +sin(n pi x / l), modes with a clamped root start upwards (the cantilever's cosh - cos - s (sinh - sin)), and the
first bump of cc, cs and sc modes is positive.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pliant.arrays import Floats
from pliant.beams.characteristic import BendingProblem, roots
from pliant.beams.quadrature import nodes, panels_for
from pliant.beams.waves import DECAY, SERIES, Wave, combined
from pliant.model.beam import Beam
from pliant.model.modes import Modes

SAMPLES_PER_WAVE = 40  # samples per wavelength in the search for the largest deflection
CANDIDATE = 0.98  # bumps above this fraction of the largest sample may contain the maximum: sampling misses up to 0.3 %
MOST_STATES = 512  # cached evaluations of modes per process: the integrals of a beam, and of similar beams, use the same points
LARGEST_STATE = 1000  # evaluations at more points than this are not cached
MOST_KEPT = 512  # dimensionless beams whose modes are cached per process
NEWTON_STEPS = 4  # from a sample to the extremum; convergence is quadratic

_STATES: dict[tuple[Any, ...], Floats] = {}  # by everything that determines them


@dataclass(frozen=True)
class Coefficients:
    """W = C1 sin(a x) + C2 cos(a x) + C3 sinh(b x) + C4 cosh(b x), and Theta = T1 .. T4 over the same functions.

    Above the cut-off (hyperbolic = False), sin(b x) and cos(b x) replace sinh and cosh.
    """

    w: Floats  # C1 .. C4
    theta: Floats  # T1 .. T4, 1/m
    wavenumbers: tuple[float, float]  # a, b, 1/m
    hyperbolic: bool


@dataclass(frozen=True)
class BendingMode:
    """One natural mode. For Euler-Bernoulli beams Theta = W'."""

    frequency: float  # rad/s
    length: float  # m
    shear: float  # s2 of `waves`, 0 for Euler-Bernoulli
    wave: Wave
    kind: int  # of basis, see `waves`
    parts: Floats  # (4,) in that basis

    @property
    def wavenumber(self) -> float:
        """The larger of the two wavenumbers, 1/m."""
        return float(self.wave.a) / self.length

    @property
    def breaks(self) -> Floats:
        """Breakpoints of [0, l] on whose panels Gauss-Legendre resolves products with this mode."""
        return np.linspace(0.0, self.length, 1 + panels_for(self.wavenumber, self.length))

    def state(self, x: ArrayLike) -> Floats:
        """(w, Theta, M, V) of the dimensionless beam at x: (4, ...)."""
        xi = np.asarray(x, dtype=np.float64) / self.length
        if xi.size > LARGEST_STATE:
            return np.moveaxis(combined(self.wave, self.kind, xi, self.parts), -1, 0)
        key = (*map(float, self.wave), self.kind, self.parts.tobytes(), xi.shape, xi.tobytes())
        state = _STATES.get(key)
        if state is None:
            state = np.moveaxis(combined(self.wave, self.kind, xi, self.parts), -1, 0)
            state.setflags(write=False)
            if len(_STATES) >= MOST_STATES:
                _STATES.clear()
            _STATES[key] = state
        return state

    def w(self, x: ArrayLike, order: int = 0) -> Floats:
        """Deflection W or its derivative of order 1, 2: w' = Theta + s2 V, w'' = M - sigma w."""
        w, theta, moment, force = self.state(x)
        if order == 0:
            return w  # type: ignore[no-any-return]
        if order == 1:
            return (theta + self.shear * force) / self.length  # type: ignore[no-any-return]
        if order == 2:
            return (moment - self.wave.sigma * w) / self.length**2  # type: ignore[no-any-return]
        raise ValueError(f"BendingMode.w: order must be 0, 1 or 2, got {order!r}")

    def theta(self, x: ArrayLike, order: int = 0) -> Floats:
        """Section rotation Theta or its first derivative, the curvature."""
        _, theta, moment, _ = self.state(x)
        if order == 0:
            return theta / self.length  # type: ignore[no-any-return]
        if order == 1:
            return moment / self.length**2  # type: ignore[no-any-return]
        raise ValueError(f"BendingMode.theta: order must be 0 or 1, got {order!r}")

    def strain(self, x: ArrayLike) -> Floats:
        """Shear strain W' - Theta, computed as s2 V to avoid cancellation in slender beams."""
        return self.shear * self.state(x)[3] / self.length  # type: ignore[no-any-return]

    @property
    def coefficients(self) -> Coefficients:
        """The mode over sin, cos, sinh, cosh, as papers print it."""
        a, b = float(self.wave.a), float(np.sqrt(abs(self.wave.z)))
        p, q, hyperbolic = float(self.wave.p), float(self.wave.q), bool(self.wave.z > 0.0)
        c1, c2, c3, c4 = self._over_functions(a, b, p, q)
        ratio = q / b if b > 0.0 else np.inf
        theta = [-p / a * c2, p / a * c1, ratio * c4, ratio * c3 if hyperbolic else -ratio * c3]
        return Coefficients(
            np.array([c1, c2, c3, c4]), np.array(theta) / self.length, (a / self.length, b / self.length), hyperbolic
        )

    def _over_functions(self, a: float, b: float, p: float, q: float) -> tuple[float, float, float, float]:
        if self.kind == SERIES:  # the coefficients are the state at the root
            w, theta, moment, force = self.parts
            wave_force = force / float(self.wave.omega) ** 2
            c1, c3 = a * (theta + q * wave_force) / (p + q), b * (theta - p * wave_force) / (p + q)
            return c1, (q * w - moment) / (p + q), c3, (moment + p * w) / (p + q)
        f1, f2, f3, f4 = self.parts
        if self.kind == DECAY:
            grow = float(np.exp(-b)) * f4
            return f1, f2, grow - f3, grow + f3
        return f1, f2, float(np.copysign(b, self.wave.z)) * f3, f4


def bending_modes(beam: Beam, modes: Modes) -> list[BendingMode]:
    """The modes requested by a beam's mode set, in order of frequency, with the set's normalisation."""
    problem, unit = bending_problem(beam, modes)
    found = [replace(mode, frequency=mode.frequency * unit, length=beam.length) for mode in unit_modes(problem, modes.count)]
    return [_normalised(mode, beam, modes, problem) for mode in found]


@lru_cache(maxsize=MOST_KEPT)
def unit_modes(problem: BendingProblem, count: int) -> tuple[BendingMode, ...]:
    """Modes of the dimensionless beam, max |W| = 1; beams that differ only in size or stiffness share them."""
    found = roots(problem, count)
    result = []
    for omega, kind, vector in zip(found.omega, found.kinds, found.vectors, strict=True):
        wave = Wave(*(np.asarray(part, dtype=np.float64) for part in problem.wave(np.asarray(omega))))
        mode = BendingMode(float(omega), 1.0, problem.shear, wave, int(kind), vector.astype(np.float64))
        mode = _scaled(mode, sign(mode) / largest(mode))
        for array in (*mode.wave, mode.parts):
            array.setflags(write=False)  # shared by many beams
        result.append(mode)
    return tuple(result)


def bending_problem(beam: Beam, modes: Modes) -> tuple[BendingProblem, float]:
    """The dimensionless beam, and the unit of its frequencies, sqrt(E I / (mu l^4)) in rad/s.

    An Euler-Bernoulli beam has no rotary inertia by default; if it is given, it is included (Rayleigh's beam).
    """
    section, mu, length = beam.section, beam.mu, beam.length
    second, rotary = (section.Iz, beam.rotary[2]) if modes.plane == "y" else (section.Iy, beam.rotary[1])
    assert second is not None  # checked by Beam
    stiffness = beam.material.E * second
    shear = 0.0
    if beam.theory == "timoshenko":
        assert section.shear_factor is not None and beam.material.shear_modulus is not None  # checked by Beam
        shear = stiffness / (section.shear_factor * section.A * beam.material.shear_modulus * length**2)
    payload = payload_numbers(beam, modes) if modes.payload else (0.0, 0.0, 0.0)
    problem = BendingProblem(modes.ends, float(rotary / (mu * length**2)), float(shear), payload)
    return problem, float(np.sqrt(stiffness / mu) / length**2)


def payload_numbers(beam: Beam, modes: Modes) -> tuple[float, float, float]:
    """Dimensionless mass, inertia about the bending axis and axial offset; a sideways offset d adds m d^2 to the inertia."""
    load = beam.payload
    assert load is not None  # checked by Beam
    axis, side = (2, 1) if modes.plane == "y" else (1, 2)
    inertia = float(load.inertia[axis][axis]) + load.mass * load.offset[side] ** 2  # type: ignore[index]
    whole = beam.mass
    return float(load.mass / whole), float(inertia / (whole * beam.length**2)), float(load.offset[0] / beam.length)


def sign(mode: Any) -> float:
    """The factor +1 or -1 that makes the first extremum of W - W(0) positive; of any shape with a `wavenumber` and a `length`."""
    w = mode.w(_samples(mode))
    moves = np.diff(w)
    turn = np.flatnonzero(np.sign(moves[1:]) != np.sign(moves[:-1]))
    return float(np.sign(w[turn[0] + 1 if len(turn) else -1] - w[0]))


def largest(mode: Any) -> float:
    """max |W|, found at an end or where W' = 0. Several bumps are refined, because they may be nearly equal in height."""
    x = _samples(mode)
    size = np.abs(mode.w(x))
    inner = size[1:-1]
    high = (inner >= size[:-2]) & (inner >= size[2:]) & (inner > CANDIDATE * size.max())
    place = 1 + np.flatnonzero(high)
    point = x[place]
    for _ in range(NEWTON_STEPS):
        point = np.clip(point - mode.w(point, 1) / mode.w(point, 2), x[place - 1], x[place + 1])
    return float(max(size[0], size[-1], *np.abs(mode.w(point))))


def _samples(mode: Any) -> Floats:
    return np.linspace(0.0, mode.length, 1 + int(SAMPLES_PER_WAVE * (1.0 + mode.wavenumber * mode.length / (2.0 * np.pi))))


def _normalised(mode: BendingMode, beam: Beam, modes: Modes, problem: BendingProblem) -> BendingMode:
    """The mode, given with max |W| = 1, rescaled to the requested normalisation."""
    if modes.normalise == "max":
        return mode
    x, weight = nodes(mode.breaks)
    w, theta = mode.w(x), mode.theta(x)
    if modes.normalise == "length":
        return _scaled(mode, float(np.sqrt(beam.length / (weight @ w**2))))
    rotary = problem.rotary * beam.mu * beam.length**2
    inertia = beam.mu * (weight @ w**2) + rotary * (weight @ theta**2)
    mass, turning, offset = problem.payload
    tip, tilt = float(mode.w(beam.length)), float(mode.theta(beam.length)) * beam.length
    inertia += beam.mass * (mass * (tip + offset * tilt) ** 2 + turning * tilt**2)
    return _scaled(mode, float(1.0 / np.sqrt(inertia)))


def _scaled(mode: BendingMode, factor: float) -> BendingMode:
    return replace(mode, parts=mode.parts * factor)
