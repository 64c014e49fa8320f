"""Results that an ensemble keeps of its members: keywords and quantities, and their positions in the memory of a run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.arrays import Floats
from pliant.errors import ModelError
from pliant.model import check
from pliant.results.table import QUANTITIES
from pliant.run.save_times import save_times

if TYPE_CHECKING:
    from pliant.trace.traced_system import TracedSystem

FINAL, CONTACTS, RECORDS, LEDGER, WARNINGS = "final", "contacts", "records", "ledger", "warnings"
WORDS = (FINAL, CONTACTS, RECORDS, LEDGER, WARNINGS)
# counts, sums and largest values, in the order of a tally
OF_PAIR = ("touches", "impulse", "peak_force", "normal_loss", "friction_loss", "entry_speed")


@dataclass(frozen=True, init=False)
class ValuesAt:
    """Keeps quantities of every member at given times: a list of times, or an interval in s."""

    times: Any
    quantities: tuple[str, ...]

    def __init__(self, times: Any, *quantities: str) -> None:
        object.__setattr__(self, "times", times)
        object.__setattr__(self, "quantities", _quantities("ValuesAt", quantities))


@dataclass(frozen=True, init=False)
class ExtremesOf:
    """Keeps the lowest and highest values of quantities of every member over the rows given by `save`; 1001 rows by default."""

    quantities: tuple[str, ...]
    save: Any

    def __init__(self, *quantities: str, save: Any = None) -> None:
        object.__setattr__(self, "quantities", _quantities("ExtremesOf", quantities))
        object.__setattr__(self, "save", save)


def _quantities(part: str, names: Sequence[str]) -> tuple[str, ...]:
    if not names:
        raise ModelError.of(part, "quantities", "must name at least one quantity of a result", names)
    for name in names:
        check.choice(part, "quantities", name, tuple(QUANTITIES))
    return tuple(names)


@dataclass(frozen=True)
class KeepPlan:
    """The kept results, resolved; rows are saved at `times`, or not at all if nothing needs them."""

    words: frozenset[str]
    times: Floats
    values: tuple[str, ...]
    extremes: tuple[str, ...]

    @classmethod
    def of(cls, keep: Any, t_start: float, t_end: float) -> KeepPlan:
        if not isinstance(keep, (str, ValuesAt, ExtremesOf, Iterable)):
            raise ModelError.of("ensemble", "keep", f"must be {', '.join(WORDS)}, ValuesAt, ExtremesOf or several of these", keep)
        items = (keep,) if isinstance(keep, (str, ValuesAt, ExtremesOf)) else tuple(keep)
        words = frozenset(item for item in items if isinstance(item, str))
        for word in words:
            check.choice("ensemble", "keep", word, WORDS)
        values = _only_one(items, ValuesAt)
        extremes = _only_one(items, ExtremesOf)
        for item in items:
            check.instance("ensemble", "keep", item, (str, ValuesAt, ExtremesOf), f"{', '.join(WORDS)}, ValuesAt or ExtremesOf")
        plans = [save_times(item.times if isinstance(item, ValuesAt) else item.save, t_start, t_end)
                 for item in (values, extremes) if item is not None]  # fmt: skip
        if len(plans) == 2 and not np.array_equal(plans[0], plans[1]):
            rule = "must give values and extremes the same times: ExtremesOf(..., save=times)"
            raise ModelError.of("ensemble", "keep", rule, items)
        names = values.quantities if values is not None else (), extremes.quantities if extremes is not None else ()
        return cls(words, plans[0] if plans else np.empty(0), *names)

    @property
    def quantities(self) -> tuple[str, ...]:
        """The quantities needed in rows, each once."""
        return tuple(dict.fromkeys((*self.values, *self.extremes)))

    @property
    def needs_python(self) -> bool:
        """Whether every member must be processed in Python after its run."""
        return bool(self.words & {RECORDS, LEDGER})


def _only_one(items: Sequence[Any], kind: type) -> Any:
    chosen = [item for item in items if isinstance(item, kind)]
    if len(chosen) > 1:
        raise ModelError.of("ensemble", "keep", f"must hold at most one {kind.__name__}", items)
    return chosen[0] if chosen else None


def shape_of(traced: TracedSystem, quantity: str) -> tuple[int, ...]:
    return tuple(len(traced.columns[dimension]) for dimension in QUANTITIES[quantity].dims)
