"""Shapes supplied by the user, as functions or tables, with the same interface as computed modes.

An Euler-Bernoulli beam always uses Theta = W' and ignores a given Theta; a Timoshenko beam requires Theta.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pliant.arrays import Floats
from pliant.errors import ModelError
from pliant.model.beam import Beam
from pliant.model.modes import GivenModes, ShapeFunction, ShapeTable
from pliant.scalar import Numbers

Curve = Callable[[Floats], Floats]

PANELS = 32  # equal panels for functions of unknown waviness: 512 points integrate about 30 half waves to round-off
DEGREE = 5  # of the spline through a table


@dataclass(frozen=True)
class GivenShape:
    """W with two derivatives, Theta with one, and the breakpoints between which they are smooth."""

    deflection: tuple[Curve, Curve, Curve]
    rotation: tuple[Curve, Curve]
    breaks: Floats  # m
    frequency: float = float("nan")  # a given shape has no frequency of its own

    def w(self, x: ArrayLike, order: int = 0) -> Floats:
        return self.deflection[order](np.asarray(x, dtype=np.float64))

    def theta(self, x: ArrayLike, order: int = 0) -> Floats:
        return self.rotation[order](np.asarray(x, dtype=np.float64))

    def strain(self, x: ArrayLike) -> Floats:
        """Shear strain W' - Theta."""
        return self.w(x, 1) - self.theta(x)


def given_shapes(beam: Beam, modes: GivenModes) -> list[GivenShape]:
    """The shapes of a beam's given set, after checking that they return numbers."""
    result = []
    turns = beam.theory == "timoshenko" and modes.plane != "x"
    for k, shape in enumerate(modes.shapes):
        part = f"GivenModes: shapes[{k}]"
        if turns and shape.theta is None:
            raise ModelError(f"{part}.theta must be given for a timoshenko beam, got None")
        if isinstance(shape, ShapeTable):
            result.append(_from_table(beam, shape, turns))
        else:
            result.append(_from_functions(beam, shape, part, turns))
    return result


def _from_functions(beam: Beam, shape: ShapeFunction, part: str, turns: bool) -> GivenShape:
    w, dw, ddw = (_checked(getattr(shape, field), f"{part}.{field}") for field in ("w", "dw", "ddw"))
    rotation = (dw, ddw)
    if turns:
        rotation = (_checked(shape.theta, f"{part}.theta"), _checked(shape.dtheta, f"{part}.dtheta"))
    inner = [point for point in shape.breaks if 0.0 < point < beam.length]
    if len(inner) < len(shape.breaks):
        raise ModelError(f"{part}.breaks must lie inside (0, {beam.length!r}) m, got {shape.breaks!r}")
    breaks = np.unique(np.concatenate([np.linspace(0.0, beam.length, PANELS + 1), inner]))
    return GivenShape((w, dw, ddw), rotation, breaks)


def _checked(function: Any, name: str) -> Curve:
    """The user's function; its return value becomes a float array shaped like x, or is refused."""

    def curve(x: Floats) -> Floats:
        try:
            value = np.broadcast_to(np.asarray(function(x), dtype=np.float64), x.shape)
        except (TypeError, ValueError) as error:
            raise ModelError(f"{name} must return one number per x, got the error {error}") from error
        if not np.all(np.isfinite(value)):
            raise ModelError(f"{name} must be finite along the beam, got {value[~np.isfinite(value)][0]!r}")
        return value

    return curve


def _from_table(beam: Beam, shape: ShapeTable, turns: bool) -> GivenShape:
    """Quintic splines through the stations (not-a-knot ends); the stations are also the breakpoints of the panels."""
    w = _spline(shape.x, shape.w)
    rotation = (w[1], w[2])
    if turns:
        assert shape.theta is not None  # checked above
        rotation = _spline(shape.x, shape.theta)[:2]
    breaks = np.array(shape.x)
    breaks[-1] = beam.length
    return GivenShape(w, rotation, breaks)


def _spline(x: Numbers, values: Numbers) -> tuple[Curve, Curve, Curve]:
    from scipy.interpolate import make_interp_spline  # slow to import, and needed only for tables

    spline = make_interp_spline(np.array(x), np.array(values), k=DEGREE)
    return spline, spline.derivative(1), spline.derivative(2)
