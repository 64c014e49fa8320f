"""Threads of a warp copy records together: the same text, one thread after the other on this processor."""

import ctypes
import re

import numpy as np
import pytest

import pliant as pl
from pliant.codegen.plain import ROLLED
from pliant.ensemble.lockstep.copies import SINCE_LOOK, SINCE_STEP, copies_texts
from pliant.ensemble.lockstep.device import device_text
from pliant.ensemble.lockstep.gpu import apart_by
from pliant.ensemble.lockstep.rounds import settling_text
from pliant.ensemble.lockstep.text import LockstepText
from pliant.ensemble.lockstep_model import explicit_tableau, lockstep_model
from pliant.gallery.falling_chain import falling_chain
from pliant.host.cuda import WARP
from pliant.host.processor import host, load_object, optimised

THREADS = 2 * WARP  # of a block
# A thread asks for the number of another: its offset, or what it left, which is smaller than any offset. It votes if it left any.
DRIVER = """
@thread = global i32 0
@offsets = global [64 x i32] zeroinitializer
@lefts = global [64 x i32] zeroinitializer
define i32 @tid() { %x = load i32, ptr @thread  ret i32 %x }
define void @wait(i32 %mask) { ret void }
define i32 @ballot(i32 %mask, i1 %own) {
entry:
  %me = load i32, ptr @thread
  %warp = and i32 %me, -32
  br label %next
next:
  %k = phi i32 [ 0, %entry ], [ %k.next, %next ]
  %votes = phi i32 [ 0, %entry ], [ %all, %next ]
  %from = add i32 %warp, %k
  %far = zext i32 %from to i64
  %at = getelementptr i32, ptr @lefts, i64 %far
  %x = load i32, ptr %at
  %is = icmp ne i32 %x, 0
  %wide = zext i1 %is to i32
  %bit = shl i32 %wide, %k
  %all = or i32 %votes, %bit
  %k.next = add i32 %k, 1
  %more = icmp ult i32 %k.next, 32
  br i1 %more, label %next, label %done
done:
  ret i32 %all
}
declare i32 @llvm.cttz.i32(i32, i1)
; A number is on its way until its thread waits for it, and is lost if it does not.
@way = global [1000 x ptr] zeroinitializer
@sent = global i32 0
define void @copy_number(ptr %to, ptr %from) {
  %n = load i32, ptr @sent
  %at = getelementptr ptr, ptr @way, i32 %n
  %one = add i32 %n, 1
  %beside = getelementptr ptr, ptr @way, i32 %one
  %two = add i32 %n, 2
  store ptr %to, ptr %at
  store ptr %from, ptr %beside
  store i32 %two, ptr @sent
  ret void
}
define void @wait_for_copies() {
entry:
  br label %next
next:
  %n = load i32, ptr @sent
  %some = icmp ne i32 %n, 0
  br i1 %some, label %go, label %done
go:
  %one = sub i32 %n, 1
  %two = sub i32 %n, 2
  %beside = getelementptr ptr, ptr @way, i32 %one
  %at = getelementptr ptr, ptr @way, i32 %two
  %from = load ptr, ptr %beside
  %to = load ptr, ptr %at
  %x = load double, ptr %from
  store double %x, ptr %to
  store i32 %two, ptr @sent
  br label %next
done:
  ret void
}
define i32 @shfl(i32 %mask, i32 %own, i32 %lane, i32 %clamp) {
  %me = load i32, ptr @thread
  %warp = and i32 %me, -32
  %from = add i32 %warp, %lane
  %far = zext i32 %from to i64
  %is.offset = icmp uge i32 %own, 1000
  %array = select i1 %is.offset, ptr @offsets, ptr @lefts
  %at = getelementptr i32, ptr %array, i64 %far
  %x = load i32, ptr %at
  ret i32 %x
}
"""
NAMES = {"llvm.nvvm.read.ptx.sreg.tid.x": "tid", "llvm.nvvm.bar.warp.sync": "wait", "llvm.nvvm.shfl.sync.idx.i32": "shfl",
         "llvm.nvvm.vote.ballot.sync": "ballot"}  # fmt: skip


