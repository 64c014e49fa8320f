"""Joints whose friction sticks at an equilibrium: what it can hold, and how far to either side a coordinate may rest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from pliant.analysis.trim import effort_unit

if TYPE_CHECKING:
    import casadi as ca

    from pliant.analysis.balance import Balance, Missing
    from pliant.analysis.implicit_equations import EvaluationPoint, ImplicitEquations
    from pliant.analysis.rest import Rest
    from pliant.analysis.symbolic_equations import SymbolicEquations
    from pliant.model.system import System


def held_by_friction(equations: ImplicitEquations, point: EvaluationPoint) -> dict[str, float]:
    """The effort up to which friction holds each coordinate of a joint that sticks, N m or N, by coordinate."""
    rubbing = equations.symbols.rubbing
    holding = [k for k, own in enumerate(rubbing) if own.grip is not None]
    if not holding:
        return {}

    def outputs(e: SymbolicEquations) -> list[ca.SX]:
        strong, sticks = [], []
        for k in holding:
            own = e.rubbing[k]
            strong += [own.law.stiction(e.friction.loads[k]) * lever for lever in own.joint.levers]  # type: ignore[union-attr]
            sticks += [own.grip.sticks for _ in own.joint.levers]  # type: ignore[union-attr]
        return [e.tracer.column(strong), e.tracer.column(sticks)]

    strengths, stuck = (x.ravel() for x in equations.evaluate("strengths", outputs, point))
    names = [rate for k in holding for rate in rubbing[k].joint.rates]
    return {name: float(x) for name, x, at_rest in zip(names, strengths, stuck, strict=True) if at_rest}


def sentences(balance: Balance, missing: Missing, rest: Rest, strengths: Mapping[str, float]) -> list[str]:
    """How far to either side of the equilibrium friction lets each of these coordinates rest, to first order."""
    said = []
    for name, strength in strengths.items():
        holds = holding_effort(balance.equations.system, name, strength)
        far = _reach(balance, missing, rest, name, strength)
        unit = "rad" if holds.endswith("N m") else "m"
        said.append(holds + (f", so that it may rest up to {far:.3g} {unit} to either side" if far is not None else ""))
    return said


def holding_effort(system: System, name: str, strength: float) -> str:
    """What friction holds, and against how much; name: of a coordinate, or of a motion in a closure."""
    body, own = name.split(".")
    link = system.links.get(body)
    unit = effort_unit(system, name) if link is not None and own in link.rates else "N or N m"
    return f"friction holds {name} against up to {strength:.3g} {unit}"


def _reach(balance: Balance, missing: Missing, rest: Rest, name: str, strength: float) -> float | None:
    """strength times the compliance of a coordinate; None if it is held, or nothing but friction resists it."""
    if name not in balance.names:
        return None
    allowed, force = missing.free_motions, np.array([strength if own == name else 0.0 for own in balance.names])
    stiffness = allowed.T @ balance.stiffness(missing) @ allowed
    if not rest.stiffness.size or np.linalg.cond(rest.stiffness) > 1e10:
        return None
    return float(abs((allowed @ np.linalg.solve(stiffness, allowed.T @ force))[balance.names.index(name)]))
