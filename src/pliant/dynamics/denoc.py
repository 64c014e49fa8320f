"""The decoupled natural orthogonal complement: t = N_l N_d q', I = N_d^T N_l^T M N_l N_d, convective C (Saha; Raoofian 2017).

Twists t_i = [omega, v, z'] are those of the bodies' frames in world axes, followed by the rates of the body's own coordinates.
Twists propagate as t_i = B_i t_parent + P_i q_i': B_i shifts the twist and adds the deformation rates of the parent, P_i holds the
joint axes. N_l = (1 - B)^-1 is lower triangular, N_d = diag(P_i). Newton-Euler for all bodies: M t' + H t = w, so that (eq. 17)
    C = N_d^T N_l^T (M N_l' N_d + M N_l N_d' + H N_l N_d),      I q'' + C q' = N_d^T N_l^T w.
N_l', N_d' and M' are differentiated automatically. H is chosen such that M' - 2 H is skew, hence I' - 2 C is skew too. In the plane
H is the paper's M', shifted from mass centres to joints.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from pliant.dynamics.algebra import ZERO, Scalar, Vec, add, cross, inner, is_zero, skew, total
from pliant.dynamics.articulated import step_columns
from pliant.dynamics.body import Body, Shape
from pliant.dynamics.calculus import Calculus
from pliant.dynamics.forward import Driven, Forward
from pliant.dynamics.gibbs_appell import solve_with_known
from pliant.dynamics.kinematics import GROUND_POSE, Pose, poses
from pliant.dynamics.loads import BodyLoad
from pliant.dynamics.retraction import retract
from pliant.dynamics.rotation import Rotation
from pliant.dynamics.steps import Bend, Shift, Turn, steps_to_body
from pliant.dynamics.tree import ROOT, Node, Tree

Block = list[list[Scalar]]  # rows
Column = list[Scalar]
TWIST = 6  # omega and v; rates of the body's own coordinates follow


@dataclass(frozen=True)
class Complement:
    """N_l and N_d by blocks: N_l by (body, ancestor or itself), N_d by body, over the body's entries of v."""

    tree: Tree
    lower: Mapping[tuple[int, int], Block]
    diagonal: Sequence[Block]

    @property
    def entries(self) -> list[Scalar]:
        return [x for block in (*self.lower.values(), *self.diagonal) for row in block for x in row]

    def refilled(self, entries: Iterable[Scalar]) -> Complement:
        """The same blocks with other entries, as `entries` lists them."""
        source = iter(entries)
        lower = {key: [[next(source) for _ in row] for row in block] for key, block in self.lower.items()}
        return Complement(self.tree, lower, [[[next(source) for _ in row] for row in block] for block in self.diagonal])

    @cached_property
    def product(self) -> list[dict[int, Column]]:
        """N = N_l N_d: for each body, the columns of the coordinates that move it."""
        found: list[dict[int, Column]] = [{} for _ in self.tree.nodes]
        for (i, j), block in self.lower.items():
            for number, column in self.columns(j):
                found[i][number] = matvec(block, column)
        return found

    def project(self, wrenches: Sequence[Column]) -> list[Scalar]:
        """N^T w."""
        found: list[Scalar] = [0.0] * len(self.tree.rates)
        for columns, wrench in zip(self.product, wrenches, strict=True):
            for number, column in columns.items():
                found[number] = found[number] + inner(column, wrench)
        return found

    def columns(self, j: int) -> list[tuple[int, Column]]:
        """Columns of P_j by number in v."""
        return [(number, [row[k] for row in self.diagonal[j]]) for k, number in enumerate(numbers(self.tree.nodes[j]))]


@dataclass(frozen=True)
class Natural:
    """All matrices at one state; M and H have one block per body."""

    complement: Complement
    rate: Complement  # N_l', N_d'
    M: Sequence[Block]
    H: Sequence[Block]
    I: list[list[Scalar]]  # noqa: E741 - the literature's letter
    C: list[list[Scalar]]
    gravity: list[Scalar]  # N^T w_G


