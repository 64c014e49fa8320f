"""What the lock-step loop needs from a GPU: where a thread's memory is, and which threads run beside it.

With other glue the same text runs on this processor as a single thread, so it can be tested without a GPU.
"""

from __future__ import annotations

from dataclasses import dataclass

from pliant.integrate.lockstep_tables import SHARED

STAGES = "stages_here"  # ptr (): what all stages of a thread read, in the memory that the threads of a multiprocessor share
CONSTANTS = "constants_here"  # ptr (ptr shared): the model's constants, if all members share them
CONSTANTS_SYMBOL, RECORD_SYMBOL = "model_constants", "shared_record"  # the driver's names for these and the shared record


@dataclass(frozen=True)
class Glue:
    """Declarations and functions that precede the text, and lines inserted into it."""

    functions: str
    together: tuple[str, ...] = ()  # lines that make threads wait for each other
    opaque: str = "add i64 {}, 0"  # an i64 as it is, but no pass may look through it
    constant_space: int = 0  # address space of values that all threads read at the same time


def apart_by(doubles: int) -> int:
    """The distance, in doubles, between the stages of one thread and the next; odd, so that threads use different banks."""
    return doubles | 1


def gpu_glue(doubles: int, constants: int) -> Glue:
    """Glue for NVIDIA GPUs."""
    functions = f"""declare void @llvm.nvvm.bar.warp.sync(i32) convergent nounwind
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x() nounwind memory(none)
@stages = external addrspace(3) global [0 x double], align 16
@{CONSTANTS_SYMBOL} = addrspace(4) externally_initialized global [{max(constants, 1)} x double] zeroinitializer, align 8
@{RECORD_SYMBOL} = addrspace(4) externally_initialized global [{len(SHARED)} x i64] zeroinitializer, align 8
define internal ptr @{STAGES}() alwaysinline nounwind {{
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %wide = zext i32 %thread to i64
  %first = mul nuw nsw i64 %wide, {apart_by(doubles)}
  %at = getelementptr double, ptr addrspace(3) @stages, i64 %first
  %here = addrspacecast ptr addrspace(3) %at to ptr
  ret ptr %here
}}
define internal ptr @{CONSTANTS}(ptr %shared) alwaysinline nounwind {{
  ret ptr addrspacecast (ptr addrspace(4) @{CONSTANTS_SYMBOL} to ptr)
}}
"""
    return Glue(functions, ("  call void @llvm.nvvm.bar.warp.sync(i32 -1)",), 'call i64 asm "mov.b64 $0, $1;", "=l,l"(i64 {})',
                constant_space=4)  # fmt: skip


def emulated_glue(doubles: int, constants: int) -> Glue:
    """Glue for one thread on this processor."""
    functions = f"""@stages = internal global [{max(doubles, 1)} x double] zeroinitializer, align 16
define internal ptr @{STAGES}() alwaysinline nounwind {{
  ret ptr @stages
}}
define internal ptr @{CONSTANTS}(ptr %shared) alwaysinline nounwind {{
  %at = getelementptr i64, ptr %shared, i64 {list(SHARED).index("constants")}
  %here = load ptr, ptr %at
  ret ptr %here
}}
"""
    return Glue(functions)
