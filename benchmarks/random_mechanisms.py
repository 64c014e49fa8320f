"""Random mechanisms, each reproducible from (seed, number): trees of 1 to 8 bodies, and scenes that such trees seldom hit.

Registries decide what is drawn (`random_parts.py`). Loops are closed where the tree's own start has them closed, and contacts begin
open or on their zero.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from random_parts import (
    Rng,
    beam,
    body_for,
    direction,
    even,
    friction_law,
    joint_for,
    joint_of,
    motion,
    normal_law,
    often,
    one_of,
    prescribed_joint,
    signal,
    spread,
)

import pliant as pl
from pliant.dynamics.kinematics import Pose, place_pose, poses
from pliant.dynamics.tree import Tree, build_tree
from pliant.files import parse_formula
from pliant.model.closure import CLOSURES
from pliant.model.frame import GROUND, Frame
from pliant.model.joint import BALL, Joint
from pliant.model.system import BodyHandle

SIZES = (0.26, 0.26, 0.2, 0.12, 0.06, 0.04, 0.03, 0.03)  # how often a tree has 1, 2, ... 8 bodies
MOST_PAIRS = 5
ULP = 2.0**-53


@dataclass(frozen=True)
class Mechanism:
    """A mechanism with how long it runs and what kind of scene it is."""

    system: pl.System
    t_end: float  # s
    scene: str


def make(seed: int, number: int) -> Mechanism:
    """Mechanism `number` of a seed."""
    rng = np.random.default_rng([seed, number])
    names = list(SCENES)
    weights = np.array([SCENES[name][0] for name in names])
    scene = str(rng.choice(names, p=weights / weights.sum()))
    system = SCENES[scene][1](rng)
    return Mechanism(system, float(rng.choice([0.3, 0.5, 0.8])), scene)


# ---- the tree, and what stands around it


class Scene:
    """A system in the making, with the poses of its start."""

    def __init__(self, rng: Rng, name: str, spatial: bool, gravity: Sequence[float]) -> None:
        self.rng, self.spatial = rng, spatial
        self.system = pl.System(name, gravity=gravity)
        self.handles: list[BodyHandle] = []
        self._made: tuple[int, Tree, list[Pose]] | None = None  # how many bodies there were, and where they are

    def add(self, body: Any, joint: Joint, on: Frame | None = None, **initial: Any) -> BodyHandle:
        handle = self.system.add(f"b{len(self.handles)}", body, joint=joint, on=on, **initial)
        self.handles.append(handle)
        return handle

    def places(self, handle: BodyHandle) -> list[Frame]:
        body = handle.body
        more = [handle.at(0.5 * body.length)] if isinstance(body, pl.Beam) else []
        return [handle.tip, *([handle.root] if handle.root != handle.tip else []), *more]

    def tree(self) -> Tree:
        return self._start()[0]

    def _start(self) -> tuple[Tree, list[Pose]]:
        if self._made is None or self._made[0] != len(self.handles):
            tree = build_tree(self.system)
            self._made = len(self.handles), tree, poses(tree, start_of(tree))
        return self._made[1:]

    def pose(self, frame: Frame) -> Pose:
        """Where a frame is at the start, prescribed coordinates where their motions have them."""
        tree, bodies = self._start()
        return place_pose(tree, tree.place(frame), bodies, start_of(tree))

    def position(self, frame: Frame) -> np.ndarray:
        return np.array(self.pose(frame).position, dtype=float)

    def beside(self, frame: Frame, of: Frame) -> Frame:
        """A frame fixed on the body of `of` that coincides with `frame` at the start."""
        a, b = self.pose(frame), self.pose(of)
        turn = np.array(b.rotation.matrix, dtype=float)
        offset = turn.T @ (np.array(a.position, dtype=float) - np.array(b.position, dtype=float))
        relative = turn.T @ np.array(a.rotation.matrix, dtype=float)
        moved = of.moved(tuple(float(x) for x in offset))
        axis, angle = axis_angle(relative)
        return moved if angle == 0.0 else moved.turned(angle, axis)


def start_of(tree: Tree, t: float = 0.0) -> list[float]:
    """The coordinates of the start, prescribed ones where their motions have them at t."""
    q = [float(x) for x in tree.start]
    for coordinate in tree.prescribed:
        q[coordinate.q] = value_of(coordinate.motion, t)
    return q


def value_of(one: Any, t: float) -> float:
    """Where a prescribed motion is at a time."""
    if isinstance(one, pl.MotionTable):
        c0, c1, c2, c3, origin = one.piece(t)
        s = t - origin
        return float(((c3 * s + c2) * s + c1) * s + c0)
    return float(one.function(t))


def axis_angle(matrix: np.ndarray) -> tuple[tuple[float, float, float], float]:
    """The turn of a rotation matrix, by its quaternion; no turn where it is the identity up to round-off."""
    from scipy.spatial.transform import Rotation

    vector = Rotation.from_matrix(matrix).as_rotvec()
    angle = float(np.linalg.norm(vector))
    if angle < 1e-15:
        return (0.0, 0.0, 1.0), 0.0
    x, y, z = (float(c) for c in vector / angle)
    return (x, y, z), angle


def random_tree(rng: Rng) -> pl.System:
    """One to eight bodies on random joints, with whatever acts, touches and closes."""
    spatial = often(rng, 0.5)
    gravity: tuple[float, ...] = (0.0, 0.0, -9.81) if spatial else (0.0, -9.81)
    gravity = tuple(0.0 * g for g in gravity) if often(rng, 0.07) else gravity
    scene = Scene(rng, "random tree", spatial, gravity)
    count = 1 + int(rng.choice(len(SIZES), p=SIZES))
    driven = int(rng.integers(count)) if count > 1 and often(rng, 0.25) else None
    for k in range(count):
        joint = joint_for(rng, spatial, k == 0)
        joint = prescribed_joint(rng, joint) if k == driven else joint
        on = None if k == 0 or often(rng, 0.1) else one_of(rng, scene.handles).tip
        if on is not None and often(rng, 0.2):
            on = on.moved((even(rng, -0.1, 0.1), even(rng, -0.1, 0.1))).turned(even(rng, -1.0, 1.0))
        scene.add(body_for(rng, joint, spatial), joint, on)
    act(scene)
    if often(rng, 0.25):
        close(scene)
    touch(scene)
    watch(scene)
    return scene.system


def coordinates_of(scene: Scene) -> list[str]:
    """Joint coordinates that are free, balls left out."""
    found = []
    for link in scene.system.links.values():
        found += [f"{link.name}.{m.name}" for m in link.joint.motions if m.kind != BALL and m.name not in link.prescribed]
    return found


def act(scene: Scene) -> None:
    """Drives and loads."""
    rng, system = scene.rng, scene.system
    names = coordinates_of(scene)
    if names and often(rng, 0.25):
        name = one_of(rng, names)
        system.drive("drive", name, signal(rng, 3.0, name))
    if often(rng, 0.2):
        at = one_of(rng, scene.handles).tip
        vector = [signal(rng, 5.0), signal(rng, 5.0)] + [signal(rng, 5.0)] * scene.spatial
        system.force("push", at, vector, expressed=one_of(rng, ("world", "body")))


def watch(scene: Scene) -> None:
    """Events of the user's own, some of which begin on their zero."""
    rng, names = scene.rng, coordinates_of(scene)
    tree = scene.tree()
    for k in range(int(rng.integers(0, 3)) if names and often(rng, 0.4) else 0):
        name = one_of(rng, names)
        at = start_of(tree)[tree.positions.index(name)] + one_of(rng, (0.0, 0.0, even(rng, -0.3, 0.3)))
        text = one_of(rng, (f"q['{name}'] - ({at!r})", f"q['{name}'] - ({at!r})", f"v['{name}']"))
        scene.system.event(f"watch{k}", parse_formula(text), one_of(rng, ("both", "rising", "falling")), stop=often(rng, 0.1))


