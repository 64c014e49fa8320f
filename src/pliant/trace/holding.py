"""Solves for sticking friction and joint friction together in a trace.

Accelerations are affine in all friction: in the forces x of sticking contacts and joints, and in the magnitudes phi of the friction
in slipping joints. So are the rates of the slips and the reactions P that press the joints:

    slip' = b + D x + E phi,    P = P0 + A x + B phi,    phi_e = law(N_e),    N_i = preload_i + sum |P_i|.

Sticking requires slip' = -slip/STICK_TIME, which gives x as an affine function of phi. Substituted into P, this leaves one equation
per joint for its normal load N, solved by Newton's method with a fixed number of steps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import casadi as ca

from pliant.codegen.tracer import Scalar, Tracer
from pliant.dynamics.algebra import factorise, inner, is_zero, substitute, total
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
MIN_AUTHORITY = 1e-6
UNHELD = 1e-3  # of the required acceleration: a joint counts as held when it misses by less than this
AT_REST = 1e-9  # m/s^2: added to that bound
SMALLEST_FORCE = 1e-30  # N: replaces a strength of zero
DEPENDENT = 1e-7  # of a length: what forces give a rate beyond what they give others, if less, is round-off
NEWTON_STEPS = 6  # for the loads of joints: quadratic, and from one side (see `_loads`)
UNSOLVED = 1e-9  # of a joint's load: the residual that these steps may leave in its equation
HARDLY_LOADED = 1e-3  # of all loads: a smaller one, as where it reverses, is no measure of that, being round-off of the others


@dataclass(frozen=True)
class StickingContact:
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
class FrictionJoint:
    """One joint with friction: friction = size(N) along `direction`, over the unknowns; N = preload + sum |P|."""

    unknowns: Sequence[int]
    direction: Sequence[Scalar]
    size: Callable[[Scalar], Scalar]
    proportional: bool  # size(N) = N
    preload: Scalar
    pressing: Sequence[Sequence[Scalar]]  # P, N


@dataclass(frozen=True)
class FrictionSolution:
    """All unknown forces, the normal load of every joint, and how far the loads are from having no or several solutions."""

    forces: list[Scalar]
    loads: list[Scalar]
    uniqueness_margin: Scalar  # 1 minus the factor by which friction feeds back on itself: positive where loads are unique
    held: list[list[Scalar]]  # of every holder
    # Of every holder: the acceleration, m/s^2, that its own friction must supply, and whether it can
    asked: list[list[Scalar]]
    reached: list[Scalar]


def solve_friction(
    tracer: Tracer,
    column: ca.SX,
    holders: Sequence[StickingContact],
    frictional: Sequence[FrictionJoint],
    state: ca.SX,
    rates: Sequence[Scalar],
) -> FrictionSolution:
    """Solve for all unknown friction; `column` holds its symbols, and state and rates include time."""
    slips = [s for holder in holders for s in holder.slip]
    parts = [p for joint in frictional for part in joint.pressing for p in part]
    none, n = tracer.column([0.0] * column.numel()), len(slips)
    own = [k for holder in holders for k in holder.unknowns]
    # columns: x of sticking contacts and joints, then phi of joints with friction
    free = tracer.substitute(tracer.directional(slips, state, tracer.column(rates)), column, none) if slips else []
    response = Response.of(tracer, slips, state, rates, column, own)
    sliding = [response.slips({k: d for k, d in zip(r.unknowns, r.direction, strict=True)}) for r in frictional]
    base, columns, beside = _affine(tracer, parts, column, own, frictional)
    extra = [x for holder in holders for x in holder.extra or (0.0,) * len(holder.slip)]
    asked = [-s / STICK_TIME - more - b for s, more, b in zip(slips, extra, free, strict=True)]
    rights = [asked, *([-x for x in rubbed] for rubbed in sliding)]
    holders = _strong(holders, frictional, base)
    shared = _shared(response, holders, rights) if n else [[] for _ in rights]
    base = [p + total(columns[k][j] * shared[0][j] for j in range(n)) for k, p in enumerate(base)]
    reach = [[beside[k][e] + total(columns[k][j] * shared[1 + e][j] for j in range(n)) for e in range(len(frictional))]
             for k in range(len(base))]  # fmt: skip
    loads, uniqueness_margin = _loads(tracer, frictional, base, reach)
    sizes = [joint.size(load) for joint, load in zip(frictional, loads, strict=True)]
    held = [total([shared[0][j], *(shared[1 + e][j] * size for e, size in enumerate(sizes))]) for j in range(n)]
    wanted = [a - total(sliding[e][i] * size for e, size in enumerate(sizes)) for i, a in enumerate(asked)]
    sticks = [holder.sticks for holder in holders for _ in holder.slip]
    active = [where(stick > 0.5, h, 0.0) for stick, h in zip(sticks, held, strict=True)]
    left = [w - given for w, given in zip(wanted, response.slips(dict(zip(own, active, strict=True))), strict=True)]
    own_share = [gap + response.diagonal[i] * held[i] for i, gap in enumerate(left)]
    reached = [where(absolute(gap) > UNHELD * absolute(w) + AT_REST, 0.0, 1.0) for gap, w in zip(left, wanted, strict=True)]
    forces = _collected(column.numel(), holders, frictional, held, sizes)
    return FrictionSolution(forces, loads, uniqueness_margin, _by_holder(holders, held), _by_holder(holders, own_share),
                   [_all(part) for part in _by_holder(holders, reached)])  # fmt: skip


def _by_holder(holders: Sequence[StickingContact], values: Sequence[Scalar]) -> list[list[Scalar]]:
    rest = iter(values)
    return [[next(rest) for _ in holder.slip] for holder in holders]


def _all(truths: Sequence[Scalar]) -> Scalar:
    every: Scalar = 1.0
    for truth in truths:
        every = every * truth
    return every


def _collected(
    count: int, holders: Sequence[StickingContact], frictional: Sequence[FrictionJoint], held: list[Scalar], sizes: list[Scalar]
) -> list[Scalar]:
    """Values of all unknowns: slip friction, or the holding force where it sticks."""
    forces: list[Scalar] = [0.0] * count
    for joint, size in zip(frictional, sizes, strict=True):
        for k, d in zip(joint.unknowns, joint.direction, strict=True):
            forces[k] = size * d
    for holder, own in zip(holders, _by_holder(holders, held), strict=True):
        for k, h in zip(holder.unknowns, own, strict=True):
            forces[k] = where(holder.sticks > 0.5, h, forces[k]) if holder.is_joint else h
    return forces


def _strong(
    holders: Sequence[StickingContact], frictional: Sequence[FrictionJoint], pressing: Sequence[Scalar]
) -> list[StickingContact]:
    """Holders with joint strengths for loads without friction: these decide only how holders of the same motion share the force."""
    places = _places(frictional)
    strong = []
    for holder in holders:
        if holder.joint is None:
            strong.append(holder)
            continue
        load = total(_magnitude([pressing[k] for k in part]) for part in places[holder.joint])
        strong.append(replace(holder, strength=holder.strength * (frictional[holder.joint].preload + load)))
    return strong


def _affine(
    tracer: Tracer, entries: Sequence[Scalar], column: ca.SX, own: Sequence[int], frictional: Sequence[FrictionJoint]
) -> tuple[list[Scalar], list[list[Scalar]], list[list[Scalar]]]:
    """For entries that are affine in the unknowns: their values at zero unknowns, their slopes by x, and by phi."""
    if not entries:
        return [], [], []
    none = tracer.column([0.0] * column.numel())
    slopes = [tracer.substitute(row, column, none) for row in tracer.jacobian(entries, column)]
    by_size = [[total(row[k] * d for k, d in zip(r.unknowns, r.direction, strict=True)) for r in frictional] for row in slopes]
    return tracer.substitute(entries, column, none), [[row[k] for k in own] for row in slopes], by_size


def margin(forces: Sequence[Scalar], strength: Scalar) -> Scalar:
    """The unused fraction of a strength; negative when the contact or joint breaks away."""
    return 1.0 - sqrt(total(h * h for h in forces)) / maximum(strength, SMALLEST_FORCE)


# ---- sticking contacts and joints


@dataclass(frozen=True)
class Response:
    """slip' = ... + J G f: unknown forces f give rates of the state, and these the slips. D = J G has no more ranks than rates.

    So the corners of a block, or a hundred points under it, cost what six rates cost, not what a matrix of their own would.
    """

    moves: list[dict[int, Scalar]]  # J by slip, then by rate
    gives: list[dict[int, Scalar]]  # G by unknown, then by rate
    own: Sequence[int]  # the unknown that acts along each slip

    @staticmethod
    def of(
        tracer: Tracer, slips: Sequence[Scalar], state: ca.SX, rates: Sequence[Scalar], column: ca.SX, own: Sequence[int]
    ) -> Response:
        if not slips:
            return Response([], [{} for _ in range(column.numel())], own)
        moves, gives = tracer.sparse_jacobian(slips, state), [dict[int, Scalar]() for _ in range(column.numel())]
        none = tracer.column([0.0] * column.numel())
        for k in sorted({k for row in moves for k in row}):
            slopes = tracer.sparse_jacobian([rates[k]], column)[0]
            for unknown, slope in zip(slopes, tracer.substitute([*slopes.values()], column, none), strict=True) if slopes else ():
                gives[unknown][k] = slope
        answering = {k for given in gives for k in given}
        return Response([{k: x for k, x in row.items() if k in answering} for row in moves], gives, own)

    def slips(self, forces: Mapping[int, Scalar]) -> list[Scalar]:
        """The changes of slip' by forces, which are given by unknown."""
        given: dict[int, list[Scalar]] = {}
        for unknown, force in forces.items():
            for k, x in self.gives[unknown].items():
                given.setdefault(k, []).append(x * force)
        changes = {k: total(each) for k, each in given.items()}
        return [total(x * changes[k] for k, x in row.items() if k in changes) for row in self.moves]

    @cached_property
    def diagonal(self) -> list[Scalar]:
        """Of D: of each slip by the force along it."""
        return [_product(row, self.gives[k]) for row, k in zip(self.moves, self.own, strict=True)]


