"""A user's own contact law, one line of Python, beside the built-in one: the falling chain with each, warm, best of several.

    python benchmarks/custom_law.py [runs]

Both are formulas that are traced and compiled, so both should take the same time: the promise is within 1.1 times.
"""

from __future__ import annotations

import sys

import pliant as pl
from pliant.gallery.falling_chain.system import FRICTION, RESTITUTION, STIFFNESS, T_END, V0, V1, falling_chain
from pliant.model.contact import Plane
from pliant.model.normal_law import CustomNormal

METHOD = pl.RKF45(rtol=1e-9, atol=1e-12)
C = 1.5 * (1.0 - RESTITUTION) / RESTITUTION


def own_normal(depth, rate, entry_speed):
    return STIFFNESS * depth**1.5 * (1.0 + C * rate / entry_speed)


def own_friction(speed, normal):
    return FRICTION * normal * pl.minimum(pl.maximum((speed - V0) / (V1 - V0), 0.0), 1.0)


own_friction.switches = (V0, V1)  # its corners, so that the run locates them as it does Ambrosio's


def chain(own: bool) -> pl.System:
    system = falling_chain()
    if own:
        system.contacts.clear()
        law = CustomNormal(own_normal, energy=lambda depth: STIFFNESS / 2.5 * depth**2.5)
        system.contact(points=system.ends(), against=Plane(normal=(0, 1)), normal=law, friction=own_friction, name="ground")
    return system


def main(runs: int = 20) -> None:
    compiled = {"built in": pl.compile_system(chain(False)), "own": pl.compile_system(chain(True))}
    best: dict[str, float] = {}
    results = {}
    for _ in range(runs):  # by turns, so that a busy machine is busy for both
        for name, code in compiled.items():
            results[name] = pl.simulate(code, T_END, method=METHOD)
            best[name] = min(best.get(name, float("inf")), results[name].stats["wall_s"])
    print(f"{'law':<10}{'operations':>12}{'evaluations':>14}{'best, ms':>12}{'us/evaluation':>16}{'touches':>10}")
    for name, result in results.items():
        evaluations = result.stats["rhs_evaluations"]
        print(f"{name:<10}{result.stats['operations']:>12}{evaluations:>14}{best[name] * 1e3:>12.2f}"
              f"{best[name] / evaluations * 1e6:>16.3f}{len(result.contacts):>10}")  # fmt: skip
    print(f"own/built in: {best['own'] / best['built in']:.3f} (promised: 1.1)")


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