# ---- contacts


def touch(scene: Scene) -> None:
    """Points and spheres against the ground, against planes on bodies, against each other; none pressed at the start."""
    rng = scene.rng
    if often(rng, 0.85):
        on_ground(scene, one_of(rng, (0.0, 0.0, even(rng, 0.0, 0.02), even(rng, 0.0, 0.2))))
    if len(scene.handles) > 1 and often(rng, 0.15):
        on_carried_plane(scene)
    if len(scene.handles) > 1 and often(rng, 0.3):
        between_balls(scene)


def up_of(scene: Scene) -> tuple[float, float, float]:
    """Out of the ground: against gravity, sometimes on a slope."""
    if often(scene.rng, 0.6):
        return (0.0, 0.0, 1.0) if scene.spatial else (0.0, 1.0, 0.0)
    lean = even(scene.rng, -0.4, 0.4)
    side, up = math.sin(lean), math.cos(lean)
    return (side, 0.0, up) if scene.spatial else (side, up, 0.0)


def on_ground(scene: Scene, clearance: float) -> None:
    rng = scene.rng
    handles = [scene.handles[int(k)] for k in rng.permutation(len(scene.handles))[: int(rng.integers(1, MOST_PAIRS))]]
    shapes: list[Any] = []
    for handle in handles:
        frame = one_of(rng, scene.places(handle))
        shapes.append(pl.Sphere(frame, even(rng, 0.01, 0.08)) if often(rng, 0.5) else pl.Point(frame))
    normal = np.array(up_of(scene))
    lowest = min(float(normal @ scene.position(s.at)) - getattr(s, "radius", 0.0) for s in shapes)
    point = tuple(float(x) for x in normal * (lowest - clearance))
    plane = pl.Plane(normal=tuple(float(x) for x in normal), point=point)
    scene.system.contact(points=shapes, against=plane, normal=normal_law(rng), friction=friction_law(rng), name="ground")