class Copies:
    """Functions that copy records, and the memory of the threads of a block."""

    def __init__(self, functions: str, size: int, doubles: int) -> None:
        room = THREADS * apart_by(doubles)
        source = "\n".join([functions, f"@stages = global [{room} x double] zeroinitializer", DRIVER, ROLLED])
        for name, own in NAMES.items():
            source = source.replace(name, own)
        source = re.sub(r" addrspace\(\d\)", "", source).replace("define internal void", "define void").replace("alwaysinline ", "")
        machine = host().machine(1)
        self.engine = load_object(bytes(machine.emit_object(optimised(source, machine, 1))), host())
        self.stages = self._array("stages", ctypes.c_double, room)
        rng, first = np.random.default_rng(1), -(-1000 // size)
        self.offsets = self._array("offsets", ctypes.c_int32, THREADS)
        self.offsets[:] = size * (first + rng.permutation(THREADS))  # records in any order
        self.lanes = rng.normal(size=size * (first + THREADS))

    def _array(self, name: str, kind: type, count: int) -> np.ndarray:
        return np.ctypeslib.as_array((kind * count).from_address(self.engine.get_global_value_address(name)))

    def slots(self, doubles: int) -> np.ndarray:
        """(thread, slot)"""
        return self.stages[: THREADS * apart_by(doubles)].reshape(THREADS, -1)

    def __call__(self, name: str, *passed: np.ndarray) -> None:
        """Calls a function in every thread, with numbers of its own."""
        kinds = [ctypes.c_void_p, *[ctypes.c_int32] * (1 + len(passed))]
        function = ctypes.CFUNCTYPE(None, *kinds)(self.engine.get_function_address(name))
        thread = ctypes.c_int32.from_address(self.engine.get_global_value_address("thread"))
        if passed:
            self._array("lefts", ctypes.c_int32, THREADS)[:] = passed[0]
        sent = ctypes.c_int32.from_address(self.engine.get_global_value_address("sent"))
        for k in range(THREADS):
            thread.value, sent.value = k, 0
            function(self.lanes.ctypes.data, int(self.offsets[k]), *(int(x[k]) for x in passed))


@pytest.fixture(params=[False, True], ids=["shared constants", "own constants"])
def chain(request) -> tuple[LockstepText, Copies]:
    """The falling chain, and all functions that copy its records."""
    method = pl.DOP853(rtol=1e-6, atol=1e-9)
    text = device_text(lockstep_model(pl.compile_system(falling_chain())), explicit_tableau(method), request.param)
    assert text.together
    source = "\n".join([text.staging.functions(), text.records.functions(), settling_text(text)])
    functions = re.findall(r"@copies.*?^}|define internal void @settle.*?^}", source, re.DOTALL | re.MULTILINE)
    return text, Copies("\n".join(functions), text.records.size, max(text.staging.doubles, text.records.near.size))


def test_every_number_comes_to_the_slot_of_its_own_thread(chain) -> None:
    text, copies = chain
    staging, records = text.staging, text.records
    brought = {**{name: (pairs, staging.doubles) for name, pairs in staging.brought.items()},
               "bring_judged": (records.brought, records.near.size)}  # fmt: skip
    for name, (pairs, doubles) in brought.items():
        copies.stages[:] = np.nan
        before = copies.lanes.copy()
        copies(name)
        slots = copies.slots(doubles)
        expected = np.full_like(slots, np.nan)
        for place, slot in pairs:
            expected[:, slot] = before[copies.offsets + place]
        np.testing.assert_array_equal(slots[:, :doubles], expected[:, :doubles], err_msg=name)
        np.testing.assert_array_equal(copies.lanes, before)


def assert_put(copies: Copies, name: str, entries, doubles: int, apart) -> None:
    """Results go to the present or to the end of a step, and nowhere else."""
    left = np.random.default_rng(2).choice([0, SINCE_LOOK, SINCE_STEP | SINCE_LOOK], THREADS)
    copies.stages[:] = np.random.default_rng(3).normal(size=copies.stages.size)
    slots, expected = copies.slots(doubles).copy(), copies.lanes.copy()
    for place, slot, since in entries:
        expected[copies.offsets + place + np.where(left & since, apart[since], 0)] = slots[:, slot]
    copies(name, left)
    np.testing.assert_array_equal(copies.lanes, expected, err_msg=name)


def test_results_go_to_their_places(chain) -> None:
    text, copies = chain
    staging, records = text.staging, text.records
    assert_put(copies, "put", staging.put, staging.doubles, staging.apart)
    assert_put(copies, "put_judged", records.put, records.near.size, dict.fromkeys((0, 1, 2), 0))


def test_neighbours_may_go_to_different_places() -> None:
    """Two numbers are written at a time only if both are the present, or both are not."""
    entries = [(0, 4, 0), (1, 3, SINCE_LOOK), (2, 2, SINCE_STEP), (3, 1, SINCE_STEP), (6, 0, 0), (9, 5, SINCE_LOOK)]
    apart = {0: 0, SINCE_STEP: 16, SINCE_LOOK: 32}
    copies = Copies(copies_texts(True)[1]("put", entries, apart, 6), 64, 6)
    assert_put(copies, "put", entries, 6, apart)


@pytest.mark.parametrize("fraction", [0.0, 0.03, 0.5, 1.0])
def test_an_accepted_end_becomes_the_present(chain, fraction: float) -> None:
    text, copies = chain
    half, before = text.records.half, copies.lanes.copy()
    moved = np.where(np.random.default_rng(4).random(THREADS) < fraction, half, 0)
    copies("settle", moved)
    for offset, by in zip(copies.offsets, moved, strict=True):
        before[offset : offset + half] = before[offset + by : offset + by + half]
    np.testing.assert_array_equal(copies.lanes, before)
