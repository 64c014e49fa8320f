"""What contacts cost: pairs of round shapes alone, and spheres in a box beside MuJoCo, in one run on one core.

    python benchmarks/contacts.py [--json FILE] [--spheres 5 10 20 40 100] [--named 5 10 20] [--mujoco 5 10 20 40 100]
                                  [--seconds 300]

Per pair: what it adds to a right-hand side of two floating bodies, open and closed, and what one touch costs in a run of a body
that bounces on the other. Spheres: n in a box of six planes fall for 1 s, with `among=`, which looks at pairs that are near, and as
named pairs, all n (n - 1)/2 + 6 n of which are in the equations. A size that takes longer than --seconds of wall time is given up,
and so are larger ones.
Equal: masses, radii, starts, gravity, walls, no friction, 1 s, one core, seconds of processor time. Not equal: pliant's spheres are
elastic, restitution 0.8, and every touch is located and integrated to rtol 1e-6; MuJoCo's contacts are soft constraints, solved in
every step of 1 ms (its default is 2 ms).
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from peer_environments import ask
from recursion import microseconds

import pliant as pl
from pliant.codegen.llvm import compile_function
from pliant.dynamics.pairs import PAIRS
from pliant.trace.tracing import trace

LAW = pl.Hertz(stiffness=1e8)
BOUNCES = 1.0  # s
REPEATS = 5  # of a run, by turns; the fastest counts
# Shapes on frames: the second is at the origin, the first 1 cm from where it touches it, below the second or inside it.
EXAMPLES: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any], float]] = {
    "Point, Plane": (pl.Point, lambda at: pl.Plane(normal="y", on=at), 0.01),
    "Sphere, Plane": (lambda at: pl.Sphere(at, 0.02), lambda at: pl.Plane(normal="y", on=at), 0.03),
    "Point, Sphere": (pl.Point, lambda at: pl.Sphere(at, 0.05), 0.06),
    "Sphere, Point": (lambda at: pl.Sphere(at, 0.05), pl.Point, 0.06),
    "Sphere, Sphere": (lambda at: pl.Sphere(at, 0.03), lambda at: pl.Sphere(at, 0.04), 0.08),
    "Point, Bore": (pl.Point, lambda at: pl.Bore(at, 0.05), -0.04),
    "Sphere, Bore": (lambda at: pl.Sphere(at, 0.02), lambda at: pl.Bore(at, 0.06), -0.03),
    "Pin, Bore": (lambda at: pl.Pin(at, 0.02), lambda at: pl.Bore(at, 0.05), -0.02),
    "Point, Socket": (pl.Point, lambda at: pl.Socket(at, 0.05), -0.04),
    "Sphere, Socket": (lambda at: pl.Sphere(at, 0.02), lambda at: pl.Socket(at, 0.06), -0.03),
}
RADIUS, DENSITY = 0.05, 1000.0  # m, kg/m^3
TOP = 8.0  # height of the box, in half widths
STEP = 1e-3  # s, of MuJoCo
METHOD = pl.DOP853(rtol=1e-6, atol=1e-9)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--spheres", type=int, nargs="*", default=[5, 10, 20, 40, 100])
    parser.add_argument("--named", type=int, nargs="*", default=[5, 10, 20])
    parser.add_argument("--mujoco", type=int, nargs="*", default=[5, 10, 20, 40, 100])
    parser.add_argument("--seconds", type=float, default=300.0)
    options = parser.parse_args()
    found: dict[str, Any] = {"pairs": pairs(), "spheres": spheres(options.spheres, options.seconds, False)}
    found["named"] = spheres(options.named, options.seconds, True)
    if options.mujoco:
        starts = {str(n): start(n).tolist() for n in options.mujoco}
        job = {"starts": starts, "radius": RADIUS, "mass": mass(), "half": half_width(), "step": STEP, "seconds": BOUNCES}
        found["mujoco"] = ask("contacts_mujoco.py", job, "mujoco")
    show(found)
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


# ---- pairs


def pairs() -> dict[str, dict[str, float]]:
    """By pair: ns added to a right-hand side while open and while closed, and us of processor time per touch."""
    named = {f"{a.__name__}, {b.__name__}" for a, b in PAIRS}
    assert named >= set(EXAMPLES), f"EXAMPLES must be entries of PAIRS: {set(EXAMPLES) - named}"
    bare = right_hand_side(floating(None), 0.0)
    found = {}
    for name in EXAMPLES:
        opened, closed = (right_hand_side(floating(name), flag) - bare for flag in (0.0, 1.0))
        found[name] = {"open_ns": 1e3 * opened, "closed_ns": 1e3 * closed, **touch(name)}
    return found


def floating(name: str | None) -> pl.System:
    """Two bodies in space, with this pair between them."""
    system = pl.System("pair", gravity=(0, 0, -9.81))
    a, b = (system.add(body, pl.RigidBody(mass=1.0, inertia=(0.02, 0.03, 0.04)), joint=pl.Free()) for body in "ab")
    if name is not None:
        first, second, _ = EXAMPLES[name]
        system.contact(points=first(a.root.moved((0.1, 0.2, 0.3))), against=second(b.root), normal=LAW)
    return system


def right_hand_side(system: pl.System, closed: float) -> float:
    """Microseconds."""
    traced = trace(system)
    p = traced.parameters(0.0, 1.0)
    for slots in traced.pairs:
        p[slots.closed] = closed
    return microseconds(compile_function(traced.rhs, cache=None), p)


def touch(name: str) -> dict[str, float]:
    """What a touch costs: a body bounces without loss for 1 s; steps of the flight between two touches are included."""
    first, second, height = EXAMPLES[name]
    system = pl.System("bounces", gravity=(0, -9.81))
    body = system.add("a", pl.RigidBody(mass=1.0), joint=pl.Prismatic(displacement=height, axis="y"))
    system.contact(points=first(body.root), against=second(system.ground), normal=LAW)
    code, best, touches = pl.compile_system(system), math.inf, 0
    for _ in range(REPEATS):
        run = pl.simulate(code, BOUNCES, method=METHOD, save=[0.0, BOUNCES])
        best, touches = min(best, run.stats["wall_s"]), len(run.contacts)
    return {"touches": touches, "touch_us": 1e6 * best / touches}


# ---- spheres in a box


def mass() -> float:
    return DENSITY * 4.0 / 3.0 * math.pi * RADIUS**3


def half_width() -> float:
    """Of the box, m: five spheres with their gaps stand side by side."""
    return 2.5 * 2.6 * RADIUS


def start(n: int) -> np.ndarray:
    """(sphere, 6): places in layers of 4 by 4 with gaps, and speeds, of which the same n always has the same."""
    places = [(2.6 * RADIUS * (x - 1.5), 2.6 * RADIUS * (y - 1.5), 2.6 * RADIUS * (z + 0.6)) for z in range(n) for y in range(4)
              for x in range(4)][:n]  # fmt: skip
    return np.hstack([np.array(places), np.random.default_rng(n).uniform(-0.5, 0.5, (n, 3))])


def box(n: int, named: bool) -> pl.System:
    system = pl.System("spheres in a box", gravity=(0, 0, -9.81))
    inertia = (0.4 * mass() * RADIUS**2,) * 3
    law = pl.HuntCrossley(stiffness=1e6, restitution=0.8)
    balls = []
    for k, row in enumerate(start(n).tolist()):
        joint = pl.Free(position=row[:3], velocity=row[3:])
        balls.append(pl.Sphere(system.add(f"s{k}", pl.RigidBody(mass=mass(), inertia=inertia), joint=joint).root, RADIUS))
    half, planes = half_width(), []
    for axis in range(3):
        for side in (1.0, -1.0):
            normal = tuple(side * float(k == axis) for k in range(3))
            place = -side * half if axis < 2 else 0.0 if side > 0.0 else TOP * half
            point = tuple(place * float(k == axis) for k in range(3))
            planes.append(pl.Plane(normal=normal, point=point))
    if not named:
        system.contact(among=[*balls, *planes], normal=law, name="box")
        return system
    for k, plane in enumerate(planes):
        system.contact(points=balls, against=plane, normal=law, name=f"wall{k}")
    for k in range(n - 1):
        system.contact(points=balls[k + 1 :], against=balls[k], normal=law, name=f"with{k}")
    return system


def spheres(sizes: Sequence[int], seconds: float, named: bool) -> dict[str, Any]:
    """By number of spheres: pairs, seconds of preparing and running, touches; given up where a size takes too long."""
    found: dict[str, Any] = {}
    for n in sizes:
        here, there = multiprocessing.Pipe()
        child = multiprocessing.get_context("spawn").Process(target=_fall, args=(n, named, there))
        child.start()
        if not here.poll(seconds):
            child.terminate()
            found[str(n)] = {"pairs": n * (n - 1) // 2 + 6 * n, "given_up_after_s": seconds}
            break
        found[str(n)] = here.recv()
        child.join()
    return found


def _fall(n: int, named: bool, answer: Any) -> None:
    system = box(n, named)
    began = time.process_time()
    code = pl.compile_system(system, cache=False)
    prepared = time.process_time() - began
    began = time.process_time()
    run = pl.simulate(code, BOUNCES, method=METHOD, save=[0.0, BOUNCES], keep=["q", "v"])
    ran = time.process_time() - began
    count = n * (n - 1) // 2 + 6 * n
    answer.send({"pairs": count, "prepare_s": prepared, "run_s": ran, "loop_s": run.stats["wall_s"], "ok": run.ok,
                 "touches": len(run.contacts), "steps": run.stats["steps"], "rhs": run.stats["rhs_evaluations"],
                 "event_evaluations": run.stats["event_evaluations"],
                 "operations": run.stats["operations"]})  # fmt: skip


def show(found: dict[str, Any]) -> None:
    print(f"{'pair':<18}{'open, ns':>10}{'closed, ns':>12}{'us/touch':>10}{'touches':>9}")
    for name, one in found["pairs"].items():
        print(f"{name:<18}{one['open_ns']:>10.0f}{one['closed_ns']:>12.0f}{one['touch_us']:>10.1f}{one['touches']:>9}")
    for n, one in found.get("named", {}).items():
        took = f"prepare {one['prepare_s']:.1f} s, run {one['run_s']:.2f} s" if "run_s" in one else "given up"
        print(f"{n} spheres as {one['pairs']} named pairs: {took}")
    print(f"\n{'spheres':>7}{'pairs':>7}{'prepare, s':>12}{'run, s':>9}{'steps':>8}{'rhs':>9}{'events':>9}{'touches':>9}"
          f"{'MuJoCo, s':>11}{'contacts':>10}")  # fmt: skip
    theirs = found.get("mujoco", {}).get("spheres", {})
    for n in sorted({*found["spheres"], *theirs}, key=int):
        one, other = found["spheres"].get(n, {}), theirs.get(n)
        ours = (f"{one['pairs']:>7}{one['prepare_s']:>12.1f}{one['run_s']:>9.2f}{one['steps']:>8}"
                f"{one['rhs']:>9}{one['event_evaluations']:>9}{one['touches']:>9}" if "run_s" in one else
                f"{'given up' if one else '':>63}")  # fmt: skip
        print(f"{n:>7}{ours}" + (f"{other['run_s']:>11.3f}{other['contacts']:>10.1f}" if other else ""))


if __name__ == "__main__":
    main()
