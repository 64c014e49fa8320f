"""What the lock-step loop needs from a GPU: where a thread's memory is, and which threads run beside it.

With other glue the same text runs on this processor as a single thread, so it can be tested without a GPU.
"""

from __future__ import annotations

from dataclasses import dataclass

from pliant.integrate.lockstep_tables import SHARED

STAGES = "stages_here"  # ptr (): rates of a thread's stages, in the memory that the threads of a multiprocessor share
CONSTANTS = "constants_here"  # ptr (ptr shared): the model's constants, if all members share them
CONSTANTS_SYMBOL, RECORD_SYMBOL = "model_constants", "shared_record"  # the driver's names for these and the shared record


@dataclass(frozen=True)
class Glue:
    """Declarations and functions that precede the text, and lines inserted into it."""

    functions: str
    entry: str  # head of the kernel
    lane: tuple[str, ...]  # lines that compute %lane from %room
    some: str  # i1: whether %own is true in any thread of the warp
    together: tuple[str, ...] = ()  # lines that make threads wait for each other
    constant_space: int = 0  # address space of values that all threads read at the same time


def apart_by(doubles: int) -> int:
    """The distance, in doubles, between the stages of one thread and the next; odd, so that threads use different banks."""
    return doubles | 1


def gpu_glue(stage_doubles: int, constants: int, name: str) -> Glue:
    """Glue for NVIDIA GPUs. No pass may split the lane's memory into registers: its contents would occupy them all the time."""
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
    """Glue for one thread on this processor."""
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
