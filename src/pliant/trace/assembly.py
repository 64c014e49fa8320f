"""Assembly of closed loops at the start: coordinates and rates that close them, independent rows, and errors."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from pliant.codegen.tracer import Tracer
from pliant.dynamics.closures import PrescribedValues, rows
from pliant.dynamics.kinematics import place_pose, poses
from pliant.dynamics.retraction import retract
from pliant.dynamics.sparse import LeastChange, least_change
from pliant.dynamics.tree import Tree
from pliant.errors import SolveError
from pliant.model.closure import Closure
from pliant.model.joint import BALL, ROTATION

Floats = NDArray[np.float64]

ASSEMBLY_STEPS = 100
ASSEMBLED = 1e-12  # m or rad, what is left of a residual that counts as closed
LONGEST_ASSEMBLY_STEP = 0.3  # m or rad: Gauss-Newton is not to leap to another branch
BENDING = 1e-3  # how readily modes and free lengths give way in assembly, beside joints
FOLLOWED = 1e-9  # m/s or rad/s, what is left of a residual's rate that counts as none
BESIDE = 1e-2  # m or rad, how far beside the start the rows are looked at again
NEW_BESIDE = 1e-5  # of a row: what a singular position, left by as much as that, has become at least
STILL = 1e-9  # m or rad: a push that the rows take away but for this leads nowhere
EXACT = 1e-9  # of the size, or of 1 rad: rows that others imply as closely as this are implied by round-off
NEARLY = 1e-2  # of the size, or of 1 rad: what others imply no more closely than this is no matter of tolerance


@dataclass(frozen=True)
class Assembly:
    """A start that closes every loop: coordinates, rates, and which rows are independent there."""

    q: Floats
    v: Floats
    independent: tuple[int, ...]
    redundant: tuple[str, ...] = ()  # names of closures with rows that are implied by others
    scale: tuple[float, ...] = ()  # of every row: the mechanism's size, m, or 1 rad
    size: float = 1.0  # m, of the mechanism
    warnings: tuple[str, ...] = ()
    locked: str = ""  # why the mechanism cannot move; empty if it can


@dataclass(frozen=True)
class _Seen:
    """Closures at a state."""

    c: Floats
    rate: Floats
    whole: list[dict[int, float]]  # A
    matrix: LeastChange  # A of the free coordinates, eased, without implied rows; solves for the least change

    @property
    def implied(self) -> list[int]:
        return list(self.matrix.left)

    def held(self) -> float:
        """What the rows that say something new miss by, m or rad."""
        return float(np.max(np.abs(self.c[list(self.matrix.independent)]), initial=0.0))


class _Look:
    """Residuals, rates and Jacobian of closures as numbers."""

    def __init__(
        self,
        tree: Tree,
        closures: Sequence[Closure],
        tracer: Tracer,
        free: Sequence[int],
        prescribed: Sequence[Sequence[PrescribedValues | None]],
        size: float,
        tolerance: float,
    ) -> None:
        q_column, q = tracer.symbols("q", len(tree.positions))
        v_column, v = tracer.symbols("v", len(tree.rates))
        step_column, step = tracer.symbols("step", len(tree.rates))
        self.found = rows(tree, closures, q, v, tracer, prescribed)
        self.owners = [closures[owner] for owner in self.found.owners]
        self.scale = np.array([1.0 if angular else size for angular in self.found.angular])
        self.units = ["rad" if angular else "m" for angular in self.found.angular]
        self.tolerance = tolerance
        self.free, own = tuple(free), {k for node in tree.nodes for k in node.own_v}
        self.count = len(tree.rates)
        self.ease = {k: BENDING if k in own else 1.0 for k in free}
        # rank is a matter of geometry: rad beside lengths over the size, so that it is the same for a mechanism of any size
        turning = [slot for slot in tree.slots if slot.motion.kind in (ROTATION, BALL)]
        self.measure = dict.fromkeys(range(self.count), size)
        self.measure |= {slot.v + i: 1.0 for slot in turning for i in range(len(slot.motion.rates))}
        self._factored: dict[tuple[bytes, float], LeastChange] = {}
        entries = [x for row in self.found.jacobian for x in row.values()]
        outputs = [tracer.column(x) for x in (self.found.residual, self.found.rate, entries)]
        self._values = ca.Function("look", [q_column, v_column], outputs)
        self._move = ca.Function("move", [q_column, step_column], [tracer.column(retract(tree, q, step))])

    def at(self, q: Floats, v: Floats, tolerance: float | None = None) -> _Seen:
        """Everything at a state; tolerance: within which rows are implied by others."""
        c, rate, entries = (np.array(x).ravel() for x in self._values(q, v))
        values = iter(entries.tolist())
        whole = [{k: next(values) for k in row} for row in self.found.jacobian]
        asked = (q.tobytes(), tolerance or self.tolerance)
        if asked not in self._factored:  # the last one only: rates are asked for where positions were
            self._factored = {asked: self._factor(whole, asked[1])}
        return _Seen(c, rate, whole, self._factored[asked])

    def _factor(self, whole: list[dict[int, float]], tolerance: float) -> LeastChange:
        """Factorise: rank by geometric independence, smallest change in the weighted norm."""
        negligible = (tolerance * self.scale).tolist()
        ranked = least_change(_weighed(whole, {k: self.measure[k] for k in self.free}), self.count, negligible)
        if any(self.measure[k] != self.ease[k] for k in self.free):
            decided = [math.inf if k in ranked.left else 0.0 for k in range(len(whole))]
            eased = least_change(_weighed(whole, self.ease), self.count, decided)
            return replace(eased, left=ranked.left)
        return ranked

    def change(self, matrix: LeastChange, missing: Floats) -> Floats:
        """The smallest change, in the weighted norm, that removes the residuals."""
        found = np.array(matrix.solve((-missing).tolist(), self.count))
        for k in self.free:
            found[k] *= self.ease[k]
        return found

    def moved(self, q: Floats, step: Floats) -> Floats:
        return np.array(self._move(q, step)).ravel()

    def closed(self, seen: _Seen) -> bool:
        """Whether all rows are at zero, implied ones within the tolerance."""
        allowed = np.full(seen.c.size, 1e3 * ASSEMBLED)
        allowed[seen.implied] = np.maximum(allowed, self.tolerance * self.scale)[seen.implied]
        return bool(np.all(np.abs(seen.c) <= allowed))

    def freedom_left(self, seen: _Seen) -> int:
        """Coordinates that closures leave free where nothing tells them, or themselves, how to move."""
        fixed = [k for k, owner in enumerate(self.owners) if not owner.prescribed]
        return self.count - self.rank(seen, fixed)

    def rank(self, seen: _Seen, some: Sequence[int]) -> int:
        """How many of these rows are independent."""
        measured = _weighed([seen.whole[k] for k in some], self.measure)
        return len(least_change(measured, self.count, (self.tolerance * self.scale[list(some)]).tolist()).independent)


def _weighed(rows: Sequence[dict[int, float]], weights: Mapping[int, float]) -> list[dict[int, float]]:
    """Some columns of A, each times its weight."""
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
) -> Assembly:
    """Close the loops from a rough start by Gauss-Newton on all free coordinates, least change first.

    prescribed: the motions that closures follow, at the start. tolerance: of the mechanism's size (or 1 rad), what rows that others
    imply may miss by.
    """
    if not closures:
        return Assembly(q0, v0, ())
    size = size_of(tree, closures, q0)
    look = _Look(tree, closures, tracer, free, prescribed, size, tolerance)
    position = _closed(look, q0, v0)
    seen = look.at(position, v0)
    if not look.closed(seen):
        raise SolveError(_not_closed(look, seen, _nearest(look, q0, v0)))
    rate = v0 + look.change(seen.matrix, seen.rate)
    _check_followed(look, look.at(position, rate), rate)
    redundant = {look.owners[k].name for k in seen.implied}
    if redundant:
        _check_regular(look, position, rate, seen)
    return Assembly(
        position,
        rate,
        seen.matrix.independent,
        tuple(sorted(redundant)),
        tuple(look.scale.tolist()),
        size,
        warnings=(*_nearly_implied(look, seen), *_left_out(look, seen), *_stuck_loops(look, seen)),
        locked=_locked(look, seen, q0, v0),
    )


def size_of(tree: Tree, closures: Sequence[Closure], q: Floats) -> float:
    """The longest edge of the box around the origins of all bodies and of all frames that closures hold, m; 1 m for a point."""
    x = q.tolist()
    bodies = poses(tree, x)
    frames = [tree.place(frame) for closure in closures for frame in closure.frames or ()]
    places = [pose.position for pose in (*bodies, *(place_pose(tree, place, bodies, x) for place in frames))]
    extent = float(np.max(np.ptp(np.array(places, dtype=np.float64), axis=0)))
    return extent if extent > 0.0 else 1.0


def _closed(look: _Look, start: Floats, v: Floats, tolerance: float | None = None) -> Floats:
    position = start.copy()
    for _ in range(ASSEMBLY_STEPS):
        seen = look.at(position, v, tolerance)
        if seen.held() <= ASSEMBLED:
            break
        change = look.change(seen.matrix, seen.c)
        longest = np.max(np.abs(change))
        change *= min(1.0, LONGEST_ASSEMBLY_STEP / max(longest, 1e-300))
        position = look.moved(position, change)
    return position


# ---- what is wrong with a loop, or nearly so


@dataclass(frozen=True)
class _Nearest:
    """The loops closed but for rows that others imply nearly, as near to the start as that goes."""

    seen: _Seen
    look: _Look
    rows: list[int] = field(default_factory=list)  # implied nearly, not exactly

    def words(self) -> str:
        """What these rows miss by, and what tolerance leaves them out; nothing where there are none."""
        if not self.rows:
            return ""
        miss, unit = _largest(self.look, self.seen, self.rows)
        return (
            f"over-constrained by {_rows(len(self.rows))}, misfit {miss:.3g} {unit}, more than closure_tolerance = "
            f"{self.look.tolerance:g} of the mechanism's size allows; with closure_tolerance = "
            f"{2.0 * _closeness(self.look, self.seen, self.rows):.1g} it would be treated as movable"
        )


def _nearest(look: _Look, q0: Floats, v0: Floats) -> _Nearest:
    """Assemble once more by the rows that are far from implied, which is what a small misfit does not lead astray."""
    seen = look.at(_closed(look, q0, v0, NEARLY), v0, NEARLY)
    if seen.held() > 1e3 * ASSEMBLED or _closeness(look, seen, seen.implied) > NEARLY:
        return _Nearest(seen, look)
    return _Nearest(seen, look, [k for k in seen.implied if _closeness(look, seen, [k]) > look.tolerance])


def _closeness(look: _Look, seen: _Seen, some: Sequence[int]) -> float:
    """How closely implied rows are so, of the size or of 1 rad: by where they are, and by where they would move."""
    apart = [max(abs(float(seen.c[k])), seen.matrix.left[k]) / float(look.scale[k]) for k in some]
    return max(apart, default=0.0)


def _largest(look: _Look, seen: _Seen, some: Sequence[int]) -> tuple[float, str]:
    """The residual that is largest in proportion, and its unit."""
    worst = max(some, key=lambda k: abs(float(seen.c[k])) / float(look.scale[k]))
    return abs(float(seen.c[worst])), look.units[worst]


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count} rows"


def _not_closed(look: _Look, seen: _Seen, nearest: _Nearest) -> str:
    nearer = nearest.seen if np.max(np.abs(nearest.seen.c)) < np.max(np.abs(seen.c)) else seen
    worst = int(np.argmax(np.abs(nearer.c)))
    why = nearest.words() or "the loop cannot close with these lengths, or it starts too far from a closed position"
    return (
        f"closure {look.owners[worst].name!r}: residual must come to 0 in {ASSEMBLY_STEPS} assembly steps, "
        f"{abs(nearer.c[worst]):.3g} {look.units[worst]} is left: {why}"
    )


def _locked(look: _Look, seen: _Seen, q0: Floats, v0: Floats) -> str:
    """Why nothing can move, prescribed coordinates included; empty where something can."""
    if look.freedom_left(seen) > 0:
        return ""
    names = ", ".join(repr(name) for name in dict.fromkeys(owner.name for owner in look.owners))
    near = _nearest(look, q0, v0).words()
    return (
        f"closures must leave something free to move, they leave 0 degrees of freedom: the rows of {names} hold all {look.count} "
        f"coordinates{': ' if near else ''}{near}"
    )


def _nearly_implied(look: _Look, seen: _Seen) -> tuple[str, ...]:
    """Rows left out that are implied within the tolerance but not by round-off."""
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
    """Rows that repeat others by round-off: what they carry is not known.

    Not those across a plane that the mechanism cannot leave: a closure whose points, or axes, cannot move there at all needs no
    other to hold them.
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


