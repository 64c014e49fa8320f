"""The integration methods that a user can choose; each checks its settings and declares what it needs from a run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import ClassVar, Self

from pliant.errors import ModelError
from pliant.integrate.methods import rosenbrock_tableaus, tableaus
from pliant.integrate.methods.collocation import RadauIIA
from pliant.integrate.methods.rosenbrock_tableaus import RosenbrockTableau
from pliant.integrate.methods.step_rules import ODE23_RULE, ODE45_RULE, StepRule
from pliant.integrate.methods.tableaus import Tableau

Scheme = Tableau | RadauIIA | RosenbrockTableau

# A hundred units of round-off: below this the error estimate consists of round-off only.
SMALLEST_RTOL = 100 * 2.0**-52
COARSE = 1e-4  # the default relative tolerance far from contact, see `VariablePrecisionRK4`
ROUGH = 1e-5  # at this relative tolerance and above, order 5 is enough for stiff motion; see docs/performance.md
LARGEST_RTOL = 0.1  # at this relative tolerance and above, the error estimate has no correct digit for step control


class Method:
    """An integration method: its settings, and what it needs from a run."""

    tableau: ClassVar[Scheme]
    family: ClassVar[str] = "runge_kutta"  # the compiled module that takes its steps, see `family`
    needs_jacobian: ClassVar[bool] = False  # df/dy of the right-hand side
    needs_time_derivative: ClassVar[bool] = False  # df/dt as well, and the rows of quadratures
    needs_partition: ClassVar[bool] = False  # the constraints of closed loops: it integrates independent coordinates only
    events_at_ends: ClassVar[bool] = False  # events are detected at the ends of steps, not located inside
    rule: ClassVar[StepRule | None] = None  # of step control; None: the usual one of its kind
    collocates: ClassVar[bool] = False  # all stages are solved for together; the error estimate is of a lower order

    rtol: float  # relative tolerance of the error, 1; 0 if no error is measured
    atol: float | Sequence[float]
    max_step: float | None = None  # s
    first_step: float | None = None  # s
    newton: float | None = None  # fraction of the tolerance to which Newton's iterations converge
    near: float | None = None  # m, gap of a contact at whose crossing the method changes its precision

    @property
    def order(self) -> int:
        """The order of convergence."""
        return self.tableau.order

    @property
    def tolerance(self) -> float | None:
        """The relative tolerance of its roughest steps; None if it has none."""
        return self.rtol

    @property
    def fixed_step(self) -> float | None:
        """The fixed step, s; None if the error decides the step."""
        return None

    @property
    def alternatives(self) -> tuple[Method, ...]:
        """The methods it switches between, for non-stiff and then for stiff motion; or only itself."""
        return (self,)

    def over(self, span: float) -> Self:
        """The method for a run of this duration, s."""
        return self


@dataclass(frozen=True)
class _Adaptive(Method):
    """Error control: the root mean square of the error over the controlled components stays below atol + rtol |y| in each step.

    For equal steps h, to measure an order, set first_step = max_step = h and an atol that is never exceeded.
    """

    rtol: float  # relative tolerance, 1
    atol: float | Sequence[float]  # absolute tolerance in the units of the state: one number, or one per component
    max_step: float | None = None  # s
    first_step: float | None = None  # s, estimated if not given

    def __post_init__(self) -> None:
        name = type(self).__name__
        rtol = _number(name, "rtol", self.rtol)
        if 0.0 < rtol < SMALLEST_RTOL:
            rule = f"must be >= {SMALLEST_RTOL:.3g}: doubles hold no more digits than that"
            raise ModelError.of(name, "rtol", rule, self.rtol)
        if not SMALLEST_RTOL <= rtol < LARGEST_RTOL:
            raise ModelError.of(name, "rtol", f"must be in [{SMALLEST_RTOL:.3g}, {LARGEST_RTOL})", self.rtol)
        object.__setattr__(self, "rtol", rtol)
        object.__setattr__(self, "atol", _tolerances(name, self.atol))
        for field in ("max_step", "first_step"):
            if getattr(self, field) is not None:
                object.__setattr__(self, field, _positive(name, field, getattr(self, field), "s"))


@dataclass(frozen=True)
class RKF45(_Adaptive):
    """Fehlberg's 4(5) pair; the fifth-order solution is propagated (local extrapolation), so its order is 5."""

    tableau = tableaus.RKF45


