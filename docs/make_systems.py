"""Writes docs/systems: one page per published system, its claims beside ours, and our figures.

    python docs/make_systems.py [--runs FOLDER] [NAME ...]

Runs `pliant reproduce` for each into FOLDER (kept, and used again where its summary.json is there).
"""

from __future__ import annotations

import argparse
import json
import tempfile
from importlib import import_module
from pathlib import Path

from PIL import Image

from pliant.gallery.reproduction import REPRODUCTIONS

HERE = Path(__file__).parent / "systems"
WIDTH = 900  # pixels of a figure on a page


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
    claims = json.loads(summary.read_text())["claims"]
    held = sum(1 for claim in claims if claim["holds"])
    lines = [f"# {title(name)}", "", paper(name), "", f"`pliant reproduce {name} --out FOLDER` repeats it.", ""]
    lines += ["## Claims", "", f"{held} of {len(claims)} hold.", "", *table(claims), "", "## Figures", ""]
    for figure in sorted(run.glob("*.png")):
        lines += [f"![{figure.stem}]({name}/{shrink(figure, name)})", ""]
    (HERE / f"{name}.md").write_text("\n".join(lines), encoding="utf-8")
    print(f"{name}: {held} of {len(claims)} claims hold")


def write_index() -> None:
    """The list of pages; the table says which of the paper's claims came out."""
    rows = [f"| [{title(name)}]({name}.md) | {first_sentence(paper(name))} |" for name in REPRODUCTIONS]
    text = "\n".join(["# Published systems", "", "| system | what it is |", "| --- | --- |", *rows, ""])
    (HERE / "index.md").write_text(text, encoding="utf-8")


def table(claims: list[dict[str, object]]) -> list[str]:
    rows = ["| claim | paper | ours | holds | remark |", "| --- | --- | --- | --- | --- |"]
    for claim in claims:
        verdict = "yes" if claim["holds"] else "**no**"
        cells = [claim["claim"], claim["paper"], claim["ours"], verdict, claim.get("reason", "")]
        rows.append("| " + " | ".join(said(cell).replace("|", r"\|").replace("\n", " ") for cell in cells) + " |")
    return rows


def said(value: object) -> str:
    """Numbers to four digits, tables entry by entry."""
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, dict):
        return ", ".join(f"{key}: {said(one)}" for key, one in value.items())
    return ", ".join(map(said, value)) if isinstance(value, list) else str(value)


def title(name: str) -> str:
    return name.replace("-", " ").capitalize() if name != "slider-crank" else "Slider-crank"


def paper(name: str) -> str:
    """What the system's own module says of it."""
    module = import_module(f"pliant.gallery.{name.replace('-', '_')}.system")
    return " ".join((module.__doc__ or "").split())


def first_sentence(text: str) -> str:
    return text.split(". ")[0].rstrip(".") + "."


def shrink(figure: Path, name: str) -> str:
    """The figure at the page's width and with few colours: lines and text need no more."""
    target = HERE / name / figure.name
    target.parent.mkdir(parents=True, exist_ok=True)
    with Image.open(figure) as image:
        height = round(image.height * WIDTH / image.width)
        image.convert("RGB").resize((WIDTH, height), Image.Resampling.LANCZOS).quantize(64).save(target, optimize=True)
    return target.name


if __name__ == "__main__":
    main()
