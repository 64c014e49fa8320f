"""`pliant reproduce parallel-robot`: the rose by multipliers and by penalty springs of Ks = 1e1 ... 1e8 N/m; claims, figures.

Springs are run with tight tolerances (DOP853, rtol 1e-12), which show the effect of the springs themselves, and with the paper's
method and tolerance, which show what the paper observed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from pliant.gallery.parallel_robot.claims import REACTIONS_AT, STRAYED_AT, Study, claims
from pliant.gallery.parallel_robot.figures import figures
from pliant.gallery.parallel_robot.runs import (
    OTHER_RULES,
    PAPERS,
    STIFFNESSES,
    Run,
    derivations,
    inverse,
    run,
    run_springs,
    strayed,
)
from pliant.gallery.parallel_robot.system import T_LOOP
from pliant.gallery.reproduction import PNG, Pictures, Progress, Summary, publish

COMPUTING = 0.8  # of the whole
DAMPING = 100.0  # N s/m: gives damping ratios of 0.026 to 0.080 for the six oscillations at REACTIONS_AT
STARTS: dict[str, Any] = {"c(0) = 0": {}, "prestretched": {"prestretched": True}, "damped": {"damping": DAMPING}}
STIFFEST = ("1e6", "1e7", "1e8")  # Ks run with another step control too
CALM = ("1e4", "1e5", "1e6")  # Ks run from a prestretched start too
FORMULAS = ("elongations", "scaled", "polar", "squared")  # that close the loops
LOOP_ROWS = 401
BEGINNING = np.linspace(0.0, 0.2, 1001)  # s: enough rows for oscillations of 255 Hz


def reproduce(out: Path, progress: Progress, pictures: Pictures = PNG) -> Summary:
    """Run, draw and write everything into a folder that exists; returns what summary.json holds."""
    study = compute(progress)
    runs = cases(study)
    methods = {
        f"{formulation}, Ks = {REACTIONS_AT}": run(STIFFNESSES[REACTIONS_AT], PAPERS, formulation=formulation).result
        for formulation in ("denoc", "lagrange")
    }
    return publish(out, "parallel-robot", progress, pictures, COMPUTING, study=study, draw=figures(study, methods),
                   results={name: done.result for name, done in runs.items()}, claims=claims(study), methods=methods,
                   cases={name: done.case for name, done in runs.items()}, inverse=study.inverse.case)  # fmt: skip


def cases(study: Study) -> dict[str, Run]:
    """Runs by their names in summary.json."""
    tight = {f"springs/{ks}": done for ks, done in study.tight.items()}
    rough = {f"springs-rk45/{ks}": done for ks, done in study.rk45.items()}
    return {"multipliers": study.multipliers, **tight, **rough}


def compute(progress: Progress) -> Study:
    """All runs."""
    progress("closing the loops exactly", 0.0)
    run()  # what a process does only once does not count towards a case's time
    progress("tight springs", COMPUTING * 0.1)
    tight = run_springs(list(STIFFNESSES))
    progress("springs as the paper ran them", COMPUTING * 0.5)
    rough = run_springs(list(STIFFNESSES), PAPERS)
    progress("reactions and inverse dynamics", COMPUTING * 0.8)
    exact = run()
    return Study(
        multipliers=exact,
        multipliers_rk45=run(method=PAPERS),
        tight=tight,
        rk45=rough,
        other_rules=run_springs(STIFFEST, OTHER_RULES),
        prestretched=run_springs(CALM, prestretched=True),
        beginnings={name: run(STIFFNESSES[REACTIONS_AT], times=BEGINNING, **start) for name, start in STARTS.items()},
        damped=run(STIFFNESSES[REACTIONS_AT], damping=DAMPING),
        damping=DAMPING,
        inverse=inverse(),
        loop=inverse(np.linspace(0.0, T_LOOP, LOOP_ROWS).tolist()),
        sprung=derivations(tight[REACTIONS_AT], STIFFNESSES[REACTIONS_AT], ("denoc", "lagrange")),
        strayed={name: (strayed(name, STRAYED_AT[0]), strayed(name, STRAYED_AT[1])) for name in FORMULAS},
        exact=derivations(exact, None, ("denoc", "articulated")),
    )
