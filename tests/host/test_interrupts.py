"""Ctrl-C: inside the loop at once, between its pieces when they are in order; what was computed is kept either way."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

import pliant as pl
from pliant.host.interrupts import Interrupts, postponed
from pliant.integrate import stepper

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")


def test_ctrl_c_is_noted_where_it_is_held_and_raised_where_it_is_not() -> None:
    interrupts = Interrupts()
    before = signal.getsignal(signal.SIGINT)
    with interrupts.held():
        signal.raise_signal(signal.SIGINT)
        assert interrupts.asked
        with pytest.raises(KeyboardInterrupt), interrupts.at_once():
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before


def test_a_signal_that_is_ignored_stays_ignored() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with Interrupts().held():
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
        with postponed():
            signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)


def test_what_is_postponed_is_taken_at_the_end_and_a_kill_too_where_it_is_taken_as_ctrl_c() -> None:
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        for number in (signal.SIGINT, signal.SIGTERM):
            done = []
            with pytest.raises(KeyboardInterrupt), postponed():
                signal.raise_signal(number)
                done.append("all of it")
            assert done == ["all of it"]
        assert signal.getsignal(signal.SIGTERM) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGTERM, before)


def test_ctrl_c_between_two_pieces_of_a_run_keeps_what_was_computed() -> None:
    """The phase is told between pieces: a signal then must neither lose the run nor leave a contact half closed."""
    system = pl.System("ball", (0, -9.81))
    ball = system.add("ball", pl.RigidBody(mass=1.0, inertia=0.01), joint=pl.Planar(position=(0, 0.2)))
    system.contact(points=pl.Sphere(ball.root, 0.1), against=pl.Plane(normal=(0, 1)), normal=pl.Hertz(stiffness=1e6))
    phases: list[str] = []

    def phase(words: str) -> None:
        if words == "in flight" or words.startswith("touching"):  # not what is being compiled
            phases.append(words)
        if len(phases) == 4:
            signal.raise_signal(signal.SIGINT)

    run = pl.simulate(system, 2.0, phase=phase, save=1e-3)
    assert phases == ["in flight", "touching contact ball.root", "in flight", "touching contact ball.root"]
    assert run.interrupted and not run.ok
    assert "interrupted from outside" in run.message
    assert 100 < len(run.time) < 1000
    rest = pl.simulate(system, 2.0, start=run)
    whole = pl.simulate(system, 2.0)
    assert rest.values["q"][-1] == pytest.approx(whole.values["q"][-1], abs=1e-7)
    assert rest.contacts[0].begin == pytest.approx(run.contacts[-1].begin)


def test_progress_is_told_while_a_run_does_nothing_but_touch(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bounce every millisecond."""
    system = pl.System("ball", (0, -9.81))
    ball = system.add("ball", pl.RigidBody(mass=1.0), joint=pl.Prismatic(axis="y", displacement=1e-6))
    system.contact(points=ball.root, against=pl.Plane(normal=(0, 1)), normal=pl.Hertz(stiffness=1e9))
    reported: list[float] = []
    monkeypatch.setattr(stepper, "PIECE", 1e-4)  # s: however fast the machine is
    run = pl.simulate(system, 0.5, progress=lambda t, t_end: reported.append(t), save=[0.0])
    assert len(run.contacts) > 100
    assert len(reported) > 2 and reported == sorted(reported)


EARLY = """
import signal, sys

class Press:
    def find_spec(self, name, path=None, target=None):
        if name == "pliant.analysis":  # what is imported first, and takes time
            signal.raise_signal(signal.SIGINT)

sys.argv, sys.meta_path[:0] = [sys.argv[1], "--version"], [Press()]
try:
    import pliant.analysis
except KeyboardInterrupt:
    print("raised")
"""


@pytest.mark.parametrize(("name", "code", "out", "err"), [
    ("/usr/bin/pliant", 130, "", "interrupted; nothing was written\n"),
    ("my_script.py", 0, "raised\n", ""),
])  # fmt: skip
def test_ctrl_c_while_the_program_is_imported_is_one_line_and_elsewhere_an_exception(name, code, out, err):
    done = subprocess.run([sys.executable, "-c", EARLY, name], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (code, out, err)
