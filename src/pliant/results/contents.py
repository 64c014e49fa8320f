"""What a result contains, which is also what its files contain."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pliant.arrays import Floats
from pliant.results.contacts import ContactTable
from pliant.results.drawing import Drawing
from pliant.results.ledger import Extremes
from pliant.results.shown_units import ShownUnits
from pliant.results.state import FinalState

if TYPE_CHECKING:  # xarray takes half a second to import
    import xarray


@dataclass(frozen=True)
class EventRecord:
    """An event of a run: its time, its name, and the direction in which its function crossed zero (+1 rising, -1 falling)."""

    t: float  # s
    name: str
    direction: int


@dataclass(frozen=True, eq=False)
class ResultContents:
    """Rows over time with names and units, and all that is known of the run besides them.

    What may be None is typed `| Any`, so that code that knows it to be there need not ask.
    """

    name: str
    time: Floats
    values: Mapping[str, Floats]
    labels: Mapping[str, Sequence[str]]
    events: tuple[EventRecord, ...]
    contacts: ContactTable
    ok: bool
    message: str
    interrupted: bool = False
    stats: Mapping[str, Any] = field(default_factory=dict)
    drawing: Drawing | None = None  # the drawing of the mechanism; None in files of older versions
    final_state: FinalState | Any = None  # state at the end, from which a run can continue; None if nothing was integrated
    make_provenance: Callable[[], Mapping[str, Any]] | None = None  # returns the provenance
    # Sentences about what to consider before relying on the numbers, although the run was completed
    warnings: tuple[str, ...] = ()
    extremes: Extremes | Any = None  # extremes of the ledger and of loads between saved rows
    parameters: dict[str, float] = field(default_factory=dict)  # values of the System's parameters in this run, SI
    sections: xarray.Dataset | Any = None  # section forces and stresses of the beams, if added by `with_sections`

    @property
    def shown_units(self) -> ShownUnits:
        """By SI unit, the unit in which tables and plots show such numbers, and its size: as the model file writes them."""
        known = self.provenance.get("settings", {}).get("shown_units", {})
        return {si: (str(unit), float(size)) for si, (unit, size) in known.items()}

    @cached_property
    def provenance(self) -> Mapping[str, Any]:
        """The provenance: `version` of the package, `model` as a model file, and `settings` of the run; no date."""
        return dict(self.make_provenance()) if self.make_provenance is not None else {}
