"""The kernels of a System with a group of shapes of which any two may touch, and what a run must know of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.integrate.loop import group_kernels
from pliant.integrate.loop.group_kernels import CARRIED, MET, RATES, ROW, SEEN, SUMS, WRENCH
from pliant.integrate.memory.phase_tables import Group
from pliant.model.frame import GROUND
from pliant.trace.layout import NEAR, WORKS

if TYPE_CHECKING:
    from pliant.codegen.composed import Sizes
    from pliant.codegen.llvm import MachineCode
    from pliant.trace.traced_system import TracedSystem

OWN = ("members", "member_rates", "step_limit", "project", "closures")  # functions that no contact of the group enters
OF_PAIRS = ("meet_ball", "meet_plane", "gap_to_ball", "gap_to_plane", "watch_ball", "watch_plane")
LOOK = "look"  # the observed row, with what the loop observes of near pairs
ENTRIES_OF = {"rhs": "rhs", "event_functions": "events_closed", "open_contact_event_functions": "events_open", LOOK: "look"}
USUAL_WIDTH = 0.2  # of the mean radius: gaps below which pairs are near


def composed_code(traced: TracedSystem, cache: Path | None) -> dict[str, MachineCode]:
    """The kernels of all functions that the group's contacts enter."""
    from pliant.codegen.composed import compose, texts_of, with_numbers

    texts = texts_of({name: function for name, function in traced.functions.items() if function.outputs and name not in OWN[2:]})
    made = {}
    for name in (*(name for name in traced.functions if name not in (*OWN, *OF_PAIRS)), LOOK):
        inner = "observe" if name == LOOK else name
        entry = ENTRIES_OF.get(name, "observe")
        numbers, sizes = _numbers(traced, len(traced.functions[inner].outputs), name)
        kernels: dict[str, Any] = {kind: texts.get(kind) for kind in ("members", "member_rates", *OF_PAIRS)}
        kernels |= {"mechanism": texts.get(inner), "equations": texts["rhs"]}
        function = with_numbers(group_kernels, entry, numbers)
        made[name] = compose(function, {kind: kernels[kind] for kind in _called(entry)}, sizes, cache)
    return made


def _called(entry: str) -> tuple[str, ...]:
    """The kernels that an entry point calls."""
    gaps, meets, watches = OF_PAIRS[2:4], OF_PAIRS[:2], OF_PAIRS[4:]
    if entry == "events_open":
        return ("members", "mechanism", *gaps)
    more = ("equations", "member_rates", *gaps, *watches) if entry == "events_closed" else ()
    return ("members", "mechanism", *meets, *more)


def _numbers(traced: TracedSystem, n_out: int, name: str) -> tuple[dict[str, int], Sizes]:
    """The numbers of `group_kernels` for a function with these outputs, and the sizes of the kernel around it."""
    from pliant.codegen.composed import Sizes

    (group,) = traced.system.groups.values()
    n_y, n_rates, members, balls = traced.y0.size, len(traced.functions["rhs"].outputs), len(group.names), len(group.balls)
    events = len(traced.events) and sum(event.pair == len(traced.pairs) for event in traced.events)
    observed, columns = len(traced.functions["observe"].outputs), traced.layout.observed
    inputs = max(WRENCH * balls + SUMS, n_y)
    parts = {"ROWS": ROW * members, "INPUTS": 2 * (ROW + RATES) + 2, "OUTPUTS": MET, "SLOPES": n_rates,
             "ACCELERATIONS": RATES * balls, "INNER": 0}  # fmt: skip
    places, at = {}, n_y + inputs
    for part, width in parts.items():
        places[part], at = at, at + width
    contact = {"AT_GAP": "gap", "AT_CLOSING": "closing_speed", "AT_FORCE": "normal_force", "AT_FRICTION": "friction_force",
               "AT_POINT": "contact_point", "AT_NORMAL": "contact_normal"}  # fmt: skip
    numbers = {"N_Y": n_y, "N_READ": traced.layout.y[WORKS].start, "N_OUT": n_out, "N_RATES": n_rates,
               "N_PLACES": group.places, "N_BALLS": balls, "N_MEMBERS": members, "N_NAMED": len(traced.pairs),
               "FIRST_PLACE": traced.layout.p[NEAR].start + 1, "N_EVENTS": events, **places,
               **{number: columns[quantity].start for number, quantity in contact.items()}}  # fmt: skip
    more = {"rhs": CARRIED * group.places, LOOK: SEEN * len(traced.all_pairs)}
    more |= dict.fromkeys(("event_functions", "open_contact_event_functions"), events * group.places)
    n_p = sum(owner.width for owner in traced.owners)
    return numbers, Sizes(n_y, n_p, (observed if name == LOOK else n_out) + more.get(name, 0), at)


def group_tables(traced: TracedSystem, code: Mapping[str, MachineCode]) -> Group | None:
    """What the loop must know of the group."""
    if not traced.near_pairs:
        return None
    (group,) = traced.system.groups.values()
    bodies = [ball.at.body for ball in group.balls] + [GROUND] * len(group.planes)
    numbers = {name: k for k, name in enumerate(dict.fromkeys([GROUND, *bodies]))}
    return Group(
        members=code["members"].address,
        member_rates=code["member_rates"].address,
        first_place=traced.layout.p[NEAR].start + 1,
        places=group.places,
        balls=len(group.balls),
        carriers=np.array([numbers[body] for body in bodies], dtype=np.int64),
        usual_width=USUAL_WIDTH * float(np.mean([float(ball.radius) for ball in group.balls])),
    )


def seen_places(traced: TracedSystem, first: int) -> dict[str, int]:
    """Where the loop finds contact quantities of all pairs: behind the observed row, which has `first` numbers."""
    n = len(traced.all_pairs)
    names = ("at_gap", "at_closing", "at_force", "at_friction", "at_point", "at_normal")
    return {name: first + at * n for name, at in zip(names, (0, 1, 2, 3, 6, 9), strict=True)}
