"""What is wrong with a run: each function looks for one kind of wrong and returns sentences, none where all is well.

A verdict must be beyond doubt. Rows between steps come from dense output, so nothing finer than the tolerance is asked of them;
what two runs do after they have drifted apart is not compared; a run that says what is wrong with it (ok False, a warning) is not
silent.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from random_mechanisms import start_of, value_of

import pliant as pl
from pliant.dynamics import gibbs_appell
from pliant.dynamics.closures import closure_rows
from pliant.dynamics.kinematics import poses
from pliant.model.normal_law import PowerLaw
from pliant.results.contacts import ContactRecord
from pliant.run.prepare import Compiled

LEDGER = 1e3  # times rtol: beyond it the balance of energy is open
CLOSED = 1e3  # times rtol, m or rad: beyond it a loop is open ...
CLOSED_AT_LEAST = 1e-6  # ... but not below this
ROUND_OFF = 1e-9  # m: no gap is asked to be better than this
SAME_TIME = 1e-14  # relative: a fixed step ends at a row up to round-off
THROUGH = 0.05  # m: deeper than this, and ten times deeper than its energy can press it, is through
FIRM = 5.0  # times what two runs differ by: shallower touches may be there in one and not in the other
SAME = (1e-6, 1e3, 1e-3)  # m, rtol, m: runs whose gaps differ by more than the middle one, between the outer two, go different ways
DEAD = 1e-2  # of what closures hold at the start: a loop has reached a dead point, and a motion wants it to go on
SINGULAR = 1e-4  # of a scaled mass matrix: a mode or a joint has lost its inertia, and no equation of motion is left to solve
LIMITS = ("the limit of",)  # how the message of a run begins that was given up


@dataclass(frozen=True)
class Wrong:
    """One thing that is wrong: its kind, a key of the campaign's counts, and a sentence with numbers."""

    kind: str
    what: str


def judge(compiled: Compiled, result: pl.Result, rtol: float | None) -> list[Wrong]:
    """All that is wrong with one run; rtol None: a method that controls no error, of which neither energy nor loops are asked."""
    scale = rtol or 1e-4
    found = [Wrong("nan", what) for what in not_finite(result)]
    if not result.ok:
        kind = how_it_ended(compiled, result)
        if rtol is None and kind == "ended_early":
            kind = "unstable"  # a fixed step that is too long for the mechanism, and the run says that it ended
        found.append(Wrong(kind, message_class(result.message)))
    found += [Wrong("fell_through", what) for what in through(compiled, result)]
    found += [Wrong("missed", what) for what in unfelt(result, scale)]
    late = 1e-9 if rtol is not None else result.stats["largest_step_s"] or 0.0  # some fixed steps have events at their ends only
    found += [Wrong("missed", what) for what in unseen_crossings(compiled, result, scale, late)]
    if rtol is not None:
        found += [Wrong("open_loop", what) for what in open_loops(compiled, result, rtol)]
        error = ledger_error(compiled, result)
        if error > LEDGER * rtol:
            what = f"ledger off by {error:.2g} = {error / rtol:.2g} rtol"
            told = any("energy balance" in sentence or "must only take energy" in sentence for sentence in result.warnings)
            found.append(Wrong("warned" if told else "open_ledger", what))
    return found


def message_class(message: str) -> str:
    """A message without its numbers, so that equal reasons count together."""
    return re.sub(r"[-+]?\d+\.?\d*(e[-+]?\d+)?", "#", message)[:160]


def how_it_ended(compiled: Compiled, result: pl.Result) -> str:
    """What a run that was given up is called: a fault, one too slow for its machine or its method, or a model without inertia."""
    given_up = result.message.startswith(LIMITS)
    if given_up and (is_steady(result) or "stability holds the steps" in result.message):
        return "slow"
    if smallest_inertia(compiled, result) < SINGULAR or weakest_hold(compiled, result) < DEAD:
        return "singular"
    return "hung" if given_up else "ended_early"


