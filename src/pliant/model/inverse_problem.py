"""A motion given in a model file, whose efforts by inverse dynamics drive the System: the section `drive_by`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pliant.model.frame import Frame
from pliant.model.signal import MotionTable, Prescribed


@dataclass(frozen=True, kw_only=True)
class FramePath:
    """The path of a frame: where its origin is over time and, optionally, how the frame is turned."""

    frame: Frame
    position: Sequence[Prescribed | MotionTable]  # x and y, or x, y and z
    angle: Prescribed | MotionTable | Sequence[Prescribed | MotionTable] | None = None  # about z, or about z, then y, then x


@dataclass(frozen=True, kw_only=True)
class InverseProblem:
    """The arguments of `inverse_dynamics` besides the system."""

    t_end: float  # s
    path: FramePath | Sequence[FramePath] | None = None
    motion: Mapping[str, Prescribed | MotionTable] = field(default_factory=dict)
    motors: Sequence[str] | None = None
    elastic: str | None = None
    save: float | None = None  # interval in s; None: 1001 rows
    t_start: float = 0.0  # s

    @property
    def paths(self) -> Sequence[FramePath]:
        """The paths of frames, also if one was given alone."""
        return (self.path,) if isinstance(self.path, FramePath) else self.path or ()

    @property
    def options(self) -> dict[str, Any]:
        """The arguments by name."""
        told = {one.frame: {"position": tuple(one.position), "angle": one.angle} for one in self.paths}
        path = {frame: {name: x for name, x in given.items() if x is not None} for frame, given in told.items()}
        names = ("t_end", "motion", "motors", "elastic", "save", "t_start")
        return {"path": path or None, **{name: getattr(self, name) for name in names}}
