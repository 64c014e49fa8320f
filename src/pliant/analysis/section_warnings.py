"""Warnings about section forces at a blow: modes that do not follow it, and rows too far apart to show it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pliant.arrays import Floats
from pliant.beams.quadrature import nodes
from pliant.beams.ritz import rigidities
from pliant.model.beam import Beam
from pliant.model.modes import MESHES, PLANES, direction_of, labels
from pliant.results.contacts import ContactRecord
from pliant.results.result import Result

FOLLOWS = 4.0  # durations of a blow: modes with a shorter period follow it nearly as a static load (measured: to 3 % of the moment)
SMALL = 0.1  # of the largest moment of the run: what the modes may leave out of the strain
ROWS = 5  # in a blow: of a half sine with as many, one is within 5 % of the largest value


def unfollowed(result: Result, name: str, beam: Beam, moment: Floats, missing: Floats) -> Iterator[str]:
    """Warn of moments by balance at a blow that is shorter than the periods of the modes that a beam leaves out.

    The balance supposes that these rest, as under a load that changes slowly. moment, missing: by balance, and the part of it that
    the curvature of the beam's modes does not have; (rows, stations, 3).
    """
    blow = _hardest(result)
    if blow is None:
        return
    largest, left = (float(np.nanmax(np.abs(of[:, :, 1:]), initial=0.0)) for of in (moment, missing))
    period, wanted = _left_out(beam, blow)
    if period > FOLLOWS * _duration(blow) and left > SMALL * largest:
        yield (
            f"beam {name!r}: contact {blow.pair!r} is pressed within {_duration(blow):.2g} s at t = {blow.begin:.6g} s, but the "
            f"modes that its set leaves out have periods up to {period:.2g} s and do not follow as the balance supposes; moments "
            f"may be off by up to {left:.3g} of {largest:.3g} N m; use about {wanted} modes, or compare with by='curvature'"
        )


def sparse_rows(result: Result) -> Iterator[str]:
    """Warn of rows too far apart to show the largest forces of a blow."""
    blow = _hardest(result)
    if blow is None or result.time.size < 2:
        return
    k = int(np.clip(np.searchsorted(result.time, blow.peak_time), 1, result.time.size - 1))
    apart = float(result.time[k] - result.time[k - 1])
    if apart > _duration(blow) / ROWS:
        yield (
            f"rows are {apart:.2g} s apart at t = {blow.peak_time:.6g} s, where contact {blow.pair!r} is pressed within "
            f"{_duration(blow):.2g} s: the largest forces and stresses may lie between them; save rows every "
            f"{_duration(blow) / ROWS:.2g} s"
        )


def _hardest(result: Result) -> ContactRecord | None:
    touches = [touch for touch in result.contacts if touch.peak_force > 0.0 and _duration(touch) > 0.0]
    return max(touches, key=lambda touch: touch.peak_force, default=None)


def _duration(touch: ContactRecord) -> float:
    """How long a blow lasts, s: twice its rise, because a contact may stay closed after it."""
    return 2.0 * (touch.peak_time - touch.begin)


def _left_out(beam: Beam, blow: ContactRecord) -> tuple[float, int]:
    """(longest period, s, of the bending modes that a beam's sets leave out; number of modes whose rest follows the blow).

    Mode k + 1 of a uniform beam has the wavenumber (k + 1/2) pi / L, but for its ends; a mesh resolves half as many as it has
    coordinates.
    """
    longest, wanted = 0.0, 0
    for modes in beam.mode_sets:
        plane = direction_of(modes)
        if plane not in PLANES:
            continue
        count = len(labels(modes)) / (2 if isinstance(modes, MESHES) and modes.reduction is None else 1)
        x, weight = nodes(np.array([0.0, beam.length]))
        local = beam.along(x)
        wave = np.sum(weight * (local.mu / rigidities(local)[plane]) ** 0.25)  # of short waves along a taper: l (mu / EI)^(1/4)
        unit = float(np.pi / wave) ** 2  # rad/s
        longest = max(longest, 2.0 * np.pi / (unit * (count + 0.5) ** 2))
        wanted = max(wanted, int(np.ceil(np.sqrt(2.0 * np.pi / (unit * FOLLOWS * _duration(blow))) - 0.5)))
    return longest, wanted
