"""The guide's code runs: its python blocks are one script, its model files stand beside it. What pages name exists."""

import re
from pathlib import Path

import pytest

import pliant as pl
from pliant.gallery.reproduction import REPRODUCTIONS
from pliant.integrate.methods import METHODS
from pliant.model.friction_law import FRICTION_LAWS
from pliant.model.joint import JOINTS
from pliant.model.loop import KINDS
from pliant.model.normal_law import NORMAL_LAWS
from pliant.results.table import QUANTITIES

TOP = Path(__file__).parents[1]
GUIDE, THEORY, CONTRIBUTING = TOP / "docs" / "guide.md", TOP / "docs" / "theory.md", TOP / "CONTRIBUTING.md"
PYTHON_FILE = re.compile(r"[\w/]+\.py\b")
TEST_NAME = re.compile(r"`(test_\w+)`")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE_NAME = re.compile(r"# (\S+\.yaml)\n")  # the first line of a block that is a file


def test_the_code_of_the_guide_runs_from_top_to_bottom(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = GUIDE.read_text(encoding="utf-8")
    script, lines = "", 0
    for block in BLOCK.finditer(text):
        language, code = block.groups()
        if language == "yaml" and (name := FILE_NAME.match(code)):
            Path(name[1]).write_text(code, encoding="utf-8")
        if language == "python":  # blank lines before it, so that an error shows the guide's own line
            above = text.count("\n", 0, block.start(2))
            script += "\n" * (above - lines) + code
            lines = above + code.count("\n")
    assert script
    exec(compile(script, str(GUIDE), "exec"), {"__name__": "guide"})


@pytest.mark.parametrize("page", [THEORY, CONTRIBUTING], ids=lambda page: page.stem)
def test_files_and_tests_that_a_page_names_are_there(page):
    text = page.read_text(encoding="utf-8")
    files = [path.relative_to(TOP).as_posix() for root in ("src", "tests") for path in (TOP / root).rglob("*.py")]
    tests = "".join(path.read_text(encoding="utf-8") for path in (TOP / "tests").rglob("test_*.py"))
    named = {name for name in PYTHON_FILE.findall(text) if not name.startswith("name")}  # name_runs.py: an example
    assert not [name for name in named if not any(f"/{file}".endswith(f"/{name}") for file in files)]
    assert not [name for name in TEST_NAME.findall(text) if f"def {name}(" not in tests]


def test_the_guide_names_all_there_is():
    """Whatever is registered or exported: joints, laws, methods, closures, published systems, quantities, classes."""
    text = GUIDE.read_text(encoding="utf-8")
    registered = [kind.__name__ for kind in (*JOINTS, *NORMAL_LAWS, *FRICTION_LAWS, *METHODS)]
    classes = [name for name in pl.__all__ if isinstance(getattr(pl, name), type)]
    names = [*registered, *classes, *KINDS, *REPRODUCTIONS, *QUANTITIES]
    assert not [name for name in names if not re.search(rf"(?<![\w-]){name}(?![\w-])", text)]
