"""A two-link elastic arm led step by step: what `run.step` costs beyond the integration, and 10,000 steps of 1 ms.

python benchmarks/stepping.py [--steps 10000] [--json FILE]

The integration is the time spent inside the compiled loop, measured in runs of their own; what is left of the whole is overhead.
Processor time, the best of several runs.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import pliant as pl

DT = 1e-3  # s
REPEATS = 5
TORQUES = ("shoulder", "elbow")


def two_link_arm(shoulder: object, elbow: object, modes: int = 2) -> pl.System:
    """Two steel links of 0.8 m that bend, in the plane of gravity, damped a little; torques at both joints."""
    system = pl.System("two-link arm", gravity=(0.0, -9.81))
    link = pl.Beam(length=0.8, section=pl.Section.rectangle(0.02, 0.01), material=pl.STEEL, theory="euler-bernoulli",
                   modes=pl.Modes("cf", modes), damping=(pl.KelvinVoigt(2e5),))  # fmt: skip
    upper = system.add("upper", link, joint=pl.Revolute(angle=-1.2, damper=pl.Damper(0.5)))
    system.add("lower", link, joint=pl.Revolute(angle=0.4, damper=pl.Damper(0.3)), on=upper.tip)
    system.drive("shoulder", "upper.angle", shoulder)
    system.drive("elbow", "lower.angle", elbow)
    return system


def seconds_of(compiled: pl.Compiled, method: pl.Auto, torques: np.ndarray, inside: bool) -> float:
    """Seconds that stepping takes, one step for every row of torques; inside: in the compiled loop alone."""
    run = pl.start(compiled, method=method)
    rows = [dict(zip(TORQUES, row, strict=True)) for row in torques.tolist()]
    run.step(DT, rows[0])
    spent = watched(run) if inside else [0.0]
    began = time.process_time()
    for row in rows:
        run.step(DT, row)
    return spent[0] if inside else time.process_time() - began


def watched(run: pl.SteppedRun) -> list[float]:
    """Seconds inside the compiled loop from now on, what a look at the clock takes not counted."""
    spent, loop, clock = [0.0], run._stepper._loop, time.thread_time
    looks = [clock() for _ in range(10_000)]
    look = (looks[-1] - looks[0]) / (len(looks) - 1)

    def timed() -> int:
        began = clock()
        code = loop()
        spent[0] += clock() - began - look
        return code

    run._stepper._loop = timed
    return spent


def best(measured: Callable[[], float]) -> float:
    return min(measured() for _ in range(REPEATS))


def measure(steps: int, rtol: float) -> dict[str, dict[str, float]]:
    method = pl.Auto(rtol=rtol, atol=1e-3 * rtol)
    arm = pl.compile_system(two_link_arm(*(pl.Parameter(name, 2.5) for name in TORQUES)))
    random = np.random.default_rng(1).uniform(-5.0, 5.0, (steps, 2))
    answers = {}
    for name, torques in (("constant inputs", np.full((steps, 2), 2.5)), ("changing inputs", random)):
        whole, loop = (best(lambda t=torques, i=inside: seconds_of(arm, method, t, i)) for inside in (False, True))
        answers[name] = {"overhead_us_per_step": 1e6 * (whole - loop) / steps, "ten_thousand_steps_s": 1e4 * whole / steps,
                         "integration_us_per_step": 1e6 * loop / steps}  # fmt: skip
    return answers


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=10_000)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    answers = {f"rtol {rtol:g}": measure(options.steps, rtol) for rtol in (1e-6, 1e-9)}
    for tolerance, kinds in answers.items():
        for kind, numbers in kinds.items():
            print(f"{tolerance}, {kind}: " + ", ".join(f"{name} {value:.3g}" for name, value in numbers.items()))
    if options.json:
        options.json.write_text(json.dumps(answers, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
