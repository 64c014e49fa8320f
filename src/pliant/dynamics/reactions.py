"""Joint reactions: Newton-Euler equations for each body, from the tips to the ground, at known accelerations.

The wrench of the inboard joint on a body is the wrench required by the body's motion, minus the applied loads, plus the wrenches on
the bodies it carries. It includes everything that the joint transmits: reactions normal to the free directions, and along them the
efforts of springs, dampers, drives and prescribed motions. The same holds for joints outside the tree (`absolute_coordinates`).
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

    closing: wrenches of closures on bodies, moment about the body's origin and force, also in world axes.
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
    """The body that carries a body: its parent, or if both float, the inboard body of its joint, which also comes earlier."""
    for cut_joint in tree.cut_joints:
        if cut_joint.a.body == tree.nodes[k].name:
            return tree.place(cut_joint.b).node
    return tree.nodes[k].parent
