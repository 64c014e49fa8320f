"""Rows of chosen quantities, written to a file while a run goes on and read from it when they are asked for."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import netCDF4
import numpy as np
import pytest
from typer.testing import CliRunner

import pliant as pl
from pliant.cli import app
from pliant.files import RunSettings
from pliant.results.lazy_array import LazyArray
from pliant.run import row_sinks
from pliant.run.save_times import save_plan, save_windows


def bouncing_ball() -> pl.System:
    system = pl.System("ball", gravity=(0.0, -9.81))
    ball = system.add("ball", pl.RigidBody(mass=1.0, inertia=0.1), joint=pl.Planar(position=(0.0, 0.05), velocity=(0.3, 0.0)))
    system.contact(points=ball.root, against=pl.Plane(normal=(0.0, 1.0)), name="ground",
                   normal=pl.HuntCrossley(stiffness=1e5, exponent=1.5, restitution=0.8))  # fmt: skip
    system.event("passing", lambda t, q, v: q["ball.x"] - 0.05)
    return system


@pytest.fixture(scope="module")
def compiled() -> pl.Compiled:
    return pl.compile_system(bouncing_ball())


@pytest.fixture(scope="module")
def whole(compiled):
    return pl.simulate(compiled, 0.4, save=1e-4)


@pytest.fixture
def small_windows(monkeypatch):
    """Sixteen rows at a time: of thousands, most windows end inside a step."""
    monkeypatch.setattr(row_sinks, "MOST_ROWS", 16)
    monkeypatch.setattr(row_sinks, "FEWEST_ROWS", 1)


def same_rows(left: pl.Result, right: pl.Result) -> bool:
    return all(np.array_equal(np.asarray(right.values[name]), left.values[name]) for name in right.values) and np.array_equal(
        np.asarray(right.time), left.time
    )


METHODS = [pl.Auto(), pl.RK4(1e-4), pl.DOP853(rtol=1e-9, atol=1e-12), pl.Radau5(rtol=1e-6, atol=1e-9)]
SAVES = {"interval": 2e-4, "steps": "steps", "times": tuple(np.linspace(0.0, 0.44, 123) ** 2)}
INTERVALS = [(0.1, 0.0, 1.0), (1e-3, 0.1, 0.7), (0.3, 0.0, 1.0), (1 / 3, 0.2, 1.2), (5.0, 0.0, 1.0)]


@pytest.mark.parametrize("method", METHODS, ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("save", SAVES.values(), ids=SAVES.keys())
def test_rows_written_while_running_have_the_bits_of_rows_in_memory(compiled, method, save, tmp_path, small_windows):
    usual = pl.simulate(compiled, 0.2, method=method, save=save)
    filed = pl.simulate(compiled, 0.2, method=method, save=save, to=tmp_path / "run.nc", keep=["q", "work", "a", "normal_force"])
    assert same_rows(usual, filed) and len(filed.values) == 4 and filed.stats["steps"] == usual.stats["steps"]
    assert (filed.events, repr(filed.contacts), filed.message) == (usual.events, repr(usual.contacts), usual.message)
    assert filed.final_state.to_json() == usual.final_state.to_json()
    assert usual.contacts and usual.events
    assert [path.name for path in tmp_path.iterdir()] == ["run.nc"]


def test_thousands_of_rows_inside_one_step(compiled, tmp_path, small_windows):
    usual = pl.simulate(compiled, 0.05, save=1e-5)
    assert usual.stats["steps"] < len(usual.time) / 50
    kept = pl.simulate(compiled, 0.05, save=1e-5, keep=["normal_force", "q", "time"])
    assert list(kept.values) == ["q", "normal_force"]
    assert all(np.array_equal(kept.values[name], usual.values[name]) for name in kept.values)
    assert np.array_equal(kept.time, usual.time) and kept.stats["steps"] == usual.stats["steps"]


@pytest.mark.parametrize(("interval", "t_start", "t_end"), INTERVALS)
def test_times_made_in_windows_have_the_bits_of_the_whole_list(interval, t_start, t_end):
    plan, windows = save_plan(interval, t_start, t_end), save_windows(interval, t_start, t_end)
    assert windows.size == plan.size
    for size in (1, 2, 7, plan.size):
        parts = [windows.between(first, min(first + size, plan.size)) for first in range(0, plan.size, size)]
        assert np.array_equal(np.concatenate(parts), plan)


def test_what_was_not_kept_is_refused_by_name(compiled, whole, tmp_path):
    kept = pl.simulate(compiled, 0.4, save=1e-4, keep=["q", "kinetic"])
    kept.to_netcdf(tmp_path / "kept.nc")
    for result in (kept, pl.Result.from_netcdf(tmp_path / "kept.nc"), pl.Result.from_netcdf(tmp_path / "kept.nc", lazy=True)):
        assert np.array_equal(np.asarray(result.values["kinetic"]), whole.values["kinetic"])
        assert result.final_state is not None and result.warnings == whole.warnings == ()
        with pytest.raises(pl.ModelError, match="quantity 'gap' must be kept"):
            result.values["gap"]
        with pytest.raises(pl.ModelError, match=r"must contain work, kinetic, .* for an energy ledger"):
            result.ledger  # noqa: B018
        with pytest.raises(pl.ModelError, match="must be kept"):
            pl.plot.overview(result)
        with pytest.raises(pl.ModelError, match="must be kept"):
            pl.player.write(result, tmp_path / "page.html")
        assert "no energy ledger" in result._repr_html_()
    with pytest.raises(KeyError, match=r"quantity must be one of q, v, .* got 'nothing'"):
        kept.values["nothing"]
    with pytest.raises(pl.ModelError, match="quantity 'v' must be kept"):
        kept.to_netcdf(tmp_path / "more.nc", quantities=["v"])
    gone_on = pl.simulate(compiled, 0.5, start=kept, save=1e-4)
    assert gone_on.ok


def test_wrong_requests_are_refused_before_the_run(compiled, tmp_path):
    with pytest.raises(pl.ModelError, match="did you mean 'normal_force'"):
        pl.simulate(compiled, 0.1, keep=["normal_forces"])
    with pytest.raises(pl.ModelError, match="must be a list of quantities"):
        pl.simulate(compiled, 0.1, keep="q")
    with pytest.raises(pl.ModelError, match="must be left out unless to="):
        pl.simulate(compiled, 0.1, compression=4)
    with pytest.raises(pl.ModelError, match="0 to 9"):
        pl.simulate(compiled, 0.1, to=tmp_path / "run.nc", compression=12)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(pl.ModelError, match="must be a regular file"):
        pl.simulate(compiled, 0.1, to=tmp_path / "pipe")
    with pytest.raises(pl.ModelError, match="must hold arguments of simulate"):
        pl.sweep(lambda height: bouncing_ball(), {"height": [0.1]}, {"t_end": 0.1, "to": tmp_path / "run.nc"})
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]


def test_a_run_that_ends_early_leaves_its_rows_and_its_message(compiled, tmp_path, small_windows):
    short = pl.simulate(compiled, 0.4, save=1e-4, max_steps=40, to=tmp_path / "short.nc", keep=["q"])
    usual = pl.simulate(compiled, 0.4, save=1e-4, max_steps=40)
    back = pl.Result.from_netcdf(tmp_path / "short.nc")
    assert not back.ok and back.message == short.message == usual.message
    assert 0 < len(back.time) < 4001 and np.array_equal(back.values["q"], usual.values["q"])


def test_an_interrupted_run_leaves_its_rows(compiled, tmp_path, small_windows):
    def press(t: float, t_end: float) -> None:
        if t > 1.0:
            raise KeyboardInterrupt

    result = pl.simulate(compiled, 1e6, save=2e-2, to=tmp_path / "run.nc", keep=["q"], progress=press)
    back = pl.Result.from_netcdf(tmp_path / "run.nc")
    assert result.interrupted and back.interrupted and "interrupted" in back.message
    assert len(back.time) > 50 and back.time[-1] <= result.final_state.t


def test_a_disk_that_fills_up_leaves_nothing_behind(compiled, tmp_path, monkeypatch, small_windows):
    from pliant.results.rows_file import RowsFile

    put = RowsFile.put

    def fail(self, first, times, values):
        if first > 700:
            raise OSError(28, "No space left on device")
        put(self, first, times, values)

    monkeypatch.setattr(RowsFile, "put", fail)
    (tmp_path / "old.nc").write_text("old")
    with pytest.raises(OSError, match="No space left"):
        pl.simulate(compiled, 0.4, save=1e-4, to=tmp_path / "old.nc")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("old.nc", "old")]


def test_memory_is_bounded_however_many_rows_there_are(tmp_path):
    """The rows have 86 MB; a process that holds them would grow by twice that."""
    code = (
        "import resource, sys, pliant as pl\n"
        "system = pl.System('arm', (0, -9.81))\n"
        "system.add('arm', pl.RigidBody.rod(1.0, 1.0), joint=pl.Revolute())\n"
        "most = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024\n"
        "pl.simulate(system, 0.1, to=sys.argv[1])\n"
        "before = most()\n"
        "result = pl.simulate(system, 30.0, save=1e-4, to=sys.argv[1])\n"
        "print(len(result.time), sum(array.nbytes for array in result.values.values()) / 1e6, most() - before)"
    )
    done = subprocess.run([sys.executable, "-c", code, tmp_path / "run.nc"], check=True, capture_output=True, text=True)
    rows, size, grown = (float(word) for word in done.stdout.split())
    assert (tmp_path / "run.nc").stat().st_size < 1.1e6 * (size + 8e-6 * rows)
    assert rows == 300_001 and size > 80.0 and grown < 60.0


def test_a_lazy_result_reads_what_is_asked_for(whole, tmp_path):
    whole.to_netcdf(tmp_path / "run.nc")
    lazy = pl.Result.from_netcdf(tmp_path / "run.nc", lazy=True)
    assert lazy.lazy and not whole.lazy and isinstance(lazy.values["q"], LazyArray)
    mask = whole.values["normal_force"][:, 0] > 0.0
    slices = (slice(10, 20), slice(None, None, 7), slice(50, 20, -3), slice(5, 5))
    for key in (0, -1, *slices, (slice(5, 9), 1), (..., 0), mask, np.array([5, 3, -1]), (mask, 0)):
        assert np.array_equal(lazy.values["q"][key], whole.values["q"][key]), key
    assert np.array_equal(lazy["ball.y"], whole["ball.y"])
    assert np.array_equal(lazy.values["kinetic"] + lazy.values["gravity"], whole.values["kinetic"] + whole.values["gravity"])
    assert lazy.values["q"].max() == whole.values["q"].max()
    assert lazy == pl.Result.from_netcdf(tmp_path / "run.nc")
    assert str(lazy.ledger) == str(whole.ledger)
    assert lazy.data["q"].sel(coordinate="ball.y").isel(time=-1) == whole["ball.y"][-1]
    lazy.data.close()
    again = tmp_path / "again.nc"
    lazy.to_netcdf(again)
    assert pl.Result.from_netcdf(again) == lazy
    whole.to_netcdf(tmp_path / "run.nc", quantities=["q"])
    with pytest.raises(pl.ModelError, match="must not have changed since the result was read"):
        lazy.values["q"][0]


def test_compression_makes_files_smaller_and_changes_no_bit(whole, tmp_path):
    whole.to_netcdf(tmp_path / "plain.nc")
    whole.to_netcdf(tmp_path / "packed.nc", compression=4)
    assert (tmp_path / "packed.nc").stat().st_size < 0.7 * (tmp_path / "plain.nc").stat().st_size
    assert pl.Result.from_netcdf(tmp_path / "packed.nc") == pl.Result.from_netcdf(tmp_path / "plain.nc")
    whole.to_netcdf(tmp_path / "part.nc", quantities=["q"], compression=9)
    assert list(pl.Result.from_netcdf(tmp_path / "part.nc").values) == ["q"]
    with pytest.raises(pl.ModelError, match="0 to 9"):
        whole.to_netcdf(tmp_path / "bad.nc", compression=-1)


def test_a_file_tells_unit_and_body_of_every_coordinate(whole, tmp_path):
    whole.to_netcdf(tmp_path / "run.nc")
    with netCDF4.Dataset(tmp_path / "run.nc") as file:
        assert list(file["coordinate"][:]) == ["ball.x", "ball.y", "ball.angle"]
        assert list(file["unit_of_coordinate"][:]) == ["m", "m", "rad"] and list(file["body_of_coordinate"][:]) == ["ball"] * 3
        assert list(file["unit_of_rate"][:]) == ["m/s", "m/s", "rad/s"]
        assert file["q"].units_of_columns == "unit_of_coordinate"
    assert list(whole.data["unit_of_coordinate"].values) == ["m", "m", "rad"]


def test_rates_of_a_ball_joint_have_units_of_their_own():
    system = pl.System("top", gravity=(0.0, 0.0, -9.81))
    system.add("top", pl.RigidBody(mass=1.0, inertia=(0.1, 0.1, 0.05)), joint=pl.Spherical())
    data = pl.simulate(system, 0.01, save=0.01).data
    assert set(data["unit_of_coordinate"].values) == {"1"} and set(data["unit_of_rate"].values) == {"rad/s"}


def test_the_same_run_gives_the_same_bytes_in_another_process(tmp_path):
    """Functions of every kind, at other addresses, with other seeds of hashes."""
    code = (
        "import functools, sys, pliant as pl\n"
        "class Push:\n"
        "    def __call__(self, t, q, v): return 0.1 * t\n"
        "    def other(self, t, q, v): return 0.2 * t\n"
        "system = pl.System('ball', (0, -9.81))\n"
        "ball = system.add('ball', pl.RigidBody(mass=1.0, inertia=0.1), joint=pl.Planar(position=(0.0, 1e-3)))\n"
        "for k, push in enumerate([Push(), Push().other, functools.partial(lambda a, t, q, v: a * t, 0.3)]):\n"
        "    system.force(f'push{k}', ball.root, (push, 0.0))\n"
        "pl.simulate(system, 0.01, save=1e-3, to=sys.argv[1], compression=1)"
    )
    for seed in ("1", "2"):
        target = tmp_path / f"{seed}.nc"
        subprocess.run([sys.executable, "-c", code, target], check=True, env={**os.environ, "PYTHONHASHSEED": seed})
    assert (tmp_path / "1.nc").read_bytes() == (tmp_path / "2.nc").read_bytes()


# ---- for other programs


def test_parquet_comes_back_with_units(whole, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    whole.to_parquet(tmp_path / "run.parquet", ["q", "contact_point ground ball.root x"])
    table = parquet.read_table(tmp_path / "run.parquet")
    assert table.column_names == ["time", "q ball.x", "q ball.y", "q ball.angle", "contact_point ground ball.root x"]
    assert np.array_equal(table["q ball.y"].to_numpy(), whole["ball.y"])
    assert table.schema.field("q ball.angle").metadata[b"unit"] == b"rad"


def test_matlab_comes_back_with_labels(whole, tmp_path):
    from scipy.io import loadmat

    whole.to_matlab(tmp_path / "run.mat")
    back = loadmat(tmp_path / "run.mat", squeeze_me=True, struct_as_record=False)
    assert np.array_equal(back["time"], whole.time) and np.array_equal(back["q"], whole.values["q"])
    assert list(back["columns"].q) == ["q ball.x", "q ball.y", "q ball.angle"] and list(back["units"].q) == ["m", "m", "rad"]
    assert np.array_equal(back["contact_normal"], whole.values["contact_normal"][:, 0])
    assert back["message"] == whole.message


def invoke(*words: str | Path) -> str:
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == 0, done.output
    return done.output


def test_export_writes_what_each_program_reads(whole, tmp_path):
    whole.to_netcdf(tmp_path / "run.nc")
    invoke("export", tmp_path / "run.nc", tmp_path / "out.csv", "--columns", "q ball.y,normal_force")
    head, *rows = (tmp_path / "out.csv").read_text().splitlines()
    assert head == "time [s],q ball.y [m],normal_force ground ball.root [N]"
    table = np.array([[float(x) for x in row.split(",")] for row in rows])
    assert np.array_equal(table, np.column_stack([whole.time, whole["ball.y"], whole.values["normal_force"][:, 0]]))
    assert "4001 rows" in invoke("export", tmp_path / "run.nc", tmp_path / "out.mat")
    invoke("export", tmp_path / "run.nc", tmp_path / "out.parquet", "--columns", "kinetic")
    for words, message in ((["out.xls"], "must end in .csv, .parquet, .mat"), (["out.csv", "--columns", "qq"], "must be among")):
        done = CliRunner().invoke(app, ["export", str(tmp_path / "run.nc"), str(tmp_path / words[0]), *words[1:]])
        assert done.exit_code == 2 and message in done.output


def test_export_takes_coordinates_and_parts_of_quantities_and_its_file_by_name(whole, tmp_path):
    whole.to_netcdf(tmp_path / "run.nc")
    invoke("export", tmp_path / "run.nc", "--out", tmp_path / "out.csv", "--columns", "ball.y,tip_position ball,time")
    head = (tmp_path / "out.csv").read_text().splitlines()[0]
    assert head == "time [s],q ball.y [m],tip_position ball x [m],tip_position ball y [m],tip_position ball z [m]"
    for words, message in (([], "--out must be given"), (["a.csv", "--out", "b.csv"], "only once"),
                           (["--out", tmp_path / "out.csv", "--columns", "bal.y"], "did you mean 'ball.y'")):  # fmt: skip
        done = CliRunner().invoke(app, ["export", str(tmp_path / "run.nc"), *map(str, words)])
        assert done.exit_code == 2 and message in done.output


def test_the_command_line_keeps_and_streams(tmp_path):
    model, out = tmp_path / "ball.yaml", tmp_path / "ball.nc"
    system = pl.System("ball", gravity=(0.0, -9.81))
    system.add("ball", pl.RigidBody(mass=1.0, inertia=0.1), joint=pl.Planar(position=(0.0, 0.05)))
    model.write_text(pl.dump_model(system, RunSettings(t_end=0.1, save=1e-3, keep=("q", "v"))))
    assert pl.load_model(model).run.keep == ("q", "v")
    said = json.loads(invoke("run", model, "--out", out, "--json", "--stream", "--compression", "3"))
    assert said["rows"] == 101 and said["energy_balance"]["largest_error_J"] < 1e-9
    assert list(pl.Result.from_netcdf(out).values) == ["q", "v"]
    invoke("run", model, "--out", out, "--keep", "kinetic", "--quiet")
    told = invoke("info", out)
    assert "kinetic energy" in told and "not kept: q, v, a" in told and "no energy ledger" in told
    assert list(json.loads(invoke("info", out, "--json"))["quantities"]) == ["kinetic"]
    done = CliRunner().invoke(app, ["run", str(model), "--keep", "kinetics"])
    assert done.exit_code == 2 and "did you mean 'kinetic'" in done.output


SWING = """
import sys
import pliant as pl
swing = pl.System("swing", gravity=(0, -9.81))
swing.add("bar", pl.RigidBody.rod(0.5, 1.0), joint=pl.Revolute(angle=0.3))
"""
LONG = SWING + "pl.simulate(swing, 1e4, save=1e-3, to=sys.argv[1], keep=['q', 'kinetic'], compression=1)"
LARGE = (
    SWING
    + """
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, resource.RLIM_INFINITY))
to = {"to": sys.argv[1]} if sys.argv[2] == "stream" else {}
try:
    pl.simulate(swing, 20.0, save=1e-3, **to).to_netcdf(sys.argv[1])
