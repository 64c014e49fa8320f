"""The kernels of a GPU: in every round, threads make attempts with all members, then those to which something happens are judged.

An attempt fills the registers and the shared memory of a multiprocessor with numbers that judging does not need, and the other way
round; two kernels give each what it needs. Seven of eight attempts end in nothing but the next one, which the first kernel decides
by itself (`gpu_attempt`); the rest is left to the second. A lane is a place for a member's record, which stays there
(`records`). Before every round lanes are listed by kind (`lists`), and a warp takes members of one kind: they
have the same contacts closed and go through the same branches.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from pliant.codegen.plain import ROLLED, in_space, plain_text
from pliant.ensemble.lockstep.copies import COPYING, DECLARED
from pliant.ensemble.lockstep.gpu import CONSTANT_SPACE, OPAQUE, RECORD_SYMBOL, apart_by, gpu_functions
from pliant.ensemble.lockstep.gpu_attempt import GpuAttemptWriter
from pliant.ensemble.lockstep.lists import COUNTS, KINDS, lists_text
from pliant.ensemble.lockstep.onward import OF_STARTS, OF_STEPS
from pliant.ensemble.lockstep.records import JUDGED, RECORD, STORED
from pliant.host.cuda import WARP

if TYPE_CHECKING:
    from pliant.ensemble.lockstep.text import LockstepText

KERNELS = tuple(f"lockstep_{name}" for name in ("begin", "list", "attempt", "judge"))
BEGIN, LIST, ATTEMPT, JUDGE = KERNELS
JUDGE_REGISTERS = 128  # so that 16 warps run at a time, if there is no room to judge in shared memory
FEWEST = 24  # of 32 threads: with fewer members, those of a warp are put back
MOST_ATTEMPTS = 16  # in one round, if kinds may mix: then the host can look
COPIED_AT_ONCE = 4  # records

_ARGUMENTS = "ptr addrspace(1) %lanes, ptr addrspace(1) %lists, i64 %size"
_SHARED = f"  %shared = addrspacecast ptr addrspace({CONSTANT_SPACE}) @{RECORD_SYMBOL} to ptr"


def kernels_of(text: LockstepText) -> dict[str, int]:
    """By name: bytes of a multiprocessor's shared memory per thread."""
    return {BEGIN: 0, LIST: 0, ATTEMPT: 8 * apart_by(text.staging.doubles), JUDGE: text.records.shared_bytes}


def gpu_text(text: LockstepText) -> str:
    """The kernels, and all functions that they call."""
    functions = gpu_functions(text.staging.doubles, text.model.n_constants)
    of_starts = plain_text(OF_STARTS, text.setting(text.records.slots, 0, text.records.stride))
    setting = text.setting(text.staging.numbers, 0, 1)
    written = {"corner_ahead": (("ptr", "double"), "double"), "event_ahead": (("ptr", "ptr", "double"), "double")}
    setting = replace(setting, declared={**setting.declared, **written})
    attempts = [of_starts, plain_text(OF_STEPS, setting), text.staging.functions(), GpuAttemptWriter(text).text()]
    judges = [text.records.begins(), text.records.functions(), rounds_text(text)]
    needed = [functions, DECLARED, COPYING[text.asynchronous], *text.parts()]
    return in_memory("\n".join([*needed, *attempts, *judges]), CONSTANT_SPACE)


def in_memory(text: str, space: int) -> str:
    """Reads constants that take two instructions to write from constant memory, which costs none; short ones stay in the code."""
    places: dict[str, int] = {}
    lines: list[str] = []
    for line in text.split("\n"):
        if line.startswith("  ") and "phi" not in line:
            for literal in dict.fromkeys(re.findall(r"\b0x[0-9A-F]{16}\b", line)):
                if literal.endswith("00000000"):
                    continue
                place = places.setdefault(literal, len(places))
                at = f"getelementptr (double, {in_space(space)} @literals, i64 {place})"
                lines.append(f"  %literal{len(lines)} = load double, {in_space(space)} {at}")
                line = line.replace(literal, f"%literal{len(lines) - 1}")
        lines.append(line)
    listed = ", ".join(f"double {literal}" for literal in places)
    table = f"@literals = addrspace({space}) externally_initialized global [{len(places)} x double] [{listed}]"
    return "\n".join([*lines, table, ""])


def _lane(text: LockstepText, number: str) -> list[str]:
    """Lines that compute the address of a lane's record by the lane's number."""
    records = text.records
    return [
        f"  %inner.lane = and i64 %{number}, {records.stride - 1}", f"  %tile = sub i64 %{number}, %inner.lane",
        f"  %before.lane = mul nsw i64 %tile, {records.size}", "  %offset = add i64 %before.lane, %inner.lane",
        "  %lane.at = getelementptr double, ptr addrspace(1) %lanes, i64 %offset",
        "  %lane = addrspacecast ptr addrspace(1) %lane.at to ptr",
    ]  # fmt: skip


