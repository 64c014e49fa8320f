"""The scene of a result: the position of every drawn point at any time, the contacts, and the viewing axes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from pliant.arrays import Floats, Ints
from pliant.errors import ModelError
from pliant.results.drawing import GROUND, BodyDrawing, Drawing, Spot
from pliant.results.result import Result
from pliant.show.tangent import SlopeWeights, slope_weights, turn_between

TELESCOPIC = "telescopic"
MODAL = "modal"
FREE = "free"
KEEP_ANGLES = ("weld", "prismatic")  # joints that do not let a body rotate relative to its carrier
EQUIVALENT = "equivalent_stress"
LOOKS = 200  # rows from which the extent of a motion is determined
THIN = 1e-6  # fraction of the largest extent: a motion thinner than this is planar


@dataclass(frozen=True)
class Between:
    """Times as positions between rows, for linear interpolation from row `low` to the next."""

    low: Ints
    part: Floats  # 0 to 1

    @classmethod
    def of(cls, rows: Floats, times: Floats) -> Between:
        if rows.size < 2:
            return cls(np.zeros(times.size, dtype=np.int64), np.zeros(times.size))
        low = np.clip(np.searchsorted(rows, times, side="right") - 1, 0, rows.size - 2)
        width = rows[low + 1] - rows[low]  # zero where an event produced two rows at the same time
        part = np.clip(np.where(width > 0.0, (times - rows[low]) / np.where(width > 0.0, width, 1.0), 0.0), 0.0, 1.0)
        return cls(low, part)

    def take(self, series: Floats) -> Floats:
        """A series over rows, interpolated at the times."""
        if len(series) < 2:
            return series[self.low]
        part = self.part.reshape(-1, *(1,) * (series.ndim - 1))
        return np.asarray((1.0 - part) * series[self.low] + part * series[self.low + 1])


@dataclass(frozen=True)
class _Placed:
    """A body at its true position and at the position where magnification draws it."""

    body: BodyDrawing
    root: Floats  # (times, 3), true position
    rotation: Floats  # (times, 3, 3), true orientation
    true: Floats  # (times, points, 3), points in its axes
    magnified: Floats
    undeformed: Floats
    carried: Floats  # (times, 3), drawn position of the root
    turn: Floats  # (times, 3, 3), rotation from the true to the drawn orientation

    @property
    def drawn(self) -> Floats:
        return self._drawn(self.magnified)

    @property
    def drawn_undeformed(self) -> Floats:
        return self._drawn(self.undeformed)

    def _drawn(self, local: Floats) -> Floats:
        return np.asarray(self.carried[:, None, :] + np.einsum("tij,tpj->tpi", self.turn @ self.rotation, local))

    def at(self, point: int) -> tuple[Floats, Floats]:
        """The true and the drawn position of one of its points."""
        there = self.root + np.einsum("tij,tj->ti", self.rotation, self.true[:, point])
        return there, self.carried + np.einsum("tij,tj->ti", self.turn @ self.rotation, self.magnified[:, point])

    def turned_at(self, point: int) -> Floats:
        """The rotation of the drawn body at one of its points: it includes the extra bending of a magnified line."""
        slope = slope_at(self.body, point)
        if slope is None:
            return self.turn
        points, weights = slope
        before, after = (np.einsum("p,tpi->ti", weights, local[:, list(points)]) for local in (self.true, self.magnified))
        return np.asarray(self.turn @ self.rotation @ turn_between(before, after) @ np.swapaxes(self.rotation, 1, 2))


class Scene:
    """The mechanism of a result with its deformation magnified `scale` times."""

    def __init__(self, result: Result, scale: float = 1.0) -> None:
        if result.drawing is None:
            rule = "must hold the mechanism's outline; files written before pliant 0.2 do not: run the model again"
            raise ModelError.of(f"result {result.name!r}", "outline", rule, None)
        self.result, self.scale = _finite(result), float(scale)
        self.drawing: Drawing = result.drawing

    @cached_property
    def orientations(self) -> Floats:
        """Quaternions without sign changes from row to row: (time, body, 4)."""
        q = self.result.values["orientation"]
        if len(q) < 2:
            return q
        turned = np.where(np.sum(q[1:] * q[:-1], axis=2) < 0.0, -1.0, 1.0)
        signs = np.concatenate([np.ones((1, q.shape[1])), np.cumprod(turned, axis=0)])
        return np.asarray(q * signs[:, :, None])

    def times(self, times: Floats) -> Between:
        return Between.of(self.result.time, np.asarray(times, dtype=np.float64))

    def positions(self, times: Floats, deformed: bool = True) -> list[Floats]:
        """World positions of the drawn points of every body, (times, points, 3) each; optionally as if no beam were deformed.

        A body attached to a beam moves with the magnified point of attachment; a welded body keeps its angle to the beam.
        """
        at = self.times(times)
        roots, turns = at.take(self.result.values["root_position"]), at.take(self.orientations)
        placed: list[_Placed] = []
        for k, body in enumerate(self.drawing.bodies):
            rotation = matrices(turns[:, k])
            true, bow, undeformed = self._local(body, at)
            root, turn = self._carried(body, roots[:, k], placed)
            placed.append(_Placed(body, roots[:, k], rotation, true, true + (self.scale - 1.0) * bow, undeformed, root, turn))
        return [body.drawn if deformed else body.drawn_undeformed for body in placed]

    def _carried(self, body: BodyDrawing, root: Floats, placed: list[_Placed]) -> tuple[Floats, Floats]:
        """The drawn position of a body's root and the rotation due to magnification: (times, 3), (times, 3, 3)."""
        none = np.repeat(np.eye(3)[None], len(root), axis=0)
        number, point = body.on
        if number == GROUND:
            return root, none
        carrier = placed[number]
        before, after = carrier.at(point)
        turn = none if body.joint == FREE else carrier.turned_at(point)
        return after + np.einsum("tij,tj->ti", turn, root - before), turn if body.joint in KEEP_ANGLES else none

    def _local(self, body: BodyDrawing, at: Between) -> tuple[Floats, Floats, Floats]:
        """(points, the part that the scale magnifies, undeformed points) in the body's axes, each (times, points, 3)."""
        points = np.repeat(body.rest[None], len(at.low), axis=0)
        undeformed, bows = points, np.zeros_like(points)
        for field in body.fields:
            weight = np.prod([at.take(self.result[name]) for name in field.coordinates], axis=0)[:, None, None]
            points = points + weight * field.shape
            bows = bows + weight * field.bow
            if not np.any(field.bow):
                undeformed = undeformed + weight * field.shape
        return points, bows, undeformed

    def stresses(self) -> dict[int, Floats]:
        """Equivalent stress at the drawn points of beams, Pa, by body: (rows, points); empty if the result holds no stresses."""
        sections = self.result.sections
        if sections is None or EQUIVALENT not in sections:
            return {}
        known = list(sections["beam"].values)
        stresses = {}
        for k, body in enumerate(self.drawing.bodies):
            if body.name in known:
                beam = sections.sel(beam=body.name)
                stresses[k] = _at_stations(beam["station"].values, beam[EQUIVALENT].values, _fractions(body))
        return stresses

    def spot(self, spot: Spot, positions: list[Floats]) -> Floats:
        """A point on a body or on the ground, at the times of `positions`: (times, 3)."""
        body, point = spot
        if body != GROUND:
            return positions[body][:, point]
        return np.repeat(self.drawing.ground[point][None], len(positions[0]), axis=0)

    def closed(self, t: float, linger: float = 0.0) -> list[str]:
        """Pairs that are in contact at a time, or were less than `linger` seconds before."""
        touches = self.result.contacts
        return [c.pair for c in touches if c.begin <= t and (c.lasting or t <= c.end + linger)]

    @cached_property
    def box(self) -> tuple[Floats, Floats]:
        """The lowest and highest corners of the box around everything that moves."""
        rows = np.unique(np.linspace(0, len(self.result.time) - 1, LOOKS, dtype=int))
        found = np.concatenate([p.reshape(-1, 3) for p in self.positions(self.result.time[rows])] or [np.zeros((1, 3))])
        reach = max((c.radius for c in self.drawing.contacts), default=0.0)
        found = np.concatenate([found, self.drawing.ground])
        return found.min(axis=0) - reach, found.max(axis=0) + reach

    @cached_property
    def axes(self) -> tuple[int, ...]:
        """World axes that a picture shows: two if all motion is in a plane normal to the third axis, otherwise three."""
        reach = max((c.radius for c in self.drawing.contacts), default=0.0)
        extent = self.box[1] - self.box[0] - 2.0 * reach
        for thin in (2, 1, 0):
            if extent[thin] <= THIN * max(float(extent.max()), 1e-30):
                return tuple(k for k in range(3) if k != thin)
        return (0, 1, 2)

    @property
    def flat(self) -> bool:
        return len(self.axes) == 2

    @property
    def upright(self) -> int:
        """The vertical axis of a spatial view: the axis of gravity, or z without gravity."""
        gravity = np.abs(self.drawing.gravity)
        return int(np.argmax(gravity)) if np.any(gravity) else 2

    @property
    def upside_down(self) -> bool:
        """Whether the vertical axis points down the page, because gravity would otherwise point up."""
        gravity = self.drawing.gravity
        vertical = self.axes[1] if self.flat else self.upright
        return gravity[vertical] > max(abs(gravity[k]) for k in self.axes if k != vertical)


