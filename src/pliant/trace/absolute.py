"""A System re-expressed in absolute coordinates: every body floats, every joint is a closure with multipliers.

Springs, dampers, stops and drives of a joint act between its two frames. The bodies start where the assembly of the tree put them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pliant.dynamics import gibbs_appell
from pliant.dynamics.kinematics import Pose, Twist, poses, twists
from pliant.dynamics.rotation import quaternion_of
from pliant.dynamics.tree import Node, Tree, build_tree
from pliant.errors import ModelError
from pliant.model.closure import Closure, FormulaClosure, PrescribedClosure
from pliant.model.coordinate_pair import refuse_coordinate_pairs
from pliant.model.cut_joint import HELD_BY, CutJoint
from pliant.model.force import Drive
from pliant.model.frame import GROUND, Frame
from pliant.model.joint import ROTATION, Free, Joint, Planar
from pliant.model.sensor import Encoder
from pliant.model.signal import Formula, Signal
from pliant.model.system import Link, System
from pliant.scalar import Scalar, is_constant
from pliant.trace.formulas import NamedScalars

JOINT = " joint"  # suffix: the joint that carried body `arm` becomes `arm joint`
NO_INERTIA = 1e-12  # of a body's largest scaled eigenvalue of inertia: an eigenvalue below it is a motion without inertia


def refuse_tree_only(system: System) -> None:
    """Refuse a System with parts that act on joint coordinates of a tree."""
    rule = "must not be 'augmented' if stops have a law, or joints or gears have play: use tree coordinates"
    refuse_coordinate_pairs(system, f"system {system.name!r}", "formulation", rule)
    if system.motors:
        rule = "must not be 'augmented' if there are motors, whose rotors turn with joint coordinates: use tree coordinates"
        raise ModelError.of(f"system {system.name!r}", "formulation", rule, list(system.motors))


def floating(system: System, tree: Tree, any_q: Sequence[Scalar], q: Sequence[float], v: Sequence[float]) -> System:
    """The same mechanism with every body floating (Planar for a planar mechanism, else Free) and its joints as closures.

    any_q: symbols, which show in which planes the bodies move. q, v: where the bodies start.

    Body coordinates stay as they are, and so do bodies that float on the ground already. The joint that carried body `arm` becomes
    a closure and a cut joint, both called `arm joint`. Its coordinate `angle` becomes `arm joint.angle`; formulas that ask for
    `arm.angle` receive that.
    """
    bodies, moving = poses(tree, q), twists(tree, q, v)
    # whether the structure of the tree lets every frame rotate about z only, at a constant height
    planar = all(pose.rotation.index == 2 and is_constant(pose.position[2]) for pose in poses(tree, any_q))
    found = System(system.name, system.gravity, system.closure_tolerance, system.baumgarte)
    kept = [node.name for node in tree.nodes if _floats(node.link, planar)]
    for node, pose, twist in zip(tree.nodes, bodies, moving, strict=True):
        stands = node.name in kept
        joint, on = (_started(node, q, v), node.link.on) if stands else _floating(pose, twist, planar)
        found.links[node.name] = _link(node, joint, on, q, v)
        if not stands:
            _take_apart(found, node, q)
    _check_inertia(found)
    _carry_over(system, found, _renamed(tree, kept) | {name: name for name in system.struts})
    return found


def _carry_over(system: System, found: System, rename: Mapping[str, str]) -> None:
    """Copies closures, drives, loads, contacts, sensors and conditions, with the new names of coordinates."""
    for closure in system.closures.values():
        if closure.name in found.closures:
            rule = "must not be the name of a body followed by ' joint' (formulation 'augmented')"
            raise ModelError.of(f"closure {closure.name!r}", "name", rule, closure.name)
        found.closures[closure.name] = _held_by_name(closure, found, rename)
    for drive in system.drives.values():
        found.drives[drive.name] = Drive(drive.name, rename[drive.coordinate], _translated(drive.effort, rename))
    for load in system.loads.values():
        x, y, z = (_translated(component, rename) for component in load.vector)
        found.loads[load.name] = replace(load, vector=(x, y, z))
    for state in system.states.values():
        found.states[state.name] = replace(state, rate=_translated(state.rate, rename))
    for controller in system.controllers.values():
        found.controllers[controller.name] = replace(controller, update=_asked_update(controller.update, rename))
    for condition in system.conditions.values():
        found.conditions[condition.name] = replace(condition, function=_asked_by_joint(condition.function, rename))
    for strut in system.struts.values():
        force = None if strut.force is None else _translated(strut.force, rename)
        found.struts[strut.name] = replace(strut, force=force)
    for name, sensor in system.sensors.items():
        found.sensors[name] = replace(sensor, of=rename[sensor.of]) if isinstance(sensor, Encoder) else sensor
    found.contacts.update(system.contacts)
    found.groups.update(system.groups)


def _held_by_name(closure: Closure, found: System, rename: Mapping[str, str]) -> Closure:
    """A closure that names coordinates, with their new names."""
    if isinstance(closure, FormulaClosure):
        return replace(closure, formula=replace(closure.formula, function=_asked_by_joint(closure.formula.function, rename)))
    names = [rename[name] for name in closure.coordinates]
    if not names:
        return closure
    for old, new in zip(closure.coordinates, names, strict=True):
        if closure.counts_turns and new != old and _turns_uncounted(found, new):
            rule = "must not be an angle in space of a joint taken apart, whose turns are not counted (formulation 'augmented')"
            raise ModelError.of(f"closure {closure.name!r}", "a" if old == closure.a else "b", rule, old)
    return replace(closure, a=names[0], b=names[1] if len(names) > 1 else None)


def _turns_uncounted(found: System, label: str) -> bool:
    cut_joint = next(one for one in found.cut_joints.values() if label in one.positions)
    planar = isinstance(found.links[cut_joint.a.body].joint, Planar)
    return not planar and any(m.kind == ROTATION and label.endswith(f".{m.name}") for m in cut_joint.joint.motions)


# ---- bodies


def _floats(link: Link, planar: bool) -> bool:
    """Whether a body already floats on the ground and its motion is not prescribed."""
    free = isinstance(link.joint, Free) or (planar and isinstance(link.joint, Planar))
    return free and link.on.body == GROUND and not link.joint.prescribed


def _floating(pose: Pose, twist: Twist, planar: bool) -> tuple[Joint, Frame]:
    position, velocity = pose.position, pose.rotation.out(twist.velocity)
    if planar:
        on = Frame(GROUND, None, (0.0, 0.0, float(position[2])))
        return Planar(position=position[:2], angle=pose.rotation.angle, velocity=velocity[:2], rate=twist.omega[2]), on
    turned = quaternion_of(pose.rotation)
    return Free(position=position, orientation=turned, velocity=velocity, angular_velocity=twist.omega), Frame(GROUND)


def _started(node: Node, q: Sequence[float], v: Sequence[float]) -> Joint:
    """A joint that is kept, with the start that assembly gave it."""
    slots, joint = node.slots, node.link.joint
    x = [q[slot.q + k] for slot in slots for k in range(len(slot.motion.positions))]
    rates = [v[slot.v + k] for slot in slots for k in range(len(slot.motion.rates))]
    if isinstance(joint, Planar):
        return replace(joint, position=x[:2], angle=x[2], velocity=rates[:2], rate=rates[2])
    assert isinstance(joint, Free)
    return replace(joint, position=x[:3], orientation=x[3:], velocity=rates[:3], angular_velocity=rates[3:])


def _link(node: Node, joint: Joint, on: Frame, q: Sequence[float], v: Sequence[float]) -> Link:
    """The same body on its new joint; the body's own coordinates start as in the tree."""
    body, labels = node.link.body, node.link.own_labels
    own = {name: float(q[k]) for name, k in zip(labels, node.own_q, strict=True)}
    rates = {name: float(v[k]) for name, k in zip(labels, node.own_v, strict=True)}
    lengths = {name: replace(length, start=own.pop(name), rate=rates.pop(name)) for name, length in body.lengths.items()}
    return Link(node.name, body.with_lengths(lengths), joint, on, own, rates, node.link.mode_motions)


