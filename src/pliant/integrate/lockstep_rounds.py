"""Kernels for members that lie in a GPU's main memory: in every round all make one attempt, then all attempts are judged.

The stages of attempts fill the registers and the shared memory of a multiprocessor, so few threads run at once; the end of an
attempt and its judgement wait for memory, so many threads must. Two kernels give each what it needs. A lane is a place for a
member; 32 lanes, those of the threads of a warp, lie side by side, number by number. Every few rounds two more kernels sort the
lanes by kind: a warp then has members with the same contacts closed, which go through the same branches. Lanes without a member are
left out.

Lists name the lanes of each kind: first their counts, then the lanes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pliant.codegen.plain import ROLLED
from pliant.host.cuda import WARP
from pliant.integrate.lockstep_gpu import CONSTANT_SPACE, RECORD_SYMBOL

if TYPE_CHECKING:
    from pliant.integrate.lockstep_text import LockstepText

KERNELS = tuple(f"lockstep_{name}" for name in ("begin", "list", "gather", "attempt", "judge"))
BEGIN, LIST, GATHER, ATTEMPT, JUDGE = KERNELS
PAIR_BITS = 4  # pairs that a kind tells apart; further pairs share their bits
KINDS = 2 << PAIR_BITS  # one more bit: whether members start
MOST_WITHOUT_SORTING = 1  # pairs: with so few, sorting costs more than it gains
COPIED_AT_ONCE = 16  # numbers
JUDGE_REGISTERS = 128  # so that 16 warps run at a time, four for each scheduler

_ARGUMENTS = "ptr addrspace(1) %lanes, ptr addrspace(1) %sorted, ptr addrspace(1) %lists, i64 %size"


def _lane(text: LockstepText, name: str, lanes: str, number: str) -> list[str]:
    """Lines that compute the address of a lane by its number."""
    return [
        f"  %{name}.tile = lshr i64 %{number}, {WARP.bit_length() - 1}", f"  %{name}.inner = and i64 %{number}, {WARP - 1}",
        f"  %{name}.first = mul nsw i64 %{name}.tile, {WARP * text.slots.size}",
        f"  %{name}.offset = add nsw i64 %{name}.first, %{name}.inner",
        f"  %{name}.at = getelementptr double, ptr addrspace(1) %{lanes}, i64 %{name}.offset",
        f"  %{name} = addrspacecast ptr addrspace(1) %{name}.at to ptr",
    ]  # fmt: skip


def _kernel(name: str, *lines: str) -> list[str]:
    shared = f"  %shared = addrspacecast ptr addrspace({CONSTANT_SPACE}) @{RECORD_SYMBOL} to ptr"
    return [f"define ptx_kernel void @{name}({_ARGUMENTS}) nounwind {{", "entry:", shared, "  %number = call i64 @thread_number()",
            "  %own = icmp slt i64 %number, %size", "  br i1 %own, label %go, label %done", "go:", *lines]  # fmt: skip


def sorts(text: LockstepText) -> bool:
    """Whether lanes are worth sorting by kind."""
    return len(text.model.pairs) > MOST_WITHOUT_SORTING


def rounds_text(text: LockstepText) -> str:
    """The kernels' entries; the functions they call come before. `size`: lanes, a multiple of 32."""
    lane, end = _lane(text, "lane", "lanes", "number"), ["  br label %done", "done:", "  ret void", "}"]
    active = text.slots.first("active") * WARP
    begin = _kernel(  # some lanes stay empty: sorted, every kind begins with a warp of its own
        BEGIN, *lane, f"  %first.empty = sub i64 %size, {KINDS * WARP}", "  %takes = icmp slt i64 %number, %first.empty",
        "  br i1 %takes, label %take, label %done", "take:", "  call void @take(ptr %lane, ptr %shared)", *end,
    )  # fmt: skip
    attempt = _kernel(
        ATTEMPT, *lane, "  %has = call i1 @has_member(ptr %lane)", "  br i1 %has, label %run, label %done", "run:",
        "  call void @attempt_stages(ptr %lane, ptr %shared)", *end,
    )  # fmt: skip
    judge = _kernel(
        JUDGE, *lane, "  %has = call i1 @has_member(ptr %lane)", "  br i1 %has, label %run, label %done", "run:",
        "  call void @attempt_end(ptr %lane, ptr %shared)", "  call void @judge(ptr %lane, ptr %shared)", *end,
    )  # fmt: skip
    listing = _kernel(
        LIST, *lane, "  %its = call i64 @kind_of(ptr %lane)", "  br label %done", "done:",
        "  %kind = phi i64 [ -1, %entry ], [ %its, %go ]",
        "  call void @enlist(ptr addrspace(1) %lists, i64 %size, i64 %kind, i64 %number)", "  ret void", "}",
    )  # fmt: skip
    gather = _kernel(
        GATHER, *_lane(text, "target", "sorted", "number"),
        "  %source = call i64 @own_lane(ptr addrspace(1) %lists, i64 %size)", "  %some = icmp sge i64 %source, 0",
        "  br i1 %some, label %copy, label %none", "none:",
        f"  %at.active = getelementptr double, ptr addrspace(1) %target.at, i64 {active}",
        "  store double 0.0, ptr addrspace(1) %at.active", "  br label %done", "copy:",
        *_lane(text, "lane", "lanes", "source"), *_copy(text.kept), *end,
    )  # fmt: skip
    notes = [f'!4 = !{{ptr @{JUDGE}, !"maxnreg", i32 {JUDGE_REGISTERS}}}', "!nvvm.annotations = !{!4}"]
    kernels = [line for kernel in (begin, attempt, judge, listing, gather) for line in kernel]
    return "\n".join([sorting_text(), *kernels, ROLLED, *notes, ""])


