"""Random mechanisms, each reproducible from (seed, number), and starts that lie on the zeros of what a run watches.

Registries decide what is drawn: every joint, body, normal law, friction law and kind of closure of the package comes up by itself; a
law with a field that no row of FIELDS knows is refused by name. Loops are closed where the tree's own start has them closed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import MISSING, dataclass, fields
from typing import Any

import numpy as np

import pliant as pl
from pliant.compiled import Compiled
from pliant.dynamics.kinematics import Pose, place_pose, poses
from pliant.dynamics.tree import Tree, build_tree
from pliant.files import parse_formula
from pliant.model.frame import GROUND, Frame
from pliant.model.friction_law import FRICTION_LAWS, FrictionLaw
from pliant.model.joint import BALL, JOINTS, ROTATION, Joint
from pliant.model.loop import KINDS
from pliant.model.modes import BENDING_ENDS
from pliant.model.normal_law import NORMAL_LAWS
from pliant.model.system import BodyHandle
from pliant.model.telescopic import SLEEVE_ENDS
from pliant.results.state import LAYOUT, State

Rng = np.random.Generator
STARTS = 4  # starts of one mechanism: a member is one of them
SIZES = (0.26, 0.26, 0.2, 0.12, 0.06, 0.04, 0.03, 0.03)  # how often a tree has 1, 2, ... 8 bodies
MOST_PAIRS = 5
ULP = 2.0**-53
# Where a gap may begin: on its zero, round-off to either side of it, or apart. m
GAPS = (0.0, 0.0, ULP, -ULP, 1e-14, -1e-14, 1e-9, 0.02)


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


# ---- numbers


def spread(rng: Rng, low: float, high: float) -> float:
    """Evenly over the decades, with few digits so that a model file reads well."""
    return float(f"{math.exp(rng.uniform(math.log(low), math.log(high))):.4g}")


def even(rng: Rng, low: float, high: float) -> float:
    return float(f"{rng.uniform(low, high):.4g}")


def often(rng: Rng, share: float) -> bool:
    return bool(rng.random() < share)


def one_of(rng: Rng, choices: Sequence[Any]) -> Any:
    return choices[int(rng.integers(len(choices)))]


def direction(rng: Rng) -> tuple[float, float, float]:
    x, y, z = rng.normal(size=3)
    return (float(x), float(y), float(z))


# ---- laws: fields by name, in the order in which one may lean on another


def _above(name: str, low: float, high: float) -> Callable[[Rng, dict[str, Any]], float]:
    return lambda rng, drawn: drawn[name] * even(rng, low, high)


FIELDS: dict[str, Callable[[Rng, dict[str, Any]], Any]] = {
    "exponent": lambda rng, drawn: one_of(rng, (1.0, 1.5, 1.5, 2.0)),
    "stiffness": lambda rng, drawn: spread(rng, 1e2, 1e4) / 1e-3 ** drawn.get("exponent", 1.0),  # 1e2 to 1e4 N at 1 mm
    "restitution": lambda rng, drawn: even(rng, 0.1, 1.0),
    "chi": lambda rng, drawn: spread(rng, 0.05, 1.0),
    "damping": lambda rng, drawn: spread(rng, 1.0, 300.0),
    "mu": lambda rng, drawn: even(rng, 0.05, 0.7),
    "mu_kinetic": lambda rng, drawn: even(rng, 0.05, 0.6),
    "mu_static": _above("mu_kinetic", 1.0, 1.6),
    "transition": lambda rng, drawn: spread(rng, 1e-3, 2e-2),
    "v_static": lambda rng, drawn: spread(rng, 1e-3, 1e-2),
    "v_kinetic": lambda rng, drawn: spread(rng, 2e-2, 0.2),
    "v_stribeck": lambda rng, drawn: spread(rng, 3e-2, 0.3),
    "v_r": lambda rng, drawn: spread(rng, 1e-3, 0.1),
    "v0": lambda rng, drawn: spread(rng, 1e-3, 2e-2),
    "v1": lambda rng, drawn: spread(rng, 3e-2, 0.2),
    "xi": lambda rng, drawn: spread(rng, 1.0, 50.0),
    "band": lambda rng, drawn: spread(rng, 1e-3, 0.1),
    "viscous": lambda rng, drawn: spread(rng, 1e-3, 0.3),
    "sigma0": lambda rng, drawn: spread(rng, 1e3, 1e5),
    "sigma1": lambda rng, drawn: spread(rng, 1.0, 50.0),
    "sigma2": lambda rng, drawn: spread(rng, 1e-3, 0.3),
    "tau_dwell": lambda rng, drawn: spread(rng, 0.05, 2.0),
}


def law_of(rng: Rng, law: type, **given: Any) -> Any:
    """A law with every field it must have, and some of those it may have, drawn by name."""
    known = {f.name: f for f in fields(law)}
    needed = [name for name, f in known.items() if f.default is MISSING and f.default_factory is MISSING]
    missing = [name for name in needed if name not in FIELDS and name not in given]
    if missing:
        raise LookupError(f"{law.__name__}: say in FIELDS of random_mechanisms.py how to draw {missing}")
    drawn: dict[str, Any] = dict(given)
    for name, draw in FIELDS.items():
        optional = name in known and name not in needed and name in ("exponent", "transition", "viscous", "sigma2", "band")
        if name not in drawn and (name in needed or (optional and often(rng, 0.7))):
            drawn[name] = draw(rng, drawn)
    return law(**drawn)


def normal_law(rng: Rng) -> Any:
    if often(rng, 0.04):
        k = spread(rng, 1e6, 1e8)
        text = f"{k!r}*depth**1.5*(1 + {even(rng, 0.0, 0.8)!r}*rate/entry_speed)"
        energy = parse_formula(f"{k / 2.5!r}*depth**2.5", ("depth",))
        return pl.CustomNormal(function=parse_formula(text, ("depth", "rate", "entry_speed")), energy=energy)
    law = one_of(rng, NORMAL_LAWS)
    given: dict[str, Any] = {"pulls": True} if often(rng, 0.1) else {}
    if law is pl.Linear:
        damped = {"damping": spread(rng, 1.0, 300.0)}
        asked = {"restitution": even(rng, 0.2, 1.0), "mass": spread(rng, 0.2, 5.0)}
        given |= {"exponent": 1.0, **one_of(rng, (damped, asked))}
    return law_of(rng, law, **given)


def friction_law(rng: Rng) -> Any:
    if often(rng, 0.25):
        return None
    if often(rng, 0.04):
        text = f"{even(rng, 0.05, 0.6)!r}*normal*tanh(speed/{spread(rng, 1e-3, 2e-2)!r})"
        return pl.CustomFriction(parse_formula(text, ("speed", "normal")))
    return law_of(rng, one_of(rng, FRICTION_LAWS))


# ---- bodies


def rigid(rng: Rng, joint: Joint) -> pl.RigidBody:
    length, mass = even(rng, 0.1, 0.6), spread(rng, 0.2, 5.0)
    if often(rng, 0.2) and isinstance(joint, (pl.Prismatic, pl.Planar)):
        return pl.RigidBody.rod(length, mass)  # no inertia about its own axis: only where nothing turns about that
    inertia = tuple(mass * length**2 * even(rng, 0.05, 0.15) for _ in range(3))
    com = (0.5 * length, even(rng, -0.02, 0.02), 0.0)
    return pl.RigidBody(mass=mass, inertia=inertia, com=com, tip=(length, 0.0, 0.0))


def section(rng: Rng) -> pl.Section:
    if often(rng, 0.6):
        return pl.Section.rectangle(even(rng, 0.005, 0.03), even(rng, 0.005, 0.03))
    radius = even(rng, 0.004, 0.015)
    return pl.Section.round(radius) if often(rng, 0.5) else pl.Section.tube(radius, 0.7 * radius)


def material(rng: Rng) -> pl.Material:
    soft = pl.Material(E=spread(rng, 1e9, 2e10), nu=0.4, density=1200.0)
    return one_of(rng, (pl.STEEL, pl.ALUMINIUM, soft))


def bending_set(rng: Rng, length: float, plane: str, theory: str) -> Any:
    count = 1 + int(often(rng, 0.3))
    if theory == "euler-bernoulli" and often(rng, 0.2):
        mesh = int(rng.integers(1, 4))
        return pl.ElementModes(mesh, reference=one_of(rng, ("simply-supported", "cantilever")), plane=plane)
    if theory == "euler-bernoulli" and often(rng, 0.1):
        x = tuple(float(s) for s in np.linspace(0.0, length, 7))
        return pl.GivenModes((pl.ShapeTable(x, tuple((s / length) ** 2 for s in x)),), plane=plane)
    return pl.Modes(one_of(rng, BENDING_ENDS), count, plane=plane, normalise=one_of(rng, ("max", "length")))


def damping(rng: Rng, ratios: bool) -> tuple[Any, ...]:
    kinds: list[Any] = [pl.KelvinVoigt(spread(rng, 1e4, 1e6)), pl.AirDrag(spread(rng, 1e-3, 0.1)), pl.ModalDamping(even(rng, 0.0, 0.1)),
                        pl.Rayleigh(alpha=even(rng, 0.0, 2.0), beta=spread(rng, 1e-6, 1e-4))]  # fmt: skip
    if ratios:
        kinds.append(pl.RayleighRatios(ratios=(0.01, 0.02), frequencies=(50.0, 500.0)))
    return () if often(rng, 0.4) else (one_of(rng, kinds),)


def beam(rng: Rng, spatial: bool) -> pl.Beam:
    length, theory = even(rng, 0.2, 0.9), one_of(rng, ("euler-bernoulli", "timoshenko"))
    modes = [bending_set(rng, length, "y", theory)]
    if spatial and often(rng, 0.4):
        modes.append(bending_set(rng, length, "z", theory))
    if spatial and often(rng, 0.15):
        modes.append(pl.TorsionModes(one_of(rng, ("cf", "cc", "ff")), 1))
    if often(rng, 0.08):
        modes.append(one_of(rng, (pl.AxialModes("cf", 1), pl.AxialElements(1))))
    payload = pl.Payload(mass=0.3, inertia=(0.001, 0.002, 0.002), offset=(0.02, 0.01, 0.0)) if often(rng, 0.1) else None
    stiffening = one_of(rng, ("none", "none", "none", "none", "linear", "full", "full"))
    return pl.Beam(length=length, section=section(rng), material=material(rng), theory=theory, modes=modes, damping=damping(rng, True),
                   payload=payload, stiffening=stiffening)  # fmt: skip


def telescope(rng: Rng, spatial: bool) -> pl.TelescopicBeam:
    length = even(rng, 0.4, 0.9)
    modes: list[Any] = [pl.Modes("cf", 1)] + ([pl.Modes("cf", 1, plane="z")] if spatial and often(rng, 0.4) else [])
    end = one_of(rng, [end for end in SLEEVE_ENDS if end != "continue"])  # which goes on formally, out of the sleeve
    laws = [law for law in FRICTION_LAWS if issubclass(law, FrictionLaw) and not law.holds]
    rubs = {"friction": law_of(rng, one_of(rng, laws)), "preload": spread(rng, 1.0, 50.0)} if often(rng, 0.4) else {}
    extension = even(rng, 0.4, 0.8) * length
    held: dict[str, Any] = {"motion": motion(rng, extension, 0.1 * length)} if often(rng, 0.3) else {}
    return pl.TelescopicBeam(length=length, section=section(rng), material=material(rng), modes=modes, damping=damping(rng, False),
                             extension=extension, rate=0.0 if held else even(rng, -0.3, 0.3), on_sleeve_end=end,
                             end_stiffness=spread(rng, 1e3, 1e5) if end == "spring" else None,
                             sleeve_mass=even(rng, 0.1, 2.0), **rubs, **held)  # fmt: skip


def body_for(rng: Rng, joint: Joint, spatial: bool) -> Any:
    kind = rng.random()
    return rigid(rng, joint) if kind < 0.6 else beam(rng, spatial) if kind < 0.92 else telescope(rng, spatial)


# ---- joints, motions, signals


def motion(rng: Rng, at: float, size: float) -> Any:
    """What a coordinate is told to do: swing, a pulse from rest, a ramp between breakpoints, or a table."""
    a, begin, width = even(rng, 0.3, 1.0) * size, even(rng, 0.01, 0.15), spread(rng, 5e-3, 0.1)
    texts = (
        f"{at!r} + {a!r}*sin({even(rng, 2.0, 20.0)!r}*t)",
        f"{at!r} + {a!r}*exp(-((t - {begin + 3.0 * width!r})/{width!r})**2)",
        f"{at!r} + ({0.5 * a!r}*(1 - cos(2*pi*(t - {begin!r})/{width!r})) if {begin!r} < t < {begin + width!r} else 0)",
    )
    kind = int(rng.integers(4))
    if kind < 3:
        return parse_formula(texts[kind], ("t",))
    times = tuple(round(0.15 * k, 3) for k in range(6))
    return pl.MotionTable(times, (at, *(at + even(rng, -a, a) for _ in times[1:])))


def signal(rng: Rng, size: float, coordinate: str | None = None) -> Any:
    a = even(rng, -size, size)
    texts = [f"{a!r}*sin({even(rng, 2.0, 30.0)!r}*t)", f"{a!r} if t < {even(rng, 0.05, 0.25)!r} else {-a!r}"]
    texts += [f"{a!r} - {spread(rng, 0.01, 1.0)!r}*v['{coordinate}']"] * (coordinate is not None)
    times = tuple(round(0.07 * k, 3) for k in range(4))
    values = tuple(even(rng, -size, size) for _ in times)
    return one_of(rng, [a, *(parse_formula(text) for text in texts), pl.PiecewiseConstant(times, values),
                        pl.PiecewiseLinear(times, values)])  # fmt: skip


def unit_quaternion(rng: Rng) -> tuple[float, ...]:
    q = rng.normal(size=4)
    return tuple(float(x) for x in q / np.linalg.norm(q))


def joint_of(rng: Rng, kind: type[Joint], spatial: bool, size: float = 1.0, still: bool = False) -> Joint:
    """A joint with random start, axes, springs, dampers, stops; now and then exactly on a stop."""
    plain, known = kind(), {f.name for f in fields(kind)}
    pace = 0.0 if still else size
    drawn: dict[str, Any] = {}
    for name in (*kind.STARTS, *kind.START_RATES):
        default = getattr(plain, name)
        if name == "orientation":
            drawn[name] = unit_quaternion(rng) if often(rng, 0.7) else (1.0, 0.0, 0.0, 0.0)
            continue
        reach = 0.3 * size if name in ("displacement", "position") else 1.2 * size if name in kind.STARTS else 1.5 * pace
        values = tuple(even(rng, -reach, reach) if reach else 0.0 for _ in (default if isinstance(default, tuple) else (default,)))
        drawn[name] = values if isinstance(default, tuple) else values[0]
    if "axis" in known:
        planar = "z" if kind is pl.Revolute else one_of(rng, ("x", "y"))
        drawn["axis"] = one_of(rng, ("x", "y", "z", direction(rng))) if spatial else planar
    if "axes" in known:
        drawn["axes"] = one_of(rng, (("y", "z"), ("x", "y"), ("z", "x")))
    return kind(**drawn, **_acting(rng, kind(**drawn)))


def _acting(rng: Rng, joint: Joint) -> dict[str, Any]:
    """Springs, dampers and stops of some coordinates."""
    found: dict[str, Any] = {"spring": {}, "damper": {}, "limits": {}}
    starts = iter(joint.start)
    for one in joint.motions:
        at = [next(starts) for _ in one.positions][0]
        ball = one.kind == BALL
        stiff = spread(rng, 1.0, 100.0) if one.kind in (ROTATION, BALL) else spread(rng, 10.0, 3e3)
        if often(rng, 0.15):
            found["spring"][one.name] = pl.Spring(stiff, 0.0 if ball else at + even(rng, -0.2, 0.2))
        if often(rng, 0.15):
            found["damper"][one.name] = pl.Damper(spread(rng, 1e-3, 1.0))
        if not ball and often(rng, 0.2):
            below, above = (one_of(rng, (0.0, even(rng, 0.01, 0.5))) for _ in range(2))
            below = below if below + above > 0.0 else 0.1
            found["limits"][one.name] = pl.Limits(low=at - below, high=at + above, stiffness=spread(rng, 1e2, 1e5),
                                                  damping=one_of(rng, (0.0, spread(rng, 0.1, 30.0))))  # fmt: skip
    return {name: made for name, made in found.items() if made}


def joint_for(rng: Rng, spatial: bool, first: bool) -> Joint:
    planar = [kind for kind in JOINTS if kind in (pl.Weld, pl.Revolute, pl.Prismatic, pl.Planar)]
    kinds = list(JOINTS) if spatial else planar
    if first:
        kinds = [kind for kind in kinds if kind is not pl.Weld]
        kinds += [pl.Free if spatial else pl.Planar] * 3
    else:
        kinds += [pl.Revolute] * 3
    return joint_of(rng, one_of(rng, kinds), spatial)


def _told(rng: Rng, joint: Joint) -> Joint:
    """The same joint with one of its coordinates prescribed, from where it starts."""
    from dataclasses import replace

    moving = [m for m in joint.motions if m.kind != BALL]
    if not moving:
        return joint
    names = [name for m in joint.motions for name in m.positions]
    one = one_of(rng, moving)
    at = joint.start[names.index(one.name)]
    limits = {name: stop for name, stop in joint.stops.items() if name != one.name}
    return replace(joint, motion={one.name: motion(rng, at, 0.15 if one.unit == "m" else 0.6)}, limits=limits,
                   spring=dict(joint.springs), damper=dict(joint.dampers))  # fmt: skip


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
        """Where a frame is at the start, told coordinates where their motions have them."""
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


def start_of(tree: Tree) -> list[float]:
    q = [float(x) for x in tree.start]
    for told in tree.told:
        q[told.q] = value_of(told.motion, 0.0)
    return q


def value_of(one: Any, t: float) -> float:
    """Where a told motion is at a time."""
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
    told = int(rng.integers(count)) if count > 1 and often(rng, 0.25) else None
    for k in range(count):
        joint = joint_for(rng, spatial, k == 0)
        joint = _told(rng, joint) if k == told else joint
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
        found += [f"{link.name}.{m.name}" for m in link.joint.motions if m.kind != BALL and m.name not in link.told]
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
    kind = one_of(rng, KINDS)
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
    if kind == "universal":
        given["axis"], given["other_axis"] = ("x", "y") if scene.spatial else ("x", "z")
    if kind == "prescribed":
        given["motion"] = [motion(rng, 0.0, 0.05) for _ in range(3 if scene.spatial else 2)]
    scene.system.close("loop", kind, a, b, **given)


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
    return sum(len(m.rates) for name in path for m in links[name].joint.motions if m.name not in links[name].told)


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
    for k, (low, high) in enumerate(zip(balls, balls[1:], strict=False)):
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
    for k, (left, right) in enumerate(zip(balls, balls[1:], strict=False)):
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
        on = scene.add(link, joint_of(rng, pl.Revolute, False, size=0.0 if often(rng, 0.5) else 0.3), on).tip
    scene.system.contact(points=scene.system.ends(), against=pl.Plane(normal=(0, 1, 0)), normal=normal_law(rng), friction=friction_law(rng))
    return scene.system


def pusher(rng: Rng) -> pl.System:
    """Something told to move strikes a body at rest, by a plane it carries or with a ball of its own."""
    scene = Scene(rng, "pusher", False, one_of(rng, ((0.0, 0.0), (0.0, -9.81))))
    told = pl.Prismatic(axis="x", motion=motion(rng, 0.0, 0.12))
    ram = scene.add(pl.RigidBody(mass=1.0), told)
    radius, gap = even(rng, 0.02, 0.1), one_of(rng, (0.0, even(rng, 1e-3, 0.06)))
    law, friction = normal_law(rng), friction_law(rng)
    body, system = sphere_body(spread(rng, 0.2, 3.0), radius), scene.system
    if often(rng, 0.5):
        ball = pl.Sphere(scene.add(body, pl.Planar(position=(gap + radius, radius))).root, radius)
        system.contact(points=ball, against=pl.Plane(normal=(1, 0, 0), on=ram.root), normal=law, friction=friction, name="ram")
    else:
        own = even(rng, 0.02, 0.1)
        ball = pl.Sphere(scene.add(body, pl.Planar(position=(gap + radius + own, radius))).root, radius)
        system.contact(points=ball, against=pl.Sphere(ram.root.moved((0.0, radius)), own), normal=law, friction=friction, name="ram")
    system.contact(points=ball, against=pl.Plane(normal=(0, 1, 0)), normal=normal_law(rng), friction=friction_law(rng), name="ground")
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
    told = {"motion": motion(rng, angle, 0.6)} if often(rng, 0.4) else {"rate": even(rng, -5.0, 5.0)}
    first = scene.add(pl.RigidBody.rod(crank, 0.5), pl.Revolute(angle=angle, **told))
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


# ---- starts


def start(seed: int, number: int, which: int, compiled: Compiled) -> State:
    """Start `which` of a mechanism: 0 is the one it was built with, the others are drawn; see `_drawn`."""
    traced = compiled.traced
    rng = np.random.default_rng([seed, number, which + 1])
    y = traced.y0.copy() if which == 0 else _drawn(rng, compiled)
    labels = {name: tuple(traced.columns[name]) for name in LAYOUT}
    return State(0.0, y, {}, labels, traced.t_start, 0.0)


def _drawn(rng: Rng, compiled: Compiled) -> np.ndarray:
    """Other rates; where no loop forbids it other joint positions too, often with a gap put on its zero and no speed across it."""
    traced = compiled.traced
    n_q, n_v = len(traced.free_q), len(traced.free_v)
    y = traced.y0.copy()
    rates = slice(n_q, n_q + n_v)
    if any(closure.by == "multipliers" for closure in traced.system.closures.values()):
        told = traced.tree.told or any(c.told for c in traced.system.closures.values())
        y[rates] *= 1.0 if told else float(one_of(rng, (-1.0, 0.0, 0.3, 2.0)))  # what keeps loops closed does so times any number
        return y
    joints = {slot.q for node in traced.tree.nodes for slot in node.slots if not slot.is_ball}
    moved = [i for i, k in enumerate(traced.free_q) if k in joints]
    if often(rng, 0.7):
        y[moved] += rng.uniform(-0.3, 0.3, len(moved))
    y[rates] = 0.0 if often(rng, 0.35) else rng.uniform(-1.5, 1.5, n_v) * (0.05 if often(rng, 0.3) else 1.0)
    if traced.pairs:
        y = _put_down(rng, compiled, y, moved)
    return y


def _put_down(rng: Rng, compiled: Compiled, y: np.ndarray, moved: list[int]) -> np.ndarray:
    """The nearest gap brought to its zero along one coordinate; the start it was built with where others would be pressed."""
    gap = lambda state: seen(compiled, state, "gap")  # noqa: E731
    k = int(np.argmin(gap(y)))
    target = float(one_of(rng, GAPS))
    slopes = np.array([(gap(_shifted(y, i, 1e-6))[k] - gap(y)[k]) / 1e-6 for i in moved])
    if slopes.size and np.max(np.abs(slopes)) > 0.1 and (often(rng, 0.8) or gap(y)[k] < 0.0):
        i = moved[int(np.argmax(np.abs(slopes)))]
        for _ in range(30):
            slope = (gap(_shifted(y, i, 1e-7))[k] - gap(y)[k]) / 1e-7
            step = (target - gap(y)[k]) / slope if slope else 0.0
            if not math.isfinite(step) or abs(step) < 1e-17:
                break
            y = _shifted(y, i, max(-0.3, min(0.3, step)))
    if not np.min(gap(y)) > -1e-8:
        return compiled.traced.y0.copy()
    return _without_closing(compiled, y, k) if often(rng, 0.5) else y


def _without_closing(compiled: Compiled, y: np.ndarray, k: int) -> np.ndarray:
    """The nearest rates at which gap k neither opens nor closes, but for round-off."""
    n_q, n_v = len(compiled.traced.free_q), len(compiled.traced.free_v)
    rest = y.copy()
    rest[n_q : n_q + n_v] = 0.0
    offset = seen(compiled, rest, "closing_speed")[k]
    row = np.array([seen(compiled, _shifted(rest, n_q + i, 1.0), "closing_speed")[k] - offset for i in range(n_v)])
    found = y.copy()
    if row @ row > 0.0:
        found[n_q : n_q + n_v] -= row * (seen(compiled, y, "closing_speed")[k] / (row @ row))
    return found


def _shifted(y: np.ndarray, i: int, by: float) -> np.ndarray:
    found = y.copy()
    found[i] += by
    return found


def seen(compiled: Compiled, y: np.ndarray, name: str) -> np.ndarray:
    """A quantity that the observer gives at t = 0, all contacts open."""
    from pliant.simulate import _columns_of

    values = compiled.observe(0.0, y, compiled.traced.parameters(0.0, 1.0))
    return np.asarray(values[_columns_of(compiled.traced)[name]])
