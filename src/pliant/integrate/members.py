"""Runs the members of an ensemble one after another in one call, each from the same initial memory.  Compiled."""

from __future__ import annotations

import math
from typing import Any

from pliant.codegen.loop_language import Address, ByAddress, flags, floats, ints
from pliant.integrate.loop.kernels import Loop, call_kernel, put
from pliant.integrate.loop.pairs import pair_number, pair_place, touch
from pliant.integrate.loop.phases import is_closed, is_impulsive
from pliant.integrate.memory.batch_record import BATCH, COINCIDENT_SHARE, PLAIN, SUSPECT, TALLIED
from pliant.integrate.memory.run_record import (
    BEGIN_IMPULSE,
    BEGIN_LOST,
    BEGIN_RUBBED,
    ENTRY_SPEED,
    FINISHED,
    IMPULSE,
    LOST,
    PAIR_NUMBERS,
    PEAK_FORCE,
    REACH,
    RUBBED,
    RUN,
    STOPS,
)
from pliant.integrate.status import AT_EVENT, FULL, GO_ON

# A pivot of the scaled mass matrix below this is checked more closely; the limit is far above singularity (run.inertia).
SMALL_PIVOT = 1e-9


advance: Any = ByAddress(int, (Address,))  # int64 advance(RUN*)


def _run_members(run: Any, batch: Any) -> int:
    """Run all members of a batch; returns how many ended, fewer than all if it was cancelled."""
    for member in range(batch.n_members):
        _begin(run, batch, member)
        if ints(batch.start, batch.n_members)[member] == PLAIN:
            while True:
                run.budget = batch.budget
                code = advance(batch.advance, batch.record)
                if batch.cancelled:
                    return member
                if code != GO_ON and code != FULL:
                    break
                if code == FULL:
                    _tally(run, batch, member)
                    _take_rows(run, batch, member)
                    run.flushed = 1
            _finish(run, batch, member, code)
    return int(batch.n_members)


# ---- the start


def _begin(run: Any, batch: Any, member: int) -> None:
    """Restore the memory, and set the member's own state and numbers."""
    _restore(batch)
    _take_up(run, batch, member)


def _restore(batch: Any) -> None:
    _copy(batch.record, batch.pristine, batch.record_bytes)
    arrays = ints(batch.restored, 3 * batch.n_restored)
    for k in range(batch.n_restored):
        _copy(arrays[3 * k], arrays[3 * k + 1], arrays[3 * k + 2])


def _take_up(run: Any, batch: Any, member: int) -> None:
    put(run.y, batch.y + 8 * run.n * member, run.n)
    put(run.p, batch.p + batch.p_step * member, batch.n_p)
    put(run.pair_numbers, batch.numbers + batch.numbers_step * member, PAIR_NUMBERS * run.n_pairs)
    call_kernel(run.observe, run.t, run.y, run.p, run.observed, run.work)
    _set_tolerances(run, batch, member)
    plain = not _has_coincident_balls(run, batch) and not _has_overlaps(run) and (batch.judges == 0 or _resists(run, batch))
    ints(batch.start, batch.n_members)[member] = PLAIN if plain else SUSPECT


def _copy(target: int, source: int, n: int) -> None:
    to, out_of = flags(target, n), flags(source, n)
    for i in range(n):
        to[i] = out_of[i]


def _set_tolerances(run: Any, batch: Any, member: int) -> None:
    """Set the tolerances of works relative to the present energy, with the same operations as a single run (`run.simulate`)."""
    observed, first, n = floats(run.observed, run.n_observed), batch.n_controlled, run.n
    size = 0.0
    for axis in range(3):
        low = high = 0.0
        for i in range(batch.at_tips + axis, batch.at_tips + batch.n_tips, 3):
            low, high = min(low, observed[i]), max(high, observed[i])
        size = max(size, high - low)
    energies = abs(observed[batch.at_kinetic])
    energies += abs(observed[batch.at_strain])
    energies += abs(observed[batch.at_spring])
    at_hand = floats(batch.weight, batch.n_members)[member] * size
    at_hand += energies
    run.at_hand = at_hand
    atol, plain = floats(run.atol, n), floats(batch.plain_atol, n)
    largest = 0.0
    for i in range(first + batch.n_added):
        atol[i] = max(plain[i], batch.rtol * at_hand) if i >= first else plain[i]
        largest = max(largest, atol[i])
    for i in range(first + batch.n_added, n):
        atol[i] = largest
    for i in range(n):
        atol[i] *= batch.loosened


def _has_coincident_balls(run: Any, batch: Any) -> bool:
    """Whether two spheres have the same centre, so that their contact force has no direction."""
    observed, balls = floats(run.observed, run.n_observed), ints(batch.balls, run.n_pairs)
    for k in range(run.n_pairs):
        reach = pair_number(run, k, REACH)
        if balls[k] and observed[run.at_gap + k] + reach <= COINCIDENT_SHARE * reach:
            return True
    return False


def _has_overlaps(run: Any) -> bool:
    """Whether an impulsive contact overlaps, from which nothing would part it."""
    for k in range(run.n_pairs):  # noqa: SIM110  a generator has no place in compiled code
        if is_impulsive(run, k) and floats(run.observed, run.n_observed)[run.at_gap + k] < 0.0:
            return True
    return False


