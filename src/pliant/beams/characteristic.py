"""Bending frequencies: the characteristic equation of both beam theories, for all end conditions and a tip payload.

Roots are counted before they are located (Wittrick and Williams 1971). The count N_ss of the simply supported beam has a
closed form. Releasing the deflections w of free ends and holding the rotations of clamped ends by moments m turns that
beam into the actual one. Let H(Omega) be the symmetric matrix that gives the forces and (minus) rotations of the simply
supported beam due to w and m. Then Haynsworth's law of inertia gives the number of frequencies below Omega,

    N = N_ss + neg(H) - (number of clamped ends),        neg: negative eigenvalues.

So no root is missed or counted twice, even above the cut-off. Each isolated root of the 4 x 4 boundary determinant is
then refined. All quantities are dimensionless as in `waves`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pliant.arrays import Floats
from pliant.beams.waves import Real, Wave, kind_of, shared_kind, states, wave_of

SECTIONS = 16  # subintervals into which one counting pass divides each interval
SKEW = 0.1371428  # shift of the inner points, as a fraction of a subinterval
TINY = 1e-8  # used instead of frequency zero, where there are no waves
PASSES = 16  # after 16 passes an interval has shrunk 16^16 times, below round-off
NUDGE = 1e-15  # relative step away from a frequency at which H is infinite
CLOSE = 1e-6  # relative distance of roots below which the determinant cannot tell them apart
TWIN = 1e-11  # relative distance below which two roots share their shapes
ROUND_OFF = 4e-16  # relative width at which counting ends
NARROW = 0.1  # relative width below which an interval is handed to the determinant
_W, _TH, _M, _V = range(4)  # rows of the state
_HELD = {"c": 2, "s": 1, "g": 1, "f": 0}  # rigid motions that an end prevents
_ROWS = {"c": [_W, _TH], "s": [_W, _M], "f": [_M, _V], "g": [_TH, _V]}  # states that are zero at an end


@dataclass(frozen=True)
class BendingProblem:
    """A dimensionless beam. The payload: mass / (mu l), inertia about its centre / (mu l^3), offset / l."""

    ends: str  # root and tip, of c, s, f; also g, guided: Theta = 0, V = 0, the middle of an even mode
    rotary: float = 0.0  # r2 = J / (mu l^2)
    shear: float = 0.0  # s2 = E I / (k A G l^2)
    payload: tuple[float, float, float] = (0.0, 0.0, 0.0)

    @property
    def rigid_motions(self) -> int:
        """The number of rigid-body motions; they have frequency zero and do not count as modes."""
        return max(0, 2 - _HELD[self.ends[0]] - _HELD[self.ends[1]])

    @property
    def tip_inertia(self) -> float:
        """The payload's inertia about the tip."""
        mass, inertia, offset = self.payload
        return inertia + mass * offset**2

    def wave(self, omega: Real) -> Wave:
        return wave_of(self.rotary, self.shear, omega)


@dataclass(frozen=True)
class Roots:
    """Dimensionless frequencies in ascending order, each with the kind of basis in which its shape is expressed."""

    omega: Real
    kinds: NDArray[np.int_]
    vectors: Real  # (n, 4): coefficients of the shape in that basis, up to a factor


def roots(problem: BendingProblem, count: int) -> Roots:
    """The first `count` natural frequencies above zero."""
    if problem.ends == "ss":
        return _supported_roots(problem, count)
    found, kinds = _isolate(problem, count + 1)  # one more: the last may have a twin
    root = _close_in(problem, found.low, found.high, kinds)
    gap = np.diff(root, prepend=0.0, append=np.inf)
    close = np.minimum(gap[:-1], gap[1:]) < CLOSE * root
    if np.any(close) and problem.ends in ("cc", "ff") and problem.payload[0] == 0.0:
        return _mirrored_roots(problem, count)
    fine = root.astype(np.longdouble)
    fine[close] = _count_down(problem, found.at(np.flatnonzero(close)))
    fine[~close] = _polish(problem, root[~close], kinds[~close])
    fine, kinds = fine[:count], kinds[:count]
    matrix, size = boundary_matrix(problem, problem.wave(fine**2), kinds)
    return Roots(fine**2, kinds, _vectors(matrix, fine) / size)


