"""One grammar to read whatever has the quantities of a result: a Result, an Observation, an Equilibrium, an ensemble, a sweep.

x["arm.angle"] is a coordinate, a state of the user's own or a reading of a sensor, x["tip_position"] a whole quantity, and
x["tip_position", "arm"] and x["tip_position", "arm", "x"] are what it has at these labels.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from pliant.arrays import Floats
from pliant.errors import UnknownNameError, did_you_mean
from pliant.results.table import QUANTITIES

DIMENSIONS: Mapping[str, Sequence[str]] = {name: quantity.dims for name, quantity in QUANTITIES.items()}
MOST_NAMED = 3  # quantities that a message gives as examples
AT_ROOT, ROOT = "reaction_", ".root"  # quantities that act at the root of a body: "b.root" is read as the body b
BY_LABEL = ("q", "states", "sensor", "joint_q", "q_end")  # quantities whose labels can stand alone; q_end: of an ensemble


def find(
    part: str, key: Any, labels: Mapping[str, Sequence[str]], dimensions: Mapping[str, Sequence[str]] = DIMENSIONS
) -> tuple[str, tuple[int, ...]]:
    """The quantity that a key reads, and the places along its first dimensions. dimensions: those of every quantity, by name."""
    if isinstance(key, str):
        for name in BY_LABEL:  # before quantities: a user's own state may have the name of one
            if name in dimensions and key in (known := labels.get(dimensions[name][0], ())):
                return name, (list(known).index(key),)
    name, *parts = key if isinstance(key, tuple) and key else (key,)
    if not isinstance(name, str) or name not in dimensions:
        raise _unknown(part, key, name, labels, dimensions)
    dims = dimensions[name]
    if len(parts) > len(dims):
        wanted = f"{', '.join(dims)} of {name}" if dims else f"{name} alone, which has no labels"
        raise UnknownNameError.of(part, "name", f"must give at most {wanted}", key)
    return name, tuple(_place(part, name, dim, list(labels.get(dim, ())), label) for dim, label in zip(dims, parts, strict=False))


def _place(part: str, name: str, dim: str, labels: list[str], label: Any) -> int:
    if isinstance(label, str) and label not in labels and name.startswith(AT_ROOT):
        label = label.removesuffix(ROOT)
    if not isinstance(label, str) or label not in labels:
        near = did_you_mean(str(label), labels)
        raise UnknownNameError.of(part, name, f"must be read by {dim}, one of {labels}{near}", label)
    return labels.index(label)


def _unknown(
    part: str, key: Any, name: Any, labels: Mapping[str, Sequence[str]], dimensions: Mapping[str, Sequence[str]]
) -> UnknownNameError:
    """Names what could have been meant: the quantities that have such a label, or a name of similar spelling."""
    first = {quantity: labels.get(dims[0], ()) if dims else () for quantity, dims in dimensions.items()}
    own = [] if isinstance(key, tuple) else list(dict.fromkeys(label for quantity in BY_LABEL for label in first.get(quantity, ())))
    name = str(name)
    having = [f"[{quantity!r}, {name!r}]" for quantity, known in first.items() if name in known]
    if having:
        near = f" (such as {' or '.join(having[:MOST_NAMED])})"
    else:
        near = " (it was not kept)" if name in DIMENSIONS else did_you_mean(name, [*own, *dimensions])
    coordinates = f"a coordinate or a state ({', '.join(own)}) or " if own else ""
    return UnknownNameError.of(part, "name", f"must exist{near}: {coordinates}a quantity ({', '.join(dimensions)})", key)


class ReadByName:
    """What has `values` and `labels` by the table of quantities, read by the names above."""

    name: str
    values: Mapping[str, Any]
    labels: Mapping[str, Sequence[str]]

    _DIMENSIONS: ClassVar[Mapping[str, Sequence[str]]] = DIMENSIONS  # of what it can have
    _BEFORE: ClassVar[tuple[slice, ...]] = ()  # the axes before those of the labels

    def __getitem__(self, key: str | tuple[str, ...]) -> Any:
        """A number, or the numbers of a quantity: ["arm.angle"], ["tip_position"], ["tip_position", "arm", "x"]."""
        quantity, places = self._find(key)
        found: Floats = np.asarray(self.values[quantity][(*self._BEFORE, *places)])
        return found if found.ndim else float(found)

    def _find(self, key: object) -> tuple[str, tuple[int, ...]]:
        return find(f"{type(self).__name__.lower()} {self.name!r}", key, self.labels, self._DIMENSIONS)

    def __contains__(self, key: object) -> bool:
        try:
            return self._find(key)[0] in self.values
        except UnknownNameError:
            return False

    def __iter__(self) -> Iterator[str]:
        """The names of its quantities."""
        return iter(self.values)

    def get(self, key: str | tuple[str, ...], default: Any = None) -> Any:
        """What is read by a name, or the default if the name is unknown or its quantity was not kept."""
        try:
            return self[key]
        except UnknownNameError:
            return default
