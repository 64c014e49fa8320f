"""Directions normal to a vector."""

import numpy as np
import pytest

from pliant.dynamics.tangents import tangents_of

NORMALS = np.random.default_rng(5).normal(size=(40, 3))


@pytest.mark.parametrize("normal", NORMALS / np.linalg.norm(NORMALS, axis=1, keepdims=True))
def test_tangents_and_normal_are_orthonormal(normal):
    frame = np.array([normal, *tangents_of(tuple(normal))])
    assert frame @ frame.T == pytest.approx(np.eye(3), abs=1e-14)


@pytest.mark.parametrize("axis", [*np.eye(3), *-np.eye(3)])
def test_tangents_do_not_jump_where_bodies_are_drawn(axis):
    """Near the axes and in the planes between them, where round-off decides on the sign of a component."""
    others = [np.roll(axis, 1), np.roll(axis, 2)]
    for tilt in (0.0, 0.3, 0.8):
        near = np.cos(tilt) * axis + np.sin(tilt) * others[0]
        sides = [tangents_of(tuple(near + e * others[1])) for e in (1e-9, -1e-9)]
        assert np.array(sides[0]) == pytest.approx(np.array(sides[1]), abs=1e-8)
