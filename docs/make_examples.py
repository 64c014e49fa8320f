"""Runs every example and keeps its picture under docs/pictures/examples: python docs/make_examples.py"""

from __future__ import annotations

import os
import runpy
import shutil
import tempfile
from pathlib import Path

TOP = Path(__file__).parents[1]


def main() -> None:
    target = TOP / "docs" / "pictures" / "examples"
    target.mkdir(parents=True, exist_ok=True)
    for example in sorted((TOP / "examples").glob("*.py")):
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            runpy.run_path(str(example), run_name="__main__")
            os.chdir(TOP)
            shutil.copy(Path(folder) / f"{example.stem}.png", target)


if __name__ == "__main__":
    main()
