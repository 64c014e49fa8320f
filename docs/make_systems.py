"""Writes docs/systems: one page per published system, its claims beside ours, what its runs warn of, and our figures.

    python docs/make_systems.py [--runs FOLDER] [NAME ...]

Runs `pliant reproduce` for each into FOLDER (kept, and used again where its summary.json is there). The tests in `tests/gallery`
compare what is committed with what `reproduce` gives, see `tests/studies.py`.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

from PIL import Image

from pliant.gallery.reproduction import REPRODUCTIONS, by_sentence, words

HERE = Path(__file__).parent / "systems"
WIDTH = 900  # pixels of a figure on a page
COLOURS = 256


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=list(REPRODUCTIONS))
    parser.add_argument("--runs", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        for name in options.names:
            write_page(name, (options.runs or Path(temporary)) / name)
    write_index()


def write_page(name: str, run: Path) -> None:
    summary = run / "summary.json"
    if not summary.exists():
        run.mkdir(parents=True, exist_ok=True)
        REPRODUCTIONS[name](run, lambda doing, done: print(f"{name}: {done:4.0%} {doing}", end="\r", flush=True))
    figures = sorted(run.glob("*.png"))
    text = page(name, json.loads(summary.read_text()), [figure.stem for figure in figures])
    (HERE / f"{name}.md").write_text(text, encoding="utf-8")
    (HERE / name).mkdir(parents=True, exist_ok=True)
    for old in (HERE / name).glob("*.png"):
        old.unlink()
    for figure in figures:
        picture(figure).save(HERE / name / figure.name, optimize=True)
    print(f"{name}: written")


def page(name: str, summary: dict[str, Any], figures: Iterable[str]) -> str:
    claims, told = summary["claims"], by_sentence(summary["warnings"])
    held = sum(1 for claim in claims if claim["holds"])
    lines = [f"# {title(name)}", "", paper(name), "", f"`pliant reproduce {name} --out FOLDER` repeats it.", ""]
    lines += ["## Claims", "", f"{held} of {len(claims)} hold.", "", *table(claims), ""]
    if told:
        lines += ["## Warnings", "", "What the runs themselves warn of:", ""]
        lines += [f"- {', '.join(f'`{run}`' for run in runs)}: {sentence}" for sentence, runs in told.items()] + [""]
    lines += ["## Figures", ""]
    for figure in figures:
        lines += [f"![{figure}]({name}/{figure}.png)", ""]
    return "\n".join(lines)


def write_index() -> None:
    """The list of pages; the table says which of the paper's claims came out."""
    rows = [f"| [{title(name)}]({name}.md) | {first_sentence(paper(name))} |" for name in REPRODUCTIONS]
    text = "\n".join(["# Published systems", "", "| system | what it is |", "| --- | --- |", *rows, ""])
    (HERE / "index.md").write_text(text, encoding="utf-8")


def table(claims: list[dict[str, Any]]) -> list[str]:
    rows = ["| claim | paper | ours | holds | remark |", "| --- | --- | --- | --- | --- |"]
    for claim in claims:
        verdict = "yes" if claim["holds"] else "**no**"
        remark = claim.get("reason", "") + (f" (varies with {claim['varies']})" if "varies" in claim else "")
        cells = [claim["claim"], claim["paper"], claim["ours"], verdict, remark.lstrip()]
        rows.append("| " + " | ".join(words(cell).replace("|", r"\|").replace("\n", " ") for cell in cells) + " |")
    return rows


def title(name: str) -> str:
    return name.replace("-", " ").capitalize() if name != "slider-crank" else "Slider-crank"


def paper(name: str) -> str:
    """What the system's own module says of it."""
    module = import_module(f"pliant.gallery.{name.replace('-', '_')}.system")
    return " ".join((module.__doc__ or "").split())


def first_sentence(text: str) -> str:
    return text.split(". ")[0].rstrip(".") + "."


def picture(figure: Path) -> Image.Image:
    """The figure at the page's width, with a palette that keeps the colours of its curves: an octree's, not a median cut's."""
    with Image.open(figure) as image:
        height = round(image.height * WIDTH / image.width)
        small = image.convert("RGB").resize((WIDTH, height), Image.Resampling.LANCZOS)
    return small.quantize(COLOURS, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)


if __name__ == "__main__":
    main()
