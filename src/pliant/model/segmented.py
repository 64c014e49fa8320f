"""A slender beam as short ones welded in line: each bends little, all of them together as far as the beam does."""

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
from pliant.model.damping import Damping, KelvinVoigt, Rayleigh
from pliant.model.frame import Frame
from pliant.model.modes import PLANES, AxialElements, ElementModes, Modes, ModeSet, TorsionElements, direction_of

MOST = 1000  # segments: a slip of the pen must not fill the memory


@dataclass(frozen=True)
class SegmentedBeam:
    """What `segmented` returns, for `System.add`: bodies name_1 ... name_n, each on the tip of the one before."""

    beam: Beam
    segments: int
    modes: Sequence[ModeSet] | ModeSet | None = None  # of every segment; None: see `segment_modes`

    def __post_init__(self) -> None:
        part = "segmented"
        check.instance(part, "beam", self.beam, Beam, "a Beam")
        check.count(part, "n", self.segments, MOST)
        for k, damping in enumerate(self.beam.dampings):
            _check_local(part, f"damping[{k}]", damping)
        if self.modes is not None and not isinstance(self.modes, tuple):
            object.__setattr__(self, "modes", tuple(self.modes) if isinstance(self.modes, list) else (self.modes,))
        self.parts  # noqa: B018  # what a Beam refuses is refused here

    @cached_property
    def parts(self) -> tuple[Beam, ...]:
        """The segments from the root on, all but the last one and the same; the last one carries the payload."""
        modes = segment_modes(self.beam) if self.modes is None else self.modes
        length = self.beam.length / self.segments
        segment = replace(self.beam, length=length, modes=modes, stiffening=self.stiffening, payload=None)
        last = segment if self.beam.payload is None else replace(segment, payload=self.beam.payload)
        return (*(segment,) * (self.segments - 1), last)

    @property
    def stiffening(self) -> str:
        """Of every segment: the beam's; `auto` is cubic, which converges with n^4, and full, n^3, where it bends in two planes.

        In two planes the fields of third order are 20 for two shapes each, and cost as much as four times the segments.
        """
        planes = {direction_of(modes) for modes in self.beam.mode_sets} & set(PLANES)
        return self.beam.stiffening if self.beam.stiffening != AUTO else "full" if len(planes) > 1 else "cubic"

    def names(self, name: str) -> tuple[str, ...]:
        return tuple(f"{name}_{k + 1}" for k in range(self.segments))

    def places(self, name: str) -> dict[str, Frame]:
        names, part = self.names(name), self.parts[-1]
        return {ROOT: Frame(names[0], 0.0), TIP: Frame(names[-1], part.length)}

    def at(self, name: str, place: Any) -> Frame:
        """A station of the whole beam, m; where two segments meet it is on the first of them."""
        station = check.number(f"body {name!r}", "station", place, "m")
        if not 0.0 <= station <= self.beam.length:
            raise ModelError.of(f"body {name!r}", "station", f"must be in [0, {self.beam.length}] m", place)
        length = self.parts[0].length
        number = min(max(math.ceil(float(station / length)) - 1, 0), self.segments - 1)
        return Frame(self.names(name)[number], min(station - number * length, length))


def segmented(beam: Beam, n: int, modes: Sequence[ModeSet] | ModeSet | None = None) -> SegmentedBeam:
    """One slender beam as n short ones welded in line, for deflections beyond a tenth of its length.

    Section, material, theory, damping and stiffening are the beam's own (auto: cubic, or full where it bends in two planes), its
    payload stays at the tip. modes: of every segment; left out, each segment deforms wherever the beam does, in the shapes that
    bend it exactly under loads at its ends.
    """
    return SegmentedBeam(beam, n, modes)


def segment_modes(beam: Beam) -> tuple[ModeSet, ...]:
    """For each direction of the beam, the shapes that loads at the ends of a segment bend, stretch or twist it in."""
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
    """Segments carry on what acts inside the material; what goes by a beam's frame or frequencies would become something else."""
    if isinstance(damping, KelvinVoigt) or (isinstance(damping, Rayleigh) and float(damping.alpha) == 0.0):
        return
    rule = "must be of the material, KelvinVoigt or Rayleigh(alpha=0, beta): a segment has another frame and other frequencies"
    raise ModelError.of(part, label, rule, damping)
