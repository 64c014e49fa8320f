"""What can stick in a run: contacts and joints, with the places of their states in p and of their event functions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pliant.arrays import Floats
from pliant.integrate.loop.grip_states import SLIDES, STICKS

if TYPE_CHECKING:
    from pliant.trace.traced_system import TracedSystem

WIDTH = 4  # entries of p: the state of a grip, and a direction


@dataclass(frozen=True)
class Gripping:
    """A contact or a joint whose friction can stick: where its state is in p, and which of the event functions are its own."""

    name: str
    grip: int  # in p: its state, then the direction in which friction yields or slides
    edge: int  # where it comes to rest, or leaves rest
    exact: bool  # it sticks at a slip of exactly zero, and its direction is a sign
    ways: int  # directions in which it can slip
    pair: int | None  # its number, if it is a contact

    @property
    def reserve(self) -> int:
        """The event function of the strength that is left."""
        return self.edge + 1

    @property
    def own(self) -> slice:
        return slice(self.grip, self.grip + WIDTH)

    @property
    def direction(self) -> slice:
        return slice(self.grip + 1, self.grip + WIDTH)

    def sticks(self, p: Floats) -> bool:
        return bool(p[self.grip] == STICKS)

    def changes(self, p: Floats, p_next: Floats) -> bool:
        return not np.array_equal(p[self.own], p_next[self.own])

    def sticking(self, p: Floats) -> Floats:
        """p as if it stuck."""
        there = p.copy()
        there[self.own] = STICKS, 0.0, 0.0, 0.0
        return there

    def sliding(self, p: Floats) -> Floats:
        """p as if it slid, so that the edge of an exact joint is its slip."""
        there = p.copy()
        there[self.own] = SLIDES, -1.0, 0.0, 0.0
        return there


def gripping(traced: TracedSystem) -> tuple[Gripping, ...]:
    """All that can stick: contacts, then joints."""
    contacts = [Gripping(slots.pair.name, slots.grip, slots.switches[0], False, 3, k)
                for k, slots in enumerate(traced.pairs) if slots.grip is not None]  # fmt: skip
    joints = [Gripping(slots.label, slots.grip, slots.edge, slots.exact, len(slots.rates), None)
              for slots in traced.joints if slots.grip is not None and slots.edge is not None]  # fmt: skip
    return (*contacts, *joints)
