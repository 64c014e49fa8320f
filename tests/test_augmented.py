"""Absolute coordinates: every body floats, every joint is a closure; the same motion, and the reactions of all joints."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

import mechanisms
import pliant as pl
from pliant.codegen.tracer import Tracer
from pliant.dynamics.algebra import add, cross
from pliant.dynamics.kinematics import poses, twists
from pliant.dynamics.rotation import quaternion_of
from pliant.gallery.parallel_robot import parallel_robot
from pliant.gallery.slider_crank import slider_crank
from pliant.model.rigid import RigidBody
from pliant.results.table import OBSERVED, QUANTITIES
from pliant.run.prepare import compile_system
from pliant.trace.tracing import trace

TIGHT = pl.DOP853(rtol=1e-11, atol=1e-13)
FAT = pl.RigidBody(mass=0.8, inertia=(0.02, 0.03, 0.04), com=(0.1, 0.05, -0.02), tip=(0.3, 0.02, 0.05))


def thickened(system):
    """Thin rods have no inertia about their own axis: in space they cannot float, so they are given some."""
    for name, link in system.links.items():
        if isinstance(link.body, RigidBody):
            rows = tuple(tuple(x + 1e-3 * (i == j) for j, x in enumerate(row)) for i, row in enumerate(link.body.inertia))
            system.links[name] = replace(link, body=replace(link.body, inertia=rows))
    return system


def four_bar():
    system = pl.System("four-bar", gravity=(0, -9.81))
    rod = pl.RigidBody.rod(1.0, 1.0)
    first = system.add("A0", rod, joint=pl.Revolute(angle=1.2, rate=-1.0, damper=pl.Damper(0.1)))
    coupler = system.add("C", rod, joint=pl.Revolute(angle=-1.2, rate=1.0, spring=pl.Spring(3.0, 0.2)), on=first.tip)
    last = system.add("A1", rod, joint=pl.Revolute(angle=1.2, rate=-1.0), on=system.ground.moved((1.0, 0.0)))
    system.close("pin", "point", coupler.tip, last.tip)
    return system


def spatial_loop():
    """A crank and a rocker about skew axes, a coupler between two balls."""
    system = pl.System("RSSR", gravity=(0.2, -9.81, 0.5))
    crank = system.add("crank", FAT, joint=pl.Revolute(axis="z", rate=2.0))
    coupler = system.add("coupler", replace(FAT, tip=(0.8, 0.1, 0.2)), joint=pl.Spherical(), on=crank.tip)
    rocker = system.add("rocker", replace(FAT, tip=(0.0, 0.6, 0.0)), joint=pl.Revolute(axis=(1.0, 0.2, 0.3)),
                        on=system.ground.moved((1.0, -0.3, 0.4)))  # fmt: skip
    system.close("ball", "spherical", coupler.tip, rocker.tip)
    return system


OPEN = {"planar chain": lambda: mechanisms.planar_chain(4), "spatial arm": mechanisms.spatial_arm,
        "branched tree": lambda: thickened(mechanisms.branched_tree()),
        "floating base": lambda: thickened(mechanisms.floating_base())}  # fmt: skip
LOOPS = {"four-bar": four_bar, "slider-crank with an elastic rod": slider_crank, "parallel robot": parallel_robot,
         "spatial loop": spatial_loop}  # fmt: skip
UNTIL = 0.03  # s, before the slider-crank's impact


class Twins:
    """A System in joint coordinates and in absolute ones, and the map of states between them."""

    def __init__(self, system):
        self.tree_trace, self.free_trace = trace(system), trace(system, "augmented")
        self.tree = self.tree_trace.tree
        tracer = Tracer()
        q_column, q = tracer.symbols("q", len(self.tree.positions))
        v_column, v = tracer.symbols("v", len(self.tree.rates))
        rate_column, _ = tracer.symbols("qdot", len(self.tree.positions))
        a_column, _ = tracer.symbols("a", len(self.tree.rates))
        self.bodies, self.moving = poses(self.tree, q), twists(self.tree, q, v)
        absolute_q, absolute_v, momenta = [], [], []
        for node, other, pose, twist in zip(self.tree.nodes, self.free_trace.tree.nodes, self.bodies, self.moving, strict=True):
            joint = other.link.joint
            shift = other.link.on.offset
            place = [x - y for x, y in zip(pose.position, shift, strict=True)]
            speed = pose.rotation.out(twist.velocity)
            if isinstance(joint, pl.Planar):
                absolute_q += [*place[:2], pose.rotation.angle]
                absolute_v += [*speed[:2], twist.omega[2]]
            else:
                absolute_q += [*place, *quaternion_of(pose.rotation)]
                absolute_v += [*speed, *twist.omega]
            absolute_q += [q[k] for k in node.own_q]
            absolute_v += [v[k] for k in node.own_v]
            turning, linear = node.shape(q, v).momentum(twist.omega, twist.velocity)
            carried = pose.rotation.out(linear)
            momenta += [*carried, *add(pose.rotation.out(turning), cross(pose.position, carried))]
        flat = tracer.column([*absolute_v, *momenta])
        state, along = ca.vertcat(q_column, v_column), ca.vertcat(rate_column, a_column)
        moved = ca.jtimes(flat, state, along)
        self.map = ca.Function("map", [q_column, v_column], [tracer.column(absolute_q), tracer.column(absolute_v)])
        self.seconds = ca.Function("seconds", [q_column, v_column, rate_column, a_column], [moved])

    def expected(self, t, y):
        """Accelerations of all bodies and rates of their momenta by the tree's equations."""
        n_q, n_v = len(self.tree.positions), len(self.tree.rates)
        rates = np.array(self.tree_trace.rhs(t, y, self.tree_trace.parameters(0.02, 1.0))).ravel()
        moved = self.seconds(y[:n_q], y[n_q : n_q + n_v], rates[:n_q], rates[n_q : n_q + n_v])
        flat, count = np.array(moved).ravel(), len(self.free_trace.tree.rates)
        return flat[:count], flat[count:].reshape(-1, 6)

    def found(self, t, y):
        """Accelerations and multipliers by absolute coordinates at the same state."""
        traced = self.free_trace
        x = self.absolute(y)
        p = traced.parameters(0.02, 1.0)
        n_q, n_v = len(traced.tree.positions), len(traced.tree.rates)
        held = _by_name(traced, np.array(traced.observe(t, x, p)).ravel())["multiplier"]
        return np.array(traced.rhs(t, x, p)).ravel()[n_q : n_q + n_v], dict(zip(traced.rows, held, strict=True))

    def absolute(self, y):
        n_q, n_v = len(self.tree.positions), len(self.tree.rates)
        q, v = (np.array(part).ravel() for part in self.map(y[:n_q], y[n_q : n_q + n_v]))
        return np.concatenate([q, v, np.zeros(len(self.free_trace.y0) - len(q) - len(v))])

    def observed(self, t, y):
        """What results would show of the state, in joint coordinates and in absolute ones."""
        pairs = ((self.tree_trace, y), (self.free_trace, self.absolute(y)))
        return [_by_name(one, np.array(one.observe(t, x, one.parameters(0.02, 1.0))).ravel()) for one, x in pairs]


