"""Copies between the records of members and the memory that threads share, as LLVM text.

    void bring(ptr lanes, i32 offset):             from records to shared memory
    void put(ptr lanes, i32 offset, i32 left):     the way back; left: SINCE_STEP | SINCE_LOOK, for what is not yet the present

If every thread read its own record, number by number, each would fetch lines of memory of its own. So the threads of a warp copy
together: each copies two numbers of a record, then the same of the next record. `offset` is where the record of the thread begins,
in doubles; where numbers go is in tables. Threads whose records lie side by side copy alone. The text needs `plain.ROLLED`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar

from pliant.ensemble.lockstep.gpu import apart_by
from pliant.host.cuda import WARP

T = TypeVar("T")

SINCE_STEP, SINCE_LOOK = 1, 2  # of numbers that are not yet the present ones: those of the step, and event functions
WIDTHS, PAIR_WIDTHS = (32, 16, 8, 4), (32, 16, 8, 4, 2)  # numbers of a record, or pairs of them, that are copied together
AT_ONCE = 2  # records in one turn of a loop
DECLARED = "declare i32 @llvm.nvvm.shfl.sync.idx.i32(i32, i32, i32, i32) convergent nounwind"
_COPY = "define internal void @copy_number(ptr addrspace(3) %to, ptr addrspace(1) %from) alwaysinline nounwind {"
_WAIT = "define internal void @wait_for_copies() alwaysinline nounwind {"
# How a thread copies a number from main to shared memory: it waits, or it goes on, and waits once for all that it has copied.
COPYING = {
    False: f"""{_COPY}
  %x = load double, ptr addrspace(1) %from
  store double %x, ptr addrspace(3) %to
  ret void
}}
{_WAIT} ret void }}
""",
    True: f"""declare void @llvm.nvvm.cp.async.ca.shared.global.8(ptr addrspace(3), ptr addrspace(1)) nounwind
