"""The axis of a beam as polynomials of the station: what equations read at a station that moves.

Every field is a Chebyshev series on each piece of [0, l], as short as round-off allows. Smooth shapes need one piece; shapes with
corners of a derivative, such as those of elements, one between any two of their breaks.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from pliant.arrays import Floats
from pliant.beams.fields import fields_along
from pliant.beams.shapes import Shapes
from pliant.errors import ModelError
from pliant.model.beam import Beam

Series = tuple[float, ...]  # coefficients of T_0, T_1, ...
Triple = tuple[Series, Series, Series]

DEGREES = (8, 16, 24, 32, 48)  # tried in turn
NEGLIGIBLE = 2e-14  # of the largest coefficient of a field: what is left of a series is round-off
WITHIN = 1e-12  # of a field's largest value: error of its series
COARSE = 8  # equal cells at whose ends the nearest stations of two beams are looked for first
CELLS_PER_MODE = 4  # at least, where the nearest station of one beam is looked for first; a multiple of COARSE
MOST_PIECES = 64


@dataclass(frozen=True)
class AxisPiece:
    """The fields between two stations, m: of every field its series along x, y, z, and of its rotations."""

    begin: float
    end: float
    displacement: tuple[Triple, ...]  # m
    rotation: tuple[Triple, ...]  # rad


@dataclass(frozen=True)
class AxisFields:
    """All fields of a beam over its stations; of a rigid body, one field: the line from its root to its tip."""

    pieces: tuple[AxisPiece, ...]
    stations: tuple[float, ...]  # m, equally spaced, both ends among them
    displacement: tuple[tuple[tuple[float, float, float], ...], ...]  # of every station, of every field, m

    @property
    def length(self) -> float:
        return self.stations[-1]

    @property
    def cells(self) -> int:
        return len(self.stations) - 1


def straight_axis(tip: Floats) -> AxisFields:
    """The line from the origin to the tip of a rigid body."""
    length = float(np.linalg.norm(tip))
    series = tuple(() if x == 0.0 else (0.5 * float(x), 0.5 * float(x)) for x in tip)
    stations = np.linspace(0.0, length, COARSE + 1)
    piece = AxisPiece(0.0, length, (series,), (((), (), ()),))  # type: ignore[arg-type]
    return AxisFields((piece,), tuple(stations.tolist()), tuple((tuple((x / length * tip).tolist()),) for x in stations))


def beam_axis(beam: Beam, shapes: Shapes) -> AxisFields:
    """The fields of a beam along its axis."""
    ends = np.array([0.0, beam.length])
    pieces = _pieces(beam, shapes, ends) or _pieces(beam, shapes, _breaks(shapes, ends))
    if pieces is None:
        rule = f"must bend it in shapes that polynomials follow, in up to {MOST_PIECES} pieces, for a contact along it"
        raise ModelError.of("Along", "at", rule, beam.mode_labels)
    cells = COARSE * (1 + -(-CELLS_PER_MODE * beam.bending_coordinates // COARSE))
    stations = np.linspace(0.0, beam.length, cells + 1)
    moves = fields_along(beam, shapes, stations)[0]
    return AxisFields(pieces, tuple(stations.tolist()), _nested(np.where(np.abs(moves) < 1e-13, 0.0, moves)))


def _breaks(shapes: Shapes, ends: Floats) -> Floats:
    given = [column.shape.breaks for column in shapes.columns if np.isnan(column.shape.frequency)]
    return np.unique(np.concatenate([ends, *given]))


def _pieces(beam: Beam, shapes: Shapes, breaks: Floats) -> tuple[AxisPiece, ...] | None:
    """The pieces between these breaks; None if polynomials do not follow the fields there."""
    if len(breaks) > MOST_PIECES + 1:
        return None
    for degree in DEGREES:
        found = _pieces_of(beam, shapes, breaks, degree)
        if found is not None:
            return found
    return None


def _pieces_of(beam: Beam, shapes: Shapes, breaks: Floats, degree: int) -> tuple[AxisPiece, ...] | None:
    """Interpolation at the zeros of T_(degree + 1), compared with the fields between those."""
    k = np.arange(degree + 1)
    zeros = np.cos(np.pi * (k + 0.5) / (degree + 1))
    between = np.cos(np.pi * k / (degree + 1))
    basis = np.polynomial.chebyshev.chebvander(zeros, degree)
    scale = np.where(k == 0, 1.0, 2.0) / (degree + 1)
    fitted = []
    for begin, end in pairwise(breaks):
        at = [begin + 0.5 * (end - begin) * (1.0 + x) for x in (zeros, between)]
        values, checks = (np.stack(fields_along(beam, shapes, x)) for x in at)  # (2, x, field, 3)
        fitted.append((begin, end, np.einsum("k,xk,wxac->wkac", scale, basis, values), checks))
    size = np.max([np.abs(checks).max(axis=1) for *_, checks in fitted], axis=0).max(axis=-1)  # (2, field)
    test = np.polynomial.chebyshev.chebvander(between, degree)
    pieces = []
    for begin, end, series, checks in fitted:
        if np.any(np.abs(np.einsum("xk,wkac->wxac", test, series) - checks) > WITHIN * size[:, None, :, None]):
            return None
        series = np.where(np.abs(series) > NEGLIGIBLE * size[:, None, :, None], series, 0.0)
        moves, turns = (tuple(tuple(_trimmed(one[:, a, c]) for c in range(3)) for a in range(one.shape[1])) for one in series)
        pieces.append(AxisPiece(float(begin), float(end), moves, turns))  # type: ignore[arg-type]
    return tuple(pieces)


def _trimmed(series: Floats) -> Series:
    """Without the zeros at its end."""
    used = np.flatnonzero(series)
    return tuple(series[: used[-1] + 1].tolist()) if used.size else ()


def _nested(array: Floats) -> tuple[tuple[tuple[float, float, float], ...], ...]:
    return tuple(tuple(tuple(x) for x in row) for row in array.tolist())
