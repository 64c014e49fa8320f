"""Numbers of a model as named symbols: gravity, and the masses, mass centres, inertias and named points of rigid bodies.

Beams keep their numbers: their shape integrals are results of a calculation, not entries of the model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import casadi as ca

from pliant.codegen.tracer import Scalar, Tracer
from pliant.dynamics.algebra import Vec
from pliant.dynamics.body import BeamBody
from pliant.dynamics.library import rigid_body
from pliant.dynamics.tree import Node, Place, Tree
from pliant.model.body import Body as ModelBody
from pliant.model.frame import Frame
from pliant.model.rigid import RigidBody
from pliant.results.table import AXES


@dataclass(frozen=True)
class Parameters:
    """Named numbers of a model and their symbols."""

    names: tuple[str, ...]
    values: tuple[float, ...]
    column: ca.SX


class Names:
    """Symbols made as they are asked for; zeros stay zeros, so that structure is not lost."""

    def __init__(self, tracer: Tracer) -> None:
        self.tracer = tracer
        self._known: dict[str, tuple[float, ca.SX, Scalar]] = {}

    def symbol(self, name: str, value: float) -> Scalar:
        if value == 0.0:
            return 0.0
        if name not in self._known:
            column, (scalar,) = self.tracer.symbols(name, 1)
            self._known[name] = (float(value), column, scalar)
        return self._known[name][2]

    def vector(self, name: str, values: Sequence[float]) -> Vec:
        x, y, z = (self.symbol(f"{name}.{axis}", value) for axis, value in zip(AXES, values, strict=True))
        return x, y, z

    def parameters(self) -> Parameters:
        """All that was asked for until now."""
        columns = [column for _, column, _ in self._known.values()]
        values = tuple(value for value, _, _ in self._known.values())
        return Parameters(tuple(self._known), values, ca.vertcat(*columns) if columns else ca.SX.zeros(0, 1))


@dataclass(frozen=True)
class NamedTree(Tree):
    """A tree with symbols in place of the numbers a user gave to gravity and to rigid bodies."""

    names: Names

    @classmethod
    def of(cls, tree: Tree, names: Names) -> NamedTree:
        own = {field.name: getattr(tree, field.name) for field in fields(tree)}
        bodies = {node.name: node.link.body for node in tree.nodes}
        nodes = tuple(_named(node, bodies, names) for node in tree.nodes)
        return cls(**{**own, "nodes": nodes, "gravity": names.vector("gravity", tree.gravity)}, names=names)

    def place(self, frame: Frame) -> Place:
        bodies = {node.name: node.link.body for node in self.nodes}
        return _named_place(super().place(frame), frame, bodies, self.names)


def _named(node: Node, bodies: Mapping[str, ModelBody], names: Names) -> Node:
    place = _named_place(node.place, node.link.on, bodies, names)
    body = _rigid(node.name, node.link.body, names) if isinstance(node.link.body, RigidBody) else node.body
    return replace(node, place=place, body=body)


def _named_place(place: Place, frame: Frame, bodies: Mapping[str, ModelBody], names: Names) -> Place:
    """A named point of a rigid body is one parameter wherever it is used; other offsets keep their numbers."""
    body = bodies.get(frame.body)
    if not isinstance(body, RigidBody):
        return place
    for name, point in {"tip": body.tip, **body.frames}.items():
        if tuple(point) == tuple(place.offset):
            return replace(place, offset=names.vector(f"{frame.body}.{name}", place.offset))
    return place


def _rigid(name: str, body: RigidBody, names: Names) -> BeamBody:
    """The body's own numbers as symbols; products of inertia are named once."""
    mass, com = names.symbol(f"{name}.mass", body.mass), names.vector(f"{name}.com", body.com)
    rows: Any = body.inertia
    inertia: Any = tuple(
        tuple(names.symbol(f"{name}.inertia.{AXES[min(i, j)]}{AXES[max(i, j)]}", row[j]) for j in range(3))
        for i, row in enumerate(rows)
    )
    return rigid_body(mass, com, inertia)
