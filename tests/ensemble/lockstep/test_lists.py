"""Lists of the members of a GPU: the same text, one thread after the other on this processor."""

import ctypes

import numpy as np
import pytest

from pliant.ensemble.lockstep.lists import APPEND, COUNTS, KINDS, WRITE_ENTRY, lists_text
from pliant.host.cuda import WARP
from pliant.host.processor import host, load_object, optimised

BLOCK, BLOCKS = 128, 6
SIZE = BLOCK * BLOCKS  # lanes
DRIVER = """
@thread = global i32 0
@block = global i32 0
define i32 @llvm_tid() { %x = load i32, ptr @thread  ret i32 %x }
define i32 @llvm_ctaid() { %x = load i32, ptr @block  ret i32 %x }
define i32 @llvm_ntid() { ret i32 128 }
define void @llvm_barrier() { ret void }
define void @be(i32 %t, i32 %b) { store i32 %t, ptr @thread  store i32 %b, ptr @block  ret void }
define void @clear() { call void @clear_counts() ret void }
define i32 @count(i64 %kind) { %x = call i32 @count_kind(i64 %kind)  ret i32 %x }
define void @reserve(ptr %lists) { call void @reserve_places(ptr %lists) ret void }
define void @write(ptr %lists, i64 %size, i64 %kind, i64 %number, i32 %rank) {
  call void @write_lane(ptr %lists, i64 %size, i64 %kind, i64 %number, i32 %rank)
  ret void
}
"""
# Threads that tell each other numbers: each runs several times, and hears what the others told the time before.
TELLING = """
@told = global [1024 x i32] zeroinitializer
@asked = global i32 0
declare i32 @llvm.ctpop.i32(i32)
define ptr @turn() {
  %turn = load i32, ptr @asked
  %next = add i32 %turn, 1
  store i32 %next, ptr @asked
  %first = mul i32 %turn, 32
  %at = getelementptr i32, ptr @told, i32 %first
  ret ptr %at
}
define void @tell(ptr %turn, i32 %x) {
  %thread = load i32, ptr @thread
  %inner = and i32 %thread, 31
  %at = getelementptr i32, ptr %turn, i32 %inner
  store i32 %x, ptr %at
  ret void
}
define i32 @shfl(i32 %mask, i32 %own, i32 %lane, i32 %clamp) {
  %turn = call ptr @turn()
  call void @tell(ptr %turn, i32 %own)
  %inner = and i32 %lane, 31
  %at = getelementptr i32, ptr %turn, i32 %inner
  %x = load i32, ptr %at
  ret i32 %x
}
define i32 @ballot(i32 %mask, i1 %own) {
entry:
  %turn = call ptr @turn()
  %wide = zext i1 %own to i32
  call void @tell(ptr %turn, i32 %wide)
  br label %next
next:
  %k = phi i32 [ 0, %entry ], [ %k.next, %next ]
  %votes = phi i32 [ 0, %entry ], [ %all, %next ]
  %at = getelementptr i32, ptr %turn, i32 %k
  %x = load i32, ptr %at
  %bit = shl i32 %x, %k
  %all = or i32 %votes, %bit
  %k.next = add i32 %k, 1
  %more = icmp ult i32 %k.next, 32
  br i1 %more, label %next, label %done
done:
  ret i32 %all
}
; As long as a thread hears what is not yet true, it may look anywhere.
@begin = global ptr null
@end = global ptr null
define i32 @entry(ptr %at) {
  %begin = load ptr, ptr @begin
  %end = load ptr, ptr @end
  %after = icmp uge ptr %at, %begin
  %before = icmp ult ptr %at, %end
  %inside = and i1 %after, %before
  %from = select i1 %inside, ptr %at, ptr %begin
  %x = load i32, ptr %from
  ret i32 %x
}
define i64 @own(ptr %lists, i64 %size) {
  store i32 0, ptr @asked
  %x = call i64 @own_lane(ptr %lists, i64 %size)
  ret i64 %x
}
"""
LOOKED_UP = "%lane = load i32, ptr addrspace(1) %at"
NAMES = {"llvm.nvvm.read.ptx.sreg.tid.x": "llvm_tid", "llvm.nvvm.read.ptx.sreg.ctaid.x": "llvm_ctaid",
         "llvm.nvvm.read.ptx.sreg.ntid.x": "llvm_ntid", "llvm.nvvm.barrier0": "llvm_barrier",
         "llvm.nvvm.shfl.sync.idx.i32": "shfl", "llvm.nvvm.vote.ballot.sync": "ballot"}  # fmt: skip


@pytest.fixture(scope="module")
def sorting():
    """The functions of the text, by name, where memory has no kinds and one thread runs at a time."""
    source = lists_text().replace(APPEND, "")  # whose threads act together
    text = "\n".join(line for line in source.split("\n") if not line.startswith("declare"))
    for name, own in NAMES.items():
        text = text.replace(name, own)
    assert LOOKED_UP in text
    text = text.replace(LOOKED_UP, "%lane = call i32 @entry(ptr %at)")
    text = text.replace(" addrspace(1)", "").replace(" addrspace(3)", "") + DRIVER + TELLING
    machine = host().machine(1)
    engine = load_object(bytes(machine.emit_object(optimised(text, machine, 1))), host())
    kinds = {"be": (None, "ii"), "clear": (None, ""), "count": (ctypes.c_int32, "l"), "reserve": (None, "p"),
             "write": (None, "plllI"), "own": (ctypes.c_int64, "pl")}  # fmt: skip
    types = {"i": ctypes.c_int32, "I": ctypes.c_int32, "l": ctypes.c_int64, "p": ctypes.c_void_p}
    functions = {
        name: ctypes.CFUNCTYPE(answer, *(types[x] for x in passed))(engine.get_function_address(name))
        for name, (answer, passed) in kinds.items()
    }
    return engine, functions


