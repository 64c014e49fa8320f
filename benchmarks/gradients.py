"""Derivatives of whole runs through impacts: what they cost and how exact they are.

    python benchmarks/gradients.py [--repeat 7] [--peer] [--json FILE]

Ten parameters of the falling chain (lengths, Young's modulus, mass, contact stiffness, restitution, friction, drop height, angle,
gravity, damping): `pl.sensitivities` against one run at the same tolerances, and against central differences, in processor time and
in error. Errors are of the final state's derivatives through the first impacts, against a run of our own at rtol 1e-13 with S held
to its error; the test suite holds that against extrapolated differences. --peer: a rigid ball that bounces on a spring and a
dashpot, differentiated by diffrax in an environment of its own.
"""

from __future__ import annotations

import argparse
import json
import math
import platform
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from peer_environments import ask

import pliant as pl
from pliant.gallery.falling_chain import system as paper

PARAMETERS = ["length", "young", "mass", "stiffness", "e", "mu", "drop", "angle", "gravity", "damping"]
COST_RTOL = 1e-6  # at which the falling chain is usually timed
FIRST_IMPACTS = 0.53  # s: ten impacts
WHOLE = 1.5  # s: 26 impacts
TO_THE_END = 1e-10  # rtol at which derivatives exist to the end of it
TARGET = 6.0  # times one run
BALL = {"stiffness": 1e4, "damping": 8.0, "height": 0.3, "gravity": 9.81}
BALL_MASS, BALL_END = 0.7, 1.1  # kg, s: through two bounces


def falling_chain(angle: float = 29.0) -> pl.System:
    """As published but for mode shapes, which are the links' own; turned a little, so that no two ends hit at once."""
    length, young, mass = pl.Parameter("length", 1.0), pl.Parameter("young", paper.YOUNG), pl.Parameter("mass", paper.MU)
    damping, gravity = pl.Parameter("damping", paper.AIR), pl.Parameter("gravity", 9.81)
    link = pl.Beam(length=length, section=pl.Section(A=paper.AREA, Iz=paper.INERTIA, shear_factor=paper.SHEAR_FACTOR),
                   material=pl.Material(E=young, G=paper.SHEAR), theory="timoshenko", mass_per_length=mass,
                   rotary_inertia=paper.ROTARY, modes=pl.Modes("ss", 1), stiffening="none",
                   damping=(pl.KelvinVoigt(paper.VISCOSITY), pl.AirDrag(damping)))  # fmt: skip
    system = pl.System("falling chain", gravity=(0.0, -gravity))
    position = (-0.5 - math.sin(pl.deg(60.0)), pl.Parameter("drop", 0.9))
    a = system.add("a", link, joint=pl.Planar(position=position, angle=pl.Parameter("angle", pl.deg(angle))))
    b = system.add("b", link, joint=pl.Revolute(angle=pl.deg(-30.0)), on=a.tip)
    c = system.add("c", link, joint=pl.Revolute(angle=pl.deg(-30.0)), on=b.tip)
    normal = pl.HuGuo(stiffness=pl.Parameter("stiffness", paper.STIFFNESS), restitution=pl.Parameter("e", paper.RESTITUTION))
    friction = pl.Ambrosio(mu=pl.Parameter("mu", paper.FRICTION), v0=paper.V0, v1=paper.V1)
    system.contact(points=[a.root, a.tip, b.tip, c.tip], against=pl.Plane(normal=(0, 1)), normal=normal, friction=friction,
                   name="ground")  # fmt: skip
    return system


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=7, help="runs of each, of which the fastest counts")
    parser.add_argument("--peer", action="store_true", help="install diffrax, apart, and compare with it")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()

    system = falling_chain()
    print(f"falling chain, ten parameters; best of {options.repeat}, processor time, {platform.machine()}, Python "
          f"{platform.python_version()}")  # fmt: skip
    published = falling_chain(30.0)
    costs = [cost(*asked, options.repeat) for asked in ((system, FIRST_IMPACTS, COST_RTOL), (published, WHOLE, COST_RTOL),
                                                        (published, WHOLE, TO_THE_END))]  # fmt: skip
    errors = accuracy(system)
    report: dict[str, Any] = {
        "cost_ratio_10": max(row["ratio"] for row in costs),
        "worst_relative_error": min(row["controlled"] for row in errors),
        "costs": costs,
        "errors": errors,
    }
    if options.peer:
        report |= ball(options.repeat)
    met = "met" if report["cost_ratio_10"] <= TARGET else "missed"
    print(f"ten parameters cost at most {report['cost_ratio_10']:.2f} times one run; at most {TARGET:g} asked: {met}")
    if options.json:
        options.json.write_text(json.dumps(report, indent=1) + "\n")


