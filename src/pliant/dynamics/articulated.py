"""Forward dynamics in O(n) by Featherstone's articulated-body recursion; each body's modes are eliminated before its joint.

A subtree requires the wrench n = J alpha + H a + p_n, f = H^T alpha + M a + p_f from the frame that carries it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pliant.dynamics.algebra import IDENTITY as ONE
from pliant.dynamics.algebra import (
    ZERO,
    Mat,
    Scalar,
    Vec,
    add,
    cross,
    dot,
    is_zero,
    mat_add,
    mat_scale,
    mat_sub,
    mirrored,
    product,
    scale,
    skew,
    sub,
    times,
    total,
    transpose,
    transposed_times,
)
from pliant.dynamics.body import Shape
from pliant.dynamics.forward import Driven, Forward
from pliant.dynamics.loads import BodyLoad
from pliant.dynamics.steps import Bend, Column, Shift, Step, Turn, bias_after, steps_to_body, velocity_after
from pliant.dynamics.tree import ROOT, Tree
from pliant.errors import SolveError


@dataclass(frozen=True)
class Articulated:
    """Apparent inertia and bias of a subtree at one frame."""

    J: Mat
    H: Mat
    M: Mat
    n: Vec
    f: Vec

    def wrench(self, alpha: Vec, a: Vec) -> tuple[Vec, Vec]:
        """J alpha + H a, H^T alpha + M a (without the bias)."""
        return add(times(self.J, alpha), times(self.H, a)), add(transposed_times(self.H, alpha), times(self.M, a))

    def with_bias(self, alpha: Vec, a: Vec) -> Articulated:
        """The same subtree, seen from the frame before a known acceleration is added."""
        n, f = self.wrench(alpha, a)
        return Articulated(self.J, self.H, self.M, add(self.n, n), add(self.f, f))


@dataclass(frozen=True)
class Pivot:
    """One eliminated coordinate: rate' = gain - (angular . alpha + linear . a)."""

    v: int
    angular: Vec
    linear: Vec
    gain: Scalar
    others: tuple[tuple[int, Scalar], ...] = ()  # couplings to own coordinates that are not eliminated yet, by number


@dataclass(frozen=True)
class OwnRow:
    """The equation of one prescribed own coordinate: effort = p + angular . alpha + linear . a + sum own rate'."""

    v: int
    angular: Vec
    linear: Vec
    p: Scalar
    own: tuple[tuple[int, Scalar], ...]

    def effort(self, motion: tuple[Vec, Vec], rates: Sequence[Scalar]) -> Scalar:
        inertial = total(mass * rates[number] for number, mass in self.own)
        return self.p + dot(self.angular, motion[0]) + dot(self.linear, motion[1]) + inertial


@dataclass(frozen=True)
class StepsToBody:
    """The steps to one body with the biases they add."""

    steps: list[Step]
    biases: list[tuple[Vec, Vec]]


def forward_dynamics(driven: Driven) -> Forward:
    """Accelerations: velocities outward, inertias inward, accelerations outward."""
    tree = driven.tree
    all_steps, omegas = _outward_velocities(tree, driven.q, driven.v)
    try:
        pivots, seen, rows = _inward(driven, all_steps, omegas)
    except _Unresisted as error:
        raise SolveError(unresisted(tree.rates[error.v])) from None
    return _outward_accelerations(tree, driven.tau, driven.known, all_steps, pivots, seen, rows)


class _Unresisted(Exception):
    """No inertia resists coordinate number v."""

    def __init__(self, v: int) -> None:
        super().__init__(v)
        self.v = v


def unresisted(name: str) -> str:
    return f"coordinate {name!r}: inertia along it must be > 0, got 0: no mass or inertia that it carries resists it"


def _outward_velocities(tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar]) -> tuple[list[StepsToBody], list[Vec]]:
    all_steps: list[StepsToBody] = []
    omegas: list[Vec] = []
    for node in tree.nodes:
        parent = None if node.parent == ROOT else tree.nodes[node.parent]
        omega = ZERO if parent is None else omegas[node.parent]
        steps, biases = steps_to_body(node, parent, q, v), []
        for step in steps:
            after = velocity_after(step, omega, v)
            biases.append(bias_after(step, omega, after, v))
            omega = after
        all_steps.append(StepsToBody(steps, biases))
        omegas.append(omega)
    return all_steps, omegas


