"""Claims of Korayem, Shafei and Dehkordi about the telescopic arm, and an independent derivation, compared with our results."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from pliant.gallery.reproduction import THE_COMPUTER, Claim
from pliant.gallery.telescopic_arm.runs import Extension, Inverse, Run
from pliant.gallery.telescopic_arm.system import GRAVITY, LENGTH, MODELS, START

PAPERS_SECONDS = 550.38  # Matlab on a Core 2 Duo E7500, 3 GHz
SILENT, PLOTTED = "not looked at", "plots only"
VISIBLE = 1e-3  # fraction of a component's largest value that would be visible in the paper's plots
AGREE = 1e-8  # fraction of a component's largest value by which two derivations of the same equations may differ
ROUND_OFF = 1e-12  # J per joule of work input
SLOW_ENOUGH = 1e-6  # of the amplitude ratio
REFERENCE_ROWS = 10  # rows of ours per row of the independent reference, which sampled the energy every 5 ms
# Independent derivation, one mode: q(1), l(1) and for F = 5 N tip(1); tau and F at 0.5 s of the prescribed motion
REFERENCE = {
    "as-published/F10": (0.2871878364, 1.111539294),
    "consistent/F10": (0.2870659679, 1.111879288),
    "consistent/F5": (0.3343662338, 0.9255990933, -4.226251358e-4),
    "inverse": (-30.5903687, -3.95560023),
}
# The published equations follow from no Lagrangian; their witness is the Gibbs function, differentiated by accelerations
WITNESSES = {"as-published": "gibbs", "consistent": "lagrange"}
FORMS = {  # with which the paper compares its own, and what the difference is
    "Newton-Euler": "by the components of reactions that it leaves out: the efforts alone take the same operations in both",
    "Kane": "by the wrenches that it adds up before it projects them; the same for one link",
    "Lagrange": "by the derivatives of the energies",
}
WITNESS_NAMES = {"gibbs": "the differentiated Gibbs function", "lagrange": "Lagrange's equations"}
DIGITS = 1e-9  # relative, with room for the last digit printed above


@dataclass(frozen=True)
class Study:
    """All runs of the reproduction."""

    runs: Mapping[str, Run]  # by case: model/force/modes
    inverse: Mapping[str, Inverse]  # by case: model/modes
    extensions: Mapping[str, Extension]  # by model
    heavy_until: float | None  # s: when the arm leaves its sleeve with gravity in the plane
    formulations: Mapping[str, Mapping[str, Run]]  # F10/1 by model and formulation
    methods: Mapping[str, Run]  # as-published/F10/1 by method
    coarse: tuple[str, Run]  # the same with a step that is too long
    operations: Mapping[str, int]  # of one right-hand side, by formulation
    inverse_operations: Mapping[int, Mapping[str, int]]  # of the inverse dynamics, by number of links and form
    matlab: Mapping[str, Run]  # as-published/F10/1 by Matlab's solvers with their default tolerances
    matlab_finer: Mapping[str, Run]  # and with a thousandth of these
    four_modes_until: float  # s: when the mass matrix of the formal continuation turns singular

    def example(self, model: str, force: str = "F10", modes: int = 1) -> Run:
        return self.runs[f"{model}/{force}/{modes}"]


def claims(study: Study) -> list[Claim]:
    return [
        *_derivation(study),
        *_numerics(study),
        *_sleeve(study),
        *_energy(study),
        *_extension(study),
        *_modes(study),
        *_values(study),
    ]


def difference(run: Run, other: Run) -> float:
    """The largest difference over all coordinates and rates, each relative to its largest value."""
    largest = np.max(np.abs(other.states), axis=0)
    return float(np.max(np.max(np.abs(run.states - other.states), axis=0) / largest))


def _derivation(study: Study) -> list[Claim]:
    found = {}
    for model, runs in study.formulations.items():
        witness = WITNESSES[model]
        others = [difference(run, runs[witness]) for name, run in runs.items() if name != witness]
        found[f"{model}, from {WITNESS_NAMES[witness]}"] = max(others)
    repaired = "with the misprints of eq. 1, 4, 8, 16-18, 28, 32, 38, 46, 53 and 55 repaired; both recursions, all of the run"
    ours = study.operations
    fewer = ours["gibbs_appell"] < ours["lagrange"]
    counts = {f"{n} link{'s' * (n > 1)}": dict(by_form) for n, by_form in study.inverse_operations.items()}
    most = study.inverse_operations[max(study.inverse_operations)]
    return [
        Claim("the recursive form is right: largest difference of the motion from other derivations (relative)", "yes", found,
              max(found.values()) < AGREE, repaired),
        Claim("Gibbs-Appell needs fewer operations than Lagrange (one right-hand side, one link, one mode)", "yes",
              dict(ours), fewer, "counted after common subexpressions are shared"),
        *(Claim(f"Gibbs-Appell needs fewer operations than {form} (inverse dynamics of links in line, one mode each)", "yes",
                {n: f"{by_form['Gibbs-Appell']} and {by_form[form]}" for n, by_form in counts.items()},
                most["Gibbs-Appell"] < most[form], why) for form, why in FORMS.items()),
    ]  # fmt: skip


def _numerics(study: Study) -> list[Claim]:
    tight = study.example("as-published")
    found = {name: difference(run, tight) for name, run in study.methods.items()}
    name, coarse = study.coarse
    why = f"not with every step: {name} is {100.0 * difference(coarse, tight):.2g} % away"
    by_solver = {name: difference(run, tight) for name, run in study.matlab.items()}
    joints = max(float(np.max(np.abs(run.columns[name] - tight.columns[name]))) for run in study.matlab.values() for name in "ql")
    finer = max(difference(run, tight) for run in study.matlab_finer.values())
    differs = (f"angle and length are within {joints:.0e} rad and m, but the deflection and its rate differ visibly: the absolute "
               f"tolerance is 1e-6 m, and the tip bends by {1e3 * np.max(np.abs(tight.columns['tip'])):.2g} mm at most; with rtol "
               f"1e-6 and atol 1e-9 both are within {finer:.0e}")  # fmt: skip
    total = tight.derive_s + tight.wall_s
    parts = (f"{tight.derive_s:.3g} s for equations and machine code, {1e3 * tight.wall_s:.2g} ms for the "
             "run; the paper's is Matlab on a Core 2 Duo")  # fmt: skip
    return [
        Claim("the same result with several integrators and steps (largest difference, relative)", "yes", found,
              max(found.values()) < VISIBLE, why),
        Claim("ode45 and ode23 give the same result (their default tolerances; largest difference from the exact, relative)",
              "no difference", by_solver, max(by_solver.values()) < VISIBLE, differs),
        Claim("time for 1 s simulated, one link, one mode, derivation included, s (at most)", PAPERS_SECONDS, total,
              total <= PAPERS_SECONDS, parts, THE_COMPUTER),
    ]  # fmt: skip


def _sleeve(study: Study) -> list[Claim]:
    tight, gentle = study.example("as-published"), study.example("as-published", "F5")
    largest, inside = (float(np.max(run.columns["l"])) for run in (tight, gentle))
    assert tight.sleeve_end_time is not None
    why = (f"l passes L at {tight.sleeve_end_time:.4f} s; what follows is the formal continuation, in which the part inside the "
           "sleeve has negative length and mass (with four modes the mass matrix turns singular at "
           f"{study.four_modes_until:.3f} s). With F = 5 N the largest l is {inside:.4f} m")  # fmt: skip
    heavy = ("only a horizontal plane, where gravity does nothing, is plausible: with gravity in the plane the arm leaves its "
             f"sleeve at {study.heavy_until:.4f} s")  # fmt: skip
    return [
        Claim("the arm stays in its sleeve, F = 10 N: largest l, m (at most)", LENGTH, largest, largest <= LENGTH, why),
        Claim("gravity g = 10 m/s^2 (Table 1): what acts in the plane of motion, m/s^2", GRAVITY, 0.0, False, heavy),
    ]  # fmt: skip


def _energy(study: Study) -> list[Claim]:
    found = []
    for model in MODELS:
        tight = study.example(model)
        largest, put_in = float(np.max(np.abs(tight.energy_error))), float(np.max(tight.work))
        every = float(np.max(np.abs(tight.energy_error[::REFERENCE_ROWS])))
        holds = largest <= ROUND_OFF * put_in
        why = (f"eq. 5-7 omit the stretching of the shapes with the free length, and set dV/dl to 0; "
               f"{every:.4g} J where one looks every "
               "5 ms only, as the independent reference does")  # fmt: skip
        found.append(Claim(f"energy held is the work put in, {model}: largest difference, J of {put_in:.3g} J", SILENT, largest,
                           holds, "" if holds else why))  # fmt: skip
    return found


def _extension(study: Study) -> list[Claim]:
    right = math.sqrt(LENGTH / START)
    found = []
    for model, extension in study.extensions.items():
        ratio = extension.ratio
        holds = abs(ratio / right - 1.0) < SLOW_ENOUGH
        away = f"within {abs(ratio / right - 1.0):.0e}"
        why = f"{ratio:.9g} = l1/l0: without the convective terms, energy divided by frequency is not an adiabatic invariant"
        found.append(Claim(f"slow extension 0.5 to 1 m, {model}: amplitude grows by sqrt(l1/l0) = {right:.4f}", SILENT, ratio,
                           holds, away if holds else why))  # fmt: skip
    return found


def _modes(study: Study) -> list[Claim]:
    """The paper uses one mode; compared for F = 5 N, where more modes are meaningful."""
    one, three = (study.example("consistent", "F5", n).columns for n in (1, 3))
    rigid = {name: float(np.max(np.abs(one[name] - three[name])) / np.max(np.abs(three[name]))) for name in "ql"}
    tip = float(np.max(np.abs(one["tip"] - three["tip"])) / np.max(np.abs(three["tip"])))
    size = float(np.max(np.abs(one["tip"])) / np.max(np.abs(three["tip"])) - 1.0)
    why = (f"its amplitude is right ({100.0 * size:+.1f} %), but its phase is lost within the second, because one clamped mode "
           "does not have the frequency of an arm that rotates about its joint")  # fmt: skip
    return [
        Claim("one mode is enough for angle and length: change with three, F = 5 N (relative)", "taken", rigid,
              max(rigid.values()) < VISIBLE),
        Claim("one mode is enough for the tip's deflection: change with three, F = 5 N (relative)", "taken", tip,
              tip < VISIBLE, why),
    ]  # fmt: skip


def _values(study: Study) -> list[Claim]:
    found = []
    for case, expected in REFERENCE.items():
        if case == "inverse":
            columns = study.inverse["consistent/1"].columns
            middle = len(columns["t"]) // 2
            ours = {name: float(columns[name][middle]) for name in ("tau", "F")}
            claim = "tau(0.5), F(0.5) of the told motion, consistent, one mode: N m, N"
        else:
            model, force = case.split("/")
            end = study.example(model, force).columns
            ours = {name: float(end[name][-1]) for name in ("q", "l", "tip")[: len(expected)]}
            claim = f"{', '.join(f'{name}(1)' for name in ours)}, {model}, {force[1:]} N, one mode"
        away = max(abs(x / y - 1.0) for x, y in zip(ours.values(), expected, strict=True))
        printed = PLOTTED if case == "as-published/F10" else SILENT
        found.append(Claim(claim, printed, {name: f"{x:.10g}" for name, x in ours.items()}, away < DIGITS,
                           f"an independent derivation has {', '.join(f'{y:.10g}' for y in expected)}"))  # fmt: skip
    return found
