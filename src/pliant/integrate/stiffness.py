"""When to turn from an explicit method to an implicit one and back.  Compiled; goes by counts, never by the clock.

An explicit method that stiffness holds back takes steps at the edge of its stability: h |lambda| near what its region
holds, step after step (Hairer, Wanner II, IV.2).  An implicit one is not needed where, with the same Jacobian, an explicit
one at that edge would get on at less cost.
"""

from __future__ import annotations

from typing import Any

from pliant.integrate.family import stiffness
from pliant.integrate.kernels import compiled

EDGE = 3.0  # h |lambda| of DOP853 from which a step counts as held back
EXPLICIT_COST = 12.0  # evaluations of such a step
REACH = 4.0  # h |lambda| that it is supposed to manage when an implicit step is compared with it
DEAR = 1.25  # cost of an implicit step over that of explicit ones from which it counts as not needed
CALM = 6  # steps without a sign after which the signs are forgotten
WORTH = 20_000.0  # evaluations still to come from which another family is worth its compilation


@compiled
def cost(run: Any) -> float:
    """Of all done so far, in evaluations of the right-hand side."""
    return float(run.rhs_evaluations + run.jacobian_cost * run.jacobians + run.factorisation_cost * run.factorisations)


@compiled
def wants_turn(run: Any, h: float) -> bool:
    """Count the signs after an accepted step h, before the state moves on."""
    spent = cost(run) - run.cost_before
    run.cost_before += spent
    edge = stiffness(run, h)
    if run.watching == 1:
        sign = edge > EDGE and spent * (run.t_stop - run.t) > WORTH * h
    else:
        sign = spent > DEAR * EXPLICIT_COST * max(edge / REACH, 0.5)
    if sign:
        run.stiff_steps += 1
        run.other_steps = 0
    else:
        run.other_steps += 1
        if run.other_steps >= CALM:
            run.stiff_steps = 0
    return bool(run.stiff_steps >= run.patience)
