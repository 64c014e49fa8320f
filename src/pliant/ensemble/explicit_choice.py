"""Chooses the explicit method of an ensemble in lock-step if the given method switches between explicit and implicit steps."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pliant.errors import ModelError, SolveError

if TYPE_CHECKING:
    from pliant.ensemble.members import MemberPlan
    from pliant.integrate.methods import Method
    from pliant.results.result import Result

MORE_STEPS = 20  # times the steps of the members tried: a member that needs more is stiff, and `simulate` runs it
FEW_STEPS = 1000


@dataclass(frozen=True)
class ExplicitChoice:
    """The explicit method of an ensemble, or the reason why there is none."""

    given: Method
    method: Method
    words: str = ""  # how it was chosen; empty if it was given
    reason: str = ""  # against lock-step
    most_steps: int | None = None  # of a member, before `simulate` runs it with the given method


def explicit_choice(plan: MemberPlan, method: Method, t_end: float, max_steps: int | None) -> ExplicitChoice:
    """The given method, or its explicit one if it switches to implicit steps in none of the members that are tried."""
    explicit, *implicit = method.alternatives
    if not implicit:
        return ExplicitChoice(method, method)
    name, steps = type(method).__name__, 0
    for result in _tried(plan, method, t_end, max_steps):
        for kind in implicit:
            count = result.stats["steps_of"].get(type(kind).__name__, 0)
            if count:
                trial = f"{name} took {count} of {result.stats['steps']} steps by {type(kind).__name__} in a trial run"
                return ExplicitChoice(method, method, reason=f"{trial}, {_stiff(explicit)}")
        steps = max(steps, result.stats["steps"] + result.stats["rejected"])
    words = f"with {_call(explicit)}, because {name} took no implicit steps in trial runs"
    return ExplicitChoice(method, explicit, words, most_steps=MORE_STEPS * steps + FEW_STEPS if steps else None)


def _tried(plan: MemberPlan, method: Method, t_end: float, max_steps: int | None) -> Iterable[Result]:
    """Runs of the first, the middle and the last member; those that cannot run are left out."""
    for member in sorted({0, plan.count // 2, plan.count - 1}):
        try:
            result = plan.simulated(member, None, t_end, method=method, save=[t_end], max_steps=max_steps)
        except (ModelError, SolveError):  # its own row will give the reason
            continue
        if result.interrupted:
            raise KeyboardInterrupt
        yield result


def _stiff(explicit: Method) -> str:
    """What implicit steps mean, and how to do without."""
    kind, rtol, atol = type(explicit).__name__, f"{explicit.rtol:g}", explicit.atol
    return (
        "so the equations are stiff, but lock-step has explicit methods only; to use one all the same, write "
        f"method=pl.{kind}(rtol={rtol}, atol={atol}), or in a model file method: {{{kind.lower()}: {{rtol: {rtol}, atol: {atol}}}}}"
    )


def _call(method: Method) -> str:
    return f"{type(method).__name__}(rtol={method.rtol:g}, atol={method.atol})"