def _product(a: Mapping[int, Scalar], b: Mapping[int, Scalar]) -> Scalar:
    return total(x * b[k] for k, x in a.items() if k in b)


def _shared(response: Response, holders: Sequence[StickingContact], rights: Sequence[Sequence[Scalar]]) -> list[list[Scalar]]:
    """For each right-hand side h = W x, W^2 = strength times the total strength; x minimises |D W x - asked|^2 + eps^2 |x|^2.

    The solution is unique however many hold the same motion. It is refined once with its residual: iterated Tikhonov regularisation
    (Engl, Hanke, Neubauer 1996, 5.1). A contact or joint that does not stick has no strength and no condition on its slip.
    """
    sticks = [holder.sticks for holder in holders for _ in holder.slip]
    scaled = [holder.is_joint or holder.rigid for holder in holders for _ in holder.slip]
    strengths = [holder.strength for holder in holders for _ in holder.slip]
    for i in [i for i, holder in enumerate(holder for holder in holders for _ in holder.slip) if holder.rigid]:
        strengths[i] = JOINT_HOLD / maximum(absolute(where(sticks[i] > 0.5, response.diagonal[i], 0.0)), SMALLEST_FORCE)
    strengths = [where(stick > 0.5, strength, 0.0) for stick, strength in zip(sticks, strengths, strict=True)]
    count, gives = range(len(sticks)), [response.gives[k] for k in response.own]
    # Total strength of those that act on the same slip; unrelated ones must not set its scale.
    everything = _totals(response.moves, gives, strengths)
    weights = [sqrt(maximum(s * every, SMALLEST_FORCE**2)) for s, every in zip(strengths, everything, strict=True)]
    rows = [{k: where(sticks[i] > 0.5, x, 0.0) for k, x in response.moves[i].items()} for i in count]
    forces = [{k: weights[j] * x for k, x in gives[j].items()} for j in count]
    diagonal = [_product(rows[i], forces[i]) for i in count]
    # |a| without its corner, where steps with derivatives would be cut for nothing: this bound hardly ever decides
    least = [maximum(MIN_AUTHORITY * sqrt(a * a + SMALLEST_FORCE**2), SMALLEST_FORCE**2) for a in rights[0]]
    scales = [JOINT_HOLD / maximum(absolute(diagonal[i]), least[i]) if scaled[i] else _heard(diagonal[i], any(scaled))
              for i in count]  # fmt: skip
    rows = [{k: x * scales[i] for k, x in row.items()} for i, row in enumerate(rows)]
    solve = _of_rates(rows, forces) if len({k for row in rows for k in row}) < len(rows) else _of_forces(rows, forces)
    found = [solve([a * scale for a, scale in zip(right, scales, strict=True)]) for right in rights]
    return [[w * x for w, x in zip(weights, each, strict=True)] for each in found]


