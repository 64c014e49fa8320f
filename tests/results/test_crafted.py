"""Files of results that nobody's pliant wrote: damaged, cut, or made by hand to do harm."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray

import pliant as pl
from older_files import without_checksums
from pliant.results.result import Result
from pliant.show import player

Mutation = Callable[[xarray.Dataset], xarray.Dataset]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> xarray.Dataset:
    """A run that ended in the middle of a touch, as its file has it."""
    system = pl.System("bouncing", (0, -9.81))
    ball = system.add("ball", pl.RigidBody(mass=1.0, inertia=0.01), joint=pl.Planar(position=(0, 0.105)))
    system.contact(points=pl.Sphere(ball.root, 0.1), against=pl.Plane(normal=(0, 1)), normal=pl.Hertz(stiffness=1e5))
    link = pl.Beam(length=0.8, section=pl.Section.rectangle(0.02, 0.01), material=pl.STEEL, theory="euler-bernoulli",
                   modes=pl.Modes("cf", 1))  # fmt: skip
    system.add("link", link, joint=pl.Revolute(), initial={"y1": 1e-3})
    system.event("up", lambda t, q, v: v["ball.y"])
    file = tmp_path_factory.mktemp("whole") / "run.nc"
    run = pl.simulate(system, 0.04, save=4e-3)
    assert run.final_state is not None and run.final_state.closed and run.contacts and run.drawing is not None
    run.to_netcdf(file)
    with xarray.open_dataset(file, engine="netcdf4") as opened:
        loaded = without_checksums(opened.load())  # whoever crafts a file also crafts its checksums
    loaded.encoding = {}  # of what is dropped below it would speak
    return loaded


def attempt(dataset: xarray.Dataset, file: Path, shown: bool = True) -> str:
    """What becomes of a file: refused with its name, or a result that can be printed, drawn and shown."""
    dataset.to_netcdf(file, engine="netcdf4")
    try:
        result = Result.from_netcdf(file)
    except pl.ModelError as refusal:
        assert file.name in str(refusal)
        return "refused"
    assert str(result) and str(result.ledger) and result.data is not None
    result.to_csv(file.with_suffix(".csv"))
    if shown:
        player.page(result)
    return "read"


def drop(name: str) -> Mutation:
    return lambda dataset: dataset.drop_vars(name)


def put(name: str, value: Any) -> Mutation:
    return lambda dataset: dataset.assign({name: value})


def attribute(name: str, value: Any) -> Mutation:
    return lambda dataset: dataset.assign_attrs({name: value})


CRAFTED: dict[str, Mutation] = {
    "no title": lambda dataset: dataset.assign_attrs({"title": 3.0}),
    "a record that is no JSON": attribute("pliant", "{"),
    "a record that is a number": attribute("pliant", 7),
    "a record that is a list": attribute("pliant", "[1, 2]"),
    "a record without ok": attribute("pliant", "{}"),
    "ok that is a text": attribute("pliant", '{"ok": "yes", "interrupted": false, "stats": {}}'),
    "statistics that are a list": attribute("pliant", '{"ok": true, "interrupted": false, "stats": [1]}'),
    "parameters that are texts": attribute("pliant", '{"ok": true, "interrupted": false, "stats": {}, "parameters": {"m": "1"}}'),
    "parameters that are a number": attribute("pliant", '{"ok": true, "interrupted": false, "stats": {}, "parameters": 3}'),
    "settings that are a number": attribute("settings", "5"),
    "coordinates that are texts": lambda dataset: put("q", (dataset["q"].dims, dataset["q"].values.astype(str)))(dataset),
    "one coordinate too few": lambda dataset: dataset.assign(q=(("time", "short"), dataset["q"].values[:, :-1])),
    "coordinates without time": lambda dataset: dataset.assign(q=(("coordinate",), dataset["q"].values[0])),
    "energy that is a table": lambda dataset: dataset.assign(kinetic=(("time", "axis"), np.zeros((dataset.sizes["time"], 3)))),
    "whole numbers for time": lambda dataset: dataset.assign_coords(time=np.arange(dataset.sizes["time"])),
    "time that goes back": lambda dataset: dataset.assign_coords(time=dataset["time"].values[::-1].copy()),
    "events of unequal number": lambda dataset: dataset.assign(event_name=(("others",), np.array(["a"] * 9, dtype=object))),
    "contacts that are texts": lambda dataset: dataset.assign(contact_begin=(("touch",), np.array(["now"], dtype=object))),
    "a final state that is a list": put("final_state", "[]"),
    "a final state that is no JSON": put("final_state", "}"),
    "idle sources that are none": put("extremes", '{"scale": 1, "size": 1, "balance_error": 0, "given": {}, "idle": ["nobody"]}'),
    "an outline without bodies": put("outline", "{}"),
    "an outline that is a number": put("outline", 5.0),
}


@pytest.mark.parametrize("how", CRAFTED)
def test_a_crafted_file_is_refused_by_its_name(how: str, whole: xarray.Dataset, tmp_path: Path) -> None:
    assert attempt(CRAFTED[how](whole.copy(deep=True)), tmp_path / "crafted.nc") == "refused"


def test_the_file_itself_is_read(whole: xarray.Dataset, tmp_path: Path) -> None:
    assert attempt(whole.copy(deep=True), tmp_path / "whole.nc") == "read"


def test_any_variable_may_be_missing_and_nothing_else_than_a_refusal_comes_of_it(whole: xarray.Dataset, tmp_path: Path) -> None:
    some = [*list(whole.variables)[::5], "event_time", "contact_pair", "time", "coordinate", "q", "outline", "final_state", "model"]
    ends = {name: attempt(whole.drop_vars(name), tmp_path / "less.nc", shown=False) for name in some}
    assert ends["event_time"] == ends["contact_pair"] == "refused"


VALUES = (None, [], {}, "text", -1, 10**30, 1.5, [[1, 2], [3]], True)


def mutated(plain: Any, rng: random.Random) -> Any:
    """JSON with one value somewhere replaced or removed."""
    plain = copy.deepcopy(plain)
    place = plain
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        if not keys:
            return plain
        key = rng.choice(keys)
        inner = place[key]
        if isinstance(inner, (dict, list)) and inner and rng.random() < 0.8:
            place = inner
            continue
        if rng.random() < 0.3:
            del place[key]
        else:
            place[key] = rng.choice(VALUES)
        return plain


@pytest.mark.parametrize("name", ["outline", "final_state", "pliant"])
def test_json_with_one_value_changed_is_read_or_refused(name: str, whole: xarray.Dataset, tmp_path: Path) -> None:
    rng = random.Random(11)
    plain = json.loads(whole.attrs[name] if name in whole.attrs else whole[name].item())
    kinds = []
    for _ in range(15):
        text = json.dumps(mutated(plain, rng))
        change = attribute(name, text) if name in whole.attrs else put(name, text)
        kinds.append(attempt(change(whole.copy()), tmp_path / "changed.nc"))
    assert "refused" in kinds


def test_files_cut_short_or_of_another_kind_are_refused(whole: xarray.Dataset, tmp_path: Path) -> None:
    file = tmp_path / "cut.nc"
    whole.to_netcdf(file, engine="netcdf4")
    data = file.read_bytes()
    for piece in (data[: len(data) // 2], data[:600], b"\x89HDF\r\n\x1a\n" + bytes(200), b"CDF\x01" + bytes(100), b"hello", b""):
        file.write_bytes(piece)
        with pytest.raises(pl.ModelError, match=r"cut\.nc"):
            Result.from_netcdf(file)
    with pytest.raises(FileNotFoundError):
        Result.from_netcdf(tmp_path / "none.nc")


def test_a_file_that_would_fill_the_memory_is_refused_before_it_is_loaded(whole: xarray.Dataset, tmp_path: Path) -> None:
    """A terabyte of nothing takes no room in a file."""
    import netCDF4

    whole.to_netcdf(tmp_path / "huge.nc", engine="netcdf4")
    with netCDF4.Dataset(tmp_path / "huge.nc", "a") as file:
        file.createDimension("long", 2**40)
        file.createVariable("nothing", "f8", ("long",), zlib=True, chunksizes=(2**20,))
    with pytest.raises(pl.ModelError, match=r"huge.nc.* must fit into memory: about 1.76e\+04 GB would be needed"):
        Result.from_netcdf(tmp_path / "huge.nc")
