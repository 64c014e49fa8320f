"""What every joint transmits: closed forms, momentum of every body differentiated, loops cut elsewhere, efforts along the axes."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

import mechanisms
import pliant as pl
from dynamics import test_telescopic
from pliant.codegen.tracer import Tracer
from pliant.dynamics.denoc import numbers, orthogonal_complement
from pliant.dynamics.energy import momenta
from pliant.dynamics.kinematics import poses, twists
from pliant.dynamics.loads import applied_forces
from pliant.dynamics.retraction import retract
from pliant.dynamics.tree import build_tree
from pliant.model.signal import Constant
from pliant.results.table import OBSERVED, QUANTITIES
from pliant.trace.tracing import trace

G = 9.81
TIGHT = pl.DOP853(rtol=1e-12, atol=1e-14)


def of(run, body, row=0):
    return run.of_body("reaction_force", body)[row], run.of_body("reaction_moment", body)[row]


# ---- closed forms


def test_a_hanging_chain_carries_what_is_below():
    system = pl.System("hanging", gravity=(0, -G))
    on = None
    for k, mass in enumerate((1.0, 2.0, 4.0)):
        on = system.add(f"rod{k}", pl.RigidBody.rod(0.5, mass), joint=pl.Revolute(angle=0 if k else -np.pi / 2), on=on).tip
    run = pl.simulate(system, 0.1, save=[0.0, 0.1])
    for k, below in enumerate((7.0, 6.0, 4.0)):
        force, moment = of(run, f"rod{k}")
        assert force == pytest.approx([0.0, below * G, 0.0], abs=1e-12)
        assert moment == pytest.approx(np.zeros(3), abs=1e-12)


def test_a_spinning_rod_pulls_at_its_pin_and_along_itself():
    """m w^2 L/2 at the pin; a second rod welded to its tip pulls with m w^2 (L + L/2)."""
    system = pl.System("spinning", gravity=(0, 0))
    first = system.add("first", pl.RigidBody.rod(0.8, 2.0), joint=pl.Revolute(angle=0.4, rate=3.0))
    system.add("second", pl.RigidBody.rod(0.8, 2.0), joint=pl.Weld(), on=first.tip)
    run = pl.simulate(system, 0.1, save=[0.0, 0.1])
    inward = -np.array([np.cos(0.4), np.sin(0.4), 0.0])
    assert of(run, "second")[0] == pytest.approx(2.0 * 9.0 * 1.2 * inward, rel=1e-12)
    assert of(run, "first")[0] == pytest.approx((2.0 * 9.0 * 0.4 + 2.0 * 9.0 * 1.2) * inward, rel=1e-12)


def test_a_cantilever_is_held_with_its_weight_and_its_moment():
    """Told to stand still, sagging in balance: weight, and weight times the lever of its mass centre."""
    system = pl.System("held", gravity=(0, -G))
    beam = mechanisms.planar_link(3)
    system.add("beam", beam, joint=pl.Revolute())
    held = pl.inverse_dynamics(system, {"beam.angle": lambda t: 0.0 * t}, 1.0, elastic="quasi-static", save=[0.0, 1.0])
    force, moment = of(held, "beam")
    assert force == pytest.approx([0.0, beam.mass * G, 0.0], rel=1e-9, abs=1e-9)
    assert moment == pytest.approx([0.0, 0.0, beam.mass * G * 0.4], rel=1e-9, abs=1e-9)


def test_the_root_moment_of_a_driven_elastic_arm_is_its_motors_torque():
    system = pl.System("arm", gravity=(0, -G))
    arm = system.add("arm", mechanisms.planar_link(2), joint=pl.Revolute())
    system.add("fore", mechanisms.planar_link(2), joint=pl.Revolute(), on=arm.tip)
    swing = {"arm.angle": lambda t: 0.5 * pl.sin(3.0 * t) ** 2, "fore.angle": lambda t: -0.8 * pl.sin(2.0 * t) ** 2}
    run = pl.inverse_dynamics(system, swing, 0.5, method=TIGHT)
    moments = np.column_stack([run.of_body("reaction_moment", body)[:, 2] for body in ("arm", "fore")])
    size = np.max(np.abs(run.values["effort"]))
    assert moments == pytest.approx(run.values["effort"], abs=1e-9 * size)


def test_a_free_body_has_no_joint_that_could_transmit_anything():
    system = mechanisms.floating_base()
    system.drive("motor", "arm.angle", 2.0)
    run = pl.simulate(system, 0.05, save=0.01)
    force, moment = run.of_body("reaction_force", "base"), run.of_body("reaction_moment", "base")
    size = np.max(np.abs(run.values["reaction_force"]))
    assert size > 1.0
    assert np.max(np.abs(force)) < 1e-9 * size
    assert np.max(np.abs(moment)) < 1e-9 * size


# ---- momentum of every body, differentiated


SYSTEMS = {**mechanisms.ALL, **{f"telescopic {name}": build for name, build in test_telescopic.ALL.items()}}


def read(signal):
    return signal.value if isinstance(signal, Constant) else 2.0 * np.sin(3.0 * 0.4)


def momentum_rates(system):
    """A function of (q, v, a): for each body d/dt of both momenta in space less gravity and loads, about the world's origin."""
    tree, tracer = build_tree(system), Tracer()
    q_column, q = tracer.symbols("q", len(tree.positions))
    v_column, v = tracer.symbols("v", len(tree.rates))
    a_column, _ = tracer.symbols("a", len(tree.rates))
    xi, shift = tracer.symbols("xi", len(tree.rates))
    charted = retract(tree, q, shift)
    along = poses(tree, charted), twists(tree, charted, v)
    applied = applied_forces(system, tree, q, v, read)
    none = ca.SX.zeros(len(tree.rates))
    rows = []
    for k, node in enumerate(tree.nodes):
        alone = replace(tree, nodes=(node,))
        linear, angular = momenta(alone, charted, v, along[0][k : k + 1], along[1][k : k + 1])
        both = tracer.column([*linear, *angular])
        rate = ca.substitute(ca.jtimes(both, xi, v_column) + ca.jtimes(both, v_column, a_column), xi, none)
        pose, load = poses(tree, q)[k], applied.loads[k]
        out = lambda x, pose=pose: tracer.column(pose.rotation.out(x))  # noqa: E731
        place, weight = tracer.column(pose.position), node.body.mass * ca.SX(list(tree.gravity))
        force = out(load.force) + weight
        heavy = ca.cross(out(node.shape(q, v).moment), ca.SX(list(tree.gravity)))
        moment = out(load.moment) + heavy + ca.cross(place, force)
        rows.append(rate - ca.vertcat(force, moment))
    return ca.Function("rates", [q_column, v_column, a_column], [ca.horzcat(*rows)])


