"""Results: names, units, files that come back the same, a ledger that prints."""

import numpy as np
import pytest

import mechanisms
import pliant as pl


@pytest.fixture(scope="module")
def run():
    system = mechanisms.spatial_arm()
    system.event("down", lambda t, q, v: v["link1.angle"])
    return pl.simulate(system, 0.1, save=0.01)


def test_data_is_selectable_by_name_and_has_units(run):
    angle = run.data["q"].sel(coordinate="link1.angle")
    assert np.array_equal(angle.values, run["link1.angle"])
    assert run.data["tip_position"].sel(body="link2", axis="y").attrs["units"] == "m"
    of_body = run.data["q"].where(run.data["body_of_coordinate"] == "link3", drop=True)
    assert list(of_body.coordinate.values) == ["link3.angle", "link3.y1", "link3.y2", "link3.z1", "link3.z2", "link3.torsion1"]


def test_a_file_comes_back_the_same(run, tmp_path):
    path = tmp_path / "run.nc"
    run.to_netcdf(path)
    back = pl.Result.from_netcdf(path)
    for name, array in run.values.items():
        assert np.array_equal(array, back.values[name]), name
    assert (back.events, back.ok, back.message, back.stats) == (run.events, run.ok, run.message, dict(run.stats))
    assert str(back.ledger) == str(run.ledger)
    assert back.outline.to_json() == run.outline.to_json()
    assert [p.name for p in tmp_path.iterdir()] == ["run.nc"]


def test_a_failed_write_leaves_nothing_behind(run, tmp_path, monkeypatch):
    import xarray

    def fail(self, path, **options):
        raise OSError("disk full")

    monkeypatch.setattr(xarray.Dataset, "to_netcdf", fail)
    (tmp_path / "old.nc").write_text("old")
    for name in ("run.nc", "old.nc"):
        with pytest.raises(OSError, match="disk full"):
            run.to_netcdf(tmp_path / name)
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("old.nc", "old")]


def test_unknown_names_are_refused_with_the_known_ones(run):
    with pytest.raises(KeyError, match=r"link0\.angle"):
        run["nothing"]


def test_the_ledger_prints_every_source(run):
    text = str(run.ledger)
    for name in ("kinetic", "strain", "link0.kelvin_voigt", "link2.angle damper", "push", "twist", "balance error"):
        assert name in text


def test_energy_is_the_sum_of_what_is_held(run):
    ledger = run.ledger
    assert ledger.energy == pytest.approx(sum(run.values[n] for n in ("kinetic", "gravity", "strain", "spring")))
