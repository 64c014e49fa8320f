"""The thesis among the documentation: its notebook runs from top to bottom, and its page shows that notebook."""

import runpy
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"


@pytest.fixture(scope="module")
def maker():
    pytest.importorskip("nbclient")
    return runpy.run_path(str(DOCS / "make_thesis.py"))


@pytest.mark.filterwarnings("default")  # of what Jupyter is made of
def test_the_thesis_runs_top_to_bottom_and_every_check_in_it_holds(maker, tmp_path, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "module://matplotlib_inline.backend_inline")  # as Jupyter has it, whatever this shell says
    book = maker["executed"](tmp_path)
    assert sum(cell.source.count("assert ") for cell in book.cells if cell.cell_type == "code") > 20
    assert len(maker["page"](book)[1]) == 7  # pictures


def test_the_page_of_the_thesis_shows_its_notebook(maker):
    """python docs/make_thesis.py after a change of the notebook, which is stored without outputs."""
    import nbformat

    book = nbformat.read(maker["NOTEBOOK"], as_version=4)
    assert not any(cell.get("outputs") for cell in book.cells)
    text = maker["PAGE"].read_text(encoding="utf-8")
    assert maker["without_outputs"](text) == maker["page"](book)[0]