def observed(traced, y, t=0.4):
    """Quantities at a state, by name."""
    flat, found, offset = np.array(traced.observe(t, y, traced.parameters(0.0, 1.0))).ravel(), {}, 0
    for name in OBSERVED:
        shape = [len(traced.columns[d]) for d in QUANTITIES[name].dims]
        found[name] = flat[offset : offset + int(np.prod(shape))].reshape(shape)
        offset += int(np.prod(shape))
    return found


@pytest.mark.parametrize("name", SYSTEMS)
def test_reactions_change_the_momentum_of_every_body(name):
    """Newton and Euler body by body: what a joint gives less what the next ones take, against momenta differentiated."""
    system = SYSTEMS[name]()
    traced, rates = trace(system), momentum_rates(system)
    tree = traced.tree
    for q, v in test_telescopic.random_states(tree):
        seen = observed(traced, np.concatenate([q, v, np.zeros(traced.y0.size - q.size - v.size)]))
        asked = np.array(rates(q, v, seen["a"]))
        found = np.zeros_like(asked)
        for k, node in enumerate(tree.nodes):
            force = seen["reaction_force"][k]
            moment = seen["reaction_moment"][k] + np.cross(seen["root_position"][k], force)
            found[:, k] += [*force, *moment]
            if node.parent >= 0:
                found[:, node.parent] -= [*force, *moment]
        assert np.max(np.abs(found - asked)) < 1e-9 * np.max(np.abs(asked))


@pytest.mark.parametrize("name", SYSTEMS)
def test_along_a_joints_axes_its_reaction_is_the_joints_own_effort(name):
    """P^T w of the orthogonal complement gives the efforts of springs, dampers and drives at the joint."""
    system = SYSTEMS[name]()
    traced = trace(system)
    tree = traced.tree
    drives = {drive.coordinate: drive.effort for drive in system.drives.values()}
    for q, v in test_telescopic.random_states(tree, count=2):
        seen = observed(traced, np.concatenate([q, v, np.zeros(traced.y0.size - q.size - v.size)]))
        generators = orthogonal_complement(tree, list(q), poses(tree, list(q))).diagonal
        size = max(np.max(np.abs(seen["reaction_moment"])), 1.0)
        for k, node in enumerate(tree.nodes):
            wrench = [*seen["reaction_moment"][k], *seen["reaction_force"][k]]
            for slot in node.slots:
                joint, motion = node.link.joint, slot.motion
                if slot.is_ball:
                    continue
                own = np.array(generators[k])[:6, numbers(node).index(slot.v)] @ wrench
                label = f"{node.name}.{motion.name}"
                asked = read(drives[label]) if label in drives else 0.0
                if motion.name in joint.springs:
                    asked -= joint.springs[motion.name].stiffness * (q[slot.q] - joint.springs[motion.name].rest)
                if motion.name in joint.dampers:
                    asked -= joint.dampers[motion.name].coefficient * v[slot.v]
                assert own == pytest.approx(asked, abs=1e-9 * size)


