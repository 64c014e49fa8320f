"""Mechanisms held in place: the efforts and commands that do it, against statics worked out here, and linearised about that."""

from dataclasses import replace

import numpy as np
import pytest

import pliant as pl
from pliant.model.signal import Constant

G = 9.81
MOTOR = {"inertia": 1e-5, "ratio": 50.0, "constant": 0.05, "resistance": 1.5}


def rods(**motor):
    """Two rods of 0.5 and 0.4 m, 0.6 and 0.4 kg: a motor at the shoulder, a drive at the elbow."""
    system = pl.System("rods", gravity=(0, -G))
    upper = system.add("upper", pl.RigidBody.rod(0.5, 0.6), joint=pl.Revolute(angle=0.3))
    system.add("fore", pl.RigidBody.rod(0.4, 0.4), joint=pl.Revolute(angle=0.1), on=upper.tip)
    system.motor("shoulder", "upper.angle", pl.Motor(**{**MOTOR, **motor}), command=0.0)
    system.drive("elbow", "fore.angle", 0.0)
    return system


def torques(upper, fore):
    """What holds the rods at these angles, by the levers of their weights."""
    elbow = 0.4 * G * 0.2 * np.cos(upper + fore)
    return 0.6 * G * 0.25 * np.cos(upper) + 0.4 * G * 0.5 * np.cos(upper) + elbow, elbow


def flexible(command=0.0, effort=0.0, **motor):
    system = pl.System("arm", gravity=(0, -G))

    def strip(length):
        return pl.Beam(length=length, section=pl.Section.rectangle(0.008, 0.03), material=pl.ALUMINIUM, theory="euler-bernoulli",
                       modes=pl.Modes("cf", 2, static=True), damping=[pl.ModalDamping(0.01)])  # fmt: skip

    upper = system.add("upper", strip(0.5), joint=pl.Revolute(angle=0.3))
    system.add("fore", strip(0.4), joint=pl.Revolute(angle=0.1), on=upper.tip)
    system.motor("shoulder", "upper.angle", pl.Motor(**{**MOTOR, **motor}), command=command)
    system.drive("elbow", "fore.angle", effort)
    return system


HOLD = {"upper.angle": "-60 deg", "fore.angle": 1.4}


@pytest.mark.parametrize("inductance", [0.0, 2e-3])
def test_held_joints_take_the_torques_of_their_weights_and_the_commands_that_give_them(inductance):
    rest = pl.equilibrium(rods(inductance=inductance), hold=HOLD)
    shoulder, elbow = torques(-np.pi / 3, 1.4)
    assert rest.efforts == pytest.approx({"upper.angle": shoulder, "fore.angle": elbow}, rel=1e-12)
    assert rest["upper.angle"] == pytest.approx(-np.pi / 3, rel=1e-15) and rest.hold["fore.angle"] == 1.4
    volts = shoulder / (MOTOR["ratio"] * MOTOR["constant"]) * MOTOR["resistance"]
    assert rest.commands == pytest.approx({"shoulder": volts, "elbow": elbow}, rel=1e-12)
    assert rest.reactions["upper"].moment[2] == pytest.approx(shoulder, rel=1e-12)
    assert "held: upper.angle, fore.angle" in rest.message
    assert f"upper.angle = -1.0472, held by {shoulder:.6g} N m" in str(rest) and f"command of shoulder: {volts:.6g}" in str(rest)


@pytest.mark.parametrize("inductance", [0.0, 2e-3])
def test_a_flexible_arm_is_linearised_about_its_trim_with_its_joints_free(inductance):
    """The same matrices as those of an arm whose commands are the ones found, at the state found; and a run stays there."""
    system = flexible(inductance=inductance, efficiency=0.8)
    rest = pl.equilibrium(system, hold=HOLD)
    assert rest["upper.y1"] < -1e-4  # it sags
    linear = pl.linearise(system, at=rest)
    assert "upper.angle" in linear.coordinates and linear.inputs == ("elbow", "shoulder")
    assert linear.u0 == pytest.approx([rest.commands["elbow"], rest.commands["shoulder"]], rel=1e-14)
    assert "not in balance" not in linear.message
    commanded = flexible(rest.commands["shoulder"], rest.commands["elbow"], inductance=inductance, efficiency=0.8)
    same = pl.linearise(commanded, at=rest.state)
    assert same.states == linear.states and np.max(np.abs(same.A - linear.A)) < 1e-9 * np.max(np.abs(linear.A))
    assert same.u0 == pytest.approx(linear.u0, rel=1e-14) and np.max(np.abs(same.B - linear.B)) < 1e-9 * np.max(np.abs(linear.B))
    run = pl.simulate(commanded, 0.02, start=rest.state)
    assert max(np.ptp(run["upper.angle"]), np.ptp(run["fore.y1"])) < 1e-9


