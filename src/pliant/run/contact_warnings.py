"""Warnings about contacts: a start with deep overlap, and laws outside the range for which they were derived."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from pliant.arrays import Floats
from pliant.dynamics.boxes import MARGIN
from pliant.dynamics.cylinder_pairs import BEHIND, INSIDE
from pliant.integrate.methods.method import RK4
from pliant.model.contact import Bore, ContactPair, Pin, held_length, on_body
from pliant.model.coordinate_pair import Pair
from pliant.model.frame import GROUND, Frame
from pliant.model.journal_law import JournalLaw
from pliant.model.normal_law import FixedHuntCrossley, HysteresisLaw, Impulsive, PowerLaw
from pliant.model.solids import Box, Corner, Cylinder, Foot, Rolling
from pliant.results.contacts import ContactRecord
from pliant.run.evidence import Evidence
from pliant.run.observed import values_of
from pliant.run.shared_contacts import pressed_in_groups

DEEP = 1e-2  # of the energy at hand: what a contact may store at the start; a mechanism at rest on it stores far less
PRESSED = 3.0  # weights of the mechanism: force allowed on a contact at the start; at rest it carries one weight
ROUND_OFF = 1e-9  # of the mechanism's size: depths below this are round-off
OFF = 0.05  # allowed difference between delivered and requested restitution
STABLE = 2.78  # the longest stable step of RK4 on x' = -x
HERTZ = 1.5  # the exponent of round bodies
SPEEDS = 201  # closing speeds at which the peak of a damped force is sought
PARALLEL = 1e-3  # rad: tilt of a pin without a length in a bore without one
SHALLOW = 0.1  # of the radius: up to this depth Hertz's parabola approximates the sphere, with a force error of about 2 %


def deep_start(evidence: Evidence) -> Iterator[str]:
    """Warn of a contact with unexplained stored energy at the start; if an earlier run left it closed, that run explains it."""
    if not evidence.traced.all_pairs:
        return
    continued = {} if evidence.continued_from is None else evidence.continued_from.closed
    columns = evidence.traced.layout.observed
    gaps, weight = evidence.observed[0, columns["gap"]], evidence.weight
    for pair, gap in [*zip((slots.pair for slots in evidence.traced.pairs), gaps.tolist(), strict=True), *_near_start(evidence)]:
        if not -gap > ROUND_OFF * evidence.size or pair.name in continued:
            continue
        force, stored = (float(x) for x in (pair.normal.elastic(-gap), pair.normal.stored(-gap)))
        if stored > DEEP * evidence.at_hand and force > PRESSED * weight:
            (m, newton), kind = pair.units, "contact" if isinstance(pair, ContactPair) else "stop"
            height = f", enough to lift the whole mechanism by {stored / weight:.3g} m" if weight > 0.0 else ""
            yield (
                f"{kind} {pair.name!r} starts {-gap:.3g} {m} deep, with a force of {force:.3g} {newton} and a stored energy "
                f"of {stored:.3g} J{height}; start the bodies apart, or at their depth at rest"
            )


def _near_start(evidence: Evidence) -> Iterator[tuple[Pair, float]]:
    """The pairs of contacts among shapes that are closed at the start, with their gaps."""
    traced, course = evidence.traced, evidence.course
    if traced.near_pairs:
        start = values_of(traced, course.times[:1], course.states[:1], evidence.observed[:1], ("q", "v"))
        q, v = (start[name][0].tolist() for name in ("q", "v"))
        for one in pressed_in_groups(traced.tree, traced.system, evidence.contacts, float(course.times[0]), q, v):
            yield one.pair, float(one.gap)


def restitution(evidence: Evidence) -> Iterator[str]:
    """Warn of a law in use that does not deliver the requested restitution."""
    for law, pairs in _by_law(_touched(evidence)).items():
        if not isinstance(law, HysteresisLaw):
            continue
        for pair in pairs:
            yield from _slow(pair, law, evidence)
        if abs(law.delivered - law.asked) > OFF:
            more = f" and {len(pairs) - 1} more" if len(pairs) > 1 else ""
            yield (
                f"contact {pairs[0].name!r}{more}: {type(law).__name__} with a requested restitution of {law.asked:g} delivers "
                f"{law.delivered:.3f} between free bodies, a difference of more than {OFF:g}; it was derived for other values (see "
                "its description), and pl.Exact delivers the requested one"
            )


def impulses(evidence: Evidence) -> Iterator[str]:
    """Warn of impacts whose restitution had to be lowered, or whose impulses were not found."""
    lowered, t, factor, unsolved = evidence.impacts
    if lowered:
        yield (
            f"impact of impulsive contacts at t = {t:.6g} s{_more(lowered - 1)}: friction and restitution together would create "
            f"energy (Kane's paradox); the restitution was lowered to {factor:.3g} of what was asked for, which creates none"
        )
    if unsolved:
        yield f"impacts of impulsive contacts: the impulses of {unsolved} did not converge; their friction may jam the bodies"


def _more(count: int) -> str:
    return f", and {count} later ones" if count else ""


def _slow(pair: Pair, law: HysteresisLaw, evidence: Evidence) -> Iterator[str]:
    """Warn if even the fastest bounces of a run begin below the law's floor, where its damping fades; last ones always do."""
    own = evidence.contacts.of(pair.name)
    bounces = any(0.0 < one.exit_speed <= one.entry_speed and not one.lasting for one in own)
    if not bounces or max(one.entry_speed for one in evidence.contacts) >= law.entry_floor:
        return
    speed = max(one.entry_speed for one in own)
    delivered = law.delivered_between(1.0, speed)
    if delivered > law.delivered + OFF:
        unit = pair.units[0]
        yield (
            f"contact {pair.name!r} closes at {speed:.3g} {unit}/s at most, below entry_floor = {law.entry_floor:g} {unit}/s of "
            f"its law, where the damping fades: it delivers a restitution of {delivered:.3f} instead of {law.delivered:.3f}; give "
            f"{type(law).__name__} an entry_floor far below the speeds of this mechanism"
        )


