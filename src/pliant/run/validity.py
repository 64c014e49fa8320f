"""Whether a run may be believed: the register of warnings. Each is a function of the evidence that gives sentences with numbers.

They read rows that the run has anyway, and are cheap: a bound first, what is exact only where the bound is passed. What is found
out before the run (assembly, rows of closures left out, loops that cannot move) stands in `trace` and comes first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from pliant.run.accounts import energy_balance, energy_given
from pliant.run.bending_warnings import compression, deflection, rotation, slope
from pliant.run.contact_warnings import deep_start, indentation, restitution
from pliant.run.evidence import Evidence, Rows
from pliant.run.joint_warnings import shared_loads, unloaded
from pliant.run.starts import unresisted

STATES_JUDGED = 2  # of a run's course, the last one among them, whose mass matrix is looked at

Warning = Callable[[Evidence], Iterable[str]]


def unseen_events(evidence: Evidence) -> Iterator[str]:
    """Events whose functions could not be judged at some steps."""
    for k in np.flatnonzero(evidence.blind):
        yield (
            f"event {evidence.traced.events[k].name!r} could not be judged in {evidence.blind[k]} of {evidence.steps} steps: its "
            "function was nan, or crossed zero more often than a step can note; crossings may be missing"
        )


def lost_inertia(evidence: Evidence) -> Iterator[str]:
    """A mass matrix that became singular: what follows cannot be believed. At a few states of the run."""
    course = evidence.course
    for k in np.unique(np.linspace(0, course.times.size - 1, STATES_JUDGED + 1)[1:].astype(int)):
        t, p = float(course.times[k]), np.concatenate([course.parameters[k], course.constants])
        loose = evidence.resistance.unresisted(t, course.states[k], p)
        if loose is not None:
            yield unresisted(t, loose)
            return


WARNINGS: tuple[Warning, ...] = (
    unseen_events,
    lost_inertia,
    deep_start,
    compression,  # causes before what they lead to
    rotation,
    deflection,
    slope,
    restitution,
    indentation,
    shared_loads,
    unloaded,
    energy_given,
    energy_balance,
)


OF_ROWS: tuple[Callable[[Rows], Iterable[str]], ...] = (deflection, slope)  # also of states that were found, not integrated


def warnings_of_rows(rows: Rows) -> tuple[str, ...]:
    """What is to be said of states that were not integrated."""
    return tuple(sentence for warning in OF_ROWS for sentence in warning(rows))


def warnings_of(evidence: Evidence) -> tuple[str, ...]:
    """All that is to be said of a run."""
    return tuple(sentence for warning in WARNINGS for sentence in warning(evidence))
