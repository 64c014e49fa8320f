"""What is made of files in which one bit is flipped: read in a process of its own, because HDF5 may die of one."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

SCRIPT = """
import sys
from pathlib import Path
{imports}

def read(path):
    {read}

path, good, first = Path(sys.argv[1]), Path(sys.argv[2]).read_bytes(), int(sys.argv[3])
path.write_bytes(good)
whole = read(path)
for k, (place, bit) in enumerate({places}[first:], first):
    bad = bytearray(good)
    bad[place] ^= 1 << bit
    path.write_bytes(bad)
    try:
        end = "same" if read(path) == whole else "unnoticed"
    except ModelError:
        end = "refused"
    print(k, end, flush=True)
"""


def outcomes(file: Path, imports: str, read: str, count: int = 48) -> Sequence[str]:
    """How `read`, the body of a function of `path`, ends for every flipped bit: "refused", "same", "unnoticed" or "died"."""
    rng = random.Random(25)
    used = [place for place, byte in enumerate(file.read_bytes()) if byte]  # much of a file is empty
    places = [(used[int((k + rng.random()) * len(used) / count)], rng.randrange(8)) for k in range(count)]
    good = file.with_suffix(".good")
    good.write_bytes(file.read_bytes())
    script = SCRIPT.format(imports=imports, read=read, places=places)
    ends: list[str] = []
    while len(ends) < count:
        command = [sys.executable, "-c", script, str(file), str(good), str(len(ends))]
        run = subprocess.run(command, capture_output=True, text=True, timeout=120)
        ends += [line.split()[1] for line in run.stdout.splitlines()]
        assert run.returncode <= 0, run.stderr
        ends += ["died"] * (run.returncode < 0)
    file.write_bytes(good.read_bytes())
    good.unlink()
    return ends
