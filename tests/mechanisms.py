"""Mechanisms that several tests share."""

from __future__ import annotations

import math
from dataclasses import replace

import pliant as pl

FLAT = pl.Section.rectangle(0.02, 0.01)
DAMPED = (pl.KelvinVoigt(2e5), pl.AirDrag(0.02))


def planar_link(modes: int = 1, ends: str = "cf", damping: tuple[object, ...] = ()) -> pl.Beam:
    return pl.Beam(length=0.8, section=FLAT, material=pl.STEEL, theory="timoshenko", modes=pl.Modes(ends, modes, static=False),
                   damping=damping, stiffening="none")  # fmt: skip


def spatial_link(torsion: int = 1) -> pl.Beam:
    modes = [pl.Modes("cf", 2), pl.Modes("cf", 2, plane="z"), pl.TorsionModes("cf", torsion)]
    return pl.Beam(length=0.7, section=FLAT, material=pl.STEEL, theory="euler-bernoulli", modes=modes, damping=DAMPED)


def planar_chain(links: int = 6, modes: int = 2, ends: str = "cf") -> pl.System:
    system = pl.System("planar chain", gravity=(0, -9.81))
    link, on = planar_link(modes, ends), None
    for k in range(links):
        on = system.add(f"link{k}", link, joint=pl.Revolute(angle=0.1 * k), on=on).tip
    return system


def spatial_arm() -> pl.System:
    """Four links, all axes, offsets and turns on the way, a payload, springs, and loads in both kinds of axes."""
    system = pl.System("spatial arm", gravity=(0.3, -0.5, -9.81))
    link = spatial_link()
    axes = ["z", "y", "-x", (1.0, 2.0, 0.5)]
    on = None
    for k, axis in enumerate(axes):
        joint = pl.Revolute(angle=0.2 + 0.1 * k, rate=0.3, axis=axis, spring=pl.Spring(2.0, 0.1), damper=pl.Damper(0.1))
        handle = system.add(f"link{k}", link, joint=joint, on=on)
        on = handle.tip.moved((0.02, 0.01 * k, 0.03)).turned(0.3, "y")
    system.force("push", on, (1.0, lambda t, q, v: 2.0 * pl.sin(3.0 * t), 3.0))
    system.moment("twist", handle.at(0.3), (0.1, 0.2, 0.3), expressed="body")
    return system


def branched_tree() -> pl.System:
    """A rigid hub with three branches of every kind of joint."""
    system = pl.System("branched tree", gravity=(0, -9.81, 0.4))
    frames = {"left": (-0.2, 0.1, 0.0), "up": (0.0, 0.3, 0.1)}
    hub = system.add("hub", pl.RigidBody(mass=2.0, inertia=(0.1, 0.2, 0.25), com=(0.05, 0.1, 0.0), tip=(0.3, 0, 0),
                                         frames=frames), joint=pl.Universal(angles=(0.2, -0.4)))  # fmt: skip
    first = system.add("first", spatial_link(), joint=pl.Revolute(axis="y"), on=hub.tip)
    system.add("slider", pl.RigidBody(mass=0.4, inertia=(0.01, 0.02, 0.02), com=(0.02, 0, 0)),
               joint=pl.Cylindrical(displacement=0.1), on=first.at(0.35))  # fmt: skip
    system.add("ball", planar_link(1), joint=pl.Spherical(spring=pl.Spring(3.0), damper=pl.Damper(0.2)),
               on=hub.at("left"))  # fmt: skip
    system.add("lift", planar_link(2, "ss"), joint=pl.Prismatic(axis=(0.0, 1.0, 1.0)), on=hub.at("up"))
    system.add("welded", pl.RigidBody.rod(0.2, 0.3), joint=pl.Weld(), on=first.tip.turned(0.5, "z"))
    return system


def floating_base() -> pl.System:
    """A free elastic body that carries a rigid arm and a beam with a payload."""
    system = pl.System("floating base", gravity=(0.0, 0.0, -1.6))
    base = system.add("base", spatial_link(), joint=pl.Free(position=(0.1, 0.2, 0.3), orientation=(0.8, 0.2, -0.4, 0.4)))
    beam = pl.Beam(length=0.5, section=FLAT, material=pl.STEEL, theory="timoshenko",
                   modes=[pl.Modes("cf", 1, payload=True), pl.AxialModes("cf", 1)],
                   payload=pl.Payload(mass=0.3, inertia=(0.001, 0.002, 0.002), offset=(0.03, 0.01, 0.0)))  # fmt: skip
    system.add("arm", pl.RigidBody.rod(0.4, 0.5), joint=pl.Revolute(axis="y"), on=base.tip.turned(math.pi / 3, "z"))
    system.add("boom", beam, joint=pl.Revolute(axis="z", angle=0.4), on=base.at(0.2))
    return system