def _totals(
    moves: Sequence[Mapping[int, Scalar]], gives: Sequence[Mapping[int, Scalar]], strengths: Sequence[Scalar]
) -> list[Scalar]:
    """For each slip, the sum of the strengths that act on it, each sum made once."""
    sums: dict[frozenset[int], Scalar] = {}
    for row in moves:
        if frozenset(row) not in sums:
            sums[frozenset(row)] = total(s for s, own in zip(strengths, gives, strict=True) if not own.keys().isdisjoint(row))
    return [sums[frozenset(row)] for row in moves]


Solve = Callable[[Sequence[Scalar]], list[Scalar]]


def _of_forces(rows: Sequence[Mapping[int, Scalar]], forces: Sequence[Mapping[int, Scalar]]) -> Solve:
    """x of (R^T R + eps^2) x = R^T a, R = rows forces: one equation for each force."""
    count = range(len(rows))
    reach = [[_product(row, own) for own in forces] for row in rows]
    matrix = [[total(reach[k][i] * reach[k][j] for k in count) for j in count] for i in count]
    for i in count:
        matrix[i][i] = matrix[i][i] + HOLD_CREEP**2
    factors = factorise(matrix)

    def of(asked: Sequence[Scalar]) -> list[Scalar]:
        return substitute(factors, [total(reach[k][i] * asked[k] for k in count) for i in count])

    def solve(asked: Sequence[Scalar]) -> list[Scalar]:
        x = of(asked)
        more = of([asked[k] - total(reach[k][i] * x[i] for i in count) for k in count])
        return [a + b for a, b in zip(x, more, strict=True)]

    return solve


