"""Warnings about numbers of a model that hardly any mechanism has, mostly because of a forgotten unit, and of idle controllers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator

import numpy as np

from pliant.model.modes import direction_of
from pliant.model.sampled import SAME
from pliant.model.system import System
from pliant.run.evidence import Evidence, Rows

SOFTEST, STIFFEST = 1e6, 1.5e12  # Pa: soft rubber has more, diamond has less
LIGHTEST, DENSEST = 10.0, 23e3  # kg/m^3: foams have more, osmium has less
HEAVIEST = 30e3  # kg/m^3 of a mass per length, which may include what the section does not show
STOCKY, THIN = 3.0, 1e4  # length of a beam over the depth of its section: beams are longer, even threads are not as thin


def unusual_numbers(evidence: Rows) -> tuple[str, ...]:
    """Warn of materials, sections and angles that a forgotten unit explains better than a mechanism."""
    return unusual(evidence.traced.system)


def unusual(system: System) -> tuple[str, ...]:
    """Sentences about a System with plain numbers."""
    return tuple(sentence for check in UNUSUAL for sentence in check(system))


def moduli(system: System) -> Iterator[str]:
    for link in system.links.values():
        material = getattr(link.body, "material", None)
        if material is not None and not SOFTEST <= material.E <= STIFFEST:
            than = "less than soft rubber has" if material.E < SOFTEST else "more than diamond has"
            yield f"body {link.name!r}: E = {material.E:.6g} Pa is {than}; steel has 2e11 Pa, 200 GPa"


def densities(system: System) -> Iterator[str]:
    for link in system.links.values():
        density = getattr(getattr(link.body, "material", None), "density", None)
        if density is not None and not LIGHTEST <= density <= DENSEST:
            than = "less than foam has" if density < LIGHTEST else "more than any solid has"
            yield f"body {link.name!r}: density = {density:.6g} kg/m^3 is {than}; steel has 7860 kg/m^3"


def masses_per_length(system: System) -> Iterator[str]:
    for link in system.links.values():
        given, section = getattr(link.body, "mass_per_length", None), getattr(link.body, "section", None)
        if given is None or section is None:
            continue
        density = given / section.A
        if not LIGHTEST <= density <= HEAVIEST:
            yield (
                f"body {link.name!r}: mass_per_length = {given:.6g} kg/m over A = {section.A:.6g} m^2 is {density:.3g} kg/m^3; "
                "steel has 7860 kg/m^3"
            )


def slenderness(system: System) -> Iterator[str]:
    parts = {name for whole, beam in system.segmented.items() for name in beam.names(whole)}  # short, as the beam is not
    for link in (link for name, link in system.links.items() if name not in parts):
        section, length = getattr(link.body, "section", None), getattr(link.body, "length", None)
        if section is None or not isinstance(length, float):
            continue
        bent = {"y", "z"} & {direction_of(modes) for modes in getattr(link.body, "mode_sets", ())} or {
            "y",
            "z",
        }  # a wide strip bends one way
        moments = [moment for plane, moment in (("y", section.Iz), ("z", section.Iy)) if moment is not None and plane in bent]
        ratios = [length / math.sqrt(12.0 * moment / section.A) for moment in moments]  # of a rectangle: to its sides
        for ratio in [x for x in sorted(ratios) if not STOCKY <= x <= THIN][:1]:
            than = "less than a beam has; is it in m? 0.01 is 10 mm" if ratio < STOCKY else "more than a thread has"
            yield f"body {link.name!r}: length = {length:.6g} m is {ratio:.2g} times the depth of its section, {than}"


def angles(system: System) -> Iterator[str]:
    for link in system.links.values():
        for name in set(link.joint.STARTS) & {"angle", "angles"}:
            for angle in np.atleast_1d(getattr(link.joint, name)).tolist():
                yield from many_turns(f"body {link.name!r}: {name}", angle, f"pl.deg({angle:.6g})")


def many_turns(field: str, angle: float, degrees: str) -> Iterator[str]:
    """Say that an angle is more than a turn, and how to write it if it was meant in degrees."""
    if abs(angle) > 2.0 * math.pi:
        yield f"{field} = {angle:.6g} rad is {abs(angle) / (2.0 * math.pi):.3g} turns; {degrees} if degrees are meant"


UNUSUAL: tuple[Callable[[System], Iterable[str]], ...] = (moduli, densities, masses_per_length, slenderness, angles)


def idle_controllers(evidence: Evidence) -> Iterator[str]:
    """Warn of a sampled controller that runs only once, or whose outputs never act, in a whole run."""
    start, end = (float(evidence.course.times[k]) for k in (0, -1))
    if evidence.continued_from is not None or end <= start:
        return
    for own in evidence.traced.system.controllers.values():
        if own.delay >= end - start:
            yield (
                f"controller {own.name!r}: its outputs never act, because delay = {own.delay:g} s is as long as the run of "
                f"{end - start:.6g} s; delay is in s: 1e-3 is 1 ms"
            )
        elif own.period > (1.0 + SAME) * (end - start):
            yield (
                f"controller {own.name!r} runs only once, because period = {own.period:g} s is longer than the run of "
                f"{end - start:.6g} s; period is in s: 1e-3 is 1 kHz"
            )
