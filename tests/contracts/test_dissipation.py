"""What every source that must only take energy has to satisfy: the energy of a mechanism that has nothing else to lose falls.

Judged without the ledger's own powers: the energy held is one set of formulas, the equations of motion are another, and the rate
of the first along the second is what a source really puts in. A wrong sign in a law, in how its force is turned, or in how that is
put on the bodies shows there; the ledger alone would call it a source.
"""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

import mechanisms
import pliant as pl
import registered
from pliant.model import damping
from pliant.model.closure import CLOSURES
from pliant.model.damping import DAMPINGS
from pliant.model.friction_law import FRICTION_LAWS, JOINT_FRICTION_LAWS, BristleLaw
from pliant.model.joint import BALL, JOINTS
from pliant.model.normal_law import NORMAL_LAWS
from pliant.results.ledger import HELD
from pliant.results.table import OBSERVED, QUANTITIES
from pliant.trace.tracing import trace
from registered import BODY, DAMPING, JOINT, held_by

STATES = 12  # that every source is judged at
ROUND_OFF = 100 * 2.0**-52


class Mechanism:
    """A traced System, its energy and how fast that changes by its equations, at states drawn at random."""

    def __init__(self, system, formulation="articulated"):
        self.traced = trace(system, formulation)
        self.n_q, self.n_v = len(self.traced.free_q), len(self.traced.free_v)
        self.random = np.random.default_rng(5)
        t, y = ca.SX.sym("t"), ca.SX.sym("y", self.traced.y0.size)
        p = ca.SX.sym("p", self.traced.parameters(0.0, 1.0).size)
        seen, rates = self.traced.observe(t, y, p), self.traced.rhs(t, y, p)
        energy = sum(seen[place.start] for place in (self.columns[name] for name in HELD))
        parts = ca.vertcat(ca.gradient(energy, y) * rates, ca.jtimes(energy, t, ca.SX(1.0)))
        self.judge = ca.Function("judge", [t, y, p], [parts, seen[self.columns["power"]]])

    @property
    def columns(self):
        found, first = {}, 0
        for name in OBSERVED:
            width = int(np.prod([len(self.traced.columns[d]) for d in QUANTITIES[name].dims]))
            found[name], first = slice(first, first + width), first + width
        return found

    def state(self, q=None, v=None):
        """A state at random, with some coordinates and rates given by name; on its constraints, where it has any."""
        y = self.traced.y0.copy()
        y[: self.n_q] += 0.1 * self.random.normal(size=self.n_q)
        y[self.n_q : self.n_q + self.n_v] = self.random.normal(size=self.n_v)
        for given, names, free, first in ((q, self.traced.tree.positions, self.traced.free_q, 0),
                                          (v, self.traced.tree.rates, self.traced.free_v, self.n_q)):  # fmt: skip
            for name, x in (given or {}).items():
                y[first + free.index(names.index(name))] = x
        for _ in range(20 if self.traced.project is not None else 0):
            y = np.array(self.traced.project(0.0, y, self.traced.parameters(0.0, 1.0))).ravel()
        return y

    def check(self, y, p=None):
        """The energy falls, and as fast as the sources say; returns its rate, W."""
        p = self.traced.parameters(0.0, 1.0) if p is None else p
        parts, powers = (np.array(x).ravel() for x in self.judge(0.0, y, p))
        rate, size = float(np.sum(parts)), max(float(np.sum(np.abs(powers))), 1.0)
        small = 1e-9 * size + ROUND_OFF * float(np.sum(np.abs(parts)))  # megawatts of stiff modes may cancel
        assert set(self.traced.sources) == set(self.traced.dissipative)
        assert rate == pytest.approx(float(np.sum(powers)), abs=small)
        assert rate <= small
        assert np.all(powers <= 0.0)
        return rate


def falls(mechanism, states, p=None):
    """At all states, and at most of them really."""
    rates = [mechanism.check(y, p) for y in states]
    assert np.count_nonzero(np.array(rates) < -1e-6) > 0.6 * len(rates)


# ------------------------------------------------------------------------------------------------- contacts


def ball(normal, friction=None):
    system = pl.System("ball", gravity=(0.3, -9.81, 0.2))
    body = system.add("ball", BODY, joint=pl.Free())
    system.contact(points=pl.Sphere(body.root, 0.1), against=pl.Plane(normal=(0.2, 1.0, 0.1)), normal=normal, friction=friction)
    return Mechanism(system)


def pressed(mechanism, depth, slide=1.0, rise=1.0):
    """States with the ball pressed into the plane by a depth, and parameters that say that it is closed, entered at 2 m/s."""
    normal = np.array((0.2, 1.0, 0.1)) / np.linalg.norm((0.2, 1.0, 0.1))
    states = []
    for _ in range(STATES):
        y = mechanism.state(q={f"ball.{axis}": x for axis, x in zip("xyz", (0.1 - depth) * normal, strict=True)})
        velocity = y[mechanism.n_q : mechanism.n_q + 3]
        along = normal * (velocity @ normal)
        y[mechanism.n_q : mechanism.n_q + 3] = slide * (velocity - along) + rise * along
        states.append(y)
    slots, p = mechanism.traced.pairs[0], mechanism.traced.parameters(0.0, 1.0)
    p[slots.closed], p[slots.entry] = 1.0, 2.0
    return states, p


