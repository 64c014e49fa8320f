"""Section forces along the beams of a run: axial and shear force, torsion and bending moments at stations, as a dataset."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.arrays import Floats
from pliant.errors import ModelError
from pliant.model import check
from pliant.model.beam import Beam
from pliant.model.system import System
from pliant.model.telescopic import TelescopicBeam
from pliant.results.result import Result
from pliant.results.sections import FORCES, dataset_of
from pliant.run.mechanism import AnySystem
from pliant.scalar import Numbers

if TYPE_CHECKING:  # xarray and casadi are imported only when needed
    import xarray

    from pliant.analysis.material_line import MaterialLine
    from pliant.analysis.outboard_forces import PlacedWrench
    from pliant.analysis.recorded_motion import RecordedMotion
    from pliant.analysis.section_balance import SectionWrench

BY = ("balance", "curvature")
EVEN = 21  # evenly spaced stations of every beam by default


def section_forces(
    result: Result,
    system: AnySystem | None = None,
    *,
    stations: int | Numbers | None = None,
    beams: Sequence[str] | None = None,
    by: str = "balance",
) -> xarray.Dataset:
    """Axial force, shear forces, torsion and bending moments along the beams, at every row of a result.

    system: the system of the run; needed only if the result comes from a file that does not hold its model. stations: their number,
    evenly spaced from root to tip, or a list of fractions of the length from 0 to 1 (for a telescopic link, of its free length); by
    default 21, plus every position at which something acts on a beam. beams: names; all beams by default. by: "balance" computes
    section forces from the balance of all forces outboard of the station, inertia included; "curvature" from the strains of the
    modes.

    Section forces are those of the part outboard of a station on the part inboard of it, in the axes of the deformed section. Axial
    force is positive in tension, `bending_moment_z` is positive if the beam curves towards +y, and `bending_moment_y` if it curves
    towards -z. A force exactly at the station counts as outboard of it. The attribute `warnings` of the dataset has a line for each
    thing to know before believing the numbers: the result's own warnings, rows too far apart, modes that do not follow a blow.
    """
    return SectionStudy(result, system, stations, beams, by, "section_forces").forces()


class SectionStudy:
    """A checked request for section forces; they are computed on demand."""

    def __init__(
        self, result: Result, system: AnySystem | None, stations: Any, beams: Sequence[str] | None, by: str, caller: str
    ) -> None:
        from pliant.analysis.recorded_motion import RecordedMotion

        check.instance(caller, "result", result, Result, "a Result")
        check.choice(caller, "by", by, BY)
        self.caller, self.by = caller, by
        self.motion: RecordedMotion = RecordedMotion(result, system, caller)
        for group in self.motion.system.groups:
            rule = f"must have no contact among shapes, as {group!r}, whose forces are not in its rows: name its pairs, by points="
            raise ModelError.of(caller, "result", rule, result.name)
        self.beams = _chosen(self.motion, beams, caller)
        self.stations = _fractions(self.motion, self.beams, stations, caller)

    def forces(self) -> xarray.Dataset:
        """The dataset of section forces, with their imbalance against the joint reaction at the root."""
        values, warnings = self.arrays()
        warnings = [*self.motion.result.warnings, *warnings]
        return dataset_of(self.motion.result, self.by, self.beams, self.stations, values.pop("x"), values, warnings)

    def arrays(self) -> tuple[dict[str, Floats], list[str]]:
        """By name: x and the quantities of the dataset, each of shape (rows, beams, ...); and what to know of them."""
        from pliant.analysis.material_line import line_of
        from pliant.analysis.outboard_forces import placed_wrenches
        from pliant.analysis.section_warnings import sparse_rows, unfollowed

        motion, acting = self.motion, placed_wrenches(self.motion) if self.by == "balance" else []
        along: dict[str, list[Floats]] = {}
        warnings = [*sparse_rows(motion.result)]
        for name in self.beams:
            line, body = line_of(motion, name), body_of(motion.system, name)
            found = self._of_line(line, body, acting)
            for quantity, values in found.items():
                along.setdefault(quantity, []).append(values)
            along.setdefault("x", []).append(self._distances(line, body))
            if self.by == "balance" and isinstance(body, Beam):
                moment = np.stack([found[quantity] for quantity in FORCES[3:]], axis=2)
                warnings += unfollowed(motion.result, name, body, moment, found["truncation"])
        return {quantity: np.stack(each, axis=1) for quantity, each in along.items()}, warnings

    def _of_line(self, line: MaterialLine, body: Beam | TelescopicBeam, acting: Sequence[PlacedWrench]) -> dict[str, Floats]:
        from pliant.analysis.material_line import turns
        from pliant.analysis.section_balance import balance, joint_wrench
        from pliant.analysis.section_curvature import curvature

        elastic = curvature(line, body, self.stations)
        if self.by == "curvature":
            return _named(elastic)
        wrench = _turned(balance(line, self.stations, acting), turns(line, self.stations))
        values, axes = self.motion.result.values, self.motion.turn(line.number)
        reaction = [np.einsum("rij,ri->rj", axes, values[name][:, line.number]) for name in ("reaction_force", "reaction_moment")]
        force, moment = joint_wrench(line, acting)
        return _named(wrench) | {
            "truncation": wrench.moment - elastic.moment,
            "root_force_residual": force + reaction[0],
            "root_moment_residual": moment + reaction[1],
        }

    def _distances(self, line: MaterialLine, body: Beam | TelescopicBeam) -> Floats:
        """Distances from the root, m: (rows, stations)."""
        sleeve = body.length if isinstance(body, TelescopicBeam) else 0.0
        return np.asarray(sleeve + np.outer(line.length, self.stations))


def body_of(system: System, name: str) -> Beam | TelescopicBeam:
    body = system.links[name].body
    assert isinstance(body, (Beam, TelescopicBeam))  # chosen so
    return body


def _turned(wrench: SectionWrench, turns: Floats) -> SectionWrench:
    """Vectors rotated from the beam's axes to those of the sections."""
    return type(wrench)(*(np.einsum("rsij,rsi->rsj", turns, vector) for vector in (wrench.force, wrench.moment)))