def _copy(size: int) -> list[str]:
    """Lines that copy a lane: several numbers at a time, so that they need not wait for each other."""
    lines = []
    for first in range(0, size, COPIED_AT_ONCE):
        numbers = range(first, min(first + COPIED_AT_ONCE, size))
        for k in numbers:
            lines += [f"  %from{k} = getelementptr double, ptr addrspace(1) %lane.at, i64 {k * WARP}",
                      f"  %x{k} = load double, ptr addrspace(1) %from{k}"]  # fmt: skip
        for k in numbers:
            lines += [f"  %to{k} = getelementptr double, ptr addrspace(1) %target.at, i64 {k * WARP}",
                      f"  store double %x{k}, ptr addrspace(1) %to{k}"]  # fmt: skip
    return lines


_THREADS = f"""declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x() nounwind memory(none)
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() nounwind memory(none)
declare void @llvm.nvvm.barrier0() convergent nounwind
@listed = internal addrspace(3) global [{KINDS} x i32] undef, align 4
@first = internal addrspace(3) global [{KINDS} x i32] undef, align 4
define internal i64 @thread_number() alwaysinline nounwind {{
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %threads = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %before = mul i32 %block, %threads
  %number = add i32 %before, %thread
  %wide = zext i32 %number to i64
  ret i64 %wide
}}
"""


def sorting_text() -> str:
    """The functions that list lanes and find their places."""
    return "\n".join([_THREADS, _own_lane(), _ENLIST])


def _own_lane() -> str:
    """`i64 own_lane(lists, size)`: the lane that comes to a thread's place, or -1; every kind begins with a warp of its own."""
    lines = [
        "define internal i64 @own_lane(ptr addrspace(1) %lists, i64 %size) alwaysinline nounwind {", "entry:",
        "  %number = call i64 @thread_number()", "  %short = trunc i64 %number to i32", f"  %rest0 = and i32 %short, {-WARP}",
        f"  %inner = and i32 %short, {WARP - 1}",
    ]  # fmt: skip
    rest, kind, count = "0", "0", "0"
    for k in range(KINDS):
        lines += [
            f"  %at{k} = getelementptr i32, ptr addrspace(1) %lists, i64 {k}", f"  %n{k} = load i32, ptr addrspace(1) %at{k}",
            f"  %padded{k} = add i32 %n{k}, {WARP - 1}", f"  %whole{k} = and i32 %padded{k}, {-WARP}",
            f"  %here{k} = icmp ult i32 %rest{k}, %whole{k}", f"  %own{k} = select i1 %here{k}, i32 %rest{k}, i32 {rest}",
            f"  %kind{k} = select i1 %here{k}, i32 {k}, i32 {kind}", f"  %count{k} = select i1 %here{k}, i32 %n{k}, i32 {count}",
            f"  %rest{k + 1} = sub i32 %rest{k}, %whole{k}",
        ]  # fmt: skip
        rest, kind, count = f"%own{k}", f"%kind{k}", f"%count{k}"
    return "\n".join([
        *lines, f"  %index = add i32 {rest}, %inner", f"  %some = icmp slt i32 %index, {count}",
        "  br i1 %some, label %go, label %none", "go:",
        f"  %lanes = getelementptr i32, ptr addrspace(1) %lists, i64 {KINDS}", f"  %far = zext i32 {kind} to i64",
        "  %first = mul i64 %far, %size", "  %near = zext i32 %index to i64",
        "  %place = add i64 %first, %near", "  %at = getelementptr i32, ptr addrspace(1) %lanes, i64 %place",
        "  %lane = load i32, ptr addrspace(1) %at", "  %wide = zext i32 %lane to i64", "  ret i64 %wide", "none:", "  ret i64 -1",
        "}", "",
    ])  # fmt: skip


