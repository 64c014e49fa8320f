"""The motion that a path requires: joint positions, rates and accelerations, motor efforts, and the bending of beams over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.arrays import Floats
from pliant.errors import ModelError, SolveError

if TYPE_CHECKING:
    from pliant.trace.task_rows import TaskRows

NEWTON_STEPS = 40
AT_REST = 1e-13  # of the coordinates: a Newton step this short ends the iteration
REACHED = 1e-9  # m or rad: a path is met within this distance
SINGULAR = 1e-6  # of the largest singular value: the path hardly determines such a direction of the joints
ROUND_OFF = 1e-12  # of the largest singular value: Newton steps ignore such a direction
UNBALANCED = 1e-8  # of the largest effort: residual of the joints' equations that motors and loops may leave
DIFFERENCE = 1e-6  # of a mode's size, or of 1 mm: step of differences for derivatives of the modes' equations
BENT = 1e-11  # of the largest bending: a Newton step this short ends the iteration for bending
LEADS = 0.1  # of the previous step: if steps do not shrink to this fraction, the Jacobian is computed again
UNMOVED = 1e-3  # m: smallest bending that scales the step of differences
OSCILLATES = 1e-3  # of the fastest bending: a slower growth counts as oscillation
RESOLVED = 0.7  # rad, between two saved times: the phase that differences of order eight resolve
# Central differences of order eight, and the same from one side at the ends
STENCIL = 4


@dataclass(frozen=True)
class Instant:
    """The mechanism at one time."""

    q: Floats  # free coordinates
    v: Floats
    a: Floats
    efforts: Floats  # of the motors
    bending: Floats  # what the modes' rows leave


class TaskMotion:
    """Joints and efforts from a path, given how beams bend."""

    def __init__(self, rows: TaskRows, motors: Sequence[str], modes: Sequence[str]) -> None:
        self.rows = rows
        self.modes = [rows.rates.index(name) for name in modes]
        self.joints = [k for k in range(len(rows.rates)) if k not in set(self.modes)]
        self.motors = [rows.rates.index(name) for name in motors]
        made = rows.trace
        coordinates = [made.tree.positions[k] for k in made.free_q]
        self._mode_places = [coordinates.index(name) for name in modes]  # in q
        self._stiffness: Floats | None = None  # of the modes' rows, as last made

    def quasi_static(self, times: Floats) -> list[Instant]:
        """The motion with beams in balance at every instant."""
        still = np.zeros(len(self.modes))
        instants: list[Instant] = []
        q = self.rows.start.copy()
        for k, t in enumerate(times.tolist()):
            if instants:  # start from the last instant
                h, last = t - times[k - 1], instants[-1]
                q = self._moved(t, last.q, h * last.v + 0.5 * h * h * last.a, self.rows.parameters(t))
            q = self._balance(t, q, still)
            instants.append(self.instant(t, q, still, still))
        return instants

    def _balance(self, t: float, q: Floats, still: Floats) -> Floats:
        """The modes at rest that balance their equations, by Newton's method; the Jacobian is reused as long as it converges."""
        if not self.modes:
            return q
        before = np.inf
        for _ in range(NEWTON_STEPS):
            here = self.instant(t, q, still, still)
            if self._stiffness is None:
                self._stiffness = self._slope(t, here, (still, still), 0)
            step = np.linalg.solve(self._stiffness, here.bending)
            q = here.q.copy()
            q[self._mode_places] -= step
            size = float(np.max(np.abs(step)))
            if size <= BENT * max(float(np.max(np.abs(q[self._mode_places]))), UNMOVED):
                return q
            if size > LEADS * before:
                self._stiffness = None
            before = size
        raise SolveError(
            f"inverse_dynamics: beams must find their balance in {NEWTON_STEPS} Newton steps, but did not at t = {t:.10g} s (near "
            "buckling there may be none)"
        )

    def instant(self, t: float, q: Floats, z_rate: Floats, z_second: Floats) -> Instant:
        """Joint positions, rates, accelerations and efforts for the modes in q and their given rates and accelerations."""
        rows, p = self.rows, self.rows.parameters(t)
        q = self._joints(t, q, p)
        v, a = np.zeros(len(rows.rates)), np.zeros(len(rows.rates))
        v[self.modes], a[self.modes] = z_rate, z_second
        _, rate, _, matrix = self._constraints(t, q, v, p)
        v[self.joints] = self._solved(t, matrix, -rate)
        _, _, second, matrix = self._constraints(t, q, v, p)
        a[self.joints] = self._solved(t, matrix, -(second + matrix[:, self.modes] @ z_second))
        asked = rows.asked(t, np.concatenate([q, v, a]), p)
        pushes = np.zeros((len(rows.rates), len(self.motors) + rows.n_loops))
        pushes[self.motors, range(len(self.motors))] = 1.0
        pushes[:, len(self.motors) :] = matrix[: rows.n_loops].T
        given = self._given(t, pushes[self.joints], asked[self.joints])
        bending = (asked - pushes @ given)[self.modes]
        return Instant(q, v, a, given[: len(self.motors)], bending)

    def _constraints(self, t: float, q: Floats, v: Floats, p: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """(residual, rate, second derivative, Jacobian) of loops and path."""
        m = len(self.rows.owners)
        values = self.rows.constraints(t, np.concatenate([q, v]), p)
        return values[:m], values[m : 2 * m], values[2 * m : 3 * m], values[3 * m :].reshape(m, v.size)

    def _moved(self, t: float, q: Floats, change: Floats, p: Floats) -> Floats:
        return self.rows.moved(t, np.concatenate([q, change]), p)

    def _joints(self, t: float, q: Floats, p: Floats) -> Floats:
        """The joint positions that close the loops and meet the path, starting from a guess; modes are unchanged."""
        still = np.zeros(len(self.rows.rates))
        residual, _, _, matrix = self._constraints(t, q, still, p)
        for _ in range(NEWTON_STEPS):
            change = still.copy()
            change[self.joints] = np.linalg.lstsq(matrix[:, self.joints], -residual, rcond=ROUND_OFF)[0]
            size = float(np.max(np.abs(residual), initial=0.0))
            for _ in range(8):  # shorter steps if a full step increases the residual
                there = self._moved(t, q, change, p)
                left, _, _, turned = self._constraints(t, there, still, p)
                if float(np.max(np.abs(left), initial=0.0)) <= max(size, REACHED):
                    break
                change *= 0.5
            q, residual, matrix = there, left, turned
            if np.max(np.abs(change), initial=0.0) <= AT_REST * max(1.0, float(np.max(np.abs(q)))):
                break
        worst = int(np.argmax(np.abs(residual))) if residual.size else 0
        if residual.size and not abs(residual[worst]) <= REACHED:
            raise SolveError(self._unreached(t, worst, float(residual[worst]), matrix))
        return q

    def _unreached(self, t: float, worst: int, missing: float, matrix: Floats) -> str:
        rows = self.rows
        name, unit = rows.owners[worst], "rad" if rows.angular[worst] else "m"
        what = "loop" if worst < rows.n_loops else "the"
        asked = np.count_nonzero(np.max(np.abs(matrix[rows.n_loops :, self.joints]), axis=1) > SINGULAR)
        more = asked > len(self.joints) - np.linalg.matrix_rank(matrix[: rows.n_loops, self.joints])
        why = "it requires more than the joints can do" if more else "it is out of reach, or beyond a singular configuration"
        missed = f"the error is {abs(missing):.3g} {unit}"
        return f"inverse_dynamics: {what} {name!r} cannot be followed at t = {t:.10g} s, where {missed}: {why}"

    def _solved(self, t: float, matrix: Floats, right: Floats) -> Floats:
        """The rates or accelerations of the joints, all of which must be determined."""
        part = matrix[:, self.joints]
        u, s, vt = np.linalg.svd(part, full_matrices=True)
        rank = int(np.count_nonzero(s > SINGULAR * s[0])) if s.size else 0
        if rank < len(self.joints):
            loose = np.max(np.abs(vt[rank:]), axis=0)
            names = [self.rows.rates[self.joints[k]] for k in np.flatnonzero(loose > 0.1 * np.max(loose))]
            raise SolveError(
                f"inverse_dynamics: the path must determine all joints, but leaves {', '.join(names)} free at t = {t:.10g} s "
                "(a singular configuration, or more joints than the path determines); give the motion of these joints too"
            )
        return np.asarray(vt[:rank].T @ ((u[:, :rank].T @ right) / s[:rank]))

    def _given(self, t: float, pushes: Floats, asked: Floats) -> Floats:
        """Efforts of motors, then multipliers of loops; the motors must determine the motion uniquely."""
        u, s, vt = np.linalg.svd(pushes, full_matrices=True)
        rank = int(np.count_nonzero(s > SINGULAR * s[0])) if s.size else 0
        n = len(self.motors)
        names = [self.rows.rates[k] for k in self.motors]
        if rank < vt.shape[1] and np.max(np.abs(vt[rank:, :n])) > 1e-6:
            rule = f"must be as many as the directions of the path, because some of {names} can replace each other"
            raise ModelError.of("inverse_dynamics", "motors", rule, names)
        given = np.asarray(vt[:rank].T @ ((u[:, :rank].T @ asked) / s[:rank]))
        left = np.abs(asked - pushes @ given)
        if np.max(left, initial=0.0) > UNBALANCED * max(float(np.max(np.abs(asked), initial=0.0)), 1e-9):
            loose = [self.rows.rates[self.joints[k]] for k in np.flatnonzero(left > 0.1 * np.max(left))]
            raise SolveError(
                f"inverse_dynamics: motors {names} cannot produce the path at t = {t:.10g} s; {', '.join(loose)} would also have "
                "to be driven"
            )
        return given

    # ---- beams with their own inertia

    def dynamic(self, times: Floats) -> list[Instant]:
        """The motion with bending from a boundary value problem in time: the bounded solution from balance to balance."""
        from scipy.sparse.linalg import splu

        h = np.diff(times)
        if times.size < 4 * STENCIL or np.max(h) - np.min(h) > 1e-6 * np.max(h):
            rule = f"must be an interval, or at least {4 * STENCIL} evenly spaced times, when elastic is 'dynamic'"
            raise ModelError.of("inverse_dynamics", "save", rule, times.size)
        instants = self.quasi_static(times)
        first, second = _differences(times.size, float(np.mean(h)))
        z = np.array([instant.q[self._mode_places] for instant in instants])
        ends, at_ends = self._ends(times, instants, first), z.ravel().copy()
        factors, before = None, np.inf
        for _ in range(NEWTON_STEPS):
            rates, seconds = first @ z, second @ z
            along = zip(times.tolist(), instants, z, rates, seconds, strict=True)
            instants = [self._at(t, last.q, *bent) for t, last, *bent in along]
            if factors is None:
                factors = splu(self._matrix(times, instants, rates, seconds, first, second, ends))
            left = np.concatenate([*(instant.bending for instant in instants[1:-1]), ends @ (z.ravel() - at_ends)])
            step = factors.solve(left).reshape(z.shape)
            z, size = z - step, float(np.max(np.abs(step)))
            if size <= BENT * max(float(np.max(np.abs(z))), UNMOVED):
                return [self._at(t, last.q, *bent) for t, last, *bent in
                        zip(times.tolist(), instants, z, first @ z, second @ z, strict=True)]  # fmt: skip
            factors, before = (None if size > LEADS * before else factors), size
        raise SolveError(f"inverse_dynamics: the bending of beams along the path was not found in {NEWTON_STEPS} Newton steps")

    def _ends(self, times: Floats, instants: Sequence[Instant], first: Any) -> Any:
        """The boundary conditions, on the deviation of bending and its rate from balance.

        At the start the parts that do not grow are zero, at the end the parts that grow; otherwise the former would be unbounded
        backwards in time, the latter forwards.
        """
        import scipy.sparse as sparse
        from scipy.linalg import schur

        m, n, h = len(self.modes), times.size, float(times[1] - times[0])
        still, rows = (np.zeros(m), np.zeros(m)), []
        for k, grows in ((0, False), (n - 1, True)):
            stiffness, damping, inertia = (self._slope(float(times[k]), instants[k], still, kind) for kind in range(3))
            below = np.linalg.solve(inertia, np.hstack([stiffness, damping]))
            motion = np.vstack([np.hstack([np.zeros((m, m)), np.eye(m)]), -below])
            slack = OSCILLATES * float(np.max(np.abs(np.linalg.eigvals(motion))))
            turning = float(np.max(np.abs(np.linalg.eigvals(motion).imag)))
            if turning * h > RESOLVED:
                rule = f"must be at most {RESOLVED / turning:.2g} s, because the beams oscillate at {turning:.3g} rad/s"
                raise ModelError.of("inverse_dynamics", "save", rule, h)
            _, basis, count = schur(motion.T, output="real", sort=lambda re, im, s=slack, g=grows: (re > s) == g)
            chosen = basis[:, :count].T  # rows: left invariant subspace
            place = sparse.csr_array((np.ones(m), (range(m), range(k * m, (k + 1) * m))), shape=(m, n * m))
            rate = sparse.kron(first[[k]], sparse.eye_array(m))
            rows.append(sparse.csr_array(chosen) @ sparse.vstack([place, rate]))
        held = sparse.vstack(rows)
        if held.shape[0] != 2 * m:
            raise SolveError("inverse_dynamics: the bending along the path grows at one end but not at the other; shorten the path")
        return held.tocsr()

    def _matrix(
        self, times: Floats, instants: Sequence[Instant], rates: Floats, seconds: Floats, first: Any, second: Any, ends: Any
    ) -> Any:
        """The Jacobian of the modes' equations between the ends, and of the boundary conditions, by the bending at all times."""
        import scipy.sparse as sparse

        m, every = len(self.modes), list(zip(times.tolist(), instants, zip(rates, seconds, strict=True), strict=True))
        slopes = [[sparse.coo_array(self._slope(t, here, changes, kind)) for t, here, changes in every] for kind in range(3)]
        parts = [sparse.block_diag(blocks) for blocks in slopes]
        unit = sparse.eye_array(m)
        whole = parts[0] + parts[1] @ sparse.kron(first, unit) + parts[2] @ sparse.kron(second, unit)
        return sparse.vstack([whole.tocsr()[m:-m], ends]).tocsc()

    def _at(self, t: float, q: Floats, z: Floats, rate: Floats, second: Floats) -> Instant:
        q = q.copy()
        q[self._mode_places] = z
        return self.instant(t, q, rate, second)

    def _slope(self, t: float, here: Instant, changes: tuple[Floats, Floats], kind: int) -> Floats:
        """The derivative of the modes' equations by bending (kind 0), its rate (1) or its second derivative (2), by differences."""
        m = len(self.modes)
        matrix = np.empty((m, m))
        for j in range(m):
            bent = [here.q[self._mode_places], *(change.copy() for change in changes)]
            h = DIFFERENCE * max(abs(bent[kind][j]), UNMOVED if kind == 0 else 1.0)
            bent[kind][j] += h
            matrix[:, j] = (self._at(t, here.q, *bent).bending - here.bending) / h
        return matrix


def _differences(n: int, h: float) -> tuple[Any, Any]:
    """Sparse matrices of first and second derivatives on n evenly spaced points, of order eight and seven."""
    import scipy.sparse as sparse

    width = 2 * STENCIL + 1
    first, second = sparse.lil_array((n, n)), sparse.lil_array((n, n))
    for k in range(n):
        begin = min(max(k - STENCIL, 0), n - width)
        places = np.arange(begin, begin + width) - k
        powers = np.vander(places.astype(float), width, increasing=True).T
        for matrix, order, scale in ((first, 1, h), (second, 2, 0.5 * h * h)):
            unit = np.zeros(width)
            unit[order] = 1.0
            matrix[k, begin : begin + width] = np.linalg.solve(powers, unit) / scale
    return first.tocsr(), second.tocsr()
