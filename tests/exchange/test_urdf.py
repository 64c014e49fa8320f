"""URDF: robots of ten kinds, what is read of them and what is not, and files that break a rule."""

import re

import numpy as np
import pytest

import pliant as pl
from exchange.robots import ROBOTS, joint, link, robot
from pliant.exchange.geometry import Pose

FREEDOM = {"arm": 2, "mimic": 3, "gripper": 2, "quadruped": 18, "planar": 4, "gantry": 3, "scara": 4, "delta": 6, "humanoid": 10,
           "mobile_base": 8}  # fmt: skip
FLOATING = ("quadruped",)


def read(folder, text, **options):
    file = folder / "robot.urdf"
    file.write_text(text, encoding="utf-8")
    return pl.read_urdf(file, **options)


@pytest.mark.parametrize("name", ROBOTS)
def test_a_robot_is_read_and_runs_and_its_ledger_closes(name, tmp_path):
    found = read(tmp_path, ROBOTS[name], base="floating" if name in FLOATING else "fixed")
    assert found.degrees_of_freedom == FREEDOM[name]
    result = pl.simulate(found, t_end=0.3)
    assert result.ok and not result.warnings
    assert result.ledger.relative_error_max < 1e-6
    assert f"{name}:" in str(found)


def test_followers_keep_their_ratio_and_the_stops_of_all_are_on_the_leader(tmp_path):
    gripper = read(tmp_path, ROBOTS["gripper"], start={"finger": 0.02})
    assert {name: list(link.joint.limited) for name, link in gripper.links.items()} == {
        "palm": [], "left": ["displacement"], "right": []}  # fmt: skip
    stop = gripper.links["left"].joint.limited["displacement"]
    assert (stop.low, stop.high) == (0.0, 0.04)
    gripper.drive("open", gripper.coordinates["finger"], 3.0)
    result = pl.simulate(gripper, t_end=0.3)
    assert np.max(np.abs(result["left.displacement"] - result["right.displacement"])) < 1e-9
    assert result["left.displacement"][-1] == pytest.approx(0.04, abs=1e-3) and result.ok
    chain = read(tmp_path, ROBOTS["mimic"], start={"drive": 0.5})
    moved = pl.simulate(chain, t_end=0.5)
    assert np.max(np.abs(moved["second.angle"] - (0.3 - moved["first.angle"]))) < 1e-9
    assert np.max(np.abs(moved["third.angle"] + 0.5 * moved["second.angle"])) < 1e-9


def test_what_is_not_used_is_listed_with_its_place(tmp_path):
    found = read(tmp_path, ROBOTS["arm"])
    assert found.unused == (
        "link visual: line 5",
        "joint limit effort: 2 times, first in line 7",
        "joint limit velocity: 2 times, first in line 7",
        "transmission: line 10",
        "mesh 'package://parts/arm.stl', line 5: no such file",
    )
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "arm.stl").touch()
    assert not any("no such file" in line for line in read(tmp_path, ROBOTS["arm"]).unused)
    shapes = '<collision><geometry><cylinder radius="1" length="2"/></geometry></collision><colour/>'
    odd = read(tmp_path, robot("odd", link("base", extra=shapes)), stops=False)
    assert odd.unused == ("link colour: line 3", "collision cylinder of link 'base', line 3: contacts have no such shape")


def test_a_start_outside_the_limits_is_their_middle_and_another_can_be_chosen(tmp_path):
    legs = read(tmp_path, ROBOTS["quadruped"])
    assert legs.links["lf_shank"].joint.angle == pytest.approx(-1.45) and legs.links["lf_thigh"].joint.angle == 0.0
    bent = read(tmp_path, ROBOTS["quadruped"], start={"lf_kfe": -0.5}, base=pl.Free(position=(0, 0, 0.4)))
    assert bent.links["lf_shank"].joint.angle == -0.5 and bent.links["trunk"].joint.position == (0.0, 0.0, 0.4)


