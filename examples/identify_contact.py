"""Which contact stiffness, restitution and friction does this beam have? Found from positions measured while it bounces.

An elastic beam is thrown onto the ground, slides and rotates. What a camera sees of it, both ends to 1 % of how far they move, is made
here by a run with known values and noise; the fit begins far from them.

    python examples/identify_contact.py [--seeds N] [--out PICTURE]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import pliant as pl

TRUTH = {"stiffness": 4.0e6, "restitution": 0.72, "mu": 0.28}
GUESS = {"stiffness": 2.0e6, "restitution": 0.5, "mu": 0.15}
T_END, RATE, NOISE = 0.5, 500.0, 0.01  # s, rows a second, of the spread of each series
SERIES = ("root_position beam x", "root_position beam y", "tip_position beam x", "tip_position beam y")


def thrown_beam() -> pl.System:
    stiffness = pl.Parameter("stiffness", GUESS["stiffness"], "N/m^1.5", low=1e5, high=1e8)
    restitution = pl.Parameter("restitution", GUESS["restitution"], low=0.05, high=0.99)
    mu = pl.Parameter("mu", GUESS["mu"], low=0.0, high=1.0)
    system = pl.System("thrown beam", gravity=(0, -9.81))
    beam = system.add(
        "beam",
        pl.Beam(
            length=0.6,
            section=pl.Section.rectangle(height=0.008, width=0.03),
            material=pl.ALUMINIUM,
            theory="euler-bernoulli",
            modes=pl.Modes(ends="ss", count=2),
            damping=pl.RayleighRatios(ratios=(0.01, 0.01)),
        ),
        joint=pl.Planar(position=(0.0, 0.25), angle=0.35, velocity=(1.5, 0.0)),
    )
    friction = pl.Ambrosio(mu=mu, v0=1e-3, v1=2e-2)
    law = pl.LankaraniNikravesh(stiffness=stiffness, restitution=restitution)
    for end in (beam.root, beam.tip):
        system.contact(points=pl.Sphere(end, 0.01), against=pl.Plane(normal=(0, 1)), normal=law, friction=friction)
    return system


def measured(system: pl.System, seed: int) -> dict[str, np.ndarray]:
    """What the camera saw."""
    time = np.arange(0.0, T_END, 1.0 / RATE)[1:]
    truth = pl.simulate(system, float(time[-1]), save=time, parameters=TRUTH)
    random = np.random.default_rng(seed)
    table = {"time": time}
    for name in SERIES:
        quantity, body, axis = name.split()
        values = truth.of_body(quantity, body)[:, "xyz".index(axis)]
        table[name] = values + NOISE * np.ptp(values) * random.normal(size=time.size)
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--out", type=Path, default=None)
    options = parser.parse_args()
    system = thrown_beam()
    for seed in range(options.seeds):
        found = pl.fit(system, measured(system, seed), list(TRUTH), guess=GUESS)
        off = {name: (found.values[name] - true) / found.standard_errors[name] for name, true in TRUTH.items()}
        print(found if options.seeds == 1 else f"seed {seed}:", "off by standard errors:", {n: round(x, 2) for n, x in off.items()})
    if options.out is not None:
        pl.plot.save(found.plot(), options.out)


if __name__ == "__main__":
    main()
