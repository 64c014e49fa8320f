"""Section forces and stresses in a result: kept, written and read again, and refused where they are not its own."""

from dataclasses import replace

import numpy as np
import pytest

import pliant as pl
from pliant.show.scene import Scene


@pytest.fixture(scope="module")
def run():
    beam = pl.Beam(length=0.5, section=pl.Section.round(0.005), material=pl.STEEL, theory="timoshenko", modes=pl.Modes("cf", 1))
    system = pl.System("arm", gravity=(0, -9.81, 0))
    system.add("arm", beam, joint=pl.Revolute(rate=1.0))
    return pl.simulate(system, 0.1, save=0.02)


def test_a_file_holds_what_the_result_holds(run, tmp_path):
    with_stress = run.with_sections(pl.stresses(run, stations=4))
    with_stress.to_netcdf(tmp_path / "run.nc")
    back = pl.Result.from_netcdf(tmp_path / "run.nc")
    assert back.sections.equals(with_stress.sections)
    assert back.sections.equivalent_stress.attrs == with_stress.sections.equivalent_stress.attrs
    assert pl.plot.stress_envelope(back).axes[0].get_title(loc="left") == "arm"
    run.to_netcdf(tmp_path / "plain.nc")
    assert pl.Result.from_netcdf(tmp_path / "plain.nc").sections is None and run.sections is None
    again = tmp_path / "again.nc"
    with_stress.to_netcdf(again)
    assert again.read_bytes() == (tmp_path / "run.nc").read_bytes()  # the same run, the same bytes
    back.to_netcdf(again)
    assert again.read_bytes() == (tmp_path / "run.nc").read_bytes()


def test_what_is_not_its_own_is_refused(run):
    longer = pl.section_forces(pl.simulate(run.make_provenance.system, 0.2, save=0.02))
    with pytest.raises(pl.ModelError, match=r"result 'arm': sections must have 6 rows, as the result has, got 11"):
        run.with_sections(longer)
    with pytest.raises(pl.ModelError, match="result 'arm': sections must be the dataset that section_forces or stresses returns"):
        run.with_sections(run.data)
    with pytest.raises(
        pl.ModelError, match="result 'arm': sections must be the dataset that section_forces or stresses returns, got 'int'"
    ):
        run.with_sections(3)


def test_section_forces_alone_have_envelopes_but_no_stresses(run):
    only = run.with_sections(pl.section_forces(run))
    assert len(pl.plot.force_envelope(only).axes) == 3  # axial, shear, bending
    with pytest.raises(pl.ModelError, match=r"plot stress_envelope: result must contain .*pl.stresses\(result\)"):
        pl.plot.stress_envelope(only)
    with pytest.raises(pl.ModelError, match=r"plot force_envelope: result must contain .*pl.section_forces\(result\)"):
        pl.plot.force_envelope(run)
    assert '"stress":null' in pl.player.page(only)


def test_envelopes_show_the_extremes_over_time(run):
    stress = pl.stresses(run, stations=5)
    panel = pl.plot.stress_envelope(run.with_sections(stress)).axes[0]
    drawn = [line.get_ydata() for line in panel.get_lines()]
    unit = 1e6 if "MPa" in panel.get_ylabel() else 1e3
    normal = stress.smallest_normal_stress.min("time"), stress.largest_normal_stress.max("time")
    for values in (*normal, stress.equivalent_stress.max("time")):
        assert any(np.size(y) == 5 and np.allclose(np.asarray(y) * unit, values.values[0]) for y in drawn)
    with pytest.raises(pl.ModelError, match="plot stress_envelope: bodies must be among"):
        pl.plot.stress_envelope(run.with_sections(stress), bodies=["leg"])
    with pytest.raises(pl.ModelError, match="plot force_envelope: forces must be among"):
        pl.plot.force_envelope(run.with_sections(stress), forces=["bending"])


def test_rows_of_a_run_that_failed_are_left_aside(run):
    broken = replace(run, values={**run.values, "a": np.where(run.time[:, None] > 0.09, np.nan, run.values["a"])})
    stress = pl.stresses(broken, stations=3)
    assert np.isnan(stress.equivalent_stress.values[-1]).all() and np.isfinite(stress.equivalent_stress.values[:-1]).all()
    result = broken.with_sections(stress)
    drawn = np.concatenate([np.ravel(line.get_ydata()) for line in pl.plot.stress_envelope(result).axes[0].get_lines()])
    assert np.isfinite(np.asarray(drawn, dtype=float)).all()
    assert all(np.isfinite(values).all() for values in Scene(result).stresses().values())
    assert "NaN" not in pl.player.page(result)
    with pytest.raises(pl.ModelError, match="stresses: result must hold at least one row"):
        pl.stresses(replace(run, time=run.time[:0], values={name: values[:0] for name, values in run.values.items()}))


def test_a_telescopic_link_is_coloured_from_the_mouth_of_its_sleeve_on():
    link = pl.TelescopicBeam(length=1.0, section=pl.Section.round(0.01), material=pl.STEEL, modes=pl.Modes("cf", 1),
                             extension=0.5, rate=0.5)  # fmt: skip
    system = pl.System("mast", gravity=(0, -9.81, 0))
    system.add("mast", link, joint=pl.Weld())
    run = pl.simulate(system, 0.05, save=0.01)
    stress = pl.stresses(run, stations=9)
    result = run.with_sections(stress)
    (values,) = Scene(result).stresses().values()
    (body,) = result.drawing.bodies
    mouth, tip = (int(np.flatnonzero(body.fields[0].shape[:, 0] == xi)[-1]) for xi in (0.0, 1.0))
    assert np.array_equal(values[:, mouth], stress.equivalent_stress.values[:, 0, 0])
    assert np.array_equal(values[:, tip], stress.equivalent_stress.values[:, 0, -1])
    assert pl.plot.stress_envelope(result).axes[0].get_xlabel() == "part of the (free) length"
    assert '"stress":{"largest"' in pl.player.page(result)