declare void @llvm.nvvm.cp.async.wait.all() nounwind
{_COPY}
  call void @llvm.nvvm.cp.async.ca.shared.global.8(ptr addrspace(3) %to, ptr addrspace(1) %from)
  ret void
}}
{_WAIT}
  call void @llvm.nvvm.cp.async.wait.all()
  ret void
}}
""",
}


def copies_texts(together: bool) -> tuple[Callable[..., str], Callable[..., str]]:
    """(`bring`, `put`): functions that write their texts, for threads that copy together or alone."""
    return (_bring_text, _put_text) if together else (_bring_alone_text, _put_alone_text)


def _bring_text(name: str, pairs: Sequence[tuple[int, int]], doubles: int) -> str:
    """pairs: places in a record, and slots of a thread, which has so many doubles in shared memory and one more."""
    writer, slots = _CopyWriter(name, doubles), dict(pairs)
    both = [(first, slots.get(first, doubles), slots.get(first + 1, doubles)) for first in sorted({place & -2 for place in slots})]
    for group, width in _groups(both, PAIR_WIDTHS):
        place = writer.begin([_packed(*entry) for entry in group], width)
        some = writer.begin_loop(place, width)
        for r in some:
            one = f"{place}.{r}"
            writer.lines += [
                *writer.record(one, r, width), f"  %{one}.number = add i32 %{one}.record, %{place}.place", *_address(one),
                f"  %{one}.next = getelementptr double, ptr addrspace(1) %{one}.at, i64 1",
            ]  # fmt: skip
            for k, source in enumerate(("at", "next")):
                writer.lines += [
                    *writer.slot(f"{one}.{k}", f"{one}.lane", f"{place}.slot{k}"),
                    f"  call void @copy_number(ptr addrspace(3) %{one}.{k}.here, ptr addrspace(1) %{one}.{source})",
                ]  # fmt: skip
        writer.end_loop(place, width)
    writer.lines.append("  call void @wait_for_copies()")
    return writer.text("")


def _put_text(name: str, entries: Sequence[tuple[int, int, int]], apart: Mapping[int, int], doubles: int) -> str:
    """entries: places in a record, slots, and the bit of `left` with which the place is so far apart."""
    writer, known = _CopyWriter(name, doubles), {place: (slot, since) for place, slot, since in entries}
    firsts = sorted(place for place in known if place % 2 == 0 and known.get(place + 1, (0, -1))[1] == known[place][1])
    both = [(first, known[first][0], known[first + 1][0], known[first][1]) for first in firsts]
    _put_groups(writer, both, apart)
    _put_groups(writer, [(p, slot, -1, since) for p, (slot, since) in sorted(known.items()) if p & -2 not in firsts], apart)
    return writer.text(", i32 %left")


def _put_groups(writer: _CopyWriter, entries: Sequence[tuple[int, int, int, int]], apart: Mapping[int, int]) -> None:
    """entries: places, two slots or one and -1, and the bit of `left`."""
    single = any(other < 0 for _, _, other, _ in entries)
    for group, width in _groups(entries, WIDTHS if single else PAIR_WIDTHS):
        place = writer.begin([_packed(target, one, max(other, 0)) for target, one, other, _ in group], width)
        bits = f"{writer.begin([_packed(since, 0, 0) for *_, since in group], width)}.place"
        writer.lines += [
            f"  %{place}.of.step = icmp eq i32 %{bits}, {SINCE_STEP}",
            f"  %{place}.apart = select i1 %{place}.of.step, i32 {apart[SINCE_STEP]}, i32 {apart[SINCE_LOOK]}",
        ]  # fmt: skip
        some = writer.begin_loop(place, width)
        for r in some:
            one = f"{place}.{r}"
            writer.lines += [
                *writer.record(one, r, width),
                f"  %{one}.left = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %left, i32 %{one}.lane, i32 {WARP - 1})",
                f"  %{one}.own = and i32 %{one}.left, %{bits}", f"  %{one}.is.left = icmp ne i32 %{one}.own, 0",
                f"  %{one}.by = select i1 %{one}.is.left, i32 %{place}.apart, i32 0",
                f"  %{one}.first = add i32 %{one}.record, %{place}.place", f"  %{one}.number = add i32 %{one}.first, %{one}.by",
                *_address(one),
            ]  # fmt: skip
            for k in range(1 if single else 2):
                writer.lines += [*writer.slot(f"{one}.{k}", f"{one}.lane", f"{place}.slot{k}"),
                                 f"  %{one}.{k}.x = load double, ptr addrspace(3) %{one}.{k}.here"]  # fmt: skip
        for r in some:
            one = f"{place}.{r}"
            if single:
                writer.lines.append(f"  store double %{one}.0.x, ptr addrspace(1) %{one}.at")
            else:
                writer.lines += [
                    f"  %{one}.half = insertelement <2 x double> poison, double %{one}.0.x, i64 0",
                    f"  %{one}.x = insertelement <2 x double> %{one}.half, double %{one}.1.x, i64 1",
                    f"  store <2 x double> %{one}.x, ptr addrspace(1) %{one}.at, align 16",
                ]
        writer.end_loop(place, width)


def _bring_alone_text(name: str, pairs: Sequence[tuple[int, int]], doubles: int) -> str:
    """As `_bring_text`, if the records of the threads of a warp lie side by side."""
    reads = [line for k, (place, _) in enumerate(pairs) for line in
             (f"  %from{k} = getelementptr double, ptr addrspace(1) %record, i64 {place}",
              f"  %x{k} = load double, ptr addrspace(1) %from{k}")]  # fmt: skip
    writes = [line for k, (_, slot) in enumerate(pairs) for line in
              (f"  %to{k} = getelementptr double, ptr addrspace(3) %here, i64 {slot}",
               f"  store double %x{k}, ptr addrspace(3) %to{k}")]  # fmt: skip
    return _alone(name, "", doubles, [*reads, *writes])


def _put_alone_text(name: str, entries: Sequence[tuple[int, int, int]], apart: Mapping[int, int], doubles: int) -> str:
    """As `_put_text`, if the records of the threads of a warp lie side by side."""
    lines = ["  %by0 = add i64 0, 0"]
    for since in (SINCE_STEP, SINCE_LOOK):
        lines += [f"  %bit{since} = and i32 %left, {since}", f"  %is{since} = icmp ne i32 %bit{since}, 0",
                  f"  %by{since} = select i1 %is{since}, i64 {apart[since]}, i64 0"]  # fmt: skip
    for k, (place, slot, since) in enumerate(entries):
        lines += [f"  %from{k} = getelementptr double, ptr addrspace(3) %here, i64 {slot}",
                  f"  %x{k} = load double, ptr addrspace(3) %from{k}", f"  %place{k} = add i64 %by{since}, {place}",
                  f"  %to{k} = getelementptr double, ptr addrspace(1) %record, i64 %place{k}",
                  f"  store double %x{k}, ptr addrspace(1) %to{k}"]  # fmt: skip
    return _alone(name, ", i32 %left", doubles, lines)


def _alone(name: str, more: str, doubles: int, lines: Sequence[str]) -> str:
    return "\n".join([
        f"define internal void @{name}(ptr addrspace(1) %lanes, i32 %offset{more}) alwaysinline nounwind {{", "entry:",
        "  %far = zext i32 %offset to i64", "  %record = getelementptr double, ptr addrspace(1) %lanes, i64 %far",
        "  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()", "  %wide = zext i32 %thread to i64",
        f"  %first = mul i64 %wide, {apart_by(doubles)}", "  %here = getelementptr double, ptr addrspace(3) @stages, i64 %first",
        *lines, "  ret void", "}", "",
    ])  # fmt: skip


def _packed(place: int, one: int, other: int) -> int:
    """An entry of a table: a place in a record, and two slots."""
    return place | one << 24 | other << 44


def _address(one: str) -> list[str]:
    return [f"  %{one}.wide = zext i32 %{one}.number to i64",
            f"  %{one}.at = getelementptr double, ptr addrspace(1) %lanes, i64 %{one}.wide"]  # fmt: skip


class _CopyWriter:
    """The lines of one function, and its table."""

    def __init__(self, name: str, doubles: int) -> None:
        self.name, self.doubles = name, doubles
        self.lines: list[str] = []
        self.table: list[int] = []
        self.label = "entry"  # of the lines that are being written

    def begin(self, entries: Sequence[int], width: int) -> str:
        """Reads the thread's entry for a group."""
        place, first = f"g{len(self.table)}", len(self.table)
        self.table += entries
        self.lines += [
            f"  %{place}.which = and i32 %inner, {width - 1}", f"  %{place}.row = lshr i32 %inner, {width.bit_length() - 1}",
            f"  %{place}.index = add i32 %{place}.which, {first}", f"  %{place}.far = zext i32 %{place}.index to i64",
            f"  %{place}.at = getelementptr i64, ptr addrspace(1) @copies.{self.name}, i64 %{place}.far",
            f"  %{place} = load i64, ptr addrspace(1) %{place}.at", f"  %{place}.low = and i64 %{place}, {2**24 - 1}",
            f"  %{place}.place = trunc i64 %{place}.low to i32", f"  %{place}.shifted = lshr i64 %{place}, 24",
            f"  %{place}.middle = and i64 %{place}.shifted, {2**20 - 1}", f"  %{place}.slot0 = trunc i64 %{place}.middle to i32",
            f"  %{place}.high = lshr i64 %{place}, 44", f"  %{place}.slot1 = trunc i64 %{place}.high to i32",
        ]  # fmt: skip
        return place

    def begin_loop(self, place: str, width: int) -> range:
        """Begins a loop over the records of a group; returns those of one turn: a whole loop of copies is long code."""
        self.lines += [
            f"  br label %{place}.turn", f"{place}.turn:",
            f"  %{place}.r = phi i32 [ 0, %{self.label} ], [ %{place}.r.next, %{place}.turn ]",
            f"  %{place}.before = mul i32 %{place}.r, {WARP // width}", f"  %{place}.from = add i32 %{place}.row, %{place}.before",
        ]  # fmt: skip
        return range(min(width, AT_ONCE))

    def end_loop(self, place: str, width: int) -> None:
        self.label = f"{place}.after"
        self.lines += [
            f"  %{place}.r.next = add i32 %{place}.r, {min(width, AT_ONCE)}",
            f"  %{place}.more = icmp ult i32 %{place}.r.next, {width}",
            f"  br i1 %{place}.more, label %{place}.turn, label %{self.label}, !llvm.loop !0", f"{self.label}:",
        ]  # fmt: skip

    def record(self, one: str, r: int, width: int) -> list[str]:
        """The record that the thread copies from or to."""
        return [
            f"  %{one}.lane = add i32 %{one.rsplit('.', 1)[0]}.from, {r * (WARP // width)}",
            f"  %{one}.record = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %offset, i32 %{one}.lane, i32 {WARP - 1})",
        ]

    def slot(self, one: str, lane: str, slot: str) -> list[str]:
        """The address of a slot of the thread to which that record belongs."""
        return [
            f"  %{one}.of = add i32 %{lane}, %first", f"  %{one}.begin = mul i32 %{one}.of, {apart_by(self.doubles)}",
            f"  %{one}.place = add i32 %{one}.begin, %{slot}",
            f"  %{one}.here = getelementptr double, ptr addrspace(3) @stages, i32 %{one}.place",
        ]  # fmt: skip

    def text(self, more: str) -> str:
        listed = ", ".join(f"i64 {x}" for x in self.table)
        wait = "  call void @llvm.nvvm.bar.warp.sync(i32 -1)"  # what others have written, or still read
        return "\n".join([
            f"@copies.{self.name} = internal addrspace(1) constant [{len(self.table)} x i64] [{listed}]",
            f"define internal void @{self.name}(ptr addrspace(1) %lanes, i32 %offset{more}) alwaysinline nounwind {{",
            "entry:", wait,
            "  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()", f"  %inner = and i32 %thread, {WARP - 1}",
            f"  %first = and i32 %thread, {-WARP}", *self.lines, wait, "  ret void", "}", "",
        ])  # fmt: skip


def _groups(numbers: Sequence[T], widths: Sequence[int]) -> Iterator[tuple[list[T], int]]:
    """Numbers that are copied together, and for how many there is room; if there are fewer, the last one is copied repeatedly."""
    first = 0
    while first < len(numbers):
        rest = len(numbers) - first
        width = next((w for w in widths if w <= rest), widths[-1])
        group = list(numbers[first : first + width])
        yield group + group[-1:] * (width - len(group)), width
        first += width