PLACING = ("q", "root_position", "orientation")  # quantities that determine the position of every body


def _finite(result: Result) -> Result:
    """The result restricted to rows in which every body has a finite position; failed runs and old files may have other rows."""
    placed = [np.isfinite(result.values[name]).reshape(len(result.time), -1).all(axis=1) for name in PLACING]
    rows = np.flatnonzero(np.logical_and.reduce(placed))
    if not rows.size:
        rule = f"must have at least one that is finite in {', '.join(PLACING)}"
        raise ModelError.of(f"result {result.name!r}", "rows", rule, len(result.time))
    if rows.size == len(result.time):
        return result
    sections = None if result.sections is None else result.sections.isel(time=rows)
    values = {name: array[rows] for name, array in result.values.items()}
    return replace(result, time=result.time[rows], values=values, sections=sections)


def slope_at(body: BodyDrawing, point: int) -> SlopeWeights | None:
    """The weights that give a beam's direction at one of its points; None if the body cannot bend there."""
    bends = body.kind != MODAL and any(np.any(field.bow) for field in body.fields)
    return next(filter(None, (slope_weights(_fractions(body), line, point) for line in body.lines)), None) if bends else None


def _fractions(body: BodyDrawing) -> Floats:
    """Positions of a beam's drawn points as fractions of its length; for a telescopic link, of its free length."""
    x = body.fields[0].shape[:, 0] if body.kind == TELESCOPIC else body.rest[:, 0]
    return np.asarray(x / np.max(x))


def _at_stations(x: Floats, values: Floats, at: Floats) -> Floats:
    """Values along x (one column each), interpolated linearly at other positions."""
    return np.stack([np.interp(at, x, row) for row in np.nan_to_num(values)])  # a run that failed may end in nan


def matrices(q: Floats) -> Floats:
    """Rotation matrices of quaternions (times, 4) of any length."""
    w, x, y, z = (q / np.linalg.norm(q, axis=1, keepdims=True)).T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), 2, 0)