@pytest.mark.parametrize("pulls", [False, True], ids=["pushes", "pulls"])
@pytest.mark.parametrize("law", NORMAL_LAWS, ids=lambda law: law.__name__)
def test_a_normal_law_takes_energy_whether_bodies_meet_or_part(law, pulls):
    mechanism = ball(registered.made(law, pulls=pulls))
    rates = []
    for depth, rise in ((1e-3, 1.0), (1e-4, 20.0)):  # parting at 20 m/s what only pushes has let go
        states, p = pressed(mechanism, depth, rise=rise)
        rates += [mechanism.check(y, p) for y in states]
    lossless = law is pl.Hertz
    assert np.all(np.abs(rates) < 1e-9) if lossless else np.all(np.array(rates) < -1e-6)


@pytest.mark.parametrize("law", FRICTION_LAWS, ids=lambda law: law.__name__)
def test_a_friction_law_takes_energy_whichever_way_a_body_slides(law):
    """Bristles lean with the slip, as sliding leaves them: those that are let go give back what they hold."""
    mechanism = ball(pl.Hertz(stiffness=1e6), registered.FRICTION[law])
    slots = mechanism.traced.pairs[0]
    for slide in (0.02, 1.0, 10.0):
        states, p = pressed(mechanism, 1e-3, slide)
        for y in states if issubclass(law, BristleLaw) else ():
            place = slice(slots.bristles.start, slots.bristles.start + 2)
            at_rest = np.array(mechanism.traced.rhs(0.0, y, p)).ravel()[place]  # their rates, while straight, are along the slip
            y[place] = 0.9 * 0.3 / registered.FRICTION[law].sigma0 * at_rest / np.linalg.norm(at_rest)
        falls(mechanism, states, p)


# ------------------------------------------------------------------------------------------------- beams


@pytest.mark.parametrize("kind", DAMPINGS, ids=lambda kind: kind.__name__)
def test_damping_of_beams_takes_energy(kind):
    modes = [pl.Modes("cf", 2), pl.Modes("cf", 2, plane="z"), pl.TorsionModes("cf", 1)]
    beam = pl.Beam(length=0.7, section=mechanisms.FLAT, material=pl.STEEL, theory="euler-bernoulli", modes=modes,
                   damping=DAMPING[kind])  # fmt: skip
    system = pl.System("arm", gravity=(0, -9.81))
    system.add("arm", beam, joint=pl.Revolute())
    mechanism = Mechanism(system)
    falls(mechanism, [mechanism.state() for _ in range(STATES)])


@pytest.mark.parametrize("kind", [*(k for k in DAMPINGS if k is not damping.RayleighRatios), "sleeve"])
def test_damping_of_telescopic_links_takes_energy(kind):
    link = pl.TelescopicBeam(length=1.0, extension=0.5, section=mechanisms.FLAT, material=pl.STEEL, modes=pl.Modes("cf", 2),
                             damping=() if kind == "sleeve" else DAMPING[kind],
                             friction=pl.Coulomb(mu=0.2) if kind == "sleeve" else None,
                             preload=30.0 if kind == "sleeve" else 0.0)  # fmt: skip
    system = pl.System("arm", gravity=(0, -9.81))
    system.add("arm", link, joint=pl.Revolute())
    mechanism = Mechanism(system)
    falls(mechanism, [mechanism.state() for _ in range(STATES)])


# ------------------------------------------------------------------------------------------------- joints and closures


@pytest.mark.parametrize("formulation", ["articulated", "augmented"])
@pytest.mark.parametrize("joint", [joint for joint in JOINTS if JOINT[joint].motions], ids=lambda joint: joint.__name__)
def test_dampers_in_joints_take_energy(joint, formulation):
    system = pl.System(joint.__name__, gravity=(0.5, -9.81, 2.0))
    base = system.add("base", BODY, joint=pl.Revolute(angle=0.3, axis="y"))
    made = replace(JOINT[joint], damper={motion.name: pl.Damper(0.5) for motion in JOINT[joint].motions})
    system.add("body", BODY, joint=made, on=base.tip.turned(0.4, "x"))
    mechanism = Mechanism(system, formulation)
    falls(mechanism, [mechanism.state() for _ in range(STATES)])