def _by_name(traced, numbers):
    found, first = {}, 0
    for name in OBSERVED:
        width = int(np.prod([len(traced.columns[d]) for d in QUANTITIES[name].dims]))
        found[name] = numbers[first : first + width]
        first += width
    return found


def states(twins, count=3):
    """Random ones of an open tree; of closed ones those a run passes."""
    traced = twins.tree_trace
    if traced.project is None:
        rng = np.random.default_rng(5)
        elastic = {k for node in twins.tree.nodes for k in node.own_q}
        for _ in range(count):
            q = [rng.normal() * (0.02 if k in elastic else 1.0) for k in range(len(twins.tree.positions))]
            v = [rng.normal() for _ in range(len(twins.tree.rates))]
            yield np.concatenate([_normalised(twins.tree, np.array(q)), v, np.zeros(len(traced.y0) - len(q) - len(v))])
        return
    run = pl.simulate(traced.system, 0.02, method=TIGHT, save=[0.0, 0.01, 0.02])
    for k in range(3):
        yield np.concatenate([run.values["q"][k], run.values["v"][k], run.values["work"][k],
                              np.zeros(len(traced.pairs) + traced.n_bristles)])  # fmt: skip


def _normalised(tree, q):
    for slot in tree.slots:
        if slot.is_ball:
            q[slot.q : slot.q + 4] /= np.linalg.norm(q[slot.q : slot.q + 4])
    return q