except OSError as trouble:
    print(trouble)
"""
)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no kill here")
def test_rows_of_a_killed_run_can_be_read_and_it_says_that_it_did_not_end(tmp_path):
    run = subprocess.Popen([sys.executable, "-c", LONG, str(tmp_path / "long.nc")])
    unfinished = tmp_path / "long.unfinished.nc"
    while run.poll() is None and not (unfinished.exists() and unfinished.stat().st_size > 400_000):
        time.sleep(0.01)
    run.kill()
    run.wait()
    lazy = pl.Result.from_netcdf(unfinished, lazy=True)
    assert not lazy.ok and lazy.message.startswith("the run did not end: it was killed") and len(lazy.time) > 10_000
    whole = pl.Result.from_netcdf(unfinished)
    assert np.array_equal(whole.time, np.arange(len(whole.time)) * 1e-3) and same_rows(whole, lazy)
    assert np.all(whole.values["kinetic"][1:] > 0.0)  # none of them is empty
    shown = CliRunner().invoke(app, ["info", str(unfinished)], env={"COLUMNS": "300"})
    assert shown.exit_code == 0 and "the run did not end" in shown.stdout
    pl.simulate(bouncing_ball(), 0.01, save=1e-3, to=tmp_path / "long.nc")
    assert unfinished.exists()  # what a user may still want is not deleted as other drafts are


@pytest.mark.skipif(sys.platform == "win32", reason="no limit of files here")
@pytest.mark.parametrize("how", ["at the end", "stream"])
def test_a_file_that_cannot_grow_is_named_with_the_reason(how, tmp_path):
    run = subprocess.run([sys.executable, "-c", LARGE, str(tmp_path / "large.nc"), how], capture_output=True, text=True)
    assert run.returncode == 0 and "File too large" in run.stdout and str(tmp_path) in run.stdout, run.stderr
    assert not list(tmp_path.iterdir())
