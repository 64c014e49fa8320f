"""The record of the compiled loop over a tape; see `variational`."""

from __future__ import annotations

import numpy as np

LANES = 4  # directions side by side, as in the kernels: see `codegen.lanes`

_COUNTS = {
    "first": "i8",  # first step of the tape to process
    "last": "i8",  # one past the last step to process
    "n": "i8",  # components of the state
    "n_read": "i8",  # number of components, the first, that kernels read
    "n_padded": "i8",  # n, padded to a multiple of BLOCK
    "n_moved": "i8",  # number of entries of a group of S that kernels read
    "n_rows": "i8",  # rows of S in memory
    "n_seeds": "i8",  # rows of seeds in memory
    "n_controlled": "i8",
    "n_mean": "f8",
    "groups": "i8",
    "directions": "i8",
    "n_p": "i8",
    "n_decisions": "i8",
    "n_deciding": "i8",  # number of decisions that have an effect
    "stages": "i8",
    "extras": "i8",
    "terms": "i8",
    "error_rows": "i8",
    "may_interpolate": "i8",  # the tableau is that of the run, so its dense output is valid for the run's steps
    "interpolates": "i8",  # k_whole belongs to this step
    "exponent": "f8",
    "n_queries": "i8",
    "next_query": "i8",
    "strictness": "f8",  # factor of the error of S, which must be below its tolerance
    "step": "f8",  # s, step length that S requires
    "rtol": "f8",
    "n_p_project": "i8",
    "n_decisions_project": "i8",
    "n_seeds_project": "i8",
    "evaluations": "i8",
    "corners": "i8",  # number of steps that were cut at corners
    "shortened": "i8",
    "failed": "i8",  # 1: not finite; 2: no step is short enough
    "failed_t": "f8",
}
_KERNELS = ("rhs", "primal", "linear", "decide", "project_primal", "project_linear", "project_decide")
_ARRAYS = (
    "row_first", "column", "value", "c", "dense",  # a tableau
    "tape_t", "tape_y", "tape_end",
    "p",  # entries, then decisions
    "p_project",  # the same for the projection
    "zeros", "y", "y_new", "y_try", "y_look",
    "k",  # (stage, component)
    "s",  # (group, row, lane), at the beginning of the step; then at its end
    "s_new",
    "seeds",  # (group, row, lane): seeds of the state, of time, of entries of p
    "seeds_project",
    "l",  # (stage, group, row, lane): derivatives of S
    "estimate",  # (2, group, row, lane)
    "slopes",  # (2, component) at both ends of a step
    "k_whole",  # (stage, component) of the whole step, where corners are looked for
    "y_begin",
    "weights",
    "out",  # outputs of `primal`
    "out_project",
    "atol",
    "theta",  # (direction) size of its parameter
    "decided",  # (2, decision)
    "matters",  # (decision) 1, or 0 if it has no effect
    "work",
    "query_t", "query_y", "query_s",
)  # fmt: skip
VARIATION = np.dtype([*_COUNTS.items(), *((name, "i8") for name in (*_KERNELS, *_ARRAYS))])
