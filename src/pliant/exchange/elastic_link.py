"""A link of a robot file as a beam: mass and inertia stay those of the file, the stiffness comes from what its user knows.

The beam carries as much of the link's mass as can be spread evenly from joint to joint; what is left, as motors and covers, is a
rigid body on the beam where its mass centre is. Both together have the mass, the mass centre and the inertia of the file.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pliant.arrays import Floats
from pliant.beams import shape_integrals
from pliant.beams.eigen import natural
from pliant.beams.shapes import beam_shapes
from pliant.errors import ModelError
from pliant.exchange.geometry import Inertial
from pliant.files.definitions import read_quantity
from pliant.model import check
from pliant.model.beam import Beam
from pliant.model.damping import Damping
from pliant.model.material import ALUMINIUM, Material
from pliant.model.modes import Modes
from pliant.model.section import Section
from pliant.scalar import Numbers

PART = "elastic_link"
# Of a link that is known by a deflection or a frequency, only the product of modulus and second moment counts. The depth of its
# section is between these shares of its length, so that a stiffness that no link has shows as a modulus that no material has.
DEPTHS = 1e-3, 0.25
ALL = 1.0 - 1e-9  # share of the mass above which the beam is the whole link, up to the rounding of the file's numbers
INSIDE = 1.0 - 1e-6  # of the largest possible beam: what is left must be a body beyond doubt of round-off
SAME_LENGTH = 1e-6  # relative
ROUND_OFF = 1e-12  # of the largest second moment: a smaller one counts as zero


@dataclass(frozen=True, kw_only=True)
class ElasticLink:
    """What is known of an elastic link; made by `elastic_link`."""

    tip_deflection: str | None = None
    first_frequency: str | None = None
    section: Section | None = None
    material: Material | None = None
    tip: Numbers | None = None  # m
    modes: int = 2
    damping: Sequence[Damping] | Damping = ()

    def __post_init__(self) -> None:
        known = {name: getattr(self, name) for name in ("tip_deflection", "first_frequency", "section")}
        given = [name for name, value in known.items() if value is not None]
        if len(given) != 1:
            rule = "must be given alone: either tip_deflection, or first_frequency, or section and material"
            raise ModelError.of(PART, given[1] if given else "tip_deflection", rule, known[given[1]] if given else None)
        if (self.section is None) != (self.material is None):
            raise ModelError.of(PART, "material", "must be given with a section, and without one be left out", self.material)
        if self.tip is not None:
            object.__setattr__(self, "tip", check.vector(PART, "tip", self.tip, "m"))
        check.count(PART, "modes", self.modes)
        if self.tip_deflection is not None:
            _ = self.tip_stiffness
        if self.first_frequency is not None:
            _ = self.frequency

    @property
    def tip_stiffness(self) -> float:
        """Force over deflection at the tip, N/m."""
        deflection, at, force = str(self.tip_deflection).partition(" at ")
        if not at:
            raise ModelError.of(PART, "tip_deflection", 'must be a length at a force, as in "1 mm at 10 N"', self.tip_deflection)
        return _quantity("tip_deflection", force, "N") / _quantity("tip_deflection", deflection, "m")

    @property
    def frequency(self) -> float:
        """The lowest frequency of the link, held at its joint, with nothing on its tip, rad/s."""
        return 2.0 * math.pi * _quantity("first_frequency", str(self.first_frequency), "Hz")


def elastic_link(
    *,
    tip_deflection: str | None = None,
    first_frequency: str | None = None,
    section: Section | None = None,
    material: Material | None = None,
    tip: Numbers | None = None,
    modes: int = 2,
    damping: Sequence[Damping] | Damping = (),
) -> ElasticLink:
    """An elastic link of a robot file: a beam from its joint to that of its child, which bends in both planes.

    Give one of: tip_deflection, such as "1 mm at 10 N", of the link held at its joint and loaded across at its tip;
    first_frequency, such as "14 Hz", of the link held at its joint with nothing on its tip; or section and material. Mass and
    inertia are those of the file. tip: the far end in the link's axes, m; by default the farthest joint of its children. modes: per
    plane, besides two static shapes, with which the tip bends exactly under a force and a moment. damping: as of a Beam.
    """
    return ElasticLink(
        tip_deflection=tip_deflection, first_frequency=first_frequency, section=section, material=material, tip=tip,
        modes=modes, damping=damping,
    )  # fmt: skip


@dataclass(frozen=True)
class MadeLink:
    """An elastic link as parts of a System."""

    beam: Beam
    housing: Inertial | None = None  # what the beam does not carry of the file's mass, in the beam's axes
    note: str = ""  # what of the file or of the user is not kept


def made_link(part: str, known: ElasticLink | Beam, length: float, inertial: Inertial | None) -> MadeLink:
    """The beam of a link of this length, and the rigid body on it. inertial: of the file, in the beam's axes."""
    if isinstance(known, Beam):
        if abs(known.length - length) > SAME_LENGTH * length:
            raise ModelError.of(part, "length of its Beam", f"must be {length:.9g} m, from its joint to its tip", known.length)
        return MadeLink(known, note="" if inertial is None else "its inertial is not used: its Beam has a mass of its own")
    sets = tuple(Modes("cf", known.modes, plane, static=True) for plane in ("y", "z"))
    if known.section is not None:
        assert known.material is not None  # checked when made
        beam = Beam(length=length, section=known.section, material=known.material, theory="euler-bernoulli", modes=sets,
                    damping=known.damping)  # fmt: skip
        rotary = tuple(beam.mu / known.section.A * float(i or 0.0) for i in (known.section.Iy, known.section.Iz))
        if inertial is None:
            return MadeLink(beam, note="it has no inertial: its mass follows from its section and material")
        spread, mass = (rotary[0], rotary[1]), beam.mass
    else:
        if inertial is None or inertial.mass == 0.0:
            raise ModelError.of(part, "inertial", "must be given, with a mass, for a link that is elastic", None)
        central = inertial.second_moments[:3, :3] - inertial.mass * np.outer(inertial.com, inertial.com)
        spread, mass = (central[2, 2] / length, central[1, 1] / length), inertial.mass
    room = _room(inertial.second_moments, _moments(length, mass, spread), length)
    if room <= 0.0:
        rule = "must have some mass along the line from its joint to its tip, where its beam is"
        raise ModelError.of(part, "inertial", rule, inertial.mass)
    own = 1.0 if room >= ALL else room * INSIDE
    left = inertial.second_moments - _moments(length, own * mass, tuple(own * s for s in spread))
    housing = None if ALL <= room <= 1.0 / ALL else Inertial.of_second_moments(left)
    rotary = (own * sum(spread), own * spread[0], own * spread[1])
    note = f"section and material weigh {mass:.4g} kg, of which its inertial leaves room for {own * mass:.4g} kg"
    fields: dict[str, Any] = {"mass_per_length": own * mass / length, "rotary_inertia": rotary}
    if known.section is not None:
        return MadeLink(replace(beam, **fields), housing, "" if own == 1.0 else note)
    unit = Beam(length=length, theory="euler-bernoulli", modes=sets, damping=known.damping,
                **_spread(length, own * mass, 1.0), **fields)  # fmt: skip
    return MadeLink(replace(unit, **_spread(length, own * mass, _stiffness(known, unit, housing))), housing)


