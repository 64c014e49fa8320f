"""Segmented beams: a slender beam as short beams welded in line. Each segment bends little; together they allow large bending."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from pliant.errors import ModelError
from pliant.model import check
from pliant.model.beam import AUTO, Beam
from pliant.model.body import ROOT, TIP
from pliant.model.damping import Damping, KelvinVoigt, ModalDamping, MotionDrag, Rayleigh
from pliant.model.frame import Frame
from pliant.model.modes import PLANES, AxialElements, ElementModes, Modes, ModeSet, TorsionElements, direction_of

MOST = 1000  # segments; a typing error must not exhaust the memory


@dataclass(frozen=True)
class SegmentedBeam:
    """A beam divided into segments, made by `segmented`. `System.add` adds it as the bodies name_1 ... name_n."""

    beam: Beam
    segments: int
    modes: Sequence[ModeSet] | ModeSet | None = None  # modes of every segment; None: see `segment_modes`

    def __post_init__(self) -> None:
        part = "segmented"
        check.instance(part, "beam", self.beam, Beam, "a Beam")
        check.count(part, "n", self.segments, MOST)
        for k, damping in enumerate(self.beam.dampings):
            _check_local(part, f"damping[{k}]", damping)
        if self.modes is not None and not isinstance(self.modes, tuple):
            object.__setattr__(self, "modes", tuple(self.modes) if isinstance(self.modes, list) else (self.modes,))
        self.parts  # noqa: B018  # makes the segments, so that Beam's own checks run here

    @cached_property
    def parts(self) -> tuple[Beam, ...]:
        """The segments from the root on. Without a taper, all but the last are the same object; the last carries the payload."""
        modes = segment_modes(self.beam) if self.modes is None else self.modes
        length = self.beam.length / self.segments
        segment = replace(self.beam, length=length, modes=modes, stiffening=self.stiffening, payload=None)
        last = segment if self.beam.payload is None else replace(segment, payload=self.beam.payload)
        if self.beam.tip_section is None:
            return (*(segment,) * (self.segments - 1), last)
        sections = [self.beam.along(k * length).section for k in range(self.segments)] + [self.beam.tip_section]
        return tuple(
            replace(last if k == self.segments - 1 else segment, section=sections[k], tip_section=sections[k + 1])
            for k in range(self.segments)
        )

    @property
    def stiffening(self) -> str:
        """The stiffening of every segment: the beam's own. `auto` means cubic, or full if the beam bends in two planes.

        The error falls with n^4 for cubic and with n^3 for full. In two planes, with two shapes in each, cubic needs 20 fields of
        third order, which cost as much as four times as many segments.
        """
        planes = {direction_of(modes) for modes in self.beam.mode_sets} & set(PLANES)
        return self.beam.stiffening if self.beam.stiffening != AUTO else "full" if len(planes) > 1 else "cubic"

    def names(self, name: str) -> tuple[str, ...]:
        """Names of the segments of a beam of this name."""
        return tuple(f"{name}_{k + 1}" for k in range(self.segments))

    def places(self, name: str) -> dict[str, Frame]:
        """The frames at the root and at the tip of the whole beam."""
        names, part = self.names(name), self.parts[-1]
        return {ROOT: Frame(names[0], 0.0), TIP: Frame(names[-1], part.length)}

    def at(self, name: str, place: Any) -> Frame:
        """The frame at a station of the whole beam, m; where two segments meet, it belongs to the first of them."""
        station = check.number(f"body {name!r}", "station", place, "m")
        if not 0.0 <= station <= self.beam.length:
            raise ModelError.of(f"body {name!r}", "station", f"must be in [0, {self.beam.length}] m", place)
        length = self.parts[0].length
        number = min(max(math.ceil(float(station / length)) - 1, 0), self.segments - 1)
        return Frame(self.names(name)[number], min(station - number * length, length))


def segmented(beam: Beam, n: int, modes: Sequence[ModeSet] | ModeSet | None = None) -> SegmentedBeam:
    """Divide a slender beam into n short beams welded in line, for deflections beyond a tenth of its length.

    The segments take section, material, theory, damping and stiffening from the beam (stiffening auto means cubic, or full if the
    beam bends in two planes). The payload stays at the tip. modes: the modes of every segment; by default each segment deforms in
    the directions in which the beam does, with the shapes that are exact under loads at its ends.
    """
    return SegmentedBeam(beam, n, modes)


def segment_modes(beam: Beam) -> tuple[ModeSet, ...]:
    """For each direction in which the beam deforms, the static shapes of a segment under loads at its ends."""
    return tuple(_static_shapes(beam, direction_of(modes)) for modes in beam.mode_sets)


def _static_shapes(beam: Beam, direction: str) -> ModeSet:
    if direction == "axial":
        return AxialElements(1)
    if direction == "torsion":
        return TorsionElements(1)
    assert direction in PLANES
    if beam.theory == "timoshenko":
        return Modes("cf", 1, plane=direction, static=True)
    return ElementModes(1, reference="cantilever", plane=direction)


def _check_local(part: str, label: str, damping: Damping) -> None:
    """Refuse damping that depends on the beam's frame or frequencies, which its segments do not share."""
    if isinstance(damping, KelvinVoigt | MotionDrag) or (isinstance(damping, Rayleigh) and float(damping.alpha) == 0.0):
        return
    rule = "must be KelvinVoigt, MotionDrag or Rayleigh(alpha=0, beta): segments do not have the frame and frequencies of the beam"
    if isinstance(damping, ModalDamping):
        rule += "; Rayleigh(alpha=0, beta=2 x/w) gives the ratio x to the mode of the beam with the frequency w, rad/s"
    raise ModelError.of(part, label, rule, damping)