def is_steady(result: pl.Result) -> bool:
    """Whether a run that used up its time or steps was on its way: its last step between a tenth and ten times the mean.

    One that stalls has a last step far below it; one that stops for event after event has one far above.
    """
    last = re.search(r"\(step (\S+) s\)", result.message)
    mean = (result.final_state.t if result.final_state else 0.0) / max(result.stats["steps"], 1)
    return last is not None and 0.1 * mean < float(last[1]) < 10.0 * mean


def smallest_inertia(compiled: Compiled, result: pl.Result) -> float:
    """The smallest eigenvalue of the mass matrix of what is free, diagonal scaled to one, where the run ended.

    Foreshortening to first order in the modes, and a telescopic link far out of its sleeve, bring it to zero and below: such a
    model has left its validity, and the run cannot go on.
    """
    traced = compiled.traced
    q = end_of(compiled, result)
    mass = np.array(gibbs_appell.mass_matrix(traced.tree, q), dtype=float)[np.ix_(traced.free_v, traced.free_v)]
    size = np.diag(mass)
    if not np.all(np.isfinite(mass)) or np.any(size <= 0.0):
        return 0.0
    return float(np.linalg.eigvalsh(mass / np.sqrt(np.outer(size, size)))[0])


def end_of(compiled: Compiled, result: pl.Result) -> list[float]:
    """The coordinates where a run ended."""
    traced, state = compiled.traced, result.final_state
    assert state is not None
    q = start_of(traced.tree, state.t)
    for i, k in enumerate(traced.free_q):
        q[k] = float(state.y[i])
    return q


def weakest_hold(compiled: Compiled, result: pl.Result) -> float:
    """The smallest singular value of the rows of exact closures where a run ended, over that at its start; differences of them."""
    traced, state = compiled.traced, result.final_state
    exact = [c for c in traced.system.closures.values() if c.by == "multipliers"]
    if not exact:
        return 1.0
    assert state is not None
    start = start_of(traced.tree)
    for i, k in enumerate(traced.free_q):
        start[k] = float(traced.y0[i])
    values = []
    for t, q in ((0.0, start), (state.t, end_of(compiled, result))):
        columns = [(residuals_of(traced, exact, t, moved(q, k, 1e-6)) - residuals_of(traced, exact, t, moved(q, k, -1e-6))) / 2e-6
                   for k in traced.free_q]  # fmt: skip
        matrix = np.array(columns)
        values.append(float(np.linalg.svd(matrix, compute_uv=False)[traced.held - 1]) if np.all(np.isfinite(matrix)) else 0.0)
    return values[1] / values[0] if values[0] > 0.0 else 1.0


def moved(q: list[float], k: int, by: float) -> list[float]:
    return [x + by if i == k else x for i, x in enumerate(q)]


def residuals_of(traced: Any, exact: list[Any], t: float, q: list[float]) -> np.ndarray:
    bodies = poses(traced.tree, q)
    places = [[None if m is None else value_of(m, t) for m in closure.motions] for closure in exact]
    rows = [closure_rows(traced.tree, closure, bodies, q, there) for closure, there in zip(exact, places, strict=True)]
    return np.array([float(c) for own in rows for _, c in own])


def not_finite(result: pl.Result) -> list[str]:
    bad = [name for name, values in result.values.items() if not np.all(np.isfinite(values))]
    return [f"not finite: {', '.join(bad)}"] if bad else []


# ---- energy


def ledger_error(compiled: Compiled, result: pl.Result) -> float:
    """The largest error of the balance, against the energy exchanged or at hand at the start, whichever is more."""
    if not result.time.size:
        return 0.0
    system, values = compiled.traced.system, result.values
    tips = np.vstack([values["tip_position"][0], np.zeros(3)])
    weight = system.mass * float(np.linalg.norm(np.array(system.gravity)))
    at_hand = weight * float(np.max(np.ptp(tips, axis=0)))
    at_hand += sum(abs(float(values[name][0])) for name in ("kinetic", "strain", "spring"))
    error = result.ledger.balance_error_max
    return error / max(result.ledger.scale, at_hand, 1e-12) if math.isfinite(error) else math.inf


# ---- loops


