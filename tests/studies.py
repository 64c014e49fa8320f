"""What the tests of all published studies do: run the command, and look at the files it wrote."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from pliant.cli import app


def reproduce(name: str, out: Path) -> tuple[Path, str, dict[str, Any]]:
    """The whole command, into a new folder: that folder, what was printed, the summary."""
    done = CliRunner().invoke(app, ["reproduce", name, "--out", str(out)])
    assert done.exit_code == 0, done.output
    return out, done.stdout, json.loads((out / "summary.json").read_text())


def check_files(out: Path, cases: list[str], figures: list[str]) -> None:
    """One result a case, one picture a figure, the summary, and nothing else."""
    results = {f"{case.replace('/', '-')}.nc" for case in cases}
    assert {path.name for path in out.iterdir()} == {"summary.json", *results, *(f"{figure}.png" for figure in figures)}
    for figure in figures:
        assert (out / f"{figure}.png").read_bytes().startswith(b"\x89PNG")
        assert (out / f"{figure}.png").stat().st_size > 20_000