def _of_rates(rows: Sequence[Mapping[int, Scalar]], forces: Sequence[Mapping[int, Scalar]]) -> Solve:
    """The same x with one equation for each rate: forces = Q T, x = Q z, (T R^T R T^T + eps^2) z = T R^T a, R = rows."""
    rates = sorted({k for row in rows for k in row})
    basis, triangle = _orthogonal([{j: own[k] for j, own in enumerate(forces) if k in own} for k in rates])
    count, squares = range(len(rates)), _squares(rows, rates)
    matrix = _congruent(triangle, squares)
    for i in count:
        matrix[i][i] = matrix[i][i] + HOLD_CREEP**2
    factors = factorise(matrix)

    def of(asked: Sequence[Scalar]) -> list[Scalar]:
        heard = [total(row[k] * a for row, a in zip(rows, asked, strict=True) if k in row) for k in rates]
        z = substitute(factors, [inner(own, heard) for own in triangle])
        x: dict[int, list[Scalar]] = {}
        for own, size in zip(basis, z, strict=True):
            for j, q in own.items():
                x.setdefault(j, []).append(q * size)
        return [total(x.get(j, ())) for j in range(len(forces))]

    def solve(asked: Sequence[Scalar]) -> list[Scalar]:
        x = of(asked)
        given = {k: total(own[k] * size for own, size in zip(forces, x, strict=True) if k in own) for k in rates}
        more = of([a - total(b * given[k] for k, b in row.items()) for a, row in zip(asked, rows, strict=True)])
        return [a + b for a, b in zip(x, more, strict=True)]

    return solve


def _orthogonal(columns: Sequence[Mapping[int, Scalar]]) -> tuple[list[dict[int, Scalar]], list[list[Scalar]]]:
    """Columns = Q T by Gram and Schmidt, T given by rows; where a column depends on those before it, that of Q is zero."""
    basis: list[dict[int, Scalar]] = []
    triangle = [[0.0] * len(columns) for _ in columns]
    for k, column in enumerate(columns):
        left, whole = dict(column), _product(column, column)
        for i, own in enumerate(basis):
            triangle[i][k] = share = _product(own, left)
            left = {j: left.get(j, 0.0) - share * own.get(j, 0.0) for j in left.keys() | own.keys()} if not is_zero(share) else left
        square = _product(left, left)
        free = where(square > DEPENDENT**2 * whole, 1.0, 0.0)
        length = sqrt(maximum(square, SMALLEST_FORCE**2))
        triangle[k][k] = free * length
        basis.append({j: free * x / length for j, x in left.items()})
    return basis, triangle