def fastest(function: Callable[[], Any], repeat: int) -> float:
    """Processor time, s."""
    taken = []
    for _ in range(repeat + 1):  # the first also warms up
        began = time.process_time()
        function()
        taken.append(time.process_time() - began)
    return min(taken[1:])


def cost(system: pl.System, t_end: float, rtol: float, repeat: int) -> dict[str, Any]:
    """Of one run, of derivatives, of derivatives with the whole table, and of central differences."""
    method = pl.DOP853(rtol=rtol, atol=1e-3 * rtol)
    run = fastest(lambda: pl.simulate(system, t_end, method=method), repeat)
    ours = fastest(lambda: pl.sensitivities(system, t_end, PARAMETERS, method=method), repeat)
    controlled = fastest(lambda: pl.sensitivities(system, t_end, PARAMETERS, method=method, control=True), repeat)
    table = fastest(lambda: pl.sensitivities(system, t_end, PARAMETERS, method=method).table, repeat)
    found = pl.sensitivities(system, t_end, PARAMETERS, method=method)
    row = {"t_end": t_end, "rtol": rtol, "impacts": len(found.result.contacts), "until": found.until, "run_ms": 1e3 * run,
           "sensitivities_ms": 1e3 * ours, "ratio": ours / run, "ratio_controlled": controlled / run,
           "ratio_with_table": table / run, "ratio_central_differences": 2.0 * len(PARAMETERS),
           "undefined": [str(said) for said in found.undefined]}  # fmt: skip
    print(f"  {t_end:g} s at rtol {rtol:g}, {row['impacts']} impacts, derivatives until {found.until:.3g} s: "
          f"run {row['run_ms']:.1f} ms, derivatives {row['sensitivities_ms']:.1f} ms = {row['ratio']:.2f} runs, "
          f"{row['ratio_controlled']:.2f} with their own error control, {row['ratio_with_table']:.2f} with the whole table; "
          f"central differences {2 * len(PARAMETERS)} runs")  # fmt: skip
    for said in found.undefined:
        print(f"    {said}")
    return row


def accuracy(system: pl.System) -> list[dict[str, float]]:
    """Worst relative error over the ten parameters, by tolerance: of derivatives, and of differences with their best step."""
    asked = (system, FIRST_IMPACTS, PARAMETERS)
    best = pl.sensitivities(*asked, method=pl.DOP853(1e-13, 1e-16), control=True, save=[FIRST_IMPACTS])
    rows = []
    for rtol in (1e-6, 1e-8, 1e-10, 1e-12):
        method = pl.DOP853(rtol, 1e-3 * rtol)
        row = {"rtol": rtol}
        for name, control in (("plain", False), ("controlled", True)):
            found = pl.sensitivities(*asked, method=method, control=control, save=[FIRST_IMPACTS])
            row[name] = max(_errors(found.final, best.final))
        row["central_differences"] = max(_errors(_differences(system, method, best.final), best.final))
        rows.append(row)
        print(f"  rtol {rtol:g}: worst relative error {row['plain']:.1e}, {row['controlled']:.1e} with error control; central "
              f"differences {row['central_differences']:.1e}")  # fmt: skip
    return rows


def _errors(ours: Any, best: Any) -> list[float]:
    return list(np.linalg.norm(ours - best, axis=0) / np.linalg.norm(best, axis=0))