@dataclass(frozen=True)
class DormandPrince(_Adaptive):
    """Dormand and Prince 5(4): first same as last, dense output without further evaluations."""

    tableau = tableaus.DORMAND_PRINCE


@dataclass(frozen=True)
class _OfMatlab(_Adaptive):
    """The step rules and default tolerances of the MATLAB ODE suite (Shampine and Reichelt 1997).

    The error is that of the worst coordinate, rate or bristle over max(atol, rtol |y|); the longest step, if none is given, is a
    tenth of the run.
    """

    rtol: float = 1e-3
    atol: float | Sequence[float] = 1e-6

    rule: ClassVar[StepRule]

    def over(self, span: float) -> Self:
        return self if self.max_step or self.rule.of_span is None else replace(self, max_step=self.rule.of_span * span)


@dataclass(frozen=True)
class ODE45(_OfMatlab):
    """MATLAB's ode45: the pair of `DormandPrince` with ode45's step rules, default tolerances and interpolation."""

    tableau = tableaus.ODE45
    rule = ODE45_RULE


@dataclass(frozen=True)
class ODE23(_OfMatlab):
    """MATLAB's ode23: Bogacki and Shampine's 3(2) pair with ode23's step rules, default tolerances and interpolation."""

    tableau = tableaus.BOGACKI_SHAMPINE
    rule = ODE23_RULE


@dataclass(frozen=True)
class Tsit5(_Adaptive):
    """Tsitouras 5(4): first same as last, free dense output; a smaller error than `DormandPrince` for the same work."""

    tableau = tableaus.TSIT5


@dataclass(frozen=True)
class DOP853(_Adaptive):
    """Dormand and Prince 8(5,3): recommended for smooth motion at tight tolerances."""

    tableau = tableaus.DOP853


@dataclass(frozen=True)
class _Fixed(Method):
    """Methods with equal steps and no error control."""

    step: float  # s

    tolerance: ClassVar[None] = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "step", _positive(type(self).__name__, "step", self.step, "s"))

    @property
    def fixed_step(self) -> float:
        return self.step


@dataclass(frozen=True)
class RK4(_Fixed):
    """The classical Runge-Kutta method with a fixed step and no error control; steps shorten only to end at stops and events."""

    tableau = tableaus.RK4
    rtol = 0.0  # it measures no error
    atol = 1.0


@dataclass(frozen=True)
class VariablePrecisionRK4(_Adaptive):
    """Wang, Yan, Fang, Jin 2012: classical Runge-Kutta, with step control by step doubling and a tolerance set by contact distance.

    `rtol` applies while a contact is closed or nearer than `near`, `coarse` further away. Each change restarts the step.
    """

    coarse: float | None = None  # relative tolerance far from contact; default 1e-4, or rtol if that is larger
    near: float = 1e-2  # m

    tableau = tableaus.RK4_DOUBLED

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "near", _positive(type(self).__name__, "near", self.near, "m"))
        given = max(COARSE, self.rtol) if self.coarse is None else self.coarse
        coarse = _number(type(self).__name__, "coarse", given)
        if not self.rtol <= coarse < LARGEST_RTOL:
            rule = f"must be in [rtol, {LARGEST_RTOL}) = [{self.rtol}, {LARGEST_RTOL})"
            raise ModelError.of(type(self).__name__, "coarse", rule, self.coarse)
        object.__setattr__(self, "coarse", coarse)

    @property
    def tolerance(self) -> float | None:
        return self.coarse


@dataclass(frozen=True)
class _Collocation(_Adaptive):
    """Collocation methods: Newton's iterations solve the equations of the stages, to a fraction `newton` of the tolerance."""

    newton: float | None = None  # 1, chosen from the tolerance if not given

    family = "radau"
    needs_jacobian = True
    collocates = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.newton is not None:
            object.__setattr__(self, "newton", _positive(type(self).__name__, "newton", self.newton))


