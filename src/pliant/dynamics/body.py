"""One body in its own frame: u = [omega, v, z'], Gibbs function M_b(z) u' + h_b(z, omega, z').

A body's material moves by fixed fields: r = sum_A rho_A(z) W_A, section rotation sum_A rho_A(z) Theta_A. Bodies differ only in the
weights rho as functions of the body's coordinates z: a rigid body has one field, its position, of weight one; a beam adds a field
of weight z_j for each mode; a beam that foreshortens adds fields of weight z_j z_k or z^T S z / 2; a telescopic link has fields
whose integrals depend on its free length. With the columns d rho/dz and the bias rho'' at z'' = 0, one set of formulas serves all
bodies. Accelerations are those of the frame's origin in space, so h_b does not depend on its velocity.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

from pliant.dynamics.algebra import (
    IDENTITY,
    NULL,
    ZERO,
    Mat,
    Scalar,
    Vec,
    add,
    axial,
    cross,
    dot,
    mat_add,
    mat_scale,
    mat_sub,
    scale,
    sub,
    times,
    total,
    trace,
    transposed_times,
)

Weights = Mapping[int, Scalar]  # by field; missing entries are zero


@dataclass(frozen=True)
class Fields:
    """Integrals of a body's fields W_A, Theta_A over its material."""

    mass: float  # kg
    first: Sequence[Vec]  # S_A = int mu W_A
    second: Sequence[Sequence[Mat]]  # C_AB = int mu W_A W_B^T
    rotary: Mat  # int J, kg m^2
    rotary_first: Sequence[Vec]  # int J Theta_A
    pair: Sequence[Sequence[Scalar]]  # int mu W_A . W_B + Theta_A^T J Theta_B


@dataclass(frozen=True)
class FieldWeights:
    """The weights of the fields at one state."""

    position: Weights  # rho
    rate: Weights  # rho'
    columns: Sequence[Weights]  # d rho/dz, one per coordinate
    bias: Weights = field(default_factory=dict)  # rho'' with z'' = 0
    coriolis: bool = True  # whether Coriolis terms are included; published models leave them out


class Body(Protocol):
    """The interface of a body to the recursions."""

    @property
    def coordinates(self) -> int: ...
    @property
    def mass(self) -> float: ...
    @property
    def damping(self) -> Sequence[str]: ...
    def fields(self, z: Sequence[Scalar]) -> Fields: ...
    def drag_fields(self, z: Sequence[Scalar]) -> Fields | None: ...
    def field_weights(self, z: Sequence[Scalar], rates: Sequence[Scalar]) -> FieldWeights: ...
    def strain_energy(self, z: Sequence[Scalar]) -> Scalar: ...
    def strain_forces(self, z: Sequence[Scalar]) -> list[Scalar]: ...
    def damping_forces(self, kind: str, z: Sequence[Scalar], rates: Sequence[Scalar]) -> list[Scalar]: ...


