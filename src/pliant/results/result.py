"""What a run gives back."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pliant.results.contacts import NUMBERS, ContactRecord, ContactTable
from pliant.results.ledger import Ledger
from pliant.results.outline import Outline
from pliant.results.table import AXES, QUANTITIES, QUATERNION

if TYPE_CHECKING:  # xarray takes half a second to import; a run does not need it
    import xarray

FORMAT = 1  # of the netCDF file


@dataclass(frozen=True)
class EventRecord:
    """Something that happened: when, what, and which way its function crossed zero (+1 rising, -1 falling)."""

    t: float  # s
    name: str
    direction: int


@dataclass(frozen=True)
class Result:
    """Rows over time with names and units, the events, the ledger, the statistics of the run.

    `values` holds the arrays by the names of `results.table`, time first; `labels` the names along each dimension.
    """

    name: str
    time: NDArray[np.float64]
    values: Mapping[str, NDArray[np.float64]]
    labels: Mapping[str, Sequence[str]]
    events: tuple[EventRecord, ...]
    contacts: ContactTable
    ok: bool
    message: str
    interrupted: bool = False
    stats: Mapping[str, Any] = field(default_factory=dict)
    outline: Outline | None = None  # what pictures draw of the mechanism; None in files of older versions

    def __repr__(self) -> str:
        return f"<Result {self.name!r}: {len(self.time)} rows, {len(self.contacts)} contacts, {self.message}>"

    @cached_property
    def data(self) -> xarray.Dataset:
        """Everything as one labelled dataset: result.data["q"].sel(coordinate="arm.angle")."""
        import xarray

        variables = {}
        for name, array in self.values.items():
            quantity = QUANTITIES[name]
            attributes = {"units": quantity.unit, "long_name": quantity.meaning}
            variables[name] = (("time", *quantity.dims), array, attributes)
        coordinates: dict[str, Any] = {"time": ("time", self.time, {"units": "s", "long_name": "time"})}
        for dimension, names in self.labels.items():
            coordinates[dimension] = (dimension, np.array(list(names), dtype=object if names else "U1"))
        for dimension, of in (("coordinate", "body_of_coordinate"), ("rate", "body_of_rate")):
            bodies = [name.rsplit(".", 1)[0] for name in self.labels[dimension]]
            coordinates[of] = (dimension, np.array(bodies, dtype=object if bodies else "U1"))
        return xarray.Dataset(variables, coordinates, {"title": self.name, "message": self.message})

    def __getitem__(self, coordinate: str) -> NDArray[np.float64]:
        """One coordinate over time: result["arm.angle"]."""
        return self._column("q", "coordinate", coordinate)

    def rate(self, coordinate: str) -> NDArray[np.float64]:
        """The rate of one coordinate over time."""
        return self._column("v", "rate", coordinate)

    def of_body(self, quantity: str, body: str) -> NDArray[np.float64]:
        """A quantity of one body over time, as in of_body("tip_position", "arm")."""
        return self._column(quantity, "body", body)

    @cached_property
    def ledger(self) -> Ledger:
        return Ledger.of({"time": self.time, **self.values}, list(self.labels["source"]))

    def _column(self, quantity: str, dimension: str, label: str) -> NDArray[np.float64]:
        names = list(self.labels[dimension])
        if label not in names:
            raise KeyError(f"{label!r} is none of {names}")
        return np.asarray(self.values[quantity][:, names.index(label)])

    def to_netcdf(self, path: str | Path) -> None:
        """Write all of it; the file appears whole or not at all."""
        target = Path(path)
        handle, temporary = tempfile.mkstemp(suffix=".nc", prefix=f".{target.name}.", dir=target.parent)
        os.close(handle)
        try:
            self._dataset_for_file().to_netcdf(temporary, engine="netcdf4")
            os.chmod(temporary, 0o666 & ~_umask())
            os.replace(temporary, target)
        except BaseException:
            os.unlink(temporary)
            raise

    def _dataset_for_file(self) -> xarray.Dataset:
        """Strings and events as plain variables, the rest as attributes: any netCDF reader can open it."""
        dataset = self.data.drop_vars(["body_of_coordinate", "body_of_rate"])
        empty = [dimension for dimension, names in self.labels.items() if not names]
        dataset = dataset.drop_dims(empty)
        dataset["event_time"] = ("event", np.array([e.t for e in self.events]), {"units": "s"})
        dataset["event_name"] = ("event", np.array([e.name for e in self.events], dtype=object if self.events else "U1"))
        dataset["event_direction"] = ("event", np.array([e.direction for e in self.events], dtype=np.int32))
        names = np.array([c.pair for c in self.contacts], dtype=object if self.contacts else "U1")
        dataset["contact_pair"] = ("touch", names)
        for name in NUMBERS:
            dataset[f"contact_{name}"] = ("touch", np.array([getattr(c, name) for c in self.contacts], dtype=np.float64))
        record = {"format": FORMAT, "ok": self.ok, "interrupted": self.interrupted, "stats": dict(self.stats)}
        dataset.attrs["pliant"] = json.dumps(record)
        if self.outline is not None:  # a variable, not an attribute: those of HDF5 are short
            dataset["outline"] = ((), self.outline.to_json(), {"long_name": "what pictures draw of the mechanism, JSON"})
        return dataset

    @classmethod
    def from_netcdf(cls, path: str | Path) -> Result:
        import xarray

        with xarray.open_dataset(path, engine="netcdf4") as opened:
            dataset = opened.load()
        record = json.loads(dataset.attrs["pliant"])
        dimensions = {d for quantity in QUANTITIES.values() for d in quantity.dims}
        labels = {d: [str(x) for x in dataset[d].values] if d in dataset.coords else [] for d in sorted(dimensions)}
        labels["axis"], labels["quaternion"] = list(AXES), list(QUATERNION)
        time = dataset["time"].values
        values = {name: _stored(dataset, name, labels, time.size) for name in QUANTITIES}
        names, directions = dataset["event_name"].values, dataset["event_direction"].values
        events = [EventRecord(float(t), str(n), int(d))
                  for t, n, d in zip(dataset["event_time"].values, names, directions, strict=True)]  # fmt: skip
        pairs = [str(pair) for pair in dataset["contact_pair"].values]
        columns = {name: dataset[f"contact_{name}"].values for name in NUMBERS}
        contacts = ContactTable(
            ContactRecord(pair, **{name: float(column[k]) for name, column in columns.items()})
            for k, pair in enumerate(pairs)
        )
        outline = Outline.from_json(str(dataset["outline"].item())) if "outline" in dataset else None
        return cls(dataset.attrs["title"], time, values, labels, tuple(events), contacts, record["ok"],
                   dataset.attrs["message"], record["interrupted"], record["stats"], outline)  # fmt: skip


def _stored(dataset: Any, name: str, labels: Mapping[str, Sequence[str]], rows: int) -> NDArray[np.float64]:
    if name in dataset:
        return np.asarray(dataset[name].values)
    return np.zeros((rows, *(len(labels[d]) for d in QUANTITIES[name].dims)))


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
