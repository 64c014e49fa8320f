"""A real cube: fitted to 60 of 300 measured tosses, tried on the other 240, beside MuJoCo tuned on the same 60 with the same loss.

    python benchmarks/cube_tosses.py [--data FILE.npz] [--parts fit laws halves mujoco] [--json FILE]

fit: five unknowns, and the errors on the other tosses. laws: the same with other contact laws, on 12 of the 60 tosses. halves: ten
random splits of the 60 into two halves; what their fits differ by, over what standard errors of independent rows, and those that
`pl.fit` gives (from the scatter between tosses), say, and how often that is within its 95 %. mujoco: elliptic cones, several kinds
of solref; each of its five numbers found by Nelder and Mead. MuJoCo runs in an environment of its own (peer_environments.py). Every
part writes what it found to the JSON file at once.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from peer_environments import ask
from scipy.stats import t

import pliant as pl

TOP = Path(__file__).parents[1]
sys.path.insert(0, str(TOP / "examples"))
import cube_toss as example  # noqa: E402

FITTED, ORDER = 60, 0  # tosses, and the seed of their order
LAWS: dict[str, tuple[Callable[..., Any], Callable[..., Any], float]] = {
    "Exact, Coulomb 1 cm/s": (example.exact, example.coulomb, 1e6),
    "Hunt and Crossley": (lambda k, e: pl.HuntCrossley(stiffness=k, restitution=e), example.coulomb, 1e6),
    "Flores": (lambda k, e: pl.Flores(stiffness=k, restitution=e), example.coulomb, 1e6),
    "linear": (lambda k, e: pl.Linear(stiffness=k, restitution=e, mass=0.3 * example.MASS), example.coulomb, 3e4),
    "Coulomb 1 mm/s": (example.exact, lambda mu: pl.Coulomb(mu=mu, transition=1e-3), 1e6),
    "Coulomb 5 cm/s": (example.exact, lambda mu: pl.Coulomb(mu=mu, transition=5e-2), 1e6),
}


def standard_errors(found: pl.Fit) -> dict[str, dict[str, float]]:
    """by_row: of independent rows; by_toss: the fit's own, with their degrees of freedom."""
    numbers = {"by_row": np.sqrt(np.diag(found.scatter.independent)), "freedom": found.scatter.freedom}
    named = {kind: dict(zip(found.names, own.tolist(), strict=True)) for kind, own in numbers.items()}
    return {**named, "by_toss": dict(found.standard_errors)}


def found_by(system: pl.System, tosses: list[Any], values: dict[str, float] | None = None) -> tuple[pl.Fit, dict[str, Any]]:
    """A fit in three rounds; with values, in one round that begins with them."""
    began, wall = time.process_time(), time.perf_counter()
    if values is None:
        found = example.fit(system, tosses)
    else:
        counts = [example.together(toss, example.predicted(system, toss, values)) for toss in tosses]
        found = example.fit(system, tosses, guess=values, counts=counts, rounds=1)
    spent = time.process_time() - began, time.perf_counter() - wall
    loss = sum(example.loss(toss, example.predicted(system, toss, dict(found.values))) for toss in tosses)
    return found, {
        "values": dict(found.values), **standard_errors(found), "loss": loss, "ok": found.ok,
        "message": found.message, "processor_s": spent[0], "wall_s": spent[1],
    }  # fmt: skip


def tried_on(system: pl.System, tosses: list[Any], values: dict[str, float]) -> dict[str, tuple[float, float]]:
    ready = pl.compile_system(system)
    return example.summary([example.errors(toss, example.predicted(ready, toss, values)) for toss in tosses])


def fit(fitted: list[Any], others: list[Any], told_before: dict[str, Any]) -> dict[str, Any]:
    found, told = found_by(example.cube(), fitted)
    print(told, flush=True)
    published = {"mu": 0.18, "e": 0.125, "stiffness": found.values["stiffness"], "height": found.values["height"]}
    return {**told, "errors": tried_on(example.cube(), others, dict(found.values)),
            "published": tried_on(example.cube(), others, published)}  # fmt: skip


def laws(fitted: list[Any], others: list[Any], told_before: dict[str, Any]) -> dict[str, Any]:
    told = {}
    for name, (normal, friction, stiffness) in LAWS.items():
        system = example.cube(normal, friction, stiffness)
        found, told[name] = found_by(system, fitted[: FITTED // 5])
        told[name]["errors"] = tried_on(system, others, dict(found.values))
        print(name, told[name], flush=True)
    return told


def halves(fitted: list[Any], others: list[Any], told_before: dict[str, Any]) -> dict[str, Any]:
    told, system, random = [], example.cube(), np.random.default_rng(1)
    values = told_before["fit"]["values"] if "fit" in told_before else dict(found_by(system, fitted)[0].values)
    for _ in range(10):
        order = random.permutation(len(fitted))
        pair = [found_by(system, [fitted[k] for k in half], values)[1] for half in np.split(order, 2)]
        told.append(pair)
        print(json.dumps(pair), flush=True)
    return {"pairs": told, "away": {kind: {name: [_away(pair, name, kind) for pair in told] for name in example.FREE}
                                    for kind in ("by_row", "by_toss")},
            "within_95": {name: sum(_within(pair, name) for pair in told) for name in example.FREE}}  # fmt: skip


def _away(pair: list[dict[str, Any]], name: str, kind: str) -> float:
    """The difference of two halves over its standard error."""
    first, second = pair
    return float((first["values"][name] - second["values"][name]) / np.hypot(first[kind][name], second[kind][name]))


def _within(pair: list[dict[str, Any]], name: str) -> bool:
    """Whether it is within 95 % of Student's distribution, with Welch's degrees of freedom."""
    variances = np.array([one["by_toss"][name] ** 2 for one in pair])
    freedom = np.sum(variances) ** 2 / np.sum(variances**2 / np.array([one["freedom"][name] for one in pair]))
    return bool(abs(_away(pair, name, "by_toss")) < t.ppf(0.975, freedom))


def mujoco(fitted: list[Any], others: list[Any], told_before: dict[str, Any]) -> dict[str, Any]:
    def plain(tosses: list[Any]) -> list[dict[str, Any]]:
        return [{"start": list(toss.start.values()), "rows": toss.rows[:, :7].tolist()} for toss in tosses]

    job = {"fitted": plain(fitted), "others": plain(others), "half": example.HALF, "mass": example.MASS, "step": example.STEP,
           "weights": list(example.WEIGHTS.values()), "parted": example.PARTED, "inertia": example.INERTIA}  # fmt: skip
    told = ask("cube_mujoco.py", job, "mujoco", "scipy")
    for one in told["found"].values():
        rows = [np.array(own) for own in one.pop("rows")]
        one["errors"] = example.summary([example.errors(toss, own) for toss, own in zip(others, rows, strict=True)])
    return told


PARTS = {part.__name__: part for part in (fit, laws, mujoco, halves)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=TOP / "examples" / "data" / "cube_tosses.npz")
    parser.add_argument("--parts", nargs="*", choices=PARTS, default=list(PARTS))
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    every = example.tosses(given.data)
    order = np.random.default_rng(ORDER).permutation(len(every))
    fitted, others = ([every[k] for k in own] for own in (order[:FITTED], order[FITTED:]))
    told: dict[str, Any] = json.loads(given.json.read_text()) if given.json is not None and given.json.exists() else {}
    for name in given.parts:
        told[name] = PARTS[name](fitted, others, told)
        print(name, json.dumps(told[name], indent=1), flush=True)
        if given.json is not None:
            given.json.write_text(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    main()
