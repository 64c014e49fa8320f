"""The registry of warnings about a run. Each is a function of the evidence that yields sentences with numbers.

They use rows that the run has anyway, and are cheap: they check a bound first, and compute exactly only if the bound is exceeded.
Warnings from before the run (assembly, redundant rows of closures, locked loops) are in `trace` and come first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from pliant.model.modal import ModalBody
from pliant.run.accounts import energy_balance, energy_given
from pliant.run.along_warnings import along_beams
from pliant.run.beam_limits import UniformBeamLimits, limits_of
from pliant.run.bending_warnings import (
    compression,
    deflection,
    free_root,
    left_out,
    lightened,
    rotation,
    slope,
    stretching,
    unyielding,
)
from pliant.run.contact_warnings import (
    bearings,
    deep_start,
    impulses,
    indentation,
    journals,
    let_go_by_steps,
    restitution,
    soft_solids,
)
from pliant.run.evidence import Evidence, LastingState, Rows
from pliant.run.joint_warnings import shared_loads, unloaded
from pliant.run.number_warnings import idle_controllers, unusual, unusual_numbers
from pliant.run.shared_contacts import divided_by_stiffness
from pliant.run.solid_warnings import spinning, turning
from pliant.run.starts import unresisted

if TYPE_CHECKING:
    from pliant.trace.traced_system import TracedSystem

STATES_JUDGED = 2  # states of a run, including the last, whose mass matrix is checked

Warning = Callable[[Evidence], Iterable[str]]


def unseen_events(evidence: Evidence) -> Iterator[str]:
    """Warn of events whose functions could not be evaluated in some steps."""
    for k in np.flatnonzero(evidence.blind):
        yield (
            f"event {evidence.traced.events[k].name!r} could not be evaluated in {evidence.blind[k]} of {evidence.steps} steps: "
            "its function was nan, or crossed zero more often than a step can record; crossings may be missing"
        )


def lost_inertia(evidence: Evidence) -> Iterator[str]:
    """Warn of a singular mass matrix, beyond which the run is not reliable; checked at a few states of the run."""
    course = evidence.course
    for k in np.unique(np.linspace(0, course.times.size - 1, STATES_JUDGED + 1)[1:].astype(int)):
        t, p = float(course.times[k]), np.concatenate([course.parameters[k], course.constants])
        loose = evidence.resistance.unresisted(t, course.states[k], p)
        if loose is not None:
            yield unresisted(evidence.traced.system, t, loose)
            return


WARNINGS: tuple[Warning, ...] = (
    unusual_numbers,  # causes before effects
    idle_controllers,
    unseen_events,
    lost_inertia,
    deep_start,
    free_root,
    left_out,
    lightened,
    compression,
    rotation,
    stretching,
    deflection,
    slope,
    turning,
    spinning,
    restitution,
    impulses,
    let_go_by_steps,
    indentation,
    journals,
    soft_solids,
    bearings,
    along_beams,
    shared_loads,
    divided_by_stiffness,
    unloaded,
    energy_given,
    energy_balance,
)


OfRows = Callable[[Rows], Iterable[str]]
OF_ROWS: tuple[OfRows, ...] = (free_root, left_out, deflection, slope, turning)  # also for states that were not integrated
OF_STATE: tuple[OfRows, ...] = (
    unusual_numbers,
    unyielding,
    compression,
    rotation,
    stretching,
    spinning,
    *OF_ROWS,
)  # of equilibria and linearisations


# about rows and the hardest contacts of a run, whatever its energies
OF_COURSE: tuple[Warning, ...] = (free_root, left_out, compression, rotation, stretching, deflection, slope, turning,
                                  spinning, restitution, indentation, shared_loads, unloaded)  # fmt: skip


def warnings_of_rows(rows: Rows) -> tuple[str, ...]:
    """The warnings about states that were not integrated."""
    return tuple(sentence for warning in OF_ROWS for sentence in warning(rows))


def warnings_of_state(state: LastingState) -> tuple[str, ...]:
    """The warnings about an equilibrium, a steady motion or the point of a linearisation."""
    return tuple(sentence for warning in OF_STATE for sentence in warning(state))


def warnings_of(evidence: Evidence) -> tuple[str, ...]:
    """All warnings about a run."""
    return tuple(sentence for warning in WARNINGS for sentence in warning(evidence))


def judged_numbers(traced: TracedSystem) -> tuple[object, ...]:
    """The numbers of a model that warnings read besides its rows, its weight and its start: equal ones give equal warnings."""
    beams: list[tuple[object, ...]] = []
    for node in traced.tree.nodes:
        limits = limits_of(traced.tree.bodies[node.name])
        if limits is not None and limits.bends:
            own = (limits.stiffness, limits.mass) if isinstance(limits, UniformBeamLimits) else ()
            beams.append(
                (*(array.tobytes() for array in (limits.deflections, limits.slopes, *own)), repr(getattr(limits, "beam", None)))
            )
        elif isinstance(node.link.body, ModalBody):
            beams.append((node.link.body.model.digest,))
    pairs = [(repr(slots.pair.normal), slots.pair.radius, slots.pair.other_radius) for slots in traced.all_pairs]
    return (*beams, *pairs, *traced.warnings, *unusual(traced.system))
