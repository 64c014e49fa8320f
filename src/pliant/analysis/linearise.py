"""linearise(): exact derivatives of the traced equations, reduced to the motions that closures and contacts allow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from pliant.analysis.linear_equations import ACCELERATION, PARAMETER, SIGNAL, LinearEquations
from pliant.analysis.linear_model import Linearisation
from pliant.arrays import Floats
from pliant.errors import ModelError
from pliant.model import check
from pliant.model.check import did_you_mean
from pliant.model.refused import require_bodies
from pliant.model.system import System
from pliant.run.inertia import SINGULAR
from pliant.run.mechanism import AnySystem, mechanism_of

if TYPE_CHECKING:  # casadi is imported only when an analysis begins
    from pliant.analysis.equilibrium import Equilibrium
    from pliant.analysis.implicit_equations import ImplicitEquations
    from pliant.analysis.operating_point import OperatingPoint
    from pliant.results.result import Result
    from pliant.results.state import FinalState

AT_REST = 1e-7  # m/s^2 or rad/s^2: smaller accelerations count as zero


def linearise(
    system: AnySystem,
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

    system = mechanism_of(system, "linearise")
    require_bodies(system, "linearise")
    t, side = check.number("linearise", "t", t, "s"), check.mapping("linearise", "side", side)
    inputs = None if inputs is None else check.names("linearise", "inputs", inputs)
    outputs = None if outputs is None else check.names("linearise", "outputs", outputs)
    operating, values, message = operating_point(system, at, parameters, t)
    equations = ImplicitEquations.of(system, operating.t, values)
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
    from pliant.analysis.local_dynamics import Dynamics
    from pliant.analysis.mode_motion import MovedMechanism
    from pliant.analysis.selected import selected
    from pliant.analysis.smoothed import smoothed_at_rest
    from pliant.analysis.sticking import held_by_friction, holding_effort

    dynamics = Dynamics(equations, operating)
    wanted = _inputs_of(equations, operating, inputs)
    shown = [name for name in equations.tree.positions] if outputs is None else outputs
    chosen = selected("linearise", shown, equations.symbols.labels)
    model = LinearEquations(dynamics, operating, wanted, chosen, system)
    moved = MovedMechanism(system, operating, equations.values)
    apart = aside * float(np.sum(np.abs(model.response.a)))
    if np.max(np.abs(model.drift), initial=0.0) > apart + AT_REST * max(1.0, float(np.max(np.abs(operating.v), initial=0.0)) ** 2):
        message += f"; the point is not in balance: it accelerates by up to {np.max(np.abs(model.drift)):.3g} m/s^2 or rad/s^2"
    elif np.max(np.abs(model.own_drift), initial=0.0) > AT_REST:
        message += f"; the point is not in balance: a state changes by {np.max(np.abs(model.own_drift)):.3g} per second"
    stuck = held_by_friction(equations, dynamics.point)
    unmoved = [f"{holding_effort(system, name, strength)} at this point and has no slope there: it is left out"
               for name, strength in stuck.items()]  # fmt: skip
    kinks = warnings_at(kinks_at(equations, dynamics.point))
    warnings = (*unmoved, *smoothed_at_rest(dynamics), *kinks, *judged_at(equations, dynamics.point))
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
    """Each input with its kind: a signal (an effort along a coordinate is one), an acceleration or a parameter."""
    if inputs is None:
        driven_motors = [drive.name for drive in equations.system.motors.values() if drive.command is not None]
        inputs = [*(drive.name for drive in equations.system.drives.values()), *driven_motors]
    wanted: dict[str, str] = {}
    driven = {*(equations.tree.rates[k] for k in equations.moved_v), *operating.held}
    for name in [inputs] if isinstance(inputs, str) else inputs:
        if name in driven:
            wanted[name] = ACCELERATION
        elif name in equations.symbols.signal_names:
            wanted[name] = SIGNAL
        elif name in equations.values:
            wanted[name] = PARAMETER
        else:
            known = [*equations.symbols.signal_names, *equations.values]
            kinds = "drives, motors, struts, components of loads, coordinates or parameters"
            rule = f"must name {kinds}: {known}{did_you_mean(name, known)}"
            raise ModelError.of("linearise", "inputs", rule, name)
    return wanted
