"""Sweeps: what they hold against runs one by one, what is stored, what goes on, what is refused."""

import json
import shutil

import numpy as np
import pytest
import xarray

import pliant as pl
from flipped_bits import outcomes
from pliant.study.sweep.job import Job
from sweeps import KEEP, MODEL, RUN, chain, contents, last_angle, pendulum

MASSES, LENGTHS = [0.5, 1.0, 2.0], [0.3, 0.4]
OVER = {"mass": MASSES, "length": LENGTHS}


@pytest.fixture
def counted(monkeypatch):
    """The cases that are computed."""
    cases = []
    compute = Job.compute
    monkeypatch.setattr(Job, "compute", lambda self, case, stopping=None: (cases.append(case), compute(self, case, stopping))[1])
    return cases


def test_every_case_is_the_run_that_simulate_makes(tmp_path):
    data = pl.sweep(pendulum(), OVER, RUN, ["q", "bob.angle", "tip_position", last_angle], store=tmp_path / "s")
    assert data.sizes["mass"] == 3 and data.sizes["length"] == 2 and data["mass"].attrs["units"] == "kg"
    for mass in MASSES:
        for length in LENGTHS:
            run = pl.simulate(pendulum(), **RUN, parameters={"mass": mass, "length": length})
            case = data.sel(mass=mass, length=length)
            assert np.array_equal(case["bob.angle"], run["bob.angle"]) and np.array_equal(case["time"], run.time)
            assert np.array_equal(case["q"].sel(coordinate="bob.angle"), run["bob.angle"])
            assert np.array_equal(case["tip_position"].sel(body="bob"), run.of_body("tip_position", "bob"))
            assert case["last_angle"].item() == run["bob.angle"][-1]
            assert case["ok"].item() is True and case["message"].item() == run.message
            assert case["balance_error"].item() == run.ledger.relative_error_max
    assert data["tip_position"].attrs["units"] == "m" and data["bob.angle"].attrs["units"] == "rad"


def test_a_dataset_of_a_store_reads_only_what_is_asked_for(tmp_path, monkeypatch):
    whole = pl.sweep(pendulum(), OVER, RUN, KEEP, store=tmp_path / "s", batch=1)
    from pliant.study.sweep.batch import FileBatch

    read = []
    monkeypatch.setattr(
        FileBatch, "read", lambda self, name, rows, was=FileBatch.read: (read.append(name), was(self, name, rows))[1]
    )
    data = pl.open_sweep(tmp_path / "s")
    assert "..." in repr(data["kinetic"]) and not read
    data["kinetic"].sel(mass=1.0).isel(length=0, time=-1).item()
    assert read == ["kinetic"]
    data["kinetic"][{"mass": [2, 0], "time": slice(None, None, 5)}].load()
    assert read == ["kinetic"] * 5
    expected = whole["kinetic"].values[[2, 0]][:, :, ::5]
    assert np.array_equal(data["kinetic"].isel(mass=[2, 0], time=slice(None, None, 5)), expected)
    assert np.array_equal(data["kinetic"].values[1, 1, 3], whole["kinetic"].isel(mass=1, length=1, time=3))


def test_in_memory_and_in_a_folder_it_is_the_same(tmp_path):
    assert pl.sweep(pendulum(), OVER, RUN, KEEP).identical(pl.sweep(pendulum(), OVER, RUN, KEEP, store=tmp_path / "s").load())


def test_a_model_file_runs_as_it_says_and_its_numbers_are_swept(tmp_path):
    (tmp_path / "m.yaml").write_text(MODEL)
    data = pl.sweep(tmp_path / "m.yaml", {"torque": [0.0, 0.5]}, keep="bob.angle")
    for torque in (0.0, 0.5):
        model = pl.load_model(tmp_path / "m.yaml", parameters={"torque": torque})
        run = pl.simulate(model.system, model.run.t_end, **model.run.options)
        assert np.array_equal(data["bob.angle"].sel(torque=torque), run["bob.angle"])