def open_loops(compiled: Compiled, result: pl.Result, rtol: float) -> list[str]:
    """Residuals of all directions of exact closures, dropped ones too, computed anew from the coordinates of some rows."""
    traced = compiled.traced
    exact = [c for c in traced.system.closures.values() if c.by == "multipliers"]
    if not exact or not result.time.size:
        return []
    worst, name, when = 0.0, "", 0.0
    for row in np.unique(np.linspace(0, result.time.size - 1, 6).astype(int)):
        t, q = float(result.time[row]), [float(x) for x in result.values["q"][row]]
        if not np.all(np.isfinite(q)):
            return []
        bodies = poses(traced.tree, q)
        for closure in exact:
            places = [None if m is None else value_of(m, t) for m in closure.motions]
            size = max((abs(float(c)) for _, c in closure_rows(traced.tree, closure, bodies, q, places)), default=0.0)
            worst, name, when = max((worst, name, when), (size, closure.name, t))
    limit = max(CLOSED * rtol, CLOSED_AT_LEAST)
    return [f"closure {name!r} open by {worst:.3g} at t = {when:.4g} s"] if worst > limit else []


# ---- contacts


def through(compiled: Compiled, result: pl.Result) -> list[str]:
    """Gaps deeper than the energy of the run can press them."""
    held = sum(np.abs(result.values[name]) for name in ("kinetic", "strain", "spring", "contact"))
    energy = float(np.nanmax(held, initial=0.0))
    found = []
    for k, slots in enumerate(compiled.traced.pairs):
        gaps = result.values["gap"][:, k]
        deepest = float(np.nanmin(gaps, initial=0.0))
        possible = depth_of_energy(slots.pair.normal, energy)
        if deepest < -max(THROUGH, 10.0 * possible):
            when = result.time[int(np.nanargmin(gaps))]
            what = f"gap {deepest:.3g} m at t = {when:.4g} s, {possible:.2g} m is what its energy can press"
            found.append(f"{slots.pair.name}: {what}")
    return found


def depth_of_energy(law: Any, energy: float) -> float:
    """The depth at which a law holds an energy, m."""
    low, high = 1e-9, 1.0
    while high / low > 1.05:
        middle = math.sqrt(low * high)
        low, high = (middle, high) if float(law.stored(middle)) < energy else (low, middle)
    return high


def unfelt(result: pl.Result, rtol: float) -> list[str]:
    """Pairs that are pressed at saved rows with no touch on record for it, or with no force against what still closes."""
    slack = max(ROUND_OFF, 10.0 * rtol)
    found = []
    for k, pair in enumerate(result.labels["pair"]):
        gaps, closing, force = (result.values[name][:, k] for name in ("gap", "closing_speed", "normal_force"))
        pressed = gaps < -slack
        records = [record for record in result.contacts if record.pair == pair]
        for first in np.flatnonzero(pressed & ~np.concatenate([[False], pressed[:-1]])):
            since = result.time[first - 1] if first else result.time[0]
            until = result.time[first] * (1.0 + SAME_TIME)
            if not any(r.begin <= until and (r.lasting or r.end >= since) for r in records):
                found.append(f"{pair}: pressed {-gaps[first]:.3g} m at t = {result.time[first]:.5g} s, no touch on record")
                break
        else:
            numb = np.flatnonzero(pressed & (closing > 1e-3 + 10.0 * rtol) & (force == 0.0))
            if numb.size:
                row = numb[0]
                found.append(f"{pair}: pressed {-gaps[row]:.3g} m, closing at {closing[row]:.3g} m/s without force at t = "
                             f"{result.time[row]:.5g} s")  # fmt: skip
    return found


def unseen_crossings(compiled: Compiled, result: pl.Result, rtol: float, late: float) -> list[str]:
    """Events of the user's own and stops whose function changes sign between two rows with nothing on record between them.

    late: how far from a crossing its record may be, s.
    """
    found = []
    for name, values, way in watched(compiled, result):
        slack = max(ROUND_OFF, 10.0 * rtol * float(np.max(np.abs(values), initial=1.0)))
        times = np.array([event.t for event in result.events if event.name == name])
        sides = np.where(values > slack, 1, np.where(values < -slack, -1, 0))
        rows = np.flatnonzero(sides)
        for i, j in pairwise(rows):
            if sides[i] == sides[j] or (way and sides[j] != way):
                continue
            if not np.any((times >= result.time[i] - 1e-9) & (times <= result.time[j] + late)):
                found.append(f"event {name!r} crossed between t = {result.time[i]:.5g} and {result.time[j]:.5g} s unseen")
                break
    return found