# Threads of a block count their kinds in shared memory, so that few of them add to the counts of all; all must have counted before
# places are reserved, and all places must be reserved before lanes are written.
_ENLIST = f"""
define internal void @clear_counts() alwaysinline nounwind {{
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %counts = icmp ult i32 %thread, {KINDS}
  br i1 %counts, label %clear, label %done
clear:
  %at = getelementptr i32, ptr addrspace(3) @listed, i32 %thread
  store i32 0, ptr addrspace(3) %at
  br label %done
done:
  ret void
}}
define internal i32 @count_kind(i64 %kind) alwaysinline nounwind {{
entry:
  %has = icmp sge i64 %kind, 0
  br i1 %has, label %count, label %done
count:
  %own = getelementptr i32, ptr addrspace(3) @listed, i64 %kind
  %before = atomicrmw add ptr addrspace(3) %own, i32 1 monotonic
  br label %done
done:
  %rank = phi i32 [ 0, %entry ], [ %before, %count ]
  ret i32 %rank
}}
define internal void @reserve_places(ptr addrspace(1) %lists) alwaysinline nounwind {{
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %counts = icmp ult i32 %thread, {KINDS}
  br i1 %counts, label %reserve, label %done
reserve:
  %at = getelementptr i32, ptr addrspace(3) @listed, i32 %thread
  %n = load i32, ptr addrspace(3) %at
  %wide = zext i32 %thread to i64
  %total = getelementptr i32, ptr addrspace(1) %lists, i64 %wide
  %before = atomicrmw add ptr addrspace(1) %total, i32 %n monotonic
  %first = getelementptr i32, ptr addrspace(3) @first, i32 %thread
  store i32 %before, ptr addrspace(3) %first
  br label %done
done:
  ret void
}}
define internal void @write_lane(ptr addrspace(1) %lists, i64 %size, i64 %kind, i64 %number, i32 %rank) alwaysinline nounwind {{
  %has = icmp sge i64 %kind, 0
  br i1 %has, label %write, label %done
write:
  %base = getelementptr i32, ptr addrspace(3) @first, i64 %kind
  %begin = load i32, ptr addrspace(3) %base
  %index = add i32 %begin, %rank
  %far = zext i32 %index to i64
  %list = mul i64 %kind, %size
  %place = add i64 %list, %far
  %lanes = getelementptr i32, ptr addrspace(1) %lists, i64 {KINDS}
  %target = getelementptr i32, ptr addrspace(1) %lanes, i64 %place
  %narrow = trunc i64 %number to i32
  store i32 %narrow, ptr addrspace(1) %target
  br label %done
done:
  ret void
}}
define internal void @enlist(ptr addrspace(1) %lists, i64 %size, i64 %kind, i64 %number) alwaysinline nounwind {{
  call void @clear_counts()
  call void @llvm.nvvm.barrier0()
  %rank = call i32 @count_kind(i64 %kind)
  call void @llvm.nvvm.barrier0()
  call void @reserve_places(ptr addrspace(1) %lists)
  call void @llvm.nvvm.barrier0()
  call void @write_lane(ptr addrspace(1) %lists, i64 %size, i64 %kind, i64 %number, i32 %rank)
  ret void
}}
"""