def two_places(scene: Scene) -> tuple[Frame, Frame] | None:
    """Places on two bodies that are not welded or hinged to each other, some way apart."""
    rng = scene.rng
    for _ in range(6):
        i, j = (int(k) for k in rng.choice(len(scene.handles), 2, replace=False))
        a, b = scene.handles[i], scene.handles[j]
        links = scene.system.links
        if links[a.name].on.body == b.name or links[b.name].on.body == a.name:
            continue
        first, second = one_of(rng, scene.places(a)), one_of(rng, scene.places(b))
        if np.linalg.norm(scene.position(first) - scene.position(second)) > 0.04:
            return first, second
    return None


def on_carried_plane(scene: Scene) -> None:
    found, rng = two_places(scene), scene.rng
    if found is None:
        return
    ball, carrier = found
    radius, clearance = even(rng, 0.01, 0.05), one_of(rng, (0.0, even(rng, 0.0, 0.1)))
    turn = np.array(scene.pose(carrier).rotation.matrix, dtype=float)
    there = turn.T @ (scene.position(ball) - scene.position(carrier))
    normal = np.array(direction(rng)) * np.array([1.0, 1.0, 1.0 if scene.spatial else 0.0])
    normal /= np.linalg.norm(normal)
    point = there - (radius + clearance) * normal
    plane = pl.Plane(normal=tuple(map(float, normal)), point=tuple(map(float, point)), on=carrier)
    scene.system.contact(points=pl.Sphere(ball, radius), against=plane, normal=normal_law(rng), friction=friction_law(rng),
                         name="carried")  # fmt: skip


def between_balls(scene: Scene) -> None:
    found, rng = two_places(scene), scene.rng
    if found is None:
        return
    apart = float(np.linalg.norm(scene.position(found[0]) - scene.position(found[1])))
    together = apart - one_of(rng, (0.0, even(rng, 0.0, 0.5) * apart))
    share = one_of(rng, (0.5, even(rng, 0.2, 0.8), 1.0))
    first: Any = pl.Sphere(found[0], share * together)
    second: Any = pl.Sphere(found[1], (1.0 - share) * together) if share < 1.0 else pl.Point(found[1])
    scene.system.contact(points=first, against=second, normal=normal_law(rng), friction=friction_law(rng), name="balls")


# ---- closures

# How many directions a closure takes away in space and in the plane, where it takes any.
TAKEN = {"point": (3, 2), "spherical": (3, 2), "revolute": (5, 2), "weld": (6, 3), "prismatic": (5, 2), "slider": (2, 1),
         "distance": (1, 1), "cylindrical": (4, 2), "universal": (4, 2), "planar": (3, 1), "gear": (1, 1),
         "prescribed": (3, 2)}  # fmt: skip


