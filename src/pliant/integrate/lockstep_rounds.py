"""The kernels of a GPU: in every round, threads make attempts with all members, then those to which something happens are judged.

An attempt fills the registers and the shared memory of a multiprocessor, so few threads run at once; judging waits for memory, so
many threads must. Two kernels give each what it needs. Three of four attempts end in nothing but the next one, which the first
kernel decides by itself (`lockstep_gpu_attempt`); the rest is left to the second. A lane is a place for a member; 32 lanes, those
of the threads of a warp, are a tile. Every few rounds two more kernels sort the lanes by kind: a warp then has members with the
same contacts closed, which go through the same branches. Lanes without a member are left out.

Lists name the lanes of each kind: first their counts, then the lanes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pliant.codegen.plain import ROLLED
from pliant.host.cuda import WARP
from pliant.integrate.lockstep_gpu import CONSTANT_SPACE, OPAQUE, RECORD_SYMBOL
from pliant.integrate.lockstep_onward import LEFT
from pliant.integrate.lockstep_tiles import STORED

if TYPE_CHECKING:
    from pliant.integrate.lockstep_text import LockstepText

KERNELS = tuple(f"lockstep_{name}" for name in ("begin", "list", "gather", "attempt", "judge"))
BEGIN, LIST, GATHER, ATTEMPT, JUDGE = KERNELS
PAIR_BITS = 4  # pairs that a kind tells apart; further pairs share their bits
KINDS = 2 << PAIR_BITS  # one more bit: whether members start
JUDGE_REGISTERS = 128  # so that 16 warps run at a time, four for each scheduler
MOST_WITHOUT_SORTING = 1  # pairs: with so few, sorting costs more than it gains
COPIED_AT_ONCE = 16  # numbers
FEWEST = 24  # of 32 threads: with fewer members, those of a warp are put back
MOST_ATTEMPTS = 16  # in one round, if lanes are not sorted: then the host can look

_ARGUMENTS = "ptr addrspace(1) %lanes, ptr addrspace(1) %sorted, ptr addrspace(1) %lists, i64 %size"
_SHARED = f"  %shared = addrspacecast ptr addrspace({CONSTANT_SPACE}) @{RECORD_SYMBOL} to ptr"


def _lane(text: LockstepText, name: str, lanes: str, number: str) -> list[str]:
    """Lines that compute the address of a lane by its number."""
    return [
        f"  %{name}.tile = lshr i64 %{number}, {WARP.bit_length() - 1}", f"  %{name}.inner = and i64 %{number}, {WARP - 1}",
        f"  %{name}.first = mul nsw i64 %{name}.tile, {WARP * text.tiles.slots.size}",
        f"  %{name}.offset = add nsw i64 %{name}.first, %{name}.inner",
        f"  %{name}.at = getelementptr double, ptr addrspace(1) %{lanes}, i64 %{name}.offset",
        f"  %{name} = addrspacecast ptr addrspace(1) %{name}.at to ptr",
    ]  # fmt: skip


def _kernel(name: str, *lines: str) -> list[str]:
    return [f"define ptx_kernel void @{name}({_ARGUMENTS}) nounwind {{", "entry:", _SHARED, "  %number = call i64 @thread_number()",
            "  %own = icmp slt i64 %number, %size", "  br i1 %own, label %go, label %done", "go:", *lines]  # fmt: skip


def sorts(text: LockstepText) -> bool:
    """Whether lanes are worth sorting by kind."""
    return len(text.model.pairs) > MOST_WITHOUT_SORTING


def rounds_text(text: LockstepText) -> str:
    """The kernels' entries; the functions they call come before. `size`: lanes, a multiple of 32."""
    lane, end = _lane(text, "lane", "lanes", "number"), ["  br label %done", "done:", "  ret void", "}"]
    active = text.tiles.slots.first("active") * WARP
    begin = _kernel(  # some lanes stay empty: sorted, every kind begins with a warp of its own
        BEGIN, *lane, f"  %first.empty = sub i64 %size, {KINDS * WARP}", "  %takes = icmp slt i64 %number, %first.empty",
        "  br i1 %takes, label %take, label %done", "take:", f"  call void @{STORED}take(ptr %lane, ptr %shared)", *end,
    )  # fmt: skip
    judge = _kernel(JUDGE, *lane, f"  call void @{STORED}judge_pending(ptr %lane, ptr %shared)", *end)
    listing = _kernel(
        LIST, *lane, f"  %its = call i64 @{STORED}kind_of(ptr %lane)", "  br label %done", "done:",
        "  %kind = phi i64 [ -1, %entry ], [ %its, %go ]",
        "  call void @enlist(ptr addrspace(1) %lists, i64 %size, i64 %kind, i64 %number)", "  ret void", "}",
    )  # fmt: skip
    gather = _kernel(
        GATHER, *_lane(text, "target", "sorted", "number"),
        "  %source = call i64 @own_lane(ptr addrspace(1) %lists, i64 %size)", "  %some = icmp sge i64 %source, 0",
        "  br i1 %some, label %copy, label %none", "none:",
        f"  %at.active = getelementptr double, ptr addrspace(1) %target.at, i64 {active}",
        "  store double 0.0, ptr addrspace(1) %at.active", "  br label %done", "copy:",
        *_lane(text, "lane", "lanes", "source"), *_copy(text), *end,
    )  # fmt: skip
    notes = [f'!4 = !{{ptr @{JUDGE}, !"maxnreg", i32 {JUDGE_REGISTERS}}}', "!nvvm.annotations = !{!4}"]
    kernels = [line for kernel in (begin, judge, listing, gather) for line in kernel]
    return "\n".join([sorting_text(), *kernels, _attempt(text), ROLLED, *notes, ""])


