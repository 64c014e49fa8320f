"""Numba's side of `ensemble.py`, run by its own interpreter: a hand-written Dormand-Prince 5(4) loop for a bouncing ball.

A job on stdin, the answer on stdout, both JSON.
"""

import json
import sys
import time

import numba
import numpy as np

A = np.array([
    [1 / 5, 0, 0, 0, 0, 0], [3 / 40, 9 / 40, 0, 0, 0, 0], [44 / 45, -56 / 15, 32 / 9, 0, 0, 0],
    [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729, 0, 0],
    [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656, 0],
    [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84],
])  # fmt: skip
E = np.array([71 / 57600, 0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40])


@numba.njit(cache=False)
def balls(starts, seconds, gravity, stiffness, mass, radius, rtol, atol):
    ends = np.empty(starts.size)
    k = np.empty((7, 2))
    for member in range(starts.size):
        t, h, x, v = 0.0, 1e-3, starts[member], 0.0
        while t < seconds:
            h = min(h, seconds - t)
            k[0, 0], k[0, 1] = v, -gravity + stiffness / mass * max(radius - x, 0.0) ** 1.5
            xs = vs = 0.0
            for i in range(6):
                xs, vs = x, v
                for j in range(i + 1):
                    xs += h * A[i, j] * k[j, 0]
                    vs += h * A[i, j] * k[j, 1]
                k[i + 1, 0], k[i + 1, 1] = vs, -gravity + stiffness / mass * max(radius - xs, 0.0) ** 1.5
            ex = ev = 0.0
            for i in range(7):
                ex += h * E[i] * k[i, 0]
                ev += h * E[i] * k[i, 1]
            error = np.sqrt(0.5 * ((ex / (atol + rtol * abs(xs))) ** 2 + (ev / (atol + rtol * abs(vs))) ** 2))
            if error <= 1.0:
                t, x, v = t + h, xs, vs
            h *= min(10.0, max(0.2, 0.9 * max(error, 1e-10) ** -0.2))
        ends[member] = x
    return ends


def main():
    job = json.loads(sys.stdin.read())
    numbers = [job[name] for name in ("seconds", "gravity", "stiffness", "mass", "radius", "rtol", "atol")]
    heights = np.array(job["heights"])
    balls(heights[:2], *numbers)
    began = time.process_time()
    ends = balls(heights, *numbers)
    print(json.dumps({"per_s": heights.size / (time.process_time() - began), "ends": ends.tolist()}))


if __name__ == "__main__":
    main()