@dataclass(frozen=True)
class Radau5(_Collocation):
    """Radau IIA with three stages (Hairer and Wanner): order 5, A-stable and stiffly accurate; for stiff equations."""

    tableau = RadauIIA(3)


@dataclass(frozen=True)
class Radau9(_Collocation):
    """Radau IIA with five stages: order 9, A-stable and stiffly accurate; for stiff equations at tight tolerances."""

    tableau = RadauIIA(5)


@dataclass(frozen=True)
class Rodas5P(_Adaptive):
    """Steinebach's Rosenbrock method of order 5: a Jacobian every step, no iterations; for stiff equations at rough tolerances."""

    tableau = rosenbrock_tableaus.RODAS5P
    family = "rosenbrock"
    needs_jacobian = True
    needs_time_derivative = True


@dataclass(frozen=True)
class RealTime(_Fixed):
    """Fixed steps by a linearly implicit method of order 3 (Rodas3): the same work in every step, however stiff the equations.

    No step is repeated, and steps shorten only at stops: events are detected at the ends of steps. The error estimate does not
    control the step; the statistics report its mean and largest value as a fraction of atol + rtol |y|.
    """

    rtol: float = 1e-3  # relative tolerance against which the error is reported, 1
    atol: float | Sequence[float] = 1e-6  # absolute tolerance, in the units of the state

    tableau = rosenbrock_tableaus.RODAS3
    family = "rosenbrock"
    needs_jacobian = True
    needs_time_derivative = True
    events_at_ends = True

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "rtol", _positive("RealTime", "rtol", self.rtol))
        object.__setattr__(self, "atol", _tolerances("RealTime", self.atol))


@dataclass(frozen=True)
class TwoLoop(_Adaptive):
    """Fehlberg's fifth-order method on independent coordinates only; at every stage Newton-Raphson gives the dependent ones.

    Coordinates are partitioned by Gaussian elimination of the constraints' Jacobian with full pivoting, and again whenever a pivot
    has become small. Without exact loops the method is RKF45.
    """

    tableau = tableaus.RKF45
    family = "two_loop"
    needs_partition = True


@dataclass(frozen=True)
class Auto(_Adaptive):
    """DOP853 while the motion is not stiff, an implicit Radau method while it is; stiffness is detected during the run.

    The implicit method has order 5 at rough tolerances and 9 at tight ones. Its Jacobian is compiled when it is first needed.
    """

    rtol: float = 1e-9
    atol: float | Sequence[float] = 1e-12

    tableau = tableaus.DOP853

    @property
    def alternatives(self) -> tuple[Method, ...]:
        implicit = Radau5 if self.rtol >= ROUGH else Radau9
        return (
            DOP853(self.rtol, self.atol, self.max_step, self.first_step),
            implicit(self.rtol, self.atol, self.max_step),
        )


METHODS: tuple[type[Method], ...] = (
    Auto, RKF45, DormandPrince, Tsit5, DOP853, VariablePrecisionRK4, RK4, Radau5, Radau9, Rodas5P, RealTime, TwoLoop, ODE45, ODE23,
)  # fmt: skip


def _number(part: str, field: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
        raise ModelError.of(part, field, "must be a finite number", value)
    return float(value)


def _positive(part: str, field: str, value: object, unit: str = "") -> float:
    number = _number(part, field, value)
    if number <= 0.0:
        raise ModelError.of(part, field, f"must be > 0 {unit}".rstrip(), value)
    return number


def _tolerances(part: str, value: object) -> float | tuple[float, ...]:
    """One positive number, or a sequence of them. Zero is refused: a component that passes through zero would have no scale."""
    if isinstance(value, Real | str) or not hasattr(value, "__iter__"):
        return _positive(part, "atol", value)
    numbers = tuple(_positive(part, f"atol[{i}]", number) for i, number in enumerate(value))
    if not numbers:
        raise ModelError.of(part, "atol", "must be a number or one number per component", value)
    return numbers
