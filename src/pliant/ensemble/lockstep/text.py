"""The memory of a lock-step loop: of a vector of members on this processor, or of a GPU's thread."""

from __future__ import annotations

from functools import cached_property

from pliant.codegen.plain import Slots
from pliant.ensemble.lockstep.events import TALLIED
from pliant.ensemble.lockstep.layout import LockstepLayout
from pliant.ensemble.lockstep.records import Records
from pliant.ensemble.lockstep.staging import ENDED, KEPT, Staging
from pliant.ensemble.lockstep.tables import NUMBERS


class LockstepText(LockstepLayout):
    """The places of all numbers, for those who write the text of a loop: `attempt.host_text`, `rounds.gpu_text`."""

    @cached_property
    def records(self) -> Records:
        """Where members are between the rounds of a GPU."""
        return Records(self)

    @cached_property
    def staging(self) -> Staging:
        """Where they are while a thread makes an attempt with them."""
        return Staging(self, self.records)

    @cached_property
    def slots(self) -> Slots:
        """The memory of a vector of members; on a GPU, the memory that a thread has for an attempt."""
        if self.lanes.whole:
            return self._slots_of_a_thread
        m, pairs, events = self.model, len(self.model.pairs), len(self.model.events)
        rates, works = (self.scheme.stages + 1) * m.n_out, (self.rhs, self.lean, self.look, self.survey, self.project)
        ends = {"y": m.n, "lowest": m.n_works, "highest": m.n_works}
        slots = Slots.of({
            **ends, **{f"{name}_new": size for name, size in ends.items()}, "p": m.n_changing,
            "c": m.n_constants if self.lanes.own_constants else 0, "g": events, "gd": events, "gdd": events, "side": events,
            "watching": events, "held": pairs,
            "tally": TALLIED * pairs, "peak": pairs, "begin_impulse": pairs, "begin_lost": pairs, "begin_rubbed": pairs,
            **dict.fromkeys(NUMBERS, 1), "stage": m.n_controlled, "k": rates, "g_new": events, "gd_new": events, "force": pairs,
            "limit": int(m.limited), "hit": events, "sought": events, "survey": 3 * m.n_tips + 3,
            "projected": 0 if self.project is None else m.n_controlled, "work": max(x.n_work for x in works if x is not None),
        })  # fmt: skip
        # the rates at both ends of the step are those of the first and of the last stage; of carried components, they come second
        first, last, n = slots.first("k"), slots.first("k") + self.scheme.stages * m.n_out, len(m.rows)
        return Slots({**slots.places, "rate": (first, n), "flow": (first + n, rates - n),
                      "rate_new": (last, n), "flow_new": (last + n, m.n_carried)})  # fmt: skip

    @property
    def _slots_of_a_thread(self) -> Slots:
        m = self.model
        own = {
            "own_p": m.n_changing, "own_c": m.n_constants if self.lanes.own_constants else 0,
            "stage_flow": max(self.scheme.carried_places) * m.n_carried, "passing_flow": m.n_carried,
            "seen_awake": self.scratch["seen"], ENDED: 0 if self.staging.ended else m.n_controlled,
            "k": self.staging.stage_doubles, "y_old": m.n_controlled,
            KEPT: len(self.staging.kept),
        }  # fmt: skip
        return Slots.of({name: n for name, n in own.items() if name not in self.staging.stages})
