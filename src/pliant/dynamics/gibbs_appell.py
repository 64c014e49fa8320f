"""The recursive Gibbs-Appell form: inverse dynamics by an outward and an inward sweep, and forward dynamics by the mass matrix.

dS/dq'' of Korayem, Shafei, Dehkordi (eq. 64-68) and Yousefzadeh, Shafei (eq. 12), with one projection per coordinate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pliant.dynamics.algebra import ZERO, Scalar, Vec, add, cross, dot, scale, solve_symmetric, sub, times, total
from pliant.dynamics.articulated import accelerate, step_columns
from pliant.dynamics.body import Shape
from pliant.dynamics.forward import Driven, Forward
from pliant.dynamics.loads import BodyLoad
from pliant.dynamics.steps import Bend, Shift, Step, Turn, bias_after, steps_to_body, velocity_after
from pliant.dynamics.tree import ROOT, Node, Tree

Wrench = tuple[Vec, Vec]  # moment, force


@dataclass(frozen=True)
class BodyMotion:
    """The motion of a body's frame, in its own axes, and the steps that lead to it."""

    steps: list[Step]
    omega: Vec
    alpha: Vec
    a: Vec


def inverse_dynamics(
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    a: Sequence[Scalar],
    loads: Sequence[BodyLoad] | None = None,
    gravity: Vec | None = None,
) -> list[Scalar]:
    """Efforts on all coordinates for a motion: outward kinematics, inward forces, projection."""
    motions = outward(tree, q, v, a, tree.gravity if gravity is None else gravity)
    return transmitted(tree, q, v, a, motions, loads)[0]


def outward(tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar], a: Sequence[Scalar], gravity: Vec) -> list[BodyMotion]:
    """Angular velocity and accelerations of every body frame; gravity enters as an upward acceleration of the ground."""
    motions: list[BodyMotion] = []
    for node in tree.nodes:
        parent = None if node.parent == ROOT else tree.nodes[node.parent]
        before = BodyMotion([], ZERO, ZERO, scale(-1.0, gravity)) if parent is None else motions[node.parent]
        omega, motion = before.omega, (before.alpha, before.a)
        steps = steps_to_body(node, parent, q, v)
        for step in steps:
            after = velocity_after(step, omega, v)
            bias = bias_after(step, omega, after, v)
            alpha, acceleration = accelerate(step, *motion, a)
            motion = (add(alpha, bias[0]), add(acceleration, bias[1]))
            for column in step_columns(step):
                along = scale(a[column.v], column.axis)
                motion = (add(motion[0], along), motion[1]) if column.angular else (motion[0], add(motion[1], along))
            omega = after
        motions.append(BodyMotion(steps, omega, *motion))
    return motions


def transmitted(
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    a: Sequence[Scalar],
    motions: Sequence[BodyMotion],
    loads: Sequence[BodyLoad] | None,
) -> tuple[list[Scalar], list[Wrench]]:
    """Efforts required at each body's joint and modes, from the tips to the ground; and the whole wrench, as of Newton and Euler,
    that every joint transmits, in the axes of the frame it stands on."""
    tau: list[Scalar] = [0.0] * len(tree.rates)
    wrenches: list[Wrench] = []
    for k, node in enumerate(tree.nodes):
        wrench, modal = body_wrench(node, q, v, a, motions[k])
        if loads is not None:
            wrench = (sub(wrench[0], loads[k].moment), sub(wrench[1], loads[k].force))
            modal = [m - load for m, load in zip(modal, loads[k].own, strict=True)]
        wrenches.append(wrench)
        for number, value in zip(node.own_v, modal, strict=True):
            tau[number] = tau[number] + value
    for k in reversed(range(len(tree.nodes))):
        n, f = wrenches[k]
        for step in reversed(motions[k].steps):
            n, f = _project(step, n, f, tau)
        parent = tree.nodes[k].parent
        wrenches[k] = n, f
        if parent != ROOT:
            wrenches[parent] = (add(wrenches[parent][0], n), add(wrenches[parent][1], f))
    for number, rotor in tree.rotors.items():
        tau[number] = tau[number] + rotor * a[number]
    return tau, wrenches