def natural(tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar], calculus: Calculus) -> Natural:
    """N_l, N_d, their rates, M, H, I and C at a state."""
    bodies = poses(tree, q)
    complement = orthogonal_complement(tree, q, bodies)
    rate = _rate(complement, tree, q, v, calculus)
    twists = [_moved(columns, v, size(node)) for columns, node in zip(complement.product, tree.nodes, strict=True)]
    M, H = [], []
    for node, pose, twist in zip(tree.nodes, bodies, twists, strict=True):
        mass, convective = _inertia(node, pose.rotation, q, twist, calculus)
        M.append(mass)
        H.append(convective)
    inertia, coriolis = _assembled(complement, rate, M, H, len(tree.rates))
    for number, rotor in tree.rotors.items():  # rotors of motors, which turn relative to the bodies that carry them
        inertia[number][number] = inertia[number][number] + rotor
    weights = [matvec(mass, _falling(node, tree.gravity)) for mass, node in zip(M, tree.nodes, strict=True)]
    return Natural(complement, rate, M, H, inertia, coriolis, complement.project(weights))


def forward_dynamics(driven: Driven, calculus: Calculus) -> Forward:
    """Accelerations from I a + C v = tau + N^T (w + w_G)."""
    made = natural(driven.tree, driven.q, driven.v, calculus)
    return solve_with_known(made.I, _bias(made, driven.tree, driven.q, driven.v, driven.loads), driven.tau, driven.known)


def inverse_dynamics(
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    a: Sequence[Scalar],
    loads: Sequence[BodyLoad],
    calculus: Calculus,
) -> list[Scalar]:
    """Efforts on all coordinates for a motion: tau = I a + C v - N^T (w + w_G)."""
    made = natural(tree, q, v, calculus)
    bias = _bias(made, tree, q, v, loads)
    return [inner(row, a) + b for row, b in zip(made.I, bias, strict=True)]


def _bias(made: Natural, tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar], loads: Sequence[BodyLoad]) -> list[Scalar]:
    """C v minus the efforts of gravity and of the loads on the bodies."""
    given = made.complement.project(wrenches(poses(tree, q), loads))
    return [inner(row, v) - g - w for row, g, w in zip(made.C, made.gravity, given, strict=True)]


def wrenches(bodies: Sequence[Pose], loads: Sequence[BodyLoad]) -> list[Column]:
    """Loads in world axes, in the order of the twists."""
    return [
        [*pose.rotation.out(load.moment), *pose.rotation.out(load.force), *load.own]
        for pose, load in zip(bodies, loads, strict=True)
    ]


# ---- the factors


def size(node: Node) -> int:
    """Number of entries of a body's twist."""
    return TWIST + node.body.coordinates


def numbers(node: Node) -> list[int]:
    """Indices in v that belong to a body: those of its joint, then its own coordinates."""
    joint = [slot.v + k for slot in node.slots for k in range(len(slot.motion.rates))]
    return [*joint, *node.own_v]


def orthogonal_complement(tree: Tree, q: Sequence[Scalar], bodies: Sequence[Pose]) -> Complement:
    """N_l and N_d: N_l(i, j) = B_i N_l(parent, j), N_l(i, i) = 1."""
    lower: dict[tuple[int, int], Block] = {}
    diagonal: list[Block] = []
    for i, node in enumerate(tree.nodes):
        propagation, generator = _links(tree, node, q, bodies)
        diagonal.append(generator)
        if node.parent != ROOT:
            for j in range(i):
                if (node.parent, j) in lower:
                    lower[i, j] = times(propagation, lower[node.parent, j])
        lower[i, i] = unit(size(node))
    return Complement(tree, lower, diagonal)


def _links(tree: Tree, node: Node, q: Sequence[Scalar], bodies: Sequence[Pose]) -> tuple[Block, Block]:
    """B_i, twist propagation from the parent, and P_i, twist generator of the joint and of the body's own coordinates."""
    parent = None if node.parent == ROOT else tree.nodes[node.parent]
    rotation = GROUND_POSE.rotation if parent is None else bodies[node.parent].rotation
    passed: list[tuple[Bend | Shift | Turn, Rotation]] = []
    for step in steps_to_body(node, parent, q, [0.0] * len(tree.rates)):
        rotation = rotation.then(step.rotation) if isinstance(step, Turn) else rotation
        passed.append((step, rotation))
    arm = ZERO  # from the current step to the body's origin
    generated: dict[int, Column] = {}
    bent: list[Column] = []
    for step, turned in reversed(passed):
        for column in step_columns(step):
            axis = turned.out(column.axis)
            generated[column.v] = [*axis, *cross(axis, arm)] if column.angular else [*ZERO, *axis]
        if isinstance(step, Bend):
            pairs = [(turned.out(theta), turned.out(w)) for theta, w in zip(step.rotation, step.displacement, strict=True)]
            bent = [[*theta, *add(w, cross(theta, arm))] for theta, w in pairs]
        if not isinstance(step, Turn):
            arm = add(arm, turned.out(step.r))
    own = node.body.coordinates
    joint = [generated[number] for number in numbers(node)[: len(generated)]]
    generator = [[column[r] for column in joint] + [0.0] * own for r in range(TWIST)]
    generator += [[0.0] * len(joint) + row for row in unit(own)]
    return _propagation(arm, bent, own, 0 if parent is None else parent.body.coordinates), generator


