"""What it costs that numbers are data: right-hand sides, new numbers, first use, a study of systems that differ in numbers.

    python benchmarks/parameters.py [--json FILE] [--no-first-use] [--no-study]

rhs_ratio: a right-hand side that reads its numbers from a vector over the same trace with its numbers folded in, measured in turns
in one run. new_numbers_ms, new_beam_ms: from the call of `simulate` for the three-link chain to its first step, with a number
changed that no beam has, and with a beam changed; new_run_ms, with the former: a whole run that takes no time, its Result included.
falling_chain_ms: 1.5 s of the chain by DOP853 at rtol 1e-6 with 1001 rows, warm. us_per_touch: a bouncing ball by RKF45 at the same
tolerance.
first_use_cpu_s, first_use_stiff_cpu_s: processor time of a process that simulates with empty caches, explicitly and implicitly.
tipping_study_cpu_s: `pliant reproduce tipping-arm` with the time loops compiled and no system known.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import numpy as np
from loops import four_bars
from recursion import BATCH_SECONDS, elastic_chain, repeat

import pliant as pl
from pliant.codegen.llvm import LARGEST_OPTIMISED_IN_RUN, MachineCode, compile_function
from pliant.gallery.falling_chain import falling_chain
from pliant.integrate.stepper import Stepper
from pliant.trace.tracing import trace

ROUNDS = 25  # the fastest of so many: the others were disturbed
CHAIN_SECONDS, CHAIN_ROWS = 1.5, 1001
CHAIN = pl.DOP853(rtol=1e-6, atol=1e-9)
BALL = pl.RKF45(rtol=1e-6, atol=1e-9)
FIRST_USE = """
import pliant as pl
system = pl.System("first", gravity=(0, -9.81))
beam = pl.Beam(length=1.0, section=pl.Section.rectangle(0.01, 0.01), material=pl.STEEL, theory="euler-bernoulli",
               modes=pl.Modes("cf", 2), stiffening="none")
