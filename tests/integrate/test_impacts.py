"""The impulse of one contact under Coulomb's law, for any mobility of the mechanism at the contact."""

import math

import numpy as np
import pytest

from pliant.integrate.loop.impacts import _solved


def solved(mobility, free, mu, least, wanted):
    (nn, nx, ny), (_, xx, xy), (*_, yy) = mobility
    return np.array(_solved(mu, nn, nx, ny, xx, xy, yy, *free, least, wanted))


def deviation(mobility, free, mu, least, wanted):
    """How far the impulse is from the law: apart as wanted, or the least one; within the cone, and against the slip if it slips."""
    impulse = solved(mobility, free, mu, least, wanted)
    after = free + mobility @ impulse
    size, most = np.abs(free).max() + np.abs(mobility @ impulse).max(), mu * impulse[0]
    apart = abs(after[0] - wanted) if impulse[0] > least else max(wanted - after[0], 0.0)
    slip = np.hypot(*after[1:])
    if slip > 1e-6 * size:
        return max(apart / size, np.abs(impulse[1:] + most * after[1:] / slip).max() / max(most, 1e-12))
    return max(apart / size, (np.hypot(*impulse[1:]) - most) / max(most, 1e-12))


@pytest.mark.parametrize("least", [0.0, 0.4])
def test_any_contact_sticks_or_slips_against_its_friction(least):
    rng = np.random.default_rng(7)
    worst = slipped = 0
    for _ in range(3000):
        levers = rng.normal(size=(3, 3)) * 10.0 ** rng.uniform(-1.0, 1.0, size=(3, 1))
        free = rng.normal(size=3)
        free[0] = -abs(free[0])
        mu, mobility = 10.0 ** rng.uniform(-2.0, 0.3), levers @ levers.T
        own = least * -free[0] / mobility[0, 0]
        wanted = 0.0 if least else -rng.uniform() * free[0]
        worst = max(worst, deviation(mobility, free, mu, own, wanted))
        slipped += np.hypot(*solved(mobility, free, mu, own, wanted)[1:]) > 0.999 * mu * solved(mobility, free, mu, own, wanted)[0]
    assert worst < 1e-6 and 1000 < slipped < 2900


@pytest.mark.parametrize("tilt", [1e-17, 1e-8, 1e-5, 8e-4])
def test_a_normal_that_hardly_leaves_a_plane_mechanism_leaves_the_impulse_alone(tilt):
    """Motion in a plane: only the tangent within it can move, and the other only with what the tilt gives it."""
    forward = np.array([0.13, math.sqrt(1.0 - 0.13**2), 0.0])
    across = np.array([forward[1], -forward[0], 0.0])

    def struck(tilt):
        normal = (forward + np.array([0.0, 0.0, tilt])) / math.hypot(1.0, tilt)
        rows = normal, across, np.cross(normal, across)
        levers = np.array([[d[0], d[1], -0.1 * (normal[0] * d[1] - normal[1] * d[0])] for d in rows])
        inverse = np.diag([1.0, 1.0, 250.0])
        free = levers @ [0.0, -4.1, 3.0]
        return inverse @ levers.T @ solved(levers @ inverse @ levers.T, free, 0.3, 0.0, -0.5 * free[0])

    np.testing.assert_allclose(struck(tilt), struck(0.0), rtol=2.0 * tilt + 1e-12, atol=2.0 * tilt)
