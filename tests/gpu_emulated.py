"""A GPU made of this processor: the driver's functions on ordinary memory, kernels as machine code, one thread after the other."""

import ctypes
import re

import numpy as np

from pliant.host.cuda import Device
from pliant.host.processor import host, load_object
from pliant.integrate.lockstep_gpu import apart_by
from pliant.integrate.lockstep_rounds import KERNELS, KINDS, LIST, PAIR_BITS, WARP
from pliant.integrate.lockstep_runs import optimised
from pliant.integrate.lockstep_text import LockstepText

INTRINSICS = {"read.ptx.sreg.tid.x": "tid", "read.ptx.sreg.ctaid.x": "ctaid", "read.ptx.sreg.ntid.x": "ntid"}
DRIVER = """
@thread = global i32 0
@block = global i32 0
@threads = global i32 0
define i32 @tid() { %x = load i32, ptr @thread  ret i32 %x }
define i32 @ctaid() { %x = load i32, ptr @block  ret i32 %x }
define i32 @ntid() { %x = load i32, ptr @threads  ret i32 %x }
define void @wait() { ret void }
define void @wait_warp(i32 %mask) { ret void }
define void @be(i32 %t, i32 %b, i32 %n) {
  store i32 %t, ptr @thread
  store i32 %b, ptr @block
  store i32 %n, ptr @threads
  ret void
}
"""
NOTHING_TO_DO = {"cuDeviceGet", "cuDeviceGetName", "cuDevicePrimaryCtxRetain", "cuCtxSetCurrent", "cuCtxSynchronize",
                 "cuModuleLoadDataEx", "cuFuncSetAttribute", "cuFuncGetAttribute"}  # fmt: skip
ATTRIBUTES = {16: 2, 75: 7, 76: 0, 97: 200_000}  # multiprocessors, capability 7.0, bytes of shared memory of a block


def on_this_processor(text: LockstepText) -> str:
    """The kernels' text with threads and memory of one kind only."""
    lines = "\n".join(line for line in text.rounds().split("\n") if not re.match(r"declare .*@llvm\.nvvm|!nvvm|!4", line))
    for name, own in INTRINSICS.items():
        lines = lines.replace(f"llvm.nvvm.{name}", own)
    lines = lines.replace("llvm.nvvm.barrier0", "wait").replace("llvm.nvvm.bar.warp.sync", "wait_warp")
    lines = lines.replace("@stages = external addrspace(3) global [0 x double]",
                          f"@stages = global [{1024 * apart_by(text.shared_doubles)} x double] zeroinitializer")  # fmt: skip
    lines = re.sub(r'call i64 asm "mov.b64 \$0, \$1;", "=l,l"\(i64 (%\w+)\)', r"add i64 \1, 0", lines)
    lines = re.sub(r"addrspacecast \(ptr addrspace\(4\) (@\w+) to ptr\)", r"\1", lines)
    lines = re.sub(
        r"(%[\w.]+) = addrspacecast ptr addrspace\(\d\) ([%@][\w.]+) to ptr", r"\1 = getelementptr i8, ptr \2, i64 0", lines
    )
    return re.sub(r" addrspace\(\d\)", "", lines).replace("externally_initialized ", "").replace("ptx_kernel ", "") + DRIVER


class EmulatedDriver:
    """The functions of the driver that are used; `list` is written anew, as its threads must wait for each other."""

    count = 1

    def __init__(self, text: LockstepText) -> None:
        machine = host().machine(1)
        self.text = text
        self.engine = load_object(bytes(machine.emit_object(optimised(on_this_processor(text), machine, 1))), host())
        self.memory: dict[int, np.ndarray] = {}
        self.launches = dict.fromkeys(KERNELS, 0)
        self.be = ctypes.CFUNCTYPE(None, *[ctypes.c_int32] * 3)(self.engine.get_function_address("be"))

    def call(self, function: str, *arguments: object) -> None:
        if function not in NOTHING_TO_DO:
            getattr(self, function)(*arguments)

    def cuDeviceGetAttribute(self, value, which: int, _device) -> None:
        value._obj.value = ATTRIBUTES[which]

    def cuMemGetInfo_v2(self, free, total) -> None:
        free._obj.value = total._obj.value = 10**8

    def cuModuleGetFunction(self, function, _module, name: bytes) -> None:
        function._obj.value = KERNELS.index(name.decode()) + 1

    def cuOccupancyMaxActiveBlocksPerMultiprocessor(self, blocks, *_) -> None:
        blocks._obj.value = 2

    def cuModuleGetGlobal_v2(self, address, size, _module, name: bytes) -> None:
        address._obj.value, size._obj.value = self.engine.get_global_value_address(name.decode()), 10**6

    def cuMemAlloc_v2(self, address, size) -> None:
        array = np.full(size.value, 0xFF, dtype=np.uint8)  # nan where nothing is written
        address._obj.value = array.ctypes.data
        self.memory[array.ctypes.data] = array

    def cuMemFree_v2(self, address) -> None:
        del self.memory[address.value]

    def cuMemsetD8Async(self, address, byte, size, _stream) -> None:
        ctypes.memset(address.value, byte.value, size.value)

    def cuMemcpyHtoD_v2(self, target, source, size) -> None:
        ctypes.memmove(target.value, source.value, size.value)

    def cuMemcpyDtoH_v2(self, target, source, size) -> None:
        ctypes.memmove(target.value, source.value, size.value)

    def cuLaunchKernel(self, function, blocks, _y, _z, threads, *rest) -> None:
        name, passed = KERNELS[function.value - 1], rest[-2]
        numbers = [ctypes.c_uint64.from_address(passed[k]).value for k in range(4)]
        self.launches[name] += 1
        if name == LIST:
            self.list(*numbers)
            return
        kernel = ctypes.CFUNCTYPE(None, *[ctypes.c_uint64] * 4)(self.engine.get_function_address(name))
        for block in range(blocks.value):
            for thread in range(threads.value):
                self.be(thread, block, threads.value)
                kernel(*numbers)

    def list(self, lanes: int, _sorted: int, lists: int, size: int) -> None:
        slots, pairs = self.text.slots, self.text.model.pairs
        rows = self.memory[lanes].view(np.float64).reshape(size // WARP, slots.size, WARP).transpose(0, 2, 1).reshape(size, -1)
        kinds = (rows[:, slots.first("start")] != 0).astype(int)
        for k, pair in enumerate(pairs):
            kinds |= (rows[:, slots.first("p") + pair.closed] != 0).astype(int) * (2 << (k % PAIR_BITS))
        kinds[rows[:, slots.first("active")] == 0] = -1
        listed = self.memory[lists].view(np.int32)
        for kind in range(KINDS):
            own = np.flatnonzero(kinds == kind)
            listed[kind] = own.size
            listed[KINDS + kind * size : KINDS + kind * size + own.size] = own


def emulated_gpu(text: LockstepText) -> tuple[Device, EmulatedDriver]:
    driver = EmulatedDriver(text)
    return Device(driver), driver  # type: ignore[arg-type]
