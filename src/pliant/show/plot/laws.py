"""Laws of contact and friction as curves: force over penetration, over slip speed and over slip."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.arrays import Floats
from pliant.errors import ModelError
from pliant.model.contact import ContactPair
from pliant.model.contact_group import ContactGroup
from pliant.model.friction_law import BristleLaw, FrictionLaw
from pliant.model.joint_friction import JointFriction
from pliant.model.normal_law import Impulsive, NormalLaw
from pliant.show.plot.style import QUIET, Size, figure, legend, look, prefixed, styled, told_apart

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from pliant.model.system import System

Law = NormalLaw | FrictionLaw | BristleLaw
Laws = Law | JointFriction | Sequence[Law] | Mapping[str, Law]

RTOL = 1e-9  # of the contact that a loop shows
SPEEDS = 5.0  # times the law's largest speed, drawn by default
PRESLIDING = 4.0  # times mu/sigma0: the amplitude of the slip that draws the loop of a law with bristles
CYCLES, PER_CYCLE = 3, 4000  # of that slip; the last is periodic
SLOW = 0.02  # times the law's largest speed: the largest speed of that slip
ALONE = 0.1  # m/s, the largest speed of a law that has none


@styled
def law(laws: Laws, *, speed: float | None = None, mass: float = 1.0, ax: Any = None, figsize: Size = None) -> Figure:
    """One law or several: the loop of a contact, the coefficient of friction over the slip speed, the loop of bristles over slip.

    laws: normal laws, friction laws or a joint's friction, alone, in a list or by name; each kind has a panel of its own.
    speed: m/s; a contact is entered at this speed (default: 1) by a free body of `mass`, kg, until it is left; friction is drawn up
    to this speed (default: five times the largest speed of the law).
    """
    named = _named(laws)
    kinds = [kind for kind in (NormalLaw, FrictionLaw, BristleLaw) if any(isinstance(one, kind) for one in named.values())]
    made, panels = figure(len(kinds), 1, height=3.2, width=7.0, ax=ax, figsize=figsize)
    for panel, kind in zip(panels[:, 0], kinds, strict=True):
        of_kind = {name: one for name, one in named.items() if isinstance(one, kind)}
        DRAW[kind](panel, of_kind, speed, mass)
        legend(panel)
    return made


def laws_of(system: System) -> dict[str, Law]:
    """The laws of a System, by what they act on; equal ones once."""
    found: dict[str, Law] = {}
    pairs: dict[str, ContactPair | ContactGroup] = {**system.contacts, **system.groups}
    for name, pair in pairs.items():
        own = {} if isinstance(pair.normal, Impulsive) else {name: pair.normal}
        found |= own | ({f"{name} friction": pair.friction} if pair.friction is not None else {})
    for link in system.links.values():
        found |= {f"{link.name}.{name} friction": friction.law for name, friction in link.frictions.items()}
    first = {repr(one): name for name, one in reversed(found.items())}
    return {name: one for name, one in found.items() if first[repr(one)] == name}


def _named(laws: Any) -> dict[str, Law]:
    many = laws if isinstance(laws, (Mapping, list, tuple)) else [laws]
    each = list(many.values() if isinstance(many, Mapping) else many)
    each = [one.law if isinstance(one, JointFriction) else one for one in each]
    if not each or not all(isinstance(one, (NormalLaw, FrictionLaw, BristleLaw)) for one in each):
        raise ModelError.of("plot law", "laws", "must be normal laws, friction laws or joint frictions", laws)
    if any(isinstance(one, Impulsive) for one in each):
        raise ModelError.of("plot law", "laws", "must not be Impulsive, which has no force to draw", laws)
    if isinstance(many, Mapping):
        return dict(zip(map(str, many), each, strict=True))
    return dict(zip(told_apart([type(one).__name__ for one in each]), each, strict=True))


def _draw_normal(panel: Any, laws: Mapping[str, NormalLaw], speed: float | None, mass: float) -> None:
    entry = 1.0 if speed is None else speed
    if not (entry > 0.0 and mass > 0.0):
        raise ModelError.of("plot law", "speed and mass", "must be > 0", (speed, mass))
    loops = {name: loop(one, entry, mass) for name, one in laws.items()}
    (to_x, of_x), (to_y, of_y) = (
        prefixed("m", [x for x, _, _ in loops.values()]),
        prefixed("N", [f for _, f, _ in loops.values()]),
    )
    for k, (name, (depth, force, left)) in enumerate(loops.items()):
        panel.plot(depth / to_x, force / to_y, label=f"{name}: e = {left / entry:.3f}", **look(k))
    panel.set(xlabel=f"penetration, {of_x}", ylabel=f"normal force, {of_y}", title=f"contact of {mass:g} kg at {entry:g} m/s")


def loop(one: NormalLaw, speed: float, mass: float) -> tuple[Floats, Floats, float]:
    """Depth and force of a free body's contact, and the speed with which the body leaves."""
    from scipy.integrate import solve_ivp

    entry = max(speed, one.entry_floor)

    def force(depth: float, rate: float) -> float:
        found = float(one.force(max(depth, 0.0), rate, entry))
        return found if one.pulls else max(found, 0.0)

    def open_again(t: float, y: Floats) -> float:
        return float(y[0])

    open_again.terminal, open_again.direction = True, -1.0  # type: ignore[attr-defined]
    # the time scale of the contact: that of the depth at which the elastic part alone has stopped the body
    depth = _depth(one, speed, mass)
    done = solve_ivp(lambda t, y: (y[1], -force(y[0], y[1]) / mass), (0.0, 1e3 * depth / speed), (0.0, speed), events=open_again,
                     method="DOP853", rtol=RTOL, atol=RTOL * np.array([depth, speed]), max_step=0.02 * depth / speed)  # fmt: skip
    x, v = done.y
    return x, np.array([force(d, r) for d, r in zip(x, v, strict=True)]), float(-v[-1])


