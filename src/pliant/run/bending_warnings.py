"""Warnings about beams: bent further than their theory goes, or loaded and spun where they would need their stiffening."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from pliant.dynamics.kinematics import twists
from pliant.dynamics.tree import ROOT, Node
from pliant.model.beam import AUTO
from pliant.model.joint import TRANSLATION
from pliant.run.beam_limits import BeamLimits, UniformBeamLimits
from pliant.run.evidence import Rows

Floats = NDArray[np.float64]

DEFLECTION = 0.1  # of the length: beyond it the tip of a cantilever under an end load is 1 % from where linear theory has it
SLOPE = 0.3  # rad: where the curvature w'' is 14 % more than w''/(1 + w'^2)^1.5
CUBIC = 2.0  # times as far both ways with stiffening "cubic": theta^4/120 there is what theta^3/24 is at the slope above
MATTERS = 0.1  # of the buckling load, or of the squared frequency: told as soon as that where `auto` left stiffening out
SEGMENTED = "pl.segmented(beam, n)"
GROWN = 1.0  # exponent of growth: a load or a speed must last that long, for what is brief leaves a beam no time to give way
TURNED = 0.1  # the same of rotation, which impacts change less than forces


def deflection(evidence: Rows) -> Iterator[str]:
    """Of a beam, past a tenth of its length."""
    for node, limits in evidence.bending:
        found = _largest_bending(evidence, node, limits, slope=False)
        if found is not None:
            t, most, length = found
            yield (
                f"beam {node.name!r} bends by {most * length:.3g} m at t = {t:.6g} s, {most:.2g} of its length of {length:.3g} m; "
                f"its theory is good for deflections up to {DEFLECTION * _reach(limits):g} of it: take {_finer(evidence, node)}"
            )


def slope(evidence: Rows) -> Iterator[str]:
    """Of a beam, past 0.3 rad."""
    for node, limits in evidence.bending:
        found = _largest_bending(evidence, node, limits, slope=True)
        if found is not None:
            t, most, _ = found
            yield (
                f"beam {node.name!r} has a slope of {most:.2g} rad at t = {t:.6g} s; its theory is good for slopes up to "
                f"{SLOPE * _reach(limits):g} rad: take {_finer(evidence, node)}"
            )


def compression(evidence: Rows) -> Iterator[str]:
    """Of a beam without stiffening, past its buckling load, for long enough to buckle."""
    times, _ = evidence.series
    for node, limits in _unstiffened(evidence):
        load = limits.held_buckling_load if _tip_is_held(evidence, node) else limits.buckling_load
        allowed = load * _share(limits)
        if evidence.largest_force[_number(evidence, node)] <= allowed:
            continue  # not even if all of it went along the beam
        pressed = _compression(evidence, node)
        if _grown(times, limits.first_frequency**2 * (pressed / allowed - 1.0)) > GROWN:
            k = int(np.nanargmax(pressed))
            yield (
                f"beam {node.name!r} is pressed together by {pressed[k]:.3g} N at t = {times[k]:.6g} s, {pressed[k] / load:.2g} "
                f"times its buckling load of {load:.3g} N, which does nothing to it {_without(limits)}: take stiffening 'full', or "
                "pl.segmented(beam, n) for what comes after buckling"
            )


def rotation(evidence: Rows) -> Iterator[str]:
    """Of a beam without stiffening, across its axis, past its first frequency."""
    fast = [(node, limits) for node, limits in _unstiffened(evidence)
            if not _fastest(evidence, node) <= limits.first_frequency * math.sqrt(_share(limits))]  # fmt: skip
    if not fast:
        return
    times, values = evidence.series
    moving = twists(evidence.traced.tree, list(values["q"].T), list(values["v"].T))
    for node, limits in fast:
        _, about_y, about_z = moving[_number(evidence, node)].omega
        speed = np.hypot(about_y, about_z) + np.zeros(times.size)
        if _grown(times, speed**2 - _share(limits) * limits.first_frequency**2) > TURNED:
            k = int(np.nanargmax(speed))
            yield (
                f"beam {node.name!r} turns across its axis at {speed[k]:.3g} rad/s at t = {times[k]:.6g} s, "
                f"{speed[k] / limits.first_frequency:.2g} times its first bending frequency of {limits.first_frequency:.3g} rad/s: "
                f"{_without(limits)} rotation softens it, where the tension in a real one stiffens it: take stiffening 'full'"
            )


# ---- which beams


def _unstiffened(evidence: Rows) -> Iterator[tuple[Node, UniformBeamLimits]]:
    for node, limits in evidence.bending:
        if isinstance(limits, UniformBeamLimits) and limits.beam.stiffening_taken == "none":
            yield node, limits


def _share(limits: UniformBeamLimits) -> float:
    """Of the load, or the squared speed, past which it is told: all where the user left stiffening out, little where `auto` did."""
    return MATTERS if limits.beam.stiffening == AUTO else 1.0


def _without(limits: UniformBeamLimits) -> str:
    taken = f" (taken by {AUTO!r} for its many bending coordinates)" if limits.beam.stiffening == AUTO else ""
    return f"with stiffening {limits.beam.stiffening_taken!r}{taken}"


def _number(evidence: Rows, node: Node) -> int:
    return evidence.traced.tree.index(node.name)


# ---- how far they bend


def _largest_bending(evidence: Rows, node: Node, limits: BeamLimits, slope: bool) -> tuple[float, float, float] | None:
    """(When, slope in rad or deflection over the length, the length then) where a beam bends most; None where within the limit."""
    times, values = evidence.series
    shapes, limit = (limits.slopes, SLOPE) if slope else (limits.deflections, DEFLECTION)
    limit *= _reach(limits)
    own = node.own_q[len(node.own_q) - shapes.shape[2] :]  # a free length stands before the modes
    length = _length(node, limits, values["q"])
    unit = 1.0 if slope and isinstance(limits, UniformBeamLimits) else length  # slopes of unit shapes are over the free length
    shortest = unit if isinstance(unit, float) else np.min(unit)
    if evidence.largest_q[own.start : own.stop] @ limits.reach[slope] <= limit * shortest:
        return None  # no sum of the shapes comes near
    q = values["q"][:, own.start : own.stop]
    bent = np.sqrt(np.max(np.sum(np.einsum("psj,tj->pst", shapes, q) ** 2, axis=0), axis=0)) / unit
    k = int(np.argmax(np.where(np.isfinite(bent), bent, -1.0)))
    return (float(times[k]), float(bent[k]), float(np.broadcast_to(length, times.shape)[k])) if bent[k] > limit else None


def _reach(limits: BeamLimits) -> float:
    """How many times further than beams of first and second order this one may bend."""
    return CUBIC if isinstance(limits, UniformBeamLimits) and limits.beam.stiffening_taken == "cubic" else 1.0


def _finer(evidence: Rows, node: Node) -> str:
    """What to take instead."""
    system = evidence.traced.original
    return "more segments" if any(node.name in beam.names(name) for name, beam in system.segmented.items()) else SEGMENTED


def _length(node: Node, limits: BeamLimits, q: Floats) -> Floats | float:
    """Of the part that bends, m: of a telescopic link its free length."""
    if isinstance(limits, UniformBeamLimits):
        return float(limits.beam.length)
    return np.asarray(q[:, node.own_q.start])


# ---- what they bear


def _compression(evidence: Rows, node: Node) -> Floats:
    """Along the axis, positive where it is pressed, N: the mean of both ends where both are known from joints, else the root's."""
    _, values = evidence.series
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
    """Of a frame, in world axes."""
    w, x, y, z = quaternion.T
    return np.stack([1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + w * z), 2.0 * (x * z - w * y)], axis=1)


def _more_acts_on(evidence: Rows, node: Node) -> bool:
    """Whether loads, contacts or closures act on a body besides its joints."""
    system = evidence.traced.system
    frames = [load.at for load in system.loads.values()]
    frames += [frame for pair in system.contacts.values() for frame in pair.frames]
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
    """What all joints down to the ground turn a body by at most, rad/s."""
    nodes = evidence.traced.tree.nodes
    fastest, k = 0.0, _number(evidence, node)
    while k != ROOT:
        for slot in nodes[k].slots:
            if slot.motion.kind != TRANSLATION:
                fastest += float(np.sum(evidence.largest_v[slot.v : slot.v + len(slot.motion.rates)]))
        k = nodes[k].parent
    return fastest


def _grown(times: Floats, square: Floats) -> float:
    """int sqrt(square) dt: how often a deflection would grow e-fold, counted between rows that are both past the limit."""
    rate = np.sqrt(np.where(square > 0.0, square, 0.0))
    return float(np.minimum(rate[:-1], rate[1:]) @ np.diff(times)) if times.size > 1 else 0.0
