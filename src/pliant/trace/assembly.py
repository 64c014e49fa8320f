"""Assembles closed loops at the start: finds coordinates and rates that close them and the independent rows, or reports why not."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import casadi as ca
import numpy as np

from pliant.arrays import Floats
from pliant.codegen.tracer import Tracer
from pliant.dynamics.closures import FormulaAt, PrescribedValues, rows
from pliant.dynamics.kinematics import place_pose, poses
from pliant.dynamics.retraction import retract
from pliant.dynamics.sparse import LeastChange, least_change
from pliant.dynamics.tree import ROOT, Tree
from pliant.errors import NotClosed, SolveError
from pliant.model.closure import Closure, FormulaClosure
from pliant.model.frame import GROUND, Frame
from pliant.model.joint import BALL, ROTATION

ASSEMBLY_STEPS = 100
ASSEMBLED = 1e-12  # m or rad: a loop counts as closed when its residual is below this
LONGEST_ASSEMBLY_STEP = 0.3  # m or rad: keeps Gauss-Newton from jumping to another branch
BENDING = 1e-3  # weight of modes and free lengths in assembly, relative to joints
FOLLOWED = 1e-9  # m/s or rad/s: the rate of a residual counts as zero below this
BESIDE = 1e-2  # m or rad: distance from the start at which the rank of the rows is checked again
NEW_BESIDE = 1e-5  # of a row: at that distance from a singular position, a row is independent by at least this much
STILL = 1e-9  # m or rad: when the rows leave less of a trial displacement than this, the mechanism cannot move that way
EXACT = 1e-9  # of the size, or of 1 rad: rows that others imply this closely are implied to round-off
BLENDS = 64  # sums of redundant rows that are tried if a run needs rows that hold in several positions
NEARLY = 1e-2  # of the size, or of 1 rad: rows that others imply less closely than this are independent at any tolerance


@dataclass(frozen=True)
class Assembly:
    """A start that closes every loop: coordinates, rates, and which rows are independent there."""

    q: Floats
    v: Floats
    independent: tuple[int, ...]
    redundant: tuple[str, ...] = ()  # names of closures with rows that are implied by others
    scale: tuple[float, ...] = ()  # of every row: the mechanism's size in m, or 1 rad
    places: tuple[tuple[int, int], ...] = ()  # of every row: the number of its closure, and its number there
    size: float = 1.0  # m, of the mechanism
    warnings: tuple[str, ...] = ()
    locked: str = ""  # why the mechanism cannot move; empty if it can
    blend: tuple[tuple[tuple[int, float], ...], ...] = ()  # sums of rows held instead of the independent ones; empty: none


@dataclass(frozen=True)
class _Seen:
    """The closures evaluated at one state."""

    c: Floats
    rate: Floats
    whole: list[dict[int, float]]  # A
    matrix: LeastChange  # the columns of A of the free coordinates, weighted, without implied rows; solves for the least change

    @property
    def implied(self) -> list[int]:
        return list(self.matrix.left)

    def held(self) -> float:
        """The residual of the independent rows, m or rad."""
        return float(np.max(np.abs(self.c[list(self.matrix.independent)]), initial=0.0))


class _Look:
    """Evaluates residuals, rates and the Jacobian of closures numerically."""

    def __init__(
        self,
        tree: Tree,
        closures: Sequence[Closure],
        tracer: Tracer,
        free: Sequence[int],
        prescribed: Sequence[Sequence[PrescribedValues | None]],
        size: float,
        tolerance: float,
        formula: FormulaAt,
    ) -> None:
        q_column, q = tracer.symbols("q", len(tree.positions))
        v_column, v = tracer.symbols("v", len(tree.rates))
        step_column, step = tracer.symbols("step", len(tree.rates))
        self.tree = tree
        self.found = rows(tree, closures, q, v, tracer, prescribed, formula)
        self.owners = [closures[owner] for owner in self.found.owners]
        self.of_speeds = [k for k, owner in enumerate(self.owners) if isinstance(owner, FormulaClosure) and owner.nonholonomic]
        self.scale = np.array([1.0 if angular else size for angular in self.found.angular])
        self.units = ["rad" if angular else "m" for angular in self.found.angular]
        self.tolerance = tolerance
        self.free, own = tuple(free), {k for node in tree.nodes for k in node.own_v}
        self.count = len(tree.rates)
        joints = [{slot.v + i for slot in node.slots for i in range(len(slot.motion.rates))} & set(free) for node in tree.nodes]
        self.joint_of = {k: joint for joint in joints for k in joint}  # by free rate: all free rates of the same joint
        self.ease = {k: BENDING if k in own else 1.0 for k in free}
        # Lengths are divided by the size, so that they compare with radians and the rank does not depend on the size.
        turning = [slot for slot in tree.slots if slot.motion.kind in (ROTATION, BALL)]
        self.measure = dict.fromkeys(range(self.count), size)
        self.measure |= {slot.v + i: 1.0 for slot in turning for i in range(len(slot.motion.rates))}
        self._factored: dict[tuple[bytes, float, tuple[int, ...] | None], LeastChange] = {}
        entries = [x for row in self.found.jacobian for x in row.values()]
        outputs = [tracer.column(x) for x in (self.found.residual, self.found.rate, entries)]
        self._values = ca.Function("look", [q_column, v_column], outputs)
        self._move = ca.Function("move", [q_column, step_column], [tracer.column(retract(tree, q, step))])

    def at(self, q: Floats, v: Floats, tolerance: float | None = None, left: Sequence[int] | None = None) -> _Seen:
        """Evaluates the closures at a state; rows that others imply within the tolerance count as implied, or those in `left`."""
        c, rate, entries = (np.array(x).ravel() for x in self._values(q, v))
        values = iter(entries.tolist())
        whole = [{k: next(values) for k in row} for row in self.found.jacobian]
        asked = (q.tobytes(), tolerance or self.tolerance, None if left is None else tuple(left))
        if asked not in self._factored:  # only the last factorisation is kept: rates are evaluated where positions just were
            self._factored = {asked: self._factor(whole, asked[1]) if left is None else self._without(whole, left)}
        return _Seen(c, rate, whole, self._factored[asked])

    def _factor(self, whole: list[dict[int, float]], tolerance: float) -> LeastChange:
        """Factorises A: the rank counts geometrically independent rows; the solution is the smallest weighted change."""
        negligible = (tolerance * self.scale).tolist()
        ranked = least_change(_weighed(whole, {k: self.measure[k] for k in self.free}), self.count, negligible)
        if any(self.measure[k] != self.ease[k] for k in self.free):
            return replace(self._without(whole, ranked.left), left=ranked.left)
        return ranked

    def _without(self, whole: list[dict[int, float]], left: Collection[int]) -> LeastChange:
        """Factorises all rows but those in `left`."""
        decided = [math.inf if k in left else 0.0 for k in range(len(whole))]
        return least_change(_weighed(whole, self.ease), self.count, decided)

    def dense(self, q: Floats) -> Floats:
        """The columns of A of the free coordinates as an array, measured so that lengths compare with angles."""
        rows = _weighed(self.at(q, np.zeros(self.count)).whole, {k: self.measure[k] for k in self.free})
        matrix = np.zeros((len(rows), self.count))
        for k, row in enumerate(rows):
            matrix[k, list(row)] = [a / self.scale[k] for a in row.values()]
        return matrix

    def change(self, matrix: LeastChange, missing: Floats) -> Floats:
        """The smallest change, in the weighted norm, that removes the residuals."""
        found = np.array(matrix.solve((-missing).tolist(), self.count))
        for k in self.free:
            found[k] *= self.ease[k]
        return found

    def moved(self, q: Floats, step: Floats) -> Floats:
        return np.array(self._move(q, step)).ravel()

    def closed(self, seen: _Seen) -> bool:
        """Whether all residuals are zero, those of implied rows within the tolerance."""
        allowed = np.full(seen.c.size, 1e3 * ASSEMBLED)
        allowed[seen.implied] = np.maximum(allowed, self.tolerance * self.scale)[seen.implied]
        return bool(np.all(np.abs(seen.c) <= allowed))

    def freedom_left(self, seen: _Seen) -> int:
        """The number of degrees of freedom that closures leave, with prescribed motions released."""
        fixed = [k for k, owner in enumerate(self.owners) if not owner.prescribed]
        return self.count - self.rank(seen, fixed)

    def rank(self, seen: _Seen, some: Sequence[int]) -> int:
        """How many of these rows are independent."""
        measured = _weighed([seen.whole[k] for k in some], self.measure)
        return len(least_change(measured, self.count, (self.tolerance * self.scale[list(some)]).tolist()).independent)


def _weighed(rows: Sequence[dict[int, float]], weights: Mapping[int, float]) -> list[dict[int, float]]:
    """The columns of A that have a weight, each times that weight."""
    return [{k: a * weights[k] for k, a in row.items() if k in weights} for row in rows]


def assemble(
    tree: Tree,
    closures: Sequence[Closure],
    tracer: Tracer,
    q0: Floats,
    v0: Floats,
    free: Sequence[int],
    prescribed: Sequence[Sequence[PrescribedValues | None]],
    tolerance: float,
    formula: FormulaAt,
    held: Sequence[str] = (),
    hold_at: Sequence[Floats] = (),
) -> Assembly:
    """Close the loops from a rough start by Gauss-Newton on all free coordinates that are not held, with the smallest change.

    prescribed: the motions that closures follow, at the start. tolerance: the residual allowed in rows that others imply, as a
    fraction of the mechanism's size (or of 1 rad). formula: values of closures given by formulas, at the start. hold_at: further
    positions in which the independent rows must hold the mechanism.
    """
    if not closures:
        return Assembly(q0, v0, ())
    size = size_of(tree, closures, q0)
    look = _Look(tree, closures, tracer, free, prescribed, size, tolerance, formula)
    not_held = [k for k in free if tree.rates[k] not in held]
    moving = _Look(tree, closures, tracer, not_held, prescribed, size, tolerance, formula) if held else look
    # rows of speeds do not keep coordinates from closing the loops
    left = [*moving.at(q0, v0).implied, *moving.of_speeds] if moving.of_speeds else None
    position = _closed(moving, q0, v0, left=left)
    seen = look.at(position, v0)
    if not look.closed(seen):
        raise NotClosed(_not_closed(look, seen, _nearest(look, q0, v0), held))
    rate = v0 + moving.change(moving.at(position, v0).matrix, seen.rate)
    _check_followed(look, look.at(position, rate), rate, held)
    redundant = {look.owners[k].name for k in seen.implied}
    if redundant:
        _check_regular(look, position, rate, seen)
    return Assembly(
        position,
        rate,
        seen.matrix.independent,
        tuple(sorted(redundant)),
        tuple(look.scale.tolist()),
        tuple(zip(look.found.owners, look.found.directions, strict=True)),
        size,
        warnings=(*_empty(look, closures), *_nearly_implied(look, seen), *_left_out(look, seen), *_stuck_loops(look, seen)),
        locked=_locked(look, seen, q0, v0),
        blend=_blended(look, seen, [position, *hold_at]) if seen.implied and hold_at else (),
    )


def size_of(tree: Tree, closures: Sequence[Closure], q: Floats) -> float:
    """The longest edge, m, of the box around the origins of all bodies and of all frames that closures hold; 1 m for a point."""
    x = q.tolist()
    bodies = poses(tree, x)
    frames = [tree.place(frame) for closure in closures for frame in closure.frames or ()]
    places = [pose.position for pose in (*bodies, *(place_pose(tree, place, bodies, x) for place in frames))]
    extent = float(np.max(np.ptp(np.array(places, dtype=np.float64), axis=0)))
    return extent if extent > 0.0 else 1.0


def _closed(look: _Look, start: Floats, v: Floats, tolerance: float | None = None, left: Sequence[int] | None = None) -> Floats:
    position = start.copy()
    for _ in range(ASSEMBLY_STEPS):
        seen = look.at(position, v, tolerance, left)
        if seen.held() <= ASSEMBLED:
            break
        change = look.change(seen.matrix, seen.c)
        longest = np.max(np.abs(change))
        change *= min(1.0, LONGEST_ASSEMBLY_STEP / max(longest, 1e-300))
        position = look.moved(position, change)
    return position


def _blended(look: _Look, seen: _Seen, positions: Sequence[Floats]) -> tuple[tuple[tuple[int, float], ...], ...]:
    """For every independent row, the sum of rows of its closure and kind that is held instead: rows and weights.

    As a mechanism turns, a row may hold less and less, and a row that it implies more and more: a sum of both holds it in between.
    Of some sums, the one is taken that holds best where it holds least.
    """
    independent, chance = list(seen.matrix.independent), np.random.default_rng(0)
    matrices = [look.dense(q) for q in positions]
    blocks: dict[tuple[str, bool], list[int]] = {}
    for k in range(len(seen.whole)):
        blocks.setdefault((look.owners[k].name, bool(look.found.angular[k])), []).append(k)
    weights, best = np.eye(len(seen.whole))[independent], -1.0
    for attempt in range(BLENDS):
        tried = np.zeros_like(weights)
        for block in blocks.values():
            slots = [i for i, k in enumerate(independent) if k in block]
            turned = np.linalg.qr(chance.normal(size=(len(block), len(block))))[0] if attempt else np.eye(len(block))
            own = turned[[block.index(independent[i]) for i in slots]] if len(slots) < len(block) else np.eye(len(block))
            tried[np.ix_(slots, block)] = own
        least = min(float(np.linalg.svd(tried @ matrix, compute_uv=False)[-1]) for matrix in matrices)
        if least > best:
            weights, best = tried, least
    return tuple(tuple((int(k), float(row[k])) for k in np.flatnonzero(row)) for row in weights)


# ---- errors and warnings about loops


@dataclass(frozen=True)
class _Nearest:
    """The loops closed as near to the start as possible, except for rows that others nearly imply."""

    seen: _Seen
    look: _Look
    rows: list[int] = field(default_factory=list)  # implied nearly, not exactly

    def words(self) -> str:
        """A sentence with the residual of these rows and the tolerance that would leave them out; empty if there are none."""
        if not self.rows:
            return ""
        miss, unit = _largest(self.look, self.seen, self.rows)
        return (
            f"over-constrained by {_rows(len(self.rows))}, misfit {miss:.3g} {unit}, more than closure_tolerance = "
            f"{self.look.tolerance:g} of the mechanism's size allows; with closure_tolerance = "
            f"{2.0 * _closeness(self.look, self.seen, self.rows):.1g} it would be treated as movable"
        )


def _nearest(look: _Look, q0: Floats, v0: Floats) -> _Nearest:
    """Assemble once more with only the clearly independent rows, which a small misfit cannot lead astray."""
    seen = look.at(_closed(look, q0, v0, NEARLY), v0, NEARLY)
    if seen.held() > 1e3 * ASSEMBLED or _closeness(look, seen, seen.implied) > NEARLY:
        return _Nearest(seen, look)
    return _Nearest(seen, look, [k for k in seen.implied if _closeness(look, seen, [k]) > look.tolerance])


def _closeness(look: _Look, seen: _Seen, some: Sequence[int]) -> float:
    """How closely these rows are implied, as a fraction of the size or of 1 rad: judged by residual and by direction."""
    apart = [max(abs(float(seen.c[k])), seen.matrix.left[k]) / float(look.scale[k]) for k in some]
    return max(apart, default=0.0)


def _largest(look: _Look, seen: _Seen, some: Sequence[int]) -> tuple[float, str]:
    """The residual that is largest relative to its scale, and its unit."""
    worst = max(some, key=lambda k: abs(float(seen.c[k])) / float(look.scale[k]))
    return abs(float(seen.c[worst])), look.units[worst]


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count} rows"


def _not_closed(look: _Look, seen: _Seen, nearest: _Nearest, held: Sequence[str]) -> str:
    nearer = nearest.seen if not held and np.max(np.abs(nearest.seen.c)) < np.max(np.abs(seen.c)) else seen
    worst = int(np.argmax(np.abs(nearer.c)))
    kept = f" while {', '.join(held)} {'is' if len(held) == 1 else 'are'} held" if held else ""
    why = nearest.words() or f"the loop cannot close with these lengths{kept}, or it starts too far from a closed position"
    return (
        f"closure {look.owners[worst].name!r}: residual must come to 0 in {ASSEMBLY_STEPS} assembly steps, "
        f"{abs(nearer.c[worst]):.3g} {look.units[worst]} is left: {why}"
    )


def _locked(look: _Look, seen: _Seen, q0: Floats, v0: Floats) -> str:
    """Why nothing can move, prescribed coordinates included; empty if something can."""
    if look.freedom_left(seen) > 0:
        return ""
    names = ", ".join(repr(name) for name in dict.fromkeys(owner.name for owner in look.owners))
    near = _nearest(look, q0, v0).words()
    return (
        f"closures must leave something free to move, they leave 0 degrees of freedom: the rows of {names} hold all {look.count} "
        f"coordinates{': ' if near else ''}{near}"
    )


def _nearly_implied(look: _Look, seen: _Seen) -> tuple[str, ...]:
    """A warning about rows left out because others imply them within the tolerance, though not to round-off."""
    some = [k for k in seen.implied if _closeness(look, seen, [k]) > EXACT]
    if not some:
        return ()
    miss, unit = _largest(look, seen, some)
    names = ", ".join(repr(name) for name in dict.fromkeys(look.owners[k].name for k in some))
    return (
        f"over-constrained by {_rows(len(some))} of closure {names}, misfit {miss:.3g} {unit}: within closure_tolerance = "
        f"{look.tolerance:g} of the mechanism's size, so treated as implied by the others and left out, and watched to stay so",
    )


def _left_out(look: _Look, seen: _Seen) -> tuple[str, ...]:
    """A warning about rows that repeat others to round-off: the forces they carry are undetermined.

    Rows normal to a plane that the mechanism cannot leave are not reported: a closure whose points, or axes, cannot move in that
    direction at all carries nothing there.
    """
    some = [k for k in seen.implied if _closeness(look, seen, [k]) <= EXACT]
    if not some:
        return ()
    blocks: dict[tuple[str, bool], list[int]] = {}  # of positions and of directions, closure by closure
    for k, (owner, angular) in enumerate(zip(look.owners, look.found.angular, strict=True)):
        blocks.setdefault((owner.name, bool(angular)), []).append(k)
    count = len(some) - sum(len(block) - look.rank(seen, block) for block in blocks.values())
    if count <= 0:
        return ()
    names = ", ".join(repr(name) for name in dict.fromkeys(look.owners[k].name for k in some))
    return (
        f"{_rows(count)} of closure {names} left out, for the other {len(seen.matrix.independent)} rows hold the same: the motion "
        "stays, but how rigid bodies share the load there is not known; multipliers and joint reactions are one choice of many",
    )


def _empty(look: _Look, closures: Sequence[Closure]) -> tuple[str, ...]:
    """A warning about closures between frames that are in one place whatever moves.

    Of a wheel one row that holds something is enough: in a plane it cannot move across its path.
    """
    wheels = [closure.wheel.name if isinstance(closure, FormulaClosure) and closure.wheel else None for closure in closures]
    rolling = {wheels[k] for k in look.found.owners} - {None}
    names = [closure.name for k, closure in enumerate(closures) if k not in look.found.owners and wheels[k] not in rolling]
    return tuple(f"closure {name!r} holds nothing: what it connects cannot move apart" for name in names)


def _stuck_loops(look: _Look, seen: _Seen) -> tuple[str, ...]:
    """A warning about loops in which nothing can move although others can: the bodies in them stay where they are.

    A joint some of whose coordinates can still move is no such loop: a guide holds the angle of a slider, which slides.
    """
    said = []
    fixed = [k for k, owner in enumerate(look.owners) if not owner.prescribed and not isinstance(owner, FormulaClosure)]
    for coordinates, coupled in _groups([seen.whole[k] for k in fixed]):
        group = [fixed[row] for row in coupled]
        whole = all(look.joint_of.get(k, coordinates) <= coordinates for k in coordinates)
        if (
            whole
            and not any(_driven(look.tree, look.owners[k]) for k in group)
            and len(group) >= len(coordinates) == look.rank(seen, group)
        ):
            names = ", ".join(repr(name) for name in dict.fromkeys(look.owners[k].name for k in group))
            sentence = f"closure {names} leaves the loop that it closes 0 degrees of freedom: its {len(coordinates)} coordinates"
            said.append(f"{sentence} stay where they are, whatever drives them")
    return tuple(said)


def _driven(tree: Tree, closure: Closure) -> bool:
    """Whether a prescribed coordinate moves one of the frames that a closure connects."""
    ends = [frame.body for frame in (closure.a, closure.b) if isinstance(frame, Frame) and frame.body != GROUND]
    numbers = [tree.index(body) for body in ends]
    for number in numbers:
        node = tree.nodes[number]
        if node.link.prescribed:
            return True
        numbers += [node.parent] if node.parent != ROOT else []
    return False


def _groups(rows: Sequence[dict[int, float]]) -> list[tuple[set[int], list[int]]]:
    """Groups of coordinates that rows couple, directly or indirectly, each with the numbers of its rows."""
    groups: list[tuple[set[int], list[int]]] = []
    for k, row in enumerate(rows):
        own = {number for number, a in row.items() if a != 0.0}
        met = [group for group in groups if group[0] & own]
        groups = [group for group in groups if not group[0] & own]
        if own:
            groups.append((own.union(*(group[0] for group in met)), sorted([k, *(j for group in met for j in group[1])])))
    return groups


def _check_followed(look: _Look, seen: _Seen, v: Floats, held: Sequence[str]) -> None:
    """Raise an error if no rates keep every loop closed: then a prescribed motion contradicts other constraints."""
    allowed = np.full(seen.rate.size, FOLLOWED)
    fastest = float(np.max(np.abs(v), initial=0.0))
    allowed[seen.implied] += (look.tolerance * fastest * look.scale)[seen.implied]
    if np.all(np.abs(seen.rate) <= allowed):
        return
    worst = int(np.argmax(np.abs(seen.rate) - allowed))
    given = " or a held rate" if held else ""
    raise SolveError(
        f"closure {look.owners[worst].name!r}: rates at the start must keep it closed, {abs(seen.rate[worst]):.3g} "
        f"{look.units[worst]}/s is left: a prescribed motion{given} contradicts other closures or motions"
    )


def _check_regular(look: _Look, q: Floats, v: Floats, seen: _Seen) -> None:
    """Rows that are dependent here but independent nearby, where all loops are closed too, indicate a singular position.

    A redundant closure is dependent everywhere, so the rank is checked again a little further along the motion. Its rows also stay
    closed there if only the independent ones are closed; a row that opens is implied to first order only.
    """
    push = np.zeros(look.count)
    push[list(look.free)] = np.cos(1.0 + np.arange(len(look.free)))  # a generic direction
    gone, still = look.at(q, push).rate, look.at(q, np.zeros(look.count)).rate
    push += look.change(seen.matrix, gone - still)  # projected onto the motions that all rows allow
    size = float(np.max(np.abs(push), initial=0.0))
    if size <= STILL:
        return
    pushed = look.moved(q, push * (BESIDE / size))
    beside = _closed(look, pushed, v)
    there = look.at(beside, v, max(look.tolerance, NEW_BESIDE))
    new = set(there.matrix.independent) - set(seen.matrix.independent)
    more = len(there.matrix.independent) - len(seen.matrix.independent)
    if more > 0 and look.closed(there):
        names = sorted({repr(look.owners[k].name) for k in new})
        raise SolveError(
            f"closure {', '.join(names)}: directions must be independent at the start, {more} of them are so only beside it: "
            "a singular position, from which the loops may go on in more ways than one; start beside it"
        )
    moved = look.at(_closed(look, pushed, v, left=seen.implied), v, left=seen.implied)
    opened = [k for k in seen.implied if abs(moved.c[k]) > look.tolerance * look.scale[k]]
    if opened and moved.held() <= ASSEMBLED:
        miss, unit = _largest(look, moved, opened)
        owners = ", ".join(dict.fromkeys(repr(look.owners[k].name) for k in opened))
        raise SolveError(
            f"closure {owners}: rows that others imply at the start must stay so, but {_rows(len(opened))} would be open by "
            f"{miss:.3g} {unit} after a motion of {BESIDE:g} m or rad that the other rows allow: a singular position, in which the "
            "loops hold the mechanism to second order only; start beside it, leave out what is held twice, or, if they hold both "
            "ends of a beam, which shortens as it bends, let one end slide or choose stiffening 'none'"
        )