def test_a_loaded_model_runs_as_its_file_says(tmp_path):
    (tmp_path / "m.yaml").write_text(MODEL)
    model = pl.load_model(tmp_path / "m.yaml")
    data = pl.sweep(model, {"torque": [0.0, 0.5]}, keep="bob.angle")
    assert data.identical(pl.sweep(tmp_path / "m.yaml", {"torque": [0.0, 0.5]}, keep="bob.angle"))


def test_numbers_of_a_file_that_decide_its_structure_are_swept_too(tmp_path):
    beam = """
pliant: 1
system: beam
gravity: [0, -9.81]
define: {modes: 1, height: 4 mm}
bodies:
  arm:
    beam: {length: 0.5, theory: euler-bernoulli, material: steel, modes: {ends: cf, count: modes},
           section: {rectangle: {height: height, width: 0.02}}}
    joint: {revolute: {}}
run: {t_end: 0.01, save: 0.002}
"""
    (tmp_path / "b.yaml").write_text(beam)
    data = pl.sweep(tmp_path / "b.yaml", {"modes": [1, 2], "height": [3e-3, 4e-3]}, keep="q", store=tmp_path / "s")
    assert list(data["coordinate"].values) == ["arm.angle", "arm.y1", "arm.y2"] and data["ok"].values.all()
    assert np.isnan(data["q"].sel(modes=1, coordinate="arm.y2")).all()
    model = pl.load_model(tmp_path / "b.yaml", parameters={"modes": 2, "height": 3e-3})
    run = pl.simulate(model.system, 0.01, save=0.002)
    assert np.array_equal(data["q"].sel(modes=2, height=3e-3), run.values["q"])


def test_a_function_may_give_another_structure_in_every_case():
    data = pl.sweep(chain, {"links": [1, 2, 3]}, {"t_end": 0.1, "save": 0.05}, "q")
    assert data["q"].dims == ("links", "time", "coordinate") and data["links"].dtype == int
    run = pl.simulate(chain(3), 0.1, save=0.05)
    assert np.array_equal(data["q"].sel(links=3), run.values["q"])
    assert np.isnan(data["q"].sel(links=1, coordinate=["rod1.angle", "rod2.angle"])).all()


def test_run_may_be_a_function_of_the_system():
    def twice(system):
        return pl.simulate(system, 0.4, start=pl.simulate(system, 0.2), save=0.1)

    data = pl.sweep(pendulum(), {"mass": [0.5, 1.0]}, twice, "bob.angle")
    first = pl.simulate(pendulum(), 0.2, parameters={"mass": 0.5})
    again = pl.simulate(pendulum(), 0.4, start=first, save=0.1, parameters={"mass": 0.5})
    assert np.array_equal(data["bob.angle"].sel(mass=0.5), again["bob.angle"])


def test_a_run_may_take_numbers_that_are_swept(counted):
    """As a study of convergence does: the tolerance belongs to the run, the mass to the mechanism."""

    def run(system, rtol, rows=3):
        return pl.simulate(system, 0.4, method=pl.DOP853(rtol=rtol, atol=1e-12), save=0.4 / (rows - 1))

    data = pl.sweep(pendulum(), {"mass": [0.5, 1.0], "rtol": [1e-4, 1e-10]}, run, "bob.angle")
    method = pl.DOP853(rtol=1e-4, atol=1e-12)
    alone = pl.simulate(pendulum(), 0.4, method=method, save=0.2, parameters={"mass": 0.5})
    assert np.array_equal(data["bob.angle"].sel(mass=0.5, rtol=1e-4), alone["bob.angle"]) and len(counted) == 4
    assert not np.array_equal(data["bob.angle"].sel(rtol=1e-4), data["bob.angle"].sel(rtol=1e-10))
    with pytest.raises(pl.ModelError, match="parameters: name must name one of"):
        pl.sweep(pendulum(), {"atol": [1e-4]}, run)


