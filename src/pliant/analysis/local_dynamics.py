"""The derivatives of all equations at an operating point, and the balance of forces there."""

from __future__ import annotations

from dataclasses import replace

import casadi as ca
import numpy as np

from pliant.analysis.implicit_equations import EvaluationPoint, ImplicitEquations
from pliant.analysis.jacobians import Derivatives, derivatives
from pliant.analysis.kinks import no_slope
from pliant.analysis.modes import largest_parts
from pliant.analysis.operating_point import OperatingPoint
from pliant.analysis.symbolic_equations import SymbolicEquations
from pliant.arrays import Floats
from pliant.errors import SolveError
from pliant.integrate.loop.grip_states import STICKS
from pliant.run.starts import lightened

# m/s or rad/s: friction laws without a sticking state are differentiated at this rate, because at rest their slope has two sides.
# Round-off, and the curvature of a law over speeds of 1 mm/s, each leave an error of 1e-8 of the slope.
CRAWL = 1e-11
FRICTION_STEPS = 8  # of Newton's method: the loads of joints with friction are not linear in the accelerations


class SingularMass(SolveError):
    """Some coordinates have no inertia: they can rest, but no equation determines their motion."""


class Dynamics:
    """The derivatives of all equations at an operating point, and accelerations and forces there."""

    def __init__(self, equations: ImplicitEquations, operating: OperatingPoint) -> None:
        self.equations = equations
        rates = list(equations.tree.rates)
        self.driven = sorted({*equations.moved_v, *(rates.index(name) for name in operating.held)})
        self.free = [k for k in range(len(rates)) if k not in self.driven]
        point = equations.point(operating.t, operating.q, operating.v, operating.contacts, operating.inputs)
        equations.check_struts(point)
        if operating.bristles is not None:
            point = replace(point, bristles=operating.bristles)
        self.sticking = self._sticking(operating)
        self.point = self._solved(point)
        self.rows = derivatives(equations, "residual", lambda e: e.residual, self._crawling(operating))
        if not np.all(np.isfinite(self.rows.xi)) or not np.all(np.isfinite(self.rows.v)):
            raise no_slope(equations, self.point)
        self.seconds = self._kept(derivatives(equations, "seconds", lambda e: e.constraint_seconds, self.point))
        self.rates = self._kept(derivatives(equations, "rates", lambda e: e.constraint_rates, self.point))
        self.bristle_rates = derivatives(equations, "bristles", lambda e: e.bristle_rates, self._crawling(operating))

    def _sticking(self, operating: OperatingPoint) -> list[int]:
        """Active constraint rows: all closure rows, and the slip of closed contacts whose friction sticks."""
        hard = len(self.equations.symbols.closures.hard.residual)
        rows, k = list(range(hard)), hard
        for contact in self.equations.symbols.gripping:
            for _ in contact.kinematics.slip:
                doing = operating.contacts.get(contact.kinematics.pair.name, (0.0, 0.0))[1]
                rows += [k] if doing == STICKS else []
                k += 1
        return rows

    def _kept(self, of: Derivatives) -> Derivatives:
        keep = self.sticking
        return Derivatives(*(getattr(of, name)[keep] for name in of.__dataclass_fields__))

    def _crawling(self, operating: OperatingPoint) -> EvaluationPoint:
        """The point with small rates added if a joint or a closed contact has friction; else the point itself."""
        symbols = self.equations.symbols
        rubs = symbols.rubbing or any(contact.kinematics.slip and contact.kinematics.pair.friction is not None
                   and contact.kinematics.pair.name in operating.contacts for contact in symbols.contacts)  # fmt: skip
        if not rubs:
            return self.point
        crawl = CRAWL * np.cos(1.0 + np.arange(self.point.v.size))  # an arbitrary direction
        crawl[self.driven] = 0.0
        return replace(self.point, v=self.point.v + crawl)

    def _massless(self, mass: Floats) -> str:
        names = tuple(self.equations.tree.rates[k] for k in self.free)
        moving = largest_parts(names, np.linalg.svd(mass)[2][-1])
        part = f"system {self.equations.system.name!r}"
        why = lightened(self.equations.system)
        return f"{part}: the mass matrix is singular: no mass or inertia resists a motion of {moving}{why}"

    def _solved(self, point: EvaluationPoint) -> EvaluationPoint:
        """The point with accelerations and constraint forces solved for; at an equilibrium the accelerations are zero."""
        equations = self.equations

        def outputs(e: SymbolicEquations) -> list[ca.SX]:
            rows, seconds = e.residual_column, e.tracer.column(e.constraint_seconds)
            return [rows, ca.jacobian(rows, e.a_column), ca.jacobian(rows, e.force_column), seconds,
                    ca.jacobian(seconds, e.a_column)]  # fmt: skip

        hard, free, keep = equations.symbols.closures.column.numel(), self.free, self.sticking
        a, acting = point.a.copy(), np.zeros(equations.symbols.force_column.numel())
        for _ in range(FRICTION_STEPS if equations.symbols.rubbing else 1):
            force, mass, pushes, second, matrix = equations.evaluate("accelerations", outputs, point)
            whole = np.block([[mass[np.ix_(free, free)], pushes[np.ix_(free, keep)]],
                              [matrix[np.ix_(keep, free)], np.zeros((len(keep), len(keep)))]])  # fmt: skip
            right = -np.concatenate([force.ravel()[free], second.ravel()[keep]])
            try:
                solved = np.linalg.lstsq(whole, right, rcond=None)[0] if keep else np.linalg.solve(whole, right)
            except np.linalg.LinAlgError:
                raise SingularMass(self._massless(mass[np.ix_(free, free)])) from None
            a[free] += solved[: len(free)]
            acting[keep] += solved[len(free) :]
            point = replace(point, a=a.copy(), multipliers=acting[:hard].copy(), held=acting[hard:].copy())
        return point
