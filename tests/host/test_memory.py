"""What would not fit into memory is refused before it is filled."""

from __future__ import annotations

import pytest

import pliant as pl
from pliant.beams import beam_shapes
from pliant.host import memory


@pytest.fixture(autouse=True)
def a_small_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that the tests need no large one, and none of them is filled where they fail."""
    monkeypatch.setattr(memory, "free_memory", lambda: 10**9)


def pendulum() -> pl.System:
    system = pl.System("pendulum", (0, -9.81))
    system.add("arm", pl.RigidBody.rod(1.0, 1.0), joint=pl.Revolute())
    return system


def test_rows_that_would_not_fit_are_refused_with_their_size() -> None:
    with pytest.raises(pl.ModelError, match=r"save must give rows that fit into memory, 5e\+06 of \d+ numbers: about [23]\.\d+ GB"):
        pl.simulate(pendulum(), 1.0, save=2e-7)
    with pytest.raises(pl.ModelError, match=r"save must give at most 5e\+07 rows, got 1e-08"):
        pl.simulate(pendulum(), 1.0, save=1e-8)
    assert pl.simulate(pendulum(), 1e-3, save=2e-7).ok


def test_times_alone_that_would_not_fit_are_refused_before_they_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "free_memory", lambda: 10**8)
    with pytest.raises(pl.ModelError, match=r"memory, 5e\+07 of 1 numbers: about 0\.8 GB would be needed, but 0\.1 GB are free"):
        pl.simulate(pendulum(), 1.0, save=2e-8)


MESHES = [pl.ElementModes(10_000), pl.AxialElements(10_000), pl.ElementModes(5000, reduction=pl.CraigBampton(3))]


@pytest.mark.parametrize("modes", MESHES, ids=["bending", "axial", "reduced"])
def test_meshes_that_would_not_fit_are_refused_with_their_size(modes: pl.ElementModes | pl.AxialElements) -> None:
    beam = pl.Beam(length=1.0, section=pl.Section.rectangle(0.01, 0.01), material=pl.STEEL, theory="euler-bernoulli", modes=modes)
    with pytest.raises(pl.ModelError, match=r"elements must give a mesh that fits into memory, \d+ coordinates: about [\d.]+ GB"):
        beam_shapes(beam)


def test_what_is_free_is_known_here() -> None:
    assert 10**7 < memory._of_machine() < 10**15
    assert memory._of_group() > 0


def test_a_few_rows_are_not_worth_asking(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "free_memory", lambda: pytest.fail("asked"))
    assert pl.simulate(pendulum(), 1e-3).ok