# ---- loops cut at one joint or another


LENGTHS = {"crank": 0.3, "coupler": 0.9, "rocker": 0.6}
STARTS = {"crank": 1.2, "coupler": 0.35, "rocker": 1.5}  # absolute angles, rough: assembly closes the loop


def bar(name, elastic):
    if elastic and name == "coupler":
        return pl.Beam(length=LENGTHS[name], section=mechanisms.FLAT, material=pl.STEEL, theory="euler-bernoulli",
                       modes=pl.Modes("ss", 2))  # fmt: skip
    return pl.RigidBody.rod(LENGTHS[name], 1.0 + LENGTHS[name])


def four_bar(cut, elastic=False, angles=None, rates=None):
    """The same linkage with its loop cut at the pin between coupler and rocker, or between rocker and ground.

    The spring at the crank makes the motion lively; angles and rates are absolute, those of a state that closes the loop.
    """
    angles, rates = angles or STARTS, rates or {"crank": 2.0, "coupler": 0.0, "rocker": 0.0}
    system = pl.System(f"cut at {cut}", gravity=(0, -G))
    far = system.ground.moved((1.0, 0.0))
    joint = pl.Revolute(angle=angles["crank"], rate=rates["crank"], spring=pl.Spring(30.0))
    crank = system.add("crank", bar("crank", elastic), joint=joint)
    turn = pl.Revolute(angle=angles["coupler"] - angles["crank"], rate=rates["coupler"] - rates["crank"])
    coupler = system.add("coupler", bar("coupler", elastic), joint=turn, on=crank.tip)
    if cut == "far pin":
        rocker = system.add("rocker", bar("rocker", elastic), on=far,
                            joint=pl.Revolute(angle=angles["rocker"], rate=rates["rocker"]))  # fmt: skip
        system.close("pin", "point", coupler.tip, rocker.tip)
        return system
    # the rocker hangs on the coupler, its root at the moving pin: turned round
    bend = pl.Revolute(angle=angles["rocker"] + np.pi - angles["coupler"], rate=rates["rocker"] - rates["coupler"])
    rocker = system.add("rocker", bar("rocker", elastic), joint=bend, on=coupler.tip)
    system.close("pin", "point", rocker.tip, far)
    return system


def absolute(run, row):
    """Absolute angles and rates of a run cut at the far pin."""
    found = []
    for get in (run.__getitem__, run.rate):
        crank, coupler, rocker = (float(get(f"{name}.angle")[row]) for name in LENGTHS)
        found.append({"crank": crank, "coupler": crank + coupler, "rocker": rocker})
    return found


@pytest.mark.parametrize("elastic", [False, True], ids=["rigid", "elastic coupler"])
def test_a_loop_cut_elsewhere_has_the_same_reactions(elastic):
    """What one cut calls a multiplier the other calls a reaction, and the other way round: to 1e-9 along the motion."""
    one = pl.simulate(four_bar("far pin", elastic), 0.6, method=TIGHT, save=[0.0, 0.2, 0.6])
    assert np.max(np.abs(one.values["constraint"])) < 1e-12
    angles, rates = absolute(one, 0)
    two = pl.simulate(four_bar("ground", elastic, angles, rates), 0.6, method=TIGHT, save=[0.0, 0.2, 0.6])
    assert two["crank.angle"] == pytest.approx(one["crank.angle"], abs=1e-9)
    size = np.max(np.abs(one.values["reaction_force"]))
    near = {"abs": 1e-9 * size}
    for body in ("crank", "coupler"):
        assert two.of_body("reaction_force", body) == pytest.approx(one.of_body("reaction_force", body), **near)
        assert two.of_body("reaction_moment", body) == pytest.approx(one.of_body("reaction_moment", body), **near)
    # the coupler's tip is pushed by the rocker: a multiplier there, the opposite of the rocker's reaction here
    assert one.values["multiplier"] == pytest.approx(-two.of_body("reaction_force", "rocker")[:, :2], **near)
    assert two.values["multiplier"] == pytest.approx(one.of_body("reaction_force", "rocker")[:, :2], **near)


