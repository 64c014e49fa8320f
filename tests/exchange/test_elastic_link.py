"""Elastic links of robot files: mass and inertia of the file, the stiffness that was asked for, rigid as it grows."""

from dataclasses import replace

import numpy as np
import pytest

import pliant as pl
from pliant.exchange.geometry import Inertial
from pliant.exchange.robot import HOUSING

G = 9.81
ARM = """
<robot name="arm">
  <link name="base"/>
  <link name="upper"><inertial><origin xyz="0.02 0.2 0.01" rpy="0.1 0.2 0.3"/><mass value="5"/>
    <inertia ixx="0.09" ixy="0.001" ixz="0.002" iyy="0.02" iyz="0.003" izz="0.085"/></inertial></link>
  <link name="forearm"><inertial><origin xyz="0 0.01 -0.22"/><mass value="2.4"/>
    <inertia ixx="0.034" ixy="0" ixz="0" iyy="0.035" iyz="0.0005" izz="0.0021"/></inertial>
    <collision><origin xyz="0 0.05 -0.2"/><geometry><sphere radius="0.06"/></geometry></collision></link>
  <link name="hand"><inertial><origin xyz="0.03 0 0"/><mass value="0.8"/>
    <inertia ixx="0.001" ixy="0" ixz="0" iyy="0.002" iyz="0" izz="0.002"/></inertial></link>
  <joint name="shoulder" type="continuous"><parent link="base"/><child link="upper"/><origin xyz="0 0 0.4" rpy="0.3 0 0"/>
    <axis xyz="1 0 0.2"/></joint>
  <joint name="elbow" type="continuous"><parent link="upper"/><child link="forearm"/><origin xyz="0.05 0.4 0" rpy="0 0.2 0.1"/>
    <axis xyz="1 0 0"/><dynamics damping="0.2" friction="0"/></joint>
  <joint name="wrist" type="continuous"><parent link="forearm"/><child link="hand"/><origin xyz="0.03 0.05 -0.5" rpy="0 1 0"/>
    <axis xyz="0 1 0"/></joint>
</robot>
"""
LENGTH = float(np.linalg.norm([0.03, 0.05, -0.5]))  # of the forearm, m


@pytest.fixture
def arm(tmp_path):
    file = tmp_path / "arm.urdf"
    file.write_text(ARM, encoding="utf-8")
    return file


def alone(robot, name="forearm"):
    """An elastic link held at its joint, with its housing, and nothing on its tip."""
    held = pl.System("held", gravity=(0.0, 0.0, 0.0))
    link = held.add(name, robot.links[name].body, joint=pl.Weld())
    housing = robot.links.get(name + HOUSING)
    if housing is not None:
        held.add(housing.name, housing.body, joint=pl.Weld(), on=housing.on)
    return held, link


def moments(system):
    """int (r, 1) (r, 1)^T dm of a beam and its housing at rest, in the beam's axes."""
    found = np.zeros((4, 4))
    for link in system.links.values():
        body = link.body
        if isinstance(body, pl.Beam):
            jx, jy, jz = body.rotary
            assert jx == pytest.approx(jy + jz)
            along = np.diag([body.mass * body.length**2 / 3.0, jz * body.length, jy * body.length, body.mass])
            along[0, 3] = along[3, 0] = 0.5 * body.mass * body.length
            found += along
        else:
            own = Inertial(body.mass, np.add(body.com, [link.on.station, 0.0, 0.0]), np.array(body.inertia))
            found += own.second_moments
    return found


@pytest.mark.parametrize("asked", ["9 Hz", "80 Hz"])
def test_the_first_frequency_is_the_one_that_was_asked_for(arm, asked):
    robot = pl.read_urdf(arm, elastic={"forearm": pl.elastic_link(first_frequency=asked)})
    held, _ = alone(robot)
    first = pl.linearise(held, at="start", inputs=(), outputs=()).modes().frequencies[0] / (2.0 * np.pi)
    assert first == pytest.approx(float(asked.split()[0]), rel=1e-9)