def test_whole_results_come_back_as_results(tmp_path):
    data = pl.sweep(pendulum(), {"mass": [0.5, 1.0, 2.0]}, RUN, "result", store=tmp_path / "s", batch=2)
    result = data["result"].sel(mass=2.0).item()
    run = pl.simulate(pendulum(), **RUN, parameters={"mass": 2.0})
    assert isinstance(result, pl.Result) and result.parameters == run.parameters
    assert np.array_equal(result.values["reaction_force"], run.values["reaction_force"])
    run.to_netcdf(tmp_path / "run.nc")
    pl.Result.from_netcdf(tmp_path / "run.nc").to_netcdf(tmp_path / "one.nc")
    result.to_netcdf(tmp_path / "two.nc")
    assert (tmp_path / "one.nc").read_bytes() == (tmp_path / "two.nc").read_bytes()


@pytest.mark.parametrize("stored", [True, False], ids=["stored", "in memory"])
def test_a_case_without_a_result_has_none(tmp_path, stored):
    system, damper = pendulum(), pl.Parameter("damper", 0.1)
    rod = pl.RigidBody.rod(mass=0.1, length=0.1)
    system.add("hand", rod, joint=pl.Revolute(damper=pl.Damper(damper)), on=system.handle("bob").tip)
    data = pl.sweep(system, {"damper": [-1.0, 0.1]}, RUN, "result", tmp_path / "s" if stored else None)
    assert data["result"].sel(damper=-1.0).item() is None and data["result"].sel(damper=0.1).item().ok


def test_the_order_in_which_things_are_kept_does_not_matter(tmp_path, counted):
    pl.sweep(pendulum(), OVER, RUN, ["kinetic", "bob.angle"], tmp_path / "s")
    counted.clear()
    assert pl.sweep(pendulum(), OVER, RUN, ["bob.angle", "kinetic"], tmp_path / "s")["ok"].values.all() and not counted


def test_rows_at_every_step_have_times_of_their_own(tmp_path):
    data = pl.sweep(pendulum(), {"mass": [0.5, 2.0]}, {**RUN, "save": "steps"}, "kinetic", store=tmp_path / "s", batch=1)
    for mass in (0.5, 2.0):
        run = pl.simulate(pendulum(), **{**RUN, "save": "steps"}, parameters={"mass": mass})
        rows = slice(0, run.time.size)
        assert np.array_equal(data["time"].sel(mass=mass)[rows], run.time)
        assert np.array_equal(data["kinetic"].sel(mass=mass)[rows], run.values["kinetic"])
        assert np.isnan(data["kinetic"].sel(mass=mass)[run.time.size :]).all()


def test_what_functions_return_keeps_its_shape_and_its_dimensions():
    keep = {
        "number": lambda result: 3,
        "two": lambda result: [1.0, 2.0],
        "path": lambda result: result.data["tip_position"].sel(body="bob"),
        "some": lambda result: result.data["tip_position"].isel(time=[0, -1]).sel(body="bob", axis="x"),
    }
    data = pl.sweep(pendulum(), {"mass": [0.5, 2.0]}, RUN, keep)
    assert data["number"].dims == ("mass",) and data["two"].dims == ("mass", "two_0")
    assert data["path"].dims == ("mass", "time", "axis") and data["some"].dims == ("mass", "some_time")
    assert np.array_equal(data["some"], data["path"].sel(axis="x").isel(time=[0, -1]))
    assert data["path"].attrs["units"] == "m"


# ---- going on


def test_a_longer_axis_computes_only_what_is_new(tmp_path, counted):
    pl.sweep(pendulum(), OVER, RUN, KEEP, store=tmp_path / "s")
    before = contents(tmp_path / "s")
    counted.clear()
    data = pl.sweep(pendulum(), {"mass": [0.25, *MASSES], "length": LENGTHS}, RUN, KEEP, store=tmp_path / "s")
    assert counted == [{"mass": 0.25, "length": length} for length in LENGTHS] or sorted(c["length"] for c in counted) == LENGTHS
    after = contents(tmp_path / "s")
    assert {name: after[name] for name in before if name != "sweep.json"} == {n: h for n, h in before.items() if n != "sweep.json"}
    assert data.sizes["mass"] == 4 and data["ok"].values.all()
    counted.clear()
    more = pl.sweep(pendulum(), [{"mass": 2.0}, {"mass": 3.0}], RUN, KEEP, store=tmp_path / "s")
    assert counted == [{"mass": 2.0}, {"mass": 3.0}]  # at the length that the parameter has by itself, 0.5 m
    assert more["mass"].dims == ("case",)
    counted.clear()
    pl.sweep(pendulum(), [{"length": 0.5, "mass": 2.0}], RUN, KEEP, store=tmp_path / "s")
    assert not counted  # the same case, said otherwise


