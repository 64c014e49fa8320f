"""The code on pages runs: the python blocks of a page are one script, its model files stand beside it. What pages name exists."""

import json
import re
import runpy
from dataclasses import fields, replace
from pathlib import Path

import pytest

import pliant as pl
from pliant.files.definitions import BOUNDS, UNIT, VALUE
from pliant.files.reader import LINK_KEYS, SECTIONS
from pliant.files.run_settings import RunSettings
from pliant.files.vocabulary import CALLS, builders, call_hints
from pliant.gallery.reproduction import REPRODUCTIONS
from pliant.integrate.methods.method import METHODS
from pliant.model.closure import CLOSURES
from pliant.model.friction_law import FRICTION_LAWS
from pliant.model.joint import JOINTS
from pliant.model.normal_law import NORMAL_LAWS
from pliant.model.system import BODIES
from pliant.results.table import QUANTITIES

TOP = Path(__file__).parents[1]
CONTRIBUTING = TOP / "CONTRIBUTING.md"
THEORY = sorted((TOP / "docs" / "theory").glob("*.md"))
RECIPES = sorted(path for path in (TOP / "docs" / "recipes").glob("*.md") if path.stem != "index")
TASKS = [*sorted((TOP / "docs" / "guide").glob("*.md")), TOP / "docs" / "guide.md", TOP / "docs" / "troubleshooting.md", *RECIPES]
NEEDED = {"modal-bodies": ("skfem",)}  # by page: packages of extras
PICTURE = re.compile(r"!\[(.+?)\]\((.+?)\)")
PYTHON_FILE = re.compile(r"[\w/.]+\.py\b")
TEST_NAME = re.compile(r"`(test_\w+)`")
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)|(?:href|src)=\"([^\"]+)\"")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
PAGES_OF_CODE = runpy.run_path(str(TOP / ".ci" / "pages.py"))  # which the gate checks by types, too
BLOCK = PAGES_OF_CODE["BLOCK"]
FILE_NAME = re.compile(r"# (\S+\.yaml)\n")  # the first line of a block that is a file


def run_page(page):
    """All python blocks of a page as one script, in the folder at hand."""
    for language, code in BLOCK.findall(page.read_text(encoding="utf-8")):
        if language == "yaml" and (name := FILE_NAME.match(code)):
            Path(name[1]).write_text(code, encoding="utf-8")
    script = PAGES_OF_CODE["script"](page)
    assert script
    exec(compile(script, str(page), "exec"), {"__name__": page.stem})


@pytest.mark.parametrize("page", TASKS, ids=lambda page: page.stem)
def test_the_code_of_a_task_runs_and_its_picture_is_there(page, tmp_path, monkeypatch):
    for needed in NEEDED.get(page.stem, ()):
        pytest.importorskip(needed)
    monkeypatch.chdir(tmp_path)
    text = page.read_text(encoding="utf-8")
    pictures = PICTURE.findall(text)
    assert pictures and all((page.parent / path).exists() for _, path in pictures)
    run_page(page)


