"""One forward dynamics of rigid spatial chains: pliant, Pinocchio's aba and MuJoCo's mj_forward on the same states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from peer_environments import ask
from recursion import microseconds, rigid_chain

from pliant.codegen.llvm import compile_function
from pliant.trace.tracing import trace

LINKS = (3, 10, 30, 100, 300, 1000)
PEERS = {"pinocchio": ("pinocchio_aba.py", "pin"), "mujoco": ("mujoco_forward.py", "mujoco")}


def state(links: int) -> tuple[list[float], list[float]]:
    """Angles and rates of a chain that is nearly straight and nearly at rest."""
    q, v = 0.1 * np.random.default_rng(links).normal(size=(2, links))
    return q.tolist(), v.tolist()


def measure(links: Sequence[int], peers: Mapping[str, tuple[str, str]]) -> dict[str, Any]:
    """Microseconds by the number of links and the program; how far accelerations are apart; versions; overheads."""
    states = {str(n): state(n) for n in links}
    answers = {name: ask(script, {"states": states}, package) for name, (script, package) in peers.items()}
    microseconds_of: dict[str, dict[str, float | None]] = {}
    apart: dict[str, dict[str, float]] = {}
    compiled: dict[str, float] = {}
    for n, (q, v) in states.items():
        ours, a, compiled[n] = _pliant(int(n), q, v)
        microseconds_of[n] = {"pliant": ours, **{name: answer["us"][n] for name, answer in answers.items()}}
        apart[n] = {
            name: float(np.max(np.abs(np.array(answer["accelerations"][n]) - a)) / np.max(np.abs(a)))
            for name, answer in answers.items()
            if answer["accelerations"][n] is not None
        }
    return {
        "us": microseconds_of,
        "apart": apart,
        "compile_s": compiled,
        "call_us": {name: answer["call_us"] for name, answer in answers.items()},
        "versions": {name: answer["version"] for name, answer in answers.items()},
        "refused": {name: answer["refused"] for name, answer in answers.items() if answer["refused"]},
    }


def _pliant(links: int, q: list[float], v: list[float]) -> tuple[float, np.ndarray, float]:
    """Microseconds, accelerations, and the seconds of LLVM."""
    traced = trace(rigid_chain(links))
    code = compile_function(traced.rhs, cache=None)
    p = traced.parameters(0.0, 1.0)
    y = traced.y0.copy()
    y[:links], y[links : 2 * links] = q, v
    return microseconds(code, p), code(0.0, y, p)[links : 2 * links], code.compile_seconds