def test_a_store_still_shows_the_cases_that_a_later_sweep_does_not_ask_for(tmp_path, counted):
    pl.sweep(pendulum(), OVER, RUN, KEEP, store=tmp_path / "s")
    whole = pl.open_sweep(tmp_path / "s").load()
    fewer = pl.sweep(pendulum(), {"mass": MASSES[:1], "length": LENGTHS[1:]}, RUN, KEEP, store=tmp_path / "s")
    assert fewer.sizes["mass"] == fewer.sizes["length"] == 1  # what was asked for
    assert pl.open_sweep(tmp_path / "s").load().equals(whole)
    counted.clear()
    pl.sweep(pendulum(), {"mass": [3.0], "length": LENGTHS}, RUN, KEEP, store=tmp_path / "s")
    assert len(counted) == len(LENGTHS)
    grown = pl.open_sweep(tmp_path / "s").load()
    assert grown["mass"].values.tolist() == [*MASSES, 3.0] and grown["ok"].values.all()
    assert grown.sel(mass=MASSES).equals(whole)
    pl.sweep(pendulum(), [{"mass": 4.0}], RUN, KEEP, store=tmp_path / "s")  # at a length of 0.5 m
    listed = pl.open_sweep(tmp_path / "s").load()
    assert listed.sizes["case"] == grown["ok"].size + 1 and listed["ok"].values.all()
    assert (float(listed["mass"][-1]), float(listed["length"][-1])) == (4.0, 0.5)


def test_no_flipped_bit_of_a_batch_is_returned_unnoticed(tmp_path):
    pl.sweep(pendulum(), {"mass": [1.0, 2.0]}, {**RUN, "save": 0.05}, ["bob.angle"], store=tmp_path / "s", batch=2)
    (file,) = (tmp_path / "s").glob("*.nc")
    read = "data = pl.open_sweep(path.parent).load(); return [data[name].values.tolist() for name in data]"
    ends = outcomes(file, "import pliant as pl; from pliant.errors import ModelError", read)
    assert "unnoticed" not in ends and ends.count("refused") > 4


def test_a_description_with_a_flipped_bit_is_refused(tmp_path):
    pl.sweep(pendulum(), OVER, RUN, KEEP, store=tmp_path / "s")
    text = (tmp_path / "s" / "sweep.json").read_text()
    (tmp_path / "s" / "sweep.json").write_text(text.replace(f'"mass": [\n    {MASSES[0]}', f'"mass": [\n    {MASSES[0] + 0.2}'))
    assert (tmp_path / "s" / "sweep.json").read_text() != text
    with pytest.raises(pl.ModelError, match=r"sweep\.json: .*its contents have changed since it was written"):
        pl.open_sweep(tmp_path / "s")


def test_a_batch_that_is_missing_is_computed_again_with_the_same_bytes(tmp_path, counted):
    pl.sweep(pendulum(), OVER, RUN, KEEP, store=tmp_path / "s", batch=2)
    before = contents(tmp_path / "s")
    gone = next(file for file in (tmp_path / "s").glob("*.nc"))
    gone.unlink()
    data = pl.open_sweep(tmp_path / "s")
    missing = data["message"].values == "not yet computed"
    assert missing.sum() == 2 and not data["ok"].values[missing].any() and data["ok"].values[~missing].all()
    assert np.isnan(data["kinetic"].values[missing]).all() and not np.isnan(data["kinetic"].values[~missing]).any()
    counted.clear()
    pl.sweep(pendulum(), OVER, RUN, KEEP, store=tmp_path / "s", batch=2)
    assert len(counted) == 2 and contents(tmp_path / "s") == before


