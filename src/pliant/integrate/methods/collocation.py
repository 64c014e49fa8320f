"""Radau IIA methods as data: collocation at the Radau points, any odd number of stages.  (Hairer, Wanner II, IV.5 and IV.8.)

Stiffly accurate, A-stable and L-stable; order 2 s - 1, stage order s.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.polynomial import legendre, polynomial
from numpy.typing import NDArray

Floats = NDArray[np.float64]

POLISH = 3  # Newton steps to polish the roots that NumPy finds


@dataclass(frozen=True)
class RadauIIA:
    """Z = h A F(Z), z_s = y1 - y0; A^-1 = T diag(pole, [[a, -b], [b, a]], ...) T^-1."""

    stages: int

    @property
    def order(self) -> int:
        return 2 * self.stages - 1

    @property
    def error_order(self) -> int:
        """The error estimate is proportional to h^(error_order + 1)."""
        return self.stages

    @property
    def dense_order(self) -> int:
        return self.stages

    @property
    def terms(self) -> int:
        """Number of dense-output terms given by rows: none, since it is the collocation polynomial."""
        return 0

    @property
    def pairs(self) -> int:
        return (self.stages - 1) // 2

    @cached_property
    def nodes(self) -> Floats:
        """Roots of P_s - P_(s-1), from [-1, 1] to [0, 1]; the last is 1."""
        s = self.stages
        series = np.zeros(s + 1)
        series[s - 1], series[s] = -1.0, 1.0
        x = np.sort(np.real(legendre.legroots(series)))
        slope = legendre.legder(series)
        for _ in range(POLISH):
            x = x - legendre.legval(x, series) / legendre.legval(x, slope)
        x[-1] = 1.0
        return np.asarray(0.5 * (x + 1.0))

    @cached_property
    def a(self) -> Floats:
        """a_ij = integral of the Lagrange polynomial j from 0 to c_i, by a Gauss rule that is exact for it."""
        places, weights = legendre.leggauss(self.stages)
        rows = [0.5 * c * (weights @ self._lagrange(0.5 * c * (places + 1.0), self.nodes)) for c in self.nodes]
        return np.array(rows)

    @staticmethod
    def _lagrange(x: Floats, nodes: Floats) -> Floats:
        """Values (place, polynomial) of the Lagrange polynomials of given nodes."""
        columns = []
        for j, node in enumerate(nodes):
            others = np.delete(nodes, j)
            columns.append(np.prod((x[:, None] - others) / (node - others), axis=1))
        return np.stack(columns, axis=1)

    @cached_property
    def _modes(self) -> tuple[float, Floats, Floats]:
        """The real pole, the complex poles (pair, 2), and T."""
        values, vectors = np.linalg.eig(np.linalg.inv(self.a))
        real = int(np.argmin(np.abs(values.imag)))
        columns, poles = [np.real(vectors[:, real])], []
        for k in np.flatnonzero(values.imag > 1e-6):
            poles.append([values[k].real, values[k].imag])
            # A^-1 (x + i y) = (a + i b) (x + i y): in the columns x, -y that is [[a, -b], [b, a]]
            columns += [np.real(vectors[:, k]), -np.imag(vectors[:, k])]
        return float(values[real].real), np.array(poles), np.stack(columns, axis=1)

    @property
    def pole(self) -> float:
        return self._modes[0]

    @property
    def estimate(self) -> Floats:
        """e of err = (I - h J / pole)^-1 (h f(y0) / pole + sum e_i z_i).

        The embedded quadrature has weight 1 / pole at 0 and order s; e = (b^ - b) A^-1.
        """
        s, c = self.stages, self.nodes
        powers = np.vander(c, s, increasing=True).T
        wanted = 1.0 / np.arange(1.0, s + 1.0)
        wanted[0] -= 1.0 / self.pole
        embedded = np.linalg.solve(powers, wanted)
        return np.asarray((embedded - self.a[-1]) @ np.linalg.inv(self.a))

    @property
    def polynomials(self) -> Floats:
        """(stage, power) of the polynomial through (0, 0) and (c_i, z_i), powers 1 ... s."""
        rows = []
        for j, node in enumerate(self.nodes):
            others = np.concatenate([[0.0], np.delete(self.nodes, j)])
            coefficients = polynomial.polyfromroots(others) / np.prod(node - others)
            rows.append(np.real(coefficients)[1:])
        return np.array(rows)

    def pack(self) -> dict[str, NDArray[Any]]:
        """The coefficients as arrays, by the names used in `memory`."""
        _, poles, to_stages = self._modes
        return {
            "nodes": self.nodes,
            "integrals": self.a,
            "inverse_integrals": np.linalg.inv(self.a),
            "poles": poles.reshape(-1, 2),
            "to_stages": to_stages,
            "to_modes": np.linalg.inv(to_stages),
            "estimate": self.estimate,
            "polynomials": self.polynomials,
        }
