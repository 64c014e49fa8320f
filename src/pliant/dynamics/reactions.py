"""What every joint transmits: Newton and Euler for each body, from the tips to the ground, at known accelerations.

The wrench on a body from its inboard joint is what its own motion asks for, less what acts on it, plus what it hands on to the
bodies it carries. It holds all that goes through the joint: reactions across the free directions, and along them the efforts of
springs, dampers, drives and prescribed motions. Where joints are apart from the tree (`absolute_coordinates`) it is theirs too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pliant.dynamics.algebra import Scalar, Vec, add, cross, sub
from pliant.dynamics.gibbs_appell import Wrench, frame_wrench, outward
from pliant.dynamics.kinematics import Pose
from pliant.dynamics.loads import BodyLoad
from pliant.dynamics.tree import ROOT, Tree


def reactions(
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    a: Sequence[Scalar],
    bodies: Sequence[Pose],
    loads: Sequence[BodyLoad],
    closing: Mapping[int, Wrench],
) -> list[Wrench]:
    """(moment about the body's origin, force) of every inboard joint on its body, in world axes.

    closing: what closures do to bodies, moment about the body's origin and force, in world axes too.
    """
    motions = outward(tree, q, v, a, tree.gravity)
    found: list[Wrench] = []
    for k, (node, pose, load) in enumerate(zip(tree.nodes, bodies, loads, strict=True)):
        moment, force = frame_wrench(node, q, v, a, motions[k])
        n, f = pose.rotation.out(sub(moment, load.moment)), pose.rotation.out(sub(force, load.force))
        if k in closing:
            n, f = sub(n, closing[k][0]), sub(f, closing[k][1])
        found.append((n, f))
    for k in reversed(range(len(found))):
        parent = _stands_on(tree, k)
        if parent != ROOT:
            arm: Vec = sub(bodies[k].position, bodies[parent].position)
            n, f = found[k]
            found[parent] = (add(found[parent][0], add(n, cross(arm, f))), add(found[parent][1], f))
    return found


def _stands_on(tree: Tree, k: int) -> int:
    """What carries a body: its parent, or where both float, the body its joint stood on, which comes earlier too."""
    for cut_joint in tree.cut_joints:
        if cut_joint.a.body == tree.nodes[k].name:
            return tree.place(cut_joint.b).node
    return tree.nodes[k].parent