def let_go_by_steps(evidence: Evidence) -> Iterator[str]:
    """Warn of fixed explicit steps in which the slip of what sticks or rests grows instead of decaying."""
    if not isinstance(evidence.method, RK4):
        return
    from pliant.trace.holding import STICK_TIME

    longest = STABLE * STICK_TIME
    holding = [f"contact {pair.name!r}" for pair in _touched(evidence)
               if isinstance(pair.normal, Impulsive) or getattr(pair.friction, "holds", False)]  # fmt: skip
    holding += [slots.label for slots in evidence.traced.joints if slots.grip is not None]
    if holding and evidence.method.step > longest:
        yield (
            f"steps of {evidence.method.step:g} s are too long for {holding[0]} to stick or rest: what is left of its slip decays "
            f"within {STICK_TIME:g} s, and grows in steps longer than {longest:g} s"
        )


def indentation(evidence: Evidence) -> Iterator[str]:
    """Warn of round bodies with an overlap beyond the range of Hertz's theory."""
    for law, pairs in _by_law(_touched(evidence)).items():
        if not isinstance(law, PowerLaw) or law.exponent != HERTZ:
            continue
        depths = {pair.name: _deepest(law, _hardest(evidence, pair)) for pair in pairs if _radius(pair) > 0.0}
        deep = [pair for pair in pairs if depths.get(pair.name, 0.0) > SHALLOW * _radius(pair)]
        if deep:
            pair = max(deep, key=lambda one: depths[one.name] / _radius(one))
            depth, radius, touch = depths[pair.name], _radius(pair), _hardest(evidence, pair)
            when = "" if math.isnan(touch.peak_time) else f" at t = {touch.peak_time:.6g} s"
            more = f" ({len(deep) - 1} more with this law less far)" if len(deep) > 1 else ""
            yield (
                f"contact {pair.name!r} is pressed about {depth:.3g} m deep{when}, {depth / radius:.2g} of the radius of "
                f"{radius:.3g} m{more}; Hertz's law is valid up to about {SHALLOW:g} of it, so the stiffness is too low"
            )


