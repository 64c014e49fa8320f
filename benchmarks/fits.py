"""What fits and statics cost: measured tosses of a cube, runs with derivatives over runs without, equilibria that are repeated.

python benchmarks/fits.py [--only cube_30_s cost_ratio_5 equilibrium_8_ms] [--json FILE]

The fit is wall-clock time in two processes, their start and first compilation included. The ratio is of processor time, the fastest
of several passes over all tosses; every pass has new values of the parameters, as in a search. The equilibrium is wall-clock time,
the best of several calls, every one with a System of its own, built anew with another load.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

import pliant as pl

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
import cube_toss

TOSSES, PASSES, PROCESSES = 30, 5, 2
REPEATS = 9
SEGMENTS = 8


def some_tosses() -> list[cube_toss.Toss]:
    """The same tosses as in cube_tosses.py."""
    every = cube_toss.tosses(Path(cube_toss.__file__).parent / "data" / "cube_tosses.npz")
    return [every[k] for k in np.random.default_rng(0).permutation(len(every))[:TOSSES]]


def processor_s() -> float:
    """What this process and those that it started have used, s."""
    return sum(os.times()[:4])


def cube_30_s() -> float:
    """A fit of thirty tosses with five unknowns in two processes, s, their start included; it must converge."""
    tosses, worked, began = some_tosses(), processor_s(), time.perf_counter()
    with ProcessPoolExecutor(PROCESSES, mp_context=multiprocessing.get_context("spawn")) as pool:
        found = cube_toss.fit(cube_toss.cube(), tosses, executor=pool)
        spent = time.perf_counter() - began
    print(f"  {found.message}; {found.runs} runs, {processor_s() - worked:.1f} s of the processor, {found.values}")
    if not found.ok:
        raise SystemExit("the fit must converge")
    return spent


def cost_ratio_5() -> float:
    """Runs with derivatives by five parameters over runs without."""
    tosses, system = some_tosses(), cube_toss.cube()
    spent = np.full((2, len(tosses), PASSES), np.inf)
    for turn in range(-1, PASSES):  # the first compiles
        values = {"mu": 0.18 + 1e-4 * turn, "e": 0.3 + 1e-4 * turn}
        for k, toss in enumerate(tosses):
            both, common = {**toss.start, **values}, {"save": toss.time, "method": cube_toss.METHOD}
            began = time.process_time()
            pl.simulate(system, toss.time[-1], parameters=both, **common)
            between = time.process_time()
            derivatives = pl.sensitivities(system, toss.time[-1], cube_toss.FREE, values=both, of="q", **common)
            assert derivatives.rows["q"].shape[-1] == 5
            spent[:, k, turn] = between - began, time.process_time() - between
    plain, differentiated = spent.sum(axis=1).min(axis=1) / len(tosses)
    print(f"  a run: {1e3 * plain:.1f} ms, with derivatives: {1e3 * differentiated:.1f} ms")
    return float(differentiated / plain)


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


NUMBERS: dict[str, Callable[[], float]] = {number.__name__: number for number in (cube_30_s, cost_ratio_5, equilibrium_8_ms)}


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
