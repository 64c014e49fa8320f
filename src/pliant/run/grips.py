"""Contacts whose friction law holds: what each is doing, decided at the events of a run.

Within a phase nothing of their force jumps (`dynamics.contact.Grip` says what there is to do). A contact that slides sticks when
its slip speed falls below its band; one that sticks yields when more is asked of it than it can hold, creeps once its slip has a
direction, slides when the slip leaves the band, and sticks again when the slip has come to rest. What one of them does changes
what is asked of the others, so they are settled together whenever the equations change.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pliant.model.friction_law import CREEPS, REST_SHARE, RETURNS, SLIDES, STICKS, YIELDS

if TYPE_CHECKING:
    from pliant.integrate.stepper import Stepper
    from pliant.trace.contacts import PairSlots
    from pliant.trace.traced_system import TracedSystem

Floats = NDArray[np.float64]
Evaluator = Callable[[], Floats]

TOGETHER = 1e-6  # of their strength: contacts that share one motion give way at once, whatever round-off says


class Grips:
    """What the contacts of one run with laws that hold are doing; kept in p."""

    def __init__(self, traced: TracedSystem, stepper: Stepper, watched: Evaluator, friction: Evaluator) -> None:
        """watched: the event functions now; friction: the friction of every pair now, N, in world axes."""
        self._stepper, self._watched, self._friction = stepper, watched, friction
        self._slots = {k: slots for k, slots in enumerate(traced.pairs) if slots.grip is not None}
        self._breaking: set[int] = set()

    def doing(self, k: int) -> tuple[float, ...] | None:
        """What pair k is doing and the direction in which it yields; None of a law that does not hold."""
        return tuple(float(x) for x in self._p(self._slots[k])) if k in self._slots else None

    def close(self, k: int, doing: tuple[float, ...] | None = None) -> None:
        """Pair k touches: it does what it did, or sticks if its slip is within the band."""
        if k not in self._slots:
            return
        slots = self._slots[k]
        if doing is not None:
            self._p(slots)[:] = doing
            self._watch(slots)
            return
        self._set(slots, SLIDES)
        if self._watched()[slots.switches[0]] < 0.0:
            self._set(slots, STICKS)

    def open(self, k: int) -> None:
        if k in self._slots:
            self._set(self._slots[k], SLIDES)
            for index in self._slots[k].switches:
                self._stepper.active[index] = False

    def happened(self, k: int, index: int) -> bool:
        """An event of pair k; True if it was one of a grip: others must then be settled with it."""
        slots = self._slots.get(k)
        if slots is None or index not in slots.switches:
            return False
        doing = self._p(slots)[0]
        if index == slots.switches[0]:
            left = CREEPS if doing == YIELDS else RETURNS
            self._set(slots, STICKS if doing <= SLIDES else left)
        elif doing == STICKS:
            self._breaking.add(k)
        else:
            self._set(slots, STICKS)
        return True

    def settle(self) -> None:
        """Let all that is at rest hold again, then let yield what cannot hold its share."""
        inside = {k: slots for k, slots in self._slots.items() if self._p(slots)[0] >= STICKS}
        breaking, self._breaking = self._breaking & inside.keys(), set()
        for k, slots in inside.items():
            if self._p(slots)[0] == YIELDS and k not in breaking:
                self._set(slots, STICKS)
        for _ in inside:
            if not any(self._p(slots)[0] == STICKS for slots in inside.values()):
                break
            events = self._watched()
            left = {k: events[slots.switches[1]] for k, slots in inside.items() if self._p(slots)[0] == STICKS}
            if not breaking and min(left.values()) > 0.0:
                break
            self._let_yield({k for k in left if k in breaking or left[k] <= TOGETHER}, events)
            breaking = set()

    def _let_yield(self, broken: set[int], events: Floats) -> None:
        """All their strength against the slip; at rest, along the force that was asked of them."""
        friction = self._friction()
        for k in broken:
            slots, band = self._slots[k], float(self._slots[k].pair.friction.band)  # type: ignore[union-attr]
            speed = events[slots.switches[0]] + band  # it stuck: its edge is that of the band
            force = friction[3 * k : 3 * k + 3]
            if speed < REST_SHARE * band:
                self._set(slots, YIELDS, force / max(float(np.linalg.norm(force)), SMALLEST_FORCE))
            else:
                self._set(slots, CREEPS)

    def _p(self, slots: PairSlots) -> Floats:
        assert slots.grip is not None
        return self._stepper.p[slots.grip : slots.grip + 4]

    def _set(self, slots: PairSlots, doing: float, resists: Floats | tuple[float, ...] = (0.0, 0.0, 0.0)) -> None:
        self._p(slots)[0] = doing
        self._p(slots)[1:] = resists
        self._watch(slots)

    def _watch(self, slots: PairSlots) -> None:
        """Sliding: for the band to be entered. Inside: for it to be left, and for what is left of the strength or of the slip."""
        edge, margin = slots.switches
        inside = self._p(slots)[0] >= STICKS
        active, direction = self._stepper.active, self._stepper.direction
        active[edge], direction[edge] = True, 1 if inside else -1
        active[margin], direction[margin] = inside, -1


SMALLEST_FORCE = 1e-300  # N: what nothing is divided by
