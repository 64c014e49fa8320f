"""Writes docs/systems: one page per published system, its claims beside ours, what its runs warn of, and our figures.

    python docs/make_systems.py [--runs FOLDER] [NAME ...]

Each page begins with what the paper has and where pliant has it, by docs/systems.yaml.

Runs `pliant reproduce` for each into FOLDER (kept, and used again where its summary.json is there). The tests in `tests/gallery`
compare what is committed with what `reproduce` gives, see `tests/studies.py`.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
import tempfile
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import yaml
from PIL import Image

from pliant.gallery.reproduction import REPRODUCTIONS, by_sentence, words

HERE = Path(__file__).parent / "systems"
REGISTER = Path(__file__).parent / "systems.yaml"
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
    text = page(name, json.loads(summary.read_text()), [figure.stem for figure in figures], tables(run))
    (HERE / f"{name}.md").write_text(text, encoding="utf-8")
    (HERE / name).mkdir(parents=True, exist_ok=True)
    for old in (HERE / name).glob("*.png"):
        old.unlink()
    for figure in figures:
        picture(figure).save(HERE / name / figure.name, optimize=True)
    print(f"{name}: written")


def page(name: str, summary: dict[str, Any], figures: Sequence[str], tabled: dict[str, list[list[str]]]) -> str:
    claims, told = summary["claims"], by_sentence(summary["warnings"])
    held = sum(1 for claim in claims if claim["holds"])
    repeats = f"`pliant reproduce {name} --out FOLDER` repeats it, and it runs [in your browser](../gallery/{name}.html)."
    lines = [f"# {title(name)}", "", paper(name), "", repeats, ""]
    lines += ["## The paper, item by item", "", *items(name, claims, [*figures, *tabled]), ""]
    lines += ["## Claims", "", f"{held} of {len(claims)} hold.", "", *table(claims), ""]
    if told:
        lines += ["## Warnings", "", "What the runs themselves warn of:", ""]
        lines += [f"- {', '.join(f'`{run}`' for run in runs)}: {sentence}" for sentence, runs in told.items()] + [""]
    lines += ["## Figures", ""]
    for figure in figures:
        lines += [f"### {heading(figure)}", "", f"![{figure}]({name}/{figure}.png)", ""]
    for one, rows in tabled.items():
        lines += [
            f"### {heading(one)}",
            "",
            *(f"| {' | '.join(row)} |" for row in (rows[0], ["---"] * len(rows[0]), *rows[1:])),
            "",
        ]
    return "\n".join(lines)


def tables(run: Path) -> dict[str, list[list[str]]]:
    """The tables that `reproduce` wrote, without columns that differ from computer to computer."""
    found = {}
    for path in sorted(run.glob("table*.csv")):
        with path.open(newline="", encoding="utf-8") as file:
            rows = list(csv.reader(file))
        kept = [k for k, head in enumerate(rows[0]) if "varies with" not in head]
        found[path.stem] = [[row[k] for k in kept] for row in rows]
    return found


def items(name: str, claims: list[dict[str, Any]], drawn: Sequence[str]) -> list[str]:
    """Figures, tables, equations and methods of a paper: where they are, and the verdict on what the paper says of them."""
    register = yaml.safe_load(REGISTER.read_text(encoding="utf-8"))[name]
    named = {word.strip("`, ") for entry in register for word in str(entry["where"]).split()}
    missing = [one for one in drawn if one.startswith(("fig", "table")) and one not in named]
    assert not missing, f"{REGISTER.name}: {name} must have {missing}"
    rows = ["| item | what it is | where | verdict |", "| --- | --- | --- | --- |"]
    for entry in register:
        cells = [entry["item"], entry["what"], linked(str(entry["where"]), drawn), verdict(name, entry, claims)]
        rows.append(f"| {' | '.join(cells)} |")
    about = [words for entry in register for words in entry.get("claims", ())]
    for claim in claims:
        if not any(words in claim["claim"] for words in about):
            told = claim["claim"].replace("|", r"\|")
            rows.append(f"| claim | {told} | [below](#claims) | {'holds' if claim['holds'] else '**does not hold**'} |")
    return rows


def linked(where: str, drawn: Sequence[str]) -> str:
    """Words, with links to the figures and tables among them."""
    return re.sub(r"\w+", lambda word: f"[{word[0]}](#{anchor(word[0])})" if word[0] in drawn else word[0], where)


def verdict(name: str, entry: dict[str, Any], claims: list[dict[str, Any]]) -> str:
    """What the register says, or how many of the claims about it hold."""
    if "claims" not in entry:
        return str(entry.get("verdict", "drawn"))
    about = [claim for claim in claims if any(words in claim["claim"] for words in entry["claims"])]
    unknown = [words for words in entry["claims"] if not any(words in claim["claim"] for claim in claims)]
    assert not unknown, f"{REGISTER.name}: {name}, {entry['item']}: no claim has the words {unknown}"
    held = sum(1 for claim in about if claim["holds"])
    if len(about) == 1:
        return "holds" if held else "**does not hold**"
    return f"all {held} claims hold" if held == len(about) else f"{held} of {len(about)} claims hold"


def heading(name: str) -> str:
    """Fig. 2 for fig02, Table 1 for table1, other names in words."""
    for short, long in (("fig", "Fig. "), ("table", "Table ")):
        if name.startswith(short) and name[len(short) :].isdigit():
            return f"{long}{int(name[len(short) :])}"
    return name.replace("_", " ").capitalize()


def anchor(name: str) -> str:
    """Of a heading, as the site's Markdown makes it."""
    return heading(name).lower().replace(".", "").replace(" ", "-")


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
