"""What accuracy costs with every method on every gallery system: error, evaluations, wall time.

    python benchmarks/work_precision.py [--systems NAME,...] [--methods NAME,...] [--repeat 3] [--json FILE]

The error is the largest distance, m, of any body's tip from that of a run at rtol 1e-12 by DOP853, over 200 rows. Wall time is that
of the time loop, warm, on one core, the fastest of several; tracing and compiling are not in it. Evaluations are those of the
right-hand side; Jacobians, exact and from the trace, are counted apart and cost `jacobian ops / rhs ops` evaluations each.
The last table holds `auto` against the better of the methods it is made of, at the same tolerance; it goes by the processor time of
whole warm simulate() calls, which other programs on the machine do not disturb.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from pathlib import Path
from typing import Any

import numpy as np

import pliant as pl
from pliant.gallery.representative import REPRESENTATIVES, Representative
from pliant.integrate.methods.method import METHODS
from pliant.run.prepare import Compiled, compile_system

TOLERANCES = (1e-3, 1e-5, 1e-7, 1e-9, 1e-11)
ATOL = 1e-3  # of rtol, as in the default method
STEPS = (1e-3, 1e-4, 1e-5)  # s, of the methods with fixed steps
BEST = pl.DOP853(rtol=1e-12, atol=1e-13)  # below, stiff springs turn the round-off of positions into what looks like error
ROWS = 200
NEAR = 1e-2  # m, default of VariablePrecisionRK4
LONGEST = 5.0  # s of computing after which a run is given up
KINDS = {kind.__name__: kind for kind in METHODS}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--systems", default=",".join(one.name.replace(",", ";") for one in REPRESENTATIVES),
                        help="commas inside names written ;")  # fmt: skip
    parser.add_argument("--methods", default=",".join(KINDS))
    parser.add_argument("--repeat", type=int, default=3, help="runs of each, of which the fastest counts")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    wanted = [name.replace(";", ",") for name in options.systems.split(",")]
    print(f"best of {options.repeat}, one core, {platform.machine()}, Python {platform.python_version()}")
    rows: list[dict[str, Any]] = []
    for one in REPRESENTATIVES:
        if one.name in wanted:
            rows += work_precision(one, options.methods.split(","), options.repeat)
    judge_auto(rows)
    if options.json:
        options.json.write_text(json.dumps({"rows": rows}, indent=1) + "\n")


def work_precision(one: Representative, methods: list[str], repeat: int) -> list[dict[str, Any]]:
    compiled = compile_system(one.build())
    times = np.linspace(0.0, one.t_end, ROWS + 1)[1:].tolist()
    best = pl.simulate(compiled, one.t_end, method=BEST, save=times).values["tip_position"]
    kernel = compiled.jacobian(False)
    print(f"\n{one.name}: {one.t_end:g} s, {compiled.traced.n_controlled} states, right-hand side "
          f"{compiled.rhs.operations} operations, Jacobian {kernel.operations if kernel else 0}")  # fmt: skip
    print(_line("method", "rtol or step", "error m", "evaluations", "jacobians", "steps", "wall ms", "ledger"))
    rows = []
    for name in methods:
        # the one that changes its precision near contact watches for that distance
        fit = compile_system(one.build(), near=NEAR) if KINDS[name].near is not None else compiled
        for method in _settings(KINDS[name]):
            try:
                rows.append({"system": one.name, **measure(fit, one, method, times, best, repeat)})
            except pl.ModelError as refusal:  # a method for closed loops only, say
                print(f"{name}: {refusal}")
                break
            print(_row(rows[-1]), flush=True)
    return rows


def _settings(kind: Any) -> list[Any]:
    if "step" in kind.__dataclass_fields__:
        return [kind(step=step) for step in STEPS]
    return [kind(rtol=rtol, atol=ATOL * rtol) for rtol in TOLERANCES]


def measure(compiled: Compiled, one: Representative, method: Any, times: list[float], best: Any, repeat: int) -> dict[str, Any]:
    results, seconds = [], []
    for _ in range(repeat):
        began = time.thread_time()
        results.append(pl.simulate(compiled, one.t_end, method=method, save=times, max_seconds=LONGEST))
        seconds.append(time.thread_time() - began)
        if not results[0].ok:
            break
    result = results[0]
    error = float(np.max(np.abs(result.values["tip_position"] - best))) if result.ok else float("nan")
    return {
        "method": type(method).__name__,
        "setting": method.fixed_step or method.rtol,
        "error_m": error,
        "rhs_evaluations": result.stats["rhs_evaluations"],
        "jacobians": result.stats["jacobians"],
        "steps": result.stats["steps"],
        "steps_of": result.stats["steps_of"],
        "wall_s": min(float(one.stats["wall_s"]) for one in results),
        "cpu_s": min(seconds),
        "ledger": float(result.ledger.relative_error_max),
        "ok": result.ok,
    }


def judge_auto(rows: list[dict[str, Any]]) -> None:
    """Auto over the faster of DOP853 and the Radau method it uses, at equal tolerance: processor time of whole simulate() calls."""
    print("\n" + _line("system", "rtol", "auto ms", "DOP853 ms", "Radau ms", "auto / better", "steps by"))
    for row in rows:
        if row["method"] != "Auto":
            continue
        implicit = type(pl.Auto(rtol=row["setting"]).alternatives[1]).__name__
        others = [o for o in rows if o["system"] == row["system"] and o["setting"] == row["setting"]]
        times = [next((o["cpu_s"] for o in others if o["method"] == m and o["ok"]), float("nan")) for m in ("DOP853", implicit)]
        ratio = row["cpu_s"] / np.nanmin(times)
        print(_line(row["system"][:20], f"{row['setting']:.0e}", *(f"{1e3 * w:.2f}" for w in (row["cpu_s"], *times)),
                    f"{ratio:.2f}", str(row["steps_of"])), flush=True)  # fmt: skip


def _line(*cells: str) -> str:
    return " ".join(cell.rjust(14) for cell in cells)


def _row(row: dict[str, Any]) -> str:
    return _line(row["method"], f"{row['setting']:.0e}", f"{row['error_m']:.1e}" if row["ok"] else "gave up",
                 f"{row['rhs_evaluations']:,}", f"{row['jacobians']:,}", f"{row['steps']:,}", f"{1e3 * row['wall_s']:.2f}",
                 f"{row['ledger']:.0e}")  # fmt: skip


if __name__ == "__main__":
    main()
