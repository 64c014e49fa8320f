"""A GPU made of this processor: the driver's functions on ordinary memory, kernels as machine code.

One thread runs after the other, or the threads of each warp at the same time: then they wait for each other as they would there.
"""

import ctypes
import re
import threading

import numpy as np

from pliant.ensemble.lockstep.gpu import apart_by
from pliant.ensemble.lockstep.lists import APPEND, COUNTS, KINDS, OWN_LANE
from pliant.ensemble.lockstep.rounds import ATTEMPT, KERNELS, LIST, gpu_text
from pliant.ensemble.lockstep.runs import optimised
from pliant.ensemble.lockstep.text import LockstepText
from pliant.host.cuda import WARP, Device
from pliant.host.processor import host, load_object

INTRINSICS = {"read.ptx.sreg.tid.x": "tid", "read.ptx.sreg.ctaid.x": "ctaid", "read.ptx.sreg.ntid.x": "ntid"}
DRIVER = """
@key = global i32 0
@block = global i32 0
@threads = global i32 0
@vote = global ptr null
@meet = global ptr null
declare ptr @pthread_getspecific(i32) nounwind willreturn memory(none)
declare i32 @pthread_setspecific(i32, ptr)
define i32 @tid() {
  %key = load i32, ptr @key
  %at = call ptr @pthread_getspecific(i32 %key)
  %x = ptrtoint ptr %at to i32
  ret i32 %x
}
define i32 @ctaid() { %x = load i32, ptr @block  ret i32 %x }
define i32 @ntid() { %x = load i32, ptr @threads  ret i32 %x }
define void @wait() { ret void }
define void @wait_warp(i32 %mask) {
  %at = load ptr, ptr @meet
  %alone = icmp eq ptr %at, null
  br i1 %alone, label %done, label %others
others:
  call void %at(i32 %mask)
  br label %done
done:
  ret void
}
define i32 @ballot(i32 %mask, i1 %own) {
  %wide = zext i1 %own to i32
  %at = load ptr, ptr @vote
  %alone = icmp eq ptr %at, null
  br i1 %alone, label %mine, label %all
all:
  %votes = call i32 %at(i32 %wide)
  ret i32 %votes
mine:
  ret i32 %wide
}
define void @be(i32 %t, i32 %b, i32 %n) {
  %key = load i32, ptr @key
  %at = inttoptr i32 %t to ptr
  %done = call i32 @pthread_setspecific(i32 %key, ptr %at)
  store i32 %b, ptr @block
  store i32 %n, ptr @threads
  ret void
}
define void @run_all(ptr %kernel, i32 %blocks, i32 %threads, i64 %a, i64 %b, i64 %c) {
entry:
  %all = mul i32 %blocks, %threads
  br label %next
next:
  %k = phi i32 [ 0, %entry ], [ %k.next, %run ]
  %more = icmp ult i32 %k, %all
  br i1 %more, label %run, label %done
run:
  %block = udiv i32 %k, %threads
  %thread = urem i32 %k, %threads
  call void @be(i32 %thread, i32 %block, i32 %threads)
  call void %kernel(i64 %a, i64 %b, i64 %c)
  %k.next = add i32 %k, 1
  br label %next
done:
  ret void
}
"""
ALL = 2**WARP - 1  # threads of a warp
NOTHING_TO_DO = {"cuDeviceGet", "cuDeviceGetName", "cuDevicePrimaryCtxRetain", "cuCtxSetCurrent", "cuCtxSynchronize",
                 "cuModuleLoadDataEx", "cuFuncSetAttribute", "cuFuncGetAttribute"}  # fmt: skip
ATTRIBUTES = {16: 2, 75: 7, 76: 0, 97: 200_000}  # multiprocessors, capability 7.0, bytes of shared memory of a block