def anchors(page):
    """Of a page's headings, as mkdocs and GitHub make them."""
    headings = HEADING.findall(BLOCK.sub("", page.read_text(encoding="utf-8")))
    return {re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", heading).strip().lower()) for heading in headings}


def test_every_link_leads_somewhere():
    """Of README, CONTRIBUTING, CHANGELOG and all pages: files are there, and headings in them."""
    docs = TOP / "docs"
    pages = [TOP / "README.md", CONTRIBUTING, TOP / "CHANGELOG.md", *docs.rglob("*.md"), docs / "gallery" / "stills.html"]
    broken = []
    for page in pages:
        folder = docs if page.name == "stills.html" else page.parent  # the front page takes it in
        text = re.sub(r"`[^`\n]*`", "", BLOCK.sub("", page.read_text(encoding="utf-8")))
        text = text.replace('<iframe class="live" src="../', '<iframe class="live" src="')  # in the site, a page is a folder
        for target in (first or second for first, second in LINK.findall(text)):
            if target.startswith(("http:", "https:", "mailto:")):
                continue
            path, _, anchor = target.partition("#")
            file = (folder / path).resolve() if path else page
            if not file.exists() or (anchor and file.suffix == ".md" and anchor not in anchors(file)):
                broken.append(f"{page.relative_to(TOP)}: {target}")
    assert not broken


@pytest.mark.parametrize("page", [*THEORY, CONTRIBUTING], ids=lambda page: page.stem)
def test_files_and_tests_that_a_page_names_are_there(page):
    text = page.read_text(encoding="utf-8")
    roots = [TOP / name for name in ("src", "tests", "docs", "benchmarks", ".ci")]
    files = [path.relative_to(TOP).as_posix() for path in (*TOP.glob("*.py"), *(p for root in roots for p in root.rglob("*.py")))]
    tests = "".join(path.read_text(encoding="utf-8") for path in (TOP / "tests").rglob("test_*.py"))
    named = {name for name in PYTHON_FILE.findall(text) if not name.startswith("name")}  # name_runs.py: an example
    assert not [name for name in named if not any(f"/{file}".endswith(f"/{name}") for file in files)]
    assert not [name for name in TEST_NAME.findall(text) if f"def {name}(" not in tests]


def test_some_page_names_all_there_is():
    """Whatever is registered or exported: joints, laws, methods, closures, published systems, quantities, classes."""
    pages = [*(TOP / "docs").glob("*.md"), *(TOP / "docs" / "guide").glob("*.md")]
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    registered = [kind.__name__ for kind in (*JOINTS, *NORMAL_LAWS, *FRICTION_LAWS, *METHODS)]
    classes = [name for name in pl.__all__ if isinstance(getattr(pl, name), type)]
    names = [*registered, *classes, *CLOSURES, *REPRODUCTIONS, *QUANTITIES]
    assert not [name for name in names if not re.search(rf"(?<![\w-]){name}(?![\w-])", text)]


def test_the_page_of_sections_lists_every_key_that_the_reader_knows():
    """In the row of its section."""
    page = (TOP / "docs" / "guide" / "model-file-keys.md").read_text(encoding="utf-8")
    rows = {name: row for row in page.splitlines() if row.startswith("| `") for name in re.findall(r"`(\w+)`", row.split("|")[1])}
    keys = {section: list(call_hints(section)[0]) for section in CALLS}
    keys |= {"bodies": ["part", *LINK_KEYS], "parts": [*BODIES, *builders(pl.RigidBody)], "define": [VALUE, *BOUNDS, UNIT]}
    keys |= {"run": [field.name for field in fields(RunSettings)]}
    assert list(rows) and not set(SECTIONS) ^ set(rows)
    named = {section: re.findall(r"`(\w+)`", rows[section]) for section in keys}
    assert not {(section, key) for section in keys for key in keys[section] if key not in named[section]}


PAGES = ["first-result", "tutorial", "extend", "sweeps", "analysis", "stresses", "validity", "large_deflection"]
PAGES += ["sensitivities", "fits", "stepping", "task_space", "joints", "joint_friction", "control", "scope", "public-api"]
PAGES += [f"coming-from/{name}" for name in ("mujoco", "exudyn", "pyelastica", "adams", "simscape")]


@pytest.mark.parametrize("page", PAGES)
def test_the_code_of_a_page_runs_from_top_to_bottom(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_page(TOP / "docs" / f"{page}.md")


def test_the_api_reference_is_what_its_maker_writes():
    """Every public name has its place: python docs/make_api.py after adding one."""
    maker = runpy.run_path(str(TOP / "docs" / "make_api.py"))
    written = {path.name: path.read_text(encoding="utf-8") for path in (TOP / "docs" / "api").glob("*.md")}
    assert written == maker["pages"]()


VERIFICATION = runpy.run_path(str(TOP / "docs" / "make_verification.py"))
STORED = json.loads((TOP / "docs" / "verification.json").read_text(encoding="utf-8"))
ROWS = VERIFICATION["ROWS"]
LIMITS = [name for name, row in ROWS.items() if row.is_limit]
NUMBERS = [name for name in ROWS if name not in LIMITS]
QUICK = [name for name in NUMBERS if STORED[name]["seconds"] < 0.03 and not ROWS[name].measured]


def test_the_page_of_verification_is_what_stored_results_say():
    """python docs/make_verification.py after a change of rows; every stored error is one that its row allows."""
    assert list(STORED) == list(ROWS) and len(ROWS) >= 25
    assert (TOP / "docs" / "verification.md").read_text(encoding="utf-8") == VERIFICATION["page"](STORED)
    off = {name: ROWS[name].error(STORED[name]["ours"], STORED[name]["reference"]) for name in NUMBERS}
    assert not [name for name in NUMBERS if off[name] > ROWS[name].within]


def test_quick_rows_of_verification_come_out_again():
    off = {name: ROWS[name].error(*ROWS[name].compute()) for name in QUICK}
    assert len(off) > 15 and not {name: error for name, error in off.items() if error > ROWS[name].within}


def without_digits(sentence):
    return re.sub(r"\d+(\.\d+)?(e-?\d+)?", "#", sentence)


@pytest.mark.parametrize("name", LIMITS)
def test_a_limit_is_refused_or_answered_with_a_warning_as_its_page_says(name):
    found, stored = VERIFICATION["answer"](ROWS[name]), STORED[name]
    assert found["verdict"] == stored["verdict"] in ("not representable", "outside validity")
    assert without_digits(found["says"]) == without_digits(stored["says"]) != ""
    if found["verdict"] == "outside validity":
        assert found["ours"] == pytest.approx(stored["ours"], rel=1e-6)
        assert VERIFICATION["error"](found["ours"], found["reference"]) > 0.1  # the warning is not an idle one


def test_there_are_limits_of_both_kinds_and_a_case_that_is_answered_without_a_word_is_none():
    verdicts = [STORED[name]["verdict"] for name in LIMITS]
    assert len(LIMITS) >= 8 and min(map(verdicts.count, ("not representable", "outside validity"))) >= 4
    silent = replace(ROWS["blade-unstiffened"], compute=lambda: (1.0, 2.0, ()))
    assert VERIFICATION["answer"](silent)["verdict"] == "met" and VERIFICATION["answer"](silent)["says"] == ""
    wrong = replace(silent, compute=lambda: pl.Beem)
    with pytest.raises(AttributeError, match="Beem"):  # a slip in a row is no refusal
        VERIFICATION["answer"](wrong)


def test_the_page_of_good_enough_models_is_what_stored_numbers_say():
    """python docs/make_good_enough.py; what costs nothing is computed again."""
    maker = runpy.run_path(str(TOP / "docs" / "make_good_enough.py"))
    stored = json.loads((TOP / "docs" / "good-enough.json").read_text(encoding="utf-8"))
    assert list(stored) == list(maker["STUDIES"])
    assert (TOP / "docs" / "good-enough.md").read_text(encoding="utf-8") == maker["page"](stored)
    for study in ("theory", "normal_laws"):
        for again, before in zip(maker["STUDIES"][study](), stored[study], strict=True):
            assert again[0] == before[0] and again[1:] == pytest.approx(before[1:], rel=1e-9)


def test_every_still_of_the_front_page_opens_a_page_that_runs():
    """python docs/make_gallery.py; the pages are committed, so they stay small."""
    maker = runpy.run_path(str(TOP / "docs" / "make_gallery.py"))
    assert set(REPRODUCTIONS) <= set(maker["ENTRIES"]) and len(maker["ENTRIES"]) >= 10
    assert (TOP / "docs" / "gallery" / "stills.html").read_text(encoding="utf-8") == maker["stills"]()
    pages = [TOP / "docs" / "gallery" / f"{name}.html" for name in maker["ENTRIES"]]
    assert all(page.stat().st_size < 800_000 for page in pages)  # most take 200 kB; equations of bending in space take the rest
    sources = TOP / "src" / "pliant"
    files = [sources / "show" / "page" / "player.js", *(sources / "live" / "page").glob("*.js")]
    scripts = [file.read_text(encoding="utf-8") for file in files]
    assert all(script in page.read_text(encoding="utf-8") for page in pages for script in scripts)  # of today's player
    assert all((TOP / "docs" / "pictures" / "gallery" / f"{page.stem}.png").stat().st_size > 1000 for page in pages)


@pytest.mark.parametrize("name", REPRODUCTIONS)
def test_a_published_system_has_its_page(name):
    """With its claims, and with every figure the page shows."""
    text = (TOP / "docs" / "systems" / f"{name}.md").read_text(encoding="utf-8")
    assert "## Claims" in text
    pictures = re.findall(r"!\[.*?\]\((.*?)\)", text)
    assert pictures and all((TOP / "docs" / "systems" / picture).exists() for picture in pictures)
