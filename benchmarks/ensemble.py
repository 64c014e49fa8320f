"""Many runs of one structure: members a second, on one core and on two; peers in the same run.

    python benchmarks/ensemble.py [--json FILE] [--chains N] [--device cpu|gpu|auto]

falling_chain_per_s_core: the falling chain, 1.5 s, starts scattered by 1 %, DOP853 at rtol 1e-6; final states and contact counts
are kept. ball_per_s_core: a Hertz ball that bounces for 1 s, the same by RKF45. speedup_2: two threads over one, of the chain, by
the clock. scipy_ball_per_s: the ball by scipy's solve_ivp (RK45, the same tolerance, contact by terminal events).
numba_ball_per_s: a hand-written Dormand-Prince 5(4) loop for the ball in Numba, its force switched inside the right-hand side: no
events, no works, no contact records. --chains N: N falling chains with scattered heights, angles, restitution and friction, rtol
1e-9: how many fail, the deepest gap, the largest error of the energy balance over its scale, members a second. --device: the same
chain and ball in lock-step on one core of this machine ("cpu") or on its GPUs; the loop is built before the clock starts.
lockstep_ten_links: a chain of ten elastic links, 0.5 s. lockstep_numbers: chains of three links whose mass, E, contact stiffness,
restitution and friction all differ; a core prepares each in some 5 ms, so that 100,000 of them for a GPU take minutes. On a GPU,
_per_s counts the time of its kernels, _per_s_whole that of the call of `ensemble` with everything else that it does. A machine
with a GPU but without pliant's packages is served by gpu_bundle.py.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from gpu_bundle import link_chain
from peer_environments import ask
from scipy.integrate import solve_ivp

import pliant as pl
from pliant.gallery.falling_chain import falling_chain

RTOL, ATOL = 1e-6, 1e-9
GRAVITY, RADIUS, STIFFNESS, MASS, SECONDS = 9.81, 0.05, 1e6, 1.0, 1.0
CHAIN_SECONDS, CHAINS, BALLS = 1.5, 300, 40_000
RANGES = {"e": (0.3, 0.95), "mu": (1e-9, 0.6), "K": (3e7, 3e8), "E": (1e11, 3e11), "mass": (0.5, 2.0)}
FINE = 1e-9  # rtol of the scattered chains: the ledger of each must close to 1e-6


def scattered_angles(count: int) -> np.ndarray:
    start = float(pl.compile_system(falling_chain()).traced.y0[2])
    return start * (1.0 + 0.01 * np.random.default_rng(1).normal(size=count))


def chains(threads: int, count: int = CHAINS) -> tuple[float, float]:
    """(Seconds of the processor, seconds by the clock) of an ensemble of falling chains."""
    compiled = pl.compile_system(falling_chain())
    method = pl.DOP853(rtol=RTOL, atol=ATOL)
    cpu, wall = time.process_time(), time.perf_counter()
    options = {"method": method, "threads": threads, "loop": "general"}
    ds = pl.ensemble(compiled, CHAIN_SECONDS, starts={"a.angle": scattered_angles(count)}, **options)
    assert ds.ok.all() and ds.touches.sum() > 20 * count
    return time.process_time() - cpu, time.perf_counter() - wall


@dataclass(frozen=True)
class Case:
    """An ensemble in lock-step."""

    system: pl.System
    seconds: float
    method: pl.Method
    members: Callable[[int], dict[str, Any]]  # numbers of so many members
    touches: float  # at least, of a member
    few: int  # members on one core
    many: int  # on a GPU

    def run(self, device: str, count: int) -> tuple[float, float | None]:
        """Seconds of so many members: of one core, or of the kernels of a GPU and of the whole call by the clock."""
        compiled, options = pl.compile_system(self.system), self.members(count)
        cpu, wall = time.process_time(), time.perf_counter()
        threads = None if device == "gpu" else 1
        ds = pl.ensemble(compiled, self.seconds, method=self.method, threads=threads, loop="lockstep", device=device, **options)
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        assert ds.ok.all() and ds.touches.sum() >= self.touches * count
        return (ds.attrs["gpu_seconds"], wall) if "gpu_seconds" in ds.attrs else (cpu, None)


def cases() -> dict[str, Case]:
    fine = pl.DOP853(rtol=RTOL, atol=ATOL)
    scattered = {name: pl.Parameter(name, sum(bounds) / 2) for name, bounds in RANGES.items()}

    def numbers(count: int) -> dict[str, Any]:
        rng = np.random.default_rng(5)
        return {"parameters": {name: rng.uniform(*bounds, count) for name, bounds in RANGES.items()}, **tilted(count)}

    return {
        "chain": Case(falling_chain(), CHAIN_SECONDS, fine, lambda n: {"starts": {"a.angle": scattered_angles(n)}}, 20.0, CHAINS,
                      2**21),
        "ball": Case(ball(), SECONDS, pl.RKF45(rtol=RTOL, atol=ATOL), lambda n: {"starts": {"ball.y": heights(n)}}, 1.0, BALLS,
                     4_000_000),
        "ten_links": Case(link_chain(10, {}, 0.5), 0.5, fine, tilted, 5.0, CHAINS, 16_384),
        "numbers": Case(link_chain(3, scattered), CHAIN_SECONDS, fine, numbers, 10.0, CHAINS, 100_000),
    }  # fmt: skip


def tilted(count: int) -> dict[str, Any]:
    return {"starts": {"l0.angle": 0.3 + 0.003 * np.random.default_rng(3).normal(size=count)}}


def lockstep_figures(device: str) -> dict[str, float]:
    """Members a second in lock-step; on a GPU also by the clock, with all that the call does besides."""
    figures = {}
    for name, case in cases().items():
        _, whole = case.run(device, 8)  # builds the loop
        where, count = ("cpu", case.few) if whole is None else ("gpu", case.many)
        runs = [case.run(where, count) for _ in range(1 if name == "numbers" else 3)]
        figures[f"lockstep_{name}_per_s"] = count / min(seconds for seconds, _ in runs)
        if where == "gpu":
            figures[f"lockstep_{name}_per_s_whole"] = count / min(whole for _, whole in runs if whole is not None)
    return figures


def heights(count: int) -> np.ndarray:
    return 1.0 + 0.2 * np.random.default_rng(2).uniform(size=count)


def ball() -> pl.System:
    system = pl.System("ball", gravity=(0, -GRAVITY))
    body = system.add("ball", pl.RigidBody(mass=MASS, inertia=1e-3), joint=pl.Planar(position=(0.0, 1.0)))
    system.contact(points=pl.Sphere(body.root, RADIUS), against=pl.Plane(normal=(0, 1)), normal=pl.Hertz(stiffness=STIFFNESS))
    return system


def balls(count: int = BALLS) -> float:
    """Seconds of the processor of an ensemble of bouncing balls."""
    compiled, method = pl.compile_system(ball()), pl.RKF45(rtol=RTOL, atol=ATOL)
    began = time.process_time()
    ds = pl.ensemble(compiled, SECONDS, starts={"ball.y": heights(count)}, method=method, threads=1, loop="general")
    assert ds.ok.all() and (ds.touches == 1).all()
    return time.process_time() - began


def scipy_ball(height: float) -> float:
    """Where the ball is after a second."""

    def flight(t: float, y: np.ndarray) -> tuple[float, float]:
        return y[1], -GRAVITY

    def touching(t: float, y: np.ndarray) -> tuple[float, float]:
        return y[1], -GRAVITY + STIFFNESS / MASS * max(RADIUS - y[0], 0.0) ** 1.5

    def gap(t: float, y: np.ndarray) -> float:
        return float(y[0] - RADIUS)

    gap.terminal = True  # type: ignore[attr-defined]
    t, y, closed = 0.0, np.array([height, 0.0]), False
    while t < SECONDS:
        gap.direction = 1.0 if closed else -1.0  # type: ignore[attr-defined]
        run = solve_ivp(touching if closed else flight, (t, SECONDS), y, rtol=RTOL, atol=ATOL, events=gap)
        t, y, closed = float(run.t[-1]), run.y[:, -1], not closed
    return float(y[0])


def peers() -> dict[str, float]:
    began = time.process_time()
    ends = [scipy_ball(height) for height in heights(20)]
    scipy_seconds = (time.process_time() - began) / 20
    job = {"heights": heights(BALLS).tolist(), "seconds": SECONDS, "gravity": GRAVITY, "stiffness": STIFFNESS, "mass": MASS,
           "radius": RADIUS, "rtol": RTOL, "atol": ATOL}  # fmt: skip
    by_hand = ask("numba_ball.py", job, "numba")
    assert np.allclose(by_hand["ends"][:20], ends, atol=1e-3)
    return {"scipy_ball_per_s": 1.0 / scipy_seconds, "numba_ball_per_s": by_hand["per_s"]}


def scattered_chains(count: int) -> None:
    """Heights, angles, restitution and friction of the chain at random: what becomes of them."""
    rng = np.random.default_rng(7)
    restitution, mu = pl.Parameter("restitution", 0.5, low=0.0, high=1.0), pl.Parameter("mu", 0.2, low=0.0, high=1.0)
    section = pl.Section(A=3.75e-4, Iz=4.883e-9, shear_factor=5 / 6)
    system = pl.System("scattered chain", gravity=(0, -9.81))
    frame = None
    for name in "abc":
        beam = pl.Beam(length=1.0, mass_per_length=1.0, theory="timoshenko", section=section, modes=pl.Modes("ss", 1),
                       rotary_inertia=2.9473e-5, material=pl.Material(E=2e11, G=7.7e10), stiffening="none")  # fmt: skip
        joint = pl.Planar(position=(0.0, 1.0), angle=0.3) if frame is None else pl.Revolute(angle=0.2)
        frame = (system.add(name, beam, joint=joint) if frame is None else system.add(name, beam, joint=joint, on=frame)).tip
    system.contact(points=system.ends(), against=pl.Plane(normal=(0, 1)), normal=pl.HuGuo(stiffness=1e8, restitution=restitution),
                   friction=pl.Ambrosio(mu=mu, v0=1e-3, v1=1e-2))  # fmt: skip
    starts = {"a.y": rng.uniform(3.0, 4.5, count), **{f"{name}.angle": rng.uniform(-0.7, 0.7, count) for name in "abc"}}
    began = time.perf_counter()
    ds = pl.ensemble(
        system, CHAIN_SECONDS, starts=starts, method=pl.DOP853(rtol=FINE, atol=1e-3 * FINE),
        parameters={"restitution": rng.uniform(0.2, 0.9, count), "mu": rng.uniform(0.0, 0.6, count)},
        keep=("final", "contacts", "ledger", pl.ExtremesOf("gap")),
    )  # fmt: skip
    seconds = time.perf_counter() - began
    ledger = (ds.balance_error / ds.balance_scale).values
    deepest = float(ds.gap_lowest.min())
    not_a_number = int(np.isnan(ds.q_end.values).any(axis=1).sum())
    print(f"{count} scattered chains in {seconds:.0f} s, {count / seconds:.0f} a second; touches {int(ds.touches.sum())}, not ok "
          f"{int((~ds.ok).sum())}, nan {not_a_number}, deepest gap {1e3 * deepest:.2f} mm, worst ledger {np.nanmax(ledger):.2g}, "
          f"above 1e-6: {int((ledger > 1e-6).sum())}")  # fmt: skip
    for message in sorted(set(ds.message.values[~ds.ok.values].tolist())):
        print("  ", message)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--chains", type=int)
    parser.add_argument("--device", choices=("cpu", "gpu", "auto"))
    options = parser.parse_args()
    if options.chains:
        scattered_chains(options.chains)
        return
    if options.device is not None:
        report(lockstep_figures(options.device), options.json)
        return
    chains(1, 4)
    one, two = chains(1), chains(2)
    balls(100)
    own = {"falling_chain_per_s_core": CHAINS / one[0], "ball_per_s_core": BALLS / balls(), "speedup_2": one[1] / two[1]}
    report({**own, **peers()}, options.json)


def report(figures: dict[str, float], file: Path | None) -> None:
    print("\n".join(f"{name:26} {value:12.4g}" for name, value in figures.items()))
    if file is not None:
        file.write_text(json.dumps(figures) + "\n")


if __name__ == "__main__":
    main()
