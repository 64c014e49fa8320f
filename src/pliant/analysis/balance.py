"""Static equilibrium as numbers: the residual forces, their exact stiffness, and the motions that closed loops leave free."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import casadi as ca
import numpy as np

from pliant.analysis.implicit_equations import EvaluationPoint, ImplicitEquations
from pliant.analysis.kinks import no_slope
from pliant.analysis.operating_point import gaps_at, touching
from pliant.arrays import Floats
from pliant.model.joint import BALL, ROTATION
from pliant.trace.assembly import size_of

SINGULAR = 1e-12  # fraction of the largest pivot of the closure rows
STILL = 1e-9  # m/s or rad/s: a closure rate below this counts as zero
TOUCH_SHARE = 1e-6  # fraction of the mechanism's size: target depth of a first contact if there is no weight or load


@dataclass(frozen=True)
class Missing:
    """The residual of the static balance at given coordinates, over the free rates."""

    point: EvaluationPoint
    force: Floats  # residual forces: required by the equations, minus applied forces, minus multiplier forces
    residual: Floats  # c, the closure residuals
    matrix: Floats  # A
    free_motions: Floats  # N: an orthonormal basis of the motions that the closures allow
    closing: Floats  # the smallest change that closes the loops, to first order
    gaps: Floats

    @property
    def reduced(self) -> Floats:
        """Residual forces projected on the motions that the closures allow."""
        return np.asarray(self.free_motions.T @ self.force)


class Balance:
    """The equations of static balance of one System; the coordinates in `turning` move at a steady rate."""

    def __init__(self, equations: ImplicitEquations, t: float, turning: Mapping[str, float]) -> None:
        self.equations, self.t = equations, t
        rates = list(equations.tree.rates)
        self.v = np.zeros(len(rates))
        for name, speed in turning.items():
            self.v[rates.index(name)] = speed
        driven = {*equations.moved_v, *(rates.index(name) for name in turning)}
        self.free = [k for k in range(len(rates)) if k not in driven]
        self.names = [rates[k] for k in self.free]
        turned = {slot.v + i for slot in equations.tree.slots if slot.motion.kind in (ROTATION, BALL)
                  for i in range(len(slot.motion.rates))}  # fmt: skip
        self.turns = np.array([k in turned for k in self.free], dtype=bool)
        self.size = size_of(equations.tree, list(equations.system.closures.values()), equations.start_q)

    def loops_that_move(self, q: Floats) -> list[str]:
        """Names of the closures that open when the driven coordinates move and all others are at rest."""
        closures = self.equations.symbols.closures
        if not closures.hard.rate:
            return []
        at = self.equations.point(self.t, q, self.v)
        (rates,) = self.equations.evaluate("rates", lambda e: [e.tracer.column(e.closures.hard.rate)], at)
        moving = [closures.exact[owner].name for owner, rate in zip(closures.hard.owners, rates.ravel(), strict=True)
                  if abs(rate) > STILL * max(1.0, float(np.max(np.abs(self.v), initial=0.0)))]  # fmt: skip
        return list(dict.fromkeys(moving))

    def gaps(self, q: Floats) -> Floats:
        if not self.equations.pairs:
            return np.zeros(0)
        return gaps_at(self.equations, self.t, q, self.v)

    def at(self, q: Floats, share: float = 1.0) -> Missing:
        """The balance at q: contacts with a negative gap are closed, and the multipliers minimise the residual forces."""
        gaps = self.gaps(q)
        point = replace(self.equations.point(self.t, q, self.v, touching(self.equations, gaps)), share=share)
        force, residual, matrix = self.equations.evaluate(
            "balance", lambda e: [e.residual_column, e.closing_column, e.closure_matrix], point
        )
        force, matrix = force.ravel()[self.free], matrix[:, self.free]
        residual = residual.ravel()
        if not residual.size:
            return Missing(point, force, residual, matrix, np.eye(len(self.free)), np.zeros(len(self.free)), gaps)
        directions, triangle = np.linalg.qr(matrix.T, mode="complete")  # A^T = Q R: Q's first columns close, the others are free
        m = len(matrix)
        closing, allowed, triangle = directions[:, :m], directions[:, m:], triangle[:m]
        multipliers = _solved(triangle, closing.T @ force)
        point, force = replace(point, multipliers=multipliers), force - matrix.T @ multipliers
        return Missing(point, force, residual, matrix, allowed, -closing @ _solved(triangle.T, residual), gaps)

    def stiffness(self, missing: Missing) -> Floats:
        """dR/dxi over the free rates, with the multipliers held constant."""
        (slope,) = self.equations.evaluate("stiffness", lambda e: [ca.jacobian(e.residual_column, e.q_column)], missing.point)
        whole = slope @ self.equations.tangent(missing.point.q)
        if not np.all(np.isfinite(whole)):
            raise no_slope(self.equations, missing.point)
        return np.asarray(whole[np.ix_(self.free, self.free)])

    def share_slope(self, missing: Missing) -> Floats:
        """dR/d(share), where share is the fraction of gravity, drives and loads that acts."""
        (slope,) = self.equations.evaluate("share", lambda e: [ca.jacobian(e.residual_column, e.share_column)], missing.point)
        return np.asarray(slope.ravel()[self.free])

    def moved(self, q: Floats, change: Floats) -> Floats:
        """The coordinates after a displacement along the free rates."""
        whole = np.zeros(len(self.equations.tree.rates))
        whole[self.free] = change
        return self.equations.moved(q, whole)

    @cached_property
    def moving(self) -> ImplicitEquations:
        """The full equations, including rates and accelerations."""
        return self.equations.moving()

    @cached_property
    def inertia(self) -> Floats:
        """The diagonal of the mass matrix at the start, over the free rates; it scales coordinates of different kinds."""
        at = self.moving.point(self.t, self.equations.start_q, self.v)
        (mass,) = self.moving.evaluate("mass", lambda e: [ca.jacobian(e.residual_column, e.a_column)], at)
        diagonal = np.diag(mass)[self.free]
        return np.asarray(np.where(diagonal > 0.0, diagonal, np.max(diagonal, initial=1.0)))

    @cached_property
    def first_depths(self) -> Floats:
        """For each contact pair, the depth at which its law carries the weight or the load of the mechanism, m."""
        load = self._load()
        return np.array([_depth(pair.normal, load, TOUCH_SHARE * self.size) for pair in self.equations.pairs])

    def _load(self) -> float:
        """The weight of the mechanism, or its largest load at the start if that is larger, N."""
        system = self.equations.system
        slope = self.share_slope(self.at(self.equations.start_q))
        weight = float(system.mass) * float(np.linalg.norm(np.asarray(system.gravity, dtype=np.float64)))
        return max(weight, float(np.max(np.abs(slope), initial=0.0)))


def _solved(matrix: Floats, right: Floats) -> Floats:
    """The solution of a triangular system; the minimum-norm solution if the position is singular."""
    pivots = np.abs(np.diag(matrix))
    if np.min(pivots) > SINGULAR * np.max(pivots):
        return np.asarray(np.linalg.solve(matrix, right))
    return np.asarray(np.linalg.lstsq(matrix, right, rcond=None)[0], dtype=np.float64)


def _depth(law: object, load: float, least: float) -> float:
    """The depth at which law.force(depth) = load, to about 10 %; the force grows with the depth."""
    depth = least
    for _ in range(200):
        force = float(law.force(depth, 0.0, law.entry_floor))  # type: ignore[attr-defined]
        if not force < load:
            return depth
        depth *= 1.2
    return least
