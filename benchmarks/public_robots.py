"""Accelerations of public robots at random states beside those of Pinocchio.

    pip download --no-deps example-robot-data && unzip -q example_robot_data*.whl -d robots
    python benchmarks/public_robots.py robots

Reads every URDF file of a folder, inertias repaired and limits left out. Friction, damping and mimic joints are taken out of both
sides' files, because Pinocchio leaves them to its user. Prints the largest error of each file, of its largest acceleration, and why
a file was not read or compared.
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from peer_environments import ask

import pliant as pl
from pliant.trace.tracing import trace

STATES = 3
LARGEST = 70  # joints
BESIDE = re.compile(r"<(dynamics|mimic)\b[^>]*(/>|>.*?</\1>)", re.DOTALL)


def compared(file: Path, folder: Path) -> str:
    """What is to be said of a file."""
    plain = folder / "robot.urdf"
    plain.write_text(BESIDE.sub("", file.read_text(encoding="utf-8", errors="replace")), encoding="utf-8")
    pl.read_urdf(file, repair=True, stops=False)
    robot = pl.read_urdf(plain, repair=True, stops=False)
    joints = list(robot.coordinates)
    if not joints or len(joints) > LARGEST or robot.degrees_of_freedom != len(joints):
        return f"read, {robot.degrees_of_freedom} degrees of freedom"
    traced, rng = trace(robot), np.random.default_rng(1)
    order = [list(traced.tree.rates).index(name) for name in robot.coordinates.values()]
    q, v = rng.uniform(-1.0, 1.0, (STATES, len(order))), rng.normal(size=(STATES, len(order)))
    found = [_accelerations(traced, a, b)[order] for a, b in zip(q, v, strict=True)]
    job: dict[str, Any] = {"file": str(plain), "joints": joints, "q": q[:, order].tolist(), "v": v[:, order].tolist(),
                           "effort": np.zeros_like(q).tolist()}  # fmt: skip
    theirs = np.array(ask("robot_pinocchio.py", job, "pin")["accelerations"])
    size = np.max(np.abs(theirs), axis=1, keepdims=True)
    if np.max(size) < 1e-9:
        return "read, at rest"
    return f"{np.max(np.abs(found - theirs) / size):.1e} of {len(joints)} joints"


def _accelerations(traced: Any, q: Any, v: Any) -> Any:
    y = np.concatenate([q, v, np.zeros(len(traced.sources))])
    return np.array(traced.rhs(0.0, y, traced.parameters(0.0, 1.0))).ravel()[len(q) : 2 * len(q)]


def main(top: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for file in sorted(Path(top).rglob("*.urdf")):
            try:
                words = compared(file, Path(folder))
            except (pl.ModelError, pl.SolveError, RuntimeError) as trouble:
                words = str(trouble).splitlines()[0][:300]
            print(f"{file.relative_to(top)}: {words}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