def assert_same_reactions(tree, free):
    """Force and moment of every joint on its body: by the tree's recursion, and where bodies float."""
    names = ("reaction_force", "reaction_moment")
    size = max(np.max(np.abs(tree[name])) for name in names)  # pins without springs have no moment but round-off
    for name in names:
        assert free[name] == pytest.approx(tree[name], abs=1e-9 * size), name


@pytest.mark.parametrize("build", [*OPEN.values(), *LOOPS.values()], ids=[*OPEN, *LOOPS])
def test_accelerations_agree_to_1e_9(build):
    twins = Twins(build())
    assert twins.free_trace.independent == twins.tree_trace.independent
    for y in states(twins):
        expected, _ = twins.expected(0.4, y)
        found, _ = twins.found(0.4, y)
        assert np.max(np.abs(found - expected)) < 1e-9 * np.max(np.abs(expected))
        assert_same_reactions(*twins.observed(0.4, y))


@pytest.mark.parametrize("build", [OPEN["planar chain"], OPEN["spatial arm"], spatial_loop], ids=["planar", "spatial", "loop"])
def test_reactions_are_what_newton_asks_of_the_bodies_they_carry(build):
    """Force of a joint = rate of momentum of all beyond it, less weight, loads and other reactions there; momenta from the tree."""
    twins = Twins(build())
    system, tree = twins.tree_trace.system, twins.tree
    gravity = np.array(system.gravity)
    outboard = {node.name: {node.name} for node in tree.nodes}
    for node in reversed(tree.nodes):
        if node.parent >= 0:
            outboard[tree.nodes[node.parent].name] |= outboard[node.name]
    for y in states(twins):
        _, rates = twins.expected(0.4, y)
        _, multipliers = twins.found(0.4, y)
        for node in tree.nodes:
            asked = sum(rates[tree.index(name), :3] - system.links[name].body.mass * gravity for name in outboard[node.name])
            for load in system.loads.values():
                if load.name == "push" and load.at.body in outboard[node.name]:
                    asked = asked - [1.0, 2.0 * np.sin(3.0 * 0.4), 3.0]
            for closure in system.closures.values():
                force = np.array([multipliers.get(f"{closure.name} {k}", 0.0) for k in range(3)])
                asked = asked - force * ((closure.a.body in outboard[node.name]) - (closure.b.body in outboard[node.name]))
            held = np.array([multipliers.get(f"{node.name} joint {k}", 0.0) for k in range(3)])
            if f"{node.name} joint 2" not in multipliers:  # planar
                asked = asked * [1.0, 1.0, 0.0]
            assert held == pytest.approx(asked, rel=1e-9, abs=1e-9 * np.max(np.abs(asked)))


SPRUNG = {
    "revolute": pl.Revolute(angle=0.4, rate=1.0, axis=(0.3, 1.0, 0.2), spring=pl.Spring(5.0, 0.1), damper=pl.Damper(0.2),
                            limits=pl.Limits(low=-0.5, high=0.3, stiffness=40.0, damping=1.0)),
    "prismatic": pl.Prismatic(displacement=0.1, rate=0.5, axis=(1.0, 0.5, 0.0), spring=pl.Spring(50.0, 0.05),
                              damper=pl.Damper(2.0)),
    "cylindrical": pl.Cylindrical(displacement=0.1, angle=0.3, rates=(0.5, 1.0), axis="y",
                                  spring={"displacement": pl.Spring(50.0), "angle": pl.Spring(4.0, 0.2)},
                                  damper={"displacement": pl.Damper(1.0), "angle": pl.Damper(0.1)}),
    "universal": pl.Universal(angles=(0.3, -0.5), rates=(1.0, 2.0), axes=("x", (0.3, 0.2, 1.0)),
                              spring={"angle1": pl.Spring(3.0, 0.1), "angle2": pl.Spring(7.0)},
                              damper={"angle1": pl.Damper(0.2), "angle2": pl.Damper(0.1)}),
    "spherical": pl.Spherical(orientation=(0.9, 0.1, 0.3, -0.2), angular_velocity=(1.0, 0.5, -0.3), spring=pl.Spring(6.0),
                              damper=pl.Damper(0.2)),
    "planar": pl.Planar(position=(0.1, 0.2), angle=0.4, velocity=(0.3, 0.2), rate=0.5,
                        spring={"x": pl.Spring(20.0), "y": pl.Spring(30.0, 0.1), "angle": pl.Spring(2.0)},
                        damper={"y": pl.Damper(0.5)}),
    "free": pl.Free(position=(0.1, 0.2, 0.0), orientation=(0.9, 0.1, 0.3, -0.2), velocity=(0.1, 0.2, 0.3),
                    spring={"x": pl.Spring(20.0), "rotation": pl.Spring(3.0)}, damper={"z": pl.Damper(0.5)}),
    "weld": pl.Weld(),
}  # fmt: skip