def test_a_folder_can_be_looked_at_before_anything_is_done(tmp_path, monkeypatch):
    def failing(self, case, stopping=None):
        raise KeyboardInterrupt

    monkeypatch.setattr(Job, "compute", failing)
    with pytest.raises(KeyboardInterrupt, match=r"interrupted; 0 of 6 cases are in .*: the same sweep goes on from there"):
        pl.sweep(pendulum(), OVER, RUN, KEEP, store=tmp_path / "s")
    data = pl.open_sweep(tmp_path / "s")
    assert set(data["message"].values.ravel()) == {"not yet computed"} and data["message"].shape == (3, 2)


def test_unfinished_batches_of_an_earlier_plan_do_not_hinder_another(tmp_path, counted):
    pl.sweep(pendulum(), OVER, RUN, KEEP, store=tmp_path / "s", batch=3)
    for file in (tmp_path / "s").glob("*.nc"):
        file.unlink()
    counted.clear()
    data = pl.sweep(pendulum(), {"mass": [0.5, 3.0], "length": [0.3]}, RUN, KEEP, store=tmp_path / "s", batch=3)
    assert len(counted) == 2 and data["ok"].values.all()


# ---- what goes wrong in a case


def test_failures_and_warnings_of_cases_are_stored_with_their_words(tmp_path):
    def stumbling(result):
        return 1.0 / (result.parameters["mass"] - 1.0)

    system = pendulum()
    rod, damper = pl.RigidBody.rod(mass=0.1, length=0.1), pl.Parameter("damper", 0.1)
    system.add("hand", rod, joint=pl.Revolute(damper=pl.Damper(damper)), on=system.handle("bob").tip)
    system.event("enough", lambda t, q, v: 0.2 - t, stop=True)
    over = {"mass": [0.5, 1.0], "damper": [0.1, -1.0]}
    data = pl.sweep(system, over, RUN, {"a": "bob.angle", "b": stumbling}, tmp_path / "s")
    assert "Damper: coefficient must be >= 0" in data["message"].sel(mass=0.5, damper=-1.0).item()
    assert np.isnan(data["a"].sel(damper=-1.0)).all()
    assert "keep 'b': ZeroDivisionError" in data["message"].sel(mass=1.0, damper=0.1).item()
    assert data["ok"].values.tolist() == [[True, False], [False, False]]
    assert data["message"].sel(mass=0.5, damper=0.1).item() == "event 'enough' ended the run at t = 0.2 s"
    assert np.isfinite(data["a"].sel(mass=1.0, damper=0.1)).all()


def test_a_run_that_ends_early_has_the_rows_that_it_has():
    system = pendulum()
    mass = system.parameters["mass"]
    system.event("enough", lambda t, q, v: 0.1 * mass - t, stop=True)
    data = pl.sweep(system, {"mass": [1.0, 2.0]}, RUN, "bob.angle")
    assert data["time"].values[-1] == 0.2 and data["time"].dims == ("time",)
    assert np.isnan(data["bob.angle"].sel(mass=1.0)[data["time"] > 0.1]).all()
    assert np.isfinite(data["bob.angle"].sel(mass=2.0)).all()


