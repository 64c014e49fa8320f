"""The lock-step loop as LLVM text, for this processor or a GPU: attempts on vectors of members, judged one member at a time."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from itertools import groupby

from pliant.codegen.member_lanes import Lanes, MemberProgram, intrinsics, member_text, sines_text
from pliant.codegen.own_functions import CONSTANTS as OWN_CONSTANTS
from pliant.codegen.own_functions import OWN
from pliant.codegen.plain import Setting, Slots, in_space, intrinsics_text, plain_text
from pliant.integrate.lockstep_attempt import AttemptWriter
from pliant.integrate.lockstep_events import TALLIED
from pliant.integrate.lockstep_gpu import CONSTANT_SPACE, apart_by, gpu_functions
from pliant.integrate.lockstep_judge import CONSTANTS, JUDGES
from pliant.integrate.lockstep_rounds import PAIR_BITS, rounds_text
from pliant.integrate.lockstep_scheme import Scheme
from pliant.integrate.lockstep_tables import NUMBERS, SHARED, LockstepModel
from pliant.integrate.setup import LEAST_OLD_ERROR
from pliant.integrate.tableaus import Tableau

HOST_ENTRY = "lockstep_members"

MOST_SHARED = 1024  # bytes of shared memory per thread: with more, too few threads would fit on a multiprocessor


class LockstepText:
    """The text of one loop."""

    def __init__(self, model: LockstepModel, tableau: Tableau, lanes: Lanes) -> None:
        self.model, self.scheme, self.lanes = model, Scheme(tableau), lanes
        self.rhs = MemberProgram.of(model.rhs, model.n_changing, lanes)
        self.lean = MemberProgram.of(model.rhs, model.n_changing, lanes, len(model.rows))  # without carried components
        self.look = MemberProgram.of(model.look, model.n_changing, lanes)
        self.survey = MemberProgram.of(model.survey, model.n_changing, lanes)
        self.project = None if model.project is None else MemberProgram.of(model.project, model.n_changing, lanes)

    # ---- memory

    @property
    def stage_doubles(self) -> int:
        """Number of doubles for the stage rates of one member on a GPU."""
        return (max(self.scheme.places[:-1]) + 1) * len(self.model.rows)

    @property
    def shared_doubles(self) -> int:
        return self.stage_doubles + self.model.n_controlled

    @property
    def elsewhere(self) -> dict[str, int]:
        """Places in shared memory of what all stages read: their rates and the state at the start; empty if there is no room."""
        return {"k": 0, "y_old": self.stage_doubles} if self.shared_bytes else {}

    @property
    def shared_bytes(self) -> int:
        """Bytes of a multiprocessor's shared memory per thread; 0 if that would leave too few threads."""
        size = 8 * apart_by(self.shared_doubles)
        return size if self.lanes.whole and size <= MOST_SHARED else 0

    @property
    def rooms(self) -> dict[str, int]:
        """Values that live only within one attempt: registers if everything is inlined."""
        if not self.lanes.whole:
            return {}
        m, works = self.model, (self.rhs, self.lean, self.look, self.survey, self.project)
        seen = m.n_out + 2 * len(m.events) + len(m.pairs) + 1
        rates = {"sums": (len(self.scheme.rows) - self.scheme.stages) * m.n_carried, "surveyed": 3 * m.n_tips + 3}
        rates |= {} if self.elsewhere else {"k": self.stage_doubles, "y_old": m.n_controlled}
        return {"stage": m.n_controlled, "out": m.n_out, "seen": seen, "work": max(x.n_work for x in works if x is not None),
                "projected": m.n_controlled, **rates}  # fmt: skip

    # ---- components that are zero while contacts are open

    @property
    def carried_groups(self) -> list[tuple[int, range]]:
        """(Guards, carried components in a row that are zero while one is idle); works and others in groups of their own."""
        guards = self.rhs.guards_of_outputs[len(self.model.rows) :]
        return _runs([(guard, k < self.model.n_works) for k, guard in enumerate(guards)])

    @property
    def seen_groups(self) -> list[tuple[int, range]]:
        """The same for the outputs of `look`."""
        return _runs([(guard, True) for guard in self.look.guards_of_outputs])

    @property
    def half(self) -> int:
        """Slots of the present, and as many of the end of a step, which the next attempt copies if the step was accepted."""
        return self.slots.first("y_new") if self.lanes.whole else 0

    @property
    def _handed_over(self) -> dict[str, int]:
        """Numbers that the first part of an attempt leaves for the second, if they are two kernels."""
        if not self.lanes.whole:
            return {}
        m, errors = self.model, len(self.scheme.tableau.error)
        return {"estimates": errors * m.n_controlled, "last_rate": len(m.rows) if self.scheme.last_stage else 0,
                "summed": (1 + errors) * m.n_carried}  # fmt: skip

    @property
    def kept(self) -> int:
        """Slots of a lane that last from round to round; they come first."""
        return self.slots.first("g_new")

    @cached_property
    def slots(self) -> Slots:
        m, whole = self.model, self.lanes.whole
        pairs, events, rates = len(m.pairs), len(m.events), (self.scheme.stages + 1) * m.n_out
        numbers = dict.fromkeys(NUMBERS, 1)
        works = (self.rhs, self.lean, self.look, self.survey, self.project)
        ends = {"y": m.n, "lowest": m.n_works, "highest": m.n_works}
        if whole:
            ends |= {"rate": len(m.rows), "flow": m.n_carried}
        arrays = {
            **ends, **{f"{name}_new": size for name, size in ends.items()}, "p": m.n_changing,
            "c": m.n_constants if self.lanes.own_constants else 0, "g": events, "gd": events, "side": events, "watching": events,
            "tally": TALLIED * pairs, "peak": pairs, "begin_impulse": pairs, "begin_lost": pairs, "begin_rubbed": pairs,
        }  # fmt: skip
        passing = {
            "stage": m.n_controlled, "k": 0 if whole else rates, "g_new": events, "gd_new": events, "force": pairs,
            "limit": int(m.limited), "hit": events, "survey": 3 * m.n_tips + 3,
            "projected": 0 if self.project is None else m.n_controlled, "work": max(x.n_work for x in works if x is not None),
            **self._handed_over,
        }  # fmt: skip
        widths = {**arrays, **numbers, **passing}
        slots = Slots.of({name: n for name, n in widths.items() if name not in (*self.rooms, *self.elsewhere)})
        if whole:
            return slots
        # the rates at both ends of the step are those of the first and of the last stage; of carried components, they come second
        first, last, n = slots.first("k"), slots.first("k") + self.scheme.stages * m.n_out, len(m.rows)
        return Slots({**slots.places, "rate": (first, n), "flow": (first + n, rates - n),
                      "rate_new": (last, n), "flow_new": (last + n, m.n_carried)})  # fmt: skip

    @property
    def setting(self) -> Setting:
        m, events, pairs = self.model, self.model.events, self.model.pairs
        constants = {
            **CONSTANTS, "N": m.n, "N_C": m.n_controlled, "N_W": m.n_works, "N_ROWS": len(m.rows), "N_CARRIED": m.n_carried,
            "N_E": len(events), "N_P": len(pairs),
            "N_CHANGING": m.n_changing, "N_OWN": m.n_constants if self.lanes.own_constants else 0, "N_HEAD": m.n_head,
            "N_TIPS": m.n_tips, "N_LIMIT": int(m.limited), "LATER": int(self.lanes.whole),
        }  # fmt: skip
        tables: dict[str, Sequence[float] | Sequence[int]] = {
            "order": [float(self.scheme.tableau.order)], "least_old": [LEAST_OLD_ERROR], "control": self.scheme.control,
        }  # fmt: skip
        for name in ("does", "number", "pair", "flag", "pressed", "direction", "has_rate"):
            tables[name] = [int(getattr(event, name)) for event in events] or [0]
        for name in ("closed", "entry", "bristles", "n_bristles", "impulse", "lost", "rubbed"):
            tables[name] = [int(getattr(pair, name)) for pair in pairs] or [0]
        tables["kind_bit"] = [2 << (k % PAIR_BITS) for k in range(len(pairs))] or [0]
        return Setting(
            slots=self.slots, half=self.half, stride=self.lanes.stride, shared=SHARED, constants=constants, tables=tables,
            declared={"claim": (("ptr",), "i64"), "own_exp": (("double",), "double"), "own_log": (("double",), "double")},
            attributes="alwaysinline nounwind" if self.lanes.whole else "nounwind",
            table_space=CONSTANT_SPACE if self.lanes.whole else 0, rolled=self.lanes.whole,
        )  # fmt: skip

    def parts(self) -> list[str]:
        """Everything except the entry."""
        lanes = self.lanes
        own = Setting(constants=OWN_CONSTANTS, attributes="alwaysinline nounwind" if lanes.whole else "nounwind")
        declared = intrinsics_text() if lanes.width > 1 else "".join(
            line + "\n" for line in intrinsics_text().splitlines() if line not in intrinsics(lanes))  # fmt: skip
        return [
            intrinsics(lanes), declared, sines_text(lanes), plain_text(OWN, own), _CLAIM, plain_text(JUDGES, self.setting),
            member_text("member_rhs", self.rhs, lanes), member_text("member_lean", self.lean, lanes) if not lanes.whole else "",
            member_text("member_look", self.look, lanes),
            member_text("member_survey", self.survey, lanes),
            "" if self.project is None else member_text("member_project", self.project, lanes), AttemptWriter(self).text(),
        ]  # fmt: skip

    def host(self) -> str:
        """`void HOST_ENTRY(ptr shared, ptr memory)`: runs members from the queue until none is left."""
        width = self.lanes.width
        active = self.slots.first("active") * width
        lines = [f"define void @{HOST_ENTRY}(ptr %shared, ptr %memory) nounwind {{", "entry:"]
        for lane in range(width):
            lines += [f"  %lane{lane} = getelementptr double, ptr %memory, i64 {lane}",
                      f"  call void @take(ptr %lane{lane}, ptr %shared)"]  # fmt: skip
        lines += ["  br label %test", "test:"]
        total = "0.0"
        for lane in range(width):
            lines += [f"  %at{lane} = getelementptr double, ptr %memory, i64 {active + lane}",
                      f"  %active{lane} = load double, ptr %at{lane}",
                      f"  %sum{lane} = fadd double %active{lane}, {total}"]  # fmt: skip
            total = f"%sum{lane}"
        lines += [f"  %some = fcmp une double {total}, 0.0", "  br i1 %some, label %go, label %done", "go:",
                  "  call void @attempt(ptr %memory, ptr %shared)"]  # fmt: skip
        lines += [f"  call void @judge(ptr %lane{lane}, ptr %shared)" for lane in range(width)]
        lines += ["  br label %test", "done:", "  ret void", "}"]
        return "\n".join([*self.parts(), *lines, ""])

    def rounds(self) -> str:
        """The GPU kernels that attempt and judge in turn, see `lockstep_rounds`."""
        functions = gpu_functions(self.shared_doubles, self.model.n_constants)
        return in_memory("\n".join([functions, *self.parts(), rounds_text(self)]), CONSTANT_SPACE)


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


def in_memory(text: str, space: int) -> str:
    """Reads constants that take two instructions to write from constant memory, which costs none; short ones stay in the code."""
    places: dict[str, int] = {}
    lines: list[str] = []
    for line in text.split("\n"):
        if line.startswith("  ") and "phi" not in line:
            for literal in dict.fromkeys(re.findall(r"\b0x[0-9A-F]{16}\b", line)):
                if literal.endswith("00000000"):
                    continue
                place = places.setdefault(literal, len(places))
                at = f"getelementptr (double, {in_space(space)} @literals, i64 {place})"
                lines.append(f"  %literal{len(lines)} = load double, {in_space(space)} {at}")
                line = line.replace(literal, f"%literal{len(lines) - 1}")
        lines.append(line)
    listed = ", ".join(f"double {literal}" for literal in places)
    table = f"@literals = addrspace({space}) externally_initialized global [{len(places)} x double] [{listed}]"
    return "\n".join([*lines, table, ""])
