"""Accelerations of a URDF robot by Pinocchio's aba; run by Pinocchio's own interpreter, JSON in and out."""

import json
import sys

import numpy as np
import pinocchio as pin

job = json.load(sys.stdin)
model = pin.buildModelFromUrdf(job["file"])
data = model.createData()
model.armature[:] = 0.0
joints = [model.joints[model.getJointId(name)] for name in job.get("joints", list(model.names)[1:])]
places = [joint.idx_v for joint in joints]
assert len(joints) == model.njoints - 1


def accelerations(angles, rates, efforts):
    """By joints of one coordinate; those that turn without limits have cosine and sine."""
    q, v, tau = pin.neutral(model), np.zeros(model.nv), np.zeros(model.nv)
    v[places], tau[places] = rates, efforts
    for joint, angle in zip(joints, angles, strict=True):
        q[joint.idx_q : joint.idx_q + joint.nq] = angle if joint.nq == 1 else (np.cos(angle), np.sin(angle))
    return pin.aba(model, data, q, v, tau)[places].tolist()


found = [accelerations(*state) for state in zip(job["q"], job["v"], job["effort"], strict=True)]
print(json.dumps({"version": pin.__version__, "accelerations": found}))
