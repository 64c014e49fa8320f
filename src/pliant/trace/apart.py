"""Loops that hang on one another in a plane, solved with joints taken apart.

In the coordinates of one tree, a loop that closes far out on a chain reads every coordinate of the chain, and N loops in a row
cost N^3. Here pieces of the tree float instead, and each joint between two pieces is held by rows of its own, as a closure is: then
a row reads two pieces at most, and cost grows as N. State, names and multipliers stay those of the tree, whose accelerations follow
from those of the pieces.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import casadi as ca

from pliant.codegen.tracer import Scalar, Tracer
from pliant.dynamics import articulated
from pliant.dynamics.algebra import is_zero, total
from pliant.dynamics.closures import ConstraintRows, FormulaAt, rows
from pliant.dynamics.cut_joint import cut_joint_state
from pliant.dynamics.forward import Driven, Forward
from pliant.dynamics.kinematics import TreeState
from pliant.dynamics.loads import AppliedForces
from pliant.dynamics.tree import ROOT, Node, Tree, build_tree
from pliant.model.beam import Beam
from pliant.model.closure import Closure
from pliant.model.cut_joint import HELD_BY, CutJoint
from pliant.model.frame import GROUND, Frame
from pliant.model.joint import Planar, Prismatic, Revolute
from pliant.model.rigid import RigidBody
from pliant.model.system import System
from pliant.scalar import is_constant
from pliant.trace.closures import Solved, push, solve

FEW_LOOPS = 8  # on one tree: for so few, or fewer, one matrix of all their rows is cheaper or nearly so
LOOPS_PER_PIECE = 2  # ends of loops, and joints to further pieces, in a piece


@dataclass(frozen=True)
class Pieces:
    """The tree with some joints taken apart, at the state of the tree."""

    tree: Tree
    q: list[Scalar]
    v: list[Scalar]
    same: dict[int, int]  # rates that both have: the number in the pieces, by that in the tree
    joints: dict[int, CutJoint]  # those taken apart, by the number of their node
    first: dict[int, tuple[int, int]]  # of their coordinates and rates in the tree, by the number of the node
    held: ConstraintRows  # of these joints
    bias: dict[int, Scalar]  # by number in the tree: the joints' accelerations if those of the pieces were zero
    share: dict[int, dict[int, Scalar]]  # d (the joints' rates) / d (rates of the pieces)

    def rates(self, moved: Sequence[Scalar], count: int) -> list[Scalar]:
        """Rates of the tree, or changes, that belong to those of the pieces."""
        found: list[Scalar] = [0.0] * count
        for k, number in self.same.items():
            found[k] = moved[number]
        for k, row in self.share.items():
            found[k] = total(a * moved[number] for number, a in row.items())
        return found

    def efforts(self, tau: Sequence[Scalar]) -> list[Scalar]:
        """Efforts on the pieces with the same power."""
        found: list[Scalar] = [0.0] * len(self.tree.rates)
        for k, number in self.same.items():
            found[number] = tau[k]
        for k, row in self.share.items():
            for number, a in row.items() if not is_zero(tau[k]) else ():
                found[number] = found[number] + a * tau[k]
        return found


def taken_apart(tracer: Tracer, here: TreeState, closures: Sequence[Closure], formula: FormulaAt) -> Pieces | None:
    """The pieces into which a tree with many loops falls; None if it has few, or if they cannot be solved like this."""
    tree, bodies = here.tree, here.bodies
    cut = joints_to_cut(tree, closures)
    if not cut or not all(pose.rotation.index == 2 and is_constant(pose.position[2]) for pose in bodies):
        return None
    if not all(is_zero(bodies[k].position[2]) for k in cut):
        return None
    floating, same, first = _floating(tree, cut)
    there, speeds = _state(here, cut)
    joints = {k: _cut_joint(tree.nodes[k]) for k in cut}
    holding = [HELD_BY[type(joint.joint)](joint.joint, joint.name, joint.a, joint.b) for joint in joints.values()]
    closed = [closure for closure in holding if closure is not None]
    held = rows(floating, closed, there, speeds, tracer, [[None] * len(closure.motions) for closure in closed], formula)
    pieces = Pieces(floating, there, speeds, same, joints, first, held, {}, {})
    return _with_rates(tracer, pieces)


def joints_to_cut(tree: Tree, closures: Sequence[Closure]) -> list[int]:
    """Numbers of the nodes whose joints are taken apart: going inward, wherever two loops, or pieces, have come together."""
    if any(closure.frames is None for closure in closures) or any(node.as_published for node in tree.nodes):
        return []
    ends = [0] * len(tree.nodes)
    for closure in closures:
        for frame in closure.frames or ():
            if frame.body != GROUND:
                ends[tree.index(frame.body)] += 1
    branch = [k if node.parent == ROOT else ROOT for k, node in enumerate(tree.nodes)]
    for k, node in enumerate(tree.nodes):
        branch[k] = k if node.parent == ROOT else branch[node.parent]
    loops = [sum(ends[k] for k, own in enumerate(branch) if own == root) for root in range(len(tree.nodes))]
    cut = []
    for k in reversed(range(len(tree.nodes))):
        node = tree.nodes[k]
        if node.parent == ROOT or loops[branch[k]] <= FEW_LOOPS:
            continue
        if ends[k] >= LOOPS_PER_PIECE and _can_float(tree, node):
            cut.append(k)
            ends[node.parent] += 1
        else:
            ends[node.parent] += ends[k]
    return sorted(cut)


def _can_float(tree: Tree, node: Node) -> bool:
    """Whether a closure can hold its joint, no motion or rotor of which is given, and inertia resists every motion of the body."""
    joint, body = node.link.joint, node.link.body
    if not isinstance(joint, (Revolute, Prismatic)) or joint.prescribed or any(slot.v in tree.rotors for slot in node.slots):
        return False
    if isinstance(body, RigidBody):
        shape = node.shape([], [])
        spin = shape.inertia()[2][2]
        x, y, _ = shape.moment
        return bool(shape.fields.mass > 0.0) and bool(spin * shape.fields.mass - x * x - y * y > 0.0)
    return isinstance(body, Beam)


def _floating(tree: Tree, cut: Sequence[int]) -> tuple[Tree, dict[int, int], dict[int, tuple[int, int]]]:
    """The tree of the pieces; the rates that it shares with the tree; coordinates and rates of the joints taken apart."""
    apart = System("pieces", (0.0, 0.0, 0.0))
    for k, node in enumerate(tree.nodes):
        apart.links[node.name] = replace(node.link, joint=Planar(), on=Frame(GROUND)) if k in cut else node.link
    built = build_tree(apart, {id(node.link.body): tree.bodies[node.name] for node in tree.nodes})
    same, first = dict[int, int](), dict[int, tuple[int, int]]()
    for k, (node, piece) in enumerate(zip(tree.nodes, built.nodes, strict=True)):
        if k in cut:
            first[k] = (node.slots[0].q, node.slots[0].v)
        else:
            same |= {own.v: other.v for own, other in zip(node.slots, piece.slots, strict=True)}
        same |= dict(zip(node.own_v, piece.own_v, strict=True))
    rotors = {same[k]: rotor for k, rotor in tree.rotors.items()}
    return replace(built, gravity=tree.gravity, rotors=rotors), same, first


def _state(here: TreeState, cut: Sequence[int]) -> tuple[list[Scalar], list[Scalar]]:
    """Coordinates and rates of the pieces where the tree is; in a plane, one of each for every motion."""
    there: list[Scalar] = []
    speeds: list[Scalar] = []
    q, v = here.q, here.v
    for k, node in enumerate(here.tree.nodes):
        if k in cut:
            pose, twist = here.bodies[k], here.moving[k]
            there += [*pose.position[:2], pose.rotation.angle]
            speeds += [*pose.rotation.out(twist.velocity)[:2], twist.omega[2]]
        else:
            there += [q[slot.q] for slot in node.slots]
            speeds += [v[slot.v] for slot in node.slots]
        there += [q[i] for i in node.own_q]
        speeds += [v[i] for i in node.own_v]
    return there, speeds


def _cut_joint(node: Node) -> CutJoint:
    return CutJoint(node.name, node.link.joint, Frame(node.name), node.link.on, (0.0,))


def _with_rates(tracer: Tracer, pieces: Pieces) -> Pieces:
    """With how the joints' rates depend on those of the pieces, and their derivatives along the motion."""
    q_column, q = tracer.symbols("piece", len(pieces.q))
    v_column, v = tracer.symbols("piece_rate", len(pieces.v))
    here = TreeState.of(pieces.tree, q, v)
    states = [cut_joint_state(here, joint) for joint in pieces.joints.values()]
    joint_rates = [state.coordinates[0].rates[0] for state in states]
    pattern = tracer.sparse_jacobian(joint_rates, v_column)
    # with the pieces' accelerations zero; in a plane, coordinates change at their rates
    biases = tracer.directional(joint_rates, q_column, v_column)
    flat = [*biases, *(x for row in pattern for x in row.values())]
    for column, now in ((v_column, pieces.v), (q_column, pieces.q)):
        flat = tracer.substitute(flat, column, tracer.column(now))
    numbers = [own for _, own in pieces.first.values()]
    entries = iter(flat[len(biases) :])
    share = {k: {number: next(entries) for number in row} for k, row in zip(numbers, pattern, strict=True)}
    return replace(pieces, bias=dict(zip(numbers, flat, strict=False)), share=share)


