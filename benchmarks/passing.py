"""Do bodies pass through each other? Stacks of spheres, Newton's cradles, spheres laid on spheres, by every method.

Everything starts where a search for events is easiest to mislead: gaps of exactly zero, or of a unit of round-off, at rest.

    python benchmarks/passing.py [--quick] [--json FILE]
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import time
from pathlib import Path

import numpy as np

import pliant as pl
from pliant.integrate.methods.method import METHODS, RK4, Auto, RealTime, TwoLoop
from pliant.results.state import LAYOUT, FinalState
from pliant.run.prepare import Compiled, compile_system

RADIUS = 0.1  # m
DEEPEST = 0.2 * RADIUS  # m: deeper than any of these contacts gets when it is seen
STACKS = (2, 5, 10, 30)
BALLS = tuple(range(2, 11))
GAPS = (0.0, 1e-3)  # m, between the balls of a cradle
TOLERANCES = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10)
FALLS_SLOWLY = 0.3  # s, of a run


def stack(n: int) -> pl.System:
    """Spheres one on top of the other, all just touching."""
    system = pl.System(f"stack of {n}", gravity=(0, -9.81))
    balls = [
        system.add(f"b{k}", pl.RigidBody(mass=1.0, inertia=0.004), joint=pl.Planar(position=(0.0, RADIUS + 2 * RADIUS * k)))
        for k in range(n)
    ]
    law = pl.HuGuo(stiffness=1e8, restitution=0.8)
    system.contact(points=pl.Sphere(balls[0].root, RADIUS), against=pl.Plane(normal=(0, 1)), normal=law, name="ground")
    for below, above in itertools.pairwise(balls):
        system.contact(points=pl.Sphere(above.root, RADIUS), against=pl.Sphere(below.root, RADIUS), normal=law, name="on")
    return system


def cradle(n: int, gap: float, radius: float = RADIUS) -> pl.System:
    """Balls on rods side by side; the first is let go from the side."""
    system = pl.System(f"cradle of {n}", gravity=(0, -9.81))
    rod = pl.RigidBody(mass=1.0, com=(0.0, -1.0, 0.0), inertia=0.4 * radius**2, tip=(0.0, -1.0, 0.0))
    pivots = [system.ground.moved(((2 * radius + gap) * k, 0)) for k in range(n)]
    balls = [system.add(f"b{k}", rod, joint=pl.Revolute(angle=0.0 if k else -0.3), on=pivot) for k, pivot in enumerate(pivots)]
    for left, right in itertools.pairwise(balls):
        spheres = pl.Sphere(left.tip, radius), pl.Sphere(right.tip, radius)
        system.contact(points=spheres[0], against=spheres[1], normal=pl.HuGuo(stiffness=1e9, restitution=0.95), name="hits")
    return system


def deepest(result: pl.Result) -> float:
    """How far any two bodies are inside each other at any row, m."""
    return float(-np.min(result.values["gap"], initial=0.0))


def order_kept(result: pl.Result, n: int) -> bool:
    """No ball of a cradle is on the far side of its neighbour."""
    x = result.values["tip_position"][:, :, 0]
    return bool(np.all(np.diff(x, axis=1) > 2 * RADIUS - DEEPEST)) and x.shape[1] == n


def method_of(kind: type, rtol: float) -> pl.integrate.Method:
    return RK4(step=2e-5) if kind is RK4 else kind(rtol=rtol, atol=1e-3 * rtol)


def laid(compiled: Compiled, rng: np.random.Generator) -> FinalState:
    """One sphere on the ground and one laid on it at some angle, touching to round-off, at rest or nearly so."""
    angle, side, turn = rng.uniform(0.0, 0.5 * math.pi), rng.choice((-1.0, 1.0)), rng.uniform(-math.pi, math.pi, 2)
    x = rng.uniform(-3.0, 3.0)
    above = x + side * 2 * RADIUS * math.sin(angle), RADIUS + 2 * RADIUS * math.cos(angle)
    rates = rng.choice((0.0, 1e-17, -1e-17, 1e-16, -1e-16), 6)
    labels = {name: compiled.traced.columns[name] for name in LAYOUT}
    y = np.zeros(compiled.traced.y0.size)
    y[:12] = [x, RADIUS, turn[0], *above, turn[1], *rates]
    return FinalState(0.0, y, {}, labels)


def stacks(sizes: tuple[int, ...] = STACKS) -> dict[str, object]:
    passed = []
    for n in sizes:
        result = pl.simulate(stack(n), FALLS_SLOWLY)
        if not result.ok or deepest(result) > DEEPEST:
            passed.append([n, result.message, deepest(result)])
    return {"runs": len(sizes), "passed": passed}


def cradles(
    sizes: tuple[int, ...] = BALLS, kinds: tuple[type, ...] | None = None, tolerances: tuple[float, ...] = TOLERANCES
) -> dict[str, object]:
    passed, runs = [], 0
    kinds = tuple(kind for kind in METHODS if kind not in (RealTime, TwoLoop)) if kinds is None else kinds
    for n, gap in itertools.product(sizes, GAPS):
        system = cradle(n, gap)
        plain = compile_system(system)
        for kind, rtol in itertools.product(kinds, (1e-6,) if kinds == (RK4,) else tolerances):
            method = method_of(kind, rtol)
            result = pl.simulate(plain if method.near is None else system, 0.8, method=method, save=2e-3)
            runs += 1
            if not result.ok or not order_kept(result, n):
                passed.append([n, gap, kind.__name__, rtol, result.message])
    return {"runs": runs, "passed": passed}


def balls_on_balls(starts: int = 1000, seed: int = 0) -> dict[str, object]:
    compiled, rng, passed = compile_system(stack(2)), np.random.default_rng(seed), []
    for k in range(starts):
        result = pl.simulate(compiled, 0.5, start=laid(compiled, rng), method=Auto(rtol=1e-6, atol=1e-9), save=1e-2)
        if not result.ok or deepest(result) > DEEPEST:
            passed.append([k, result.message, deepest(result)])
    return {"runs": starts, "passed": passed}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--quick", action="store_true", help="a tenth of it")
    options.add_argument("--json", type=Path)
    asked = options.parse_args()
    studies = {
        "stacks": lambda: stacks(STACKS[:2] if asked.quick else STACKS),
        "balls_on_balls": lambda: balls_on_balls(100 if asked.quick else 1000),
        "cradles": lambda: cradles(BALLS[::4], tolerances=TOLERANCES[::3]) if asked.quick else cradles(),
    }
    found: dict[str, object] = {}
    for name, study in studies.items():
        began = time.perf_counter()
        found[name] = {**study(), "seconds": round(time.perf_counter() - began, 1)}
        print(name, found[name], flush=True)
    if asked.json:
        asked.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
