"""How often do 95 % intervals of fits hold the true values? Synthetic data of four mechanisms, through impacts and sticking.

    python benchmarks/fit_coverage.py [--fits 200] [--noise white|ar|drift] [--only NAME] [--json FILE]

white: independent noise, fitted as such. ar: noise whose correlation from row to row is 0.8, fitted by least squares (intervals by
the sandwich) and with noise="ar" (whitened); intervals for independent noise are counted beside them. drift: 30 experiments, each
with a slow error of its own (fewer fits are made).
"""

from __future__ import annotations

import argparse
import json
import sys
import time as clock
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.stats import binom, t

import pliant as pl

CORRELATION = 0.8
LEVEL = 0.95
DROPS = 30


@dataclass(frozen=True)
class Case:
    build: Callable[[], pl.System]
    truth: dict[str, float]
    columns: tuple[str, ...]
    noise: float  # standard deviation, in the columns' units
    time: np.ndarray


def ball():
    """Dropped on a floor with a law of contact that loses energy, through air."""
    system = pl.System("ball", gravity=(-9.81, 0))
    law = pl.Exact(stiffness=1e6, restitution=pl.Parameter("restitution", 0.7, low=0.05, high=0.99))
    drag = pl.Damper(pl.Parameter("drag", 0.15, "N s/m", low=0.0, high=5.0))
    body = system.add("ball", pl.RigidBody(mass=0.5, inertia=1e-4), joint=pl.Prismatic(displacement=0.5, damper=drag))
    system.contact(points=pl.Sphere(body.root, 0.02), against=pl.Plane(normal=(1, 0)), normal=law, name="floor")
    return system


def rubbing_block():
    """On a spring, on a guide with dry friction: it swings out and sticks."""
    law = pl.DryFriction(mu_static=0.4, mu_kinetic=pl.Parameter("mu", 0.25, low=0.0, high=0.39))
    spring = pl.Spring(pl.Parameter("stiffness", 90.0, "N/m", low=1.0, high=1e3))
    system = pl.System("block", gravity=(0, -9.81))
    joint = pl.Prismatic(displacement=0.5, spring=spring, friction=pl.JointFriction(law))
    system.add("block", pl.RigidBody(mass=1.0, inertia=0.1), joint=joint)
    return system


def pendulum():
    """It swings against a stop that is elastic and loses energy."""
    stop = pl.Limits(low=-2.0, high=2.0, stiffness=400.0, restitution=pl.Parameter("restitution", 0.7, low=0.05, high=0.99))
    loss = pl.Damper(pl.Parameter("loss", 0.02, "N m s/rad", low=0.0, high=1.0))
    system = pl.System("pendulum", gravity=(0, -9.81))
    system.add("arm", pl.RigidBody.rod(length=0.5, mass=0.4), joint=pl.Revolute(angle=-0.5, damper=loss, limits=stop))
    return system


def sliding_ball():
    """Thrown along the floor: it bounces and slides, and would roll in the end."""
    system = pl.System("thrown", gravity=(0, -9.81))
    law = pl.Exact(stiffness=1e7, restitution=pl.Parameter("restitution", 0.7, low=0.05, high=0.99))
    friction = pl.Ambrosio(mu=pl.Parameter("mu", 0.12, low=0.0, high=1.0), v0=1e-3, v1=1e-2)
    joint = pl.Planar(position=(0.0, 0.3), velocity=(4.0, 0.0))
    body = system.add("ball", pl.RigidBody(mass=0.5, inertia=8e-5), joint=joint)
    system.contact(points=pl.Sphere(body.root, 0.02), against=pl.Plane(normal=(0, 1)), normal=law, friction=friction, name="floor")
    return system


