"""Solves for sticking friction and joint friction together in a trace.

Accelerations are affine in all friction: in the forces x of sticking contacts and joints, and in the magnitudes phi of the friction
in slipping joints. So are the rates of the slips and the reactions P that press the joints:

    slip' = b + D x + E phi,    P = P0 + A x + B phi,    phi_e = law(N_e),    N_i = preload_i + sum |P_i|.

Sticking requires slip' = -slip/STICK_TIME, which gives x as an affine function of phi. Substituted into P, this leaves one equation
per joint for its normal load N, solved by Newton's method with a fixed number of steps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import casadi as ca

from pliant.codegen.tracer import Scalar, Tracer
from pliant.dynamics.algebra import factorise, is_zero, substitute, total
from pliant.scalar import absolute, maximum, sqrt, where

# While a contact or a joint sticks, its remaining slip decays with this time constant, s: much faster than any motion of a
# mechanism, yet slow enough not to be stiff for an explicit method.
STICK_TIME = 1e-3
# Contacts that resist the same motion, as the corners of a block do, share the force in proportion to their strength: of all forces
# h that hold equally well, those with the least sum of h^2/strength are taken. This constant, m/s^2, says what "equally" means: it
# is compared with the acceleration that contacts can give to what they hold (about mu g), so that corners whose slips differ by
# round-off, or by rocking of micrometres, do not work against each other. It leaves a slip of STICK_TIME times the resisted
# acceleration times (HOLD_CREEP/mu g)^4, below round-off; for a contact with hardly any force, the slip is at most about
# STICK_TIME HOLD_CREEP/2, a few um/s.
HOLD_CREEP = 3e-3
# A pin is small compared with what it carries, and its friction may accelerate its slip by far less than HOLD_CREEP. Joint slips
# are therefore scaled so that each joint's own strength gives its slip this acceleration, m/s^2; so are those of impulsive contacts
# at rest, which have no strength, and whose forces are shared as if each had the one that gives this acceleration.
JOINT_HOLD = 30.0
# Fraction of the required acceleration: a joint whose full strength gives less than this cannot hold, and its sticking condition is
# dropped. At a dead centre, for example, a joint's friction has no effect on its own slip.
HARDLY = 1e-6
UNHELD = 1e-3  # of the required acceleration: a joint counts as held when it misses by less than this
AT_REST = 1e-9  # m/s^2: added to that bound
SMALLEST_FORCE = 1e-30  # N: replaces a strength of zero
NEWTON_STEPS = 6  # for the loads of joints: quadratic, and from one side (see `_loads`)
UNSOLVED = 1e-9  # of a joint's load: the residual that these steps may leave in its equation
HARDLY_LOADED = 1e-3  # of all loads: a smaller one, as where it reverses, is no measure of that, being round-off of the others


@dataclass(frozen=True)
class Holder:
    """One contact or joint that can stick: the indices of its forces among the unknowns, its slip and whether it sticks."""

    unknowns: Sequence[int]
    slip: Sequence[Scalar]
    sticks: Scalar
    strength: Scalar  # N; for a joint, per newton of its load
    joint: int | None = None  # its number among the joints with friction
    rigid: bool = False  # of an impulsive contact: its strength is not known before its normal force is, which is solved for too
    extra: Sequence[Scalar] = ()  # m/s^2: further deceleration that is asked for

    @property
    def is_joint(self) -> bool:
        return self.joint is not None


@dataclass(frozen=True)
class Rubber:
    """One joint with friction: friction = size(N) along `direction`, over the unknowns; N = preload + sum |P|."""

    unknowns: Sequence[int]
    direction: Sequence[Scalar]
    size: Callable[[Scalar], Scalar]
    proportional: bool  # size(N) = N
    preload: Scalar
    pressing: Sequence[Sequence[Scalar]]  # P, N


@dataclass(frozen=True)
class Settled:
    """All unknown forces, the normal load of every joint, and how far the loads are from having no or several solutions."""

    forces: list[Scalar]
    loads: list[Scalar]
    surety: Scalar  # 1 minus the factor by which friction feeds back on itself: where positive, the joints' loads are unique
    held: list[list[Scalar]]  # of every holder
    # Of every holder: the acceleration, m/s^2, that its own friction must supply, and whether it can
    asked: list[list[Scalar]]
    reached: list[Scalar]


def settle(
    tracer: Tracer, column: ca.SX, holders: Sequence[Holder], rubbers: Sequence[Rubber], state: ca.SX, rates: Sequence[Scalar]
) -> Settled:
    """Solve for all unknown friction; `column` holds its symbols, and state and rates include time."""
    slips = [s for holder in holders for s in holder.slip]
    parts = [part for rubber in rubbers for part in rubber.pressing]
    entries = tracer.directional(slips, state, tracer.column(rates)) if slips else []
    entries += [p for part in parts for p in part]
    at_zero, slopes = _affine(tracer, entries, column)
    n = len(slips)
    own = [k for holder in holders for k in holder.unknowns]
    # columns: x of sticking contacts and joints, then phi of joints with friction
    columns = [[row[k] for k in own] for row in slopes]
    sliding = [[total(row[k] * d for k, d in zip(r.unknowns, r.direction, strict=True)) for r in rubbers] for row in slopes]
    extra = [x for holder in holders for x in holder.extra or (0.0,) * len(holder.slip)]
    asked = [-s / STICK_TIME - more - b for s, more, b in zip(slips, extra, at_zero[:n], strict=True)]
    rights = [asked, *([-sliding[i][e] for i in range(n)] for e in range(len(rubbers)))]
    holders = _strong(holders, rubbers, at_zero[n:])
    shared = _shared(columns[:n], holders, rights) if n else [[] for _ in rights]
    base = [p + total(columns[n + k][j] * shared[0][j] for j in range(n)) for k, p in enumerate(at_zero[n:])]
    reach = [[sliding[n + k][e] + total(columns[n + k][j] * shared[1 + e][j] for j in range(n)) for e in range(len(rubbers))]
             for k in range(len(base))]  # fmt: skip
    loads, surety = _loads(tracer, rubbers, base, reach)
    sizes = [rubber.size(load) for rubber, load in zip(rubbers, loads, strict=True)]
    held = [total([shared[0][j], *(shared[1 + e][j] * size for e, size in enumerate(sizes))]) for j in range(n)]
    wanted = [a - total(sliding[i][e] * size for e, size in enumerate(sizes)) for i, a in enumerate(asked)]
    sticks = [holder.sticks for holder in holders for _ in holder.slip]
    active = [where(stick > 0.5, h, 0.0) for stick, h in zip(sticks, held, strict=True)]
    left = [w - total(columns[i][j] * active[j] for j in range(n)) for i, w in enumerate(wanted)]
    own_share = [gap + columns[i][i] * held[i] for i, gap in enumerate(left)]
    reached = [where(absolute(gap) > UNHELD * absolute(w) + AT_REST, 0.0, 1.0) for gap, w in zip(left, wanted, strict=True)]
    forces = _collected(column.numel(), holders, rubbers, held, sizes)
    return Settled(forces, loads, surety, _by_holder(holders, held), _by_holder(holders, own_share),
                   [_all(part) for part in _by_holder(holders, reached)])  # fmt: skip


def _by_holder(holders: Sequence[Holder], values: Sequence[Scalar]) -> list[list[Scalar]]:
    rest = iter(values)
    return [[next(rest) for _ in holder.slip] for holder in holders]


def _all(truths: Sequence[Scalar]) -> Scalar:
    every: Scalar = 1.0
    for truth in truths:
        every = every * truth
    return every


def _collected(
    count: int, holders: Sequence[Holder], rubbers: Sequence[Rubber], held: list[Scalar], sizes: list[Scalar]
) -> list[Scalar]:
    """Values of all unknowns: slip friction, or the holding force where it sticks."""
    forces: list[Scalar] = [0.0] * count
    for rubber, size in zip(rubbers, sizes, strict=True):
        for k, d in zip(rubber.unknowns, rubber.direction, strict=True):
            forces[k] = size * d
    for holder, own in zip(holders, _by_holder(holders, held), strict=True):
        for k, h in zip(holder.unknowns, own, strict=True):
            forces[k] = where(holder.sticks > 0.5, h, forces[k]) if holder.is_joint else h
    return forces


def _strong(holders: Sequence[Holder], rubbers: Sequence[Rubber], pressing: Sequence[Scalar]) -> list[Holder]:
    """Holders with joint strengths for loads without friction: these decide only how holders of the same motion share the force."""
    places = _places(rubbers)
    strong = []
    for holder in holders:
        if holder.joint is None:
            strong.append(holder)
            continue
        load = total(_magnitude([pressing[k] for k in part]) for part in places[holder.joint])
        strong.append(replace(holder, strength=holder.strength * (rubbers[holder.joint].preload + load)))
    return strong


def _affine(tracer: Tracer, entries: Sequence[Scalar], column: ca.SX) -> tuple[list[Scalar], list[list[Scalar]]]:
    """For entries that are affine in the unknowns: their values at zero unknowns, and their slopes."""
    none = tracer.column([0.0] * column.numel())
    rows = tracer.jacobian(entries, column)
    at_zero = tracer.substitute(entries, column, none)
    return at_zero, [tracer.substitute(row, column, none) for row in rows]


def margin(forces: Sequence[Scalar], strength: Scalar) -> Scalar:
    """The unused fraction of a strength; negative when the contact or joint breaks away."""
    return 1.0 - sqrt(total(h * h for h in forces)) / maximum(strength, SMALLEST_FORCE)


# ---- sticking contacts and joints


def _shared(
    response: Sequence[Sequence[Scalar]], holders: Sequence[Holder], rights: Sequence[Sequence[Scalar]]
) -> list[list[Scalar]]:
    """For each right-hand side h = W x, W^2 = strength times the total strength; x minimises |D W x - asked|^2 + eps^2 |x|^2.

    The solution is unique however many hold the same motion. It is refined once with its residual: iterated Tikhonov regularisation
    (Engl, Hanke, Neubauer 1996, 5.1). A contact or joint that does not stick has no strength and no condition on its slip.
    """
    sticks = [holder.sticks for holder in holders for _ in holder.slip]
    scaled = [holder.is_joint or holder.rigid for holder in holders for _ in holder.slip]
    strengths = [holder.strength for holder in holders for _ in holder.slip]
    for i in [i for i, holder in enumerate(holder for holder in holders for _ in holder.slip) if holder.rigid]:
        strengths[i] = JOINT_HOLD / maximum(absolute(response[i][i]), SMALLEST_FORCE)
    strengths = [where(stick > 0.5, strength, 0.0) for stick, strength in zip(sticks, strengths, strict=True)]
    count = range(len(sticks))
    response = [[where(sticks[i] > 0.5, x, 0.0) for x in row] for i, row in enumerate(response)]
    # Total strength of those that act on the same slip; unrelated ones must not set its scale.
    everything = [total(strengths[j] for j in count if not is_zero(response[i][j])) for i in count]
    weights = [sqrt(maximum(s * every, SMALLEST_FORCE**2)) for s, every in zip(strengths, everything, strict=True)]
    reach = [[response[i][j] * weights[j] for j in count] for i in count]
    # |a| without its corner, where steps with derivatives would be cut for nothing: this bound hardly ever decides
    least = [maximum(HARDLY * sqrt(a * a + SMALLEST_FORCE**2), SMALLEST_FORCE**2) for a in rights[0]]
    scales = [JOINT_HOLD / maximum(absolute(reach[i][i]), least[i]) if scaled[i] else _heard(reach[i][i], any(scaled))
              for i in count]  # fmt: skip
    reach = [[x if is_zero(x) else x * scales[i] for x in row] for i, row in enumerate(reach)]
    matrix = [[total(reach[k][i] * reach[k][j] for k in count) for j in count] for i in count]
    for i in count:
        matrix[i][i] = matrix[i][i] + HOLD_CREEP**2
    factors = factorise(matrix)
    return [_solved(factors, reach, weights, [a * scale for a, scale in zip(right, scales, strict=True)]) for right in rights]


def _heard(reach: Scalar, beside_joints: bool) -> Scalar:
    """The weight of a contact's slip; beside joints it vanishes for a hardly pressed contact, for which the joints would strain."""
    return reach * reach / (reach * reach + HOLD_CREEP**2) if beside_joints else 1.0


