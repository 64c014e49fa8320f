"""Warnings about beams that bend beyond the range of their theory, or whose loads or rotation would need stiffening."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pliant.arrays import Floats
from pliant.dynamics.kinematics import twists
from pliant.dynamics.tree import ROOT, Node
from pliant.model.beam import AUTO, FIRST_ORDER, MOST_FULL
from pliant.model.frame import TIP
from pliant.model.joint import TRANSLATION
from pliant.model.system import PAYLOAD
from pliant.run.beam_limits import BeamLimits, UniformBeamLimits
from pliant.run.evidence import Evidence, Rows

DEFLECTION = 0.1  # of the length: beyond it, linear theory is off by more than 1 % at the tip of a cantilever with an end load
SLOPE = 0.3  # rad: there the linear curvature w'' exceeds w''/(1 + w'^2)^1.5 by 14 %
YIELDS = 0.9  # of the slope of a beam under a moment at its tip: what the modes of a beam that carries another must have
CUBIC = 2.0  # factor of both limits with stiffening "cubic": there theta^4/120 is what theta^3/24 is at the slope above
SEGMENTED = "pl.segmented(beam, n)"
GROWN = 1.0  # exponent of growth: how long a load must last, because a beam has no time to buckle under a brief load
KEEPS = 0.75  # of its inertia that a motion must keep as a beam bends: 'full' keeps 0.88 at a tenth of the length, with eight modes
TURNED = 0.1  # the same for rotation, which impacts change less than they change forces
STRETCHED = 2e-3  # N/(E A): steel yields there, and soft beams move by more than 1e-3 of their length


def deflection(evidence: Rows) -> Iterator[str]:
    """Warn of a deflection beyond a tenth of the beam's length."""
    for node, limits in evidence.bending:
        found = _largest_bending(evidence, node, limits, slope=False)
        if found is not None:
            t, most, length = found
            yield (
                f"beam {node.name!r} bends by {most * length:.3g} m at t = {t:.6g} s, {most:.2g} of its length of {length:.3g} m; "
                f"its theory is valid for deflections up to {DEFLECTION * _reach(limits):g} of it; use {_finer(evidence, node)}"
            )


def slope(evidence: Rows) -> Iterator[str]:
    """Warn of a slope beyond 0.3 rad."""
    for node, limits in evidence.bending:
        found = _largest_bending(evidence, node, limits, slope=True)
        if found is not None:
            t, most, _ = found
            yield (
                f"beam {node.name!r} has a slope of {most:.2g} rad at t = {t:.6g} s; its theory is valid for slopes up to "
                f"{SLOPE * _reach(limits):g} rad; use {_finer(evidence, node)}"
            )


def free_root(evidence: Rows) -> Iterator[str]:
    """Warn of shapes that turn at the root on a joint that does not let the root turn freely: it holds or drives other axes."""
    system = evidence.traced.original
    for node, limits in evidence.bending:
        link = system.links.get(node.name)
        if link is None or not isinstance(limits, UniformBeamLimits):
            continue
        for plane in limits.turning:
            if system.holds_root(link, plane):
                yield (
                    f"beam {node.name!r}: its shapes along {plane} turn at the root, but its joint ({type(link.joint).__name__}) "
                    "or what acts along it holds or turns the beam's axes, not its root; use shapes with a clamped root: "
                    "Modes('cf', n) or ElementModes(n, reference='cantilever')"
                )


def unyielding(evidence: Rows) -> Iterator[str]:
    """Warn of modes too stiff against the moment of a body that the tip carries, which static-correction shapes would yield to."""
    system = evidence.traced.original
    for node, limits in evidence.bending:
        if not isinstance(limits, UniformBeamLimits):
            continue
        tip = limits.beam.places(node.name)[TIP]
        carried = [link for link in system.links.values() if link.on == tip and not link.name.endswith(PAYLOAD)]
        for plane, share in limits.yielding.items():
            held = [link.name for link in carried if system.holds_root(link, plane)]
            if held and share < YIELDS:
                yield (
                    f"beam {node.name!r} carries {held[0]!r}, but under a moment at its tip its modes along {plane} turn only "
                    f"{share:.2g} times as far as the beam: sag and frequencies are off; use static=True in its Modes"
                )


def left_out(evidence: Rows) -> Iterator[str]:
    """Warn of a beam with too many bending coordinates for `auto` to choose stiffening."""
    for node, limits in _unstiffened(evidence):
        if limits.beam.stiffening == AUTO:
            yield (
                f"beam {node.name!r} has {limits.beam.bending_coordinates} bending coordinates in a plane; for more than "
                f"{MOST_FULL}, stiffening {AUTO!r} leaves foreshortening out, so axial loads and rotation neither stiffen nor "
                "soften it; reduce the mesh (reduction=pl.CraigBampton(8)), or choose stiffening 'full' (slow) or 'none'"
            )