def _mirrored_roots(problem: BendingProblem, count: int) -> Roots:
    """Even and odd modes of a symmetric beam, computed separately on half the beam: above the cut-off their frequencies cross.

    The half beam ends in s (odd modes) or g (even modes). At half the length, r2 and s2 are four times as large, Omega a quarter.
    """
    omegas, vectors = [], []
    for middle in "sg":
        ends = problem.ends[0] + middle
        omega = 4.0 * roots(BendingProblem(ends, 4.0 * problem.rotary, 4.0 * problem.shear), count).omega
        wave = problem.wave(omega)
        matrix, size = boundary_matrix(replace(problem, ends=ends), wave, kind_of(wave), tip_at=0.5)
        omegas.append(omega)
        vectors.append(null_vectors(matrix) / size)
    omega = np.concatenate(omegas)
    order = np.argsort(omega)[:count]
    return Roots(omega[order], kind_of(problem.wave(omega[order])), np.concatenate(vectors)[order])


def _vectors(matrix: Real, root: Real) -> Real:
    """One null vector per root; two coincident roots have a plane of null vectors, and each gets its own direction in it."""
    vectors = null_vectors(matrix)
    for k in np.flatnonzero(np.diff(root) < TWIN * root[1:]):
        vectors[k : k + 2] = np.linalg.svd(matrix[k].astype(np.float64))[2][2:]
    return vectors


def _supported_roots(problem: BendingProblem, count: int) -> Roots:
    """w = sin(a xi) in the first spectrum, w = z S = -c sin(c xi) in the second."""
    omega, spectrum = simply_supported(problem, count)
    vectors = np.zeros((count, 4), dtype=omega.dtype)
    vectors[np.arange(count), np.where(spectrum == 1, 0, 2)] = 1.0
    return Roots(omega, kind_of(problem.wave(omega)), vectors)


def simply_supported(problem: BendingProblem, count: int, shear_mode: bool = False) -> tuple[Real, NDArray[np.int_]]:
    """w = sin(n pi xi), both spectra merged: r2 s2 Omega^4 - (1 + (r2 + s2) a^2) Omega^2 + a^4 = 0, a = n pi.

    n = 0 of the second spectrum, the cut-off itself, is pure shear: w = 0, Theta constant. It is left out
    (an assumed mode needs a deflection) unless `shear_mode` asks for it. Returned: Omega and the spectrum, 1 or 2.
    """
    pi = 4.0 * np.arctan(np.longdouble(1.0))
    square = (np.arange(1, count + 1) * pi) ** 2
    r2, s2 = np.longdouble(problem.rotary), np.longdouble(problem.shear)
    middle = 1.0 + (r2 + s2) * square
    root = np.sqrt(((r2 - s2) * square) ** 2 + 2.0 * (r2 + s2) * square + 1.0)
    spectra = [square * np.sqrt(2.0 / (middle + root))]
    if r2 * s2 > 0.0:
        spectra.append(np.sqrt((middle + root) / (2.0 * r2 * s2)))
        if shear_mode:
            spectra.append(1.0 / np.sqrt(np.array([r2 * s2])))
    omega = np.concatenate(spectra)
    spectrum = np.where(np.arange(len(omega)) < count, 1, 2)
    order = np.argsort(omega, kind="stable")[:count]
    return omega[order], spectrum[order]


