"""The record of the compiled loops: one struct of scalars and addresses of arrays.

Every function of a loop is `f(run, ...)`: it gets the address of the record, and finds everything else there.
"""

from __future__ import annotations

import numpy as np

from pliant.codegen.loop_language import BLOCK as BLOCK  # vectors are padded with zeros to a multiple of this

SAVE_NOTHING, SAVE_TIMES, SAVE_STEPS = 0, 1, 2
INTERIOR = 5  # samples inside a step for the event search
KEPT = 128  # most states that a run keeps of its history, and at least half as many after more steps than that; even
LOWEST, HIGHEST, HIGHEST_AT, RISE, RISEN_AT = range(5)  # columns of `extremes`, for every accumulated component
EXTREMES = 5
ENERGIES = 5  # stored energies in the observed row, one after the other
SAMPLES = INTERIOR + 2 + 12  # with both ends, and room for closer sampling and for turning points of event functions
NOTES = 4  # crossings of one recording event that a single step can note

# Actions of the loop at an event.
STOPS = 0  # ends the step there and returns to the caller
TURNS = 1  # ends the step there, changes the equations as `phases` says, and goes on
CUTS = 2  # ends the step there, because a force has a corner, and goes on
RECORDS = 3  # notes time and state without ending the step; so do all kinds below
MARKS = 4  # as RECORDS, but on the dense output only: accurate to the tolerance, and cheap if g flickers

CHATTER, SHORTEST_TURN = 100, 1e-9  # this many changes of a flag within that number times this interval, s, are chatter
# Columns of `pair_places`, -1 if a pair has none: indices in p (closed, entry speed, grip), in y, and among the events.
CLOSED, ENTRY, GRIP, BRISTLES, N_BRISTLES, IMPULSE, LOST, RUBBED, GAP, PEAK, LET_GO, NEAR, RENEWAL, SWITCHES, N_SWITCHES = range(15)
KNOCK, N_KNOCKS = 15, 16  # rows of an impulsive contact among the speeds that impulses change: its normal, then its tangents
PAIR_PLACES = 17
# Columns of `joint_places`, for joints whose friction can stick: index in p; first event; whether it sticks at exactly zero slip;
# number of slip directions. Its first two events are watched (rest, end of rest), the others are only measured: whether it moves,
# and its friction along every direction.
JOINT_GRIP, JOINT_EDGE, JOINT_EXACT, JOINT_WAYS = range(4)
JOINT_PLACES = 4
ENTRY_FLOOR, REACH, BAND = range(3)  # columns of `pair_numbers`: entry speed, m/s; sum of the radii, m; speed band of sticking, m/s
RESTITUTION, MU, POISSON = range(3, 6)  # of impulsive contacts: e, coefficient of friction, whether e is a ratio of impulses
PAIR_NUMBERS = 6
UNDAMPED = 1e100  # m/s: an entry speed so large that no law damps
# Times the entry speed: a compression is over where the closing speed has fallen to this; not to zero, since a heavily damped
# contact only creeps towards rest. From then on, the entry speed (negative in p) follows any closing speed that is larger.
SPENT = 0.01
# Of a contact that starts pressed: the square of the speed at which its elastic force would throw it out, over its depth times the
# acceleration with which it starts; 2/(n + 1) for the exponent of round bodies.
THROWN = 0.8
# Columns of `touch`, the data of an ongoing contact; impulse and works are those of the pair when the contact began.
BEGIN, ENTRY_SPEED, BEGIN_IMPULSE, BEGIN_LOST, BEGIN_RUBBED, PEAK_FORCE, PEAK_TIME, LET_GO_TIME, LET_GO_SPEED = range(9)
TOUCH = 9
SETTLING = 2  # times that filters of sensors are set at the start: first from zero, then once more, as they may depend on others
# A pair at the start.
JUDGED, GOES_ON = 0, 1  # closed if it touches; already closed in the run that is continued
# Columns of `finished`: the pair's number, then the numbers of a contact's record.
FINISHED = 10

