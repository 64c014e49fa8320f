"""A mechanism linearised about a point: x' = A x + B u, y = C x + D u, and M, damping, K of its small motions, all named."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pliant.errors import ModelError

if TYPE_CHECKING:
    from pliant.analysis.frequency_response import FrequencyResponse
    from pliant.analysis.mode_motion import MovedMechanism
    from pliant.analysis.modes import NaturalModes

Floats = NDArray[np.float64]


@dataclass(frozen=True, repr=False, eq=False)
class Linearisation:
    """Deviations from the operating point, in tangent coordinates: of a ball the small turns about the body's axes.

    States are the independent coordinates, their rates (`rate of ...`), bristles of friction, and the user's own. Damping is called
    `damping`, as C is the matrix of the outputs: M eta'' + damping eta' + K eta = 0 where nothing is put in.
    """

    name: str
    t: float  # s
    coordinates: tuple[str, ...]  # independent ones, of which nothing prescribes the motion
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
    y0: Floats  # outputs at the point itself
    drift: Floats  # rates of the states there: zero where it is a rest
    all_coordinates: tuple[str, ...]  # of all tangent coordinates, as result.labels["rate"] has them
    motions: Floats  # all tangent coordinates over `coordinates`
    free_states: tuple[int, ...]  # of `states`: those of which nothing prescribes the motion
    message: str = ""
    mechanism: MovedMechanism | None = field(default=None)

    def modes(self) -> NaturalModes:
        """Natural frequencies, damping and shapes of the small motions."""
        from pliant.analysis.modes import modes_of

        return modes_of(self)

    def frequency_response(self, frequencies: Sequence[float] | Floats | None = None) -> FrequencyResponse:
        """G(i w) = C (i w - A)^-1 B + D at frequencies in rad/s; chosen around the modes where none are given."""
        from pliant.analysis.frequency_response import frequency_response

        return frequency_response(self, frequencies)

    def to_control(self) -> Any:
        """The same as control.StateSpace of python-control, with the names of states, inputs and outputs."""
        try:
            import control
        except ImportError:
            rule = "must have python-control installed: pip install 'pliant[control]'; A, B, C and D are plain arrays"
            raise ModelError.of("linearise", "to_control", rule, "none") from None
        return control.StateSpace(self.A, self.B, self.C, self.D, name=_plain(self.name), states=list(map(_plain, self.states)),
                                  inputs=list(map(_plain, self.inputs)), outputs=list(map(_plain, self.outputs)))  # fmt: skip

    def __repr__(self) -> str:
        return (f"<Linearisation {self.name!r} at t = {self.t:g} s: {len(self.states)} states, {len(self.inputs)} inputs, "
                f"{len(self.outputs)} outputs>")  # fmt: skip

    def __str__(self) -> str:
        parts = [repr(self), self.message] if self.message else [repr(self)]
        parts += [f"{kind}: {', '.join(names)}" for kind, names in
                  (("states", self.states), ("inputs", self.inputs), ("outputs", self.outputs)) if names]  # fmt: skip
        return "\n".join(parts)


def _plain(name: str) -> str:
    """python-control keeps dots for itself, as they part a system's name from a signal's."""
    return name.replace(".", "_")
