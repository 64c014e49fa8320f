"""Numbers that a model may have but that hardly any mechanism has, mostly because of a forgotten unit.

`PLAUSIBILITY` is the register: each entry is a function of a System with plain numbers that yields sentences with part, field and
value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping

from pliant.errors import PliantError
from pliant.model.resolve import checked_values, resolved
from pliant.model.system import System
from pliant.run.mechanism import AnySystem, mechanism_of
from pliant.run.number_warnings import UNUSUAL

LIGHT = 1e-8  # mass of a body over that of the heaviest
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


def masses(system: System) -> Iterator[str]:
    heaviest = max((float(link.body.mass) for link in system.links.values()), default=0.0)
    for link in system.links.values():
        if 0.0 < link.body.mass < LIGHT * heaviest:
            mass, share = link.body.mass, link.body.mass / heaviest
            yield f"body {link.name!r}: mass = {mass:.6g} kg is {share:.2g} of that of the heaviest body, {heaviest:.6g} kg"


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


PLAUSIBILITY: tuple[Callable[[System], Iterable[str]], ...] = (gravities, *UNUSUAL, masses, starting_depths)
