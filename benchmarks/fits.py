"""What fits and statics cost: an equilibrium of eight planar segments that is asked for again with another load.

python benchmarks/fits.py [--only equilibrium_8_ms] [--json FILE]

Wall-clock time, the best of several calls. Every call has a System of its own, built anew with another load, as in a search.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path

import pliant as pl

REPEATS = 9
SEGMENTS = 8


def elastica(load: float) -> pl.System:
    """A clamped steel strip of eight segments under a load across its tip, in E I / l^2."""
    strip = pl.Beam(length=1.0, section=pl.Section.rectangle(height=0.002, width=0.02), material=pl.STEEL,
                    theory="euler-bernoulli", modes=pl.Modes("cf", 1))  # fmt: skip
    system = pl.System("elastica", gravity=(0.0, 0.0))
    rod = system.add("rod", pl.segmented(strip, SEGMENTS), joint=pl.Weld())
    system.force("load", rod.tip, (0.0, load * pl.STEEL.E * float(strip.section.Iz or 0.0)))
    return system


def milliseconds(system: pl.System) -> float:
    """What the equilibrium of a System takes, ms."""
    began = time.perf_counter()
    rest = pl.equilibrium(system)
    spent = time.perf_counter() - began
    if not rest.stable:
        raise SystemExit(f"the strip must come to a stable rest: {rest.message}")
    return 1e3 * spent


def equilibrium_8_ms() -> float:
    """An equilibrium of eight planar segments, repeated with other loads, ms; the first two calls trace and compile."""
    for load in (1.0, 2.0):
        print(f"  equilibrium of {SEGMENTS} segments, load {load:g}, first calls: {milliseconds(elastica(load)):.0f} ms")
    return min(milliseconds(elastica(2.0 + 0.3 * k)) for k in range(1, REPEATS + 1))


NUMBERS: dict[str, Callable[[], float]] = {number.__name__: number for number in (equilibrium_8_ms,)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=NUMBERS, nargs="*", help="measure only these")
    parser.add_argument("--json", type=Path, help="also write the numbers to this file")
    arguments = parser.parse_args()
    found = {}
    for name in arguments.only or NUMBERS:
        found[name] = NUMBERS[name]()
        print(f"{name}: {found[name]:.4g}")
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