def watched(compiled: Compiled, result: pl.Result) -> list[tuple[str, np.ndarray, int]]:
    """(name, function at the rows, direction) of conditions and of joints' stops."""
    system = compiled.traced.system
    q = dict(zip(result.labels["coordinate"], result.values["q"].T, strict=True))
    v = dict(zip(result.labels["rate"], result.values["v"].T, strict=True))
    ways = {"rising": 1, "falling": -1, "both": 0}
    found = []
    for one in system.conditions.values():
        values = np.asarray(one.function(result.time, q, v), dtype=float)
        if "v[" not in getattr(one.function, "text", "v["):  # rates jump where bodies strike: rows cannot tell
            found.append((one.name, values, ways[one.direction]))
    for link in system.links.values():
        for name, stop in link.joint.stops.items():
            label = f"{link.name}.{name}"
            found.append((f"{label} low stop", q[label] - stop.low, 0))
            found.append((f"{label} high stop", q[label] - stop.high, 0))
    return found


# ---- two runs of one start


def different_touches(compiled: Compiled, coarse: pl.Result, fine: pl.Result, rtol: float) -> list[str]:
    """Touches that one of two runs has and the other has not, as long as all gaps are the same in both."""
    count = min(coarse.time.size, fine.time.size)
    found = []
    differences = np.abs(coarse.values["gap"][:count] - fine.values["gap"][:count])
    until = _same_until(coarse.time[:count], differences, rtol)
    for k, slots in enumerate(compiled.traced.pairs):
        name, apart = slots.pair.name, differences[:, k]
        for which, one, other in (("a tenth of the step", fine, coarse), ("the plain run", coarse, fine)):
            touches = [touch for touch in one.contacts.of(name) if touch.begin <= until]
            what = _first_without_match(touches, other, slots.pair, coarse.time[:count], apart, rtol)
            if what:
                found.append(f"{name}: {which} touches {what}, the other does not")
    return found


def _same_until(time: np.ndarray, differences: np.ndarray, rtol: float) -> float:
    """The time, s, of the first row whose gaps differ between two runs: a body that has gone another way takes others along.

    A touch that one of them missed is before it, and makes them differ.
    """
    least, factor, most = SAME
    gone = np.flatnonzero(np.any(differences > min(most, max(least, factor * rtol)), axis=1))
    return float(time[gone[0] if gone.size else -1])


def _first_without_match(
    touches: Sequence[ContactRecord], other: pl.Result, pair: Any, time: np.ndarray, apart: np.ndarray, rtol: float
) -> str:
    row = float(time[1] - time[0]) if time.size > 1 else 0.0
    for touch in touches:
        drift = max(float(np.max(apart[time <= touch.begin], initial=0.0)), rtol, ROUND_OFF)
        if depth_of_force(pair.normal, touch.peak_force) < FIRM * drift or touch.entry_speed < FIRM * drift:
            continue
        slack = row + 4.0 * drift / touch.entry_speed  # one that is nearly there was seen, and so was one that overlaps in time
        theirs, end = other.contacts.of(pair.name), math.inf if touch.lasting else touch.end
        if not any(r.begin <= end + slack and (r.lasting or r.end >= touch.begin - slack) for r in theirs):
            return f"at t = {touch.begin:.6g} s with {touch.entry_speed:.3g} m/s, {touch.peak_force:.3g} N"
    return ""


def depth_of_force(law: Any, force: float) -> float:
    """The depth at which the elastic part alone is as large as a force, m."""
    if isinstance(law, PowerLaw):
        return float((max(force, 0.0) / law.stiffness) ** (1.0 / law.exponent))
    return float((max(force, 0.0) / 1e7) ** (2.0 / 3.0))  # custom laws of the generator: Hertz-like
