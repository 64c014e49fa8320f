"""The claims of Raoofian, Taghvaeipour and Kamali 2017 about the parallel robot, compared with our results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from pliant.arrays import Floats
from pliant.gallery.parallel_robot.runs import Derivations, Inverse, Run, motor_torques, tip_forces
from pliant.gallery.reproduction import THE_COMPUTER, Claim

# Table 2, s: RK45 with rtol 1e-3, by Ks
PAPER_SECONDS = {
    "1e1": 0.576,
    "1e2": 0.921,
    "1e3": 1.648,
    "1e4": 3.55,
    "1e5": 11.898,
    "1e6": 45.592,
    "1e7": 160.6,
    "1e8": 499.424,
}
EXACT_SECONDS = 2.0  # s, "about": DeNOC with the closure equations solved
BELOW = -5.0  # logarithm of an error in m that the paper calls a hundredth of a millimetre: to base 10
CONSTRAINT_FROM, POSITION_FROM = "1e5", "1e6"  # the smallest Ks with such a small error
RETURNED = 1e-11  # m: what counts as back on the path; one error mode grows 506 times in 6 s
AGREE = 1e-9  # N m or N, between two derivations
SAME = 1e-9  # of the largest acceleration: round-off of two derivations, times Ks
LINEAR = 0.15  # relative: times of Table 2 against our evaluations
FOLLOWS = 0.1  # of the exact forces' root mean square: what passes for "give the reactions"
REACTIONS_AT = "1e6"  # Ks
STRAYED_AT = (1e5, 1e6)  # N/m
CONVERGES = 5.0  # times: an error that falls like 1/Ks falls ten times between these
SETTLED = 1.0  # s, when a damper has removed the ringing


@dataclass(frozen=True)
class Study:
    """All runs of the reproduction."""

    multipliers: Run
    multipliers_rk45: Run
    tight: Mapping[str, Run]  # by Ks
    rk45: Mapping[str, Run]  # by Ks: the paper's method
    other_rules: Mapping[str, Run]  # by Ks, the stiffest: the same pair and tolerances, our step control
    prestretched: Mapping[str, Run]  # by Ks: springs that begin with the forces of the exact robot
    beginnings: Mapping[str, Run]  # the first moments of REACTIONS_AT by its start, with many rows
    damped: Run  # REACTIONS_AT with a damper beside every spring
    damping: float  # N s/m, of that
    inverse: Inverse  # at the times of the summary
    loop: Inverse  # on a grid over one rose
    sprung: Derivations  # at REACTIONS_AT: modified DeNOC, Lagrange with virtual springs
    strayed: Mapping[str, tuple[float, float]]  # m from the rose, springs of STRAYED_AT, by the formulas that close the loops
    exact: Derivations  # by multipliers: DeNOC, the recursion that all runs here go through


def claims(study: Study) -> list[Claim]:
    return [
        *_inverse(study),
        _returns(study),
        _below(study, CONSTRAINT_FROM, "constraint error log(sum |c|)", lambda run: run.constraint_error),
        _below(study, POSITION_FROM, "position error log(| |r| - |rbar| |)", lambda run: run.position_error),
        _time(study),
        _exact_time(study),
        _as_accurate(study),
        _cheaper(study),
        _too_stiff(study),
        _reactions(study),
        _elongations(study),
    ]


def _inverse(study: Study) -> list[Claim]:
    """Two derivations: prescribed motors in a system closed by multipliers, and equations of legs and platform by hand."""
    times = study.loop.result.time
    found = []
    for what, unit, ours, other in (("motor torques", "N m", study.inverse.torques, motor_torques),
                                    ("forces on the tips of legs I, II, III", "N", study.inverse.forces, tip_forces)):  # fmt: skip
        whole = study.loop.torques if other is motor_torques else study.loop.forces
        apart = float(np.max(np.abs(whole - other(times))))
        found.append(Claim(f"{what} at t = 0, {unit}", "not printed", [float(x) for x in ours[0]], apart < AGREE,
                           f"prescribed motors and a closed form by hand agree to {apart:.0e} {unit} over one rose"))  # fmt: skip
    return found


def _returns(study: Study) -> Claim:
    run = study.multipliers
    off = float(np.max(run.distance))
    why = (f"turned by {np.max(np.abs(run.angle)):.0e} rad at most, loops open by {np.max(run.constraint_error):.0e} m; one error "
           "mode grows 7.97 times a rose (reference)")  # fmt: skip
    return Claim("driven by the torques of the rose the exact robot stays on it: largest distance in 6 s, m (DOP853, rtol 1e-12)",
                 "as plotted", off, off < RETURNED, why)  # fmt: skip


def _below(study: Study, since: str, name: str, error: Callable[[Run], Floats]) -> Claim:
    """To base 10, as the paper reads -5 itself; with natural logarithms its numbers would fit."""
    decimal = {ks: _log10(error(run)) for ks, run in study.rk45.items()}
    natural = {ks: value * float(np.log(10.0)) for ks, value in decimal.items()}
    holds = all(value < BELOW for ks, value in decimal.items() if float(ks) >= float(since))
    why = (f"the paper calls {BELOW:g} a hundredth of a millimetre, so its logarithm is to base 10: below {BELOW:g} from Ks = "
           f"{_threshold(decimal)} on. Natural logarithms are below it from {_threshold(natural)} on ({natural[since]:.2f} at "
           f"{since}): the printed threshold holds for them")  # fmt: skip
    if since == POSITION_FROM:
        turned = [abs(float(study.tight[ks].angle[-1])) for ks in ("1e5", "1e6")]
        why += f"; it hides the platform's angle, which should be 0: at 6 s {turned[0]:.2g} rad at 1e5, {turned[1]:.2g} rad at 1e6"
    near = {ks: round(value, 2) for ks, value in decimal.items() if float(ks) >= 1e3}
    return Claim(f"{name} below {BELOW:g} from Ks = {since} N/m on (ode45, rtol 1e-3)", since, near, holds, why)


def _log10(error: Floats) -> float:
    return float(np.log10(np.max(error[1:])))


def _threshold(logarithms: Mapping[str, float]) -> str:
    """The smallest Ks from which on all are small."""
    large = [float(ks) for ks, value in logarithms.items() if value >= BELOW]
    small = [ks for ks in logarithms if float(ks) > max(large, default=0.0)]
    return small[0] if small else "more than 1e8"


def _time(study: Study) -> Claim:
    evaluations = {ks: run.evaluations for ks, run in study.rk45.items()}
    seconds = np.array([PAPER_SECONDS[ks] for ks in evaluations])
    counts = np.array(list(evaluations.values()), dtype=float)
    # seconds = a + b evaluations, in parts of the paper's seconds
    columns = np.column_stack([np.ones_like(counts), counts]) / seconds[:, None]
    fit, *_ = np.linalg.lstsq(columns, np.ones_like(counts), rcond=None)
    off = float(np.max(np.abs(columns @ fit - 1.0)))
    grows = bool(np.all(np.diff(counts) > 0.0))
    walls = {ks: run.wall for ks, run in study.rk45.items()}
    why = (f"ours are evaluations by ode45's step rules: the paper's seconds are linear in them within {100 * off:.0f} %. "
           f"Our seconds: {walls['1e1']:.1g} to {walls['1e8']:.2g}")  # fmt: skip
    what = "time grows with Ks = 1e1 ... 1e8 (ode45, rtol 1e-3), s"
    return Claim(what, PAPER_SECONDS, evaluations, grows and off < LINEAR, why, THE_COMPUTER)


def _exact_time(study: Study) -> Claim:
    run = study.multipliers_rk45
    cheaper = [ks for ks, other in study.rk45.items() if other.wall > run.wall]
    than = f"cheaper than springs from Ks = {cheaper[0]} on" if cheaper else "dearer than all springs"
    why = (f"{run.evaluations} evaluations at the same tolerance, {than}; "
           f"{study.multipliers.wall:.2g} s at rtol 1e-12")  # fmt: skip
    what = "exact closure takes about 2 s (at most)"
    return Claim(what, EXACT_SECONDS, run.wall, run.wall <= EXACT_SECONDS, why, THE_COMPUTER)


def _as_accurate(study: Study) -> Claim:
    ours = {f"springs of {REACTIONS_AT} N/m": study.sprung.apart, "multipliers, beside the recursion": study.exact.apart}
    why = ("largest difference of accelerations along the rose, of the largest: wrenches K^T Ks c of the springs beside their "
           "energy differentiated; runs of the same tolerance then have the same errors")  # fmt: skip
    what = "modified DeNOC is as accurate as Lagrange with virtual springs"
    return Claim(what, "similar", ours, max(ours.values()) < SAME, why)


def _cheaper(study: Study) -> Claim:
    counts = study.sprung.operations
    why = ("the paper's is the labour of deriving them, ours the operations of one traced right-hand side with springs; by "
           f"multipliers {study.exact.operations['denoc']} for DeNOC")  # fmt: skip
    what = "equations of modified DeNOC cost much less than those of Lagrange with virtual springs"
    return Claim(what, "much less", dict(counts), counts["denoc"] < counts["lagrange"], why)


def _too_stiff(study: Study) -> Claim:
    rough, other, tight = ({ks: round(_log10(run.constraint_error), 2) for ks, run in runs.items()}
                           for runs in (study.rk45, study.other_rules, study.tight))  # fmt: skip
    best = min(rough, key=lambda ks: rough[ks])
    swung = ", ".join(f"{value:.2f} at {ks}" for ks, value in other.items())
    why = (f"the error falls ten times a decade to the end, at rtol 1e-12 to {tight['1e8']:.2f}; what loses accuracy is the step "
           f"control: with Hairer's for the same pair and tolerance the undamped springs swing up ({swung})")  # fmt: skip
    what = "too large a Ks loses accuracy: log10 of the largest sum |c| (ode45, rtol 1e-3)"
    return Claim(what, "yes", rough, rough["1e8"] > rough[best], why)


def _reactions(study: Study) -> Claim:
    run = study.tight[REACTIONS_AT]
    size = float(np.sqrt(np.mean(tip_forces(run.time[1:]) ** 2)))
    ringing, calm = run.reaction_error(), {ks: other.reaction_error() for ks, other in study.prestretched.items()}
    ours = {
        "c(0) = 0": ringing,
        "prestretched": calm[REACTIONS_AT],
        "damped, after 1 s": study.damped.reaction_error(SETTLED),
    }
    why = (f"on average only: started with c(0) = 0 they ring for ever about forces of {size:.1f} N rms, at every Ks from 1e5 on; "
           "from c(0) = -lam(0)/Ks, c'(0) = -lam'(0)/Ks the error falls as 1/Ks ("
           + ", ".join(f"{value:.2g} N at {ks}" for ks, value in calm.items())
           + f"), and a damper of {study.damping:g} N s/m takes the ringing out")  # fmt: skip
    what = f"spring forces give the reactions: error at Ks = {REACTIONS_AT}, N rms"
    return Claim(what, "yes", ours, ringing < FOLLOWS * size, why)


def _elongations(study: Study) -> Claim:
    """Section 6: constraints must express the elongation of the springs, otherwise the method gives no proper results."""
    regular = {name: errors for name, errors in study.strayed.items() if name != "squared"}
    proper = all(soft / stiff > CONVERGES for soft, stiff in regular.values())
    soft, stiff = study.strayed["squared"]
    why = ("springs push along the gradient of their formula, J^T Ks c: then any formula with independent gradients converges like "
           "1/Ks, also lengths scaled by 3 and 1/2, or the angle and distance from a leg's base. The paper takes Ks c itself as "
           "the force, which is right for elongations alone. A formula whose gradient vanishes where it holds, as a squared "
           f"distance does, converges slowly ({soft / stiff:.1f} times a decade)")  # fmt: skip
    ours = {name: f"{errors[0]:.1e} and {errors[1]:.1e}" for name, errors in study.strayed.items()}
    what = "constraints must be elongations of the springs: largest distance from the rose in 2 s at Ks = 1e5 and 1e6, m"
    return Claim(what, "else no proper results", ours, not proper, why)