@dataclass(frozen=True)
class Shape:
    """A body at one state: the parts of M_b and h_b that the recursions share."""

    fields: Fields
    weights: FieldWeights
    moment: Vec  # int mu r
    against: Mapping[int, Mat]  # int mu r W_B^T, for every field B in use
    extent: Mat  # int mu r r^T

    @classmethod
    def at(cls, body: Body, z: Sequence[Scalar], rates: Sequence[Scalar], fields: Fields | None = None) -> Shape:
        """fields: integrals in place of the body's own."""
        fields, weights = fields or body.fields(z), body.field_weights(z, rates)
        used = sorted({b for w in (weights.position, weights.rate, weights.bias, *weights.columns) for b in w})
        against = {b: _matrix(weights.position, [row[b] for row in fields.second]) for b in used}
        moment = combine(weights.position, fields.first)
        return cls(fields, weights, moment, against, _matrix(weights.position, against))

    @property
    def count(self) -> int:
        return len(self.weights.columns)

    def point_inertia(self) -> Mat:
        """int mu (r^2 1 - r r^T)."""
        return mat_sub(mat_scale(trace(self.extent), IDENTITY), self.extent)

    def inertia(self) -> Mat:
        return mat_add(self.point_inertia(), self.fields.rotary)

    def coupling(self, j: int) -> tuple[Vec, Vec]:
        """(angular, linear) column of coordinate j: int mu r x r_j + J Theta_j, int mu r_j."""
        return self._carried(self.weights.columns[j])

    def own_mass(self, j: int, k: int) -> Scalar:
        """int mu r_j . r_k + Theta_j^T J Theta_k."""
        return self._pair(self.weights.columns[j], self.weights.columns[k])

    def bias(self, omega: Vec) -> tuple[Vec, Vec, list[Scalar]]:
        """h_b: moment about the origin, force, and one entry per coordinate."""
        return *self.frame_bias(omega), self.own_bias(omega)

    def frame_bias(self, omega: Vec) -> tuple[Vec, Vec]:
        """The frame part of h_b: moment about the origin, and force."""
        weights, fields = self.weights, self.fields
        rate = weights.rate if weights.coriolis else {}
        drift = combine(rate, fields.first)
        flow = _matrix(rate, self.against)  # int mu r r'^T
        spin = add(times(fields.rotary, omega), combine(rate, fields.rotary_first))
        turned, pushed = self._carried(weights.bias)
        force = add(add(cross(omega, cross(omega, self.moment)), scale(2.0, cross(omega, drift))), pushed)
        coriolis = sub(scale(trace(flow), omega), transposed_times(flow, omega))  # int r x (omega x r')
        gyroscopic = cross(omega, add(times(self.point_inertia(), omega), spin))
        moment = add(add(gyroscopic, scale(2.0, coriolis)), turned)
        return moment, force

    def own_bias(self, omega: Vec) -> list[Scalar]:
        """The part of h_b that belongs to the body's coordinates."""
        return [self._own_bias(column, omega) for column in self.weights.columns]

    def _own_bias(self, column: Weights, omega: Vec) -> Scalar:
        """int mu r_j . (omega x (omega x r) + 2 omega x r' + r''), plus the rotary terms of the sections."""
        own = _matrix(column, self.against)
        centrifugal = dot(omega, times(own, omega)) - dot(omega, omega) * trace(own)
        swirl = ZERO
        for d, g in column.items() if self.weights.coriolis else ():
            swirl = add(swirl, scale(g, self.swirls[d]))
        return centrifugal + 2.0 * dot(omega, swirl) + self._pair(column, self.weights.bias)

    @cached_property
    def swirls(self) -> Mapping[int, Vec]:
        """int mu r' x W_d of every field d of a column."""
        used = sorted({d for column in self.weights.columns for d in column})
        return {d: axial(_matrix(self.weights.rate, [row[d] for row in self.fields.second])) for d in used}

    def kinetic_energy(self, omega: Vec, velocity: Vec) -> Scalar:
        """Kinetic energy T from the same integrals, for verification and for the energy ledger."""
        turning, drift = self._carried(self.weights.rate)
        own = self._pair(self.weights.rate, self.weights.rate)
        rigid = self.fields.mass * dot(velocity, velocity) + dot(omega, times(self.inertia(), omega)) + own
        return 0.5 * rigid + dot(velocity, add(cross(omega, self.moment), drift)) + dot(omega, turning)

    def momentum(self, omega: Vec, velocity: Vec) -> tuple[Vec, Vec]:
        """Angular momentum about the frame's origin, and momentum, in the body's axes."""
        turning, drift = self._carried(self.weights.rate)
        angular = add(add(cross(self.moment, velocity), times(self.inertia(), omega)), turning)
        return angular, add(add(scale(self.fields.mass, velocity), cross(omega, self.moment)), drift)

    def own_momentum(self, omega: Vec, velocity: Vec) -> list[Scalar]:
        """dT/dz', one entry per coordinate."""
        found = []
        for column in self.weights.columns:
            turning, drift = self._carried(column)
            found.append(dot(omega, turning) + dot(velocity, drift) + self._pair(column, self.weights.rate))
        return found

    def _carried(self, weights: Weights) -> tuple[Vec, Vec]:
        """(int mu r x w + J theta, int mu w) for the field with these weights."""
        turning = axial(_matrix(weights, self.against))
        return add(turning, combine(weights, self.fields.rotary_first)), combine(weights, self.fields.first)

    def _pair(self, left: Weights, right: Weights) -> Scalar:
        return total(a * b * self.fields.pair[i][j] for i, a in left.items() for j, b in right.items())


