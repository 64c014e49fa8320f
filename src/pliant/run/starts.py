"""Checks that a run can start in its initial state."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from pliant.arrays import Floats
from pliant.errors import ModelError, SolveError
from pliant.integrate.loop.group_kernels import PLACE, RADIUS, ROW
from pliant.integrate.memory.batch_record import COINCIDENT_SHARE
from pliant.model import check
from pliant.model.beam import FIRST_ORDER, Beam
from pliant.model.closure import GearClosure
from pliant.model.contact import ContactPair
from pliant.model.coordinate_pair import Pair
from pliant.model.normal_law import Impulsive
from pliant.model.strut import Strut
from pliant.model.system import System
from pliant.results.result import Result
from pliant.results.state import FinalState, HasState
from pliant.run.inertia import ALL_JUDGED, InertiaCheck

if TYPE_CHECKING:
    from pliant.integrate.member_runs import StartRules
    from pliant.run.prepare import Compiled
    from pliant.trace.traced_system import TracedSystem

# What a run can start from; in a mapping, the values of coordinates, own states, and rates, as ("v", coordinate)
AnyStart: TypeAlias = Result | FinalState | HasState | Mapping[Any, float] | None

OVERLAP = 1e-9  # m or rad: of an impulsive contact at the start; less is round-off
SHORTEST, SHORTEST_AT_ALL = 1e-6, 1e-12  # of its rest length, and m: the direction of a shorter strut is only round-off


def start_places(traced: TracedSystem, caller: str, names: Mapping[str, Iterable[str]]) -> dict[tuple[str, str], int]:
    """Indices in y of coordinates ("starts") and rates ("rates") that are to start elsewhere than the System says."""
    positions, rates = list(names["starts"]), list(names["rates"])
    if traced.rows:
        rule = "must not be given for a mechanism with closed loops: use parameters in joints, whose start is then assembled"
        raise ModelError.of(caller, "starts", rule, [*positions, *rates])
    geared = {name for one in traced.system.closures.values() if isinstance(one, GearClosure) for name in one.coordinates}
    for name in geared & set(positions):
        rule = "must not be given for a geared coordinate, from whose start the gear counts: use a parameter in its joint"
        raise ModelError.of(caller, "starts", rule, name)
    return {(kind, name): traced.start_place(caller, kind, name) for kind in names for name in names[kind]}


def split_starts(given: Mapping[Any, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Coordinates and states, and rates, whose keys are ("v", coordinate)."""
    rates = {key: value for key, value in given.items() if isinstance(key, tuple) and len(key) == 2 and key[0] == "v"}
    return {name: value for name, value in given.items() if name not in rates}, {key[1]: value for key, value in rates.items()}


def start_named(compiled: Compiled, caller: str, t: float, given: Mapping[Any, Any]) -> FinalState:
    """The System's own start, but for these: start={"arm.angle": 0.3, ("v", "arm.angle"): 1.0}."""
    positions, rates = split_starts(given)
    y, numbers = compiled.traced.y0.copy(), {"starts": positions, "rates": rates}
    for (kind, name), place in start_places(compiled.traced, caller, numbers).items():
        y[place] = check.number(caller, f"start[{name!r}]" if kind == "starts" else f"start['v', {name!r}]", numbers[kind][name])
    return start_at(compiled, t, y)


def start_at(compiled: Compiled, t: float, y: Floats) -> FinalState:
    """A state to start from, in which every contact is judged anew."""
    traced = compiled.traced
    return FinalState(t, y, {}, traced.labels_of_y, traced.t_start, t)


def check_start(compiled: Compiled, resistance: InertiaCheck, t: float, y: Floats, p: Floats) -> None:
    """Refuse a start at which accelerations do not exist or are only round-off."""
    traced = compiled.traced
    gaps = compiled.observe(t, y, p)[traced.layout.observed["gap"]]
    _check_centres(traced, gaps)
    if traced.near_pairs:
        _check_centres_of_group(compiled, t, y, p)
    _check_overlaps(traced, gaps)
    for strut, length in short_struts(compiled, t, y, p):
        raise SolveError(no_direction(strut, length, "at the start"))
    _check_finite(traced, compiled.rhs(t, y, p), t)
    loose = resistance.unresisted(t, y, p)
    if loose is not None:
        raise SolveError(
            f"system {traced.system.name!r}: {unresisted(traced.system, t, loose)}; give the moving bodies some mass or inertia, "
            "or remove the coordinate"
        )


def unresisted(system: System, t: float, coordinates: str) -> str:
    return f"the mass matrix is singular at t = {t:.10g} s: no mass or inertia resists a motion of {coordinates}{lightened(system)}"


def lightened(system: System) -> str:
    """Names beams whose stiffening is of first order: the mass of their shortening is left out, so bending takes inertia away."""
    beams = [link for link in system.links.values() if isinstance(link.body, Beam) and link.body.stiffening_taken in FIRST_ORDER]
    taken = ", ".join(f"{link.body.stiffening_taken!r} of {link.name!r}" for link in beams if isinstance(link.body, Beam))
    return f"; as a beam bends, stiffening {taken} takes inertia away, which 'full' does not" if taken else ""


