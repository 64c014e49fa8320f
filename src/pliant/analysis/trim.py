"""Trim: the efforts that hold coordinates of an equilibrium in place, and the commands of motors and drives that give them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from pliant.model.system import System

if TYPE_CHECKING:
    from pliant.analysis.balance import Balance, Missing
    from pliant.analysis.symbolic_equations import SymbolicEquations

STEPS = 8  # of Newton's method; efforts are piecewise linear in commands
HELD = 1e-9  # fraction of an effort: a motor that leaves more of it than this cannot hold the coordinate


@dataclass(frozen=True)
class Trim:
    """What holds some coordinates."""

    efforts: Mapping[str, float]  # by coordinate, N m or N, in addition to everything that acts already
    inputs: Mapping[str, float]  # the same as additions to inputs: a motor's command, a drive, or an effort along a coordinate
    commands: Mapping[str, float]  # by motor or drive: its whole command, V, 1, N m or N
    warnings: tuple[str, ...] = ()


def trimmed(balance: Balance, missing: Missing, held: Mapping[str, float]) -> Trim:
    """The efforts along held coordinates at a balance of all others; missing: the balance there."""
    if not held:
        return Trim({}, {}, {})
    equations, point = balance.equations, missing.point
    rows = [equations.tree.rates.index(name) for name in held]
    given = [_actuator(equations.system, name) for name in held]
    places = [equations.symbols.signal_names.index(name) for name in given]

    def outputs(e: SymbolicEquations) -> list[ca.SX]:
        residual, values = e.residual_column[rows], e.tracer.column(e.input_values)
        return [residual, ca.jacobian(residual, e.signal_column)[:, places], values]

    key = ("trim", *rows, *places)
    efforts = left = equations.evaluate(key, outputs, point)[0].ravel()
    for _ in range(STEPS):
        left, slope, inputs = equations.evaluate(key, outputs, point)
        added = point.inputs.copy()
        added[places] -= np.linalg.lstsq(slope, left.ravel(), rcond=None)[0]
        point = replace(point, inputs=added)
    cannot = np.abs(equations.evaluate(key, outputs, point)[0].ravel()) > HELD * np.abs(efforts)
    warnings = []
    found: dict[str, float] = {}
    commands: dict[str, float] = {}
    for k, (name, by) in enumerate(zip(held, given, strict=True)):
        if cannot[k]:
            warnings.append(f"{by!r} cannot hold {name}, which takes {efforts[k]:.6g} {effort_unit(equations.system, name)}: its "
                            "limits are too low; the effort along the coordinate is taken instead")  # fmt: skip
            found[name] = float(efforts[k])
        else:
            found[by] = float(point.inputs[places[k]])
            commands |= {} if by == name else {by: float(np.ravel(inputs)[places[k]])}
    return Trim(dict(zip(held, efforts.tolist(), strict=True)), found, commands, tuple(warnings))


def effort_unit(system: System, coordinate: str) -> str:
    """N m for an angle, N for a length."""
    body, name = coordinate.split(".")
    return "N m" if any(motion.name == name and motion.unit == "rad" for motion in system.links[body].joint.motions) else "N"


def _actuator(system: System, coordinate: str) -> str:
    """What can be commanded along a coordinate: a motor, a drive, or else an effort along the coordinate itself."""
    motors = [motor.name for motor in system.motors.values() if motor.coordinate == coordinate and motor.command is not None]
    drives = [drive.name for drive in system.drives.values() if drive.coordinate == coordinate]
    return next(iter([*motors, *drives]), coordinate)
