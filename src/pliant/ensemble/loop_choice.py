"""Chooses the loop and the device of an ensemble: lock-step if possible, on a GPU if one is requested and responds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pliant.ensemble.explicit_choice import ExplicitChoice, explicit_choice
from pliant.ensemble.keep import KeepPlan
from pliant.ensemble.lockstep_ensemble import FEWEST, FEWEST_ALIKE, ON_CORES, ON_GPU, Batch, Runner, host_runner, reason_against
from pliant.ensemble.members import MemberPlan
from pliant.errors import ModelError, SolveError

if TYPE_CHECKING:
    from pliant.integrate.methods import Method
    from pliant.run.prepare import Compiled

AUTO, GENERAL, LOCKSTEP = "auto", "general", "lockstep"
LOOPS = (AUTO, GENERAL, LOCKSTEP)
CPU, GPU = "cpu", "gpu"
DEVICES = (CPU, GPU, AUTO)


@dataclass(frozen=True)
class LoopChoice:
    """The loop that runs the members, and the reason in words."""

    words: str
    runner: Callable[[Compiled, bool], Runner] | None = None  # None: the general loop
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
    asked = must or device != CPU
    # members tried show what a method that switches would use: only for those who ask for lock-step or a device
    reason = reason_against(plan, method.alternatives[0] if asked else method, kept)
    if not reason and plan.count < FEWEST and not must:
        return LoopChoice(f"{GENERAL}: {plan.count} members finish sooner than a lock-step loop can be built")
    explicit = explicit_choice(plan, method, t_end, max_steps) if asked and not reason else ExplicitChoice(method, method)
    reason = reason or explicit.reason
    if reason and must:
        raise ModelError.of(
            "ensemble", "loop", f"must be 'general' here: {reason}", loop if loop == LOCKSTEP else f"device={device!r}"
        )
    if reason:
        return LoopChoice(f"{GENERAL}: {reason}")
    where, runner, most = _where(explicit.method, device)
    words = f"{where}; {explicit.words}" if explicit.words else where
    return LoopChoice(words, runner, explicit, most, 1 if must else FEWEST_ALIKE)


def _where(method: Method, device: str) -> tuple[str, Callable[[Compiled, bool], Runner], Batch]:
    """The device in words, its runner, and how much runs there at a time."""
    if device == CPU:
        return LOCKSTEP, host_runner(method), ON_CORES
    from pliant.ensemble.gpu_runner import gpu_runner

    try:
        return f"{LOCKSTEP} on a GPU", gpu_runner(method), ON_GPU
    except SolveError as trouble:
        if device == GPU:
            raise
        return f"{LOCKSTEP} on the CPU: {trouble}", host_runner(method), ON_CORES
