"""A six-axis robot from URDF and MJCF: its accelerations are those of Pinocchio and MuJoCo.

The reference numbers are written by `benchmarks/robot_references.py`, which runs both in environments of their own and notes their
versions beside the numbers.
"""

from functools import partial

import numpy as np
import pytest
from robot_references import AXES, DATA, STATES, STRENGTHS, states

import pliant as pl
from pliant.trace.tracing import trace

JOINTS = [f"joint{k + 1}" for k in range(AXES)]
# the last number: errors allowed, of the largest acceleration of a state
PEERS = [("pinocchio", pl.read_urdf, "six_axis.urdf", 1e-12), ("mujoco", pl.read_mjcf, "six_axis.xml", 1e-9)]
REFERENCE = np.load(DATA / "six_axis.npz")


def torque(k, own, after, t, q, v):
    return STRENGTHS[k] * (pl.sin(q[own] + k) - 0.1 * v[after])


def driven(robot):
    """With the torques of the reference."""
    names = [robot.coordinates[joint] for joint in JOINTS]
    for k, name in enumerate(names):
        robot.drive(f"drive{k}", name, partial(torque, k, name, names[(k + 1) % AXES]))
    return robot


def accelerations(robot, q, v):
    traced = trace(robot)
    p, work = traced.parameters(0.0, 1.0), np.zeros(len(traced.sources))
    rows = [np.array(traced.rhs(0.0, np.concatenate([*state, work]), p)).ravel() for state in zip(q, v, strict=True)]
    return np.array(rows)[:, AXES : 2 * AXES]


@pytest.mark.parametrize(("peer", "read", "file", "within"), PEERS)
def test_accelerations_are_those_of_the_peer_at_a_thousand_states(peer, read, file, within):
    robot = driven(read(DATA / file, stops=False))
    q, v = states()
    assert np.array_equal(q, REFERENCE["q"]) and np.array_equal(v, REFERENCE["v"]) and len(q) == STATES
    found, theirs = accelerations(robot, q, v), REFERENCE[peer]
    size = np.max(np.abs(theirs), axis=1, keepdims=True)
    assert np.max(np.abs(found - theirs) / size) < within
