"""The record of a batch of members that one thread runs one after the other: what each begins with, and what is kept of it."""

from __future__ import annotations

import numpy as np

PLAIN, SUSPECT = 0, 1  # a start that needs no more looking at; one that Python has to judge
COINCIDENT_SHARE = 1e-12  # of both radii: what round-off leaves of a distance between two balls that is zero
TALLIED = 5  # columns of `tally`, of each pair: touches, impulse, largest force, energy lost, energy rubbed away

BATCH = np.dtype([
    ("advance", "i8"),  # address of the time loop
    ("record", "i8"),  # address of the run's record, a copy of it as it is before a run, and its size in bytes
    ("pristine", "i8"),
    ("record_bytes", "i8"),
    ("restored", "i8"),  # ints, (array, 3): where it is, where its copy is, bytes
    ("n_restored", "i8"),
    ("cancelled", "i8"),  # written from outside: stop as soon as may be
    ("budget", "i8"),  # evaluations between two looks at that
    ("n_members", "i8"),
    # what members begin with
    ("y", "i8"),  # (member, component)
    ("p", "i8"),  # (member, parameter)
    ("n_p", "i8"),
    ("p_step", "i8"),  # bytes from one member to the next; 0: all have the same
    ("numbers", "i8"),  # (member, pair, PAIR_NUMBERS)
    ("numbers_step", "i8"),
    ("weight", "i8"),  # (member) N
    # how works are controlled: see `members`
    ("plain_atol", "i8"),  # (component)
    ("n_controlled", "i8"),
    ("n_added", "i8"),
    ("rtol", "f8"),
    ("loosened", "f8"),  # times both tolerances
    ("at_tips", "i8"),  # of the observed row
    ("n_tips", "i8"),
    ("at_kinetic", "i8"),
    ("at_strain", "i8"),
    ("at_spring", "i8"),
    # whether the mass matrix is looked at, and room for it
    ("judges", "i8"),
    ("first_rate", "i8"),  # of y
    ("n_rates", "i8"),
    ("mass", "i8"),  # (rate, rate)
    ("balls", "i8"),  # ints, (pair): both sides are balls, which must not have one centre
    # what is kept
    ("code", "i8"),  # ints, (member): of `status`
    ("event", "i8"),  # ints, (member): the event that ended it, -1: none
    ("start", "i8"),  # ints, (member): PLAIN or SUSPECT
    ("t_end", "i8"),  # (member) s
    ("y_end", "i8"),  # (member, component)
    ("tally", "i8"),  # (member, pair, TALLIED)
    ("blind", "i8"),  # ints, (member): steps in which some event could not be judged
    ("steps", "i8"),  # ints, (member)
    ("end_columns", "i8"),  # ints: of the observed row at the end
    ("n_end", "i8"),
    ("end_values", "i8"),  # (member, end column)
    ("columns", "i8"),  # ints: of rows; component i of the state is -1 - i
    ("n_columns", "i8"),
    ("n_rows", "i8"),
    ("values", "i8"),  # (member, row, column); 0: not kept
    ("extremes", "i8"),  # (member, 2, column); 0: not kept
])  # fmt: skip
