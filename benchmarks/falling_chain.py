"""What accuracy costs on the falling elastic chain: 1.5 s, three elastic links, 26 impacts (ss-ss-ss).

    python benchmarks/falling_chain.py [--modes ss-ss-ss] [--repeat 7] [--reference FILE] [--json FILE] [--plot FILE]

Wall time is that of a warm simulate() on one core, the fastest of several: everything but tracing and compiling, with 1000 saved
rows and the table of contacts; the time loop alone beside it. Errors are the largest until 0.95 s, after which the motion is too
sensitive to compare: of the joints' positions and of the times of contact against a run of our own at rtol 1e-13, and, where
--reference names the independent reference (shared/reference/falling_chain.json), of the times against that.
"""

from __future__ import annotations

import argparse
import json
import math
import platform
import time
from pathlib import Path
from typing import Any

import numpy as np

import pliant as pl
from pliant.gallery.falling_chain.runs import Run
from pliant.gallery.falling_chain.system import MODE_SETS, T_END, falling_chain
from pliant.run.prepare import Compiled, compile_system

METHODS = (pl.DOP853, pl.Tsit5, pl.DormandPrince, pl.RKF45)
TOLERANCES = tuple(10.0**-k for k in range(4, 12))
ATOL = 1e-3  # of rtol, as in the default method
COMPARED_UNTIL = 0.95  # s
BEST = pl.DOP853(rtol=1e-13, atol=1e-15)
TARGET_RTOL, TARGET_MS = 1e-6, 30.0

Events = list[list[float]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--modes", choices=MODE_SETS, default="ss-ss-ss")
    parser.add_argument("--repeat", type=int, default=7, help="runs of each, of which the fastest counts")
    parser.add_argument("--reference", type=Path, help="events of an independent reference, JSON")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--plot", type=Path, help="work-precision diagram, PNG")
    options = parser.parse_args()

    compiled = compile_system(falling_chain(options.modes))
    best = Run(options.modes, pl.simulate(compiled, T_END, method=BEST))
    reference = _reference(options.reference, options.modes)
    print(f"falling chain {options.modes}, {T_END} s, {len(best.touches)} impacts; best of {options.repeat}, one core, "
          f"{platform.machine()}, Python {platform.python_version()}")  # fmt: skip
    print(_line("method", "rtol", "wall ms", "loop ms", "evaluations", "steps", "impacts", "position, m", "times, s",
                "energy, 1", "vs reference, s"))  # fmt: skip
    rows = []
    for method in METHODS:
        for rtol in TOLERANCES:
            rows.append(measure(compiled, method(rtol=rtol, atol=ATOL * rtol), options.repeat, best, reference))
            print(_row(rows[-1]), flush=True)
    _judge(rows)
    if options.json:
        options.json.write_text(json.dumps({"modes": options.modes, "rows": rows}, indent=1) + "\n")
    if options.plot:
        draw(rows, options.modes, options.plot)


def measure(compiled: Compiled, method: Any, repeat: int, best: Run, reference: Events | None) -> dict[str, Any]:
    """Fastest run and its errors."""
    wall = loop = math.inf
    for _ in range(repeat + 1):  # the first also warms up
        began = time.perf_counter()
        result = pl.simulate(compiled, T_END, method=method)
        wall, loop = min(wall, time.perf_counter() - began), min(loop, result.stats["wall_s"])
    run = Run(best.modes, result)
    compared = run.time <= COMPARED_UNTIL
    return {
        "method": type(method).__name__,
        "rtol": method.rtol,
        "wall_ms": 1e3 * wall,
        "loop_ms": 1e3 * loop,
        "rhs_evaluations": result.stats["rhs_evaluations"],
        "steps": result.stats["steps"] + result.stats["rejected"],
        "impacts": len(run.touches),
        "position_error_m": float(np.max(np.abs(run.positions - best.positions)[compared])),
        "time_error_s": time_error(run.events, best.events),
        "energy_error": float(np.max(run.energy_error)),
        "reference_error_s": None if reference is None else time_error(run.events, reference),
    }


def time_error(events: Events, others: Events) -> float | None:
    """Largest difference of times until 0.95 s; None where there are not the same events."""
    largest = 0.0
    for joint in range(4):
        for kind in (0, 1):
            ours, theirs = ([e[0] for e in some if e[1:3] == [joint, kind] and e[0] < COMPARED_UNTIL]
                            for some in (events, others))  # fmt: skip
            if len(ours) != len(theirs):
                return None
            largest = max([largest, *(abs(a - b) for a, b in zip(ours, theirs, strict=True))])
    return largest


def _reference(path: Path | None, modes: str) -> Events | None:
    if path is None:
        return None
    sets = json.loads(path.read_text())["sets"]
    return list(sets[modes]["events"]) if modes in sets else None


def _line(*cells: str) -> str:
    widths = (15, 8, 9, 9, 13, 8, 9, 13, 11, 11, 17)
    return cells[0].ljust(widths[0]) + "".join(f"{cell:>{width}}" for cell, width in zip(cells[1:], widths[1:], strict=True))


def _row(row: dict[str, Any]) -> str:
    def small(value: float | None) -> str:
        return "-" if value is None else f"{value:.1e}"

    return _line(row["method"], f"{row['rtol']:.0e}", f"{row['wall_ms']:.1f}", f"{row['loop_ms']:.1f}",
                 str(row["rhs_evaluations"]), str(row["steps"]), str(row["impacts"]), small(row["position_error_m"]),
                 small(row["time_error_s"]), small(row["energy_error"]), small(row["reference_error_s"]))  # fmt: skip


def _judge(rows: list[dict[str, Any]]) -> None:
    """The target of the project: at rtol 1e-6 at most 30 ms, with the default method."""
    row = next(r for r in rows if r["method"] == METHODS[0].__name__ and math.isclose(r["rtol"], TARGET_RTOL))
    verdict = "met" if row["wall_ms"] <= TARGET_MS else "missed"
    print(f"target: {T_END} s in at most {TARGET_MS:g} ms at rtol {TARGET_RTOL:g}: {row['wall_ms']:.1f} ms with "
          f"{row['method']}, {verdict}")  # fmt: skip


def draw(rows: list[dict[str, Any]], modes: str, target: Path) -> None:
    """Error over wall time, a line for each method."""
    from pliant.gallery.reproduction import label, panels
    from pliant.show import plot

    figure, axes = panels(1, 2, height=4.4)
    for panel, quantity, name in zip(axes[0], ("position_error_m", "energy_error"),
                                     ("position error until 0.95 s, m", "energy error, of T1 + V1"), strict=True):  # fmt: skip
        for method in METHODS:
            mine = [row for row in rows if row["method"] == method.__name__]
            panel.loglog([r["wall_ms"] for r in mine], [r[quantity] for r in mine], "o-", label=method.__name__)
            for row in mine[::2]:
                panel.annotate(f"{row['rtol']:.0e}", (row["wall_ms"], row[quantity]), xytext=(4, 4),
                               textcoords="offset points", fontsize=7)  # fmt: skip
        panel.axvline(TARGET_MS, color="grey", linestyle=":", linewidth=1)
        label(panel, f"falling chain {modes}: labels are rtol", "wall time of 1.5 s, ms", name)
        panel.legend(fontsize="small")
    plot.save(figure, target)


if __name__ == "__main__":
    main()
