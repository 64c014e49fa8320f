"""Accelerations of a URDF robot by Pinocchio's aba; run by Pinocchio's own interpreter, JSON in and out."""

import json
import sys

import numpy as np
import pinocchio as pin

job = json.load(sys.stdin)
model = pin.buildModelFromUrdf(job["file"])
data = model.createData()
model.armature[:] = 0.0
found = [pin.aba(model, data, *map(np.array, state)).tolist() for state in zip(job["q"], job["v"], job["effort"], strict=True)]
print(json.dumps({"version": pin.__version__, "accelerations": found}))