APPEND_ALONE = f"""define internal void @append(ptr %lists, i64 %size, i64 %lane, i1 %some) {{
  br i1 %some, label %go, label %done
go:
  %total = getelementptr i32, ptr %lists, i64 {KINDS}
  %index = atomicrmw add ptr %total, i32 1 monotonic
  call void @write_entry(ptr %lists, i64 %size, i64 {KINDS}, i32 %index, i64 %lane)
  br label %done
done:
  ret void
}}
"""


OWN_LANE_ALONE = f"""define internal i64 @own_lane(ptr %lists, i64 %size) {{
entry:
  %number = call i64 @thread_number()
  %short = trunc i64 %number to i32
  %inner = and i32 %short, {WARP - 1}
  %place = sub i32 %short, %inner
  br label %look
look:
  %kind = phi i64 [ 0, %entry ], [ %kind.next, %next ]
  %rest = phi i32 [ %place, %entry ], [ %rest.next, %next ]
  %count.at = getelementptr i32, ptr %lists, i64 %kind
  %count = load i32, ptr %count.at
  %padded = add i32 %count, {WARP - 1}
  %whole = and i32 %padded, {-WARP}
  %here = icmp slt i32 %rest, %whole
  br i1 %here, label %found, label %next
next:
  %rest.next = sub i32 %rest, %whole
  %kind.next = add i64 %kind, 1
  %more = icmp slt i64 %kind.next, {KINDS}
  br i1 %more, label %look, label %none
found:
  %index = add i32 %rest, %inner
  %some = icmp slt i32 %index, %count
  br i1 %some, label %go, label %none
go:
  %first = mul i64 %kind, %size
  %near = zext i32 %index to i64
  %entry.of = add i64 %first, %near
  %lanes = getelementptr i32, ptr %lists, i64 {COUNTS}
  %at = getelementptr i32, ptr %lanes, i64 %entry.of
  %lane = load i32, ptr %at
  %wide = zext i32 %lane to i64
  ret i64 %wide
none:
  ret i64 -1
}}
"""


def on_this_processor(text: LockstepText) -> str:
    """The kernels' text with threads and memory of one kind only.

    What the threads of a warp do together there, each does alone here: they copy their own records, and find and append their own
    lanes.
    """
    text.together = text.asynchronous = False
    source = gpu_text(text)
    for there, here in {APPEND: APPEND_ALONE, OWN_LANE: OWN_LANE_ALONE}.items():
        assert there in source
        source = source.replace(there, here)
    lines = "\n".join(line for line in source.split("\n") if not re.match(r"declare .*@llvm\.nvvm|!nvvm|!4", line))
    for name, own in INTRINSICS.items():
        lines = lines.replace(f"llvm.nvvm.{name}", own)
    lines = lines.replace("llvm.nvvm.barrier0", "wait").replace("llvm.nvvm.bar.warp.sync", "wait_warp")
    lines = lines.replace("llvm.nvvm.vote.ballot.sync", "ballot")
    room = 1024 * apart_by(max(text.staging.doubles, text.records.near.size))
    lines = lines.replace(
        "@stages = external addrspace(3) global [0 x double]", f"@stages = global [{room} x double] zeroinitializer"
    )
    lines = re.sub(r'call i64 asm (sideeffect )?"mov.b64 \$0, \$1;", "=l,l"\(i64 (%?\w+)\)', r"add i64 \2, 0", lines)
    lines = re.sub(r'call double asm sideeffect "mov.f64 \$0, \$1;", "=d,d"\(double (\S+)\)', r"fadd double \1, -0.0", lines)
    lines = re.sub(r"addrspacecast \(ptr addrspace\(4\) (@\w+) to ptr\)", r"\1", lines)
    lines = re.sub(
        r"(%[\w.]+) = addrspacecast ptr addrspace\(\d\) ([%@][\w.]+) to ptr", r"\1 = getelementptr i8, ptr \2, i64 0", lines
    )
    return re.sub(r" addrspace\(\d\)", "", lines).replace("externally_initialized ", "").replace("ptx_kernel ", "") + DRIVER


