"""The complete final state of a run, from which another run can continue as if there had been no interruption."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from pliant.arrays import Floats
from pliant.errors import ModelError

# What a state is laid out by; a run goes on from it, with its works and records, where these are the same.
LAYOUT = ("coordinate", "rate", "state", "source", "pair")
BRISTLE, WORK, IMPULSE = "bristle ", "the work of ", "the impulse of "  # with which labels of these begin
ENTRIES = "y"  # the label of every entry of y, by which another System finds its own


@dataclass
class OngoingContact:
    """A contact that is still closed: how it began, the totals at that time, and its largest force so far."""

    begin: float  # s
    entry_speed: float  # m/s
    impulse: float  # N s, of the pair when it began; as the next two
    lost: float  # J
    rubbed: float  # J
    peak_force: float = 0.0  # N
    peak_time: float = math.nan  # s
    let_go: tuple[float, float] | None = field(default=None)  # time and speed at which the force came to zero
    grip: tuple[float, ...] | None = field(default=None)  # of friction that holds: what it was doing, where it yielded to


@dataclass(frozen=True)
class FinalState:
    """The integrated state at the end of a run: coordinates, rates, bristles, own states, works, impulses and closed contacts."""

    t: float  # s
    y: Floats
    # by pair: the entry speed of its law, m/s (negative after a compression: a larger closing speed replaces it), and its record
    closed: Mapping[str, tuple[float, OngoingContact]]
    labels: Mapping[str, Sequence[str]]  # names along y
    t_assembled: float = 0.0  # s, when closed loops were assembled
    t_first: float = 0.0  # s, when the first of the runs began that lead here
    hits: tuple[tuple[int, int], ...] = ()  # events located at this very time: number and direction
    sampled: bool = False  # controllers have run at this very time already
    # By joint whose friction holds: what it was doing, and along which direction
    grips: Mapping[str, tuple[float, ...]] = field(default_factory=dict)

    def fitted(self, labels: Mapping[str, Sequence[str]], start: Floats, motion: Sequence[str]) -> FinalState:
        """The state for a run whose y has its own layout. start: its own y there; motion: coordinates and rates, as labels of y.

        What is not known here (drives, controllers, currents of motors) has its own start. Works then begin anew.
        """
        mine, names = self.labels.get(ENTRIES), labels[ENTRIES]
        if mine is None or list(mine) == list(names):
            self._check_fits(labels, start.size, LAYOUT)
            return self
        self._check_fits(labels, self.y.size, LAYOUT[:2])
        unknown = [name for name in motion if name not in mine]
        if unknown:
            raise ModelError.of("simulate", "start", f"must know {', '.join(unknown)}, whose motion was prescribed there", self.t)
        same_contacts = list(self.labels["pair"]) == list(labels["pair"])
        kept = {name: x for name, x in zip(mine, self.y.tolist(), strict=True) if same_contacts or not name.startswith(BRISTLE)}
        kept |= dict.fromkeys((name for name in names if name.startswith((WORK, IMPULSE))), 0.0)
        y = np.array([kept.get(name, own) for name, own in zip(names, start.tolist(), strict=True)])
        closed = {pair: (entry, replace(one, begin=self.t, impulse=0.0, lost=0.0, rubbed=0.0))
                  for pair, (entry, one) in self.closed.items() if pair in labels["pair"]}  # fmt: skip
        return replace(self, y=y, closed=closed, labels=labels, t_first=self.t, hits=(), sampled=False)

    def _check_fits(self, labels: Mapping[str, Sequence[str]], size: int, dimensions: Sequence[str]) -> None:
        """Refuse a System with a different layout; the message names the difference."""
        for dimension in dimensions:
            mine, other = list(self.labels.get(dimension, ())), list(labels[dimension])  # older files know no states
            if mine != other:
                rule = f"must come from a run of the same mechanism, whose {dimension}s are {other}"
                raise ModelError.of("simulate", "start", rule, mine)
        if self.y.size != size:
            rule = f"must come from a run of the same mechanism, whose state has {size} numbers"
            raise ModelError.of("simulate", "start", rule, self.y.size)

    def record(self, pair: str) -> tuple[float, OngoingContact]:
        """Of a closed contact, a copy to go on with."""
        entry, one = self.closed[pair]
        return entry, replace(one)

    def to_json(self) -> str:
        """As text."""
        closed = {pair: [entry, asdict(one)] for pair, (entry, one) in self.closed.items()}
        labels = {name: list(names) for name, names in self.labels.items() if name in (*LAYOUT, ENTRIES)}
        return json.dumps({"t": self.t, "y": self.y.tolist(), "closed": closed, "labels": labels,
                           "t_assembled": self.t_assembled, "t_first": self.t_first, "hits": self.hits,
                           "sampled": self.sampled,
                           "grips": {name: list(grip) for name, grip in self.grips.items()}})  # fmt: skip

    @classmethod
    def from_json(cls, text: str) -> FinalState:
        """From the text of `to_json`."""
        plain = json.loads(text)
        closed = {pair: (float(entry), _ongoing(one)) for pair, (entry, one) in plain["closed"].items()}
        y = np.array(plain["y"], dtype=np.float64)
        hits = tuple((int(k), int(direction)) for k, direction in plain["hits"])
        sampled = bool(plain.get("sampled", False))
        grips = {name: tuple(map(float, grip)) for name, grip in plain.get("grips", {}).items()}
        return cls(plain["t"], y, closed, plain["labels"], plain["t_assembled"], plain["t_first"], hits, sampled, grips)


class HasState(Protocol):
    """An Equilibrium, or whatever else a run can start from."""

    @property
    def state(self) -> FinalState: ...


def _ongoing(plain: dict[str, Any]) -> OngoingContact:
    pairs = {name: plain.get(name) for name in ("let_go", "grip")}
    return OngoingContact(**{**plain, **{name: None if x is None else tuple(map(float, x)) for name, x in pairs.items()}})
