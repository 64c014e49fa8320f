"""Chooses the loop, its explicit method and the device of an ensemble: lock-step if possible, on a GPU if one responds."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pliant.ensemble.keep import KeepPlan
from pliant.ensemble.lockstep_ensemble import FEWEST, FEWEST_ALIKE, ON_CORES, ON_GPU, Batch, Runner, host_runner, reason_against
from pliant.ensemble.members import MemberPlan
from pliant.errors import ModelError, SolveError

if TYPE_CHECKING:
    from pliant.integrate.methods.method import Method
    from pliant.results.result import Result
    from pliant.run.prepare import Compiled

RunnerOf = Callable[["Compiled", bool], Runner]

AUTO, GENERAL, LOCKSTEP = "auto", "general", "lockstep"
LOOPS = (AUTO, GENERAL, LOCKSTEP)
CPU, GPU = "cpu", "gpu"
DEVICES = (CPU, GPU, AUTO)
MORE_STEPS = 20  # times the steps of the members tried: a member that needs more is stiff, and `simulate` runs it
FEW_STEPS = 1000
# Seconds on one core, typical of any: a clock would make the choice, and with it the last digits of results, a matter of luck.
SAVED = 2 / 3  # of the general loop's time, by lock-step
BUILDING, BUILDING_AN_OPERATION = 1.0, 6e-3  # s: compiling a lock-step loop, and each operation of its right-hand side
EVALUATION, OPERATION = 1e-7, 7.5e-10  # s: an evaluation in the general loop, and each of its operations


@dataclass(frozen=True)
class ExplicitChoice:
    """The explicit method of an ensemble, or the reason why there is none."""

    given: Method
    method: Method
    words: str = ""  # how it was chosen; empty if it was given
    reason: str = ""  # against lock-step
    most_steps: int | None = None  # of a member, before `simulate` runs it with the given method
    evaluations: float = math.inf  # of right-hand sides by a member in trial runs, if there were any

    def told(self, where: str) -> str:
        """Where it runs, and how it was chosen."""
        return f"{where}; {self.words}" if self.words else where


@dataclass(frozen=True)
class LoopChoice:
    """The loop that runs the members, and the reason in words."""

    words: str
    runner: RunnerOf | None = None  # None: the general loop
    explicit: ExplicitChoice | None = None
    most: Batch = ON_CORES  # members at a time
    fewest_alike: int = FEWEST_ALIKE  # members of one structure that run in lock-step; 1 if it was asked for, whatever that costs


def choose_loop(
    plan: MemberPlan, method: Method, kept: KeepPlan, loop: str, device: str, t_end: float, max_steps: int | None
) -> LoopChoice:
    """Raises a ModelError if lock-step or a GPU is required but impossible, and a SolveError if no GPU responds."""
    if loop == GENERAL:
        if device == GPU:
            raise ModelError.of("ensemble", "loop", "must be 'auto' or 'lockstep' on a GPU, which runs members in lock-step", loop)
        return LoopChoice(GENERAL)
    must = loop == LOCKSTEP or device == GPU
    reason = reason_against(plan, method.alternatives[0], kept)
    sooner = f"{GENERAL}: {plan.count} members finish sooner than a lock-step loop can be built"
    if not reason and plan.count < FEWEST and not must:
        return LoopChoice(sooner)
    explicit = ExplicitChoice(method, method) if reason else explicit_choice(plan, method, t_end, max_steps)
    if not must and not explicit.reason and _built_in_vain(plan.count * explicit.evaluations, plan.first.rhs.operations):
        return LoopChoice(sooner)
    reason = reason or explicit.reason
    if reason and must:
        raise ModelError.of(
            "ensemble", "loop", f"must be 'general' here: {reason}", loop if loop == LOCKSTEP else f"device={device!r}"
        )
    if reason:
        return LoopChoice(f"{GENERAL}: {reason}")
    where, runner, most = place_of(explicit.method, device)
    return LoopChoice(explicit.told(where), runner, explicit, most, 1 if must else FEWEST_ALIKE)


def _built_in_vain(evaluations: float, operations: int) -> bool:
    """Whether the general loop is done with all members before lock-step has made up for its compilation."""
    return SAVED * evaluations * (EVALUATION + operations * OPERATION) < BUILDING + operations * BUILDING_AN_OPERATION


def place_of(method: Method, device: str) -> tuple[str, RunnerOf, Batch]:
    """The device in words, its runner, and how much runs there at a time; a SolveError if no GPU responds."""
    if device == CPU:
        return LOCKSTEP, host_runner(method), ON_CORES
    from pliant.ensemble.gpu_runner import gpu_runner

    try:
        return f"{LOCKSTEP} on a GPU", gpu_runner(method), ON_GPU
    except SolveError as trouble:
        if device == GPU:
            raise
        return f"{LOCKSTEP} on the CPU: {trouble}", host_runner(method), ON_CORES


def explicit_choice(plan: MemberPlan, method: Method, t_end: float, max_steps: int | None) -> ExplicitChoice:
    """The given method, or its explicit one if it switches to implicit steps in none of the members that are tried."""
    explicit, *implicit = method.alternatives
    if not implicit:
        return ExplicitChoice(method, method)
    name, steps, evaluations = type(method).__name__, 0, list[int]()
    for result in _tried(plan, method, t_end, max_steps):
        for kind in implicit:
            count = result.stats["steps_of"].get(type(kind).__name__, 0)
            if count:
                trial = f"{name} took {count} of {result.stats['steps']} steps by {type(kind).__name__} in a trial run"
                return ExplicitChoice(method, method, reason=f"{trial}, {_stiff(explicit)}")
        steps = max(steps, result.stats["steps"] + result.stats["rejected"])
        evaluations.append(result.stats["rhs_evaluations"])
    words = f"with {_call(explicit)}, because {name} took no implicit steps in trial runs"
    if not evaluations:  # none of them can run
        return ExplicitChoice(method, explicit, words)
    return ExplicitChoice(
        method, explicit, words, most_steps=MORE_STEPS * steps + FEW_STEPS, evaluations=sum(evaluations) / len(evaluations)
    )


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