def lightened(evidence: Evidence) -> Iterator[str]:
    """Warn of a beam that bends so far that stiffening of first order takes inertia away, before the mass matrix is singular."""
    course, places = evidence.course, evidence.traced.start_places["starts"]
    for node, limits in evidence.bending:
        if not isinstance(limits, UniformBeamLimits) or limits.beam.stiffening_taken not in FIRST_ORDER:
            continue
        own = [places[evidence.traced.tree.positions[k]] for k in node.own_q]
        bent = np.max(np.sum(np.einsum("psj,tj->pst", limits.slopes, course.states[:, own]) ** 2, axis=0), axis=0)
        k = int(np.argmax(np.where(np.isfinite(bent), bent, -1.0)))
        straight = course.states[k].copy()
        straight[own] = 0.0
        p = np.concatenate([course.parameters[k], course.constants])
        share, motion = evidence.resistance.left(float(course.times[k]), course.states[k], straight, p)
        if share < KEEPS:
            yield (
                f"beam {node.name!r} bends so far at t = {course.times[k]:.6g} s that stiffening {limits.beam.stiffening_taken!r} "
                f"takes away {min(1.0 - share, 1.0):.0%} of the inertia of a motion of {motion}: it leaves out the mass of the "
                "shortening, and the mass matrix becomes singular as the beam bends further; use stiffening 'full'"
            )


def compression(evidence: Rows) -> Iterator[str]:
    """Warn of a compression beyond the buckling load of a beam without stiffening, if it lasts long enough to buckle it."""
    for node, limits in _unstiffened(evidence):
        load = limits.held_buckling_load if _tip_is_held(evidence, node) else limits.buckling_load
        if limits.stretch is None and evidence.largest_force[_number(evidence, node)] <= load:
            continue  # too small even if the whole force acted along the beam
        (times, _), pressed = evidence.series, _compression(evidence, node, limits)
        if evidence.growth(limits.first_frequency**2 * (pressed / load - 1.0)) > GROWN:
            k = int(np.nanargmax(pressed))
            yield (
                f"beam {node.name!r} is compressed by {pressed[k]:.3g} N at t = {times[k]:.6g} s, {pressed[k] / load:.2g} "
                f"times its buckling load of {load:.3g} N, but with stiffening 'none' it cannot buckle; use stiffening 'full', or "
                "pl.segmented(beam, n) for the motion after buckling"
            )


def rotation(evidence: Rows) -> Iterator[str]:
    """Warn of a rotation across the axis of a beam without stiffening, faster than its first bending frequency."""
    fast = [(node, limits) for node, limits in _unstiffened(evidence)
            if not _fastest(evidence, node) <= limits.first_frequency]  # fmt: skip
    if not fast:
        return
    times, values = evidence.series
    moving = twists(evidence.traced.tree, list(values["q"].T), list(values["v"].T))
    for node, limits in fast:
        _, about_y, about_z = moving[_number(evidence, node)].omega
        speed = np.hypot(about_y, about_z) + np.zeros(times.size)
        if evidence.growth(speed**2 - limits.first_frequency**2) > TURNED:
            k = int(np.nanargmax(speed))
            yield (
                f"beam {node.name!r} turns across its axis at {speed[k]:.3g} rad/s at t = {times[k]:.6g} s, "
                f"{speed[k] / limits.first_frequency:.2g} times its first bending frequency of {limits.first_frequency:.3g} rad/s: "
                f"with stiffening 'none' rotation softens it, but the tension in a real beam stiffens it; use stiffening 'full'"
            )


def stretching(evidence: Rows) -> Iterator[str]:
    """Warn of an axial force that would lengthen or shorten a beam noticeably, had it axial coordinates; of the worst beam only."""
    strains = {}
    for node, limits in evidence.bending:
        if not isinstance(limits, UniformBeamLimits) or limits.stretch is not None:
            continue
        softness = limits.axial_softness
        if evidence.largest_force[_number(evidence, node)] * softness > STRETCHED:  # nan is not
            strains[node.name] = -softness * _compression(evidence, node, limits)
    largest = {name: float(np.nanmax(np.abs(strain))) for name, strain in strains.items()}
    name = max(largest, key=largest.__getitem__, default="")
    if name and largest[name] > STRETCHED:
        times, k = evidence.series[0], int(np.nanargmax(np.abs(strains[name])))
        others = sum(strain > STRETCHED for strain in largest.values()) - 1
        yield (
            f"beam {name!r} would {'stretch' if strains[name][k] > 0.0 else 'shorten'} by {100.0 * largest[name]:.2g} % at t = "
            f"{times[k]:.6g} s, but it has no axial modes{f' ({others} more beams likewise)' if others else ''}; add "
            "pl.AxialModes('cf', 1) to its modes"
        )


# ---- which beams


def _unstiffened(evidence: Rows) -> Iterator[tuple[Node, UniformBeamLimits]]:
    for node, limits in evidence.bending:
        if isinstance(limits, UniformBeamLimits) and limits.beam.stiffening_taken == "none":
            yield node, limits


