"""The linear equations of one operating point, reduced to the motions that closures and contacts allow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pliant.analysis.linear_model import Linearisation
from pliant.arrays import Floats
from pliant.model.system import System

if TYPE_CHECKING:  # casadi is imported only when an analysis begins
    from pliant.analysis.jacobians import Derivatives
    from pliant.analysis.local_dynamics import Dynamics
    from pliant.analysis.operating_point import OperatingPoint
    from pliant.analysis.tangent_space import TangentSpace

SIGNAL, ACCELERATION, PARAMETER = "signal", "acceleration", "parameter"


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
        shown = tuple(outputs.values())
        self.observed = derivatives(equations, shown, lambda e: [e.observed[quantity][k] for quantity, k in shown], dynamics.point)
        named = [name for name, kind in inputs.items() if kind == PARAMETER]
        self.slopes = parameter_slopes(system, dynamics, operating, named, outputs)
        self.response = self._response()
        self.drift = dynamics.point.a[list(self.space.moving)]
        self.own_drift = dynamics.bristle_rates.value[dynamics.bristle_rates.value.size - len(equations.system.states) :]

    def _space(self, fixed: Sequence[int]) -> TangentSpace:
        from pliant.analysis.tangent_space import tangent_space

        own = [k for node in self.equations.tree.nodes for k in node.own_v]
        rates, of_speeds = self.dynamics.rates, self.equations.symbols.of_speeds
        return tangent_space(rates.v, rates.xi, self.dynamics.free, fixed, own, of_speeds)

    def _given(self) -> _Response:
        """The unit states and inputs themselves; accelerations and forces are not solved for yet."""
        n, space = len(self.rates), self.space
        z, m, moved = self.dynamics.rows.bristles.shape[1], len(self.inputs), len(space.independent) + len(space.moving)
        xi = np.hstack([space.motions, np.zeros((n, len(space.moving) + z + m))])
        v = np.hstack([space.turned, space.speeds, np.zeros((n, z + m))])
        bristles = np.hstack([np.zeros((z, moved)), np.eye(z), np.zeros((z, m))])
        a, signals = np.zeros((n, moved + z + m)), np.zeros((len(self.equations.symbols.signal_names), moved + z + m))
        for j, (name, kind) in enumerate(self.inputs.items()):
            if kind == SIGNAL:
                signals[self.equations.symbols.signal_names.index(name), moved + z + j] = 1.0
            elif kind == ACCELERATION:
                a[self.rates.index(name), moved + z + j] = 1.0
        return _Response(xi, v, a, np.zeros((self.dynamics.rows.forces.shape[1], moved + z + m)), bristles, signals)

    def _response(self) -> _Response:
        """Accelerations and forces from R = 0 and c'' = 0."""
        given, dynamics = self._given(), self.dynamics
        free, keep = dynamics.free, dynamics.sticking
        missing, left = given.of(dynamics.rows), given.of(dynamics.seconds)
        first = given.xi.shape[1] - len(self.inputs)
        for j, (name, kind) in enumerate(self.inputs.items()):
            if kind == PARAMETER:
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
        independent, moving = list(space.independent), list(space.moving)
        turning = self.equations.drift(dynamics.point.v)
        rates = (response.v + turning @ response.xi)[independent]
        whole = np.vstack([rates, response.a[moving], response.of(dynamics.bristle_rates)])
        seen = response.of(self.observed)
        first = whole.shape[1] - len(self.inputs)
        for j, (name, kind) in enumerate(self.inputs.items()):
            if kind == PARAMETER:
                whole[len(independent) + len(moving) :, first + j] += self.slopes.bristle_rates[name]
                seen[:, first + j] += self.slopes.outputs[name]
        A, B, C, D = whole[:, :first], whole[:, first:], seen[:, :first], seen[:, first:]
        names = [self.rates[k] for k in independent]
        own = list(self.equations.system.states)
        bristles = [*(f"bristle {k}" for k in range(first - len(independent) - len(moving) - len(own))), *own]
        core, free = ([k for k, number in enumerate(own) if number not in self.accelerated] for own in (independent, moving))
        r = len(independent)
        free_states = [*core, *(r + k for k in free), *range(r + len(moving), first)]
        M, damping, K = self._second_order(A, core, free)
        return Linearisation(
            name=self.equations.system.name,
            t=self.operating.t,
            coordinates=tuple(names[k] for k in core),
            states=(*names, *(f"rate of {self.rates[k]}" for k in moving), *bristles),
            inputs=tuple(self.inputs),
            outputs=tuple(self.outputs),
            M=M, damping=damping, K=K, A=A, B=B, C=C, D=D,
            u0=self._inputs_there(),
            y0=self.observed.value,
            drift=np.concatenate([np.zeros(r), self.drift, np.zeros(len(bristles) - len(own)), self.own_drift]),
            all_coordinates=tuple(self.rates),
            motions=space.motions[:, core],
            free_states=tuple(free_states),
            message=message,
            mechanism=mechanism,  # type: ignore[arg-type]
            warnings=warnings,
        )  # fmt: skip

    def _inputs_there(self) -> Floats:
        """The values of the inputs at the operating point."""
        equations, point = self.equations, self.dynamics.point
        (signals,) = equations.evaluate("inputs", lambda e: [e.tracer.column(e.input_values)], point)
        known = {PARAMETER: equations.values, ACCELERATION: dict(zip(self.rates, point.a.tolist(), strict=True)),
                 SIGNAL: dict(zip(equations.symbols.signal_names, signals.ravel().tolist(), strict=True))}  # fmt: skip
        return np.array([known[kind][name] for name, kind in self.inputs.items()])

    def _second_order(self, A: Floats, core: Sequence[int], free: Sequence[int]) -> tuple[Floats, Floats, Floats]:
        """M, damping and K of the free coordinates; at a point of rest they are projected, which keeps them exactly symmetric."""
        rows, speeds = self.dynamics.rows, self.space.speeds[:, list(free)]
        M = speeds.T @ rows.a @ speeds
        if np.any(self.dynamics.point.v):
            second = [len(self.space.independent) + k for k in free]
            return M, -M @ A[np.ix_(second, second)], -M @ A[np.ix_(second, core)]
        return M, speeds.T @ rows.v @ speeds, speeds.T @ rows.xi @ self.space.motions[:, list(core)]
