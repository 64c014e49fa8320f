"""Pinocchio's aba on rigid chains like recursion.py's; run by Pinocchio's own interpreter, JSON in and out."""

import numpy as np
import pinocchio as pin
from peer_side import memory, microseconds, serve

TENSORS = 66  # bytes per cube of the joints that a pinocchio.Data takes, measured: room for second derivatives, used or not


def chain(links):
    model = pin.Model()
    model.gravity.linear[:] = (0.0, 0.0, -9.81)
    joint = 0
    inertia = pin.Inertia(1.0, np.array([0.5, 0.0, 0.0]), np.diag([0.1, 0.2, 0.3]))
    for k in range(links):
        place = pin.SE3(np.eye(3), np.array([1.0 if k else 0.0, 0.0, 0.0]))
        kind = pin.JointModelRZ() if k % 2 == 0 else pin.JointModelRY()
        joint = model.addJoint(joint, kind, place, f"joint{k}")
        model.appendBodyToJoint(joint, inertia, pin.SE3.Identity())
    return model


def measure(links, q, v):
    needed = TENSORS * links**3
    if needed > 0.75 * memory():
        raise MemoryError(f"its Data for {links} joints takes {needed / 1e9:.0f} GB, this machine has {memory() / 1e9:.0f}")
    model = chain(links)
    data = model.createData()
    q, v, tau = np.array(q), np.array(v), np.zeros(links)
    us = microseconds(lambda: pin.aba(model, data, q, v, tau))
    return us, pin.aba(model, data, q, v, tau).tolist()


# a call from Python on one joint: nearly nothing but the call
serve(pin.__version__, measure, lambda: measure(1, [0.1], [0.1])[0])
