"""Warnings about friction in joints."""

from __future__ import annotations

from collections.abc import Iterator

from pliant.run.evidence import Evidence

MOST_NAMED = 3  # closures in a sentence


def unloaded(evidence: Evidence) -> Iterator[str]:
    """Warn of a closure whose friction carries no load, because other joints already constrain what it would constrain."""
    traced = evidence.traced
    holding = {name for name, _ in traced.kinds}
    for closure in traced.system.closures.values():
        if closure.frictions and closure.name not in holding:
            yield (
                f"closure {closure.name!r} has friction but carries no load, because the joints of the tree already constrain what "
                "it would constrain; give it a preload, or let it constrain what they leave free"
            )


def shared_loads(evidence: Evidence) -> Iterator[str]:
    """Warn of friction in over-constrained loops, whose equations do not determine how rigid bodies share a load."""
    traced = evidence.traced
    if not traced.joints or not traced.implied:
        return
    closures = list(dict.fromkeys(traced.kinds[k][0] for k, _ in traced.implied))
    shown = ", ".join(map(repr, closures[:MOST_NAMED])) + (" and others" if len(closures) > MOST_NAMED else "")
    yield (
        f"joints with friction are in over-constrained loops: {len(traced.implied)} rows of closures ({shown}) follow from others "
        "and carry nothing, so the loads that press the joints are only one of many ways in which rigid bodies could share them; "
        "leave the redundant directions free (a spherical or slider closure instead of a revolute), or give a preload"
    )
