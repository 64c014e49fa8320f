"""The derivatives of all equations at an operating point, and the balance of forces there."""

from __future__ import annotations

from dataclasses import replace

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from pliant.analysis.implicit_equations import EvaluationPoint, ImplicitEquations
from pliant.analysis.jacobians import Derivatives, derivatives
from pliant.analysis.kinks import no_slope
from pliant.analysis.modes import largest_parts
from pliant.analysis.operating_point import OperatingPoint
from pliant.errors import SolveError
from pliant.integrate.loop.grip_states import STICKS
from pliant.run.starts import lightened

Floats = NDArray[np.float64]

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
        self.rows = self._derivatives(equations.residual_column, self._crawling(operating))
        if not np.all(np.isfinite(self.rows.xi)) or not np.all(np.isfinite(self.rows.v)):
            raise no_slope(equations, self.point)
        self.seconds = self._kept(self._derivatives(self._column(equations.constraint_seconds), self.point))
        self.rates = self._kept(self._derivatives(self._column(equations.constraint_rates), self.point))
        self.bristle_rates = self._derivatives(self._column(equations.bristle_rates), self._crawling(operating))

    def _column(self, scalars: object) -> ca.SX:
        return self.equations.tracer.column(scalars)  # type: ignore[arg-type]

    def _derivatives(self, rows: ca.SX, point: EvaluationPoint) -> Derivatives:
        return derivatives(self.equations, rows, point)

    def _sticking(self, operating: OperatingPoint) -> list[int]:
        """Active constraint rows: all closure rows, and the slip of closed contacts whose friction sticks."""
        hard = len(self.equations.closures.hard.residual)
        rows, k = list(range(hard)), hard
        for contact in self.equations.gripping:
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
        rubs = self.equations.rubbing or any(contact.kinematics.slip and contact.kinematics.pair.friction is not None
                   and contact.kinematics.pair.name in operating.contacts for contact in self.equations.contacts)  # fmt: skip
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
        rows, seconds = equations.residual_column, self._column(equations.constraint_seconds)
        forces = ca.vertcat(equations.closures.column, equations.held_column)
        outputs = [rows, ca.jacobian(rows, equations.a_column), ca.jacobian(rows, forces), seconds,
                   ca.jacobian(seconds, equations.a_column)]  # fmt: skip
        function, hard = equations.function("accelerations", outputs), equations.closures.column.numel()
        free, keep = self.free, self.sticking
        a, acting = point.a.copy(), np.zeros(forces.numel())
        for _ in range(FRICTION_STEPS if equations.rubbing else 1):
            force, mass, pushes, second, matrix = (np.array(x) for x in function.call(point.arguments))
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