def _check_inertia(system: System) -> None:
    """Raise an error for a floating body that can move in some way without inertia."""
    for link in system.links.values():  # one by one: a mechanism of many bodies has a large mass matrix, which is zero between them
        alone = System(link.name, system.gravity)
        alone.links[link.name] = link
        tree = build_tree(alone)
        own = np.array(gibbs_appell.mass_matrix(tree, tree.start), dtype=np.float64)
        size = np.sqrt(np.maximum(np.diag(own), 0.0))
        scaled = own / np.outer(size, size) if np.all(size > 0.0) else np.zeros((1, 1))
        if np.min(np.linalg.eigvalsh(scaled)) <= NO_INERTIA:
            rule = (
                "must resist every motion of the body where it floats (formulation 'augmented'), as a point mass, a thin rod in "
                "space or the sleeve of a telescopic link does not"
            )
            raise ModelError.of(f"body {link.name!r}", "inertia", rule, type(link.body).__name__)


# ---- joints


def _take_apart(system: System, node: Node, q: Sequence[float]) -> None:
    """Replaces a joint of the tree by a closure and a cut joint, and its prescribed motion by one more closure."""
    link, name = node.link, f"{node.name}{JOINT}"
    a = Frame(node.name)
    start = tuple(float(q[slot.q + k]) for slot in node.slots for k in range(len(slot.motion.positions)))
    system.cut_joints[name] = CutJoint(name, link.joint, a, link.on, start)
    if type(link.joint) not in HELD_BY:
        rule = "must be one that a closure can hold (formulation 'augmented')"
        raise ModelError.of(f"body {node.name!r}", "joint", rule, type(link.joint).__name__)
    closure = HELD_BY[type(link.joint)](link.joint, name, a, link.on)
    if closure is not None:
        system.closures[name] = closure
    for label, motion in link.joint.prescribed.items():
        own = f"{node.name}.{label}"
        system.closures[own] = PrescribedClosure(own, f"{name}.{label}", None, motion=motion)


