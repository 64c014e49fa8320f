"""NVIDIA GPUs, used through their driver alone: no toolkit, no other package. The driver compiles kernels from PTX."""

from __future__ import annotations

import ctypes
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from ctypes import byref, c_char_p, c_int, c_size_t, c_ubyte, c_uint, c_uint64, c_void_p
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

LIBRARIES = {"win32": ("nvcuda.dll",), "linux": ("libcuda.so.1", "libcuda.so", "/usr/local/nvidia/lib64/libcuda.so.1")}
OLDEST_DRIVER = 11000  # CUDA 11.0: older drivers do not know the PTX version used here
NOTHING = 0xFF  # every byte of -1, and of a nan
OLDEST_CAPABILITY = (7, 0)  # Volta: the oldest with explicit synchronisation of the threads of a warp
BLOCK, WARP = 128, 32  # threads: one warp for each of a multiprocessor's four schedulers; fewer if shared memory is short
ROUNDS_AT_ONCE = 8  # before the host looks again
LANES_BYTES = 2**34  # memory of the members that run at a time: enough of them for any GPU
SHARE_OF_LANES = 0.25  # fraction of the GPU's free memory that they may use
SHARE_OF_MEMORY = 0.7  # fraction that the numbers of all members of a batch may use
_MULTIPROCESSORS, _MAJOR, _MINOR, _SHARED_BYTES = 16, 75, 76, 97  # attributes of a device
_LOCAL_BYTES, _REGISTERS, _MOST_SHARED = 3, 4, 8  # attributes of a function
_LOG, _LOG_SIZE = 5, 6  # options of the driver's compiler: its error log
_NAMES = 256


class DeviceError(Exception):
    """There is no GPU, or the GPU cannot do what is required."""


class Driver:
    """The driver's library."""

    def __init__(self) -> None:
        self._library = self._load()
        self.call("cuInit", 0)
        version = c_int()
        self.call("cuDriverGetVersion", byref(version))
        if version.value < OLDEST_DRIVER:
            raise DeviceError(f"the NVIDIA driver must support CUDA {OLDEST_DRIVER // 1000}.0 or later, this one supports "
                              f"{version.value // 1000}.{version.value % 1000 // 10}")  # fmt: skip

    def _load(self) -> Any:
        for name in LIBRARIES.get(sys.platform, ()):
            try:
                return ctypes.CDLL(name)
            except OSError:
                continue
        raise DeviceError("no NVIDIA driver is installed (its library, libcuda.so.1 or nvcuda.dll, was not found)")

    def call(self, function: str, *arguments: Any) -> None:
        code = getattr(self._library, function)(*arguments)
        if code != 0:
            words = c_char_p()
            self._library.cuGetErrorString(code, byref(words))
            said = words.value.decode() if words.value else f"error {code}"
            raise DeviceError(f"the NVIDIA driver refused {function}: {said}")

    @property
    def count(self) -> int:
        number = c_int()
        self.call("cuDeviceGetCount", byref(number))
        return number.value


class Device:
    """One GPU, ready for use in the calling thread."""

    def __init__(self, driver: Driver, number: int = 0) -> None:
        self._driver, self._device, self._context = driver, c_int(), c_void_p()
        driver.call("cuDeviceGet", byref(self._device), number)
        self.capability = major, minor = self._attribute(_MAJOR), self._attribute(_MINOR)
        name = ctypes.create_string_buffer(_NAMES)
        driver.call("cuDeviceGetName", name, _NAMES, self._device)
        self.name = name.value.decode()
        if (major, minor) < OLDEST_CAPABILITY:
            raise DeviceError(f"the GPU {self.name} has compute capability {major}.{minor}, but {OLDEST_CAPABILITY[0]}.0 is needed")
        self.multiprocessors = self._attribute(_MULTIPROCESSORS)
        self.shared_bytes = self._attribute(_SHARED_BYTES)  # that one block may have
        driver.call("cuDevicePrimaryCtxRetain", byref(self._context), self._device)

    def _attribute(self, which: int) -> int:
        value = c_int()
        self._driver.call("cuDeviceGetAttribute", byref(value), which, self._device)
        return value.value

    def call(self, function: str, *arguments: Any) -> None:
        self._driver.call(function, *arguments)

    def enter(self) -> None:
        """Make this GPU the current one of the calling thread."""
        self.call("cuCtxSetCurrent", self._context)

    def wait(self) -> None:
        """Returns when everything that was started has ended."""
        self.call("cuCtxSynchronize")

    @property
    def free_bytes(self) -> int:
        self.enter()
        free, total = c_size_t(), c_size_t()
        self.call("cuMemGetInfo_v2", byref(free), byref(total))
        return free.value


@dataclass(frozen=True)
class KernelFacts:
    """Properties of a kernel that the driver compiled."""

    registers: int
    local_bytes: int
    shared_bytes: int  # of a block
    blocks: int  # that run at once on all multiprocessors