class _Block:
    """A body with the subtrees it carries, before its own coordinates are eliminated."""

    def __init__(self, shape: Shape, omega: Vec, load: BodyLoad, tau: Sequence[Scalar], rotors: Sequence[Scalar]) -> None:
        moment, force, own = shape.bias(omega)
        self.J, self.H, self.M = shape.inertia(), skew(shape.moment), mat_scale(shape.fields.mass, ONE)
        self.n, self.f = sub(moment, load.moment), sub(force, load.force)
        count = range(shape.count)
        self.columns = [shape.coupling(j) for j in count]
        self.own = [[shape.own_mass(max(j, k), min(j, k)) for k in count] for j in count]
        for j, rotor in enumerate(rotors):
            self.own[j][j] = self.own[j][j] + rotor
        self.p = [own[j] - tau[j] - load.own[j] for j in count]

    def hang(self, child: Articulated, step: Bend | None, bias: tuple[Vec, Vec]) -> None:
        """Add a subtree that is attached to a place of this body."""
        if step is None:
            self._add(child)
            return
        biased = child.with_bias(*bias)
        self._add(shifted(biased, step.r))
        wrenches = [child.wrench(step.rotation[j], step.displacement[j]) for j in range(len(self.p))]
        for j, (n, f) in enumerate(wrenches):
            angular, linear = self.columns[j]
            self.columns[j] = (add(angular, add(n, cross(step.r, f))), add(linear, f))
            self.p[j] = self.p[j] + dot(step.rotation[j], biased.n) + dot(step.displacement[j], biased.f)
            for k in range(j + 1):
                shared = dot(step.rotation[k], n) + dot(step.displacement[k], f)
                self.own[j][k] = self.own[k][j] = self.own[j][k] + shared

    def _add(self, child: Articulated) -> None:
        self.J, self.H, self.M = mat_add(self.J, child.J), mat_add(self.H, child.H), mat_add(self.M, child.M)
        self.n, self.f = add(self.n, child.n), add(self.f, child.f)

    def eliminate(self, numbers: range, known: Mapping[int, Scalar]) -> tuple[Articulated, list[Pivot], list[OwnRow]]:
        """Gaussian elimination, from the last own coordinate to the first; pivots are returned in the order of back substitution.

        Prescribed coordinates are not unknowns: their accelerations go into the bias, and their rows are kept to compute their
        efforts.
        """
        rows = [self._row(j, numbers) for j, number in enumerate(numbers) if number in known]
        for j, number in enumerate(numbers):
            if number in known:
                self._tell(j, known[number])
        art = Articulated(self.J, self.H, self.M, self.n, self.f)
        pivots: list[Pivot] = []
        free = [j for j, number in enumerate(numbers) if number not in known]
        for j in reversed(free):
            inverse = 1.0 / self.own[j][j]
            angular, linear = self.columns[j]
            gain = -self.p[j] * inverse
            scaled_a, scaled_l = scale(inverse, angular), scale(inverse, linear)
            before = [k for k in free if k < j]
            ratios = {k: self.own[j][k] * inverse for k in before}
            pivots.append(Pivot(numbers[j], scaled_a, scaled_l, gain, tuple((numbers[k], r) for k, r in ratios.items())))
            art = rank_one(art, (angular, linear), (scaled_a, scaled_l), gain)
            for k in before:
                shared = self.own[j][k]
                a, b = self.columns[k]
                self.columns[k] = (sub(a, scale(shared, scaled_a)), sub(b, scale(shared, scaled_l)))
                self.p[k] = self.p[k] + shared * gain
                for i in before:
                    if i <= k:
                        self.own[k][i] = self.own[i][k] = self.own[k][i] - shared * ratios[i]
        return art, pivots[::-1], rows

    def _row(self, j: int, numbers: range) -> OwnRow:
        return OwnRow(numbers[j], *self.columns[j], self.p[j], tuple(zip(numbers, self.own[j], strict=True)))

    def _tell(self, j: int, acceleration: Scalar) -> None:
        """Put a prescribed acceleration of an own coordinate into the bias of all other rows."""
        angular, linear = self.columns[j]
        self.n, self.f = add(self.n, scale(acceleration, angular)), add(self.f, scale(acceleration, linear))
        self.p = [p + self.own[k][j] * acceleration for k, p in enumerate(self.p)]


