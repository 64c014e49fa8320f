"""Warnings about contacts: a start deep inside one, and laws outside of what they were derived for."""

from __future__ import annotations

from collections.abc import Iterator

from pliant.model.contact import ContactPair
from pliant.model.coordinate_pair import Pair
from pliant.model.normal_law import HysteresisLaw, PowerLaw
from pliant.run.evidence import Evidence

DEEP = 1e-2  # of the energy at hand: what a contact may store at the start; at rest on it, a mechanism stores far less
PRESSED = 3.0  # weights of the mechanism: what may press a contact at the start, for one that rests is pressed by its weight
ROUND_OFF = 1e-9  # of the mechanism's size: no depth
OFF = 0.05  # of the restitution: what a law may deliver beside what it is asked for
HERTZ = 1.5  # the exponent of round bodies
SHALLOW = 0.1  # of the radius: the depth up to which Hertz's parabola is the sphere, its force within some 2 %


def deep_start(evidence: Evidence) -> Iterator[str]:
    """A contact that holds energy from nowhere where the run begins; one that goes on has been pressed by its own history."""
    if evidence.gone_on is not None or not evidence.traced.pairs:
        return
    columns = evidence.traced.layout.observed
    gaps, weight = evidence.observed[0, columns["gap"]], evidence.weight
    for slots, gap in zip(evidence.traced.pairs, gaps.tolist(), strict=True):
        if not -gap > ROUND_OFF * evidence.size:
            continue
        force, stored = (float(x) for x in (slots.pair.normal.elastic(-gap), slots.pair.normal.stored(-gap)))
        if stored > DEEP * evidence.at_hand and force > PRESSED * weight:
            (m, newton), kind = slots.pair.units, "contact" if isinstance(slots.pair, ContactPair) else "stop"
            height = f", enough to lift the whole mechanism by {stored / weight:.3g} m" if weight > 0.0 else ""
            yield (
                f"{kind} {slots.pair.name!r} starts {-gap:.3g} {m} deep, pressed by {force:.3g} {newton} and holding {stored:.3g} J"
                f"{height}: start the bodies apart, or as deep as they rest"
            )


def restitution(evidence: Evidence) -> Iterator[str]:
    """A law that was touched and does not deliver the restitution it was asked for."""
    for pair in _touched(evidence):
        law = pair.normal
        if isinstance(law, HysteresisLaw) and abs(law.delivered - law.asked) > OFF:
            yield (
                f"contact {pair.name!r}: {type(law).__name__} asked for a restitution of {law.asked:g} delivers "
                f"{law.delivered:.3f} between free bodies, more than {OFF:g} off: it was derived for others (see its description); "
                "pl.Exact delivers what it is asked for"
            )


def indentation(evidence: Evidence) -> Iterator[str]:
    """Round bodies pressed together deeper than Hertz's theory goes."""
    for pair in _touched(evidence):
        law, radius = pair.normal, _radius(pair)
        if not isinstance(law, PowerLaw) or law.exponent != HERTZ or radius <= 0.0:
            continue
        hardest = max(evidence.contacts.of(pair.name), key=lambda touch: touch.peak_force)
        depth = (hardest.peak_force / law.stiffness) ** (1.0 / law.exponent)
        if depth > SHALLOW * radius:
            yield (
                f"contact {pair.name!r} is pressed about {depth:.3g} m deep at t = {hardest.peak_time:.6g} s, {depth / radius:.2g} "
                f"of the radius of {radius:.3g} m; Hertz's law holds up to some {SHALLOW:g} of it: its stiffness is too low"
            )


def _touched(evidence: Evidence) -> list[Pair]:
    names = {touch.pair for touch in evidence.contacts}
    return [slots.pair for slots in evidence.traced.pairs if slots.pair.name in names]


def _radius(pair: Pair) -> float:
    """That of the sphere that presses a plane as these two do, m; 0 where a point touches."""
    curvature = sum(1.0 / radius for radius in (pair.radius, pair.other_radius) if radius != 0.0)
    return 1.0 / curvature if curvature > 0.0 else 0.0
