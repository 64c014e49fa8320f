"""The falling chain and the slider-crank under impact, the same models in pliant and in Exudyn, at equal error.

Exudyn gets the links as floating frames with pliant's own mode shapes, and Hunt and Crossley's law with the restitution that gives
it the coefficient of ours. The chain has no friction here: Exudyn's balls rub half their depth away from where ours do.
Seconds are of the processor, so that what else runs on the machine does not count.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

import numpy as np
from peer_environments import ask

import pliant as pl
from pliant.beams import beam_shapes, shape_integrals
from pliant.beams.quadrature import nodes
from pliant.gallery.falling_chain import system as chain
from pliant.gallery.slider_crank import system as crank
from pliant.model.hertz import hertz_stiffness

TOLERANCES = tuple(10.0 ** (-0.5 * k) for k in range(4, 21))  # rtol 1e-2 to 1e-10
REFERENCE = pl.DOP853(rtol=1e-12, atol=1e-15)
REPEAT = 5
BALL = 5e-3  # m: radius of the balls that Exudyn has for points; larger than they sink in, or it loses the contact
RING = 1e-2  # m: of the points that tell Exudyn how an end is turned
OFFSETS = RING * np.array([[0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]])

# Of the settings tried the fastest. Touches begin and end with whole steps: the search for their times fails in both systems.
EXUDYN = {
    "timeIntegration.newton.relativeTolerance": 1e-6,
    "timeIntegration.discontinuous.ignoreMaxIterations": True,
    "timeIntegration.discontinuous.useRecommendedStepSize": False,
}


@dataclass(frozen=True)
class Case:
    """One mechanism: pliant's System, Exudyn's job, and what is compared: the path of some points, every so many seconds."""

    system: pl.System
    job: dict[str, Any]
    path: Callable[[pl.Result], np.ndarray]  # (time, point, axis), m
    steps: tuple[int, ...]  # of Exudyn's runs; one of them is the one to report


def falling_chain() -> Case:
    """0.6 s: the flight, then the first impacts of the outer ends and of the inner ones, without friction."""
    system = chain.falling_chain()
    ends = system.ends()
    system.contacts.clear()
    law = pl.HuGuo(stiffness=chain.STIFFNESS, restitution=chain.RESTITUTION)
    system.contact(points=ends, against=pl.Plane(normal=(0, 1)), normal=law, name="ground")
    link = exported(chain.link("ss"))
    job = {
        "model": "falling_chain", "links": [link] * 3, "angles": [math.radians(a) for a in (30.0, 0.0, -30.0)],
        "length": chain.LENGTH, "position": [-0.5 - math.sin(math.radians(60.0)), 0.9], "gravity": -9.81, "ball": BALL,
        "contact_stiffness": chain.STIFFNESS,
        "restitution": 1.0 - (1.0 - chain.RESTITUTION) / chain.RESTITUTION,  # 3/2 (1 - e') = 3/2 (1 - e) / e
        "t_end": 0.6, "flight": [0.42, 42], "every": 0.01,
    }  # fmt: skip

    def path(result: pl.Result) -> np.ndarray:
        tips = [result.of_body("tip_position", name) for name in "abc"]
        return np.stack([result.of_body("root_position", "a"), *tips], axis=1)[..., :2]

    return Case(system, job, path, (1800, 7200, 18000))


def slider_crank() -> Case:
    """0.05 s: a third of a turn, the rod of one element bending freely, and the impact of two touches."""
    lean = -math.asin(crank.CRANK * math.sin(crank.START) / crank.ROD)
    lean_rate = -crank.CRANK * math.cos(crank.START) * crank.SPEED / (crank.ROD * math.cos(lean))
    job = {
        "model": "slider_crank", "links": [exported(crank.rod(1))], "crank": crank.CRANK, "angle": crank.START,
        "speed": crank.SPEED, "crank_mass": crank.SLIDER_MASS, "slider_mass": crank.SLIDER_MASS, "lean": lean,
        "lean_rate": lean_rate, "slider": crank.CRANK * math.cos(crank.START) + crank.ROD * math.cos(lean),
        "slider_speed": -crank.CRANK * math.sin(crank.START) * crank.SPEED - crank.ROD * math.sin(lean) * lean_rate,
        "stop": crank.TOUCH, "contact_stiffness": hertz_stiffness(crank.SPHERE, crank.STEEL, crank.SPHERE, crank.STEEL),
        "restitution": 1.0 - 0.5 * (1.0 - crank.RESTITUTION**2),  # 3/2 (1 - e') = 3/4 (1 - e^2)
        "t_end": 0.05, "flight": None, "every": 1e-3,
    }  # fmt: skip

    def path(result: pl.Result) -> np.ndarray:
        return result.of_body("tip_position", "rod")[:, None, :2]

    return Case(crank.slider_crank(1), job, path, (5000, 20000, 50000))


def compare(case: Case, longest: int | None = None) -> dict[str, Any]:
    """Runs of both, against one converged solution; the finest of Exudyn's, and the roughest of ours that is reliably as good."""
    steps = [n for n in case.steps if longest is None or n <= longest] or [case.steps[0]]
    job = {**case.job, "steps": steps, "solver": "TrapezoidalIndex2", "settings": EXUDYN}
    answer = ask("exudyn_models.py", job, "exudyn", "scipy")
    compiled = pl.compile_system(case.system)
    best = case.path(pl.simulate(compiled, job["t_end"], method=REFERENCE, save=job["every"]))
    theirs = []
    for n, run in zip(steps, answer["runs"], strict=True):
        if not run["solved"]:
            raise RuntimeError(f"Exudyn did not finish with {n} steps")
        path = np.array(run["positions"]).transpose(1, 0, 2)
        theirs.append({"steps": n, "s": run["seconds"], "error": float(np.max(np.abs(path - best)))})
    ours = [_pliant(case, compiled, rtol, best) for rtol in TOLERANCES]
    finest = theirs[-1]
    # from the tightest on, as long as they are as good: a rough run that is so by luck is passed over
    equal = list(takewhile(lambda run: run["error"] <= finest["error"], reversed(ours)))[-1]
    return {
        "pliant_s": equal["s"], "pliant_error": equal["error"], "exudyn_s": finest["s"], "exudyn_error": finest["error"],
        "pliant_runs": ours, "exudyn_runs": theirs, "exudyn_version": answer["version"],
    }  # fmt: skip


