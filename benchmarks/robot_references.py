"""Accelerations of the six-axis robot of the tests at random states, by Pinocchio (URDF) and MuJoCo (MJCF).

    python benchmarks/robot_references.py

Both run in environments of their own, made on first use beside this file. Writes tests/exchange/data/six_axis.npz, which
tests/exchange/test_six_axis.py compares with pliant's.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from peer_environments import ask

DATA = Path(__file__).parents[1] / "tests" / "exchange" / "data"
STATES, AXES = 1000, 6
DAMPING = np.array([0.5, 0.4, 0.3, 0.2, 0.1, 0.05])  # N m s/rad, of the URDF, which Pinocchio leaves to its user

Floats = NDArray[np.float64]


def states() -> tuple[Floats, Floats]:
    """Angles all around, and rates."""
    rng = np.random.default_rng(38)
    return rng.uniform(-np.pi, np.pi, (STATES, AXES)), rng.normal(scale=2.0, size=(STATES, AXES))


STRENGTHS = 20.0 / np.arange(1, AXES + 1) ** 3  # N m


def efforts(q: Floats, v: Floats) -> Floats:
    """Torques of drives, N m: any function of the state."""
    return STRENGTHS * (np.sin(q + np.arange(AXES)) - 0.1 * np.roll(v, -1, axis=1))


def main() -> None:
    q, v = states()
    torque, found = efforts(q, v), {}
    for peer, package, file, effort in (("pinocchio", "pin", "six_axis.urdf", torque - DAMPING * v),
                                        ("mujoco", "mujoco", "six_axis.xml", torque)):  # fmt: skip
        job = {"file": str(DATA / file), "q": q.tolist(), "v": v.tolist(), "effort": effort.tolist()}
        answer = ask(f"robot_{peer}.py", job, package)
        found |= {peer: np.array(answer["accelerations"]), f"{peer}_version": np.array(answer["version"])}
    np.savez(DATA / "six_axis.npz", q=q, v=v, **found)
    print({name: str(value) for name, value in found.items() if name.endswith("version")})


if __name__ == "__main__":
    main()
