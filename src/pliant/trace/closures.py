"""Loop closures in a trace: multipliers in the equations, projection after every step, penalty springs."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import casadi as ca

from pliant.codegen.tracer import Scalar, Tracer
from pliant.dynamics.algebra import is_zero, total
from pliant.dynamics.closures import ConstraintRows
from pliant.dynamics.loads import AppliedForces
from pliant.dynamics.sparse import Factor, Row, factorise, matvec, symmetric_product
from pliant.model.closure import Closure
from pliant.scalar import sqrt
from pliant.trace.assembly import Assembly

# Regularisation: this fraction of the trace of D over a closure's rows of one kind is added to its diagonal. In a singular position
# D vanishes in some direction, and a residual of round-off size, 1e-16 m, would be divided by zero. Where D has the relative size x
# in a direction, the solution has a relative error of (SINGULAR / (x + SINGULAR))^(REFINED + 1).
SINGULAR = 1e-9
REFINED = 2


# Implied rows are reported open when their residual exceeds the tolerance and this many times that of the rows held. An implied row
# inherits the residual of the rows that imply it when these are not projected to round-off (long steps without error control).
UNPROJECTED = 100.0


def row_names(owners: Sequence[str]) -> tuple[str, ...]:
    """Names of rows: the closure's name and the row's number in it."""
    numbers = {name: itertools.count() for name in owners}
    return tuple(f"{name} {next(numbers[name])}" for name in owners)


def chosen(found: ConstraintRows, keep: Sequence[int]) -> ConstraintRows:
    """Some of the rows."""
    return ConstraintRows(
        owners=tuple(found.owners[k] for k in keep),
        directions=tuple(found.directions[k] for k in keep),
        angular=tuple(found.angular[k] for k in keep),
        residual=[found.residual[k] for k in keep],
        rate=[found.rate[k] for k in keep],
        drift=[found.drift[k] for k in keep],
        gamma=[found.gamma[k] for k in keep],
        jacobian=[found.jacobian[k] for k in keep],
    )


def blended(found: ConstraintRows, blend: Sequence[Sequence[tuple[int, Scalar]]]) -> ConstraintRows:
    """Sums of rows, each of one closure and kind: numbers of the rows, and their weights."""

    def sums(values: Sequence[Scalar]) -> list[Scalar]:
        return [total(w * values[k] for k, w in parts) for parts in blend]

    columns = [sorted({k for i, _ in parts for k in found.jacobian[i]}) for parts in blend]
    return replace(
        chosen(found, [parts[0][0] for parts in blend]),
        residual=sums(found.residual),
        rate=sums(found.rate),
        drift=sums(found.drift),
        gamma=sums(found.gamma),
        jacobian=[
            {k: total(w * found.jacobian[i][k] for i, w in parts if k in found.jacobian[i]) for k in own}
            for parts, own in zip(blend, columns, strict=True)
        ],
    )


@dataclass(frozen=True)
class Closures:
    """The closures of a System in one trace: rows held exactly, rows implied by those, and rows held by penalty springs."""

    exact: Sequence[Closure]
    every: ConstraintRows  # of exact closures
    held: tuple[int, ...]  # which of them are held; the others are implied
    blend: Sequence[Sequence[tuple[int, Scalar]]]  # for each of these: the rows, with weights, whose sum is held instead
    hard: ConstraintRows  # what is held
    column: ca.SX  # symbols of the multipliers
    soft_closures: Sequence[Closure]
    soft: ConstraintRows
    stored: Scalar
    start: Assembly | None  # None where nothing is held exactly

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all rows: exact ones, implied or not, then those of penalty springs."""
        return row_names([owner for owner, _ in self.kinds])

    @property
    def kinds(self) -> tuple[tuple[str, bool], ...]:
        """Of all rows: the name of the closure, and whether the direction is an angle."""
        parts = ((self.exact, self.every), (self.soft_closures, self.soft))
        return tuple((of[k].name, turns) for of, rows in parts for k, turns in zip(rows.owners, rows.angular, strict=True))

    @property
    def implied(self) -> tuple[int, ...]:
        """Numbers of the exact rows that the rows held imply."""
        held = set(self.held)
        return tuple(k for k in range(len(self.every.residual)) if k not in held)

    @property
    def watched(self) -> tuple[int, ...]:
        """Numbers of all exact rows, implied ones first."""
        return (*self.implied, *self.held)

    @property
    def acting_names(self) -> tuple[str, ...]:
        """Names of the rows that exert forces: exact ones that are held, then those of penalty springs."""
        implied = set(self.implied)
        return tuple(name for k, name in enumerate(self.names) if k not in implied)

    def shared(self, multipliers: Sequence[Scalar]) -> list[Scalar]:
        """Multipliers of all exact rows; zero for implied ones, since rigid-body equations do not say how a load is shared."""
        shares: dict[int, list[Scalar]] = {}
        for parts, multiplier in zip(self.blend, multipliers, strict=True):
            for k, weight in parts:
                shares.setdefault(k, []).append(multiplier if len(parts) == 1 else weight * multiplier)
        return [total(shares[k]) if k in shares else 0.0 for k in range(len(self.every.residual))]

    def residuals(self, tolerance: float) -> list[Scalar]:
        """Residuals of the watched rows, then the bound of each: the tolerance, and for implied rows the residual of those held."""
        assert self.start is not None
        c, scale = self.every.residual, self.start.scale
        missed = sqrt(total((c[k] / scale[k]) * (c[k] / scale[k]) for k in self.held))
        bounds = [(tolerance + UNPROJECTED * missed) * scale[k] for k in self.implied] + [tolerance * scale[k] for k in self.held]
        return [*(c[k] for k in self.watched), *bounds]

    @property
    def spring_forces(self) -> list[Scalar]:
        laws = [self.soft_closures[k] for k in self.soft.owners]
        return [-law.spring * c - law.damping * rate
                for law, c, rate in zip(laws, self.soft.residual, self.soft.rate, strict=True)]  # fmt: skip