class EmulatedDriver:
    """The functions of the driver that are used; `list` is written anew, as its threads must wait for each other.

    together: the threads of a warp make attempts at the same time.
    """

    count = 1

    def __init__(self, text: LockstepText, together: bool = False) -> None:
        machine = host().machine(1)
        self.text = text
        self.engine = load_object(bytes(machine.emit_object(optimised(on_this_processor(text), machine, 1))), host())
        self.memory: dict[int, np.ndarray] = {}
        self.launches = dict.fromkeys(KERNELS, 0)
        self.be = ctypes.CFUNCTYPE(None, *[ctypes.c_int32] * 3)(self.engine.get_function_address("be"))
        ctypes.CDLL(None).pthread_key_create(ctypes.c_void_p(self.engine.get_global_value_address("key")), None)
        self.together, self.apart = together, 0  # `apart`: how often a thread waited in vain

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
        numbers = [ctypes.c_uint64.from_address(passed[k]).value for k in range(3)]
        self.launches[name] += 1
        if name == LIST:
            self.list(*numbers)
            return
        address = self.engine.get_function_address(name)
        if name == ATTEMPT and self.together:
            kernel = ctypes.CFUNCTYPE(None, *[ctypes.c_uint64] * 3)(address)
            self.run_together(lambda: kernel(*numbers), blocks.value, threads.value)
            return
        kinds = [ctypes.c_void_p, *[ctypes.c_uint32] * 2, *[ctypes.c_uint64] * 3]
        run_all = ctypes.CFUNCTYPE(None, *kinds)(self.engine.get_function_address("run_all"))
        run_all(address, blocks.value, threads.value, *numbers)

    def run_together(self, kernel, blocks: int, threads: int) -> None:
        meetings: dict[tuple[int, int], threading.Barrier] = {}  # by warp and by those of its threads that wait for each other
        votes, own, lock = np.zeros(threads, dtype=bool), threading.local(), threading.Lock()

        def wait(mask: int) -> bool:
            with lock:
                barrier = meetings.setdefault((own.thread // WARP, mask), threading.Barrier(mask.bit_count()))
            try:
                barrier.wait(20.0)
            except threading.BrokenBarrierError:
                self.apart += 1
            return not barrier.broken

        def vote(mine: int) -> int:
            first = own.thread // WARP * WARP
            votes[own.thread] = bool(mine)
            if not wait(ALL):
                return mine
            counted = sum(1 << k for k in range(WARP) if votes[first + k])
            wait(ALL)
            return counted

        hooks = {"vote": ctypes.CFUNCTYPE(ctypes.c_uint32, ctypes.c_uint32)(vote),
                 "meet": ctypes.CFUNCTYPE(None, ctypes.c_uint32)(wait)}  # fmt: skip
        places = {name: ctypes.c_void_p.from_address(self.engine.get_global_value_address(name)) for name in hooks}
        for name, hook in hooks.items():
            places[name].value = ctypes.cast(hook, ctypes.c_void_p).value

        def work(thread: int, block: int) -> None:
            own.thread = thread
            self.be(thread, block, threads)
            kernel()

        for block in range(blocks):
            workers = [threading.Thread(target=work, args=(thread, block)) for thread in range(threads)]
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join()
        for place in places.values():
            place.value = None

    def list(self, lanes: int, lists: int, size: int) -> None:
        listed = self.memory[lists].view(np.int32)
        kinds = listed[COUNTS * (1 + size) : COUNTS * (1 + size) + size]
        for kind in range(KINDS):
            own = np.flatnonzero(kinds == kind)
            listed[kind] = own.size
            listed[COUNTS + kind * size : COUNTS + kind * size + own.size] = own


def emulated_gpu(text: LockstepText, together: bool = False) -> tuple[Device, EmulatedDriver]:
    driver = EmulatedDriver(text, together)
    return Device(driver), driver  # type: ignore[arg-type]
