"""One example of every entry of every registry: what tests of laws, joints, methods, closures and the rest are run on.

A new entry needs a line here, and tests/contracts then holds it to what all of its kind must satisfy.
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import bricks
import pliant as pl
from pliant.integrate.methods import method as methods
from pliant.model import damping, friction_law, modes, sensor
from pliant.model import normal_law as laws
from pliant.model.along import Along, Edge
from pliant.model.contact import Bore, Capsule, End, Pin, Plane, Point, Side, Socket, Sphere
from pliant.model.frame import Frame
from pliant.model.joint import Joint
from pliant.model.normal_law import NORMAL_LAWS, HysteresisLaw
from pliant.model.solids import Box, BoxEdge, Corner, Crossing, Cylinder, Foot, Lying, Rim, Rolling

Entry = TypeVar("Entry")
Example = TypeVar("Example")


class Examples(dict[Entry, Example]):
    """Examples by entry of a registry; whoever asks for one that is missing is told where it belongs."""

    def __init__(self, table: str, examples: Mapping[Entry, Example]) -> None:
        super().__init__(examples)
        self.table = table

    def __missing__(self, entry: Entry) -> Example:
        name = getattr(entry, "__name__", entry)
        raise AssertionError(f"{name} is registered but has no example: add one to {self.table} in tests/registered.py")


def along(radius: float) -> Callable[[Frame], Along]:
    """The body of a frame, all along its axis."""
    return lambda at: Along(Frame(at.body), radius)


# ---- pairs of contact shapes: for each two, from the frames where they are; the first meets the second within a tenth of a second

PAIR_EXAMPLES: Examples[tuple[type, type], tuple[Callable[[Frame], Any], Callable[[Frame], Any]]] = Examples(
    "PAIR_EXAMPLES",
    {
        (Point, Plane): (Point, lambda at: Plane(normal=(1.0, 0.2, 0.1), point=(-0.03, 0.0, 0.0), on=at)),
        (Sphere, Plane): (lambda at: Sphere(at, 0.02), lambda at: Plane(normal=(1.0, 0.2, 0.1), point=(-0.05, 0.0, 0.0), on=at)),
        (Point, Sphere): (lambda at: Point(at.moved((0.1, 0.0, 0.0))), lambda at: Sphere(at, 0.05)),
        (Sphere, Point): (lambda at: Sphere(at.moved((0.1, 0.0, 0.0)), 0.05), Point),
        (Sphere, Sphere): (lambda at: Sphere(at.moved((0.1, 0.0, 0.0)), 0.03), lambda at: Sphere(at, 0.04)),
        (Point, Bore): (Point, lambda at: Bore(at=at, radius=0.05)),
        (Sphere, Bore): (lambda at: Sphere(at, 0.02), lambda at: Bore(at=at, radius=0.06, axis="y")),
        (Pin, Bore): (lambda at: Pin(at=at, radius=0.02), lambda at: Bore(at=at, radius=0.05, length=0.04)),
        (Point, Socket): (Point, lambda at: Socket(at, 0.05)),
        (Sphere, Socket): (lambda at: Sphere(at, 0.02), lambda at: Socket(at, 0.06)),
        (Corner, Plane): (
            lambda at: Box(at.moved((0.2, 0.0, 0.0)), (0.2, 0.1, 0.08)),
            lambda at: Plane(normal="x", point=(0.05, 0.0, 0.0), on=at),
        ),
        (Rim, Plane): (
            lambda at: Cylinder(at.moved((0.15, 0.0, 0.0)), 0.05, 0.2),
            lambda at: Plane(normal="x", point=(0.05, 0.0, 0.0), on=at),
        ),
        (Point, Box): (lambda at: Point(at.moved((0.1, 0.0, 0.0))), lambda at: Box(at, (0.1, 0.3, 0.2))),
        (Sphere, Box): (lambda at: Sphere(at.moved((0.1, 0.0, 0.0)), 0.05), lambda at: Box(at, (0.04, 0.06, 0.05))),
        (End, Box): (lambda at: Capsule(at.moved((0.15, 0.0, 0.0)), 0.1, 0.02), lambda at: Box(at, (0.1, 0.2, 0.3))),
        (Point, Capsule): (lambda at: Point(at.moved((0.1, 0.0, 0.0))), lambda at: Capsule(at, 0.05, 0.03)),
        (Sphere, Capsule): (
            lambda at: Sphere(at.moved((0.1, 0.0, 0.0)), 0.05),
            lambda at: Capsule(at.turned(1.57, "z"), 0.05, 0.02),
        ),
        (End, Capsule): (
            lambda at: Capsule(at.moved((0.15, 0.0, 0.0)), 0.1, 0.02),
            lambda at: Capsule(at.turned(1.2, "y"), 0.1, 0.03),
        ),
        (Corner, Capsule): (
            lambda at: Box(at.moved((0.2, 0.0, 0.0)), (0.2, 0.1)),
            lambda at: Capsule(at.turned(1.2, "z"), 0.1, 0.03),
        ),
        (BoxEdge, Capsule): (
            lambda at: Box(at.moved((0.15, 0.0, 0.0)), (0.1, 0.2, 0.3)),
            lambda at: Capsule(at.turned(1.2, "y").moved((0.0, -0.1, 0.0)), 0.2, 0.02),
        ),
        (Side, Capsule): (
            lambda at: Capsule(at.moved((0.1, 0.0, -0.05)).turned(-1.3, "y"), 0.1, 0.02),
            lambda at: Capsule(at.moved((0.0, -0.05, 0.0)).turned(1.5, "z"), 0.1, 0.03),
        ),
        (Corner, Box): (lambda at: Box(at.moved((0.2, 0.0, 0.0)), (0.2, 0.1)), lambda at: Box(at, (0.1, 0.2))),
        (Crossing, Box): (
            lambda at: Box(at.moved((0.23, 0.02, 0.0)).turned(0.7, "y"), (0.2, 0.3, 0.15)),
            lambda at: Box(at.turned(0.8, "z"), (0.15, 0.1, 0.3)),
        ),
        (Point, Cylinder): (lambda at: Point(at.moved((0.1, 0.0, 0.0))), lambda at: Cylinder(at, 0.05, 0.2)),
        (Sphere, Cylinder): (lambda at: Sphere(at.moved((0.1, 0.0, 0.0)), 0.05), lambda at: Cylinder(at, 0.05, 0.04, "x")),
        (End, Cylinder): (lambda at: Capsule(at.moved((0.15, 0.0, 0.0)), 0.1, 0.02), lambda at: Cylinder(at, 0.05, 0.2)),
        (Side, Cylinder): (
            lambda at: Capsule(at.moved((0.1, 0.0, -0.05)).turned(-1.3, "y"), 0.1, 0.02),
            lambda at: Cylinder(at.turned(0.3, "z"), 0.04, 0.1, "y"),
        ),
        (BoxEdge, Cylinder): (
            lambda at: Box(at.moved((0.17, 0.0, 0.0)).turned(0.7, "z"), (0.1, 0.12, 0.3)),
            lambda at: Cylinder(at.turned(1.2, "y"), 0.04, 0.2),
        ),
        (Rolling, Box): (lambda at: Cylinder(at.moved((0.15, 0.0, 0.0)), 0.05, 0.1, "y"), lambda at: Box(at, (0.1, 0.3, 0.3))),
        (Foot, Box): (lambda at: Cylinder(at.moved((0.15, 0.0, 0.0)), 0.05, 0.1, "x"), lambda at: Box(at, (0.1, 0.3, 0.3))),
        (Lying, Cylinder): (
            lambda at: Cylinder(at.moved((0.15, 0.0, 0.0)).turned(1.2, "x"), 0.03, 0.4),
            lambda at: Cylinder(at, 0.05, 0.4),
        ),
        (Rolling, Cylinder): (
            lambda at: Cylinder(at.moved((0.17, 0.0, 0.0)), 0.05, 0.1, "y"),
            lambda at: Cylinder(at, 0.2, 0.1, "x"),
        ),
        (Foot, Cylinder): (lambda at: Cylinder(at.moved((0.15, 0.0, 0.0)), 0.05, 0.1, "x"), lambda at: Cylinder(at, 0.2, 0.1, "x")),
        (Along, Box): (along(0.02), lambda at: Box(at.moved((0.1, 0.0, 0.1)).turned(0.3, "y"), (0.08, 0.2, 0.1))),
        (Along, Cylinder): (along(0.02), lambda at: Cylinder(at.moved((0.1, 0.0, 0.1)).turned(0.4, "x"), 0.05, 0.08)),
        (Along, Plane): (along(0.02), lambda at: Plane(normal=(1.0, 0.2, 0.1), point=(-0.05, 0.0, 0.0), on=at)),
        (Along, Sphere): (along(0.02), lambda at: Sphere(at.moved((0.1, 0.0, 0.08)), 0.04)),
        (Along, Point): (along(0.02), lambda at: Point(at.moved((0.1, 0.0, 0.04)))),
        (Along, Capsule): (along(0.02), lambda at: Capsule(at.moved((0.1, -0.1, 0.07)).turned(1.2, "z"), 0.2, 0.03)),
        (Along, Edge): (along(0.02), lambda at: Edge(at.moved((0.1, -0.1, 0.04)).turned(1.2, "z"), 0.2)),
        (Along, Bore): (along(0.02), lambda at: Bore(at.moved((0.1, 0.0, 0.0)).turned(0.3, "z"), 0.06, length=0.04, axis="x")),
        (Along, Along): (along(0.004), along(0.004)),
    },
)


# ---- laws of contact


@dataclass(frozen=True)
class Impact:
    """What a normal law is made for."""

    restitution: float = 0.6
    stiffness: float = 1e6
    exponent: float = 1.5
    mass: float = 0.8  # kg, reduced
    speed: float = 10.0  # m/s

    @property
    def depth(self) -> float:
        """m, that the elastic force alone stops the bodies at, but for a factor."""
        return (self.mass * self.speed**2 / self.stiffness) ** (1.0 / (self.exponent + 1.0))

    @property
    def spring(self) -> dict[str, float]:
        return {"stiffness": self.stiffness, "exponent": self.exponent}


NORMAL: Examples[type, Callable[[Impact], dict[str, float]]] = Examples(
    "NORMAL",
    {
        laws.Hertz: lambda impact: impact.spring,
        laws.Linear: lambda impact: {"stiffness": impact.stiffness, "restitution": impact.restitution, "mass": impact.mass},
        laws.FixedHuntCrossley: lambda impact: {**impact.spring, "chi": 1.5 * (1.0 - impact.restitution) / impact.speed},
        laws.WangYanFangJin: lambda impact: {
            **impact.spring, "damping": (1.0 - impact.restitution) * impact.mass * impact.speed / impact.depth
        },
        laws.PowerDamping: lambda impact: {
            **impact.spring, "damping_exponent": 1.2,
            "chi": 1.5 * (1.0 - impact.restitution) * impact.mass * impact.speed / impact.depth**2.2,
        },
        **{
            law: lambda impact: {**impact.spring, "restitution": impact.restitution}
            for law in NORMAL_LAWS
            if issubclass(law, HysteresisLaw)
        },
    },
)  # fmt: skip


def made(law, restitution=0.6, stiffness=1e6, exponent=1.5, mass=0.8, speed=10.0, **more):
    """A normal law of the registry, damped to about the restitution."""
    return law(**NORMAL[law](Impact(restitution, stiffness, exponent, mass, speed)), **more)


FRICTION: Examples[type, Any] = Examples(
    "FRICTION",
    {
        friction_law.Coulomb: friction_law.Coulomb(mu=0.3, transition=0.01),
        friction_law.CoulombStiction: friction_law.CoulombStiction(mu_static=0.4, mu_kinetic=0.3, v_static=0.01, v_kinetic=0.05),
        friction_law.CoulombViscous: friction_law.CoulombViscous(mu=0.3, viscous=0.2, transition=0.01),
        friction_law.Stribeck: friction_law.Stribeck(mu_static=0.4, mu_kinetic=0.3, v_stribeck=0.1, transition=0.01),
        friction_law.Threlfall: friction_law.Threlfall(mu=0.3, v_r=0.02),
        friction_law.BengisuAkay: friction_law.BengisuAkay(mu_static=0.4, mu_kinetic=0.3, v0=0.02, xi=30.0),
        friction_law.Ambrosio: friction_law.Ambrosio(mu=0.3, v0=1e-3, v1=1e-2),
        friction_law.Karnopp: friction_law.Karnopp(mu_static=0.4, mu_kinetic=0.3, band=0.01),
        friction_law.DryFriction: friction_law.DryFriction(mu_static=0.4, mu_kinetic=0.3),
        friction_law.Dahl: friction_law.Dahl(sigma0=1e4, mu=0.3),
        friction_law.LuGre: friction_law.LuGre(sigma0=1e4, sigma1=10.0, mu_static=0.4, mu_kinetic=0.3, v_stribeck=0.1),
        friction_law.GonthierFriction: friction_law.GonthierFriction(
            sigma0=1e4, sigma1=10.0, mu_static=0.4, mu_kinetic=0.3, v_stribeck=0.01, tau_dwell=2.0
        ),
    },
)


# ---- joints, closures

BODY = pl.RigidBody(mass=1.5, inertia=(0.2, 0.3, 0.4), com=(0.2, 0.1, -0.1), tip=(0.4, 0.0, 0.1))

JOINT: Examples[type[Joint], Joint] = Examples(
    "JOINT",
    {
        pl.Weld: pl.Weld(),
        pl.Revolute: pl.Revolute(),
        pl.Prismatic: pl.Prismatic(),
        pl.Cylindrical: pl.Cylindrical(),
        pl.Universal: pl.Universal(),
        pl.Spherical: pl.Spherical(),
        pl.Planar: pl.Planar(),
        pl.Free: pl.Free(),
    },
)


@dataclass(frozen=True)
class Held:
    """What a closure of one kind takes besides frames: its fields; coordinates, where it holds those instead."""

    fields: Mapping[str, Any] = field(default_factory=dict)
    coordinates: tuple[str, ...] = ()


CLOSURE: Examples[str, Held] = Examples(
    "CLOSURE",
    {
        "point": Held(),
        "spherical": Held(),
        "revolute": Held({"axis": "z"}),
        "weld": Held(),
        "prismatic": Held({"axis": "z"}),
        "slider": Held({"axis": "z"}),
        "distance": Held({"length": 0.4}),
        "cylindrical": Held({"axis": "z"}),
        "universal": Held({"axis": "z", "other_axis": "x"}),
        "planar": Held({"axis": "z"}),
        "gear": Held({"ratio": 2.0}, ("arm.angle", "wheel.angle")),
        "prescribed": Held({"motion": lambda t: 0.0 * t + 0.02}, ("arm.angle",)),
    },
)


def held_by(kind: str, **ways: Any) -> pl.System:
    """An arm on a hinge, and what a closure of this kind holds to it: a free body at its tip, or a wheel on a hinge by an angle.

    A distance is held to a place its length away.
    """
    system = pl.System(kind, gravity=(0.5, -9.81, 0.3))
    arm = system.add("arm", BODY, joint=pl.Revolute(rate=1.0))
    example = CLOSURE[kind]
    if example.coordinates:
        system.add("wheel", BODY, joint=pl.Revolute(rate=0.5))
        system.close("held", kind, *example.coordinates, **example.fields, **ways)
        return system
    other = system.add("other", BODY, joint=pl.Free(position=BODY.tip))
    place = arm.tip.moved((-example.fields.get("length", 0.0), 0.0, 0.0))
    system.close("held", kind, other.root, place, **example.fields, **ways)
    return system


# ---- beams

DAMPING: Examples[type, Any] = Examples(
    "DAMPING",
    {
        damping.KelvinVoigt: damping.KelvinVoigt(1e7),
        damping.AirDrag: damping.AirDrag(2.0),
        damping.MotionDrag: damping.MotionDrag(2.0),
        damping.Rayleigh: damping.Rayleigh(alpha=1.0, beta=1e-3),
        damping.RayleighRatios: damping.RayleighRatios(ratios=(0.01, 0.02)),
        damping.ModalDamping: damping.ModalDamping(0.02),
    },
)


def _power(n: int) -> modes.ShapeFunction:
    """W = x^n."""
    return modes.ShapeFunction(w=lambda x: x**n, dw=lambda x: n * x ** (n - 1), ddw=lambda x: n * (n - 1) * x ** (n - 2))


# of a beam clamped at its root, so fine that it has about that many shapes
MODE_SET: Examples[type, Callable[[int], Any]] = Examples(
    "MODE_SET",
    {
        modes.Modes: lambda n: modes.Modes("cf", n),
        modes.AxialModes: lambda n: modes.AxialModes("cf", n),
        modes.TorsionModes: lambda n: modes.TorsionModes("cf", n),
        modes.GivenModes: lambda n: modes.GivenModes([_power(k + 2) for k in range(n)]),
        modes.ElementModes: lambda n: modes.ElementModes(n, reference="cantilever"),
        modes.AxialElements: lambda n: modes.AxialElements(n),
        modes.TorsionElements: lambda n: modes.TorsionElements(n),
    },
)


def solid() -> pl.ModalBody:
    """A small box of bricks, clamped at its root; read from a file, which a model file names."""
    elements = bricks.box((0.4, 0.05, 0.04), (4, 1, 1))
    ends = {name: bricks.end(elements, x) for name, x in (("root", 0.0), ("tip", 0.4))}
    path = Path(tempfile.mkdtemp(prefix="pliant-test")) / "solid.npz"
    pl.modal_body(elements, ends, pl.CraigBampton(2)).save(path)
    atexit.register(shutil.rmtree, path.parent, ignore_errors=True)
    return pl.ModalBody(str(path), damping=pl.ModalDamping(0.01))


BODIES: Examples[type, Any] = Examples(
    "BODIES",
    {
        pl.ModalBody: solid(),
        pl.RigidBody: BODY,
        pl.Beam: pl.Beam(
            length=0.7, section=pl.Section.rectangle(0.02, 0.01), material=pl.STEEL, theory="timoshenko",
            modes=[pl.Modes("cf", 2), pl.TorsionModes("cf", 1)],
        ),
        pl.TelescopicBeam: pl.TelescopicBeam(
            length=0.7, section=pl.Section.rectangle(0.02, 0.01), material=pl.STEEL, modes=pl.Modes("cf", 2), extension=0.3,
            rate=0.1,
        ),
    },
)  # fmt: skip


# ---- methods

# System -> the sensor; the System has a beam "arm" on a hinge and a contact "contact arm.tip".
SENSOR: Examples[type, Callable[[pl.System], sensor.Sensor]] = Examples(
    "SENSOR",
    {
        pl.StrainGauge: lambda system: pl.StrainGauge(system.handle("arm").at(0.1), "bottom"),
        pl.Encoder: lambda system: pl.Encoder("arm.angle", 4096),
        pl.Accelerometer: lambda system: pl.Accelerometer(system.handle("arm").tip),
        pl.Gyro: lambda system: pl.Gyro(system.handle("arm").tip),
        pl.ForceSensor: lambda system: pl.ForceSensor("arm", expressed="body"),
    },
)

TIGHT = {"rtol": 1e-10, "atol": 1e-12}
METHOD: Examples[type[methods.Method], methods.Method] = Examples(
    "METHOD",
    {
        methods.Auto: methods.Auto(**TIGHT),
        methods.RKF45: methods.RKF45(**TIGHT),
        methods.DormandPrince: methods.DormandPrince(**TIGHT),
        methods.Tsit5: methods.Tsit5(**TIGHT),
        methods.DOP853: methods.DOP853(**TIGHT),
        methods.VariablePrecisionRK4: methods.VariablePrecisionRK4(**TIGHT, coarse=1e-10),
        methods.RK4: methods.RK4(step=2e-3),
        methods.Radau5: methods.Radau5(**TIGHT),
        methods.Radau9: methods.Radau9(**TIGHT),
        methods.Rodas5P: methods.Rodas5P(**TIGHT),
        methods.RealTime: methods.RealTime(step=1e-3),
        methods.TwoLoop: methods.TwoLoop(**TIGHT),
        methods.ODE45: methods.ODE45(**TIGHT),
        methods.ODE23: methods.ODE23(**TIGHT),
    },
)