def push(found: ConstraintRows, multipliers: Sequence[Scalar], applied: AppliedForces) -> None:
    """tau += A^T lam."""
    for row, multiplier in zip(found.jacobian, multipliers, strict=True):
        for k, a in row.items():
            applied.tau[k] = applied.tau[k] + a * multiplier


def motion_power(found: ConstraintRows, closures: Sequence[Closure], forces: Sequence[Scalar]) -> dict[str, Scalar]:
    """Power put in by prescribed motions: the force of a row acts along A v = c' - dc/dt; c' is zero or belongs to the springs."""
    power: dict[str, Scalar] = {}
    for owner, drift, force in zip(found.owners, found.drift, forces, strict=True):
        if closures[owner].prescribed or not is_zero(drift):
            name = f"{closures[owner].name} motion"
            power[name] = power.get(name, 0.0) - force * drift
    return power


def springs(found: ConstraintRows, closures: Sequence[Closure], applied: AppliedForces, pull: bool = True) -> Scalar:
    """Penalty springs: lam = -Ks c - d c' (the published plus sign is unstable); returns the energy they store.

    pull: whether to apply -Ks c here; formulations that differentiate energies obtain it from the stored energy.
    """
    stored: Scalar = 0.0
    power: dict[str, Scalar] = {}
    for k, owner in enumerate(found.owners):
        closure = closures[owner]
        force = (-closure.spring * found.residual[k] if pull else 0.0) - closure.damping * found.rate[k]
        for number, a in found.jacobian[k].items():
            applied.tau[number] = applied.tau[number] + a * force
        stored = stored + 0.5 * closure.spring * found.residual[k] * found.residual[k]
        if closure.damping > 0.0:
            lost = -closure.damping * found.rate[k] * found.rate[k]
            power[f"{closure.name} damper"] = power.get(f"{closure.name} damper", 0.0) + lost
    for name, lost in power.items():
        applied.dissipate(name, lost)
    return stored


