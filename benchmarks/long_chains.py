"""Long chains: what 100 and 1000 equal elastic links cost to compile, to evaluate and to simulate.

    python benchmarks/long_chains.py [--json FILE] [--links 100,1000] [--seconds 0.5]

Planar chains of elastic links, one simply supported mode each, pinned to the ground and let go 5 degrees from hanging straight.
Each length runs in a process of its own, for its peak of memory. `cold` is all of compile_system (trace, passes, LLVM) without a
cache, `cached` the same with the object code on disk. A right-hand side is timed in short batches of calls from a
compiled loop, of which the fastest counts; a simulated second is that of a warm simulate() without compiling.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from recursion import repeat

import pliant as pl
from pliant.codegen.llvm import MachineCode
from pliant.run.prepare import Compiled

METHOD = pl.DOP853(rtol=1e-6, atol=1e-9)
SAVED = 0.05  # s between rows
BATCHES = 400  # the fastest of so many counts: the others were disturbed
BATCH_SECONDS = 1e-3


def hanging_chain(links: int) -> pl.System:
    link = pl.Beam(length=1.0, mass_per_length=1.0, rotary_inertia=2.9473e-5, theory="timoshenko",
                   section=pl.Section(A=3.75e-4, Iz=4.883e-9, shear_factor=5 / 6),
                   material=pl.Material(E=2e11, G=7.7e10), modes=pl.Modes("ss", 1), stiffening="none")  # fmt: skip
    system = pl.System(f"{links} hanging links", gravity=(0, -9.81))
    on = None
    for k in range(links):
        on = system.add(f"link{k}", link, joint=pl.Revolute(angle=0.0 if k else pl.deg(-85)), on=on).tip
    return system


def microseconds(code: MachineCode, y0: np.ndarray, p: np.ndarray) -> float:
    """One call, near the start of the run."""
    y, out, work = y0.copy(), np.empty(code.n_out), np.empty(max(code.n_work, 1))
    times, best = 3, math.inf
    for _ in range(BATCHES):
        began = time.perf_counter()
        repeat(code.address, times, y.ctypes.data, p.ctypes.data, out.ctypes.data, work.ctypes.data)
        best = min(best, (time.perf_counter() - began) / times)
        times = max(3, int(BATCH_SECONDS / best))
    return 1e6 * best


def compiled_in(system: pl.System, cache: bool) -> tuple[Compiled, float, float]:
    """With the seconds on the wall and those of the processor."""
    began, busy = time.perf_counter(), time.process_time()
    compiled = pl.compile_system(system, cache=cache)
    return compiled, time.perf_counter() - began, time.process_time() - busy


def peak_megabytes() -> float:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2**20 if sys.platform == "darwin" else peak / 2**10


def measure(links: int, seconds: float) -> dict[str, float]:
    """All of one length, in this process."""
    pl.compile_system(hanging_chain(2), cache=False)  # imports are not what is measured
    before = peak_megabytes()
    system = hanging_chain(links)
    _, cold, cold_cpu = compiled_in(system, cache=False)
    at_compile = peak_megabytes()
    compiled_in(system, cache=True)  # now on disk
    compiled, cached, cached_cpu = compiled_in(system, cache=True)
    us = microseconds(compiled.rhs, compiled.traced.y0, compiled.traced.parameters(0.0, 1.0))
    pl.simulate(compiled, 1e-3, method=METHOD)  # the time loop is there
    wall = math.inf
    for _ in range(2):
        began = time.perf_counter()
        result = pl.simulate(compiled, seconds, method=METHOD, save=SAVED)
        wall = min(wall, time.perf_counter() - began)
    assert result.ok, result.message
    energy = result.data["kinetic"] + result.data["gravity"] + result.data["strain"]
    scale = float(result.data["kinetic"].max())
    return {
        "n": links,
        "operations": compiled.rhs.operations,
        "cold_s": cold,
        "cold_cpu_s": cold_cpu,
        "cached_s": cached,
        "cached_cpu_s": cached_cpu,
        "before_mb": before,
        "compile_mb": at_compile,
        "peak_mb": peak_megabytes(),
        "us_per_rhs": us,
        "us_per_link": us / links,
        "evaluations": float(result.stats["rhs_evaluations"]),
        "wall_per_simulated_s": wall / seconds,
        "energy_error": float(np.ptp(energy.values)) / scale,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--links", default="100,1000")
    parser.add_argument("--seconds", type=float, default=0.5, help="simulated")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)  # one length, as JSON: what the children do
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options.one, options.seconds)))
        return
    rows = []
    print(f"{'links':>6}{'operations':>12}{'cold s':>8}{'(cpu)':>7}{'cached s':>10}{'MB':>6}{'us/rhs':>9}{'us a link':>11}"
          f"{'evaluations':>13}{'wall s a simulated s':>22}{'energy error':>14}")  # fmt: skip
    for links in map(int, options.links.split(",")):
        command = [sys.executable, __file__, "--one", str(links), "--seconds", str(options.seconds)]
        rows.append(json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()[-1]))
        r = rows[-1]
        print(f"{links:>6}{r['operations']:>12}{r['cold_s']:>8.2f}{r['cold_cpu_s']:>7.2f}{r['cached_s']:>10.2f}{r['peak_mb']:>6.0f}"
              f"{r['us_per_rhs']:>9.2f}{r['us_per_link']:>11.4f}{r['evaluations']:>13.0f}{r['wall_per_simulated_s']:>22.3f}{r['energy_error']:>14.1e}",
              flush=True)  # fmt: skip
    report: dict[str, object] = {"rows": rows}
    if len(rows) > 1:
        for name in ("cold_s", "us_per_rhs", "wall_per_simulated_s"):
            slope = np.polyfit(np.log([r["n"] for r in rows]), np.log([r[name] for r in rows]), 1)[0]
            report[f"exponent_{name}"] = float(slope)
            print(f"growth exponent of {name}: {slope:.2f}")
    if options.json:
        options.json.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
