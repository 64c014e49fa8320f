"""The telescopic link: an elastic arm that slides in a rigid sleeve, so that its free length is a coordinate.

The sleeve, of length L, starts at the joint; the arm, of the same length, projects from it by the free length l. The part inside
moves with the sleeve; the part outside bends, twists and stretches as a cantilever of length l (Korayem, Shafei, Dehkordi).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from pliant.errors import ModelError
from pliant.model import check
from pliant.model.damping import AirDrag, Damping, KelvinVoigt, ModalDamping, MotionDrag, Rayleigh, checked_dampings
from pliant.model.frame import ROOT, TIP, Frame
from pliant.model.friction_law import FrictionLaw, friction_law
from pliant.model.joint_friction import SLIDES, JointFriction
from pliant.model.length import Length
from pliant.model.material import Material
from pliant.model.modes import AxialModes, Modes, ModeSet, TorsionModes, labels
from pliant.model.play import Limits
from pliant.model.rigid import Payload
from pliant.model.section import Section
from pliant.model.signal import MotionTable, Prescribed, PrescribedMotion, prescribed

FORMS = ("consistent", "as-published")
TIP_ROTATIONS = ("exact", "first-order")
SLEEVE_ENDS = ("stop", "continue", "spring")
DAMPINGS_OF_ARMS = (KelvinVoigt, AirDrag, MotionDrag, Rayleigh, ModalDamping)
EXTENSION = "extension"  # the name of the free length among the coordinates


@dataclass(frozen=True, kw_only=True)
class TelescopicBeam:
    """A telescopic link: an elastic arm that slides in a rigid sleeve. `extension` and `rate` are its initial free length and rate.

    form: `consistent` keeps the convective terms delta phi' (1 - xi) l'/l of mode shapes that stretch with the free length, and
    the force -dV/dl on the free length; `as-published` omits both, as the paper does. on_sleeve_end: what happens when l exceeds
    L: the run stops, the run continues formally, or a spring of stiffness `end_stiffness` pushes back. friction: friction law
    between arm and sleeve, under the constant normal force `preload`; or a JointFriction, pressed by the forces at the mouth of the
    sleeve and at the inner end of the arm, which carry the arm.
    """

    OUTSIDE_EQUATIONS: ClassVar[tuple[str, ...]] = ("extension", "rate")

    length: float  # L of sleeve and arm, m
    section: Section
    material: Material
    modes: Sequence[ModeSet] | ModeSet
    extension: float  # m
    rate: float = 0.0  # m/s
    damping: Sequence[Damping] | Damping = ()
    mass_per_length: float | None = None  # kg/m
    torsion_inertia: float | None = None  # Jx per length, kg m; default: rho (Iy + Iz)
    form: str = "consistent"
    tip_rotation: str = "exact"  # or first-order: 1 + skew(theta), as published
    on_sleeve_end: str = "stop"
    end_stiffness: float | None = None  # N/m
    sleeve_mass: float = 0.0  # kg
    friction: Any = None
    preload: float = 0.0  # N
    motion: Prescribed | MotionTable | Callable[..., Any] | None = None
    payload: Payload | None = None

    def __post_init__(self) -> None:
        part = "TelescopicBeam"
        check.fields(self, check.positive, length="m", extension="m")
        object.__setattr__(self, "rate", check.number(part, "rate", self.rate, "m/s"))
        check.instance(part, "section", self.section, Section, "a Section")
        check.instance(part, "material", self.material, Material, "a Material")
        check.choice(part, "form", self.form, FORMS)
        check.choice(part, "tip_rotation", self.tip_rotation, TIP_ROTATIONS)
        check.choice(part, "on_sleeve_end", self.on_sleeve_end, SLEEVE_ENDS)
        self._check_modes(part)
        object.__setattr__(self, "damping", checked_dampings(part, self.damping, DAMPINGS_OF_ARMS, len(self.mode_labels)))
        self._check_numbers(part)
        if self.extension >= self.length and self.on_sleeve_end == "stop":
            rule = f"must be < length = {self.length!r} m when on_sleeve_end is 'stop'"
            raise ModelError.of(part, "extension", rule, self.extension)
        if (self.on_sleeve_end == "spring") != (self.end_stiffness is not None):
            rule = "must be given if, and only if, on_sleeve_end is 'spring'"
            raise ModelError.of(part, "end_stiffness", rule, self.end_stiffness)
        if isinstance(self.friction, JointFriction):
            self._check_friction(part, self.friction)
        elif (self.friction is not None) != (self.preload > 0.0):
            raise ModelError.of(part, "preload", "must be > 0 N with friction, and left out without it", self.preload)
        elif self.friction is not None:
            law = friction_law(part, "friction", self.friction)
            if not isinstance(law, FrictionLaw) or law.holds:
                raise ModelError.of(part, "friction", "must be a law that depends on the slip speed alone", self.friction)
            object.__setattr__(self, "friction", law)
        if self.motion is not None:
            object.__setattr__(self, "motion", prescribed(part, "motion", self.motion))
        if self.payload is not None:
            check.instance(part, "payload", self.payload, Payload, "a Payload")

    @property
    def mode_sets(self) -> tuple[ModeSet, ...]:
        """The sets of modes, also if one was given alone."""
        return tuple(self.modes)  # type: ignore[arg-type]

    @property
    def dampings(self) -> tuple[Damping, ...]:
        """The kinds of damping, also if one was given alone."""
        return tuple(self.damping)  # type: ignore[arg-type]

    @property
    def mode_labels(self) -> tuple[str, ...]:
        return tuple(label for modes in self.mode_sets for label in labels(modes))

    @property
    def mu(self) -> float:
        """Mass of the arm per length, kg/m."""
        if self.mass_per_length is not None:
            return self.mass_per_length
        assert self.material.density is not None  # checked when made
        return self.material.density * self.section.A

    @property
    def mass(self) -> float:
        """Arm and sleeve without the payload, kg."""
        return self.mu * self.length + self.sleeve_mass

    @property
    def twisting(self) -> float:
        """Jx of the arm per length, kg m."""
        if self.torsion_inertia is not None:
            return self.torsion_inertia
        iy, iz = self.section.Iy, self.section.Iz
        return self.mu / self.section.A * (iy + iz) if iy is not None and iz is not None else 0.0

    @property
    def lengths(self) -> dict[str, Length]:
        motion: PrescribedMotion | None = self.motion  # type: ignore[assignment]  # cleaned when made
        rubs = self.friction if isinstance(self.friction, JointFriction) else None
        return {EXTENSION: Length(self.extension, self.rate, motion, self.stop, rubs)}

    @property
    def as_published(self) -> bool:
        return self.form == "as-published"

    def with_lengths(self, lengths: Mapping[str, Length]) -> Self:
        changed = lengths[EXTENSION]
        if changed == self.lengths[EXTENSION]:
            return self
        return replace(self, extension=changed.start, rate=changed.rate, motion=changed.motion)

    def places(self, name: str) -> dict[str, Frame]:
        return {ROOT: Frame(name), TIP: Frame(name, self.length)}

    def at(self, name: str, place: Any) -> Frame:
        raise ModelError.of(f"body {name!r}", "frame", "must be the root or the tip, the only frames of a telescopic link", place)

    def check_station(self, part: str, label: str, station: float | None) -> None:
        if station not in (None, self.length):
            raise ModelError.of(part, label, "must be the root or the tip, the only frames of a telescopic link", station)

    @property
    def stop(self) -> Limits | None:
        """The spring at the sleeve's end, as an end stop of the free length."""
        if self.on_sleeve_end != "spring":
            return None
        assert self.end_stiffness is not None  # checked when made
        return Limits(low=-self.length, high=self.length, stiffness=self.end_stiffness)

    def _check_modes(self, part: str) -> None:
        sets = tuple(self.modes) if isinstance(self.modes, (list, tuple)) else (self.modes,)
        object.__setattr__(self, "modes", sets)
        if not sets:
            raise ModelError.of(part, "modes", "must contain at least one set", ())
        seen: set[str] = set()
        for k, modes in enumerate(sets):
            check.instance(part, f"modes[{k}]", modes, (Modes, AxialModes, TorsionModes), "a set of modes")
            if modes.ends != "cf":
                raise ModelError.of(part, f"modes[{k}].ends", "must be cf, because the arm is clamped in its sleeve", modes)
            if isinstance(modes, Modes) and modes.payload:
                raise ModelError.of(part, f"modes[{k}].payload", "must be False, because the free length changes", True)
            first = labels(modes)[0]
            if first in seen:
                raise ModelError.of(part, f"modes[{k}]", "must be the only set of modes in its direction", first)
            seen.add(first)
            self._check_stiffness(part, first[:-1])

    def _check_stiffness(self, part: str, direction: str) -> None:
        needed = {"y": "Iz", "z": "Iy", "torsion": "J"}.get(direction)
        if needed and getattr(self.section, needed) is None:
            raise ModelError(f"{part}: {direction} modes need section.{needed}, got None")
        if direction == "torsion" and self.material.shear_modulus is None:
            raise ModelError(f"{part}: torsion modes need material.G or material.nu, got None")

    def _check_friction(self, part: str, friction: JointFriction) -> None:
        friction.check_fits(part, "friction", SLIDES)
        if friction.guide is not None:
            rule = "must be left out, because the part of the arm inside the sleeve is the guide"
            raise ModelError.of(part, "friction.guide", rule, friction.guide)
        if self.preload > 0.0:
            raise ModelError.of(part, "preload", "must be left out with a JointFriction, which has its own", self.preload)
        if self.on_sleeve_end != "stop":
            rule = "must be 'stop' with a JointFriction, because an arm that left its sleeve is not carried by it"
            raise ModelError.of(part, "on_sleeve_end", rule, self.on_sleeve_end)

    def _check_numbers(self, part: str) -> None:
        if self.mass_per_length is None and self.material.density is None:
            raise ModelError(f"{part}: mass_per_length or material.density must be given, got neither")
        check.fields(self, check.positive, mass_per_length="kg/m", torsion_inertia="kg m", end_stiffness="N/m")
        check.fields(self, check.not_negative, sleeve_mass="kg", preload="N")
        if any(isinstance(m, TorsionModes) for m in self.mode_sets) and self.twisting <= 0.0:
            raise ModelError.of(part, "torsion_inertia", "must be > 0 kg m for torsion modes", self.twisting)
