"""The Jacobian of a frame: its velocity and angular velocity as linear functions of the rates, at a state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pliant.analysis.denoc import Given, state_vector
from pliant.arrays import Floats
from pliant.model import check
from pliant.model.refused import require_bodies
from pliant.model.resolve import resolved
from pliant.run.mechanism import AnySystem, mechanism_of

if TYPE_CHECKING:
    from pliant.model.frame import Frame
    from pliant.model.system import System


@dataclass(frozen=True, eq=False)
class FrameJacobian:
    """A frame at a state. Vectors are in world axes; columns belong to `coordinates`, whose rates they multiply.

    Virtual work: a force f at the frame's origin and a moment m have the generalised forces linear.T @ f + angular.T @ m.
    """

    coordinates: tuple[str, ...]  # of v
    position: Floats  # (3,) of the origin, m
    rotation: Floats  # (3, 3) axes of the frame as columns
    linear: Floats  # (3, n) velocity of the origin by the rates
    angular: Floats  # (3, n) angular velocity by the rates
    velocity: Floats  # (3,) of the origin, m/s; not linear @ v alone if a motion is prescribed over time
    omega: Floats  # (3,) angular velocity, rad/s
    linear_bias: Floats  # (3,) acceleration of the origin without accelerations of coordinates, m/s^2: J' v
    angular_bias: Floats  # (3,) the same of the angular acceleration, rad/s^2

    @property
    def whole(self) -> Floats:
        """(6, n): linear, then angular."""
        return np.vstack([self.linear, self.angular])


def jacobian(system: AnySystem, frame: Frame | str, *, q: Given = None, v: Given = None, t: float = 0.0) -> FrameJacobian:
    """The Jacobian of a frame, as in jacobian(system, arm.tip, q={"arm.angle": 0.3}).

    q, v: either a mapping by name, where coordinates left out keep their start values (with exact loops closed), or all values in
    the order of a result's row. Prescribed coordinates have columns too and take their prescribed values at t. Loops change no
    column: closures say which rates are possible.
    """
    t = check.number("jacobian", "t", t, "s")
    system = mechanism_of(system, "jacobian")
    require_bodies(system, "jacobian")
    import casadi as ca

    from pliant.dynamics.kinematics import place_pose, place_twist, poses, twists
    from pliant.dynamics.loads import AppliedForces
    from pliant.dynamics.retraction import retract
    from pliant.trace.tracing import Trace
    from pliant.trace.world import frame_of

    values = {name: parameter.value for name, parameter in system.parameters.items()}
    plain: System = resolved(system, values) if values else system
    made = Trace(plain, "articulated", t_start=t)
    made.close(AppliedForces([0.0] * len(made.tree.rates), []))  # closes the loops of the start
    tree, tracer = made.tree, made.tracer
    at_q = state_vector("jacobian", "q", tree.positions, q, made.start_q)
    at_v = state_vector("jacobian", "v", tree.rates, v, made.start_v)
    state = np.concatenate([at_q[made.free_q], at_v[made.free_v]])
    here = ca.Function("here", [made.t_column, made.state_column, made.p_column], [tracer.column(made.q), tracer.column(made.v)])
    numbers = here.call([t, state, made.parameters(t)])
    (q_column, there), (v_column, rates) = tracer.symbols("q", at_q.size), tracer.symbols("v", at_v.size)
    place = tree.place(frame_of(plain, frame, values, "jacobian"))
    pose = place_pose(tree, place, poses(tree, there), there)
    twist = place_twist(tree, place, twists(tree, there, rates), there, rates)
    moving = tracer.column([*pose.rotation.out(twist.velocity), *pose.rotation.out(twist.omega)])
    xi, shift = tracer.symbols("xi", len(rates))
    changing = ca.substitute(ca.jtimes(tracer.column(retract(tree, there, shift)), xi, v_column), xi, ca.DM.zeros(len(rates)))
    columns = [tracer.column(pose.position), tracer.column([x for row in pose.rotation.matrix for x in row]),
               ca.jacobian(moving, v_column), moving, ca.jtimes(moving, q_column, changing)]  # fmt: skip
    found = [np.array(x) for x in ca.Function("frame", [q_column, v_column], columns).call(numbers)]
    position, rotation, whole, speed, bias = found[0].ravel(), found[1].reshape(3, 3), found[2], found[3].ravel(), found[4].ravel()
    return FrameJacobian(tree.rates, position, rotation, whole[:3], whole[3:], speed[:3], speed[3:], bias[:3], bias[3:])
