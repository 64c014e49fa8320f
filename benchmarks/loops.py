"""What closed loops cost: N four-bar linkages, and a parallel robot for 6 s.

    python benchmarks/loops.py [--json FILE] [--windows 1,2,10,40,100,400]

N four-bar linkages (IFToMM A02): posts on the ground, each with a coupler whose end is pinned to the next post's tip by
multipliers; the cost of one right-hand side and of one projection, and how it grows with N. Then the planar 3RRR robot of
Raoofian, Taghvaeipour and Kamali on its rose for 6 s by multipliers, warm.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from pathlib import Path

import numpy as np
from recursion import microseconds

import pliant as pl
from pliant.codegen.llvm import LARGEST_OPTIMISED_IN_RUN, compile_function
from pliant.gallery.parallel_robot.system import parallel_robot
from pliant.run.prepare import compile_system
from pliant.trace.tracing import trace

REPEATS = 5  # the fastest of so many runs: the others were disturbed
ROBOT_SECONDS = 6.0


def four_bars(windows: int) -> pl.System:
    system = pl.System(f"{windows} four-bars", gravity=(0, -9.81))
    rod = pl.RigidBody.rod(1.0, 1.0)
    tips = []
    for k in range(windows + 1):
        joint = pl.Revolute(angle=math.pi / 2, rate=-1.0)
        tips.append(system.add(f"A{k}", rod, joint=joint, on=system.ground.moved((float(k), 0.0))).tip)
    for k in range(windows):
        coupler = system.add(f"C{k}", rod, joint=pl.Revolute(angle=-math.pi / 2, rate=1.0), on=tips[k])
        system.close(f"pin{k}", "point", coupler.tip, tips[k + 1])
    return system


def measure(windows: int) -> dict[str, float]:
    began = time.perf_counter()
    traced = trace(four_bars(windows))
    traced_in = time.perf_counter() - began
    assert traced.project is not None
    functions = (traced.functions["rhs"], traced.functions["project"])
    code, back = (compile_function(one, cache=None, largest=LARGEST_OPTIMISED_IN_RUN) for one in functions)
    p = traced.parameters(0.0, 1.0)
    return {
        "n": windows,
        "degrees_of_freedom": traced.independent,
        "operations": code.operations,
        "trace_s": traced_in,
        "compile_s": code.compile_seconds + back.compile_seconds,
        "us_per_rhs": microseconds(code, p),
        "us_per_projection": microseconds(back, p),
    }


def exponent(rows: list[dict[str, float]], of: str) -> float:
    """Slope of log cost over log windows, from 10 windows on."""
    late = [row for row in rows if row["n"] >= 10]
    return float(np.polyfit(np.log([r["n"] for r in late]), np.log([r[of] for r in late]), 1)[0])


def robot(rtol: float) -> dict[str, float]:
    """6 s on the rose: the time loop alone, warm."""
    compiled = compile_system(parallel_robot())
    method = pl.DOP853(rtol=rtol, atol=1e-2 * rtol)
    runs = [pl.simulate(compiled, ROBOT_SECONDS, method=method, save=[ROBOT_SECONDS]) for _ in range(REPEATS + 1)]
    assert all(run.ok for run in runs)
    return {
        "rtol": rtol,
        "rhs_evaluations": float(runs[-1].stats["rhs_evaluations"]),
        "ms": 1e3 * min(run.stats["wall_s"] for run in runs),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--windows", default="1,2,10,40,100,400")
    options = parser.parse_args()
    measure(1)  # imports and the loop's own compilation are not what is measured
    print(f"{'windows':>8}{'operations':>12}{'a window':>10}{'trace s':>10}{'compile s':>11}{'us/rhs':>10}{'us/projection':>15}")
    rows: list[dict[str, float]] = []
    for n in map(int, options.windows.split(",")):
        rows.append(measure(n))
        r = rows[-1]
        print(f"{n:>8}{r['operations']:>12}{r['operations'] / n:>10.0f}{r['trace_s']:>10.3f}{r['compile_s']:>11.3f}"
              f"{r['us_per_rhs']:>10.3f}{r['us_per_projection']:>15.3f}", flush=True)  # fmt: skip
    report: dict[str, object] = {"rows": rows}
    if sum(row["n"] >= 10 for row in rows) >= 2:
        report["exponent"] = exponent(rows, "us_per_rhs")
        report["trace_exponent"] = exponent(rows, "trace_s")
        print(f"growth exponent {report['exponent']:.3f} of one right-hand side, {report['trace_exponent']:.3f} of the trace")
    robots = report["parallel_robot"] = [robot(rtol) for rtol in (1e-6, 1e-9, 1e-12)]
    for run in robots:
        print(f"3RRR robot, {ROBOT_SECONDS:g} s at rtol {run['rtol']:.0e}: {run['rhs_evaluations']:.0f} evaluations, "
              f"{run['ms']:.2f} ms")  # fmt: skip
    if options.json:
        options.json.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
