"""FMUs, simulated by FMPy as any importer would: both kinds, both versions of the standard."""

import shutil
import zipfile
from contextlib import contextmanager
from itertools import pairwise

import numpy as np
import pytest

import pliant as pl
from exchange.systems import METHOD, SYSTEMS, elastic_arm
from pliant.errors import ModelError
from pliant.exchange import compiler
from pliant.exchange.fmu import CO_SIMULATION, MODEL_EXCHANGE, write_fmu
from pliant.gallery.falling_chain.system import falling_chain

fmpy = pytest.importorskip("fmpy", reason="fmpy is not installed")
if shutil.which("cc") is None and not compiler.has_zig():
    pytest.skip("no C compiler", allow_module_level=True)

from fmpy.fmi2 import FMU2Model, FMU2Slave  # noqa: E402
from fmpy.fmi3 import FMU3Model, FMU3Slave  # noqa: E402
from fmpy.validation import validate_fmu  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
# The same numbers in a third of the time, and no warning is overlooked.
QUICK = ("-std=c99", "-O0", "-ffp-contract=off", "-fvisibility=hidden", "-Wall", "-Wextra", "-Wno-unused", "-Werror")


@pytest.fixture(scope="module")
def unit(tmp_path_factory):
    """Writes an FMU, each once."""
    folder, known = tmp_path_factory.mktemp("units"), {}

    def written(name, kind, version):
        if (name, kind, version) not in known:
            build, _, options = SYSTEMS[name]
            path = folder / f"{name}-{kind}-{version}.fmu"
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(compiler, "FLAGS", QUICK)
                write_fmu(build(), path, kind=kind, version=version, method=METHOD, **options)
            known[name, kind, version] = str(path)
        return known[name, kind, version]

    return written


def read(result, name):
    """A variable of an FMU among the quantities of a result."""
    word, _, rest = name.partition(" ")
    if word in ("v", "states"):
        return np.asarray(result[word, rest])
    if word == "tip_position":
        return np.asarray(result[(word, *rest.split())])
    return np.asarray(result[name])


CASES = [
    ("elastic arm", "3.0", "2.0"),
    ("falling chain", "2.0", "3.0"),
    ("slider-crank", "3.0", "2.0"),
    ("controlled arm", "2.0", "3.0"),
]


@pytest.mark.parametrize(("name", "version", "_"), CASES, ids=[case[0] for case in CASES])
def test_co_simulation_is_the_run_of_simulate_with_its_touches(unit, name, version, _):
    path, (build, t_end, _) = unit(name, CO_SIMULATION, version), SYSTEMS[name]
    assert validate_fmu(path) == []
    # the chain's touches last 1 ms and more
    found = fmpy.simulate_fmu(path, stop_time=t_end, output_interval=t_end / 1000, output=None)
    expected = pl.simulate(build(), t_end, method=METHOD, save=t_end / 1000)
    numbers = [own for own in found.dtype.names[1:] if not own.startswith(("touches", "began"))]
    assert numbers
    np.testing.assert_allclose(found["time"], expected.time, atol=1e-12)
    for own in numbers:
        there = read(expected, own)
        assert np.max(np.abs(found[own] - there)) < 1e-8 * max(1.0, np.max(np.abs(there))), own


@pytest.mark.parametrize(("name", "_", "version"), CASES, ids=[case[0] for case in CASES])
def test_model_exchange_follows_the_run_of_simulate_by_the_importers_own_integrator(unit, name, _, version):
    path, (build, t_end, _) = unit(name, MODEL_EXCHANGE, version), SYSTEMS[name]
    assert validate_fmu(path) == []
    rows = 1777  # CVode takes at most 500 steps between two rows
    found = fmpy.simulate_fmu(path, stop_time=t_end, output_interval=t_end / rows, relative_tolerance=1e-11, record_events=False)
    expected = pl.simulate(build(), t_end, method=METHOD, save=t_end / rows)
    places = [int(np.argmin(np.abs(found["time"] - t))) for t in expected.time]
    assert np.max(np.abs(found["time"][places] - expected.time)) < 1e-12
    for own in found.dtype.names[1:]:
        if not own.startswith(("touches", "began", "v ", "states")):
            assert np.max(np.abs(found[own][places] - read(expected, own))) < 1e-8, own


