"""The decoupled natural orthogonal complement of a System at one state: its matrices, and forward and inverse dynamics by them.

t = N_l N_d q', I = N_d^T N_l^T M N_l N_d, I q'' + C q' = tau + A^T lam (Raoofian, Taghvaeipour, Kamali 2017, eq. 6, 16, 17, 21), or
with penalty springs lam = -Ks c - d c' (their modified form, eq. 13 and 20; the printed plus sign is unstable).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pliant.arrays import Floats
from pliant.errors import ModelError, SolveError
from pliant.model import check
from pliant.model.refused import refuse_controllers, refuse_states, require_bodies
from pliant.run.mechanism import AnySystem, mechanism_of
from pliant.scalar import Numbers

if TYPE_CHECKING:
    from pliant.dynamics.tree import Tree

Given = Mapping[str, float] | Numbers | None

UNMET = 1e-9  # fraction of the largest effort: tolerated residual when motors and closures produce a prescribed motion


@dataclass(frozen=True, repr=False, eq=False)
class Denoc:
    """All matrices at one state, as NumPy arrays, with the names of their rows and columns.

    A twist is [omega, v, rates of the body's own coordinates] of the body's frame in world axes; `twist_rows` names its entries.
    `coordinates` names the columns of N_d, I, C and A. `closure_rows` names the rows of A and K, with those closed by multipliers
    first.
    """

    name: str
    t: float  # s
    positions: tuple[str, ...]  # names of q
    coordinates: tuple[str, ...]  # names of v
    twist_rows: tuple[str, ...]
    closure_rows: tuple[str, ...]
    q: Floats
    v: Floats
    N_l: Floats  # lower triangular: propagates twists from the inboard bodies to each body
    N_d: Floats  # block diagonal: twists due to joints and to the bodies' own coordinates
    N_l_rate: Floats  # N_l', its time derivative
    N_d_rate: Floats  # N_d', its time derivative
    M: Floats  # mass matrices of the bodies about the origins of their frames, one block per body
    H: Floats  # convective inertia of the bodies: M t' + H t = w
    I: Floats  # generalized inertia  # noqa: E741 - the literature's letter
    C: Floats  # convective inertia: C v holds all velocity terms
    gravity: Floats  # generalized forces of gravity
    acting: Floats  # generalized forces of springs, dampers, strain, drives and loads
    A: Floats  # Jacobian of the closures over the coordinates
    K: Floats  # Jacobian of the closures over the twists: A = K N_l N_d
    c: Floats  # residuals of the closures
    c_rate: Floats  # c'
    gamma: Floats  # c'' at zero accelerations
    stiffness: Floats  # Ks by row, nan for rows closed by multipliers
    damping: Floats  # d by row, nan for rows closed by multipliers
    known: Floats  # prescribed accelerations, nan where free

    @property
    def N(self) -> Floats:
        """The natural orthogonal complement N_l N_d."""
        return self.N_l @ self.N_d

    @property
    def twist(self) -> Floats:
        """t = N_l N_d q'."""
        return self.N @ self.v

    @property
    def spring_forces(self) -> Floats:
        """-Ks c - d c' by closure row; zero for rows closed by multipliers."""
        return np.nan_to_num(-self.stiffness * self.c - self.damping * self.c_rate)

    @property
    def wcs(self) -> Floats:
        """Wrenches of the penalty springs on the bodies, K^T (-Ks c - d c'), in the order of the twists."""
        return np.asarray(self.K.T @ self.spring_forces)

    @property
    def bias(self) -> Floats:
        """C v minus all applied generalized forces: gravity, springs, drives, loads, penalty springs."""
        return np.asarray(self.C @ self.v - self.gravity - self.acting - self.A.T @ self.spring_forces)

    def forward(self, tau: Given = None) -> Accelerations:
        """Accelerations and closure multipliers, with efforts tau on the coordinates in addition to all applied forces."""
        efforts = state_vector("denoc", "tau", self.coordinates, tau, np.zeros(len(self.coordinates)))
        free, exact = np.isnan(self.known), np.isnan(self.stiffness)
        a = np.where(free, 0.0, self.known)
        A = self.A[np.ix_(exact, free)]
        right = (efforts - self.bias - self.I @ a)[free]
        closing = -self.gamma[exact] - self.A[exact] @ a
        whole = np.block([[self.I[np.ix_(free, free)], -A.T], [A, np.zeros((len(A), len(A)))]])
        try:
            solved = np.linalg.solve(whole, np.concatenate([right, closing]))
        except np.linalg.LinAlgError:
            raise SolveError(f"denoc: the equations of motion of {self.name!r} are singular at this state") from None
        a[free] = solved[: right.size]
        multipliers = self.spring_forces
        multipliers[exact] = solved[right.size :]
        return Accelerations(a, multipliers)

    def inverse(self, a: Given = None, motors: Sequence[str] | None = None) -> Efforts:
        """Efforts, in addition to all applied forces, that produce the given accelerations: tau = I a + C v - ...

        motors: coordinates that can be driven; the closures supply the remaining efforts, and their multipliers are solved for. If
        no motors are named, every coordinate is driven and exact closures carry no force.
        """
        start = np.nan_to_num(self.known)
        asked = self.I @ state_vector("denoc", "a", self.coordinates, a, start) + self.bias
        multipliers = self.spring_forces
        if motors is None:
            return Efforts(asked, multipliers)
        driven = [self.coordinates.index(check.choice("denoc", "motors", name, self.coordinates)) for name in motors]
        exact = np.isnan(self.stiffness)
        columns = np.hstack([np.eye(len(self.coordinates))[:, driven], self.A[exact].T])
        given, *_ = np.linalg.lstsq(columns, asked, rcond=None)
        left = float(np.max(np.abs(columns @ given - asked), initial=0.0))
        if left > UNMET * max(float(np.max(np.abs(asked))), 1.0):
            rule = f"must be able to produce this motion together with the closures; {left:.3g} N m or N cannot be supplied"
            raise ModelError.of("denoc", "motors", rule, list(motors))
        tau = np.zeros(len(self.coordinates))
        tau[driven] = given[: len(driven)]
        multipliers[exact] = given[len(driven) :]
        return Efforts(tau, multipliers)

    def table(self, name: str) -> str:
        """One matrix as text, with named rows and columns; rows and columns of twist entries that never move are left out."""
        labels = self._labels(name)
        live = {self.twist_rows: np.any(self.N != 0.0, axis=1)}
        array = np.asarray(getattr(self, name))
        rows, columns = (np.flatnonzero(live[side]) if side in live else np.arange(len(side)) for side in labels)
        if array.ndim == 1:
            return _text([labels[0][r] for r in rows], [name], array[rows][:, None])
        return _text([labels[0][r] for r in rows], [labels[1][c] for c in columns], array[np.ix_(rows, columns)])

    def _labels(self, name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        check.choice("denoc", "table", name, LABELS)
        rows, columns = LABELS[name]
        return getattr(self, rows), getattr(self, columns) if columns else ()

    def __repr__(self) -> str:
        return (f"<Denoc {self.name!r} at t = {self.t:g} s: {len(self.coordinates)} coordinates, {len(self.twist_rows)} twist "
                f"entries, {len(self.closure_rows)} closure rows>")  # fmt: skip

    def __str__(self) -> str:
        still = int(np.sum(~np.any(self.N != 0.0, axis=1)))
        parts = [f"{self.name} at t = {self.t:g} s, in world axes; {still} twist entries that never move are left out"]
        for name, title in TITLES.items():
            if (name in CLOSING and not self.closure_rows) or (name == "wcs" and np.all(np.isnan(self.stiffness))):
                continue
            parts.append(f"{title}\n{self.table(name)}")
        return "\n\n".join(parts)


@dataclass(frozen=True)
class Accelerations:
    """Accelerations of all coordinates, and the forces of all closure rows on the first body of each closure."""

    a: Floats
    multipliers: Floats


@dataclass(frozen=True)
class Efforts:
    """Efforts on all coordinates, and the forces of all closure rows on the first body of each closure."""

    tau: Floats
    multipliers: Floats


TITLES = {
    "twist": "twists t = N_l N_d q'",
    "N_l": "N_l",
    "N_d": "N_d",
    "M": "M, mass matrices of the bodies",
    "I": "I = N_d^T N_l^T M N_l N_d, generalized inertia",
    "C": "C = N_d^T N_l^T (M N_l' N_d + M N_l N_d' + H N_l N_d), convective inertia",
    "A": "A = K N_l N_d, Jacobian of the closures",
    "K": "K, Jacobian of the closures over the twists",
    "c": "c, residuals of the closures",
    "wcs": "wcs = K^T (-Ks c - d c'), wrenches of penalty springs",
}
CLOSING = ("A", "K", "c", "wcs")  # left out if the mechanism has no closures
LABELS = {
    "q": ("positions", ""),
    **dict.fromkeys(("v", "gravity", "acting", "bias"), ("coordinates", "")),
    **dict.fromkeys(("N_l", "N_l_rate", "M", "H"), ("twist_rows", "twist_rows")),
    **dict.fromkeys(("N_d", "N_d_rate", "N"), ("twist_rows", "coordinates")),
    **dict.fromkeys(("I", "C"), ("coordinates", "coordinates")),
    **dict.fromkeys(("twist", "wcs"), ("twist_rows", "")),
    "A": ("closure_rows", "coordinates"),
    "K": ("closure_rows", "twist_rows"),
    **dict.fromkeys(("c", "c_rate", "gamma", "spring_forces"), ("closure_rows", "")),
}


def denoc(system: AnySystem, *, q: Given = None, v: Given = None, t: float = 0.0) -> Denoc:
    """The matrices of the decoupled natural orthogonal complement (N_l, N_d, M, I, C, A, K, ...) at a state.

    q, v: either a mapping by name, where coordinates left out keep their start values (with exact loops closed), or all values in
    the order of a result's row. Prescribed coordinates take their prescribed values at t. All contacts are open.
    """
    t = check.number("denoc", "t", t, "s")
    system = mechanism_of(system, "denoc")
    require_bodies(system, "denoc")
    for refuse in (refuse_states, refuse_controllers):
        refuse(system, "denoc", "these matrices describe the mechanism alone; remove them from the system first")
    from pliant.trace.denoc_matrices import evaluate

    def choose(tree: Tree, start_q: Floats, start_v: Floats) -> tuple[Floats, Floats]:
        return state_vector("denoc", "q", tree.positions, q, start_q), state_vector("denoc", "v", tree.rates, v, start_v)

    names, found = evaluate(system, t, choose)
    for array in found.values():
        array.flags.writeable = False
    return Denoc(system.name, t, names.positions, names.coordinates, names.twist, names.closures, **found)


def state_vector(part: str, field: str, names: Sequence[str], given: Given, start: Floats) -> Floats:
    """Values in order: all as given, or the start values with those given by name put in."""
    values = np.array(start, dtype=np.float64)
    if given is None:
        return values
    if not isinstance(given, Mapping):
        return np.array(check.numbers(part, field, np.asarray(given).tolist(), len(names)))
    for name, value in given.items():
        check.choice(part, field, name, names)
        values[list(names).index(name)] = check.number(part, f"{field}[{name!r}]", value)
    return values


def _text(rows: Sequence[str], columns: Sequence[str], array: Floats) -> str:
    """A table of numbers with six digits; zeros are shown as dots."""
    cells = [[f"{x:.6g}" if x else "." for x in row] for row in array]
    widths = [max([len(name), *(len(row[k]) for row in cells)]) for k, name in enumerate(columns)]
    first = max([len(name) for name in rows], default=0)
    lines = [" " * first + "".join(f"  {name:>{width}}" for name, width in zip(columns, widths, strict=True))]
    for name, row in zip(rows, cells, strict=True):
        lines.append(f"{name:<{first}}" + "".join(f"  {x:>{width}}" for x, width in zip(row, widths, strict=True)))
    return "\n".join(lines)
