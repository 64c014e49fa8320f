"""Where lines are deepest in boxes and cylinders with sharp edges, against a search on ever finer grids."""

import numpy as np
import pytest

from pliant.dynamics.curves import Circle, Straight, deepest_of_circle, deepest_of_line
from pliant.dynamics.targets import CROWN, DistanceOfBox, DistanceOfCylinder

TRIED = 150
RING = np.linspace(-0.5, 0.5, 101)
SHALLOW = 0.1  # m deep at most: deeper in a solid, the nearest surface may be on its other side


def box(random):
    return DistanceOfBox((0.0, 0.0, 0.0), ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)), tuple(random.uniform(0.2, 1.0, 3)))


def cylinder(random):
    return DistanceOfCylinder((0.0, 0.0, 0.0), (0.0, 0.0, 1.0), random.uniform(0.2, 1.0), random.uniform(0.2, 1.0))


def beyond(solid, curve, xs):
    """The largest distance beyond a surface at every place."""
    places = np.array([curve.at(x)[0] for x in xs]).T
    if isinstance(solid, DistanceOfBox):
        found = np.max(np.abs(places) - np.array(solid.halves)[:, None], axis=0)
    else:
        found = np.maximum(np.hypot(places[0], places[1]) - solid.radius, np.abs(places[2]) - solid.half)
    low, high = curve.ends
    return found + (CROWN * curve.length * ((2.0 * xs - low - high) / (high - low)) ** 2 if isinstance(curve, Straight) else 0.0)


def searched(solid, curve, low, high):
    for _ in range(9):
        xs = np.linspace(low, high, 41)
        found = beyond(solid, curve, xs)
        k = int(np.argmin(found))
        low, high = xs[max(k - 1, 0)], xs[min(k + 1, 40)]
    return float(found.min())


@pytest.mark.parametrize("made", [box, cylinder])
def test_a_straight_line_is_deepest_where_a_search_finds_it(made):
    random, compared, crossings = np.random.default_rng(3), 0, 0
    for _ in range(TRIED):
        solid, way, middle = made(random), random.normal(size=3), random.normal(0.0, 0.6, 3)
        line = Straight(tuple(middle - 0.5 * way), tuple(way))
        found = deepest_of_line(line, solid, 0.5)
        if -SHALLOW < found.gap < SHALLOW:
            compared, crossings = compared + 1, crossings + (found.share < 0.99)
            assert found.gap == pytest.approx(searched(solid, line, 0.0, 1.0), abs=1e-10)
    assert compared > 15 and crossings > 3


MANY = 5000


def directions(random):
    """Half of them nearly along an axis of the solid."""
    along = random.normal(size=(3, MANY))
    nearly = np.eye(3)[random.integers(0, 3, MANY)].T + 10.0 ** random.uniform(-10.0, 0.0, MANY) * along
    along = np.where(random.random(MANY) < 0.5, nearly, along)
    return along / np.linalg.norm(along, axis=0)


def circle_across(along, radius, middle, steps=Circle.steps):
    first = np.cross(along.T, np.roll(along, 1, axis=0).T).T
    first *= radius / np.linalg.norm(first, axis=0)
    return Circle(tuple(middle), (tuple(first), tuple(np.cross(along.T, first.T).T)), steps)


@pytest.mark.parametrize("made", [box, cylinder])
def test_a_circle_is_deepest_where_a_search_all_round_finds_it(made):
    """Also where its end lies across an edge or a side, and it is about as deep at two places."""
    random = np.random.default_rng(5)
    solid, circle = made(random), circle_across(directions(random), 0.3, random.normal(0.0, 0.6, (3, MANY)))

    def most(x):
        return np.max([one.excess for one in solid.surfaces(*circle.at(x))], axis=0)

    least, arc = RING[np.argmin([most(x) for x in RING], axis=0)], RING[1] - RING[0]
    for _ in range(12):
        tried = least + np.linspace(-arc, arc, 11)[:, None]
        least = np.take_along_axis(tried, np.argmin([most(x) for x in tried], axis=0)[None], 0)[0]
        arc *= 0.25
    touches, gap = np.abs(most(least)) < SHALLOW, deepest_of_circle(circle, solid).gap
    assert touches.sum() > 100
    assert np.mean((gap > most(least) + 1e-8)[touches]) < 2e-3


