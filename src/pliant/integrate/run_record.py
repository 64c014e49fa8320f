"""The record that the compiled loops work on: one struct of scalars and of addresses of arrays.

Numba passes a record as one pointer, so every compiled function is `f(run, ...)`; bundles of arrays as arguments took
it 76 s to compile where this takes a few.
"""

from __future__ import annotations

import numpy as np

BLOCK = 8  # components that a stage sum takes at a time: vectors are filled up with zeros to a multiple of this
SAVE_NOTHING, SAVE_TIMES, SAVE_STEPS = 0, 1, 2
INTERIOR = 5  # places inside a step where events are looked for
KEPT = 128  # states of its course that a run keeps at most, half as many at least where it has taken more steps; even
LOWEST, HIGHEST, HIGHEST_AT, RISE, RISEN_AT = range(5)  # columns of `extremes`, kept of the course of every added component
EXTREMES = 5
SAMPLES = INTERIOR + 2 + 12  # with both ends, and room for a closer look and for turning points of event functions
NOTES = 4  # crossings of one recording event that a single step can note

# What the loop does at an event.
STOPS = 0  # ends the step there and hands over to the caller
TURNS = 1  # ends the step there, changes the equations as `phases` says, and goes on
CUTS = 2  # ends the step there, since a force has a corner, and goes on
RECORDS = 3  # from here on: notes time and state, and leaves the step alone
MARKS = 4  # the same on the dense output only: good to the tolerance, and cheap where g flickers

CHATTER, SHORTEST_TURN = 100, 1e-9  # so many changes of a flag in as many times this, s, are chatter and no motion
# Columns of `pair_places`, each -1 where a pair has none: in p (closed, entry speed, grip), in y, and among the events.
CLOSED, ENTRY, GRIP, BRISTLES, N_BRISTLES, IMPULSE, LOST, RUBBED, GAP, PEAK, LET_GO, NEAR, SWITCHES, N_SWITCHES = range(14)
PAIR_PLACES = 14
# Columns of `joint_places`, of joints whose friction holds: in p; the first of its events; whether it sticks at zero slip exactly;
# how many directions it slips along. Of its events the first two are watched (rest, its end), the others measured: whether it
# moves, and its friction along every direction.
JOINT_GRIP, JOINT_EDGE, JOINT_EXACT, JOINT_WAYS = range(4)
JOINT_PLACES = 4
ENTRY_FLOOR, REACH, BAND = range(3)  # columns of `pair_numbers`: m/s; sum of the radii, m; of friction that holds, m/s
PAIR_NUMBERS = 3
# Columns of `touch`, what is known of a contact under way; impulse and works are those of the pair when it began.
BEGIN, ENTRY_SPEED, BEGIN_IMPULSE, BEGIN_LOST, BEGIN_RUBBED, PEAK_FORCE, PEAK_TIME, LET_GO_TIME, LET_GO_SPEED = range(9)
TOUCH = 9
# Of a pair at the start.
JUDGED, GOES_ON = 0, 1  # closed if it touches; closed already, in the run that this one goes on from
# Columns of `finished`: the pair's number, then the numbers of a contact's record.
FINISHED = 10