def test_collision_shapes_become_contacts_by_a_law(tmp_path):
    """Four feet fall on a floor."""
    legs = read(tmp_path, ROBOTS["quadruped"], base=pl.Free(position=(0, 0, 0.45)))
    feet = [legs.shapes[f"{leg}_foot"][0] for leg in ("lf", "rf", "lh", "rh")]
    assert all(foot.radius == 0.02 for foot in feet)
    legs.contact(points=feet, against=pl.Plane(normal="z"), normal=pl.HuntCrossley(stiffness=1e5, restitution=0.2), name="floor")
    result = pl.simulate(legs, t_end=0.35)
    assert result.ok and {record.pair for record in result.contacts} == {
        f"floor {leg}_foot.root" for leg in ("lf", "rf", "lh", "rh")
    }


def test_names_that_coordinates_cannot_have_are_changed(tmp_path):
    base = read(tmp_path, ROBOTS["mobile_base"])
    assert base.coordinates == {"left": "left_wheel.angle", "right": "right_wheel.angle"}
    with pytest.raises(pl.ModelError, match=r"link 'a_b': name must differ from 'a\.b' in more than dots and @"):
        read(tmp_path, robot("two", link("a.b"), link("a_b", 1), joint("j", "continuous", "a.b", "a_b")))


def test_a_planar_joint_moves_across_its_axis(tmp_path):
    """On an inclined plane without friction, the acceleration of its centre is gravity's part along the plane."""
    slide = read(
        tmp_path, robot("puck", link("floor"), link("puck", 2), joint("glide", "planar", "floor", "puck", axis="0 0.6 0.8"))
    )
    result = pl.simulate(slide, t_end=1.0)
    fall = np.array([0.0, 0.0, -9.81])
    normal = np.array([0.0, 0.6, 0.8])
    along = fall - (fall @ normal) * normal
    assert result["tip_position", "puck"][-1] == pytest.approx(0.5 * along, rel=1e-9)


def test_a_default_stop_yields_a_thousandth_of_a_radian_under_the_weight_that_it_may_carry(tmp_path):
    text = robot(
        "bar", link("base"), link("bar", 3, "0.5 0 0"), joint("hinge", "revolute", "base", "bar", "0 0 1", "0 1 0", "-1 0")
    )
    hanging = read(tmp_path, text)  # level, on its stop
    rest = pl.equilibrium(hanging)
    assert rest["bar.angle"] == pytest.approx(1e-3, rel=1e-3)
    free = read(tmp_path, text, stops=False)
    assert not free.links["bar"].joint.limited
    hard = read(tmp_path, text, stops=pl.Impulsive(restitution=0.0))
    assert pl.simulate(hard, t_end=0.2)["bar.angle"][-1] == pytest.approx(0.0, abs=1e-12)