@contextmanager
def instance(kind, path, folder):
    """An instance that has not been initialised."""
    description = fmpy.read_model_description(path)
    place = fmpy.extract(path, str(folder))
    part = description.coSimulation or description.modelExchange
    it = kind(guid=description.guid, unzipDirectory=place, modelIdentifier=part.modelIdentifier, instanceName="it")
    it.instantiate()
    yield it, {one.name: one.valueReference for one in description.modelVariables}
    it.freeInstance()


@contextmanager
def begun(kind, path, folder, before=lambda it, at: None):
    with instance(kind, path, folder) as (it, at):
        if kind in (FMU2Slave, FMU2Model):
            it.setupExperiment(startTime=0.0)
        it.enterInitializationMode()
        before(it, at)
        it.exitInitializationMode()
        yield it, at


def test_it_touches_as_simulate_does(unit, tmp_path):
    expected = pl.simulate(falling_chain(), 0.6, method=METHOD, save=[0.0, 0.6])
    begins = {}
    with begun(FMU2Slave, unit("falling chain", CO_SIMULATION, "2.0"), tmp_path) as (it, at):
        for k in range(6000):
            it.doStep(k * 1e-4, 1e-4)
            for name in (name for name in at if name.startswith("began ")):
                (value,) = it.getReal([at[name]])
                begins.setdefault(name.removeprefix("began "), set()).add(value)
        counts = {name: it.getInteger([at[f"touches {name}"]])[0] for name in begins}
    assert sum(counts.values()) == len(expected.contacts) > 0
    for name, times in begins.items():
        there = sorted(one.begin for one in expected.contacts if one.pair == name)
        assert counts[name] == len(there)
        np.testing.assert_allclose(sorted(t for t in times if not np.isnan(t)), there, atol=1e-8)


def test_a_state_saved_inside_a_contact_returns_and_steps_may_end_at_events(unit, tmp_path):
    """Of FMI 2.0; steps end where contacts begin and end, as `simulate` found them, and in between."""
    expected = pl.simulate(falling_chain(), 0.6, method=METHOD, save=[0.0, 0.6])
    times = sorted({0.0, 0.6, *(t for one in expected.contacts for t in (one.begin, one.end) if t < 0.6)})
    first = expected.contacts[0]
    inside = 0.5 * (first.begin + first.end)
    path, coordinates = unit("falling chain", CO_SIMULATION, "2.0"), ("a.x", "a.y", "a.angle", "b.angle", "c.angle")

    def run(it, at, times):
        for a, b in pairwise(times):
            it.doStep(a, b - a)
        names = [name for name in at if name.startswith("touches ")]
        return it.getReal([at[name] for name in coordinates]), it.getInteger([at[name] for name in names])

    with begun(FMU2Slave, path, tmp_path / "a") as (it, at), begun(FMU2Slave, path, tmp_path / "b") as (other, _):
        run(it, at, [0.0, inside])
        saved = it.getFMUstate()
        data = it.serializeFMUstate(saved)
        rest = [inside, *(t for t in times if t > inside)]
        once = run(it, at, rest)
        it.setFMUstate(saved)
        assert run(it, at, rest) == once
        other.setFMUstate(other.deSerializeFMUstate(data))
        assert run(other, at, rest) == once
        it.freeFMUstate(saved)
    assert once[0] == pytest.approx([expected[name][-1] for name in coordinates], abs=1e-8)
    assert sum(once[1]) == len(expected.contacts)


def test_parameters_and_starts_are_set_before_a_run(unit, tmp_path):
    values = {"damping": 1.7, "start of arm.angle": -0.4, "torque": 0.6}

    def put(it, at):
        for name, value in values.items():
            it.setFloat64([at[name]], [value])

    with begun(FMU3Slave, unit("elastic arm", CO_SIMULATION, "3.0"), tmp_path, put) as (it, at):
        it.doStep(0.0, 0.2)
        (angle,) = it.getFloat64([at["arm.angle"]])
        assert it.getFloat64([at["damping"]]) == [1.7]
    run = pl.simulate(elastic_arm(), 0.2, method=METHOD, start={"arm.angle": -0.4}, parameters={"damping": 1.7, "torque": 0.6})
    assert angle == pytest.approx(run["arm.angle"][-1], abs=1e-10)


