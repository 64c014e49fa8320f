"""MuJoCo's mj_forward on rigid chains like recursion.py's; run by MuJoCo's own interpreter, JSON in and out.

mj_forward computes accelerations by the composite-inertia matrix and its factorisation, with everything that it computes on the way
(velocities, bias forces, an empty list of constraints); contacts are switched off, there are no geoms and no actuators.
"""

import mujoco
from peer_side import microseconds, serve


def chain(links):
    spec = mujoco.MjSpec()
    spec.option.gravity = [0.0, 0.0, -9.81]
    spec.option.disableflags = int(mujoco.mjtDisableBit.mjDSBL_CONTACT) | int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    body = spec.worldbody
    for k in range(links):
        body = body.add_body(
            pos=[1.0 if k else 0.0, 0.0, 0.0], mass=1.0, ipos=[0.5, 0.0, 0.0], inertia=[0.1, 0.2, 0.3], explicitinertial=True
        )
        body.add_joint(type=mujoco.mjtJoint.mjJNT_HINGE, axis=[0, 0, 1] if k % 2 == 0 else [0, 1, 0])
    return spec.compile()


def measure(links, q, v):
    model = chain(links)
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = q, v
    us = microseconds(lambda: mujoco.mj_forward(model, data))
    return us, data.qacc.tolist()


def call():
    """A call from Python that does nothing: a flag of the model is read."""
    model = chain(1)
    return microseconds(lambda: mujoco.mj_isPyramidal(model))


serve(mujoco.__version__, measure, call)
