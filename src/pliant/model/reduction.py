"""Reductions of a mesh: to its interface and a few natural shapes, or to its first free shapes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pliant.errors import ModelError
from pliant.model import check


@dataclass(frozen=True)
class CraigBampton:
    """Craig-Bampton reduction: a static shape per interface coordinate, then the first `modes` natural shapes with fixed interface.

    interface: nodes of the mesh (the root is 0); by default both ends. Static loads at these nodes are represented exactly. An
    empty interface, `()`, leaves the natural shapes of the mesh in its frame. highest: a frequency instead of a number, of a
    `pl.modal_body`: all natural shapes up to it. Craig and Bampton 1968.
    """

    modes: int | None = None
    interface: tuple[int, ...] | None = None
    highest: float | None = None  # Hz

    def __post_init__(self) -> None:
        _check_size("CraigBampton", self)
        if self.interface is not None:
            object.__setattr__(self, "interface", node_numbers("CraigBampton", "interface", self.interface))
        if self.modes == 0 and self.interface == ():
            raise ModelError.of("CraigBampton", "modes", "must be at least 1 when the interface is empty", self.modes)

    @property
    def count(self) -> int:
        """How many natural shapes are asked for, if they are not asked for by a frequency."""
        return self.modes or 0

    def nodes_of(self, elements: int) -> tuple[int, ...]:
        """The interface nodes of a mesh with this number of elements."""
        return (0, elements) if self.interface is None else self.interface


@dataclass(frozen=True)
class FreeModes:
    """Reduction to the first `modes` natural shapes of the unsupported mesh; the frame describes its rigid-body motions.

    highest: a frequency instead of a number, of a `pl.modal_body`: all natural shapes up to it.
    """

    modes: int | None = None
    highest: float | None = None  # Hz

    def __post_init__(self) -> None:
        _check_size("FreeModes", self)
        if self.modes is not None:
            check.count("FreeModes", "modes", self.modes)

    @property
    def count(self) -> int:
        """How many natural shapes are asked for, if they are not asked for by a frequency."""
        return self.modes or 0


Reduction = CraigBampton | FreeModes


def _check_size(part: str, reduction: Any) -> None:
    """Either a number of natural shapes, or the highest frequency."""
    check.structural(part, "highest", reduction.highest)
    if (reduction.modes is None) == (reduction.highest is None):
        raise ModelError.of(part, "modes", "must be given, or highest in Hz instead of it", reduction.modes)
    if reduction.modes is not None:
        object.__setattr__(reduction, "modes", _whole(part, "modes", reduction.modes))
    else:
        object.__setattr__(reduction, "highest", check.positive(part, "highest", reduction.highest, "Hz"))


def node_numbers(part: str, field: str, value: Any) -> tuple[int, ...]:
    """Node numbers from one number or several, sorted; a repeated number is refused."""
    several = tuple(value) if isinstance(value, Sequence) and not isinstance(value, str) else (value,)
    clean = tuple(sorted(_whole(part, field, one) for one in several))
    if len(set(clean)) < len(clean):
        raise ModelError.of(part, field, "must name each node once", value)
    return clean


def check_nodes(part: str, field: str, numbers: Sequence[int], elements: int) -> None:
    """Refuse nodes that the mesh does not have."""
    if any(number > elements for number in numbers):
        raise ModelError.of(part, field, f"must be nodes of the mesh, 0 to {elements}", tuple(numbers))


def _whole(part: str, field: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ModelError.of(part, field, "must be a whole number >= 0", value)
    return value
