"""When to turn from an explicit method to an implicit one and back.  Compiled; goes by counts, never by the clock.

An explicit method that stiffness holds back takes steps at the edge of its stability, h |lambda| near what its region holds, step
after step (Hairer, Wanner II, IV.2); or, at tight tolerances, at a fraction of that, where stages far from the smooth motion
make the error estimate large. The first is a reason to turn; the second a reason to try, where much is still to come.

What is still to come is told from the steps of the moment, and those are as short where a mechanism passes a singular position,
which is over after a few of them. So a turn waits until a share of what it promises to save has been spent held back, and at
least what the Jacobian costs to make (`price`).

An implicit method is held against explicit steps as long, in units of 1 / |lambda|, as those before the turn. It may lose a
share of what is still to come before it is given up, for it may have to damp an oscillation first; half of that at every further
turn.
"""

from __future__ import annotations

from typing import Any

from pliant.integrate.family import stiffness
from pliant.integrate.kernels import compiled

EDGE, WORTH_TURNING = 3.0, 5_000.0  # h |lambda| of DOP853 at the edge; evaluations still to come that are worth turning for
SUSPECT, WORTH_TRYING = 0.05, 200_000.0  # the same where stiffness is only suspected
STRETCH = 0.01  # of those evaluations: what is spent held back before it counts
LOSS = 0.15  # of what is still to come: what the first try may lose
LEAST_LOSS = 500.0  # evaluations
CALM = 6  # steps without a sign after which the signs are forgotten
MEMORY = 0.1  # weight of the last step in the mean of explicit ones
WARMING = 10  # calls of the power method before its first answer counts


@compiled
def cost(run: Any) -> float:
    """Of all done so far, in evaluations of the right-hand side."""
    solving = run.factorisation_cost * run.factorisations + run.iteration_cost * run.iterations
    return float(run.rhs_evaluations + run.jacobian_cost * run.jacobians + solving)


@compiled
def wants_turn(run: Any, h: float) -> bool:
    """Look at an accepted step h, before the state moves on."""
    spent = cost(run) - run.cost_before
    run.cost_before += spent
    return _held_back(run, h, spent) if run.watching == 1 else _given_up(run, h, spent)


@compiled
def _held_back(run: Any, h: float, spent: float) -> bool:
    """Whether `patience` explicit steps or more, nearly in a row, were held back, and long enough."""
    weight = MEMORY if run.explicit_h > 0.0 else 1.0
    run.explicit_h += (h - run.explicit_h) * weight
    run.explicit_cost += (spent - run.explicit_cost) * weight
    edge = stiffness(run, h)
    to_come = spent * (run.t_stop - run.t) / h
    worth = WORTH_TURNING if edge > EDGE else WORTH_TRYING
    if edge > SUSPECT and to_come > max(worth, run.price):
        run.signs += 1
        run.stretch += spent
        run.steps_without = 0
    else:
        run.steps_without += 1
        if run.steps_without >= CALM:
            run.signs = 0
            run.stretch = 0.0
    return bool(run.signs >= run.patience and run.stretch >= max(STRETCH * worth, run.price))


@compiled
def _given_up(run: Any, h: float, spent: float) -> bool:
    """Whether implicit steps have lost more than they may."""
    if run.reach == 0.0:
        for _ in range(WARMING):
            stiffness(run, h)
        run.reach = run.explicit_h / h * stiffness(run, h)
    if run.reach == 0.0:
        return False  # no eigenvalue but zero: nothing to go by
    instead = run.explicit_cost * stiffness(run, h) / run.reach
    run.loss = max(run.loss + spent - instead, 0.0)
    to_come = instead * (run.t_stop - run.t) / h
    return bool(run.loss > max(LEAST_LOSS, LOSS * to_come / 2.0**run.turns_back))
