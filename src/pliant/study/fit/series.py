"""Single numbers of a result by name, as in exported tables: "arm.angle", "tip_position arm y"."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from pliant.errors import ModelError
from pliant.model.check import did_you_mean
from pliant.results.columns import PER_TIME
from pliant.results.reading import BY_LABEL
from pliant.results.table import QUANTITIES

TIME = "time"
READINGS = "sensor"  # the quantity
HEAD = re.compile(r"(?P<name>.*?)\s*(?:\[(?P<unit>[^\[\]]*)\])?\s*")


@dataclass(frozen=True)
class Series:
    """One number over time: its quantity, and its index along the quantity's other dimensions."""

    name: str
    quantity: str
    place: tuple[int, ...]
    unit: str


def split_head(head: str) -> tuple[str, str | None]:
    """The name and the unit of a column heading such as "tip_position arm y [mm]"."""
    match = HEAD.fullmatch(head)
    return (head.strip(), None) if match is None else (match["name"].strip(), match["unit"])


class SeriesNames:
    """All series of a result, by name; coordinates, states and sensors are also known by their own names, as in a result."""

    def __init__(self, labels: Mapping[str, Sequence[str]], units: Mapping[str, str]) -> None:
        """units: of coordinates, and of readings of sensors, where they have one."""
        self._known: dict[str, Series] = {}
        alone: dict[str, list[Series]] = {}
        for name, quantity in QUANTITIES.items():
            along = [list(enumerate(labels[dimension])) for dimension in quantity.dims]
            for entry in product(*along):
                words, place = tuple(word for _, word in entry), tuple(k for k, _ in entry)
                own = units.get(words[0]) if name in {*PER_TIME, READINGS} else None
                unit = quantity.unit if own is None else own + PER_TIME.get(name, "")
                full = " ".join((name, *words))
                self._known[full] = Series(full, name, place, unit)
                if name in BY_LABEL:
                    alone[words[0]] = [*alone.get(words[0], []), self._known[full]]
        # of quantities that share a label, the one that a result reads by it
        self._known |= {label: min(found, key=lambda one: BY_LABEL.index(one.quantity)) for label, found in alone.items()}

    def unit_of(self, name: str) -> str:
        """The unit of a series; empty if there is none of that name."""
        return self._known[name].unit if name in self._known else ""

    def find(self, part: str, field: str, name: str | tuple[str, ...]) -> Series:
        """part and field: used in the error message if there is no series of that name. A tuple is read as by a Result."""
        name = " ".join(name) if isinstance(name, tuple) else name
        if name not in self._known:
            rule = "must name a number of the result, such as 'arm.angle' or 'tip_position arm y'"
            raise ModelError.of(part, field, f"{rule}{did_you_mean(name, self._known)}", name)
        return self._known[name]
