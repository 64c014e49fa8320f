"""The record of a batch of members that one thread runs one after another: initial values of each, and its kept results."""

from __future__ import annotations

import numpy as np

PLAIN, SUSPECT = 0, 1  # a start that needs no further check; one that Python has to judge
COINCIDENT_SHARE = 1e-12  # fraction of the radii: a smaller distance between the centres of two spheres is round-off
TALLIED = 6  # columns of `tally` for each pair: contacts, impulse, largest force, energy lost, lost to friction, fastest entry

BATCH = np.dtype([
    ("advance", "i8"),  # address of the time loop
    ("record", "i8"),  # address of the run's record, of a copy from before the run, and its size in bytes
    ("pristine", "i8"),
    ("record_bytes", "i8"),
    ("restored", "i8"),  # ints, (array, 3): its address, the address of its copy, bytes
    ("n_restored", "i8"),
    ("cancelled", "i8"),  # written from outside: stop as soon as possible
    ("budget", "i8"),  # evaluations between two checks of `cancelled`
    ("n_members", "i8"),
    # initial values of members
    ("y", "i8"),  # (member, component)
    ("p", "i8"),  # (member, parameter)
    ("n_p", "i8"),
    ("p_step", "i8"),  # bytes from one member to the next; 0: the same for all
    ("numbers", "i8"),  # (member, pair, PAIR_NUMBERS)
    ("numbers_step", "i8"),
    ("weight", "i8"),  # (member) N
    # error control of works: see `members`
    ("plain_atol", "i8"),  # (component)
    ("n_controlled", "i8"),
    ("n_added", "i8"),
    ("rtol", "f8"),
    ("loosened", "f8"),  # factor on both tolerances
    ("at_tips", "i8"),  # index in the observed row
    ("n_tips", "i8"),
    ("at_kinetic", "i8"),
    ("at_strain", "i8"),
    ("at_spring", "i8"),
    # whether the mass matrix is checked, and memory for it
    ("judges", "i8"),
    ("first_rate", "i8"),  # index in y
    ("n_rates", "i8"),
    ("mass", "i8"),  # (rate, rate)
    ("balls", "i8"),  # ints, (pair): both sides are spheres, whose centres must not coincide
    # kept results
    ("code", "i8"),  # ints, (member): code of `status`
    ("event", "i8"),  # ints, (member): the event that ended it, -1: none
    ("start", "i8"),  # ints, (member): PLAIN or SUSPECT
    ("t_end", "i8"),  # (member) s
    ("y_end", "i8"),  # (member, component)
    ("tally", "i8"),  # (member, pair, TALLIED)
    ("blind", "i8"),  # ints, (member): steps in which some event could not be judged
    ("steps", "i8"),  # ints, (member)
    ("end_columns", "i8"),  # ints: columns of the observed row at the end
    ("n_end", "i8"),
    ("end_values", "i8"),  # (member, end column)
    ("columns", "i8"),  # ints: columns of rows; component i of the state is -1 - i
    ("n_columns", "i8"),
    ("n_rows", "i8"),
    ("values", "i8"),  # (member, row, column); 0: not kept
    ("extremes", "i8"),  # (member, 2, column); 0: not kept
])  # fmt: skip
