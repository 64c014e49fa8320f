"""Lists of lanes on a GPU: those of each kind, so that a warp takes members of one kind, and those that are to be judged.

First come the numbers of lanes in each list, then the lanes of each kind, then those to be judged, and at last the kinds of all
lanes, side by side: read from records, they would cost a sector of memory each.
"""

from __future__ import annotations

from pliant.host.cuda import WARP

PAIR_BITS = 4  # pairs that a kind tells apart; further pairs share their bits
KINDS = 2 << PAIR_BITS  # one more bit: whether members start; not more than there are threads in a warp
COUNTS = KINDS + 1

_THREADS = f"""declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x() nounwind memory(none)
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() nounwind memory(none)
declare void @llvm.nvvm.barrier0() convergent nounwind
declare i32 @llvm.nvvm.vote.ballot.sync(i32, i1) convergent nounwind
declare i32 @llvm.ctpop.i32(i32)
declare i32 @llvm.cttz.i32(i32, i1)
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


def lists_text() -> str:
    """The functions that write lists and find lanes in them."""
    return "\n".join([_THREADS, OWN_LANE, _KIND_AT, WRITE_ENTRY, _ENLIST, APPEND])


def _shuffled(number: str, lane: str) -> str:
    """A number of another thread of the warp."""
    return f"call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 {number}, i32 {lane}, i32 {WARP - 1})"


def _own_lane() -> str:
    """`i64 own_lane(lists, size)`: the lane that comes to a thread's place, or -1; every kind begins with a warp of its own.

    Each thread of a warp counts the lanes of one kind; where kinds end is a sum over the threads before it.

    Blocks take lanes from the beginning and from the end in turn. In order, all multiprocessors work on the same kind, and attempts
    of the chain take a sixth longer on an H200: they wait longer for memory, as if all asked for it at the same time.
    """
    lines = [
        "define internal i64 @own_lane(ptr addrspace(1) %lists, i64 %size) alwaysinline nounwind {", "entry:",
        "  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()", "  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()",
        "  %threads = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()", f"  %inner = and i32 %thread, {WARP - 1}",
        "  %count.at = getelementptr i32, ptr addrspace(1) %lists, i32 %inner", "  %count = load i32, ptr addrspace(1) %count.at",
        f"  %padded = add i32 %count, {WARP - 1}", f"  %end0 = and i32 %padded, {-WARP}",
    ]  # fmt: skip
    doublings = WARP.bit_length() - 1
    for k in range(doublings):
        lines += [
            f"  %from{k} = sub i32 %inner, {1 << k}", f"  %before{k} = {_shuffled(f'%end{k}', f'%from{k}')}",
            f"  %is.there{k} = icmp sge i32 %from{k}, 0", f"  %more{k} = select i1 %is.there{k}, i32 %before{k}, i32 0",
            f"  %end{k + 1} = add i32 %end{k}, %more{k}",
        ]  # fmt: skip
    end = f"%end{doublings}"
    return "\n".join([
        *lines, f"  %total = {_shuffled(end, str(WARP - 1))}", "  %over = add i32 %total, %threads", "  %most = sub i32 %over, 1",
        "  %blocks = udiv i32 %most, %threads", "  %half = lshr i32 %block, 1", "  %last = sub i32 %blocks, 1",
        "  %mirrored = sub i32 %last, %half", "  %odd = trunc i32 %block to i1", "  %within = icmp ult i32 %block, %blocks",
        "  %turned = select i1 %odd, i32 %mirrored, i32 %half", "  %place.of = select i1 %within, i32 %turned, i32 %block",
        "  %before = mul i32 %place.of, %threads", "  %short = add i32 %before, %thread", f"  %first = and i32 %short, {-WARP}",
        f"  %ends = icmp ule i32 {end}, %first", "  %those = call i32 @llvm.nvvm.vote.ballot.sync(i32 -1, i1 %ends)",
        "  %kind = call i32 @llvm.ctpop.i32(i32 %those)", f"  %begin = sub i32 {end}, %end0",
        f"  %begin.kind = {_shuffled('%begin', '%kind')}", f"  %count.kind = {_shuffled('%count', '%kind')}",
        "  %warp = sub i32 %first, %begin.kind", "  %index = add i32 %warp, %inner", "  %listed = icmp slt i32 %index, %count.kind",
        f"  %is.kind = icmp ult i32 %kind, {KINDS}", "  %some = and i1 %listed, %is.kind",
        "  br i1 %some, label %go, label %none", "go:",
        f"  %lanes = getelementptr i32, ptr addrspace(1) %lists, i64 {COUNTS}", "  %far = zext i32 %kind to i64",
        "  %list = mul i64 %far, %size", "  %near = zext i32 %index to i64",
        "  %place = add i64 %list, %near", "  %at = getelementptr i32, ptr addrspace(1) %lanes, i64 %place",
        "  %lane = load i32, ptr addrspace(1) %at", "  %wide = zext i32 %lane to i64", "  ret i64 %wide", "none:", "  ret i64 -1",
        "}", "",
    ])  # fmt: skip


OWN_LANE = _own_lane()
_KIND_AT = f"""
define internal ptr addrspace(1) @kind_at(ptr addrspace(1) %lists, i64 %size, i64 %lane) alwaysinline nounwind {{
  %before = mul i64 %size, {COUNTS}
  %place = add i64 %before, %lane
  %lanes = getelementptr i32, ptr addrspace(1) %lists, i64 {COUNTS}
  %at = getelementptr i32, ptr addrspace(1) %lanes, i64 %place
  ret ptr addrspace(1) %at
}}
"""

WRITE_ENTRY = f"""
define internal void @write_entry(ptr addrspace(1) %lists, i64 %size, i64 %list, i32 %index, i64 %lane) alwaysinline nounwind {{
  %far = zext i32 %index to i64
  %first = mul i64 %list, %size
  %place = add i64 %first, %far
  %lanes = getelementptr i32, ptr addrspace(1) %lists, i64 {COUNTS}
  %target = getelementptr i32, ptr addrspace(1) %lanes, i64 %place
  %narrow = trunc i64 %lane to i32
  store i32 %narrow, ptr addrspace(1) %target
  ret void
}}
"""

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
  call void @write_entry(ptr addrspace(1) %lists, i64 %size, i64 %kind, i32 %index, i64 %number)
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

# Adds lanes to those that are to be judged; the first of the threads of a warp reserves places for all of them.
APPEND = f"""
define internal void @append(ptr addrspace(1) %lists, i64 %size, i64 %lane, i1 %some) alwaysinline nounwind {{
entry:
  %those = call i32 @llvm.nvvm.vote.ballot.sync(i32 -1, i1 %some)
  br i1 %some, label %go, label %done
go:
  %n = call i32 @llvm.ctpop.i32(i32 %those)
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %inner = and i32 %thread, {WARP - 1}
  %bit = shl i32 1, %inner
  %lower = sub i32 %bit, 1
  %ahead = and i32 %those, %lower
  %rank = call i32 @llvm.ctpop.i32(i32 %ahead)
  %leads = icmp eq i32 %rank, 0
  br i1 %leads, label %lead, label %follow
lead:
  %total = getelementptr i32, ptr addrspace(1) %lists, i64 {KINDS}
  %reserved = atomicrmw add ptr addrspace(1) %total, i32 %n monotonic
  br label %follow
follow:
  %own = phi i32 [ 0, %go ], [ %reserved, %lead ]
  %leader = call i32 @llvm.cttz.i32(i32 %those, i1 true)
  %base = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 %those, i32 %own, i32 %leader, i32 {WARP - 1})
  %index = add i32 %base, %rank
  call void @write_entry(ptr addrspace(1) %lists, i64 %size, i64 {KINDS}, i32 %index, i64 %lane)
  br label %done
done:
  ret void
}}
"""