def reduced_meshes() -> pl.System:
    """A free body and a link on it, meshed and reduced in every way: interfaces, free shapes, nodal frames; damped, stiffened."""
    system = pl.System("reduced meshes", gravity=(0.2, -9.81, 0.4))
    along = pl.ElementModes(6, reference="nodal", nodes=(2, 5), reduction=pl.CraigBampton(1, interface=(6,)))
    across = pl.ElementModes(5, reference="nodal", nodes=(5,), plane="z", reduction=pl.FreeModes(2))
    section, damping = pl.Section.rectangle(0.02, 0.01), pl.RayleighRatios(ratios=(0.01, 0.02))
    first = pl.Beam(length=0.7, section=section, material=pl.STEEL, theory="euler-bernoulli", damping=damping,
                    modes=[along, across, pl.AxialElements(4, pl.CraigBampton(1))])  # fmt: skip
    second = pl.Beam(length=0.5, section=section, material=pl.STEEL, theory="euler-bernoulli", stiffening="full",
                     modes=pl.ElementModes(4, reference="cantilever", reduction=pl.CraigBampton(1)))  # fmt: skip
    on = system.add("first", first, joint=pl.Free(angular_velocity=(0.5, 1.0, 2.0))).tip
    system.add("second", second, joint=pl.Universal(rates=(1.0, -2.0)), on=on)
    return system


ALL = {system.__name__: system for system in (planar_chain, spatial_arm, branched_tree, floating_base, reduced_meshes)}


def free_chain(links: int = 3, **joint: object) -> pl.System:
    """An undamped elastic chain in free flight."""
    system = pl.System("free chain", gravity=(0, 0))
    link = planar_link(1, "ss")
    on = system.add("a", link, joint=pl.Planar(**joint), initial={"y1": 0.02}).tip  # type: ignore[arg-type]
    for k in range(1, links):
        on = system.add("abcdefghij"[k], link, joint=pl.Revolute(angle=-0.5, rate=1.0 - k), on=on).tip
    return system


def corner(joint: pl.Weld | pl.Revolute, *, touching: bool) -> pl.System:
    """An elastic arm with a bracket welded, or hinged, across its tip, and a shorter arm on that, which a floor may hold."""
    beam = pl.Beam(length=1.0, section=pl.Section.rectangle(0.006, 0.01), material=pl.STEEL, theory="euler-bernoulli",
                   modes=pl.Modes("cf", 3))  # fmt: skip
    system = pl.System("corner", gravity=(0.0, -9.81))
    arm = system.add("arm", beam, joint=pl.Weld())
    bracket = system.add("bracket", pl.RigidBody.rod(0.1, 0.1), joint=joint, on=arm.tip.moved((0.0, -0.05)).turned(pl.deg(-90)))
    hand = system.add("hand", replace(beam, length=0.5), joint=pl.Weld(), on=bracket.tip.turned(pl.deg(90)))
    if touching:
        system.contact(points=hand.tip, against=pl.Plane(normal=(0.0, 1.0), point=(0.0, -0.155)), name="floor",
                       normal=pl.Exact(stiffness=1e5, restitution=0.5))  # fmt: skip
    return system


def struck_ball(law: object, speed: object = 1.0, weight: float = 0.0, depth: float = 0.0, blow: float = 1e11) -> pl.System:
    """A ball of 1 kg that rests on a floor, and one of half its mass that falls on it; blow: stiffness between the two."""
    system = pl.System("blow", gravity=(0, -weight))
    balls = [pl.RigidBody(mass=mass, inertia=1e-3) for mass in (1.0, 0.5)]
    resting = system.add("resting", balls[0], joint=pl.Prismatic(axis=(0, 1), displacement=0.05 - depth))
    falling = system.add("falling", balls[1], joint=pl.Prismatic(axis=(0, 1), displacement=0.151, rate=-speed))
    low, high = (pl.Sphere(ball.root, 0.05) for ball in (resting, falling))
    system.contact(points=low, against=pl.Plane(normal=(0, 1)), normal=law, name="floor")
    system.contact(points=high, against=low, normal=pl.Hertz(stiffness=blow), name="blow")
    return system


HELD_FROM, HELD_ENTRY = 0.05, 0.5  # s, m/s


def held_ball(law: object, speed: object = 2.0, entry: object = HELD_ENTRY, stop: bool = False) -> pl.System:
    """A ball of 1 kg that hits a floor, is held down by a force that fades away, and is struck at rest by one of half its mass,
    at t = HELD_FROM, so that it gets this speed. stop: the end of its joint's travel is its floor."""
    system = pl.System("blow on a body that never left", gravity=(0, 0))
    balls = [pl.RigidBody(mass=mass, inertia=1e-3) for mass in (1.0, 0.5)]
    limits = pl.Limits(low=0.05, high=1.0, normal=law) if stop else None
    held = system.add("held", balls[0], joint=pl.Prismatic(axis=(0, 1), displacement=0.05 + 1e-9, rate=-entry, limits=limits))
    falling = 1.5 * speed  # type: ignore[operator]
    other = system.add("falling", balls[1], joint=pl.Prismatic(axis=(0, 1), displacement=0.15 + falling * HELD_FROM, rate=-falling))
    system.drive("press", "held.displacement", lambda t, q, v: -(4000.0 * pl.exp(-((t / 0.01) ** 2)) + 0.1))
    low, high = (pl.Sphere(ball.root, 0.05) for ball in (held, other))
    if not stop:
        system.contact(points=low, against=pl.Plane(normal=(0, 1)), normal=law, name="floor")
    system.contact(points=high, against=low, normal=pl.Hertz(stiffness=1e11), name="blow")
    return system