arm = system.add("arm", beam, joint=pl.Revolute(angle=0.5, damper=pl.Damper({damping})))
law = pl.HuGuo(stiffness=1e6, restitution=0.6)
system.contact(points=arm.tip, against=pl.Plane(normal=(0, 1), point=(0, -0.5)), normal=law)
run = pl.simulate(system, 0.2)
assert run.ok and ("Radau9" in run.stats["steps_of"]) is {stiff}, run.stats["steps_of"]
"""
STIFF = {True: "3e4", False: "0.1"}  # N m s/rad


def rhs_ratio(system: pl.System) -> float:
    """Numbers from a vector over numbers folded in, both in turns."""
    traced = trace(system)
    function, p = traced.functions["rhs"], traced.parameters(0.0, 1.0)
    codes = [compile_function(f, cache=None, largest=LARGEST_OPTIMISED_IN_RUN) for f in (function, function.folded)]
    assert codes[0].operations <= codes[1].operations
    best = [math.inf, math.inf]
    times = 10
    for _ in range(ROUNDS):
        for k, code in enumerate(codes):
            best[k] = min(best[k], _seconds(code, p, times) / times)
        times = max(10, int(BATCH_SECONDS / best[1]))
    return best[0] / best[1]


def _seconds(code: MachineCode, p: np.ndarray, times: int) -> float:
    y = 0.1 * np.random.default_rng(1).normal(size=code.n_y)
    out, work = np.empty(code.n_out), np.empty(max(code.n_work, 1))
    began = time.process_time()
    repeat(code.address, times, y.ctypes.data, p.ctypes.data, out.ctypes.data, work.ctypes.data)
    return time.process_time() - began


def fastest(action: Callable[[int], object], rounds: int = ROUNDS) -> float:
    """Seconds of the processor that an action takes; it is told which time it is."""
    best = math.inf
    for k in range(rounds):
        began = time.process_time()
        action(k)
        best = min(best, time.process_time() - began)
    return best


def three_links(restitution: pl.Parameter, modulus: pl.Parameter) -> pl.System:
    """The falling chain with a law and a beam that vary."""
    section = pl.Section(A=3.75e-4, Iz=4.883e-9, shear_factor=5 / 6)
    beams = [pl.Beam(length=1.0, mass_per_length=1.0, theory="timoshenko", section=section, modes=pl.Modes("ss", 1),
                     rotary_inertia=2.9473e-5, material=pl.Material(E=e, G=7.7e10), stiffening="none")
             for e in (modulus, 2e11, 2e11)]  # fmt: skip
    system = pl.System("three links", gravity=(0, -9.81))
    on = system.add("a", beams[0], joint=pl.Planar(position=(0.0, 1.0), angle=0.3)).tip
    for name, beam in zip("bc", beams[1:], strict=True):
        on = system.add(name, beam, joint=pl.Revolute(angle=0.2), on=on).tip
    system.contact(points=system.ends(), against=pl.Plane(normal=(0, 1)), normal=pl.HuGuo(stiffness=1e8, restitution=restitution))
    return system


class FirstStepError(Exception):
    """Raised where a run would take its first step."""


def new_numbers() -> dict[str, float]:
    """What there is before the first step of a run whose numbers are new."""
    system = three_links(pl.Parameter("restitution", 0.5), pl.Parameter("modulus", 2e11))

    def run(**values: float) -> None:
        assert pl.simulate(system, 1e-12, method=CHAIN, save=[1e-12], parameters=values).ok

    def begin(**values: float) -> None:
        with contextlib.suppress(FirstStepError):
            run(**values)

    def stop(self: Stepper, *pieces: object, **options: object) -> NoReturn:
        raise FirstStepError

    run()
    whole = fastest(lambda k: run(restitution=0.4 + 1e-3 * k))
    advance, Stepper.advance = Stepper.advance, stop  # type: ignore[method-assign,assignment]
    try:
        law = fastest(lambda k: begin(restitution=0.5 + 1e-3 * k))
        beam = fastest(lambda k: begin(modulus=1.5e11 + 1e9 * k))
    finally:
        Stepper.advance = advance  # type: ignore[method-assign]
    return {"new_numbers_ms": 1e3 * law, "new_beam_ms": 1e3 * beam, "new_run_ms": 1e3 * whole}


def chain_ms() -> float:
    compiled = pl.compile_system(falling_chain())
    rows = np.linspace(0.0, CHAIN_SECONDS, CHAIN_ROWS)
    return 1e3 * fastest(lambda _: pl.simulate(compiled, CHAIN_SECONDS, method=CHAIN, save=rows))


def us_per_touch() -> float:
    """A ball that bounces without loss: of a long run over that of a tenth of it, so that set-up does not count."""
    system = pl.System("ball", gravity=(0, -9.81))
    ball = system.add("ball", pl.RigidBody(mass=1.0, inertia=1e-3), joint=pl.Planar(position=(0.0, 0.01)))
    system.contact(points=pl.Sphere(ball.root, 0.005), against=pl.Plane(normal=(0, 1)), normal=pl.Hertz(stiffness=1e9))
    compiled = pl.compile_system(system)

    def run(t_end: float) -> pl.Result:
        return pl.simulate(compiled, t_end, method=BALL, save=[t_end])

    times, touches = zip(*((fastest(lambda _, t=t: run(t), 7), len(run(t).contacts)) for t in (1.0, 10.0)), strict=True)
    return 1e6 * (times[1] - times[0]) / (touches[1] - touches[0])


def children_cpu(command: list[str], caches: Path) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env={**os.environ, "XDG_CACHE_HOME": str(caches)}, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def first_use(stiff: bool) -> float:
    with tempfile.TemporaryDirectory() as caches:
        return _use(stiff, Path(caches))


def _use(stiff: bool, caches: Path) -> float:
    """A process that simulates an arm, whose damper may be so strong that `Auto` turns to implicit steps."""
    return children_cpu([sys.executable, "-c", FIRST_USE.format(damping=STIFF[stiff], stiff=stiff)], caches)


def tipping_study() -> float:
    """With the time loops there from an earlier run of something else."""
    with tempfile.TemporaryDirectory() as caches, tempfile.TemporaryDirectory() as out:
        for stiff in STIFF:
            _use(stiff, Path(caches))
        shutil.rmtree(Path(caches) / "pliant" / "machine-code")
        command = [sys.executable, "-m", "pliant", "reproduce", "tipping-arm", "--out", str(Path(out) / "study"), "--quiet"]
        return children_cpu(command, Path(caches))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--no-first-use", action="store_true", help="leave the processes with empty caches out")
    parser.add_argument("--no-study", action="store_true", help="leave the tipping arm's study out")
    options = parser.parse_args()
    systems = {"recursion_100": elastic_chain(100), "falling_chain": falling_chain(), "loops_40": four_bars(40)}
    report: dict[str, object] = {"rhs_ratio": {name: rhs_ratio(system) for name, system in systems.items()}}
    report |= new_numbers()
    report |= {"falling_chain_ms": chain_ms(), "us_per_touch": us_per_touch()}
    if not options.no_first_use:
        report |= {"first_use_cpu_s": first_use(stiff=False), "first_use_stiff_cpu_s": first_use(stiff=True)}
    if not options.no_study:
        report["tipping_study_cpu_s"] = tipping_study()
    print(json.dumps(report, indent=1))
    if options.json:
        options.json.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