def sprung(joint):
    """An elastic arm that carries a body on a joint with all that a joint may have, driven and read by formulas."""
    system = pl.System("sprung", gravity=(0.5, -9.81, 0.3))
    beam = pl.Beam(length=0.7, section=mechanisms.FLAT, material=pl.STEEL, theory="euler-bernoulli",
                   modes=[pl.Modes("cf", 1), pl.Modes("cf", 1, plane="z")])  # fmt: skip
    arm = system.add("arm", beam, joint=pl.Revolute(angle=0.3, axis="z", rate=0.5), initial={"y1": 0.01, "z1": -0.02})
    body = system.add("body", FAT, joint=joint, on=arm.tip.moved((0.02, 0.0, 0.03)).turned(0.4, "y"))
    named = [m.name for m in joint.motions if m.kind != "ball"]
    for k, name in enumerate(named):
        label = f"body.{name}"
        table = pl.PiecewiseLinear((0.0, 0.02, 1.0), (0.0, 3.0, 1.0))
        system.drive(f"motor{k}", label, table if k % 2 else lambda t, q, v, x=label: pl.sin(q[x]) - 0.2 * v[x])
    system.force("wind", body.tip, (lambda t, q, v: 2.0 * pl.cos(q["arm.angle"]), 0.5, 0.1))
    system.moment("twist", arm.at(0.3), (0.1, 0.2, 0.3), expressed="body")
    system.event("level", lambda t, q, v: q["arm.angle"] - 0.29)
    return system


@pytest.mark.parametrize("joint", SPRUNG.values(), ids=SPRUNG)
def test_what_acts_in_a_joint_acts_between_its_frames(joint):
    """Springs, dampers, stops, drives and formulas: accelerations, energies, powers; and the joint's coordinates read back."""
    twins = Twins(sprung(joint))
    sources = [[name.replace(" joint", "") for name in one.sources] for one in (twins.tree_trace, twins.free_trace)]
    for y in states(twins):
        expected, _ = twins.expected(0.4, y)
        found, _ = twins.found(0.4, y)
        assert np.max(np.abs(found - expected)) < 1e-9 * np.max(np.abs(expected))
        tree, free = twins.observed(0.4, y)
        for name in ("tip_position", "tip_velocity", "kinetic", "gravity", "strain", "effort"):
            assert free[name] == pytest.approx(tree[name], rel=1e-11, abs=1e-11), name
        assert_same_reactions(tree, free)
        powers = [dict(zip(names, one["power"], strict=True)) for names, one in zip(sources, (tree, free), strict=True)]
        q, v = y[: len(twins.tree.positions)], y[len(twins.tree.positions) :]
        apart = twins.free_trace.columns
        by_joint = [*free["joint_q"], *free["joint_v"]]
        given = [*(q[twins.tree.positions.index(label.replace(" joint", ""))] for label in apart["joint_coordinate"]),
                 *(v[twins.tree.rates.index(label.replace(" joint", ""))] for label in apart["joint_rate"])]  # fmt: skip
        assert _same_sign(np.array(by_joint), np.array(given), apart) == pytest.approx(np.array(given), abs=1e-9)
        assert free["spring"] == pytest.approx(tree["spring"], rel=1e-11)
        assert powers[1] == pytest.approx(powers[0], rel=1e-10, abs=1e-10)


def _same_sign(found, given, apart):
    """Quaternions up to their sign."""
    for k, label in enumerate(apart["joint_coordinate"]):
        if label.endswith(".qw") and found[k] * given[k] < 0.0:
            found[k : k + 4] *= -1.0
    return found


