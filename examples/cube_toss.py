"""Which friction, restitution and stiffness does a real cube have? Fitted to measured tosses, and tried on others.

    python examples/cube_toss.py [--data FILE.npz] [--fit 4] [--test 20]

A cube of 105 mm was tossed onto a table 300 times and filmed at 148 Hz (examples/data/README.md). Its corners touch the table by a
contact law; mu, e, the stiffness and the height of the table, and where in between a solid cube and a box its inertia is, are found
from a few tosses and then predict others. Errors are those of the centre, in % of the width, and of the rotation, in degrees.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import pliant as pl

HALF, MASS, INERTIA, GRAVITY = 0.0524, 0.37, 8.10e-4, 9.81  # m, kg, kg m^2, m/s^2
STEP = 1.0 / 148.0  # s, between rows
# One row of the data: world axes, but for the angular velocity
START = ["x", "y", "z", "qw", "qx", "qy", "qz", "vx", "vy", "vz", "wx", "wy", "wz"]
FREE = ("mu", "e", "stiffness", "height", "inertia")
CLEAR = 0.004  # m: the cube surely flies while its lowest corner is higher; it lies 1 to 2 mm below z = 0
WEIGHTS = {f"cube.{name}": 1.0 / (0.01 if len(name) == 1 else 0.1) for name in START[:7]}  # 10 mm, and 0.1 of a quaternion
STIFFEST = 3e6  # N/m^1.5: an impact at 1 m/s is 1 mm deep then, and takes less than a row; the camera sees no difference beyond
PARTED = 18.0  # weighted square of the error of a row, as of 30 mm and 0.3 of a quaternion: the run has gone its own way
AT_FIRST = 0.1  # s after the first touch: rows that the first round of a fit looks at
METHOD = pl.Auto(1e-6, 1e-9)  # a thousand times as accurate as the camera
CORNERS = HALF * np.array([(a, b, c) for a in (-1, 1) for b in (-1, 1) for c in (-1, 1)])


def exact(stiffness, restitution):
    return pl.Exact(stiffness=stiffness, restitution=restitution)


def coulomb(mu):
    return pl.Coulomb(mu=mu, transition=1e-2)


def cube(normal=exact, friction=coulomb, stiffness=1e6):
    """A rigid cube whose corners touch a table. It starts where the parameters named in START say."""
    inertia = pl.Parameter("inertia", INERTIA, "kg m^2", low=2 / 3 * MASS * HALF**2, high=10 / 9 * MASS * HALF**2)
    law = normal(pl.Parameter("stiffness", stiffness, low=1e3, high=STIFFEST), pl.Parameter("e", 0.3, low=0.02, high=0.98))
    table = pl.Plane(normal=(0, 0, 1), point=(0, 0, pl.Parameter("height", -1e-3, "m", low=-0.01, high=0.01)))
    begin = [pl.Parameter(name, float(name == "qw")) for name in START]
    body = pl.RigidBody(mass=MASS, inertia=(inertia,) * 3, frames={f"c{k}": tuple(at) for k, at in enumerate(CORNERS.tolist())})
    system = pl.System("cube", gravity=(0, 0, -GRAVITY))
    joint = pl.Free(position=begin[:3], orientation=begin[3:7], velocity=begin[7:10], angular_velocity=begin[10:])
    box = system.add("cube", body, joint=joint)
    system.contact(points=[box.at(f"c{k}") for k in range(8)], against=table, normal=law, name="table",
                   friction=friction(pl.Parameter("mu", 0.18, low=0.0, high=1.0)))  # fmt: skip
    return system


# ---- the data


@dataclass(frozen=True)
class Toss:
    """time, s; rows as in START; start: the state at time 0, of a free flight through the rows before the first touch."""

    name: str
    time: np.ndarray
    rows: np.ndarray
    start: dict[str, float]
    flying: int  # number of rows before the first touch


def tosses(path):
    """All tosses of a file with rows, first and toss; rows may be whole multiples of a `unit`."""
    with np.load(path) as data:
        rows, first, numbers = data["rows"] * data.get("unit", 1.0), data["first"], data["toss"]
    return [_toss(f"toss {number}", rows[a:b]) for number, a, b in zip(numbers, first, first[1:], strict=False)]


def _toss(name, rows):
    rows = rows.copy()
    rows[:, 3:7] /= np.linalg.norm(rows[:, 3:7], axis=1, keepdims=True)
    rows[1:, 3:7] *= np.cumprod(np.sign(np.sum(rows[1:, 3:7] * rows[:-1, 3:7], axis=1)))[:, None]  # q and -q are one rotation
    touches = lowest(rows) < CLEAR
    flying = int(np.argmax(touches)) if np.any(touches) else len(rows)
    time = STEP * np.arange(len(rows))
    return Toss(name, time, rows, dict(zip(START, free_flight(time, rows, flying).tolist(), strict=True)), flying)


def free_flight(time, rows, flying):
    """The start of a parabola, and of a steady rotation (all axes have one inertia), through the first rows.

    A velocity in the data is the way since the row before over its duration, so that of half a step ago.
    """
    start = rows[0].copy()
    start[9] -= 0.5 * GRAVITY * STEP
    if flying < 4:
        return start
    t, line = time[:flying, None], np.column_stack([np.ones(flying), time[:flying]])
    fallen = rows[:flying, :3] + 0.5 * GRAVITY * t**2 * np.array([0.0, 0.0, 1.0])
    start[:3], start[7:10] = np.linalg.lstsq(line, fallen, rcond=None)[0]
    q, w = rows[0, 3:7], rows[:flying, 10:].mean(axis=0)
    for _ in range(4):  # Gauss-Newton
        ahead = rotation_between(product(q, rotation_by(w * t)), rows[:flying, 3:7])
        dq, dw = np.linalg.lstsq(line, ahead, rcond=None)[0]
        q, w = product(q, rotation_by(dq)), w + dw
    start[3:7], start[10:] = q, w
    return start


def lowest(rows):
    """The height of the lowest corner, m."""
    w, x, y, z = rows[:, 3:7].T
    up = np.column_stack([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)])
    return rows[:, 2] + np.min(up @ CORNERS.T, axis=1)


def product(a, b):
    """The product of quaternions, scalar first."""
    (a, u), (b, v) = ((q[..., :1], q[..., 1:]) for q in (a, b))
    return np.concatenate([a * b - np.sum(u * v, axis=-1, keepdims=True), a * v + b * u + np.cross(u, v)], axis=-1)


def rotation_by(vector):
    """The quaternion of a rotation vector."""
    angle = np.linalg.norm(vector, axis=-1, keepdims=True)
    return np.concatenate([np.cos(angle / 2), 0.5 * np.sinc(angle / (2 * np.pi)) * vector], axis=-1)


def rotation_between(a, b):
    """The rotation vector from a to b, in the axes of a; at most half a turn."""
    q = product(a * np.array([1.0, -1.0, -1.0, -1.0]), b)
    q = np.where(q[..., :1] < 0.0, -q, q)
    sine = np.linalg.norm(q[..., 1:], axis=-1, keepdims=True)
    return 2.0 * q[..., 1:] * np.arctan2(sine, q[..., :1]) / np.maximum(sine, 1e-300)


# ---- fit and prediction


def fit(system, some, free=FREE, guess=None, counts=None, rounds=3, **options):
    """A fit of the rows up to where runs and tosses part.

    A cube that tips over another edge than its run goes on elsewhere, however good the numbers are, and squares of such differences
    would outweigh everything else. So the first round looks at the first impacts, the others at all rows before a run of the values
    found last has parted from its toss. counts: of the rows of each toss, for the first round.
    """
    counts = counts or [toss.flying + round(AT_FIRST / STEP) for toss in some]
    for k in range(rounds):
        data = [experiment(toss, count) for toss, count in zip(some, counts, strict=True)]
        found = pl.fit(system, data, list(free), weights=WEIGHTS, method=METHOD, guess=guess, **options)
        guess = dict(found.values)
        if k < rounds - 1:
            counts = [together(toss, predicted(system, toss, guess)) for toss in some]
    return found


def experiment(toss, count):
    columns = {f"cube.{name}": toss.rows[:count, k] for k, name in enumerate(START[:7])}
    return pl.Experiment({"time": toss.time[:count], **columns}, parameters=toss.start, name=toss.name)


def misfit(toss, rows):
    """The weighted square of the error of each row."""
    return np.sum((np.array(list(WEIGHTS.values())) * (rows - toss.rows[:, :7])) ** 2, axis=1)


def together(toss, rows):
    """How many rows there are before a run parts from its toss."""
    parted = misfit(toss, rows) > PARTED
    return max(int(np.argmax(parted)) if np.any(parted) else len(parted), toss.flying + 2)


def loss(toss, rows):
    """The sum of these squares, each row beyond the parting counted as a parted one."""
    count = together(toss, rows)
    return float(np.sum(np.minimum(misfit(toss, rows)[:count], PARTED)) + PARTED * (len(rows) - count))


def predicted(ready, toss, values):
    """Position and quaternion along a toss; ready: the System or what compile_system made of it."""
    run = pl.simulate(ready, toss.time[-1], save=toss.time, parameters={**toss.start, **values}, method=METHOD, keep=["q"])
    return run.values["q"]


def errors(toss, rows):
    """(of the centre, % of the width; of the rotation, degrees) at every row."""
    q = rows[:, 3:7] / np.linalg.norm(rows[:, 3:7], axis=1, keepdims=True)
    turned = np.linalg.norm(rotation_between(q, toss.rows[:, 3:7]), axis=1)
    return np.array([50.0 / HALF * np.linalg.norm(rows[:, :3] - toss.rows[:, :3], axis=1), np.rad2deg(turned)])


def summary(every):
    """Mean and median over tosses of the errors along (the mean over rows) and at the end."""
    ways = {"along": [one.mean(axis=1) for one in every], "at the end": [one[:, -1] for one in every]}
    numbers = {f"{what} {way}": values for way, own in ways.items()
               for what, values in zip(("centre", "rotation"), np.transpose(own), strict=True)}  # fmt: skip
    return {name: (float(np.mean(values)), float(np.median(values))) for name, values in numbers.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False)
    parser.add_argument("--data", type=Path, default=Path(__file__).parent / "data" / "cube_tosses.npz")
    parser.add_argument("--fit", type=int, default=4, help="number of tosses to fit, of a fixed random order")
    parser.add_argument("--test", type=int, default=20, help="number of others to predict; 0 for all")
    given, _ = parser.parse_known_args()
    every = tosses(given.data)
    order = np.random.default_rng(0).permutation(len(every))
    fitted, others = order[: given.fit], order[given.fit :][: given.test or None]
    system = cube()
    found = fit(system, [every[k] for k in fitted])
    print("\n".join(line for line in str(found).splitlines() if not line.startswith("warning: toss")))
    ready = pl.compile_system(system)
    left = [errors(every[k], predicted(ready, every[k], found.values)) for k in others]
    for what, (mean, median) in summary(left).items():
        print(f"{what}: mean {mean:.1f}, median {median:.1f} {'degrees' if 'rotation' in what else '% of the width'}")
    _draw(every, others, left)
    if given.fit >= 4:
        assert found.ok and 0.13 < found.values["mu"] < 0.23 and 0.1 < found.values["e"] < 0.45
        assert all(summary(left)[f"{what} along"][1] < 15.0 for what in ("centre", "rotation"))


def _draw(every, others, left):
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.5), layout="constrained")
    for axis, number, words in zip(axes, (0, 1), ("centre, % of the width", "rotation, degrees"), strict=True):
        for k, one in zip(others, left, strict=True):
            axis.plot(every[k].time, one[number], color="0.7", lw=0.6)
        rows = max(one.shape[1] for one in left)
        curves = np.full((len(left), rows), np.nan)
        for own, one in zip(curves, left, strict=True):
            own[: one.shape[1]] = one[number]
        enough = np.sum(np.isfinite(curves), axis=0) >= 0.5 * len(left)
        axis.plot(STEP * np.arange(rows)[enough], np.nanmedian(curves[:, enough], axis=0), color="C0", label="median")
        axis.set(xlabel="time, s", ylabel=f"error of the {words}")
        axis.legend()
    figure.savefig("cube_toss.png", dpi=120)


if __name__ == "__main__":
    main()
