"""Which contact forces statics alone cannot divide, at any row of a result."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pliant.errors import ModelError
from pliant.model import check
from pliant.results.result import Result
from pliant.run.mechanism import AnySystem
from pliant.run.shared_contacts import groups_at, pressed_in_groups

if TYPE_CHECKING:
    from pliant.analysis.recorded_motion import RecordedMotion


def undetermined_forces(result: Result, t: float | None = None, system: AnySystem | None = None) -> tuple[tuple[str, ...], ...]:
    """The contact pairs whose normal forces statics does not divide, in groups that share a load; t: a time, by default the end.

    system: the system of the run; needed only if the result comes from a file that does not hold its model. Friction of contacts
    that do not slip counts as a force that is not known either: a block between two walls may be jammed.
    """
    from pliant.analysis.recorded_motion import RecordedMotion

    check.instance("undetermined_forces", "result", result, Result, "a Result")
    motion: RecordedMotion = RecordedMotion(result, system, "undetermined_forces")
    if motion.system.closures:
        rule = "must have no closures, whose forces share loads with contacts as well"
        raise ModelError.of("undetermined_forces", "system", rule, result.name)
    if not result.keeps("q", "v", "normal_force"):
        raise ModelError.of("undetermined_forces", "result", "must hold q, v and normal_force", sorted(result.values))
    at = float(result.time[-1]) if t is None else check.number("undetermined_forces", "t", t, "s")
    if not result.time[0] <= at <= result.time[-1]:
        rule = f"must be within the rows of the result, {float(result.time[0]):.6g} to {float(result.time[-1]):.6g} s"
        raise ModelError.of("undetermined_forces", "t", rule, at)
    row = int(np.argmin(np.abs(np.asarray(result.time) - at)))
    pressed = np.flatnonzero(result.values["normal_force"][row] > 0.0)
    pairs = [motion.system.contacts[result.labels["pair"][k]] for k in pressed.tolist()]
    q, v = (result.values[name][row].tolist() for name in ("q", "v"))
    near = pressed_in_groups(motion.tree, motion.system, result.contacts, float(result.time[row]), q, v)
    return groups_at(motion.tree, [*pairs, *(one.pair for one in near)], q, v)
