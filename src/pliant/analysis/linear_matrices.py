"""The matrices of a linearised mechanism, with names."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pliant.arrays import Floats

if TYPE_CHECKING:
    from pliant.analysis.mode_motion import MovedMechanism


@dataclass(frozen=True, repr=False, eq=False)
class LinearMatrices:
    """x' = A x + B u, y = C x + D u, and M eta'' + damping eta' + K eta = 0 without inputs."""

    name: str
    t: float  # s
    coordinates: tuple[str, ...]  # independent coordinates whose motion is not prescribed
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    M: Floats
    damping: Floats
    K: Floats
    A: Floats
    B: Floats
    C: Floats
    D: Floats
    u0: Floats  # inputs at the operating point: u is what is added to them
    y0: Floats  # outputs at the operating point
    drift: Floats  # rates of the states at the operating point: zero at an equilibrium
    all_coordinates: tuple[str, ...]  # names of all tangent coordinates, as in result.labels["rate"]
    motions: Floats  # matrix from `coordinates` to all tangent coordinates
    free_states: tuple[int, ...]  # indices in `states` of those whose motion is not prescribed
    message: str = ""
    mechanism: MovedMechanism | None = field(default=None)
    warnings: tuple[str, ...] = ()  # what to know before believing the numbers
