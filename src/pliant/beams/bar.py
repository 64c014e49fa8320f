"""Stretching and twisting modes of a uniform bar: closed-form solutions of the wave equation c^2 u'' = -omega^2 u.

The sign follows the rule for bending: the first extremum of U(x) - U(0) is positive, so modes with a free root are -cos.
Modes are scaled to max |U| = 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from pliant.arrays import Floats
from pliant.beams.quadrature import panels_for
from pliant.beams.ritz import rigidities
from pliant.model.beam import Beam
from pliant.model.modes import AxialModes, TorsionModes


@dataclass(frozen=True)
class BarMode:
    """One mode: U = sin(k x) for a clamped root, -cos(k x) for a free root; a stretch in m or a twist in rad."""

    frequency: float  # rad/s
    length: float  # m
    wavenumber: float  # k, 1/m
    clamped_root: bool

    @property
    def breaks(self) -> Floats:
        """Breakpoints of [0, l] on whose panels Gauss-Legendre resolves products with this mode."""
        return np.linspace(0.0, self.length, 1 + panels_for(self.wavenumber, self.length))

    def u(self, x: ArrayLike, order: int = 0) -> Floats:
        """U or its derivative of any order: each derivative shifts the phase by a quarter of a period."""
        quarter = (order if self.clamped_root else order + 3) % 4
        phase = self.wavenumber * np.asarray(x, dtype=np.float64)
        wave = (np.sin, np.cos, np.sin, np.cos)[quarter](phase)
        return (1.0, 1.0, -1.0, -1.0)[quarter] * self.wavenumber**order * wave

    w = u  # as every shape calls its value

    def theta(self, x: ArrayLike, order: int = 0) -> Floats:
        """The slope of the stretch or twist; the sections of a bar have no bending rotation."""
        return self.u(x, order + 1)

    def strain(self, x: ArrayLike) -> Floats:
        """No shear."""
        return np.zeros_like(np.asarray(x, dtype=np.float64))


def bar_modes(beam: Beam, modes: AxialModes | TorsionModes) -> list[BarMode]:
    """The first modes: k l = n pi for equal ends, (n - 1/2) pi for unequal ends. The rigid motion of ff is not counted."""
    stiff = rigidities(beam)
    square = stiff["axial"] / beam.mu if isinstance(modes, AxialModes) else stiff["torsion"] / beam.rotary[0]
    speed = math.sqrt(square)  # of waves, m/s
    shift = 0.0 if modes.ends[0] == modes.ends[1] else 0.5
    result = []
    for n in range(1, modes.count + 1):
        k = (n - shift) * math.pi / beam.length
        result.append(BarMode(speed * k, beam.length, k, modes.ends[0] == "c"))
    return result
