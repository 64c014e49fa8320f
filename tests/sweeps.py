"""A small mechanism and small sweeps of it, for tests here and in processes of their own."""

import hashlib
import math
import os
import signal
from pathlib import Path

import pliant as pl

MODEL = """
pliant: 1
system: pendulum
gravity: [0, -9.81]
define:
  mass: {value: 1 kg, low: 0.1 kg, high: 10 kg}
  length: 0.5 m
  torque: 0.2 N*m
bodies:
  bob:
    rod: {mass: mass, length: length}
    joint: {revolute: {angle: -60*deg, damper: 0.05}}
drives:
  motor: {coordinate: bob.angle, effort: "torque*sin(7*t)"}
run: {t_end: 0.4, method: {dop853: {rtol: 1e-9, atol: 1e-12}}, save: 0.02}
"""
RUN = {"t_end": 0.4, "method": pl.DOP853(rtol=1e-9, atol=1e-12), "save": 0.02}
KEEP = ["bob.angle", "kinetic"]


def pendulum() -> pl.System:
    """A driven rod with two parameters; nothing in it is a Python function."""
    mass, length = pl.Parameter("mass", 1.0, "kg", low=0.1, high=10.0), pl.Parameter("length", 0.5, "m")
    system = pl.System("pendulum", gravity=(0, -9.81))
    system.add(
        "bob",
        pl.RigidBody.rod(mass=mass, length=length),
        joint=pl.Revolute(angle=math.radians(-60), damper=pl.Damper(0.05)),
    )
    return system


def chain(links: int = 1, length: float = 0.5) -> pl.System:
    """Another structure for every number of links."""
    system = pl.System("chain", gravity=(0, -9.81))
    on = system.ground
    for k in range(links):
        rod = pl.RigidBody.rod(mass=1.0, length=length)
        on = system.add(f"rod{k}", rod, joint=pl.Revolute(angle=0.3), on=on).tip
    return system


def last_angle(result: pl.Result) -> float:
    return float(result["bob.angle"][-1])


def contents(folder: Path) -> dict[str, str]:
    """Every file by the hash of its bytes; drafts too, of which none may be left."""
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in sorted(Path(folder).iterdir())}


LENGTHS = [round(0.3 + 0.002 * k, 3) for k in range(100)]


def two_hundred(folder: str | Path, **options: object) -> None:
    """A sweep of 200 cases in 100 batches."""
    pl.sweep(pendulum(), {"mass": [0.5, 2.0], "length": LENGTHS}, RUN, KEEP, store=folder, batch=2, **options)


def deadly(length: float) -> pl.System:
    """Takes its process with it in one case, as a library that crashes does."""
    if length == 0.5:
        os.kill(os.getpid(), signal.SIGKILL)
    return chain(1, length)


def deadly_once(length: float, trace: str = "") -> pl.System:
    """Takes its process with it the first time that one case is computed."""
    if length == 0.5 and not Path(trace).exists():
        Path(trace).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return chain(1, length)
