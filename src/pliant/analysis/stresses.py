"""Stresses in the sections of beams from section forces: normal stress and von Mises equivalent stress.

Elementary beam theory: sigma = N/A + My z/Iy - Mz y/Iz; shear stress from torsion by Saint-Venant, from shear forces by Jourawski.
Stresses are evaluated at enough points of a section to find the largest.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.analysis.section_forces import SectionStudy, body_of
from pliant.arrays import Floats
from pliant.errors import ModelError
from pliant.model.beam import Beam
from pliant.model.outline import FibreOutline, RectangleOutline, RingOutline
from pliant.model.section import Section
from pliant.model.system import System
from pliant.results.result import Result
from pliant.results.sections import FORCES, STRESSES, with_quantities
from pliant.run.mechanism import AnySystem
from pliant.scalar import Numbers

if TYPE_CHECKING:
    import xarray

GRID = 17  # points per side of a rectangle, including its edges and its axes
RIM = 48  # points round a ring, including the point of largest bending stress; between points a stress is at most 0.2 % larger
TERMS = 400  # terms of Saint-Venant's series


def stresses(
    result: Result,
    system: AnySystem | None = None,
    *,
    stations: int | Numbers | None = None,
    beams: Sequence[str] | None = None,
    by: str = "balance",
) -> xarray.Dataset:
    """Section forces, and the stresses they cause: largest and smallest normal stress, and largest equivalent stress.

    The arguments are those of `section_forces`. Stresses need the outline of the section: Section.rectangle, round and tube have
    one; a section defined by numbers must be given one. With `by="curvature"`, section forces that the modes do not determine count
    as zero.
    """
    study = SectionStudy(result, system, stations, beams, by, "stresses")
    sections = outlined(study)
    forces = study.forces()
    known = {name: forces[name].values if by == "balance" else np.nan_to_num(forces[name].values) for name in FORCES}
    return with_quantities(forces, stress_arrays(sections, known))


def outlined(study: SectionStudy) -> list[list[Section]]:
    """The sections of the beams, each with an outline: one for all stations, or of a tapered beam one for each."""
    return [_sections(study.motion.system, name, study.stations) for name in study.beams]


def stress_arrays(sections: Sequence[Sequence[Section]], forces: Mapping[str, Floats]) -> dict[str, Floats]:
    """Stresses by name, from section forces by name: (rows, beams, stations)."""
    along = [[forces[name][:, k] for name in FORCES] for k in range(len(sections))]
    every = [_along(own, each) for own, each in zip(sections, along, strict=True)]
    return {name: np.stack([of_beam[k] for of_beam in every], axis=1) for k, name in enumerate(STRESSES)}


def _along(sections: Sequence[Section], forces: Sequence[Floats]) -> Sequence[Floats]:
    """Stresses of one beam, (rows, stations) each."""
    if len(sections) == 1:
        return section_stresses(sections[0], SectionLoad(*forces))
    each = [section_stresses(section, SectionLoad(*(f[:, k : k + 1] for f in forces))) for k, section in enumerate(sections)]
    return [np.concatenate(of, axis=1) for of in zip(*each, strict=True)]


def _sections(system: System, name: str, stations: Floats) -> list[Section]:
    body = body_of(system, name)
    section = body.section
    if section.outline is None:
        rule = "must have an outline to compute stresses: use Section.rectangle, round or tube, or Section(outline=...)"
        raise ModelError(f"body {name!r}: section {rule}; it was given by its numbers A and Iz alone")
    tapered = isinstance(body, Beam) and body.tip_section is not None
    return [body.along(x * body.length).section for x in stations.tolist()] if tapered else [section]  # type: ignore[union-attr]


@dataclass(frozen=True)
class SectionLoad:
    """Section forces of one beam, each of shape (rows, stations)."""

    axial: Floats  # N
    shear_y: Floats
    shear_z: Floats
    torsion: Floats  # N m
    moment_y: Floats
    moment_z: Floats


@dataclass(frozen=True)
class PointStress:
    """Stress at one point of a section: normal stress along the beam, and shear stress on the section along y and z."""

    normal: Floats  # Pa
    shear_y: Floats
    shear_z: Floats

    @property
    def equivalent(self) -> Floats:
        """sqrt(sigma^2 + 3 tau^2), von Mises 1913."""
        return np.asarray(np.sqrt(self.normal**2 + 3.0 * (self.shear_y**2 + self.shear_z**2)))


def section_stresses(section: Section, load: SectionLoad) -> tuple[Floats, Floats, Floats]:
    """(largest normal, smallest normal, largest equivalent stress) in a section."""
    shape = load.axial.shape
    largest, smallest, equivalent = np.full(shape, -np.inf), np.full(shape, np.inf), np.zeros(shape)
    for point in POINTS[type(section.outline)](section, section.outline, load):
        largest, smallest = np.maximum(largest, point.normal), np.minimum(smallest, point.normal)
        equivalent = np.maximum(equivalent, point.equivalent)
    return largest, smallest, equivalent


def _normal(section: Section, load: SectionLoad, y: Any, z: Any) -> Floats:
    """N/A + My z/Iy - Mz y/Iz; a section that bends about one axis only need not define the other second moment of area."""
    about_y = load.moment_y * z / section.Iy if section.Iy is not None else 0.0
    about_z = load.moment_z * y / section.Iz if section.Iz is not None else 0.0
    return np.asarray(load.axial / section.A + about_y - about_z)


# ---- outlines


def _in_rectangle(section: Section, outline: RectangleOutline, load: SectionLoad) -> Iterator[PointStress]:
    """Stresses on a grid: parabolic shear from shear forces, Saint-Venant's series from torsion."""
    h, b = outline.height, outline.width
    mean_y, mean_z = 1.5 * load.shear_y / section.A, 1.5 * load.shear_z / section.A
    twist = load.torsion / (section.J or math.inf)  # G theta', Pa/m
    planar = not any(np.any(force) for force in (load.shear_z, load.torsion, load.moment_y))  # stresses are then the same for all z
    for y in np.linspace(-0.5 * h, 0.5 * h, GRID).tolist():
        for z in [0.0] if planar else np.linspace(-0.5 * b, 0.5 * b, GRID).tolist():
            along_z = twist * _torsion_shear(y, z, h, b)
            along_y = -twist * _torsion_shear(z, y, b, h)
            yield PointStress(
                _normal(section, load, y, z),
                mean_y * (1.0 - (2.0 * y / h) ** 2) + along_y,
                mean_z * (1.0 - (2.0 * z / b) ** 2) + along_z,
            )


