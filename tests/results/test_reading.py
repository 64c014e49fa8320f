"""One grammar reads a Result, an Observation, an Equilibrium, an ensemble and a sweep."""

import pickle

import numpy as np
import pytest

import pliant as pl
from pliant.results.reading import DIMENSIONS
from pliant.study.fit.series import SeriesNames

T_END, STEP = 0.02, 0.01


def swing():
    rod = pl.Beam(length=0.8, section=pl.Section.rectangle(height=0.008, width=0.04), material=pl.ALUMINIUM,
                  theory="euler-bernoulli", modes=pl.Modes("cf", 1))  # fmt: skip
    system = pl.System("swing", gravity=(0, -9.81))
    mass = pl.Parameter("mass", 0.1)
    a = system.add("a", rod, joint=pl.Revolute(angle=pl.deg(-60), spring=pl.Spring(50.0), damper=pl.Damper(0.1)))
    b = pl.RigidBody(mass=mass, inertia=1e-3, tip=(0.1, 0.0))
    system.add("b", b, joint=pl.Revolute(spring=pl.Spring(5.0), damper=pl.Damper(0.02)), on=a.tip)
    system.strut("jack", a.tip, system.ground, stiffness=10.0, rest=0.8)
    return system


@pytest.fixture(scope="module")
def readers():
    """Everything that has quantities; of a result, a run in steps, an ensemble and a sweep of one and the same motion."""
    system, quantities = swing(), ("q", "v", "tip_position", "strut_length")
    run = pl.start(system)
    for _ in range(2):
        run.step(STEP)
    return {
        "result": pl.simulate(system, T_END, save=STEP),
        "observation": run.observe(),
        "equilibrium": pl.equilibrium(system),
        "ensemble": pl.ensemble(system, T_END, parameters={"mass": [0.1, 0.2]}, keep=[pl.ValuesAt(STEP, *quantities)]),
        "sweep": pl.sweep(system, {"mass": [0.1, 0.2]}, run={"t_end": T_END, "save": STEP}, keep=quantities),
    }


READERS = ("result", "observation", "equilibrium", "ensemble", "sweep")
KEYS = ("a.angle", ("v", "a.angle"), ("tip_position", "b"), ("tip_position", "b", "x"), "tip_position", ("strut_length", "jack"))


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_all_read_the_same_numbers_by_the_same_names(readers, key):
    over_time = readers["result"][key]
    assert np.asarray(readers["observation"][key]) == pytest.approx(over_time[-1], rel=1e-6, abs=1e-9)
    for many in ("ensemble", "sweep"):
        assert readers[many][key].values[0] == pytest.approx(over_time, rel=1e-6, abs=1e-9)
    assert np.shape(readers["equilibrium"][key]) == over_time.shape[1:]


def test_a_key_is_a_place_in_the_arrays(readers):
    result = readers["result"]
    assert np.array_equal(result["tip_position", "b", "x"], result.values["tip_position"][:, 1, 0])
    assert np.array_equal(result["v", "a.angle"], result.rate("a.angle"))
    assert np.array_equal(result["tip_position", "b"], result.of_body("tip_position", "b"))
    rest = readers["equilibrium"]
    assert rest["a.angle"] == rest.coordinates["a.angle"] and isinstance(rest["a.angle"], float)
    assert rest["strain"] == rest.values["strain"] > 0.0


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(("key", "words"), [
    ("a.angel", r"did you mean 'a\.angle'"),
    ("tip_positon", "did you mean 'tip_position'"),
    ("jack", r"such as \['strut_length', 'jack'\]"),
    (("tip_position", "arm"), r"tip_position must be read by body, one of \['a', 'b'\]"),
    (("tip_position", "b", "w"), r"by axis, one of \['x', 'y', 'z'\]"),
    (("tip_position", "b", "x", "y"), "at most body, axis of tip_position"),
])  # fmt: skip
def test_what_is_unknown_names_the_nearest_in_one_error(readers, reader, key, words):
    with pytest.raises(pl.UnknownNameError, match=words) as caught:
        readers[reader][key]
    assert isinstance(caught.value, KeyError) and isinstance(caught.value, pl.ModelError)
    assert not str(caught.value).startswith(("'", '"')) and readers[reader].get(key, 7) == 7


@pytest.mark.parametrize("reader", ["ensemble", "sweep"])
def test_what_a_dataset_of_many_runs_reads_is_in_it(readers, reader):
    found = readers[reader]
    assert all(key in found and found.get(key) is not None for key in KEYS) and all(name in found for name in found)
    assert not any(key in found for key in ("nothing", ("tip_position", "c"), "work", ("q", 0), 3, None))


