"""What all formulations of forward dynamics take and give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pliant.dynamics.algebra import Scalar
from pliant.dynamics.loads import BodyLoad
from pliant.dynamics.tree import Tree


@dataclass(frozen=True)
class Driven:
    """A tree at coordinates q and rates v, and what acts on it."""

    tree: Tree
    q: Sequence[Scalar]
    v: Sequence[Scalar]
    tau: Sequence[Scalar]  # efforts on the coordinates
    loads: Sequence[BodyLoad]  # on the bodies
    known: dict[int, Scalar]  # prescribed accelerations


@dataclass(frozen=True)
class Forward:
    """Accelerations of all coordinates, and the efforts that prescribed motions require."""

    accelerations: list[Scalar]
    efforts: dict[int, Scalar]