def _solved(
    factors: tuple[list[list[Scalar]], list[Scalar]], reach: list[list[Scalar]], weights: list[Scalar], asked: list[Scalar]
) -> list[Scalar]:
    count = range(len(asked))
    x = substitute(factors, [total(reach[k][i] * asked[k] for k in count) for i in count])
    left = [asked[k] - total(reach[k][i] * x[i] for i in count) for k in count]
    more = substitute(factors, [total(reach[k][i] * left[k] for k in count) for i in count])
    return [w * (a + b) for w, a, b in zip(weights, x, more, strict=True)]


# ---- loads of joints


def _loads(
    tracer: Tracer, rubbers: Sequence[Rubber], base: Sequence[Scalar], reach: Sequence[Sequence[Scalar]]
) -> tuple[list[Scalar], Scalar]:
    """N of all joints from N_i = preload_i + sum |base + reach phi(N)|, and the margin of uniqueness.

    |P| is convex, so for one joint Newton's iterates after the first stay below the solution and rise to it. If the matrix of
    |d N_i / d N_j| has a spectral radius below one, the solution is unique and is found; otherwise there may be none or several
    (self-locking, Painleve's paradox).
    """
    if not rubbers:
        return [], 1.0
    count, places = range(len(rubbers)), _places(rubbers)
    loads = [r.preload + total(_magnitude([base[k] for k in part]) for part in own)
             for r, own in zip(rubbers, places, strict=True)]  # fmt: skip
    for _ in range(NEWTON_STEPS):
        sizes, slopes = _sizes(tracer, rubbers, loads)
        missed, matrix = [], []
        for i in count:
            pressed, along = _pressed(places[i], base, reach, sizes, slopes)
            missed.append(rubbers[i].preload + pressed - loads[i])
            matrix.append([(1.0 if i == j else 0.0) - along[j] for j in count])
        loads = [load + step for load, step in zip(loads, _eliminated(matrix, missed), strict=True)]
    sizes, slopes = _sizes(tracer, rubbers, loads)
    missed = [rubbers[i].preload + _pressed(places[i], base, reach, sizes, slopes)[0] - loads[i] for i in count]
    least = maximum(HARDLY_LOADED * total(absolute(load) for load in loads), SMALLEST_FORCE)
    off = total(absolute(x) / maximum(absolute(load), least) for x, load in zip(missed, loads, strict=True))
    feedback = [[_bound(part, reach, slopes, j) for j in count] for part in places]
    return loads, where(off > UNSOLVED, -1.0, 1.0 - _spectral_bound(feedback))


