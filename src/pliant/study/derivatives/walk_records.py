"""What a walk along a run with derivatives leaves behind: phases, contacts, and where no derivative exists."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.arrays import Floats
from pliant.study.derivatives.taped_run import EventPoint


@dataclass(frozen=True)
class Undefined:
    """A time beyond which a derivative does not exist."""

    t: float  # s
    name: str  # name of the contact or event
    reason: str

    def __str__(self) -> str:
        return f"t = {self.t:.10g} s: {self.name}: {self.reason}"


@dataclass(frozen=True)
class Phase:
    """An interval of the run with one set of parameters, and the output requested in it."""

    begin: float  # s
    p: Floats
    dp: Floats  # (entry of p, theta)
    times: Floats  # requested times
    states: Floats  # (time, component)
    tangents: Floats  # (time, group, row, lane)


@dataclass
class Closing:
    """A contact that has closed: derivatives of the initial values of its record."""

    t: float
    begin: Floats
    entry_speed: Floats
    impulse: Floats
    lost: Floats
    rubbed: Floats
    point: EventPoint  # just after closing
    dt: Floats


@dataclass
class Opening:
    """Derivatives of the final values of a contact's record."""

    end: Floats | None  # None while the contact lasts
    exit_speed: Floats
    impulse: Floats
    lost: Floats
    rubbed: Floats


@dataclass
class Touch:
    """One contact from closing to opening."""

    pair: int
    closing: Closing | None  # None: it was already closed at the start of a continued run
    opening: Opening | None = None
    t_end: float = np.nan  # s, time at which the pair separated