def _stuck_loops(look: _Look, seen: _Seen) -> tuple[str, ...]:
    """Loops of which nothing can move, beside others that can: what they hold stays where it is."""
    said = []
    fixed = [k for k, owner in enumerate(look.owners) if not owner.prescribed]
    for coordinates, coupled in _groups([seen.whole[k] for k in fixed]):
        group = [fixed[row] for row in coupled]
        if len(group) >= len(coordinates) == look.rank(seen, group):
            names = ", ".join(repr(name) for name in dict.fromkeys(look.owners[k].name for k in group))
            sentence = f"closure {names} leaves the loop that it closes 0 degrees of freedom: its {len(coordinates)} coordinates"
            said.append(f"{sentence} stay where they are, whatever drives them")
    return tuple(said)


def _groups(rows: Sequence[dict[int, float]]) -> list[tuple[set[int], list[int]]]:
    """Coordinates that rows couple, directly or through others, with the numbers of these rows."""
    groups: list[tuple[set[int], list[int]]] = []
    for k, row in enumerate(rows):
        own = {number for number, a in row.items() if a != 0.0}
        met = [group for group in groups if group[0] & own]
        groups = [group for group in groups if not group[0] & own]
        if own:
            groups.append((own.union(*(group[0] for group in met)), sorted([k, *(j for group in met for j in group[1])])))
    return groups