@pytest.mark.parametrize("kind, made", [(Straight, cylinder), (Circle, box), (Circle, cylinder)])
def test_a_search_has_converged(kind, made):
    """Many at once, half of them nearly along an axis of the solid, moved until they touch: further steps find nothing else."""
    random = np.random.default_rng(11)
    solid = made(random)
    along = directions(random)
    size, middle = 10.0 ** random.uniform(-1.0, 0.5, MANY), random.normal(0.0, 0.6, (3, MANY))

    def search(off, steps):
        """Of an edge from where it is nearest to the axis of the cylinder."""
        if kind is Straight:
            begin, way = middle + off - 0.5 * size * along, size * along
            start = np.clip(-np.sum(begin[:2] * way[:2], axis=0) / np.sum(way[:2] ** 2, axis=0), 0.0, 1.0)
            curve = type("Line", (Straight,), {"steps": steps})(tuple(begin), tuple(way))
            found = deepest_of_line(curve, solid, start)
        else:
            curve = circle_across(along, 0.5 * size, middle + off, steps)
            found = deepest_of_circle(curve, solid)
        return curve, found.gap, found.share, np.array(np.broadcast_arrays(*found.normal))

    off = np.zeros((3, MANY))
    for _ in range(6):  # near to where they touch
        _, gap, _, normal = search(off, kind.steps)
        off = off - 0.9 * (gap + 1e-4) * normal
    curve, gap, share, normal = search(off, kind.steps)
    _, final, _, out = search(off, 40)
    xs = np.linspace(*curve.ends, 101)
    shallow = np.min([np.max([one.excess for one in solid.surfaces(*curve.at(x))], axis=0) for x in xs], axis=0) > -SHALLOW
    assert shallow.sum() > 0.5 * MANY and np.count_nonzero(shallow & (share < 0.99)) > 0.1 * MANY
    np.testing.assert_allclose(gap[shallow], final[shallow], atol=1e-9)
    np.testing.assert_allclose(normal[:, shallow], out[:, shallow], atol=1e-6)


def test_of_three_surfaces_as_far_away_the_two_count_that_a_circle_crosses():
    """Beside a corner of a box: the gap changes as its normal and its share say."""
    random = np.random.default_rng(7)
    solid, along, middle = box(random), directions(random), random.normal(0.0, 0.6, (3, MANY))

    def found_at(off):
        found = deepest_of_circle(circle_across(along, 0.3, middle + off), solid)
        return found, np.array(np.broadcast_arrays(*found.normal))

    for _ in range(6):  # near to where they touch
        found, normal = found_at(0.0)
        middle = middle - 0.9 * (found.gap + 1e-4) * normal
    at_edge, _ = found_at(0.0)
    surfaces = solid.surfaces(at_edge.point)
    excess = np.array([one.excess for one in surfaces])
    outward = np.array([np.broadcast_arrays(*one.outward, np.empty(MANY))[:3] for one in surfaces])
    third = np.take_along_axis(outward, np.argmin(excess, axis=0)[None, None], 0)[0]
    short = random.uniform(0.1, 1.0, MANY) * 3e-7  # of the corner
    middle = middle + (np.max(excess, axis=0) - np.min(excess, axis=0) - short) * third
    found, normal = found_at(0.0)
    beside = (at_edge.share < 0.99) & (np.abs(found.gap) < SHALLOW)
    assert beside.sum() > 500
    for way in random.normal(size=(4, 3, 1)):
        change = (found_at(1e-9 * way)[0].gap - found_at(-1e-9 * way)[0].gap) / 2e-9
        assert np.mean(np.abs(change - found.share * np.sum(normal * way, axis=0))[beside] > 1e-4) < 5e-3