MOTION = {  # where the run is; times in s
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
    "n_watched": "i8",  # active events
    "n_recording": "i8",  # of those that only record
    "searched": "i8",  # the event that is looked for, -1: all that end a step
    "step_length": "f8",  # s, of the step that was sampled, and how many places it was looked at
    "n_places": "i8",
    "n_notes": "i8",  # crossings noted in this step
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
    # phases
    "enough": "i8",  # evaluations at which Python has a turn
    "n_closed": "i8",  # contacts
    "n_close_by": "i8",
    "new_phase": "i8",  # the caller does not know of it yet
    "n_touches": "i8",  # contacts that have ended, in the buffer; then the number of the one at its head
    "first_touch": "i8",
    "n_logged": "i8",  # events that have happened, likewise
    "first_logged": "i8",
    "n_tape": "i8",  # steps on the tape, likewise
    "first_tape": "i8",
    "chattering": "i8",  # the event whose flag changes without end
    "piece": "i8",  # of time, between two breakpoints
    "pace_kept": "i8",  # the state was moved by a sampled controller: the step goes on as it was
    # a step that was accepted and is not taken yet: where it ends, its length, that to an event or 0, whether a turn follows it
    "waiting": "i8",
    "waiting_t": "f8",
    "waiting_h": "f8",
    "waiting_hit": "f8",
    "waiting_turn": "i8",
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
    "events": "i8",  # address: one of the next two
    "events_open": "i8",  # address, where no contact is closed
    "events_closed": "i8",  # address
    "observe": "i8",  # address, 0: none; what rows hold besides the state
    "n_observed": "i8",
    "at_gap": "i8",  # where the observed row has what contacts need: a number or three of each pair
    "at_closing": "i8",
    "at_force": "i8",
    "at_friction": "i8",
    "at_point": "i8",
    "at_normal": "i8",
    "at_speeds": "i8",  # ... and speeds of bodies
    "n_speeds": "i8",
    "n_pairs": "i8",
    "n_joints": "i8",  # whose friction holds
    "n_holding": "i8",  # pairs and joints whose friction holds
    "near": "f8",  # m, gap below which contacts are close by; -inf: none
    "near_rtol": "f8",  # with a contact close by
    "far_rtol": "f8",
    "judging": "i8",  # `begin` decides at the start what is closed and set, and what counts as zero
    "telling": "i8",  # the caller wants to know of every change of phase
    "max_touches": "i8",
    "max_logged": "i8",
    "max_tape": "i8",  # steps that there is room for; 0: none are noted
    "n_pieces": "i8",  # of time
    "n_head": "i8",  # entries of p, the first, that change from piece to piece
    "n_updates": "i8",  # kernels that are run at instants: what sampled controllers do
    "first_held": "i8",  # of y: what they write, and how many numbers
    "n_held": "i8",
    "one_instant": "f8",  # s: rows and instants nearer to each other than this are at one time
    "step_limit": "i8",  # address, 0: none
    "project": "i8",  # address, 0: none
    "implied": "i8",  # address, 0: none: constraints that others imply, then how far each may go
    "n_implied": "i8",
    "n": "i8",
    "n_padded": "i8",  # to a multiple of BLOCK
    "n_controlled": "i8",  # components whose error counts
    "n_mean": "f8",  # what the sum of their squares is divided by
    "n_read": "i8",  # components that kernels read, the first, to a multiple of BLOCK; the rest are quadratures
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
    "pausing": "i8",  # the loop returns when all times asked for are passed, inside the last step: see `pausing_stepper`
    "bare": "i8",  # rows hold the state alone
    "horizon": "f8",  # s, for which the run is expected to go on where t_stop does not tell; 0: it does
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
    "steepest": "i8",  # of the stages of a step
    "y_kept": "i8",  # y_new, while steps of other lengths are tried
    "y_seen": "i8",  # as the last call left it: a difference means that the caller moved the state
    "p": "i8",
    "p_seen": "i8",
    "work": "i8",
    "k": "i8",  # (stage, component)
    "longest": "i8",  # (1) what the step limit answers, s
    "moving": "i8",  # y, then its derivative: what the step limit is asked with
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
    "watched": "i8",  # ints: the active ones by number; n_watched of them
    "was_watched": "i8",  # flags
    "kind": "i8",  # flags: STOPS, CUTS, RECORDS or MARKS
    "blind": "i8",  # ints: steps at whose end g was nan, or whose crossings were more than could be noted
    "direction": "i8",  # ints: -1 falling, +1 rising, 0 both
    "hit": "i8",  # ints: -1, +1 located now, falling or rising
    "theta": "i8",  # (sample) places in the step, 0 ... 1
    "samples": "i8",  # (sample, event)
    # phases
    "event_pair": "i8",  # ints: -1, or whose event it is: a pair's, or behind those a joint's
    "flag": "i8",  # ints: -1, or where in p stands the side that the equations are on
    "pressed": "i8",  # ints: the side at which the flag is 1
    "reported": "i8",  # ints: it is written into the log
    "turns": "i8",  # ints: how often the flag has changed since turned_t
    "turned_t": "i8",
    "pair_places": "i8",  # ints, (pair, PAIR_PLACES)
    "pair_numbers": "i8",  # (pair, PAIR_NUMBERS)
    "touch": "i8",  # (pair, TOUCH)
    "pair_start": "i8",  # ints: JUDGED or GOES_ON
    "close_by": "i8",  # ints
    "breaking": "i8",  # ints, (pair, then joint): asked for more than it can hold
    "joint_places": "i8",  # ints, (joint, JOINT_PLACES)
    "joint_start": "i8",  # ints: JUDGED or GOES_ON
    "stuck": "i8",  # ints, (joint): as the log has it
    "asked_way": "i8",  # ints, (joint): of one that lets go, along which its friction was asked for
    "finished": "i8",  # (touch, FINISHED)
    "log_t": "i8",
    "log_event": "i8",  # ints
    "log_direction": "i8",  # ints
    # accepted steps, for whoever goes along them once more
    "tape_t": "i8",  # (step, 2) begin and end
    "tape_y": "i8",  # (step, component) at the begin, then at the end
    "tape_end": "i8",
    "tape_p": "i8",  # (step, parameter that changes)
    "tape_hit": "i8",  # ints, (step, event)
    "piece_end": "i8",  # (piece) s
    "piece_head": "i8",  # (piece, n_head)
    "piece_due": "i8",  # ints, (piece, update): run where the piece begins
    "piece_tail": "i8",  # ints, (piece): something is run where it ends
    "updates": "i8",  # ints, (update) addresses
    "held_new": "i8",
    "observed": "i8",
    "doubt": "i8",  # of what is observed
    "observed_try": "i8",
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
    "row_observed": "i8",  # (row, observed)
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
RUN = np.dtype(list((MOTION | _SETTINGS | _ARRAYS | _COURSE).items()))
