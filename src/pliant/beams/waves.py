"""The four solutions of free bending at one frequency, in bases that stay well conditioned.

The beam is made dimensionless with its length l, bending stiffness B = E I and mass per length mu:
x = l xi, Omega^2 = mu omega^2 l^4 / B, r2 = J / (mu l^2), s2 = B / (k A G l^2) (s2 = 0: Euler-Bernoulli).
With the state y = (w, Theta, M, V), Timoshenko's equations (Timoshenko 1921; Huang 1961) are

    w' = Theta + s2 V,   Theta' = M,   M' = -V - r2 Omega^2 Theta,   V' = -Omega^2 w.

With sigma = s2 Omega^2, tau = r2 Omega^2 their wavenumbers are a (trigonometric) and b (hyperbolic, b^2 = z):
a^2 = P + sigma, z = Q - sigma, where P Q = Omega^2, Q - P = sigma - tau; z < 0 above the cut-off r2 s2 Omega^2 = 1.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Real = NDArray[Any]  # float64, or longdouble while a root is refined

SERIES, NEAR, DECAY = 0, 1, 2  # the kinds of basis
SERIES_LIMIT = 2.0  # the power series is used for a below this; its terms decrease as 2^k / k!
SERIES_TERMS = 34  # 2^34 / 34! = 6e-29
DECAY_LIMIT = 0.5  # for z above this, exp(-b xi) and exp(-b (1 - xi)) are well separated
NEAR_LIMIT = 4.0  # for z below this, cosh(b xi) is still small


class Wave(NamedTuple):
    """Frequency and wavenumbers, dimensionless; arrays of one shape."""

    omega: Real
    sigma: Real
    tau: Real
    p: Real
    q: Real
    a: Real
    z: Real


def wave_of(rotary: float, shear: float, omega: Real) -> Wave:
    """The wavenumbers at a frequency, without cancellation: P and Q are positive, z is exact at the cut-off."""
    square = omega * omega
    sigma, tau = shear * square, rotary * square
    half = 0.5 * (sigma - tau)
    large = np.abs(half) + np.sqrt(half * half + square)
    small = square / large
    p, q = np.where(half >= 0.0, small, large), np.where(half >= 0.0, large, small)
    a_square = p + sigma
    z = square * (1.0 - rotary * shear * square) / a_square
    return Wave(omega, sigma, tau, p, q, np.sqrt(a_square), z)


def kind_of(wave: Wave) -> NDArray[np.int_]:
    """The basis that suits each frequency."""
    beyond = np.where(wave.z > 1.0, DECAY, NEAR)
    return np.where(wave.a <= SERIES_LIMIT, SERIES, beyond)


def shared_kind(low: Wave, high: Wave) -> NDArray[np.int_]:
    """A basis that suits a whole interval of frequencies; -1 if there is none."""
    decay = np.minimum(low.z, high.z) > DECAY_LIMIT
    near = np.maximum(low.z, high.z) < NEAR_LIMIT
    beyond = np.where(decay, DECAY, np.where(near, NEAR, -1))
    return np.where(high.a <= SERIES_LIMIT, SERIES, beyond)


def states(wave: Wave, kinds: NDArray[np.int_], xi: float) -> Real:
    """y of the four solutions at one point, for many frequencies: (n, 4 states, 4 solutions)."""
    out = np.empty((len(wave.omega), 4, 4), dtype=wave.omega.dtype)
    for kind in (SERIES, NEAR, DECAY):
        here = kinds == kind
        if here.any():
            out[here] = basis(Wave(*(part[here] for part in wave)), kind, np.asarray(xi))
    return out


def basis(wave: Wave, kind: int, xi: Real) -> Real:
    """y of the four solutions: (..., 4 states, 4 solutions); wave and xi broadcast against each other."""
    if kind == SERIES:
        return _series(wave, xi)
    pair = _decay(wave, xi) if kind == DECAY else _near(wave, xi)
    return _stack((*_trigonometric(wave, xi), *pair))


def _trigonometric(wave: Wave, xi: Real) -> tuple[tuple[Real, ...], ...]:
    """w = sin(a xi) and w = cos(a xi)."""
    sin, cos = np.sin(wave.a * xi), np.cos(wave.a * xi)
    slope, shear = wave.p / wave.a, wave.omega**2 / wave.a
    return (sin, slope * cos, -wave.p * sin, shear * cos), (cos, -slope * sin, -wave.p * cos, -shear * sin)


def _decay(wave: Wave, xi: Real) -> tuple[tuple[Real, ...], ...]:
    """w = exp(-b xi) and w = exp(-b (1 - xi)): each decays from its own end, and neither overflows."""
    b = np.sqrt(wave.z)
    left, right = np.exp(-b * xi), np.exp(-b * (1.0 - xi))
    slope, shear = wave.q / b, wave.omega**2 / b
    return (
        (left, -slope * left, wave.q * left, shear * left),
        (right, slope * right, wave.q * right, -shear * right),
    )


def _near(wave: Wave, xi: Real) -> tuple[tuple[Real, ...], ...]:
    """w = z S and w = C, with C = cosh(b xi), S = sinh(b xi) / b as functions of z = b^2 of either sign.

    At the cut-off, z = 0, they become w = 0, Theta = Q (pure shear) and w = 1, Theta = Q xi.
    """
    cosh, sinh = cosh_sinh(wave.z, xi)
    square = wave.omega**2
    return (
        (wave.z * sinh, wave.q * cosh, wave.q * wave.z * sinh, -square * cosh),
        (cosh, wave.q * sinh, wave.q * cosh, -square * sinh),
    )


def cosh_sinh(z: Real, xi: Real) -> tuple[Real, Real]:
    """cosh(b xi) and sinh(b xi) / b, with b^2 = z of either sign."""
    root = np.sqrt(np.abs(z))
    angle = root * xi
    safe = np.where(angle > 0.0, angle, 1.0)
    ratio = np.where(z > 0.0, np.sinh(safe), np.sin(safe)) / safe
    return np.where(z > 0.0, np.cosh(angle), np.cos(angle)), xi * np.where(angle > 0.0, ratio, 1.0)


def combined(wave: Wave, kind: int, xi: Real, parts: Real) -> Real:
    """y of one motion, from its coefficients in the given basis, at one frequency and many points: (..., 4)."""
    if kind != SERIES:
        return basis(wave, kind, xi) @ parts
    step, unit = _flow(wave)
    term = parts / unit[:, 0]
    terms = [term]
    for k in range(1, SERIES_TERMS):
        term = step @ term / k
        terms.append(term)
    total = np.zeros((*np.shape(xi), 4))
    for term in reversed(terms):  # Horner's scheme
        total = total * xi[..., None] + term
    return total * unit[:, 0]


def _series(wave: Wave, xi: Real) -> Real:
    """exp(A xi) of the state equation, for low frequencies, where the wave solutions become nearly identical."""
    flow, unit = _flow(wave)
    step = flow * np.asarray(xi)[..., None, None]
    term = np.broadcast_to(np.eye(4, dtype=flow.dtype), step.shape)
    total = term.copy()
    for k in range(1, SERIES_TERMS):
        term = term @ step / k
        total = total + term
    return total * unit / np.swapaxes(unit, -1, -2)


def _flow(wave: Wave) -> tuple[Real, Real]:
    """A of y' = A y with V in units of Omega, so that all entries are of the order of a; and the units, (..., 4, 1)."""
    flow = np.zeros((*np.shape(wave.omega), 4, 4), dtype=wave.omega.dtype)
    flow[..., 0, 1] = flow[..., 1, 2] = 1.0
    flow[..., 0, 3] = wave.sigma / wave.omega
    flow[..., 2, 1], flow[..., 2, 3] = -wave.tau, -wave.omega
    flow[..., 3, 0] = -wave.omega
    unit = np.ones((*np.shape(wave.omega), 4, 1), dtype=wave.omega.dtype)
    unit[..., 3, 0] = wave.omega
    return flow, unit


def _stack(columns: tuple[tuple[Real, ...], ...]) -> Real:
    sample = columns[0][0]
    out = np.empty((*np.shape(sample), 4, 4), dtype=sample.dtype)
    for c, column in enumerate(columns):
        for r, part in enumerate(column):
            out[..., r, c] = part
    return out