def _depth(one: NormalLaw, speed: float, mass: float) -> float:
    """Where the elastic force times the depth is the kinetic energy, m."""
    from scipy.optimize import brentq

    energy = 0.5 * mass * speed**2
    found = brentq(lambda logarithm: float(one.elastic(np.exp(logarithm))) * np.exp(logarithm) - energy, np.log(1e-15), np.log(1e6))
    return float(np.exp(found))


def _draw_friction(panel: Any, laws: Mapping[str, FrictionLaw], speed: float | None, mass: float) -> None:
    reach = SPEEDS * max(map(largest_speed, laws.values())) if speed is None else speed
    factor, unit = prefixed("m/s", [np.array([reach])])
    slip = np.linspace(0.0, reach, 1001)
    for k, (name, one) in enumerate(laws.items()):
        places = np.unique(np.concatenate([slip, *([s, np.nextafter(s, np.inf)] for s in one.switches if s < reach)]))
        mu = np.array([float(one.coefficient(s)) for s in places])
        panel.plot(np.concatenate([-places[::-1], places]) / factor, np.concatenate([-mu[::-1], mu]), label=name, **look(k))
        if one.holds:
            holds = float(one.stiction(1.0))  # type: ignore[attr-defined]
            panel.plot([0.0, 0.0], [-holds, holds], marker="o", markersize=3, **{**look(k), "linestyle": ":"})
    panel.axhline(0.0, color=QUIET, linewidth=0.8)
    panel.set(xlabel=f"slip speed, {unit}", ylabel="friction / normal force, 1", title="friction over slip speed")


def largest_speed(one: FrictionLaw | BristleLaw) -> float:
    """The largest speed among a law's numbers, m/s."""
    own = [getattr(one, field.name, None) for field in fields(one) if field.name[0] == "v" and field.name != "viscous"]
    own += [
        getattr(one, "transition", None),
        getattr(one, "band", None) if not getattr(one, "exact", False) else None,
        *one.switches,
    ]
    return max((float(value) for value in own if value), default=ALONE)


def _draw_bristles(panel: Any, laws: Mapping[str, BristleLaw], speed: float | None, mass: float) -> None:
    loops = {name: bristle_loop(one, speed) for name, one in laws.items()}
    factor, unit = prefixed("m", [slip for slip, _ in loops.values()])
    for k, (name, (slip, force)) in enumerate(loops.items()):
        panel.plot(slip / factor, force, label=name, **look(k))
    panel.axhline(0.0, color=QUIET, linewidth=0.8)
    panel.set(xlabel=f"slip, {unit}", ylabel="friction / normal force, 1", title="friction over slip, there and back")


def bristle_loop(one: BristleLaw, speed: float | None) -> tuple[Floats, Floats]:
    """Slip and friction per newton of normal force, under a slip that swings by several times what the bristles yield."""
    from scipy.integrate import solve_ivp

    mu = float(getattr(one, "mu", 0.0) or getattr(one, "mu_static", 1.0))
    swing = PRESLIDING * mu / one.sigma0
    rate = (SLOW * largest_speed(one) if speed is None else speed) / swing  # rad/s
    times = np.linspace(0.0, 2.0 * np.pi * CYCLES / rate, CYCLES * PER_CYCLE + 1)

    def slip_rate(t: float) -> float:
        return swing * rate * float(np.cos(rate * t))

    def derivative(t: float, state: Floats) -> tuple[float, float]:
        s = slip_rate(t)
        return float(one.deflection_rate(s, state[0], abs(s), 1.0)), float(one.dwell_rate(state[1], abs(s)))

    done = solve_ivp(derivative, (0.0, times[-1]), (0.0, 0.0), method="LSODA", t_eval=times, rtol=1e-8, atol=1e-8 * swing)
    force = [float(one.forces([slip_rate(t)], [z], abs(slip_rate(t)), 1.0, w)[0]) for t, z, w in zip(done.t, *done.y, strict=True)]
    last = slice(-PER_CYCLE - 1, None)
    return swing * np.sin(rate * done.t[last]), np.array(force)[last]


DRAW: Mapping[Any, Any] = {NormalLaw: _draw_normal, FrictionLaw: _draw_friction, BristleLaw: _draw_bristles}