def test_a_run_with_springs_stops_drives_and_events_is_the_same():
    """An arm in space, its joints apart: trajectory, energies, works by source and events."""
    system = pl.System("sprung", gravity=(0.5, -9.81, 0.3))
    arm = system.add("arm", FAT, joint=pl.Revolute(angle=0.3, axis="z", rate=0.5))
    system.add("body", FAT, joint=replace(SPRUNG["revolute"], angle=0.2, rate=5.0), on=arm.tip)
    system.drive("motor", "body.angle", pl.PiecewiseLinear((0.0, 0.02, 1.0), (0.0, 3.0, 1.0)))
    system.event("level", lambda t, q, v: q["arm.angle"] - 0.29)
    runs = [pl.simulate(system, 0.3, method=TIGHT, save=[0.0, 0.15, 0.3], formulation=f) for f in ("articulated", "augmented")]
    for name in ("tip_position", "tip_velocity", "kinetic", "gravity", "spring", "work", "effort"):
        size = max(np.max(np.abs(runs[0].values[name])), 1.0)
        assert np.max(np.abs(runs[1].values[name] - runs[0].values[name])) < 1e-9 * size, name
    assert [s.replace(" joint", "") for s in runs[1].labels["source"]] == list(runs[0].labels["source"])
    assert {e.name for e in runs[0].events} == {"level", "body.angle high stop"}
    assert [(e.name.replace(" joint", ""), e.direction) for e in runs[1].events] == [(e.name, e.direction) for e in runs[0].events]
    assert [e.t for e in runs[1].events] == pytest.approx([e.t for e in runs[0].events], abs=1e-9)
    assert runs[1].ledger.relative_error_max < 1e-9


@pytest.mark.parametrize("name", LOOPS)
def test_closed_loops_move_the_same(name):
    runs = [pl.simulate(LOOPS[name](), UNTIL, method=TIGHT, save="steps", formulation=f) for f in ("articulated", "augmented")]
    for quantity in ("tip_position", "tip_velocity"):
        size = np.max(np.abs(runs[0].values[quantity]))
        assert np.max(np.abs(runs[1].values[quantity][-1] - runs[0].values[quantity][-1])) < 1e-8 * size
    assert np.max(np.abs(runs[1].values["constraint"][1:])) < 1e-14  # the first row is as assembled
    # the loop's own reactions are the same too
    for k, row in enumerate(runs[0].labels["row"]):
        other = runs[1].values["multiplier"][-1, runs[1].labels["row"].index(row)]
        size = np.max(np.abs(runs[0].values["multiplier"]))
        assert other == pytest.approx(runs[0].values["multiplier"][-1, k], abs=1e-7 * size)


def test_a_start_that_closes_is_not_told_to_have_moved():
    """The rates of bodies that float are computed, so zeros among them are round-off, and the guide holds an angle of its own."""
    assert pl.simulate(slider_crank(), 1e-3, formulation="augmented").warnings == ()


def test_the_system_in_absolute_coordinates_is_one_like_any_other():
    system = pl.absolute_coordinates(four_bar())
    assert {type(link.joint) for link in system.links.values()} == {pl.Planar}
    assert list(system.closures) == ["A0 joint", "C joint", "A1 joint", "pin"]
    assert list(system.cut_joints) == ["A0 joint", "C joint", "A1 joint"]
    assert "coupling C joint: Revolute of C on A0" in str(system)
    assert pl.absolute_coordinates(system) is system
    with pytest.raises(pl.ModelError, match=r"couplings must be empty \(write the System that was given to absolute_coordinates\)"):
        pl.dump_model(system)
    runs = [pl.simulate(system, 0.3, method=TIGHT, save=[0.3], formulation=f) for f in ("articulated", "gibbs_appell", "lagrange")]
    assert runs[0].values["q"] == pytest.approx(runs[1].values["q"], abs=1e-8)
    assert runs[0].values["q"] == pytest.approx(runs[2].values["q"], abs=1e-8)


def test_a_result_tells_the_model_as_it_was_written():
    run = pl.simulate(four_bar(), 0.1, method=TIGHT, formulation="augmented", save=[0.1])
    assert run.provenance["settings"]["formulation"] == "augmented"
    model = pl.loads_model(run.provenance["model"])
    assert model.system.links == four_bar().links
    again = pl.simulate(model.system, 0.1, method=TIGHT, formulation=model.run.formulation, save=[0.1])
    assert np.array_equal(again.values["q"], run.values["q"])


