"""The decoupled natural orthogonal complement of a System at one state: matrices to look at, and both dynamics through them.

t = N_l N_d q', I = N_d^T N_l^T M N_l N_d, I q'' + C q' = tau + A^T lam (Raoofian, Taghvaeipour, Kamali 2017, eq. 6, 16, 17, 21), or
with virtual springs lam = -Ks c - d c' (their modified form, eq. 13 and 20; the printed plus sign is unstable).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pliant.errors import ModelError, SolveError
from pliant.model import check
from pliant.model.refused import refuse_controllers, refuse_states, require_bodies
from pliant.model.system import System

if TYPE_CHECKING:
    from pliant.dynamics.tree import Tree

Floats = NDArray[np.float64]
Given = Mapping[str, float] | Sequence[float] | Floats | None

UNMET = 1e-9  # of the largest effort: what motors and closures may leave of a motion that they can give


@dataclass(frozen=True, repr=False, eq=False)
class Denoc:
    """All matrices of one state, as NumPy arrays with the names of their rows and columns.

    Twists are [omega, v, own rates] of every body's frame, world axes; rows `twist_rows`. Columns of N_d, I, C and A are
    `coordinates`. Rows of A and K are `closure_rows`, those closed by multipliers first.
    """

    name: str
    t: float  # s
    positions: tuple[str, ...]  # names of q
    coordinates: tuple[str, ...]  # names of v
    twist_rows: tuple[str, ...]
    closure_rows: tuple[str, ...]
    q: Floats
    v: Floats
    N_l: Floats  # lower triangular: what a body's twist is of those it stands on
    N_d: Floats  # block diagonal: what joints and own coordinates give
    N_l_rate: Floats  # N_l'
    N_d_rate: Floats  # N_d'
    M: Floats  # mass matrices of the bodies about their frames' origins, one block each
    H: Floats  # convective inertia of the bodies: M t' + H t = w
    I: Floats  # generalized inertia  # noqa: E741 - the literature's letter
    C: Floats  # convective inertia: C v holds all velocity terms
    gravity: Floats  # its efforts on the coordinates
    acting: Floats  # efforts of springs, dampers, strain, drives and loads
    A: Floats  # Jacobian of the closures over the coordinates
    K: Floats  # and over the twists: A = K N_l N_d
    c: Floats  # residuals of the closures
    c_rate: Floats  # c'
    gamma: Floats  # c'' where nothing accelerates
    stiffness: Floats  # Ks by row, nan where multipliers close
    damping: Floats  # and d
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
        """-Ks c - d c' by closure row; zero where multipliers close."""
        return np.nan_to_num(-self.stiffness * self.c - self.damping * self.c_rate)

    @property
    def wcs(self) -> Floats:
        """Wrenches of the virtual springs on the bodies, K^T (-Ks c - d c'), in the order of the twists."""
        return np.asarray(self.K.T @ self.spring_forces)

    @property
    def bias(self) -> Floats:
        """C v less all that acts: gravity, springs, drives, loads, virtual springs."""
        return np.asarray(self.C @ self.v - self.gravity - self.acting - self.A.T @ self.spring_forces)

    def forward(self, tau: Given = None) -> Accelerations:
        """Accelerations, with efforts tau on the coordinates besides all that acts; and the multipliers of closed loops."""
        efforts = _vector("denoc", "tau", self.coordinates, tau, np.zeros(len(self.coordinates)))
        free, exact = np.isnan(self.known), np.isnan(self.stiffness)
        a = np.where(free, 0.0, self.known)
        A = self.A[np.ix_(exact, free)]
        right = (efforts - self.bias - self.I @ a)[free]
        closing = -self.gamma[exact] - self.A[exact] @ a
        whole = np.block([[self.I[np.ix_(free, free)], -A.T], [A, np.zeros((len(A), len(A)))]])
        try:
            solved = np.linalg.solve(whole, np.concatenate([right, closing]))
        except np.linalg.LinAlgError:
            raise SolveError(f"denoc: the equations of {self.name!r} must be regular, are singular at this state") from None
        a[free] = solved[: right.size]
        multipliers = self.spring_forces
        multipliers[exact] = solved[right.size :]
        return Accelerations(a, multipliers)

    def inverse(self, a: Given = None, motors: Sequence[str] | None = None) -> Efforts:
        """Efforts besides all that acts that make the coordinates accelerate so: tau = I a + C v - ...

        motors: coordinates that can be driven; the rest of the efforts then comes from the closures, whose multipliers are
        solved for. Without them every coordinate is driven and exact closures carry nothing.
        """
        start = np.nan_to_num(self.known)
        asked = self.I @ _vector("denoc", "a", self.coordinates, a, start) + self.bias
        multipliers = self.spring_forces
        if motors is None:
            return Efforts(asked, multipliers)
        driven = [self.coordinates.index(check.choice("denoc", "motors", name, self.coordinates)) for name in motors]
        exact = np.isnan(self.stiffness)
        columns = np.hstack([np.eye(len(self.coordinates))[:, driven], self.A[exact].T])
        given, *_ = np.linalg.lstsq(columns, asked, rcond=None)
        left = float(np.max(np.abs(columns @ given - asked), initial=0.0))
        if left > UNMET * max(float(np.max(np.abs(asked))), 1.0):
            rule = f"must be enough to give this motion with the closures, {left:.3g} N m or N is left"
            raise ModelError.of("denoc", "motors", rule, list(motors))
        tau = np.zeros(len(self.coordinates))
        tau[driven] = given[: len(driven)]
        multipliers[exact] = given[len(driven) :]
        return Efforts(tau, multipliers)

    def table(self, name: str) -> str:
        """One matrix as text, rows and columns named; rows and columns of twists that nothing moves are left out."""
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
        parts = [f"{self.name} at t = {self.t:g} s, in world axes; {still} entries of twists that nothing moves are left out"]
        for name, title in TITLES.items():
            if (name in CLOSING and not self.closure_rows) or (name == "wcs" and np.all(np.isnan(self.stiffness))):
                continue
            parts.append(f"{title}\n{self.table(name)}")
        return "\n\n".join(parts)