def test_a_run_in_steps_has_the_names_of_its_result(tmp_path):
    system, floor = swing(), pl.Plane(normal="y", point=(0.0, -0.75))
    system.contact(points=pl.Sphere(system.handle("b").tip, 0.05), against=floor, normal=pl.Hertz(stiffness=1e4))
    run = pl.start(system)
    for _ in range(10):
        run.step(STEP)
    result = run.result()
    assert run.contacts == result.contacts and run.contacts and run.warnings == result.warnings
    assert run.time == run.t == result.time[-1] and run.parameters == result.parameters == {"mass": 0.1}
    streamed = pl.start(system, t_end=1.0, to=tmp_path / "run.nc")
    with pytest.raises(pl.ModelError, match="to must be left out to read contacts during a run"):
        streamed.contacts  # noqa: B018


@pytest.mark.parametrize("reader", ["result", "observation", "equilibrium"])
def test_in_and_get_and_iteration_are_those_of_a_mapping(readers, reader):
    found = readers[reader]
    assert all(key in found for key in KEYS) and "nothing" not in found and 3 not in found
    assert ("work" in found) == (reader != "equilibrium") and found.get("nothing") is None
    assert set(found) <= set(DIMENSIONS) and all(name in found for name in found)


@pytest.mark.parametrize("key", [3, (), slice(3), ["q"], None, ("q", 0)], ids=str)
def test_keys_that_are_no_names_are_refused_in_the_same_way(readers, key):
    for reader in ("result", "observation", "equilibrium"):
        with pytest.raises(pl.UnknownNameError):
            readers[reader][key]


@pytest.mark.parametrize("key", [3, (), None, ("q", 0), ["a.angel"]], ids=str)
@pytest.mark.parametrize("reader", ["ensemble", "sweep"])
def test_a_dataset_of_many_runs_refuses_what_is_no_name_in_the_same_way(readers, reader, key):
    with pytest.raises(pl.UnknownNameError):
        readers[reader][key]


def test_an_ensemble_that_kept_only_the_end_reads_rates_and_coordinates_there():
    ends = pl.ensemble(swing(), T_END, starts={"a.angle": [-1.0, -0.9]}, keep="final")
    for key, kept in ((("v", "a.angle"), "v_end"), (("q", "a.angle"), "q_end"), ("a.angle", "q_end")):
        assert key in ends and np.array_equal(ends[key], ends[kept, "a.angle"])
    assert "v" not in ends  # the whole quantity was not kept
    with pytest.raises(pl.UnknownNameError, match=r"state \(a\.angle(?!.*a\.angle.*quantity)"):  # coordinates are named once
        ends["a.angel"]


def test_a_quantity_that_was_not_kept_is_not_there():
    system = swing()
    result = pl.simulate(system, T_END, save=STEP, keep=("v",))
    assert "a.angle" not in result and ("v", "a.angle") in result and result.get("a.angle") is None
    with pytest.raises(pl.UnknownNameError, match="must be kept by the run"):
        result["a.angle"]
    many = pl.ensemble(system, T_END, parameters={"mass": [0.1, 0.2]})
    assert np.array_equal(many["a.angle"], many["q_end"].sel(coordinate="a.angle"))  # nothing else of q is there
    with pytest.raises(pl.UnknownNameError, match="it was not kept"):
        many["tip_position", "a"]


def test_a_state_of_the_users_own_is_read_by_its_name_even_if_a_quantity_has_it():
    system = swing()
    system.state("power", lambda t, q, v: 1.0)
    run = pl.start(system)
    run.step(STEP)
    for found, value in ((pl.simulate(system, STEP, save=STEP), [0.0, STEP]), (run.observe(), STEP)):
        assert found["power"] == pytest.approx(value) and np.array_equal(found["power"], found["states", "power"])
    assert np.array_equal(run.q, run.observe()["q"]) and run.observe().quantity("power").shape == (len(run.labels["source"]),)


def test_a_file_is_read_by_the_same_names(readers, tmp_path):
    readers["result"].to_netcdf(tmp_path / "run.nc")
    lazy = pl.Result.from_netcdf(tmp_path / "run.nc", lazy=True)
    assert all(np.array_equal(lazy[key], readers["result"][key]) for key in KEYS)


def test_the_dataset_of_many_runs_stays_one_through_what_xarray_does(readers):
    runs = readers["sweep"]
    for same in (runs.sel(mass=0.1), runs.copy(), pickle.loads(pickle.dumps(runs)), runs.load()):
        assert same["tip_position", "b", "x"].dims == (("mass", "time") if "mass" in same.dims else ("time",))
    assert runs["a.angle"].attrs == runs["q"].attrs and list(runs[["q"]].data_vars) == ["q"]


def test_an_objective_reads_a_number_by_the_same_names(readers):
    names = SeriesNames(readers["result"].labels, {})
    found = names.find("optimise", "quantity", ("tip_position", "b", "y"))
    assert found == names.find("optimise", "quantity", "tip_position b y") and found.place == (1, 1)
