"""Ensembles on GPUs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from pliant.ensemble.lockstep.device import ASYNCHRONOUS, DeviceRuns, device_text, gpus, ptx_of
from pliant.ensemble.lockstep_ensemble import Runner
from pliant.ensemble.lockstep_model import explicit_tableau, lockstep_model
from pliant.run.prepare import Compiled, CompiledStructure

if TYPE_CHECKING:
    from pliant.integrate.methods.method import Method


def gpu_runner(method: Method) -> Callable[[Compiled, bool], Runner]:
    """Runs one member per thread on all available GPUs; a SolveError if none responds."""
    devices, known = gpus(), dict[tuple[CompiledStructure, bool], Runner]()  # kernels are loaded once
    asynchronous = all(device.capability >= ASYNCHRONOUS for device in devices)

    def of(compiled: Compiled, own_constants: bool) -> Runner:
        key = compiled.structure, own_constants
        if key not in known:
            text = device_text(lockstep_model(compiled), explicit_tableau(method), own_constants, asynchronous)
            known[key] = DeviceRuns(devices, text, ptx_of(text, compiled.structure.cache))
        return known[key]

    return of
