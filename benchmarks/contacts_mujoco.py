"""Spheres in a box of six planes in MuJoCo; run by MuJoCo's own interpreter, JSON in and out."""

import json
import sys
import time

import mujoco

REPEATS = 3


def box(starts, job):
    spec = mujoco.MjSpec()
    spec.option.gravity, spec.option.timestep = [0.0, 0.0, -9.81], job["step"]
    half = job["half"]
    walls = [((0, 0, 0), (1, 0, 0, 0)), ((0, 0, 8 * half), (0, 1, 0, 0)), ((-half, 0, 0), (0.5**0.5, 0, 0.5**0.5, 0)),
             ((half, 0, 0), (0.5**0.5, 0, -(0.5**0.5), 0)), ((0, -half, 0), (0.5**0.5, -(0.5**0.5), 0, 0)),
             ((0, half, 0), (0.5**0.5, 0.5**0.5, 0, 0))]  # fmt: skip
    for place, turn in walls:
        spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1], pos=place, quat=turn, condim=1)
    for row in starts:
        body = spec.worldbody.add_body(pos=row[:3])
        body.add_freejoint()
        body.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[job["radius"], 0, 0], mass=job["mass"], condim=1)
    return spec.compile()


job = json.load(sys.stdin)
answer = {"version": mujoco.__version__, "spheres": {}}
for n, starts in job["starts"].items():
    began = time.process_time()
    model = box(starts, job)
    prepared, best = time.process_time() - began, float("inf")
    for _ in range(REPEATS):
        data = mujoco.MjData(model)
        for k, row in enumerate(starts):
            data.qvel[6 * k : 6 * k + 3] = row[3:]
        steps, seen, lowest = round(job["seconds"] / job["step"]), 0, 0.0
        began = time.process_time()
        for _ in range(steps):
            mujoco.mj_step(model, data)
            seen += data.ncon
        best = min(best, time.process_time() - began)
        lowest = min(float(data.xpos[1:, 2].min()), lowest)
    answer["spheres"][n] = {"prepare_s": prepared, "run_s": best, "contacts": seen / steps, "steps": steps, "lowest": lowest}
print(json.dumps(answer))
