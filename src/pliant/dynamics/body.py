"""One body in its own frame: u = [omega, v, qf'], Gibbs function M_b(qf) u' + h_b(qf, omega, qf').

A rigid body is a point mass with rotary inertia; a beam adds the modes' integrals. With r = sum_a rho_a W_a, rho_0 = 1,
W_0 the undeformed position and rho_j = qf_j, all that depends on the shape comes from C_ab = int mu W_a W_b^T.
Accelerations are those of the frame's origin in space, so h_b never asks for its velocity.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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
    transpose,
)


@dataclass(frozen=True)
class BodyConstants:
    """Integrals of a body, as floats; nf modes."""

    mass: float  # kg
    first: Vec  # int mu r0, kg m
    first_modal: tuple[Vec, ...]  # int mu W_j
    second: tuple[tuple[Mat, ...], ...]  # C_ab, kg m^2
    rotary: Mat  # int J, kg m^2
    rotary_modal: tuple[Vec, ...]  # int J Theta_j
    modal_mass: tuple[tuple[float, ...], ...]  # int mu W_j . W_k + Theta_j^T J Theta_k
    stiffness: tuple[tuple[float, ...], ...]  # of the modes, N/m
    damping: tuple[tuple[str, tuple[tuple[float, ...], ...]], ...]  # kind, matrix of the modal rates

    @property
    def modes(self) -> int:
        return len(self.first_modal)


@dataclass(frozen=True)
class Shape:
    """A body at one deformation: the pieces of M_b and h_b that the recursions share."""

    body: BodyConstants
    qf: Sequence[Scalar]
    moment: Vec  # int mu r
    partial: tuple[Mat, ...]  # K_a = sum_b rho_b C_ab = int mu W_a r^T
    spread: Mat  # C = int mu r r^T

    @classmethod
    def at(cls, body: BodyConstants, qf: Sequence[Scalar]) -> Shape:
        rho = (1.0, *qf)
        moment = body.first
        for q, column in zip(qf, body.first_modal, strict=True):
            moment = add(moment, scale(q, column))
        partial = tuple(_combine(rho, row) for row in body.second)
        return cls(body, qf, moment, partial, _combine(rho, partial))

    def point_inertia(self) -> Mat:
        """int mu (r^2 1 - r r^T)."""
        return mat_sub(mat_scale(trace(self.spread), IDENTITY), self.spread)

    def inertia(self) -> Mat:
        return mat_add(self.point_inertia(), self.body.rotary)

    def coupling(self, j: int) -> tuple[Vec, Vec]:
        """(angular, linear) column of mode j: int mu r x W_j + J Theta_j, int mu W_j."""
        turning = axial(transpose(self.partial[j + 1]))
        return add(turning, self.body.rotary_modal[j]), self.body.first_modal[j]

    def bias(self, omega: Vec, rates: Sequence[Scalar]) -> tuple[Vec, Vec, list[Scalar]]:
        """h_b: moment about the origin, force, and one entry per mode."""
        body, n = self.body, self.body.modes
        drift, flow, spin = ZERO, NULL, times(body.rotary, omega)
        for j in range(n):
            drift = add(drift, scale(rates[j], body.first_modal[j]))
            flow = mat_add(flow, mat_scale(rates[j], self.partial[j + 1]))  # int mu w r^T
            spin = add(spin, scale(rates[j], body.rotary_modal[j]))
        force = add(cross(omega, cross(omega, self.moment)), scale(2.0, cross(omega, drift)))
        coriolis = sub(scale(trace(flow), omega), times(flow, omega))  # int r x (omega x w)
        gyroscopic = cross(omega, add(times(self.point_inertia(), omega), spin))
        moment = add(gyroscopic, scale(2.0, coriolis))
        return moment, force, [self._modal_bias(j, omega, rates) for j in range(n)]

    def _modal_bias(self, j: int, omega: Vec, rates: Sequence[Scalar]) -> Scalar:
        """int mu W_j . (omega x (omega x r) + 2 omega x w)."""
        own = self.partial[j + 1]
        centrifugal = dot(omega, times(own, omega)) - dot(omega, omega) * trace(own)
        swirl = ZERO
        for k in range(self.body.modes):
            swirl = add(swirl, scale(rates[k], axial(self.body.second[k + 1][j + 1])))
        return centrifugal + 2.0 * dot(omega, swirl)

    def kinetic_energy(self, omega: Vec, velocity: Vec, rates: Sequence[Scalar]) -> Scalar:
        """T, from the same integrals, for the witness and the ledger."""
        body = self.body
        drift, turning = ZERO, ZERO
        for j, rate in enumerate(rates):
            angular, linear = self.coupling(j)
            drift, turning = add(drift, scale(rate, linear)), add(turning, scale(rate, angular))
        modal = quadratic(body.modal_mass, rates)
        rigid = body.mass * dot(velocity, velocity) + dot(omega, times(self.inertia(), omega)) + modal
        return 0.5 * rigid + dot(velocity, add(cross(omega, self.moment), drift)) + dot(omega, turning)

    def momentum(self, omega: Vec, velocity: Vec, rates: Sequence[Scalar]) -> tuple[Vec, Vec]:
        """Angular momentum about the frame's origin, and momentum, in the body's axes."""
        angular = add(cross(self.moment, velocity), times(self.inertia(), omega))
        linear = add(scale(self.body.mass, velocity), cross(omega, self.moment))
        for j, rate in enumerate(rates):
            turning, drift = self.coupling(j)
            angular, linear = add(angular, scale(rate, turning)), add(linear, scale(rate, drift))
        return angular, linear


def quadratic(matrix: Sequence[Sequence[float]], x: Sequence[Scalar]) -> Scalar:
    """x^T matrix x."""
    return total(x[j] * total(row[k] * x[k] for k in range(len(x))) for j, row in enumerate(matrix))


def linear(matrix: Sequence[Sequence[float]], x: Sequence[Scalar]) -> list[Scalar]:
    return [total(row[k] * x[k] for k in range(len(x))) for row in matrix]


def _combine(weights: Sequence[Scalar], matrices: Sequence[Mat]) -> Mat:
    result = NULL
    for weight, matrix in zip(weights, matrices, strict=True):
        result = mat_add(result, mat_scale(weight, matrix))
    return result