def count_below(problem: BendingProblem, omega: Floats) -> NDArray[np.int_]:
    """How many natural frequencies, rigid motions included, lie below each omega > 0."""
    wave = problem.wave(omega)
    second = np.where(wave.z < 0.0, 1.0 + np.floor(np.sqrt(np.abs(wave.z)) / np.pi), 0.0)
    supported = (np.floor(wave.a / np.pi) + second).astype(int)
    moved, held, rotor = _changes(problem)
    rows = [*moved, *(2 + end for end in held), *([3] if rotor else [])]
    if not rows:
        return supported
    try:
        mixed = _mixed_response(wave) + _payload_response(problem, wave)
    except np.linalg.LinAlgError:  # exactly at a simply supported root, where H is infinite
        return count_below(problem, omega * (1.0 + NUDGE))
    negative: NDArray[np.int_] = np.sum(np.linalg.eigvalsh(mixed[:, rows][:, :, rows]) < 0.0, axis=1)
    return supported + negative - len(held)


def _changes(problem: BendingProblem) -> tuple[list[int], list[int], bool]:
    """Ends (0 root, 1 tip) whose deflection is released, ends whose rotation is held, and whether the payload turns."""
    moved = [end for end in (0, 1) if problem.ends[end] in "fg"]
    held = [end for end in (0, 1) if problem.ends[end] in "cg"]
    return moved, held, problem.ends[1] == "f" and problem.tip_inertia > 0.0


def _mixed_response(wave: Wave) -> Floats:
    """H: forces over a^3 and minus rotations over a that answer to (w0, w1, m0 / a^2, m1 / a^2), all on the beam."""
    kinds = kind_of(wave)
    root, tip = states(wave, kinds, 0.0), states(wave, kinds, 1.0)
    a = wave.a[:, None]
    given = np.stack([root[:, _W], tip[:, _W], -root[:, _M] / a**2, tip[:, _M] / a**2], axis=1)
    answer = np.stack([-root[:, _V] / a**3, tip[:, _V] / a**3, -root[:, _TH] / a, -tip[:, _TH] / a], axis=1)
    size = np.abs(given).max(axis=1, keepdims=True)
    mixed = np.linalg.solve(np.swapaxes(given / size, 1, 2), np.swapaxes(answer / size, 1, 2))
    return 0.5 * (mixed + np.swapaxes(mixed, 1, 2))


def _payload_response(problem: BendingProblem, wave: Wave) -> Floats:
    """What the payload adds to H at the tip: its inertia against w, its compliance 1 / (Omega^2 I) to the moment."""
    mass, _, offset = problem.payload
    inertia, square = problem.tip_inertia, wave.omega**2
    extra = np.zeros((len(square), 4, 4))
    if inertia > 0.0:
        extra[:, 3, 3] = wave.a / (square * inertia)
        extra[:, 1, 3] = extra[:, 3, 1] = -mass * offset / inertia / wave.a
        mass -= (mass * offset) ** 2 / inertia
    extra[:, 1, 1] = -square * mass / wave.a**3
    return extra


class _Intervals(NamedTuple):
    """Intervals of sqrt(Omega), one per root, with the number of roots below their ends (-1 where not counted)."""

    number: NDArray[Any]  # of the root, rigid motions counted
    low: NDArray[Any]
    high: NDArray[Any]
    below: NDArray[Any]
    above: NDArray[Any]

    def at(self, places: NDArray[np.int_]) -> _Intervals:
        return _Intervals(*(part[places] for part in self))

    def put(self, places: NDArray[np.int_], other: _Intervals) -> None:
        for part, new in zip(self, other, strict=True):
            part[places] = new


def _isolate(problem: BendingProblem, count: int) -> tuple[_Intervals, NDArray[np.int_]]:
    """Intervals, each containing one root or narrower than CLOSE, with the kind of basis that is valid throughout the interval."""
    found = _first_guess(problem, count)
    active = np.arange(count)
    for _ in range(PASSES):
        found.put(active, _cut(problem, found.at(active)))
        low, high = problem.wave(np.maximum(found.low, TINY) ** 2), problem.wave(found.high**2)
        width = (found.high - found.low) / found.high
        alone = (found.below == found.number - 1) & (found.above == found.number)
        kinds = shared_kind(low, high)
        active = np.flatnonzero(~((alone & (width < NARROW) & (kinds >= 0)) | (width < CLOSE)))
        if not len(active):
            break
    return found, np.where(kinds < 0, kind_of(high), kinds)