class Module:
    """A PTX text that the driver of one GPU has compiled."""

    def __init__(self, device: Device, ptx: bytes) -> None:
        device.enter()
        self.device = device
        self._module = c_void_p()
        began = time.perf_counter()
        log = ctypes.create_string_buffer(8192)
        options = (c_int * 2)(_LOG, _LOG_SIZE)
        values = (c_void_p * 2)(ctypes.cast(log, c_void_p), c_void_p(8192))
        try:
            device.call("cuModuleLoadDataEx", byref(self._module), ptx + b"\0", 2, options, values)
        except DeviceError as trouble:
            raise DeviceError(f"{trouble}; {log.value.decode(errors='replace').strip()[:400]}") from None
        self.load_seconds = time.perf_counter() - began

    def function(self, name: str) -> c_void_p:
        function = c_void_p()
        self.device.call("cuModuleGetFunction", byref(function), self._module, name.encode())
        return function

    def fill(self, symbol: str, array: NDArray[Any]) -> None:
        """Writes memory that the PTX names, such as constants."""
        self.device.enter()
        address, size = c_uint64(), c_size_t()
        self.device.call("cuModuleGetGlobal_v2", byref(address), byref(size), self._module, symbol.encode())
        if array.nbytes > size.value:
            raise DeviceError(f"{symbol} holds {size.value} bytes, not {array.nbytes}")
        if array.nbytes:
            self.device.call("cuMemcpyHtoD_v2", address, c_void_p(array.ctypes.data), c_size_t(array.nbytes))


