"""Runs in a real browser: the bits of the same module here, and the runs of `simulate`."""

import math
import re

import numpy as np
import pytest

import pliant as pl
from live.native_machine import NativeMachine
from live.systems import SYSTEMS
from pliant.gallery.parallel_robot.system import parallel_robot
from pliant.live import page as pages

ROWS = 51
SINES = 1e-12  # how far runs may be apart where the browser's sines are not those of the C library: these are 1e-16 apart


def has_our_sines(context):
    """Whether the browser's sines and cosines, which formulas of time call, are those of the C library to the last bit."""
    page, x = context.new_page(), np.linspace(-10.0, 10.0, 2001).tolist()
    same = all(page.evaluate(f"x => x.map(Math.{f.__name__})", x) == [f(each) for each in x] for f in (math.sin, math.cos))
    page.close()
    return same


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_page_computes_what_simulate_computes_and_the_bits_of_its_module(name, browser, tmp_path, monkeypatch):
    build, t_end, method = SYSTEMS[name]
    system, made = build(), []
    original = pages.live_machine
    monkeypatch.setattr(pages, "live_machine", lambda *given, **options: made.append(original(*given, **options)) or made[-1])
    file = pl.page(system, tmp_path / "page.html", t_end, method=method, rows=ROWS, sliders=[])
    context = browser.new_context(offline=True)
    page = context.new_page()
    page.goto(file.as_uri())
    while not page.evaluate("Boolean(window.pliant && pliant.ready)"):  # the page's own policy lets nothing evaluate text inside it
        page.wait_for_timeout(20)
    raw = "pliant.run.raw"
    times, states = (np.array(page.evaluate(f"Array.from({raw}.{part})")) for part in ("time", "state"))
    touches = page.evaluate(f"{raw}.touches.map(touch => [touch.pair, touch.begin])")
    message = page.evaluate("pliant.run.message")
    same = has_our_sines(context)
    context.close()
    states = states.reshape(times.size, -1)

    machine = NativeMachine(made[0])
    machine.begin(made[0].table.base)
    machine.to_end()
    here, own = machine.rows()
    np.testing.assert_array_equal(times, here)
    if same or build is not parallel_robot:  # whose path is made of sines of time
        np.testing.assert_array_equal(states, own)
    np.testing.assert_allclose(states, own, rtol=0.0, atol=SINES)

    result = pl.simulate(system, t_end, method=method, save=np.linspace(0.0, t_end, ROWS))
    free = list(made[0].compiled.traced.free_q)
    before = times < min((contact.begin for contact in result.contacts), default=np.inf)
    assert np.max(np.abs(states[:, : len(free)] - result.values["q"][:, free])[before]) < 1e-9
    pairs = list(result.labels["pair"])
    expected = sorted((pairs.index(contact.pair), contact.begin) for contact in result.contacts)
    assert [pair for pair, _ in sorted(map(tuple, touches))] == [pair for pair, _ in expected]
    np.testing.assert_allclose([t for _, t in sorted(map(tuple, touches))], [t for _, t in expected], atol=1e-6)
    assert re.fullmatch(rf"the run reached t = {t_end:g} s", message)
