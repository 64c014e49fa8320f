"""The code of the README and of the documentation's pages, as a package `pages` for a type checker: .ci/pages.py FOLDER."""

import re
import sys
from pathlib import Path

TOP = Path(__file__).parents[1]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def script(page: Path) -> str:
    """All python blocks of a page as one script, after blank lines, so that an error shows the page's own line."""
    text, code, lines = page.read_text(encoding="utf-8"), "", 0
    for block in BLOCK.finditer(text):
        if block[1] == "python" and not block[2].startswith("--8<--"):  # a file of examples that the page includes
            above = text.count("\n", 0, block.start(2))
            code += "\n" * (above - lines) + block[2]
            lines = above + block[2].count("\n")
    return code


def write(folder: Path) -> None:
    folder.mkdir()
    (folder / "__init__.py").touch()
    for page in (TOP / "README.md", *sorted((TOP / "docs").rglob("*.md"))):
        if code := script(page):
            name = "_".join(page.relative_to(TOP).with_suffix("").parts)
            (folder / f"{name.replace('-', '_')}.py").write_text(code, encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]) / "pages")