def close(scene: Scene) -> None:
    """One closure of what the start has closed already; only where the loop keeps a freedom, unless springs close it."""
    rng = scene.rng
    kind = one_of(rng, tuple(CLOSURES))
    if kind not in TAKEN:
        raise LookupError(f"closure {kind!r}: say in TAKEN of random_mechanisms.py how many directions it holds")
    by = {"by": "springs", "stiffness": spread(rng, 1e3, 1e5), "damping": even(rng, 0.0, 20.0)} if often(rng, 0.35) else {}
    if kind == "gear" or (kind == "prescribed" and often(rng, 0.5)):
        _close_coordinates(scene, kind, by)
        return
    handle = one_of(rng, scene.handles)
    others = [h for h in scene.handles if h is not handle]
    other = one_of(rng, others) if others and often(rng, 0.4) else None
    taken = TAKEN[kind][0 if scene.spatial else 1]
    if not by and freedom_between(scene, handle, other) <= taken:
        return
    a = one_of(rng, scene.places(handle))
    of = scene.system.ground if other is None else other.root
    b = scene.beside(a, of)
    axis = one_of(rng, ("x", "y", "z")) if scene.spatial else "z" if kind in ("revolute", "planar") else one_of(rng, ("x", "y"))
    given: dict[str, Any] = {"axis": axis, **by}
    if kind == "distance":
        b, length = b.moved((even(rng, 0.1, 0.4), 0.0, 0.0)), 0.0
        length = float(np.linalg.norm(scene.position(a) - scene.position(b)))
        given["length"] = length if often(rng, 0.7) else motion(rng, length, 0.05)
        given["length"] = given["length"] if can_part(scene, a, b) else length  # nothing could follow a motion
    if kind == "universal":
        given["axis"], given["other_axis"] = ("x", "y") if scene.spatial else ("x", "z")
    if kind == "prescribed":
        given["motion"] = [motion(rng, 0.0, 0.05) for _ in range(3 if scene.spatial else 2)]
    if by or can_follow(scene, a, b):
        scene.system.close("loop", kind, a, b, **given)


PROBE = 1e-3  # m or rad, by which a coordinate is moved to see what it changes


def can_part(scene: Scene, a: Frame, b: Frame) -> bool:
    """Whether some coordinate changes the distance between two frames."""
    tree = scene.tree()
    apart = between(tree, a, b, start_of(tree))
    prescribed = {coordinate.q for coordinate in tree.prescribed}
    moved = (between(tree, a, b, probe(tree, k)) for k in range(len(tree.positions)) if k not in prescribed)
    return any(abs(np.linalg.norm(one) - np.linalg.norm(apart)) > 1e-6 for one in moved)


def can_follow(scene: Scene, a: Frame, b: Frame) -> bool:
    """Whether free coordinates can make up for every prescribed one between two frames: otherwise its motion breaks the loop."""
    tree = scene.tree()
    here = between(tree, a, b, start_of(tree))
    slopes = np.array([between(tree, a, b, probe(tree, k)) - here for k in range(len(tree.positions))]).T / PROBE
    prescribed = [coordinate.q for coordinate in tree.prescribed]
    free = np.delete(slopes, prescribed, axis=1)
    left = slopes[:, prescribed] - free @ np.linalg.lstsq(free, slopes[:, prescribed], rcond=1e-3)[0]
    return bool(np.all(np.abs(left) < 0.01))


def probe(tree: Tree, k: int) -> list[float]:
    """The start, with one coordinate moved a little."""
    return [x + PROBE * (i == k) for i, x in enumerate(start_of(tree))]


def between(tree: Tree, a: Frame, b: Frame, q: list[float]) -> Any:
    """From frame b to frame a, m."""
    bodies = poses(tree, q)
    first, second = (np.array(place_pose(tree, tree.place(frame), bodies, q).position, dtype=float) for frame in (a, b))
    return first - second


def _close_coordinates(scene: Scene, kind: str, by: dict[str, Any]) -> None:
    rng, names = scene.rng, coordinates_of(scene)
    if len(names) < 2:
        return
    a, b = (names[int(k)] for k in rng.choice(len(names), 2, replace=False))
    if kind == "gear":
        scene.system.close("gear", kind, a, b, ratio=one_of(rng, (-2.0, -1.0, 0.5, 1.0, 3.0)), **by)
        return
    tree = scene.tree()
    at = start_of(tree)[tree.positions.index(a)]
    scene.system.close("follow", kind, a, motion=motion(rng, at, 0.2), **by)


def freedom_between(scene: Scene, handle: BodyHandle, other: BodyHandle | None) -> int:
    """Free joint rates on the way from one body to another, or to the ground."""
    links = scene.system.links

    def way(name: str) -> set[str]:
        return set() if name == GROUND else {name} | way(links[name].on.body)

    path = way(handle.name) ^ (set() if other is None else way(other.name))
    return sum(len(m.rates) for name in path for m in links[name].joint.motions if m.name not in links[name].prescribed)


