"""pliant beside the programs that users would pick instead, all in one run on one core.

    python benchmarks/peers.py [--json FILE] [--links 3,10,30,100,300,1000] [--no-peers]

* falling_chain, slider_crank: the same flexible mechanisms with contact in Exudyn, at equal error (flexible_peers.py says how);
* rigid_chain_us: one forward dynamics of rigid spatial chains in Pinocchio (aba) and MuJoCo (mj_forward), microseconds;
* solve_ivp: scipy's integrators on pliant's own right-hand side, the falling chain with its friction, 0.6 s.

Peers are installed on first use, each into an environment of its own beside this file. --no-peers: only what needs none of them.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
from pathlib import Path
from typing import Any

import flexible_peers
import rigid_chains
import scipy
import scipy_peer

import pliant as pl
from pliant.gallery.falling_chain.system import falling_chain

SCIPY_RTOL = (1e-6, 1e-9)
SCIPY_END, SCIPY_EVERY = 0.6, 0.01  # s


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--links", default=",".join(map(str, rigid_chains.LINKS)))
    parser.add_argument("--no-peers", action="store_true", help="leave Exudyn, Pinocchio and MuJoCo out")
    options = parser.parse_args()
    links = [int(n) for n in options.links.split(",")]
    print(f"{platform.machine()}, {os.cpu_count()} cores of which one is used, Python {platform.python_version()}, "
          f"scipy {scipy.__version__}")  # fmt: skip
    report: dict[str, Any] = {}
    if not options.no_peers:
        for name, case in flexible_peers.CASES.items():
            report[name] = flexible_peers.compare(case())
            print("\n".join(flexible_peers.table(name, report[name])), flush=True)
    report.update(rigid(links, peers=not options.no_peers))
    report["solve_ivp"] = solve_ivp()
    if options.json:
        scratch = options.json.with_name(options.json.name + ".part")
        scratch.write_text(json.dumps(report, indent=1) + "\n")
        scratch.replace(options.json)


def rigid(links: list[int], peers: bool) -> dict[str, Any]:
    """The table of rigid chains."""
    found = rigid_chains.measure(links, rigid_chains.PEERS if peers else {})
    names = ["pliant", *found["versions"]]
    head = "".join(f"{name + ', us':>18}" for name in names)
    off = "".join(f"{name + ' off':>16}" for name in found["versions"])
    print(f"{'rigid links':>12}{head}{off}{'compile s':>12}")
    for n, row in found["us"].items():
        times = "".join(f"{'-' if row[name] is None else format(row[name], '.3f'):>18}" for name in names)
        apart = "".join(f"{format(found['apart'][n][name], '.1e') if name in found['apart'][n] else '-':>16}" for name in names[1:])
        print(f"{n:>12}{times}{apart}{found['compile_s'][n]:>12.1f}", flush=True)
    for name, version in found["versions"].items():
        print(f"{name} {version}: a call from Python costs {found['call_us'][name]:.2f} us, included above")
        for n, why in found["refused"].get(name, {}).items():
            print(f"{name}, {n} links: {why}")
    others = ("apart", "compile_s", "call_us", "refused")
    return {"rigid_chain_us": found["us"], **{f"rigid_chain_{key}": found[key] for key in others},
            "versions": found["versions"]}  # fmt: skip


def solve_ivp() -> list[dict[str, Any]]:
    """The table of scipy's integrators."""
    compiled = pl.compile_system(falling_chain())
    print(f"{'falling chain, 0.6 s':<24}{'rtol':>8}{'seconds':>10}{'evaluations':>13}{'error':>10}{'of pliant':>11}")
    rows = []
    for rtol in SCIPY_RTOL:
        found = scipy_peer.measure(compiled, SCIPY_END, SCIPY_EVERY, rtol)
        rows.append(found)
        for name in ("pliant", *scipy_peer.METHODS):
            run = found[name]
            ratio = run["s"] / found["pliant"]["s"]
            label = "pliant DOP853" if name == "pliant" else f"solve_ivp {name}"
            print(f"{label:<24}{rtol:>8.0e}{run['s']:>10.4f}{run['rhs_evaluations']:>13}{run['error']:>10.1e}{ratio:>11.1f}",
                  flush=True)  # fmt: skip
    return rows


if __name__ == "__main__":
    main()
