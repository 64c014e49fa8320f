"""Environments for the programs pliant is measured against: made on first use, apart from pliant's own."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path


def peer_python(package: str) -> Path:
    """The interpreter of an environment that has `package` (and nothing of ours)."""
    folder = Path(__file__).parent / f".venv-{package}"
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    if not (folder / "ready").exists():
        print(f"installing {package} into {folder.name} ...", file=sys.stderr)
        venv.create(folder, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", package], check=True, stdout=sys.stderr)
        (folder / "ready").touch()
    return python
