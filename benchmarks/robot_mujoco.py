"""Accelerations of an MJCF robot by mj_forward; run by MuJoCo's own interpreter, JSON in and out."""

import json
import sys

import mujoco

job, found = json.load(sys.stdin), []
model = mujoco.MjModel.from_xml_path(job["file"])
data = mujoco.MjData(model)
for q, v, effort in zip(job["q"], job["v"], job["effort"], strict=True):
    data.qpos[:], data.qvel[:], data.qfrc_applied[:] = q, v, effort
    mujoco.mj_forward(model, data)
    found.append(data.qacc.tolist())
print(json.dumps({"version": mujoco.__version__, "accelerations": found}))
