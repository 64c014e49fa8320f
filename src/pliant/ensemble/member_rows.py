"""The states of members in lock-step at the planned times and at their ends, and what is observed there."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from pliant.arrays import Floats, Ints, Truths
from pliant.ensemble.member_starts import doubtful_states
from pliant.integrate.memory.run_record import REACH
from pliant.integrate.rows import evaluate_rows
from pliant.run.validity import STATES_JUDGED
from pliant.trace.traced_system import pair_numbers

if TYPE_CHECKING:
    from pliant.codegen.llvm import MachineCode
    from pliant.ensemble.lockstep.runs import LockstepEnds
    from pliant.run.prepare import Compiled


@dataclass(frozen=True)
class MemberRows:
    """Rows of members that ended normally: those at the planned times, then the end. Rows after the end of a member are nan.

    They are put together only where they are read.
    """

    observe: MachineCode
    plan: Floats  # s
    ends: LockstepEnds
    members: Ints  # their indices in `ends`
    all_constants: Floats  # (member of `ends` or 1, constant)

    def __len__(self) -> int:
        return self.members.size

    @cached_property
    def times(self) -> Floats:
        """(member, row) s"""
        return np.hstack([np.tile(self.plan, (len(self), 1)), self.ends.t[self.members, None]])

    @cached_property
    def states(self) -> Floats:
        """(member, row, component)"""
        return np.concatenate([self.ends.row_y[self.members], self.ends.y[self.members, None]], axis=1)

    @cached_property
    def changing(self) -> Floats:
        """(member, row, entry of p that events change)"""
        return np.concatenate([self.ends.row_p[self.members], self.ends.p[self.members, None]], axis=1)

    @cached_property
    def constants(self) -> Floats:
        """(member or 1, constant)"""
        return self.all_constants[self.members] if len(self.all_constants) > 1 else self.all_constants

    @cached_property
    def there(self) -> Truths:
        """(member, row): whether the member had not ended before."""
        return ~np.isnan(self.states[:, :, 0])

    @cached_property
    def observed(self) -> Floats:
        """(member, row, column)"""
        return self._evaluated(self.observe, slice(None))

    @cached_property
    def observed_at_end(self) -> Floats:
        """(member, column)"""
        return self._evaluated(self.observe, slice(-1, None))[:, 0]

    def _evaluated(self, code: MachineCode, part: slice) -> Floats:
        times, states, changing = self.times[:, part], self.states[:, part], self.changing[:, part]
        members, rows = times.shape
        constants = np.repeat(self.constants, rows if len(self.constants) > 1 else members * rows, axis=0)
        out = np.empty((members * rows, code.n_out))
        p = np.hstack([changing.reshape(members * rows, -1), constants])
        evaluate_rows(code.address, times.ravel(), states.reshape(members * rows, -1), p, out, code.n_work)
        return out.reshape(members, rows, -1)

    def see_events(self, compiled: Compiled) -> Truths:
        """(member): whether the user's events have values at all rows; lock-step passes over those that are nan."""
        traced, code = compiled.traced, compiled.open_contact_events
        if not traced.system.conditions or code is None or not len(self):
            return np.ones(len(self), dtype=np.bool_)
        own = [k for k, event in enumerate(traced.events) if event.pair is None]
        unknown = np.any(np.isnan(self._evaluated(code, slice(None))[:, :, own]), axis=2)
        return np.asarray(~np.any(unknown & self.there, axis=1))

    def stay_closed(self, compiled: Compiled) -> Truths:
        """(member): whether the loops are closed at all rows; lock-step does not watch them at every step."""
        if compiled.closures is None or not len(self):
            return np.ones(len(self), dtype=np.bool_)
        residuals, bounds = np.split(self._evaluated(compiled.closures, slice(None)), 2, axis=2)
        return np.asarray(np.all((np.abs(residuals) <= bounds).all(axis=2) | ~self.there, axis=1))

    def are_resisted(self, compiled: Compiled, threads: int) -> Truths:
        """(member): whether the mass matrix is regular at the states that `run.validity.lost_inertia` checks."""
        count, members = self.there.sum(axis=1), np.arange(len(self))
        doubtful = np.zeros(len(self), dtype=np.bool_)
        reaches = pair_numbers(compiled.traced)[None, :, REACH]
        for share in np.linspace(0.0, 1.0, STATES_JUDGED + 1)[1:]:
            number = (share * (count - 1)).astype(np.int64)  # among the rows that are there, of which the end is the last
            row = np.where(number == count - 1, self.times.shape[1] - 1, number)
            constants = np.broadcast_to(self.constants, (len(self), self.constants.shape[1]))
            p = np.hstack([self.changing[members, row], constants])
            doubtful |= doubtful_states(compiled, self.times[members, row], self.states[members, row], p, reaches, threads)
        return ~doubtful