def test_the_tip_gives_way_as_far_as_was_asked_in_every_direction_across(arm):
    robot = pl.read_urdf(arm, elastic={"forearm": pl.elastic_link(tip_deflection="1 mm at 10 N")})
    for across in ((0, 1, 0), (0, 0.6, 0.8)):
        held, link = alone(robot)
        held.force("push", link.tip, tuple(10.0 * a for a in across))
        moved = pl.equilibrium(held)["tip_position", "forearm"] - [LENGTH, 0.0, 0.0]
        assert moved @ np.array(across) == pytest.approx(1e-3, rel=1e-5)  # foreshortening takes what is left


@pytest.mark.parametrize("known", [pl.elastic_link(first_frequency="20 Hz"), (pl.Section.tube(0.03, 0.002), pl.ALUMINIUM)])
def test_mass_centre_and_inertia_are_those_of_the_file(arm, known):
    rigid, robot = pl.read_urdf(arm), pl.read_urdf(arm, elastic={"forearm": known})
    held, _ = alone(robot)
    body, beam = rigid.links["forearm"].body, robot.links["forearm"].body
    axis = np.array([0.03, 0.05, -0.5]) / LENGTH  # of the beam, in the link's axes
    found, theirs = moments(held), Inertial(body.mass, np.array(body.com), np.array(body.inertia)).second_moments
    assert found[3, 3] == pytest.approx(2.4, rel=1e-12)
    assert found[0, 3] == pytest.approx(2.4 * np.array(body.com) @ axis, rel=1e-12)
    assert found[0, 0] == pytest.approx(axis @ theirs[:3, :3] @ axis, rel=1e-12)
    assert np.linalg.eigvalsh(found) == pytest.approx(np.linalg.eigvalsh(theirs), rel=1e-10)  # turned, not changed
    assert beam.mass > 0.2 * 2.4


def test_an_elastic_forearm_moves_as_the_rigid_one_as_its_stiffness_grows(arm):
    """Coordinates have the same names; the difference of a swing falls with the flexibility."""
    swing = {"t_end": 0.4, "save": 0.05, "method": pl.Radau5(rtol=1e-8, atol=1e-11)}
    start = {"shoulder": 0.4, "elbow": -0.7, "wrist": 1.1}
    rigid = pl.simulate(pl.read_urdf(arm, start=start), **swing)
    differences = []
    for stiff in ("1 mm at 100 N", "0.1 mm at 100 N", "0.01 mm at 100 N"):
        known = pl.elastic_link(tip_deflection=stiff, modes=1, damping=pl.ModalDamping(0.7))
        result = pl.simulate(pl.read_urdf(arm, start=start, elastic={"forearm": known}), **swing)
        assert result.ok and not result.warnings
        differences.append(max(np.max(np.abs(result[name] - rigid[name])) for name in pl.read_urdf(arm).coordinates.values()))
    assert differences[0] < 1e-2
    assert differences[1] < 0.12 * differences[0] and differences[2] < 0.12 * differences[1]
    assert np.max(np.abs(result["tip_position", "hand"] - rigid["tip_position", "hand"])) < 10.0 * differences[2]


def test_an_elastic_joint_is_a_motor_with_an_elastic_gear(arm):
    gear = pl.Motor(inertia=1e-4, ratio=100.0, gear_stiffness=5e3, gear_damping=2.0)
    robot = pl.read_urdf(arm, motors={"elbow": (gear, 0.1)}, start={"shoulder": 0.2})
    by_hand = pl.read_urdf(arm, start={"shoulder": 0.2})
    by_hand.motor("elbow motor", by_hand.coordinates["elbow"], gear, 0.1)
    first, second = (pl.simulate(one, 0.2, save=0.1) for one in (robot, by_hand))
    assert np.array_equal(first["forearm.angle"], second["forearm.angle"])
    assert np.ptp(first["elbow motor.deflection"]) > 1e-3


