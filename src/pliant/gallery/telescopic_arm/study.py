"""`pliant reproduce telescopic-arm`: the paper's example, the inverse dynamics of a motion, a slow extension; claims, figures.

The example is run as published and consistent, with the paper's force and with one that keeps the arm in its sleeve, and with
one to three modes.
"""

from __future__ import annotations

from pathlib import Path

from pliant.analysis.operation_counts import count_operations
from pliant.gallery.reproduction import PNG, Pictures, Progress, Summary, publish
from pliant.gallery.telescopic_arm.claims import WITNESSES, Study, claims
from pliant.gallery.telescopic_arm.figures import figures
from pliant.gallery.telescopic_arm.runs import continuation, extend, inverse, run
from pliant.gallery.telescopic_arm.system import FORCES, GRAVITY, MODE_COUNTS, MODELS, arms_in_line, telescopic_arm
from pliant.integrate.methods.method import ODE23, ODE45, RK4, RKF45, DormandPrince, Method
from pliant.run.prepare import compile_system

COMPUTING = 0.3  # fraction of the progress: figures take longer than runs
RECURSIONS = ("articulated", "gibbs_appell")
METHODS: dict[str, Method] = {
    "Dormand-Prince": DormandPrince(rtol=1e-8, atol=1e-14),
    "Runge-Kutta-Fehlberg": RKF45(rtol=1e-8, atol=1e-14),
    "Runge-Kutta 4, 0.1 ms": RK4(step=1e-4),
    "Runge-Kutta 4, 0.2 ms": RK4(step=2e-4),
}
MATLAB = {"ode45": ODE45, "ode23": ODE23}
COARSE = ("Runge-Kutta 4 with 1 ms", RK4(step=1e-3))
LINKS = (1, 3)  # whose operations are counted
EXTENSION_ROWS = 4000
REPEAT = 5  # runs of each case, for the time they take


def reproduce(out: Path, progress: Progress, pictures: Pictures = PNG) -> Summary:
    """Run, draw and write everything into a folder that exists; returns what summary.json holds."""
    study = compute(progress)
    return publish(out, "telescopic-arm", progress, pictures, COMPUTING, study=study, draw=figures(study), claims=claims(study),
                   results={name: done.result for name, done in study.runs.items()},
                   cases={name: done.case for name, done in study.runs.items()},
                   inverse={name: done.case for name, done in study.inverse.items()})  # fmt: skip


def compute(progress: Progress) -> Study:
    """All runs."""
    run("consistent")  # what a process does only once does not count towards a case's time
    cases = [(model, force, modes) for model in MODELS for force in FORCES for modes in MODE_COUNTS]
    runs = {}
    for k, (model, force, modes) in enumerate(cases):
        name = f"{model}/{force}/{modes}"
        progress(f"running {name}", COMPUTING * k / len(cases))
        runs[name] = run(model, FORCES[force], modes, repeat=REPEAT)
    progress("inverse dynamics and slow extension", COMPUTING)
    return Study(
        runs=runs,
        inverse={f"{model}/{modes}": inverse(model, modes) for model in MODELS for modes in MODE_COUNTS},
        extensions={model: extend(model, rows=EXTENSION_ROWS) for model in MODELS},
        heavy_until=continuation("as-published", gravity=GRAVITY)[0],
        formulations={
            model: {name: run(model, formulation=name) for name in (*RECURSIONS, witness)} for model, witness in WITNESSES.items()
        },
        methods={name: run("as-published", method=method) for name, method in METHODS.items()},
        coarse=(COARSE[0], run("as-published", method=COARSE[1])),
        operations={name: compile_system(telescopic_arm(), name).rhs.operations for name in (*RECURSIONS, "lagrange")},
        inverse_operations={n: count_operations(arms_in_line(n)) for n in LINKS},
        matlab={name: run("as-published", method=solver()) for name, solver in MATLAB.items()},
        matlab_finer={name: run("as-published", method=solver(rtol=1e-6, atol=1e-9)) for name, solver in MATLAB.items()},
        four_modes_until=continuation("consistent", modes=4)[1],
    )