CASES = {
    "ball": Case(ball, {"restitution": 0.8, "drag": 0.2}, ("ball.displacement",), 2e-3, np.linspace(0.01, 1.2, 120)),
    "rubbing block": Case(
        rubbing_block, {"mu": 0.3, "stiffness": 100.0}, ("block.displacement",), 2e-3, np.linspace(0.01, 1.5, 120)
    ),
    "pendulum": Case(pendulum, {"restitution": 0.6, "loss": 0.03}, ("arm.angle",), 5e-3, np.linspace(0.02, 2.0, 120)),
    "thrown ball": Case(sliding_ball, {"restitution": 0.8, "mu": 0.1}, ("ball.x", "ball.y"), 2e-3, np.linspace(0.01, 1.0, 100)),
}  # fmt: skip


def coloured(random, rows, correlation):
    """Autoregressive noise of variance 1."""
    shocks, found = random.normal(size=rows), np.empty(rows)
    found[0] = shocks[0]
    for k in range(1, rows):
        found[k] = correlation * found[k - 1] + np.sqrt(1.0 - correlation**2) * shocks[k]
    return found


def held(found, truth, errors=None, freedom=None):
    """Whether each true value lies in its interval; errors, freedom: of other intervals than the fit's own."""
    if errors is None:
        intervals = found.confidence(LEVEL)
        return [intervals[name][0] < true < intervals[name][1] for name, true in truth.items()]
    times = t.ppf(0.5 + 0.5 * LEVEL, freedom)
    return [abs(found.values[name] - true) < times * error for (name, true), error in zip(truth.items(), errors, strict=True)]


def independent(found):
    rows = sum(part.residuals.size for part in found.experiments)
    return np.sqrt(np.diag(found.scatter.independent)), rows - len(found.names)


def coverage(case: Case, fits: int, noise: str, first_seed: int = 0) -> dict[str, list[int]]:
    """By kind of interval: how many of the intervals held the true values, and of how many."""
    system = case.build()
    truth = pl.simulate(system, case.time[-1], save=case.time, parameters=case.truth)
    counts: dict[str, list[int]] = {}

    def count(kind, hits):
        done = counts.setdefault(kind, [0, 0])
        done[0], done[1] = done[0] + sum(hits), done[1] + len(hits)

    for seed in range(first_seed, first_seed + fits):
        random = np.random.default_rng(seed)
        if noise == "drift":
            data = [{"time": case.time, **{c: truth[c] + case.noise * (coloured(random, case.time.size, 0.98) + 0.2 * random.normal(
                size=case.time.size)) for c in case.columns}} for _ in range(DROPS)]  # fmt: skip
        else:
            colour = CORRELATION if noise == "ar" else 0.0
            data = {
                "time": case.time,
                **{c: truth[c] + case.noise * coloured(random, case.time.size, colour) for c in case.columns},
            }
        found = pl.fit(system, data, list(case.truth))
        count("as given", held(found, case.truth))
        if noise != "white":
            count("for independent noise", held(found, case.truth, *independent(found)))
        if noise == "ar":
            count("whitened", held(pl.fit(system, data, list(case.truth), noise="ar"), case.truth))
    return counts


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fits", type=int, default=200)
    parser.add_argument("--noise", choices=("white", "ar", "drift"), default="white")
    parser.add_argument("--only", choices=tuple(CASES))
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    every: dict[str, dict[str, list[int]]] = {}
    for name, case in CASES.items():
        if options.only not in (None, name):
            continue
        began = clock.perf_counter()
        every[name] = coverage(case, options.fits, options.noise)
        for kind, (hits, total) in every[name].items():
            print(f"{name:<16}{kind:<24}{hits:>5} of {total:<5}{100.0 * hits / total:6.1f} %", flush=True)
        print(f"{'':<16}{clock.perf_counter() - began:.0f} s")
    for kind in dict.fromkeys(kind for counts in every.values() for kind in counts):
        hits, total = (sum(counts[kind][k] for counts in every.values()) for k in (0, 1))
        low, high = binom.interval(0.99, total, LEVEL)
        chance = f"{100.0 * low / total:.1f} to {100.0 * high / total:.1f} %"
        print(f"all: {kind}: {100.0 * hits / total:.2f} % of {total}; by chance {chance}")
    if options.json is not None:
        options.json.write_text(json.dumps(every, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
