"""Find the rest position of a mechanism: Newton's method with the exact stiffness, then load steps, then arc length.

If the stiffness, projected on the motions that the loops allow, is not positive definite, it is shifted until it is, as in
trust-region methods. Steps then descend the potential, so the search finds a stable equilibrium unless it began exactly on an
unstable one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from pliant.arrays import Floats

if TYPE_CHECKING:
    from pliant.analysis.balance import Balance, Missing

STEPS = 300  # most steps of Newton's method
LONGEST_TURN = 0.5  # rad: longest change of an angle in one step
LONGEST_SHIFT = 0.25  # fraction of the mechanism's size: longest change of another coordinate in one step
CLOSE = 1e-9  # m, rad or 1: after a step as short as this, a few more only polish the result
POLISH = 4
BALANCED = 1e-13  # m or rad: forces that would displace a single coordinate by less are round-off
LOOSE = 1e-10  # fraction of a coordinate's own stiffness: a direction with less counts as loose
SHIFT = 1e-9  # fraction of a coordinate's own stiffness, added for loose directions; their steps are limited in length
OVERSHOOT = 0.5  # fraction of the initial slope: how steeply the potential may rise at the end of a step
DEEPER = 3.0  # largest factor by which one step may deepen a contact
LOAD_STEPS, SMALLEST_LOAD_STEP = 10, 1e-3
NEWTON_STEPS = 15  # most Newton steps in one load step
ARC_STEPS = 2000
STRAY = 0.5  # fraction of an arc step: a solution farther from the tangent lies on another path
FARTHEST = 20.0  # rad, or multiple of the mechanism's size: a path that has gone this far is given up


@dataclass(frozen=True)
class Rest:
    """Coordinates in equilibrium, or the last ones of a search that found no equilibrium."""

    q: Floats
    found: bool
    way: str  # how it was found, or why not, in words
    stiffness: Floats  # reduced and scaled
    free_motions: Floats  # the motions that belong to its rows: columns over the free rates
    share: float = 1.0  # fraction of gravity, drives and loads that acts


def find_rest(balance: Balance, start: Floats) -> Rest:
    """Search by Newton's method; if that fails, by load steps from the unloaded mechanism; then by arc length."""
    first = _descend(balance, start, steps=STEPS)
    if first.found:
        return first
    loaded = _by_load_steps(balance, start)
    if loaded is not None and loaded.found:
        return loaded
    return _by_arc_length(balance, start) or loaded or first


# ---- Newton's method, downhill


@dataclass(frozen=True)
class Slope:
    """The stiffness at a point, projected on the motions that the loops allow and scaled by each coordinate's own stiffness."""

    stiffness: Floats  # scaled: the diagonal entries are 1, -1 or 0
    scale: Floats  # scale factors of the reduced motions
    lowest: float  # lowest eigenvalue of the symmetric part


def slope_of(balance: Balance, missing: Missing) -> Slope:
    allowed = missing.free_motions
    reduced = allowed.T @ balance.stiffness(missing) @ allowed
    mass = np.einsum("ij,i,ij->j", allowed, balance.inertia, allowed)
    own = np.abs(np.diag(reduced))
    largest = float(np.max(own / mass, initial=0.0))
    stiff = own > 1e-14 * largest * mass
    slowest = float(np.min((own / mass)[stiff], initial=np.inf))
    scale = 1.0 / np.sqrt(np.where(stiff, own, mass * (slowest if np.isfinite(slowest) else 1.0)))
    scaled = reduced * np.outer(scale, scale)
    values = np.linalg.eigvalsh(0.5 * (scaled + scaled.T)) if scaled.size else np.array([np.inf])
    return Slope(scaled, scale, float(values[0]))


def _descend(balance: Balance, start: Floats, share: float = 1.0, steps: int = STEPS, downhill: bool = True) -> Rest:
    q, missing = start, balance.at(start, share)
    polish = POLISH
    slope = slope_of(balance, missing)
    for count in range(steps):
        if _is_small(missing, slope) and (count == 0 or slope.lowest < LOOSE):  # loose directions would only drift
            return _rest(q, True, _words(count), slope, missing)
        change, shifted = _newton_step(balance, missing, slope, downhill)
        if not np.all(np.isfinite(change)):
            break
        change = _limited(balance, missing, change)
        q, missing, used = _searched(balance, missing, change, share, downhill and polish == POLISH)
        slope = slope_of(balance, missing)
        if used * np.max(np.abs(change), initial=0.0) <= CLOSE and not shifted:
            polish -= 1
            if polish == 0:
                return _rest(q, True, _words(count + 1), slope, missing)
    return _rest(q, False, f"no equilibrium found in {steps} Newton steps", slope, missing)


def _is_small(missing: Missing, slope: Slope, small: float = BALANCED) -> bool:
    pushed = np.abs(missing.reduced) * slope.scale**2
    return bool(np.max(pushed, initial=0.0) <= small and np.max(np.abs(missing.residual), initial=0.0) <= small)


