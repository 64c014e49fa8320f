"""The elastic body: a straight beam along x, its root at the joint, its tip at x = length."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from pliant.answers import answer
from pliant.errors import ModelError
from pliant.model import check
from pliant.model.damping import DAMPINGS, Damping, checked_dampings
from pliant.model.frame import ROOT, TIP, Frame
from pliant.model.length import Length
from pliant.model.material import Material
from pliant.model.modes import (
    MODE_SETS,
    PLANES,
    ElementModes,
    GivenModes,
    Modes,
    ModeSet,
    direction_of,
    labels,
)
from pliant.model.rigid import Payload
from pliant.model.section import Section
from pliant.model.walk import unchecked_copy
from pliant.scalar import Numbers

if TYPE_CHECKING:  # what layers above answer
    from pliant.beams.gibbs_appell import GibbsAppellIntegrals

THEORIES = ("euler-bernoulli", "timoshenko")
AUTO = "auto"
STIFFENINGS = (AUTO, "none", "linear", "full", "cubic", "as-published")
FIRST_ORDER = ("linear", "as-published")  # those without the inertia of the shortening itself
MOST_FULL = 40  # bending coordinates of a plane up to which `auto` is full: the code of its dense mass matrix grows with their cube


@dataclass(frozen=True, kw_only=True)
class Beam:
    """An elastic link: a straight beam. Its mass per length is given or follows from the material's density.

    tip_section: the section at the tip of a tapered beam, of the same form as `section`, which is then the one at the root;
    dimensions change linearly in between.
    rotary_inertia: rotary inertia per length; one number J about y and z (2 J about x follows), or (Jx, Jy, Jz). By default it is
    rho I for Timoshenko beams; for Euler-Bernoulli beams it is zero about y and z, and rho (Iy + Iz) about x if both are known.
    """

    length: float  # m
    section: Section
    material: Material
    theory: str  # euler-bernoulli or timoshenko
    modes: Sequence[ModeSet] | ModeSet
    damping: Sequence[Damping] | Damping = ()
    mass_per_length: float | None = None  # kg/m
    rotary_inertia: float | Numbers | None = None  # kg m
    payload: Payload | None = None
    tip_section: Section | None = None
    stiffening: str = AUTO  # foreshortening by bending: auto, none, linear (in the modes), full, cubic, as-published

    def __post_init__(self) -> None:
        part = "Beam"
        object.__setattr__(self, "length", check.positive(part, "length", self.length, "m"))
        check.instance(part, "section", self.section, Section, "a Section")
        check.instance(part, "material", self.material, Material, "a Material")
        if self.tip_section is not None:
            self._check_taper(self.tip_section)
        check.choice(part, "theory", self.theory, THEORIES)
        check.choice(part, "stiffening", self.stiffening, STIFFENINGS)
        object.__setattr__(self, "modes", _several(self.modes))
        self._check_mass()  # which modes of torsion read
        self._check_modes()
        object.__setattr__(self, "damping", checked_dampings(part, self.damping, DAMPINGS))
        if self.payload is not None:
            check.instance(part, "payload", self.payload, Payload, "a Payload")

    @property
    def integrals(self) -> GibbsAppellIntegrals:
        """The integrals of the Gibbs-Appell papers by name, as in beam.integrals.C1: `pl.gibbs_appell_integrals`."""
        return answer("integrals", self)  # type: ignore[no-any-return]

    @property
    def structure(self) -> tuple[object, ...]:
        """The properties that determine the code of the equations; the numbers in that code come from the beam's integrals."""
        return self.theory, self.stiffening_taken, self.mode_labels

    @property
    def mode_sets(self) -> tuple[ModeSet, ...]:
        """The sets of modes, also if one was given alone."""
        return tuple(self.modes)  # type: ignore[arg-type]

    @property
    def mode_labels(self) -> tuple[str, ...]:
        return tuple(label for modes in self.mode_sets for label in labels(modes))

    @property
    def stiffening_taken(self) -> str:
        """The stiffening in use. `auto` means full, so that refinements converge to one answer; beyond MOST_FULL coordinates it
        means none, with a warning."""
        if self.stiffening != AUTO:
            return self.stiffening
        return "full" if self.bending_coordinates <= MOST_FULL else "none"

    @property
    def bends(self) -> bool:
        """Whether it has bending coordinates."""
        return self.bending_coordinates > 0

    @property
    def bending_coordinates(self) -> int:
        """The larger number of bending coordinates of the two planes."""
        return max(sum(label.rstrip("0123456789") == plane for label in self.mode_labels) for plane in PLANES)

    @property
    def dampings(self) -> tuple[Damping, ...]:
        """The kinds of damping, also if one was given alone."""
        return tuple(self.damping)  # type: ignore[arg-type]

    def along(self, x: Any) -> Self:
        """The uniform beam with the section at x, m from the root; of an array of places, sections with arrays for numbers."""
        if self.tip_section is None:
            return self
        section = self.section.towards(self.tip_section, x / self.length)
        found: Self = unchecked_copy(self, {"section": section, "tip_section": None})
        return found

    @property
    def mu(self) -> float:
        """Mass per length, kg/m; of a tapered beam at its root: see `along`."""
        if self.mass_per_length is not None:
            return self.mass_per_length
        assert self.material.density is not None  # checked when made
        return self.material.density * self.section.A

    @property
    def mass(self) -> float:
        """Mass of the beam without its payload, kg."""
        if self.tip_section is None:
            return self.mu * self.length
        ends, middle = self.mu + self.along(self.length).mu, self.along(0.5 * self.length).mu
        return self.length * (ends + 4.0 * middle) / 6.0  # Simpson, exact: areas are quadratic in x

    @property
    def lengths(self) -> dict[str, Length]:
        return {}

    @property
    def as_published(self) -> bool:
        return self.stiffening == "as-published"

    def with_lengths(self, lengths: Mapping[str, Length]) -> Self:
        return self

    def places(self, name: str) -> dict[str, Frame]:
        return {ROOT: Frame(name, 0.0), TIP: Frame(name, self.length)}

    def at(self, name: str, place: Any) -> Frame:
        """The frame at a station, m from the root."""
        part = f"body {name!r}"
        station = check.number(part, "station", place, "m")
        if not 0.0 <= station <= self.length:
            raise ModelError.of(part, "station", f"must be in [0, {self.length}] m", place)
        return Frame(name, station)

    def check_station(self, part: str, label: str, station: float | None) -> None:
        if station is None or not 0.0 <= station <= self.length:
            raise ModelError.of(part, label, f"must be at a station in [0, {self.length}] m", station)

    @property
    def rotary(self) -> tuple[float, float, float]:
        """Rotary inertia per length about x, y, z, kg m."""
        if isinstance(self.rotary_inertia, tuple):
            return self.rotary_inertia
        if self.rotary_inertia is not None:
            j: float = self.rotary_inertia  # type: ignore[assignment]
            return (2.0 * j, j, j)
        density, iy, iz = self.mu / self.section.A, self.section.Iy, self.section.Iz
        polar = density * (iy + iz) if iy is not None and iz is not None else 0.0
        if self.theory == "euler-bernoulli":
            return (polar, 0.0, 0.0)
        return (polar, *(0.0 if second is None else density * second for second in (iy, iz)))  # type: ignore[return-value]

    def _check_taper(self, tip: Section) -> None:
        check.instance("Beam", "tip_section", tip, Section, "a Section")
        for field, section in (("section", self.section), ("tip_section", tip)):
            if not section.follows_outline or type(section.outline) is not type(self.section.outline):
                rule = "must be made by Section.rectangle, round or tube, and of the same form as the other end, for a tapered beam"
                raise ModelError.of("Beam", field, rule, section)

    def _check_modes(self) -> None:
        if not self.mode_sets:
            raise ModelError.of("Beam", "modes", "must contain at least one set (use RigidBody for a rigid link)", ())
        seen: set[str] = set()
        for k, modes in enumerate(self.mode_sets):
            check.instance("Beam", f"modes[{k}]", modes, MODE_SETS, 'a set of modes such as pl.Modes("cf", 2)')
            direction = _direction(modes)
            if direction in seen:
                raise ModelError.of("Beam", f"modes[{k}]", "must be the only set of modes in its direction", direction)
            seen.add(direction)
            self._check_stiffness(direction)
            if isinstance(modes, GivenModes):
                modes.check_length(self.length)
            if isinstance(modes, ElementModes) and self.theory != "euler-bernoulli":
                raise ModelError.of("Beam", "theory", "must be euler-bernoulli for cubic elements", self.theory)
            if isinstance(modes, Modes) and modes.payload and self.payload is None:
                raise ModelError(f"Beam: modes[{k}].payload = True needs a payload on the beam, got payload = None")

    def _check_stiffness(self, direction: str) -> None:
        needed = {"bending y": "Iz", "bending z": "Iy", "torsion": "J"}.get(direction)
        if needed and getattr(self.section, needed) is None:
            raise ModelError(f"Beam: {direction} modes need section.{needed}, got None")
        shear = direction == "torsion" or (direction.startswith("bending") and self.theory == "timoshenko")
        if shear and self.material.shear_modulus is None:
            raise ModelError(f"Beam: {direction} modes need material.G or material.nu, got None")
        for field, section in (("section", self.section), ("tip_section", self.tip_section)):
            if shear and direction != "torsion" and section is not None and section.shear_factor is None:
                raise ModelError(f"Beam: timoshenko modes need {field}.shear_factor, got None")
        if direction == "torsion" and self.rotary[0] <= 0.0:
            raise ModelError.of("Beam", "rotary_inertia", "must be > 0 kg m about x for torsion modes", self.rotary)

    def _check_mass(self) -> None:
        part = "Beam"
        if self.mass_per_length is not None:
            clean = check.positive(part, "mass_per_length", self.mass_per_length, "kg/m")
            object.__setattr__(self, "mass_per_length", clean)
        elif self.material.density is None:
            raise ModelError(f"{part}: mass_per_length or material.density must be given, got neither")
        if self.rotary_inertia is None:
            return
        if check.several(self.rotary_inertia):
            triple = check.numbers(part, "rotary_inertia", self.rotary_inertia, 3, "kg m")
            for k, value in enumerate(triple):
                check.not_negative(part, f"rotary_inertia[{k}]", value, "kg m")
            object.__setattr__(self, "rotary_inertia", triple)
        else:
            clean = check.not_negative(part, "rotary_inertia", self.rotary_inertia, "kg m")
            object.__setattr__(self, "rotary_inertia", clean)


def _several(value: object) -> tuple[object, ...]:
    return tuple(value) if isinstance(value, (list, tuple)) else (value,)


def _direction(modes: ModeSet) -> str:
    direction = direction_of(modes)
    return f"bending {direction}" if direction in PLANES else direction