@dataclass(frozen=True)
class Solved:
    """Accelerations with the loops closed, the multipliers, and the change that puts the state back on the constraints."""

    accelerations: list[Scalar]
    multipliers: list[Scalar]
    shift: list[Scalar]  # of coordinates, along the rates
    slow: list[Scalar]  # of rates


def solve(
    tracer: Tracer, found: ConstraintRows, every: ConstraintRows, column: ca.SX, accelerations: Sequence[Scalar],
    baumgarte: Scalar | None,
) -> Solved:  # fmt: skip
    """Solves D lam = -(A a0 + gamma) with D = A M^-1 A^T, and takes one Newton step of projection with the same D.

    found: the rows held; every: these and the implied ones. baumgarte: a of c'' = -2 a c' - a^2 c; None for c'' = 0.
    """
    response, free = _response(tracer, column, accelerations)
    delassus = symmetric_product(found.jacobian, response)
    factor = factorise(_softened(found, every, delassus))
    missing = [-gamma - moved for gamma, moved in zip(found.gamma, matvec(found.jacobian, free), strict=True)]
    if baumgarte is not None:
        drifted = [baumgarte * (2.0 * rate + baumgarte * c) for c, rate in zip(found.residual, found.rate, strict=True)]
        missing = [left - back for left, back in zip(missing, drifted, strict=True)]
    multipliers = _refined(factor, delassus, missing)
    closed = [a + more for a, more in zip(free, matvec(response, multipliers), strict=True)]
    # Every step projects again, so the residual that regularisation leaves needs no refinement.
    shift = matvec(response, factor.solve([-c for c in found.residual]))
    slow = matvec(response, factor.solve([-c for c in found.rate]))
    return Solved(closed, multipliers, shift, slow)


def _response(tracer: Tracer, column: ca.SX, accelerations: Sequence[Scalar]) -> tuple[list[Row], list[Scalar]]:
    """M^-1 A^T, row by row, and the accelerations without multipliers."""
    pattern = tracer.sparse_jacobian(accelerations, column)
    entries = [x for row in pattern for x in row.values()]
    none = tracer.column([0.0] * column.numel())
    values = iter(tracer.substitute([*entries, *accelerations], column, none))
    response = [{j: next(values) for j in row} for row in pattern]
    return response, list(values)


def _refined(factor: Factor, matrix: Sequence[Row], right: Sequence[Scalar]) -> list[Scalar]:
    """Solves with the regularised D and refines with D itself, so that regularisation matters only where D is that small."""
    found = factor.solve(right)
    for _ in range(REFINED):
        left = [b - done for b, done in zip(right, matvec(matrix, found), strict=True)]
        found = [a + b for a, b in zip(found, factor.solve(left), strict=True)]
    return found


def _softened(found: ConstraintRows, every: ConstraintRows, delassus: Sequence[Row]) -> list[Row]:
    """D with a small addition to its diagonal, scaled by the closure's own rows of the same kind and independent of its axes.

    Therefore implied rows count too, by the length of their A: the rows held may turn until an implied one would be the better
    choice, and pass through a position in which they hold nothing, for an instant.
    """
    sizes: dict[tuple[int, bool], Scalar] = {}
    kinds = list(zip(found.owners, found.angular, strict=True))
    for i, kind in enumerate(kinds):
        sizes[kind] = sizes.get(kind, 0.0) + delassus[i][i]
    for kind in sizes:
        of_all, of_held = _length(every, kind), _length(found, kind)
        if len(of_all) > len(of_held):
            sizes[kind] = sizes[kind] * (total(of_all) / total(of_held))
    return [{**row, i: row[i] + SINGULAR * sizes[kinds[i]]} for i, row in enumerate(delassus)]


def _length(found: ConstraintRows, kind: tuple[int, bool]) -> list[Scalar]:
    """The squared length of A of the rows of one closure and kind."""
    kinds = zip(found.owners, found.angular, strict=True)
    return [total(a * a for a in row.values()) for row, own in zip(found.jacobian, kinds, strict=True) if own == kind]