def _kernel(name: str, *lines: str) -> list[str]:
    return [f"define ptx_kernel void @{name}({_ARGUMENTS}) nounwind {{", "entry:", _SHARED, "  %number = call i64 @thread_number()",
            *lines, "}"]  # fmt: skip


def rounds_text(text: LockstepText) -> str:
    """The kernels' entries; the functions they call come before. `size`: lanes, a multiple of 32; 32 spare records follow."""
    within = ["  %own = icmp slt i64 %number, %size", "  br i1 %own, label %go, label %done", "go:"]
    begin = _kernel(BEGIN, *within, *_lane(text, "number"), f"  call void @{STORED}begin(ptr %lane, ptr %shared)",
                    *_tell_kind("%lane", text.records.place("kind", 0), "number"), "  br label %done", "done:",
                    "  ret void")  # fmt: skip
    listing = _kernel(
        LIST, *within, "  %kind.at = call ptr addrspace(1) @kind_at(ptr addrspace(1) %lists, i64 %size, i64 %number)",
        "  %stored = load i32, ptr addrspace(1) %kind.at", "  %its = sext i32 %stored to i64", "  br label %done", "done:",
        "  %kind = phi i64 [ -1, %entry ], [ %its, %go ]",
        "  call void @enlist(ptr addrspace(1) %lists, i64 %size, i64 %kind, i64 %number)", "  ret void",
    )  # fmt: skip
    notes = [f'!4 = !{{ptr @{JUDGE}, !"maxnreg", i32 {JUDGE_REGISTERS}}}', "!nvvm.annotations = !{!4}"]
    kernels = [*begin, *listing, *_judge(text), *_attempt(text)]
    return "\n".join([lists_text(), settling_text(text), *kernels, ROLLED, *notes, ""])


def _tell_kind(memory: str, place: int, lane: str) -> list[str]:
    """Lines that put a member's kind beside those of the others."""
    return [
        f"  %own.kind.at = getelementptr double, ptr {memory}, i64 {place}", "  %own.kind = load double, ptr %own.kind.at",
        "  %own.kind.whole = fptosi double %own.kind to i32",
        f"  %told.at = call ptr addrspace(1) @kind_at(ptr addrspace(1) %lists, i64 %size, i64 %{lane})",
        "  store i32 %own.kind.whole, ptr addrspace(1) %told.at",
    ]  # fmt: skip


def _judge(text: LockstepText) -> list[str]:
    """Judges the members that attempts left; if a step was accepted, its end becomes the present."""
    records, here, kind, bring, put = text.records, "%lane", text.records.place("kind", 0), list[str](), list[str]()
    if records.near.places:
        here, kind, bring = "%here", records.near.at("kind", 0), _bring_judged(text)
        put = ["  call void @put_judged(ptr addrspace(1) %lanes, i32 %short, i32 0)"]
    return _kernel(
        JUDGE, f"  %count.at = getelementptr i32, ptr addrspace(1) %lists, i64 {KINDS}",
        "  %count = load i32, ptr addrspace(1) %count.at", "  %left = zext i32 %count to i64",
        f"  %whole = and i64 %number, {-WARP}", "  %some = icmp slt i64 %whole, %left",  # of all threads of a warp, or of none
        "  br i1 %some, label %warp, label %done", "warp:",
        "  %own = icmp slt i64 %number, %left", "  br i1 %own, label %look, label %found", "look:",
        f"  %before = mul i64 %size, {KINDS}", "  %place = add i64 %before, %number",
        f"  %entries = getelementptr i32, ptr addrspace(1) %lists, i64 {COUNTS}",
        "  %at = getelementptr i32, ptr addrspace(1) %entries, i64 %place", "  %narrow = load i32, ptr addrspace(1) %at",
        "  %listed = zext i32 %narrow to i64", "  br label %found", "found:",
        "  %which = phi i64 [ %listed, %look ], [ -1, %warp ]",
        f"  %inner = and i64 %number, {WARP - 1}", "  %spare = add i64 %size, %inner",
        "  %which.own = select i1 %own, i64 %which, i64 %spare", *_lane(text, "which.own"),
        "  %short = trunc i64 %offset to i32", *bring, "  br i1 %own, label %go, label %after", "go:",
        f"  call void @{JUDGED}judge_left(ptr {here}, ptr %shared)", *_tell_kind(here, kind, "which"),
        "  br label %after", "after:", *put,
        f"  %moved.at = getelementptr double, ptr addrspace(1) %lane.at, i64 {records.place('moved', 0)}",
        "  %moved = load double, ptr addrspace(1) %moved.at", "  %is.moved = fcmp une double %moved, 0.0",
        f"  %by = select i1 %is.moved, i32 {records.until_end}, i32 0",
        "  call void @settle(ptr addrspace(1) %lanes, i32 %short, i32 %by)", "  store double 0.0, ptr addrspace(1) %moved.at",
        "  br label %done", "done:", "  ret void",
    )  # fmt: skip