def _number(evidence: Rows, node: Node) -> int:
    return evidence.traced.tree.index(node.name)


# ---- how far they bend


def _largest_bending(evidence: Rows, node: Node, limits: BeamLimits, slope: bool) -> tuple[float, float, float] | None:
    """(time, slope in rad or deflection/length, length) where a beam bends most; None if it stays within the limit."""
    times, values = evidence.series
    shapes, limit = (limits.slopes, SLOPE) if slope else (limits.deflections, DEFLECTION)
    limit *= _reach(limits)
    own = node.own_q[len(node.own_q) - shapes.shape[2] :]  # a free length comes before the modes
    length = _length(node, limits, values["q"])
    unit = 1.0 if slope and isinstance(limits, UniformBeamLimits) else length  # unit shapes: slope over free length
    shortest = unit if isinstance(unit, float) else np.min(unit)
    if evidence.largest_q[own.start : own.stop] @ limits.reach[slope] <= limit * shortest:
        return None  # no sum of the shapes reaches the limit
    q = values["q"][:, own.start : own.stop]
    bent = np.sqrt(np.max(np.sum(np.einsum("psj,tj->pst", shapes, q) ** 2, axis=0), axis=0)) / unit
    k = int(np.argmax(np.where(np.isfinite(bent), bent, -1.0)))
    return (float(times[k]), float(bent[k]), float(np.broadcast_to(length, times.shape)[k])) if bent[k] > limit else None


def _reach(limits: BeamLimits) -> float:
    """How many times further this beam may bend than beams of first and second order."""
    return CUBIC if isinstance(limits, UniformBeamLimits) and limits.beam.stiffening_taken == "cubic" else 1.0


def _finer(evidence: Rows, node: Node) -> str:
    """What to use instead."""
    system = evidence.traced.original
    return "more segments" if any(node.name in beam.names(name) for name, beam in system.segmented.items()) else SEGMENTED


def _length(node: Node, limits: BeamLimits, q: Floats) -> Floats | float:
    """The length of the part that bends, m: for a telescopic link, its free length."""
    if isinstance(limits, UniformBeamLimits):
        return float(limits.beam.length)
    return np.asarray(q[:, node.own_q.start])


# ---- what they bear


def _compression(evidence: Rows, node: Node, limits: UniformBeamLimits) -> Floats:
    """The mean axial compression, N: of the strain if the beam has axial coordinates, else of both ends if joints give both, else
    that at the root."""
    _, values = evidence.series
    if limits.stretch is not None:
        return np.asarray(-values["q"][:, node.own_q.start : node.own_q.stop] @ limits.stretch)
    k = _number(evidence, node)
    axis = _x_axis(values["orientation"][:, k])
    root = np.einsum("ta,ta->t", values["reaction_force"][:, k], axis)
    if _more_acts_on(evidence, node):
        return np.asarray(root)
    nodes = evidence.traced.tree.nodes
    carried = [j for j, other in enumerate(nodes) if other.parent == k]
    tip = np.einsum("ta,ta->t", values["reaction_force"][:, carried].sum(axis=1), axis) if carried else 0.0
    return np.asarray(0.5 * (root + tip))


def _x_axis(quaternion: Floats) -> Floats:
    """The x axis of a frame, in world axes."""
    w, x, y, z = quaternion.T
    return np.stack([1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + w * z), 2.0 * (x * z - w * y)], axis=1)


def _more_acts_on(evidence: Rows, node: Node) -> bool:
    """Whether loads, contacts or closures act on a body besides its joints."""
    system = evidence.traced.system
    frames = [load.at for load in system.loads.values()]
    frames += [frame for part in (system.contacts, system.groups) for pair in part.values() for frame in pair.frames]
    frames += [frame for closure in system.closures.values() for frame in closure.frames or ()]
    frames += [frame for strut in system.struts.values() for frame in strut.frames]
    return any(frame.body == node.name for frame in frames)


def _tip_is_held(evidence: Rows, node: Node) -> bool:
    """Whether a closure holds the beam, or a body that it carries."""
    nodes = evidence.traced.tree.nodes
    closed = {frame.body for closure in evidence.traced.system.closures.values() for frame in closure.frames or ()}
    for name in closed:
        k = evidence.traced.tree.index(name) if name in evidence.traced.tree.bodies else ROOT
        while k != ROOT:
            if nodes[k] is node:
                return True
            k = nodes[k].parent
    return False


def _fastest(evidence: Rows, node: Node) -> float:
    """An upper bound of a body's angular speed from all joints down to the ground, rad/s."""
    nodes = evidence.traced.tree.nodes
    fastest, k = 0.0, _number(evidence, node)
    while k != ROOT:
        for slot in nodes[k].slots:
            if slot.motion.kind != TRANSLATION:
                fastest += float(np.sum(evidence.largest_v[slot.v : slot.v + len(slot.motion.rates)]))
        k = nodes[k].parent
    return fastest