MOTION = {  # present state of the run; times in s
    "t": "f8",
    "h": "f8",  # proposed next step
    "t_stop": "f8",
    "log_old_error": "f8",
    "h_old": "f8",  # the last accepted step
    "wanted": "f8",  # the step that a family requests if it could not complete one
    "effort": "f8",  # 1, or less if the last step was hard to solve: part of the safety factor of the step control
    "anchor": "f8",  # fixed steps end at anchor + i step
    "anchor_steps": "i8",
    "rejected_last": "i8",
    "not_finite": "i8",  # the last rejection was for nan or inf
    "extras_done": "i8",  # the dense stages of this step exist
    "n_dense": "i8",  # components that are wanted of the dense output
    "last_taken": "f8",  # length of the step of y_new and the stages, while an event is located
    "starting": "i8",
    "entering": "i8",
    "restart": "i8",
    "budget": "i8",  # evaluations of the right-hand side, and rows, before control returns to Python
    "next_save": "i8",
    "knot": "i8",  # beginning of the piece of time that contains t
    "n_rows": "i8",
    "first_row": "i8",  # number of the first row in the buffer
    "flushed": "i8",  # Python has copied the buffer
    "accepted": "i8",
    "rejected": "i8",
    "rhs_evaluations": "i8",
    "event_evaluations": "i8",
    "n_watched": "i8",  # active events
    "n_recording": "i8",  # number of active events that only record
    "searched": "i8",  # the event being searched for, -1: all that end a step
    "step_length": "f8",  # s, length of the sampled step, and its number of samples
    "n_places": "i8",
    "n_notes": "i8",  # crossings noted in this step
    "lost": "i8",  # 1 + an event that a step passed without a report; always 0 if the search is correct
    "smallest": "f8",
    "largest": "f8",
    # automatic choice
    "signs": "i8",  # steps, nearly in a row, that favour the other family
    "price": "f8",  # cost of making the Jacobian, in evaluations
    "window_t": "f8",  # s, beginning of the present window, over which the pace of the run is measured
    "window_cost": "f8",  # evaluations up to that time
    "earlier_t": "f8",  # the same for the previous window
    "earlier_cost": "f8",
    "steps_without": "i8",  # steps since the last of those
    "explicit_h": "f8",  # mean of the last explicit steps, and of their cost
    "explicit_cost": "f8",
    "reach": "f8",  # explicit_h times |lambda|
    "loss": "f8",  # recent extra cost of implicit steps over explicit ones, in evaluations
    "gain": "f8",  # evaluations that implicit steps have saved since the switch to them
    "turns_back": "i8",  # switches back to the explicit method since implicit steps last paid
    "cost_before": "f8",  # cost of all steps before this one, in evaluations
    # implicit families
    "fresh": "i8",  # state or equations changed other than by a step: data of the last step are invalid
    "jacobian_known": "i8",
    "jacobian_here": "i8",  # the Jacobian was evaluated at the present state
    "factorised_h": "f8",  # the step for which the matrices are factorised, 0: none
    "step_t": "f8",  # beginning of the step in z, and its length
    "step_h": "f8",
    "old_h": "f8",  # length of the step in z_old, 0: none
    "old_end": "f8",  # 1: that step ended at the present state, 0: it began there
    "contraction": "f8",  # contraction rate theta of the last Newton iteration
    "contraction_factor": "f8",  # theta / (1 - theta)
    "unsolved": "i8",  # 1: the last step did not converge; 2: it met nan or inf
    "slopes_final": "i8",  # the slopes belong to the converged stages
    "coupled": "i8",  # stages are solved for together, each with its own Jacobian
    "coupled_h": "f8",  # the step at which a coupled solution became necessary
    "jacobians": "i8",
    "factorisations": "i8",
    "iterations": "i8",
    "error_sum": "f8",  # sum of error estimates of fixed steps
    "error_largest": "f8",
    "error_count": "i8",
    # partitioned coordinates
    "partitions": "i8",  # how often independent coordinates were chosen
    "constraint_evaluations": "i8",
    "least_pivot": "f8",  # smallest pivot of C_q of the dependent coordinates at the last factorisation
    "chosen_pivot": "f8",  # the same when they were chosen
    # phases
    "enough": "i8",  # count of evaluations and rows at which control returns to Python
    "n_closed": "i8",  # number of closed contacts
    "n_close_by": "i8",
    "new_phase": "i8",  # a new phase that the caller does not know of yet
    "n_touches": "i8",  # finished contacts in the buffer; then the number of the first of them
    "first_touch": "i8",
    "n_logged": "i8",  # logged events, likewise
    "first_logged": "i8",
    "n_tape": "i8",  # steps on the tape, likewise
    "first_tape": "i8",
    "chattering": "i8",  # the event whose flag changes endlessly
    "piece": "i8",  # index of the present piece of time, between two breakpoints
    "pace_kept": "i8",  # a sampled controller changed the state: the step length is kept
    # an accepted step that is not taken yet: its end, its length, the length to an event or 0, whether a switch of family follows
    "waiting": "i8",
    "waiting_t": "f8",
    "waiting_h": "f8",
    "waiting_hit": "f8",
    "waiting_turn": "i8",
    # constraints
    "open_row": "i8",  # the constraint that is violated
    "open_amount": "f8",  # its violation
    "open_t": "f8",  # s, at the end of the step that was not taken
    "cannot_close": "i8",  # the last step was refused because a constraint was open at its end
    # impacts
    "striking": "i8",  # an impulsive contact closes, or lets go: impulses and forces at rest are to be found
    "n_lowered": "i8",  # impacts whose restitution was lowered, lest energy be created; time of the first, and the factor
    "lowered_t": "f8",
    "lowered_to": "f8",
    "n_unsolved": "i8",  # impacts whose impulses did not converge
    "grown_to": "f8",  # squared length of the state at which the ledger of fixed steps was examined last
}
_SETTINGS = {  # settings of the caller and of the method
    "family": "i8",  # address
    "rhs": "i8",  # address
    "jacobian": "i8",  # address, 0: by differences
    "jacobian_by_columns": "i8",  # the kernel gives J w for a direction w instead of J
    "n_newton": "i8",  # components that feed back; the rest are quadratures
    "n_chained": "i8",  # number of those whose rate is another component, as for a coordinate and its velocity
    "n_solved": "i8",  # the others, for which linear systems are solved
    "n_rows_jacobian": "i8",
    "events": "i8",  # address: one of the next two
    "events_open": "i8",  # address, used while no contact is closed
    "events_closed": "i8",  # address
    "observe": "i8",  # address, 0: none; numbers that rows hold in addition to the state
    "n_observed": "i8",
    "observe_row": "i8",  # address; the numbers of rows: the same, but for what the loop observes of near pairs
    "n_row": "i8",
    "at_gap": "i8",  # index in the observed row of contact quantities: one or three numbers per pair
    "at_closing": "i8",
    "at_force": "i8",
    "at_friction": "i8",
    "at_point": "i8",
    "at_normal": "i8",
    "at_energy": "i8",  # index in the observed row of the stored energies; -1: none
    "at_hand": "f8",  # J, energy at the start that scales errors of energy
    "at_speeds": "i8",  # index in the observed row of the speeds of bodies
    "n_speeds": "i8",
    "n_pairs": "i8",
    "n_joints": "i8",  # joints whose friction can stick
    "n_holding": "i8",  # pairs and joints whose friction can stick
    "near": "f8",  # m, gap below which contacts count as near; -inf: none
    "near_rtol": "f8",  # rtol while a contact is near
    "far_rtol": "f8",
    "judging": "i8",  # `begin` decides at the start which contacts are closed, which flags are set, and what counts as zero
    "telling": "i8",  # the caller wants to be told of every change of phase
    "max_touches": "i8",
    "openings": "i8",  # most times that a contact can open at one event
    "max_logged": "i8",
    "max_tape": "i8",  # capacity of the tape in steps; 0: none are recorded
    "n_pieces": "i8",  # of time
    "n_head": "i8",  # number of entries at the head of p that change from piece to piece
    "n_updates": "i8",  # kernels that run at instants: updates of sampled controllers
    "first_held": "i8",  # index in y of the outputs they write, and their number
    "n_held": "i8",
    "settle": "i8",  # address, 0: none; the user's own states, with filters of sensors in equilibrium
    "first_own": "i8",  # index in y of these states, and their number
    "n_own": "i8",
    "one_instant": "f8",  # s: rows and instants nearer to each other than this coincide
    "step_limit": "i8",  # address, 0: none
    "project": "i8",  # address, 0: none
    "closures": "i8",  # address, 0: none; constraints, then how far from zero each may be at the end of a step
    "n_closures": "i8",
    "n_implied": "i8",  # the first of them, which the others implied at the start
    "impact": "i8",  # address, 0: none; speeds of impulsive contacts, and their responses to impulses
    "n_knocks": "i8",  # rows of these
    "first_rate": "i8",  # index in y of the rates, and their number
    "n_moving": "i8",
    "n": "i8",
    "n_padded": "i8",  # number of components, padded to a multiple of BLOCK
    "n_controlled": "i8",  # components under error control
    "n_mean": "f8",  # divisor of the sum of their squared errors
    "n_read": "i8",  # number of components, the first, that kernels read, padded to a multiple of BLOCK; the rest are quadratures
    "n_parameters": "i8",
    "n_events": "i8",
    "max_notes": "i8",
    "rtol": "f8",
    "max_step": "f8",
    "first_step": "f8",
    "at_ends": "i8",  # events are detected at the ends of steps, not located
    "max_steps": "i8",
    "watching": "i8",  # 0: no; 1: whether stiffness limits an explicit method; 2: whether an implicit method is unnecessary
    "patience": "i8",  # steps before a switch of method is requested
    "jacobian_cost": "f8",  # in evaluations of the right-hand side
    "factorisation_cost": "f8",
    "iteration_cost": "f8",  # cost of a Newton iteration, without its evaluations
    "stages": "i8",
    "extras": "i8",
    "terms": "i8",  # terms of the dense output
    "error_rows": "i8",
    "last_stage": "i8",  # the last stage before it at the end of the step, 0: none
    "error_needs_end": "i8",  # the estimate uses the derivative at the end of the step (first same as last)
    "order": "f8",
    "exponent": "f8",
    "beta": "f8",
    "predictive": "i8",
    "hold": "f8",  # a step that would grow by less than this factor is kept
    "least_old_error": "f8",  # logarithm; lower bound of the controller's memory
    "schemed": "i8",  # stages of an implicit scheme
    "pairs": "i8",  # pairs of complex eigenvalues
    "pole": "f8",  # the real eigenvalue of the inverse of a collocation matrix; 1 / gamma of a Rosenbrock method
    "newton_limit": "i8",
    "may_couple": "i8",  # there is room to solve for all stages together
    "newton_tolerance": "f8",
    "min_factor": "f8",
    "max_factor": "f8",
    "safety": "f8",  # see `methods/step_rules.py`
    "again": "f8",
    "worst": "i8",
    "stretch": "f8",
    "halves": "i8",
    "constraints": "i8",  # address: C, C', C_q
    "shift": "i8",  # address: (y, change along the rates) -> coordinates
    "n_constraints": "i8",
    "n_positions": "i8",  # number of free coordinates, first in y
    "n_rates": "i8",  # number of free rates, next in y
    "save": "i8",
    "pausing": "i8",  # the loop returns inside a step when all requested times are passed: see `pausing_stepper`
    "bare": "i8",  # rows hold the state alone
    "horizon": "f8",  # s, expected remaining duration if t_stop does not tell; 0: t_stop tells
    "n_plan": "i8",
    "n_knots": "i8",  # number of ends of pieces of time that limit the steps; 0: none
    "capacity": "i8",  # capacity of the buffer of rows
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
    "steepest": "i8",  # steepest slopes among the stages of a step
    "y_kept": "i8",  # y_new, while steps of other lengths are tried
    "y_seen": "i8",  # state at the end of the last call: a difference means that the caller changed it
    "p": "i8",
    "p_seen": "i8",
    "work": "i8",
    "k": "i8",  # (stage, component)
    "longest": "i8",  # (1) output of the step limit, s
    "moving": "i8",  # y, then its derivative: arguments of the step limit
    "closure_values": "i8",  # (2, constraint)
    "atol": "i8",
    "weights": "i8",  # (stage)
    # implicit schemes; see `collocation` and `rosenbrock_tableaus`
    "nodes": "i8",
    "to_stages": "i8",  # T: stages from transformed ones
    "to_modes": "i8",  # T^-1
    "poles": "i8",  # (pair, 2) real and imaginary parts
    "integrals": "i8",  # A
    "estimate": "i8",  # (stage) error weights
    "polynomials": "i8",  # (stage, power) of the dense output
    "coupling": "i8",  # (stage, stage) c_ij of a Rosenbrock method
    "drift": "i8",  # (stage) d_i of a Rosenbrock method
    "solution": "i8",  # (stage) m_i of a Rosenbrock method
    "repeats": "i8",  # ints, (stage): whether the stage is evaluated at the same point as the previous one
    # implicit steps
    "z": "i8",  # (stage, component)
    "z_old": "i8",  # z of the last accepted step
    "slopes": "i8",  # (stage, component) f
    "modes": "i8",  # (stage, component) W = T^-1 Z
    "right": "i8",  # (2, component) right-hand sides
    "scale": "i8",
    "spin": "i8",  # direction found by the power method
    "seed": "i8",  # y, a direction in y, a direction in t
    "column_out": "i8",
    "matrix": "i8",  # (row, component) J, then df/dt
    "chained": "i8",  # ints
    "solved": "i8",  # ints
    "rate_of": "i8",  # ints, (chained) index of its rate among the solved components
    "compact": "i8",  # (2, solved) right-hand sides
    "lu": "i8",
    "lu_pairs": "i8",  # (pair, 2, row, column)
    "pivots": "i8",  # ints, (1 + pairs, row)
    # partitioned coordinates
    "held": "i8",  # C, C', C_q (row, rate)
    "eliminated": "i8",  # (row, rate)
    "reduced": "i8",  # (row, dependent rate), factorised
    "reduced_pivots": "i8",  # ints, (row)
    "dependent": "i8",  # ints, (row) indices of the dependent rates
    "former": "i8",  # ints, (row) indices of the previous dependent rates
    "change": "i8",  # (row) change of the dependent coordinates
    "moved": "i8",  # y, then a change along every rate
    "placed": "i8",  # (position)
    "ease": "i8",  # (rate) preference of each rate to become dependent
    "stage_matrices": "i8",  # (stage, ...) J at every stage
    "inverse_integrals": "i8",  # A^-1
    "lu_coupled": "i8",
    "coupled_right": "i8",
    "coupled_pivots": "i8",  # ints
    # event functions g and their data
    "g": "i8",
    "g_new": "i8",
    "g_try": "i8",
    "g_low": "i8",
    "g_high": "i8",
    "side": "i8",  # ints, side of zero of g at the start of the step; 0: began at zero and has not left it yet
    "before": "i8",  # ints, the same at a sample inside the step
    "required": "i8",  # ints, the side that the current equations belong to, 0: any; on the other side the event has happened
    "dead": "i8",  # dead band around zero for round-off of g: no change of side
    "noise": "i8",  # at a start: values of g that count as zero
    "active": "i8",  # flags
    "watched": "i8",  # ints: numbers of the n_watched active events
    "was_watched": "i8",  # flags
    "kind": "i8",  # flags: STOPS, CUTS, RECORDS or MARKS
    "blind": "i8",  # ints: number of steps at whose end g was nan, or with more crossings than can be noted
    "direction": "i8",  # ints: -1 falling, +1 rising, 0 both
    "hit": "i8",  # ints: -1 or +1 if located now, falling or rising
    "theta": "i8",  # (sample) fractions of the step, 0 ... 1
    "samples": "i8",  # (sample, event)
    # phases
    "event_pair": "i8",  # ints: owner of the event, a pair or after those a joint; -1: none
    "flag": "i8",  # ints: index in p of the flag that holds the side of the equations; -1: none
    "pressed": "i8",  # ints: the side on which the flag is 1
    "reported": "i8",  # ints: whether it is written to the log
    "turns": "i8",  # ints: number of changes of the flag since turned_t
    "turned_t": "i8",
    "pair_places": "i8",  # ints, (pair, PAIR_PLACES)
    "pair_numbers": "i8",  # (pair, PAIR_NUMBERS)
    "touch": "i8",  # (pair, TOUCH)
    "settles": "i8",  # ints, (own state): whether it starts in equilibrium
    "own_new": "i8",
    "pair_start": "i8",  # ints: JUDGED or GOES_ON
    "close_by": "i8",  # ints
    "breaking": "i8",  # ints, (pair, then joint): whether more force is needed than it can supply
    "joint_places": "i8",  # ints, (joint, JOINT_PLACES)
    "joint_start": "i8",  # ints: JUDGED or GOES_ON
    "stuck": "i8",  # ints, (joint): whether it sticks, as logged last
    "asked_way": "i8",  # ints, (joint): for a joint that lets go, the direction in which friction was needed
    "impact_out": "i8",  # u (row); D (row, row); response of the rates (rate, row), of the works (work, row)
    "impulses": "i8",  # (row) of the present phase of an impact
    "compression": "i8",  # (row) of the phase before
    "struck": "i8",  # ints, (pair): whether an impulsive contact takes part in the impact
    "finished": "i8",  # (contact, FINISHED)
    "log_t": "i8",
    "log_event": "i8",  # ints
    "log_direction": "i8",  # ints
    # accepted steps, for sensitivities
    "tape_t": "i8",  # (step, 2) begin and end
    "tape_y": "i8",  # (step, component) at the beginning, then at the end
    "tape_end": "i8",
    "tape_p": "i8",  # (step, parameter that changes)
    "tape_hit": "i8",  # ints, (step, event)
    "piece_end": "i8",  # (piece) s
    "piece_head": "i8",  # (piece, n_head)
    "piece_due": "i8",  # ints, (piece, update): whether it runs at the beginning of the piece
    "piece_tail": "i8",  # ints, (piece): whether an update runs at its end
    "updates": "i8",  # ints, (update) addresses
    "held_new": "i8",
    "observed": "i8",
    "doubt": "i8",  # round-off of observed numbers
    "observed_try": "i8",
    "ledger": "i8",  # (ENERGIES, then accumulated component) now, and at the start
    "ledger_start": "i8",
    # crossings of events that only record
    "note_t": "i8",
    "note_event": "i8",  # ints
    "note_direction": "i8",  # ints
    "note_y": "i8",  # (note, component)
    # rows
    "plan": "i8",  # requested times
    "knots": "i8",  # ends of pieces of time
    "row_t": "i8",
    "row_y": "i8",  # (row, component)
    "row_observed": "i8",  # (row, observed)
}
_COURSE = {  # history that a run keeps; see `course`
    "first_added": "i8",  # accumulated components: index of the first, and their number
    "n_added": "i8",
    "n_kept": "i8",
    "stride": "i8",  # steps between kept states
    "to_skip": "i8",  # steps until the next kept state
    "kept_t": "i8",  # addresses
    "kept_y": "i8",  # (kept, component)
    "kept_p": "i8",  # (kept, parameter)
    "extremes": "i8",  # (accumulated component, EXTREMES)
    "n_sizes": "i8",  # observed vectors whose largest magnitude is kept
    "sizes": "i8",  # ints, (vector, 2): its first number in the observed row, and how many it has
    "largest_slopes": "i8",  # of every other component: the largest rate so far
    "size_peaks": "i8",  # (vector, 2): its largest magnitude, and the time, s
}
_GROUP = {  # a group of shapes that may all touch each other; see `near_pairs`
    "n_near": "i8",  # places for near pairs: the last of all pairs
    "first_place": "i8",  # index in p
    "n_balls": "i8",
    "n_members": "i8",  # balls, then planes
    "members": "i8",  # address of a kernel: the rows of all members
    "member_rates": "i8",  # address of a kernel: accelerations of balls, from the state and its derivative
    "usual_width": "f8",  # m, of a list: gaps below it are near
    "may_move": "f8",  # m, that balls may move from where they were listed
    "shorter": "f8",  # s: a step that a ball left its list in, halved
    "n_found": "i8",
    "listing": "i8",  # the list was made anew, so that other events are watched
    "crowded": "i8",  # more pairs touch than there are places for
    "member_rows": "i8",  # (member, ROW) see `group_kernels`
    "member_slopes": "i8",  # (ball, RATES)
    "listed": "i8",  # (ball, 3) m, where it was when the list was made
    "carriers": "i8",  # ints, (member): its body; members of one body never meet
    "sweep": "i8",  # ints, (ball): balls in order along an axis
    "found_pairs": "i8",  # ints, (found, 2)
    "first_of": "i8",  # ints, (ball): a place where it is the first member, -1: none
    "chain": "i8",  # ints, (place): the next place with the same first member
}
# Addresses of kernels, which another process has elsewhere; `events` is one of the next two.
KERNELS = ("family", "rhs", "jacobian", "events_open", "events_closed", "observe", "step_limit", "project", "closures", "impact",
           "settle", "constraints", "shift", "observe_row", "members", "member_rates")  # fmt: skip
RUN = np.dtype(list((MOTION | _SETTINGS | _ARRAYS | _COURSE | _GROUP).items()))
