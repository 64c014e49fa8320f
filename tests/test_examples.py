"""Every example runs as it stands, asserts what it says, and leaves its picture."""

import runpy
from pathlib import Path

import pytest

TOP = Path(__file__).parents[1]
EXAMPLES = sorted((TOP / "examples").glob("*.py"))
NOTEBOOKS = sorted((TOP / "examples").glob("*.ipynb"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs(example, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(example), run_name="__main__")
    assert (tmp_path / f"{example.stem}.png").stat().st_size > 10_000


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
@pytest.mark.filterwarnings("default")  # of what Jupyter is made of
def test_a_notebook_runs_top_to_bottom(notebook, tmp_path, monkeypatch):
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    book = nbformat.read(notebook, as_version=4)
    assert not any(cell.get("outputs") for cell in book.cells)  # outputs are made, not kept
    monkeypatch.setenv("MPLBACKEND", "module://matplotlib_inline.backend_inline")  # as Jupyter has it, whatever this shell says
    nbclient.NotebookClient(book, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [output.get("data", {}) for cell in book.cells if cell.cell_type == "code" for output in cell.outputs]
    pages = [data.get("text/html", "") for data in shown]
    assert sum("image/png" in data for data in shown) == 2  # of pyplot, and of pliant's own
    assert any("<table>" in page and "Energy ledger" in page for page in pages)
    assert any(page.startswith("<iframe srcdoc=") and "https://" not in page for page in pages)


def test_the_page_of_examples_shows_them_all():
    page = (TOP / "docs" / "examples.md").read_text(encoding="utf-8")
    assert not [path.name for path in EXAMPLES if f"examples/{path.name}" not in page]
    assert not [path.stem for path in EXAMPLES if not (TOP / "docs/pictures/examples" / f"{path.stem}.png").exists()]