def test_inputs_change_between_steps_and_saved_states_return(unit, tmp_path):
    def drive(it, at, first, last):
        found = []
        for k in range(first, last):
            it.setFloat64([at["torque"]], [np.sin(40.0 * k)])
            it.setFloat64([at["damping"]], [0.1 + 0.01 * (k // 7)])
            it.doStep(0.01 * k, 0.01)
            found.append(it.getFloat64([at["arm.angle"], at["tip_position arm y"]]))
        return found

    with begun(FMU3Slave, unit("elastic arm", CO_SIMULATION, "3.0"), tmp_path) as (it, at):
        drive(it, at, 0, 12)
        saved = it.getFMUState()
        data = it.serializeFMUState(saved)
        once = drive(it, at, 12, 25)
        it.setFMUState(saved)
        assert drive(it, at, 12, 25) == once
        with begun(FMU3Slave, unit("elastic arm", CO_SIMULATION, "3.0"), tmp_path / "other") as (other, _):
            other.setFMUState(other.deserializeFMUState(data))
            assert drive(other, at, 12, 25) == once
        it.freeFMUState(saved)
    stepped = pl.start(elastic_arm(), method=METHOD, inputs=["torque", "damping"])
    for k in range(25):
        stepped.step(0.01, {"torque": np.sin(40.0 * k), "damping": 0.1 + 0.01 * (k // 7)})
    there = stepped.observe()
    assert once[-1] == pytest.approx([there["arm.angle"], there["tip_position", "arm", "y"]], abs=1e-9)


def test_states_of_model_exchange_are_set_after_the_initialization_only(unit, tmp_path):
    """Before, they follow from the model: what is set then would be lost."""

    def put(it, at):
        with pytest.raises(Exception, match=r"[Ee]rror|status"):
            it.setFloat64([at["state arm.angle"]], [0.7])
        it.setFloat64([at["start of arm.angle"]], [0.9])

    with begun(FMU3Model, unit("elastic arm", MODEL_EXCHANGE, "3.0"), tmp_path, put) as (it, at):
        assert it.getFloat64([at["state arm.angle"]]) == [0.9]
        it.setFloat64([at["state arm.angle"]], [0.7])
        assert it.getFloat64([at["arm.angle"]]) == [0.7]


@pytest.mark.skipif(not compiler.has_zig(), reason="no zig")
def test_zig_builds_the_sources_to_the_same_numbers(unit, tmp_path, monkeypatch):
    monkeypatch.setattr(compiler, "FLAGS", tuple(flag for flag in QUICK if not flag.startswith("-W")))
    monkeypatch.setattr(compiler.shutil, "which", lambda name: None)  # a machine without cc
    build, t_end, options = SYSTEMS["elastic arm"]
    write_fmu(build(), tmp_path / "zig.fmu", method=METHOD, **options)
    monkeypatch.undo()
    found, other = (fmpy.simulate_fmu(str(path), stop_time=t_end)
                    for path in (tmp_path / "zig.fmu", unit("elastic arm", CO_SIMULATION, "3.0")))  # fmt: skip
    assert found.dtype.names == other.dtype.names
    assert all(np.array_equal(found[name], other[name]) for name in found.dtype.names)


def test_units_of_one_library_do_not_share_anything_and_start_again(unit, tmp_path):
    def run(it, first=0):
        for k in range(first, 3):
            it.doStep(0.05 * k, 0.05)
        return it.getFloat64([at["arm.angle"]])

    path = unit("elastic arm", CO_SIMULATION, "3.0")
    with begun(FMU3Slave, path, tmp_path / "a") as (first, at), begun(FMU3Slave, path, tmp_path / "b") as (second, _):
        second.setFloat64([at["torque"]], [-3.0])
        first.doStep(0.0, 0.05)
        other = run(second)
        alone = run(first, 1)
        assert abs(alone[0] - other[0]) > 1e-3
        second.reset()
        second.enterInitializationMode()
        second.exitInitializationMode()
        assert run(second) == alone
        for value in (np.nan, np.inf):
            with pytest.raises(Exception, match=r"[Ee]rror|status"):
                first.setFloat64([at["torque"]], [value])


@pytest.mark.parametrize(("kind", "version", "real"), [(FMU3Model, "3.0", "Float64"), (FMU2Model, "2.0", "Real")])
def test_directional_derivatives_are_those_of_differences(kind, version, real, unit, tmp_path):
    with begun(kind, unit("elastic arm", MODEL_EXCHANGE, version), tmp_path) as (it, at):
        put, get = getattr(it, f"set{real}"), getattr(it, f"get{real}")
        states = [name for name in at if name.startswith("state ")]
        rates = [at[name.replace("state ", "derivative of ")] for name in states]
        unknowns, knowns = [*rates, at["tip_position arm y"]], [*(at[name] for name in states), at["torque"], at["damping"]]
        rng = np.random.default_rng(5)
        y = rng.normal(0.0, 0.1, len(states))
        seed = rng.normal(0.0, 1.0, len(knowns))
        here = np.array([*y, 1.5, 0.2])

        def at_values(x):
            for reference, value in zip(knowns, x.tolist(), strict=True):
                put([reference], [value])
            return np.array(get(unknowns))

        h = 1e-6
        differences = (at_values(here + h * seed) - at_values(here - h * seed)) / (2.0 * h)
        at_values(here)
        exact = it.getDirectionalDerivative(unknowns, knowns, seed.tolist())
        np.testing.assert_allclose(exact, differences, rtol=1e-6, atol=1e-6 * np.max(np.abs(differences)))
        assert np.max(np.abs(exact)) > 0.0


def test_an_event_that_ends_runs_ends_the_unit(tmp_path, monkeypatch):
    monkeypatch.setattr(compiler, "FLAGS", QUICK)
    system = pl.System("drop", gravity=(0.0, -9.81))
    system.add("ball", pl.RigidBody(mass=1.0, inertia=1e-3), joint=pl.Prismatic(axis="y", displacement=1.0))
    system.event("low", lambda t, q, v: q["ball.displacement"] - 0.5, stop=True)
    write_fmu(system, tmp_path / "drop.fmu", version="2.0")
    with begun(FMU2Slave, str(tmp_path / "drop.fmu"), tmp_path) as (it, _):
        with pytest.raises(Exception, match=r"[Dd]iscard|status 2"):
            for k in range(100):
                it.doStep(0.01 * k, 0.01)
        assert it.getBooleanStatus(3) in (True, 1)
        assert it.getRealStatus(2) == pytest.approx(end := np.sqrt(2 * 0.5 / 9.81), abs=1e-9)
        for start in (it.getRealStatus(2), 0.32):  # nor does it go on later
            with pytest.raises(Exception, match=r"[Dd]iscard|[Ee]rror|status"):
                it.doStep(start, 0.01)
        assert it.getRealStatus(2) == pytest.approx(end, abs=1e-9)


def test_what_cannot_leave_python_is_refused_by_name(tmp_path):
    system = elastic_arm()
    for options, words in (
        ({"inputs": ["torqe"]}, "did you mean 'torque'"),
        ({"outputs": ["arm.angel"]}, "arm.angle"),
        ({"kind": "both"}, "must be"),
        ({"version": "1.0"}, "must be"),
        ({"platforms": ["amiga"]}, "must be among x86_64-linux"),
        ({"parameters": ["torque"]}, "none of which is an input"),
        ({"t_end": -1.0}, "must be > t_start"),
    ):
        with pytest.raises(ModelError, match=words):
            write_fmu(system, tmp_path / "no.fmu", platforms=options.pop("platforms", []), **options)
    system.sampled("python", 0.01, lambda t, q, v, m, memory: 1.0, outputs="x", compiled=False)
    with pytest.raises(ModelError, match="t_end"):
        write_fmu(system, tmp_path / "no.fmu", platforms=[])
    with pytest.raises(ModelError, match="must be formulas"):
        write_fmu(system, tmp_path / "no.fmu", platforms=[], t_end=1.0)
    assert not list(tmp_path.iterdir())


def test_the_same_mechanism_gives_the_same_bytes_and_its_sources_are_whole(tmp_path):
    for name in ("a", "b"):
        write_fmu(elastic_arm(), tmp_path / f"{name}.fmu", platforms=[], method=METHOD)
    assert (tmp_path / "a.fmu").read_bytes() == (tmp_path / "b.fmu").read_bytes()
    with zipfile.ZipFile(tmp_path / "a.fmu") as archive:
        names = archive.namelist()
    assert {"modelDescription.xml", "sources/buildDescription.xml", "sources/fmi3.c", "sources/mechanism.c"} <= set(names)
    assert validate_fmu(str(tmp_path / "a.fmu")) == []