def _copy(text: LockstepText) -> list[str]:
    """Lines that copy a lane: several numbers at a time, so that they need not wait for each other.

    Only the present is copied; what belongs to a contact goes to both halves, as it must be the same there while that is open.
    """
    tiles = text.tiles
    half, moved = tiles.half, tiles.slots.first("moved")
    both = {tiles.slots.first(name) + index for name, index in text.of_contacts}
    lines = [
        f"  %moved.at = getelementptr double, ptr addrspace(1) %lane.at, i64 {moved * WARP}",
        "  %moved = load double, ptr addrspace(1) %moved.at", "  %is.moved = fcmp une double %moved, 0.0",
        f"  %present = select i1 %is.moved, i64 {half * WARP}, i64 0",
        "  %present.at = getelementptr double, ptr addrspace(1) %lane.at, i64 %present",
    ]  # fmt: skip
    numbers = [k for k in (*range(half), *range(2 * half, tiles.kept)) if k != moved]
    for first in range(0, len(numbers), COPIED_AT_ONCE):
        group = numbers[first : first + COPIED_AT_ONCE]
        for k in group:
            base = "present" if k < half else "lane"
            lines += [f"  %from{k} = getelementptr double, ptr addrspace(1) %{base}.at, i64 {k * WARP}",
                      f"  %x{k} = load double, ptr addrspace(1) %from{k}"]  # fmt: skip
        for k in group:
            for place in (k, k + half) if k in both else (k,):
                lines += [f"  %to{place} = getelementptr double, ptr addrspace(1) %target.at, i64 {place * WARP}",
                          f"  store double %x{k}, ptr addrspace(1) %to{place}"]  # fmt: skip
    return [*lines, f"  %to{moved} = getelementptr double, ptr addrspace(1) %target.at, i64 {moved * WARP}",
            f"  store double 0.0, ptr addrspace(1) %to{moved}"]  # fmt: skip


