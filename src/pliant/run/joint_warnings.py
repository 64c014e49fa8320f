"""Warnings about joints that rub."""

from __future__ import annotations

from collections.abc import Iterator

from pliant.run.evidence import Evidence

MOST_NAMED = 3  # closures in a sentence


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
