"""A mechanism linearised about a point: x' = A x + B u, y = C x + D u, and M, damping, K of small motions, all with names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pliant.analysis.linear_matrices import LinearMatrices
from pliant.errors import ModelError
from pliant.scalar import Numbers

if TYPE_CHECKING:
    from pliant.analysis.frequency_response import FrequencyResponse
    from pliant.analysis.modes import NaturalModes


@dataclass(frozen=True, repr=False, eq=False)
class Linearisation(LinearMatrices):
    """Linear equations of the deviations from an operating point, in tangent coordinates (for a ball joint, small rotations).

    The states are the independent coordinates, their rates (`rate of ...`), friction bristles and user-defined states. The damping
    matrix is called `damping` because C is the output matrix: M eta'' + damping eta' + K eta = 0 without inputs. Non-holonomic
    constraints leave fewer rates nu than coordinates eta: M nu' + damping nu + K eta = 0, with a K of fewer rows than columns.
    """

    def modes(self) -> NaturalModes:
        """Natural frequencies, damping ratios and mode shapes."""
        from pliant.analysis.modes import modes_of

        return modes_of(self)

    def frequency_response(self, frequencies: Numbers | None = None) -> FrequencyResponse:
        """G(i w) = C (i w - A)^-1 B + D at the given frequencies, rad/s; by default a range around all modes."""
        from pliant.analysis.frequency_response import frequency_response

        return frequency_response(self, frequencies)

    def to_control(self) -> Any:
        """The model as a control.StateSpace of python-control, with the names of states, inputs and outputs."""
        try:
            import control
        except ImportError:
            rule = "needs python-control: pip install 'pliant[control]'; A, B, C and D are available as plain arrays"
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
        return "\n".join([*parts, *(f"warning: {sentence}" for sentence in self.warnings)])


def _plain(name: str) -> str:
    """The name without dots, which python-control reserves: they separate a system's name from a signal's."""
    return name.replace(".", "_")