def _stiffness(known: ElasticLink, unit: Beam, housing: Inertial | None) -> float:
    """E I, N m^2: of a cantilever F/d = 3 E I/L^3; frequencies grow with its root, from those of unit stiffness."""
    if known.tip_deflection is not None:
        return known.tip_stiffness * unit.length**3 / 3.0
    return (known.frequency / _held_frequency(unit, housing)) ** 2


def _spread(length: float, mass: float, stiffness: float) -> dict[str, Any]:
    """A section and a material of this E I, N m^2: of the density and, where its depth lets it, the modulus of aluminium."""
    area = mass / (length * (ALUMINIUM.density or 1.0))
    least, most = (area * (length * depth) ** 2 / 12.0 for depth in DEPTHS)
    second = min(max(stiffness / ALUMINIUM.E, least), most)
    return {"section": Section(A=area, Iy=second, Iz=second), "material": Material(E=stiffness / second)}


def _held_frequency(beam: Beam, housing: Inertial | None) -> float:
    """The lowest frequency of the beam with its housing, held at its root, rad/s."""
    integrals, mass = shape_integrals(beam), shape_integrals(beam).modal_mass
    if housing is not None:
        shapes, station = beam_shapes(beam), housing_station(housing, beam.length)
        turn = shapes.rotation(station)[0]  # of the place where the housing is
        arm = housing.com - np.array([station, 0.0, 0.0])
        move = shapes.displacement(station)[0] + np.cross(turn, arm, axis=0)
        mass = mass + housing.mass * move.T @ move + turn.T @ housing.inertia @ turn
    return float(np.min(natural(mass, integrals.stiffness)[0]))


def housing_station(housing: Inertial, length: float) -> float:
    """Where on the beam a housing is: nearest to its mass centre, m."""
    return float(np.clip(housing.com[0], 0.0, length))


def _moments(length: float, mass: float, spread: tuple[float, ...]) -> Floats:
    """int (r, 1) (r, 1)^T dm of a straight uniform line with rotary inertia per length about y and z, kg m."""
    moments = np.zeros((4, 4))
    moments[0, 0], moments[1, 1], moments[2, 2] = mass * length**2 / 3.0, spread[1] * length, spread[0] * length
    moments[0, 3] = moments[3, 0] = 0.5 * mass * length
    moments[3, 3] = mass
    return moments


def _room(whole: Floats, part: Floats, length: float) -> float:
    """The largest multiple of a distribution of mass that leaves no negative mass of the whole: whole - room part >= 0."""
    sizes = np.array([length, length, length, 1.0])
    whole, part = whole / np.outer(sizes, sizes), part / np.outer(sizes, sizes)
    values, vectors = np.linalg.eigh(whole)
    there = values > ROUND_OFF * values[-1]
    if np.max(np.abs(vectors[:, ~there].T @ part), initial=0.0) > math.sqrt(ROUND_OFF) * np.trace(part):
        return 0.0  # where the whole has no mass
    scaled = vectors[:, there] / np.sqrt(values[there])
    return 1.0 / float(np.linalg.eigvalsh(scaled.T @ part @ scaled)[-1])


def _quantity(field: str, text: str, unit: str) -> float:
    try:
        value, written = read_quantity(text.strip(), unit)
    except ModelError as trouble:
        raise ModelError.of(PART, field, f"must be a quantity in {unit}: {trouble}", text) from None
    if written is None:
        raise ModelError.of(PART, field, f"must have a unit, such as {unit}", text)
    return check.positive(PART, field, value, unit)