def test_a_link_takes_a_beam_and_says_that_its_inertial_is_not_used(arm):
    beam = pl.Beam(length=LENGTH, section=pl.Section.tube(0.03, 0.002), material=pl.STEEL, theory="euler-bernoulli",
                   modes=pl.Modes("cf", 1))  # fmt: skip
    robot = pl.read_urdf(arm, elastic={"forearm": beam})
    assert robot.links["forearm"].body.length == LENGTH and "forearm housing" not in robot.links
    assert any("forearm" in line and "inertial is not used" in line for line in robot.unused)
    assert robot.links["hand"].on.station == LENGTH and not any(robot.links["hand"].on.offset)
    assert robot.shapes["forearm"][0].at.station == pytest.approx(0.1025 / LENGTH)  # beside the beam, where the file has it
    with pytest.raises(pl.ModelError, match=r"length of its Beam must be 0\.503388\d+ m"):
        pl.read_urdf(arm, elastic={"forearm": replace(beam, length=0.5)})


def test_a_light_section_leaves_the_rest_of_the_mass_to_the_housing_and_a_heavy_one_says_what_is_left_out(arm):
    light = pl.read_urdf(arm, elastic={"forearm": (pl.Section.tube(0.03, 0.028), pl.ALUMINIUM)})
    beam = light.links["forearm"].body
    assert beam.mass == pytest.approx(2700.0 * np.pi * (0.03**2 - 0.028**2) * LENGTH) and not light.unused
    heavy = pl.read_urdf(arm, elastic={"forearm": (pl.Section.round(0.05), pl.STEEL)})
    assert any("section and material weigh 31.08 kg" in line for line in heavy.unused)
    assert moments(alone(heavy)[0])[3, 3] == pytest.approx(2.4)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "tip_deflection must be given alone"),
        ({"tip_deflection": "1 mm at 10 N", "first_frequency": "14 Hz"}, "first_frequency must be given alone"),
        ({"tip_deflection": "1 mm"}, "tip_deflection must be a length at a force"),
        ({"tip_deflection": "1 mm at 10"}, "tip_deflection must have a unit, such as N, got '10'"),
        ({"tip_deflection": "1 kg at 10 N"}, "tip_deflection must be a quantity in m"),
        ({"tip_deflection": "0 mm at 10 N"}, "tip_deflection must be > 0 m"),
        ({"first_frequency": "14 rad/s"}, "first_frequency must be a quantity in Hz"),
        ({"section": pl.Section.round(0.01)}, "material must be given with a section"),
        ({"first_frequency": "14 Hz", "modes": 0}, "modes must be a whole number >= 1"),
        ({"first_frequency": "14 Hz", "tip": (1.0,)}, "tip must be 2 or 3 numbers in m"),
    ],
)  # fmt: skip
def test_wrong_requests_are_refused_with_field_rule_and_value(options, words):
    with pytest.raises(pl.ModelError, match=f"elastic_link: {words}"):
        pl.elastic_link(**options)


@pytest.mark.parametrize(
    ("link", "known", "words"),
    [
        ("hand", pl.elastic_link(first_frequency="9 Hz"), "must have a child with a joint away from its own"),
        ("base", pl.elastic_link(first_frequency="9 Hz"), "inertial must be given, with a mass"),
        ("farm", pl.elastic_link(first_frequency="9 Hz"), "elastic must name links of the file.*did you mean 'forearm'"),
        ("forearm", 14.0, r"elastic must be a Beam, \(section, material\) or elastic_link"),
    ],
)
def test_links_that_cannot_bend_are_refused(arm, link, known, words):
    with pytest.raises(pl.ModelError, match=words):
        pl.read_urdf(arm, elastic={link: known})
