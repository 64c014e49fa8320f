"""Springs between tips and the reader's hand: forces in the mechanism that are zero until the page says where the hand is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pliant.model.frame import Frame
from pliant.model.parameter import Parameter
from pliant.model.system import System

HAND = "hand"  # begins the names of these forces and of their parameters
MOST = 8  # tips
DELAY = 0.03  # s: damping over stiffness of a spring


@dataclass(frozen=True)
class Pull:
    """A spring at the tip of a body, with the names of its parameters: its stiffness, N/m, and the place of the hand, m."""

    body: str
    stiffness: str
    place: tuple[str, str, str]

    @property
    def names(self) -> tuple[str, ...]:
        return (self.stiffness, *self.place)


def with_pulls(system: System) -> tuple[System, list[Pull]]:
    """A copy of the System with springs at the tips of its bodies, outermost first."""
    made, pulls = system.snapshot(), []
    taken = {*system.loads, *system.drives, *system.links, *system.parameters, *system.struts}
    for number, name in enumerate(reversed(list(system.links))):
        pull = Pull(name, f"{HAND}_{number}", (f"{HAND}_{number}_x", f"{HAND}_{number}_y", f"{HAND}_{number}_z"))
        if number >= MOST or taken.intersection((*pull.names, f"{HAND} {name}")):
            continue
        stiffness, *place = (Parameter(own, 0.0) for own in pull.names)
        tip = made.handle(name).tip
        made.force(f"{HAND} {name}", tip, [_component(tip, axis, stiffness, place[axis]) for axis in range(3)])
        pulls.append(pull)
    return made, pulls


def _component(tip: Frame, axis: int, stiffness: Parameter, place: Parameter) -> Callable[..., Any]:
    def force(t: Any, q: Any, v: Any) -> Any:
        return stiffness * (place - q.position(tip)[axis] - DELAY * q.velocity(tip)[axis])

    return force
