"""The rows of a result as a motion: position, velocity and acceleration of every body in every row.

Formulas over any scalar accept whole columns as NumPy arrays, so all rows are computed at once. Accelerations are those recorded in
the run. Nothing is integrated or solved again, and the accelerations already reflect facts that only the run knew, such as which
contacts were closed and at what entry speed.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from pliant.arrays import Floats
from pliant.dynamics.algebra import Vec
from pliant.dynamics.gibbs_appell import BodyMotion, outward
from pliant.dynamics.kinematics import Pose, Twist, poses, twists
from pliant.dynamics.tree import Tree, build_tree
from pliant.errors import ModelError
from pliant.files import loads_model
from pliant.model.resolve import Search, checked_values, resolved
from pliant.model.system import System
from pliant.results.result import Result
from pliant.run.mechanism import AnySystem, mechanism_of
from pliant.run.provenance import Provenance
from pliant.trace.tracing import absolute_coordinates


class RecordedMotion:
    """A result together with the System that it is a run of."""

    def __init__(self, result: Result, system: AnySystem | None, caller: str) -> None:
        if not len(result.time):
            raise ModelError.of(caller, "result", "must hold at least one row", result.name)
        self.result = result
        given = system_of(result, caller) if system is None else mechanism_of(system, caller, ran=True)
        _check_loads(given, result, caller)
        self.parameters = checked_values(given.parameters, result.parameters)
        self.system: System = resolved(given.snapshot(), self.parameters)
        if result.labels["joint_coordinate"]:  # absolute coordinates: every body floats, and joints are closures
            self.system = absolute_coordinates(self.system, self.t_start)[0]
        self.tree: Tree = build_tree(self.system)
        for dimension, names in (("coordinate", self.tree.positions), ("rate", self.tree.rates)):
            if list(result.labels[dimension]) != list(names):
                rule = f"must be the system of the run: the {dimension}s of the result are {list(result.labels[dimension])}"
                raise ModelError.of(caller, "system", rule, list(names))

    @property
    def rows(self) -> int:
        return len(self.result.time)

    @cached_property
    def t_start(self) -> float:
        """Time at which closed loops were assembled, s."""
        state = self.result.final_state
        return float(self.result.time[0]) if state is None else state.t_assembled

    @cached_property
    def q(self) -> list[Floats]:
        return _columns(self.result.values["q"])

    @cached_property
    def v(self) -> list[Floats]:
        return _columns(self.result.values["v"])

    @cached_property
    def a(self) -> list[Floats]:
        return _columns(self.result.values["a"])

    @cached_property
    def bodies(self) -> list[Pose]:
        """The frame of every body."""
        return poses(self.tree, self.q)

    @cached_property
    def motions(self) -> list[BodyMotion]:
        """Angular velocity and accelerations of every body's frame, in its axes; gravity is an acceleration of the ground."""
        return outward(self.tree, self.q, self.v, self.a, self.tree.gravity)

    @cached_property
    def twists(self) -> list[Twist]:
        """Angular velocity and velocity of every body's frame, in its axes."""
        return twists(self.tree, self.q, self.v)

    def array(self, vector: Sequence[object] | Vec) -> Floats:
        """A vector whose entries are columns or numbers, as an array (rows, 3)."""
        return np.stack([np.broadcast_to(np.asarray(x, dtype=np.float64), (self.rows,)) for x in vector], axis=1)

    def turn(self, body: int) -> Floats:
        """Rotation from a body's axes to world axes: (rows, 3, 3)."""
        return np.stack([self.array(row) for row in self.bodies[body].rotation.matrix], axis=1)

    def origin(self, body: int) -> Floats:
        """Origin of a body's frame, in world axes: (rows, 3)."""
        return self.array(self.bodies[body].position)


def _check_loads(system: System, result: Result, caller: str) -> None:
    """Refuse a run with an input on which a load or a closure depends: its series is not part of the result."""
    replaced = set(system.parameters) - set(result.parameters) if result.provenance.get("settings", {}).get("inputs") else set()
    for part in (*system.loads.values(), *system.closures.values()) if replaced else ():
        search = Search()
        search.visit(part)
        for parameter in search.parameters:
            if parameter.name in replaced:
                rule = f"must be of a run in which no input replaces {parameter.name!r}, on which {part.name!r} depends"
                raise ModelError.of(caller, "result", rule, result.name)


def system_of(result: Result, caller: str) -> System:
    """The System of a run: the one it was run with, or the one stored in the result's file."""
    if isinstance(result.make_provenance, Provenance):
        return result.make_provenance.system
    model = result.provenance.get("model", "")
    if not model:
        why = result.provenance.get("no_model", "the file holds no model")
        raise ModelError.of(caller, "system", f"must be given for this result ({why})", None)
    return loads_model(model).system


def _columns(values: Floats) -> list[Floats]:
    return [np.ascontiguousarray(column) for column in values.T]
