"""Microseconds of Pinocchio's aba on rigid chains like recursion.py's; run by Pinocchio's own interpreter, prints JSON."""

import json
import sys
import time

import numpy as np
import pinocchio as pin


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


def microseconds(links, batches=15):
    model = chain(links)
    data = model.createData()
    rng = np.random.default_rng(1)
    q, v, tau = 0.1 * rng.normal(size=links), 0.1 * rng.normal(size=links), np.zeros(links)
    times, best = 20, float("inf")
    for _ in range(batches):
        began = time.perf_counter()
        for _ in range(times):
            pin.aba(model, data, q, v, tau)
        best = min(best, (time.perf_counter() - began) / times)
        times = max(20, int(0.02 / best))
    return 1e6 * best


print(json.dumps({n: microseconds(int(n)) for n in sys.argv[1:]}))
