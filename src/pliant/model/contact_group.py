"""A group of shapes that may touch each other, every one every other: their law is in the equations once, however many they are."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pliant.errors import ModelError
from pliant.model.contact import ContactPair, Plane, Sphere
from pliant.model.frame import GROUND, Frame
from pliant.model.friction_law import BristleLaw, CustomFriction, FrictionLaw
from pliant.model.journal_law import JournalLaw
from pliant.model.normal_law import CustomNormal, Impulsive, NormalLaw

# Room for near pairs: no more than 6 spheres of equal size per sphere touch each other. Besides, one may touch all planes.
PLACES_PER_BALL, LEAST_PLACES = 6, 16


@dataclass(frozen=True)
class ContactGroup:
    """Spheres that may touch each other, and planes on the ground that all of them may touch."""

    name: str
    balls: tuple[Sphere, ...]
    planes: tuple[Plane, ...]
    names: tuple[str, ...]  # of the balls, then of the planes, in tables
    normal: NormalLaw
    friction: FrictionLaw | None = None

    @property
    def frames(self) -> list[Frame]:
        """The frames of its members."""
        return [*(ball.at for ball in self.balls), *(plane.on for plane in self.planes)]

    @property
    def possible(self) -> int:
        """The number of pairs that may meet: members of one body never do."""
        bodies = [ball.at.body for ball in self.balls]
        together = sum(n * (n - 1) // 2 for n in map(bodies.count, set(bodies)))
        walls = len(self.planes) * sum(body != GROUND for body in bodies)
        return len(bodies) * (len(bodies) - 1) // 2 - together + walls

    @property
    def places(self) -> int:
        """The number of pairs that can be near at the same time."""
        return min(self.possible, PLACES_PER_BALL * len(self.balls) + len(self.planes) + LEAST_PLACES)

    @property
    def pairs(self) -> list[ContactPair]:
        """All pairs that may meet."""
        return [self.pair(a, b) for a, b in self._meeting]

    def named(self, names: Collection[str]) -> list[ContactPair]:
        """Its pairs among these names."""
        return [self.pair(a, b) for a, b in self._meeting if self._name(a, b) in names] if names else []

    @property
    def _meeting(self) -> Iterator[tuple[int, int]]:
        """The numbers of the members of all pairs that may meet."""
        carriers = [frame.body for frame in self.frames]
        return ((a, b) for a in range(len(self.balls)) for b in range(a + 1, len(carriers)) if carriers[a] != carriers[b])

    def _name(self, a: int, b: int) -> str:
        return f"{self.name} {self.names[a]} {self.names[b]}"

    @property
    def drawn(self) -> list[ContactPair]:
        """Pairs that have every plane."""
        return [self.pair(0, b) for b in range(len(self.balls), len(self.names))]

    def pair(self, a: int, b: int) -> ContactPair:
        """The pair of two members, by number: balls first."""
        others: list[Sphere | Plane] = [*self.balls, *self.planes]
        return ContactPair(self._name(a, b), self.balls[a], others[b], self.normal, self.friction)


def check_members(part: str, among: Any) -> tuple[list[Sphere], list[Plane]]:
    """The balls and the planes among the members of a group."""
    if not isinstance(among, Sequence) or isinstance(among, str):
        raise ModelError.of(part, "among", "must be a list of Spheres and Planes", among)
    for shape in among:
        if not isinstance(shape, (Sphere, Plane)):
            rule = "must hold Spheres and Planes only; let spheres touch another shape by contact(points=spheres, against=shape)"
            raise ModelError.of(part, "among", rule, shape)
        if isinstance(shape, Plane) and shape.on.body != GROUND:
            rule = "must hold planes on the ground only; let spheres touch one that moves by contact(points=spheres, against=plane)"
            raise ModelError.of(part, "among", rule, shape)
    if len(set(among)) < len(among):
        raise ModelError.of(part, "among", "must hold every shape once", next(one for one in among if among.count(one) > 1))
    balls = [shape for shape in among if isinstance(shape, Sphere)]
    bodies = {ball.at.body for ball in balls} | {plane.on.body for plane in among if isinstance(plane, Plane)}
    if not balls or len(bodies) < 2:
        raise ModelError.of(part, "among", "must hold shapes of at least two bodies, or a Sphere and a Plane", among)
    return balls, [shape for shape in among if isinstance(shape, Plane)]


def checked_friction(part: str, normal: NormalLaw, friction: FrictionLaw | BristleLaw | None) -> FrictionLaw | None:
    """The friction law. Laws that need more of a run than a pair of a group has are refused: states, solved forces, flags."""
    if isinstance(normal, (CustomNormal, Impulsive, JournalLaw)):
        rule = "must be a compliant law of pliant among shapes, such as HuntCrossley; others are for points= and against="
        raise ModelError.of(part, "normal", rule, normal)
    if friction is not None and (isinstance(friction, (BristleLaw, CustomFriction)) or friction.holds):
        rule = (
            "must be a law without states and without sticking among shapes, such as Coulomb or Threlfall; what must stick needs "
            "pairs, by points= and against="
        )
        raise ModelError.of(part, "friction", rule, friction)
    assert not isinstance(friction, BristleLaw)
    return friction


def plane_names(planes: Sequence[Plane]) -> list[str]:
    """plane 1, plane 2 ..."""
    return [f"plane {k + 1}" for k in range(len(planes))]