def _count_down(problem: BendingProblem, found: _Intervals) -> Floats:
    """Roots that (nearly) coincide, located by counting alone because the determinant cannot separate them."""
    for _ in range(PASSES):
        if np.all(found.high - found.low < ROUND_OFF * found.high):
            break
        found = _cut(problem, found)
    return found.high


def _first_guess(problem: BendingProblem, count: int) -> _Intervals:
    """Bounds of each root: ends and payload shift the simply supported count by -2 to +4; one more either way for round-off."""
    number = problem.rigid_motions + np.arange(1, count + 1)
    supported = np.sqrt(simply_supported(problem, number[-1] + 4, shear_mode=True)[0]).astype(np.float64)
    low = np.where(number > 6, supported[np.maximum(number - 7, 0)], 0.0)
    return _Intervals(number, low, supported[number + 2], np.full(count, -1), np.full(count, -1))


def _cut(problem: BendingProblem, old: _Intervals) -> _Intervals:
    """The subinterval of each interval in which the count passes the root's number."""
    # unequal subintervals, to avoid the simply supported roots (multiples of pi), where H is infinite
    inner = (np.arange(1, SECTIONS) - SKEW) / SECTIONS
    grid = old.low[:, None] + (old.high - old.low)[:, None] * inner
    counts = count_below(problem, grid.ravel() ** 2).reshape(grid.shape)
    reached = np.column_stack([counts >= old.number[:, None], np.ones(len(grid), dtype=bool)])
    row, place = np.arange(len(grid)), reached.argmax(axis=1)
    grid = np.column_stack([old.low, grid, old.high])
    counts = np.column_stack([old.below, counts, old.above])
    return _Intervals(old.number, grid[row, place], grid[row, place + 1], counts[row, place], counts[row, place + 1])


def boundary_matrix(problem: BendingProblem, wave: Wave, kinds: NDArray[np.int_], tip_at: float = 1.0) -> tuple[Real, Real]:
    """Two conditions at the root and two at the tip, applied to the four solutions, each scaled to size one: (n, 4, 4), (n, 4)."""
    a = wave.a[:, None, None]
    scale = np.concatenate([np.ones_like(a), 1.0 / a, 1.0 / a**2, 1.0 / a**3], axis=1)
    root, tip = states(wave, kinds, 0.0), states(wave, kinds, tip_at)
    size = (np.abs(root * scale) + np.abs(tip * scale)).sum(axis=1, keepdims=True)
    root, tip = root * scale / size, tip * scale / size
    at_tip = tip[:, _ROWS[problem.ends[1]]]
    if problem.ends[1] == "f" and problem.payload[0] > 0.0:
        at_tip = _payload_rows(problem, wave, tip)
    return np.concatenate([root[:, _ROWS[problem.ends[0]]], at_tip], axis=1), size[:, 0]


def _payload_rows(problem: BendingProblem, wave: Wave, tip: Real) -> Real:
    """M = Omega^2 [i Theta + m e (w + e Theta)] and V = Omega^2 m (w + e Theta): the payload's momentum balance."""
    mass, inertia, offset = problem.payload
    a, square = wave.a[:, None], wave.omega[:, None] ** 2
    w, theta = tip[:, _W], a * tip[:, _TH]
    force = square * mass * (w + offset * theta)
    moment = square * inertia * theta + offset * force
    heavy = square * mass * (1.0 + abs(offset) * a)
    by_moment = (a**2 * tip[:, _M] - moment) / (a**2 + square * inertia * a + abs(offset) * heavy)
    by_force = (a**3 * tip[:, _V] - force) / (a**3 + heavy)
    return np.stack([by_moment, by_force], axis=1)