def _resists(run: Any, batch: Any) -> bool:
    """Whether the mass matrix, scaled by its diagonal, has no small pivot.

    M comes from kinetic energies at unit rates, singly and in pairs, and is factorised by Cholesky's method.
    """
    n = batch.n_rates
    mass, rates = floats(batch.mass, n * n), floats(run.y_try + 8 * batch.first_rate, n)
    put(run.y_try, run.y, run.n)
    for i in range(n):
        rates[i] = 0.0
    for i in range(n):
        rates[i] = 1.0
        mass[n * i + i] = 2.0 * _kinetic(run, batch)
        if not mass[n * i + i] > 0.0:
            return False
        rates[i] = 0.0
    for i in range(n):
        for j in range(i):
            rates[i], rates[j] = 1.0 / math.sqrt(mass[n * i + i]), 1.0 / math.sqrt(mass[n * j + j])
            mass[n * i + j] = _kinetic(run, batch) - 1.0
            rates[i] = rates[j] = 0.0
    for i in range(n):
        pivot = 1.0
        for j in range(i):
            for k in range(j):
                mass[n * i + j] -= mass[n * i + k] * mass[n * j + k]
            mass[n * i + j] /= mass[n * j + j]
            pivot -= mass[n * i + j] ** 2
        if not pivot > SMALL_PIVOT:
            return False
        mass[n * i + i] = math.sqrt(pivot)
    return True


def _kinetic(run: Any, batch: Any) -> float:
    call_kernel(run.observe, run.t, run.y_try, run.p, run.observed_try, run.work)
    return float(floats(run.observed_try, run.n_observed)[batch.at_kinetic])


# ---- kept results


def _tally(run: Any, batch: Any, member: int) -> None:
    """Accumulate counts and sums of the contacts in the buffer."""
    for k in range(run.n_touches):
        done = floats(run.finished + 8 * FINISHED * k, FINISHED)
        _add(run, batch, member, int(done[0]), done[7], done[5], done[8], done[9], done[3])


def _add(
    run: Any, batch: Any, member: int, pair: int, impulse: float, force: float, lost: float, rubbed: float, entry: float
) -> None:
    tally = floats(batch.tally + 8 * TALLIED * (run.n_pairs * member + pair), TALLIED)
    tally[0] += 1.0
    tally[1] += impulse
    tally[2] = max(tally[2], force)
    tally[3] += lost
    tally[4] += rubbed
    tally[5] = max(tally[5], entry)


def _take_rows(run: Any, batch: Any, member: int) -> None:
    """Keep the chosen columns of the rows in the buffer, or their extremes."""
    columns, n = ints(batch.columns, batch.n_columns), batch.n_columns
    low, high = floats(batch.extremes + 16 * n * member, n), floats(batch.extremes + 16 * n * member + 8 * n, n)
    for k in range(run.n_rows if n > 0 else 0):
        state = floats(run.row_y + 8 * run.n * k, run.n)
        observed = floats(run.row_observed + 8 * run.n_observed * k, run.n_observed)
        row = floats(batch.values + 8 * n * (batch.n_rows * member + run.first_row + k), n)
        for i in range(n):
            x = observed[columns[i]] if columns[i] >= 0 else state[-1 - columns[i]]
            if batch.values != 0:
                row[i] = x
            if batch.extremes != 0:
                low[i] = x if math.isnan(low[i]) else min(low[i], x)
                high[i] = x if math.isnan(high[i]) else max(high[i], x)


def _finish(run: Any, batch: Any, member: int, code: int) -> None:
    """Store the results of a member that has ended; contacts that are still closed count too."""
    _tally(run, batch, member)
    _take_rows(run, batch, member)
    n, y = batch.n_members, floats(run.y, run.n)
    for pair in range(run.n_pairs):
        if is_closed(run, pair):
            record = touch(run, pair)
            impulse = y[pair_place(run, pair, IMPULSE)] - record[BEGIN_IMPULSE]
            lost = record[BEGIN_LOST] - y[pair_place(run, pair, LOST)]
            rubbed = record[BEGIN_RUBBED] - y[pair_place(run, pair, RUBBED)]
            _add(run, batch, member, pair, impulse, record[PEAK_FORCE], lost, rubbed, record[ENTRY_SPEED])
    ints(batch.code, n)[member] = code
    floats(batch.t_end, n)[member] = run.t
    put(batch.y_end + 8 * run.n * member, run.y, run.n)
    ints(batch.steps, n)[member] = run.accepted
    ints(batch.blind, n)[member] += run.n_lowered + run.n_unsolved  # `simulate` has words for these
    for e in range(run.n_events):
        ints(batch.blind, n)[member] += ints(run.blind, run.n_events)[e]
        if code == AT_EVENT and ints(run.hit, run.n_events)[e] != 0 and flags(run.kind, run.n_events)[e] == STOPS:
            ints(batch.event, n)[member] = e
    if batch.n_end > 0:
        call_kernel(run.observe, run.t, run.y, run.p, run.observed, run.work)
        values, columns = floats(batch.end_values + 8 * batch.n_end * member, batch.n_end), ints(batch.end_columns, batch.n_end)
        for i in range(batch.n_end):
            values[i] = floats(run.observed, run.n_observed)[columns[i]]


LOOP = Loop(_run_members, (RUN, BATCH))
TAKE_UP = Loop(_take_up, (RUN, BATCH, int), None)  # for those who restore the memory themselves
