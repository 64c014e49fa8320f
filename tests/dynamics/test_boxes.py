"""Two boxes in space: together their corners and crossing edges touch exactly where the boxes overlap, and forces have no jumps."""

import math

import numpy as np
import pytest

import pliant as pl
from pliant.dynamics.boxes import LEANING, MARGIN
from pliant.dynamics.kinematics import Pose
from pliant.dynamics.pairs import touching
from pliant.dynamics.rotation import Rotation
from pliant.model.contact import ContactPair, both_ways, touching_parts

SIZES = (0.2, 0.15, 0.1), (0.3, 0.06, 0.12)
POSES = 3000
NEAR = {"any": 1.0, "nearly parallel": 1e-2, "hardly turned": 1e-7}


def pairs():
    system = pl.System("two", gravity=(0, 0, 0))
    boxes = [pl.Box(system.add(name, pl.RigidBody(mass=1.0), joint=pl.Free()).root, size)
             for name, size in zip("ab", SIZES, strict=True)]  # fmt: skip
    return [(one is boxes[0], ContactPair(place, ball, other, pl.Hertz(stiffness=1e6), None))
            for one, other in both_ways(*boxes) for place, ball, _ in touching_parts("contact", one, other)]  # fmt: skip


def turns(random, spread):
    """Rotation matrices (3, 3, n), and `spread` of them near the identity."""
    q = random.normal(size=(4, POSES))
    q[1:] *= spread
    if spread < 1.0:
        q[0] = 1.0
    w, x, y, z = q / np.linalg.norm(q, axis=0)
    return np.array([(1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
                     (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
                     (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y))])  # fmt: skip


def separation(a, b, between):
    """The largest distance between the boxes along the 15 directions of the theorem of separating axes; negative in overlap."""

    def along(n):
        reach = sum(half * np.abs((n * box[:, k]).sum(axis=0)) for box, size in zip((a, b), SIZES, strict=True)
                    for k, half in enumerate(0.5 * np.array(size)))  # fmt: skip
        return np.abs((n * between).sum(axis=0)) - reach

    crossed = [np.cross(a[:, i], b[:, j], axis=0) for i in range(3) for j in range(3)]
    lengths = [np.linalg.norm(n, axis=0) for n in crossed]
    found = [np.where(length > 1e-6, along(n / length), -1.0) for n, length in zip(crossed, lengths, strict=True)]
    return np.max([*(along(n) for n in (*a.transpose(1, 0, 2), *b.transpose(1, 0, 2))), *found], axis=0)


def placed(a, b, random, depth):
    """Where the first box overlaps the second one, at the origin, by this depth, in a random direction."""
    return placed_along(a, b, random.normal(size=(3, POSES)), depth)


def placed_along(a, b, way, depth):
    way = way / np.linalg.norm(way, axis=0)
    low, high = np.zeros(POSES), np.ones(POSES)
    for _ in range(50):
        middle = 0.5 * (low + high)
        overlaps = separation(a, b, middle * way) < -depth
        low, high = np.where(overlaps, middle, low), np.where(overlaps, high, middle)
    return high * way


def gaps(a, b, between):
    poses = {True: Pose(tuple(between), Rotation(None, 0.0, tuple(map(tuple, a)))),
             False: Pose((0.0, 0.0, 0.0), Rotation(None, 0.0, tuple(map(tuple, b))))}  # fmt: skip
    return np.array([touching(pair, poses[first], poses[not first]).gap for first, pair in pairs()])


@pytest.mark.parametrize("near", NEAR)
def test_boxes_touch_exactly_where_they_overlap(near):
    random = np.random.default_rng(3)
    b = turns(random, 1.0)
    a = np.einsum("ijn,jkn->ikn", b, turns(random, NEAR[near]))
    # a corner beside a face, within the margin of boxes that stand flush, is lower than the edges by what they tilt
    tilt = 0.0 if near == "any" else min(math.acos(LEANING[0]), 5.0 * NEAR[near])
    spare = MARGIN * 0.5 * min(SIZES[0]) * tilt
    for depth in (1e-4, 1e-6):
        assert gaps(a, b, placed(a, b, random, -depth)).min() > -spare
        found = -gaps(a, b, placed(a, b, random, depth)).min(axis=0)
        assert found.min() > 0.3 * depth and found.max() < depth * (1.0 + 1e-6) + spare
        assert np.mean(found > 0.999 * depth) > 0.97  # but where corners and edges are within a depth of each other


def test_forces_have_no_jumps():
    """The depth of every pair changes by no more than its points move."""
    random = np.random.default_rng(4)
    step = 1e-5
    b = turns(random, 1.0)
    for near in NEAR.values():
        a = np.einsum("ijn,jkn->ikn", b, turns(random, near))
        between = placed(a, b, random, 5e-4)
        small = turns(random, step)
        moved = between + step * random.normal(size=between.shape)
        farthest = np.abs(small - np.eye(3)[:, :, None]).sum(axis=(0, 1)) * 0.2 + np.linalg.norm(moved - between, axis=0)
        before, after = (
            np.maximum(-gaps(*pose), 0.0) for pose in ((a, b, between), (np.einsum("ijn,jkn->ikn", small, a), b, moved))
        )
        assert np.all(np.abs(after - before) <= farthest)
        assert np.count_nonzero(before > 0.0) > POSES


@pytest.mark.parametrize("along", range(3))
@pytest.mark.parametrize("across", range(3))
def test_forces_have_no_jumps_where_the_middles_pass_each_other(along, across):
    """At right angles to both edges of a crossing: which of two opposite edges is the nearer one changes there."""
    random = np.random.default_rng([5, along, across])
    a, b = turns(random, 1.0), turns(random, 1.0)
    normal = np.cross(a[:, along], b[:, across], axis=0)
    normal /= np.linalg.norm(normal, axis=0)
    way = random.normal(size=(3, POSES))
    between = placed_along(a, b, way - (way * normal).sum(axis=0) * normal, 1e-3)
    before, after = (np.maximum(-gaps(a, b, between + step * normal), 0.0) for step in (-1e-6, 1e-6))
    assert np.abs(after - before).max() <= 2e-6


def test_round_off_does_not_move_the_points_at_which_a_box_lies_flat_on_another():
    """Tilted by 1e-16, edges cross where they crossed before, and press there, not at an end of an edge."""
    random = np.random.default_rng(5)
    a, b = (np.eye(3)[:, :, None] + 1e-16 * random.normal(size=(3, 3, POSES)) for _ in range(2))
    lying = np.array([0.06, 0.05, 0.5 * (SIZES[0][2] + SIZES[1][2]) - 1e-8])[:, None] + 1e-16 * random.normal(size=(3, POSES))
    poses = {True: Pose(tuple(lying), Rotation(None, 0.0, tuple(map(tuple, a)))),
             False: Pose((0.0, 0.0, 0.0), Rotation(None, 0.0, tuple(map(tuple, b))))}  # fmt: skip
    found = [touching(pair, poses[first], poses[not first]) for first, pair in pairs()]
    pressed = [one for one in found if np.mean(one.gap) < -5e-9]
    assert len(pressed) >= 4
    for one in pressed:
        assert np.ptp(np.broadcast_arrays(*one.point), axis=1).max() < 1e-9