def _congruent(triangle: Sequence[Sequence[Scalar]], squares: Sequence[Sequence[Scalar]]) -> list[list[Scalar]]:
    """T S T^T."""
    half = [[inner(own, row) for own in triangle] for row in squares]
    count = range(len(squares))
    return [[inner(triangle[i], [row[j] for row in half]) for j in count] for i in count]


def _squares(rows: Sequence[Mapping[int, Scalar]], columns: Sequence[int]) -> list[list[Scalar]]:
    """The products of all columns with each other."""
    lower = [
        [total(row[i] * row[j] for row in rows if i in row and j in row) for j in columns[: n + 1]] for n, i in enumerate(columns)
    ]
    return [[lower[max(i, j)][min(i, j)] for j in range(len(columns))] for i in range(len(columns))]


def _heard(reach: Scalar, beside_joints: bool) -> Scalar:
    """The weight of a contact's slip; beside joints it vanishes for a hardly pressed contact, for which the joints would strain."""
    return reach * reach / (reach * reach + HOLD_CREEP**2) if beside_joints else 1.0


# ---- loads of joints


def _loads(
    tracer: Tracer, frictional: Sequence[FrictionJoint], base: Sequence[Scalar], reach: Sequence[Sequence[Scalar]]
) -> tuple[list[Scalar], Scalar]:
    """N of all joints from N_i = preload_i + sum |base + reach phi(N)|, and the margin of uniqueness.

    |P| is convex, so for one joint Newton's iterates after the first stay below the solution and rise to it. If the matrix of
    |d N_i / d N_j| has a spectral radius below one, the solution is unique and is found; otherwise there may be none or several
    (self-locking, Painleve's paradox).
    """
    if not frictional:
        return [], 1.0
    count, places = range(len(frictional)), _places(frictional)
    loads = [r.preload + total(_magnitude([base[k] for k in part]) for part in own)
             for r, own in zip(frictional, places, strict=True)]  # fmt: skip
    for _ in range(NEWTON_STEPS):
        sizes, slopes = _sizes(tracer, frictional, loads)
        missed, matrix = [], []
        for i in count:
            pressed, along = _pressed(places[i], base, reach, sizes, slopes)
            missed.append(frictional[i].preload + pressed - loads[i])
            matrix.append([(1.0 if i == j else 0.0) - along[j] for j in count])
        loads = [load + step for load, step in zip(loads, _eliminated(matrix, missed), strict=True)]
    sizes, slopes = _sizes(tracer, frictional, loads)
    missed = [frictional[i].preload + _pressed(places[i], base, reach, sizes, slopes)[0] - loads[i] for i in count]
    least = maximum(HARDLY_LOADED * total(absolute(load) for load in loads), SMALLEST_FORCE)
    off = total(absolute(x) / maximum(absolute(load), least) for x, load in zip(missed, loads, strict=True))
    feedback = [[_bound(part, reach, slopes, j) for j in count] for part in places]
    return loads, where(off > UNSOLVED, -1.0, 1.0 - _spectral_bound(feedback))


def _places(frictional: Sequence[FrictionJoint]) -> list[list[range]]:
    """For every joint, the index ranges of the parts of its P."""
    places, first = [], 0
    for joint in frictional:
        own = []
        for part in joint.pressing:
            own.append(range(first, first + len(part)))
            first += len(part)
        places.append(own)
    return places


def _magnitude(vector: Sequence[Scalar]) -> Scalar:
    """The magnitude of a force, with slope zero where it vanishes."""
    if len(vector) == 1:
        return absolute(vector[0])
    return sqrt(total(x * x for x in vector) + SMALLEST_FORCE**2)


def _sizes(tracer: Tracer, frictional: Sequence[FrictionJoint], loads: Sequence[Scalar]) -> tuple[list[Scalar], list[Scalar]]:
    """phi(N) and dphi/dN."""
    sizes, slopes = [joint.size(load) for joint, load in zip(frictional, loads, strict=True)], []
    for joint, load in zip(frictional, loads, strict=True):
        if joint.proportional:
            slopes.append(1.0)
            continue
        column, (normal,) = tracer.symbols("normal", 1)
        slope = tracer.directional([joint.size(normal)], column, ca.SX(1.0))
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
