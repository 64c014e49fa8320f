"""Chooses the loop and the device of an ensemble: lock-step if possible, on a GPU if one is requested and responds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pliant.errors import ModelError, SolveError
from pliant.study.ensemble_keep import KeepPlan
from pliant.study.lockstep import FEWEST, Runner, host_runner, reason_against
from pliant.study.members import MemberPlan

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
    runner: Callable[[Compiled, bool], Runner]
    lockstep: bool


def choose_loop(plan: MemberPlan, method: Method, kept: KeepPlan, loop: str, device: str) -> LoopChoice:
    """Raises a ModelError if lock-step or a GPU is required but impossible, and a SolveError if no GPU responds."""
    if loop == GENERAL:
        if device == GPU:
            raise ModelError.of("ensemble", "loop", "must be 'auto' or 'lockstep' on a GPU, which runs members in lock-step", loop)
        return LoopChoice(GENERAL, host_runner(method), False)
    reason = reason_against(plan, method, kept)
    must = loop == LOCKSTEP or device == GPU
    if reason and must:
        asked = loop if loop == LOCKSTEP else f"device={device!r}"
        raise ModelError.of("ensemble", "loop", f"must be 'general' here: {reason}", asked)
    if reason:
        return LoopChoice(f"{GENERAL}: {reason}", host_runner(method), False)
    if plan.count < FEWEST and not must:
        words = f"{GENERAL}: {plan.count} members finish sooner than a lock-step loop can be built"
        return LoopChoice(words, host_runner(method), False)
    if device != CPU:
        from pliant.study.gpu import gpu_runner

        try:
            return LoopChoice(f"{LOCKSTEP} on a GPU", gpu_runner(method), True)
        except SolveError as trouble:
            if device == GPU:
                raise
            return LoopChoice(f"{LOCKSTEP} on the CPU: {trouble}", host_runner(method), True)
    return LoopChoice(LOCKSTEP, host_runner(method), True)
