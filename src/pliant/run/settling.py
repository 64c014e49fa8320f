"""Which states of sensors' filters a run starts in equilibrium with what the sensors measure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pliant.integrate.memory.phase_tables import Settling
from pliant.results.state import ENTRIES, FinalState
from pliant.trace.layout import OWN

if TYPE_CHECKING:
    from pliant.run.prepare import Compiled


def settling_of(compiled: Compiled, state: FinalState | None) -> Settling | None:
    """All of them; in a run that continues an earlier one, those that it did not know. state: at its end."""
    code, traced = compiled.settle, compiled.traced
    if code is None:
        return None
    begun = state is not None and state.t > state.t_first
    known = set(state.labels.get(ENTRIES, ())) if begun and state is not None else set[str]()
    filtered = traced.system.filter_states
    which = [int(name in filtered and name not in known) for name in traced.system.states]
    return Settling(code.address, traced.layout.y[OWN].start, np.array(which, dtype=np.int64)) if any(which) else None