def _propagation(arm: Vec, bent: Sequence[Column], own: int, above: int) -> Block:
    """[1 0 Theta; -[r] 1 Phi; 0 0 0]: maps the parent's twist to the body's."""
    columns = bent if bent else [[0.0] * TWIST for _ in range(above)]
    block = [[*row, *(column[r] for column in columns)] for r, row in enumerate(unit(TWIST))]
    for r, row in enumerate(skew(arm)):
        for c, x in enumerate(row):
            block[3 + r][c] = -x if not is_zero(x) else 0.0
    return block + [[0.0] * (TWIST + above) for _ in range(own)]


def _rate(complement: Complement, tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar], calculus: Calculus) -> Complement:
    """N_l' and N_d' along the motion, by differentiation on the chart around the state."""
    count = len(tree.rates)
    xi, shift = calculus.symbols("xi", count)
    charted = retract(tree, q, shift)
    entries = orthogonal_complement(tree, charted, poses(tree, charted)).entries
    moving = calculus.directional(entries, xi, calculus.column(v))
    return complement.refilled(calculus.substitute(moving, xi, calculus.column([0.0] * count)))


# ---- inertia of one body


def body_inertia(body: Body, z: Sequence[Scalar]) -> Block:
    """M_b over [omega, v, z'] in the body's axes: the extended mass matrix."""
    shape = Shape.at(body, z, [0.0] * len(z))
    count = range(shape.count)
    coupling = [shape.coupling(j) for j in count]
    first = skew(shape.moment)
    angular = [[*row, *first[r], *(coupling[j][0][r] for j in count)] for r, row in enumerate(shape.inertia())]
    linear = [[first[c][r] for c in range(3)] + [body.mass if c == r else 0.0 for c in range(3)]
              + [coupling[j][1][r] for j in count] for r in range(3)]  # fmt: skip
    own = [[*coupling[j][0], *coupling[j][1], *(shape.own_mass(max(j, k), min(j, k)) for k in count)] for j in count]
    return angular + linear + own


def _inertia(node: Node, rotation: Rotation, q: Sequence[Scalar], twist: Column, calculus: Calculus) -> tuple[Block, Block]:
    """M and H of one body in world axes: its motion requires the wrench M t' + H t."""
    z = [q[k] for k in node.own_q]
    mass = body_inertia(node.body, z)
    slopes = _slopes(node.body, z, calculus)
    omega = rotation.into((twist[0], twist[1], twist[2]))
    H = _convective(mass, slopes, omega, twist[TWIST:])
    return _outward(rotation, mass), _outward(rotation, H)


def _slopes(body: Body, z: Sequence[Scalar], calculus: Calculus) -> list[Block]:
    """dM_b/dz_j."""
    if not z:
        return []
    column, symbols = calculus.symbols("z", len(z))
    mass = body_inertia(body, symbols)
    width = len(mass)
    slopes = calculus.jacobian([x for row in mass for x in row], column)
    flat = calculus.substitute([row[j] for j in range(len(z)) for row in slopes], column, calculus.column(z))
    return [[flat[(j * width + r) * width : (j * width + r + 1) * width] for r in range(width)] for j in range(len(z))]


