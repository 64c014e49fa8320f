"""Quaternions of rotations."""

import numpy as np
import pytest

from pliant.dynamics.rotation import Rotation, about, from_quaternion, quaternion_of

AXES = [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (0.6, 0.0, 0.8), (-0.36, 0.48, 0.8), (0.8, -0.6, 0.0)]


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("angle", [0.0, 1e-9, 0.3, 1.6, np.pi - 1e-9, np.pi, 3.3, -2.0, 6.0])
def test_a_quaternion_gives_its_rotation_back(axis, angle):
    """Of every branch: about an axis, near no turn, near half a turn about each axis."""
    for rotation in (about(axis, angle), Rotation(None, 0.0, about(axis, angle).matrix)):
        q = quaternion_of(rotation)
        assert np.linalg.norm(q) == pytest.approx(1.0, abs=1e-15)
        assert np.allclose(from_quaternion(q).matrix, rotation.matrix, atol=4e-15)
