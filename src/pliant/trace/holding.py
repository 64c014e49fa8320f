"""Solves for sticking friction and joint friction together in a trace.

Accelerations are affine in all friction: in the forces x of what sticks and in the sizes of what slips in joints. So are the slips'
rates and the reactions P that press the joints,

    slip' = b + D x + E phi,    P = P0 + A x + B phi,    phi_e = law(N_e),    N_i = preload_i + sum |P_i|.

What sticks is asked for slip' = -slip/STICK_TIME, which gives x as an affine function of phi; put into P that leaves one equation
per joint for its normal load N, solved by Newton's method with a fixed number of steps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import casadi as ca

from pliant.codegen.tracer import Scalar, Tracer
from pliant.dynamics.algebra import factorise, is_zero, substitute, total
from pliant.scalar import absolute, maximum, sqrt, where

# While a contact or a joint sticks, what slip is left dies away with this time constant, s: far below any motion of a mechanism,
# and slow enough for an explicit method not to notice.
STICK_TIME = 1e-3
# Contacts that hold one and the same motion, as the corners of a block do, share the force in proportion to their strength: of all
# forces that hold equally well those are taken with the least sum of h^2/strength. This, m/s^2, says what "equally" means: it
# is weighed against how strongly contacts can accelerate what they hold (about mu g), so that corners whose slips differ by
# round-off or by a rocking of micrometres do not strain against each other. It leaves a slip of STICK_TIME times the
# acceleration resisted times (HOLD_CREEP/mu g)^4, below round-off; where a contact is hardly forces, at most about
# STICK_TIME HOLD_CREEP/2, a few um/s.
HOLD_CREEP = 3e-3
# A pin is small against what it carries, and its friction may accelerate it far less than HOLD_CREEP: slips of joints are measured
# so that the strength of each gives it this, m/s^2, alone.
JOINT_HOLD = 30.0
# Of the acceleration asked for: a joint whose whole strength gives less cannot hold, and is not asked to: in a dead centre its
# friction does nothing to its own slip.
HARDLY = 1e-6
UNHELD = 1e-3  # of the acceleration asked for, and
AT_REST = 1e-9  # m/s^2: what may be left of it where a joint is held
SMALLEST_FORCE = 1e-30  # N: stands for the strength of what has none
NEWTON_STEPS = 6  # for the loads of joints: quadratic, and from one side (see `_loads`)
UNSOLVED = 1e-9  # of a joint's load: what these steps may leave of its equation


@dataclass(frozen=True)
class Holder:
    """One contact or joint that can hold: where its forces stand among the unknowns, its slip and whether it sticks."""

    unknowns: Sequence[int]
    slip: Sequence[Scalar]
    sticks: Scalar
    strength: Scalar  # N; of a joint per newton of its load
    joint: int | None = None  # its number among those that rub

    @property
    def is_joint(self) -> bool:
        return self.joint is not None


@dataclass(frozen=True)
class Rubber:
    """One joint that rubs: friction = size(N) along `direction`, over the unknowns; N = preload + sum |P|."""

    unknowns: Sequence[int]
    direction: Sequence[Scalar]
    size: Callable[[Scalar], Scalar]
    proportional: bool  # size(N) = N
    preload: Scalar
    pressing: Sequence[Sequence[Scalar]]  # P, N


@dataclass(frozen=True)
class Settled:
    """All unknown forces; the normal load of every joint; and how far the loads are from having no or several solutions."""

    forces: list[Scalar]
    loads: list[Scalar]
    surety: Scalar  # positive where the loads of joints are known: 1 less the factor by which friction feeds back on itself
    held: list[list[Scalar]]  # of every holder
    # Of every holder: the acceleration, m/s^2, that its own friction is asked for; and whether it can give it
    asked: list[list[Scalar]]
    reached: list[Scalar]


def settle(
    tracer: Tracer, column: ca.SX, holders: Sequence[Holder], rubbers: Sequence[Rubber], state: ca.SX, rates: Sequence[Scalar]
) -> Settled:
    """Solve for all friction that is unknown: `column` of symbols; state and rates: time among them."""
    slips = [s for holder in holders for s in holder.slip]
    parts = [part for rubber in rubbers for part in rubber.pressing]
    entries = tracer.directional(slips, state, tracer.column(rates)) if slips else []
    entries += [p for part in parts for p in part]
    at_zero, slopes = _affine(tracer, entries, column)
    n = len(slips)
    own = [k for holder in holders for k in holder.unknowns]
    # columns: x of what sticks, then phi of what rubs
    columns = [[row[k] for k in own] for row in slopes]
    sliding = [[total(row[k] * d for k, d in zip(r.unknowns, r.direction, strict=True)) for r in rubbers] for row in slopes]
    asked = [-s / STICK_TIME - b for s, b in zip(slips, at_zero[:n], strict=True)]
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
    """Of all unknowns: friction that slips, and what holds where it sticks."""
    forces: list[Scalar] = [0.0] * count
    for rubber, size in zip(rubbers, sizes, strict=True):
        for k, d in zip(rubber.unknowns, rubber.direction, strict=True):
            forces[k] = size * d
    for holder, own in zip(holders, _by_holder(holders, held), strict=True):
        for k, h in zip(holder.unknowns, own, strict=True):
            forces[k] = where(holder.sticks > 0.5, h, forces[k]) if holder.is_joint else h
    return forces


def _strong(holders: Sequence[Holder], rubbers: Sequence[Rubber], pressing: Sequence[Scalar]) -> list[Holder]:
    """With the strength of joints as it would be without friction: it decides only how those share that hold one motion."""
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
    """Values at zero of the unknowns, and slopes over them, of entries that are affine in them."""
    none = tracer.column([0.0] * column.numel())
    rows = tracer.jacobian(entries, column)
    at_zero = tracer.substitute(entries, column, none)
    return at_zero, [tracer.substitute(row, column, none) for row in rows]


def margin(forces: Sequence[Scalar], strength: Scalar) -> Scalar:
    """What is left of a strength, as a share; negative: it breaks away."""
    return 1.0 - sqrt(total(h * h for h in forces)) / maximum(strength, SMALLEST_FORCE)


# ---- what sticks


def _shared(
    response: Sequence[Sequence[Scalar]], holders: Sequence[Holder], rights: Sequence[Sequence[Scalar]]
) -> list[list[Scalar]]:
    """For each right-hand side h = W x, W^2 = strength times the strength of all; x has the least |D W x - asked|^2 + eps^2 |x|^2.

    That is unique however many hold one motion. It is improved once by what it left: iterated Tikhonov regularisation (Engl,
    Hanke, Neubauer 1996, 5.1). What does not stick has no strength, and nothing is asked of its slip.
    """
    sticks = [holder.sticks for holder in holders for _ in holder.slip]
    strengths = [where(holder.sticks > 0.5, holder.strength, 0.0) for holder in holders for _ in holder.slip]
    of_joints = [holder.is_joint for holder in holders for _ in holder.slip]
    count = range(len(sticks))
    response = [[where(sticks[i] > 0.5, x, 0.0) for x in row] for i, row in enumerate(response)]
    # of all that could act on the same slip: what has nothing to do with it must not set its scale
    everything = [total(strengths[j] for j in count if not is_zero(response[i][j])) for i in count]
    weights = [sqrt(maximum(s * every, SMALLEST_FORCE**2)) for s, every in zip(strengths, everything, strict=True)]
    reach = [[response[i][j] * weights[j] for j in count] for i in count]
    least = [maximum(HARDLY * absolute(a), SMALLEST_FORCE**2) for a in rights[0]]
    scales = [JOINT_HOLD / maximum(absolute(reach[i][i]), least[i]) if of_joints[i] else _heard(reach[i][i], any(of_joints))
              for i in count]  # fmt: skip
    reach = [[x if is_zero(x) else x * scales[i] for x in row] for i, row in enumerate(reach)]
    matrix = [[total(reach[k][i] * reach[k][j] for k in count) for j in count] for i in count]
    for i in count:
        matrix[i][i] = matrix[i][i] + HOLD_CREEP**2
    factors = factorise(matrix)
    return [_solved(factors, reach, weights, [a * scale for a, scale in zip(right, scales, strict=True)]) for right in rights]


def _heard(reach: Scalar, beside_joints: bool) -> Scalar:
    """How much the slip of a contact counts: next to joints nothing, where it is hardly pressed, for they would strain for it."""
    return reach * reach / (reach * reach + HOLD_CREEP**2) if beside_joints else 1.0


def _solved(
    factors: tuple[list[list[Scalar]], list[Scalar]], reach: list[list[Scalar]], weights: list[Scalar], asked: list[Scalar]
) -> list[Scalar]:
    count = range(len(asked))
    x = substitute(factors, [total(reach[k][i] * asked[k] for k in count) for i in count])
    left = [asked[k] - total(reach[k][i] * x[i] for i in count) for k in count]
    more = substitute(factors, [total(reach[k][i] * left[k] for k in count) for i in count])
    return [w * (a + b) for w, a, b in zip(weights, x, more, strict=True)]


# ---- what presses joints


def _loads(
    tracer: Tracer, rubbers: Sequence[Rubber], base: Sequence[Scalar], reach: Sequence[Sequence[Scalar]]
) -> tuple[list[Scalar], Scalar]:
    """N of all joints, N_i = preload_i + sum |base + reach phi(N)|, and how surely that has one solution.

    |P| is convex, so Newton's steps for one joint stay below the solution after the first and rise to it. Where the matrix of
    |d N_i / d N_j| has a spectral radius below one, there is one solution, and it is found; else there may be none or several
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
    off = total(absolute(x) / maximum(absolute(load), SMALLEST_FORCE) for x, load in zip(missed, loads, strict=True))
    feedback = [[_bound(part, reach, slopes, j) for j in count] for part in places]
    return loads, where(off > UNSOLVED, -1.0, 1.0 - _spectral_bound(feedback))


def _places(rubbers: Sequence[Rubber]) -> list[list[range]]:
    """Where the parts of every joint's P stand among all."""
    places, first = [], 0
    for rubber in rubbers:
        own = []
        for part in rubber.pressing:
            own.append(range(first, first + len(part)))
            first += len(part)
        places.append(own)
    return places


def _magnitude(vector: Sequence[Scalar]) -> Scalar:
    """Of a force; with a slope, zero, where it vanishes."""
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
    """The most by which one more newton on joint j can press this one."""
    live = [[reach[k][j] for k in part if not is_zero(reach[k][j])] for part in own]
    return absolute(slopes[j]) * total(_magnitude(part) for part in live if part)


def _spectral_bound(matrix: Sequence[Sequence[Scalar]]) -> Scalar:
    """Of a matrix without negative entries, above its spectral radius and near it: |C^4|^(1/4) by row sums; of one entry, that."""
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
    """Gauss without pivoting: the matrix is one less what contracts."""
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
