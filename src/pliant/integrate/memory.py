"""What the compiled loops work on: one record of scalars and of addresses of arrays.

Numba passes a record as one pointer, so every compiled function is `f(run, ...)`; bundles of arrays as arguments took
it 76 s to compile where this takes a few.  Arrays are made and kept alive here; no loop allocates.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.integrate.tableaus import Tableau, hermite_rows

Floats = NDArray[np.float64]

BLOCK = 8  # components that a stage sum takes at a time: vectors are filled up with zeros to a multiple of this
SAVE_NOTHING, SAVE_TIMES, SAVE_STEPS = 0, 1, 2
INTERIOR = 5  # places inside a step where events are looked for
KEPT = 128  # states of its course that a run keeps at most, half as many at least where it has taken more steps; even
EXTREMES = 5  # numbers that are kept of the course of every added component; see `course`
SAMPLES = INTERIOR + 2 + 12  # with both ends, and room for a closer look and for turning points of event functions
NOTES = 4  # crossings of one recording event that a single step can note

# What the loop does at an event.
STOPS = 0  # ends the step there and hands over to the caller
CUTS = 1  # ends the step there, since a force has a corner, and goes on
RECORDS = 2  # from here on: notes time and state, and leaves the step alone
MARKS = 3  # the same on the dense output only: good to the tolerance, and cheap where g flickers

_MOTION = {  # where the run is; times in s
    "t": "f8",
    "h": "f8",  # proposed next step
    "t_stop": "f8",
    "log_old_error": "f8",
    "h_old": "f8",  # the last accepted step
    "wanted": "f8",  # the step a family asks for when it could not finish one
    "effort": "f8",  # 1, or less where the last step was hard to solve: part of the step control's safety
    "anchor": "f8",  # fixed steps end at anchor + i step
    "anchor_steps": "i8",
    "rejected_last": "i8",
    "not_finite": "i8",  # the last rejection was for nan or inf
    "extras_done": "i8",  # this step's dense stages exist
    "last_taken": "f8",  # the step that y_new and the stages belong to, while an event is located
    "starting": "i8",
    "entering": "i8",
    "restart": "i8",
    "budget": "i8",  # evaluations of the right-hand side before Python has a turn
    "next_save": "i8",
    "knot": "i8",  # where the piece of time begins that t is in
    "n_rows": "i8",
    "first_row": "i8",  # number of the row at the head of the buffer
    "flushed": "i8",  # Python has copied the buffer
    "accepted": "i8",
    "rejected": "i8",
    "rhs_evaluations": "i8",
    "event_evaluations": "i8",
    "n_recording": "i8",  # events at work that only record
    "searched": "i8",  # the event that is looked for, -1: all that end a step
    "step_length": "f8",  # s, of the step that was sampled, and how many places it was looked at
    "n_places": "i8",
    "n_notes": "i8",  # crossings noted, waiting for the caller
    "lost": "i8",  # 1 + an event that a step passed without a report: never, if the search is right
    "smallest": "f8",
    "largest": "f8",
    # automatic choice
    "signs": "i8",  # steps in a row, or nearly, that ask for the other family
    "price": "f8",  # of making the Jacobian, in evaluations
    "window_t": "f8",  # s, where the present window of the run began, over which its pace is taken
    "window_cost": "f8",  # evaluations until then
    "earlier_t": "f8",  # the same of the window before
    "earlier_cost": "f8",
    "steps_without": "i8",  # since the last of those
    "explicit_h": "f8",  # mean of the last explicit steps, and of what one cost
    "explicit_cost": "f8",
    "reach": "f8",  # that times |lambda|
    "loss": "f8",  # evaluations that implicit steps cost more than explicit ones would have, of late
    "turns_back": "i8",  # to the explicit method
    "cost_before": "f8",  # of all steps before this one, in evaluations
    # implicit families
    "fresh": "i8",  # state or equations changed otherwise than by a step: nothing known of the last step holds
    "jacobian_known": "i8",
    "jacobian_here": "i8",  # it was evaluated at the present state
    "factorised_h": "f8",  # the step that the matrices are factorised for, 0: none
    "step_t": "f8",  # where the step in z begins, and its length
    "step_h": "f8",
    "old_h": "f8",  # length of the accepted step in z_old, 0: none
    "contraction": "f8",  # of the last Newton iteration
    "contraction_factor": "f8",  # theta / (1 - theta) of it
    "unsolved": "i8",  # the last step taken did not converge: 1; met nan or inf: 2
    "slopes_final": "i8",  # those of the stages belong to the stages as solved
    "coupled": "i8",  # the stages are solved for together, each with its own Jacobian
    "coupled_h": "f8",  # the step at which they could not be solved for otherwise
    "jacobians": "i8",
    "factorisations": "i8",
    "iterations": "i8",
    "error_sum": "f8",  # of fixed steps with an estimate
    "error_largest": "f8",
    "error_count": "i8",
    # partitioned coordinates
    "partitions": "i8",  # how often independent coordinates were chosen
    "constraint_evaluations": "i8",
    "least_pivot": "f8",  # of C_q of the dependent coordinates, when last factorised
    "chosen_pivot": "f8",  # and when they were chosen
    # constraints that others imply
    "open_row": "i8",  # the one that came open
    "open_amount": "f8",  # by how much
    "open_t": "f8",  # s, at the end of the step that was not taken
}
_SETTINGS = {  # what the caller asked for, and the method
    "family": "i8",  # address
    "rhs": "i8",  # address
    "jacobian": "i8",  # address, 0: by differences
    "jacobian_by_columns": "i8",  # the kernel gives J w for a direction w instead of J
    "n_newton": "i8",  # components that feed back; the rest are quadratures
    "n_chained": "i8",  # of those: whose rate is another component, as a coordinate's is its velocity
    "n_solved": "i8",  # the others: what linear systems are solved for
    "n_rows_jacobian": "i8",
    "events": "i8",  # address
    "step_limit": "i8",  # address, 0: none
    "project": "i8",  # address, 0: none
    "implied": "i8",  # address, 0: none: constraints that others imply, then how far each may go
    "n_implied": "i8",
    "n": "i8",
    "n_padded": "i8",  # to a multiple of BLOCK
    "n_controlled": "i8",  # components whose error counts
    "n_mean": "f8",  # what the sum of their squares is divided by
    "n_parameters": "i8",
    "n_events": "i8",
    "max_notes": "i8",
    "rtol": "f8",
    "max_step": "f8",
    "first_step": "f8",
    "at_ends": "i8",  # events are noticed at ends of steps, not located
    "max_steps": "i8",
    "watching": "i8",  # 0 no; 1 whether an explicit method is held back by stiffness; 2 whether an implicit one is not needed
    "patience": "i8",  # steps before another method is asked for
    "jacobian_cost": "f8",  # in evaluations of the right-hand side
    "factorisation_cost": "f8",
    "iteration_cost": "f8",  # of Newton's method, without its evaluations
    "stages": "i8",
    "extras": "i8",
    "terms": "i8",  # of the dense output
    "error_rows": "i8",
    "last_stage": "i8",  # the last one before it that is at the step's end, 0: none
    "error_needs_end": "i8",  # the estimate uses the derivative at the step's end (first same as last)
    "order": "f8",
    "exponent": "f8",
    "beta": "f8",
    "predictive": "i8",
    "hold": "f8",  # a step that would grow by less than this factor stays
    "least_old_error": "f8",  # logarithm; the controller's memory is bounded
    "schemed": "i8",  # stages of an implicit scheme
    "pairs": "i8",  # of complex eigenvalues
    "pole": "f8",  # the real eigenvalue of the inverse of a collocation matrix; 1 / gamma of a Rosenbrock method
    "newton_limit": "i8",
    "may_couple": "i8",  # there is room to solve for all stages together
    "newton_tolerance": "f8",
    "min_factor": "f8",
    "max_factor": "f8",
    "constraints": "i8",  # address: C, C', C_q
    "shift": "i8",  # address: coordinates of (y, change along the rates)
    "n_constraints": "i8",
    "n_positions": "i8",  # free coordinates, first in y
    "n_rates": "i8",  # free rates, next in y
    "save": "i8",
    "n_plan": "i8",
    "n_knots": "i8",  # ends of the pieces of time that steps are kept to; 0: none
    "capacity": "i8",  # of the buffer of rows
}
_ARRAYS = {  # addresses; see `floats`, `ints`, `flags` in kernels
    # a tableau.  Rows: stages 0 ... s-1, the solution (s), extra stages, error estimates
    "row_first": "i8",  # (row) row r is the terms row_first[r] ... row_first[r + 1] - 1
    "column": "i8",  # (term) stage number
    "value": "i8",  # (term) coefficient
    "c": "i8",  # (stage) nodes
    "dense": "i8",  # (term, stage) F0, F1, ... of the nested form
    # states
    "zeros": "i8",
    "y": "i8",
    "y_new": "i8",
    "y_try": "i8",
    "spare": "i8",
    "y_kept": "i8",  # y_new, while steps of other lengths are tried
    "y_seen": "i8",  # as the last call left it: a difference means that the caller moved the state
    "p": "i8",
    "p_seen": "i8",
    "work": "i8",
    "k": "i8",  # (stage, component)
    "longest": "i8",  # (1) what the step limit answers, s
    "implied_values": "i8",  # (2, implied constraint)
    "atol": "i8",
    "weights": "i8",  # (stage)
    # implicit schemes; see `collocation` and `rosenbrock_tableaus`
    "nodes": "i8",
    "to_stages": "i8",  # T: stages from transformed ones
    "to_modes": "i8",  # its inverse
    "poles": "i8",  # (pair, 2) real and imaginary parts
    "integrals": "i8",  # A
    "estimate": "i8",  # (stage) error weights
    "polynomials": "i8",  # (stage, power) of the dense output
    "coupling": "i8",  # (stage, stage) c_ij of a Rosenbrock method
    "drift": "i8",  # (stage) d_i of it
    "solution": "i8",  # (stage) m_i of it
    "repeats": "i8",  # ints, (stage): the stage is evaluated where the one before was
    # implicit steps
    "z": "i8",  # (stage, component)
    "z_old": "i8",  # those of the last accepted step
    "slopes": "i8",  # (stage, component) f
    "modes": "i8",  # (stage, component) W = T^-1 Z
    "right": "i8",  # (2, component) right-hand sides
    "scale": "i8",
    "spin": "i8",  # the direction that the power method has found
    "seed": "i8",  # y, a direction in it, one in t
    "column_out": "i8",
    "matrix": "i8",  # (row, component) J, then df/dt
    "chained": "i8",  # ints
    "solved": "i8",  # ints
    "rate_of": "i8",  # ints, (chained) its rate's place among those solved for
    "compact": "i8",  # (2, solved) right-hand sides
    "lu": "i8",
    "lu_pairs": "i8",  # (pair, 2, row, column)
    "pivots": "i8",  # ints, (1 + pairs, row)
    # partitioned coordinates
    "held": "i8",  # C, C', C_q (row, rate)
    "eliminated": "i8",  # (row, rate)
    "reduced": "i8",  # (row, dependent rate), factorised
    "reduced_pivots": "i8",  # ints, (row)
    "dependent": "i8",  # ints, (row) which rates
    "former": "i8",  # ints, (row) which they were before
    "change": "i8",  # (row) of the dependent ones
    "moved": "i8",  # y, then a change along every rate
    "placed": "i8",  # (position)
    "ease": "i8",  # (rate) how readily each is taken as dependent
    "stage_matrices": "i8",  # (stage, ...) J at every stage
    "inverse_integrals": "i8",  # A^-1
    "lu_coupled": "i8",
    "coupled_right": "i8",
    "coupled_pivots": "i8",  # ints
    # event functions g and what is known of them
    "g": "i8",
    "g_new": "i8",
    "g_try": "i8",
    "g_low": "i8",
    "g_high": "i8",
    "side": "i8",  # ints, of zero that g is on at the start of the step; 0: began at zero, waiting to leave it
    "before": "i8",  # ints, the same at a place inside the step
    "required": "i8",  # ints, the side that the equations in force belong to, 0: any; beyond it the event has happened
    "dead": "i8",  # around zero, what round-off may do to g: no change of side
    "noise": "i8",  # at a start: what counts as zero
    "active": "i8",  # flags
    "kind": "i8",  # flags: STOPS, CUTS, RECORDS or MARKS
    "blind": "i8",  # ints: steps at whose end g was nan, or whose crossings were more than could be noted
    "direction": "i8",  # ints: -1 falling, +1 rising, 0 both
    "hit": "i8",  # ints: -1, +1 located now, falling or rising
    "theta": "i8",  # (sample) places in the step, 0 ... 1
    "samples": "i8",  # (sample, event)
    # crossings of events that only record
    "note_t": "i8",
    "note_event": "i8",  # ints
    "note_direction": "i8",  # ints
    "note_y": "i8",  # (note, component)
    # rows
    "plan": "i8",  # times asked for
    "knots": "i8",  # ends of pieces of time
    "row_t": "i8",
    "row_y": "i8",  # (row, component)
}
_COURSE = {  # what a run keeps of its own course; see `course`
    "first_added": "i8",  # components that are added up: where they begin, and how many
    "n_added": "i8",
    "n_kept": "i8",
    "stride": "i8",  # steps from one state that is kept to the next
    "to_skip": "i8",  # steps until then
    "kept_t": "i8",  # addresses
    "kept_y": "i8",  # (kept, component)
    "kept_p": "i8",  # (kept, parameter)
    "extremes": "i8",  # (added, EXTREMES)
}
RUN = np.dtype(list((_MOTION | _SETTINGS | _ARRAYS | _COURSE).items()))


class Memory:
    """The record, and the arrays it points to."""

    def __init__(self, n: int, n_events: int, n_work: int, atol: Floats) -> None:
        self._record = np.zeros(1, dtype=RUN)
        self.run: Any = self._record[0]
        self.arrays: dict[str, NDArray[Any]] = {}
        self.kernel: Any = None  # of the Jacobian: its machine code lives as long as this
        padded = -(-n // BLOCK) * BLOCK
        self.bind(atol=atol, k=np.zeros((2, padded)))
        self.bind(**{name: np.zeros(padded) for name in ("zeros", "y", "y_new", "y_try", "y_kept", "spare", "y_seen")})
        self.bind(**{name: np.zeros(n_events) for name in ("g", "g_new", "g_try", "g_low", "g_high")})
        self.bind(dead=np.zeros(n_events), noise=np.zeros(n_events))
        sides = ("side", "before", "required", "direction", "hit", "blind")
        self.bind(**{name: np.zeros(n_events, dtype=np.int64) for name in sides})
        self.bind(active=np.ones(n_events, dtype=np.uint8), kind=np.full(n_events, STOPS, dtype=np.uint8))
        self.bind(longest=np.zeros(1), theta=np.zeros(SAMPLES), samples=np.zeros((SAMPLES, n_events)))
        self.bind_knots(np.zeros(0))
        self.bind_notes(0, n)
        self.bind_parameters(np.zeros(0), 0)
        self.bind_rows(np.zeros(0), 0, n)
        self.bind_work(n_work)
        self.set(n=n, n_padded=padded, n_events=n_events)

    @property
    def address(self) -> int:
        """Of the record: what the compiled loop takes."""
        return int(self._record.ctypes.data)

    def set(self, **fields: float) -> None:
        for name, value in fields.items():
            self.run[name] = value

    def bind(self, **arrays: NDArray[Any]) -> None:
        for name, array in arrays.items():
            self.arrays[name] = np.ascontiguousarray(array)
            self.run[name] = self.arrays[name].ctypes.data

    def bind_parameters(self, p: Floats, changing: int) -> None:
        """p, of which only the first entries may change."""
        self.set(n_parameters=changing)
        self.bind(p=p, p_seen=np.zeros(changing))

    def bind_knots(self, knots: Floats) -> None:
        self.set(n_knots=knots.size)
        self.bind(knots=knots)

    def bind_notes(self, recording: int, n: int) -> None:
        """Room for what events that only record leave behind, two steps' worth at least."""
        count = 2 * NOTES * recording
        self.set(max_notes=count)
        self.bind(note_t=np.empty(count), note_y=np.empty((count, n)))
        self.bind(note_event=np.empty(count, dtype=np.int64), note_direction=np.empty(count, dtype=np.int64))

    def bind_rows(self, plan: Floats, capacity: int, n: int) -> None:
        self.set(n_plan=plan.size, capacity=capacity)
        self.bind(plan=plan, row_t=np.empty(capacity), row_y=np.empty((capacity, n)))

    def bind_course(self, first_added: int, n_added: int) -> None:
        """Room for a new run's course."""
        n, parameters = int(self.run["n"]), int(self.run["n_parameters"])
        extremes = np.zeros((n_added, EXTREMES))
        extremes[:, 0], extremes[:, 1] = np.inf, -np.inf
        self.bind(kept_t=np.empty(KEPT), kept_y=np.empty((KEPT, n)), kept_p=np.empty((KEPT, parameters)), extremes=extremes)
        self.set(first_added=first_added, n_added=n_added, n_kept=0, stride=1, to_skip=0)

    def bind_work(self, n_work: int) -> None:
        """Room for kernels; grows when one comes that needs more."""
        if "work" not in self.arrays or self.arrays["work"].size < n_work:
            self.bind(work=np.zeros(max(n_work, 1)))

    def bind_tableau(self, tableau: Tableau) -> None:
        """Room and numbers for an explicit method; the derivative at hand stays."""
        scheme, padded = pack(tableau), int(self.run["n_padded"])
        n_k = scheme["c"].size
        if self.arrays["k"].shape[0] < n_k:
            k = np.zeros((n_k, padded))
            k[0] = self.arrays["k"][0]
            self.bind(k=k)
        self.bind(**scheme, weights=np.zeros(n_k))
        self.set(stages=tableau.stages, extras=len(tableau.extra_a), terms=3 + len(tableau.dense))
        at_end = [i for i in range(1, tableau.stages) if tableau.c[i] == 1]
        self.set(error_rows=len(tableau.error), last_stage=max(at_end, default=0))
        self.set(error_needs_end=any(tableau.stages in row for row in tableau.error))

    def bind_implicit(self, arrays: dict[str, NDArray[Any]], stages: int, pairs: int, n_newton: int, n_rows: int) -> None:
        """Room and numbers for an implicit method."""
        n, padded = int(self.run["n"]), int(self.run["n_padded"])
        self.bind(**arrays, weights=np.zeros(max(stages, 2)))
        self.bind(**{name: np.zeros((stages, padded)) for name in ("z", "z_old", "slopes", "modes")})
        self.bind(right=np.zeros((2, padded)), scale=np.zeros(padded), spin=np.zeros(padded), seed=np.zeros(n + n_newton + 1))
        self.bind(column_out=np.zeros(padded), matrix=np.zeros(n_rows * (n_newton + 1)))
        # k_0 and k_1 are the derivatives at both ends
        self.set(stages=1, schemed=stages, pairs=pairs, n_newton=n_newton, n_rows_jacobian=n_rows)
        self.set(jacobian_known=0, factorised_h=0.0, fresh=1, contraction=0.0, contraction_factor=1.0, coupled=0)

    def bind_systems(self, chained: dict[int, int], coupled: bool) -> None:
        """Room for the linear systems of an implicit method; chained: components whose rate is another one."""
        n, stages, pairs = (int(self.run[name]) for name in ("n_newton", "schemed", "pairs"))
        solved = [k for k in range(n) if k not in chained]
        size = len(solved)
        self.bind(chained=np.array(list(chained), dtype=np.int64), solved=np.array(solved, dtype=np.int64))
        self.bind(rate_of=np.array([solved.index(k) for k in chained.values()], dtype=np.int64))
        self.bind(compact=np.zeros((2, size)), lu=np.zeros((size, size)), lu_pairs=np.zeros((pairs, 2, size, size)))
        self.bind(pivots=np.zeros((1 + pairs, size), dtype=np.int64))
        rank = stages * size if coupled else 0
        self.bind(stage_matrices=np.zeros((stages if coupled else 0, self.arrays["matrix"].size)))
        self.bind(lu_coupled=np.zeros((rank, rank)), coupled_right=np.zeros(rank))
        self.bind(coupled_pivots=np.zeros(rank, dtype=np.int64))
        self.set(n_chained=len(chained), n_solved=size, may_couple=coupled)

    def bind_partition(self, rows: int, positions: int, ease: Floats) -> None:
        """Room for constraints and for the coordinates that they determine."""
        m, rates = rows, ease.size
        self.bind(held=np.zeros(m * (2 + rates)), eliminated=np.zeros((m, rates)), reduced=np.zeros((m, m)))
        self.bind(**{name: np.zeros(m, dtype=np.int64) for name in ("reduced_pivots", "dependent", "former")})
        self.bind(change=np.zeros(m))
        self.bind(moved=np.zeros(int(self.run["n"]) + rates), placed=np.zeros(positions), ease=ease)
        self.set(n_constraints=m, n_positions=positions, n_rates=rates, partitions=0)

    def forget_motion(self) -> None:
        self.set(**dict.fromkeys(_MOTION, 0))
        self.set(effort=1.0, contraction_factor=1.0)


def pack(tableau: Tableau) -> dict[str, NDArray[Any]]:
    """A tableau in arrays."""
    s, n_k = tableau.stages, tableau.stages + 1 + len(tableau.extra_a)
    rows = [sorted(row.items()) for row in (*tableau.a, tableau.b, *tableau.extra_a, *tableau.error)]
    dense = [*hermite_rows(tableau.b, s), *tableau.dense]
    return {
        "row_first": np.cumsum([0, *map(len, rows)], dtype=np.int64),
        "column": np.array([j for row in rows for j, _ in row], dtype=np.int64),
        "value": np.array([float(a) for row in rows for _, a in row]),
        "c": np.array([float(c) for c in (*tableau.c, 1, *tableau.extra_c)]),
        "dense": np.array([[float(row.get(j, 0)) for j in range(n_k)] for row in dense]),
    }
