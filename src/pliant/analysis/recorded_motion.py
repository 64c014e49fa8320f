"""The rows of a result as a motion: where every body is in each of them, how it moves and how it accelerates.

Formulas over any scalar take whole columns of rows as NumPy arrays, so all rows are computed at once. Accelerations are those that
the run observed: nothing is integrated or solved again, and what only the run knew (which contacts were closed, how they had begun)
is in them already.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pliant.dynamics.algebra import Vec
from pliant.dynamics.gibbs_appell import BodyMotion, outward
from pliant.dynamics.kinematics import Pose, poses
from pliant.dynamics.tree import Tree, build_tree
from pliant.errors import ModelError
from pliant.files import loads_model
from pliant.model import check
from pliant.model.resolve import checked_values, resolved
from pliant.model.system import System
from pliant.results.result import Result
from pliant.run.provenance import Provenance
from pliant.trace.absolute import absolute_coordinates

Floats = NDArray[np.float64]


class RecordedMotion:
    """A result with the System it is a run of."""

    def __init__(self, result: Result, system: System | None, caller: str) -> None:
        if not len(result.time):
            raise ModelError.of(caller, "result", "must hold at least one row", result.name)
        self.result = result
        given = system_of(result, caller) if system is None else system
        check.instance(caller, "system", given, System, "a System")
        self.parameters = checked_values(given.parameters, result.parameters)
        self.system: System = resolved(given.snapshot(), self.parameters)
        if result.labels["joint_coordinate"]:  # every body floats there, and joints are closures
            self.system = absolute_coordinates(self.system, self.t_start)[0]
        self.tree: Tree = build_tree(self.system)
        for dimension, names in (("coordinate", self.tree.positions), ("rate", self.tree.rates)):
            if list(result.labels[dimension]) != list(names):
                rule = f"must be the one that the result is a run of, whose {dimension}s are {list(result.labels[dimension])}"
                raise ModelError.of(caller, "system", rule, list(names))

    @property
    def rows(self) -> int:
        return len(self.result.time)

    @cached_property
    def t_start(self) -> float:
        """When closed loops were assembled, s."""
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
        """Angular velocity and accelerations of every body's frame, in its axes; the ground accelerates against gravity."""
        return outward(self.tree, self.q, self.v, self.a, self.tree.gravity)

    def array(self, vector: Sequence[object] | Vec) -> Floats:
        """A vector of columns or numbers as (rows, 3)."""
        return np.stack([np.broadcast_to(np.asarray(x, dtype=np.float64), (self.rows,)) for x in vector], axis=1)

    def turn(self, body: int) -> Floats:
        """From a body's axes to the world's: (rows, 3, 3)."""
        return np.stack([self.array(row) for row in self.bodies[body].rotation.matrix], axis=1)

    def origin(self, body: int) -> Floats:
        """Of a body's frame, world axes: (rows, 3)."""
        return self.array(self.bodies[body].position)


def system_of(result: Result, caller: str) -> System:
    """The System of a run: the one it was made with, or what a file tells of it."""
    if isinstance(result.make_provenance, Provenance):
        return result.make_provenance.system
    model = result.provenance.get("model", "")
    if not model:
        why = result.provenance.get("no_model", "the file holds no model")
        raise ModelError.of(caller, "system", f"must be given for this result ({why})", None)
    return loads_model(model).system


def _columns(values: Floats) -> list[Floats]:
    return [np.ascontiguousarray(column) for column in values.T]