# ---- formulas and controllers that read coordinates


def _renamed(tree: Tree, kept: Sequence[str]) -> dict[str, str]:
    """The new name of every coordinate and rate of the tree, by its old name."""
    names: dict[str, str] = {}
    for node in tree.nodes:
        own = {f"{node.name}.{name}" for name in node.link.own_labels}
        for label in (*node.link.positions, *node.link.rates):
            old = f"{node.name}.{label}"
            stays = node.name in kept or old in own
            names[old] = old if stays else f"{node.name}{JOINT}.{label}"
    return names


def _translated(signal: Signal, rename: Mapping[str, str]) -> Signal:
    if not isinstance(signal, Formula):
        return signal
    return replace(signal, function=_asked_by_joint(signal.function, rename))


def _asked_by_joint(function: Callable[..., Any], rename: Mapping[str, str]) -> Callable[..., Any]:
    """Wraps a formula of (t, q, v) so that it can still read joint coordinates by their names in the tree."""

    def translated(t: Any, q: NamedScalars, v: NamedScalars) -> Any:
        return function(t, q.renamed(rename), v.renamed(rename))

    translated.__qualname__ = getattr(function, "__qualname__", repr(function))
    return translated


def _asked_update(update: Any, rename: Mapping[str, str]) -> Any:
    """Wraps a controller's update in the same way; an update that runs in Python reads the results' names and is not wrapped."""
    if isinstance(update, Mapping):
        return {name: _asked_update(formula, rename) for name, formula in update.items()}
    if update is None:
        return None

    def translated(t: Any, q: NamedScalars, v: NamedScalars, measured: Any, memory: Any) -> Any:
        return update(t, q.renamed(rename), v.renamed(rename), measured, memory)

    translated.__qualname__ = getattr(update, "__qualname__", repr(update))
    return translated
