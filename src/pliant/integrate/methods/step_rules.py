"""How the error of a step determines the length of the next one, as data; `loop/control.py` reads it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class StepRule:
    """The next step is h * safety * error^-exponent * old_error^beta, within limits; error 1 is the tolerance."""

    beta: float  # of the PI part
    least: float  # smallest and largest change of a step
    largest: float
    safety: float = 0.9  # fraction of the step that the error estimate allows
    again: float = 0.0  # factor after a further refusal of the same step, which is then not lengthened; 0: as after the first
    worst: bool = False  # the error is that of the worst component over max(atol, rtol |y|), not a mean over atol + rtol |y|
    stretch: float = 1e-10  # fraction of a step: the most it is stretched to end at a stop
    halves: bool = True  # the way to a stop is halved if it is shorter than two steps
    of_span: float | None = None  # the longest step as a fraction of the whole run, if the user gives none

    def exponent(self, error_order: int) -> float:
        return 1.0 / (error_order + 1) - 0.75 * self.beta


# Hairer's dopri5, dop853, radau5 and rodas
PI_CONTROLLER = StepRule(0.04, 0.2, 10.0)
PLAIN_CONTROLLER = StepRule(0.0, 1.0 / 3.0, 6.0)
STIFF_CONTROLLER = StepRule(0.0, 0.2, 8.0)
# Shampine and Reichelt 1997, The MATLAB ODE suite: ode45; ode23 shortens a refused step less
ODE45_RULE = StepRule(0.0, 0.1, 5.0, safety=0.8, again=0.5, worst=True, stretch=0.1, halves=False, of_span=0.1)
ODE23_RULE = StepRule(0.0, 0.5, 5.0, safety=0.8, again=0.5, worst=True, stretch=0.1, halves=False, of_span=0.1)
