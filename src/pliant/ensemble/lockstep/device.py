"""Members of an ensemble in lock-step on NVIDIA GPUs: the text of the kernels as PTX, one member a thread."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numpy as np

from pliant.codegen.member_lanes import Lanes
from pliant.ensemble.lockstep.gpu import CONSTANTS_SYMBOL, RECORD_SYMBOL
from pliant.ensemble.lockstep.lists import COUNTS
from pliant.ensemble.lockstep.rounds import gpu_text, kernels_of
from pliant.ensemble.lockstep.runs import (
    LOCKSTEP_VERSION,
    LockstepEnds,
    LockstepMembers,
    LockstepTolerances,
    inputs_of,
)
from pliant.ensemble.lockstep.tables import SHARED, LockstepModel
from pliant.ensemble.lockstep.text import LockstepText
from pliant.errors import SolveError
from pliant.host.cuda import Buffers, Device, DeviceError, Driver, Kernel, Module, Rounds, batches, run_batch
from pliant.host.object_cache import kept
from pliant.host.processor import VERSIONS, optimised
from pliant.integrate.methods.tableaus import Tableau

TRIPLE = "nvptx64-nvidia-cuda"
ASYNCHRONOUS = (8, 0)  # the oldest capability with which threads copy without waiting (`copies`)
TARGETS = {False: ("sm_70", "+ptx63"), True: ("sm_80", "+ptx70")}  # GPUs since 2017, since 2020; every current driver knows both


def device_text(model: LockstepModel, tableau: Tableau, own_constants: bool, asynchronous: bool = True) -> LockstepText:
    return LockstepText(model, tableau, Lanes(1, own_constants, whole=True), asynchronous)


def ptx_of(text: LockstepText, folder: Path | None) -> bytes:
    """The kernels as PTX, kept in the folder for later processes; no GPU is needed to write it."""
    source = gpu_text(text)
    target = TARGETS[text.asynchronous]

    def compiled() -> bytes:
        machine = machine_of(*target)
        return bytes(machine.emit_assembly(optimised(source, machine, unroll=False)).encode())

    return kept(folder, (source, TRIPLE, *target, *VERSIONS, LOCKSTEP_VERSION), compiled)[0]


def machine_of(capability: str, ptx: str) -> Any:
    """LLVM's description of the GPUs that code is generated for."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    return llvm.Target.from_triple(TRIPLE).create_target_machine(cpu=capability, features=ptx, opt=3)


def gpus() -> list[Device]:
    """All GPUs that respond; a SolveError with the reason if none does."""
    try:
        driver = Driver()
        if driver.count == 0:
            raise DeviceError("the NVIDIA driver finds no GPU on this machine")
        return [Device(driver, number) for number in range(driver.count)]
    except DeviceError as trouble:
        raise SolveError(f"no GPU: {trouble}") from None


def rounds_of(device: Device, text: LockstepText, ptx: bytes) -> Rounds:
    """The kernels on one GPU."""
    module = Module(device, ptx)
    kernels = [Kernel(module, name, shared_bytes) for name, shared_bytes in kernels_of(text).items()]
    return Rounds(tuple(kernels), 8 * text.records.size, COUNTS)


class DeviceRuns:
    """Runs members on all GPUs, in batches that fit into their memory; `cancel`, called from another thread, ends the run soon."""

    def __init__(self, devices: list[Device], text: LockstepText, ptx: bytes) -> None:
        self._devices, self._text, self._ptx = devices, text, ptx
        self._rounds: dict[int, Rounds] = {}
        self._cancelled = False

    def cancel(self) -> None:
        self._cancelled = True

    def run(
        self, members: LockstepMembers, tolerances: LockstepTolerances, threads: int, progress: Callable[[int], None] | None = None
    ) -> LockstepEnds:
        ends = LockstepEnds.room(len(members), self._text.model, members.plan.size, filled=False)
        each = sum(array.nbytes for array in ends.arrays.values()) // max(len(members), 1) + 8 * (members.y.shape[1] + 64)
        each += members.constants.nbytes // max(len(members), 1)
        waiting: queue.SimpleQueue[range] = queue.SimpleQueue()
        troubles: list[BaseException] = []
        try:
            for batch in batches(len(members), each, min(device.free_bytes for device in self._devices), len(self._devices)):
                waiting.put(batch)
        except DeviceError as trouble:
            raise SolveError(f"GPU: {trouble}") from None
        done, seconds = [0] * len(self._devices), [0.0] * len(self._devices)

        def work(number: int) -> None:
            before = 0

            def report(count: int) -> None:
                done[number] = before + count
                if progress is not None:
                    progress(sum(done))

            try:
                while not self._cancelled:
                    try:
                        batch = waiting.get_nowait()
                    except queue.Empty:
                        return
                    seconds[number] += self._batch(number, members, tolerances, ends, batch, report)
                    if not self._cancelled:
                        before += len(batch)
                        report(0)
            except BaseException as trouble:  # of a thread, which nobody else would hear of
                troubles.append(trouble)

        workers = [threading.Thread(target=work, args=(number,)) for number in range(len(self._devices))]
        for worker in workers:
            worker.start()
        try:
            for worker in workers:
                worker.join()
        except KeyboardInterrupt:  # members in progress are given up: these may be all
            self.cancel()
            ends.interrupted = True
            for worker in workers:
                worker.join()
        for reason in troubles:
            raise SolveError(f"GPU: {reason}") if isinstance(reason, DeviceError) else reason
        ends.gpu_seconds = max(seconds)
        return ends

    def _batch(
        self,
        number: int,
        members: LockstepMembers,
        tolerances: LockstepTolerances,
        ends: LockstepEnds,
        batch: range,
        report: Callable[[int], None],
    ) -> float:
        """Runs some of the members; returns the seconds that the kernels took."""
        device = self._devices[number]
        if number not in self._rounds:
            self._rounds[number] = rounds_of(device, self._text, self._ptx)
        rounds, own = self._rounds[number], slice(batch.start, batch.stop)

        part = members.of(own)
        numbers, inputs = inputs_of(part, tolerances)
        outputs = {name: array[own] for name, array in ends.arrays.items()}
        module = rounds.kernels[0].module
        if not self._text.lanes.own_constants:
            module.fill(CONSTANTS_SYMBOL, inputs["constants"])
        lanes, claimed = rounds.lanes(len(batch), device.free_bytes), np.zeros(1, dtype=np.int64)

        def run(buffers: Buffers) -> None:
            def goes_on(live: int) -> bool:
                buffers.get("next", claimed)
                report(min(int(claimed[0]), len(batch)) - live)
                return not self._cancelled

            rounds.run(buffers, lanes, goes_on)

        return run_batch(module, SHARED, numbers, inputs, outputs, RECORD_SYMBOL, run)
