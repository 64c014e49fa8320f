"""Runs docs/notebooks/thesis.ipynb and writes its page, with what cells printed and drew: python docs/make_thesis.py"""

from __future__ import annotations

import base64
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nbclient
import nbformat

DOCS = Path(__file__).parent
NOTEBOOK, PAGE, PICTURES = DOCS / "notebooks" / "thesis.ipynb", DOCS / "notebooks" / "thesis.md", DOCS / "pictures" / "thesis"
SHOWN = re.compile(r"^```text\n.*?^```\n\n|^!\[[^\n]*\n\n", re.MULTILINE | re.DOTALL)  # outputs on the page


def executed(folder: Path) -> Any:
    """The notebook with its outputs; an assertion that fails in a cell is an error here."""
    book = nbformat.read(NOTEBOOK, as_version=4)
    nbclient.NotebookClient(book, timeout=600, resources={"metadata": {"path": str(folder)}}).execute()
    return book


def page(book: Any) -> tuple[str, Mapping[str, bytes]]:
    """The page of a notebook, and its pictures by file name."""
    parts, pictures = [], {}
    for cell in book.cells:
        parts.append(cell.source if cell.cell_type == "markdown" else f"```python\n{cell.source}\n```")
        for output in cell.get("outputs", ()):
            if output.output_type == "stream" and output.name == "stdout":
                parts.append(f"```text\n{output.text.rstrip()}\n```")
            elif "image/png" in output.get("data", {}):
                name = f"{len(pictures) + 1}.png"
                pictures[name] = base64.b64decode(output.data["image/png"])
                parts.append(f"![{cell.metadata['alt']}](../pictures/{PICTURES.name}/{name})")
    return "\n\n".join(parts) + "\n", pictures


def without_outputs(text: str) -> str:
    return SHOWN.sub("", text + "\n")[:-1]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        text, pictures = page(executed(Path(folder)))
    PAGE.write_text(text, encoding="utf-8")
    PICTURES.mkdir(exist_ok=True)
    for name, content in pictures.items():
        (PICTURES / name).write_bytes(content)


if __name__ == "__main__":
    main()
