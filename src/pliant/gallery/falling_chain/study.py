"""`pliant reproduce falling-chain`: the four mode sets and a rigid chain, the paper's claims, its figures 4 to 14.

Runs use tight tolerances (DOP853, rtol 1e-12). The paper's own method, Runge-Kutta-Fehlberg, is also run, at the tolerance that
reproduces the paper's energy errors, to separate the behaviour of the mechanism from the effects of integration.
"""

from __future__ import annotations

from pathlib import Path

from pliant.gallery.falling_chain.claims import SENSITIVE, Study, claims
from pliant.gallery.falling_chain.figures import figures
from pliant.gallery.falling_chain.runs import OTHER_FRICTION, fehlberg, impacts, inner_friction, mirror_errors, run, run_half
from pliant.gallery.falling_chain.system import MODE_SETS, falling_chain, half_chain
from pliant.gallery.reproduction import PNG, Pictures, Progress, Summary, publish
from pliant.run.prepare import compile_system

COMPUTING = 0.3  # fraction of the progress: figures take longer than runs
COARSE = (1e-3, 3e-4, 1e-4, 1e-5, 1e-6)  # rtol of the paper's method at which impacts are counted


def reproduce(out: Path, progress: Progress, pictures: Pictures = PNG) -> Summary:
    """Run, draw and write everything into a folder that exists; returns what summary.json holds."""
    study = compute(progress)
    return publish(out, "falling-chain", progress, pictures, COMPUTING, study=study, draw=figures(study), claims=claims(study),
                   results={name: tight.result for name, tight in study.tight.items()},
                   cases={name: tight.case for name, tight in study.tight.items()})  # fmt: skip


def compute(progress: Progress) -> Study:
    """All runs."""
    tight, papers, counts, astray = {}, {}, {}, [0.0]
    names = (*MODE_SETS, "rigid")
    for k, name in enumerate(names):
        progress(f"running {name}", COMPUTING * k / len(names))
        compiled = name, compile_system(falling_chain(name))
        tight[name] = run(compiled)
        if name in MODE_SETS:
            papers[name] = run(compiled, fehlberg())
        if name == MODE_SETS[0]:
            counts = {rtol: impacts(compiled[1], rtol) for rtol in COARSE}
        if name == SENSITIVE:
            astray = mirror_errors(*compiled)
    half = compile_system(half_chain(MODE_SETS[0]))
    return Study(
        tight=tight,
        rigid=tight.pop("rigid"),
        papers=papers,
        counts=counts,
        half_counts={rtol: impacts(half, rtol) for rtol in COARSE},
        half=run_half(SENSITIVE),
        rubbed={name: inner_friction(law) for name, law in OTHER_FRICTION.items()},
        astray=astray,
    )