def solve_apart(
    tracer: Tracer, pieces: Pieces, found: ConstraintRows, every: ConstraintRows, applied: AppliedForces,
    known: Mapping[int, Scalar], baumgarte: Scalar | None, column: ca.SX, count: int, after: int,
) -> tuple[Forward, Solved]:  # fmt: skip
    """Forward dynamics of the tree with its loops closed; see `solve`. found, every: rows over the rates of the pieces."""
    held = joined(found, pieces.held, after)
    more, reactions = tracer.symbols("joint_multiplier", len(pieces.held.residual))
    there = AppliedForces(pieces.efforts(applied.tau), applied.loads)
    push(held, [*tracer.scalars(column), *reactions], there)
    accelerations = {pieces.same[k]: x for k, x in known.items()}
    forward = articulated.forward_dynamics(Driven(pieces.tree, pieces.q, pieces.v, there.tau, there.loads, accelerations))
    both = ca.vertcat(column, more)
    done = solve(tracer, held, joined(every, pieces.held, after), both, forward.accelerations, baumgarte)
    of_pieces = {number: k for k, number in pieces.same.items()}
    names = list(forward.efforts)
    efforts = tracer.substitute([forward.efforts[k] for k in names], both, tracer.column(done.multipliers)) if names else []
    closed = pieces.rates(done.accelerations, count)
    for k, bias in pieces.bias.items():
        closed[k] = closed[k] + bias
    own = Solved(closed, done.multipliers[: column.numel()], pieces.rates(done.shift, count), pieces.rates(done.slow, count))
    return Forward(closed, {of_pieces[k]: x for k, x in zip(names, efforts, strict=True)}), own


def joined(first: ConstraintRows, second: ConstraintRows, after: int) -> ConstraintRows:
    """All rows of both; after: the number of the second one's first owner."""
    return ConstraintRows(
        owners=(*first.owners, *(owner + after for owner in second.owners)),
        directions=(*first.directions, *second.directions),
        angular=(*first.angular, *second.angular),
        residual=[*first.residual, *second.residual],
        rate=[*first.rate, *second.rate],
        drift=[*first.drift, *second.drift],
        gamma=[*first.gamma, *second.gamma],
        jacobian=[*first.jacobian, *second.jacobian],
    )
