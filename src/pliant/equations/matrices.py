"""The matrices of the equations of motion, over named symbols."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

MATRICES = (
    "position_rate", "mass_matrix", "bias", "input_matrix", "constraint", "constraint_jacobian", "constraint_bias", "tip_position",
    "tip_jacobian",
)  # fmt: skip


@dataclass(frozen=True)
class Group:
    """One argument of the equations: its letter, the names of its entries, and their column of symbols."""

    letter: str
    names: tuple[str, ...]
    column: ca.SX


@dataclass(frozen=True, repr=False)
class Matrices:
    """M a + h = B u + A^T lam with q' = rate(q, v), c(q) = 0 and A a + gamma = 0."""

    name: str
    time: Group
    q: Group
    v: Group
    u: Group
    p: Group
    values: tuple[float, ...]  # values of the parameters
    rows: tuple[str, ...]  # names of the constraint rows
    bodies: tuple[str, ...]  # whose tips these are
    position_rate: ca.SX
    mass_matrix: ca.SX
    bias: ca.SX
    input_matrix: ca.SX
    constraint: ca.SX
    constraint_jacobian: ca.SX
    constraint_bias: ca.SX
    tip_position: ca.SX  # x, y, z of each body's tip, world axes
    tip_jacobian: ca.SX  # J: the tips move with J v, plus what prescribed motions add
    solution: dict[str, ca.SX]  # solved equations: acceleration and multiplier
    notes: tuple[str, ...]  # parts of the System that the equations leave out

    @property
    def inputs(self) -> tuple[Group, ...]:
        """The groups of symbols that the equations read, in order."""
        return (self.time, self.q, self.v, self.u, self.p)

    @property
    def outputs(self) -> dict[str, ca.SX]:
        """All matrices and vectors of the equations, by name."""
        return {name: getattr(self, name) for name in MATRICES}
