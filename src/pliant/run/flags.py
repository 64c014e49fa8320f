"""What jumps with the state goes by flags in p: damped end stops, comparisons in users' formulas. Which are set, and when."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pliant.run.round_off import Kernel

if TYPE_CHECKING:
    from pliant.integrate.stepper import Located, Stepper
    from pliant.trace.traced_system import TracedSystem

CHATTER, SHORTEST_TURN = 100, 1e-9  # so many changes of a flag, each within s of the last, are chatter and no motion


class Flags:
    """The flags of one run; each belongs to an event, whose function tells the side."""

    def __init__(self, traced: TracedSystem, stepper: Stepper) -> None:
        self._stepper = stepper
        self._events = {k: event for k, event in enumerate(traced.events) if event.flag is not None}
        self._changes: dict[int, list[float]] = {k: [] for k in self._events}  # when each changed, lately

    def begin(self, functions: Kernel) -> None:
        """Set them by the sides that the event functions are on; on the line itself they are not set."""
        stepper = self._stepper
        for k in self._events:
            stepper.dead[k] = stepper.noise[k]
        for _ in self._events:  # what a formula compares may depend on what it compared before
            g, before = functions(stepper.t, stepper.y, stepper.p), stepper.p.copy()
            for k, event in self._events.items():
                self._set(k, bool(g[k] * event.pressed > stepper.dead[k]))
            if np.array_equal(before, stepper.p):
                break

    def happened(self, located: Located) -> bool:
        """Take an event; True if a flag changed."""
        if located.index not in self._events:
            return False
        self._set(located.index, located.direction == self._events[located.index].pressed)
        self._changes[located.index].append(located.t)
        return True

    def chatters(self, located: Located) -> bool:
        """Whether a flag is set and cleared without end, in no time."""
        changes = self._changes.get(located.index, [])
        return len(changes) > CHATTER and changes.pop(0) > located.t - CHATTER * SHORTEST_TURN

    def _set(self, k: int, pressed: bool) -> None:
        """What jumps at event k is on this side from now on, and watched from there."""
        event = self._events[k]
        assert event.flag is not None
        self._stepper.p[event.flag] = float(pressed)
        self._stepper.required[k] = event.pressed if pressed else -event.pressed
