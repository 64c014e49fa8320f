"""Contact: gap, closing speed and slip of every pair, and the forces of their laws.

A sphere of radius r at x_A touches a plane with normal n, or another sphere, where n is along the line of centres. The force acts
on both bodies at the same point c = x_A - r n, so momentum is conserved and the power of the force is F . (v_A(c) - v_B(c)).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pliant.dynamics.algebra import ZERO, Scalar, Vec, add, cross, dot, is_zero, scale, sub, total, vanishes
from pliant.dynamics.along import fastest, touched_places
from pliant.dynamics.grip import SMALLEST_SPEED, Grip
from pliant.dynamics.kinematics import Pose, TreeState
from pliant.dynamics.loads import AppliedForces, at_place
from pliant.dynamics.pairs import touching
from pliant.dynamics.tangents import tangents_of
from pliant.dynamics.tree import ROOT, Place, Tree
from pliant.model.along import Along
from pliant.model.contact import ContactPair, Point, Sphere
from pliant.model.coordinate_pair import CoordinatePair, Pair
from pliant.model.friction_law import BristleLaw, FrictionLaw
from pliant.model.normal_law import Impulsive
from pliant.scalar import absolute, maximum, minimum, sqrt, where


@dataclass(frozen=True)
class ContactKinematics:
    """One contact pair at a state: positions and velocities of its surfaces."""

    pair: Pair
    places: tuple[Place, ...]  # two; none if the pair acts on a coordinate
    gap: Scalar  # m, negative in contact
    closing: Scalar  # m/s, rate of the penetration depth
    normal: Vec  # from B to A, world axes
    tangents: tuple[Vec, ...]  # world axes, without directions in which slip is impossible
    slip: tuple[Scalar, ...]  # m/s, velocity of A relative to B along the tangents
    point: Vec  # c, world axes
    centres: tuple[Vec, ...]  # origins of the places, world axes
    drift: Vec  # m/s, velocity of A's centre relative to B's, world axes
    turning: tuple[Vec, Vec]  # rad/s, angular velocities of the bodies that carry the two centres, in their own axes
    share: Scalar = 1.0  # of the law's force: what acts along the normal, where an edge and a rim cross
    efforts: tuple[tuple[int, Scalar], ...] = ()  # for a pair on a coordinate: index of the rate, and its effort per unit force

    @property
    def motion(self) -> tuple[Scalar, ...]:
        """The nine numbers that bound a step."""
        return (*self.drift, *self.turning[0], *self.turning[1])

    def acting(self, force: Scalar) -> Scalar:
        """What of a force of the law acts along the normal, N."""
        return force if isinstance(self.share, float) else self.share * force

    @property
    def speed(self) -> Scalar:
        """Magnitude of slip."""
        if len(self.slip) == 1:
            return absolute(self.slip[0])
        return sqrt(total(s * s for s in self.slip)) if self.slip else 0.0


@dataclass(frozen=True)
class ContactForce:
    """The forces of one pair, zero while it is open."""

    kinematics: ContactKinematics
    raw: Scalar  # N, value of the law, which may be negative (adhesive)
    force: Scalar  # N, force that acts
    elastic: Scalar  # N, part that derives from a potential
    stored: Scalar  # J
    friction: tuple[Scalar, ...]  # N on A along the tangents
    bristle_rates: tuple[Scalar, ...] = ()  # rates of the friction law's internal states
    strength: Scalar = 0.0  # N, largest force of a law that can stick
    grip: Grip | None = None  # state of a law that can stick

    @property
    def pressing(self) -> Scalar:
        """The force along the normal, N."""
        return self.kinematics.acting(self.force)

    @property
    def vector(self) -> Vec:
        """The force on A, in world axes."""
        return add(scale(self.pressing, self.kinematics.normal), self.friction_vector)

    @property
    def friction_vector(self) -> Vec:
        """The friction force on A, in world axes."""
        force = ZERO
        for t, f in zip(self.kinematics.tangents, self.friction, strict=True):
            force = add(force, scale(f, t))
        return force

    @property
    def powers(self) -> tuple[Scalar, Scalar]:
        """Power into the mechanism, W: (of the normal force without its potential part, of friction)."""
        lost = -(self.force - self.elastic) * self.kinematics.closing
        return lost, total(f * s for f, s in zip(self.friction, self.kinematics.slip, strict=True))


def contact_kinematics(state: TreeState, pairs: Sequence[Pair]) -> list[ContactKinematics]:
    return [_coordinate_kinematics(state.tree, pair, state.q, state.v) if isinstance(pair, CoordinatePair)
            else _pair_kinematics(state, pair) for pair in pairs]  # fmt: skip


def contact_force(
    kinematics: ContactKinematics,
    closed: Scalar,
    entry: Scalar,
    grip: Grip,
    bristles: Sequence[Scalar],
    held: Sequence[Scalar],
) -> ContactForce:
    """Normal and friction force; `closed` is 1 or 0, `entry` is the closing speed at first contact.

    If `entry` is negative, a compression with this entry speed is over: a larger closing speed replaces it.

    held: forces to be solved for by the caller: along the tangents of a law that sticks, and of an impulsive contact at rest.
    """
    law, friction = kinematics.pair.normal, kinematics.pair.friction
    depth = maximum(-kinematics.gap, 0.0)
    on = closed > 0.5
    if is_impulsive(kinematics):  # a run lets it go where it would pull
        *held, raw = held
        force = where(on, raw, 0.0)
    else:
        raw = law.force(depth, kinematics.closing, where(entry < 0.0, maximum(kinematics.closing, -entry), entry))
        force = where(on, raw if law.pulls else maximum(raw, 0.0), 0.0)
    stored_energy = law.stored(depth)  # a law without a potential has no elastic part: all its work goes into the ledger
    elastic = 0.0 if is_zero(stored_energy) else where(on, law.elastic(depth), 0.0)
    stored = where(on, stored_energy, 0.0)
    if friction is None or not kinematics.slip:
        return ContactForce(kinematics, raw, force, elastic, stored, (0.0,) * len(kinematics.slip))
    pressing = kinematics.acting(maximum(force, 0.0) if law.pulls else force)
    if isinstance(friction, BristleLaw):
        opposing, rates = _bristles(friction, kinematics, pressing, bristles, on)
        return ContactForce(kinematics, raw, force, elastic, stored, opposing, rates)
    sliding = _sliding(friction, kinematics, pressing)
    if not holds(kinematics):
        return ContactForce(kinematics, raw, force, elastic, stored, sliding)
    strength = friction.stiction(pressing)  # type: ignore[attr-defined]
    opposing = grip.friction(kinematics, strength, sliding, held)
    return ContactForce(kinematics, raw, force, elastic, stored, opposing, (), strength, grip)


def apply(state: TreeState, contact: ContactForce, applied: AppliedForces) -> None:
    """Apply the force to both bodies, or to the coordinates of the pair."""
    for number, share in contact.kinematics.efforts:
        applied.tau[number] = applied.tau[number] + share * contact.force
    if not contact.kinematics.places:
        return
    force = contact.vector
    for place, centre, sign in zip(contact.kinematics.places, contact.kinematics.centres, (1.0, -1.0), strict=True):
        if place.node == ROOT:
            continue
        rotation = state.bodies[place.node].rotation
        here = rotation.into(scale(sign, force))
        arm = rotation.into(sub(contact.kinematics.point, centre))
        load = at_place(state.tree, place, here, cross(arm, here), state.q, state.v)
        applied.loads[place.node] = applied.loads[place.node].plus(load)


def bristle_count(kinematics: ContactKinematics) -> int:
    """Number of internal states of a friction law: bristle deflections along the tangents, and a dwell state if it has one."""
    friction = kinematics.pair.friction
    return len(kinematics.slip) + friction.dwells if isinstance(friction, BristleLaw) and kinematics.slip else 0


def holds(kinematics: ContactKinematics) -> bool:
    """Whether a sticking force must be solved for."""
    return isinstance(kinematics.pair.friction, FrictionLaw) and kinematics.pair.friction.holds and bool(kinematics.slip)


def is_impulsive(kinematics: ContactKinematics) -> bool:
    return isinstance(kinematics.pair.normal, Impulsive)


def knocked(contact: ContactForce, knock: Sequence[Scalar]) -> ContactForce:
    """The contact with further forces along its normal and its tangents."""
    if not knock:
        return contact
    friction = tuple(f + more for f, more in zip(contact.friction, knock[1:], strict=True))
    return replace(contact, force=contact.force + knock[0], friction=friction)


LONGEST_TURN = 0.25  # rad per step: checks at its quarters miss at most 5e-4 of the radius of an arc


def longest_step(contacts: Sequence[ContactKinematics], changes: Sequence[Scalar] | None = None) -> Scalar | None:
    """The longest step in which no contact can be missed, even if the states are so smooth that any step would be accurate.

    Two spheres approach by at most the gap or half the sum of their radii, whichever is larger; planes and bores end in solid, so a
    body that has passed their surface is still behind it. The surface of a solid moves as it turns: shares of the way are left for
    it. Bodies turn by at most LONGEST_TURN, so that no end can dip into another body and out again between two checks. changes:
    rates of all `motion`, contact by contact; h then solves v h + a h^2/2 = way, not v h = way.
    """
    longest: Scalar | None = None
    for number, kinematics in enumerate(contacts):
        rates: Sequence[Scalar] = (0.0,) * 9 if changes is None else changes[9 * number : 9 * number + 9]
        pair, limits = kinematics.pair, [step_within(LONGEST_TURN, kinematics.motion[3:], rates[3:])]
        if isinstance(pair, ContactPair) and pair.thickness is not None:
            sizes = [(k, size) for k, size in zip((3, 6), pair.sizes, strict=True) if not is_zero(size)]
            way = maximum(kinematics.gap, 0.5 * pair.thickness) / (1.0 + len(sizes))
            limits.append(step_within(way, kinematics.motion[:3], rates[:3]))
            limits += [step_within(way / size, kinematics.motion[k : k + 3], rates[k : k + 3]) for k, size in sizes]
        for own in limits:
            if own is not None:
                longest = own if longest is None else minimum(longest, own)
    return longest


def step_within(way: Scalar, velocity: Sequence[Scalar], acceleration: Sequence[Scalar]) -> Scalar | None:
    """The time h, s, with v h + a h^2/2 = way; None if nothing moves."""
    if vanishes(velocity):
        return None
    v2, a2 = (total(x * x for x in vector if not is_zero(x)) for vector in (velocity, acceleration))
    reach = v2 if is_zero(a2) else v2 + 2.0 * way * sqrt(a2)
    return 2.0 * way / maximum(sqrt(v2) + sqrt(reach), SMALLEST_SPEED)


def _pair_kinematics(state: TreeState, pair: ContactPair) -> ContactKinematics:
    a, b, thinner = touched_places(state.tree, pair, state.bodies, state.q)
    ball, other = state.pose(a), state.pose(b)
    found = touching(pair, ball, other)
    normal, point = found.normal, found.point
    relative = sub(_velocity_at(state, a, ball, point), _velocity_at(state, b, other, point))
    tangents = tangents_of(normal)
    slips = [dot(t, relative) for t in tangents]
    live = [k for k, s in enumerate(slips) if not is_zero(s)]
    return ContactKinematics(
        pair=pair,
        places=(a, b),
        gap=found.gap + thinner,
        closing=-dot(normal, relative) if isinstance(found.share, float) else -found.share * dot(normal, relative),
        share=found.share,
        normal=normal,
        tangents=tuple(tangents[k] for k in live),
        slip=tuple(slips[k] for k in live),
        point=point,
        centres=(ball.position, other.position),
        drift=_drift(state, pair, (a, b), (ball, other)),
        turning=(turning(state, a, _directed(pair.ball)), turning(state, b, _directed(pair.against))),
    )


def _coordinate_kinematics(tree: Tree, pair: CoordinatePair, q: Sequence[Scalar], v: Sequence[Scalar]) -> ContactKinematics:
    """gap = side (limit - x), where x is a coordinate, or a - ratio b measured from the start; the force acts along -side x'."""
    weights = (1.0, -pair.ratio)[: len(pair.coordinates)]
    geared = len(pair.coordinates) > 1
    beyond, rate, efforts = pair.limit, 0.0, []
    for name, weight in zip(pair.coordinates, weights, strict=True):
        number = tree.rates.index(name)
        x = q[tree.positions.index(name)]
        beyond = beyond - weight * (x - tree.counted_from[name] if geared else x)
        rate = rate + weight * v[number]
        efforts.append((number, -pair.side * weight))
    return ContactKinematics(
        pair=pair,
        places=(),
        gap=pair.side * beyond,
        closing=pair.side * rate,
        normal=ZERO,
        tangents=(),
        slip=(),
        point=ZERO,
        centres=(),
        drift=ZERO,
        turning=(ZERO, ZERO),
        efforts=tuple(efforts),
    )


