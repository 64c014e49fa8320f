"""Struts: length, rate and direction of the line between two frames, and the energy of their springs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pliant.dynamics.algebra import Scalar, Vec, dot, scale, sub, total
from pliant.dynamics.kinematics import TreeState
from pliant.dynamics.tree import Place
from pliant.model.strut import Strut
from pliant.scalar import sqrt

# Fraction of the rest length: if the two ends are nearer than this, the strut's direction and its force fade to zero. At the rest
# length this changes no digit of a double.
MEETING = 1e-8
NEAREST = 1e-15  # m: the same for a strut without a rest length


@dataclass(frozen=True)
class StrutState:
    """One strut at a state: its length, rate of lengthening, and direction."""

    strut: Strut
    places: tuple[Place, Place]
    length: Scalar  # m
    rate: Scalar  # m/s
    direction: Vec  # from b to a, world axes

    @property
    def stretch(self) -> Scalar:
        return self.length - self.strut.unstretched

    @property
    def stored(self) -> Scalar:
        """Energy stored in the spring, J."""
        return 0.5 * self.strut.stiffness * self.stretch * self.stretch


@dataclass(frozen=True)
class StrutForce:
    """The force of a strut, positive if it pushes its ends apart."""

    state: StrutState
    force: Scalar  # N


def strut_state(state: TreeState, strut: Strut) -> StrutState:
    a, b = (state.tree.place(frame) for frame in strut.frames)
    first, second = (state.pose(place) for place in (a, b))
    apart = sub(first.position, second.position)
    nearest = MEETING * strut.unstretched + NEAREST
    length = sqrt(dot(apart, apart) + nearest * nearest)
    direction = scale(1.0 / length, apart)
    drift = sub(state.velocity(a, first), state.velocity(b, second))
    return StrutState(strut, (a, b), length, dot(direction, drift), direction)


def strut_energy(struts: Sequence[StrutForce]) -> Scalar:
    """Energy stored in the springs of all struts, J."""
    return total(strut.state.stored for strut in struts)
