"""`pliant reproduce clearance`: a bearing with three clearances, rubbed and elastic; and a slider with play in its guide."""

from __future__ import annotations

from pathlib import Path

from pliant.gallery.clearance.claims import STRONG, Study, claims
from pliant.gallery.clearance.figures import figures
from pliant.gallery.clearance.runs import convergence, guided, ideal, poincare, run, until_touch
from pliant.gallery.clearance.system import CLEARANCES, FRICTION, Case, guided_slider_crank, slider_crank
from pliant.gallery.reproduction import PNG, Pictures, Progress, Summary, publish

COMPUTING = 0.7  # fraction of the progress
FREE_END, GUIDED_FREE_END = 5e-4, 5e-3  # s: by then both have touched


def reproduce(out: Path, progress: Progress, pictures: Pictures = PNG) -> Summary:
    """Run, draw and write everything into a folder that exists; returns what summary.json holds."""
    study = compute(progress)
    runs = {f"{kind}/{1e3 * clearance:g}mm": one for kind, of in
            (("smooth", study.smooth), ("rubbed", study.rubbed), ("braked", study.braked), ("elastic", study.elastic))
            for clearance, one in of.items()} | {"line": study.line}  # fmt: skip
    results = {name: one.result for name, one in runs.items()} | {f"guided/{name}": one for name, one in study.guided.items()}
    return publish(out, "clearance", progress, pictures, COMPUTING, study=study, results=results, draw=figures(study),
                   cases={name: one.summary for name, one in runs.items()}, claims=claims(study))  # fmt: skip


def compute(progress: Progress) -> Study:
    """All runs."""
    kinds = {"smooth": {}, "rubbed": {"friction": FRICTION}, "braked": {"friction": STRONG}, "elastic": {"elastic": True}}
    found = {}
    for k, (kind, of) in enumerate(kinds.items()):
        progress(f"running the bearing, {kind}", COMPUTING * k / (len(kinds) + 1))
        found[kind] = {clearance: run(Case(clearance, **of)) for clearance in CLEARANCES}  # type: ignore[arg-type]
    progress("running maps, tolerances and the guide", COMPUTING * len(kinds) / (len(kinds) + 1))
    free = {f"bearing, {1e3 * c:g} mm": until_touch(slider_crank(Case(c)), slider_crank(Case(c), touching=False), FREE_END)
            for c in CLEARANCES}  # fmt: skip
    free["guide"] = until_touch(guided_slider_crank(), guided_slider_crank(touching=False), GUIDED_FREE_END)
    return Study(
        **found,
        line=run(Case(law="johnson")),
        ideal=ideal(),
        free=free,
        convergence=convergence(Case()),
        maps={friction: poincare(Case(friction=friction)) for friction in (0.0, STRONG)},
        guided={"impulsive": guided(), "elastic": guided(impulsive=False)},
    )
