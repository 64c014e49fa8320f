"""The state of a run as a value that can be kept in memory, pickled, or stored beside the file that the run writes to."""

from __future__ import annotations

import io
import json
import zlib
from collections.abc import Callable, Mapping
from dataclasses import astuple, dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from pliant.arrays import Floats, Ints
from pliant.errors import ModelError
from pliant.integrate.status import Status
from pliant.run.save_times import Times
from pliant.trace.layout import SERIES
from pliant.version import VERSION

if TYPE_CHECKING:  # LLVM is imported when a run begins
    from pliant.integrate.saved_march import SavedMarch
    from pliant.integrate.stepper import Outcome, Stepper
    from pliant.run.prepare import Compiled
    from pliant.trace.traced_system import TracedSystem

Entries = tuple[Ints, Floats]

CHECKSUM = 4  # bytes before those of the state


class RowNode(NamedTuple):
    """A row of a stepped run, linked to the row before it, so that saved runs share their past."""

    before: RowNode | None
    t: float
    y: Floats
    p: Floats  # the entries that change during a run
    entries: Entries  # of inputs: their places in p, and their numbers


def nodes_to(last: RowNode | None) -> list[RowNode]:
    """The rows up to this one, in order."""
    nodes: list[RowNode] = []
    while last is not None:
        nodes.append(last)
        last = last.before
    return nodes[::-1]


