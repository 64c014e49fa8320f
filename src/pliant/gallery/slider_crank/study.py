"""`pliant reproduce slider-crank`: the impact with 1, 2, 4, 8 elements, damped and not, and a rigid rod; three materials driven.

Internal damping is alpha and beta of the one-element rod, as the paper has it, for every mesh.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from pliant.gallery.reproduction import PNG, Pictures, Progress, Summary, publish
from pliant.gallery.slider_crank.claims import Study, claims
from pliant.gallery.slider_crank.figures import figures
from pliant.gallery.slider_crank.runs import FINE, T_END, Driven, Run, delivered_restitution, drive, drive_all, run, run_all
from pliant.gallery.slider_crank.system import AREA, CRANK, MATERIALS, slider_crank
from pliant.integrate.methods.method import TwoLoop
from pliant.run.simulate import simulate

PAPERS = TwoLoop(rtol=1e-8, atol=1e-11)  # the paper's method; it gives no tolerance
ELEMENTS = (1, 2, 4, 8)
COMPUTING, IMPACTS = 0.7, 0.8  # fraction of the progress, and fraction of that


def reproduce(out: Path, progress: Progress, pictures: Pictures = PNG) -> Summary:
    """Run, draw and write everything into a folder that exists; returns what summary.json holds."""
    study = compute(progress)
    runs: dict[str, Run | Driven] = {
        **{f"undamped/{n}": done for n, done in study.undamped.items()},
        **{f"damped/{n}": done for n, done in study.damped.items()},
        "rigid": study.rigid,
        **{f"driven/{material}": done for material, done in study.driven.items()},
    }
    methods = {"augmented, two loops": simulate(slider_crank(1), T_END, formulation="augmented", method=PAPERS, save=FINE)}
    return publish(out, "slider-crank", progress, pictures, COMPUTING, study=study, draw=figures(study, methods),
                   results={name: done.stored for name, done in runs.items()}, claims=claims(study), methods=methods,
                   cases={name: done.case for name, done in runs.items()})  # fmt: skip


def compute(progress: Progress) -> Study:
    """All runs."""
    most = COMPUTING * IMPACTS
    impacts = run_all(ELEMENTS, (False, True), lambda share: progress("running towards the obstacle", most * share))
    progress("running the driven crank", most)
    driven = drive_all([{"material": material} for material in MATERIALS])
    return Study(
        undamped={n: impacts[n, False] for n in ELEMENTS},
        damped={n: impacts[n, True] for n in ELEMENTS},
        rigid=run(0),
        driven={done.material: done for done in driven},
        driven_fine=drive("steel", max(ELEMENTS)),
        slider_matters=_slider_matters(driven),
        restitution=delivered_restitution(),
    )


def _slider_matters(driven: Sequence[Driven]) -> float:
    """Largest change of the mid-point's deflection if the slider is of the rod's material, m."""
    masses = [{"material": name, "slider_mass": of.density * AREA * CRANK} for name, of in MATERIALS.items() if of.density]
    return max(float(np.max(np.abs(other.v_mid - done.v_mid))) for other, done in zip(drive_all(masses), driven, strict=True))
