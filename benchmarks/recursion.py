"""What one right-hand side costs, and how it grows with the number of links.

    python benchmarks/recursion.py [--json FILE] [--links 3,10,30,100,300] [--no-peer]

Planar chains of elastic links (one simply supported mode each, gravity, pinned to the ground) and rigid spatial chains (axes
alternating z, y), the latter beside Pinocchio's `aba` on the same chain in the same run. Pinocchio lives in an environment of its
own, made on first use beside this file.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from pathlib import Path

import numpy as np
from peer_environments import ask

import pliant as pl
from pliant.codegen.llvm import MachineCode, compile_function
from pliant.codegen.loop_language import floats
from pliant.integrate.compiled_loops import function_of
from pliant.integrate.loop.kernels import Loop, call_kernel
from pliant.trace.tracing import trace

RIGID = (30, 100)
BATCHES = 15  # the fastest of so many counts: the others were disturbed
BATCH_SECONDS = 0.02


def elastic_chain(links: int) -> pl.System:
    link = pl.Beam(length=1.0, mass_per_length=1.0, rotary_inertia=2.9473e-5, theory="timoshenko",
                   section=pl.Section(A=3.75e-4, Iz=4.883e-9, shear_factor=5 / 6),
                   material=pl.Material(E=2e11, G=7.7e10), modes=pl.Modes("ss", 1), stiffening="none")  # fmt: skip
    system = pl.System(f"{links} elastic links", gravity=(0, -9.81))
    on = None
    for k in range(links):
        on = system.add(f"link{k}", link, joint=pl.Revolute(), on=on).tip
    return system


def rigid_chain(links: int) -> pl.System:
    body = pl.RigidBody(mass=1.0, inertia=(0.1, 0.2, 0.3), com=(0.5, 0.0, 0.0), tip=(1.0, 0.0, 0.0))
    system = pl.System(f"{links} rigid links", gravity=(0, 0, -9.81))
    on = None
    for k in range(links):
        on = system.add(f"link{k}", body, joint=pl.Revolute(axis="zy"[k % 2]), on=on).tip
    return system


def _repeat(kernel: int, times: int, y: int, p: int, out: int, work: int) -> int:
    """Calls of a kernel, all arrays by address."""
    first = floats(y, 1)
    for _ in range(times):
        first[0] += 1e-9  # a new state each time
        call_kernel(kernel, 0.0, y, p, out, work)
    return times


repeat = function_of(Loop(_repeat, (int,) * 6))


def microseconds(code: MachineCode, p: np.ndarray) -> float:
    """Fastest mean over batches of calls from a compiled loop; time of the processor, so that a busy machine does not count."""
    y = 0.1 * np.random.default_rng(1).normal(size=code.n_y)
    out, work = np.empty(code.n_out), np.empty(max(code.n_work, 1))
    times, best = 10, math.inf
    for _ in range(BATCHES):
        began = time.process_time()
        repeat(code.address, times, y.ctypes.data, p.ctypes.data, out.ctypes.data, work.ctypes.data)
        seconds = time.process_time() - began
        best = min(best, seconds / times)
        times = max(10, int(BATCH_SECONDS / best))
    return 1e6 * best


def measure(system: pl.System) -> dict[str, float]:
    began = time.perf_counter()
    traced = trace(system)
    traced_in = time.perf_counter() - began
    code = compile_function(traced.functions["rhs"], cache=None)
    return {
        "operations": code.operations,
        "trace_s": traced_in,
        "compile_s": code.compile_seconds,
        "us_per_rhs": microseconds(code, traced.parameters(0.0, 1.0)),
    }


def pinocchio(links: tuple[int, ...]) -> dict[str, float]:
    """aba of the same chains, measured by Pinocchio's own interpreter; "1" is mostly the cost of a Python call."""
    rng = np.random.default_rng(1)
    states = {str(n): (0.1 * rng.normal(size=(2, n))).tolist() for n in links}
    return dict(ask("pinocchio_aba.py", {"states": states}, "pin")["us"])


def exponent(rows: list[dict[str, float]]) -> float:
    """Slope of log time over log links, from 10 links on."""
    late = [row for row in rows if row["n"] >= 10]
    return float(np.polyfit(np.log([r["n"] for r in late]), np.log([r["us_per_rhs"] for r in late]), 1)[0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--links", default="3,10,30,100,300")
    parser.add_argument("--no-peer", action="store_true", help="leave Pinocchio out")
    options = parser.parse_args()
    measure(elastic_chain(2))  # imports and the loop's own compilation are not what is measured
    print(f"{'links':>6}{'operations':>12}{'a link':>8}{'trace s':>10}{'compile s':>11}{'us/rhs':>10}{'us a link':>11}")
    rows: list[dict[str, float]] = []
    for n in map(int, options.links.split(",")):
        rows.append({"n": n, **measure(elastic_chain(n))})
        r = rows[-1]
        print(f"{n:>6}{r['operations']:>12}{r['operations'] / n:>8.0f}{r['trace_s']:>10.3f}{r['compile_s']:>11.3f}"
              f"{r['us_per_rhs']:>10.3f}{r['us_per_rhs'] / n:>11.4f}", flush=True)  # fmt: skip
    report: dict[str, object] = {"rows": rows, "rigid_us": {}, "pinocchio_us": {}}
    if sum(row["n"] >= 10 for row in rows) >= 2:
        report["exponent"] = exponent(rows)
        print(f"growth exponent {report['exponent']:.3f}")
    peer = {} if options.no_peer else pinocchio((1, *RIGID))
    ours = {str(n): measure(rigid_chain(n))["us_per_rhs"] for n in RIGID}
    report["rigid_us"], report["pinocchio_us"] = ours, {n: peer[n] for n in ours if n in peer}
    for n, us in ours.items():
        beside = f", Pinocchio aba {peer[n]:.2f} us ({peer[n] / us:.2f} times as long)" if n in peer else ""
        print(f"rigid spatial chain of {n}: {us:.2f} us{beside}")
    if peer:
        print(f"(a Python call of aba on 1 joint: {peer['1']:.2f} us, included above; Python {sys.version.split()[0]})")
    if options.json:
        options.json.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