def _convective(mass: Block, slopes: Sequence[Block], omega: Vec, rates: Column) -> Block:
    """H in the body's axes, for accelerations in space. The columns of v are zero: translation has no convective terms.

    The force rows are those of M' (rate of momentum). Between omega and z', with p the angular momentum about the frame's origin at
    v = 0 and D_j = dM/dz_j u: H = M'/2 + (D - D^T)/2 - [p] - M [omega], which combines Kirchhoff's and Lagrange's equations.
    """
    width = len(mass)
    still = [*omega, 0.0, 0.0, 0.0, *rates]
    kept = [r for r in range(width) if not 3 <= r < TWIST]
    growing = [[total(s[r][c] * rate for s, rate in zip(slopes, rates, strict=True)) for c in range(width)]
               for r in range(width)]  # fmt: skip
    drifts = [matvec(slope, still) for slope in slopes]  # D_j
    spin = _turning(omega, width)
    momentum = matvec(mass, still)
    carried = times(mass, spin)
    H: Block = [[0.0] * width for _ in range(width)]
    for r in kept:
        for c in kept:
            H[r][c] = 0.5 * growing[r][c] - carried[r][c]
            if c >= TWIST:
                H[r][c] = H[r][c] + 0.5 * drifts[c - TWIST][r]
            if r >= TWIST:
                H[r][c] = H[r][c] - 0.5 * drifts[r - TWIST][c]
    for r, row in enumerate(skew((momentum[0], momentum[1], momentum[2]))):
        for c, x in enumerate(row):
            H[r][c] = H[r][c] - x
    turned = times(spin, mass)
    for r in range(3, TWIST):
        for c in kept:
            H[r][c] = growing[r][c] + turned[r][c] - carried[r][c]
    return H


def _turning(omega: Vec, width: int) -> Block:
    """diag([omega], [omega], 0)."""
    block: Block = [[0.0] * width for _ in range(width)]
    for r, row in enumerate(skew(omega)):
        for c, x in enumerate(row):
            block[r][c] = block[3 + r][3 + c] = x
    return block


def _outward(rotation: Rotation, block: Block) -> Block:
    """X m X^T with X = diag(R, R, 1)."""
    if rotation.is_identity:
        return block
    half = [_turned_rows(rotation, [row[c] for row in block]) for c in range(len(block))]  # (X m)^T
    return [_turned_rows(rotation, [column[r] for column in half]) for r in range(len(block))]


def _turned_rows(rotation: Rotation, column: Column) -> Column:
    angular, linear = rotation.out((column[0], column[1], column[2])), rotation.out((column[3], column[4], column[5]))
    return [*angular, *linear, *column[TWIST:]]


# ---- the system


def _assembled(
    complement: Complement, rate: Complement, M: Sequence[Block], H: Sequence[Block], count: int
) -> tuple[list[list[Scalar]], list[list[Scalar]]]:
    """I = N^T M N, computed from its upper triangle, and C = N^T (M N' + H N)."""
    inertia: list[list[Scalar]] = [[0.0] * count for _ in range(count)]
    coriolis: list[list[Scalar]] = [[0.0] * count for _ in range(count)]
    drifting = _product_rate(complement, rate)
    for columns, drifts, mass, convective in zip(complement.product, drifting, M, H, strict=True):
        pushed = {k: matvec(mass, column) for k, column in columns.items()}
        asked = {k: [a + b for a, b in zip(matvec(mass, drifts[k]), matvec(convective, column), strict=True)]
                 for k, column in columns.items()}  # fmt: skip
        for k, column in columns.items():
            for j in columns:
                coriolis[k][j] = coriolis[k][j] + inner(column, asked[j])
                if k <= j:
                    inertia[k][j] = inertia[j][k] = inertia[k][j] + inner(column, pushed[j])
    return inertia, coriolis


def _product_rate(complement: Complement, rate: Complement) -> list[dict[int, Column]]:
    """N' = N_l' N_d + N_l N_d'."""
    found: list[dict[int, Column]] = [{} for _ in complement.tree.nodes]
    for key, block in complement.lower.items():
        i, j = key
        for (number, column), (_, moving) in zip(complement.columns(j), rate.columns(j), strict=True):
            parts = zip(matvec(rate.lower[key], column), matvec(block, moving), strict=True)
            found[i][number] = [a + b for a, b in parts]
    return found


def _moved(columns: Mapping[int, Column], v: Sequence[Scalar], width: int) -> Column:
    """N v for one body."""
    return [total(column[r] * v[number] for number, column in columns.items()) for r in range(width)]


def _falling(node: Node, gravity: Vec) -> Column:
    return [*ZERO, *gravity, *([0.0] * node.body.coordinates)]


# ---- blocks


def unit(count: int) -> Block:
    return [[1.0 if r == c else 0.0 for c in range(count)] for r in range(count)]


def matvec(block: Block, column: Column) -> Column:
    return [inner(row, column) for row in block]


def times(a: Block, b: Block) -> Block:
    columns = [[row[c] for row in b] for c in range(len(b[0]))]
    return [[inner(row, column) for column in columns] for row in a]