def test_a_body_told_to_stand_still_is_held_too():
    """Told angles that never move leave nothing to trace of the bar, and yet its closure's rows are there."""
    system = pl.System("still", gravity=(0, -G))
    stand = system.add("stand", pl.RigidBody.rod(0.5, 2.0), joint=pl.Revolute(motion=lambda t: 0.0 * t))
    bar = system.add("bar", pl.RigidBody.rod(0.5, 1.0), joint=pl.Planar(position=(0.5, 0.0), angle=-np.pi / 2))
    system.close("pin", "point", bar.root, stand.tip)
    run = pl.simulate(system, 0.1, save=[0.0, 0.1])
    assert run.values["multiplier"][0] == pytest.approx([0.0, G], abs=1e-9)
    assert of(run, "bar")[0] == pytest.approx(np.zeros(3), abs=1e-9)
    force, moment = of(run, "stand")
    assert force == pytest.approx([0.0, 3.0 * G, 0.0], abs=1e-9)
    assert moment == pytest.approx([0.0, 0.0, 2.0 * G * 0.25 + G * 0.5], abs=1e-9)
    assert run.values["effort"][0] == pytest.approx([moment[2]], abs=1e-9)


def test_springs_that_close_a_loop_load_the_bodies_too():
    """The ground pins carry the weight and the change of momentum of all three bars, the springs between them none of it."""
    system = four_bar("far pin")
    soft = pl.System("soft", gravity=(0, -G))
    soft.links.update(system.links)
    soft.close("pin", "point", soft.handle("coupler").tip, soft.handle("rocker").tip, by="springs", stiffness=1e4, damping=30.0)
    run = pl.simulate(soft, 0.2, method=TIGHT, save=0.05)
    for row in range(1, 5):
        pulled = run.values["multiplier"][row]
        rocker = run.of_body("reaction_force", "rocker")[row, :2]
        q, v, a = (run.values[x][row] for x in ("q", "v", "a"))
        tilt, turn, bend = q[2], v[2], a[2]
        along, across = np.array([np.cos(tilt), np.sin(tilt)]), np.array([-np.sin(tilt), np.cos(tilt)])
        mass, half = 1.6, 0.3
        assert rocker - pulled == pytest.approx(mass * (half * (bend * across - turn**2 * along) + [0.0, G]), rel=1e-9)


def test_a_gear_acts_inside_the_joints_it_couples():
    """Along their axes the two joints transmit lam and -ratio lam; nothing else reaches the bodies."""
    system = pl.System("geared", gravity=(0, -G))
    system.add("first", pl.RigidBody.rod(0.4, 1.0), joint=pl.Revolute())
    system.add("second", pl.RigidBody.rod(0.4, 3.0), joint=pl.Revolute(angle=0.3), on=system.ground.moved((1.0, 0.0)))
    system.close("gear", "gear", "first.angle", "second.angle", ratio=-2.0)
    run = pl.simulate(system, 0.2, method=TIGHT, save=0.05)
    force = run.values["multiplier"][:, 0]
    assert np.max(np.abs(force)) > 1.0
    assert run.of_body("reaction_moment", "first")[:, 2] == pytest.approx(force, rel=1e-9)
    assert run.of_body("reaction_moment", "second")[:, 2] == pytest.approx(2.0 * force, rel=1e-9)


# ---- contact


def test_a_rod_that_hits_a_wall_is_held_by_its_pin():
    """Pin force, contact force and weight move the mass centre, in the air and in touch."""
    system = pl.System("hit", gravity=(0, -G))
    rod = system.add("rod", pl.RigidBody.rod(1.0, 2.0), joint=pl.Revolute(angle=0.0))
    system.contact(points=rod.tip, against=pl.Plane(normal=(1, 0), point=(0.3, 0.0)), normal=pl.Hertz(stiffness=1e7),
                   friction=pl.Ambrosio(mu=0.3, v0=1e-4, v1=1e-3))  # fmt: skip
    run = pl.simulate(system, 1.0, method=TIGHT, save="steps")
    pushed = run.values["normal_force"][:, 0]
    assert np.sum(pushed > 100.0) > 5
    angle, rate, bend = run["rod.angle"], run.rate("rod.angle"), run.values["a"][:, 0]
    along, across = np.array([np.cos(angle), np.sin(angle)]).T, np.array([-np.sin(angle), np.cos(angle)]).T
    centre = 0.5 * (bend[:, None] * across - rate[:, None] ** 2 * along)
    contact = np.column_stack([pushed, np.zeros_like(pushed)]) + run.values["friction_force"][:, 0, :2]
    pin = run.of_body("reaction_force", "rod")[:, :2]
    assert pin == pytest.approx(2.0 * centre - contact + [0.0, 2.0 * G], abs=1e-9 * np.max(pushed))
