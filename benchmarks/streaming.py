"""Rows written to a file while a run makes them: seconds, the largest memory, the file's size, and reading it lazily.

python benchmarks/streaming.py --rows 10000000 [--json out.json] [--compression 4]
"""

from __future__ import annotations

import argparse
import json
import resource
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import pliant as pl

KEPT = ("q", "v", "normal_force")
SPAN = 20.0  # s


def bouncing_arm() -> pl.System:
    """An elastic arm that falls on the ground again and again."""
    system = pl.System("bouncing arm", gravity=(0.0, -9.81))
    beam = pl.Beam(length=1.0, section=pl.Section.rectangle(0.02, 0.01), material=pl.STEEL, theory="euler-bernoulli",
                   modes=pl.Modes("cf", 2), damping=(pl.KelvinVoigt(2e7),))  # fmt: skip
    arm = system.add("arm", beam, joint=pl.Revolute(angle=0.3))
    law = pl.HuntCrossley(stiffness=1e7, exponent=1.5, restitution=0.7)
    system.contact(points=arm.tip, against=pl.Plane(normal=(0.0, 1.0), point=(0.0, -0.3)), normal=law, name="ground")
    return system


def largest_memory() -> float:
    """Of this process since it began, MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0


def measured(rows: int, target: Path, compression: int | None) -> dict[str, Any]:
    system = bouncing_arm()
    pl.simulate(system, 1e-3, to=target)  # compiled, and everything imported
    before, began = largest_memory(), time.perf_counter()
    result = pl.simulate(system, SPAN, save=pl.every(SPAN / (rows - 1)), keep=KEPT, to=target, compression=compression)
    seconds, after = time.perf_counter() - began, largest_memory()
    lazy = pl.Result.from_netcdf(target, lazy=True)
    middle, first = rows // 2, time.perf_counter()
    part = lazy.values["q"][middle : middle + 1000]
    reading = time.perf_counter() - first
    assert result.ok and len(result.time) == rows and part.shape[0] == 1000
    return {
        "rows": rows,
        "kept": list(KEPT),
        "numbers": rows * (1 + sum(int(np.prod(array.shape[1:])) for array in result.values.values())),
        "compression": compression,
        "seconds": seconds,
        "memory_before_MB": before,
        "memory_grown_MB": after - before,
        "memory_after_reading_MB": largest_memory(),
        "file_MB": target.stat().st_size / 1e6,
        "reading_1000_rows_s": reading,
        "touches": len(result.contacts),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10**7)
    parser.add_argument("--compression", type=int, default=None)
    parser.add_argument("--json", type=Path, default=None)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        numbers = measured(given.rows, Path(folder) / "run.nc", given.compression)
    for name, value in numbers.items():
        print(f"{name:<24} {value:.4g}" if isinstance(value, float) else f"{name:<24} {value}")
    if given.json is not None:
        given.json.write_text(json.dumps(numbers, indent=1))


if __name__ == "__main__":
    main()