def _inward(
    driven: Driven, all_steps: Sequence[StepsToBody], omegas: Sequence[Vec]
) -> tuple[dict[int, Pivot], dict[int, Articulated], list[list[OwnRow]]]:
    """All pivots by coordinate, the subtree at each prescribed coordinate, and the rows of prescribed own coordinates."""
    tree, tau, known = driven.tree, driven.tau, driven.known
    blocks = []
    for k, node in enumerate(tree.nodes):
        own = [tree.rotors.get(i, 0.0) for i in node.own_v]
        blocks.append(_Block(node.shape(driven.q, driven.v), omegas[k], driven.loads[k], [tau[i] for i in node.own_v], own))
    pivots: dict[int, Pivot] = {}
    seen: dict[int, Articulated] = {}
    rows: list[list[OwnRow]] = [[] for _ in tree.nodes]
    for k in reversed(range(len(tree.nodes))):
        node = tree.nodes[k]
        art, found, rows[k] = blocks[k].eliminate(node.own_v, known)
        pivots.update((pivot.v, pivot) for pivot in found)
        place: Bend | None = None
        bias = (ZERO, ZERO)
        for step, bias in zip(reversed(all_steps[k].steps), reversed(all_steps[k].biases), strict=True):
            if isinstance(step, Bend):
                place = step
            else:
                art = _before(step, bias, art, tau, known, pivots, seen, tree.rotors)
        if node.parent != ROOT:
            blocks[node.parent].hang(art, place, bias)
    return pivots, seen, rows


def _before(
    step: Shift | Turn,
    bias: tuple[Vec, Vec],
    art: Articulated,
    tau: Sequence[Scalar],
    known: dict[int, Scalar],
    pivots: dict[int, Pivot],
    seen: dict[int, Articulated],
    rotors: Mapping[int, Scalar],
) -> Articulated:
    """The subtree as seen before a joint step: free directions are eliminated, then it is shifted or rotated."""
    for column in reversed(step_columns(step)):
        if column.prescribed:
            seen[column.v] = art
            art = art.with_bias(*_along(column, known[column.v]))
        else:
            art, pivots[column.v] = eliminate(art, column, tau[column.v], rotors.get(column.v, 0.0))
    art = art.with_bias(*bias)
    if isinstance(step, Shift):
        return shifted(art, step.r)
    turn = step.rotation
    return Articulated(turn.symmetric_out(art.J), turn.matrix_out(art.H), turn.symmetric_out(art.M),
                       turn.out(art.n), turn.out(art.f))  # fmt: skip


def eliminate(art: Articulated, column: Column, effort: Scalar, rotor: Scalar = 0.0) -> tuple[Articulated, Pivot]:
    """Project a free direction out. Along it the subtree then has no inertia and transmits only the effort.

    rotor: inertia along this direction only, which moves relative to the frame before the step; its part of the effort is
    transmitted too.
    """
    s = column.axis
    if column.angular:
        angular, linear = times(art.J, s), transposed_times(art.H, s)
        resisting, bias = dot(s, angular), dot(s, art.n)
    else:
        angular, linear = times(art.H, s), times(art.M, s)
        resisting, bias = dot(s, linear), dot(s, art.f)
    resisting = resisting + rotor
    if is_zero(resisting):
        raise _Unresisted(column.v)
    inverse = 1.0 / resisting
    gain = (effort - bias) * inverse
    scaled = (scale(inverse, angular), scale(inverse, linear))
    reduced = rank_one(art, (angular, linear), scaled, gain)
    handed_on = _cleared(reduced, column, effort) if is_zero(rotor) else reduced
    return handed_on, Pivot(column.v, *scaled, gain)


def rank_one(art: Articulated, u: tuple[Vec, Vec], scaled: tuple[Vec, Vec], gain: Scalar) -> Articulated:
    """I - u u^T / d and p + u gain; symmetric blocks are computed from their upper triangle."""
    return Articulated(
        _symmetric_sub(art.J, u[0], scaled[0]),
        mat_sub(art.H, tuple(scale(x, scaled[1]) for x in u[0])),  # type: ignore[arg-type]
        _symmetric_sub(art.M, u[1], scaled[1]),
        add(art.n, scale(gain, u[0])),
        add(art.f, scale(gain, u[1])),
    )


def shifted(art: Articulated, r: Vec) -> Articulated:
    """The subtree seen from an origin at -r from its own: a = a' + alpha x r."""
    s = skew(r)
    h = mat_add(art.H, product(s, art.M))
    inertia = mat_sub(mat_add(art.J, product(s, transpose(art.H))), product(h, s))
    return Articulated(mirrored(inertia), h, art.M, add(art.n, cross(r, art.f)), art.f)