def determinant(matrix: Real) -> Real:
    """det of 4 x 4 matrices by Laplace's expansion over the two root rows; any precision."""
    total = np.zeros(len(matrix), dtype=matrix.dtype)
    for sign, i, j, k, m in (
        (1, 0, 1, 2, 3), (-1, 0, 2, 1, 3), (1, 0, 3, 1, 2), (1, 1, 2, 0, 3), (-1, 1, 3, 0, 2), (1, 2, 3, 0, 1),
    ):  # fmt: skip
        top = matrix[:, 0, i] * matrix[:, 1, j] - matrix[:, 0, j] * matrix[:, 1, i]
        bottom = matrix[:, 2, k] * matrix[:, 3, m] - matrix[:, 2, m] * matrix[:, 3, k]
        total = total + sign * top * bottom
    return total


def null_vectors(matrix: Real) -> Real:
    """The null vector of a singular 4 x 4 matrix, from its largest row of cofactors; any precision."""
    cofactors = np.empty_like(matrix)
    for row in range(4):
        i, j, k = (r for r in range(4) if r != row)
        for column in range(4):
            u, v, w = (c for c in range(4) if c != column)
            a, b, c = (matrix[:, [i, j, k], col].T for col in (u, v, w))
            minor = a[0] * (b[1] * c[2] - b[2] * c[1]) - b[0] * (a[1] * c[2] - a[2] * c[1])
            minor = minor + c[0] * (a[1] * b[2] - a[2] * b[1])
            cofactors[:, row, column] = (-1) ** (row + column) * minor
    best = np.abs(cofactors).sum(axis=2).argmax(axis=1)
    vectors = cofactors[np.arange(len(matrix)), best]
    return vectors / np.abs(vectors).max(axis=1, keepdims=True)  # type: ignore[no-any-return]


def _characteristic(problem: BendingProblem, root_omega: Real, kinds: NDArray[np.int_]) -> Real:
    return determinant(boundary_matrix(problem, problem.wave(root_omega**2), kinds)[0])


def _close_in(problem: BendingProblem, low: Floats, high: Floats, kinds: NDArray[np.int_]) -> Floats:
    """Chandrupatla's method (1997), which combines bisection with inverse quadratic steps, for all roots at once."""
    a, b = low.copy(), high.copy()
    fa, fb = _characteristic(problem, a, kinds), _characteristic(problem, b, kinds)
    part = np.full(len(a), 0.5)
    for _ in range(100):
        x = a + part * (b - a)
        fx = _characteristic(problem, x, kinds)
        same = np.sign(fx) == np.sign(fa)
        c, fc = np.where(same, a, b), np.where(same, fa, fb)
        b, fb = np.where(same, b, a), np.where(same, fb, fa)
        a, fa = x, fx
        width = np.abs(b - a)
        tolerance = 2e-16 * np.abs(a)
        if np.all((width <= 4.0 * tolerance) | (fa == 0.0)):
            break
        part = _chandrupatla_step(a, b, c, fa, fb, fc)
        limit = np.minimum(0.5, tolerance / np.maximum(width, 1e-300))
        part = np.clip(part, limit, 1.0 - limit)
    return np.where(np.abs(fa) <= np.abs(fb), a, b)


def _chandrupatla_step(a: Real, b: Real, c: Real, fa: Real, fb: Real, fc: Real) -> Real:
    """The next point as a fraction of the interval: inverse quadratic interpolation where that is safe, otherwise one half."""
    with np.errstate(divide="ignore", invalid="ignore"):
        xi, phi = (a - b) / (c - b), (fa - fb) / (fc - fb)
        safe = (phi**2 < xi) & ((1.0 - phi) ** 2 < 1.0 - xi)
        quadratic = fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
    return np.where(safe & np.isfinite(quadratic), quadratic, 0.5)


def _polish(problem: BendingProblem, root: Floats, kinds: NDArray[np.int_]) -> Real:
    """Two secant steps in the platform's widest float; where that is plain double they change nothing."""
    x = root.astype(np.longdouble)
    if np.finfo(np.longdouble).eps == np.finfo(np.float64).eps:
        return x
    step = 1e-9 * x
    for _ in range(2):
        here = _characteristic(problem, x, kinds)
        there = _characteristic(problem, x + step, kinds)
        x = x - here * step / (there - here)
    return x