def _places(rubbers: Sequence[Rubber]) -> list[list[range]]:
    """For every joint, the index ranges of the parts of its P."""
    places, first = [], 0
    for rubber in rubbers:
        own = []
        for part in rubber.pressing:
            own.append(range(first, first + len(part)))
            first += len(part)
        places.append(own)
    return places


def _magnitude(vector: Sequence[Scalar]) -> Scalar:
    """The magnitude of a force, with slope zero where it vanishes."""
    if len(vector) == 1:
        return absolute(vector[0])
    return sqrt(total(x * x for x in vector) + SMALLEST_FORCE**2)


def _sizes(tracer: Tracer, rubbers: Sequence[Rubber], loads: Sequence[Scalar]) -> tuple[list[Scalar], list[Scalar]]:
    """phi(N) and dphi/dN."""
    sizes, slopes = [rubber.size(load) for rubber, load in zip(rubbers, loads, strict=True)], []
    for rubber, load in zip(rubbers, loads, strict=True):
        if rubber.proportional:
            slopes.append(1.0)
            continue
        column, (normal,) = tracer.symbols("normal", 1)
        slope = tracer.directional([rubber.size(normal)], column, ca.SX(1.0))
        slopes += tracer.substitute(slope, column, tracer.column([load]))
    return sizes, slopes


