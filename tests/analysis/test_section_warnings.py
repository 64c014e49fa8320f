"""Moments at a blow: what the modes do not follow is told, and rows that are too far apart."""

import numpy as np
import pytest

import pliant as pl
from pliant.results.sections import warnings_of_sections
from pliant.show.player import page


def fallen(modes, save=1e-5):
    """A hinged arm falls on a hard floor with its tip; only the blow is saved."""
    bar = pl.Beam(length=0.5, section=pl.Section.rectangle(height=0.01, width=0.02), material=pl.STEEL, theory="euler-bernoulli",
                  modes=pl.Modes("cf", modes), stiffening="none")  # fmt: skip
    system = pl.System("fallen", gravity=(0, -9.81))
    arm = system.add("arm", bar, joint=pl.Revolute(angle=0.01, rate=-4.0))
    system.contact(points=arm.tip, against=pl.Plane(normal="y"), normal=pl.Hertz(stiffness=5e9))
    return pl.simulate(system, 0.004, save=save)


def largest(result):
    return float(np.max(np.abs(pl.section_forces(result)["bending_moment_z"].values)))


def test_modes_that_do_not_follow_a_blow_are_told_and_enough_of_them_are_not():
    settled = largest(fallen(8))
    for count in (1, 2, 6):
        result = fallen(count)
        warnings = warnings_of_sections(pl.section_forces(result))
        off = largest(result) / settled - 1.0
        assert (off > 0.5, len(warnings)) == ((True, 1) if count < 5 else (False, 0))
        assert not warnings or ("beam 'arm'" in warnings[0] and "do not follow" in warnings[0])


def test_rows_too_far_apart_to_show_a_blow_are_told_with_the_spacing_that_would():
    result = fallen(6, save=2e-4)
    (sentence,) = warnings_of_sections(pl.stresses(result))
    assert sentence.startswith("rows are 0.0002 s apart at t = 0.00") and "save rows every" in sentence
    assert not warnings_of_sections(pl.stresses(fallen(6)))


def test_a_static_load_needs_no_more_modes_than_one():
    bar = pl.Beam(length=0.5, section=pl.Section.rectangle(height=0.01, width=0.02), material=pl.STEEL, theory="euler-bernoulli",
                  modes=pl.Modes("cf", 1))  # fmt: skip
    system = pl.System("shelf", gravity=(0, -9.81))
    system.add("arm", bar, joint=pl.Weld())
    forces = pl.section_forces(pl.equilibrium(system).to_result())
    assert warnings_of_sections(forces) == ()
    weight = bar.mass * 9.81
    assert forces["bending_moment_z"].values[0, 0, 0] == pytest.approx(-0.5 * weight * 0.5, rel=1e-3)


def test_stresses_carry_the_warnings_of_their_run_to_the_file_and_the_page(tmp_path):
    result = fallen(2, save=2e-4)
    result = result.with_sections(pl.stresses(result))
    said = warnings_of_sections(result.sections)
    assert len(said) == 2
    result.to_netcdf(tmp_path / "run.nc")
    again = pl.Result.from_netcdf(tmp_path / "run.nc")
    assert warnings_of_sections(again.sections) == said
    text = page(result)
    assert "2 warnings</summary>" in text and "do not follow as the balance supposes" in text
