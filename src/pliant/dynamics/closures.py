"""Closed loops: residuals of closures, and the multipliers that keep them at zero.

M a + h = tau + A^T lam with A = dc/dq and c'' = A a + gamma = 0: accelerations are linear in lam, so D lam = -(A a0 + gamma) with
D = A M^-1 A^T, and M^-1 A^T is what unit multipliers do to the accelerations. Residuals are differentiated, not derived. Where a
closure follows a motion, c(q, t) has a rate of its own: time is one more coordinate of the chart, of rate one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pliant.dynamics.algebra import Mat, Scalar, Vec, axial, dot, product, scale, sub, times, total, transpose
from pliant.dynamics.calculus import Calculus
from pliant.dynamics.cut_joint import JointPosition, joint_position
from pliant.dynamics.kinematics import Pose, place_pose, poses
from pliant.dynamics.retraction import retract
from pliant.dynamics.sparse import Row
from pliant.dynamics.tangents import tangents_of
from pliant.dynamics.tree import Tree
from pliant.model.closure import Closure
from pliant.model.joint import ROTATION
from pliant.scalar import is_constant, sqrt

MEETING = 1e-8  # of a spring's length: nearer than this its direction fades away; at its length that changes no digit of a double


@dataclass(frozen=True)
class ConstraintRows:
    """Residuals of closures with their derivatives along the motion, one per independent direction."""

    owners: tuple[int, ...]  # number of the closure each belongs to
    directions: tuple[int, ...]  # which of its closure's residuals each is
    angular: tuple[bool, ...]  # whether it is an angle, not a distance
    residual: list[Scalar]  # c, m or rad
    rate: list[Scalar]  # c'
    drift: list[Scalar]  # dc/dt where q stays: what a prescribed motion adds to c'
    gamma: list[Scalar]  # c'' with a = 0
    jacobian: list[Row]  # A, sparse


# Position, rate and acceleration of every motion a closure follows.
PrescribedValues = tuple[Scalar, Scalar, Scalar]


def residuals(
    tree: Tree, closures: Sequence[Closure], q: Sequence[Scalar], prescribed: Sequence[Sequence[Scalar]]
) -> list[tuple[int, int, bool, Scalar]]:
    """(closure, direction, is it an angle, residual) of all that can change; what vanishes by structure is left out.

    prescribed: where the motions of every closure are, None for what is free.
    """
    bodies = poses(tree, q) if closures else []
    changing = []
    for number, (closure, moved) in enumerate(zip(closures, prescribed, strict=True)):
        every = enumerate(closure_rows(tree, closure, bodies, q, moved))
        changing += [(number, k, angular, c) for k, (angular, c) in every if not is_constant(c)]
    return changing


def closure_rows(
    tree: Tree, closure: Closure, bodies: Sequence[Pose], q: Sequence[Scalar], prescribed: Sequence[Scalar]
) -> list[tuple[bool, Scalar]]:
    """(is it an angle, residual) of all directions of one closure, given where the bodies are."""
    if closure.frames is None:
        distances, angles = _coordinate_rows(tree, closure, q, prescribed, bodies)
    else:
        a, b = (place_pose(tree, tree.place(frame), bodies, q) for frame in closure.frames)
        apart = sub(a.position, b.position)
        distances, angles = _rows_of(closure, apart, a.rotation.matrix, b.rotation.matrix, prescribed)
    return [(False, c) for c in distances] + [(True, c) for c in angles]


def stored_energy(
    tree: Tree, closures: Sequence[Closure], q: Sequence[Scalar], prescribed: Sequence[Sequence[Scalar]]
) -> Scalar:
    """What virtual springs hold: sum of Ks c^2 / 2."""
    changing = residuals(tree, closures, q, prescribed)
    return total(0.5 * closures[owner].stiffness * c * c for owner, _, _, c in changing)


def rows(
    tree: Tree,
    closures: Sequence[Closure],
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    calculus: Calculus,
    prescribed: Sequence[Sequence[PrescribedValues | None]],
) -> ConstraintRows:
    """Residuals and all their derivatives, charted around the present state and time as the witness does."""
    count = len(tree.rates)
    xi, shift = calculus.symbols("xi", count + 1)
    rate, _ = calculus.symbols("xi_rate", count + 1)
    late = shift[count]  # a motion to second order in it is all that c'' sees
    moved = [[None if m is None else m[0] + late * (m[1] + 0.5 * m[2] * late) for m in motions] for motions in prescribed]
    changing = residuals(tree, closures, retract(tree, q, shift), moved)
    entries = [c for _, _, _, c in changing]
    first = calculus.directional(entries, xi, rate)
    second = calculus.directional(first, xi, rate)
    jacobian = calculus.sparse_jacobian(entries, xi)
    flat = [*entries, *first, *second, *(x for row in jacobian for x in row.values())]
    for old, new in ((rate, [*v, 1.0]), (xi, [0.0] * (count + 1))):
        flat = calculus.substitute(flat, old, calculus.column(new))
    m = len(entries)
    values = iter(flat[3 * m :])
    matrix = [{k: next(values) for k in row} for row in jacobian]
    drift = [row.pop(count, 0.0) for row in matrix]
    owners, directions = tuple(owner for owner, _, _, _ in changing), tuple(k for _, k, _, _ in changing)
    angular = tuple(turned for _, _, turned, _ in changing)
    return ConstraintRows(owners, directions, angular, flat[:m], flat[m : 2 * m], drift, flat[2 * m : 3 * m], matrix)


def _coordinate_rows(
    tree: Tree, closure: Closure, q: Sequence[Scalar], prescribed: Sequence[Scalar], bodies: Sequence[Pose]
) -> tuple[list[Scalar], list[Scalar]]:
    """c of a gear, counted from where both start, or of a coordinate that follows a motion."""
    read = [_coordinate(tree, name, q, bodies) for name in closure.coordinates]
    if closure.kind == "gear":
        a, b = (position.x - position.start for position in read)
        c = a - closure.ratio * b
    else:
        c = read[0].beyond(prescribed[0])
    return ([], [c]) if read[0].turns else ([c], [])


def _coordinate(tree: Tree, name: str, q: Sequence[Scalar], bodies: Sequence[Pose]) -> JointPosition:
    """A coordinate by name; it may be of a joint apart from the tree."""
    if name not in tree.positions:
        return joint_position(tree, name, q, bodies)
    k = tree.positions.index(name)
    turns = any(slot.q == k and slot.motion.kind == ROTATION for slot in tree.slots)
    return JointPosition(q[k], turns, tree.start[k])


def _beyond(closure: Closure, squared: Scalar, length: Scalar) -> Scalar:
    """How much further apart two origins are than `length`, given their distance squared.

    A spring pulls in proportion to d - L; what multipliers keep at zero may as well be (d^2 - L^2) / 2L, which is smooth and
    has the same slope there. Where the origins meet, a spring has no direction to push in: it pushes in none.
    """
    if closure.by == "springs":
        return sqrt(squared + (MEETING * length) * (MEETING * length)) - length
    return (squared - length * length) * (0.5 / length)


def _rows_of(
    closure: Closure, apart: Vec, a: Mat, b: Mat, prescribed: Sequence[Scalar]
) -> tuple[list[Scalar], list[Scalar]]:
    """c of one closure of frames: distances in the world's or in b's axes, and sines of angles."""
    if closure.kind in ("point", "spherical"):
        return list(apart), []
    if closure.kind == "distance":
        return [_beyond(closure, dot(apart, apart), prescribed[0] if prescribed else closure.length)], []
    if closure.kind == "prescribed":
        return [x - m for x, m in zip(times(transpose(b), apart), prescribed, strict=False) if m is not None], []
    across = [times(b, t) for t in tangents_of(closure.axis)]
    along = [dot(times(b, closure.axis), apart) - m for m in prescribed]
    if closure.kind == "slider":
        return [*(dot(t, apart) for t in across), *along], []
    if closure.kind == "universal":
        lean = dot(closure.axis, closure.other_axis)
        return list(apart), [dot(times(b, closure.axis), times(a, closure.other_axis)) - lean]
    if closure.kind in ("revolute", "cylindrical", "planar"):
        aligned = [dot(times(a, closure.axis), t) for t in across]
        if closure.kind == "planar":
            return [dot(times(b, closure.axis), apart)], aligned
        return (list(apart) if closure.kind == "revolute" else [dot(t, apart) for t in across]), aligned
    turned = axial(product(transpose(a), b))  # 2 sin of the small rotation between them
    if closure.kind == "weld":
        return list(apart), list(scale(0.5, turned))
    return [*(dot(t, apart) for t in across), *along], list(scale(0.5, turned))  # prismatic
