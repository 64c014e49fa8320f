"""Series of any length that a function reads as polynomials of time: their tables, and the code that finds the piece at t.

A function does not look a series up itself. It reads six entries of p: the address of the table, and the polynomial that holds
around t, c0 + c1 s + c2 s^2 + c3 s^3 with s = t - origin. The kernel finds the piece and puts its numbers there before it computes
anything. So derivatives are those of polynomials, and a series of any length is data: nothing is compiled for it.

A table is one array of doubles: numbers per piece, time of the first point, cells per second, number of cells; for every cell, and
for the end, how many points lie before it; then the pieces, the first of which is that before all points. A piece is its origin,
which is its first point, followed by its coefficients. With one cell per point, finding a piece takes the same time in a table of
a million points as in a small one, as long as the points are not too unevenly spaced.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pliant.arrays import Floats

ENTRIES = 6  # of p: the address of the table, the origin, c0, c1, c2, c3
HEAD = 4  # numbers before the cells

# The time at which a piece is looked for lies strictly inside the window p[0] ... p[1], as for formulas with breakpoints. Times
# that round-off puts into a neighbouring cell are found, too: the search spans one cell more on either side.
FIND_PIECE = """declare i64 @llvm.fptosi.sat.i64.f64(double)
declare i64 @llvm.smax.i64(i64, i64)
declare i64 @llvm.smin.i64(i64, i64)
define internal void @find_piece(double %t, ptr %p, ptr %at) noinline nounwind {
entry:
  %begin = load double, ptr %p
  %p1 = getelementptr double, ptr %p, i64 1
  %end = load double, ptr %p1
  %after = fcmp ogt double %t, %begin
  %t1 = select i1 %after, double %t, double %begin
  %before = fcmp olt double %t1, %end
  %clock = select i1 %before, double %t1, double %end
  %address = load double, ptr %at
  %bits = fptoui double %address to i64
  %table = inttoptr i64 %bits to ptr
  %width.d = load double, ptr %table
  %width = fptoui double %width.d to i64
  %h1 = getelementptr double, ptr %table, i64 1
  %first = load double, ptr %h1
  %h2 = getelementptr double, ptr %table, i64 2
  %density = load double, ptr %h2
  %h3 = getelementptr double, ptr %table, i64 3
  %cells.d = load double, ptr %h3
  %cells = fptoui double %cells.d to i64
  %counts = getelementptr double, ptr %table, i64 4
  %c1 = add i64 %cells, 1
  %pieces = getelementptr double, ptr %counts, i64 %c1
  %since = fsub double %clock, %first
  %cell.d = fmul double %since, %density
  %cell = call i64 @llvm.fptosi.sat.i64.f64(double %cell.d)
  %last = sub i64 %cells, 1
  %cell.low = call i64 @llvm.smax.i64(i64 %cell, i64 0)
  %cell.in = call i64 @llvm.smin.i64(i64 %cell.low, i64 %last)
  %k0 = sub i64 %cell.in, 1
  %k = call i64 @llvm.smax.i64(i64 %k0, i64 0)
  %m0 = add i64 %cell.in, 2
  %m = call i64 @llvm.smin.i64(i64 %m0, i64 %cells)
  %low.at = getelementptr double, ptr %counts, i64 %k
  %low.d = load double, ptr %low.at
  %low.0 = fptoui double %low.d to i64
  %high.at = getelementptr double, ptr %counts, i64 %m
  %high.d = load double, ptr %high.at
  %high.0 = fptoui double %high.d to i64
  br label %search
search:
  %low = phi i64 [ %low.0, %entry ], [ %low.n, %halve ]
  %high = phi i64 [ %high.0, %entry ], [ %high.n, %halve ]
  %open = icmp slt i64 %low, %high
  br i1 %open, label %halve, label %found
halve:
  %sum = add i64 %low, %high
  %sum1 = add i64 %sum, 1
  %middle = lshr i64 %sum1, 1
  %place = mul i64 %middle, %width
  %point.at = getelementptr double, ptr %pieces, i64 %place
  %point = load double, ptr %point.at
  %reached = fcmp ole double %point, %clock
  %middle1 = sub i64 %middle, 1
  %low.n = select i1 %reached, i64 %middle, i64 %low
  %high.n = select i1 %reached, i64 %high, i64 %middle1
  br label %search
found:
  %from = mul i64 %low, %width
  %piece = getelementptr double, ptr %pieces, i64 %from
  br label %copy
copy:
  %i = phi i64 [ 0, %found ], [ %i.n, %copy ]
  %number.at = getelementptr double, ptr %piece, i64 %i
  %number = load double, ptr %number.at
  %i.n = add i64 %i, 1
  %into = getelementptr double, ptr %at, i64 %i.n
  store double %number, ptr %into
  %more = icmp ult i64 %i.n, %width
  br i1 %more, label %copy, label %done
done:
  ret void
}"""


def fill(series: Sequence[int]) -> list[str]:
    """Lines that put the piece at t of every series into p."""
    lines = []
    for k, place in enumerate(series):
        lines.append(f"  %series{k} = getelementptr double, ptr %p, i64 {place}")
        lines.append(f"  call void @find_piece(double %t, ptr %p, ptr %series{k})")
    return lines


def table_of(times: Floats, before: float, coefficients: Floats) -> Floats:
    """The table of a series. before: the value before the first time; coefficients (time, power): from each time until the next."""
    cells = times.size
    density = cells / (times[-1] - times[0]) if cells > 1 else 0.0
    edges = np.linspace(times[0], times[-1], cells + 1)
    counts = np.searchsorted(times, edges, side="right").astype(np.float64)
    counts[0] = 0.0  # before the first point, too
    pieces = np.zeros((times.size + 1, 1 + coefficients.shape[1]))
    pieces[0, :2] = times[0], before
    pieces[1:, 0], pieces[1:, 1:] = times, coefficients
    return np.concatenate([[pieces.shape[1], times[0], density, cells], counts, pieces.ravel()])