def kane(tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar], a: Sequence[Scalar]) -> list[Scalar]:
    """The same efforts by Kane's equations: each body's inertia forces times its own partial velocities, summed over bodies.

    Kane and Levinson 1983. No wrench is added to another before it is projected, so the cost grows with the square of the depth.
    """
    motions = outward(tree, q, v, a, tree.gravity)
    tau: list[Scalar] = [0.0] * len(tree.rates)
    for k, node in enumerate(tree.nodes):
        (n, f), modal = body_wrench(node, q, v, a, motions[k])
        for number, value in zip(node.own_v, modal, strict=True):
            tau[number] = tau[number] + value
        here = k
        while here != ROOT:
            for step in reversed(motions[here].steps):
                n, f = _project(step, n, f, tau)
            here = tree.nodes[here].parent
    for number, rotor in tree.rotors.items():
        tau[number] = tau[number] + rotor * a[number]
    return tau


def body_wrench(
    node: Node, q: Sequence[Scalar], v: Sequence[Scalar], a: Sequence[Scalar], motion: BodyMotion
) -> tuple[Wrench, list[Scalar]]:
    """M_b u' + h_b of one body."""
    shape, seconds = node.shape(q, v), [a[k] for k in node.own_v]
    own = shape.own_bias(motion.omega)
    for j in range(len(seconds)):
        angular, linear = shape.coupling(j)
        inertial = total(shape.own_mass(j, k) * seconds[k] for k in range(len(seconds)))
        own[j] = own[j] + inertial + dot(angular, motion.alpha) + dot(linear, motion.a)
    return _frame_rows(shape, seconds, motion), own


def frame_wrench(node: Node, q: Sequence[Scalar], v: Sequence[Scalar], a: Sequence[Scalar], motion: BodyMotion) -> Wrench:
    """The first six rows of M_b u' + h_b: moment about the frame's origin, and force."""
    return _frame_rows(node.shape(q, v), [a[k] for k in node.own_v], motion)


def _frame_rows(shape: Shape, seconds: Sequence[Scalar], motion: BodyMotion) -> Wrench:
    moment, force = shape.frame_bias(motion.omega)
    moment = add(moment, add(times(shape.inertia(), motion.alpha), cross(shape.moment, motion.a)))
    force = add(force, add(cross(motion.alpha, shape.moment), scale(shape.fields.mass, motion.a)))
    for j, second in enumerate(seconds):
        angular, linear = shape.coupling(j)
        moment, force = add(moment, scale(second, angular)), add(force, scale(second, linear))
    return moment, force


def _project(step: Step, n: Vec, f: Vec, tau: list[Scalar]) -> Wrench:
    """Project a wrench on a step's coordinates and carry it to the frame before the step."""
    for column in step_columns(step):
        tau[column.v] = tau[column.v] + dot(column.axis, n if column.angular else f)
    if isinstance(step, Turn):
        return step.rotation.out(n), step.rotation.out(f)
    if isinstance(step, Bend):
        for j, number in enumerate(step.own):
            tau[number] = tau[number] + dot(step.rotation[j], n) + dot(step.displacement[j], f)
    assert isinstance(step, (Bend, Shift))
    return add(n, cross(step.r, f)), f


def mass_matrix(tree: Tree, q: Sequence[Scalar]) -> list[list[Scalar]]:
    """M, one column per unit acceleration of the system at rest without gravity; computed from its upper triangle."""
    count = len(tree.rates)
    still = [0.0] * count
    columns = []
    for j in range(count):
        unit = [1.0 if k == j else 0.0 for k in range(count)]
        columns.append(inverse_dynamics(tree, q, still, unit, gravity=ZERO))
    return [[columns[max(i, j)][min(i, j)] for j in range(count)] for i in range(count)]


def forward_dynamics(driven: Driven) -> Forward:
    """Accelerations from M by L D L^T; cheaper than the articulated recursion only for very few coordinates."""
    tree = driven.tree
    bias = inverse_dynamics(tree, driven.q, driven.v, [0.0] * len(tree.rates), driven.loads)
    return solve_with_known(mass_matrix(tree, driven.q), bias, driven.tau, driven.known)


def solve_with_known(
    mass: Sequence[Sequence[Scalar]], bias: Sequence[Scalar], tau: Sequence[Scalar], known: dict[int, Scalar]
) -> Forward:
    """Solve M a = tau - bias with some accelerations prescribed; their efforts follow."""
    free = [k for k in range(len(tau)) if k not in known]
    right = [tau[i] - bias[i] - total(mass[i][k] * known[k] for k in known) for i in free]
    solved = solve_symmetric([[mass[i][j] for j in free] for i in free], right)
    a: list[Scalar] = [0.0] * len(tau)
    for k, value in [*zip(free, solved, strict=True), *known.items()]:
        a[k] = value
    efforts = {k: bias[k] + total(mass[k][j] * a[j] for j in range(len(a))) - tau[k] for k in known}
    return Forward(a, efforts)