def _named(wrench: SectionWrench) -> dict[str, Floats]:
    columns = np.concatenate([wrench.force, wrench.moment], axis=2)
    return {name: columns[:, :, k] for k, name in enumerate(FORCES)}


def _chosen(motion: RecordedMotion, beams: Sequence[str] | None, caller: str) -> list[str]:
    """The beams named, or all bodies that have section forces if none are named."""
    links = motion.system.links
    known = [name for name, link in links.items() if isinstance(link.body, (Beam, TelescopicBeam))]
    if isinstance(beams, str):
        beams = [beams]
    for name in beams or ():
        if name not in known:
            raise ModelError.of(caller, "beams", f"must be among {known}{check.did_you_mean(name, known)}", name)
    chosen = known if beams is None else list(beams)
    if not chosen:
        rule = "must hold at least one beam or telescopic link" if beams is None else "must name at least one"
        raise ModelError.of(caller, "system" if beams is None else "beams", rule, list(links) if beams is None else [])
    for name in chosen:
        if links[name].body.as_published:
            rule = "must not be 'as-published': those equations leave out terms, so their forces do not balance"
            field = "stiffening" if isinstance(links[name].body, Beam) else "form"
            raise ModelError.of(f"body {name!r}", field, rule, "as-published")
    return chosen


def _fractions(motion: RecordedMotion, beams: Sequence[str], given: Any, caller: str) -> Floats:
    """Stations as fractions of the length, ascending."""
    if given is None:
        acted = [frame.station / body_of(motion.system, frame.body).length
                 for frame in motion.tree.places if frame.body in beams and frame.station is not None]  # fmt: skip
        return np.unique(np.round([*np.linspace(0.0, 1.0, EVEN), *acted], 12))  # so that round-off cannot duplicate a station
    if isinstance(given, (int, np.integer)) and not isinstance(given, bool):
        if given < 2:
            raise ModelError.of(caller, "stations", "must be >= 2: at least root and tip", given)
        return np.linspace(0.0, 1.0, int(given))
    rule = "must be a number of stations, or ascending fractions of the length from 0 to 1"
    if isinstance(given, (str, bool)) or not isinstance(given, Iterable):
        raise ModelError.of(caller, "stations", rule, given)
    fractions = np.array([check.number(caller, f"stations[{k}]", x) for k, x in enumerate(given)])
    if not fractions.size or np.any(np.diff(fractions) <= 0.0) or fractions[0] < 0.0 or fractions[-1] > 1.0:
        raise ModelError.of(caller, "stations", rule, given)
    return fractions
