"""Segmented beams: a slender beam as short beams welded in line. Each segment bends little; together they allow large bending.

A curved or pretwisted beam is a polygon of straight segments whose ends lie on its curve; the welds between them hold the turns.
Its error falls with the square of the number of segments.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from pliant.arrays import Floats
from pliant.errors import ModelError
from pliant.model import check
from pliant.model.beam import AUTO, Beam
from pliant.model.curve import Curve, Nodes, Twist, leaning, nodes_on, points, rotation_of, rotation_vector
from pliant.model.damping import Damping, KelvinVoigt, ModalDamping, MotionDrag, Rayleigh
from pliant.model.frame import ROOT, TIP, Frame
from pliant.model.joint import Joint, Weld
from pliant.model.modes import PLANES, AxialElements, ElementModes, Modes, ModeSet, TorsionElements, direction_of
from pliant.model.parameter import expression_of

SAME = 1e-15  # rad: frames turned by less are the same
APART = 1e-6  # rad: what a start may ask of directions in which the beam does not deform
SHORTEST = 0.5  # of the arc between its ends: a segment as short as this stands for more than half a circle
LARGEST = 0.8  # rad, of a segment at the start; theory ends at 0.6
NEWTON_STEPS = 12  # for the end of a segment of third order; each gains two digits at the largest slopes
GAUSS = np.polynomial.legendre.leggauss(8)  # exact for cubes of slopes
MOST = 1000  # segments; a typing error must not exhaust the memory


@dataclass(frozen=True)
class SegmentedBeam:
    """A beam divided into segments, made by `segmented`. `System.add` adds it as the bodies name_1 ... name_n."""

    beam: Beam
    segments: int
    modes: Sequence[ModeSet] | ModeSet | None = None  # modes of every segment; None: see `segment_modes`
    curve: Curve | None = None  # on which the unloaded beam lies; None: straight
    twist: Twist | None = None  # rad, of its section about its axis
    start: Curve | None = None  # on which it starts, bent

    def __post_init__(self) -> None:
        part = "segmented"
        check.instance(part, "beam", self.beam, Beam, "a Beam")
        check.count(part, "n", self.segments, MOST)
        for k, damping in enumerate(self.beam.dampings):
            _check_local(part, f"damping[{k}]", damping)
        if self.modes is not None and not isinstance(self.modes, tuple):
            object.__setattr__(self, "modes", tuple(self.modes) if isinstance(self.modes, list) else (self.modes,))
        for field in ("curve", "start"):
            if (given := getattr(self, field)) is not None and not callable(given):
                object.__setattr__(self, field, points(field, given))
        if not self.is_straight or self.start is not None:
            if expression_of(self.beam.length) is not None:
                rule = (
                    "must be a plain number if the beam is curved, pretwisted or starts bent, because its nodes are computed once"
                )
                raise ModelError.of(part, "beam.length", rule, self.beam.length)
            if min(self.lengths) < SHORTEST * float(self.beam.length) / self.segments:
                raise ModelError.of(
                    part, "n", "must be larger: between its ends a segment of this curve turns too far", self.segments
                )
            self.axes, self.initial  # noqa: B018  # checks its curves
        self.parts  # noqa: B018  # makes the segments, so that Beam's own checks run here

    @property
    def is_straight(self) -> bool:
        """Whether the unloaded beam is neither curved nor pretwisted."""
        return self.curve is None and self.twist is None

    @cached_property
    def _nodes(self) -> Nodes:
        """The ends of the segments of the unloaded beam."""
        return nodes_on("curve", self.curve, self.twist, float(self.beam.length), self.segments)

    @cached_property
    def axes(self) -> Floats:
        """The axes of every unloaded segment, in those of the joint: x from end to end, y and z of its middle section."""
        if self.is_straight:
            return np.broadcast_to(np.eye(3), (self.segments, 3, 3))
        return np.stack(
            [leaning(step, own) for step, own in zip(np.diff(self._nodes.places, axis=0), self._nodes.middles, strict=True)]
        )

    @cached_property
    def lengths(self) -> tuple[float, ...]:
        """The length of every segment, m."""
        if self.curve is None:
            return (self.beam.length / self.segments,) * self.segments
        return tuple(float(f"{size:.13g}") for size in np.linalg.norm(np.diff(self._nodes.places, axis=0), axis=1))

    @cached_property
    def parts(self) -> tuple[Beam, ...]:
        """The segments from the root on. Those that are alike are the same object; the last carries the payload."""
        modes = segment_modes(self.beam) if self.modes is None else self.modes
        beam = replace(self.beam, modes=modes, stiffening=self.stiffening, payload=None)
        last, tip, made = self.segments - 1, self.beam.tip_section, dict[object, Beam]()
        for k, length in enumerate(self.lengths):
            own: dict[str, Any] = {"length": length}
            if tip is not None:
                first, second = (self.beam.along(self.beam.length * place / self.segments).section for place in (k, k + 1))
                own |= {"section": first, "tip_section": tip if k == last else second}
            if k == last and self.beam.payload is not None:
                own |= {"payload": self.beam.payload}
            kind = (length, k) if tip is not None or "payload" in own else length
            made[k, "th"] = made[kind] = made.get(kind) or replace(beam, **own)
        return tuple(made[k, "th"] for k in range(self.segments))

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
        """The frames at the root and at the tip of the whole beam: x along the curve, y and z those of the section; the root's are
        those of the joint."""
        names, part = self.names(name), self.parts[-1]
        root, tip = Frame(names[0], 0.0), Frame(names[-1], part.length)
        if self.is_straight:
            return {ROOT: root, TIP: tip}
        return {ROOT: turned(root, self.axes[0].T), TIP: turned(tip, self.axes[-1].T @ self._nodes.axes[-1])}

    def at(self, name: str, place: Any) -> Frame:
        """The frame at a station of the whole beam, m along it; where two segments meet, it belongs to the first of them."""
        station = check.number(f"body {name!r}", "station", place, "m")
        if not 0.0 <= station <= self.beam.length:
            raise ModelError.of(f"body {name!r}", "station", f"must be in [0, {self.beam.length}] m", place)
        each = self.beam.length / self.segments
        number = min(max(math.ceil(float(station / each)) - 1, 0), self.segments - 1)
        length = self.lengths[number]
        along = station - number * each if self.curve is None else (station - number * each) * (length / each)
        return Frame(self.names(name)[number], min(along, length))

    def weld(self, k: int, frame: Frame) -> Frame:
        """The frame at the tip of the segment before the k-th (from 0), or of the joint, turned to the axes of that segment."""
        if self.is_straight:
            return frame
        return turned(frame, self.axes[k] if k == 0 else self.axes[k - 1].T @ self.axes[k])

    def leaning_joint(self, part: str, joint: Joint) -> Joint:
        """The joint seen from the axes of the first segment, which lean against its own."""
        if self.is_straight or isinstance(joint, Weld) or np.allclose(self.axes[0], np.eye(3), rtol=0.0, atol=1e-15):
            return joint
        axis = getattr(joint, "axis", None)
        if axis is None:
            rule = "must be a weld or have one axis if the beam is curved at its root; let a small RigidBody on that joint carry it"
            raise ModelError.of(part, "joint", rule, type(joint).__name__)
        along = self.axes[0].T @ np.array(check.axis(part, "axis", axis))
        return replace(joint, axis=tuple(np.where(np.abs(along) < 1e-15, 0.0, along).tolist()))  # type: ignore[call-arg]

    @cached_property
    def initial(self) -> tuple[dict[str, float], ...]:
        """Start values of the coordinates of every segment, with which the beam lies on `start`."""
        if self.start is None:
            return ({},) * self.segments
        if self.modes is not None or self.beam.theory != "euler-bernoulli":
            rule = "may be given for Euler-Bernoulli beams whose segments have their own shapes (modes=None)"
            raise ModelError.of("segmented", "start", rule, self.modes or self.beam.theory)
        bent = nodes_on("start", self.start, self.twist, float(self.beam.length), self.segments)
        place, axes, found = np.zeros(3), self.axes[0], []
        for k in range(self.segments):
            deformed = bent.axes[k + 1] @ self._nodes.axes[k + 1].T @ self.axes[k]  # of the segment's end
            turn, far = rotation_vector(axes.T @ deformed), axes.T @ (bent.places[k + 1] - place)
            if np.linalg.norm(turn) > LARGEST or np.linalg.norm(far[1:]) > LARGEST * self.lengths[k]:
                rule = f"must leave the root in the direction of the unloaded beam and bend no segment by more than {LARGEST:g} rad"
                raise ModelError.of("segmented", "start", rule, self.start)
            values, reached = self._bent_segment(k, turn, far)
            found.append(values)
            place = place + axes @ reached
            axes = axes @ rotation_of(turn) @ self.axes[k].T @ self.axes[min(k + 1, self.segments - 1)]
        return tuple(found)

    def _bent_segment(self, k: int, turn: Floats, far: Floats) -> tuple[dict[str, float], Floats]:
        """The coordinates of a segment whose end turns so and lies there, and where it lies to the order of the theory."""
        moves = {"y": (far[1], turn[2]), "z": (far[2], -turn[1])}
        planes = [plane for plane in PLANES if f"{plane}1" in self.parts[k].mode_labels]
        length, values = self.lengths[k], dict[str, float]()
        missing = {plane: max(abs(far[axis]) / length, abs(slope)) for axis, plane, slope in ((1, "y", turn[2]), (2, "z", turn[1]))
                   if plane not in planes}  # fmt: skip
        missing |= {} if "torsion1" in self.parts[k].mode_labels else {"torsion": abs(turn[0])}
        for direction, size in missing.items():
            if size > APART:
                rule = f"must not bend or turn a beam without {direction} modes along them"
                raise ModelError.of("segmented", "start", rule, self.start)
        x, weight = 0.5 * (GAUSS[0] + 1.0), 0.5 * GAUSS[1]
        slopes, reached = [], np.array([length, 0.0, 0.0])
        for plane in planes:
            wanted, slope = moves[plane]
            end = wanted
            for _ in range(NEWTON_STEPS if self.stiffening == "cubic" else 1):
                w = (6.0 * x - 6.0 * x * x) * end / length + (3.0 * x * x - 2.0 * x) * slope  # the cubic with this end and slope
                end = wanted + (length * weight @ w**3 / 6.0 if self.stiffening == "cubic" else 0.0)
            w = (6.0 * x - 6.0 * x * x) * end / length + (3.0 * x * x - 2.0 * x) * slope
            slopes.append(w)
            values |= {f"{plane}1": float(end), f"{plane}2": float(slope)}
            reached[PLANES.index(plane) + 1] = wanted
        if self.stiffening != "none":
            reached[0] -= 0.5 * length * sum(weight @ w**2 for w in slopes)
        if "torsion1" in self.parts[k].mode_labels:
            values["torsion1"] = float(turn[0])
        return values, reached


def turned(frame: Frame, rotation: Floats) -> Frame:
    """The frame turned by a rotation."""
    vector = rotation_vector(rotation)
    angle = float(np.linalg.norm(vector))
    return frame if angle < SAME else frame.turned(angle, tuple((vector / angle).tolist()))


def segmented(
    beam: Beam,
    n: int,
    modes: Sequence[ModeSet] | ModeSet | None = None,
    *,
    curve: Curve | None = None,
    twist: Twist | None = None,
    start: Curve | None = None,
) -> SegmentedBeam:
    """Divide a slender beam into n short beams welded in line, for deflections beyond a tenth of its length.

    The segments take section, material, theory, damping and stiffening from the beam (stiffening auto means cubic, or full if the
    beam bends in two planes). The payload stays at the tip. modes: the modes of every segment; by default each segment deforms in
    the directions in which the beam does, with the shapes that are exact under loads at its ends.

    curve: where the unloaded beam lies, in the axes of its joint: a function of the arc length s, m, that returns a place (x, y) or
    (x, y, z), or points for a spline. The section follows the curve without turning about it, with its z axis upright (along the
    joint's z) at the root; twist turns it about the curve: rad at the tip, or a function of s. start: a curve on which the beam
    starts, bent; it leaves the root in the direction of the unloaded beam.
    """
    return SegmentedBeam(beam, n, modes, curve, twist, start)


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
