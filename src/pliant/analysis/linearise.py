"""linearise(): exact derivatives of the traced equations, reduced to the motions that closures and contacts allow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pliant.analysis.linear_model import Linearisation
from pliant.errors import ModelError
from pliant.model.check import did_you_mean
from pliant.model.refused import require_bodies
from pliant.model.system import System
from pliant.run.inertia import SINGULAR

if TYPE_CHECKING:  # casadi is imported only when an analysis begins
    from pliant.analysis.equilibrium import Equilibrium
    from pliant.analysis.implicit_equations import ImplicitEquations
    from pliant.analysis.jacobians import Derivatives
    from pliant.analysis.operating_point import Dynamics, OperatingPoint
    from pliant.analysis.tangent_space import TangentSpace
    from pliant.results.result import Result
    from pliant.results.state import FinalState

Floats = NDArray[np.float64]

AT_REST = 1e-7  # m/s^2 or rad/s^2: smaller accelerations count as zero


def linearise(
    system: System,
    *,
    at: Equilibrium | FinalState | Result | str | None = None,
    inputs: Sequence[str] | str | None = None,
    outputs: Sequence[str] | str | None = None,
    parameters: Mapping[str, float] | None = None,
    t: float = 0.0,
    side: Mapping[str, float] | None = None,
) -> Linearisation:
    """Linearise a mechanism about a point: exact A, B, C, D and M, damping, K from the traced equations.

    at: an Equilibrium (its steady speeds stay held), a Result or its final_state, or "start"; by default the start if that is in
    balance, else the equilibrium found from there. inputs: drives, load components ("push y"), coordinates (an effort along the
    coordinate, or its acceleration if its motion is prescribed or held) and parameters; all drives by default. outputs: quantities
    of a result ("tip_position", "reaction_force arm", "tip_position arm y") and coordinates; all coordinates by default.
    Derivatives by parameters are eighth-order differences of the whole model; all others are exact. side: where the equations have
    no derivative, the side on which it is taken, as {"arm.angle": 1} or {"rate of arm.angle": -1}.
    """
    from pliant.analysis.implicit_equations import ImplicitEquations
    from pliant.analysis.kinks import ASIDE, beside
    from pliant.analysis.looked_at import operating_point

    require_bodies(system, "linearise")
    operating, values, message = operating_point(system, at, parameters, t)
    equations = ImplicitEquations(system, operating.t, values)
    if side:
        operating = beside(equations, operating, side)
        message = f"{message}; on the side of {', '.join(f'{name} {sign:+g}' for name, sign in side.items())}"
    return _linearised(system, equations, operating, inputs, outputs, message, ASIDE if side else 0.0)


def _linearised(
    system: System,
    equations: ImplicitEquations,
    operating: OperatingPoint,
    inputs: Sequence[str] | str | None,
    outputs: Sequence[str] | str | None,
    message: str,
    aside: float,
) -> Linearisation:
    """aside: distance of the operating point from the one that is in balance, m or rad."""
    from pliant.analysis.equilibrium import judged_at
    from pliant.analysis.kinks import kinks_at, warnings_at
    from pliant.analysis.mode_motion import MovedMechanism
    from pliant.analysis.operating_point import Dynamics
    from pliant.analysis.selected import selected

    dynamics = Dynamics(equations, operating)
    wanted = _inputs_of(equations, operating, inputs)
    shown = [name for name in equations.tree.positions] if outputs is None else outputs
    chosen = selected("linearise", shown, equations.labels)
    model = LinearEquations(dynamics, operating, wanted, chosen, system)
    moved = MovedMechanism(system, operating, equations.values)
    apart = aside * float(np.sum(np.abs(model.response.a)))
    if np.max(np.abs(model.drift), initial=0.0) > apart + AT_REST * max(1.0, float(np.max(np.abs(operating.v), initial=0.0)) ** 2):
        message += f"; the point is not in balance: it accelerates by up to {np.max(np.abs(model.drift)):.3g} m/s^2 or rad/s^2"
    elif np.max(np.abs(model.own_drift), initial=0.0) > AT_REST:
        message += f"; the point is not in balance: a state changes by {np.max(np.abs(model.own_drift)):.3g} per second"
    warnings = (*warnings_at(kinks_at(equations, dynamics.point)), *judged_at(equations, dynamics.point))
    linear = model.collected(message, moved, warnings)
    return linear if _has_inertia(linear.M) else replace(linear, warnings=(_negative(system, linear), *linear.warnings))


def _has_inertia(M: Floats) -> bool:
    """Whether the mass matrix is positive definite."""
    d = np.diag(M)
    if np.any(d <= 0.0):
        return False
    return not d.size or bool(np.linalg.eigvalsh(M / np.sqrt(np.outer(d, d)))[0] > SINGULAR * d.size)


def _negative(system: System, linear: Linearisation) -> str:
    from pliant.analysis.modes import largest_parts
    from pliant.run.starts import unresisted

    return unresisted(system, linear.t, largest_parts(linear.coordinates, np.linalg.eigh(linear.M)[1][:, 0]))


def _inputs_of(equations: ImplicitEquations, operating: OperatingPoint, inputs: Sequence[str] | str | None) -> Mapping[str, str]:
    """Each input with its kind: a signal, an effort, an acceleration or a parameter."""
    if inputs is None:
        driven_motors = [drive.name for drive in equations.system.motors.values() if drive.command is not None]
        inputs = [*(drive.name for drive in equations.system.drives.values()), *driven_motors]
    wanted: dict[str, str] = {}
    driven = {*(equations.tree.rates[k] for k in equations.moved_v), *operating.held}
    for name in [inputs] if isinstance(inputs, str) else inputs:
        if name in equations.signal_names:
            wanted[name] = SIGNAL
        elif name in equations.tree.rates:
            wanted[name] = ACCELERATION if name in driven else EFFORT
        elif name in equations.values:
            wanted[name] = PARAMETER
        else:
            known = [*equations.signal_names, *equations.tree.rates, *equations.values]
            kinds = "drives, motors, struts, components of loads, coordinates or parameters"
            rule = f"must name {kinds}: {known}{did_you_mean(name, known)}"
            raise ModelError.of("linearise", "inputs", rule, name)
    return wanted


SIGNAL, EFFORT, ACCELERATION, PARAMETER = "signal", "effort", "acceleration", "parameter"


@dataclass(frozen=True)
class _Response:
    """The response of all unknowns of the equations to unit states and unit inputs, one column each."""

    xi: Floats
    v: Floats
    a: Floats
    forces: Floats
    bristles: Floats
    signals: Floats

    def of(self, rows: Derivatives) -> Floats:
        return np.asarray(rows.xi @ self.xi + rows.v @ self.v + rows.a @ self.a + rows.forces @ self.forces
                          + rows.bristles @ self.bristles + rows.signals @ self.signals)  # fmt: skip


class LinearEquations:
    """The linear equations of one operating point."""

    def __init__(
        self,
        dynamics: Dynamics,
        operating: OperatingPoint,
        inputs: Mapping[str, str],
        outputs: Mapping[str, tuple[str, int]],
        system: System,
    ) -> None:
        from pliant.analysis.jacobians import derivatives
        from pliant.analysis.parameter_slopes import parameter_slopes

        self.dynamics, self.operating, self.inputs, self.outputs = dynamics, operating, inputs, outputs
        equations = self.equations = dynamics.equations
        self.rates = list(equations.tree.rates)
        self.accelerated = [self.rates.index(name) for name, kind in inputs.items() if kind == ACCELERATION]
        self.space = self._space(self.accelerated)
        shown = [equations.observed[quantity][k] for quantity, k in outputs.values()]
        self.observed = derivatives(equations, equations.tracer.column(shown), dynamics.point)
        named = [name for name, kind in inputs.items() if kind == PARAMETER]
        self.slopes = parameter_slopes(system, dynamics, operating, named, outputs)
        self.response = self._response()
        self.drift = np.concatenate([dynamics.point.a[list(self.space.independent)]])
        self.own_drift = dynamics.bristle_rates.value[dynamics.bristle_rates.value.size - len(equations.own) :]

    def _space(self, fixed: Sequence[int]) -> TangentSpace:
        from pliant.analysis.tangent_space import tangent_space

        own = [k for node in self.equations.tree.nodes for k in node.own_v]
        return tangent_space(self.dynamics.rates.v, self.dynamics.rates.xi, self.dynamics.free, fixed, own)

    def _given(self) -> _Response:
        """The unit states and inputs themselves; accelerations and forces are not solved for yet."""
        n, space = len(self.rates), self.space
        r, z, m = len(space.independent), self.dynamics.rows.bristles.shape[1], len(self.inputs)
        xi = np.hstack([space.motions, np.zeros((n, r + z + m))])
        v = np.hstack([space.turned, space.motions, np.zeros((n, z + m))])
        bristles = np.hstack([np.zeros((z, 2 * r)), np.eye(z), np.zeros((z, m))])
        a, signals = np.zeros((n, 2 * r + z + m)), np.zeros((len(self.equations.signal_names), 2 * r + z + m))
        for j, (name, kind) in enumerate(self.inputs.items()):
            if kind == SIGNAL:
                signals[self.equations.signal_names.index(name), 2 * r + z + j] = 1.0
            elif kind == ACCELERATION:
                a[self.rates.index(name), 2 * r + z + j] = 1.0
        return _Response(xi, v, a, np.zeros((self.dynamics.rows.forces.shape[1], 2 * r + z + m)), bristles, signals)

    def _response(self) -> _Response:
        """Accelerations and forces from R = 0 and c'' = 0."""
        given, dynamics = self._given(), self.dynamics
        free, keep = dynamics.free, dynamics.sticking
        missing, left = given.of(dynamics.rows), given.of(dynamics.seconds)
        first = given.xi.shape[1] - len(self.inputs)
        for j, (name, kind) in enumerate(self.inputs.items()):
            if kind == EFFORT:
                missing[self.rates.index(name), first + j] -= 1.0
            elif kind == PARAMETER:
                missing[:, first + j] += self.slopes.rows[name]
                left[:, first + j] += self.slopes.seconds[name]
        pushes, matrix = dynamics.rows.forces[np.ix_(free, keep)], dynamics.seconds.a[:, free]
        whole = np.block([[dynamics.rows.a[np.ix_(free, free)], pushes], [matrix, np.zeros((len(keep), len(keep)))]])
        right = -np.vstack([missing[free], left])
        solved = np.linalg.lstsq(whole, right, rcond=None)[0] if keep else np.linalg.solve(whole, right)
        a, forces = given.a.copy(), given.forces.copy()
        a[free], forces[keep] = solved[: len(free)], solved[len(free) :]
        return _Response(given.xi, given.v, a, forces, given.bristles, given.signals)

    def collected(self, message: str, mechanism: object, warnings: tuple[str, ...] = ()) -> Linearisation:
        """The matrices, by name."""
        dynamics, space, response = self.dynamics, self.space, self.response
        independent = list(space.independent)
        turning = self.equations.drift(dynamics.point.v)
        rates = (response.v + turning @ response.xi)[independent]
        whole = np.vstack([rates, response.a[independent], response.of(dynamics.bristle_rates)])
        seen = response.of(self.observed)
        first = whole.shape[1] - len(self.inputs)
        for j, (name, kind) in enumerate(self.inputs.items()):
            if kind == PARAMETER:
                whole[2 * len(independent) :, first + j] += self.slopes.bristle_rates[name]
                seen[:, first + j] += self.slopes.outputs[name]
        A, B, C, D = whole[:, :first], whole[:, first:], seen[:, :first], seen[:, first:]
        names = [self.rates[k] for k in independent]
        own = list(self.equations.system.states)
        bristles = [*(f"bristle {k}" for k in range(first - 2 * len(independent) - len(own))), *own]
        core = [k for k, number in enumerate(independent) if number not in self.accelerated]
        r = len(independent)
        free_states = [*core, *(r + k for k in core), *range(2 * r, first)]
        M, damping, K = self._second_order(A, core, r)
        return Linearisation(
            name=self.equations.system.name,
            t=self.operating.t,
            coordinates=tuple(names[k] for k in core),
            states=(*names, *(f"rate of {name}" for name in names), *bristles),
            inputs=tuple(self.inputs),
            outputs=tuple(self.outputs),
            M=M, damping=damping, K=K, A=A, B=B, C=C, D=D,
            y0=self.observed.value,
            drift=np.concatenate([np.zeros(r), self.drift, np.zeros(len(bristles) - len(own)), self.own_drift]),
            all_coordinates=tuple(self.rates),
            motions=space.motions[:, core],
            free_states=tuple(free_states),
            message=message,
            mechanism=mechanism,  # type: ignore[arg-type]
            warnings=warnings,
        )  # fmt: skip

    def _second_order(self, A: Floats, core: Sequence[int], r: int) -> tuple[Floats, Floats, Floats]:
        """M, damping and K of the free coordinates; at a point of rest they are projected, which keeps them exactly symmetric."""
        rows, motions = self.dynamics.rows, self.space.motions[:, list(core)]
        M = motions.T @ rows.a @ motions
        if np.any(self.dynamics.point.v):
            second, first = [r + k for k in core], list(core)
            return M, -M @ A[np.ix_(second, second)], -M @ A[np.ix_(second, first)]
        return M, motions.T @ rows.v @ motions, motions.T @ rows.xi @ motions