def test_the_row_of_a_held_mechanism_is_in_balance():
    rest = pl.equilibrium(flexible(inductance=1e-3), hold=HOLD)
    row = rest.to_result()
    for name in ("reaction_moment", "reaction_force"):
        assert row.values[name][0] == pytest.approx(rest.values[name], abs=1e-9)


def test_a_coordinate_without_motor_is_held_by_an_effort_along_it():
    system = pl.System("bare", gravity=(0, -G))
    system.add("rod", pl.RigidBody.rod(0.5, 0.6), joint=pl.Revolute(angle=0.3))
    rest = pl.equilibrium(system, hold={"rod.angle": 0.5})
    assert rest.efforts == pytest.approx({"rod.angle": 0.6 * G * 0.25 * np.cos(0.5)}, rel=1e-12) and rest.commands == {}
    linear = pl.linearise(system, at=rest, inputs="rod.angle")
    assert linear.u0 == pytest.approx([rest.efforts["rod.angle"]]) and "not in balance" not in linear.message
    assert linear.K[0, 0] == pytest.approx(-0.6 * G * 0.25 * np.sin(0.5), rel=1e-12)  # of a constant torque


def test_a_command_that_acts_already_is_part_of_the_one_that_holds():
    system = rods()
    system.drives["elbow"] = replace(system.drives["elbow"], effort=Constant(0.1))
    rest = pl.equilibrium(system, hold=HOLD)
    elbow = torques(-np.pi / 3, 1.4)[1]
    assert rest.efforts["fore.angle"] == pytest.approx(elbow - 0.1, rel=1e-12)
    assert rest.commands["elbow"] == pytest.approx(elbow, rel=1e-12)


def test_a_motor_that_is_too_weak_is_named():
    rest = pl.equilibrium(rods(max_current=0.1), hold=HOLD)
    assert any("'shoulder' cannot hold upper.angle" in sentence for sentence in rest.warnings)
    assert "shoulder" not in rest.commands and rest.efforts["upper.angle"] == pytest.approx(torques(-np.pi / 3, 1.4)[0], rel=1e-12)


def test_a_loop_is_closed_about_what_is_held():
    """A parallelogram, held at its crank: half the coupler's weight acts at its tip, and the other crank's own weight is shared."""
    system = pl.System("parallelogram", gravity=(0, -G))
    left = system.add("left", pl.RigidBody.rod(0.3, 0.2), joint=pl.Revolute(angle=1.5))
    coupler = system.add("coupler", pl.RigidBody.rod(0.8, 0.5), joint=pl.Revolute(angle=-1.4), on=left.tip)
    right = system.add("right", pl.RigidBody.rod(0.3, 0.2), joint=pl.Revolute(angle=1.3), on=system.ground.moved((0.8, 0.0)))
    system.close("pin", "point", coupler.tip, right.tip)
    rest = pl.equilibrium(system, hold={"left.angle": "50 deg"})
    angle = np.radians(50.0)
    assert rest["right.angle"] == pytest.approx(angle, rel=1e-9)
    assert rest.efforts["left.angle"] == pytest.approx(G * np.cos(angle) * (0.2 * 0.3 + 0.5 * 0.3), rel=1e-9)


def test_a_steady_speed_tells_its_torque_too():
    system = pl.System("rotor", gravity=(0, 0))
    system.add("rotor", pl.RigidBody(mass=1.0, inertia=0.1), joint=pl.Revolute(damper=pl.Damper(0.02)))
    assert pl.equilibrium(system, steady={"rotor.angle": 10.0}).efforts == pytest.approx({"rotor.angle": 0.2})


def test_wrong_words_of_hold_are_refused():
    with pytest.raises(pl.ModelError, match=r"hold must name joint coordinates, .*did you mean 'upper.angle'"):
        pl.equilibrium(rods(), hold={"upper.angel": 1.0})
    with pytest.raises(pl.ModelError, match=r"hold\['upper.angle'\].*kg"):
        pl.equilibrium(rods(), hold={"upper.angle": "3 kg"})
    with pytest.raises(pl.ModelError, match="must not name a coordinate that steady names"):
        pl.equilibrium(rods(), hold={"upper.angle": 1.0}, steady={"upper.angle": 1.0})
    with pytest.raises(pl.ModelError, match="hold must be a mapping"):
        pl.equilibrium(rods(), hold="upper.angle")
    rest = pl.equilibrium(rods(), hold=HOLD)
    bare = rods()
    del bare.motors["shoulder"]
    with pytest.raises(pl.ModelError, match="there is no shoulder"):
        pl.linearise(bare, at=rest)