# ---- what is refused before anything runs


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((pendulum(), {"mas": [1.0]}, RUN), r"parameters: name must name one of .* \(did you mean 'mass'\?\), got 'mas'"),
        ((pendulum(), {"mass": [1.0, 20.0]}, RUN), "parameter 'mass': value must be <= 10.0 kg, got 20.0"),
        ((chain, {"lenght": [1.0]}, RUN), r"must name arguments of chain: links, length \(did you mean 'length'\?\), got 'lenght'"),
        ((lambda links: chain(links), {"x": [1]}, RUN), "must name arguments of <lambda>: links"),
        ((lambda x: x, {"x": [1]}, RUN), "function '<lambda>': value must be a System, got 1"),
        ((pendulum(), {"mass": [1.0]}, {"t_ende": 1.0}), r"run must hold arguments of simulate: .*\(did you mean 't_end'\?\)"),
        ((pendulum(), {"mass": [1.0]}, {}), "sweep: run must hold t_end"),
        ((pendulum(), {"mass": [1.0]}, None), "sweep: run must be a mapping of arguments of simulate"),
        ((pendulum(), {"mass": [1.0]}, {"t_end": -1.0}), "run: t_end must be > 0 s, got -1.0"),
        ((pendulum(), {"mass": [1.0]}, {"t_end": 1.0, "method": "dop"}), "sweep: method must be one of auto"),
        ((pendulum(), {"mass": [1.0]}, RUN, "kinetik"), r"keep must name a quantity .*\(did you mean 'kinetic'\?\), got 'kinetik'"),
        ((pendulum(), {"mass": [1.0]}, RUN, lambda result: 1.0), "must name a function that has no name"),
        ((pendulum(), {"mass": [1.0]}, RUN, {"ok": "q"}), "must use a name without '/' and other than ok, message"),
        ((pendulum(), {"time": [1.0]}, RUN), "over must have names that the results do not use"),
        ((3, {"mass": [1.0]}, RUN), "system_or_function must be a System, the name of a model file"),
        (("none.yaml", {"mass": [1.0]}), r"none\.yaml: cannot be read: No such file"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_all_cases_is_said_before_the_first(tmp_path, arguments, words):
    with pytest.raises(pl.ModelError, match=words):
        pl.sweep(*arguments, store=tmp_path / "s")
    assert not (tmp_path / "s").exists()


def test_a_store_of_anything_else_is_refused_and_left_as_it_is(tmp_path):
    folder = tmp_path / "s"
    pl.sweep(pendulum(), OVER, RUN, KEEP, store=folder)
    other = pendulum()
    other.event("low", lambda t, q, v: q["bob.angle"])
    before = contents(folder)
    for arguments, words in (
        ((other, OVER, RUN, KEEP), "must hold a sweep with the same model; it holds a different one, of 'pendulum'"),
        ((pendulum(), OVER, {**RUN, "t_end": 0.5}, KEEP), "a sweep with the same run settings"),
        ((pendulum(), OVER, RUN, ["q"]), "a sweep with the same things kept"),
    ):
        with pytest.raises(pl.ModelError, match=words):
            pl.sweep(*arguments, store=folder)
    older = {name: part for name, part in json.loads((folder / "sweep.json").read_text()).items() if name != "checksum"}
    (folder / "sweep.json").write_text(json.dumps({**older, "version": "0.0.1"}))
    changed = contents(folder)
    with pytest.raises(
        pl.ModelError, match=r"must have been made by the present version, pliant .*; it was made by pliant 0\.0\.1"
    ):
        pl.sweep(pendulum(), OVER, RUN, KEEP, store=folder)
    assert contents(folder) == changed and changed.keys() == before.keys()
    (folder / "sweep.json").write_text("{")
    with pytest.raises(pl.ModelError, match=r"sweep\.json: must be a complete file written by pliant .*; nothing was overwritten"):
        pl.sweep(pendulum(), OVER, RUN, KEEP, store=folder)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine")
    with pytest.raises(pl.ModelError, match=r"must be new, empty, or hold a sweep; this folder holds .* 'mine\.txt'"):
        pl.sweep(pendulum(), OVER, RUN, KEEP, store=tmp_path / "full")
    with pytest.raises(pl.ModelError, match="open_sweep: store must be the folder of a sweep"):
        pl.open_sweep(tmp_path / "full")


def damage(file, how):
    content = bytearray(file.read_bytes())
    if how == "cut":
        content = content[: len(content) // 2]
    elif how == "other":
        content = bytearray(next(other for other in file.parent.glob("*.nc") if other != file).read_bytes())
    elif how == "empty":
        content = bytearray()
    else:  # a bit of a number, by which HDF5 goes on reading
        number = np.float64(pl.open_sweep(file.parent)["kinetic"].values.max()).tobytes()
        place = bytes(content).find(number)
        if place < 0:
            return False
        content[place] ^= 1
    file.write_bytes(bytes(content))
    return True


@pytest.mark.parametrize("how", ["cut", "other", "empty", "bit"])
def test_a_damaged_batch_is_named_and_nothing_overwritten(tmp_path, how):
    folder = tmp_path / "s"
    whole = pl.sweep(pendulum(), OVER, RUN, KEEP, store=folder, batch=3).load()
    kept = tmp_path / "kept"
    shutil.copytree(folder, kept)
    file = next(file for file in sorted(folder.glob("*.nc")) if damage(file, how))
    before = contents(folder)
    with pytest.raises(pl.ModelError, match=rf"{file.name}: is damaged \(.*\); nothing was overwritten\. Delete it"):
        pl.sweep(pendulum(), OVER, RUN, KEEP, store=folder, batch=3)
    assert contents(folder) == before
    file.unlink()
    assert pl.sweep(pendulum(), OVER, RUN, KEEP, store=folder, batch=3).load().identical(whole)
    assert contents(folder) == contents(kept)


def test_a_dataset_can_be_written_and_read_by_xarray(tmp_path):
    data = pl.sweep(pendulum(), OVER, RUN, KEEP, store=tmp_path / "s")
    data.to_netcdf(tmp_path / "whole.nc")
    again = xarray.load_dataset(tmp_path / "whole.nc")
    assert np.array_equal(again["kinetic"], data["kinetic"])
    for file in (tmp_path / "s").glob("*.nc"):
        with xarray.open_dataset(file) as batch:
            assert batch["kinetic"].dims == ("case", "time")


def test_stresses_and_largest_values_are_kept_by_name_with_their_warnings(tmp_path):
    height = pl.Parameter("height", 8e-3, "m")
    beam = pl.Beam(length=0.5, section=pl.Section.rectangle(height, 0.03), material=pl.ALUMINIUM, theory="euler-bernoulli",
                   modes=pl.Modes("cf", 1))  # fmt: skip
    system = pl.System("arm", gravity=(0, -9.81))
    arm = system.add("arm", beam, joint=pl.Revolute(angle=0.1))
    system.contact(points=pl.Sphere(arm.tip, 0.02), against=pl.Plane(normal="y"), normal=pl.Hertz(stiffness=1e7), name="stop")
    system.contact(
        points=pl.Point(arm.tip), against=pl.Plane(normal="y", point=(0, -9, 0)), normal=pl.Hertz(stiffness=1e7), name="far"
    )
    run = {"t_end": 0.2, "save": 0.01, "method": pl.DOP853(rtol=1e-7, atol=1e-10)}
    keep = ["equivalent_stress", "bending_moment_z", "largest_equivalent_stress", "largest_normal_force", "result"]
    data = pl.sweep(system, {"height": [6e-3, 8e-3]}, run, keep, store=tmp_path / "s")
    assert data["ok"].all() and data["equivalent_stress"].dims == ("height", "time", "beam", "station")
    result = data["result"].isel(height=0).item()
    stress = pl.stresses(result)
    assert np.allclose(data["equivalent_stress"].isel(height=0), stress["equivalent_stress"])
    assert np.allclose(data["bending_moment_z"].isel(height=0), stress["bending_moment_z"])
    assert data["largest_equivalent_stress"].isel(height=0).item() == pytest.approx(float(stress["equivalent_stress"].max()))
    forces = data["largest_normal_force"].isel(height=0).to_series()
    assert dict(forces) == {"stop arm.tip": max(touch.peak_force for touch in result.contacts), "far arm.tip": 0.0}
    assert "rows are 0.01 s apart" in data["warnings"].isel(height=0).item()
    with pytest.raises(pl.ModelError, match="largest_effort are computed from whole results"):
        pl.sweep(system, {"height": [6e-3]}, run, "largest_effort", device="cpu")
    with pytest.raises(pl.ModelError, match=r"over must have names that the results do not use.*got 'beam'"):
        pl.sweep(lambda beam: system, {"beam": [1.0]}, run, "largest_equivalent_stress")


def test_what_cannot_be_kept_of_a_case_is_said():
    data = pl.sweep(pendulum(), {"mass": [1.0]}, RUN, ["bob.angle", "equivalent_stress"])
    assert not data["ok"].item() and "keep 'equivalent_stress': ModelError" in data["message"].item()
    assert "must hold at least one beam" in data["message"].item() and np.isfinite(data["bob.angle"]).all()