def listed(sorting, kinds: np.ndarray) -> np.ndarray:
    """Counts and lists of lanes with these kinds, -1: without a member."""
    f, lists = sorting[1], np.zeros(COUNTS * (1 + SIZE), dtype=np.int32)
    for block in range(BLOCKS):
        ranks = {}
        for phase in ("clear", "count", "reserve", "write"):
            for thread in range(BLOCK):
                f["be"](thread, block)
                number = block * BLOCK + thread
                kind = int(kinds[number])
                if phase == "clear":
                    f["clear"]()
                elif phase == "count":
                    ranks[thread] = f["count"](kind)
                elif phase == "reserve":
                    f["reserve"](lists.ctypes.data)
                else:
                    f["write"](lists.ctypes.data, SIZE, kind, number, ranks[thread])
    return lists


def own_lanes(sorting, lists: np.ndarray, first: int) -> list[int]:
    """The lanes of the threads of a warp, each of which runs until nothing that it hears changes any more."""
    heard, told = [], None
    for name, at in {"begin": lists.ctypes.data, "end": lists.ctypes.data + lists.nbytes}.items():
        ctypes.c_void_p.from_address(sorting[0].get_global_value_address(name)).value = at
    array = np.ctypeslib.as_array((ctypes.c_int32 * 1024).from_address(sorting[0].get_global_value_address("told")))
    while told is None or (array != told).any():
        told, heard = array.copy(), []
        for number in range(first, first + WARP):
            sorting[1]["be"](number % BLOCK, number // BLOCK)
            heard.append(sorting[1]["own"](lists.ctypes.data, SIZE))
    return heard


@pytest.mark.parametrize("case", ["all alike", "none has a member", "at random"])
def test_every_member_comes_to_one_place_and_a_warp_has_one_kind(sorting, case: str) -> None:
    kinds = {"all alike": np.full(SIZE, 5), "none has a member": np.full(SIZE, -1),
             "at random": np.random.default_rng(1).integers(-1, KINDS, SIZE)}[case]  # fmt: skip
    kinds[SIZE - KINDS * WARP // 2 :] = -1  # room that kinds need to begin with a warp of their own
    if case == "at random":
        kinds[kinds > 6] = -1
    lists = listed(sorting, kinds)
    assert lists[:KINDS].tolist() == [int((kinds == kind).sum()) for kind in range(KINDS)]
    places = [lane for first in range(0, SIZE, WARP) for lane in own_lanes(sorting, lists, first)]
    assert sorted(lane for lane in places if lane >= 0) == np.flatnonzero(kinds >= 0).tolist()
    for warp in np.array(places).reshape(-1, WARP):
        assert len(set(kinds[warp[warp >= 0]].tolist())) <= 1


# The threads of a warp run from the first to the last, so that the one that reserves places for all runs first.
TOGETHER = """
@thread = global i32 0
@votes = global i32 0
@reserved = global i32 0
declare i32 @llvm.ctpop.i32(i32)
declare i32 @llvm.cttz.i32(i32, i1)
define i32 @tid() { %x = load i32, ptr @thread  ret i32 %x }
define i32 @ballot(i32 %mask, i1 %own) { %x = load i32, ptr @votes  ret i32 %x }
define i32 @shfl(i32 %mask, i32 %own, i32 %lane, i32 %clamp) {
entry:
  %me = load i32, ptr @thread
  %inner = and i32 %me, 31
  %leads = icmp eq i32 %inner, %lane
  br i1 %leads, label %lead, label %done
lead:
  store i32 %own, ptr @reserved
  br label %done
done:
  %x = load i32, ptr @reserved
  ret i32 %x
}
"""
OWN_NAMES = {"llvm.nvvm.read.ptx.sreg.tid.x": "tid", "llvm.nvvm.vote.ballot.sync": "ballot", "llvm.nvvm.shfl.sync.idx.i32": "shfl"}


def test_every_lane_to_be_judged_is_listed_once() -> None:
    text = (WRITE_ENTRY + APPEND).replace(" addrspace(1)", "").replace("define internal", "define").replace("alwaysinline ", "")
    for name, own in OWN_NAMES.items():
        text = text.replace(name, own)
    machine = host().machine(1)
    engine = load_object(bytes(machine.emit_object(optimised(text + TOGETHER, machine, 1))), host())
    append = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_bool)(
        engine.get_function_address("append")
    )
    thread, votes = (ctypes.c_uint32.from_address(engine.get_global_value_address(name)) for name in ("thread", "votes"))
    rng, lists = np.random.default_rng(1), np.zeros(COUNTS * (1 + SIZE), dtype=np.int32)
    left = rng.random(SIZE) < np.repeat(rng.choice([0.0, 0.2, 0.9, 1.0], SIZE // WARP), WARP)
    lanes = rng.permutation(SIZE)
    for first in rng.permutation(SIZE // WARP) * WARP:  # warps in any order
        votes.value = sum(1 << k for k in range(WARP) if left[first + k])
        for k in range(first, first + WARP):
            thread.value = k
            append(lists.ctypes.data, SIZE, int(lanes[k]), bool(left[k]))
    count, begin = lists[KINDS], COUNTS + KINDS * SIZE
    assert count == left.sum() and not lists[:KINDS].any()
    assert sorted(lists[begin : begin + count]) == sorted(lanes[left])
    assert not lists[COUNTS:begin].any() and not lists[begin + count :].any()
