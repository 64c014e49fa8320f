"""Random drops of solids on each other and on planes: contacts that long steps miss, what passes through, and energies.

    python benchmarks/drops.py [--drops 2000] [--processes N] [--scene "box on box" ...] [--json FILE]

The drops are divided among the scenes. In each, one body is thrown upon another one above a floor, in random poses and with random
velocities, which its seed decides; at the start they are apart. It runs twice: as it is, and with steps of at most a tenth of the
longest step of the first run. Both runs agree until chaos parts them: of the bodies' first contacts, none may be missed in the
first run. In neither may a body be deeper in another one, or in the floor, than where the law stores all energy of the drop; its
depth follows from the gaps and, of all bodies but beams, from shapes and poses alone. The energy that is not accounted for is set
against the largest.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing as mp
import os
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np
import overlap

import pliant as pl

LAW = pl.HuGuo(stiffness=1e7, restitution=0.5)
FRICTION = pl.Ambrosio(mu=0.4, v0=1e-4, v1=1e-3)
T_END = 0.8  # s
TOP, LOW = 0.5, 0.22  # m: heights of the two bodies at the start; of long ones the upper one is higher
APART = 1e-3  # m: the balls around both bodies, at the start
SPEED = 1.5  # m/s, downwards, of the upper one
FIRST = 3  # contacts of a drop that are compared: after them, chaos multiplies what steps differ by
SHARE = 0.1  # of the longest step

DIAMOND = 0.1 * np.vstack([np.eye(3), -np.eye(3)])
BOX, PLANK, ROD = (0.2, 0.15, 0.1), (0.4, 0.06, 0.03), 0.3  # m


@dataclass(frozen=True)
class Made:
    """A shape with its body."""

    shape: Callable[[Any], Any]
    body: Any
    ball: float  # m: the radius of a ball about its middle that holds it
    reach: overlap.Reach | None  # None: it bends
    middle: float = 0.0  # m: its distance from the root, along x


SHAPES = {
    "box": Made(lambda body: pl.Box(body.root, BOX), pl.RigidBody.box(BOX, 1.0), 0.135, overlap.box(BOX)),
    "plank": Made(lambda body: pl.Box(body.root, PLANK), pl.RigidBody.box(PLANK, 1.0), 0.203, overlap.box(PLANK)),
    "cylinder": Made(
        lambda body: pl.Cylinder(body.root, 0.06, 0.1), pl.RigidBody.cylinder(0.06, 0.1, 1.0), 0.079, overlap.cylinder(0.06, 0.1)
    ),
    "hull": Made(lambda body: pl.Hull(body.root, DIAMOND), pl.RigidBody.hull(DIAMOND, 1.0), 0.1, overlap.hull(DIAMOND)),
    "capsule": Made(
        lambda body: pl.Capsule(body.root, 0.15, 0.03),
        pl.RigidBody(mass=1.0, inertia=(6e-4, 3e-3, 3e-3), com=(0.075, 0.0, 0.0)),
        0.105, overlap.capsule(0.15, 0.03), 0.075,
    ),
    "ball": Made(
        lambda body: pl.Sphere(body.root, 0.05), pl.RigidBody(mass=1.0, inertia=(1e-3,) * 3), 0.05, overlap.capsule(0.0, 0.05)
    ),
    "rod": Made(
        lambda body: pl.Along(body, 0.01),
        pl.RigidBody(mass=1.0, inertia=(1e-4, 8e-3, 8e-3), com=(0.5 * ROD, 0.0, 0.0), tip=(ROD, 0.0, 0.0)),
        0.5 * ROD + 0.01, overlap.capsule(ROD, 0.01), 0.5 * ROD,
    ),
    "beam": Made(
        lambda body: pl.Along(body, 0.01, touches=3),
        pl.Beam(length=ROD, theory="euler-bernoulli", section=pl.Section.round(0.01), material=pl.ALUMINIUM,
                modes=[pl.Modes("ff", 2)], damping=pl.KelvinVoigt(1e7)),
        0.5 * ROD + 0.01, None, 0.5 * ROD,
    ),
}  # fmt: skip
ON_FLOOR = ("box", "plank", "cylinder", "hull", "capsule", "rod", "beam")
ON_EACH_OTHER = (
    ("box", "box"), ("plank", "box"), ("plank", "plank"), ("capsule", "box"), ("capsule", "cylinder"), ("capsule", "capsule"),
    ("cylinder", "box"), ("cylinder", "plank"), ("plank", "cylinder"), ("cylinder", "cylinder"),
    ("ball", "box"), ("ball", "cylinder"), ("ball", "capsule"), ("rod", "box"), ("rod", "cylinder"), ("rod", "capsule"),
    ("rod", "ball"), ("rod", "rod"), ("beam", "box"), ("beam", "cylinder"), ("beam", "rod"), ("beam", "ball"),
)  # fmt: skip
SCENES: dict[str, tuple[str, str | None]] = {
    **{f"{name} on a plane": (name, None) for name in ON_FLOOR},
    **{f"{upper} on {lower}": (upper, lower) for upper, lower in ON_EACH_OTHER},
}


@dataclass(frozen=True)
class Drop:
    """What was found in one drop."""

    scene: str
    seed: int
    trouble: str  # of a run that did not end; empty otherwise
    contacts: int
    met: int  # contacts of the two bodies with each other
    missed: int
    deepest: float  # m
    allowed: float  # m: where the law stores all energy of the drop
    unseen: float  # m: of two bodies in each other, how much deeper their shapes are than their gaps
    ledger: float  # relative
    seconds: float

    @property
    def fails(self) -> list[str]:
        found = {"did not end": bool(self.trouble), "missed": self.missed > 0, "through": not self.deepest <= self.allowed,
                 "ledger": not self.ledger < 1e-6}  # fmt: skip
        return [name for name, failed in found.items() if failed]


def names_of(scene: str) -> list[str]:
    return [name for name in SCENES[scene] if name is not None]


def dropped(scene: str, seed: int) -> pl.System:
    """The mechanism of one drop."""
    random = np.random.default_rng([seed, *scene.encode()])
    system, shapes = pl.System("drop", gravity=(0, 0, -9.81)), []
    names = names_of(scene)
    for k, made in enumerate(SHAPES[name] for name in names):
        turn = random.normal(size=4)
        w, x, y, z = turn / np.linalg.norm(turn)
        along = np.array([1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + w * z), 2.0 * (x * z - w * y)])
        top = max(TOP, LOW + APART + sum(SHAPES[name].ball for name in names) if len(names) == 2 else TOP)
        centre = (0.0, 0.0, top) if k == 0 else (*random.uniform(-0.03, 0.03, 2), LOW)
        place = tuple(np.array(centre) - made.middle * along)
        velocity = random.normal((0.0, 0.0, -SPEED), 0.3, 3) if k == 0 else np.zeros(3)
        spin = tuple(random.normal(0.0, 3.0, 3))
        joint = pl.Free(position=place, velocity=tuple(velocity), orientation=(w, x, y, z), angular_velocity=spin)
        shapes.append(made.shape(system.add("ab"[k], made.body, joint=joint)))
    laws: dict[str, Any] = {"normal": LAW, "friction": FRICTION}
    system.contact(points=shapes, against=pl.Plane(normal="z"), name="floor", **laws)
    if len(shapes) == 2:
        system.contact(points=shapes[0], against=shapes[1], name="each", **laws)
    return system


def try_out(scene: str, seed: int) -> Drop:
    """Both runs of one drop."""
    began, system = time.perf_counter(), dropped(scene, seed)
    try:
        plain = pl.simulate(system, T_END, save=1e-3)
        longest = SHARE * plain.stats["largest_step_s"]
        fine = pl.simulate(system, T_END, save=1e-3, method=pl.Auto(rtol=1e-9, atol=1e-12, max_step=longest))
    except pl.PliantError as trouble:
        return Drop(scene, seed, str(trouble), 0, 0, 0, 0.0, 0.0, 0.0, 0.0, time.perf_counter() - began)
    runs = (plain, fine)
    deep = [depths(scene, run) for run in runs]
    return Drop(
        scene, seed,
        trouble=next((run.message for run in runs if not run.ok), ""),
        contacts=len(plain.contacts),
        met=sum(record.pair.startswith("each ") for record in plain.contacts),
        missed=missed(plain, fine),
        deepest=max(deepest for deepest, _ in deep),
        allowed=min(allowed(run) for run in runs),
        unseen=max(unseen for _, unseen in deep),
        ledger=max(run.ledger.relative_error_max for run in runs),
        seconds=time.perf_counter() - began,
    )  # fmt: skip


def depths(scene: str, run: Any) -> tuple[float, float]:
    """The largest depth of a body in another one or in the floor, and by how much shapes were deeper in each other than gaps, m."""
    gaps, shapes = run.values["gap"], [SHAPES[name].reach for name in names_of(scene)]
    places, turns = run.values["root_position"], run.values["orientation"]
    below = [-gaps.min()]
    for k, shape in enumerate(shapes):
        if shape is not None:
            below.append(overlap.reached(shape, places[:, k], turns[:, k], np.full((len(gaps), 1, 3), (0.0, 0.0, -1.0))).max())
    if len(shapes) < 2 or None in shapes:
        return float(max(below)), 0.0
    each = [str(name).startswith("each ") for name in run.data["gap"].pair.values]
    mutual = overlap.depths((shapes[0], shapes[1]), places, turns)
    return float(max(*below, mutual.max())), float(np.max(mutual - np.maximum(-gaps[:, each].min(axis=1), 0.0), initial=0.0))


def allowed(run: Any) -> float:
    """The depth at which the law stores all that the energy at the start exceeds the least potential energy of gravity by, m."""
    energy = run.values["kinetic"][0] + run.values["gravity"][0] - run.values["gravity"].min()
    depths = np.linspace(0.0, 0.1, 100_001)
    return float(np.interp(energy, LAW.stored(depths), depths))


def missed(plain: Any, fine: Any) -> int:
    """How many of the first contacts of the run with short steps the other one does not have: none of the pair at the same time.

    Contacts are the same if they overlap: their times differ by what the tolerance of the first run has become by then.
    """

    def overlap_in_time(one: Any, other: Any) -> bool:
        return not (one.end < other.begin or other.end < one.begin)  # an end that is still to come is nan

    return sum(not any(own.pair == record.pair and overlap_in_time(own, record) for own in plain.contacts)
               for record in fine.contacts[:FIRST])  # fmt: skip


def rows(drops: list[Drop]) -> list[dict[str, Any]]:
    """What was found, scene by scene, and in all."""
    by_scene = {scene: [drop for drop in drops if drop.scene == scene] for scene in SCENES}
    return [
        {
            "scene": scene, "drops": len(own), "contacts": sum(drop.contacts for drop in own), "met": sum(drop.met for drop in own),
            "missed": sum(drop.missed for drop in own), "through": sum("through" in drop.fails for drop in own),
            "did not end": sum("did not end" in drop.fails for drop in own), "deepest_m": max(drop.deepest for drop in own),
            "allowed_m": min(drop.allowed for drop in own),
            "unseen_m": max(drop.unseen for drop in own),
            "ledger": max(drop.ledger for drop in own), "seconds": sum(drop.seconds for drop in own),
        }
        for scene, own in {**by_scene, "all": drops}.items() if own
    ]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--drops", type=int, default=2000)
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--scene", nargs="*", choices=SCENES, default=list(SCENES))
    parser.add_argument("--seed", type=int, default=0, help="of the first drop of every scene")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    counts = [options.drops // len(options.scene) + (k < options.drops % len(options.scene)) for k in range(len(options.scene))]
    drops: list[Drop] = []
    with mp.get_context("spawn").Pool(options.processes, maxtasksperchild=50) as pool:
        jobs = [pair for scene, count in zip(options.scene, counts, strict=True)
                for pair in zip(repeat(scene), range(options.seed, options.seed + count))]  # fmt: skip
        for drop in pool.imap_unordered(one, jobs):
            drops.append(drop)
            if drop.fails:
                print(f"{drop.scene}, seed {drop.seed}: {', '.join(drop.fails)}: {drop}", flush=True)
            if options.json:
                found = {"pliant": pl.__version__, "rows": rows(drops), "drops": [asdict(drop) for drop in drops]}
                options.json.write_text(json.dumps(found, indent=1))
    for row in rows(drops):
        print("  ".join(f"{name} {value:.3g}" if isinstance(value, float) else f"{name} {value}" for name, value in row.items()))
    sys.exit(any(drop.fails for drop in drops))


def one(job: tuple[str, int]) -> Drop:
    return try_out(*job)


if __name__ == "__main__":
    main()
