"""When to switch from an explicit method to an implicit one and back.  Compiled; decided by counts, never by the clock.

An explicit method that is limited by stiffness takes step after step at the edge of its stability region, with h |lambda| near its
boundary (Hairer, Wanner II, IV.2); or, at tight tolerances, at a fraction of that, where stages far from the smooth motion make the
error estimate large. The first is a reason to switch; the second is a reason to try, if much of the run is still to come.

The remaining work is estimated from the present steps. But steps are also short where a mechanism passes a singular position, which
is over after a few of them. A try, and any switch whose Jacobian is expensive, therefore also depends on the recent pace of the
run: over some thousands of evaluations, and over as many as making the Jacobian takes (`price`).

Friction that saturates hides its stiffness from steps that are much too long: their stages are beyond its transition, where it is
constant. Such steps cross a corner of the law back and forth, and are cut there; this is a reason to try as well.

An implicit method is compared with explicit steps as long, in units of 1 / |lambda|, as those before the switch. It may lose a
fraction of the remaining work before it is given up, because it may have to damp an oscillation first; that fraction is halved at
every further switch, unless implicit steps have paid on the whole: a mechanism that is stiff whenever it touches switches often.
"""

from __future__ import annotations

from typing import Any

from pliant.integrate.loop.family import stiffness

EDGE, WORTH_TURNING = 3.0, 5_000.0  # h |lambda| of DOP853 at its stability limit; remaining evaluations that justify a switch
SUSPECT, WORTH_TRYING = 0.05, 200_000.0  # the same if stiffness is only suspected
CUT_SHORT = 1.5  # the recent pace over that of whole steps: events cut many of them, and stiffness cannot be measured
WINDOW = 2_000.0  # smallest number of evaluations over which the pace is measured
LOSS = 0.15  # fraction of the remaining work that the first try may lose
LEAST_LOSS = 500.0  # evaluations
CALM = 6  # steps without a sign of stiffness after which earlier signs are forgotten
MEMORY = 0.1  # weight of the last step in the mean of explicit steps
WARMING = 10  # calls of the power method before its first answer counts


def cost(run: Any) -> float:
    """Cost of the run so far, in evaluations of the right-hand side."""
    solving = run.factorisation_cost * run.factorisations + run.iteration_cost * run.iterations
    return float(run.rhs_evaluations + run.jacobian_cost * run.jacobians + solving)


def wants_turn(run: Any, h: float) -> bool:
    """Whether to switch after an accepted step h, judged before the state advances."""
    spent = cost(run) - run.cost_before
    run.cost_before += spent
    return _held_back(run, h, spent) if run.watching == 1 else _given_up(run, h, spent)


def _held_back(run: Any, h: float, spent: float) -> bool:
    """Whether `patience` explicit steps, nearly in a row, were limited by stiffness."""
    weight = MEMORY if run.explicit_h > 0.0 else 1.0
    run.explicit_h += (h - run.explicit_h) * weight
    run.explicit_cost += (spent - run.explicit_cost) * weight
    edge = stiffness(run, h)
    to_come = spent * _to_go(run) / h
    paced = _pace(run, run.t + h) * _to_go(run)
    at_edge = edge > EDGE and to_come > WORTH_TURNING and (run.price == 0.0 or paced > run.price)
    suspect = edge > SUSPECT or paced > CUT_SHORT * to_come
    if at_edge or (suspect and min(to_come, paced) > max(WORTH_TRYING, run.price)):
        run.signs += 1
        run.steps_without = 0
    else:
        run.steps_without += 1
        if run.steps_without >= CALM:
            run.signs = 0
    return bool(run.signs >= run.patience)


def _to_go(run: Any) -> float:
    """The remaining time of the run, s, as far as it is known."""
    return float(run.horizon if run.horizon > 0.0 else run.t_stop - run.t)


def _pace(run: Any, t: float) -> float:
    """Evaluations per simulated second over this window and the previous one; zero while these are fewer than the price."""
    if run.cost_before - run.window_cost >= max(WINDOW, run.price):
        run.earlier_t, run.earlier_cost = run.window_t, run.window_cost
        run.window_t, run.window_cost = t, run.cost_before
    spent = run.cost_before - run.earlier_cost
    return float(spent / (t - run.earlier_t)) if spent >= run.price else 0.0


def _given_up(run: Any, h: float, spent: float) -> bool:
    """Whether implicit steps have lost more than allowed."""
    if run.reach == 0.0:
        for _ in range(WARMING):
            stiffness(run, h)
        run.reach = run.explicit_h / h * stiffness(run, h)
    if run.reach == 0.0:
        return False  # all eigenvalues are zero: no basis for comparison
    instead = run.explicit_cost * stiffness(run, h) / run.reach
    run.gain += instead - spent
    run.loss = max(run.loss + spent - instead, 0.0)
    to_come = instead * _to_go(run) / h
    return bool(run.loss > max(LEAST_LOSS, LOSS * to_come / 2.0**run.turns_back))
