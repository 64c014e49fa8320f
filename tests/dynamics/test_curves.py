"""Where lines are deepest in boxes and cylinders with sharp edges, against a search on ever finer grids."""

import numpy as np
import pytest

from pliant.dynamics.curves import Circle, Straight, deepest
from pliant.dynamics.solid_pairs import outside
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
        found = deepest(line, solid, 0.5)
        if -SHALLOW < found.gap < SHALLOW:
            compared, crossings = compared + 1, crossings + (found.share < 0.99)
            assert found.gap == pytest.approx(searched(solid, line, 0.0, 1.0), abs=1e-10)
    assert compared > 15 and crossings > 3


@pytest.mark.parametrize("made", [box, cylinder])
def test_a_circle_is_deepest_nowhere_nearby(made):
    random, compared = np.random.default_rng(5), 0
    for _ in range(TRIED):
        solid, axis, middle = made(random), random.normal(size=3), random.normal(0.0, 0.6, 3)
        axis /= np.linalg.norm(axis)
        up = np.array(outside(solid, tuple(middle), 0.0).normal)
        lowest = up @ axis * axis - up
        lowest /= np.linalg.norm(lowest)
        across = np.cross(axis, lowest)
        circle = Circle(tuple(middle), (tuple(0.5 * lowest), tuple(0.5 * across)))
        found = deepest(circle, solid, 0.0)
        if -SHALLOW < found.gap < SHALLOW:
            if min(beyond(solid, Circle(circle.middle, tuple(tuple(share * np.array(r)) for r in circle.radii)), RING).min()
                   for share in np.linspace(0.0, 1.0, 21)) < -SHALLOW:  # fmt: skip
                continue  # the end of a cylinder with this rim would be deep in the solid
            compared += 1
            off = np.array(found.point) - np.array(circle.middle)
            x = np.arctan2(off @ across, off @ lowest) / (2.0 * np.pi)
            assert found.gap == pytest.approx(searched(solid, circle, x - 1e-3, x + 1e-3), abs=1e-10)
    assert compared > 15


MANY = 5000


@pytest.mark.parametrize("kind, made", [(Straight, cylinder), (Circle, box), (Circle, cylinder)])
def test_a_search_has_converged(kind, made):
    """Many at once, half of them nearly along an axis of the solid, moved until they touch: further steps find nothing else."""
    random = np.random.default_rng(11)
    solid = made(random)
    along = random.normal(size=(3, MANY))
    nearly = np.eye(3)[random.integers(0, 3, MANY)].T + 10.0 ** random.uniform(-10.0, 0.0, MANY) * along
    along = np.where(random.random(MANY) < 0.5, nearly, along)
    along /= np.linalg.norm(along, axis=0)
    size, middle = 10.0 ** random.uniform(-1.0, 0.5, MANY), random.normal(0.0, 0.6, (3, MANY))

    def search(off, steps):
        """From where edges and rims begin it: nearest to the axis of the cylinder, and lowest."""
        if kind is Straight:
            begin, way = middle + off - 0.5 * size * along, size * along
            start = np.clip(-np.sum(begin[:2] * way[:2], axis=0) / np.sum(way[:2] ** 2, axis=0), 0.0, 1.0)
            curve = type("Line", (Straight,), {"steps": steps})(tuple(begin), tuple(way))
        else:
            up = np.array(np.broadcast_arrays(*outside(solid, tuple(middle + off), 0.0).normal))
            lowest = np.sum(up * along, axis=0) * along - up
            lowest *= 0.5 * size / np.linalg.norm(lowest, axis=0)
            start, curve = 0.0, Circle(tuple(middle + off), (tuple(lowest), tuple(np.cross(along.T, lowest.T).T)), steps)
        found = deepest(curve, solid, start)
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