def _check_centres(traced: TracedSystem, gaps: Floats) -> None:
    """Refuse concentric spheres, whose contact has no normal direction."""
    for slots, gap in zip(traced.pairs, gaps.tolist(), strict=True):
        if not is_between_spheres(slots.pair):
            continue
        reach = slots.pair.radius + slots.pair.other_radius
        if gap + reach <= COINCIDENT_SHARE * reach:
            raise _concentric(slots.pair.name, gap + reach)


def _check_centres_of_group(compiled: Compiled, t: float, y: Floats, p: Floats) -> None:
    """The same among the spheres of a group."""
    (group,) = compiled.traced.system.groups.values()
    rows = compiled.structure.code["members"](t, y, p).reshape(-1, ROW)[: len(group.balls)]
    centres, radii = rows[:, PLACE : PLACE + 3], rows[:, RADIUS]
    for a, centre in enumerate(centres[:-1]):
        distances, reach = np.linalg.norm(centres[a + 1 :] - centre, axis=1), radii[a + 1 :] + radii[a]
        for b in (a + 1 + np.flatnonzero(distances <= COINCIDENT_SHARE * reach)).tolist():
            if group.balls[a].at.body != group.balls[b].at.body:
                raise _concentric(group.pair(a, b).name, float(distances[b - a - 1]))


def _concentric(pair: str, distance: float) -> SolveError:
    rule = "centres of its two spheres must be apart at the start, because concentric spheres have no normal direction"
    return SolveError(f"contact {pair!r}: {rule}, got a distance of {distance:.3g} m")


def _check_overlaps(traced: TracedSystem, gaps: Floats) -> None:
    """Refuse impulsive contacts that overlap: nothing would push their bodies apart."""
    for slots, gap in zip(traced.pairs, gaps.tolist(), strict=True):
        if isinstance(slots.pair.normal, Impulsive) and gap < -OVERLAP:
            rule = "bodies must not overlap at the start, because an impulsive contact has no force that would part them"
            raise SolveError(f"contact {slots.pair.name!r}: {rule}, got an overlap of {-gap:.3g} {slots.pair.units[0]}")


def is_between_spheres(pair: Pair) -> bool:
    """Whether both sides of a contact are spheres, whose centres must not coincide."""
    return isinstance(pair, ContactPair) and pair.between_balls


def short_struts(compiled: Compiled, t: float, y: Floats, p: Floats) -> list[tuple[Strut, float]]:
    """The struts whose ends coincide, with their lengths, m."""
    traced = compiled.traced
    if not traced.system.struts:
        return []
    lengths = compiled.observe(t, y, p)[traced.layout.observed["strut_length"]].tolist()
    return [(s, length) for s, length in zip(traced.system.struts.values(), lengths, strict=True) if is_short(s, length)]


def is_short(strut: Strut, length: float) -> bool:
    return not length > SHORTEST * strut.unstretched + SHORTEST_AT_ALL


def no_direction(strut: Strut, length: float, where: str) -> str:
    rule = f"ends must be apart {where}, because a strut of zero length has no direction"
    return f"strut {strut.name!r}: {rule}, got a length of {length:.3g} m"


def _check_finite(traced: TracedSystem, rates: Floats, t: float) -> None:
    """Refuse a first right-hand side that is not finite: a coordinate without inertia, or a formula outside its domain."""
    n_q = len(traced.free_q)
    bad = [traced.tree.rates[k] for i, k in enumerate(traced.free_v) if not math.isfinite(rates[n_q + i])]
    if bad:
        raise SolveError(
            f"system {traced.system.name!r}: accelerations of {', '.join(bad)} must be finite at the start, t = {t} s, got nan or "
            "inf; no mass or inertia resists a coordinate (a singular mass matrix), or a formula is outside its domain"
        )


def start_rules(compiled: Compiled, rtol: float) -> StartRules:
    """Rules by which a loop that runs members checks their starts; `simulate` examines doubtful ones."""
    from pliant.integrate.member_runs import StartRules

    traced = compiled.traced
    columns, tips = traced.layout.observed, traced.layout.observed["tip_position"]
    return StartRules(
        at_tips=tips.start,
        n_tips=tips.stop - tips.start,
        at_kinetic=columns["kinetic"].start,
        at_strain=columns["strain"].start,
        at_spring=columns["spring"].start,
        first_rate=len(traced.free_q),
        n_rates=len(traced.free_v),
        judges=len(traced.free_v) <= ALL_JUDGED,
        balls=np.array([is_between_spheres(slots.pair) for slots in traced.pairs], dtype=np.int64),
        n_controlled=traced.n_controlled,
        n_added=len(traced.sources),
        rtol=rtol,
    )
