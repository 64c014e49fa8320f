"""Sensitivities along a tape: the memory of the compiled loop, and Python's part between its calls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.codegen.directional_kernel import DirectionalKernel, from_lanes, to_lanes
from pliant.codegen.lanes import LANES as KERNEL_LANES
from pliant.codegen.lanes import padded
from pliant.codegen.llvm import MachineCode, address_of
from pliant.host.stages import Stages
from pliant.integrate.compiled_loops import compiled_loop
from pliant.integrate.memory.memory import packed
from pliant.integrate.memory.run_record import BLOCK
from pliant.integrate.methods.tableaus import Tableau
from pliant.integrate.replay.variation_record import LANES, VARIATION
from pliant.integrate.rows import evaluate_rows
from pliant.integrate.stepper import Tape

Floats = NDArray[np.float64]

LEAST_RTOL = 1e-11  # relative error of S in a step: a smaller estimate would be round-off
LENIENT = 0.03  # strictness without `control`: most steps of a run are then short enough for S, too

assert LANES == KERNEL_LANES


@dataclass(frozen=True)
class Tolerances:
    """The tolerances of the first `atol.size` components."""

    rtol: float
    atol: Floats
    theta: Floats  # (direction) sizes of the parameters of the derivatives


class Variation:
    """S along the steps of a tape."""

    def __init__(
        self,
        tape: Tape,
        tableau: Tableau,
        rhs: MachineCode,
        kernel: DirectionalKernel,
        project: DirectionalKernel | None,
        directions: int,
        n_read: int,
        tolerances: Tolerances,
        control: bool,
        own: bool,
        stages: Stages,
    ) -> None:
        """rhs: the function itself; n_read: number of components that it reads; control: keep the relative error of S below rtol
        per step; otherwise below 33 rtol.

        own: whether the tableau is that of the run.
        """
        self._record = np.zeros(1, dtype=VARIATION)
        self._run: Any = self._record[0]
        self._arrays: dict[str, NDArray[Any]] = {}
        self._loop = compiled_loop("replay.variational", stages)
        self._kernel, self._project, self._rhs = kernel, project, rhs
        self.directions = directions
        groups, n = -(-directions // LANES), kernel.n_y
        rows, n_padded = padded(n), -(-n // BLOCK) * BLOCK
        scheme = packed(tableau)
        n_k, whole = scheme["c"].size, groups * rows * LANES
        self._set(n=n, n_read=n_read, n_padded=n_padded, n_rows=rows, n_moved=padded(n_read) * LANES, n_seeds=kernel.n_seeds,
                  groups=groups, directions=directions, n_p=kernel.n_p, n_decisions=kernel.n_decisions,
                  stages=tableau.stages, extras=len(tableau.extra_a), terms=3 + len(tableau.dense), error_rows=len(tableau.error),
                  exponent=1.0 / tableau.order, strictness=1.0 if control else LENIENT, rtol=max(tolerances.rtol, LEAST_RTOL),
                  n_controlled=tolerances.atol.size, n_mean=tolerances.atol.size)  # fmt: skip
        self._set(rhs=rhs.address, primal=kernel.primal.address, linear=kernel.linear.address,
                  decide=0 if kernel.decide is None else kernel.decide.address)  # fmt: skip
        self._bind(**scheme, tape_t=tape.times, tape_y=tape.begins, tape_end=tape.ends)
        self._bind(zeros=np.zeros(max(n_padded, whole)), slopes=np.zeros((2, n)), weights=np.zeros(n_k))
        self._bind(**{name: np.zeros(n_padded) for name in ("y", "y_new", "y_try", "y_look", "y_begin")})
        self._bind(k=np.zeros((n_k, n_padded)), k_whole=np.zeros((n_k, n_padded)))
        self._set(may_interpolate=own)
        self._bind(s=np.zeros((groups, rows, LANES)), s_new=np.zeros(whole), l=np.zeros((n_k, whole)))
        self._bind(estimate=np.zeros((2, whole)))
        self._bind(seeds=np.zeros((groups, kernel.n_seeds, LANES)), out=np.zeros(kernel.primal.n_out))
        self._bind(p=np.zeros(kernel.n_p + kernel.n_decisions), decided=np.zeros((2, kernel.n_decisions)))
        self._bind(matters=np.ones(kernel.n_decisions))
        self._bind(atol=np.concatenate([tolerances.atol, np.zeros(n)]), theta=tolerances.theta)
        n_work = max(kernel.n_work(groups), rhs.n_work, 0 if project is None else project.n_work(groups))
        self._bind(work=np.zeros(max(n_work, 1)))
        if project is not None:
            self._bind_project(project, groups)

    def _bind_project(self, project: DirectionalKernel, groups: int) -> None:
        self._set(project_primal=project.primal.address, project_linear=project.linear.address, n_p_project=project.n_p,
                  n_seeds_project=project.n_seeds, n_decisions_project=project.n_decisions,
                  project_decide=0 if project.decide is None else project.decide.address)  # fmt: skip
        self._bind(seeds_project=np.zeros((groups, project.n_seeds, LANES)), out_project=np.zeros(project.primal.n_out))
        self._bind(p_project=np.zeros(project.n_p + project.n_decisions))

    def _set(self, **fields: float) -> None:
        for name, value in fields.items():
            self._run[name] = value

    def _bind(self, **arrays: NDArray[Any]) -> None:
        for name, array in arrays.items():
            self._arrays[name] = np.ascontiguousarray(array)
            self._run[name] = address_of(self._arrays[name])

    @property
    def s(self) -> Floats:
        """S as (component, direction) at the present position of the loop."""
        return from_lanes(self._arrays["s"])[: self._kernel.n_y, : self.directions].copy()

    @s.setter
    def s(self, values: Floats) -> None:
        self._arrays["s"][...] = to_lanes(values)

    def set_parameters(self, p: Floats, dp: Floats) -> None:
        """Set p, and its derivatives (entry, direction), for the steps to come."""
        first = self._kernel.n_y + 1
        self._arrays["matters"][:] = self._kernel.matters(p)
        self._set(n_deciding=int(np.count_nonzero(self._arrays["matters"])))
        for kernel, suffix in ((self._kernel, ""), (self._project, "_project")):
            if kernel is not None:
                self._arrays[f"p{suffix}"][: p.size] = p
                rows, seeds = dp[kernel.places], self._arrays[f"seeds{suffix}"]
                for group in range(seeds.shape[0]):
                    own = rows[:, group * LANES : (group + 1) * LANES]
                    seeds[group, first : first + len(own), : own.shape[1]] = own

    def go_along(self, first: int, last: int, times: Floats) -> tuple[Floats, Floats]:
        """Go along steps first ... last - 1; returns (states, S as (time, group, row, lane)) at sorted times in them, incl. ends.

        Check `failed` afterwards.
        """
        n_padded, whole = int(self._run["n_padded"]), self._arrays["s_new"].size
        states, tangents = np.zeros((times.size, n_padded)), np.zeros((times.size, whole))
        self._bind(query_t=times, query_y=states, query_s=tangents)
        self._set(first=first, last=last, n_queries=times.size, next_query=0)
        self._loop(int(self._record.ctypes.data))
        count, n, shape = int(self._run["next_query"]), self._kernel.n_y, self._arrays["s"].shape
        return self._arrays["query_y"][:count, :n], self._arrays["query_s"][:count].reshape(count, *shape)

    @property
    def failed(self) -> int:
        return int(self._run["failed"])

    @property
    def failed_t(self) -> float:
        return float(self._run["failed_t"])

    @property
    def statistics(self) -> dict[str, int]:
        return {name: int(self._run[name]) for name in ("evaluations", "corners", "shortened")}


ROWS_AT_ONCE = 256  # rows differentiated at a time, so that their coefficients need little memory


def derivatives_of_rows(
    kernel: DirectionalKernel, times: Floats, states: Floats, p: Floats, tangents: Floats, dp: Floats, directions: int
) -> Floats:
    """(row, output, direction) of a function at many states with one p.

    tangents: (row, group, component, lane); dp: (entry of p, direction).
    """
    out = np.empty((times.size, kernel.n_out, directions))
    own = kernel.seeds(np.zeros((kernel.n_y, directions)), None, dp)
    for first in range(0, times.size, ROWS_AT_ONCE):
        some = slice(first, min(first + ROWS_AT_ONCE, times.size))
        count, groups = times[some].size, own.shape[0]
        entries = np.empty((count, kernel.n_p + kernel.n_decisions))
        entries[:, : kernel.n_p] = p
        n_work = kernel.n_work(groups)
        if kernel.decide is not None:
            decided = np.empty((count, kernel.n_decisions))
            evaluate_rows(kernel.decide.address, times[some], states[some], p, decided, n_work)
            entries[:, kernel.n_p :] = decided
        values = np.empty((count, kernel.primal.n_out))
        evaluate_rows(kernel.primal.address, times[some], states[some], entries, values, n_work)
        seeds = np.tile(own, (count, 1, 1, 1))
        seeds[:, :, : kernel.n_y] = tangents[some, :, : kernel.n_y]
        lanes = np.empty((count, groups, padded(kernel.n_out), LANES))
        evaluate_rows(kernel.linear.address, np.full(count, float(groups)), seeds.reshape(count, -1), values,
                      lanes.reshape(count, -1), n_work)  # fmt: skip
        out[some] = from_lanes(lanes)[:, : kernel.n_out, :directions]
    return out
