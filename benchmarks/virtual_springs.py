"""What stiff virtual springs cost: the parallel robot of Raoofian et al., 6 s simulated, Ks = 1e1 ... 1e8 N/m.

    python benchmarks/virtual_springs.py [--repeat 5] [--json FILE]

The paper's DeNOC with virtual springs took 0.58 s at Ks = 10 and 499 s at 1e8 (its Table 2, Matlab's RK45 at rtol 1e-3).
Two starts: `closed`, c = 0, from which undamped springs ring for ever, and `prestretched`, c = -lam / Ks, from which they do
not. Position error is the paper's, the largest difference of the distances from the centre of platform and path, m; most of it is
that of the springs themselves, so that of a tight run (DOP853, rtol 1e-12) stands beside it. Evaluations are of the right-hand
side; Jacobians, exact and from the trace, are counted apart (one costs as much as two right-hand sides here). Wall time is that
of the time loop, warm, on one core, the fastest of several.

Tolerances: `paper` is rtol 1e-3, atol 1e-6 on everything, at which what rings has to be followed. `positions` is rtol 1e-7, atol
1e-8 on coordinates and 1e-2 on their rates: ringing that is fast but moves next to nothing may be damped.
"""

from __future__ import annotations

import argparse
import json
import platform
from pathlib import Path
from typing import Any

import numpy as np

import pliant as pl
from pliant.gallery.parallel_robot.runs import GRID, Run
from pliant.gallery.parallel_robot.system import T_END, parallel_robot
from pliant.run.prepare import Compiled, compile_system

STIFFNESSES = tuple(10.0**n for n in range(1, 9))  # N/m
SHORTEST_REACH = 1e3  # N/m: stretched by softer springs the legs would have to be longer than they are
COORDINATES = 9
TOLERANCES: dict[str, dict[str, Any]] = {
    "paper": {"rtol": 1e-3, "atol": 1e-6},
    "positions": {"rtol": 1e-7, "atol": [1e-8] * COORDINATES + [1e-2] * COORDINATES},
}
METHODS = (("DormandPrince", "paper"), ("DOP853", "positions"), ("Radau5", "positions"), ("Radau9", "positions"),
           ("Rodas5P", "positions"), ("Auto", "positions"), ("Auto", "paper"))  # fmt: skip
TIGHT = pl.DOP853(rtol=1e-12, atol=1e-12)
TARGET_RATIO, TARGET_S = 2.0, 0.1  # cost at 1e8 over that at 1e3; wall time at 1e8


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=5, help="runs of each, of which the fastest counts")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    print(f"parallel robot on virtual springs, {T_END:g} s; best of {options.repeat}, one core, {platform.machine()}, "
          f"Python {platform.python_version()}")  # fmt: skip
    rows: list[dict[str, Any]] = []
    for start in ("closed", "prestretched"):
        print(f"\nstart: {start}\n" + _line("Ks", "method", "tolerance", "evaluations", "jacobians", "steps", "wall ms",
                                            "position m", "tight run m"))  # fmt: skip
        for stiffness in STIFFNESSES:
            if start == "prestretched" and stiffness < SHORTEST_REACH:
                continue
            compiled = compile_system(parallel_robot(stiffness, prestretched=start == "prestretched"))
            tight = position_error(pl.simulate(compiled, T_END, method=TIGHT, save=GRID.tolist()))
            for name, tolerance in METHODS:
                row = measure(compiled, name, tolerance, options.repeat)
                rows.append({"Ks": stiffness, "start": start, **row, "tight_position_error": tight})
                print(_row(rows[-1]), flush=True)
    judge(rows)
    if options.json:
        options.json.write_text(json.dumps({"rows": rows}, indent=1) + "\n")


def position_error(result: pl.Result) -> float:
    return float(np.max(Run(result).position_error))


def measure(compiled: Compiled, name: str, tolerance: str, repeat: int) -> dict[str, Any]:
    method = getattr(pl, name)(**TOLERANCES[tolerance])
    results = [pl.simulate(compiled, T_END, method=method, save=GRID.tolist()) for _ in range(repeat)]
    stats = results[0].stats
    return {
        "method": f"{name}, {tolerance}",
        "wall_s": min(float(one.stats["wall_s"]) for one in results),
        "rhs_evaluations": stats["rhs_evaluations"],
        "jacobians": stats["jacobians"],
        "steps": stats["steps"],
        "position_error": position_error(results[0]),
        "ok": results[0].ok,
    }


def judge(rows: list[dict[str, Any]]) -> None:
    """Cost at 1e8 over that at 1e3, and wall time at 1e8, for every method and start."""
    print("\n" + _line("start", "method", "", "wall ratio", "evaluations ratio", "", "wall ms at 1e8"))
    for start in ("closed", "prestretched"):
        for name, tolerance in METHODS:
            own = {r["Ks"]: r for r in rows if r["start"] == start and r["method"] == f"{name}, {tolerance}"}
            soft, hard = own[1e3], own[1e8]
            wall, work = (hard[key] / soft[key] for key in ("wall_s", "rhs_evaluations"))
            met = "met" if wall <= TARGET_RATIO and hard["wall_s"] <= TARGET_S else ""
            print(_line(start, name, tolerance, f"{wall:.2f}", f"{work:.2f}", "", f"{1e3 * hard['wall_s']:.2f}", met))


def _line(*cells: str) -> str:
    return " ".join(cell.rjust(14) for cell in cells)


def _row(row: dict[str, Any]) -> str:
    name, tolerance = row["method"].split(", ")
    return _line(f"{row['Ks']:.0e}", name, tolerance, f"{row['rhs_evaluations']:,}", f"{row['jacobians']:,}",
                 f"{row['steps']:,}", f"{1e3 * row['wall_s']:.2f}", f"{row['position_error']:.1e}",
                 f"{row['tight_position_error']:.1e}")  # fmt: skip


if __name__ == "__main__":
    main()