def journals(evidence: Evidence) -> Iterator[str]:
    """Warn of a journal pressed deeper than its law knows."""
    for pair in _touched(evidence):
        law = pair.normal
        if not isinstance(law, JournalLaw):
            continue
        hardest = _hardest(evidence, pair)
        most = float(law.elastic(law.deepest))
        if hardest.peak_force > most:
            yield (
                f"contact {pair.name!r} is pressed by {hardest.peak_force:.3g} N at t = {hardest.peak_time:.6g} s, but "
                f"{type(law).__name__} is known up to {most:.3g} N only, {law.deepest:.3g} m deep; beyond it the run goes on along "
                "a straight line"
            )


def soft_solids(evidence: Evidence) -> Iterator[str]:
    """Warn of corners, rims and feet pressed deeper into a solid than what lies flush with its edges or rims can be held."""
    for law, pairs in _by_law(_touched(evidence)).items():
        if not isinstance(law, PowerLaw):
            continue
        into = [(_deepest(law, _hardest(evidence, pair)), most, pair.name) for pair in pairs
                if isinstance(pair, ContactPair) and (most := _deepest_flush(pair)) is not None]  # fmt: skip
        if not into:
            continue
        depth, most, name = max(into, key=lambda one: one[0] / one[1])
        if depth > most:
            yield (
                f"contact {name!r} is pressed about {depth:.3g} m deep, more than the {most:.3g} m to which it holds what lies "
                "flush with the edges or rims of the other solid: there it pushes out at the side; the stiffness is too low"
            )


def _deepest_flush(pair: ContactPair) -> float | None:
    """The depth up to which a part of a solid holds where both end together, m; None of what does not touch there."""
    part, against = pair.ball, pair.against
    if isinstance(part, Corner) and isinstance(against, Box):
        return MARGIN * float(against.inner)
    if isinstance(part, (Rolling, Foot)) and isinstance(against, (Box, Cylinder)):
        share, own = (BEHIND, part.of.inner) if isinstance(part, Rolling) else (INSIDE, part.of.radius)
        return share * min(float(own), float(against.inner))
    return None


def bearings(evidence: Evidence) -> Iterator[str]:
    """Warn of a pin that has left its bore, or that tilts though only one circle of it is known."""
    for slots in evidence.traced.pairs:
        pair = slots.pair
        if not isinstance(pair, ContactPair) or not isinstance(pair.ball, Pin) or not isinstance(pair.against, Bore):
            continue
        pin, bore = pair.ball, pair.against
        along_pin, along_bore = _world_axis(evidence, pin), _world_axis(evidence, bore)
        if held_length(pin, bore) is None:
            tilt = np.linalg.norm(np.cross(along_pin, along_bore), axis=1)
            if not tilt.max() <= PARALLEL:
                yield (
                    f"contact {pair.name!r}: the pin is {tilt.max():.3g} rad off the direction of its bore, but neither has a "
                    "length, so nothing resists its tilt; give the bore a length, so that its two rims hold the pin"
                )
        elif pin.length is not None and bore.length is not None:
            longer, along = (pin, along_pin) if pin.length > bore.length else (bore, along_bore)
            way = np.abs(np.sum(along * (_contact_points(evidence, pair) - _origin(evidence, longer.at)), axis=1))
            half = 0.5 * max(pin.length, bore.length)
            if way.max() > half * (1.0 + ROUND_OFF) and longer.at.station is None:
                yield (
                    f"contact {pair.name!r}: the pin has moved out of its bore along the axis, by {way.max() - half:.3g} m; the "
                    "contact acts as if both went on there: hold the pin along its axis, or stop the run by an event"
                )