def _outward_accelerations(
    tree: Tree,
    tau: Sequence[Scalar],
    known: dict[int, Scalar],
    all_steps: Sequence[StepsToBody],
    pivots: dict[int, Pivot],
    seen: dict[int, Articulated],
    rows: Sequence[Sequence[OwnRow]],
) -> Forward:
    rates: list[Scalar] = [0.0] * len(tree.rates)
    efforts: dict[int, Scalar] = {}
    motions: list[tuple[Vec, Vec]] = []
    for k, node in enumerate(tree.nodes):
        # gravity is an upward acceleration of the ground
        motion = (ZERO, scale(-1.0, tree.gravity)) if node.parent == ROOT else motions[node.parent]
        for step, bias in zip(all_steps[k].steps, all_steps[k].biases, strict=True):
            alpha, a = accelerate(step, *motion, rates)
            motion = (add(alpha, bias[0]), add(a, bias[1]))
            for column in step_columns(step):
                rates[column.v] = known[column.v] if column.prescribed else _solve(pivots[column.v], motion, rates)
                along = _along(column, rates[column.v])
                motion = (add(motion[0], along[0]), add(motion[1], along[1]))
                if column.prescribed:
                    rotor = tree.rotors.get(column.v, 0.0) * rates[column.v]
                    efforts[column.v] = _effort(seen[column.v], column, motion) + rotor - tau[column.v]
        motions.append(motion)
        for number in node.own_v:
            rates[number] = known[number] if number in known else _solve(pivots[number], motion, rates)
        efforts.update((row.v, row.effort(motion, rates)) for row in rows[k])
    return Forward(rates, efforts)


def accelerate(step: Step, alpha: Vec, a: Vec, rates: Sequence[Scalar]) -> tuple[Vec, Vec]:
    """Accelerations after a step, without its bias and without its own free directions."""
    if isinstance(step, Turn):
        return step.rotation.into(alpha), step.rotation.into(a)
    moved = add(a, cross(alpha, step.r))
    if isinstance(step, Bend):
        for j, number in enumerate(step.own):
            alpha = add(alpha, scale(rates[number], step.rotation[j]))
            moved = add(moved, scale(rates[number], step.displacement[j]))
    return alpha, moved


def step_columns(step: Step) -> tuple[Column, ...]:
    if isinstance(step, Turn):
        return step.columns
    return (step.column,) if isinstance(step, Shift) and step.column is not None else ()


def _solve(pivot: Pivot, motion: tuple[Vec, Vec], rates: Sequence[Scalar]) -> Scalar:
    coupled = total(ratio * rates[number] for number, ratio in pivot.others)
    return pivot.gain - dot(pivot.angular, motion[0]) - dot(pivot.linear, motion[1]) - coupled


def _effort(art: Articulated, column: Column, motion: tuple[Vec, Vec]) -> Scalar:
    n, f = art.wrench(*motion)
    return dot(column.axis, add(n, art.n)) if column.angular else dot(column.axis, add(f, art.f))


def _along(column: Column, value: Scalar) -> tuple[Vec, Vec]:
    along = scale(value, column.axis)
    return (along, ZERO) if column.angular else (ZERO, along)


def _cleared(art: Articulated, column: Column, effort: Scalar) -> Articulated:
    """Make entries that are exactly zero along a coordinate axis structural zeros, and the bias there exactly the effort."""
    live = [k for k in range(3) if not is_zero(column.axis[k])]
    if len(live) != 1:
        return art
    k = live[0]
    handed = effort * column.axis[k]
    if column.angular:
        H = tuple(ZERO if i == k else row for i, row in enumerate(art.H))
        return Articulated(_without(art.J, k), H, art.M, _replaced(art.n, k, handed), art.f)  # type: ignore[arg-type]
    H = tuple(_replaced(row, k, 0.0) for row in art.H)
    return Articulated(art.J, H, _without(art.M, k), art.n, _replaced(art.f, k, handed))  # type: ignore[arg-type]


def _without(m: Mat, k: int) -> Mat:
    return tuple(ZERO if i == k else _replaced(row, k, 0.0) for i, row in enumerate(m))  # type: ignore[return-value]


def _replaced(v: Vec, k: int, value: Scalar) -> Vec:
    return tuple(value if i == k else x for i, x in enumerate(v))


def _symmetric_sub(m: Mat, u: Vec, w: Vec) -> Mat:
    """m - u w^T with w parallel to u."""
    return mirrored(tuple(sub(m[i], scale(u[i], w)) for i in range(3)))  # type: ignore[arg-type]
