"""The tossed cube in MuJoCo, tuned to measured tosses; run by MuJoCo's own interpreter, JSON in and out.

A box on a plane, elliptic cones. solref is given as time constant and damping ratio, or as stiffness and damping; impratio is 1 or
10. Friction, both numbers of solref, the height of the plane and the inertia are found by Nelder and Mead, from several guesses.
"""

import json
import sys
import time

import mujoco
import numpy as np
from mujoco import rollout
from scipy.optimize import minimize

SUBSTEPS = 8  # of a row
EVALUATIONS = 140
# by kind: (impratio, solref from its two positive numbers, their guesses)
KINDS = {
    "time constant, impratio 1": (1.0, lambda a, b: (a, b), (0.004, 0.5)),
    "time constant, impratio 10": (10.0, lambda a, b: (a, b), (0.004, 0.5)),
    "softer, time constant, impratio 10": (10.0, lambda a, b: (a, b), (0.015, 0.3)),
    "stiffness and damping, impratio 10": (10.0, lambda a, b: (-a, -b), (2e4, 60.0)),
}
XML = """<mujoco><option timestep="{step}" cone="elliptic" impratio="{ratio}" integrator="implicitfast" gravity="0 0 -9.81"/>
<worldbody><geom name="table" type="plane" size="5 5 1" condim="3"/>
<body><freejoint/><inertial pos="0 0 0" mass="{mass}" diaginertia="{inertia} {inertia} {inertia}"/>
<geom name="cube" type="box" size="{half} {half} {half}" condim="3"/></body></worldbody></mujoco>"""


class Cube:
    def __init__(self, job, kind):
        self.job = job
        self.ratio, self.solref, guesses = KINDS[kind]
        step = job["step"] / SUBSTEPS
        text = XML.format(step=step, ratio=self.ratio, mass=job["mass"], inertia=job["inertia"], half=job["half"])
        self.model = mujoco.MjModel.from_xml_string(text)
        self.data = mujoco.MjData(self.model)
        # logarithms, but for the height in 10 mm
        self.guess = np.array([np.log(0.18), *np.log(guesses), -0.1, np.log(job["inertia"])])

    def set(self, x):
        self.model.geom_friction[:, 0] = np.exp(x[0])
        self.model.geom_solref[:] = self.solref(*np.exp(x[1:3]))
        self.model.geom_pos[0, 2] = 0.01 * x[3]
        self.model.body_inertia[1] = np.exp(x[4])

    def rows(self, toss):
        start = np.concatenate([[0.0], toss["start"]])
        steps = SUBSTEPS * (len(toss["rows"]) - 1)
        state, _ = rollout.rollout(self.model, self.data, start[None], nstep=steps)
        return np.vstack([start[1:8], state[0, SUBSTEPS - 1 :: SUBSTEPS, 1:8]])

    def loss(self, x):
        self.set(x)
        weights = np.array(self.job["weights"])
        total = 0.0
        for toss in self.job["fitted"]:
            rows, seen = self.rows(toss), toss["seen"]
            flips = np.sign(np.sum(rows[:, 3:7] * seen[:, 3:7], axis=1))[:, None]
            rows[:, 3:7] *= np.where(flips == 0.0, 1.0, flips)
            squares = np.sum((weights * (rows - seen)) ** 2, axis=1)
            parted = np.flatnonzero(squares > self.job["parted"])
            count = parted[0] if parted.size else len(squares)
            total += float(np.sum(squares[:count])) + self.job["parted"] * (len(squares) - count)
        return total if np.isfinite(total) else 1e12


def main():
    job = json.load(sys.stdin)
    for toss in job["fitted"]:
        toss["seen"] = np.array(toss["rows"])
    answer = {"version": mujoco.__version__, "found": {}}
    for kind in KINDS:
        began, cube = time.process_time(), Cube(job, kind)
        simplex = cube.guess + np.vstack([np.zeros(5), np.diag([0.15, 0.5, 0.5, 0.1, 0.2])])
        done = minimize(cube.loss, cube.guess, method="Nelder-Mead",
                        options={"maxfev": EVALUATIONS, "initial_simplex": simplex, "xatol": 1e-3, "fatol": 1.0})  # fmt: skip
        cube.set(done.x)
        answer["found"][kind] = {
            "loss": float(done.fun), "mu": float(np.exp(done.x[0])), "solref": list(cube.solref(*np.exp(done.x[1:3]))),
            "height": 0.01 * float(done.x[3]), "inertia": float(np.exp(done.x[4])), "evaluations": int(done.nfev),
            "processor_s": time.process_time() - began, "rows": [cube.rows(toss).tolist() for toss in job["others"]],
        }  # fmt: skip
        print(kind, answer["found"][kind]["loss"], file=sys.stderr)
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