def _pliant(case: Case, compiled: Any, rtol: float, best: np.ndarray) -> dict[str, float]:
    """A whole warm simulate(), the fastest of several."""
    seconds, method = math.inf, pl.DOP853(rtol=rtol, atol=1e-3 * rtol)
    for _ in range(REPEAT + 1):
        began = time.process_time()
        result = pl.simulate(compiled, case.job["t_end"], method=method, save=case.job["every"])
        seconds = min(seconds, time.process_time() - began)
    error = float(np.max(np.abs(case.path(result) - best)))
    return {"rtol": rtol, "s": seconds, "error": error, "rhs_evaluations": result.stats["rhs_evaluations"]}


def exported(beam: pl.Beam) -> dict[str, Any]:
    """A beam as Exudyn's job has it: ends, a ring about the tip, then the points of a Gauss rule that carry the mass."""
    shapes = beam_shapes(beam)
    integrals = shape_integrals(beam, shapes)
    x, weight = nodes(np.array([0.0, beam.length]))  # one panel: these shapes are smooth
    ends = np.array([0.0, beam.length])
    moves, turns = shapes.displacement(ends), shapes.rotation(ends)
    places, fields = [[0.0, 0.0, 0.0], [beam.length, 0.0, 0.0]], [*moves]
    for offset in OFFSETS:
        places.append([beam.length + offset[0], offset[1], offset[2]])
        fields.append(moves[1] + np.cross(turns[1].T, offset).T)
    damping = sum(integrals.damping.values(), np.zeros_like(integrals.stiffness))
    proportion = float(damping[0, 0] / integrals.stiffness[0, 0])
    assert np.allclose(damping, proportion * integrals.stiffness), "one mode, or damping in proportion to stiffness"
    return {
        "places": [*places, *([at, 0.0, 0.0] for at in x.tolist())],
        "masses": [0.0] * len(places) + (beam.mu * weight).tolist(),
        "shapes": [field.tolist() for field in [*fields, *shapes.displacement(x)]],
        "modal_mass": integrals.modal_mass.tolist(),
        "stiffness": integrals.stiffness.tolist(),
        "rotary": float(integrals.rotary[2, 2]),
        "alpha": 0.0,
        "beta": proportion,
    }


CASES: dict[str, Callable[[], Case]] = {"falling_chain": falling_chain, "slider_crank": slider_crank}


def table(name: str, found: dict[str, Any]) -> Sequence[str]:
    """Lines of a work-precision table."""
    margin = " " * (len(name) + 2)
    lines = [f"{name}: {'program':<26}{'error, m':>10}{'seconds':>12}"]
    labelled = [(f"Exudyn, {run['steps']} steps", run) for run in found["exudyn_runs"]]
    labelled += [(f"pliant, rtol {run['rtol']:.1e}", run) for run in found["pliant_runs"]]
    lines += [f"{margin}{label:<26}{run['error']:>10.1e}{run['s']:>12.4f}" for label, run in labelled]
    ratio = found["exudyn_s"] / found["pliant_s"]
    lines.append(f"{margin}equal error: Exudyn {found['exudyn_s']:.3g} s, pliant {found['pliant_s']:.3g} s, {ratio:.0f} times")
    return lines