def _velocity_at(state: TreeState, place: Place, pose: Pose, point: Vec) -> Vec:
    """Velocity, in world axes, of the material of a body at a point."""
    if place.node == ROOT:
        return ZERO
    twist = state.twist(place)
    velocity = pose.rotation.out(twist.velocity)
    arm = sub(point, pose.position)
    return velocity if vanishes(arm) else add(velocity, cross(pose.rotation.out(twist.omega), arm))


def _directed(shape: object) -> bool:
    return not isinstance(shape, (Point, Sphere))


def _drift(state: TreeState, pair: ContactPair, places: tuple[Place, Place], poses: tuple[Pose, Pose]) -> Vec:
    """Velocity of the first shape relative to the second; of a beam that may be touched anywhere, at its fastest station."""
    one, other = (state.velocity(place, pose) for place, pose in zip(places, poses, strict=True))
    drift = sub(one, other)
    if pair.thickness is None:
        return drift
    for shape, seen_from in ((pair.ball, other), (pair.against, one)):
        if isinstance(shape, Along):
            fast = fastest(state, shape, seen_from)
            faster = dot(fast, fast) > dot(drift, drift)
            drift = tuple(where(faster, x, y) for x, y in zip(fast, drift, strict=True))
    return drift


def turning(state: TreeState, place: Place, directed: bool = False) -> Vec:
    """Angular velocity of the body that carries a place round; if the place is a body's own origin, that of its inboard body.

    A shape with a direction, such as a plane or a bore, always turns with its own body.
    """
    node = place.node
    at_origin = vanishes((*place.offset, *(x for field in place.displacement for x in field)))
    if node != ROOT and at_origin and not directed:
        node = state.tree.nodes[node].parent
    return ZERO if node == ROOT else state.moving[node].omega


def _sliding(law: FrictionLaw, kinematics: ContactKinematics, pressing: Scalar) -> tuple[Scalar, ...]:
    """-force(|s|, N) s / |s|."""
    speed = kinematics.speed
    size = law.force(speed, pressing)
    safe = maximum(speed, SMALLEST_SPEED)
    return tuple(-size * (s / safe) for s in kinematics.slip)


def _bristles(
    law: BristleLaw, kinematics: ContactKinematics, pressing: Scalar, bristles: Sequence[Scalar], on: Scalar
) -> tuple[tuple[Scalar, ...], tuple[Scalar, ...]]:
    count = len(kinematics.slip)
    deflections, dwell = bristles[:count], bristles[count] if law.dwells else 0.0
    rates = [law.deflection_rate(s, z, kinematics.speed, pressing) for s, z in zip(kinematics.slip, deflections, strict=True)]
    if law.dwells:
        rates.append(law.dwell_rate(dwell, kinematics.speed))
    forces = law.forces(kinematics.slip, deflections, kinematics.speed, pressing, dwell)
    return tuple(-force for force in forces), tuple(where(on, rate, 0.0) for rate in rates)
