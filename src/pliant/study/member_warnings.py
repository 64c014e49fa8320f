"""Warnings about members in lock-step: those of a single run, from the rows and sums that lock-step keeps."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pliant.integrate.course import Course
from pliant.results.contacts import ContactRecord, ContactTable
from pliant.run.accounts import extremes_of
from pliant.run.evidence import Evidence
from pliant.run.inertia import Resistance
from pliant.run.simulate import scales_at_start, weight_of
from pliant.run.validity import warnings_of

if TYPE_CHECKING:
    from pliant.integrate.methods import Method
    from pliant.run.prepare import Compiled
    from pliant.trace.traced_system import TracedSystem

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class MemberCourse:
    """What lock-step keeps of one member that ended normally."""

    times: Floats  # s, of its rows; the first is the start, the last the end
    states: Floats  # (row, component)
    changing: Floats  # (row, entry of p that events change)
    constants: Floats
    observed: Floats  # (row, column)
    reach: Floats  # (work, 2) J: lowest, highest
    touches: Floats  # (pair)
    peak_force: Floats  # (pair) N
    steps: int


def warnings_of_member(compiled: Compiled, method: Method, member: MemberCourse, is_resisted: bool) -> tuple[str, ...]:
    """The sentences that a single run would give, as far as its rows tell.

    is_resisted: whether the mass matrix is known to be regular at its states.
    """
    traced = compiled.traced
    course = _course(traced, member)
    size, at_hand = scales_at_start(traced, member.observed[0])
    evidence = Evidence(
        traced=traced,
        times=np.empty(0),
        values={},
        method=method,
        course=course,
        observed=member.observed,
        extremes=extremes_of(traced, member.observed, course),
        at_hand=at_hand,
        size=size,
        weight=weight_of(traced),
        contacts=_contacts(traced, member),
        resistance=_Resisted() if is_resisted else Resistance(compiled, traced.layout.observed["kinetic"].start),
        blind=np.zeros(len(traced.events), dtype=np.int64),
        steps=member.steps,
        gone_on=None,
    )
    return (*traced.warnings, *warnings_of(evidence))


class _Resisted:
    """A mechanism whose mass matrix was found to be regular."""

    def unresisted(self, t: float, y: Floats, p: Floats) -> None:
        return None


def _course(traced: TracedSystem, member: MemberCourse) -> Course:
    """The extremes of works over all steps; when they were reached, and how far a work rose again, is known at rows only."""
    works = member.states[:, traced.n_controlled : traced.n_controlled + len(traced.sources)]
    lowest, highest = member.reach.T
    risen = works - np.minimum.accumulate(works, axis=0)
    return Course(
        times=member.times,
        states=member.states,
        parameters=member.changing,
        constants=member.constants,
        lowest=lowest,
        highest=highest,
        highest_at=member.times[np.argmax(works, axis=0)],
        rise=np.maximum(risen.max(axis=0), highest),  # works begin at zero
        risen_at=member.times[np.argmax(risen, axis=0)],
    )


def _contacts(traced: TracedSystem, member: MemberCourse) -> ContactTable:
    """One record for every pair that touched, of its hardest contact; nan for what lock-step does not keep."""
    return ContactTable(
        ContactRecord(slots.pair.name, nan, nan, nan, nan, float(member.peak_force[k]), nan, nan, nan, nan)
        for k, slots in enumerate(traced.pairs)
        if member.touches[k] > 0
    )
