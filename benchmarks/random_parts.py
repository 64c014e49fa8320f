"""What random mechanisms are made of: laws, bodies, joints, motions and signals, drawn by the package's registries.

A law with a field that no row of FIELDS knows is refused by name, so that a new law is drawn or asked for.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import MISSING, fields, replace
from typing import Any

import numpy as np

import pliant as pl
from pliant.files import parse_formula
from pliant.model.friction_law import FRICTION_LAWS, FrictionLaw
from pliant.model.joint import BALL, JOINTS, ROTATION, Joint
from pliant.model.modes import BENDING_ENDS
from pliant.model.normal_law import NORMAL_LAWS
from pliant.model.telescopic import SLEEVE_ENDS

Rng = np.random.Generator


# ---- numbers


def spread(rng: Rng, low: float, high: float) -> float:
    """Evenly over the decades, with few digits so that a model file reads well."""
    return float(f"{math.exp(rng.uniform(math.log(low), math.log(high))):.4g}")


def even(rng: Rng, low: float, high: float) -> float:
    return float(f"{rng.uniform(low, high):.4g}")


def often(rng: Rng, share: float) -> bool:
    return bool(rng.random() < share)


def one_of(rng: Rng, choices: Sequence[Any]) -> Any:
    return choices[int(rng.integers(len(choices)))]


def direction(rng: Rng) -> tuple[float, float, float]:
    x, y, z = rng.normal(size=3)
    return (float(x), float(y), float(z))


# ---- laws: fields by name, in the order in which one may lean on another


def _above(name: str, low: float, high: float) -> Callable[[Rng, dict[str, Any]], float]:
    return lambda rng, drawn: drawn[name] * even(rng, low, high)


FIELDS: dict[str, Callable[[Rng, dict[str, Any]], Any]] = {
    "exponent": lambda rng, drawn: one_of(rng, (1.0, 1.5, 1.5, 2.0)),
    "stiffness": lambda rng, drawn: spread(rng, 1e2, 1e4) / 1e-3 ** drawn.get("exponent", 1.0),  # 1e2 to 1e4 N at 1 mm
    "restitution": lambda rng, drawn: even(rng, 0.1, 1.0),
    "chi": lambda rng, drawn: spread(rng, 0.05, 1.0),
    "damping": lambda rng, drawn: spread(rng, 1.0, 300.0),
    "mu": lambda rng, drawn: even(rng, 0.05, 0.7),
    "mu_kinetic": lambda rng, drawn: even(rng, 0.05, 0.6),
    "mu_static": _above("mu_kinetic", 1.0, 1.6),
    "transition": lambda rng, drawn: spread(rng, 1e-3, 2e-2),
    "v_static": lambda rng, drawn: spread(rng, 1e-3, 1e-2),
    "v_kinetic": lambda rng, drawn: spread(rng, 2e-2, 0.2),
    "v_stribeck": lambda rng, drawn: spread(rng, 3e-2, 0.3),
    "v_r": lambda rng, drawn: spread(rng, 1e-3, 0.1),
    "v0": lambda rng, drawn: spread(rng, 1e-3, 2e-2),
    "v1": lambda rng, drawn: spread(rng, 3e-2, 0.2),
    "xi": lambda rng, drawn: spread(rng, 1.0, 50.0),
    "band": lambda rng, drawn: spread(rng, 1e-3, 0.1),
    "viscous": lambda rng, drawn: spread(rng, 1e-3, 0.3),
    "sigma0": lambda rng, drawn: spread(rng, 1e3, 1e5),
    "sigma1": lambda rng, drawn: spread(rng, 1.0, 50.0),
    "sigma2": lambda rng, drawn: spread(rng, 1e-3, 0.3),
    "tau_dwell": lambda rng, drawn: spread(rng, 0.05, 2.0),
}


def law_of(rng: Rng, law: type, **given: Any) -> Any:
    """A law with every field it must have, and some of those it may have, drawn by name."""
    known = {f.name: f for f in fields(law)}
    needed = [name for name, f in known.items() if f.default is MISSING and f.default_factory is MISSING]
    missing = [name for name in needed if name not in FIELDS and name not in given]
    if missing:
        raise LookupError(f"{law.__name__}: say in FIELDS of random_mechanisms.py how to draw {missing}")
    drawn: dict[str, Any] = dict(given)
    for name, draw in FIELDS.items():
        optional = name in known and name not in needed and name in ("exponent", "transition", "viscous", "sigma2", "band")
        if name not in drawn and (name in needed or (optional and often(rng, 0.7))):
            drawn[name] = draw(rng, drawn)
    return law(**drawn)


def normal_law(rng: Rng) -> Any:
    if often(rng, 0.04):
        k = spread(rng, 1e6, 1e8)
        text = f"{k!r}*depth**1.5*(1 + {even(rng, 0.0, 0.8)!r}*rate/entry_speed)"
        energy = parse_formula(f"{k / 2.5!r}*depth**2.5", ("depth",))
        return pl.CustomNormal(function=parse_formula(text, ("depth", "rate", "entry_speed")), energy=energy)
    law = one_of(rng, NORMAL_LAWS)
    given: dict[str, Any] = {"pulls": True} if often(rng, 0.1) else {}
    if law is pl.Linear:
        damped = {"damping": spread(rng, 1.0, 300.0)}
        asked = {"restitution": even(rng, 0.2, 1.0), "mass": spread(rng, 0.2, 5.0)}
        given |= {"exponent": 1.0, **one_of(rng, (damped, asked))}
    return law_of(rng, law, **given)


def friction_law(rng: Rng) -> Any:
    if often(rng, 0.25):
        return None
    if often(rng, 0.04):
        text = f"{even(rng, 0.05, 0.6)!r}*normal*tanh(speed/{spread(rng, 1e-3, 2e-2)!r})"
        return pl.CustomFriction(parse_formula(text, ("speed", "normal")))
    return law_of(rng, one_of(rng, FRICTION_LAWS))


# ---- bodies


def rigid(rng: Rng, joint: Joint) -> pl.RigidBody:
    length, mass = even(rng, 0.1, 0.6), spread(rng, 0.2, 5.0)
    if often(rng, 0.2) and isinstance(joint, (pl.Prismatic, pl.Planar)):
        return pl.RigidBody.rod(length, mass)  # no inertia about its own axis: only where nothing turns about that
    inertia = principal([mass * length**2 * even(rng, 0.05, 0.15) for _ in range(3)])
    com = (0.5 * length, even(rng, -0.02, 0.02), 0.0)
    return pl.RigidBody(mass=mass, inertia=inertia, com=com, tip=(length, 0.0, 0.0))


def principal(moments: list[float]) -> tuple[float, ...]:
    """Moments that a body can have: the largest no more than the sum of the others."""
    a, b, largest = sorted(moments)
    return tuple(min(moment, 0.98 * (a + b)) if moment == largest else moment for moment in moments)


def section(rng: Rng) -> pl.Section:
    if often(rng, 0.6):
        return pl.Section.rectangle(even(rng, 0.005, 0.03), even(rng, 0.005, 0.03))
    radius = even(rng, 0.004, 0.015)
    return pl.Section.round(radius) if often(rng, 0.5) else pl.Section.tube(radius, 0.7 * radius)


def material(rng: Rng) -> pl.Material:
    soft = pl.Material(E=spread(rng, 1e9, 2e10), nu=0.4, density=1200.0)
    return one_of(rng, (pl.STEEL, pl.ALUMINIUM, soft))


def bending_set(rng: Rng, length: float, plane: str, theory: str) -> Any:
    count = 1 + int(often(rng, 0.3))
    if theory == "euler-bernoulli" and often(rng, 0.2):
        mesh = int(rng.integers(1, 4))
        return pl.ElementModes(mesh, reference=one_of(rng, ("simply-supported", "cantilever")), plane=plane)
    if theory == "euler-bernoulli" and often(rng, 0.1):
        x = tuple(float(s) for s in np.linspace(0.0, length, 7))
        return pl.GivenModes((pl.ShapeTable(x, tuple((s / length) ** 2 for s in x)),), plane=plane)
    return pl.Modes(one_of(rng, BENDING_ENDS), count, plane=plane, normalise=one_of(rng, ("max", "length")))


def damping(rng: Rng, ratios: bool) -> tuple[Any, ...]:
    kinds: list[Any] = [
        pl.KelvinVoigt(spread(rng, 1e4, 1e6)),
        pl.AirDrag(spread(rng, 1e-3, 0.1)),
        pl.ModalDamping(even(rng, 0.0, 0.1)),
        pl.Rayleigh(alpha=even(rng, 0.0, 2.0), beta=spread(rng, 1e-6, 1e-4)),
    ]
    if ratios:
        kinds.append(pl.RayleighRatios(ratios=(0.01, 0.02), frequencies=(50.0, 500.0)))
    return () if often(rng, 0.4) else (one_of(rng, kinds),)


def beam(rng: Rng, spatial: bool) -> pl.Beam:
    length, theory = even(rng, 0.2, 0.9), one_of(rng, ("euler-bernoulli", "timoshenko"))
    modes = [bending_set(rng, length, "y", theory)]
    if spatial and often(rng, 0.4):
        modes.append(bending_set(rng, length, "z", theory))
    if spatial and often(rng, 0.15):
        modes.append(pl.TorsionModes(one_of(rng, ("cf", "cc", "ff")), 1))
    if often(rng, 0.08):
        modes.append(one_of(rng, (pl.AxialModes("cf", 1), pl.AxialElements(1))))
    payload = pl.Payload(mass=0.3, inertia=(0.001, 0.002, 0.002), offset=(0.02, 0.01, 0.0)) if often(rng, 0.1) else None
    stiffening = one_of(rng, ("none", "none", "none", "none", "linear", "full", "full"))
    return pl.Beam(length=length, section=section(rng), material=material(rng), theory=theory, modes=modes,
                   damping=damping(rng, True), payload=payload, stiffening=stiffening)  # fmt: skip


def telescope(rng: Rng, spatial: bool) -> pl.TelescopicBeam:
    length = even(rng, 0.4, 0.9)
    modes: list[Any] = [pl.Modes("cf", 1)] + ([pl.Modes("cf", 1, plane="z")] if spatial and often(rng, 0.4) else [])
    end = one_of(rng, [end for end in SLEEVE_ENDS if end != "continue"])  # which goes on formally, out of the sleeve
    laws = [law for law in FRICTION_LAWS if issubclass(law, FrictionLaw) and not law.holds]
    rubs = {"friction": law_of(rng, one_of(rng, laws)), "preload": spread(rng, 1.0, 50.0)} if often(rng, 0.4) else {}
    extension = even(rng, 0.4, 0.8) * length
    held: dict[str, Any] = {"motion": motion(rng, extension, 0.1 * length)} if often(rng, 0.3) else {}
    return pl.TelescopicBeam(length=length, section=section(rng), material=material(rng), modes=modes, damping=damping(rng, False),
                             extension=extension, rate=0.0 if held else even(rng, -0.3, 0.3), on_sleeve_end=end,
                             end_stiffness=spread(rng, 1e3, 1e5) if end == "spring" else None,
                             sleeve_mass=even(rng, 0.1, 2.0), **rubs, **held)  # fmt: skip


def body_for(rng: Rng, joint: Joint, spatial: bool) -> Any:
    kind = rng.random()
    return rigid(rng, joint) if kind < 0.6 else beam(rng, spatial) if kind < 0.92 else telescope(rng, spatial)


# ---- joints, motions, signals


def motion(rng: Rng, at: float, size: float) -> Any:
    """What a coordinate is told to do: swing, a pulse from rest, a ramp between breakpoints, or a table."""
    a, begin, width = even(rng, 0.3, 1.0) * size, even(rng, 0.01, 0.15), spread(rng, 5e-3, 0.1)
    texts = (
        f"{at!r} + {a!r}*sin({even(rng, 2.0, 20.0)!r}*t)",
        f"{at!r} + {a!r}*exp(-((t - {begin + 3.0 * width!r})/{width!r})**2)",
        f"{at!r} + ({0.5 * a!r}*(1 - cos(2*pi*(t - {begin!r})/{width!r})) if {begin!r} < t < {begin + width!r} else 0)",
    )
    kind = int(rng.integers(4))
    if kind < 3:
        return parse_formula(texts[kind], ("t",))
    times = tuple(round(0.15 * k, 3) for k in range(6))
    return pl.MotionTable(times, (at, *(at + even(rng, -a, a) for _ in times[1:])))


def signal(rng: Rng, size: float, coordinate: str | None = None) -> Any:
    a = even(rng, -size, size)
    texts = [f"{a!r}*sin({even(rng, 2.0, 30.0)!r}*t)", f"{a!r} if t < {even(rng, 0.05, 0.25)!r} else {-a!r}"]
    texts += [f"{a!r} - {spread(rng, 0.01, 1.0)!r}*v['{coordinate}']"] * (coordinate is not None)
    times = tuple(round(0.07 * k, 3) for k in range(4))
    values = tuple(even(rng, -size, size) for _ in times)
    return one_of(rng, [a, *(parse_formula(text) for text in texts), pl.PiecewiseConstant(times, values),
                        pl.PiecewiseLinear(times, values)])  # fmt: skip


def unit_quaternion(rng: Rng) -> tuple[float, ...]:
    q = rng.normal(size=4)
    return tuple(float(x) for x in q / np.linalg.norm(q))


def joint_of(rng: Rng, kind: type[Joint], spatial: bool, size: float = 1.0, still: bool = False) -> Joint:
    """A joint with random start, axes, springs, dampers, stops; now and then exactly on a stop."""
    plain, known = kind(), {f.name for f in fields(kind)}
    pace = 0.0 if still else size
    drawn: dict[str, Any] = {}
    for name in (*kind.STARTS, *kind.START_RATES):
        default = getattr(plain, name)
        if name == "orientation":
            drawn[name] = unit_quaternion(rng) if often(rng, 0.7) else (1.0, 0.0, 0.0, 0.0)
            continue
        reach = 0.3 * size if name in ("displacement", "position") else 1.2 * size if name in kind.STARTS else 1.5 * pace
        values = tuple(even(rng, -reach, reach) if reach else 0.0 for _ in (default if isinstance(default, tuple) else (default,)))
        drawn[name] = values if isinstance(default, tuple) else values[0]
    if "axis" in known:
        planar = "z" if kind is pl.Revolute else one_of(rng, ("x", "y"))
        drawn["axis"] = one_of(rng, ("x", "y", "z", direction(rng))) if spatial else planar
    if "axes" in known:
        drawn["axes"] = one_of(rng, (("y", "z"), ("x", "y"), ("z", "x")))
    return kind(**drawn, **_acting(rng, kind(**drawn)))


def _acting(rng: Rng, joint: Joint) -> dict[str, Any]:
    """Springs, dampers and stops of some coordinates."""
    found: dict[str, Any] = {"spring": {}, "damper": {}, "limits": {}}
    starts = iter(joint.start)
    for one in joint.motions:
        at, *_ = (next(starts) for _ in one.positions)
        ball = one.kind == BALL
        stiff = spread(rng, 1.0, 100.0) if one.kind in (ROTATION, BALL) else spread(rng, 10.0, 3e3)
        if often(rng, 0.15):
            found["spring"][one.name] = pl.Spring(stiff, 0.0 if ball else at + even(rng, -0.2, 0.2))
        if often(rng, 0.15):
            found["damper"][one.name] = pl.Damper(spread(rng, 1e-3, 1.0))
        if not ball and often(rng, 0.2):
            below, above = (one_of(rng, (0.0, even(rng, 0.01, 0.5))) for _ in range(2))
            below = below if below + above > 0.0 else 0.1
            found["limits"][one.name] = pl.Limits(low=at - below, high=at + above, stiffness=spread(rng, 1e2, 1e5),
                                                  damping=one_of(rng, (0.0, spread(rng, 0.1, 30.0))))  # fmt: skip
    return {name: made for name, made in found.items() if made}


def joint_for(rng: Rng, spatial: bool, first: bool) -> Joint:
    planar = [kind for kind in JOINTS if kind in (pl.Weld, pl.Revolute, pl.Prismatic, pl.Planar)]
    kinds = list(JOINTS) if spatial else planar
    if first:
        kinds = [kind for kind in kinds if kind is not pl.Weld]
        kinds += [pl.Free if spatial else pl.Planar] * 3
    else:
        kinds += [pl.Revolute] * 3
    return joint_of(rng, one_of(rng, kinds), spatial)


def prescribed_joint(rng: Rng, joint: Joint) -> Joint:
    """The same joint with one of its coordinates prescribed, from where it starts."""
    moving = [m for m in joint.motions if m.kind != BALL]
    if not moving:
        return joint
    names = [name for m in joint.motions for name in m.positions]
    one = one_of(rng, moving)
    at = joint.start[names.index(one.name)]
    limits = {name: stop for name, stop in joint.stops.items() if name != one.name}
    return replace(joint, motion={one.name: motion(rng, at, 0.15 if one.unit == "m" else 0.6)}, limits=limits,
                   spring=dict(joint.springs), damper=dict(joint.dampers))  # fmt: skip