def is_balanced(balance: Balance, missing: Missing, small: float = BALANCED) -> bool:
    """Whether all loops are closed and forces are at round-off: they would displace coordinates by less than `small`, m or rad."""
    return _is_small(missing, slope_of(balance, missing), small)


def _rest(q: Floats, found: bool, way: str, slope: Slope, missing: Missing) -> Rest:
    return Rest(q, found, way, slope.stiffness, missing.free_motions * slope.scale, missing.point.share)


def _words(count: int) -> str:
    return "in balance at the start" if count == 0 else f"Newton, {count} step{'s' if count > 1 else ''}"


def _newton_step(balance: Balance, missing: Missing, slope: Slope, downhill: bool) -> tuple[Floats, bool]:
    """The change of the free coordinates, and whether the stiffness had to be shifted to compute it."""
    allowed = missing.free_motions
    force = missing.reduced
    if missing.residual.size:
        force = force + allowed.T @ (balance.stiffness(missing) @ missing.closing)
    shift = max(-1.5 * slope.lowest, 0.0) + SHIFT if downhill and slope.lowest < LOOSE else 0.0
    try:
        solved = np.linalg.solve(slope.stiffness + shift * np.eye(len(force)), -slope.scale * force)
    except np.linalg.LinAlgError:
        solved = np.full(len(force), np.nan)
    return missing.closing + allowed @ (slope.scale * solved), shift > 0.0


def _limited(balance: Balance, missing: Missing, change: Floats) -> Floats:
    """The step, shortened so that no coordinate moves too far and no contact gets much deeper than needed."""
    longest = np.where(balance.turns, LONGEST_TURN, LONGEST_SHIFT * balance.size)
    change = change * min(1.0, 1.0 / max(float(np.max(np.abs(change) / longest, initial=0.0)), 1e-300))
    if not missing.gaps.size:
        return change
    lowest = -np.maximum(balance.first_depths, DEEPER * np.maximum(-missing.gaps, 0.0))
    if np.all(balance.gaps(balance.moved(missing.point.q, change)) >= lowest):
        return change
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = 0.5 * (low + high)
        fits = np.all(balance.gaps(balance.moved(missing.point.q, middle * change)) >= lowest)
        low, high = (middle, high) if fits else (low, middle)
    return max(low, 1e-6) * change


def _searched(balance: Balance, missing: Missing, change: Floats, share: float, search: bool) -> tuple[Floats, Missing, float]:
    """The step, halved until the potential no longer rises too steeply at its end."""
    first = float(change @ missing.force)
    part = 1.0
    while True:
        q = balance.moved(missing.point.q, part * change)
        there = balance.at(q, share)
        rises = float(change @ there.force) > OVERSHOOT * abs(first) or not np.all(np.isfinite(there.force))
        if not (search and rises) or part < 1e-6:
            return q, there, part
        part *= 0.5


# ---- along the loading path


def _by_load_steps(balance: Balance, start: Floats) -> Rest | None:
    """Gravity, drives and loads grow from zero to their full values; each load step starts from the previous solution.

    If the stiffness becomes singular on the way, the mechanism buckles there, and equilibria beyond lie on another path.
    """
    unloaded = _descend(balance, start, 0.0)
    if not unloaded.found:
        return None
    q, share, step, count, last = unloaded.q, 0.0, 1.0 / LOAD_STEPS, 0, unloaded
    while share < 1.0:
        wanted = min(share + step, 1.0)
        rest = _descend(balance, q, wanted, NEWTON_STEPS, downhill=False)
        if rest.found and _lowest(rest) > LOOSE:
            q, share, step, count, last = rest.q, wanted, 1.5 * step, count + 1, rest
        else:
            step *= 0.5
            if step < SMALLEST_LOAD_STEP:
                return replace(last, found=False, way=_lost(balance, last, share))
    return Rest(rest.q, True, f"{count} load steps", rest.stiffness, rest.free_motions)


def _lowest(rest: Rest) -> float:
    """The lowest eigenvalue of the scaled stiffness."""
    return float(np.linalg.eigvalsh(0.5 * (rest.stiffness + rest.stiffness.T))[0]) if rest.stiffness.size else np.inf


def _lost(balance: Balance, rest: Rest, share: float) -> str:
    from pliant.analysis.modes import largest_parts

    weakest = np.linalg.eigh(0.5 * (rest.stiffness + rest.stiffness.T))[1][:, 0]
    moving = largest_parts(tuple(balance.names), rest.free_motions @ weakest)
    return f"no equilibrium found: at {share:.4g} times its loads the mechanism buckles along {moving}"


def _by_arc_length(balance: Balance, start: Floats) -> Rest | None:
    """Follow the path of equilibria by its arc length until the full load acts, through points where the load must fall."""
    unloaded = _descend(balance, start, 0.0)
    if not unloaded.found:
        return None
    path = LoadingPath(balance, unloaded.q)
    for _ in range(ARC_STEPS):
        if not path.advance() or path.way > FARTHEST:
            return None
        if path.passed_one:
            rest = _descend(balance, path.q_at_one(), 1.0, NEWTON_STEPS, downhill=False)
            if rest.found and path.is_near(rest.q):
                return Rest(rest.q, True, f"arc length, {path.count} steps", rest.stiffness, rest.free_motions)
    return None


