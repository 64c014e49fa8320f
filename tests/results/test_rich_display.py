"""What notebooks show: tables whose texts are texts, long ones cut, and a page in a frame."""

import html
import re

import pytest

import pliant as pl
from pliant.host import progress
from pliant.results.rich_display import MOST_ROWS


@pytest.fixture(scope="module")
def run():
    system = pl.System("ball <script>", gravity=(0, -9.81))
    ball = system.add("ball", pl.RigidBody(mass=1.0, inertia=0.1), joint=pl.Planar(position=(0, pl.Parameter("height", 0.01))))
    system.contact(points=ball.root, against=pl.Plane(normal=(0, 1)), normal=pl.Hertz(stiffness=1e7))
    return pl.simulate(system, 8.0, save=0.1)


def test_names_of_models_are_no_html(run):
    for shown in (run, run.ledger, run.contacts):
        assert "<script>" not in shown._repr_html_()
    assert "ball &lt;script&gt;: the run reached t = 8 s" in run._repr_html_() and "height = 0.01" in run._repr_html_()


def test_every_joule_and_every_touch_has_a_row_until_there_are_too_many(run):
    ledger = run.ledger._repr_html_()
    assert ledger.count("<tr>") == 1 + len(run.ledger.rows()) + 1  # heads, and the balance error
    assert len(run.contacts) > MOST_ROWS
    table = run.contacts._repr_html_()
    assert table.count("<tr>") == MOST_ROWS + 1 and f"and {len(run.contacts) - MOST_ROWS + 1} more" in table


def test_a_run_that_failed_says_so_first():
    system = pl.System("arm", gravity=(0, -9.81))
    system.add("arm", pl.RigidBody.rod(1.0, 1.0), joint=pl.Revolute())
    failed = pl.simulate(system, 1.0, max_steps=2)
    assert "not reliable beyond that" in failed._repr_html_()
    assert "arm: Revolute RigidBody" in system._repr_html_()


def test_the_page_stands_in_a_frame_whole(run):
    shown = run.show(height=300, speed=0.5)._repr_html_()
    page = html.unescape(re.search(r'srcdoc="([^"]*)"', shown)[1])
    assert page == pl.player.page(run, speed=0.5) and "height:300px" in shown


class FakeDisplay:
    """As much of IPython.display as the bar asks for."""

    def __init__(self):
        self.pictures = []

    HTML = staticmethod(str)

    def display(self, picture, display_id):
        return self

    def update(self, picture):
        self.pictures.append(picture)


def test_a_bar_is_drawn_in_a_notebook_and_taken_away(monkeypatch):
    shown = FakeDisplay()
    monkeypatch.setattr(progress, "notebook", lambda: shown)
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    monkeypatch.setattr(progress, "REDRAWN", 0.0)
    with progress.of_run(0.0, 2.0, quiet=False) as bar:
        bar(0.5, 2.0)
        bar.phase("in <flight>")
        bar(1.0, 2.0)
    assert '<progress value="0.2500"' in shown.pictures[0] and "in &lt;flight&gt;" in shown.pictures[1]
    assert shown.pictures[-1] == ""