def _bring_judged(text: LockstepText) -> list[str]:
    """Lines that bring what is judged into shared memory, to `here`."""
    near = text.records.near
    return [
        "  call void @bring_judged(ptr addrspace(1) %lanes, i32 %short)",
        "  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()", f"  %first = mul i32 %thread, {apart_by(near.size)}",
        "  %here.at = getelementptr double, ptr addrspace(3) @stages, i32 %first",
        "  %here = addrspacecast ptr addrspace(3) %here.at to ptr",
        f"  %record.at = getelementptr double, ptr %here, i64 {near.first(RECORD)}", "  store ptr %lane, ptr %record.at",
    ]  # fmt: skip


def settling_text(text: LockstepText) -> str:
    """`void settle(lanes, offset, by)`: copies the present from `by`, if that is not 0, to the beginning of the record.

    As in `copies`.
    """
    if not text.together:
        return _settling_alone(text)
    lines = [
        "define internal void @settle(ptr addrspace(1) %lanes, i32 %offset, i32 %by) alwaysinline nounwind {", "entry:",
        "  call void @llvm.nvvm.bar.warp.sync(i32 -1)", "  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()",
        f"  %inner = and i32 %thread, {WARP - 1}", "  %moves = icmp ne i32 %by, 0",
        "  %moved = call i32 @llvm.nvvm.vote.ballot.sync(i32 -1, i1 %moves)", "  %none = icmp eq i32 %moved, 0",
        "  br i1 %none, label %done, label %next", "next:",
        f"  %rest0 = phi i32 [ %moved, %entry ], [ %others{COPIED_AT_ONCE - 1}, %next ]",
    ]  # fmt: skip
    half, stores = text.records.half, list[str]()
    for k in range(COPIED_AT_ONCE):  # if fewer are left, the last one is copied again
        lines += [
            f"  %lane{k} = call i32 @llvm.cttz.i32(i32 %rest{k}, i1 true)", f"  %less{k} = sub i32 %rest{k}, 1",
            f"  %others{k} = and i32 %rest{k}, %less{k}", f"  %is.last{k} = icmp eq i32 %others{k}, 0",
            f"  %rest{k + 1} = select i1 %is.last{k}, i32 %rest{k}, i32 %others{k}",
            f"  %record{k} = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %offset, i32 %lane{k}, i32 {WARP - 1})",
        ]  # fmt: skip
        for begin in range(0, half, WARP):
            one = f"{k}.{begin}"
            lines += [
                f"  %n{one} = add i32 %inner, {begin}", f"  %within{one} = icmp ult i32 %n{one}, {half}",
                f"  %least{one} = select i1 %within{one}, i32 %n{one}, i32 {half - 1}",
                f"  %to{one} = add i32 %record{k}, %least{one}", f"  %from{one} = add i32 %to{one}, {text.records.until_end}",
                f"  %to.far{one} = zext i32 %to{one} to i64", f"  %from.far{one} = zext i32 %from{one} to i64",
                f"  %from.at{one} = getelementptr double, ptr addrspace(1) %lanes, i64 %from.far{one}",
                f"  %to.at{one} = getelementptr double, ptr addrspace(1) %lanes, i64 %to.far{one}",
                f"  %x{one} = load double, ptr addrspace(1) %from.at{one}",
            ]  # fmt: skip
            stores.append(f"  store double %x{one}, ptr addrspace(1) %to.at{one}")
    return "\n".join([*lines, *stores, f"  %more = icmp ne i32 %others{COPIED_AT_ONCE - 1}, 0",
                      "  br i1 %more, label %next, label %done", "done:", "  ret void", "}", ""])  # fmt: skip


