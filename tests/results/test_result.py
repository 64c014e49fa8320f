"""Results: names, units, files that come back the same, a ledger that prints."""

import csv
import dataclasses
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import mechanisms
import pliant as pl
from flipped_bits import outcomes
from older_files import without_checksums
from pliant.results.timings import TIMINGS

EXAMPLES = Path(__file__).parents[2] / "examples"


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
    counted = {name: value for name, value in run.stats.items() if name not in TIMINGS}
    assert (back.events, back.ok, back.message, back.stats) == (run.events, run.ok, run.message, counted)
    assert str(back.ledger) == str(run.ledger)
    assert back.drawing.to_json() == run.drawing.to_json()
    assert [p.name for p in tmp_path.iterdir()] == ["run.nc"]


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("options", [{}, {"quantities": ["q", "work"]}, {"compression": 4}])
def test_a_result_from_a_file_is_written_as_the_same_bytes(run, tmp_path, options, lazy):
    run.to_netcdf(tmp_path / "run.nc", **options)
    pl.Result.from_netcdf(tmp_path / "run.nc", lazy=lazy).to_netcdf(tmp_path / "again.nc", **options)
    assert (tmp_path / "again.nc").read_bytes() == (tmp_path / "run.nc").read_bytes()


def test_a_failed_write_leaves_nothing_behind(run, tmp_path, monkeypatch):
    def fail(*given):
        raise OSError("disk full")

    monkeypatch.setattr("pliant.results.file_contents.put", fail)
    (tmp_path / "old.nc").write_text("old")
    for name in ("run.nc", "old.nc"):
        with pytest.raises(OSError, match="disk full"):
            run.to_netcdf(tmp_path / name)
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("old.nc", "old")]


