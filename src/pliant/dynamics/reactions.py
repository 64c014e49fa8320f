"""Joint reactions: Newton-Euler equations for each body, from the tips to the ground, at known accelerations.

The wrench of the inboard joint on a body is the wrench required by the body's motion, minus the applied loads, plus the wrenches on
the bodies it carries. It includes everything that the joint transmits: reactions normal to the free directions, and along them the
efforts of springs, dampers, drives and prescribed motions. The same holds for joints outside the tree (`absolute_coordinates`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pliant.dynamics.algebra import IDENTITY, ZERO, Scalar, Vec, add, cross, scale, sub
from pliant.dynamics.gibbs_appell import Wrench, frame_wrench, outward
from pliant.dynamics.kinematics import TreeState
from pliant.dynamics.loads import BodyLoad
from pliant.dynamics.tree import ROOT, Place, Tree
from pliant.model.telescopic import TelescopicBeam


def reactions(state: TreeState, a: Sequence[Scalar], loads: Sequence[BodyLoad], closing: Mapping[int, Wrench]) -> list[Wrench]:
    """(moment about the body's origin, force) of every inboard joint on its body, in world axes.

    closing: wrenches of closures on bodies, moment about the body's origin and force, also in world axes.
    """
    tree, q, v, bodies = state.tree, state.q, state.v, state.bodies
    motions = outward(tree, q, v, a, tree.gravity)
    found: list[Wrench] = []
    for k, (node, pose, load) in enumerate(zip(tree.nodes, bodies, loads, strict=True)):
        moment, force = frame_wrench(node, q, v, a, motions[k])
        n, f = pose.rotation.out(sub(moment, load.moment)), pose.rotation.out(sub(force, load.force))
        if k in closing:
            n, f = sub(n, closing[k][0]), sub(f, closing[k][1])
        found.append((n, f))
    for k in reversed(range(len(found))):
        parent = _stands_on(tree, k).node
        if parent != ROOT:
            found[parent] = _sum(found[parent], _moved(found[k], sub(bodies[k].position, bodies[parent].position)))
    return found


def of_sleeve(
    state: TreeState, number: int, a: Sequence[Scalar], loads: Sequence[BodyLoad], closing: Mapping[int, Wrench],
    inboard: Sequence[Wrench],
) -> Wrench:  # fmt: skip
    """What the sleeve of a telescopic link exerts on its arm: the inboard reaction less what moves, loads and stands on the sleeve.

    closing: wrenches of closures on sleeves only. inboard: as `reactions` returns them.
    """
    tree, bodies = state.tree, state.bodies
    link, pose = tree.nodes[number].link.body, bodies[number]
    assert isinstance(link, TelescopicBeam)
    motion, along = outward(tree, state.q, state.v, a, tree.gravity)[number], IDENTITY[0]
    # an even rod of length L: the integrals of x^0, x and x^2 over it are m, m L/2 and m L^2/3
    turned = add(cross(motion.alpha, along), cross(motion.omega, cross(motion.omega, along)))
    once, twice = link.sleeve_mass * link.length / 2.0, link.sleeve_mass * link.length**2 / 3.0
    moment = cross(along, add(scale(once, motion.a), scale(twice, turned)))
    force = add(scale(link.sleeve_mass, motion.a), scale(once, turned))
    fixed = loads[number].fixed
    found = (pose.rotation.out(sub(fixed[0], moment)), pose.rotation.out(sub(fixed[1], force)))
    found = _sum(_sum(inboard[number], found), closing.get(number, (ZERO, ZERO)))
    for k, wrench in enumerate(inboard):
        place = _stands_on(tree, k)
        if place.node == number and not place.displacement:
            found = _sum(found, _moved(wrench, sub(bodies[k].position, pose.position)), -1.0)
    return found


def _moved(wrench: Wrench, arm: Vec) -> Wrench:
    """The same wrench about another origin, to which `arm` leads from the new one."""
    return add(wrench[0], cross(arm, wrench[1])), wrench[1]


def _sum(a: Wrench, b: Wrench, sign: float = 1.0) -> Wrench:
    return add(a[0], scale(sign, b[0])), add(a[1], scale(sign, b[1]))


def _stands_on(tree: Tree, k: int) -> Place:
    """The place that carries a body: on its parent, or if both float, on the inboard body of its joint, which comes earlier."""
    for cut_joint in tree.cut_joints:
        if cut_joint.a.body == tree.nodes[k].name:
            return tree.place(cut_joint.b)
    return tree.nodes[k].place