def _attempt(text: LockstepText) -> str:
    """One attempt if lanes are sorted, as kinds mix when many follow; else the threads of a warp go on until many are left."""
    most = 1 if sorts(text) else MOST_ATTEMPTS
    active, start = (text.tiles.slots.first(name) * WARP for name in ("active", "start"))
    return "\n".join([f"define ptx_kernel void @{ATTEMPT}({_ARGUMENTS}) nounwind {{", "entry:",
        f"  %room = alloca [{max(text.slots.size, 1)} x double], align 16",
        f"  %zero = {OPAQUE.format(0)}",  # no pass may take this memory apart: registers are for the stages
        "  %memory = getelementptr double, ptr %room, i64 %zero", _SHARED,
        "  %number = call i64 @thread_number()",
        "  %own = icmp slt i64 %number, %size", "  br i1 %own, label %go, label %done",  # of all threads of a warp, or of none
        "go:",
        *_lane(text, "lane", "lanes", "number"),
        f"  %active.at = getelementptr double, ptr addrspace(1) %lane.at, i64 {active}",
        "  %active = load double, ptr addrspace(1) %active.at", "  %has = fcmp une double %active, 0.0",
        "  %all = call i32 @llvm.nvvm.vote.ballot.sync(i32 -1, i1 %has)",
        f"  %start.at = getelementptr double, ptr addrspace(1) %lane.at, i64 {start}",
        "  %start = load double, ptr addrspace(1) %start.at", "  %steps = fcmp oeq double %start, 0.0",
        "  %nobody = icmp eq i32 %all, 0", "  br i1 %nobody, label %done, label %some",
        "some:",
        "  %count = call i32 @llvm.ctpop.i32(i32 %all)", f"  %fewest = mul i32 %count, {FEWEST}",
        "  br i1 %has, label %take, label %ready",
        "take:",
        "  call void @take_up_lane(ptr %lane, ptr %memory)", "  br label %ready",
        "ready:",
        "  br label %attempts",
        "attempts:",
        "  %stays = phi i1 [ %has, %ready ], [ %keeps, %after ]",
        "  %attempted = phi i32 [ 1, %ready ], [ %attempted.next, %after ]",
        "  %warp = call i32 @llvm.nvvm.vote.ballot.sync(i32 -1, i1 %stays)", "  %both = and i1 %stays, %steps",
        "  %stepping = call i32 @llvm.nvvm.vote.ballot.sync(i32 -1, i1 %both)",
        "  br i1 %stays, label %run, label %after",
        "run:",
        "  %outcome = call i64 @attempt(ptr %lane, ptr %memory, ptr %shared, i32 %warp, i32 %stepping)",
        f"  %goes.on = icmp ne i64 %outcome, {LEFT}", "  br label %ran", "ran:", "  br label %after",
        "after:",
        "  %keeps = phi i1 [ false, %attempts ], [ %goes.on, %ran ]",
        "  %left = call i32 @llvm.nvvm.vote.ballot.sync(i32 -1, i1 %keeps)",
        "  %those = call i32 @llvm.ctpop.i32(i32 %left)", "  %scaled = shl i32 %those, 5",
        "  %enough = icmp sge i32 %scaled, %fewest", f"  %fresh = icmp slt i32 %attempted, {most}",
        "  %again = and i1 %enough, %fresh", "  %attempted.next = add i32 %attempted, 1",
        "  br i1 %again, label %attempts, label %parting",
        "parting:",
        "  br i1 %keeps, label %put, label %done",
        "put:",
        "  call void @put_back(ptr %lane, ptr %memory)", "  br label %done",
        "done:", "  ret void", "}", "",
    ])  # fmt: skip


_THREADS = f"""declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x() nounwind memory(none)
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() nounwind memory(none)
declare void @llvm.nvvm.barrier0() convergent nounwind
declare i32 @llvm.nvvm.vote.ballot.sync(i32, i1) convergent nounwind
declare i32 @llvm.ctpop.i32(i32)
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