def rubs(mechanism):
    """Friction of joints takes energy at states at random; of laws that hold, the way they slide stands in p."""
    rates = []
    for _ in range(STATES):
        y = mechanism.state()
        for slots in mechanism.traced.joints:
            y[slots.bristles.start : slots.bristles.stop] = 0.0
        p = mechanism.traced.parameters(0.0, 1.0)
        slips = np.array(mechanism.traced.observe(0.0, y, p)).ravel()[mechanism.columns["joint_slip"]]
        first = 0
        for slots in mechanism.traced.joints:
            if slots.exact:
                p[slots.grip + 1] = -np.sign(slips[first])
            own = slice(slots.bristles.start, slots.bristles.start + len(slots.rates) if slots.bristles else slots.bristles.start)
            y[own] = 1e-5 * np.sign(slips[first : first + own.stop - own.start])  # bristles lean with the slip
            first += len(slots.rates)
        rates.append(mechanism.check(y, p))
    assert np.count_nonzero(np.array(rates) < -1e-6) > 0.6 * STATES


@pytest.mark.parametrize("law", JOINT_FRICTION_LAWS, ids=lambda law: law.__name__)
def test_friction_inside_joints_takes_energy_by_any_law(law):
    system = pl.System("arms", gravity=(0.5, -9.81))
    arm = system.add("arm", BODY, joint=pl.Revolute(friction=pl.JointFriction(registered.FRICTION[law], radius=0.03)))
    slide = pl.JointFriction(registered.FRICTION[law], preload=2.0)
    system.add("tool", BODY, joint=pl.Prismatic(axis=(0.6, 0.8, 0.0), friction=slide), on=arm.tip)
    rubs(Mechanism(system))


FRICTION_OF = {
    pl.Revolute: {"radius": 0.03, "guide": 0.2},
    pl.Prismatic: {"guide": 0.2},
    pl.Cylindrical: {"radius": 0.03},
    pl.Spherical: {"radius": 0.03},
}


KINDS = [*((joint, "articulated") for joint in FRICTION_OF), (pl.Cylindrical, "augmented")]


@pytest.mark.parametrize(("joint", "formulation"), KINDS)
def test_friction_inside_joints_of_any_kind_takes_energy_in_space(joint, formulation):
    system = pl.System(joint.__name__, gravity=(0.5, -9.81, 2.0))
    base = system.add("base", BODY, joint=pl.Revolute(angle=0.3, axis="y"))
    made = replace(JOINT[joint], friction=pl.JointFriction(pl.Coulomb(mu=0.2, transition=0.01), **FRICTION_OF[joint]))
    system.add("body", BODY, joint=made, on=base.tip.turned(0.4, "x"))
    rubs(Mechanism(system, formulation))


@pytest.mark.parametrize(("kind", "by"), [
    ("spherical", "multipliers"), ("revolute", "multipliers"), ("prismatic", "multipliers"), ("slider", "multipliers"),
    ("cylindrical", "multipliers"), ("revolute", "springs"),
])  # fmt: skip
def test_friction_inside_closures_takes_energy(kind, by):
    lengths = {"guide": 0.2} if kind in ("prismatic", "slider") else {"radius": 0.03}
    friction = pl.JointFriction(pl.Coulomb(mu=0.2, transition=0.01), preload=1.0, **lengths)
    rubs(Mechanism(held_by(kind, by=by, friction=friction, **({"stiffness": 1e3} if by == "springs" else {}))))


@pytest.mark.parametrize("beyond", [0.05, -0.05])
@pytest.mark.parametrize("joint", [pl.Revolute, pl.Prismatic, pl.Universal, pl.Planar], ids=lambda joint: joint.__name__)
def test_stops_take_energy_whether_they_are_run_into_or_left(joint, beyond):
    names = [motion.name for motion in joint().motions if motion.kind != BALL]
    stop = pl.Limits(low=-0.2, high=0.2, stiffness=1e3, damping=30.0)
    system = pl.System(joint.__name__, gravity=(0, 0))
    base = system.add("base", BODY, joint=pl.Revolute())
    system.add("body", BODY, joint=joint(limits=dict.fromkeys(names, stop)), on=base.tip)
    mechanism = Mechanism(system)
    where = {f"body.{name}": np.sign(beyond) * 0.2 + beyond for name in names}
    speeds = np.linspace(-4.0, 4.0, STATES)  # left at 4 m/s they let go
    p = mechanism.traced.parameters(0.0, 1.0)
    for event in mechanism.traced.events:
        if event.flag is not None:
            p[event.flag] = float(event.pressed == np.sign(beyond))  # a run sets it as the stop is reached
    falls(mechanism, [mechanism.state(q=where, v={f"body.{name}": speed for name in names}) for speed in speeds], p)


@pytest.mark.parametrize("kind", CLOSURES)
def test_dampers_of_closures_take_energy(kind):
    system = held_by(kind, by="springs", stiffness=1e3, damping=20.0)
    mechanism = Mechanism(system)
    if system.closures["held"].prescribed:
        mechanism.traced.dissipative["held motion"] = False  # of a motion that stays where it is, so that it puts nothing in
    falls(mechanism, [mechanism.state() for _ in range(STATES)])
