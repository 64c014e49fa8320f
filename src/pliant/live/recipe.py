"""Where the page's script finds what it draws: places in the rows that the module leaves.

A place is an index of the observed row, or -1 - i for component i of the state. A curve is a sum of places with factors.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from pliant.arrays import Floats
from pliant.live.pulls import HAND
from pliant.results.result import Result
from pliant.results.table import HELD
from pliant.results.table import QUANTITIES as TABLE
from pliant.run.observed import columns_of
from pliant.show.plot.energy import kind_of
from pliant.show.plot.over_time import CONTACT_FORCE, plots_of
from pliant.show.plot.style import prefixed
from pliant.show.scene import Scene
from pliant.trace.traced_system import TracedSystem

Terms = list[tuple[int, float]]
QUANTITIES = ("q", "v", "states", "work", "root_position", "orientation", "tip_position", "tip_deflection", "contact_point",
              "contact_normal", "gap", "normal_force", "effort", *HELD)  # fmt: skip
MOST_CURVES = 14  # in one plot


class Recipe:
    """The places of everything drawn, for one structure."""

    def __init__(self, traced: TracedSystem, result: Result) -> None:
        self.traced, self.result = traced, result
        self.places = columns_of(traced, QUANTITIES)

    def blocks(self, scene: Scene) -> dict[str, Any]:
        """Of what moves: lists of places by row of a table; weights of shapes are products of places."""
        own = self.places
        coordinates = dict(zip(self.traced.columns["coordinate"], own["q"].tolist(), strict=True))
        fields = [field for body in scene.drawing.bodies for field in body.fields]
        pairs = len(self.traced.pairs)
        point, normal = own["contact_point"].reshape(pairs, 3), own["contact_normal"].reshape(pairs, 3)
        touch = np.concatenate([point, normal, own["gap"][:, None], own["normal_force"][:, None]], axis=1)
        return {
            "root": own["root_position"].tolist(),
            "turn": own["orientation"].tolist(),
            "tip": own["tip_position"].tolist(),
            "weight": [[coordinates[name] for name in field.coordinates] for field in fields],
            "touch": touch.ravel().tolist(),
        }

    def panels(self) -> list[dict[str, Any]]:
        """The plots: title, unit, curves with their terms in that unit."""
        panels = [*self._moving(), self._energies(), self._balance()]
        titles = [panel["title"] for panel in panels]
        for panel in panels:
            if titles.count(panel["title"]) > 1:
                panel["title"] += f", {panel['unit']}"
        return panels

    def columns(self) -> list[dict[str, Any]]:
        """The columns of a file of numbers, by the names of the result's own files."""
        labels, found = self.traced.columns, []
        for name in ("q", "v", "states", "normal_force", "work"):
            pairs = zip(labels[TABLE[name].dims[0]], self.places[name].tolist(), strict=True)
            found += [{"name": f"{name} {label}", "place": place} for label, place in pairs]
        return found + [{"name": name, "place": int(self.places[name][0])} for name in HELD]

    def ledger(self) -> dict[str, Any]:
        """Stored energies by name, and the sources of works by kind."""
        return {"held": {name: int(self.places[name][0]) for name in HELD}, "works": self._works()}

    # ---- curves

    def coordinate(self, name: str) -> int:
        return int(self.places["q"][self.traced.columns["coordinate"].index(name)])

    def _works(self) -> dict[str, list[int]]:
        kinds: dict[str, list[int]] = {}
        for source, place in zip(self.traced.columns["source"], self.places["work"].tolist(), strict=True):
            kinds.setdefault(HAND if source.startswith(f"{HAND} ") else kind_of(source), []).append(place)
        return kinds

    def _moving(self) -> Iterable[dict[str, Any]]:
        for title, unit, curves in plots_of(self.result):
            panel = self._panel(title, unit, [(label, [(int(self.places[name][k]), 1.0)]) for label, name, k in curves])
            yield panel | ({"peaks": title == CONTACT_FORCE} if curves[0][1] in ("normal_force", "effort") else {})

    def _energies(self) -> dict[str, Any]:
        held = [(name, [(int(self.places[name][0]), 1.0)]) for name in HELD if np.any(self.result.values[name] != 0.0)]
        works = [(f"work: {kind}", [(place, 1.0) for place in places]) for kind, places in self._works().items() if kind != HAND]
        return self._panel("energy", "J", [*held, *works])

    def _balance(self) -> dict[str, Any]:
        terms = [(int(self.places[name][0]), 1.0) for name in HELD] + [(place, -1.0) for place in self.places["work"].tolist()]
        return self._panel("balance error", "J", [("E - work", terms)]) | {"relative": True}

    def _panel(self, title: str, unit: str, curves: Sequence[tuple[str, Terms]]) -> dict[str, Any]:
        shown = curves[:MOST_CURVES]
        factor, name = prefixed(unit, [self._values(terms) for _, terms in shown], self.result.shown_units)
        more = f", and {len(curves) - MOST_CURVES} more" if len(curves) > MOST_CURVES else ""
        return {"title": title, "unit": name + more, "series": [label for label, _ in shown],
                "terms": [[(place, weight / factor) for place, weight in terms] for _, terms in shown]}  # fmt: skip

    def _values(self, terms: Terms) -> Floats:
        """A curve of the first run, from the result."""
        return np.asarray(sum(weight * self._by_place[place] for place, weight in terms))

    @cached_property
    def _by_place(self) -> dict[int, Floats]:
        """The columns of the first run; the works of hands, which it did not have, are zero."""
        rows, values = len(self.result.time), self.result.values
        known: dict[int, Floats] = {}
        for name in QUANTITIES:
            columns = values[name].reshape(rows, -1).T
            if name == "work":
                own = dict(zip(self.result.labels["source"], columns, strict=True))
                columns = np.array([own.get(source, np.zeros(rows)) for source in self.traced.columns["source"]])
            known.update(zip(self.places[name].tolist(), columns, strict=True))
        return known
