"""Writes docs/api: every public name of pliant on the page of its folder; the text comes from the docstrings.

    python docs/make_api.py
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pliant as pl

HERE = Path(__file__).parent / "api"
PAGES = {  # title, what is on it, where its names come from
    "model": ("Model", "What a user writes.", ("pliant.model",)),
    "contact": ("Contact", "Shapes that touch, and the laws between them.",
                ("pliant.model.contact", "pliant.model.normal_law", "pliant.model.friction_law", "pliant.model.hertz")),
    "running": ("Running", "From a System to a Result, and what a run may go wrong with.",
                ("pliant.run", "pliant.integrate", "pliant.files", "pliant.errors", "pliant.analysis", "pliant.study")),
    "results": ("Results", "What comes out.", ("pliant.results", "pliant.show", "pliant.equations")),
    "formulas": ("Formulas", "Mathematics over numbers, arrays and traced scalars alike.", ("pliant.scalar",)),
}  # fmt: skip
MORE = {  # what functions return
    "running": ("pliant.run.observation.Observation", "pliant.analysis.modes.NaturalModes",
                "pliant.analysis.frequency_response.FrequencyResponse"),
    "results": ("pliant.equations.derive.Equations", "pliant.equations.symbolic.Symbolic"),
}


def pages() -> dict[str, str]:
    """Every page by its file name."""
    rows = [f"- [{title}]({stem}.md): {says[0].lower()}{says[1:]}" for stem, (title, says, _) in PAGES.items()]
    index = ["# API reference", "", "All names a user needs are in `pliant` itself: `import pliant as pl`.", "", *rows, ""]
    found = {"index.md": "\n".join(index)}
    for stem, (title, says, _) in PAGES.items():
        entries = [f"::: {path}" for path in (*_paths(stem), *MORE.get(stem, ()))]
        found[f"{stem}.md"] = "\n\n".join([f"# {title}", says, *entries]) + "\n"
    return found


def _paths(stem: str) -> Iterator[str]:
    for name in pl.__all__:
        thing = getattr(pl, name)
        module = getattr(thing, "__module__", None)
        if isinstance(thing, type(pl)):  # pliant.plot
            if _page(thing.__name__) == stem:
                yield thing.__name__
        elif module is not None and hasattr(thing, "__name__") and _page(module) == stem:
            yield f"{module}.{thing.__name__}"


def _page(module: str) -> str:
    """The page whose origin is the longest beginning of a module's name."""
    origins = [(origin, stem) for stem, (_, _, origins) in PAGES.items() for origin in origins]
    fits = [(len(origin), stem) for origin, stem in origins if f"{module}.".startswith(f"{origin}.")]
    if not fits:
        raise SystemExit(f"no page of docs/api has a place for {module}")
    return max(fits)[1]


if __name__ == "__main__":
    for name, text in pages().items():
        (HERE / name).write_text(text, encoding="utf-8")