def _check_followed(look: _Look, seen: _Seen, v: Floats) -> None:
    """Rates that keep every loop closed exist unless a prescribed motion asks for what others forbid."""
    allowed = np.full(seen.rate.size, FOLLOWED)
    fastest = float(np.max(np.abs(v), initial=0.0))
    allowed[seen.implied] += (look.tolerance * fastest * look.scale)[seen.implied]
    if np.all(np.abs(seen.rate) <= allowed):
        return
    worst = int(np.argmax(np.abs(seen.rate) - allowed))
    raise SolveError(
        f"closure {look.owners[worst].name!r}: rates at the start must keep it closed, {abs(seen.rate[worst]):.3g} "
        f"{look.units[worst]}/s is left: a prescribed motion contradicts other closures or motions"
    )


def _check_regular(look: _Look, q: Floats, v: Floats, seen: _Seen) -> None:
    """Rows that are dependent here but independent nearby, where all loops are closed too, indicate a singular position.

    A redundant closure says nothing new anywhere; so the question is put once more, a little further along the mechanism.
    """
    push = np.zeros(look.count)
    push[list(look.free)] = np.cos(1.0 + np.arange(len(look.free)))  # along no direction in particular
    gone, still = look.at(q, push).rate, look.at(q, np.zeros(look.count)).rate
    push += look.change(seen.matrix, gone - still)  # only what all rows allow
    size = float(np.max(np.abs(push), initial=0.0))
    if size <= STILL:
        return
    beside = _closed(look, look.moved(q, push * (BESIDE / size)), v)
    there = look.at(beside, v, max(look.tolerance, NEW_BESIDE))
    new = set(there.matrix.independent) - set(seen.matrix.independent)
    more = len(there.matrix.independent) - len(seen.matrix.independent)
    if more > 0 and look.closed(there):
        names = sorted({repr(look.owners[k].name) for k in new})
        raise SolveError(
            f"closure {', '.join(names)}: directions must be independent at the start, {more} of them are so only beside it: "
            "a singular position, from which the loops may go on in more ways than one; start beside it"
        )
