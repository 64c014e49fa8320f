"""Numbers that a model may have but that hardly any mechanism has, mostly because of a forgotten unit.

`PLAUSIBILITY` is the register: each entry is a function of a System with plain numbers that yields sentences with part, field and
value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping

import numpy as np

from pliant.errors import PliantError
from pliant.model.resolve import checked_values, resolved
from pliant.model.system import System
from pliant.run.mechanism import AnySystem, mechanism_of

SOFTEST, STIFFEST = 1e6, 1.5e12  # Pa: soft rubber has more, diamond has less
LIGHTEST, DENSEST = 10.0, 23e3  # kg/m^3: foams have more, osmium has less
LIGHT = 1e-8  # mass of a body over that of the heaviest
STOCKY, THIN = 3.0, 1e4  # length of a beam over the depth of its section: beams are longer, even threads are not as thin
PRESSED = 10.0  # weights of the mechanism: a contact that rests does not push harder
GRAVITY, STRONGEST = 9.81, 30.0  # m/s^2: for mechanisms without gravity; no planet has more than Jupiter's 25


def implausible(system: AnySystem, parameters: Mapping[str, float] | None = None) -> tuple[str, ...]:
    """Sentences about implausible numbers of a system: gravity, stiffness, density, mass, slenderness, angles, depth of contacts.

    Nothing is refused because of them. parameters: values of parameters by name.
    """
    system = mechanism_of(system, "implausible")
    plain = resolved(system, checked_values(system.parameters, parameters))
    return tuple(sentence for check in PLAUSIBILITY for sentence in check(plain))


def gravities(system: System) -> Iterator[str]:
    strength = math.hypot(*map(float, system.gravity))
    if strength > STRONGEST:
        given = ", ".join(f"{x:.6g}" for x in system.gravity)
        yield f"system {system.name!r}: gravity = ({given}) m/s^2 is {strength / GRAVITY:.2g} times that of the Earth"


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


def masses(system: System) -> Iterator[str]:
    heaviest = max((float(link.body.mass) for link in system.links.values()), default=0.0)
    for link in system.links.values():
        if 0.0 < link.body.mass < LIGHT * heaviest:
            mass, share = link.body.mass, link.body.mass / heaviest
            yield f"body {link.name!r}: mass = {mass:.6g} kg is {share:.2g} of that of the heaviest body, {heaviest:.6g} kg"


def slenderness(system: System) -> Iterator[str]:
    for link in system.links.values():
        section, length = getattr(link.body, "section", None), getattr(link.body, "length", None)
        if section is None or not isinstance(length, float):
            continue
        moments = [moment for moment in (section.Iz, section.Iy) if moment is not None]
        ratios = [length / math.sqrt(12.0 * moment / section.A) for moment in moments]  # of a rectangle: to its sides
        for ratio in [x for x in sorted(ratios) if not STOCKY <= x <= THIN][:1]:
            than = "less than a beam" if ratio < STOCKY else "more than a thread"
            yield f"body {link.name!r}: length = {length:.6g} m is {ratio:.2g} times the depth of its section, {than} has"


def angles(system: System) -> Iterator[str]:
    for link in system.links.values():
        for name in set(link.joint.STARTS) & {"angle", "angles"}:
            for angle in np.atleast_1d(getattr(link.joint, name)).tolist():
                if abs(angle) > 2.0 * math.pi:
                    turns = f"{abs(angle) / (2.0 * math.pi):.3g} turns"
                    yield f"body {link.name!r}: {name} = {angle:.6g} rad is {turns}; pl.deg({angle:.6g}) if degrees are meant"


def starting_depths(system: System) -> Iterator[str]:
    if not system.contacts:
        return
    from pliant.analysis.implicit_equations import ImplicitEquations
    from pliant.analysis.operating_point import gaps_at

    try:
        equations = ImplicitEquations.of(system, 0.0, None)
    except PliantError:  # analyses refuse sampled controllers; a run judges its own start
        return
    weight = system.mass * (math.hypot(*map(float, system.gravity)) or GRAVITY)
    for pair, gap in zip(equations.pairs, gaps_at(equations, 0.0, equations.start_q).tolist(), strict=True):
        force = float(pair.normal.elastic(max(-gap, 0.0)))
        if force > PRESSED * weight:
            m, newton = pair.units
            yield (
                f"contact {pair.name!r} starts {-gap:.3g} {m} deep, where its law pushes with {force:.3g} {newton}, "
                f"{force / weight:.2g} times the weight of the mechanism; start the bodies apart, or at their depth at rest"
            )


PLAUSIBILITY: tuple[Callable[[System], Iterable[str]], ...] = (
    gravities, moduli, densities, masses, slenderness, angles, starting_depths,
)  # fmt: skip
