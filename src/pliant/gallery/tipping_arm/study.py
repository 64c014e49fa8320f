"""`pliant reproduce tipping-arm`: the arm in two geometries, full and as published, with three bending stiffnesses, with and
without damping of wall and structure; the paper's claims and its figures 2 to 5; and the spin-up, which tests the stiffening.

Runs are tight (DOP853, rtol 1e-12).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path

from pliant.gallery.reproduction import PNG, Pictures, Progress, Summary, publish
from pliant.gallery.tipping_arm import spin_up
from pliant.gallery.tipping_arm.claims import BENDINGS, SOFTER, Study, claims
from pliant.gallery.tipping_arm.figures import figures
from pliant.gallery.tipping_arm.runs import Run, first_knock, run, run_all
from pliant.gallery.tipping_arm.system import ALPHA, MODELS, STIFFNESS, WALL, Case
from pliant.integrate.methods.method import VariablePrecisionRK4

CASES, COMPUTING = 0.55, 0.75  # fractions of the progress: when the cases are done, and when all runs are
PAPERS = VariablePrecisionRK4(rtol=1e-8, atol=1e-11)  # the paper's method; it gives no tolerance
MODES = (1, 2, 3, 4, 5, 6)  # exact cantilever modes, for the convergence of the contact force
RAISED = (0.0, 0.5, 1.0)  # rad, of the arm of body and arm
SPIN_UP_MODES = (1, 2, 3, 4)
IMPACT_OVER = 0.41  # s: the first impact is over by then; only the peak of its force is used


def reproduce(out: Path, progress: Progress, pictures: Pictures = PNG) -> Summary:
    """Run, draw and write everything into a folder that exists; returns what summary.json holds."""
    study = compute(progress)
    methods = {f"variable-precision RK4, rtol {PAPERS.rtol:g}": run(Case(), PAPERS).result}
    return publish(out, "tipping-arm", progress, pictures, COMPUTING, study=study, draw=figures(study, methods),
                   results={name: done.result for name, done in study.runs.items() if name.startswith("down45/full/hertz/")},
                   cases=study.entries, claims=claims(study), methods=methods, warnings=study.undrawn,
                   spin_up={name: done.entry for name, done in study.spin_up.items()})  # fmt: skip


def compute(progress: Progress) -> Study:
    """All runs; of those that are not drawn, only summary numbers and warnings are kept."""
    entries, kept, undrawn = {}, {}, {}
    for k, geometry in enumerate(WALL):
        for done in _cases(geometry, progress, k):
            entries[done.case.name] = done.entry
            if _drawn(done.case):
                kept[done.case.name] = done
            elif done.result.warnings:
                undrawn[f"runs/{done.case.name}"] = list(done.result.warnings)
    progress("running other walls, other numbers of modes, the spin-up", CASES)
    return Study(
        entries=entries,
        runs=kept,
        undrawn=undrawn,
        dashpot={done.case.bending: done for done in run_all(law=["dashpot"], bending=BENDINGS)},
        soft={done.case.bending: done for done in run_all(stiffness=[STIFFNESS / SOFTER], bending=BENDINGS)},
        by_modes=dict(zip(MODES, run_all(modes=MODES, t_end=IMPACT_OVER), strict=True)),
        shoulder={raised: (first_knock(True, raised), first_knock(False, raised)) for raised in RAISED},
        spin_up={done.name: done for done in _spins()},
    )


def _cases(geometry: str, progress: Progress, before: int) -> list[Run]:
    """The 24 cases of summary.json that fall in this direction; before: the number of directions already done."""

    def tell(share: float) -> None:
        progress(f"running {geometry}", CASES * (before + share) / len(WALL))

    return run_all(tell, geometry=[geometry], model=MODELS, law=("hertz", "hunt-crossley"), alpha=(0.0, ALPHA), bending=BENDINGS)


def _drawn(case: Case) -> bool:
    if case.geometry == "down45" and case.model == "full":
        return True
    return case.law == "hertz" and case.alpha == 0.0 and (case.geometry == "down45" or case.model == "full")


def _spins() -> Iterator[spin_up.SpinUp]:
    for stiffening, modes in product(spin_up.STIFFENINGS, SPIN_UP_MODES):
        yield spin_up.run(stiffening, modes)
