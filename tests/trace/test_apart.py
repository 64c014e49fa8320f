"""Loops that hang on one another in a plane: solved with joints taken apart, they move as they do in one matrix."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import pliant as pl
from pliant.errors import ModelError
from pliant.trace import apart
from pliant.trace.tracing import trace

G = 9.81


def windows(count, body=None, **crossbar):
    """IFToMM's A02 on one tree: crossbars in a row, each with a leg on its end that is pinned to the ground."""
    system = pl.System("windows", gravity=(0, -G))
    rod = pl.RigidBody.rod(1.0, 1.0)
    before = system.add("v0", rod, joint=pl.Revolute(angle=np.pi / 2, rate=-1.0)).tip
    for k in range(1, count + 1):
        turn = {"angle": -np.pi / 2, "rate": 1.0} if k == 1 else {}
        before = system.add(f"h{k}", body or rod, joint=pl.Revolute(**turn, **crossbar), on=before).tip
        leg = system.add(f"v{k}", rod, joint=pl.Revolute(angle=-np.pi / 2, rate=-1.0), on=before)
        system.close(f"pin{k}", "point", leg.tip, system.ground.moved((float(k), 0.0)))
    return system


def angle_of_all(count, t):
    """phi'' = -(W g / I) cos phi of the one coordinate."""
    inertia, weight = (count + 1) / 3 + count, (count + 1) / 2 + count
    found = solve_ivp(lambda _, y: [y[1], -weight * G / inertia * np.cos(y[0])], (0.0, t), [np.pi / 2, -1.0], method="DOP853",
                      rtol=1e-12, atol=1e-13)  # fmt: skip
    return found.y[0, -1]


def plain():
    return windows(10)


def elastic():
    """Crossbars that bend, with friction of a viscous kind and springs in their joints."""
    beam = pl.Beam(length=1.0, section=pl.Section.rectangle(0.02, 0.03), material=pl.STEEL, theory="euler-bernoulli",
                   modes=pl.Modes("ss", 1))  # fmt: skip
    return windows(9, beam, damper=pl.Damper(0.3), spring=pl.Spring(4.0))


def loaded():
    """Torques and forces on pieces and on joints between them, and bodies that hang on by a given motion or by a slide."""
    system = windows(9)
    system.drive("motor", "h5.angle", lambda t, q, v: 3.0 * pl.sin(4.0 * t) - 0.1 * v["h5.angle"])
    system.force("wind", system.handle("h7").tip, (2.0, lambda t, q, v: -q["h3.angle"], 0.0))
    tip = system.handle("h9").tip
    turning = pl.Revolute(motion=pl.Prescribed(lambda t: 0.5 * pl.sin(3.0 * t)))
    arm = system.add("arm", pl.RigidBody.rod(0.3, 0.2), joint=turning, on=tip)
    sliding = pl.Prismatic(axis="x", spring=pl.Spring(50.0))
    system.add("slide", pl.RigidBody(mass=0.4, inertia=0.01), joint=sliding, on=arm.tip)
    return system


def both(monkeypatch, build):
    """The same System with its joints taken apart, and in one matrix."""
    taken = trace(build())
    monkeypatch.setattr(apart, "FEW_LOOPS", 10**9)
    whole = trace(build())
    assert taken.partition is None and whole.partition is not None
    return taken, whole


@pytest.mark.parametrize("build", [plain, elastic, loaded])
def test_accelerations_multipliers_reactions_and_projection_are_those_of_one_matrix(monkeypatch, build):
    run = pl.simulate(build(), 0.15, save="steps")
    taken, whole = both(monkeypatch, build)
    moving = len(taken.free_q) + len(taken.free_v)
    for k in (0, len(run.time) // 2, len(run.time) - 1):
        y = np.zeros(len(taken.y0))
        y[:moving] = np.concatenate([run.values["q"][k][list(taken.free_q)], run.values["v"][k][list(taken.free_v)]])
        for name, off in (("rhs", 0.0), ("observe", 0.0), ("project", 1e-7)):
            y[: moving // 2] += off * np.sin(np.arange(moving // 2))
            ours, theirs = (np.array(one.functions[name].casadi(run.time[k], y, one.parameters(0.0, 1.0))).ravel()
                            for one in (taken, whole))  # fmt: skip
            assert np.max(np.abs(ours - theirs)) < 1e-9 * (1.0 + np.max(np.abs(theirs))), name
            if off:
                assert np.max(np.abs(ours - y)) > 0.1 * off  # the projection does move the state


def test_all_windows_pass_their_singular_position_as_one_coordinate():
    """Flat, half the rows vanish at once, ten times in 10 s."""
    run = pl.simulate(windows(12), 10.0, method=pl.DOP853(rtol=1e-10, atol=1e-12), save=[10.0], max_steps=3000)
    assert run.ok, run.message
    exact = angle_of_all(12, 10.0)
    turns = np.array([run["v0.angle"][-1], *(run[f"v{k}.angle"][-1] + np.pi for k in range(1, 13))])
    assert turns == pytest.approx(exact, abs=1e-6)
    assert np.max(np.abs(run.values["constraint"])) < 1e-13
    assert run.ledger.relative_error_max < 1e-8


def test_operations_grow_as_the_number_of_windows():
    counts = {n: trace(windows(n)).rhs.n_instructions() for n in (10, 20, 40)}
    assert counts[40] - counts[20] == pytest.approx(2 * (counts[20] - counts[10]), rel=0.01)


def test_joints_are_taken_apart_only_where_many_loops_hang_on_one_tree():
    few, many = trace(windows(apart.FEW_LOOPS)), trace(windows(apart.FEW_LOOPS + 1))
    assert few.partition is not None and many.partition is None
    of = [many.tree.nodes[k].name for k in apart.joints_to_cut(many.tree, list(many.system.closures.values()))]
    assert of == [f"h{k}" for k in range(1, apart.FEW_LOOPS + 1)]


def test_a_body_that_cannot_float_stays_on_its_tree(monkeypatch):
    """A point mass resists no turning of its own; its neighbours are taken apart instead."""
    point = pl.RigidBody(mass=1.0, inertia=0.0, tip=(1.0, 0.0))
    taken = trace(windows(10, point))
    assert apart.joints_to_cut(taken.tree, list(taken.system.closures.values())) == []
    assert taken.partition is not None


def test_a_method_that_partitions_coordinates_is_refused_with_two_ways_out_that_work():
    system, partitions = windows(9), pl.TwoLoop(rtol=1e-9, atol=1e-11)
    with pytest.raises(ModelError, match=r"partitions coordinates if .* loops .*give formulation='augmented', or another method"):
        pl.simulate(system, 0.1, method=partitions)
    other, augmented = pl.simulate(system, 0.1), pl.simulate(system, 0.1, method=partitions, formulation="augmented")
    assert other.ok and augmented.ok and augmented.stats["partitions"] >= 1
    there, wanted = (run.values["tip_position"][-1] for run in (augmented, other))
    assert np.allclose(there, wanted, rtol=0.0, atol=1e-7)