def test_turns_of_planar_joints_are_counted():
    """A motor turns a crank for more than a turn against a spring that counts it."""
    system = pl.System("winding", gravity=(0, 0))
    crank = system.add("crank", pl.RigidBody.rod(0.5, 1.0), joint=pl.Revolute(rate=30.0))
    system.add("wheel", pl.RigidBody(mass=1.0, inertia=0.1), joint=pl.Revolute(rate=20.0, spring=pl.Spring(0.2)), on=crank.tip)
    runs = [pl.simulate(system, 0.6, method=TIGHT, save=[0.6], formulation=f) for f in ("articulated", "augmented")]
    assert runs[0]["wheel.angle"][0] > 7.0
    found = runs[1].values["joint_q"][0, runs[1].labels["joint_coordinate"].index("wheel joint.angle")]
    assert found == pytest.approx(runs[0]["wheel.angle"][0], abs=1e-8)


def test_a_spring_in_space_stops_the_run_where_it_can_no_longer_count():
    system = pl.System("winding", gravity=(0, 0, 0))
    system.add("wheel", FAT, joint=pl.Revolute(rate=30.0, axis=(0.0, 1.0, 1.0), spring=pl.Spring(0.2)))
    run = pl.simulate(system, 0.6, formulation="augmented")
    assert "wheel joint.angle has turned half a turn" in run.message
    assert run.values["joint_q"][-1, 0] == pytest.approx(0.95 * np.pi, abs=0.1)


def test_contacts_work_on_bodies_that_float():
    """A chain falls on the ground: the same touches."""
    system = pl.System("falling", gravity=(0, -9.81))
    link = mechanisms.planar_link(1, "ss")
    a = system.add("a", link, joint=pl.Planar(position=(0.0, 0.2), angle=-0.2))
    b = system.add("b", link, joint=pl.Revolute(angle=0.3), on=a.tip)
    system.contact(points=[a.root, a.tip, b.tip], against=pl.Plane(normal=(0, 1)), normal=pl.HuGuo(stiffness=1e6, restitution=0.8),
                   friction=pl.Ambrosio(mu=0.2, v0=1e-3, v1=1e-2))  # fmt: skip
    runs = [pl.simulate(system, 0.2, formulation=f) for f in ("articulated", "augmented")]
    begun = [[(c.pair, c.begin) for c in run.contacts][:2] for run in runs]
    assert [name for name, _ in begun[0]] == [name for name, _ in begun[1]]
    assert [t for _, t in begun[1]] == pytest.approx([t for _, t in begun[0]], abs=1e-8)


def driven(axis):
    """A crank that is told to turn three times, on it a wheel on a damper; about z in the plane, about another axis in space."""
    system = pl.System("driven", gravity=(0, -9.81))
    crank = system.add("crank", FAT, joint=pl.Revolute(axis=axis, motion=lambda t: 0.2 + 30.0 * t + pl.sin(5.0 * t)))
    system.add("wheel", FAT, joint=pl.Revolute(axis=axis, rate=3.0, damper=pl.Damper(0.01)), on=crank.tip)
    return system


@pytest.mark.parametrize("axis", ["z", (0.1, 0.5, 1.0)], ids=["planar", "spatial"])
@pytest.mark.parametrize("method", [TIGHT, pl.TwoLoop(rtol=1e-11, atol=1e-13)], ids=["projection", "two loops"])
def test_a_joint_that_is_told_its_motion_is_a_closure_that_follows_it(axis, method):
    """Its multiplier is the effort of the motion."""
    runs = [pl.simulate(driven(axis), 0.6, method=m, save=[0.3, 0.6], formulation=f) for f, m in
            (("articulated", TIGHT), ("augmented", method))]  # fmt: skip
    assert runs[0]["crank.angle"][-1] > 4.0 * np.pi
    for name in ("tip_position", "tip_velocity"):
        assert runs[1].values[name] == pytest.approx(runs[0].values[name], abs=3e-8 * np.max(np.abs(runs[0].values[name])))
    for name in ("reaction_force", "reaction_moment"):
        assert runs[1].values[name] == pytest.approx(runs[0].values[name], abs=1e-6 * np.max(np.abs(runs[0].values[name])))
    effort = runs[1].values["multiplier"][:, runs[1].labels["row"].index("crank.angle 0")]
    assert runs[1].labels["drive"] == runs[0].labels["drive"] == ("crank.angle motion",)
    assert np.array_equal(runs[1].values["effort"][:, 0], effort)
    assert effort == pytest.approx(runs[0].values["effort"][:, 0], abs=1e-6 * np.max(np.abs(effort)))
    works = [run.values["work"][-1, run.labels["source"].index("crank.angle motion")] for run in runs]
    assert works[1] == pytest.approx(works[0], rel=1e-7)
    assert runs[1].ledger.relative_error_max < 1e-8


