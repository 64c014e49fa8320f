"""How a notebook displays results: tables as HTML, and the interactive page in its own frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from pliant.answers import answer

MOST_ROWS = 60  # rows shown of a table; the others are only counted

_STYLE = "text-align:right;white-space:nowrap;padding:1px 10px;font-variant-numeric:tabular-nums"
_FIRST = "text-align:left;white-space:nowrap;padding:1px 10px"


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], caption: str = "") -> str:
    """Texts as an HTML table; the first column is left-aligned, the others are right-aligned."""
    shown = rows if len(rows) <= MOST_ROWS else rows[: MOST_ROWS - 1]
    lines = [_row("th", heads), *(_row("td", row) for row in shown)]
    if len(shown) < len(rows):
        lines.append(f'<tr><td colspan="{len(heads)}" style="{_FIRST}">and {len(rows) - len(shown)} more</td></tr>')
    title = f'<caption style="{_FIRST};padding-bottom:4px">{escape(caption)}</caption>' if caption else ""
    return f'<div style="overflow-x:auto;margin:8px 0"><table>{title}{"".join(lines)}</table></div>'  # a wide table scrolls


def _row(tag: str, cells: Sequence[str]) -> str:
    styles = [_FIRST, *(_STYLE,) * (len(cells) - 1)]
    inside = "".join(f'<{tag} style="{style}">{escape(cell)}</{tag}>' for cell, style in zip(cells, styles, strict=True))
    return f"<tr>{inside}</tr>"


def preformatted(text: str) -> str:
    return f'<pre style="line-height:1.25">{escape(text)}</pre>'


def paragraphs(texts: Sequence[str]) -> str:
    return "".join(f"<p>{escape(text)}</p>" for text in texts)


@dataclass(frozen=True)
class Frame:
    """A complete page inside a notebook cell; it contains everything it needs and works without a network."""

    page: str
    height: int  # pixels

    def _repr_html_(self) -> str:
        style = f"width:100%;height:{self.height}px;border:0"
        return f'<iframe srcdoc="{escape(self.page)}" style="{style}" sandbox="allow-scripts allow-downloads"></iframe>'

    def __repr__(self) -> str:
        return f"<page that plays, {len(self.page) // 1000} kB: a notebook shows it; pl.player.write(result, path) writes it>"


def framed(result: Any, height: int, **options: Any) -> Frame:
    return Frame(answer("page", result, **options), height)
