"""A sweep as a plain loop: 20 payloads by 20 stiffnesses of a two-link arm that swings and hits a stop.

    python benchmarks/sweep.py [--json FILE] [--side 20]

Processor time of the whole loop, set-up and first use of the structure included, and of the time loops alone.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np

import pliant as pl

T_END = 1.0  # s


def two_link_arm(payload: float, modulus: float) -> pl.System:
    system = pl.System("two-link arm", gravity=(0, -9.81))
    section = pl.Section.rectangle(0.006, 0.03)
    material = pl.Material(E=modulus, density=2700.0, nu=0.33)

    def link(length: float, load: float | None) -> pl.Beam:
        carried = None if load is None else pl.Payload(mass=load)
        return pl.Beam(length=length, section=section, material=material, theory="euler-bernoulli", modes=pl.Modes("cf", 2),
                       damping=pl.KelvinVoigt(2e6), payload=carried, stiffening="none")  # fmt: skip

    upper = system.add("upper", link(0.5, None), joint=pl.Revolute(angle=0.4))
    elbow = pl.Revolute(angle=0.6, limits=pl.Limits(low=-0.9, high=0.9, stiffness=500.0, damping=0.5))
    system.add("lower", link(0.4, payload), joint=elbow, on=upper.tip)
    return system


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--side", type=int, default=20)
    options = parser.parse_args()
    assert pl.simulate(two_link_arm(0.123, 6.543e10), 0.01).ok  # the time loops are there from earlier use
    began, loops, reach = time.process_time(), 0.0, []
    for payload in np.linspace(0.1, 0.6, options.side):
        for modulus in np.geomspace(2e10, 2e11, options.side):
            run = pl.simulate(two_link_arm(float(payload), float(modulus)), T_END)
            assert run.ok
            loops += run.stats["wall_s"]
            reach.append(float(run["lower.angle"].max()))
    report = {"runs": len(reach), "cpu_s": time.process_time() - began, "time_loops_s": loops, "largest_elbow_angle": max(reach)}
    print(json.dumps(report, indent=1))
    if options.json:
        options.json.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