def _settling_alone(text: LockstepText) -> str:
    lines = [
        "define internal void @settle(ptr addrspace(1) %lanes, i32 %offset, i32 %by) alwaysinline nounwind {", "entry:",
        "  %is.apart = icmp ne i32 %by, 0", "  br i1 %is.apart, label %copy, label %done", "copy:",
        "  %far = zext i32 %offset to i64", "  %to = getelementptr double, ptr addrspace(1) %lanes, i64 %far",
        "  %wide = zext i32 %by to i64", "  %from = getelementptr double, ptr addrspace(1) %to, i64 %wide",
    ]  # fmt: skip
    places = [k * text.records.stride for k in range(text.records.half)]
    for first in range(0, len(places), WARP):
        some = places[first : first + WARP]
        lines += [line for k in some for line in (f"  %from{k} = getelementptr double, ptr addrspace(1) %from, i64 {k}",
                                                  f"  %x{k} = load double, ptr addrspace(1) %from{k}")]  # fmt: skip
        lines += [line for k in some for line in (f"  %to{k} = getelementptr double, ptr addrspace(1) %to, i64 {k}",
                                                  f"  store double %x{k}, ptr addrspace(1) %to{k}")]  # fmt: skip
    return "\n".join([*lines, "  br label %done", "done:", "  ret void", "}", ""])


def _attempt(text: LockstepText) -> list[str]:
    """The threads of a warp make one attempt together or, if members stay, many until few are left."""
    arguments = "ptr addrspace(1) %lanes, i32 %short, ptr %lane, ptr %memory, ptr %shared"
    called = f"call i32 @attempt({arguments}, i32 %warp, i32 %stepping)"
    return _kernel(
        ATTEMPT,
        f"  %room = alloca [{max(text.slots.size, 1)} x double], align 16",
        f"  %zero = {OPAQUE.format(0)}",  # no pass may take this memory apart: registers are for the stages
        "  %memory = getelementptr double, ptr %room, i64 %zero",
        "  %source = call i64 @own_lane(ptr addrspace(1) %lists, i64 %size)", "  %has = icmp sge i64 %source, 0",
        f"  %inner = and i64 %number, {WARP - 1}", "  %spare = add i64 %size, %inner",
        "  %all = call i32 @llvm.nvvm.vote.ballot.sync(i32 -1, i1 %has)",
        "  %none = icmp eq i32 %all, 0", "  br i1 %none, label %done, label %some",
        "some:",
        "  %which = select i1 %has, i64 %source, i64 %spare", *_lane(text, "which"), "  %short = trunc i64 %offset to i32",
        f"  %start.at = getelementptr double, ptr addrspace(1) %lane.at, i64 {text.records.place('start', 0)}",
        "  %start = load double, ptr addrspace(1) %start.at", "  %steps = fcmp oeq double %start, 0.0",
        *(_many_attempts(text, called) if text.staging.stays else [
            "  %warp = add i32 0, -1", "  %stepping = call i32 @llvm.nvvm.vote.ballot.sync(i32 -1, i1 %steps)",
            f"  %since = {called}",
        ]),
        "  %is.left = icmp ne i32 %since, 0", "  %leaves = and i1 %has, %is.left",
        "  call void @append(ptr addrspace(1) %lists, i64 %size, i64 %which, i1 %leaves)",
        "  br label %done", "done:", "  ret void",
    )  # fmt: skip


def _many_attempts(text: LockstepText, called: str) -> list[str]:
    """Attempts until few members of a warp go on, or so many times."""
    brings = [f"  call void @{name}(ptr addrspace(1) %lanes, i32 %short)" for name in text.staging.brought]
    return [
        *brings, "  %count = call i32 @llvm.ctpop.i32(i32 %all)", f"  %fewest = mul i32 %count, {FEWEST}", "  br label %attempts",
        "attempts:",
        "  %stays = phi i1 [ %has, %some ], [ %keeps, %after ]", "  %before = phi i32 [ 0, %some ], [ %since, %after ]",
        "  %attempted = phi i32 [ 1, %some ], [ %attempted.next, %after ]",
        "  %warp = call i32 @llvm.nvvm.vote.ballot.sync(i32 -1, i1 %stays)", "  %both = and i1 %stays, %steps",
        "  %stepping = call i32 @llvm.nvvm.vote.ballot.sync(i32 -1, i1 %both)",
        "  br i1 %stays, label %run, label %after",
        "run:", f"  %left = {called}", "  br label %ran", "ran:", "  br label %after",
        "after:",
        "  %since = phi i32 [ %before, %attempts ], [ %left, %ran ]",
        "  %is.on = icmp eq i32 %since, 0", "  %keeps = and i1 %stays, %is.on",
        "  %on = call i32 @llvm.nvvm.vote.ballot.sync(i32 -1, i1 %keeps)",
        "  %those = call i32 @llvm.ctpop.i32(i32 %on)", "  %scaled = shl i32 %those, 5",
        "  %enough = icmp sge i32 %scaled, %fewest", f"  %fresh = icmp slt i32 %attempted, {MOST_ATTEMPTS}",
        "  %again = and i1 %enough, %fresh", "  %attempted.next = add i32 %attempted, 1",
        "  br i1 %again, label %attempts, label %parting", "parting:",
        "  call void @put(ptr addrspace(1) %lanes, i32 %short, i32 %since)",
    ]  # fmt: skip
