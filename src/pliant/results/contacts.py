"""The contacts of a run: when, where, how fast and how hard."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields
from pathlib import Path

from pliant.results import rich_display
from pliant.results.csv import write_table

LINEAR, ANGULAR = ("m", "N"), ("rad", "N m")  # units of depth and force


@dataclass(frozen=True)
class ContactRecord:
    """One contact from closing to opening. If still closed when the run ends, `end` is nan and other values are as of then.

    For stops and backlash of rotations, speeds are in rad/s, forces in N m and impulses in N m s.
    """

    pair: str
    begin: float  # s
    end: float  # s
    entry_speed: float  # m/s, of approach
    exit_speed: float  # m/s, of separation
    peak_force: float  # N
    peak_time: float  # s
    impulse: float  # N s, of the normal force
    normal_loss: float  # J, taken by the normal force's damping
    friction_loss: float  # J, taken by friction
    turns: bool = field(default=False, repr=False)  # whether its gap is an angle

    def __eq__(self, other: object) -> bool:
        """Equal in all values; one that is not known (nan) equals another."""
        if not isinstance(other, ContactRecord):
            return NotImplemented
        pairs = ((getattr(self, one.name), getattr(other, one.name)) for one in fields(self))
        return all(a == b or (a != a and b != b) for a, b in pairs)

    @property
    def duration(self) -> float:
        """How long the contact lasted, s."""
        return self.end - self.begin

    @property
    def restitution(self) -> float:
        """Exit speed/entry speed: the restitution in this mechanism, including its elastic links."""
        return self.exit_speed / self.entry_speed if self.entry_speed > 0.0 else math.nan

    @property
    def units(self) -> tuple[str, str]:
        """The units of depth and force."""
        return ANGULAR if self.turns else LINEAR

    @property
    def lasting(self) -> bool:
        """Whether it was still closed when the run ended."""
        return math.isnan(self.end)


LOSSES = {"normal_loss": "J", "friction_loss": "J"}


def columns_in(depth: str, force: str) -> dict[str, str]:
    """The columns of the table and their units, from those of depth and force."""
    speeds = {"entry_speed": f"{depth}/s", "exit_speed": f"{depth}/s", "restitution": ""}
    return {"pair": "", "begin": "s", "duration": "s", **speeds, "peak_force": force, "impulse": f"{force} s", **LOSSES}


MOST_DIGITS = len("0.000123456")  # of a number with six that count


class ContactTable(tuple[ContactRecord, ...]):
    """The contacts of a run in the order in which they began; it prints as a table."""

    def of(self, pair: str) -> ContactTable:
        """The contacts of one pair."""
        return ContactTable(record for record in self if record.pair == pair)

    def to_csv(self, path: str | Path) -> None:
        """Write a line for each contact; where some gaps are lengths and others angles, `unit of force` says which."""
        kinds = [part[0].units for part in self._by_unit()] or [LINEAR]
        units = columns_in(*(" or ".join(of) for of in zip(*kinds, strict=True))) | {"end": "s", "peak_time": "s"}
        heads = [f"{name} [{unit}]" if unit else name for name, unit in units.items()]
        rows = ([getattr(record, name) for name in units] + [record.units[1]] for record in self)
        write_table(path, [*heads, "unit of force"], rows)

    def __str__(self) -> str:
        """One table, or two where some gaps are lengths and others angles."""
        if not self:
            return "no contacts"
        width = max(len("pair"), *(len(record.pair) for record in self)) + 2
        return "\n\n".join("\n".join(_lines(records, width)) for records in self._by_unit())

    def _repr_html_(self) -> str:
        return "".join(_html(records) for records in self._by_unit()) or _html(self)

    def _by_unit(self) -> list[ContactTable]:
        """Contacts whose gaps are lengths, then those whose gaps are angles; without empty tables."""
        parts = (ContactTable(record for record in self if record.turns is turns) for turns in (False, True))
        return [part for part in parts if part]


def _lines(records: ContactTable, width: int) -> Iterator[str]:
    """The lines of a table of contacts with the same units; width: of the names of pairs."""
    columns = columns_in(*records[0].units)
    heads = [f"{name}, {unit}" if unit else name for name, unit in columns.items()]
    wide = {name: max(len(head), MOST_DIGITS) + 2 for name, head in zip(columns, heads, strict=True) if name != "pair"}
    yield f"{heads[0]:<{width}}" + "".join(f"{head:>{w}}" for head, w in zip(heads[1:], wide.values(), strict=True))
    for record in records:
        yield f"{record.pair:<{width}}" + "".join(f"{getattr(record, name):>{w}.6g}" for name, w in wide.items())


def _html(records: ContactTable) -> str:
    columns = columns_in(*(records[0].units if records else LINEAR))
    heads = [f"{name.replace('_', ' ')}, {unit}" if unit else name for name, unit in columns.items()]
    numbers = list(columns)[1:]
    rows = [[record.pair, *(f"{getattr(record, name):.6g}".replace("nan", "-") for name in numbers)] for record in records]
    return rich_display.table(heads, rows, f"{len(records)} contacts")


NUMBERS = tuple(f.name for f in fields(ContactRecord) if f.name not in ("pair", "turns"))


def table(records: Iterable[ContactRecord]) -> ContactTable:
    return ContactTable(sorted(records, key=lambda record: (record.begin, record.pair)))