def _torsion_shear(y: float, z: float, h: float, b: float) -> float:
    """tau_xz / (G theta') at (y, z) of a rectangle h b: -dphi/dy of Prandtl's stress function (Timoshenko, Goodier, art. 109).

    2 y - (8 h / pi^2) sum_odd (-1)^((n-1)/2) / n^2 sin(n pi y / h) cosh(n pi z / h) / cosh(n pi b / 2 h).
    """
    n = np.arange(1, 2 * TERMS, 2)
    signs = np.where(n % 4 == 1, 1.0, -1.0)
    edge, here = n * math.pi * b / (2.0 * h), n * math.pi * abs(z) / h
    ratio = np.exp(here - edge) * (1.0 + np.exp(-2.0 * here)) / (1.0 + np.exp(-2.0 * edge))
    return 2.0 * y - 8.0 * h / math.pi**2 * float(np.sum(signs / n**2 * np.sin(n * math.pi * y / h) * ratio))


def _in_ring(section: Section, outline: RingOutline, load: SectionLoad) -> Iterator[PointStress]:
    """Stresses round the rim, beginning at the largest bending stress."""
    first = np.arctan2(load.moment_y, -load.moment_z)
    for k in range(RIM):
        yield on_rim(section, outline, load, first + 2.0 * math.pi * k / RIM)


def on_rim(section: Section, outline: RingOutline, load: SectionLoad, angle: Any) -> PointStress:
    """Stresses at an angle from y on the rim: torsion is largest there, and shear runs along it.

    The largest stress due to a shear force is (4/3) (V/A) (ro^2 + ro ri + ri^2) / (ro^2 + ri^2), at the rim and inside.
    """
    ro, ri = outline.outer, outline.inner
    peak = 4.0 / 3.0 * (ro**2 + ro * ri + ri**2) / (ro**2 + ri**2) / section.A
    c, s = np.cos(angle), np.sin(angle)
    along = load.torsion * ro / (section.J or math.inf) + peak * (load.shear_z * c - load.shear_y * s)
    return PointStress(_normal(section, load, ro * c, ro * s), -along * s, along * c)


def _in_fibres(section: Section, outline: FibreOutline, load: SectionLoad) -> Iterator[PointStress]:
    """Stresses with the total shear in every fibre, whatever its direction."""
    twisted = np.abs(load.torsion) / (outline.torsion_modulus or math.inf)
    sheared = np.hypot(load.shear_y, load.shear_z) / (outline.shear_area or math.inf)
    for y, z in outline.points:
        yield PointStress(_normal(section, load, y, z), twisted + sheared, np.zeros_like(twisted))


POINTS: dict[Any, Callable[[Section, Any, SectionLoad], Iterator[PointStress]]] = {
    RectangleOutline: _in_rectangle,
    RingOutline: _in_ring,
    FibreOutline: _in_fibres,
}
