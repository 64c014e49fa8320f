"""Environments for the programs pliant is measured against: made on first use, apart from pliant's own."""

from __future__ import annotations

import json
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


def peer_python(package: str, *others: str) -> Path:
    """The interpreter of an environment that has `package` and what else it needs (and nothing of ours)."""
    folder = HERE / f".venv-{package}"
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    if not (folder / "ready").exists():
        print(f"installing {package} into {folder.name} ...", file=sys.stderr)
        venv.create(folder, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", package, *others], check=True, stdout=sys.stderr)
        (folder / "ready").touch()
    return python


def ask(script: str, job: dict[str, Any], package: str, *others: str) -> dict[str, Any]:
    """Run a script of this folder by a peer's interpreter: the job on its stdin, its answer on its stdout, both JSON."""
    command = [str(peer_python(package, *others)), str(HERE / script)]
    done = subprocess.run(command, input=json.dumps(job), capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{script} failed with code {done.returncode}:\n{done.stderr[-2000:]}")
    return dict(json.loads(done.stdout))