# ---- scenes that random trees seldom hit


def sphere_body(mass: float, radius: float) -> pl.RigidBody:
    return pl.RigidBody(mass=mass, inertia=(0.4 * mass * radius**2,) * 3)


def stack(rng: Rng) -> pl.System:
    """Two to six spheres one on another that just touch, the lowest on the ground; straight, or leaning a little."""
    spatial = often(rng, 0.4)
    scene = Scene(rng, "stack of spheres", spatial, (0.0, -9.81, 0.0))
    law, friction = normal_law(rng), friction_law(rng)
    radii = [one_of(rng, (0.1, 0.05, even(rng, 0.03, 0.12))) for _ in range(int(rng.integers(2, 7)))]
    apart = one_of(rng, (0.0, 0.0, 0.01))
    height, lean, balls = 0.0, one_of(rng, (0.0, 0.0, 1e-3)), []
    for k, radius in enumerate(radii):
        height += radius + apart * (k > 0)
        at = (lean * k, height)
        joint: Joint = pl.Free(position=(*at, 0.0)) if spatial else pl.Planar(position=at)
        balls.append(pl.Sphere(scene.add(sphere_body(spread(rng, 0.2, 3.0), radius), joint).root, radius))
        height += radius
    system = scene.system
    system.contact(points=balls[0], against=pl.Plane(normal=(0, 1, 0)), normal=law, friction=friction, name="ground")
    for k, (low, high) in enumerate(pairwise(balls)):
        system.contact(points=high, against=low, normal=law, friction=friction, name=f"balls{k}")
    return system


def cradle(rng: Rng) -> pl.System:
    """Newton's cradle: two to five balls on rods, touching or apart, the first drawn aside."""
    scene = Scene(rng, "cradle", False, (0.0, -9.81))
    radius, count = one_of(rng, (0.05, 0.1, even(rng, 0.03, 0.1))), int(rng.integers(2, 6))
    apart, law = one_of(rng, (0.0, 1e-3)), normal_law(rng)
    balls = []
    for k in range(count):
        x = (2.0 * radius + apart) * k
        joint = pl.Revolute(angle=-0.5 * math.pi - (even(rng, 0.2, 0.6) if k == 0 else 0.0))
        bob = pl.RigidBody(mass=1.0, inertia=0.4 * radius**2, com=(0.5, 0.0), tip=(0.5, 0.0))
        balls.append(pl.Sphere(scene.add(bob, joint, scene.system.ground.moved((x, 0.0))).tip, radius))
    for k, (left, right) in enumerate(pairwise(balls)):
        scene.system.contact(points=right, against=left, normal=law, name=f"balls{k}")
    return scene.system


def chain_on_ground(rng: Rng) -> pl.System:
    """A chain, rigid or elastic, lying on the ground or just above it."""
    scene = Scene(rng, "chain on the ground", False, (0.0, -9.81))
    elastic, count = often(rng, 0.4), int(rng.integers(1, 5))
    link: Any = beam(rng, False) if elastic else pl.RigidBody.rod(even(rng, 0.2, 0.6), spread(rng, 0.3, 3.0))
    height = one_of(rng, (0.0, 0.0, ULP, 0.01))
    speed = one_of(rng, (0.0, even(rng, -1.0, 1.0)))
    on = scene.add(link, pl.Planar(position=(0.0, height), velocity=(speed, 0.0), rate=one_of(rng, (0.0, even(rng, 0.0, 2.0))))).tip
    for _ in range(count - 1):
        joint = joint_of(rng, pl.Revolute, False, size=0.0 if often(rng, 0.5) else 0.3)
        on = scene.add(link, replace(joint, angle=abs(joint.angle)), on).tip  # upwards: none begins deep in the ground
    ground = pl.Plane(normal=(0, 1, 0))
    scene.system.contact(points=scene.system.ends(), against=ground, normal=normal_law(rng), friction=friction_law(rng))
    return scene.system


