"""The contacts of a run: when, where, how fast and how hard."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, fields

from pliant.results import rich_display


@dataclass(frozen=True)
class ContactRecord:
    """One contact from closing to opening. If still closed when the run ends, `end` is nan and other values are as of then."""

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

    @property
    def duration(self) -> float:
        return self.end - self.begin

    @property
    def restitution(self) -> float:
        """Exit speed/entry speed: the restitution in this mechanism, including its elastic links."""
        return self.exit_speed / self.entry_speed if self.entry_speed > 0.0 else math.nan

    @property
    def lasting(self) -> bool:
        """Whether it was still closed when the run ended."""
        return math.isnan(self.end)


COLUMNS = {
    "pair": "", "begin": "s", "duration": "s", "entry_speed": "m/s", "exit_speed": "m/s", "restitution": "",
    "peak_force": "N", "impulse": "N s", "normal_loss": "J", "friction_loss": "J",
}  # fmt: skip


MOST_DIGITS = len("0.000123456")  # of a number with six that count


class ContactTable(tuple[ContactRecord, ...]):
    """The contacts of a run in the order in which they began; it prints as a table."""

    def of(self, pair: str) -> ContactTable:
        return ContactTable(record for record in self if record.pair == pair)

    def __str__(self) -> str:
        if not self:
            return "no contacts"
        width = max(len("pair"), *(len(record.pair) for record in self)) + 2
        heads = [f"{name}, {unit}" if unit else name for name, unit in COLUMNS.items()]
        wide = {name: max(len(head), MOST_DIGITS) + 2 for name, head in zip(COLUMNS, heads, strict=True) if name != "pair"}
        lines = [f"{heads[0]:<{width}}" + "".join(f"{head:>{w}}" for head, w in zip(heads[1:], wide.values(), strict=True))]
        for record in self:
            numbers = "".join(f"{getattr(record, name):>{w}.6g}" for name, w in wide.items())
            lines.append(f"{record.pair:<{width}}{numbers}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        heads = [f"{name.replace('_', ' ')}, {unit}" if unit else name for name, unit in COLUMNS.items()]
        numbers = list(COLUMNS)[1:]
        rows = [[record.pair, *(f"{getattr(record, name):.6g}".replace("nan", "-") for name in numbers)] for record in self]
        return rich_display.table(heads, rows, f"{len(self)} contacts")


NUMBERS = tuple(f.name for f in fields(ContactRecord) if f.name != "pair")


def table(records: Iterable[ContactRecord]) -> ContactTable:
    return ContactTable(sorted(records, key=lambda record: (record.begin, record.pair)))