@dataclass(frozen=True, repr=False, eq=False)
class SavedRun:
    """The state of a run at one time, for `SteppedRun.restore`; it can be pickled, and restored in another process."""

    t: float  # s
    inputs: Mapping[str, float]
    _mechanism: Mapping[str, str]  # what a run must have in common with this one, in words
    _march: SavedMarch
    _numbers: tuple[float, ...]  # of the caller's steps, or the batch of pieces of time
    _inputs_known: frozenset[str] = frozenset()
    _outcome: Outcome | None = None
    _last: RowNode | None = None
    _rows: int = 0  # rows in the file of the run
    _hold_at: tuple[Floats, ...] = field(default=())  # positions in which redundant closures were chosen to hold

    def __repr__(self) -> str:
        return f"<SavedRun at t = {self.t:.10g} s>"

    def __eq__(self, other: object) -> bool:
        """Whether a run would go on in the same way from both, with the same rows before."""
        return isinstance(other, SavedRun) and self.to_bytes() == other.to_bytes()

    __hash__ = object.__hash__  # by identity, because it contains arrays

    def __reduce__(self) -> tuple[Callable[[bytes], SavedRun], tuple[bytes]]:
        return SavedRun.from_bytes, (self.to_bytes(),)

    def check_fits(self, part: str, mechanism: Mapping[str, str]) -> None:
        """Refuse a run of another mechanism, method or version; the message names the first difference."""
        for what, here in mechanism.items():
            there = self._mechanism.get(what, "")
            if there != here:
                rule = f"must come from a run of the same mechanism, with the same {what}: {here}"
                raise ModelError.of(part, "saved", rule, there)

    def to_bytes(self) -> bytes:
        """Numbers and text alone, from which `from_bytes` makes it again."""
        arrays, march = self._march.to_arrays()
        nodes = nodes_to(self._last)
        entries = list({id(node.entries): node.entries for node in nodes}.values())
        number = {id(one): k for k, one in enumerate(entries)}
        arrays |= {
            "rows.t": np.array([node.t for node in nodes]),
            "rows.y": np.array([node.y for node in nodes]),
            "rows.p": np.array([node.p for node in nodes]),
            "rows.entries": np.array([number[id(node.entries)] for node in nodes], dtype=np.int64),
            "entries.sizes": np.array([len(places) for places, _ in entries], dtype=np.int64),
            "entries.places": np.concatenate([np.empty(0, dtype=np.int64), *(places for places, _ in entries)]),
            "entries.numbers": np.concatenate([np.empty(0), *(numbers for _, numbers in entries)]),
            "hold_at": np.array(self._hold_at),
        }
        ended = None if self._outcome is None else [self._outcome.status.name, *astuple(self._outcome)[1:]]
        plain = {"t": self.t, "inputs": dict(self.inputs), "mechanism": dict(self._mechanism), "march": march,
                 "numbers": self._numbers, "known": sorted(self._inputs_known), "outcome": ended,
                 "rows": self._rows}  # fmt: skip
        stream = io.BytesIO()
        named: dict[str, Any] = {"plain": np.array(json.dumps(plain)), **arrays}
        np.savez(stream, **named)
        data = stream.getvalue()
        return zlib.crc32(data).to_bytes(CHECKSUM, "big") + data

    @classmethod
    def from_bytes(cls, data: bytes) -> SavedRun:
        """What `to_bytes` wrote; damaged bytes are a ValueError."""
        from pliant.integrate.saved_march import SavedMarch

        checksum, data = int.from_bytes(data[:CHECKSUM], "big"), data[CHECKSUM:]
        if zlib.crc32(data) != checksum or not data:
            raise ValueError("the saved state of a run is damaged: its checksum does not match")
        with np.load(io.BytesIO(data), allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
        plain = json.loads(str(arrays["plain"]))
        ends = np.cumsum(arrays["entries.sizes"])[:-1]
        split = (np.split(arrays[f"entries.{name}"], ends) for name in ("places", "numbers"))
        entries: list[Entries] = list(zip(*split, strict=True)) if arrays["entries.sizes"].size else []
        last = None
        for t, y, p, k in zip(arrays["rows.t"].tolist(), *(arrays[f"rows.{name}"] for name in ("y", "p", "entries")), strict=True):
            last = RowNode(last, t, y, p, entries[k])
        march = SavedMarch.from_arrays(arrays, plain["march"])
        return cls(plain["t"], plain["inputs"], plain["mechanism"], march, tuple(plain["numbers"]), frozenset(plain["known"]),
                   _outcome(plain["outcome"]), last, plain["rows"], tuple(arrays["hold_at"]))  # fmt: skip


class Continuable(Protocol):
    """What is asked of a run that continues another; see `simulate.Run`."""

    compiled: Compiled
    traced: TracedSystem
    stops: list[float]
    t_end: float
    times: Floats | Times | str
    y0: Floats

    @property
    def stepper(self) -> Stepper:
        """Its method."""


def mechanism_words(run: Continuable) -> dict[str, str]:
    """What a saved run and the run that continues it must have in common, the most telling first."""
    from pliant.integrate.memory.run_record import RUN

    traced, code, t_start = run.traced, run.compiled.structure.code, run.stops[0]
    p = traced.parameters(t_start, run.stops[1])
    p[traced.layout.p[SERIES]] = 0.0  # addresses
    numbers = [p, traced.heads(run.stops[1:]).ravel()]  # tables, too
    names = {f"{dim}s": str(list(traced.columns[dim])) for dim in ("coordinate", "rate", "state", "pair", "source")}
    return {
        "version of pliant": f"{VERSION} ({_crc(repr(RUN).encode())})",
        "method": repr(run.stepper.method),
        "formulation": traced.formulation,
        **names,
        "events": str([event.name for event in traced.events]),
        "parameters": str(traced.plain_values),
        **{f"input {name}": f"{series}, checksum {_crc(series.table.tobytes())}" for name, series in traced.inputs.items()},
        "t_start": f"{t_start!r} s",
        "t_end": f"{run.t_end!r} s",
        "rows": repr(run.times) if isinstance(run.times, (str, Times)) else f"{run.times.size} times",
        "start": f"checksum {_crc(run.y0.tobytes())}",
        "numbers of its parts": f"checksum {_crc(np.concatenate(numbers).tobytes())}",
        "equations": f"checksum {_crc(' '.join(f'{name} {code[name].key}' for name in sorted(code)).encode())}",
    }


def _crc(data: bytes) -> str:
    return f"{zlib.crc32(data):08x}"


def _outcome(plain: list[Any] | None) -> Outcome | None:
    from pliant.integrate.stepper import Located, Outcome

    if plain is None:
        return None
    status, t, events, h, limit, method, component, opened = plain
    return Outcome(Status[status], t, tuple(Located(*event) for event in events), h, limit, method, component, tuple(opened))