def pusher(rng: Rng) -> pl.System:
    """Something told to move strikes a body at rest, by a plane it carries or with a ball of its own."""
    scene = Scene(rng, "pusher", False, one_of(rng, ((0.0, 0.0), (0.0, -9.81))))
    slide = pl.Prismatic(axis="x", motion=motion(rng, 0.0, 0.12))
    ram = scene.add(pl.RigidBody(mass=1.0), slide)
    radius, gap = even(rng, 0.02, 0.1), one_of(rng, (0.0, even(rng, 1e-3, 0.06)))
    law, friction = normal_law(rng), friction_law(rng)
    body, system = sphere_body(spread(rng, 0.2, 3.0), radius), scene.system
    if often(rng, 0.5):
        ball = pl.Sphere(scene.add(body, pl.Planar(position=(gap + radius, radius))).root, radius)
        system.contact(points=ball, against=pl.Plane(normal=(1, 0, 0), on=ram.root), normal=law, friction=friction, name="ram")
    else:
        own = even(rng, 0.02, 0.1)
        ball = pl.Sphere(scene.add(body, pl.Planar(position=(gap + radius + own, radius))).root, radius)
        head = pl.Sphere(ram.root.moved((0.0, radius)), own)
        system.contact(points=ball, against=head, normal=law, friction=friction, name="ram")
    ground = pl.Plane(normal=(0, 1, 0))
    system.contact(points=ball, against=ground, normal=normal_law(rng), friction=friction_law(rng), name="ground")
    return system


def four_bar(rng: Rng) -> pl.System:
    """A crank, a coupler and a rocker, rigid or with an elastic coupler; the last pin a closure that may say too much."""
    scene = Scene(rng, "four-bar", False, (0.0, -9.81))
    crank, coupler, rocker = even(rng, 0.1, 0.3), even(rng, 0.5, 0.8), even(rng, 0.4, 0.7)
    base, angle = even(rng, 0.5, 0.8), even(rng, 0.3, 2.8)
    pin = crank * np.array([math.cos(angle), math.sin(angle)])
    way = np.array([base, 0.0]) - pin
    far = float(np.hypot(*way))
    if not abs(coupler - rocker) < 0.95 * far < 0.9 * (coupler + rocker):
        coupler, rocker = 0.6 * far, 0.7 * far
    bend = math.acos((coupler**2 + far**2 - rocker**2) / (2.0 * coupler * far))
    along = math.atan2(way[1], way[0]) + bend
    tip = pin + coupler * np.array([math.cos(along), math.sin(along)])
    back = math.atan2(tip[1], tip[0] - base)
    turning = {"motion": motion(rng, angle, 0.6)} if often(rng, 0.4) else {"rate": even(rng, -5.0, 5.0)}
    first = scene.add(pl.RigidBody.rod(crank, 0.5), pl.Revolute(angle=angle, **turning))
    second = scene.add(pl.RigidBody.rod(coupler, 1.0), pl.Revolute(angle=along - angle), first.tip)
    third = scene.add(pl.RigidBody.rod(rocker, 1.0), pl.Revolute(angle=back), scene.system.ground.moved((base, 0.0)))
    kind = one_of(rng, ("point", "revolute", "spherical", "universal", "distance"))
    given: dict[str, Any] = {"by": "springs", "stiffness": 1e5, "damping": 10.0} if often(rng, 0.3) else {}
    if kind == "distance":
        scene.system.close("pin", "distance", second.at((0.5 * coupler, 0.0)), third.root, **given,
                           length=float(np.hypot(*(pin + 0.5 * (tip - pin) - np.array([base, 0.0])))))  # fmt: skip
    elif kind == "revolute":
        scene.system.close("pin", "revolute", second.tip, scene.beside(second.tip, third.root), **given)
    elif kind == "universal":
        scene.system.close("pin", "universal", second.tip, third.tip, axis="z", other_axis="x", **given)
    else:
        scene.system.close("pin", kind, second.tip, third.tip, **given)
    if often(rng, 0.5):
        lowest = float(tip[1]) - one_of(rng, (0.0, 0.05, 0.2))
        scene.system.contact(points=third.tip, against=pl.Plane(normal=(0, 1, 0), point=(0.0, lowest)), normal=normal_law(rng),
                             friction=friction_law(rng), name="ground")  # fmt: skip
    return scene.system


SCENES: dict[str, tuple[float, Callable[[Rng], pl.System]]] = {
    "tree": (0.58, random_tree),
    "stack": (0.1, stack),
    "cradle": (0.05, cradle),
    "chain": (0.11, chain_on_ground),
    "pusher": (0.09, pusher),
    "four-bar": (0.07, four_bar),
}
