"""Members in the main memory of a GPU: 32 lie side by side, number by number, so that the threads of a warp read them together."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from pliant.codegen.plain import Setting, Slots, plain_text
from pliant.host.cuda import WARP
from pliant.integrate.lockstep_events import TALLIED
from pliant.integrate.lockstep_judge import JUDGES, measure_works, set_bend, set_probe
from pliant.integrate.lockstep_tables import NUMBERS

if TYPE_CHECKING:
    from pliant.integrate.lockstep_text import LockstepText

STORED = "stored_"  # prefix of the functions that judge members, whose present may be in the second half of their tile


class Tiles:
    """The layout of a member's numbers, and the functions that judge members there."""

    def __init__(self, text: LockstepText) -> None:
        self.text = text

    @cached_property
    def slots(self) -> Slots:
        m, own = self.text.model, self.text.lanes.own_constants
        pairs, events = len(m.pairs), len(m.events)
        ends = {"y": m.n, "lowest": m.n_works, "highest": m.n_works, "rate": len(m.rows), "flow": m.n_carried}
        return Slots.of({
            **ends, **{f"{name}_new": size for name, size in ends.items()}, "p": m.n_changing, "c": m.n_constants if own else 0,
            "g": events, "gd": events, "side": events, "watching": events, "tally": TALLIED * pairs, "peak": pairs,
            "begin_impulse": pairs, "begin_lost": pairs, "begin_rubbed": pairs, **dict.fromkeys(NUMBERS, 1), "g_new": events,
            "gd_new": events, "force": pairs, "limit": int(m.limited), "hit": events, "survey": 3 * m.n_tips + 3,
        })  # fmt: skip

    @property
    def half(self) -> int:
        """Slots of the present, and as many of the end of a step, which are the present if that step was accepted."""
        return self.slots.first("y_new")

    @property
    def kept(self) -> int:
        """Slots that last from round to round; they come first."""
        return self.slots.first("g_new")

    def judges(self) -> str:
        setting: Setting = self.text.setting(self.slots, self.half, WARP, STORED)
        return plain_text([function for function in JUDGES if function not in (measure_works, set_bend, set_probe)], setting)
