"""The numbers of a lock-step loop by name: what plain functions and attempts access, and the programs that members call."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import groupby

from pliant.codegen.function_writer import intrinsics_text
from pliant.codegen.guards import ALL_IDLE, ALWAYS
from pliant.codegen.member_lanes import Lanes, MemberProgram, intrinsics, member_text, sines_text
from pliant.codegen.own_functions import OWN
from pliant.codegen.plain import Setting, Slots, in_vectors, plain_text
from pliant.ensemble.lockstep.events import GAP, OF_NUMBERS, RENEWAL, WIDE
from pliant.ensemble.lockstep.gpu import CONSTANT_SPACE
from pliant.ensemble.lockstep.lists import PAIR_BITS
from pliant.ensemble.lockstep.scheme import Scheme
from pliant.ensemble.lockstep.tables import SHARED, LockstepModel
from pliant.integrate.methods.tableaus import Tableau

MOST_MIXING = 1  # pairs: with so few, members of different kinds may make attempts together


class LockstepLayout:
    """What a loop is made of: the model, the method, and how many members share a vector."""

    def __init__(self, model: LockstepModel, tableau: Tableau, lanes: Lanes, asynchronous: bool = False) -> None:
        self.model, self.scheme, self.lanes = model, Scheme(tableau), lanes
        self.rhs = MemberProgram.of(model.rhs, model.n_changing, lanes)
        self.lean = MemberProgram.of(model.rhs, model.n_changing, lanes, len(model.rows))  # without carried components
        self.look = MemberProgram.of(model.look, model.n_changing, lanes)
        self.survey = MemberProgram.of(model.survey, model.n_changing, lanes)
        self.project = None if model.project is None else MemberProgram.of(model.project, model.n_changing, lanes)
        self.asynchronous = asynchronous  # threads of a GPU copy without waiting, see `copies`
        self.together = not self.kinds_may_mix  # the threads of a warp copy records together, see `copies`

    @property
    def kinds_may_mix(self) -> bool:
        """Whether members with different contacts closed may make attempts together on a GPU."""
        return len(self.model.pairs) <= MOST_MIXING

    @property
    def scratch(self) -> dict[str, int]:
        """Values that live only within one attempt: registers if everything is inlined."""
        if not self.lanes.whole:
            return {}
        m, works = self.model, (self.rhs, self.lean, self.look, self.survey, self.project)
        seen = m.n_out + 2 * len(m.events) + len(m.pairs) + 1
        return {"stage": m.n_controlled, "out": m.n_out, "seen": seen, "work": max(x.n_work for x in works if x is not None),
                "projected": m.n_controlled, "surveyed": 3 * m.n_tips + 3}  # fmt: skip

    # ---- components that are zero while contacts are open

    @property
    def carried_groups(self) -> list[tuple[int, range]]:
        """(Guards, carried components in a row that are zero while one is idle); works and others in groups of their own."""
        guards = self.rhs.guards_of_outputs[len(self.model.rows) :]
        return _runs([(guard, k < self.model.n_works) for k, guard in enumerate(guards)])

    @property
    def seen_groups(self) -> list[tuple[int, range]]:
        """The same for the outputs of `look`; rates of states are always written."""
        guards, rows = self.look.guards_of_outputs, len(self.model.rows)
        return _runs([(guard if k >= rows else ALWAYS, True) for k, guard in enumerate(guards)])

    def carried_numbers(self, group: Iterable[int]) -> list[tuple[str, int]]:
        """The numbers of carried components: names in a record, and indices."""
        works = [k for k in group if k < self.model.n_works]
        return [*(("y", self.model.n_controlled + k) for k in group), *((name, k) for name in ("lowest", "highest") for k in works),
                *(("flow", k) for k in group)]  # fmt: skip

    @property
    def free_events(self) -> list[int]:
        """Events that are watched whether or not a contact is closed."""
        return [e for e, event in enumerate(self.model.events) if not event.of_contact]

    @cached_property
    def rhs_apart(self) -> frozenset[int]:
        """Rates of carried components that are zero while contacts are open: in memory, not in registers, on a GPU."""
        rows = len(self.model.rows)
        return frozenset(rows + k for guards, group in self.carried_groups if guards != ALWAYS and self.lanes.whole for k in group)

    @cached_property
    def look_apart(self) -> frozenset[int]:
        """The same for outputs of `look`: those that are read only while they are computed."""
        m, first, guards = self.model, self.seen_first, self.look.guards_of_outputs
        alone = {place: (ALL_IDLE, 2 << k) for k, place in enumerate(self.look.program.guards)}
        # by output: the guards with which it may be computed; rates come first, as in `rhs`
        read: dict[int, tuple[int, ...]] = {r: (self.rhs.guards_of_outputs[r],) for r in self.rhs_apart}
        for e, event in enumerate(m.events):
            if event.of_contact:
                allowed = alone.get(m.pairs[event.pair].closed, ())
                read |= {first[name] + e: allowed for name in ("g_new", "gd_new")}
        read |= {first["force"] + k: alone.get(pair.closed, ()) for k, pair in enumerate(m.pairs)}
        return frozenset(k for k, allowed in read.items() if guards[k] in allowed and self.lanes.whole)

    @cached_property
    def seen_first(self) -> dict[str, int]:
        """Where the outputs of `look` begin, by name."""
        m = self.model
        sizes = {"rate_new": len(m.rows), "flow_new": m.n_carried, "g_new": len(m.events), "gd_new": len(m.events),
                 "force": len(m.pairs), "limit": 1}  # fmt: skip
        return {name: first for name, (first, _) in Slots.of(sizes).places.items()}

    # ---- what the text of a loop begins with

    def setting(self, slots: Slots, half: int = 0, stride: int = 0, prefix: str = "") -> Setting:
        """What plain functions access in a memory of members."""
        m, events, pairs = self.model, self.model.events, self.model.pairs
        constants = {
            "N": m.n, "N_C": m.n_controlled, "N_W": m.n_works, "N_ROWS": len(m.rows), "N_CARRIED": m.n_carried,
            "N_E": len(events), "N_P": len(pairs),
            "N_CHANGING": m.n_changing, "N_OWN": m.n_constants if self.lanes.own_constants else 0, "N_HEAD": m.n_head,
            "N_TIPS": m.n_tips, "N_LIMIT": int(m.limited), "LATER": int(half > 0),
            "N_GUARDS": len(self.rhs.program.guards), "N_CHAINED": sum(rate >= 0 for rate in m.chained),
        }  # fmt: skip
        tables: dict[str, Sequence[float] | Sequence[int]] = {
            "order": [float(self.scheme.tableau.order)], "least_old": [self.scheme.least_old], "control": self.scheme.control,
        }  # fmt: skip
        for name in ("does", "number", "pair", "flag", "pressed", "direction", "has_rate"):
            tables[name] = [int(getattr(event, name)) for event in events] or [0]
        for name in ("closed", "entry", "bristles", "n_bristles", "impulse", "lost", "rubbed"):
            tables[name] = [int(getattr(pair, name)) for pair in pairs] or [0]
        guards, sets = self.rhs.program.guards, self.rhs.guards_of_outputs[len(m.rows) :]
        chained = [i for i, rate in enumerate(m.chained) if rate >= 0]
        tables |= {"coordinate": chained or [0], "speed": [m.chained[i] for i in chained] or [0], "row": m.rows or [0],
                   "guard": list(guards) or [0],
                   "needs": [bits >> 1 for bits in sets] or [0],
                   "needs_some": [int(bits == ALL_IDLE) for bits in sets] or [0]}  # fmt: skip
        tables["gap"] = [next(e for e, event in enumerate(events) if event.pair == k and event.does == GAP)
                         for k in range(len(pairs))] or [0]  # fmt: skip
        renewals = {event.pair: e for e, event in enumerate(events) if event.does == RENEWAL}
        tables["renewal"] = [renewals.get(k, -1) for k in range(len(pairs))] or [-1]
        tables["kind_bit"] = [2 << (k % PAIR_BITS) for k in range(len(pairs))] or [0]
        return Setting(
            slots=slots, half=half, stride=stride or self.lanes.width, prefix=prefix, shared=SHARED, constants=constants,
            tables=tables,
            declared={"claim": (("ptr",), "i64"), "own_exp": (("double",), "double"), "own_log": (("double",), "double")},
            attributes="alwaysinline nounwind" if self.lanes.whole else "inlinehint nounwind",
            table_space=CONSTANT_SPACE if self.lanes.whole else 0, rolled=self.lanes.whole,
        )  # fmt: skip

    def parts(self) -> list[str]:
        """Functions that the programs of members call, and these programs."""
        lanes = self.lanes
        own = Setting(attributes="alwaysinline nounwind" if lanes.whole else "nounwind")
        declared = intrinsics_text() if lanes.width > 1 else "".join(
            line + "\n" for line in intrinsics_text().splitlines() if line not in intrinsics(lanes))  # fmt: skip
        wide = in_vectors(plain_text(OF_NUMBERS, Setting(attributes="alwaysinline nounwind", prefix=WIDE)), lanes.width)
        return [
            intrinsics(lanes), declared, sines_text(lanes), plain_text(OWN, own), wide, _CLAIM,
            member_text("member_rhs", self.rhs, lanes, self.rhs_apart),
            member_text("member_lean", self.lean, lanes) if not lanes.whole else "",
            member_text("member_look", self.look, lanes, self.look_apart),
            member_text("member_survey", self.survey, lanes),
            "" if self.project is None else member_text("member_project", self.project, lanes),
        ]  # fmt: skip


def _runs(keys: list[tuple[int, bool]]) -> list[tuple[int, range]]:
    """Consecutive entries with equal keys, by the first part of their key."""
    runs, first = [], 0
    for key, group in groupby(keys):
        size = len(list(group))
        runs.append((key[0], range(first, first + size)))
        first += size
    return runs


_CLAIM = f"""define internal i64 @claim(ptr %shared) alwaysinline nounwind {{
  %at = getelementptr i64, ptr %shared, i64 {list(SHARED).index("next")}
  %counter = load ptr, ptr %at
  %member = atomicrmw add ptr %counter, i64 1 monotonic
  ret i64 %member
}}
"""