def test_an_inertia_that_no_body_can_have_becomes_the_nearest_if_that_is_asked_for(tmp_path):
    """As public files have them: all six numbers alike, rotated, and negative by a rounding."""
    alike = "".join(f'{name}="1e-6" ' for name in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"))
    odd = ('<link name="odd"><inertial><origin xyz="0 0 0.1" rpy="0.1 0.2 0.3"/><mass value="0.001"/><inertia ixx="0.002371" '
           'ixy="0.006119" ixz="0.001179" iyy="0.002833" iyz="0.000774" izz="0.003849"/></inertial></link>\n')  # fmt: skip
    text = robot("tiny", f'<link name="base"><inertial><mass value="0.001"/><inertia {alike}/></inertial></link>\n', odd,
                 '<link name="dust"><inertial><mass value="0"/><inertia ixx="-5e-20" ixy="0" ixz="0" iyy="-5e-20" iyz="0" izz="0"/>'
                 "</inertial></link>\n", joint("hinge", "continuous", "base", "odd", axis="1 1 0"),
                 joint("mount", "fixed", "odd", "dust", "0.1 0 0"))  # fmt: skip
    with pytest.raises(pl.ModelError, match=r"link 'base': inertial: inertia .* \(repair=True takes the nearest"):
        read(tmp_path, text)
    found = read(tmp_path, text, repair=True, base="floating")
    assert sum("the nearest is taken, of principal moments" in line for line in found.unused) == 3
    rng, rotated = np.random.default_rng(4), Pose.of_rpy((0, 0, 0), (0.1, 0.2, 0.3)).matrix
    given = rotated @ np.array([[2.371, 6.119, 1.179], [6.119, 2.833, 0.774], [1.179, 0.774, 3.849]]) @ rotated.T * 1e-3
    moments = [0.5 * np.trace(one) * np.eye(3) - one for one in (given, np.array(found.links["odd"].body.inertia))]
    assert np.linalg.eigvalsh(moments[0])[0] < -1e-3 and np.linalg.eigvalsh(moments[1])[0] > -1e-15
    for _ in range(200):  # of all distributions of mass around, none is nearer to that of the file
        step = rng.normal(size=(3, 3)) * 10.0 ** rng.uniform(-6, -3)
        values, vectors = np.linalg.eigh(moments[1] + step + step.T)
        other = vectors @ np.diag(np.maximum(values, 0.0)) @ vectors.T
        assert np.linalg.norm(other - moments[0]) >= np.linalg.norm(moments[1] - moments[0]) * (1.0 - 1e-12)
    result = pl.simulate(found, t_end=0.1)
    assert result.ok and result.ledger.relative_error_max < 1e-6


def test_limits_without_room_are_refused_unless_limits_are_left_out(tmp_path):
    """The format's own limits, where a file gives none, are 0 and 0."""
    text = PAIR.replace("continuous", "revolute").replace("</joint>", '<limit effort="1" velocity="1"/></joint>')
    with pytest.raises(pl.ModelError, match=r"joint 'hinge': limit lower must be < upper = 0 .*stops=False leaves limits out\)"):
        read(tmp_path, text)
    assert not read(tmp_path, text, stops=False).links["body"].joint.limited
    grips = ROBOTS["gripper"].replace('lower="0" upper="0.05"', 'lower="-0.05" upper="0"')
    with pytest.raises(pl.ModelError, match=r"those of the joints that follow it among them \(stops=False"):
        read(tmp_path, grips)
    assert not read(tmp_path, grips, stops=False).links["left"].joint.limited


def test_what_other_programs_add_to_the_format_is_listed(tmp_path):
    """A follower that is fixed, and a shape that the format does not have."""
    text = PAIR.replace("continuous", "fixed").replace("</joint>", '<mimic joint="knee"/></joint>')
    text = text.replace("</inertial>", '</inertial><collision><geometry><plane normal="0 0 1"/></geometry></collision>')
    assert read(tmp_path, text).unused == (
        "joint mimic: line 5", "collision plane of link 'body', line 4: contacts have no such shape")  # fmt: skip


def test_a_joint_may_have_the_name_of_the_one_that_holds_the_base(tmp_path):
    found = read(tmp_path, robot("pair", BASE, BODY, joint("base", "continuous", "base", "body")))
    assert found.coordinates == {"base": "body.angle"} and list(found.links) == ["base", "body"]


def test_frames_of_cameras_on_the_ground_run(tmp_path):
    """Their quarter turns add up to orientations of which only rounding says which component is the largest."""
    rng, carrier, parts = np.random.default_rng(1), "base", [BASE, BODY, HINGE]
    for k in range(24):
        turn = " ".join(map(repr, rng.choice([-np.pi / 2, np.pi / 2, 0.3, -0.7, 0.0], 3).tolist()))
        parts += [link(f"frame{k}"), joint(f"mount{k}", "fixed", carrier, f"frame{k}", rpy=turn)]
        carrier = f"frame{k}" if k % 3 == 2 else carrier
    assert pl.simulate(read(tmp_path, robot("cameras", *parts)), t_end=0.01).ok


def test_a_robot_is_written_as_a_model_file_that_reads_the_same(tmp_path):
    found = read(tmp_path, ROBOTS["humanoid"])
    again = pl.loads_model(pl.dump_model(found)).system
    assert list(again.links) == list(found.links)
    first, second = (pl.simulate(one, t_end=0.1, save=0.05) for one in (found, again))
    assert np.array_equal(first["l_leg_upper.angle"], second["l_leg_upper.angle"])


# ---- files that break a rule

BASE = link("base")
BODY = '<link name="body"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>\n'
HINGE = joint("hinge", "continuous", "base", "body")
PAIR = robot("pair", BASE, BODY, HINGE)
WRONG = {
    "not XML": ("robot", r"robot\.urdf, line 1, column \d+: must be XML, got syntax error"),
    "cut off": (PAIR[:-12], r"robot\.urdf, line 5, column \d+: must be XML, got unclosed token"),
    "empty": ("", r"must be XML, got no element found"),
    "entity": ('<!DOCTYPE robot [<!ENTITY a "aaa">]><robot name="&a;"/>', r"line 1: DOCTYPE must be left out"),
    "bomb": ('<!DOCTYPE r [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]>\n<robot name="&b;"/>', "entities are not read, got 'r'"),
    "outside": ('<!DOCTYPE r SYSTEM "file:///etc/passwd"><robot/>', "DOCTYPE must be left out"),
    "too deep": (f'<robot name="a">{"<a>" * 300}{"</a>" * 300}</robot>', "element must be at most 200 levels deep, got 'a'"),
    "other root": ("<model/>", r"line 1: root element must be robot, got 'model'"),
    "xacro": ('<robot name="a"><xacro:macro name="b"/></robot>', r"element must be expanded first"),
    "no name": (PAIR.replace('name="pair"', ""), r"line 2: robot: name must be given, got None"),
    "no links": (robot("none"), r"robot 'none': link must be given at least once"),
    "link without a name": (robot("a", "<link/>"), r"line 3: link: name must be given"),
    "link twice": (robot("a", BASE, BASE), r"line 4: link 'base': name must be unique among links, got 'base'"),
    "joint twice": (robot("a", BASE, BODY, HINGE, HINGE), r"joint 'hinge': name must be unique among joints"),
    "two roots": (robot("a", BASE, BODY),
                  r"link must be one that no joint carries, the root; there are several, got \['base', 'body'\]"),
    "two parents": (robot("a", BASE, BODY, HINGE, joint("second", "fixed", "base", "body")),
                    r"joint 'second': child link must be the child of one joint only, 'hinge' carries it already, got 'body'"),
    "circle": (robot("a", BASE, link("b"), link("c"), joint("x", "fixed", "b", "c"), joint("y", "fixed", "c", "b")),
               r"joint 'x': parent link must lead to the root link, but is part of a circle, got 'b'"),
    "unknown type": (PAIR.replace("continuous", "contiuous"),
                     r"line 5: joint 'hinge': type must be one of fixed, .*did you mean 'continuous'"),
    "no type": (PAIR.replace('type="continuous"', ""), r"joint 'hinge': type must be given"),
    "no parent": (PAIR.replace('<parent link="base"/>', ""), r"joint 'hinge': parent must be given"),
    "unknown child": (PAIR.replace('child link="body"', 'child link="bodi"'),
                      r"joint 'hinge': child link must be a link of the file \(did you mean 'body'\?\), got 'bodi'"),
    "no mass": (PAIR.replace('<mass value="1"/>', ""), r"line 4: inertial: mass must be given"),
    "negative mass": (PAIR.replace('value="1"', 'value="-1"'), r"line 4: mass: value must be >= 0, got -1\.0"),
    "mass is no number": (PAIR.replace('value="1"', 'value="1kg"'), r"mass: value must be a number, got '1kg'"),
    "infinite mass": (PAIR.replace('value="1"', 'value="inf"'), r"mass: value must be a finite number"),
    "no moment": (PAIR.replace('izz="1"', ""), r"line 4: inertia: izz must be given"),
    "impossible inertia": (PAIR.replace('izz="1"', 'izz="3"'),
                           r"line 4: link 'body': inertial: inertia must satisfy the triangle inequality.* \(repair=True"),
    "indefinite inertia": (PAIR.replace('ixy="0"', 'ixy="2"'), r"link 'body': inertial: inertia must be positive semidefinite"),
    "short origin": (PAIR.replace('xyz="0 0 0"', 'xyz="0 0"'), r"line 5: origin: xyz must be 3 numbers, got '0 0'"),
    "zero axis": (PAIR.replace("</joint>", '<axis xyz="0 0 0"/></joint>'), r"line 5: axis: xyz must not be the zero vector"),
    "no limit": (PAIR.replace("continuous", "revolute"), r"joint 'hinge': limit must be given"),
    "limits reversed": (PAIR.replace("continuous", "revolute").replace("</joint>", '<limit lower="1" upper="-1"/></joint>'),
                        r"joint 'hinge': limit lower must be < upper = -1 .*, got 1\.0"),
    "two origins": (PAIR.replace("</joint>", "<origin/></joint>"),
                    r"line 5: origin: origin must be given once, line 5 gives it already"),
    "negative damping": (PAIR.replace("</joint>", '<dynamics damping="-2"/></joint>'),
                         r"line 5: dynamics: damping must be >= 0, got -2\.0"),
    "unknown leader": (PAIR.replace("</joint>", '<mimic joint="knee"/></joint>'),
                       r"joint 'hinge': mimic joint must be a joint with one coordinate, one of \['hinge'\], got 'knee'"),
    "its own leader": (PAIR.replace("</joint>", '<mimic joint="hinge"/></joint>'),
                       r"mimic must not lead back to itself, got 'hinge of hinge'"),
    "follower with several coordinates": (
        PAIR.replace("continuous", "floating").replace("</joint>", '<mimic joint="hinge"/></joint>'),
        r"joint 'hinge': mimic must be left out for a joint with several coordinates, got 'floating'"),
    "two shapes": (PAIR.replace("</inertial>", "</inertial><collision><geometry><plane/><box/></geometry></collision>"),
                   r"line 4: collision: geometry must hold one of sphere, .*, got \['plane', 'box'\]"),
    "no ratio": (PAIR.replace("</joint>", '<mimic joint="hinge" multiplier="0"/></joint>'), r"mimic multiplier must not be 0"),
    "no geometry": (PAIR.replace("</inertial>", "</inertial><collision/>"), r"line 4: collision: geometry must be given"),
    "negative radius": (PAIR.replace("</inertial>", '</inertial><collision><geometry><sphere radius="-1"/></geometry></collision>'),
                        r"line 4: sphere: radius must be > 0, got -1\.0"),
}  # fmt: skip


@pytest.mark.parametrize("kind", WRONG)
def test_a_malformed_file_is_refused_with_place_field_rule_and_value(kind, tmp_path):
    text, words = WRONG[kind]
    with pytest.raises(pl.ModelError, match=words) as refused:
        read(tmp_path, text)
    assert str(tmp_path / "robot.urdf") in str(refused.value)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"base": "flaoting"}, "read_urdf: base must be 'fixed', 'floating' or a joint"),
        ({"start": {"hing": 1.0}},
         r"start must name joints with one coordinate of the file, hinge \(did you mean 'hinge'\?\), got 'hing'"),
        ({"motors": {"body": pl.Motor()}}, "motors must name joints with one coordinate"),
        ({"start": {"hinge": "30 deg"}}, r"joint 'hinge': start must be a finite number"),
        ({"elastic": "body"}, "elastic must be a mapping"),
        ({"gravity": 9.81}, "gravity must be 2 or 3 numbers"),
    ],
)  # fmt: skip
def test_wrong_requests_are_refused(options, words, tmp_path):
    with pytest.raises(pl.ModelError, match=words):
        read(tmp_path, PAIR, **options)


def test_a_file_that_is_too_long_or_is_not_there_is_refused(tmp_path):
    with pytest.raises(pl.ModelError, match="cannot be read: No such file"):
        pl.read_urdf(tmp_path / "none.urdf")
    with pytest.raises(pl.ModelError, match="must be at most 5000000 bytes"):
        read(tmp_path, " " * 5_000_001)
    with pytest.raises(pl.ModelError, match=re.escape("path must be the path of a file or folder")):
        pl.read_urdf(3)
