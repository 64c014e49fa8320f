"""Limits of validity of a beam, computed once for all runs: bending shapes at a few stations, buckling load, first frequency."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pliant.arrays import Floats
from pliant.beams.quadrature import nodes
from pliant.beams.ritz import rigidities
from pliant.beams.shapes import Shapes
from pliant.beams.stability import PLANES, buckling_load, first_frequency
from pliant.dynamics.body import BeamBody
from pliant.dynamics.library import Integrated
from pliant.dynamics.telescopic import TelescopicBody
from pliant.model.beam import Beam
from pliant.model.modes import GivenModes, labels
from pliant.run.by_identity import ByIdentity

TURNS = 1e-9  # rad at a deflection of one length: less is round-off of a clamped root
STATIONS = 9  # along a beam, including its ends, at which deflection and slope are checked


@dataclass(frozen=True, eq=False)
class BeamLimits:
    """Deflections and slopes of the shapes by (plane y or z, station, mode); for a telescopic link at its tip, at unit length."""

    deflections: Floats
    slopes: Floats

    @cached_property
    def reach(self) -> tuple[Floats, Floats]:
        """The largest deflection and slope of each shape."""
        deflection, slope = (np.sqrt(np.max(np.sum(shapes**2, axis=0), axis=0)) for shapes in (self.deflections, self.slopes))
        return deflection, slope

    @cached_property
    def bends(self) -> bool:
        return bool(np.any(self.reach[0]))


@dataclass(frozen=True, eq=False)
class UniformBeamLimits(BeamLimits):
    """The limits of a beam of constant length, with the load and the speed up to which it needs no stiffening."""

    beam: Beam
    shapes: Shapes
    stiffness: Floats
    mass: Floats

    @cached_property
    def turning(self) -> tuple[str, ...]:
        """The planes in which the section at the root turns; what shapes of the user's own mean is left to the user."""
        turns = self.shapes.rotation(np.zeros(1))[0] * self.beam.length
        turns = turns * [not isinstance(modes, GivenModes) for modes in self.beam.mode_sets for _ in labels(modes)]
        return tuple(plane for plane, axis in zip(PLANES, (2, 1), strict=True) if np.any(np.abs(turns[axis]) > TURNS))

    @cached_property
    def yielding(self) -> dict[str, float]:
        """For each plane in which the beam bends from a clamped root: the slope of its shapes under a moment at the tip, as a
        fraction of the beam's own, M l / (E I)."""
        found = {}
        for plane, axis in zip(PLANES, (2, 1), strict=True):
            slopes = self.shapes.rotation(np.array([self.beam.length]))[0, axis]
            if np.any(slopes) and plane not in self.turning:
                found[plane] = float(slopes @ np.linalg.solve(self.stiffness, slopes) / self._compliance(plane))
        return found

    @cached_property
    def stretch(self) -> Floats | None:
        """The axial force E A u(l) / l for a unit of each coordinate, N; None if the beam has no axial coordinates."""
        elongation = self.shapes.displacement([self.beam.length])[0, 0]
        return elongation / self._compliance("axial") if np.any(elongation) else None

    @cached_property
    def axial_softness(self) -> float:
        """The mean strain under an axial force, 1/N; 0 if the section or the material has no number for it."""
        x = np.array([0.5 * self.beam.length])
        known = bool(np.all(rigidities(self.beam.along(x))["axial"]))
        return self._compliance("axial") / self.beam.length if known else 0.0

    def _compliance(self, kind: str) -> float:
        """int dx / (E I) or int dx / (E A)."""
        x, weight = nodes(np.array([0.0, self.beam.length]))
        return float(np.sum(weight / rigidities(self.beam.along(x))[kind]))

    @cached_property
    def first_frequency(self) -> float:
        """The first bending frequency, with the payload as a point mass, rad/s."""
        return first_frequency(self.shapes, self.stiffness, self.mass)

    @cached_property
    def buckling_load(self) -> float:
        """The buckling load with a free tip, N."""
        return buckling_load(self.shapes, self.stiffness, self.beam.length, tip_held=False)

    @cached_property
    def held_buckling_load(self) -> float:
        """The buckling load with a held tip, N."""
        return buckling_load(self.shapes, self.stiffness, self.beam.length, tip_held=True)


_KNOWN: ByIdentity[BeamLimits] = ByIdentity()


def limits_of(body: Integrated) -> BeamLimits | None:
    """The limits of a beam or a telescopic link; None for a rigid body."""
    known = _KNOWN.get(body)
    if known is None:
        if isinstance(body.body, TelescopicBody):
            known = _of_telescopic(body.body)
        elif body.shapes is not None:
            known = _of_beam(body)
        else:
            return None
        _KNOWN.put(body, known)
    return known


def _of_beam(body: Integrated) -> UniformBeamLimits:
    beam, shapes = body.model, body.shapes
    assert isinstance(beam, Beam) and shapes is not None and isinstance(body.body, BeamBody)
    x = np.linspace(0.0, beam.length, STATIONS)
    deflections, slopes = (np.moveaxis(shapes.displacement(x, order)[:, 1:], 1, 0) for order in (0, 1))
    own = slice(1, 1 + shapes.count)  # field 0 is the beam at rest
    mass: Floats = np.array(body.body.constants.pair)[own, own]
    if beam.payload is not None:
        mass = mass + float(beam.payload.mass) * np.einsum("pj,pk->jk", deflections[:, -1], deflections[:, -1])
    return UniformBeamLimits(deflections, slopes, beam, shapes, np.array(body.body.stiffness), mass)


def _of_telescopic(body: TelescopicBody) -> BeamLimits:
    """The shapes at the tip, where a cantilever bends most; slopes of the unit shape must be divided by the free length."""
    in_plane = np.array([[direction == plane for direction in body.shapes.directions] for plane in PLANES])
    deflections, slopes = (in_plane * np.array(values) for values in (body.shapes.tip, body.shapes.tip_slope))
    return BeamLimits(deflections[:, None, :], slopes[:, None, :])
