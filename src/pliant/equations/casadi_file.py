"""The equations as a CasADi function, for optimal control and for export from CasADi."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import casadi as ca

from pliant.equations.matrices import Matrices
from pliant.host.atomic_files import atomic_write, write_text
from pliant.model import check


def function(equations: Matrices) -> ca.Function:
    """(t, q, v, u, p) -> every matrix of the equations, and the accelerations with the multipliers."""
    outputs = {**equations.outputs, **equations.solution}
    letters = [group.letter for group in equations.inputs]
    columns = [group.column for group in equations.inputs]
    return ca.Function("equations", columns, list(outputs.values()), letters, list(outputs))


def names(equations: Matrices) -> dict[str, Any]:
    """Names of all entries, and the values of the parameters."""
    return {
        "name": equations.name,
        "inputs": {group.letter: list(group.names) for group in equations.inputs},
        "outputs": list(function(equations).name_out()),
        "parameters": dict(zip(equations.p.names, equations.values, strict=True)),
        "constraints": list(equations.rows),
        "tips": list(equations.bodies),
        "notes": list(equations.notes),
    }


def write(equations: Matrices, path: str | Path) -> None:
    """Write FILE for casadi.Function.load, and FILE.json with the names."""
    target = check.path("write_casadi", "path", path)
    with atomic_write(target) as draft:
        function(equations).save(str(draft))
    write_text(target.with_suffix(".json"), json.dumps(names(equations), indent=2) + "\n")