class Kernel:
    """One kernel of a module.

    shared_bytes: of each thread, in the memory that the threads of a multiprocessor share.
    """

    def __init__(self, module: Module, name: str, shared_bytes: int = 0, block: int = BLOCK) -> None:
        self.module, self.device = module, module.device
        self.device.enter()
        self._function = module.function(name)
        self.block, blocks = self._fitting(shared_bytes, block)
        shared = shared_bytes * self.block
        self.facts = KernelFacts(self._fact(_REGISTERS), self._fact(_LOCAL_BYTES), shared, blocks * self.device.multiprocessors)

    def _fitting(self, shared_bytes: int, most: int) -> tuple[int, int]:
        """(Threads of a block, at most so many; blocks of a multiprocessor): as many threads as possible, in blocks as large."""
        device, best = self.device, (0, 0)
        for block in (most >> k for k in range(most.bit_length()) if most >> k >= WARP):
            blocks, shared = c_int(), shared_bytes * block
            if shared > device.shared_bytes:
                continue
            if shared:
                device.call("cuFuncSetAttribute", self._function, _MOST_SHARED, shared)
            device.call("cuOccupancyMaxActiveBlocksPerMultiprocessor", byref(blocks), self._function, block, c_size_t(shared))
            if block * blocks.value > best[0] * best[1]:
                best = block, blocks.value
        if best[1] == 0:
            if shared_bytes * WARP > device.shared_bytes:
                raise DeviceError(f"the model does not fit: {WARP} threads ask for {shared_bytes * WARP} bytes of shared memory, "
                                  f"{device.name} has {device.shared_bytes}")  # fmt: skip
            raise DeviceError(f"the model does not fit: a block of {WARP} threads asks for more registers than {device.name} has")
        if shared_bytes:
            device.call("cuFuncSetAttribute", self._function, _MOST_SHARED, shared_bytes * best[0])
        return best

    def _fact(self, which: int) -> int:
        value = c_int()
        self.device.call("cuFuncGetAttribute", byref(value), which, self._function)
        return value.value

    def __call__(self, threads: int, *arguments: int) -> None:
        """Starts at least so many threads; does not wait for them. Arguments: numbers and addresses of 8 bytes."""
        values = [c_uint64(x) for x in arguments]
        passed = (c_void_p * max(len(values), 1))(*(ctypes.addressof(x) for x in values))
        sizes = (c_uint(n) for n in (max(1, -(-threads // self.block)), 1, 1, self.block, 1, 1, self.facts.shared_bytes))
        self.device.call("cuLaunchKernel", self._function, *sizes, None, passed, None)


class Buffers:
    """Arrays on a GPU, by name; freed at the end of the `with` block."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self.addresses: dict[str, int] = {}

    def __enter__(self) -> Buffers:
        return self

    def __exit__(self, *_: object) -> None:
        for address in self.addresses.values():
            self._device.call("cuMemFree_v2", c_uint64(address))

    def room(self, name: str, size: int, byte: int = 0) -> int:
        """The address of so many bytes, each with this value."""
        address = c_uint64()
        self._device.call("cuMemAlloc_v2", byref(address), c_size_t(max(size, 8)))
        self.addresses[name] = address.value
        self.clear(name, max(size, 8), byte)
        return address.value

    def clear(self, name: str, size: int, byte: int = 0) -> None:
        """Gives the first bytes this value, after everything that was started before."""
        self._device.call("cuMemsetD8Async", c_uint64(self.addresses[name]), c_ubyte(byte), c_size_t(size), None)

    def put(self, name: str, array: NDArray[Any]) -> None:
        self.room(name, array.nbytes)
        if array.nbytes:
            self.set(name, array)

    def set(self, name: str, array: NDArray[Any]) -> None:
        """Overwrites the first bytes."""
        self._device.call("cuMemcpyHtoD_v2", c_uint64(self.addresses[name]), c_void_p(array.ctypes.data), c_size_t(array.nbytes))

    def get(self, name: str, array: NDArray[Any]) -> None:
        source, size = c_uint64(self.addresses[name]), c_size_t(array.nbytes)
        if array.nbytes:
            self._device.call("cuMemcpyDtoH_v2", c_void_p(array.ctypes.data), source, size)


Runner = Callable[["Buffers"], None]  # runs kernels on buffers that are filled


def run_batch(
    module: Module,
    fields: Mapping[str, str],
    numbers: Mapping[str, float],
    inputs: Mapping[str, NDArray[Any]],
    outputs: Mapping[str, NDArray[Any]],
    symbol: str,
    runner: Runner,
) -> float:
    """Runs kernels on a record of numbers and of arrays, which they know as a symbol; fills the outputs.

    Where kernels write nothing, outputs are nan or -1. Returns the seconds that the kernels took.
    """
    record = np.zeros(1, dtype=[(name, "i8" if code.endswith("*") else code) for name, code in fields.items()])
    for name, value in numbers.items():
        record[0][name] = value
    module.device.enter()
    with Buffers(module.device) as buffers:
        for name, array in inputs.items():
            buffers.put(name, np.ascontiguousarray(array))
        for name, array in outputs.items():
            buffers.room(name, array.nbytes, NOTHING)
        for name in (*inputs, *outputs):
            record[0][name] = buffers.addresses[name]
        module.fill(symbol, record)
        began = time.perf_counter()
        runner(buffers)
        module.device.wait()
        seconds = time.perf_counter() - began
        for name, array in outputs.items():
            buffers.get(name, array)
    return seconds


@dataclass(frozen=True)
class Rounds:
    """Kernels that take turns on all lanes until none has a member left, see `lockstep.rounds`.

    Their arguments are the lanes, lists of lanes, and the number of lanes.
    """

    kernels: tuple[Kernel, ...]  # begin, list, attempt, judge
    lane_bytes: int
    lists: int  # the last list has the lanes to be judged, the others those of each kind

    def lanes(self, members: int, free: int) -> int:
        """How many members run at a time: a multiple of the threads of a warp."""
        fitting = min(LANES_BYTES, int(SHARE_OF_LANES * free)) // self.lane_bytes
        return max(WARP, min(-(-members // WARP), fitting // WARP) * WARP)

    def run(self, buffers: Buffers, lanes: int, goes_on: Callable[[int], bool] = lambda _: True) -> None:
        """Runs all members, so many of them at a time; asks every few rounds whether to go on with those that are running."""
        memory = buffers.room("lanes", (lanes + WARP) * self.lane_bytes)  # the last ones are for threads without a member
        lists = buffers.room("lists", 4 * (self.lists * (1 + lanes) + lanes))  # and the kinds of all lanes
        counts = np.zeros(self.lists, dtype=np.int32)
        begin, list_, attempt, judge = self.kernels
        begin(lanes, memory, lists, lanes)
        live = lanes  # lanes that may have a member: those without one stay so
        while live:
            for _ in range(ROUNDS_AT_ONCE):
                buffers.clear("lists", counts.nbytes)
                list_(lanes, memory, lists, lanes)
                attempt(live + self.lists * WARP, memory, lists, lanes)  # every kind begins with a warp of its own
                judge(live, memory, lists, lanes)
            buffers.get("lists", counts)
            live = int(counts[:-1].sum())
            if not goes_on(live):
                return


def batches(count: int, bytes_each: int, free: int, devices: int = 1) -> Sequence[range]:
    """Batches of members that fit on a GPU together; at least one batch per GPU if there are enough members."""
    fitting = int(SHARE_OF_MEMORY * free) // max(bytes_each, 1)
    if fitting < 1:
        raise DeviceError(f"one member needs {bytes_each} bytes, but the GPU has only {free} bytes free (keep fewer rows)")
    size = min(fitting, -(-count // devices))
    return [range(first, min(first + size, count)) for first in range(0, count, size)]


__all__ = [
    "BLOCK",
    "Buffers",
    "Device",
    "DeviceError",
    "Driver",
    "Kernel",
    "KernelFacts",
    "Module",
    "Rounds",
    "batches",
    "run_batch",
]
