"""Every published system as a model file: the same mechanism, the same numbers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import pliant as pl
from pliant.gallery.clearance import slider_crank as worn_slider_crank
from pliant.gallery.falling_chain import falling_chain
from pliant.gallery.falling_chain.system import MODE_SETS
from pliant.gallery.parallel_robot import parallel_robot
from pliant.gallery.reproduction import REPRODUCTIONS
from pliant.gallery.slider_crank import slider_crank
from pliant.gallery.telescopic_arm import telescopic_arm
from pliant.gallery.tipping_arm import tipping_arm


def clearance() -> pl.System:
    """The slider-crank with a worn bearing."""
    return worn_slider_crank()


FOLDER = Path(__file__).parents[2] / "examples" / "published"
# until when, s: past the first touch where there is one, and how far they may be apart, of the largest value: the files' shapes
# and products differ from Python's by round-off, which the first touches magnify
RUNS: dict[Callable[[], pl.System], tuple[float, float]] = {
    falling_chain: (0.45, 1e-9),
    telescopic_arm: (0.35, 1e-12),
    tipping_arm: (0.45, 1e-8),
    parallel_robot: (0.3, 1e-8),  # its torques are a table in the file, a closed form in Python
    slider_crank: (38e-3, 1e-9),
    clearance: (0.003, 1e-7),  # the first touches
}


def test_every_published_system_is_there() -> None:
    assert {name.replace("-", "_") for name in REPRODUCTIONS} == {make.__name__ for make in RUNS}


@pytest.mark.parametrize("make", RUNS, ids=lambda make: make.__name__)
def test_the_file_gives_the_numbers_of_the_python_form(make: Callable[[], pl.System]) -> None:
    t_end, apart = RUNS[make]
    model = pl.load_model(FOLDER / f"{make.__name__}.yaml")
    of_file, of_python = (pl.simulate(s, t_end, method=model.run.method) for s in (model.system, make()))
    assert of_file.ok and of_python.ok
    assert of_file.name == of_python.name
    assert of_file.labels == of_python.labels
    assert [touch.pair for touch in of_file.contacts] == [touch.pair for touch in of_python.contacts]
    assert len(of_file.contacts) > 0 or not model.system.contacts
    for name in ("q", "v", "work", "tip_position", "kinetic", "strain", "effort"):
        values = of_python.values[name]
        if values.size:
            assert np.max(np.abs(values - of_file.values[name])) <= apart * np.max(np.abs(values)), name


@pytest.mark.parametrize("modes", MODE_SETS[1:])
def test_every_mode_set_of_the_falling_chain_is_a_file(modes: str) -> None:
    model = pl.load_model(FOLDER / f"falling_chain_{modes.replace('-', '_')}.yaml")
    of_file, of_python = (pl.simulate(s, 0.45, method=model.run.method) for s in (model.system, falling_chain(modes)))
    assert of_file.name == of_python.name and len(of_file.contacts) == len(of_python.contacts) > 0
    assert np.max(np.abs(of_file.values["q"] - of_python.values["q"])) <= 1e-9
    assert pl.loads_model(pl.dump_model(model.system, model.run)) == model


@pytest.mark.parametrize("make", RUNS, ids=lambda make: make.__name__)
def test_what_is_written_of_the_file_reads_back_equal(make: Callable[[], pl.System]) -> None:
    model = pl.load_model(FOLDER / f"{make.__name__}.yaml")
    assert pl.loads_model(pl.dump_model(model.system, model.run)) == model
