"""A whole run is one call of compiled code: what happens in it does not depend on how often Python has a turn."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import pliant as pl
from pliant.integrate import stepper
from pliant.integrate.memory import memory
from pliant.run import simulate as running

METHOD = pl.DOP853(rtol=1e-6, atol=1e-9)


def bouncing(height: float = 0.01) -> pl.System:
    system = pl.System("ball", gravity=(0, -9.81))
    ball = system.add("ball", pl.RigidBody(mass=1.0, inertia=1e-3), joint=pl.Planar(position=(0.0, height), velocity=(0.3, 0.0)))
    system.contact(points=pl.Sphere(ball.root, 0.005), against=pl.Plane(normal=(0, 1)), normal=pl.Hertz(stiffness=1e9))
    system.event("top", lambda t, q, v: v["ball.y"], direction="falling")
    return system


def stepped() -> pl.System:
    """A swing pushed by tables with many corners, between damped stops."""
    system = pl.System("swing", gravity=(0, -9.81))
    joint = pl.Revolute(angle=0.4, limits=pl.Limits(low=-0.5, high=0.6, stiffness=1e4, damping=20.0))
    system.add("arm", pl.RigidBody(mass=1.0, inertia=1e-2, com=(0.2, 0.0)), joint=joint)
    times = np.linspace(0.0, 2.0, 600)
    system.drive("push", "arm.angle", pl.PiecewiseLinear(times, 3.0 * np.sin(9.0 * times)))
    return system


def same(left: pl.Result, right: pl.Result) -> bool:
    values = all(np.array_equal(left.values[name], right.values[name], equal_nan=True) for name in left.values)
    return values and left.contacts == right.contacts and left.events == right.events and left.message == right.message


def entries(monkeypatch: pytest.MonkeyPatch, run: Callable[[], pl.Result]) -> tuple[pl.Result, int]:
    """A run, and how often it entered the compiled loop."""
    loop, calls = stepper.compiled_loop, []

    def counting(name: str, stages: object) -> Callable[[int], int]:
        machine_code = loop(name, stages)  # type: ignore[arg-type]

        def call(address: int) -> int:
            calls.append(address)
            return machine_code(address)

        return call

    monkeypatch.setattr(stepper, "compiled_loop", counting)
    return run(), len(calls)


def test_touches_events_and_breakpoints_need_no_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """Entries are those of the clock: none more for a hundred touches, nor for hundreds of corners of a table."""
    monkeypatch.setattr(stepper, "FIRST_BUDGET", 10**9)
    monkeypatch.setattr(running, "PIECES_AT_ONCE", 10**6)
    ball, of_ball = entries(monkeypatch, lambda: pl.simulate(bouncing(), 6.0, method=METHOD, save=0.1))
    assert len(ball.contacts) > 90 and len(ball.events) > 90 and of_ball == 1
    swing, of_swing = entries(monkeypatch, lambda: pl.simulate(stepped(), 2.0, method=METHOD, save=0.1))
    assert len(swing.events) > 10 and of_swing == 1


@pytest.mark.parametrize("save", [0.01, "steps"])
@pytest.mark.parametrize(("build", "t_end"), [(bouncing, 3.0), (stepped, 2.0)], ids=["touches", "tables and stops"])
def test_a_run_is_the_same_however_often_python_has_a_turn(
    monkeypatch: pytest.MonkeyPatch, build: Callable[[], pl.System], t_end: float, save: float | str
) -> None:
    whole = pl.simulate(build(), t_end, method=METHOD, save=save)
    assert whole.ok and (len(whole.contacts) > 40 or len(whole.events) > 10)
    monkeypatch.setattr(stepper, "FIRST_BUDGET", 1)
    monkeypatch.setattr(stepper, "PIECE", 1e-9)
    monkeypatch.setattr(running, "PIECES_AT_ONCE", 1)
    in_pieces, count = entries(monkeypatch, lambda: pl.simulate(build(), t_end, method=METHOD, save=save))
    assert count > 500
    assert same(in_pieces, whole)


@pytest.mark.parametrize("save", [0.01, "steps"])
def test_nothing_is_lost_where_buffers_are_full(monkeypatch: pytest.MonkeyPatch, save: float | str) -> None:
    whole = pl.simulate(bouncing(), 3.0, method=METHOD, save=save)
    monkeypatch.setattr(memory, "LEAST_LOGGED", 1)
    monkeypatch.setattr(stepper, "BLOCK", 1)
    monkeypatch.setattr(stepper, "FIRST_BUDGET", 10**9)
    small, count = entries(monkeypatch, lambda: pl.simulate(bouncing(), 3.0, method=METHOD, save=save))
    assert count > 20  # the buffers were full as often
    assert len(whole.contacts) > 40 and same(small, whole)


def test_telling_of_phases_changes_nothing() -> None:
    words: list[str] = []
    told = pl.simulate(bouncing(), 1.0, method=METHOD, phase=words.append)
    assert same(told, pl.simulate(bouncing(), 1.0, method=METHOD))
    phases = [word for word in words if word == "in flight" or word.startswith("touching")]
    assert phases == ["in flight", *("touching contact ball.root", "in flight") * len(told.contacts)]


def test_a_contact_that_lasts_is_in_the_table_and_goes_on() -> None:
    """Stopped in mid-contact and continued: one touch, with the peak, the impulse and the losses of both parts."""
    system = bouncing()
    whole = pl.simulate(system, 1.0, method=METHOD)
    touch = whole.contacts[3]
    middle = 0.5 * (touch.begin + touch.end)
    first = pl.simulate(system, middle, method=METHOD)
    lasting = first.contacts[-1]
    assert lasting.lasting and lasting.begin == pytest.approx(touch.begin, abs=1e-10)
    assert lasting.impulse == pytest.approx(0.5 * touch.impulse, rel=1e-3)
    rest = pl.simulate(system, 1.0, method=METHOD, start=first).contacts[0]
    for name in ("begin", "end", "entry_speed", "exit_speed", "peak_force", "impulse"):
        assert getattr(rest, name) == pytest.approx(getattr(touch, name), rel=1e-5)
