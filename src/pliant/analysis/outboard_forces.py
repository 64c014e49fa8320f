"""Point forces on bodies in every row of a result: loads, contacts, struts, closures, and the bodies that they carry.

Each is a wrench on one body with its point of application, so that a section of a beam can tell which wrenches are outboard of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import casadi as ca
import numpy as np

from pliant.analysis.recorded_motion import RecordedMotion
from pliant.arrays import Floats
from pliant.codegen.tracer import Scalar
from pliant.dynamics.algebra import IDENTITY, Mat, Vec, add, mat_add, product, skew, sub
from pliant.dynamics.closure_residuals import OF_FRAMES, HeldFrames
from pliant.dynamics.kinematics import place_pose, poses
from pliant.errors import ModelError
from pliant.model.closure import Closure
from pliant.model.force import PointForce
from pliant.model.frame import GROUND, Frame
from pliant.trace.lowered_system import breakpoints
from pliant.trace.tracing import Trace

TWIST = 6  # size of a small motion of a frame: rotation, displacement


@dataclass(frozen=True)
class PlacedWrench:
    """A force and a moment on a body, world axes, in every row."""

    frame: Frame  # the frame it acts on
    point: Floats  # (rows, 3), m
    force: Floats  # (rows, 3), N
    moment: Floats  # (rows, 3) about the point, N m


def placed_wrenches(motion: RecordedMotion) -> list[PlacedWrench]:
    """All external wrenches on all bodies, except those of each body's inboard joint."""
    every = [*_carried(motion), *_contacts(motion), *_struts(motion), *_traced(motion)]
    return [wrench for wrench in every if wrench.frame.body != GROUND]


def _carried(motion: RecordedMotion) -> Iterator[PlacedWrench]:
    """Wrenches of bodies on their inboard bodies: the joint reaction with its sign reversed."""
    values = motion.result.values
    cut = {joint.a.body: joint.b for joint in motion.tree.cut_joints}
    for k, node in enumerate(motion.tree.nodes):
        on = cut.get(node.name, node.link.on)
        yield PlacedWrench(on, motion.origin(k), -values["reaction_force"][:, k], -values["reaction_moment"][:, k])


def _contacts(motion: RecordedMotion) -> Iterator[PlacedWrench]:
    values = motion.result.values
    for k, pair in enumerate(motion.system.contacts.values()):
        force = values["normal_force"][:, k, None] * values["contact_normal"][:, k] + values["friction_force"][:, k]
        for frame, sign in zip(pair.frames, (1.0, -1.0), strict=True):
            yield PlacedWrench(frame, values["contact_point"][:, k], sign * force, np.zeros_like(force))


def _struts(motion: RecordedMotion) -> Iterator[PlacedWrench]:
    """Wrenches of struts, along the line between their ends, with the force that the result recorded."""
    values = motion.result.values
    for k, strut in enumerate(motion.system.struts.values()):
        poses_of_ends = (place_pose(motion.tree, motion.tree.place(frame), motion.bodies, motion.q) for frame in strut.frames)
        a, b = (motion.array(pose.position) for pose in poses_of_ends)
        force = (values["strut_force"][:, k] / values["strut_length"][:, k])[:, None] * (a - b)
        for frame, point, sign in ((strut.a, a, 1.0), (strut.b, b, -1.0)):
            yield PlacedWrench(frame, point, sign * force, np.zeros_like(force))


# ---- loads and closures: their signals and directions come from the traced System


def _traced(motion: RecordedMotion) -> Iterator[PlacedWrench]:
    """Wrenches of loads and closures; their formulas are evaluated at every row."""
    system = motion.system
    closures = [c for c in system.closures.values() if c.name not in system.cut_joints and c.frames is not None]
    if not system.loads and not closures:
        return
    for closure in closures:
        if closure.frictions:
            rule = "must be left out for section forces, which do not include the friction couple of a closure"
            raise ModelError.of(closure.part, "friction", rule, list(closure.frictions))
    made = Trace(system, "articulated", t_start=motion.t_start, tree=motion.tree, parameters=motion.parameters)
    loads = [made.read(component) for load in system.loads.values() for component in load.vector]
    rows = _ClosureRows(made, closures, motion)
    values = _at_rows(made, motion, [*loads, *rows.entries])
    count = len(loads)
    for k, load in enumerate(system.loads.values()):
        vector = values[:, 3 * k : 3 * k + 3]
        pose = place_pose(motion.tree, motion.tree.place(load.at), motion.bodies, motion.q)
        if load.expressed == "body":
            vector = motion.array(pose.rotation.out(tuple(vector.T)))
        nothing = np.zeros_like(vector)
        force, moment = (vector, nothing) if isinstance(load, PointForce) else (nothing, vector)
        yield PlacedWrench(load.at, motion.array(pose.position), force, moment)
    yield from rows.wrenches(values[:, count:])