def test_writing_a_file_does_not_need_xarray(tmp_path):
    """It takes as long to import as a small run does to run."""
    code = (
        "import sys, pliant as pl\n"
        "system = pl.System('arm', (0, -9.81))\n"
        "system.add('arm', pl.RigidBody.rod(1.0, 1.0), joint=pl.Revolute())\n"
        "pl.simulate(system, 0.01).to_netcdf(sys.argv[1])\n"
        "print([name for name in ('xarray', 'pandas', 'dask') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code, tmp_path / "run.nc"], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"


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


def test_the_same_run_gives_the_same_bytes(tmp_path):
    model = pl.load_model(EXAMPLES / "driven_arm.yaml")
    for name in ("one.nc", "two.nc"):
        pl.simulate(model.system, 0.05, method=model.run.method).to_netcdf(tmp_path / name)
    assert (tmp_path / "one.nc").read_bytes() == (tmp_path / "two.nc").read_bytes()


def test_the_same_run_gives_the_same_bytes_with_python_functions_in_the_model(tmp_path):
    """Every function stands at another address in memory: none of those may get into the file."""
    for name in ("one.nc", "two.nc"):
        system = pl.System("ball", gravity=(0, -9.81))
        ball = system.add("ball", pl.RigidBody(mass=1.0, inertia=0.1), joint=pl.Planar(position=(0.0, 1e-3)))
        system.contact(points=ball.root, against=pl.Plane(normal=(0, 1)), name="ground",
                       normal=pl.CustomNormal(lambda depth, rate, entry: 1e5 * depth, lambda depth: 5e4 * depth**2),
                       friction=lambda speed, normal: 0.1 * normal * speed)  # fmt: skip
        system.force("push", ball.root, (lambda t, q, v: 0.1 * t, 0.0))
        system.event("side", lambda t, q, v: q["ball.x"] - 1e-6)
        pl.simulate(system, 0.05, save=0.01).to_netcdf(tmp_path / name)
    assert (tmp_path / "one.nc").read_bytes() == (tmp_path / "two.nc").read_bytes()


def test_a_file_tells_where_it_comes_from_and_what_it_holds(tmp_path):
    import xarray

    model = pl.load_model(EXAMPLES / "driven_arm.yaml")
    run = pl.simulate(model.system, 0.05, method=model.run.method, save=pl.every(0.01), max_steps=10_000)
    run.to_netcdf(tmp_path / "run.nc")
    with xarray.open_dataset(tmp_path / "run.nc") as opened:  # as anyone opens it
        assert opened.attrs["pliant_version"] == pl.__version__
        assert all("units" in opened[name].attrs and "long_name" in opened[name].attrs for name in run.values if name in opened)
        assert {"q", "v", "tip_position", "kinetic", "work"} <= set(opened)
        stored = pl.loads_model(str(opened["model"].item()))
    assert stored.system == model.system
    assert (stored.run.t_end, stored.run.method, stored.run.save, stored.run.max_steps) == (0.05, model.run.method, 0.01, 10_000)
    again = pl.simulate(stored.system, stored.run.t_end, **stored.run.options)
    assert np.array_equal(again.values["q"], run.values["q"])
    back = pl.Result.from_netcdf(tmp_path / "run.nc")
    assert dict(back.provenance) == dict(run.provenance)
    assert dict(pickle.loads(pickle.dumps(run)).provenance) == dict(run.provenance)


def test_a_model_with_python_functions_tells_which_part_no_file_can_hold(run):
    assert run.provenance["model"] == ""
    assert "a Python function cannot be written to a file" in run.provenance["no_model"]


def test_what_is_added_to_a_system_later_is_no_part_of_an_earlier_run():
    system = pl.System("arm", (0, -9.81))
    arm = system.add("arm", pl.RigidBody.rod(1.0, 1.0), joint=pl.Revolute())
    early = pl.simulate(system, 0.01)
    system.force("push", arm.tip, (1.0, 0.0))
    assert "push" not in early.provenance["model"]


def test_a_table_of_text_holds_every_number_to_the_last_digit(run, tmp_path):
    run.to_csv(tmp_path / "run.csv")
    with open(tmp_path / "run.csv", newline="") as file:
        head, *rows = csv.reader(file)
    table = np.array(rows, dtype=float)
    assert head[0] == "time [s]" and np.array_equal(table[:, 0], run.time)
    assert np.array_equal(table[:, head.index("q link1.angle [rad]")], run["link1.angle"])
    assert np.array_equal(table[:, head.index("v link1.angle [rad/s]")], run.rate("link1.angle"))
    assert np.array_equal(table[:, head.index("tip_position link2 y [m]")], run.of_body("tip_position", "link2")[:, 1])
    assert len(head) == len(set(head)) == 1 + sum(values[0].size for values in run.values.values())
    run.to_csv(tmp_path / "few.csv", ["kinetic", "q"])
    assert (tmp_path / "few.csv").read_text().startswith("time [s],kinetic [J],q link0.angle [rad]")
    with pytest.raises(pl.ModelError, match=r"quantities must be among .*\(did you mean 'kinetic'\?\), got 'kinetik'"):
        run.to_csv(tmp_path / "none.csv", ["kinetik"])
    assert sorted(p.name for p in tmp_path.iterdir()) == ["few.csv", "run.csv"]


def test_a_file_of_others_is_refused(tmp_path):
    import xarray

    xarray.Dataset({"a": 1}).to_netcdf(tmp_path / "other.nc")
    with pytest.raises(pl.ModelError, match=r"other\.nc': attributes must be those of a result written by pliant"):
        pl.Result.from_netcdf(tmp_path / "other.nc")


@pytest.mark.parametrize("lazy", [False, True])
def test_no_flipped_bit_of_a_file_is_returned_unnoticed(lazy, tmp_path):
    system = pl.System("ball", gravity=(0.0, -9.81))
    system.add("ball", pl.RigidBody(mass=1.0, inertia=0.1), joint=pl.Planar(velocity=(0.3, 0.0)))
    pl.simulate(system, 0.1, save=0.01, keep=["q", "v"]).to_netcdf(tmp_path / "run.nc")
    read = f"""back = Result.from_netcdf(path, lazy={lazy})
    rows = [array[:].tolist() for array in (back.time, *back.values.values())]
    return rows, back.labels, back.message, back.stats, back.provenance, back.final_state.to_json()"""
    ends = outcomes(tmp_path / "run.nc", "from pliant.results.result import Result; from pliant.errors import ModelError", read)
    assert "unnoticed" not in ends and ends.count("refused") > 4


def test_of_body_refuses_what_is_no_quantity_of_bodies(run):
    with pytest.raises(pl.ModelError, match=r"of_body: quantity must be among .* \(did you mean 'tip_position'\?\), got 'tip_pos'"):
        run.of_body("tip_pos", "link0")
    with pytest.raises(pl.ModelError, match=r"of_body: quantity must be one of bodies: .*tip_position.*, got 'q'"):
        run.of_body("q", "link0")  # a coordinate by the number of a body


def older_file(run, tmp_path, *missing):
    """The result as a version would have written it that did not know some quantities."""
    import xarray

    run.to_netcdf(tmp_path / "new.nc")
    with xarray.open_dataset(tmp_path / "new.nc") as opened:
        without_checksums(opened.load()).drop_vars(list(missing)).to_netcdf(tmp_path / "old.nc", engine="netcdf4")
    return pl.Result.from_netcdf(tmp_path / "old.nc")


def test_what_an_older_file_does_not_hold_reads_as_nan_and_is_said(run, tmp_path):
    old = older_file(run, tmp_path, "orientation", "reaction_force", "power")
    for name, array in run.values.items():
        if name in ("orientation", "reaction_force", "power"):
            assert old.values[name].shape == array.shape and np.all(np.isnan(old.values[name]))
        else:
            assert np.array_equal(old.values[name], array)
    sentence = "the file contains no orientation, power, reaction_force (an older version wrote it), so they read as nan"
    assert old.warnings == (sentence,) and sentence in str(old)
    old.to_netcdf(tmp_path / "again.nc")
    assert pl.Result.from_netcdf(tmp_path / "again.nc").warnings == (sentence,)
    old.to_csv(tmp_path / "old.csv", ["power"])
    assert (tmp_path / "old.csv").read_text().splitlines()[1].endswith(",nan")


@pytest.mark.parametrize("missing", ["gravity", "work", "kinetic"])
def test_a_ledger_that_lacks_an_energy_does_not_call_itself_balanced(run, tmp_path, missing):
    ledger = older_file(run, tmp_path, missing).ledger
    assert np.isnan(ledger.balance_error_max) and np.isnan(ledger.relative_error_max)
    assert "nan" in str(ledger)
    rows_alone = older_file(run, tmp_path, missing, "extremes").ledger
    assert np.isnan(rows_alone.scale) and np.isnan(rows_alone.relative_error_max)


def test_warnings_are_printed_written_and_read_back(run, tmp_path):
    assert run.warnings == () and "warning" not in str(run)
    warned = dataclasses.replace(run, warnings=("the balance is 3 J off", "another"))
    assert str(warned).splitlines()[1:] == ["warning: the balance is 3 J off", "warning: another"]
    for name, result in (("warned", warned), ("plain", run)):
        result.to_netcdf(tmp_path / f"{name}.nc")
        assert pl.Result.from_netcdf(tmp_path / f"{name}.nc").warnings == result.warnings


def with_payload(mass=0.3):
    system = pl.System("arm", gravity=(0, -9.81))
    length = pl.Parameter("length", 1.0, "m")
    system.add("arm", pl.RigidBody.rod(length, pl.Parameter("payload", mass, "kg", low=0.1)), joint=pl.Revolute(angle=0.3))
    system.drive("m", "arm.angle", pl.Parameter("torque", 0.5))
    return system


def test_a_result_records_the_parameters_of_its_run_and_so_does_its_file(tmp_path):
    result = pl.simulate(with_payload(), 0.2, parameters={"payload": 0.31})
    assert result.parameters == {"length": 1.0, "payload": 0.31, "torque": 0.5}
    assert "parameters: payload = 0.31, length = 1, torque = 0.5" in str(result)
    result.to_netcdf(tmp_path / "a.nc")
    again = pl.Result.from_netcdf(tmp_path / "a.nc")
    assert again.parameters == result.parameters
    assert again.provenance["settings"]["parameters"] == result.parameters


def test_a_result_without_parameters_does_not_speak_of_them(run):
    assert run.parameters == {}
    assert "parameters" not in str(run)
    assert "parameters" not in run.provenance["settings"]


def test_the_model_that_a_result_tells_gives_its_run_again(tmp_path):
    result = pl.simulate(with_payload(), 0.2, parameters={"payload": 0.31, "torque": 0.1})
    model = pl.loads_model(result.provenance["model"])
    assert {name: p.value for name, p in model.system.parameters.items()} == result.parameters
    again = pl.simulate(model.system, model.run.t_end, **model.run.options)
    np.testing.assert_array_equal(again["arm.angle"], result["arm.angle"])


def test_a_compiled_system_runs_with_other_parameters_and_keeps_its_own():
    compiled = pl.compile_system(with_payload(), parameters={"length": 1.2})
    result = pl.simulate(compiled, 0.2, parameters={"payload": 0.4})
    assert result.parameters == {"length": 1.2, "payload": 0.4, "torque": 0.5}
    expected = pl.simulate(with_payload(), 0.2, parameters={"length": 1.2, "payload": 0.4})
    np.testing.assert_array_equal(result["arm.angle"], expected["arm.angle"])
    assert pl.simulate(compiled, 0.2).parameters["payload"] == 0.3
    with pytest.raises(pl.ModelError, match=r"parameter 'payload': value must be >= 0\.1 kg, got 0\.05"):
        pl.simulate(compiled, 0.2, parameters={"payload": 0.05})