def _differences(system: pl.System, method: pl.DOP853, best: Any) -> Any:
    """Central differences, of each parameter with the step that comes nearest to the truth: better than anyone can do."""
    values = {name: parameter.value for name, parameter in system.parameters.items()}
    columns = []
    for k, name in enumerate(PARAMETERS):
        trials = []
        for step in (1e-2, 1e-3, 1e-4, 1e-5, 1e-6):
            h = step * values[name]
            ends = [_final(system, FIRST_IMPACTS, method, name, values[name] + side * h) for side in (1.0, -1.0)]
            trials.append((ends[0] - ends[1]) / (2.0 * h))
        columns.append(min(trials, key=lambda trial: float(np.linalg.norm(trial - best[:, k]))))
    return np.column_stack(columns)


def _final(system: pl.System, t_end: float, method: pl.DOP853, name: str, value: float) -> Any:
    state = pl.simulate(system, t_end, method=method, parameters={name: value}, save=[t_end]).final_state
    assert state is not None
    return state.y


# ---- a bouncing ball, beside diffrax


def bouncing_ball() -> pl.System:
    stiffness, damping, height, gravity = (pl.Parameter(name, value) for name, value in BALL.items())
    system = pl.System("ball", gravity=(0.0, -gravity))
    ball = system.add("ball", pl.RigidBody(mass=BALL_MASS, inertia=1.0), joint=pl.Prismatic(displacement=height, axis="y"))
    law = pl.Linear(stiffness=stiffness, damping=damping)
    system.contact(points=ball.root, against=pl.Plane(normal=(0, 1)), normal=law, name="floor")
    return system


def ball(repeat: int) -> dict[str, Any]:
    """Derivatives of height and speed after two bounces: ours and diffrax's, against extrapolated differences."""
    system, rtol = bouncing_ball(), 1e-10
    found = pl.sensitivities(system, BALL_END, list(BALL), method=pl.DOP853(rtol, 1e-3 * rtol), control=True, save=[BALL_END])
    assert found.final is not None
    expected = np.column_stack([_extrapolated(system, name) for name in BALL])
    answer = {"bouncing_ball_error": float(max(_errors(found.final[:2], expected)))}
    job = {"theta": list(BALL.values()), "mass": BALL_MASS, "t_end": BALL_END, "rtol": rtol, "repeat": repeat}
    try:
        theirs = ask("diffrax_ball.py", job, "diffrax")
    except Exception as trouble:  # no wheel for this machine, no network
        print(f"  diffrax: not compared ({str(trouble).strip().splitlines()[-1]})")
        return {**answer, "diffrax_error": None}
    errors = _errors(np.array(theirs["slopes"]), expected)
    ratio = theirs["slopes_s"] / theirs["run_s"]
    answer |= {"diffrax_version": theirs["version"], "diffrax_error": float(max(errors)), "diffrax_ratio": ratio,
               "diffrax_errors": dict(zip(BALL, errors, strict=True))}  # fmt: skip
    print(f"  bouncing ball: worst relative error {answer['bouncing_ball_error']:.1e}; diffrax {theirs['version']} "
          f"{max(errors):.1e} (nan: {any(math.isnan(e) for e in errors)}), {ratio:.1f} of its own runs")  # fmt: skip
    return answer


def _extrapolated(system: pl.System, name: str) -> Any:
    slopes = []
    for share in (1.0, 0.5, 0.25):
        h = share * 1e-3 * BALL[name]
        ends = [_final(system, BALL_END, pl.DOP853(1e-13, 1e-16), name, BALL[name] + side * h) for side in (1.0, -1.0)]
        slopes.append((ends[0][:2] - ends[1][:2]) / (2.0 * h))
    coarse, fine = (4.0 * slopes[1] - slopes[0]) / 3.0, (4.0 * slopes[2] - slopes[1]) / 3.0
    return (16.0 * fine - coarse) / 15.0


if __name__ == "__main__":
    main()
