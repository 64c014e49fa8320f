"""What the kernels of the lock-step loop need from a GPU: where the memory of a thread is, and how threads wait for each other."""

from __future__ import annotations

from pliant.ensemble.lockstep.tables import SHARED

STAGES = "stages_here"  # ptr (): what all stages of a thread read, in the memory that the threads of a multiprocessor share
CONSTANTS = "constants_here"  # ptr (ptr shared): the model's constants, if all members share them
CONSTANTS_SYMBOL, RECORD_SYMBOL = "model_constants", "shared_record"  # the driver's names for these and the shared record
CONSTANT_SPACE = 4  # address space of values that all threads read at the same time
TOGETHER = "  call void @llvm.nvvm.bar.warp.sync(i32 {})"  # these threads of a warp wait for each other
OPAQUE = 'call i64 asm "mov.b64 $0, $1;", "=l,l"(i64 {})'  # an i64 as it is, but no pass may look through it
READ_AGAIN = OPAQUE.replace("asm", "asm sideeffect")  # the same, and never taken for the one before
COMPUTED = 'call double asm sideeffect "mov.f64 $0, $1;", "=d,d"(double {})'  # a number, computed where this is


def apart_by(doubles: int) -> int:
    """The distance, in doubles, between the memory of one thread and of the next, with at least one double between them.

    It is odd, so that threads use different banks.
    """
    return doubles + 1 | 1


def gpu_functions(doubles: int, constants: int) -> str:
    """Declarations and functions that precede the text. doubles: of a thread in shared memory; constants: of the model."""
    visible = f"addrspace({CONSTANT_SPACE}) externally_initialized global"
    return f"""declare void @llvm.nvvm.bar.warp.sync(i32) convergent nounwind
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x() nounwind memory(none)
@stages = external addrspace(3) global [0 x double], align 16
@{CONSTANTS_SYMBOL} = {visible} [{max(constants, 1)} x double] zeroinitializer, align 8
@{RECORD_SYMBOL} = {visible} [{len(SHARED)} x i64] zeroinitializer, align 8
define internal ptr @{STAGES}() alwaysinline nounwind {{
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %wide = zext i32 %thread to i64
  %first = mul nuw nsw i64 %wide, {apart_by(doubles)}
  %at = getelementptr double, ptr addrspace(3) @stages, i64 %first
  %here = addrspacecast ptr addrspace(3) %at to ptr
  ret ptr %here
}}
define internal ptr @{CONSTANTS}(ptr %shared) alwaysinline nounwind {{
  ret ptr addrspacecast (ptr addrspace({CONSTANT_SPACE}) @{CONSTANTS_SYMBOL} to ptr)
}}
"""