@dataclass(frozen=True)
class BeamBody:
    """A rigid body (no modes) or a beam: field 0 is the undeformed position, the others are modes of weight z_j.

    Each of the `products` of two or three modes, (j, k) or (j, k, l), adds a field of weight z_j z_k or z_j z_k z_l: the axial
    shortening due to bending, and the corresponding correction of the transverse displacement. Each of the `forms` S adds, before
    them, a field of weight 1/2 z^T S z: the axial shortening of a beam with many modes.
    """

    constants: Fields
    modes: int
    stiffness: tuple[tuple[float, ...], ...] = ()  # stiffness matrix of the modes, N/m
    dampings: tuple[tuple[str, tuple[tuple[float, ...], ...]], ...] = ()  # kind, matrix of the modal rates
    products: tuple[tuple[int, ...], ...] = ()
    forms: tuple[tuple[tuple[float, ...], ...], ...] = ()  # 1/m
    coriolis: bool = True
    drag: Fields | None = None  # the same integrals with drag per length in place of mass, kg/(m s)

    @property
    def coordinates(self) -> int:
        return self.modes

    @property
    def mass(self) -> float:
        return self.constants.mass

    @property
    def damping(self) -> tuple[str, ...]:
        return tuple(kind for kind, _ in self.dampings)

    def fields(self, z: Sequence[Scalar]) -> Fields:
        return self.constants

    def drag_fields(self, z: Sequence[Scalar]) -> Fields | None:
        return self.drag

    def field_weights(self, z: Sequence[Scalar], rates: Sequence[Scalar]) -> FieldWeights:
        position: dict[int, Scalar] = {0: 1.0, **{j + 1: z[j] for j in range(self.modes)}}
        rate: dict[int, Scalar] = {j + 1: rates[j] for j in range(self.modes)}
        columns: list[dict[int, Scalar]] = [{j + 1: 1.0} for j in range(self.modes)]
        bias: dict[int, Scalar] = {}
        for number, form in enumerate(self.forms, start=1 + self.modes):
            slopes = linear(form, z)
            position[number] = 0.5 * total(a * b for a, b in zip(z, slopes, strict=True))
            rate[number] = total(a * b for a, b in zip(rates, slopes, strict=True))
            bias[number] = quadratic_form(form, rates)
            for column, slope in zip(columns, slopes, strict=True):
                column[number] = slope
        for number, modes in enumerate(self.products, start=1 + self.modes + len(self.forms)):
            position[number], others = _product(z, modes), _without_each(modes)
            rate[number] = total(rates[j] * _product(z, rest) for j, rest in others)
            both = [(j, k, rest) for j, left in others for k, rest in _without_each(left)]
            bias[number] = total(rates[j] * rates[k] * _product(z, rest) for j, k, rest in both) if self.coriolis else 0.0
            for j, rest in others:
                columns[j][number] = columns[j].get(number, 0.0) + _product(z, rest)
        return FieldWeights(position, rate, columns, bias, self.coriolis)

    def strain_energy(self, z: Sequence[Scalar]) -> Scalar:
        return 0.5 * quadratic_form(self.stiffness, z)

    def strain_forces(self, z: Sequence[Scalar]) -> list[Scalar]:
        return linear(self.stiffness, z)

    def damping_forces(self, kind: str, z: Sequence[Scalar], rates: Sequence[Scalar]) -> list[Scalar]:
        return linear(dict(self.dampings)[kind], rates)


def _product(z: Sequence[Scalar], modes: Sequence[int]) -> Scalar:
    found: Scalar = 1.0
    for k, j in enumerate(modes):
        found = z[j] if k == 0 else found * z[j]
    return found


def _without_each(modes: Sequence[int]) -> list[tuple[int, tuple[int, ...]]]:
    """For each mode of a product, that mode and the remaining ones."""
    return [(j, (*modes[:k], *modes[k + 1 :])) for k, j in enumerate(modes)]


def quadratic_form(matrix: Sequence[Sequence[Scalar]], x: Sequence[Scalar]) -> Scalar:
    """x^T matrix x."""
    return total(x[j] * total(row[k] * x[k] for k in range(len(x))) for j, row in enumerate(matrix))


def linear(matrix: Sequence[Sequence[Scalar]], x: Sequence[Scalar]) -> list[Scalar]:
    return [total(row[k] * x[k] for k in range(len(x))) for row in matrix]


def combine(weights: Weights, vectors: Sequence[Vec]) -> Vec:
    """Sum of weight times vector."""
    result = ZERO
    for a, weight in weights.items():
        result = add(result, scale(weight, vectors[a]))
    return result


def _matrix(weights: Weights, matrices: Mapping[int, Mat] | Sequence[Mat]) -> Mat:
    result = NULL
    for a, weight in weights.items():
        result = mat_add(result, mat_scale(weight, matrices[a]))
    return result
