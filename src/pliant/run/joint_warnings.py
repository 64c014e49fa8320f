"""Warnings about joints that rub."""

from __future__ import annotations

from collections.abc import Iterator

from pliant.run.evidence import Evidence

MOST_NAMED = 3  # closures in a sentence


def unloaded(evidence: Evidence) -> Iterator[str]:
    """A closure that rubs and holds nothing that is not held already: nothing ever presses it."""
    traced = evidence.traced
    holding = {row.rsplit(" ", 1)[0] for row in traced.rows}
    for closure in traced.system.closures.values():
        if closure.frictions and closure.name not in holding:
            yield (
                f"closure {closure.name!r} rubs but carries no load: what it would hold the joints of the tree hold already; "
                "give it a preload, or let it hold what they leave free"
            )


def shared_loads(evidence: Evidence) -> Iterator[str]:
    """Friction where closures are over-determined: how rigid bodies share a load is not in their equations."""
    traced = evidence.traced
    if not traced.joints or not traced.implied:
        return
    closures = list(dict.fromkeys(traced.rows[k].rsplit(" ", 1)[0] for k, _ in traced.implied))
    shown = ", ".join(map(repr, closures[:MOST_NAMED])) + (" and others" if len(closures) > MOST_NAMED else "")
    yield (
        f"joints rub where the loops are over-determined: {len(traced.implied)} rows of closures ({shown}) follow from others and "
        "carry nothing, so the loads that press joints are one of many ways in which rigid bodies could share them; leave the "
        "redundant directions free (a spherical or slider closure instead of a revolute), or give a preload"
    )