@dataclass(frozen=True)
class Accelerations:
    """Accelerations of all coordinates, and the forces of all closure rows on their a's body."""

    a: Floats
    multipliers: Floats


@dataclass(frozen=True)
class Efforts:
    """Efforts on all coordinates, and the forces of all closure rows on their a's body."""

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
    "K": "K, the same over the twists",
    "c": "c, residuals of the closures",
    "wcs": "wcs = K^T (-Ks c - d c'), wrenches of virtual springs",
}
CLOSING = ("A", "K", "c", "wcs")  # of no use where no loop is closed
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


def denoc(system: System, *, q: Given = None, v: Given = None, t: float = 0.0) -> Denoc:
    """N_l, N_d, M, I, C and what goes with them at a state.

    q, v: by name, the rest as the system starts (with exact loops closed), or all of them in order, as a row of a result has
    them. Prescribed coordinates stand where they are told to at t. Contacts are open.
    """
    t = check.number("denoc", "t", t, "s")
    require_bodies(system, "denoc")
    for refuse in (refuse_states, refuse_controllers):
        refuse(system, "denoc", "the matrices are those of the mechanism, so leave out what reads them")
    from pliant.trace.denoc_matrices import evaluate

    def choose(tree: Tree, start_q: Floats, start_v: Floats) -> tuple[Floats, Floats]:
        return _vector("denoc", "q", tree.positions, q, start_q), _vector("denoc", "v", tree.rates, v, start_v)

    names, found = evaluate(system, t, choose)
    for array in found.values():
        array.flags.writeable = False
    return Denoc(system.name, t, names.positions, names.coordinates, names.twist, names.closures, **found)


def _vector(part: str, field: str, names: Sequence[str], given: Given, start: Floats) -> Floats:
    """Values in order, from all of them, from some by name, or from none."""
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
    """A table of numbers with six digits, zeros as dots."""
    cells = [[f"{x:.6g}" if x else "." for x in row] for row in array]
    widths = [max([len(name), *(len(row[k]) for row in cells)]) for k, name in enumerate(columns)]
    first = max([len(name) for name in rows], default=0)
    lines = [" " * first + "".join(f"  {name:>{width}}" for name, width in zip(columns, widths, strict=True))]
    for name, row in zip(rows, cells, strict=True):
        lines.append(f"{name:<{first}}" + "".join(f"  {x:>{width}}" for x, width in zip(row, widths, strict=True)))
    return "\n".join(lines)