def test_inverse_dynamics_may_be_asked_in_absolute_coordinates():
    system = mechanisms.planar_chain(2, modes=1)
    motion = {"link0.angle": lambda t: 0.3 * pl.sin(2.0 * t), "link1.angle": lambda t: 0.1 + 0.2 * t}
    runs = [pl.inverse_dynamics(system, motion, 0.2, save=[0.1, 0.2], method=TIGHT, formulation=f)
            for f in ("articulated", "augmented")]  # fmt: skip
    efforts = [[run.values["effort"][:, run.labels["drive"].index(f"{name} motion")] for name in motion] for run in runs]
    assert np.array(efforts[1]) == pytest.approx(np.array(efforts[0]), rel=1e-6)


def geared(axis="z"):
    system = pl.System("geared", gravity=(0, -9.81))
    first = system.add("first", FAT, joint=pl.Revolute(axis=axis, rate=2.0))
    system.add("second", FAT, joint=pl.Revolute(axis=axis, rate=-5.0), on=first.tip)
    system.close("gear", "gear", "second.angle", "first.angle", ratio=-2.5)
    return system


def test_gears_hold_joints_that_are_apart():
    runs = [pl.simulate(geared(), 0.5, method=TIGHT, save=[0.5], formulation=f) for f in ("articulated", "augmented")]
    assert runs[1].values["tip_position"] == pytest.approx(runs[0].values["tip_position"], abs=1e-9)
    held = [run.values["multiplier"][-1, run.labels["row"].index("gear 0")] for run in runs]
    assert held[1] == pytest.approx(held[0], rel=1e-7)


def nothing_turns_it():
    system = pl.System("thin", gravity=(0, 0, -9.81))
    system.add("rod", pl.RigidBody.rod(1.0, 1.0), joint=pl.Revolute(axis="y"))
    return system


def sleeve():
    system = pl.System("crane", gravity=(0, -9.81))
    boom = pl.TelescopicBeam(length=1.0, mass_per_length=2.0, section=pl.Section(A=3.6e-4, Iz=1.2e-8),
                             material=pl.Material(E=2e11, G=77e9), modes=pl.Modes("cf", 1), extension=0.5)  # fmt: skip
    system.add("boom", boom, joint=pl.Revolute())
    return system


def taken_name():
    system = four_bar()
    system.close("C joint", "distance", system.handle("C").at((0.5, 0)), system.ground, length=1.0)
    return system


WRONG = {
    "a thin rod in space": (nothing_turns_it, r"body 'rod': inertia must resist every motion of the body where it floats"),
    "a sleeve without mass": (sleeve, r"body 'boom': inertia must resist every motion .* got 'TelescopicBeam'"),
    "a gear in space": (lambda: geared((0.0, 1.0, 1.0)), r"closure 'gear': a must not be an angle in space of a joint taken apart"),
    "a taken name": (taken_name, r"closure 'C joint': name must not be the name of a body followed by ' joint'"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_cannot_be_taken_apart_is_refused(case):
    build, message = WRONG[case]
    with pytest.raises(pl.ModelError, match=message):
        compile_system(build(), "augmented")


def test_what_it_costs_grows_as_the_chain_does():
    """M is block-diagonal and D as sparse as the chain: three and a half times the tree's operations, whatever the length."""
    counts = {n: trace(mechanisms.planar_chain(n, modes=1, ends="ss"), "augmented").rhs.n_instructions() for n in (4, 8, 16)}
    assert counts[16] - counts[8] == pytest.approx(2 * (counts[8] - counts[4]), rel=1e-2)
