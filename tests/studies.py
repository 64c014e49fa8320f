"""What the tests of all published studies do: run the command, look at the files it wrote, and compare them with docs/systems."""

from __future__ import annotations

import json
import re
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from typer.testing import CliRunner

from pliant.cli import app


def reproduce(name: str, out: Path) -> tuple[Path, str, dict[str, Any]]:
    """The whole command, into a new folder: that folder, what was printed, the summary."""
    done = CliRunner().invoke(app, ["reproduce", name, "--out", str(out)])
    assert done.exit_code == 0, (done.output, done.stderr, done.exc_info)
    return out, done.stdout, json.loads((out / "summary.json").read_text())


def check_files(out: Path, cases: list[str], figures: list[str], tables: list[str]) -> None:
    """One result a case, one picture a figure, one CSV a table, the summary, and nothing else."""
    results = {f"{case.replace('/', '-')}.nc" for case in cases}
    written = {*(f"{figure}.png" for figure in figures), *(f"{table}.csv" for table in tables)}
    assert {path.name for path in out.iterdir()} == {"summary.json", *results, *written}
    for figure in figures:
        assert (out / f"{figure}.png").read_bytes().startswith(b"\x89PNG")
        assert (out / f"{figure}.png").stat().st_size > 20_000


DOCS = Path(__file__).parents[1] / "docs"
REMAKE = "is not what `pliant reproduce` gives: run `python docs/make_systems.py`"
NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:,\d{3})*(?:\.\d+)?(?:e[-+]?\d+)?(?![\w.])")
SAME = 0.05  # relative: what step counts and rounded numbers may differ by on another processor
GROWN = 0.67  # likewise of errors of the energy balance, which chaotic runs let grow: a factor of three
ROUND_OFF = 1e-5  # numbers below this, all of them errors in relative or SI units, need not agree
BLOCK = 8  # pixels: pictures are compared in squares, because fonts and edges differ with versions of matplotlib
UNLIKE, BLOCKS_UNLIKE = 40.0, 0.02  # levels of 255 by which a square may differ, and the share of squares that may differ by more
SHOWN, NEAR = 2e-4, 24  # share of pixels that makes a colour one of the picture's; levels within which it must be on the page
VIVID = 96  # levels between the components of a colour that a curve has; paler ones are edges and shadows


def check_page(name: str, out: Path, summary: dict[str, Any], varying: tuple[str, ...] = ()) -> None:
    """The committed page and its figures are those of this run, up to the tolerances above.

    varying: figures that show round-off or times of the computer. Numbers of claims that vary with either are not compared.
    """
    figures = sorted(out.glob("*.png"))
    made = make_systems()
    text, expected = (
        (DOCS / "systems" / f"{name}.md").read_text(),
        made.page(name, summary, [f.stem for f in figures], made.tables(out)),
    )
    (page, told), (wanted, telling) = _split(text), _split(expected)
    assert len(page) == len(wanted), f"docs/systems/{name}.md {REMAKE}"
    # a run just within the limits of one processor may be just beyond them on another
    warnings = [(told[run], telling[run]) for run in told.keys() & telling.keys()]
    for ours, theirs in [*zip(page, wanted, strict=True), *warnings]:
        same = GROWN if "energy balance is off" in ours else SAME
        assert alike(ours, theirs, same), f"docs/systems/{name}.md {REMAKE}\n{ours}\n{theirs}"
    assert sorted(path.name for path in (DOCS / "systems" / name).iterdir()) == [figure.name for figure in figures], REMAKE
    for figure in figures:
        check_picture(DOCS / "systems" / name / figure.name, made.picture(figure), figure.stem in varying)


def _split(page: str) -> tuple[list[str], dict[str, str]]:
    """(its lines without warnings, the warning of each run)"""
    before, _, rest = page.partition("## Warnings\n")
    warnings, _, after = rest.partition("## Figures\n")
    told = (line[2:].split(": ", 1) for line in warnings.splitlines() if line.startswith("- `"))
    return [*before.splitlines(), *(after if rest else "").splitlines()], {
        run: words for runs, words in told for run in runs.split(", ")
    }


def make_systems() -> Any:
    spec = spec_from_file_location("make_systems", DOCS / "make_systems.py")
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def alike(ours: str, theirs: str, same: float = SAME) -> bool:
    """Lines with the same words, and numbers that agree; of claims that vary, the claim, the paper's value and the verdict."""
    if "(varies with " in ours and "(varies with " in theirs:
        return [ours.split(" | ")[k] for k in (0, 1, -2)] == [theirs.split(" | ")[k] for k in (0, 1, -2)]
    numbers = [[float(text.replace(",", "")) for text in NUMBER.findall(line)] for line in (ours, theirs)]
    if NUMBER.sub("#", ours) != NUMBER.sub("#", theirs):
        return False
    return all(abs(a - b) <= same * max(abs(a), abs(b)) or max(abs(a), abs(b)) < ROUND_OFF for a, b in zip(*numbers, strict=True))


def check_picture(path: Path, fresh: Image.Image, varies: bool) -> None:
    with Image.open(path) as image:
        (ours, there), (theirs, wanted) = (_read(one.convert("RGB")) for one in (image, fresh))
    assert ours.shape == theirs.shape, f"{path} {REMAKE}"
    vivid = wanted[(np.ptp(wanted[:, 1:], axis=1) > VIVID) & (wanted[:, 0] > SHOWN * theirs[..., 0].size), 1:]
    missing = [colour for colour in vivid if np.min(np.max(np.abs(there[:, 1:] - colour), axis=1)) > NEAR]
    assert not missing, f"{path} {REMAKE}: the colours {missing} are not in it"
    apart = np.max(np.abs(_blocks(ours) - _blocks(theirs)), axis=2) > UNLIKE
    assert varies or np.mean(apart) < BLOCKS_UNLIKE, f"{path} {REMAKE}: {np.mean(apart):.1%} of it differs"


def _read(picture: Image.Image) -> tuple[np.ndarray, np.ndarray]:
    """(levels of its pixels, a row for each of its colours: how often it occurs, and its levels)"""
    colours = picture.getcolors(picture.width * picture.height)
    return np.asarray(picture, dtype=float), np.array([(count, *levels) for count, levels in colours], dtype=float)


def _blocks(picture: np.ndarray) -> np.ndarray:
    """Means of squares."""
    height, width = (size // BLOCK * BLOCK for size in picture.shape[:2])
    return picture[:height, :width].reshape(height // BLOCK, BLOCK, width // BLOCK, BLOCK, 3).mean(axis=(1, 3))
