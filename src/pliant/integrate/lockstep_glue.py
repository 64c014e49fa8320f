"""What the lock-step loop of a GPU asks of the machine: where a thread's memory is, and who runs beside it.

The same text, with other glue, runs on this processor as the only thread: that is how it is tested without a GPU.
"""

from __future__ import annotations

from dataclasses import dataclass

from pliant.integrate.lockstep_tables import SHARED

STAGES = "stages_here"  # ptr (): rates of a thread's stages, in the memory that the threads of a multiprocessor share
CONSTANTS = "constants_here"  # ptr (ptr shared): numbers of the model that all members have in common
CONSTANTS_SYMBOL, RECORD_SYMBOL = "model_constants", "shared_record"  # the driver's names of them, and of what members share
BANKED = 2  # doubles: an odd number of them from thread to thread keeps a warp's threads in banks of their own


@dataclass(frozen=True)
class Glue:
    """Declarations and functions in front of the text; lines at places in it."""

    functions: str
    entry: str  # head of the kernel
    lane: tuple[str, ...]  # from %room to %lane
    some: str  # i1: whether %own is true in a thread that runs beside this one
    together: tuple[str, ...] = ()  # threads wait for each other
    constant_space: int = 0  # of addresses that all threads read at the same place at the same time


def apart_by(doubles: int) -> int:
    """Doubles from one thread's stages to the next one's."""
    return doubles + 1 - doubles % BANKED


def gpu_glue(stage_doubles: int, constants: int, name: str) -> Glue:
    """Of NVIDIA's GPUs. The lane is memory that no pass may take apart: what it holds is not to occupy registers all along."""
    functions = f"""declare i1 @llvm.nvvm.vote.any.sync(i32, i1) convergent nounwind
declare void @llvm.nvvm.bar.warp.sync(i32) convergent nounwind
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x() nounwind memory(none)
@stages = external addrspace(3) global [0 x double], align 16
@{CONSTANTS_SYMBOL} = addrspace(4) externally_initialized global [{max(constants, 1)} x double] zeroinitializer, align 8
@{RECORD_SYMBOL} = addrspace(4) externally_initialized global [{len(SHARED)} x i64] zeroinitializer, align 8
define internal ptr @{STAGES}() alwaysinline nounwind {{
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %wide = zext i32 %thread to i64
  %first = mul nuw nsw i64 %wide, {apart_by(stage_doubles)}
  %at = getelementptr double, ptr addrspace(3) @stages, i64 %first
  %here = addrspacecast ptr addrspace(3) %at to ptr
  ret ptr %here
}}
define internal ptr @{CONSTANTS}(ptr %shared) alwaysinline nounwind {{
  ret ptr addrspacecast (ptr addrspace(4) @{CONSTANTS_SYMBOL} to ptr)
}}
"""
    lane = (
        "  %own.room = addrspacecast ptr %room to ptr addrspace(5)",
        '  %kept = call ptr addrspace(5) asm "mov.b64 $0, $1;", "=l,l"(ptr addrspace(5) %own.room)',
        "  %lane = addrspacecast ptr addrspace(5) %kept to ptr",
    )
    shared = f"  %shared = addrspacecast ptr addrspace(4) @{RECORD_SYMBOL} to ptr"
    return Glue(functions, f"define ptx_kernel void @{name}() nounwind {{", (shared, *lane),
                "call i1 @llvm.nvvm.vote.any.sync(i32 -1, i1 %own)", ("  call void @llvm.nvvm.bar.warp.sync(i32 -1)",),
                constant_space=4)  # fmt: skip


def emulated_glue(stage_doubles: int, constants: int, name: str) -> Glue:
    """Of one thread on this processor."""
    functions = f"""@stages = internal global [{max(stage_doubles, 1)} x double] zeroinitializer, align 16
define internal ptr @{STAGES}() alwaysinline nounwind {{
  ret ptr @stages
}}
define internal ptr @{CONSTANTS}(ptr %shared) alwaysinline nounwind {{
  %at = getelementptr i64, ptr %shared, i64 {list(SHARED).index("constants")}
  %here = load ptr, ptr %at
  ret ptr %here
}}
"""
    return Glue(functions, f"define void @{name}(ptr %shared, ptr %memory) nounwind {{",
                ("  %lane = getelementptr double, ptr %room, i64 0",), "and i1 %own, %own")  # fmt: skip
