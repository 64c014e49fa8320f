"""The lock-step loop as LLVM text, for this processor or a GPU: attempts on vectors of members, judged one member at a time."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cached_property

from pliant.codegen.member_lanes import Lanes, MemberProgram, intrinsics, member_text, sines_text
from pliant.codegen.own_functions import CONSTANTS as OWN_CONSTANTS
from pliant.codegen.own_functions import OWN
from pliant.codegen.plain import ROLLED, Setting, Slots, in_space, intrinsics_text, plain_text
from pliant.integrate.lockstep_attempt import AttemptWriter
from pliant.integrate.lockstep_glue import STAGES, Glue, apart_by, gpu_glue
from pliant.integrate.lockstep_judge import CONSTANTS, JUDGES, TALLIED
from pliant.integrate.lockstep_scheme import Scheme
from pliant.integrate.lockstep_tables import SHARED, LockstepModel
from pliant.integrate.setup import LEAST_OLD_ERROR
from pliant.integrate.tableaus import Tableau

HOST_ENTRY, DEVICE_ENTRY = "lockstep_members", "lockstep_members"

MOST_SHARED = 1024  # bytes of shared memory per thread: with more, too few threads would fit on a multiprocessor

GlueOf = Callable[[int, int, str], Glue]  # from the doubles of a member's stages, the number of constants, the kernel's name

_NUMBERS = ("t", "h", "step", "t_new", "t_stop", "start", "fresh", "active", "member", "trial", "slope", "nearer", "probes",
            "tries", "error", "log_old", "rejected_last", "accepted", "rejected", "piece", "next_row", "n_closed", "turns",
            "turned", "longest", "atol_works", "dead", "sure", "changed", "due", "over", "bend", "n_watched")  # fmt: skip


class LockstepText:
    """The text of one loop."""

    def __init__(self, model: LockstepModel, tableau: Tableau, lanes: Lanes, glue: GlueOf = gpu_glue) -> None:
        self.model, self.scheme, self.lanes = model, Scheme(tableau), lanes
        self.glue = glue(self.stage_doubles, model.n_constants, DEVICE_ENTRY)
        self.rhs = MemberProgram.of(model.rhs, model.n_changing, lanes)
        self.lean = MemberProgram.of(model.rhs, model.n_changing, lanes, len(model.rows))  # without carried components
        self.look = MemberProgram.of(model.look, model.n_changing, lanes)
        self.survey = MemberProgram.of(model.survey, model.n_changing, lanes)
        self.project = None if model.project is None else MemberProgram.of(model.project, model.n_changing, lanes)

    # ---- memory

    @property
    def stage_doubles(self) -> int:
        """Number of doubles for the stage rates of one member on a GPU."""
        return (max(self.scheme.places) + 1) * len(self.model.rows)

    @property
    def elsewhere(self) -> dict[str, str]:
        """Names that are not part of the lane: stage rates, if shared memory holds them."""
        return {"k": STAGES} if self.shared_bytes else {}

    @property
    def shared_bytes(self) -> int:
        """Bytes of a multiprocessor's shared memory per thread; 0 if that would leave too few threads."""
        size = 8 * apart_by(self.stage_doubles)
        return size if self.lanes.whole and size <= MOST_SHARED else 0

    @property
    def rooms(self) -> dict[str, int]:
        """Values that live only within one attempt: registers if everything is inlined."""
        if not self.lanes.whole:
            return {}
        m, works = self.model, (self.rhs, self.lean, self.look, self.survey, self.project)
        seen = m.n_out + 2 * len(m.events) + len(m.pairs) + 1
        return {"stage": m.n_controlled, "out": m.n_out, "seen": seen, "work": max(x.n_work for x in works if x is not None),
                "projected": m.n_controlled}  # fmt: skip

    @property
    def together(self) -> tuple[str, ...]:
        return self.glue.together

    @cached_property
    def slots(self) -> Slots:
        m, whole = self.model, self.lanes.whole
        pairs, events, rates = len(m.pairs), len(m.events), (self.scheme.stages + 1) * m.n_out
        numbers = dict.fromkeys(_NUMBERS, 1)
        works = (self.rhs, self.lean, self.look, self.survey, self.project)
        arrays = {
            "y": m.n, "y_new": m.n, "stage": m.n_controlled, "p": m.n_changing,
            "c": m.n_constants if self.lanes.own_constants else 0,
            "k": self.stage_doubles if whole else rates, "w": (max(self.scheme.carried_places) + 1) * m.n_carried if whole else 0,
            "g_new": events, "gd_new": events, "force": pairs, "limit": int(m.limited),
            "g": events, "gd": events, "side": events, "watching": events, "hit": events, "survey": 3 * m.n_tips + 3,
            "tally": TALLIED * pairs, "peak": pairs, "begin_impulse": pairs, "begin_lost": pairs, "begin_rubbed": pairs,
            "lowest": m.n_works, "highest": m.n_works,
            "projected": 0 if self.project is None else m.n_controlled,
            "work": max(x.n_work for x in works if x is not None),
        }  # fmt: skip
        slots = Slots.of({name: n for name, n in {**arrays, **numbers}.items() if name not in (*self.rooms, *self.elsewhere)})
        if whole:
            return slots
        # rates of carried components follow those of their stage
        return Slots({**slots.places, "w": (slots.first("k") + len(m.rows), rates - len(m.rows))})

    @property
    def _offsets(self) -> dict[str, int]:
        """Offsets in `k` and `w` of the rates of stages 1 and 2 and of the end."""
        m, scheme, s = self.model, self.scheme, self.scheme.stages
        stages = {"1": 1, "2": 2, "END": s}
        if not self.lanes.whole:
            return {f"{array}_{name}": j * m.n_out for name, j in stages.items() for array in "KW"}
        return {f"K_{name}": scheme.places[j] * len(m.rows) for name, j in stages.items()} | {
            f"W_{name}": scheme.carried_places[j] * m.n_carried for name, j in stages.items()
        }

    @property
    def setting(self) -> Setting:
        m, events, pairs = self.model, self.model.events, self.model.pairs
        constants = {
            **CONSTANTS, "N": m.n, "N_C": m.n_controlled, "N_W": m.n_works, "N_ROWS": len(m.rows), "N_CARRIED": m.n_carried,
            "N_E": len(events), "N_P": len(pairs),
            "N_CHANGING": m.n_changing, "N_OWN": m.n_constants if self.lanes.own_constants else 0, "N_HEAD": m.n_head,
            "N_TIPS": m.n_tips, "N_LIMIT": int(m.limited), **self._offsets,
        }  # fmt: skip
        row_of = [m.rows.index(i) if m.chained[i] < 0 else -1 for i in range(m.n_controlled)]
        tables: dict[str, Sequence[float] | Sequence[int]] = {
            "chained": [*m.chained, *[-1] * m.n_works],
            "row_of": row_of,
            "order": [float(self.scheme.tableau.order)], "least_old": [LEAST_OLD_ERROR], "control": self.scheme.control,
        }  # fmt: skip
        for name in ("does", "number", "pair", "flag", "pressed", "direction", "has_rate"):
            tables[name] = [int(getattr(event, name)) for event in events] or [0]
        for name in ("closed", "entry", "bristles", "n_bristles", "impulse", "lost", "rubbed"):
            tables[name] = [int(getattr(pair, name)) for pair in pairs] or [0]
        return Setting(
            slots=self.slots, stride=self.lanes.width, shared=SHARED, constants=constants, tables=tables,
            declared={"claim": (("ptr",), "i64"), "own_exp": (("double",), "double"), "own_log": (("double",), "double")},
            attributes="alwaysinline nounwind" if self.lanes.whole else "nounwind", elsewhere=self.elsewhere,
            table_space=self.glue.constant_space, rolled=self.lanes.whole,
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

    def device(self) -> str:
        """The GPU kernel `DEVICE_ENTRY(ptr shared)`: one member per thread; a warp runs until none of its threads has a member."""
        glue = self.glue
        lines = [
            glue.entry, "entry:", f"  %room = alloca [{self.slots.size} x double], align 16", *glue.lane,
            "  call void @take(ptr %lane, ptr %shared)", "  br label %test", "test:",
            "  %own = call i1 @has_member(ptr %lane)",
            f"  %some = {glue.some}", "  br i1 %some, label %go, label %done", "go:",
            "  call void @attempt(ptr %lane, ptr %shared)", "  call void @judge(ptr %lane, ptr %shared)", "  br label %test",
            "done:", "  ret void", "}",
        ]  # fmt: skip
        return in_memory("\n".join([glue.functions, *self.parts(), *lines, ROLLED]), glue.constant_space)


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
