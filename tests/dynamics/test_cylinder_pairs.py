"""Cylinders exactly where they lie flush, cross and end: pressed in by a known depth, one of all pairs is as deep."""

import math

import pytest

import pliant as pl
from pliant.dynamics.kinematics import Pose
from pliant.dynamics.pairs import touching
from pliant.dynamics.rotation import NO_TURN, Rotation

DEPTH = 1e-4  # m
CAN, ROD = (0.06, 0.1), (0.02, 0.3)  # m: radius and length
COIN = (0.1, 0.02)
TABLE = (1.0, 1.0, 0.05)
QUARTER = 0.5 * math.pi
# what lies on what, each with the turns of its frame, and where the first one's middle is when both just touch
POSES = {
    "cylinders side by side": ((CAN, "z"), (0.12, 0.0, 0.0), (CAN, "z"), (1, 0, 0)),
    "cylinders side by side, a bit along": ((CAN, "z"), (0.12, 0.0, 1e-3), (CAN, "z"), (1, 0, 0)),
    "coins side by side": ((COIN, "z"), (0.2, 0.0, 0.0), (COIN, "z"), (1, 0, 0)),
    "a cylinder on a block as wide as it is long": ((CAN, "y"), (0.0, 0.0, 0.11), (0.2, 0.1, 0.1), (0, 0, 1)),
    "a cylinder on a block a bit wider": ((CAN, "y"), (0.0, 0.0, 0.11), (0.2, 0.1001, 0.1), (0, 0, 1)),
    "a cylinder on a block a bit narrower": ((CAN, "y"), (0.0, 0.0, 0.11), (0.2, 0.0999, 0.1), (0, 0, 1)),
    "a cylinder along the edge of a block": ((CAN, "y"), (0.1, 0.0, 0.11), (0.2, 0.3, 0.1), (0, 0, 1)),
    "rods that cross": ((ROD, "x"), (0.0, 0.0, 0.04), (ROD, "y"), (0, 0, 1)),
    "a rod that ends where it crosses another one": ((ROD, "x"), (0.15, 0.0, 0.04), (ROD, "y"), (0, 0, 1)),
    "rods that cross where both end": ((ROD, "x"), (0.15, 0.15, 0.04), (ROD, "y"), (0, 0, 1)),
    "rods that cross a bit before both end": ((ROD, "x"), (0.145, 0.145, 0.04), (ROD, "y"), (0, 0, 1)),
    "a cylinder that stands on an equal one": ((CAN, "z"), (0.0, 0.0, 0.1), (CAN, "z"), (0, 0, 1)),
    "a cylinder that stands on half of an equal one": ((CAN, "z"), (0.06, 0.0, 0.1), (CAN, "z"), (0, 0, 1)),
    "a cylinder that stands on the border of an equal one": ((CAN, "z"), (0.1, 0.0, 0.1), (CAN, "z"), (0, 0, 1)),
    "a cylinder that stands on a block": ((CAN, "z"), (0.0, 0.0, 0.1), (0.3, 0.3, 0.1), (0, 0, 1)),
    "a cylinder with its middle above an edge": ((CAN, "z"), (0.1, 0.0, 0.1), (0.2, 0.3, 0.1), (0, 0, 1)),
    "a cylinder on a block that is as wide as its end": ((CAN, "z"), (0.0, 0.0, 0.1), (0.12, 0.12, 0.1), (0, 0, 1)),
    "a cylinder on a post": ((CAN, "z"), (0.0, 0.0, 0.1), (0.04, 0.04, 0.1), (0, 0, 1)),
}
TURNS = {"as it is": [], **{f"turned about {axis}": [Rotation(k, QUARTER)] for k, axis in enumerate("xyz")}}


def pairs_of(first, second):
    """All pairs of the two shapes, each with whether the second shape is its first one."""
    system = pl.System("s", gravity=(0, 0, 0))
    shapes = []
    for name, shape in (("a", first), ("b", second)):
        at = system.add(name, pl.RigidBody(mass=1.0, inertia=(1.0, 1.0, 1.0)), joint=pl.Free()).root
        shapes.append(pl.Cylinder(at, *shape[0], axis=shape[1]) if len(shape) == 2 else pl.Box(at, shape))
    system.contact(points=shapes[0], against=shapes[1], normal=pl.Hertz(stiffness=1e6))
    return [(pair, pair.frames[0].body == "b") for pair in system.contacts.values()]


@pytest.mark.parametrize("turn", TURNS)
@pytest.mark.parametrize("pose", POSES)
def test_what_is_pressed_in_is_as_deep_as_it_is_pressed(pose, turn):
    """To a hundredth: flush with an edge, a cylinder touches that little later, and so does one where another one ends."""
    first, place, second, normal = POSES[pose]
    rotation = NO_TURN
    for one in TURNS[turn]:
        rotation = rotation.then(one)
    pairs = pairs_of(first, second)
    for depth in (DEPTH, -DEPTH):
        upper = Pose(rotation.out(tuple(x - depth * n for x, n in zip(place, normal, strict=True))), rotation)
        lower = Pose((0.0, 0.0, 0.0), rotation)
        found = [touching(pair, lower, upper) if swapped else touching(pair, upper, lower) for pair, swapped in pairs]
        deepest = min(found, key=lambda one: one.gap)
        assert deepest.gap == pytest.approx(-depth, rel=0.1 if "end" in pose and "rod" in pose else 0.06)
        if depth > 0.0:
            sign = -1.0 if pairs[found.index(deepest)][1] else 1.0
            out = rotation.out(tuple(map(float, normal)))
            assert sum(sign * x * y for x, y in zip(deepest.normal, out, strict=True)) == pytest.approx(1.0, abs=0.02)


def test_a_short_cylinder_across_an_equal_one_is_deep_in_it_before_its_ends_are():
    """Coins on edge, crossed: their bands are flat for 1 cm, which at this radius ends 0.5 mm below the top."""
    pairs = pairs_of((COIN, "z"), (COIN, "y"))
    for depth in (1e-5, 2e-5):
        poses = Pose((0.2 - depth, 0.0, 0.0), NO_TURN), Pose((0.0, 0.0, 0.0), NO_TURN)
        found = [touching(pair, *(poses[::-1] if swapped else poses)).gap for pair, swapped in pairs]
        assert min(found) == pytest.approx(-depth, rel=1e-6)


def test_cans_that_cross_near_an_end_hold_each_other_however_deep_they_are_pressed():
    """A place of a side at a little way from the end is deep in the other one before the rim is."""
    pairs = pairs_of((CAN, "y"), (CAN, "x"))
    for way in (3e-3, 1e-2, 2e-2, 3e-2):
        for depth in (way**2 / 0.12 * share for share in (0.5, 0.9, 1.0, 1.1, 2.0)):  # at 1.0 the rim begins to touch
            poses = Pose((0.0, 0.05 - way, 0.12 - depth), NO_TURN), Pose((0.0, 0.0, 0.0), NO_TURN)
            found = [touching(pair, *(poses[::-1] if swapped else poses)).gap for pair, swapped in pairs]
            assert -depth * (1.0 + 1e-9) <= min(found) < -0.55 * depth