def _world_axis(evidence: Evidence, shape: Pin | Bore) -> Floats:
    """(row, axis): the direction of a pin or a bore; an elastic body's own slope is left out."""
    return _turned(evidence, shape.at.body, np.array(on_body(shape.at, shape.axis)))  # type: ignore[arg-type]


def _origin(evidence: Evidence, frame: Frame) -> Floats:
    """(row, axis): the origin of a frame of a rigid body."""
    offset = _turned(evidence, frame.body, np.array(frame.offset))
    if frame.body == GROUND:
        return offset
    return _observed(evidence, "root_position")[:, 3 * _body(evidence, frame.body) :][:, :3] + offset


def _contact_points(evidence: Evidence, pair: Pair) -> Floats:
    number = [slots.pair.name for slots in evidence.traced.pairs].index(pair.name)
    return _observed(evidence, "contact_point")[:, 3 * number :][:, :3]


def _turned(evidence: Evidence, body: str, direction: Floats) -> Floats:
    """(row, axis): a direction of a body, in world axes."""
    if body == GROUND:
        return direction[np.newaxis]
    orientation = _observed(evidence, "orientation")[:, 4 * _body(evidence, body) :][:, :4]
    w, vector = orientation[:, :1], orientation[:, 1:]
    twice = 2.0 * np.cross(vector, direction)
    return np.asarray(direction + w * twice + np.cross(vector, twice))


def _body(evidence: Evidence, name: str) -> int:
    return evidence.traced.columns["body"].index(name)


def _observed(evidence: Evidence, quantity: str) -> Floats:
    return evidence.observed[:, evidence.traced.layout.observed[quantity]]


def _deepest(law: PowerLaw, touch: ContactRecord) -> float:
    """The depth, m, that a free hit with this peak force reaches: it is K d^n there, less than the peak if the law is damped.

    For F = K d^n (1 + c v), with v the closing speed over the entry speed, v dv/dx = -x^n (1 + c v) gives the depth at each v.
    """
    fixed = law.chi * touch.entry_speed if isinstance(law, FixedHuntCrossley) and touch.entry_speed > 0.0 else 0.0
    c, v = law.factor if isinstance(law, HysteresisLaw) else fixed, np.linspace(0.0, 1.0, SPEEDS)
    slope = v / (1.0 + c * v)
    left = np.append(np.cumsum((slope[1:] + slope[:-1])[::-1])[::-1], 0.0)  # grows with x^(n + 1)
    over = np.max((left / left[0]) ** (law.exponent / (law.exponent + 1.0)) * (1.0 + c * v))
    return float((touch.peak_force / (law.stiffness * over)) ** (1.0 / law.exponent))


def _hardest(evidence: Evidence, pair: Pair) -> ContactRecord:
    return max(evidence.contacts.of(pair.name), key=lambda touch: touch.peak_force)


def _by_law(pairs: Iterable[Pair]) -> dict[Any, list[Pair]]:
    """The pairs of each law: a hundred points with one law are one sentence."""
    groups: dict[Any, list[Pair]] = {}
    for pair in pairs:
        groups.setdefault(pair.normal, []).append(pair)
    return groups


def _touched(evidence: Evidence) -> list[Pair]:
    names = {touch.pair for touch in evidence.contacts}
    near = [pair for group in evidence.traced.system.groups.values() for pair in group.named(names)]
    return [*(slots.pair for slots in evidence.traced.pairs if slots.pair.name in names), *near]


def _radius(pair: Pair) -> float:
    """The radius of the sphere that would press a plane as these two press each other, m; 0 for a point."""
    curvature = sum(1.0 / radius for radius in (pair.radius, pair.other_radius) if radius != 0.0)
    return 1.0 / curvature if curvature > 0.0 else 0.0