def _pressed(
    own: Sequence[range], base: Sequence[Scalar], reach: Sequence[Sequence[Scalar]], sizes: Sequence[Scalar],
    slopes: Sequence[Scalar],
) -> tuple[Scalar, list[Scalar]]:  # fmt: skip
    """sum |P| of one joint and its derivatives along all N."""
    pressed: Scalar = 0.0
    along: list[Scalar] = [0.0] * len(sizes)
    for part in own:
        force = [base[k] + total(reach[k][e] * size for e, size in enumerate(sizes) if not is_zero(reach[k][e])) for k in part]
        size = _magnitude(force)
        pressed = pressed + size
        unit = [f / maximum(size, SMALLEST_FORCE) for f in force]
        for j, slope in enumerate(slopes):
            if not all(is_zero(reach[k][j]) for k in part):
                along[j] = along[j] + slope * total(u * reach[k][j] for u, k in zip(unit, part, strict=True))
    return pressed, along


def _bound(own: Sequence[range], reach: Sequence[Sequence[Scalar]], slopes: Sequence[Scalar], j: int) -> Scalar:
    """An upper bound on the change of this joint's load per newton of load on joint j."""
    live = [[reach[k][j] for k in part if not is_zero(reach[k][j])] for part in own]
    return absolute(slopes[j]) * total(_magnitude(part) for part in live if part)


def _spectral_bound(matrix: Sequence[Sequence[Scalar]]) -> Scalar:
    """A close upper bound on the spectral radius of a non-negative matrix: |C^4|^(1/4) by row sums; for one entry, the entry."""
    if len(matrix) == 1:
        return matrix[0][0]
    count = range(len(matrix))
    squared = [[total(matrix[i][k] * matrix[k][j] for k in count) for j in count] for i in count]
    fourth = [[total(squared[i][k] * squared[k][j] for k in count) for j in count] for i in count]
    largest: Scalar = 0.0
    for row in fourth:
        largest = maximum(largest, total(row))
    return sqrt(sqrt(largest))


def _eliminated(matrix: list[list[Scalar]], right: list[Scalar]) -> list[Scalar]:
    """Gaussian elimination without pivoting: the matrix is the identity minus a contraction."""
    n = len(right)
    for k in range(n):
        inverse = 1.0 / matrix[k][k]
        for i in range(k + 1, n):
            if is_zero(matrix[i][k]):
                continue
            factor = matrix[i][k] * inverse
            for j in range(k + 1, n):
                matrix[i][j] = matrix[i][j] - factor * matrix[k][j]
            right[i] = right[i] - factor * right[k]
    x: list[Scalar] = [0.0] * n
    for k in reversed(range(n)):
        x[k] = (right[k] - total(matrix[k][j] * x[j] for j in range(k + 1, n) if not is_zero(matrix[k][j]))) / matrix[k][k]
    return x