class _ClosureRows:
    """The rows of all closures between frames, differentiated by small motions of the two frames: the wrenches are K^T lam."""

    def __init__(self, made: Trace, closures: Sequence[Closure], motion: RecordedMotion) -> None:
        self._motion, self._rows, self.entries = motion, list[tuple[Closure, int]](), list[Scalar]()
        every = list(made.system.closures.values())
        first = 0  # index among the result's closure rows: exact closures come before those with penalty springs
        for by in ("multipliers", "springs"):
            of_kind = [closure for closure in every if closure.by == by]
            rows = made.rows_of(of_kind)
            for number, closure in enumerate(of_kind):
                own = [k for k, owner in enumerate(rows.owners) if owner == number]
                if closure in closures:
                    self._rows += [(closure, first + k) for k in own]
                    self.entries += _by_twists(made, closure, [rows.directions[k] for k in own])
            first += len(rows.owners)

    def wrenches(self, values: Floats) -> Iterator[PlacedWrench]:
        """values: the closure forces, one row per row of the result."""
        motion = self._motion
        multipliers = motion.result.values["multiplier"]
        for k, (closure, row) in enumerate(self._rows):
            assert closure.frames is not None  # chosen so
            own = multipliers[:, row, None] * values[:, 2 * TWIST * k : 2 * TWIST * (k + 1)]
            for frame, pushed in zip(closure.frames, (own[:, :TWIST], own[:, TWIST:]), strict=True):
                pose = place_pose(motion.tree, motion.tree.place(frame), motion.bodies, motion.q)
                yield PlacedWrench(frame, motion.array(pose.position), pushed[:, 3:], pushed[:, :3])


def _by_twists(made: Trace, closure: Closure, directions: Sequence[int]) -> list[Scalar]:
    """dc of some closure rows for a rotation and displacement of the first frame, then of the second, in world axes."""
    assert closure.frames is not None  # who asks has looked
    tracer, bodies = made.tracer, poses(made.tree, made.q)
    a, b = (place_pose(made.tree, made.tree.place(frame), bodies, made.q) for frame in closure.frames)
    column, twist = tracer.symbols("twist", 2 * TWIST)
    turned_a, turned_b = _turned(a.rotation.matrix, twist[:3]), _turned(b.rotation.matrix, twist[TWIST : TWIST + 3])
    shift: Vec = sub(tuple(twist[3:TWIST]), tuple(twist[TWIST + 3 :]))  # type: ignore[arg-type]
    apart = add(sub(a.position, b.position), shift)
    motions = made.places_of([closure])[0]
    distances, angles = OF_FRAMES[type(closure)](closure, HeldFrames(apart, turned_a, turned_b, motions))
    every = [*distances, *angles]
    matrix = tracer.jacobian([every[k] for k in directions], column)
    none = tracer.column([0.0] * (2 * TWIST))
    return [x for row in matrix for x in tracer.substitute(row, column, none)]


def _turned(matrix: Mat, turn: Sequence[Scalar]) -> Mat:
    return product(mat_add(IDENTITY, skew((turn[0], turn[1], turn[2]))), matrix)


def _at_rows(made: Trace, motion: RecordedMotion, scalars: Sequence[Scalar]) -> Floats:
    """Values of traced scalars at every row: (rows, scalars)."""
    if not scalars:
        return np.zeros((motion.rows, 0))
    state = ca.vertcat(made.state_column, made.own_column, made.sampled_column)
    function = ca.Function("at_row", [made.t_column, state, made.p_column], [made.tracer.column(list(scalars))])
    values, times = motion.result.values, motion.result.time
    states = np.concatenate([values["q"][:, made.free_q], values["v"][:, made.free_v], values["states"]], axis=1)
    return np.array(function(times[None, :], states.T, _parameters(made, times).T)).T


def _parameters(made: Trace, times: Floats) -> Floats:
    """p in every row; at a breakpoint of a signal, p of the interval that ends there, as in the run."""
    inside = [b for b in breakpoints(made.system) if times[0] < b < times[-1]]
    edges = [float(times[0]), *inside, float(times[-1])]
    of_piece = np.array([np.concatenate([owner.at(*piece) for owner in made.owners]) for piece in pairwise(edges)])
    return np.asarray(of_piece[np.clip(np.searchsorted(edges, times, side="left") - 1, 0, len(of_piece) - 1)])