class LoadingPath:
    """The path of equilibria over the load fraction, by arc length (Riks 1979) in coordinates scaled by their stiffness."""

    FIRST, SHORTEST, LONGEST, EASY = 0.02, 1e-6, 0.2, 4  # arc lengths; number of Newton steps below which the arc may grow

    def __init__(self, balance: Balance, q: Floats) -> None:
        self.balance, self.q, self.share, self.count, self.way = balance, q, 0.0, 0, 0.0
        self._length = self.FIRST
        self._before = (q, 0.0)
        missing = balance.at(q, 0.0)
        n = len(balance.free)
        self._measure = np.where(balance.turns, 1.0, 1.0 / balance.size)
        self._tangent = np.concatenate([np.zeros(n), [1.0]])
        self._tangent, self._falls = self._direction(missing), self._falling(missing)

    @property
    def passed_one(self) -> bool:
        return (self._before[1] - 1.0) * (self.share - 1.0) <= 0.0

    def q_at_one(self) -> Floats:
        """The coordinates at full load: the nearer of the two points on either side of it."""
        return self.q if abs(self.share - 1.0) < abs(self._before[1] - 1.0) else self._before[0]

    def is_near(self, q: Floats) -> bool:
        """Whether the coordinates lie within the last arc step, and so not on another path."""
        return bool(np.max(np.abs(q - self.q)) <= 2.0 * np.max(np.abs(self.q - self._before[0])) + CLOSE)

    def advance(self) -> bool:
        """Take one arc step; returns False if even the shortest step fails."""
        while self._length >= self.SHORTEST:
            moved = self._corrected()
            if moved is not None and self._goes_on(moved[0][2]):
                (q, share, missing), steps = moved
                self._before, self.q, self.share, self.count = (self.q, self.share), q, share, self.count + 1
                self.way += self._length
                self._tangent, self._falls = self._direction(missing), self._falling(missing)
                if steps <= self.EASY:
                    self._length = min(1.5 * self._length, self.LONGEST)
                return True
            self._length *= 0.5
        return False

    def _falling(self, missing: Missing) -> int:
        """The number of directions in which the potential falls."""
        stiffness = slope_of(self.balance, missing).stiffness
        return int(np.sum(np.linalg.eigvalsh(0.5 * (stiffness + stiffness.T)) < 0.0)) if stiffness.size else 0

    def _goes_on(self, missing: Missing) -> bool:
        """Whether the step stayed on its path: the number of falling directions changes parity exactly where the load turns."""
        turns = self._tangent[-1] * self._direction(missing)[-1] < 0.0
        return bool(turns == ((self._falling(missing) - self._falls) % 2 == 1))

    def _bordered(self, missing: Missing) -> Floats:
        """The bordered matrix [K -A^T R_s; A 0 0; tangent]: rows of balance, closures and arc."""
        balance, m, n = self.balance, len(missing.residual), len(self.balance.free)
        whole = np.zeros((n + m + 1, n + m + 1))
        whole[:n, :n], whole[:n, n : n + m], whole[n : n + m, :n] = balance.stiffness(missing), -missing.matrix.T, missing.matrix
        whole[:n, -1] = balance.share_slope(missing)
        whole[-1, :n], whole[-1, -1] = self._tangent[:-1] * self._measure**2, self._tangent[-1]
        return whole

    def _direction(self, missing: Missing) -> Floats:
        """The unit tangent of the path, pointing onward."""
        n, right = len(self.balance.free), np.zeros(len(self.balance.free) + len(missing.residual) + 1)
        right[-1] = 1.0
        solved = np.linalg.lstsq(self._bordered(missing), right, rcond=None)[0]
        along = np.concatenate([solved[:n], solved[-1:]])
        return np.asarray(along / np.sqrt(np.sum((along[:-1] * self._measure) ** 2) + along[-1] ** 2))

    def _corrected(self) -> tuple[tuple[Floats, float, Missing], int] | None:
        """Newton's method in the plane normal to the tangent, at the arc length of the step."""
        balance, n = self.balance, len(self.balance.free)
        q, share = balance.moved(self.q, self._length * self._tangent[:-1]), self.share + self._length * self._tangent[-1]
        strayed = 0.0
        for count in range(2 * self.EASY + 4):
            missing = balance.at(q, share)
            right = -np.concatenate([missing.force, missing.residual, [0.0]])
            try:
                solved = np.linalg.solve(self._bordered(missing), right)
            except np.linalg.LinAlgError:
                return None
            change, more = solved[:n], float(solved[-1])
            strayed += float(np.max(np.abs(change * self._measure), initial=0.0)) + abs(more)
            if not strayed <= STRAY * self._length:  # it converges to another path
                return None
            q, share = balance.moved(q, change), share + more
            if np.max(np.abs(change * self._measure), initial=0.0) + abs(more) <= CLOSE:
                return (q, share, balance.at(q, share)), count
        return None
